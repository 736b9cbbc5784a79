//! Numerics in binary: digits of base 10000, aligned at the point.
//!
//! 12345.678 is the digits 1, 2345, 6780 with weight 1 (the first stands for 10000^1) and scale 3.

use crate::error::{SqlError, SqlResult, code};

const POSITIVE: u16 = 0x0000;
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xc000;
const INFINITY: u16 = 0xd000;
const NEGATIVE_INFINITY: u16 = 0xf000;

/// Digits that a numeric can have here: 76 before or after the point, and a scale of 127.
const GROUPS_MAX: usize = 64;

/// Replaces the decimal text at the end of `out`, which begins at `start`, by its binary form.
pub(super) fn encode_in_place(out: &mut Vec<u8>, start: usize) {
    let mut groups = [0_u16; GROUPS_MAX];
    let text = &out[start..];
    let (sign, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (NEGATIVE, digits),
        None => (POSITIVE, text),
    };
    let point = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
    let (whole, fraction) = (&digits[..point], digits.get(point + 1..).unwrap_or_default());
    // Digit i of the whole part is in the group so many before the point, and so on.
    let whole_groups = whole.len().div_ceil(4);
    let count = (whole_groups + fraction.len().div_ceil(4)).min(GROUPS_MAX);
    let padding = whole_groups * 4 - whole.len();
    for (index, digit) in whole.iter().chain(fraction).enumerate() {
        let place = index + padding;
        if let Some(group) = groups.get_mut(place / 4) {
            *group += u16::from(digit - b'0') * [1000, 100, 10, 1][place % 4];
        }
    }
    let scale = fraction.len();
    let used = &groups[..count];
    let leading = used.iter().take_while(|group| **group == 0).count();
    let trailing = used.iter().rev().take_while(|group| **group == 0).count();
    let used = if leading == count { &[] } else { &used[leading..count - trailing] };
    let (sign, weight) = if used.is_empty() {
        (POSITIVE, 0)
    } else {
        (sign, i16::try_from(whole_groups).unwrap_or(0) - 1 - i16::try_from(leading).unwrap_or(0))
    };
    out.truncate(start);
    out.extend_from_slice(&u16::try_from(used.len()).unwrap_or(0).to_be_bytes());
    out.extend_from_slice(&weight.to_be_bytes());
    out.extend_from_slice(&sign.to_be_bytes());
    out.extend_from_slice(&u16::try_from(scale).unwrap_or(0).to_be_bytes());
    for group in used {
        out.extend_from_slice(&group.to_be_bytes());
    }
}

/// The decimal text of a numeric's binary form.
pub(super) fn to_text(bytes: &[u8]) -> SqlResult<String> {
    let mut parts = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let mut next = || {
        parts.next().ok_or_else(|| {
            SqlError::new(code::PROTOCOL_VIOLATION, "insufficient data left in message")
        })
    };
    let (count, weight, sign, scale) = (next()?, next()?, next()?, next()?);
    let weight = i64::from(weight.cast_signed());
    match sign {
        POSITIVE | NEGATIVE => {}
        NAN | INFINITY | NEGATIVE_INFINITY => {
            return Err(SqlError::unsupported("numeric NaN or infinity"));
        }
        _ => return Err(malformed("invalid sign in external \"numeric\" value")),
    }
    if scale > 0x3fff {
        return Err(malformed("invalid scale in external \"numeric\" value"));
    }
    let mut text = String::from(if sign == NEGATIVE { "-0" } else { "0" });
    for _ in 0..count {
        let digit = next()?;
        if digit > 9999 {
            return Err(malformed("invalid digit in external \"numeric\" value"));
        }
        text.push_str(&format!("{digit:04}"));
    }
    if bytes.len() != 8 + usize::from(count) * 2 {
        return Err(malformed("incorrect binary data format"));
    }
    // The groups are an integer times 10000^(weight + 1 - count); digits beyond the scale are
    // not part of the value.
    let exponent = (weight + 1 - i64::from(count)) * 4;
    let beyond = -exponent - i64::from(scale);
    if let Ok(beyond) = usize::try_from(beyond)
        && beyond > 0
    {
        let digits = text.trim_start_matches(['-', '0']).len();
        let kept = text.len() - beyond.min(digits);
        let zeros = text.len() - kept;
        text.truncate(kept);
        text.extend(std::iter::repeat_n('0', zeros));
    }
    text.push_str(&format!("e{exponent}"));
    Ok(text)
}

fn malformed(message: &str) -> SqlError {
    SqlError::new(code::INVALID_BINARY_REPRESENTATION, message)
}
