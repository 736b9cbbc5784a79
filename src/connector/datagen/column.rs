//! A column of made-up values: by type, a sequence or evenly random between two bounds.
//!
//! All types but text and boolean count in whole steps of something (a day, a microsecond, a
//! hundredth), so one rule of whole numbers serves them.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Decimal256Array, Float32Array,
    Float64Array, Int16Array, Int32Array, Int64Array, StringBuilder, TimestampMicrosecondArray,
};
use arrow::compute::kernels::cast_utils::{parse_decimal, string_to_datetime};
use arrow::datatypes::{DataType, Decimal128Type, Field, i256};
use chrono::Utc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::connector::draw::Draw;
use crate::connector::option::{OptionReader, invalid};
use crate::error::{SqlError, SqlResult, code};
use crate::types::{NUMERIC, SqlType};

/// Bounds of random numbers unless the user gives others.
const NUMBER_MAX: i128 = 32_767;

/// Characters of random text, unless the user says how many, and at the most.
const LENGTH: u64 = 10;
const LENGTH_MAX: u64 = 1 << 20;

const DAY_US: i128 = 86_400_000_000;

/// Random dates and times are in the year after this one, and sequences begin with it.
const FIRST_DAY: i128 = 16_631; // 2015-07-15
const DAYS: i128 = 365;

/// A column and how its values come about.
#[derive(Debug, Clone)]
pub(super) struct Column {
    sql_type: SqlType,
    data_type: DataType,
    values: Values,
    null_rate: f64,
    /// Random numbers of this column are its own, wherever it stands.
    field: u64,
}

#[derive(Debug, Clone)]
enum Values {
    /// `start + row * step`, in the type's units; ends before it would pass `end`.
    Sequence { start: i128, step: i128, end: Option<i128> },
    /// From `min` to `max` in the type's units, both included.
    Random { min: i128, max: i128 },
    /// From `min` to `max`, the second excluded.
    RandomFloat { min: f64, max: f64 },
    /// Letters and digits.
    RandomText { length: u64 },
}

impl Column {
    /// Reads the options of one column.
    pub(super) fn read(field: &Field, seed: u64, reader: &mut OptionReader<'_>) -> SqlResult<Self> {
        let sql_type = SqlType::of_field(field);
        let option = |name: &str| format!("fields.{}.{name}", field.name());
        let kind_name = option("kind");
        let kind = reader.text(&[&kind_name])?.unwrap_or("random");
        let values = match kind.trim().to_ascii_lowercase().as_str() {
            "sequence" => sequence(&sql_type, &option, reader)?,
            "random" => random(&sql_type, &option, reader)?,
            _ => return Err(invalid(&kind_name, kind, "\"sequence\" or \"random\"")),
        };
        let null_name = option("null_rate");
        const SHARE: &str = "a number from 0 to 1";
        let null_rate: f64 = reader.parsed(&[&null_name], SHARE)?.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&null_rate) {
            return Err(invalid(&null_name, &null_rate.to_string(), SHARE));
        }
        if null_rate > 0.0 && !field.is_nullable() {
            return Err(SqlError::new(
                code::INVALID_PARAMETER_VALUE,
                format!("option \"{null_name}\" asks for NULLs in a NOT NULL column"),
            ));
        }
        let data_type = field.data_type().clone();
        let field = xxh3_64_with_seed(field.name().as_bytes(), seed);
        Ok(Self { sql_type, data_type, values, null_rate, field })
    }

    /// How many rows there are, if a sequence says so.
    pub(super) fn rows(&self) -> Option<u64> {
        let Values::Sequence { start, step, end: Some(end) } = self.values else { return None };
        let rows = (end - start).checked_div(step).map_or(0, |steps| steps.max(-1) + 1);
        Some(u64::try_from(rows).unwrap_or(u64::MAX))
    }

    /// The values of `rows`.
    pub(super) fn array(&self, rows: std::ops::Range<u64>) -> SqlResult<ArrayRef> {
        let units = || rows.clone().map(|row| self.unit(row));
        // A sequence without an end may leave its type.
        macro_rules! whole {
            ($array:ty) => {
                Arc::new(self.narrow(units())?.into_iter().collect::<$array>())
            };
        }
        Ok(match &self.data_type {
            DataType::Boolean => {
                Arc::new(units().map(|unit| unit.map(|n| n != 0)).collect::<BooleanArray>())
            }
            DataType::Int16 => whole!(Int16Array),
            DataType::Int32 => whole!(Int32Array),
            DataType::Int64 => whole!(Int64Array),
            DataType::Date32 => whole!(Date32Array),
            DataType::Timestamp(_, zone) => {
                let array: TimestampMicrosecondArray = self.narrow(units())?.into_iter().collect();
                Arc::new(array.with_timezone_opt(zone.clone()))
            }
            DataType::Decimal128(precision, scale) => {
                let array: Decimal128Array = units().collect();
                let array = array.with_precision_and_scale(*precision, *scale)?;
                array.validate_decimal_precision(*precision).map_err(|_| self.out_of_range())?;
                Arc::new(array)
            }
            DataType::Decimal256(precision, scale) => {
                let unit = i256::from_i128(10)
                    .wrapping_pow(u32::from((NUMERIC.1 - PLAIN.1).unsigned_abs()));
                let array: Decimal256Array = units()
                    .map(|number| number.map(|n| i256::from_i128(n).wrapping_mul(unit)))
                    .collect();
                Arc::new(array.with_precision_and_scale(*precision, *scale)?)
            }
            DataType::Float32 => {
                let values = rows.map(|row| self.float(row).map(|value| value as f32));
                Arc::new(values.collect::<Float32Array>())
            }
            DataType::Float64 => {
                Arc::new(rows.map(|row| self.float(row)).collect::<Float64Array>())
            }
            _ => self.texts(rows),
        })
    }

    fn narrow<T: TryFrom<i128>>(
        &self,
        units: impl Iterator<Item = Option<i128>>,
    ) -> SqlResult<Vec<Option<T>>> {
        units
            .map(|unit| unit.map(|n| T::try_from(n).map_err(|_| self.out_of_range())).transpose())
            .collect()
    }

    fn out_of_range(&self) -> SqlError {
        let message = format!("a generated value is out of range for type {}", self.sql_type);
        SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message)
            .hint("Give its sequence an end, or the column a larger type.")
    }

    /// The random numbers of a row, of which the first says whether it is NULL.
    fn draw(&self, row: u64) -> Option<Draw> {
        let mut draw = Draw::new(row, self.field);
        let is_null = draw.unit() < self.null_rate;
        (!is_null).then_some(draw)
    }

    fn unit(&self, row: u64) -> Option<i128> {
        let mut draw = self.draw(row)?;
        Some(match self.values {
            Values::Sequence { start, step, .. } => {
                start.saturating_add(i128::from(row).saturating_mul(step))
            }
            Values::Random { min, max } => {
                let choices = max.abs_diff(min).saturating_add(1);
                min.saturating_add_unsigned(below(choices, &mut draw))
            }
            Values::RandomFloat { .. } | Values::RandomText { .. } => 0,
        })
    }

    fn float(&self, row: u64) -> Option<f64> {
        match self.values {
            Values::RandomFloat { min, max } => {
                // Two products, so that no difference overflows.
                self.draw(row).map(|mut draw| {
                    let share = draw.unit();
                    min * (1.0 - share) + max * share
                })
            }
            _ => self.unit(row).map(|unit| unit as f64),
        }
    }

    fn texts(&self, rows: std::ops::Range<u64>) -> ArrayRef {
        let mut builder = StringBuilder::new();
        for row in rows {
            match (&self.values, self.draw(row)) {
                (_, None) => builder.append_null(),
                (Values::RandomText { length }, Some(mut draw)) => {
                    builder.append_value(alphanumeric(*length, &mut draw));
                }
                (_, Some(_)) => {
                    builder.append_value(self.unit(row).unwrap_or_default().to_string());
                }
            }
        }
        Arc::new(builder.finish())
    }
}

/// Evenly in `0..choices`, which may be more than 64 bits count.
fn below(choices: u128, draw: &mut Draw) -> u128 {
    match u64::try_from(choices) {
        Ok(choices) => u128::from(draw.below(choices)),
        Err(_) => ((u128::from(draw.next()) << 64) | u128::from(draw.next())) % choices,
    }
}

fn alphanumeric(length: u64, draw: &mut Draw) -> String {
    const CHARACTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    (0..length).map(|_| char::from(CHARACTERS[draw.below(36) as usize])).collect()
}

fn sequence(
    sql_type: &SqlType,
    option: &dyn Fn(&str) -> String,
    reader: &mut OptionReader<'_>,
) -> SqlResult<Values> {
    if matches!(sql_type, SqlType::Boolean) {
        return Err(SqlError::unsupported("a sequence of booleans"));
    }
    supported(sql_type)?;
    let mut value = |name: &str| unit_option(sql_type, &option(name), reader);
    let (start, end) = (value("start")?, value("end")?);
    let start = start.unwrap_or(match sql_type {
        SqlType::Date => FIRST_DAY,
        SqlType::Timestamp | SqlType::Timestamptz => FIRST_DAY * DAY_US,
        _ => 0,
    });
    let step_name = option("step");
    let step = match sql_type {
        SqlType::Timestamp | SqlType::Timestamptz => time_step(&step_name, reader)?,
        SqlType::Date => reader.parsed::<i64>(&[&step_name], "a number of days")?.map(i128::from),
        _ => unit_option(sql_type, &step_name, reader)?,
    };
    let step = step.unwrap_or(match sql_type {
        SqlType::Timestamp | SqlType::Timestamptz => 1_000_000,
        SqlType::Numeric(_) => 10_i128.saturating_pow(scale(sql_type)),
        _ => 1,
    });
    if step == 0 {
        return Err(invalid(&step_name, "0", "something else"));
    }
    Ok(Values::Sequence { start, step, end })
}

/// `1s`, `5 min`, ... in microseconds.
fn time_step(name: &str, reader: &mut OptionReader<'_>) -> SqlResult<Option<i128>> {
    let Some(value) = reader.text(&[name])? else { return Ok(None) };
    let step = humantime::parse_duration(value.trim())
        .map_err(|_| invalid(name, value, "a time such as \"500ms\" or \"1 min\""))?;
    Ok(Some(i128::try_from(step.as_micros()).unwrap_or(i128::MAX)))
}

fn random(
    sql_type: &SqlType,
    option: &dyn Fn(&str) -> String,
    reader: &mut OptionReader<'_>,
) -> SqlResult<Values> {
    supported(sql_type)?;
    let (min_name, max_name) = (option("min"), option("max"));
    let ordered = |ordered: bool| {
        if ordered {
            return Ok(());
        }
        Err(SqlError::new(
            code::INVALID_PARAMETER_VALUE,
            format!("option \"{min_name}\" must not be greater than \"{max_name}\""),
        ))
    };
    match sql_type {
        SqlType::Text | SqlType::Varchar(_) => {
            let limit = match sql_type {
                SqlType::Varchar(Some(limit)) => u64::from(*limit).min(LENGTH_MAX),
                _ => LENGTH_MAX,
            };
            let (name, expected) = (option("length"), format!("a whole number from 0 to {limit}"));
            let length = reader.parsed(&[&name], &expected)?.unwrap_or(LENGTH.min(limit));
            if length > limit {
                return Err(invalid(&name, &length.to_string(), &expected));
            }
            Ok(Values::RandomText { length })
        }
        SqlType::Boolean => Ok(Values::Random { min: 0, max: 1 }),
        SqlType::Real | SqlType::Double => {
            let mut value = |name: &str| -> SqlResult<Option<f64>> {
                match reader.parsed::<f64>(&[name], "a number")? {
                    Some(number) if !number.is_finite() => {
                        Err(invalid(name, &number.to_string(), "a finite number"))
                    }
                    number => Ok(number),
                }
            };
            let min = value(&min_name)?.unwrap_or(0.0);
            let max = value(&max_name)?.unwrap_or(min.max(0.0) + NUMBER_MAX as f64);
            ordered(min <= max)?;
            Ok(Values::RandomFloat { min, max })
        }
        _ => {
            let (least, span) = default_bounds(sql_type);
            let min = unit_option(sql_type, &min_name, reader)?;
            let max = unit_option(sql_type, &max_name, reader)?;
            // One bound that is given pushes the other.
            let min = min.unwrap_or(max.map_or(least, |max| least.min(max)));
            let max = max.unwrap_or((least + span).max(min));
            ordered(min <= max)?;
            Ok(Values::Random { min, max })
        }
    }
}

/// Digits of numerics without a modifier that are drawn, and how many of them are behind the point.
const PLAIN: (u8, i8) = (38, 10);

/// The least value and how many units the greatest is above it, unless the user says otherwise.
fn default_bounds(sql_type: &SqlType) -> (i128, i128) {
    match sql_type {
        SqlType::Date => (FIRST_DAY, DAYS),
        SqlType::Timestamp | SqlType::Timestamptz => (FIRST_DAY * DAY_US, DAYS * DAY_US),
        SqlType::Numeric(modifier) => {
            let (precision, _) = modifier.unwrap_or(PLAIN);
            let largest = 10_i128.saturating_pow(u32::from(precision)) - 1;
            (0, largest.min(NUMBER_MAX.saturating_mul(10_i128.saturating_pow(scale(sql_type)))))
        }
        _ => (0, NUMBER_MAX),
    }
}

fn scale(sql_type: &SqlType) -> u32 {
    match sql_type {
        SqlType::Numeric(modifier) => {
            let (_, scale) = modifier.unwrap_or(PLAIN);
            u32::try_from(scale).unwrap_or(0)
        }
        _ => 0,
    }
}

fn supported(sql_type: &SqlType) -> SqlResult<()> {
    match sql_type {
        SqlType::Boolean
        | SqlType::SmallInt
        | SqlType::Integer
        | SqlType::BigInt
        | SqlType::Real
        | SqlType::Double
        | SqlType::Numeric(_)
        | SqlType::Text
        | SqlType::Varchar(_)
        | SqlType::Date
        | SqlType::Timestamp
        | SqlType::Timestamptz => Ok(()),
        other => Err(SqlError::unsupported(format!("type {other} in connector \"datagen\""))),
    }
}

/// An option's value in the type's units.
fn unit_option(
    sql_type: &SqlType,
    name: &str,
    reader: &mut OptionReader<'_>,
) -> SqlResult<Option<i128>> {
    let Some(value) = reader.text(&[name])? else { return Ok(None) };
    let value = value.trim();
    let instant = || string_to_datetime(&Utc, value).ok();
    let unit = match sql_type {
        SqlType::SmallInt => value.parse::<i16>().ok().map(i128::from),
        SqlType::Integer => value.parse::<i32>().ok().map(i128::from),
        SqlType::Numeric(modifier) => {
            let (precision, scale) = modifier.unwrap_or(PLAIN);
            parse_decimal::<Decimal128Type>(value, precision, scale).ok()
        }
        SqlType::Date => instant().map(|at| i128::from(at.timestamp().div_euclid(86_400))),
        SqlType::Timestamp | SqlType::Timestamptz => {
            instant().map(|at| i128::from(at.timestamp_micros()))
        }
        _ => value.parse::<i64>().ok().map(i128::from),
    };
    match unit {
        Some(unit) => Ok(Some(unit)),
        None => Err(invalid(name, value, &format!("of type {sql_type}"))),
    }
}
