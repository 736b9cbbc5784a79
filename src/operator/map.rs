//! Filter and projection: `Δ(π σ R) = π σ ΔR`. Linear, so it keeps nothing: a delta is turned into
//! its rows at once.

use arrow::datatypes::SchemaRef;

use super::batch::batch_of;
use super::errors::RowErrors;
use super::{EpochEnd, Operator, OperatorError, Output, RowError};
use crate::expr::{Evaluator, Failures};
use crate::graph;
use crate::state::Table;
use crate::types::Delta;

/// Keeps the rows where all predicates are true, then computes the expressions.
pub struct Map {
    predicates: Evaluator,
    /// `None` passes the rows on.
    expressions: Option<Evaluator>,
    schema: SchemaRef,
    errors: RowErrors,
}

impl Map {
    /// Gives rows with `schema`.
    pub fn new(map: &graph::Map, schema: SchemaRef) -> Self {
        Self {
            predicates: Evaluator::conjunction(&map.predicates),
            expressions: map.expressions.as_deref().map(Evaluator::new),
            schema,
            errors: RowErrors::default(),
        }
    }

    fn filter(&mut self, delta: Delta) -> Result<Delta, OperatorError> {
        let mut failures = Failures::default();
        let kept = self.predicates.keep(delta.batch(), &mut failures)?;
        self.errors.add(failures, |row| delta.weight(row));
        match kept {
            Some(kept) if kept.has_false() => Ok(delta.filter(&kept)?),
            _ => Ok(delta),
        }
    }

    fn project(&mut self, delta: &Delta) -> Result<Delta, OperatorError> {
        let columns = match &self.expressions {
            None => delta.batch().columns().to_vec(),
            Some(expressions) => {
                let mut failures = Failures::default();
                let columns = expressions.evaluate(delta.batch(), &mut failures)?;
                self.errors.add(failures, |row| delta.weight(row));
                columns
            }
        };
        Ok(delta.with_batch(batch_of(&self.schema, columns, delta.rows())?))
    }
}

impl Operator for Map {
    fn process(
        &mut self,
        _port: usize,
        delta: Delta,
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let kept = self.filter(delta)?;
        if kept.is_empty() {
            return Ok(());
        }
        output.emit(self.project(&kept)?)
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
