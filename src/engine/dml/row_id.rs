//! Ids for the rows of tables without a primary key.
//!
//! ```text
//!  0 | epoch, 35 bits | count, 28 bits
//! ```
//!
//! What must hold: an id is given once, over all restarts. Within a process the ids go up. A row is
//! committed in the epoch in which its id was made or in a later one, and a new process opens an
//! epoch after all committed ones: so its ids are greater than those of all rows on disk, as long
//! as no more than 2^28 ids are made while one epoch is open, which is checked.

use std::ops::Range;

use parking_lot::Mutex;

use crate::error::{SqlError, SqlResult, code};
use crate::types::Epoch;

const COUNT_BITS: u32 = 28;
/// With ten epochs a second, for a hundred years.
const EPOCH_MAX: u64 = (1 << (63 - COUNT_BITS)) - 1;

/// Makes row ids for all tables of a process.
#[derive(Debug, Default)]
pub struct RowIds {
    next: Mutex<i64>,
}

impl RowIds {
    /// `count` new ids; `open` tells the epoch that writers enter now. It is asked under the lock,
    /// so that ids follow epochs whoever comes first.
    pub fn take(&self, count: usize, open: impl FnOnce() -> Epoch) -> SqlResult<Range<i64>> {
        let mut next = self.next.lock();
        let open = open();
        let first = i64::try_from(open.0.min(EPOCH_MAX) << COUNT_BITS).unwrap_or(i64::MAX);
        let end = first.saturating_add(1 << COUNT_BITS);
        let start = (*next).max(first);
        let stop = i64::try_from(count).ok().and_then(|count| start.checked_add(count));
        match stop {
            Some(stop) if stop <= end && open.0 <= EPOCH_MAX => {
                *next = stop;
                Ok(start..stop)
            }
            _ => Err(SqlError::new(
                code::PROGRAM_LIMIT_EXCEEDED,
                "too many rows written in one epoch to tables without a primary key",
            )
            .hint("Write in smaller transactions, or declare a primary key.")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_within_and_over_restarts() {
        let ids = RowIds::default();
        let first = ids.take(10, || Epoch(5)).unwrap();
        let second = ids.take(10, || Epoch(5)).unwrap();
        let third = ids.take(10, || Epoch(6)).unwrap();
        assert!(first.end <= second.start && second.end <= third.start);
        assert!(RowIds::default().take(1, || Epoch(7)).unwrap().start >= third.end);
    }

    #[test]
    fn more_ids_than_an_epoch_has_are_refused() {
        let ids = RowIds::default();
        ids.take(1 << COUNT_BITS, || Epoch(1)).unwrap();
        let error = ids.take(1, || Epoch(1)).unwrap_err();
        assert_eq!(error.code, code::PROGRAM_LIMIT_EXCEEDED);
        ids.take(1, || Epoch(2)).unwrap();
    }
}
