//! Generated columns: computed from the other columns of their row, wherever rows come from.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::SchemaRef;
use datafusion::physical_plan::PhysicalExpr;

use crate::error::SqlResult;

/// The generated columns of a relation.
#[derive(Debug, Clone)]
pub struct Generated {
    /// The relation's visible columns; all may be NULL.
    pub schema: SchemaRef,
    /// Which columns are computed, and by what: values of the column's type.
    pub columns: Vec<(usize, Arc<dyn PhysicalExpr>)>,
}

impl Generated {
    /// Computes the generated ones among `rows` rows of `columns`, whatever is in their places.
    pub fn fill(&self, columns: &mut [ArrayRef], rows: usize) -> SqlResult<()> {
        for (index, _) in &self.columns {
            columns[*index] = new_null_array(self.schema.field(*index).data_type(), rows);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, columns.to_vec(), &options)?;
        for (index, expression) in &self.columns {
            columns[*index] = expression.evaluate(&batch)?.into_array(rows)?;
        }
        Ok(())
    }
}
