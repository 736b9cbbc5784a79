//! The store: one atomic commit an epoch, and the snapshot that all readers of it share.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::{Mutex, RwLock};

use super::changelog::{self, ChangelogEntry};
use super::rocks::{Family, Page, Range, Rocks, RocksSnapshot};
use super::{Pending, StateError, Table, TableChange};
use crate::clock;
use crate::failpoint;
use crate::metrics;
use crate::types::{Delta, Epoch, ObjectId, TableId};

/// A table with fewer bytes in files is not measured by them.
const SIZED_BYTES_MIN: u64 = 4 << 20;

const META_FORMAT: &[u8] = b"format";
const META_EPOCH: &[u8] = b"epoch";
const FORMAT: &[u8] = b"4";

/// How to open a store.
#[derive(Debug, Clone, Copy)]
pub struct StoreOptions {
    /// Bytes of RocksDB's block cache.
    pub cache_bytes: usize,
    /// Bytes of changes that an epoch may have in memory.
    pub epoch_bytes_max: usize,
}

/// A key and its value.
pub type Entry = (Vec<u8>, Vec<u8>);

/// A metadata entry; no value deletes it.
pub type MetaEntry = (Vec<u8>, Option<Vec<u8>>);

/// Everything that becomes durable and visible at once.
#[derive(Debug, Default)]
pub struct Commit {
    /// The attached graph's epoch, if this commit ends one.
    pub epoch: Option<Epoch>,
    pub changes: Vec<TableChange>,
    pub changelog: Vec<ChangelogEntry>,
    pub meta: Vec<MetaEntry>,
    /// Objects all of whose tables and changelog go.
    pub dropped: Vec<ObjectId>,
    /// Changelogs that nobody needs up to and including an epoch.
    pub truncated: Vec<(ObjectId, Epoch)>,
}

/// What a commit wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    pub bytes: usize,
    /// Bytes of each object's changelog.
    pub changelog: BTreeMap<ObjectId, u64>,
}

/// The open store. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    rocks: Rocks,
    pending: Pending,
    /// Commits are one after the other, so that snapshots are published in their order.
    committing: Mutex<()>,
    latest: RwLock<Arc<Snapshot>>,
}

/// The store at one moment. Holding it keeps old versions on disk: for the length of a query.
pub struct Snapshot {
    rocks: RocksSnapshot,
    epoch: Epoch,
}

/// What an object takes on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectSize {
    pub bytes: u64,
}

impl Store {
    /// Opens the store in `path`, creating it if there is none.
    pub fn open(path: &Path, options: StoreOptions) -> Result<Self, StateError> {
        let rocks = Rocks::open(path, options.cache_bytes)?;
        let found = rocks.multi_get(Family::Meta, [META_FORMAT, META_EPOCH].into_iter())?;
        match found[0].as_deref() {
            Some(FORMAT) => {}
            None => {
                let mut batch = rocks.batch();
                batch.put(Family::Meta, META_FORMAT, FORMAT);
                batch.write()?;
            }
            Some(other) => {
                return Err(StateError::Corrupt {
                    place: path.display().to_string(),
                    reason: format!(
                        "written in format {}, this server reads format {}",
                        String::from_utf8_lossy(other),
                        String::from_utf8_lossy(FORMAT)
                    ),
                });
            }
        }
        let epoch = match &found[1] {
            None => Epoch(0),
            Some(bytes) => {
                Epoch(u64::from_be_bytes(bytes.as_slice().try_into().map_err(|_| {
                    StateError::Corrupt { place: "meta epoch".into(), reason: "not 8 bytes".into() }
                })?))
            }
        };
        let latest = Arc::new(Snapshot { rocks: rocks.snapshot(), epoch });
        let latest = RwLock::new(latest);
        let pending = Pending::new(options.epoch_bytes_max);
        Ok(Self { inner: Arc::new(Inner { rocks, pending, committing: Mutex::new(()), latest }) })
    }

    /// The newest committed moment; all callers until the next commit share it.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.inner.latest.read())
    }

    /// The newest committed epoch.
    pub fn epoch(&self) -> Epoch {
        self.inner.latest.read().epoch
    }

    /// What the epochs that have not ended write.
    pub fn pending(&self) -> &Pending {
        &self.inner.pending
    }

    /// A handle on a state table. A table has one handle at a time that writes.
    pub fn table(&self, id: TableId) -> Table {
        Table::new(self.clone(), id)
    }

    /// Makes everything in `commit` durable and visible in one atomic write; blocks for the disk.
    pub fn commit(&self, commit: Commit) -> Result<Written, StateError> {
        let _one_at_a_time = self.inner.committing.lock();
        let started = clock::moment();
        let mut batch = self.inner.rocks.batch();
        for object in &commit.dropped {
            let (from, to) = object_range(*object);
            batch.delete_range(Family::State, &from, &to);
            batch.delete_range(Family::Changelog, &from, &to);
        }
        let mut key = Vec::new();
        for change in &commit.changes {
            for (row, value) in change.layer.iter() {
                key.clear();
                key.extend_from_slice(&change.table.to_bytes());
                key.extend_from_slice(row);
                match value {
                    Some(value) => batch.put(Family::State, &key, value),
                    None => batch.delete(Family::State, &key),
                }
            }
        }
        let mut written = BTreeMap::new();
        for (sequence, entry) in (0u32..).zip(&commit.changelog) {
            let key = changelog::key(entry.object, entry.epoch, sequence);
            let value = changelog::encode(&entry.delta)?;
            batch.put(Family::Changelog, &key, &value);
            *written.entry(entry.object).or_default() += (key.len() + value.len()) as u64;
        }
        for (object, epoch) in &commit.truncated {
            let from = changelog::key(*object, Epoch(0), 0);
            let to = changelog::key(*object, Epoch(epoch.0 + 1), 0);
            batch.delete_range(Family::Changelog, &from, &to);
        }
        for (key, value) in &commit.meta {
            match value {
                Some(value) => batch.put(Family::Meta, key, value),
                None => batch.delete(Family::Meta, key),
            }
        }
        let epoch = match commit.epoch {
            None => self.epoch(),
            Some(epoch) => {
                assert!(epoch > self.epoch(), "epochs are committed in order");
                batch.put(Family::Meta, META_EPOCH, &epoch.0.to_be_bytes());
                epoch
            }
        };
        let bytes = batch.bytes();
        failpoint::hit(failpoint::COMMIT_BEFORE);
        batch.write()?;
        failpoint::hit(failpoint::COMMIT_AFTER);
        let snapshot = Snapshot { rocks: self.inner.rocks.snapshot(), epoch };
        *self.inner.latest.write() = Arc::new(snapshot);
        // In this order: readers take the layers that are not committed, then the newest snapshot,
        // and would find what is in neither in none of them.
        for change in &commit.changes {
            change.committed.store(true, Ordering::Release);
        }
        metrics::COMMIT_SECONDS.observe(started.elapsed().as_secs_f64());
        metrics::COMMIT_BYTES.inc_by(bytes as u64);
        Ok(Written { bytes, changelog: written })
    }

    /// About how much of the disk an object's tables take.
    pub fn object_size(&self, object: ObjectId) -> ObjectSize {
        let (from, to) = object_range(object);
        ObjectSize { bytes: self.inner.rocks.size(&from, &to) }
    }

    /// About how much of the disk one table takes, in bytes.
    pub fn table_size(&self, table: TableId) -> u64 {
        let from = table.to_bytes();
        self.inner.rocks.size(&from, &successor(&from).unwrap_or_else(|| vec![u8::MAX; 9]))
    }

    /// About which part of a table's entries lie up to `key` (`vnode | row key`), from 0 to 1.
    pub fn part_up_to(&self, table: TableId, key: &[u8]) -> f64 {
        let from = table.to_bytes();
        let whole = self.table_size(table);
        if whole < SIZED_BYTES_MIN {
            // What is not in files yet has no size: rows are spread evenly over vnodes.
            return key.first().map_or(0.0, |vnode| f64::from(*vnode) / 256.0);
        }
        let part = self.inner.rocks.size(&from, &full_key(table, key));
        (part as f64 / whole as f64).min(1.0)
    }

    pub(super) fn get_newest<'k>(
        &self,
        keys: impl Iterator<Item = &'k [u8]>,
    ) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        self.inner.rocks.multi_get(Family::State, keys)
    }

    pub(super) fn page_newest(&self, range: &Range<'_>) -> Result<Page, StateError> {
        self.inner.rocks.page(Family::State, range)
    }
}

impl Snapshot {
    /// The newest epoch it shows.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Values of `keys` (`vnode | row key`) of `table`.
    pub fn get_many(
        &self,
        table: TableId,
        keys: &[impl AsRef<[u8]>],
    ) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        let full: Vec<Vec<u8>> = keys.iter().map(|key| full_key(table, key.as_ref())).collect();
        self.rocks.multi_get(Family::State, full.iter().map(Vec::as_slice))
    }

    /// Up to `entries_max` entries of `table` with keys from `from` up to but without `to`
    /// (`None`: to the end). Keys in the page are `vnode | row key`.
    pub fn page(
        &self,
        table: TableId,
        from: Bound<&[u8]>,
        to: Option<&[u8]>,
        entries_max: usize,
    ) -> Result<Page, StateError> {
        let bounds = full_bounds(table, from, to);
        self.rocks.page(Family::State, &bounds.range(entries_max, false))
    }

    /// The state tables of `object` that have entries.
    pub fn tables(&self, object: ObjectId) -> Result<Vec<TableId>, StateError> {
        let (first, end) = object_range(object);
        let mut from = first.to_vec();
        let mut tables = Vec::new();
        loop {
            let range = Range {
                from: Bound::Included(&from),
                to: Some(&end),
                entries_max: 1,
                reverse: false,
                strip: 0,
            };
            let page = self.rocks.page(Family::State, &range)?;
            let prefix = page.last_key().and_then(|key| <[u8; 8]>::try_from(key.get(..8)?).ok());
            let Some(prefix) = prefix else { return Ok(tables) };
            tables.push(TableId::from_bytes(prefix));
            match successor(&prefix) {
                Some(next) => from = next,
                None => return Ok(tables),
            }
        }
    }

    /// How many entries `table` has, if at most `entries_max`.
    pub fn count(&self, table: TableId, entries_max: usize) -> Result<Option<usize>, StateError> {
        let mut count = 0;
        let mut last: Option<Vec<u8>> = None;
        loop {
            let from = last.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let page = self.page(table, from, None, 8192)?;
            count += page.len();
            if count > entries_max {
                return Ok(None);
            }
            match page.last_key() {
                Some(key) if page.more => last = Some(key.to_vec()),
                _ => return Ok(Some(count)),
            }
        }
    }

    /// A metadata value.
    pub fn meta(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.rocks.multi_get(Family::Meta, [key].into_iter())?.pop().flatten())
    }

    /// All metadata whose key starts with `prefix`, in key order.
    pub fn meta_with_prefix(&self, prefix: &[u8]) -> Result<Vec<Entry>, StateError> {
        self.all(Family::Meta, prefix)
    }

    /// The changes of `object` in the epochs after `after`, up to `entries_max` deltas of whole
    /// epochs in order; `None` for the epoch when there are none.
    pub fn changelog(
        &self,
        object: ObjectId,
        after: Epoch,
        entries_max: usize,
    ) -> Result<Vec<(Epoch, Delta)>, StateError> {
        let from = changelog::key(object, Epoch(after.0 + 1), 0);
        let (_, to) = object_range(object);
        let range = Range {
            from: Bound::Included(&from),
            to: Some(&to),
            entries_max,
            reverse: false,
            strip: 0,
        };
        let page = self.rocks.page(Family::Changelog, &range)?;
        let mut entries = page
            .entries()
            .map(|(key, value)| Ok((changelog::epoch_of(key)?, changelog::decode(value)?)))
            .collect::<Result<Vec<_>, StateError>>()?;
        if page.more {
            self.complete_last_epoch(&page, &to, &mut entries)?;
        }
        Ok(entries)
    }

    /// A page may end in the middle of an epoch: reads the rest of that epoch.
    fn complete_last_epoch(
        &self,
        page: &Page,
        to: &[u8],
        entries: &mut Vec<(Epoch, Delta)>,
    ) -> Result<(), StateError> {
        let (Some(last), Some((epoch, _))) = (page.last_key(), entries.last()) else {
            return Ok(());
        };
        let epoch = *epoch;
        let range = Range {
            from: Bound::Excluded(last),
            to: Some(to),
            entries_max: usize::MAX,
            reverse: false,
            strip: 0,
        };
        for (key, value) in self.rocks.page(Family::Changelog, &range)?.entries() {
            if changelog::epoch_of(key)? != epoch {
                break;
            }
            entries.push((epoch, changelog::decode(value)?));
        }
        Ok(())
    }

    fn all(&self, family: Family, prefix: &[u8]) -> Result<Vec<Entry>, StateError> {
        let end = successor(prefix);
        let mut found: Vec<Entry> = Vec::new();
        loop {
            let from = match found.last() {
                None => Bound::Included(prefix),
                Some((last, _)) => Bound::Excluded(last.as_slice()),
            };
            let range =
                Range { from, to: end.as_deref(), entries_max: 1024, reverse: false, strip: 0 };
            let page = self.rocks.page(family, &range)?;
            found.extend(page.entries().map(|(key, value)| (key.to_vec(), value.to_vec())));
            if !page.more {
                return Ok(found);
            }
        }
    }
}

/// Bytes of a table's id before each of its keys.
const PREFIX: usize = 8;

/// Bounds of a table's keys with the table's prefix.
pub(super) struct FullBounds {
    from: Bound<Vec<u8>>,
    to: Option<Vec<u8>>,
}

impl FullBounds {
    pub(super) fn range(&self, entries_max: usize, reverse: bool) -> Range<'_> {
        let from = match &self.from {
            Bound::Included(from) => Bound::Included(from.as_slice()),
            Bound::Excluded(from) => Bound::Excluded(from.as_slice()),
            Bound::Unbounded => Bound::Unbounded,
        };
        Range { from, to: self.to.as_deref(), entries_max, reverse, strip: PREFIX }
    }
}

pub(super) fn full_bounds(table: TableId, from: Bound<&[u8]>, to: Option<&[u8]>) -> FullBounds {
    let from = match from {
        Bound::Included(from) => Bound::Included(full_key(table, from)),
        Bound::Excluded(from) => Bound::Excluded(full_key(table, from)),
        Bound::Unbounded => Bound::Included(table.to_bytes().to_vec()),
    };
    let to = match to {
        Some(to) => Some(full_key(table, to)),
        None => successor(&table.to_bytes()),
    };
    FullBounds { from, to }
}

pub(super) fn full_key(table: TableId, key: &[u8]) -> Vec<u8> {
    let mut full = Vec::with_capacity(8 + key.len());
    full.extend_from_slice(&table.to_bytes());
    full.extend_from_slice(key);
    full
}

/// The least byte string after all that start with `prefix`; none if there is no such.
pub(super) fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let keep = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut next = prefix[..=keep].to_vec();
    next[keep] += 1;
    Some(next)
}

fn object_range(object: ObjectId) -> ([u8; 4], [u8; 4]) {
    (object.0.to_be_bytes(), (object.0 + 1).to_be_bytes())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch};
    use arrow::datatypes::{DataType, Field, Schema};

    use super::*;

    const OBJECT: ObjectId = ObjectId(16400);

    fn open(path: &Path) -> Result<Store, StateError> {
        Store::open(path, StoreOptions { cache_bytes: 1 << 20, epoch_bytes_max: usize::MAX })
    }

    fn delta(values: Vec<i64>) -> Delta {
        let schema = Arc::new(Schema::new(vec![Field::new("k", DataType::Int64, true)]));
        let column: ArrayRef = Arc::new(Int64Array::from(values));
        Delta::inserts(RecordBatch::try_new(schema, vec![column]).expect("columns fit"))
    }

    fn entry(epoch: u64, value: i64) -> ChangelogEntry {
        ChangelogEntry { object: OBJECT, epoch: Epoch(epoch), delta: delta(vec![value]) }
    }

    #[test]
    fn a_commit_is_there_after_a_restart_and_metadata_has_the_bytes_of_format_3() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path()).expect("opens");
        assert_eq!(store.epoch(), Epoch(0));
        let before = store.snapshot();
        let mut table = store.table(TableId::contents(OBJECT));
        table.put(b"k", b"v");
        let commit = Commit {
            epoch: Some(Epoch(258)),
            changes: table.freeze().into_iter().collect(),
            changelog: vec![entry(258, 5)],
            meta: vec![(b"a".to_vec(), Some(b"1".to_vec())), (b"b".to_vec(), None)],
            ..Commit::default()
        };
        assert!(store.commit(commit).expect("commits").bytes > 0);
        assert_eq!(before.meta(b"a").expect("reads"), None, "a snapshot does not move");
        assert!(matches!(open(folder.path()), Err(StateError::Locked { .. })));
        drop((table, before, store));

        let store = open(folder.path()).expect("opens again");
        let snapshot = store.snapshot();
        assert_eq!(snapshot.epoch(), Epoch(258));
        assert_eq!(snapshot.meta(b"format").expect("reads"), Some(b"4".to_vec()));
        let epoch = [0, 0, 0, 0, 0, 0, 1, 2];
        assert_eq!(snapshot.meta(b"epoch").expect("reads"), Some(epoch.to_vec()));
        assert_eq!(snapshot.meta_with_prefix(b"a").expect("reads").len(), 1);
        assert_eq!(snapshot.tables(OBJECT).expect("reads"), [TableId::contents(OBJECT)]);
        let page = snapshot.page(TableId::contents(OBJECT), Bound::Unbounded, None, 10);
        let page = page.expect("reads");
        assert_eq!(page.entries().collect::<Vec<_>>(), [(&b"k"[..], &b"v"[..])]);
        assert_eq!(snapshot.changelog(OBJECT, Epoch(0), 10).expect("reads").len(), 1);
    }

    #[test]
    fn another_format_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path()).expect("opens");
        let meta = vec![(META_FORMAT.to_vec(), Some(b"1".to_vec()))];
        store.commit(Commit { meta, ..Commit::default() }).expect("commits");
        drop(store);
        assert!(matches!(open(folder.path()), Err(StateError::Corrupt { .. })));
    }

    #[test]
    fn a_changelog_is_read_in_whole_epochs_truncated_and_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = open(folder.path()).expect("opens");
        for epoch in 1..=3 {
            let changelog = (0..4).map(|value| entry(epoch, value)).collect();
            let epoch = Some(Epoch(epoch));
            store.commit(Commit { epoch, changelog, ..Commit::default() }).expect("commits");
        }
        let epochs = |after: u64, entries_max: usize| -> Vec<u64> {
            let read = store.snapshot().changelog(OBJECT, Epoch(after), entries_max);
            read.expect("reads").into_iter().map(|(epoch, _)| epoch.0).collect()
        };
        assert_eq!(epochs(0, 6), [1, 1, 1, 1, 2, 2, 2, 2]);
        assert_eq!(epochs(0, 4), [1, 1, 1, 1]);
        assert_eq!(epochs(2, 100), [3, 3, 3, 3]);
        let truncated = vec![(OBJECT, Epoch(2))];
        store.commit(Commit { truncated, ..Commit::default() }).expect("commits");
        assert_eq!(epochs(0, 100), [3, 3, 3, 3]);
        store.commit(Commit { dropped: vec![OBJECT], ..Commit::default() }).expect("commits");
        assert!(epochs(0, 100).is_empty());
    }
}
