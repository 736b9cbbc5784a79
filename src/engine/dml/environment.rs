//! Where a statement's expressions and queries are planned and run: the client's session, with the
//! rows of locked tables as the transaction sees them.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::concat_batches;
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use futures::TryStreamExt;

use super::context::Context;
use super::inserter::ValueSource;
use super::parameters::BoundParameters;
use super::references::{Touch, lock_all};
use super::target::{Intent, Target, check_writable};
use super::transaction::Transaction;
use crate::catalog::constraint::Check;
use crate::catalog::pg::PgSession;
use crate::catalog::privilege::Privileges;
use crate::catalog::{Catalog, Object};
use crate::error::{SqlError, SqlResult, code};
use crate::expr::Assigning;
use crate::planner::statement::{Assignment, ColumnRef};
use crate::planner::syntax::Selection;
use crate::planner::{
    Name, Parameters, PlannedQuery, Query, RowExpressions, RowRelation, With, default_expression,
    plan_checks, plan_expressions, plan_generated, plan_query, plan_returning,
};
use crate::serving::{self, QueryContext, StoredRows};
use crate::task;
use crate::types::SqlType;

/// One statement under its locks.
pub(super) struct Environment {
    pub(super) state: SessionState,
    parameters: BoundParameters,
    pub(super) target: Target,
    pub(super) assigning: Assigning,
    /// What the statement calls the target.
    pub(super) alias: String,
    /// The target's unique indexes.
    pub(super) unique: Vec<Arc<Object>>,
    /// What the statement begins with.
    pub(super) with: Option<With>,
    /// What there is since the statement has its locks.
    pub(super) catalog: Arc<Catalog>,
    /// The target as it is in that.
    pub(super) current: Arc<Object>,
}

/// What a statement says of its target.
pub(super) struct Naming<'a> {
    pub(super) table: &'a Name,
    pub(super) alias: Option<&'a str>,
    pub(super) intent: Intent,
    /// What the current user must be allowed to do with it.
    pub(super) wanted: Privileges,
    pub(super) with: Option<&'a With>,
    pub(super) writes: Writes<'a>,
}

/// What a statement may do to rows of its target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Writes<'a> {
    pub(super) adds: bool,
    pub(super) removes: bool,
    pub(super) assignments: &'a [Assignment],
}

impl Writes<'_> {
    fn touch(&self, object: &Object) -> Touch {
        let place = |assignment: &Assignment| {
            let name = &assignment.column.name;
            object.columns.iter().position(|column| column.name == *name)
        };
        let columns = self.assignments.iter().filter_map(place).collect();
        Touch { adds: self.adds, removes: self.removes, columns }
    }
}

impl Environment {
    /// Finds the target and takes its lock; everything is read after that.
    pub(super) async fn enter(
        context: &Context,
        transaction: &mut Transaction,
        query: &QueryContext,
        naming: Naming<'_>,
        parameters: &BoundParameters,
    ) -> SqlResult<Self> {
        let object = resolve(query, naming.table)?;
        query.check_writes(&object, naming.wanted)?;
        check_writable(&object, naming.intent)?;
        let touch = naming.writes.touch(&object);
        let catalog = lock_all(context, transaction, &object, &touch).await?;
        let gone = || SqlError::internal("a table that is gone");
        let newest = catalog.object(object.id).map(Arc::clone).ok_or_else(gone)?;
        let mut query = query.clone();
        if newest != object {
            query.catalog = Arc::new(query.catalog.with_newer(&newest));
        }
        let object = newest;
        query.rows.extend(transaction.passing_rows());
        query.unique = transaction.unique()?;
        let rows: Arc<dyn StoredRows> = query.rows_of(object.id);
        let alias = naming.alias.unwrap_or(&object.name.name).to_owned();
        query.target = Some(Arc::clone(&object));
        query.pg = Arc::new(PgSession { writes: Some(object.id), ..PgSession::clone(&query.pg) });
        let assigning = Assigning { style: query.style, now: query.now };
        let indexes = query.catalog.indexes(object.id);
        let unique = indexes.filter(|index| index.index().is_some_and(|index| index.unique));
        let unique = unique.cloned().collect();
        let state = serving::session_state(&query)?;
        let target = target_of(&state, &query.catalog, (&object, object.checks()), rows)?;
        Ok(Self {
            state,
            parameters: parameters.clone(),
            target,
            assigning,
            alias,
            unique,
            with: naming.with.cloned(),
            catalog,
            current: object,
        })
    }

    /// Another table that the statement writes.
    pub(super) fn target_of(
        &self,
        object: &Arc<Object>,
        rows: Arc<dyn StoredRows>,
    ) -> SqlResult<Target> {
        target_of(&self.state, &self.catalog, (object, object.checks()), rows)
    }

    /// The target's column that a statement names.
    pub(super) fn column(&self, column: &ColumnRef) -> SqlResult<usize> {
        column_of(&self.target.object, column)
    }

    /// The columns that a statement lists, each once; none listed: all.
    pub(super) fn columns(&self, listed: &[ColumnRef]) -> SqlResult<Vec<usize>> {
        if listed.is_empty() {
            return Ok((0..self.target.object.columns.len()).collect());
        }
        let mut columns = Vec::with_capacity(listed.len());
        for column in listed {
            let index = self.column(column)?;
            if columns.contains(&index) {
                return Err(SqlError::new(
                    code::DUPLICATE_COLUMN,
                    format!("column \"{}\" specified more than once", column.name),
                )
                .position(column.position));
            }
            columns.push(index);
        }
        Ok(columns)
    }

    /// The defaults of `columns`, ready to be evaluated; none: NULL.
    pub(super) fn defaults(&self, columns: &[usize]) -> SqlResult<Vec<ValueSource>> {
        self.defaults_of(&self.target.object, columns)
    }

    /// Those of another table.
    pub(super) fn defaults_of(
        &self,
        object: &Object,
        columns: &[usize],
    ) -> SqlResult<Vec<ValueSource>> {
        let mut with_default = Vec::new();
        let mut expressions = Vec::new();
        for &column in columns {
            if let Some(default) = default_expression(&object.columns[column])? {
                with_default.push(column);
                expressions.push(default);
            }
        }
        let expressions: Vec<_> = expressions.iter().collect();
        let none = Parameters { declared: &[], values: Some(&[]) };
        let planned = plan_expressions(&self.state, &expressions, &[], none)?;
        let sources = columns.iter().map(|column| {
            match with_default.iter().position(|found| found == column) {
                Some(index) => ValueSource::Default {
                    expression: Arc::clone(&planned.expressions[index]),
                    sql_type: SqlType::of_field(planned.schema.field(index)),
                },
                None => ValueSource::Null,
            }
        });
        Ok(sources.collect())
    }

    /// The default of a column.
    pub(super) fn default(&self, column: usize) -> SqlResult<ValueSource> {
        Ok(self.defaults(&[column])?.pop().unwrap_or(ValueSource::Null))
    }

    /// Plans a query of the statement.
    pub(super) async fn plan(&self, query: &Query) -> SqlResult<PlannedQuery> {
        plan_query(&self.state, query, &self.parameters.declared).await
    }

    /// Plans and runs a query whose rows go into the columns `targets` of the target; also gives
    /// the types that they come in. What cannot be assigned is an error before anything runs.
    pub(super) async fn run_into(
        &self,
        query: &Query,
        targets: &[usize],
    ) -> SqlResult<(SendableRecordBatchStream, Vec<SqlType>)> {
        let planned = self.plan(query).await?;
        let fields = planned.plan.schema().fields().clone();
        let types: Vec<SqlType> = fields
            .iter()
            .zip(planned.untyped_columns())
            .map(|(field, untyped)| match untyped {
                true => SqlType::Unknown,
                false => SqlType::of_field(field),
            })
            .collect();
        for ((field, from), target) in fields.iter().zip(&types).zip(targets) {
            let column = &self.target.object.columns[*target];
            self.assigning.check(field, from, &column.sql_type, &column.name)?;
        }
        Ok((self.run_planned(planned).await?, types))
    }

    /// Runs what was planned.
    pub(super) async fn run_planned(
        &self,
        planned: PlannedQuery,
    ) -> SqlResult<SendableRecordBatchStream> {
        let plan = match self.parameters.values.is_empty() {
            true => planned.plan,
            false => planned.plan.with_param_values(self.parameters.values.clone())?,
        };
        serving::execute(&self.state, &plan).await
    }

    /// The statement's parameters, as the planner takes them.
    pub(super) fn parameters(&self) -> Parameters<'_> {
        self.parameters.bound()
    }

    /// RETURNING, planned before anything is written: over the target's rows, and those of the
    /// relations beside them.
    pub(super) async fn plan_returning(
        &self,
        selection: Option<&Selection>,
        beside: &Beside,
    ) -> SqlResult<Option<RowExpressions>> {
        let Some(selection) = selection else { return Ok(None) };
        let relations = beside.with(&self.alias, self.target.object.schema());
        let (with, parameters) = (self.with.as_ref(), self.parameters());
        plan_returning(&self.state, selection, with, &relations, parameters).await.map(Some)
    }

    /// What RETURNING gives for `rows`, which have the target's visible columns, and those of what
    /// is beside it.
    pub(super) async fn returning(
        &self,
        planned: Option<RowExpressions>,
        rows: &[RecordBatch],
    ) -> SqlResult<Option<(SchemaRef, Vec<RecordBatch>)>> {
        let Some(planned) = planned else { return Ok(None) };
        let mut batches = Vec::with_capacity(rows.len());
        for rows in rows {
            batches.push(self.evaluate(&planned, rows).await?);
        }
        Ok(Some((planned.schema, batches)))
    }

    /// The values of row expressions for each of `rows`. Subqueries see what there was before the
    /// statement.
    pub(super) async fn evaluate(
        &self,
        planned: &RowExpressions,
        rows: &RecordBatch,
    ) -> SqlResult<RecordBatch> {
        let Some(plan) = &planned.plan else { return evaluate(planned, rows) };
        let stream = serving::execute(&self.state, &plan.over(rows)?).await?;
        let batches: Vec<RecordBatch> = stream.try_collect().await?;
        let values = concat_batches(&planned.schema, &batches)?;
        if values.num_rows() != rows.num_rows() {
            return Err(SqlError::internal("expressions over rows gave other rows"));
        }
        Ok(values)
    }
}

fn target_of(
    state: &SessionState,
    catalog: &Arc<Catalog>,
    (object, checks): (&Arc<Object>, &[Check]),
    rows: Arc<dyn StoredRows>,
) -> SqlResult<Target> {
    let (name, columns) = (&object.name.name, &object.columns);
    let mut target = Target::new(Arc::clone(object), rows)?;
    target.generated = plan_generated(catalog, name, columns)?.map(Arc::new);
    target.checks = plan_checks(state, name, columns, checks)?.map(Arc::new);
    Ok(target)
}

/// The relations that a statement joins with its target, and their columns.
#[derive(Debug, Default)]
pub(super) struct Beside(Vec<(String, SchemaRef)>);

impl Beside {
    /// Of relations all of whose columns a plan gives, one relation's after the other's.
    pub(super) fn of(planned: &PlannedQuery, relations: Vec<String>) -> Self {
        let schema = planned.plan.schema();
        let columns = |relation: &String| {
            let own = schema.iter().filter(|(qualifier, _)| {
                qualifier.is_some_and(|qualifier| qualifier.table() == relation)
            });
            let fields: Vec<_> = own.map(|(_, field)| Arc::clone(field)).collect();
            Arc::new(Schema::new(fields))
        };
        let with_columns = relations.into_iter().map(|relation| {
            let columns = columns(&relation);
            (relation, columns)
        });
        Self(with_columns.collect())
    }

    /// The target and all of them.
    pub(super) fn with<'a>(&'a self, target: &'a str, schema: SchemaRef) -> Vec<RowRelation<'a>> {
        let mut relations = vec![RowRelation { name: target, schema }];
        relations.extend(
            self.0.iter().map(|(name, schema)| RowRelation {
                name: name.as_str(),
                schema: Arc::clone(schema),
            }),
        );
        relations
    }
}

/// The values of row expressions without subqueries for each of `rows`.
fn evaluate(planned: &RowExpressions, rows: &RecordBatch) -> SqlResult<RecordBatch> {
    let columns = planned
        .expressions
        .iter()
        .map(|expression| Ok(expression.evaluate(rows)?.into_array(rows.num_rows())?))
        .collect::<SqlResult<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    let schema = Arc::clone(&planned.schema);
    Ok(RecordBatch::try_new_with_options(schema, columns, &options)?)
}

/// The index of a column that a statement names.
pub(super) fn column_of(object: &Object, column: &ColumnRef) -> SqlResult<usize> {
    object.columns.iter().position(|found| found.name == column.name).ok_or_else(|| {
        let message = format!(
            "column \"{}\" of relation \"{}\" does not exist",
            column.name, object.name.name
        );
        SqlError::new(code::UNDEFINED_COLUMN, message).position(column.position)
    })
}

/// The relation that a statement names.
pub(super) fn resolve(query: &QueryContext, table: &Name) -> SqlResult<Arc<Object>> {
    if let Some(database) = table.database.as_ref().filter(|name| **name != query.database) {
        return Err(SqlError::new(
            code::FEATURE_NOT_SUPPORTED,
            format!("cross-database references are not implemented: \"{table}\""),
        )
        .detail(format!(
            "The connection is to database \"{}\", not \"{database}\".",
            query.database
        ))
        .position(table.position));
    }
    let found = query.catalog.resolve(&query.search_path, table.schema.as_deref(), &table.name);
    found.cloned().ok_or_else(|| {
        SqlError::new(code::UNDEFINED_TABLE, format!("relation \"{table}\" does not exist"))
            .position(table.position)
    })
}

/// Runs `work`, which may wait for the disk, where it holds up nobody.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> SqlResult<T> + Send + 'static,
) -> SqlResult<T> {
    task::spawn_blocking(work)
        .await
        .map_err(|error| SqlError::internal(format!("writing a table: {error}")))?
}
