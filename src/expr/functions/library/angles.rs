//! Functions of angles: those in degrees are exact at the angles where PostgreSQL's are.

use super::function::Entry;
use super::row::{Out, Row};
use crate::error::{SqlError, SqlResult, code};

/// `name(arguments) -> result`, and what it does.
pub(super) const TABLE: &[Entry] = &[
    ("acos(double precision) -> double precision", |row, out| inverse(row, f64::acos, out)),
    ("asin(double precision) -> double precision", |row, out| inverse(row, f64::asin, out)),
    ("sind(double precision) -> double precision", |row, out| {
        out.float(sine(turned(row.float(0))?));
        Ok(())
    }),
    ("cosd(double precision) -> double precision", |row, out| {
        out.float(cosine(turned(row.float(0))?));
        Ok(())
    }),
];

fn out_of_range() -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range")
}

fn inverse(row: &Row<'_>, function: fn(f64) -> f64, out: &mut Out) -> SqlResult<()> {
    let value = row.float(0);
    if value.abs() > 1.0 {
        return Err(out_of_range());
    }
    out.float(function(value));
    Ok(())
}

/// The angle within one turn.
fn turned(degrees: f64) -> SqlResult<f64> {
    match degrees.is_infinite() {
        true => Err(out_of_range()),
        false => Ok(degrees % 360.0),
    }
}

/// From 0 to 30 degrees, scaled so that both ends are exact.
fn small_sine(degrees: f64) -> f64 {
    degrees.to_radians().sin() / 30_f64.to_radians().sin() / 2.0
}

/// From 0 to 60 degrees, scaled so that both ends are exact.
fn small_cosine(degrees: f64) -> f64 {
    let short = |degrees: f64| 1.0 - degrees.to_radians().cos();
    1.0 - short(degrees) / short(60.0) / 2.0
}

fn quarter_sine(degrees: f64) -> f64 {
    if degrees <= 30.0 { small_sine(degrees) } else { small_cosine(90.0 - degrees) }
}

fn sine(degrees: f64) -> f64 {
    let (sign, mut angle) = if degrees < 0.0 { (-1.0, -degrees) } else { (1.0, degrees) };
    let mut sign = sign;
    if angle > 180.0 {
        angle = 360.0 - angle;
        sign = -sign;
    }
    if angle > 90.0 {
        angle = 180.0 - angle;
    }
    sign * quarter_sine(angle)
}

fn cosine(degrees: f64) -> f64 {
    let mut angle = degrees.abs();
    if angle > 180.0 {
        angle = 360.0 - angle;
    }
    let sign = if angle > 90.0 { -1.0 } else { 1.0 };
    if angle > 90.0 {
        angle = 180.0 - angle;
    }
    sign * quarter_sine(90.0 - angle)
}
