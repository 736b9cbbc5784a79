//! The write locks of tables. The locks themselves are the inboxes'.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;

use super::{Locks, Owner, timed_out};
use crate::catalog::pg::{LockMode, Locked};
use crate::dataflow::inbox::Inbox;
use crate::error::SqlResult;
use crate::types::ObjectId;

/// A table's write lock, held. Dropping it releases the lock.
#[derive(Debug)]
pub struct Held {
    locks: Arc<Locks>,
    object: ObjectId,
    /// Released after the holder is forgotten: see `drop`.
    _guard: OwnedMutexGuard<()>,
}

impl Locks {
    /// Takes the write lock of `inbox`'s table for `owner`, which does not hold it yet.
    pub async fn acquire(
        self: &Arc<Self>,
        owner: Owner,
        inbox: &Inbox,
        timeout: Option<Duration>,
    ) -> SqlResult<Held> {
        let object = inbox.object();
        let lock = inbox.write_lock();
        let guard = match Arc::clone(&lock).try_lock_owned() {
            Ok(guard) => guard,
            Err(_) => {
                let _waiting = self.wait(owner, Locked::Table(object), LockMode::Exclusive)?;
                match timeout {
                    None => lock.lock_owned().await,
                    Some(timeout) => tokio::time::timeout(timeout, lock.lock_owned())
                        .await
                        .map_err(|_| timed_out())?,
                }
            }
        };
        Ok(self.hold(owner, object, guard))
    }

    /// The same if nobody has it.
    pub fn try_acquire(self: &Arc<Self>, owner: Owner, inbox: &Inbox) -> Option<Held> {
        let guard = inbox.write_lock().try_lock_owned().ok()?;
        Some(self.hold(owner, inbox.object(), guard))
    }

    fn hold(self: &Arc<Self>, owner: Owner, object: ObjectId, guard: OwnedMutexGuard<()>) -> Held {
        self.known.lock().tables.insert(object, owner);
        Held { locks: Arc::clone(self), object, _guard: guard }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.locks.known.lock().tables.remove(&self.object);
    }
}
