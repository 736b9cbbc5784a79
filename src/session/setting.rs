//! The session variables there are: their defaults, what values they take, who is told of changes.
//!
//! Only variables that do something here, that describe the server, or that clients set as a
//! matter of course (and whose usual value is what happens anyway) are listed.

use std::time::Duration;

use crate::error::{SqlError, SqlResult, SqlState, code};

/// What [`server_version`](SETTINGS) reports: the PostgreSQL that clients should think of first.
const SERVER_VERSION: &str = concat!("15.0 (Weir ", env!("CARGO_PKG_VERSION"), ")");

/// `cant_change_runtime_param`.
const CANNOT_CHANGE: SqlState = "55P02";

/// A variable.
#[derive(Debug)]
pub(super) struct Setting {
    pub(super) name: &'static str,
    pub(super) default: &'static str,
    pub(super) kind: Kind,
    /// Whether clients are told with ParameterStatus, at the start and at each change.
    pub(super) reported: bool,
    pub(super) description: &'static str,
}

/// What values a variable takes. A value is kept as text, in its canonical form.
#[derive(Debug)]
pub(super) enum Kind {
    /// Says what the server is.
    Fixed,
    Bool,
    /// Between the two, inclusive.
    Integer(i64, i64),
    /// Milliseconds; other units may be written.
    Milliseconds,
    /// Of memory or disk; other units may be written.
    Kilobytes,
    OneOf(&'static [&'static str]),
    Text,
    /// Comma-separated identifiers.
    Path,
    DateStyle,
    TimeZone,
    Encoding,
}

const fn setting(
    name: &'static str,
    default: &'static str,
    kind: Kind,
    description: &'static str,
) -> Setting {
    Setting { name, default, kind, reported: false, description }
}

const fn reported(
    name: &'static str,
    default: &'static str,
    kind: Kind,
    description: &'static str,
) -> Setting {
    Setting { name, default, kind, reported: true, description }
}

const ISOLATION: Kind =
    Kind::OneOf(&["serializable", "repeatable read", "read committed", "read uncommitted"]);

const MESSAGE_LEVEL: Kind = Kind::OneOf(&[
    "debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error",
]);

/// All variables, by name.
#[rustfmt::skip]
pub(super) const SETTINGS: &[Setting] = &[
    reported("application_name", "", Kind::Text, "The name the client gives itself."),
    setting("background_ddl", "off", Kind::Bool,
        "Whether CREATE MATERIALIZED VIEW returns before the view is filled."),
    setting("bytea_output", "hex", Kind::OneOf(&["hex", "escape"]), "How text shows bytea."),
    setting("catalog_evaluator", "on", Kind::Bool,
        "Whether catalog statements have an evaluator of their own, or DataFusion runs them."),
    setting("check_function_bodies", "on", Kind::Bool, "There are no functions to check."),
    reported("client_encoding", "UTF8", Kind::Encoding, "The encoding of text: always UTF8."),
    setting("client_min_messages", "notice", MESSAGE_LEVEL, "The least level of notices sent."),
    reported("DateStyle", "ISO, MDY", Kind::DateStyle, "How dates are written and read."),
    setting("default_table_access_method", "heap", Kind::OneOf(&["heap"]), "How tables are kept."),
    setting("default_tablespace", "", Kind::OneOf(&["", "pg_default"]), "Where tables are kept."),
    setting("default_text_search_config", "pg_catalog.simple", Kind::Text, "No text search yet."),
    setting("default_transaction_deferrable", "off", Kind::Bool, "Of new transactions."),
    setting("default_transaction_isolation", "read committed", ISOLATION, "Of new transactions."),
    reported("default_transaction_read_only", "off", Kind::Bool, "Of new transactions."),
    setting("escape_string_warning", "on", Kind::Bool, "There is no warning to give."),
    setting("extra_float_digits", "1", Kind::Integer(-15, 3), "How exactly floats are written."),
    setting("idle_in_transaction_session_timeout", "0", Kind::Milliseconds,
        "How long a transaction may wait for its client."),
    setting("idle_session_timeout", "0", Kind::Milliseconds, "How long a client may be idle."),
    reported("in_hot_standby", "off", Kind::Fixed, "Whether the server is a standby."),
    reported("integer_datetimes", "on", Kind::Fixed, "Times are whole microseconds."),
    reported("IntervalStyle", "postgres",
        Kind::OneOf(&["postgres", "postgres_verbose", "sql_standard", "iso_8601"]),
        "How intervals are written."),
    reported("is_superuser", "on", Kind::Fixed, "Whether the user may do anything."),
    setting("jit", "off", Kind::Bool, "Queries are vectorised, not compiled."),
    setting("lc_collate", "C", Kind::Fixed, "Text sorts by its bytes."),
    setting("lc_ctype", "C", Kind::Fixed, "The classes of characters."),
    setting("lc_messages", "C", Kind::OneOf(&["C"]), "The language of messages."),
    setting("lc_monetary", "C", Kind::OneOf(&["C"]), "How money is written."),
    setting("lc_numeric", "C", Kind::OneOf(&["C"]), "How numbers are formatted."),
    setting("lc_time", "C", Kind::OneOf(&["C"]), "How dates are formatted."),
    setting("lock_timeout", "0", Kind::Milliseconds, "How long to wait for a table's lock."),
    setting("max_identifier_length", "63", Kind::Fixed, "Longer names are refused."),
    setting("max_index_keys", "32", Kind::Fixed, "Columns of a key at most."),
    setting("role", "none", Kind::Text, "Whose rights count, if not the session user's."),
    setting("row_security", "on", Kind::Bool, "There are no row policies."),
    reported("scram_iterations", "4096", Kind::Fixed, "Of password hashes."),
    reported("search_path", "\"$user\", public", Kind::Path, "Where names are looked up."),
    reported("server_encoding", "UTF8", Kind::Fixed, "The encoding of the database."),
    reported("server_version", SERVER_VERSION, Kind::Fixed, "The server's version."),
    setting("server_version_num", "150000", Kind::Fixed, "The server's version as a number."),
    reported("session_authorization", "", Kind::Fixed, "The user of the session."),
    setting("session_replication_role", "origin", Kind::OneOf(&["origin", "replica", "local"]),
        "There are no triggers that it would stop."),
    reported("standard_conforming_strings", "on", Kind::OneOf(&["on"]),
        "A backslash is a character like any other."),
    setting("statement_timeout", "0", Kind::Milliseconds, "How long a statement may run."),
    setting("streaming_parallelism", "0", Kind::Integer(0, 256),
        "The number of parallel actors of new jobs; 0: the server's default."),
    setting("subscribe_backlog_max", "262144", Kind::Kilobytes,
        "Changes that a subscriber may leave unread before it is ended."),
    setting("synchronous_commit", "on",
        Kind::OneOf(&["on", "off", "local", "remote_write", "remote_apply"]),
        "Whether a write waits until it is durable and visible."),
    reported("TimeZone", "UTC", Kind::TimeZone, "The time zone of timestamps with time zone."),
    setting("transaction_deferrable", "off", Kind::Bool, "Of the current transaction."),
    setting("transaction_isolation", "read committed", ISOLATION, "Of the current transaction."),
    setting("transaction_read_only", "off", Kind::Bool, "Of the current transaction."),
    setting("xmloption", "content", Kind::OneOf(&["content", "document"]), "There is no XML."),
];

/// The variable of this name, in any case.
pub(super) fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name.eq_ignore_ascii_case(name))
}

/// `unrecognized configuration parameter`.
pub(super) fn unrecognized(name: &str) -> SqlError {
    SqlError::new(
        code::UNDEFINED_OBJECT,
        format!("unrecognized configuration parameter \"{name}\""),
    )
}

impl Setting {
    /// The canonical form of a value; an error if the variable does not take it.
    pub(super) fn accept(&self, value: &str) -> SqlResult<String> {
        match &self.kind {
            Kind::Fixed => Err(SqlError::new(
                CANNOT_CHANGE,
                format!("parameter \"{}\" cannot be changed", self.name),
            )),
            Kind::Bool => parse_bool(value)
                .map(|on| if on { "on" } else { "off" }.to_owned())
                .ok_or_else(|| {
                    let message = format!("parameter \"{}\" requires a Boolean value", self.name);
                    SqlError::new(code::INVALID_PARAMETER_VALUE, message)
                }),
            Kind::Integer(least, most) => {
                let parsed = value.trim().parse().map_err(|_| self.invalid(value))?;
                self.within(parsed, *least, *most)
            }
            Kind::Milliseconds => {
                let parsed = parse_milliseconds(value).ok_or_else(|| {
                    self.invalid(value).hint(
                        "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \
                         \"h\", and \"d\".",
                    )
                })?;
                self.within(parsed, 0, i64::from(i32::MAX))
            }
            Kind::Kilobytes => {
                let parsed = parse_kilobytes(value).ok_or_else(|| {
                    self.invalid(value).hint(
                        "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \
                         \"TB\".",
                    )
                })?;
                self.within(parsed, 64, i64::from(i32::MAX))
            }
            Kind::OneOf(values) => self.one_of(values, value),
            Kind::Text => Ok(truncated(value).to_owned()),
            Kind::Path => Ok(value.to_owned()),
            Kind::DateStyle => date_style(value).ok_or_else(|| {
                self.invalid(value).hint("Dates are written as ISO and read month first.")
            }),
            Kind::TimeZone => time_zone(value).ok_or_else(|| self.invalid(value)),
            Kind::Encoding => {
                // Only letters and digits count, as in PostgreSQL: asyncpg sends quotes as well.
                let name: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
                match name.to_ascii_lowercase().as_str() {
                    "utf8" | "unicode" => Ok("UTF8".to_owned()),
                    _ => Err(self.invalid(value).hint("Weir speaks UTF8 only.")),
                }
            }
        }
    }

    /// How SHOW writes a canonical value.
    pub(super) fn show(&self, value: &str) -> String {
        match (&self.kind, value.parse::<i64>()) {
            (Kind::Milliseconds, Ok(milliseconds)) => with_unit(milliseconds, &TIMES),
            (Kind::Kilobytes, Ok(kilobytes)) => with_unit(kilobytes, &SIZES),
            _ => value.to_owned(),
        }
    }

    /// As `pg_settings.vartype` calls it.
    pub(super) fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Bool => "bool",
            Kind::Integer(..) | Kind::Milliseconds | Kind::Kilobytes => "integer",
            Kind::OneOf(&["on"]) => "bool",
            Kind::OneOf(_) => "enum",
            Kind::Fixed if parse_bool(self.default).is_some() => "bool",
            Kind::Fixed if self.default.parse::<i64>().is_ok() => "integer",
            _ => "string",
        }
    }

    /// As `pg_settings.unit` says it.
    pub(super) fn unit(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Milliseconds => Some("ms"),
            Kind::Kilobytes => Some("kB"),
            _ => None,
        }
    }

    fn within(&self, value: i64, least: i64, most: i64) -> SqlResult<String> {
        if (least..=most).contains(&value) {
            return Ok(value.to_string());
        }
        Err(SqlError::new(
            code::INVALID_PARAMETER_VALUE,
            format!(
                "{value} is outside the valid range for parameter \"{}\" ({least} .. {most})",
                self.name
            ),
        ))
    }

    fn one_of(&self, values: &[&str], value: &str) -> SqlResult<String> {
        let on_or_off = parse_bool(value).map(|on| if on { "on" } else { "off" });
        values
            .iter()
            .find(|allowed| allowed.eq_ignore_ascii_case(value) || Some(**allowed) == on_or_off)
            .map(|allowed| (*allowed).to_owned())
            .ok_or_else(|| {
                self.invalid(value).hint(format!("Available values: {}.", values.join(", ")))
            })
    }

    fn invalid(&self, value: &str) -> SqlError {
        SqlError::new(
            code::INVALID_PARAMETER_VALUE,
            format!("invalid value for parameter \"{}\": \"{value}\"", self.name),
        )
    }
}

/// As PostgreSQL reads a Boolean variable: a unique prefix suffices.
pub(super) fn parse_bool(value: &str) -> Option<bool> {
    let value = value.trim().to_ascii_lowercase();
    let means = |word: &str, least: usize| value.len() >= least && word.starts_with(&value);
    if value == "1" || value == "on" || means("true", 1) || means("yes", 1) {
        Some(true)
    } else if value == "0" || means("off", 2) || means("false", 1) || means("no", 1) {
        Some(false)
    } else {
        None
    }
}

fn parse_milliseconds(value: &str) -> Option<i64> {
    let value = value.trim();
    let digits = value.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
    let (number, unit) = value.split_at(digits.unwrap_or(value.len()));
    let number: f64 = number.parse().ok()?;
    let factor = match unit.trim() {
        "us" => 0.001,
        "" | "ms" => 1.0,
        "s" => 1e3,
        "min" => 6e4,
        "h" => 3.6e6,
        "d" => 8.64e7,
        _ => return None,
    };
    // Saturates; the range is checked by the caller.
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    Some((number * factor).round() as i64)
}

fn parse_kilobytes(value: &str) -> Option<i64> {
    let value = value.trim();
    let digits = value.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
    let (number, unit) = value.split_at(digits.unwrap_or(value.len()));
    let number: f64 = number.parse().ok()?;
    let factor = match unit.trim() {
        "B" => 1.0 / 1024.0,
        "" | "kB" => 1.0,
        "MB" => 1024.0,
        "GB" => 1024.0 * 1024.0,
        "TB" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    // Saturates; the range is checked by the caller.
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    Some((number * factor).round() as i64)
}

const TIMES: [(i64, &str); 5] =
    [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms")];
const SIZES: [(i64, &str); 4] = [(1 << 30, "TB"), (1 << 20, "GB"), (1 << 10, "MB"), (1, "kB")];

/// An amount in the largest unit that divides it.
fn with_unit(amount: i64, units: &[(i64, &str)]) -> String {
    match units.iter().find(|(size, _)| amount % size == 0) {
        Some((size, unit)) if amount != 0 => format!("{}{unit}", amount / size),
        _ => amount.to_string(),
    }
}

/// A canonical number of milliseconds as a duration; 0 is none.
pub(super) fn as_timeout(canonical: &str) -> Option<Duration> {
    canonical.parse().ok().filter(|ms| *ms > 0).map(Duration::from_millis)
}

/// At most what PostgreSQL keeps of a name: 63 bytes.
fn truncated(value: &str) -> &str {
    &value[..value.floor_char_boundary(63)]
}

/// Dates are written as ISO, and ambiguous ones are read month first.
fn date_style(value: &str) -> Option<String> {
    let known = ["iso", "mdy", "us", "noneuro", "noneuropean", "default"];
    let mut words = value.split([',', ' ']).filter(|word| !word.is_empty()).peekable();
    words.peek()?;
    words
        .all(|word| known.contains(&word.to_ascii_lowercase().as_str()))
        .then(|| "ISO, MDY".to_owned())
}

/// A zone of the tz database by its name in any case, or hours from UTC.
fn time_zone(value: &str) -> Option<String> {
    let value = value.trim();
    if let Ok(hours) = value.parse::<i32>() {
        // The tz database's fixed zones count westward.
        return match hours {
            0 => Some("UTC".to_owned()),
            -12..=14 => Some(format!("Etc/GMT{:+}", -hours)),
            _ => None,
        };
    }
    if ["utc", "z", "zulu", "default", "local"].contains(&value.to_ascii_lowercase().as_str()) {
        return Some("UTC".to_owned());
    }
    chrono_tz::TZ_VARIANTS
        .iter()
        .find(|zone| zone.name().eq_ignore_ascii_case(value))
        .map(|zone| zone.name().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(name: &str, value: &str) -> SqlResult<String> {
        find(name).expect("a variable").accept(value)
    }

    #[test]
    fn every_default_is_a_value_that_is_taken() {
        for setting in SETTINGS {
            if !matches!(setting.kind, Kind::Fixed) {
                assert_eq!(setting.accept(setting.default), Ok(setting.default.to_owned()));
            }
        }
    }

    #[test]
    fn times_have_units() {
        for (written, shown) in
            [("600000", "10min"), ("5s", "5s"), ("90 min", "90min"), ("1d", "1d"), ("0", "0")]
        {
            let value = accept("statement_timeout", written).expect("a time");
            assert_eq!(find("statement_timeout").expect("a variable").show(&value), shown);
        }
        let error = accept("statement_timeout", "-1").unwrap_err();
        assert_eq!(
            error.message,
            "-1 is outside the valid range for parameter \"statement_timeout\" (0 .. 2147483647)"
        );
        assert!(accept("statement_timeout", "5 parsecs").is_err());
    }

    #[test]
    fn values_are_canonical() {
        for (name, written, kept) in [
            ("datestyle", "iso", "ISO, MDY"),
            ("DateStyle", "ISO, US", "ISO, MDY"),
            ("timezone", "europe/berlin", "Europe/Berlin"),
            ("timezone", "+2", "Etc/GMT-2"),
            ("client_encoding", "utf-8", "UTF8"),
            ("client_encoding", "'utf-8'", "UTF8"),
            ("jit", "FALSE", "off"),
            ("standard_conforming_strings", "true", "on"),
            ("synchronous_commit", "0", "off"),
        ] {
            assert_eq!(accept(name, written), Ok(kept.to_owned()), "{name} = {written}");
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        for (name, written, expected) in [
            ("client_encoding", "LATIN1", code::INVALID_PARAMETER_VALUE),
            ("datestyle", "German", code::INVALID_PARAMETER_VALUE),
            ("datestyle", "ISO, DMY", code::INVALID_PARAMETER_VALUE),
            ("timezone", "Mars/Olympus", code::INVALID_PARAMETER_VALUE),
            ("standard_conforming_strings", "off", code::INVALID_PARAMETER_VALUE),
            ("server_version", "16", CANNOT_CHANGE),
        ] {
            assert_eq!(accept(name, written).unwrap_err().code, expected, "{name} = {written}");
        }
    }
}
