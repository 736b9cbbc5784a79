//! Functions and operators of regular expressions and of SIMILAR TO.

use regex::{Captures, Regex};

use super::function::Entry;
use super::pattern;
use super::row::{Out, Row};
use crate::error::{SqlError, SqlResult, code};

/// `name(arguments) -> result`, and what it does.
pub(super) const TABLE: &[Entry] = &[
    ("regex_matches(text, text) -> boolean", |row, out| {
        out.boolean(row.regex(row.text(1), "")?.is_match(row.text(0)));
        Ok(())
    }),
    ("regex_matches_any_case(text, text) -> boolean", |row, out| {
        out.boolean(row.regex(row.text(1), "i")?.is_match(row.text(0)));
        Ok(())
    }),
    ("similar_to(text, text) -> boolean", |row, out| similar(row, Some('\\'), out)),
    ("similar_to(text, text, text) -> boolean", |row, out| {
        similar(row, row.text(2).chars().next(), out)
    }),
    ("substring(text, text) -> text", |row, out| {
        let regex = row.regex(row.text(1), "")?;
        first_group(regex.captures(row.text(0)), out)
    }),
    ("substring(text, text, text) -> text", |row, out| {
        let escape = row.text(2).chars().next();
        let regex = row.regex(&pattern::of_similar(row.text(1), escape), "")?;
        first_group(regex.captures(row.text(0)), out)
    }),
    ("regexp_like(text, text) -> boolean", |row, out| like(row, "", out)),
    ("regexp_like(text, text, text) -> boolean", |row, out| like(row, row.text(2), out)),
    ("regexp_match(text, text) -> text[]", |row, out| groups(row, "", out)),
    ("regexp_match(text, text, text) -> text[]", |row, out| {
        if row.text(2).contains('g') {
            let message = "regexp_match() does not support the \"global\" option";
            return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message)
                .hint("Use the regexp_matches function instead."));
        }
        groups(row, row.text(2), out)
    }),
    ("regexp_replace(text, text, text) -> text", |row, out| replace(row, "", 1, 1, out)),
    ("regexp_replace(text, text, text, text) -> text", |row, out| {
        let flags = row.text(3);
        let nth = if flags.contains('g') { 0 } else { 1 };
        replace(row, flags, 1, nth, out)
    }),
    ("regexp_replace(text, text, text, integer) -> text", |row, out| {
        replace(row, "", row.int(3), 1, out)
    }),
    ("regexp_replace(text, text, text, integer, integer) -> text", |row, out| {
        replace(row, "", row.int(3), row.int(4), out)
    }),
    ("regexp_replace(text, text, text, integer, integer, text) -> text", |row, out| {
        replace(row, row.text(5), row.int(3), row.int(4), out)
    }),
    ("regexp_split_to_array(text, text) -> text[]", |row, out| split(row, "", out)),
    ("regexp_split_to_array(text, text, text) -> text[]", |row, out| split(row, row.text(2), out)),
    ("regexp_count(text, text) -> integer", |row, out| count(row, 1, "", out)),
    ("regexp_count(text, text, integer) -> integer", |row, out| count(row, row.int(2), "", out)),
    ("regexp_count(text, text, integer, text) -> integer", |row, out| {
        count(row, row.int(2), row.text(3), out)
    }),
    ("regexp_instr(text, text) -> integer", place),
    ("regexp_instr(text, text, integer) -> integer", place),
    ("regexp_instr(text, text, integer, integer) -> integer", place),
    ("regexp_instr(text, text, integer, integer, integer) -> integer", place),
    ("regexp_instr(text, text, integer, integer, integer, text) -> integer", place),
    ("regexp_instr(text, text, integer, integer, integer, text, integer) -> integer", place),
    ("regexp_substr(text, text) -> text", part),
    ("regexp_substr(text, text, integer) -> text", part),
    ("regexp_substr(text, text, integer, integer) -> text", part),
    ("regexp_substr(text, text, integer, integer, text) -> text", part),
    ("regexp_substr(text, text, integer, integer, text, integer) -> text", part),
];

fn similar(row: &Row<'_>, escape: Option<char>, out: &mut Out) -> SqlResult<()> {
    let regex = row.regex(&pattern::of_similar(row.text(1), escape), "")?;
    out.boolean(regex.is_match(row.text(0)));
    Ok(())
}

/// The first group of a match, or the whole where there are no groups.
fn first_group(found: Option<Captures<'_>>, out: &mut Out) -> SqlResult<()> {
    let part = found.and_then(|found| if found.len() > 1 { found.get(1) } else { found.get(0) });
    match part {
        Some(part) => out.text(part.as_str()),
        None => out.null(),
    }
    Ok(())
}

fn like(row: &Row<'_>, flags: &str, out: &mut Out) -> SqlResult<()> {
    out.boolean(row.regex(row.text(1), flags)?.is_match(row.text(0)));
    Ok(())
}

fn groups(row: &Row<'_>, flags: &str, out: &mut Out) -> SqlResult<()> {
    let regex = row.regex(row.text(1), flags)?;
    match regex.captures(row.text(0)) {
        None => out.null(),
        Some(found) => {
            let skipped = usize::from(found.len() > 1);
            out.texts(found.iter().skip(skipped).map(|part| part.map(|part| part.as_str())));
        }
    }
    Ok(())
}

fn not_positive(name: &str, value: i64) -> SqlError {
    let message = format!("invalid value for parameter \"{name}\": {value}");
    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
}

/// Where the 1-based character `start` is.
fn offset(text: &str, start: i64) -> SqlResult<usize> {
    let start = usize::try_from(start).ok().filter(|start| *start > 0);
    let start = start.ok_or_else(|| not_positive("start", 0))?;
    Ok(text.char_indices().nth(start - 1).map_or(text.len(), |(at, _)| at))
}

/// Replaces match number `nth` from character `start`; 0: all of them.
fn replace(row: &Row<'_>, flags: &str, start: i64, nth: i64, out: &mut Out) -> SqlResult<()> {
    if start < 1 {
        return Err(not_positive("start", start));
    }
    let nth = usize::try_from(nth).map_err(|_| not_positive("n", nth))?;
    let (text, with) = (row.text(0), row.text(2));
    let regex = row.regex(row.text(1), flags)?;
    let from = offset(text, start)?;
    out.pieces(|piece| {
        let mut end = 0;
        for (index, found) in regex.captures_iter(&text[from..]).enumerate() {
            let Some(whole) = found.get(0) else { continue };
            if nth > 0 && index + 1 != nth {
                continue;
            }
            piece.write_str(&text[end..from + whole.start()])?;
            expand(with, &found, piece)?;
            end = from + whole.end();
        }
        piece.write_str(&text[end..])
    });
    Ok(())
}

/// Writes the replacement: `\1` is a group, `\&` the whole match, `\\` a backslash.
fn expand(with: &str, found: &Captures<'_>, out: &mut dyn std::fmt::Write) -> std::fmt::Result {
    let mut characters = with.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.write_char(character)?;
            continue;
        }
        let group = match characters.next() {
            Some('&') => Some(0),
            Some(digit @ '1'..='9') => digit.to_digit(10).and_then(|d| usize::try_from(d).ok()),
            Some('\\') | None => {
                out.write_char('\\')?;
                continue;
            }
            Some(other) => {
                out.write_char('\\')?;
                out.write_char(other)?;
                continue;
            }
        };
        if let Some(part) = group.and_then(|group| found.get(group)) {
            out.write_str(part.as_str())?;
        }
    }
    Ok(())
}

fn split(row: &Row<'_>, flags: &str, out: &mut Out) -> SqlResult<()> {
    let text = row.text(0);
    let regex = row.regex(row.text(1), flags)?;
    let mut parts = Vec::new();
    let mut begin = 0;
    for found in regex.find_iter(text) {
        // An empty match at either end splits nothing off.
        let splits = !found.is_empty() || (found.start() > begin && found.end() < text.len());
        if splits {
            parts.push(Some(&text[begin..found.start()]));
            begin = found.end();
        }
    }
    parts.push(Some(&text[begin..]));
    out.texts(parts);
    Ok(())
}

fn count(row: &Row<'_>, start: i64, flags: &str, out: &mut Out) -> SqlResult<()> {
    let regex = row.regex(row.text(1), flags)?;
    let from = offset(row.text(0), start)?;
    out.int(i64::try_from(regex.find_iter(&row.text(0)[from..]).count()).unwrap_or(i64::MAX))
}

/// An optional whole number among the arguments.
fn option(row: &Row<'_>, index: usize, otherwise: i64) -> i64 {
    if index < row.len() { row.int(index) } else { otherwise }
}

fn nth_match<'t>(
    regex: &Regex,
    text: &'t str,
    from: usize,
    nth: i64,
) -> SqlResult<Option<Captures<'t>>> {
    let nth = usize::try_from(nth).ok().filter(|nth| *nth > 0);
    let nth = nth.ok_or_else(|| not_positive("n", 0))?;
    Ok(regex.captures_iter(&text[from..]).nth(nth - 1))
}

/// `regexp_instr(text, pattern, start, n, end, flags, group)`.
fn place(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let text = row.text(0);
    let regex = row.regex(row.text(1), if row.len() > 5 { row.text(5) } else { "" })?;
    let from = offset(text, option(row, 2, 1))?;
    let group = usize::try_from(option(row, 6, 0)).map_err(|_| not_positive("subexpr", -1))?;
    let found = nth_match(&regex, text, from, option(row, 3, 1))?;
    let part = found.and_then(|found| found.get(group));
    let at = part.map(|part| {
        let end = option(row, 4, 0) == 1;
        let byte = from + if end { part.end() } else { part.start() };
        text[..byte].chars().count() + 1
    });
    out.int(at.and_then(|at| i64::try_from(at).ok()).unwrap_or(0))
}

/// `regexp_substr(text, pattern, start, n, flags, group)`.
fn part(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let text = row.text(0);
    let regex = row.regex(row.text(1), if row.len() > 4 { row.text(4) } else { "" })?;
    let from = offset(text, option(row, 2, 1))?;
    let group = usize::try_from(option(row, 5, 0)).map_err(|_| not_positive("subexpr", -1))?;
    let found = nth_match(&regex, text, from, option(row, 3, 1))?;
    match found.and_then(|found| found.get(group)) {
        Some(part) => out.text(part.as_str()),
        None => out.null(),
    }
    Ok(())
}
