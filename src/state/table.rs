//! A state table: what one operator of one actor keeps.
//!
//! Reads see (this epoch's writes) over (frozen epochs that are not on disk yet) over (the store):
//!
//! ```text
//!  put, delete ──> current ──freeze──> frozen n ──commit n──> RocksDB
//!                 └ read ─────────────┴ read ───────────────┴ read
//! ```
//!
//! `freeze` hands the epoch's net change to the coordinator and goes on at once with an empty
//! layer. A frozen layer is forgotten when its commit has said so, never earlier.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::rocks::Page;
use super::store::{full_bounds, full_key, successor};
use super::{Snapshot, StateError, Store};
use crate::types::TableId;

/// Changes by key (`vnode | row key`); no value deletes.
pub(super) type Layer = BTreeMap<Box<[u8]>, Option<Box<[u8]>>>;

/// A handle on a state table.
pub struct Table {
    id: TableId,
    store: Store,
    current: Layer,
    current_bytes: usize,
    /// Parts of this epoch that a reader shares.
    shared: Vec<Arc<Layer>>,
    /// Earlier epochs, oldest first, until they are on disk.
    frozen: Vec<Frozen>,
}

struct Frozen {
    layer: Arc<Layer>,
    committed: Arc<AtomicBool>,
}

/// The net change of a table in an epoch.
#[derive(Debug, Clone)]
pub struct TableChange {
    pub table: TableId,
    pub(super) layer: Arc<Layer>,
    pub(super) committed: Arc<AtomicBool>,
}

impl TableChange {
    pub fn entries(&self) -> usize {
        self.layer.len()
    }
}

impl Table {
    pub(super) fn new(store: Store, id: TableId) -> Self {
        Self {
            id,
            store,
            current: Layer::new(),
            current_bytes: 0,
            shared: Vec::new(),
            frozen: Vec::new(),
        }
    }

    pub fn id(&self) -> TableId {
        self.id
    }

    /// Bytes of writes not frozen yet.
    pub fn pending_bytes(&self) -> usize {
        self.current_bytes
    }

    /// Writes a row. Keys are `vnode | row key`.
    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        self.current_bytes += key.len() + value.len();
        self.current.insert(key.into(), Some(value.into()));
    }

    pub fn delete(&mut self, key: &[u8]) {
        self.current_bytes += key.len();
        self.current.insert(key.into(), None);
    }

    /// The values of `keys`, in their order, with one look into the store.
    pub fn get_many(
        &mut self,
        keys: &[impl AsRef<[u8]>],
    ) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        self.forget_committed();
        let mut values: Vec<Option<Vec<u8>>> = Vec::with_capacity(keys.len());
        let mut missing = Vec::new();
        let mut missing_keys = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            match self.in_layers(key.as_ref()) {
                Some(value) => values.push(value.map(<[u8]>::to_vec)),
                None => {
                    values.push(None);
                    missing.push(index);
                    missing_keys.push(full_key(self.id, key.as_ref()));
                }
            }
        }
        if !missing.is_empty() {
            let found = self.store.get_newest(missing_keys.iter().map(Vec::as_slice))?;
            for (index, value) in missing.into_iter().zip(found) {
                values[index] = value;
            }
        }
        Ok(values)
    }

    /// Every entry whose key starts with `prefix`, in key order, given to `visit` until it returns
    /// false.
    pub fn scan_prefix(
        &mut self,
        prefix: &[u8],
        visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), StateError> {
        self.forget_committed();
        let layers = self.layers();
        let end = successor(prefix);
        let read = |from: Bound<&[u8]>| {
            let bounds = full_bounds(self.id, from, end.as_deref());
            self.store.page_newest(&bounds.range(SCAN_ENTRIES, false))
        };
        merge(&layers, prefix, end.as_deref(), &read, visit)
    }

    /// The entry with the greatest key that starts with `prefix`.
    pub fn last_with_prefix(
        &mut self,
        prefix: &[u8],
    ) -> Result<Option<(Vec<u8>, Vec<u8>)>, StateError> {
        self.forget_committed();
        let mut end = successor(prefix);
        loop {
            let Some((key, value)) = self.last_before(prefix, end.as_deref())? else {
                return Ok(None);
            };
            if let Some(value) = value {
                return Ok(Some((key, value)));
            }
            end = Some(key);
        }
    }

    /// The greatest key in `[prefix, end)` of any layer, with its newest value, deletions included.
    fn last_before(
        &self,
        prefix: &[u8],
        end: Option<&[u8]>,
    ) -> Result<Option<(Vec<u8>, Option<Vec<u8>>)>, StateError> {
        let bounds = full_bounds(self.id, Bound::Included(prefix), end);
        let page = self.store.page_newest(&bounds.range(1, true))?;
        let mut greatest: Option<Vec<u8>> = page.last_key().map(<[u8]>::to_vec);
        for layer in self.layers() {
            let found = layer.range::<[u8], _>(layer_range(prefix, end)).next_back();
            if let Some((key, _)) = found
                && greatest.as_deref().is_none_or(|greatest| greatest < &**key)
            {
                greatest = Some(key.to_vec());
            }
        }
        Ok(greatest.map(|key| {
            let value = match self.in_layers(&key) {
                Some(value) => value.map(<[u8]>::to_vec),
                None => Some(page.value(0).to_vec()),
            };
            (key, value)
        }))
    }

    /// A reader of the table as it is now, pending writes included, that does not hold this handle.
    pub fn reader(&mut self) -> TableReader {
        self.forget_committed();
        if !self.current.is_empty() {
            self.shared.push(Arc::new(std::mem::take(&mut self.current)));
        }
        let mut layers: Vec<Arc<Layer>> =
            self.frozen.iter().map(|frozen| Arc::clone(&frozen.layer)).collect();
        layers.extend(self.shared.iter().map(Arc::clone));
        // The snapshot is taken after the layers, so what left them since is in it.
        TableReader { id: self.id, layers, snapshot: self.store.snapshot() }
    }

    /// Ends the epoch: its net change, to be committed; none if nothing was written.
    pub fn freeze(&mut self) -> Option<TableChange> {
        self.forget_committed();
        self.current_bytes = 0;
        let mut layer = std::mem::take(&mut self.current);
        for earlier in std::mem::take(&mut self.shared).into_iter().rev() {
            let earlier = Arc::try_unwrap(earlier).unwrap_or_else(|shared| (*shared).clone());
            for (key, value) in earlier {
                layer.entry(key).or_insert(value);
            }
        }
        if layer.is_empty() {
            return None;
        }
        let layer = Arc::new(layer);
        let committed = Arc::new(AtomicBool::new(false));
        self.frozen
            .push(Frozen { layer: Arc::clone(&layer), committed: Arc::clone(&committed) });
        Some(TableChange { table: self.id, layer, committed })
    }

    fn forget_committed(&mut self) {
        self.frozen.retain(|frozen| !frozen.committed.load(Ordering::Acquire));
    }

    /// All layers, newest first.
    fn layers(&self) -> Vec<&Layer> {
        let shared = self.shared.iter().rev().map(|layer| &**layer);
        let frozen = self.frozen.iter().rev().map(|frozen| &*frozen.layer);
        std::iter::once(&self.current).chain(shared).chain(frozen).collect()
    }

    /// What the layers say of `key`; `None` if they say nothing.
    fn in_layers(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        let shared = self.shared.iter().rev().map(|layer| &**layer);
        let frozen = self.frozen.iter().rev().map(|frozen| &*frozen.layer);
        std::iter::once(&self.current)
            .chain(shared)
            .chain(frozen)
            .find_map(|layer| layer.get(key))
            .map(Option::as_deref)
    }
}

/// Entries read from the store at a time while scanning.
const SCAN_ENTRIES: usize = 1024;

/// A table at one moment, uncommitted writes included.
pub struct TableReader {
    id: TableId,
    /// Oldest first.
    layers: Vec<Arc<Layer>>,
    snapshot: Arc<Snapshot>,
}

impl TableReader {
    /// Every entry with a key from `from` up to but without `to` (`None`: the end), given to
    /// `visit` until it returns false.
    pub fn scan(
        &self,
        from: &[u8],
        to: Option<&[u8]>,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), StateError> {
        let layers: Vec<&Layer> = self.layers.iter().rev().map(|layer| &**layer).collect();
        let read = |from: Bound<&[u8]>| self.snapshot.page(self.id, from, to, SCAN_ENTRIES);
        merge(&layers, from, to, &read, visit)
    }

    /// The values of `keys`.
    pub fn get_many(
        &self,
        keys: &[impl AsRef<[u8]>],
    ) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        let mut values = self.snapshot.get_many(self.id, keys)?;
        for layer in &self.layers {
            for (key, value) in keys.iter().zip(&mut values) {
                if let Some(newer) = layer.get(key.as_ref()) {
                    *value = newer.as_deref().map(<[u8]>::to_vec);
                }
            }
        }
        Ok(values)
    }
}

fn layer_range<'a>(from: &'a [u8], to: Option<&'a [u8]>) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
    (Bound::Included(from), to.map_or(Bound::Unbounded, Bound::Excluded))
}

/// Gives the entries of `[from, to)` of `layers` (newest first) over the store's pages in order.
fn merge(
    layers: &[&Layer],
    from: &[u8],
    to: Option<&[u8]>,
    read: &dyn Fn(Bound<&[u8]>) -> Result<Page, StateError>,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
) -> Result<(), StateError> {
    let mut changes: BTreeMap<&[u8], Option<&[u8]>> = BTreeMap::new();
    for layer in layers {
        for (key, value) in layer.range::<[u8], _>(layer_range(from, to)) {
            changes.entry(key).or_insert(value.as_deref());
        }
    }
    let mut changes = changes.into_iter().peekable();
    let mut page = read(Bound::Included(from))?;
    loop {
        for (key, value) in page.entries() {
            while let Some((changed, new)) = changes.next_if(|(changed, _)| *changed < key) {
                if new.is_some_and(|new| !visit(changed, new)) {
                    return Ok(());
                }
            }
            let visited = match changes.next_if(|(changed, _)| *changed == key) {
                Some((_, None)) => true,
                Some((_, Some(new))) => visit(key, new),
                None => visit(key, value),
            };
            if !visited {
                return Ok(());
            }
        }
        match page.last_key() {
            Some(last) if page.more => page = read(Bound::Excluded(last))?,
            _ => break,
        }
    }
    for (changed, new) in changes {
        if new.is_some_and(|new| !visit(changed, new)) {
            return Ok(());
        }
    }
    Ok(())
}
