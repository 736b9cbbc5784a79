//! The encoder of a column.

use std::net::IpAddr;
use std::ops::Range;

use arrow::array::{Array, ArrayRef, ListArray};
use arrow::datatypes::Field;

use super::super::calendar::{POSTGRES_EPOCH_DAYS, POSTGRES_EPOCH_MICROS};
use super::super::column::{Column, Values};
use super::super::sqltype::{ALIAS_SEPARATOR, SqlType};
use super::super::text::{push_big_decimal, push_decimal, push_text};
use super::numeric;
use crate::error::{SqlError, SqlResult};

/// Writes the values of one column in PostgreSQL's binary format.
///
/// What the column is gets settled when the encoder is made; writing then appends to the caller's
/// buffer and cannot fail.
#[derive(Debug, Clone)]
pub struct BinaryEncoder {
    column: Column,
}

impl BinaryEncoder {
    /// An encoder of `array` as a column of `field`'s SQL type. The array may be in any layout
    /// that Arrow can cast to the field's.
    pub fn new(field: &Field, array: &ArrayRef) -> SqlResult<Self> {
        Self::of_type(&SqlType::of_field(field), array)
    }

    /// The same for a SQL type.
    pub fn of_type(sql_type: &SqlType, array: &ArrayRef) -> SqlResult<Self> {
        let column = Column::new(sql_type, array)?;
        check(&column)?;
        Ok(Self { column })
    }

    /// Whether the value of `row` is NULL, which has no bytes.
    pub fn is_null(&self, row: usize) -> bool {
        self.column.is_null(row)
    }

    /// Appends the value of `row`; nothing if it is NULL.
    pub fn write(&self, row: usize, out: &mut Vec<u8>) {
        if !self.column.is_null(row) {
            write_value(&self.column, row, out);
        }
    }

    /// Appends the value of `row` after its length, which is -1 for NULL.
    pub fn write_with_length(&self, row: usize, out: &mut Vec<u8>) {
        write_with_length(&self.column, row, out);
    }
}

/// Arrays of several dimensions must be rectangular, or they have no binary form.
fn check(column: &Column) -> SqlResult<()> {
    match &column.values {
        Values::List(array, items) => {
            if let Values::List(..) = items.values {
                for row in (0..array.len()).filter(|row| array.is_valid(*row)) {
                    let mut dimensions = Vec::new();
                    if !measure(array, items, row, 0, &mut dimensions) {
                        let message = "multidimensional arrays must have array expressions with \
                                       matching dimensions";
                        return Err(SqlError::new("2202E", message));
                    }
                }
            }
            check(items)
        }
        Values::Record(_, fields) => fields.iter().try_for_each(check),
        Values::Text(array) if matches!(column.sql_type, SqlType::Uuid) => {
            let is_uuid = |text: &str| text.len() == 36 && uuid_bytes(text).is_some();
            if array.iter().flatten().all(is_uuid) {
                Ok(())
            } else {
                Err(SqlError::internal("uuid column with other values"))
            }
        }
        _ => Ok(()),
    }
}

/// The length of each dimension of a list; whether all lists of one depth have the same.
fn measure(
    array: &ListArray,
    items: &Column,
    row: usize,
    depth: usize,
    dimensions: &mut Vec<usize>,
) -> bool {
    let range = range(array, row);
    match dimensions.get(depth) {
        Some(length) if *length != range.len() => return false,
        Some(_) => {}
        None => dimensions.push(range.len()),
    }
    match &items.values {
        Values::List(inner, inner_items) => range.into_iter().all(|item| {
            inner.is_valid(item) && measure(inner, inner_items, item, depth + 1, dimensions)
        }),
        _ => true,
    }
}

fn range(array: &ListArray, row: usize) -> Range<usize> {
    let offsets = array.value_offsets();
    offsets[row].unsigned_abs() as usize..offsets[row + 1].unsigned_abs() as usize
}

fn write_with_length(column: &Column, row: usize, out: &mut Vec<u8>) {
    if column.is_null(row) {
        out.extend_from_slice(&(-1_i32).to_be_bytes());
        return;
    }
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    write_value(column, row, out);
    // A value is below 2 GB, or no message could hold it.
    let length = i32::try_from(out.len() - start - 4).unwrap_or(i32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

fn write_value(column: &Column, row: usize, out: &mut Vec<u8>) {
    match &column.values {
        Values::Null => {}
        Values::Boolean(array) => out.push(u8::from(array.value(row))),
        Values::Int16(array) => out.extend_from_slice(&array.value(row).to_be_bytes()),
        Values::Int32(array) => out.extend_from_slice(&array.value(row).to_be_bytes()),
        Values::Int64(array) => {
            let bytes = array.value(row).to_be_bytes();
            // OIDs are the lower half.
            let is_wide = column.sql_type == SqlType::BigInt;
            out.extend_from_slice(if is_wide { &bytes } else { &bytes[4..] });
        }
        Values::Float32(array) => out.extend_from_slice(&array.value(row).to_be_bytes()),
        Values::Float64(array) => out.extend_from_slice(&array.value(row).to_be_bytes()),
        Values::Decimal(array) => {
            let (start, trim) = (out.len(), column.sql_type == SqlType::Numeric(None));
            push_decimal(out, array.value(row), array.scale(), trim);
            numeric::encode_in_place(out, start);
        }
        Values::BigDecimal(array) => {
            let (start, trim) = (out.len(), column.sql_type == SqlType::Numeric(None));
            push_big_decimal(out, array.value(row), array.scale(), trim);
            numeric::encode_in_place(out, start);
        }
        Values::Text(array) => write_text(&column.sql_type, array.value(row), out),
        Values::Bytes(array) => out.extend_from_slice(array.value(row)),
        Values::Date(array) => {
            let days = i64::from(array.value(row)) - POSTGRES_EPOCH_DAYS;
            out.extend_from_slice(&i32::try_from(days).unwrap_or(i32::MIN).to_be_bytes());
        }
        Values::Time(array) => out.extend_from_slice(&array.value(row).to_be_bytes()),
        Values::Timestamp(array) => {
            let micros = array.value(row).saturating_sub(POSTGRES_EPOCH_MICROS);
            out.extend_from_slice(&micros.to_be_bytes());
        }
        Values::Interval(array) => {
            let value = array.value(row);
            out.extend_from_slice(&(value.nanoseconds / 1000).to_be_bytes());
            out.extend_from_slice(&value.days.to_be_bytes());
            out.extend_from_slice(&value.months.to_be_bytes());
        }
        Values::List(array, items) => write_array(array, items, row, out),
        Values::Record(_, fields) => {
            write_length(fields.len(), out);
            for field in fields {
                out.extend_from_slice(&field.sql_type.oid().to_be_bytes());
                write_with_length(field, row, out);
            }
        }
    }
}

fn write_length(length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&i32::try_from(length).unwrap_or(i32::MAX).to_be_bytes());
}

fn write_text(sql_type: &SqlType, text: &str, out: &mut Vec<u8>) {
    match sql_type {
        SqlType::Uuid => out.extend_from_slice(&uuid_bytes(text).unwrap_or_default()),
        SqlType::Jsonb => {
            out.push(1);
            out.extend_from_slice(text.as_bytes());
        }
        SqlType::InternalChar => out.push(text.bytes().next().unwrap_or(0)),
        alias if alias.is_oid_alias() => {
            let number = text.split(ALIAS_SEPARATOR).next().and_then(|oid| oid.parse::<u32>().ok());
            out.extend_from_slice(&number.unwrap_or(0).to_be_bytes());
        }
        SqlType::Xid | SqlType::Cid => {
            out.extend_from_slice(&text.parse::<u32>().unwrap_or(0).to_be_bytes());
        }
        SqlType::Xid8 => out.extend_from_slice(&text.parse::<u64>().unwrap_or(0).to_be_bytes()),
        SqlType::Inet => write_address(text, out),
        SqlType::Int2Vector => write_vector(text, &SqlType::SmallInt, out),
        SqlType::OidVector => write_vector(text, &SqlType::Oid, out),
        _ => push_text(sql_type, text, out),
    }
}

/// Family, bits of the mask, whether it is a network, length, address.
fn write_address(text: &str, out: &mut Vec<u8>) {
    const INET: u8 = 2;
    match text.parse() {
        Ok(IpAddr::V4(address)) => {
            out.extend_from_slice(&[INET, 32, 0, 4]);
            out.extend_from_slice(&address.octets());
        }
        Ok(IpAddr::V6(address)) => {
            out.extend_from_slice(&[INET + 1, 128, 0, 16]);
            out.extend_from_slice(&address.octets());
        }
        Err(_) => {}
    }
}

fn uuid_bytes(text: &str) -> Option<[u8; 16]> {
    let mut digits = text.bytes().filter_map(|byte| char::from(byte).to_digit(16));
    let mut bytes = [0; 16];
    for byte in &mut bytes {
        *byte = u8::try_from(digits.next()? * 16 + digits.next()?).ok()?;
    }
    digits.next().is_none().then_some(bytes)
}

/// `1 2 3`, as an array that begins at 0.
fn write_vector(text: &str, element: &SqlType, out: &mut Vec<u8>) {
    let numbers: Vec<i64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    for part in [1_u32, 0, element.oid()] {
        out.extend_from_slice(&part.to_be_bytes());
    }
    write_length(numbers.len(), out);
    out.extend_from_slice(&[0; 4]);
    for number in numbers {
        let width = if *element == SqlType::SmallInt { 2 } else { 4 };
        write_length(width, out);
        out.extend_from_slice(&number.to_be_bytes()[8 - width..]);
    }
}

fn write_array(array: &ListArray, items: &Column, row: usize, out: &mut Vec<u8>) {
    let mut dimensions = Vec::new();
    measure(array, items, row, 0, &mut dimensions);
    let mut element = items;
    while let Values::List(_, inner) = &element.values {
        element = inner;
    }
    let is_empty = dimensions.contains(&0);
    let has_nulls = !is_empty && any_null(array, items, row);
    write_length(if is_empty { 0 } else { dimensions.len() }, out);
    out.extend_from_slice(&i32::from(has_nulls).to_be_bytes());
    out.extend_from_slice(&element.sql_type.oid().to_be_bytes());
    if !is_empty {
        for length in dimensions {
            write_length(length, out);
            out.extend_from_slice(&1_i32.to_be_bytes());
        }
        write_elements(array, items, row, out);
    }
}

fn any_null(array: &ListArray, items: &Column, row: usize) -> bool {
    range(array, row).any(|item| match &items.values {
        Values::List(inner, inner_items) => any_null(inner, inner_items, item),
        _ => items.is_null(item),
    })
}

fn write_elements(array: &ListArray, items: &Column, row: usize, out: &mut Vec<u8>) {
    for item in range(array, row) {
        match &items.values {
            Values::List(inner, inner_items) => write_elements(inner, inner_items, item, out),
            _ => write_with_length(items, item, out),
        }
    }
}
