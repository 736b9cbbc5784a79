//! Rows of one side by themselves: with or without a match, padded with NULLs in an outer join.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, new_null_array};
use arrow::datatypes::SchemaRef;

use super::super::batch::batch_of;
use super::super::keyed::{KeyedRows, RowShape};
use super::super::slots::KeySlots;
use super::super::{OUTPUT_ROWS_MAX, OperatorError, Output};
use crate::types::Delta;
use crate::types::key::KeyArena;

/// Encodings held at the most, whatever their number.
const STORED_BYTES_MAX: usize = 4 << 20;

/// How rows of a side become output.
#[derive(Debug, Clone)]
pub(super) struct Single {
    pub(super) side: usize,
    /// Whether rows with a match are given, or those without.
    pub(super) matched: bool,
    schema: SchemaRef,
}

impl Single {
    /// For rows of `side` in output with `schema`, as wide as both sides or as this one.
    pub(super) fn new(side: usize, matched: bool, schema: SchemaRef) -> Self {
        Self { side, matched, schema }
    }

    /// `batch`, of the side, as output.
    fn padded(&self, batch: &RecordBatch) -> Result<RecordBatch, OperatorError> {
        let missing = self.schema.fields().len() - batch.num_columns();
        let before = if self.side == 0 { 0 } else { missing };
        let fields = self.schema.fields().iter().enumerate();
        let column = |(index, field): (usize, &Arc<arrow::datatypes::Field>)| -> ArrayRef {
            match index.checked_sub(before).filter(|own| *own < batch.num_columns()) {
                Some(own) => Arc::clone(batch.column(own)),
                None => new_null_array(field.data_type(), batch.num_rows()),
            }
        };
        Ok(batch_of(&self.schema, fields.map(column).collect(), batch.num_rows())?)
    }

    /// Gives the rows of `delta` for which `chosen`.
    pub(super) fn give(
        &self,
        delta: &Delta,
        chosen: BooleanArray,
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let delta = if chosen.has_false() { delta.filter(&chosen)? } else { delta.clone() };
        if delta.is_empty() {
            return Ok(());
        }
        output.emit(delta.with_batch(self.padded(delta.batch())?))
    }

    /// Gives all stored rows of the keys of `changes`, whose other side got (`true`) or lost its
    /// rows.
    pub(super) fn give_stored(
        &self,
        rows: &mut KeyedRows,
        keys: &KeySlots,
        changes: &[(u32, bool)],
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let mut pending = Pending::default();
        for &(slot, present) in changes {
            let sign = if present == self.matched { 1 } else { -1 };
            rows.for_each(keys, slot, &mut |shape, row, weight| {
                pending.keys.push(&[&keys.key(slot)[1..]]);
                pending.rests.push(&[row]);
                pending.weights.push(sign * weight);
                if pending.is_full() {
                    self.give_pending(&mut pending, shape, output)
                } else {
                    Ok(())
                }
            })?;
        }
        self.give_pending(&mut pending, &rows.shape, output)
    }

    fn give_pending(
        &self,
        pending: &mut Pending,
        shape: &RowShape,
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let Pending { keys, rests, weights } = std::mem::take(pending);
        if weights.is_empty() {
            return Ok(());
        }
        let batch = shape.assemble(keys.iter(), rests.iter(), weights.len())?;
        output.emit(Delta::new(self.padded(&batch)?, Some(weights.into())))
    }
}

/// Stored rows that wait to be given.
#[derive(Default)]
struct Pending {
    keys: KeyArena,
    rests: KeyArena,
    weights: Vec<i64>,
}

impl Pending {
    fn is_full(&self) -> bool {
        let bytes = self.keys.filled_bytes() + self.rests.filled_bytes();
        self.weights.len() >= OUTPUT_ROWS_MAX || bytes >= STORED_BYTES_MAX
    }
}
