//! Who may change what exists: every statement that does takes its turn here, and is refused here.

use std::sync::Arc;

use tokio::sync::MutexGuard;
use tokio_util::sync::CancellationToken;

use super::{Names, new_name};
use crate::catalog::access::Actor;
use crate::catalog::object::Connector;
use crate::catalog::privilege::Privileges;
use crate::catalog::role::READ_SERVER_FILES;
use crate::catalog::{Catalog, Object, ObjectKind};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::Name;
use crate::planner::statement::DropKind;
use crate::types::{ObjectId, SqlType};

/// What a statement is about to do.
#[derive(Debug, Clone, Copy)]
pub(super) enum Deed<'a> {
    /// Makes a relation or a function of this name, maybe with a connector.
    Create {
        name: &'a Name,
        connector: Option<&'a Connector>,
    },
    /// The same, in the place of one of its kind.
    Replace {
        name: &'a Name,
    },
    /// Makes an index on this.
    Index {
        on: &'a Name,
    },
    CreateSchema,
    CreateDatabase,
    /// Takes away or changes these.
    Own {
        kind: DropKind,
        names: &'a [Name],
    },
    OwnFunctions(&'a [(Name, Option<Vec<SqlType>>)]),
    /// Changes a column of this.
    OwnColumn(&'a Name),
    /// What is judged object by object, by the statement itself.
    JudgedLater,
}

impl Engine {
    /// The turn of a statement that changes what exists, if the current user may do that. What
    /// does not exist is for the statement to report.
    pub(super) async fn permitted(
        &self,
        deed: Deed<'_>,
        names: &Names,
    ) -> SqlResult<MutexGuard<'_, ()>> {
        let turn = self.ddl.lock().await;
        self.check_deed(deed, names)?;
        Ok(turn)
    }

    /// The same, for what may be cancelled while it waits for its turn.
    pub(super) async fn permitted_unless(
        &self,
        cancel: &CancellationToken,
        deed: Deed<'_>,
        names: &Names,
    ) -> SqlResult<MutexGuard<'_, ()>> {
        let turn = self.turn(cancel).await?;
        self.check_deed(deed, names)?;
        Ok(turn)
    }

    /// The same if nobody else has the turn; `None`: somebody has.
    pub(super) fn permitted_now(
        &self,
        deed: Deed<'_>,
        names: &Names,
    ) -> SqlResult<Option<MutexGuard<'_, ()>>> {
        let Ok(turn) = self.ddl.try_lock() else { return Ok(None) };
        self.check_deed(deed, names)?;
        Ok(Some(turn))
    }

    fn check_deed(&self, deed: Deed<'_>, names: &Names) -> SqlResult<()> {
        let catalog = self.catalog();
        let actor = catalog.actor(&names.user)?;
        match actor.is_superuser() {
            true => Ok(()),
            false => check(&catalog, &actor, deed, names),
        }
    }

    /// Refuses a query that reads what the current user may not: it is kept as rows, so its inputs
    /// are read once and for all by whoever makes it.
    pub(super) fn check_inputs(
        &self,
        catalog: &Catalog,
        inputs: &[ObjectId],
        names: &Names,
    ) -> SqlResult<()> {
        let actor = catalog.actor(&names.user)?;
        for object in inputs.iter().filter_map(|id| catalog.object(*id)) {
            actor.check_schema(&object.name.schema, Privileges::USAGE)?;
        }
        check_reads(catalog, &actor, inputs)
    }
}

impl Engine {
    /// The same for a sink, which besides writes a table for as long as it is there.
    pub(super) fn check_sink(
        &self,
        catalog: &Catalog,
        object: &Object,
        names: &Names,
    ) -> SqlResult<()> {
        let Some(sink) = object.sink() else { return Ok(()) };
        let inputs = object.depends_on.iter().copied().filter(|id| *id != sink.into);
        self.check_inputs(catalog, &inputs.collect::<Vec<_>>(), names)?;
        let written = match sink.append_only {
            true => Privileges::INSERT,
            false => Privileges::INSERT | Privileges::UPDATE | Privileges::DELETE,
        };
        match catalog.object(sink.into) {
            Some(table) => catalog.actor(&names.user)?.check_relation(table, written),
            None => Ok(()),
        }
    }
}

fn check(catalog: &Catalog, actor: &Actor<'_>, deed: Deed<'_>, names: &Names) -> SqlResult<()> {
    match deed {
        Deed::Create { name, connector } => {
            check_creates(catalog, actor, name, names)?;
            connector.map_or(Ok(()), |connector| check_connector(actor, connector))
        }
        Deed::Replace { name } => {
            check_creates(catalog, actor, name, names)?;
            // Not what the search path finds first, but what stands where the new one goes.
            match catalog.object_named(&new_name(catalog, name, names)?) {
                Some(old) => actor.check_owns(old),
                None => Ok(()),
            }
        }
        Deed::Index { on } | Deed::OwnColumn(on) => {
            check_usage(actor, on)?;
            match found(catalog, on, names) {
                Some(object) => actor.check_owns(object),
                None => Ok(()),
            }
        }
        Deed::CreateSchema => actor.check_database(&names.database, Privileges::CREATE),
        Deed::CreateDatabase if actor.role().create_db => Ok(()),
        Deed::CreateDatabase => {
            let message = "permission denied to create database";
            Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message))
        }
        Deed::Own { kind, names: owned } => {
            owned.iter().try_for_each(|name| check_owned(catalog, actor, kind, name, names))
        }
        Deed::OwnFunctions(functions) => functions.iter().try_for_each(|(name, types)| {
            check_usage(actor, name)?;
            let path = &names.search_path;
            let found = catalog.functions_named(path, name.schema.as_deref(), &name.name);
            found
                .into_iter()
                .filter(|function| types.as_ref().is_none_or(|types| function.types() == *types))
                .try_for_each(|function| actor.check_owns_function(function))
        }),
        Deed::JudgedLater => Ok(()),
    }
}

fn check_usage(actor: &Actor<'_>, name: &Name) -> SqlResult<()> {
    match &name.schema {
        Some(schema) => actor.check_schema(schema, Privileges::USAGE),
        None => Ok(()),
    }
}

fn check_creates(
    catalog: &Catalog,
    actor: &Actor<'_>,
    name: &Name,
    names: &Names,
) -> SqlResult<()> {
    let schema = match &name.schema {
        Some(schema) => Some(schema.clone()),
        None => catalog.creation_schema(&names.search_path).map(|schema| schema.name.clone()),
    };
    match schema {
        Some(schema) => actor.check_schema(&schema, Privileges::CREATE),
        None => Ok(()),
    }
}

/// A connector that reads files of the server reads what its user may not.
fn check_connector(actor: &Actor<'_>, connector: &Connector) -> SqlResult<()> {
    if connector.name != "file" || actor.has_role(READ_SERVER_FILES) {
        return Ok(());
    }
    Err(SqlError::new(
        code::INSUFFICIENT_PRIVILEGE,
        "must be superuser or have privileges of the pg_read_server_files role to read from a file",
    ))
}

fn check_owned(
    catalog: &Catalog,
    actor: &Actor<'_>,
    kind: DropKind,
    name: &Name,
    names: &Names,
) -> SqlResult<()> {
    match kind {
        DropKind::Schema => match catalog.schema(&name.name) {
            Some(schema) => actor.check_owner(&schema.owner, "schema", &schema.name),
            None => Ok(()),
        },
        DropKind::Database => match catalog.database(&name.name) {
            Some(database) => actor.check_owner(&database.owner, "database", &database.name),
            None => Ok(()),
        },
        _ => {
            check_usage(actor, name)?;
            let Some(object) = found(catalog, name, names) else { return Ok(()) };
            // The owner of a schema may take away what is in it.
            let schema = catalog.schema(&object.name.schema);
            match schema.is_some_and(|schema| actor.owns(&schema.owner)) {
                true => Ok(()),
                false => actor.check_owns(object),
            }
        }
    }
}

fn found<'a>(catalog: &'a Catalog, name: &Name, names: &Names) -> Option<&'a Arc<Object>> {
    catalog.resolve(&names.search_path, name.schema.as_deref(), &name.name)
}

/// A view is read with its owner's rights, a function runs with those of whoever calls it.
fn check_reads(catalog: &Catalog, actor: &Actor<'_>, inputs: &[ObjectId]) -> SqlResult<()> {
    for id in inputs {
        if let Some(function) = catalog.function(*id) {
            check_reads(catalog, actor, &function.depends_on)?;
        }
        let Some(object) = catalog.object(*id) else { continue };
        actor.check_relation(object, Privileges::SELECT)?;
        if let ObjectKind::View(_) = &object.kind {
            check_reads(catalog, &catalog.owner_actor(&object.owner)?, &object.depends_on)?;
        }
    }
    Ok(())
}
