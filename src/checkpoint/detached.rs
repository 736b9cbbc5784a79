//! A job that has to catch up runs detached: at its own pace, in its own epochs.
//!
//! Each input that is stored (a table, a view) is followed from a [`Place`], which is committed
//! with the job's state. An input that is a source is replayed up to its committed positions.
//!
//! When all inputs are read to the end, the job asks to be attached at a barrier *b*: its inputs
//! send it the epochs after *b* on new channels. The driver brings the job to *b* exactly, commits
//! that, and hands its channels over. Nobody else waits longer than for that last step, which is
//! as long as what came in during the step before: so the job asks only after a step that was
//! short, or when its steps do not get shorter any more.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use super::coordinator::{Attach, Coordinator, JobSpec, SourceSpec};
use super::follow::{self, Place, Position};
use super::graph::root_actor;
use super::status::JobState;
use crate::clock;
use crate::connector::{Positions, Source, Then};
use crate::dataflow::barrier::{Attachment, Barrier, Mutation};
use crate::dataflow::channel::Receiver;
use crate::dataflow::deploy::{self, Settings, connect, object_ports};
use crate::dataflow::dispatch::Dispatcher;
use crate::dataflow::report::{ActorId, Event, Report, Route};
use crate::dataflow::source::{positions_key, positions_of};
use crate::error::{SqlError, SqlResult, code};
use crate::failpoint;
use crate::state::{Commit, MetaEntry, RowLayout, Snapshot, Store};
use crate::task;
use crate::types::{Delta, Epoch, ObjectId, TableId};

/// Rows read of an input in a step: each step is a commit. As many as take about [`STEP_TIME`].
const STEP_ROWS_MIN: usize = 1024;
const STEP_ROWS_FIRST: usize = 8192;
const STEP_ROWS_MAX: usize = 65_536;

/// Short enough to show progress, and for a job that goes away to go soon; long enough that
/// commits cost little beside it.
const STEP_TIME: Duration = Duration::from_millis(500);

/// Barrier intervals that the last step may take, as far as the step before it tells.
const INTERVALS_BEHIND_MAX: u32 = 1;

/// How often sources are slowed down to half of their speed for a job that replays them and does
/// not gain on them: it would never be finished.
const HALVED_MAX: usize = 16;

/// Steps that brought the job to the newest epoch without being short: it does not come nearer, as
/// its inputs are as fast as it is. Attached, it slows its sources down like every reader.
const STEPS_BEHIND_MAX: usize = 20;

/// Restarts of the graph that a job may meet where it would attach.
const TRIES_MAX: u32 = 5;

/// Rows of a poll of a source.
const POLL_ROWS: usize = 8192;

/// An input of the job.
pub enum Input {
    /// A table or a view: its rows lie as this says.
    Stored(Arc<RowLayout>),
    Source(SourceSpec),
}

/// How far the job has read an input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum Read {
    Stored { position: Position, done: Epoch },
    Source { positions: Positions },
}

/// How far the job has read, as committed with its state.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    inputs: BTreeMap<u32, Read>,
    rows: u64,
}

/// Where a detached job's progress is kept in the store's metadata. Without one it is attached.
pub fn progress_key(object: ObjectId) -> Vec<u8> {
    [b"backfill/".as_slice(), &object.0.to_be_bytes()].concat()
}

/// The metadata entry that makes `object` a detached job that has read nothing.
pub fn nothing_read(object: ObjectId) -> MetaEntry {
    let nothing = serde_json::to_vec(&Progress::default()).expect("plain data has a JSON form");
    (progress_key(object), Some(nothing))
}

/// Progress from its bytes.
pub fn progress_of(bytes: &[u8]) -> SqlResult<Progress> {
    serde_json::from_slice(bytes)
        .map_err(|error| SqlError::internal(format!("progress of a detached job: {error}")))
}

impl Progress {
    /// As `weir.jobs` shows it; `newest` is what a job of sources alone has read up to.
    pub fn state(&self, newest: Epoch) -> JobState {
        let done = self.inputs.values().filter_map(|read| match read {
            Read::Stored { done, .. } => Some(*done),
            Read::Source { .. } => None,
        });
        JobState::Detached { rows: self.rows, done: done.min().unwrap_or(newest), read: None }
    }

    /// About which part of the rows of its inputs is read, in thousandths; of sources nobody knows
    /// how many there will be.
    fn part_read(&self, store: &Store) -> Option<u16> {
        let (mut read, mut all) = (0.0, 0.0);
        for (input, place) in &self.inputs {
            let Read::Stored { position, .. } = place else { return None };
            let table = TableId::contents(ObjectId(*input));
            let weight = store.table_size(table) as f64 + 1.0;
            let part = match position {
                Position::Start => 0.0,
                Position::After(key) => store.part_up_to(table, key),
                Position::End => 1.0,
            };
            (read, all) = (read + part * weight, all + weight);
        }
        // From 0 to 1000.
        (all > 0.0).then_some((read / all * 1000.0) as u16)
    }

    /// The epoch after which the job needs the changes of `input`.
    pub fn done(&self, input: ObjectId) -> Epoch {
        match self.inputs.get(&input.0) {
            Some(Read::Stored { done, .. }) => *done,
            _ => Epoch(0),
        }
    }
}

/// Drives a job until it is attached.
pub struct Driver {
    coordinator: Coordinator,
    job: JobSpec,
    inputs: Vec<(ObjectId, Input)>,
    progress: Progress,
    /// Sources of the job, open at their positions.
    sources: HashMap<ObjectId, Box<dyn Source>>,
    /// For each of the job's ports on objects, its input and the way to it.
    feeds: Vec<(ObjectId, Dispatcher)>,
    actors: Vec<ActorId>,
    route: Route,
    events: mpsc::Receiver<Event>,
    committing: Committing,
}

/// What a job holds between the barrier at which it joins and its last step.
struct Joining {
    /// For each of the job's ports on objects, what each of its actors will read.
    handovers: Vec<Vec<Vec<Receiver>>>,
    tell: oneshot::Sender<()>,
    reports: oneshot::Receiver<mpsc::Sender<Event>>,
}

/// Held while a commit of the job is on its way to the disk: it goes on when its driver is gone,
/// and whoever deletes the job's state must wait for it.
pub type Committing = Arc<tokio::sync::Mutex<()>>;

/// How many rows the next step may read, after one with `rows` that took `took`.
fn next_rows(rows: usize, took: Duration) -> usize {
    let fitting = rows as f64 * STEP_TIME.as_secs_f64() / took.as_secs_f64().max(1e-3);
    (fitting as usize).min(rows * 2).clamp(STEP_ROWS_MIN, STEP_ROWS_MAX)
}

impl Driver {
    /// Starts the job's actors. Its inputs keep changelogs since an epoch no later than the newest
    /// committed one, and `progress` is what was committed of it.
    pub fn start(
        coordinator: Coordinator,
        job: JobSpec,
        inputs: Vec<(ObjectId, Input)>,
        mut progress: Progress,
        committing: Committing,
    ) -> SqlResult<Self> {
        let (sender, events) = mpsc::channel(1024);
        let route = Route::new(sender);
        let settings = Settings {
            store: coordinator.store(),
            route: &route,
            changelog: false,
            detached: true,
            cache: &coordinator.settings().cache,
            outputs: Vec::new(),
        };
        let deployed = deploy::deploy(&job.graph, settings, &|_| 1)?;
        let mut sources = HashMap::new();
        for (object, input) in &inputs {
            let read = progress.inputs.entry(object.0).or_insert_with(|| match input {
                Input::Stored(_) => Read::Stored { position: Position::Start, done: Epoch(0) },
                Input::Source(_) => Read::Source { positions: Positions::default() },
            });
            match (input, read) {
                (Input::Source(spec), Read::Source { positions }) => {
                    let mut source = (spec.open)()?;
                    source.seek(positions)?;
                    sources.insert(*object, source);
                }
                (Input::Stored(_), Read::Stored { done, .. }) => {
                    coordinator.readers().advance(*object, job.graph.object, *done);
                }
                _ => return Err(SqlError::internal("progress of an input of another kind")),
            }
        }
        let feeds = deployed
            .feeds
            .into_iter()
            .map(|feed| (feed.upstream, Dispatcher::new(feed.outputs)))
            .collect();
        let actors = deployed.actors;
        Ok(Self {
            coordinator,
            job,
            inputs,
            progress,
            sources,
            feeds,
            actors,
            route,
            events,
            committing,
        })
    }

    /// Catches up and attaches. Dropping the future ends the job's actors.
    pub async fn run(mut self) -> SqlResult<()> {
        let mut tries = 0;
        let joining = loop {
            self.catch_up().await?;
            tries += 1;
            match self.ask().await {
                Ok(joining) => break joining,
                // The graph was started again meanwhile: it knows nothing of this job.
                Err(error) if tries < TRIES_MAX && error.code != code::ADMIN_SHUTDOWN => {
                    tracing::info!(object = self.job.graph.object.0, %error, "attaching again");
                }
                Err(error) => return Err(error),
            }
        };
        self.attach(joining).await
    }

    /// Reads the inputs on until the job is near enough to everybody's epochs.
    async fn catch_up(&mut self) -> SqlResult<()> {
        let short = self.coordinator.settings().barrier_interval * INTERVALS_BEHIND_MAX;
        let mut rows_max = STEP_ROWS_FIRST;
        let mut long_steps = 0;
        let mut held = Vec::new();
        loop {
            let snapshot = self.coordinator.store().snapshot();
            let (given, read) = (self.given(), self.progress.rows);
            let started = clock::moment();
            let there = self.step(&snapshot, rows_max).await?;
            let took = started.elapsed();
            if there {
                long_steps += 1;
                if took <= short || long_steps >= STEPS_BEHIND_MAX {
                    return Ok(());
                }
            }
            let given = self.given().saturating_sub(given);
            let read = self.progress.rows - read;
            if given > 0 && read < given + given / 4 && held.len() < HALVED_MAX {
                held.push(self.coordinator.budget().halve());
            }
            rows_max = next_rows(rows_max, took);
            failpoint::hit(failpoint::BACKFILL_CHUNK);
        }
    }

    /// Rows that the sources of the job have given to the graph so far.
    fn given(&self) -> u64 {
        let status = self.coordinator.status();
        self.sources.keys().map(|object| status.rows_out(root_actor(*object))).sum()
    }

    /// Asks to join the graph at its next barrier; returns when that is committed.
    #[expect(clippy::needless_pass_by_ref_mut, reason = "shared, it would need sources to be Sync")]
    async fn ask(&mut self) -> SqlResult<Joining> {
        let mut attachments = Vec::new();
        let mut handovers = Vec::new();
        for ((upstream, _), (fragment, port)) in
            self.feeds.iter().zip(object_ports(&self.job.graph))
        {
            let senders = self.coordinator.output_actors(*upstream).await?;
            let graph = &self.job.graph;
            let (outputs, receivers) = connect(graph, &graph.fragments[fragment], port, senders)?;
            attachments.push(Attachment::new(*upstream, outputs));
            handovers.push(receivers);
        }
        let (tell, done) = oneshot::channel();
        let (collector, reports) = oneshot::channel();
        let (job, actors) = (self.job.clone(), self.actors.clone());
        let attach = Attach { job, actors, attachments, collector, done };
        self.coordinator.attach(attach).await?;
        Ok(Joining { handovers, tell, reports })
    }

    /// Brings the job to the barrier at which it joined, and hands its channels over.
    async fn attach(mut self, joining: Joining) -> SqlResult<()> {
        let Joining { handovers, tell, reports } = joining;
        // The next epoch waits for this job, so the newest snapshot is of the barrier's epoch.
        let snapshot = self.coordinator.store().snapshot();
        while !self.step(&snapshot, usize::MAX).await? {}
        self.commit(&snapshot, Vec::new(), true).await?;
        if let Ok(reports) = reports.await {
            self.route.change(reports);
        }
        for ((_, dispatcher), receivers) in self.feeds.into_iter().zip(handovers) {
            if let Some(output) = dispatcher.into_outputs().pop() {
                // Should the graph be torn down right now, its next start has the job.
                output.hand_over(receivers).await.ok();
            }
        }
        let object = self.job.graph.object;
        self.coordinator.status().set_job(object, JobState::Attached);
        // The coordinator may be gone, with all it would have to know.
        tell.send(()).ok();
        Ok(())
    }

    /// Brings the job towards `snapshot`, by up to `rows_max` rows of each input, in one of its
    /// epochs. True if it is there.
    async fn step(&mut self, snapshot: &Arc<Snapshot>, rows_max: usize) -> SqlResult<bool> {
        let mut there = true;
        for index in 0..self.inputs.len() {
            let object = self.inputs[index].0;
            there &= match &self.inputs[index].1 {
                Input::Stored(_) => self.read_stored(index, object, snapshot, rows_max).await?,
                Input::Source(_) => self.replay(object, snapshot, rows_max).await?,
            };
        }
        let reports = self.barrier(snapshot.epoch()).await?;
        self.commit(snapshot, reports, false).await?;
        Ok(there)
    }

    async fn read_stored(
        &mut self,
        index: usize,
        object: ObjectId,
        snapshot: &Arc<Snapshot>,
        rows_max: usize,
    ) -> SqlResult<bool> {
        let Some(Read::Stored { position, done }) = self.progress.inputs.get(&object.0).cloned()
        else {
            return Err(SqlError::internal("an input that was not read"));
        };
        let Input::Stored(layout) = &self.inputs[index].1 else {
            return Err(SqlError::internal("a stored input of another kind"));
        };
        let layout = Arc::clone(layout);
        let mut place = Place { position, done };
        let mut read = 0;
        let there = loop {
            if read >= rows_max {
                break place.position == Position::End && place.done == snapshot.epoch();
            }
            let step = {
                let (snapshot, layout, place) =
                    (Arc::clone(snapshot), Arc::clone(&layout), place.clone());
                let rows = STEP_ROWS_MAX.min(rows_max - read);
                task::spawn_blocking(move || follow::next(&snapshot, object, &layout, &place, rows))
                    .await
                    .map_err(|panic| SqlError::internal(format!("reading panicked: {panic}")))??
            };
            let Some(step) = step else {
                place.done = snapshot.epoch();
                break true;
            };
            for delta in step.deltas() {
                read += delta.rows();
                self.send(object, delta).await?;
            }
            self.progress.rows += step.rows as u64;
            place = step.place;
        };
        let Place { position, done } = place;
        self.progress.inputs.insert(object.0, Read::Stored { position, done });
        Ok(there)
    }

    /// Reads a source on, towards what the snapshot says was read of it.
    async fn replay(
        &mut self,
        object: ObjectId,
        snapshot: &Snapshot,
        rows_max: usize,
    ) -> SqlResult<bool> {
        let until = positions_of(snapshot.meta(&positions_key(object))?.as_deref())?;
        let mut rows = 0;
        let mut end = false;
        while !end && rows < rows_max {
            let Some(source) = self.sources.get_mut(&object) else {
                return Err(SqlError::internal("a source that is not open"));
            };
            let polled = source.poll(POLL_ROWS, Some(&until)).await?;
            end = polled.then == Then::End;
            if let Then::Wait(duration) = polled.then {
                tokio::time::sleep(duration).await;
            }
            rows += polled.batch.num_rows();
            self.send(object, &Delta::inserts(polled.batch)).await?;
        }
        self.progress.rows += rows as u64;
        if let Some(source) = self.sources.get(&object) {
            let positions = source.positions();
            self.progress.inputs.insert(object.0, Read::Source { positions });
        }
        Ok(end)
    }

    async fn send(&mut self, object: ObjectId, delta: &Delta) -> SqlResult<()> {
        for (_, dispatcher) in self.feeds.iter_mut().filter(|(upstream, _)| *upstream == object) {
            if let Err(error) = dispatcher.send(delta).await {
                return Err(self.cause_of(error.into_sql()));
            }
        }
        Ok(())
    }

    /// Ends one of the job's epochs, and waits for all its actors.
    async fn barrier(&mut self, epoch: Epoch) -> SqlResult<Vec<Report>> {
        let barrier = Arc::new(Barrier {
            epoch,
            time: clock::wall(),
            injected: clock::moment(),
            detached: true,
            mutation: Mutation::default(),
        });
        for index in 0..self.feeds.len() {
            if let Err(error) = self.feeds[index].1.barrier(&barrier).await {
                return Err(self.cause_of(error.into_sql()));
            }
        }
        let mut waiting: HashSet<ActorId> = self.actors.iter().copied().collect();
        let mut reports = Vec::new();
        while !waiting.is_empty() {
            match self.events.recv().await {
                Some(Event::Report(report)) => {
                    waiting.remove(&report.actor);
                    reports.push(*report);
                }
                Some(Event::Failed { error, .. }) => return Err(error),
                None => return Err(SqlError::internal("the job's actors ended")),
            }
        }
        Ok(reports)
    }

    /// Why the actors are gone, if one of them told.
    fn cause_of(&mut self, otherwise: SqlError) -> SqlError {
        while let Ok(event) = self.events.try_recv() {
            if let Event::Failed { error, .. } = event {
                return error;
            }
        }
        otherwise
    }

    /// Makes the job's epoch durable, with how far it has read; `last` if it is attached now.
    #[expect(clippy::needless_pass_by_ref_mut, reason = "shared, it would need sources to be Sync")]
    async fn commit(
        &mut self,
        snapshot: &Snapshot,
        reports: Vec<Report>,
        last: bool,
    ) -> SqlResult<()> {
        let object = self.job.graph.object;
        let status = self.coordinator.status().clone();
        let mut commit = Commit::default();
        for report in reports {
            status.record_actor(&report);
            commit.changes.extend(report.changes);
            let journal = self.coordinator.journal();
            let time = clock::wall();
            commit.meta.extend(journal.errors(object, report.epoch, time, report.row_errors));
        }
        let progress = serde_json::to_vec(&self.progress)
            .map_err(|error| SqlError::internal(error.to_string()))?;
        commit.meta.push((progress_key(object), (!last).then_some(progress)));
        if !last {
            let mut state = self.progress.state(snapshot.epoch());
            if let JobState::Detached { read, .. } = &mut state {
                *read = self.progress.part_read(self.coordinator.store());
            }
            status.set_job(object, state);
        }
        let store = self.coordinator.store().clone();
        let committing = Arc::clone(&self.committing).lock_owned().await;
        let write = move || {
            let _committing = committing;
            store.commit(commit)
        };
        task::spawn_blocking(write)
            .await
            .map_err(|panic| SqlError::internal(format!("the commit panicked: {panic}")))??;
        // Not before: what is read may be forgotten.
        for (input, read) in &self.progress.inputs {
            if let Read::Stored { done, .. } = read {
                self.coordinator.readers().advance(ObjectId(*input), object, *done);
            }
        }
        Ok(())
    }
}
