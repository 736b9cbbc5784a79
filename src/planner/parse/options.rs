//! `WITH (...)`, `FORMAT ... ENCODE ... (...)`.

use std::collections::BTreeMap;

use sqlparser::tokenizer::Token;

use super::front::Front;
use crate::catalog::object::Connector;
use crate::error::{SqlError, SqlResult, code};

/// `(name = value, ...)`; names in lower case, maybe dotted; values as written.
pub(super) fn parenthesized(front: &mut Front<'_>) -> SqlResult<BTreeMap<String, String>> {
    front.expect_token(&Token::LParen)?;
    let mut options = BTreeMap::new();
    if front.eat_token(&Token::RParen) {
        return Ok(options);
    }
    loop {
        let position = front.position();
        let name = name(front)?;
        front.expect_token(&Token::Eq)?;
        let value = value(front)?;
        if options.insert(name.clone(), value).is_some() {
            let message = format!("option \"{name}\" specified more than once");
            return Err(SqlError::new(code::SYNTAX_ERROR, message).position(position));
        }
        if !front.eat_token(&Token::Comma) {
            break;
        }
    }
    front.expect_token(&Token::RParen)?;
    Ok(options)
}

fn name(front: &mut Front<'_>) -> SqlResult<String> {
    let mut name = String::new();
    loop {
        match front.peek(0) {
            Token::SingleQuotedString(text) => name.push_str(&text.to_lowercase()),
            Token::Word(word) => name.push_str(&word.value.to_lowercase()),
            _ => return Err(front.syntax_error()),
        }
        front.advance();
        if !front.eat_token(&Token::Period) {
            return Ok(name);
        }
        name.push('.');
    }
}

fn value(front: &mut Front<'_>) -> SqlResult<String> {
    match front.peek(0) {
        Token::Word(word) => {
            let value = word.value.clone();
            front.advance();
            Ok(value)
        }
        _ if front.is_number() => front.number(),
        _ => front.string(),
    }
}

/// `[WITH (connector = ..., ...)] [FORMAT word ENCODE word [(...)]]`: the connector, if WITH names
/// one, and what else WITH said.
pub(super) fn connector(
    front: &mut Front<'_>,
) -> SqlResult<(Option<Connector>, BTreeMap<String, String>)> {
    let mut options = if front.eat(&["with"]) { parenthesized(front)? } else { BTreeMap::new() };
    let position = front.position();
    let format = if front.eat(&["format"]) { Some(front.word()?) } else { None };
    let mut encode = None;
    let mut encode_options = BTreeMap::new();
    if front.eat(&["encode"]) {
        encode = Some(front.word()?);
        if *front.peek(0) == Token::LParen {
            encode_options = parenthesized(front)?;
        }
    }
    match options.remove("connector") {
        Some(name) => {
            let name = name.to_lowercase();
            let connector = Connector { name, options, format, encode, encode_options };
            Ok((Some(connector), BTreeMap::new()))
        }
        None if format.is_some() || encode.is_some() => Err(SqlError::new(
            code::INVALID_TABLE_DEFINITION,
            "FORMAT and ENCODE need WITH (connector = ...)",
        )
        .position(position)),
        None => Ok((None, options)),
    }
}

/// An option that is on or off.
pub(super) fn flag(option: &str, value: &str) -> SqlResult<bool> {
    match value.to_lowercase().as_str() {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        _ => Err(SqlError::new(
            code::INVALID_PARAMETER_VALUE,
            format!("{option} must be \"true\" or \"false\", not \"{value}\""),
        )),
    }
}

/// An option nobody knows.
pub(super) fn unrecognized(name: &str) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, format!("unrecognized parameter \"{name}\""))
}
