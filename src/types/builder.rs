//! Columns built from values that came as text (or as PostgreSQL's binary): parameters, literals,
//! COPY, files.

use std::mem;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryBuilder, BooleanArray, BooleanBuilder, Date32Builder, Decimal128Builder,
    Decimal256Builder, Float32Builder, Float64Builder, Int16Builder, Int32Builder, Int64Builder,
    IntervalMonthDayNanoBuilder, ListArray, RecordBatch, RecordBatchOptions, StringBuilder,
    Time64MicrosecondBuilder, TimestampMicrosecondBuilder,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::compute::filter;
use arrow::datatypes::{DataType, IntervalMonthDayNano, SchemaRef};

use super::SqlType;
use super::key::{canonical_f32, canonical_f64};
use super::parse::{self, InputStyle, Interval};
use crate::error::{SqlError, SqlResult, code};

/// Digits of a numeric with a modifier, at the most.
const DIGITS_MAX: u8 = 38;

/// Builds one column of a SQL type, value by value.
///
/// A value that cannot be read leaves the column as if it had not been tried, except that an
/// array's elements may have been taken in; [`ColumnBuilder::append_null`] makes up for it, or the
/// builder is dropped.
#[derive(Debug)]
pub struct ColumnBuilder {
    pub(super) sql_type: SqlType,
    style: InputStyle,
    /// What is too long for varchar(n) or char(n) is cut instead of refused.
    cuts: bool,
    pub(super) values: Builder,
}

/// The values so far, by layout.
#[derive(Debug)]
pub(super) enum Builder {
    Boolean(BooleanBuilder),
    Int16(Int16Builder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float32(Float32Builder),
    Float64(Float64Builder),
    /// With precision and scale.
    Decimal(Decimal128Builder, u8, i8),
    /// Without a modifier.
    Numeric(Decimal256Builder),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Date(Date32Builder),
    Time(Time64MicrosecondBuilder),
    Timestamp(TimestampMicrosecondBuilder),
    Interval(IntervalMonthDayNanoBuilder),
    List(Lists),
}

/// Lists so far: where each begins among the items.
#[derive(Debug)]
pub(super) struct Lists {
    pub(super) items: Box<ColumnBuilder>,
    offsets: Vec<i32>,
    valid: Vec<bool>,
}

impl Lists {
    /// Ends a list with the items that came since the last one.
    pub(super) fn close(&mut self, is_valid: bool) -> SqlResult<()> {
        let offset = i32::try_from(self.items.len());
        self.offsets.push(offset.map_err(|_| SqlError::internal("array column too long"))?);
        self.valid.push(is_valid);
        Ok(())
    }
}

impl ColumnBuilder {
    /// A builder for a column of `sql_type`.
    pub fn new(sql_type: &SqlType, style: &InputStyle) -> SqlResult<Self> {
        let values = match sql_type.to_arrow() {
            DataType::Boolean => Builder::Boolean(BooleanBuilder::new()),
            DataType::Int16 => Builder::Int16(Int16Builder::new()),
            DataType::Int32 => Builder::Int32(Int32Builder::new()),
            DataType::Int64 => Builder::Int64(Int64Builder::new()),
            DataType::Float32 => Builder::Float32(Float32Builder::new()),
            DataType::Float64 => Builder::Float64(Float64Builder::new()),
            own @ DataType::Decimal128(precision, scale) => {
                // Says now what the first array would say.
                let builder = Decimal128Builder::new().with_precision_and_scale(precision, scale);
                let builder = builder.map_err(|_| {
                    SqlError::unsupported(format!("{sql_type} (at most {DIGITS_MAX} digits)"))
                })?;
                Builder::Decimal(builder.with_data_type(own), precision, scale)
            }
            own @ DataType::Decimal256(..) => {
                Builder::Numeric(Decimal256Builder::new().with_data_type(own))
            }
            DataType::Utf8 => Builder::Text(StringBuilder::new()),
            DataType::Binary => Builder::Bytes(BinaryBuilder::new()),
            DataType::Date32 => Builder::Date(Date32Builder::new()),
            DataType::Time64(_) => Builder::Time(Time64MicrosecondBuilder::new()),
            own @ DataType::Timestamp(..) => {
                Builder::Timestamp(TimestampMicrosecondBuilder::new().with_data_type(own))
            }
            DataType::Interval(_) => Builder::Interval(IntervalMonthDayNanoBuilder::new()),
            DataType::List(_) => {
                let SqlType::Array(element) = sql_type else {
                    return Err(SqlError::internal(format!("{sql_type} lies in a list")));
                };
                let items = Box::new(ColumnBuilder::new(element, style)?);
                Builder::List(Lists { items, offsets: vec![0], valid: Vec::new() })
            }
            other => {
                return Err(SqlError::internal(format!("no builder of {other} for {sql_type}")));
            }
        };
        Ok(Self { sql_type: sql_type.clone(), style: *style, cuts: false, values })
    }

    /// The same builder for an explicit cast, which cuts what is too long for `varchar(n)` or
    /// `char(n)`. Input and assignment refuse it.
    pub fn cutting(mut self) -> Self {
        self.cuts = true;
        if let Builder::List(lists) = self.values {
            let Lists { items, offsets, valid } = lists;
            self.values = Builder::List(Lists { items: Box::new(items.cutting()), offsets, valid });
        }
        self
    }

    /// Values so far.
    pub fn len(&self) -> usize {
        use arrow::array::ArrayBuilder;
        match &self.values {
            Builder::Boolean(builder) => builder.len(),
            Builder::Int16(builder) => builder.len(),
            Builder::Int32(builder) => builder.len(),
            Builder::Int64(builder) => builder.len(),
            Builder::Float32(builder) => builder.len(),
            Builder::Float64(builder) => builder.len(),
            Builder::Decimal(builder, ..) => builder.len(),
            Builder::Numeric(builder) => builder.len(),
            Builder::Text(builder) => builder.len(),
            Builder::Bytes(builder) => builder.len(),
            Builder::Date(builder) => builder.len(),
            Builder::Time(builder) => builder.len(),
            Builder::Timestamp(builder) => builder.len(),
            Builder::Interval(builder) => builder.len(),
            Builder::List(lists) => lists.valid.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a NULL.
    pub fn append_null(&mut self) {
        match &mut self.values {
            Builder::Boolean(builder) => builder.append_null(),
            Builder::Int16(builder) => builder.append_null(),
            Builder::Int32(builder) => builder.append_null(),
            Builder::Int64(builder) => builder.append_null(),
            Builder::Float32(builder) => builder.append_null(),
            Builder::Float64(builder) => builder.append_null(),
            Builder::Decimal(builder, ..) => builder.append_null(),
            Builder::Numeric(builder) => builder.append_null(),
            Builder::Text(builder) => builder.append_null(),
            Builder::Bytes(builder) => builder.append_null(),
            Builder::Date(builder) => builder.append_null(),
            Builder::Time(builder) => builder.append_null(),
            Builder::Timestamp(builder) => builder.append_null(),
            Builder::Interval(builder) => builder.append_null(),
            Builder::List(lists) => {
                // Items of a list that failed half-way belong to this NULL, and so to nobody.
                lists.offsets.push(i32::try_from(lists.items.len()).unwrap_or(i32::MAX));
                lists.valid.push(false);
            }
        }
    }

    /// Adds a value in PostgreSQL's text format.
    pub fn append_text(&mut self, text: &str) -> SqlResult<()> {
        let style = &self.style;
        match &mut self.values {
            Builder::Boolean(builder) => builder.append_value(parse::boolean(text)?),
            Builder::Int16(builder) => builder.append_value(parse::integer(text, "smallint")?),
            Builder::Int32(builder) => builder.append_value(parse::integer(text, "integer")?),
            Builder::Int64(builder) => builder.append_value(match self.sql_type {
                SqlType::BigInt => parse::integer(text, "bigint")?,
                _ => parse::oid(text)?,
            }),
            Builder::Float32(builder) => {
                builder.append_value(canonical_f32(parse::float(text, "real")?));
            }
            Builder::Float64(builder) => {
                builder.append_value(canonical_f64(parse::float(text, "double precision")?));
            }
            Builder::Decimal(builder, precision, scale) => {
                let value = parse::decimal(text, *precision, *scale)?;
                builder.append_value(value);
            }
            Builder::Numeric(builder) => builder.append_value(parse::numeric(text)?),
            Builder::Text(builder) => match self.sql_type {
                SqlType::Varchar(Some(length)) | SqlType::Char(length)
                    if self.cuts && length > 0 =>
                {
                    append_string(builder, &self.sql_type, parse::first_characters(text, length))?;
                }
                _ => append_string(builder, &self.sql_type, text)?,
            },
            Builder::Bytes(builder) => builder.append_value(parse::bytea(text)?),
            Builder::Date(builder) => builder.append_value(parse::date(text, style)?),
            Builder::Time(builder) => builder.append_value(parse::time(text, style)?),
            Builder::Timestamp(builder) => builder.append_value(match self.sql_type {
                SqlType::Timestamptz => parse::timestamptz(text, style)?,
                _ => parse::timestamp(text, style)?,
            }),
            Builder::Interval(builder) => append_interval(builder, parse::interval(text)?),
            Builder::List(lists) => {
                for element in parse::elements(text)? {
                    match element {
                        Some(element) => lists.items.append_text(&element)?,
                        None => lists.items.append_null(),
                    }
                }
                lists.close(true)?;
            }
        }
        Ok(())
    }

    /// Adds a value in text as bytes, which must be UTF-8.
    pub fn append_text_bytes(&mut self, text: &[u8]) -> SqlResult<()> {
        self.append_text(utf8(text)?)
    }

    /// The column, and an empty builder for the next.
    pub fn finish(&mut self) -> ArrayRef {
        match &mut self.values {
            Builder::Boolean(builder) => Arc::new(builder.finish()),
            Builder::Int16(builder) => Arc::new(builder.finish()),
            Builder::Int32(builder) => Arc::new(builder.finish()),
            Builder::Int64(builder) => Arc::new(builder.finish()),
            Builder::Float32(builder) => Arc::new(builder.finish()),
            Builder::Float64(builder) => Arc::new(builder.finish()),
            Builder::Decimal(builder, ..) => Arc::new(builder.finish()),
            Builder::Numeric(builder) => Arc::new(builder.finish()),
            Builder::Text(builder) => Arc::new(builder.finish()),
            Builder::Bytes(builder) => Arc::new(builder.finish()),
            Builder::Date(builder) => Arc::new(builder.finish()),
            Builder::Time(builder) => Arc::new(builder.finish()),
            Builder::Timestamp(builder) => Arc::new(builder.finish()),
            Builder::Interval(builder) => Arc::new(builder.finish()),
            Builder::List(lists) => {
                let offsets = mem::replace(&mut lists.offsets, vec![0]);
                let valid = mem::take(&mut lists.valid);
                let item = lists.items.sql_type.field("item", true);
                Arc::new(ListArray::new(
                    Arc::new(item),
                    OffsetBuffer::new(ScalarBuffer::from(offsets)),
                    lists.items.finish(),
                    valid.contains(&false).then(|| NullBuffer::from(valid)),
                ))
            }
        }
    }
}

/// Text that a client sent, which must be UTF-8 without NUL.
pub(super) fn utf8(bytes: &[u8]) -> SqlResult<&str> {
    let invalid = |at: usize, length: usize| {
        let end = (at + length).min(bytes.len());
        let sequence: Vec<String> =
            bytes[at..end].iter().map(|byte| format!("0x{byte:02x}")).collect();
        let sequence = sequence.join(" ");
        let message = format!("invalid byte sequence for encoding \"UTF8\": {sequence}");
        SqlError::new(code::CHARACTER_NOT_IN_REPERTOIRE, message)
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        // PostgreSQL names all the bytes that the first one announces.
        let at = error.valid_up_to();
        let announced = match bytes.get(at) {
            Some(0xc0..=0xdf) => 2,
            Some(0xe0..=0xef) => 3,
            Some(0xf0..=0xf7) => 4,
            _ => 1,
        };
        invalid(at, announced)
    })?;
    match text.bytes().position(|byte| byte == 0) {
        Some(at) => Err(invalid(at, 1)),
        None => Ok(text),
    }
}

pub(super) fn append_interval(builder: &mut IntervalMonthDayNanoBuilder, interval: Interval) {
    let Interval { months, days, micros } = interval;
    builder.append_value(IntervalMonthDayNano::new(months, days, micros * 1000));
}

/// Adds a string of one of the types that lie in Utf8.
pub(super) fn append_string(
    builder: &mut StringBuilder,
    sql_type: &SqlType,
    text: &str,
) -> SqlResult<()> {
    match sql_type {
        SqlType::Varchar(Some(length)) => builder.append_value(parse::varchar(text, *length)?),
        SqlType::Char(0) => builder.append_value(text.trim_end_matches(' ')),
        SqlType::Char(length) => builder.append_value(parse::blank_padded(text, *length)?),
        SqlType::Name => builder.append_value(parse::name(text)),
        SqlType::InternalChar => {
            let first = text.chars().next().map_or(0, char::len_utf8);
            builder.append_value(&text[..first]);
        }
        SqlType::Uuid => builder.append_value(parse::uuid(text)?),
        SqlType::Json => {
            parse::check_json(text)?;
            builder.append_value(text);
        }
        SqlType::Jsonb => {
            let mut canonical = Vec::with_capacity(text.len() + 8);
            parse::jsonb(text, &mut canonical)?;
            builder.append_value(utf8(&canonical)?);
        }
        SqlType::Record => return Err(SqlError::unsupported("input of anonymous composite types")),
        _ => builder.append_value(text),
    }
    Ok(())
}

/// Builds batches row by row, where a row is taken whole or not at all.
#[derive(Debug)]
pub struct RowBuilder {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    kept: Vec<bool>,
    /// Rows among `kept` that are.
    rows: usize,
}

impl RowBuilder {
    /// A builder of batches with `schema`.
    pub fn new(schema: &SchemaRef, style: &InputStyle) -> SqlResult<Self> {
        let columns = schema
            .fields()
            .iter()
            .map(|field| ColumnBuilder::new(&SqlType::of_field(field), style))
            .collect::<SqlResult<_>>()?;
        Ok(Self { schema: Arc::clone(schema), columns, kept: Vec::new(), rows: 0 })
    }

    /// Rows taken since the last batch.
    pub fn len(&self) -> usize {
        self.rows
    }

    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Adds a row of which `append` adds the value of each column; with an error, no row was
    /// added. The index tells `append` which column it is at.
    pub fn append(
        &mut self,
        mut append: impl FnMut(usize, &mut ColumnBuilder) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let row = self.kept.len();
        let mut outcome = Ok(());
        for (index, column) in self.columns.iter_mut().enumerate() {
            if outcome.is_ok() {
                outcome = append(index, column);
            }
            if column.len() == row {
                column.append_null();
            }
        }
        self.kept.push(outcome.is_ok());
        self.rows += usize::from(outcome.is_ok());
        outcome
    }

    /// The rows since the last batch.
    pub fn finish(&mut self) -> SqlResult<RecordBatch> {
        let mut columns: Vec<ArrayRef> =
            self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        let kept = mem::take(&mut self.kept);
        let rows = mem::take(&mut self.rows);
        if rows < kept.len() {
            let kept = BooleanArray::from(kept);
            for column in &mut columns {
                *column = filter(column, &kept)?;
            }
        }
        for (field, column) in self.schema.fields().iter().zip(&columns) {
            if !field.is_nullable() && column.null_count() > 0 {
                let message = format!(
                    "null value in column \"{}\" violates not-null constraint",
                    field.name()
                );
                return Err(SqlError::new(code::NOT_NULL_VIOLATION, message));
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::clone(&self.schema);
        Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use arrow::datatypes::{Int32Type, Schema};

    use super::*;

    fn rows(types: &[(&str, bool)]) -> RowBuilder {
        let fields: Vec<_> = types
            .iter()
            .map(|(name, nullable)| SqlType::parse(name).expect(name).field(*name, *nullable))
            .collect();
        RowBuilder::new(&Arc::new(Schema::new(fields)), &InputStyle::default()).expect("a builder")
    }

    fn append(rows: &mut RowBuilder, values: &[Option<&str>]) -> SqlResult<()> {
        rows.append(|index, column| match values[index] {
            Some(text) => column.append_text(text),
            None => {
                column.append_null();
                Ok(())
            }
        })
    }

    #[test]
    fn a_row_is_taken_whole_or_not_at_all() {
        let mut rows = rows(&[("integer", true), ("integer[]", true), ("text", true)]);
        assert_eq!(append(&mut rows, &[Some("1"), Some("{1,2}"), Some("a")]), Ok(()));
        let half = append(&mut rows, &[Some("2"), Some("{3,4,x}"), Some("b")]);
        assert_eq!(half.map_err(|error| error.code), Err("22P02"));
        assert!(append(&mut rows, &[Some("x"), Some("{}"), Some("c")]).is_err());
        assert_eq!(append(&mut rows, &[Some("3"), Some("{5}"), None]), Ok(()));
        assert_eq!(rows.len(), 2);
        let batch = rows.finish().expect("a batch");
        assert_eq!(batch.column(0).as_primitive::<Int32Type>().values(), &[1, 3]);
        let lists = batch.column(1).as_list::<i32>();
        assert_eq!(lists.value(0).as_primitive::<Int32Type>().values(), &[1, 2]);
        assert_eq!(lists.value(1).as_primitive::<Int32Type>().values(), &[5]);
        assert!(rows.is_empty());
        assert_eq!(rows.finish().map(|batch| batch.num_rows()), Ok(0));
    }

    #[test]
    fn null_where_none_may_be_is_an_error() {
        let mut rows = rows(&[("integer", false)]);
        assert!(append(&mut rows, &[Some("x")]).is_err());
        assert_eq!(append(&mut rows, &[Some("1")]), Ok(()));
        assert_eq!(rows.finish().map(|batch| batch.num_rows()), Ok(1), "the bad row left nothing");
        assert_eq!(append(&mut rows, &[None]), Ok(()));
        assert_eq!(rows.finish().map_err(|error| error.code), Err("23502"));
    }

    #[test]
    fn only_a_cast_cuts() {
        let array = SqlType::parse("varchar(2)[]").expect("a type");
        let input = InputStyle::default();
        let mut assigned = ColumnBuilder::new(&array, &input).expect("a builder");
        let error = assigned.append_text("{abc}").map_err(|error| error.code);
        assert_eq!(error, Err("22001"));
        let mut cast = ColumnBuilder::new(&array, &input).expect("a builder").cutting();
        assert_eq!(cast.append_text("{abc,é}"), Ok(()));
        let lists = cast.finish();
        let texts = lists.as_list::<i32>().value(0);
        let texts: Vec<_> = texts.as_string::<i32>().iter().flatten().map(str::to_owned).collect();
        assert_eq!(texts, ["ab", "é"]);
    }

    #[test]
    fn numerics_beyond_38_digits_are_refused() {
        let wide = SqlType::Numeric(Some((39, 0)));
        let builder = ColumnBuilder::new(&wide, &InputStyle::default());
        assert_eq!(builder.map(|_| ()).map_err(|error| error.code), Err("0A000"));
    }
}
