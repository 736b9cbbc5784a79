//! `CREATE TABLE ... WITH (connector = ...)`: the connector's rows go into the table.
//!
//! A task for each such table reads its source and writes as a client would: under the table's
//! write lock, through the gate. The positions enter with the rows, so both are in one epoch. With
//! a primary key the newest row of a key wins.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{Int64Array, RecordBatch};
use hashbrown::HashMap;

use super::{Engine, jobs};
use crate::catalog::{Object, ObjectKind};
use crate::clock;
use crate::connector::{self, DeadLetter, Positions, Then};
use crate::dataflow::inbox::{Inbox, TableWrite};
use crate::dataflow::source::{positions_key, positions_of};
use crate::error::{SqlError, SqlResult};
use crate::expr::Generated;
use crate::planner;
use crate::serving::connector_options;
use crate::task;
use crate::types::key::canonical;
use crate::types::{Delta, ObjectId};

/// Rows of a poll.
const POLL_ROWS: usize = 8192;

/// How long a source that cannot be read is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(1);

impl Engine {
    /// Starts filling `table` from its connector.
    pub(super) fn start_pump(self: &Arc<Self>, table: &Object) -> SqlResult<()> {
        let ObjectKind::Table(kind) = &table.kind else { return Ok(()) };
        let Some(connector) = &kind.connector else { return Ok(()) };
        let inbox = self
            .inbox(table.id)
            .ok_or_else(|| SqlError::internal(format!("table {} has no inbox", table.id.0)))?;
        let generated = planner::plan_generated(&self.catalog(), &table.name.name, &table.columns)?;
        let pump = Pump {
            generated: generated.map(Arc::new),
            engine: Arc::clone(self),
            inbox,
            options: connector_options(connector),
            schema: table.schema(),
            keyed: !kind.primary_key.is_empty(),
            object: table.id,
        };
        let (task, running) = jobs::background();
        self.background.lock().insert(table.id, task);
        task::spawn_on(&self.stream, format!("pump {}", table.id.0), async move {
            tokio::select! {
                () = running.cancel.cancelled() => {}
                () = pump.run() => {}
            }
        });
        Ok(())
    }
}

struct Pump {
    engine: Arc<Engine>,
    inbox: Arc<Inbox>,
    options: connector::registry::Options,
    schema: arrow::datatypes::SchemaRef,
    generated: Option<Arc<Generated>>,
    keyed: bool,
    object: ObjectId,
}

impl Pump {
    /// Reads from the committed positions on, again and again after each failure.
    async fn run(self) {
        loop {
            match self.read().await {
                Ok(()) => return,
                Err(error) => {
                    tracing::warn!(object = self.object.0, %error, "source cannot be read");
                    tokio::time::sleep(RETRY_AFTER).await;
                }
            }
        }
    }

    async fn read(&self) -> SqlResult<()> {
        let (schema, generated) = (Arc::clone(&self.schema), self.generated.clone());
        let mut source = connector::computed::open(&self.options, schema, generated)?;
        let committed = self.engine.snapshot().meta(&positions_key(self.object))?;
        source.seek(&positions_of(committed.as_deref())?)?;
        loop {
            let mut polled = source.poll(POLL_ROWS, None).await?;
            let letters = std::mem::take(&mut polled.dead_letters);
            if polled.batch.num_rows() > 0 || !letters.is_empty() {
                let epoch = self.write(polled.batch, letters, source.positions()).await?;
                // One batch an epoch at the most is on its way: the table's rows wait in memory.
                self.engine.committed(epoch).await?;
            }
            match polled.then {
                Then::More => {}
                Then::Wait(duration) => tokio::time::sleep(duration).await,
                Then::End => return Ok(()),
            }
        }
    }

    async fn write(
        &self,
        batch: RecordBatch,
        letters: Vec<DeadLetter>,
        positions: Positions,
    ) -> SqlResult<crate::types::Epoch> {
        let gate = self.engine.gate();
        let _lock = self.engine.locks.seize(self.object).await?;
        let generation = gate.generation();
        let batch = canonical(self.stored(batch)?)?;
        let layout = self.inbox.layout();
        let keys = layout.keys(&batch)?;
        let values = layout.values(&batch)?;
        let mut newest: HashMap<&[u8], usize> = HashMap::new();
        for (row, key) in keys.iter().enumerate() {
            newest.insert(key, row);
        }
        let mut rows: Vec<usize> = newest.into_values().collect();
        rows.sort_unstable();
        let changed: Vec<&Vec<u8>> = rows.iter().map(|row| &keys[*row]).collect();
        let before = self.inbox.get_many(&changed)?;
        let replaced = changed.iter().zip(&before).filter_map(|(key, value)| {
            value.as_ref().map(|value| (key.as_slice(), value.as_slice()))
        });
        let old = layout.decode(replaced)?;
        let old = Delta::deletes(old.batch().clone());
        let indices = rows.iter().filter_map(|row| u32::try_from(*row).ok());
        let new = Delta::inserts(batch.clone()).take(&indices.collect::<Vec<u32>>().into())?;
        let delta = if old.is_empty() { new } else { Delta::concat(&batch.schema(), &[old, new])? };
        let changes =
            rows.iter().map(|row| (keys[*row].clone(), Some(values.row(*row).to_vec()))).collect();
        let positions = serde_json::to_vec(&positions)
            .map_err(|error| SqlError::internal(error.to_string()))?;
        let mut meta = vec![(positions_key(self.object), Some(positions))];
        let journal = self.engine.coordinator.journal();
        // The epoch that is open now, or the next: near enough for whoever reads the entry.
        meta.extend(journal.dead_letters(self.object, gate.open_epoch(), clock::wall(), letters));
        let inbox = Arc::clone(&self.inbox);
        // A table with a connector has no unique indexes.
        let guards = Vec::new();
        gate.enter(generation, vec![TableWrite { inbox, delta, changes, guards, meta }])
    }

    /// With row ids, where the table has no key.
    fn stored(&self, batch: RecordBatch) -> SqlResult<RecordBatch> {
        if self.keyed {
            return Ok(batch);
        }
        let gate = self.engine.gate();
        let ids = self.engine.row_ids.take(batch.num_rows(), || gate.open_epoch())?;
        let ids = Int64Array::from_iter_values(ids);
        let mut columns = batch.columns().to_vec();
        columns.push(Arc::new(ids));
        Ok(RecordBatch::try_new(Arc::clone(self.inbox.layout().schema()), columns)?)
    }
}
