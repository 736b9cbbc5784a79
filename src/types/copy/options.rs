//! The options of a COPY, with PostgreSQL's defaults and objections.

use crate::error::{SqlError, SqlResult, code};

/// How rows lie in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CopyFormat {
    #[default]
    Text,
    Csv,
    Binary,
}

/// What is done about a line of column names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Header {
    #[default]
    None,
    /// Written; not looked at when read.
    Names,
    /// When read, must name the columns.
    Match,
}

/// Columns that an option is for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ColumnSet {
    #[default]
    None,
    All,
    Named(Vec<String>),
}

impl ColumnSet {
    pub fn contains(&self, column: &str) -> bool {
        match self {
            ColumnSet::None => false,
            ColumnSet::All => true,
            ColumnSet::Named(names) => names.iter().any(|name| name == column),
        }
    }

    /// An error if a name is none of `columns`.
    pub fn check<'a>(&self, columns: impl Iterator<Item = &'a str> + Clone) -> SqlResult<()> {
        let ColumnSet::Named(names) = self else { return Ok(()) };
        let unknown = names.iter().find(|name| !columns.clone().any(|column| column == *name));
        unknown.map_or(Ok(()), |name| {
            let message = format!("column \"{name}\" does not exist");
            Err(SqlError::new(code::UNDEFINED_COLUMN, message))
        })
    }
}

/// The options of a COPY, settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyOptions {
    pub format: CopyFormat,
    pub delimiter: u8,
    /// What stands for NULL.
    pub null: String,
    pub header: Header,
    /// CSV: around a value.
    pub quote: u8,
    /// CSV: before a quote inside of quotes.
    pub escape: u8,
    /// CSV, written: quoted even where not needed.
    pub force_quote: ColumnSet,
    /// CSV, read: never NULL.
    pub force_not_null: ColumnSet,
    /// CSV, read: NULL even if quoted.
    pub force_null: ColumnSet,
}

impl Default for CopyOptions {
    fn default() -> Self {
        Self::of_format(CopyFormat::Text)
    }
}

impl CopyOptions {
    /// The defaults of a format.
    pub fn of_format(format: CopyFormat) -> Self {
        let is_csv = format == CopyFormat::Csv;
        Self {
            format,
            delimiter: if is_csv { b',' } else { b'\t' },
            null: if is_csv { String::new() } else { "\\N".to_owned() },
            header: Header::None,
            quote: b'"',
            escape: b'"',
            force_quote: ColumnSet::None,
            force_not_null: ColumnSet::None,
            force_null: ColumnSet::None,
        }
    }

    /// Settles what a statement says: names in any case, and their values; lists of columns are
    /// separated by commas, `*` is all of them.
    ///
    /// ```
    /// use weir::types::copy::{CopyFormat, CopyOptions};
    ///
    /// let options = [("format", Some("csv")), ("null", Some("NA")), ("header", None)];
    /// let options = CopyOptions::parse(options)?;
    /// assert_eq!((options.format, options.delimiter), (CopyFormat::Csv, b','));
    /// # Ok::<(), weir::error::SqlError>(())
    /// ```
    pub fn parse<'a>(
        options: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    ) -> SqlResult<Self> {
        let mut given: Vec<(String, Option<&str>)> = Vec::new();
        for (name, value) in options {
            let name = name.to_ascii_lowercase();
            if given.iter().any(|(other, _)| *other == name) {
                return Err(syntax_error("conflicting or redundant options"));
            }
            given.push((name, value));
        }
        let format = given
            .iter()
            .find(|(name, _)| name == "format")
            .map_or(Ok(None), |(_, f)| parse_format(f.unwrap_or_default()).map(Some))?;
        let mut settled = Self::of_format(format.unwrap_or_default());
        let mut escape = None;
        for (name, value) in &given {
            settled.set(name, *value, &mut escape)?;
        }
        settled.escape = escape.unwrap_or(settled.quote);
        let is_given = |name: &str| given.iter().any(|(other, _)| other == name);
        settled.check(is_given)?;
        Ok(settled)
    }

    /// An error if an option is for writing only.
    pub(super) fn check_for_reading(&self) -> SqlResult<()> {
        if self.force_quote != ColumnSet::None {
            return Err(unsupported("COPY force quote only available using COPY TO"));
        }
        Ok(())
    }

    /// An error if an option is for reading only.
    pub(super) fn check_for_writing(&self) -> SqlResult<()> {
        for (set, name) in
            [(&self.force_not_null, "force not null"), (&self.force_null, "force null")]
        {
            if *set != ColumnSet::None {
                let message = format!("COPY {name} only available using COPY FROM");
                return Err(unsupported(message));
            }
        }
        if self.header == Header::Match {
            return Err(unsupported("cannot use \"match\" with HEADER in COPY TO"));
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: Option<&str>, escape: &mut Option<u8>) -> SqlResult<()> {
        let text = value.unwrap_or_default();
        match name {
            "format" => {}
            "delimiter" => {
                self.delimiter = one_byte(text).ok_or_else(|| {
                    unsupported("COPY delimiter must be a single one-byte character")
                })?;
            }
            "null" => text.clone_into(&mut self.null),
            "header" => self.header = parse_header(value)?,
            "quote" => {
                self.quote = one_byte(text)
                    .ok_or_else(|| unsupported("COPY quote must be a single one-byte character"))?;
            }
            "escape" => {
                *escape = Some(one_byte(text).ok_or_else(|| {
                    unsupported("COPY escape must be a single one-byte character")
                })?);
            }
            "force_quote" => self.force_quote = columns(text),
            "force_not_null" => self.force_not_null = columns(text),
            "force_null" => self.force_null = columns(text),
            // Says how rows are stored, which is Weir's business.
            "freeze" => {}
            "encoding" => {
                let plain = text.replace(['-', '_'], "");
                if !["utf8", "unicode", "sqlascii"].iter().any(|e| plain.eq_ignore_ascii_case(e)) {
                    return Err(SqlError::unsupported(format!("COPY encoding \"{text}\"")));
                }
            }
            other => {
                return Err(syntax_error(format!("option \"{other}\" not recognized")));
            }
        }
        Ok(())
    }

    /// PostgreSQL's objections, in its order.
    fn check(&self, is_given: impl Fn(&str) -> bool) -> SqlResult<()> {
        let is_csv = self.format == CopyFormat::Csv;
        let invalid =
            |message: &str| Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message.to_owned()));
        if self.format == CopyFormat::Binary {
            for (name, shown) in [("delimiter", "DELIMITER"), ("null", "NULL")] {
                if is_given(name) {
                    return Err(syntax_error(format!("cannot specify {shown} in BINARY mode")));
                }
            }
            if is_given("header") && self.header != Header::None {
                return Err(unsupported("cannot specify HEADER in BINARY mode"));
            }
        }
        if matches!(self.delimiter, b'\n' | b'\r') {
            return invalid("COPY delimiter cannot be newline or carriage return");
        }
        if self.null.contains(['\n', '\r']) {
            return invalid("COPY null representation cannot use newline or carriage return");
        }
        // A delimiter that could begin an escape, or look like data.
        let is_ambiguous = b"\\.abcdefghijklmnopqrstuvwxyz0123456789".contains(&self.delimiter);
        if self.format == CopyFormat::Text && is_ambiguous {
            let shown = char::from(self.delimiter);
            return invalid(&format!("COPY delimiter cannot be \"{shown}\""));
        }
        for (name, shown) in [
            ("quote", "quote"),
            ("escape", "escape"),
            ("force_quote", "force quote"),
            ("force_not_null", "force not null"),
            ("force_null", "force null"),
        ] {
            if !is_csv && is_given(name) {
                return Err(unsupported(format!("COPY {shown} available only in CSV mode")));
            }
        }
        if is_csv && self.delimiter == self.quote {
            return invalid("COPY delimiter and quote must be different");
        }
        if self.format != CopyFormat::Binary && self.null.as_bytes().contains(&self.delimiter) {
            return Err(unsupported("COPY delimiter must not appear in the NULL specification"));
        }
        if is_csv && self.null.as_bytes().contains(&self.quote) {
            return Err(unsupported(
                "CSV quote character must not appear in the NULL specification",
            ));
        }
        Ok(())
    }
}

fn syntax_error(message: impl Into<String>) -> SqlError {
    SqlError::new(code::SYNTAX_ERROR, message)
}

fn unsupported(message: impl Into<String>) -> SqlError {
    SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
}

fn parse_format(name: &str) -> SqlResult<CopyFormat> {
    match name.to_ascii_lowercase().as_str() {
        "text" => Ok(CopyFormat::Text),
        "csv" => Ok(CopyFormat::Csv),
        "binary" => Ok(CopyFormat::Binary),
        _ => {
            let message = format!("COPY format \"{name}\" not recognized");
            Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message))
        }
    }
}

fn parse_header(value: Option<&str>) -> SqlResult<Header> {
    match value.map(str::to_ascii_lowercase).as_deref() {
        None | Some("" | "true" | "on" | "1") => Ok(Header::Names),
        Some("false" | "off" | "0") => Ok(Header::None),
        Some("match") => Ok(Header::Match),
        Some(_) => Err(syntax_error("header requires a Boolean value or \"match\"")),
    }
}

fn one_byte(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [byte] => Some(*byte),
        _ => None,
    }
}

fn columns(text: &str) -> ColumnSet {
    match text.trim() {
        "*" => ColumnSet::All,
        names => ColumnSet::Named(names.split(',').map(|name| name.trim().to_owned()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_follow_the_format() {
        let csv = CopyOptions::parse([("FORMAT", Some("csv")), ("quote", Some("'"))]);
        let csv = csv.expect("valid");
        assert_eq!((csv.delimiter, csv.null.as_str()), (b',', ""));
        assert_eq!((csv.quote, csv.escape), (b'\'', b'\''), "the escape is the quote");
        let text = CopyOptions::parse([("header", Some("match"))]).expect("valid");
        assert_eq!(
            (text.delimiter, text.null.as_str(), text.header),
            (b'\t', "\\N", Header::Match)
        );
    }

    #[test]
    fn what_postgresql_objects_to_is_refused() {
        for (options, message, code) in [
            (vec![("format", "xml")], "COPY format \"xml\" not recognized", "22023"),
            (
                vec![("delimiter", "ab")],
                "COPY delimiter must be a single one-byte character",
                "0A000",
            ),
            (vec![("delimiter", "a")], "COPY delimiter cannot be \"a\"", "22023"),
            (
                vec![("delimiter", "\n")],
                "COPY delimiter cannot be newline or carriage return",
                "22023",
            ),
            (vec![("quote", "x")], "COPY quote available only in CSV mode", "0A000"),
            (
                vec![("format", "csv"), ("delimiter", "\"")],
                "COPY delimiter and quote must be different",
                "22023",
            ),
            (
                vec![("null", "a\tb")],
                "COPY delimiter must not appear in the NULL specification",
                "0A000",
            ),
            (
                vec![("format", "binary"), ("null", "")],
                "cannot specify NULL in BINARY mode",
                "42601",
            ),
            (vec![("header", "maybe")], "header requires a Boolean value or \"match\"", "42601"),
            (vec![("x", "y")], "option \"x\" not recognized", "42601"),
            (vec![("null", "a"), ("NULL", "b")], "conflicting or redundant options", "42601"),
        ] {
            let options = options.iter().map(|(name, value)| (*name, Some(*value)));
            let error = CopyOptions::parse(options).expect_err(message);
            assert_eq!((error.message.as_str(), error.code), (message, code));
        }
    }
}
