//! `CREATE SCHEMA` and `CREATE DATABASE`.

use super::authority::Deed;
use super::{DdlOutcome, Names};
use crate::engine::Engine;
use crate::error::SqlResult;
use crate::planner::statement::{CreateDatabase, CreateSchema};

impl Engine {
    /// Creates a schema, empty.
    pub async fn create_schema(
        &self,
        statement: &CreateSchema,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::CreateSchema, names).await?;
        let catalog = self.catalog();
        if statement.if_not_exists && catalog.schema(&statement.name).is_some() {
            let message = format!("schema \"{}\" already exists, skipping", statement.name);
            return Ok(DdlOutcome::notice(message));
        }
        let (next, changes) = catalog.with_schema(&statement.name, &names.user)?;
        self.commit_meta(changes).await?;
        self.publish(next);
        Ok(DdlOutcome::default())
    }

    /// Creates a database: a name that clients may connect to. All databases show the same
    /// schemas.
    pub async fn create_database(
        &self,
        statement: &CreateDatabase,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::CreateDatabase, names).await?;
        let catalog = self.catalog();
        if statement.if_not_exists && catalog.database(&statement.name).is_some() {
            let message = format!("database \"{}\" already exists, skipping", statement.name);
            return Ok(DdlOutcome::notice(message));
        }
        let (next, changes) = catalog.with_database(&statement.name, &names.user)?;
        self.commit_meta(changes).await?;
        self.publish(next);
        Ok(DdlOutcome::default())
    }
}
