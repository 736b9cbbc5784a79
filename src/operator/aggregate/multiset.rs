//! The values of one argument in each group, with how often each is there: what DISTINCT, and min
//! and max over rows that may be taken away, must know.
//!
//! Table: `vnode | group key | value key  ->  weight, i64 big-endian, not 0`. Encoded keys are
//! prefix-free, so a group's values are exactly what starts with its key, and they are in order.
//! An epoch's changes are put together in memory first; what cancels is never looked up.

use arrow::array::{Array, ArrayRef};
use arrow::row::Rows;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::super::OperatorError;
use super::super::slots::KeySlots;
use crate::state::{RowLayout, Table};
use crate::types::key::{self, KeyArena};

/// The multisets of all groups.
pub(super) struct Multiset {
    table: Table,
    /// Index in `weights` and `values` of each changed (slot, value).
    pending: HashTable<u32>,
    /// Slot, hash of slot and value, change of weight.
    weights: Vec<(u32, u64, i64)>,
    values: KeyArena,
    /// Values that are there a negative number of times: none when an epoch ends.
    negative: i64,
}

/// A value whose weight changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub(super) slot: u32,
    /// Index of the value in [`Changes::values`].
    pub(super) value: usize,
    pub(super) before: i64,
    pub(super) after: i64,
}

/// Changes of weights, not 0.
#[derive(Debug, Default)]
pub(super) struct Changes {
    pub(super) changes: Vec<Change>,
    /// Keys of the values.
    pub(super) values: KeyArena,
}

/// Changes held in memory before they are applied within an epoch.
const PENDING_MAX: usize = 64 << 10;

impl Multiset {
    pub(super) fn new(table: Table) -> Self {
        let (pending, weights, values) = Default::default();
        Self { table, pending, weights, values, negative: 0 }
    }

    /// Adds the values with keys `keys`, of rows of `slots`; those that are NULL in `values` not.
    pub(super) fn add(&mut self, slots: &[u32], values: &ArrayRef, keys: &Rows, weights: &[i64]) {
        let nulls = values.logical_nulls();
        for (row, value) in keys.iter().enumerate() {
            if weights[row] != 0 && nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
                self.add_one(slots[row], value.data(), weights[row]);
            }
        }
    }

    fn add_one(&mut self, slot: u32, value: &[u8], weight: i64) {
        let hash = key::hash(value) ^ u64::from(slot).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let Self { pending, weights, values, .. } = self;
        let found = pending.entry(
            hash,
            |&at| weights[at as usize].0 == slot && values.get(at as usize) == value,
            |&at| weights[at as usize].1,
        );
        match found {
            Entry::Occupied(at) => weights[*at.get() as usize].2 += weight,
            Entry::Vacant(vacant) => {
                vacant.insert(u32::try_from(weights.len()).expect("bounded by PENDING_MAX"));
                weights.push((slot, hash, weight));
                values.push(&[value]);
            }
        }
    }

    /// So many changes wait that they should be applied now.
    pub(super) fn is_full(&self) -> bool {
        self.weights.len() >= PENDING_MAX
    }

    /// Writes what waits, and tells the changes.
    pub(super) fn apply(&mut self, slots: &KeySlots) -> Result<Changes, OperatorError> {
        self.pending.clear();
        let values = std::mem::take(&mut self.values);
        let waiting = std::mem::take(&mut self.weights);
        let mut changes: Vec<Change> = waiting
            .iter()
            .enumerate()
            .filter(|(_, (.., weight))| *weight != 0)
            .map(|(value, &(slot, _, after))| Change { slot, value, before: 0, after })
            .collect();
        let mut keys = KeyArena::with_capacity(changes.len(), changes.len() * 32);
        for change in &changes {
            keys.push(&[slots.key(change.slot), values.get(change.value)]);
        }
        let asked: Vec<&[u8]> = keys.iter().collect();
        let stored = self.table.get_many(&asked)?;
        for ((change, stored), key) in changes.iter_mut().zip(stored).zip(keys.iter()) {
            change.before = stored.as_deref().map_or(Ok(0), RowLayout::weight_of)?;
            change.after += change.before;
            self.negative += i64::from(change.after < 0) - i64::from(change.before < 0);
            match change.after {
                0 => self.table.delete(key),
                after => self.table.put(key, &RowLayout::weight_bytes(after)),
            }
        }
        Ok(Changes { changes, values })
    }

    /// The epoch ends: nothing may be there a negative number of times.
    pub(super) fn check(&self) -> Result<(), OperatorError> {
        match self.negative {
            0 => Ok(()),
            count => Err(OperatorError::Invariant(format!(
                "{:?}: {count} values are there a negative number of times",
                self.table.id()
            ))),
        }
    }

    /// The least value of the group with `vnode | group key` = `group`; `None` if it has none.
    pub(super) fn first(&mut self, group: &[u8]) -> Result<Option<Vec<u8>>, OperatorError> {
        let mut first = None;
        self.table.scan_prefix(group, &mut |key, _| {
            first = Some(key[group.len()..].to_vec());
            false
        })?;
        Ok(first)
    }

    /// The greatest value of a group.
    pub(super) fn last(&mut self, group: &[u8]) -> Result<Option<Vec<u8>>, OperatorError> {
        let last = self.table.last_with_prefix(group)?;
        Ok(last.map(|(key, _)| key[group.len()..].to_vec()))
    }

    pub(super) fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}
