//! Writes the data of a `COPY TO`, row by row.

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};

use super::binary::{push_header, push_trailer};
use super::options::{CopyFormat, CopyOptions, Header};
use crate::error::{SqlError, SqlResult};
use crate::types::binary::BinaryEncoder;
use crate::types::text::{TextEncoder, TextStyle};

/// Writes rows of one schema in one of COPY's formats.
#[derive(Debug)]
pub struct CopyWriter {
    schema: SchemaRef,
    options: CopyOptions,
    style: TextStyle,
    force_quote: Vec<bool>,
}

/// The rows of a batch, ready to be written.
#[derive(Debug)]
pub struct CopyRows<'a> {
    writer: &'a CopyWriter,
    columns: Columns,
}

#[derive(Debug)]
enum Columns {
    Text(Vec<TextEncoder>),
    Binary(Vec<BinaryEncoder>),
}

impl CopyWriter {
    /// A writer of rows with `schema`.
    pub fn new(schema: SchemaRef, options: &CopyOptions, style: &TextStyle) -> SqlResult<Self> {
        options.check_for_writing()?;
        let names = schema.fields().iter().map(|field| field.name().as_str());
        options.force_quote.check(names.clone())?;
        let force_quote = names.map(|name| options.force_quote.contains(name)).collect();
        Ok(Self { schema, options: options.clone(), style: *style, force_quote })
    }

    /// Appends what comes before all rows.
    pub fn write_header(&self, out: &mut Vec<u8>) {
        match self.options.format {
            CopyFormat::Binary => push_header(out),
            CopyFormat::Text | CopyFormat::Csv if self.options.header != Header::None => {
                for (index, field) in self.schema.fields().iter().enumerate() {
                    self.write_delimiter(index, out);
                    let start = out.len();
                    out.extend_from_slice(field.name().as_bytes());
                    self.protect(start, false, out);
                }
                out.push(b'\n');
            }
            CopyFormat::Text | CopyFormat::Csv => {}
        }
    }

    /// Appends what comes after all rows.
    pub fn write_trailer(&self, out: &mut Vec<u8>) {
        if self.options.format == CopyFormat::Binary {
            push_trailer(out);
        }
    }

    /// Looks at a batch, whose rows can then be written.
    pub fn rows(&self, batch: &RecordBatch) -> SqlResult<CopyRows<'_>> {
        let schema: &Schema = &self.schema;
        if batch.num_columns() != schema.fields().len() {
            return Err(SqlError::internal("COPY batch with other columns than its schema"));
        }
        let columns = schema.fields().iter().zip(batch.columns());
        let columns = match self.options.format {
            CopyFormat::Binary => Columns::Binary(
                columns
                    .map(|(field, array)| BinaryEncoder::new(field, array))
                    .collect::<SqlResult<_>>()?,
            ),
            CopyFormat::Text | CopyFormat::Csv => Columns::Text(
                columns
                    .map(|(field, array)| TextEncoder::new(field, array, &self.style))
                    .collect::<SqlResult<_>>()?,
            ),
        };
        Ok(CopyRows { writer: self, columns })
    }

    fn write_delimiter(&self, index: usize, out: &mut Vec<u8>) {
        if index > 0 {
            out.push(self.options.delimiter);
        }
    }

    /// Escapes or quotes the value that begins at `start`.
    fn protect(&self, start: usize, is_forced: bool, out: &mut Vec<u8>) {
        match self.options.format {
            CopyFormat::Csv => self.quote(start, is_forced, out),
            CopyFormat::Text | CopyFormat::Binary => self.escape(start, out),
        }
    }

    fn escape(&self, start: usize, out: &mut Vec<u8>) {
        let delimiter = self.options.delimiter;
        let escaped = |byte: u8| match byte {
            b'\\' => Some(b'\\'),
            0x08 => Some(b'b'),
            0x0c => Some(b'f'),
            b'\n' => Some(b'n'),
            b'\r' => Some(b'r'),
            b'\t' => Some(b't'),
            0x0b => Some(b'v'),
            _ if byte == delimiter => Some(delimiter),
            _ => None,
        };
        let Some(first) = out[start..].iter().position(|byte| escaped(*byte).is_some()) else {
            return;
        };
        let tail = out.split_off(start + first);
        for byte in tail {
            match escaped(byte) {
                Some(letter) => out.extend_from_slice(&[b'\\', letter]),
                None => out.push(byte),
            }
        }
    }

    fn quote(&self, start: usize, is_forced: bool, out: &mut Vec<u8>) {
        let CopyOptions { delimiter, quote, escape, null, .. } = &self.options;
        let value = &out[start..];
        let is_special =
            |byte: &u8| matches!(byte, b'\n' | b'\r') || byte == delimiter || byte == quote;
        let needs_quotes = is_forced
            || value == null.as_bytes()
            // Alone in its line it would be the end mark.
            || (self.schema.fields().len() == 1 && value == b"\\.")
            || value.iter().any(is_special);
        if !needs_quotes {
            return;
        }
        let tail = out.split_off(start);
        out.push(*quote);
        for byte in tail {
            if byte == *quote || byte == *escape {
                out.push(*escape);
            }
            out.push(byte);
        }
        out.push(*quote);
    }
}

impl CopyRows<'_> {
    /// Appends a row.
    pub fn write(&self, row: usize, out: &mut Vec<u8>) {
        match &self.columns {
            Columns::Text(columns) => self.write_text(columns, row, out),
            Columns::Binary(columns) => write_tuple(columns, row, out),
        }
    }

    fn write_text(&self, columns: &[TextEncoder], row: usize, out: &mut Vec<u8>) {
        let writer = self.writer;
        for (index, column) in columns.iter().enumerate() {
            writer.write_delimiter(index, out);
            if column.is_null(row) {
                out.extend_from_slice(writer.options.null.as_bytes());
            } else {
                let start = out.len();
                column.write(row, out);
                writer.protect(start, writer.force_quote[index], out);
            }
        }
        out.push(b'\n');
    }
}

fn write_tuple(columns: &[BinaryEncoder], row: usize, out: &mut Vec<u8>) {
    // A table has at most 1600 columns.
    let count = i16::try_from(columns.len()).unwrap_or(i16::MAX);
    out.extend_from_slice(&count.to_be_bytes());
    for column in columns {
        column.write_with_length(row, out);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int32Array, StringArray};
    use arrow::datatypes::{DataType, Field};

    use super::*;

    fn write(options: &[(&str, &str)], texts: &[Option<&str>]) -> String {
        let options = options.iter().map(|(name, value)| (*name, Some(*value)));
        let options = CopyOptions::parse(options).expect("valid options");
        let schema = Arc::new(Schema::new(vec![
            Field::new("a \"b\"", DataType::Utf8, true),
            Field::new("n", DataType::Int32, true),
        ]));
        let numbers = Int32Array::from_iter(texts.iter().map(|text| text.map(|_| 1)));
        let columns: Vec<arrow::array::ArrayRef> =
            vec![Arc::new(StringArray::from(texts.to_vec())), Arc::new(numbers)];
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).expect("a batch");
        let writer = CopyWriter::new(schema, &options, &TextStyle::default()).expect("a writer");
        let mut out = Vec::new();
        writer.write_header(&mut out);
        let rows = writer.rows(&batch).expect("rows");
        (0..batch.num_rows()).for_each(|row| rows.write(row, &mut out));
        writer.write_trailer(&mut out);
        out.escape_ascii().to_string()
    }

    #[test]
    fn text_is_escaped() {
        let rows = [Some("a\tb\\c\nd\re\u{8}\u{b}\u{c}|"), None, Some("")];
        assert_eq!(write(&[], &rows), r"a\\tb\\\\c\\nd\\re\\b\\v\\f|\t1\n\\N\t\\N\n\t1\n");
        assert_eq!(
            write(&[("delimiter", "|"), ("null", "-")], &rows[..2]),
            r"a\\tb\\\\c\\nd\\re\\b\\v\\f\\||1\n-|-\n"
        );
    }

    #[test]
    fn csv_is_quoted_where_needed() {
        let rows = [Some("a,b"), Some("c\"d"), Some(""), None, Some("e\nf"), Some(" g ")];
        assert_eq!(
            write(&[("format", "csv"), ("header", "on")], &rows),
            r#"\"a \"\"b\"\"\",n\n\"a,b\",1\n\"c\"\"d\",1\n\"\",1\n,\n\"e\nf\",1\n g ,1\n"#
        );
        assert_eq!(
            write(&[("format", "csv"), ("force_quote", "*"), ("escape", "\\")], &rows[1..4]),
            r#"\"c\\\"d\",\"1\"\n\"\",\"1\"\n,\n"#
        );
    }

    #[test]
    fn binary_has_a_header_and_an_end() {
        assert_eq!(
            write(&[("format", "binary")], &[Some("x"), None]),
            concat!(
                r"PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00",
                r"\x00\x02\x00\x00\x00\x01x\x00\x00\x00\x04\x00\x00\x00\x01",
                r"\x00\x02\xff\xff\xff\xff\xff\xff\xff\xff",
                r"\xff\xff"
            )
        );
    }
}
