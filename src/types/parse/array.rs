//! Array literals: `{1,NULL,"a b"}`, split into the texts of their elements.

use std::borrow::Cow;

use super::is_space;
use crate::error::{SqlError, SqlResult, code};

/// The elements of a one-dimensional array literal; NULL is `None`.
pub(in super::super) fn elements(text: &str) -> SqlResult<Vec<Option<Cow<'_, str>>>> {
    let mut reader = Reader { text, at: 0 };
    reader.skip_spaces();
    reader.skip_dimensions()?;
    if reader.peek() != Some(b'{') {
        let detail = "Array value must start with \"{\" or dimension information.";
        return Err(reader.malformed(detail));
    }
    reader.at += 1;
    let elements = reader.body()?;
    reader.skip_spaces();
    if reader.at < text.len() {
        return Err(reader.malformed("Junk after closing right brace."));
    }
    Ok(elements)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn malformed(&self, detail: &str) -> SqlError {
        let message = format!("malformed array literal: \"{}\"", self.text);
        SqlError::new(code::INVALID_TEXT_REPRESENTATION, message).detail(detail)
    }

    /// `[1:3]=`: allowed where the array is what it would be without.
    fn skip_dimensions(&mut self) -> SqlResult<()> {
        if self.peek() != Some(b'[') {
            return Ok(());
        }
        let rest = &self.text[self.at..];
        let bounds = rest.split_once('=').and_then(|(bounds, _)| {
            let inside = bounds.trim_end().strip_prefix('[')?.strip_suffix(']')?;
            Some((inside, bounds.len() + 1))
        });
        let Some((inside, length)) = bounds else {
            return Err(self.malformed("Missing \"=\" after array dimensions."));
        };
        let lower = inside.split_once(':').map_or("1", |(lower, _)| lower).trim();
        if lower != "1" || inside.contains(']') {
            let what = "an array with other bounds than one dimension from 1";
            return Err(SqlError::unsupported(what));
        }
        self.at += length;
        self.skip_spaces();
        Ok(())
    }

    /// What follows the opening brace, up to and with the closing one.
    fn body(&mut self) -> SqlResult<Vec<Option<Cow<'a, str>>>> {
        let mut elements = Vec::new();
        self.skip_spaces();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(elements);
        }
        loop {
            self.skip_spaces();
            elements.push(match self.peek() {
                Some(b'"') => Some(self.quoted()?),
                Some(b'{') => {
                    return Err(SqlError::unsupported("an array of more than one dimension"));
                }
                _ => self.plain()?,
            });
            self.skip_spaces();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(elements);
                }
                Some(_) => return Err(self.malformed("Unexpected array element.")),
                None => return Err(self.malformed("Unexpected end of input.")),
            }
        }
    }

    fn quoted(&mut self) -> SqlResult<Cow<'a, str>> {
        self.at += 1;
        let start = self.at;
        let mut unescaped: Option<String> = None;
        let mut copied = start;
        loop {
            match self.peek() {
                None => return Err(self.malformed("Unexpected end of input.")),
                Some(b'"') => break,
                Some(b'\\') => {
                    let text = unescaped.get_or_insert_default();
                    text.push_str(&self.text[copied..self.at]);
                    copied = self.at + 1;
                    self.at = copied + self.character_len(copied)?;
                }
                Some(_) => self.at += 1,
            }
        }
        let tail = &self.text[copied..self.at];
        self.at += 1;
        Ok(match unescaped {
            Some(text) => Cow::Owned(text + tail),
            None => Cow::Borrowed(tail),
        })
    }

    /// Bytes of the character at `at`, which a backslash protects.
    fn character_len(&self, at: usize) -> SqlResult<usize> {
        let character = self.text[at..].chars().next();
        character.map(char::len_utf8).ok_or_else(|| self.malformed("Unexpected end of input."))
    }

    /// An element without quotes, up to the next delimiter; white space at its end is not part.
    fn plain(&mut self) -> SqlResult<Option<Cow<'a, str>>> {
        let start = self.at;
        let mut end = start;
        let mut unescaped: Option<String> = None;
        let mut copied = start;
        loop {
            match self.peek() {
                None => return Err(self.malformed("Unexpected end of input.")),
                Some(b',' | b'}') => break,
                Some(b'{') => return Err(self.malformed("Unexpected \"{\" character.")),
                Some(b'"') => return Err(self.malformed("Unexpected array element.")),
                Some(b'\\') => {
                    let text = unescaped.get_or_insert_default();
                    text.push_str(&self.text[copied..self.at]);
                    copied = self.at + 1;
                    self.at = copied + self.character_len(copied)?;
                    end = self.at;
                }
                Some(byte) => {
                    self.at += 1;
                    if !is_space(byte) {
                        end = self.at;
                    }
                }
            }
        }
        if end == start {
            let found = if self.peek() == Some(b',') { "," } else { "}" };
            return Err(self.malformed(&format!("Unexpected \"{found}\" character.")));
        }
        let tail = &self.text[copied..end];
        Ok(match unescaped {
            Some(text) => Some(Cow::Owned(text + tail)),
            None if tail.eq_ignore_ascii_case("null") => None,
            None => Some(Cow::Borrowed(tail)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_unquoted() {
        for (text, expected) in [
            ("{}", vec![]),
            (" { } ", vec![]),
            ("{1,2, NULL ,null}", vec![Some("1"), Some("2"), None, None]),
            ("{\"NULL\",a b ,\"\"}", vec![Some("NULL"), Some("a b"), Some("")]),
            (r#"{"a\"b\\",\{x\,y}"#, vec![Some("a\"b\\"), Some("{x,y")]),
            (r#"{"ä\ö,{}"}"#, vec![Some("äö,{}")]),
            ("[1:2]={1,2}", vec![Some("1"), Some("2")]),
        ] {
            let read = elements(text).expect(text);
            let read: Vec<Option<&str>> = read.iter().map(Option::as_deref).collect();
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn malformed_literals_say_why() {
        for (text, detail) in [
            ("1,2", "Array value must start with \"{\" or dimension information."),
            ("", "Array value must start with \"{\" or dimension information."),
            ("{1,2", "Unexpected end of input."),
            ("{\"a", "Unexpected end of input."),
            ("{1,2}}", "Junk after closing right brace."),
            ("{1,,2}", "Unexpected \",\" character."),
            ("{1,}", "Unexpected \"}\" character."),
            ("{a\"b\"}", "Unexpected array element."),
            ("{\"a\"b}", "Unexpected array element."),
            ("{a\\", "Unexpected end of input."),
        ] {
            let error = elements(text).expect_err(text);
            assert_eq!(error.message, format!("malformed array literal: \"{text}\""));
            assert_eq!((error.detail.as_deref(), error.code), (Some(detail), "22P02"), "{text}");
        }
        for text in ["{{1},{2}}", "[0:1]={1,2}", "[1:1][1:1]={{1}}"] {
            assert_eq!(elements(text).map_err(|error| error.code), Err("0A000"), "{text}");
        }
    }
}
