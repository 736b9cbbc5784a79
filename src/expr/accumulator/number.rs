//! A sum becomes the result: scaled, divided, rounded half away from zero as PostgreSQL's numeric
//! does, and refused where the result's type cannot hold it.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Decimal128Array, Decimal256Array, Float32Array, Float64Array, Int64Array,
};
use arrow::datatypes::{DataType, i256};

use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::{divide_numeric, fits_plain, significand};
use crate::types::NUMERIC;

/// A sum as it was kept.
#[derive(Debug, Clone, Copy)]
pub(super) enum Total {
    /// An integer, in units of the argument's scale.
    Exact(i256),
    Float(f64),
}

/// Types of results.
#[derive(Debug, Clone)]
pub(super) enum Target {
    BigInt,
    Decimal {
        precision: u8,
        scale: i8,
    },
    /// Without a modifier.
    Numeric,
    Real,
    Double,
}

/// A column of results in the making.
pub(super) enum Numbers {
    BigInt(Vec<Option<i64>>),
    Decimal(Vec<Option<i128>>, u8, i8),
    Numeric(Vec<Option<i256>>),
    Real(Vec<Option<f32>>),
    Double(Vec<Option<f64>>),
}

impl Target {
    pub(super) fn of(result: &DataType) -> Option<Self> {
        Some(match result {
            DataType::Int64 => Target::BigInt,
            DataType::Decimal128(precision, scale) => {
                Target::Decimal { precision: *precision, scale: *scale }
            }
            DataType::Decimal256(..) => Target::Numeric,
            DataType::Float32 => Target::Real,
            DataType::Float64 => Target::Double,
            _ => return None,
        })
    }

    pub(super) fn numbers(&self, capacity: usize) -> Numbers {
        match *self {
            Target::BigInt => Numbers::BigInt(Vec::with_capacity(capacity)),
            Target::Decimal { precision, scale } => {
                Numbers::Decimal(Vec::with_capacity(capacity), precision, scale)
            }
            Target::Numeric => Numbers::Numeric(Vec::with_capacity(capacity)),
            Target::Real => Numbers::Real(Vec::with_capacity(capacity)),
            Target::Double => Numbers::Double(Vec::with_capacity(capacity)),
        }
    }
}

impl Numbers {
    pub(super) fn push_null(&mut self) {
        match self {
            Numbers::BigInt(values) => values.push(None),
            Numbers::Decimal(values, ..) => values.push(None),
            Numbers::Numeric(values) => values.push(None),
            Numbers::Real(values) => values.push(None),
            Numbers::Double(values) => values.push(None),
        }
    }

    /// Adds `total`, which has scale `scale`, divided by `count`. An error adds nothing.
    pub(super) fn push(&mut self, total: Total, scale: i8, count: i64) -> SqlResult<()> {
        match self {
            Numbers::BigInt(values) => {
                let value = quotient(exact(total)?, scale, 0, count)?;
                let value = value.to_i128().and_then(|value| i64::try_from(value).ok());
                values.push(Some(value.ok_or_else(|| out_of_range("bigint out of range"))?));
            }
            Numbers::Decimal(values, precision, to) => {
                let value = quotient(exact(total)?, scale, *to, count)?.to_i128();
                let limit = 10i128.checked_pow(u32::from(*precision)).unwrap_or(i128::MAX);
                let value = value.filter(|value| value.unsigned_abs() < limit.cast_unsigned());
                values.push(Some(value.ok_or_else(numeric_overflow)?));
            }
            Numbers::Numeric(values) => {
                let sum = quotient(exact(total)?, scale, NUMERIC.1, 1)?;
                let value = match count {
                    1 => Some(sum).filter(|sum| fits_plain(*sum)),
                    _ => significand(sum).and_then(|sum| divide_numeric(sum, (count.into(), 0))),
                };
                values.push(Some(value.ok_or_else(numeric_overflow)?));
            }
            Numbers::Real(values) => {
                let value = double(total, scale, count) as f32;
                if value.is_infinite() && !is_infinite(total) {
                    return Err(out_of_range("value out of range: overflow"));
                }
                values.push(Some(value + 0.0));
            }
            Numbers::Double(values) => {
                let value = double(total, scale, count);
                values.push(Some(value + 0.0));
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> SqlResult<ArrayRef> {
        Ok(match self {
            Numbers::BigInt(values) => Arc::new(Int64Array::from(values)),
            Numbers::Decimal(values, precision, scale) => {
                let column = Decimal128Array::from(values);
                Arc::new(column.with_precision_and_scale(precision, scale)?)
            }
            Numbers::Numeric(values) => {
                let column = Decimal256Array::from(values);
                Arc::new(column.with_precision_and_scale(NUMERIC.0, NUMERIC.1)?)
            }
            Numbers::Real(values) => Arc::new(Float32Array::from(values)),
            Numbers::Double(values) => Arc::new(Float64Array::from(values)),
        })
    }
}

fn out_of_range(message: &str) -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message)
}

fn numeric_overflow() -> SqlError {
    out_of_range("value overflows numeric format")
}

fn exact(total: Total) -> SqlResult<i256> {
    match total {
        Total::Exact(value) => Ok(value),
        Total::Float(_) => Err(SqlError::internal("an exact result of a sum of floats")),
    }
}

fn is_infinite(total: Total) -> bool {
    matches!(total, Total::Float(value) if value.is_infinite())
}

fn double(total: Total, scale: i8, count: i64) -> f64 {
    let sum = match total {
        Total::Float(value) => value,
        Total::Exact(value) => {
            let (low, high) = value.to_parts();
            let unscaled = match value.to_i128() {
                Some(value) => value as f64,
                None => high as f64 * 2f64.powi(128) + low as f64,
            };
            unscaled / 10f64.powi(i32::from(scale))
        }
    };
    let mean = sum / count as f64;
    if mean.is_nan() { f64::NAN } else { mean }
}

/// `sum` / (10^`from` × `count`) in units of 10^−`to`, half away from zero.
fn quotient(sum: i256, from: i8, to: i8, count: i64) -> SqlResult<i256> {
    let power = |exponent: i8| {
        let exponent = u32::try_from(exponent.max(0)).unwrap_or(0);
        i256::from_i128(10).checked_pow(exponent).ok_or_else(numeric_overflow)
    };
    let difference = to.saturating_sub(from);
    let scaled = sum.checked_mul(power(difference)?).ok_or_else(numeric_overflow)?;
    let divisor = power(difference.saturating_neg())?
        .checked_mul(i256::from_i128(count.into()))
        .ok_or_else(numeric_overflow)?;
    if divisor == i256::ONE {
        return Ok(scaled);
    }
    let whole = scaled.wrapping_div(divisor);
    let rest = scaled.wrapping_rem(divisor).wrapping_abs();
    let away = rest >= divisor.wrapping_sub(rest);
    let step = if scaled.is_negative() { i256::MINUS_ONE } else { i256::ONE };
    Ok(if away { whole.wrapping_add(step) } else { whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(sum: i128, from: i8, to: i8, count: i64) -> i128 {
        quotient(i256::from_i128(sum), from, to, count)
            .expect("fits")
            .to_i128()
            .expect("fits in 128 bits")
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        assert_eq!(rounded(1, 0, 0, 2), 1);
        assert_eq!(rounded(-1, 0, 0, 2), -1);
        assert_eq!(rounded(5, 0, 0, 3), 2);
        assert_eq!(rounded(-4, 0, 0, 3), -1);
        assert_eq!(rounded(1, 0, 4, 3), 3333);
        assert_eq!(rounded(-2, 0, 4, 3), -6667);
        assert_eq!(rounded(12345, 4, 2, 1), 123);
        assert_eq!(rounded(12350, 4, 2, 1), 124);
    }

    #[test]
    fn what_does_not_fit_is_22003() {
        let push = |target: Target, total| {
            target.numbers(1).push(total, 0, 1).expect_err("does not fit").code
        };
        let huge = Total::Exact(i256::from_i128(i128::from(i64::MAX) + 1));
        assert_eq!(push(Target::BigInt, huge), code::NUMERIC_VALUE_OUT_OF_RANGE);
        let decimal = Target::Decimal { precision: 4, scale: 2 };
        let hundred = Total::Exact(i256::from_i128(100));
        assert_eq!(push(decimal, hundred), code::NUMERIC_VALUE_OUT_OF_RANGE);
        assert_eq!(push(Target::Real, Total::Float(1e300)), code::NUMERIC_VALUE_OUT_OF_RANGE);
    }
}
