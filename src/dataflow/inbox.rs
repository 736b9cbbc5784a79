//! Where written rows enter the stream: one inbox a table, one gate for all.
//!
//! ```text
//!  writer (holds the table's write lock)          coordinator
//!     │ reads committed + pending rows               │
//!     └─ Gate::enter([write, write]) ──> open epoch ─┴─ Gate::seal(n) ──> sealed n ──> table actor
//! ```
//!
//! What must hold: everything that one `enter` brings, over all its tables, is in one epoch, since
//! sealing excludes entering. A writer decides from what a reader shows (committed and pending);
//! its decision is refused if the graph was restarted in between, for then pending rows are gone.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};

use crate::error::{SqlError, SqlResult, code};
use crate::state::{MetaEntry, RowLayout, StateError, Store, Table, TableChange, TableReader};
use crate::types::{Delta, Epoch, ObjectId, TableId};

/// One table's rows on their way into the stream.
pub struct Inbox {
    object: ObjectId,
    layout: RowLayout,
    /// Held by a statement or a transaction while it decides and until it has entered.
    write_lock: Arc<tokio::sync::Mutex<()>>,
    rows: Mutex<Rows>,
}

struct Rows {
    table: Table,
    open: Vec<Delta>,
    open_meta: Vec<MetaEntry>,
    sealed: VecDeque<Sealed>,
}

/// What a table brings into an epoch.
pub struct Sealed {
    pub epoch: Epoch,
    pub deltas: Vec<Delta>,
    pub change: Option<TableChange>,
    /// Positions of the table's connector, to be committed with the rows.
    pub meta: Vec<MetaEntry>,
}

/// What a writer brings to one table. `delta` and `changes` say the same twice: as rows for the
/// views, as keys (`vnode | key`) and values for the table.
pub struct TableWrite {
    pub inbox: Arc<Inbox>,
    pub delta: Delta,
    pub changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    pub meta: Vec<MetaEntry>,
}

/// The moment between two epochs, for all tables.
pub struct Gate {
    /// The epoch that writers enter now. Read to enter, written to seal.
    open: RwLock<Epoch>,
    generation: AtomicU64,
}

/// Counts restarts of the graph: what was read in one cannot be written in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generation(u64);

impl Gate {
    /// A gate whose first epoch is `open`.
    pub fn new(open: Epoch) -> Self {
        Self { open: RwLock::new(open), generation: AtomicU64::new(0) }
    }

    pub fn generation(&self) -> Generation {
        Generation(self.generation.load(Ordering::Acquire))
    }

    /// Brings all `writes` into the open epoch and tells which that is. The caller holds the write
    /// locks of the tables since before it read what the writes were decided from, in `generation`.
    pub fn enter(&self, generation: Generation, writes: Vec<TableWrite>) -> SqlResult<Epoch> {
        let open = self.open.read();
        if self.generation() != generation {
            return Err(SqlError::new(
                code::SERIALIZATION_FAILURE,
                "could not complete the statement because the engine restarted",
            )
            .hint("Run the transaction again."));
        }
        for write in writes {
            let mut rows = write.inbox.rows.lock();
            for (key, value) in &write.changes {
                match value {
                    Some(value) => rows.table.put(key, value),
                    None => rows.table.delete(key),
                }
            }
            if !write.delta.is_empty() {
                rows.open.push(write.delta);
            }
            rows.open_meta.extend(write.meta);
        }
        Ok(*open)
    }

    /// The epoch that writers enter now.
    pub fn open_epoch(&self) -> Epoch {
        *self.open.read()
    }

    /// Ends the open epoch for all `inboxes`, opens `next`, and returns the one that ended.
    pub fn seal<'a>(&self, next: Epoch, inboxes: impl Iterator<Item = &'a Arc<Inbox>>) -> Epoch {
        let mut open = self.open.write();
        assert!(next > *open, "epochs go up");
        let epoch = std::mem::replace(&mut *open, next);
        for inbox in inboxes {
            let mut rows = inbox.rows.lock();
            let sealed = Sealed {
                epoch,
                deltas: std::mem::take(&mut rows.open),
                change: rows.table.freeze(),
                meta: std::mem::take(&mut rows.open_meta),
            };
            rows.sealed.push_back(sealed);
        }
        epoch
    }

    /// Forgets everything that is not committed, and opens `next`: the graph was restarted.
    pub fn reset<'a>(
        &self,
        next: Epoch,
        store: &Store,
        inboxes: impl Iterator<Item = &'a Arc<Inbox>>,
    ) {
        let mut open = self.open.write();
        self.generation.fetch_add(1, Ordering::AcqRel);
        *open = next;
        for inbox in inboxes {
            *inbox.rows.lock() = Rows::new(store, inbox.object);
        }
    }
}

impl Rows {
    fn new(store: &Store, object: ObjectId) -> Self {
        Self {
            table: store.table(TableId::contents(object)),
            open: Vec::new(),
            open_meta: Vec::new(),
            sealed: VecDeque::new(),
        }
    }
}

impl Inbox {
    /// The inbox of table `object`, whose rows lie as `layout` says.
    pub fn new(store: &Store, object: ObjectId, layout: RowLayout) -> Self {
        let write_lock = Arc::new(tokio::sync::Mutex::new(()));
        Self { object, layout, write_lock, rows: Mutex::new(Rows::new(store, object)) }
    }

    pub fn object(&self) -> ObjectId {
        self.object
    }

    pub fn layout(&self) -> &RowLayout {
        &self.layout
    }

    /// The table's write lock: one statement or transaction at a time, in order of arrival.
    pub fn write_lock(&self) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(&self.write_lock)
    }

    /// Committed and pending rows of `keys` (`vnode | key`).
    pub fn get_many(&self, keys: &[impl AsRef<[u8]>]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        self.rows.lock().table.get_many(keys)
    }

    /// Committed and pending rows as they are now.
    pub fn reader(&self) -> TableReader {
        self.rows.lock().table.reader()
    }

    /// Whether writers have brought anything into the open epoch.
    pub fn is_open(&self) -> bool {
        let rows = self.rows.lock();
        !rows.open.is_empty() || !rows.open_meta.is_empty() || rows.table.pending_bytes() > 0
    }

    /// What the table brings into `epoch`, which was sealed. Epochs are taken in order.
    pub fn take_sealed(&self, epoch: Epoch) -> Option<Sealed> {
        let mut rows = self.rows.lock();
        match rows.sealed.front() {
            Some(sealed) if sealed.epoch == epoch => rows.sealed.pop_front(),
            _ => None,
        }
    }
}
