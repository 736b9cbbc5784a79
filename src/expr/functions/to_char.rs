//! `to_char(timestamp, text)` with PostgreSQL's template patterns. DataFusion's own takes C's, and
//! would give PostgreSQL's back as they are.

use std::borrow::Cow;
use std::fmt::Write;

use chrono::{DateTime, Datelike, NaiveDateTime, Timelike};

use crate::error::{SqlError, SqlResult, code};

/// Patterns that stand for a part of a moment, the longer of two that begin alike first.
const PARTS: &[&str] = &[
    "YYYY", "YYY", "YY", "Y", "IYYY", "IW", "MONTH", "Month", "month", "MON", "Mon", "mon", "MM",
    "MI", "MS", "DAY", "Day", "day", "DDD", "DD", "DY", "Dy", "dy", "D", "ID", "HH24", "HH12",
    "HH", "SSSSS", "SSSS", "SS", "US", "AM", "PM", "am", "pm", "A.M.", "P.M.", "a.m.", "p.m.", "Q",
    "WW", "W", "CC", "J", "RM", "rm", "AD", "BC", "ad", "bc", "A.D.", "B.C.", "a.d.", "b.c.",
];

/// Patterns of PostgreSQL's that are not here. They must not pass for text.
const REFUSED: &[&str] = &["TM"];

/// What is shown of a time zone.
pub(super) struct ZoneShown {
    /// Seconds east of UTC.
    pub(super) offset: i32,
    pub(super) name: String,
}

/// The abbreviation of a zone at a moment.
pub(super) fn abbreviation(zone: chrono_tz::Tz, micros: i64) -> String {
    DateTime::from_timestamp_micros(micros)
        .map(|moment| moment.with_timezone(&zone).format("%Z").to_string())
        .unwrap_or_default()
}

/// A moment as the clock on the wall shows it, in microseconds, by a template; with its zone, if
/// it has one.
pub(super) fn format(micros: i64, template: &str, zone: Option<ZoneShown>) -> SqlResult<String> {
    let at = DateTime::from_timestamp_micros(micros)
        .map(|moment| moment.naive_utc())
        .ok_or_else(|| SqlError::new(code::DATETIME_FIELD_OVERFLOW, "timestamp out of range"))?;
    let mut text = String::with_capacity(template.len() + 8);
    let mut rest = template;
    // FM: without padding, for the next part.
    let mut bare = false;
    let mut last = 0;
    while let Some(character) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix('"') {
            let (quoted, after) = after.split_once('"').unwrap_or((after, ""));
            text.push_str(quoted);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("FM") {
            bare = true;
            rest = after;
        } else if let Some(after) = rest.strip_prefix("TH").or_else(|| rest.strip_prefix("th")) {
            let suffix = ordinal(&text[last..]);
            let upper = rest.starts_with("TH");
            text.push_str(&if upper { suffix.to_uppercase() } else { suffix.to_owned() });
            rest = after;
        } else if let Some((length, shown)) = of_zone(rest, zone.as_ref()) {
            text.push_str(&shown);
            rest = &rest[length..];
        } else if let Some(part) = part_at(rest) {
            last = text.len();
            push(&mut text, at, part, bare);
            bare = false;
            rest = &rest[part.len()..];
        } else if let Some(refused) = REFUSED.iter().find(|refused| rest.starts_with(**refused)) {
            return Err(SqlError::unsupported(format!("the pattern {refused} of to_char")));
        } else {
            text.push(character);
            rest = &rest[character.len_utf8()..];
        }
    }
    Ok(text)
}

/// The suffix of a number's text.
fn ordinal(number: &str) -> &'static str {
    let digits = number.as_bytes();
    if digits.len() > 1 && digits[digits.len() - 2] == b'1' {
        return "th";
    }
    match digits.last() {
        Some(b'1') => "st",
        Some(b'2') => "nd",
        Some(b'3') => "rd",
        _ => "th",
    }
}

/// A pattern of the zone that a template begins with: its length, and what it shows.
fn of_zone(template: &str, zone: Option<&ZoneShown>) -> Option<(usize, String)> {
    let offset = zone.map_or(0, |zone| zone.offset);
    let sign = if offset < 0 { '-' } else { '+' };
    let (hours, minutes) = (offset.abs() / 3600, offset.abs() / 60 % 60);
    if template.starts_with("TZH") {
        return Some((3, format!("{sign}{hours:02}")));
    }
    if template.starts_with("TZM") {
        return Some((3, format!("{minutes:02}")));
    }
    if template.starts_with("TZ") || template.starts_with("tz") {
        let name = zone.map_or("", |zone| zone.name.as_str());
        let lower = template.starts_with("tz");
        return Some((2, if lower { name.to_lowercase() } else { name.to_owned() }));
    }
    if template.starts_with("OF") {
        let minutes = if minutes == 0 { String::new() } else { format!(":{minutes:02}") };
        return Some((2, format!("{sign}{hours:02}{minutes}")));
    }
    None
}

/// The part that a template begins with. Only for names does the case matter.
fn part_at(template: &str) -> Option<&'static str> {
    let exact = PARTS.iter().find(|part| template.starts_with(**part));
    let any_case = || {
        PARTS.iter().find(|part| {
            template.get(..part.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(part))
        })
    };
    exact.or_else(any_case).copied()
}

/// Months as Roman numerals.
const ROMAN: [&str; 12] =
    ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];

/// Writes a part; numbers with leading zeros, names with blanks behind, unless `bare`.
fn push(text: &mut String, at: NaiveDateTime, part: &str, bare: bool) {
    let day = i64::from(at.weekday().num_days_from_sunday());
    let hour = i64::from(at.hour());
    let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    let year = i64::from(at.year());
    let (number, width) = match part {
        "YYYY" => (year, 4),
        "YYY" => (year % 1000, 3),
        "YY" => (year % 100, 2),
        "Y" => (year % 10, 1),
        "IYYY" => (i64::from(at.iso_week().year()), 4),
        "IW" => (i64::from(at.iso_week().week()), 2),
        "MM" => (i64::from(at.month()), 2),
        "DDD" => (i64::from(at.ordinal()), 3),
        "DD" => (i64::from(at.day()), 2),
        "D" => (day + 1, 1),
        "ID" => (i64::from(at.weekday().number_from_monday()), 1),
        "HH24" => (hour, 2),
        "HH12" | "HH" => (twelve, 2),
        "MI" => (i64::from(at.minute()), 2),
        "SS" => (i64::from(at.second()), 2),
        "MS" => (i64::from(at.nanosecond() / 1_000_000), 3),
        "US" => (i64::from(at.nanosecond() / 1000), 6),
        "SSSS" | "SSSSS" => (i64::from(at.num_seconds_from_midnight()), 1),
        "Q" => (i64::from(at.month0() / 3 + 1), 1),
        "WW" => (i64::from(at.ordinal0() / 7 + 1), 2),
        "W" => (i64::from(at.day0() / 7 + 1), 1),
        "CC" => ((year + 99).div_euclid(100), 2),
        // The Julian day of 0001-01-01 is 1721426.
        "J" => (i64::from(at.num_days_from_ce()) + 1_721_425, 1),
        name => return push_name(text, at, name, bare),
    };
    let width = if bare { 0 } else { width };
    let _ = write!(text, "{number:0width$}");
}

fn push_name(text: &mut String, at: NaiveDateTime, part: &str, bare: bool) {
    let name = match part.to_ascii_lowercase().as_str() {
        "month" => at.format("%B").to_string(),
        "mon" => at.format("%b").to_string(),
        "day" => at.format("%A").to_string(),
        "dy" => at.format("%a").to_string(),
        "rm" => ROMAN[at.month0() as usize].to_owned(),
        "ad" | "bc" => (if at.year() > 0 { "ad" } else { "bc" }).to_owned(),
        "a.d." | "b.c." => (if at.year() > 0 { "a.d." } else { "b.c." }).to_owned(),
        "a.m." | "p.m." => (if at.hour() < 12 { "a.m." } else { "p.m." }).to_owned(),
        _ => (if at.hour() < 12 { "am" } else { "pm" }).to_owned(),
    };
    let long = matches!(part.to_ascii_lowercase().as_str(), "month" | "day");
    let cased: Cow<'_, str> = match part.chars().collect::<Vec<_>>().as_slice() {
        [first, second, ..] if first.is_uppercase() && second.is_lowercase() => name.into(),
        [first, ..] if first.is_uppercase() => name.to_uppercase().into(),
        _ => name.to_lowercase().into(),
    };
    // As wide as the longest: September, Wednesday.
    let width = match (bare, long, part.eq_ignore_ascii_case("rm")) {
        (false, true, _) => 9,
        (false, _, true) => 4,
        _ => 0,
    };
    let _ = write!(text, "{cased:width$}");
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::*;

    #[test]
    fn templates_are_filled_as_postgres_fills_them() {
        let at = NaiveDate::from_ymd_opt(2024, 3, 5)
            .and_then(|date| date.and_hms_micro_opt(14, 7, 9, 45_678))
            .expect("it is a moment");
        let at = at.and_utc().timestamp_micros();
        let filled = |template: &str| format(at, template, None).map_err(|error| error.message);
        let cases = [
            ("YYYY-MM-DD HH24:MI:SS.US", "2024-03-05 14:07:09.045678"),
            ("HH12:MI am, HH:MI P.M.", "02:07 pm, 02:07 P.M."),
            ("Month|FMMonth|MON|dy|FMDD|DDD", "March    |March|MAR|tue|5|065"),
            ("yyyy\"Q\"q, IYYY-\"W\"IW", "2024Q1, 2024-W10"),
            ("WW, W, D, ID, J, CC", "10, 1, 3, 2, 2460375, 21"),
        ];
        for (template, expected) in cases {
            assert_eq!(filled(template).as_deref(), Ok(expected));
        }
        assert_eq!(filled("DDth RM AD").as_deref(), Ok("05th III  AD"));
        assert_eq!(
            filled("TMMonth").as_deref().map_err(String::as_str),
            Err("the pattern TM of to_char is not supported")
        );
    }
}
