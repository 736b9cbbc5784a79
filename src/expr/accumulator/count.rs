//! `count(*)` and `count(x)`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array};

use super::{Accumulator, Results, read_varint, write_varint};
use crate::error::SqlResult;

/// How many rows, or values that are not NULL.
#[derive(Debug, Default)]
pub(super) struct Count {
    counts: Vec<i64>,
}

impl Accumulator for Count {
    fn resize(&mut self, slots: usize) {
        self.counts.resize(slots, 0);
    }

    fn update(
        &mut self,
        slots: &[u32],
        values: Option<&ArrayRef>,
        weights: &[i64],
    ) -> SqlResult<()> {
        let nulls = values.and_then(|values| values.logical_nulls());
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        match nulls {
            None => {
                for (&slot, &weight) in slots.iter().zip(weights) {
                    self.counts[slot as usize] += weight;
                }
            }
            Some(nulls) => {
                for row in nulls.valid_indices() {
                    self.counts[slots[row] as usize] += weights[row];
                }
            }
        }
        Ok(())
    }

    fn results(&self, slots: &[u32]) -> SqlResult<Results> {
        let counts = slots.iter().map(|&slot| self.counts[slot as usize]);
        let column = Arc::new(Int64Array::from_iter_values(counts));
        Ok(Results { column, errors: Vec::new() })
    }

    fn write(&self, slot: usize, bytes: &mut Vec<u8>) {
        write_varint(self.counts[slot], bytes);
    }

    fn read(&mut self, slot: usize, bytes: &mut &[u8]) -> Option<()> {
        self.counts[slot] = read_varint(bytes)?;
        Some(())
    }

    fn retain(&mut self, slots: &[u32]) {
        self.counts = super::gather(&mut self.counts, slots);
    }

    fn bytes(&self) -> usize {
        self.counts.capacity() * size_of::<i64>()
    }
}
