//! Exact sums of floating-point numbers: no rounding until the sum is read, so that it depends
//! neither on order nor on what came and went, and a value that is taken away leaves no trace.
//!
//! A finite double is an integer times 2^−1074, so a sum of doubles is an integer of up to 2100
//! bits and some for the count: Kulisch's long accumulator (U. Kulisch, *Computer Arithmetic and
//! Validity*, 2nd ed., 2013, ch. 8), with limbs as in R. M. Neal, *Fast exact summation using small
//! and large superaccumulators*, arXiv:1505.05571 (2015). Values of one column are of similar
//! magnitude, so only the limbs between the lowest and the highest bit seen are there:
//!
//! ```text
//!  bit 2367 ........................ 1151 ........ 1024 ............................ 0  (2^−1074)
//!       sign extension, not stored   | limbs, two's complement |   zeros, not stored
//!                                    first + len           first
//! ```

use super::{read_varint, write_varint};

/// A sum of finite doubles, exactly.
#[derive(Debug, Clone, Default)]
pub(super) struct ExactSum {
    /// Index of the lowest limb; limb `i` counts multiples of 2^(64 i − 1074).
    first: usize,
    /// The highest is 0 or all ones: it holds the sign only. Empty: zero.
    limbs: Vec<u64>,
}

/// Bits of a double's fraction.
const FRACTION_BITS: u32 = 52;
/// Limbs that the sum of 2^64 of the largest doubles needs, and one for the sign.
const LIMBS_MAX: usize = 36;

impl ExactSum {
    /// Adds the finite `value`, `weight` times.
    pub(super) fn add(&mut self, value: f64, weight: i64) {
        let (mantissa, position) = decompose(value);
        let product = i128::from(mantissa) * i128::from(weight);
        if product != 0 {
            self.add_at(product, position);
        }
    }

    /// Adds `product` × 2^(`position` − 1074).
    fn add_at(&mut self, product: i128, position: usize) {
        let (limb, shift) = (position / 64, position % 64);
        let low = product.cast_unsigned() << shift;
        let high = if shift == 0 { product >> 127 } else { product >> (128 - shift) };
        let extension = sign_limb(product < 0);
        let words = [low as u64, (low >> 64) as u64, high.cast_unsigned() as u64];
        self.cover(limb, limb + words.len() + 1);
        let mut carry = false;
        for (index, sum) in self.limbs[limb - self.first..].iter_mut().enumerate() {
            let word = words.get(index).copied().unwrap_or(extension);
            if index >= words.len() && carry == (extension != 0) {
                break; // 0 and no carry, or −1 and a carry: nothing changes further up.
            }
            let (with_word, over) = sum.overflowing_add(word);
            let (with_carry, over_again) = with_word.overflowing_add(u64::from(carry));
            *sum = with_carry;
            carry = over || over_again;
        }
        let top = self.limbs.last().copied().unwrap_or(0);
        if top != 0 && top != u64::MAX {
            self.limbs.push(sign_limb(top >> 63 == 1));
        }
    }

    /// Has limbs `from` up to but without `to`.
    fn cover(&mut self, from: usize, to: usize) {
        if self.limbs.is_empty() {
            self.first = from;
        }
        if from < self.first {
            let zeros = self.first - from;
            self.limbs.splice(0..0, std::iter::repeat_n(0, zeros));
            self.first = from;
        }
        if to > self.first + self.limbs.len() {
            let sign = self.limbs.last().copied().unwrap_or(0);
            self.limbs.resize(to - self.first, sign);
        }
    }

    /// The double nearest to the sum, the even one of two; infinite if it is too large.
    pub(super) fn value(&self) -> f64 {
        let negative = self.limbs.last().is_some_and(|top| *top != 0);
        let magnitude = if negative { negated(&self.limbs) } else { self.limbs.clone() };
        let Some(top) = magnitude.iter().rposition(|limb| *limb != 0) else { return 0.0 };
        let highest = 64 * top + 63 - magnitude[top].leading_zeros() as usize;
        let bits = round(&magnitude, highest, 64 * self.first);
        let value = f64::from_bits(bits.min(f64::INFINITY.to_bits()));
        if negative { -value } else { value }
    }

    /// The least limbs that tell the sum: equal sums are written equally.
    fn trimmed(&self) -> (usize, &[u64]) {
        let Some(low) = self.limbs.iter().position(|limb| *limb != 0) else { return (0, &[]) };
        let sign = self.limbs.last().copied().unwrap_or(0);
        let high = self.limbs.iter().rposition(|limb| *limb != sign).map_or(low, |at| at.max(low));
        let says_sign = self.limbs[high] >> 63 == sign >> 63;
        let end = if says_sign { high + 1 } else { high + 2 };
        (self.first + low, &self.limbs[low..end])
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        let (first, limbs) = self.trimmed();
        write_varint(limbs.len() as i128, bytes);
        if !limbs.is_empty() {
            write_varint(first as i128, bytes);
        }
        for limb in limbs {
            bytes.extend_from_slice(&limb.to_le_bytes());
        }
    }

    pub(super) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let count: usize = read_varint(bytes)?;
        if count == 0 {
            return Some(Self::default());
        }
        let first: usize = read_varint(bytes)?;
        if first + count > LIMBS_MAX + 1 {
            return None;
        }
        let mut limbs = Vec::with_capacity(count + 1);
        for _ in 0..count {
            let (limb, rest) = bytes.split_first_chunk::<8>()?;
            *bytes = rest;
            limbs.push(u64::from_le_bytes(*limb));
        }
        let top = limbs[count - 1];
        if top != 0 && top != u64::MAX {
            limbs.push(sign_limb(top >> 63 == 1));
        }
        Some(Self { first, limbs })
    }
}

/// `value` = mantissa × 2^(position − 1074).
fn decompose(value: f64) -> (i64, usize) {
    let bits = value.to_bits();
    let fraction = (bits & ((1 << FRACTION_BITS) - 1)).cast_signed();
    let exponent = ((bits >> FRACTION_BITS) & 0x7ff) as usize;
    let (mantissa, position) = match exponent {
        0 => (fraction, 0),
        _ => (fraction | (1 << FRACTION_BITS), exponent - 1),
    };
    (if value.is_sign_negative() { -mantissa } else { mantissa }, position)
}

fn sign_limb(negative: bool) -> u64 {
    if negative { u64::MAX } else { 0 }
}

fn negated(limbs: &[u64]) -> Vec<u64> {
    let mut carry = true;
    let negate = |limb: &u64| {
        let (negated, over) = (!limb).overflowing_add(u64::from(carry));
        carry = over;
        negated
    };
    limbs.iter().map(negate).collect()
}

/// The bits of the double nearest to the positive `limbs`, whose highest bit is `highest`, times
/// 2^(`base` − 1074). A double's bits are, as an integer, its place among the doubles: adding one
/// rounds up, whatever carries.
fn round(limbs: &[u64], highest: usize, base: usize) -> u64 {
    let fraction_bits = FRACTION_BITS as usize;
    if highest + base <= fraction_bits {
        return limbs[0] << base; // Below twice the least normal double all are exact.
    }
    let exponent = ((highest + base - fraction_bits) as u64) << FRACTION_BITS;
    if highest <= fraction_bits {
        return exponent + (limbs[0] << (fraction_bits - highest));
    }
    let last = highest - fraction_bits;
    let mantissa = bits_from(limbs, last) & ((2 << FRACTION_BITS) - 1);
    let half = bits_from(limbs, last - 1) & 1 == 1;
    let odd = mantissa & 1 == 1;
    let up = half && (odd || any_below(limbs, last - 1));
    exponent + mantissa + u64::from(up)
}

/// 64 bits of `limbs` from bit `from` on.
fn bits_from(limbs: &[u64], from: usize) -> u64 {
    let (limb, shift) = (from / 64, from % 64);
    let low = limbs[limb] >> shift;
    match (shift, limbs.get(limb + 1)) {
        (1.., Some(next)) => low | next << (64 - shift),
        _ => low,
    }
}

fn any_below(limbs: &[u64], bit: usize) -> bool {
    let (limb, shift) = (bit / 64, bit % 64);
    limbs[..limb].iter().any(|limb| *limb != 0) || limbs[limb] & ((1 << shift) - 1) != 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum(values: impl IntoIterator<Item = (f64, i64)>) -> ExactSum {
        let mut sum = ExactSum::default();
        for (value, weight) in values {
            sum.add(value, weight);
        }
        sum
    }

    fn written(sum: &ExactSum) -> Vec<u8> {
        let mut bytes = Vec::new();
        sum.write(&mut bytes);
        bytes
    }

    #[test]
    fn what_rounding_would_lose_is_kept() {
        assert_eq!(sum([(1e308, 1), (1.0, 1), (-1e308, 1)]).value(), 1.0);
        assert_eq!(sum([(0.1, 10)]).value(), 1.0);
        assert_eq!(sum([(f64::MAX, 3), (f64::MAX, -2)]).value(), f64::MAX);
        assert_eq!(sum([(f64::MAX, 2)]).value(), f64::INFINITY);
        assert_eq!(sum([(-f64::MAX, 2)]).value(), f64::NEG_INFINITY);
        let least = f64::from_bits(1);
        assert_eq!(sum([(1.0, 1), (least, 1), (-1.0, 1)]).value(), least);
        assert_eq!(sum([(f64::MAX, i64::MAX), (f64::MAX, -i64::MAX)]).value(), 0.0);
    }

    #[test]
    fn halves_round_to_even() {
        let ulp = f64::EPSILON;
        assert_eq!(sum([(1.0, 1), (ulp / 2.0, 1)]).value(), 1.0);
        assert_eq!(sum([(1.0 + ulp, 1), (ulp / 2.0, 1)]).value(), 1.0 + 2.0 * ulp);
        assert_eq!(sum([(1.0, 1), (ulp / 2.0, 1), (f64::from_bits(1), 1)]).value(), 1.0 + ulp);
    }

    fn finite() -> impl Strategy<Value = f64> {
        prop_oneof![
            any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |v| v.is_finite()),
            -1000.0..1000.0f64,
        ]
    }

    proptest! {
        #[test]
        fn one_value_is_itself_and_two_are_rounded_once(a in finite(), b in finite()) {
            prop_assert_eq!(sum([(a, 1)]).value(), a);
            prop_assert_eq!(sum([(a, 1), (b, 1)]).value(), a + b);
        }

        #[test]
        fn order_and_what_went_leave_no_trace(
            kept in proptest::collection::vec((finite(), -3i64..4), 0..8),
            gone in proptest::collection::vec((finite(), any::<i64>()), 0..8),
        ) {
            let plain = sum(kept.clone());
            let taken_away = gone.iter().map(|(value, weight)| (*value, weight.wrapping_neg()));
            prop_assume!(gone.iter().all(|(_, weight)| *weight != i64::MIN));
            let churned = sum(taken_away.chain(kept.into_iter().rev()).chain(gone.clone()));
            prop_assert_eq!(written(&plain), written(&churned));
            prop_assert_eq!(plain.value().to_bits(), churned.value().to_bits());
        }

        #[test]
        fn bytes_come_back(values in proptest::collection::vec((finite(), any::<i64>()), 0..8)) {
            let before = sum(values);
            let bytes = written(&before);
            let mut rest = &bytes[..];
            let mut after = ExactSum::read(&mut rest).expect("as it was written");
            prop_assert!(rest.is_empty());
            prop_assert_eq!(before.value().to_bits(), after.value().to_bits());
            after.add(-2.5, 7);
            let mut goes_on = before;
            goes_on.add(-2.5, 7);
            prop_assert_eq!(written(&goes_on), written(&after));
        }
    }
}
