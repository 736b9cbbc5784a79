//! Text functions that catalog queries use. DataFusion has its own for user tables.

use super::super::{PgContext, Value};
use super::{Function, Returns, argument, lenient, strict, text_argument};
use crate::catalog::drop::quote_identifier;
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::encoded;

pub(super) const FUNCTIONS: [Function; 26] = [
    strict("lower", (1, 1), Returns::Text, |context, arguments| {
        Ok(Value::text(text_argument(context, arguments, 0).to_lowercase()))
    })
    .catalog_only(),
    strict("upper", (1, 1), Returns::Text, |context, arguments| {
        Ok(Value::text(text_argument(context, arguments, 0).to_uppercase()))
    })
    .catalog_only(),
    strict("length", (1, 1), Returns::Integer, |context, arguments| {
        Ok(count(text_argument(context, arguments, 0).chars().count()))
    })
    .catalog_only(),
    strict("bpchar", (1, 1), Returns::Text, |context, arguments| {
        Ok(Value::text(text_argument(context, arguments, 0)))
    })
    .catalog_only(),
    strict("encode", (2, 2), Returns::Text, encode).catalog_only(),
    strict("substring", (2, 3), Returns::Text, substring).catalog_only(),
    strict("substr", (2, 3), Returns::Text, substring).catalog_only(),
    strict("left", (2, 2), Returns::Text, |context, arguments| {
        let length = argument(arguments, 1).as_int().and_then(|n| usize::try_from(n).ok());
        let text = text_argument(context, arguments, 0);
        Ok(Value::text(text.chars().take(length.unwrap_or(0)).collect::<String>()))
    })
    .catalog_only(),
    strict("replace", (3, 3), Returns::Text, |context, arguments| {
        let [text, from, to] = [0, 1, 2].map(|n| text_argument(context, arguments, n));
        Ok(Value::text(if from.is_empty() { text } else { text.replace(&from, &to) }))
    })
    .catalog_only(),
    strict("translate", (3, 3), Returns::Text, |context, arguments| {
        let [text, from, to] = [0, 1, 2].map(|n| text_argument(context, arguments, n));
        let to: Vec<char> = to.chars().collect();
        let one = |c: char| match from.chars().position(|other| other == c) {
            Some(place) => to.get(place).copied(),
            None => Some(c),
        };
        Ok(Value::text(text.chars().filter_map(one).collect::<String>()))
    })
    .catalog_only(),
    strict("chr", (1, 1), Returns::Text, |_, arguments| {
        let code = argument(arguments, 0).as_int().and_then(|code| u32::try_from(code).ok());
        let character = code.filter(|code| *code != 0).and_then(char::from_u32);
        let character = character.ok_or_else(|| {
            SqlError::new(
                code::PROGRAM_LIMIT_EXCEEDED,
                "requested character not valid for encoding",
            )
        })?;
        Ok(Value::text(character.to_string()))
    })
    .catalog_only(),
    strict("round", (1, 1), Returns::First, |_, arguments| {
        Ok(match argument(arguments, 0) {
            Value::Float(value) => Value::Float(value.round_ties_even()),
            other => other.clone(),
        })
    })
    .catalog_only(),
    strict("split_part", (3, 3), Returns::Text, |context, arguments| {
        let [text, by] = [0, 1].map(|n| text_argument(context, arguments, n));
        let part = argument(arguments, 2).as_int().and_then(|n| usize::try_from(n - 1).ok());
        let found = part.and_then(|part| text.split(&by).nth(part).map(str::to_owned));
        Ok(Value::text(found.unwrap_or_default()))
    })
    .catalog_only(),
    strict("btrim", (1, 2), Returns::Text, |context, arguments| {
        let (text, cut) = trimmed(context, arguments);
        Ok(Value::text(text.trim_matches(|c| cut.contains(c))))
    })
    .catalog_only(),
    strict("ltrim", (1, 2), Returns::Text, |context, arguments| {
        let (text, cut) = trimmed(context, arguments);
        Ok(Value::text(text.trim_start_matches(|c| cut.contains(c))))
    })
    .catalog_only(),
    strict("rtrim", (1, 2), Returns::Text, |context, arguments| {
        let (text, cut) = trimmed(context, arguments);
        Ok(Value::text(text.trim_end_matches(|c| cut.contains(c))))
    })
    .catalog_only(),
    strict("starts_with", (2, 2), Returns::Boolean, |context, arguments| {
        let [text, start] = [0, 1].map(|n| text_argument(context, arguments, n));
        Ok(Value::Bool(text.starts_with(&start)))
    })
    .catalog_only(),
    strict("strpos", (2, 2), Returns::Integer, |context, arguments| {
        let [text, part] = [0, 1].map(|n| text_argument(context, arguments, n));
        let at = text.find(&part).and_then(|at| text.get(..at));
        Ok(at.map_or(Value::Int(0), |before| count(before.chars().count() + 1)))
    })
    .catalog_only(),
    lenient("concat", (0, 64), Returns::Text, |context, arguments| {
        let parts = arguments.iter().map(|value| value.to_text(context));
        Ok(Value::text(parts.collect::<String>()))
    })
    .catalog_only(),
    lenient("json_build_object", (0, 64), Returns::Json, json_build_object).catalog_only(),
    lenient("format", (1, 64), Returns::Text, format).catalog_only(),
    strict("quote_literal", (1, 1), Returns::Text, |context, arguments| {
        Ok(Value::text(quote_literal(&text_argument(context, arguments, 0))))
    })
    .catalog_only(),
    lenient("coalesce", (1, 64), Returns::First, |_, arguments| {
        let first = arguments.iter().find(|value| !value.is_null());
        Ok(first.cloned().unwrap_or(Value::Null))
    })
    .catalog_only(),
    lenient("nullif", (2, 2), Returns::First, |context, arguments| {
        let [left, right] = [0, 1].map(|n| argument(arguments, n));
        let same = left.compare(right, context)?.is_some_and(|order| order.is_eq());
        Ok(if same { Value::Null } else { left.clone() })
    })
    .catalog_only(),
    strict("abs", (1, 1), Returns::First, |_, arguments| {
        Ok(match argument(arguments, 0) {
            Value::Float(value) => Value::Float(value.abs()),
            other => other.as_int().map_or(Value::Null, |value| Value::Int(value.saturating_abs())),
        })
    })
    .catalog_only(),
    strict("now", (0, 0), Returns::Timestamptz, |context, _| {
        Ok(Value::Timestamp(context.session.now.0))
    })
    .catalog_only(),
];

/// A bytea is here as it is written.
fn encode(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let [bytes, encoding] = [0, 1].map(|n| text_argument(context, arguments, n));
    let bytes = match bytes.strip_prefix("\\x").map(hex::decode) {
        Some(Ok(bytes)) => bytes,
        _ => bytes.into_bytes(),
    };
    Ok(Value::text(encoded(&bytes, &encoding)?))
}

fn count(length: usize) -> Value {
    Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
}

/// A text, and the characters to cut from it: spaces, if none are named.
fn trimmed(context: &PgContext, arguments: &[Value]) -> (String, String) {
    let cut = arguments.get(1).map_or_else(|| " ".to_owned(), |cut| cut.to_text(context));
    (text_argument(context, arguments, 0), cut)
}

/// From a 1-based position, for a length or to the end.
fn substring(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let text = text_argument(context, arguments, 0);
    let Some(from) = argument(arguments, 1).as_int() else {
        return matched_part(&text, &text_argument(context, arguments, 1));
    };
    let end = match arguments.get(2).and_then(Value::as_int) {
        Some(length) if length < 0 => {
            let message = "negative substring length not allowed";
            return Err(SqlError::new("22011", message));
        }
        Some(length) => from.saturating_add(length),
        None => i64::MAX,
    };
    let wanted = (1..).zip(text.chars()).filter(|(at, _)| (from..end).contains(at));
    Ok(Value::text(wanted.map(|(_, character)| character).collect::<String>()))
}

/// What a pattern finds: its first group, if it has one.
fn matched_part(text: &str, pattern: &str) -> SqlResult<Value> {
    let pattern = regex::Regex::new(pattern).map_err(|error| {
        let reason = error.to_string();
        let last = reason.lines().last().unwrap_or_default().to_owned();
        SqlError::new("2201B", format!("invalid regular expression: {last}"))
    })?;
    let found = pattern.captures(text).and_then(|found| found.get(1).or_else(|| found.get(0)));
    Ok(Value::optional(found.map(|part| part.as_str())))
}

fn quote_literal(text: &str) -> String {
    let escape = if text.contains('\\') { "E" } else { "" };
    format!("{escape}'{}'", text.replace('\'', "''").replace('\\', "\\\\"))
}

/// `{"name" : value, ...}`, spaced as PostgreSQL does it.
fn json_build_object(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    if !arguments.len().is_multiple_of(2) {
        let message = "argument list must have even number of elements";
        return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message).hint(
            "The arguments of json_build_object() must consist of alternating keys and values.",
        ));
    }
    let mut members = Vec::new();
    for pair in arguments.chunks(2) {
        let [name, value] = pair else { continue };
        if name.is_null() {
            let message = "null value not allowed for object key";
            return Err(SqlError::new("22004", message));
        }
        let name = serde_json::Value::from(name.to_text(context));
        members.push(format!("{name} : {}", json(context, value)));
    }
    Ok(Value::text(format!("{{{}}}", members.join(", "))))
}

fn json(context: &PgContext, value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::List(values) => {
            let parts: Vec<String> = values.iter().map(|value| json(context, value)).collect();
            format!("[{}]", parts.join(","))
        }
        other => serde_json::Value::from(other.to_text(context)).to_string(),
    }
}

/// `%s`, `%I`, `%L` and `%%`.
fn format(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let mut values = arguments.iter();
    let Some(pattern) = values.next().filter(|pattern| !pattern.is_null()) else {
        return Ok(Value::Null);
    };
    let pattern = pattern.to_text(context);
    let mut text = String::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        let kind = characters.next();
        if kind == Some('%') {
            text.push('%');
            continue;
        }
        let value = values.next().ok_or_else(|| {
            SqlError::new(code::INVALID_PARAMETER_VALUE, "too few arguments for format()")
        })?;
        match kind {
            Some('s') => text.push_str(&value.to_text(context)),
            Some('I') => text.push_str(&quote_identifier(&value.to_text(context))),
            Some('L') if value.is_null() => text.push_str("NULL"),
            Some('L') => text.push_str(&quote_literal(&value.to_text(context))),
            _ => return Err(SqlError::unsupported("this form of format()")),
        }
    }
    Ok(Value::text(text))
}
