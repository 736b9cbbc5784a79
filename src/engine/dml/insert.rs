//! INSERT: the source's rows, completed with defaults, into the table; and ON CONFLICT.

use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::compute;
use futures::TryStreamExt;

use super::DmlResult;
use super::arbiter::Meant;
use super::conflict::{Resolution, Update};
use super::context::Context;
use super::environment::{Beside, Environment, Naming, Writes, blocking};
use super::inserter::{Inserter, Inserting, Numbered, ValueSource};
use super::parameters::BoundParameters;
use super::target::Intent;
use super::transaction::Transaction;
use crate::catalog::privilege::Privileges;
use crate::catalog::{Column, Object};
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::{Assignment, ConflictAction, ConflictTarget, Insert, OnConflict};
use crate::planner::{insert_query, not_a_default};
use crate::serving::QueryContext;
use crate::types::SqlType;

/// Runs an INSERT as a part of `transaction`.
pub async fn insert(
    context: &Context,
    transaction: &mut Transaction,
    query: &QueryContext,
    statement: &Insert,
    parameters: &BoundParameters,
) -> SqlResult<DmlResult> {
    let naming = Naming {
        table: &statement.table,
        alias: statement.alias.as_deref(),
        intent: Intent::Add,
        wanted: wanted(statement),
        with: statement.with.as_ref(),
        writes: Writes { adds: true, removes: false, assignments: assignments(statement) },
    };
    let environment = Environment::enter(context, transaction, query, naming, parameters).await?;
    let target = &environment.target;
    let columns = environment.columns(&statement.columns)?;
    let listed: Vec<Column> =
        columns.iter().map(|column| target.object.columns[*column].clone()).collect();
    let returning =
        environment.plan_returning(statement.returning.as_ref(), &Beside::default()).await?;
    let (resolution, meant) = resolution(&environment, statement.on_conflict.as_ref()).await?;
    let (source, types) = match insert_query(statement, &listed)? {
        Some(source) => {
            let (rows, types) = environment.run_into(&source, &columns).await?;
            (Some(rows), types)
        }
        None => (None, Vec::new()),
    };
    let width = types.len();
    check_not_generated(&environment, &columns[..width.min(columns.len())], statement)?;
    check_width(width, &columns, statement)?;
    let mut sources = sources(&environment, &columns[..width], &types)?;
    for &column in &columns[..width] {
        // What VALUES gives was replaced before.
        if !statement.lists_values() && statement.ignores(&target.object.columns[column]) {
            sources[column] = environment.default(column)?;
        }
    }
    let inserting = Inserting {
        target: target.clone(),
        assigning: environment.assigning.clone(),
        sources,
        on_taken: resolution.on_taken(),
        arbiters: transaction.arbiters(target.object.id, meant),
        keep_added: returning.is_some(),
    };
    let mut inserter = Inserter::new(context, inserting);
    match source {
        None => inserter = push(inserter, one_row()?).await?,
        Some(mut rows) => {
            while let Some(batch) = rows.try_next().await? {
                inserter = push(inserter, batch).await?;
                transaction.check_size(inserter.changes.bytes(), &context.limits)?;
            }
        }
    }
    let mut changes = std::mem::take(&mut inserter.changes);
    let mut written = std::mem::take(&mut inserter.added);
    let mut rows = inserter.count;
    let collected = std::mem::take(&mut inserter.collected);
    drop(inserter);
    if let Resolution::Update(update) = &resolution {
        let updated = update.run(&environment, changes, &collected).await?;
        changes = updated.changes;
        rows += updated.rows.numbers.len() as u64;
        written.push(updated.rows);
        transaction.check_size(changes.bytes(), &context.limits)?;
    }
    let returning = match returning {
        Some(returning) => {
            let rows = target.all_visible(&in_given_order(written)?)?;
            environment.returning(Some(returning), &rows).await?
        }
        None => None,
    };
    environment.settle(context, transaction, changes).await?;
    Ok(DmlResult { rows, returning, notices: Vec::new() })
}

/// What ON CONFLICT DO UPDATE sets.
fn assignments(statement: &Insert) -> &[Assignment] {
    match statement.on_conflict.as_ref().map(|conflict| &conflict.action) {
        Some(ConflictAction::Update { assignments, .. }) => assignments,
        _ => &[],
    }
}

/// The rows of a query are values, and a column that is computed or numbered takes none.
fn check_not_generated(
    environment: &Environment,
    given: &[usize],
    statement: &Insert,
) -> SqlResult<()> {
    let columns = &environment.target.object.columns;
    let mut given = given.iter().map(|column| &columns[*column]);
    let generated = given.find(|column| statement.refuses(column));
    match generated {
        // What VALUES says there was looked at before.
        Some(column) if !statement.lists_values() => Err(not_a_default(column)),
        _ => Ok(()),
    }
}

/// Whether a source of `width` columns fits the `columns` that it is for.
fn check_width(width: usize, columns: &[usize], statement: &Insert) -> SqlResult<()> {
    let message = if width > columns.len() {
        "INSERT has more expressions than target columns"
    } else if width < columns.len() && width > 0 && !statement.columns.is_empty() {
        "INSERT has more target columns than expressions"
    } else {
        return Ok(());
    };
    Err(SqlError::new(code::SYNTAX_ERROR, message))
}

/// Where each of the target's columns gets its values; `given` are those of the source's columns,
/// which come in `types`.
pub(super) fn sources(
    environment: &Environment,
    given: &[usize],
    types: &[SqlType],
) -> SqlResult<Vec<ValueSource>> {
    let columns = 0..environment.target.object.columns.len();
    let others: Vec<usize> = columns.clone().filter(|column| !given.contains(column)).collect();
    let mut defaults = environment.defaults(&others)?.into_iter();
    let source = |column: usize| match given.iter().position(|given| *given == column) {
        Some(index) => ValueSource::Given { index, sql_type: types[index].clone() },
        None => defaults.next().unwrap_or(ValueSource::Null),
    };
    Ok(columns.map(source).collect())
}

/// What `clause` means for this target, and who says that a place is taken.
async fn resolution(
    environment: &Environment,
    clause: Option<&OnConflict>,
) -> SqlResult<(Resolution, Meant)> {
    let Some(OnConflict { target, action }) = clause else {
        return Ok((Resolution::Fail, Meant::Key));
    };
    let meant = match target {
        Some(target) => conflict_target(environment, target)?,
        None => Meant::All,
    };
    match action {
        ConflictAction::Nothing => Ok((Resolution::Skip, meant)),
        ConflictAction::Update { .. } if target.is_none() => Err(SqlError::new(
            code::SYNTAX_ERROR,
            "ON CONFLICT DO UPDATE requires inference specification or constraint name",
        )
        .hint("For example, ON CONFLICT (column_name).")),
        ConflictAction::Update { assignments, condition } => {
            let update = Update::plan(environment, assignments, condition.as_ref()).await?;
            Ok((Resolution::Update(Box::new(update)), meant))
        }
    }
}

/// The primary key or unique index that a conflict is of.
fn conflict_target(environment: &Environment, target: &ConflictTarget) -> SqlResult<Meant> {
    let object = &environment.target.object;
    let key = match environment.target.has_primary_key() {
        true => object.key(),
        false => Vec::new(),
    };
    match target {
        ConflictTarget::Columns(columns) => {
            let mut named = environment.columns(columns)?;
            named.sort_unstable();
            let mut sorted = key;
            sorted.sort_unstable();
            if sorted == named && !sorted.is_empty() {
                return Ok(Meant::Key);
            }
            let is_meant = |object: &&Arc<Object>| {
                let keys = object.index().map_or(&[][..], |index| &index.keys);
                let mut columns: Vec<usize> = keys.iter().map(|key| key.column).collect();
                columns.sort_unstable();
                columns == named
            };
            if let Some(index) = environment.unique.iter().find(is_meant) {
                return Ok(Meant::Index(index.id));
            }
            Err(SqlError::new(
                code::INVALID_COLUMN_REFERENCE,
                "there is no unique or exclusion constraint matching the ON CONFLICT specification",
            ))
        }
        ConflictTarget::Constraint(name) => {
            let target = &environment.target;
            if target.has_primary_key() && target.constraint_name() == *name {
                return Ok(Meant::Key);
            }
            let is_meant = |object: &&Arc<Object>| {
                let enforces = object.index().is_some_and(|index| index.constraint.is_some());
                enforces && object.name.name == *name
            };
            if let Some(index) = environment.unique.iter().find(is_meant) {
                return Ok(Meant::Index(index.id));
            }
            Err(SqlError::new(
                code::UNDEFINED_OBJECT,
                format!("constraint \"{name}\" for table \"{}\" does not exist", object.name.name),
            ))
        }
    }
}

/// DEFAULT VALUES: a row of nothing, to be completed.
fn one_row() -> SqlResult<RecordBatch> {
    let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(1));
    let schema = Arc::new(arrow::datatypes::Schema::empty());
    Ok(RecordBatch::try_new_with_options(schema, Vec::new(), &options)?)
}

/// Pushes where it may block.
pub(super) async fn push(mut inserter: Inserter, batch: RecordBatch) -> SqlResult<Inserter> {
    blocking(move || {
        inserter.push(&batch)?;
        Ok(inserter)
    })
    .await
}

/// Rows in the order in which the source gave them, whatever became of each.
fn in_given_order(written: Vec<Numbered>) -> SqlResult<Vec<RecordBatch>> {
    let numbers: Vec<u64> = written.iter().flat_map(|rows| rows.numbers.iter().copied()).collect();
    let batches: Vec<RecordBatch> = written.into_iter().map(|rows| rows.rows).collect();
    let Some(first) = batches.first() else { return Ok(batches) };
    if numbers.is_sorted() {
        return Ok(batches);
    }
    let all = compute::concat_batches(&first.schema(), &batches)?;
    let mut order: Vec<u32> = (0u32..).take(numbers.len()).collect();
    order.sort_by_key(|row| numbers[*row as usize]);
    Ok(vec![crate::types::take_rows(&all, &UInt32Array::from(order))?])
}

/// What an INSERT needs to be allowed: columns that RETURNING or ON CONFLICT looks at are read.
fn wanted(statement: &Insert) -> Privileges {
    let mut wanted = Privileges::INSERT;
    if statement.returning.is_some() {
        wanted = wanted | Privileges::SELECT;
    }
    if let Some(conflict) = &statement.on_conflict {
        if conflict.target.is_some() {
            wanted = wanted | Privileges::SELECT;
        }
        if let ConflictAction::Update { .. } = conflict.action {
            wanted = wanted | Privileges::UPDATE;
        }
    }
    wanted
}
