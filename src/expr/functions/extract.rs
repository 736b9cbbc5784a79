//! `extract(unit FROM value)`: a numeric, with as many digits after the point as the unit has.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Decimal128Builder};
use arrow::datatypes::{
    DataType, Date32Type, FieldRef, IntervalMonthDayNanoType, Time64MicrosecondType, TimeUnit,
    TimestampMicrosecondType,
};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use super::super::SessionStyle;
use super::library::{self, Span};
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

/// Digits of the numeric.
const PRECISION: u8 = 30;

/// `extract`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Extract {
    signature: Signature,
}

impl Extract {
    pub(super) fn new() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Extract {
    fn name(&self) -> &'static str {
        "extract"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let [_, from] = given else {
            return Err(library::no_such("extract", given).into());
        };
        let to = match from {
            DataType::Timestamp(_, None) => SqlType::Timestamp.to_arrow(),
            DataType::Timestamp(..) => SqlType::Timestamptz.to_arrow(),
            DataType::Date32 => DataType::Date32,
            DataType::Time64(_) => DataType::Time64(TimeUnit::Microsecond),
            DataType::Interval(_) => SqlType::Interval.to_arrow(),
            DataType::Null => SqlType::Timestamp.to_arrow(),
            _ => {
                let types = [DataType::Utf8, from.clone()];
                return Err(library::no_such("extract", &types).into());
            }
        };
        Ok(vec![DataType::Utf8, to])
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Decimal128(PRECISION, 6))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let unit = match args.scalar_arguments[0] {
            Some(ScalarValue::Utf8(Some(name))) => library::unit(name),
            _ => None,
        };
        let is_date = *args.arg_fields[1].data_type() == DataType::Date32;
        let scale = unit.map_or(0, |unit| if is_date { 0 } else { unit.scale() });
        Ok(Arc::new(SqlType::Numeric(Some((PRECISION, scale))).field("extract", true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if scalar { 1 } else { args.number_rows };
        let ColumnarValue::Scalar(ScalarValue::Utf8(Some(unit))) = &args.args[0] else {
            let message = "extract takes a constant unit";
            return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message).into());
        };
        let DataType::Decimal128(_, scale) = args.return_type() else {
            return Err(SqlError::internal("extract gives a numeric").into());
        };
        let zone = SessionStyle::of(&args.config_options).text.zone;
        let values = args.args[1].to_array(rows)?;
        let part = |row: usize| -> SqlResult<library::Part> {
            match values.data_type() {
                DataType::Date32 => {
                    library::date_part(unit, values.as_primitive::<Date32Type>().value(row).into())
                }
                DataType::Time64(_) => library::time_part(
                    unit,
                    values.as_primitive::<Time64MicrosecondType>().value(row),
                ),
                DataType::Interval(_) => {
                    let value = values.as_primitive::<IntervalMonthDayNanoType>().value(row);
                    let micros = value.nanoseconds / 1000;
                    let span = Span { months: value.months, days: value.days, micros };
                    library::interval_part(unit, span)
                }
                DataType::Timestamp(_, with_zone) => {
                    let micros = values.as_primitive::<TimestampMicrosecondType>().value(row);
                    library::timestamp_part(unit, micros, with_zone.as_ref().map(|_| zone))
                }
                other => Err(library::no_such("extract", std::slice::from_ref(other))),
            }
        };
        let mut parts = Decimal128Builder::with_capacity(rows);
        for row in 0..rows {
            if values.is_null(row) {
                parts.append_null();
                continue;
            }
            let (value, own) = part(row)?;
            let value = library::rescale(value, own, *scale).ok_or_else(library::overflow)?;
            parts.append_value(value);
        }
        let parts = parts.finish().with_precision_and_scale(PRECISION, *scale)?;
        let parts: ArrayRef = Arc::new(parts);
        if scalar {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&parts, 0)?));
        }
        Ok(ColumnarValue::Array(parts))
    }
}
