//! What failed on single rows in an epoch, until the actor takes it away.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;

use super::RowError;
use super::batch::batch_of;
use crate::error::SqlError;
use crate::expr::{Failure, Failures, row_text};

/// Row errors of an operator in an epoch. The first are kept whole; the others are counted, and
/// told as one entry.
#[derive(Debug, Default)]
pub(super) struct RowErrors {
    entries: Vec<RowError>,
    more: u64,
}

/// Row errors that an operator keeps in an epoch: enough to see what is wrong.
const ENTRIES_MAX: usize = 100;

impl RowErrors {
    /// Adds `failures`; `weight` tells the weight of the row with an index.
    pub(super) fn add(&mut self, failures: Failures, weight: impl Fn(usize) -> i64) {
        self.more += failures.more();
        for Failure { expression, error, row, text } in failures.into_entries() {
            if self.entries.len() < ENTRIES_MAX {
                let weight = weight(row);
                self.entries.push(RowError { expression, error, row: text, weight });
            } else {
                self.more += 1;
            }
        }
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
            self.more += 1;
            return Ok(());
        }
        let fields: Vec<_> =
            group.iter().map(|column| Field::new("", column.data_type().clone(), true)).collect();
        let batch = batch_of(&Arc::new(Schema::new(fields)), group, 1)?;
        let (expression, row) = (name.to_owned(), row_text(&batch, 0));
        self.entries.push(RowError { expression, error, row, weight });
        Ok(())
    }

    pub(super) fn take(&mut self) -> Vec<RowError> {
        let mut entries = std::mem::take(&mut self.entries);
        let more = std::mem::take(&mut self.more);
        if let (1.., Some(last)) = (more, entries.last().cloned()) {
            entries.push(RowError { row: format!("({more} more rows like these)"), ..last });
        }
        entries
    }
}
