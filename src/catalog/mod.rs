//! What exists: schemas, tables, sources, views, indexes; their names, OIDs, columns and
//! dependencies; what of them is durable; and `pg_catalog` over all of it.
//!
//! A [`Catalog`] is an immutable value behind an `Arc`: a statement resolves all its names in one.

pub mod access;
pub mod catalog;
pub mod constraint;
pub mod drop;
pub mod durable;
pub mod edit;
mod edit_access;
mod edit_columns;
mod edit_role;
mod edit_settings;
pub mod function;
pub mod meaning;
pub mod object;
pub mod pg;
pub mod privilege;
pub mod rename;
pub mod role;
pub mod sequence;
mod statement;
pub mod stored;
pub mod verifier;

#[cfg(test)]
pub mod testing;

pub use catalog::{Catalog, Database, Oids, Schema};
pub use drop::{DropKind, DropPlan, DropRequest, Notice, quote_identifier};
pub use durable::Change;
pub use edit::{CommentTarget, Edited};
pub use edit_access::{DefaultAcl, NewKind, Securable};
pub use edit_role::check_role_name;
pub use edit_settings::StartValue;
pub use function::Function;
pub use meaning::{Meaning, Meant};
pub use object::{Column, Object, ObjectKind, QualifiedName};
pub use role::Role;
pub use sequence::{Position, Sequence, SequenceOptions};
pub use verifier::Verifier;
