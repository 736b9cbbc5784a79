//! Joins against nested loops over the rows that are there.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute;
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::logical_expr::Operator as Comparison;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, binary};
use expect_test::expect;
use proptest::collection::vec;
use proptest::prelude::*;

use super::super::OUTPUT_ROWS_MAX;
use super::super::testing::{
    Between, Harness, Live, Row, ZSet, add, any_between, any_change, delta_of, pretty, row_schema,
    step,
};
use crate::graph::{self, JoinKind, NodeKind};
use crate::types::Delta;

const K: usize = 0;
const S: usize = 1;
const D: usize = 2;

fn output_schema() -> SchemaRef {
    let input = row_schema();
    let side = |name: &'static str| {
        let field = move |field: &Arc<Field>| {
            field.as_ref().clone().with_name(format!("{name}_{}", field.name()))
        };
        input.fields().iter().map(field).collect::<Vec<_>>()
    };
    Arc::new(Schema::new([side("l"), side("r")].concat()))
}

/// `l.d < r.d`.
fn filter() -> Arc<dyn PhysicalExpr> {
    let column = |index: usize| -> Arc<dyn PhysicalExpr> {
        Arc::new(Column::new(output_schema().field(index).name(), index))
    };
    binary(column(D), Comparison::Lt, column(5 + D), &output_schema()).expect("types fit")
}

#[derive(Debug, Clone)]
struct Case {
    kind: JoinKind,
    key: Vec<usize>,
    null_equal: bool,
    filtered: bool,
}

impl Case {
    fn harness(&self) -> Harness {
        let join = graph::Join {
            kind: self.kind,
            left_key: self.key.clone(),
            right_key: self.key.clone(),
            null_equal: self.null_equal,
            filter: self.filtered.then(filter),
        };
        let schema = if self.kind.gives_pairs() { output_schema() } else { row_schema() };
        Harness::new(NodeKind::Join(join), vec![row_schema(), row_schema()], schema)
    }

    fn matches(&self, left: &Row, right: &Row) -> bool {
        fn equal<T: PartialEq>(a: &Option<T>, b: &Option<T>, null_equal: bool) -> bool {
            a == b && (null_equal || a.is_some())
        }
        let keys = self.key.iter().all(|column| match *column {
            K => equal(&left.k, &right.k, self.null_equal),
            _ => equal(&left.s, &right.s, self.null_equal),
        });
        keys && (!self.filtered || matches!((left.d, right.d), (Some(l), Some(r)) if l < r))
    }

    /// The join as a definition, not an algorithm.
    fn oracle(&self, left: &[Row], right: &[Row]) -> ZSet {
        let mut pairs: Vec<(Option<usize>, Option<usize>)> = Vec::new();
        let [of_left, of_right] = self.kind.gives_rows();
        let matched =
            |l: usize, r: usize| self.matches(&left[l], &right[r]).then_some((Some(l), Some(r)));
        for l in 0..left.len() {
            let matches: Vec<_> = (0..right.len()).filter_map(|r| matched(l, r)).collect();
            if of_left == Some(!matches.is_empty()) {
                pairs.push((Some(l), None));
            }
            if self.kind.gives_pairs() {
                pairs.extend(matches);
            }
        }
        for r in 0..right.len() {
            let found = (0..left.len()).any(|l| matched(l, r).is_some());
            if of_right == Some(found) {
                pairs.push((None, Some(r)));
            }
        }
        let side = |rows: &[Row], chosen: Vec<Option<usize>>| -> Vec<ArrayRef> {
            let rows: Vec<_> = rows.iter().map(|row| (row.clone(), 1)).collect();
            let batch = delta_of(&rows).batch().clone();
            let chosen = chosen.iter().map(|row| row.map(|row| row as u32));
            let chosen = compute::take_record_batch(&batch, &UInt32Array::from_iter(chosen));
            chosen.expect("takes").columns().to_vec()
        };
        let (lefts, rights) = pairs.into_iter().unzip();
        let mut columns = side(left, lefts);
        let schema = if self.kind.gives_pairs() {
            columns.extend(side(right, rights));
            output_schema()
        } else {
            row_schema()
        };
        let mut all = ZSet::new();
        let batch = RecordBatch::try_new(schema, columns).expect("columns fit");
        add(&mut all, &Delta::inserts(batch));
        all
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    let key = prop_oneof![Just(vec![K]), Just(vec![S]), Just(vec![S, K]), Just(vec![])];
    let kind = prop_oneof![
        2 => Just(JoinKind::Inner),
        1 => Just(JoinKind::Left),
        1 => Just(JoinKind::Right),
        1 => Just(JoinKind::Full),
        1 => Just(JoinKind::LeftSemi),
        1 => Just(JoinKind::LeftAnti),
    ];
    (kind, key, any::<bool>(), any::<bool>()).prop_map(|(kind, key, null_equal, filtered)| Case {
        kind,
        key,
        null_equal,
        filtered: filtered && kind == JoinKind::Inner,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn equals_nested_loops_after_every_epoch(
        case in any_case(),
        epochs in vec((vec(any_change(), 0..40), vec(any_change(), 0..20), any_between()), 1..8),
    ) {
        let mut harness = case.harness();
        let (mut left, mut right) = (Live::default(), Live::default());
        for (left_changes, right_changes, between) in epochs {
            let rows = [left.apply(&left_changes), right.apply(&right_changes)];
            let deltas = (0..2).flat_map(|port| {
                rows[port].chunks(9).map(move |rows| (port, delta_of(rows)))
            });
            step(&mut harness, deltas.collect(), between);
            prop_assert_eq!(&harness.output, &case.oracle(&left.0, &right.0));
        }
        let deltas = vec![(0, delta_of(&left.clear())), (1, delta_of(&right.clear()))];
        harness.epoch(deltas);
        prop_assert_eq!(&harness.output, &ZSet::new());
        prop_assert_eq!(harness.entries(), 0, "state is left");
    }
}

fn row(k: Option<i64>, d: i128) -> Row {
    Row { k, s: None, d: Some(d), f: None, b: None }
}

fn on_k() -> Case {
    Case { kind: JoinKind::Inner, key: vec![K], null_equal: false, filtered: false }
}

#[test]
fn both_sides_new_in_one_epoch_meet_once() {
    let mut harness = on_k().harness();
    let left = delta_of(&[(row(Some(1), 10), 2), (row(None, 11), 1)]);
    let right = delta_of(&[(row(Some(1), 20), 1), (row(Some(1), 21), 3), (row(None, 22), 1)]);
    let given = harness.epoch(vec![(1, right), (0, left)]);
    assert!(given.iter().all(|delta| delta.rows() <= 2));
    expect![[r#"
        +2 1 - 0.10 - - 1 - 0.20 - -
        +6 1 - 0.10 - - 1 - 0.21 - -"#]]
    .assert_eq(&pretty(&given));
    let gone = harness.epoch(vec![(0, delta_of(&[(row(Some(1), 10), -2)]))]);
    expect![[r#"
        -2 1 - 0.10 - - 1 - 0.20 - -
        -6 1 - 0.10 - - 1 - 0.21 - -"#]]
    .assert_eq(&pretty(&gone));
}

/// Thousands of rows of one key on one side, a few on the other: in chunks, from memory and disk.
#[test]
fn a_hot_key_is_given_in_chunks() {
    let mut harness = on_k().harness();
    let many: Vec<_> = (0..20_000).map(|d| (row(Some(1), d), 1)).collect();
    harness.epoch(vec![(0, delta_of(&many))]);
    let probe = delta_of(&[(row(Some(1), -1), 1), (row(Some(1), -2), 1), (row(Some(2), 0), 1)]);
    let given = harness.epoch(vec![(1, probe)]);
    assert!(given.iter().all(|delta| delta.rows() <= OUTPUT_ROWS_MAX));
    assert_eq!(harness.output.len(), 40_000);
    assert!(harness.output.values().all(|weight| *weight == 1));
    harness.restart();
    harness.epoch(vec![(1, delta_of(&[(row(Some(1), -1), -1)]))]);
    assert_eq!(harness.output.len(), 20_000);
    let gone: Vec<_> = many.into_iter().map(|(row, _)| (row, -1)).collect();
    step(&mut harness, vec![(0, delta_of(&gone))], Between::Evict(0));
    assert!(harness.output.is_empty());
    harness.epoch(vec![(1, delta_of(&[(row(Some(1), -2), -1), (row(Some(2), 0), -1)]))]);
    assert_eq!(harness.entries(), 0);
}

/// The key has no rows on the way, when the old ones have gone and the new ones have not come.
#[test]
fn all_rows_of_a_hot_key_are_replaced_in_one_epoch() {
    let mut harness = on_k().harness();
    let rows = |range: std::ops::Range<i128>, weight: i64| -> Vec<_> {
        range.map(|d| (row(Some(1), d), weight)).collect()
    };
    harness.epoch(vec![(0, delta_of(&rows(0..2000, 1)))]);
    let replaced = [rows(0..2000, -1), rows(2000..4000, 1)].concat();
    harness.epoch(vec![(0, delta_of(&replaced))]);
    harness.epoch(vec![(1, delta_of(&[(row(Some(1), -1), 1)]))]);
    assert_eq!(harness.output.len(), 2000);
    step(&mut harness, vec![(0, delta_of(&rows(2000..4000, -1)))], Between::Evict(0));
    assert!(harness.output.is_empty());
    harness.epoch(vec![(1, delta_of(&[(row(Some(1), -1), -1)]))]);
    assert_eq!(harness.entries(), 0);
}

#[test]
fn more_rows_going_than_came_is_a_broken_invariant() {
    let mut harness = on_k().harness();
    assert!(harness.try_epoch(vec![(0, delta_of(&[(row(Some(1), 1), -1)]))]).is_err());
}

#[test]
fn state_has_the_bytes_of_its_picture() {
    let mut harness = on_k().harness();
    let left = delta_of(&[(row(Some(1), 10), 2), (row(Some(1), 11), 1)]);
    let right = delta_of(&[(Row { s: Some("b"), ..row(Some(2), 20) }, 1)]);
    harness.epoch(vec![(0, left), (1, right)]);
    expect![[r#"
        0 82018000000000000001 01043aff018000000000000000000000000000000aff0000000000000000ff00023aff018000000000000000000000000000000bff0000000000000000ff00
        1 d3018000000000000002 01024c026200000000000000010180000000000000000000000000000014ff0000000000000000ff00
    "#]].assert_eq(&harness.bytes());
    let long = "x".repeat(600).leak();
    let many: Vec<_> = (0..4).map(|d| (Row { s: Some(long), ..row(Some(1), d) }, 1)).collect();
    let spread = Case { kind: JoinKind::Inner, key: vec![K], null_equal: false, filtered: false };
    let mut harness = spread.harness();
    harness.epoch(vec![(0, delta_of(&many))]);
    assert_eq!(harness.entries(), 5, "an entry each, and how many");
    assert!(harness.bytes().lines().next().is_some_and(|marker| marker.ends_with(" 0208")));
}

/// What cancels within an epoch is not given: a row that comes with its match was never alone.
#[test]
fn a_row_and_its_match_in_one_epoch_were_never_apart() {
    let mut harness = Case { kind: JoinKind::Full, ..on_k() }.harness();
    let left = delta_of(&[(row(Some(1), 10), 1), (row(None, 11), 1)]);
    let right = delta_of(&[(row(Some(1), 20), 1)]);
    let given = harness.epoch(vec![(0, left), (1, right.clone())]);
    expect![[r#"
        +1 - - 0.11 - - - - - - -
        +1 1 - 0.10 - - 1 - 0.20 - -"#]]
    .assert_eq(&pretty(&given));
    let gone = Delta::new(right.batch().clone(), Some(vec![-1].into()));
    let given = harness.epoch(vec![(1, gone), (1, right)]);
    assert_eq!(pretty(&given), "");
}

/// What one long row too many has spread is packed again when a single row is left.
#[test]
fn a_key_of_one_row_has_one_entry() {
    let mut harness = on_k().harness();
    let long = "x".repeat(1500).leak();
    let row_of = |d| Row { s: Some(long), ..row(Some(1), d) };
    harness.epoch(vec![(0, delta_of(&[(row_of(1), 1), (row_of(2), 1), (row_of(3), 1)]))]);
    assert_eq!(harness.entries(), 4, "an entry each, and how many");
    harness.epoch(vec![(0, delta_of(&[(row_of(1), -1), (row_of(3), -1)]))]);
    assert_eq!(harness.entries(), 1);
    harness.restart();
    harness.epoch(vec![(1, delta_of(&[(row(Some(1), 7), 1)]))]);
    assert_eq!(harness.output.len(), 1, "the row that is left is found");
    harness.epoch(vec![(0, delta_of(&[(row_of(2), -1)])), (1, delta_of(&[(row(Some(1), 7), -1)]))]);
    assert_eq!(harness.entries(), 0);
}
