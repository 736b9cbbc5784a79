//! `/` of numerics and of floats, `*` of numerics without a modifier.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, Decimal256Array};
use arrow::compute::kernels::numeric;
use arrow::datatypes::{DataType, Decimal128Type, Float32Type, Float64Type, i256};
use arrow::error::ArrowError;
use datafusion::common::Result;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use itertools::Itertools;

use super::QUOTIENT_SCALE;
use super::decimal::{divide_numeric, divide_rounded, multiply_numeric, numbers_of};
use super::sum::wrong_number;
use crate::error::{SqlError, code};
use crate::types::{NUMERIC, SqlType};

/// Names under which the three are registered.
pub const NUMERIC_DIVIDE: &str = "numeric_div";
pub const NUMERIC_MULTIPLY: &str = "numeric_mul";
pub const FLOAT_DIVIDE: &str = "float_div";

/// Numeric division: at least [`QUOTIENT_SCALE`] digits after the point, rounded; of a numeric
/// without a modifier as many as PostgreSQL has.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct NumericDivide {
    signature: Signature,
}

impl NumericDivide {
    pub(super) fn new() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// The decimal that holds all of an integer type, or a decimal itself.
fn as_decimal(given: &DataType) -> Option<DataType> {
    Some(match given {
        DataType::Int8 | DataType::UInt8 => DataType::Decimal128(3, 0),
        DataType::Int16 | DataType::UInt16 => DataType::Decimal128(5, 0),
        DataType::Int32 | DataType::UInt32 => DataType::Decimal128(10, 0),
        DataType::Int64 | DataType::UInt64 => DataType::Decimal128(20, 0),
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Decimal128(..) | DataType::Decimal256(..) => given.clone(),
        DataType::Null => DataType::Decimal128(1, 0),
        _ => return None,
    })
}

impl ScalarUDFImpl for NumericDivide {
    fn name(&self) -> &'static str {
        NUMERIC_DIVIDE
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        both_decimal(self.name(), given)
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        if arguments.iter().any(is_plain) {
            return Ok(SqlType::Numeric(None).to_arrow());
        }
        let scale = arguments.iter().filter_map(as_decimal).fold(QUOTIENT_SCALE, |scale, t| {
            if let DataType::Decimal128(_, own) = t { scale.max(own) } else { scale }
        });
        Ok(DataType::Decimal128(38, scale))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        on_arrays(args, |left, right, given| {
            if is_plain(given) {
                return plain(left, right, |left, right| match right.0 {
                    0 => Err(division_by_zero()),
                    _ => divide_numeric(left, right).ok_or_else(too_large),
                });
            }
            let (DataType::Decimal128(_, left_scale), DataType::Decimal128(_, right_scale)) =
                (left.data_type(), right.data_type())
            else {
                return Err(wrong_number(NUMERIC_DIVIDE, &[]));
            };
            let DataType::Decimal128(precision, scale) = given else {
                return Err(wrong_number(NUMERIC_DIVIDE, &[]));
            };
            // left/10^l / (right/10^r) * 10^scale = left * 10^(scale - l + r) / right
            let shift = i16::from(*scale) - i16::from(*left_scale) + i16::from(*right_scale);
            let shift = u8::try_from(shift).unwrap_or(0);
            let left = left.as_primitive::<Decimal128Type>();
            let right = right.as_primitive::<Decimal128Type>();
            let quotients = left.iter().zip_eq(right.iter());
            let quotients = quotients.map(|(left, right)| quotient(left, right, shift));
            let quotients: Decimal128Array = quotients.process_results(|all| all.collect())?;
            Ok(Arc::new(quotients.with_precision_and_scale(*precision, *scale)?))
        })
    }
}

fn is_plain(given: &DataType) -> bool {
    matches!(given, DataType::Decimal256(..))
}

fn both_decimal(name: &str, given: &[DataType]) -> Result<Vec<DataType>> {
    match given {
        [left, right] => as_decimal(left)
            .zip(as_decimal(right))
            .map(|(left, right)| vec![left, right])
            .ok_or_else(|| wrong_number(name, given)),
        _ => Err(wrong_number(name, given)),
    }
}

/// A function of the numbers of two columns, with numerics without a modifier as results.
fn plain(
    left: &ArrayRef,
    right: &ArrayRef,
    function: impl Fn((i128, i8), (i128, i8)) -> Result<i256>,
) -> Result<ArrayRef> {
    let pairs = numbers_of(left).into_iter().zip_eq(numbers_of(right));
    let results = pairs.map(|(left, right)| match (left, right) {
        (Some(left), Some(right)) => {
            let (left, right) = left.zip(right).ok_or_else(too_large)?;
            function(left, right).map(Some)
        }
        _ => Ok(None),
    });
    let results: Decimal256Array = results.process_results(|all| all.collect())?;
    let (precision, scale) = NUMERIC;
    Ok(Arc::new(results.with_precision_and_scale(precision, scale)?))
}

fn too_large() -> DataFusionError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
        .detail("A numeric has 38 digits that count, and as many before or after the point.")
        .into()
}

/// The product of numerics of which one has no modifier: exact, but for digits after the point that
/// are not kept.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct NumericMultiply {
    signature: Signature,
}

impl NumericMultiply {
    pub(super) fn new() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for NumericMultiply {
    fn name(&self) -> &'static str {
        NUMERIC_MULTIPLY
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        both_decimal(self.name(), given)
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(SqlType::Numeric(None).to_arrow())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        on_arrays(args, |left, right, _| {
            plain(left, right, |left, right| multiply_numeric(left, right).ok_or_else(too_large))
        })
    }
}

fn quotient(left: Option<i128>, right: Option<i128>, shift: u8) -> Result<Option<i128>> {
    let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
    if right == 0 {
        return Err(division_by_zero());
    }
    match divide_rounded(left, right, shift) {
        Some(quotient) => Ok(Some(quotient)),
        None => Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
            .detail("A quotient has more than 38 digits.")
            .into()),
    }
}

fn division_by_zero() -> DataFusionError {
    ArrowError::DivideByZero.into()
}

/// Float division: by zero is an error, not infinity.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct FloatDivide {
    signature: Signature,
}

impl FloatDivide {
    pub(super) fn new() -> Self {
        let types = vec![DataType::Float32, DataType::Float64];
        Self { signature: Signature::uniform(2, types, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for FloatDivide {
    fn name(&self) -> &'static str {
        FLOAT_DIVIDE
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        on_arrays(args, |left, right, _| {
            if has_zero(right, left) {
                return Err(division_by_zero());
            }
            Ok(numeric::div(left, right)?)
        })
    }
}

/// Whether a divisor is zero where there is something to divide.
fn has_zero(divisors: &ArrayRef, dividends: &ArrayRef) -> bool {
    let zero: Vec<bool> = match divisors.data_type() {
        DataType::Float32 => {
            divisors.as_primitive::<Float32Type>().iter().map(|v| v == Some(0.0)).collect()
        }
        _ => divisors.as_primitive::<Float64Type>().iter().map(|v| v == Some(0.0)).collect(),
    };
    zero.into_iter().enumerate().any(|(row, zero)| zero && dividends.is_valid(row))
}

/// Runs a function of two arrays, and gives a scalar where both were scalars.
pub(super) fn on_arrays(
    args: ScalarFunctionArgs,
    function: impl FnOnce(&ArrayRef, &ArrayRef, &DataType) -> Result<ArrayRef>,
) -> Result<ColumnarValue> {
    let scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
    let rows = if scalar { 1 } else { args.number_rows };
    let left = args.args[0].to_array(rows)?;
    let right = args.args[1].to_array(rows)?;
    let result = function(&left, &right, args.return_type())?;
    if scalar {
        let value = datafusion::common::ScalarValue::try_from_array(&result, 0)?;
        return Ok(ColumnarValue::Scalar(value));
    }
    Ok(ColumnarValue::Array(result))
}
