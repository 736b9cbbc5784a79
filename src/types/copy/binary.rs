//! COPY's binary format.
//!
//! ```text
//! | PGCOPY\n\377\r\n\0 | flags i32 | extension length i32, extension |
//! | field count i16 | length i32, value | length -1 (NULL) | ... |   a tuple
//! | -1 i16 |                                                        the end
//! ```

use super::records::{RECORD_BYTES_MAX, Record, bad_format};
use crate::error::{SqlError, SqlResult};

const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
const SIGNATURE_LEN: usize = 11;
const HEADER_LEN: usize = SIGNATURE_LEN + 8;

/// Appends the header.
pub(super) fn push_header(out: &mut Vec<u8>) {
    out.extend_from_slice(SIGNATURE);
    out.extend_from_slice(&[0; 8]);
}

/// Appends the end.
pub(super) fn push_trailer(out: &mut Vec<u8>) {
    out.extend_from_slice(&(-1_i16).to_be_bytes());
}

/// Cuts the input into tuples.
#[derive(Debug)]
pub(super) struct TupleReader {
    part: Part,
    /// The part so far.
    bytes: Vec<u8>,
    /// How long it has to be before we can look on.
    wanted: usize,
    is_taken: bool,
    line: u64,
}

/// What is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Header,
    /// The header's extension, which is skipped.
    Extension,
    /// A tuple's field count, or the end.
    Count,
    /// The length of a value, when so many fields are still to come.
    Length(u16),
    /// A value; so many fields come after it.
    Value(u16),
    End,
}

impl TupleReader {
    pub(super) fn new() -> Self {
        Self { part: Part::Header, bytes: Vec::new(), wanted: HEADER_LEN, is_taken: false, line: 0 }
    }

    /// The number of the tuple being read, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Reads the next tuple, taking its bytes from the front of `chunk`; `None` when the chunk is
    /// used up.
    pub(super) fn read(&mut self, chunk: &mut &[u8]) -> SqlResult<Option<Record<'_>>> {
        if self.is_taken {
            self.is_taken = false;
            self.start(Part::Count, 2);
        }
        loop {
            let missing = self.wanted.saturating_sub(self.bytes.len());
            let (taken, rest) = chunk.split_at(missing.min(chunk.len()));
            self.bytes.extend_from_slice(taken);
            *chunk = rest;
            if self.bytes.len() < self.wanted {
                return Ok(None);
            }
            if self.part == Part::End {
                return if chunk.is_empty() {
                    Ok(None)
                } else {
                    Err(bad_format("received copy data after EOF marker"))
                };
            }
            if self.step()? {
                self.is_taken = true;
                return Ok(Some(Record { bytes: &self.bytes, line: self.line }));
            }
        }
    }

    /// An error if the data ended before it was complete.
    pub(super) fn finish(&self) -> SqlResult<()> {
        match self.part {
            // The end mark may be missing between two tuples.
            Part::End => Ok(()),
            Part::Count if self.bytes.is_empty() => Ok(()),
            _ if self.is_taken => Ok(()),
            Part::Header => Err(bad_format("COPY file signature not recognized")),
            _ => Err(bad_format("unexpected EOF in COPY data")),
        }
    }

    fn start(&mut self, part: Part, length: usize) {
        self.part = part;
        self.wanted = length;
        self.bytes.clear();
        self.bytes.shrink_to(1 << 20);
    }

    fn go_on(&mut self, part: Part, length: usize) -> SqlResult<()> {
        self.part = part;
        self.wanted += length;
        if self.wanted > RECORD_BYTES_MAX {
            let detail = format!("A record has at most {RECORD_BYTES_MAX} bytes.");
            return Err(SqlError::new("54000", "COPY record too long").detail(detail));
        }
        Ok(())
    }

    /// Looks at the part that is complete now; whether that completes a tuple.
    fn step(&mut self) -> SqlResult<bool> {
        match self.part {
            Part::Header => {
                let length = self.check_header()?;
                self.start(Part::Extension, length);
            }
            Part::Extension => self.start(Part::Count, 2),
            Part::Count => {
                self.line += 1;
                let count = i16::from_be_bytes(self.last());
                match u16::try_from(count) {
                    Err(_) if count == -1 => self.start(Part::End, 0),
                    Err(_) => return Err(bad_format("unexpected EOF in COPY data")),
                    Ok(0) => return Ok(true),
                    Ok(count) => self.go_on(Part::Length(count - 1), 4)?,
                }
            }
            Part::Length(after) => {
                let length = i32::from_be_bytes(self.last());
                match usize::try_from(length) {
                    Ok(length) => self.go_on(Part::Value(after), length)?,
                    Err(_) if length == -1 => return self.next_field(after),
                    Err(_) => return Err(bad_format("invalid field size")),
                }
            }
            Part::Value(after) => return self.next_field(after),
            Part::End => {}
        }
        Ok(false)
    }

    fn next_field(&mut self, after: u16) -> SqlResult<bool> {
        if after == 0 {
            return Ok(true);
        }
        self.go_on(Part::Length(after - 1), 4)?;
        Ok(false)
    }

    /// The bytes read last.
    fn last<const N: usize>(&self) -> [u8; N] {
        self.bytes.last_chunk().copied().unwrap_or([0; N])
    }

    /// The length of the extension.
    fn check_header(&self) -> SqlResult<usize> {
        let (signature, rest) = self.bytes.split_at(SIGNATURE_LEN);
        if signature != SIGNATURE {
            return Err(bad_format("COPY file signature not recognized"));
        }
        let flags = u32::from_be_bytes(rest.first_chunk().copied().unwrap_or_default());
        if flags & (1 << 16) != 0 {
            return Err(bad_format("invalid COPY file header (WITH OIDS)"));
        }
        if flags >> 16 != 0 {
            return Err(bad_format("unrecognized critical flags in COPY file header"));
        }
        let length = i32::from_be_bytes(rest.last_chunk().copied().unwrap_or_default());
        match usize::try_from(length) {
            Ok(length) if length <= RECORD_BYTES_MAX => Ok(length),
            _ => Err(bad_format("invalid COPY file header (wrong length)")),
        }
    }
}

/// The values of a tuple that a [`TupleReader`] gave.
pub(super) fn values(tuple: &[u8]) -> Values<'_> {
    match tuple.split_first_chunk() {
        Some((count, rest)) => Values { count: u16::from_be_bytes(*count), rest },
        None => Values { count: 0, rest: tuple },
    }
}

/// See [`values`].
#[derive(Debug)]
pub(super) struct Values<'a> {
    count: u16,
    rest: &'a [u8],
}

impl Values<'_> {
    /// How many the tuple says it has.
    pub(super) fn declared(&self) -> u16 {
        self.count
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = self.rest.split_first_chunk()?;
        match usize::try_from(i32::from_be_bytes(*length)) {
            Ok(length) => {
                let (value, rest) = rest.split_at_checked(length)?;
                self.rest = rest;
                Some(Some(value))
            }
            Err(_) => {
                self.rest = rest;
                Some(None)
            }
        }
    }
}
