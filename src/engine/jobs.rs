//! Background tasks of objects: views that catch up, connectors that fill tables.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Engine;
use crate::catalog::{Catalog, Object, ObjectKind};
use crate::checkpoint::coordinator::{Change, JobSpec, SourceSpec};
use crate::checkpoint::detached::{Committing, Driver, Input, Progress};
use crate::connector;
use crate::error::{SqlError, SqlResult, code};
use crate::planner;
use crate::serving::connector_options;
use crate::state::RowLayout;
use crate::task;
use crate::types::ObjectId;

/// A task, and the way to end it.
pub(super) struct Background {
    cancel: CancellationToken,
    /// Closed when the task has ended.
    ended: watch::Receiver<()>,
}

impl Background {
    /// Ends the task and waits for that.
    pub(super) async fn stop(mut self) {
        self.cancel.cancel();
        while self.ended.changed().await.is_ok() {}
    }
}

/// A task's own end of its [`Background`].
pub(super) struct Running {
    pub(super) cancel: CancellationToken,
    _ended: watch::Sender<()>,
}

/// Two ends of a new background task.
pub(super) fn background() -> (Background, Running) {
    let cancel = CancellationToken::new();
    let (sender, ended) = watch::channel(());
    (Background { cancel: cancel.clone(), ended }, Running { cancel, _ended: sender })
}

/// How the rows of a stored object lie.
pub(super) fn layout(object: &Object) -> SqlResult<RowLayout> {
    object.layout()
}

/// How the graph opens a source.
pub(super) fn source_spec(catalog: &Arc<Catalog>, object: &Object) -> SqlResult<SourceSpec> {
    let ObjectKind::Source(source) = &object.kind else {
        return Err(SqlError::internal(format!("{} is not a source", object.name.name)));
    };
    let (options, schema) = (connector_options(&source.connector), object.schema());
    let generated = planner::plan_generated(catalog, &object.name.name, &object.columns)?;
    let generated = generated.map(Arc::new);
    Ok(SourceSpec {
        object: object.id,
        open: Arc::new(move || {
            connector::computed::open(&options, Arc::clone(&schema), generated.clone())
        }),
    })
}

impl Engine {
    /// What a job reads, as its driver needs it.
    pub(super) fn inputs(&self, job: &JobSpec) -> SqlResult<Vec<(ObjectId, Input)>> {
        let catalog = self.catalog();
        job.graph
            .upstream_objects()
            .into_iter()
            .map(|id| {
                let object = catalog
                    .object(id)
                    .ok_or_else(|| SqlError::internal(format!("object {} is gone", id.0)))?;
                let input = match &object.kind {
                    ObjectKind::Source(_) => Input::Source(source_spec(&catalog, object)?),
                    _ => Input::Stored(Arc::new(layout(object)?)),
                };
                Ok((id, input))
            })
            .collect()
    }

    /// Starts a job that catches up in the background. The receiver gets its outcome.
    pub(super) fn start_detached(
        self: &Arc<Self>,
        job: JobSpec,
        progress: Progress,
    ) -> SqlResult<watch::Receiver<Option<SqlResult<()>>>> {
        let object = job.graph.object;
        let inputs = self.inputs(&job)?;
        let (task, running) = background();
        self.background.lock().insert(object, task);
        let (outcome, told) = watch::channel(None);
        let engine = Arc::clone(self);
        task::spawn_on(&self.stream, format!("job {}", object.0), async move {
            let coordinator = engine.coordinator.clone();
            let committing = Committing::default();
            let driving = async {
                let still = Arc::clone(&committing);
                let driver = Driver::start(coordinator, job, inputs, progress, still)?;
                Box::pin(driver.run()).await
            };
            let result = tokio::select! {
                biased;
                () = running.cancel.cancelled() => Err(SqlError::new(
                    code::QUERY_CANCELED,
                    "canceling statement due to user request",
                )),
                result = driving => result,
            };
            // Whoever ended the job deletes its state next: nothing of it may be written after.
            drop(committing.lock().await);
            if result.is_ok() {
                engine.background.lock().remove(&object);
                engine.stop_changelogs(object).await;
            }
            outcome.send_replace(Some(result));
            drop(running);
        });
        Ok(told)
    }

    /// `reader` follows no changelog any more: those that nobody follows now are given up.
    pub(super) async fn stop_changelogs(&self, reader: ObjectId) {
        let unread = self.coordinator.readers().remove(reader);
        if unread.is_empty() {
            return;
        }
        let changelog_off = HashSet::from_iter(unread);
        let change = Change { changelog_off, ..Change::default() };
        if let Err(error) = self.coordinator.change(change).await {
            // The next restart gives them up: nobody is registered as their reader.
            tracing::warn!(%error, "changelogs could not be given up");
        }
    }
}
