//! The literals of `sql-tests/values`, held against what PostgreSQL 15 made of them.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, ListArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{DataType, Field, Fields};

use super::BinaryEncoder;
use crate::error::SqlResult;
use crate::types::text::{TextEncoder, TextStyle};
use crate::types::{ColumnBuilder, InputStyle, SqlType};

/// `type <tab> literal <tab> outcome`, where the outcome is `OK <tab> text <tab> binary` or
/// `SQLSTATE <tab> message`.
const POSTGRES: &str = include_str!("../../../sql-tests/values/postgres15.txt");

fn text(sql_type: &SqlType, array: &ArrayRef) -> SqlResult<String> {
    let mut out = Vec::new();
    TextEncoder::of_type(sql_type, array, &TextStyle::default())?.write(0, &mut out);
    Ok(String::from_utf8(out).expect("UTF-8"))
}

fn binary(sql_type: &SqlType, array: &ArrayRef) -> SqlResult<Vec<u8>> {
    let mut out = Vec::new();
    BinaryEncoder::of_type(sql_type, array)?.write(0, &mut out);
    Ok(out)
}

fn read(
    sql_type: &SqlType,
    append: impl Fn(&mut ColumnBuilder) -> SqlResult<()>,
) -> SqlResult<ArrayRef> {
    let mut builder = ColumnBuilder::new(sql_type, &InputStyle::default())?.cutting();
    append(&mut builder)?;
    Ok(builder.finish())
}

#[test]
fn values_are_read_and_written_as_postgresql_does() {
    let mut cases = 0;
    for line in POSTGRES.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, literal, outcome, first, rest @ ..] = fields.as_slice() else {
            panic!("a line of other fields: {line}");
        };
        let sql_type = SqlType::parse(name).expect(name);
        let value = read(&sql_type, |builder| builder.append_text(literal));
        cases += 1;
        if *outcome != "OK" {
            let error = value.expect_err(line);
            assert_eq!((error.code, error.message.as_str()), (*outcome, *first), "{line}");
            continue;
        }
        let value = value.expect(line);
        if matches!(sql_type, SqlType::Real | SqlType::Double) && *literal == "-0" {
            // There is one zero: `key::canonical`.
            assert_eq!(text(&sql_type, &value).as_deref(), Ok("0"));
            continue;
        }
        assert_eq!(text(&sql_type, &value).as_deref(), Ok(*first), "{line}");
        let bytes = binary(&sql_type, &value).expect(line);
        assert_eq!(rest, [hex::encode(&bytes)], "{line}");
        // And back, both ways, to the same value.
        let again = read(&sql_type, |builder| builder.append_binary(&bytes));
        assert_eq!(again.as_ref(), Ok(&value), "{line}");
        let again = read(&sql_type, |builder| builder.append_text(first));
        assert_eq!(again, Ok(value), "{line}");
    }
    assert!(cases > 800, "{cases} cases");
}

#[test]
fn malformed_bytes_are_refused() {
    for (name, bytes, code, message) in [
        ("integer", &b"\0\0\0"[..], "08P01", "insufficient data left in message"),
        ("integer", b"\0\0\0\0\0", "22P03", "incorrect binary data format"),
        ("boolean", b"", "08P01", "insufficient data left in message"),
        (
            "numeric",
            b"\0\x01\0\0\0\0\0\0\x27\x10",
            "22P03",
            "invalid digit in external \"numeric\" value",
        ),
        ("numeric", b"\0\0\0\0\x12\x34\0\0", "22P03", "invalid sign in external \"numeric\" value"),
        ("numeric", b"\0\x02\0\0\0\0\0\0\0\x01", "08P01", "insufficient data left in message"),
        ("numeric(4,2)", b"\0\x01\0\0\0\0\0\0\0\x64", "22003", "numeric field overflow"),
        ("numeric", b"\0\0\0\0\xc0\0\0\0", "0A000", "numeric NaN or infinity is not supported"),
        ("text", b"a\xff", "22021", "invalid byte sequence for encoding \"UTF8\": 0xff"),
        ("jsonb", b"\x02{}", "XX000", "unsupported jsonb version number 2"),
        ("date", b"\x7f\xff\xff\xff", "0A000", "date infinity is not supported"),
        ("time", b"\xff\xff\xff\xff\xff\xff\xff\xff", "22008", "time out of range"),
        ("timestamp", b"\x7f\xff\xff\xff\xff\xff\xff\xfe", "22008", "timestamp out of range"),
        (
            "integer[]",
            b"\0\0\0\x01\0\0\0\0\0\0\0\x19",
            "42804",
            "binary data has array element type 25 (text) instead of expected 23 (integer)",
        ),
        (
            "integer[]",
            b"\0\0\0\x01\0\0\0\0\0\0\0\x17\x7f\xff\xff\xff\0\0\0\x01",
            "08P01",
            "insufficient data left in message",
        ),
        ("uuid", b"abc", "08P01", "insufficient data left in message"),
    ] {
        let sql_type = SqlType::parse(name).expect(name);
        let error = read(&sql_type, |builder| builder.append_binary(bytes)).expect_err(message);
        assert_eq!((error.code, error.message.as_str()), (code, message));
    }
}

#[test]
fn dimensions_and_records() {
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
    let list = |offsets: Vec<i32>, values: &ArrayRef| -> ArrayRef {
        let item = Arc::new(Field::new("item", values.data_type().clone(), true));
        let offsets = OffsetBuffer::new(offsets.into());
        Arc::new(ListArray::new(item, offsets, Arc::clone(values), None))
    };
    let array_type = SqlType::Array(Box::new(SqlType::Integer));
    let square = list(vec![0, 2], &list(vec![0, 2, 4], &numbers));
    // As `SELECT array_send('{{1,2},{3,4}}'::integer[])` gives it.
    assert_eq!(
        binary(&array_type, &square).map(hex::encode).as_deref(),
        Ok("000000020000000000000017000000020000000100000002000000010000000400000001000000040000\
            0002000000040000000300000004 00000004"
            .replace(' ', "")
            .as_str())
    );
    let ragged = list(vec![0, 2], &list(vec![0, 3, 4], &numbers));
    assert_eq!(binary(&array_type, &ragged).map_err(|error| error.code), Err("2202E"));
    let fields: Fields = vec![Field::new("n", DataType::Int32, true)].into();
    let record: ArrayRef = Arc::new(StructArray::new(fields, vec![numbers], None));
    assert_eq!(
        binary(&SqlType::Record, &record).map(hex::encode).as_deref(),
        Ok("00000001000000170000000400000001")
    );
}
