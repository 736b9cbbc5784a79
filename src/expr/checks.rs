//! CHECK constraints: conditions that each row of a table must not fail.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::physical_plan::PhysicalExpr;

use crate::error::SqlResult;

/// The conditions of a relation.
#[derive(Debug, Clone)]
pub struct Checks {
    /// The relation's visible columns; all may be NULL.
    pub schema: SchemaRef,
    /// Names and conditions, in the order in which a row is asked.
    pub conditions: Vec<(String, Arc<dyn PhysicalExpr>)>,
}

impl Checks {
    /// The first row of `columns` for which a condition is false, and the first such condition.
    /// One that is NULL is none.
    pub fn failing(&self, columns: &[ArrayRef], rows: usize) -> SqlResult<Option<(usize, &str)>> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, columns.to_vec(), &options)?;
        let mut first: Option<(usize, &str)> = None;
        for (name, condition) in &self.conditions {
            let values = condition.evaluate(&batch)?.into_array(rows)?;
            let values = compute::cast(&values, &DataType::Boolean)?;
            let row = first_false(values.as_boolean());
            first = match (first, row) {
                (None, Some(row)) => Some((row, name.as_str())),
                (Some((before, _)), Some(row)) if row < before => Some((row, name.as_str())),
                (first, _) => first,
            };
        }
        Ok(first)
    }
}

fn first_false(values: &BooleanArray) -> Option<usize> {
    match values.false_count() {
        0 => None,
        _ => values.iter().position(|value| value == Some(false)),
    }
}
