//! Matches become rows: collected as pairs of indices, and given when there are enough of them, so
//! that a key with a million matches never makes a million rows at once.

use std::sync::Arc;

use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute;
use arrow::datatypes::SchemaRef;

use super::super::batch::batch_of;
use super::super::errors::RowErrors;
use super::super::{OUTPUT_ROWS_MAX, OperatorError, Output};
use crate::expr::{Evaluator, Failures};
use crate::types::Delta;
use crate::types::key::{KeyArena, KeyCodec};

/// Whence an output column comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A column of the row that probes. Key columns of both sides are: they are equal.
    Probing(usize),
    /// A column of the stored row, by its index among those that are not the key's.
    Stored(usize),
}

/// How matches of one side's rows with the other's become output.
pub(super) struct Shape<'a> {
    pub(super) sources: &'a [Source],
    /// Of the stored rows.
    pub(super) codec: &'a KeyCodec,
    pub(super) filter: Option<&'a Evaluator>,
    pub(super) schema: &'a SchemaRef,
}

/// Matches of the rows of one delta that wait to be given.
pub(super) struct Pairs<'a> {
    shape: Shape<'a>,
    probing: &'a Delta,
    errors: &'a mut RowErrors,
    output: &'a mut dyn Output,
    /// Encodings of stored rows that have a pair.
    stored: KeyArena,
    /// Index in `probing` and in `stored`, and weight, of each pair.
    probing_rows: Vec<u32>,
    stored_rows: Vec<u32>,
    weights: Vec<i64>,
}

/// Encodings held at the most, whatever their number.
const STORED_BYTES_MAX: usize = 4 << 20;

impl<'a> Pairs<'a> {
    pub(super) fn new(
        shape: Shape<'a>,
        probing: &'a Delta,
        errors: &'a mut RowErrors,
        output: &'a mut dyn Output,
    ) -> Self {
        Self {
            shape,
            probing,
            errors,
            output,
            stored: KeyArena::default(),
            probing_rows: Vec::new(),
            stored_rows: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// The stored `row` matches each of the rows `probing`.
    pub(super) fn add(
        &mut self,
        probing: &[u32],
        row: &[u8],
        weight: i64,
    ) -> Result<(), OperatorError> {
        let mut later = probing;
        while !later.is_empty() {
            let room = OUTPUT_ROWS_MAX - self.weights.len();
            let (now, rest) = later.split_at(room.min(later.len()));
            later = rest;
            let place = self.stored.len() as u32;
            self.stored.push(&[row]);
            for &index in now {
                self.probing_rows.push(index);
                self.stored_rows.push(place);
                self.weights.push(weight * self.probing.weight(index as usize));
            }
            let full = self.weights.len() >= OUTPUT_ROWS_MAX;
            if full || self.stored.filled_bytes() >= STORED_BYTES_MAX {
                self.give()?;
            }
        }
        Ok(())
    }

    /// Gives the pairs that wait.
    pub(super) fn give(&mut self) -> Result<(), OperatorError> {
        let rows = self.weights.len();
        if rows == 0 {
            return Ok(());
        }
        let stored_columns = self.shape.codec.decode(self.stored.iter())?;
        let probing_rows = UInt32Array::from(std::mem::take(&mut self.probing_rows));
        let stored_rows = UInt32Array::from(std::mem::take(&mut self.stored_rows));
        let weights = std::mem::take(&mut self.weights);
        let each_once = self.stored.len() == rows;
        let column = |source: &Source| -> Result<ArrayRef, OperatorError> {
            Ok(match *source {
                Source::Probing(column) => {
                    compute::take(self.probing.batch().column(column), &probing_rows, None)?
                }
                Source::Stored(column) if each_once => Arc::clone(&stored_columns[column]),
                Source::Stored(column) => {
                    compute::take(&stored_columns[column], &stored_rows, None)?
                }
            })
        };
        let columns = self.shape.sources.iter().map(column).collect::<Result<Vec<_>, _>>()?;
        self.stored.clear();
        let batch = batch_of(self.shape.schema, columns, rows)?;
        let inserts_only = weights.iter().all(|weight| *weight == 1);
        let delta = Delta::new(batch, (!inserts_only).then(|| weights.into()));
        let delta = self.filtered(delta)?;
        if delta.is_empty() { Ok(()) } else { self.output.emit(delta) }
    }

    fn filtered(&mut self, delta: Delta) -> Result<Delta, OperatorError> {
        let Some(filter) = self.shape.filter else { return Ok(delta) };
        let mut failures = Failures::default();
        let kept = filter.keep(delta.batch(), &mut failures)?;
        self.errors.add(failures, |row| delta.weight(row));
        match kept {
            Some(kept) if kept.has_false() => Ok(delta.filter(&kept)?),
            _ => Ok(delta),
        }
    }
}
