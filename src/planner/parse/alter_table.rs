//! ALTER TABLE: constraints, and defaults.

use sqlparser::tokenizer::Token;

use super::super::statement::{AlterTable, StatementKind, TableChange};
use super::constraint;
use super::front::Front;
use crate::error::{SqlError, SqlResult};

/// `ALTER TABLE [IF EXISTS] [ONLY] name change, ...`, after ALTER. `None`: it says something that
/// all kinds of objects can be told, and nothing was read.
pub(super) fn alter(front: &mut Front<'_>) -> SqlResult<Option<StatementKind>> {
    if !front.is(0, "table") {
        return Ok(None);
    }
    let mut ahead = if front.is(1, "if") { 3 } else { 1 };
    if front.is(ahead, "only") {
        ahead += 1;
    }
    ahead += 1;
    while *front.peek(ahead) == Token::Period {
        ahead += 2;
    }
    if *front.peek(ahead) == Token::Mul {
        ahead += 1;
    }
    let ours = match () {
        () if front.is(ahead, "add") => {
            let first = ["constraint", "primary", "unique", "check", "foreign"];
            first.iter().any(|word| front.is(ahead + 1, word))
        }
        () if front.is(ahead, "validate") => front.is(ahead + 1, "constraint"),
        () if front.is(ahead, "drop") => front.is(ahead + 1, "constraint"),
        () => front.is(ahead, "alter"),
    };
    if !ours {
        return Ok(None);
    }
    front.advance();
    let if_exists = front.eat(&["if", "exists"]);
    front.eat(&["only"]);
    let table = front.name()?;
    front.eat_token(&Token::Mul);
    let changes = front.list(change)?;
    Ok(Some(StatementKind::AlterTable(Box::new(AlterTable { table, if_exists, changes }))))
}

fn change(front: &mut Front<'_>) -> SqlResult<TableChange> {
    let position = front.position();
    if front.eat(&["add"]) {
        return constraint::added(front);
    }
    if front.eat(&["drop", "constraint"]) {
        let if_exists = front.eat(&["if", "exists"]);
        let name = front.identifier()?.name;
        let cascade = front.eat(&["cascade"]);
        front.eat(&["restrict"]);
        return Ok(TableChange::DropConstraint { name, if_exists, cascade });
    }
    if front.eat(&["validate", "constraint"]) {
        return Ok(TableChange::ValidateConstraint(front.identifier()?.name));
    }
    let refused = |what: &str| {
        Err(SqlError::unsupported(format!("ALTER TABLE ... {what}")).position(position))
    };
    if !front.eat(&["alter"]) {
        let what = front.word()?.to_uppercase();
        return refused(&what);
    }
    front.eat(&["column"]);
    let column = front.identifier()?;
    if front.eat(&["set", "default"]) {
        let start = front.mark();
        front.expression()?;
        let default = Some(front.text_since(start));
        return Ok(TableChange::SetDefault { column, default });
    }
    if front.eat(&["drop", "default"]) {
        return Ok(TableChange::SetDefault { column, default: None });
    }
    refused("ALTER COLUMN with anything but SET DEFAULT and DROP DEFAULT")
}
