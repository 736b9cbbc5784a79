//! Window functions that count: PostgreSQL has no unsigned numbers, its `row_number()` and ranks
//! are bigints and its `ntile()` is an integer. What is computed with them is planned by that type,
//! so that it has to be theirs from the beginning.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::compute::{CastOptions, SortOptions, cast_with_options};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{
    ExpressionArgs, PartitionEvaluatorArgs, WindowFunctionSimplification, WindowUDFFieldArgs,
};
use datafusion::logical_expr::window_state::WindowAggState;
use datafusion::logical_expr::{
    LimitEffect, PartitionEvaluator, ReversedUDWF, Signature, WindowUDF, WindowUDFImpl,
};
use datafusion::physical_expr::PhysicalExpr;

/// A window function of DataFusion's whose result is signed.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Counted {
    inner: Arc<WindowUDF>,
    result: DataType,
}

impl Counted {
    /// `inner` counting in the type that PostgreSQL has for it, if it counts.
    pub(super) fn of(inner: Arc<WindowUDF>) -> Option<Self> {
        let result = match inner.name() {
            "row_number" | "rank" | "dense_rank" => DataType::Int64,
            "ntile" => DataType::Int32,
            _ => return None,
        };
        Some(Self { inner, result })
    }
}

impl WindowUDFImpl for Counted {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn expressions(&self, args: ExpressionArgs<'_>) -> Vec<Arc<dyn PhysicalExpr>> {
        self.inner.expressions(args)
    }

    fn partition_evaluator(
        &self,
        args: PartitionEvaluatorArgs<'_>,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        let inner = self.inner.partition_evaluator_factory(args)?;
        Ok(Box::new(Counter { inner, result: self.result.clone() }))
    }

    fn simplify(&self) -> Option<WindowFunctionSimplification> {
        self.inner.simplify()
    }

    fn field(&self, args: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        let field = self.inner.field(args)?;
        Ok(Arc::new(field.as_ref().clone().with_data_type(self.result.clone())))
    }

    fn sort_options(&self) -> Option<SortOptions> {
        self.inner.sort_options()
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(given)
    }

    fn reverse_expr(&self) -> ReversedUDWF {
        match self.inner.reverse_expr() {
            ReversedUDWF::Reversed(inner) => {
                let result = self.result.clone();
                ReversedUDWF::Reversed(Arc::new(WindowUDF::from(Self { inner, result })))
            }
            other => other,
        }
    }

    fn limit_effect(&self, args: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        self.inner.inner().limit_effect(args)
    }
}

/// Computes a partition.
#[derive(Debug)]
struct Counter {
    inner: Box<dyn PartitionEvaluator>,
    result: DataType,
}

impl Counter {
    fn signed(&self, counts: &ArrayRef) -> Result<ArrayRef> {
        let options = CastOptions { safe: false, ..CastOptions::default() };
        Ok(cast_with_options(counts, &self.result, &options)?)
    }
}

impl PartitionEvaluator for Counter {
    fn memoize(&mut self, state: &mut WindowAggState) -> Result<()> {
        self.inner.memoize(state)
    }

    fn get_range(&self, index: usize, rows: usize) -> Result<Range<usize>> {
        self.inner.get_range(index, rows)
    }

    fn is_causal(&self) -> bool {
        self.inner.is_causal()
    }

    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let counts = self.inner.evaluate_all(values, rows)?;
        self.signed(&counts)
    }

    fn evaluate(&mut self, values: &[ArrayRef], range: &Range<usize>) -> Result<ScalarValue> {
        self.inner.evaluate(values, range)?.cast_to(&self.result)
    }

    fn evaluate_all_with_rank(&self, rows: usize, ranks: &[Range<usize>]) -> Result<ArrayRef> {
        self.signed(&self.inner.evaluate_all_with_rank(rows, ranks)?)
    }

    fn supports_bounded_execution(&self) -> bool {
        self.inner.supports_bounded_execution()
    }

    fn uses_window_frame(&self) -> bool {
        self.inner.uses_window_frame()
    }

    fn include_rank(&self) -> bool {
        self.inner.include_rank()
    }
}
