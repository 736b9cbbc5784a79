//! Barriers and commits: who injects, who collects, what is committed when, and what happens when
//! an actor fails.
//!
//! ```text
//!             ┌──────────── coordinator ─────────────┐
//!   hurry ──> │ seal tables ─> inject n ─> collect n │ ──> store.commit(n) ──> writers, status
//!   tick  ──> └──────────────────────────────────────┘
//! ```
//!
//! A job that is new, or was away, runs detached with a driver of its own (`detached`) until it
//! has caught up. Nothing here knows SQL or names.

pub mod coordinator;
pub mod detached;
pub mod follow;
mod graph;
pub mod journal;
pub mod progress;
pub mod readers;
pub mod status;

pub use coordinator::{Coordinator, JobSpec, SourceSpec, Start};
