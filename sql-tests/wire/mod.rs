//! The protocol message by message, over a socket of our own: what drivers hide.
//!
//! The scripts under `wire/` say what is sent and what must come back, and run on PostgreSQL too,
//! which proves that what they expect is right. What depends on time is in Rust, below.

mod deadlock;
mod row_locks;
mod savepoints;
mod script;
mod sessions;
pub(crate) mod socket;
mod timing;

use sqllogictest::harness::Trial;

/// The tests of this module.
pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = script::trials();
    trials.extend(deadlock::trials());
    trials.extend(row_locks::trials());
    trials.extend(savepoints::trials());
    trials.extend(sessions::trials());
    trials.extend(timing::trials());
    trials
}
