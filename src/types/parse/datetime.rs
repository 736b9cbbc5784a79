//! Dates, times and timestamps, in the forms that PostgreSQL takes with `DateStyle` ISO, MDY:
//! `2020-01-02 03:04:05.678+05:30`, `20200102T030405Z`, `1/2/2020`, `2 January 2020 3:04 PM EST`,
//! `0044-03-15 BC`, `now`, `today`, `epoch`.

use super::super::calendar::{
    DATE_MAX, DATE_MIN, DAY_MICROS, HOUR_MICROS, MINUTE_MICROS, SECOND_MICROS, TIMESTAMP_MIN,
    days_in_month, days_of,
};
use super::super::zone::{OFFSET_SECONDS_MAX, Zone, offset};
use super::scan::{Piece, Scanner, is_weekday, month};
use super::{InputStyle, trim};
use crate::error::{SqlError, SqlResult, code};

/// Days from Julian day 0 to 1970-01-01.
const JULIAN_EPOCH: i64 = 2_440_588;

/// A date, in days since 1970.
pub(in super::super) fn date(text: &str, style: &InputStyle) -> SqlResult<i32> {
    let read = read(text, style, Wanted::Moment).map_err(|fault| fault.report("date", text))?;
    let days = match read {
        Read::Moment(micros) => to_local(micros, style.zone).div_euclid(DAY_MICROS),
        Read::Fields(fields) => fields.date.ok_or_else(|| Fault::Syntax.report("date", text))?,
    };
    let in_range = (DATE_MIN..=DATE_MAX).contains(&days);
    in_range.then(|| i32::try_from(days).ok()).flatten().ok_or_else(|| out_of_range("date", text))
}

/// A time of day, in microseconds since midnight.
pub(in super::super) fn time(text: &str, style: &InputStyle) -> SqlResult<i64> {
    match read(text, style, Wanted::Time).map_err(|fault| fault.report("time", text))? {
        Read::Moment(micros) if is_now(text) => {
            Ok(to_local(micros, style.zone).rem_euclid(DAY_MICROS))
        }
        Read::Fields(Fields { time: Some(time), .. }) => Ok(time),
        _ => Err(Fault::Syntax.report("time", text)),
    }
}

/// A timestamp without time zone, in microseconds; a zone in the text is read and left out.
pub(in super::super) fn timestamp(text: &str, style: &InputStyle) -> SqlResult<i64> {
    let read =
        read(text, style, Wanted::Moment).map_err(|fault| fault.report("timestamp", text))?;
    let micros = match read {
        Read::Moment(0) => Some(0),
        Read::Moment(micros) => Some(to_local(micros, style.zone)),
        Read::Fields(fields) => {
            fields.local().ok_or_else(|| Fault::Syntax.report("timestamp", text))?
        }
    };
    in_range(micros).ok_or_else(|| out_of_range("timestamp", text))
}

/// A timestamp with time zone, in microseconds since 1970 UTC.
pub(in super::super) fn timestamptz(text: &str, style: &InputStyle) -> SqlResult<i64> {
    let type_name = "timestamp with time zone";
    let read = read(text, style, Wanted::Moment).map_err(|fault| fault.report(type_name, text))?;
    let micros = match read {
        Read::Moment(micros) => Some(micros),
        Read::Fields(fields) => {
            let local = fields.local().ok_or_else(|| Fault::Syntax.report(type_name, text))?;
            let zone = fields.zone.unwrap_or(style.zone);
            local.and_then(|local| {
                let offset = zone.offset_of_local(local.div_euclid(SECOND_MICROS));
                local.checked_sub(i64::from(offset) * SECOND_MICROS)
            })
        }
    };
    in_range(micros).ok_or_else(|| out_of_range("timestamp", text))
}

fn in_range(micros: Option<i64>) -> Option<i64> {
    micros.filter(|micros| *micros >= TIMESTAMP_MIN)
}

fn to_local(micros: i64, zone: Zone) -> i64 {
    let offset = zone.offset_at(micros.div_euclid(SECOND_MICROS));
    micros.saturating_add(i64::from(offset) * SECOND_MICROS)
}

fn out_of_range(type_name: &str, text: &str) -> SqlError {
    let message = format!("{type_name} out of range: \"{text}\"");
    SqlError::new(code::DATETIME_FIELD_OVERFLOW, message)
}

fn is_now(text: &str) -> bool {
    trim(text).eq_ignore_ascii_case("now")
}

/// Why a text is no date or time.
#[derive(Debug, PartialEq, Eq)]
enum Fault {
    Syntax,
    /// A field is beyond what it can be.
    Field,
    /// A month or a day is: perhaps the order was meant otherwise.
    MonthOrDay,
    Displacement,
    UnknownZone(String),
    Infinity,
    /// `now`, where there is no moment that it could mean.
    NoMoment,
}

impl Fault {
    fn report(self, type_name: &str, text: &str) -> SqlError {
        let overflow = || {
            let message = format!("date/time field value out of range: \"{text}\"");
            SqlError::new(code::DATETIME_FIELD_OVERFLOW, message)
        };
        match self {
            Fault::Syntax => SqlError::new(
                code::INVALID_DATETIME_FORMAT,
                format!("invalid input syntax for type {type_name}: \"{text}\""),
            ),
            Fault::Field => overflow(),
            Fault::MonthOrDay => {
                overflow().hint("Perhaps you need a different \"datestyle\" setting.")
            }
            Fault::Displacement => {
                SqlError::new("22009", format!("time zone displacement out of range: \"{text}\""))
            }
            Fault::UnknownZone(name) => SqlError::new(
                code::INVALID_PARAMETER_VALUE,
                format!("time zone \"{name}\" not recognized"),
            ),
            Fault::NoMoment => {
                SqlError::unsupported(format!("{type_name} \"{text}\" in a materialized view"))
                    .hint("The view would change without its inputs changing.")
            }
            Fault::Infinity => SqlError::unsupported(format!("{type_name} \"{text}\"")),
        }
    }
}

/// What the text is to be: decides what a bare number means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Moment,
    Time,
}

enum Read {
    /// Microseconds since 1970 UTC: `now`, `epoch`.
    Moment(i64),
    Fields(Fields),
}

/// What a text says; a missing part was not there.
#[derive(Debug, Default)]
struct Fields {
    /// Days since 1970.
    date: Option<i64>,
    /// Microseconds since midnight.
    time: Option<i64>,
    zone: Option<Zone>,
}

impl Fields {
    /// Local microseconds since 1970: `None` without a date, `Some(None)` beyond 64 bits.
    fn local(&self) -> Option<Option<i64>> {
        let days = self.date?;
        let time = self.time.unwrap_or(0);
        Some(days.checked_mul(DAY_MICROS).and_then(|micros| micros.checked_add(time)))
    }
}

/// The fields as they come, before they are checked against each other.
#[derive(Debug, Default)]
struct Reading {
    year: Option<i64>,
    /// Written with at most two digits: 70 is 1970, 69 is 2069.
    year_is_short: bool,
    month: Option<u32>,
    day: Option<u32>,
    days: Option<i64>,
    /// Hour and the microseconds after it.
    time: Option<(i64, i64)>,
    is_pm: Option<bool>,
    is_bc: Option<bool>,
    zone: Option<Zone>,
    moment: Option<i64>,
}

fn read(text: &str, style: &InputStyle, wanted: Wanted) -> Result<Read, Fault> {
    if let Some(fields) = read_iso(text.as_bytes()) {
        return match wanted {
            Wanted::Time if fields.time.is_none() => Err(Fault::Syntax),
            _ => Ok(Read::Fields(fields)),
        };
    }
    let mut scanner = Scanner::new(text);
    let mut reading = Reading::default();
    while let Some(piece) = scanner.next(reading.has_date() || reading.month.is_some()) {
        match piece {
            Piece::Number(number) => reading.number(number, wanted)?,
            Piece::Date(date, separator) => reading.date(date, separator)?,
            Piece::Clock(clock) => reading.clock(clock)?,
            Piece::Offset(text) => reading.offset(text, wanted)?,
            Piece::Word(word) => reading.word(word, style)?,
            Piece::Julian(number) => {
                let number: i64 = number.parse().map_err(|_| Fault::Syntax)?;
                reading.set_days(number.saturating_sub(JULIAN_EPOCH))?;
            }
            Piece::Other => return Err(Fault::Syntax),
        }
    }
    match reading.moment {
        Some(moment) if reading.is_otherwise_empty() => Ok(Read::Moment(moment)),
        Some(_) => Err(Fault::Syntax),
        None => reading.finish().map(Read::Fields),
    }
}

/// `2020-01-02`, `2020-01-02 03:04:05.678`, `2020-01-02T03:04:05Z`, `2020-01-02 03:04:05+01`: what
/// nearly all data has, read at once. `None` leaves the text, right or wrong, to the long way.
fn read_iso(text: &[u8]) -> Option<Fields> {
    let (date, rest) = text.split_first_chunk::<10>()?;
    let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = *date else { return None };
    let year = i64::from(two_digits(y0, y1)?) * 100 + i64::from(two_digits(y2, y3)?);
    let (month, day) = (two_digits(m0, m1)?, two_digits(d0, d1)?);
    if year == 0 || !(1..=12).contains(&month) || !(1..=days_in_month(year, month)).contains(&day) {
        return None;
    }
    let date = Some(days_of(year, month, day));
    if rest.is_empty() {
        return Some(Fields { date, time: None, zone: None });
    }
    let (time, mut rest) = rest.split_first_chunk::<9>()?;
    let [b' ' | b'T', h0, h1, b':', m0, m1, b':', s0, s1] = *time else { return None };
    let (hours, minutes, seconds) = (two_digits(h0, h1)?, two_digits(m0, m1)?, two_digits(s0, s1)?);
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let mut micros = i64::from(hours * 3600 + minutes * 60 + seconds) * SECOND_MICROS;
    if let Some(after) = rest.strip_prefix(b".") {
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let fraction = std::str::from_utf8(&rest[..=digits]).ok()?;
        micros += fraction_micros(fraction).filter(|_| (1..=6).contains(&digits))?;
        rest = &after[digits..];
    }
    let zone = match *rest {
        [] => None,
        [b'Z'] => Some(0),
        [b'+', h0, h1] => Some(i32::try_from(two_digits(h0, h1)?).ok()? * 3600),
        [b'-', h0, h1] => Some(-i32::try_from(two_digits(h0, h1)?).ok()? * 3600),
        _ => return None,
    };
    let in_range = zone.is_none_or(|seconds| seconds.abs() <= OFFSET_SECONDS_MAX);
    in_range.then_some(Fields { date, time: Some(micros), zone: zone.map(Zone::Fixed) })
}

fn two_digits(tens: u8, ones: u8) -> Option<u32> {
    let both = tens.is_ascii_digit() && ones.is_ascii_digit();
    both.then(|| u32::from(tens - b'0') * 10 + u32::from(ones - b'0'))
}

/// Sets a field that must not be there yet.
fn set<T>(slot: &mut Option<T>, value: T) -> Result<(), Fault> {
    if slot.is_some() {
        return Err(Fault::Syntax);
    }
    *slot = Some(value);
    Ok(())
}

fn parse<T: std::str::FromStr>(digits: &str) -> Result<T, Fault> {
    digits.parse().map_err(|_| Fault::Field)
}

impl Reading {
    fn has_date(&self) -> bool {
        self.days.is_some() || (self.year.is_some() && self.month.is_some() && self.day.is_some())
    }

    fn is_otherwise_empty(&self) -> bool {
        self.year.is_none()
            && self.month.is_none()
            && self.day.is_none()
            && self.days.is_none()
            && self.time.is_none()
            && self.is_pm.is_none()
            && self.is_bc.is_none()
            && self.zone.is_none()
    }

    fn set_days(&mut self, days: i64) -> Result<(), Fault> {
        if self.year.is_some() || self.month.is_some() || self.day.is_some() {
            return Err(Fault::Syntax);
        }
        set(&mut self.days, days)
    }

    fn set_year(&mut self, digits: &str) -> Result<(), Fault> {
        self.year_is_short = digits.len() <= 2;
        set(&mut self.year, parse(digits)?)
    }

    /// A number that stands alone: a compact date or time, a day, a year.
    fn number(&mut self, number: &str, wanted: Wanted) -> Result<(), Fault> {
        let (whole, fraction) = number.split_at(number.find('.').unwrap_or(number.len()));
        let no_date = self.year.is_none() && self.month.is_none() && self.day.is_none();
        let expects_time = self.time.is_none() && (self.has_date() || wanted == Wanted::Time);
        match whole.len() {
            4 | 6 if expects_time => {
                let minutes = parse::<i64>(&whole[2..4])?;
                let seconds =
                    parse::<i64>(whole.get(4..).filter(|s| !s.is_empty()).unwrap_or("0"))?;
                self.set_time(parse(&whole[..2])?, minutes, seconds, fraction)
            }
            _ if !fraction.is_empty() || self.has_date() => Err(Fault::Syntax),
            length @ (6 | 8) if no_date => {
                let (year, rest) = whole.split_at(length - 4);
                self.set_year(year)?;
                self.month = Some(parse(&rest[..2])?);
                self.day = Some(parse(&rest[2..])?);
                Ok(())
            }
            3.. => self.set_year(whole),
            _ if self.day.is_none() => set(&mut self.day, parse(whole)?),
            _ => self.set_year(whole),
        }
    }

    /// `2020-01-02`, `1/2/2020` (month first), `02-Jan-2020`, `2020-Jan-02`, `2020-033`.
    fn date(&mut self, date: &str, separator: char) -> Result<(), Fault> {
        if !self.is_otherwise_empty() {
            return Err(Fault::Syntax);
        }
        let mut parts = date.split(separator);
        let (Some(first), Some(second)) = (parts.next(), parts.next()) else {
            return Err(Fault::Syntax);
        };
        let third = parts.next();
        if parts.next().is_some() {
            return Err(Fault::Syntax);
        }
        let Some(third) = third else { return self.day_of_year(first, second) };
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let (first, second) =
            if month(first).is_some() { (second, first) } else { (first, second) };
        let named_month = month(second);
        let is_date =
            is_number(first) && is_number(third) && (named_month.is_some() || is_number(second));
        if !is_date {
            return Err(Fault::Syntax);
        }
        let (year, month, day) = match (first.len() >= 3, named_month) {
            (true, Some(month)) => (first, month, third),
            (true, None) => (first, parse(second)?, third),
            (false, Some(month)) => (third, month, first),
            (false, None) => (third, parse(first)?, second),
        };
        self.set_year(year)?;
        self.month = Some(month);
        self.day = Some(parse(day)?);
        Ok(())
    }

    fn day_of_year(&mut self, year: &str, day: &str) -> Result<(), Fault> {
        if year.len() < 3 || day.len() != 3 || !day.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Fault::Syntax);
        }
        let (year, day): (i64, i64) = (parse(year)?, parse(day)?);
        // The 366th day of a short year is the first of the next, as in PostgreSQL.
        if !(1..=366).contains(&day) || !(1..=9_999_999).contains(&year) {
            return Err(Fault::Field);
        }
        self.set_days(days_of(year, 1, 1) + day - 1)
    }

    /// `hh:mm`, `hh:mm:ss.f`, `mm:ss.f`.
    fn clock(&mut self, clock: &str) -> Result<(), Fault> {
        let (whole, fraction) = clock.split_at(clock.find('.').unwrap_or(clock.len()));
        let mut parts = [0_i64; 3];
        let mut count = 0;
        for part in whole.split(':') {
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            if !is_number || count == 3 {
                return Err(Fault::Syntax);
            }
            parts[count] = parse(part)?;
            count += 1;
        }
        match (count, parts) {
            (2, [minutes, seconds, _]) if !fraction.is_empty() => {
                self.set_time(0, minutes, seconds, fraction)
            }
            (_, [hours, minutes, seconds]) => self.set_time(hours, minutes, seconds, fraction),
        }
    }

    fn set_time(
        &mut self,
        hours: i64,
        minutes: i64,
        seconds: i64,
        fraction: &str,
    ) -> Result<(), Fault> {
        if hours > 24 || minutes > 59 || seconds > 60 {
            return Err(Fault::Field);
        }
        let micros = fraction_micros(fraction).ok_or(Fault::Syntax)?;
        let after_hour = minutes * MINUTE_MICROS + seconds * SECOND_MICROS + micros;
        set(&mut self.time, (hours, after_hour))
    }

    fn offset(&mut self, text: &str, wanted: Wanted) -> Result<(), Fault> {
        if self.time.is_none() && (wanted == Wanted::Time || !self.has_date()) {
            return Err(Fault::Syntax);
        }
        let seconds = offset(text).ok_or(Fault::Syntax)?;
        if seconds.abs() > OFFSET_SECONDS_MAX {
            return Err(Fault::Displacement);
        }
        set(&mut self.zone, Zone::Fixed(seconds))
    }

    fn word(&mut self, word: &str, style: &InputStyle) -> Result<(), Fault> {
        if let Some(month) = month(word) {
            return set(&mut self.month, month);
        }
        if is_weekday(word) {
            return Ok(());
        }
        let today = || to_local(style.now_micros, style.zone).div_euclid(DAY_MICROS);
        match word.to_ascii_lowercase().as_str() {
            "am" => set(&mut self.is_pm, false),
            "pm" => set(&mut self.is_pm, true),
            "bc" => set(&mut self.is_bc, true),
            "ad" => set(&mut self.is_bc, false),
            "at" | "on" => Ok(()),
            "now" | "today" | "tomorrow" | "yesterday"
                if style.now_micros == InputStyle::NO_MOMENT =>
            {
                Err(Fault::NoMoment)
            }
            "now" => set(&mut self.moment, style.now_micros),
            "epoch" => set(&mut self.moment, 0),
            "today" => self.set_days(today()),
            "tomorrow" => self.set_days(today() + 1),
            "yesterday" => self.set_days(today() - 1),
            "allballs" => {
                self.zone = Some(Zone::Fixed(0));
                self.set_time(0, 0, 0, "")
            }
            "infinity" | "inf" if self.is_otherwise_empty() => Err(Fault::Infinity),
            lower => self.zone_word(word, lower),
        }
    }

    fn zone_word(&mut self, word: &str, lower: &str) -> Result<(), Fault> {
        if let Some(seconds) = Zone::abbreviation(word) {
            return set(&mut self.zone, Zone::Fixed(seconds));
        }
        if self.is_otherwise_empty() {
            return Err(Fault::Syntax);
        }
        let looks_like_zone = word.contains(|c: char| !c.is_ascii_alphabetic());
        match if looks_like_zone { Zone::parse(word) } else { Zone::named(word) } {
            Some(zone) => set(&mut self.zone, zone),
            None if looks_like_zone => Err(Fault::UnknownZone(lower.to_owned())),
            None => Err(Fault::Syntax),
        }
    }

    fn finish(self) -> Result<Fields, Fault> {
        let time = self.time_of_day()?;
        let date = match (self.days, self.year, self.month, self.day) {
            (Some(days), ..) => Some(days),
            (None, Some(year), Some(month), Some(day)) => {
                Some(self.checked_date(year, month, day)?)
            }
            (None, None, None, None) => None,
            _ => return Err(Fault::Syntax),
        };
        if date.is_none() && (time.is_none() || self.is_bc.is_some()) {
            return Err(Fault::Syntax);
        }
        Ok(Fields { date, time, zone: self.zone })
    }

    fn checked_date(&self, year: i64, month: u32, day: u32) -> Result<i64, Fault> {
        let is_bc = self.is_bc == Some(true);
        let year = match (is_bc, self.year_is_short) {
            (_, _) if year == 0 && !self.year_is_short => return Err(Fault::Field),
            (true, _) => 1 - year,
            (false, true) => year + if year < 70 { 2000 } else { 1900 },
            (false, false) => year,
        };
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return Err(Fault::MonthOrDay);
        }
        if day > days_in_month(year, month) || year.abs() > 9_999_999 {
            return Err(Fault::Field);
        }
        Ok(days_of(year, month, day))
    }

    fn time_of_day(&self) -> Result<Option<i64>, Fault> {
        let Some((hours, after_hour)) = self.time else {
            return if self.is_pm.is_some() { Err(Fault::Syntax) } else { Ok(None) };
        };
        let hours = match self.is_pm {
            Some(_) if hours > 12 => return Err(Fault::Field),
            Some(true) if hours < 12 => hours + 12,
            Some(false) if hours == 12 => 0,
            _ => hours,
        };
        let micros = hours * HOUR_MICROS + after_hour;
        if micros > DAY_MICROS { Err(Fault::Field) } else { Ok(Some(micros)) }
    }
}

/// Microseconds of `.ddd`, rounded; `None` if that is not what it is.
pub(super) fn fraction_micros(fraction: &str) -> Option<i64> {
    let digits = fraction.strip_prefix('.').unwrap_or_default();
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if digits.len() > 6 {
        let value: f64 = fraction.parse().ok()?;
        #[allow(clippy::cast_possible_truncation)]
        return Some((value * 1e6).round_ties_even() as i64);
    }
    let mut micros = 0;
    for index in 0..6 {
        micros =
            micros * 10 + digits.as_bytes().get(index).map_or(0, |byte| i64::from(byte - b'0'));
    }
    Some(micros)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::types::text::{TextEncoder, TextStyle};
    use crate::types::{ColumnBuilder, SqlType};

    fn style() -> InputStyle {
        let zone = Zone::named("America/New_York").expect("a zone");
        // 2020-07-01 02:00 UTC: in New York still June.
        InputStyle { zone, now_micros: 1_593_568_800_000_000 }
    }

    #[test]
    fn words_for_moments_depend_on_now_and_the_zone() {
        let june_30 = days_of(2020, 6, 30);
        for (word, days) in
            [("now", june_30), ("today", june_30), ("yesterday", june_30 - 1), ("epoch", -1)]
        {
            assert_eq!(date(word, &style()).map(i64::from), Ok(days), "{word}");
        }
        assert_eq!(timestamptz(" NOW ", &style()), Ok(style().now_micros));
        assert_eq!(timestamptz("epoch", &style()), Ok(0));
        assert_eq!(timestamp("epoch", &style()), Ok(0));
        assert_eq!(timestamp("now", &style()), Ok(june_30 * DAY_MICROS + 22 * HOUR_MICROS));
        assert_eq!(time("now", &style()), Ok(22 * HOUR_MICROS));
        assert_eq!(
            timestamptz("tomorrow 10:00", &style()),
            Ok((june_30 + 1) * DAY_MICROS + 14 * HOUR_MICROS)
        );
    }

    #[test]
    fn a_timestamptz_without_zone_is_in_the_sessions() {
        let utc = |text| timestamptz(text, &InputStyle::default());
        for (local, same) in [
            ("2020-07-01 00:00", "2020-07-01 04:00Z"),
            ("2020-01-01 00:00:00", "2020-01-01 05:00:00+00"),
            ("2020-03-08 02:30", "2020-03-08 07:30Z"),
            ("2020-11-01 01:30", "2020-11-01 06:30Z"),
            ("2020-07-01 00:00:00+02", "2020-06-30 22:00Z"),
            ("2150-07-01 00:00", "2150-07-01 04:00Z"),
        ] {
            assert_eq!(timestamptz(local, &style()), utc(same), "{local}");
        }
    }

    #[test]
    fn what_weir_cannot_hold_is_refused() {
        for text in ["infinity", "-infinity", "294276-12-31 00:00:00"] {
            let error = timestamp(text, &style()).expect_err(text);
            assert!(matches!(error.code, "0A000" | "22008" | "22007"), "{error:?}");
        }
        assert_eq!(date("infinity", &style()).map_err(|error| error.code), Err("0A000"));
    }

    /// A value's text, read again.
    fn survives(sql_type: &SqlType, text: &str, zone: Zone) -> Result<(), TestCaseError> {
        let input = InputStyle { zone: Zone::default(), now_micros: 0 };
        let output = TextStyle { zone, ..TextStyle::default() };
        let mut builder = ColumnBuilder::new(sql_type, &input).expect("a builder");
        builder.append_text(text).expect(text);
        let value = builder.finish();
        let mut written = Vec::new();
        let encoder = TextEncoder::of_type(sql_type, &value, &output).expect("an encoder");
        encoder.write(0, &mut written);
        builder.append_text_bytes(&written).expect("its own text");
        prop_assert_eq!(&builder.finish(), &value);
        Ok(())
    }

    proptest! {
        #[test]
        fn timestamps_survive_their_text(micros in TIMESTAMP_MIN..i64::MAX, zone in 0_usize..500) {
            let zone = Zone::Named(chrono_tz::TZ_VARIANTS[zone]);
            let mut text = Vec::new();
            let array: arrow::array::ArrayRef =
                std::sync::Arc::new(arrow::array::TimestampMicrosecondArray::from(vec![micros]));
            TextEncoder::of_type(&SqlType::Timestamp, &array, &TextStyle::default())
                .expect("an encoder")
                .write(0, &mut text);
            let text = String::from_utf8(text).expect("ascii");
            prop_assert_eq!(timestamp(&text, &InputStyle::default()), Ok(micros));
            // Half a day from both ends, so that the local time is in range.
            if (TIMESTAMP_MIN + DAY_MICROS..i64::MAX - DAY_MICROS).contains(&micros) {
                survives(&SqlType::Timestamptz, &text, zone)?;
            }
        }

        #[test]
        fn dates_survive_their_text(days in DATE_MIN..=DATE_MAX) {
            let mut text = Vec::new();
            let days = i32::try_from(days).expect("32 bits");
            let array: arrow::array::ArrayRef =
                std::sync::Arc::new(arrow::array::Date32Array::from(vec![days]));
            TextEncoder::of_type(&SqlType::Date, &array, &TextStyle::default())
                .expect("an encoder")
                .write(0, &mut text);
            let text = String::from_utf8(text).expect("ascii");
            prop_assert_eq!(date(&text, &InputStyle::default()), Ok(days));
        }

        #[test]
        fn nothing_panics(
            text in "[0-9JTZ:.+/ -]{0,24}|.{0,12}|(jan|bc|pm|utc|[0-9]{1,4}|[-+: ]){0,6}",
        ) {
            let style = style();
            let _ = (date(&text, &style), time(&text, &style), timestamp(&text, &style));
            let _ = (timestamptz(&text, &style), super::super::interval(&text));
        }
    }
}
