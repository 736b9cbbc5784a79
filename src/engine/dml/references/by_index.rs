//! Rows that refer to given keys, found by an index of the child that is not unique.
//!
//! The index has what is committed; what is pending, and the transaction's own, is few:
//!
//! ```text
//!  storage keys:  index at the snapshot  +  pending  +  the transaction's own
//!                                        -> the rows as they are now -> those that refer
//! ```

use std::collections::{BTreeSet, HashSet};
use std::ops::Bound;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow::datatypes::DataType;

use super::link::{Found, Link, Refers, Wanted, as_type};
use crate::catalog::durable::object_key;
use crate::catalog::{Catalog, Object};
use crate::checkpoint::coordinator::suspended_key;
use crate::checkpoint::detached::progress_key;
use crate::engine::dml::transaction::Sight;
use crate::engine::jobs;
use crate::error::{SqlError, SqlResult};
use crate::state::{RowLayout, Snapshot};
use crate::types::key::{KeyCodec, vnode};
use crate::types::{TableId, take_rows};

/// With more keys to look for, all rows are looked at instead.
const KEYS_MAX: usize = 4096;

/// Entries of the index that are read together.
const PAGE_ENTRIES_MAX: usize = 4096;

/// An index whose first columns are those of the foreign key.
#[derive(Debug)]
pub(super) struct ByIndex {
    index: Arc<Object>,
    /// For each of its first columns, which of the parent's key it is, and its type.
    order: Vec<usize>,
    types: Vec<DataType>,
    /// Of its first column, by which its rows are spread; of all of the foreign key.
    share: KeyCodec,
    prefix: KeyCodec,
    layout: RowLayout,
    /// For each of the child's stored columns, which of the index's it is.
    columns: Vec<usize>,
}

impl ByIndex {
    /// The first index of `child` that begins with the columns at `from`.
    pub(super) fn of(catalog: &Catalog, child: &Object, from: &[usize]) -> SqlResult<Option<Self>> {
        let begins = |object: &&Arc<Object>| {
            let keys = object.index().map_or(&[][..], |index| &index.keys);
            let first: BTreeSet<usize> =
                keys.iter().take(from.len()).map(|key| child.place(key.column)).collect();
            first.len() == from.len() && from.iter().all(|column| first.contains(column))
        };
        let Some(object) = catalog.indexes(child.id).find(begins) else { return Ok(None) };
        let Some(index) = object.index() else { return Ok(None) };
        // It may not know columns that came after it.
        if index.order.len() < child.stored_schema().fields().len() {
            return Ok(None);
        }
        let schema = object.stored_schema();
        let first = index.keys.iter().take(from.len());
        let place = |column: usize| from.iter().position(|one| *one == column);
        let order: Option<Vec<usize>> = first.map(|key| place(child.place(key.column))).collect();
        let columns: Option<Vec<usize>> = (0..index.order.len())
            .map(|stored| index.order.iter().position(|own| *own == stored))
            .collect();
        let (Some(order), Some(columns)) = (order, columns) else { return Ok(None) };
        // The columns that it is ordered by are its first.
        let places: Vec<usize> = (0..order.len()).collect();
        if index.key.get(..order.len()) != Some(&places) {
            return Ok(None);
        }
        let types = places.iter().map(|place| schema.field(*place).data_type().clone());
        Ok(Some(Self {
            types: types.collect(),
            share: KeyCodec::new(&schema, &[0])?,
            prefix: KeyCodec::new(&schema, &places)?,
            layout: jobs::layout(object)?,
            index: Arc::clone(object),
            order,
            columns,
        }))
    }

    /// The child's rows that refer to the `wanted` keys; `None` if they are to be found otherwise.
    pub(super) fn find(
        &self,
        link: &Link,
        child: &Sight,
        wanted: &Wanted,
    ) -> SqlResult<Option<Found>> {
        let reader = child.inbox().reader();
        if wanted.keys.len() > KEYS_MAX || !self.is_whole(reader.snapshot())? {
            return Ok(None);
        }
        let mut keys: HashSet<Vec<u8>> = reader.pending_keys().map(<[u8]>::to_vec).collect();
        keys.extend(child.own_keys().map(<[u8]>::to_vec));
        for rows in self.entries(reader.snapshot(), wanted)? {
            keys.extend(link.storage_keys(&rows)?);
        }
        let mut keys: Vec<Vec<u8>> = keys.into_iter().collect();
        keys.sort_unstable();
        let stored = child.rows().get_many(&keys)?;
        let present: Vec<(&Vec<u8>, &[u8])> = keys
            .iter()
            .zip(&stored)
            .filter_map(|(key, row)| Some((key, row.as_deref()?)))
            .collect();
        let rows = link.decode_all(present.iter().map(|(key, row)| (key.as_slice(), *row)))?;
        let mut found = Found::default();
        let mut places: Vec<u32> = Vec::new();
        for ((row, refers), (key, _)) in (0u32..).zip(link.refers(&rows)?).zip(&present) {
            if matches!(&refers, Refers::Key(refers) if wanted.keys.contains(refers)) {
                found.keys.push((*key).clone());
                places.push(row);
            }
        }
        if !places.is_empty() {
            found.rows.push(take_rows(&rows, &UInt32Array::from(places))?);
        }
        Ok(Some(found))
    }

    /// Whether the index has all rows of the table of that moment.
    fn is_whole(&self, snapshot: &Snapshot) -> SqlResult<bool> {
        let id = self.index.id;
        Ok(snapshot.meta(&object_key(id))?.is_some()
            && snapshot.meta(&progress_key(id))?.is_none()
            && snapshot.meta(&suspended_key(id))?.is_none())
    }

    /// The index's rows of the wanted keys, their columns as the child has them.
    fn entries(&self, snapshot: &Snapshot, wanted: &Wanted) -> SqlResult<Vec<RecordBatch>> {
        let values = self.order.iter().zip(&self.types);
        let values: Vec<ArrayRef> = values
            .map(|(place, to)| as_type(&wanted.values[*place], to))
            .collect::<SqlResult<_>>()?;
        let rows = values.first().map_or(0, |values| values.len());
        let shares = self.share.encode_columns(&values[..1], rows)?;
        let prefixes = self.prefix.encode_columns(&values, rows)?;
        let mut found = Vec::new();
        for row in 0..rows {
            if values.iter().any(|values| values.is_null(row)) {
                continue;
            }
            let share = vnode(shares.row(row).data());
            let prefix = [&[share], prefixes.row(row).data()].concat();
            self.page_all(snapshot, &prefix, &mut found)?;
        }
        Ok(found)
    }

    fn page_all(
        &self,
        snapshot: &Snapshot,
        prefix: &[u8],
        found: &mut Vec<RecordBatch>,
    ) -> SqlResult<()> {
        let table = TableId::contents(self.index.id);
        let mut last: Option<Vec<u8>> = None;
        loop {
            let from = last.as_deref().map_or(Bound::Included(prefix), Bound::Excluded);
            let page = snapshot.page(table, from, None, PAGE_ENTRIES_MAX)?;
            let mut within =
                page.entries().take_while(|(key, _)| key.starts_with(prefix)).peekable();
            if within.peek().is_none() {
                return Ok(());
            }
            let rows = self.layout.decode(within)?.batch().clone();
            let read = rows.num_rows();
            found.push(rows.project(&self.columns).map_err(SqlError::from)?);
            if !page.more || read < page.entries().count() {
                return Ok(());
            }
            last = page.last_key().map(<[u8]>::to_vec);
        }
    }
}
