//! PostgreSQL's regular expressions, SIMILAR TO and LIKE patterns as the `regex` crate has them.
//!
//! What that crate has not, back references and looking around, is refused.

use std::fmt::Write;

use regex::{Regex, RegexBuilder};

use crate::error::{SqlError, SqlResult, code};

/// Bytes that a compiled pattern may take.
const SIZE_MAX: usize = 10 << 20;

/// Compiles a pattern. Of the flags those are looked at that change how it matches.
pub(super) fn compile(pattern: &str, flags: &str) -> SqlResult<Regex> {
    let mut builder = if flags.contains('q') {
        RegexBuilder::new(&regex::escape(pattern))
    } else {
        RegexBuilder::new(&translate(pattern)?)
    };
    let mut newline = (false, true);
    for flag in flags.chars() {
        match flag {
            'i' => drop(builder.case_insensitive(true)),
            'c' => drop(builder.case_insensitive(false)),
            'n' | 'm' => newline = (true, false),
            'p' => newline = (false, false),
            'w' => newline = (true, true),
            's' => newline = (false, true),
            'x' => drop(builder.ignore_whitespace(true)),
            'g' | 't' | 'q' | 'e' | 'b' => {}
            other => {
                let message = format!("invalid regular expression option: \"{other}\"");
                return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
            }
        }
    }
    builder.multi_line(newline.0).dot_matches_new_line(newline.1).size_limit(SIZE_MAX);
    builder.build().map_err(|error| invalid(pattern, &error))
}

fn invalid(pattern: &str, error: &regex::Error) -> SqlError {
    let text = error.to_string();
    let why = if text.contains("unclosed group") || text.contains("unopened group") {
        "parentheses () not balanced"
    } else if text.contains("unclosed character class") {
        "brackets [] not balanced"
    } else if text.contains("repetition operator missing") || text.contains("repetition quantifier")
    {
        "quantifier operand invalid"
    } else if text.contains("look-around") || text.contains("backreferences") {
        return SqlError::unsupported(format!(
            "a back reference or look-around in the regular expression \"{pattern}\""
        ));
    } else {
        "invalid escape \\ sequence"
    };
    SqlError::new("2201B", format!("invalid regular expression: {why}"))
        .detail(text.lines().last().unwrap_or_default().to_owned())
}

/// A pattern of PostgreSQL's advanced form.
fn translate(pattern: &str) -> SqlResult<String> {
    let pattern = pattern.strip_prefix("***:").unwrap_or(pattern);
    if let Some(literal) = pattern.strip_prefix("***=") {
        return Ok(regex::escape(literal));
    }
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut characters = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                Some('m') => out.push_str(r"\b{start}"),
                Some('M') => out.push_str(r"\b{end}"),
                Some('y') => out.push_str(r"\b"),
                Some('Y') => out.push_str(r"\B"),
                Some('Z') => out.push_str(r"\z"),
                Some('e') => out.push_str(r"\x1B"),
                Some(escaped) if escaped.is_ascii_alphanumeric() || escaped.is_ascii() => {
                    out.push('\\');
                    out.push(escaped);
                }
                Some(escaped) => out.push(escaped),
                None => {
                    return Err(SqlError::new(
                        "2201B",
                        "invalid regular expression: invalid escape \\ sequence",
                    ));
                }
            },
            // Inside brackets these mean themselves to PostgreSQL.
            '[' if in_class && !matches!(characters.peek(), Some(':' | '.' | '=')) => {
                out.push_str(r"\[");
            }
            '[' if in_class => {
                out.push('[');
                for inner in characters.by_ref() {
                    out.push(inner);
                    if inner == ']' && out.ends_with(":]") {
                        break;
                    }
                }
            }
            '[' => {
                in_class = true;
                out.push('[');
                if characters.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                if characters.next_if_eq(&']').is_some() {
                    out.push_str(r"\]");
                }
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '&' | '~' if in_class => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

/// The pattern that a SIMILAR TO pattern is; `escape` as ESCAPE says. The part between two
/// `escape"` is a group, for `substring ... similar`.
pub(super) fn of_similar(pattern: &str, escape: Option<char>) -> String {
    let mut out = String::from("^(?:");
    let mut characters = pattern.chars();
    let mut in_class = false;
    let mut marks = 0;
    while let Some(character) = characters.next() {
        if Some(character) == escape {
            match characters.next() {
                Some('"') => {
                    out.push_str(if marks == 0 { "){1,1}?(" } else { "){1,1}(?:" });
                    marks += 1;
                }
                Some(escaped) => {
                    out.push('\\');
                    out.push(escaped);
                }
                None => {}
            }
            continue;
        }
        match character {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        match character {
            '%' if !in_class => out.push_str(".*"),
            '_' if !in_class => out.push('.'),
            '(' if !in_class => out.push_str("(?:"),
            '\\' | '.' | '^' | '$' if !in_class => {
                out.push('\\');
                out.push(character);
            }
            '\\' => out.push_str(r"\\"),
            other => out.push(other),
        }
    }
    out.push_str(")$");
    out
}

/// Whether `text` is like `pattern`. `escape` makes the next character itself.
pub(super) fn like(text: &str, pattern: &str, escape: Option<char>) -> SqlResult<bool> {
    let mut regex = String::from("^");
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        if Some(character) == escape {
            let Some(escaped) = characters.next() else {
                let message = "LIKE pattern must not end with escape character";
                return Err(SqlError::new("22025", message));
            };
            let _ = write!(regex, "{}", regex::escape(escaped.encode_utf8(&mut [0; 4])));
            continue;
        }
        match character {
            '%' => regex.push_str(".*"),
            '_' => regex.push('.'),
            other => regex.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
        }
    }
    regex.push('$');
    Ok(compile(&regex, "")?.is_match(text))
}
