//! Plans without subqueries: every subquery of a logical plan becomes joins and aggregates.
//!
//! ```text
//! outer, subquery(d)  ->  outer JOIN unnested subquery ON d IS NOT DISTINCT FROM its d
//! ```
//!
//! The algorithm is that of Neumann and Kemper, "Unnesting Arbitrary Queries" (BTW 2015), with
//! correlated predicates and outputs carried upwards for as long as no operator stands in their
//! way: see [`open`]. DataFusion's own decorrelation is partial and gives wrong answers, so none of
//! its work is left to it: [decision 5](../../../docs/decisions/0005-subqueries.md).
//!
//! What comes out has no `ScalarSubquery`, `Exists`, `InSubquery`, `SetComparison`,
//! `OuterReferenceColumn` and no `LogicalPlan::Subquery`. Its columns have the names, qualifiers
//! and types they had. `INTERSECT ALL` and `EXCEPT ALL`, which DataFusion plans as semi and anti
//! joins, are mended on the way.

mod aggregate;
mod close;
mod expression;
mod join;
mod lateral;
mod limit;
mod on;
mod open;
mod outer_aggregate;
mod predicate;
mod quantified;
mod recursive;
mod rewrite;
mod rows;
mod set_operation;
mod tools;
mod value;

#[cfg(test)]
mod tests;

pub(super) use expression::is_unit;
pub(super) use outer_aggregate::placed;
pub(super) use rewrite::{decorrelate, has_subqueries};
pub(super) use rows::{ARRAY, ROW, SUBQUERY, array_function, row_function, subquery_function};
pub(super) use set_operation::keyed;
pub(super) use tools::Tools;
pub(super) use value::at_most_one;
