//! Dates and times in text, in the ISO style: `2020-01-02 03:04:05.678+00`, `0044-03-15 BC`.

use super::super::calendar::{DAY_MICROS, HOUR_MICROS, MINUTE_MICROS, SECOND_MICROS, date_of};
use super::super::zone::Zone;
use super::number::{push_padded, trim_fraction};

/// Appends a date, in days since 1970.
pub(super) fn push_date(out: &mut Vec<u8>, days: i64) {
    let is_bc = push_year_month_day(out, days);
    push_era(out, is_bc);
}

/// Appends a time of day, in microseconds since midnight.
pub(super) fn push_time(out: &mut Vec<u8>, micros: i64) {
    push_padded(out, (micros / HOUR_MICROS).unsigned_abs(), 2);
    push_minutes_and_seconds(out, micros % HOUR_MICROS);
}

/// Appends a timestamp, in microseconds since 1970: as it is, or in `zone` with its offset.
pub(super) fn push_timestamp(out: &mut Vec<u8>, micros: i64, zone: Option<Zone>) {
    let offset = zone.map(|zone| zone.offset_at(micros.div_euclid(SECOND_MICROS)));
    // In 128 bits, because an offset may lead past the last moment.
    let local = i128::from(micros) + i128::from(offset.unwrap_or(0)) * i128::from(SECOND_MICROS);
    let day = i128::from(DAY_MICROS);
    let days = i64::try_from(local.div_euclid(day)).unwrap_or(0);
    let is_bc = push_year_month_day(out, days);
    out.push(b' ');
    push_time(out, i64::try_from(local.rem_euclid(day)).unwrap_or(0));
    if let Some(offset) = offset {
        push_offset(out, offset);
    }
    push_era(out, is_bc);
}

/// `:mm:ss.ffffff`, the fraction without zeros at its end.
pub(super) fn push_minutes_and_seconds(out: &mut Vec<u8>, micros: i64) {
    let micros = micros.unsigned_abs();
    let (minute, second) = (MINUTE_MICROS.unsigned_abs(), SECOND_MICROS.unsigned_abs());
    out.push(b':');
    push_padded(out, micros / minute, 2);
    out.push(b':');
    push_seconds(out, micros % minute / second, micros % second, 2);
}

/// Seconds of at least `width` digits, and their fraction.
pub(super) fn push_seconds(out: &mut Vec<u8>, seconds: u64, micros: u64, width: usize) {
    push_padded(out, seconds, width);
    if micros != 0 {
        let point = out.len();
        out.push(b'.');
        push_padded(out, micros, 6);
        trim_fraction(out, point);
    }
}

/// Whether the year is before Christ, which the end of the value says.
fn push_year_month_day(out: &mut Vec<u8>, days: i64) -> bool {
    let (year, month, day) = date_of(days);
    let is_bc = year <= 0;
    let shown = if is_bc { 1 - year } else { year };
    push_padded(out, shown.unsigned_abs(), 4);
    out.push(b'-');
    push_padded(out, u64::from(month), 2);
    out.push(b'-');
    push_padded(out, u64::from(day), 2);
    is_bc
}

fn push_era(out: &mut Vec<u8>, is_bc: bool) {
    if is_bc {
        out.extend_from_slice(b" BC");
    }
}

/// `+hh`, `+hh:mm`, `+hh:mm:ss`.
fn push_offset(out: &mut Vec<u8>, seconds: i32) {
    out.push(if seconds < 0 { b'-' } else { b'+' });
    let seconds = u64::from(seconds.unsigned_abs());
    push_padded(out, seconds / 3600, 2);
    if !seconds.is_multiple_of(3600) {
        out.push(b':');
        push_padded(out, seconds / 60 % 60, 2);
    }
    if !seconds.is_multiple_of(60) {
        out.push(b':');
        push_padded(out, seconds % 60, 2);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::calendar::{DATE_MAX, DATE_MIN, TIMESTAMP_MIN};
    use super::*;

    fn text(push: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).expect("ascii")
    }

    #[test]
    fn dates_and_times() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (DATE_MIN, "4714-11-24 BC"),
            (DATE_MAX, "5874897-12-31"),
        ] {
            assert_eq!(text(|out| push_date(out, days)), expected);
        }
        assert_eq!(text(|out| push_time(out, 0)), "00:00:00");
        assert_eq!(text(|out| push_time(out, DAY_MICROS)), "24:00:00");
        assert_eq!(text(|out| push_time(out, 11_045_600_000)), "03:04:05.6");
    }

    #[test]
    fn timestamps_stand_in_their_zone() {
        let micros = 1_577_934_245_678_000;
        for (zone, expected) in [
            (None, "2020-01-02 03:04:05.678"),
            (Some(Zone::Fixed(0)), "2020-01-02 03:04:05.678+00"),
            (Zone::parse("Asia/Kolkata"), "2020-01-02 08:34:05.678+05:30"),
            (Zone::parse("America/St_Johns"), "2020-01-01 23:34:05.678-03:30"),
        ] {
            assert_eq!(text(|out| push_timestamp(out, micros, zone)), expected);
        }
        let zone = Zone::parse("Europe/Paris");
        let first = text(|out| push_timestamp(out, TIMESTAMP_MIN, zone));
        assert_eq!(first, "4714-11-24 00:09:21+00:09:21 BC");
        let last = text(|out| push_timestamp(out, i64::MAX, Some(Zone::Fixed(3600))));
        assert_eq!(last, "294247-01-10 05:00:54.775807+01");
        assert_eq!(text(|out| push_timestamp(out, -1, None)), "1969-12-31 23:59:59.999999");
    }
}
