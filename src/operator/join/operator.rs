//! The machine of the join: input waits in a buffer a side, where what cancels goes; a drained
//! delta probes the other side, then joins its own.

use std::sync::Arc;

use arrow::array::{Array, BooleanArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::SchemaRef;

use super::super::batch::emit_chunks;
use super::super::buffer::{Buffer, consolidate};
use super::super::errors::RowErrors;
use super::super::keyed::{self, Entry, KeyedRows, packed, scan_spread};
use super::super::slots::KeySlots;
use super::super::{EpochEnd, Operator, OperatorError, Output, RowError};
use super::pairs::{Pairs, Shape, Source};
use super::singles::Single;
use crate::expr::Evaluator;
use crate::graph;
use crate::state::{Store, Table};
use crate::types::key::KeyCodec;
use crate::types::{Delta, ObjectId, TableId};

/// Join on equal keys, an actor's share of the keys.
pub struct Join {
    object: ObjectId,
    /// Keys of both sides: equal keys are equal bytes.
    keys: KeySlots,
    sides: [KeyedRows; 2],
    /// How pairs are made when a side's rows probe; nothing if pairs are not given.
    sources: Option<[Vec<Source>; 2]>,
    /// Sides whose rows are given by themselves.
    singles: [Option<Single>; 2],
    /// Output that may cancel before the epoch ends; inner joins give theirs at once.
    held: Option<Held>,
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
            KeyedRows::new(&left, &join.left_key, table(0))?,
            KeyedRows::new(&right, &join.right_key, table(1))?,
        ];
        let widths = [left.fields().len(), right.fields().len()];
        let pairs = || [0, 1].map(|probing| sources(&sides, widths, probing));
        let gives = join.kind.gives_rows();
        let single = |side: usize| {
            gives[side].map(|matched| Single::new(side, matched, Arc::clone(&schema)))
        };
        let held = match join.kind {
            graph::JoinKind::Inner => None,
            _ => Some(Held::new(&schema)?),
        };
        Ok(Self {
            object,
            keys: KeySlots::default(),
            sources: join.kind.gives_pairs().then(pairs),
            singles: [single(0), single(1)],
            held,
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
        let delta = consolidate(delta, &self.sides[side].shape.row)?;
        let keys = self.sides[side].shape.key.encode(delta.batch())?;
        let slots = self.keys.intern(&keys);
        let grouped = ByKey::new(&slots, self.keys.len());
        for side in &mut self.sides {
            side.resize(self.keys.len());
            side.load(&self.keys, &grouped.keys)?;
        }
        self.probe(side, &delta, &grouped, output)?;
        if let Some(single) = &self.singles[side] {
            let other = &self.sides[1 - side];
            let chosen = slots.iter().map(|&slot| Some(other.is_present(slot) == single.matched));
            single.give(&delta, chosen.collect(), output)?;
        }
        let own = &mut self.sides[side];
        let before: Vec<bool> = grouped.keys.iter().map(|&slot| own.is_present(slot)).collect();
        let rest = own.shape.rest.encode(delta.batch())?;
        let rows =
            (0..delta.rows()).map(|row| (slots[row], rest.row(row).data(), delta.weight(row)));
        own.add(&self.keys, rows)?;
        let Some(single) = &self.singles[1 - side] else { return Ok(()) };
        let changes: Vec<(u32, bool)> = grouped
            .keys
            .iter()
            .zip(before)
            .map(|(&slot, before)| (slot, before, own.is_present(slot)))
            .filter(|(_, before, after)| before != after)
            .map(|(slot, _, after)| (slot, after))
            .collect();
        single.give_stored(&mut self.sides[1 - side], &self.keys, &changes, output)
    }

    /// Gives the matches of `delta`, of `side`, with the other side's rows.
    fn probe(
        &mut self,
        side: usize,
        delta: &Delta,
        grouped: &ByKey,
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let Some(sources) = &self.sources else { return Ok(()) };
        let other = &mut self.sides[1 - side];
        let spread: Vec<usize> = (0..grouped.keys.len())
            .filter(|&key| matches!(other.entry(grouped.keys[key]), Entry::Spread(_)))
            .collect();
        let shape = Shape {
            sources: &sources[side],
            codec: &other.shape.rest,
            filter: self.filter.as_ref(),
            schema: &self.schema,
        };
        let mut pairs = Pairs::new(shape, delta, &mut self.errors, output);
        for key in 0..grouped.keys.len() {
            if let Entry::Packed(rows) = other.entry(grouped.keys[key]) {
                for (weight, row) in packed::rows(rows) {
                    pairs.add(grouped.rows(key), row, weight)?;
                }
            }
        }
        for key in spread {
            let prefix = self.keys.key(grouped.keys[key]);
            scan_spread(&mut other.table, prefix, &mut |row, weight| {
                pairs.add(grouped.rows(key), row, weight)
            })?;
        }
        pairs.give()
    }

    /// Without the rows that never match, a NULL being in their key; they are given if rows
    /// without a match are.
    fn matchable(
        &self,
        side: usize,
        delta: Delta,
        output: &mut dyn Output,
    ) -> Result<Delta, OperatorError> {
        if self.null_equal {
            return Ok(delta);
        }
        let columns =
            self.sides[side].shape.key_columns.iter().map(|&column| delta.batch().column(column));
        let nulls = columns.fold(None, |nulls: Option<NullBuffer>, column| {
            NullBuffer::union(nulls.as_ref(), column.logical_nulls().as_ref())
        });
        let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else { return Ok(delta) };
        let valid = BooleanArray::new(nulls.into_inner(), None);
        if let Some(single) = self.singles[side].as_ref().filter(|single| !single.matched) {
            single.give(&delta, arrow::compute::not(&valid)?, output)?;
        }
        Ok(delta.filter(&valid)?)
    }

    /// Runs `work` with the output of the join: what is held back, or downstream.
    fn with_output(
        &mut self,
        output: &mut dyn Output,
        work: impl FnOnce(&mut Self, &mut dyn Output) -> Result<(), OperatorError>,
    ) -> Result<(), OperatorError> {
        let Some(mut held) = self.held.take() else { return work(self, output) };
        let result = work(self, &mut held);
        let result = match held.buffer.is_full() {
            true => result.and_then(|()| held.give(output)),
            false => result,
        };
        self.held = Some(held);
        result
    }
}

/// Rows to give when the epoch ends, so that what cancels is never given: a row that found its
/// match later in the same epoch, say.
struct Held {
    buffer: Buffer,
    row: KeyCodec,
}

impl Held {
    fn new(schema: &SchemaRef) -> Result<Self, OperatorError> {
        Ok(Self { buffer: Buffer::new(Arc::clone(schema)), row: KeyCodec::of_row(schema)? })
    }

    fn give(&mut self, output: &mut dyn Output) -> Result<(), OperatorError> {
        let delta = consolidate(self.buffer.take()?, &self.row)?;
        emit_chunks(&delta, output)
    }
}

impl Output for Held {
    fn emit(&mut self, delta: Delta) -> Result<(), OperatorError> {
        self.buffer.push(delta);
        Ok(())
    }
}

/// Whence each output column comes when rows of side `probing` meet stored rows of the other.
fn sources(sides: &[KeyedRows; 2], widths: [usize; 2], probing: usize) -> Vec<Source> {
    let stored = &sides[1 - probing].shape;
    let of_stored = |column: usize| {
        let in_key = stored.key_columns.iter().position(|key| *key == column);
        let in_rest = stored.rest_columns.iter().position(|rest| *rest == column);
        match (in_key, in_rest) {
            (Some(place), _) => Source::Probing(sides[probing].shape.key_columns[place]),
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
        self.with_output(output, |join, output| {
            let delta = join.matchable(port, delta, output)?;
            if delta.is_empty() {
                return Ok(());
            }
            join.sides[port].buffer.push(delta);
            if join.sides[port].buffer.is_full() { join.drain(port, output) } else { Ok(()) }
        })
    }

    fn flush(&mut self, _: &EpochEnd, output: &mut dyn Output) -> Result<(), OperatorError> {
        // The side whose rows are given by themselves comes last: it finds all matches there.
        let order = if self.singles[0].is_some() { [1, 0] } else { [0, 1] };
        self.with_output(output, |join, output| {
            order.into_iter().try_for_each(|side| join.drain(side, output))
        })?;
        if let Some(held) = &mut self.held {
            held.give(output)?;
        }
        for side in &mut self.sides {
            side.write(&self.keys, self.object)?;
        }
        self.keys.tick();
        Ok(())
    }

    fn tables(&mut self) -> Vec<&mut Table> {
        self.sides.iter_mut().map(|side| &mut side.table).collect()
    }

    fn cached_bytes(&self) -> usize {
        keyed::bytes(&self.keys, &self.sides)
    }

    fn evict(&mut self, bytes_max: usize) {
        keyed::evict(&mut self.keys, &mut self.sides.each_mut(), bytes_max);
    }

    fn take_row_errors(&mut self) -> Vec<RowError> {
        self.errors.take()
    }
}
