//! `CREATE SUBSCRIPTION ... FROM`.

use std::sync::Arc;

use super::authority::Deed;
use super::{DdlOutcome, Names, check_database, exists_already, new_name};
use crate::catalog::object::Subscription;
use crate::catalog::{Catalog, Object, ObjectKind};
use crate::checkpoint::coordinator::Change;
use crate::clock;
use crate::engine::Engine;
use crate::engine::subscription::{Marks, marks_entry};
use crate::error::{SqlError, SqlResult, code};
use crate::planner::Name;
use crate::planner::statement::CreateSubscription;
use crate::types::{Epoch, ObjectId};

impl Engine {
    /// Creates a subscription: from here on the changes of what it reads are kept.
    pub async fn create_subscription(
        self: &Arc<Self>,
        statement: &CreateSubscription,
        definition: &str,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let deed = Deed::Create { name: &statement.name, connector: None };
        let _one_at_a_time = self.permitted(deed, names).await?;
        let catalog = self.catalog();
        let name = new_name(&catalog, &statement.name, names)?;
        if let Some(outcome) = exists_already(&catalog, &name, statement.if_not_exists)? {
            return Ok(outcome);
        }
        let from = watchable(&catalog, &statement.from, names)?;
        self.check_inputs(&catalog, &[from.id], names)?;
        if let Some(error) = self.failure(from.id) {
            return Err(error);
        }
        let retention_ms = u64::try_from(statement.retention.as_millis()).unwrap_or(u64::MAX);
        let id = catalog.oids().next();
        let object = Object {
            id,
            name,
            kind: ObjectKind::Subscription(Subscription {
                from: from.id,
                retention_ms: retention_ms.max(1),
            }),
            columns: Vec::new(),
            definition: definition.to_owned(),
            depends_on: vec![from.id],
            comment: None,
            row_type: ObjectId(0),
            row_array_type: ObjectId(0),
            owner: names.user.clone(),
            acl: None,
        };
        let from = from.id;
        let (next, meta) = catalog.with_object(object)?;
        let readers = self.coordinator.readers();
        readers.advance(from, id, Epoch(0));
        let change = Change { changelog_on: [from].into(), meta, ..Change::default() };
        let since = match self.coordinator.change(change).await {
            Ok(since) => since,
            Err(error) => {
                self.stop_changelogs(id).await;
                return Err(error);
            }
        };
        self.publish(next);
        self.commit_meta(vec![marks_entry(id, &Marks::beginning(clock::wall(), since))]).await?;
        readers.advance(from, id, since);
        if let Some(object) = self.catalog().object(id) {
            self.keep_changes(object)?;
        }
        Ok(DdlOutcome::default())
    }
}

/// What a subscription can be to.
fn watchable<'a>(catalog: &'a Catalog, name: &Name, names: &Names) -> SqlResult<&'a Object> {
    check_database(name, names)?;
    let found = catalog.resolve(&names.search_path, name.schema.as_deref(), &name.name);
    let object = found.ok_or_else(|| {
        let message = format!("relation \"{name}\" does not exist");
        SqlError::new(code::UNDEFINED_TABLE, message).position(name.position)
    })?;
    object.check_readable().map_err(|error| error.position(name.position))?;
    if matches!(object.kind, ObjectKind::Table(_) | ObjectKind::MaterializedView(_)) {
        return Ok(object);
    }
    let message = format!("\"{}\" is not a table or materialized view", name.name);
    Err(SqlError::new(code::WRONG_OBJECT_TYPE, message)
        .hint(format!("CREATE MATERIALIZED VIEW ... AS SELECT * FROM {name} keeps its rows."))
        .position(name.position))
}
