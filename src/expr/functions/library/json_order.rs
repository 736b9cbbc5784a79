//! The order of `jsonb` values, as bytes whose order it is.
//!
//! PostgreSQL's: null, strings, numbers, booleans, arrays, objects; of arrays and objects those
//! with fewer parts first, then part by part. An empty array that is all of a value comes before
//! everything else.

use super::json_text::{Kind, kind, unquoted, walk};

/// Appends the bytes for the value that `text` is.
pub(in super::super) fn push_order(text: &str, out: &mut Vec<u8>) {
    match kind(text) {
        Kind::Array if walk(text).next().is_none() => out.push(0),
        _ => push(text, out),
    }
}

fn push(text: &str, out: &mut Vec<u8>) {
    match kind(text) {
        Kind::Null => out.push(1),
        Kind::String => {
            out.push(2);
            push_string(text, out);
        }
        Kind::Number => {
            out.push(3);
            push_number(text.trim(), out);
        }
        Kind::Boolean => out.extend([4, u8::from(text.trim() == "true")]),
        container => {
            out.push(if container == Kind::Array { 5 } else { 6 });
            let count = u32::try_from(walk(text).count()).unwrap_or(u32::MAX);
            out.extend(count.to_be_bytes());
            for (key, value) in walk(text) {
                if container == Kind::Object {
                    push_string(key, out);
                }
                push(value, out);
            }
        }
    }
}

/// No string has a zero in it.
fn push_string(text: &str, out: &mut Vec<u8>) {
    out.extend(unquoted(text).bytes());
    out.push(0);
}

/// The sign, where the point is, the digits; of a negative number all of it inverted.
fn push_number(text: &str, out: &mut Vec<u8>) {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().unwrap_or(0)),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    let zeros = digits().take_while(|digit| *digit == b'0').count();
    let end = whole.len() + fraction.len();
    let after = digits().rev().take_while(|digit| *digit == b'0').count();
    if zeros == end {
        return out.push(0x80);
    }
    out.push(if negative { 0x40 } else { 0xc0 });
    let start = out.len();
    let lengths = i64::try_from(whole.len()).unwrap_or(0) - i64::try_from(zeros).unwrap_or(0);
    let place = i32::try_from(lengths + i64::from(exponent)).unwrap_or(i32::MAX);
    out.extend((place.cast_unsigned() ^ (1 << 31)).to_be_bytes());
    out.extend(digits().skip(zeros).take(end - zeros - after));
    out.push(0);
    if negative {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_in_the_order_of_values() {
        let ordered = [
            "[]",
            "null",
            r#""""#,
            r#""A""#,
            r#""a""#,
            r#""a\"""#,
            r#""ab""#,
            "-1000",
            "-10.5",
            "-10",
            "-9",
            "-0.01",
            "0",
            "0.001",
            "0.01",
            "0.9",
            "1",
            "1.05",
            "1.5",
            "2",
            "10",
            "123456789012345678901234567890",
            "false",
            "true",
            "[null]",
            "[1]",
            "[[]]",
            "[[1]]",
            "[{}]",
            "[1, 1]",
            "{}",
            r#"{"a": 1}"#,
            r#"{"a": []}"#,
            r#"{"b": null}"#,
            r#"{"a": 1, "b": 2}"#,
        ];
        let key = |text: &str| {
            let mut out = Vec::new();
            push_order(text, &mut out);
            out
        };
        for (one, other) in ordered.iter().zip(&ordered[1..]) {
            assert!(key(one) < key(other), "{one} {other}");
        }
        for same in ["1", "1.0", "1e0", "10e-1", "0.1e1"] {
            assert_eq!(key(same), key("1"), "{same}");
        }
        assert_eq!(key("-0.0"), key("0"));
    }
}
