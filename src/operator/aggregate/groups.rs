//! The groups in memory: how many rows each has, what its accumulators hold, and how that lies in
//! the state table.
//!
//! State row (version 1), at `vnode | group key`, integers as `expr::accumulator` writes them:
//!
//! ```text
//! 1 u8 | rows | state of call 0 | state of call 1 | ...
//! ```

use arrow::array::ArrayRef;

use super::super::OperatorError;
use super::super::slots::KeySlots;
use super::calls::Calls;
use crate::expr::accumulator::{read_varint, write_varint};
use crate::state::{StateError, Table};

const VERSION: u8 = 1;

/// Columns by slot.
pub(super) struct Groups {
    pub(super) slots: KeySlots,
    pub(super) calls: Calls,
    /// Rows of each group. May be negative within an epoch, while what comes is behind what goes.
    rows: Vec<i64>,
    /// Whether the group has a state row; a group without rows has none.
    stored: Vec<bool>,
    table: Table,
    /// No group columns: the one group exists without rows too, once it has been given.
    global: bool,
}

impl Groups {
    pub(super) fn new(calls: Calls, table: Table, global: bool) -> Self {
        let slots = KeySlots::default();
        Self { slots, calls, rows: Vec::new(), stored: Vec::new(), table, global }
    }

    /// Reads the groups whose slots are `first` and later.
    pub(super) fn load(&mut self, first: usize) -> Result<(), OperatorError> {
        let slots = self.slots.len();
        if first == slots {
            return Ok(());
        }
        self.rows.resize(slots, 0);
        self.stored.resize(slots, false);
        self.calls.resize(slots);
        let keys: Vec<&[u8]> = (first..slots).map(|slot| self.slots.key(slot as u32)).collect();
        let found = self.table.get_many(&keys)?;
        for (slot, value) in (first..).zip(found) {
            if let Some(value) = value {
                self.read(slot, &value).ok_or_else(|| StateError::Corrupt {
                    place: format!("the groups of {:?}", self.table.id()),
                    reason: format!("a state row of {} bytes", value.len()),
                })?;
            }
        }
        Ok(())
    }

    fn read(&mut self, slot: usize, mut bytes: &[u8]) -> Option<()> {
        let (version, rest) = bytes.split_first()?;
        bytes = rest;
        if *version != VERSION {
            return None;
        }
        self.rows[slot] = read_varint(&mut bytes)?;
        self.stored[slot] = true;
        self.calls.read(slot, &mut bytes)?;
        bytes.is_empty().then_some(())
    }

    /// Whether the group has been given: it had rows, or is the global one.
    pub(super) fn is_stored(&self, slot: u32) -> bool {
        self.stored[slot as usize]
    }

    /// Whether the group is there as of now.
    pub(super) fn exists(&self, slot: u32) -> bool {
        self.global || self.rows[slot as usize] > 0
    }

    pub(super) fn rows(&self, slot: u32) -> i64 {
        self.rows[slot as usize]
    }

    /// Adds the rows of a batch, whose columns are `columns`, to `slots`.
    pub(super) fn update(
        &mut self,
        slots: &[u32],
        columns: &[ArrayRef],
        weights: &[i64],
    ) -> Result<(), OperatorError> {
        for (&slot, &weight) in slots.iter().zip(weights) {
            self.rows[slot as usize] += weight;
        }
        self.calls.update(&self.slots, slots, columns, weights)
    }

    /// Writes the state rows of `slots`.
    pub(super) fn write(&mut self, slots: &[u32]) {
        let mut bytes = Vec::new();
        for &slot in slots {
            let exists = self.exists(slot);
            let stored = std::mem::replace(&mut self.stored[slot as usize], exists);
            if exists {
                bytes.clear();
                bytes.push(VERSION);
                write_varint(self.rows[slot as usize], &mut bytes);
                self.calls.write(slot as usize, &mut bytes);
                self.table.put(self.slots.key(slot), &bytes);
            } else if stored {
                self.table.delete(self.slots.key(slot));
            }
        }
    }

    pub(super) fn tables(&mut self) -> Vec<&mut Table> {
        let mut tables = vec![&mut self.table];
        tables.extend(self.calls.tables());
        tables
    }

    pub(super) fn bytes(&self) -> usize {
        match self.slots.len() {
            0 => 0,
            _ => {
                let columns = self.rows.capacity() * size_of::<i64>() + self.stored.capacity();
                self.slots.bytes() + self.calls.bytes() + columns
            }
        }
    }

    /// Forgets groups until about `bytes_max` are left. None may have changed since it was written.
    pub(super) fn evict(&mut self, bytes_max: usize) {
        let keep = self.slots.to_keep(self.bytes(), bytes_max);
        self.slots.retain(&keep);
        self.calls.retain(&keep);
        self.rows = keep.iter().map(|&slot| self.rows[slot as usize]).collect();
        self.stored = keep.iter().map(|&slot| self.stored[slot as usize]).collect();
    }
}
