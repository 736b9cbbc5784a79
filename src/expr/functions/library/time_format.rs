//! `to_date` and `to_timestamp` with PostgreSQL's template patterns, and `to_char` of times and
//! intervals.

use std::fmt::Write;

use super::super::to_char;
use super::function::Entry;
use super::row::{Out, Row, Span};
use super::times::{to_local, to_utc};
use super::units::{DAY, SECOND};
use crate::error::{SqlError, SqlResult, code};
use crate::types::calendar::{MONTHS, days_in_month, days_of};

/// `name(arguments) -> result`, and what it does.
pub(super) const TABLE: &[Entry] = &[
    ("to_char(timestamp, text) -> text", |row, out| {
        out.text(&to_char::format(row.int(0), row.text(1), None)?);
        Ok(())
    }),
    ("to_char(timestamptz, text) -> text", |row, out| {
        let zone = row.style.text.zone;
        let offset = zone.offset_at(row.int(0).div_euclid(SECOND));
        let name = match zone {
            crate::types::Zone::Named(named) => to_char::abbreviation(named, row.int(0)),
            crate::types::Zone::Fixed(0) => "UTC".to_owned(),
            crate::types::Zone::Fixed(_) => String::new(),
        };
        let zone = to_char::ZoneShown { offset, name };
        out.text(&to_char::format(
            to_local(row.int(0), row.style.text.zone)?,
            row.text(1),
            Some(zone),
        )?);
        Ok(())
    }),
    ("to_char(interval, text) -> text", |row, out| {
        out.text(&of_interval(row.span(0), row.text(1))?);
        Ok(())
    }),
    ("to_char(time, text) -> text", |row, out| {
        let span = Span { months: 0, days: 0, micros: row.int(0) };
        out.text(&of_interval(span, row.text(1))?);
        Ok(())
    }),
    ("to_date(text, text) -> date", |row, out| out.int(read(row.text(0), row.text(1))?.days)),
    ("to_timestamp(text, text) -> timestamptz", to_timestamp),
];

fn to_timestamp(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let found = read(row.text(0), row.text(1))?;
    let local = found.days.checked_mul(DAY).and_then(|start| start.checked_add(found.micros));
    let local = local
        .ok_or_else(|| SqlError::new(code::DATETIME_FIELD_OVERFLOW, "timestamp out of range"))?;
    match found.offset {
        Some(offset) => out.int(local - offset * SECOND),
        None => out.int(to_utc(local, row.style.text.zone)?),
    }
}

/// What a text says by its template.
struct Found {
    days: i64,
    micros: i64,
    /// Seconds east of UTC.
    offset: Option<i64>,
}

/// The parts that were read so far.
#[derive(Debug, Default)]
struct Fields {
    year: Option<i64>,
    iso_year: Option<i64>,
    iso_week: Option<i64>,
    iso_day: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    julian: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    micros: i64,
    afternoon: Option<bool>,
    before_christ: bool,
    offset: Option<i64>,
}

const DAYS: [&str; 7] =
    ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// Patterns, the longer of two that begin alike first, with the digits that they take.
const PATTERNS: &[(&str, usize)] = &[
    ("Y,YYY", 5),
    ("YYYY", 4),
    ("YYY", 3),
    ("YY", 2),
    ("IYYY", 4),
    ("IW", 2),
    ("IDDD", 3),
    ("ID", 1),
    ("MONTH", 0),
    ("MON", 0),
    ("MM", 2),
    ("MI", 2),
    ("MS", 3),
    ("DAY", 0),
    ("DDD", 3),
    ("DD", 2),
    ("DY", 0),
    ("HH24", 2),
    ("HH12", 2),
    ("HH", 2),
    ("SSSSS", 5),
    ("SSSS", 5),
    ("SS", 2),
    ("US", 6),
    ("A.M.", 0),
    ("P.M.", 0),
    ("AM", 0),
    ("PM", 0),
    ("B.C.", 0),
    ("A.D.", 0),
    ("BC", 0),
    ("AD", 0),
    ("TZH", 2),
    ("TZM", 2),
    ("FM", 0),
    ("FX", 0),
    ("TH", 0),
    ("CC", 2),
    ("Q", 1),
    ("J", 7),
    ("D", 1),
    ("Y", 1),
];

fn read(text: &str, template: &str) -> SqlResult<Found> {
    let mut fields = Fields::default();
    let mut rest = text.trim_start();
    let mut template = template;
    while let Some(first) = template.chars().next() {
        let found = PATTERNS.iter().find(|(pattern, _)| {
            template.get(..pattern.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(pattern))
        });
        let Some((pattern, digits)) = found else {
            let quoted = template.strip_prefix('"').and_then(|rest| rest.split_once('"'));
            match quoted {
                Some((inside, after)) => {
                    let skipped = inside.chars().count();
                    rest = rest.char_indices().nth(skipped).map_or("", |(at, _)| &rest[at..]);
                    template = after;
                }
                None => {
                    rest = skip_separator(rest, first);
                    template = &template[first.len_utf8()..];
                }
            }
            continue;
        };
        template = &template[pattern.len()..];
        rest = rest.trim_start();
        if rest.is_empty() {
            break;
        }
        let followed = template.chars().next().is_some_and(|next| next.is_ascii_alphabetic());
        rest = fields.take(rest, pattern, *digits, followed)?;
    }
    fields.found(text)
}

/// A separator of the template matches one of the text's, blanks around it too.
fn skip_separator(text: &str, separator: char) -> &str {
    if separator.is_whitespace() {
        return text.trim_start();
    }
    let after = text.trim_start();
    let mut characters = after.chars();
    match characters.next() {
        Some(c) if c == separator => characters.as_str(),
        Some(c) if !c.is_alphanumeric() && !matches!(c, '+' | '-') => characters.as_str(),
        Some('-') if !separator.is_alphanumeric() => characters.as_str(),
        Some(_) if separator.is_alphanumeric() => characters.as_str(),
        _ => text,
    }
}

impl Fields {
    /// Reads what a pattern stands for off the text.
    fn take<'t>(
        &mut self,
        text: &'t str,
        pattern: &str,
        digits: usize,
        followed: bool,
    ) -> SqlResult<&'t str> {
        if digits == 0 {
            return self.take_word(text, pattern);
        }
        let signed = matches!(pattern, "TZH") && text.starts_with(['+', '-']);
        let skip = usize::from(signed);
        let available = text[skip..].bytes().take_while(u8::is_ascii_digit).count();
        let count = match followed || pattern == "MS" || pattern == "US" {
            true => available.min(digits),
            false => available,
        };
        let written = &text[skip..skip + count];
        let number: i64 = written.parse().map_err(|_| {
            let shown: String = text.chars().take(digits).collect();
            let message = format!("invalid value \"{shown}\" for \"{pattern}\"");
            SqlError::new(code::INVALID_DATETIME_FORMAT, message)
                .detail("Value must be an integer.")
        })?;
        let century = |number: i64| match number {
            0..70 => number + 2000,
            70..100 => number + 1900,
            other => other,
        };
        match pattern {
            "YYYY" => self.year = Some(number),
            "YYY" | "YY" | "Y" if count < 4 => self.year = Some(century(number)),
            "YYY" | "YY" | "Y" => self.year = Some(number),
            "IYYY" => self.iso_year = Some(number),
            "IW" => self.iso_week = Some(number),
            "ID" => self.iso_day = Some(number),
            "MM" => self.month = Some(number),
            "DD" => self.day = Some(number),
            "DDD" => self.day_of_year = Some(number),
            "J" => self.julian = Some(number),
            "HH24" | "HH12" | "HH" => self.hour = number,
            "MI" => self.minute = number,
            "SS" => self.second = number,
            "SSSS" | "SSSSS" => {
                (self.hour, self.minute, self.second) =
                    (number / 3600, number / 60 % 60, number % 60);
            }
            "MS" => self.micros = fraction(written, 3) * 1000,
            "US" => self.micros = fraction(written, 6),
            "TZH" => {
                let seconds = number * 3600;
                self.offset = Some(if text.starts_with('-') { -seconds } else { seconds });
            }
            "TZM" => {
                let hours = self.offset.unwrap_or(0);
                self.offset = Some(hours + if hours < 0 { -number * 60 } else { number * 60 });
            }
            _ => {}
        }
        Ok(&text[skip + count..])
    }

    fn take_word<'t>(&mut self, text: &'t str, pattern: &str) -> SqlResult<&'t str> {
        let lower = text.to_ascii_lowercase();
        let wrong = || {
            let shown: String = text.chars().take(pattern.len()).collect();
            let message = format!("invalid value \"{shown}\" for \"{pattern}\"");
            SqlError::new(code::INVALID_DATETIME_FORMAT, message)
                .detail("The given value did not match any of the allowed values for this field.")
        };
        let name = |names: &[&str], short: bool| {
            let length = |name: &str| if short { 3 } else { name.len() };
            let found = names.iter().position(|name| lower.starts_with(&name[..length(name)]));
            found.map(|index| (index, length(names[index])))
        };
        match pattern {
            "MONTH" | "MON" => {
                let full = name(&MONTHS, false).filter(|_| pattern == "MONTH");
                let (index, length) = full.or_else(|| name(&MONTHS, true)).ok_or_else(wrong)?;
                self.month = i64::try_from(index + 1).ok();
                Ok(&text[length..])
            }
            "DAY" | "DY" => {
                let full = name(&DAYS, false).filter(|_| pattern == "DAY");
                let (_, length) = full.or_else(|| name(&DAYS, true)).ok_or_else(wrong)?;
                Ok(&text[length..])
            }
            "AM" | "PM" | "A.M." | "P.M." => {
                let length = pattern.len();
                let said = lower.get(..length).map(|said| said.replace('.', ""));
                self.afternoon = match said.as_deref() {
                    Some("am") => Some(false),
                    Some("pm") => Some(true),
                    _ => return Err(wrong()),
                };
                Ok(&text[length..])
            }
            "BC" | "AD" | "B.C." | "A.D." => {
                let length = pattern.len();
                let said = lower.get(..length).map(|said| said.replace('.', ""));
                self.before_christ = match said.as_deref() {
                    Some("bc") => true,
                    Some("ad") => false,
                    _ => return Err(wrong()),
                };
                Ok(&text[length..])
            }
            "TH" => Ok(text.get(2..).unwrap_or("")),
            _ => Ok(text),
        }
    }

    fn found(&self, text: &str) -> SqlResult<Found> {
        let out_of_range = || {
            let message = format!("date/time field value out of range: \"{text}\"");
            SqlError::new(code::DATETIME_FIELD_OVERFLOW, message)
        };
        let hour = match self.afternoon {
            Some(_) if !(1..=12).contains(&self.hour) => {
                let message = format!("hour \"{}\" is invalid for the 12-hour clock", self.hour);
                return Err(SqlError::new(code::INVALID_DATETIME_FORMAT, message)
                    .hint("Use the 24-hour clock, or give an hour between 1 and 12."));
            }
            Some(afternoon) => self.hour % 12 + if afternoon { 12 } else { 0 },
            None => self.hour,
        };
        let fits = (0..24).contains(&hour)
            && (0..60).contains(&self.minute)
            && (0..60).contains(&self.second);
        if !fits {
            return Err(out_of_range());
        }
        let year = match (self.year, self.before_christ) {
            (Some(year), true) => 1 - year,
            (Some(year), false) => year,
            (None, _) => 0,
        };
        let days = if let Some(julian) = self.julian {
            julian - 2_440_588
        } else if let (Some(year), Some(week)) = (self.iso_year, self.iso_week) {
            let first = days_of(year, 1, 4);
            let monday = first - (first + 3).rem_euclid(7);
            monday + (week - 1) * 7 + self.iso_day.unwrap_or(1) - 1
        } else if let Some(day) = self.day_of_year {
            let days = days_of(year, 1, 1) + day - 1;
            if day < 1 || days >= days_of(year + 1, 1, 1) {
                return Err(out_of_range());
            }
            days
        } else {
            let month = u32::try_from(self.month.unwrap_or(1)).map_err(|_| out_of_range())?;
            let day = u32::try_from(self.day.unwrap_or(1)).map_err(|_| out_of_range())?;
            let fits = (1..=12).contains(&month)
                && (1..=days_in_month(year, month)).contains(&day)
                && year.abs() < 300_000;
            if !fits {
                return Err(out_of_range());
            }
            days_of(year, month, day)
        };
        let seconds = hour * 3600 + self.minute * 60 + self.second;
        Ok(Found { days, micros: seconds * SECOND + self.micros, offset: self.offset })
    }
}

/// Digits behind a point, as so many.
fn fraction(written: &str, digits: usize) -> i64 {
    format!("{written:0<digits$}").parse().unwrap_or(0)
}

/// An interval by a template. Its hours are not bounded by the day.
fn of_interval(span: Span, template: &str) -> SqlResult<String> {
    let mut out = String::new();
    let mut rest = template;
    let mut bare = false;
    let hours = span.micros / (3600 * SECOND);
    let part = |of: i64, unit: i64| span.micros / unit % of;
    while let Some(first) = rest.chars().next() {
        let found = PATTERNS.iter().find(|(pattern, _)| {
            rest.get(..pattern.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(pattern))
        });
        let Some((pattern, _)) = found else {
            match rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
                Some((inside, after)) => {
                    out.push_str(inside);
                    rest = after;
                }
                None => {
                    out.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
            continue;
        };
        let lower = rest.starts_with(|c: char| c.is_lowercase());
        rest = &rest[pattern.len()..];
        let (number, width) = match *pattern {
            "FM" => {
                bare = true;
                continue;
            }
            "YYYY" => (i64::from(span.months / 12), 4),
            "YY" => (i64::from(span.months / 12 % 100), 2),
            "MM" => (i64::from(span.months % 12), 2),
            "DD" => (i64::from(span.days), 2),
            "HH24" => (hours, 2),
            "HH12" | "HH" => (if hours % 12 == 0 { 12 } else { hours % 12 }, 2),
            "MI" => (part(60, 60 * SECOND), 2),
            "SS" => (part(60, SECOND), 2),
            "MS" => (part(1000, 1000), 3),
            "US" => (part(SECOND, 1), 6),
            "SSSS" | "SSSSS" => (span.micros / SECOND, 1),
            "AM" | "PM" => {
                let text = if hours % 24 >= 12 { "PM" } else { "AM" };
                out.push_str(&if lower { text.to_lowercase() } else { text.to_owned() });
                continue;
            }
            other => {
                return Err(SqlError::unsupported(format!("the pattern {other} of an interval")));
            }
        };
        let width = if bare {
            0
        } else if number < 0 {
            width + 1
        } else {
            width
        };
        bare = false;
        let _ = write!(out, "{number:0width$}");
    }
    Ok(out)
}
