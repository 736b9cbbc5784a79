//! The general rule: what changed of a partition's rows makes the partition's result anew.
//!
//! ```text
//!  Δout = Σ over touched partitions p of (−stored result of p + query(rows of p))
//! ```
//!
//! Kept are the rows of every input and the result, by partition: what was given is taken back
//! exactly, whatever the query would say of the old rows today. Partitions that changed together
//! are computed together.
//!
//! A partition on which the query fails has no rows in the result (see `failures`).

use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::datatypes::SchemaRef;
use datafusion::physical_plan::ExecutionPlan;

use super::batch::{batch_of, emit_chunks};
use super::buffer::consolidate;
use super::failures::{Failures, QueryError};
use super::keyed::{self, KeyedRows};
use super::slots::KeySlots;
use super::{EpochEnd, Operator, OperatorError, Output, RowError};
use crate::error::SqlError;
use crate::expr::relation;
use crate::graph;
use crate::state::{Store, Table};
use crate::types::key::{KeyArena, canonical};
use crate::types::{Delta, ObjectId, TableId};

/// Bytes of encoded rows whose partitions are computed together, about.
const TOGETHER_BYTES: usize = 8 << 20;

/// Rows in a batch that a query is given, at the most.
const BATCH_ROWS: usize = 8192;

/// Recomputes changed partitions, an actor's share of them.
pub struct Recompute {
    object: ObjectId,
    plan: Arc<dyn ExecutionPlan>,
    keys: KeySlots,
    inputs: Vec<KeyedRows>,
    result: KeyedRows,
    failures: Failures,
    /// All rows are one partition, which is there from the start.
    global: bool,
    /// The partitions that the epoch touched, and whether a slot is among them.
    touched: Vec<u32>,
    marks: Vec<bool>,
    schema: SchemaRef,
}

impl Recompute {
    /// For operator `operator` of `object`'s job, over rows with the columns of `inputs`, giving
    /// rows with `schema`.
    pub fn new(
        recompute: &graph::Recompute,
        (object, operator): (ObjectId, u16),
        inputs: &[SchemaRef],
        schema: SchemaRef,
        store: &Store,
    ) -> Result<Self, OperatorError> {
        let table = |role| store.table(TableId::of_operator(object, operator, role));
        let rows = (2..).zip(inputs.iter().zip(&recompute.partition));
        let inputs = rows
            .map(|(role, (schema, partition))| KeyedRows::new(schema, partition, table(role)))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            object,
            plan: Arc::clone(&recompute.plan.0),
            keys: KeySlots::default(),
            inputs,
            result: KeyedRows::new(&schema, &recompute.output_partition, table(0))?,
            failures: Failures::new(recompute.name.clone(), table(1)),
            global: recompute.output_partition.is_empty(),
            touched: Vec::new(),
            marks: Vec::new(),
            schema,
        })
    }

    /// Adds what is buffered at `port` to its partitions.
    fn drain(&mut self, port: usize) -> Result<(), OperatorError> {
        let input = &mut self.inputs[port];
        if input.buffer.rows() == 0 {
            return Ok(());
        }
        let delta = input.buffer.take()?;
        let delta = consolidate(delta, &input.shape.row)?;
        let keys = input.shape.key.encode(delta.batch())?;
        let slots = self.keys.intern(&keys);
        self.touch(&slots);
        let mut different = slots.clone();
        different.sort_unstable();
        different.dedup();
        let input = &mut self.inputs[port];
        input.load(&self.keys, &different)?;
        let rest = input.shape.rest.encode(delta.batch())?;
        let rows =
            (0..delta.rows()).map(|row| (slots[row], rest.row(row).data(), delta.weight(row)));
        input.add(&self.keys, rows)
    }

    fn touch(&mut self, slots: &[u32]) {
        self.resize();
        for &slot in slots {
            if !std::mem::replace(&mut self.marks[slot as usize], true) {
                self.touched.push(slot);
            }
        }
    }

    fn resize(&mut self) {
        let slots = self.keys.len();
        self.marks.resize(slots, false);
        self.inputs.iter_mut().for_each(|input| input.resize(slots));
        self.result.resize(slots);
    }

    /// The one partition of all rows has a result before there are rows.
    fn touch_global(&mut self) -> Result<(), OperatorError> {
        if !self.global || self.keys.len() > 0 {
            return Ok(());
        }
        let keys = self.result.shape.key.encode_columns(&[], 1)?;
        let slots = self.keys.intern(&keys);
        self.resize();
        self.result.load(&self.keys, &slots)?;
        if !self.result.is_present(slots[0]) {
            self.touch(&slots);
        }
        Ok(())
    }

    /// Computes the touched partitions, some at a time.
    fn recompute(&mut self, output: &mut dyn Output) -> Result<(), OperatorError> {
        let touched = std::mem::take(&mut self.touched);
        for rows in self.inputs.iter_mut().chain([&mut self.result]) {
            rows.load(&self.keys, &touched)?;
        }
        let mut rest = &touched[..];
        while !rest.is_empty() {
            let mut bytes = 0;
            let together = rest.iter().take_while(|&&slot| {
                let before = bytes;
                bytes += self.inputs.iter().map(|input| input.bytes_of(slot)).sum::<usize>();
                before < TOGETHER_BYTES
            });
            let (now, later) = rest.split_at(together.count());
            rest = later;
            self.recompute_together(now, output)?;
        }
        for &slot in &touched {
            self.marks[slot as usize] = false;
        }
        Ok(())
    }

    fn recompute_together(
        &mut self,
        slots: &[u32],
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let mut new = Vec::new();
        let mut failures: Vec<(u32, SqlError)> = Vec::new();
        match self.query(slots) {
            Ok(batches) => new = batches,
            Err(QueryError::Operator(error)) => return Err(error),
            Err(QueryError::Rows(error)) if slots.len() == 1 => failures.push((slots[0], error)),
            Err(QueryError::Rows(_)) => {
                // One spoils only itself: each by itself.
                return slots.iter().try_for_each(|slot| {
                    self.recompute_together(std::slice::from_ref(slot), output)
                });
            }
        }
        self.note_failures(slots, &failures)?;
        let change = self.change(slots, &new)?;
        let rows = (0..change.weights.len())
            .map(|row| (change.slots[row], change.rests.get(row), change.weights[row]));
        self.result.add(&self.keys, rows)?;
        if change.weights.is_empty() {
            return Ok(());
        }
        let keys = change.slots.iter().map(|&slot| &self.keys.key(slot)[1..]);
        let rows = change.weights.len();
        let batch = self.result.shape.assemble(keys, change.rests.iter(), rows)?;
        let inserts_only = change.weights.iter().all(|weight| *weight == 1);
        let weights = (!inserts_only).then(|| change.weights.into());
        emit_chunks(&Delta::new(batch, weights), output)
    }

    /// What the query says of the rows of some partitions.
    fn query(&mut self, slots: &[u32]) -> Result<Vec<RecordBatch>, QueryError> {
        let mut given = Vec::with_capacity(self.inputs.len());
        let mut rows = 0;
        for input in &mut self.inputs {
            let batch = rows_of(input, &self.keys, slots)?;
            rows += batch.num_rows();
            let pieces = (0..batch.num_rows()).step_by(BATCH_ROWS);
            given.push(
                pieces
                    .map(|start| batch.slice(start, BATCH_ROWS.min(batch.num_rows() - start)))
                    .collect::<Vec<_>>(),
            );
        }
        if rows == 0 && !self.global {
            return Ok(Vec::new());
        }
        let batches =
            relation::run(&self.plan, given).map_err(|error| QueryError::Rows(error.into()))?;
        let conform = |batch: RecordBatch| -> Result<_, QueryError> {
            let batch = batch_of(&self.schema, batch.columns().to_vec(), batch.num_rows())?;
            Ok(canonical(batch)?)
        };
        batches.into_iter().map(conform).collect()
    }

    /// What is different between the stored results of `slots` and `new` ones.
    fn change(&mut self, slots: &[u32], new: &[RecordBatch]) -> Result<Change, OperatorError> {
        let mut all = Change::default();
        for batch in new {
            let keys = self.result.shape.key.encode(batch)?;
            let known = self.keys.len();
            let of = self.keys.intern(&keys);
            if self.keys.len() > known {
                let object = self.object.0;
                let text = format!("object {object}: a result is of no partition that changed");
                return Err(OperatorError::Invariant(text));
            }
            let rests = self.result.shape.rest.encode(batch)?;
            for (row, slot) in of.into_iter().enumerate() {
                all.push(slot, rests.row(row).data(), 1);
            }
        }
        for &slot in slots {
            self.result.for_each(&self.keys, slot, &mut |_, rest, weight| {
                all.push(slot, rest, -weight);
                Ok(())
            })?;
        }
        Ok(all.net())
    }

    /// Tells which partitions fail since now, and which no longer do.
    fn note_failures(
        &mut self,
        slots: &[u32],
        failures: &[(u32, SqlError)],
    ) -> Result<(), OperatorError> {
        let noted = |&slot: &u32| {
            let found = failures.iter().find(|(failed, _)| *failed == slot);
            (self.keys.key(slot), found.map(|(_, error)| error))
        };
        let noted: Vec<_> = slots.iter().map(noted).collect();
        self.failures.note(&self.result.shape.key, &noted)
    }
}

/// All rows of `slots`, each as often as it is there.
fn rows_of(
    rows: &mut KeyedRows,
    keys: &KeySlots,
    slots: &[u32],
) -> Result<RecordBatch, OperatorError> {
    let (mut of, mut rests, mut copies) = (Vec::new(), KeyArena::default(), Vec::new());
    for &slot in slots {
        rows.for_each(keys, slot, &mut |_, rest, weight| {
            // Negative weights are found when the epoch's changes are written.
            copies.extend((0..weight.max(0)).map(|_| of.len() as u32));
            of.push(slot);
            rests.push(&[rest]);
            Ok(())
        })?;
    }
    let encoded = of.iter().map(|&slot| &keys.key(slot)[1..]);
    let batch = rows.shape.assemble(encoded, rests.iter(), of.len())?;
    if copies.len() == of.len() {
        return Ok(batch);
    }
    Ok(crate::types::take_rows(&batch, &UInt32Array::from(copies))?)
}

/// Rows of the result that come and go.
#[derive(Default)]
struct Change {
    slots: Vec<u32>,
    rests: KeyArena,
    weights: Vec<i64>,
}

impl Change {
    fn push(&mut self, slot: u32, rest: &[u8], weight: i64) {
        self.slots.push(slot);
        self.rests.push(&[rest]);
        self.weights.push(weight);
    }

    /// Equal rows put together, without those that come to nothing.
    fn net(self) -> Self {
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        let row = |index: usize| (self.slots[index], self.rests.get(index));
        order.sort_unstable_by(|&a, &b| row(a).cmp(&row(b)));
        let mut net = Self::default();
        for equal in order.chunk_by(|&a, &b| row(a) == row(b)) {
            let weight: i64 = equal.iter().map(|&index| self.weights[index]).sum();
            if weight != 0 {
                let (slot, rest) = row(equal[0]);
                net.push(slot, rest, weight);
            }
        }
        net
    }
}

impl Operator for Recompute {
    fn process(
        &mut self,
        port: usize,
        delta: Delta,
        _output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        self.inputs[port].buffer.push(delta);
        if self.inputs[port].buffer.is_full() { self.drain(port) } else { Ok(()) }
    }

    fn flush(&mut self, _: &EpochEnd, output: &mut dyn Output) -> Result<(), OperatorError> {
        for port in 0..self.inputs.len() {
            self.drain(port)?;
        }
        self.touch_global()?;
        self.recompute(output)?;
        for rows in self.inputs.iter_mut().chain([&mut self.result]) {
            rows.write(&self.keys, self.object)?;
        }
        self.keys.tick();
        Ok(())
    }

    fn tables(&mut self) -> Vec<&mut Table> {
        let rows = self.inputs.iter_mut().chain([&mut self.result]);
        rows.map(|rows| &mut rows.table).chain([&mut self.failures.table]).collect()
    }

    fn cached_bytes(&self) -> usize {
        keyed::bytes(&self.keys, self.inputs.iter().chain([&self.result]))
    }

    fn evict(&mut self, bytes_max: usize) {
        let mut rows: Vec<_> = self.inputs.iter_mut().chain([&mut self.result]).collect();
        keyed::evict(&mut self.keys, &mut rows, bytes_max);
        self.marks = vec![false; self.keys.len()];
    }

    fn take_row_errors(&mut self) -> Vec<RowError> {
        self.failures.errors.take()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use arrow::datatypes::{DataType, Field, Schema};
    use datafusion::common::DFSchema;
    use datafusion::execution::SessionStateBuilder;
    use datafusion::functions_aggregate::expr_fn::{count, max};
    use datafusion::logical_expr::{LogicalPlanBuilder, col, lit};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::testing::{
        Harness, Live, Row, ZSet, any_between, any_change, delta_of, row_schema, step,
    };
    use super::*;
    use crate::expr::relation::{Given, physical_plan};
    use crate::graph::{BatchPlan, NodeKind};

    /// `SELECT k, count(*), max(d), max(k / (count - 3)) ... GROUP BY k`, or over all rows: it
    /// fails where a partition has three rows.
    fn harness(grouped: bool) -> Harness {
        let schema = Arc::new(DFSchema::try_from(row_schema()).expect("distinct names"));
        let group = if grouped { vec![col("k")] } else { Vec::new() };
        let all = count(lit(1));
        let plan = LogicalPlanBuilder::from(Given::plan(0, schema))
            .aggregate(group, vec![all.alias("n"), max(col("d")).alias("m")])
            .and_then(|plan| {
                let quotient = lit(12_i64) / (col("n") - lit(3_i64));
                let mut columns = vec![col("n"), col("m"), quotient.alias("q")];
                if grouped {
                    columns.insert(0, col("k"));
                }
                plan.project(columns)?.build()
            })
            .expect("a plan");
        let config = datafusion::prelude::SessionConfig::new().with_target_partitions(1);
        let state = SessionStateBuilder::new().with_config(config).with_default_features().build();
        let fields = plan.schema().fields().iter();
        let fields = fields.map(|field| field.as_ref().clone().with_nullable(true));
        let output = Arc::new(Schema::new(fields.collect::<Vec<Field>>()));
        assert_eq!(output.fields().last().map(|f| f.data_type()), Some(&DataType::Int64));
        let node = graph::Recompute {
            name: "test".to_owned(),
            partition: vec![if grouped { vec![0] } else { Vec::new() }],
            output_partition: if grouped { vec![0] } else { Vec::new() },
            plan: BatchPlan(physical_plan(&plan, &state).expect("can be planned")),
        };
        Harness::new(NodeKind::Recompute(node), vec![row_schema()], output)
    }

    /// What the query gives, and how many partitions fail.
    fn oracle(grouped: bool, rows: &[Row]) -> (ZSet, i64) {
        let mut groups: BTreeMap<Option<i64>, Vec<&Row>> = BTreeMap::new();
        if !grouped {
            groups.insert(None, Vec::new());
        }
        for row in rows {
            groups.entry(row.k.filter(|_| grouped)).or_default().push(row);
        }
        let mut all = ZSet::new();
        let mut failed = 0;
        for (k, rows) in groups {
            let n = rows.len() as i64;
            if n == 3 {
                failed += 1;
                continue;
            }
            let max = rows.iter().filter_map(|row| row.d).max();
            let max = max.map_or("-".to_owned(), |d| {
                let sign = if d < 0 { "-" } else { "" };
                format!("{sign}{}.{:02}", d.abs() / 100, d.abs() % 100)
            });
            let key = k.map_or("- ".to_owned(), |k| format!("{k} "));
            let key = if grouped { key } else { String::new() };
            all.insert(format!("{key}{n} {max} {}", 12 / (n - 3)), 1);
        }
        (all, failed)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        #[test]
        fn equals_the_query_after_every_epoch(
            grouped in any::<bool>(),
            epochs in vec((vec(any_change(), 0..12), any_between()), 1..8),
        ) {
            let mut harness = harness(grouped);
            let mut live = Live::default();
            for (changes, between) in epochs {
                let rows = live.apply(&changes);
                let deltas = rows.chunks(5).map(|rows| (0, delta_of(rows))).collect();
                step(&mut harness, deltas, between);
                let (expected, failed) = oracle(grouped, &live.0);
                prop_assert_eq!(&harness.output, &expected);
                let told: i64 = harness.errors.iter().map(|error| error.weight).sum();
                prop_assert_eq!(told, failed, "failures come and go with their partitions");
            }
            harness.epoch(vec![(0, delta_of(&live.clear()))]);
            prop_assert_eq!(&harness.output, &oracle(grouped, &[]).0);
            prop_assert_eq!(harness.entries(), usize::from(!grouped), "state is left");
        }
    }
}
