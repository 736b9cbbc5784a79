//! What failed on single rows in an epoch, until the actor takes it away.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;

use super::RowError;
use super::batch::batch_of;
use crate::error::{SqlError, SqlState};
use crate::expr::{Failure, Failures, MoreFailures, row_text};

/// Row errors of an operator in an epoch. The first are kept whole; the others are counted by
/// expression and error, so that for each of these the weights add up exactly.
#[derive(Debug, Default)]
pub(super) struct RowErrors {
    entries: Vec<RowError>,
    more: BTreeMap<(String, SqlState, String), More>,
}

/// Rows on which one expression failed with one error.
#[derive(Debug)]
struct More {
    error: SqlError,
    rows: u64,
    weight: i64,
}

/// Row errors that an operator keeps whole in an epoch: enough to see what is wrong.
const ENTRIES_MAX: usize = 100;

impl RowErrors {
    /// Adds `failures`; `weight` tells the weight of the row with an index.
    pub(super) fn add(&mut self, failures: Failures, weight: impl Fn(usize) -> i64) {
        let (entries, more) = failures.into_parts();
        for Failure { expression, error, row, text } in entries {
            let weight = weight(row);
            if self.entries.len() < ENTRIES_MAX {
                self.entries.push(RowError { expression, error, row: text, more: 0, weight });
            } else {
                self.count(expression, error, 1, weight);
            }
        }
        for MoreFailures { expression, error, rows } in more {
            let weight = rows.iter().map(|row| weight(*row)).sum();
            self.count(expression, error, rows.len() as u64, weight);
        }
    }

    fn count(&mut self, expression: String, error: SqlError, rows: u64, weight: i64) {
        let kind = (expression, error.code, error.message.clone());
        let more = self.more.entry(kind).or_insert(More { error, rows: 0, weight: 0 });
        more.rows += rows;
        more.weight += weight;
    }

    /// Adds that the result `name` of `group` cannot be represented.
    pub(super) fn add_one(
        &mut self,
        name: &str,
        error: SqlError,
        group: Vec<ArrayRef>,
        weight: i64,
    ) -> Result<(), ArrowError> {
        if self.entries.len() >= ENTRIES_MAX {
            self.count(name.to_owned(), error, 1, weight);
            return Ok(());
        }
        let fields: Vec<_> =
            group.iter().map(|column| Field::new("", column.data_type().clone(), true)).collect();
        let batch = batch_of(&Arc::new(Schema::new(fields)), group, 1)?;
        let (expression, row) = (name.to_owned(), row_text(&batch, 0));
        self.entries.push(RowError { expression, error, row, more: 0, weight });
        Ok(())
    }

    pub(super) fn take(&mut self) -> Vec<RowError> {
        let mut entries = std::mem::take(&mut self.entries);
        let more = std::mem::take(&mut self.more).into_iter();
        entries.extend(more.map(|((expression, _, _), More { error, rows, weight })| RowError {
            expression,
            error,
            row: RowError::counted(rows),
            more: rows,
            weight,
        }));
        entries
    }
}
