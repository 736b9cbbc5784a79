//! Splits a record into its fields and undoes what protected them.

use super::options::{CopyFormat, CopyOptions};
use super::records::bad_format;
use crate::error::SqlResult;

/// A field of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// The value, without quotes and escapes.
    pub bytes: &'a [u8],
    /// CSV: whether quotes were around it, or part of it.
    pub is_quoted: bool,
    /// Whether it is what stands for NULL; in CSV, without quotes.
    pub is_null: bool,
}

/// The fields of one record. Reused from record to record, so that splitting does not allocate.
#[derive(Debug, Default)]
pub struct Fields {
    bytes: Vec<u8>,
    marks: Vec<Mark>,
}

/// Where a field ends in `bytes`; it begins where the one before it ends.
#[derive(Debug, Clone, Copy)]
struct Mark {
    end: usize,
    is_quoted: bool,
    is_null: bool,
}

impl Fields {
    /// Takes in the fields of a record of text or CSV.
    pub fn split(&mut self, record: &[u8], options: &CopyOptions) -> SqlResult<()> {
        self.bytes.clear();
        self.marks.clear();
        match options.format {
            CopyFormat::Csv => self.split_csv(record, options),
            CopyFormat::Text | CopyFormat::Binary => {
                self.split_text(record, options);
                Ok(())
            }
        }
    }

    /// How many fields there are: at least one.
    pub fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether no record was split yet.
    pub fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// A field by its number, from 0.
    pub fn get(&self, index: usize) -> Option<Field<'_>> {
        let mark = self.marks.get(index)?;
        let start = if index == 0 { 0 } else { self.marks[index - 1].end };
        let bytes = &self.bytes[start..mark.end];
        Some(Field { bytes, is_quoted: mark.is_quoted, is_null: mark.is_null })
    }

    /// All fields.
    pub fn iter(&self) -> impl Iterator<Item = Field<'_>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    fn mark(&mut self, is_quoted: bool, is_null: bool) {
        self.marks.push(Mark { end: self.bytes.len(), is_quoted, is_null });
    }

    fn split_csv(&mut self, record: &[u8], options: &CopyOptions) -> SqlResult<()> {
        let (delimiter, quote, escape) = (options.delimiter, options.quote, options.escape);
        let null = options.null.as_bytes();
        let mut rest = record;
        loop {
            let start = self.bytes.len();
            let mut is_quoted = false;
            let ended = loop {
                let run = rest.iter().position(|byte| *byte == delimiter || *byte == quote);
                let (plain, after) = rest.split_at(run.unwrap_or(rest.len()));
                self.bytes.extend_from_slice(plain);
                match after.split_first() {
                    None => break true,
                    Some((byte, after)) if *byte == delimiter => {
                        rest = after;
                        break false;
                    }
                    Some((_, after)) => {
                        is_quoted = true;
                        rest = self.unquote(after, quote, escape)?;
                    }
                }
            };
            let is_null = !is_quoted && &self.bytes[start..] == null;
            self.mark(is_quoted, is_null);
            if ended {
                return Ok(());
            }
        }
    }

    /// Takes in what follows an opening quote; gives what follows the closing one.
    fn unquote<'a>(&mut self, mut rest: &'a [u8], quote: u8, escape: u8) -> SqlResult<&'a [u8]> {
        loop {
            let run = rest.iter().position(|byte| *byte == quote || *byte == escape);
            let Some(run) = run else {
                return Err(bad_format("unterminated CSV quoted field"));
            };
            self.bytes.extend_from_slice(&rest[..run]);
            let (byte, after) = (rest[run], &rest[run + 1..]);
            match after.first() {
                Some(next) if byte == escape && (*next == quote || *next == escape) => {
                    self.bytes.push(*next);
                    rest = &after[1..];
                }
                _ if byte == quote => return Ok(after),
                _ => {
                    self.bytes.push(byte);
                    rest = after;
                }
            }
        }
    }

    fn split_text(&mut self, record: &[u8], options: &CopyOptions) {
        let delimiter = options.delimiter;
        let mut rest = record;
        loop {
            let field = rest;
            let ended = loop {
                let run = rest.iter().position(|byte| *byte == delimiter || *byte == b'\\');
                let (plain, after) = rest.split_at(run.unwrap_or(rest.len()));
                self.bytes.extend_from_slice(plain);
                rest = match after.split_first() {
                    None => {
                        rest = after;
                        break true;
                    }
                    Some((b'\\', after)) => self.unescape(after),
                    Some((_, after)) => {
                        rest = after;
                        break false;
                    }
                };
            };
            let raw = &field[..field.len() - rest.len() - usize::from(!ended)];
            if raw == options.null.as_bytes() {
                let start = self.marks.last().map_or(0, |mark| mark.end);
                self.bytes.truncate(start);
                self.mark(false, true);
            } else {
                self.mark(false, false);
            }
            if ended {
                return;
            }
        }
    }

    /// Takes in what a backslash and the bytes after it stand for; gives what follows.
    fn unescape<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        let Some((&byte, after)) = rest.split_first() else { return rest };
        let (value, length) = match byte {
            b'b' => (0x08, 1),
            b'f' => (0x0c, 1),
            b'n' => (b'\n', 1),
            b'r' => (b'\r', 1),
            b't' => (b'\t', 1),
            b'v' => (0x0b, 1),
            b'0'..=b'7' => number(rest, 8, 3),
            b'x' if after.first().is_some_and(u8::is_ascii_hexdigit) => {
                let (value, digits) = number(after, 16, 2);
                (value, digits + 1)
            }
            other => (other, 1),
        };
        self.bytes.push(value);
        &rest[length..]
    }
}

/// The number in up to `digits_max` digits at the front of `text`, and how many they are. What
/// does not fit a byte is cut off, as in PostgreSQL.
fn number(text: &[u8], radix: u32, digits_max: usize) -> (u8, usize) {
    let digits = text.iter().take(digits_max).map_while(|byte| char::from(*byte).to_digit(radix));
    let (value, count) =
        digits.fold((0, 0), |(value, count), digit| (value * radix + digit, count + 1));
    (value.to_le_bytes()[0], count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(record: &str, options: &CopyOptions) -> Result<Vec<String>, String> {
        let mut fields = Fields::default();
        fields.split(record.as_bytes(), options).map_err(|error| error.message)?;
        let show = |field: Field<'_>| {
            let text = String::from_utf8_lossy(field.bytes).into_owned();
            match (field.is_null, field.is_quoted) {
                (true, _) => "NULL".to_owned(),
                (false, true) => format!("<{text}>"),
                (false, false) => text,
            }
        };
        Ok(fields.iter().map(show).collect())
    }

    #[test]
    fn text_fields() {
        let options = CopyOptions::default();
        for (record, expected) in [
            ("", vec![""]),
            ("a\tb", vec!["a", "b"]),
            ("\\N\t\\\\N\tx\\N", vec!["NULL", "\\N", "xN"]),
            ("\t", vec!["", ""]),
            ("a\\tb\\n\\r\\b\\f\\v", vec!["a\tb\n\r\u{8}\u{c}\u{b}"]),
            ("\\101\\x41\\x4\\xg\\1011", vec!["AA\u{4}xgA1"]),
            ("a\\\tb\tc", vec!["a\tb", "c"]),
            ("a\\\nb", vec!["a\nb"]),
            ("a\\", vec!["a"]),
            ("\\.x", vec![".x"]),
        ] {
            assert_eq!(
                split(record, &options),
                Ok(expected.iter().map(|s| (*s).to_owned()).collect())
            );
        }
    }

    #[test]
    fn csv_fields() {
        let mut options = CopyOptions::of_format(CopyFormat::Csv);
        for (record, expected) in [
            ("", vec!["NULL"]),
            ("a,\"\",", vec!["a", "<>", "NULL"]),
            ("\"a\"\"b\",c", vec!["<a\"b>", "c"]),
            ("a\"b,c\"d", vec!["<ab,cd>"]),
            (" a , \"b\" ", vec![" a ", "< b >"]),
            ("\"a\nb\"", vec!["<a\nb>"]),
            ("\\N", vec!["\\N"]),
        ] {
            assert_eq!(
                split(record, &options),
                Ok(expected.iter().map(|s| (*s).to_owned()).collect())
            );
        }
        assert_eq!(split("\"a", &options), Err("unterminated CSV quoted field".into()));
        options.escape = b'\\';
        options.null = "NA".into();
        assert_eq!(
            split("NA,\"NA\",\"a\\\"b\\\\c\\d\",", &options),
            Ok(vec!["NULL".into(), "<NA>".into(), "<a\"b\\c\\d>".into(), String::new()])
        );
    }
}
