//! Values put together: `array_agg`, `string_agg`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, ListArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};

use super::Definition;

pub(super) const TABLE: &[Definition] = &[
    Definition {
        name: "array_agg",
        coerce: |given| (given.len() == 1).then(|| given.to_vec()),
        result: |arguments| {
            let item = arguments[0].as_ref().clone().with_name("item").with_nullable(true);
            Field::new("", DataType::List(Arc::new(item)), true)
        },
        evaluate: array,
        skips_null: false,
        within_group: false,
    },
    Definition {
        name: "string_agg",
        coerce: |given| match given {
            [DataType::Binary, _] => Some(vec![DataType::Binary, DataType::Binary]),
            [text, delimiter] if is_text(text) && is_text(delimiter) => {
                Some(vec![DataType::Utf8, DataType::Utf8])
            }
            _ => None,
        },
        result: |arguments| Field::new("", arguments[0].data_type().clone(), true),
        evaluate: string,
        skips_null: true,
        within_group: false,
    },
];

fn is_text(kind: &DataType) -> bool {
    kind.is_null() || kind.is_string()
}

fn array(columns: &[ArrayRef], result: &FieldRef) -> Result<ScalarValue> {
    let DataType::List(item) = result.data_type() else {
        return ScalarValue::try_from(result.data_type());
    };
    let offsets = OffsetBuffer::from_lengths([columns[0].len()]);
    let list = ListArray::try_new(Arc::clone(item), offsets, Arc::clone(&columns[0]), None)?;
    Ok(ScalarValue::List(Arc::new(list)))
}

/// Before each value but the first stands its own delimiter.
fn string(columns: &[ArrayRef], _result: &FieldRef) -> Result<ScalarValue> {
    if let (Some(values), Some(delimiters)) =
        (columns[0].as_binary_opt::<i32>(), columns[1].as_binary_opt::<i32>())
    {
        return Ok(ScalarValue::Binary(Some(joined(values, delimiters))));
    }
    let (values, delimiters) = (columns[0].as_string::<i32>(), columns[1].as_string::<i32>());
    let mut text = String::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 && delimiters.is_valid(index) {
            text.push_str(delimiters.value(index));
        }
        text.push_str(value.unwrap_or_default());
    }
    Ok(ScalarValue::Utf8(Some(text)))
}

fn joined(values: &BinaryArray, delimiters: &BinaryArray) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 && delimiters.is_valid(index) {
            bytes.extend_from_slice(delimiters.value(index));
        }
        bytes.extend_from_slice(value.unwrap_or_default());
    }
    bytes
}
