//! INSERT, UPDATE, DELETE, TRUNCATE and COPY ... FROM: from a statement to what enters an epoch.
//!
//! ```text
//!  lock the table -> run the statement's query over (committed + pending + own) rows -> cast and
//!  check -> Changes -> Transaction -> commit: Gate::enter, unlock -> the caller awaits the epoch
//! ```
//!
//! What must hold: see `transaction`. Statements do not write: they say what changes, so one that
//! fails half-way has changed nothing.

mod arbiter;
mod changes;
mod conflict;
mod context;
mod copy_in;
mod delete;
mod describe;
mod environment;
mod insert;
mod inserter;
mod parameters;
mod pour;
mod references;
mod replace;
mod row_id;
mod target;
mod transaction;
mod truncate;
mod undo;
mod unique;
mod update;

#[cfg(test)]
mod tests;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

pub use context::{Context, Limits};
pub use copy_in::{CopyIn, check_copied};
pub use delete::delete;
pub use describe::{Described, describe, rows_of};
pub use insert::insert;
pub use parameters::BoundParameters;
pub use pour::{Pouring, pour};
pub use references::{Constraints, check_references};
pub use row_id::RowIds;
pub use transaction::Transaction;
pub use truncate::truncate;
pub use undo::Mark;
pub(super) use unique::key_text;
pub use update::update;

/// What a statement did.
#[derive(Debug, Clone)]
pub struct DmlResult {
    /// Rows written or taken away, as the command tag counts them.
    pub rows: u64,
    /// What RETURNING gives.
    pub returning: Option<(SchemaRef, Vec<RecordBatch>)>,
    /// What the client is told besides.
    pub notices: Vec<String>,
}
