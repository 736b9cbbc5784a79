//! Constraints: of a column, of a table, and those that ALTER TABLE adds.

use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::super::statement::{
    ColumnRef, NewCheck, NewConstraint, NewConstraints, NewForeignKey, TableChange,
};
use super::front::Front;
use super::index::included;
use crate::catalog::constraint::{Action, Checked};
use crate::error::{SqlError, SqlResult, code};

/// `UNIQUE (...)`, `CHECK (...)` or `FOREIGN KEY (...) REFERENCES ...` among a table's elements,
/// after `CONSTRAINT name` if that is there; false if it is something else.
pub(super) fn of_table(
    front: &mut Front<'_>,
    name: &Option<String>,
    constraints: &mut NewConstraints,
) -> SqlResult<bool> {
    let name = name.clone();
    if front.eat(&["unique"]) {
        constraints.unique.push(key(front, name, false)?);
    } else if front.eat(&["check"]) {
        constraints.checks.push(check(front, name, Place::NewTable)?);
    } else if front.eat(&["foreign", "key"]) {
        let columns = columns(front)?;
        constraints.foreign_keys.push(references(front, name, columns, Place::NewTable)?);
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// The same behind a column.
pub(super) fn of_column(
    front: &mut Front<'_>,
    name: &Option<String>,
    column: &ColumnRef,
    constraints: &mut NewConstraints,
) -> SqlResult<bool> {
    let (name, columns) = (name.clone(), vec![column.clone()]);
    if front.eat(&["unique"]) {
        let nulls_not_distinct = nulls_not_distinct(front);
        let included = included(front)?;
        not_deferrable(front)?;
        let primary = false;
        let unique = NewConstraint { name, primary, columns, included, nulls_not_distinct };
        constraints.unique.push(unique);
    } else if front.eat(&["check"]) {
        constraints.checks.push(check(front, name, Place::Column)?);
    } else if front.is(0, "references") {
        constraints.foreign_keys.push(references(front, name, columns, Place::Column)?);
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// What `ALTER TABLE ... ADD` adds, if it is a constraint.
pub(super) fn added(front: &mut Front<'_>) -> SqlResult<TableChange> {
    let name = if front.eat(&["constraint"]) { Some(front.identifier()?.name) } else { None };
    let position = front.position();
    if front.eat(&["check"]) {
        return check(front, name, Place::Existing).map(TableChange::AddCheck);
    }
    if front.eat(&["foreign", "key"]) {
        let columns = columns(front)?;
        let key = references(front, name, columns, Place::Existing)?;
        return Ok(TableChange::AddForeignKey(key));
    }
    let primary = front.eat(&["primary", "key"]);
    if !primary && !front.eat(&["unique"]) {
        let what = front.word()?.to_uppercase();
        return Err(SqlError::unsupported(format!("ALTER TABLE ... ADD {what}")).position(position));
    }
    if front.eat(&["using", "index"]) {
        return Err(SqlError::unsupported("a constraint USING INDEX")
            .hint("Add it by its columns: it makes an index of its own.")
            .position(position));
    }
    key(front, name, primary).map(TableChange::AddConstraint)
}

/// What follows PRIMARY KEY or UNIQUE: `[NULLS [NOT] DISTINCT] (columns) [INCLUDE (columns)]`.
fn key(front: &mut Front<'_>, name: Option<String>, primary: bool) -> SqlResult<NewConstraint> {
    let nulls_not_distinct = !primary && nulls_not_distinct(front);
    let columns = columns(front)?;
    let included = included(front)?;
    not_deferrable(front)?;
    Ok(NewConstraint { name, primary, columns, included, nulls_not_distinct })
}

/// `[NULLS [NOT] DISTINCT]`.
pub(super) fn nulls_not_distinct(front: &mut Front<'_>) -> bool {
    let same = front.eat(&["nulls", "not", "distinct"]);
    if !same {
        front.eat(&["nulls", "distinct"]);
    }
    same
}

fn columns(front: &mut Front<'_>) -> SqlResult<Vec<ColumnRef>> {
    front.expect_token(&Token::LParen)?;
    let columns = front.list(Front::identifier)?;
    front.expect_token(&Token::RParen)?;
    Ok(columns)
}

/// Where a constraint stands: rows that are there need not be looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Column,
    NewTable,
    Existing,
}

/// What follows CHECK: `(expression) [NO INHERIT] [NOT VALID]`.
fn check(front: &mut Front<'_>, name: Option<String>, place: Place) -> SqlResult<NewCheck> {
    front.expect_token(&Token::LParen)?;
    let start = front.mark();
    front.sql(Parser::parse_expr)?;
    let expression = front.text_since(start);
    front.expect_token(&Token::RParen)?;
    // No table inherits from another.
    front.eat(&["no", "inherit"]);
    let validated = validated(front, place)?;
    let position = front.position();
    if front.is(0, "deferrable") || front.is(0, "initially") {
        let error = match place {
            Place::Column => SqlError::new(code::SYNTAX_ERROR, "misplaced DEFERRABLE clause"),
            _ => {
                let message = "CHECK constraints cannot be marked DEFERRABLE";
                SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
            }
        };
        return Err(error.position(position));
    }
    front.eat(&["not", "deferrable"]);
    Ok(NewCheck { name, expression, validated })
}

fn validated(front: &mut Front<'_>, place: Place) -> SqlResult<bool> {
    if place == Place::Column {
        return Ok(true);
    }
    // A new table has no rows that could fail.
    Ok(!front.eat(&["not", "valid"]) || place == Place::NewTable)
}

/// `REFERENCES table [(columns)] [MATCH ...] [ON ...] [[NOT] DEFERRABLE] [INITIALLY ...]`.
fn references(
    front: &mut Front<'_>,
    name: Option<String>,
    columns: Vec<ColumnRef>,
    place: Place,
) -> SqlResult<NewForeignKey> {
    front.expect(&["references"])?;
    let mut key = NewForeignKey {
        name,
        columns,
        table: front.name()?,
        referenced: front.optional_columns()?,
        on_delete: Action::NoAction,
        on_update: Action::NoAction,
        full: false,
        checked: Checked::Always,
        validated: true,
    };
    if front.eat(&["match"]) {
        let position = front.position();
        match front.word()?.as_str() {
            "full" => key.full = true,
            "simple" => {}
            "partial" => {
                let message = "MATCH PARTIAL not yet implemented";
                return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message).position(position));
            }
            _ => return Err(front.syntax_error()),
        }
    }
    while front.is(0, "on") && (front.is(1, "delete") || front.is(1, "update")) {
        front.advance();
        if front.eat(&["delete"]) {
            key.on_delete = action(front)?;
        } else {
            front.advance();
            key.on_update = action(front)?;
        }
    }
    key.checked = deferral(front)?;
    key.validated = validated(front, place)?;
    Ok(key)
}

fn action(front: &mut Front<'_>) -> SqlResult<Action> {
    let action = if front.eat(&["no", "action"]) {
        Action::NoAction
    } else if front.eat(&["restrict"]) {
        Action::Restrict
    } else if front.eat(&["cascade"]) {
        Action::Cascade
    } else if front.eat(&["set", "null"]) {
        Action::SetNull
    } else if front.eat(&["set", "default"]) {
        Action::SetDefault
    } else {
        return Err(front.syntax_error());
    };
    let position = front.position();
    if matches!(action, Action::SetNull | Action::SetDefault) && *front.peek(0) == Token::LParen {
        let what = format!("ON DELETE {} of some of the columns", action.text());
        return Err(SqlError::unsupported(what).position(position));
    }
    Ok(action)
}

/// `[[NOT] DEFERRABLE] [INITIALLY { IMMEDIATE | DEFERRED }]`, in either order.
fn deferral(front: &mut Front<'_>) -> SqlResult<Checked> {
    let position = front.position();
    let (mut deferrable, mut late) = (None, None);
    loop {
        if front.eat(&["deferrable"]) {
            deferrable = Some(true);
        } else if front.eat(&["not", "deferrable"]) {
            deferrable = Some(false);
        } else if front.eat(&["initially", "deferred"]) {
            late = Some(true);
        } else if front.eat(&["initially", "immediate"]) {
            late = Some(false);
        } else {
            break;
        }
    }
    match (deferrable, late) {
        (Some(false), Some(true)) => {
            let message = "constraint declared INITIALLY DEFERRED must be DEFERRABLE";
            Err(SqlError::new(code::SYNTAX_ERROR, message).position(position))
        }
        (_, Some(true)) => Ok(Checked::Late),
        (Some(true), _) => Ok(Checked::Immediately),
        _ => Ok(Checked::Always),
    }
}

/// The same of a key, which is looked at when each row comes.
pub(super) fn not_deferrable(front: &mut Front<'_>) -> SqlResult<()> {
    let position = front.position();
    match deferral(front)?.is_deferrable() {
        true => Err(SqlError::unsupported("a DEFERRABLE unique constraint")
            .hint("Leave DEFERRABLE out: a key may be given twice within one statement.")
            .position(position)),
        false => Ok(()),
    }
}
