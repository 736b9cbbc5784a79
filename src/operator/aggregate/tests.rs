//! GROUP BY against results computed naively over the rows that are there.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use expect_test::{Expect, expect};
use proptest::collection::vec;
use proptest::prelude::*;

use super::super::testing::{
    Between, Harness, Live, Row, ZSet, add, any_between, any_change, any_row, delta_of, pretty,
    row_schema, step,
};
use crate::error::code;
use crate::graph::{self, AggregateCall, AggregateFunction, NodeKind};
use crate::types::Delta;

const K: usize = 0;
const S: usize = 1;
const D: usize = 2;
const F: usize = 3;
const B: usize = 4;

fn call(
    function: AggregateFunction,
    argument: impl Into<Option<usize>>,
    distinct: bool,
    filter: Option<usize>,
) -> AggregateCall {
    AggregateCall { function, argument: argument.into(), distinct, filter }
}

/// Every function over every type that it takes, plain, DISTINCT and with FILTER.
fn calls() -> Vec<(AggregateCall, DataType)> {
    use AggregateFunction::{Avg, Count, Max, Min, Sum};
    let numeric = |scale| DataType::Decimal128(38, scale);
    vec![
        (call(Count, None, false, None), DataType::Int64),
        (call(Count, F, false, Some(B)), DataType::Int64),
        (call(Count, S, true, None), DataType::Int64),
        (call(Count, S, true, Some(B)), DataType::Int64),
        (call(Sum, K, false, None), numeric(0)),
        (call(Sum, K, true, None), DataType::Int64),
        (call(Sum, D, false, Some(B)), numeric(2)),
        (call(Sum, D, true, None), numeric(2)),
        (call(Sum, F, false, None), DataType::Float64),
        (call(Avg, K, false, None), numeric(16)),
        (call(Avg, D, false, None), numeric(16)),
        (call(Avg, F, true, Some(B)), DataType::Float64),
        (call(Min, S, false, None), DataType::Utf8),
        (call(Max, S, false, Some(B)), DataType::Utf8),
        (call(Min, F, true, None), DataType::Float64),
        (call(Max, D, false, None), DataType::Decimal128(10, 2)),
    ]
}

fn output_schema(group: &[usize], calls: &[(AggregateCall, DataType)]) -> SchemaRef {
    let input = row_schema();
    let mut fields: Vec<Field> = group.iter().map(|&column| input.field(column).clone()).collect();
    let results = calls.iter().enumerate();
    fields
        .extend(results.map(|(i, (_, result))| Field::new(format!("c{i}"), result.clone(), true)));
    Arc::new(Schema::new(fields))
}

fn harness(group: &[usize], calls: &[(AggregateCall, DataType)], append_only: bool) -> Harness {
    let aggregate = graph::Aggregate {
        group: group.to_vec(),
        calls: calls.iter().map(|(call, _)| call.clone()).collect(),
        append_only_input: append_only,
    };
    let schema = output_schema(group, calls);
    Harness::new(NodeKind::Aggregate(aggregate), vec![row_schema()], schema)
}

/// The rows that a call sees.
fn seen<'a>(rows: &[&'a Row], call: &AggregateCall) -> Vec<&'a Row> {
    let passes = |row: &&&Row| call.filter.is_none() || row.b == Some(true);
    rows.iter().filter(passes).copied().collect()
}

/// The values of `rows`, each once if `distinct`.
fn values<T: PartialEq>(
    rows: &[&Row],
    distinct: bool,
    value: impl Fn(&Row) -> Option<T>,
) -> Vec<T> {
    let mut values = Vec::new();
    for value in rows.iter().filter_map(|row| value(row)) {
        if !distinct || !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

fn half_away(sum: i128, count: i128) -> i128 {
    (2 * sum.abs() + count) / (2 * count) * sum.signum()
}

fn result_of(rows: &[&Row], call: &AggregateCall, result: &DataType) -> ArrayRef {
    use AggregateFunction::{Avg, Count, Max, Min, Sum};
    let rows = seen(rows, call);
    let integers = |column: usize| {
        values(&rows, call.distinct, |row| if column == K { row.k.map(i128::from) } else { row.d })
    };
    let floats = || values(&rows, call.distinct, |row| row.f);
    let texts = || values(&rows, call.distinct, |row| row.s);
    let count = match call.argument {
        None => rows.len(),
        Some(S) => texts().len(),
        Some(F) => floats().len(),
        Some(column) => integers(column).len(),
    };
    let integer = |value: Option<i128>| -> ArrayRef {
        match result {
            DataType::Decimal128(precision, scale) => {
                let column = Decimal128Array::from(vec![value]);
                Arc::new(column.with_precision_and_scale(*precision, *scale).expect("valid"))
            }
            _ => Arc::new(Int64Array::from(vec![value.map(|value| value as i64)])),
        }
    };
    let least = |ordering| match call.function {
        Min => ordering,
        _ => std::cmp::Ordering::reverse(ordering),
    };
    match (call.function, call.argument) {
        (Count, _) => Arc::new(Int64Array::from(vec![count as i64])),
        (Sum, Some(F)) => {
            let sum = (count > 0).then(|| floats().iter().sum::<f64>() + 0.0);
            Arc::new(Float64Array::from(vec![sum]))
        }
        (Avg, Some(F)) => {
            let mean = (count > 0).then(|| floats().iter().sum::<f64>() / count as f64 + 0.0);
            Arc::new(Float64Array::from(vec![mean]))
        }
        (Sum, Some(column)) => integer((count > 0).then(|| integers(column).iter().sum())),
        (Avg, Some(column)) => {
            let digits = if column == K { 16 } else { 14 };
            let sum: i128 = integers(column).iter().sum();
            integer((count > 0).then(|| half_away(sum * 10i128.pow(digits), count as i128)))
        }
        (Min | Max, Some(S)) => {
            let value = texts().into_iter().min_by(|a, b| least(a.cmp(b)));
            Arc::new(StringArray::from(vec![value]))
        }
        (Min | Max, Some(F)) => {
            let value = floats().into_iter().min_by(|a, b| least(a.total_cmp(b)));
            Arc::new(Float64Array::from(vec![value]))
        }
        (Min | Max, Some(column)) => {
            integer(integers(column).into_iter().min_by(|a, b| least(a.cmp(b))))
        }
        (_, None) => unreachable!("only count has no argument"),
        (function, _) => unreachable!("{function:?} is compared with PostgreSQL's by a script"),
    }
}

/// GROUP BY as a definition, not an algorithm.
fn oracle(rows: &[Row], group: &[usize], calls: &[(AggregateCall, DataType)]) -> ZSet {
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    if group.is_empty() {
        groups.insert(String::new(), Vec::new());
    }
    for row in rows {
        let key: Vec<String> = group
            .iter()
            .map(|column| match *column {
                K => format!("{:?}", row.k),
                S => format!("{:?}", row.s),
                _ => format!("{:?}", row.b),
            })
            .collect();
        groups.entry(key.join("|")).or_default().push(row);
    }
    let mut all = ZSet::new();
    for rows in groups.values() {
        let mut columns: Vec<ArrayRef> = Vec::new();
        for &column in group {
            let row = rows[0];
            columns.push(match column {
                K => Arc::new(Int64Array::from(vec![row.k])),
                S => Arc::new(StringArray::from(vec![row.s])),
                _ => Arc::new(BooleanArray::from(vec![row.b])),
            });
        }
        columns.extend(calls.iter().map(|(call, result)| result_of(rows, call, result)));
        let batch = RecordBatch::try_new(output_schema(group, calls), columns).expect("fits");
        add(&mut all, &Delta::inserts(batch));
    }
    all
}

fn any_group() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![Just(vec![]), Just(vec![K]), Just(vec![S]), Just(vec![S, K, B])]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn equals_its_definition_after_every_epoch(
        group in any_group(),
        epochs in vec((vec(any_change(), 0..24), any_between()), 1..8),
    ) {
        let calls = calls();
        let mut harness = harness(&group, &calls, false);
        let mut live = Live::default();
        for (changes, between) in epochs {
            let rows = live.apply(&changes);
            let deltas = rows.chunks(7).map(|rows| (0, delta_of(rows))).collect();
            step(&mut harness, deltas, between);
            prop_assert_eq!(&harness.output, &oracle(&live.0, &group, &calls));
        }
        let rows = live.clear();
        harness.epoch(vec![(0, delta_of(&rows))]);
        prop_assert_eq!(&harness.output, &oracle(&[], &group, &calls));
        prop_assert_eq!(harness.entries(), usize::from(group.is_empty()), "state is left");
    }

    #[test]
    fn append_only_equals_its_definition_too(
        group in any_group(),
        epochs in vec((vec(any_row(), 0..24), any_between()), 1..6),
    ) {
        let calls = calls();
        let mut harness = harness(&group, &calls, true);
        let mut live = Vec::new();
        for (rows, between) in epochs {
            live.extend(rows.iter().cloned());
            let rows: Vec<_> = rows.into_iter().map(|row| (row, 1)).collect();
            step(&mut harness, vec![(0, delta_of(&rows))], between);
            prop_assert_eq!(&harness.output, &oracle(&live, &group, &calls));
        }
    }
}

fn row(k: i64, d: i128) -> Row {
    Row { k: Some(k), s: None, d: Some(d), f: None, b: None }
}

fn check(harness: &mut Harness, rows: &[(Row, i64)], expected: &Expect) {
    let deltas = match rows {
        [] => Vec::new(),
        rows => vec![(0, delta_of(rows))],
    };
    expected.assert_eq(&pretty(&harness.epoch(deltas)));
}

fn by_k() -> Harness {
    let calls = [
        (call(AggregateFunction::Count, None, false, None), DataType::Int64),
        (call(AggregateFunction::Sum, D, false, None), DataType::Decimal128(38, 2)),
    ];
    harness(&[K], &calls, false)
}

#[test]
fn only_changed_groups_are_given_old_and_new() {
    let mut harness = by_k();
    check(
        &mut harness,
        &[(row(1, 150), 1), (row(2, 200), 1), (row(1, 50), 1)],
        &expect![[r#"
            +1 1 2 2.00
            +1 2 1 2.00"#]],
    );
    check(
        &mut harness,
        &[(row(1, 50), -1), (row(2, 7), 1), (row(2, 7), -1), (row(3, 1), 1)],
        &expect![[r#"
            +1 1 1 1.50
            +1 3 1 0.01
            -1 1 2 2.00"#]],
    );
    check(&mut harness, &[(row(3, 1), -1)], &expect!["-1 3 1 0.01"]);
    check(&mut harness, &[], &expect![""]);
}

#[test]
fn the_global_group_is_given_once_even_without_rows() {
    let calls = [
        (call(AggregateFunction::Count, None, false, None), DataType::Int64),
        (call(AggregateFunction::Max, D, false, None), DataType::Decimal128(10, 2)),
    ];
    let mut harness = harness(&[], &calls, false);
    check(&mut harness, &[], &expect!["+1 0 -"]);
    check(&mut harness, &[], &expect![""]);
    harness.restart();
    check(&mut harness, &[], &expect![""]);
    check(
        &mut harness,
        &[(row(1, 5), 1)],
        &expect![[r#"
            +1 1 0.05
            -1 0 -"#]],
    );
    harness.evict(0);
    check(
        &mut harness,
        &[(row(1, 5), -1)],
        &expect![[r#"
            +1 0 -
            -1 1 0.05"#]],
    );
}

#[test]
fn a_sum_that_does_not_fit_is_null_with_an_error_while_it_is_there() {
    let calls = [(call(AggregateFunction::Sum, K, false, None), DataType::Int64)];
    let mut harness = harness(&[], &calls, false);
    let most = (row(i64::MAX, 0), 1);
    check(&mut harness, &[most.clone(), most.clone()], &expect!["+1 -"]);
    assert_eq!(harness.errors.len(), 1);
    assert_eq!(harness.errors[0].error.code, code::NUMERIC_VALUE_OUT_OF_RANGE);
    assert_eq!(harness.errors[0].weight, 1);
    check(&mut harness, &[(row(1, 0), 1), (row(2, 0), 1), (row(2, 0), -1)], &expect![""]);
    assert_eq!(harness.errors.len(), 1, "it fails as it did");
    check(&mut harness, &[(row(1, 0), -1)], &expect![""]);
    check(
        &mut harness,
        &[(row(i64::MAX, 0), -1)],
        &expect![[r#"
            +1 9223372036854775807
            -1 -"#]],
    );
    assert_eq!(harness.errors.last().map(|error| error.weight), Some(-1));
}

#[test]
fn more_rows_going_than_came_is_a_broken_invariant() {
    let mut harness = by_k();
    assert!(harness.try_epoch(vec![(0, delta_of(&[(row(1, 1), -1)]))]).is_err());
}

#[test]
fn between_epochs_every_way_is_tried() {
    let mut harness = by_k();
    let ways = [Between::Nothing, Between::InFlight, Between::Restart, Between::Evict(0)];
    for between in ways {
        step(&mut harness, vec![(0, delta_of(&[(row(1, 100), 1)]))], between);
    }
    let count: Vec<_> = harness.output.keys().collect();
    assert_eq!(count, ["1 4 4.00"]);
}

#[test]
fn state_has_the_bytes_of_version_1() {
    use AggregateFunction::{Avg, Count, Max, Min, Sum};
    let calls = [
        (call(Count, None, false, None), DataType::Int64),
        (call(Sum, K, false, None), DataType::Int64),
        (call(Avg, D, false, None), DataType::Decimal128(38, 16)),
        (call(Sum, F, false, None), DataType::Float64),
        (call(Min, S, false, None), DataType::Utf8),
        (call(Count, S, true, None), DataType::Int64),
    ];
    let mut retracting = harness(&[K], &calls, false);
    let rows = [
        (Row { k: Some(3), s: Some("a"), d: Some(-150), f: Some(0.5), b: None }, 2),
        (Row { k: None, s: None, d: None, f: Some(f64::NEG_INFINITY), b: None }, 1),
    ];
    retracting.epoch(vec![(0, delta_of(&rows))]);
    expect![[r#"
        0 0dff0000000000000000 01020200000000000201000002000000
        0 69018000000000000003 010404040c0400d704040002200000000000000400140261000000000000000102
        5 6901800000000000000302610000000000000001 0000000000000002
        6 6901800000000000000302610000000000000001 0000000000000002
    "#]]
    .assert_eq(&retracting.bytes());
    let calls = [(call(Max, S, false, None), DataType::Utf8)];
    let mut append_only = harness(&[], &calls, true);
    let rows = [(Row { k: None, s: Some("b"), d: None, f: None, b: None }, 1)];
    append_only.epoch(vec![(0, delta_of(&rows))]);
    expect![[r#"
        0 00 01021402620000000000000001
    "#]]
    .assert_eq(&append_only.bytes());
}
