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

#[cfg(test)]
mod tests {
    use super::super::testing::{Harness, Row, delta_of, row_schema};
    use crate::graph::NodeKind;

    #[test]
    fn rows_of_all_ports_go_on() {
        let row = |k| Row { k: Some(k), s: None, d: None, f: None, b: None };
        let schemas = vec![row_schema(), row_schema()];
        let mut harness = Harness::new(NodeKind::Union, schemas, row_schema());
        let deltas = vec![
            (0, delta_of(&[(row(1), 1), (row(2), 1)])),
            (1, delta_of(&[(row(1), 1), (row(2), -1)])),
        ];
        harness.epoch(deltas);
        let given: Vec<_> = harness.output.iter().collect();
        assert_eq!(given, [(&"1 - - - -".to_owned(), &2)]);
    }
}
