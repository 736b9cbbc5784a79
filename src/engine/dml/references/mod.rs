//! Foreign keys: what a statement that changed a table has to ask of others, and what follows.
//!
//! ```text
//!  changed rows of t ──> rows that came refer to keys of others: there at the statement's end?
//!                   └──> keys of t that went: NO ACTION   does a row refer to one at the end?
//!                                             RESTRICT    does a row refer to one now?
//!                                             CASCADE, SET NULL, SET DEFAULT
//!                                                         the rows that do change, and so on
//! ```
//!
//! What must hold: a decision is made under the locks of `locks`; rows that follow are written by
//! the same transaction, and a statement that fails leaves none of them.

mod by_index;
mod follow;
mod late;
mod link;
mod locks;
mod pending;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::interleave;

use self::follow::Follow;
pub use self::late::Constraints;
pub(super) use self::late::Late;
use self::link::{Link, Refers, Wanted};
pub(super) use self::locks::{Touch, lock_all};
use self::pending::Pending;
use super::changes::Changes;
use super::context::Context;
use super::environment::{Environment, blocking};
use super::transaction::Transaction;
use crate::catalog::constraint::{Action, ForeignKey};
use crate::catalog::{Catalog, Object};
use crate::error::{SqlError, SqlResult};
use crate::types::ObjectId;

/// Stored rows that are looked at together.
const PAGE_ROWS_MAX: usize = 8192;

impl Environment {
    /// Makes what the statement changed in its target a part of `transaction`, with all that
    /// follows from it.
    pub(super) async fn settle(
        &self,
        context: &Context,
        transaction: &mut Transaction,
        changes: Changes,
    ) -> SqlResult<()> {
        let object = &self.current;
        let refers = !object.foreign_keys().is_empty();
        if !refers && self.catalog.referring(object.id).next().is_none() {
            let applied = transaction.apply(object.id, changes).await;
            return applied.map_err(|error| of_table(error, object));
        }
        let part = transaction.begin_part();
        let mut settling = Settling {
            context,
            transaction,
            environment: self,
            links: BTreeMap::new(),
            open: VecDeque::new(),
            pending: BTreeMap::new(),
        };
        let settled = Box::pin(settling.run(object, changes)).await;
        transaction.end_part(part, settled.is_err());
        settled
    }
}

/// The violation of a unique index, which does not know its table.
fn of_table(mut error: SqlError, object: &Object) -> SqlError {
    if let Some(about) = error.about.as_mut().filter(|about| about.table.is_none()) {
        about.schema = Some(object.name.schema.clone());
        about.table = Some(object.name.name.clone());
    }
    error
}

/// Fails if a row of `table` refers to what is not there. Nobody may write meanwhile. May block for
/// the disk.
pub fn check_references(
    context: &Context,
    catalog: &Catalog,
    table: &Arc<Object>,
    key: &ForeignKey,
) -> SqlResult<()> {
    let link = Arc::new(Link::new(catalog, table, key)?);
    let transaction = Transaction::begin(context);
    let parent = transaction.sight(context, &link.parent)?;
    let child = transaction.sight(context, table)?;
    let rows = child.rows();
    let mut from: Option<Vec<u8>> = None;
    loop {
        let start = from.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let entries = rows.page(start, None, PAGE_ROWS_MAX)?;
        let mut pending = Pending::new(Arc::clone(&link));
        pending.refers(&link.decode(&entries.page)?, |_, _| true)?;
        pending.check(&parent, &child, false)?;
        from = entries.resume;
        if from.is_none() {
            return Ok(());
        }
    }
}

/// One statement between its own changes and all that follows from them.
struct Settling<'a> {
    context: &'a Context,
    transaction: &'a mut Transaction,
    environment: &'a Environment,
    links: BTreeMap<ObjectId, Arc<Link>>,
    /// What is still to be done to rows that refer to what went.
    open: VecDeque<Follow>,
    /// What is to be asked at the end, by foreign key.
    pending: BTreeMap<ObjectId, Pending>,
}

impl Settling<'_> {
    async fn run(&mut self, object: &Arc<Object>, changes: Changes) -> SqlResult<()> {
        self.apply(object, changes).await?;
        while let Some(follow) = self.open.pop_front() {
            self.follow(follow).await?;
        }
        for (_, pending) in std::mem::take(&mut self.pending) {
            if self.transaction.late().is_late(&pending.link().key) {
                self.transaction.late().add(pending);
            } else {
                self.transaction.check_pending(self.context, pending).await?;
            }
        }
        Ok(())
    }

    /// Makes changes a part of the transaction, and finds what they lead to.
    async fn apply(&mut self, object: &Arc<Object>, changes: Changes) -> SqlResult<()> {
        let moves = Arc::new(Moves::of(&changes));
        let applied = self.transaction.apply(object.id, changes).await;
        applied.map_err(|error| of_table(error, object))?;
        for key in object.foreign_keys() {
            let link = self.link(object, key.id)?;
            let moves = Arc::clone(&moves);
            let pending = blocking(move || Pending::of_child(link, &moves)).await?;
            self.add(pending);
        }
        let catalog = Arc::clone(&self.environment.catalog);
        for (child, key) in catalog.referring(object.id) {
            let link = self.link(child, key.id)?;
            self.gone(&link, &moves, Event::Delete).await?;
            self.gone(&link, &moves, Event::Update).await?;
        }
        Ok(())
    }

    fn add(&mut self, pending: Pending) {
        match self.pending.get_mut(&pending.link().key.id) {
            Some(known) => known.merge(pending),
            None => {
                self.pending.insert(pending.link().key.id, pending);
            }
        }
    }

    fn link(&mut self, child: &Arc<Object>, key: ObjectId) -> SqlResult<Arc<Link>> {
        if let Some(link) = self.links.get(&key) {
            return Ok(Arc::clone(link));
        }
        let found = child.foreign_keys().iter().find(|found| found.id == key);
        let found = found.ok_or_else(|| SqlError::internal("a foreign key that is gone"))?;
        let link = Arc::new(Link::new(&self.environment.catalog, child, found)?);
        self.links.insert(key, Arc::clone(&link));
        Ok(link)
    }

    /// Keys of the parent went, or became others.
    async fn gone(&mut self, link: &Arc<Link>, moves: &Arc<Moves>, event: Event) -> SqlResult<()> {
        let action = match event {
            Event::Delete => link.key.on_delete,
            Event::Update => link.key.on_update,
        };
        let (own, moves) = (Arc::clone(link), Arc::clone(moves));
        let gone = blocking(move || Gone::of(&own, &moves, event)).await?;
        if gone.places.is_empty() {
            return Ok(());
        }
        match action {
            Action::NoAction => self.add(Pending::of_parent(Arc::clone(link), gone)),
            Action::Restrict => {
                let pending = Pending::of_parent(Arc::clone(link), gone).at_once();
                self.transaction.check_pending(self.context, pending).await?;
            }
            Action::Cascade | Action::SetNull | Action::SetDefault => {
                if action == Action::SetDefault {
                    // The default may be what went.
                    self.add(Pending::of_parent(Arc::clone(link), gone.clone()));
                }
                self.open.push_back(Follow { link: Arc::clone(link), action, event, gone });
            }
        }
        Ok(())
    }
}

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Delete,
    Update,
}

/// The rows that changes took away, brought, and replaced.
struct Moves {
    went: Vec<RecordBatch>,
    came: Vec<RecordBatch>,
    /// Before and after, one for one.
    pairs: Vec<(RecordBatch, RecordBatch)>,
}

impl Moves {
    fn of(changes: &Changes) -> Self {
        let mut moves = Self { went: Vec::new(), came: Vec::new(), pairs: Vec::new() };
        moves.pairs.extend(changes.pairs().map(|(old, new)| (old.clone(), new.clone())));
        for delta in changes.unpaired() {
            let rows = delta.batch().clone();
            // A statement's deltas are all of one sign.
            match delta.weights() {
                Some(_) => moves.went.push(rows),
                None => moves.came.push(rows),
            }
        }
        moves
    }
}

/// Keys that a parent had.
#[derive(Debug, Clone, Default)]
struct Gone {
    /// Rows that had them.
    rows: Vec<RecordBatch>,
    /// Rows in their places, one for one; none after a DELETE.
    new: Vec<RecordBatch>,
    /// Each key, and which of the rows had it.
    places: Vec<(Vec<u8>, (usize, usize))>,
}

impl Gone {
    fn of(link: &Link, moves: &Moves, event: Event) -> SqlResult<Self> {
        let mut gone = Self::default();
        let mut seen = HashSet::new();
        if event == Event::Delete {
            for rows in &moves.went {
                let batch = gone.rows.len();
                for (row, key) in link.keys_of(rows)?.into_iter().enumerate() {
                    if let Some(key) = key.filter(|key| seen.insert(key.clone())) {
                        gone.places.push((key, (batch, row)));
                    }
                }
                gone.rows.push(rows.clone());
            }
            return Ok(gone);
        }
        for (old, new) in &moves.pairs {
            let batch = gone.rows.len();
            let keys = link.keys_of(old)?.into_iter().zip(link.keys_of(new)?);
            for (row, (before, after)) in keys.enumerate() {
                if before == after {
                    continue;
                }
                if let Some(key) = before.filter(|key| seen.insert(key.clone())) {
                    gone.places.push((key, (batch, row)));
                }
            }
            gone.rows.push(old.clone());
            gone.new.push(new.clone());
        }
        Ok(gone)
    }

    /// The keys of the places that `wanted` says, with the values that rows had in them.
    fn wanted(&self, link: &Link, wanted: impl Fn(usize) -> bool) -> SqlResult<Wanted> {
        let places = self.places.iter().enumerate().filter(|(index, _)| wanted(*index));
        let (keys, at): (HashSet<_>, Vec<_>) =
            places.map(|(_, (key, at))| (key.clone(), *at)).unzip();
        let values: Vec<_> = self.rows.iter().map(|rows| link.values_of(rows)).collect();
        Ok(Wanted { keys, values: gather(&values, &at)? })
    }
}

/// Values of columns in some of the rows of several batches.
fn gather(batches: &[Vec<ArrayRef>], at: &[(usize, usize)]) -> SqlResult<Vec<ArrayRef>> {
    let columns = batches.first().map_or(0, Vec::len);
    let gathered = (0..columns).map(|column| {
        let arrays: Vec<&dyn Array> =
            batches.iter().map(|values| values[column].as_ref()).collect();
        Ok(interleave(&arrays, at)?)
    });
    gathered.collect()
}

impl Pending {
    fn of_child(link: Arc<Link>, moves: &Moves) -> SqlResult<Self> {
        let mut pending = Self::new(link);
        for rows in &moves.came {
            pending.refers(rows, |_, _| true)?;
        }
        for (old, new) in &moves.pairs {
            let before = pending.link().refers(old)?;
            pending.refers(new, |row, now: &Refers| before[row] != *now)?;
        }
        Ok(pending)
    }
}
