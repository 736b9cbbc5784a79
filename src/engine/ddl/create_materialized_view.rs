//! `CREATE MATERIALIZED VIEW`: plan, make durable, catch up, attach.

use std::collections::HashSet;
use std::sync::Arc;

use super::{DdlOutcome, Names, exists_already, new_name};
use crate::catalog::object::MaterializedView;
use crate::catalog::{Catalog, Object, ObjectKind};
use crate::checkpoint::coordinator::{Change, JobSpec};
use crate::checkpoint::detached::{Progress, nothing_read};
use crate::checkpoint::status::JobState;
use crate::engine::{Engine, boot};
use crate::error::{SqlError, SqlResult};
use crate::planner;
use crate::planner::statement::CreateMaterializedView;
use crate::task;
use crate::types::{Epoch, ObjectId};

impl Engine {
    /// Creates a materialized view, and returns when it shows all of its inputs and goes on with
    /// everybody's epochs. If the caller goes away before, so does the view; if the server does,
    /// the view goes on catching up after the restart.
    pub async fn create_materialized_view(
        self: &Arc<Self>,
        statement: &CreateMaterializedView,
        definition: &str,
        names: &Names,
        parallelism: usize,
    ) -> SqlResult<DdlOutcome> {
        let started = {
            let _one_at_a_time = self.ddl.lock().await;
            self.declare(statement, definition, names, parallelism).await?
        };
        let (object, mut outcome) = match started {
            Started::Exists(outcome) => return Ok(outcome),
            Started::CatchingUp(object, outcome) => (object, outcome),
        };
        let mut undo = Undo { engine: Some(Arc::clone(self)), object };
        let result = match outcome.wait_for(Option::is_some).await {
            Ok(result) => result.clone(),
            Err(_) => None,
        };
        let result =
            result.unwrap_or_else(|| Err(SqlError::internal("the job that fills the view ended")));
        if result.is_ok() {
            undo.engine = None;
        }
        result.map(|()| DdlOutcome::default())
    }

    /// Waits until no unfinished view is there any more: then its name is free again.
    pub async fn undone(&self) {
        // The engine holds the sender itself.
        self.undoing.subscribe().wait_for(|count| *count == 0).await.ok();
    }

    /// The graph that the statement would make, as text.
    pub async fn explain_view(
        &self,
        statement: &CreateMaterializedView,
        names: &Names,
        parallelism: usize,
    ) -> SqlResult<String> {
        let catalog = self.catalog();
        let id = catalog.oids().next();
        let parallelism = statement.parallelism.unwrap_or(parallelism);
        let search_path = &names.search_path;
        let planned = planner::plan_view(&catalog, search_path, id, statement, parallelism).await?;
        Ok(planner::explain(&planned.job, &catalog).join("\n"))
    }

    async fn declare(
        self: &Arc<Self>,
        statement: &CreateMaterializedView,
        definition: &str,
        names: &Names,
        parallelism: usize,
    ) -> SqlResult<Started> {
        let catalog = self.catalog();
        let name = new_name(&catalog, &statement.name, names)?;
        if let Some(outcome) = exists_already(&catalog, &name, statement.if_not_exists)? {
            return Ok(Started::Exists(outcome));
        }
        let mut oids = catalog.oids();
        let id = oids.next();
        let parallelism = statement.parallelism.unwrap_or(parallelism);
        let search_path = &names.search_path;
        let planned = planner::plan_view(&catalog, search_path, id, statement, parallelism).await?;
        for input in planned.job.upstream_objects() {
            if let Some(error) = self.failure(input) {
                return Err(error);
            }
        }
        let object = Object {
            id,
            name,
            kind: ObjectKind::MaterializedView(MaterializedView {
                query: statement.query.text.clone(),
                search_path: names.search_path.clone(),
                key: planned.key,
                distribution: planned.distribution,
                append_only: planned.append_only,
                parallelism,
                on_error: statement.on_error,
            }),
            columns: planned.columns,
            definition: definition.to_owned(),
            depends_on: planned.depends_on,
            comment: None,
            row_type: oids.next(),
            row_array_type: oids.next(),
            owner: names.user.clone(),
        };
        let job = JobSpec { graph: Arc::new(planned.job) };
        let (next, mut meta) = catalog.with_object(object)?;
        meta.push(nothing_read(id));
        meta.push((boot::fingerprint_key(id), Some(boot::fingerprint(&job.graph))));

        let changelog_on = self.followed(&catalog, &job);
        for input in &changelog_on {
            self.coordinator.readers().advance(*input, id, Epoch(0));
        }
        let change = Change { changelog_on, meta, ..Change::default() };
        if let Err(error) = self.coordinator.change(change).await {
            self.stop_changelogs(id).await;
            return Err(error);
        }
        let state = JobState::Detached { rows: 0, done: Epoch(0) };
        self.coordinator.status().set_job(id, state);
        self.publish(next);
        let outcome = self.start_detached(job, Progress::default())?;
        Ok(Started::CatchingUp(id, outcome))
    }

    /// Inputs of the job whose changes it must be able to read later.
    fn followed(&self, catalog: &Catalog, job: &JobSpec) -> HashSet<ObjectId> {
        let stored = |id: &ObjectId| {
            catalog.object(*id).is_some_and(|o| !matches!(o.kind, ObjectKind::Source(_)))
        };
        job.graph.upstream_objects().into_iter().filter(stored).collect()
    }

    /// Takes a view away that will not be finished.
    async fn undo_view(self: &Arc<Self>, object: ObjectId) -> SqlResult<()> {
        let _one_at_a_time = self.ddl.lock().await;
        let catalog = self.catalog();
        if catalog.object(object).is_none() {
            return Ok(());
        }
        let mut gone = catalog.dependants(object);
        gone.push(object);
        let (next, changes) = catalog.without(&gone)?;
        self.take_away(&gone, next, changes).await
    }
}

enum Started {
    Exists(DdlOutcome),
    CatchingUp(ObjectId, tokio::sync::watch::Receiver<Option<SqlResult<()>>>),
}

/// Takes the view away unless it was finished, also when the statement is cancelled.
struct Undo {
    engine: Option<Arc<Engine>>,
    object: ObjectId,
}

impl Drop for Undo {
    fn drop(&mut self) {
        let Some(engine) = self.engine.take() else { return };
        let object = self.object;
        let stream = engine.stream.clone();
        engine.undoing.send_modify(|count| *count += 1);
        task::spawn_on(&stream, format!("undo {}", object.0), async move {
            if let Err(error) = engine.undo_view(object).await {
                tracing::error!(object = object.0, %error, "an unfinished view stays");
            }
            engine.undoing.send_modify(|count| *count -= 1);
        });
    }
}
