//! Sinks into tables: each is a task that follows what its sink reads, and pours it into the table
//! as a client would: under the table's write lock, through the gate.
//!
//! ```text
//!  open ──> follow: rows, then changes ──pour──> rows and place enter one epoch ──committed──┐
//!             └──────────────────── nothing new: wait for the next commit <─────────────────┘
//! ```
//!
//! What must hold: the place and what was made of it are in one epoch, so a row is poured once,
//! whatever happens; one write at the most is on its way; a task that was told to stop leaves
//! nothing on its way.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::dml::{self, Pouring};
use super::{Engine, jobs};
use crate::catalog::object::Sink;
use crate::catalog::pg::PgSession;
use crate::catalog::{Object, ObjectKind};
use crate::checkpoint::coordinator::Change;
use crate::checkpoint::follow::{self, Place, Position, Step};
use crate::checkpoint::status::JobState;
use crate::clock;
use crate::error::{SqlError, SqlResult, code};
use crate::failpoint;
use crate::state::{MetaEntry, RowLayout, Snapshot};
use crate::task;
use crate::types::text::TextStyle;
use crate::types::{Epoch, ObjectId};

/// Rows of a write, about.
const STEP_ROWS: usize = 8192;

/// How long a sink that cannot write is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// How often a sink looks whether its query's job has caught up.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How far a sink is.
#[derive(Debug, Clone, Default)]
pub(super) struct Poured {
    /// The table has all that was committed of what it reads up to this epoch.
    pub(super) done: Epoch,
    /// The epoch of its newest write.
    pub(super) written: Epoch,
    /// Rows that it took, besides changes.
    pub(super) rows: u64,
    /// Whether it has seen the end of the rows, since its making.
    pub(super) caught_up: bool,
    /// Why the newest try failed.
    pub(super) error: Option<SqlError>,
}

/// How far a sink has read, as it lies on disk.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Read {
    /// From its opening on, whose epoch nobody wrote down yet.
    FromNowOn,
    UpTo(Place),
}

/// Where a sink's place is kept in the store's metadata. Without one it is not open.
pub(super) fn place_key(sink: ObjectId) -> Vec<u8> {
    [b"sink/".as_slice(), &sink.0.to_be_bytes()].concat()
}

fn place_entry(sink: ObjectId, read: &Read) -> MetaEntry {
    let json = serde_json::to_vec(read).expect("plain data has a JSON form");
    (place_key(sink), Some(json))
}

/// The entry that opens a sink.
pub(super) fn opening(id: ObjectId, sink: &Sink) -> MetaEntry {
    let read = if sink.snapshot { Read::UpTo(Place::START) } else { Read::FromNowOn };
    place_entry(id, &read)
}

/// The epoch after which a sink needs the changes of what it reads; `None` while it is not open.
pub(super) fn done(snapshot: &Snapshot, sink: ObjectId) -> SqlResult<Option<Epoch>> {
    Ok(match read(snapshot, sink)? {
        None => None,
        Some(Read::FromNowOn) => Some(snapshot.epoch()),
        Some(Read::UpTo(place)) => Some(place.done),
    })
}

fn read(snapshot: &Snapshot, sink: ObjectId) -> SqlResult<Option<Read>> {
    let Some(bytes) = snapshot.meta(&place_key(sink))? else { return Ok(None) };
    let read = serde_json::from_slice(&bytes);
    read.map(Some).map_err(|error| SqlError::internal(format!("a sink's place: {error}")))
}

impl Engine {
    /// Starts pouring.
    pub(super) fn start_sink(self: &Arc<Self>, object: &Arc<Object>) -> SqlResult<()> {
        let ObjectKind::Sink(sink) = &object.kind else { return Ok(()) };
        let catalog = self.catalog();
        let gone = |id: ObjectId| SqlError::internal(format!("object {} is gone", id.0));
        let from = match sink.query {
            Some(_) => object,
            None => catalog.object(sink.from).ok_or_else(|| gone(sink.from))?,
        };
        let into = catalog.object(sink.into).ok_or_else(|| gone(sink.into))?;
        let pouring = Pouring {
            table: sink.into,
            places: sink.columns.iter().map(|column| into.place(*column)).collect(),
            types: object.columns.iter().map(|column| column.sql_type.clone()).collect(),
            append_only: sink.append_only,
        };
        let start = match read(&self.snapshot(), object.id)? {
            Some(Read::UpTo(Place { position: Position::End, done })) => {
                Poured { done, caught_up: true, ..Poured::default() }
            }
            Some(Read::FromNowOn) => Poured { caught_up: true, ..Poured::default() },
            _ => Poured::default(),
        };
        let (state, told) = watch::channel(start);
        self.sinks.lock().insert(object.id, told);
        let (background, running) = jobs::background();
        self.background.lock().insert(sink.reader, background);
        let pour = Pour {
            engine: Arc::clone(self),
            id: object.id,
            sink: sink.clone(),
            layout: Arc::new(jobs::layout(from)?),
            taken: match sink.places.is_empty() {
                true => (0..pouring.types.len()).collect(),
                false => sink.places.clone(),
            },
            pouring,
            state,
            cancel: running.cancel.clone(),
        };
        task::spawn_on(&self.stream, format!("sink {}", object.id.0), async move {
            pour.run().await;
            drop(running);
        });
        Ok(())
    }

    /// Waits until everything written so far is durable and visible, and what sinks make of it too.
    pub async fn flush_sinks(&self) -> SqlResult<()> {
        self.flush().await?;
        let sinks: Vec<_> = self.sinks.lock().values().cloned().collect();
        // What a sink writes another may read: a round for each that can come after another.
        for _ in 0..sinks.len() {
            let until = self.store().epoch();
            let mut written = Epoch(0);
            for mut sink in sinks.clone() {
                if !sink.borrow().caught_up {
                    continue;
                }
                // A sink that is dropped has nothing to be waited for.
                if let Ok(state) = sink.wait_for(|state| state.done >= until).await {
                    written = written.max(state.written);
                }
            }
            if written <= until {
                break;
            }
        }
        Ok(())
    }

    /// How far a sink is.
    pub(super) fn poured(&self, sink: ObjectId) -> Option<Poured> {
        self.sinks.lock().get(&sink).map(|told| told.borrow().clone())
    }
}

/// A sink at work.
struct Pour {
    engine: Arc<Engine>,
    id: ObjectId,
    sink: Sink,
    /// How the rows lie that it reads.
    layout: Arc<RowLayout>,
    /// Which of their columns it takes.
    taken: Vec<usize>,
    pouring: Pouring,
    state: watch::Sender<Poured>,
    cancel: CancellationToken,
}

impl Pour {
    /// Goes on from the committed place, again and again after each failure, until it is told to
    /// stop.
    async fn run(self) {
        loop {
            match self.follow().await {
                Ok(()) => return,
                Err(error) => {
                    // A restart of the graph undoes what was on its way: nothing is wrong.
                    let again = error.code == code::SERIALIZATION_FAILURE;
                    if !again {
                        tracing::warn!(sink = self.id.0, %error, "a sink cannot write");
                        self.state.send_modify(|state| state.error = Some(error));
                    }
                    let wait = if again { LOOK_EVERY } else { RETRY_AFTER };
                    if self.unless_stopped(tokio::time::sleep(wait)).await.is_none() {
                        return;
                    }
                }
            }
        }
    }

    /// What comes of `work`; `None` once the sink is told to stop.
    async fn unless_stopped<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => None,
            done = work => Some(done),
        }
    }

    /// Pours until the sink is told to stop.
    async fn follow(&self) -> SqlResult<()> {
        let Some(mut place) = self.open().await? else { return Ok(()) };
        let coordinator = &self.engine.coordinator;
        coordinator.readers().advance(self.sink.from, self.sink.reader, place.done);
        while !self.cancel.is_cancelled() {
            let snapshot = self.engine.snapshot();
            let step = {
                let (snapshot, layout) = (Arc::clone(&snapshot), Arc::clone(&self.layout));
                let (from, place) = (self.sink.from, place.clone());
                let next = move || follow::next(&snapshot, from, &layout, &place, STEP_ROWS);
                task::spawn_blocking(next)
                    .await
                    .map_err(|panic| SqlError::internal(format!("a sink's reading: {panic}")))??
            };
            let Some(step) = step else {
                self.state.send_modify(|state| {
                    state.done = snapshot.epoch();
                    state.caught_up = true;
                    state.error = None;
                });
                let next = coordinator.committed_after(snapshot.epoch());
                match self.unless_stopped(next).await {
                    Some(next) => next?,
                    None => return Ok(()),
                }
                continue;
            };
            let (next, rows) = (step.place.clone(), step.rows as u64);
            let Some(epoch) = self.pour(step).await? else { return Ok(()) };
            self.engine.committed(epoch).await?;
            failpoint::hit(failpoint::BACKFILL_CHUNK);
            place = next;
            // It is poured, and that is durable: the changes may be forgotten.
            coordinator.readers().advance(self.sink.from, self.sink.reader, place.done);
            self.state.send_modify(|state| {
                if place.position == Position::End {
                    state.done = place.done;
                }
                state.written = epoch;
                state.rows += rows;
                state.error = None;
            });
        }
        Ok(())
    }

    /// Enters a step's changes, and the place after them; `None` if the sink was told to stop
    /// before that.
    async fn pour(&self, step: Step) -> SqlResult<Option<Epoch>> {
        let Step { mut epochs, place, .. } = step;
        for delta in epochs.iter_mut().flatten() {
            *delta = delta.with_batch(delta.batch().project(&self.taken)?);
        }
        let context = self.engine.dml_context();
        let session = PgSession::of_server(&[]);
        let query = self.engine.query_context(session, TextStyle::default());
        let meta = |refused| {
            let journal = self.engine.coordinator.journal();
            // The epoch that is open now, or the next: near enough for whoever reads the entry.
            let open = self.engine.gate().open_epoch();
            let mut meta = journal.errors(self.id, open, clock::wall(), refused);
            meta.push(place_entry(self.id, &Read::UpTo(place)));
            Ok(meta)
        };
        let stopped = self.cancel.cancelled();
        Box::pin(dml::pour(&context, &query, &self.pouring, epochs, meta, stopped)).await
    }

    /// The committed place; opens the sink if it has none. `None`: told to stop.
    async fn open(&self) -> SqlResult<Option<Place>> {
        if read(&self.engine.snapshot(), self.id)?.is_none() {
            // Its own rows are whole, and their changes can be kept, once its job is attached.
            while self.engine.coordinator.status().job(self.id) != Some(JobState::Attached) {
                if self.unless_stopped(tokio::time::sleep(LOOK_EVERY)).await.is_none() {
                    return Ok(None);
                }
            }
            self.engine.coordinator.readers().advance(self.sink.from, self.sink.reader, Epoch(0));
            let change = Change {
                changelog_on: [self.sink.from].into(),
                meta: vec![opening(self.id, &self.sink)],
                ..Change::default()
            };
            self.engine.coordinator.change(change).await?;
        }
        match read(&self.engine.snapshot(), self.id)? {
            Some(Read::UpTo(place)) => Ok(Some(place)),
            Some(Read::FromNowOn) => {
                let place = Place { position: Position::End, done: self.engine.store().epoch() };
                let meta = vec![place_entry(self.id, &Read::UpTo(place.clone()))];
                self.engine.commit_meta(meta).await?;
                Ok(Some(place))
            }
            None => Err(SqlError::internal("a sink that was opened is not open")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is on disk must be readable by every later version.
    #[test]
    fn a_place_lies_on_disk_like_this() {
        let place = Place { position: Position::After(vec![1, 2]), done: Epoch(7) };
        let entries = [
            place_entry(ObjectId(16384), &Read::FromNowOn),
            place_entry(ObjectId(16384), &Read::UpTo(Place::START)),
            place_entry(ObjectId(16384), &Read::UpTo(place)),
        ];
        let values = entries.map(|(_, value)| String::from_utf8(value.unwrap()).unwrap());
        expect_test::expect![[r#"
            "FromNowOn"
            {"UpTo":{"position":"Start","done":0}}
            {"UpTo":{"position":{"After":[1,2]},"done":7}}
        "#]]
        .assert_eq(&format!("{}\n", values.join("\n")));
        assert_eq!(place_key(ObjectId(16384)), b"sink/\0\0\x40\0");
    }
}
