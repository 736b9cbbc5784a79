//! DROP, COMMENT, DESCRIBE, LISTEN and its like.

use sqlparser::tokenizer::Token;

use super::super::statement::{Comment, CommentTarget, Drop, DropKind, StatementKind};
use super::super::syntax::Name;
use super::front::Front;
use super::{function, grant, role};
use crate::error::{SqlError, SqlResult, code};

/// The words for a kind of object.
pub(super) fn object_kind(front: &mut Front<'_>) -> SqlResult<DropKind> {
    let kinds: [(&[&str], DropKind); 10] = [
        (&["table"], DropKind::Table),
        (&["source"], DropKind::Source),
        (&["view"], DropKind::View),
        (&["materialized", "view"], DropKind::MaterializedView),
        (&["index"], DropKind::Index),
        (&["sink"], DropKind::Sink),
        (&["subscription"], DropKind::Subscription),
        (&["sequence"], DropKind::Sequence),
        (&["schema"], DropKind::Schema),
        (&["database"], DropKind::Database),
    ];
    for (words, kind) in kinds {
        if front.eat(words) {
            return Ok(kind);
        }
    }
    Err(front.syntax_error())
}

/// `DROP kind [IF EXISTS] name, ... [CASCADE | RESTRICT]`.
pub(super) fn drop(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let position = front.position();
    front.expect(&["drop"])?;
    let not_built = [
        "type",
        "extension",
        "trigger",
        "procedure",
        "aggregate",
        "connection",
        "secret",
        "publication",
        "domain",
        "policy",
        "rule",
        "server",
        "foreign",
        "cast",
        "operator",
    ];
    if let Some(kind) = not_built.iter().find(|kind| front.is(0, kind)) {
        return Err(
            SqlError::unsupported(format!("DROP {}", kind.to_uppercase())).position(position)
        );
    }
    if front.eat(&["function"]) {
        return function::drop(front);
    }
    if front.eat(&["role"]) || front.eat(&["user"]) {
        return role::drop(front);
    }
    if front.eat(&["owned"]) {
        return grant::drop_owned(front);
    }
    let kind = object_kind(front)?;
    if kind == DropKind::Index {
        front.eat(&["concurrently"]);
    }
    let if_exists = front.eat(&["if", "exists"]);
    let names = match kind {
        DropKind::Database => vec![plain_name(front)?],
        DropKind::Schema => front.list(plain_name)?,
        _ => front.list(Front::name)?,
    };
    let cascade = front.eat(&["cascade"]);
    front.eat(&["restrict"]);
    if kind == DropKind::Database && front.eat(&["with"]) {
        // `WITH (FORCE)`.
        return Err(SqlError::unsupported("DROP DATABASE ... WITH").position(position));
    }
    Ok(StatementKind::Drop(Drop { kind, names, if_exists, cascade }))
}

/// A name without a schema.
pub(super) fn plain_name(front: &mut Front<'_>) -> SqlResult<Name> {
    let identifier = front.identifier()?;
    Ok(Name { database: None, schema: None, name: identifier.name, position: identifier.position })
}

/// `COMMENT ON kind name IS { 'text' | NULL }`.
pub(super) fn comment(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let position = front.position();
    front.expect(&["comment", "on"])?;
    let target = if front.eat(&["column"]) {
        column_target(front)?
    } else {
        match object_kind(front) {
            Ok(kind @ (DropKind::Schema | DropKind::Database)) => {
                CommentTarget::Object { kind, name: plain_name(front)? }
            }
            Ok(kind) => CommentTarget::Object { kind, name: front.name()? },
            Err(error) => match front.word() {
                Ok(what) => {
                    let what = format!("COMMENT ON {}", what.to_uppercase());
                    return Err(SqlError::unsupported(what).position(position));
                }
                Err(_) => return Err(error),
            },
        }
    };
    front.expect(&["is"])?;
    let text = if front.eat(&["null"]) { None } else { Some(front.string()?) };
    // PostgreSQL takes an empty comment as none.
    let text = text.filter(|text| !text.is_empty());
    Ok(StatementKind::Comment(Comment { target, text }))
}

/// `relation.column`, the relation maybe qualified.
fn column_target(front: &mut Front<'_>) -> SqlResult<CommentTarget> {
    let position = front.position();
    let mut parts = vec![front.identifier()?.name];
    while front.eat_token(&Token::Period) {
        parts.push(front.identifier()?.name);
    }
    match (parts.pop(), parts.is_empty()) {
        (Some(column), false) => {
            Ok(CommentTarget::Column { relation: front.name_of(parts, position)?, column })
        }
        _ => {
            Err(SqlError::new(code::SYNTAX_ERROR, "column name must be qualified")
                .position(position))
        }
    }
}

/// `DESCRIBE name`.
pub(super) fn describe(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.advance();
    front.eat(&["table"]);
    Ok(StatementKind::Describe(front.name()?))
}

/// `CANCEL { JOB | JOBS } n, ...`.
pub(super) fn cancel_jobs(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["cancel"])?;
    if !front.eat(&["jobs"]) {
        front.expect(&["job"])?;
    }
    let jobs = front.list(|front| {
        let error = front.syntax_error();
        u64::try_from(front.integer()?).map_err(|_| error)
    })?;
    Ok(StatementKind::CancelJobs(jobs))
}

/// `WAIT [FOR] [MATERIALIZED VIEW name]`.
pub(super) fn wait(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["wait"])?;
    front.eat(&["for"]);
    match front.eat(&["materialized", "view"]) {
        true => Ok(StatementKind::Wait(Some(front.name()?))),
        false => Ok(StatementKind::Wait(None)),
    }
}

/// `LISTEN channel`, `UNLISTEN { channel | * }`, `NOTIFY channel [, 'payload']`.
pub(super) fn notifications(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    match front.word()?.as_str() {
        "listen" => Ok(StatementKind::Listen(front.identifier()?.name)),
        "unlisten" if front.eat_token(&Token::Mul) => Ok(StatementKind::Unlisten(None)),
        "unlisten" => Ok(StatementKind::Unlisten(Some(front.identifier()?.name))),
        // Only NOTIFY is left.
        _ => {
            let channel = front.identifier()?.name;
            let payload = if front.eat_token(&Token::Comma) { Some(front.string()?) } else { None };
            Ok(StatementKind::Notify { channel, payload })
        }
    }
}
