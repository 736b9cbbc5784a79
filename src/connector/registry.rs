//! Which connectors there are: options checked when a source is created, sources opened when it
//! runs. The two read the options with the same code, so what was accepted opens.

use std::collections::BTreeMap;

use arrow::datatypes::{Schema, SchemaRef};

use super::Source;
use super::datagen::options::DatagenOptions;
use super::datagen::source::DatagenSource;
use super::file::options::FileOptions;
use super::file::source::FileSource;
use super::nexmark::source::NexmarkSource;
use super::nexmark::{self, options::NexmarkOptions};
use crate::error::{SqlError, SqlResult, code};

const CONNECTORS: &[&str] = &["datagen", "file", "nexmark"];

/// `WITH (connector = ..., ...) FORMAT ... ENCODE ... (...)`: names in lower case, values as
/// written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    pub connector: String,
    /// The other options of WITH.
    pub options: BTreeMap<String, String>,
    pub format: Option<String>,
    pub encode: Option<String>,
    pub encode_options: BTreeMap<String, String>,
}

impl Options {
    /// What messages call it.
    pub(super) fn owner(&self) -> String {
        format!("connector \"{}\"", self.connector)
    }

    /// For connectors whose rows have no bytes to decode. What other engines' scripts say of
    /// their generators is let pass: it changes nothing.
    pub(super) fn no_format(&self) -> SqlResult<()> {
        let is = |given: &Option<String>, names: &[&str]| {
            given.as_ref().is_none_or(|given| names.iter().any(|n| given.eq_ignore_ascii_case(n)))
        };
        if is(&self.format, &["plain"])
            && is(&self.encode, &["native", "json"])
            && self.encode_options.is_empty()
        {
            return Ok(());
        }
        Err(SqlError::new(
            code::INVALID_PARAMETER_VALUE,
            format!("{} makes rows, and has no FORMAT and ENCODE", self.owner()),
        )
        .hint("Leave the FORMAT and ENCODE clauses out."))
    }
}

/// Checks all options, and gives the schema of the source's rows. `declared` are the columns that
/// the user declared, if any.
pub fn check(options: &Options, declared: Option<&Schema>) -> SqlResult<SchemaRef> {
    match options.connector.as_str() {
        "nexmark" => nexmark::source::schema(&NexmarkOptions::read(options)?, declared),
        "datagen" => {
            let declared = needed(options, declared)?;
            DatagenOptions::read(options, &declared)?;
            Ok(declared)
        }
        "file" => {
            let declared = needed(options, declared)?;
            let read = FileOptions::read(options)?;
            read.look()?;
            FileSource::new(read, SchemaRef::clone(&declared))?;
            Ok(declared)
        }
        _ => Err(unknown(options)),
    }
}

/// Opens the source at its beginning; `schema` is what [`check`] gave.
pub fn open(options: &Options, schema: SchemaRef) -> SqlResult<Box<dyn Source>> {
    match options.connector.as_str() {
        "nexmark" => {
            let read = NexmarkOptions::read(options)?;
            let schema = nexmark::source::schema(&read, Some(&schema))?;
            Ok(Box::new(NexmarkSource::new(read, schema)))
        }
        "datagen" => {
            let read = DatagenOptions::read(options, &schema)?;
            Ok(Box::new(DatagenSource::new(read, schema)))
        }
        "file" => Ok(Box::new(FileSource::new(FileOptions::read(options)?, schema)?)),
        _ => Err(unknown(options)),
    }
}

/// The declared columns, for a connector that has none of its own.
fn needed(options: &Options, declared: Option<&Schema>) -> SqlResult<SchemaRef> {
    match declared {
        Some(declared) if !declared.fields().is_empty() => Ok(declared.clone().into()),
        _ => Err(SqlError::new(
            code::INVALID_TABLE_DEFINITION,
            format!("{} needs declared columns", options.owner()),
        )
        .hint("Declare them: CREATE SOURCE name (column type, ...) WITH (...).")),
    }
}

fn unknown(options: &Options) -> SqlError {
    let error = SqlError::new(
        code::UNDEFINED_OBJECT,
        format!("connector \"{}\" does not exist", options.connector),
    );
    error.hint(format!("There are: {}.", CONNECTORS.join(", ")))
}
