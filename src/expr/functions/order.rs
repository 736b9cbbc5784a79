//! The order of values whose bytes are not in PostgreSQL's order: what a query sorts or compares
//! is a key of them. Values of which PostgreSQL says that they are equal have one key.
//!
//! | type | key |
//! |---|---|
//! | jsonb, which lies as text | bytes (`library::json_order`) |
//! | arrays, by their elements' keys, NULLs the greatest, whatever NULLS FIRST says | bytes |
//! | interval, of which a month is 30 days | its length |
//! | bytea, which DataFusion has no windows over | its bytes |
//!
//! Bytes are written as hexadecimal text, since there are no windows over them.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, ListArray, StringBuilder, new_null_array,
};
use arrow::compute::{SortOptions, cast};
use arrow::datatypes::{DataType, Field, IntervalMonthDayNanoType};
use arrow::row::{RowConverter, SortField};
use datafusion::common::Result;
use datafusion::common::cast::{as_binary_array, as_string_array};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::library::{Span, push_json_order, scalar_of};
use crate::error::SqlResult;
use crate::types::SqlType;

const JSON: &str = "order_of_jsonb";
const ARRAY: &str = "order_of_array";
const JSON_ARRAY: &str = "order_of_jsonb_array";
const BYTES: &str = "order_of_bytea";
const LENGTH: &str = "interval_length";

/// The function that gives the key of such a type's values; `None`: they are their own.
pub fn order_function(sql_type: &SqlType) -> Option<&'static str> {
    match sql_type {
        SqlType::Jsonb => Some(JSON),
        // Of elements that lie as text there is no other sign.
        SqlType::Array(element) if **element == SqlType::Jsonb => Some(JSON_ARRAY),
        SqlType::Array(_) => Some(ARRAY),
        SqlType::Interval => Some(LENGTH),
        _ => None,
    }
}

/// The function that gives keys that are equal where such a type's values are; `None`: values are
/// equal that are the same.
pub fn equality_function(sql_type: &SqlType) -> Option<&'static str> {
    match sql_type {
        SqlType::Array(element) if equality_function(element).is_none() => None,
        other => order_function(other),
    }
}

/// The same for what a window is ordered by.
pub fn window_order_function(sql_type: &SqlType) -> Option<&'static str> {
    match sql_type {
        SqlType::Bytea => Some(BYTES),
        other => order_function(other),
    }
}

/// The keys of a column: of values that are collected, or must be unique.
pub(super) fn order_keys(values: &ArrayRef, sql_type: &SqlType) -> Result<ArrayRef> {
    match order_function(sql_type) {
        Some(JSON) => keys_of_json(values, sql_type),
        Some(ARRAY | JSON_ARRAY) => keys_of_arrays(values, sql_type),
        Some(LENGTH) => lengths(values),
        _ => Ok(Arc::clone(values)),
    }
}

/// The same for keys that need be equal only where values are: none is made of others.
pub fn equality_keys(values: &ArrayRef, sql_type: &SqlType) -> SqlResult<ArrayRef> {
    match equality_function(sql_type) {
        Some(_) => Ok(order_keys(values, sql_type)?),
        None => Ok(Arc::clone(values)),
    }
}

/// Arrays of the keys of arrays' elements, where these have keys.
pub(super) fn with_element_keys(values: &ArrayRef, element: &SqlType) -> Result<ArrayRef> {
    let DataType::List(item) = values.data_type() else { return Ok(Arc::clone(values)) };
    if equality_function(element).is_none() {
        return Ok(Arc::clone(values));
    }
    let list = values.as_list::<i32>();
    let keys = match item.data_type() {
        DataType::List(_) => with_element_keys(list.values(), element)?,
        _ => order_keys(list.values(), element)?,
    };
    let item = Arc::new(Field::new("item", keys.data_type().clone(), true));
    let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
    Ok(Arc::new(ListArray::try_new(item, offsets, keys, nulls)?))
}

/// All of them.
pub(super) fn all() -> Vec<ScalarUDF> {
    let all: [(_, Keys); 4] = [
        (JSON, keys_of_json),
        (ARRAY, keys_of_arrays),
        (JSON_ARRAY, |values, _| keys_of_arrays(values, &SqlType::Array(Box::new(SqlType::Jsonb)))),
        (BYTES, keys_of_bytes),
    ];
    all.into_iter()
        .map(|(name, keys)| {
            let signature = Signature::any(1, Volatility::Immutable);
            ScalarUDF::from(OrderOf { name, keys: Of(keys), signature })
        })
        .collect()
}

type Keys = fn(&ArrayRef, &SqlType) -> Result<ArrayRef>;

/// Functions are the same when their names are.
struct Of(Keys);

#[derive(Debug, PartialEq, Eq, Hash)]
struct OrderOf {
    name: &'static str,
    keys: Of,
    signature: Signature,
}

impl std::fmt::Debug for Of {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("keys")
    }
}

impl PartialEq for Of {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Of {}

impl std::hash::Hash for Of {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl ScalarUDFImpl for OrderOf {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let sql_type = SqlType::of_field(&args.arg_fields[0]);
        match &args.args[0] {
            ColumnarValue::Array(values) => {
                (self.keys.0)(values, &sql_type).map(ColumnarValue::Array)
            }
            ColumnarValue::Scalar(value) => {
                let keys = (self.keys.0)(&value.to_array()?, &sql_type)?;
                Ok(ColumnarValue::Scalar(scalar_of(&keys)?))
            }
        }
    }
}

fn keys_of_json(values: &ArrayRef, _: &SqlType) -> Result<ArrayRef> {
    let values = cast(values, &DataType::Utf8)?;
    let texts = as_string_array(&values)?;
    let mut keys = Keyed::new(texts.len());
    let mut key = Vec::new();
    for text in texts {
        key.clear();
        if let Some(text) = text {
            push_json_order(text, &mut key);
        }
        keys.push(text.map(|_| key.as_slice()));
    }
    Ok(keys.finish())
}

fn keys_of_arrays(values: &ArrayRef, sql_type: &SqlType) -> Result<ArrayRef> {
    if values.data_type().is_null() {
        return Ok(new_null_array(&DataType::Utf8, values.len()));
    }
    let values = match sql_type {
        SqlType::Array(element) => &with_element_keys(values, element)?,
        _ => values,
    };
    let ascending = SortOptions { descending: false, nulls_first: false };
    let field = SortField::new_with_options(values.data_type().clone(), ascending);
    let rows = RowConverter::new(vec![field])?.convert_columns(std::slice::from_ref(values))?;
    let mut keys = Keyed::new(values.len());
    for (row, key) in rows.iter().enumerate() {
        keys.push(values.is_valid(row).then_some(key.data()));
    }
    Ok(keys.finish())
}

fn keys_of_bytes(values: &ArrayRef, _: &SqlType) -> Result<ArrayRef> {
    let values = cast(values, &DataType::Binary)?;
    let mut keys = Keyed::new(values.len());
    as_binary_array(&values)?.iter().for_each(|value| keys.push(value));
    Ok(keys.finish())
}

fn lengths(values: &ArrayRef) -> Result<ArrayRef> {
    let Some(values) = values.as_primitive_opt::<IntervalMonthDayNanoType>() else {
        return Ok(Arc::clone(values));
    };
    let lengths = values.iter().map(|value| value.map(|value| Span::of(value).length()));
    Ok(Arc::new(lengths.collect::<Int64Array>()))
}

/// Keys that are written, as text whose order is that of the bytes.
struct Keyed {
    texts: StringBuilder,
    text: String,
}

impl Keyed {
    fn new(rows: usize) -> Self {
        Self { texts: StringBuilder::with_capacity(rows, rows * 32), text: String::new() }
    }

    fn push(&mut self, key: Option<&[u8]>) {
        self.text.clear();
        for byte in key.unwrap_or_default() {
            for digit in [byte >> 4, byte & 15] {
                self.text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
            }
        }
        self.texts.append_option(key.map(|_| self.text.as_str()));
    }

    fn finish(mut self) -> ArrayRef {
        Arc::new(self.texts.finish())
    }
}
