//! The machine of the join: input waits in a buffer a side, where what cancels goes; a drained
//! delta probes the other side, then joins its own.

use arrow::array::{Array, BooleanArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::SchemaRef;

use super::super::buffer::consolidate;
use super::super::errors::RowErrors;
use super::super::slots::KeySlots;
use super::super::{EpochEnd, Operator, OperatorError, Output, RowError};
use super::packed;
use super::pairs::{Pairs, Shape, Source};
use super::side::{Entry, Side};
use crate::expr::Evaluator;
use crate::graph;
use crate::state::{RowLayout, Store, Table};
use crate::types::{Delta, ObjectId, TableId};

/// Inner join on equal keys, an actor's share of the keys.
pub struct Join {
    object: ObjectId,
    /// Keys of both sides: equal keys are equal bytes.
    keys: KeySlots,
    sides: [Side; 2],
    /// How the output is made when a side's rows probe.
    sources: [Vec<Source>; 2],
    null_equal: bool,
    filter: Option<Evaluator>,
    schema: SchemaRef,
    errors: RowErrors,
}

impl Join {
    /// For operator `operator` of `object`'s job, over rows with the columns of `left` and `right`,
    /// giving rows with `schema`.
    pub fn new(
        join: &graph::Join,
        (object, operator): (ObjectId, u16),
        [left, right]: [SchemaRef; 2],
        schema: SchemaRef,
        store: &Store,
    ) -> Result<Self, OperatorError> {
        let table = |role| store.table(TableId::of_operator(object, operator, role));
        let sides = [
            Side::new(&left, &join.left_key, table(0))?,
            Side::new(&right, &join.right_key, table(1))?,
        ];
        let widths = [left.fields().len(), right.fields().len()];
        Ok(Self {
            object,
            keys: KeySlots::default(),
            sources: [0, 1].map(|probing| sources(&sides, widths, probing)),
            sides,
            null_equal: join.null_equal,
            filter: join.filter.as_ref().map(|filter| Evaluator::conjunction([filter])),
            schema,
            errors: RowErrors::default(),
        })
    }

    /// Joins what is buffered on `side` with the other side, then adds it to its own.
    fn drain(&mut self, side: usize, output: &mut dyn Output) -> Result<(), OperatorError> {
        if self.sides[side].buffer.rows() == 0 {
            return Ok(());
        }
        let delta = self.sides[side].buffer.take()?;
        let delta = consolidate(delta, &self.sides[side].row)?;
        let keys = self.sides[side].key.encode(delta.batch())?;
        let slots = self.keys.intern(&keys);
        let grouped = ByKey::new(&slots, self.keys.len());
        for side in &mut self.sides {
            side.resize(self.keys.len());
            side.load(&self.keys, &grouped.keys)?;
        }
        self.probe(side, &delta, &grouped, output)?;
        let own = &mut self.sides[side];
        let rest = own.rest.encode(delta.batch())?;
        let rows =
            (0..delta.rows()).map(|row| (slots[row], rest.row(row).data(), delta.weight(row)));
        own.add(&self.keys, rows)
    }

    /// Gives the matches of `delta`, of `side`, with the other side's rows.
    fn probe(
        &mut self,
        side: usize,
        delta: &Delta,
        grouped: &ByKey,
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let other = &mut self.sides[1 - side];
        let spread: Vec<usize> = (0..grouped.keys.len())
            .filter(|&key| matches!(other.entry(grouped.keys[key]), Entry::Spread(_)))
            .collect();
        let shape = |other| Shape {
            sources: &self.sources[side],
            codec: other,
            filter: self.filter.as_ref(),
            schema: &self.schema,
        };
        let mut pairs = Pairs::new(shape(&other.rest), delta, &mut self.errors, output);
        for key in 0..grouped.keys.len() {
            if let Entry::Packed(rows) = other.entry(grouped.keys[key]) {
                for (weight, row) in packed::rows(rows) {
                    pairs.add(grouped.rows(key), row, weight)?;
                }
            }
        }
        for key in spread {
            let prefix = self.keys.key(grouped.keys[key]);
            scan(&mut other.table, prefix, grouped.rows(key), &mut pairs)?;
        }
        pairs.give()
    }

    /// Without the rows that never match: with a NULL in the key, unless NULLs are equal.
    fn matchable(&self, side: usize, delta: Delta) -> Result<Delta, OperatorError> {
        if self.null_equal {
            return Ok(delta);
        }
        let columns =
            self.sides[side].key_columns.iter().map(|&column| delta.batch().column(column));
        let nulls = columns.fold(None, |nulls: Option<NullBuffer>, column| {
            NullBuffer::union(nulls.as_ref(), column.logical_nulls().as_ref())
        });
        match nulls.filter(|nulls| nulls.null_count() > 0) {
            None => Ok(delta),
            Some(nulls) => Ok(delta.filter(&BooleanArray::new(nulls.into_inner(), None))?),
        }
    }
}

/// Pairs every stored row of a spread key, whose entries start with `prefix`, with `probing`.
fn scan(
    table: &mut Table,
    prefix: &[u8],
    probing: &[u32],
    pairs: &mut Pairs<'_>,
) -> Result<(), OperatorError> {
    let mut result = Ok(());
    table.scan_prefix(prefix, &mut |key, value| {
        let row = &key[prefix.len()..];
        if row.is_empty() {
            return true; // The entry that says how many rows there are.
        }
        result = match RowLayout::weight_of(value) {
            Ok(weight) => pairs.add(probing, row, weight),
            Err(error) => Err(error.into()),
        };
        result.is_ok()
    })?;
    result
}

/// Whence each output column comes when rows of side `probing` meet stored rows of the other.
fn sources(sides: &[Side; 2], widths: [usize; 2], probing: usize) -> Vec<Source> {
    let stored = &sides[1 - probing];
    let of_stored = |column: usize| {
        let in_key = stored.key_columns.iter().position(|key| *key == column);
        let in_rest = stored.rest_columns.iter().position(|rest| *rest == column);
        match (in_key, in_rest) {
            (Some(place), _) => Source::Probing(sides[probing].key_columns[place]),
            (None, place) => Source::Stored(place.unwrap_or_default()),
        }
    };
    let side = |side: usize| {
        (0..widths[side]).map(move |column| match side == probing {
            true => Source::Probing(column),
            false => of_stored(column),
        })
    };
    side(0).chain(side(1)).collect()
}

/// The rows of a batch by key.
struct ByKey {
    /// Slots of the different keys, in order of first row.
    keys: Vec<u32>,
    /// Rows of all keys, one key after the other.
    rows: Vec<u32>,
    /// Where the rows of each key end in `rows`.
    ends: Vec<u32>,
}

impl ByKey {
    /// Counting sort of rows by slot, of which there are `slots_max`.
    fn new(slots: &[u32], slots_max: usize) -> Self {
        let mut places = vec![u32::MAX; slots_max];
        let mut keys: Vec<u32> = Vec::new();
        let mut ends: Vec<u32> = Vec::new();
        for &slot in slots {
            let place = &mut places[slot as usize];
            if *place == u32::MAX {
                *place = keys.len() as u32;
                keys.push(slot);
                ends.push(0);
            }
            ends[*place as usize] += 1;
        }
        let mut start = 0;
        for end in &mut ends {
            (*end, start) = (start, start + *end);
        }
        let mut rows = vec![0; slots.len()];
        for (row, &slot) in (0u32..).zip(slots) {
            let next = &mut ends[places[slot as usize] as usize];
            rows[*next as usize] = row;
            *next += 1;
        }
        Self { keys, rows, ends }
    }

    fn rows(&self, key: usize) -> &[u32] {
        let start = key.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.rows[start as usize..self.ends[key] as usize]
    }
}

impl Operator for Join {
    fn process(
        &mut self,
        port: usize,
        delta: Delta,
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let delta = self.matchable(port, delta)?;
        if delta.is_empty() {
            return Ok(());
        }
        self.sides[port].buffer.push(delta);
        if self.sides[port].buffer.is_full() { self.drain(port, output) } else { Ok(()) }
    }

    fn flush(&mut self, _: &EpochEnd, output: &mut dyn Output) -> Result<(), OperatorError> {
        for side in 0..self.sides.len() {
            self.drain(side, output)?;
        }
        for side in &mut self.sides {
            side.write(&self.keys).ok_or_else(|| {
                let object = self.object.0;
                OperatorError::Invariant(format!(
                    "object {object}: a join's input has a row a negative number of times"
                ))
            })?;
        }
        self.keys.tick();
        Ok(())
    }

    fn tables(&mut self) -> Vec<&mut Table> {
        self.sides.iter_mut().map(|side| &mut side.table).collect()
    }

    fn cached_bytes(&self) -> usize {
        match self.keys.len() {
            0 => 0,
            _ => self.keys.bytes() + self.sides.iter().map(Side::bytes).sum::<usize>(),
        }
    }

    fn evict(&mut self, bytes_max: usize) {
        let bytes = self.cached_bytes();
        if bytes > bytes_max {
            let keep = self.keys.to_keep(bytes, bytes_max);
            self.keys.retain(&keep);
            self.sides.iter_mut().for_each(|side| side.retain(&keep));
        }
    }

    fn take_row_errors(&mut self) -> Vec<RowError> {
        self.errors.take()
    }
}
