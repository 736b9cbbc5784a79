//! Variances and standard deviations: the count of the values, their sum and the sum of their
//! squares, all exact, so that what leaves leaves no trace.
//!
//! ```text
//! var_pop  = (n Σx² − (Σx)²) / n²             stddev = √var
//! var_samp = (n Σx² − (Σx)²) / (n (n − 1))
//! ```
//!
//! A decimal counts in units of its scale, a double in units of 2^−1074. Over integers and numerics
//! the result is a numeric with as many digits as PostgreSQL gives it; over floats it is the double
//! nearest to the exact value.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal256Array, Float64Array};
use arrow::datatypes::{DataType, Decimal128Type, Decimal256Type, Float64Type, Int64Type, i256};
use num_bigint::{BigInt, Sign};

use super::{Accumulator, Results, read_bytes, read_varint, write_bytes, write_varint};
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::{fits_plain, quotient_digits};
use crate::types::NUMERIC;

/// Which of the four it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Spread {
    /// Of a sample, or of the whole population.
    pub is_sample: bool,
    /// The standard deviation, or the variance.
    pub is_root: bool,
}

/// How values count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// 10^−scale.
    Decimal(i8),
    /// 2^−1074.
    Double,
}

impl Unit {
    /// Of values of a type; `None`: they have no variance.
    pub fn of(argument: &DataType) -> Option<Self> {
        Some(match argument {
            DataType::Int64 => Self::Decimal(0),
            DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => {
                Self::Decimal(*scale)
            }
            DataType::Float64 => Self::Double,
            _ => return None,
        })
    }
}

/// Of some values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moments {
    count: i64,
    /// Infinities and NaNs, which are in neither of the sums.
    others: i64,
    sum: BigInt,
    squares: BigInt,
}

impl Moments {
    /// Adds the values of a column, each as often as its weight says, to the moments of its slot.
    pub fn add_column(
        all: &mut [Moments],
        column: &ArrayRef,
        slot: impl Fn(usize) -> usize,
        weight: impl Fn(usize) -> i64,
    ) -> SqlResult<()> {
        let mut each = |add: &dyn Fn(&mut Moments, usize, i64)| {
            for row in (0..column.len()).filter(|row| column.is_valid(*row)) {
                add(&mut all[slot(row)], row, weight(row));
            }
        };
        match column.data_type() {
            DataType::Int64 => {
                let values = column.as_primitive::<Int64Type>();
                each(&|moments, row, weight| moments.add(values.value(row).into(), weight));
            }
            DataType::Decimal128(..) => {
                let values = column.as_primitive::<Decimal128Type>();
                each(&|moments, row, weight| moments.add(values.value(row).into(), weight));
            }
            DataType::Decimal256(..) => {
                let values = column.as_primitive::<Decimal256Type>();
                each(&|moments, row, weight| {
                    let bytes = values.value(row).to_le_bytes();
                    moments.add(BigInt::from_signed_bytes_le(&bytes), weight);
                });
            }
            DataType::Float64 => {
                let values = column.as_primitive::<Float64Type>();
                each(&|moments, row, weight| moments.add_float(values.value(row), weight));
            }
            other => return Err(SqlError::internal(format!("a variance of {other}"))),
        }
        Ok(())
    }

    fn add(&mut self, value: BigInt, weight: i64) {
        self.count += weight;
        self.squares += &value * &value * weight;
        self.sum += value * weight;
    }

    fn add_float(&mut self, value: f64, weight: i64) {
        if !value.is_finite() {
            self.count += weight;
            self.others += weight;
            return;
        }
        let bits = value.to_bits();
        let exponent = (bits >> 52) & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, position) = match exponent {
            0 => (fraction, 0),
            exponent => (fraction | 1 << 52, exponent - 1),
        };
        let sign = if value.is_sign_negative() { Sign::Minus } else { Sign::Plus };
        self.add(BigInt::from_biguint(sign, mantissa.into()) << position, weight);
    }

    /// Adds what others added.
    pub fn merge(&mut self, other: &Moments) {
        self.count += other.count;
        self.others += other.others;
        self.sum += &other.sum;
        self.squares += &other.squares;
    }

    /// The variance as a fraction, in units squared; `None`: there are too few values.
    fn variance(&self, spread: Spread) -> Option<(BigInt, BigInt)> {
        let least = if spread.is_sample { 2 } else { 1 };
        if self.count < least {
            return None;
        }
        let count = BigInt::from(self.count);
        let divisor = if spread.is_sample { &count * (self.count - 1) } else { &count * &count };
        Some((count * &self.squares - &self.sum * &self.sum, divisor))
    }

    fn double(&self, spread: Spread) -> Option<f64> {
        let (dividend, divisor) = self.variance(spread)?;
        if self.others != 0 {
            return Some(f64::NAN);
        }
        let variance = ratio(dividend, &divisor, -2 * 1074);
        Some(if spread.is_root { variance.sqrt() } else { variance })
    }

    fn numeric(&self, spread: Spread, scale: i8) -> SqlResult<Option<i256>> {
        let Some((dividend, divisor)) = self.variance(spread) else { return Ok(None) };
        if dividend.sign() == Sign::NoSign {
            return Ok(Some(i256::ZERO));
        }
        let own = 2 * i64::from(scale);
        let written = dividend.to_string();
        let digits = quotient_digits(&written, own, &divisor.to_string(), 0);
        // PostgreSQL keeps what digits after the point the values have.
        let zeros = written.len() - written.trim_end_matches('0').len();
        let digits = digits.max(own - i64::try_from(zeros).unwrap_or(0));
        let shift = digits - own;
        let variance = match shift >= 0 {
            true => rounded(dividend * power(shift), &divisor),
            false => rounded(dividend, &(divisor * power(-shift))),
        };
        let result = match spread.is_root {
            true => rounded_root(variance * power(digits)),
            false => variance,
        };
        let kept = i64::from(NUMERIC.1);
        let result = match kept >= digits {
            true => result * power(kept - digits),
            false => rounded(result, &power(digits - kept)),
        };
        let value = i256::from_string(&result.to_string()).filter(|value| fits_plain(*value));
        value.map(Some).ok_or_else(|| {
            SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
        })
    }

    /// Appends it for [`Moments::read`].
    pub fn write(&self, bytes: &mut Vec<u8>) {
        write_varint(self.count, bytes);
        write_varint(self.others, bytes);
        write_bytes(&self.sum.to_signed_bytes_le(), bytes);
        write_bytes(&self.squares.to_signed_bytes_le(), bytes);
    }

    /// Reads what is written first in `bytes`, and moves past it; `None`: it is not that.
    pub fn read(bytes: &mut &[u8]) -> Option<Self> {
        let count = read_varint(bytes)?;
        let others = read_varint(bytes)?;
        let sum = BigInt::from_signed_bytes_le(read_bytes(bytes)?);
        let squares = BigInt::from_signed_bytes_le(read_bytes(bytes)?);
        Some(Self { count, others, sum, squares })
    }

    /// Bytes of memory besides itself.
    pub fn heap_bytes(&self) -> usize {
        let bytes = |number: &BigInt| usize::try_from(number.bits() / 8 + 8).unwrap_or(0);
        bytes(&self.sum) + bytes(&self.squares)
    }
}

/// The results of some.
pub fn results<'m>(
    moments: impl Iterator<Item = &'m Moments>,
    spread: Spread,
    unit: Unit,
) -> SqlResult<Results> {
    let scale = match unit {
        Unit::Double => {
            let values = moments.map(|moments| moments.double(spread));
            let column: ArrayRef = Arc::new(values.collect::<Float64Array>());
            return Ok(Results { column, errors: Vec::new() });
        }
        Unit::Decimal(scale) => scale,
    };
    let mut errors = Vec::new();
    let values = moments.enumerate().map(|(place, moments)| {
        moments.numeric(spread, scale).unwrap_or_else(|error| {
            errors.push((place, error));
            None
        })
    });
    let column = values.collect::<Decimal256Array>();
    let column = column.with_precision_and_scale(NUMERIC.0, NUMERIC.1)?;
    Ok(Results { column: Arc::new(column), errors })
}

fn power(exponent: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent).unwrap_or(0))
}

/// `dividend / divisor` of numbers that are not negative, halves away from zero.
fn rounded(dividend: BigInt, divisor: &BigInt) -> BigInt {
    (dividend * 2 + divisor) / (divisor * 2)
}

/// The square root, rounded.
fn rounded_root(square: BigInt) -> BigInt {
    let root = square.sqrt();
    let rest = square - &root * &root;
    if rest > root { root + 1 } else { root }
}

/// `dividend / divisor` × 2^`exponent`, as a double.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "bits of numbers")]
fn ratio(dividend: BigInt, divisor: &BigInt, exponent: i32) -> f64 {
    /// More than a double has.
    const BITS: i64 = 80;
    let shift = BITS - (dividend.bits() as i64 - divisor.bits() as i64);
    let quotient = match shift >= 0 {
        true => (dividend << shift) / divisor,
        false => dividend / (divisor << -shift),
    };
    let quotient: f64 = i128::try_from(quotient).map_or(f64::INFINITY, |quotient| quotient as f64);
    // In two steps: the power alone may be too small for a double.
    let exponent = exponent - shift as i32;
    quotient * 2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2)
}

/// The spreads of one column, by slot.
pub(super) struct Spreads {
    spread: Spread,
    unit: Unit,
    moments: Vec<Moments>,
}

impl Spreads {
    pub(super) fn new(spread: Spread, unit: Unit) -> Self {
        Self { spread, unit, moments: Vec::new() }
    }
}

impl Accumulator for Spreads {
    fn resize(&mut self, slots: usize) {
        self.moments.resize(slots, Moments::default());
    }

    fn update(
        &mut self,
        slots: &[u32],
        values: Option<&ArrayRef>,
        weights: &[i64],
    ) -> SqlResult<()> {
        let values = values.ok_or_else(|| SqlError::internal("a variance of nothing"))?;
        let slot = |row: usize| slots[row] as usize;
        Moments::add_column(&mut self.moments, values, slot, |row| weights[row])
    }

    fn results(&self, slots: &[u32]) -> SqlResult<Results> {
        let moments = slots.iter().map(|slot| &self.moments[*slot as usize]);
        results(moments, self.spread, self.unit)
    }

    fn write(&self, slot: usize, bytes: &mut Vec<u8>) {
        self.moments[slot].write(bytes);
    }

    fn read(&mut self, slot: usize, bytes: &mut &[u8]) -> Option<()> {
        self.moments[slot] = Moments::read(bytes)?;
        Some(())
    }

    fn retain(&mut self, slots: &[u32]) {
        self.moments = super::gather(&mut self.moments, slots);
    }

    fn bytes(&self) -> usize {
        // Asked for at every barrier: the first stands for all.
        let heap = self.moments.first().map_or(0, Moments::heap_bytes);
        self.moments.capacity() * (size_of::<Moments>() + heap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Spread; 4] = [
        Spread { is_sample: true, is_root: false },
        Spread { is_sample: false, is_root: false },
        Spread { is_sample: true, is_root: true },
        Spread { is_sample: false, is_root: true },
    ];

    fn doubles(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments.add_float(*value, 1));
        moments
    }

    #[test]
    fn what_leaves_leaves_no_trace() {
        let mut moments = doubles(&[1.5, 2.5]);
        let before = moments.clone();
        for value in [1e300, -1e-300, f64::NAN, f64::NEG_INFINITY, 0.1] {
            moments.add_float(value, 3);
            moments.add_float(value, -3);
        }
        assert_eq!(moments, before);
        assert_eq!(
            ALL.map(|spread| before.double(spread)),
            [Some(0.5), Some(0.25), Some(0.5_f64.sqrt()), Some(0.5)]
        );
        assert_eq!(doubles(&[1.0]).double(ALL[0]), None);
        assert_eq!(doubles(&[0.1; 7]).double(ALL[1]), Some(0.0));
        assert_eq!(doubles(&[1e-200, 3e-200]).double(ALL[3]), Some(0.0));
        assert!(doubles(&[1.0, f64::INFINITY]).double(ALL[1]).is_some_and(f64::is_nan));
    }

    #[test]
    fn bytes_come_back() {
        let moments = doubles(&[1e300, -0.1, f64::NAN]);
        let mut bytes = Vec::new();
        moments.write(&mut bytes);
        assert_eq!(Moments::read(&mut bytes.as_slice()), Some(moments));
        assert_eq!(Moments::read(&mut &bytes[..3]), None);
    }

    #[test]
    fn numerics_have_postgres_digits() {
        let mut moments = Moments::default();
        [1, 2, 4].into_iter().for_each(|value| moments.add(BigInt::from(value), 1));
        let text = |spread| {
            let value = moments.numeric(spread, 0).expect("fits").expect("a value");
            let mut text = Vec::new();
            crate::types::text::write_laid_out(
                &crate::types::LaidOut::new(
                    &crate::types::SqlType::Numeric(None),
                    &(Arc::new(
                        Decimal256Array::from(vec![value])
                            .with_precision_and_scale(NUMERIC.0, NUMERIC.1)
                            .expect("fits"),
                    ) as ArrayRef),
                )
                .expect("a column"),
                0,
                &crate::types::text::TextStyle::default(),
                &mut text,
            );
            String::from_utf8(text).expect("text")
        };
        assert_eq!(text(ALL[0]), "2.3333333333333333");
        assert_eq!(text(ALL[1]), "1.5555555555555556");
        assert_eq!(text(ALL[2]), "1.5275252316519467");
    }
}
