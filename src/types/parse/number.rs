//! Booleans, integers, floats and decimals.

use std::str::FromStr;

use arrow::datatypes::i256;

use super::{invalid, trim};
use crate::error::{SqlError, SqlResult, code};
use crate::types::NUMERIC;

/// `t`, `true`, `y`, `yes`, `on`, `1` and their opposites, in any case, abbreviated or not.
pub(in super::super) fn boolean(text: &str) -> SqlResult<bool> {
    let word = trim(text);
    let abbreviates = |full: &str, least: usize| {
        word.len() >= least
            && full.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
    };
    if abbreviates("true", 1) || abbreviates("yes", 1) || abbreviates("on", 2) || word == "1" {
        Ok(true)
    } else if abbreviates("false", 1)
        || abbreviates("no", 1)
        || abbreviates("off", 2)
        || word == "0"
    {
        Ok(false)
    } else {
        Err(invalid("boolean", text))
    }
}

/// A decimal integer of the type's width.
pub(in super::super) fn integer<T: TryFrom<i64>>(text: &str, type_name: &str) -> SqlResult<T> {
    let digits = trim(text);
    match digits.parse::<i64>().ok().map(T::try_from) {
        Some(Ok(value)) => Ok(value),
        Some(Err(_)) => Err(out_of_range(text, type_name)),
        None if is_integer(digits) => Err(out_of_range(text, type_name)),
        None => Err(invalid(type_name, text)),
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn out_of_range(text: &str, type_name: &str) -> SqlError {
    let message = format!("value \"{text}\" is out of range for type {type_name}");
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message)
}

/// An unsigned 32-bit number; like PostgreSQL, negative ones wrap around.
pub(in super::super) fn oid(text: &str) -> SqlResult<i64> {
    let value = trim(text);
    match value.parse::<i64>() {
        Ok(value) if u32::try_from(value).is_ok() => Ok(value),
        Ok(value) if i32::try_from(value).is_ok() => Ok(value + (1 << 32)),
        Ok(_) => Err(out_of_range(text, "oid")),
        Err(_) if is_integer(value) => Err(out_of_range(text, "oid")),
        Err(_) => Err(invalid("oid", text)),
    }
}

/// float4 or float8; what would become infinite or zero is out of range.
pub(in super::super) fn float<F>(text: &str, type_name: &str) -> SqlResult<F>
where
    F: FromStr + Into<f64> + Copy,
{
    let number = trim(text);
    let value: F = number.parse().map_err(|_| invalid(type_name, text))?;
    let wide: f64 = value.into();
    let has_digits = number.bytes().any(|byte| byte.is_ascii_digit());
    let mantissa = number.split(['e', 'E']).next().unwrap_or(number);
    let is_nonzero = mantissa.bytes().any(|byte| (b'1'..=b'9').contains(&byte));
    if has_digits && (wide.is_infinite() || (wide == 0.0 && is_nonzero)) {
        let message = format!("\"{number}\" is out of range for type {type_name}");
        return Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message));
    }
    Ok(value)
}

/// A number: its digits, as an integer, times a power of ten.
struct Number {
    negative: bool,
    digits: Digits,
    exponent: i64,
}

/// The first 38 digits from one that is not zero. Of further ones we keep what rounding needs:
/// how many, the first, and whether any is not zero.
#[derive(Default)]
struct Digits {
    value: u128,
    kept: u32,
    dropped: i64,
    dropped_first: u8,
    dropped_nonzero: bool,
}

const DIGITS_KEPT: u32 = 38;

impl Digits {
    fn push(&mut self, digit: u8) {
        if self.kept == DIGITS_KEPT {
            if self.dropped == 0 {
                self.dropped_first = digit;
            }
            self.dropped += 1;
            self.dropped_nonzero |= digit != 0;
        } else if self.kept > 0 || digit != 0 {
            self.value = self.value * 10 + u128::from(digit);
            self.kept += 1;
        }
    }
}

/// A numeric with a modifier, rounded half away from zero to `scale` digits after the point.
pub(in super::super) fn decimal(text: &str, precision: u8, scale: i8) -> SqlResult<i128> {
    let number = read_number(text)?;
    let unscaled = scaled(&number, scale).ok_or_else(|| overflow(precision, scale))?;
    if unscaled.unsigned_abs() >= pow10(u32::from(precision)).unwrap_or(u128::MAX) {
        return Err(overflow(precision, scale));
    }
    Ok(unscaled)
}

fn scaled(number: &Number, scale: i8) -> Option<i128> {
    let Number { negative, digits, exponent } = number;
    // The unscaled integer that we want is digits.value * 10^shift, and the dropped digits.
    let shift = exponent.saturating_add(digits.dropped).saturating_add(i64::from(scale));
    let magnitude = if digits.value == 0 {
        0
    } else if shift > 0 {
        let factor = u32::try_from(shift).ok().and_then(pow10)?;
        digits.value.checked_mul(factor)?
    } else {
        let divisor = u32::try_from(-shift).ok().and_then(pow10);
        let (quotient, remainder) = match divisor {
            Some(divisor) => (digits.value / divisor, digits.value % divisor),
            None => (0, digits.value),
        };
        let round_up = match divisor {
            Some(1) => digits.dropped_first >= 5,
            Some(divisor) => remainder >= divisor / 2,
            None => false,
        };
        quotient + u128::from(round_up)
    };
    let magnitude = i128::try_from(magnitude).ok()?;
    Some(if *negative { -magnitude } else { magnitude })
}

/// A numeric without a modifier, in units of its scale. Nothing is rounded: what has more digits
/// than are kept is refused.
pub(in super::super) fn numeric(text: &str) -> SqlResult<i256> {
    let number = read_number(text)?;
    exact(&number).ok_or_else(|| {
        let message = format!("value \"{}\" is out of range for type numeric", trim(text));
        SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message)
            .detail("It has 38 digits that count, and as many before or after the point.")
            .hint("Round it, or keep it as text.")
    })
}

fn exact(number: &Number) -> Option<i256> {
    let Number { negative, digits, exponent } = number;
    if digits.dropped_nonzero {
        return None;
    }
    let magnitude = i256::from_parts(digits.value, 0);
    if magnitude == i256::ZERO {
        return Some(magnitude);
    }
    let (precision, scale) = NUMERIC;
    let shift = exponent.checked_add(digits.dropped)?.checked_add(i64::from(scale))?;
    let power = |exponent: u64| i256::from_i128(10).checked_pow(u32::try_from(exponent).ok()?);
    let unscaled = if shift >= 0 {
        magnitude.checked_mul(power(shift.unsigned_abs())?)?
    } else {
        let divisor = power(shift.unsigned_abs())?;
        let is_whole = magnitude.wrapping_rem(divisor) == i256::ZERO;
        is_whole.then(|| magnitude.wrapping_div(divisor))?
    };
    let fits = unscaled < power(precision.into())?;
    fits.then(|| if *negative { unscaled.wrapping_neg() } else { unscaled })
}

/// 10^exponent, if 128 bits hold it.
fn pow10(exponent: u32) -> Option<u128> {
    10_u128.checked_pow(exponent)
}

/// `numeric field overflow`, with the bound as PostgreSQL states it.
fn overflow(precision: u8, scale: i8) -> SqlError {
    let error = SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow");
    let power = i16::from(precision) - i16::from(scale);
    let bound = if power == 0 { "1".to_owned() } else { format!("10^{power}") };
    error.detail(format!(
        "A field with precision {precision}, scale {scale} must round to an absolute value less \
         than {bound}."
    ))
}

fn read_number(text: &str) -> SqlResult<Number> {
    let number = trim(text);
    let syntax_error = || invalid("numeric", text);
    let (negative, unsigned) = match number.as_bytes().first() {
        Some(b'-') => (true, &number[1..]),
        Some(b'+') => (false, &number[1..]),
        _ => (false, number),
    };
    if ["nan", "inf", "infinity"].iter().any(|word| unsigned.eq_ignore_ascii_case(word)) {
        return Err(SqlError::unsupported(format!("numeric \"{number}\"")));
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            if !is_integer(exponent) {
                return Err(syntax_error());
            }
            // An exponent beyond 64 bits only says "too large" or "nothing".
            let beyond = if exponent.starts_with('-') { -1_000_000 } else { 1_000_000 };
            (mantissa, exponent.parse::<i64>().unwrap_or(beyond).clamp(-1_000_000, 1_000_000))
        }
        None => (unsigned, 0),
    };
    let mut digits = Digits::default();
    let mut fraction_digits = 0;
    let (mut any, mut point) = (false, false);
    for byte in mantissa.bytes() {
        match byte {
            b'0'..=b'9' => {
                digits.push(byte - b'0');
                any = true;
                fraction_digits += i64::from(point);
            }
            b'.' if !point => point = true,
            _ => return Err(syntax_error()),
        }
    }
    if !any {
        return Err(syntax_error());
    }
    Ok(Number { negative, digits, exponent: exponent - fraction_digits })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numeric(text: &str, precision: u8, scale: i8) -> Result<i128, String> {
        decimal(text, precision, scale).map_err(|error| error.message)
    }

    #[test]
    fn booleans() {
        for text in ["t", "TRUE", " tr ", "y", "Yes", "on", "1"] {
            assert_eq!(boolean(text), Ok(true), "{text}");
        }
        for text in ["f", "false", "n", "no", "of", "off", "0"] {
            assert_eq!(boolean(text), Ok(false), "{text}");
        }
        for text in ["", "o", "truee", "2", "10", "ё"] {
            let error = boolean(text).expect_err(text);
            assert_eq!(error.code, "22P02");
            assert_eq!(error.message, format!("invalid input syntax for type boolean: \"{text}\""));
        }
    }

    #[test]
    fn integers_end_where_their_type_does() {
        assert_eq!(integer::<i16>(" -32768 ", "smallint"), Ok(i16::MIN));
        assert_eq!(integer::<i64>("+9223372036854775807", "bigint"), Ok(i64::MAX));
        for (text, message, code) in [
            ("32768", "value \"32768\" is out of range for type smallint", "22003"),
            (
                "99999999999999999999",
                "value \"99999999999999999999\" is out of range for type smallint",
                "22003",
            ),
            ("", "invalid input syntax for type smallint: \"\"", "22P02"),
            ("1 2", "invalid input syntax for type smallint: \"1 2\"", "22P02"),
            ("1.0", "invalid input syntax for type smallint: \"1.0\"", "22P02"),
        ] {
            let error = integer::<i16>(text, "smallint").expect_err(text);
            assert_eq!((error.message.as_str(), error.code), (message, code));
        }
        assert_eq!(oid("4294967295"), Ok(4_294_967_295));
        assert_eq!(oid("-1"), Ok(4_294_967_295));
        assert!(oid("4294967296").is_err() && oid("x").is_err());
    }

    #[test]
    fn floats_neither_overflow_nor_vanish() {
        assert_eq!(float::<f64>(" 1e300 ", "double precision"), Ok(1e300));
        assert_eq!(float::<f64>("-infinity", "double precision"), Ok(f64::NEG_INFINITY));
        assert_eq!(float::<f64>("0e-999", "double precision"), Ok(0.0));
        assert!(float::<f64>("nan", "double precision").is_ok_and(f64::is_nan));
        for text in ["1e400", "1e-400", "-1e999"] {
            let error = float::<f64>(text, "double precision").expect_err(text);
            let message = format!("\"{text}\" is out of range for type double precision");
            assert_eq!((error.message, error.code), (message, "22003"));
        }
        assert!(float::<f32>("1e39", "real").is_err());
        assert!(float::<f64>("1,5", "double precision").is_err());
    }

    #[test]
    fn numerics_round_half_away_from_zero() {
        for (text, precision, scale, unscaled) in [
            ("1.005", 10, 2, 101),
            ("-1.005", 10, 2, -101),
            ("1.0049999", 10, 2, 100),
            (" +1e3 ", 10, 2, 100_000),
            ("1.5E-1", 5, 2, 15),
            (".5", 3, 0, 1),
            ("5.", 3, 0, 5),
            ("0.00000000000000000000000000000000000000001", 3, 2, 0),
            ("1e-999999999999999999999", 3, 2, 0),
            ("0e999999999999999999999", 3, 2, 0),
            ("99999999999999999999999999999999999999", 38, 0, 10_i128.pow(38) - 1),
            (
                "12345678901234567890123456789012345678.4",
                38,
                0,
                12_345_678_901_234_567_890_123_456_789_012_345_678,
            ),
            (
                "12345678901234567890123456789012345678.5",
                38,
                0,
                12_345_678_901_234_567_890_123_456_789_012_345_679,
            ),
            ("1250", 3, -2, 13),
        ] {
            assert_eq!(numeric(text, precision, scale), Ok(unscaled), "{text}");
        }
    }

    #[test]
    fn numerics_that_do_not_fit_are_refused() {
        for text in [
            "999.995",
            "1000",
            "1e40",
            "1e999999999999999999999",
            "123456789012345678901234567890123456789012",
        ] {
            assert_eq!(numeric(text, 5, 2), Err("numeric field overflow".into()), "{text}");
        }
        let error = decimal("1000", 5, 2).expect_err("overflow");
        assert_eq!(
            error.detail.as_deref(),
            Some(
                "A field with precision 5, scale 2 must round to an absolute value less than 10^3."
            )
        );
        for text in ["", ".", "1.2.3", "1e", "e1", "0x1", "- 1", "1_000"] {
            let expected = format!("invalid input syntax for type numeric: \"{text}\"");
            assert_eq!(numeric(text, 5, 2), Err(expected));
        }
    }

    #[test]
    fn numerics_without_a_modifier_are_exact_or_refused() {
        let unit = |exponent: u32| i256::from_i128(10).wrapping_pow(exponent);
        let plain = |text: &str| super::numeric(text).map_err(|error| error.code);
        assert_eq!(plain("1.50000000000000000000"), Ok(unit(37).wrapping_mul(i256::from_i128(15))));
        assert_eq!(plain("1e-38"), Ok(i256::ONE));
        assert_eq!(plain("-1e37"), Ok(unit(75).wrapping_neg()));
        assert_eq!(plain(&format!("1.{}", "0".repeat(60))), Ok(unit(38)));
        for text in ["1e-39", "1e38", "1.00000000000000000000000000000000000001", "1e99999"] {
            assert_eq!(plain(text), Err("22003"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn numerics_survive_their_text(unscaled in -10_i128.pow(38) + 1..10_i128.pow(38)) {
            let mut text = Vec::new();
            let unscaled = i256::from_i128(unscaled);
            super::super::super::text::push_big_decimal(&mut text, unscaled, NUMERIC.1, true);
            let text = String::from_utf8(text).expect("ascii");
            prop_assert_eq!(super::numeric(&text), Ok(unscaled));
        }

        #[test]
        fn decimals_survive_their_text(
            unscaled in -10_i128.pow(38) + 1..10_i128.pow(38),
            scale in -5_i8..=38,
        ) {
            let mut text = Vec::new();
            super::super::super::text::push_decimal(&mut text, unscaled, scale, false);
            let text = String::from_utf8(text).expect("ascii");
            prop_assert_eq!(numeric(&text, 38, scale), Ok(unscaled));
        }

        #[test]
        fn nothing_panics(text in ".*") {
            let _ = (numeric(&text, 10, 2), boolean(&text), oid(&text));
            let _ = (integer::<i32>(&text, "integer"), float::<f32>(&text, "real"));
        }
    }
}
