//! DELETE: the rows that the condition finds go.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::TryStreamExt;

use super::DmlResult;
use super::changes::Changes;
use super::context::Context;
use super::environment::{Beside, Environment, Naming, Writes};
use super::parameters::BoundParameters;
use super::target::Intent;
use super::transaction::Transaction;
use super::update::{beside_target, first_of_each, relations_beside, target_name};
use crate::catalog::privilege::Privileges;
use crate::error::SqlResult;
use crate::planner::statement::Delete;
use crate::planner::{Expression, delete_query};
use crate::serving::QueryContext;

/// Runs a DELETE as a part of `transaction`.
pub async fn delete(
    context: &Context,
    transaction: &mut Transaction,
    query: &QueryContext,
    statement: &Delete,
    parameters: &BoundParameters,
) -> SqlResult<DmlResult> {
    let naming = Naming {
        table: &statement.table,
        alias: statement.alias.as_deref(),
        intent: Intent::Change,
        wanted: wanted(statement),
        with: statement.with.as_ref(),
        writes: Writes { adds: false, removes: true, assignments: &[] },
    };
    let environment = Environment::enter(context, transaction, query, naming, parameters).await?;
    let target = &environment.target;
    let of_target = Delete { table: target_name(&statement.table), ..statement.clone() };
    let beside = relations_beside(statement.using.as_ref(), statement.returning.is_some());
    let found = delete_query(&of_target, &target.stored_names(), &beside)?;
    let planned = environment.plan(&found).await?;
    let beside = Beside::of(&planned, beside);
    let returning = environment.plan_returning(statement.returning.as_ref(), &beside).await?;
    let width = target.stored_schema().fields().len();

    let mut changes = Changes::default();
    let mut seen = HashSet::new();
    let mut gone = Vec::new();
    let mut rows = 0;
    let mut stream = environment.run_planned(planned).await?;
    while let Some(batch) = stream.try_next().await? {
        let batch = first_of_each(target, batch, &mut seen, statement.using.is_some())?;
        let stored = batch.columns()[..width].to_vec();
        let old = RecordBatch::try_new(Arc::clone(target.stored_schema()), stored)?;
        for key in target.layout.keys(&old)? {
            changes.delete(&key);
        }
        rows += old.num_rows() as u64;
        if returning.is_some() {
            gone.push(beside_target(target, &old, &batch, width)?);
        }
        changes.went(old);
        transaction.check_size(changes.bytes(), &context.limits)?;
    }
    let returning = environment.returning(returning, &gone).await?;
    environment.settle(context, transaction, changes).await?;
    Ok(DmlResult { rows, returning, notices: Vec::new() })
}

/// What a DELETE needs to be allowed: choosing rows reads them.
fn wanted(statement: &Delete) -> Privileges {
    let chooses = statement.condition.as_ref().is_some_and(Expression::reads_columns);
    let reads = chooses || statement.returning.is_some();
    if reads { Privileges::DELETE | Privileges::SELECT } else { Privileges::DELETE }
}
