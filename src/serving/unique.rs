//! Rows found by the guard of a unique index, where the index itself does not have them yet: what a
//! statement writes, and what its transaction has written.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use crate::error::SqlResult;
use crate::state::{RowLayout, Snapshot, StateError};
use crate::types::{ObjectId, TableId};

/// Who has the keys of a unique index.
pub trait Holders: Send + Sync {
    /// For each key (`vnode | columns`) the storage key of the row that has it.
    fn holders(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StateError>;
}

/// A unique index by which rows of a table can be found.
#[derive(Clone)]
pub struct UniqueKeys {
    pub(super) name: String,
    /// As the guard's keys lie.
    pub(super) layout: Arc<RowLayout>,
    pub(super) holders: Arc<dyn Holders>,
}

impl fmt::Debug for UniqueKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "keys of {}", self.name)
    }
}

impl UniqueKeys {
    /// Of the index `name` over `columns` of rows with the stored `schema`.
    pub fn new(
        name: &str,
        schema: SchemaRef,
        columns: &[usize],
        holders: Arc<dyn Holders>,
    ) -> SqlResult<Self> {
        let layout = Arc::new(RowLayout::new(schema, columns, columns)?);
        Ok(Self { name: name.to_owned(), layout, holders })
    }
}

/// The keys that a snapshot has of an index.
pub struct SnapshotHolders {
    pub snapshot: Arc<Snapshot>,
    pub index: ObjectId,
}

impl Holders for SnapshotHolders {
    fn holders(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, StateError> {
        self.snapshot.get_many(TableId::guard(self.index), keys)
    }
}
