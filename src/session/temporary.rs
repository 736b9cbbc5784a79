//! Temporary tables: CREATE TEMP TABLE, what a COMMIT does to them, and their end.
//!
//! A session that makes one gets a schema of its own, which its names are looked up in before all
//! others. Like all DDL, CREATE TEMP TABLE is not taken back by ROLLBACK.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::session::Session;
use crate::catalog::catalog::PG_TEMP;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::Name;
use crate::planner::statement::{CreateTable, Drop, DropKind, OnCommit};
use crate::types::ObjectId;

/// A session's temporary tables.
#[derive(Debug, Default)]
pub(super) struct Temporary {
    /// Their schema, from the first one on.
    pub(super) schema: Option<String>,
    /// Those that no COMMIT leaves a row in.
    emptied: BTreeSet<ObjectId>,
    /// Those that the end of this transaction drops.
    dropped: Vec<ObjectId>,
}

impl Session {
    /// CREATE TABLE as it is to be run: a temporary table with the schema it goes to. `None`: it is
    /// none.
    pub(super) async fn as_temporary(
        &mut self,
        create: &CreateTable,
    ) -> SqlResult<Option<CreateTable>> {
        let temporary = create.temporary.is_some();
        let Some(schema) = self.temporary_schema(&create.name, temporary).await? else {
            return Ok(None);
        };
        let mut create = create.clone();
        create.name.schema = Some(schema);
        Ok(Some(create))
    }

    /// The schema that a new relation of this name goes to, made if need be, if it is temporary: by
    /// what its statement says, or by its name.
    pub(super) async fn temporary_schema(
        &mut self,
        name: &Name,
        temporary: bool,
    ) -> SqlResult<Option<String>> {
        let schema = name.schema.as_deref();
        let own =
            |schema: &str| schema == PG_TEMP || self.temporary.schema.as_deref() == Some(schema);
        let is_temporary = schema.is_some_and(own);
        if !temporary && !is_temporary {
            return Ok(None);
        }
        if schema.is_some() && !is_temporary {
            let message = "cannot create temporary relation in non-temporary schema";
            return Err(
                SqlError::new(code::INVALID_TABLE_DEFINITION, message).position(name.position)
            );
        }
        let schema = format!("{PG_TEMP}_{}", self.membership.process_id());
        self.engine.create_temporary_schema(&schema, &self.names()).await?;
        self.temporary.schema = Some(schema.clone());
        Ok(Some(schema))
    }

    /// A temporary table was made.
    pub(super) fn note_temporary(&mut self, create: &CreateTable) {
        let catalog = self.engine.catalog();
        let (path, name) = (self.search_path(), &create.name);
        let Some(made) = catalog.resolve(&path, name.schema.as_deref(), &name.name) else { return };
        match create.temporary {
            Some(OnCommit::DeleteRows) => {
                self.temporary.emptied.insert(made.id);
            }
            Some(OnCommit::Drop) => self.temporary.dropped.push(made.id),
            Some(OnCommit::PreserveRows) | None => {}
        }
    }

    /// The tables that lose their rows at COMMIT.
    pub(super) fn emptied_tables(&self) -> &BTreeSet<ObjectId> {
        &self.temporary.emptied
    }

    /// Drops the tables that were to last for a transaction, if it is over.
    pub(super) async fn drop_ended_tables(&mut self) -> SqlResult<()> {
        if self.temporary.dropped.is_empty() || self.block.is_open() {
            return Ok(());
        }
        let catalog = self.engine.catalog();
        let ended = std::mem::take(&mut self.temporary.dropped);
        let names = ended.iter().filter_map(|id| catalog.object(*id)).map(|object| Name {
            database: None,
            schema: Some(object.name.schema.clone()),
            name: object.name.name.clone(),
            position: 0,
        });
        let drop =
            Drop { kind: DropKind::Table, names: names.collect(), if_exists: true, cascade: true };
        let engine = Arc::clone(&self.engine);
        engine.drop_objects(&drop, &self.names()).await?;
        Ok(())
    }

    /// DISCARD TEMP.
    pub(super) async fn discard_temporary(&mut self) -> SqlResult<()> {
        let Some(schema) = std::mem::take(&mut self.temporary).schema else { return Ok(()) };
        self.engine.drop_temporary_schema(&schema).await
    }

    /// The end of the session. What its transaction holds is free, its temporary tables are gone.
    pub async fn close(mut self) {
        self.block = Default::default();
        if let Err(error) = self.discard_temporary().await {
            tracing::warn!(%error, "temporary tables stay until the next start");
        }
    }
}
