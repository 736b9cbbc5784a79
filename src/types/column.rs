//! A column of any Arrow type, laid out as its SQL type says: what the encoders read.
//!
//! DataFusion gives results in more forms than PostgreSQL has types (views, dictionaries, large
//! and unsigned types, other time units). They are brought to the one layout of
//! [`SqlType::to_arrow`] here, once for a whole column, so that an encoder looks at each value
//! knowing what it is.

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Decimal128Array,
    Decimal256Array, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array,
    IntervalMonthDayNanoArray, ListArray, StringArray, StructArray, Time64MicrosecondArray,
    TimestampMicrosecondArray,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int16Type,
    Int32Type, Int64Type, IntervalMonthDayNanoType, Time64MicrosecondType,
    TimestampMicrosecondType,
};
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::SqlType;
use crate::error::{SqlError, SqlResult};

/// A column laid out as its SQL type says.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) sql_type: SqlType,
    pub(crate) values: Values,
}

/// The values, downcast.
#[derive(Debug, Clone)]
pub(crate) enum Values {
    /// Nothing but NULLs.
    Null,
    Boolean(BooleanArray),
    Int16(Int16Array),
    Int32(Int32Array),
    Int64(Int64Array),
    Float32(Float32Array),
    Float64(Float64Array),
    Decimal(Decimal128Array),
    /// Sums of large decimals.
    BigDecimal(Decimal256Array),
    Text(StringArray),
    Bytes(BinaryArray),
    Date(Date32Array),
    Time(Time64MicrosecondArray),
    /// With and without time zone: the SQL type tells.
    Timestamp(TimestampMicrosecondArray),
    Interval(IntervalMonthDayNanoArray),
    /// The elements of all rows; inner lists are further dimensions.
    List(ListArray, Box<Column>),
    Record(StructArray, Vec<Column>),
}

impl Column {
    /// Brings `array` to the layout of `sql_type`. An error means that they do not fit.
    pub(crate) fn new(sql_type: &SqlType, array: &ArrayRef) -> SqlResult<Column> {
        let sql_type = sql_type.clone();
        if *array.data_type() == DataType::Null {
            return Ok(Column { sql_type, values: Values::Null });
        }
        let array = lay_out(&sql_type, array)?;
        let values = match array.data_type() {
            DataType::Boolean => Values::Boolean(array.as_boolean().clone()),
            DataType::Int16 => Values::Int16(array.as_primitive::<Int16Type>().clone()),
            DataType::Int32 => Values::Int32(array.as_primitive::<Int32Type>().clone()),
            DataType::Int64 => Values::Int64(array.as_primitive::<Int64Type>().clone()),
            DataType::Float32 => Values::Float32(array.as_primitive::<Float32Type>().clone()),
            DataType::Float64 => Values::Float64(array.as_primitive::<Float64Type>().clone()),
            DataType::Decimal128(..) => {
                Values::Decimal(array.as_primitive::<Decimal128Type>().clone())
            }
            DataType::Decimal256(..) => {
                Values::BigDecimal(array.as_primitive::<Decimal256Type>().clone())
            }
            DataType::Utf8 => Values::Text(array.as_string::<i32>().clone()),
            DataType::Binary => Values::Bytes(array.as_binary::<i32>().clone()),
            DataType::Date32 => Values::Date(array.as_primitive::<Date32Type>().clone()),
            DataType::Time64(_) => {
                Values::Time(array.as_primitive::<Time64MicrosecondType>().clone())
            }
            DataType::Timestamp(..) => {
                Values::Timestamp(array.as_primitive::<TimestampMicrosecondType>().clone())
            }
            DataType::Interval(_) => {
                Values::Interval(array.as_primitive::<IntervalMonthDayNanoType>().clone())
            }
            DataType::List(_) => list(&sql_type, array.as_list::<i32>())?,
            DataType::Struct(_) => record(array.as_struct())?,
            other => {
                return Err(SqlError::internal(format!("no layout of {other} for {sql_type}")));
            }
        };
        Ok(Column { sql_type, values })
    }

    /// Whether the value of a row is NULL.
    pub(crate) fn is_null(&self, row: usize) -> bool {
        match &self.values {
            Values::Null => true,
            Values::Boolean(array) => array.is_null(row),
            Values::Int16(array) => array.is_null(row),
            Values::Int32(array) => array.is_null(row),
            Values::Int64(array) => array.is_null(row),
            Values::Float32(array) => array.is_null(row),
            Values::Float64(array) => array.is_null(row),
            Values::Decimal(array) => array.is_null(row),
            Values::BigDecimal(array) => array.is_null(row),
            Values::Text(array) => array.is_null(row),
            Values::Bytes(array) => array.is_null(row),
            Values::Date(array) => array.is_null(row),
            Values::Time(array) => array.is_null(row),
            Values::Timestamp(array) => array.is_null(row),
            Values::Interval(array) => array.is_null(row),
            Values::List(array, _) => array.is_null(row),
            Values::Record(array, _) => array.is_null(row),
        }
    }
}

fn list(sql_type: &SqlType, array: &ListArray) -> SqlResult<Values> {
    let element = match (sql_type, array.values().data_type()) {
        (array_type, inner) if inner.is_list() => array_type,
        (SqlType::Array(element), _) => element,
        (other, _) => return Err(SqlError::internal(format!("a list for a column of {other}"))),
    };
    Ok(Values::List(array.clone(), Box::new(Column::new(element, array.values())?)))
}

fn record(array: &StructArray) -> SqlResult<Values> {
    let fields = array.fields().iter().enumerate();
    let columns = fields
        .map(|(index, field)| Column::new(&SqlType::of_field(field), array.column(index)))
        .collect::<SqlResult<_>>()?;
    Ok(Values::Record(array.clone(), columns))
}

/// `array` as [`SqlType::to_arrow`] has it; decimals, lists and records keep their own modifiers
/// and elements.
fn lay_out(sql_type: &SqlType, array: &ArrayRef) -> SqlResult<ArrayRef> {
    let target = match (sql_type, array.data_type()) {
        (SqlType::Numeric(_), own @ (DataType::Decimal128(..) | DataType::Decimal256(..))) => {
            own.clone()
        }
        (SqlType::Numeric(_), DataType::Decimal32(precision, scale))
        | (SqlType::Numeric(_), DataType::Decimal64(precision, scale)) => {
            DataType::Decimal128(*precision, *scale)
        }
        (
            SqlType::Array(_),
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::FixedSizeList(item, _)
            | DataType::ListView(item)
            | DataType::LargeListView(item),
        ) => DataType::List(std::sync::Arc::clone(item)),
        (SqlType::Record, own @ DataType::Struct(_)) => own.clone(),
        (
            SqlType::Text,
            DataType::Map(..)
            | DataType::Union(..)
            | DataType::RunEndEncoded(..)
            | DataType::ListView(_)
            | DataType::LargeListView(_),
        ) => return displayed(array),
        (scalar, _) => scalar.to_arrow(),
    };
    if target == *array.data_type() {
        return Ok(std::sync::Arc::clone(array));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(array, &target, &options)?)
}

/// What PostgreSQL has no type for, as Arrow writes it.
fn displayed(array: &ArrayRef) -> SqlResult<ArrayRef> {
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(array.as_ref(), &options)?;
    let texts =
        (0..array.len()).map(|row| array.is_valid(row).then(|| formatter.value(row).to_string()));
    Ok(std::sync::Arc::new(texts.collect::<StringArray>()))
}
