//! Keys that have state in memory, each with a small number, its slot, by which columns of state
//! are indexed. Looking up a batch of keys allocates nothing but for keys not seen before.
//!
//! Slots are dense and stay what they are until [`KeySlots::retain`] numbers them anew. Who keeps
//! state by slot retains the same.

use arrow::row::Rows;
use hashbrown::HashTable;

use crate::types::key::{self, KeyArena};

/// The slots of keys.
#[derive(Debug, Default)]
pub(super) struct KeySlots {
    table: HashTable<u32>,
    hashes: Vec<u64>,
    /// `vnode | key`, as they lie in state tables.
    keys: KeyArena,
    /// The epoch, by `tick`, in which each slot was last looked up.
    used: Vec<u32>,
    tick: u32,
}

impl KeySlots {
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// `vnode | key` of `slot`.
    pub(super) fn key(&self, slot: u32) -> &[u8] {
        self.keys.get(slot as usize)
    }

    /// The slot of each of `keys`. Those not seen before get the next ones: slots from the
    /// earlier [`KeySlots::len`] on.
    pub(super) fn intern(&mut self, keys: &Rows) -> Vec<u32> {
        keys.iter().map(|key| self.intern_one(key.data())).collect()
    }

    fn intern_one(&mut self, key: &[u8]) -> u32 {
        let hash = key::hash(key);
        let Self { table, hashes, keys, used, tick } = self;
        let slot = *table
            .entry(
                spread(hash),
                |&slot| hashes[slot as usize] == hash && &keys.get(slot as usize)[1..] == key,
                |&slot| spread(hashes[slot as usize]),
            )
            .or_insert_with(|| {
                // The key of no columns, a global group's, is in vnode 0.
                let vnode = if key.is_empty() { 0 } else { key::vnode_of_hash(hash) };
                keys.push(&[&[vnode], key]);
                used.push(*tick);
                hashes.push(hash);
                u32::try_from(hashes.len() - 1).expect("memory holds fewer than 2^32 keys")
            })
            .get();
        used[slot as usize] = *tick;
        slot
    }

    /// An epoch has ended.
    pub(super) fn tick(&mut self) {
        self.tick = self.tick.wrapping_add(1);
    }

    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        self.table.allocation_size()
            + self.keys.bytes()
            + self.hashes.capacity() * size_of::<u64>()
            + self.used.capacity() * size_of::<u32>()
    }

    /// The slots to keep so that `bytes`, which all slots take together, become at most
    /// `bytes_max`: the most recently used, and some fewer than would fit, so that not every epoch
    /// has to evict.
    pub(super) fn to_keep(&self, bytes: usize, bytes_max: usize) -> Vec<u32> {
        let room = (bytes_max - bytes_max / 4).min(bytes);
        let count = self.len() * room / bytes.max(1);
        if count == 0 {
            return Vec::new();
        }
        let age = |slot: u32| self.tick.wrapping_sub(self.used[slot as usize]);
        let mut slots: Vec<u32> = (0..).take(self.len()).collect();
        if count < slots.len() {
            slots.select_nth_unstable_by_key(count, |&slot| age(slot));
            slots.truncate(count);
            slots.sort_unstable();
        }
        slots
    }

    /// Keeps `slots` only: slot `slots[i]` becomes slot `i`.
    pub(super) fn retain(&mut self, slots: &[u32]) {
        let bytes: usize = slots.iter().map(|&slot| self.key(slot).len()).sum();
        let mut kept = Self {
            table: HashTable::with_capacity(slots.len()),
            hashes: slots.iter().map(|&slot| self.hashes[slot as usize]).collect(),
            keys: KeyArena::with_capacity(slots.len(), bytes),
            used: slots.iter().map(|&slot| self.used[slot as usize]).collect(),
            tick: self.tick,
        };
        for (new, &old) in (0u32..).zip(slots) {
            kept.keys.push(&[self.key(old)]);
            let hashes = &kept.hashes;
            kept.table.insert_unique(spread(hashes[new as usize]), new, |&slot| {
                spread(hashes[slot as usize])
            });
        }
        *self = kept;
    }
}

/// A hash table tells entries apart by the top bits of their hash, which, being the vnode, are
/// nearly the same for all keys of an actor.
fn spread(hash: u64) -> u64 {
    hash.rotate_left(16)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, StringArray};
    use arrow::datatypes::DataType;

    use super::*;
    use crate::types::key::{KeyCodec, vnode};

    fn rows(names: &[&str]) -> Rows {
        let codec = KeyCodec::of_types(vec![0], [DataType::Utf8].into_iter()).expect("text");
        let column: ArrayRef = Arc::new(StringArray::from(names.to_vec()));
        codec.encode_columns(&[column], names.len()).expect("encodes")
    }

    #[test]
    fn equal_keys_share_a_slot_and_lie_under_their_vnode() {
        let mut slots = KeySlots::default();
        let keys = rows(&["a", "b", "a", "c"]);
        assert_eq!(slots.intern(&keys), [0, 1, 0, 2]);
        assert_eq!(slots.intern(&rows(&["c", "d"])), [2, 3]);
        let key = keys.row(1).data();
        assert_eq!(slots.key(1), [&[vnode(key)], key].concat());
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let mut slots = KeySlots::default();
        slots.intern(&rows(&["a", "b", "c", "d"]));
        slots.tick();
        slots.intern(&rows(&["d", "b"]));
        let kept = slots.to_keep(400, 267);
        assert_eq!(kept, [1, 3]);
        slots.retain(&kept);
        assert_eq!(slots.intern(&rows(&["b", "d", "a"])), [0, 1, 2]);
        assert!(slots.to_keep(400, 0).is_empty());
        slots.retain(&[]);
        assert_eq!(slots.len(), 0);
    }
}
