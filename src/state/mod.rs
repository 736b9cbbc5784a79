//! State: tables that operators write, one atomic commit an epoch, snapshots that readers share,
//! and changelogs for those who follow. The only module that knows RocksDB, and in it only `rocks`.
//!
//! On disk (golden bytes in the tests of `store`, `layout`, `standing`
//! and `changelog`):
//!
//! ```text
//! state      object u32 | operator u16 | role u16 | vnode u8 | ordered key   ->  row or weight
//! changelog  object u32 | epoch u64 | sequence u32                           ->  delta (Arrow IPC)
//! meta       name                                                            ->  bytes
//! ```
//!
//! Integers in keys are big-endian. What must hold: everything of an epoch is in one write batch
//! ([`Store::commit`]); a [`Snapshot`] shows exactly the commits before it.

mod changelog;
mod error;
mod layout;
mod pending;
mod rocks;
mod standing;
mod store;
mod table;

pub use changelog::ChangelogEntry;
pub use error::StateError;
pub use layout::{RowLayout, Values, missing_value};
pub use pending::{Pending, PendingShare};
pub use rocks::Page;
pub use standing::{Standing, StandingErrors, standing_error};
pub use store::{Commit, Entry, MetaEntry, ObjectSize, Snapshot, Store, StoreOptions, Written};
pub use table::{Table, TableChange, TableReader, Visit};
