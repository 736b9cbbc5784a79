//! Exact division of decimals.

use arrow::datatypes::i256;

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
}
