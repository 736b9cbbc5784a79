//! An epoch's input of one port, held until there is enough of it or the epoch ends, so that
//! operators work on large batches, and what cancels within an epoch costs nothing further down.

use std::sync::Arc;

use arrow::array::UInt32Array;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::row::Rows;
use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use crate::types::Delta;
use crate::types::key::KeyCodec;

/// Deltas of one schema that wait.
#[derive(Debug)]
pub struct Buffer {
    schema: SchemaRef,
    deltas: Vec<Delta>,
    rows: usize,
    bytes: usize,
}

/// A buffer with so many rows is worth working on: the fixed costs of a batch no longer count.
const ROWS_FULL: usize = 16 << 10;
/// ... and with so many bytes it must be, to bound memory.
const BYTES_FULL: usize = 16 << 20;

impl Buffer {
    /// For rows whose types are those of `schema`.
    pub fn new(schema: SchemaRef) -> Self {
        Self { schema, deltas: Vec::new(), rows: 0, bytes: 0 }
    }

    pub fn push(&mut self, delta: Delta) {
        self.rows += delta.rows();
        self.bytes += delta.bytes();
        self.deltas.push(delta);
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// It should be drained now rather than at the end of the epoch.
    pub fn is_full(&self) -> bool {
        self.rows >= ROWS_FULL || self.bytes >= BYTES_FULL
    }

    /// Everything as one delta; the buffer is empty then.
    pub fn take(&mut self) -> Result<Delta, ArrowError> {
        (self.rows, self.bytes) = (0, 0);
        match self.deltas.len() {
            0 => Ok(Delta::empty(Arc::clone(&self.schema))),
            1 => Ok(self.deltas.remove(0)),
            _ => Delta::concat(&self.schema, &std::mem::take(&mut self.deltas)),
        }
    }
}

/// A delta of distinct rows, beside their encoding.
pub struct Net {
    pub delta: Delta,
    rows: Rows,
    /// Where in `rows` each row of `delta` is; `None`: in the same place.
    places: Option<UInt32Array>,
}

impl Net {
    /// The encoding of row `row`.
    pub fn row(&self, row: usize) -> &[u8] {
        let place = self.places.as_ref().map_or(row, |places| places.value(row) as usize);
        self.rows.row(place).data()
    }

    /// The encodings of all rows.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.delta.rows()).map(|row| self.row(row))
    }
}

/// `delta` with equal rows put together: weights add, and what comes to nothing goes. `codec` is
/// that of the whole row.
pub fn net(delta: Delta, codec: &KeyCodec) -> Result<Net, ArrowError> {
    let rows = codec.encode(delta.batch())?;
    let mut firsts: Vec<u32> = Vec::with_capacity(delta.rows());
    let mut weights: Vec<i64> = Vec::with_capacity(delta.rows());
    let mut seen: HashTable<u32> = HashTable::with_capacity(delta.rows());
    let hash_of = |row: usize| xxh3_64(rows.row(row).data());
    for (index, row) in (0u32..).zip(rows.iter()) {
        let entry = seen.entry(
            xxh3_64(row.data()),
            |&place| rows.row(firsts[place as usize] as usize) == row,
            |&place| hash_of(firsts[place as usize] as usize),
        );
        let weight = delta.weight(index as usize);
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => {
                weights[*found.get() as usize] += weight;
            }
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                vacant.insert(u32::try_from(firsts.len()).unwrap_or(u32::MAX));
                firsts.push(index);
                weights.push(weight);
            }
        }
    }
    if firsts.len() == delta.rows() {
        return Ok(Net { delta, rows, places: None });
    }
    let places: UInt32Array = firsts
        .iter()
        .zip(&weights)
        .filter(|(_, weight)| **weight != 0)
        .map(|(row, _)| *row)
        .collect();
    weights.retain(|weight| *weight != 0);
    let batch = crate::types::take_rows(delta.batch(), &places)?;
    let all_one = weights.iter().all(|weight| *weight == 1);
    let delta = Delta::new(batch, (!all_one).then(|| weights.into()));
    Ok(Net { delta, rows, places: Some(places) })
}

/// As [`net`], for those who need the rows only; what cannot cancel is passed on as it is.
pub fn consolidate(delta: Delta, codec: &KeyCodec) -> Result<Delta, ArrowError> {
    match delta.weights() {
        Some(weights) if weights.iter().any(|weight| *weight < 0) => Ok(net(delta, codec)?.delta),
        _ => Ok(delta),
    }
}
