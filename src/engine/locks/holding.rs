//! Who holds one thing, alone or with others, and who waits for it, in order.
//!
//! What must hold: who comes later does not pass one who waits and whom it would keep waiting,
//! unless it holds the thing already (else the two would wait for each other); whoever is let in
//! is told, and if it is not there any more, the next one is.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tokio::sync::oneshot;

use super::{Known, Locks, Owner, Waiting, timed_out};
use crate::catalog::pg::{LockMode, Locked};
use crate::error::{SqlError, SqlResult};

/// What is known of one thing.
#[derive(Debug, Default)]
pub(super) struct Holding {
    /// How often each owner holds it.
    held: HashMap<Owner, Holds>,
    queue: VecDeque<Queued>,
}

/// How often it is held in each mode.
#[derive(Debug, Clone, Copy, Default)]
struct Holds([u32; LockMode::ALL.len()]);

#[derive(Debug)]
struct Queued {
    owner: Owner,
    mode: LockMode,
    admit: oneshot::Sender<()>,
}

/// A place in a queue, left when it is dropped.
struct Place<'a> {
    locks: &'a Locks,
    owner: Owner,
    on: Locked,
    mode: LockMode,
    /// Whether the lock is somebody's who knows.
    taken: bool,
}

impl Holds {
    fn count(&mut self, mode: LockMode) -> &mut u32 {
        &mut self.0[mode as usize]
    }

    fn modes(self) -> impl Iterator<Item = LockMode> {
        LockMode::ALL.into_iter().filter(move |mode| self.0[*mode as usize] > 0)
    }
}

impl Holding {
    /// Who holds it, how.
    pub(super) fn holders(&self) -> impl Iterator<Item = (Owner, LockMode)> {
        self.held.iter().flat_map(|(owner, holds)| holds.modes().map(|mode| (*owner, mode)))
    }

    /// Whom `owner` has to wait for who wants it in `mode`.
    pub(super) fn in_the_way_of(&self, owner: Owner, mode: LockMode) -> Vec<Owner> {
        let holders = self.holders().filter(|(_, held)| mode.conflicts(*held));
        let ahead = self.queue.iter().take_while(|queued| queued.owner != owner);
        let ahead = ahead.filter(|queued| mode.conflicts(queued.mode)).map(|queued| queued.owner);
        // Who holds it stands before all who do not.
        let ahead = ahead.filter(|_| !self.held.contains_key(&owner));
        holders.map(|(other, _)| other).filter(|other| *other != owner).chain(ahead).collect()
    }

    /// Takes it if nobody is in the way.
    pub(super) fn try_take(&mut self, owner: Owner, mode: LockMode) -> bool {
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
            if holds.modes().next().is_none() {
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

    fn is_idle(&self) -> bool {
        self.held.is_empty() && self.queue.is_empty()
    }
}

impl Known {
    pub(super) fn give_back(&mut self, owner: Owner, on: Locked, mode: LockMode, times: u32) {
        if let Some(holding) = self.held.get_mut(&on) {
            holding.give_back(owner, mode, times);
        }
        self.tidy(on);
    }

    /// Forgets what nobody holds or waits for.
    pub(super) fn tidy(&mut self, on: Locked) {
        if self.held.get(&on).is_some_and(Holding::is_idle) {
            self.held.remove(&on);
        }
    }
}

impl Locks {
    /// Takes a lock, and waits for that as long as `timeout` allows.
    pub(super) async fn take(
        &self,
        owner: Owner,
        on: Locked,
        mode: LockMode,
        timeout: Option<Duration>,
    ) -> SqlResult<()> {
        let (admitted, _waiting, mut place) = {
            let mut known = self.known.lock();
            let holding = known.holding(on)?;
            if holding.try_take(owner, mode) {
                return Ok(());
            }
            let admitted = holding.enqueue(owner, mode);
            let place = Place { locks: self, owner, on, mode, taken: false };
            if let Err(error) = known.wait(owner, on, mode) {
                drop(known);
                drop(place);
                return Err(error);
            }
            (admitted, Waiting { locks: self, owner }, place)
        };
        let outcome = match timeout {
            None => admitted.await,
            Some(timeout) => {
                tokio::time::timeout(timeout, admitted).await.map_err(|_| timed_out())?
            }
        };
        outcome.map_err(|_| SqlError::internal("the queue of a lock was lost"))?;
        place.taken = true;
        Ok(())
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.taken {
            return;
        }
        let mut known = self.locks.known.lock();
        let Some(holding) = known.held.get_mut(&self.on) else { return };
        let place = holding.queue.iter().position(|queued| queued.owner == self.owner);
        match place {
            Some(place) => {
                holding.queue.remove(place);
                holding.let_in();
                known.tidy(self.on);
            }
            // It was let in, and has not seen it.
            None => known.give_back(self.owner, self.on, self.mode, 1),
        }
    }
}
