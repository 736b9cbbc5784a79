//! The schema that holds a session's temporary tables: `pg_temp_<process id>`.
//!
//! They are tables like others, but only their session finds them. They go with it: when it ends,
//! and, should the server have died, before it starts again.

use super::Names;
use crate::catalog::Catalog;
use crate::catalog::catalog::is_temporary_schema;
use crate::catalog::edit::Edited;
use crate::engine::{Engine, boot};
use crate::error::SqlResult;
use crate::state::{Commit, Store};
use crate::types::ObjectId;

impl Engine {
    /// Makes the schema for a session's temporary tables, unless it is there.
    pub async fn create_temporary_schema(&self, schema: &str, names: &Names) -> SqlResult<()> {
        let _one_at_a_time = self.ddl.lock().await;
        let catalog = self.catalog();
        catalog.actor(&names.user)?.check_temporary(&names.database)?;
        if catalog.schema(schema).is_some() {
            return Ok(());
        }
        let (next, changes) = catalog.with_temporary_schema(schema, &names.user)?;
        self.commit_meta(changes).await?;
        self.publish(next);
        Ok(())
    }

    /// Drops the schema and all that is in it.
    pub async fn drop_temporary_schema(&self, schema: &str) -> SqlResult<()> {
        let _one_at_a_time = self.ddl.lock().await;
        let catalog = self.catalog();
        if catalog.schema(schema).is_none() {
            return Ok(());
        }
        let (objects, (next, changes)) = without_schema(&catalog, schema)?;
        self.take_away(&objects, next, changes).await
    }
}

/// The catalog without the temporary tables of sessions that a crash has ended, which are taken
/// out of the store.
pub(in crate::engine) fn forget_temporary(store: &Store, catalog: Catalog) -> SqlResult<Catalog> {
    let left: Vec<String> = catalog
        .schemas()
        .map(|schema| schema.name.clone())
        .filter(|schema| is_temporary_schema(schema))
        .collect();
    let mut catalog = catalog;
    for schema in left {
        let (dropped, (next, mut meta)) = without_schema(&catalog, &schema)?;
        let keys = dropped.iter().flat_map(|object| boot::meta_keys(*object));
        meta.extend(keys.map(|key| (key, None)));
        store.commit(Commit { meta, dropped, ..Commit::default() })?;
        catalog = next;
    }
    Ok(catalog)
}

fn without_schema(catalog: &Catalog, schema: &str) -> SqlResult<(Vec<ObjectId>, Edited)> {
    let plan = catalog.plan_drop_schema(schema, &[], true)?;
    let (without_objects, mut changes) = catalog.without(&plan.objects)?;
    let (next, more) = without_objects.without_schema(schema)?;
    changes.extend(more);
    Ok((plan.objects, (next, changes)))
}
