//! JSON put together. The planner gives values as `to_json` or `to_jsonb` of what the query says,
//! and keys as text: `jsonb_agg(x)` is `jsonb_agg(to_jsonb(x))`.

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};

use super::super::library::push_json_string;
use super::Definition;
use crate::error::{SqlError, code};
use crate::types::SqlType;
use crate::types::parse::canonical_jsonb;

const fn aggregate(
    name: &'static str,
    coerce: fn(&[DataType]) -> Option<Vec<DataType>>,
    result: fn(&[FieldRef]) -> arrow::datatypes::Field,
    evaluate: fn(&[ArrayRef], &FieldRef) -> Result<ScalarValue>,
) -> Definition {
    Definition { name, coerce, result, evaluate, skips_null: false, within_group: false }
}

pub(super) const TABLE: &[Definition] = &[
    aggregate("json_agg", one, |_| SqlType::Json.field("", true), array),
    aggregate("jsonb_agg", one, |_| SqlType::Jsonb.field("", true), array),
    aggregate(
        "json_object_agg",
        two,
        |_| SqlType::Json.field("", true),
        |columns, _| {
            let text = members(columns, ["{ ", " : ", ", ", " }"])?;
            Ok(ScalarValue::Utf8(Some(text)))
        },
    ),
    aggregate(
        "jsonb_object_agg",
        two,
        |_| SqlType::Jsonb.field("", true),
        |columns, _| {
            let text = canonical_jsonb(&members(columns, ["{", ":", ",", "}"])?)?;
            Ok(ScalarValue::Utf8(String::from_utf8(text).ok()))
        },
    ),
];

fn one(given: &[DataType]) -> Option<Vec<DataType>> {
    (given.len() == 1).then(|| vec![DataType::Utf8])
}

fn two(given: &[DataType]) -> Option<Vec<DataType>> {
    (given.len() == 2).then(|| vec![DataType::Utf8, DataType::Utf8])
}

fn array(columns: &[ArrayRef], _result: &FieldRef) -> Result<ScalarValue> {
    let mut text = String::from("[");
    for (index, value) in columns[0].as_string::<i32>().iter().enumerate() {
        text.push_str(if index > 0 { ", " } else { "" });
        text.push_str(value.unwrap_or("null"));
    }
    text.push(']');
    Ok(ScalarValue::Utf8(Some(text)))
}

/// An object, with what stands at its beginning, after a key, between members, and at its end.
fn members(columns: &[ArrayRef], [begin, colon, comma, end]: [&str; 4]) -> Result<String> {
    let keys: &StringArray = columns[0].as_string::<i32>();
    let values = columns[1].as_string::<i32>();
    let mut text = String::from(begin);
    for index in 0..keys.len() {
        if keys.is_null(index) {
            let message = "field name must not be null";
            return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message).into());
        }
        text.push_str(if index > 0 { comma } else { "" });
        push_json_string(&mut text, keys.value(index));
        text.push_str(colon);
        text.push_str(if values.is_null(index) { "null" } else { values.value(index) });
    }
    text.push_str(end);
    Ok(text)
}
