//! DataFusion's aggregates with what PostgreSQL answers otherwise.
//!
//! - Over moving frames of a window they are computed over the rows of each frame anew, as in
//!   PostgreSQL, which does so for sums of floats too: taking 1e16 back from 1e16 + 1 would not
//!   leave 1.
//! - Of floats NaN is the largest, by groups as well: the accumulator for many groups takes NaN
//!   for neither smaller nor larger than anything.
//! - DISTINCT is heeded by aggregates of two numbers (`distinct_pairs`).
//! - Of intervals the longest is the largest, a month being 30 days.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::compute::concat;
use arrow::datatypes::{
    DataType, FieldRef, IntervalMonthDayNano, IntervalMonthDayNanoType, Schema,
};
use datafusion::common::{Result, ScalarValue};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::function::{
    AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs,
};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, SetMonotonicity,
    Signature,
};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};

use super::distinct_pairs::{DistinctPairs, is_of_pairs};
use super::intervals::INTERVAL;
use super::library::Span;

/// Aggregates whose result is one of the values that they are given.
const GIVING_VALUES: &[&str] = &["any_value", "first_value", "last_value", "max", "min"];

/// Aggregates that count, in numbers without a sign, which PostgreSQL does not have.
const COUNTING: &[&str] = &["approx_distinct", "regr_count"];

/// One of DataFusion's aggregate functions.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Framed {
    inner: Arc<AggregateUDF>,
}

impl Framed {
    pub(super) fn new(inner: Arc<AggregateUDF>) -> Self {
        Self { inner }
    }

    fn counts(&self) -> bool {
        COUNTING.contains(&self.inner.name())
    }
}

/// The accumulator of an aggregate, counts as bigints.
fn accumulator(
    inner: &Arc<AggregateUDF>,
    args: AccumulatorArgs<'_>,
) -> Result<Box<dyn Accumulator>> {
    if args.is_distinct && is_of_pairs(inner.name()) {
        return Ok(Box::new(DistinctPairs::new(inner, &args)));
    }
    if is_extreme(inner.name()) && args.return_field.data_type() == &INTERVAL {
        let largest = inner.name() == "max";
        return Ok(Box::new(ExtremeInterval { largest, best: None }));
    }
    if !COUNTING.contains(&inner.name()) {
        return inner.accumulator(args);
    }
    let counted = args.return_field.as_ref().clone().with_data_type(DataType::UInt64);
    let args = AccumulatorArgs { return_field: Arc::new(counted), ..args };
    Ok(Box::new(Signed(inner.accumulator(args)?)))
}

fn is_extreme(name: &str) -> bool {
    matches!(name, "min" | "max")
}

/// The shortest or the longest interval; of those as long as each other the one that is written
/// first, so that the order of rows decides nothing.
#[derive(Debug)]
struct ExtremeInterval {
    largest: bool,
    best: Option<IntervalMonthDayNano>,
}

impl ExtremeInterval {
    fn is_better(&self, value: IntervalMonthDayNano) -> bool {
        let Some(best) = self.best else { return true };
        let lengths = Span::of(value).length().cmp(&Span::of(best).length());
        let lengths = if self.largest { lengths.reverse() } else { lengths };
        lengths.then_with(|| value.cmp(&best)).is_lt()
    }
}

impl Accumulator for ExtremeInterval {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in values[0].as_primitive::<IntervalMonthDayNanoType>().iter().flatten() {
            if self.is_better(value) {
                self.best = Some(value);
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::IntervalMonthDayNano(self.best))
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// A count as a bigint.
#[derive(Debug)]
struct Signed(Box<dyn Accumulator>);

impl Accumulator for Signed {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.merge_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.0.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.0.evaluate()?.cast_to(&DataType::Int64)
    }

    fn size(&self) -> usize {
        self.0.size()
    }
}

impl AggregateUDFImpl for Framed {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(given)
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match self.counts() {
            true => Ok(DataType::Int64),
            false => self.inner.return_type(arguments),
        }
    }

    /// One of its argument's values is of the argument's type, with what Weir notes in metadata.
    fn return_field(&self, arguments: &[FieldRef]) -> Result<FieldRef> {
        let field = self.inner.return_field(arguments)?;
        if self.counts() {
            return Ok(Arc::new(field.as_ref().clone().with_data_type(DataType::Int64)));
        }
        let gives_value = GIVING_VALUES.contains(&self.name());
        Ok(match arguments.first() {
            Some(value) if gives_value && value.data_type() == field.data_type() => {
                let named = value.as_ref().clone().with_name(field.name());
                Arc::new(named.with_nullable(field.is_nullable()))
            }
            _ => field,
        })
    }

    fn is_nullable(&self) -> bool {
        self.inner.is_nullable()
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        accumulator(&self.inner, args)
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        let inner = Arc::clone(&self.inner);
        Ok(Box::new(Frame::new(args, move |args| accumulator(&inner, args))?))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if args.is_distinct && is_of_pairs(self.name()) {
            return Ok(DistinctPairs::state_fields(&args));
        }
        self.inner.state_fields(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        if self.counts() || (args.is_distinct && is_of_pairs(self.name())) {
            return false;
        }
        let kind = args.return_field.data_type();
        if is_extreme(self.name()) && (kind.is_floating() || *kind == INTERVAL) {
            return false;
        }
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        self.inner.create_groups_accumulator(args)
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn with_beneficial_ordering(
        self: Arc<Self>,
        beneficial_ordering: bool,
    ) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        let inner = self.inner.as_ref().clone().with_beneficial_ordering(beneficial_ordering)?;
        Ok(inner.map(|inner| Arc::new(Self::new(Arc::new(inner))) as _))
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        self.inner.simplify()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        match self.inner.reverse_udf() {
            ReversedUDAF::Reversed(inner) => {
                ReversedUDAF::Reversed(Arc::new(AggregateUDF::from(Self::new(inner))))
            }
            other => other,
        }
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.inner.supports_null_handling_clause()
    }

    fn supports_within_group_clause(&self) -> bool {
        self.inner.supports_within_group_clause()
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        match self.counts() {
            true => self.inner.default_value(&DataType::UInt64)?.cast_to(&DataType::Int64),
            false => self.inner.default_value(data_type),
        }
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(data_type)
    }
}

/// The rows of the frame as it is now, and how the aggregate over them is made.
pub(super) struct Frame {
    args: OwnedArgs,
    make: Box<Make>,
    /// In order; the first `gone` rows have left the frame.
    batches: VecDeque<Vec<ArrayRef>>,
    gone: usize,
}

type Make = dyn Fn(AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> + Send + Sync;

impl Frame {
    pub(super) fn new(
        args: AccumulatorArgs<'_>,
        make: impl Fn(AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> + Send + Sync + 'static,
    ) -> Result<Self> {
        let args = OwnedArgs::new(&args);
        // What cannot be made at all is told now.
        make(args.args())?;
        Ok(Self { args, make: Box::new(make), batches: VecDeque::new(), gone: 0 })
    }
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Frame").field("name", &self.args.name).finish_non_exhaustive()
    }
}

impl Accumulator for Frame {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        if values.first().is_some_and(|column| !column.is_empty()) {
            self.batches.push_back(values.to_vec());
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        // Rows leave in the order in which they came.
        self.gone += values.first().map_or(0, |column| column.len());
        while let Some(first) = self.batches.front() {
            let rows = first[0].len();
            if self.gone < rows {
                break;
            }
            self.gone -= rows;
            self.batches.pop_front();
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        // One batch from many: frames grow by a row at a time.
        if self.batches.len() > 1 || self.gone > 0 {
            let width = self.batches.front().map_or(0, Vec::len);
            let column = |index: usize| {
                let parts: Vec<_> = self.batches.iter().map(|batch| &*batch[index]).collect();
                let all = concat(&parts)?;
                Ok(all.slice(self.gone, all.len() - self.gone))
            };
            let columns = (0..width).map(column).collect::<Result<Vec<_>>>()?;
            self.batches.clear();
            self.gone = 0;
            if columns.first().is_some_and(|column| !column.is_empty()) {
                self.batches.push_back(columns);
            }
        }
        let mut inner = (self.make)(self.args.args())?;
        if let Some(rows) = self.batches.front() {
            inner.update_batch(rows)?;
        }
        inner.evaluate()
    }

    fn size(&self) -> usize {
        let arrays = self.batches.iter().flatten();
        size_of_val(self) + arrays.map(|array| array.get_array_memory_size()).sum::<usize>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Err(DataFusionError::Internal("a frame of a window is not merged".to_owned()))
    }

    fn merge_batch(&mut self, _states: &[ArrayRef]) -> Result<()> {
        Err(DataFusionError::Internal("a frame of a window is not merged".to_owned()))
    }
}

/// [`AccumulatorArgs`] that are kept.
pub(super) struct OwnedArgs {
    return_field: FieldRef,
    schema: Schema,
    ignore_nulls: bool,
    order_bys: Vec<PhysicalSortExpr>,
    is_reversed: bool,
    name: String,
    is_distinct: bool,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    expr_fields: Vec<FieldRef>,
}

impl OwnedArgs {
    pub(super) fn new(args: &AccumulatorArgs<'_>) -> Self {
        Self {
            return_field: Arc::clone(&args.return_field),
            schema: args.schema.clone(),
            ignore_nulls: args.ignore_nulls,
            order_bys: args.order_bys.to_vec(),
            is_reversed: args.is_reversed,
            name: args.name.to_owned(),
            is_distinct: args.is_distinct,
            exprs: args.exprs.to_vec(),
            expr_fields: args.expr_fields.to_vec(),
        }
    }

    pub(super) fn args(&self) -> AccumulatorArgs<'_> {
        AccumulatorArgs {
            return_field: Arc::clone(&self.return_field),
            schema: &self.schema,
            ignore_nulls: self.ignore_nulls,
            order_bys: &self.order_bys,
            is_reversed: self.is_reversed,
            name: &self.name,
            is_distinct: self.is_distinct,
            exprs: &self.exprs,
            expr_fields: &self.expr_fields,
        }
    }
}
