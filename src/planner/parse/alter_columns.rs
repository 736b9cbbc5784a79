//! ALTER TABLE: columns that come, go, and become others.

use sqlparser::tokenizer::Token;

use super::super::statement::{ColumnChange, TableChange};
use super::super::syntax::Name;
use super::create::new_column;
use super::front::Front;
use super::sequence;
use crate::error::{SqlError, SqlResult};

/// What begins a constraint after ADD.
const CONSTRAINTS: [&str; 6] = ["constraint", "primary", "unique", "check", "foreign", "exclude"];

/// A change of a column of `table`. `None`: it is a change of something else, and nothing was read.
pub(super) fn change(front: &mut Front<'_>, table: &Name) -> SqlResult<Option<TableChange>> {
    let change = match () {
        () if front.is(0, "add") && !CONSTRAINTS.iter().any(|word| front.is(1, word)) => {
            front.advance();
            added(front, table)?
        }
        () if front.is(0, "drop") && !front.is(1, "constraint") => {
            front.advance();
            front.eat(&["column"]);
            let if_exists = front.eat(&["if", "exists"]);
            let column = front.identifier()?;
            let cascade = front.eat(&["cascade"]);
            front.eat(&["restrict"]);
            ColumnChange::Drop { column, if_exists, cascade }
        }
        () if front.is(0, "alter") && !front.is(1, "constraint") => {
            front.advance();
            altered(front)?
        }
        () => return Ok(None),
    };
    Ok(Some(TableChange::Column(Box::new(change))))
}

/// `[COLUMN] [IF NOT EXISTS] name type ...`, after ADD.
fn added(front: &mut Front<'_>, table: &Name) -> SqlResult<ColumnChange> {
    front.eat(&["column"]);
    let if_not_exists = front.eat(&["if", "not", "exists"]);
    let (column, constraints) = new_column(front, table)?;
    Ok(ColumnChange::Add { column, if_not_exists, constraints })
}

/// `[COLUMN] name ...`, after ALTER.
fn altered(front: &mut Front<'_>) -> SqlResult<ColumnChange> {
    front.eat(&["column"]);
    let column = front.identifier()?;
    let position = front.position();
    if front.eat(&["set", "default"]) {
        let start = front.mark();
        front.expression()?;
        let default = Some(front.text_since(start));
        return Ok(ColumnChange::SetDefault { column, default });
    }
    if front.eat(&["drop", "default"]) {
        return Ok(ColumnChange::SetDefault { column, default: None });
    }
    if front.eat(&["set", "not", "null"]) {
        return Ok(ColumnChange::SetNotNull { column, not_null: true });
    }
    if front.eat(&["drop", "not", "null"]) {
        return Ok(ColumnChange::SetNotNull { column, not_null: false });
    }
    if front.eat(&["type"]) || front.eat(&["set", "data", "type"]) {
        let sql_type = front.sql_type()?;
        collation(front)?;
        let using = match front.eat(&["using"]) {
            true => {
                let start = front.mark();
                front.expression()?;
                Some(front.text_since(start))
            }
            false => None,
        };
        return Ok(ColumnChange::SetType { column, sql_type, using });
    }
    if front.eat(&["drop", "identity"]) {
        let if_exists = front.eat(&["if", "exists"]);
        return Ok(ColumnChange::DropIdentity { column, if_exists });
    }
    if front.eat(&["add", "generated"]) {
        let always = front.eat(&["always"]);
        if !always {
            front.expect(&["by", "default"])?;
        }
        front.expect(&["as"])?;
        let numbering = sequence::identity(front, always)?;
        return Ok(ColumnChange::AddIdentity { column, numbering });
    }
    // How PostgreSQL is to keep a column in its pages, and how much it is to know of it.
    if front.eat(&["set", "statistics"]) {
        front.eat_token(&Token::Minus);
        front.number()?;
        return Ok(ColumnChange::Nothing { column });
    }
    if front.eat(&["set", "storage"]) || front.eat(&["set", "compression"]) {
        front.word()?;
        return Ok(ColumnChange::Nothing { column });
    }
    let what = front.word()?.to_uppercase();
    Err(SqlError::unsupported(format!("ALTER COLUMN ... {what}")).position(position))
}

/// `COLLATE name`, of which there is one: by the bytes.
pub(super) fn collation(front: &mut Front<'_>) -> SqlResult<()> {
    let position = front.position();
    if !front.eat(&["collate"]) {
        return Ok(());
    }
    let name = front.name()?;
    if ["C", "POSIX", "default", "ucs_basic"].contains(&name.name.as_str()) {
        return Ok(());
    }
    Err(SqlError::unsupported(format!("collation \"{}\"", name.name))
        .hint("Texts are ordered by their bytes: COLLATE \"C\".")
        .position(position))
}
