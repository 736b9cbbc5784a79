//! A transaction: write locks, and writes that nobody else sees until they enter an epoch whole.
//!
//! ```text
//!  open ──statement: lock, read, decide, apply──> open ──commit──> entered one epoch
//!    └──────────rollback, error, disconnect──────────────────────> nothing happened
//! ```
//!
//! What must hold: a table is read for a decision only while its lock is held, and the lock is held
//! until the transaction has entered its epoch; a statement applies all of its changes or none.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Weak};

use super::arbiter::{Arbiters, Meant};
use super::changes::Changes;
use super::context::{Context, Limits};
use super::environment::blocking;
use super::references::Late;
use super::undo::{Mark, Replaced, Step, UndoLog};
use super::unique::{self, Taken};
use crate::catalog::Object;
use crate::catalog::durable::object_key;
use crate::catalog::pg::LockMode;
use crate::dataflow::guard::Guard;
use crate::dataflow::inbox::{Entries, Generation, Inbox, TableWrite};
use crate::engine::locks::{Held, Owner};
use crate::engine::sequences::Restart;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::LockWait;
use crate::serving::{
    Holders, Overlaid, Overlay, PendingRows, SnapshotHolders, StoredRows, UniqueKeys,
};
use crate::state::{MetaEntry, Snapshot, StateError, TableReader};
use crate::task;
use crate::types::{Delta, Epoch, ObjectId};

/// Writes so far, and the locks they need.
pub struct Transaction {
    owner: Owner,
    /// The run of the graph in which the first lock was taken.
    generation: Option<Generation>,
    /// In the order of their ids, so that the write sets of two commits look alike.
    tables: BTreeMap<ObjectId, Written>,
    /// Tables that rows of others refer to, whose rows must stay until the transaction has entered.
    kept: BTreeMap<ObjectId, Kept>,
    /// What is looked at when it commits.
    late: Late,
    bytes: usize,
    /// Sequences that begin anew if it comes through.
    restarts: Vec<Restart>,
    /// What a ROLLBACK TO SAVEPOINT undoes.
    undo: UndoLog,
}

fn inbox_of(context: &Context, table: &Object) -> SqlResult<Arc<Inbox>> {
    (context.inbox)(table.id).ok_or_else(|| {
        let name = &table.name.name;
        SqlError::new(code::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))
    })
}

/// A table whose lock the transaction holds.
struct Written {
    inbox: Arc<Inbox>,
    overlay: Arc<Overlay>,
    deltas: Vec<Delta>,
    /// What it did to the keys of unique indexes.
    taken: Arc<Taken>,
    /// What becomes durable with the rows.
    meta: Vec<MetaEntry>,
    /// The lock, in one mode and maybe a higher one.
    held: Vec<Held>,
}

/// A table that may be written by others, but keeps its rows.
struct Kept {
    inbox: Arc<Inbox>,
    _held: Held,
}

/// A table as a transaction sees it: what is committed and pending, under its own writes. Not to be
/// held on to: the next statement changes it in place.
pub(super) struct Sight {
    inbox: Arc<Inbox>,
    overlay: Arc<Overlay>,
    taken: Arc<Taken>,
}

impl Sight {
    pub(super) fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    pub(super) fn rows(&self) -> Arc<dyn StoredRows> {
        let pending = Arc::new(PendingRows::new(self.inbox.reader()));
        Arc::new(Overlaid::new(pending, Arc::clone(&self.overlay)))
    }

    /// Who has the keys of a unique index; none if the table has no such index.
    pub(super) fn holders(&self, index: ObjectId) -> Option<Arc<dyn Holders>> {
        let found = self.inbox.guards().into_iter().find(|(guard, _)| guard.index == index);
        let base = Arc::new(PendingHolders(found?.1));
        let taken = Arc::downgrade(&self.taken);
        Some(Arc::new(OwnHolders { base, taken, index }))
    }

    /// The storage keys that the transaction has changed.
    pub(super) fn own_keys(&self) -> impl Iterator<Item = &[u8]> {
        self.overlay.keys().map(|key| &**key)
    }
}

impl Transaction {
    /// An empty one. A statement outside of BEGIN ... COMMIT is a transaction of its own.
    pub fn begin(context: &Context) -> Self {
        Self {
            owner: context.owner.unwrap_or_else(|| context.locks.task()),
            generation: None,
            tables: BTreeMap::new(),
            kept: BTreeMap::new(),
            late: Late::default(),
            bytes: 0,
            restarts: Vec::new(),
            undo: UndoLog::default(),
        }
    }

    /// Notes from here on what statements do, so that [`Transaction::roll_back_to`] can undo it.
    pub fn mark(&mut self) -> Mark {
        self.undo.mark()
    }

    /// Undoes all since `mark`: the locks that were taken since then are free again.
    pub fn roll_back_to(&mut self, mark: Mark) {
        while let Some(step) = self.undo.pop_after(mark) {
            match step {
                Step::Locked(object) => {
                    self.tables.remove(&object);
                }
                Step::Raised(object) => {
                    if let Some(table) = self.tables.get_mut(&object) {
                        table.held.pop();
                    }
                }
                Step::Kept(object) => {
                    self.kept.remove(&object);
                }
                Step::Restarted => {
                    self.restarts.pop();
                }
                Step::Changed { object, entries, taken, deltas, bytes } => {
                    let table = self.tables.get_mut(&object).expect("its lock is undone later");
                    entries.restore(Arc::make_mut(&mut table.overlay));
                    let all = Arc::make_mut(&mut table.taken);
                    for (index, keys) in taken {
                        keys.restore(all.entry(index).or_default());
                    }
                    table.deltas.truncate(deltas);
                    self.bytes = bytes;
                }
            }
        }
        if self.tables.is_empty() && self.kept.is_empty() {
            self.generation = None;
        }
    }

    /// Notes from here on, for [`Transaction::end_part`].
    pub(super) fn begin_part(&mut self) -> (Mark, bool) {
        let noted_before = self.undo.notes();
        (self.undo.mark(), noted_before)
    }

    /// The end of a part of a statement: it is undone if it failed.
    pub(super) fn end_part(&mut self, (mark, noted_before): (Mark, bool), failed: bool) {
        if failed {
            self.roll_back_to(mark);
        }
        self.undo.stop(noted_before);
    }

    /// No [`Mark`] is needed any more.
    pub fn forget_marks(&mut self) {
        self.undo.forget();
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.tables.values().all(|table| {
            table.deltas.is_empty() && table.overlay.is_empty() && table.meta.is_empty()
        })
    }

    /// Whether it has written, or holds the lock of, one of `tables`.
    pub fn locks_any(&self, tables: &[ObjectId]) -> bool {
        let locked = |id: &ObjectId| self.tables.contains_key(id) || self.kept.contains_key(id);
        tables.iter().any(locked)
    }

    /// The transaction's writes over the rows of `base`, for a SELECT: for each table written.
    pub fn overlay_on(
        &self,
        base: impl Fn(ObjectId) -> Arc<dyn StoredRows>,
    ) -> Vec<(ObjectId, Arc<dyn StoredRows>)> {
        let written = self.tables.iter().filter(|(_, table)| !table.overlay.is_empty());
        written
            .map(|(object, table)| {
                let rows = Overlaid::new(base(*object), Arc::clone(&table.overlay));
                (*object, Arc::new(rows) as Arc<dyn StoredRows>)
            })
            .collect()
    }

    /// The unique indexes of the tables written, for a SELECT at `snapshot`.
    pub fn unique_at(
        &self,
        snapshot: &Arc<Snapshot>,
    ) -> SqlResult<Vec<(ObjectId, Vec<UniqueKeys>)>> {
        let mut all = Vec::new();
        for (object, table) in self.tables.iter().filter(|(_, table)| !table.overlay.is_empty()) {
            let mut keys = Vec::new();
            let guards = table.inbox.guards().into_iter();
            for (guard, _) in guards.filter(|(guard, _)| guard.finds_rows()) {
                // One that was made later has nothing there.
                if snapshot.meta(&object_key(guard.index))?.is_some() {
                    let base =
                        SnapshotHolders { snapshot: Arc::clone(snapshot), index: guard.index };
                    keys.push(table.unique_keys(&guard, Arc::new(base))?);
                }
            }
            all.push((*object, keys));
        }
        Ok(all)
    }

    /// Those of every locked table, as the transaction sees them: committed, pending, its own.
    pub(super) fn unique(&self) -> SqlResult<HashMap<ObjectId, Vec<UniqueKeys>>> {
        let tables = self.tables.iter().map(|(object, table)| {
            let guards = table.inbox.guards().into_iter();
            let keys = guards
                .filter(|(guard, _)| guard.finds_rows())
                .map(|(guard, reader)| table.unique_keys(&guard, Arc::new(PendingHolders(reader))));
            Ok((*object, keys.collect::<SqlResult<_>>()?))
        });
        tables.collect()
    }

    /// Takes the lock of `object` in `mode`, if the transaction does not hold it in that or a
    /// higher one. Gives the object as it is then: while somebody waits for the lock, its columns
    /// may become others.
    pub(super) async fn lock(
        &mut self,
        context: &Context,
        object: &Arc<Object>,
        mode: LockMode,
    ) -> SqlResult<Arc<Object>> {
        if !self.holds(object.id, mode) {
            inbox_of(context, object)?;
            let timeout = context.lock_timeout;
            let held = context.locks.acquire(self.owner, object.id, mode, timeout).await?;
            // It may have been dropped meanwhile.
            self.note_lock(context, inbox_of(context, object)?, held);
        }
        Ok(Arc::clone((context.catalog)().object(object.id).unwrap_or(object)))
    }

    fn holds(&self, object: ObjectId, mode: LockMode) -> bool {
        let written = self.tables.get(&object);
        match mode {
            LockMode::KeyShare => written.is_some() || self.kept.contains_key(&object),
            mode => written.is_some_and(|table| table.held.iter().any(|held| held.mode() >= mode)),
        }
    }

    fn note_lock(&mut self, context: &Context, inbox: Arc<Inbox>, held: Held) {
        let object = inbox.object();
        // What is read from here on is of this run of the graph; earlier locks must be too.
        self.generation.get_or_insert_with(|| context.gate.generation());
        if held.mode() == LockMode::KeyShare {
            self.kept.insert(object, Kept { inbox, _held: held });
            self.undo.note(Step::Kept(object));
            return;
        }
        if let Some(table) = self.tables.get_mut(&object) {
            table.held.push(held);
            self.undo.note(Step::Raised(object));
            return;
        }
        let written = Written {
            inbox,
            overlay: Arc::default(),
            deltas: Vec::new(),
            taken: Arc::default(),
            meta: Vec::new(),
            held: vec![held],
        };
        self.tables.insert(object, written);
        self.undo.note(Step::Locked(object));
    }

    /// Takes the write lock of `table` before anything is written; false if somebody else has it,
    /// and that is not to be waited for.
    pub async fn lock_table(
        &mut self,
        context: &Context,
        table: &Arc<Object>,
        wait: LockWait,
    ) -> SqlResult<bool> {
        let mode = LockMode::Write;
        if wait == LockWait::Wait || self.holds(table.id, mode) {
            return self.lock(context, table, mode).await.map(|_| true);
        }
        let inbox = inbox_of(context, table)?;
        match context.locks.try_acquire(self.owner, table.id, mode)? {
            Some(held) => self.note_lock(context, inbox, held),
            None => return Ok(false),
        }
        Ok(true)
    }

    /// A table as this transaction sees it, whether it has a lock of it or not.
    pub(super) fn sight(&self, context: &Context, object: &Object) -> SqlResult<Sight> {
        if let Some(table) = self.tables.get(&object.id) {
            return Ok(Sight {
                inbox: Arc::clone(&table.inbox),
                overlay: Arc::clone(&table.overlay),
                taken: Arc::clone(&table.taken),
            });
        }
        let inbox = match self.kept.get(&object.id) {
            Some(table) => Arc::clone(&table.inbox),
            None => inbox_of(context, object)?,
        };
        Ok(Sight { inbox, overlay: Arc::default(), taken: Arc::default() })
    }

    /// What is looked at when it commits.
    pub(super) fn late(&mut self) -> &mut Late {
        &mut self.late
    }

    /// The rows of every locked table as this transaction sees them: committed, pending, its own.
    pub fn rows(&self) -> Vec<(ObjectId, Arc<dyn StoredRows>)> {
        self.rows_by(|pending, overlay| Overlaid::new(pending, Arc::clone(overlay)))
    }

    /// The same for a statement that has read them before it writes.
    pub(super) fn passing_rows(&self) -> Vec<(ObjectId, Arc<dyn StoredRows>)> {
        self.rows_by(Overlaid::passing)
    }

    fn rows_by(
        &self,
        over: impl Fn(Arc<dyn StoredRows>, &Arc<Overlay>) -> Overlaid,
    ) -> Vec<(ObjectId, Arc<dyn StoredRows>)> {
        self.tables
            .iter()
            .map(|(object, table)| {
                let rows = over(Arc::new(PendingRows::new(table.inbox.reader())), &table.overlay);
                (*object, Arc::new(rows) as Arc<dyn StoredRows>)
            })
            .collect()
    }

    /// Checks that a statement with `bytes` of changes still fits.
    pub(super) fn check_size(&self, bytes: usize, limits: &Limits) -> SqlResult<()> {
        let so_far = self.bytes.saturating_add(self.undo.bytes());
        if so_far.saturating_add(bytes) <= limits.transaction_bytes_max {
            return Ok(());
        }
        Err(SqlError::new(code::OUT_OF_MEMORY, "transaction is too large")
            .detail(format!(
                "Its changes take more than {} MB.",
                limits.transaction_bytes_max >> 20
            ))
            .hint("Write in smaller transactions, or give the server more memory (--memory)."))
    }

    /// What ON CONFLICT asks of the unique indexes of `object`, whose lock is held. It must be gone
    /// when the statement is applied.
    pub(super) fn arbiters(&self, object: ObjectId, meant: Meant) -> Arbiters {
        match self.tables.get(&object) {
            Some(table) => Arbiters::new(meant, table.inbox.guards(), &table.taken),
            None => Arbiters::default(),
        }
    }

    /// Takes over what a statement changed in `object`, whose lock is held, if that leaves the keys
    /// of its unique indexes once.
    pub(super) async fn apply(&mut self, object: ObjectId, changes: Changes) -> SqlResult<()> {
        let Some(table) = self.tables.get_mut(&object) else {
            return Err(SqlError::internal("changes to a table that is not locked"));
        };
        let bytes = changes.bytes();
        let (entries, deltas) = changes.into_parts();
        let guards = table.inbox.guards();
        let mut changed = Taken::new();
        if !guards.is_empty() {
            let (taken, deltas) = (Arc::clone(&table.taken), deltas.clone());
            let inbox = Arc::clone(&table.inbox);
            let check = move || unique::check(&guards, &taken, &deltas, &inbox.layout());
            changed = blocking(check).await?;
        }
        let notes = self.undo.notes();
        let step = Step::Changed {
            object,
            taken: Replaced::by_all(Arc::make_mut(&mut table.taken), changed, notes),
            entries: Replaced::by(Arc::make_mut(&mut table.overlay), entries, notes),
            deltas: table.deltas.len(),
            bytes: self.bytes,
        };
        self.undo.note(step);
        self.bytes += bytes;
        table.deltas.extend(deltas);
        Ok(())
    }

    /// Sequences begin anew if the transaction comes through.
    pub(super) fn restart(&mut self, restart: Restart) {
        self.restarts.push(restart);
        self.undo.note(Step::Restarted);
    }

    /// What sequences begin anew: for whoever knows when the transaction is durable.
    pub fn take_restarts(&mut self) -> Vec<Restart> {
        std::mem::take(&mut self.restarts)
    }

    /// `meta` becomes durable with what is written to `object`, whose lock is held.
    pub(super) fn attach(&mut self, object: ObjectId, meta: Vec<MetaEntry>) -> SqlResult<()> {
        let Some(table) = self.tables.get_mut(&object) else {
            return Err(SqlError::internal("metadata of a table that is not locked"));
        };
        table.meta.extend(meta);
        Ok(())
    }

    /// Forgets what it wrote to these tables, which no COMMIT leaves a row in.
    pub fn forget(&mut self, tables: &BTreeSet<ObjectId>) {
        self.tables.retain(|object, _| !tables.contains(object));
    }

    /// Brings all writes into one epoch and releases the locks; none if there was nothing to bring.
    /// The writes are durable and visible when that epoch is committed.
    pub async fn commit(mut self, context: &Context) -> SqlResult<Option<Epoch>> {
        self.check_late(context, None).await?;
        let Some(generation) = self.generation.filter(|_| !self.is_empty()) else {
            return Ok(None);
        };
        let gate = Arc::clone(&context.gate);
        // Not on a worker: a large transaction takes a while. Once begun it is not cut short by a
        // client that vanishes, and the locks are held until it is through.
        let entered = task::spawn_blocking(move || {
            let mut all_held = Vec::with_capacity(self.tables.len());
            let mut writes = Vec::with_capacity(self.tables.len());
            for table in self.tables.into_values() {
                let Written { inbox, overlay, deltas, taken, meta, held } = table;
                all_held.push(held);
                let guards = Arc::unwrap_or_clone(taken)
                    .into_iter()
                    .map(|(index, keys)| (index, entries(keys)));
                let guards = guards.collect();
                writes.push(TableWrite { guards, meta, ..write(inbox, overlay, &deltas)? });
            }
            let epoch = gate.enter(generation, writes);
            drop((all_held, self.kept));
            epoch
        });
        let epoch = entered
            .await
            .map_err(|error| SqlError::internal(format!("entering an epoch: {error}")))??;
        Ok(Some(epoch))
    }

    /// Forgets all writes and releases the locks; as dropping does.
    pub fn rollback(self) {}
}

impl Written {
    /// The keys of a unique index: what the transaction did to them over `base`.
    fn unique_keys(&self, guard: &Guard, base: Arc<dyn Holders>) -> SqlResult<UniqueKeys> {
        // Not to be held on to: the next statement changes it in place.
        let taken = Arc::downgrade(&self.taken);
        let holders = Arc::new(OwnHolders { base, taken, index: guard.index });
        let schema = Arc::clone(self.inbox.layout().schema());
        UniqueKeys::new(&guard.name, schema, guard.columns(), holders)
    }
}

/// Committed and pending keys.
struct PendingHolders(TableReader);

impl Holders for PendingHolders {
    fn holders(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        self.0.get_many(keys)
    }
}

/// The same under what a transaction did.
struct OwnHolders {
    base: Arc<dyn Holders>,
    taken: Weak<Taken>,
    index: ObjectId,
}

impl Holders for OwnHolders {
    fn holders(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        let mut holders = self.base.holders(keys)?;
        let taken = self.taken.upgrade();
        if let Some(own) = taken.as_ref().and_then(|taken| taken.get(&self.index)) {
            for (key, holder) in keys.iter().zip(&mut holders) {
                if let Some(changed) = own.get(key.as_slice()) {
                    *holder = changed.as_deref().map(<[u8]>::to_vec);
                }
            }
        }
        Ok(holders)
    }
}

fn write(inbox: Arc<Inbox>, overlay: Arc<Overlay>, deltas: &[Delta]) -> SqlResult<TableWrite> {
    let changes = entries(Arc::unwrap_or_clone(overlay));
    let delta = match deltas {
        [one] => one.clone(),
        all => Delta::concat(inbox.layout().schema(), all)?,
    };
    Ok(TableWrite { inbox, delta, changes, guards: Vec::new(), meta: Vec::new() })
}

fn entries(overlay: Overlay) -> Entries {
    let boxed = overlay.into_iter();
    boxed.map(|(key, value)| (key.into_vec(), value.map(<[u8]>::into_vec))).collect()
}
