//! Keeps an object's rows: `contents(n) = contents(n − 1) + Δ(n)`.
//!
//! The epoch's rows are put together by storage key, so that a row that comes and goes costs one
//! look; at the flush each changed key is written once, and the net change goes downstream. What
//! must hold, or the job has lost its way: a keyed object has one row a key, a multiset no row a
//! negative number of times.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::batch::{batch_of, emit_chunks};
use super::buffer::{Buffer, Net, net};
use super::{EpochEnd, Operator, OperatorError, Output};
use crate::graph;
use crate::state::{RowLayout, Store, Table};
use crate::types::key::{KeyArena, KeyCodec};
use crate::types::{Delta, ObjectId, TableId};

/// The stored rows of one object, an actor's share of them.
pub struct Materialize {
    object: ObjectId,
    schema: SchemaRef,
    layout: RowLayout,
    row: KeyCodec,
    table: Table,
    buffer: Buffer,
    /// Rows in the buffer at which what cancels is taken out of it.
    compact_at: usize,
}

/// Rows that the buffer holds before the first look for what cancels.
const COMPACT_ROWS_MIN: usize = 64 << 10;

/// What an epoch did to a key: rows of the net change, by index.
#[derive(Debug, Clone, Copy, Default)]
struct KeyChange {
    old: Option<u32>,
    new: Option<u32>,
}

impl Materialize {
    /// For `object`, whose rows have `schema`.
    pub fn new(
        materialize: &graph::Materialize,
        object: ObjectId,
        schema: SchemaRef,
        store: &Store,
    ) -> Result<Self, OperatorError> {
        Ok(Self {
            object,
            layout: RowLayout::new(
                Arc::clone(&schema),
                &materialize.key,
                &materialize.distribution,
            )?,
            row: KeyCodec::of_row(&schema)?,
            table: store.table(TableId::contents(object)),
            buffer: Buffer::new(Arc::clone(&schema)),
            compact_at: COMPACT_ROWS_MIN,
            schema,
        })
    }

    /// Takes what cancels out of the buffer, so that it grows with the net change only.
    fn compact(&mut self) -> Result<(), OperatorError> {
        let net = net(self.buffer.take()?, &self.row)?;
        self.compact_at = COMPACT_ROWS_MIN.max(2 * net.delta.rows());
        self.buffer.push(net.delta);
        Ok(())
    }

    /// Writes the net change of a keyed object: at most one row goes and one comes for each key.
    fn write_keyed(&mut self, net: &Net, keys: &KeyArena) -> Result<(), OperatorError> {
        let changes = self.key_changes(net, keys)?;
        self.check_stored(net, keys, &changes)?;
        for change in &changes {
            match (change.old, change.new) {
                (_, Some(new)) => {
                    self.table.put(keys.get(new as usize), net.row(new as usize));
                }
                (Some(old), None) => self.table.delete(keys.get(old as usize)),
                (None, None) => {}
            }
        }
        Ok(())
    }

    fn key_changes(&self, net: &Net, keys: &KeyArena) -> Result<Vec<KeyChange>, OperatorError> {
        let mut changes: Vec<(u32, KeyChange)> = Vec::with_capacity(keys.len());
        let mut seen: HashTable<u32> = HashTable::with_capacity(keys.len());
        for index in 0..keys.len() {
            let key = keys.get(index);
            let place = *seen
                .entry(
                    xxh3_64(key),
                    |&place| keys.get(changes[place as usize].0 as usize) == key,
                    |&place| xxh3_64(keys.get(changes[place as usize].0 as usize)),
                )
                .or_insert_with(|| index_of(changes.len()))
                .get();
            if place as usize == changes.len() {
                changes.push((index_of(index), KeyChange::default()));
            }
            let change = &mut changes[place as usize].1;
            let (side, other) = match net.delta.weight(index) {
                1 => (&mut change.new, "two rows with one key"),
                -1 => (&mut change.old, "two rows with one key taken away"),
                weight => return Err(self.broken(net, index, &format!("weight {weight}"))),
            };
            if side.replace(index_of(index)).is_some() {
                return Err(self.broken(net, index, other));
            }
        }
        Ok(changes.into_iter().map(|(_, change)| change).collect())
    }

    /// A key that only comes must not be there. What goes must be there as it was: that costs a
    /// read of every changed row, and is checked in debug builds.
    fn check_stored(
        &mut self,
        net: &Net,
        keys: &KeyArena,
        changes: &[KeyChange],
    ) -> Result<(), OperatorError> {
        let looked_at: Vec<&KeyChange> = changes
            .iter()
            .filter(|change| cfg!(debug_assertions) || change.old.is_none())
            .collect();
        let place = |change: &KeyChange| change.old.or(change.new).unwrap_or(0) as usize;
        let asked: Vec<&[u8]> = looked_at.iter().map(|change| keys.get(place(change))).collect();
        let stored = self.table.get_many(&asked)?;
        for (change, stored) in looked_at.into_iter().zip(stored) {
            let problem = match (change.old, stored) {
                (None, None) => continue,
                (None, Some(_)) => "a second row with its key",
                (Some(_), None) => "a row that is not there taken away",
                (Some(old), Some(stored)) if stored == net.row(old as usize) => continue,
                (Some(_), Some(_)) => "another row than the stored one taken away",
            };
            return Err(self.broken(net, place(change), problem));
        }
        Ok(())
    }

    /// Writes the net change of a multiset: weights add to the stored ones.
    fn write_multiset(&mut self, net: &Net, keys: &KeyArena) -> Result<(), OperatorError> {
        let asked: Vec<&[u8]> = keys.iter().collect();
        let stored = self.table.get_many(&asked)?;
        for (index, stored) in stored.into_iter().enumerate() {
            let before = stored.as_deref().map_or(Ok(0), RowLayout::weight_of)?;
            let after = before + net.delta.weight(index);
            match after {
                0 => self.table.delete(keys.get(index)),
                1.. => self.table.put(keys.get(index), &RowLayout::weight_bytes(after)),
                _ => return Err(self.broken(net, index, &format!("a row there {after} times"))),
            }
        }
        Ok(())
    }

    fn broken(&self, net: &Net, row: usize, what: &str) -> OperatorError {
        let text = crate::expr::row_text(net.delta.batch(), row);
        OperatorError::Invariant(format!("object {}: {what}: {text}", self.object.0))
    }
}

impl Operator for Materialize {
    fn process(
        &mut self,
        _port: usize,
        delta: Delta,
        _output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let columns = delta.batch().columns().to_vec();
        let batch = batch_of(&self.schema, columns, delta.rows())?;
        self.buffer.push(delta.with_batch(batch));
        if self.buffer.rows() >= self.compact_at { self.compact() } else { Ok(()) }
    }

    fn flush(&mut self, _: &EpochEnd, output: &mut dyn Output) -> Result<(), OperatorError> {
        if self.buffer.rows() == 0 {
            return Ok(());
        }
        self.compact_at = COMPACT_ROWS_MIN;
        let net = net(self.buffer.take()?, &self.row)?;
        let keys = self.layout.storage_keys(net.delta.batch(), net.rows())?;
        if self.layout.is_keyed() {
            self.write_keyed(&net, &keys)?;
        } else {
            self.write_multiset(&net, &keys)?;
        }
        emit_chunks(&net.delta, output)
    }

    fn tables(&mut self) -> Vec<&mut Table> {
        vec![&mut self.table]
    }
}

/// Rows of one batch are counted in 32 bits, as Arrow's indices are.
fn index_of(place: usize) -> u32 {
    u32::try_from(place).expect("a batch has fewer than 2^32 rows")
}
