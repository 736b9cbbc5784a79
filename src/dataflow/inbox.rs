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

use super::guard::Guard;
use crate::error::{SqlError, SqlResult, code};
use crate::state::{MetaEntry, RowLayout, StateError, Store, Table, TableChange, TableReader};
use crate::types::{Delta, Epoch, ObjectId, TableId};

/// One table's rows on their way into the stream.
pub struct Inbox {
    object: ObjectId,
    layout: RwLock<Arc<RowLayout>>,
    rows: Mutex<Rows>,
}

struct Rows {
    table: Table,
    /// The keys of each unique index that are taken.
    guards: Vec<(Arc<Guard>, Table)>,
    open: Vec<Delta>,
    open_meta: Vec<MetaEntry>,
    sealed: VecDeque<Sealed>,
}

/// What a table brings into an epoch.
pub struct Sealed {
    pub epoch: Epoch,
    pub deltas: Vec<Delta>,
    /// Of the rows, and of what unique indexes keep.
    pub changes: Vec<TableChange>,
    /// Positions of the table's connector, to be committed with the rows.
    pub meta: Vec<MetaEntry>,
}

/// Entries of a table by storage key (`vnode | key`); no value deletes.
pub type Entries = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// What a writer brings to one table. `delta` and `changes` say the same twice: as rows for the
/// views, as keys and values for the table.
pub struct TableWrite {
    pub inbox: Arc<Inbox>,
    pub delta: Delta,
    pub changes: Entries,
    /// The same for the keys of unique indexes, by index.
    pub guards: Vec<(ObjectId, Entries)>,
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
            write_to(&mut rows.table, &write.changes);
            for (index, changes) in &write.guards {
                if let Some((_, table)) = rows.guards.iter_mut().find(|(g, _)| g.index == *index) {
                    write_to(table, changes);
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
            let Rows { table, guards, .. } = &mut *rows;
            let tables = std::iter::once(table).chain(guards.iter_mut().map(|(_, table)| table));
            let changes = tables.filter_map(Table::freeze).collect();
            let sealed = Sealed {
                epoch,
                deltas: std::mem::take(&mut rows.open),
                changes,
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
            let mut rows = inbox.rows.lock();
            let guards = std::mem::take(&mut rows.guards).into_iter();
            let guards = guards.map(|(guard, _)| {
                let table = store.table(guard.table());
                (guard, table)
            });
            *rows = Rows { guards: guards.collect(), ..Rows::new(store, inbox.object) };
        }
    }
}

fn write_to(table: &mut Table, changes: &Entries) {
    for (key, value) in changes {
        match value {
            Some(value) => table.put(key, value),
            None => table.delete(key),
        }
    }
}

impl Rows {
    fn new(store: &Store, object: ObjectId) -> Self {
        Self {
            table: store.table(TableId::contents(object)),
            guards: Vec::new(),
            open: Vec::new(),
            open_meta: Vec::new(),
            sealed: VecDeque::new(),
        }
    }
}

impl Inbox {
    /// The inbox of table `object`, whose rows lie as `layout` says.
    pub fn new(store: &Store, object: ObjectId, layout: RowLayout) -> Self {
        let layout = RwLock::new(Arc::new(layout));
        Self { object, layout, rows: Mutex::new(Rows::new(store, object)) }
    }

    pub fn object(&self) -> ObjectId {
        self.object
    }

    pub fn layout(&self) -> Arc<RowLayout> {
        Arc::clone(&self.layout.read())
    }

    /// From now on rows lie so. The caller holds the write lock, and nothing that was written is
    /// pending.
    pub fn lie(&self, layout: RowLayout) {
        *self.layout.write() = Arc::new(layout);
    }

    /// Committed and pending rows of `keys` (`vnode | key`).
    pub fn get_many(&self, keys: &[impl AsRef<[u8]>]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        self.rows.lock().table.get_many(keys)
    }

    /// Committed and pending rows as they are now.
    pub fn reader(&self) -> TableReader {
        self.rows.lock().table.reader()
    }

    /// The unique indexes, each with the keys that are taken, committed and pending.
    pub fn guards(&self) -> Vec<(Arc<Guard>, TableReader)> {
        let mut rows = self.rows.lock();
        rows.guards.iter_mut().map(|(guard, table)| (Arc::clone(guard), table.reader())).collect()
    }

    /// From now on writers keep `guard`, whose keys lie in the store. The caller holds the write
    /// lock, and nothing that was written is pending.
    pub fn add_guard(&self, store: &Store, guard: Guard) {
        let table = store.table(guard.table());
        self.rows.lock().guards.push((Arc::new(guard), table));
    }

    /// The guard of the same index is this one from now on: what it keeps stays.
    pub fn replace_guard(&self, guard: Guard) {
        let mut rows = self.rows.lock();
        if let Some((old, _)) = rows.guards.iter_mut().find(|(old, _)| old.index == guard.index) {
            *old = Arc::new(guard);
        }
    }

    /// Writers keep the guard of `index` no more. The caller holds the write lock.
    pub fn remove_guard(&self, index: ObjectId) {
        self.rows.lock().guards.retain(|(guard, _)| guard.index != index);
    }

    /// Whether writers have brought anything into the open epoch.
    pub fn is_open(&self) -> bool {
        let rows = self.rows.lock();
        !rows.open.is_empty() || !rows.open_meta.is_empty() || rows.table.has_pending()
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
