//! Advisory locks: who holds a number, alone or with others, and who waits for it, in order.
//!
//! What must hold: who comes later does not pass one who waits and whom it would keep waiting,
//! unless it holds the number already (else the two would wait for each other); whoever is let in
//! is told, and if it is not there any more, the next one is.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::{Known, Locks, Owner, Waiting, timed_out};
use crate::catalog::pg::{
    AdvisoryKey, Lock, LockMode, LockRequest, LockScope, Locked, SessionLocks,
};
use crate::error::{SqlError, SqlResult, code};

/// The most numbers that are locked at a time, by all sessions together.
pub(super) const KEYS_MAX: usize = 1_000_000;

/// What is known of one number.
#[derive(Debug, Default)]
pub(super) struct Advisory {
    /// How often each owner holds it.
    held: HashMap<Owner, Holds>,
    queue: VecDeque<Queued>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Holds {
    shared: u32,
    exclusive: u32,
}

#[derive(Debug)]
struct Queued {
    owner: Owner,
    mode: LockMode,
    admit: oneshot::Sender<()>,
}

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

/// A place in a queue, left when it is dropped.
struct Place<'a> {
    locks: &'a Locks,
    owner: Owner,
    key: AdvisoryKey,
    mode: LockMode,
    /// Whether the lock is somebody's who knows.
    taken: bool,
}

fn conflict(one: LockMode, other: LockMode) -> bool {
    one == LockMode::Exclusive || other == LockMode::Exclusive
}

impl Holds {
    fn count(&mut self, mode: LockMode) -> &mut u32 {
        match mode {
            LockMode::Shared => &mut self.shared,
            LockMode::Exclusive => &mut self.exclusive,
        }
    }

    fn modes(self) -> impl Iterator<Item = LockMode> {
        let held = [(LockMode::Shared, self.shared), (LockMode::Exclusive, self.exclusive)];
        held.into_iter().filter(|(_, count)| *count > 0).map(|(mode, _)| mode)
    }
}

impl Advisory {
    /// Who holds it, how.
    pub(super) fn holders(&self) -> impl Iterator<Item = (Owner, LockMode)> {
        self.held.iter().flat_map(|(owner, holds)| holds.modes().map(|mode| (*owner, mode)))
    }

    /// Whom `owner` has to wait for who wants it in `mode`.
    pub(super) fn in_the_way_of(&self, owner: Owner, mode: LockMode) -> Vec<Owner> {
        let holders = self.holders().filter(|(_, held)| conflict(mode, *held));
        let ahead = self.queue.iter().take_while(|queued| queued.owner != owner);
        let ahead = ahead.filter(|queued| conflict(mode, queued.mode)).map(|queued| queued.owner);
        // Who holds it stands before all who do not.
        let ahead = ahead.filter(|_| !self.held.contains_key(&owner));
        holders.map(|(other, _)| other).filter(|other| *other != owner).chain(ahead).collect()
    }

    /// Takes it if nobody is in the way.
    fn try_take(&mut self, owner: Owner, mode: LockMode) -> bool {
        let free = self.in_the_way_of(owner, mode).is_empty();
        if free {
            self.take(owner, mode);
        }
        free
    }

    fn take(&mut self, owner: Owner, mode: LockMode) {
        let count = self.held.entry(owner).or_default().count(mode);
        *count = count.saturating_add(1);
    }

    fn enqueue(&mut self, owner: Owner, mode: LockMode) -> oneshot::Receiver<()> {
        let (admit, admitted) = oneshot::channel();
        let queued = Queued { owner, mode, admit };
        if self.held.contains_key(&owner) {
            self.queue.push_front(queued);
        } else {
            self.queue.push_back(queued);
        }
        admitted
    }

    fn give_back(&mut self, owner: Owner, mode: LockMode, times: u32) {
        if let Some(holds) = self.held.get_mut(&owner) {
            let count = holds.count(mode);
            *count = count.saturating_sub(times);
            if holds.shared == 0 && holds.exclusive == 0 {
                self.held.remove(&owner);
            }
        }
        self.let_in();
    }

    /// Lets in who waits and has nobody in its way any more.
    fn let_in(&mut self) {
        let mut index = 0;
        while let Some(queued) = self.queue.get(index) {
            let (owner, mode) = (queued.owner, queued.mode);
            if !self.in_the_way_of(owner, mode).is_empty() {
                index += 1;
                continue;
            }
            let Some(queued) = self.queue.remove(index) else { break };
            // One that has gone has left its place, and is not there to be sent to.
            if queued.admit.send(()).is_ok() {
                self.take(owner, mode);
            }
        }
    }
}

impl Known {
    fn give_back(&mut self, owner: Owner, key: AdvisoryKey, mode: LockMode, times: u32) {
        if let Some(advisory) = self.advisory.get_mut(&key) {
            advisory.give_back(owner, mode, times);
        }
        self.tidy(key);
    }

    fn tidy(&mut self, key: AdvisoryKey) {
        let idle = |advisory: &Advisory| advisory.held.is_empty() && advisory.queue.is_empty();
        if self.advisory.get(&key).is_some_and(idle) {
            self.advisory.remove(&key);
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.taken {
            return;
        }
        let mut known = self.locks.known.lock();
        let Some(advisory) = known.advisory.get_mut(&self.key) else { return };
        let place = advisory.queue.iter().position(|queued| queued.owner == self.owner);
        match place {
            Some(place) => {
                advisory.queue.remove(place);
                advisory.let_in();
                known.tidy(self.key);
            }
            // It was let in, and has not seen it.
            None => known.give_back(self.owner, self.key, self.mode, 1),
        }
    }
}

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
        let (admitted, _waiting, mut place) = {
            let mut known = self.locks.known.lock();
            let advisory = known.advisory(key)?;
            if advisory.try_take(self.owner, mode) {
                self.note(request);
                return Ok(());
            }
            let admitted = advisory.enqueue(self.owner, mode);
            let place = Place { locks: &self.locks, owner: self.owner, key, mode, taken: false };
            if let Err(error) = known.wait(self.owner, Locked::Advisory(key), mode) {
                drop(known);
                drop(place);
                return Err(error);
            }
            (admitted, Waiting { locks: &self.locks, owner: self.owner }, place)
        };
        let outcome = match timeout {
            None => admitted.await,
            Some(timeout) => {
                tokio::time::timeout(timeout, admitted).await.map_err(|_| timed_out())?
            }
        };
        outcome.map_err(|_| SqlError::internal("the queue of a lock was lost"))?;
        place.taken = true;
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
            known.give_back(self.owner, key, mode, times);
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
        let taken = known.advisory(request.key)?.try_take(self.owner, request.mode);
        known.tidy(request.key);
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
