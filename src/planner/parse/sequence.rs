//! CREATE SEQUENCE and ALTER SEQUENCE, and the options that identity columns share with them.

use sqlparser::tokenizer::Token;

use super::super::statement::{
    AlterSequence, ColumnRef, CreateSequence, Numbering, SequenceOwner, StatementKind,
};
use super::super::syntax::Name;
use super::front::Front;
use crate::catalog::SequenceOptions;
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

/// All that options can say.
#[derive(Default)]
struct Said {
    options: SequenceOptions,
    owner: Option<SequenceOwner>,
    name: Option<Name>,
}

/// `CREATE [TEMP] SEQUENCE [IF NOT EXISTS] name options`, after the word SEQUENCE.
pub(super) fn create(front: &mut Front<'_>, temporary: bool) -> SqlResult<StatementKind> {
    let if_not_exists = front.eat(&["if", "not", "exists"]);
    let name = front.name()?;
    let said = options(front, Place::Create)?;
    let (options, owner) = (said.options, said.owner);
    let create = CreateSequence { name, if_not_exists, temporary, options, owner };
    Ok(StatementKind::CreateSequence(Box::new(create)))
}

/// `ALTER SEQUENCE [IF EXISTS] name options`, after ALTER. `None`: it says something that all
/// kinds of objects can be told, and nothing was read.
pub(super) fn alter(front: &mut Front<'_>) -> SqlResult<Option<StatementKind>> {
    if !front.is(0, "sequence") {
        return Ok(None);
    }
    let mut ahead = if front.is(1, "if") { 4 } else { 2 };
    while *front.peek(ahead) == Token::Period {
        ahead += 2;
    }
    if ["owner", "rename", "set"].iter().any(|word| front.is(ahead, word)) {
        return Ok(None);
    }
    front.advance();
    let if_exists = front.eat(&["if", "exists"]);
    let name = front.name()?;
    if front.at_end() {
        return Err(front.syntax_error());
    }
    let said = options(front, Place::Alter)?;
    let (options, owner) = (said.options, said.owner);
    Ok(Some(StatementKind::AlterSequence(Box::new(AlterSequence {
        name,
        if_exists,
        options,
        owner,
    }))))
}

/// `serial` and its like as the type of a column.
pub(super) fn serial(front: &mut Front<'_>) -> SqlResult<Option<SqlType>> {
    let sql_type = [
        ("serial", SqlType::Integer),
        ("serial4", SqlType::Integer),
        ("bigserial", SqlType::BigInt),
        ("serial8", SqlType::BigInt),
        ("smallserial", SqlType::SmallInt),
        ("serial2", SqlType::SmallInt),
    ];
    let Some((_, sql_type)) = sql_type.into_iter().find(|(word, _)| front.is(0, word)) else {
        return Ok(None);
    };
    let position = front.position();
    front.advance();
    if *front.peek(0) == Token::LBracket {
        return Err(SqlError::new(
            code::FEATURE_NOT_SUPPORTED,
            "array of serial is not implemented",
        )
        .position(position));
    }
    Ok(Some(sql_type))
}

/// `IDENTITY [(options)]`, after AS.
pub(super) fn identity(front: &mut Front<'_>, always: bool) -> SqlResult<Numbering> {
    front.expect(&["identity"])?;
    let mut said = Said::default();
    if front.eat_token(&Token::LParen) {
        said = options(front, Place::Identity)?;
        front.expect_token(&Token::RParen)?;
    }
    Ok(Numbering::Identity { always, options: Box::new(said.options), name: said.name })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Create,
    Alter,
    Identity,
}

fn options(front: &mut Front<'_>, place: Place) -> SqlResult<Said> {
    let mut said = Said::default();
    while !front.at_end() && *front.peek(0) != Token::RParen {
        let position = front.position();
        option(front, place, &mut said).map_err(|error| match error.position {
            Some(_) => error,
            None => error.position(position),
        })?;
    }
    Ok(said)
}

fn option(front: &mut Front<'_>, place: Place, said: &mut Said) -> SqlResult<()> {
    let options = &mut said.options;
    if place != Place::Identity && front.eat(&["as"]) {
        return once(&mut options.sql_type, front.sql_type()?);
    }
    if front.eat(&["increment"]) {
        front.eat(&["by"]);
        return once(&mut options.increment, front.integer()?);
    }
    if front.eat(&["no", "minvalue"]) {
        return once(&mut options.min, None);
    }
    if front.eat(&["no", "maxvalue"]) {
        return once(&mut options.max, None);
    }
    if front.eat(&["no", "cycle"]) {
        return once(&mut options.cycle, false);
    }
    if front.eat(&["minvalue"]) {
        return once(&mut options.min, Some(front.integer()?));
    }
    if front.eat(&["maxvalue"]) {
        return once(&mut options.max, Some(front.integer()?));
    }
    if front.eat(&["start"]) {
        front.eat(&["with"]);
        return once(&mut options.start, front.integer()?);
    }
    if place == Place::Alter && front.eat(&["restart"]) {
        let with = front.eat(&["with"]);
        let to = if with || front.is_number() { Some(front.integer()?) } else { None };
        return once(&mut options.restart, to);
    }
    if front.eat(&["cache"]) {
        return once(&mut options.cache, front.integer()?);
    }
    if front.eat(&["cycle"]) {
        return once(&mut options.cycle, true);
    }
    if place != Place::Identity && front.eat(&["owned", "by"]) {
        return once(&mut said.owner, owner(front)?);
    }
    if place == Place::Identity && front.eat(&["sequence", "name"]) {
        return once(&mut said.name, front.name()?);
    }
    Err(front.syntax_error())
}

fn once<T>(slot: &mut Option<T>, value: T) -> SqlResult<()> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(SqlError::new(code::SYNTAX_ERROR, "conflicting or redundant options")),
    }
}

/// `table.column` or `NONE`.
fn owner(front: &mut Front<'_>) -> SqlResult<SequenceOwner> {
    let first = front.identifier()?;
    let mut parts = vec![first.name];
    while front.eat_token(&Token::Period) {
        parts.push(front.identifier()?.name);
    }
    let column = parts.pop().unwrap_or_default();
    if parts.is_empty() {
        return match column.as_str() {
            "none" => Ok(SequenceOwner::Nobody),
            _ => Err(SqlError::new(code::SYNTAX_ERROR, "invalid OWNED BY option")
                .hint("Specify OWNED BY table.column or OWNED BY NONE.")),
        };
    }
    let table = front.name_of(parts, first.position)?;
    Ok(SequenceOwner::Column(table, ColumnRef { name: column, position: first.position }))
}
