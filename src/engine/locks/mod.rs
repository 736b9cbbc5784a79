//! Locks: who holds and who waits for the tables that transactions write and for the numbers that
//! sessions agreed on, so that a deadlock is seen when it forms.
//!
//! ```text
//!  session 1 ──waits for──> table b ──held by──> session 2 ──waits for──> number 7 ─┐
//!      ^────────────────────────────held by────────────────────────────────────────┘
//! ```
//!
//! What must hold: an owner says that it waits before it waits, and that it holds before it goes
//! on; so of the owners of a circle the last one to wait sees it, and is the one that fails.

mod advisory;
mod holding;
mod table;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use self::advisory::KEYS_MAX;
pub use self::advisory::{LockMark, SessionAdvisory};
use self::holding::Holding;
pub(super) use self::table::Held;
use crate::catalog::pg::{Lock, LockMode, Locked};
use crate::clock::{self, WallTime};
use crate::error::{SqlError, SqlResult, code};

/// Who holds or waits: what one owner holds is never in its own way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A session, by its process id.
    Session(i32),
    /// A task of the server's own.
    Task(u64),
}

impl Owner {
    fn pid(self) -> Option<i32> {
        match self {
            Owner::Session(pid) => Some(pid),
            Owner::Task(_) => None,
        }
    }
}

/// All locks of the process.
#[derive(Debug, Default)]
pub struct Locks {
    next: AtomicU64,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    held: HashMap<Locked, Holding>,
    /// An owner waits for one lock at a time.
    waits: HashMap<Owner, Wait>,
}

#[derive(Debug, Clone, Copy)]
struct Wait {
    on: Locked,
    mode: LockMode,
    since: WallTime,
}

/// Forgets that an owner waits, also when its statement is cancelled.
struct Waiting<'a> {
    locks: &'a Locks,
    owner: Owner,
}

impl Locks {
    /// An owner that is no session.
    pub fn task(&self) -> Owner {
        Owner::Task(self.next.fetch_add(1, Ordering::Relaxed))
    }

    /// All locks that are held or waited for.
    pub fn list(&self) -> Vec<Lock> {
        let known = self.known.lock();
        let held =
            |on, mode, owner: Owner| Lock { on, mode, pid: owner.pid(), waiting_since: None };
        let mut locks: Vec<Lock> = Vec::new();
        for (on, holding) in &known.held {
            locks.extend(holding.holders().map(|(owner, mode)| held(*on, mode, owner)));
        }
        locks.extend(known.waits.iter().map(|(owner, wait)| Lock {
            on: wait.on,
            mode: wait.mode,
            pid: owner.pid(),
            waiting_since: Some(wait.since),
        }));
        locks
    }

    /// The sessions that session `pid` waits for, in order.
    pub fn blocking(&self, pid: i32) -> Vec<i32> {
        let mut pids: Vec<i32> = self
            .known
            .lock()
            .blockers(Owner::Session(pid))
            .into_iter()
            .filter_map(Owner::pid)
            .collect();
        pids.sort_unstable();
        pids.dedup();
        pids
    }
}

impl Known {
    /// Says that `owner` waits, unless that would be for ever.
    fn wait(&mut self, owner: Owner, on: Locked, mode: LockMode) -> SqlResult<()> {
        self.waits.insert(owner, Wait { on, mode, since: clock::wall() });
        let mut seen = HashSet::from([owner]);
        let mut next = vec![owner];
        while let Some(waiting) = next.pop() {
            for blocker in self.blockers(waiting) {
                if blocker == owner {
                    self.waits.remove(&owner);
                    return Err(SqlError::new(code::DEADLOCK_DETECTED, "deadlock detected").hint(
                        "Run the transaction again; take locks, and write to tables, in the same \
                         order everywhere.",
                    ));
                }
                if seen.insert(blocker) {
                    next.push(blocker);
                }
            }
        }
        Ok(())
    }

    /// Whom `owner` waits for: nobody if it does not wait.
    fn blockers(&self, owner: Owner) -> Vec<Owner> {
        let Some(wait) = self.waits.get(&owner) else { return Vec::new() };
        let holding = self.held.get(&wait.on);
        holding.map_or(Vec::new(), |holding| holding.in_the_way_of(owner, wait.mode))
    }

    /// The state of a lock, which is made if need be.
    fn holding(&mut self, on: Locked) -> SqlResult<&mut Holding> {
        let is_number = matches!(on, Locked::Advisory(_));
        if is_number && self.held.len() >= KEYS_MAX && !self.held.contains_key(&on) {
            return Err(SqlError::new(code::OUT_OF_MEMORY, "out of shared memory")
                .detail(format!("{KEYS_MAX} advisory locks are held."))
                .hint("Give locks back with pg_advisory_unlock()."));
        }
        Ok(self.held.entry(on).or_default())
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.locks.known.lock().waits.remove(&self.owner);
    }
}

fn timed_out() -> SqlError {
    SqlError::new(code::LOCK_NOT_AVAILABLE, "canceling statement due to lock timeout")
}
