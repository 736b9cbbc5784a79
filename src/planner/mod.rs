//! From SQL to decided facts: text to statements, queries to DataFusion's logical plans, and the
//! queries of materialized views to the incremental graph.
//!
//! ```text
//! text --parse--> Statement --plan_query--> LogicalPlan       (SELECT: DataFusion runs it)
//!                     |
//!                     +------plan_job----> graph::Job         (a view: the dataflow runs it)
//! ```
//!
//! This is the only place that knows sqlparser: what leaves it are plain enums, opaque newtypes
//! around syntax trees ([`Query`], [`Expression`]), and DataFusion's plans.

pub mod catalog_query;
pub mod statement;
pub mod syntax;

mod parse;
mod source;

pub use parse::{parse, parse_expression, parse_query};
pub use statement::{Statement, StatementKind};
pub use syntax::{Expression, Name, Query};
