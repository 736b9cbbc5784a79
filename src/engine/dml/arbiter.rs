//! What ON CONFLICT asks whether a row's place is taken: the primary key, unique indexes, or all of
//! them.
//!
//! A unique index answers from its guard, with what the transaction and the statement itself did to
//! that; it knows the stored row that has a key.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::RecordBatch;

use super::unique::Taken;
use crate::dataflow::guard::Guard;
use crate::error::SqlResult;
use crate::state::TableReader;
use crate::types::ObjectId;

/// Those that a statement means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meant {
    /// Any of them.
    All,
    /// The primary key by which the rows are stored.
    Key,
    /// The unique index.
    Index(ObjectId),
}

/// Those of one statement.
#[derive(Default)]
pub(super) struct Arbiters {
    /// Whether the primary key by which rows are stored is one.
    pub(super) key: bool,
    indexes: Vec<Index>,
}

struct Index {
    guard: Arc<Guard>,
    reader: TableReader,
    taken: Arc<Taken>,
    /// The keys of rows that the statement adds.
    own: HashSet<Vec<u8>>,
}

/// Where the row is that has a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holder {
    /// Nowhere: it is free.
    None,
    /// Under this storage key.
    Row(Vec<u8>),
    /// Among those that the statement adds.
    Own,
}

/// The keys of a batch in one index, and who has them.
pub(super) struct Asked {
    keys: Vec<Option<Vec<u8>>>,
    rows: Vec<Option<Vec<u8>>>,
}

impl Arbiters {
    pub(super) fn new(
        meant: Meant,
        guards: Vec<(Arc<Guard>, TableReader)>,
        taken: &Arc<Taken>,
    ) -> Self {
        let wanted = guards.into_iter().filter(|(guard, _)| match meant {
            Meant::All => true,
            Meant::Key => false,
            Meant::Index(index) => guard.index == index,
        });
        let indexes = wanted.map(|(guard, reader)| {
            let taken = Arc::clone(taken);
            Index { guard, reader, taken, own: HashSet::new() }
        });
        Self { key: !matches!(meant, Meant::Index(_)), indexes: indexes.collect() }
    }

    /// Who has the places of `rows` in each index. May block for the disk.
    pub(super) fn ask(&self, rows: &RecordBatch) -> SqlResult<Vec<Asked>> {
        self.indexes.iter().map(|index| index.ask(rows)).collect()
    }

    /// Who has the place of a row in one of the indexes.
    pub(super) fn holder(&self, asked: &[Asked], row: usize) -> Holder {
        for (index, asked) in self.indexes.iter().zip(asked) {
            let Some(key) = &asked.keys[row] else { continue };
            if index.own.contains(key) {
                return Holder::Own;
            }
            if let Some(holder) = &asked.rows[row] {
                return Holder::Row(holder.clone());
            }
        }
        Holder::None
    }

    /// The statement adds the row.
    pub(super) fn add(&mut self, asked: &mut [Asked], row: usize) {
        for (index, asked) in self.indexes.iter_mut().zip(asked) {
            index.own.extend(asked.keys[row].take());
        }
    }
}

impl Index {
    fn ask(&self, rows: &RecordBatch) -> SqlResult<Asked> {
        let keys = self.guard.keys(rows)?;
        let present: Vec<&Vec<u8>> = keys.iter().flatten().collect();
        let mut stored = self.reader.get_many(&present)?.into_iter();
        let own = self.taken.get(&self.guard.index);
        let holder = |key: &Vec<u8>, stored: Option<Vec<u8>>| match own
            .and_then(|own| own.get(key.as_slice()))
        {
            Some(changed) => changed.as_deref().map(<[u8]>::to_vec),
            None => stored,
        };
        let rows = keys.iter().map(|key| holder(key.as_ref()?, stored.next().flatten())).collect();
        Ok(Asked { keys, rows })
    }
}
