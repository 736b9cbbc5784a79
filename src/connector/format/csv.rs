//! ENCODE CSV: COPY's CSV, with its options, and its rules for quotes and NULL.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::{Framing, not_null};
use crate::connector::option::{OptionReader, invalid};
use crate::error::{SqlError, SqlResult, code};
use crate::types::copy::{CopyOptions, Field, Fields, Header};
use crate::types::{InputStyle, RowBuilder};

/// The options of COPY that ENCODE CSV has, too.
const OPTIONS: &[&str] =
    &["delimiter", "escape", "force_not_null", "force_null", "header", "null", "quote"];

/// Characters of a value that an error shows.
const SHOWN: usize = 100;

/// How records are written.
#[derive(Debug, Clone)]
pub(in crate::connector) struct CsvOptions(CopyOptions);

impl CsvOptions {
    pub(super) fn read(reader: &mut OptionReader<'_>) -> SqlResult<Self> {
        let mut given = vec![("format", Some("csv"))];
        for name in OPTIONS {
            if let Some(value) = reader.text(&[name])? {
                given.push((*name, Some(value)));
            }
        }
        // As RisingWave says it.
        if let Some(without_header) = reader.switch(&["without_header"])? {
            if given.iter().any(|(name, _)| *name == "header") {
                let value = without_header.to_string();
                return Err(invalid("without_header", &value, "left out where header is given"));
            }
            given.push(("header", Some(if without_header { "false" } else { "true" })));
        }
        Ok(Self(CopyOptions::parse(given)?))
    }

    pub(super) fn framing(&self) -> Framing {
        Framing::Quoted { quote: self.0.quote, escape: self.0.escape }
    }

    pub(super) fn has_header(&self) -> bool {
        self.0.header != Header::None
    }
}

/// Makes rows of CSV records: values belong to columns in order.
pub(in crate::connector) struct CsvDecoder {
    options: CopyOptions,
    columns: Vec<Column>,
    rows: RowBuilder,
    fields: Fields,
}

struct Column {
    name: String,
    not_null: bool,
    force_null: bool,
    force_not_null: bool,
}

impl CsvDecoder {
    /// A decoder for rows with this schema.
    pub(super) fn new(options: &CsvOptions, schema: &SchemaRef) -> SqlResult<Self> {
        let options = options.0.clone();
        let names = schema.fields().iter().map(|field| field.name().as_str());
        options.force_null.check(names.clone())?;
        options.force_not_null.check(names)?;
        let columns = schema
            .fields()
            .iter()
            .map(|field| Column {
                name: field.name().clone(),
                not_null: !field.is_nullable(),
                force_null: options.force_null.contains(field.name()),
                force_not_null: options.force_not_null.contains(field.name()),
            })
            .collect();
        let rows = RowBuilder::new(schema, &InputStyle::default())?;
        Ok(Self { options, columns, rows, fields: Fields::default() })
    }

    /// Checks the header, if it is to match the columns.
    pub(super) fn header(&mut self, record: &[u8]) -> SqlResult<()> {
        if self.options.header != Header::Match {
            return Ok(());
        }
        self.fields.split(record, &self.options)?;
        let found: Vec<_> =
            self.fields.iter().map(|field| String::from_utf8_lossy(field.bytes)).collect();
        if found.iter().eq(self.columns.iter().map(|column| &column.name)) {
            return Ok(());
        }
        let names: Vec<_> = self.columns.iter().map(|column| column.name.as_str()).collect();
        Err(bad_format(format!(
            "header line names columns {}, but the source has {}",
            found.join(", "),
            names.join(", ")
        )))
    }

    /// Adds a record's row. An empty line is one only where it can be a single column's value.
    pub(super) fn add(&mut self, record: &[u8]) -> SqlResult<()> {
        if record.is_empty() && self.columns.len() != 1 {
            return Ok(());
        }
        self.fields.split(record, &self.options)?;
        if self.fields.len() > self.columns.len() {
            return Err(bad_format("extra data after last expected column"));
        }
        if let Some(missing) = self.columns.get(self.fields.len()) {
            return Err(bad_format(format!("missing data for column \"{}\"", missing.name)));
        }
        let (columns, fields, null) = (&self.columns, &self.fields, self.options.null.as_bytes());
        self.rows.append(|index, builder| {
            let column = &columns[index];
            let Some(field) = fields.get(index) else { return Ok(()) };
            if column.is_null(field, null) {
                if column.not_null {
                    return Err(not_null(&column.name));
                }
                builder.append_null();
                return Ok(());
            }
            builder.append_text_bytes(field.bytes).map_err(|error| {
                error.context(format!("column {}: \"{}\"", column.name, shown(field.bytes)))
            })
        })
    }

    /// The rows since the last batch.
    pub(super) fn finish(&mut self) -> SqlResult<RecordBatch> {
        self.rows.finish()
    }
}

impl Column {
    fn is_null(&self, field: Field<'_>, null: &[u8]) -> bool {
        !self.force_not_null && (field.is_null || (self.force_null && field.bytes == null))
    }
}

fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into_owned(),
    }
}

fn bad_format(message: impl Into<String>) -> SqlError {
    SqlError::new(code::BAD_COPY_FILE_FORMAT, message)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use arrow::datatypes::Schema;
    use arrow::util::pretty::pretty_format_batches;
    use expect_test::expect;

    use super::*;
    use crate::types::SqlType;

    fn options(pairs: &[(&str, &str)]) -> SqlResult<CsvOptions> {
        let options: BTreeMap<String, String> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut reader = OptionReader::new("ENCODE CSV", &options);
        let read = CsvOptions::read(&mut reader)?;
        reader.finish()?;
        Ok(read)
    }

    fn decoder(pairs: &[(&str, &str)]) -> SqlResult<CsvDecoder> {
        let schema = Schema::new(vec![
            SqlType::Text.field("a", true),
            SqlType::Numeric(Some((5, 2))).field("b", false),
        ]);
        CsvDecoder::new(&options(pairs)?, &Arc::new(schema))
    }

    #[test]
    fn good_rows_go_on_where_bad_ones_are_refused() {
        let mut decoder = decoder(&[("null", "NA"), ("force_null", "a")]).expect("valid");
        let mut reasons = Vec::new();
        for record in ["\"NA\",1", "\"x\"\"y\",2.5", "z,NA", "z,1e9", "z", "z,1,2", "", "\"\",3"] {
            if let Err(error) = decoder.add(record.as_bytes()) {
                let context = error.context.unwrap_or_default();
                reasons.push(format!("{} {} {context}", error.code, error.message));
            }
        }
        let batch = decoder.finish().expect("rows");
        let table = pretty_format_batches(&[batch]).expect("printable").to_string();
        expect![[r#"
            +-----+------+
            | a   | b    |
            +-----+------+
            |     | 1.00 |
            | x"y | 2.50 |
            |     | 3.00 |
            +-----+------+"#]]
        .assert_eq(&table);
        expect![[r#"
            23502 null value in column "b" violates not-null constraint 
            22003 numeric field overflow column b: "1e9"
            22P04 missing data for column "b" 
            22P04 extra data after last expected column "#]]
        .assert_eq(&reasons.join("\n"));
    }

    #[test]
    fn a_header_matches_or_says_what_it_has() {
        let mut decoder = decoder(&[("header", "match"), ("delimiter", ";")]).expect("valid");
        decoder.header(b"a;b").expect("the columns");
        let error = decoder.header(b"a;c").expect_err("no c");
        assert_eq!(error.message, "header line names columns a, c, but the source has a, b");
        assert_eq!(decoder.finish().expect("no rows").num_rows(), 0);
    }

    #[test]
    fn wrong_options_are_refused() {
        let refused =
            |pairs: &[(&str, &str)]| decoder(pairs).map(|_| ()).expect_err("refused").code;
        assert_eq!(refused(&[("delimiter", "ab")]), "0A000");
        assert_eq!(refused(&[("quotes", "'")]), "42704");
        assert_eq!(refused(&[("force_null", "c")]), "42703");
        assert_eq!(refused(&[("header", "true"), ("without_header", "true")]), "22023");
        assert!(options(&[("without_header", "false")]).expect("valid").has_header());
        let quoted = options(&[("quote", "'")]).expect("valid").framing();
        assert_eq!(quoted, Framing::Quoted { quote: b'\'', escape: b'\'' });
    }
}
