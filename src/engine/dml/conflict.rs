//! ON CONFLICT DO UPDATE: rows that were proposed, next to the rows that have their keys.
//!
//! Expressions see the row that is there under the table's name or alias, and the proposed one as
//! `excluded`. What must hold: a row is changed once by a statement, so what an expression reads
//! is always the row as it was before.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::compute;
use arrow::datatypes::{DataType, Field, Schema};

use super::changes::Changes;
use super::environment::{Environment, blocking};
use super::inserter::{Collected, Numbered, OnTaken, updated_twice};
use super::replace::replace;
use super::target::Target;
use super::update::{assigned_columns, replacement};
use crate::error::SqlResult;
use crate::planner::statement::Assignment;
use crate::planner::{Expression, RowExpressions, RowRelation, plan_conflict};

/// What a statement does about rows whose keys are taken.
pub(super) enum Resolution {
    Fail,
    Skip,
    Update(Box<Update>),
}

impl Resolution {
    pub(super) fn on_taken(&self) -> OnTaken {
        match self {
            Resolution::Fail => OnTaken::Fail,
            Resolution::Skip => OnTaken::Skip,
            Resolution::Update(_) => OnTaken::Collect,
        }
    }
}

/// DO UPDATE SET ... WHERE ..., planned.
pub(super) struct Update {
    /// The assigned values, then the condition if there is one.
    planned: RowExpressions,
    assigned: Vec<usize>,
}

/// What became of the conflicts.
pub(super) struct Updated {
    pub(super) changes: Changes,
    /// The new rows.
    pub(super) rows: Numbered,
}

impl Update {
    pub(super) async fn plan(
        environment: &Environment,
        assignments: &[Assignment],
        condition: Option<&Expression>,
    ) -> SqlResult<Self> {
        let object = &environment.target.object;
        let assigned = assigned_columns(environment, assignments)?;
        let relations = [
            RowRelation { name: &environment.alias, schema: object.schema() },
            RowRelation { name: "excluded", schema: object.schema() },
        ];
        let planned = plan_conflict(
            &environment.state,
            assignments,
            condition,
            environment.with.as_ref(),
            &object.columns,
            &relations,
            environment.parameters(),
        )
        .await?;
        Ok(Self { planned, assigned })
    }

    /// Changes the rows that have the keys, in the order of the proposals.
    pub(super) async fn run(
        &self,
        environment: &Environment,
        mut changes: Changes,
        collected: &[Collected],
    ) -> SqlResult<Updated> {
        let target = &environment.target;
        let mut updated = HashSet::new();
        let mut replacements = Vec::with_capacity(collected.len());
        let mut numbers = Vec::new();
        for Collected { existing, proposed } in collected {
            let pairs = visible_pairs(target, existing, &proposed.rows)?;
            let values = environment.evaluate(&self.planned, &pairs).await?;
            let wanted = self.wanted(target, existing, &values, &mut updated)?;
            numbers.extend(wanted.iter().map(|row| proposed.numbers[*row as usize]));
            let wanted = UInt32Array::from(wanted);
            let rows = side_by_side(existing, &values)?;
            let rows = crate::types::take_rows(&rows, &wanted)?;
            let assigning = &environment.assigning;
            replacements.push(replacement(target, assigning, &rows, &self.assigned)?);
        }
        let new: Vec<RecordBatch> = replacements.iter().map(|pair| pair.new.clone()).collect();
        let rows = compute::concat_batches(target.stored_schema(), &new)?;
        let target = target.clone();
        let changes = blocking(move || {
            replace(&target, &mut changes, replacements)?;
            Ok(changes)
        })
        .await?;
        Ok(Updated { changes, rows: Numbered { rows, numbers } })
    }

    /// The rows whose condition is true; a row of the table is among them once.
    fn wanted(
        &self,
        target: &Target,
        existing: &RecordBatch,
        values: &RecordBatch,
        updated: &mut HashSet<Vec<u8>>,
    ) -> SqlResult<Vec<u32>> {
        let condition = match values.columns().get(self.assigned.len()) {
            Some(condition) => Some(compute::cast(condition, &DataType::Boolean)?),
            None => None,
        };
        let condition = condition.as_ref().map(|condition| condition.as_boolean());
        let mut wanted = Vec::new();
        for (row, key) in (0u32..).zip(target.layout.keys(existing)?) {
            if updated.contains(&key) {
                return Err(updated_twice());
            }
            let index = row as usize;
            if condition.is_none_or(|is| is.is_valid(index) && is.value(index)) {
                updated.insert(key);
                wanted.push(row);
            }
        }
        Ok(wanted)
    }
}

/// What expressions see of the rows that are there, and of those that are proposed.
fn visible_pairs(
    target: &Target,
    existing: &RecordBatch,
    proposed: &RecordBatch,
) -> SqlResult<RecordBatch> {
    side_by_side(&target.visible(existing)?, &target.visible(proposed)?)
}

/// The columns of both, whatever their names.
pub(super) fn side_by_side(left: &RecordBatch, right: &RecordBatch) -> SqlResult<RecordBatch> {
    let columns: Vec<ArrayRef> = left.columns().iter().chain(right.columns()).cloned().collect();
    let fields: Vec<Arc<Field>> = left
        .schema()
        .fields()
        .iter()
        .chain(right.schema().fields())
        .map(|field| Arc::new(field.as_ref().clone().with_nullable(true)))
        .collect();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}
