//! What a function of rows sees and gives: one row's arguments, and the column of results.
//!
//! Columns are laid out once a batch (`types::column`); reading an argument is a match and an
//! index. Results go straight into the builder of the result's column.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder,
    Decimal256Builder, Float64Builder, Int32Builder, Int64Builder, IntervalMonthDayNanoBuilder,
    ListBuilder, StringBuilder, Time64MicrosecondBuilder, TimestampMicrosecondBuilder,
};
use arrow::datatypes::IntervalMonthDayNano;
use regex::Regex;

use super::super::super::SessionStyle;
use super::super::decimal::{numeric_of, significand};
use super::jsonpath::JsonPath;
use super::pattern;
use super::units::DAY;
use crate::error::{SqlError, SqlResult, code};
use crate::types::text::TextEncoder;
use crate::types::{LaidOut, SqlType, Values};

/// One argument's column.
pub(super) struct Argument {
    pub(super) column: LaidOut,
    pub(super) sql_type: SqlType,
    /// One value for all rows.
    pub(super) constant: bool,
    /// Writes the values, where a function takes any type.
    pub(super) encoder: Option<TextEncoder>,
}

/// Compiled patterns and paths of a batch: most calls have one for all rows.
#[derive(Default)]
pub(super) struct Patterns {
    regexes: RefCell<HashMap<String, Rc<Regex>>>,
    paths: RefCell<HashMap<String, Rc<JsonPath>>>,
}

/// Patterns that are kept compiled.
const PATTERNS_MAX: usize = 64;

/// The arguments of one row.
pub(super) struct Row<'a> {
    pub(super) arguments: &'a [Argument],
    pub(super) row: usize,
    pub(super) style: &'a SessionStyle,
    pub(super) patterns: &'a Patterns,
}

/// Months, days and microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in super::super) struct Span {
    pub(in super::super) months: i32,
    pub(in super::super) days: i32,
    pub(in super::super) micros: i64,
}

impl Span {
    pub(in super::super) fn of(interval: IntervalMonthDayNano) -> Self {
        let IntervalMonthDayNano { months, days, nanoseconds } = interval;
        Self { months, days, micros: nanoseconds / 1000 }
    }

    /// What it is compared by: microseconds, of months of 30 days.
    pub(in super::super) fn length(self) -> i64 {
        let days = i64::from(self.months) * 30 + i64::from(self.days);
        days.saturating_mul(DAY).saturating_add(self.micros)
    }

    pub(in super::super) fn interval(self) -> SqlResult<IntervalMonthDayNano> {
        let nanos = self
            .micros
            .checked_mul(1000)
            .ok_or_else(|| SqlError::new(code::DATETIME_FIELD_OVERFLOW, "interval out of range"))?;
        Ok(IntervalMonthDayNano::new(self.months, self.days, nanos))
    }
}

impl<'a> Row<'a> {
    pub(super) fn len(&self) -> usize {
        self.arguments.len()
    }

    fn at(&self, index: usize) -> (&'a LaidOut, usize) {
        let argument = &self.arguments[index];
        (&argument.column, if argument.constant { 0 } else { self.row })
    }

    pub(super) fn is_null(&self, index: usize) -> bool {
        let (column, row) = self.at(index);
        column.is_null(row)
    }

    pub(super) fn text(&self, index: usize) -> &'a str {
        match self.at(index) {
            (LaidOut { values: Values::Text(array), .. }, row) => array.value(row),
            _ => "",
        }
    }

    pub(super) fn bytes(&self, index: usize) -> &'a [u8] {
        match self.at(index) {
            (LaidOut { values: Values::Bytes(array), .. }, row) => array.value(row),
            _ => &[],
        }
    }

    pub(super) fn boolean(&self, index: usize) -> bool {
        match self.at(index) {
            (LaidOut { values: Values::Boolean(array), .. }, row) => array.value(row),
            _ => false,
        }
    }

    /// A whole number, a date in days, a time or timestamp in microseconds.
    pub(super) fn int(&self, index: usize) -> i64 {
        let (column, row) = self.at(index);
        match &column.values {
            Values::Int16(array) => array.value(row).into(),
            Values::Int32(array) => array.value(row).into(),
            Values::Int64(array) => array.value(row),
            Values::Date(array) => array.value(row).into(),
            Values::Time(array) => array.value(row),
            Values::Timestamp(array) => array.value(row),
            _ => 0,
        }
    }

    pub(super) fn float(&self, index: usize) -> f64 {
        let (column, row) = self.at(index);
        match &column.values {
            Values::Float32(array) => array.value(row).into(),
            Values::Float64(array) => array.value(row),
            _ => 0.0,
        }
    }

    /// A numeric's digits and scale.
    pub(super) fn decimal(&self, index: usize) -> SqlResult<(i128, i8)> {
        match self.at(index) {
            (LaidOut { values: Values::Decimal(array), .. }, row) => {
                Ok((array.value(row), array.scale()))
            }
            (LaidOut { values: Values::BigDecimal(array), .. }, row) => {
                significand(array.value(row)).ok_or_else(super::decimals::overflow)
            }
            _ => Ok((0, 0)),
        }
    }

    pub(super) fn span(&self, index: usize) -> Span {
        match self.at(index) {
            (LaidOut { values: Values::Interval(array), .. }, row) => Span::of(array.value(row)),
            _ => Span::default(),
        }
    }

    /// The elements of a text array.
    pub(super) fn texts(&self, index: usize) -> Vec<Option<&'a str>> {
        let (column, row) = self.at(index);
        let Values::List(lists, items) = &column.values else { return Vec::new() };
        let range = lists.value_offsets()[row]..lists.value_offsets()[row + 1];
        let Values::Text(texts) = &items.values else { return Vec::new() };
        range
            .filter_map(|item| usize::try_from(item).ok())
            .map(|item| texts.is_valid(item).then(|| texts.value(item)))
            .collect()
    }

    /// The elements of a list, and its bounds in them.
    pub(super) fn list(&self, index: usize) -> Option<(&'a LaidOut, std::ops::Range<usize>)> {
        let (column, row) = self.at(index);
        let Values::List(lists, items) = &column.values else { return None };
        let bound = |at: usize| usize::try_from(lists.value_offsets()[at]).unwrap_or(0);
        Some((items, bound(row)..bound(row + 1)))
    }

    /// Appends a value of any type as text.
    pub(super) fn write(&self, index: usize, out: &mut Vec<u8>) {
        let argument = &self.arguments[index];
        if let Some(encoder) = &argument.encoder {
            encoder.write(if argument.constant { 0 } else { self.row }, out);
        }
    }

    /// The value of an argument with its column, for what looks at its type.
    pub(super) fn value(&self, index: usize) -> (&'a LaidOut, usize) {
        self.at(index)
    }

    pub(super) fn sql_type(&self, index: usize) -> &'a SqlType {
        &self.arguments[index].sql_type
    }

    /// A regular expression as PostgreSQL writes it, compiled.
    pub(super) fn regex(&self, pattern: &str, flags: &str) -> SqlResult<Rc<Regex>> {
        let key = format!("{flags}/{pattern}");
        let mut kept = self.patterns.regexes.borrow_mut();
        if let Some(regex) = kept.get(&key) {
            return Ok(Rc::clone(regex));
        }
        let regex = Rc::new(pattern::compile(pattern, flags)?);
        if kept.len() >= PATTERNS_MAX {
            kept.clear();
        }
        kept.insert(key, Rc::clone(&regex));
        Ok(regex)
    }
}

impl Row<'_> {
    /// A path into JSON, parsed.
    pub(super) fn json_path(&self, text: &str) -> SqlResult<Rc<JsonPath>> {
        let mut kept = self.patterns.paths.borrow_mut();
        if let Some(path) = kept.get(text) {
            return Ok(Rc::clone(path));
        }
        let path = Rc::new(JsonPath::parse(text)?);
        if kept.len() >= PATTERNS_MAX {
            kept.clear();
        }
        kept.insert(text.to_owned(), Rc::clone(&path));
        Ok(path)
    }
}

/// The column of results so far. Each call of a function appends one value.
pub(super) enum Out {
    Boolean(BooleanBuilder),
    Integer(Int32Builder),
    BigInt(Int64Builder),
    Double(Float64Builder),
    Decimal(Decimal128Builder, i8),
    /// Without a modifier.
    Numeric(Decimal256Builder),
    Text(StringBuilder),
    Bytes(BinaryBuilder),
    Date(Date32Builder),
    Time(Time64MicrosecondBuilder),
    Timestamp(TimestampMicrosecondBuilder),
    Interval(IntervalMonthDayNanoBuilder),
    Texts(ListBuilder<StringBuilder>),
}

impl Out {
    /// For results of this type.
    pub(super) fn new(sql_type: &SqlType, rows: usize) -> SqlResult<Self> {
        Ok(match sql_type {
            SqlType::Boolean => Out::Boolean(BooleanBuilder::with_capacity(rows)),
            SqlType::Integer => Out::Integer(Int32Builder::with_capacity(rows)),
            SqlType::BigInt => Out::BigInt(Int64Builder::with_capacity(rows)),
            SqlType::Double => Out::Double(Float64Builder::with_capacity(rows)),
            SqlType::Numeric(Some((precision, scale))) => {
                let builder = Decimal128Builder::with_capacity(rows);
                Out::Decimal(builder.with_precision_and_scale(*precision, *scale)?, *scale)
            }
            SqlType::Numeric(None) => {
                let builder = Decimal256Builder::with_capacity(rows);
                Out::Numeric(builder.with_data_type(sql_type.to_arrow()))
            }
            SqlType::Bytea => Out::Bytes(BinaryBuilder::new()),
            SqlType::Date => Out::Date(Date32Builder::with_capacity(rows)),
            SqlType::Time => Out::Time(Time64MicrosecondBuilder::with_capacity(rows)),
            SqlType::Timestamp | SqlType::Timestamptz => {
                let builder = TimestampMicrosecondBuilder::with_capacity(rows);
                Out::Timestamp(builder.with_data_type(sql_type.to_arrow()))
            }
            SqlType::Interval => Out::Interval(IntervalMonthDayNanoBuilder::with_capacity(rows)),
            SqlType::Array(element) => {
                let field = element.field("item", true);
                Out::Texts(ListBuilder::new(StringBuilder::new()).with_field(field))
            }
            _ => Out::Text(StringBuilder::new()),
        })
    }

    pub(super) fn null(&mut self) {
        match self {
            Out::Boolean(builder) => builder.append_null(),
            Out::Integer(builder) => builder.append_null(),
            Out::BigInt(builder) => builder.append_null(),
            Out::Double(builder) => builder.append_null(),
            Out::Decimal(builder, _) => builder.append_null(),
            Out::Numeric(builder) => builder.append_null(),
            Out::Text(builder) => builder.append_null(),
            Out::Bytes(builder) => builder.append_null(),
            Out::Date(builder) => builder.append_null(),
            Out::Time(builder) => builder.append_null(),
            Out::Timestamp(builder) => builder.append_null(),
            Out::Interval(builder) => builder.append_null(),
            Out::Texts(builder) => builder.append_null(),
        }
    }

    pub(super) fn boolean(&mut self, value: bool) {
        if let Out::Boolean(builder) = self {
            builder.append_value(value);
        }
    }

    /// A whole number, days of a date, microseconds of a time or timestamp.
    pub(super) fn int(&mut self, value: i64) -> SqlResult<()> {
        let out_of_range = |name: &str| {
            let message = format!("{name} out of range");
            SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message)
        };
        let narrow = i32::try_from(value);
        match self {
            Out::Integer(builder) => {
                builder.append_value(narrow.map_err(|_| out_of_range("integer"))?);
            }
            Out::BigInt(builder) => builder.append_value(value),
            Out::Date(builder) => {
                builder.append_value(narrow.map_err(|_| {
                    SqlError::new(code::DATETIME_FIELD_OVERFLOW, "date out of range")
                })?)
            }
            Out::Time(builder) => builder.append_value(value),
            Out::Timestamp(builder) => builder.append_value(value),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn float(&mut self, value: f64) {
        if let Out::Double(builder) = self {
            builder.append_value(value);
        }
    }

    /// A number of `scale` digits after the point.
    pub(super) fn decimal(&mut self, value: i128, scale: i8) -> SqlResult<()> {
        if let Out::Decimal(builder, own) = self {
            let rescaled = super::decimals::rescale(value, scale, *own);
            builder.append_value(rescaled.ok_or_else(super::decimals::overflow)?);
        } else if let Out::Numeric(builder) = self {
            let number = numeric_of(value, scale);
            builder.append_value(number.ok_or_else(super::decimals::overflow)?);
        }
        Ok(())
    }

    pub(super) fn text(&mut self, value: &str) {
        if let Out::Text(builder) = self {
            builder.append_value(value);
        }
    }

    /// Text that was encoded, and so is UTF-8.
    pub(super) fn encoded(&mut self, value: &[u8]) -> SqlResult<()> {
        let text = std::str::from_utf8(value)
            .map_err(|_| SqlError::new(code::CHARACTER_NOT_IN_REPERTOIRE, "invalid text"))?;
        self.text(text);
        Ok(())
    }

    /// Text in pieces: what `write` writes.
    pub(super) fn pieces(&mut self, write: impl FnOnce(&mut dyn fmt::Write) -> fmt::Result) {
        if let Out::Text(builder) = self {
            // Writing to memory does not fail.
            let _ = write(builder);
            builder.append_value("");
        }
    }

    pub(super) fn bytes(&mut self, value: &[u8]) {
        if let Out::Bytes(builder) = self {
            builder.append_value(value);
        }
    }

    pub(super) fn span(&mut self, span: Span) -> SqlResult<()> {
        if let Out::Interval(builder) = self {
            builder.append_value(span.interval()?);
        }
        Ok(())
    }

    pub(super) fn texts<'t>(&mut self, values: impl IntoIterator<Item = Option<&'t str>>) {
        if let Out::Texts(builder) = self {
            for value in values {
                builder.values().append_option(value);
            }
            builder.append(true);
        }
    }

    pub(super) fn finish(self) -> ArrayRef {
        match self {
            Out::Boolean(mut builder) => Arc::new(builder.finish()),
            Out::Integer(mut builder) => Arc::new(builder.finish()),
            Out::BigInt(mut builder) => Arc::new(builder.finish()),
            Out::Double(mut builder) => Arc::new(builder.finish()),
            Out::Decimal(mut builder, _) => Arc::new(builder.finish()),
            Out::Numeric(mut builder) => Arc::new(builder.finish()),
            Out::Text(mut builder) => Arc::new(builder.finish()),
            Out::Bytes(mut builder) => Arc::new(builder.finish()),
            Out::Date(mut builder) => Arc::new(builder.finish()),
            Out::Time(mut builder) => Arc::new(builder.finish()),
            Out::Timestamp(mut builder) => Arc::new(builder.finish()),
            Out::Interval(mut builder) => Arc::new(builder.finish()),
            Out::Texts(mut builder) => Arc::new(builder.finish()),
        }
    }
}
