//! Aggregates of values in order: `mode`, `percentile_disc`, `percentile_cont`.
//!
//! A percentile is given by a fraction, or by an array of them, and then has an array of results.
//! Each row brings the fraction; PostgreSQL asks that it is the same for all rows of a group.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, IntervalMonthDayNanoArray, ListArray, UInt32Array,
};
use arrow::buffer::OffsetBuffer;
use arrow::compute::take;
use arrow::datatypes::{
    DataType, Field, FieldRef, Float64Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    IntervalUnit,
};
use arrow::row::{RowConverter, SortField};
use datafusion::common::{Result, ScalarValue};

use super::super::order::equality_keys;
use super::Definition;
use crate::error::{SqlError, code};
use crate::types::SqlType;

pub(super) const TABLE: &[Definition] = &[
    Definition {
        name: "mode",
        coerce: |given| (given.len() == 1).then(|| given.to_vec()),
        result: |arguments| arguments[0].as_ref().clone(),
        evaluate: mode,
        skips_null: true,
        within_group: true,
    },
    Definition {
        name: "percentile_disc",
        coerce: |given| match given {
            [value, fraction] => Some(vec![value.clone(), fraction_type(fraction)?]),
            _ => None,
        },
        result: percentile_field,
        evaluate: |columns, result| percentiles(columns, result, discrete),
        skips_null: true,
        within_group: true,
    },
    Definition {
        name: "percentile_cont",
        coerce: |given| match given {
            [value, fraction] => {
                let value = match value {
                    DataType::Interval(_) => DataType::Interval(IntervalUnit::MonthDayNano),
                    value if value.is_numeric() || value.is_null() => DataType::Float64,
                    _ => return None,
                };
                Some(vec![value, fraction_type(fraction)?])
            }
            _ => None,
        },
        result: percentile_field,
        evaluate: |columns, result| percentiles(columns, result, continuous),
        skips_null: true,
        within_group: true,
    },
];

fn fraction_type(given: &DataType) -> Option<DataType> {
    match given {
        DataType::List(_) => {
            Some(DataType::List(Arc::new(Field::new("item", DataType::Float64, true))))
        }
        given if given.is_numeric() || given.is_null() => Some(DataType::Float64),
        _ => None,
    }
}

/// What is ordered by, or an array of it.
fn percentile_field(arguments: &[FieldRef]) -> Field {
    let value = arguments[0].as_ref().clone().with_nullable(true);
    match arguments[1].data_type() {
        DataType::List(_) => {
            Field::new("", DataType::List(Arc::new(value.with_name("item"))), true)
        }
        _ => value,
    }
}

/// The value that is there most often; of several the first.
fn mode(columns: &[ArrayRef], result: &FieldRef) -> Result<ScalarValue> {
    let values = &columns[0];
    let keys = equality_keys(values, &SqlType::of_field(result))?;
    let converter = RowConverter::new(vec![SortField::new(keys.data_type().clone())])?;
    let rows = converter.convert_columns(std::slice::from_ref(&keys))?;
    let (mut best, mut best_count) = (0, 0);
    let mut first = 0;
    for index in 0..values.len() {
        if rows.row(index) != rows.row(first) {
            first = index;
        }
        if index + 1 - first > best_count {
            (best, best_count) = (first, index + 1 - first);
        }
    }
    ScalarValue::try_from_array(values, best)
}

/// The values at some places of all of them in order; NULL at a fraction that is NULL.
type Percentile = fn(&ArrayRef, &[Option<f64>]) -> Result<ArrayRef>;

fn percentiles(
    columns: &[ArrayRef],
    result: &FieldRef,
    percentile: Percentile,
) -> Result<ScalarValue> {
    let (values, fractions) = (&columns[0], &columns[1]);
    if fractions.is_null(0) {
        return ScalarValue::try_from(result.data_type());
    }
    let (DataType::List(_), DataType::List(item)) = (fractions.data_type(), result.data_type())
    else {
        let fraction = checked(fractions.as_primitive::<Float64Type>().value(0))?;
        return ScalarValue::try_from_array(&percentile(values, &[Some(fraction)])?, 0);
    };
    let list = fractions.as_list::<i32>().value(0);
    let list = list.as_primitive::<Float64Type>().iter();
    let list =
        list.map(|fraction| fraction.map(checked).transpose()).collect::<Result<Vec<_>>>()?;
    let offsets = OffsetBuffer::from_lengths([list.len()]);
    let list = ListArray::try_new(Arc::clone(item), offsets, percentile(values, &list)?, None)?;
    Ok(ScalarValue::List(Arc::new(list)))
}

fn checked(fraction: f64) -> Result<f64> {
    if (0.0..=1.0).contains(&fraction) {
        return Ok(fraction);
    }
    let message = format!("percentile value {fraction} is not between 0 and 1");
    Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message).into())
}

/// The first value up to which there is that fraction of all of them.
fn discrete(values: &ArrayRef, fractions: &[Option<f64>]) -> Result<ArrayRef> {
    let count = values.len();
    let place = |fraction: f64| place((fraction * count as f64).ceil()).saturating_sub(1);
    let places: UInt32Array = fractions.iter().map(|fraction| fraction.map(place)).collect();
    Ok(take(values, &places, None)?)
}

/// The value at that fraction of the way from the first to the last, between two if need be.
fn continuous(values: &ArrayRef, fractions: &[Option<f64>]) -> Result<ArrayRef> {
    let last = (values.len() - 1) as f64;
    let between = |fraction: f64| {
        let at = fraction * last;
        (place(at.floor()) as usize, place(at.ceil()) as usize, at - at.floor())
    };
    if let Some(values) = values.as_primitive_opt::<IntervalMonthDayNanoType>() {
        let results = fractions.iter().map(|fraction| {
            let (low, high, part) = between((*fraction)?);
            Some(between_intervals(values.value(low), values.value(high), part))
        });
        return Ok(Arc::new(results.collect::<IntervalMonthDayNanoArray>()));
    }
    let values = values.as_primitive::<Float64Type>();
    let results = fractions.iter().map(|fraction| {
        let (low, high, part) = between((*fraction)?);
        let (low, high) = (values.value(low), values.value(high));
        // As PostgreSQL writes it, so that it rounds alike; one infinity has no distance to itself.
        Some(if part == 0.0 { low } else { low + part * (high - low) })
    });
    Ok(Arc::new(results.collect::<Float64Array>()))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place among rows")]
fn place(at: f64) -> u32 {
    at as u32
}

const MONTH_DAYS: f64 = 30.0;
const DAY_NANOS: f64 = 86_400e9;

/// `low + (high - low) * part`, months and days that are not whole going to the smaller units, as
/// PostgreSQL multiplies intervals.
#[expect(clippy::cast_possible_truncation, reason = "between two values that fit")]
fn between_intervals(
    low: IntervalMonthDayNano,
    high: IntervalMonthDayNano,
    part: f64,
) -> IntervalMonthDayNano {
    let months = f64::from(high.months - low.months) * part;
    let days = f64::from(high.days - low.days) * part + months.fract() * MONTH_DAYS;
    let nanos = (high.nanoseconds - low.nanoseconds) as f64 * part + days.fract() * DAY_NANOS;
    IntervalMonthDayNano::new(
        low.months + months.trunc() as i32,
        low.days + days.trunc() as i32,
        low.nanoseconds + (nanos / 1000.0).round() as i64 * 1000,
    )
}
