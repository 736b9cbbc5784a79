//! What has a job of its own begins: made durable, it catches up with its inputs, then joins the
//! graph. A statement that does not see the end of that leaves nothing.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::authority::Deed;
use super::role::Edit;
use super::{DdlOutcome, Names};
use crate::catalog::{Catalog, Object, ObjectKind};
use crate::checkpoint::coordinator::{Change, JobSpec};
use crate::checkpoint::detached::{Progress, nothing_read};
use crate::checkpoint::status::JobState;
use crate::engine::{Engine, boot};
use crate::error::{SqlError, SqlResult, code};
use crate::graph;
use crate::task;
use crate::types::{Epoch, ObjectId};

/// How often one who waits for a creation looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How far the creation of an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Creation {
    /// Of its inputs, read so far.
    pub rows: u64,
    /// About which part of them that is, in thousandths; `None` where nobody knows.
    pub read: Option<u16>,
}

/// A job that catches up, and where its outcome will be told.
pub(super) struct Beginning {
    pub(super) object: ObjectId,
    outcome: watch::Receiver<Option<SqlResult<()>>>,
}

impl Beginning {
    /// Waits until the job goes on with everybody's epochs.
    async fn finished(mut self) -> SqlResult<()> {
        let told = self.outcome.wait_for(Option::is_some).await;
        let ended = || Err(SqlError::internal("the job that reads its inputs ended"));
        told.map_or(None, |told| told.clone()).unwrap_or_else(ended)
    }
}

impl Engine {
    /// Makes `object` durable and starts its job, which must not be cancelled. It is the caller's
    /// turn.
    pub(super) async fn begin_job(
        self: &Arc<Self>,
        catalog: &Catalog,
        object: Object,
        graph: graph::Job,
    ) -> SqlResult<Beginning> {
        self.begin_job_in(Edit::new(catalog), object, graph).await
    }

    /// The same with other changes, which become durable with it.
    pub(super) async fn begin_job_in(
        self: &Arc<Self>,
        mut edit: Edit,
        object: Object,
        graph: graph::Job,
    ) -> SqlResult<Beginning> {
        for input in graph.upstream_objects() {
            if let Some(error) = self.failure(input) {
                return Err(error);
            }
        }
        edit.apply(|catalog| catalog.with_object(object))?;
        let begun = self.begin_jobs(edit, vec![graph]).await?;
        let one = begun.into_iter().next();
        one.ok_or_else(|| SqlError::internal("a job that did not begin"))
    }

    /// Makes an edit durable and starts the jobs of objects that are new in it.
    pub(super) async fn begin_jobs(
        self: &Arc<Self>,
        edit: Edit,
        graphs: Vec<graph::Job>,
    ) -> SqlResult<Vec<Beginning>> {
        let Edit { catalog: next, changes: meta } = edit;
        let mut change = Change { meta, ..Change::default() };
        let mut jobs = Vec::with_capacity(graphs.len());
        for graph in graphs {
            let job = JobSpec { graph: Arc::new(graph) };
            let id = job.graph.object;
            change.meta.push(nothing_read(id));
            change.meta.push((boot::fingerprint_key(id), Some(boot::fingerprint(&job.graph))));
            let followed = followed(&next, &job);
            for input in &followed {
                self.coordinator.readers().advance(*input, id, Epoch(0));
            }
            // How much there is to be read is known of what is stored.
            let of_stored = followed == HashSet::from_iter(job.graph.upstream_objects());
            change.changelog_on.extend(followed);
            jobs.push((job, of_stored));
        }
        if let Err(error) = self.coordinator.change(change).await {
            for (job, _) in &jobs {
                self.stop_changelogs(job.graph.object).await;
            }
            return Err(error);
        }
        for (job, of_stored) in &jobs {
            let read = of_stored.then_some(0);
            let state = JobState::Detached { rows: 0, done: Epoch(0), read };
            self.coordinator.status().set_job(job.graph.object, state);
        }
        self.publish(next);
        let started = jobs.into_iter().map(|(job, _)| {
            let object = job.graph.object;
            let outcome = self.start_detached(job, Progress::default())?;
            Ok(Beginning { object, outcome })
        });
        started.collect()
    }

    /// Waits until the job has caught up and goes on with everybody's epochs. If it does not, or if
    /// `cancel` comes before, its object goes away; if the server does, the job goes on catching up
    /// after the restart.
    pub(super) async fn finish_job(
        self: &Arc<Self>,
        beginning: Beginning,
        cancel: &CancellationToken,
    ) -> SqlResult<DdlOutcome> {
        let object = beginning.object;
        self.or_undo(object, cancel, beginning.finished()).await.map(|()| DdlOutcome::default())
    }

    /// The same for jobs of parts of `whole`, which goes away if one of them does not get through.
    pub(super) async fn finish_parts(
        self: &Arc<Self>,
        whole: ObjectId,
        parts: Vec<Beginning>,
        cancel: &CancellationToken,
    ) -> SqlResult<()> {
        let finished = async {
            for part in parts {
                part.finished().await?;
            }
            Ok(())
        };
        self.or_undo(whole, cancel, finished).await
    }

    /// The same without anybody who waits: what fails goes away, and the log says why.
    pub(super) fn finish_in_background(self: &Arc<Self>, beginning: Beginning) {
        let Beginning { object, mut outcome } = beginning;
        let engine = Arc::clone(self);
        task::spawn_on(&self.stream, format!("creation {}", object.0), async move {
            let told = outcome.wait_for(Option::is_some).await;
            let Some(Err(error)) = told.map_or(None, |told| told.clone()) else { return };
            // Whoever ends the job sees to the rest, and after a stop of the server it goes on.
            if error.code == code::QUERY_CANCELED {
                return;
            }
            tracing::error!(object = object.0, %error, "an object could not be created");
            if let Err(undo) = engine.undo_job(object).await {
                tracing::error!(object = object.0, %undo, "an unfinished object stays");
            }
        });
    }

    /// CANCEL JOB: takes away what is being created.
    pub async fn cancel_job(self: &Arc<Self>, job: u64, names: &Names) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::JudgedLater, names).await?;
        let catalog = self.catalog();
        let found = u32::try_from(job).ok().and_then(|id| catalog.object(ObjectId(id)));
        let creating = |object: &&Arc<Object>| {
            matches!(self.coordinator.status().job(object.id), Some(JobState::Detached { .. }))
        };
        let object = found.filter(creating).ok_or_else(|| {
            SqlError::new(code::UNDEFINED_OBJECT, format!("nothing is being created by job {job}"))
                .hint("SHOW JOBS shows what is catching up; DROP takes away what is created.")
        })?;
        catalog.actor(&names.user)?.check_owns(object)?;
        if let Some(dependant) = catalog.dependants(object.id).first() {
            let message = format!("job {job} cannot be cancelled because others depend on it");
            let error = SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message);
            return Err(match catalog.object(*dependant) {
                Some(other) => error.detail(format!(
                    "{} \"{}\" reads {} \"{}\".",
                    other.kind_name(),
                    other.name.name,
                    object.kind_name(),
                    object.name.name
                )),
                None => error,
            });
        }
        let gone = [object.id];
        let (next, changes) = catalog.without(&gone)?;
        self.take_away(&gone, next, changes).await?;
        Ok(DdlOutcome::default())
    }

    /// How far what is being created is; `None` when it is.
    pub fn creation(&self, object: ObjectId) -> Option<Creation> {
        match self.coordinator.status().job(object)? {
            JobState::Detached { rows, read, .. } => Some(Creation { rows, read }),
            _ => None,
        }
    }

    /// Waits until what is being created is: `object`, or all.
    pub async fn created(&self, object: Option<ObjectId>) -> SqlResult<()> {
        loop {
            let catalog = self.catalog();
            let waited = match object {
                None => catalog.objects().any(|object| self.creation(object.id).is_some()),
                Some(id) if catalog.object(id).is_none() => {
                    return Err(SqlError::new(code::UNDEFINED_OBJECT, "it was not created")
                        .detail("Its job failed, or was cancelled.")
                        .hint("The server's log says why a job failed."));
                }
                Some(id) => match (self.creation(id), self.failure(id)) {
                    (Some(_), _) => true,
                    (None, Some(error)) => return Err(error),
                    (None, None) => false,
                },
            };
            if !waited {
                return Ok(());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// The outcome of `finishing`; if that is an error, or `cancel` comes before, `object` is taken
    /// away again.
    pub(super) async fn or_undo(
        self: &Arc<Self>,
        object: ObjectId,
        cancel: &CancellationToken,
        finishing: impl Future<Output = SqlResult<()>>,
    ) -> SqlResult<()> {
        let finished = tokio::select! {
            biased;
            finished = finishing => finished,
            () = cancel.cancelled() => Err(cancelled()),
        };
        let Err(error) = finished else { return Ok(()) };
        if let Err(undo) = self.undo_job(object).await {
            tracing::error!(object = object.0, %undo, "an unfinished object stays");
        }
        Err(error)
    }

    /// The right to change what exists, which one statement at a time has.
    pub(super) async fn turn(
        &self,
        cancel: &CancellationToken,
    ) -> SqlResult<tokio::sync::MutexGuard<'_, ()>> {
        tokio::select! {
            biased;
            turn = self.ddl.lock() => Ok(turn),
            () = cancel.cancelled() => Err(cancelled()),
        }
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

/// Whoever holds the token knows better why.
fn cancelled() -> SqlError {
    SqlError::new(code::QUERY_CANCELED, "canceling statement due to user request")
}

/// Inputs of the job whose changes it must be able to read later.
fn followed(catalog: &Catalog, job: &JobSpec) -> HashSet<ObjectId> {
    let stored = |id: &ObjectId| {
        catalog.object(*id).is_some_and(|o| !matches!(o.kind, ObjectKind::Source(_)))
    };
    job.graph.upstream_objects().into_iter().filter(stored).collect()
}
