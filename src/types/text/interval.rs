//! Intervals in text, in the four styles of `IntervalStyle`.

use super::super::calendar::{HOUR_MICROS, MINUTE_MICROS, SECOND_MICROS};
use super::datetime::{push_minutes_and_seconds, push_seconds};
use super::number::{push_integer, push_padded};
use super::style::IntervalStyle;

/// The parts that are written; those of one interval may differ in sign.
#[derive(Debug, Clone, Copy)]
struct Parts {
    years: i64,
    months: i64,
    days: i64,
    micros: i64,
}

/// Appends an interval.
pub(super) fn push_interval(
    out: &mut Vec<u8>,
    months: i32,
    days: i32,
    micros: i64,
    style: IntervalStyle,
) {
    let (months, days) = (i64::from(months), i64::from(days));
    let parts = Parts { years: months / 12, months: months % 12, days, micros };
    match style {
        IntervalStyle::Postgres => push_postgres(out, parts),
        IntervalStyle::PostgresVerbose => push_verbose(out, parts),
        IntervalStyle::SqlStandard => push_sql_standard(out, parts),
        IntervalStyle::Iso8601 => push_iso(out, parts),
    }
}

/// `1 year -2 mons +3 days 04:05:06`: a part after a negative one says its plus.
fn push_postgres(out: &mut Vec<u8>, parts: Parts) {
    let start = out.len();
    let mut after_negative = false;
    for (value, unit) in [(parts.years, "year"), (parts.months, "mon"), (parts.days, "day")] {
        if value == 0 {
            continue;
        }
        if out.len() > start {
            out.push(b' ');
        }
        if after_negative && value > 0 {
            out.push(b'+');
        }
        push_integer(out, value);
        push_unit(out, unit, value != 1);
        after_negative = value < 0;
    }
    if parts.micros != 0 || out.len() == start {
        if out.len() > start {
            out.push(b' ');
        }
        if parts.micros < 0 {
            out.push(b'-');
        } else if after_negative {
            out.push(b'+');
        }
        push_clock(out, parts.micros, 2);
    }
}

fn push_unit(out: &mut Vec<u8>, unit: &str, is_plural: bool) {
    out.push(b' ');
    out.extend_from_slice(unit.as_bytes());
    if is_plural {
        out.push(b's');
    }
}

/// `hh:mm:ss.ffffff` without a sign.
fn push_clock(out: &mut Vec<u8>, micros: i64, hour_width: usize) {
    push_padded(out, (micros / HOUR_MICROS).unsigned_abs(), hour_width);
    push_minutes_and_seconds(out, micros % HOUR_MICROS);
}

/// `@ 1 year 2 mons ago`: all parts turned so that the first is positive.
fn push_verbose(out: &mut Vec<u8>, parts: Parts) {
    out.push(b'@');
    let (hours, minutes) = (parts.micros / HOUR_MICROS, parts.micros % HOUR_MICROS / MINUTE_MICROS);
    let mut is_ago = None;
    for (value, unit) in [
        (parts.years, "year"),
        (parts.months, "mon"),
        (parts.days, "day"),
        (hours, "hour"),
        (minutes, "min"),
    ] {
        if value == 0 {
            continue;
        }
        let turned = if *is_ago.get_or_insert(value < 0) { -value } else { value };
        out.push(b' ');
        push_integer(out, turned);
        push_unit(out, unit, turned != 1);
    }
    let micros = parts.micros % MINUTE_MICROS;
    if micros != 0 {
        let turned = if *is_ago.get_or_insert(micros < 0) { -micros } else { micros };
        out.push(b' ');
        push_signed_seconds(out, turned);
        push_unit(out, "sec", turned.abs() != SECOND_MICROS);
    }
    match is_ago {
        None => out.extend_from_slice(b" 0"),
        Some(true) => out.extend_from_slice(b" ago"),
        Some(false) => {}
    }
}

fn push_signed_seconds(out: &mut Vec<u8>, micros: i64) {
    if micros < 0 {
        out.push(b'-');
    }
    let (magnitude, second) = (micros.unsigned_abs(), SECOND_MICROS.unsigned_abs());
    push_seconds(out, magnitude / second, magnitude % second, 1);
}

/// The SQL standard knows year-month and day-time intervals of one sign; others get a sign a part.
fn push_sql_standard(out: &mut Vec<u8>, parts: Parts) {
    let values = [parts.years, parts.months, parts.days, parts.micros];
    let has_negative = values.iter().any(|value| *value < 0);
    let has_positive = values.iter().any(|value| *value > 0);
    let has_year_month = parts.years != 0 || parts.months != 0;
    let has_day_time = parts.days != 0 || parts.micros != 0;
    if !has_negative && !has_positive {
        out.push(b'0');
        return;
    }
    if (has_negative && has_positive) || (has_year_month && has_day_time) {
        let sign = |value: i64| if value < 0 { b'-' } else { b'+' };
        out.push(sign(if parts.years != 0 { parts.years } else { parts.months }));
        push_year_month(out, parts);
        out.extend_from_slice(&[b' ', sign(parts.days)]);
        push_padded(out, parts.days.unsigned_abs(), 1);
        out.extend_from_slice(&[b' ', sign(parts.micros)]);
        push_clock(out, parts.micros, 1);
        return;
    }
    if has_negative {
        out.push(b'-');
    }
    if has_year_month {
        push_year_month(out, parts);
    } else {
        if parts.days != 0 {
            push_padded(out, parts.days.unsigned_abs(), 1);
            out.push(b' ');
        }
        push_clock(out, parts.micros, 1);
    }
}

fn push_year_month(out: &mut Vec<u8>, parts: Parts) {
    push_padded(out, parts.years.unsigned_abs(), 1);
    out.push(b'-');
    push_padded(out, parts.months.unsigned_abs(), 1);
}

/// `P1Y2M3DT4H5M6S`.
fn push_iso(out: &mut Vec<u8>, parts: Parts) {
    out.push(b'P');
    let start = out.len();
    for (value, unit) in [(parts.years, b'Y'), (parts.months, b'M'), (parts.days, b'D')] {
        if value != 0 {
            push_integer(out, value);
            out.push(unit);
        }
    }
    if parts.micros == 0 {
        if out.len() == start {
            out.extend_from_slice(b"T0S");
        }
        return;
    }
    out.push(b'T');
    let (hours, minutes) = (parts.micros / HOUR_MICROS, parts.micros % HOUR_MICROS / MINUTE_MICROS);
    for (value, unit) in [(hours, b'H'), (minutes, b'M')] {
        if value != 0 {
            push_integer(out, value);
            out.push(unit);
        }
    }
    if parts.micros % MINUTE_MICROS != 0 {
        push_signed_seconds(out, parts.micros % MINUTE_MICROS);
        out.push(b'S');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_in_every_style() {
        let hour = HOUR_MICROS;
        let clock = 4 * hour + 5 * MINUTE_MICROS + 6 * SECOND_MICROS + 700_000;
        for ((months, days, micros), [postgres, verbose, standard, iso]) in [
            ((0, 0, 0), ["00:00:00", "@ 0", "0", "PT0S"]),
            (
                (14, 3, clock),
                [
                    "1 year 2 mons 3 days 04:05:06.7",
                    "@ 1 year 2 mons 3 days 4 hours 5 mins 6.7 secs",
                    "+1-2 +3 +4:05:06.7",
                    "P1Y2M3DT4H5M6.7S",
                ],
            ),
            (
                (-14, 3, -clock),
                [
                    "-1 years -2 mons +3 days -04:05:06.7",
                    "@ 1 year 2 mons -3 days 4 hours 5 mins 6.7 secs ago",
                    "-1-2 +3 -4:05:06.7",
                    "P-1Y-2M3DT-4H-5M-6.7S",
                ],
            ),
            ((1, 0, 0), ["1 mon", "@ 1 mon", "0-1", "P1M"]),
            ((-1, 0, 0), ["-1 mons", "@ 1 mon ago", "-0-1", "P-1M"]),
            ((0, 1, 0), ["1 day", "@ 1 day", "1 0:00:00", "P1D"]),
            (
                (0, -1, hour),
                ["-1 days +01:00:00", "@ 1 day -1 hours ago", "+0-0 -1 +1:00:00", "P-1DT1H"],
            ),
            (
                (0, 0, -1),
                ["-00:00:00.000001", "@ 0.000001 secs ago", "-0:00:00.000001", "PT-0.000001S"],
            ),
            ((0, 0, SECOND_MICROS), ["00:00:01", "@ 1 sec", "0:00:01", "PT1S"]),
            ((0, 0, 100 * hour), ["100:00:00", "@ 100 hours", "100:00:00", "PT100H"]),
        ] {
            for (style, expected) in [
                (IntervalStyle::Postgres, postgres),
                (IntervalStyle::PostgresVerbose, verbose),
                (IntervalStyle::SqlStandard, standard),
                (IntervalStyle::Iso8601, iso),
            ] {
                let mut out = Vec::new();
                push_interval(&mut out, months, days, micros, style);
                assert_eq!(String::from_utf8(out).expect("ascii"), expected, "{style:?}");
            }
        }
    }
}
