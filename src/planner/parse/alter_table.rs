//! ALTER TABLE: constraints. Columns are `alter_columns`'s.

use sqlparser::tokenizer::Token;

use super::super::statement::{AlterTable, StatementKind, TableChange};
use super::super::syntax::Name;
use super::front::Front;
use super::{alter_columns, constraint};
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
    if !["add", "drop", "alter", "validate"].iter().any(|word| front.is(ahead, word)) {
        return Ok(None);
    }
    front.advance();
    let if_exists = front.eat(&["if", "exists"]);
    front.eat(&["only"]);
    let table = front.name()?;
    front.eat_token(&Token::Mul);
    let changes = front.list(|front| change(front, &table))?;
    Ok(Some(StatementKind::AlterTable(Box::new(AlterTable { table, if_exists, changes }))))
}

fn change(front: &mut Front<'_>, table: &Name) -> SqlResult<TableChange> {
    if let Some(change) = alter_columns::change(front, table)? {
        return Ok(change);
    }
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
    let what = front.word()?.to_uppercase();
    Err(SqlError::unsupported(format!("ALTER TABLE ... {what}")).position(position))
}
