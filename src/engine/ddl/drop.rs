//! `DROP` of anything.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use super::authority::Deed;
use super::{DdlOutcome, Names, Notice, check_database};
use crate::catalog::Catalog;
use crate::catalog::drop::{DropKind as RelationKind, DropPlan, DropRequest};
use crate::checkpoint::coordinator::{Change, suspended_key};
use crate::checkpoint::detached::progress_key;
use crate::dataflow::source::positions_key;
use crate::engine::sequences::sequence_key;
use crate::engine::sink::place_key;
use crate::engine::{Engine, boot, subscription};
use crate::error::{SqlError, SqlResult, code};
use crate::failpoint;
use crate::planner::statement::{Drop, DropKind};
use crate::state::MetaEntry;
use crate::types::ObjectId;

impl Engine {
    /// Drops what the statement names, and with CASCADE what needs it.
    pub async fn drop_objects(
        self: &Arc<Self>,
        statement: &Drop,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self
            .permitted(Deed::Own { kind: statement.kind, names: &statement.names }, names)
            .await?;
        match statement.kind {
            DropKind::Schema => self.drop_schemas(statement, names).await,
            DropKind::Database => self.drop_databases(statement, names).await,
            DropKind::Table => self.drop_relations(RelationKind::Table, statement, names).await,
            DropKind::Source => self.drop_relations(RelationKind::Source, statement, names).await,
            DropKind::View => self.drop_relations(RelationKind::View, statement, names).await,
            DropKind::Sink => self.drop_relations(RelationKind::Sink, statement, names).await,
            DropKind::Subscription => {
                self.drop_relations(RelationKind::Subscription, statement, names).await
            }
            DropKind::Sequence => {
                self.drop_relations(RelationKind::Sequence, statement, names).await
            }
            DropKind::Index => self.drop_relations(RelationKind::Index, statement, names).await,
            DropKind::MaterializedView => {
                self.drop_relations(RelationKind::MaterializedView, statement, names).await
            }
        }
    }

    async fn drop_relations(
        self: &Arc<Self>,
        kind: RelationKind,
        statement: &Drop,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        for name in &statement.names {
            check_database(name, names)?;
        }
        let targets: Vec<_> =
            statement.names.iter().map(|name| (name.schema.clone(), name.name.clone())).collect();
        let request = DropRequest {
            kind,
            names: &targets,
            search_path: &names.search_path,
            if_exists: statement.if_exists,
            cascade: statement.cascade,
        };
        let catalog = self.catalog();
        let plan = catalog.plan_drop(&request)?;
        let (next, changes) = catalog.without(&plan.objects)?;
        self.take_away(&plan.objects, next, changes).await?;
        Ok(outcome(plan))
    }

    async fn drop_schemas(
        self: &Arc<Self>,
        statement: &Drop,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let mut notices = Vec::new();
        for name in &statement.names {
            let catalog = self.catalog();
            if statement.if_exists && catalog.schema(&name.name).is_none() {
                let message = format!("schema \"{}\" does not exist, skipping", name.name);
                notices.extend(DdlOutcome::notice(message).notices);
                continue;
            }
            let plan =
                catalog.plan_drop_schema(&name.name, &names.search_path, statement.cascade)?;
            let (without_objects, mut changes) = catalog.without(&plan.objects)?;
            let (next, more) = without_objects.without_schema(&name.name)?;
            changes.extend(more);
            self.take_away(&plan.objects, next, changes).await?;
            notices.extend(outcome(plan).notices);
        }
        Ok(DdlOutcome { notices })
    }

    async fn drop_databases(&self, statement: &Drop, names: &Names) -> SqlResult<DdlOutcome> {
        let mut notices = Vec::new();
        for name in &statement.names {
            let catalog = self.catalog();
            if name.name == names.database {
                let message = "cannot drop the currently open database";
                return Err(SqlError::new(code::OBJECT_IN_USE, message));
            }
            if statement.if_exists && catalog.database(&name.name).is_none() {
                let message = format!("database \"{}\" does not exist, skipping", name.name);
                notices.extend(DdlOutcome::notice(message).notices);
                continue;
            }
            let (next, changes) = catalog.without_database(&name.name)?;
            self.commit_meta(changes).await?;
            self.publish(next);
        }
        Ok(DdlOutcome { notices })
    }

    /// Takes objects out of the graph, the store and the catalog, at one barrier.
    pub(in crate::engine) async fn take_away(
        &self,
        objects: &[ObjectId],
        next: Catalog,
        changes: Vec<MetaEntry>,
    ) -> SqlResult<()> {
        self.take_away_from(None, objects, next, changes).await
    }

    /// The same for who holds the write lock of a table that stays.
    pub(super) async fn take_away_from(
        &self,
        table: Option<ObjectId>,
        objects: &[ObjectId],
        next: Catalog,
        changes: Vec<MetaEntry>,
    ) -> SqlResult<()> {
        // Functions are in the catalog alone.
        let catalog = self.catalog();
        let relations = objects.iter().copied().filter(|id| catalog.object(*id).is_some());
        let objects = &relations.collect::<Vec<_>>();
        if objects.is_empty() {
            self.commit_meta(changes).await?;
            self.publish(next);
            return Ok(());
        }
        let catalog = self.catalog();
        let reader = |object: &ObjectId| Some(catalog.object(*object)?.sink()?.reader);
        let readers: Vec<ObjectId> = objects.iter().filter_map(reader).collect();
        // A sink lets go of its table before the job that it reads.
        for object in readers.iter().chain(objects) {
            let task = self.background.lock().remove(object);
            if let Some(task) = task {
                task.stop().await;
            }
        }
        // Nobody may decide on rows of a table that goes.
        let guarded = |object: &ObjectId| {
            let index = catalog.object(*object)?.index()?;
            (index.unique && !objects.contains(&index.on)).then_some((index.on, *object))
        };
        let guards: Vec<(ObjectId, ObjectId)> = objects.iter().filter_map(guarded).collect();
        let held = objects.iter().chain(guards.iter().map(|(on, _)| on));
        let held = held.copied().filter(|object| Some(*object) != table);
        let held: BTreeSet<ObjectId> = held.collect();
        let mut locks = Vec::new();
        for object in held.into_iter().filter(|object| self.inbox(*object).is_some()) {
            locks.push(self.locks.seize(object).await?);
        }
        if !guards.is_empty() {
            // What the guards have to write must not come after they are gone.
            self.settled().await?;
        }
        let mut meta = changes;
        let mut changelog_off = HashSet::new();
        for object in objects {
            meta.extend(boot::meta_keys(*object).into_iter().map(|key| (key, None)));
            self.sinks.lock().remove(object);
        }
        for reader in readers.iter().chain(objects) {
            changelog_off.extend(self.coordinator.readers().remove(*reader));
        }
        for object in objects {
            self.coordinator.readers().dismiss(*object, &was_dropped(&catalog, *object));
        }
        let dropped: HashSet<ObjectId> = objects.iter().copied().collect();
        let change = Change { dropped, changelog_off, meta, ..Change::default() };
        self.coordinator.change(change).await?;
        failpoint::hit(failpoint::DROP_PUBLISH);
        for (on, index) in guards {
            if let Some(inbox) = self.inbox(on) {
                inbox.remove_guard(index);
            }
        }
        let mut inboxes = self.inboxes.write();
        for object in objects {
            inboxes.remove(object);
        }
        self.publish(next);
        // Not before: what has a name and no state is taken for something that can be read.
        for object in objects {
            self.coordinator.status().forget(*object);
            self.sequences.forget(*object);
        }
        Ok(())
    }
}

/// What those are told who watch an object.
fn was_dropped(catalog: &Catalog, object: ObjectId) -> SqlError {
    let what = match catalog.object(object) {
        Some(found) => format!("{} \"{}\"", found.kind_name(), found.name.name),
        None => format!("object {}", object.0),
    };
    SqlError::new(code::UNDEFINED_TABLE, format!("{what} was dropped"))
}

/// The names of an object's own metadata.
pub(in crate::engine) fn own_meta(object: ObjectId) -> Vec<Vec<u8>> {
    vec![
        progress_key(object),
        positions_key(object),
        suspended_key(object),
        place_key(object),
        subscription::marks_key(object),
        sequence_key(object),
    ]
}

pub(super) fn outcome(plan: DropPlan) -> DdlOutcome {
    let notices = plan
        .notices
        .into_iter()
        .map(|notice| Notice { message: notice.message, detail: notice.detail, warning: None })
        .collect();
    DdlOutcome { notices }
}
