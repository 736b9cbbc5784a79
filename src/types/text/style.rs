//! The session settings that decide how a value is written.

use serde::{Deserialize, Serialize};

use super::super::zone::Zone;

/// `TimeZone`, `extra_float_digits`, `IntervalStyle` and `bytea_output`. The default is what a
/// new session has: UTC, shortest floats, `postgres`, `hex`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextStyle {
    /// The zone in which timestamptz is written.
    pub zone: Zone,
    /// Above 0: the fewest digits that read back as the same float. Otherwise so many more (or
    /// fewer) than the 15 or 6 that every decimal survives.
    pub extra_float_digits: i8,
    pub interval_style: IntervalStyle,
    pub bytea_output: ByteaOutput,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self {
            zone: Zone::default(),
            extra_float_digits: 1,
            interval_style: IntervalStyle::default(),
            bytea_output: ByteaOutput::default(),
        }
    }
}

/// `IntervalStyle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum IntervalStyle {
    /// `1 year 2 mons 3 days 04:05:06`
    #[default]
    Postgres,
    /// `@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs`
    PostgresVerbose,
    /// `+1-2 +3 +4:05:06`
    SqlStandard,
    /// `P1Y2M3DT4H5M6S`
    Iso8601,
}

impl IntervalStyle {
    /// By the name that `SET IntervalStyle` takes.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "postgres" => Self::Postgres,
            "postgres_verbose" => Self::PostgresVerbose,
            "sql_standard" => Self::SqlStandard,
            "iso_8601" => Self::Iso8601,
            _ => return None,
        })
    }
}

/// `bytea_output`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ByteaOutput {
    /// `\xdeadbeef`
    #[default]
    Hex,
    /// Octal for what is not printable: `\336\255`
    Escape,
}

impl ByteaOutput {
    /// By the name that `SET bytea_output` takes.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "hex" => Self::Hex,
            "escape" => Self::Escape,
            _ => return None,
        })
    }
}
