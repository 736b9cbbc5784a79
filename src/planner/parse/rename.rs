//! ALTER ... RENAME and SET SCHEMA.

use super::super::rename::{NewName, Rename};
use super::super::statement::{DropKind, StatementKind};
use super::super::syntax::Name;
use super::front::Front;
use crate::error::{SqlError, SqlResult};

/// What follows `ALTER kind [IF EXISTS] name`, if it renames or moves.
pub(super) fn rename(
    front: &mut Front<'_>,
    kind: DropKind,
    name: &Name,
    if_exists: bool,
) -> SqlResult<Option<StatementKind>> {
    let to = if front.is(0, "set") && front.is(1, "schema") {
        front.advance();
        // PostgreSQL's grammar has it for relations; an index goes where its table goes.
        if matches!(kind, DropKind::Index | DropKind::Schema | DropKind::Database) {
            return Err(front.syntax_error());
        }
        front.advance();
        NewName::Schema(front.identifier()?.name)
    } else if front.is(0, "rename") {
        if kind == DropKind::Database {
            let what = "ALTER DATABASE ... RENAME";
            return Err(SqlError::unsupported(what).position(front.position()));
        }
        front.advance();
        new_name(front, kind)?
    } else {
        return Ok(None);
    };
    let name = name.clone();
    Ok(Some(StatementKind::Rename(Box::new(Rename { kind, name, if_exists, to }))))
}

/// What follows RENAME.
fn new_name(front: &mut Front<'_>, kind: DropKind) -> SqlResult<NewName> {
    let has_columns = matches!(
        kind,
        DropKind::Table | DropKind::Source | DropKind::View | DropKind::MaterializedView
    );
    if !has_columns || front.is(0, "to") {
        front.expect(&["to"])?;
        return Ok(NewName::Itself(front.identifier()?.name));
    }
    if kind == DropKind::Table && front.eat(&["constraint"]) {
        let constraint = front.identifier()?.name;
        front.expect(&["to"])?;
        return Ok(NewName::Constraint { constraint, name: front.identifier()?.name });
    }
    front.eat(&["column"]);
    let column = front.identifier()?.name;
    front.expect(&["to"])?;
    Ok(NewName::Column { column, name: front.identifier()?.name })
}
