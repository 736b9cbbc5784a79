//! The parts of moments: what `extract`, `date_part` and `date_trunc` know as units.
//!
//! Moments are microseconds since 1970 as the clock on the wall shows them.

use crate::error::{SqlError, SqlResult, code};
use crate::types::calendar::{date_of, days_of};

pub(super) const SECOND: i64 = 1_000_000;
pub(super) const DAY: i64 = 86_400 * SECOND;
/// The Julian day of 1970-01-01.
const JULIAN_EPOCH: i64 = 2_440_588;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in super::super) enum Unit {
    Microseconds,
    Milliseconds,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
    Millennium,
    Dow,
    Isodow,
    Doy,
    Isoyear,
    Julian,
    Epoch,
    Timezone,
    TimezoneHour,
    TimezoneMinute,
}

/// A unit by its name.
pub(in super::super) fn unit(name: &str) -> Option<Unit> {
    Some(match name.to_ascii_lowercase().as_str() {
        "microseconds" | "microsecond" | "us" | "usec" | "usecs" | "microsecon" => {
            Unit::Microseconds
        }
        "milliseconds" | "millisecond" | "ms" | "msec" | "msecs" | "millisecon" => {
            Unit::Milliseconds
        }
        "second" | "seconds" | "s" | "sec" | "secs" => Unit::Second,
        "minute" | "minutes" | "m" | "min" | "mins" => Unit::Minute,
        "hour" | "hours" | "h" | "hr" | "hrs" => Unit::Hour,
        "day" | "days" | "d" => Unit::Day,
        "week" | "weeks" | "w" => Unit::Week,
        "month" | "months" | "mon" | "mons" => Unit::Month,
        "quarter" | "qtr" => Unit::Quarter,
        "year" | "years" | "y" | "yr" | "yrs" => Unit::Year,
        "decade" | "decades" | "dec" | "decs" => Unit::Decade,
        "century" | "centuries" | "c" | "cent" => Unit::Century,
        "millennium" | "millennia" | "mil" | "mils" => Unit::Millennium,
        "dow" => Unit::Dow,
        "isodow" => Unit::Isodow,
        "doy" => Unit::Doy,
        "isoyear" => Unit::Isoyear,
        "julian" | "j" => Unit::Julian,
        "epoch" => Unit::Epoch,
        "timezone" => Unit::Timezone,
        "timezone_hour" | "timezone_h" => Unit::TimezoneHour,
        "timezone_minute" | "timezone_m" => Unit::TimezoneMinute,
        _ => return None,
    })
}

/// The unit of a name, for values of a type.
pub(super) fn named(name: &str, type_name: &str) -> SqlResult<Unit> {
    unit(name).ok_or_else(|| {
        let message =
            format!("unit \"{}\" not recognized for type {type_name}", name.to_lowercase());
        SqlError::new(code::INVALID_PARAMETER_VALUE, message)
    })
}

/// A unit that values of a type do not have.
pub(super) fn unsupported(name: &str, type_name: &str) -> SqlError {
    let message = format!("unit \"{}\" not supported for type {type_name}", name.to_lowercase());
    SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
}

impl Unit {
    /// Digits after the point that a part has.
    pub(in super::super) fn scale(self) -> i8 {
        match self {
            Unit::Second | Unit::Epoch => 6,
            Unit::Milliseconds => 3,
            _ => 0,
        }
    }
}

/// Monday of the week that `days` since 1970 lies in.
fn monday(days: i64) -> i64 {
    days - (days + 3).rem_euclid(7)
}

/// The ISO year of a day, and its first day.
fn iso_year(days: i64) -> (i64, i64) {
    let (year, ..) = date_of(days);
    let first = |year| monday(days_of(year, 1, 4));
    let year = match days {
        days if days >= first(year + 1) => year + 1,
        days if days < first(year) => year - 1,
        _ => year,
    };
    (year, first(year))
}

/// PostgreSQL has no year 0: 1 BC is -1.
fn shown_year(year: i64) -> i64 {
    if year > 0 { year } else { year - 1 }
}

/// A part of a time of day, with [`Unit::scale`] digits after the point.
pub(super) fn of_time(unit: Unit, micros: i64) -> Option<i64> {
    Some(match unit {
        Unit::Microseconds => micros % (60 * SECOND),
        Unit::Milliseconds | Unit::Second => micros % (60 * SECOND),
        Unit::Minute => micros / (60 * SECOND) % 60,
        Unit::Hour => micros / (3600 * SECOND),
        Unit::Epoch => micros,
        _ => return None,
    })
}

/// A part of a day.
pub(super) fn of_day(unit: Unit, days: i64) -> Option<i64> {
    let (year, month, day) = date_of(days);
    let (month, day) = (i64::from(month), i64::from(day));
    // Before the year 1, decades and their like count towards it.
    let count = |years: i64| match year > 0 {
        true => (year + years - 1) / years,
        false => -((years - year) / years),
    };
    Some(match unit {
        Unit::Day => day,
        Unit::Week => {
            let (_, first) = iso_year(days);
            (monday(days) - first) / 7 + 1
        }
        Unit::Month => month,
        Unit::Quarter => (month - 1) / 3 + 1,
        Unit::Year => shown_year(year),
        Unit::Decade => year.div_euclid(10),
        Unit::Century => count(100),
        Unit::Millennium => count(1000),
        Unit::Dow => (days + 4).rem_euclid(7),
        Unit::Isodow => (days + 3).rem_euclid(7) + 1,
        Unit::Doy => days - days_of(year, 1, 1) + 1,
        Unit::Isoyear => shown_year(iso_year(days).0),
        Unit::Julian => days + JULIAN_EPOCH,
        _ => return None,
    })
}

/// The moment cut to a unit; `None`: a unit that cuts nothing.
pub(super) fn truncate(unit: Unit, micros: i64) -> Option<i64> {
    let (days, of_day) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (year, month, _) = date_of(days);
    let start = |years: i64| (year - 1).div_euclid(years) * years + 1;
    let days = match unit {
        Unit::Microseconds => return Some(micros),
        Unit::Milliseconds => return Some(micros - of_day % 1000),
        Unit::Second => return Some(micros - of_day % SECOND),
        Unit::Minute => return Some(micros - of_day % (60 * SECOND)),
        Unit::Hour => return Some(micros - of_day % (3600 * SECOND)),
        Unit::Day => days,
        Unit::Week => monday(days),
        Unit::Month => days_of(year, month, 1),
        Unit::Quarter => days_of(year, (month - 1) / 3 * 3 + 1, 1),
        Unit::Year => days_of(year, 1, 1),
        Unit::Decade => days_of(year.div_euclid(10) * 10, 1, 1),
        Unit::Century => days_of(start(100), 1, 1),
        Unit::Millennium => days_of(start(1000), 1, 1),
        _ => return None,
    };
    days.checked_mul(DAY)
}
