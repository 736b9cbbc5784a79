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

use std::collections::{BTreeMap, btree_map};
use std::iter::{Peekable, Rev};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::pending::PendingShare;
use super::rocks::Page;
use super::store::{Entry, full_bounds, successor};
use super::{Snapshot, StateError, Store};
use crate::types::TableId;
use crate::types::key::KeyArena;

/// Changes by key (`vnode | row key`); no value deletes.
pub(super) type Layer = BTreeMap<Box<[u8]>, Option<Box<[u8]>>>;

/// Takes a key and its value; false to end.
pub type Visit<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> bool;

/// The changes of a layer in a range.
type LayerRange<'a> = btree_map::Range<'a, Box<[u8]>, Option<Box<[u8]>>>;

/// Reads up to so many entries of the store from a key on, or before it where the scan goes back.
type ReadPage<'a> = &'a dyn Fn(Bound<&[u8]>, usize) -> Result<Page, StateError>;

/// A handle on a state table.
pub struct Table {
    id: TableId,
    store: Store,
    current: Layer,
    pending: PendingShare,
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
        let pending = store.pending().share();
        let (current, shared, frozen) = Default::default();
        Self { id, store, current, pending, shared, frozen }
    }

    pub fn id(&self) -> TableId {
        self.id
    }

    /// Whether something was written that is not frozen yet.
    pub fn has_pending(&self) -> bool {
        !self.current.is_empty() || !self.shared.is_empty()
    }

    /// Writes a row. Keys are `vnode | row key`.
    pub fn put(&mut self, key: &[u8], value: &[u8]) {
        self.write(key, Some(value));
    }

    pub fn delete(&mut self, key: &[u8]) {
        self.write(key, None);
    }

    fn write(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.pending.add(key, value.unwrap_or_default());
        if let Some(before) = self.current.insert(key.into(), value.map(Box::from)) {
            self.pending.take_back(key, before.as_deref().unwrap_or_default());
        }
    }

    /// The values of `keys`, in their order, with one look into the store.
    pub fn get_many(
        &mut self,
        keys: &[impl AsRef<[u8]>],
    ) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        self.forget_committed();
        let mut values: Vec<Option<Vec<u8>>> = Vec::with_capacity(keys.len());
        let mut missing = Vec::new();
        let mut missing_keys = KeyArena::default();
        let prefix = self.id.to_bytes();
        for (index, key) in keys.iter().enumerate() {
            match self.in_layers(key.as_ref()) {
                Some(value) => values.push(value.map(<[u8]>::to_vec)),
                None => {
                    values.push(None);
                    missing.push(index);
                    missing_keys.push(&[&prefix, key.as_ref()]);
                }
            }
        }
        if !missing.is_empty() {
            let found = self.store.get_newest(missing_keys.iter())?;
            for (index, value) in missing.into_iter().zip(found) {
                values[index] = value;
            }
        }
        Ok(values)
    }

    /// Every entry whose key starts with `prefix`, in key order, given to `visit` until it returns
    /// false.
    pub fn scan_prefix(&mut self, prefix: &[u8], visit: Visit<'_>) -> Result<(), StateError> {
        self.scan_from(prefix, prefix, visit)
    }

    /// As [`Table::scan_prefix`], from key `from` on.
    pub fn scan_from(
        &mut self,
        prefix: &[u8],
        from: &[u8],
        visit: Visit<'_>,
    ) -> Result<(), StateError> {
        self.forget_committed();
        let layers = self.layers();
        let end = successor(prefix);
        let read = |from: Bound<&[u8]>, entries| {
            let bounds = full_bounds(self.id, from, end.as_deref());
            self.store.page_newest(&bounds.range(entries, false))
        };
        let changes = Changes::new(&layers, from, end.as_deref(), false);
        merge(changes, Bound::Included(from), &read, visit)
    }

    /// Every entry whose key starts with `prefix` and comes before `end` (`None`: all), the
    /// greatest key first, given to `visit` until it returns false.
    pub fn scan_back(
        &mut self,
        prefix: &[u8],
        end: Option<&[u8]>,
        visit: Visit<'_>,
    ) -> Result<(), StateError> {
        self.forget_committed();
        let layers = self.layers();
        let end = end.map(<[u8]>::to_vec).or_else(|| successor(prefix));
        let read = |end: Bound<&[u8]>, entries| {
            let end = match end {
                Bound::Included(end) | Bound::Excluded(end) => Some(end),
                Bound::Unbounded => None,
            };
            let bounds = full_bounds(self.id, Bound::Included(prefix), end);
            self.store.page_newest(&bounds.range(entries, true))
        };
        let from = end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        merge(Changes::new(&layers, prefix, end.as_deref(), true), from, &read, visit)
    }

    /// The entry with the greatest key that starts with `prefix`.
    pub fn last_with_prefix(&mut self, prefix: &[u8]) -> Result<Option<Entry>, StateError> {
        let mut last = None;
        self.scan_back(prefix, None, &mut |key, value| {
            last = Some((key.to_vec(), value.to_vec()));
            false
        })?;
        Ok(last)
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
        self.pending.end();
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
        self.frozen.push(Frozen { layer: Arc::clone(&layer), committed: Arc::clone(&committed) });
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

/// Entries read from the store at a time while scanning, at the most.
const SCAN_ENTRIES: usize = 1024;
/// ... and at first.
const FIRST_ENTRIES: usize = 16;

/// A table at one moment, uncommitted writes included.
pub struct TableReader {
    id: TableId,
    /// Oldest first.
    layers: Vec<Arc<Layer>>,
    snapshot: Arc<Snapshot>,
}

impl TableReader {
    /// What is committed of it.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// The keys of writes that may not be in the snapshot.
    pub fn pending_keys(&self) -> impl Iterator<Item = &[u8]> {
        self.layers.iter().flat_map(|layer| layer.keys()).map(|key| &**key)
    }

    /// Every entry with a key from `from` up to but without `to` (`None`: the end), given to
    /// `visit` until it returns false.
    pub fn scan(&self, from: &[u8], to: Option<&[u8]>, visit: Visit<'_>) -> Result<(), StateError> {
        let layers: Vec<&Layer> = self.layers.iter().rev().map(|layer| &**layer).collect();
        let read = |from: Bound<&[u8]>, entries| self.snapshot.page(self.id, from, to, entries);
        merge(Changes::new(&layers, from, to, false), Bound::Included(from), &read, visit)
    }

    /// The values of `keys`.
    pub fn get_many(&self, keys: &[impl AsRef<[u8]>]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
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

/// What the layers (newest first) say of a range, in key order or against it: deletions included.
struct Changes<'a> {
    layers: Vec<Peekable<LayerIter<'a>>>,
    /// Whether the greatest key comes first.
    back: bool,
}

/// A layer's changes, in either order.
enum LayerIter<'a> {
    Forward(LayerRange<'a>),
    Back(Rev<LayerRange<'a>>),
}

impl<'a> Iterator for LayerIter<'a> {
    type Item = (&'a Box<[u8]>, &'a Option<Box<[u8]>>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Forward(range) => range.next(),
            Self::Back(range) => range.next(),
        }
    }
}

impl<'a> Changes<'a> {
    fn new(layers: &[&'a Layer], from: &[u8], to: Option<&[u8]>, back: bool) -> Self {
        let ordered = |layer: &&'a Layer| {
            let range = layer.range::<[u8], _>(layer_range(from, to));
            match back {
                false => LayerIter::Forward(range).peekable(),
                true => LayerIter::Back(range.rev()).peekable(),
            }
        };
        Self { layers: layers.iter().map(ordered).collect(), back }
    }

    /// Whether `one` comes before `other`.
    fn precedes(&self, one: &[u8], other: &[u8]) -> bool {
        if self.back { one > other } else { one < other }
    }

    fn peek(&mut self) -> Option<&'a [u8]> {
        let back = self.back;
        let keys = self.layers.iter_mut().filter_map(|layer| layer.peek().map(|(key, _)| &***key));
        if back { keys.max() } else { keys.min() }
    }

    /// The next key, if `wanted`, and its newest value.
    fn next_if(
        &mut self,
        wanted: impl FnOnce(&Self, &[u8]) -> bool,
    ) -> Option<(&'a [u8], Option<&'a [u8]>)> {
        let next = self.peek()?;
        if !wanted(self, next) {
            return None;
        }
        let mut newest = None;
        for layer in &mut self.layers {
            if let Some((_, value)) = layer.next_if(|(key, _)| ***key == *next) {
                newest = newest.or(Some(value.as_deref()));
            }
        }
        Some((next, newest.flatten()))
    }
}

/// Gives the entries of a range: `changes` over the store's pages, in the order of `changes`.
/// `read` gives the page of so many entries that begins at a bound: the first are small, as many
/// scans stop early.
fn merge(
    mut changes: Changes<'_>,
    from: Bound<&[u8]>,
    read: ReadPage<'_>,
    visit: Visit<'_>,
) -> Result<(), StateError> {
    let mut entries_max = FIRST_ENTRIES;
    let mut page = read(from, entries_max)?;
    loop {
        for (key, value) in page.entries() {
            while let Some((changed, new)) =
                changes.next_if(|changes, changed| changes.precedes(changed, key))
            {
                if new.is_some_and(|new| !visit(changed, new)) {
                    return Ok(());
                }
            }
            let visited = match changes.next_if(|_, changed| changed == key) {
                Some((_, None)) => true,
                Some((_, Some(new))) => visit(key, new),
                None => visit(key, value),
            };
            if !visited {
                return Ok(());
            }
        }
        entries_max = (entries_max * 8).min(SCAN_ENTRIES);
        match page.last_key() {
            Some(last) if page.more => page = read(Bound::Excluded(last), entries_max)?,
            _ => break,
        }
    }
    while let Some((changed, new)) = changes.next_if(|_, _| true) {
        if new.is_some_and(|new| !visit(changed, new)) {
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::state::{Commit, StoreOptions};
    use crate::types::ObjectId;

    const TABLE: TableId = TableId { object: ObjectId(7), operator: 1, role: 0 };

    fn open(folder: &TempDir) -> Store {
        Store::open(
            folder.path(),
            StoreOptions { cache_bytes: 1 << 20, epoch_bytes_max: usize::MAX },
        )
        .expect("opens")
    }

    fn scanned(table: &mut Table, prefix: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut found = Vec::new();
        let mut visit = |key: &[u8], value: &[u8]| {
            found.push((key.to_vec(), value.to_vec()));
            true
        };
        table.scan_prefix(prefix, &mut visit).expect("scans");
        found
    }

    fn commit(store: &Store, changes: Vec<TableChange>) {
        store.commit(Commit { changes, ..Commit::default() }).expect("commits");
    }

    #[derive(Debug, Clone)]
    enum Step {
        Put(Vec<u8>, u8),
        Delete(Vec<u8>),
        Freeze,
        Commit,
        Read,
    }

    fn any_key() -> impl Strategy<Value = Vec<u8>> {
        vec(prop_oneof![Just(0u8), Just(1), Just(255)], 1..4)
    }

    fn any_step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => (any_key(), any::<u8>()).prop_map(|(key, value)| Step::Put(key, value)),
            4 => any_key().prop_map(Step::Delete),
            2 => Just(Step::Freeze),
            1 => Just(Step::Commit),
            1 => Just(Step::Read),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        /// Whatever lies in which layer, a table is a map.
        #[test]
        fn a_table_is_a_map(steps in vec(any_step(), 0..80)) {
            let folder = tempfile::tempdir().expect("a folder");
            let store = open(&folder);
            let mut table = store.table(TABLE);
            let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
            let mut frozen = Vec::new();
            for step in steps {
                match step {
                    Step::Put(key, value) => {
                        table.put(&key, &[value]);
                        model.insert(key, vec![value]);
                    }
                    Step::Delete(key) => {
                        table.delete(&key);
                        model.remove(&key);
                    }
                    Step::Freeze => frozen.extend(table.freeze()),
                    Step::Commit => commit(&store, std::mem::take(&mut frozen)),
                    Step::Read => {
                        let reader = table.reader();
                        let mut read = BTreeMap::new();
                        let mut visit = |key: &[u8], value: &[u8]| {
                            read.insert(key.to_vec(), value.to_vec());
                            true
                        };
                        reader.scan(&[], None, &mut visit).expect("scans");
                        prop_assert_eq!(&read, &model);
                    }
                }
                for prefix in [&[][..], &[0], &[0, 1], &[255], &[255, 255]] {
                    let expected: Vec<_> = model
                        .iter()
                        .filter(|(key, _)| key.starts_with(prefix))
                        .map(|(key, value)| (key.clone(), value.clone()))
                        .collect();
                    prop_assert_eq!(scanned(&mut table, prefix), expected.clone());
                    let mut back = Vec::new();
                    table
                        .scan_back(prefix, None, &mut |key, value| {
                            back.push((key.to_vec(), value.to_vec()));
                            true
                        })
                        .expect("scans");
                    back.reverse();
                    prop_assert_eq!(&back, &expected);
                    let last = table.last_with_prefix(prefix).expect("reads");
                    let between = prefix.iter().copied().chain([1]).collect::<Vec<_>>();
                    let (mut before, mut after) = (Vec::new(), Vec::new());
                    let mut visit = |key: &[u8], _: &[u8]| {
                        before.push(key.to_vec());
                        true
                    };
                    table.scan_back(prefix, Some(&between), &mut visit).expect("scans");
                    let mut visit = |key: &[u8], _: &[u8]| {
                        after.push(key.to_vec());
                        true
                    };
                    table.scan_from(prefix, &between, &mut visit).expect("scans");
                    before.reverse();
                    let all: Vec<_> = expected.iter().map(|(key, _)| key.clone()).collect();
                    let split = all.partition_point(|key| *key < between);
                    prop_assert_eq!(before, all[..split].to_vec());
                    prop_assert_eq!(after, all[split..].to_vec());
                    prop_assert_eq!(last, expected.last().cloned());
                }
                let keys: Vec<_> = model.keys().cloned().chain([vec![9]]).collect();
                let expected: Vec<_> = keys.iter().map(|key| model.get(key).cloned()).collect();
                prop_assert_eq!(table.get_many(&keys).expect("reads"), expected);
            }
        }
    }

    #[test]
    fn a_frozen_change_is_seen_before_and_after_its_commit_and_in_a_new_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(&folder);
        let mut table = store.table(TABLE);
        let many: Vec<[u8; 3]> = (0..5000u16).map(|n| [7, (n >> 8) as u8, n as u8]).collect();
        many.iter().for_each(|key| table.put(key, key));
        assert!(table.has_pending());
        let change = table.freeze().expect("there is a change");
        assert_eq!((change.entries(), table.has_pending()), (5000, false));
        assert!(table.freeze().is_none());
        assert_eq!(scanned(&mut table, &[7]).len(), 5000);
        commit(&store, vec![change]);
        table.delete(&many[17]);
        assert_eq!(scanned(&mut table, &[7]).len(), 4999);
        drop((table, store));
        let store = open(&folder);
        let mut table = store.table(TABLE);
        assert_eq!(scanned(&mut table, &[7]).len(), 5000, "what was not frozen is gone");
        assert_eq!(table.get_many(&[many[17]]).expect("reads"), [Some(many[17].to_vec())]);
        let mut first = 0;
        let mut visit = |_: &[u8], _: &[u8]| {
            first += 1;
            first < 3
        };
        table.scan_prefix(&[7], &mut visit).expect("scans");
        assert_eq!(first, 3, "a scan stops when it is told to");
    }

    #[test]
    fn a_reader_does_not_see_what_comes_later() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(&folder);
        let mut table = store.table(TABLE);
        table.put(b"a", b"1");
        let reader = table.reader();
        table.put(b"a", b"2");
        table.put(b"b", b"2");
        assert_eq!(reader.get_many(&["a", "b"]).expect("reads"), [Some(b"1".to_vec()), None],);
        let change = table.freeze().expect("there is a change");
        commit(&store, vec![change]);
        assert_eq!(reader.get_many(&["a"]).expect("reads"), [Some(b"1".to_vec())]);
        assert_eq!(table.get_many(&["a"]).expect("reads"), [Some(b"2".to_vec())]);
    }
}
