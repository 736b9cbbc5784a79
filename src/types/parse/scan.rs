//! The pieces of a date or time: what stands between blanks, commas and changes of alphabet.

use super::is_space;

/// A piece of a date or time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// `20200102`, `5`, `030405.678`
    Number(&'a str),
    /// `2020-01-02`, `1/2/2020`, `02-Jan-2020`, `Jan-02-2020`
    Date(&'a str, char),
    /// `03:04:05.678`
    Clock(&'a str),
    /// `+05:30`, `-08`
    Offset(&'a str),
    /// `January`, `UTC`, `America/New_York`, `UTC+3`
    Word(&'a str),
    /// The number of a Julian day.
    Julian(&'a str),
    /// Nothing that a date or time has.
    Other,
}

/// Reads pieces from the front of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanner<'a> {
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// The next piece. After a date, a hyphen at a number begins an offset.
    pub(super) fn next(&mut self, after_date: bool) -> Option<Piece<'a>> {
        self.rest = self.rest.trim_start_matches(|c| c == ',' || is_blank(c));
        let first = self.rest.chars().next()?;
        Some(match first {
            '0'..='9' => self.number(after_date),
            '+' | '-' => {
                let length = 1 + span(&self.rest[1..], |c| c.is_ascii_digit() || c == ':');
                Piece::Offset(self.take(length))
            }
            _ if first.is_ascii_alphabetic() => self.word(),
            _ => {
                self.take(first.len_utf8());
                Piece::Other
            }
        })
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (piece, rest) = self.rest.split_at(length);
        self.rest = rest;
        piece
    }

    fn number(&mut self, after_date: bool) -> Piece<'a> {
        let is_digit = |c: char| c.is_ascii_digit();
        let digits = span(self.rest, is_digit);
        match self.rest[digits..].chars().next() {
            Some(':') => {
                let length = span(self.rest, |c| c.is_ascii_digit() || c == ':' || c == '.');
                Piece::Clock(self.take(length))
            }
            Some(separator @ ('-' | '/')) if !after_date => {
                let length = span(self.rest, |c| c.is_ascii_alphanumeric() || c == separator);
                // `2020-01-02T03:04` ends before the T.
                let date = &self.rest[..length];
                let third = date.match_indices(separator).nth(1).map(|(at, _)| at + 1);
                let end = third.map_or(length, |at| at + span(&date[at..], is_digit));
                // A fourth part makes it no date.
                let is_date = !self.rest[end..].starts_with(separator);
                let end = if is_date { end } else { length };
                Piece::Date(self.take(end), separator)
            }
            Some('.') => {
                let second = digits + 1 + span(&self.rest[digits + 1..], is_digit);
                if !after_date && self.rest[second..].starts_with('.') {
                    let end = second + 1 + span(&self.rest[second + 1..], is_digit);
                    return Piece::Date(self.take(end), '.');
                }
                Piece::Number(self.take(second))
            }
            _ => Piece::Number(self.take(digits)),
        }
    }

    fn word(&mut self) -> Piece<'a> {
        let letters = span(self.rest, |c| c.is_ascii_alphabetic());
        let after = self.rest[letters..].chars().next();
        let is_one_letter = |letter: &str| self.rest[..letters].eq_ignore_ascii_case(letter);
        match after {
            // `T03:04` after a date, `J2451545`.
            Some('0'..='9') if is_one_letter("t") => {
                self.take(letters);
                self.number(true)
            }
            Some('0'..='9') if is_one_letter("j") => {
                self.take(letters);
                let digits = span(self.rest, |c| c.is_ascii_digit());
                Piece::Julian(self.take(digits))
            }
            Some('/' | '_' | '+' | '0'..='9') => self.zone_name(),
            // `Jan-02-2020` is a date, `PST-8` a zone.
            Some('-') if month(&self.rest[..letters]).is_some() => {
                let length = span(self.rest, |c| c.is_ascii_alphanumeric() || c == '-');
                Piece::Date(self.take(length), '-')
            }
            Some('-') => self.zone_name(),
            _ => Piece::Word(self.take(letters)),
        }
    }

    fn zone_name(&mut self) -> Piece<'a> {
        let length = span(self.rest, |c| {
            c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '+' | '-' | ':')
        });
        Piece::Word(self.take(length))
    }
}

/// Bytes at the front of `text` whose characters are `of`.
fn span(text: &str, of: impl Fn(char) -> bool) -> usize {
    text.find(|c| !of(c)).unwrap_or(text.len())
}

fn is_blank(character: char) -> bool {
    u8::try_from(character).is_ok_and(is_space)
}

/// The number of a month by its name or its first three letters, in any case.
pub(super) fn month(word: &str) -> Option<u32> {
    let is = |name: &str| word.eq_ignore_ascii_case(name) || word.eq_ignore_ascii_case(&name[..3]);
    let index = crate::types::calendar::MONTHS.iter().position(|name| is(name));
    let index = index.or_else(|| word.eq_ignore_ascii_case("sept").then_some(8))?;
    u32::try_from(index + 1).ok()
}

/// Whether a word names a day of the week, which says nothing that the date does not.
pub(super) fn is_weekday(word: &str) -> bool {
    const NAMES: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    const SHORT: [&str; 11] =
        ["mon", "tue", "tues", "wed", "weds", "thu", "thur", "thurs", "fri", "sat", "sun"];
    NAMES.iter().chain(&SHORT).any(|name| word.eq_ignore_ascii_case(name))
}
