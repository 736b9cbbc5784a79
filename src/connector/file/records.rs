//! Whole records out of blocks of bytes, with bounded memory.
//!
//! A record ends with a newline, for CSV one that is outside of quotes. The record that has not
//! ended yet is kept until its end arrives; one that grows beyond [`RECORD_MAX`] is not kept: only
//! its beginning, and how long it was, is given when its end is found.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::connector::format::Framing;

/// Bytes of a record that is still read.
pub(super) const RECORD_MAX: usize = 64 << 20;

/// Bytes that are kept of a longer one.
const HEAD: usize = 64 << 10;

/// Bytes from which records are taken.
#[derive(Debug)]
pub(super) struct Records {
    framing: Framing,
    record_max: usize,
    /// What was pushed and not yet taken, from `start` on.
    buffer: Vec<u8>,
    start: usize,
    /// So far the ends of records were looked for.
    scanned: usize,
    quotes: Quotes,
    /// Where the whole records in the buffer end.
    ends: VecDeque<usize>,
    /// The first record, if it is too long.
    long: Option<Long>,
}

/// Where the search stands: whether a newline would end the record.
#[derive(Debug, Default, Clone, Copy)]
struct Quotes {
    inside: bool,
    after_escape: bool,
}

/// A record that is too long, as far as it is no longer in the buffer.
#[derive(Debug)]
struct Long {
    head: Vec<u8>,
    extent: Extent,
}

/// One record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    /// Without the newline; of a record that is too long only the beginning.
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) extent: Extent,
    pub(super) is_too_long: bool,
}

/// How far a record reaches.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(super) struct Extent {
    /// With the newline.
    pub(super) bytes: u64,
    /// Newlines in it, its own included.
    pub(super) lines: u64,
}

impl Extent {
    fn of(bytes: &[u8]) -> Self {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        Self { bytes: bytes.len() as u64, lines: lines as u64 }
    }

    fn add(&mut self, other: Extent) {
        self.bytes += other.bytes;
        self.lines += other.lines;
    }
}

impl Records {
    pub(super) fn new(framing: Framing) -> Self {
        Self::with_record_max(framing, RECORD_MAX)
    }

    fn with_record_max(framing: Framing, record_max: usize) -> Self {
        Self {
            framing,
            record_max,
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            quotes: Quotes::default(),
            ends: VecDeque::new(),
            long: None,
        }
    }

    /// Bytes of the next whole record, if there is one.
    pub(super) fn next_bytes(&self) -> Option<u64> {
        let end = *self.ends.front()?;
        let dropped = self.long.as_ref().map_or(0, |long| long.extent.bytes);
        Some(dropped + (end - self.start) as u64)
    }

    /// Takes in what follows.
    pub(super) fn push(&mut self, block: &[u8]) {
        self.buffer.drain(..self.start);
        self.ends.iter_mut().for_each(|end| *end -= self.start);
        self.scanned -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(block);
        self.scan();
        let is_long = self.long.is_some() || self.buffer.len() > self.record_max;
        if is_long && self.ends.is_empty() {
            self.let_go();
        }
    }

    /// Nothing follows: what is left is a record, although no newline ends it.
    pub(super) fn finish(&mut self) {
        let last = self.ends.back().copied().unwrap_or(self.start);
        if self.buffer.len() > last || (self.ends.is_empty() && self.long.is_some()) {
            self.ends.push_back(self.buffer.len());
            self.quotes = Quotes::default();
        }
    }

    /// The next whole record.
    pub(super) fn next(&mut self) -> Option<Record<'_>> {
        let end = self.ends.pop_front()?;
        let bytes = &self.buffer[self.start..end];
        self.start = end;
        let mut extent = Extent::of(bytes);
        if let Some(long) = self.long.take() {
            extent.add(long.extent);
            return Some(Record { bytes: Cow::Owned(long.head), extent, is_too_long: true });
        }
        let is_too_long = bytes.len() > self.record_max;
        let bytes = if is_too_long { head(bytes) } else { without_newline(bytes) };
        Some(Record { bytes: Cow::Borrowed(bytes), extent, is_too_long })
    }

    /// Looks for the ends of records in what is new.
    ///
    /// Where records end must not depend on where blocks do, or a replay would see others. So a
    /// quote that is never closed ends with the first line that makes the record too long.
    fn scan(&mut self) {
        let mut start = self.ends.back().copied().unwrap_or(self.start);
        let mut dropped = self.long.as_ref().map_or(0, |long| long.extent.bytes as usize);
        for (index, byte) in self.buffer.iter().enumerate().skip(self.scanned) {
            if let Framing::Quoted { quote, escape } = self.framing {
                self.quotes.see(*byte, quote, escape);
            }
            if *byte != b'\n' {
                continue;
            }
            let end = index + 1;
            if !self.quotes.inside || dropped + end - start > self.record_max {
                self.ends.push_back(end);
                self.quotes = Quotes::default();
                (start, dropped) = (end, 0);
            }
        }
        self.scanned = self.buffer.len();
    }

    /// Drops the record that is too long, as far as it is here.
    fn let_go(&mut self) {
        let long = self.long.get_or_insert_with(|| Long {
            head: head(&self.buffer).to_vec(),
            extent: Extent { bytes: 0, lines: 0 },
        });
        long.extent.add(Extent::of(&self.buffer));
        self.buffer = Vec::new();
        self.scanned = 0;
    }
}

impl Quotes {
    /// The same rule as COPY's: inside of quotes an escaped quote does not count, and where quotes
    /// escape themselves, two of them cancel out.
    #[inline]
    fn see(&mut self, byte: u8, quote: u8, escape: u8) {
        if self.after_escape {
            self.after_escape = false;
        } else if self.inside && escape != quote && byte == escape {
            self.after_escape = true;
        } else if byte == quote {
            self.inside = !self.inside;
        }
    }
}

fn head(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(HEAD)]
}

fn without_newline(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: Framing = Framing::Quoted { quote: b'"', escape: b'"' };

    /// All records of `blocks`, each as its text, its bytes and its lines.
    fn records(mut records: Records, blocks: &[&str], finish: bool) -> Vec<(String, u64, u64)> {
        let mut found = Vec::new();
        let mut take = |records: &mut Records| {
            while let Some(bytes) = records.next_bytes() {
                let record = records.next().expect("it was announced");
                assert_eq!(record.extent.bytes, bytes);
                let mut text = String::from_utf8_lossy(&record.bytes).into_owned();
                if record.is_too_long {
                    text.push_str("...");
                }
                found.push((text, record.extent.bytes, record.extent.lines));
            }
        };
        for block in blocks {
            records.push(block.as_bytes());
            take(&mut records);
        }
        if finish {
            records.finish();
            take(&mut records);
        }
        found
    }

    fn expected(records: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
        records.iter().map(|(text, bytes, lines)| ((*text).to_owned(), *bytes, *lines)).collect()
    }

    #[test]
    fn lines_end_with_newlines_wherever_blocks_end() {
        let lines = || Records::new(Framing::Lines);
        let all = expected(&[("a", 2, 1), ("", 1, 1), ("bc", 4, 1)]);
        assert_eq!(records(lines(), &["a\n\nbc\r\nd"], false), all);
        assert_eq!(records(lines(), &["a", "\n", "\n", "bc\r", "\nd"], false), all);
        let mut ended = all;
        ended.extend(expected(&[("d", 1, 0)]));
        assert_eq!(records(lines(), &["a\n\nb", "c\r\nd"], true), ended);
    }

    #[test]
    fn quoted_newlines_do_not_end_a_csv_record() {
        let all = expected(&[("a,\"x\n\"\"y\n\"", 11, 3), ("b", 2, 1)]);
        for split in 0..13 {
            let (head, tail) = "a,\"x\n\"\"y\n\"\nb\n".split_at(split);
            assert_eq!(records(Records::new(CSV), &[head, tail], false), all, "{split}");
        }
        let backslash = Framing::Quoted { quote: b'"', escape: b'\\' };
        let all = expected(&[("\"\\\"\n\\\\\"", 8, 2), ("b", 2, 1)]);
        assert_eq!(records(Records::new(backslash), &["\"\\\"\n\\\\\"\nb\n"], false), all);
    }

    #[test]
    fn a_record_that_is_too_long_is_dropped_and_counted() {
        let small = |framing| Records::with_record_max(framing, 8);
        let found =
            records(small(Framing::Lines), &["ok\n012345", "6789", "abc", "d\nok\n"], false);
        assert_eq!(found, expected(&[("ok", 3, 1), ("0123456789...", 15, 1), ("ok", 3, 1)]));
        let ended = records(small(Framing::Lines), &["0123456789"], true);
        assert_eq!(ended, expected(&[("0123456789...", 10, 0)]));
    }

    #[test]
    fn records_do_not_depend_on_where_blocks_end() {
        // The quote of the first record is never closed.
        let text = "\"234\n6789\nx\n\"y\n\"\nz\n";
        let lengths = [(10, 2), (2, 1), (5, 2), (2, 1)];
        for split in 0..text.len() {
            let (head, tail) = text.split_at(split);
            let found = records(Records::with_record_max(CSV, 8), &[head, tail], false);
            let found: Vec<_> = found.iter().map(|(_, bytes, lines)| (*bytes, *lines)).collect();
            assert_eq!(found, lengths, "{split}");
        }
    }
}
