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
    /// Epochs that were open or on their way when the graph was restarted: first and last, and
    /// what their writers are told.
    discarded: Vec<(Epoch, Epoch, SqlError)>,
}

impl Progress {
    pub fn new(committed: Epoch) -> Self {
        Self { committed, discarded: Vec::new() }
    }

    /// Epochs `first` to `last` will never be committed, because of `cause`.
    pub fn discard(&mut self, first: Epoch, last: Epoch, cause: &SqlError) {
        // What was too large once would be again; of all else writers need not know.
        let told = if cause.code == code::OUT_OF_MEMORY {
            cause.clone()
        } else {
            let message = "the statement was undone because the engine restarted";
            SqlError::new(code::SERIALIZATION_FAILURE, message).hint("Run the transaction again.")
        };
        if self.discarded.len() == DISCARDED_MAX {
            self.discarded.remove(0);
        }
        self.discarded.push((first, last, told));
    }

    /// What became of `epoch`; `None` while that is open.
    fn outcome(&self, epoch: Epoch) -> Option<SqlResult<()>> {
        let among = |(first, last, _): &&(Epoch, Epoch, _)| (*first..=*last).contains(&epoch);
        match self.discarded.iter().find(among) {
            Some((.., told)) => Some(Err(told.clone())),
            None => (epoch <= self.committed).then_some(Ok(())),
        }
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
