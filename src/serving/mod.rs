//! SELECT: DataFusion over one snapshot. A statement is given a [`QueryContext`], gets a session
//! in which every name means what it meant at that moment, and a stream of batches.
//!
//! What must hold: all stored rows of a statement come from one snapshot, under the transaction's
//! own writes; nothing here writes.

mod bind;
mod context;
mod cursor;
mod equalities;
mod execute;
mod names;
mod pushdown;
mod replay;
mod rows;
mod scan;
mod session;
mod strict;
mod system;
#[cfg(test)]
pub mod testing;
#[cfg(test)]
mod tests;
mod top_k;
mod unique;

pub use bind::{Relation, bind};
pub use context::{QueryContext, Reader, SystemTables, ViewPlanner};
pub use execute::{execute, physical_plan};
pub use names::{SEARCH_PATH, TARGET};
pub use replay::connector_options;
pub use rows::{Entries, NoRows, Overlaid, Overlay, PendingRows, SnapshotRows, StoredRows};
pub use scan::{ScanProvider, Shown};
pub use session::{session_state, template};
pub use strict::Strict;
pub use unique::{Holders, SnapshotHolders, UniqueKeys};
