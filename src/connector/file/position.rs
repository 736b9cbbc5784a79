//! How far a file was read, as its split's position: `offset:line`, with `:end` when it is done.

use std::fmt;
use std::str::FromStr;

use super::records::Extent;

/// After the last record that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    /// Bytes, of a compressed file those that are decompressed.
    pub(super) offset: u64,
    /// Newlines so far.
    pub(super) line: u64,
    /// Whether nothing is expected of the file any more.
    pub(super) ended: bool,
}

impl Position {
    pub(super) fn advance(&mut self, extent: Extent) {
        self.offset += extent.bytes;
        self.line += extent.lines;
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.ended { ":end" } else { "" };
        write!(f, "{}:{}{end}", self.offset, self.line)
    }
}

impl FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (text, ended) = match text.strip_suffix(":end") {
            Some(text) => (text, true),
            None => (text, false),
        };
        let (offset, line) = text.split_once(':').ok_or(())?;
        let number = |text: &str| text.parse().map_err(|_| ());
        Ok(Self { offset: number(offset)?, line: number(line)?, ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_survive_their_text() {
        for position in [
            Position::default(),
            Position { offset: 1234, line: 56, ended: false },
            Position { offset: u64::MAX, line: 0, ended: true },
        ] {
            assert_eq!(position.to_string().parse(), Ok(position));
        }
        assert_eq!(Position { offset: 1234, line: 56, ended: true }.to_string(), "1234:56:end");
        for wrong in ["", "12", "12:", "a:b", "1:2:3", "1:2:ended"] {
            assert_eq!(wrong.parse::<Position>(), Err(()), "{wrong}");
        }
    }
}
