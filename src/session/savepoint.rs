//! Savepoints: SAVEPOINT, RELEASE, ROLLBACK TO.
//!
//! What goes back with a savepoint: rows and their locks, variables, cursors that were opened after
//! it, notifications, advisory locks for the transaction. What does not, as in PostgreSQL:
//! sequences, and how far a cursor has come.

use super::channels::WordMark;
use super::outcome::Outcome;
use super::session::Session;
use super::variables::Saved;
use crate::engine::{LockMark, dml};
use crate::error::{SqlError, SqlResult, SqlState};

/// `invalid_savepoint_specification`.
const INVALID_SAVEPOINT: SqlState = "3B001";

/// A moment of the transaction that it can go back to.
#[derive(Debug)]
pub(super) struct Savepoint {
    name: String,
    /// Where its writes were; `None`: there were none.
    writes: Option<dml::Mark>,
    variables: Saved,
    word: WordMark,
    locks: LockMark,
}

impl Session {
    pub(super) fn savepoint(&mut self, name: &str) -> SqlResult<Outcome> {
        self.check_in_block("SAVEPOINT")?;
        let savepoint = Savepoint {
            name: name.to_owned(),
            writes: self.block.writes.as_mut().map(dml::Transaction::mark),
            variables: self.variables.save(),
            word: self.block.word.mark(),
            locks: self.locks.mark(),
        };
        self.block.savepoints.push(savepoint);
        Ok(Outcome::Command("SAVEPOINT".to_owned()))
    }

    pub(super) fn release_savepoint(&mut self, name: &str) -> SqlResult<Outcome> {
        self.check_in_block("RELEASE SAVEPOINT")?;
        let index = self.find_savepoint(name)?;
        self.block.savepoints.truncate(index);
        if self.block.savepoints.iter().all(|savepoint| savepoint.writes.is_none())
            && let Some(writes) = &mut self.block.writes
        {
            writes.forget_marks();
        }
        for portal in self.portals.values_mut() {
            portal.depth = portal.depth.min(index);
        }
        Ok(Outcome::Command("RELEASE".to_owned()))
    }

    pub(super) fn roll_back_to_savepoint(&mut self, name: &str) -> SqlResult<Outcome> {
        self.check_in_block("ROLLBACK TO SAVEPOINT")?;
        let index = self.find_savepoint(name)?;
        self.block.savepoints.truncate(index + 1);
        self.portals.retain(|_, portal| portal.depth <= index);
        let Savepoint { writes, variables, word, locks, .. } = &self.block.savepoints[index];
        match (writes, &mut self.block.writes) {
            (Some(mark), Some(writes)) => writes.roll_back_to(*mark),
            // All that there is came after it.
            _ => self.block.writes = None,
        }
        self.locks.roll_back_to(*locks);
        self.variables.restore(variables);
        self.block.word.roll_back_to(*word);
        self.block.failed = false;
        Ok(Outcome::Command("ROLLBACK".to_owned()))
    }

    fn find_savepoint(&self, name: &str) -> SqlResult<usize> {
        self.block.savepoints.iter().rposition(|savepoint| savepoint.name == name).ok_or_else(
            || {
                let message = format!("savepoint \"{name}\" does not exist");
                SqlError::new(INVALID_SAVEPOINT, message)
            },
        )
    }
}
