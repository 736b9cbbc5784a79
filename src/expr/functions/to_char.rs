//! `to_char(timestamp, text)` with PostgreSQL's template patterns. DataFusion's own takes C's, and
//! would give PostgreSQL's back as they are.

use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType};
use chrono::{DateTime, Datelike, NaiveDateTime, Timelike};
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use itertools::Itertools;

use super::divide::on_arrays;
use super::sum::wrong_number;
use crate::error::{SqlError, SqlResult, code};
use crate::types::Zone;

/// Patterns that stand for a part of a moment, the longer of two that begin alike first.
const PARTS: &[&str] = &[
    "YYYY", "YYY", "YY", "Y", "IYYY", "IW", "MONTH", "Month", "month", "MON", "Mon", "mon", "MM",
    "MI", "MS", "DAY", "Day", "day", "DDD", "DD", "DY", "Dy", "dy", "D", "ID", "HH24", "HH12",
    "HH", "SSSSS", "SSSS", "SS", "US", "AM", "PM", "am", "pm", "A.M.", "P.M.", "a.m.", "p.m.", "Q",
    "WW", "W", "CC", "J",
];

/// Patterns of PostgreSQL's that are not here. They must not pass for text.
const REFUSED: &[&str] =
    &["TH", "th", "TZH", "TZM", "TZ", "tz", "OF", "RM", "rm", "TM", "BC", "AD"];

/// `to_char` of a timestamp or a date.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct ToChar {
    signature: Signature,
}

impl ToChar {
    pub(super) fn new() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for ToChar {
    fn name(&self) -> &'static str {
        "to_char"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [value, DataType::Utf8 | DataType::Null] = given else {
            return Err(wrong_number("to_char", given));
        };
        let value = match value {
            DataType::Timestamp(_, Some(_)) => {
                DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
            }
            DataType::Timestamp(_, None) | DataType::Date32 | DataType::Null => {
                DataType::Timestamp(TimeUnit::Microsecond, None)
            }
            other if other.is_numeric() => {
                return Err(SqlError::unsupported("to_char of a number").into());
            }
            DataType::Interval(_) => {
                return Err(SqlError::unsupported("to_char of an interval").into());
            }
            _ => return Err(wrong_number("to_char", given)),
        };
        Ok(vec![value, DataType::Utf8])
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let zone = args.config_options.execution.time_zone.as_deref().and_then(Zone::parse);
        let zone = zone.unwrap_or_default();
        on_arrays(args, |values, templates, _| write_all(values, templates, zone))
    }
}

fn write_all(values: &ArrayRef, templates: &ArrayRef, zone: Zone) -> Result<ArrayRef> {
    let has_zone = matches!(values.data_type(), DataType::Timestamp(_, Some(_)));
    let zone = if has_zone { zone } else { Zone::default() };
    let templates = cast(templates, &DataType::Utf8)?;
    let moments = values.as_primitive::<TimestampMicrosecondType>();
    let pairs = moments.iter().zip_eq(templates.as_string::<i32>());
    let texts = pairs.map(|(moment, template)| match (moment, template) {
        (Some(moment), Some(template)) => format(local(moment, zone)?, template).map(Some),
        _ => Ok(None),
    });
    let texts: Vec<Option<String>> = texts.collect::<SqlResult<_>>()?;
    Ok(Arc::new(StringArray::from(texts)))
}

fn local(micros: i64, zone: Zone) -> SqlResult<NaiveDateTime> {
    let shifted =
        micros.checked_add(i64::from(zone.offset_at(micros.div_euclid(1_000_000))) * 1_000_000);
    shifted
        .and_then(DateTime::from_timestamp_micros)
        .map(|moment| moment.naive_utc())
        .ok_or_else(|| SqlError::new(code::DATETIME_FIELD_OVERFLOW, "timestamp out of range"))
}

fn format(at: NaiveDateTime, template: &str) -> SqlResult<String> {
    let mut text = String::with_capacity(template.len() + 8);
    let mut rest = template;
    // FM: without padding, for the next part.
    let mut bare = false;
    while let Some(character) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix('"') {
            let (quoted, after) = after.split_once('"').unwrap_or((after, ""));
            text.push_str(quoted);
            rest = after;
        } else if let Some(after) = rest.strip_prefix("FM") {
            bare = true;
            rest = after;
        } else if let Some(part) = part_at(rest) {
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
    let width = if long && !bare { 9 } else { 0 };
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
        let filled = |template: &str| format(at, template).map_err(|error| error.message);
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
        assert_eq!(
            filled("DDth").as_deref().map_err(String::as_str),
            Err("the pattern th of to_char is not supported")
        );
    }
}
