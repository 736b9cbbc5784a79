//! Values on their way into a column: PostgreSQL's assignment casts, and the limits that a column's
//! type has beyond Arrow's. Text is read as another type only if it is an untyped literal.
//!
//! Where Arrow's cast and PostgreSQL's differ, PostgreSQL's is made here: a fraction is rounded,
//! not cut, a value that does not fit is an error that names the type, and text that is given for
//! another type is read as PostgreSQL reads it.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Float64Array, GenericListArray, IntervalMonthDayNanoArray, ListArray,
    StringArray, Time64MicrosecondArray, TimestampMicrosecondArray, new_empty_array,
    new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType, Field, Float32Type, Float64Type, IntervalMonthDayNano, IntervalMonthDayNanoType,
    Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use arrow::util::display::FormatOptions;

use crate::clock::WallTime;
use crate::error::{SqlError, SqlResult, code};
use crate::types::text::{TextEncoder, TextStyle};
use crate::types::{ColumnBuilder, InputStyle, SqlType, Zone};

/// What casts depend on besides the values.
#[derive(Debug, Clone)]
pub struct Assigning {
    /// How values are written as text, and the zone of timestamps without one.
    pub style: TextStyle,
    /// What `'now'` means.
    pub now: WallTime,
}

impl Assigning {
    /// `values`, of SQL type `from`, as they are stored in a column of type `to` named `column`.
    pub fn assign(
        &self,
        values: &ArrayRef,
        from: &SqlType,
        to: &SqlType,
        column: &str,
    ) -> SqlResult<ArrayRef> {
        let cast = self.cast(values, from, to).map_err(|failure| match failure {
            Failure::NoCast => {
                let (to, from) = (bare(to), bare(from));
                let message = format!(
                    "column \"{column}\" is of type {} but expression is of type {}",
                    named(&to),
                    named(&from)
                );
                SqlError::new(code::DATATYPE_MISMATCH, message)
                    .hint("You will need to rewrite or cast the expression.")
            }
            Failure::Error(error) => error,
        })?;
        fit(cast, to)
    }

    /// Whether there is an assignment at all, whatever the values.
    pub fn check(
        &self,
        field: &Field,
        from: &SqlType,
        to: &SqlType,
        column: &str,
    ) -> SqlResult<()> {
        let none = new_empty_array(field.data_type());
        self.assign(&none, from, to, column).map(|_| ())
    }

    fn cast(&self, values: &ArrayRef, from: &SqlType, to: &SqlType) -> Result<ArrayRef, Failure> {
        use SqlType::{
            BigInt, Date, Double, Integer, Numeric, Real, SmallInt, Time, Timestamp, Timestamptz,
        };
        let arrow = to.to_arrow();
        if values.data_type() == &DataType::Null {
            return Ok(new_null_array(&arrow, values.len()));
        }
        let number = |sql_type: &SqlType| {
            matches!(sql_type, SmallInt | Integer | BigInt | Real | Double | Numeric(_))
        };
        match (from, to) {
            _ if is_text(from) && is_text(to) && !has_form(to) => strict_cast(values, &arrow, to),
            (SqlType::Unknown, _) => self.parse(values, to),
            (SqlType::Array(from), SqlType::Array(to)) => self.cast_elements(values, from, to),
            // `true`, not `t`: an assignment differs from the type's output only here.
            (SqlType::Boolean, to) if is_text(to) && !has_form(to) => {
                strict_cast(values, &arrow, to)
            }
            _ if is_text(to) && !has_form(to) => self.format(values, from),
            _ if bare(from) == bare(to) => strict_cast(values, &arrow, to),
            (SqlType::Json, SqlType::Jsonb) => self.parse(values, to),
            (SqlType::Jsonb, SqlType::Json) => Ok(Arc::clone(values)),
            (Real | Double, SmallInt | Integer | BigInt) => {
                let wide = strict_cast(values, &DataType::Float64, to)?;
                let rounded: Float64Array =
                    wide.as_primitive::<Float64Type>().unary(f64::round_ties_even);
                strict_cast(&(Arc::new(rounded) as ArrayRef), &arrow, to)
            }
            (Numeric(_), SmallInt | Integer | BigInt) => {
                let whole = strict_cast(values, &DataType::Decimal128(38, 0), to)?;
                strict_cast(&whole, &arrow, to)
            }
            // Through the digits: a numeric may have more of them than a float counts exactly.
            (Numeric(None), Real | Double) | (Real | Double, Numeric(None)) => {
                self.parse(&self.format(values, from)?, to)
            }
            (from, to) if number(from) && number(to) => strict_cast(values, &arrow, to),
            (Timestamptz, Timestamp | Date | Time) => strict_cast(&self.local(values)?, &arrow, to),
            (Timestamp | Date, Timestamptz) => {
                let local = DataType::Timestamp(TimeUnit::Microsecond, None);
                let local = strict_cast(values, &local, to)?;
                let shifted = self.shift(&local, |zone, seconds| -zone.offset_of_local(seconds));
                strict_cast(&shifted, &arrow, to)
            }
            (Timestamp, Date | Time) | (Date, Timestamp) => strict_cast(values, &arrow, to),
            (Time, SqlType::Interval) => Ok(intervals_of_times(values)),
            (SqlType::Interval, Time) => Ok(times_of_intervals(values)),
            // Catalog types are only read.
            _ if from.to_arrow() == arrow && !has_form(to) => strict_cast(values, &arrow, to),
            _ => Err(Failure::NoCast),
        }
    }

    /// What a clock on the wall shows at these moments.
    fn local(&self, values: &ArrayRef) -> Result<ArrayRef, Failure> {
        let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let moments = strict_cast(values, &utc, &SqlType::Timestamptz)?;
        Ok(self.shift(&moments, Zone::offset_at))
    }

    /// Timestamps moved by as many seconds as `offset` says of each, without a zone.
    fn shift(&self, values: &ArrayRef, offset: impl Fn(Zone, i64) -> i32) -> ArrayRef {
        let zone = self.style.zone;
        let shifted: TimestampMicrosecondArray =
            values.as_primitive::<TimestampMicrosecondType>().unary_opt(|micros| {
                let seconds = offset(zone, micros.div_euclid(1_000_000));
                micros.checked_add(i64::from(seconds) * 1_000_000)
            });
        Arc::new(shifted)
    }

    /// Text, read as `to` is written.
    fn parse(&self, values: &ArrayRef, to: &SqlType) -> Result<ArrayRef, Failure> {
        let texts = strict_cast(values, &DataType::Utf8, to)?;
        let style = InputStyle { zone: self.style.zone, now_micros: self.now.0 };
        let mut column = ColumnBuilder::new(to, &style)?;
        for text in texts.as_string::<i32>() {
            match text {
                Some(text) => column.append_text(text)?,
                None => column.append_null(),
            }
        }
        Ok(column.finish())
    }

    /// Values as they are written.
    fn format(&self, values: &ArrayRef, from: &SqlType) -> Result<ArrayRef, Failure> {
        let texts: StringArray = (0..values.len())
            .map(|row| text_of(from, values, row, &self.style))
            .collect::<SqlResult<Vec<Option<String>>>>()?
            .into();
        Ok(Arc::new(texts))
    }

    fn cast_elements(
        &self,
        values: &ArrayRef,
        from: &SqlType,
        to: &SqlType,
    ) -> Result<ArrayRef, Failure> {
        let item = Arc::new(to.field("item", true));
        let list_type = DataType::List(Arc::clone(values_item(values).ok_or(Failure::NoCast)?));
        let list = strict_cast(values, &list_type, to)?;
        let list: &ListArray = list.as_list();
        let elements = self.cast(list.values(), from, to)?;
        let (_, offsets, _, nulls) = list.clone().into_parts();
        let list = GenericListArray::try_new(item, offsets, fit(elements, to)?, nulls)
            .map_err(SqlError::from)?;
        Ok(Arc::new(list))
    }
}

/// A time of day as so much time.
pub(super) fn intervals_of_times(times: &ArrayRef) -> ArrayRef {
    let intervals: IntervalMonthDayNanoArray = times
        .as_primitive::<Time64MicrosecondType>()
        .unary(|micros| IntervalMonthDayNano::new(0, 0, micros * 1000));
    Arc::new(intervals)
}

/// The part of an interval below a day, as a time of day.
pub(super) fn times_of_intervals(intervals: &ArrayRef) -> ArrayRef {
    let times: Time64MicrosecondArray = intervals
        .as_primitive::<IntervalMonthDayNanoType>()
        .unary(|interval| (interval.nanoseconds / 1000).rem_euclid(86_400_000_000));
    Arc::new(times)
}

fn values_item(values: &ArrayRef) -> Option<&Arc<Field>> {
    match values.data_type() {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            Some(item)
        }
        _ => None,
    }
}

/// Why a value does not become another type's.
enum Failure {
    /// There is no such cast, whatever the value.
    NoCast,
    Error(SqlError),
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Self {
        Failure::Error(error)
    }
}

/// A type without modifier, as messages name it.
fn named(sql_type: &SqlType) -> String {
    match sql_type {
        SqlType::Char(_) => "character".to_owned(),
        other => other.to_string(),
    }
}

/// The type without its modifier.
fn bare(sql_type: &SqlType) -> SqlType {
    match sql_type {
        SqlType::Numeric(_) => SqlType::Numeric(None),
        SqlType::Varchar(_) => SqlType::Varchar(None),
        SqlType::Char(_) => SqlType::Char(1),
        SqlType::Array(element) => SqlType::Array(Box::new(bare(element))),
        other => other.clone(),
    }
}

fn is_text(sql_type: &SqlType) -> bool {
    matches!(
        sql_type,
        SqlType::Text
            | SqlType::Varchar(_)
            | SqlType::Char(_)
            | SqlType::Name
            | SqlType::Unknown
            | SqlType::InternalChar
    )
}

/// Whether values lie as text, but not every text is one.
fn has_form(sql_type: &SqlType) -> bool {
    matches!(sql_type, SqlType::Uuid | SqlType::Json | SqlType::Jsonb)
}

/// Arrow's cast, where a value that does not fit is an error.
fn strict_cast(values: &ArrayRef, arrow: &DataType, to: &SqlType) -> Result<ArrayRef, Failure> {
    if values.data_type() == arrow {
        return Ok(Arc::clone(values));
    }
    let options = CastOptions { safe: false, format_options: FormatOptions::default() };
    let cast =
        cast_with_options(values, arrow, &options).map_err(|_| Failure::Error(out_of_range(to)))?;
    let lost = arrow == &DataType::Float32
        && values.data_type() == &DataType::Float64
        && cast.as_primitive::<Float32Type>().iter().zip(values.as_primitive::<Float64Type>()).any(
            |(narrow, wide)| {
                narrow.is_some_and(f32::is_infinite) && wide.is_some_and(f64::is_finite)
            },
        );
    if lost { Err(Failure::Error(out_of_range(to))) } else { Ok(cast) }
}

fn out_of_range(to: &SqlType) -> SqlError {
    let error = |message: String| SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message);
    match to {
        SqlType::Numeric(modifier) => {
            let (precision, scale) = modifier.unwrap_or(crate::types::sqltype::NUMERIC);
            error("numeric field overflow".to_owned()).detail(format!(
                "A field with precision {precision}, scale {scale} must round to an absolute \
                 value less than 10^{}.",
                i16::from(precision) - i16::from(scale)
            ))
        }
        SqlType::Timestamp | SqlType::Timestamptz | SqlType::Date | SqlType::Time => {
            SqlError::new(code::DATETIME_FIELD_OVERFLOW, format!("{to} out of range"))
        }
        SqlType::Real | SqlType::Double => error("value out of range: overflow".to_owned()),
        other => error(format!("{other} out of range")),
    }
}

/// A value as PostgreSQL writes it; none for NULL.
pub fn text_of(
    sql_type: &SqlType,
    values: &ArrayRef,
    row: usize,
    style: &TextStyle,
) -> SqlResult<Option<String>> {
    if values.is_null(row) {
        return Ok(None);
    }
    let encoder = TextEncoder::of_type(sql_type, &values.slice(row, 1), style)?;
    let mut text = Vec::new();
    encoder.write(0, &mut text);
    String::from_utf8(text).map(Some).map_err(|_| SqlError::internal("a value's text is not UTF-8"))
}

/// The values within the modifier of the column's type.
fn fit(values: ArrayRef, to: &SqlType) -> SqlResult<ArrayRef> {
    match to {
        SqlType::Varchar(Some(length)) => fit_length(values, *length, to, false),
        SqlType::Char(length) => fit_length(values, *length, to, true),
        _ => Ok(values),
    }
}

/// No text longer than `length` characters; only spaces may be cut off. `blanks_go`: those at the
/// end are not kept.
fn fit_length(values: ArrayRef, length: u32, to: &SqlType, blanks_go: bool) -> SqlResult<ArrayRef> {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let texts: &StringArray = values.as_string();
    let fits = |text: &str| {
        // Bytes are at least characters: most texts need no count.
        (text.len() <= length || text.chars().count() <= length)
            && !(blanks_go && text.ends_with(' '))
    };
    if texts.iter().flatten().all(fits) {
        return Ok(values);
    }
    let fitted: StringArray = texts
        .iter()
        .map(|text| text.map(|text| fitted(text, length, to, blanks_go)).transpose())
        .collect::<SqlResult<Vec<Option<String>>>>()?
        .into();
    Ok(Arc::new(fitted))
}

fn fitted(text: &str, length: usize, to: &SqlType, blanks_go: bool) -> SqlResult<String> {
    let mut fitted = String::with_capacity(text.len());
    for (index, character) in text.chars().enumerate() {
        if index < length {
            fitted.push(character);
        } else if character != ' ' {
            return Err(SqlError::new(
                code::STRING_DATA_RIGHT_TRUNCATION,
                format!("value too long for type {to}"),
            ));
        }
    }
    if blanks_go {
        fitted.truncate(fitted.trim_end_matches(' ').len());
    }
    Ok(fitted)
}
