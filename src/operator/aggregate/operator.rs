//! The machine behind GROUP BY: `Δout = Σ over touched groups of (−f(old rows) + f(new rows))`.
//!
//! A group's old result is computed when the epoch first touches it, from the state it had then;
//! its new one at the flush. A group is there while it has rows; the global group (no group
//! columns) always is, and its first result is given once in the job's life, at the first flush.

use std::collections::BTreeMap;

use arrow::array::{Array, ArrayRef};
use arrow::compute;
use arrow::datatypes::{DataType, SchemaRef};

use super::super::batch::{batch_of, emit_chunks};
use super::super::buffer::Buffer;
use super::super::errors::RowErrors;
use super::super::{EpochEnd, Operator, OperatorError, Output, RowError};
use super::calls::Calls;
use super::groups::Groups;
use crate::error::SqlError;
use crate::expr::accumulator::Results;
use crate::graph;
use crate::state::{Store, Table};
use crate::types::key::KeyCodec;
use crate::types::{Delta, ObjectId, TableId};

/// GROUP BY, an actor's share of the groups.
pub struct Aggregate {
    object: ObjectId,
    group: KeyCodec,
    global: bool,
    /// Of the results, to tell whether they changed.
    results: KeyCodec,
    schema: SchemaRef,
    buffer: Buffer,
    groups: Groups,
    touched: Touched,
    errors: RowErrors,
    /// What row errors call each call.
    names: Vec<String>,
}

/// The groups that an epoch touched, in order of first touch.
#[derive(Default)]
struct Touched {
    slots: Vec<u32>,
    /// By slot.
    marks: Vec<bool>,
    /// Those of `slots` that had a result before, by place in `slots`.
    with_old: Vec<u32>,
    /// Their results, a piece for each batch.
    old: Vec<Vec<ArrayRef>>,
    /// Old and new results that cannot be represented.
    failed: Vec<FailedResult>,
}

/// A result that is NULL because its type cannot hold it.
struct FailedResult {
    slot: u32,
    call: usize,
    error: SqlError,
    /// −1 of an old result, +1 of a new one.
    weight: i64,
}

impl Aggregate {
    /// For operator `operator` of `object`'s job, over rows with `input` columns, giving rows with
    /// `schema`.
    pub fn new(
        aggregate: &graph::Aggregate,
        (object, operator): (ObjectId, u16),
        input: SchemaRef,
        schema: SchemaRef,
        store: &Store,
    ) -> Result<Self, OperatorError> {
        let table = |role| store.table(TableId::of_operator(object, operator, role));
        let results: Vec<DataType> = schema
            .fields()
            .iter()
            .skip(aggregate.group.len())
            .map(|field| field.data_type().clone())
            .collect();
        let calls = Calls::new(aggregate, &input, &results, &table)?;
        let global = aggregate.group.is_empty();
        let names = schema.fields().iter().skip(aggregate.group.len());
        let mut operator = Self {
            object,
            group: KeyCodec::new(&input, &aggregate.group)?,
            global,
            names: names.map(|field| field.name().clone()).collect(),
            results: KeyCodec::of_types((0..results.len()).collect(), results.into_iter())?,
            schema,
            buffer: Buffer::new(input),
            groups: Groups::new(calls, table(0), global),
            touched: Touched::default(),
            errors: RowErrors::default(),
        };
        operator.groups.load(0)?;
        Ok(operator)
    }

    /// Adds what is buffered to its groups.
    fn drain(&mut self) -> Result<(), OperatorError> {
        if self.buffer.rows() == 0 {
            return Ok(());
        }
        let delta = self.buffer.take()?;
        let keys = self.group.encode(delta.batch())?;
        let known = self.groups.slots.len();
        let slots = self.groups.slots.intern(&keys);
        self.groups.load(known)?;
        self.touch(&slots)?;
        let weights = match delta.weights() {
            Some(weights) => weights.clone(),
            None => vec![1; delta.rows()].into(),
        };
        self.groups.update(&slots, delta.batch().columns(), &weights)
    }

    /// Notes the old results of groups that the epoch had not touched before.
    fn touch(&mut self, slots: &[u32]) -> Result<(), OperatorError> {
        let touched = &mut self.touched;
        touched.marks.resize(self.groups.slots.len(), false);
        let mut old = Vec::new();
        for &slot in slots {
            if std::mem::replace(&mut touched.marks[slot as usize], true) {
                continue;
            }
            if self.groups.is_stored(slot) {
                touched.with_old.push(touched.slots.len() as u32);
                old.push(slot);
            }
            touched.slots.push(slot);
        }
        if !old.is_empty() {
            let results = self.groups.calls.results(&old)?;
            let columns = columns(results, &old, -1, &mut self.touched.failed);
            self.touched.old.push(columns);
        }
        Ok(())
    }

    /// Notes which results fail now, and which no longer: one that fails as before is not told
    /// again, whatever else of its row changed.
    fn note_errors(&mut self, failed: Vec<FailedResult>) -> Result<(), OperatorError> {
        let mut by_result: BTreeMap<(u32, usize), Vec<FailedResult>> = BTreeMap::new();
        for result in failed {
            by_result.entry((result.slot, result.call)).or_default().push(result);
        }
        for ((slot, call), results) in by_result {
            if let [old, new] = &results[..]
                && old.error == new.error
            {
                continue;
            }
            for FailedResult { error, weight, .. } in results {
                let group = self.group.decode([&self.groups.slots.key(slot)[1..]])?;
                self.errors.add_one(&self.names[call], error, group, weight)?;
            }
        }
        Ok(())
    }

    /// The global group is touched in the first epoch of the job's life, with or without rows.
    fn touch_global(&mut self) -> Result<(), OperatorError> {
        let known = self.groups.slots.len();
        if !self.global || known > 0 {
            return Ok(());
        }
        let keys = self.group.encode_columns(&[], 1)?;
        let slots = self.groups.slots.intern(&keys);
        self.groups.load(known)?;
        if self.groups.is_stored(slots[0]) { Ok(()) } else { self.touch(&slots) }
    }

    fn check_counts(&self) -> Result<(), OperatorError> {
        match self.touched.slots.iter().find(|&&slot| self.groups.rows(slot) < 0) {
            None => Ok(()),
            Some(&slot) => {
                let rows = self.groups.rows(slot);
                let object = self.object.0;
                Err(OperatorError::Invariant(format!("object {object}: a group of {rows} rows")))
            }
        }
    }

    /// `−old +new` of each touched group whose result changed.
    fn change(&mut self) -> Result<Option<Delta>, OperatorError> {
        let mut touched = std::mem::take(&mut self.touched);
        let with_new: Vec<u32> = (0u32..)
            .zip(&touched.slots)
            .filter(|(_, slot)| self.groups.exists(**slot))
            .map(|(place, _)| place)
            .collect();
        let slots_with_new: Vec<u32> =
            with_new.iter().map(|&place| touched.slots[place as usize]).collect();
        let results = self.groups.calls.results(&slots_with_new)?;
        let new = columns(results, &slots_with_new, 1, &mut touched.failed);
        let old = concat_columns(&touched.old, &new)?;
        let chosen = self.choose(&touched, (&old, &touched.with_old), (&new, &with_new))?;
        self.note_errors(std::mem::take(&mut touched.failed))?;
        let delta = self.rows(&touched, &chosen, &old, &new)?;
        self.touched = Touched { slots: touched.slots, marks: touched.marks, ..Touched::default() };
        Ok(delta)
    }

    /// Which old and new results differ: both are given with their groups, in the same order.
    fn choose(
        &self,
        touched: &Touched,
        (old, with_old): (&[ArrayRef], &[u32]),
        (new, with_new): (&[ArrayRef], &[u32]),
    ) -> Result<Chosen, OperatorError> {
        let old_keys = self.results.encode_columns(old, with_old.len())?;
        let new_keys = self.results.encode_columns(new, with_new.len())?;
        let mut chosen = Chosen::default();
        let (mut old_at, mut new_at) = (0, 0);
        for (place, &slot) in (0u32..).zip(&touched.slots) {
            let had = with_old.get(old_at) == Some(&place);
            let has = with_new.get(new_at) == Some(&place);
            let same = had && has && old_keys.row(old_at) == new_keys.row(new_at);
            if had && !same {
                chosen.push(slot, (0, old_at), -1);
            }
            if has && !same {
                chosen.push(slot, (1, new_at), 1);
            }
            old_at += usize::from(had);
            new_at += usize::from(has);
        }
        Ok(chosen)
    }

    fn rows(
        &self,
        touched: &Touched,
        chosen: &Chosen,
        old: &[ArrayRef],
        new: &[ArrayRef],
    ) -> Result<Option<Delta>, OperatorError> {
        debug_assert!(chosen.slots.len() <= 2 * touched.slots.len(), "at most two rows a group");
        let rows = chosen.slots.len();
        if rows == 0 {
            return Ok(None);
        }
        let keys = chosen.slots.iter().map(|&slot| &self.groups.slots.key(slot)[1..]);
        let mut columns = self.group.decode(keys)?;
        for (old, new) in old.iter().zip(new) {
            columns.push(compute::interleave(&[&**old, &**new], &chosen.places)?);
        }
        let batch = batch_of(&self.schema, columns, rows)?;
        let inserts_only = chosen.weights.iter().all(|weight| *weight == 1);
        let weights = (!inserts_only).then(|| chosen.weights.clone().into());
        Ok(Some(Delta::new(batch, weights)))
    }
}

/// The columns of `results` of `slots`; what of them failed goes to `failed`.
fn columns(
    results: Vec<Results>,
    slots: &[u32],
    weight: i64,
    failed: &mut Vec<FailedResult>,
) -> Vec<ArrayRef> {
    let column = |(call, result): (usize, Results)| {
        failed.extend(result.errors.into_iter().map(|(place, error)| {
            let slot = slots[place];
            FailedResult { slot, call, error, weight }
        }));
        result.column
    };
    results.into_iter().enumerate().map(column).collect()
}

/// Rows to give: of which group, from where (0 old, 1 new), with which weight.
#[derive(Default)]
struct Chosen {
    slots: Vec<u32>,
    places: Vec<(usize, usize)>,
    weights: Vec<i64>,
}

impl Chosen {
    fn push(&mut self, slot: u32, place: (usize, usize), weight: i64) {
        self.slots.push(slot);
        self.places.push(place);
        self.weights.push(weight);
    }
}

/// Pieces, one after the other; no pieces are empty columns of the types of `like`.
fn concat_columns(
    pieces: &[Vec<ArrayRef>],
    like: &[ArrayRef],
) -> Result<Vec<ArrayRef>, OperatorError> {
    if let [piece] = pieces {
        return Ok(piece.clone());
    }
    let column = |(index, like): (usize, &ArrayRef)| {
        let none = like.slice(0, 0);
        let parts = pieces.iter().map(|piece| &*piece[index]);
        Ok(compute::concat(&std::iter::once(&*none).chain(parts).collect::<Vec<&dyn Array>>())?)
    };
    like.iter().enumerate().map(column).collect()
}

impl Operator for Aggregate {
    fn process(
        &mut self,
        _port: usize,
        delta: Delta,
        _output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        self.buffer.push(delta);
        if self.buffer.is_full() { self.drain() } else { Ok(()) }
    }

    fn flush(&mut self, _: &EpochEnd, output: &mut dyn Output) -> Result<(), OperatorError> {
        self.drain()?;
        self.touch_global()?;
        if !self.touched.slots.is_empty() {
            self.groups.calls.settle(&self.groups.slots)?;
            self.check_counts()?;
            let delta = self.change()?;
            let mut touched = std::mem::take(&mut self.touched);
            self.groups.write(&touched.slots);
            for slot in touched.slots.drain(..) {
                touched.marks[slot as usize] = false;
            }
            self.touched = touched;
            if let Some(delta) = delta {
                emit_chunks(&delta, output)?;
            }
        }
        self.groups.slots.tick();
        Ok(())
    }

    fn tables(&mut self) -> Vec<&mut Table> {
        self.groups.tables()
    }

    fn cached_bytes(&self) -> usize {
        self.groups.bytes()
    }

    fn evict(&mut self, bytes_max: usize) {
        if self.cached_bytes() > bytes_max {
            self.groups.evict(bytes_max);
            self.touched = Touched::default();
        }
    }

    fn take_row_errors(&mut self) -> Vec<RowError> {
        self.errors.take()
    }
}
