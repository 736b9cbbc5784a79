//! From text to statements.
//!
//! A script is cut at its semicolons first (a `COPY ... FROM STDIN;` must not swallow what
//! follows), then each statement is read by a front parser that decides by its first words:
//! queries, expressions, types and DML bodies are sqlparser's, everything else is read here, so
//! that the streaming statements and PostgreSQL's own session statements have one grammar.

mod alter_columns;
mod alter_table;
mod constraint;
mod copy;
mod create;
mod cursors;
mod dispatch;
mod dml;
mod front;
mod function;
mod grant;
mod index;
mod locking;
mod maintain;
mod marks;
mod options;
mod other;
mod rename;
mod role;
mod script;
mod sequence;
mod sink;
mod subqueries;
mod subscribe;
mod variables;

#[cfg(test)]
mod tests;

pub(super) use dml::is_default;
pub(super) use front::{fold_ident, type_named};
pub(super) use script::tokens;
pub use script::{parse, parse_expression, parse_query};
