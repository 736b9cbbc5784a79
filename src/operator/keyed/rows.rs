//! The rows of each key, as one side of a join and one input of a recomputation keep them.
//!
//! Nearly all keys have few rows, which lie packed together at the key, so that a key is found by
//! one point read (an absent one costs next to nothing, thanks to bloom filters) and written by one
//! write. A key with many rows is *spread*: its rows have entries of their own, and are read by
//! page; what changes costs what changes.
//!
//! ```text
//!  vnode | key        ->  1 u8 | packed rows            few rows
//!  vnode | key        ->  2 u8 | how many               many rows, each at:
//!  vnode | key | row  ->  weight, i64 big-endian
//! ```
//!
//! Encoded keys are prefix-free: what starts with `vnode | key` belongs to that key. A row is
//! encoded without the key's columns.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

use super::super::OperatorError;
use super::super::batch::batch_of;
use super::super::buffer::Buffer;
use super::super::slots::KeySlots;
use super::packed;
use crate::expr::accumulator::{read_varint, write_varint};
use crate::state::{RowLayout, StateError, Table};
use crate::types::ObjectId;
use crate::types::key::{KeyArena, KeyCodec};

/// Bytes of packed rows at which a key is spread: a change of one row writes so many at the most.
const PACKED_BYTES_MAX: usize = 2048;

/// What a row of a spread key is taken to have, where its bytes are not counted.
const SPREAD_ROW_BYTES: usize = 64;

const TAG_PACKED: u8 = 1;
const TAG_SPREAD: u8 = 2;

/// The rows of a key.
#[derive(Debug, Clone, Default)]
pub(in crate::operator) enum Entry {
    /// Not read yet.
    #[default]
    Unknown,
    /// All of them; none if it is empty.
    Packed(Vec<u8>),
    /// So many different rows, in entries of their own.
    Spread(u64),
}

/// How rows lie: their key, and the rest.
pub(in crate::operator) struct RowShape {
    schema: SchemaRef,
    /// The key's columns, encoded.
    pub(in crate::operator) key: KeyCodec,
    pub(in crate::operator) key_columns: Vec<usize>,
    /// The other columns, encoded.
    pub(in crate::operator) rest: KeyCodec,
    pub(in crate::operator) rest_columns: Vec<usize>,
    /// Of whole rows.
    pub(in crate::operator) row: KeyCodec,
}

impl RowShape {
    fn new(schema: &SchemaRef, key_columns: &[usize]) -> Result<Self, OperatorError> {
        let rest_columns: Vec<usize> =
            (0..schema.fields().len()).filter(|column| !key_columns.contains(column)).collect();
        Ok(Self {
            schema: Arc::clone(schema),
            key: KeyCodec::new(schema, key_columns)?,
            key_columns: key_columns.to_vec(),
            rest: KeyCodec::new(schema, &rest_columns)?,
            rest_columns,
            row: KeyCodec::of_row(schema)?,
        })
    }

    /// Whole rows again, from keys (without their vnode) and rests.
    pub(in crate::operator) fn assemble<'a>(
        &self,
        keys: impl IntoIterator<Item = &'a [u8]>,
        rests: impl IntoIterator<Item = &'a [u8]>,
        rows: usize,
    ) -> Result<RecordBatch, OperatorError> {
        let key = self.key.decode(keys)?;
        let rest = self.rest.decode(rests)?;
        let column = |column: usize| {
            let in_key = self.key_columns.iter().position(|key| *key == column);
            match in_key {
                Some(place) => Arc::clone(&key[place]),
                // Every column is the key's or another; `rest_columns` ascends.
                None => Arc::clone(&rest[self.rest_columns.partition_point(|&c| c < column)]),
            }
        };
        let columns = (0..self.schema.fields().len()).map(column).collect();
        Ok(batch_of(&self.schema, columns, rows)?)
    }
}

/// Is given a row, encoded without its key, and its weight.
pub(in crate::operator) type Visit<'a> =
    &'a mut dyn FnMut(&RowShape, &[u8], i64) -> Result<(), OperatorError>;

/// The same, of a key whose shape the visitor knows.
pub(in crate::operator) type VisitEncoded<'a> =
    &'a mut dyn FnMut(&[u8], i64) -> Result<(), OperatorError>;

/// Rows by key, over a state table.
pub(in crate::operator) struct KeyedRows {
    pub(in crate::operator) shape: RowShape,
    /// Rows that wait to be worked on.
    pub(in crate::operator) buffer: Buffer,
    pub(in crate::operator) table: Table,
    /// By slot of the key.
    entries: Vec<Entry>,
    /// Slots whose entry must be written, and whether a slot is among them.
    dirty: Vec<u32>,
    marks: Vec<bool>,
    packed_bytes: usize,
    /// Rows of spread keys that are there a negative number of times: none when an epoch ends.
    negative: i64,
}

impl KeyedRows {
    pub(in crate::operator) fn new(
        schema: &SchemaRef,
        key_columns: &[usize],
        table: Table,
    ) -> Result<Self, OperatorError> {
        Ok(Self {
            shape: RowShape::new(schema, key_columns)?,
            buffer: Buffer::new(Arc::clone(schema)),
            table,
            entries: Vec::new(),
            dirty: Vec::new(),
            marks: Vec::new(),
            packed_bytes: 0,
            negative: 0,
        })
    }

    pub(in crate::operator) fn resize(&mut self, slots: usize) {
        self.entries.resize(slots, Entry::Unknown);
        self.marks.resize(slots, false);
    }

    pub(in crate::operator) fn entry(&self, slot: u32) -> &Entry {
        &self.entries[slot as usize]
    }

    /// Reads the entries of `slots` that are not in memory, with one look.
    pub(in crate::operator) fn load(
        &mut self,
        keys: &KeySlots,
        slots: &[u32],
    ) -> Result<(), OperatorError> {
        let unknown = |slot: &u32| matches!(self.entries[*slot as usize], Entry::Unknown);
        let missing: Vec<u32> = slots.iter().copied().filter(unknown).collect();
        let asked: Vec<&[u8]> = missing.iter().map(|&slot| keys.key(slot)).collect();
        let found = self.table.get_many(&asked)?;
        for (slot, value) in missing.into_iter().zip(found) {
            let entry = self.read(value.unwrap_or_default())?;
            if let Entry::Packed(packed) = &entry {
                self.packed_bytes += packed.len();
            }
            self.entries[slot as usize] = entry;
        }
        Ok(())
    }

    fn read(&self, mut value: Vec<u8>) -> Result<Entry, OperatorError> {
        let entry = match value.split_first() {
            None => Some(Entry::Packed(Vec::new())),
            Some((&TAG_PACKED, rows)) if packed::is_valid(rows) => {
                value.remove(0);
                Some(Entry::Packed(value))
            }
            Some((&TAG_SPREAD, mut count)) => read_varint(&mut count).map(Entry::Spread),
            Some(_) => None,
        };
        entry.ok_or_else(|| {
            let place = format!("the rows by key of {:?}", self.table.id());
            StateError::Corrupt { place, reason: "not the rows of a key".into() }.into()
        })
    }

    /// Whether the key of a slot has rows. Its entry is loaded.
    pub(in crate::operator) fn is_present(&self, slot: u32) -> bool {
        match &self.entries[slot as usize] {
            Entry::Unknown => false,
            Entry::Packed(packed) => !packed.is_empty(),
            Entry::Spread(_) => true,
        }
    }

    /// Gives the rows of a slot, encoded without the key, with their weights. The entry is loaded.
    pub(in crate::operator) fn for_each(
        &mut self,
        keys: &KeySlots,
        slot: u32,
        visit: Visit<'_>,
    ) -> Result<(), OperatorError> {
        let Self { shape, table, entries, .. } = self;
        match &entries[slot as usize] {
            Entry::Unknown => Ok(()),
            Entry::Packed(packed) => {
                packed::rows(packed).try_for_each(|(weight, row)| visit(shape, row, weight))
            }
            Entry::Spread(_) => {
                scan_spread(table, keys.key(slot), &mut |row, weight| visit(shape, row, weight))
            }
        }
    }

    /// Adds rows: their keys' slots, their encodings without the key, their weights. The entries
    /// are loaded.
    pub(in crate::operator) fn add<'a>(
        &mut self,
        keys: &KeySlots,
        rows: impl Iterator<Item = (u32, &'a [u8], i64)>,
    ) -> Result<(), OperatorError> {
        let mut spread: Vec<(u32, &[u8], i64)> = Vec::new();
        for (slot, row, weight) in rows {
            let Entry::Packed(packed) = &mut self.entries[slot as usize] else {
                spread.push((slot, row, weight));
                continue;
            };
            let before = packed.len();
            packed::add(packed, row, weight);
            self.packed_bytes = self.packed_bytes + packed.len() - before;
            let too_long = packed.len() > PACKED_BYTES_MAX;
            self.mark(slot);
            if too_long {
                self.spread(keys, slot);
            }
        }
        self.add_spread(keys, spread)
    }

    fn mark(&mut self, slot: u32) {
        if !std::mem::replace(&mut self.marks[slot as usize], true) {
            self.dirty.push(slot);
        }
    }

    /// Gives each row of a packed key an entry of its own. A single row, however long, stays.
    fn spread(&mut self, keys: &KeySlots, slot: u32) {
        let entry = &mut self.entries[slot as usize];
        let Entry::Packed(packed) = entry else { return };
        if packed::rows(packed).nth(1).is_none() {
            return;
        }
        let packed = std::mem::take(packed);
        self.packed_bytes -= packed.len();
        let mut key = Vec::new();
        let mut count = 0;
        for (weight, row) in packed::rows(&packed) {
            key.clear();
            key.extend_from_slice(keys.key(slot));
            key.extend_from_slice(row);
            self.table.put(&key, &RowLayout::weight_bytes(weight));
            self.negative += i64::from(weight < 0);
            count += 1;
        }
        *entry = Entry::Spread(count);
    }

    /// Adds rows of spread keys.
    fn add_spread(
        &mut self,
        keys: &KeySlots,
        mut rows: Vec<(u32, &[u8], i64)>,
    ) -> Result<(), OperatorError> {
        if rows.is_empty() {
            return Ok(());
        }
        rows.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        rows.dedup_by(|later, kept| {
            let same = (later.0, later.1) == (kept.0, kept.1);
            kept.2 += if same { later.2 } else { 0 };
            same
        });
        let mut places = KeyArena::with_capacity(rows.len(), rows.len() * 32);
        for (slot, row, _) in &rows {
            places.push(&[keys.key(*slot), row]);
        }
        let asked: Vec<&[u8]> = places.iter().collect();
        let stored = self.table.get_many(&asked)?;
        let mut emptied = Vec::new();
        for (((slot, _, weight), stored), place) in rows.into_iter().zip(stored).zip(places.iter())
        {
            let before = stored.as_deref().map_or(Ok(0), RowLayout::weight_of)?;
            let after = before + weight;
            if after == before {
                continue;
            }
            self.negative += i64::from(after < 0) - i64::from(before < 0);
            if after == 0 {
                self.table.delete(place);
            } else {
                self.table.put(place, &RowLayout::weight_bytes(after));
            }
            if let Entry::Spread(count) = &mut self.entries[slot as usize] {
                *count += u64::from(before == 0);
                *count -= u64::from(after == 0);
                emptied.extend((*count == 0).then_some(slot));
            }
            self.mark(slot);
        }
        // Not before all rows are added: a key whose rows are all replaced is empty on the way.
        for slot in emptied {
            let entry = &mut self.entries[slot as usize];
            if matches!(entry, Entry::Spread(0)) {
                *entry = Entry::Packed(Vec::new());
            }
        }
        Ok(())
    }

    /// A spread key that has one row left is packed again.
    fn pack(&mut self, keys: &KeySlots, slot: u32) -> Result<(), OperatorError> {
        if !matches!(self.entries[slot as usize], Entry::Spread(1)) {
            return Ok(());
        }
        let mut packed = Vec::new();
        scan_spread(&mut self.table, keys.key(slot), &mut |row, weight| {
            packed::add(&mut packed, row, weight);
            Ok(())
        })?;
        for (weight, row) in packed::rows(&packed) {
            self.table.delete(&[keys.key(slot), row].concat());
            self.negative -= i64::from(weight < 0);
        }
        self.packed_bytes += packed.len();
        self.entries[slot as usize] = Entry::Packed(packed);
        Ok(())
    }

    /// The epoch ends: writes the changed entries of `object`'s rows. It is an error if a row is
    /// there a negative number of times.
    pub(in crate::operator) fn write(
        &mut self,
        keys: &KeySlots,
        object: ObjectId,
    ) -> Result<(), OperatorError> {
        let negative = || {
            let text = format!("object {}: a row is there a negative number of times", object.0);
            OperatorError::Invariant(text)
        };
        let mut value = Vec::new();
        for slot in std::mem::take(&mut self.dirty) {
            self.marks[slot as usize] = false;
            self.pack(keys, slot)?;
            value.clear();
            match &self.entries[slot as usize] {
                Entry::Unknown => {}
                Entry::Packed(packed) if packed.is_empty() => self.table.delete(keys.key(slot)),
                Entry::Packed(packed) => {
                    if packed::rows(packed).any(|(weight, _)| weight < 0) {
                        return Err(negative());
                    }
                    value.push(TAG_PACKED);
                    value.extend_from_slice(packed);
                    self.table.put(keys.key(slot), &value);
                }
                Entry::Spread(count) => {
                    value.push(TAG_SPREAD);
                    write_varint(i128::from(*count), &mut value);
                    self.table.put(keys.key(slot), &value);
                }
            }
        }
        if self.negative == 0 { Ok(()) } else { Err(negative()) }
    }

    /// Bytes of the rows of a slot, about. Its entry is loaded.
    pub(in crate::operator) fn bytes_of(&self, slot: u32) -> usize {
        match &self.entries[slot as usize] {
            Entry::Unknown => 0,
            Entry::Packed(packed) => packed.len(),
            Entry::Spread(rows) => {
                usize::try_from(*rows).unwrap_or(usize::MAX).saturating_mul(SPREAD_ROW_BYTES)
            }
        }
    }

    /// Bytes of memory for the entries.
    pub(in crate::operator) fn bytes(&self) -> usize {
        self.packed_bytes + self.entries.capacity() * (size_of::<Entry>() + 1)
    }

    /// Keeps the entries of `slots` only, in their order.
    pub(in crate::operator) fn retain(&mut self, slots: &[u32]) {
        let take = |&slot: &u32| std::mem::take(&mut self.entries[slot as usize]);
        self.entries = slots.iter().map(take).collect();
        self.marks = vec![false; slots.len()];
        let packed = |entry: &Entry| match entry {
            Entry::Packed(packed) => packed.len(),
            Entry::Unknown | Entry::Spread(_) => 0,
        };
        self.packed_bytes = self.entries.iter().map(packed).sum();
    }
}

/// Gives every stored row of a spread key, whose entries start with `prefix`.
pub(in crate::operator) fn scan_spread(
    table: &mut Table,
    prefix: &[u8],
    visit: VisitEncoded<'_>,
) -> Result<(), OperatorError> {
    let mut result = Ok(());
    table.scan_prefix(prefix, &mut |key, value| {
        let row = &key[prefix.len()..];
        if row.is_empty() {
            return true; // The entry that says how many rows there are.
        }
        result = match RowLayout::weight_of(value) {
            Ok(weight) => visit(row, weight),
            Err(error) => Err(error.into()),
        };
        result.is_ok()
    })?;
    result
}
