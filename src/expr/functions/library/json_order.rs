//! PostgreSQL's order of `jsonb`: `jsonb_order(j)` is bytes that are ordered as the values are.
//!
//! ```text
//! object > array > boolean > number > string > null
//! of two objects, and of two arrays, the one with more members or items is greater; then keys and
//! values, or items, are compared one after the other
//! ```
//!
//! A scalar is compared with an array as if it were one of one item, and then is less: so it is not
//! with an empty one.

use super::function::Entry;
use super::json_text::{self as parts, Kind};
use super::row::{Out, Row};
use crate::error::SqlResult;

/// `name(arguments) -> result`, and what it does.
pub(super) const TABLE: &[Entry] = &[("jsonb_order(jsonb) -> bytea", order)];

const NULL: u8 = 0;
const STRING: u8 = 1;
const NUMBER: u8 = 2;
const BOOLEAN: u8 = 3;
const ARRAY: u8 = 4;
const OBJECT: u8 = 5;

fn order(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let text = row.text(0);
    let mut bytes = Vec::with_capacity(text.len() + 8);
    match parts::kind(text) {
        Kind::Object => push(&mut bytes, text),
        Kind::Array => {
            bytes.push(ARRAY);
            push_count(&mut bytes, parts::walk(text).count());
            // After the one item that a scalar is.
            bytes.push(1);
            parts::walk(text).for_each(|(_, item)| push(&mut bytes, item));
        }
        _ => {
            bytes.push(ARRAY);
            push_count(&mut bytes, 1);
            bytes.push(0);
            push(&mut bytes, text);
        }
    }
    out.bytes(&bytes);
    Ok(())
}

// Depth is bounded: the text was read by a reader that is.
fn push(bytes: &mut Vec<u8>, text: &str) {
    match parts::kind(text) {
        Kind::Null => bytes.push(NULL),
        Kind::String => {
            bytes.push(STRING);
            push_string(bytes, text);
        }
        Kind::Number => {
            bytes.push(NUMBER);
            push_number(bytes, text.trim());
        }
        Kind::Boolean => bytes.extend([BOOLEAN, u8::from(text.trim() == "true")]),
        Kind::Array => {
            bytes.push(ARRAY);
            push_count(bytes, parts::walk(text).count());
            parts::walk(text).for_each(|(_, item)| push(bytes, item));
        }
        Kind::Object => {
            bytes.push(OBJECT);
            push_count(bytes, parts::walk(text).count());
            for (key, value) in parts::walk(text) {
                push_string(bytes, key);
                push(bytes, value);
            }
        }
    }
}

fn push_count(bytes: &mut Vec<u8>, count: usize) {
    bytes.extend(u32::try_from(count).unwrap_or(u32::MAX).to_be_bytes());
}

/// A string has no byte 0, which ends it here.
fn push_string(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend(parts::unquoted(text).as_bytes());
    bytes.push(0);
}

/// Sign, place of the first digit, digits; those of a negative number turned over.
fn push_number(bytes: &mut Vec<u8>, text: &str) {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, text),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let all = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    if digits.is_empty() {
        bytes.push(1);
        return;
    }
    bytes.push(if negative { 0 } else { 2 });
    let length = |text: &str| i32::try_from(text.len()).unwrap_or(i32::MAX);
    let place = length(whole) - (length(&all) - length(digits));
    let start = bytes.len();
    bytes.extend((place.cast_unsigned() ^ (1 << 31)).to_be_bytes());
    bytes.extend(digits.trim_end_matches('0').as_bytes());
    bytes.push(0);
    if negative {
        bytes[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_order() {
        let numbers =
            ["-100", "-20", "-2.5", "-2", "-0.5", "-0.05", "0", "0.05", "0.5", "2", "2.5", "20"];
        let key = |number: &str| {
            let mut bytes = Vec::new();
            push_number(&mut bytes, number);
            bytes
        };
        assert!(numbers.is_sorted_by(|one, other| key(one) < key(other)));
    }
}
