//! Cutting a script into statements.

use std::sync::Arc;

use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Tokenizer, TokenizerError};

use super::super::source::Source;
use super::super::statement::Statement;
use super::super::syntax::{Expression, Query};
use super::dispatch;
use super::front::Front;
use crate::error::{SqlError, SqlResult, code};

/// How sqlparser reads what it reads for us.
pub(super) const DIALECT: PostgreSqlDialect = PostgreSqlDialect {};

/// Words of other databases that sqlparser takes for reserved. To PostgreSQL they are names.
const FOREIGN: &[Keyword] = &[
    Keyword::DISTRIBUTE,
    Keyword::MINUS,
    Keyword::OPEN,
    Keyword::OUTPUT,
    Keyword::PIVOT,
    Keyword::PREWHERE,
    Keyword::SAMPLE,
    Keyword::SETTINGS,
    Keyword::SORT,
    Keyword::TOP,
    Keyword::UNPIVOT,
];

/// Reads a script: any number of statements, with semicolons between. Nothing but blanks and
/// comments is no statement. Nothing is returned if any statement is wrong.
pub fn parse(sql: &str) -> SqlResult<Vec<Statement>> {
    let source = Arc::new(Source::new(sql));
    let tokens = tokenize(sql, &source)?;
    let mut statements = Vec::new();
    let mut rest = tokens.as_slice();
    while !rest.is_empty() {
        let length = rest.iter().position(|token| token.token == Token::SemiColon);
        let (body, after) = rest.split_at(length.unwrap_or(rest.len()));
        let terminator = after.first().map(|token| token.span);
        rest = after.get(1..).unwrap_or(&[]);
        if !body.is_empty() {
            statements.push(parse_one(body, terminator, &source)?);
        }
    }
    Ok(statements)
}

/// Reads exactly one expression, such as a column's default.
pub fn parse_expression(sql: &str) -> SqlResult<Expression> {
    let source = Arc::new(Source::new(sql));
    let tokens = tokenize(sql, &source)?;
    let mut front = Front::new(tokens, source, None);
    let expression = front.expression()?;
    front.finish()?;
    Ok(expression)
}

/// Reads exactly one query, such as a view's.
pub fn parse_query(sql: &str) -> SqlResult<Query> {
    let source = Arc::new(Source::new(sql));
    let tokens = tokenize(sql, &source)?;
    let mut front = Front::new(tokens, source, None);
    let query = front.query()?;
    front.finish()?;
    Ok(query)
}

/// The tokens of a text that was read before.
pub(in crate::planner) fn tokens(sql: &str) -> SqlResult<Vec<TokenWithSpan>> {
    tokenize(sql, &Source::new(sql))
}

fn parse_one(
    tokens: &[TokenWithSpan],
    terminator: Option<Span>,
    source: &Arc<Source>,
) -> SqlResult<Statement> {
    let mut front = Front::new(tokens.to_vec(), Arc::clone(source), terminator);
    let statement = dispatch::statement(&mut front)?;
    front.finish()?;
    Ok(statement)
}

/// The tokens that mean something.
fn tokenize(sql: &str, source: &Source) -> SqlResult<Vec<TokenWithSpan>> {
    if let Some(place) = sql.find('\0') {
        return Err(SqlError::new(
            code::CHARACTER_NOT_IN_REPERTOIRE,
            "invalid byte sequence for encoding \"UTF8\": 0x00",
        )
        .position(sql[..place].chars().count() + 1));
    }
    let mut tokens = Tokenizer::new(&DIALECT, sql)
        .tokenize_with_location()
        .map_err(|error| lexical_error(&error, sql, source))?;
    tokens.retain(|token| !matches!(token.token, Token::Whitespace(_)));
    for token in &mut tokens {
        if let Token::Word(word) = &mut token.token
            && FOREIGN.contains(&word.keyword)
        {
            word.keyword = Keyword::NoKeyword;
        }
    }
    Ok(tokens)
}

/// PostgreSQL's words for what cannot be a token.
fn lexical_error(error: &TokenizerError, sql: &str, source: &Source) -> SqlError {
    let message = &error.message;
    let what = if message.contains("dollar") {
        "unterminated dollar-quoted string"
    } else if message.contains("comment") {
        "unterminated /* comment"
    } else if message.contains("close delimiter") {
        "unterminated quoted identifier"
    } else if message.contains("Unterminated") {
        "unterminated quoted string"
    } else {
        "syntax error"
    };
    let place = match error.location {
        Location { line: 0, .. } => source.end(),
        location => source.place(location),
    };
    let near = &sql[place.byte..];
    let message = if near.is_empty() {
        format!("{what} at end of input")
    } else {
        format!("{what} at or near \"{near}\"")
    };
    SqlError::new(code::SYNTAX_ERROR, message).position(place.position())
}
