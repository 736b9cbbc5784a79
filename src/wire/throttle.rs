//! Failed logins make the next try of the same user from the same address wait: guessing is slow,
//! and nobody else is.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use crate::clock::{self, Moment};

/// What the first failure costs; each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// What a failure costs at the most.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// When a failure is forgotten.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// Callers that are remembered at the most.
const REMEMBERED_MAX: usize = 10_000;

/// The failures of late.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    failures: Mutex<HashMap<Caller, Failures>>,
}

/// An address, and a hash of a user's name: names may be long.
type Caller = (Option<IpAddr>, u64);

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: Moment,
}

impl Throttle {
    /// How long the caller has to wait.
    pub(super) fn wait(&self, address: Option<IpAddr>, user: &str) -> Duration {
        let failures = self.failures.lock();
        let known = failures.get(&caller(address, user));
        match known.filter(|known| known.last.elapsed() < FORGOTTEN_AFTER) {
            Some(known) => {
                let doublings = known.count.saturating_sub(1).min(16);
                (FIRST_WAIT * (1 << doublings)).min(WAIT_MAX)
            }
            None => Duration::ZERO,
        }
    }

    /// The caller has failed once more.
    pub(super) fn failed(&self, address: Option<IpAddr>, user: &str) {
        let mut failures = self.failures.lock();
        if failures.len() >= REMEMBERED_MAX {
            failures.retain(|_, known| known.last.elapsed() < FORGOTTEN_AFTER);
        }
        if failures.len() >= REMEMBERED_MAX {
            // Many callers, each with few tries: nothing is lost that helps much.
            failures.clear();
        }
        let now = clock::moment();
        let entry =
            failures.entry(caller(address, user)).or_insert(Failures { count: 0, last: now });
        if entry.last.elapsed() >= FORGOTTEN_AFTER {
            entry.count = 0;
        }
        *entry = Failures { count: entry.count.saturating_add(1), last: now };
    }

    /// The caller is who it says.
    pub(super) fn succeeded(&self, address: Option<IpAddr>, user: &str) {
        self.failures.lock().remove(&caller(address, user));
    }
}

fn caller(address: Option<IpAddr>, user: &str) -> Caller {
    (address, xxh3_64(user.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_costs_more_to_a_limit_and_to_nobody_else() {
        let throttle = Throttle::default();
        let here = Some("127.0.0.1".parse().expect("an address"));
        let wait = |user| throttle.wait(here, user).as_millis();
        assert_eq!(wait("ann"), 0);
        let mut waits = Vec::new();
        for _ in 0..40 {
            throttle.failed(here, "ann");
            waits.push(wait("ann"));
        }
        assert_eq!(waits[..6], [100, 200, 400, 800, 1600, 2000]);
        assert_eq!(waits[39], 2000);
        assert_eq!(wait("bob"), 0);
        assert_eq!(throttle.wait(None, "ann"), Duration::ZERO);
        throttle.succeeded(here, "ann");
        assert_eq!(wait("ann"), 0);
    }

    #[test]
    fn no_more_are_remembered_than_there_is_room_for() {
        let throttle = Throttle::default();
        for number in 0..REMEMBERED_MAX + 10 {
            throttle.failed(None, &number.to_string());
        }
        assert!(throttle.failures.lock().len() <= REMEMBERED_MAX);
    }
}
