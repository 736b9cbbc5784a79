//! What of a client's session the system catalogs show, and what their functions do to it.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use parking_lot::Mutex;

use super::super::Object;
use super::super::catalog::{Catalog, DEFAULT_DATABASE, DEFAULT_OWNER};
use super::lock::{LockRequest, SessionLocks};
use crate::catalog::sequence::Position;
use crate::clock::{self, WallTime};
use crate::error::SqlResult;
use crate::types::ObjectId;

/// PostgreSQL's version that Weir reports, as `server_version_num` has it.
pub const SERVER_VERSION_NUM: u32 = 150_000;

/// Everything that rows and functions are made from. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PgContext {
    pub catalog: Catalog,
    pub session: Arc<PgSession>,
}

/// One session at the start of a statement.
#[derive(Debug, Clone)]
pub struct PgSession {
    /// Whose rights count.
    pub user: String,
    /// Who logged in, or whom SET SESSION AUTHORIZATION named.
    pub session_user: String,
    pub database: String,
    pub pid: i32,
    /// When the transaction began: `now()`.
    pub now: WallTime,
    /// When the server started.
    pub server_started: WallTime,
    /// Schemas in which a name without one is looked for; `pg_catalog` comes before them.
    pub search_path: Vec<String>,
    /// All variables, by name in lower case.
    pub settings: Arc<BTreeMap<String, Setting>>,
    /// All sessions, this one included: asked only by those who show them.
    pub activity: Arc<dyn Activities>,
    pub client: Option<(IpAddr, u16)>,
    pub server: Option<(IpAddr, u16)>,
    /// Bytes of relations, where known.
    pub relation_bytes: BTreeMap<ObjectId, i64>,
    /// Weir's system tables: they are not objects of the catalog, but `\d weir.*` shows them.
    pub weir_tables: Arc<Vec<(String, SchemaRef)>>,
    /// What the statement's functions ask the session to do, in order.
    pub effects: Arc<Mutex<Vec<Effect>>>,
    /// The channels that the session listens to.
    pub listening: Vec<String>,
    /// Its prepared statements and cursors that have names.
    pub prepared: Arc<Vec<PreparedStatement>>,
    pub cursors: Vec<Arc<Cursor>>,
    /// Its locks; `None`: nobody who could hold one.
    pub locks: Option<Arc<dyn SessionLocks>>,
    /// Who gives the numbers of sequences; nobody where no statement can run.
    pub numbering: Option<Arc<dyn Numbering>>,
    /// The numbers that the session was given.
    pub given: Arc<Mutex<Given>>,
    /// The table that the statement writes: its identity columns are everybody's to number who may
    /// write it.
    pub writes: Option<ObjectId>,
}

/// Who knows where sequences stand. What a sequence is like, the caller's catalog says.
pub trait Numbering: fmt::Debug + Send + Sync {
    /// The next `count` numbers, which nobody else is given. May block for the disk.
    fn take(&self, sequence: &Object, count: usize) -> SqlResult<Vec<i64>>;

    /// Lets a sequence go on from elsewhere. May block for the disk.
    fn set(&self, sequence: &Object, position: Position) -> SqlResult<()>;

    /// Where a sequence stands.
    fn standing(&self, sequence: &Object) -> SqlResult<Standing>;
}

/// Where a sequence stands, as `SELECT * FROM sequence` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    pub position: Position,
    /// How many numbers can be given before the disk is written again.
    pub ahead: u64,
}

/// What `currval` and `lastval` tell a session.
#[derive(Debug, Default)]
pub struct Given {
    pub by_sequence: HashMap<ObjectId, i64>,
    pub last: Option<ObjectId>,
}

/// A prepared statement, as `pg_prepared_statements` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedStatement {
    pub name: String,
    pub statement: String,
    pub prepared: WallTime,
    /// The OIDs of its parameters' types.
    pub parameter_types: Vec<u32>,
    /// Whether PREPARE made it, rather than a message.
    pub from_sql: bool,
}

/// A cursor or a portal, as `pg_cursors` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub name: String,
    pub statement: String,
    pub is_holdable: bool,
    pub is_binary: bool,
    pub is_scrollable: bool,
    pub created: WallTime,
}

/// A session variable, as `pg_settings` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Setting {
    /// As its documentation writes it.
    pub name: String,
    /// As SHOW gives it, with a unit; and without.
    pub value: String,
    pub plain: String,
    /// Whether it only says what the server is.
    pub fixed: bool,
    pub default: String,
    pub description: String,
    /// `bool`, `integer`, `real`, `string`, `enum`.
    pub vartype: String,
    pub unit: Option<String>,
}

/// A session, as `pg_stat_activity` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    pub pid: i32,
    pub user: String,
    pub database: String,
    pub application_name: String,
    pub client: Option<(IpAddr, u16)>,
    pub backend_start: WallTime,
    pub transaction_start: Option<WallTime>,
    pub query_start: Option<WallTime>,
    pub state_change: Option<WallTime>,
    /// `active`, `idle`, `idle in transaction`, `idle in transaction (aborted)`.
    pub state: &'static str,
    pub query: String,
}

/// Who knows all sessions.
pub trait Activities: fmt::Debug + Send + Sync {
    /// What each of them does now.
    fn list(&self) -> Vec<Activity>;
}

impl Activities for Vec<Activity> {
    fn list(&self) -> Vec<Activity> {
        self.clone()
    }
}

/// What a function asks of the session that called it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// `set_config(name, value, is_local)`.
    SetConfig { name: String, value: String, local: bool },
    /// `pg_cancel_backend(pid)`: stop that session's statement.
    Cancel { pid: i32 },
    /// `pg_terminate_backend(pid)`: end that session.
    Terminate { pid: i32 },
    /// `pg_sleep(seconds)`: let the statement end so much later.
    Sleep(Duration),
    /// `pg_notify(channel, payload)`: NOTIFY.
    Notify { channel: String, payload: String },
    /// `pg_advisory_lock(key)` and its kin, where others are in the way: wait for them.
    Lock(LockRequest),
    /// Tell the client.
    Warn(String),
}

impl PgContext {
    /// A variable's value, with what this statement has set.
    pub fn setting(&self, name: &str) -> Option<String> {
        let name = name.to_ascii_lowercase();
        let set = self.session.effects.lock().iter().rev().find_map(|effect| match effect {
            Effect::SetConfig { name: set, value, .. } if *set == name => Some(value.clone()),
            _ => None,
        });
        set.or_else(|| self.session.settings.get(&name).map(|setting| setting.value.clone()))
    }
}

impl PgSession {
    /// That of no client: what the server does by itself.
    pub fn of_server(search_path: &[String]) -> Self {
        Self {
            user: DEFAULT_OWNER.to_owned(),
            session_user: DEFAULT_OWNER.to_owned(),
            database: DEFAULT_DATABASE.to_owned(),
            pid: 0,
            now: clock::wall(),
            server_started: clock::wall(),
            search_path: search_path.to_vec(),
            settings: Arc::default(),
            activity: Arc::new(Vec::new()),
            client: None,
            server: None,
            relation_bytes: BTreeMap::new(),
            weir_tables: Arc::default(),
            effects: Arc::default(),
            listening: Vec::new(),
            prepared: Arc::default(),
            cursors: Vec::new(),
            locks: None,
            numbering: None,
            given: Arc::default(),
            writes: None,
        }
    }

    /// `version()`.
    pub fn version_text() -> String {
        format!(
            "PostgreSQL {}.{} (Weir {}) on {}, 64-bit",
            SERVER_VERSION_NUM / 10_000,
            SERVER_VERSION_NUM % 10_000,
            env!("CARGO_PKG_VERSION"),
            std::env::consts::ARCH
        )
    }
}
