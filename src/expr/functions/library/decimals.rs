//! Arithmetic of decimals as digits and scale.

use crate::error::{SqlError, code};
use crate::expr::functions::{divide_rounded, fits_numeric};

/// The same number, rounded half away from zero, with `to` digits after the point. `None`: more
/// than 38 digits.
pub(in super::super) fn rescale(value: i128, from: i8, to: i8) -> Option<i128> {
    let shift = i16::from(to) - i16::from(from);
    if shift >= 0 {
        let power = 10_i128.checked_pow(u32::try_from(shift).ok()?)?;
        let scaled = value.checked_mul(power)?;
        return fits_numeric(scaled).then_some(scaled);
    }
    match 10_i128.checked_pow(u32::try_from(-shift).ok()?) {
        Some(power) => divide_rounded(value, power, 0),
        None => Some(0),
    }
}

/// A numeric that does not fit.
pub(in super::super) fn overflow() -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
        .detail("The result has more than 38 digits.")
}
