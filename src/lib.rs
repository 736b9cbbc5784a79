//! Weir: a SQL streaming database in one binary that speaks PostgreSQL.
//!
//! The modules stand on floors; a module imports only from floors below its own, and peers on a
//! floor do not know each other (`tidy` is the test that keeps it so). From the ground up:
//!
//! | floor | modules |
//! |---|---|
//! | 0 | `types`, `error`, `clock`, `task`, `metrics`, `failpoint` |
//! | 1 | `graph` (the plan as plain data), `expr`, `state` |
//! | 2 | `operator`, `connector`, `catalog` |
//! | 3 | `dataflow` |
//! | 4 | `planner`, `serving`, `checkpoint` |
//! | 5 | `engine` |
//! | 6 | `session` |
//! | 7 | `wire`, `http` |
//! | 8 | `server` |

pub mod clock;
pub mod error;
pub mod failpoint;
pub mod metrics;
pub mod task;
pub mod types;

pub mod expr;
pub mod graph;
pub mod state;

pub mod catalog;
pub mod connector;
pub mod operator;

pub mod dataflow;

pub mod checkpoint;
pub mod planner;
pub mod serving;

pub mod engine;

pub mod session;

pub mod http;
pub mod wire;

pub mod server;

#[cfg(test)]
mod tidy;
