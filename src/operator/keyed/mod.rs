//! Rows by key in state: `rows` is the structure, `packed` how the few rows of a key lie together.

pub(super) mod packed;
mod rows;

pub(super) use rows::{Entry, KeyedRows, RowShape, scan_spread};
