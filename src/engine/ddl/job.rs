//! What has a job of its own begins: made durable, it catches up with its inputs, then joins the
//! graph. A statement that does not see the end of that leaves nothing.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::watch;

use super::DdlOutcome;
use crate::catalog::{Catalog, Object, ObjectKind};
use crate::checkpoint::coordinator::{Change, JobSpec};
use crate::checkpoint::detached::{Progress, nothing_read};
use crate::checkpoint::status::JobState;
use crate::engine::{Engine, boot};
use crate::error::{SqlError, SqlResult};
use crate::graph;
use crate::task;
use crate::types::{Epoch, ObjectId};

/// A job that catches up, and where its outcome will be told.
pub(super) struct Beginning {
    object: ObjectId,
    outcome: watch::Receiver<Option<SqlResult<()>>>,
}

impl Engine {
    /// Makes `object` durable and starts its job. The caller holds the lock of DDL.
    pub(super) async fn begin_job(
        self: &Arc<Self>,
        catalog: &Catalog,
        object: Object,
        graph: graph::Job,
    ) -> SqlResult<Beginning> {
        for input in graph.upstream_objects() {
            if let Some(error) = self.failure(input) {
                return Err(error);
            }
        }
        let id = object.id;
        let job = JobSpec { graph: Arc::new(graph) };
        let (next, mut meta) = catalog.with_object(object)?;
        meta.push(nothing_read(id));
        meta.push((boot::fingerprint_key(id), Some(boot::fingerprint(&job.graph))));

        let changelog_on = followed(catalog, &job);
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
        Ok(Beginning { object: id, outcome })
    }

    /// Waits until the job has caught up and goes on with everybody's epochs. If it does not, or if
    /// the caller goes away before, so does the object; if the server does, the job goes on
    /// catching up after the restart.
    pub(super) async fn finish_job(
        self: &Arc<Self>,
        beginning: Beginning,
    ) -> SqlResult<DdlOutcome> {
        let Beginning { object, mut outcome } = beginning;
        let undo = self.undo_unless_finished(object);
        let result = match outcome.wait_for(Option::is_some).await {
            Ok(result) => result.clone(),
            Err(_) => None,
        };
        let result = result
            .unwrap_or_else(|| Err(SqlError::internal("the job that reads its inputs ended")));
        if result.is_ok() {
            undo.finished();
        }
        result.map(|()| DdlOutcome::default())
    }

    /// What takes `object` away again unless it is told that this was finished.
    pub(super) fn undo_unless_finished(self: &Arc<Self>, object: ObjectId) -> Undo {
        Undo { engine: Some(Arc::clone(self)), object }
    }

    /// Waits until nothing unfinished is there any more: then its name is free again.
    pub async fn undone(&self) {
        // The engine holds the sender itself.
        self.undoing.subscribe().wait_for(|count| *count == 0).await.ok();
    }

    /// Takes an object away whose job will not be finished.
    async fn undo_job(self: &Arc<Self>, object: ObjectId) -> SqlResult<()> {
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

/// Inputs of the job whose changes it must be able to read later.
fn followed(catalog: &Catalog, job: &JobSpec) -> HashSet<ObjectId> {
    let stored = |id: &ObjectId| {
        catalog.object(*id).is_some_and(|o| !matches!(o.kind, ObjectKind::Source(_)))
    };
    job.graph.upstream_objects().into_iter().filter(stored).collect()
}

/// Takes the object away unless its job was finished, also when the statement is cancelled.
pub(super) struct Undo {
    engine: Option<Arc<Engine>>,
    object: ObjectId,
}

impl Undo {
    /// The object stays.
    pub(super) fn finished(mut self) {
        self.engine = None;
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        let Some(engine) = self.engine.take() else { return };
        let object = self.object;
        let stream = engine.stream.clone();
        engine.undoing.send_modify(|count| *count += 1);
        task::spawn_on(&stream, format!("undo {}", object.0), async move {
            if let Err(error) = engine.undo_job(object).await {
                tracing::error!(object = object.0, %error, "an unfinished object stays");
            }
            engine.undoing.send_modify(|count| *count -= 1);
        });
    }
}
