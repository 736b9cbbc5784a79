//! What is committed, for those who wait for it.

use tokio::sync::watch;

use crate::error::{SqlError, SqlResult, code};
use crate::types::Epoch;

/// Ranges of discarded epochs that are remembered: a waiter looks within seconds.
const DISCARDED_MAX: usize = 64;

/// How far the attached graph is.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    pub committed: Epoch,
    /// Epochs that were open or on their way when the graph was restarted: first and last.
    discarded: Vec<(Epoch, Epoch)>,
}

impl Progress {
    pub fn new(committed: Epoch) -> Self {
        Self { committed, discarded: Vec::new() }
    }

    /// Epochs `first` to `last` will never be committed.
    pub fn discard(&mut self, first: Epoch, last: Epoch) {
        if self.discarded.len() == DISCARDED_MAX {
            self.discarded.remove(0);
        }
        self.discarded.push((first, last));
    }

    /// What became of `epoch`; `None` while that is open.
    fn outcome(&self, epoch: Epoch) -> Option<SqlResult<()>> {
        if self.discarded.iter().any(|(first, last)| (*first..=*last).contains(&epoch)) {
            let error = SqlError::new(
                code::SERIALIZATION_FAILURE,
                "the statement was undone because the engine restarted",
            );
            return Some(Err(error.hint("Run the transaction again.")));
        }
        (epoch <= self.committed).then_some(Ok(()))
    }
}

/// Waits until `epoch` is committed, or known never to be.
pub async fn committed(mut progress: watch::Receiver<Progress>, epoch: Epoch) -> SqlResult<()> {
    loop {
        let outcome = progress.borrow_and_update().outcome(epoch);
        if let Some(outcome) = outcome {
            return outcome;
        }
        if progress.changed().await.is_err() {
            return Err(SqlError::new(code::ADMIN_SHUTDOWN, "the server is shutting down"));
        }
    }
}
