//! UPDATE: the rows that the condition finds, as they were and as they shall be, from one query.
//!
//! ```text
//!  SELECT old columns, new values FROM target [, FROM] WHERE condition
//! ```

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, UInt32Array};
use arrow::datatypes::Int64Type;
use futures::TryStreamExt;

use super::DmlResult;
use super::changes::Changes;
use super::conflict::side_by_side;
use super::context::Context;
use super::environment::{Beside, Environment, Naming, Writes, blocking};
use super::parameters::BoundParameters;
use super::replace::{Replacement, replace};
use super::target::{Intent, Target};
use super::transaction::Transaction;
use crate::catalog::privilege::Privileges;
use crate::error::{SqlError, SqlResult, code};
use crate::expr::Assigning;
use crate::planner::statement::{Assignment, Update};
use crate::planner::{Expression, From, Name, update_query};
use crate::serving::{QueryContext, TARGET};
use crate::types::SqlType;

/// Runs an UPDATE as a part of `transaction`.
pub async fn update(
    context: &Context,
    transaction: &mut Transaction,
    query: &QueryContext,
    statement: &Update,
    parameters: &BoundParameters,
) -> SqlResult<DmlResult> {
    let naming = Naming {
        table: &statement.table,
        alias: statement.alias.as_deref(),
        intent: Intent::Change,
        wanted: wanted(statement),
        with: statement.with.as_ref(),
        writes: Writes { adds: false, removes: false, assignments: &statement.assignments },
    };
    let environment = Environment::enter(context, transaction, query, naming, parameters).await?;
    let target = &environment.target;
    let assigned = assigned_columns(&environment, &statement.assignments)?;
    let of_target = Update { table: target_name(&statement.table), ..statement.clone() };
    let beside = relations_beside(statement.from.as_ref(), statement.returning.is_some());
    let rows = update_query(&of_target, &target.stored_names(), &target.object.columns, &beside)?;
    let planned = environment.plan(&rows).await?;
    let beside = Beside::of(&planned, beside);
    let returning = environment.plan_returning(statement.returning.as_ref(), &beside).await?;
    let width = target.stored_schema().fields().len() + assigned.len();

    let mut joined = Vec::new();
    let mut seen = HashSet::new();
    let mut replacements = Vec::new();
    let mut bytes = 0;
    let mut stream = environment.run_planned(planned).await?;
    while let Some(batch) = stream.try_next().await? {
        let batch = first_of_each(target, batch, &mut seen, statement.from.is_some())?;
        if batch.num_rows() == 0 {
            continue;
        }
        let replacement = replacement(target, &environment.assigning, &batch, &assigned)?;
        bytes += 2 * replacement.new.get_array_memory_size();
        transaction.check_size(bytes, &context.limits)?;
        if returning.is_some() {
            joined.push(beside_target(target, &replacement.new, &batch, width)?);
        }
        replacements.push(replacement);
    }
    let rows = replacements.iter().map(|pair| pair.new.num_rows() as u64).sum();
    let written = target.clone();
    let changes = blocking(move || {
        let mut changes = Changes::default();
        replace(&written, &mut changes, replacements)?;
        Ok(changes)
    })
    .await?;
    transaction.check_size(changes.bytes(), &context.limits)?;
    let returning = environment.returning(returning, &joined).await?;
    environment.settle(context, transaction, changes).await?;
    Ok(DmlResult { rows, returning, notices: Vec::new() })
}

/// The relations that RETURNING may name beside the target.
pub(super) fn relations_beside(from: Option<&From>, returning: bool) -> Vec<String> {
    from.filter(|_| returning).map(From::relations).unwrap_or_default()
}

/// What RETURNING sees: rows of the target as it shows them, and what `batch` has from column
/// `width` on.
pub(super) fn beside_target(
    target: &Target,
    stored: &RecordBatch,
    batch: &RecordBatch,
    width: usize,
) -> SqlResult<RecordBatch> {
    let others: Vec<usize> = (width..batch.num_columns()).collect();
    side_by_side(&target.visible(stored)?, &batch.project(&others)?)
}

/// The target as the statement's query names it: with its hidden columns.
pub(super) fn target_name(table: &Name) -> Name {
    Name { database: None, schema: Some(TARGET.to_owned()), ..table.clone() }
}

/// The columns that SET names, each once.
pub(super) fn assigned_columns(
    environment: &Environment,
    assignments: &[Assignment],
) -> SqlResult<Vec<usize>> {
    let mut columns = Vec::with_capacity(assignments.len());
    for assignment in assignments {
        let column = environment.column(&assignment.column)?;
        if columns.contains(&column) {
            return Err(SqlError::new(
                code::SYNTAX_ERROR,
                format!("multiple assignments to same column \"{}\"", assignment.column.name),
            )
            .position(assignment.column.position));
        }
        let name = &assignment.column.name;
        let target = &environment.target.object.columns[column];
        let always = target.identity.is_some_and(|identity| identity.always);
        if (target.generated.is_some() || always) && assignment.value.is_some() {
            let message = format!("column \"{name}\" can only be updated to DEFAULT");
            let what = match always {
                true => "an identity column defined as GENERATED ALWAYS",
                false => "a generated column",
            };
            return Err(SqlError::new(code::GENERATED_ALWAYS, message)
                .detail(format!("Column \"{name}\" is {what}."))
                .position(assignment.column.position));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// Rows as they were and as they shall be, from a batch of the plan.
pub(super) fn replacement(
    target: &Target,
    assigning: &Assigning,
    batch: &RecordBatch,
    assigned: &[usize],
) -> SqlResult<Replacement> {
    let stored = target.stored_schema();
    let width = stored.fields().len();
    let old = RecordBatch::try_new(Arc::clone(stored), batch.columns()[..width].to_vec())?;
    let mut columns: Vec<ArrayRef> = target.visible(&old)?.columns().to_vec();
    for (position, &column) in assigned.iter().enumerate() {
        let from = SqlType::of_field(batch.schema().field(width + position));
        let values = batch.column(width + position);
        let to = &target.object.columns[column];
        columns[column] = assigning.assign(values, &from, &to.sql_type, &to.name)?;
    }
    let row_ids = target.object.row_id_place();
    let row_ids = row_ids.map(|place| old.column(place).as_primitive::<Int64Type>().clone());
    let new = target.stored_rows(columns, row_ids)?;
    Ok(Replacement { old, new })
}

/// The rows of `batch` whose target row was not seen before: a row that joins with several is
/// changed once.
pub(super) fn first_of_each(
    target: &Target,
    batch: RecordBatch,
    seen: &mut HashSet<Vec<u8>>,
    joined: bool,
) -> SqlResult<RecordBatch> {
    if !joined {
        return Ok(batch);
    }
    let stored = target.stored_schema();
    let width = stored.fields().len();
    let old = RecordBatch::try_new(Arc::clone(stored), batch.columns()[..width].to_vec())?;
    let first: Vec<u32> = (0u32..)
        .zip(target.layout.keys(&old)?)
        .filter_map(|(row, key)| seen.insert(key).then_some(row))
        .collect();
    Ok(crate::types::take_rows(&batch, &UInt32Array::from(first))?)
}

/// What an UPDATE needs to be allowed: choosing rows, or computing with them, reads them.
fn wanted(statement: &Update) -> Privileges {
    let values = statement.assignments.iter().filter_map(|one| one.value.as_ref());
    let mut expressions = values.chain(&statement.condition);
    let reads = statement.returning.is_some() || expressions.any(Expression::reads_columns);
    if reads { Privileges::UPDATE | Privileges::SELECT } else { Privileges::UPDATE }
}
