//! Who holds and who waits for the write locks of tables, so that a deadlock is seen when it forms.
//!
//! ```text
//!  transaction 1 ──waits for──> table b ──held by──> transaction 2 ──waits for──> table a ─┐
//!       ^──────────────────────────────held by───────────────────────────────────────────┘
//! ```
//!
//! The locks themselves are the inboxes'. What must hold: a transaction says that it waits before
//! it waits, and that it holds before it goes on; so of the transactions of a circle the last one
//! to wait sees the circle, and is the one that fails.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use crate::dataflow::inbox::Inbox;
use crate::error::{SqlError, SqlResult, code};
use crate::types::ObjectId;

/// A transaction's number: a lock's holder is told from others by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TransactionId(u64);

/// All holders and waiters of write locks.
#[derive(Debug, Default)]
pub struct Locks {
    next: AtomicU64,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    holders: HashMap<ObjectId, TransactionId>,
    waiters: HashMap<TransactionId, ObjectId>,
}

/// A table's write lock, held. Dropping it releases the lock.
#[derive(Debug)]
pub(super) struct Held {
    locks: Arc<Locks>,
    object: ObjectId,
    /// Released after the holder is forgotten: see `drop`.
    _guard: OwnedMutexGuard<()>,
}

/// Forgets that a transaction waits, also when its statement is cancelled.
struct Waiting<'a> {
    locks: &'a Locks,
    transaction: TransactionId,
}

impl Locks {
    /// A number for a new transaction.
    pub(super) fn transaction(&self) -> TransactionId {
        TransactionId(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// Takes the write lock of `inbox`'s table for `transaction`, which does not hold it yet.
    pub(super) async fn acquire(
        self: &Arc<Self>,
        transaction: TransactionId,
        inbox: &Inbox,
        timeout: Option<Duration>,
    ) -> SqlResult<Held> {
        let object = inbox.object();
        let lock = inbox.write_lock();
        let guard = match Arc::clone(&lock).try_lock_owned() {
            Ok(guard) => guard,
            Err(_) => {
                let _waiting = self.wait(transaction, object)?;
                match timeout {
                    None => lock.lock_owned().await,
                    Some(timeout) => {
                        tokio::time::timeout(timeout, lock.lock_owned()).await.map_err(|_| {
                            SqlError::new(
                                code::LOCK_NOT_AVAILABLE,
                                "canceling statement due to lock timeout",
                            )
                        })?
                    }
                }
            }
        };
        self.known.lock().holders.insert(object, transaction);
        Ok(Held { locks: Arc::clone(self), object, _guard: guard })
    }

    /// Says that `transaction` waits for `object`, unless that would be for ever.
    fn wait(&self, transaction: TransactionId, object: ObjectId) -> SqlResult<Waiting<'_>> {
        let mut known = self.known.lock();
        let mut next = object;
        // Each transaction waits for one table at the most, so the path has no branches.
        while let Some(holder) = known.holders.get(&next) {
            if *holder == transaction {
                return Err(SqlError::new(code::DEADLOCK_DETECTED, "deadlock detected").hint(
                    "Run the transaction again; write to tables in the same order everywhere.",
                ));
            }
            match known.waiters.get(holder) {
                Some(waits_for) => next = *waits_for,
                None => break,
            }
        }
        known.waiters.insert(transaction, object);
        Ok(Waiting { locks: self, transaction })
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.locks.known.lock().waiters.remove(&self.transaction);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.locks.known.lock().holders.remove(&self.object);
    }
}
