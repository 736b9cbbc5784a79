//! Array functions that catalog queries use. DataFusion has its own for user tables.

use super::super::{PgContext, Value};
use super::{Function, Returns, argument, lenient, strict, text_argument};
use crate::error::SqlResult;

pub(super) const FUNCTIONS: [Function; 10] = [
    strict("array_upper", (2, 2), Returns::Integer, |_, arguments| Ok(length(arguments)))
        .catalog_only(),
    strict("array_length", (2, 2), Returns::Integer, |_, arguments| Ok(length(arguments)))
        .catalog_only(),
    strict("cardinality", (1, 1), Returns::Integer, |_, arguments| {
        Ok(match length(arguments) {
            Value::Null => Value::Int(0),
            length => length,
        })
    })
    .catalog_only(),
    strict("array_lower", (2, 2), Returns::Integer, |_, arguments| {
        Ok(if length(arguments).is_null() { Value::Null } else { Value::Int(1) })
    })
    .catalog_only(),
    lenient("array_to_string", (2, 3), Returns::Text, array_to_string).catalog_only(),
    lenient("string_to_array", (2, 3), Returns::TextArray, |context, arguments| {
        if argument(arguments, 0).is_null() {
            return Ok(Value::Null);
        }
        let [text, by] = [0, 1].map(|n| text_argument(context, arguments, n));
        Ok(match (text.is_empty(), argument(arguments, 1).is_null()) {
            (true, _) => Value::list([]),
            (_, true) => Value::list(text.chars().map(|c| Value::text(c.to_string()))),
            (_, false) if by.is_empty() => Value::list([Value::text(text)]),
            (_, false) => Value::list(text.split(&by).map(Value::text)),
        })
    })
    .catalog_only(),
    lenient("array_remove", (2, 2), Returns::First, |context, arguments| {
        let Some(list) = argument(arguments, 0).as_list() else { return Ok(Value::Null) };
        let removed = argument(arguments, 1);
        let mut kept = Vec::new();
        for value in list.iter() {
            let same = match (value.is_null(), removed.is_null()) {
                (true, true) => true,
                _ => value.compare(removed, context)?.is_some_and(|order| order.is_eq()),
            };
            if !same {
                kept.push(value.clone());
            }
        }
        Ok(Value::list(kept))
    })
    .catalog_only(),
    lenient("array_append", (2, 2), Returns::First, |_, arguments| {
        let list = argument(arguments, 0).as_list().unwrap_or_default();
        let added = std::iter::once(argument(arguments, 1));
        Ok(Value::list(list.iter().chain(added).cloned()))
    })
    .catalog_only(),
    lenient("array_cat", (2, 2), Returns::First, |_, arguments| Ok(concatenate(arguments)))
        .catalog_only(),
    lenient("array_position", (2, 2), Returns::Integer, |context, arguments| {
        let list = argument(arguments, 0).as_list().unwrap_or_default();
        for (position, value) in (1..).zip(list.iter()) {
            if value.compare(argument(arguments, 1), context)?.is_some_and(|o| o.is_eq()) {
                return Ok(Value::Int(position));
            }
        }
        Ok(Value::Null)
    })
    .catalog_only(),
];

/// NULL for an empty array, as PostgreSQL has it.
fn length(arguments: &[Value]) -> Value {
    let list = argument(arguments, 0).as_list().unwrap_or_default();
    let first_dimension = arguments.len() < 2 || argument(arguments, 1).as_int() == Some(1);
    match i64::try_from(list.len()) {
        Ok(length) if length > 0 && first_dimension => Value::Int(length),
        _ => Value::Null,
    }
}

/// Two arrays, one after the other; a NULL is no array.
fn concatenate(arguments: &[Value]) -> Value {
    let [left, right] = [0, 1].map(|n| argument(arguments, n).as_list());
    match (left, right) {
        (None, None) => Value::Null,
        (left, right) => Value::list(
            left.iter()
                .chain(right.iter())
                .flat_map(|list| list.iter())
                .cloned()
                .collect::<Vec<_>>(),
        ),
    }
}

fn array_to_string(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    if argument(arguments, 1).is_null() {
        return Ok(Value::Null);
    }
    let Some(list) = argument(arguments, 0).as_list() else { return Ok(Value::Null) };
    let null_text = arguments.get(2).filter(|text| !text.is_null());
    let parts: Vec<String> = list
        .iter()
        .filter_map(|value| match (value.is_null(), null_text) {
            (true, None) => None,
            (true, Some(text)) => Some(text.to_text(context)),
            (false, _) => Some(value.to_text(context)),
        })
        .collect();
    Ok(Value::text(parts.join(&text_argument(context, arguments, 1))))
}
