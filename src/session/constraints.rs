//! SET CONSTRAINTS: when a transaction looks at those of its constraints that may wait.

use std::sync::Arc;

use super::notice::Notice;
use super::outcome::Outcome;
use super::session::Session;
use crate::catalog::Catalog;
use crate::engine::dml;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::Name;
use crate::planner::statement::SetConstraints;
use crate::types::ObjectId;

impl Session {
    pub(super) async fn set_constraints(&mut self, set: &SetConstraints) -> SqlResult<Outcome> {
        let done = Outcome::Command("SET CONSTRAINTS".to_owned());
        if !self.block.is_open() {
            let message = "SET CONSTRAINTS can only be used in transaction blocks";
            self.notify(Notice::warning(code::NO_ACTIVE_SQL_TRANSACTION, message));
            return Ok(done);
        }
        let which = match set.names.as_slice() {
            [] => dml::Constraints::All,
            names => {
                let (catalog, path) = (self.engine.catalog(), self.search_path());
                let mut ids = Vec::new();
                for name in names {
                    ids.extend(deferrable(&catalog, &path, name)?);
                }
                dml::Constraints::Named(ids)
            }
        };
        let context = self.dml_context();
        let mut writes =
            self.block.writes.take().unwrap_or_else(|| dml::Transaction::begin(&context));
        let interrupts = Arc::clone(&self.interrupts);
        let work = writes.set_constraints(&context, &which, set.deferred);
        let looked = interrupts.race(Box::pin(work)).await;
        self.block.writes = Some(writes);
        looked.map(|()| done)
    }
}

/// The constraints of a name: those in the first schema that has some.
fn deferrable(catalog: &Catalog, path: &[String], name: &Name) -> SqlResult<Vec<ObjectId>> {
    let schemas = match &name.schema {
        Some(schema) => std::slice::from_ref(schema),
        None => path,
    };
    for schema in schemas {
        let tables = || catalog.objects().filter(|object| object.name.schema == *schema);
        let keys = tables().flat_map(|table| table.foreign_keys());
        let found: Vec<_> = keys.filter(|key| key.name == name.name).collect();
        if found.iter().any(|key| !key.checked.is_deferrable())
            || (found.is_empty() && tables().any(|table| catalog.has_constraint(table, &name.name)))
        {
            let message = format!("constraint \"{}\" is not deferrable", name.name);
            return Err(SqlError::new(code::WRONG_OBJECT_TYPE, message));
        }
        if !found.is_empty() {
            return Ok(found.into_iter().map(|key| key.id).collect());
        }
    }
    let message = format!("constraint \"{name}\" does not exist");
    Err(SqlError::new(code::UNDEFINED_OBJECT, message))
}
