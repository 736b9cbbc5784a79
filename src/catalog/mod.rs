//! What exists: schemas, tables, sources, views, indexes; their names, OIDs, columns and
//! dependencies; what of them is durable; and `pg_catalog` over all of it.
//!
//! A [`Catalog`] is an immutable value behind an `Arc`: a statement resolves all its names in one.

pub mod catalog;
pub mod object;
pub mod pg;

pub use catalog::Catalog;
pub use object::{Column, Object, ObjectKind, QualifiedName};
