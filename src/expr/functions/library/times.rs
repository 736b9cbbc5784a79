//! Functions of dates, times, timestamps and intervals, and what the planner puts in the places of
//! operators on them.

use super::function::Entry;
use super::row::{Out, Row, Span};
use super::units::{self, DAY, SECOND, Unit};
use crate::error::{SqlError, SqlResult, code};
use crate::types::Zone;
use crate::types::calendar::{date_of, days_in_month, days_of};

/// `name(arguments) -> result`, and what it does.
pub(super) const TABLE: &[Entry] = &[
    ("date_trunc(text, timestamp) -> timestamp", |row, out| {
        let type_name = "timestamp without time zone";
        out.int(truncated(row.text(0), row.int(1), type_name)?)
    }),
    ("date_trunc(text, timestamptz) -> timestamptz", |row, out| {
        truncate_in_zone(row, row.style.text.zone, out)
    }),
    ("date_trunc(text, timestamptz, text) -> timestamptz", |row, out| {
        truncate_in_zone(row, zone(row.text(2))?, out)
    }),
    ("date_trunc(text, interval) -> interval", truncate_interval),
    ("date_part(text, timestamp) -> double precision", |row, out| {
        part_of_timestamp(row, None, out)
    }),
    ("date_part(text, timestamptz) -> double precision", |row, out| {
        part_of_timestamp(row, Some(row.style.text.zone), out)
    }),
    ("date_part(text, date) -> double precision", |row, out| {
        let micros = row.int(1).saturating_mul(DAY);
        push_part(timestamp_part(row.text(0), micros, None)?, out)
    }),
    ("date_part(text, time) -> double precision", |row, out| {
        push_part(time_part(row.text(0), row.int(1))?, out)
    }),
    ("date_part(text, interval) -> double precision", |row, out| {
        push_part(interval_part(row.text(0), row.span(1))?, out)
    }),
    ("timezone(text, timestamp) -> timestamptz", |row, out| {
        out.int(to_utc(row.int(1), zone(row.text(0))?)?)
    }),
    ("timezone(text, timestamptz) -> timestamp", |row, out| {
        out.int(to_local(row.int(1), zone(row.text(0))?)?)
    }),
    ("make_date(integer, integer, integer) -> date", |row, out| {
        out.int(date(row.int(0), row.int(1), row.int(2))?)
    }),
    ("make_time(integer, integer, double precision) -> time", |row, out| {
        out.int(time(row.int(0), row.int(1), row.float(2))?)
    }),
    (
        "make_timestamp(integer, integer, integer, integer, integer, double precision) -> \
         timestamp",
        |row, out| out.int(timestamp(row)?),
    ),
    (
        "make_timestamptz(integer, integer, integer, integer, integer, double precision) -> \
         timestamptz",
        |row, out| out.int(to_utc(timestamp(row)?, row.style.text.zone)?),
    ),
    (
        "make_timestamptz(integer, integer, integer, integer, integer, double precision, text) -> \
         timestamptz",
        |row, out| out.int(to_utc(timestamp(row)?, zone(row.text(6))?)?),
    ),
    ("make_interval() -> interval", make_interval),
    ("make_interval(integer) -> interval", make_interval),
    ("make_interval(integer, integer) -> interval", make_interval),
    ("make_interval(integer, integer, integer) -> interval", make_interval),
    ("make_interval(integer, integer, integer, integer) -> interval", make_interval),
    ("make_interval(integer, integer, integer, integer, integer) -> interval", make_interval),
    (
        "make_interval(integer, integer, integer, integer, integer, integer) -> interval",
        make_interval,
    ),
    (
        "make_interval(integer, integer, integer, integer, integer, integer, double precision) -> \
         interval",
        make_interval,
    ),
    ("isfinite(date) -> boolean", always),
    ("isfinite(timestamp) -> boolean", always),
    ("isfinite(timestamptz) -> boolean", always),
    ("isfinite(interval) -> boolean", always),
    ("timestamptz_plus(timestamptz, interval) -> timestamptz", |row, out| {
        let Span { months, days, micros } = row.span(1);
        let zone = row.style.text.zone;
        out.int(moved(row.int(0), zone, months, days, micros)?)
    }),
    ("timestamptz_minus(timestamptz, interval) -> timestamptz", |row, out| {
        let Span { months, days, micros } = row.span(1);
        let zone = row.style.text.zone;
        let back = (months.checked_neg(), days.checked_neg(), micros.checked_neg());
        let (Some(months), Some(days), Some(micros)) = back else {
            return Err(out_of_range("interval"));
        };
        out.int(moved(row.int(0), zone, months, days, micros)?)
    }),
    ("timestamp_difference(timestamp, timestamp) -> interval", |row, out| {
        difference(row.int(0), row.int(1), out)
    }),
    ("timestamptz_difference(timestamptz, timestamptz) -> interval", |row, out| {
        difference(row.int(0), row.int(1), out)
    }),
    ("date_difference(date, date) -> integer", |row, out| out.int(row.int(0) - row.int(1))),
    ("interval_times(interval, double precision) -> interval", |row, out| {
        out.span(times(row.span(0), row.float(1))?)
    }),
    ("interval_over(interval, double precision) -> interval", |row, out| {
        out.span(over(row.span(0), row.float(1))?)
    }),
    ("interval_length(interval) -> bigint", |row, out| out.int(row.span(0).length())),
    ("overlaps(timestamp, timestamp, timestamp, timestamp) -> boolean", overlaps),
    ("overlaps(timestamptz, timestamptz, timestamptz, timestamptz) -> boolean", overlaps),
    ("overlaps(time, time, time, time) -> boolean", overlaps),
    ("to_timestamp(double precision) -> timestamptz", |row, out| {
        let micros = (row.float(0) * 1e6).round_ties_even();
        if !micros.is_finite() || micros.abs() >= 9.2e18 {
            let message = format!("timestamp out of range: \"{}\"", row.float(0));
            return Err(SqlError::new(code::DATETIME_FIELD_OVERFLOW, message));
        }
        out.int(micros as i64)
    }),
];

fn always(_row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    out.boolean(true);
    Ok(())
}

fn out_of_range(what: &str) -> SqlError {
    SqlError::new(code::DATETIME_FIELD_OVERFLOW, format!("{what} out of range"))
}

pub(super) fn zone(name: &str) -> SqlResult<Zone> {
    Zone::parse(name).ok_or_else(|| {
        let message = format!("time zone \"{name}\" not recognized");
        SqlError::new(code::INVALID_PARAMETER_VALUE, message)
    })
}

/// What the clock on the wall of a zone shows at a moment.
pub(super) fn to_local(micros: i64, zone: Zone) -> SqlResult<i64> {
    let offset = i64::from(zone.offset_at(micros.div_euclid(SECOND)));
    micros.checked_add(offset * SECOND).ok_or_else(|| out_of_range("timestamp"))
}

/// When the clock on the wall of a zone shows this.
pub(super) fn to_utc(micros: i64, zone: Zone) -> SqlResult<i64> {
    let offset = i64::from(zone.offset_of_local(micros.div_euclid(SECOND)));
    micros.checked_sub(offset * SECOND).ok_or_else(|| out_of_range("timestamp"))
}

/// A moment moved as PostgreSQL's `timestamptz + interval` does: months and days on the clock and
/// calendar of the zone, where days are 23 to 25 hours long; then the time.
pub(in super::super) fn moved(
    moment: i64,
    zone: Zone,
    months: i32,
    days: i32,
    micros: i64,
) -> SqlResult<i64> {
    let too_far = || out_of_range("timestamp");
    let mut moment = moment;
    if months != 0 {
        let local = to_local(moment, zone)?;
        let (day, of_day) = (local.div_euclid(DAY), local.rem_euclid(DAY));
        let (year, month, day_of_month) = date_of(day);
        let month = year * 12 + i64::from(month) - 1 + i64::from(months);
        let (year, month) = (month.div_euclid(12), month.rem_euclid(12) as u32 + 1);
        let day_of_month = day_of_month.min(days_in_month(year, month));
        let local = days_of(year, month, day_of_month).checked_mul(DAY).ok_or_else(too_far)?;
        moment = to_utc(local.checked_add(of_day).ok_or_else(too_far)?, zone)?;
    }
    if days != 0 {
        let local = to_local(moment, zone)?.checked_add(i64::from(days) * DAY);
        moment = to_utc(local.ok_or_else(too_far)?, zone)?;
    }
    moment.checked_add(micros).ok_or_else(too_far)
}

fn truncated(name: &str, micros: i64, type_name: &str) -> SqlResult<i64> {
    let unit = units::named(name, type_name)?;
    units::truncate(unit, micros).ok_or_else(|| units::unsupported(name, type_name))
}

fn truncate_in_zone(row: &Row<'_>, zone: Zone, out: &mut Out) -> SqlResult<()> {
    let local = to_local(row.int(1), zone)?;
    let type_name = "timestamp with time zone";
    let cut = truncated(row.text(0), local, type_name)?;
    // Within a day the clock may have been put back: the hour stays the one that it was in.
    match units::named(row.text(0), type_name)? {
        Unit::Microseconds | Unit::Milliseconds | Unit::Second | Unit::Minute | Unit::Hour => {
            out.int(row.int(1) - (local - cut))
        }
        _ => out.int(to_utc(cut, zone)?),
    }
}

fn truncate_interval(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let Span { months, days, micros } = row.span(1);
    let cut = |years: i32| Span { months: months / (12 * years) * 12 * years, days: 0, micros: 0 };
    let below = |unit: i64| Span { months, days, micros: micros / unit * unit };
    out.span(match units::named(row.text(0), "interval")? {
        Unit::Microseconds => Span { months, days, micros },
        Unit::Milliseconds => below(1000),
        Unit::Second => below(SECOND),
        Unit::Minute => below(60 * SECOND),
        Unit::Hour => below(3600 * SECOND),
        Unit::Day => Span { months, days, micros: 0 },
        Unit::Month => Span { months, days: 0, micros: 0 },
        Unit::Quarter => Span { months: months / 3 * 3, days: 0, micros: 0 },
        Unit::Year => cut(1),
        Unit::Decade => cut(10),
        Unit::Century => cut(100),
        Unit::Millennium => cut(1000),
        _ => return Err(units::unsupported(row.text(0), "interval")),
    })
}

/// A part and its digits after the point.
pub(in super::super) type Part = (i128, i8);

/// A part of a timestamp; with a zone, `micros` is a moment.
pub(in super::super) fn timestamp_part(
    name: &str,
    micros: i64,
    zone: Option<Zone>,
) -> SqlResult<Part> {
    let type_name = match zone {
        Some(_) => "timestamp with time zone",
        None => "timestamp without time zone",
    };
    let unit = units::named(name, type_name)?;
    let local = zone.map_or(Ok(micros), |zone| to_local(micros, zone))?;
    let offset = zone.map(|zone| i64::from(zone.offset_at(micros.div_euclid(SECOND))));
    let value = match (unit, offset) {
        (Unit::Epoch, _) => Some(micros),
        (Unit::Timezone, Some(offset)) => Some(offset),
        (Unit::TimezoneHour, Some(offset)) => Some(offset / 3600),
        (Unit::TimezoneMinute, Some(offset)) => Some(offset / 60 % 60),
        (unit, _) => units::of_day(unit, local.div_euclid(DAY))
            .or_else(|| units::of_time(unit, local.rem_euclid(DAY))),
    };
    let value = value.ok_or_else(|| units::unsupported(name, type_name))?;
    Ok((value.into(), unit.scale()))
}

/// A part of a date, for `extract`.
pub(in super::super) fn date_part(name: &str, days: i64) -> SqlResult<Part> {
    let unit = units::named(name, "date")?;
    let value = match unit {
        Unit::Epoch => Some(days.saturating_mul(86_400)),
        unit => units::of_day(unit, days),
    };
    let value = value.ok_or_else(|| units::unsupported(name, "date"))?;
    Ok((value.into(), 0))
}

pub(in super::super) fn time_part(name: &str, micros: i64) -> SqlResult<Part> {
    let type_name = "time without time zone";
    let unit = units::named(name, type_name)?;
    let value = units::of_time(unit, micros);
    let value = value.ok_or_else(|| units::unsupported(name, type_name))?;
    Ok((value.into(), unit.scale()))
}

pub(in super::super) fn interval_part(name: &str, span: Span) -> SqlResult<Part> {
    let unit = units::named(name, "interval")?;
    let Span { months, days, micros } = span;
    let (months, days) = (i64::from(months), i64::from(days));
    let year = months / 12;
    let value: i128 = match unit {
        Unit::Day => days.into(),
        Unit::Month => (months % 12).into(),
        Unit::Quarter => (months % 12 / 3 + 1).into(),
        Unit::Year => year.into(),
        Unit::Decade => (year / 10).into(),
        Unit::Century => (year / 100).into(),
        Unit::Millennium => (year / 1000).into(),
        // A year of an interval has 365.25 days.
        Unit::Epoch => {
            let quarter_days = i128::from(year) * 1461 + i128::from(months % 12) * 120;
            let days = (quarter_days + i128::from(days) * 4) * i128::from(DAY) / 4;
            days + i128::from(micros)
        }
        unit => {
            let part = units::of_time(unit, micros);
            part.ok_or_else(|| units::unsupported(name, "interval"))?.into()
        }
    };
    Ok((value, unit.scale()))
}

fn push_part((value, scale): Part, out: &mut Out) -> SqlResult<()> {
    out.float(value as f64 / 10_f64.powi(scale.into()));
    Ok(())
}

fn part_of_timestamp(row: &Row<'_>, zone: Option<Zone>, out: &mut Out) -> SqlResult<()> {
    push_part(timestamp_part(row.text(0), row.int(1), zone)?, out)
}

/// Days since 1970 of a date; a negative year is BC.
fn date(year: i64, month: i64, day: i64) -> SqlResult<i64> {
    let wrong = || {
        let message = format!("date field value out of range: {year}-{month:02}-{day:02}");
        SqlError::new(code::DATETIME_FIELD_OVERFLOW, message)
    };
    let proleptic = if year < 0 { year + 1 } else { year };
    let month = u32::try_from(month).ok().filter(|month| (1..=12).contains(month));
    let (month, day) = (month.ok_or_else(wrong)?, u32::try_from(day).map_err(|_| wrong())?);
    if year == 0 || !(1..=days_in_month(proleptic, month)).contains(&day) {
        return Err(wrong());
    }
    Ok(days_of(proleptic, month, day))
}

/// Microseconds of a time of day.
fn time(hour: i64, minute: i64, second: f64) -> SqlResult<i64> {
    let fits = (0..=24).contains(&hour)
        && (0..60).contains(&minute)
        && (0.0..=60.0).contains(&second)
        && (hour < 24 || (minute == 0 && second == 0.0));
    if !fits {
        let message = format!("time field value out of range: {hour}:{minute:02}:{second:02}");
        return Err(SqlError::new(code::DATETIME_FIELD_OVERFLOW, message));
    }
    Ok((hour * 3600 + minute * 60) * SECOND + (second * 1e6).round_ties_even() as i64)
}

fn timestamp(row: &Row<'_>) -> SqlResult<i64> {
    let days = date(row.int(0), row.int(1), row.int(2))?;
    let micros = time(row.int(3), row.int(4), row.float(5))?;
    let start = days.checked_mul(DAY).ok_or_else(|| out_of_range("timestamp"))?;
    Ok(start + micros)
}

/// `make_interval(years, months, weeks, days, hours, mins, secs)`, those left out being zero.
fn make_interval(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let at = |index: usize| if index < row.len() { row.int(index) } else { 0 };
    let seconds = if row.len() > 6 { row.float(6) } else { 0.0 };
    let narrow = |value: i64| i32::try_from(value).map_err(|_| out_of_range("interval"));
    let micros = (at(4) * 3600 + at(5) * 60).checked_mul(SECOND);
    let micros = micros.and_then(|micros| micros.checked_add((seconds * 1e6).round() as i64));
    out.span(Span {
        months: narrow(at(0) * 12 + at(1))?,
        days: narrow(at(2) * 7 + at(3))?,
        micros: micros.ok_or_else(|| out_of_range("interval"))?,
    })
}

fn difference(later: i64, earlier: i64, out: &mut Out) -> SqlResult<()> {
    let micros = later.checked_sub(earlier).ok_or_else(|| out_of_range("interval"))?;
    let days = i32::try_from(micros / DAY).map_err(|_| out_of_range("interval"))?;
    out.span(Span { months: 0, days, micros: micros % DAY })
}

fn times(span: Span, factor: f64) -> SqlResult<Span> {
    scaled(span, |part| part * factor)
}

/// A quotient of a span. Not the product with the reciprocal: 49 months over 49 are one.
pub(in super::super) fn over(span: Span, divisor: f64) -> SqlResult<Span> {
    if divisor == 0.0 {
        return Err(SqlError::new(code::DIVISION_BY_ZERO, "division by zero"));
    }
    scaled(span, |part| part / divisor)
}

/// What is left over of months becomes days, of days time, as PostgreSQL does it.
fn scaled(span: Span, scale: impl Fn(f64) -> f64) -> SqlResult<Span> {
    let rounded = |value: f64| (value * 1e6).round_ties_even() / 1e6;
    let narrow = |value: f64| match value.abs() < f64::from(i32::MAX) {
        true => Ok(value as i32),
        false => Err(out_of_range("interval")),
    };
    let months = scale(f64::from(span.months));
    let days = scale(f64::from(span.days));
    if !months.is_finite() || !days.is_finite() {
        return Err(out_of_range("interval"));
    }
    let left_days = rounded((months - months.trunc()) * 30.0);
    let mut left_seconds =
        rounded((days - days.trunc() + left_days - left_days.trunc()) * 86_400.0);
    let mut whole_days = days.trunc() + left_days.trunc();
    if left_seconds.abs() >= 86_400.0 {
        whole_days += (left_seconds / 86_400.0).trunc();
        left_seconds %= 86_400.0;
    }
    let micros = (scale(span.micros as f64) + left_seconds * 1e6).round_ties_even();
    if micros.is_nan() || micros.abs() >= 9.2e15 {
        return Err(out_of_range("interval"));
    }
    Ok(Span { months: narrow(months.trunc())?, days: narrow(whole_days)?, micros: micros as i64 })
}

fn overlaps(row: &Row<'_>, out: &mut Out) -> SqlResult<()> {
    let ordered = |one: i64, other: i64| (one.min(other), one.max(other));
    let (from, to) = ordered(row.int(0), row.int(1));
    let (other_from, other_to) = ordered(row.int(2), row.int(3));
    // A point lies in the span that begins with it.
    let inside = |at: i64, from: i64, to: i64| at >= from && (at < to || from == to && at == from);
    out.boolean(inside(from, other_from, other_to) || inside(other_from, from, to));
    Ok(())
}
