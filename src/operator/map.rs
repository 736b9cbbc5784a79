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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::{DataType, Field, Schema};
    use datafusion::logical_expr::Operator as Binary;
    use datafusion::physical_expr::PhysicalExpr;
    use datafusion::physical_expr::expressions::{binary, col, lit};
    use expect_test::expect;

    use super::super::testing::{Harness, Row, delta_of, pretty, row_schema};
    use super::*;
    use crate::error::code;
    use crate::graph::NodeKind;

    fn row(k: Option<i64>, f: f64) -> Row {
        Row { k, s: Some("s"), d: None, f: Some(f), b: None }
    }

    fn column(name: &str) -> Arc<dyn PhysicalExpr> {
        col(name, &row_schema()).expect("a column")
    }

    fn of(a: Arc<dyn PhysicalExpr>, op: Binary, b: Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
        binary(a, op, b, &row_schema()).expect("types fit")
    }

    #[test]
    fn rows_are_kept_and_computed_with_their_weights() {
        let map = graph::Map {
            predicates: vec![of(column("k"), Binary::Gt, lit(1i64))],
            expressions: Some(vec![column("s"), of(column("k"), Binary::Multiply, lit(10i64))]),
        };
        let schema = Arc::new(Schema::new(vec![
            Field::new("s", DataType::Utf8, true),
            Field::new("x", DataType::Int64, true),
        ]));
        let mut harness = Harness::new(NodeKind::Map(map), vec![row_schema()], schema);
        let rows = [(row(Some(1), 0.0), 1), (row(Some(2), 0.0), -2), (row(None, 0.0), 1)];
        harness.epoch(vec![(0, delta_of(&rows)), (0, delta_of(&[(row(Some(3), 0.0), 1)]))]);
        let given: Vec<_> =
            harness.output.iter().map(|(row, weight)| (&row[..], *weight)).collect();
        assert_eq!(given, [("s 20", -2), ("s 30", 1)]);
        assert_eq!(harness.entries(), 0);
    }

    #[test]
    fn a_failing_row_is_null_and_told_with_its_weight() {
        let map = graph::Map {
            predicates: Vec::new(),
            expressions: Some(vec![of(lit(10i64), Binary::Divide, column("k"))]),
        };
        // Not nullable, the planner may think: a failing row gives NULL all the same.
        let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Int64, false)]));
        let mut harness = Harness::new(NodeKind::Map(map), vec![row_schema()], schema);
        let rows: Vec<_> = (0..300).map(|n| (row(Some(n % 2), 0.0), -1)).collect();
        harness.epoch(vec![(0, delta_of(&rows))]);
        assert_eq!(harness.output.get("-"), Some(&-150));
        assert_eq!(harness.output.get("10"), Some(&-150));
        assert_eq!(harness.errors.len(), 101, "the first hundred, and how many more");
        assert_eq!(harness.errors[0].error.code, code::DIVISION_BY_ZERO);
        assert_eq!(harness.errors[0].weight, -1);
        assert_eq!(harness.errors[0].row, "(0,s,,0.0,)");
        assert_eq!(harness.errors[100].row, "(50 more rows like these)");
        assert_eq!(harness.errors[100].weight, -50);
    }

    #[test]
    fn results_are_canonical() {
        let map = graph::Map {
            predicates: Vec::new(),
            expressions: Some(vec![of(column("f"), Binary::Multiply, lit(-1f64))]),
        };
        let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Float64, true)]));
        let mut map = Map::new(&map, schema);
        let mut collected = super::super::testing::Collected::default();
        let rows = [(row(None, 0.0), 1), (row(None, f64::NAN), 1), (row(None, 1.0), 1)];
        map.process(0, delta_of(&rows), &mut collected).expect("runs");
        expect![[r#"
            +1 -1.0
            +1 0.0
            +1 NaN"#]]
        .assert_eq(&pretty(&collected.0));
    }
}
