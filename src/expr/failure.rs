//! What failed on single rows: the first with their text, all others counted by what failed and
//! how, so that nothing of a batch is lost and a batch of failing rows costs little more than its
//! distinct errors.

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use hashbrown::HashMap;

use crate::error::{SqlError, SqlState};

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

/// Failures without their rows' text: one expression, one error, several rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoreFailures {
    pub expression: String,
    pub error: SqlError,
    /// Indexes of the rows in the batch that was evaluated.
    pub rows: Vec<usize>,
}

/// All failures of an evaluation.
#[derive(Debug, Default)]
pub struct Failures {
    entries: Vec<Failure>,
    more: Vec<MoreFailures>,
    /// Where in `more` an expression's error is, by its code and message.
    places: HashMap<(String, SqlState, String), usize>,
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
        let (expression, error) = (expression.to_string(), error.into());
        if self.entries.len() < FAILURES_MAX {
            let text = row_text(batch, index);
            self.entries.push(Failure { expression, error, row, text });
            return;
        }
        let kind = (expression, error.code, error.message.clone());
        let place = *self.places.entry(kind).or_insert_with_key(|(expression, _, _)| {
            let expression = expression.clone();
            self.more.push(MoreFailures { expression, error, rows: Vec::new() });
            self.more.len() - 1
        });
        self.more[place].rows.push(row);
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The first failures, and the others.
    pub fn into_parts(self) -> (Vec<Failure>, Vec<MoreFailures>) {
        (self.entries, self.more)
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
