//! Formats: rows from the bytes of records. A format knows nothing of where the bytes come from.
//!
//! A record that cannot be read costs no other its row: [`Decoder::add`] gives the reason, and the
//! connector puts the record aside as a dead letter.

mod csv;
mod json;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use self::csv::{CsvDecoder, CsvOptions};
use self::json::JsonDecoder;
use super::option::OptionReader;
use super::registry::Options;
use crate::error::{SqlError, SqlResult, code};

/// `FORMAT ... ENCODE ... (...)`, checked.
#[derive(Debug, Clone)]
pub(super) enum FormatOptions {
    Csv(CsvOptions),
    Json,
}

/// Where records end in a stream of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// With each newline.
    Lines,
    /// With each newline that is outside of quotes.
    Quoted { quote: u8, escape: u8 },
}

impl FormatOptions {
    /// Reads and checks the clauses.
    pub(super) fn read(options: &Options) -> SqlResult<Self> {
        match options.format.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None | Some("plain") => {}
            Some(other) => {
                let format = other.to_ascii_uppercase();
                return Err(SqlError::unsupported(format!(
                    "FORMAT {format} of {}",
                    options.owner()
                ))
                .hint("FORMAT PLAIN is."));
            }
        }
        let Some(encode) = options.encode.as_deref() else {
            return Err(SqlError::new(
                code::INVALID_PARAMETER_VALUE,
                format!("{} needs to know how its records are encoded", options.owner()),
            )
            .hint("Add FORMAT PLAIN ENCODE CSV or FORMAT PLAIN ENCODE JSON."));
        };
        let encode = encode.to_ascii_uppercase();
        let mut reader = OptionReader::new(format!("ENCODE {encode}"), &options.encode_options);
        let format = match encode.as_str() {
            "CSV" => FormatOptions::Csv(CsvOptions::read(&mut reader)?),
            "JSON" => FormatOptions::Json,
            _ => {
                return Err(SqlError::unsupported(format!("ENCODE {encode}"))
                    .hint("ENCODE CSV and ENCODE JSON are."));
            }
        };
        reader.finish()?;
        Ok(format)
    }

    pub(super) fn framing(&self) -> Framing {
        match self {
            FormatOptions::Csv(options) => options.framing(),
            FormatOptions::Json => Framing::Lines,
        }
    }

    /// Whether the first record of a stream is a header.
    pub(super) fn has_header(&self) -> bool {
        matches!(self, FormatOptions::Csv(options) if options.has_header())
    }

    /// A decoder for rows with this schema.
    pub(super) fn decoder(&self, schema: &SchemaRef) -> SqlResult<Decoder> {
        Ok(match self {
            FormatOptions::Csv(options) => Decoder::Csv(CsvDecoder::new(options, schema)?),
            FormatOptions::Json => Decoder::Json(JsonDecoder::new(schema)?),
        })
    }
}

/// Makes rows of records.
pub(super) enum Decoder {
    Csv(CsvDecoder),
    Json(JsonDecoder),
}

impl Decoder {
    /// Checks the record that is a header.
    pub(super) fn header(&mut self, record: &[u8]) -> SqlResult<()> {
        match self {
            Decoder::Csv(decoder) => decoder.header(record),
            Decoder::Json(_) => Ok(()),
        }
    }

    /// Adds a record's row. With an error, no row was added.
    pub(super) fn add(&mut self, record: &[u8]) -> SqlResult<()> {
        match self {
            Decoder::Csv(decoder) => decoder.add(record),
            Decoder::Json(decoder) => decoder.add(record),
        }
    }

    /// The rows since the last batch.
    pub(super) fn finish(&mut self) -> SqlResult<RecordBatch> {
        match self {
            Decoder::Csv(decoder) => decoder.finish(),
            Decoder::Json(decoder) => decoder.finish(),
        }
    }
}

/// A NULL where the column takes none, as PostgreSQL says it.
pub(super) fn not_null(column: &str) -> SqlError {
    SqlError::new(
        code::NOT_NULL_VIOLATION,
        format!("null value in column \"{column}\" violates not-null constraint"),
    )
}
