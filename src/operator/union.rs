//! UNION ALL: `Δ(R + S) = ΔR + ΔS`. Whatever comes, from whichever port, goes on.

use arrow::datatypes::SchemaRef;

use super::batch::batch_of;
use super::{EpochEnd, Operator, OperatorError, Output};
use crate::state::Table;
use crate::types::Delta;

/// All rows of all inputs, under one schema.
pub struct Union {
    schema: SchemaRef,
}

impl Union {
    /// Gives rows with `schema`, whose types are those of every input.
    pub fn new(schema: SchemaRef) -> Self {
        Self { schema }
    }
}

impl Operator for Union {
    fn process(
        &mut self,
        _port: usize,
        delta: Delta,
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let columns = delta.batch().columns().to_vec();
        output.emit(delta.with_batch(batch_of(&self.schema, columns, delta.rows())?))
    }

    fn flush(&mut self, _: &EpochEnd, _: &mut dyn Output) -> Result<(), OperatorError> {
        Ok(())
    }

    fn tables(&mut self) -> Vec<&mut Table> {
        Vec::new()
    }
}
