//! `min` and `max`: the least or the greatest value of each slot, as an ordered key
//! (`types::key`), so that one body serves every type that can be ordered.
//!
//! By itself it only ever sees values come. Where values go, whoever keeps the group's values sets
//! what is left ([`Extreme::set`]).

use arrow::array::{Array, ArrayRef, new_null_array};
use arrow::datatypes::DataType;
use arrow::row::Rows;

use super::{Accumulator, Results, read_bytes, write_bytes};
use crate::error::{SqlError, SqlResult};
use crate::types::key::KeyCodec;

/// Which end of a group's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Least,
    Greatest,
}

impl End {
    /// Whether `a` is nearer to this end than `b`.
    pub fn prefers(self, a: &[u8], b: &[u8]) -> bool {
        match self {
            End::Least => a < b,
            End::Greatest => a > b,
        }
    }
}

/// The value at one end, by slot.
#[derive(Debug)]
pub struct Extreme {
    end: End,
    codec: KeyCodec,
    /// The key of NULL: the result over no values.
    null: Vec<u8>,
    /// Empty: no values.
    values: Vec<Vec<u8>>,
    heap_bytes: usize,
}

impl Extreme {
    /// For values of type `argument`.
    pub fn new(end: End, argument: &DataType) -> SqlResult<Self> {
        let codec = KeyCodec::of_types(vec![0], std::iter::once(argument.clone()))
            .map_err(|_| SqlError::unsupported(format!("min or max of {argument} in a view")))?;
        let null = codec.encode_columns(&[new_null_array(argument, 1)], 1)?;
        let null = null.row(0).data().to_vec();
        Ok(Self { end, codec, null, values: Vec::new(), heap_bytes: 0 })
    }

    pub fn end(&self) -> End {
        self.end
    }

    /// The key of each of `values`.
    pub fn keys(&self, values: &ArrayRef) -> SqlResult<Rows> {
        Ok(self.codec.encode_columns(std::slice::from_ref(values), values.len())?)
    }

    /// The key of the value of `slot`; empty if there is none.
    pub fn get(&self, slot: u32) -> &[u8] {
        &self.values[slot as usize]
    }

    /// Makes the value with key `key` that of `slot`; none if it is empty.
    pub fn set(&mut self, slot: u32, key: &[u8]) {
        let value = &mut self.values[slot as usize];
        let before = value.capacity();
        value.clear();
        value.extend_from_slice(key);
        self.heap_bytes += value.capacity() - before;
    }

    /// A value with key `key` came: takes it if it is nearer to the end.
    pub fn offer(&mut self, slot: u32, key: &[u8]) {
        let held = &self.values[slot as usize];
        if held.is_empty() || self.end.prefers(key, held) {
            self.set(slot, key);
        }
    }
}

impl Accumulator for Extreme {
    fn resize(&mut self, slots: usize) {
        self.values.resize(slots, Vec::new());
    }

    fn update(
        &mut self,
        slots: &[u32],
        values: Option<&ArrayRef>,
        weights: &[i64],
    ) -> SqlResult<()> {
        let values = values.ok_or_else(|| SqlError::internal("min or max of nothing"))?;
        let keys = self.keys(values)?;
        let nulls = values.logical_nulls();
        for (row, key) in keys.iter().enumerate() {
            if weights[row] < 0 {
                return Err(SqlError::internal("a row taken away from an append-only input"));
            }
            if weights[row] > 0 && nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
                self.offer(slots[row], key.data());
            }
        }
        Ok(())
    }

    fn results(&self, slots: &[u32]) -> SqlResult<Results> {
        let keys = slots.iter().map(|&slot| match self.get(slot) {
            [] => &self.null[..],
            key => key,
        });
        let column = self.codec.decode(keys)?.swap_remove(0);
        Ok(Results { column, errors: Vec::new() })
    }

    fn write(&self, slot: usize, bytes: &mut Vec<u8>) {
        write_bytes(&self.values[slot], bytes);
    }

    fn read(&mut self, slot: usize, bytes: &mut &[u8]) -> Option<()> {
        let key = read_bytes(bytes)?;
        self.set(u32::try_from(slot).ok()?, key);
        Some(())
    }

    fn retain(&mut self, slots: &[u32]) {
        self.values = super::gather(&mut self.values, slots);
        self.heap_bytes = self.values.iter().map(Vec::capacity).sum();
    }

    fn bytes(&self) -> usize {
        self.heap_bytes + self.values.capacity() * size_of::<Vec<u8>>()
    }
}
