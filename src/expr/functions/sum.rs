//! `sum` with PostgreSQL's result types. DataFusion's accumulators do the work, after a cast of
//! their input to a type in which the sum is exact.

use arrow::array::{ArrayRef, AsArray, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Decimal256Type, Field, FieldRef, i256};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::sum::Sum;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
};

use super::super::accumulator;
use super::decimal::{fits_numeric, fits_plain};
use super::framed::Frame;
use super::intervals::{self, INTERVAL, adds_intervals};
use crate::error::{SqlError, code};
use crate::types::SqlType;

/// `sum(x)`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PgSum {
    signature: Signature,
    inner: Sum,
}

impl PgSum {
    pub(super) fn new() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable), inner: Sum::new() }
    }
}

/// The type that an argument is taken as.
pub(super) fn argument_type(name: &str, given: &DataType) -> Result<DataType> {
    Ok(match given {
        DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Float32
        | DataType::Float64
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => given.clone(),
        DataType::Null => DataType::Int64,
        DataType::Int8 | DataType::UInt8 => DataType::Int16,
        DataType::UInt16 => DataType::Int32,
        DataType::UInt32 => DataType::Int64,
        DataType::UInt64 => DataType::Decimal128(20, 0),
        DataType::Interval(_) => INTERVAL,
        DataType::Float16 => DataType::Float32,
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        other => {
            let sql_type = SqlType::of_arrow(other);
            let message = format!("function {name}({sql_type}) does not exist");
            return Err(SqlError::new(code::UNDEFINED_FUNCTION, message).into());
        }
    })
}

/// The type in which the sum of an argument of type `argument` is kept.
pub(super) fn sum_type(argument: &DataType) -> DataType {
    match argument {
        DataType::Int16 | DataType::Int32 => DataType::Int64,
        DataType::Int64 => DataType::Decimal128(38, 0),
        DataType::Float32 => DataType::Float64,
        DataType::Decimal128(_, scale) => DataType::Decimal128(38, *scale),
        other => other.clone(),
    }
}

/// The arguments for DataFusion's own sum, kept in type `kept`.
pub(super) fn sum_arguments<'a>(args: AccumulatorArgs<'a>, kept: &DataType) -> AccumulatorArgs<'a> {
    AccumulatorArgs { return_field: sum_field(args.name, kept), ..args }
}

pub(super) fn sum_field(name: &str, kept: &DataType) -> FieldRef {
    Field::new(name, kept.clone(), true).into()
}

impl AggregateUDFImpl for PgSum {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match given {
            [one] => Ok(vec![argument_type("sum", one)?]),
            _ => Err(wrong_number("sum", given)),
        }
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(match &arguments[0] {
            DataType::Float32 => DataType::Float32,
            other => sum_type(other),
        })
    }

    fn return_field(&self, arguments: &[FieldRef]) -> Result<FieldRef> {
        let sum = self.return_type(&[arguments[0].data_type().clone()])?;
        Ok(sum_field("sum", &sum))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if adds_intervals(&args) {
            return intervals::accumulator(accumulator::Sum::Total, &args);
        }
        let (kept, given) = types_of(&args);
        let inner = self.inner.accumulator(sum_arguments(args, &kept))?;
        Ok(Box::new(Casting { inner, kept, given }))
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
        let (kept, given) = types_of(&args);
        let inner = self.inner.create_sliding_accumulator(sum_arguments(args, &kept))?;
        Ok(Box::new(Casting { inner, kept, given }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if let Some(fields) = intervals::state_fields(&args) {
            return Ok(fields);
        }
        let kept = sum_type(args.input_fields[0].data_type());
        self.inner
            .state_fields(StateFieldsArgs { return_field: sum_field(args.name, &kept), ..args })
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct && !adds_intervals(&args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        let (kept, given) = types_of(&args);
        let inner = self.inner.create_groups_accumulator(sum_arguments(args, &kept))?;
        Ok(Box::new(Casting { inner, kept, given }))
    }
}

/// Whether what was added can be taken away again.
pub(super) fn is_exact(args: &AccumulatorArgs<'_>) -> bool {
    !args.expr_fields[0].data_type().is_floating() && !args.is_distinct
}

/// The type in which the sum is kept, and the one in which it is given.
fn types_of(args: &AccumulatorArgs<'_>) -> (DataType, DataType) {
    (sum_type(args.expr_fields[0].data_type()), args.return_type().clone())
}

/// The error for a call with other than one argument.
pub(super) fn wrong_number(name: &str, given: &[DataType]) -> datafusion::error::DataFusionError {
    let types: Vec<_> = given.iter().map(|t| SqlType::of_arrow(t).to_string()).collect();
    let message = format!("function {name}({}) does not exist", types.join(", "));
    SqlError::new(code::UNDEFINED_FUNCTION, message).into()
}

/// An accumulator whose input is cast to the type that is kept, and whose result is cast from it.
#[derive(Debug)]
struct Casting<A: ?Sized> {
    kept: DataType,
    given: DataType,
    inner: Box<A>,
}

impl<A: ?Sized> Casting<A> {
    fn input(&self, values: &[ArrayRef]) -> Result<Vec<ArrayRef>> {
        Ok(vec![summands(&values[0], &self.kept)?])
    }

    fn output(&self, sums: &ArrayRef) -> Result<ArrayRef> {
        check_digits(sums)?;
        Ok(cast(sums, &self.given)?)
    }
}

/// Values as they are summed up, in type `kept`. Those of 256 bits leave room for the sum: a
/// wrapped one could not be told.
pub(super) fn summands(values: &ArrayRef, kept: &DataType) -> Result<ArrayRef> {
    const SPARED_DIGITS: u32 = 66;
    let values = cast(values, kept)?;
    if let Some(large) = values.as_primitive_opt::<Decimal256Type>() {
        let end = i256::from_i128(10).wrapping_pow(SPARED_DIGITS);
        if large.iter().flatten().any(|value| value.wrapping_abs() >= end) {
            return Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
                .detail("A sum adds numerics of more than 28 digits before the point.")
                .hint("Cast them to numeric(38, 0).")
                .into());
        }
    }
    Ok(values)
}

/// A sum of more than 38 digits is an error, not another number.
pub fn check_digits(sums: &ArrayRef) -> Result<()> {
    if let Some(sums) = sums.as_primitive_opt::<Decimal256Type>() {
        if sums.iter().flatten().all(fits_plain) {
            return Ok(());
        }
        return Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
            .detail("A sum has more than 38 digits before the point.")
            .into());
    }
    let Some(sums) = sums.as_primitive_opt::<Decimal128Type>() else { return Ok(()) };
    if sums.iter().flatten().all(fits_numeric) {
        return Ok(());
    }
    Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow")
        .detail("A sum has more than 38 digits.")
        .into())
}

impl Accumulator for Casting<dyn Accumulator> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let input = self.input(values)?;
        self.inner.update_batch(&input)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let input = self.input(values)?;
        self.inner.retract_batch(&input)
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sum = self.inner.evaluate()?.to_array()?;
        ScalarValue::try_from_array(&self.output(&sum)?, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.inner.state()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.inner.merge_batch(states)
    }
}

impl GroupsAccumulator for Casting<dyn GroupsAccumulator> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        let input = self.input(values)?;
        self.inner.update_batch(&input, group_indices, filter, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let sums = self.inner.evaluate(emit_to)?;
        self.output(&sums)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.inner.state(emit_to)
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.inner.merge_batch(values, group_indices, total_num_groups)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        self.inner.convert_to_state(&self.input(values)?, filter)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }
}
