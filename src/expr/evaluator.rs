//! Evaluates expressions over whole batches; where that fails, over ever smaller halves, so that a
//! row on which an expression fails gives NULL (in a predicate: is not kept) and spoils no other.
//!
//! Results are canonical (`types::key`): no −0 and only one NaN leave here.

use std::any::Any;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder, RecordBatch, UInt32Array,
    new_empty_array, new_null_array,
};
use arrow::compute;
use arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{PhysicalExpr, split_conjunction};

use super::Failures;
use super::guard::catch;
use crate::types::key::canonical_column;

/// Expressions over the rows of one schema.
#[derive(Debug)]
pub struct Evaluator {
    expressions: Vec<Arc<dyn PhysicalExpr>>,
}

impl Evaluator {
    /// Computes each of `expressions`.
    pub fn new(expressions: &[Arc<dyn PhysicalExpr>]) -> Self {
        Self { expressions: expressions.to_vec() }
    }

    /// Tests `predicates`, all of which must be true: their conjuncts one after the other, so that
    /// `x <> 0 AND 1 / x > 1` does not divide by zero.
    pub fn conjunction<'a>(
        predicates: impl IntoIterator<Item = &'a Arc<dyn PhysicalExpr>>,
    ) -> Self {
        let conjuncts = predicates.into_iter().flat_map(split_conjunction);
        Self { expressions: conjuncts.map(Arc::clone).collect() }
    }

    /// The columns that the expressions give for `batch`.
    pub fn evaluate(&self, batch: &RecordBatch, failures: &mut Failures) -> Result<Vec<ArrayRef>> {
        let column = |expression: &Arc<dyn PhysicalExpr>| {
            let column = evaluate_or_null(&**expression, batch, &|row| row, failures)?;
            let passes_on = (&**expression as &dyn Any).is::<Column>();
            Ok(if passes_on { column } else { canonical_column(&column) })
        };
        self.expressions.iter().map(column).collect()
    }

    /// Which rows of `batch` have all expressions true; `None`: all rows.
    pub fn keep(
        &self,
        batch: &RecordBatch,
        failures: &mut Failures,
    ) -> Result<Option<BooleanArray>> {
        let mut kept: Option<BooleanArray> = None;
        for predicate in &self.expressions {
            let holds = match evaluate_once(&**predicate, batch).and_then(boolean) {
                Ok(holds) => holds,
                Err(_) => holds_of_kept(&**predicate, batch, kept.as_ref(), failures)?,
            };
            let all = match kept {
                None => holds,
                Some(kept) => compute::and(&kept, &holds)?,
            };
            let none = !all.has_true();
            kept = Some(all);
            if none {
                break;
            }
        }
        Ok(kept)
    }
}

/// Where `predicate` is true, looking only at the rows that are kept so far: what came before
/// guards them.
fn holds_of_kept(
    predicate: &dyn PhysicalExpr,
    batch: &RecordBatch,
    kept: Option<&BooleanArray>,
    failures: &mut Failures,
) -> Result<BooleanArray> {
    let Some(kept) = kept else {
        return boolean(evaluate_or_null(predicate, batch, &|row| row, failures)?);
    };
    let rows: UInt32Array =
        kept.values().set_indices().map(|row| u32::try_from(row).unwrap_or(u32::MAX)).collect();
    let survivors = crate::types::take_rows(batch, &rows)?;
    let original = |row: usize| rows.value(row) as usize;
    let holds = boolean(evaluate_or_null(predicate, &survivors, &original, failures)?)?;
    let mut all = BooleanBufferBuilder::new(batch.num_rows());
    all.append_n(batch.num_rows(), false);
    for row in holds.values().set_indices() {
        all.set_bit(original(row), true);
    }
    Ok(BooleanArray::new(all.finish(), None))
}

/// The value of `expression` for every row of `batch`, NULL where it fails. `original` tells the
/// row's index in the batch that the caller was given.
fn evaluate_or_null(
    expression: &dyn PhysicalExpr,
    batch: &RecordBatch,
    original: &dyn Fn(usize) -> usize,
    failures: &mut Failures,
) -> Result<ArrayRef> {
    let error = match evaluate_once(expression, batch) {
        Ok(column) => return Ok(column),
        Err(error) => error,
    };
    let rows = batch.num_rows();
    match rows {
        0 => Ok(new_empty_array(&expression.data_type(&batch.schema())?)),
        1 => {
            failures.add(expression, error, original(0), (batch, 0));
            Ok(new_null_array(&expression.data_type(&batch.schema())?, 1))
        }
        _ => {
            let (half, rest) = (rows / 2, rows - rows / 2);
            let first = evaluate_or_null(expression, &batch.slice(0, half), original, failures)?;
            let second = evaluate_or_null(
                expression,
                &batch.slice(half, rest),
                &|row| original(half + row),
                failures,
            )?;
            Ok(compute::concat(&[&first, &second])?)
        }
    }
}

fn evaluate_once(expression: &dyn PhysicalExpr, batch: &RecordBatch) -> Result<ArrayRef> {
    catch("an expression", || expression.evaluate(batch)?.into_array(batch.num_rows()))
}

/// A predicate's result with NULL as false.
fn boolean(column: ArrayRef) -> Result<BooleanArray> {
    match column.data_type() {
        DataType::Boolean if column.null_count() > 0 => {
            Ok(compute::prep_null_mask_filter(column.as_boolean()))
        }
        DataType::Boolean => Ok(column.as_boolean().clone()),
        DataType::Null => Ok(BooleanArray::from(vec![false; column.len()])),
        other => Err(DataFusionError::Internal(format!("a predicate of type {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Int64Array;
    use arrow::datatypes::{Field, Int64Type, Schema};
    use datafusion::logical_expr::Operator;
    use datafusion::physical_expr::expressions::{binary, col, lit};

    use super::*;
    use crate::error::code;

    fn batch(values: Vec<Option<i64>>) -> RecordBatch {
        let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Int64, true)]));
        RecordBatch::try_new(schema, vec![Arc::new(Int64Array::from(values))]).expect("one column")
    }

    fn ten_over_x(batch: &RecordBatch) -> Arc<dyn PhysicalExpr> {
        let schema = batch.schema();
        let x = col("x", &schema).expect("x");
        binary(lit(10i64), Operator::Divide, x, &schema).expect("types fit")
    }

    #[test]
    fn only_failing_rows_become_null_and_are_told() {
        let batch = batch(vec![Some(1), Some(0), None, Some(5), Some(0)]);
        let mut failures = Failures::default();
        let columns = Evaluator::new(&[ten_over_x(&batch)])
            .evaluate(&batch, &mut failures)
            .expect("evaluates");
        let found: Vec<_> = columns[0].as_primitive::<Int64Type>().iter().collect();
        assert_eq!(found, [Some(10), None, None, Some(2), None]);
        let told = failures.into_parts().0;
        assert_eq!(told.iter().map(|failure| failure.row).collect::<Vec<_>>(), [1, 4]);
        assert_eq!(told[0].error.code, code::DIVISION_BY_ZERO);
        assert_eq!(told[0].text, "(0)");
    }

    #[test]
    fn an_earlier_conjunct_guards_a_later_one() {
        let batch = batch(vec![Some(0), Some(1), Some(9), Some(5)]);
        let schema = batch.schema();
        let x = || col("x", &schema).expect("x");
        let not_zero = binary(x(), Operator::NotEq, lit(0i64), &schema).expect("types fit");
        let small =
            binary(ten_over_x(&batch), Operator::Gt, lit(1i64), &schema).expect("types fit");
        let both = binary(not_zero, Operator::And, small, &schema).expect("types fit");
        let mut failures = Failures::default();
        let kept = Evaluator::conjunction([&both])
            .keep(&batch, &mut failures)
            .expect("evaluates")
            .expect("some are not kept");
        assert_eq!(kept.values().set_indices().collect::<Vec<_>>(), [1, 3]);
        assert!(failures.is_empty());
    }

    #[test]
    fn a_failing_predicate_does_not_keep_its_row() {
        let batch = batch(vec![Some(0), Some(1), None]);
        let schema = batch.schema();
        let test = binary(ten_over_x(&batch), Operator::Gt, lit(1i64), &schema).expect("types fit");
        let mut failures = Failures::default();
        let kept = Evaluator::conjunction([&test])
            .keep(&batch, &mut failures)
            .expect("evaluates")
            .expect("some are not kept");
        assert_eq!(kept.values().set_indices().collect::<Vec<_>>(), [1]);
        assert_eq!(failures.into_parts().0.len(), 1);
    }
}
