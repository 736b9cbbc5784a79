//! CREATE SINK.

use super::super::statement::{CreateSink, SinkFrom, StatementKind};
use super::create::parallelism_of;
use super::front::Front;
use super::options;
use crate::error::{SqlError, SqlResult, code};

/// `CREATE SINK [IF NOT EXISTS] name INTO table [(columns)] { FROM relation | AS query }
/// [WITH (...)]`, after the word SINK.
pub(super) fn sink(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let position = front.position();
    let if_not_exists = front.eat(&["if", "not", "exists"]);
    let name = front.name()?;
    if !front.eat(&["into"]) {
        return Err(SqlError::unsupported("a sink out of Weir")
            .hint("Write into a table: CREATE SINK name INTO table FROM view.")
            .position(position));
    }
    let table = front.name()?;
    let columns = front.optional_columns()?;
    let from = if front.eat(&["from"]) {
        SinkFrom::Relation(front.name()?)
    } else {
        front.expect(&["as"])?;
        SinkFrom::Query(front.query_before_options()?)
    };
    let mut create = CreateSink {
        name,
        if_not_exists,
        table,
        columns,
        from,
        snapshot: true,
        append_only: false,
        force_append_only: false,
        parallelism: None,
    };
    if front.eat(&["with"]) {
        for (option, value) in options::parenthesized(front)? {
            match option.as_str() {
                "snapshot" => create.snapshot = options::flag(&option, &value)?,
                "force_append_only" => create.force_append_only = options::flag(&option, &value)?,
                "type" => create.append_only = only_inserts(&value)?,
                "parallelism" => create.parallelism = Some(parallelism_of(&value)?),
                other => return Err(options::unrecognized(other)),
            }
        }
    }
    Ok(StatementKind::CreateSink(Box::new(create)))
}

fn only_inserts(value: &str) -> SqlResult<bool> {
    match value.to_lowercase().as_str() {
        "append-only" => Ok(true),
        "upsert" => Ok(false),
        _ => Err(SqlError::new(
            code::INVALID_PARAMETER_VALUE,
            format!("type must be \"upsert\" or \"append-only\", not \"{value}\""),
        )),
    }
}
