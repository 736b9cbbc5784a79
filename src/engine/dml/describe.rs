//! What a DML statement takes and gives, before it is run: for Describe.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use super::environment::{Beside, column_of, resolve};
use super::update::{relations_beside, target_name};
use crate::catalog::{Column, Object};
use crate::dataflow::guard::Guard;
use crate::engine::ddl::guard_of;
use crate::error::{SqlError, SqlResult};
use crate::planner::statement::{ConflictAction, Delete, Insert, StatementKind, Update};
use crate::planner::syntax::Selection;
use crate::planner::{
    Name, Parameters, PlannedQuery, Query, RowRelation, With, delete_query, insert_query,
    plan_conflict, plan_query, plan_returning, update_query,
};
use crate::serving::{QueryContext, SnapshotHolders, UniqueKeys, session_state};
use crate::types::SqlType;

/// Types of parameters, and of what RETURNING gives.
#[derive(Debug, Clone)]
pub struct Described {
    pub parameters: Vec<SqlType>,
    pub returning: Option<SchemaRef>,
}

/// Describes an INSERT, UPDATE or DELETE; `None` for another statement.
pub async fn describe(
    query: &QueryContext,
    statement: &StatementKind,
    declared: &[Option<SqlType>],
) -> SqlResult<Option<Described>> {
    match statement {
        StatementKind::Insert(insert) => describe_insert(query, insert, declared).await.map(Some),
        StatementKind::Update(update) => describe_update(query, update, declared).await.map(Some),
        StatementKind::Delete(delete) => describe_delete(query, delete, declared).await.map(Some),
        _ => Ok(None),
    }
}

/// What finds the rows of a write.
#[derive(Debug)]
pub struct RowsOf {
    pub context: QueryContext,
    /// `None`: INSERT ... DEFAULT VALUES.
    pub query: Option<Query>,
    /// The name of the table that is written.
    pub table: String,
}

/// What finds the rows of an INSERT, UPDATE or DELETE.
pub fn rows_of(query: &QueryContext, statement: &StatementKind) -> SqlResult<RowsOf> {
    let (table, alias) = match statement {
        StatementKind::Insert(insert) => (&insert.table, insert.alias.as_deref()),
        StatementKind::Update(update) => (&update.table, update.alias.as_deref()),
        StatementKind::Delete(delete) => (&delete.table, delete.alias.as_deref()),
        other => return Err(SqlError::internal(format!("statement went astray: {other:?}"))),
    };
    let described = Describing::new(query, table, alias, &[])?;
    let found = match statement {
        StatementKind::Insert(insert) => insert_query(insert, &described.listed(insert)?)?,
        StatementKind::Update(update) => Some(described.updated(update, &[])?),
        StatementKind::Delete(delete) => Some(described.deleted(delete, &[])?),
        _ => None,
    };
    let (object, mut context) = (described.object, described.query);
    context.unique.insert(object.id, unique_keys(&context, &object)?);
    Ok(RowsOf { table: object.name.name.clone(), context, query: found })
}

/// The unique indexes by which the statement would find rows.
fn unique_keys(context: &QueryContext, object: &Object) -> SqlResult<Vec<UniqueKeys>> {
    let mut keys = Vec::new();
    for index in context.catalog.indexes(object.id) {
        let Some(guard) = guard_of(object, index)?.filter(Guard::finds_rows) else { continue };
        let holders = SnapshotHolders { snapshot: Arc::clone(&context.snapshot), index: index.id };
        let schema = object.stored_schema();
        keys.push(UniqueKeys::new(&guard.name, schema, guard.columns(), Arc::new(holders))?);
    }
    Ok(keys)
}

async fn describe_insert(
    query: &QueryContext,
    insert: &Insert,
    declared: &[Option<SqlType>],
) -> SqlResult<Described> {
    let mut described = Describing::new(query, &insert.table, insert.alias.as_deref(), declared)?;
    let listed = described.listed(insert)?;
    if let Some(source) = insert_query(insert, &listed)? {
        described.query(&source).await?;
    }
    if let Some(on_conflict) = &insert.on_conflict
        && let ConflictAction::Update { assignments, condition } = &on_conflict.action
    {
        let schema = described.object.schema();
        let relations = [
            RowRelation { name: &described.alias, schema: Arc::clone(&schema) },
            RowRelation { name: "excluded", schema },
        ];
        let state = session_state(&described.query)?;
        let columns = &described.object.columns;
        let (condition, with) = (condition.as_ref(), insert.with.as_ref());
        let parameters = Parameters { declared: &described.declared, values: None };
        let planned =
            plan_conflict(&state, assignments, condition, with, columns, &relations, parameters)
                .await?;
        described.learn(&planned.parameters);
    }
    let beside = Beside::default();
    described.returning(insert.returning.as_ref(), insert.with.as_ref(), &beside).await
}

async fn describe_update(
    query: &QueryContext,
    update: &Update,
    declared: &[Option<SqlType>],
) -> SqlResult<Described> {
    let mut described = Describing::new(query, &update.table, update.alias.as_deref(), declared)?;
    let beside = relations_beside(update.from.as_ref(), update.returning.is_some());
    let planned = described.query(&described.updated(update, &beside)?).await?;
    let beside = Beside::of(&planned, beside);
    described.returning(update.returning.as_ref(), update.with.as_ref(), &beside).await
}

async fn describe_delete(
    query: &QueryContext,
    delete: &Delete,
    declared: &[Option<SqlType>],
) -> SqlResult<Described> {
    let mut described = Describing::new(query, &delete.table, delete.alias.as_deref(), declared)?;
    let beside = relations_beside(delete.using.as_ref(), delete.returning.is_some());
    let planned = described.query(&described.deleted(delete, &beside)?).await?;
    let beside = Beside::of(&planned, beside);
    described.returning(delete.returning.as_ref(), delete.with.as_ref(), &beside).await
}

/// What is known so far.
struct Describing {
    query: QueryContext,
    object: Arc<Object>,
    alias: String,
    declared: Vec<Option<SqlType>>,
}

impl Describing {
    fn new(
        query: &QueryContext,
        table: &Name,
        alias: Option<&str>,
        declared: &[Option<SqlType>],
    ) -> SqlResult<Self> {
        let object = resolve(query, table)?;
        let alias = alias.unwrap_or(&object.name.name).to_owned();
        let mut query = query.clone();
        query.target = Some(Arc::clone(&object));
        Ok(Self { query, object, alias, declared: declared.to_vec() })
    }

    /// The columns that an INSERT gives values for.
    fn listed(&self, insert: &Insert) -> SqlResult<Vec<Column>> {
        let columns = &self.object.columns;
        if insert.columns.is_empty() {
            return Ok(columns.clone());
        }
        let named = insert.columns.iter();
        named.map(|named| Ok(columns[column_of(&self.object, named)?].clone())).collect()
    }

    /// What finds the rows that an UPDATE changes.
    fn updated(&self, update: &Update, beside: &[String]) -> SqlResult<Query> {
        let of_target = Update { table: target_name(&update.table), ..update.clone() };
        let first = self.object.stored_schema().field(0).name().clone();
        update_query(&of_target, &[&first], &self.object.columns, beside)
    }

    /// What finds the rows that a DELETE takes away.
    fn deleted(&self, delete: &Delete, beside: &[String]) -> SqlResult<Query> {
        let of_target = Delete { table: target_name(&delete.table), ..delete.clone() };
        let first = self.object.stored_schema().field(0).name().clone();
        delete_query(&of_target, &[&first], beside)
    }

    async fn query(&mut self, query: &Query) -> SqlResult<PlannedQuery> {
        let state = session_state(&self.query)?;
        let planned = plan_query(&state, query, &self.declared).await?;
        self.learn(&planned.parameters);
        Ok(planned)
    }

    /// Takes over types that a part of the statement told.
    fn learn(&mut self, told: &[SqlType]) {
        for (index, told) in told.iter().enumerate() {
            match self.declared.get_mut(index) {
                Some(known) => {
                    known.get_or_insert_with(|| told.clone());
                }
                None => self.declared.push(Some(told.clone())),
            }
        }
    }

    async fn returning(
        mut self,
        selection: Option<&Selection>,
        with: Option<&With>,
        beside: &Beside,
    ) -> SqlResult<Described> {
        let returning = match selection {
            None => None,
            Some(selection) => {
                let state = session_state(&self.query)?;
                let relations = beside.with(&self.alias, self.object.schema());
                let parameters = Parameters { declared: &self.declared, values: None };
                let planned =
                    plan_returning(&state, selection, with, &relations, parameters).await?;
                self.learn(&planned.parameters);
                Some(planned.schema)
            }
        };
        let parameters =
            self.declared.into_iter().map(|told| told.unwrap_or(SqlType::Text)).collect();
        Ok(Described { parameters, returning })
    }
}
