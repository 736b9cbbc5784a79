//! COPY ... FROM: batches as the client's data is read, into a table.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};

use super::arbiter::Meant;
use super::context::Context;
use super::environment::{Environment, Naming, Writes};
use super::insert::{push, sources};
use super::inserter::{Inserter, Inserting, OnTaken};
use super::parameters::BoundParameters;
use super::target::Intent;
use super::transaction::Transaction;
use crate::catalog::Column;
use crate::catalog::privilege::Privileges;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::Name;
use crate::planner::statement::ColumnRef;
use crate::serving::QueryContext;
use crate::types::SqlType;

/// A COPY under way. Dropping it leaves the transaction as it was.
pub struct CopyIn {
    environment: Box<Environment>,
    schema: SchemaRef,
    /// Away while a batch is being added; gone for good if that failed or was cancelled.
    inserter: Option<Inserter>,
}

/// A generated column is neither given nor shown by COPY.
pub fn check_copied(column: &Column) -> SqlResult<()> {
    if column.generated.is_none() {
        return Ok(());
    }
    let message = format!("column \"{}\" is a generated column", column.name);
    Err(SqlError::new(code::INVALID_COLUMN_REFERENCE, message)
        .detail("Generated columns cannot be used in COPY."))
}

impl CopyIn {
    /// Starts a COPY into `columns` of `table` (none listed: all).
    pub async fn begin(
        context: &Context,
        transaction: &mut Transaction,
        query: &QueryContext,
        table: &Name,
        columns: &[ColumnRef],
    ) -> SqlResult<Self> {
        let (intent, wanted) = (Intent::Add, Privileges::INSERT);
        let writes = Writes { adds: true, removes: false, assignments: &[] };
        let naming = Naming { table, alias: None, intent, wanted, with: None, writes };
        let none = BoundParameters::default();
        let environment = Environment::enter(context, transaction, query, naming, &none).await?;
        let object = &environment.target.object;
        let mut given = environment.columns(columns)?;
        if columns.is_empty() {
            given.retain(|column| object.columns[*column].generated.is_none());
        }
        for column in &given {
            check_copied(&object.columns[*column])?;
        }
        let fields: Vec<_> = given
            .iter()
            .map(|column| {
                let column = &object.columns[*column];
                column.sql_type.field(&column.name, true)
            })
            .collect();
        let types: Vec<SqlType> = fields.iter().map(SqlType::of_field).collect();
        let inserting = Inserting {
            target: environment.target.clone(),
            assigning: environment.assigning.clone(),
            sources: sources(&environment, &given, &types)?,
            on_taken: OnTaken::Fail,
            arbiters: transaction.arbiters(object.id, Meant::Key),
            keep_added: false,
        };
        let schema = Arc::new(Schema::new(fields));
        let inserter = Some(Inserter::new(context, inserting));
        Ok(Self { environment: Box::new(environment), schema, inserter })
    }

    /// The columns that each batch must have.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Adds rows. After an error the COPY is over.
    pub async fn push(
        &mut self,
        context: &Context,
        transaction: &Transaction,
        batch: RecordBatch,
    ) -> SqlResult<()> {
        let inserter = push(self.take()?, batch).await?;
        transaction.check_size(inserter.changes.bytes(), &context.limits)?;
        self.inserter = Some(inserter);
        Ok(())
    }

    /// Makes all rows a part of `transaction`, and tells how many they are.
    pub async fn finish(
        mut self,
        context: &Context,
        transaction: &mut Transaction,
    ) -> SqlResult<u64> {
        let Inserter { changes, count, .. } = self.take()?;
        Box::pin(self.environment.settle(context, transaction, changes)).await?;
        Ok(count)
    }

    fn take(&mut self) -> SqlResult<Inserter> {
        self.inserter.take().ok_or_else(|| SqlError::internal("a COPY goes on after it failed"))
    }
}
