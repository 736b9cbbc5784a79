//! The engine: the catalog joined to the running graph. Statements that change what exists (`ddl`)
//! or what is stored (`dml`), the start after a crash (`boot`), the life of jobs.
//!
//! What must hold: what the catalog shows is committed; DDL is one statement at a time; an object
//! in the catalog has its part in the graph, or a state in `weir.jobs` that says why not.

mod analyze;
mod boot;
pub mod check;
pub mod ddl;
pub mod dml;
mod jobs;
mod locks;
mod pump;
mod sequences;
mod sink;
mod subscribe;
mod subscription;
mod system;
mod views;
mod watcher;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use datafusion::execution::SessionState;
use parking_lot::{Mutex, RwLock};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::catalog::durable::object_key;
use crate::catalog::pg::PgSession;
use crate::catalog::{Catalog, ObjectKind};
use crate::checkpoint::Coordinator;
use crate::checkpoint::detached::progress_key;
use crate::checkpoint::status::JobState;
use crate::dataflow::inbox::{Gate, Inbox};
use crate::error::{SqlError, SqlResult, code};
use crate::serving::{QueryContext, Reader, SystemTables};
use crate::state::{Commit, MetaEntry, Snapshot, Store};
use crate::task;
use crate::types::text::TextStyle;
use crate::types::{Epoch, ObjectId};

pub use ddl::{Creation, DdlOutcome, Names, Notice, Way};
use locks::Locks;
pub use locks::{LockMark, Owner, SessionAdvisory};
use sequences::Sequences;
pub use subscribe::{change_rows, subscribed};
pub use system::System;
use views::Views;
pub use watcher::{Watch, WatchFrom};

/// How the engine works.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// Memory for state, caches and queries.
    pub memory_bytes: usize,
    /// Actors of a new view's operators, where the statement does not say.
    pub parallelism: usize,
    /// Between two barriers when nobody hurries.
    pub barrier_interval: Duration,
}

/// Of the memory, the part that one transaction's changes may take.
const TRANSACTION_SHARE: usize = 4;

/// The running engine.
pub struct Engine {
    catalog: RwLock<Arc<Catalog>>,
    coordinator: Coordinator,
    inboxes: RwLock<HashMap<ObjectId, Arc<Inbox>>>,
    /// Held by the statement that changes the catalog.
    ddl: tokio::sync::Mutex<()>,
    /// Jobs that catch up, and tables' connectors: background tasks by object.
    background: Mutex<HashMap<ObjectId, jobs::Background>>,
    /// How far sinks are.
    sinks: Mutex<HashMap<ObjectId, watch::Receiver<sink::Poured>>>,
    /// Where actors run.
    stream: Handle,
    settings: Settings,
    /// What all statements' sessions have in common.
    template: Arc<SessionState>,
    locks: Arc<Locks>,
    row_ids: Arc<dml::RowIds>,
    sequences: Arc<Sequences>,
    system: OnceLock<Arc<System>>,
}

impl Engine {
    /// All objects, as committed.
    pub fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&self.catalog.read())
    }

    /// The newest committed moment of all tables and views.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.store().snapshot()
    }

    pub fn store(&self) -> &Store {
        self.coordinator.store()
    }

    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The gate through which written rows enter.
    pub fn gate(&self) -> &Arc<Gate> {
        self.coordinator.gate()
    }

    /// The inbox of a table.
    pub fn inbox(&self, table: ObjectId) -> Option<Arc<Inbox>> {
        self.inboxes.read().get(&table).cloned()
    }

    /// Waits until `epoch` is durable and visible in every attached view.
    pub async fn committed(&self, epoch: Epoch) -> SqlResult<()> {
        self.coordinator.committed(epoch).await
    }

    /// Waits until everything written so far is durable and visible.
    pub async fn flush(&self) -> SqlResult<()> {
        self.committed(self.gate().open_epoch()).await
    }

    /// Waits until of everything written so far it is known whether it is durable.
    async fn settled(&self) -> SqlResult<()> {
        match self.flush().await {
            // A restart has undone it, and told its writers.
            Err(error) if error.code == code::SERIALIZATION_FAILURE => Ok(()),
            outcome => outcome,
        }
    }

    /// The tables of schema `weir`.
    pub fn system(self: &Arc<Self>) -> &Arc<System> {
        self.system.get_or_init(|| Arc::new(System::new(self)))
    }

    /// Everything that a statement of `session` means and reads: names, time, the newest snapshot.
    /// `style` is how it writes values as text.
    pub fn query_context(
        self: &Arc<Self>,
        mut session: PgSession,
        style: TextStyle,
    ) -> QueryContext {
        session.numbering = Some(Arc::<Sequences>::clone(&self.sequences));
        QueryContext {
            template: Arc::clone(&self.template),
            // The catalog first: an object in it is in every later snapshot.
            catalog: self.catalog(),
            snapshot: self.snapshot(),
            database: session.database.clone(),
            search_path: session.search_path.clone(),
            reader: Reader::Role(Arc::from(session.user.as_str())),
            style,
            target: None,
            now: session.now,
            pg: Arc::new(session),
            rows: HashMap::new(),
            unique: HashMap::new(),
            system: Arc::clone(self.system()) as Arc<dyn SystemTables>,
            views: Arc::new(Views),
        }
    }

    /// What writes need of the engine.
    pub fn dml_context(self: &Arc<Self>) -> dml::Context {
        let (engine, of_catalog) = (Arc::clone(self), Arc::clone(self));
        dml::Context {
            gate: Arc::clone(self.gate()),
            catalog: Arc::new(move || of_catalog.catalog()),
            inbox: Arc::new(move |table| engine.inbox(table)),
            locks: Arc::clone(&self.locks),
            owner: None,
            row_ids: Arc::clone(&self.row_ids),
            sequences: Arc::clone(&self.sequences),
            limits: dml::Limits {
                transaction_bytes_max: self.settings.memory_bytes / TRANSACTION_SHARE,
            },
            lock_timeout: None,
        }
    }

    /// The advisory locks of a session.
    pub fn session_locks(&self, pid: i32) -> Arc<SessionAdvisory> {
        Arc::new(SessionAdvisory::new(&self.locks, pid))
    }

    /// Why reading `object` now must fail, if it must.
    pub(crate) fn failure(&self, object: ObjectId) -> Option<SqlError> {
        match self.coordinator.status().job(object)? {
            JobState::Attached => None,
            JobState::Detached { rows, .. } => Some(
                self.not_to_be_read(object, "has not been populated")
                    .detail(format!("It is being created: {rows} rows of its inputs are read."))
                    .hint("Wait until it is ready; weir.jobs shows how far it is."),
            ),
            JobState::Suspended { error } => Some(
                self.not_to_be_read(object, "is suspended")
                    .detail(error.message)
                    .hint("It failed again and again. Drop it, and create it anew."),
            ),
        }
    }

    /// An error unless `snapshot` has what `object` is, which the snapshot itself says: what runs
    /// goes on meanwhile.
    pub(crate) fn check_whole(&self, object: ObjectId, snapshot: &Snapshot) -> SqlResult<()> {
        if let Some(error) = self.failure(object) {
            return Err(error);
        }
        if snapshot.meta(&progress_key(object))?.is_some() {
            return Err(self
                .not_to_be_read(object, "was not populated when the statement began")
                .hint("It is now: say the statement, or its transaction, again."));
        }
        if snapshot.meta(&object_key(object))?.is_some() {
            return Ok(());
        }
        match self.catalog().object(object) {
            // To a transaction that began before, a table is as empty as it was then.
            Some(found) if matches!(found.kind, ObjectKind::Table(_)) => Ok(()),
            Some(_) => Err(self
                .not_to_be_read(object, "was created after the transaction had begun")
                .hint("Read it in a new transaction.")),
            None => {
                Err(SqlError::new(code::UNDEFINED_TABLE, "what the statement reads was dropped")
                    .hint("Say the statement again."))
            }
        }
    }

    fn not_to_be_read(&self, object: ObjectId, why: &str) -> SqlError {
        let what = match self.catalog().object(object) {
            Some(found) => format!("{} \"{}\"", found.kind_name(), found.name.name),
            None => format!("object {}", object.0),
        };
        SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, format!("{what} {why}"))
    }

    /// Ends all background work, commits what is open, and stops the graph.
    pub async fn stop(&self) {
        let background: Vec<_> = self.background.lock().drain().collect();
        for (_, task) in background {
            task.stop().await;
        }
        self.coordinator.stop().await;
        let sequences = Arc::clone(&self.sequences);
        let settled = task::spawn_blocking(move || sequences.settle()).await;
        if let Ok(Err(error)) = settled {
            tracing::warn!(%error, "sequences go on behind a gap after the next start");
        }
    }

    /// Makes `meta` durable by itself.
    async fn commit_meta(&self, meta: Vec<MetaEntry>) -> SqlResult<()> {
        let store = self.store().clone();
        task::spawn_blocking(move || store.commit(Commit { meta, ..Commit::default() }))
            .await
            .map_err(|panic| SqlError::internal(format!("the commit panicked: {panic}")))??;
        Ok(())
    }

    fn publish(&self, catalog: Catalog) {
        *self.catalog.write() = Arc::new(catalog);
    }
}
