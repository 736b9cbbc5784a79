//! What a statement reads from: one catalog, one snapshot, one moment.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;

use super::rows::{SnapshotRows, StoredRows};
use super::unique::UniqueKeys;
use crate::catalog::access::Actor;
use crate::catalog::pg::{PgContext, PgSession};
use crate::catalog::privilege::Privileges;
use crate::catalog::{Catalog, Object};
use crate::clock::WallTime;
use crate::error::SqlResult;
use crate::expr::Generated;
use crate::state::Snapshot;
use crate::types::text::TextStyle;
use crate::types::{ObjectId, TableId};

/// Everything that the names and functions of one statement mean. Cheap to clone.
#[derive(Clone)]
pub struct QueryContext {
    /// Functions, rules and memory: the same for all statements. See [`super::template`].
    pub template: Arc<SessionState>,
    pub catalog: Arc<Catalog>,
    pub snapshot: Arc<Snapshot>,
    /// The database the client is connected to: the only one that names can mean.
    pub database: String,
    /// Schemas in which a name without one is looked for; `pg_catalog` comes before them.
    pub search_path: Vec<String>,
    /// Whose rights relations are read with.
    pub reader: Reader,
    /// What the system catalogs show of the session.
    pub pg: Arc<PgSession>,
    /// The session's `TimeZone`, `IntervalStyle` and their like.
    pub style: TextStyle,
    /// What `now()` means: the start of the transaction.
    pub now: WallTime,
    /// Tables that are read from elsewhere than the snapshot: a transaction's own writes.
    pub rows: HashMap<ObjectId, Arc<dyn StoredRows>>,
    /// The unique indexes by which rows of such tables can be found.
    pub unique: HashMap<ObjectId, Vec<UniqueKeys>>,
    /// What a DML statement writes: schema [`super::TARGET`] has it, hidden columns included.
    pub target: Option<Arc<Object>>,
    pub system: Arc<dyn SystemTables>,
    pub views: Arc<dyn ViewPlanner>,
}

impl fmt::Debug for QueryContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QueryContext at {:?}", self.snapshot.epoch())
    }
}

/// Whose rights relations are read with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reader {
    /// The server itself, which may read anything.
    Server,
    /// The role of this name.
    Role(Arc<str>),
    /// The owner of a view, whose query names what it named when it was made: schemas were
    /// looked into then.
    Owner(Arc<str>),
}

impl QueryContext {
    /// Whose rights count; `None`: nobody is asked.
    fn actor(&self) -> SqlResult<Option<Actor<'_>>> {
        match &self.reader {
            Reader::Server => Ok(None),
            Reader::Role(role) => self.catalog.actor(role).map(Some),
            Reader::Owner(owner) => self.catalog.owner_actor(owner).map(Some),
        }
    }

    /// 42501 unless the statement may read the relation.
    pub(super) fn check_reads(&self, object: &Object) -> SqlResult<()> {
        match self.actor()? {
            Some(actor) => actor.check_relation(object, Privileges::SELECT),
            None => Ok(()),
        }
    }

    /// Whether nothing is hidden from the statement.
    pub(super) fn reads_everything(&self) -> SqlResult<bool> {
        Ok(self.actor()?.is_none_or(|actor| actor.is_superuser()))
    }

    /// 42501 unless the statement may look into the schema of this name.
    pub(super) fn check_names(&self, schema: &str) -> SqlResult<()> {
        match &self.reader {
            Reader::Server | Reader::Owner(_) => Ok(()),
            Reader::Role(role) => self.catalog.actor(role)?.check_schema(schema, Privileges::USAGE),
        }
    }

    /// 42501 unless the statement may do this with the table that it writes.
    pub fn check_writes(&self, object: &Object, wanted: Privileges) -> SqlResult<()> {
        let Some(actor) = self.actor()? else { return Ok(()) };
        actor.check_schema(&object.name.schema, Privileges::USAGE)?;
        actor.check_relation(object, wanted)
    }

    /// As the functions see it that a view calls: they run with the rights of whoever reads the
    /// view.
    pub(super) fn of_caller(&self) -> Self {
        let reader = match &self.reader {
            Reader::Owner(_) => Reader::Role(Arc::from(self.pg.user.as_str())),
            same => same.clone(),
        };
        Self { reader, ..self.clone() }
    }

    /// What the system catalogs and their functions are made from.
    pub fn pg_context(&self) -> PgContext {
        PgContext { catalog: Catalog::clone(&self.catalog), session: Arc::clone(&self.pg) }
    }

    /// Where the stored rows of `object` are read from.
    pub fn rows_of(&self, object: ObjectId) -> Arc<dyn StoredRows> {
        match self.rows.get(&object) {
            Some(rows) => Arc::clone(rows),
            None => {
                Arc::new(SnapshotRows::new(Arc::clone(&self.snapshot), TableId::contents(object)))
            }
        }
    }
}

/// What runs: the tables of schema `weir`, and the errors that reading a view must raise.
pub trait SystemTables: fmt::Debug + Send + Sync {
    /// Names of the tables in schema `weir`.
    fn names(&self) -> Vec<String>;

    /// The columns of table `name`, if there is one.
    fn schema(&self, name: &str) -> Option<SchemaRef>;

    /// The rows of table `name` now, with its schema.
    fn rows(&self, name: &str) -> SqlResult<RecordBatch>;

    /// An error unless `snapshot` has what `object` is: its job may have been suspended, may still
    /// have been reading its inputs then, or both may have gone since it was found by its name.
    fn check_whole(&self, object: ObjectId, snapshot: &Snapshot) -> SqlResult<()>;

    /// Whether an index has, in `snapshot`, all rows of what it indexes.
    fn is_whole(&self, object: ObjectId, snapshot: &Snapshot) -> SqlResult<bool>;
}

/// Plans the query of a view. The planner is a peer, so the caller brings it.
#[async_trait]
pub trait ViewPlanner: fmt::Debug + Send + Sync {
    /// The plan of `view`'s query, with its names resolved by `state`.
    async fn plan(&self, state: &SessionState, view: &Object) -> SqlResult<LogicalPlan>;

    /// The generated columns of a source.
    fn generated(&self, catalog: &Arc<Catalog>, source: &Object) -> SqlResult<Option<Generated>>;
}
