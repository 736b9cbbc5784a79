//! The encoder of a column.

use arrow::array::ArrayRef;
use arrow::datatypes::Field;

use super::super::SqlType;
use super::super::column::{Column, Values};
use super::style::{ByteaOutput, TextStyle};
use super::{datetime, float, interval, number, quote};
use crate::error::SqlResult;

/// Writes the values of one column as PostgreSQL's text.
///
/// What the column is gets settled when the encoder is made; [`TextEncoder::write`] then appends
/// to the caller's buffer and cannot fail.
#[derive(Debug, Clone)]
pub struct TextEncoder {
    column: Column,
    style: TextStyle,
}

impl TextEncoder {
    /// An encoder of `array` as a column of `field`'s SQL type. The array may be in any layout
    /// that Arrow can cast to the field's.
    pub fn new(field: &Field, array: &ArrayRef, style: &TextStyle) -> SqlResult<Self> {
        Self::of_type(&SqlType::of_field(field), array, style)
    }

    /// The same for a SQL type.
    pub fn of_type(sql_type: &SqlType, array: &ArrayRef, style: &TextStyle) -> SqlResult<Self> {
        Ok(Self { column: Column::new(sql_type, array)?, style: *style })
    }

    /// Whether the value of `row` is NULL, which has no text: each format marks it in its way.
    pub fn is_null(&self, row: usize) -> bool {
        self.column.is_null(row)
    }

    /// Appends the value of `row`; nothing if it is NULL.
    pub fn write(&self, row: usize, out: &mut Vec<u8>) {
        if !self.column.is_null(row) {
            write_value(&self.column, row, &self.style, out);
        }
    }
}

fn write_value(column: &Column, row: usize, style: &TextStyle, out: &mut Vec<u8>) {
    match &column.values {
        Values::Null => {}
        Values::Boolean(array) => out.push(if array.value(row) { b't' } else { b'f' }),
        Values::Int16(array) => number::push_integer(out, i64::from(array.value(row))),
        Values::Int32(array) => number::push_integer(out, i64::from(array.value(row))),
        Values::Int64(array) => number::push_integer(out, array.value(row)),
        Values::Float32(array) => {
            float::push_float(out, array.value(row), style.extra_float_digits);
        }
        Values::Float64(array) => {
            float::push_float(out, array.value(row), style.extra_float_digits);
        }
        Values::Decimal(array) => {
            let trim = column.sql_type == SqlType::Numeric(None);
            number::push_decimal(out, array.value(row), array.scale(), trim);
        }
        Values::BigDecimal(array) => {
            let trim = column.sql_type == SqlType::Numeric(None);
            number::push_big_decimal(out, array.value(row), array.scale(), trim);
        }
        Values::Text(array) => out.extend_from_slice(array.value(row).as_bytes()),
        Values::Bytes(array) => push_bytea(out, array.value(row), style.bytea_output),
        Values::Date(array) => datetime::push_date(out, i64::from(array.value(row))),
        Values::Time(array) => datetime::push_time(out, array.value(row)),
        Values::Timestamp(array) => {
            let zone = (column.sql_type == SqlType::Timestamptz).then_some(style.zone);
            datetime::push_timestamp(out, array.value(row), zone);
        }
        Values::Interval(array) => {
            let value = array.value(row);
            let micros = value.nanoseconds / 1000;
            interval::push_interval(out, value.months, value.days, micros, style.interval_style);
        }
        Values::List(array, items) => {
            let (from, to) = (array.value_offsets()[row], array.value_offsets()[row + 1]);
            let range = from.unsigned_abs() as usize..to.unsigned_abs() as usize;
            write_list(items, range, style, out);
        }
        Values::Record(_, fields) => write_record(fields, row, style, out),
    }
}

/// `{1,NULL,"a b"}`
fn write_list(items: &Column, range: std::ops::Range<usize>, style: &TextStyle, out: &mut Vec<u8>) {
    out.push(b'{');
    let first = range.start;
    for item in range {
        if item > first {
            out.push(b',');
        }
        if items.is_null(item) {
            out.extend_from_slice(b"NULL");
            continue;
        }
        let start = out.len();
        write_value(items, item, style, out);
        // An inner list is a further dimension, not an element.
        if !matches!(items.values, Values::List(..)) {
            quote::quote_element(out, start);
        }
    }
    out.push(b'}');
}

/// `(1,,"a b")`
fn write_record(fields: &[Column], row: usize, style: &TextStyle, out: &mut Vec<u8>) {
    out.push(b'(');
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        if !field.is_null(row) {
            let start = out.len();
            write_value(field, row, style, out);
            quote::quote_field(out, start);
        }
    }
    out.push(b')');
}

/// Appends bytes.
fn push_bytea(out: &mut Vec<u8>, bytes: &[u8], output: ByteaOutput) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    match output {
        ByteaOutput::Hex => {
            out.extend_from_slice(b"\\x");
            for byte in bytes {
                out.push(DIGITS[usize::from(byte >> 4)]);
                out.push(DIGITS[usize::from(byte & 15)]);
            }
        }
        ByteaOutput::Escape => {
            for byte in bytes {
                match byte {
                    b'\\' => out.extend_from_slice(b"\\\\"),
                    b' '..=b'~' => out.push(*byte),
                    _ => {
                        let octal = [byte >> 6, byte >> 3 & 7, byte & 7].map(|digit| b'0' + digit);
                        out.push(b'\\');
                        out.extend_from_slice(&octal);
                    }
                }
            }
        }
    }
}
