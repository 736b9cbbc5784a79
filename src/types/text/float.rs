//! Floats in text: the fewest digits that read back as the same value, laid out as `%g` does.
//!
//! Rust's shortest digits are also PostgreSQL's, with two exceptions. A value whose mantissa is
//! even owns the two midpoints to its neighbours, because reading rounds to even. Rust uses them
//! (`1e23`), PostgreSQL does not rely on the reader's rounding and takes the shortest digits
//! strictly between the midpoints (`9.999999999999999e+22`). And where two numbers of so many
//! digits are equally near, Rust takes the larger and PostgreSQL the even one.

use std::fmt::LowerExp;
use std::io::Write;
use std::str::FromStr;

use super::number::{push_padded, trim_fraction};

/// What the two widths of float do differently.
#[derive(Debug, Clone, Copy)]
pub(super) struct Width {
    /// Decimal digits that always survive; the exponent from which `%e` is used.
    digits: i32,
    /// Decimal digits that are always enough.
    digits_max: usize,
    mantissa_bits: u32,
    exponent_bias: i32,
}

/// float4 or float8.
pub(super) trait Float: Copy + LowerExp + FromStr + Into<f64> {
    const WIDTH: Width;

    /// The bits, without the sign.
    fn magnitude(self) -> u64;
}

impl Float for f64 {
    const WIDTH: Width =
        Width { digits: 15, digits_max: 17, mantissa_bits: 52, exponent_bias: 1075 };

    fn magnitude(self) -> u64 {
        self.abs().to_bits()
    }
}

impl Float for f32 {
    const WIDTH: Width = Width { digits: 6, digits_max: 9, mantissa_bits: 23, exponent_bias: 150 };

    fn magnitude(self) -> u64 {
        u64::from(self.abs().to_bits())
    }
}

/// Appends a float.
pub(super) fn push_float<F: Float>(out: &mut Vec<u8>, value: F, extra_digits: i8) {
    if push_special(out, value.into()) {
        return;
    }
    let mut buffer: Buffer = [0; 48];
    if extra_digits > 0 {
        lay_out(out, shortest(&mut buffer, value), F::WIDTH.digits);
    } else {
        let digits = (F::WIDTH.digits + i32::from(extra_digits)).max(1);
        let precision = digits.unsigned_abs() as usize - 1;
        lay_out(out, format_into(&mut buffer, format_args!("{value:.precision$e}")), digits);
    }
}

fn push_special(out: &mut Vec<u8>, value: f64) -> bool {
    let text: &[u8] = if value.is_nan() {
        b"NaN"
    } else if value == f64::INFINITY {
        b"Infinity"
    } else if value == f64::NEG_INFINITY {
        b"-Infinity"
    } else if value == 0.0 {
        if value.is_sign_negative() { b"-0" } else { b"0" }
    } else {
        return false;
    };
    out.extend_from_slice(text);
    true
}

/// Room for the longest, `-d.dddddddddddddddde-ddd`.
type Buffer = [u8; 48];

/// Formats to the front of `buffer`.
fn format_into<'a>(buffer: &'a mut Buffer, text: std::fmt::Arguments<'_>) -> &'a str {
    let mut rest = &mut buffer[..];
    let written = rest.write_fmt(text).map_or(0, |()| 48 - rest.len());
    std::str::from_utf8(&buffer[..written]).unwrap_or_default()
}

/// The fewest digits that lie strictly between the midpoints to the neighbours.
fn shortest<F: Float>(buffer: &mut Buffer, value: F) -> &str {
    let exact = Binary::of(value);
    let text = format_into(buffer, format_args!("{value:e}"));
    let mut length = text.len();
    // Shortest digits are at most 17, which 64 bits hold.
    let decimal = Decimal::read(text).unwrap_or(Decimal { digits: 0, exponent: 0, length: 1 });
    if exact.has_midpoint(decimal) {
        let fits = |text: &str| {
            text.parse::<F>().is_ok_and(|read| read.magnitude() == value.magnitude())
                && Decimal::read(text).is_some_and(|decimal| !exact.has_midpoint(decimal))
        };
        for precision in 0..F::WIDTH.digits_max {
            let text = format_into(buffer, format_args!("{value:.precision$e}"));
            length = text.len();
            if fits(text) {
                break;
            }
        }
    } else if decimal.digits % 2 == 1 && exact.is(decimal.minus_half(), 1) {
        // Formatting to a number of digits does round to even; but below a power of two the even
        // one may be too far away.
        let (precision, shorter) = (decimal.length - 1, *buffer);
        let even = format_into(buffer, format_args!("{value:.precision$e}"));
        if even.parse::<F>().is_ok_and(|read| read.magnitude() == value.magnitude()) {
            length = even.len();
        } else {
            *buffer = shorter;
        }
    }
    std::str::from_utf8(&buffer[..length]).unwrap_or_default()
}

/// A float without its sign: an integer times a power of two.
#[derive(Debug, Clone, Copy)]
struct Binary {
    mantissa: u64,
    exponent: i32,
    /// Whether the neighbour below is half as far as the one above.
    is_power_of_two: bool,
}

impl Binary {
    fn of<F: Float>(value: F) -> Self {
        let (bits, width) = (value.magnitude(), F::WIDTH);
        let fraction = bits & ((1 << width.mantissa_bits) - 1);
        let biased = i32::try_from(bits >> width.mantissa_bits).unwrap_or(0);
        let hidden = if biased == 0 { 0 } else { 1 << width.mantissa_bits };
        Self {
            mantissa: fraction | hidden,
            exponent: biased.max(1) - width.exponent_bias,
            is_power_of_two: fraction == 0 && biased > 1,
        }
    }

    /// Whether `decimal` lies halfway to a neighbour, and would be read as this number.
    fn has_midpoint(self, decimal: Decimal) -> bool {
        let midpoint =
            |mantissa, exponent| Self { mantissa, exponent, is_power_of_two: false }.is(decimal, 0);
        let Self { mantissa, exponent, is_power_of_two } = self;
        if mantissa % 2 != 0 || mantissa == 0 {
            return false;
        }
        let lower = if is_power_of_two {
            midpoint(4 * mantissa - 1, exponent - 2)
        } else {
            midpoint(2 * mantissa - 1, exponent - 1)
        };
        lower || midpoint(2 * mantissa + 1, exponent - 1)
    }

    /// Whether this number, times 2^`doublings`, is `decimal`.
    fn is(self, decimal: Decimal, doublings: i32) -> bool {
        if self.mantissa == 0 || decimal.digits == 0 {
            return self.mantissa == decimal.digits;
        }
        // Both as an odd number times a power of two; the decimal's also times one of five.
        let twos = |number: u64| i32::try_from(number.trailing_zeros()).unwrap_or(0);
        let (left, right) = (twos(decimal.digits), twos(self.mantissa));
        if left + decimal.exponent != right + self.exponent + doublings {
            return false;
        }
        let Some(fives) = 5_u128.checked_pow(decimal.exponent.unsigned_abs()) else { return false };
        let (left, right) = (decimal.digits >> left, self.mantissa >> right);
        let (left, right) = (u128::from(left), u128::from(right));
        if decimal.exponent >= 0 {
            left.checked_mul(fives) == Some(right)
        } else {
            right.checked_mul(fives) == Some(left)
        }
    }
}

/// An integer times a power of ten.
#[derive(Debug, Clone, Copy)]
struct Decimal {
    digits: u64,
    exponent: i32,
    /// How many digits it was written with.
    length: usize,
}

impl Decimal {
    /// Reads `d.ddde±x`, without its sign.
    fn read(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.trim_start_matches('-').split_once('e')?;
        let mut decimal = Self { digits: 0, exponent: exponent.parse().ok()?, length: 0 };
        let mut after_point = false;
        for byte in mantissa.bytes() {
            if byte == b'.' {
                after_point = true;
                continue;
            }
            decimal.digits = decimal.digits.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
            decimal.exponent -= i32::from(after_point);
            decimal.length += 1;
        }
        Some(decimal)
    }

    /// Twice what is half a unit of the last digit less.
    fn minus_half(self) -> Self {
        Self { digits: 2 * self.digits - 1, ..self }
    }
}

/// Writes `d.ddde±x` plainly, or with an exponent of two digits where it is below -4 or not
/// below `plain_max`.
fn lay_out(out: &mut Vec<u8>, scientific: &str, plain_max: i32) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mantissa = match mantissa.strip_prefix('-') {
        Some(rest) => {
            out.push(b'-');
            rest
        }
        None => mantissa,
    };
    let digits = mantissa.bytes().filter(|byte| *byte != b'.');
    let magnitude = exponent.unsigned_abs();
    let start = out.len();
    let plain = (-4..plain_max).contains(&exponent);
    if plain && exponent < 0 {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + magnitude as usize - 1, b'0');
        out.extend(digits);
        trim_fraction(out, start + 1);
        return;
    }
    let whole = if plain { magnitude as usize + 1 } else { 1 };
    for (index, digit) in digits.enumerate() {
        if index == whole {
            out.push(b'.');
        }
        out.push(digit);
    }
    out.resize(out.len().max(start + whole), b'0');
    trim_fraction(out, start + whole);
    if !plain {
        out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
        push_padded(out, u64::from(magnitude), 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float8(value: f64, extra_digits: i8) -> String {
        let mut out = Vec::new();
        push_float(&mut out, value, extra_digits);
        String::from_utf8(out).expect("ascii")
    }

    fn float4(value: f32, extra_digits: i8) -> String {
        let mut out = Vec::new();
        push_float(&mut out, value, extra_digits);
        String::from_utf8(out).expect("ascii")
    }

    #[test]
    fn float8_is_written_as_postgresql_does() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1, "0.1"),
            (100.0, "100"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (0.000_012_34, "1.234e-05"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "123456789012345"),
            (1_234_567_890_123_456.0, "1.234567890123456e+15"),
            (1e20, "1e+20"),
            (1e22, "1e+22"),
            (1e23, "9.999999999999999e+22"),
            (148_906_574_030_391.0 + 0.125, "148906574030391.12"),
            (2_f64.powi(-24), "5.960464477539063e-08"),
            (2_f64.powi(-25), "2.9802322387695312e-08"),
            (1e100, "1e+100"),
            (5e-324, "5e-324"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (f64::MAX, "1.7976931348623157e+308"),
            (9_007_199_254_740_993.0, "9.007199254740992e+15"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(float8(value, 1), text);
            assert_eq!(float8(value, 3), text);
        }
    }

    #[test]
    fn float4_is_written_as_postgresql_does() {
        for (value, text) in [
            (1e6, "1e+06"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.234567e+06"),
            (33_554_432.0, "3.3554432e+07"),
            (280_845.0 + 0.125, "280845.12"),
            (2_f32.powi(-12), "0.00024414062"),
            (67_108_864.0, "6.7108864e+07"),
            (8_589_934_592.0, "8.589935e+09"),
            (0.1, "0.1"),
            (2e-44, "2e-44"),
            (1e-45, "1e-45"),
            (f32::MAX, "3.4028235e+38"),
            (f32::MIN_POSITIVE, "1.1754944e-38"),
        ] {
            assert_eq!(float4(value, 1), text);
        }
    }

    #[test]
    fn fewer_digits_are_rounded() {
        assert_eq!(float8(0.1 + 0.2, 0), "0.3");
        assert_eq!(float8(1.0 / 3.0, -10), "0.33333");
        assert_eq!(float8(123_456.0, -13), "1.2e+05");
        assert_eq!(float8(1e14, 0), "100000000000000");
        assert_eq!(float4(1.0 / 3.0, 0), "0.333333");
    }
}
