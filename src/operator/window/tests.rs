//! Random rows come, change and go under several functions: the results are those of going through
//! all rows in order.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::execution::SessionStateBuilder;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::functions_aggregate::min_max::max_udaf;
use datafusion::functions_window::lead_lag::{lag_udwf, lead_udwf};
use datafusion::functions_window::rank::{dense_rank_udwf, rank_udwf};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, Window, WindowFrame, WindowFrameBound, WindowFrameUnits,
    cast, col, lit, when,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;

use super::super::testing::{
    Harness, Live, Row, ZSet, add, any_between, any_change, delta_of, row_schema, step,
};
use crate::expr::relation::{ALONE, BEFORE, Given, going_on, physical_plan, sliced};
use crate::graph::{self, BatchPlan, NodeKind, Order};
use crate::types::Delta;

const K: usize = 0;
const D: usize = 2;

/// The functions, in the order in which the node has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    /// `lag(k, 2)`
    Lag,
    /// `lead(k)`
    Lead,
    /// `count(k) ... ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING`
    CountNear,
    RowNumber,
    Rank,
    DenseRank,
    /// `count(k)` so far, with peers.
    Count,
    /// `max(k)` so far, with peers.
    Max,
}

use Function::*;

const ALL: &[Function] = &[Lag, Lead, CountNear, RowNumber, Rank, DenseRank, Count, Max];

impl Function {
    fn reach(self) -> (usize, usize) {
        match self {
            Lag => (2, 0),
            Lead => (0, 1),
            CountNear => (3, 1),
            _ => (0, 0),
        }
    }

    fn by_peers(self) -> bool {
        matches!(self, Rank | DenseRank | Count | Max)
    }

    fn is_running(self) -> bool {
        self.reach() == (0, 0)
    }

    /// Its call, but for the window.
    fn call(self) -> WindowFunction {
        let k = || col("k");
        match self {
            Lag => WindowFunction::new(lag_udwf(), vec![k(), lit(2_i64)]),
            Lead => WindowFunction::new(lead_udwf(), vec![k()]),
            CountNear | Count => WindowFunction::new(count_udaf(), vec![k()]),
            RowNumber => WindowFunction::new(row_number_udwf(), Vec::new()),
            Rank => WindowFunction::new(rank_udwf(), Vec::new()),
            DenseRank => WindowFunction::new(dense_rank_udwf(), Vec::new()),
            Max => WindowFunction::new(max_udaf(), vec![k()]),
        }
    }

    fn frame(self) -> WindowFrame {
        let rows = |rows| ScalarValue::UInt64(Some(rows));
        match self {
            CountNear => WindowFrame::new_bounds(
                WindowFrameUnits::Rows,
                WindowFrameBound::Preceding(rows(3)),
                WindowFrameBound::Following(rows(1)),
            ),
            _ => WindowFrame::new(Some(false)),
        }
    }

    /// The result for row `at` of a partition's `rows`, which are in order.
    fn result(
        self,
        rows: &[&Row],
        at: usize,
        order: impl Fn(&Row, &Row) -> Ordering,
    ) -> Option<i64> {
        let k = |at: usize| rows.get(at).and_then(|row| row.k);
        let counted = |rows: &[&Row]| rows.iter().filter(|row| row.k.is_some()).count() as i64;
        let before = rows.partition_point(|row| order(row, rows[at]).is_lt());
        let so_far = &rows[..rows.partition_point(|row| order(row, rows[at]).is_le())];
        match self {
            Lag => at.checked_sub(2).and_then(k),
            Lead => k(at + 1),
            CountNear => Some(counted(&rows[at.saturating_sub(3)..rows.len().min(at + 2)])),
            RowNumber => Some(at as i64 + 1),
            Rank => Some(before as i64 + 1),
            DenseRank => {
                let groups = rows[..=at].chunk_by(|a, b| order(a, b).is_eq());
                Some(groups.count() as i64)
            }
            Count => Some(counted(so_far)),
            Max => so_far.iter().filter_map(|row| row.k).max(),
        }
    }
}

#[derive(Debug, Clone)]
struct Case {
    grouped: bool,
    descending: bool,
    functions: Vec<Function>,
}

impl Case {
    /// The node, and the schema of its output.
    fn node(&self) -> (graph::Window, SchemaRef) {
        let state = SessionStateBuilder::new()
            .with_config(datafusion::prelude::SessionConfig::new().with_target_partitions(1))
            .with_default_features()
            .build();
        let schema = Arc::new(DFSchema::try_from(sliced(&row_schema())).expect("distinct names"));
        let options = |descending| SortOptions { descending, nulls_first: descending };
        let order =
            vec![(row_schema().fields().len(), options(false)), (D, options(self.descending))];
        let order_by = vec![col("d").sort(!self.descending, self.descending)];
        let mut functions = self.functions.clone();
        if functions.contains(&Rank) {
            functions.push(RowNumber);
        }
        let windows = functions.iter().enumerate().map(|(index, function)| {
            let mut call = function.call();
            call.params.partition_by = vec![col("_slice")];
            call.params.order_by.clone_from(&order_by);
            call.params.window_frame = function.frame();
            Expr::from(call).alias(format!("r{index}"))
        });
        let given = Arc::new(Given::ordered(0, schema, order));
        let window = Window::try_new(windows.collect(), given).expect("a window");
        let results: Vec<Expr> =
            (0..functions.len()).map(|index| col(format!("r{index}"))).collect();
        let plan = LogicalPlanBuilder::from(LogicalPlan::Window(window)).project(results);
        let plan = plan.and_then(LogicalPlanBuilder::build).expect("a plan");
        let results: Vec<Field> = plan
            .schema()
            .fields()
            .iter()
            .map(|field| field.as_ref().clone().with_nullable(true))
            .collect();
        let own = row_schema();
        let fields = own.fields().iter().map(|field| field.as_ref().clone()).chain(results.clone());
        let output = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        let going_on =
            DFSchema::try_from(going_on(&Arc::new(Schema::new(results))).as_ref().clone());
        let going_on = going_on.expect("distinct names");
        let running = functions.iter().enumerate().map(|(index, function)| {
            let alone = || col(format!("{ALONE}{index}"));
            let before = || col(format!("{BEFORE}{index}"));
            let sum = |before: Expr| {
                let mut start = when(before.clone().is_null(), alone());
                start.otherwise(alone() + before).expect("a case")
            };
            let expr = match function {
                Rank => {
                    sum(cast(col(format!("{BEFORE}{}", functions.len() - 1)), DataType::UInt64))
                }
                RowNumber | DenseRank | Count => sum(before()),
                Max => when(before().gt(alone()).or(alone().is_null()), before())
                    .otherwise(alone())
                    .expect("a case"),
                Lag | Lead | CountNear => alone(),
            };
            state.create_physical_expr(expr, &going_on).expect("typed")
        });
        let running: Vec<_> = running.collect();
        let plan = physical_plan(&plan, &state).expect("can be planned");
        let reach = self.functions.iter().map(|function| function.reach());
        let node = graph::Window {
            name: "test".to_owned(),
            partition: if self.grouped { vec![K] } else { Vec::new() },
            order: vec![Order {
                column: D,
                descending: self.descending,
                nulls_first: self.descending,
            }],
            before: reach.clone().map(|(before, _)| before).max().unwrap_or(0),
            after: reach.map(|(_, after)| after).max().unwrap_or(0),
            distances: None,
            peers: self.functions.iter().any(|function| function.by_peers()),
            running: self.functions.iter().any(|function| function.is_running()).then_some(running),
            plan: BatchPlan(plan),
        };
        (node, output)
    }

    fn by_order(&self, a: &Row, b: &Row) -> Ordering {
        let order = (a.d.is_none(), a.d).cmp(&(b.d.is_none(), b.d));
        if self.descending { order.reverse() } else { order }
    }

    /// The rows with their results.
    fn oracle(&self, rows: &[Row]) -> ZSet {
        let mut sorted: Vec<&Row> = rows.iter().collect();
        sorted.sort_by(|a, b| self.by_order(a, b).then_with(|| a.by_others(b)));
        let mut partitions: BTreeMap<Option<i64>, Vec<&Row>> = BTreeMap::new();
        for row in sorted {
            partitions.entry(row.k.filter(|_| self.grouped)).or_default().push(row);
        }
        let mut all = ZSet::new();
        let mut functions = self.functions.clone();
        if functions.contains(&Rank) {
            functions.push(RowNumber);
        }
        for rows in partitions.values() {
            let mut texts = ZSet::new();
            for (at, row) in rows.iter().enumerate() {
                let mut own = ZSet::new();
                add(&mut own, &delta_of(&[((*row).clone(), 1)]));
                let results = functions.iter().map(|function| {
                    let result = function.result(rows, at, |a, b| self.by_order(a, b));
                    result.map_or("-".to_owned(), |result| result.to_string())
                });
                let results = results.collect::<Vec<_>>().join(" ");
                let text = own.into_keys().next().expect("one row");
                *texts.entry(format!("{text} {results}")).or_default() += 1;
            }
            for (text, weight) in texts {
                *all.entry(text).or_default() += weight;
            }
        }
        all
    }

    fn harness(&self) -> Harness {
        let (node, output) = self.node();
        Harness::new(NodeKind::Window(node), vec![row_schema()], output)
    }
}

fn any_case() -> impl Strategy<Value = Case> {
    (any::<bool>(), any::<bool>(), subsequence(ALL.to_vec(), 1..=ALL.len()))
        .prop_map(|(grouped, descending, functions)| Case { grouped, descending, functions })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn equals_going_through_all_rows_after_every_epoch(
        case in any_case(),
        first in vec(any_change(), 0..150),
        epochs in vec((vec(any_change(), 0..12), any_between()), 1..8),
    ) {
        let mut harness = case.harness();
        let mut live = Live::default();
        let first = live.apply(&first);
        harness.epoch(vec![(0, delta_of(&first))]);
        prop_assert_eq!(&harness.output, &case.oracle(&live.0));
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

fn row(d: i128) -> Row {
    Row { k: Some((d % 4) as i64), s: None, d: Some(d), f: None, b: None }
}

/// A partition of several pieces: it comes in any order, and changes at its beginning, at its end
/// and in between.
#[test]
fn a_large_partition_is_followed_piece_by_piece() {
    let functions = vec![Lag, CountNear, RowNumber, Rank];
    let case = Case { grouped: false, descending: false, functions };
    let mut harness = case.harness();
    let mut live: Vec<Row> = (0..20_000).map(|d| row((d * 7) % 20_000 * 2)).collect();
    for rows in live.chunks(9_000) {
        let rows: Vec<_> = rows.iter().map(|row| (row.clone(), 1)).collect();
        harness.epoch(vec![(0, delta_of(&rows))]);
    }
    assert_eq!(harness.output, case.oracle(&live));
    let gone = [0, 10, 18_000, 39_998].map(row);
    let come = [-1, 9_001, 9_001, 30_001, 50_000].map(row);
    let changes = gone.iter().map(|row| (row.clone(), -1));
    let changes = changes.chain(come.iter().map(|row| (row.clone(), 1)));
    harness.epoch(vec![(0, delta_of(&changes.collect::<Vec<_>>()))]);
    live.retain(|row| !gone.contains(row));
    live.extend(come);
    assert_eq!(harness.output, case.oracle(&live));
}

/// What is far from a change is not given again, though all of it is behind the change.
#[test]
fn only_what_is_near_is_touched() {
    let case = Case { grouped: false, descending: false, functions: vec![Lag, CountNear, Max] };
    let mut harness = case.harness();
    let rows: Vec<_> = (0..3_000).map(|d| (row(d * 2), 1)).collect();
    harness.epoch(vec![(0, delta_of(&rows))]);
    let given = harness.epoch(vec![(0, delta_of(&[(row(1_001), 1)]))]);
    let given: usize = given.iter().map(Delta::rows).sum();
    assert!(given <= 12, "{given} rows are given for one");
    let given = harness.epoch(vec![(0, delta_of(&[(row(1_001), -1)]))]);
    let given: usize = given.iter().map(Delta::rows).sum();
    assert!(given <= 12, "{given} rows are given for one");
}
