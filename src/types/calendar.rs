//! The proleptic Gregorian calendar as days since 1970-01-01, over PostgreSQL's whole range.
//!
//! chrono ends at the year 262143 and PostgreSQL's dates at 5874897, so the two conversions are
//! here. Years are astronomical: 0 is 1 BC, -1 is 2 BC.
//!
//! A timestamp counts microseconds from 1970 in 64 bits, so it ends in January 294247, and not,
//! as PostgreSQL's, which counts from 2000, at the end of 294276.

pub(super) const SECOND_MICROS: i64 = 1_000_000;
pub(super) const MINUTE_MICROS: i64 = 60 * SECOND_MICROS;
pub(super) const HOUR_MICROS: i64 = 60 * MINUTE_MICROS;
pub(super) const DAY_MICROS: i64 = 24 * HOUR_MICROS;

/// The months, as they are read; written, they begin with a capital.
pub(crate) const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// 4714-11-24 BC, day 0 of the Julian count: the first day there is.
pub(super) const DATE_MIN: i64 = -2_440_588;
/// 5874897-12-31.
pub(super) const DATE_MAX: i64 = 2_145_042_905;
/// 4714-11-24 00:00:00 BC.
pub(super) const TIMESTAMP_MIN: i64 = DATE_MIN * DAY_MICROS;

/// Days from 1970-01-01 to 2000-01-01, where PostgreSQL's binary formats begin.
pub(super) const POSTGRES_EPOCH_DAYS: i64 = 10_957;
pub(super) const POSTGRES_EPOCH_MICROS: i64 = POSTGRES_EPOCH_DAYS * DAY_MICROS;

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_FROM_MARCH_0: i64 = 719_468;
/// Days in the 400 years after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;

/// The day with this date. Years begin in March here, so that the leap day comes last.
pub(crate) fn days_of(year: i64, month: u32, day: u32) -> i64 {
    let (month, day) = (i64::from(month), i64::from(day));
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * ERA_DAYS + day_of_era - EPOCH_FROM_MARCH_0
}

/// Year, month and day of a day.
pub(crate) fn date_of(days: i64) -> (i64, u32, u32) {
    let days = days + EPOCH_FROM_MARCH_0;
    let (era, day_of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    // Both are below 32 by construction.
    (year, u32::try_from(month).unwrap_or(1), u32::try_from(day).unwrap_or(1))
}

/// Days in a month of a year.
pub(crate) fn days_in_month(year: i64, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use chrono::{Datelike, NaiveDate};

    use super::*;

    #[test]
    fn days_and_dates_agree_with_chrono_and_with_each_other() {
        let epoch = NaiveDate::from_ymd_opt(1970, 1, 1).expect("a date");
        for days in (-4_000_000..4_000_000).step_by(997).chain(-800..800) {
            let date = epoch + chrono::TimeDelta::days(days);
            assert_eq!(date_of(days), (i64::from(date.year()), date.month(), date.day()));
            assert_eq!(days_of(i64::from(date.year()), date.month(), date.day()), days);
        }
        assert_eq!(days_of(-4713, 11, 24), DATE_MIN);
        assert_eq!(days_of(5_874_897, 12, 31), DATE_MAX);
        assert_eq!(date_of(DATE_MAX), (5_874_897, 12, 31));
    }
}
