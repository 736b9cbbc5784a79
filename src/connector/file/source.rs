//! The reading of files: one after the other, whole records at a time, from where each was left.
//!
//! ```text
//!  scan (which files, how long) -> next file with something new -> read a block -> decode records
//!    ^                                                |    ^_______________________________/ |
//!    |__ nothing new: wait, or end ___________________|                                      v
//!                                                                             rows, dead letters
//! ```
//!
//! Everything that blocks runs on the pool of blocking threads, as [`Pending`] work that outlives
//! a dropped poll: the next poll goes on waiting for it. Positions move only together with the
//! rows that a poll gives, after its last `await`.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use tokio::task::JoinHandle;

use super::options::FileOptions;
use super::position::Position;
use super::reader::{self, BLOCK, Found, Reader};
use super::records::{RECORD_MAX, Records};
use crate::clock::{self, Moment};
use crate::connector::format::Decoder;
use crate::connector::{DeadLetter, Polled, Positions, Source, Then};
use crate::error::{SqlError, SqlResult, code};
use crate::task;

/// How often followed files are looked at.
const SCAN_EVERY: Duration = Duration::from_millis(200);

/// Files, open and seeked.
pub struct FileSource {
    options: FileOptions,
    schema: SchemaRef,
    decoder: Decoder,
    files: BTreeMap<String, File>,
    /// When the folder was looked at last.
    scanned: Option<Moment>,
    /// The one file that is being read.
    open: Option<Open>,
    pending: Option<Pending>,
}

/// A file, as far as it is known.
#[derive(Debug, Default)]
struct File {
    position: Position,
    /// How long it was when it was looked at last; `None` if it is not there.
    bytes: Option<u64>,
    /// How long it was when there was nothing more to take from it.
    exhausted_at: Option<u64>,
    /// Why it cannot be read, while it is as long as it is.
    error: Option<SqlError>,
}

impl File {
    /// Whether it is worth reading on. The end of a file that is `whole` is to be seen, too.
    fn has_more(&self, whole: bool) -> bool {
        let Some(bytes) = self.bytes else { return false };
        let grown = whole || bytes > self.position.offset;
        !self.position.ended && self.error.is_none() && grown && self.exhausted_at != Some(bytes)
    }
}

/// The file that is being read.
struct Open {
    path: String,
    records: Records,
    /// `None` before the first block, and while a block is being read.
    reader: Option<Reader>,
    /// Where the next block begins.
    offset: u64,
    /// Where to stop, in a replay.
    stop: Option<u64>,
    /// Whether there is nothing more for now.
    exhausted: bool,
}

/// Work that is under way on another thread.
enum Pending {
    Scan(JoinHandle<SqlResult<Vec<Found>>>),
    Block(JoinHandle<io::Result<(Reader, Vec<u8>)>>),
}

/// What to do next.
enum Step {
    Decode,
    Read,
    Scan,
    Rest(Then),
}

impl FileSource {
    /// At the beginning of all files.
    pub fn new(options: FileOptions, schema: SchemaRef) -> SqlResult<Self> {
        let decoder = options.format.decoder(&schema)?;
        let files = BTreeMap::new();
        Ok(Self { options, schema, decoder, files, scanned: None, open: None, pending: None })
    }

    /// Finishes the work that is under way. If this is dropped, the work goes on, and nothing of
    /// it is lost.
    async fn settle(&mut self) -> SqlResult<()> {
        let lost = |error| SqlError::internal(format!("reading a file: {error}"));
        match &mut self.pending {
            None => Ok(()),
            Some(Pending::Scan(work)) => {
                let found = work.await;
                self.pending = None;
                self.take_in_scan(found.map_err(lost)??);
                Ok(())
            }
            Some(Pending::Block(work)) => {
                let block = work.await;
                self.pending = None;
                self.take_in_block(block.map_err(lost)?)
            }
        }
    }

    /// Looks at what was found: files come, grow, shrink and go.
    fn take_in_scan(&mut self, found: Vec<Found>) {
        self.scanned = Some(clock::moment());
        for file in self.files.values_mut() {
            file.bytes = None;
        }
        for Found { path, bytes } in found {
            let is_gzip = reader::is_gzip(&path);
            let file = self.files.entry(path).or_default();
            file.bytes = Some(bytes);
            let is_broken = is_gzip && file.exhausted_at == Some(bytes);
            if !is_broken {
                file.error = None;
            }
        }
        for (path, file) in &mut self.files {
            let read = file.position.offset;
            match file.bytes {
                _ if file.position.ended => {}
                Some(bytes) if bytes < read && !reader::is_gzip(path) => {
                    file.error = Some(shorter(path, bytes, read));
                }
                Some(_) => {}
                None if self.options.follow => file.error = None,
                None => file.error = Some(missing(path)),
            }
        }
    }

    fn take_in_block(&mut self, block: io::Result<(Reader, Vec<u8>)>) -> SqlResult<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let is_whole = is_whole(&self.options, &open.path);
        let file = self.files.entry(open.path.clone()).or_default();
        match block {
            Ok((reader, block)) => {
                open.reader = Some(reader);
                open.offset += block.len() as u64;
                open.records.push(&block);
                let at_stop = open.stop == Some(open.offset);
                // A file that grows as fast as it is read must not keep others from being read.
                let at_known_end = !is_whole && open.stop.is_none();
                let at_known_end = at_known_end && Some(open.offset) >= file.bytes;
                open.exhausted = block.is_empty() || at_stop || at_known_end;
                // No newline comes any more.
                if at_stop || (open.exhausted && open.stop.is_none() && is_whole) {
                    open.records.finish();
                }
            }
            Err(error) => {
                let is_content = matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof
                        | io::ErrorKind::InvalidData
                        | io::ErrorKind::InvalidInput
                );
                let error = reader::file_error("read", &open.path, &error);
                if is_content && reader::is_gzip(&open.path) {
                    // To find the same again would cost the reading of the whole file.
                    file.exhausted_at = file.bytes;
                }
                self.give_up(error)?;
            }
        }
        Ok(())
    }

    /// Puts the open file away, as it cannot be read. In a replay nothing can go on without it.
    fn give_up(&mut self, error: SqlError) -> SqlResult<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        if open.stop.is_some() {
            return Err(error);
        }
        self.files.entry(open.path).or_default().error = Some(error);
        Ok(())
    }

    fn next_step(&mut self, until: Option<&Ends>) -> SqlResult<Step> {
        if let Some(open) = &self.open {
            let wanted = until.map(|ends| ends.get(&open.path).map_or(0, |end| end.offset));
            if open.stop != wanted {
                // What is asked for has changed: the file is opened again for it.
                self.open = None;
            } else if open.records.next_bytes().is_some() {
                return Ok(Step::Decode);
            } else if !open.exhausted {
                return Ok(Step::Read);
            } else {
                self.close(until)?;
            }
        }
        match until {
            Some(ends) => self.next_file_until(ends),
            None => self.next_file(),
        }
    }

    /// Puts the open file, of which there is nothing more for now, away.
    fn close(&mut self, until: Option<&Ends>) -> SqlResult<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        let is_whole = is_whole(&self.options, &open.path);
        let file = self.files.entry(open.path.clone()).or_default();
        match until.and_then(|ends| ends.get(&open.path)) {
            Some(end) if file.position.offset < end.offset => {
                return Err(shorter(&open.path, open.offset, end.offset));
            }
            Some(end) => file.position.ended = end.ended,
            None => {
                file.position.ended = is_whole;
                file.exhausted_at = file.bytes;
            }
        }
        Ok(())
    }

    /// The next file of a replay, in order of the paths.
    fn next_file_until(&mut self, ends: &Ends) -> SqlResult<Step> {
        let at = |path| self.files.get(path).map_or(0, |file: &File| file.position.offset);
        let next = ends.iter().find(|(path, end)| at(*path) < end.offset);
        match next {
            Some((path, end)) => {
                self.open_file(path.clone(), Some(end.offset));
                Ok(Step::Read)
            }
            None => {
                for (path, end) in ends {
                    let position = &mut self.files.entry(path.clone()).or_default().position;
                    position.ended |= end.ended && position.offset == end.offset;
                }
                Ok(Step::Rest(Then::End))
            }
        }
    }

    /// The next file that has something new, in order of the paths.
    fn next_file(&mut self) -> SqlResult<Step> {
        let options = &self.options;
        let next = self.files.iter().find(|(path, file)| file.has_more(is_whole(options, path)));
        if let Some((path, _)) = next {
            self.open_file(path.clone(), None);
            return Ok(Step::Read);
        }
        let Some(scanned) = self.scanned else { return Ok(Step::Scan) };
        let since = scanned.elapsed();
        if self.options.follow && since >= SCAN_EVERY {
            return Ok(Step::Scan);
        }
        // A file that cannot be read does not hold up the others, but it is not forgotten.
        if let Some(error) = self.files.values().find_map(|file| file.error.clone()) {
            self.scanned = None;
            return Err(error);
        }
        if self.options.follow {
            return Ok(Step::Rest(Then::Wait(SCAN_EVERY.saturating_sub(since))));
        }
        if self.files.is_empty() && !reader::is_pattern(&self.options.path) {
            self.scanned = None;
            return Err(missing(&self.options.path));
        }
        Ok(Step::Rest(Then::End))
    }

    fn open_file(&mut self, path: String, stop: Option<u64>) {
        let offset = self.files.get(&path).map_or(0, |file| file.position.offset);
        let records = Records::new(self.options.format.framing());
        let reader = None;
        self.open = Some(Open { path, records, reader, offset, stop, exhausted: false });
    }

    fn start_scan(&mut self) {
        let path = self.options.path.clone();
        self.pending = Some(Pending::Scan(task::spawn_blocking(move || reader::find(&path))));
    }

    fn start_read(&mut self) {
        let Some(open) = &mut self.open else { return };
        let (path, offset, reader) = (open.path.clone(), open.offset, open.reader.take());
        let bytes_max = open.stop.map_or(BLOCK, |stop| stop.saturating_sub(offset));
        self.pending = Some(Pending::Block(task::spawn_blocking(move || {
            let mut reader = match reader {
                Some(reader) => reader,
                None => Reader::open(&path, offset)?,
            };
            let block = reader.block(bytes_max)?;
            Ok((reader, block))
        })));
    }

    /// Rows of the records that are there. Nothing is awaited from here on.
    fn decode(&mut self, rows_max: usize) -> SqlResult<Polled> {
        let Some(open) = &mut self.open else {
            return Err(SqlError::internal("no file is open"));
        };
        let file = self.files.entry(open.path.clone()).or_default();
        let mut position = file.position;
        let mut dead_letters = Vec::new();
        for _ in 0..rows_max.max(1) {
            let Some(record) = open.records.next() else { break };
            let is_header = position.offset == 0 && self.options.format.has_header();
            let read = if record.is_too_long {
                Err(too_long(record.extent.bytes))
            } else if is_header {
                self.decoder.header(without_mark(&record.bytes))
            } else if position.offset == 0 {
                self.decoder.add(without_mark(&record.bytes))
            } else {
                self.decoder.add(&record.bytes)
            };
            match read {
                Ok(()) => {}
                // Without its header, nobody knows what the file's columns are.
                Err(error) if is_header => {
                    let error = error.context(format!("file \"{}\", line 1", open.path));
                    self.give_up(error)?;
                    break;
                }
                Err(error) => dead_letters.push(DeadLetter {
                    split: open.path.clone(),
                    position: position.to_string(),
                    raw: record.bytes.into_owned(),
                    reason: reason(&error, position.line + 1),
                }),
            }
            position.advance(record.extent);
        }
        let batch = self.decoder.finish().inspect_err(|_| self.open = None)?;
        if let Some(open) = &self.open {
            self.files.entry(open.path.clone()).or_default().position = position;
        }
        Ok(Polled { batch, dead_letters, then: Then::More })
    }
}

/// Where each file of a replay ends.
type Ends = BTreeMap<String, Position>;

/// Whether the end of a file is its end for good.
fn is_whole(options: &FileOptions, path: &str) -> bool {
    !options.follow || reader::is_gzip(path)
}

/// The first record without the mark that some programs put before it.
fn without_mark(record: &[u8]) -> &[u8] {
    record.strip_prefix("\u{feff}".as_bytes()).unwrap_or(record)
}

fn too_long(bytes: u64) -> SqlError {
    let message = format!("record of {bytes} bytes is too long: at most {RECORD_MAX}");
    SqlError::new("54000", message)
}

fn shorter(path: &str, bytes: u64, read: u64) -> SqlError {
    SqlError::new(
        code::OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("file \"{path}\" has {bytes} bytes, but {read} bytes of it were read before"),
    )
    .hint("A file may only grow. Put new data into a new file, or create the source anew.")
}

fn missing(path: &str) -> SqlError {
    reader::file_error("open", path, &io::ErrorKind::NotFound.into())
}

/// What a dead letter says of an error.
fn reason(error: &SqlError, line: u64) -> String {
    let mut reason = format!("line {line}: {}", error.message);
    for more in [&error.detail, &error.context].into_iter().flatten() {
        reason.push_str("; ");
        reason.push_str(more);
    }
    reason
}

fn parse(positions: &Positions) -> SqlResult<Ends> {
    let parsed = positions.0.iter().map(|(path, position)| {
        let parsed = position.parse().map_err(|()| {
            let message = format!("\"{position}\" is no position in file \"{path}\"");
            SqlError::new(code::DATA_CORRUPTED, message)
        })?;
        Ok((path.clone(), parsed))
    });
    parsed.collect()
}

#[async_trait]
impl Source for FileSource {
    async fn poll(&mut self, rows_max: usize, until: Option<&Positions>) -> SqlResult<Polled> {
        let ends = until.map(parse).transpose()?;
        loop {
            self.settle().await?;
            match self.next_step(ends.as_ref())? {
                Step::Decode => return self.decode(rows_max),
                Step::Read => self.start_read(),
                Step::Scan => self.start_scan(),
                Step::Rest(then) => {
                    let batch = RecordBatch::new_empty(SchemaRef::clone(&self.schema));
                    return Ok(Polled { batch, dead_letters: Vec::new(), then });
                }
            }
        }
    }

    fn positions(&self) -> Positions {
        let read = self.files.iter().filter(|(_, file)| file.position != Position::default());
        Positions(read.map(|(path, file)| (path.clone(), file.position.to_string())).collect())
    }

    fn seek(&mut self, positions: &Positions) -> SqlResult<()> {
        let files = parse(positions)?.into_iter();
        self.files =
            files.map(|(path, position)| (path, File { position, ..File::default() })).collect();
        (self.scanned, self.open, self.pending) = (None, None, None);
        self.decoder = self.options.format.decoder(&self.schema)?;
        Ok(())
    }
}
