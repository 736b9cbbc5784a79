//! Intervals: `1 year 2 mons -3 days 04:05:06.7`, `@ 1 minute ago`, `1-2 3 4:05:06`,
//! `P1Y2M3DT4H5M6.7S`.
//!
//! A fraction of a unit goes into smaller ones: of a year into whole months, of a month into days
//! of which it has 30, of a week into days, of a day into time.

use super::super::calendar::{DAY_MICROS, HOUR_MICROS, MINUTE_MICROS, SECOND_MICROS};
use super::datetime::fraction_micros;
use super::is_space;
use crate::error::{SqlError, SqlResult, code};

/// An interval that fits Arrow's: the microseconds are within 64 bits of nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in super::super) struct Interval {
    pub(in super::super) months: i32,
    pub(in super::super) days: i32,
    pub(in super::super) micros: i64,
}

/// The most microseconds that an interval's time part can have here: some 292 years.
pub(in super::super) const INTERVAL_MICROS_MAX: i64 = i64::MAX / 1000;

/// Reads an interval.
pub(in super::super) fn interval(text: &str) -> SqlResult<Interval> {
    let mut sum = Sum::default();
    let read = match text.strip_prefix('P') {
        Some(rest) => read_iso(rest, &mut sum),
        None => read_verbose(text, &mut sum),
    };
    read.and_then(|()| sum.finish()).map_err(|fault| match fault {
        Fault::Syntax => SqlError::new(
            code::INVALID_DATETIME_FORMAT,
            format!("invalid input syntax for type interval: \"{text}\""),
        ),
        Fault::Range => {
            SqlError::new("22015", format!("interval field value out of range: \"{text}\""))
        }
        Fault::Sum => SqlError::new(code::DATETIME_FIELD_OVERFLOW, "interval out of range"),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Syntax,
    /// A field is too large by itself.
    Range,
    /// Together they are.
    Sum,
}

/// What a unit is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Of so many years.
    Years(i64),
    Months,
    Weeks,
    Days,
    /// Of so many microseconds.
    Time(i64),
}

impl Unit {
    fn parse(word: &str) -> Option<Unit> {
        Some(match word.to_ascii_lowercase().as_str() {
            "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecond" | "microseconds"
            | "microsecon" => Unit::Time(1),
            "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecond" | "milliseconds"
            | "millisecon" => Unit::Time(1000),
            "s" | "sec" | "secs" | "second" | "seconds" => Unit::Time(SECOND_MICROS),
            "m" | "min" | "mins" | "minute" | "minutes" => Unit::Time(MINUTE_MICROS),
            "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Time(HOUR_MICROS),
            "d" | "day" | "days" => Unit::Days,
            "w" | "week" | "weeks" => Unit::Weeks,
            "mon" | "mons" | "month" | "months" => Unit::Months,
            "y" | "yr" | "yrs" | "year" | "years" => Unit::Years(1),
            "dec" | "decs" | "decade" | "decades" => Unit::Years(10),
            "c" | "cent" | "century" | "centuries" => Unit::Years(100),
            "mil" | "mils" | "millennia" | "millennium" => Unit::Years(1000),
            _ => return None,
        })
    }

    /// A bit for each unit: none may be there twice.
    fn bit(self) -> u32 {
        match self {
            Unit::Years(1) => 1,
            Unit::Years(10) => 2,
            Unit::Years(100) => 4,
            Unit::Years(_) => 8,
            Unit::Months => 16,
            Unit::Weeks => 32,
            Unit::Days => 64,
            Unit::Time(HOUR_MICROS) => 128,
            Unit::Time(MINUTE_MICROS) => 256,
            Unit::Time(SECOND_MICROS) => 512,
            Unit::Time(1000) => 1024,
            Unit::Time(_) => 2048,
        }
    }
}

/// What a second with a fraction covers, and what `hh:mm:ss` does.
const SECOND_BITS: u32 = 512 | 1024 | 2048;
const CLOCK_BITS: u32 = 128 | 256 | SECOND_BITS;

/// The parts added up so far.
#[derive(Debug, Default)]
struct Sum {
    months: i64,
    days: i64,
    micros: i64,
    units: u32,
}

impl Sum {
    fn mark(&mut self, bits: u32) -> Result<(), Fault> {
        if self.units & bits != 0 {
            return Err(Fault::Syntax);
        }
        self.units |= bits;
        Ok(())
    }

    fn add(&mut self, number: Number, unit: Unit) -> Result<(), Fault> {
        let Number { whole, fraction } = number;
        let is_exact = fraction == 0.0 || unit != Unit::Time(SECOND_MICROS);
        self.mark(if is_exact { unit.bit() } else { SECOND_BITS })?;
        match unit {
            Unit::Years(years) => {
                in_field(whole.saturating_mul(years))?;
                self.add_months(whole.checked_mul(12 * years))?;
                #[allow(clippy::cast_precision_loss)]
                let months = (fraction * 12.0 * years as f64).round_ties_even();
                self.add_months(to_integer(months))
            }
            Unit::Months => {
                in_field(whole)?;
                self.add_months(Some(whole))?;
                self.add_fraction_of_days(fraction * 30.0)
            }
            Unit::Weeks => {
                self.add_days(whole.checked_mul(7))?;
                self.add_fraction_of_days(fraction * 7.0)
            }
            Unit::Days => {
                self.add_days(Some(whole))?;
                self.add_fraction_of_days(fraction)
            }
            Unit::Time(micros) => {
                self.add_micros(whole.checked_mul(micros))?;
                #[allow(clippy::cast_precision_loss)]
                self.add_micros(rounded(fraction * micros as f64))
            }
        }
    }

    fn add_fraction_of_days(&mut self, days: f64) -> Result<(), Fault> {
        self.add_days(to_integer(days.trunc()))?;
        #[allow(clippy::cast_precision_loss)]
        self.add_micros(rounded(days.fract() * DAY_MICROS as f64))
    }

    fn add_months(&mut self, months: Option<i64>) -> Result<(), Fault> {
        add(&mut self.months, months)
    }

    fn add_days(&mut self, days: Option<i64>) -> Result<(), Fault> {
        add(&mut self.days, days)
    }

    fn add_micros(&mut self, micros: Option<i64>) -> Result<(), Fault> {
        add(&mut self.micros, micros)
    }

    fn negate(&mut self) {
        // Each was added up with a check, and the smallest is refused at the end.
        self.months = self.months.saturating_neg();
        self.days = self.days.saturating_neg();
        self.micros = self.micros.saturating_neg();
    }

    fn finish(&self) -> Result<Interval, Fault> {
        if self.micros.unsigned_abs() > INTERVAL_MICROS_MAX.unsigned_abs() {
            return Err(Fault::Range);
        }
        Ok(Interval {
            months: i32::try_from(self.months).map_err(|_| Fault::Sum)?,
            days: i32::try_from(self.days).map_err(|_| Fault::Range)?,
            micros: self.micros,
        })
    }
}

/// An error unless a field's number has 32 bits.
fn in_field(number: i64) -> Result<(), Fault> {
    i32::try_from(number).map(|_| ()).map_err(|_| Fault::Range)
}

fn add(sum: &mut i64, part: Option<i64>) -> Result<(), Fault> {
    *sum = part.and_then(|part| sum.checked_add(part)).ok_or(Fault::Range)?;
    Ok(())
}

/// Half goes down, as PostgreSQL has it here.
fn rounded(micros: f64) -> Option<i64> {
    let whole = micros.trunc();
    let rest = micros - whole;
    to_integer(
        whole
            + if rest > 0.5 {
                1.0
            } else if rest < -0.5 {
                -1.0
            } else {
                0.0
            },
    )
}

#[allow(clippy::cast_possible_truncation)]
fn to_integer(value: f64) -> Option<i64> {
    (value.abs() < 9e18).then_some(value as i64)
}

/// A number: its integer part and its fraction, both with its sign.
#[derive(Debug, Clone, Copy)]
struct Number {
    whole: i64,
    fraction: f64,
}

/// Reads from the front of a text.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<u8> {
        self.rest.as_bytes().first().copied()
    }

    fn take(&mut self, of: impl Fn(char) -> bool) -> &'a str {
        let length = self.rest.find(|c| !of(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    fn skip_spaces(&mut self) {
        self.take(|c| u8::try_from(c).is_ok_and(is_space));
    }

    /// Blanks, `@`, and a comma before a blank.
    fn skip_separators(&mut self) {
        self.skip_spaces();
        while self.rest.starts_with('@') || self.rest.starts_with(", ") {
            self.rest = &self.rest[1..];
            self.skip_spaces();
        }
    }

    /// Whether a minus stood there.
    fn sign(&mut self) -> bool {
        let is_negative = self.peek() == Some(b'-');
        if matches!(self.peek(), Some(b'+' | b'-')) {
            self.rest = &self.rest[1..];
            self.skip_spaces();
        }
        is_negative
    }

    /// Digits with a fraction.
    fn number(&mut self, is_negative: bool) -> Result<Number, Fault> {
        let whole = self.take(|c| c.is_ascii_digit());
        let fraction = match self.peek() {
            Some(b'.') => {
                let (at, rest) = (self.rest, &self.rest[1..]);
                self.rest = rest;
                let digits = self.take(|c| c.is_ascii_digit());
                &at[..=digits.len()]
            }
            _ => "",
        };
        if whole.is_empty() && fraction.len() < 2 {
            return Err(Fault::Syntax);
        }
        let whole = if whole.is_empty() { "0" } else { whole };
        let whole: i64 = whole.parse().map_err(|_| Fault::Range)?;
        let fraction: f64 = match fraction.len() {
            0 | 1 => 0.0,
            _ => fraction.parse().map_err(|_| Fault::Syntax)?,
        };
        Ok(if is_negative {
            Number { whole: -whole, fraction: -fraction }
        } else {
            Number { whole, fraction }
        })
    }
}

fn read_verbose(text: &str, sum: &mut Sum) -> Result<(), Fault> {
    let mut reader = Reader { rest: text };
    reader.skip_separators();
    if reader.rest.is_empty() {
        return Err(Fault::Syntax);
    }
    let mut is_ago = false;
    while !reader.rest.is_empty() {
        if reader.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
            let word = reader.take(|c| c.is_ascii_alphabetic());
            if !word.eq_ignore_ascii_case("ago") || is_ago || sum.units == 0 {
                return Err(Fault::Syntax);
            }
            is_ago = true;
        } else {
            read_part(&mut reader, sum)?;
        }
        reader.skip_separators();
    }
    if is_ago {
        sum.negate();
    }
    Ok(())
}

/// `1 day`, `1day`, `04:05:06`, `1-2`, and numbers without a unit: days before a time, seconds
/// at the end.
fn read_part(reader: &mut Reader<'_>, sum: &mut Sum) -> Result<(), Fault> {
    let is_negative = reader.sign();
    if is_clock(reader.rest) {
        return read_clock(reader, is_negative, sum);
    }
    let number = reader.number(is_negative)?;
    let is_next_digit = reader.rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    if reader.peek() == Some(b'-') && is_next_digit {
        reader.rest = &reader.rest[1..];
        let months = reader.number(is_negative)?;
        if months.whole.abs() >= 12 || months.fraction != 0.0 || number.fraction != 0.0 {
            return Err(Fault::Range);
        }
        sum.add_months(number.whole.checked_mul(12))?;
        return sum.add_months(Some(months.whole)).and_then(|()| sum.mark(Unit::Months.bit()));
    }
    reader.skip_spaces();
    if reader.peek().is_some_and(|byte| byte.is_ascii_alphabetic()) {
        let word = reader.take(|c| c.is_ascii_alphabetic());
        return sum.add(number, Unit::parse(word).ok_or(Fault::Syntax)?);
    }
    if reader.rest.is_empty() {
        return sum.add(number, Unit::Time(SECOND_MICROS));
    }
    let after_sign = reader.rest.trim_start_matches(['+', '-']);
    if is_clock(after_sign) { sum.add(number, Unit::Days) } else { Err(Fault::Syntax) }
}

fn is_clock(text: &str) -> bool {
    let after_digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    after_digits.len() < text.len() && after_digits.starts_with(':')
}

/// `hh:mm`, `hh:mm:ss.f`, `mm:ss.f`; hours without limit.
fn read_clock(reader: &mut Reader<'_>, is_negative: bool, sum: &mut Sum) -> Result<(), Fault> {
    let clock = reader.take(|c| c.is_ascii_digit() || c == ':' || c == '.');
    let (whole, fraction) = clock.split_at(clock.find('.').unwrap_or(clock.len()));
    let fraction_micros = fraction_micros(fraction).ok_or(Fault::Syntax)?;
    let mut parts = Vec::with_capacity(3);
    for part in whole.split(':') {
        if part.is_empty() {
            return Err(Fault::Syntax);
        }
        parts.push(part.parse::<i64>().map_err(|_| Fault::Range)?);
    }
    let (hours, minutes, seconds) = match parts.as_slice() {
        [minutes, seconds] if !fraction.is_empty() => (0, *minutes, *seconds),
        [hours, minutes] => (*hours, *minutes, 0),
        [hours, minutes, seconds] => (*hours, *minutes, *seconds),
        _ => return Err(Fault::Syntax),
    };
    if minutes > 59 || seconds > 60 {
        return Err(Fault::Range);
    }
    sum.mark(CLOCK_BITS)?;
    let after_hours = minutes * MINUTE_MICROS + seconds * SECOND_MICROS + fraction_micros;
    let micros = hours.checked_mul(HOUR_MICROS).and_then(|micros| micros.checked_add(after_hours));
    sum.add_micros(micros.map(|micros| if is_negative { -micros } else { micros }))
}

/// What follows the `P`: units as letters, or `yyyy-mm-ddThh:mm:ss`.
fn read_iso(rest: &str, sum: &mut Sum) -> Result<(), Fault> {
    if rest.is_empty() {
        return Err(Fault::Syntax);
    }
    let mut reader = Reader { rest };
    let mut in_time = false;
    while let Some(byte) = reader.peek() {
        if byte == b'T' && !in_time {
            reader.rest = &reader.rest[1..];
            in_time = true;
            continue;
        }
        if in_time && is_clock(reader.rest) {
            read_clock(&mut reader, false, sum)?;
            continue;
        }
        let is_negative = reader.sign();
        let number = reader.number(is_negative)?;
        let unit = match (reader.peek(), in_time) {
            (Some(b'-'), false) => return read_iso_date(number, &mut reader, sum),
            (Some(b'Y'), false) => Unit::Years(1),
            (Some(b'M'), false) => Unit::Months,
            (Some(b'W'), false) => Unit::Weeks,
            (Some(b'D'), false) => Unit::Days,
            (Some(b'H'), true) => Unit::Time(HOUR_MICROS),
            (Some(b'M'), true) => Unit::Time(MINUTE_MICROS),
            (Some(b'S'), true) => Unit::Time(SECOND_MICROS),
            _ => return Err(Fault::Syntax),
        };
        reader.rest = &reader.rest[1..];
        sum.add(number, unit)?;
    }
    Ok(())
}

/// `-mm-dd`, perhaps with `Thh:mm:ss`, after the years.
fn read_iso_date(years: Number, reader: &mut Reader<'_>, sum: &mut Sum) -> Result<(), Fault> {
    sum.add(years, Unit::Years(1))?;
    for unit in [Unit::Months, Unit::Days] {
        if reader.peek() != Some(b'-') {
            return Err(Fault::Syntax);
        }
        reader.rest = &reader.rest[1..];
        let number = reader.number(false)?;
        sum.add(number, unit)?;
    }
    match reader.peek() {
        None => Ok(()),
        Some(b'T') => {
            reader.rest = &reader.rest[1..];
            read_clock(reader, false, sum)?;
            if reader.rest.is_empty() { Ok(()) } else { Err(Fault::Syntax) }
        }
        Some(_) => Err(Fault::Syntax),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::types::SqlType;
    use crate::types::text::{IntervalStyle, TextEncoder, TextStyle};

    #[test]
    fn what_nanoseconds_cannot_hold_is_refused() {
        assert!(interval("2562047:00:00").is_ok());
        let error = interval("2562048:00:00").expect_err("292 years of hours");
        assert_eq!(error.code, "22015");
    }

    proptest! {
        // Not in the standard's style, where a minus may be for all parts or for one.
        #[test]
        fn intervals_survive_their_text(
            months: i32,
            days: i32,
            micros in -INTERVAL_MICROS_MAX..=INTERVAL_MICROS_MAX,
            style in 0_usize..3,
        ) {
            let interval_style = [
                IntervalStyle::Postgres,
                IntervalStyle::PostgresVerbose,
                IntervalStyle::Iso8601,
            ][style];
            let value = arrow::datatypes::IntervalMonthDayNano::new(months, days, micros * 1000);
            let array: arrow::array::ArrayRef =
                std::sync::Arc::new(arrow::array::IntervalMonthDayNanoArray::from(vec![value]));
            let style = TextStyle { interval_style, ..TextStyle::default() };
            let mut text = Vec::new();
            TextEncoder::of_type(&SqlType::Interval, &array, &style)
                .expect("an encoder")
                .write(0, &mut text);
            let text = String::from_utf8(text).expect("ascii");
            prop_assert_eq!(interval(&text), Ok(Interval { months, days, micros }), "{}", text);
        }
    }
}
