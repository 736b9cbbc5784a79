//! Which statement it is: by its first words.

use sqlparser::tokenizer::Token;

use super::super::statement::{Explain, Prepare, Statement, StatementKind};
use super::front::Front;
use super::{
    copy, create, cursors, dml, grant, index, locking, maintain, other, subscribe, variables,
};
use crate::error::{SqlError, SqlResult};

/// Statements that exist in PostgreSQL or in its streaming relatives, and not yet here.
const NOT_BUILT: &[&str] =
    &["call", "cluster", "do", "import", "kill", "load", "lock", "merge", "security"];

/// Reads one statement.
pub(super) fn statement(front: &mut Front<'_>) -> SqlResult<Statement> {
    let start = front.mark();
    let parameters = front.parameters();
    let kind = kind(front)?;
    let (text, offset) = front.whole_text(start);
    Ok(Statement { kind, text, offset, parameters })
}

fn kind(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    if *front.peek(0) == Token::LParen {
        return dml::query(front);
    }
    let Token::Word(word) = front.peek(0) else {
        return Err(front.syntax_error());
    };
    let first = word.value.to_lowercase();
    match first.as_str() {
        "select" | "with" | "values" => dml::query(front),
        "insert" => dml::insert(front),
        "lock" => locking::lock_table(front),
        "update" => dml::update(front),
        "delete" => dml::delete(front),
        "truncate" => dml::truncate(front),
        "copy" => copy::copy(front),
        "create" => create::create(front),
        "drop" => other::drop(front),
        "alter" => grant::alter(front),
        "grant" | "revoke" => grant::grant(front),
        "reassign" => grant::reassign(front),
        "comment" => other::comment(front),
        "reindex" => index::reindex(front),
        "explain" => explain(front),
        "describe" | "desc" => other::describe(front),
        "set" => variables::set(front),
        "reset" => variables::reset(front),
        "show" => variables::show(front),
        "begin" | "start" | "commit" | "end" | "rollback" | "abort" | "savepoint" | "release" => {
            variables::transaction(front)
        }
        "prepare" => prepare(front),
        "execute" => cursors::execute(front),
        "deallocate" => cursors::deallocate(front),
        "subscribe" => Ok(StatementKind::Subscribe(Box::new(subscribe::subscribe(front)?))),
        "declare" => cursors::declare(front),
        "fetch" => Ok(StatementKind::Fetch(cursors::fetch(front)?)),
        "move" => Ok(StatementKind::Move(cursors::fetch(front)?)),
        "close" => cursors::close(front),
        "discard" => cursors::discard(front),
        "listen" | "unlisten" | "notify" => other::notifications(front),
        "vacuum" | "analyze" | "analyse" => maintain::maintain(front),
        "refresh" => maintain::refresh(front),
        "flush" => {
            front.advance();
            Ok(StatementKind::Flush)
        }
        "cancel" => other::cancel_jobs(front),
        "wait" => other::wait(front),
        "checkpoint" => {
            front.advance();
            Ok(StatementKind::Checkpoint)
        }
        "use" => {
            front.advance();
            Ok(StatementKind::Use(front.identifier()?.name))
        }
        known if NOT_BUILT.contains(&known) => {
            Err(SqlError::unsupported(known.to_uppercase()).position(front.position()))
        }
        _ => Err(front.syntax_error()),
    }
}

/// `PREPARE name [(types)] AS statement`.
fn prepare(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let whole = front.position();
    front.expect(&["prepare"])?;
    if front.is(0, "transaction") {
        return Err(SqlError::unsupported("PREPARE TRANSACTION").position(whole));
    }
    let name = front.identifier()?.name;
    let mut types = Vec::new();
    if front.eat_token(&Token::LParen) {
        types = front.list(Front::sql_type)?;
        front.expect_token(&Token::RParen)?;
    }
    front.expect(&["as"])?;
    let position = front.position();
    let statement = statement(front)?;
    match statement.kind {
        StatementKind::Query(_)
        | StatementKind::Insert(_)
        | StatementKind::Update(_)
        | StatementKind::Delete(_) => {}
        _ => return Err(SqlError::unsupported("PREPARE of this statement").position(position)),
    }
    Ok(StatementKind::Prepare(Box::new(Prepare { name, types, statement })))
}

/// `EXPLAIN [ANALYZE] [VERBOSE] statement` and `EXPLAIN (option [value], ...) statement`.
fn explain(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["explain"])?;
    let mut options = Vec::new();
    // A parenthesis may also begin the explained query.
    let query = ["select", "with", "values"].iter().any(|word| front.is(1, word));
    if *front.peek(0) == Token::LParen && !query && *front.peek(1) != Token::LParen {
        front.advance();
        options = front.list(explain_option)?;
        front.expect_token(&Token::RParen)?;
    } else {
        for flag in ["analyze", "verbose"] {
            if front.eat(&[flag]) {
                options.push((flag.to_owned(), "true".to_owned()));
            }
        }
    }
    let is_on = |name: &str| {
        let last = options.iter().rev().find(|(option, _)| option == name);
        last.is_some_and(|(_, value)| !matches!(value.as_str(), "false" | "off" | "0"))
    };
    let (analyze, verbose) = (is_on("analyze"), is_on("verbose"));
    let position = front.position();
    if analyze && front.eat(&["materialized", "view"]) {
        return Ok(StatementKind::AnalyzeView(front.name()?));
    }
    let target = kind(front)?;
    match target {
        StatementKind::Query(_)
        | StatementKind::Insert(_)
        | StatementKind::Update(_)
        | StatementKind::Delete(_)
        | StatementKind::CreateMaterializedView(_)
        | StatementKind::Execute(_) => {}
        _ => return Err(SqlError::unsupported("EXPLAIN of this statement").position(position)),
    }
    Ok(StatementKind::Explain(Box::new(Explain { analyze, verbose, options, target })))
}

fn explain_option(front: &mut Front<'_>) -> SqlResult<(String, String)> {
    let name = front.word()?;
    let value = match front.peek(0) {
        Token::Comma | Token::RParen => "true".to_owned(),
        Token::SingleQuotedString(_) => front.string()?.to_lowercase(),
        Token::Number(..) => front.number()?,
        _ => front.word()?,
    };
    Ok((name, value))
}
