//! For tests: one operator over a real store, driven epoch by epoch as an actor would, and small
//! tables as text.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use proptest::prelude::*;
use tempfile::TempDir;

use super::build::build;
use super::{EpochEnd, Operator, OperatorError, Output, RowError};
use crate::clock::WallTime;
use crate::graph::{Job, Node, NodeKind};
use crate::state::{Commit, Store, StoreOptions, TableChange};
use crate::types::{Delta, Epoch, ObjectId};

/// Rows as text, with their weights.
pub(super) type ZSet = BTreeMap<String, i64>;

/// Deltas in order.
#[derive(Default)]
pub(super) struct Collected(pub(super) Vec<Delta>);

impl Output for Collected {
    fn emit(&mut self, delta: Delta) -> Result<(), OperatorError> {
        assert!((0..delta.rows()).all(|row| delta.weight(row) != 0), "no row of weight 0");
        self.0.push(delta);
        Ok(())
    }
}

/// One operator, and where its state is.
pub(super) struct Harness {
    folder: TempDir,
    store: Option<Store>,
    job: Job,
    node: Node,
    inputs: Vec<SchemaRef>,
    operator: Option<Box<dyn Operator>>,
    epoch: u64,
    /// Frozen, not committed yet.
    frozen: Vec<TableChange>,
    /// All that it gave.
    pub(super) output: ZSet,
    pub(super) errors: Vec<RowError>,
}

impl Harness {
    pub(super) fn new(kind: NodeKind, inputs: Vec<SchemaRef>, schema: SchemaRef) -> Self {
        let object = ObjectId(16400);
        let mut harness = Self {
            folder: tempfile::tempdir().expect("a folder"),
            store: None,
            job: Job { object, fragments: Vec::new(), parallelism: 1, fail_on_error: false },
            node: Node { id: 3, kind, inputs: Vec::new(), schema, append_only: false },
            inputs,
            operator: None,
            epoch: 0,
            frozen: Vec::new(),
            output: ZSet::new(),
            errors: Vec::new(),
        };
        harness.open();
        harness
    }

    fn open(&mut self) {
        let options = StoreOptions { cache_bytes: 1 << 20, epoch_bytes_max: usize::MAX };
        let store = Store::open(self.folder.path(), options).expect("opens");
        let built = build(&self.node, &self.job, &self.inputs, &store);
        self.operator = built.expect("is built");
        self.store = Some(store);
    }

    fn operator(&mut self) -> &mut dyn Operator {
        &mut **self.operator.as_mut().expect("not an input")
    }

    /// One epoch, committed: what it gave.
    pub(super) fn epoch(&mut self, deltas: Vec<(usize, Delta)>) -> Vec<Delta> {
        self.try_epoch(deltas).expect("runs")
    }

    pub(super) fn try_epoch(
        &mut self,
        deltas: Vec<(usize, Delta)>,
    ) -> Result<Vec<Delta>, OperatorError> {
        self.run(deltas)?;
        self.commit();
        let given = self.flushed()?;
        self.commit();
        Ok(given)
    }

    fn run(&mut self, deltas: Vec<(usize, Delta)>) -> Result<(), OperatorError> {
        let mut collected = Collected::default();
        for (port, delta) in deltas {
            self.operator().process(port, delta, &mut collected)?;
        }
        self.note(&collected.0);
        Ok(())
    }

    /// Ends the epoch, but does not commit what it froze.
    fn flushed(&mut self) -> Result<Vec<Delta>, OperatorError> {
        self.epoch += 1;
        let end = EpochEnd { epoch: Epoch(self.epoch), time: WallTime(0) };
        let mut collected = Collected::default();
        self.operator().flush(&end, &mut collected)?;
        self.note(&collected.0);
        let changes: Vec<_> =
            self.operator().tables().into_iter().filter_map(|table| table.freeze()).collect();
        let errors = self.operator().take_row_errors();
        self.errors.extend(errors);
        self.frozen.extend(changes);
        Ok(collected.0)
    }

    /// An epoch whose commit comes only with that of the next.
    pub(super) fn epoch_in_flight(&mut self, deltas: Vec<(usize, Delta)>) {
        self.run(deltas).expect("runs");
        self.flushed().expect("runs");
    }

    fn note(&mut self, deltas: &[Delta]) {
        for delta in deltas {
            add(&mut self.output, delta);
        }
    }

    fn commit(&mut self) {
        if self.epoch == 0 {
            return;
        }
        let changes = std::mem::take(&mut self.frozen);
        let store = self.store();
        let epoch = (store.epoch() < Epoch(self.epoch)).then_some(Epoch(self.epoch));
        store.commit(Commit { epoch, changes, ..Commit::default() }).expect("commits");
    }

    /// The process ends and starts again with what is on disk.
    pub(super) fn restart(&mut self) {
        self.commit();
        self.operator = None;
        self.store = None;
        self.open();
    }

    /// Gives up all clean state in memory.
    pub(super) fn evict(&mut self, bytes_max: usize) {
        self.operator().evict(bytes_max);
        let kept = self.operator().cached_bytes();
        assert!(kept <= bytes_max, "{kept} bytes kept, {bytes_max} allowed");
    }

    pub(super) fn store(&self) -> &Store {
        self.store.as_ref().expect("open")
    }

    /// All committed state, lines of `role key value` in hexadecimal.
    pub(super) fn bytes(&self) -> String {
        let snapshot = self.store().snapshot();
        let mut lines = Vec::new();
        for table in snapshot.tables(self.job.object).expect("reads") {
            let page = snapshot.page(table, Bound::Unbounded, None, usize::MAX).expect("reads");
            for (key, value) in page.entries() {
                let (key, value) = (hex::encode(key), hex::encode(value));
                lines.push(format!("{} {key} {value}\n", table.role));
            }
        }
        lines.concat()
    }

    /// Entries in all state tables.
    pub(super) fn entries(&self) -> usize {
        let snapshot = self.store().snapshot();
        let tables = snapshot.tables(self.job.object).expect("reads");
        let count = |table| snapshot.count(table, usize::MAX).expect("reads").unwrap_or(0);
        tables.into_iter().map(count).sum()
    }
}

/// Adds the rows of `delta`.
pub(super) fn add(rows: &mut ZSet, delta: &Delta) {
    for (row, text) in texts(delta.batch()).into_iter().enumerate() {
        let weight = rows.entry(text.clone()).or_default();
        *weight += delta.weight(row);
        if *weight == 0 {
            rows.remove(&text);
        }
    }
}

/// Rows as text, NULL as `-`.
pub(super) fn texts(batch: &RecordBatch) -> Vec<String> {
    let options = FormatOptions::default().with_null("-");
    let formatters: Vec<_> = batch
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column, &options).expect("can be shown"))
        .collect();
    let text = |row| {
        let values = formatters.iter().map(|formatter| formatter.value(row).to_string());
        values.collect::<Vec<_>>().join(" ")
    };
    (0..batch.num_rows()).map(text).collect()
}

/// A delta as lines `+1 a b`, sorted.
pub(super) fn pretty(deltas: &[Delta]) -> String {
    let mut lines: Vec<String> = deltas
        .iter()
        .flat_map(|delta| {
            let weights = (0..delta.rows()).map(|row| delta.weight(row));
            let rows = texts(delta.batch());
            weights.zip(rows).map(|(weight, row)| format!("{weight:+} {row}")).collect::<Vec<_>>()
        })
        .collect();
    lines.sort();
    lines.join("\n")
}

/// A row of the table that random tests run over.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) k: Option<i64>,
    pub(super) s: Option<&'static str>,
    pub(super) d: Option<i128>,
    pub(super) f: Option<f64>,
    pub(super) b: Option<bool>,
}

impl Row {
    /// Rows in the order of all columns but `d`, ascending, NULLs last.
    pub(super) fn by_others(&self, other: &Self) -> Ordering {
        let floats = |row: &Self| row.f.map_or(f64::INFINITY, |f| f);
        (self.k.is_none(), self.k, self.s.is_none(), self.s)
            .cmp(&(other.k.is_none(), other.k, other.s.is_none(), other.s))
            .then_with(|| floats(self).total_cmp(&floats(other)))
            .then_with(|| (self.b.is_none(), self.b).cmp(&(other.b.is_none(), other.b)))
    }
}

/// Its columns: `k` bigint, `s` text, `d` numeric(10,2), `f` double precision, `b` boolean.
pub(super) fn row_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("k", DataType::Int64, true),
        Field::new("s", DataType::Utf8, true),
        Field::new("d", DataType::Decimal128(10, 2), true),
        Field::new("f", DataType::Float64, true),
        Field::new("b", DataType::Boolean, true),
    ]))
}

/// Rows and weights as a delta.
pub(super) fn delta_of(rows: &[(Row, i64)]) -> Delta {
    fn column<T>(rows: &[(Row, i64)], value: impl Fn(&Row) -> Option<T>) -> Vec<Option<T>> {
        rows.iter().map(|(row, _)| value(row)).collect()
    }
    let decimals = Decimal128Array::from(column(rows, |row| row.d));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(column(rows, |row| row.k))),
        Arc::new(StringArray::from(column(rows, |row| row.s))),
        Arc::new(decimals.with_precision_and_scale(10, 2).expect("valid")),
        Arc::new(Float64Array::from(column(rows, |row| row.f))),
        Arc::new(BooleanArray::from(column(rows, |row| row.b))),
    ];
    let batch = RecordBatch::try_new(row_schema(), columns).expect("columns fit");
    let weights: Vec<i64> = rows.iter().map(|(_, weight)| *weight).collect();
    let inserts_only = weights.iter().all(|weight| *weight == 1);
    Delta::new(batch, (!inserts_only).then(|| weights.into()))
}

/// A random row: few values, so that there are duplicates, groups and matches.
pub(super) fn any_row() -> impl Strategy<Value = Row> {
    let texts = prop_oneof![
        Just(""),
        Just("a"),
        Just("ab"),
        Just("b"),
        Just("a rather long text, of more than one block of the encoding of keys")
    ];
    // Floats whose sums are exact, so that a naive sum is right too.
    let floats = (-8i32..8).prop_map(|quarter| f64::from(quarter) / 4.0 + 0.0);
    (
        proptest::option::weighted(0.8, 0i64..4),
        proptest::option::weighted(0.8, texts),
        proptest::option::weighted(0.8, -500i128..500),
        proptest::option::weighted(0.8, floats),
        proptest::option::weighted(0.8, any::<bool>()),
    )
        .prop_map(|(k, s, d, f, b)| Row { k, s, d, f, b })
}

/// What a random test does to one input.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Insert(Row),
    /// Takes away one of the rows that are there, by index modulo their number.
    Delete(usize),
    /// Inserts and takes away at once.
    Replace(usize, Row),
}

/// What a random test does after an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Between {
    Nothing,
    InFlight,
    Restart,
    Evict(usize),
}

pub(super) fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => any_row().prop_map(Change::Insert),
        3 => any::<usize>().prop_map(Change::Delete),
        2 => (any::<usize>(), any_row()).prop_map(|(index, row)| Change::Replace(index, row)),
    ]
}

pub(super) fn any_between() -> impl Strategy<Value = Between> {
    prop_oneof![
        4 => Just(Between::Nothing),
        2 => Just(Between::InFlight),
        1 => Just(Between::Restart),
        1 => Just(Between::Evict(0)),
        1 => (0usize..4000).prop_map(Between::Evict),
    ]
}

/// The rows of one input as they are now.
#[derive(Debug, Default, Clone)]
pub(super) struct Live(pub(super) Vec<Row>);

impl Live {
    /// What `changes` are as weighted rows.
    pub(super) fn apply(&mut self, changes: &[Change]) -> Vec<(Row, i64)> {
        let mut rows = Vec::new();
        for change in changes {
            if let Change::Delete(index) | Change::Replace(index, _) = change
                && !self.0.is_empty()
            {
                let row = self.0.swap_remove(index % self.0.len());
                rows.push((row, -1));
            }
            if let Change::Insert(row) | Change::Replace(_, row) = change {
                self.0.push(row.clone());
                rows.push((row.clone(), 1));
            }
        }
        // Order inside an epoch means nothing: what goes may come first.
        rows.reverse();
        rows
    }

    /// Takes everything away.
    pub(super) fn clear(&mut self) -> Vec<(Row, i64)> {
        self.0.drain(..).map(|row| (row, -1)).collect()
    }
}

/// Runs an epoch of `deltas`, then what is `between`.
pub(super) fn step(harness: &mut Harness, deltas: Vec<(usize, Delta)>, between: Between) {
    match between {
        Between::InFlight => harness.epoch_in_flight(deltas),
        _ => {
            harness.epoch(deltas);
        }
    }
    match between {
        Between::Nothing | Between::InFlight => {}
        Between::Restart => harness.restart(),
        Between::Evict(bytes_max) => harness.evict(bytes_max),
    }
}
