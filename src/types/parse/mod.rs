//! Values read from PostgreSQL's text: its input syntax, its messages, its SQLSTATEs.
//!
//! Each reader turns the text of one value into what its Arrow builder holds;
//! [`ColumnBuilder`](super::ColumnBuilder) puts them together.
//!
//! Where Weir's types are narrower than PostgreSQL's, what does not fit is refused: `infinity`
//! for dates, `NaN` for numeric, numerics of more than 38 digits, intervals whose time of day
//! part is beyond 292 years.

mod array;
mod bytes;
mod datetime;
mod interval;
mod json;
mod number;
mod scan;

pub(super) use array::elements;
pub(super) use bytes::{blank_padded, bytea, first_characters, name, uuid, varchar};
pub(super) use datetime::{date, time, timestamp, timestamptz};
pub(super) use interval::{Interval, interval};
pub(super) use json::{check_json, jsonb};
pub(super) use number::{boolean, decimal, float, integer, numeric, oid};

use std::time::Duration;

use super::zone::Zone;
use crate::error::{SqlError, SqlResult, code};

/// What reading a value needs to know of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InputStyle {
    /// The zone of a timestamptz that names none.
    pub zone: Zone,
    /// What `now` and `today` mean: microseconds since 1970, the start of the transaction.
    pub now_micros: i64,
}

impl InputStyle {
    /// What `now` means where it means nothing: in a view.
    pub const NO_MOMENT: i64 = i64::MIN;
}

/// `invalid input syntax for type integer: "x"`
pub(super) fn invalid(type_name: &str, text: &str) -> SqlError {
    let message = format!("invalid input syntax for type {type_name}: \"{text}\"");
    SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
}

/// `text` as `jsonb` writes it.
pub fn canonical_jsonb(text: &str) -> SqlResult<Vec<u8>> {
    let mut canonical = Vec::with_capacity(text.len() + 8);
    jsonb(text, &mut canonical)?;
    Ok(canonical)
}

/// A timestamptz: microseconds since 1970.
pub fn instant(text: &str, style: &InputStyle) -> SqlResult<i64> {
    timestamptz(text, style)
}

/// A length of time from an interval's text; `None` if it is negative, or has months.
pub fn duration(text: &str) -> SqlResult<Option<Duration>> {
    let interval = interval(text)?;
    let day = Duration::from_secs(24 * 60 * 60);
    let days = u32::try_from(interval.days).ok().and_then(|days| day.checked_mul(days));
    let micros = u64::try_from(interval.micros).ok().map(Duration::from_micros);
    let whole = days.zip(micros).and_then(|(days, micros)| days.checked_add(micros));
    Ok(whole.filter(|_| interval.months == 0))
}

/// White space as C knows it.
pub(super) fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// `text` without white space around it.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| u8::try_from(c).is_ok_and(is_space))
}
