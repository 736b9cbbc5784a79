//! CREATE INDEX and REINDEX.

use sqlparser::tokenizer::Token;

use super::super::statement::{ColumnRef, CreateIndex, DropKind, IndexKey, Reindex, StatementKind};
use super::super::syntax::Name;
use super::constraint::nulls_not_distinct;
use super::front::Front;
use super::options;
use crate::error::{SqlError, SqlResult, code};

/// Storage parameters of PostgreSQL's, which say nothing here.
const STORAGE: [&str; 2] = ["fillfactor", "deduplicate_items"];

/// What can be done where an index cannot be all that was asked for.
const VIEW_INSTEAD: &str = "Make a materialized view with it, and an index on that view.";

/// `CREATE [UNIQUE] INDEX [CONCURRENTLY] [[IF NOT EXISTS] name] ON table [USING method] (...) ...`,
/// after the word INDEX.
pub(super) fn index(front: &mut Front<'_>, unique: bool) -> SqlResult<StatementKind> {
    // An index is always made beside running writers.
    front.eat(&["concurrently"]);
    let if_not_exists = front.eat(&["if", "not", "exists"]);
    let name = match front.is(0, "on") && !if_not_exists {
        true => None,
        false => Some(front.identifier()?.name),
    };
    front.expect(&["on"])?;
    front.eat(&["only"]);
    let table = front.name()?;
    if front.eat(&["using"]) {
        method(front)?;
    }
    front.expect_token(&Token::LParen)?;
    let keys = front.list(key)?;
    front.expect_token(&Token::RParen)?;
    let included = included(front)?;
    let nulls_not_distinct = nulls_not_distinct(front);
    if front.eat(&["with"]) {
        let options = options::parenthesized(front)?;
        if let Some(other) = options.keys().find(|name| !STORAGE.contains(&name.as_str())) {
            return Err(options::unrecognized(other));
        }
    }
    let position = front.position();
    if front.is(0, "tablespace") {
        return Err(SqlError::unsupported("CREATE INDEX ... TABLESPACE").position(position));
    }
    if front.is(0, "where") {
        return Err(SqlError::unsupported("a partial index").hint(VIEW_INSTEAD).position(position));
    }
    let create =
        CreateIndex { unique, name, if_not_exists, table, keys, included, nulls_not_distinct };
    Ok(StatementKind::CreateIndex(Box::new(create)))
}

fn method(front: &mut Front<'_>) -> SqlResult<()> {
    let method = front.identifier()?;
    match method.name.as_str() {
        "btree" => Ok(()),
        known @ ("hash" | "gist" | "spgist" | "gin" | "brin") => {
            Err(SqlError::unsupported(format!("an index of access method \"{known}\""))
                .hint("Every index is an ordered one, which finds equal values too: USING btree.")
                .position(method.position))
        }
        other => {
            let message = format!("access method \"{other}\" does not exist");
            Err(SqlError::new(code::UNDEFINED_OBJECT, message).position(method.position))
        }
    }
}

/// `column [ASC | DESC] [NULLS { FIRST | LAST }]`.
fn key(front: &mut Front<'_>) -> SqlResult<IndexKey> {
    let position = front.position();
    let expression = || Err(SqlError::unsupported("an index on an expression").hint(VIEW_INSTEAD));
    if *front.peek(0) == Token::LParen {
        return expression().map_err(|error: SqlError| error.position(position));
    }
    let column = front.identifier()?;
    if *front.peek(0) == Token::LParen {
        return expression().map_err(|error: SqlError| error.position(position));
    }
    let words = ["asc", "desc", "nulls"];
    let end = matches!(front.peek(0), Token::Comma | Token::RParen);
    if !end && !words.iter().any(|word| front.is(0, word)) {
        let what = if front.is(0, "collate") { "COLLATE in" } else { "an operator class of" };
        return Err(SqlError::unsupported(format!("{what} an index"))
            .hint("Leave it out: text is ordered by its bytes.")
            .position(front.position()));
    }
    let descending = front.eat(&["desc"]);
    if !descending {
        front.eat(&["asc"]);
    }
    let mut nulls_first = descending;
    if front.eat(&["nulls"]) {
        nulls_first = front.eat(&["first"]);
        if !nulls_first {
            front.expect(&["last"])?;
        }
    }
    Ok(IndexKey { column, descending, nulls_first })
}

/// `REINDEX [(...)] { INDEX | TABLE | SCHEMA | DATABASE | SYSTEM } [CONCURRENTLY] name`.
pub(super) fn reindex(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["reindex"])?;
    if front.eat_token(&Token::LParen) {
        front.list(|front| {
            front.word()?;
            if !matches!(front.peek(0), Token::Comma | Token::RParen) {
                front.word()?;
            }
            Ok(())
        })?;
        front.expect_token(&Token::RParen)?;
    }
    let kind = match front.word()?.as_str() {
        "index" => DropKind::Index,
        "table" => DropKind::Table,
        "schema" => DropKind::Schema,
        "database" | "system" => DropKind::Database,
        _ => return Err(front.syntax_error()),
    };
    front.eat(&["concurrently"]);
    let name = match kind {
        DropKind::Index | DropKind::Table => front.name()?,
        _ => {
            let name = front.identifier()?;
            Name { database: None, schema: None, name: name.name, position: name.position }
        }
    };
    Ok(StatementKind::Reindex(Reindex { kind, name }))
}

/// `[INCLUDE (columns)]`.
pub(super) fn included(front: &mut Front<'_>) -> SqlResult<Vec<ColumnRef>> {
    if !front.eat(&["include"]) {
        return Ok(Vec::new());
    }
    front.expect_token(&Token::LParen)?;
    let columns = front.list(Front::identifier)?;
    front.expect_token(&Token::RParen)?;
    Ok(columns)
}
