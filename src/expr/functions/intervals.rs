//! `sum` and `avg` of intervals, and an interval's quotient. [`Spans`] does the work.

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef, IntervalMonthDayNano, IntervalUnit};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};

use super::super::accumulator::{Spans, Sum};
use super::collected::{Definition, collected_state, collecting};
use super::library::{Span, over};
use crate::error::{SqlError, SqlResult};
use crate::types::SqlType;

/// The type of an interval.
pub(super) const INTERVAL: DataType = DataType::Interval(IntervalUnit::MonthDayNano);

const fn definition(
    name: &'static str,
    evaluate: fn(&[ArrayRef], &FieldRef) -> Result<ScalarValue>,
) -> Definition {
    Definition {
        name,
        coerce: |given| Some(given.to_vec()),
        result: |_| SqlType::Interval.field("", true),
        evaluate,
        skips_null: true,
        within_group: false,
    }
}

/// What the two are over distinct values.
static SUM: Definition = definition("sum", |columns, _| of_column(&columns[0], Sum::Total));
static AVG: Definition = definition("avg", |columns, _| of_column(&columns[0], Sum::Mean));

fn of_column(column: &ArrayRef, function: Sum) -> Result<ScalarValue> {
    let mut spans = [Spans::default()];
    Spans::add_column(&mut spans, column, |_| 0, |_| 1)?;
    Ok(ScalarValue::IntervalMonthDayNano(spans[0].result(function)?))
}

/// An interval divided as PostgreSQL divides it.
pub fn interval_over(
    interval: IntervalMonthDayNano,
    divisor: f64,
) -> SqlResult<IntervalMonthDayNano> {
    over(Span::of(interval), divisor)?.interval()
}

/// Whether a call is one of intervals.
pub(super) fn adds_intervals(args: &AccumulatorArgs<'_>) -> bool {
    matches!(args.expr_fields[0].data_type(), DataType::Interval(_))
}

/// The accumulator of a call of intervals, in windows too: what was added can be taken away.
pub(super) fn accumulator(
    function: Sum,
    args: &AccumulatorArgs<'_>,
) -> Result<Box<dyn Accumulator>> {
    if args.is_distinct {
        let definition = match function {
            Sum::Total => &SUM,
            Sum::Mean => &AVG,
        };
        return collecting(definition, args);
    }
    Ok(Box::new(Running { spans: Spans::default(), function }))
}

/// What such an accumulator's state is; `None`: the call is not one of intervals.
pub(super) fn state_fields(args: &StateFieldsArgs<'_>) -> Option<Vec<FieldRef>> {
    if !matches!(args.input_fields[0].data_type(), DataType::Interval(_)) {
        return None;
    }
    Some(vec![match args.is_distinct {
        true => collected_state(args),
        false => Field::new(format!("{}[spans]", args.name), DataType::Binary, true).into(),
    }])
}

/// The intervals of one group.
#[derive(Debug)]
struct Running {
    spans: Spans,
    function: Sum,
}

impl Running {
    fn add(&mut self, values: &[ArrayRef], weight: i64) -> Result<()> {
        let spans = std::slice::from_mut(&mut self.spans);
        Ok(Spans::add_column(spans, &values[0], |_| 0, |_| weight)?)
    }
}

impl Accumulator for Running {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(values, 1)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(values, -1)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for mut bytes in states[0].as_binary::<i32>().iter().flatten() {
            let other = Spans::read(&mut bytes);
            self.spans.merge(&other.ok_or_else(|| SqlError::internal("spans of another form"))?);
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut bytes = Vec::new();
        self.spans.write(&mut bytes);
        Ok(vec![ScalarValue::Binary(Some(bytes))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::IntervalMonthDayNano(self.spans.result(self.function)?))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
