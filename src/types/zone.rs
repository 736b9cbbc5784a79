//! Time zones: a name of the IANA database or a fixed offset, and what it says at a moment.
//!
//! Local times that a zone skips are read with the offset before the gap, those that it has twice
//! with the offset after the change, as PostgreSQL does.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::LazyLock;

use chrono::{DateTime, MappedLocalTime, NaiveDateTime, Offset, TimeZone};
use chrono_tz::{OffsetComponents, OffsetName, Tz};
use serde::{Deserialize, Serialize};

use super::calendar::{date_of, days_in_month, days_of};
use crate::error::SqlError;

/// How far a zone may be from UTC: PostgreSQL's limit.
pub const OFFSET_SECONDS_MAX: i32 = 15 * 3600 + 59 * 60 + 59;

const DAY_SECONDS: i64 = 86_400;

/// A session's time zone, or that of a single value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Zone {
    /// Seconds east of UTC.
    Fixed(i32),
    Named(Tz),
}

impl Default for Zone {
    fn default() -> Self {
        Zone::Fixed(0)
    }
}

impl From<Zone> for String {
    /// What [`Zone::parse`] reads.
    fn from(zone: Zone) -> Self {
        match zone {
            Zone::Named(zone) => zone.name().to_owned(),
            Zone::Fixed(seconds) => {
                let sign = if seconds < 0 { '-' } else { '+' };
                let east = seconds.abs();
                format!("{sign}{:02}:{:02}:{:02}", east / 3600, east / 60 % 60, east % 60)
            }
        }
    }
}

impl TryFrom<String> for Zone {
    type Error = SqlError;

    fn try_from(name: String) -> Result<Self, SqlError> {
        let unknown = || SqlError::internal(format!("time zone \"{name}\" is not known"));
        Zone::parse(&name).ok_or_else(unknown)
    }
}

impl Zone {
    /// As Arrow names it.
    pub fn arrow_name(self) -> String {
        match self {
            Zone::Named(zone) => zone.name().to_owned(),
            Zone::Fixed(seconds) => {
                let sign = if seconds < 0 { '-' } else { '+' };
                let minutes = seconds.abs() / 60;
                format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }

    /// Reads what `SET TIME ZONE` takes: a name in any case, hours east (`5`, `-3.5`), an ISO
    /// offset (`+05:30`), or a POSIX one, where west is positive (`UTC+3`, `<+05>-05`).
    pub fn parse(name: &str) -> Option<Zone> {
        let name = name.trim();
        if let Some(zone) = Zone::named(name) {
            return Some(zone);
        }
        if let Ok(hours) = name.parse::<f64>()
            && hours.is_finite()
        {
            #[allow(clippy::cast_possible_truncation)]
            return fixed((hours * 3600.0).round() as i32);
        }
        if let Some(seconds) = offset(name) {
            return fixed(seconds);
        }
        let after_label = match name.strip_prefix('<') {
            Some(rest) => rest.split_once('>')?.1,
            None => name.trim_start_matches(|c: char| c.is_ascii_alphabetic()),
        };
        if after_label.len() == name.len() {
            return None;
        }
        let posix = after_label.strip_prefix('+').unwrap_or(after_label);
        let west = match posix.strip_prefix('-') {
            Some(east) => -offset(&format!("+{east}"))?,
            None => offset(&format!("+{posix}"))?,
        };
        fixed(-west)
    }

    /// Looks a name of the IANA database up, in any case.
    pub fn named(name: &str) -> Option<Zone> {
        static LOWER: LazyLock<HashMap<String, Tz>> = LazyLock::new(|| {
            chrono_tz::TZ_VARIANTS.iter().map(|tz| (tz.name().to_ascii_lowercase(), *tz)).collect()
        });
        if matches!(name, "UTC" | "utc" | "GMT" | "Z") {
            return Some(Zone::Fixed(0));
        }
        let named = Tz::from_str(name).ok();
        named.or_else(|| LOWER.get(&name.to_ascii_lowercase()).copied()).map(Zone::Named)
    }

    /// Seconds east of UTC of an abbreviation in a value (`EST`), in any case. As in PostgreSQL's
    /// default set, `IST` is Israel's.
    pub fn abbreviation(word: &str) -> Option<i32> {
        const MINUTES: &[(&str, i32)] = &[
            ("z", 0),
            ("zulu", 0),
            ("utc", 0),
            ("uct", 0),
            ("gmt", 0),
            ("wet", 0),
            ("west", 60),
            ("bst", 60),
            ("cet", 60),
            ("met", 60),
            ("cest", 120),
            ("eet", 120),
            ("ist", 120),
            ("eest", 180),
            ("idt", 180),
            ("msk", 180),
            ("pkt", 300),
            ("awst", 480),
            ("hkt", 480),
            ("sgt", 480),
            ("jst", 540),
            ("kst", 540),
            ("acst", 570),
            ("aest", 600),
            ("acdt", 630),
            ("aedt", 660),
            ("nzst", 720),
            ("nzdt", 780),
            ("nst", -210),
            ("ndt", -150),
            ("art", -180),
            ("brt", -180),
            ("adt", -180),
            ("ast", -240),
            ("edt", -240),
            ("est", -300),
            ("cdt", -300),
            ("cst", -360),
            ("mdt", -360),
            ("mst", -420),
            ("pdt", -420),
            ("pst", -480),
            ("akdt", -480),
            ("akst", -540),
            ("hst", -600),
        ];
        let found = MINUTES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word));
        found.map(|(_, minutes)| minutes * 60)
    }

    /// All zones with a name: what they are called and how far east of UTC they are at a moment, by
    /// how many seconds, and whether that is their summer time.
    pub fn all_at(micros: i64) -> impl Iterator<Item = (&'static str, String, i32, bool)> {
        let at = DateTime::from_timestamp_micros(micros).unwrap_or_default().naive_utc();
        chrono_tz::TZ_VARIANTS.iter().map(move |zone| {
            let offset = zone.offset_from_utc_datetime(&at);
            let abbreviation = offset.abbreviation().unwrap_or_default().to_owned();
            let seconds = offset.fix().local_minus_utc();
            (zone.name(), abbreviation, seconds, !offset.dst_offset().is_zero())
        })
    }

    /// Seconds east of UTC at a moment, given in seconds since 1970 UTC.
    pub fn offset_at(self, utc_seconds: i64) -> i32 {
        match self {
            Zone::Fixed(seconds) => seconds,
            Zone::Named(tz) => {
                tz.offset_from_utc_datetime(&naive(utc_seconds)).fix().local_minus_utc()
            }
        }
    }

    /// Seconds east of UTC when the clocks there show a local time, given in seconds since 1970.
    pub fn offset_of_local(self, local_seconds: i64) -> i32 {
        let Zone::Named(tz) = self else { return self.offset_at(local_seconds) };
        match tz.offset_from_local_datetime(&naive(local_seconds)) {
            MappedLocalTime::Single(offset) => offset.fix().local_minus_utc(),
            MappedLocalTime::Ambiguous(_, after) => after.fix().local_minus_utc(),
            MappedLocalTime::None => self.offset_at(local_seconds - DAY_SECONDS),
        }
    }
}

fn fixed(seconds: i32) -> Option<Zone> {
    (seconds.abs() <= OFFSET_SECONDS_MAX).then_some(Zone::Fixed(seconds))
}

/// A moment for chrono: before its calendar begins, its beginning; after the year 2099, where the
/// tables of chrono-tz end, the same day of a year that has the same calendar, so that rules for
/// summer time go on for ever.
fn naive(seconds: i64) -> NaiveDateTime {
    let days = seconds.div_euclid(DAY_SECONDS);
    let (year, ..) = date_of(days);
    let seconds = if year >= 2100 {
        let first = days_of(year, 1, 1);
        let is_alike = |other: &i64| {
            (first - days_of(*other, 1, 1)) % 7 == 0
                && days_in_month(year, 2) == days_in_month(*other, 2)
        };
        // Weekdays and leap years have 14 combinations, and 28 years have them all.
        let other = (2072..2100).find(is_alike).unwrap_or(2072);
        seconds - (first - days_of(other, 1, 1)) * DAY_SECONDS
    } else {
        // A day inside, so that taking an offset off stays in range.
        seconds.max(NaiveDateTime::MIN.and_utc().timestamp() + DAY_SECONDS)
    };
    DateTime::from_timestamp(seconds, 0).map_or(NaiveDateTime::MAX, |moment| moment.naive_utc())
}

/// An ISO offset: `+hh`, `+hhmm`, `+hhmmss`, `+hh:mm`, `+hh:mm:ss`, in seconds. Minutes and
/// seconds below 60; hours are the caller's to limit.
pub fn offset(text: &str) -> Option<i32> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let number = |part: &str| -> Option<i32> {
        let fits = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        if fits { part.parse().ok() } else { None }
    };
    let mut parts = [0; 3];
    if digits.contains(':') {
        for (index, part) in digits.split(':').enumerate() {
            *parts.get_mut(index)? = number(part)?;
        }
    } else if digits.len() <= 2 {
        parts[0] = number(digits)?;
    } else {
        // `hmm`, `hhmm`, `hhmmss`.
        let hours = if digits.len() % 2 == 0 { 2 } else { 1 };
        parts[0] = number(digits.get(..hours)?)?;
        let mut rest = digits.get(hours..)?;
        for part in &mut parts[1..] {
            if !rest.is_empty() {
                *part = number(rest.get(..2)?)?;
                rest = rest.get(2..)?;
            }
        }
        if !rest.is_empty() {
            return None;
        }
    }
    let [hours, minutes, seconds] = parts;
    (minutes < 60 && seconds < 60).then_some(sign * (hours * 3600 + minutes * 60 + seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_kept_by_their_names() {
        for name in ["Europe/Berlin", "+05:30", "-15:59:59", "UTC", "America/New_York", "3.5"] {
            let zone = Zone::parse(name).expect("a zone");
            assert_eq!(Zone::try_from(String::from(zone)).ok(), Some(zone), "{name}");
        }
    }

    #[test]
    fn zones_are_read_as_set_time_zone_takes_them() {
        for (name, seconds) in [
            ("UTC", 0),
            ("5", 18_000),
            ("-3.5", -12_600),
            ("+05:30", 19_800),
            ("UTC+3", -10_800),
            ("GMT-02:00", 7_200),
            ("<+05>-05", 18_000),
        ] {
            assert_eq!(Zone::parse(name), Some(Zone::Fixed(seconds)), "{name}");
        }
        assert_eq!(Zone::parse("europe/PARIS"), Some(Zone::Named(Tz::Europe__Paris)));
        for name in ["", "Mars/Olympus", "+99", "5:", "<+05", "é+3", "NaN"] {
            assert_eq!(Zone::parse(name), None, "{name}");
        }
    }

    #[test]
    fn gaps_and_repeats_follow_postgresql() {
        let zone = Zone::Named(Tz::America__New_York);
        // 2020-03-08 02:30 does not exist, 2020-11-01 01:30 is there twice.
        assert_eq!(zone.offset_of_local(1_583_634_600), -18_000);
        assert_eq!(zone.offset_of_local(1_604_194_200), -18_000);
        assert_eq!(zone.offset_of_local(1_593_561_600), -14_400);
        // December of 5019 and June of 5020.
        assert_eq!(zone.offset_at(96_262_646_400 - 15_000_000), -18_000);
        assert_eq!(zone.offset_at(96_262_646_400), -14_400);
        assert_eq!(zone.offset_at(i64::MAX), zone.offset_at(i64::MAX - 1));
        assert_eq!(zone.offset_of_local(i64::MIN), zone.offset_at(i64::MIN));
    }
}
