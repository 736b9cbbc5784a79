//! Sources: where rows come from. A connector a folder or file; formats beside them.
//!
//! A source is made of splits, each with a position. Positions commit with the epoch, and a
//! source seeked to a position gives the same rows again: that is what exactly-once rests on.

pub mod computed;
pub mod datagen;
mod draw;
pub mod file;
mod format;
pub mod nexmark;
mod option;
mod pace;
pub mod registry;

use std::collections::BTreeMap;
use std::time::Duration;

use arrow::array::RecordBatch;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::SqlError;

/// Where each split stands: split id to an opaque position that its connector can order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Positions(pub BTreeMap<String, String>);

/// A source, open and seeked.
#[async_trait]
pub trait Source: Send {
    /// Reads on, about `rows_max` rows. With `until`, never past those positions, and as fast as
    /// it can: a replay is not paced. Cancel-safe: a dropped call has read nothing.
    async fn poll(
        &mut self,
        rows_max: usize,
        until: Option<&Positions>,
    ) -> Result<Polled, SqlError>;

    /// Where the next poll reads on: after all rows given so far.
    fn positions(&self) -> Positions;

    /// Goes on at `positions`, as an earlier [`Source::positions`] gave them. Splits that are not
    /// named start at their beginning.
    fn seek(&mut self, positions: &Positions) -> Result<(), SqlError>;
}

/// What a poll found.
#[derive(Debug, Clone)]
pub struct Polled {
    /// Rows with the source's schema; may be empty.
    pub batch: RecordBatch,
    /// Records that could not be read, raw: for the dead-letter table.
    pub dead_letters: Vec<DeadLetter>,
    /// What to do before the next poll.
    pub then: Then,
}

/// When to poll again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// At once: there is more.
    More,
    /// After this long: paced, or nothing new for now.
    Wait(Duration),
    /// Never: the source has ended, or `until` is reached.
    End,
}

/// A record that could not be turned into a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    pub split: String,
    pub position: String,
    pub raw: Vec<u8>,
    pub reason: String,
}
