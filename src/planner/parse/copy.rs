//! COPY, in today's syntax and in the one before PostgreSQL 9.

use sqlparser::tokenizer::Token;

use super::super::statement::{Copy, CopyDirection, CopyWhat, StatementKind};
use super::front::Front;
use super::subscribe;
use crate::error::{SqlError, SqlResult};

/// `COPY { table [(columns)] | (query) } { FROM STDIN | TO STDOUT } [options]`.
pub(super) fn copy(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["copy"])?;
    let mut options = Vec::new();
    // `COPY BINARY t`: the oldest form.
    if front.is(0, "binary") && !matches!(front.peek(1), Token::Period) && !is_direction(front, 1) {
        front.advance();
        options.push(option("format", "binary"));
    }
    let what = if front.eat_token(&Token::LParen) {
        let what = match front.is(0, "subscribe") {
            true => CopyWhat::Subscribe(subscribe::subscribe(front)?),
            false => CopyWhat::Query(front.query()?),
        };
        front.expect_token(&Token::RParen)?;
        what
    } else {
        CopyWhat::Table { table: front.name()?, columns: front.optional_columns()? }
    };
    let direction = direction(front, &what)?;
    if front.is(0, "using") || front.is(0, "delimiters") {
        front.eat(&["using"]);
        front.expect(&["delimiters"])?;
        options.push(("delimiter".to_owned(), front.string()?));
    }
    front.eat(&["with"]);
    if front.eat_token(&Token::LParen) {
        options.extend(front.list(new_option)?);
        front.expect_token(&Token::RParen)?;
    } else {
        while !front.at_end() && !front.is(0, "where") {
            options.push(old_option(front)?);
        }
    }
    if front.is(0, "where") {
        return Err(SqlError::unsupported("COPY FROM ... WHERE").position(front.position()));
    }
    Ok(StatementKind::Copy(Box::new(Copy { direction, what, options })))
}

fn is_direction(front: &Front<'_>, ahead: usize) -> bool {
    front.is(ahead, "from") || front.is(ahead, "to")
}

fn direction(front: &mut Front<'_>, what: &CopyWhat) -> SqlResult<CopyDirection> {
    let from = match what {
        CopyWhat::Table { .. } => front.eat(&["from"]),
        CopyWhat::Query(_) | CopyWhat::Subscribe(_) => false,
    };
    if !from {
        front.expect(&["to"])?;
    }
    // PostgreSQL takes either stream's name in either direction.
    if front.eat(&["stdin"]) || front.eat(&["stdout"]) {
        return Ok(if from { CopyDirection::FromStdin } else { CopyDirection::ToStdout });
    }
    let position = front.position();
    if front.is(0, "program") || matches!(front.peek(0), Token::SingleQuotedString(_)) {
        return Err(SqlError::unsupported("COPY to or from a file or program of the server")
            .hint("Use psql's \\copy.")
            .position(position));
    }
    Err(front.syntax_error())
}

fn option(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// `name [value]`.
fn new_option(front: &mut Front<'_>) -> SqlResult<(String, String)> {
    let name = front.word()?;
    let value = match front.peek(0) {
        Token::Comma | Token::RParen => "true".to_owned(),
        Token::Mul => {
            front.advance();
            "*".to_owned()
        }
        Token::LParen => column_list(front)?,
        Token::Word(_) => front.word()?,
        _ if front.is_number() => front.number()?,
        _ => front.string()?,
    };
    Ok((name, value))
}

fn column_list(front: &mut Front<'_>) -> SqlResult<String> {
    let columns = front.optional_columns()?;
    Ok(columns.into_iter().map(|column| column.name).collect::<Vec<_>>().join(","))
}

/// `CSV`, `HEADER`, `NULL AS 'x'`, `FORCE QUOTE a, b`, ...
fn old_option(front: &mut Front<'_>) -> SqlResult<(String, String)> {
    for format in ["binary", "csv"] {
        if front.eat(&[format]) {
            return Ok(option("format", format));
        }
    }
    for flag in ["header", "freeze"] {
        if front.eat(&[flag]) {
            return Ok(option(flag, "true"));
        }
    }
    for valued in ["delimiter", "null", "quote", "escape", "encoding"] {
        if front.eat(&[valued]) {
            front.eat(&["as"]);
            return Ok((valued.to_owned(), front.string()?));
        }
    }
    let lists: [(&[&str], &str); 3] = [
        (&["force", "quote"], "force_quote"),
        (&["force", "not", "null"], "force_not_null"),
        (&["force", "null"], "force_null"),
    ];
    for (words, name) in lists {
        if front.eat(words) {
            if front.eat_token(&Token::Mul) {
                return Ok(option(name, "*"));
            }
            let columns = front.list(|front| Ok(front.identifier()?.name))?;
            return Ok((name.to_owned(), columns.join(",")));
        }
    }
    Err(front.syntax_error())
}
