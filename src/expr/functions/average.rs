//! `avg` with PostgreSQL's result types: a sum and a count, divided at the end.
//!
//! The accumulator's state is the count's columns, then the sum's.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BooleanArray, Decimal128Array, Decimal256Array, Float64Array,
};
use arrow::datatypes::{
    DataType, Decimal128Type, Decimal256Type, Field, FieldRef, Float64Type, Int64Type,
};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::count::Count;
use datafusion::functions_aggregate::sum::Sum;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};
use itertools::Itertools;

use super::super::accumulator;
use super::QUOTIENT_SCALE;
use super::decimal::{divide_numeric, divide_rounded, significand};
use super::framed::Frame;
use super::intervals::{self, adds_intervals};
use super::sum::{
    argument_type, check_digits, is_exact, sum_arguments, sum_field, sum_type, summands,
    wrong_number,
};
use crate::error::{SqlError, code};

/// `avg(x)`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PgAvg {
    signature: Signature,
    aliases: Vec<String>,
    count: Count,
    sum: Sum,
}

impl PgAvg {
    pub(super) fn new() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable),
            aliases: vec!["mean".to_owned()],
            count: Count::new(),
            sum: Sum::new(),
        }
    }
}

/// The type in which the sum of an average is kept.
fn kept_type(argument: &DataType) -> DataType {
    match sum_type(argument) {
        DataType::Int64 => DataType::Decimal128(38, 0),
        other => other,
    }
}

fn count_field(name: &str) -> FieldRef {
    Field::new(name, DataType::Int64, false).into()
}

fn count_arguments(args: AccumulatorArgs<'_>) -> AccumulatorArgs<'_> {
    AccumulatorArgs { return_field: count_field(args.name), ..args }
}

impl AggregateUDFImpl for PgAvg {
    fn name(&self) -> &'static str {
        "avg"
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [one] => Ok(vec![argument_type("avg", one)?]),
            _ => Err(wrong_number("avg", given)),
        }
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(match kept_type(&arguments[0]) {
            DataType::Decimal128(precision, scale) => {
                DataType::Decimal128(precision, scale.max(QUOTIENT_SCALE))
            }
            kept @ (DataType::Decimal256(..) | DataType::Interval(_)) => kept,
            _ => DataType::Float64,
        })
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if adds_intervals(&args) {
            return intervals::accumulator(accumulator::Sum::Mean, &args);
        }
        let kept = kept_type(args.expr_fields[0].data_type());
        Ok(Box::new(Average {
            given: args.return_type().clone(),
            count: self.count.accumulator(count_arguments(args.clone()))?,
            sum: self.sum.accumulator(sum_arguments(args, &kept))?,
            kept,
        }))
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        if adds_intervals(&args) && !args.is_distinct {
            return self.accumulator(args);
        }
        if !is_exact(&args) {
            return Ok(Box::new(Frame::new(args, |args| Self::new().accumulator(args))?));
        }
        let kept = kept_type(args.expr_fields[0].data_type());
        Ok(Box::new(Average {
            given: args.return_type().clone(),
            count: self.count.create_sliding_accumulator(count_arguments(args.clone()))?,
            sum: self.sum.create_sliding_accumulator(sum_arguments(args, &kept))?,
            kept,
        }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if let Some(fields) = intervals::state_fields(&args) {
            return Ok(fields);
        }
        let kept = kept_type(args.input_fields[0].data_type());
        let mut fields = self.count.state_fields(StateFieldsArgs {
            return_field: count_field(args.name),
            name: args.name,
            input_fields: args.input_fields,
            ordering_fields: args.ordering_fields,
            is_distinct: args.is_distinct,
        })?;
        fields.extend(
            self.sum.state_fields(StateFieldsArgs {
                return_field: sum_field(args.name, &kept),
                ..args
            })?,
        );
        Ok(fields)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct && !adds_intervals(&args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        let kept = kept_type(args.expr_fields[0].data_type());
        Ok(Box::new(Average {
            given: args.return_type().clone(),
            count: self.count.create_groups_accumulator(count_arguments(args.clone()))?,
            sum: self.sum.create_groups_accumulator(sum_arguments(args, &kept))?,
            kept,
        }))
    }
}

/// State columns of a count: the number, or the list of distinct values.
const COUNT_COLUMNS: usize = 1;

/// A count and a sum, side by side.
#[derive(Debug)]
struct Average<A: ?Sized> {
    kept: DataType,
    given: DataType,
    count: Box<A>,
    sum: Box<A>,
}

impl<A: ?Sized> Average<A> {
    fn input(&self, values: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        Ok(vec![summands(&values[0], &self.kept)?])
    }

    fn divide(&self, sums: &ArrayRef, counts: &ArrayRef) -> Result<ArrayRef> {
        check_digits(sums)?;
        let counts = counts.as_primitive::<Int64Type>();
        match (&self.kept, &self.given) {
            (DataType::Decimal128(_, from), DataType::Decimal128(precision, to)) => {
                let shift = u8::try_from(to - from).unwrap_or(0);
                let sums = sums.as_primitive::<Decimal128Type>();
                let averages = sums.iter().zip_eq(counts.iter());
                let averages = averages.map(|(sum, count)| average(sum, count, shift));
                let averages: Decimal128Array = averages.process_results(|all| all.collect())?;
                Ok(Arc::new(averages.with_precision_and_scale(*precision, *to)?))
            }
            (DataType::Decimal256(..), DataType::Decimal256(precision, to)) => {
                let sums = sums.as_primitive::<Decimal256Type>();
                let averages = sums.iter().zip_eq(counts.iter());
                let averages = averages.map(|(sum, count)| match (sum, count) {
                    (Some(sum), Some(count)) if count != 0 => {
                        let sum = significand(sum).ok_or_else(too_large)?;
                        let average = divide_numeric(sum, (count.into(), 0));
                        Ok::<_, SqlError>(Some(average.ok_or_else(too_large)?))
                    }
                    _ => Ok(None),
                });
                let averages: Decimal256Array = averages.process_results(|all| all.collect())?;
                Ok(Arc::new(averages.with_precision_and_scale(*precision, *to)?))
            }
            _ => {
                let sums = sums.as_primitive::<Float64Type>();
                let averages = sums.iter().zip_eq(counts.iter()).map(|(sum, count)| {
                    let count = count.filter(|count| *count != 0)?;
                    Some(sum? / count as f64)
                });
                Ok(Arc::new(averages.collect::<Float64Array>()))
            }
        }
    }
}

fn average(sum: Option<i128>, count: Option<i64>, shift: u8) -> Result<Option<i128>> {
    let (Some(sum), Some(count)) = (sum, count.filter(|count| *count != 0)) else {
        return Ok(None);
    };
    match divide_rounded(sum, count.into(), shift) {
        Some(average) => Ok(Some(average)),
        None => Err(too_large().into()),
    }
}

fn too_large() -> SqlError {
    SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
        .detail("An average has more than 38 digits.")
}

impl Accumulator for Average<dyn Accumulator> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.count.update_batch(values)?;
        let input = self.input(values)?;
        self.sum.update_batch(&input)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.count.retract_batch(values)?;
        let input = self.input(values)?;
        self.sum.retract_batch(&input)
    }

    fn supports_retract_batch(&self) -> bool {
        self.count.supports_retract_batch() && self.sum.supports_retract_batch()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let counts = self.count.evaluate()?.to_array()?;
        let sums = self.sum.evaluate()?.to_array()?;
        ScalarValue::try_from_array(&self.divide(&sums, &counts)?, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.count.size() + self.sum.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut state = self.count.state()?;
        state.extend(self.sum.state()?);
        Ok(state)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let (counts, sums) = states.split_at(COUNT_COLUMNS);
        self.count.merge_batch(counts)?;
        self.sum.merge_batch(sums)
    }
}

impl GroupsAccumulator for Average<dyn GroupsAccumulator> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.count.update_batch(values, group_indices, filter, total_num_groups)?;
        let input = self.input(values)?;
        self.sum.update_batch(&input, group_indices, filter, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let counts = self.count.evaluate(emit_to)?;
        let sums = self.sum.evaluate(emit_to)?;
        self.divide(&sums, &counts)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let mut state = self.count.state(emit_to)?;
        state.extend(self.sum.state(emit_to)?);
        Ok(state)
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        let (counts, sums) = values.split_at(COUNT_COLUMNS);
        self.count.merge_batch(counts, group_indices, total_num_groups)?;
        self.sum.merge_batch(sums, group_indices, total_num_groups)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let mut state = self.count.convert_to_state(values, filter)?;
        state.extend(self.sum.convert_to_state(&self.input(values)?, filter)?);
        Ok(state)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.count.size() + self.sum.size()
    }
}
