//! GROUP BY: a function of each group's multiset of rows, given as `−old +new` where it changed.
//!
//! ```text
//!  Δ ──> buffer ──> slots of the groups ──> accumulators, columnar by slot
//!                        │ not in memory:        │ flush, for each touched group:
//!                        └─ one multi-get        ├─ its state row is written, or deleted at 0 rows
//!                                                └─ −old +new, if they differ
//! ```
//!
//! `operator` is the machine; `calls` are the aggregate functions; `multiset` keeps the values of
//! those that must know them: DISTINCT, and min and max where rows are taken away.

mod calls;
mod groups;
mod multiset;
mod operator;
#[cfg(test)]
mod tests;

pub use operator::Aggregate;
