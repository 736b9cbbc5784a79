//! Strings of limited length, bytea and uuid.

use super::{invalid, is_space};
use crate::error::{SqlError, SqlResult, code};

/// Bytes in a `name`: what is longer is cut.
const NAME_BYTES_MAX: usize = 63;

/// A `varchar(n)`: too long is an error, unless only blanks are too many.
pub(in super::super) fn varchar(text: &str, length: u32) -> SqlResult<&str> {
    cut(text, length, "character varying")
}

/// A `char(n)`: the same, without the blanks at its end. They count in no comparison, so they are
/// not kept; where the value is shown they are put back.
pub(in super::super) fn blank_padded(text: &str, length: u32) -> SqlResult<&str> {
    Ok(cut(text, length, "character")?.trim_end_matches(' '))
}

/// The first `length` characters of `text`: what an explicit cast leaves of it.
pub(in super::super) fn first_characters(text: &str, length: u32) -> &str {
    text.char_indices().nth(length as usize).map_or(text, |(end, _)| &text[..end])
}

/// `text`, of which only blanks may be beyond `length` characters.
fn cut<'a>(text: &'a str, length: u32, type_name: &str) -> SqlResult<&'a str> {
    let length = length as usize;
    match text.char_indices().nth(length) {
        None => Ok(text),
        Some((end, _)) if text[end..].bytes().all(|byte| byte == b' ') => Ok(&text[..end]),
        Some(_) => {
            let message = format!("value too long for type {type_name}({length})");
            Err(SqlError::new(code::STRING_DATA_RIGHT_TRUNCATION, message))
        }
    }
}

/// A `name`: at most 63 bytes, cut between characters.
pub(in super::super) fn name(text: &str) -> &str {
    let mut end = text.len().min(NAME_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A bytea in hex (`\xdeadbeef`) or escape (`a\\b\000`) form.
pub(in super::super) fn bytea(text: &str) -> SqlResult<Vec<u8>> {
    match text.strip_prefix("\\x") {
        Some(hex) => from_hex(hex),
        None => from_escaped(text),
    }
}

fn from_hex(text: &str) -> SqlResult<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut characters = text.chars();
    while let Some(first) = characters.next() {
        if u8::try_from(first).is_ok_and(is_space) {
            continue;
        }
        let high = hex_digit(first)?;
        let Some(second) = characters.next() else {
            let message = "invalid hexadecimal data: odd number of digits";
            return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
        };
        bytes.push(high << 4 | hex_digit(second)?);
    }
    Ok(bytes)
}

fn hex_digit(character: char) -> SqlResult<u8> {
    let digit = character.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    digit.ok_or_else(|| {
        let message = format!("invalid hexadecimal digit: \"{character}\"");
        SqlError::new(code::INVALID_PARAMETER_VALUE, message)
    })
}

fn from_escaped(text: &str) -> SqlResult<Vec<u8>> {
    let malformed = || {
        let message = "invalid input syntax for type bytea";
        SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest {
            [b'\\', after @ ..] => {
                bytes.push(b'\\');
                rest = after;
            }
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = after;
            }
            _ => return Err(malformed()),
        }
    }
    Ok(bytes)
}

/// A uuid in lower case with hyphens. A hyphen may stand after any group of four digits, and
/// braces around the whole.
pub(in super::super) fn uuid(text: &str) -> SqlResult<String> {
    let malformed = || invalid("uuid", text);
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}').ok_or_else(malformed)?,
        None => text,
    };
    let mut uuid = String::with_capacity(36);
    let mut digits = 0;
    let mut after_hyphen = true;
    for character in inner.chars() {
        match character {
            '-' if digits % 4 == 0 && digits < 32 && !after_hyphen => after_hyphen = true,
            _ if character.is_ascii_hexdigit() && digits < 32 => {
                if matches!(digits, 8 | 12 | 16 | 20) {
                    uuid.push('-');
                }
                uuid.push(character.to_ascii_lowercase());
                digits += 1;
                after_hyphen = false;
            }
            _ => return Err(malformed()),
        }
    }
    if digits == 32 { Ok(uuid) } else { Err(malformed()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_cut_only_where_they_are_blank() {
        assert_eq!(varchar("äbc", 3), Ok("äbc"));
        assert_eq!(varchar("abc   ", 4), Ok("abc "));
        let error = varchar("abcd", 3).expect_err("too long");
        assert_eq!(error.message, "value too long for type character varying(3)");
        assert_eq!(error.code, "22001");
        assert_eq!(blank_padded("ab", 4), Ok("ab"));
        assert_eq!(blank_padded("ab   ", 3), Ok("ab"));
        assert_eq!(
            blank_padded("abc", 2).map_err(|error| error.message),
            Err("value too long for type character(2)".into())
        );
        assert_eq!(name(&"ä".repeat(40)), "ä".repeat(31));
    }

    #[test]
    fn bytea_in_both_forms() {
        assert_eq!(bytea("\\xDE ad\n01"), Ok(vec![0xde, 0xad, 1]));
        assert_eq!(bytea("a\\\\\\001\\377é"), Ok(vec![b'a', b'\\', 1, 255, 0xc3, 0xa9]));
        assert_eq!(bytea(""), Ok(vec![]));
        for (text, message, code) in [
            ("\\xabc", "invalid hexadecimal data: odd number of digits", "22023"),
            ("\\xzz", "invalid hexadecimal digit: \"z\"", "22023"),
            ("\\xa b", "invalid hexadecimal digit: \" \"", "22023"),
            ("a\\", "invalid input syntax for type bytea", "22P02"),
            ("\\400", "invalid input syntax for type bytea", "22P02"),
        ] {
            let error = bytea(text).expect_err(text);
            assert_eq!((error.message.as_str(), error.code), (message, code));
        }
    }

    #[test]
    fn uuids_become_canonical() {
        let canonical = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11";
        for text in [
            canonical,
            "A0EEBC999C0B4EF8BB6D6BB9BD380A11",
            "{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}",
            "a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11",
        ] {
            assert_eq!(uuid(text).as_deref(), Ok(canonical));
        }
        for text in [
            "",
            "a0eebc99",
            "{a0eebc999c0b4ef8bb6d6bb9bd380a11",
            "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11-",
            "-a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11",
            " a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            "g0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        ] {
            assert_eq!(uuid(text).map_err(|error| error.code), Err("22P02"), "{text}");
        }
    }
}
