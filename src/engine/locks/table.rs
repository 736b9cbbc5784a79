//! The locks of tables: of one who writes rows, of those who need rows to stay.

use std::sync::Arc;
use std::time::Duration;

use super::{Locks, Owner};
use crate::catalog::pg::{LockMode, Locked};
use crate::error::SqlResult;
use crate::types::ObjectId;

/// A table's lock, held. Dropping it releases the lock.
#[derive(Debug)]
pub struct Held {
    locks: Arc<Locks>,
    owner: Owner,
    table: ObjectId,
    mode: LockMode,
}

impl Held {
    pub fn mode(&self) -> LockMode {
        self.mode
    }
}

impl Locks {
    /// Takes a lock of `table` for `owner`.
    pub async fn acquire(
        self: &Arc<Self>,
        owner: Owner,
        table: ObjectId,
        mode: LockMode,
        timeout: Option<Duration>,
    ) -> SqlResult<Held> {
        self.take(owner, Locked::Table(table), mode, timeout).await?;
        Ok(self.held(owner, table, mode))
    }

    /// Keeps all others from a table, for a task of the server's own.
    pub async fn seize(self: &Arc<Self>, table: ObjectId) -> SqlResult<Held> {
        self.seize_for(self.task(), table).await
    }

    /// The same for a session, so that a circle with what it holds is seen.
    pub async fn seize_for(self: &Arc<Self>, owner: Owner, table: ObjectId) -> SqlResult<Held> {
        self.acquire(owner, table, LockMode::Exclusive, None).await
    }

    /// As [`Locks::acquire`] if nobody is in the way.
    pub fn try_acquire(
        self: &Arc<Self>,
        owner: Owner,
        table: ObjectId,
        mode: LockMode,
    ) -> SqlResult<Option<Held>> {
        let on = Locked::Table(table);
        let mut known = self.known.lock();
        let taken = known.holding(on)?.try_take(owner, mode);
        known.tidy(on);
        Ok(taken.then(|| self.held(owner, table, mode)))
    }

    fn held(self: &Arc<Self>, owner: Owner, table: ObjectId, mode: LockMode) -> Held {
        Held { locks: Arc::clone(self), owner, table, mode }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let on = Locked::Table(self.table);
        self.locks.known.lock().give_back(self.owner, on, self.mode, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::code;

    const TABLE: ObjectId = ObjectId(20_000);

    #[tokio::test]
    async fn who_needs_rows_to_stay_keeps_out_only_who_takes_them_away() {
        let locks = Arc::new(Locks::default());
        let (one, other) = (Owner::Session(1), Owner::Session(2));
        let modes = [LockMode::KeyShare, LockMode::Write, LockMode::Exclusive];
        for held in modes {
            let _held = locks.acquire(one, TABLE, held, None).await.unwrap();
            for wanted in modes {
                let beside = locks.try_acquire(other, TABLE, wanted).unwrap();
                let together = !matches!((held, wanted), (LockMode::Write, LockMode::Write))
                    && held != LockMode::Exclusive
                    && wanted != LockMode::Exclusive;
                assert_eq!(beside.is_some(), together, "{held:?} and {wanted:?}");
                drop(beside);
                assert!(locks.try_acquire(one, TABLE, wanted).unwrap().is_some(), "its own");
            }
        }
        assert_eq!(locks.list(), []);
    }

    #[tokio::test]
    async fn two_who_need_rows_and_then_take_them_away_do_not_wait_for_ever() {
        let locks = Arc::new(Locks::default());
        let (one, other) = (Owner::Session(1), Owner::Session(2));
        let first = locks.acquire(one, TABLE, LockMode::KeyShare, None).await.unwrap();
        let second = locks.acquire(other, TABLE, LockMode::KeyShare, None).await.unwrap();
        let waiting = locks.acquire(one, TABLE, LockMode::Exclusive, None);
        let refusing = async {
            while locks.blocking(1).is_empty() {
                tokio::task::yield_now().await;
            }
            let refused = locks.acquire(other, TABLE, LockMode::Exclusive, None).await;
            drop(second);
            refused.map(drop)
        };
        let (waited, refused) = tokio::join!(waiting, refusing);
        assert_eq!(refused.unwrap_err().code, code::DEADLOCK_DETECTED);
        drop(waited.unwrap());
        drop(first);
        assert_eq!(locks.list(), []);
    }
}
