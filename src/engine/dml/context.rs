//! What DML needs of the engine: the gate, the inboxes, the locks, the limits.

use std::sync::Arc;
use std::time::Duration;

use super::row_id::RowIds;
use crate::catalog::Catalog;
use crate::dataflow::inbox::{Gate, Inbox};
use crate::engine::locks::{Locks, Owner};
use crate::engine::sequences::Sequences;
use crate::types::ObjectId;

/// A session writes one transaction at a time with its own. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    pub gate: Arc<Gate>,
    /// What there is at the moment.
    pub catalog: Arc<dyn Fn() -> Arc<Catalog> + Send + Sync>,
    /// The inbox of a table, while it exists.
    pub inbox: Arc<dyn Fn(ObjectId) -> Option<Arc<Inbox>> + Send + Sync>,
    pub locks: Arc<Locks>,
    /// Who takes them: a session. `None`: each transaction by itself.
    pub owner: Option<Owner>,
    pub row_ids: Arc<RowIds>,
    pub sequences: Arc<Sequences>,
    pub limits: Limits,
    /// How long a statement waits for a table; `None`: as long as it takes.
    pub lock_timeout: Option<Duration>,
}

/// What one transaction may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of changes that a transaction holds before it commits: all of them are in memory
    /// twice, as entries for the table and as rows for the views.
    pub transaction_bytes_max: usize,
}
