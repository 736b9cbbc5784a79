//! Syntax trees, opaque: other modules hold them and hand them back to the planner.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use sqlparser::ast;

use super::source::Source;

/// A relation's name as written, folded: `[[database.]schema.]name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    pub database: Option<String>,
    pub schema: Option<String>,
    pub name: String,
    /// Where it stands: 1-based character index into the client's string.
    pub position: usize,
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.database, &self.schema].into_iter().flatten() {
            write!(f, "{part}.")?;
        }
        f.write_str(&self.name)
    }
}

/// A query: SELECT, VALUES, WITH, TABLE.
#[derive(Clone)]
pub struct Query {
    pub(super) tree: Arc<ast::Query>,
    pub(super) source: Arc<Source>,
    /// Its exact source.
    pub text: String,
    /// `FOR UPDATE` and its kin: what is locked before it is read.
    pub(super) locks: Arc<[RowLock]>,
}

/// A table whose rows a query locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowLock {
    pub table: Name,
    pub wait: LockWait,
}

/// What becomes of a statement when somebody else has the lock that it wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    Wait,
    /// `NOWAIT`.
    Refuse,
    /// `SKIP LOCKED`: it goes on without what is locked.
    Skip,
}

impl Query {
    /// What must be locked before it is read.
    pub fn locks(&self) -> &[RowLock] {
        &self.locks
    }
}

impl fmt::Debug for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Query").field(&self.text).finish()
    }
}

/// A scalar expression.
#[derive(Clone)]
pub struct Expression {
    pub(super) tree: Arc<ast::Expr>,
    pub(super) source: Arc<Source>,
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.tree.to_string()).finish()
    }
}

impl Expression {
    /// Whether it names any column, whosever.
    pub fn reads_columns(&self) -> bool {
        let found = ast::visit_expressions(&*self.tree, |expression| match expression {
            ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        found.is_break()
    }
}

/// The relations after UPDATE's FROM or DELETE's USING.
#[derive(Clone)]
pub struct From {
    pub(super) tree: Arc<Vec<ast::TableWithJoins>>,
}

impl fmt::Debug for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("From").field(&joined(&self.tree)).finish()
    }
}

/// What stands before INSERT, UPDATE or DELETE: queries that its parts may read.
#[derive(Clone)]
pub struct With {
    pub(super) tree: Arc<ast::With>,
}

impl fmt::Debug for With {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("With").field(&self.tree.to_string()).finish()
    }
}

/// What RETURNING lists.
#[derive(Clone)]
pub struct Selection {
    pub(super) tree: Arc<Vec<ast::SelectItem>>,
    pub(super) source: Arc<Source>,
}

impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Selection").field(&joined(&self.tree)).finish()
    }
}

fn joined<T: fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
