//! Functions and operators that compare and change `jsonb`.
//!
//! Values are parsed, changed and written in the canonical form again.

use serde_json::{Map, Value};

use super::function::Entry;
use super::row::{Out, Row};
use crate::error::{SqlError, SqlResult, code};

/// `name(arguments) -> result`, and what it does.
pub(super) const TABLE: &[Entry] = &[
    ("jsonb_contains(jsonb, jsonb) -> boolean", |row, out| {
        out.boolean(contains(&parsed(row.text(0))?, &parsed(row.text(1))?, true));
        Ok(())
    }),
    ("jsonb_contained(jsonb, jsonb) -> boolean", |row, out| {
        out.boolean(contains(&parsed(row.text(1))?, &parsed(row.text(0))?, true));
        Ok(())
    }),
    ("jsonb_concat(jsonb, jsonb) -> jsonb", |row, out| {
        written(&concat(parsed(row.text(0))?, parsed(row.text(1))?), out)
    }),
    ("jsonb_delete_key(jsonb, text) -> jsonb", |row, out| {
        written(&delete_keys(parsed(row.text(0))?, &[row.text(1)])?, out)
    }),
    ("jsonb_delete_keys(jsonb, text[]) -> jsonb", |row, out| {
        let keys: Vec<&str> = row.texts(1).into_iter().flatten().collect();
        written(&delete_keys(parsed(row.text(0))?, &keys)?, out)
    }),
    ("jsonb_delete_index(jsonb, integer) -> jsonb", |row, out| {
        written(&delete_index(parsed(row.text(0))?, row.int(1))?, out)
    }),
    ("jsonb_delete_path(jsonb, text[]) -> jsonb", |row, out| {
        let mut value = parsed(row.text(0))?;
        if !matches!(value, Value::Array(_) | Value::Object(_)) {
            return Err(invalid("cannot delete path in scalar"));
        }
        delete_path(&mut value, &row.texts(1));
        written(&value, out)
    }),
    ("jsonb_set(jsonb, text[], jsonb) -> jsonb", |row, out| set(row, true, out)),
    ("jsonb_set(jsonb, text[], jsonb, boolean) -> jsonb", |row, out| set(row, row.boolean(3), out)),
    ("jsonb_insert(jsonb, text[], jsonb) -> jsonb", |row, out| insert(row, false, out)),
    ("jsonb_insert(jsonb, text[], jsonb, boolean) -> jsonb", |row, out| {
        insert(row, row.boolean(3), out)
    }),
    ("jsonb_strip_nulls(jsonb) -> jsonb", |row, out| {
        let mut value = parsed(row.text(0))?;
        strip_nulls(&mut value);
        written(&value, out)
    }),
    ("jsonb_pretty(jsonb) -> text", |row, out| {
        let mut text = String::new();
        pretty(row.text(0), 0, &mut text);
        out.text(&text);
        Ok(())
    }),
];

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

fn parsed(text: &str) -> SqlResult<Value> {
    serde_json::from_str(text).map_err(|error| SqlError::internal(error.to_string()))
}

fn written(value: &Value, out: &mut Out) -> SqlResult<()> {
    out.encoded(&crate::types::parse::canonical_jsonb(&value.to_string())?)
}

/// A number without zeros that do not count.
fn significant(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

fn same_scalar(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            significant(left.as_str()) == significant(right.as_str())
        }
        (left, right) => left == right,
    }
}

/// PostgreSQL's containment: at the top, an array contains a scalar that is among its items.
fn contains(outer: &Value, inner: &Value, top: bool) -> bool {
    match (outer, inner) {
        (Value::Object(outer), Value::Object(inner)) => inner
            .iter()
            .all(|(key, value)| outer.get(key).is_some_and(|found| contains(found, value, false))),
        (Value::Array(outer), Value::Array(inner)) => {
            inner.iter().all(|value| outer.iter().any(|item| contains(item, value, false)))
        }
        (Value::Array(_), Value::Object(_)) | (Value::Object(_), _) => false,
        (Value::Array(outer), scalar) => top && outer.iter().any(|item| same_scalar(item, scalar)),
        (outer, inner) => same_scalar(outer, inner),
    }
}

fn concat(left: Value, right: Value) -> Value {
    match (left, right) {
        (Value::Object(mut left), Value::Object(right)) => {
            left.extend(right);
            Value::Object(left)
        }
        (left, right) => {
            let items = |value| match value {
                Value::Array(items) => items,
                other => vec![other],
            };
            let mut all = items(left);
            all.extend(items(right));
            Value::Array(all)
        }
    }
}

fn delete_keys(value: Value, keys: &[&str]) -> SqlResult<Value> {
    match value {
        Value::Object(members) => Ok(Value::Object(
            members.into_iter().filter(|(key, _)| !keys.contains(&key.as_str())).collect(),
        )),
        Value::Array(items) => Ok(Value::Array(
            items
                .into_iter()
                .filter(|item| item.as_str().is_none_or(|item| !keys.contains(&item)))
                .collect(),
        )),
        _ => Err(invalid("cannot delete from scalar")),
    }
}

/// The place that an index means, counted from the end if negative.
fn place(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let index = if index < 0 { length.checked_add(index)? } else { index };
    if index < length { usize::try_from(index).ok() } else { None }
}

fn delete_index(value: Value, index: i64) -> SqlResult<Value> {
    match value {
        Value::Array(mut items) => {
            if let Some(place) = place(index, items.len()) {
                items.remove(place);
            }
            Ok(Value::Array(items))
        }
        Value::Object(_) => Err(invalid("cannot delete from object using integer index")),
        _ => Err(invalid("cannot delete from scalar")),
    }
}

fn delete_path(value: &mut Value, path: &[Option<&str>]) {
    let [Some(step), rest @ ..] = path else { return };
    match value {
        Value::Object(members) if rest.is_empty() => drop(members.remove(*step)),
        Value::Object(members) => {
            if let Some(inner) = members.get_mut(*step) {
                delete_path(inner, rest);
            }
        }
        Value::Array(items) => {
            let place = step.parse().ok().and_then(|index| place(index, items.len()));
            match place {
                Some(place) if rest.is_empty() => drop(items.remove(place)),
                Some(place) => delete_path(&mut items[place], rest),
                None => {}
            }
        }
        _ => {}
    }
}

/// How a path's last step changes what it leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Set { create: bool },
    Insert { after: bool },
}

fn set(row: &Row<'_>, create: bool, out: &mut Out) -> SqlResult<()> {
    change(row, Change::Set { create }, "cannot set path in scalar", out)
}

fn insert(row: &Row<'_>, after: bool, out: &mut Out) -> SqlResult<()> {
    change(row, Change::Insert { after }, "cannot set path in scalar", out)
}

fn change(row: &Row<'_>, how: Change, scalar: &str, out: &mut Out) -> SqlResult<()> {
    let mut value = parsed(row.text(0))?;
    if !matches!(value, Value::Array(_) | Value::Object(_)) {
        return Err(invalid(scalar));
    }
    put(&mut value, &row.texts(1), parsed(row.text(2))?, how, 1)?;
    written(&value, out)
}

fn put(
    value: &mut Value,
    path: &[Option<&str>],
    new: Value,
    how: Change,
    depth: usize,
) -> SqlResult<()> {
    let [Some(step), rest @ ..] = path else { return Ok(()) };
    match value {
        Value::Object(members) => put_member(members, step, rest, new, how, depth),
        Value::Array(items) => {
            let index: i64 = step.parse().map_err(|_| {
                let message =
                    format!("path element at position {depth} is not an integer: \"{step}\"");
                SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
            })?;
            match (place(index, items.len()), how) {
                (Some(place), _) if !rest.is_empty() => {
                    put(&mut items[place], rest, new, how, depth + 1)?;
                }
                (Some(place), Change::Set { .. }) => items[place] = new,
                (Some(place), Change::Insert { after }) => {
                    items.insert(place + usize::from(after), new);
                }
                (None, Change::Set { create: false }) => {}
                (None, _) if !rest.is_empty() => {}
                (None, _) if index < 0 => items.insert(0, new),
                (None, _) => items.push(new),
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn put_member(
    members: &mut Map<String, Value>,
    step: &str,
    rest: &[Option<&str>],
    new: Value,
    how: Change,
    depth: usize,
) -> SqlResult<()> {
    match (members.get_mut(step), how) {
        (Some(inner), _) if !rest.is_empty() => put(inner, rest, new, how, depth + 1),
        (None, _) if !rest.is_empty() => Ok(()),
        (Some(_), Change::Insert { .. }) => Err(invalid("cannot replace existing key")
            .hint("Try using the function jsonb_set to replace key value.")),
        (None, Change::Set { create: false }) => Ok(()),
        _ => {
            members.insert(step.to_owned(), new);
            Ok(())
        }
    }
}

fn strip_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, value| !value.is_null());
            members.values_mut().for_each(strip_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_nulls),
        _ => {}
    }
}

/// The text with a line for each member and item, four blanks deeper at each level.
fn pretty(text: &str, depth: usize, out: &mut String) {
    use super::json_text::{Kind, kind, walk};
    let (open, close, has_keys) = match kind(text) {
        Kind::Object => ('{', '}', true),
        Kind::Array => ('[', ']', false),
        _ => {
            out.push_str(text);
            return;
        }
    };
    let indent = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("    ", depth));
    };
    out.push(open);
    for (index, (key, value)) in walk(text).enumerate() {
        if index > 0 {
            out.push(',');
        }
        indent(out, depth + 1);
        if has_keys {
            out.push_str(key);
            out.push_str(": ");
        }
        pretty(value, depth + 1, out);
    }
    indent(out, depth);
    out.push(close);
}
