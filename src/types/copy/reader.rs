//! Reads COPY data in chunks as they come, and gives batches.
//!
//! What is held is one record and one batch, whatever the size of the input.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};

use super::binary::{self, TupleReader};
use super::fields::{Field, Fields};
use super::options::{CopyFormat, CopyOptions, Header};
use super::records::{Record, RecordReader, bad_format};
use crate::error::{SqlError, SqlResult, code};
use crate::types::builder::utf8;
use crate::types::{InputStyle, RowBuilder};

/// A batch is given at the latest when the records in it have so many bytes.
const BATCH_BYTES_MAX: usize = 8 << 20;

/// What is copied into, as messages name it: the columns are those that the data has, in order.
#[derive(Debug, Clone)]
pub struct CopyTarget {
    pub relation: String,
    pub schema: SchemaRef,
}

/// Reads the data of a `COPY FROM`.
///
/// ```text
/// for each chunk:  while let Some(batch) = reader.read(&mut chunk)? { ... }
/// at the end:      while let Some(batch) = reader.finish()? { ... }
/// ```
#[derive(Debug)]
pub struct CopyReader {
    lines: Lines,
    source: Source,
    rows: RowBuilder,
    rows_max: usize,
    /// Of the records in `rows`.
    bytes: usize,
    rows_given: u64,
}

/// What is constant while rows are read.
#[derive(Debug)]
struct Lines {
    relation: String,
    names: Vec<String>,
    options: CopyOptions,
    force_null: Vec<bool>,
    force_not_null: Vec<bool>,
}

/// Where records come from.
#[derive(Debug)]
enum Source {
    Records { records: RecordReader, fields: Fields, header: Header },
    Tuples(TupleReader),
}

impl CopyReader {
    /// A reader that gives batches of at most `rows_max` rows. Their columns are nullable: what
    /// may not be NULL is for the writer of the table to check, which knows the defaults.
    pub fn new(
        target: &CopyTarget,
        options: &CopyOptions,
        style: &InputStyle,
        rows_max: usize,
    ) -> SqlResult<Self> {
        options.check_for_reading()?;
        let fields = target.schema.fields().iter();
        let nullable: Vec<_> =
            fields.map(|field| field.as_ref().clone().with_nullable(true)).collect();
        let names: Vec<String> = nullable.iter().map(|field| field.name().clone()).collect();
        for set in [&options.force_null, &options.force_not_null] {
            set.check(names.iter().map(String::as_str))?;
        }
        let source = match options.format {
            CopyFormat::Binary => Source::Tuples(TupleReader::new()),
            CopyFormat::Text | CopyFormat::Csv => Source::Records {
                records: RecordReader::new(options),
                fields: Fields::default(),
                header: options.header,
            },
        };
        Ok(Self {
            source,
            rows: RowBuilder::new(&Arc::new(Schema::new(nullable)), style)?,
            rows_max: rows_max.max(1),
            bytes: 0,
            rows_given: 0,
            lines: Lines {
                relation: target.relation.clone(),
                force_null: names.iter().map(|name| options.force_null.contains(name)).collect(),
                force_not_null: names
                    .iter()
                    .map(|name| options.force_not_null.contains(name))
                    .collect(),
                names,
                options: options.clone(),
            },
        })
    }

    /// Rows in the batches given so far.
    pub fn rows_given(&self) -> u64 {
        self.rows_given
    }

    /// Reads on, taking bytes from the front of `chunk`, until a batch is full; `None` when the
    /// chunk is used up.
    pub fn read(&mut self, chunk: &mut &[u8]) -> SqlResult<Option<RecordBatch>> {
        loop {
            if self.rows.len() >= self.rows_max || self.bytes >= BATCH_BYTES_MAX {
                return self.take_batch().map(Some);
            }
            let bytes = match &mut self.source {
                Source::Records { records, fields, header } => match records.read(chunk) {
                    Ok(Some(record)) => {
                        self.lines.take_record(record, fields, header, &mut self.rows)?;
                        record.bytes.len()
                    }
                    Ok(None) => return Ok(None),
                    Err(error) => return Err(self.lines.at_line(error, records.line())),
                },
                Source::Tuples(tuples) => match tuples.read(chunk) {
                    Ok(Some(tuple)) => {
                        self.lines.take_tuple(tuple, &mut self.rows)?;
                        tuple.bytes.len()
                    }
                    Ok(None) => return Ok(None),
                    Err(error) => return Err(self.lines.at_line(error, tuples.line())),
                },
            };
            self.bytes += bytes;
        }
    }

    /// Says that the data has ended; gives the rest of the rows, and then `None`.
    pub fn finish(&mut self) -> SqlResult<Option<RecordBatch>> {
        match &mut self.source {
            Source::Records { records, fields, header } => match records.finish() {
                Ok(Some(record)) => {
                    self.lines.take_record(record, fields, header, &mut self.rows)?;
                }
                Ok(None) => {}
                Err(error) => {
                    let record = Record { bytes: records.partial(), line: records.line() };
                    return Err(self.lines.at_record(error, record));
                }
            },
            Source::Tuples(tuples) => {
                let line = tuples.line();
                tuples.finish().map_err(|error| self.lines.at_line(error, line))?;
            }
        }
        if self.rows.is_empty() { Ok(None) } else { self.take_batch().map(Some) }
    }

    fn take_batch(&mut self) -> SqlResult<RecordBatch> {
        self.bytes = 0;
        let batch = self.rows.finish()?;
        self.rows_given += batch.num_rows() as u64;
        Ok(batch)
    }
}

impl Lines {
    /// Adds a record's row, unless it is the header.
    fn take_record(
        &self,
        record: Record<'_>,
        fields: &mut Fields,
        header: &mut Header,
        rows: &mut RowBuilder,
    ) -> SqlResult<()> {
        let whole = |error| self.at_record(error, record);
        match std::mem::take(header) {
            Header::Names => return Ok(()),
            Header::Match => {
                fields.split(record.bytes, &self.options).map_err(whole)?;
                return self.check_header(fields).map_err(whole);
            }
            Header::None => {}
        }
        fields.split(record.bytes, &self.options).map_err(whole)?;
        // No columns, and nothing in the line: a row.
        let is_bare = self.names.is_empty() && record.bytes.is_empty();
        if fields.len() > self.names.len() && !is_bare {
            return Err(whole(bad_format("extra data after last expected column")));
        }
        if let Some(missing) = self.names.get(fields.len()) {
            return Err(whole(bad_format(format!("missing data for column \"{missing}\""))));
        }
        rows.append(|index, column| {
            let Some(field) = fields.get(index) else { return Ok(()) };
            if self.is_null(field, index) {
                column.append_null();
                return Ok(());
            }
            column.append_text_bytes(field.bytes).map_err(|error| {
                if error.code == code::CHARACTER_NOT_IN_REPERTOIRE {
                    return self.encoding_error(error, record);
                }
                let (line, name) = (record.line, &self.names[index]);
                let value = shown(field.bytes);
                let relation = &self.relation;
                error.context(format!("COPY {relation}, line {line}, column {name}: \"{value}\""))
            })
        })
    }

    fn is_null(&self, field: Field<'_>, index: usize) -> bool {
        if self.force_not_null[index] {
            return false;
        }
        field.is_null || (self.force_null[index] && field.bytes == self.options.null.as_bytes())
    }

    fn check_header(&self, fields: &Fields) -> SqlResult<()> {
        if fields.len() != self.names.len() {
            return Err(bad_format(format!(
                "wrong number of fields in header line: got {}, expected {}",
                fields.len(),
                self.names.len()
            )));
        }
        for (index, (field, name)) in fields.iter().zip(&self.names).enumerate() {
            let number = index + 1;
            let problem = if field.is_null {
                format!("got null value (\"{}\"), expected \"{name}\"", self.options.null)
            } else if field.bytes != name.as_bytes() {
                let got = String::from_utf8_lossy(field.bytes);
                format!("got \"{got}\", expected \"{name}\"")
            } else {
                continue;
            };
            let message = format!("column name mismatch in header line field {number}: {problem}");
            return Err(bad_format(message));
        }
        Ok(())
    }

    /// Adds a binary tuple's row.
    fn take_tuple(&self, tuple: Record<'_>, rows: &mut RowBuilder) -> SqlResult<()> {
        let Record { bytes, line } = tuple;
        let mut values = binary::values(bytes);
        let count = values.declared();
        if usize::from(count) != self.names.len() {
            let message = format!("row field count is {count}, expected {}", self.names.len());
            return Err(self.at_line(bad_format(message), line));
        }
        rows.append(|index, column| {
            let outcome = match values.next() {
                Some(Some(value)) => column.append_binary(value),
                Some(None) => {
                    column.append_null();
                    Ok(())
                }
                None => Err(bad_format("unexpected EOF in COPY data")),
            };
            outcome.map_err(|error| {
                let (relation, name) = (&self.relation, &self.names[index]);
                error.context(format!("COPY {relation}, line {line}, column {name}"))
            })
        })
    }

    /// Bytes that are not text: sent so, or made by escapes in the line.
    fn encoding_error(&self, error: SqlError, record: Record<'_>) -> SqlError {
        match utf8(record.bytes) {
            Err(error) => self.at_line(error, record.line),
            Ok(_) => self.at_record(error, record),
        }
    }

    fn at_line(&self, error: SqlError, line: u64) -> SqlError {
        // The header of binary data is before all lines.
        if line == 0 {
            return error;
        }
        error.context(format!("COPY {}, line {line}", self.relation))
    }

    fn at_record(&self, error: SqlError, record: Record<'_>) -> SqlError {
        let (relation, line, value) = (&self.relation, record.line, shown(record.bytes));
        error.context(format!("COPY {relation}, line {line}: \"{value}\""))
    }
}

/// A value as a context shows it: at most 100 bytes.
fn shown(bytes: &[u8]) -> String {
    const SHOWN_BYTES_MAX: usize = 100;
    let text = String::from_utf8_lossy(bytes);
    if text.len() <= SHOWN_BYTES_MAX {
        return text.into_owned();
    }
    let mut end = SHOWN_BYTES_MAX;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &text[..end])
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use arrow::datatypes::{DataType, Field as ArrowField, Int32Type};

    use super::*;

    type Row = (Option<String>, Option<i32>);

    /// All rows of `data`, sent in chunks of `chunk` bytes, and the sizes of the batches.
    fn read(options: &CopyOptions, data: &[u8], chunk: usize) -> SqlResult<(Vec<Row>, Vec<usize>)> {
        let schema = Arc::new(Schema::new(vec![
            ArrowField::new("a", DataType::Utf8, true),
            ArrowField::new("b", DataType::Int32, false),
        ]));
        let target = CopyTarget { relation: "t".into(), schema };
        let mut reader = CopyReader::new(&target, options, &InputStyle::default(), 2)?;
        let (mut rows, mut sizes) = (Vec::new(), Vec::new());
        let mut keep = |batch: RecordBatch| {
            sizes.push(batch.num_rows());
            let texts = batch.column(0).as_string::<i32>().iter();
            let numbers = batch.column(1).as_primitive::<Int32Type>().iter();
            rows.extend(texts.map(|text| text.map(str::to_owned)).zip(numbers));
        };
        for mut chunk in data.chunks(chunk) {
            while let Some(batch) = reader.read(&mut chunk)? {
                keep(batch);
            }
        }
        while let Some(batch) = reader.finish()? {
            keep(batch);
        }
        assert_eq!(reader.rows_given(), rows.len() as u64);
        Ok((rows, sizes))
    }

    fn csv(options: &[(&str, &str)]) -> CopyOptions {
        let format = [("format", Some("csv"))];
        let others = options.iter().map(|(name, value)| (*name, Some(*value)));
        CopyOptions::parse(format.into_iter().chain(others)).expect("valid options")
    }

    fn row(a: Option<&str>, b: Option<i32>) -> Row {
        (a.map(str::to_owned), b)
    }

    #[test]
    fn rows_come_in_batches_wherever_the_chunks_are_cut() {
        let data = "a\t1\n\\N\t\\N\nb\\tc\t-3\n\t4\né\t5";
        let expected = vec![
            row(Some("a"), Some(1)),
            row(None, None),
            row(Some("b\tc"), Some(-3)),
            row(Some(""), Some(4)),
            row(Some("é"), Some(5)),
        ];
        for chunk in 1..=data.len() {
            let read = read(&CopyOptions::default(), data.as_bytes(), chunk).expect("valid data");
            assert_eq!(read, (expected.clone(), vec![2, 2, 1]));
        }
    }

    #[test]
    fn csv_tells_null_from_the_empty_string() {
        let data = "x,y\r\n,1\r\n\"\",\r\n\"a\r\nb\",\"2\"\r\n";
        let expected = vec![row(None, Some(1)), row(Some(""), None), row(Some("a\r\nb"), Some(2))];
        for chunk in 1..=data.len() {
            let read = read(&csv(&[("header", "true")]), data.as_bytes(), chunk);
            assert_eq!(read.map(|(rows, _)| rows), Ok(expected.clone()));
        }
        let forced = csv(&[("null", "NA"), ("force_null", "a")]);
        let (rows, _) = read(&forced, b"\"NA\",1\nNA,NA\n", 100).expect("valid data");
        assert_eq!(rows, [row(None, Some(1)), row(None, None)]);
        let forced = csv(&[("force_not_null", "a")]);
        let (rows, _) = read(&forced, b",1\n", 100).expect("valid data");
        assert_eq!(rows, [row(Some(""), Some(1))]);
    }

    #[test]
    fn errors_say_where_as_postgresql_does() {
        let text = CopyOptions::default();
        let match_header = csv(&[("header", "match")]);
        let long = format!("{}\tz\n", "x".repeat(150));
        let long_context = format!("COPY t, line 1: \"{}...\"", "x".repeat(100));
        for (options, data, message, context) in [
            (&text, "a\t1\nb\n", "missing data for column \"b\"", "COPY t, line 2: \"b\""),
            (&text, "\n", "missing data for column \"b\"", "COPY t, line 1: \"\""),
            (
                &text,
                "a\t1\t2\n",
                "extra data after last expected column",
                "COPY t, line 1: \"a\t1\t2\"",
            ),
            (
                &text,
                "a\\\nb\tx\n",
                "invalid input syntax for type integer: \"x\"",
                "COPY t, line 2, column b: \"x\"",
            ),
            (
                &text,
                "a\\0\t1\n",
                "invalid byte sequence for encoding \"UTF8\": 0x00",
                "COPY t, line 1: \"a\\0\t1\"",
            ),
            (&text, "a\t1\nb\r\n", "literal carriage return found in data", "COPY t, line 2"),
            (
                &csv(&[]),
                "a,1\n\"b,\n",
                "unterminated CSV quoted field",
                "COPY t, line 3: \"\"b,\n\"",
            ),
            (
                &match_header,
                "a,c\n",
                "column name mismatch in header line field 2: got \"c\", expected \"b\"",
                "COPY t, line 1: \"a,c\"",
            ),
            (
                &match_header,
                "a\n",
                "wrong number of fields in header line: got 1, expected 2",
                "COPY t, line 1: \"a\"",
            ),
            (&text, long.trim_end_matches("\tz\n"), "missing data for column \"b\"", &long_context),
        ] {
            let error = read(options, data.as_bytes(), 3).expect_err(message);
            assert_eq!(
                (error.message.as_str(), error.context.as_deref()),
                (message, Some(context))
            );
        }
        let error = read(&text, b"a\xc3\t1\n", 100).expect_err("not UTF-8");
        assert_eq!(error.message, "invalid byte sequence for encoding \"UTF8\": 0xc3 0x09");
        assert_eq!(error.context.as_deref(), Some("COPY t, line 1"));
    }

    #[test]
    fn binary_tuples_are_cut_anywhere() {
        let options = CopyOptions::of_format(CopyFormat::Binary);
        let mut data = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0".to_vec();
        data.extend_from_slice(b"\0\x02\0\0\0\x01a\0\0\0\x04\0\0\0\x07");
        data.extend_from_slice(b"\0\x02\xff\xff\xff\xff\xff\xff\xff\xff");
        let rows = vec![row(Some("a"), Some(7)), row(None, None)];
        for chunk in 1..=data.len() {
            let read = read(&options, &data, chunk).expect("no end mark");
            assert_eq!(read.0, rows);
        }
        let ended = [&data[..], b"\xff\xff"].concat();
        assert_eq!(read(&options, &ended, 5).map(|(rows, _)| rows), Ok(rows));
        let (header, tuples) = data.split_at(19);
        for (data, message) in [
            ([&ended[..], b"x"].concat(), "received copy data after EOF marker"),
            (data[..30].to_vec(), "unexpected EOF in COPY data"),
            ([header, b"\0\x01\xff\xff\xff\xff"].concat(), "row field count is 1, expected 2"),
            ([header, b"\0\x02\xff\xff\xff\xfe"].concat(), "invalid field size"),
            (tuples.to_vec(), "COPY file signature not recognized"),
        ] {
            let error = read(&options, &data, 4).expect_err(message);
            assert_eq!((error.message.as_str(), error.code), (message, "22P04"));
        }
        let wrong = [header, b"\0\x02\0\0\0\x01a\0\0\0\x01a"].concat();
        let error = read(&options, &wrong, 100).expect_err("one byte is no integer");
        assert_eq!(error.context.as_deref(), Some("COPY t, line 1, column b"));
    }
}
