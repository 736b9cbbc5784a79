//! Functions and operators that read `json` and `jsonb`, or make it from other values.
//!
//! Those with the names of operators' functions (`jsonb_object_field` is `->`) are what the planner
//! puts in the operators' places.

use std::fmt::Write;

use super::function::Entry;
use super::json_text::{self as parts, Kind};
use super::row::{Out, Row};
use crate::error::{SqlError, SqlResult, code};
use crate::types::{LaidOut, SqlType, Values};

/// `name(arguments) -> result`, and what it does.
pub(super) const TABLE: &[Entry] = &[
    ("jsonb_object_field(jsonb, text) -> jsonb", field),
    ("jsonb_array_element(jsonb, integer) -> jsonb", |row, out| {
        value_of(element_of_jsonb(row), out)
    }),
    ("jsonb_object_field_text(jsonb, text) -> text", |row, out| {
        text_of(parts::member(row.text(0), row.text(1)), out)
    }),
    ("jsonb_array_element_text(jsonb, integer) -> text", |row, out| {
        text_of(element_of_jsonb(row), out)
    }),
    ("json_object_field(json, text) -> json", field),
    ("json_array_element(json, integer) -> json", element),
    ("json_object_field_text(json, text) -> text", |row, out| {
        text_of(parts::member(row.text(0), row.text(1)), out)
    }),
    ("json_array_element_text(json, integer) -> text", |row, out| {
        text_of(parts::item(row.text(0), row.int(1)), out)
    }),
    ("jsonb_at(jsonb, text[]) -> jsonb", |row, out| {
        value_of(parts::follow(row.text(0), &row.texts(1)), out)
    }),
    ("jsonb_at_text(jsonb, text[]) -> text", |row, out| {
        text_of(parts::follow(row.text(0), &row.texts(1)), out)
    }),
    ("json_at(json, text[]) -> json", |row, out| {
        value_of(parts::follow(row.text(0), &row.texts(1)), out)
    }),
    ("jsonb_extract_path(jsonb, variadic text) -> jsonb", |row, out| {
        value_of(parts::follow(row.text(0), &steps(row)), out)
    }),
    ("jsonb_extract_path_text(jsonb, variadic text) -> text", |row, out| {
        text_of(parts::follow(row.text(0), &steps(row)), out)
    }),
    ("json_extract_path(json, variadic text) -> json", |row, out| {
        value_of(parts::follow(row.text(0), &steps(row)), out)
    }),
    ("json_extract_path_text(json, variadic text) -> text", |row, out| {
        text_of(parts::follow(row.text(0), &steps(row)), out)
    }),
    ("jsonb_array_length(jsonb) -> integer", array_length),
    ("json_array_length(json) -> integer", array_length),
    ("jsonb_typeof(jsonb) -> text", type_name),
    ("json_typeof(json) -> text", type_name),
    ("jsonb_exists(jsonb, text) -> boolean", |row, out| {
        out.boolean(exists(row.text(0), row.text(1)));
        Ok(())
    }),
    ("jsonb_exists_any(jsonb, text[]) -> boolean", |row, out| {
        out.boolean(row.texts(1).iter().flatten().any(|key| exists(row.text(0), key)));
        Ok(())
    }),
    ("jsonb_exists_all(jsonb, text[]) -> boolean", |row, out| {
        out.boolean(row.texts(1).iter().flatten().all(|key| exists(row.text(0), key)));
        Ok(())
    }),
    ("jsonb_array_elements(jsonb) -> jsonb[]", |row, out| elements(row, out, false)),
    ("jsonb_array_elements_text(jsonb) -> text[]", |row, out| elements(row, out, true)),
    ("json_array_elements(json) -> json[]", |row, out| elements(row, out, false)),
    ("json_array_elements_text(json) -> text[]", |row, out| elements(row, out, true)),
    ("jsonb_object_keys(jsonb) -> text[]", keys),
    ("json_object_keys(json) -> text[]", keys),
    ("jsonb_each_values(jsonb) -> jsonb[]", |row, out| member_values(row, out, false)),
    ("jsonb_each_text_values(jsonb) -> text[]", |row, out| member_values(row, out, true)),
    ("json_each_values(json) -> json[]", |row, out| member_values(row, out, false)),
    ("json_each_text_values(json) -> text[]", |row, out| member_values(row, out, true)),
    ("to_jsonb(any) -> jsonb", |row, out| built(out, true, |text| push_argument(text, row, 0))),
    ("to_json(any) -> json", |row, out| built(out, false, |text| push_argument(text, row, 0))),
    ("row_to_json(any) -> json", |row, out| built(out, false, |text| push_argument(text, row, 0))),
    ("array_to_json(any) -> json", |row, out| {
        built(out, false, |text| push_argument(text, row, 0))
    }),
    ("?jsonb_build_array(variadic any) -> jsonb", |row, out| {
        built(out, true, |text| push_array(text, row))
    }),
    ("?json_build_array(variadic any) -> json", |row, out| {
        built(out, false, |text| push_array(text, row))
    }),
    ("?jsonb_build_object(variadic any) -> jsonb", |row, out| {
        built(out, true, |text| push_object(text, row, ": "))
    }),
    ("?json_build_object(variadic any) -> json", |row, out| {
        built(out, false, |text| push_object(text, row, " : "))
    }),
    ("?jsonb_object(text[]) -> jsonb", object_of_pairs),
    ("?jsonb_object(text[], text[]) -> jsonb", object_of_lists),
];

fn field(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    value_of(parts::member(row.text(0), row.text(1)), out)
}

fn element(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    value_of(parts::item(row.text(0), row.int(1)), out)
}

/// As PostgreSQL keeps it, a `jsonb` that is no object or array is an array of it alone.
fn element_of_jsonb<'a>(row: &Row<'a>) -> Option<&'a str> {
    let (text, index) = (row.text(0), row.int(1));
    match parts::kind(text) {
        Kind::Object | Kind::Array => parts::item(text, index),
        _ => matches!(index, 0 | -1).then_some(text),
    }
}

fn value_of(value: Option<&str>, out: &mut Out) -> SqlResult<()> {
    match value {
        Some(value) => out.text(value),
        None => out.null(),
    }
    Ok(())
}

/// As `->>` gives a value: a string without its quotes, null as NULL.
fn text_of(value: Option<&str>, out: &mut Out) -> SqlResult<()> {
    match value.map(|value| (value, parts::kind(value))) {
        None | Some((_, Kind::Null)) => out.null(),
        Some((value, Kind::String)) => out.text(&parts::unquoted(value)),
        Some((value, _)) => out.text(value),
    }
    Ok(())
}

fn steps<'a>(row: &Row<'a>) -> Vec<Option<&'a str>> {
    (1..row.len()).map(|index| Some(row.text(index))).collect()
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

fn array_length(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    match parts::kind(row.text(0)) {
        Kind::Array => out.int(i64::try_from(parts::walk(row.text(0)).count()).unwrap_or(i64::MAX)),
        Kind::Object => Err(invalid("cannot get array length of a non-array")),
        _ => Err(invalid("cannot get array length of a scalar")),
    }
}

fn type_name(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    out.text(parts::kind(row.text(0)).name());
    Ok(())
}

/// Whether a string is a key, an item, or the value itself.
fn exists(text: &str, key: &str) -> bool {
    let is_key = |value: &str| parts::kind(value) == Kind::String && parts::unquoted(value) == key;
    match parts::kind(text) {
        Kind::Object => parts::member(text, key).is_some(),
        Kind::Array => parts::walk(text).any(|(_, item)| is_key(item)),
        _ => is_key(text),
    }
}

fn elements(row: &Row<'_>, out: &mut Out, as_text: bool) -> SqlResult<()> {
    match parts::kind(row.text(0)) {
        Kind::Array => push_values(row.text(0), out, as_text),
        Kind::Object => return Err(invalid("cannot extract elements from an object")),
        _ => return Err(invalid("cannot extract elements from a scalar")),
    }
    Ok(())
}

fn member_values(row: &Row<'_>, out: &mut Out, as_text: bool) -> SqlResult<()> {
    match parts::kind(row.text(0)) {
        Kind::Object => push_values(row.text(0), out, as_text),
        _ => return Err(invalid("cannot call jsonb_each on a non-object")),
    }
    Ok(())
}

fn push_values(text: &str, out: &mut Out, as_text: bool) {
    if !as_text {
        out.texts(parts::walk(text).map(|(_, value)| Some(value)));
        return;
    }
    let texts: Vec<Option<std::borrow::Cow<'_, str>>> = parts::walk(text)
        .map(|(_, value)| match parts::kind(value) {
            Kind::Null => None,
            Kind::String => Some(parts::unquoted(value)),
            _ => Some(value.into()),
        })
        .collect();
    out.texts(texts.iter().map(Option::as_deref));
}

fn keys(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    match parts::kind(row.text(0)) {
        Kind::Object => {
            let keys: Vec<_> = parts::walk(row.text(0)).map(|(k, _)| parts::unquoted(k)).collect();
            out.texts(keys.iter().map(|key| Some(key.as_ref())));
            Ok(())
        }
        Kind::Array => Err(invalid("cannot call jsonb_object_keys on an array")),
        _ => Err(invalid("cannot call jsonb_object_keys on a scalar")),
    }
}

/// A JSON text that `push` writes, brought to `jsonb`'s form if that is wanted.
fn built(
    out: &mut Out,
    canonical: bool,
    push: impl FnOnce(&mut String) -> SqlResult<()>,
) -> SqlResult<()> {
    let mut text = String::new();
    push(&mut text)?;
    match canonical {
        true => out.encoded(&crate::types::parse::canonical_jsonb(&text)?),
        false => {
            out.text(&text);
            Ok(())
        }
    }
}

fn push_argument(text: &mut String, row: &Row<'_>, index: usize) -> SqlResult<()> {
    if row.is_null(index) {
        text.push_str("null");
        return Ok(());
    }
    let (column, at) = row.value(index);
    push_value(text, column, at, row)
}

/// A value that is not NULL, as JSON.
fn push_value(text: &mut String, column: &LaidOut, at: usize, row: &Row<'_>) -> SqlResult<()> {
    match &column.values {
        Values::List(lists, items) => {
            let bound = |at: usize| usize::try_from(lists.value_offsets()[at]).unwrap_or(0);
            push_list(text, items, bound(at)..bound(at + 1), row)
        }
        Values::Record(record, columns) => {
            text.push('{');
            for (index, (field, column)) in std::iter::zip(record.fields(), columns).enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                push_string(text, field.name());
                text.push(':');
                if column.is_null(at) {
                    text.push_str("null");
                } else {
                    push_value(text, column, at, row)?;
                }
            }
            text.push('}');
            Ok(())
        }
        _ => {
            let mut written = Vec::new();
            crate::types::text::write_laid_out(column, at, &row.style.text, &mut written);
            let written = String::from_utf8_lossy(&written);
            push_scalar(text, &column.sql_type, column, at, &written)
        }
    }
}

fn push_list(
    text: &mut String,
    items: &LaidOut,
    range: std::ops::Range<usize>,
    row: &Row<'_>,
) -> SqlResult<()> {
    text.push('[');
    let first = range.start;
    for item in range {
        if item > first {
            text.push(',');
        }
        if items.is_null(item) {
            text.push_str("null");
        } else {
            push_value(text, items, item, row)?;
        }
    }
    text.push(']');
    Ok(())
}

/// A value that is no list, as JSON.
fn push_scalar(
    text: &mut String,
    sql_type: &SqlType,
    column: &LaidOut,
    at: usize,
    written: &str,
) -> SqlResult<()> {
    match (sql_type, &column.values) {
        (_, Values::Boolean(array)) => {
            text.push_str(if array.value(at) { "true" } else { "false" });
        }
        (SqlType::Json | SqlType::Jsonb, _) => text.push_str(written),
        (
            SqlType::SmallInt
            | SqlType::Integer
            | SqlType::BigInt
            | SqlType::Real
            | SqlType::Double
            | SqlType::Numeric(_),
            _,
        ) if written.ends_with(|last: char| last.is_ascii_digit()) => text.push_str(written),
        (SqlType::Timestamp, _) => push_string(text, &written.replacen(' ', "T", 1)),
        (SqlType::Timestamptz, _) => {
            let mut moment = written.replacen(' ', "T", 1);
            // ISO 8601 has minutes in the zone: +00:00.
            if moment.len() >= 3 && moment[moment.len() - 3..].starts_with(['+', '-']) {
                moment.push_str(":00");
            }
            push_string(text, &moment);
        }
        _ => push_string(text, written),
    }
    Ok(())
}

pub(in super::super) fn push_string(text: &mut String, value: &str) {
    // Writing to memory does not fail.
    let _ = write!(text, "{}", serde_json::Value::from(value));
}

fn push_array(text: &mut String, row: &Row<'_>) -> SqlResult<()> {
    text.push('[');
    for index in 0..row.len() {
        if index > 0 {
            text.push_str(", ");
        }
        push_argument(text, row, index)?;
    }
    text.push(']');
    Ok(())
}

fn push_object(text: &mut String, row: &Row<'_>, colon: &str) -> SqlResult<()> {
    if row.len() % 2 == 1 {
        let hint =
            "The arguments of jsonb_build_object() must consist of alternating keys and values.";
        let message = "argument list must have even number of elements";
        return Err(invalid(message).hint(hint));
    }
    text.push('{');
    for index in (0..row.len()).step_by(2) {
        if row.is_null(index) {
            return Err(invalid(format!("argument {}: key must not be null", index + 1)));
        }
        if index > 0 {
            text.push_str(", ");
        }
        let mut key = Vec::new();
        row.write(index, &mut key);
        push_string(text, &String::from_utf8_lossy(&key));
        text.push_str(colon);
        push_argument(text, row, index + 1)?;
    }
    text.push('}');
    Ok(())
}

fn object_of_pairs(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    if row.is_null(0) {
        out.null();
        return Ok(());
    }
    let items = row.texts(0);
    if items.len() % 2 == 1 {
        return Err(SqlError::new("2202E", "array must have even number of elements"));
    }
    let pairs: Vec<_> = items.chunks(2).map(|pair| (pair[0], pair[1])).collect();
    object_of(&pairs, out)
}

fn object_of_lists(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    if row.is_null(0) || row.is_null(1) {
        out.null();
        return Ok(());
    }
    let (keys, values) = (row.texts(0), row.texts(1));
    if keys.len() != values.len() {
        return Err(SqlError::new("2202E", "mismatched array dimensions"));
    }
    let pairs: Vec<_> = std::iter::zip(keys, values).collect();
    object_of(&pairs, out)
}

fn object_of(pairs: &[(Option<&str>, Option<&str>)], out: &mut Out) -> SqlResult<()> {
    built(out, true, |text| {
        text.push('{');
        for (index, (key, value)) in pairs.iter().enumerate() {
            let key =
                key.ok_or_else(|| SqlError::new("22004", "null value not allowed for object key"))?;
            text.push_str(if index > 0 { ", " } else { "" });
            push_string(text, key);
            text.push_str(": ");
            match value {
                Some(value) => push_string(text, value),
                None => text.push_str("null"),
            }
        }
        text.push('}');
        Ok(())
    })
}
