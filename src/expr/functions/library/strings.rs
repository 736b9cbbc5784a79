//! Functions of text and bytes.

use std::fmt::Write;

use arrow::datatypes::DataType;

use super::function::Entry;
use super::pattern;
use super::row::{Out, Row};
use crate::error::{SqlError, SqlResult, code};
use crate::types::text::write_laid_out;
use crate::types::{LaidOut, SqlType, Values};

/// `name(arguments) -> result`, and what it does.
pub(super) const TABLE: &[Entry] = &[
    ("chr(integer) -> text", chr),
    ("?concat(variadic any) -> text", concat),
    ("?concat_ws(text, variadic any) -> text", concat_ws),
    ("?format(text, variadic any) -> text", format),
    ("initcap(text) -> text", initcap),
    ("encode(bytea, text) -> text", encode),
    ("decode(text, text) -> bytea", decode),
    ("overlay(text, text, integer) -> text", |row, out| {
        overlay(row, row.text(1).chars().count(), out)
    }),
    ("overlay(text, text, integer, integer) -> text", |row, out| {
        let length = usize::try_from(row.int(3)).map_err(|_| negative_length())?;
        overlay(row, length, out)
    }),
    ("split_part(text, text, integer) -> text", split_part),
    ("starts_with(text, text) -> boolean", |row, out| {
        out.boolean(row.text(0).starts_with(row.text(1)));
        Ok(())
    }),
    ("?array_to_string(any, text) -> text", array_to_string),
    ("?array_to_string(any, text, text) -> text", array_to_string),
    ("?string_to_array(text, text) -> text[]", string_to_array),
    ("?string_to_array(text, text, text) -> text[]", string_to_array),
    ("substr(text, integer) -> text", |row, out| substr(row, None, out)),
    ("substr(text, integer, integer) -> text", |row, out| substr(row, Some(row.int(2)), out)),
    ("substring(text, integer) -> text", |row, out| substr(row, None, out)),
    ("substring(text, integer, integer) -> text", |row, out| substr(row, Some(row.int(2)), out)),
    ("substr(bytea, integer) -> bytea", |row, out| subbytes(row, None, out)),
    ("substr(bytea, integer, integer) -> bytea", |row, out| subbytes(row, Some(row.int(2)), out)),
    ("substring(bytea, integer) -> bytea", |row, out| subbytes(row, None, out)),
    ("substring(bytea, integer, integer) -> bytea", |row, out| {
        subbytes(row, Some(row.int(2)), out)
    }),
    ("to_hex(integer) -> text", |row, out| {
        out.pieces(|text| write!(text, "{:x}", row.int(0) as i32));
        Ok(())
    }),
    ("to_hex(bigint) -> text", |row, out| {
        out.pieces(|text| write!(text, "{:x}", row.int(0)));
        Ok(())
    }),
    ("quote_ident(text) -> text", |row, out| {
        out.text(&identifier(row.text(0)));
        Ok(())
    }),
    ("quote_literal(any) -> text", |row, out| {
        out.text(&quoted(&any_text(row, 0)));
        Ok(())
    }),
    ("?quote_nullable(any) -> text", |row, out| {
        match row.is_null(0) {
            true => out.text("NULL"),
            false => out.text(&quoted(&any_text(row, 0))),
        }
        Ok(())
    }),
    ("length(any) -> integer", length),
    ("char_length(any) -> integer", length),
    ("character_length(any) -> integer", length),
    ("bit_not(integer) -> integer", |row, out| out.int(!row.int(0))),
    ("bit_not(bigint) -> bigint", |row, out| out.int(!row.int(0))),
    ("gcd(integer, integer) -> integer", |row, out| out.int(gcd(row.int(0), row.int(1)))),
    ("gcd(bigint, bigint) -> bigint", |row, out| out.int(gcd(row.int(0), row.int(1)))),
    ("lcm(integer, integer) -> integer", |row, out| out.int(lcm(row.int(0), row.int(1))?)),
    ("lcm(bigint, bigint) -> bigint", |row, out| out.int(lcm(row.int(0), row.int(1))?)),
    ("reverse(text) -> text", |row, out| {
        out.pieces(|text| row.text(0).chars().rev().try_for_each(|c| text.write_char(c)));
        Ok(())
    }),
    ("like_escaped(text, text, text) -> boolean", |row, out| like_escaped(row, "", out)),
    ("?num_nulls(variadic any) -> integer", |row, out| count_nulls(row, true, out)),
    ("?num_nonnulls(variadic any) -> integer", |row, out| count_nulls(row, false, out)),
    ("unistr(text) -> text", unistr),
];

fn chr(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let number = row.int(0);
    if number < 0 {
        let message = "character number must be positive";
        return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
    }
    if number == 0 {
        return Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, "null character not permitted"));
    }
    let character = u32::try_from(number).ok().and_then(char::from_u32).ok_or_else(|| {
        let message = format!("requested character too large for encoding: {number}");
        SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message)
    })?;
    out.text(character.encode_utf8(&mut [0; 4]));
    Ok(())
}

/// A value of any type as text.
fn any_text(row: &Row<'_>, index: usize) -> String {
    let mut text = Vec::new();
    row.write(index, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn concat(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let mut text = Vec::new();
    for index in (0..row.len()).filter(|index| !row.is_null(*index)) {
        row.write(index, &mut text);
    }
    out.encoded(&text)
}

fn concat_ws(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    if row.is_null(0) {
        out.null();
        return Ok(());
    }
    let mut text = Vec::new();
    let mut first = true;
    for index in (1..row.len()).filter(|index| !row.is_null(*index)) {
        if !first {
            text.extend_from_slice(row.text(0).as_bytes());
        }
        first = false;
        row.write(index, &mut text);
    }
    out.encoded(&text)
}

/// Text as a literal.
pub(super) fn quoted(text: &str) -> String {
    let body = text.replace('\'', "''");
    match text.contains('\\') {
        true => format!("E'{}'", body.replace('\\', "\\\\")),
        false => format!("'{body}'"),
    }
}

/// PostgreSQL's key words that cannot be a column's name unquoted.
const RESERVED: &str = " all analyse analyze and any array as asc asymmetric authorization \
    between bigint binary bit boolean both case cast char character check coalesce collate \
    collation column concurrently constraint create cross current_catalog current_date \
    current_role current_schema current_time current_timestamp current_user dec decimal \
    default deferrable desc distinct do else end except exists extract false fetch float for \
    foreign freeze from full grant greatest group grouping having ilike in initially inner \
    inout int integer intersect interval into is isnull join lateral leading least left like \
    limit localtime localtimestamp national natural nchar none normalize not notnull null \
    nullif numeric offset on only or order out outer overlaps overlay placing position \
    precision primary real references returning right row select session_user setof similar \
    smallint some substring symmetric table tablesample then time timestamp to trailing treat \
    trim true union unique user using values varchar variadic verbose when where window with \
    xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi \
    xmlroot xmlserialize xmltable ";

/// A name as SQL must write it.
fn identifier(name: &str) -> String {
    let mut characters = name.chars();
    let plain = characters.next().is_some_and(|c| c.is_ascii_lowercase() || c == '_')
        && characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    match plain && !RESERVED.contains(&format!(" {name} ")) {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('"', "\"\"")),
    }
}

fn format(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    if row.is_null(0) {
        out.null();
        return Ok(());
    }
    let invalid = |message: String| SqlError::new(code::INVALID_PARAMETER_VALUE, message);
    let mut text = String::new();
    let mut next = 1;
    let mut characters = row.text(0).chars().peekable();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        if characters.next_if_eq(&'%').is_some() {
            text.push('%');
            continue;
        }
        let mut number = digits(&mut characters);
        let mut position = None;
        if number.is_some() && characters.next_if_eq(&'$').is_some() {
            position = number.take();
        }
        let mut left = false;
        while characters.next_if_eq(&'-').is_some() {
            left = true;
        }
        let width = number.or_else(|| digits(&mut characters)).unwrap_or(0);
        let kind = characters.next().ok_or_else(|| {
            invalid("unterminated format() type specifier".to_owned())
                .hint("For a single \"%\" use \"%%\".")
        })?;
        if !matches!(kind, 's' | 'I' | 'L') {
            let message = format!("unrecognized format() type specifier \"{kind}\"");
            return Err(invalid(message).hint("For a single \"%\" use \"%%\"."));
        }
        let index = position.unwrap_or(next);
        if index == 0 {
            let message = "format specifies argument 0, but arguments are numbered from 1";
            return Err(invalid(message.to_owned()));
        }
        if index >= row.len() {
            return Err(invalid("too few arguments for format()".to_owned()));
        }
        next = index + 1;
        let value = match (kind, row.is_null(index)) {
            ('s', true) => String::new(),
            ('s', false) => any_text(row, index),
            ('L', true) => "NULL".to_owned(),
            ('L', false) => quoted(&any_text(row, index)),
            (_, true) => {
                let message = "null values cannot be formatted as an SQL identifier";
                return Err(SqlError::new("22004", message));
            }
            (_, false) => identifier(&any_text(row, index)),
        };
        match left {
            true => drop(write!(text, "{value:<width$}")),
            false => drop(write!(text, "{value:>width$}")),
        }
    }
    out.text(&text);
    Ok(())
}

fn digits(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<usize> {
    let mut number = None;
    while let Some(digit) = characters.peek().and_then(|c| c.to_digit(10)) {
        characters.next();
        let before: usize = number.unwrap_or(0);
        // No format is wider than this.
        number = Some((before * 10 + digit as usize).min(1 << 20));
    }
    number
}

fn initcap(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    out.pieces(|text| {
        let mut in_word = false;
        for character in row.text(0).chars() {
            match in_word {
                true => character.to_lowercase().try_for_each(|c| text.write_char(c))?,
                false => character.to_uppercase().try_for_each(|c| text.write_char(c))?,
            }
            in_word = character.is_alphanumeric();
        }
        Ok(())
    });
    Ok(())
}

fn unknown_encoding(name: &str) -> SqlError {
    let message = format!("unrecognized encoding: \"{name}\"");
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn encode(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    out.text(&encoded(row.bytes(0), row.text(1))?);
    Ok(())
}

/// Bytes as `hex`, `escape` or `base64` writes them.
pub fn encoded(bytes: &[u8], encoding: &str) -> SqlResult<String> {
    let mut text = String::with_capacity(bytes.len() * 2);
    match encoding.to_ascii_lowercase().as_str() {
        "hex" => text = hex::encode(bytes),
        "escape" => {
            for byte in bytes {
                match byte {
                    0 | 0x80..=0xff => drop(write!(text, "\\{byte:03o}")),
                    b'\\' => text.push_str("\\\\"),
                    other => text.push(char::from(*other)),
                }
            }
        }
        "base64" => {
            for chunk in bytes.chunks(3) {
                // Lines have 76 characters.
                if text.len() % 77 == 76 {
                    text.push('\n');
                }
                let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
                let word = byte(0) << 16 | byte(1) << 8 | byte(2);
                for place in 0..4 {
                    let sextet = (word >> (18 - 6 * place)) & 63;
                    match place > chunk.len() {
                        true => text.push('='),
                        false => text.push(char::from(BASE64[sextet as usize])),
                    }
                }
            }
        }
        _ => return Err(unknown_encoding(encoding)),
    }
    Ok(text)
}

fn decode(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let text = row.text(0);
    let invalid = |message: String| SqlError::new(code::INVALID_PARAMETER_VALUE, message);
    let mut bytes = Vec::with_capacity(text.len());
    match row.text(1).to_ascii_lowercase().as_str() {
        "hex" => {
            let mut half = None;
            for character in text.chars().filter(|c| !c.is_ascii_whitespace()) {
                let digit = character.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                let digit = digit.ok_or_else(|| {
                    invalid(format!("invalid hexadecimal digit: \"{character}\""))
                })?;
                match half.take() {
                    Some(high) => bytes.push(high << 4 | digit),
                    None => half = Some(digit),
                }
            }
            if half.is_some() {
                return Err(invalid("invalid hexadecimal data: odd number of digits".to_owned()));
            }
        }
        "escape" => decode_escape(text.as_bytes(), &mut bytes)?,
        "base64" => {
            let mut word = 0_u32;
            let mut count = 0;
            for character in text.chars().filter(|c| !c.is_ascii_whitespace() && *c != '=') {
                let sextet = BASE64.iter().position(|known| char::from(*known) == character);
                let sextet = sextet.and_then(|sextet| u32::try_from(sextet).ok());
                let sextet = sextet.ok_or_else(|| {
                    let message = format!(
                        "invalid symbol \"{character}\" found while decoding base64 sequence"
                    );
                    invalid(message)
                })?;
                word = word << 6 | sextet;
                count += 1;
                if count % 4 == 0 {
                    bytes.extend_from_slice(&word.to_be_bytes()[1..]);
                    word = 0;
                }
            }
            match count % 4 {
                0 => {}
                2 => bytes.push((word >> 4) as u8),
                3 => bytes.extend_from_slice(&((word >> 2) as u16).to_be_bytes()),
                _ => {
                    return Err(invalid("invalid base64 end sequence".to_owned()).hint(
                        "Input data is missing padding, is truncated, or is otherwise corrupted.",
                    ));
                }
            }
        }
        _ => return Err(unknown_encoding(row.text(1))),
    }
    out.bytes(&bytes);
    Ok(())
}

fn decode_escape(text: &[u8], bytes: &mut Vec<u8>) -> SqlResult<()> {
    let mut at = 0;
    while at < text.len() {
        match text[at..] {
            [b'\\', b'\\', ..] => {
                bytes.push(b'\\');
                at += 2;
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                at += 4;
            }
            [b'\\', ..] => {
                let message = "invalid input syntax for type bytea";
                return Err(SqlError::new(code::INVALID_TEXT_REPRESENTATION, message));
            }
            _ => {
                bytes.push(text[at]);
                at += 1;
            }
        }
    }
    Ok(())
}

fn negative_length() -> SqlError {
    SqlError::new("22011", "negative substring length not allowed")
}

fn overlay(row: &Row<'_>, length: usize, out: &mut Out) -> SqlResult<()> {
    let start = usize::try_from(row.int(2)).ok().filter(|start| *start > 0);
    let start = start.ok_or_else(negative_length)?;
    let text = row.text(0);
    let byte = |character: usize| text.char_indices().nth(character).map_or(text.len(), |c| c.0);
    let (head, tail) = (byte(start - 1), byte((start - 1).saturating_add(length)));
    out.pieces(|piece| {
        piece.write_str(&text[..head])?;
        piece.write_str(row.text(1))?;
        piece.write_str(&text[tail..])
    });
    Ok(())
}

fn split_part(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let (text, separator, number) = (row.text(0), row.text(1), row.int(2));
    if number == 0 {
        let message = "field position must not be zero";
        return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
    }
    if separator.is_empty() {
        out.text(if number.abs() == 1 { text } else { "" });
        return Ok(());
    }
    let index = usize::try_from(number.unsigned_abs() - 1).unwrap_or(usize::MAX);
    let part = match number > 0 {
        true => text.split(separator).nth(index),
        false => text.rsplit(separator).nth(index),
    };
    out.text(part.unwrap_or(""));
    Ok(())
}

fn array_to_string(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    if row.is_null(0) || row.is_null(1) {
        out.null();
        return Ok(());
    }
    let null = (row.len() > 2 && !row.is_null(2)).then(|| row.text(2));
    let Some((items, range)) = row.list(0) else {
        let types = [DataType::Utf8, DataType::Utf8];
        return Err(super::function::no_such("array_to_string", &types));
    };
    let mut text = Vec::new();
    let mut first = true;
    push_items(row, items, range, null, &mut first, &mut text);
    out.encoded(&text)
}

/// The items of a list, those of inner lists too, with the separator between them.
fn push_items(
    row: &Row<'_>,
    items: &LaidOut,
    range: std::ops::Range<usize>,
    null: Option<&str>,
    first: &mut bool,
    text: &mut Vec<u8>,
) {
    for item in range {
        if let Values::List(lists, inner) = &items.values {
            let bound = |at: usize| usize::try_from(lists.value_offsets()[at]).unwrap_or(0);
            push_items(row, inner, bound(item)..bound(item + 1), null, first, text);
            continue;
        }
        let is_null = items.is_null(item);
        if is_null && null.is_none() {
            continue;
        }
        if !*first {
            text.extend_from_slice(row.text(1).as_bytes());
        }
        *first = false;
        match null.filter(|_| is_null) {
            Some(null) => text.extend_from_slice(null.as_bytes()),
            None => write_laid_out(items, item, &row.style.text, text),
        }
    }
}

fn string_to_array(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    if row.is_null(0) {
        out.null();
        return Ok(());
    }
    let text = row.text(0);
    let null = (row.len() > 2 && !row.is_null(2)).then(|| row.text(2));
    let shown = |part| if Some(part) == null { None } else { Some(part) };
    if text.is_empty() {
        out.texts([]);
    } else if row.is_null(1) {
        let bounds = text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]);
        out.texts(bounds.map(shown));
    } else if row.text(1).is_empty() {
        out.texts([shown(text)]);
    } else {
        out.texts(text.split(row.text(1)).map(shown));
    }
    Ok(())
}

/// The part of `total` units that begins at the 1-based `start`: where it begins, and ends.
fn part(start: i64, length: Option<i64>, total: usize) -> SqlResult<(usize, usize)> {
    let end = match length {
        Some(length) if length < 0 => return Err(negative_length()),
        Some(length) => start.saturating_add(length),
        None => i64::MAX,
    };
    let place = |at: i64| usize::try_from((at - 1).max(0)).unwrap_or(usize::MAX).min(total);
    Ok((place(start.max(1)), place(end.max(1))))
}

fn substr(row: &Row<'_>, length: Option<i64>, out: &mut Out) -> SqlResult<()> {
    let text = row.text(0);
    let (from, to) = part(row.int(1), length, text.len())?;
    let mut places = text.char_indices().map(|(at, _)| at);
    let begin = places.nth(from).unwrap_or(text.len());
    let end = match to.checked_sub(from) {
        None | Some(0) => begin,
        Some(1) => places.next().unwrap_or(text.len()),
        Some(count) => places.nth(count - 1).unwrap_or(text.len()),
    };
    out.text(&text[begin..end]);
    Ok(())
}

fn subbytes(row: &Row<'_>, length: Option<i64>, out: &mut Out) -> SqlResult<()> {
    let bytes = row.bytes(0);
    let (from, to) = part(row.int(1), length, bytes.len())?;
    out.bytes(&bytes[from..to.max(from)]);
    Ok(())
}

fn like_escaped(row: &Row<'_>, _flags: &str, out: &mut Out) -> SqlResult<()> {
    let mut escapes = row.text(2).chars();
    let escape = escapes.next();
    if escapes.next().is_some() {
        return Err(SqlError::new("22025", "invalid escape string")
            .hint("Escape string must be empty or one character."));
    }
    out.boolean(pattern::like(row.text(0), row.text(1), escape)?);
    Ok(())
}

fn count_nulls(row: &Row<'_>, nulls: bool, out: &mut Out) -> SqlResult<()> {
    let count = (0..row.len()).filter(|index| row.is_null(*index) == nulls).count();
    out.int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Bytes, or characters but for the blanks that fill a char(n) up.
fn length(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let (column, at) = row.value(0);
    let length = match (&column.values, row.sql_type(0)) {
        (Values::Bytes(bytes), _) => bytes.value(at).len(),
        (Values::Text(texts), SqlType::Char(_)) => {
            texts.value(at).trim_end_matches(' ').chars().count()
        }
        (Values::Text(texts), _) => texts.value(at).chars().count(),
        (_, other) => {
            return Err(super::function::no_such("length", &[other.to_arrow()]));
        }
    };
    out.int(i64::try_from(length).unwrap_or(i64::MAX))
}

fn unistr(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let invalid = || SqlError::new(code::SYNTAX_ERROR, "invalid Unicode escape");
    let mut text = String::new();
    let mut rest = row.text(0);
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let (skip, count) = match after.as_bytes() {
            [b'\\', ..] => {
                text.push('\\');
                rest = &after[1..];
                continue;
            }
            [b'+', ..] => (1, 6),
            [b'u', ..] => (1, 4),
            [b'U', ..] => (1, 8),
            _ => (0, 4),
        };
        let digits = after.get(skip..skip + count).ok_or_else(invalid)?;
        let number = u32::from_str_radix(digits, 16).map_err(|_| invalid())?;
        text.push(char::from_u32(number).ok_or_else(invalid)?);
        rest = &after[skip + count..];
    }
    text.push_str(rest);
    out.text(&text);
    Ok(())
}

fn gcd(one: i64, other: i64) -> i64 {
    let (mut one, mut other) = (one.unsigned_abs(), other.unsigned_abs());
    while other != 0 {
        (one, other) = (other, one % other);
    }
    i64::try_from(one).unwrap_or(i64::MAX)
}

fn lcm(one: i64, other: i64) -> SqlResult<i64> {
    if one == 0 || other == 0 {
        return Ok(0);
    }
    let multiple = (one / gcd(one, other)).checked_mul(other).and_then(i64::checked_abs);
    multiple.ok_or_else(|| SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "bigint out of range"))
}
