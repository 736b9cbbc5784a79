//! What failed on single rows, bounded in memory.

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};

use crate::error::SqlError;

/// An expression that failed on a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub expression: String,
    pub error: SqlError,
    /// Index of the row in the batch that was evaluated.
    pub row: usize,
    /// The row, as PostgreSQL writes a composite value.
    pub text: String,
}

/// The first failures of an evaluation, and how many more there were.
#[derive(Debug, Default)]
pub struct Failures {
    entries: Vec<Failure>,
    more: u64,
}

/// Failures of one evaluation that are kept with their text: enough to see what is wrong.
const FAILURES_MAX: usize = 100;

impl Failures {
    /// Notes that `expression` failed on row `row` of a batch, which is row `index` of `batch`.
    pub fn add(
        &mut self,
        expression: impl std::fmt::Display,
        error: impl Into<SqlError>,
        row: usize,
        (batch, index): (&RecordBatch, usize),
    ) {
        if self.entries.len() >= FAILURES_MAX {
            self.more += 1;
            return;
        }
        self.entries.push(Failure {
            expression: expression.to_string(),
            error: error.into(),
            row,
            text: row_text(batch, index),
        });
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Failures that were counted only.
    pub fn more(&self) -> u64 {
        self.more
    }

    pub fn into_entries(self) -> Vec<Failure> {
        self.entries
    }
}

/// Row `row` of `batch` as text: `(1,a,)`.
pub fn row_text(batch: &RecordBatch, row: usize) -> String {
    let options = FormatOptions::default();
    let values = batch.columns().iter().map(|column| {
        ArrayFormatter::try_new(column, &options)
            .and_then(|formatter| formatter.value(row).try_to_string())
            .unwrap_or_else(|_| "?".to_owned())
    });
    format!("({})", values.collect::<Vec<_>>().join(","))
}
