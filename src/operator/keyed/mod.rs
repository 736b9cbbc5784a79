//! Rows by key in state: `rows` is the structure, `packed` how the few rows of a key lie together.

pub(super) mod packed;
mod rows;

use super::slots::KeySlots;

pub(super) use rows::{Entry, KeyedRows, RowShape, scan_spread};

/// Bytes of memory for keys and the `rows` that they have.
pub(super) fn bytes<'a>(keys: &KeySlots, rows: impl IntoIterator<Item = &'a KeyedRows>) -> usize {
    match keys.len() {
        0 => 0,
        _ => keys.bytes() + rows.into_iter().map(KeyedRows::bytes).sum::<usize>(),
    }
}

/// Gives up the least recently used keys, and what `rows` have of them, until at most `bytes_max`
/// are left.
pub(super) fn evict(keys: &mut KeySlots, rows: &mut [&mut KeyedRows], bytes_max: usize) {
    let mut aim = bytes_max;
    loop {
        let bytes = bytes(keys, rows.iter().map(|rows| &**rows));
        if bytes <= bytes_max {
            return;
        }
        let keep = keys.to_keep(bytes, aim);
        keys.retain(&keep);
        rows.iter_mut().for_each(|rows| rows.retain(&keep));
        // Keys with more rows than others may be left.
        aim /= 2;
    }
}
