//! Exact arithmetic of decimals: those of a declared scale in 128 bits, and numerics without a
//! modifier ([`NUMERIC`]), each with the scale that its value has.
//!
//! What is computed of the latter is exact where its digits fit; quotients have as many digits as
//! PostgreSQL gives them, and what has more digits after the point than are kept is rounded.

use std::sync::LazyLock;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Decimal128Type, Decimal256Type, i256};

use crate::types::NUMERIC;

/// One more than the largest 38-digit number.
const NUMERIC_END: i128 = 10_i128.pow(38);

/// Whether a value has at most 38 digits.
pub fn fits_numeric(value: i128) -> bool {
    -NUMERIC_END < value && value < NUMERIC_END
}

/// `dividend * 10^shift / divisor`, rounded half away from zero as PostgreSQL rounds numerics.
/// `None` if it has more than 38 digits, or the divisor is zero.
///
/// An average of `sum` with scale `s`, over `count` rows, at scale `t` is
/// `divide_rounded(sum, count, t - s)`.
pub fn divide_rounded(dividend: i128, divisor: i128, shift: u8) -> Option<i128> {
    let small = 10_i128.checked_pow(shift.into()).and_then(|power| dividend.checked_mul(power));
    let quotient = match small {
        Some(dividend) if divisor != i128::MIN => rounded_small(dividend, divisor)?,
        _ => rounded_large(dividend, divisor, shift)?,
    };
    fits_numeric(quotient).then_some(quotient)
}

fn rounded_small(dividend: i128, divisor: i128) -> Option<i128> {
    let quotient = dividend.checked_div(divisor)?;
    let remainder = dividend.checked_rem(divisor)?.unsigned_abs();
    let half = divisor.unsigned_abs() - remainder <= remainder;
    let away = if (dividend < 0) == (divisor < 0) { 1 } else { -1 };
    if half { quotient.checked_add(away) } else { Some(quotient) }
}

fn rounded_large(dividend: i128, divisor: i128, shift: u8) -> Option<i128> {
    let dividend =
        i256::from_i128(dividend).checked_mul(i256::from_i128(10).checked_pow(shift.into())?)?;
    let divisor = i256::from_i128(divisor);
    let quotient = dividend.checked_div(divisor)?;
    let remainder = dividend.checked_rem(divisor)?.wrapping_abs();
    let half = divisor.wrapping_abs().wrapping_sub(remainder) <= remainder;
    let negative = dividend.is_negative() != divisor.is_negative();
    let away = i256::from_i128(if negative { -1 } else { 1 });
    let rounded = if half { quotient.checked_add(away)? } else { quotient };
    rounded.to_i128()
}

/// 10^0 to 10^76.
static POWERS: LazyLock<Vec<i256>> = LazyLock::new(|| {
    let ten = i256::from_i128(10);
    (0..=u32::from(NUMERIC.0)).map(|exponent| ten.wrapping_pow(exponent)).collect()
});

fn power(exponent: i64) -> Option<i256> {
    POWERS.get(usize::try_from(exponent).ok()?).copied()
}

/// A numeric without a modifier as a number of 38 digits and its scale, without zeros at the end of
/// its fraction. `None`: it has more digits.
pub fn significand(value: i256) -> Option<(i128, i8)> {
    let mut value = value;
    let mut scale = i64::from(NUMERIC.1);
    // Most values have few digits after the point.
    for zeros in [28, 19, 10, 5] {
        let divisor = power(zeros)?;
        if scale >= zeros && value.wrapping_rem(divisor) == i256::ZERO {
            value = value.wrapping_div(divisor);
            scale -= zeros;
        }
    }
    let ten = i256::from_i128(10);
    let mut small = value.to_i128();
    while small.is_none_or(|small| small % 10 == 0 || !fits_numeric(small)) && scale > 0 {
        if value.wrapping_rem(ten) != i256::ZERO {
            break;
        }
        value = value.wrapping_div(ten);
        small = value.to_i128();
        scale -= 1;
    }
    Some((small.filter(|small| fits_numeric(*small))?, i8::try_from(scale).ok()?))
}

/// Whether a numeric without a modifier has no more digits than are kept.
pub fn fits_plain(value: i256) -> bool {
    power(NUMERIC.0.into()).is_some_and(|end| value.wrapping_abs() < end)
}

/// A number of a scale as a numeric without a modifier, rounded to the digits that are kept.
/// `None`: it is too large.
pub(super) fn numeric_of(value: i128, scale: i8) -> Option<i256> {
    scaled(i256::from_i128(value), scale.into())
}

fn scaled(value: i256, scale: i64) -> Option<i256> {
    let shift = i64::from(NUMERIC.1) - scale;
    let value = if shift >= 0 {
        match power(shift) {
            Some(power) => value.checked_mul(power)?,
            None => (value == i256::ZERO).then_some(value)?,
        }
    } else {
        match power(-shift) {
            Some(power) => halves_away(value, power)?,
            None => i256::ZERO,
        }
    };
    fits_plain(value).then_some(value)
}

/// `dividend / divisor`, half away from zero.
fn halves_away(dividend: i256, divisor: i256) -> Option<i256> {
    let quotient = dividend.checked_div(divisor)?;
    let remainder = dividend.checked_rem(divisor)?.wrapping_abs();
    let half = divisor.wrapping_abs().wrapping_sub(remainder) <= remainder;
    let negative = dividend.is_negative() != divisor.is_negative();
    let away = if negative { i256::MINUS_ONE } else { i256::ONE };
    if half { quotient.checked_add(away) } else { Some(quotient) }
}

/// The product of two numbers with their scales. `None`: it is too large.
pub(super) fn multiply_numeric(one: (i128, i8), other: (i128, i8)) -> Option<i256> {
    let product = i256::from_i128(one.0).checked_mul(i256::from_i128(other.0))?;
    scaled(product, i64::from(one.1) + i64::from(other.1))
}

/// The quotient of two numbers with their scales, with as many digits as PostgreSQL gives it.
/// `None`: it is too large, or the divisor is zero.
pub fn divide_numeric(one: (i128, i8), other: (i128, i8)) -> Option<i256> {
    if other.0 == 0 {
        return None;
    }
    let scale = quotient_scale(one, other).min(NUMERIC.1.into());
    let shift = scale - i64::from(one.1) + i64::from(other.1);
    let (dividend, divisor) = (i256::from_i128(one.0), i256::from_i128(other.0));
    let quotient = if shift >= 0 {
        halves_away(dividend.checked_mul(power(shift)?)?, divisor)?
    } else {
        halves_away(dividend, divisor.checked_mul(power(-shift)?)?)?
    };
    scaled(quotient, scale)
}

fn quotient_scale(one: (i128, i8), other: (i128, i8)) -> i64 {
    let scales = [one.1, other.1].map(i64::from);
    scale_of_quotient(leading_digit(one), leading_digit(other)).max(scales[0]).max(scales[1])
}

/// Digits after the point of a quotient: at least 16 that count. PostgreSQL's `select_div_scale`
/// (`numeric.c`), which reckons in digits of base 10,000.
fn scale_of_quotient((weight, first): (i64, u128), (other, other_first): (i64, u128)) -> i64 {
    const SIGNIFICANT: i64 = 16;
    const DIGIT: i64 = 4;
    let weight = weight - other - i64::from(first <= other_first);
    (SIGNIFICANT - weight * DIGIT).max(0)
}

/// The same for numbers of any length, whose digits are written out, with their scales.
pub fn quotient_digits(one: &str, scale: i64, other: &str, other_scale: i64) -> i64 {
    let leading = |digits: &str, scale: i64| {
        // What follows the first digit of base 10,000 does not count.
        const ENOUGH: usize = 20;
        let kept = digits.len().min(ENOUGH);
        let dropped = i64::try_from(digits.len() - kept).unwrap_or(0);
        leading_of(digits[..kept].parse().unwrap_or(0), scale - dropped)
    };
    scale_of_quotient(leading(one, scale), leading(other, other_scale))
}

/// The first digit of base 10,000 that is not zero, and the power of 10,000 that it counts.
fn leading_digit((value, scale): (i128, i8)) -> (i64, u128) {
    leading_of(value.unsigned_abs(), scale.into())
}

fn leading_of(magnitude: u128, scale: i64) -> (i64, u128) {
    let Some(log) = magnitude.checked_ilog10() else { return (0, 0) };
    let digits = i64::from(log) + 1;
    // The decimal digit in front counts 10^exponent.
    let exponent = digits - 1 - scale;
    let weight = exponent.div_euclid(4);
    let wanted = exponent.rem_euclid(4) + 1;
    let first = match u32::try_from(digits - wanted) {
        Ok(surplus) => magnitude / 10_u128.pow(surplus),
        Err(_) => magnitude * 10_u128.pow(u32::try_from(wanted - digits).unwrap_or(0)),
    };
    (weight, first)
}

/// The numbers of a column of decimals, each with its scale. `None` for NULL; an inner `None` for
/// one with more than 38 digits that count.
pub(super) fn numbers_of(column: &ArrayRef) -> Vec<Option<Option<(i128, i8)>>> {
    match column.data_type() {
        DataType::Decimal256(..) => {
            let column = column.as_primitive::<Decimal256Type>();
            column.iter().map(|value| value.map(significand)).collect()
        }
        DataType::Decimal128(_, scale) => {
            let column = column.as_primitive::<Decimal128Type>();
            column.iter().map(|value| value.map(|value| Some((value, *scale)))).collect()
        }
        _ => vec![None; column.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_round_half_away_from_zero() {
        assert_eq!(divide_rounded(1, 3, 4), Some(3333));
        assert_eq!(divide_rounded(2, 3, 4), Some(6667));
        assert_eq!(divide_rounded(-2, 3, 4), Some(-6667));
        assert_eq!(divide_rounded(5, -2, 0), Some(-3));
        assert_eq!(divide_rounded(5, 2, 0), Some(3));
        assert_eq!(divide_rounded(4, 2, 0), Some(2));
        assert_eq!(divide_rounded(1, 0, 0), None);
    }

    #[test]
    fn quotients_pass_through_more_than_38_digits() {
        let large = NUMERIC_END - 1;
        assert_eq!(divide_rounded(large, large, 16), Some(10_i128.pow(16)));
        assert_eq!(divide_rounded(-large, large / 10, 16), Some(-100_000_000_000_000_000));
        assert_eq!(divide_rounded(large, 1, 16), None);
    }

    fn numeric(text: &str) -> i256 {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{fraction}").parse().expect("digits");
        numeric_of(digits, i8::try_from(fraction.len()).expect("short")).expect("fits")
    }

    fn parts(text: &str) -> (i128, i8) {
        significand(numeric(text)).expect("38 digits")
    }

    #[test]
    fn numerics_have_the_scale_of_their_value() {
        assert_eq!(parts("1.50"), (15, 1));
        assert_eq!(parts("1200"), (1200, 0));
        assert_eq!(parts("0.00000000000000000000000000000000000001"), (1, 38));
        assert_eq!(parts("0"), (0, 0));
        assert_eq!(parts("12345678901234567890123456789012345678").1, 0);
        assert_eq!(significand(numeric("1").wrapping_add(i256::ONE)), None);
    }

    #[test]
    fn products_are_exact() {
        let product = multiply_numeric(parts("1.5"), parts("-2.25")).expect("fits");
        assert_eq!(product, numeric("-3.375"));
        let large = parts("99999999999999999999");
        assert_eq!(multiply_numeric(large, large), None);
    }

    #[test]
    fn quotients_have_postgres_digits() {
        let quotient = |one, other| divide_numeric(parts(one), parts(other)).expect("fits");
        assert_eq!(quotient("1", "3"), numeric("0.33333333333333333333"));
        assert_eq!(quotient("10", "3"), numeric("3.3333333333333333"));
        assert_eq!(quotient("2", "3"), numeric("0.66666666666666666667"));
        assert_eq!(quotient("100000", "7"), numeric("14285.714285714286"));
        assert_eq!(quotient("1", "10000000"), numeric("0.0000001"));
        assert_eq!(divide_numeric(parts("1"), (0, 0)), None);
    }
}
