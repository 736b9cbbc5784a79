//! What exists: schemas, tables, sources, views, indexes; their names, OIDs, columns and
//! dependencies; what of them is durable; and `pg_catalog` over all of it.
//!
//! A [`Catalog`] is an immutable value behind an `Arc`: a statement resolves all its names in one.

pub mod catalog;
pub mod drop;
pub mod durable;
pub mod edit;
pub mod function;
pub mod object;
pub mod pg;

#[cfg(test)]
pub mod testing;

pub use catalog::{Catalog, Database, Oids, Schema};
pub use drop::{DropKind, DropPlan, DropRequest, Notice, quote_identifier};
pub use durable::Change;
pub use edit::{CommentTarget, Edited};
pub use function::Function;
pub use object::{Column, Object, ObjectKind, QualifiedName};
