//! The encoder of a column.

use arrow::array::ArrayRef;
use arrow::datatypes::Field;

use super::super::column::{Column, Values};
use super::super::sqltype::{ALIAS_SEPARATOR, SqlType};
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

/// Appends a value of a column that is laid out.
pub(crate) fn write_laid_out(column: &Column, row: usize, style: &TextStyle, out: &mut Vec<u8>) {
    write_value(column, row, style, out);
}

/// A text; one of `char(n)` is kept without the blanks that it is shown with, one of an OID alias
/// type after its number.
pub(crate) fn push_text(sql_type: &SqlType, text: &str, out: &mut Vec<u8>) {
    let shown = match sql_type.is_oid_alias() {
        true => text.split_once(ALIAS_SEPARATOR).map_or(text, |(_, name)| name),
        false => text,
    };
    out.extend_from_slice(shown.as_bytes());
    if let SqlType::Char(length) = sql_type {
        let length = usize::try_from(*length).unwrap_or(usize::MAX);
        let missing = length.saturating_sub(text.chars().count());
        out.extend(std::iter::repeat_n(b' ', missing));
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
        Values::Text(array) => push_text(&column.sql_type, array.value(row), out),
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        Array, DictionaryArray, Int32Array, ListArray, NullArray, StringViewArray, StructArray,
        TimestampNanosecondArray, UInt64Array,
    };
    use arrow::buffer::OffsetBuffer;
    use arrow::compute::cast;
    use arrow::datatypes::{DataType, Fields, Int8Type, Int32Type, IntervalUnit, TimeUnit};

    use super::*;

    /// The values of a column, as text.
    fn written(field: &Field, array: &ArrayRef) -> Vec<String> {
        let encoder = TextEncoder::new(field, array, &TextStyle::default()).expect("an encoder");
        let texts = (0..array.len()).map(|row| {
            let mut out = Vec::new();
            encoder.write(row, &mut out);
            if encoder.is_null(row) {
                assert!(out.is_empty());
                out.extend_from_slice(b"<null>");
            }
            String::from_utf8(out).expect("UTF-8")
        });
        texts.collect()
    }

    fn plain(array: ArrayRef) -> Vec<String> {
        written(&Field::new("c", array.data_type().clone(), true), &array)
    }

    #[test]
    fn every_layout_that_datafusion_gives_is_written_as_its_type() {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None, Some(-1)]));
        for data_type in [DataType::Int8, DataType::Int64, DataType::Float16, DataType::Float64] {
            let array = cast(&numbers, &data_type).expect("a cast");
            assert_eq!(plain(array), ["7", "<null>", "-1"]);
        }
        let positive: ArrayRef = Arc::new(Int32Array::from(vec![90]));
        for (data_type, text) in [
            (DataType::UInt8, "90"),
            (DataType::UInt16, "90"),
            (DataType::UInt32, "90"),
            (DataType::Decimal32(9, 2), "90.00"),
            (DataType::Decimal64(18, 1), "90.0"),
            (DataType::Decimal256(76, 3), "90"),
            (DataType::Date64, "1970-01-01"),
            (DataType::Time32(TimeUnit::Second), "00:01:30"),
            (DataType::Timestamp(TimeUnit::Second, None), "1970-01-01 00:01:30"),
            (
                DataType::Timestamp(TimeUnit::Second, Some("+02:00".into())),
                "1970-01-01 00:01:30+00",
            ),
            (DataType::Duration(TimeUnit::Second), "00:01:30"),
            (DataType::Interval(IntervalUnit::YearMonth), "7 years 6 mons"),
        ] {
            let wide = if matches!(data_type, DataType::Date64 | DataType::Duration(_)) {
                cast(&positive, &DataType::Int64).expect("a cast")
            } else {
                Arc::clone(&positive)
            };
            assert_eq!(plain(cast(&wide, &data_type).expect("a cast")), [text], "{data_type}");
        }
        assert_eq!(plain(Arc::new(UInt64Array::from(vec![u64::MAX]))), ["18446744073709551615"]);
        let nanos = TimestampNanosecondArray::from(vec![1_999]);
        assert_eq!(plain(Arc::new(nanos)), ["1970-01-01 00:00:00.000001"]);
        assert_eq!(plain(Arc::new(NullArray::new(2))), ["<null>", "<null>"]);
        assert_eq!(plain(Arc::new(StringViewArray::from(vec!["a", "é"]))), ["a", "é"]);
        let dictionary: DictionaryArray<Int8Type> =
            vec![Some("x"), None, Some("x")].into_iter().collect();
        assert_eq!(plain(Arc::new(dictionary)), ["x", "<null>", "x"]);
    }

    #[test]
    fn arrays_and_records_quote_what_they_must() {
        let texts = vec![Some("a"), Some("b c"), None, Some(""), Some("null"), Some("\"\\{},()")];
        let texts: ArrayRef = Arc::new(arrow::array::StringArray::from(texts));
        let item = Arc::new(Field::new("item", DataType::Utf8, true));
        let list = |offsets: Vec<i32>, values: &ArrayRef, item: &Arc<Field>| -> ArrayRef {
            let offsets = OffsetBuffer::new(offsets.into());
            Arc::new(ListArray::new(Arc::clone(item), offsets, Arc::clone(values), None))
        };
        let lists = list(vec![0, 3, 3, 6], &texts, &item);
        let rows = [r#"{a,"b c",NULL}"#, "{}", r#"{"","null","\"\\{},()"}"#];
        assert_eq!(plain(Arc::clone(&lists)), rows);
        assert_eq!(plain(lists.slice(1, 2)), rows[1..]);
        let inner = Arc::new(Field::new("item", lists.data_type().clone(), true));
        let nested = list(vec![0, 2, 3], &lists, &inner);
        assert_eq!(plain(nested), [r#"{{a,"b c",NULL},{}}"#, r#"{{"","null","\"\\{},()"}}"#]);
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4, 5, 6]));
        let fields: Fields =
            vec![Field::new("t", DataType::Utf8, true), Field::new("n", DataType::Int32, true)]
                .into();
        let record = StructArray::new(fields, vec![texts, numbers], None);
        assert_eq!(
            plain(Arc::new(record)),
            ["(a,1)", "(\"b c\",2)", "(,3)", "(\"\",4)", "(null,5)", r#"("""\\{},()",6)"#]
        );
        let large =
            ListArray::from_iter_primitive::<Int32Type, _, _>(vec![Some(vec![Some(1), None])]);
        let large = cast(&large, &DataType::new_large_list(DataType::Int64, true)).expect("a cast");
        assert_eq!(plain(large), ["{1,NULL}"]);
    }

    #[test]
    fn the_sql_type_decides_where_arrow_has_one_layout_for_several() {
        let unscaled = arrow::array::Decimal128Array::from(vec![150, 0, -100]);
        let unscaled = unscaled.with_precision_and_scale(38, 2).expect("in range");
        let array: ArrayRef = Arc::new(unscaled);
        let bare = cast(&array, &SqlType::Numeric(None).to_arrow()).expect("a cast");
        assert_eq!(plain(bare), ["1.5", "0", "-1"]);
        assert_eq!(plain(array), ["1.50", "0.00", "-1.00"]);
        let oids: ArrayRef = Arc::new(arrow::array::Int64Array::from(vec![4_294_967_295]));
        assert_eq!(written(&SqlType::Oid.field("o", true), &oids), ["4294967295"]);
    }

    #[test]
    fn bytea_in_both_outputs() {
        for (output, text) in
            [(ByteaOutput::Hex, "\\x61005cff"), (ByteaOutput::Escape, "a\\000\\\\\\377")]
        {
            let mut out = Vec::new();
            push_bytea(&mut out, b"a\0\\\xff", output);
            assert_eq!(out, text.as_bytes());
        }
    }
}
