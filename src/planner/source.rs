//! The client's string, and places in it.
//!
//! sqlparser counts lines and columns, PostgreSQL counts characters, Rust counts bytes. This is
//! where one becomes the other.

use sqlparser::tokenizer::{Location, Span};

/// The client's string with an index of its lines.
#[derive(Debug)]
pub(super) struct Source {
    text: String,
    /// Where each line begins.
    lines: Vec<Place>,
}

/// A place: characters and bytes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) character: usize,
    pub(super) byte: usize,
}

impl Place {
    /// As PostgreSQL reports it.
    pub(super) fn position(self) -> usize {
        self.character + 1
    }
}

impl Source {
    pub(super) fn new(text: &str) -> Self {
        let mut lines = vec![Place { character: 0, byte: 0 }];
        for (character, (byte, found)) in text.char_indices().enumerate() {
            if found == '\n' {
                lines.push(Place { character: character + 1, byte: byte + 1 });
            }
        }
        Self { text: text.to_owned(), lines }
    }

    /// The place of a location; the end for none.
    pub(super) fn place(&self, location: Location) -> Place {
        let line = usize::try_from(location.line).unwrap_or(usize::MAX);
        let column = usize::try_from(location.column).unwrap_or(usize::MAX);
        match line.checked_sub(1).and_then(|line| self.lines.get(line)) {
            Some(start) => self.advance(*start, column.saturating_sub(1)),
            None => self.end(),
        }
    }

    pub(super) fn end(&self) -> Place {
        let last = *self.lines.last().expect("there is always a first line");
        self.advance(last, usize::MAX)
    }

    fn advance(&self, from: Place, characters: usize) -> Place {
        let rest = &self.text[from.byte..];
        let mut place = from;
        for found in rest.chars().take(characters) {
            place.character += 1;
            place.byte += found.len_utf8();
        }
        place
    }

    /// The source of a span.
    pub(super) fn slice(&self, span: Span) -> &str {
        let (start, end) = (self.place(span.start), self.place(span.end));
        self.text.get(start.byte..end.byte).unwrap_or("")
    }

    /// 1-based character index of where a span begins, if it is one.
    pub(super) fn position(&self, span: Span) -> Option<usize> {
        (span.start.line > 0).then(|| self.place(span.start).position())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_bytes_apart() {
        let source = Source::new("é\nünd so");
        let place = source.place(Location::new(2, 2));
        assert_eq!(place, Place { character: 3, byte: 5 });
        assert_eq!(source.slice(Span::new(Location::new(2, 1), Location::new(2, 4))), "ünd");
        assert_eq!(source.end(), Place { character: 8, byte: 10 });
        assert_eq!(source.position(Span::empty()), None);
    }
}
