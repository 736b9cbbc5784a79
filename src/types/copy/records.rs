//! Cuts a stream of bytes into records: lines that a newline ends where no quote or backslash
//! protects it.
//!
//! The state lives between chunks, so a record may be cut anywhere, inside of a quote, an escape
//! or a CRLF.

use super::options::{CopyFormat, CopyOptions};
use crate::error::{SqlError, SqlResult, code};

/// The longest record that is read.
pub const RECORD_BYTES_MAX: usize = 64 << 20;

/// How the lines of this input end: as the first one does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Unknown,
    Newline,
    CarriageReturn,
    Both,
}

/// Between two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Where a newline ends the record.
    Plain,
    /// Text: after a backslash.
    Backslash,
    /// CSV: inside of quotes.
    Quoted,
    /// CSV: inside of quotes, after an escape that is not the quote itself.
    QuotedEscape,
    /// After a carriage return that may end the record, or be half of what does.
    CarriageReturn,
}

/// A record without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    pub bytes: &'a [u8],
    /// The number of its last line, from 1: the one that PostgreSQL names.
    pub line: u64,
}

/// Cuts the input into records.
#[derive(Debug)]
pub struct RecordReader {
    is_csv: bool,
    quote: u8,
    escape: u8,
    state: State,
    line_end: LineEnd,
    /// The record so far.
    record: Vec<u8>,
    /// `record` was given out and is to be emptied.
    is_taken: bool,
    /// Lines seen to end, inside of quotes too.
    lines: u64,
    /// `\.` was read: what follows is not looked at.
    is_ended: bool,
}

impl RecordReader {
    /// A reader of text or CSV.
    pub fn new(options: &CopyOptions) -> Self {
        Self {
            is_csv: options.format == CopyFormat::Csv,
            quote: options.quote,
            escape: options.escape,
            state: State::Plain,
            line_end: LineEnd::Unknown,
            record: Vec::new(),
            is_taken: false,
            lines: 0,
            is_ended: false,
        }
    }

    /// The number of the line being read, from 1.
    pub fn line(&self) -> u64 {
        self.lines + 1
    }

    /// What was read of a record that is not complete.
    pub fn partial(&self) -> &[u8] {
        if self.is_taken { &[] } else { &self.record }
    }

    /// Reads the next record, taking its bytes from the front of `chunk`; `None` when the chunk
    /// is used up and the record has not ended.
    pub fn read(&mut self, chunk: &mut &[u8]) -> SqlResult<Option<Record<'_>>> {
        self.make_room();
        while !chunk.is_empty() && !self.is_ended {
            if self.state == State::CarriageReturn {
                self.after_carriage_return(chunk)?;
                return self.end_record(chunk);
            }
            let run = self.run_length(chunk);
            let (plain, rest) = chunk.split_at(run);
            self.append(plain)?;
            *chunk = rest;
            let Some((&byte, rest)) = rest.split_first() else { break };
            *chunk = rest;
            if self.step(byte)? {
                return self.end_record(chunk);
            }
        }
        if self.is_ended {
            *chunk = &[];
        }
        Ok(None)
    }

    /// The last record, if the input did not end in a newline.
    pub fn finish(&mut self) -> SqlResult<Option<Record<'_>>> {
        self.make_room();
        match self.state {
            _ if self.is_ended => Ok(None),
            State::Quoted | State::QuotedEscape => Err(bad_format("unterminated CSV quoted field")),
            State::CarriageReturn => {
                self.state = State::Plain;
                self.settle(LineEnd::CarriageReturn)?;
                self.end_record(&mut &[][..])
            }
            _ if self.record.is_empty() => Ok(None),
            _ => {
                self.state = State::Plain;
                self.end_record(&mut &[][..])
            }
        }
    }

    fn make_room(&mut self) {
        if self.is_taken {
            self.is_taken = false;
            self.record.clear();
            // One giant record should not hold its memory for the rest of the input.
            self.record.shrink_to(1 << 20);
        }
    }

    fn append(&mut self, bytes: &[u8]) -> SqlResult<()> {
        if self.record.len() + bytes.len() > RECORD_BYTES_MAX {
            let message = "COPY record too long";
            let detail = format!("A record has at most {RECORD_BYTES_MAX} bytes.");
            return Err(SqlError::new("54000", message).detail(detail));
        }
        self.record.extend_from_slice(bytes);
        Ok(())
    }

    /// Bytes at the front of `chunk` that change nothing.
    fn run_length(&self, chunk: &[u8]) -> usize {
        let (quote, escape) = (self.quote, self.escape);
        let position = match self.state {
            State::Plain if self.is_csv => {
                chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r') || *byte == quote)
            }
            State::Plain => chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r' | b'\\')),
            State::Quoted => {
                chunk.iter().position(|byte| *byte == b'\n' || *byte == quote || *byte == escape)
            }
            State::Backslash | State::QuotedEscape | State::CarriageReturn => Some(0),
        };
        position.unwrap_or(chunk.len())
    }

    /// Takes a byte that may change the state; whether it ended the record.
    fn step(&mut self, byte: u8) -> SqlResult<bool> {
        match self.state {
            State::Plain => match byte {
                b'\n' => {
                    self.settle(LineEnd::Newline)?;
                    return Ok(true);
                }
                b'\r' => {
                    self.state = State::CarriageReturn;
                    return Ok(false);
                }
                b'\\' if !self.is_csv => self.state = State::Backslash,
                _ if self.is_csv && byte == self.quote => self.state = State::Quoted,
                _ => {}
            },
            State::Backslash | State::QuotedEscape => {
                let is_quoted = self.state == State::QuotedEscape;
                self.state = if is_quoted { State::Quoted } else { State::Plain };
                self.lines += u64::from(byte == b'\n');
            }
            State::Quoted => {
                if byte == b'\n' {
                    self.lines += 1;
                } else if byte == self.quote {
                    // Two in a row leave the quotes and enter them again: the same in the end.
                    self.state = State::Plain;
                } else if byte == self.escape {
                    self.state = State::QuotedEscape;
                }
            }
            State::CarriageReturn => {}
        }
        self.append(&[byte])?;
        Ok(false)
    }

    /// Looks at what follows a carriage return that ended a record.
    fn after_carriage_return(&mut self, chunk: &mut &[u8]) -> SqlResult<()> {
        self.state = State::Plain;
        if let Some(rest) = chunk.strip_prefix(b"\n")
            && matches!(self.line_end, LineEnd::Unknown | LineEnd::Both)
        {
            *chunk = rest;
            self.line_end = LineEnd::Both;
            return Ok(());
        }
        self.settle(LineEnd::CarriageReturn)
    }

    /// A line ended like this: an error if others ended otherwise.
    fn settle(&mut self, end: LineEnd) -> SqlResult<()> {
        if self.line_end == LineEnd::Unknown {
            self.line_end = end;
        }
        if self.line_end == end {
            return Ok(());
        }
        let name = if end == LineEnd::Newline { "newline" } else { "carriage return" };
        let escape = if end == LineEnd::Newline { "\\n" } else { "\\r" };
        Err(if self.is_csv {
            bad_format(format!("unquoted {name} found in data"))
                .hint(format!("Use quoted CSV field to represent {name}."))
        } else {
            bad_format(format!("literal {name} found in data"))
                .hint(format!("Use \"{escape}\" to represent {name}."))
        })
    }

    /// Gives the record out; after the end mark, what is left of `chunk` is not looked at.
    fn end_record(&mut self, chunk: &mut &[u8]) -> SqlResult<Option<Record<'_>>> {
        self.is_taken = true;
        self.lines += 1;
        if self.record == b"\\." {
            self.is_ended = true;
            *chunk = &[];
            return Ok(None);
        }
        // Anywhere else the end mark is a mistake, and in CSV it is data.
        if !self.is_csv && has_end_mark(&self.record) {
            return Err(bad_format("end-of-copy marker corrupt"));
        }
        Ok(Some(Record { bytes: &self.record, line: self.lines }))
    }
}

/// Whether a line of text has a backslash with a dot that is not itself protected.
fn has_end_mark(line: &[u8]) -> bool {
    let mut bytes = line.iter();
    while let Some(byte) = bytes.next() {
        if *byte == b'\\' && bytes.next() == Some(&b'.') {
            return true;
        }
    }
    false
}

/// 22P04.
pub(super) fn bad_format(message: impl Into<String>) -> SqlError {
    SqlError::new(code::BAD_COPY_FILE_FORMAT, message)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All records of `chunks`, or the message of the error.
    fn read(options: &CopyOptions, chunks: &[&[u8]]) -> Result<Vec<(u64, String)>, String> {
        let mut reader = RecordReader::new(options);
        let mut records = Vec::new();
        let mut keep = |record: Record<'_>| {
            records.push((record.line, String::from_utf8_lossy(record.bytes).into_owned()));
        };
        for chunk in chunks {
            let mut chunk = *chunk;
            while let Some(record) = reader.read(&mut chunk).map_err(|error| error.message)? {
                keep(record);
            }
            assert!(chunk.is_empty());
        }
        if let Some(record) = reader.finish().map_err(|error| error.message)? {
            keep(record);
        }
        Ok(records)
    }

    fn lines(expected: &[(u64, &str)]) -> Result<Vec<(u64, String)>, String> {
        Ok(expected.iter().map(|(line, text)| (*line, (*text).to_owned())).collect())
    }

    #[test]
    fn text_lines_end_where_no_backslash_protects() {
        let options = CopyOptions::default();
        assert_eq!(read(&options, &[b"a\nb\n"]), lines(&[(1, "a"), (2, "b")]));
        assert_eq!(read(&options, &[b"a\r\nb"]), lines(&[(1, "a"), (2, "b")]));
        assert_eq!(read(&options, &[b"a\rb\r"]), lines(&[(1, "a"), (2, "b")]));
        assert_eq!(read(&options, &[b"a\\\nb\nc"]), lines(&[(2, "a\\\nb"), (3, "c")]));
        assert_eq!(read(&options, &[b"\n\n"]), lines(&[(1, ""), (2, "")]));
        assert_eq!(read(&options, &[b"a\n\\.\nb\n"]), lines(&[(1, "a")]), "the end mark");
        assert_eq!(read(&options, &[b""]), lines(&[]));
    }

    #[test]
    fn csv_lines_end_outside_of_quotes() {
        let mut options = CopyOptions::of_format(CopyFormat::Csv);
        assert_eq!(
            read(&options, &[b"a,\"b\nc\"\"\n\",d\r\ne\r\n"]),
            lines(&[(3, "a,\"b\nc\"\"\n\",d"), (4, "e")])
        );
        assert_eq!(read(&options, &[b"a\n\\.\nb"]), lines(&[(1, "a")]));
        assert_eq!(read(&options, &[b"a\\.\nb"]), lines(&[(1, "a\\."), (2, "b")]));
        assert_eq!(read(&options, &[b"\"a\n"]), Err("unterminated CSV quoted field".into()));
        options.escape = b'\\';
        assert_eq!(read(&options, &[b"\"a\\\"\n\"\nb"]), lines(&[(2, "\"a\\\"\n\""), (3, "b")]));
    }

    #[test]
    fn mixed_line_ends_and_stray_end_marks_are_refused() {
        let text = CopyOptions::default();
        let csv = CopyOptions::of_format(CopyFormat::Csv);
        for (options, input, message) in [
            (&text, &b"a\nb\rc\n"[..], "literal carriage return found in data"),
            (&text, b"a\r\nb\n", "literal newline found in data"),
            (&csv, b"a\nb\rc\n", "unquoted carriage return found in data"),
            (&csv, b"a\r\nb\n", "unquoted newline found in data"),
            (&text, b"a\\.b\n", "end-of-copy marker corrupt"),
        ] {
            assert_eq!(read(options, &[input]), Err(message.into()));
        }
    }

    #[test]
    fn a_record_has_a_limit() {
        let mut reader = RecordReader::new(&CopyOptions::default());
        let chunk = vec![b'x'; RECORD_BYTES_MAX];
        assert_eq!(reader.read(&mut &chunk[..]), Ok(None));
        assert_eq!(reader.read(&mut &b"x"[..]).map_err(|error| error.code), Err("54000"));
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(
            input in "[ab,\"\\\\\n\r.]{0,40}",
            cuts in proptest::collection::vec(0_usize..40, 0..6),
            is_csv: bool,
        ) {
            let format = if is_csv { CopyFormat::Csv } else { CopyFormat::Text };
            let options = CopyOptions::of_format(format);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(input.len())).collect();
            cuts.extend([0, input.len()]);
            cuts.sort_unstable();
            let bytes = input.as_bytes();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            prop_assert_eq!(read(&options, &chunks), read(&options, &[bytes]));
        }
    }
}
