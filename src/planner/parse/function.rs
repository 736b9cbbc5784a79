//! CREATE FUNCTION and DROP FUNCTION.

use sqlparser::ast;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::super::statement::{CreateFunction, DropFunction, FunctionResult, StatementKind};
use super::super::syntax::Name;
use super::front::Front;
use crate::catalog::function::{
    Body, Parameter, ReturnedColumn, Returns, Volatility, without_modifier,
};
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

/// The options of CREATE FUNCTION, each said once at the most.
#[derive(Default)]
struct Options {
    language: Option<String>,
    volatility: Option<Volatility>,
    strict: Option<bool>,
    body: Option<Body>,
    /// Others that steer what Weir does not have.
    others: Vec<&'static str>,
}

/// `FUNCTION name(parameters) [RETURNS ...] options`, after CREATE.
pub(super) fn create(front: &mut Front<'_>, or_replace: bool) -> SqlResult<StatementKind> {
    let name = front.name()?;
    front.expect_token(&Token::LParen)?;
    let mut parameters = Vec::new();
    if !front.eat_token(&Token::RParen) {
        parameters = front.list(parameter)?;
        front.expect_token(&Token::RParen)?;
    }
    check_parameters(&parameters)?;
    let returns = if front.is(0, "returns") && !front.is(1, "null") {
        front.advance();
        Some(result(front)?)
    } else {
        None
    };
    let options = options(front)?;
    let Some(returns) = returns else {
        let message = "function result type must be specified";
        return Err(SqlError::new(code::INVALID_FUNCTION_DEFINITION, message));
    };
    let is_return = matches!(options.body, Some(Body::Return(_)));
    match options.language.as_deref() {
        Some("sql") => {}
        None if is_return => {}
        None => {
            let message = "no language specified";
            return Err(SqlError::new(code::INVALID_FUNCTION_DEFINITION, message));
        }
        Some(other) => return Err(no_language(other)),
    }
    let Some(body) = options.body else {
        let message = "no function body specified";
        return Err(SqlError::new(code::INVALID_FUNCTION_DEFINITION, message));
    };
    Ok(StatementKind::CreateFunction(Box::new(CreateFunction {
        name,
        or_replace,
        parameters,
        returns,
        body,
        strict: options.strict.unwrap_or(false),
        volatility: options.volatility.unwrap_or(Volatility::Volatile),
    })))
}

fn no_language(language: &str) -> SqlError {
    const ELSEWHERE: [&str; 12] = [
        "c",
        "internal",
        "plpgsql",
        "plperl",
        "plpython3u",
        "pltcl",
        "plv8",
        "python",
        "java",
        "javascript",
        "rust",
        "wasm",
    ];
    if ELSEWHERE.contains(&language) {
        return SqlError::unsupported(format!("LANGUAGE {language}"))
            .hint("Write the function with LANGUAGE SQL.");
    }
    SqlError::new(code::UNDEFINED_OBJECT, format!("language \"{language}\" does not exist"))
}

/// `[IN] [name] type [{ DEFAULT | = } value]`.
fn parameter(front: &mut Front<'_>) -> SqlResult<Parameter> {
    let position = front.position();
    for mode in ["out", "inout", "variadic"] {
        if front.is(0, mode) {
            let what = format!("{} parameters", mode.to_uppercase());
            return Err(SqlError::unsupported(what)
                .hint("RETURNS TABLE (...) gives several columns.")
                .position(position));
        }
    }
    if front.is(0, "in") {
        front.advance();
    }
    let name = if is_type_alone(front) { None } else { Some(front.identifier()?.name) };
    let sql_type = without_modifier(&front.sql_type()?);
    let default = if front.eat(&["default"]) || front.eat_token(&Token::Eq) {
        let start = front.mark();
        front.sql(Parser::parse_expr)?;
        Some(front.text_since(start))
    } else {
        None
    };
    Ok(Parameter { name, sql_type, default })
}

/// Whether a type is next, with no name before it.
fn is_type_alone(front: &Front<'_>) -> bool {
    let two = |first: &str, seconds: &[&str]| {
        front.is(0, first) && seconds.iter().any(|second| front.is(1, second))
    };
    if two("double", &["precision"])
        || two("character", &["varying"])
        || two("timestamp", &["with", "without"])
        || two("time", &["with", "without"])
    {
        return true;
    }
    let ends = matches!(
        front.peek(1),
        Token::Comma
            | Token::RParen
            | Token::LParen
            | Token::LBracket
            | Token::Period
            | Token::Eq
            | Token::EOF
    );
    ends || front.is(1, "default")
}

fn check_parameters(parameters: &[Parameter]) -> SqlResult<()> {
    let wrong = |message: String| Err(SqlError::new(code::INVALID_FUNCTION_DEFINITION, message));
    let mut defaults = false;
    for (index, parameter) in parameters.iter().enumerate() {
        let before = &parameters[..index];
        if let Some(name) = &parameter.name
            && before.iter().any(|other| other.name.as_ref() == Some(name))
        {
            return wrong(format!("parameter name \"{name}\" used more than once"));
        }
        if defaults && parameter.default.is_none() {
            let message = "input parameters after one with a default value must also have defaults";
            return wrong(message.to_owned());
        }
        defaults |= parameter.default.is_some();
    }
    Ok(())
}

/// `type`, `SETOF type`, `TABLE (name type, ...)`.
fn result(front: &mut Front<'_>) -> SqlResult<FunctionResult> {
    if front.eat(&["table"]) {
        front.expect_token(&Token::LParen)?;
        let columns = front.list(|front| {
            let name = front.identifier()?.name;
            Ok(ReturnedColumn { name, sql_type: without_modifier(&front.sql_type()?) })
        })?;
        front.expect_token(&Token::RParen)?;
        for (index, column) in columns.iter().enumerate() {
            if columns[..index].iter().any(|other| other.name == column.name) {
                let message = format!("parameter name \"{}\" used more than once", column.name);
                return Err(SqlError::new(code::INVALID_FUNCTION_DEFINITION, message));
            }
        }
        return Ok(FunctionResult::Known(Returns::Table(columns)));
    }
    let set = front.eat(&["setof"]);
    let position = front.position();
    for pseudo in ["void", "trigger", "record", "anyelement", "anyarray"] {
        if front.is(0, pseudo) {
            let what = format!("a function that returns {pseudo}");
            return Err(SqlError::unsupported(what).position(position));
        }
    }
    let start = front.mark();
    let read = front.sql(Parser::parse_data_type)?;
    let written = front.text_since(start);
    match (super::front::type_named(&written), read) {
        (Ok(sql_type), _) => {
            let sql_type = without_modifier(&sql_type);
            let returns = if set { Returns::Set(sql_type) } else { Returns::Value(sql_type) };
            Ok(FunctionResult::Known(returns))
        }
        (Err(_), ast::DataType::Custom(name, modifiers)) if set && modifiers.is_empty() => {
            let parts = name.0.iter().filter_map(|part| part.as_ident());
            let parts = parts.map(super::front::fold_ident).collect();
            Ok(FunctionResult::RowsOf(front.name_of(parts, position)?))
        }
        (Err(error), _) => Err(error.position(position)),
    }
}

fn options(front: &mut Front<'_>) -> SqlResult<Options> {
    let mut options = Options::default();
    while !front.at_end() {
        let position = front.position();
        let redundant = || {
            SqlError::new(code::SYNTAX_ERROR, "conflicting or redundant options").position(position)
        };
        if option(front, &mut options)? {
            return Err(redundant());
        }
    }
    Ok(options)
}

/// Reads an option. Gives whether it was there already.
fn option(front: &mut Front<'_>, options: &mut Options) -> SqlResult<bool> {
    let position = front.position();
    let strict: [(&[&str], bool); 3] = [
        (&["strict"], true),
        (&["returns", "null", "on", "null", "input"], true),
        (&["called", "on", "null", "input"], false),
    ];
    for (words, value) in strict {
        if front.eat(words) {
            return Ok(options.strict.replace(value).is_some());
        }
    }
    let volatilities = [
        ("immutable", Volatility::Immutable),
        ("stable", Volatility::Stable),
        ("volatile", Volatility::Volatile),
    ];
    for (word, value) in volatilities {
        if front.eat(&[word]) {
            return Ok(options.volatility.replace(value).is_some());
        }
    }
    let harmless: [(&[&str], &'static str); 6] = [
        (&["not", "leakproof"], "leakproof"),
        (&["leakproof"], "leakproof"),
        (&["external", "security", "invoker"], "security"),
        (&["security", "invoker"], "security"),
        (&["external", "security", "definer"], "security"),
        (&["security", "definer"], "security"),
    ];
    let mut once = |what: &'static str| {
        let twice = options.others.contains(&what);
        options.others.push(what);
        twice
    };
    for (words, what) in harmless {
        if front.eat(words) {
            return Ok(once(what));
        }
    }
    if front.eat(&["parallel"]) {
        front.word()?;
        return Ok(once("parallel"));
    }
    for what in ["cost", "rows"] {
        if front.eat(&[what]) {
            front.number()?;
            return Ok(once(what));
        }
    }
    if front.eat(&["language"]) {
        let language = match front.peek(0) {
            Token::SingleQuotedString(_) => front.string()?.to_lowercase(),
            _ => front.identifier()?.name,
        };
        return Ok(options.language.replace(language).is_some());
    }
    if front.eat(&["as"]) {
        let body = Body::Quoted(front.string()?);
        return Ok(options.body.replace(body).is_some());
    }
    if front.eat(&["return"]) {
        let start = front.mark();
        front.sql(Parser::parse_expr)?;
        let body = Body::Return(front.text_since(start));
        return Ok(options.body.replace(body).is_some());
    }
    if front.is(0, "begin") {
        return Err(SqlError::unsupported("a function's BEGIN ATOMIC")
            .hint("Write the query as AS $$ ... $$.")
            .position(position));
    }
    for what in ["set", "window", "support", "transform", "using"] {
        if front.is(0, what) {
            let what = format!("CREATE FUNCTION ... {}", what.to_uppercase());
            return Err(SqlError::unsupported(what).position(position));
        }
    }
    Err(front.syntax_error())
}

/// `FUNCTION [IF EXISTS] name [(types)], ... [CASCADE | RESTRICT]`, after DROP.
pub(super) fn drop(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let if_exists = front.eat(&["if", "exists"]);
    let functions = front.list(signature)?;
    let cascade = front.eat(&["cascade"]);
    front.eat(&["restrict"]);
    Ok(StatementKind::DropFunction(DropFunction { functions, if_exists, cascade }))
}

/// A function's name, and the types of its parameters where they are given.
pub(super) fn signature(front: &mut Front<'_>) -> SqlResult<(Name, Option<Vec<SqlType>>)> {
    let name = front.name()?;
    if !front.eat_token(&Token::LParen) {
        return Ok((name, None));
    }
    let mut types: Vec<SqlType> = Vec::new();
    if !front.eat_token(&Token::RParen) {
        types = front.list(|front| Ok(parameter(front)?.sql_type))?;
        front.expect_token(&Token::RParen)?;
    }
    Ok((name, Some(types)))
}
