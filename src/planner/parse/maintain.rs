//! VACUUM, ANALYZE and REFRESH, which find nothing to do: the store compacts by itself, plans need
//! no statistics, and a materialized view is always fresh.

use sqlparser::tokenizer::Token;

use super::super::statement::{Maintain, StatementKind};
use super::front::Front;
use crate::error::{SqlError, SqlResult, code};

/// Options of both, and those of VACUUM alone.
const OPTIONS: [&str; 4] = ["verbose", "skip_locked", "buffer_usage_limit", "analyze"];
const VACUUM_OPTIONS: [&str; 9] = [
    "full",
    "freeze",
    "disable_page_skipping",
    "index_cleanup",
    "process_main",
    "process_toast",
    "truncate",
    "parallel",
    "skip_database_stats",
];

/// `VACUUM [(options)] [FULL] [FREEZE] [VERBOSE] [ANALYZE] [table [(columns)], ...]`,
/// `ANALYZE [(options)] [VERBOSE] [table [(columns)], ...]`.
pub(super) fn maintain(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let vacuum = front.eat(&["vacuum"]);
    if !vacuum && !front.eat(&["analyse"]) {
        front.expect(&["analyze"])?;
    }
    if front.eat_token(&Token::LParen) {
        front.list(|front| option(front, vacuum))?;
        front.expect_token(&Token::RParen)?;
    } else {
        for flag in ["full", "freeze", "verbose", "analyze"] {
            if vacuum || flag == "verbose" {
                front.eat(&[flag]);
            }
        }
    }
    let mut tables = Vec::new();
    if matches!(front.peek(0), Token::Word(_)) {
        tables = front.list(|front| {
            let name = front.name()?;
            if front.eat_token(&Token::LParen) {
                front.list(|front| Ok(front.identifier()?.name))?;
                front.expect_token(&Token::RParen)?;
            }
            Ok(name)
        })?;
    }
    Ok(StatementKind::Maintain(Maintain { vacuum, tables }))
}

/// `REFRESH MATERIALIZED VIEW [CONCURRENTLY] view [WITH DATA]`.
pub(super) fn refresh(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["refresh"])?;
    front.expect(&["materialized"])?;
    front.expect(&["view"])?;
    front.eat(&["concurrently"]);
    let view = front.name()?;
    if front.eat(&["with"]) {
        let position = front.position();
        if front.eat(&["no"]) {
            let message = "REFRESH ... WITH NO DATA: a materialized view is always populated";
            return Err(SqlError::unsupported(message).position(position));
        }
        front.expect(&["data"])?;
    }
    Ok(StatementKind::Refresh(view))
}

fn option(front: &mut Front<'_>, vacuum: bool) -> SqlResult<()> {
    let position = front.position();
    let name = front.word()?;
    let known = OPTIONS.contains(&name.as_str()) && (vacuum || name != "analyze")
        || vacuum && VACUUM_OPTIONS.contains(&name.as_str());
    if !known {
        let statement = if vacuum { "VACUUM" } else { "ANALYZE" };
        let message = format!("unrecognized {statement} option \"{name}\"");
        return Err(SqlError::new(code::SYNTAX_ERROR, message).position(position));
    }
    match front.peek(0) {
        Token::Comma | Token::RParen => {}
        Token::SingleQuotedString(_) => {
            front.string()?;
        }
        Token::Number(..) => {
            front.number()?;
        }
        _ => {
            front.word()?;
        }
    }
    Ok(())
}
