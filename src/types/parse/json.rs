//! JSON: checked as it is for `json`, brought to PostgreSQL's canonical form for `jsonb`.
//!
//! `{"bb": 1, "a": [true, 1.50]}` is canonical when keys are there once (the last one wins), in
//! order of their length and then their bytes, numbers have no exponent, and white space is one
//! blank after `:` and `,`.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::super::text::push_plain_number;
use crate::error::{SqlError, SqlResult, code};

/// Digits before the point that a PostgreSQL numeric can have, and after it.
const WHOLE_DIGITS_MAX: i64 = 131_072;
const FRACTION_DIGITS_MAX: i64 = 16_383;

/// An error unless `text` is JSON.
pub(in super::super) fn check_json(text: &str) -> SqlResult<()> {
    serde_json::from_str::<IgnoredAny>(text).map(|_| ()).map_err(|error| malformed(&error))
}

/// Appends the canonical form of `text`.
pub(in super::super) fn jsonb(text: &str, out: &mut Vec<u8>) -> SqlResult<()> {
    let value: Value = serde_json::from_str(text).map_err(|error| malformed(&error))?;
    push_value(out, &value)
}

fn malformed(error: &serde_json::Error) -> SqlError {
    // Nested deeper than the reader's stack allows.
    if error.to_string().starts_with("recursion limit") {
        return SqlError::new("54001", "stack depth limit exceeded").detail(error.to_string());
    }
    let mut detail = format!("{error}.");
    if error.is_eof() {
        "The input string ended unexpectedly.".clone_into(&mut detail);
    } else if let Some(first) = detail.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    SqlError::new(code::INVALID_TEXT_REPRESENTATION, "invalid input syntax for type json")
        .detail(detail)
}

// Depth is bounded by the reader's limit of 128.
fn push_value(out: &mut Vec<u8>, value: &Value) -> SqlResult<()> {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => push_number(out, number.as_str())?,
        Value::String(text) => push_string(out, text)?,
        Value::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.extend_from_slice(b", ");
                }
                push_value(out, item)?;
            }
            out.push(b']');
        }
        Value::Object(members) => {
            let sorted: BTreeMap<(usize, &str), &Value> =
                members.iter().map(|(key, value)| ((key.len(), key.as_str()), value)).collect();
            out.push(b'{');
            for (index, ((_, key), value)) in sorted.into_iter().enumerate() {
                if index > 0 {
                    out.extend_from_slice(b", ");
                }
                push_string(out, key)?;
                out.extend_from_slice(b": ");
                push_value(out, value)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

/// A JSON number as a numeric: `1.50e1` is 15.0.
fn push_number(out: &mut Vec<u8>, number: &str) -> SqlResult<()> {
    let (negative, unsigned) = match number.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, number),
    };
    let overflow =
        || SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format");
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().map_err(|_| overflow())?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let length = |text: &[u8]| i64::try_from(text.len()).unwrap_or(i64::MAX);
    let point = length(whole.as_bytes()).saturating_add(exponent);
    let is_zero = digits.iter().all(|digit| *digit == b'0');
    let fraction_digits = length(&digits).saturating_sub(point);
    if (point > WHOLE_DIGITS_MAX && !is_zero) || fraction_digits > FRACTION_DIGITS_MAX {
        return Err(overflow());
    }
    push_plain_number(out, negative, &digits, if is_zero { point.min(1) } else { point });
    Ok(())
}

fn push_string(out: &mut Vec<u8>, text: &str) -> SqlResult<()> {
    if text.contains('\0') {
        return Err(SqlError::new("22P05", "unsupported Unicode escape sequence")
            .detail("\\u0000 cannot be converted to text."));
    }
    serde_json::to_writer(out, text).map_err(|error| SqlError::internal(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(text: &str) -> Result<String, SqlError> {
        let mut out = Vec::new();
        jsonb(text, &mut out).map(|()| String::from_utf8(out).expect("UTF-8"))
    }

    #[test]
    fn jsonb_is_written_as_postgresql_does() {
        for (text, expected) in [
            (
                r#" {"b":1,"aa":2,"a":{"x":[1,"y",null,true]},"b":3} "#,
                r#"{"a": {"x": [1, "y", null, true]}, "b": 3, "aa": 2}"#,
            ),
            ("[]", "[]"),
            ("{}", "{}"),
            ("1.10", "1.10"),
            ("1e2", "100"),
            ("1.50e1", "15.0"),
            ("1E-3", "0.001"),
            ("-0", "0"),
            ("-0.0", "0.0"),
            ("0e5", "0"),
            ("123456789012345678901234567890.123", "123456789012345678901234567890.123"),
            (r#""\u0041\n\"\\\/\u00e9\u001f""#, r#""A\n\"\\/é\u001f""#),
            (r#""\ud83d\ude00""#, "\"😀\""),
        ] {
            assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for (text, code) in [
            ("", "22P02"),
            ("{a: 1}", "22P02"),
            ("[1,]", "22P02"),
            ("1 2", "22P02"),
            ("nul", "22P02"),
            ("\"\\u0000\"", "22P05"),
            ("1e999999", "22003"),
        ] {
            assert_eq!(canonical(text).map_err(|error| error.code), Err(code), "{text}");
        }
        let error = check_json("{\"a\":}").expect_err("malformed");
        assert_eq!(error.message, "invalid input syntax for type json");
        assert_eq!(check_json(" {\"a\" : [1e5]} "), Ok(()));
        let deep = "[".repeat(100_000);
        assert_eq!(canonical(&deep).map_err(|error| error.code), Err("54001"));
        let deep = format!("{deep}{}", "]".repeat(100_000));
        assert_eq!(check_json(&deep), Ok(()), "checking needs no stack");
    }
}
