//! The coordinator: injects barriers, collects reports, commits epochs in order, restarts the
//! graph when an actor fails.
//!
//! One task owns all of it; everybody else sends commands. What must hold:
//! - epoch *n* is committed only when every actor has reported for it, and after *n − 1*;
//! - what is committed is all of the reports, the sealed tables and the graph's changes, at once;
//! - a restart keeps the newest commit and discards everything after it, telling its waiters.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use super::graph::{Graph, Plan};
use super::journal::Journal;
use super::progress::{self, Progress};
use super::readers::Readers;
use super::status::{EpochRecord, JobState, Status};
use crate::clock::{self, Moment};
use crate::connector::Source;
use crate::dataflow::barrier::{Attachment, Barrier, Mutation};
use crate::dataflow::cache::CacheBudget;
use crate::dataflow::inbox::{Gate, Inbox};
use crate::dataflow::report::{ActorId, Event, Report};
use crate::dataflow::source::Budget;
use crate::error::{SqlError, SqlResult, code};
use crate::graph;
use crate::metrics;
use crate::state::{Commit, MetaEntry, StateError, Store, Written};
use crate::task;
use crate::types::{Epoch, ObjectId};

/// Epochs between injection and commit: one being written, one being collected.
const IN_FLIGHT_MAX: usize = 2;

/// Barrier intervals that an epoch is to take from its injection to its commit; sources that give
/// more than fits are slowed down. One for its own rows, one for those of the epoch before it.
const INTERVALS_TO_COMMIT: u32 = 2;

/// Commands that may wait.
const COMMANDS_MAX: usize = 1024;

/// Restarts that a change of the graph may meet before it is given up.
const TRIES_MAX: u32 = 3;

/// A job that fails this often within [`FAILURE_WINDOW`] is suspended.
const FAILURES_MAX: usize = 3;
const FAILURE_WINDOW: Duration = Duration::from_secs(60);

/// A barrier that takes longer is complained about, with the names of those who hold it.
const LATE_AFTER: Duration = Duration::from_secs(10);

/// How a source is opened, again after each restart.
#[derive(Clone)]
pub struct SourceSpec {
    pub object: ObjectId,
    pub open: Arc<dyn Fn() -> SqlResult<Box<dyn Source>> + Send + Sync>,
}

/// A job, as plain data.
#[derive(Clone)]
pub struct JobSpec {
    pub graph: Arc<graph::Job>,
}

/// What runs from the start.
#[derive(Default)]
pub struct Start {
    pub tables: Vec<Arc<Inbox>>,
    pub sources: Vec<SourceSpec>,
    pub jobs: Vec<JobSpec>,
}

/// How the coordinator works.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Between two barriers when nobody hurries.
    pub barrier_interval: Duration,
    /// Clean cached state that all actors together keep over a barrier.
    pub cache: CacheBudget,
}

/// A change of the graph, with what becomes durable with it.
#[derive(Default)]
pub struct Change {
    /// Objects to drop, with all their state.
    pub dropped: HashSet<ObjectId>,
    pub changelog_on: HashSet<ObjectId>,
    pub changelog_off: HashSet<ObjectId>,
    pub meta: Vec<MetaEntry>,
}

/// A job that asks to join the graph.
pub struct Attach {
    pub job: JobSpec,
    pub actors: Vec<ActorId>,
    pub attachments: Vec<Attachment>,
    /// Is told where the job's actors are to report the epochs after the barrier.
    pub collector: oneshot::Sender<mpsc::Sender<Event>>,
    /// Tells that the job has caught up to the barrier that the reply names, durably; or, dropped,
    /// that it never will.
    pub done: oneshot::Receiver<()>,
}

enum Command {
    /// Somebody waits for this epoch.
    Hurry(Epoch),
    AddTable(Arc<Inbox>, oneshot::Sender<SqlResult<()>>),
    AddSource(SourceSpec, oneshot::Sender<SqlResult<()>>),
    Change(Change, oneshot::Sender<SqlResult<Epoch>>),
    Attach(Box<Attach>, oneshot::Sender<SqlResult<Epoch>>),
    /// How many actors give an object's rows.
    OutputActors(ObjectId, oneshot::Sender<usize>),
    Stop(oneshot::Sender<()>),
}

/// A handle on the coordinator.
#[derive(Clone)]
pub struct Coordinator {
    commands: mpsc::Sender<Command>,
    progress: watch::Receiver<Progress>,
    gate: Arc<Gate>,
    store: Store,
    status: Status,
    readers: Readers,
    journal: Journal,
    settings: Settings,
    budget: Budget,
}

impl Coordinator {
    /// Starts the graph from what the store has.
    pub fn start(
        store: Store,
        start: Start,
        readers: Readers,
        settings: Settings,
    ) -> SqlResult<Self> {
        let committed = store.epoch();
        let journal = Journal::load(&store.snapshot())?;
        let gate = Arc::new(Gate::new(Epoch(committed.0 + 1)));
        let status = Status::default();
        for spec in &start.jobs {
            status.set_job(spec.graph.object, JobState::Attached);
        }
        let plan = Plan::new(start);
        let budget = Budget::default();
        let graph = Graph::start(&plan, &store, &readers, &settings.cache, &budget)?;
        let (commands, received) = mpsc::channel(COMMANDS_MAX);
        let (publish, progress) = watch::channel(Progress::new(committed));
        let loop_ = Loop {
            journal: journal.clone(),
            store: store.clone(),
            gate: Arc::clone(&gate),
            status: status.clone(),
            readers: readers.clone(),
            settings: settings.clone(),
            budget: budget.clone(),
            plan,
            graph: Some(graph),
            pending: Pending::default(),
            in_flight: VecDeque::new(),
            committing: None,
            attaching: Vec::new(),
            failures: HashMap::new(),
            hurry: false,
            publish,
        };
        task::spawn("coordinator", loop_.run(received));
        Ok(Self { commands, progress, gate, store, status, readers, journal, settings, budget })
    }

    pub fn gate(&self) -> &Arc<Gate> {
        &self.gate
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    pub fn status(&self) -> &Status {
        &self.status
    }

    pub fn readers(&self) -> &Readers {
        &self.readers
    }

    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// How much sources may give in an epoch.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Waits until `epoch` is durable and visible; injects its barrier now if it is still open.
    pub async fn committed(&self, epoch: Epoch) -> SqlResult<()> {
        self.commands.send(Command::Hurry(epoch)).await.map_err(|_| stopping())?;
        progress::committed(self.progress.clone(), epoch).await
    }

    /// The newest epoch that is committed, and of whose changelogs readers know.
    pub fn newest(&self) -> Epoch {
        self.progress.borrow().committed
    }

    /// Waits until an epoch after `epoch` is committed.
    pub async fn committed_after(&self, epoch: Epoch) -> SqlResult<()> {
        let mut progress = self.progress.clone();
        let later = progress.wait_for(|progress| progress.committed > epoch).await;
        later.map(|_| ()).map_err(|_| stopping())
    }

    /// A table joins the graph: from then on its inbox is sealed at every barrier.
    pub async fn add_table(&self, inbox: Arc<Inbox>) -> SqlResult<()> {
        self.ask(|reply| Command::AddTable(inbox, reply)).await?
    }

    /// A source joins the graph.
    pub async fn add_source(&self, spec: SourceSpec) -> SqlResult<()> {
        self.ask(|reply| Command::AddSource(spec, reply)).await?
    }

    /// Changes the graph at the next barrier; returns when that is committed.
    pub async fn change(&self, change: Change) -> SqlResult<Epoch> {
        self.ask(|reply| Command::Change(change, reply)).await?
    }

    /// Joins a detached job to the graph: it gets its inputs' rows of the epochs after the one
    /// returned, which is committed; see [`Attach::done`].
    pub async fn attach(&self, attach: Attach) -> SqlResult<Epoch> {
        self.ask(|reply| Command::Attach(Box::new(attach), reply)).await?
    }

    /// How many actors give the rows of `object`.
    pub async fn output_actors(&self, object: ObjectId) -> SqlResult<usize> {
        self.ask(|reply| Command::OutputActors(object, reply)).await
    }

    /// Commits what is open, then stops all actors.
    pub async fn stop(&self) {
        let (reply, stopped) = oneshot::channel();
        if self.commands.send(Command::Stop(reply)).await.is_ok() {
            stopped.await.ok();
        }
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> SqlResult<T> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_| stopping())?;
        answer.await.map_err(|_| stopping())
    }
}

fn stopping() -> SqlError {
    SqlError::new(code::ADMIN_SHUTDOWN, "the server is shutting down")
}

type Reply = oneshot::Sender<SqlResult<Epoch>>;

/// A change that waits for its epoch's commit. It is plain data: a restart does not undo it, the
/// next barrier carries it again.
struct Changing {
    change: Change,
    /// Restarts met so far.
    tries: u32,
    reply: Reply,
}

/// What the next barrier will carry.
#[derive(Default)]
struct Pending {
    changes: Vec<Changing>,
    attaches: Vec<(Attach, Reply)>,
}

/// A job between its barrier and the word of its driver.
struct Attaching {
    job: JobSpec,
    done: oneshot::Receiver<()>,
}

/// An epoch between injection and commit.
struct InFlight {
    barrier: Arc<Barrier>,
    waiting: HashSet<ActorId>,
    commit: Commit,
    record: EpochRecord,
    changes: Vec<Changing>,
    /// Of those whose jobs join.
    attaches: Vec<Reply>,
    complained: bool,
    /// Rows of the source that gave most.
    source_rows: u64,
}

struct Loop {
    store: Store,
    gate: Arc<Gate>,
    status: Status,
    readers: Readers,
    settings: Settings,
    budget: Budget,
    journal: Journal,
    plan: Plan,
    /// `None` only while it is being built again.
    graph: Option<Graph>,
    pending: Pending,
    in_flight: VecDeque<InFlight>,
    committing: Option<JoinHandle<Result<Written, StateError>>>,
    attaching: Vec<Attaching>,
    failures: HashMap<ObjectId, Vec<Moment>>,
    hurry: bool,
    publish: watch::Sender<Progress>,
}

impl Loop {
    async fn run(mut self, mut commands: mpsc::Receiver<Command>) {
        let mut ticks = tokio::time::interval(self.settings.barrier_interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let graph = self.graph.as_mut().expect("a graph between events");
            let committed = async {
                match &mut self.committing {
                    Some(writing) => writing.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                written = committed => {
                    self.committing = None;
                    let outcome = written.unwrap_or_else(|panic| {
                        Err(StateError::Storage(format!("the commit panicked: {panic}")))
                    });
                    self.finish_commit(outcome).await;
                }
                event = graph.events.recv() => match event {
                    Some(Event::Report(report)) => self.collect(*report),
                    Some(Event::Failed { actor, error }) => self.fail(actor, error).await,
                    None => unreachable!("the graph holds a sender itself"),
                },
                command = commands.recv() => match command {
                    Some(Command::Stop(reply)) => {
                        self.stop().await;
                        reply.send(()).ok();
                        return;
                    }
                    Some(command) => self.obey(command),
                    None => return self.stop().await,
                },
                _ = ticks.tick() => {
                    self.hurry |= self.has_rows();
                    self.complain();
                }
            }
            self.settle_attaching().await;
            self.advance();
        }
    }

    /// Whether a barrier on the interval would find anything.
    fn has_rows(&self) -> bool {
        self.graph.as_ref().is_some_and(Graph::is_active)
            || self.plan.tables.values().any(|inbox| inbox.is_open())
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Hurry(epoch) => self.hurry |= epoch >= self.gate.open_epoch(),
            Command::AddTable(inbox, reply) => {
                if let Some(graph) = &mut self.graph {
                    graph.add_table(&inbox, Vec::new(), self.readers.any(inbox.object()));
                }
                self.plan.tables.insert(inbox.object(), inbox);
                reply.send(Ok(())).ok();
            }
            Command::AddSource(spec, reply) => {
                let added = match &mut self.graph {
                    Some(graph) => graph.add_source(&spec, Vec::new(), &self.store),
                    None => Ok(()),
                };
                if added.is_ok() {
                    self.plan.sources.insert(spec.object, spec);
                }
                reply.send(added).ok();
            }
            Command::Change(change, reply) => {
                self.pending.changes.push(Changing { change, tries: 0, reply });
                self.hurry = true;
            }
            Command::Attach(attach, reply) => {
                self.pending.attaches.push((*attach, reply));
                self.hurry = true;
            }
            Command::OutputActors(object, reply) => {
                reply.send(self.plan.output_actors(object)).ok();
            }
            Command::Stop(_) => unreachable!("handled by the caller"),
        }
    }

    /// Injects if somebody wants it and there is room; starts the next commit if it is complete.
    fn advance(&mut self) {
        if self.hurry && self.in_flight.len() < IN_FLIGHT_MAX {
            self.inject();
        }
        if self.committing.is_none()
            && let Some(front) = self.in_flight.front_mut()
            && front.waiting.is_empty()
        {
            front.record.collect = front.barrier.injected.elapsed();
            let commit = std::mem::take(&mut front.commit);
            let store = self.store.clone();
            self.committing = Some(task::spawn_blocking(move || store.commit(commit)));
        }
    }

    fn inject(&mut self) {
        self.hurry = false;
        let Some(graph) = &mut self.graph else { return };
        let Pending { mut changes, attaches } = std::mem::take(&mut self.pending);
        let mut mutation = Mutation::default();
        let mut meta = Vec::new();
        for Changing { change, .. } in &mut changes {
            for object in &change.dropped {
                change.meta.extend(self.journal.forget(*object));
            }
            meta.extend(change.meta.iter().cloned());
            mutation.dropped.extend(&change.dropped);
            mutation.changelog_on.extend(&change.changelog_on);
            // Somebody may have begun to read since this was asked.
            let unread = change.changelog_off.iter().filter(|object| !self.readers.any(**object));
            mutation.changelog_off.extend(unread);
        }
        mutation.changelog_off.extend(self.readers.take_unread());
        let (mut joining, mut attach_replies) = (Vec::new(), Vec::new());
        for (mut attach, reply) in attaches {
            mutation.attach.extend(std::mem::take(&mut attach.attachments));
            joining.push(attach);
            attach_replies.push(reply);
        }
        let next = Epoch(self.gate.open_epoch().0 + 1);
        let epoch = self.gate.seal(next, self.plan.tables.values());
        let (injected, time) = (clock::moment(), clock::wall());
        let barrier = Arc::new(Barrier { epoch, time, injected, detached: false, mutation });
        let waiting = graph.actors();
        graph.inject(&barrier);

        let mut commit = Commit { epoch: Some(epoch), meta, ..Commit::default() };
        let dropped = &barrier.mutation.dropped;
        commit.dropped.extend(dropped);
        let unread = &barrier.mutation.changelog_off;
        commit.truncated.extend(unread.iter().map(|object| (*object, epoch)));
        commit.truncated.extend(self.readers.take_read());
        graph.forget(dropped);
        for attach in joining {
            // Should its driver be gone, that shows in `done`.
            attach.collector.send(graph.adopt(&attach.actors)).ok();
            self.attaching.push(Attaching { job: attach.job, done: attach.done });
        }
        let record = EpochRecord {
            epoch,
            injected: time,
            collect: Duration::ZERO,
            commit: Duration::ZERO,
            align_max: Duration::ZERO,
            flush_max: Duration::ZERO,
            bytes: 0,
            rows: 0,
            slowest: None,
        };
        self.in_flight.push_back(InFlight {
            barrier,
            waiting,
            commit,
            record,
            changes,
            attaches: attach_replies,
            complained: false,
            source_rows: 0,
        });
    }

    /// An actor has done its part of an epoch.
    fn collect(&mut self, report: Report) {
        let Some(flight) =
            self.in_flight.iter_mut().find(|flight| flight.barrier.epoch == report.epoch)
        else {
            tracing::error!(?report.actor, ?report.epoch, "report for an epoch not in flight");
            return;
        };
        flight.waiting.remove(&report.actor);
        let object = report.actor.object;
        if flight.barrier.mutation.dropped.contains(&object) {
            return;
        }
        self.status.record_actor(&report);
        if self.graph.as_ref().is_some_and(|graph| graph.is_source(object)) {
            flight.source_rows = flight.source_rows.max(report.figures.rows_out);
        }
        let record = &mut flight.record;
        record.align_max = record.align_max.max(report.figures.align);
        record.flush_max = record.flush_max.max(report.figures.flush);
        record.rows += report.figures.rows_in;
        record.slowest = Some(report.actor);
        let (epoch, time) = (report.epoch, flight.barrier.time);
        let commit = &mut flight.commit;
        commit.changes.extend(report.changes);
        commit.changelog.extend(report.changelog);
        commit.meta.extend(report.meta);
        if !report.row_errors.is_empty() {
            commit.meta.extend(self.journal.errors(object, epoch, time, report.row_errors));
        }
        if !report.dead_letters.is_empty() {
            let letters = report.dead_letters;
            commit.meta.extend(self.journal.dead_letters(object, epoch, time, letters));
        }
    }

    /// The oldest epoch in flight is on disk, or could not be written.
    async fn finish_commit(&mut self, outcome: Result<Written, StateError>) {
        let written = match outcome {
            Ok(written) => written,
            Err(error) => {
                tracing::error!(%error, "an epoch could not be committed");
                return self.restart(Some(error.into())).await;
            }
        };
        let Some(mut flight) = self.in_flight.pop_front() else { return };
        let epoch = flight.barrier.epoch;
        for object in &flight.barrier.mutation.dropped {
            self.plan.remove(*object);
            self.failures.remove(object);
        }
        let total = flight.barrier.injected.elapsed();
        if flight.source_rows > 0 {
            let target = self.settings.barrier_interval * INTERVALS_TO_COMMIT;
            self.budget.adapt(flight.source_rows, total, target);
        }
        flight.record.bytes = written.bytes;
        flight.record.commit = total.saturating_sub(flight.record.collect);
        self.status.record_epoch(flight.record);
        metrics::EPOCHS_COMMITTED.inc();
        metrics::EPOCH.set(i64::try_from(epoch.0).unwrap_or(i64::MAX));
        metrics::BARRIER_SECONDS.observe(total.as_secs_f64());
        self.readers.committed(epoch, &written.changelog);
        self.publish.send_modify(|progress| progress.committed = epoch);
        let changed = flight.changes.into_iter().map(|changing| changing.reply);
        for reply in changed.chain(flight.attaches) {
            // Whoever asked may have gone.
            reply.send(Ok(epoch)).ok();
        }
    }

    /// Jobs whose drivers have given their word since.
    async fn settle_attaching(&mut self) {
        let mut broken = None;
        let mut index = 0;
        while index < self.attaching.len() {
            match self.attaching[index].done.try_recv() {
                Err(oneshot::error::TryRecvError::Empty) => index += 1,
                Ok(()) => {
                    let attached = self.attaching.swap_remove(index);
                    self.join_plan(attached.job);
                }
                Err(oneshot::error::TryRecvError::Closed) => {
                    broken = Some(self.attaching.swap_remove(index));
                }
            }
        }
        if broken.is_some() {
            // Its upstream sends it rows that nobody takes: only a new graph is without it.
            self.restart(None).await;
        }
    }

    fn join_plan(&mut self, job: JobSpec) {
        self.status.set_job(job.graph.object, JobState::Attached);
        self.plan.jobs.insert(job.graph.object, job);
    }

    async fn fail(&mut self, actor: ActorId, error: SqlError) {
        tracing::error!(object = actor.object.0, fragment = actor.fragment, index = actor.index,
            code = error.code, %error, "an actor failed");
        // Without sources, whoever wrote too much is told so: the job is not to blame.
        let by_writers = error.code == code::OUT_OF_MEMORY && self.plan.sources.is_empty();
        if !by_writers {
            let failures = self.failures.entry(actor.object).or_default();
            failures.retain(|moment| moment.elapsed() < FAILURE_WINDOW);
            failures.push(clock::moment());
            if failures.len() >= FAILURES_MAX && self.plan.jobs.contains_key(&actor.object) {
                self.suspend(actor.object, &error);
            }
        }
        self.restart(Some(error)).await;
    }

    /// Takes a job that cannot run, and those that read from it, out of the graph.
    fn suspend(&mut self, object: ObjectId, error: &SqlError) {
        for object in self.plan.with_dependants(object) {
            self.plan.remove(object);
            self.failures.remove(&object);
            self.status.set_job(object, JobState::Suspended { error: error.clone() });
            let meta = vec![(suspended_key(object), Some(error.message.clone().into_bytes()))];
            if let Err(error) = self.store.commit(Commit { meta, ..Commit::default() }) {
                tracing::error!(%error, "a suspension could not be written");
            }
            tracing::error!(object = object.0, "job suspended");
        }
    }

    /// Builds the graph again from the newest commit; everything after that is discarded.
    async fn restart(&mut self, cause: Option<SqlError>) {
        let started = clock::moment();
        metrics::RESTARTS.inc();
        if let Some(graph) = self.graph.take() {
            graph.stop().await;
        }
        if let Some(writing) = self.committing.take() {
            // A write under way may still succeed: then it is committed, and so it is published.
            if let Ok(outcome @ Ok(_)) = writing.await {
                Box::pin(self.finish_commit(outcome)).await;
            }
        }
        let error = cause.unwrap_or_else(|| SqlError::internal("the graph was restarted"));
        self.put_off(&error);
        for attaching in std::mem::take(&mut self.attaching) {
            // Its driver needs nothing of the graph for its last step: it ends one way or another.
            if attaching.done.await.is_ok() {
                self.join_plan(attaching.job);
            }
        }
        let committed = self.store.epoch();
        let last = self.gate.open_epoch();
        self.gate.reset(Epoch(last.0 + 1), &self.store, self.plan.tables.values());
        self.publish.send_modify(|progress| progress.discard(Epoch(committed.0 + 1), last, &error));
        self.rebuild().await;
        tracing::info!(epoch = committed.0, took = ?started.elapsed(), "graph restarted");
    }

    /// What was on its way to a commit when the graph stopped: changes go with the next barrier,
    /// unless they have failed too often; those who would attach have to ask again.
    fn put_off(&mut self, error: &SqlError) {
        let pending = std::mem::take(&mut self.pending);
        let mut refused: Vec<Reply> =
            pending.attaches.into_iter().map(|(_, reply)| reply).collect();
        let mut changes = Vec::new();
        for flight in self.in_flight.drain(..) {
            changes.extend(flight.changes);
            refused.extend(flight.attaches);
        }
        changes.extend(pending.changes);
        for mut changing in changes {
            changing.tries += 1;
            if changing.tries < TRIES_MAX {
                self.pending.changes.push(changing);
                self.hurry = true;
            } else {
                refused.push(changing.reply);
            }
        }
        for reply in refused {
            reply.send(Err(error.clone())).ok();
        }
    }

    async fn rebuild(&mut self) {
        let mut wait = Duration::from_millis(10);
        loop {
            let cache = &self.settings.cache;
            match Graph::start(&self.plan, &self.store, &self.readers, cache, &self.budget) {
                Ok(graph) => {
                    self.graph = Some(graph);
                    return;
                }
                Err(error) => {
                    tracing::error!(%error, "the graph could not be started; trying again");
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(Duration::from_secs(5));
                }
            }
        }
    }

    fn complain(&mut self) {
        let Some(front) = self.in_flight.front_mut() else { return };
        if front.barrier.injected.elapsed() > LATE_AFTER && !front.complained {
            front.complained = true;
            let epoch = front.barrier.epoch.0;
            let waiting = front.waiting.len();
            if waiting == 0 {
                tracing::warn!(
                    epoch,
                    "late barrier: all actors have passed it, a commit takes long"
                );
                return;
            }
            let held_by = self.plan.first_of(&front.waiting);
            tracing::warn!(epoch, ?held_by, waiting, "late barrier");
        }
    }

    /// Commits what writers have entered, then ends all actors.
    async fn stop(&mut self) {
        let wanted = self.gate.open_epoch();
        self.hurry = true;
        while self.store.epoch() < wanted {
            self.advance();
            let Some(graph) = self.graph.as_mut() else { break };
            if let Some(writing) = &mut self.committing {
                let Ok(outcome @ Ok(_)) = writing.await else { break };
                self.committing = None;
                self.finish_commit(outcome).await;
            } else {
                match graph.events.recv().await {
                    Some(Event::Report(report)) => self.collect(*report),
                    _ => break,
                }
            }
        }
        if let Some(graph) = self.graph.take() {
            graph.stop().await;
        }
    }
}

/// Where the reason of a suspension is kept in the store's metadata.
pub fn suspended_key(object: ObjectId) -> Vec<u8> {
    [b"suspended/".as_slice(), &object.0.to_be_bytes()].concat()
}
