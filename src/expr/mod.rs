//! Scalar expressions and accumulators: what operators compute with, without knowing SQL or state.
//!
//! Expressions are DataFusion's; what is added here is that a failing row spoils only itself.
//! `relation` runs whole queries over rows in memory, for what has no incremental rule.

pub mod accumulator;
mod assign;
mod checks;
mod evaluator;
mod failure;
pub mod functions;
mod generated;
mod guard;
pub mod relation;
pub mod rounds;
mod style;
pub mod work_table;

pub use assign::{Assigning, text_of};
pub use checks::Checks;
pub use evaluator::Evaluator;
pub use failure::{Failure, Failures, MoreFailures, row_text};
pub use generated::Generated;
pub use guard::{catch, panicked};
pub use style::SessionStyle;
