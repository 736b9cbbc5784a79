//! The operator: keeps rows in their places, and gives what changes of their results.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, is_not_null, take};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::row::Rows;
use datafusion::error::DataFusionError;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;

use super::super::batch::{batch_of, emit_chunks};
use super::super::buffer::{Buffer, consolidate};
use super::super::failures::{Failures, QueryError};
use super::super::keyed::packed;
use super::super::ordered::OrderedRows;
use super::super::{EpochEnd, OUTPUT_ROWS_MAX, Operator, OperatorError, Output, RowError};
use super::sweep::{Distances, Ground, PIECE_ROWS, Piece, Reach, Stored, Sweep, Touched};
use crate::error::SqlError;
use crate::expr::accumulator::{write_bytes, write_varint};
use crate::expr::functions::check_digits;
use crate::expr::relation;
use crate::graph;
use crate::state::{Store, Table};
use crate::types::key::{KeyArena, KeyCodec, canonical};
use crate::types::{Delta, ObjectId, TableId};

/// Window functions over rows in their order, an actor's share of the partitions.
pub struct Window {
    plan: Arc<dyn ExecutionPlan>,
    /// See `graph::Window::running`.
    running: Option<Vec<Arc<dyn PhysicalExpr>>>,
    reach: Reach,
    rows: OrderedRows,
    results: KeyCodec,
    /// Schema of the results.
    computed: SchemaRef,
    schema: SchemaRef,
    buffer: Buffer,
    touched: Touched,
    table: Table,
    failures: Failures,
}

/// A sweep, and its next piece.
type Step = (Sweep, Piece);

impl Window {
    /// For operator `operator` of `object`'s job, over rows with schema `input`, giving rows with
    /// `schema`.
    pub fn new(
        window: &graph::Window,
        (object, operator): (ObjectId, u16),
        input: &SchemaRef,
        schema: SchemaRef,
        store: &Store,
    ) -> Result<Self, OperatorError> {
        let table = |role| store.table(TableId::of_operator(object, operator, role));
        let computed = schema.fields()[input.fields().len()..].to_vec();
        let computed = Arc::new(Schema::new(computed));
        let rows = OrderedRows::new(input, &window.partition, &window.order)?;
        Ok(Self {
            plan: Arc::clone(&window.plan.0),
            running: window.running.clone(),
            reach: Reach {
                before: window.before,
                after: window.after,
                distances: distances(window, &rows)?,
                running: window.running.is_some(),
                peers: window.peers,
            },
            rows,
            results: KeyCodec::of_row(&computed)?,
            computed,
            schema,
            buffer: Buffer::new(Arc::clone(input)),
            touched: Touched::default(),
            table: table(0),
            failures: Failures::new(window.name.clone(), table(1)),
        })
    }

    /// Puts what is buffered into its places; results come when the epoch ends.
    fn drain(&mut self) -> Result<(), OperatorError> {
        if self.buffer.rows() == 0 {
            return Ok(());
        }
        let delta = consolidate(self.buffer.take()?, &self.rows.row)?;
        let groups = self.rows.group.encode(delta.batch())?;
        let entries = self.rows.entry.encode(delta.batch())?;
        let orders = self.rows.order.encode(delta.batch())?;
        let mut keys = KeyArena::with_capacity(delta.rows(), delta.rows() * 48);
        let mut prefixes = Vec::with_capacity(delta.rows());
        for (group, entry) in groups.iter().zip(entries.iter()) {
            let share = OrderedRows::share(group.data());
            keys.push(&[&[share], group.data(), entry.data()]);
            prefixes.push(1 + group.data().len());
        }
        // A row may be there twice: `consolidate` leaves deltas without deletions as they are.
        let mut rows: Vec<usize> = (0..delta.rows()).collect();
        rows.sort_unstable_by(|&a, &b| keys.get(a).cmp(keys.get(b)));
        let equal = |&a: &usize, &b: &usize| keys.get(a) == keys.get(b);
        let asked: Vec<&[u8]> = rows.chunk_by(equal).map(|rows| keys.get(rows[0])).collect();
        let stored = self.table.get_many(&asked)?;
        let mut value = Vec::new();
        for (rows, stored) in rows.chunk_by(equal).zip(stored) {
            let (key, order) = (keys.get(rows[0]), orders.row(rows[0]).data().len());
            let weight: i64 = rows.iter().map(|&row| delta.weight(row)).sum();
            let stored = stored.unwrap_or_default();
            let before = match stored.is_empty() {
                true => Stored { order, weight: 0, results: &[] },
                false => Stored::read(&stored)?,
            };
            Stored { weight: before.weight + weight, ..before }.write(&mut value);
            self.table.put(key, &value);
            self.touched.push(key, prefixes[rows[0]]);
        }
        Ok(())
    }

    /// Follows what the epoch changed, several partitions at a time.
    fn sweep(&mut self, output: &mut dyn Output) -> Result<(), OperatorError> {
        let mut touched = std::mem::take(&mut self.touched);
        let partitions = touched.partitions();
        let keys: Vec<&[u8]> = partitions.iter().map(|(prefix, _)| prefix.as_slice()).collect();
        let failing = self.failures.known(&keys)?;
        let mut ahead = partitions.into_iter().zip(failing);
        let mut under_way: Vec<Sweep> = Vec::new();
        let mut change = Change::default();
        loop {
            let mut steps: Vec<Step> = Vec::new();
            let mut rows = 0;
            while rows < PIECE_ROWS {
                let mut ground =
                    Ground { touched: &touched, reach: &self.reach, table: &mut self.table };
                let mut sweep = match under_way.pop() {
                    Some(sweep) => sweep,
                    None => {
                        let Some(((prefix, changes), failed)) = ahead.next() else { break };
                        Sweep::new(prefix, changes, failed, &mut ground)?
                    }
                };
                let piece = sweep.read(&mut ground)?;
                rows += piece.rows();
                steps.push((sweep, piece));
            }
            if steps.is_empty() {
                break;
            }
            self.step(steps, &touched, &mut under_way, &mut change)?;
            if change.weights.len() >= OUTPUT_ROWS_MAX {
                self.give(std::mem::take(&mut change), output)?;
            }
        }
        self.give(change, output)
    }

    /// Computes pieces together; those that fail, by themselves.
    fn step(
        &mut self,
        steps: Vec<Step>,
        touched: &Touched,
        under_way: &mut Vec<Sweep>,
        change: &mut Change,
    ) -> Result<(), OperatorError> {
        let results = match self.results_of(&steps) {
            Ok(results) => results,
            Err(QueryError::Operator(error)) => return Err(error),
            Err(QueryError::Rows(error)) if steps.len() == 1 => {
                return steps.iter().try_for_each(|(sweep, _)| self.fail(sweep, &error, change));
            }
            Err(QueryError::Rows(_)) => {
                return steps
                    .into_iter()
                    .try_for_each(|step| self.step(vec![step], touched, under_way, change));
            }
        };
        let mut from = 0;
        for (mut sweep, piece) in steps {
            let new = self.apply(&sweep, &piece, &results, from, change);
            from += piece.rows();
            let mut ground = Ground { touched, reach: &self.reach, table: &mut self.table };
            if sweep.advance(&piece, &new, &mut ground)? {
                under_way.push(sweep);
            } else if sweep.whole {
                self.failures.note(&self.rows.group, &[(&sweep.prefix, None)])?;
            }
        }
        Ok(())
    }

    /// The results of all rows of some pieces, copies by themselves, encoded.
    fn results_of(&self, steps: &[Step]) -> Result<Rows, QueryError> {
        let (mut groups, mut entries) = (Vec::new(), Vec::new());
        let (mut copies, mut slices) = (Vec::new(), Vec::new());
        for (slice, (sweep, piece)) in (0u32..).zip(steps) {
            for (entry, &times) in piece.entries.iter().zip(&piece.copies) {
                copies.extend(std::iter::repeat_n(entries.len() as u32, times));
                slices.extend(std::iter::repeat_n(slice, times));
                groups.push(&sweep.prefix[1..]);
                entries.push(entry);
            }
        }
        let rows = entries.len();
        let batch = self.rows.assemble(groups, entries, rows)?;
        let batch = crate::types::take_rows(&batch, &UInt32Array::from(copies))?;
        let slices = UInt32Array::from(slices);
        let mut columns = batch.columns().to_vec();
        columns.push(Arc::new(slices.clone()));
        let given = batch_of(&relation::sliced(&self.rows.schema), columns, slices.len())?;
        let pieces = (0..given.num_rows()).step_by(OUTPUT_ROWS_MAX);
        let pieces = pieces
            .map(|start| given.slice(start, OUTPUT_ROWS_MAX.min(given.num_rows() - start)))
            .collect();
        let computed = relation::run(&self.plan, vec![pieces])
            .map_err(|error| QueryError::Rows(error.into()))?;
        let conform = |batch: &RecordBatch| {
            batch_of(&self.computed, batch.columns().to_vec(), batch.num_rows())
        };
        let computed = computed.iter().map(conform).collect::<Result<Vec<_>, _>>()?;
        let mut computed = concat_batches(&self.computed, &computed)?;
        if computed.num_rows() != given.num_rows() {
            let text = "window functions gave another number of rows than they were given";
            return Err(OperatorError::Invariant(text.to_owned()).into());
        }
        if let Some(running) = &self.running {
            computed = self.go_on(running, &computed, &slices, steps)?;
        }
        Ok(self.results.encode(&canonical(computed)?)?)
    }

    /// `computed`, the results by pieces alone, put together with the results before the pieces.
    fn go_on(
        &self,
        running: &[Arc<dyn PhysicalExpr>],
        computed: &RecordBatch,
        slices: &UInt32Array,
        steps: &[Step],
    ) -> Result<RecordBatch, QueryError> {
        let carried = steps.iter().filter_map(|(sweep, _)| sweep.carry());
        let before = self.results.decode(carried)?;
        let mut places = 0..;
        let place = |(sweep, _): &Step| sweep.carry().and_then(|_| places.next());
        let of_slices = UInt32Array::from_iter(steps.iter().map(place));
        let places = take(&of_slices, slices, None)?;
        let mut columns: Vec<ArrayRef> = computed.columns().to_vec();
        for column in &before {
            columns.push(take(column, &places, None)?);
        }
        let goes_on: BooleanArray = is_not_null(&places)?;
        columns.push(Arc::new(goes_on));
        let rows = computed.num_rows();
        let given = batch_of(&relation::going_on(&self.computed), columns, rows)?;
        let columns = running.iter().map(|expr| {
            let column = expr.evaluate(&given)?.into_array(rows)?;
            check_digits(&column)?;
            Ok(column)
        });
        let columns: Result<Vec<ArrayRef>, DataFusionError> = columns.collect();
        let columns = columns.map_err(|error| QueryError::Rows(error.into()))?;
        Ok(batch_of(&self.computed, columns, rows)?)
    }

    /// Stores the results of a piece's body, which begin at `from`, and adds what is different.
    /// They are given as they are stored.
    fn apply(
        &mut self,
        sweep: &Sweep,
        piece: &Piece,
        results: &Rows,
        from: usize,
        change: &mut Change,
    ) -> KeyArena {
        let mut place = from + piece.copies[..piece.body.start].iter().sum::<usize>();
        let mut all = KeyArena::default();
        let (mut new, mut value) = (Vec::new(), Vec::new());
        let mut key = sweep.prefix.clone();
        for row in piece.body.clone() {
            let copies = piece.copies[row];
            pack(results, place, copies, &mut new);
            place += copies;
            let (entry, old) = (piece.entries.get(row), piece.old.get(row));
            all.push(&[&new]);
            if copies > 0 && old == new {
                continue;
            }
            change.add(&sweep.prefix[1..], entry, old, &new);
            key.truncate(sweep.prefix.len());
            key.extend_from_slice(entry);
            match i64::try_from(copies).unwrap_or(i64::MAX) {
                0 => self.table.delete(&key),
                weight => {
                    Stored { order: piece.orders[row], weight, results: &new }.write(&mut value);
                    self.table.put(&key, &value);
                }
            }
        }
        all
    }

    /// Takes all results of a partition back, because of `error`.
    fn fail(
        &mut self,
        sweep: &Sweep,
        error: &SqlError,
        change: &mut Change,
    ) -> Result<(), OperatorError> {
        let prefix = sweep.prefix.as_slice();
        let mut from = prefix.to_vec();
        loop {
            let mut page: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            self.table.scan_from(prefix, &from, &mut |key, value| {
                page.push((key.to_vec(), value.to_vec()));
                page.len() <= PIECE_ROWS
            })?;
            // The last one is the first of the next page.
            let next = if page.len() > PIECE_ROWS { page.pop() } else { None };
            let mut value = Vec::new();
            for (key, stored) in &page {
                let stored = Stored::read(stored)?;
                change.add(&prefix[1..], &key[prefix.len()..], stored.results, &[]);
                if stored.weight == 0 {
                    self.table.delete(key);
                } else if !stored.results.is_empty() {
                    Stored { results: &[], ..stored }.write(&mut value);
                    self.table.put(key, &value);
                }
            }
            match next {
                Some((key, _)) => from = key,
                None => break,
            }
        }
        self.failures.note(&self.rows.group, &[(prefix, Some(error))])
    }

    fn give(&self, change: Change, output: &mut dyn Output) -> Result<(), OperatorError> {
        let Change { groups, entries, results, weights } = change;
        if weights.is_empty() {
            return Ok(());
        }
        let rows = self.rows.assemble(groups.iter(), entries.iter(), weights.len())?;
        let mut columns = rows.columns().to_vec();
        columns.extend(self.results.decode(results.iter())?);
        let batch = batch_of(&self.schema, columns, weights.len())?;
        let inserts_only = weights.iter().all(|weight| *weight == 1);
        let weights = (!inserts_only).then(|| weights.into());
        emit_chunks(&Delta::new(batch, weights), output)
    }
}

/// How far results look in the values of the order.
fn distances(
    window: &graph::Window,
    rows: &OrderedRows,
) -> Result<Option<Distances>, OperatorError> {
    let (Some(distances), [order]) = (&window.distances, window.order.as_slice()) else {
        return Ok(None);
    };
    Ok(Some(Distances {
        before: distances.before.clone(),
        after: distances.after.clone(),
        descending: order.descending,
        codec: rows.order_codec(std::slice::from_ref(order))?,
    }))
}

/// Sets `packed` to `copies` results from place `from` on, equal ones that follow one another as
/// one.
fn pack(results: &Rows, from: usize, copies: usize, packed: &mut Vec<u8>) {
    packed.clear();
    let mut place = from;
    while place < from + copies {
        let result = results.row(place);
        let equal = (place..from + copies).take_while(|&other| results.row(other) == result);
        let equal = equal.count();
        write_varint(equal as i128, packed);
        write_bytes(result.data(), packed);
        place += equal;
    }
}

/// Rows of the output that come and go, encoded.
#[derive(Default)]
struct Change {
    groups: KeyArena,
    entries: KeyArena,
    results: KeyArena,
    weights: Vec<i64>,
}

impl Change {
    /// Adds that a row with the packed results `old` has the results `new`.
    fn add(&mut self, group: &[u8], entry: &[u8], old: &[u8], new: &[u8]) {
        let mut push = |result: &[u8], weight: i64| {
            self.groups.push(&[group]);
            self.entries.push(&[entry]);
            self.results.push(&[result]);
            self.weights.push(weight);
        };
        let (mut was, mut is) = (packed::rows(old), packed::rows(new));
        // Nearly all rows have one result: the next ones of both are looked at for that.
        match (was.next(), is.next(), was.next().is_none() && is.next().is_none()) {
            (Some((before, one)), Some((after, other)), true) if one == other => {
                if after != before {
                    push(one, after - before);
                }
            }
            (before, after, true) => {
                before.into_iter().for_each(|(copies, result)| push(result, -copies));
                after.into_iter().for_each(|(copies, result)| push(result, copies));
            }
            _ => {
                let mut net: BTreeMap<&[u8], i64> = BTreeMap::new();
                for (sign, packed) in [(-1, old), (1, new)] {
                    for (copies, result) in packed::rows(packed) {
                        *net.entry(result).or_default() += sign * copies;
                    }
                }
                let changed = net.into_iter().filter(|(_, weight)| *weight != 0);
                changed.for_each(|(result, weight)| push(result, weight));
            }
        }
    }
}

impl Operator for Window {
    fn process(
        &mut self,
        _port: usize,
        delta: Delta,
        _output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        self.buffer.push(delta);
        if self.buffer.is_full() { self.drain() } else { Ok(()) }
    }

    fn flush(&mut self, _: &EpochEnd, output: &mut dyn Output) -> Result<(), OperatorError> {
        self.drain()?;
        self.sweep(output)
    }

    fn tables(&mut self) -> Vec<&mut Table> {
        vec![&mut self.table, &mut self.failures.table]
    }

    fn take_row_errors(&mut self) -> Vec<RowError> {
        self.failures.errors.take()
    }
}
