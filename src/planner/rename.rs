//! ALTER ... RENAME and SET SCHEMA, as decided facts.

use super::statement::DropKind;
use super::syntax::Name;

/// `ALTER kind [IF EXISTS] name ...`.
#[derive(Debug, Clone)]
pub struct Rename {
    pub kind: DropKind,
    /// For a schema: only `name` is set.
    pub name: Name,
    pub if_exists: bool,
    pub to: NewName,
}

/// What is called otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewName {
    /// `RENAME TO name`.
    Itself(String),
    /// `RENAME [COLUMN] column TO name`.
    Column { column: String, name: String },
    /// `RENAME CONSTRAINT constraint TO name`.
    Constraint { constraint: String, name: String },
    /// `SET SCHEMA schema`.
    Schema(String),
}
