//! Keeps an object's rows: `contents(n) = contents(n − 1) + Δ(n)`.
//!
//! The epoch's rows are put together by storage key, so that a row that comes and goes costs one
//! look; at the flush each changed key is written once, and the net change goes downstream. What
//! must hold, or the job has lost its way: a keyed object has one row a key, a multiset no row a
//! negative number of times.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::batch::{batch_of, emit_chunks};
use super::buffer::{Buffer, Net, net};
use super::{EpochEnd, Operator, OperatorError, Output};
use crate::graph;
use crate::state::{PendingShare, RowLayout, Store, Table};
use crate::types::key::{KeyArena, KeyCodec};
use crate::types::{Delta, ObjectId, TableId};

/// The stored rows of one object, an actor's share of them.
pub struct Materialize {
    object: ObjectId,
    schema: SchemaRef,
    layout: RowLayout,
    row: KeyCodec,
    table: Table,
    buffer: Buffer,
    /// The buffer counts among what the epoch writes.
    waiting: PendingShare,
    /// Rows in the buffer at which what cancels is taken out of it.
    compact_at: usize,
}

/// Rows that the buffer holds before the first look for what cancels.
const COMPACT_ROWS_MIN: usize = 64 << 10;

/// Rows that are written between two looks at how much all write.
const CHECK_ROWS: usize = 8 << 10;

/// What a row takes beside its bytes while it is written: its encoding, its key, what is known of
/// that, and its entry.
const ROW_BYTES: usize = 256;

/// Bytes of memory that it takes to write `delta`.
fn to_write(delta: &Delta) -> usize {
    delta.own_bytes() + delta.rows() * ROW_BYTES
}

/// What an epoch did to a key: rows of the net change, by index.
#[derive(Debug, Clone, Copy, Default)]
struct KeyChange {
    old: Option<u32>,
    new: Option<u32>,
}

impl Materialize {
    /// For `object`, whose rows have `schema`.
    pub fn new(
        materialize: &graph::Materialize,
        object: ObjectId,
        schema: SchemaRef,
        store: &Store,
    ) -> Result<Self, OperatorError> {
        Ok(Self {
            object,
            layout: RowLayout::new(
                Arc::clone(&schema),
                &materialize.key,
                &materialize.distribution,
            )?,
            row: KeyCodec::of_row(&schema)?,
            table: store.table(TableId::contents(object)),
            buffer: Buffer::new(Arc::clone(&schema)),
            waiting: store.pending().share(),
            compact_at: COMPACT_ROWS_MIN,
            schema,
        })
    }

    /// Takes what cancels out of the buffer, so that it grows with the net change only.
    fn compact(&mut self) -> Result<(), OperatorError> {
        let net = net(self.buffer.take()?, &self.row)?;
        self.compact_at = COMPACT_ROWS_MIN.max(2 * net.delta.rows());
        self.waiting.end();
        self.waiting.add_bytes(to_write(&net.delta));
        self.buffer.push(net.delta);
        Ok(())
    }

    /// Writes the net change of a keyed object: at most one row goes and one comes for each key.
    fn write_keyed(&mut self, net: &Net, keys: &KeyArena) -> Result<(), OperatorError> {
        let changes = self.key_changes(net, keys)?;
        self.check_stored(net, keys, &changes)?;
        for changes in changes.chunks(CHECK_ROWS) {
            self.waiting.check()?;
            for change in changes {
                match (change.old, change.new) {
                    (_, Some(new)) => {
                        self.table.put(keys.get(new as usize), net.row(new as usize));
                    }
                    (Some(old), None) => self.table.delete(keys.get(old as usize)),
                    (None, None) => {}
                }
            }
        }
        Ok(())
    }

    fn key_changes(&self, net: &Net, keys: &KeyArena) -> Result<Vec<KeyChange>, OperatorError> {
        let mut changes: Vec<(u32, KeyChange)> = Vec::with_capacity(keys.len());
        let mut seen: HashTable<u32> = HashTable::with_capacity(keys.len());
        for index in 0..keys.len() {
            let key = keys.get(index);
            let place = *seen
                .entry(
                    xxh3_64(key),
                    |&place| keys.get(changes[place as usize].0 as usize) == key,
                    |&place| xxh3_64(keys.get(changes[place as usize].0 as usize)),
                )
                .or_insert_with(|| index_of(changes.len()))
                .get();
            if place as usize == changes.len() {
                changes.push((index_of(index), KeyChange::default()));
            }
            let change = &mut changes[place as usize].1;
            let (side, other) = match net.delta.weight(index) {
                1 => (&mut change.new, "two rows with one key"),
                -1 => (&mut change.old, "two rows with one key taken away"),
                weight => return Err(self.broken(net, index, &format!("weight {weight}"))),
            };
            if side.replace(index_of(index)).is_some() {
                return Err(self.broken(net, index, other));
            }
        }
        Ok(changes.into_iter().map(|(_, change)| change).collect())
    }

    /// A key that only comes must not be there. What goes must be there as it was: that costs a
    /// read of every changed row, and is checked in debug builds.
    fn check_stored(
        &mut self,
        net: &Net,
        keys: &KeyArena,
        changes: &[KeyChange],
    ) -> Result<(), OperatorError> {
        let looked_at: Vec<&KeyChange> = changes
            .iter()
            .filter(|change| cfg!(debug_assertions) || change.old.is_none())
            .collect();
        let place = |change: &KeyChange| change.old.or(change.new).unwrap_or(0) as usize;
        let asked: Vec<&[u8]> = looked_at.iter().map(|change| keys.get(place(change))).collect();
        let stored = self.table.get_many(&asked)?;
        for (change, stored) in looked_at.into_iter().zip(stored) {
            let problem = match (change.old, stored) {
                (None, None) => continue,
                (None, Some(_)) => "a second row with its key",
                (Some(_), None) => "a row that is not there taken away",
                (Some(old), Some(stored)) if stored == net.row(old as usize) => continue,
                (Some(_), Some(_)) => "another row than the stored one taken away",
            };
            return Err(self.broken(net, place(change), problem));
        }
        Ok(())
    }

    /// Writes the net change of a multiset: weights add to the stored ones.
    fn write_multiset(&mut self, net: &Net, keys: &KeyArena) -> Result<(), OperatorError> {
        let asked: Vec<&[u8]> = keys.iter().collect();
        let stored = self.table.get_many(&asked)?;
        for (index, stored) in stored.into_iter().enumerate() {
            if index % CHECK_ROWS == 0 {
                self.waiting.check()?;
            }
            let before = stored.as_deref().map_or(Ok(0), RowLayout::weight_of)?;
            let after = before + net.delta.weight(index);
            match after {
                0 => self.table.delete(keys.get(index)),
                1.. => self.table.put(keys.get(index), &RowLayout::weight_bytes(after)),
                _ => return Err(self.broken(net, index, &format!("a row there {after} times"))),
            }
        }
        Ok(())
    }

    fn broken(&self, net: &Net, row: usize, what: &str) -> OperatorError {
        let text = crate::expr::row_text(net.delta.batch(), row);
        OperatorError::Invariant(format!("object {}: {what}: {text}", self.object.0))
    }
}

impl Operator for Materialize {
    fn process(
        &mut self,
        _port: usize,
        delta: Delta,
        _output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let columns = delta.batch().columns().to_vec();
        let batch = batch_of(&self.schema, columns, delta.rows())?;
        let delta = delta.with_batch(batch);
        self.waiting.add_bytes(to_write(&delta));
        self.buffer.push(delta);
        if self.buffer.rows() >= self.compact_at { self.compact() } else { Ok(()) }
    }

    fn flush(&mut self, _: &EpochEnd, output: &mut dyn Output) -> Result<(), OperatorError> {
        if self.buffer.rows() == 0 {
            return Ok(());
        }
        self.compact_at = COMPACT_ROWS_MIN;
        let net = net(self.buffer.take()?, &self.row)?;
        self.waiting.end();
        let keys = self.layout.storage_keys(net.delta.batch(), net.rows())?;
        if self.layout.is_keyed() {
            self.write_keyed(&net, &keys)?;
        } else {
            self.write_multiset(&net, &keys)?;
        }
        emit_chunks(&net.delta, output)
    }

    fn tables(&mut self) -> Vec<&mut Table> {
        vec![&mut self.table]
    }
}

/// Rows of one batch are counted in 32 bits, as Arrow's indices are.
fn index_of(place: usize) -> u32 {
    u32::try_from(place).expect("a batch has fewer than 2^32 rows")
}

#[cfg(test)]
mod tests {
    use std::ops::Bound;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::testing::{
        Harness, Live, Row, ZSet, add, any_between, any_change, any_row, delta_of, row_schema, step,
    };
    use super::*;
    use crate::graph::NodeKind;

    const OBJECT: ObjectId = ObjectId(16400);

    fn harness(key: &[usize], distribution: &[usize]) -> Harness {
        let (key, distribution) = (key.to_vec(), distribution.to_vec());
        let materialize = graph::Materialize { key, distribution };
        Harness::new(NodeKind::Materialize(materialize), vec![row_schema()], row_schema())
    }

    /// The committed rows, as a reader sees them.
    fn contents(harness: &Harness, key: &[usize], distribution: &[usize]) -> ZSet {
        let layout = RowLayout::new(row_schema(), key, distribution).expect("valid");
        let snapshot = harness.store().snapshot();
        let page = snapshot.page(TableId::contents(OBJECT), Bound::Unbounded, None, usize::MAX);
        let page = page.expect("reads");
        let mut rows = ZSet::new();
        add(&mut rows, &layout.decode(page.entries()).expect("decodes"));
        rows
    }

    fn zset(rows: &[Row]) -> ZSet {
        let rows: Vec<_> = rows.iter().map(|row| (row.clone(), 1)).collect();
        let mut all = ZSet::new();
        add(&mut all, &delta_of(&rows));
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn a_multiset_is_the_sum_of_its_deltas(
            distribution in prop_oneof![Just(vec![]), Just(vec![1])],
            epochs in vec((vec(any_change(), 0..24), any_between()), 1..6),
        ) {
            let mut harness = harness(&[], &distribution);
            let mut live = Live::default();
            for (changes, between) in epochs {
                let rows = live.apply(&changes);
                let deltas = rows.chunks(7).map(|rows| (0, delta_of(rows))).collect();
                step(&mut harness, deltas, between);
                prop_assert_eq!(&harness.output, &zset(&live.0));
            }
            harness.epoch(Vec::new());
            prop_assert_eq!(&contents(&harness, &[], &distribution), &zset(&live.0));
            harness.epoch(vec![(0, delta_of(&live.clear()))]);
            prop_assert_eq!(harness.entries(), 0);
        }

        #[test]
        fn a_keyed_object_has_the_last_row_of_each_key(
            distribution in prop_oneof![Just(vec![]), Just(vec![0]), Just(vec![1])],
            epochs in vec((vec((any_row(), any::<bool>()), 0..16), any_between()), 1..6),
        ) {
            let mut harness = harness(&[0], &distribution);
            let mut live: Vec<Row> = Vec::new();
            for (writes, between) in epochs {
                let mut rows = Vec::new();
                for (row, keep) in writes {
                    if let Some(at) = live.iter().position(|other| other.k == row.k) {
                        rows.push((live.swap_remove(at), -1));
                    }
                    if keep {
                        live.push(row.clone());
                        rows.push((row, 1));
                    }
                }
                rows.reverse();
                let deltas = rows.chunks(5).map(|rows| (0, delta_of(rows))).collect();
                step(&mut harness, deltas, between);
                prop_assert_eq!(&harness.output, &zset(&live));
            }
            harness.epoch(Vec::new());
            prop_assert_eq!(&contents(&harness, &[0], &distribution), &zset(&live));
        }
    }

    fn row(k: i64, d: i128) -> Row {
        Row { k: Some(k), s: None, d: Some(d), f: None, b: None }
    }

    #[test]
    fn broken_input_is_told_with_the_object() {
        let broken = |harness: &mut Harness, rows: &[(Row, i64)]| {
            let result = harness.try_epoch(vec![(0, delta_of(rows))]);
            let text = result.expect_err("is broken").to_string();
            assert!(text.contains("object 16400"), "{text}");
            text
        };
        let mut keyed = harness(&[0], &[0]);
        keyed.epoch(vec![(0, delta_of(&[(row(1, 1), 1)]))]);
        assert!(broken(&mut keyed, &[(row(1, 2), 1)]).contains("a second row with its key"));
        let mut keyed = harness(&[0], &[0]);
        assert!(broken(&mut keyed, &[(row(1, 2), 1), (row(1, 3), 1)]).contains("two rows"));
        let mut keyed = harness(&[0], &[0]);
        assert!(broken(&mut keyed, &[(row(1, 2), 2)]).contains("weight 2"));
        let mut multiset = harness(&[], &[]);
        assert!(broken(&mut multiset, &[(row(1, 2), -1)]).contains("-1 times"));
    }

    #[test]
    fn what_cancels_in_an_epoch_leaves_nothing() {
        let mut harness = harness(&[0], &[0]);
        let given = harness.epoch(vec![
            (0, delta_of(&[(row(1, 1), -1), (row(2, 2), 1)])),
            (0, delta_of(&[(row(1, 1), 1), (row(2, 2), -1)])),
        ]);
        assert!(given.is_empty());
        assert_eq!(harness.entries(), 0);
    }
}
