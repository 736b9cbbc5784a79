//! The order of values whose bytes are not in PostgreSQL's order: what a query sorts or compares
//! is a key of them.
//!
//! | type | key |
//! |---|---|
//! | jsonb, which lies as text | bytes (`library::json_order`) |
//! | arrays, whose NULLs are the greatest elements, whatever NULLS FIRST says | bytes |
//! | interval, of which a month is 30 days | its length |
//! | bytea, which DataFusion has no windows over | its bytes |
//!
//! Bytes are written as hexadecimal text, since there are no windows over them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringBuilder, new_null_array};
use arrow::compute::{SortOptions, cast};
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use datafusion::common::Result;
use datafusion::common::cast::{as_binary_array, as_string_array};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::library::{push_json_order, scalar_of};
use crate::types::SqlType;

const JSON: &str = "order_of_jsonb";
const ARRAY: &str = "order_of_array";
const BYTES: &str = "order_of_bytea";

/// The function that gives the key of such a type's values; `None`: they are their own.
pub fn order_function(sql_type: &SqlType) -> Option<&'static str> {
    match sql_type {
        SqlType::Jsonb => Some(JSON),
        SqlType::Array(_) => Some(ARRAY),
        SqlType::Interval => Some("interval_length"),
        _ => None,
    }
}

/// The same for what a window is ordered by.
pub fn window_order_function(sql_type: &SqlType) -> Option<&'static str> {
    match sql_type {
        SqlType::Bytea => Some(BYTES),
        other => order_function(other),
    }
}

/// The keys of a column that is collected.
pub(super) fn order_keys(values: &ArrayRef, sql_type: &SqlType) -> Result<ArrayRef> {
    match order_function(sql_type) {
        Some(JSON) => keys_of_json(values),
        Some(ARRAY) => keys_of_arrays(values),
        _ => Ok(Arc::clone(values)),
    }
}

/// All of them.
pub(super) fn all() -> Vec<ScalarUDF> {
    [(JSON, keys_of_json as Keys), (ARRAY, keys_of_arrays), (BYTES, keys_of_bytes)]
        .into_iter()
        .map(|(name, keys)| {
            let signature = Signature::any(1, Volatility::Immutable);
            ScalarUDF::from(OrderOf { name, keys: Of(keys), signature })
        })
        .collect()
}

type Keys = fn(&ArrayRef) -> Result<ArrayRef>;

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
        match &args.args[0] {
            ColumnarValue::Array(values) => (self.keys.0)(values).map(ColumnarValue::Array),
            ColumnarValue::Scalar(value) => {
                let keys = (self.keys.0)(&value.to_array()?)?;
                Ok(ColumnarValue::Scalar(scalar_of(&keys)?))
            }
        }
    }
}

fn keys_of_json(values: &ArrayRef) -> Result<ArrayRef> {
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

fn keys_of_arrays(values: &ArrayRef) -> Result<ArrayRef> {
    if values.data_type().is_null() {
        return Ok(new_null_array(&DataType::Utf8, values.len()));
    }
    let ascending = SortOptions { descending: false, nulls_first: false };
    let field = SortField::new_with_options(values.data_type().clone(), ascending);
    let rows = RowConverter::new(vec![field])?.convert_columns(std::slice::from_ref(values))?;
    let mut keys = Keyed::new(values.len());
    for (row, key) in rows.iter().enumerate() {
        keys.push(values.is_valid(row).then_some(key.data()));
    }
    Ok(keys.finish())
}

fn keys_of_bytes(values: &ArrayRef) -> Result<ArrayRef> {
    let values = cast(values, &DataType::Binary)?;
    let mut keys = Keyed::new(values.len());
    as_binary_array(&values)?.iter().for_each(|value| keys.push(value));
    Ok(keys.finish())
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
