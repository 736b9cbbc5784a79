//! What makes an index unique: the guard of its table (`dataflow::guard`), filled while nobody
//! writes, kept by the table's writer from then on.
//!
//! A guard is filled before its index is in the catalog, under a mark in the metadata; a start that
//! finds the mark takes away what has no index.

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;

use crate::catalog::{Catalog, Object, ObjectKind};
use crate::dataflow::guard::Guard;
use crate::engine::locks::{Held, Owner};
use crate::engine::{Engine, dml, jobs};
use crate::error::{SqlError, SqlResult, code};
use crate::state::{Commit, MetaEntry, Store};
use crate::task;
use crate::types::{ObjectId, TableId};
use arrow::array::{Array, RecordBatch};

/// Stored rows that are looked at together.
const PAGE_ROWS_MAX: usize = 8192;

/// Marks of guards that are being filled.
const MARKS: &[u8] = b"guard/";

fn mark(index: ObjectId) -> Vec<u8> {
    [MARKS, &index.0.to_be_bytes()].concat()
}

/// The guard of a unique index; none if it is not unique.
pub(in crate::engine) fn guard_of(on: &Object, index: &Object) -> SqlResult<Option<Guard>> {
    let Some(kind) = index.index().filter(|kind| kind.unique) else { return Ok(None) };
    let columns: Vec<usize> = kind.keys.iter().map(|key| on.place(key.column)).collect();
    let name = index.name.name.clone();
    let primary = kind.constraint.is_some_and(|constraint| constraint.primary);
    let guard = Guard::new(index.id, name, &on.stored_schema(), &columns)?;
    Ok(Some(guard.required(primary).nulls_not_distinct(kind.nulls_not_distinct)))
}

/// Refuses a unique index where not all writers would keep it.
pub(super) fn check_writers(catalog: &Catalog, on: &Object) -> SqlResult<()> {
    let what = match &on.kind {
        ObjectKind::Table(table) if table.connector.is_some() => "a table with a connector",
        ObjectKind::Table(_) => {
            let into = |object: &&Arc<Object>| object.sink().is_some_and(|s| s.into == on.id);
            match catalog.objects().find(into) {
                Some(_) => "a table that a sink writes",
                None => return Ok(()),
            }
        }
        _ => "a materialized view",
    };
    Err(SqlError::unsupported(format!("a unique index on {what}"))
        .hint("Leave UNIQUE out, or make a table with a PRIMARY KEY."))
}

impl Engine {
    /// Fills the guard of `index`, which is not in the catalog yet, and has writers keep it. They
    /// wait for as long as the result is held.
    pub(super) async fn raise_guard(
        &self,
        on: &Object,
        index: &Object,
        owner: Owner,
    ) -> SqlResult<Option<Held>> {
        let Some(guard) = guard_of(on, index)? else { return Ok(None) };
        let inbox = self.inbox(on.id).ok_or_else(|| SqlError::internal("a table without inbox"))?;
        let writers = self.locks.seize_for(owner, on.id).await?;
        // So that all rows are in the snapshot.
        self.settled().await?;
        let (store, on) = (self.store().clone(), on.clone());
        let filled = task::spawn_blocking(move || {
            let meta = vec![(mark(guard.index), Some(Vec::new()))];
            store.commit(Commit { meta, dropped: vec![guard.index], ..Commit::default() })?;
            fill(&store, &on, &guard).map(|()| guard)
        });
        match filled.await.map_err(|panic| SqlError::internal(format!("a guard: {panic}")))? {
            Ok(guard) => {
                inbox.add_guard(self.store(), guard);
                Ok(Some(writers))
            }
            Err(error) => {
                self.lower_guard(on_of(index), index.id).await?;
                Err(error)
            }
        }
    }

    /// The index of a guard is in the catalog.
    pub(super) async fn guard_stands(&self, index: ObjectId) -> SqlResult<()> {
        self.commit_meta(vec![(mark(index), None)]).await
    }

    /// Takes a guard away whose index came to nothing. The caller holds the table's write lock.
    pub(super) async fn lower_guard(&self, on: ObjectId, index: ObjectId) -> SqlResult<()> {
        if let Some(inbox) = self.inbox(on) {
            inbox.remove_guard(index);
        }
        let store = self.store().clone();
        let meta = vec![(mark(index), None)];
        let commit = Commit { meta, dropped: vec![index], ..Commit::default() };
        task::spawn_blocking(move || store.commit(commit))
            .await
            .map_err(|panic| SqlError::internal(format!("the commit panicked: {panic}")))??;
        Ok(())
    }
}

fn on_of(index: &Object) -> ObjectId {
    index.index().map_or(ObjectId(0), |index| index.on)
}

/// Takes away what a server left that died while it filled a guard.
pub(in crate::engine) fn forget_unfinished(store: &Store, catalog: &Catalog) -> SqlResult<()> {
    let marks = store.snapshot().meta_with_prefix(MARKS)?;
    if marks.is_empty() {
        return Ok(());
    }
    let index = |key: &[u8]| {
        let bytes = key.strip_prefix(MARKS)?.try_into().ok()?;
        Some(ObjectId(u32::from_be_bytes(bytes)))
    };
    let unfinished = marks.iter().filter_map(|(key, _)| index(key));
    let dropped = unfinished.filter(|index| catalog.object(*index).is_none()).collect();
    let meta: Vec<MetaEntry> = marks.iter().map(|(key, _)| (key.clone(), None)).collect();
    store.commit(Commit { meta, dropped, ..Commit::default() })?;
    Ok(())
}

/// Writes the keys of all committed rows of a table, which must differ, and be there for a primary
/// key.
pub(in crate::engine) fn fill(store: &Store, on: &Object, guard: &Guard) -> SqlResult<()> {
    let layout = jobs::layout(on)?;
    let snapshot = store.snapshot();
    let mut taken = store.table(guard.table());
    let mut last: Option<Vec<u8>> = None;
    loop {
        let from = last.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let page = snapshot.page(TableId::contents(on.id), from, None, PAGE_ROWS_MAX)?;
        let rows = layout.decode(page.entries())?.batch().clone();
        let keys = guard.keys(&rows)?;
        if guard.required
            && let Some(row) = keys.iter().position(Option::is_none)
        {
            return Err(null_in_key(on, guard, &rows, row));
        }
        let holders: Vec<&[u8]> = page.entries().map(|(key, _)| key).collect();
        let places: Vec<usize> = (0..keys.len()).filter(|row| keys[*row].is_some()).collect();
        let present: Vec<&Vec<u8>> = keys.iter().flatten().collect();
        let known = taken.get_many(&present)?;
        let mut seen = HashSet::with_capacity(present.len());
        for ((key, known), place) in present.iter().zip(&known).zip(&places) {
            if known.is_some() || !seen.insert(*key) {
                let message = format!("could not create unique index \"{}\"", guard.name);
                let key = dml::key_text(guard, &rows, *place)?;
                return Err(SqlError::new(code::UNIQUE_VIOLATION, message)
                    .detail(format!("Key {key} is duplicated.")));
            }
        }
        for (key, place) in present.into_iter().zip(places) {
            taken.put(key, holders[place]);
        }
        if let Some(change) = taken.freeze() {
            store.commit(Commit { changes: vec![change], ..Commit::default() })?;
        }
        if !page.more {
            return Ok(());
        }
        last = page.last_key().map(<[u8]>::to_vec);
    }
}

/// 23502.
fn null_in_key(on: &Object, guard: &Guard, rows: &RecordBatch, row: usize) -> SqlError {
    let is_null = |column: &&usize| rows.column(**column).is_null(row);
    let null = guard.columns().iter().find(is_null);
    let column = null.and_then(|place| on.columns.get(on.column_at(*place)?));
    let (column, table) = (column.map_or("", |one| &one.name), &on.name.name);
    let message = format!("column \"{column}\" of relation \"{table}\" contains null values");
    SqlError::new(code::NOT_NULL_VIOLATION, message)
}
