//! Numbers of a JSON path: decimals of any length, as PostgreSQL's numerics.

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::super::super::decimal::quotient_digits;

/// `value` × 10^−`scale`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    value: BigInt,
    scale: i64,
}

/// Digits after the point, and zeros before it that an exponent may stand for.
const DIGITS_MAX: i64 = 131_072;

fn power(exponent: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent).unwrap_or(0))
}

impl Decimal {
    /// Reads a number as JSON writes it; `None`: it is none, or too long.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let value: BigInt = [whole, fraction].concat().parse().ok()?;
        let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        if scale.abs() > DIGITS_MAX {
            return None;
        }
        Some(match scale < 0 {
            true => Self { value: value * power(-scale), scale: 0 },
            false => Self { value, scale },
        })
    }

    pub(super) fn of(value: i64) -> Self {
        Self { value: value.into(), scale: 0 }
    }

    /// As JSON writes it.
    pub(super) fn text(&self) -> String {
        let negative = self.value < BigInt::ZERO;
        let digits = self.value.magnitude().to_string();
        let scale = usize::try_from(self.scale).unwrap_or(0);
        let digits = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let point = if fraction.is_empty() { "" } else { "." };
        format!("{}{whole}{point}{fraction}", if negative { "-" } else { "" })
    }

    /// Two numbers in units of the smaller.
    fn aligned(&self, other: &Self) -> (BigInt, BigInt, i64) {
        let scale = self.scale.max(other.scale);
        let raised = |number: &Self| &number.value * power(scale - number.scale);
        (raised(self), raised(other), scale)
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let (one, other, _) = self.aligned(other);
        one.cmp(&other)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.value == BigInt::ZERO
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        let (one, other, scale) = self.aligned(other);
        Self { value: one + other, scale }
    }

    pub(super) fn negated(&self) -> Self {
        Self { value: -&self.value, scale: self.scale }
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        Self { value: &self.value * &other.value, scale: self.scale + other.scale }
    }

    /// The quotient, to as many digits as PostgreSQL gives; of a number that is not zero.
    pub(super) fn over(&self, other: &Self) -> Self {
        let digits = |number: &Self| number.value.magnitude().to_string();
        let least = self.scale.max(other.scale);
        let scale =
            quotient_digits(&digits(self), self.scale, &digits(other), other.scale).max(least);
        let dividend = &self.value * power(scale + other.scale);
        let divisor = &other.value * power(self.scale);
        let half = BigInt::from(divisor.magnitude().clone());
        let negative = (dividend < BigInt::ZERO) != (divisor < BigInt::ZERO);
        let dividend = BigInt::from(dividend.magnitude().clone()) * 2 + &half;
        let quotient: BigInt = dividend / (half * 2);
        Self { value: if negative { -quotient } else { quotient }, scale }
    }

    /// What a whole quotient leaves; of a number that is not zero.
    pub(super) fn modulo(&self, other: &Self) -> Self {
        let (one, other, scale) = self.aligned(other);
        Self { value: one % other, scale }
    }

    /// Without its fraction.
    pub(super) fn truncated(&self) -> Self {
        Self { value: &self.value / power(self.scale), scale: 0 }
    }

    pub(super) fn floor(&self) -> Self {
        let whole = self.truncated();
        match self.compare(&whole) {
            Ordering::Less => whole.plus(&Self::of(-1)),
            _ => whole,
        }
    }

    pub(super) fn ceiling(&self) -> Self {
        self.negated().floor().negated()
    }

    pub(super) fn absolute(&self) -> Self {
        if self.value < BigInt::ZERO { self.negated() } else { self.clone() }
    }

    /// Its value if it is a whole number of 32 bits.
    pub(super) fn int(&self) -> Option<i64> {
        i32::try_from(&self.truncated().value).ok().map(i64::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Decimal {
        Decimal::read(text).expect("a number")
    }

    #[test]
    fn numbers_are_reckoned_with_exactly() {
        assert_eq!(read("1.5").plus(&read("-2.25")).text(), "-0.75");
        assert_eq!(read("1e3").times(&read("0.10")).text(), "100.00");
        assert_eq!(read("1").over(&read("3")).text(), "0.33333333333333333333");
        assert_eq!(read("-2").over(&read("3")).text(), "-0.66666666666666666667");
        assert_eq!(read("-7").modulo(&read("3")).text(), "-1");
        assert_eq!(read("-1.5").floor().text(), "-2");
        assert_eq!(read("-1.5").ceiling().text(), "-1");
        assert_eq!(read("1.5").ceiling().text(), "2");
        assert_eq!(read("2").floor().text(), "2");
        assert_eq!(read("1.50").compare(&read("15e-1")), Ordering::Equal);
        assert_eq!(read("3000000000").int(), None);
        assert_eq!(Decimal::read("1e9999999"), None);
    }
}
