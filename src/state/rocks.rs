//! RocksDB, and nothing else: column families, write batches, pinned snapshots, pages of a range.
//!
//! Readers page through ranges and seek again for each page, so that no iterator outlives a call
//! and memory is bounded by the page, whatever the range.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamily, ColumnFamilyDescriptor, DB, DBCompressionType,
    DBRawIterator, Options, ReadOptions, WriteBatch, WriteOptions,
};

use super::StateError;

/// A column family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    State,
    Changelog,
    Meta,
}

impl Family {
    const ALL: [Family; 3] = [Family::State, Family::Changelog, Family::Meta];

    fn name(self) -> &'static str {
        match self {
            Family::State => "state",
            Family::Changelog => "changelog",
            Family::Meta => "meta",
        }
    }
}

/// The open database. Cheap to clone.
#[derive(Clone)]
pub(super) struct Rocks {
    db: Arc<DB>,
}

type PinnedSnapshot<'a> = rocksdb::Snapshot<'a>;

self_cell::self_cell!(
    struct SnapshotCell {
        owner: Arc<DB>,
        #[not_covariant]
        dependent: PinnedSnapshot,
    }
);

/// A view of the database at one moment; holds it open.
pub(super) struct RocksSnapshot {
    cell: SnapshotCell,
}

/// Entries of a range, in key order, in one allocation.
#[derive(Debug, Default)]
pub struct Page {
    bytes: Vec<u8>,
    /// End of each key and of each value in `bytes`.
    ends: Vec<(usize, usize)>,
    /// The range has more after the last entry.
    pub more: bool,
}

impl Page {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn key(&self, index: usize) -> &[u8] {
        &self.bytes[self.start(index)..self.ends[index].0]
    }

    pub fn value(&self, index: usize) -> &[u8] {
        &self.bytes[self.ends[index].0..self.ends[index].1]
    }

    pub fn last_key(&self) -> Option<&[u8]> {
        self.ends.len().checked_sub(1).map(|index| self.key(index))
    }

    pub fn entries(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        (0..self.len()).map(|index| (self.key(index), self.value(index)))
    }

    /// Adds an entry after the last.
    pub fn push(&mut self, key: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((key_end, self.bytes.len()));
    }

    fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1].1 }
    }
}

/// A range of keys and how much of it to read.
pub(super) struct Range<'a> {
    pub(super) from: Bound<&'a [u8]>,
    /// Exclusive.
    pub(super) to: Option<&'a [u8]>,
    pub(super) entries_max: usize,
    pub(super) reverse: bool,
    /// Bytes that all keys begin with, and that the page leaves out.
    pub(super) strip: usize,
}

/// A page ends when it has this many bytes, whatever its number of entries.
const PAGE_BYTES_MAX: usize = 4 << 20;

impl Rocks {
    /// Opens or creates the database in `path`, with `cache_bytes` of block cache.
    pub(super) fn open(path: &Path, cache_bytes: usize) -> Result<Self, StateError> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.create_missing_column_families(true);
        options.set_max_background_jobs(2);
        options.set_max_total_wal_size(256 << 20);
        // Opening must not grow with the state: files are opened when they are read.
        options.set_max_open_files(1024);
        options.set_skip_stats_update_on_db_open(true);
        options.set_keep_log_file_num(2);
        options.set_max_log_file_size(8 << 20);

        let cache = Cache::new_lru_cache(cache_bytes);
        let families = Family::ALL.map(|family| {
            ColumnFamilyDescriptor::new(family.name(), family_options(family, &cache, cache_bytes))
        });
        let db = DB::open_cf_descriptors(&options, path, families).map_err(|error| {
            let text = error.to_string();
            if text.contains("lock") || text.contains("LOCK") {
                StateError::Locked { path: path.display().to_string() }
            } else {
                StateError::Storage(text)
            }
        })?;
        Ok(Self { db: Arc::new(db) })
    }

    fn family(&self, family: Family) -> &ColumnFamily {
        self.db.cf_handle(family.name()).expect("opened with all families")
    }

    pub(super) fn snapshot(&self) -> RocksSnapshot {
        RocksSnapshot { cell: SnapshotCell::new(Arc::clone(&self.db), |db| db.snapshot()) }
    }

    pub(super) fn batch(&self) -> Batch<'_> {
        Batch { rocks: self, batch: WriteBatch::default() }
    }

    /// The newest values of `keys`, in their order.
    pub(super) fn multi_get<'k>(
        &self,
        family: Family,
        keys: impl Iterator<Item = &'k [u8]>,
    ) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        let keys: Vec<&[u8]> = keys.collect();
        // RocksDB wants them sorted, and sorts by calls to a comparator.
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_unstable_by_key(|&index| keys[index]);
        let sorted: Vec<&[u8]> = order.iter().map(|&index| keys[index]).collect();
        let found = self.db.batched_multi_get_cf(self.family(family), &sorted, true);
        let mut values = vec![None; keys.len()];
        for (index, value) in order.into_iter().zip(found) {
            values[index] = value.map_err(storage)?.map(|value| value.to_vec());
        }
        Ok(values)
    }

    /// A page of the newest entries.
    pub(super) fn page(&self, family: Family, range: &Range<'_>) -> Result<Page, StateError> {
        let options = range_options(range);
        read_page(self.db.raw_iterator_cf_opt(self.family(family), options), range)
    }

    /// Approximate bytes on disk between two keys of the state, memory included.
    pub(super) fn size(&self, from: &[u8], to: &[u8]) -> u64 {
        let range = rocksdb::Range::new(from, to);
        self.db
            .get_approximate_sizes_cf(self.family(Family::State), &[range])
            .first()
            .copied()
            .unwrap_or(0)
    }
}

/// What is written is kept in memory up to this part of the cache, for each family, twice: while
/// one buffer goes to the disk the next one fills.
const BUFFER_SHARE: usize = 4;
const BUFFER_BYTES_MIN: usize = 4 << 20;

fn family_options(family: Family, cache: &Cache, cache_bytes: usize) -> Options {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(cache);
    blocks.set_bloom_filter(10.0, false);
    blocks.set_block_size(16 << 10);
    blocks.set_cache_index_and_filter_blocks(true);
    blocks.set_pin_l0_filter_and_index_blocks_in_cache(true);
    blocks.set_format_version(5);
    let mut options = Options::default();
    options.set_block_based_table_factory(&blocks);
    options.set_compression_type(DBCompressionType::Lz4);
    options.set_bottommost_compression_type(DBCompressionType::Zstd);
    options.set_level_compaction_dynamic_level_bytes(true);
    let buffer_max = if family == Family::State { 32 << 20 } else { 8 << 20 };
    let buffer = (cache_bytes / BUFFER_SHARE).clamp(BUFFER_BYTES_MIN, buffer_max);
    options.set_write_buffer_size(buffer);
    // Most keys that operators look for are not there: about ten bits for each entry of a memtable
    // answer that without a walk through it.
    options.set_memtable_whole_key_filtering(true);
    options.set_memtable_prefix_bloom_ratio(0.02);
    options
}

fn storage(error: rocksdb::Error) -> StateError {
    StateError::Storage(error.into_string())
}

fn range_options(range: &Range<'_>) -> ReadOptions {
    let mut options = ReadOptions::default();
    if let Some(to) = range.to {
        options.set_iterate_upper_bound(to);
    }
    options
}

fn read_page(mut iterator: DBRawIterator<'_>, range: &Range<'_>) -> Result<Page, StateError> {
    if range.reverse {
        iterator.seek_to_last();
    } else {
        match range.from {
            Bound::Unbounded => iterator.seek_to_first(),
            Bound::Included(from) => iterator.seek(from),
            Bound::Excluded(from) => {
                iterator.seek(from);
                if iterator.key() == Some(from) {
                    iterator.next();
                }
            }
        }
    }
    let before_start = |key: &[u8]| match range.from {
        Bound::Unbounded => false,
        Bound::Included(from) => key < from,
        Bound::Excluded(from) => key <= from,
    };
    let mut page = Page::default();
    while let (Some(key), Some(value)) = (iterator.key(), iterator.value()) {
        if range.reverse && before_start(key) {
            break;
        }
        if page.len() >= range.entries_max || page.bytes.len() >= PAGE_BYTES_MAX {
            page.more = true;
            break;
        }
        page.push(&key[range.strip..], value);
        if range.reverse { iterator.prev() } else { iterator.next() }
    }
    iterator.status().map_err(storage)?;
    Ok(page)
}

impl RocksSnapshot {
    pub(super) fn multi_get<'k>(
        &self,
        family: Family,
        keys: impl Iterator<Item = &'k [u8]>,
    ) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        self.cell.with_dependent(|db, snapshot| {
            let handle = db.cf_handle(family.name()).expect("opened with all families");
            snapshot
                .multi_get_cf(keys.map(|key| (handle, key)))
                .into_iter()
                .map(|value| value.map_err(storage))
                .collect()
        })
    }

    pub(super) fn page(&self, family: Family, range: &Range<'_>) -> Result<Page, StateError> {
        self.cell.with_dependent(|db, snapshot| {
            let handle = db.cf_handle(family.name()).expect("opened with all families");
            read_page(snapshot.raw_iterator_cf_opt(handle, range_options(range)), range)
        })
    }
}

/// Writes that become visible together, or not at all.
pub(super) struct Batch<'a> {
    rocks: &'a Rocks,
    batch: WriteBatch,
}

impl Batch<'_> {
    pub(super) fn put(&mut self, family: Family, key: &[u8], value: &[u8]) {
        self.batch.put_cf(self.rocks.family(family), key, value);
    }

    pub(super) fn delete(&mut self, family: Family, key: &[u8]) {
        self.batch.delete_cf(self.rocks.family(family), key);
    }

    /// Deletes `[from, to)`.
    pub(super) fn delete_range(&mut self, family: Family, from: &[u8], to: &[u8]) {
        self.batch.delete_range_cf(self.rocks.family(family), from, to);
    }

    pub(super) fn bytes(&self) -> usize {
        self.batch.size_in_bytes()
    }

    /// One atomic write, on disk when it returns.
    pub(super) fn write(self) -> Result<(), StateError> {
        let mut options = WriteOptions::default();
        options.set_sync(true);
        self.rocks.db.write_opt(self.batch, &options).map_err(storage)
    }
}
