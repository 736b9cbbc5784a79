//! Functions of numbers whose result has the scale that PostgreSQL gives it: a numeric's type here
//! has its scale in it, so it is decided while planning.
//!
//! Roots, powers, logarithms and exponentials of numerics are computed as floats of 64 bits and
//! have [`QUOTIENT_SCALE`] digits after the point, of which 15 count.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Decimal128Array, Decimal256Array, Float64Builder, Int32Array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef, Float64Type, Int64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

use super::QUOTIENT_SCALE;
use super::decimal::{divide_rounded, numbers_of, numeric_of};
use super::library::{no_such, overflow, rescale};
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

/// What a function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Abs,
    Round,
    Trunc,
    Ceil,
    Floor,
    Sign,
    Mod,
    Div,
    Power,
    Sqrt,
    Exp,
    Ln,
    /// To base 10, or to the first argument.
    Log,
    Scale,
    MinScale,
    TrimScale,
    Factorial,
}

const NAMES: &[(&str, &[&str], Kind)] = &[
    ("abs", &[], Kind::Abs),
    ("round", &[], Kind::Round),
    ("trunc", &[], Kind::Trunc),
    ("ceil", &["ceiling"], Kind::Ceil),
    ("floor", &[], Kind::Floor),
    ("sign", &[], Kind::Sign),
    ("mod", &[], Kind::Mod),
    ("div", &[], Kind::Div),
    ("power", &["pow"], Kind::Power),
    ("sqrt", &[], Kind::Sqrt),
    ("exp", &[], Kind::Exp),
    ("ln", &[], Kind::Ln),
    ("log", &["log10"], Kind::Log),
    ("scale", &[], Kind::Scale),
    ("min_scale", &[], Kind::MinScale),
    ("trim_scale", &[], Kind::TrimScale),
    ("factorial", &[], Kind::Factorial),
];

/// All of them.
pub(super) fn all() -> Vec<ScalarUDF> {
    let function = |(name, aliases, kind): &(&'static str, &[&str], Kind)| {
        ScalarUDF::from(Numeric {
            name,
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            kind: *kind,
            signature: Signature::user_defined(Volatility::Immutable),
        })
    };
    NAMES.iter().map(function).collect()
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Numeric {
    name: &'static str,
    aliases: Vec<String>,
    kind: Kind,
    signature: Signature,
}

/// The numeric that holds all of a number type.
fn as_numeric(given: &DataType) -> Option<DataType> {
    Some(match given {
        DataType::Int16 => DataType::Decimal128(5, 0),
        DataType::Int32 => DataType::Decimal128(10, 0),
        DataType::Int64 | DataType::UInt64 => DataType::Decimal128(20, 0),
        DataType::Decimal128(..) | DataType::Decimal256(..) => given.clone(),
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Null => DataType::Decimal128(38, 0),
        DataType::Utf8 => SqlType::Numeric(None).to_arrow(),
        _ => return None,
    })
}

fn scale_of(given: &DataType) -> i8 {
    match given {
        DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => *scale,
        _ => 0,
    }
}

impl Numeric {
    fn coerced(&self, given: &[DataType]) -> SqlResult<Vec<DataType>> {
        let wrong = || no_such(self.name, given);
        let float = DataType::Float64;
        let is_float = |given: &DataType| given.is_floating() || *given == DataType::Utf8;
        let both_numeric = |one: &DataType, other: &DataType| {
            as_numeric(one).zip(as_numeric(other)).map(|(one, other)| vec![one, other])
        };
        let decimal = |given: &DataType| given.is_decimal();
        Ok(match (self.kind, given) {
            (Kind::Round | Kind::Trunc, [value, digits]) if digits.is_integer() => {
                vec![as_numeric(value).ok_or_else(wrong)?, DataType::Int64]
            }
            (Kind::Mod, [one, other]) if one.is_integer() && other.is_integer() => {
                let wide = [one, other].contains(&&DataType::Int64);
                let both = if wide { DataType::Int64 } else { DataType::Int32 };
                vec![both.clone(), both]
            }
            (Kind::Mod | Kind::Div, [one, other]) => both_numeric(one, other).ok_or_else(wrong)?,
            (Kind::Power, [one, other]) => {
                let exact = (decimal(one) || decimal(other)) && !one.is_floating();
                match both_numeric(one, other).filter(|_| exact && !other.is_floating()) {
                    Some(both) => both,
                    None if one.is_numeric() || is_float(one) || one.is_null() => {
                        vec![float.clone(), float]
                    }
                    None => return Err(wrong()),
                }
            }
            (Kind::Log, [one, other]) => both_numeric(one, other).ok_or_else(wrong)?,
            (Kind::Abs, [one]) if one.is_integer() => vec![one.clone()],
            (Kind::Scale | Kind::MinScale | Kind::TrimScale, [one]) => {
                vec![as_numeric(one).ok_or_else(wrong)?]
            }
            (Kind::Factorial, [one]) if one.is_integer() || one.is_null() => vec![DataType::Int64],
            (_, [one]) if decimal(one) => vec![as_numeric(one).ok_or_else(wrong)?],
            (Kind::Factorial, _) => return Err(wrong()),
            (_, [one]) if one.is_numeric() || is_float(one) || one.is_null() => vec![float],
            _ => return Err(wrong()),
        })
    }

    /// The result's type, where the second argument is the constant `digits`, if it is one.
    fn result(&self, given: &[DataType], digits: Option<i64>) -> SqlType {
        let numeric = |scale: i8| SqlType::Numeric(Some((38, scale)));
        let first = given.first().unwrap_or(&DataType::Null);
        if *first == DataType::Float64 {
            return SqlType::Double;
        }
        match self.kind {
            Kind::Round | Kind::Trunc if given.len() == 2 => match digits {
                Some(digits) => numeric(i8::try_from(digits.clamp(0, 38)).unwrap_or(38)),
                None => SqlType::Numeric(None),
            },
            Kind::Abs => match first {
                DataType::Decimal128(precision, scale) => {
                    SqlType::Numeric(Some((*precision, *scale)))
                }
                other => SqlType::of_arrow(other),
            },
            Kind::Mod if given.iter().any(is_plain) => SqlType::Numeric(None),
            Kind::Mod => match first {
                DataType::Int32 => SqlType::Integer,
                DataType::Int64 => SqlType::BigInt,
                first => numeric(
                    given.iter().map(scale_of).fold(scale_of(first), |one, other| one.max(other)),
                ),
            },
            Kind::Power | Kind::Sqrt | Kind::Exp | Kind::Ln | Kind::Log => numeric(QUOTIENT_SCALE),
            Kind::Scale | Kind::MinScale => SqlType::Integer,
            Kind::TrimScale => SqlType::Numeric(None),
            _ => numeric(0),
        }
    }
}

impl ScalarUDFImpl for Numeric {
    fn name(&self) -> &str {
        self.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        Ok(self.coerced(given)?)
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(self.result(given, None).to_arrow())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<_> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let digits = match args.scalar_arguments.get(1) {
            Some(Some(ScalarValue::Int64(digits))) => *digits,
            Some(Some(ScalarValue::Int32(digits))) => digits.map(i64::from),
            _ => None,
        };
        Ok(Arc::new(self.result(&types, digits).field(self.name, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if scalar { 1 } else { args.number_rows };
        let arrays =
            args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<ArrayRef>>>()?;
        let to = args.return_type().clone();
        let result = match (arrays[0].data_type(), self.kind) {
            (DataType::Float64, _) => self.floats(&arrays)?,
            (DataType::Int32 | DataType::Int64, Kind::Mod) => {
                cast(&remainders(&arrays)?, arrays[0].data_type())?
            }
            (given, Kind::Abs) if given.is_integer() => absolutes(&arrays[0])?,
            (DataType::Int64, _) => factorials(&arrays[0])?,
            (_, Kind::Scale | Kind::MinScale) => self.scales(&arrays[0])?,
            _ => self.decimals(&arrays, &to)?,
        };
        if scalar {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?));
        }
        Ok(ColumnarValue::Array(result))
    }
}

fn is_plain(given: &DataType) -> bool {
    matches!(given, DataType::Decimal256(..))
}

fn division_by_zero() -> SqlError {
    SqlError::new(code::DIVISION_BY_ZERO, "division by zero")
}

fn power_undefined(message: &str) -> SqlError {
    SqlError::new("2201F", message)
}

fn logarithm_undefined(value: f64) -> SqlError {
    let of = if value == 0.0 { "zero" } else { "a negative number" };
    SqlError::new("2201E", format!("cannot take logarithm of {of}"))
}

/// PostgreSQL's checks and values for floats.
fn float(kind: Kind, value: f64, other: f64) -> SqlResult<f64> {
    let result = match kind {
        Kind::Abs => value.abs(),
        Kind::Round => value.round_ties_even(),
        Kind::Trunc => value.trunc(),
        Kind::Ceil => value.ceil(),
        Kind::Floor => value.floor(),
        Kind::Sign if value == 0.0 || value.is_nan() => value,
        Kind::Sign => value.signum(),
        Kind::Power => {
            if value == 0.0 && other < 0.0 {
                return Err(power_undefined("zero raised to a negative power is undefined"));
            }
            if value < 0.0 && other.is_finite() && other.fract() != 0.0 {
                return Err(power_undefined(
                    "a negative number raised to a non-integer power yields a complex result",
                ));
            }
            value.powf(other)
        }
        Kind::Sqrt if value < 0.0 => {
            return Err(power_undefined("cannot take square root of a negative number"));
        }
        Kind::Sqrt => value.sqrt(),
        Kind::Exp => value.exp(),
        Kind::Ln | Kind::Log if value <= 0.0 => return Err(logarithm_undefined(value)),
        Kind::Ln => value.ln(),
        Kind::Log => value.log10(),
        _ => return Err(SqlError::internal("a function of numerics was given floats")),
    };
    let overflow = result.is_infinite() && value.is_finite() && other.is_finite();
    let underflow = matches!(kind, Kind::Power | Kind::Exp)
        && result == 0.0
        && value != 0.0
        && value.is_finite()
        && other.is_finite();
    if overflow || underflow {
        let what = if overflow { "overflow" } else { "underflow" };
        let message = format!("value out of range: {what}");
        return Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message));
    }
    Ok(result)
}

impl Numeric {
    fn floats(&self, arrays: &[ArrayRef]) -> Result<ArrayRef> {
        let values = arrays[0].as_primitive::<Float64Type>();
        let others = arrays.get(1).map(|array| array.as_primitive::<Float64Type>());
        let mut results = Float64Builder::with_capacity(values.len());
        for row in 0..values.len() {
            if values.is_null(row) || others.is_some_and(|others| others.is_null(row)) {
                results.append_null();
                continue;
            }
            let other = others.map_or(0.0, |others| others.value(row));
            results.append_value(float(self.kind, values.value(row), other)?);
        }
        Ok(Arc::new(results.finish()))
    }

    /// Results that are numerics of type `to`.
    fn decimals(&self, arrays: &[ArrayRef], to: &DataType) -> Result<ArrayRef> {
        let values = numbers_of(&arrays[0]);
        let digits = arrays.get(1).and_then(|array| array.as_primitive_opt::<Int64Type>());
        let others = match arrays.get(1) {
            Some(array) if array.data_type().is_decimal() => Some(numbers_of(array)),
            _ => None,
        };
        let given = |row: usize| {
            let is_null = arrays.iter().any(|array| array.is_null(row));
            let value = values[row].filter(|_| !is_null)?;
            let other = others.as_ref().map(|others| others[row].flatten());
            Some((value, other, digits.map_or(0, |digits| digits.value(row))))
        };
        let results = (0..values.len()).map(|row| {
            let Some((value, other, digits)) = given(row) else { return Ok(None) };
            let value = value.ok_or_else(overflow)?;
            let other = other.map(|other| other.ok_or_else(overflow)).transpose()?;
            Ok::<_, SqlError>(Some((value, other, digits)))
        });
        match *to {
            DataType::Decimal128(precision, scale) => {
                let results = results.map(|given| match given? {
                    Some((value, other, digits)) => {
                        self.decimal(value, other, digits, scale).map(Some)
                    }
                    None => Ok(None),
                });
                let results = results.collect::<SqlResult<Decimal128Array>>()?;
                Ok(Arc::new(results.with_precision_and_scale(precision, scale)?))
            }
            DataType::Decimal256(precision, scale) => {
                let results = results.map(|given| match given? {
                    Some((value, other, digits)) => {
                        // Digits after the point that the result may have.
                        let own = match (self.kind, other) {
                            (Kind::Round | Kind::Trunc, _) => {
                                i8::try_from(digits.clamp(0, 38)).unwrap_or(0).min(value.1)
                            }
                            (_, other) => other.map_or(value.1, |other| other.1.max(value.1)),
                        };
                        let result = self.decimal(value, other, digits, own)?;
                        numeric_of(result, own).map(Some).ok_or_else(overflow)
                    }
                    None => Ok(None),
                });
                let results = results.collect::<SqlResult<Decimal256Array>>()?;
                Ok(Arc::new(results.with_precision_and_scale(precision, scale)?))
            }
            ref other => Err(SqlError::internal(format!("{} gives {other}", self.name)).into()),
        }
    }

    /// One result, with `scale` digits after the point.
    fn decimal(
        &self,
        (value, own): (i128, i8),
        other: Option<(i128, i8)>,
        digits: i64,
        scale: i8,
    ) -> SqlResult<i128> {
        let whole = |value: i128| rescale(value, 0, scale).ok_or_else(overflow);
        let power = 10_i128.checked_pow(u32::from(own.unsigned_abs())).ok_or_else(overflow)?;
        match self.kind {
            Kind::Round | Kind::Trunc => {
                let digits = i8::try_from(digits.clamp(-38, 38)).unwrap_or(0);
                let kept = match (self.kind, digits < own) {
                    (_, false) => return rescale(value, own, scale).ok_or_else(overflow),
                    (Kind::Round, true) => rescale(value, own, digits),
                    _ => cut(value, own, digits),
                };
                rescale(kept.ok_or_else(overflow)?, digits, scale).ok_or_else(overflow)
            }
            Kind::Abs => Ok(value.abs()),
            Kind::Ceil => whole(-(-value).div_euclid(power)),
            Kind::Floor => whole(value.div_euclid(power)),
            Kind::Sign => whole(value.signum()),
            Kind::Mod => {
                let (one, other) = same_scale((value, own), other.unwrap_or_default(), scale)?;
                one.checked_rem(other).ok_or_else(division_by_zero)
            }
            Kind::Div => {
                let given = other.unwrap_or_default();
                let common = own.max(given.1);
                let (one, other) = same_scale((value, own), given, common)?;
                whole(one.checked_div(other).ok_or_else(division_by_zero)?)
            }
            Kind::TrimScale => rescale(value, own, scale).ok_or_else(overflow),
            _ => self.transcendental((value, own), other, scale),
        }
    }

    fn transcendental(
        &self,
        value: (i128, i8),
        other: Option<(i128, i8)>,
        scale: i8,
    ) -> SqlResult<i128> {
        let (one, two) = (as_float(value), other.map(as_float));
        if self.kind == Kind::Power
            && let Some((exponent, exponent_scale)) = other
            && let Some(exact) = whole_power(value, (exponent, exponent_scale), scale)
        {
            return Ok(exact);
        }
        if self.kind == Kind::Sqrt
            && value.0 >= 0
            && let Some(root) = square_root(value, scale)
        {
            return Ok(root);
        }
        let result = match (self.kind, two) {
            (Kind::Log, Some(two)) => float(Kind::Ln, two, 0.0)? / float(Kind::Ln, one, 0.0)?,
            (kind, two) => float(kind, one, two.unwrap_or(0.0))?,
        };
        let scaled = result * 10_f64.powi(scale.into());
        if !scaled.is_finite() || scaled.abs() >= 1e38 {
            return Err(overflow());
        }
        // The shortest text of a float has no digits that are not its own.
        let text = format!("{result}");
        decimal_of(&text, scale).ok_or_else(overflow)
    }

    fn scales(&self, values: &ArrayRef) -> Result<ArrayRef> {
        let scales = numbers_of(values).into_iter().map(|value| {
            let Some(value) = value else { return Ok(None) };
            let (mut value, mut scale) = value.ok_or_else(overflow)?;
            while self.kind == Kind::MinScale && scale > 0 && value % 10 == 0 {
                (value, scale) = (value / 10, scale - 1);
            }
            Ok::<_, SqlError>(Some(i32::from(scale)))
        });
        Ok(Arc::new(scales.collect::<SqlResult<Int32Array>>()?))
    }
}

/// A number without the digits beyond `to`.
fn cut(value: i128, from: i8, to: i8) -> Option<i128> {
    let surplus = i16::from(from) - i16::from(to);
    let power = 10_i128.checked_pow(u32::try_from(surplus).ok()?);
    Some(power.map_or(0, |power| value / power))
}

fn same_scale(one: (i128, i8), other: (i128, i8), scale: i8) -> SqlResult<(i128, i128)> {
    let one = rescale(one.0, one.1, scale).ok_or_else(overflow)?;
    let other = rescale(other.0, other.1, scale).ok_or_else(overflow)?;
    Ok((one, other))
}

fn as_float((value, scale): (i128, i8)) -> f64 {
    value as f64 / 10_f64.powi(scale.into())
}

/// The digits of a plain number's text, at `scale`.
fn decimal_of(text: &str, scale: i8) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let keep = fraction.len().min(30);
    let digits: i128 = format!("{whole}{}", &fraction[..keep]).parse().ok()?;
    rescale(digits, i8::try_from(keep).ok()?, scale)
}

/// A power with a small whole exponent, exactly.
fn whole_power(value: (i128, i8), exponent: (i128, i8), scale: i8) -> Option<i128> {
    let unit = 10_i128.checked_pow(u32::from(exponent.1.unsigned_abs()))?;
    if exponent.0 < 0 || exponent.0 % unit != 0 {
        return None;
    }
    let times = u32::try_from(exponent.0 / unit).ok()?;
    let digits = value.0.checked_pow(times)?;
    let own = i64::from(value.1) * i64::from(times);
    rescale(digits, i8::try_from(own).ok().filter(|own| *own <= 76)?, scale)
}

/// The square root, rounded.
fn square_root((value, own): (i128, i8), scale: i8) -> Option<i128> {
    // sqrt(v / 10^o) * 10^s = sqrt(v * 10^(2s - o))
    let shift = u32::try_from(2 * i32::from(scale) - i32::from(own)).ok()?;
    let scaled = u128::try_from(value).ok()?.checked_mul(10_u128.checked_pow(shift)?)?;
    let root = scaled.isqrt();
    let up = scaled - root * root > root;
    i128::try_from(root + u128::from(up)).ok()
}

fn absolutes(values: &ArrayRef) -> Result<ArrayRef> {
    let to = SqlType::of_arrow(values.data_type());
    let wide = cast(values, &DataType::Int64)?;
    let wide = wide.as_primitive::<Int64Type>();
    let least = match to {
        SqlType::SmallInt => i64::from(i16::MIN),
        SqlType::Integer => i64::from(i32::MIN),
        _ => i64::MIN,
    };
    if wide.iter().flatten().any(|value| value == least) {
        let message = format!("{to} out of range");
        return Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message).into());
    }
    let absolutes: ArrayRef = Arc::new(wide.unary::<_, Int64Type>(i64::wrapping_abs));
    Ok(cast(&absolutes, values.data_type())?)
}

fn remainders(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let arrays = [cast(&arrays[0], &DataType::Int64)?, cast(&arrays[1], &DataType::Int64)?];
    let [one, other] = arrays.each_ref().map(|array| array.as_primitive::<Int64Type>());
    let mut results = arrow::array::Int64Builder::with_capacity(one.len());
    for row in 0..one.len() {
        if one.is_null(row) || other.is_null(row) {
            results.append_null();
        } else if other.value(row) == 0 {
            return Err(division_by_zero().into());
        } else {
            results.append_value(one.value(row).wrapping_rem(other.value(row)));
        }
    }
    Ok(Arc::new(results.finish()))
}

fn factorials(values: &ArrayRef) -> Result<ArrayRef> {
    let factorial = |number: i64| {
        if number < 0 {
            let message = "factorial of a negative number is undefined";
            return Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message));
        }
        let product = (1..=i128::from(number)).try_fold(1_i128, i128::checked_mul);
        product.and_then(|product| divide_rounded(product, 1, 0)).ok_or_else(overflow)
    };
    let values = values.as_primitive::<Int64Type>().iter();
    let results = values.map(|number| number.map(factorial).transpose());
    let results = results.collect::<SqlResult<Decimal128Array>>()?;
    Ok(Arc::new(results.with_precision_and_scale(38, 0)?))
}
