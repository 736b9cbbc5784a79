//! Integers and decimals in text.

use arrow::datatypes::i256;

/// Digits of the longest number there is: a sign apart, 2^256.
const DIGITS_MAX: usize = 78;

/// Appends an integer.
pub(super) fn push_integer(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    push_padded(out, value.unsigned_abs(), 1);
}

/// Appends an integer of at least `width` digits, with zeros in front.
pub(super) fn push_padded(out: &mut Vec<u8>, value: u64, width: usize) {
    let mut buffer = [b'0'; 20];
    let start = write_digits(value, &mut buffer);
    out.extend_from_slice(&buffer[start.min(20 - width.min(20))..]);
}

/// Writes digits at the end of `buffer`; gives where they start.
fn write_digits(mut value: u64, buffer: &mut [u8]) -> usize {
    let mut at = buffer.len();
    loop {
        at -= 1;
        buffer[at] = digit(value % 10);
        value /= 10;
        if value == 0 || at == 0 {
            return at;
        }
    }
}

/// The character of a digit below 10.
pub(super) fn digit(value: u64) -> u8 {
    b'0' + u8::try_from(value % 10).unwrap_or(0)
}

/// Appends `unscaled` / 10^`scale`; with `trim`, without zeros at the end of the fraction.
pub(in super::super) fn push_decimal(out: &mut Vec<u8>, unscaled: i128, scale: i8, trim: bool) {
    const CHUNK: u128 = 10_000_000_000_000_000_000;
    let mut buffer = [b'0'; DIGITS_MAX];
    let mut rest = unscaled.unsigned_abs();
    let mut end = DIGITS_MAX;
    // 128-bit division is slow: take 19 digits off at a time, and most numbers have no more.
    let start = loop {
        let (high, low) = (rest / CHUNK, rest % CHUNK);
        let start = write_digits(u64::try_from(low).unwrap_or(0), &mut buffer[..end]);
        if high == 0 {
            break start;
        }
        (rest, end) = (high, end - 19);
    };
    push_scaled(out, unscaled < 0, &buffer[start..], scale, trim);
}

/// The same for a number of 256 bits.
pub(in super::super) fn push_big_decimal(out: &mut Vec<u8>, unscaled: i256, scale: i8, trim: bool) {
    match unscaled.to_i128() {
        Some(small) => push_decimal(out, small, scale, trim),
        None => {
            let text = unscaled.to_string();
            let digits = text.trim_start_matches('-');
            push_scaled(out, text.len() > digits.len(), digits.as_bytes(), scale, trim);
        }
    }
}

fn push_scaled(out: &mut Vec<u8>, negative: bool, digits: &[u8], scale: i8, trim: bool) {
    if negative {
        out.push(b'-');
    }
    let Ok(scale) = usize::try_from(scale) else {
        out.extend_from_slice(digits);
        if digits != b"0" {
            out.resize(out.len() + usize::from(scale.unsigned_abs()), b'0');
        }
        return;
    };
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(scale));
    out.extend_from_slice(if whole.is_empty() { b"0" } else { whole });
    let point = out.len();
    if scale > 0 {
        out.push(b'.');
        out.resize(out.len() + scale - fraction.len(), b'0');
        out.extend_from_slice(fraction);
    }
    if trim {
        trim_fraction(out, point);
    }
}

/// Drops zeros at the end of a fraction whose point, if any, is at `point`.
pub(super) fn trim_fraction(out: &mut Vec<u8>, point: usize) {
    if out.len() > point {
        while out.last() == Some(&b'0') {
            out.pop();
        }
        if out.len() == point + 1 {
            out.pop();
        }
    }
}

/// Appends the number with these decimal digits and this many of them before the point, as a
/// PostgreSQL numeric: no exponent, no zeros in front, all digits of the fraction kept.
pub(in super::super) fn push_plain_number(
    out: &mut Vec<u8>,
    negative: bool,
    digits: &[u8],
    point: i64,
) {
    let is_zero = digits.iter().all(|digit| *digit == b'0');
    if negative && !is_zero {
        out.push(b'-');
    }
    let split = usize::try_from(point.max(0)).unwrap_or(0);
    let whole = &digits[..split.min(digits.len())];
    let leading = whole.iter().take_while(|digit| **digit == b'0').count();
    let start = out.len();
    out.extend_from_slice(&whole[leading..]);
    if out.len() > start {
        out.resize(out.len() + split.saturating_sub(digits.len()), b'0');
    } else {
        out.push(b'0');
    }
    let fraction = &digits[whole.len()..];
    if !fraction.is_empty() {
        out.push(b'.');
        out.resize(out.len() + usize::try_from((-point).max(0)).unwrap_or(0), b'0');
        out.extend_from_slice(fraction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(unscaled: i128, scale: i8, trim: bool) -> String {
        let mut out = Vec::new();
        push_decimal(&mut out, unscaled, scale, trim);
        String::from_utf8(out).expect("digits")
    }

    #[test]
    fn decimals_keep_their_scale_unless_trimmed() {
        for (unscaled, scale, kept, trimmed) in [
            (0, 0, "0", "0"),
            (0, 2, "0.00", "0"),
            (-5, 3, "-0.005", "-0.005"),
            (1_500, 3, "1.500", "1.5"),
            (12_000, 3, "12.000", "12"),
            (12, -3, "12000", "12000"),
            (0, -3, "0", "0"),
            (100, 0, "100", "100"),
            (10_000_000_000_000_000_000, 0, "10000000000000000000", "10000000000000000000"),
            (i128::MIN, 38, "-1.70141183460469231731687303715884105728", ""),
        ] {
            assert_eq!(decimal(unscaled, scale, false), kept);
            if !trimmed.is_empty() {
                assert_eq!(decimal(unscaled, scale, true), trimmed);
            }
        }
        let mut out = Vec::new();
        push_big_decimal(&mut out, i256::MIN, 70, true);
        let text = String::from_utf8(out).expect("digits");
        assert_eq!(text.len(), 79);
        assert!(text.starts_with("-5789604.46186580977"), "{text}");
    }

    #[test]
    fn plain_numbers_have_no_exponent() {
        for (digits, point, text) in
            [("123", 1, "1.23"), ("100", 5, "10000"), ("12", -2, "0.0012"), ("000", 1, "0.00")]
        {
            let mut out = Vec::new();
            push_plain_number(&mut out, false, digits.as_bytes(), point);
            assert_eq!(String::from_utf8(out).expect("digits"), text);
        }
    }

    #[test]
    fn integers() {
        let mut out = Vec::new();
        for value in [0, -1, i64::MIN, i64::MAX] {
            push_integer(&mut out, value);
            out.push(b' ');
        }
        push_padded(&mut out, 7, 4);
        assert_eq!(out, b"0 -1 -9223372036854775808 9223372036854775807 0007");
    }
}
