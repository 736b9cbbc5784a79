//! From the query of a materialized view to the incremental graph that maintains it.
//!
//! ```text
//! Query --plan_tree--> logical plan --DataFusion's optimizer--> logical plan
//!   --lower--> Tree: incremental operators with their keys and marks, not yet placed
//!   --place--> graph::Job: fragments, cut where rows must change actors
//! ```
//!
//! What must hold: an operator that keeps state by key gets its rows hashed by exactly that key
//! (its tables' vnodes are the exchange's); the same SQL gives the same plan and the same node
//! numbers, for they name state on disk; what has no incremental rule is recomputed where it
//! changed.

mod aggregate;
mod declared;
mod explain;
mod index;
mod join;
mod limit;
mod lower;
mod place;
mod plan;
mod recompute;
mod relation;
mod same;
mod scalar;
mod tree;
mod unnest;
mod volatile;
mod window;

#[cfg(test)]
mod tests;

pub use explain::{NodeFacts, explain, explain_running};
pub use index::plan_index;
pub use plan::{
    DescribedView, PlannedView, ViewSettings, describe_view, plan_sink, plan_stored_view, plan_view,
};
pub(super) use plan::{own_names, session, work_text};
pub(super) use relation::{Scope, meant_by};
pub(super) use same::same_work;
