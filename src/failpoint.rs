//! Places where a test makes the server fail, by name. Set with the `FAILPOINTS` variable as the
//! `fail` crate reads it (`FAILPOINTS=commit-before=1*panic`); inert otherwise.

/// Before an epoch's write batch goes to disk.
pub const COMMIT_BEFORE: &str = "commit-before";
/// After an epoch's write batch is on disk, before anybody is told.
pub const COMMIT_AFTER: &str = "commit-after";
/// In an actor, before it handles a delta.
pub const ACTOR_PROCESS: &str = "actor-process";
/// In an actor, when it has aligned a barrier.
pub const ACTOR_BARRIER: &str = "actor-barrier";
/// In a detached job, after it has read a chunk of its input's snapshot.
pub const BACKFILL_CHUNK: &str = "backfill-chunk";
/// When objects are out of the graph and the store, before the catalog says so.
pub const DROP_PUBLISH: &str = "drop-publish";
/// When an ALTER TABLE has made places durable, before rows get values there.
pub const ALTER_RESERVED: &str = "alter-reserved";
/// When it has given some rows their values.
pub const ALTER_FILLED: &str = "alter-filled";
/// When all rows have theirs, before the catalog says so.
pub const ALTER_COLUMNS: &str = "alter-columns";

/// Starts reading `FAILPOINTS`; the guard keeps them set.
pub fn setup() -> fail::FailScenario<'static> {
    fail::FailScenario::setup()
}

/// Fails here if a test says so.
pub fn hit(name: &str) {
    fail::fail_point!(name);
}
