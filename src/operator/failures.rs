//! Which partitions an operator cannot compute, and why:
//!
//! ```text
//!  vnode | partition  ->  SQLSTATE, 5 bytes | message
//! ```
//!
//! A partition that fails has no rows in the result, and an entry among the row errors, until it is
//! computed again without failing.

use super::OperatorError;
use super::errors::RowErrors;
use crate::error::{SqlError, code};
use crate::state::{StateError, Table};
use crate::types::key::KeyCodec;

/// The partitions that fail, and what is told of them.
pub(super) struct Failures {
    /// What is computed, as a user would call it.
    name: String,
    pub(super) table: Table,
    pub(super) errors: RowErrors,
}

impl Failures {
    pub(super) fn new(name: String, table: Table) -> Self {
        Self { name, table, errors: RowErrors::default() }
    }

    /// Which of `partitions` (`vnode | key`) fail.
    pub(super) fn known(&mut self, partitions: &[&[u8]]) -> Result<Vec<bool>, StateError> {
        let stored = self.table.get_many(partitions)?;
        Ok(stored.into_iter().map(|failure| failure.is_some()).collect())
    }

    /// Tells why each of `partitions`, whose keys `codec` encodes, fails since now, or that it does
    /// not.
    pub(super) fn note(
        &mut self,
        codec: &KeyCodec,
        partitions: &[(&[u8], Option<&SqlError>)],
    ) -> Result<(), OperatorError> {
        let keys: Vec<&[u8]> = partitions.iter().map(|(key, _)| *key).collect();
        let stored = self.table.get_many(&keys)?;
        for (&(key, now), before) in partitions.iter().zip(stored) {
            let bytes = now.map(failure_bytes);
            if before == bytes {
                continue;
            }
            let partition = || codec.decode([&key[1..]]);
            if let Some(before) = before.as_deref() {
                self.errors.add_one(&self.name, failure_of(before), partition()?, -1)?;
            }
            match (now, bytes) {
                (Some(error), Some(bytes)) => {
                    self.errors.add_one(&self.name, error.clone(), partition()?, 1)?;
                    self.table.put(key, &bytes);
                }
                _ => self.table.delete(key),
            }
        }
        Ok(())
    }
}

fn failure_bytes(error: &SqlError) -> Vec<u8> {
    [error.code.as_bytes(), error.message.as_bytes()].concat()
}

fn failure_of(bytes: &[u8]) -> SqlError {
    let (state, message) = bytes.split_at(bytes.len().min(5));
    SqlError::new(code::of(&String::from_utf8_lossy(state)), String::from_utf8_lossy(message))
}

/// Why there is no result.
pub(super) enum QueryError {
    /// The query failed on these rows.
    Rows(SqlError),
    Operator(OperatorError),
}

impl<E: Into<OperatorError>> From<E> for QueryError {
    fn from(error: E) -> Self {
        QueryError::Operator(error.into())
    }
}
