//! Each row becomes the rows that it stands for (`unnest`): linear and stateless. The plan carries
//! the weights along as one more column, so that each row's are those of what it came from.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{Int64Type, SchemaRef};
use datafusion::physical_plan::ExecutionPlan;

use super::batch::{batch_of, emit_chunks};
use super::errors::RowErrors;
use super::{EpochEnd, Operator, OperatorError, Output, RowError};
use crate::error::SqlError;
use crate::expr::relation;
use crate::graph::BatchPlan;
use crate::state::Table;
use crate::types::Delta;

/// Runs a stateless plan over every delta.
pub struct Expand {
    plan: Arc<dyn ExecutionPlan>,
    /// Of the rows that the plan is given.
    weighted: SchemaRef,
    schema: SchemaRef,
    errors: RowErrors,
}

impl Expand {
    /// Over rows with `input`'s columns, giving rows with `schema`.
    pub fn new(plan: &BatchPlan, input: &SchemaRef, schema: SchemaRef) -> Self {
        let weighted = relation::weighted(input);
        Self { plan: Arc::clone(&plan.0), weighted, schema, errors: RowErrors::default() }
    }

    /// The rows of `delta`; those of which the plan makes nothing are told.
    fn expand(&mut self, delta: &Delta, output: &mut dyn Output) -> Result<(), OperatorError> {
        let weights: Int64Array = (0..delta.rows()).map(|row| delta.weight(row)).collect();
        let mut columns = delta.batch().columns().to_vec();
        columns.push(Arc::new(weights) as ArrayRef);
        let batch = batch_of(&self.weighted, columns, delta.rows())?;
        let given = match relation::run(&self.plan, vec![vec![batch]]) {
            Ok(given) => given,
            Err(error) if delta.rows() == 1 => {
                let error = SqlError::from(error);
                let row = delta.batch().columns().to_vec();
                return Ok(self.errors.add_one("unnest", error, row, delta.weight(0))?);
            }
            Err(_) => {
                let half = delta.rows() / 2;
                self.expand(&delta.slice(0, half), output)?;
                return self.expand(&delta.slice(half, delta.rows() - half), output);
            }
        };
        for batch in given {
            let (columns, weights) = batch.columns().split_at(self.schema.fields().len());
            let weights = weights[0].as_primitive::<Int64Type>().values().clone();
            let inserts_only = weights.iter().all(|weight| *weight == 1);
            let batch = batch_of(&self.schema, columns.to_vec(), batch.num_rows())?;
            emit_chunks(&Delta::new(batch, (!inserts_only).then_some(weights)), output)?;
        }
        Ok(())
    }
}

impl Operator for Expand {
    fn process(
        &mut self,
        _port: usize,
        delta: Delta,
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        self.expand(&delta, output)
    }

    fn flush(&mut self, _: &EpochEnd, _: &mut dyn Output) -> Result<(), OperatorError> {
        Ok(())
    }

    fn tables(&mut self) -> Vec<&mut Table> {
        Vec::new()
    }

    fn take_row_errors(&mut self) -> Vec<RowError> {
        self.errors.take()
    }
}
