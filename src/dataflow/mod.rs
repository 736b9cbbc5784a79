//! Graph to actors: channels, exchange, alignment, the run loop, and how rows enter.
//!
//! An actor is a task that runs a fragment's tree of operators for one share of the keys. Actors
//! are joined by channels bounded in bytes; barriers flow in them with the rows. Below the graph
//! there are ids, not names: nothing here knows SQL, the planner or the catalog.
//!
//! What must hold:
//! - a channel that has delivered its barrier is not read until all of the actor's have;
//! - an actor sends a barrier to all its outputs before any later row to one of them;
//! - everything an actor did for an epoch is in its [`report::Report`] for that epoch.

pub mod actor;
pub mod align;
pub mod barrier;
pub mod cache;
pub mod chain;
pub mod channel;
pub mod deploy;
pub mod dispatch;
pub mod guard;
pub mod inbox;
pub mod report;
pub mod source;
pub mod table;
