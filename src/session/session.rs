//! The session itself, and its life.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use parking_lot::Mutex;

use super::interrupt::Interrupts;
use super::notice::{Notice, Remarks};
use super::portal::Portal;
use super::prepared::Prepared;
use super::sessions::Membership;
use super::temporary::Temporary;
use super::transaction::Block;
use super::variables::Variables;
use crate::catalog::pg::Given;
use crate::catalog::privilege::Privileges;
use crate::catalog::{Catalog, Role, pg};
use crate::clock;
use crate::engine::{Engine, SessionAdvisory};
use crate::error::{SqlError, SqlResult, SqlState, code};
use crate::planner::{self, Statement};
use crate::serving::SystemTables;
use crate::types::ObjectId;

/// `idle_in_transaction_session_timeout` and `idle_session_timeout`.
const IDLE_IN_TRANSACTION: SqlState = "25P03";
const IDLE: SqlState = "57P05";

/// Notices kept for a client that does not read; what comes beyond is dropped.
const NOTICES_MAX: usize = 1000;

/// How much of a statement `pg_stat_activity` shows.
const ACTIVITY_BYTES_MAX: usize = 1024;

/// Who a client says it is.
#[derive(Debug, Clone)]
pub struct Client {
    pub user: String,
    pub database: String,
}

/// One client's state.
pub struct Session {
    pub(super) engine: Arc<Engine>,
    pub(super) membership: Membership,
    pub(super) locks: Arc<SessionAdvisory>,
    pub(super) interrupts: Arc<Interrupts>,
    pub(super) client: Client,
    /// The role that logged in.
    pub(super) login: ObjectId,
    pub(super) variables: Variables,
    pub(super) block: Block,
    /// Prepared statements by name; the unnamed one has the empty name.
    pub(super) prepared: HashMap<String, Arc<Prepared>>,
    /// As the catalogs show them, since they changed last.
    pub(super) prepared_shown: Option<Arc<Vec<pg::PreparedStatement>>>,
    /// Portals and cursors by name; the unnamed one has the empty name.
    pub(super) portals: HashMap<String, Portal>,
    notices: Vec<Notice>,
    pub(super) temporary: Temporary,
    /// The channels it listens to, in the order of its LISTENs.
    pub(super) listening: Vec<String>,
    /// The numbers that sequences gave it.
    pub(super) given: Arc<Mutex<Given>>,
    /// What is said while a statement runs.
    pub(super) remarks: Arc<Remarks>,
    /// The engine's system tables, as the catalogs show them.
    pub(super) weir_tables: Arc<Vec<(String, SchemaRef)>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("client", &self.client).finish_non_exhaustive()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.locks.end();
    }
}

impl Session {
    /// A session for a client that is who it says; an error if there is no such user or database,
    /// or if it may not log in to it.
    pub fn open(engine: Arc<Engine>, membership: Membership, client: Client) -> SqlResult<Self> {
        let catalog = engine.catalog();
        let role = admissible(&catalog, &client)?;
        let system = engine.system();
        let tables = system.names().into_iter();
        let weir_tables =
            tables.filter_map(|name| system.schema(&name).map(|schema| (name, schema))).collect();
        membership.update(|activity| {
            activity.user.clone_from(&client.user);
            activity.database.clone_from(&client.database);
        });
        let limit = usize::try_from(role.connection_limit).ok().filter(|_| !role.superuser);
        if limit.is_some_and(|limit| membership.sessions().count_of(&client.user) > limit) {
            let message = format!("too many connections for role \"{}\"", client.user);
            return Err(SqlError::new(code::TOO_MANY_CONNECTIONS, message));
        }
        let mut session = Self {
            locks: engine.session_locks(membership.process_id()),
            engine,
            interrupts: Arc::clone(membership.interrupts()),
            membership,
            variables: Variables::new(&client.user, role.superuser),
            login: role.id,
            client,
            block: Block::default(),
            prepared: HashMap::new(),
            prepared_shown: None,
            portals: HashMap::new(),
            notices: Vec::new(),
            temporary: Temporary::default(),
            listening: Vec::new(),
            given: Arc::default(),
            remarks: Arc::default(),
            weir_tables: Arc::new(weir_tables),
        };
        session.take_start_values(role);
        Ok(session)
    }

    /// The statements of a client's string.
    pub fn parse(&self, sql: &str) -> SqlResult<Vec<Statement>> {
        planner::parse(sql)
    }

    /// What may end this session's statements.
    pub fn interrupts(&self) -> &Arc<Interrupts> {
        &self.interrupts
    }

    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// How long a statement may run.
    pub fn statement_timeout(&self) -> Option<Duration> {
        self.variables.timeout("statement_timeout")
    }

    /// How long the client may be silent now, and what it is told then.
    pub fn idle_timeout(&self) -> Option<(Duration, SqlError)> {
        if self.block.is_explicit() {
            let timeout = self.variables.timeout("idle_in_transaction_session_timeout")?;
            let message = "terminating connection due to idle-in-transaction timeout";
            return Some((timeout, SqlError::new(IDLE_IN_TRANSACTION, message)));
        }
        let timeout = self.variables.timeout("idle_session_timeout")?;
        let message = "terminating connection due to idle-session timeout";
        Some((timeout, SqlError::new(IDLE, message)))
    }

    /// Adds a notice for the client, if it wants such.
    pub(super) fn notify(&mut self, notice: Notice) {
        if self.variables.wants(notice.severity) && self.notices.len() < NOTICES_MAX {
            self.notices.push(notice);
        }
    }

    /// What the client should hear at once, while its statement runs.
    pub fn remarks(&self) -> Arc<Remarks> {
        Arc::clone(&self.remarks)
    }

    /// What the client should hear beside the result.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// The client is heard: shows others what it does.
    pub(super) fn is_active(&self, statement: &str) {
        let shown = &statement[..statement.floor_char_boundary(ACTIVITY_BYTES_MAX)];
        let application = self.variables.get("application_name").unwrap_or("");
        let started = self.block.started();
        self.membership.update(|activity| {
            let now = clock::wall();
            activity.state = "active";
            activity.query_start = Some(now);
            activity.state_change = Some(now);
            activity.transaction_start = Some(started.unwrap_or(now));
            shown.clone_into(&mut activity.query);
            application.clone_into(&mut activity.application_name);
        });
    }

    /// It is the client's turn.
    pub fn is_idle(&self) {
        let state = self.block.activity();
        let started = self.block.started();
        self.membership.update(|activity| {
            activity.state = state;
            activity.state_change = Some(clock::wall());
            activity.transaction_start = started;
        });
    }
}

/// The client's role, if it may log in to the client's database.
fn admissible<'a>(catalog: &'a Catalog, client: &Client) -> SqlResult<&'a Role> {
    let Client { user, database } = client;
    let refuse = |message: String| Err(SqlError::new(code::INVALID_AUTHORIZATION, message));
    let Some(role) = catalog.role(user) else {
        return refuse(format!("role \"{user}\" does not exist"));
    };
    if !role.login {
        return refuse(format!("role \"{user}\" is not permitted to log in"));
    }
    let Some(found) = catalog.database(database) else {
        let message = format!("database \"{database}\" does not exist");
        return Err(SqlError::new(code::INVALID_CATALOG_NAME, message));
    };
    if !catalog.acting(role).on_database(found).contains(Privileges::CONNECT) {
        let message = format!("permission denied for database \"{database}\"");
        return Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message)
            .detail("User does not have CONNECT privilege."));
    }
    Ok(role)
}
