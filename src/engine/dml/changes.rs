//! What one statement changes in one table: entries for the store, and the same as rows for the
//! views. They are applied to the transaction whole, or dropped.

use arrow::array::RecordBatch;

use crate::serving::Overlay;
use crate::types::Delta;

/// Bytes that an entry takes besides its key and value: two boxes and its place in the tree.
const ENTRY_BYTES: usize = 64;

/// Changes by storage key (`vnode | key`), and their deltas.
#[derive(Debug, Default)]
pub(super) struct Changes {
    entries: Overlay,
    deltas: Vec<Delta>,
    /// Where among the deltas rows are that went, followed by those that came in their places.
    pairs: Vec<usize>,
    bytes: usize,
}

impl Changes {
    /// What this statement did to `key`: nothing, deleted it, or gave it a value.
    pub(super) fn get(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.entries.get(key).map(Option::as_deref)
    }

    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) {
        self.bytes += key.len() + value.len() + ENTRY_BYTES;
        self.entries.insert(key.into(), Some(value.into()));
    }

    pub(super) fn delete(&mut self, key: &[u8]) {
        self.bytes += key.len() + ENTRY_BYTES;
        self.entries.insert(key.into(), None);
    }

    /// Rows that came, with the table's stored schema.
    pub(super) fn came(&mut self, rows: RecordBatch) {
        self.add(Delta::inserts(rows));
    }

    /// Rows that went.
    pub(super) fn went(&mut self, rows: RecordBatch) {
        self.add(Delta::deletes(rows));
    }

    /// Rows that went, and those that came in their places, one for one.
    pub(super) fn replaced(&mut self, old: RecordBatch, new: RecordBatch) {
        if old.num_rows() > 0 {
            self.pairs.push(self.deltas.len());
        }
        self.went(old);
        self.came(new);
    }

    /// What came or went by itself.
    pub(super) fn unpaired(&self) -> impl Iterator<Item = &Delta> {
        let is_paired = |at: usize| {
            let starts = |at: usize| self.pairs.binary_search(&at).is_ok();
            starts(at) || at.checked_sub(1).is_some_and(starts)
        };
        let alone = self.deltas.iter().enumerate().filter(move |(at, _)| !is_paired(*at));
        alone.map(|(_, delta)| delta)
    }

    /// Rows before and after, one for one.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&RecordBatch, &RecordBatch)> {
        self.pairs.iter().map(|at| (self.deltas[*at].batch(), self.deltas[at + 1].batch()))
    }

    fn add(&mut self, delta: Delta) {
        if !delta.is_empty() {
            self.bytes += delta.bytes();
            self.deltas.push(delta);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn into_parts(self) -> (Overlay, Vec<Delta>) {
        (self.entries, self.deltas)
    }
}
