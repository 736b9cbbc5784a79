//! The first rows of each group:
//! `Δout = Σ over changed groups of (−top(old rows) + top(new rows))`.
//!
//! All rows are kept in their order, so that what leaves is refilled from what comes next, and a
//! group's first rows are read by one scan that ends with the last of them:
//!
//! ```text
//!  vnode | group | entry  ->  weight, i64 big-endian         (`ordered`)
//! ```

use std::collections::BTreeMap;

use arrow::datatypes::SchemaRef;

use super::batch::emit_chunks;
use super::buffer::{Buffer, consolidate};
use super::ordered::OrderedRows;
use super::{EpochEnd, Operator, OperatorError, Output};
use crate::graph;
use crate::state::{RowLayout, Store, Table};
use crate::types::key::KeyArena;
use crate::types::{Delta, ObjectId, TableId};

/// The first rows of each group, an actor's share of the groups.
pub struct TopN {
    rows: OrderedRows,
    range: Range,
    buffer: Buffer,
    table: Table,
}

/// Which of the ordered rows are given.
struct Range {
    offset: u64,
    end: Option<u64>,
    with_ties: bool,
}

/// Rows of one group, and how often each is given.
type Top = BTreeMap<Vec<u8>, i64>;

impl TopN {
    /// For operator `operator` of `object`'s job, over and giving rows with `schema`.
    pub fn new(
        top: &graph::TopN,
        (object, operator): (ObjectId, u16),
        schema: SchemaRef,
        store: &Store,
    ) -> Result<Self, OperatorError> {
        Ok(Self {
            rows: OrderedRows::new(&schema, &top.group, &top.order)?,
            range: Range {
                offset: top.offset,
                end: top.limit.map(|limit| top.offset.saturating_add(limit)),
                with_ties: top.with_ties,
            },
            buffer: Buffer::new(schema),
            table: store.table(TableId::of_operator(object, operator, 0)),
        })
    }

    /// Adds what is buffered to its groups, and gives what that changes of their first rows.
    fn drain(&mut self, output: &mut dyn Output) -> Result<(), OperatorError> {
        if self.buffer.rows() == 0 {
            return Ok(());
        }
        let delta = consolidate(self.buffer.take()?, &self.rows.row)?;
        let groups = self.rows.group.encode(delta.batch())?;
        let entries = self.rows.entry.encode(delta.batch())?;
        let mut rows: Vec<usize> = (0..delta.rows()).collect();
        rows.sort_unstable_by_key(|&row| groups.row(row));
        let mut change = Change::default();
        for rows in rows.chunk_by(|&a, &b| groups.row(a) == groups.row(b)) {
            let group = groups.row(rows[0]).data();
            let prefix = OrderedRows::prefix(group);
            let before = self.top(&prefix)?;
            self.write(
                &prefix,
                rows.iter().map(|&row| (entries.row(row).data(), delta.weight(row))),
            )?;
            let after = self.top(&prefix)?;
            change.add(group, before, after);
            if change.weights.len() >= super::OUTPUT_ROWS_MAX {
                self.give(std::mem::take(&mut change), output)?;
            }
        }
        self.give(change, output)
    }

    /// Adds `rows`, encoded, of the group at `prefix`.
    fn write<'a>(
        &mut self,
        prefix: &[u8],
        rows: impl Iterator<Item = (&'a [u8], i64)>,
    ) -> Result<(), OperatorError> {
        let mut places = KeyArena::default();
        let mut weights = Vec::new();
        for (row, weight) in rows {
            places.push(&[prefix, row]);
            weights.push(weight);
        }
        let asked: Vec<&[u8]> = places.iter().collect();
        let stored = self.table.get_many(&asked)?;
        // A row may be there twice: `consolidate` leaves deltas without deletions as they are.
        let mut changed: BTreeMap<&[u8], i64> = BTreeMap::new();
        for ((place, stored), weight) in places.iter().zip(stored).zip(weights) {
            let before = stored.as_deref().map_or(Ok(0), RowLayout::weight_of)?;
            *changed.entry(place).or_insert(before) += weight;
        }
        for (place, weight) in changed {
            match weight {
                0 => self.table.delete(place),
                weight => self.table.put(place, &RowLayout::weight_bytes(weight)),
            }
        }
        Ok(())
    }

    /// The first rows of the group at `prefix`, as they are now.
    fn top(&mut self, prefix: &[u8]) -> Result<Top, OperatorError> {
        let Self { table, range, rows: OrderedRows { entry, order, .. }, .. } = self;
        let mut top = Top::new();
        let mut passed: u64 = 0;
        // The order of the last row of the range, once that is found: others may tie with it.
        let mut last: Option<Vec<u8>> = None;
        let mut result = Ok(());
        table.scan_prefix(prefix, &mut |key, value| {
            let row = &key[prefix.len()..];
            let mut visit = || -> Result<bool, OperatorError> {
                let weight = RowLayout::weight_of(value)?;
                // Within an epoch, what goes may come before what it goes with.
                let Ok(copies) = u64::try_from(weight) else { return Ok(true) };
                if let Some(last) = &last {
                    let ties = row.starts_with(last);
                    if ties {
                        top.insert(row.to_vec(), weight);
                    }
                    return Ok(ties);
                }
                let end = passed.saturating_add(copies);
                let from = passed.max(range.offset);
                let to = range.end.map_or(end, |range_end| end.min(range_end));
                passed = end;
                let full = range.end.is_some_and(|range_end| end >= range_end);
                if full && range.with_ties && range.end > Some(range.offset) {
                    let columns = entry.decode([row])?;
                    let ordered = &columns[..order.columns().len()];
                    let encoded = order.encode_columns(ordered, 1)?;
                    last = Some(encoded.row(0).data().to_vec());
                    top.insert(row.to_vec(), (end - from) as i64);
                    return Ok(true);
                }
                if to > from {
                    top.insert(row.to_vec(), (to - from) as i64);
                }
                Ok(!full)
            };
            match visit() {
                Ok(more) => more,
                Err(error) => {
                    result = Err(error);
                    false
                }
            }
        })?;
        result.map(|()| top)
    }

    fn give(&self, change: Change, output: &mut dyn Output) -> Result<(), OperatorError> {
        let Change { groups, rows, weights } = change;
        if weights.is_empty() {
            return Ok(());
        }
        let batch = self.rows.assemble(groups.iter(), rows.iter(), weights.len())?;
        emit_chunks(&Delta::new(batch, Some(weights.into())), output)
    }
}

/// Rows that come and go, encoded.
#[derive(Default)]
struct Change {
    groups: KeyArena,
    rows: KeyArena,
    weights: Vec<i64>,
}

impl Change {
    /// Adds what is different `after` in `group`.
    fn add(&mut self, group: &[u8], before: Top, mut after: Top) {
        for (row, copies) in before {
            *after.entry(row).or_default() -= copies;
        }
        for (row, weight) in after {
            if weight != 0 {
                self.groups.push(&[group]);
                self.rows.push(&[&row]);
                self.weights.push(weight);
            }
        }
    }
}

impl Operator for TopN {
    fn process(
        &mut self,
        _port: usize,
        delta: Delta,
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        self.buffer.push(delta);
        if self.buffer.is_full() { self.drain(output) } else { Ok(()) }
    }

    fn flush(&mut self, _: &EpochEnd, output: &mut dyn Output) -> Result<(), OperatorError> {
        self.drain(output)
    }

    fn tables(&mut self) -> Vec<&mut Table> {
        vec![&mut self.table]
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use arrow::array::UInt32Array;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::testing::{
        Harness, Live, Row, ZSet, add, any_between, any_change, delta_of, row_schema, step,
    };
    use super::*;
    use crate::graph::{NodeKind, Order};

    const K: usize = 0;
    const D: usize = 2;

    #[derive(Debug, Clone)]
    struct Case {
        grouped: bool,
        descending: bool,
        nulls_first: bool,
        offset: u64,
        limit: Option<u64>,
        with_ties: bool,
    }

    impl Case {
        fn node(&self) -> graph::TopN {
            graph::TopN {
                group: if self.grouped { vec![K] } else { Vec::new() },
                order: vec![Order {
                    column: D,
                    descending: self.descending,
                    nulls_first: self.nulls_first,
                }],
                offset: self.offset,
                limit: self.limit,
                with_ties: self.with_ties,
            }
        }

        fn by_order(&self, a: &Row, b: &Row) -> Ordering {
            match (a.d, b.d) {
                (Some(a), Some(b)) if self.descending => b.cmp(&a),
                (Some(a), Some(b)) => a.cmp(&b),
                (None, None) => Ordering::Equal,
                (None, Some(_)) if self.nulls_first => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(_), None) => self.by_order(b, a).reverse(),
            }
        }

        /// The first rows, by sorting all.
        fn oracle(&self, rows: &[Row]) -> ZSet {
            let mut sorted: Vec<&Row> = rows.iter().collect();
            sorted.sort_by(|a, b| self.by_order(a, b).then_with(|| a.by_others(b)));
            let mut groups: BTreeMap<Option<i64>, Vec<&Row>> = BTreeMap::new();
            for row in sorted {
                groups.entry(row.k.filter(|_| self.grouped)).or_default().push(row);
            }
            // Rows without a key are a group of their own, also among keyed ones.
            let mut given = Vec::new();
            for rows in groups.values() {
                let offset = self.offset as usize;
                let end = self.limit.map_or(rows.len(), |limit| offset + limit as usize);
                let mut end = end.min(rows.len());
                if self.with_ties && end > offset.min(rows.len()) {
                    let ties = |row: &&&Row| self.by_order(row, rows[end - 1]).is_eq();
                    end += rows[end..].iter().take_while(ties).count();
                }
                given.extend(rows[offset.min(end)..end].iter().map(|row| ((*row).clone(), 1)));
            }
            let mut all = ZSet::new();
            add(&mut all, &delta_of(&given));
            all
        }
    }

    fn any_case() -> impl Strategy<Value = Case> {
        let limit = prop_oneof![1 => Just(None), 4 => (0u64..6).prop_map(Some)];
        (any::<bool>(), any::<bool>(), any::<bool>(), 0u64..3, limit, any::<bool>()).prop_map(
            |(grouped, descending, nulls_first, offset, limit, with_ties)| Case {
                grouped,
                descending,
                nulls_first,
                offset,
                limit,
                with_ties: with_ties && limit.is_some(),
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn equals_sorting_after_every_epoch(
            case in any_case(),
            epochs in vec((vec(any_change(), 0..30), any_between()), 1..8),
        ) {
            let kind = NodeKind::TopN(case.node());
            let mut harness = Harness::new(kind, vec![row_schema()], row_schema());
            let mut live = Live::default();
            for (changes, between) in epochs {
                let rows = live.apply(&changes);
                let deltas = rows.chunks(7).map(|rows| (0, delta_of(rows))).collect();
                step(&mut harness, deltas, between);
                prop_assert_eq!(&harness.output, &case.oracle(&live.0));
            }
            harness.epoch(vec![(0, delta_of(&live.clear()))]);
            prop_assert_eq!(&harness.output, &ZSet::new());
            prop_assert_eq!(harness.entries(), 0, "state is left");
        }
    }

    /// Many rows, of which only the first are ever read.
    #[test]
    fn the_first_of_many_are_refilled() {
        let case = Case {
            grouped: false,
            descending: true,
            nulls_first: true,
            offset: 0,
            limit: Some(2),
            with_ties: false,
        };
        let kind = NodeKind::TopN(case.node());
        let mut harness = Harness::new(kind, vec![row_schema()], row_schema());
        let row = |d: i128| Row { k: None, s: None, d: Some(d), f: None, b: None };
        let all: Vec<_> = (0..30_000).map(|d| (row(d), 1)).collect();
        harness.epoch(vec![(0, delta_of(&all))]);
        let rows = delta_of(&all);
        let gone: Vec<u32> = (10..30_000).collect();
        let gone = rows.take(&UInt32Array::from(gone)).expect("takes");
        harness.epoch(vec![(0, Delta::deletes(gone.batch().clone()))]);
        let left: Vec<Row> = (0..10).map(row).collect();
        assert_eq!(harness.output, case.oracle(&left));
    }
}
