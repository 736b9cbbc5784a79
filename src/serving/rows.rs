//! Where a scan's stored entries come from: a committed snapshot, a table with its pending rows,
//! or either under the writes of a transaction that nobody else sees yet.
//!
//! Readers page through ranges and say where to go on, so that nothing is held open between two
//! pages and a page's memory is bounded, whatever the range. What must hold: pages of one range,
//! one after the other, give every entry once, in key order.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Weak};

use crate::state::{Page, Snapshot, StateError, TableReader};
use crate::types::TableId;

/// A transaction's own writes to a table, by storage key (`vnode | key`); no value deletes.
pub type Overlay = BTreeMap<Box<[u8]>, Option<Box<[u8]>>>;

/// Entries of a range, and where to go on.
#[derive(Debug, Default)]
pub struct Entries {
    pub page: Page,
    /// The range goes on after this key; `None`: it has ended. A page may be empty and go on.
    pub resume: Option<Vec<u8>>,
}

/// The stored entries of one table at one moment.
pub trait StoredRows: fmt::Debug + Send + Sync {
    /// The values of `keys`, in their order.
    fn get_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StateError>;

    /// Up to `entries_max` entries from `from` up to but without `to` (`None`: the end).
    fn page(
        &self,
        from: Bound<&[u8]>,
        to: Option<&[u8]>,
        entries_max: usize,
    ) -> Result<Entries, StateError>;
}

/// Nothing.
#[derive(Debug)]
pub struct NoRows;

impl StoredRows for NoRows {
    fn get_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        Ok(vec![None; keys.len()])
    }

    fn page(
        &self,
        _from: Bound<&[u8]>,
        _to: Option<&[u8]>,
        _entries_max: usize,
    ) -> Result<Entries, StateError> {
        Ok(Entries { page: Page::default(), resume: None })
    }
}

/// What a snapshot has of a table.
pub struct SnapshotRows {
    snapshot: Arc<Snapshot>,
    table: TableId,
}

impl SnapshotRows {
    pub fn new(snapshot: Arc<Snapshot>, table: TableId) -> Self {
        Self { snapshot, table }
    }
}

impl fmt::Debug for SnapshotRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {:?}", self.table, self.snapshot.epoch())
    }
}

impl StoredRows for SnapshotRows {
    fn get_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        self.snapshot.get_many(self.table, keys)
    }

    fn page(
        &self,
        from: Bound<&[u8]>,
        to: Option<&[u8]>,
        entries_max: usize,
    ) -> Result<Entries, StateError> {
        let page = self.snapshot.page(self.table, from, to, entries_max)?;
        let resume = if page.more { page.last_key().map(<[u8]>::to_vec) } else { None };
        Ok(Entries { page, resume })
    }
}

/// Committed and pending rows of a table, as a writer that holds its lock sees them.
pub struct PendingRows(TableReader);

impl PendingRows {
    pub fn new(reader: TableReader) -> Self {
        Self(reader)
    }
}

impl fmt::Debug for PendingRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("pending rows")
    }
}

impl StoredRows for PendingRows {
    fn get_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        self.0.get_many(keys)
    }

    fn page(
        &self,
        from: Bound<&[u8]>,
        to: Option<&[u8]>,
        entries_max: usize,
    ) -> Result<Entries, StateError> {
        let from = match from {
            Bound::Unbounded => Vec::new(),
            Bound::Included(from) => from.to_vec(),
            // The least key after `from`.
            Bound::Excluded(from) => [from, &[0]].concat(),
        };
        let mut entries = Entries::default();
        self.0.scan(&from, to, &mut |key, value| {
            if entries.page.len() == entries_max {
                entries.resume = entries.page.last_key().map(<[u8]>::to_vec);
                return false;
            }
            entries.page.push(key, value);
            true
        })?;
        Ok(entries)
    }
}

/// Rows under a transaction's own writes.
#[derive(Debug)]
pub struct Overlaid {
    base: Arc<dyn StoredRows>,
    own: Own,
}

#[derive(Debug)]
enum Own {
    /// As they are now, whatever the transaction writes later.
    Kept(Arc<Overlay>),
    /// Until the transaction writes on, which changes them in place.
    Passing(Weak<Overlay>),
}

impl Overlaid {
    /// For whoever reads them while the transaction writes on: it goes on with a copy then.
    pub fn new(base: Arc<dyn StoredRows>, overlay: Arc<Overlay>) -> Self {
        Self { base, own: Own::Kept(overlay) }
    }

    /// For a statement that has read all of them before what it changes is written.
    pub fn passing(base: Arc<dyn StoredRows>, overlay: &Arc<Overlay>) -> Self {
        Self { base, own: Own::Passing(Arc::downgrade(overlay)) }
    }

    fn own(&self) -> Result<Arc<Overlay>, StateError> {
        match &self.own {
            Own::Kept(overlay) => Ok(Arc::clone(overlay)),
            Own::Passing(overlay) => overlay.upgrade().ok_or_else(|| {
                let message = "a statement reads its transaction's rows after it has written";
                StateError::Storage(message.to_owned())
            }),
        }
    }
}

impl StoredRows for Overlaid {
    fn get_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        let mut values = self.base.get_many(keys)?;
        let own = self.own()?;
        for (key, value) in keys.iter().zip(&mut values) {
            if let Some(own) = own.get(key.as_slice()) {
                *value = own.as_deref().map(<[u8]>::to_vec);
            }
        }
        Ok(values)
    }

    fn page(
        &self,
        from: Bound<&[u8]>,
        to: Option<&[u8]>,
        entries_max: usize,
    ) -> Result<Entries, StateError> {
        let base = self.base.page(from, to, entries_max)?;
        let overlay = self.own()?;
        // Beyond the base's page there may be entries of the base that are not read yet.
        let end = match &base.resume {
            Some(resume) => Bound::Included(resume.as_slice()),
            None => to.map_or(Bound::Unbounded, Bound::Excluded),
        };
        if is_empty_range(from, end) {
            return Ok(base);
        }
        let mut own = overlay.range::<[u8], _>((from, end)).peekable();
        if own.peek().is_none() {
            return Ok(base);
        }
        let mut merged = Page::default();
        let mut theirs = base.page.entries().peekable();
        loop {
            let own_is_next = match (own.peek(), theirs.peek()) {
                (None, None) => break,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (Some((own, _)), Some((their, _))) => &***own <= *their,
            };
            if merged.len() >= entries_max {
                let resume = merged.last_key().map(<[u8]>::to_vec);
                return Ok(Entries { page: merged, resume });
            }
            if !own_is_next {
                if let Some((key, value)) = theirs.next() {
                    merged.push(key, value);
                }
            } else if let Some((key, value)) = own.next() {
                theirs.next_if(|(their, _)| *their == &**key);
                if let Some(value) = value {
                    merged.push(key, value);
                }
            }
        }
        drop(theirs);
        Ok(Entries { page: merged, resume: base.resume })
    }
}

/// Whether `BTreeMap::range` would panic for a range that ends before it starts.
fn is_empty_range(from: Bound<&[u8]>, end: Bound<&[u8]>) -> bool {
    match (from, end) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(from), Bound::Included(end)) => from > end,
        (
            Bound::Included(from) | Bound::Excluded(from),
            Bound::Included(end) | Bound::Excluded(end),
        ) => from >= end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows in memory: what `Overlaid` is given here stands for any base.
    #[derive(Debug)]
    struct Listed(BTreeMap<Vec<u8>, Vec<u8>>);

    impl StoredRows for Listed {
        fn get_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
            Ok(keys.iter().map(|key| self.0.get(key).cloned()).collect())
        }

        fn page(
            &self,
            from: Bound<&[u8]>,
            to: Option<&[u8]>,
            entries_max: usize,
        ) -> Result<Entries, StateError> {
            let end = to.map_or(Bound::Unbounded, Bound::Excluded);
            let mut entries = Entries::default();
            for (key, value) in self.0.range::<[u8], _>((from, end)) {
                if entries.page.len() == entries_max {
                    entries.resume = entries.page.last_key().map(<[u8]>::to_vec);
                    break;
                }
                entries.page.push(key, value);
            }
            Ok(entries)
        }
    }

    #[test]
    fn pages_give_every_entry_once_whatever_their_size() {
        let base: BTreeMap<Vec<u8>, Vec<u8>> =
            (0..50u8).map(|key| (vec![key * 2], vec![0])).collect();
        let mut overlay = Overlay::new();
        for key in (0..60u8).chain(90..120) {
            let value = (key % 3 != 0).then(|| Box::from([1u8].as_slice()));
            overlay.insert(Box::from([key].as_slice()), value);
        }
        let mut expected = base.clone();
        for (key, value) in &overlay {
            match value {
                Some(value) => expected.insert(key.to_vec(), value.to_vec()),
                None => expected.remove(&**key),
            };
        }
        let rows = Overlaid::new(Arc::new(Listed(base)), Arc::new(overlay));
        for entries_max in [1, 2, 3, 7, 1000] {
            for to in [None, Some([100u8].as_slice())] {
                let mut found = BTreeMap::new();
                let mut from: Option<Vec<u8>> = None;
                loop {
                    let start = from.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
                    let entries = rows.page(start, to, entries_max).unwrap();
                    assert!(entries.page.len() <= entries_max);
                    for (key, value) in entries.page.entries() {
                        assert!(found.insert(key.to_vec(), value.to_vec()).is_none());
                    }
                    match entries.resume {
                        Some(resume) => from = Some(resume),
                        None => break,
                    }
                }
                let mut wanted = expected.clone();
                wanted.retain(|key, _| to.is_none_or(|to| key.as_slice() < to));
                assert_eq!(found, wanted, "pages of {entries_max} up to {to:?}");
            }
        }
    }
}
