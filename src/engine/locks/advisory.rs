//! Advisory locks: numbers that sessions agreed on.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::{Locks, Owner};
use crate::catalog::pg::{
    AdvisoryKey, Lock, LockMode, LockRequest, LockScope, Locked, SessionLocks,
};
use crate::error::{SqlError, SqlResult, code};

/// The most numbers that are locked at a time, by all sessions together.
pub(super) const KEYS_MAX: usize = 1_000_000;

/// The advisory locks of one session, which gives them back with `end` when it is over.
#[derive(Debug)]
pub struct SessionAdvisory {
    locks: Arc<Locks>,
    owner: Owner,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    /// How often for the session.
    session: HashMap<(AdvisoryKey, LockMode), u32>,
    /// For the transaction, in order.
    transaction: Vec<(AdvisoryKey, LockMode)>,
}

/// A moment of a transaction, to give back what was locked since.
#[derive(Debug, Clone, Copy)]
pub struct LockMark(usize);

impl SessionAdvisory {
    pub fn new(locks: &Arc<Locks>, pid: i32) -> Self {
        let taken = Mutex::default();
        Self { locks: Arc::clone(locks), owner: Owner::Session(pid), taken }
    }

    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// Takes a lock, and waits for that as long as `timeout` allows.
    pub async fn lock(&self, request: LockRequest, timeout: Option<Duration>) -> SqlResult<()> {
        self.check_room()?;
        let LockRequest { key, mode, .. } = request;
        self.locks.take(self.owner, Locked::Advisory(key), mode, timeout).await?;
        self.note(request);
        Ok(())
    }

    fn note(&self, request: LockRequest) {
        let mut taken = self.taken.lock();
        let what = (request.key, request.mode);
        match request.scope {
            LockScope::Session => {
                let count = taken.session.entry(what).or_default();
                *count = count.saturating_add(1);
            }
            LockScope::Transaction => taken.transaction.push(what),
        }
    }

    pub fn mark(&self) -> LockMark {
        LockMark(self.taken.lock().transaction.len())
    }

    /// Gives back what the transaction has locked since.
    pub fn roll_back_to(&self, mark: LockMark) {
        let mut taken = self.taken.lock();
        let from = mark.0.min(taken.transaction.len());
        let since: Vec<_> = taken.transaction.drain(from..).collect();
        drop(taken);
        self.give_back(since.into_iter().map(|what| (what, 1)));
    }

    /// Gives back what the transaction has locked.
    pub fn end_transaction(&self) {
        self.roll_back_to(LockMark(0));
    }

    fn give_back(&self, what: impl ExactSizeIterator<Item = ((AdvisoryKey, LockMode), u32)>) {
        if what.len() == 0 {
            return;
        }
        let mut known = self.locks.known.lock();
        for ((key, mode), times) in what {
            known.give_back(self.owner, Locked::Advisory(key), mode, times);
        }
    }

    /// Gives all back: the session is over.
    pub fn end(&self) {
        self.unlock_all();
        self.end_transaction();
    }

    /// 53200 if the transaction holds too many to remember.
    fn check_room(&self) -> SqlResult<()> {
        if self.taken.lock().transaction.len() < KEYS_MAX {
            return Ok(());
        }
        Err(SqlError::new(code::OUT_OF_MEMORY, "out of shared memory")
            .detail(format!("The transaction holds {KEYS_MAX} advisory locks."))
            .hint("End it, or take locks for the session."))
    }
}

impl SessionLocks for SessionAdvisory {
    fn try_lock(&self, request: LockRequest) -> SqlResult<bool> {
        self.check_room()?;
        let mut known = self.locks.known.lock();
        let on = Locked::Advisory(request.key);
        let taken = known.holding(on)?.try_take(self.owner, request.mode);
        known.tidy(on);
        drop(known);
        if taken {
            self.note(request);
        }
        Ok(taken)
    }

    fn unlock(&self, key: AdvisoryKey, mode: LockMode) -> bool {
        let mut taken = self.taken.lock();
        let Some(count) = taken.session.get_mut(&(key, mode)) else { return false };
        *count -= 1;
        if *count == 0 {
            taken.session.remove(&(key, mode));
        }
        drop(taken);
        self.give_back(std::iter::once(((key, mode), 1)));
        true
    }

    fn unlock_all(&self) {
        let taken = std::mem::take(&mut self.taken.lock().session);
        self.give_back(taken.into_iter());
    }

    fn list(&self) -> Vec<Lock> {
        self.locks.list()
    }

    fn blocking(&self, pid: i32) -> Vec<i32> {
        self.locks.blocking(pid)
    }
}
