//! `generate_series` and `generate_subscripts`, as arrays.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, Int32Builder, ListArray, PrimitiveArray,
    PrimitiveBuilder,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, Decimal256Type, Field, FieldRef, Int32Type, Int64Type, IntervalMonthDayNano,
    IntervalMonthDayNanoType, IntervalUnit, TimeUnit, TimestampMicrosecondType, i256,
};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

use super::super::SessionStyle;
use super::library::{moved, no_such};
use crate::error::{SqlError, SqlResult, code};
use crate::types::{SqlType, Zone};

/// Elements that the series of one batch of rows may have.
const ELEMENTS_MAX: usize = 10_000_000;

pub(super) fn all() -> Vec<ScalarUDF> {
    let signature = || Signature::user_defined(Volatility::Immutable);
    vec![
        ScalarUDF::from(Series { signature: signature() }),
        ScalarUDF::from(Subscripts { signature: signature() }),
    ]
}

fn too_long() -> SqlError {
    let message = format!("a series has more than {ELEMENTS_MAX} elements");
    SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message)
}

/// `generate_series(first, last [, step])`: integers, bigints, numerics or timestamps.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Series {
    signature: Signature,
}

impl ScalarUDFImpl for Series {
    fn name(&self) -> &'static str {
        "generate_series"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        if !matches!(given.len(), 2 | 3) {
            return Err(no_such(self.name(), given).into());
        }
        let ends = &given[..2];
        let zoned =
            |kind: &DataType| matches!(kind, DataType::Date32 | DataType::Timestamp(_, Some(_)));
        let timed = |kind: &DataType| zoned(kind) || matches!(kind, DataType::Timestamp(_, None));
        let kind = if ends.iter().any(timed) {
            if given.len() == 2 {
                return Err(no_such(self.name(), given).into());
            }
            let sql_type = match ends.iter().any(zoned) {
                true => SqlType::Timestamptz,
                false => SqlType::Timestamp,
            };
            let interval = DataType::Interval(IntervalUnit::MonthDayNano);
            return Ok(vec![sql_type.to_arrow(), sql_type.to_arrow(), interval]);
        } else if given.iter().any(DataType::is_decimal) {
            SqlType::Numeric(None).to_arrow()
        } else if given.contains(&DataType::Int64) {
            DataType::Int64
        } else {
            DataType::Int32
        };
        let fits = |given: &DataType| {
            given.is_integer() || given.is_decimal() || given.is_null() || *given == DataType::Utf8
        };
        if !given.iter().all(fits) {
            return Err(no_such(self.name(), given).into());
        }
        Ok(vec![kind; given.len()])
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new("item", given[0].clone(), true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = arrays_of(&args)?;
        let style = SessionStyle::of(&args.config_options);
        let list = match arrays[0].data_type() {
            DataType::Int32 => {
                let wide = arrays.iter().map(|array| cast(array, &DataType::Int64));
                let wide = wide.collect::<std::result::Result<Vec<_>, _>>()?;
                let list = numbers::<Int64Type>(&wide, 1, i64::checked_add)?;
                cast(&list, args.return_type())?
            }
            DataType::Int64 => Arc::new(numbers::<Int64Type>(&arrays, 1, i64::checked_add)?),
            DataType::Decimal256(_, scale) => {
                let one = i256::from_i128(10).wrapping_pow(u32::from(scale.unsigned_abs()));
                Arc::new(numbers::<Decimal256Type>(&arrays, one, i256::checked_add)?)
            }
            DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                let zone = if zone.is_some() { style.text.zone } else { Zone::default() };
                Arc::new(moments(&arrays, zone)?)
            }
            other => return Err(no_such(self.name(), std::slice::from_ref(other)).into()),
        };
        given_as(&args, list)
    }
}

fn arrays_of(args: &ScalarFunctionArgs) -> Result<Vec<ArrayRef>> {
    let scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
    let rows = if scalar { 1 } else { args.number_rows };
    args.args.iter().map(|arg| arg.to_array(rows)).collect()
}

fn given_as(args: &ScalarFunctionArgs, list: ArrayRef) -> Result<ColumnarValue> {
    let list = if list.data_type() == args.return_type() {
        list
    } else {
        cast(&list, args.return_type())?
    };
    let scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
    Ok(match scalar {
        true => ColumnarValue::Scalar(ScalarValue::try_from_array(&list, 0)?),
        false => ColumnarValue::Array(list),
    })
}

/// Lists of the elements that `fill` appends for each row whose arguments are not NULL.
fn lists<T: ArrowPrimitiveType>(
    arrays: &[ArrayRef],
    mut fill: impl FnMut(usize, &mut PrimitiveBuilder<T>) -> SqlResult<()>,
) -> SqlResult<ListArray> {
    let rows = arrays[0].len();
    let mut elements = PrimitiveBuilder::<T>::new().with_data_type(arrays[0].data_type().clone());
    let mut lengths = Vec::with_capacity(rows);
    let mut valid = Vec::with_capacity(rows);
    for row in 0..rows {
        let before = arrow::array::ArrayBuilder::len(&elements);
        let is_valid = arrays.iter().all(|array| array.is_valid(row));
        if is_valid {
            fill(row, &mut elements)?;
        }
        valid.push(is_valid);
        lengths.push(arrow::array::ArrayBuilder::len(&elements) - before);
    }
    let field = Arc::new(Field::new("item", arrays[0].data_type().clone(), true));
    let offsets = OffsetBuffer::from_lengths(lengths);
    let nulls = Some(NullBuffer::from(valid));
    Ok(ListArray::try_new(field, offsets, Arc::new(elements.finish()), nulls)?)
}

fn push<T: ArrowPrimitiveType>(
    elements: &mut PrimitiveBuilder<T>,
    value: T::Native,
) -> SqlResult<()> {
    if arrow::array::ArrayBuilder::len(elements) >= ELEMENTS_MAX {
        return Err(too_long());
    }
    elements.append_value(value);
    Ok(())
}

fn zero_step() -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, "step size cannot equal zero")
}

fn numbers<T: ArrowPrimitiveType>(
    arrays: &[ArrayRef],
    one: T::Native,
    add: fn(T::Native, T::Native) -> Option<T::Native>,
) -> SqlResult<ListArray>
where
    T::Native: Ord + Default,
{
    let column = |index: usize| -> &PrimitiveArray<T> { arrays[index].as_primitive::<T>() };
    let (first, last) = (column(0), column(1));
    let steps = (arrays.len() > 2).then(|| column(2));
    lists::<T>(arrays, |row, elements| {
        let step = steps.map_or(one, |steps| steps.value(row));
        let zero = T::Native::default();
        if step == zero {
            return Err(zero_step());
        }
        let (mut value, last) = (first.value(row), last.value(row));
        while if step > zero { value <= last } else { value >= last } {
            push(elements, value)?;
            match add(value, step) {
                Some(next) => value = next,
                // Past what the type holds, and so past the end.
                None => break,
            }
        }
        Ok(())
    })
}

fn moments(arrays: &[ArrayRef], zone: Zone) -> SqlResult<ListArray> {
    let (first, last) = (
        arrays[0].as_primitive::<TimestampMicrosecondType>(),
        arrays[1].as_primitive::<TimestampMicrosecondType>(),
    );
    let steps = arrays[2].as_primitive::<IntervalMonthDayNanoType>();
    lists::<TimestampMicrosecondType>(arrays, |row, elements| {
        let step = steps.value(row);
        let forward = direction(step).ok_or_else(zero_step)?;
        let (mut value, last) = (first.value(row), last.value(row));
        while if forward { value <= last } else { value >= last } {
            push(elements, value)?;
            value = moved(value, zone, step.months, step.days, step.nanoseconds / 1000)?;
        }
        Ok(())
    })
}

/// Whether an interval goes forward, as PostgreSQL compares it with nothing; `None`: nowhere.
fn direction(step: IntervalMonthDayNano) -> Option<bool> {
    const DAY_NANOS: i128 = 86_400_000_000_000;
    let days = i128::from(step.months) * 30 + i128::from(step.days);
    match days * DAY_NANOS + i128::from(step.nanoseconds) {
        0 => None,
        length => Some(length > 0),
    }
}

/// `generate_subscripts(array, dimension [, reverse])`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Subscripts {
    signature: Signature,
}

impl ScalarUDFImpl for Subscripts {
    fn name(&self) -> &'static str {
        "generate_subscripts"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [array, dimension] if array.is_list() && dimension.is_integer() => {
                Ok(vec![array.clone(), DataType::Int32])
            }
            [array, dimension, DataType::Boolean] if array.is_list() && dimension.is_integer() => {
                Ok(vec![array.clone(), DataType::Int32, DataType::Boolean])
            }
            _ => Err(no_such(self.name(), given).into()),
        }
    }

    fn return_type(&self, _given: &[DataType]) -> Result<DataType> {
        Ok(SqlType::Array(Box::new(SqlType::Integer)).to_arrow())
    }

    fn return_field_from_args(&self, _args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(SqlType::Array(Box::new(SqlType::Integer)).field(self.name(), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = arrays_of(&args)?;
        let array = arrays[0].as_list::<i32>();
        let dimensions = arrays[1].as_primitive::<Int32Type>();
        let reversed = arrays.get(2).map(AsArray::as_boolean);
        let mut subscripts = arrow::array::ListBuilder::new(Int32Builder::new());
        for row in 0..array.len() {
            let length = match array.is_valid(row) && dimensions.is_valid(row) {
                true => length(&array.value(row), dimensions.value(row)),
                false => 0,
            };
            let backward = reversed.is_some_and(|flags| flags.is_valid(row) && flags.value(row));
            let number = |place| if backward { length + 1 - place } else { place };
            (1..=length).for_each(|place| subscripts.values().append_value(number(place)));
            subscripts.append(true);
        }
        given_as(&args, Arc::new(subscripts.finish()))
    }
}

/// The length of an array in a dimension; of one that it lacks, nothing.
fn length(array: &ArrayRef, dimension: i32) -> i32 {
    match (dimension, array.as_list_opt::<i32>()) {
        (1, _) => i32::try_from(array.len()).unwrap_or(i32::MAX),
        (2.., Some(inner)) if !inner.is_empty() => length(&inner.value(0), dimension - 1),
        _ => 0,
    }
}
