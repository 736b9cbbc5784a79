//! The start, after a shutdown or a crash: the catalog is read, every view and index is planned
//! again, and the graph starts from the newest commit.
//!
//! A view is found in one of three states: attached (no progress in the metadata), still catching
//! up (progress), suspended. A view whose plan is not the one its state was written by (see
//! [`fingerprint`]) starts over from its inputs: old bytes are never read as something else.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};
use tokio::runtime::Handle;
use xxhash_rust::xxh3::xxh3_64;

use super::ddl::{fill, forget_temporary, forget_unfinished, guard_of, own_meta};
use super::sequences::Sequences;
use super::{Engine, Settings, jobs, sink, subscription};
use crate::catalog::catalog::nothing;
use crate::catalog::{Catalog, Object, ObjectKind, object};
use crate::checkpoint::coordinator::{self, Coordinator, JobSpec, Start, suspended_key};
use crate::checkpoint::detached::{self, Progress, progress_key, progress_of};
use crate::checkpoint::readers::Readers;
use crate::checkpoint::status::JobState;
use crate::clock;
use crate::dataflow::cache::CacheBudget;
use crate::dataflow::inbox::Inbox;
use crate::error::{SqlError, SqlResult, code};
use crate::expr;
use crate::graph;
use crate::planner;
use crate::serving;
use crate::state::{Commit, Snapshot, Store};
use crate::task;
use crate::types::{Epoch, ObjectId};

/// Of the memory, the part that queries may use.
const QUERY_SHARE: usize = 4;

/// Of the memory, the part that operators may keep as clean cached state.
const CACHE_SHARE: usize = 4;

/// What the store says is to run.
struct Found {
    start: Start,
    inboxes: HashMap<ObjectId, Arc<Inbox>>,
    detached: Vec<(JobSpec, Progress)>,
    suspended: Vec<(ObjectId, SqlError)>,
    pumped: Vec<Arc<Object>>,
    sinks: Vec<Arc<Object>>,
    subscriptions: Vec<Arc<Object>>,
    /// Jobs that start over from their inputs.
    over: HashSet<ObjectId>,
}

impl Engine {
    /// Starts the engine on `store`. Actors run on `stream`; queries spill below `data`.
    pub async fn start(
        store: Store,
        settings: Settings,
        stream: Handle,
        data: &Path,
    ) -> SqlResult<Arc<Engine>> {
        let snapshot = store.snapshot();
        let catalog = forget_temporary(&store, load_catalog(&snapshot)?)?;
        let catalog = Arc::new(with_secret(&store, catalog)?);
        let readers = Readers::default();
        // Queries spill what their share of the memory does not hold.
        let spill = data.join("spill");
        let template = expr::functions::install(serving::template(
            settings.memory_bytes / QUERY_SHARE,
            &spill,
        )?)?;
        let found = find(&store, &catalog, &readers).await?;
        let coordinator_settings = coordinator::Settings {
            barrier_interval: settings.barrier_interval,
            cache: CacheBudget::new(settings.memory_bytes / CACHE_SHARE),
        };
        let sequences = Arc::new(Sequences::new(store.clone()));
        let start = found.start;
        let starting = task::spawn_on(&stream, "start", async move {
            Coordinator::start(store, start, readers, coordinator_settings)
        });
        let coordinator = starting
            .await
            .map_err(|panic| SqlError::internal(format!("the start panicked: {panic}")))??;
        for (object, error) in found.suspended {
            coordinator.status().set_job(object, JobState::Suspended { error });
        }
        let engine = Arc::new(Engine {
            catalog: RwLock::new(catalog),
            coordinator,
            inboxes: RwLock::new(found.inboxes),
            ddl: tokio::sync::Mutex::new(()),
            background: Mutex::new(HashMap::new()),
            sinks: Mutex::new(HashMap::new()),
            stream,
            settings,
            template: Arc::new(template),
            locks: Arc::default(),
            row_ids: Arc::default(),
            sequences,
            system: OnceLock::new(),
        });
        for (job, progress) in found.detached {
            engine.coordinator.status().set_job(job.graph.object, progress.state(Epoch(0)));
            engine.start_detached(job, progress)?;
        }
        for table in found.pumped {
            engine.start_pump(&table)?;
        }
        for sink in found.sinks {
            engine.start_sink(&sink)?;
        }
        for subscription in found.subscriptions {
            engine.keep_changes(&subscription)?;
        }
        Ok(engine)
    }
}

/// The catalog in the metadata.
pub(super) fn load_catalog(snapshot: &Snapshot) -> SqlResult<Catalog> {
    Catalog::load(snapshot.meta_with_prefix(b"catalog/")?)
}

/// The catalog with a secret for mock verifiers, made at the first start.
fn with_secret(store: &Store, catalog: Catalog) -> SqlResult<Catalog> {
    if !catalog.secret().is_empty() {
        return Ok(catalog);
    }
    let secret = [clock::random(), clock::random()].map(u128::to_be_bytes).concat();
    let (catalog, meta) = catalog.with_secret(secret)?;
    store.commit(Commit { meta, ..Commit::default() })?;
    Ok(catalog)
}

async fn find(store: &Store, catalog: &Arc<Catalog>, readers: &Readers) -> SqlResult<Found> {
    let snapshot = store.snapshot();
    let mut found = Found {
        start: Start::default(),
        inboxes: HashMap::new(),
        detached: Vec::new(),
        suspended: Vec::new(),
        pumped: Vec::new(),
        sinks: Vec::new(),
        subscriptions: Vec::new(),
        over: HashSet::new(),
    };
    forget_unfinished(store, catalog)?;
    let nothing = Arc::new(nothing());
    for object in std::iter::once(&nothing).chain(catalog.objects()) {
        match &object.kind {
            ObjectKind::Table(table) => {
                let inbox = Arc::new(Inbox::new(store, object.id, jobs::layout(object)?));
                found.inboxes.insert(object.id, Arc::clone(&inbox));
                found.start.tables.push(inbox);
                if table.connector.is_some() {
                    found.pumped.push(Arc::clone(object));
                }
            }
            ObjectKind::Source(_) => found.start.sources.push(jobs::source_spec(catalog, object)?),
            ObjectKind::View(_) | ObjectKind::Sequence(_) => {}
            ObjectKind::MaterializedView(_) => {
                let graph = planner::plan_stored_view(catalog, object).await;
                find_job(store, &snapshot, object, graph, readers, &mut found)?;
            }
            ObjectKind::Sink(sink) => {
                if sink.query.is_some() {
                    let graph = planner::plan_stored_view(catalog, object).await;
                    find_job(store, &snapshot, object, graph, readers, &mut found)?;
                }
                find_sink(&snapshot, object, sink, readers, &mut found)?;
            }
            ObjectKind::Subscription(subscription) => {
                if found.over.contains(&subscription.from) {
                    found.suspended.push((object.id, built_again()));
                    continue;
                }
                let done = subscription::done(&snapshot, object.id)?;
                readers.advance(subscription.from, object.id, done);
                found.subscriptions.push(Arc::clone(object));
            }
            ObjectKind::Index(index) => {
                let graph = planner::plan_index(catalog, object);
                find_job(store, &snapshot, object, graph, readers, &mut found)?;
                if let Some(on) = catalog.object(index.on) {
                    find_guard(store, on, object, &found)?;
                }
            }
        }
    }
    forget_unread(store, catalog, readers)?;
    Ok(found)
}

/// Changelogs that were kept for clients, who are gone with the last process.
fn forget_unread(store: &Store, catalog: &Catalog, readers: &Readers) -> SqlResult<()> {
    let snapshot = store.snapshot();
    let mut truncated = Vec::new();
    for object in catalog.objects().filter(|object| !readers.any(object.id)) {
        if !snapshot.changelog(object.id, Epoch(0), 1)?.is_empty() {
            truncated.push((object.id, snapshot.epoch()));
        }
    }
    if !truncated.is_empty() {
        store.commit(Commit { truncated, ..Commit::default() })?;
    }
    Ok(())
}

fn find_job(
    store: &Store,
    snapshot: &Snapshot,
    object: &Object,
    graph: SqlResult<graph::Job>,
    readers: &Readers,
    found: &mut Found,
) -> SqlResult<()> {
    if let Some(reason) = snapshot.meta(&suspended_key(object.id))? {
        let reason = String::from_utf8_lossy(&reason).into_owned();
        found.suspended.push((object.id, SqlError::internal(reason)));
        return Ok(());
    }
    let graph = match graph {
        Ok(graph) => Arc::new(graph),
        Err(error) => {
            tracing::error!(object = object.name.name, %error, "cannot be planned any more");
            found.suspended.push((object.id, error));
            return Ok(());
        }
    };
    let upstream = graph.upstream_objects();
    let missing = |id: &ObjectId| found.suspended.iter().any(|(object, _)| object == id);
    if upstream.iter().any(missing) {
        let error = SqlError::new(
            code::OBJECT_NOT_IN_PREREQUISITE_STATE,
            "a view that it reads from is suspended",
        );
        found.suspended.push((object.id, error));
        return Ok(());
    }
    let job = JobSpec { graph };
    let mut progress = snapshot.meta(&progress_key(object.id))?;
    if snapshot.meta(&fingerprint_key(object.id))? != Some(fingerprint(&job.graph)) {
        tracing::warn!(object = object.name.name, "planned differently now: built again");
        progress = Some(start_over(store, object.id, &job.graph)?);
        found.over.insert(object.id);
    }
    match progress {
        None => found.start.jobs.push(job),
        Some(progress) => {
            let progress = progress_of(&progress)?;
            for input in upstream {
                readers.advance(input, object.id, progress.done(input));
            }
            found.detached.push((job, progress));
        }
    }
    Ok(())
}

/// The writer of a table keeps its unique indexes.
fn find_guard(store: &Store, on: &Object, index: &Object, found: &Found) -> SqlResult<()> {
    let (Some(guard), Some(inbox)) = (guard_of(on, index)?, found.inboxes.get(&on.id)) else {
        return Ok(());
    };
    if found.over.contains(&index.id) {
        // It went with what is built again.
        fill(store, on, &guard)?;
    }
    inbox.add_guard(store, guard);
    Ok(())
}

/// A sink goes on with the changes of what it reads, which are kept for it.
fn find_sink(
    snapshot: &Snapshot,
    object: &Arc<Object>,
    sink: &object::Sink,
    readers: &Readers,
    found: &mut Found,
) -> SqlResult<()> {
    let done = sink::done(snapshot, object.id)?;
    if done.is_some() && found.over.contains(&sink.from) {
        found.suspended.push((object.id, built_again()));
        return Ok(());
    }
    if let Some(done) = done {
        readers.advance(sink.from, sink.reader, done);
    }
    found.sinks.push(Arc::clone(object));
    Ok(())
}

fn built_again() -> SqlError {
    let message = "what it reads is built again, and its changes are not known";
    SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
}

/// Deletes a view's state, so that it is built again from its inputs.
fn start_over(store: &Store, object: ObjectId, graph: &graph::Job) -> SqlResult<Vec<u8>> {
    let (key, nothing) = detached::nothing_read(object);
    let nothing = nothing.unwrap_or_default();
    let meta =
        vec![(key, Some(nothing.clone())), (fingerprint_key(object), Some(fingerprint(graph)))];
    store.commit(Commit { meta, dropped: vec![object], ..Commit::default() })?;
    Ok(nothing)
}

/// Where the fingerprint of a view's plan is kept in the metadata.
pub(super) fn fingerprint_key(object: ObjectId) -> Vec<u8> {
    [b"fingerprint/".as_slice(), &object.0.to_be_bytes()].concat()
}

/// What a plan's state depends on: its operators, their numbers, keys and schemas.
pub(super) fn fingerprint(graph: &graph::Job) -> Vec<u8> {
    let mut text = String::new();
    for node in graph.fragments.iter().flat_map(|fragment| &fragment.nodes) {
        let types: Vec<_> =
            node.schema.fields().iter().map(|field| field.data_type().to_string()).collect();
        // Expressions do not lie on disk, but what they computed does: they count as well.
        text.push_str(&format!("{} {:?} {}\n", node.id, node.kind, types.join(",")));
    }
    xxh3_64(text.as_bytes()).to_be_bytes().to_vec()
}

/// The names of all metadata of an object, besides its catalog entry.
pub(super) fn meta_keys(object: ObjectId) -> Vec<Vec<u8>> {
    let mut keys = own_meta(object);
    keys.push(fingerprint_key(object));
    keys
}
