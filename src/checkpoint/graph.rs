//! The attached graph: what should run, and the actors that run it between two failures.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::coordinator::{JobSpec, SourceSpec, Start};
use super::readers::Readers;
use crate::dataflow::actor;
use crate::dataflow::barrier::Barrier;
use crate::dataflow::cache::CacheBudget;
use crate::dataflow::deploy::{Settings, deploy, output_actors};
use crate::dataflow::dispatch::{Dispatcher, Output};
use crate::dataflow::inbox::Inbox;
use crate::dataflow::report::{ActorId, Event, Route};
use crate::dataflow::source::{Budget, SourceActor, positions_key, positions_of};
use crate::dataflow::table::TableActor;
use crate::error::SqlResult;
use crate::graph::Upstream;
use crate::state::Store;
use crate::types::ObjectId;

/// Reports that may wait for the coordinator.
const EVENTS_MAX: usize = 1024;

/// Barriers that may wait for a root; never more than are in flight.
const BARRIERS_MAX: usize = 16;

/// What should run, as of the newest commit. A failed graph is built again from it.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) tables: BTreeMap<ObjectId, Arc<Inbox>>,
    pub(super) sources: BTreeMap<ObjectId, SourceSpec>,
    pub(super) jobs: BTreeMap<ObjectId, JobSpec>,
}

impl Plan {
    pub(super) fn new(start: Start) -> Self {
        Self {
            tables: start.tables.into_iter().map(|inbox| (inbox.object(), inbox)).collect(),
            sources: start.sources.into_iter().map(|spec| (spec.object, spec)).collect(),
            jobs: start.jobs.into_iter().map(|spec| (spec.graph.object, spec)).collect(),
        }
    }

    pub(super) fn remove(&mut self, object: ObjectId) {
        self.tables.remove(&object);
        self.sources.remove(&object);
        self.jobs.remove(&object);
    }

    /// How many actors give the rows of `object`.
    pub(super) fn output_actors(&self, object: ObjectId) -> usize {
        self.jobs.get(&object).map_or(1, |spec| output_actors(&spec.graph))
    }

    /// Those of `waiting` that wait for none of the others: all of their inputs have ended the
    /// epoch. They work, or a reader of theirs does and takes no more.
    pub(super) fn first_of(&self, waiting: &HashSet<ActorId>) -> Vec<ActorId> {
        let any = |object, fragment: Option<usize>| {
            waiting.iter().any(|actor| {
                actor.object == object && fragment.is_none_or(|one| one == actor.fragment)
            })
        };
        let first = |actor: &&ActorId| {
            let fragment = self
                .jobs
                .get(&actor.object)
                .and_then(|job| job.graph.fragments.get(actor.fragment));
            !fragment.is_some_and(|fragment| {
                fragment.inputs.iter().any(|input| match input.from {
                    Upstream::Object(object) => any(object, None),
                    Upstream::Fragment(from) => any(actor.object, Some(from)),
                })
            })
        };
        let mut found: Vec<ActorId> = waiting.iter().filter(first).copied().collect();
        found.sort_unstable();
        found
    }

    /// `object` and every job that reads it, directly or not.
    pub(super) fn with_dependants(&self, object: ObjectId) -> HashSet<ObjectId> {
        let mut found = HashSet::from([object]);
        loop {
            let before = found.len();
            for (job, spec) in &self.jobs {
                if spec.graph.upstream_objects().iter().any(|up| found.contains(up)) {
                    found.insert(*job);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// Jobs, each after all that read from it.
    fn readers_first(&self) -> Vec<&JobSpec> {
        let mut ordered: Vec<&JobSpec> = Vec::new();
        let mut placed: HashSet<ObjectId> = HashSet::new();
        while ordered.len() < self.jobs.len() {
            let ready: Vec<&JobSpec> = self
                .jobs
                .values()
                .filter(|spec| !placed.contains(&spec.graph.object))
                .filter(|spec| {
                    self.jobs.values().all(|reader| {
                        placed.contains(&reader.graph.object)
                            || !reader.graph.upstream_objects().contains(&spec.graph.object)
                    })
                })
                .collect();
            assert!(!ready.is_empty(), "views do not read from each other in a circle");
            placed.extend(ready.iter().map(|spec| spec.graph.object));
            ordered.extend(ready);
        }
        ordered
    }
}

/// A table or a source: where barriers enter.
struct Root {
    barriers: mpsc::Sender<Arc<Barrier>>,
    /// For sources: whether it may have rows.
    active: Option<Arc<AtomicBool>>,
}

/// The running actors of one generation.
pub(super) struct Graph {
    pub(super) events: mpsc::Receiver<Event>,
    sender: mpsc::Sender<Event>,
    route: Route,
    roots: HashMap<ObjectId, Root>,
    /// Who must report for the next barrier.
    actors: HashSet<ActorId>,
    tasks: Vec<JoinHandle<()>>,
    budget: Budget,
}

impl Graph {
    /// Starts everything in `plan` from what the store has.
    pub(super) fn start(
        plan: &Plan,
        store: &Store,
        readers: &Readers,
        cache: &CacheBudget,
        budget: &Budget,
    ) -> SqlResult<Self> {
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        let route = Route::new(sender.clone());
        let mut graph = Self {
            events,
            sender,
            route,
            roots: HashMap::new(),
            actors: HashSet::new(),
            tasks: Vec::new(),
            budget: budget.clone(),
        };
        let mut outputs: HashMap<ObjectId, Vec<Vec<Output>>> = HashMap::new();
        for spec in plan.readers_first() {
            let object = spec.graph.object;
            let settings = Settings {
                store,
                route: &graph.route,
                changelog: readers.any(object),
                detached: false,
                cache,
                outputs: outputs.remove(&object).unwrap_or_default(),
            };
            let deployed = deploy(&spec.graph, settings, &|upstream| plan.output_actors(upstream))?;
            for feed in deployed.feeds {
                let actors = outputs.entry(feed.upstream).or_default();
                actors.resize_with(feed.outputs.len(), Vec::new);
                for (actor, output) in actors.iter_mut().zip(feed.outputs) {
                    actor.push(output);
                }
            }
            graph.actors.extend(deployed.actors);
            graph.tasks.extend(deployed.tasks);
        }
        let mut of_root = |object| {
            outputs.remove(&object).and_then(|mut actors| actors.pop()).unwrap_or_default()
        };
        for (object, inbox) in &plan.tables {
            graph.add_table(inbox, of_root(*object), readers.any(*object));
        }
        for (object, spec) in &plan.sources {
            graph.add_source(spec, of_root(*object), store)?;
        }
        Ok(graph)
    }

    pub(super) fn add_table(&mut self, inbox: &Arc<Inbox>, outputs: Vec<Output>, changelog: bool) {
        let id = root_actor(inbox.object());
        let (sender, barriers) = mpsc::channel(BARRIERS_MAX);
        let table = TableActor {
            id,
            inbox: Arc::clone(inbox),
            barriers,
            dispatcher: Dispatcher::new(outputs),
            route: self.route.clone(),
            changelog,
        };
        self.add_root(id, Root { barriers: sender, active: None }, Box::pin(table.run()));
    }

    pub(super) fn add_source(
        &mut self,
        spec: &SourceSpec,
        outputs: Vec<Output>,
        store: &Store,
    ) -> SqlResult<()> {
        let id = root_actor(spec.object);
        let mut source = (spec.open)()?;
        let committed = store.snapshot().meta(&positions_key(spec.object))?;
        source.seek(&positions_of(committed.as_deref())?)?;
        let (sender, barriers) = mpsc::channel(BARRIERS_MAX);
        let active = Arc::new(AtomicBool::new(false));
        let actor = SourceActor {
            id,
            source,
            barriers,
            dispatcher: Dispatcher::new(outputs),
            route: self.route.clone(),
            active: Arc::clone(&active),
            budget: self.budget.clone(),
        };
        let root = Root { barriers: sender, active: Some(active) };
        self.add_root(id, root, Box::pin(actor.run()));
        Ok(())
    }

    fn add_root<F>(&mut self, id: ActorId, root: Root, body: F)
    where
        F: Future<Output = Result<(), crate::operator::OperatorError>> + Send + 'static,
    {
        self.roots.insert(id.object, root);
        self.actors.insert(id);
        self.tasks.push(actor::spawn(id, self.route.clone(), body));
    }

    /// Counts on a job's actors from the next barrier on, and tells where they are to report.
    pub(super) fn adopt(&mut self, actors: &[ActorId]) -> mpsc::Sender<Event> {
        self.actors.extend(actors);
        self.sender.clone()
    }

    /// These objects' actors have had their last barrier.
    pub(super) fn forget(&mut self, objects: &HashSet<ObjectId>) {
        self.roots.retain(|object, _| !objects.contains(object));
        self.actors.retain(|actor| !objects.contains(&actor.object));
        self.tasks.retain(|task| !task.is_finished());
    }

    /// Who must report for a barrier injected now.
    pub(super) fn actors(&self) -> HashSet<ActorId> {
        self.actors.clone()
    }

    /// Sends the barrier to all roots.
    pub(super) fn inject(&self, barrier: &Arc<Barrier>) {
        for root in self.roots.values() {
            // A root that is gone has told why; the graph is about to be restarted.
            root.barriers.try_send(Arc::clone(barrier)).ok();
        }
    }

    /// Whether `object` is a source of the graph.
    pub(super) fn is_source(&self, object: ObjectId) -> bool {
        self.roots.get(&object).is_some_and(|root| root.active.is_some())
    }

    /// Whether a source may have rows to commit.
    pub(super) fn is_active(&self) -> bool {
        self.roots
            .values()
            .filter_map(|root| root.active.as_ref())
            .any(|active| active.load(Ordering::Acquire))
    }

    /// Stops all actors and waits for their end, so that none touches state any more.
    pub(super) async fn stop(self) {
        drop(self.roots);
        drop(self.events);
        drop(self.sender);
        for task in &self.tasks {
            task.abort();
        }
        for task in self.tasks {
            // An aborted task ends with an error that says just that.
            task.await.ok();
        }
    }
}

/// The only actor of a table or a source.
pub(super) fn root_actor(object: ObjectId) -> ActorId {
    ActorId { object, fragment: 0, index: 0 }
}
