//! From SQL to decided facts: text to statements, queries to DataFusion's logical plans, and the
//! queries of materialized views to the incremental graph.
//!
//! ```text
//! text --parse--> Statement --plan_query--> LogicalPlan       (SELECT: DataFusion runs it)
//!                     |
//!                     +------plan_view---> graph::Job         (a view: the dataflow runs it)
//! ```
//!
//! This is the only place that knows sqlparser: what leaves it are plain enums, opaque newtypes
//! around syntax trees ([`Query`], [`Expression`]), and DataFusion's plans.

pub mod catalog_query;
pub mod grant;
pub mod rename;
pub mod statement;
pub mod syntax;

mod alias_lists;
mod checks;
mod column_use;
mod decorrelate;
mod dml;
mod drawn;
mod equal_keys;
mod explicit_casts;
mod failure;
mod fetch;
mod function_syntax;
mod generated;
mod grouping_sets;
mod hypothetical;
mod job;
mod labels;
mod lists;
mod merge;
mod names;
mod operators;
mod orders;
mod outer_aggregates;
mod outline;
mod parse;
mod precedence;
mod query;
mod regressions;
mod row_syntax;
mod row_wildcards;
mod rows;
mod rows_from;
mod sequence_names;
mod set_functions;
mod set_order;
mod shown;
mod source;
mod sql_functions;
mod subquery_syntax;
mod system_calls;
mod window_syntax;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod unnested_keys;
mod whole_rows;

pub use checks::{CheckedText, describe_check, plan_checks, plan_checks_at};
pub use dml::{default_expression, delete_query, insert_query, not_a_default, update_query};
pub use generated::{check_column_expressions, expression_names, plan_generated};
pub use job::{
    DescribedView, NodeFacts, PlannedView, ViewSettings, describe_view, explain, explain_running,
    plan_index, plan_sink, plan_stored_view, plan_view,
};
pub use labels::shown;
pub use parse::{parse, parse_expression, parse_query};
pub use query::{PlannedQuery, configure, plan_kept_query, plan_query};
pub use rows::{
    Parameters, RowExpressions, RowPlan, RowRelation, plan_conflict, plan_expressions,
    plan_returning,
};
pub use shown::{Kept, call_in_schema, calls_into, computed_by};
pub use sql_functions::{DescribedFunction, describe_function};
pub use statement::{Statement, StatementKind};
pub use syntax::{Expression, From, LockWait, Name, Query, RowLock, With};
