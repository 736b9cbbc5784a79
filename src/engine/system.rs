//! Schema `weir`: what runs, how far, how big, how late. Rows are made when a table is read.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use arrow::array::{
    ArrayRef, BinaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{Schema, SchemaRef};

use super::Engine;
use super::boot::fingerprint_key;
use crate::catalog::ObjectKind;
use crate::checkpoint::coordinator::suspended_key;
use crate::checkpoint::detached::progress_key;
use crate::checkpoint::journal::{DEAD_LETTERS, DeadLetterEntry, ERRORS, ErrorEntry};
use crate::checkpoint::readers::Allowance;
use crate::checkpoint::status::JobState;
use crate::error::{SqlError, SqlResult};
use crate::serving::SystemTables;
use crate::state::Snapshot;
use crate::types::{ObjectId, SqlType};

/// Entries of a state table that are counted; of larger ones only the bytes are shown.
const COUNTED_MAX: usize = 100_000;

/// The system tables of an engine, which it outlives at most by a statement.
pub struct System {
    engine: Weak<Engine>,
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("System")
    }
}

impl System {
    pub fn new(engine: &Arc<Engine>) -> Self {
        Self { engine: Arc::downgrade(engine) }
    }

    fn engine(&self) -> SqlResult<Arc<Engine>> {
        self.engine.upgrade().ok_or_else(|| SqlError::internal("the engine has stopped"))
    }
}

type Columns = &'static [(&'static str, SqlType)];

const TABLES: &[(&str, Columns)] = &[
    (
        "jobs",
        &[
            ("id", SqlType::BigInt),
            ("schema", SqlType::Text),
            ("name", SqlType::Text),
            ("kind", SqlType::Text),
            ("state", SqlType::Text),
            ("parallelism", SqlType::BigInt),
            ("rows_read", SqlType::BigInt),
            ("epoch", SqlType::BigInt),
            ("lag", SqlType::BigInt),
            ("bytes", SqlType::BigInt),
            ("error", SqlType::Text),
            ("progress", SqlType::Double),
        ],
    ),
    (
        "epochs",
        &[
            ("epoch", SqlType::BigInt),
            ("injected_at", SqlType::Timestamptz),
            ("collect_ms", SqlType::Double),
            ("align_max_ms", SqlType::Double),
            ("flush_max_ms", SqlType::Double),
            ("commit_ms", SqlType::Double),
            ("rows", SqlType::BigInt),
            ("bytes", SqlType::BigInt),
            ("slowest", SqlType::Text),
        ],
    ),
    (
        "actors",
        &[
            ("object", SqlType::BigInt),
            ("name", SqlType::Text),
            ("fragment", SqlType::BigInt),
            ("actor", SqlType::BigInt),
            ("epoch", SqlType::BigInt),
            ("rows_in", SqlType::BigInt),
            ("rows_out", SqlType::BigInt),
            ("start_delay_ms", SqlType::Double),
            ("align_ms", SqlType::Double),
            ("flush_ms", SqlType::Double),
            ("cached_bytes", SqlType::BigInt),
        ],
    ),
    (
        "state_tables",
        &[
            ("object", SqlType::BigInt),
            ("name", SqlType::Text),
            ("operator", SqlType::BigInt),
            ("role", SqlType::BigInt),
            ("entries", SqlType::BigInt),
            ("bytes", SqlType::BigInt),
        ],
    ),
    (
        "subscribers",
        &[
            ("pid", SqlType::BigInt),
            ("object", SqlType::BigInt),
            ("name", SqlType::Text),
            ("epoch", SqlType::BigInt),
            ("lag", SqlType::BigInt),
            ("backlog_bytes", SqlType::BigInt),
            ("backlog_bytes_max", SqlType::BigInt),
        ],
    ),
    (
        "subscriptions",
        &[
            ("id", SqlType::BigInt),
            ("schema", SqlType::Text),
            ("name", SqlType::Text),
            ("relation", SqlType::Text),
            ("retention_ms", SqlType::BigInt),
            ("epoch", SqlType::BigInt),
            ("error", SqlType::Text),
        ],
    ),
    (
        "errors",
        &[
            ("time", SqlType::Timestamptz),
            ("object", SqlType::BigInt),
            ("name", SqlType::Text),
            ("epoch", SqlType::BigInt),
            ("code", SqlType::Text),
            ("message", SqlType::Text),
            ("expression", SqlType::Text),
            ("row", SqlType::Text),
        ],
    ),
    (
        "dead_letters",
        &[
            ("time", SqlType::Timestamptz),
            ("object", SqlType::BigInt),
            ("name", SqlType::Text),
            ("epoch", SqlType::BigInt),
            ("split", SqlType::Text),
            ("position", SqlType::Text),
            ("raw", SqlType::Bytea),
            ("reason", SqlType::Text),
        ],
    ),
];

impl SystemTables for System {
    fn names(&self) -> Vec<String> {
        TABLES.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn schema(&self, name: &str) -> Option<SchemaRef> {
        let (_, columns) = TABLES.iter().find(|(table, _)| *table == name)?;
        let fields: Vec<_> =
            columns.iter().map(|(name, sql_type)| sql_type.field(*name, true)).collect();
        Some(Arc::new(Schema::new(fields)))
    }

    fn rows(&self, name: &str) -> SqlResult<RecordBatch> {
        let engine = self.engine()?;
        let columns = match name {
            "jobs" => engine.jobs_rows(),
            "epochs" => engine.epochs_rows(),
            "actors" => engine.actors_rows(),
            "state_tables" => engine.state_tables_rows()?,
            "subscribers" => engine.subscribers_rows(),
            "subscriptions" => engine.subscriptions_rows(),
            "errors" => engine.errors_rows()?,
            "dead_letters" => engine.dead_letters_rows()?,
            _ => return Err(SqlError::internal(format!("no system table {name}"))),
        };
        let schema = self
            .schema(name)
            .ok_or_else(|| SqlError::internal(format!("system table {name} has no schema")))?;
        Ok(RecordBatch::try_new(schema, columns)?)
    }

    fn check_whole(&self, object: ObjectId, snapshot: &Snapshot) -> SqlResult<()> {
        self.engine.upgrade().map_or(Ok(()), |engine| engine.check_whole(object, snapshot))
    }

    fn is_whole(&self, object: ObjectId, snapshot: &Snapshot) -> SqlResult<bool> {
        is_whole(object, snapshot)
    }
}

/// Whether a job has caught up with its inputs as of `snapshot`, and was not suspended.
pub(super) fn is_whole(object: ObjectId, snapshot: &Snapshot) -> SqlResult<bool> {
    Ok(snapshot.meta(&fingerprint_key(object))?.is_some()
        && snapshot.meta(&progress_key(object))?.is_none()
        && snapshot.meta(&suspended_key(object))?.is_none())
}

impl Engine {
    fn name_of(&self, object: ObjectId) -> Option<String> {
        self.catalog().object(object).map(|found| found.name.name.clone())
    }

    /// How a job is. A sink catches up until it has seen the end of what it reads once.
    fn state_of(&self, object: ObjectId) -> JobState {
        match (self.coordinator.status().job(object), self.poured(object)) {
            (Some(state), _) if state != JobState::Attached => state,
            (_, Some(poured)) if !poured.caught_up => {
                JobState::Detached { rows: poured.rows, done: poured.done, read: None }
            }
            _ => JobState::Attached,
        }
    }

    fn jobs_rows(&self) -> Vec<ArrayRef> {
        let catalog = self.catalog();
        let now = self.store().epoch();
        let jobs: Vec<_> = catalog
            .objects()
            .filter(|object| {
                !matches!(
                    object.kind,
                    ObjectKind::View(_) | ObjectKind::Subscription(_) | ObjectKind::Sequence(_)
                )
            })
            .map(|object| (object, self.state_of(object.id)))
            .collect();
        let epoch = |object: ObjectId, state: &JobState| match state {
            JobState::Attached => Some(self.poured(object).map_or(now, |poured| poured.done).0),
            JobState::Detached { done, .. } => Some(done.0),
            JobState::Suspended { .. } => None,
        };
        vec![
            integers(jobs.iter().map(|(object, _)| Some(u64::from(object.id.0)))),
            texts(jobs.iter().map(|(object, _)| Some(object.name.schema.clone()))),
            texts(jobs.iter().map(|(object, _)| Some(object.name.name.clone()))),
            texts(jobs.iter().map(|(object, _)| Some(object.kind_name().to_owned()))),
            texts(jobs.iter().map(|(_, state)| {
                Some(match state {
                    JobState::Attached => "attached".to_owned(),
                    JobState::Detached { .. } => "catching up".to_owned(),
                    JobState::Suspended { .. } => "suspended".to_owned(),
                })
            })),
            integers(jobs.iter().map(|(object, _)| match &object.kind {
                ObjectKind::MaterializedView(view) => Some(view.parallelism as u64),
                ObjectKind::Index(index) => Some(index.parallelism as u64),
                ObjectKind::Sink(sink) => {
                    Some(sink.query.as_ref().map_or(1, |query| query.parallelism as u64))
                }
                _ => Some(1),
            })),
            integers(jobs.iter().map(|(_, state)| match state {
                JobState::Detached { rows, .. } => Some(*rows),
                _ => None,
            })),
            integers(jobs.iter().map(|(object, state)| epoch(object.id, state))),
            integers(jobs.iter().map(|(object, state)| {
                epoch(object.id, state).map(|epoch| now.0.saturating_sub(epoch))
            })),
            integers(
                jobs.iter().map(|(object, _)| Some(self.store().object_size(object.id).bytes)),
            ),
            texts(jobs.iter().map(|(object, state)| match state {
                JobState::Suspended { error } => Some(error.message.clone()),
                _ => self.poured(object.id)?.error.map(|error| error.message),
            })),
            Arc::new(jobs.iter().map(|(_, state)| percent(state)).collect::<Float64Array>()),
        ]
    }

    fn epochs_rows(&self) -> Vec<ArrayRef> {
        let epochs = self.coordinator.status().epochs();
        vec![
            integers(epochs.iter().map(|record| Some(record.epoch.0))),
            times(epochs.iter().map(|record| record.injected.0)),
            durations(epochs.iter().map(|record| record.collect)),
            durations(epochs.iter().map(|record| record.align_max)),
            durations(epochs.iter().map(|record| record.flush_max)),
            durations(epochs.iter().map(|record| record.commit)),
            integers(epochs.iter().map(|record| Some(record.rows))),
            integers(epochs.iter().map(|record| Some(record.bytes as u64))),
            texts(epochs.iter().map(|record| {
                record.slowest.map(|actor| {
                    let name = self.name_of(actor.object).unwrap_or_default();
                    format!("{name}.{}.{}", actor.fragment, actor.index)
                })
            })),
        ]
    }

    fn actors_rows(&self) -> Vec<ArrayRef> {
        let actors = self.coordinator.status().actors();
        vec![
            integers(actors.iter().map(|(id, _)| Some(u64::from(id.object.0)))),
            texts(actors.iter().map(|(id, _)| self.name_of(id.object))),
            integers(actors.iter().map(|(id, _)| Some(id.fragment as u64))),
            integers(actors.iter().map(|(id, _)| Some(id.index as u64))),
            integers(actors.iter().map(|(_, record)| Some(record.epoch.0))),
            integers(actors.iter().map(|(_, record)| Some(record.rows_in))),
            integers(actors.iter().map(|(_, record)| Some(record.rows_out))),
            durations(actors.iter().map(|(_, record)| record.last.start_delay)),
            durations(actors.iter().map(|(_, record)| record.last.align)),
            durations(actors.iter().map(|(_, record)| record.last.flush)),
            integers(actors.iter().map(|(_, record)| Some(record.last.cached_bytes as u64))),
        ]
    }

    fn state_tables_rows(&self) -> SqlResult<Vec<ArrayRef>> {
        let snapshot = self.snapshot();
        let mut tables = Vec::new();
        for object in self.catalog().objects() {
            for table in snapshot.tables(object.id)? {
                let entries = snapshot.count(table, COUNTED_MAX)?;
                tables.push((table, entries.map(|entries| entries as u64)));
            }
        }
        Ok(vec![
            integers(tables.iter().map(|(table, _)| Some(u64::from(table.object.0)))),
            texts(tables.iter().map(|(table, _)| self.name_of(table.object))),
            integers(tables.iter().map(|(table, _)| Some(u64::from(table.operator)))),
            integers(tables.iter().map(|(table, _)| Some(u64::from(table.role)))),
            integers(tables.iter().map(|(_, entries)| *entries)),
            integers(tables.iter().map(|(table, _)| Some(self.store().table_size(*table)))),
        ])
    }

    fn subscribers_rows(&self) -> Vec<ArrayRef> {
        let guests = self.coordinator.readers().guests();
        let now = self.store().epoch();
        vec![
            integers(guests.iter().map(|guest| u64::try_from(guest.process_id).ok())),
            integers(guests.iter().map(|guest| Some(u64::from(guest.object.0)))),
            texts(guests.iter().map(|guest| self.name_of(guest.object))),
            integers(guests.iter().map(|guest| Some(guest.done.0))),
            integers(guests.iter().map(|guest| Some(now.0.saturating_sub(guest.done.0)))),
            integers(guests.iter().map(|guest| Some(guest.backlog))),
            integers(guests.iter().map(|guest| match guest.allowance {
                Allowance::Bytes(most) => Some(most),
                Allowance::Reader(_) => None,
            })),
        ]
    }

    fn subscriptions_rows(&self) -> Vec<ArrayRef> {
        let catalog = self.catalog();
        let all: Vec<_> =
            catalog.objects().filter_map(|object| Some((object, object.subscription()?))).collect();
        let readers = self.coordinator.readers();
        vec![
            integers(all.iter().map(|(object, _)| Some(u64::from(object.id.0)))),
            texts(all.iter().map(|(object, _)| Some(object.name.schema.clone()))),
            texts(all.iter().map(|(object, _)| Some(object.name.name.clone()))),
            texts(all.iter().map(|(_, subscription)| self.name_of(subscription.from))),
            integers(all.iter().map(|(_, subscription)| Some(subscription.retention_ms))),
            integers(all.iter().map(|(object, subscription)| {
                readers.place(subscription.from, object.id).map(|epoch| epoch.0)
            })),
            texts(all.iter().map(|(object, _)| match self.coordinator.status().job(object.id) {
                Some(JobState::Suspended { error }) => Some(error.message),
                _ => None,
            })),
        ]
    }

    fn errors_rows(&self) -> SqlResult<Vec<ArrayRef>> {
        let entries: Vec<ErrorEntry> = self.journal(ERRORS)?;
        Ok(vec![
            times(entries.iter().map(|entry| entry.time)),
            integers(entries.iter().map(|entry| Some(u64::from(entry.object.0)))),
            texts(entries.iter().map(|entry| self.name_of(entry.object))),
            integers(entries.iter().map(|entry| Some(entry.epoch.0))),
            texts(entries.iter().map(|entry| Some(entry.code.clone()))),
            texts(entries.iter().map(|entry| Some(entry.message.clone()))),
            texts(entries.iter().map(|entry| Some(entry.expression.clone()))),
            texts(entries.iter().map(|entry| Some(entry.row.clone()))),
        ])
    }

    fn dead_letters_rows(&self) -> SqlResult<Vec<ArrayRef>> {
        let entries: Vec<DeadLetterEntry> = self.journal(DEAD_LETTERS)?;
        let raw: Vec<&[u8]> = entries.iter().map(|entry| entry.raw.as_slice()).collect();
        Ok(vec![
            times(entries.iter().map(|entry| entry.time)),
            integers(entries.iter().map(|entry| Some(u64::from(entry.object.0)))),
            texts(entries.iter().map(|entry| self.name_of(entry.object))),
            integers(entries.iter().map(|entry| Some(entry.epoch.0))),
            texts(entries.iter().map(|entry| Some(entry.split.clone()))),
            texts(entries.iter().map(|entry| Some(entry.position.clone()))),
            Arc::new(BinaryArray::from(raw)),
            texts(entries.iter().map(|entry| Some(entry.reason.clone()))),
        ])
    }

    fn journal<E: serde::de::DeserializeOwned>(&self, prefix: &[u8]) -> SqlResult<Vec<E>> {
        self.snapshot()
            .meta_with_prefix(prefix)?
            .iter()
            .map(|(_, value)| {
                serde_json::from_slice(value)
                    .map_err(|error| SqlError::internal(format!("journal entry: {error}")))
            })
            .collect()
    }
}

/// How much a job has read of what was there.
fn percent(state: &JobState) -> Option<f64> {
    match state {
        JobState::Detached { read, .. } => read.map(|read| f64::from(read) / 10.0),
        _ => None,
    }
}

fn integers(values: impl Iterator<Item = Option<u64>>) -> ArrayRef {
    let values = values.map(|value| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX)));
    Arc::new(values.collect::<Int64Array>())
}

fn texts(values: impl Iterator<Item = Option<String>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

/// Milliseconds.
fn durations(values: impl Iterator<Item = Duration>) -> ArrayRef {
    Arc::new(values.map(|value| Some(value.as_secs_f64() * 1e3)).collect::<Float64Array>())
}

fn times(values: impl Iterator<Item = i64>) -> ArrayRef {
    let values: TimestampMicrosecondArray = values.map(Some).collect();
    Arc::new(values.with_timezone("UTC"))
}
