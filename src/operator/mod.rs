//! Incremental operators: synchronous kernels over deltas and state tables. No channels, no async,
//! no SQL, no names: an operator is given decided facts (`graph`), reaches the world through its
//! `state::Table`s, and gives rows to an [`Output`].
//!
//! One operator a file; the equation it keeps stands first.

pub mod aggregate;
mod batch;
pub mod buffer;
pub mod build;
pub mod constant;
mod errors;
pub mod expand;
mod failures;
pub mod join;
mod keyed;
pub mod map;
pub mod materialize;
mod ordered;
pub mod recompute;
mod slots;
#[cfg(test)]
mod testing;
pub mod top_n;
pub mod union;
pub mod window;

use crate::clock::WallTime;
use crate::error::SqlError;
use crate::state::{StateError, Table};
use crate::types::{Delta, Epoch};

/// Rows that an operator gives at a time, at the most: one hot key must not make a huge batch.
pub const OUTPUT_ROWS_MAX: usize = 8192;

/// Where an operator's rows go. Taking a delta may block for as long as downstream is full.
pub trait Output {
    fn emit(&mut self, delta: Delta) -> Result<(), OperatorError>;
}

/// One incremental operator, run by one actor for its share of the keys.
pub trait Operator: Send {
    /// Takes a delta at `port`. May give rows now, or keep them for the flush.
    fn process(
        &mut self,
        port: usize,
        delta: Delta,
        output: &mut dyn Output,
    ) -> Result<(), OperatorError>;

    /// The epoch ends: gives the net change that is still held back, and writes state for every
    /// key that changed. After this nothing of the epoch is left outside the tables and output.
    fn flush(&mut self, barrier: &EpochEnd, output: &mut dyn Output) -> Result<(), OperatorError>;

    /// Its state tables, for the actor to freeze at the barrier.
    fn tables(&mut self) -> Vec<&mut Table>;

    /// Bytes of memory that hold clean copies of state, and can be given up.
    fn cached_bytes(&self) -> usize {
        0
    }

    /// Gives up clean copies until `cached_bytes` is at most `bytes_max`. Called after a flush.
    fn evict(&mut self, _bytes_max: usize) {}

    /// Takes away what failed since the last call: rows whose expression gave NULL for an error.
    fn take_row_errors(&mut self) -> Vec<RowError> {
        Vec::new()
    }
}

/// What an operator may know of the barrier that ends an epoch.
#[derive(Debug, Clone, Copy)]
pub struct EpochEnd {
    pub epoch: Epoch,
    /// The wall-clock time that `now()` means in this epoch.
    pub time: WallTime,
}

/// An expression failed on a row, or on several with the same error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowError {
    /// The failing expression, as text.
    pub expression: String,
    pub error: SqlError,
    /// The row, as text.
    pub row: String,
    /// How many rows, where they are counted only; else 0.
    pub more: u64,
    /// `+1` when a row came, `-1` when it went: the error counts while the row is there.
    pub weight: i64,
}

impl RowError {
    /// What stands for the text of rows that are counted only.
    pub fn counted(rows: u64) -> String {
        format!("({rows} more rows like these)")
    }
}

/// Why an operator cannot go on. Bad data is not among these (see [`RowError`]).
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    #[error("state: {0}")]
    State(#[from] StateError),
    #[error("arrow: {0}")]
    Arrow(#[from] arrow::error::ArrowError),
    #[error("expression: {0}")]
    Expression(#[from] datafusion::error::DataFusionError),
    #[error("{0}")]
    Sql(#[from] SqlError),
    /// The graph is being torn down: downstream is gone.
    #[error("downstream is gone")]
    Disconnected,
    #[error("invariant broken: {0}")]
    Invariant(String),
}
