//! Watching a table or a materialized view: its rows at one epoch, then what each epoch changed.
//!
//! ```text
//!   rows of epoch e, in chunks ──> changes of e+1 ──> changes of e+2 ──> ... wait for a commit
//! ```
//!
//! What must hold: at the end of each epoch the sum of all deltas is the object's content at it; a
//! delta is net, over the columns that are shown; nothing is read before the last was taken, and
//! what was read need not be kept. Who does not take it is sent away (`checkpoint::readers`).

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use hashbrown::HashMap;

use super::{Engine, jobs};
use crate::catalog::Object;
use crate::checkpoint::coordinator::Change;
use crate::checkpoint::readers::{Allowance, Coming, Guest};
use crate::error::{SqlError, SqlResult, code};
use crate::operator::buffer::{consolidate, net};
use crate::serving::{QueryContext, Strict};
use crate::state::{RowLayout, Snapshot};
use crate::task;
use crate::types::key::KeyCodec;
use crate::types::{Delta, Epoch, ObjectId, TableId};

/// Rows of a chunk.
const CHUNK_ROWS: usize = 8192;

/// Changelog entries read at a time.
const CHANGES: usize = 64;

/// What is watched, and how.
#[derive(Debug, Clone)]
pub struct Watch {
    /// A table or a materialized view.
    pub object: Arc<Object>,
    /// Whether its rows come before their changes.
    pub rows: bool,
    pub from: WatchFrom,
    /// Bytes of changes that may wait to be taken, or be undone for older rows.
    pub backlog_max: u64,
    /// The subscription that keeps the changes, instead of an allowance of its own.
    pub subscription: Option<ObjectId>,
    /// Of the client.
    pub process_id: i32,
}

/// The epoch to begin at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchFrom {
    Newest,
    /// The first one that the subscription keeps the changes after.
    Oldest,
    Epoch(Epoch),
}

/// What a watcher sees.
#[derive(Debug)]
pub(super) enum Seen {
    /// A part of the rows of the first epoch.
    Rows { epoch: Epoch, delta: Delta },
    /// All that an epoch changed.
    Changes { epoch: Epoch, delta: Delta },
    /// All up to and including this epoch was seen.
    Progress(Epoch),
    /// There is nothing more now.
    Idle,
}

/// A watch under way. Dropped, it is over.
pub(super) struct Watcher {
    engine: Arc<Engine>,
    guest: Guest,
    reading: Arc<Reading>,
    phase: Phase,
    /// Read, and not taken yet.
    ready: VecDeque<Seen>,
    /// What was taken is complete up to here.
    done: Epoch,
    /// Read up to here: nothing of the changelog before it needs to be looked for.
    read: Epoch,
    /// The progress that was told.
    told: Option<Epoch>,
    /// Nothing was there at the last look, and that was told.
    idle: bool,
}

enum Phase {
    Rows(Chunks),
    Changes,
}

/// How the object is read.
struct Reading {
    object: ObjectId,
    layout: RowLayout,
    /// The columns that are shown.
    shown: Vec<usize>,
    /// Of a shown row.
    row: KeyCodec,
    strict: Option<Strict>,
    backlog_max: u64,
}

/// How far the rows were read.
#[derive(Default)]
struct Chunks {
    after: Option<Vec<u8>>,
    /// What has changed since the epoch whose rows are given.
    undo: Option<Undo>,
}

/// Changes to be taken back, net: `rows(then) = rows(now) − changes(then, now]`.
struct Undo {
    changes: Delta,
    left: Vec<i64>,
    by_row: HashMap<Vec<u8>, usize>,
}

impl Engine {
    /// Begins to watch. From here on the object's changes are kept.
    pub(super) async fn watch(
        self: &Arc<Self>,
        context: &QueryContext,
        watch: &Watch,
    ) -> SqlResult<Watcher> {
        let object = &watch.object;
        for needed in [Some(object.id), watch.subscription].into_iter().flatten() {
            self.check_whole(needed, &context.snapshot)?;
        }
        let reading = Reading {
            object: object.id,
            layout: jobs::layout(object)?,
            row: KeyCodec::of_row(&object.schema())?,
            shown: object.places(),
            strict: Strict::of(context, object),
            backlog_max: watch.backlog_max,
        };
        let coming = Coming {
            object: object.id,
            process_id: watch.process_id,
            allowance: match watch.subscription {
                Some(subscription) => Allowance::Reader(subscription),
                None => Allowance::Bytes(watch.backlog_max),
            },
        };
        let readers = self.coordinator.readers();
        let from = match (watch.from, watch.subscription) {
            (WatchFrom::Epoch(from), _) => Some(from),
            (WatchFrom::Oldest, Some(reader)) => readers.place(object.id, reader),
            (_, Some(_)) => Some(self.store().epoch()),
            (_, None) => None,
        };
        let guest = match from {
            Some(from) => self.join_at(object, coming, from)?,
            None => {
                let guest = readers.join(coming);
                let change = Change { changelog_on: [object.id].into(), ..Change::default() };
                self.coordinator.change(change).await?;
                guest
            }
        };
        // All later changes are kept.
        let snapshot = self.snapshot();
        let from = from.unwrap_or(snapshot.epoch());
        guest.advance(from)?;
        let phase = match watch.rows {
            true => {
                guest.pin(snapshot)?;
                Phase::Rows(Chunks::default())
            }
            false => Phase::Changes,
        };
        Ok(Watcher {
            engine: Arc::clone(self),
            guest,
            reading: Arc::new(reading),
            phase,
            ready: VecDeque::new(),
            done: from,
            read: Epoch(0),
            told: None,
            idle: false,
        })
    }

    /// Joins those who read the changes of `object` after `from`.
    fn join_at(&self, object: &Object, coming: Coming, from: Epoch) -> SqlResult<Guest> {
        let name = &object.name.name;
        let newest = self.store().epoch();
        if from > newest {
            let message = format!("epoch {} is not there yet: the newest is {}", from.0, newest.0);
            return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message)
                .hint("Leave out AS OF to begin at the newest epoch."));
        }
        let readers = self.coordinator.readers();
        readers.join_at(coming, from).ok_or_else(|| {
            let kind = object.kind_name();
            let message = format!("changes of {kind} \"{name}\" after epoch {} are gone", from.0);
            let since = match coming.allowance {
                Allowance::Bytes(_) => readers.since(object.id),
                Allowance::Reader(reader) => readers.place(object.id, reader),
            };
            let kept = match since {
                Some(since) => format!("They are kept since epoch {}.", since.0),
                None => "Nobody reads its changes, so none are kept.".to_owned(),
            };
            SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message).detail(kept).hint(
                "Begin anew without AS OF; CREATE SUBSCRIPTION ... WITH (retention = ...) keeps \
                 changes for a time.",
            )
        })
    }
}

impl Watcher {
    /// What comes next, however long that takes.
    pub(super) async fn next(&mut self) -> SqlResult<Seen> {
        self.guest.check()?;
        loop {
            if let Some(seen) = self.ready.pop_front() {
                if let Seen::Changes { epoch, .. } | Seen::Progress(epoch) = &seen {
                    self.done = *epoch;
                }
                return Ok(seen);
            }
            match std::mem::replace(&mut self.phase, Phase::Changes) {
                Phase::Rows(chunks) => self.read_rows(chunks).await?,
                Phase::Changes => {
                    if let Some(seen) = self.read_changes().await? {
                        return Ok(seen);
                    }
                }
            }
        }
    }

    async fn read_rows(&mut self, chunks: Chunks) -> SqlResult<()> {
        let snapshot = self.guest.pinned()?;
        let (reading, epoch) = (Arc::clone(&self.reading), self.done);
        let read = move || reading.rows(&snapshot, epoch, chunks);
        let (delta, chunks) = blocking(read).await?;
        if !delta.is_empty() {
            self.ready.push_back(Seen::Rows { epoch, delta });
        }
        match chunks {
            Some(chunks) => self.phase = Phase::Rows(chunks),
            None => {
                self.guest.unpin()?;
                self.tell(epoch);
            }
        }
        Ok(())
    }

    /// What has changed since; if nothing has, says so once, then waits.
    async fn read_changes(&mut self) -> SqlResult<Option<Seen>> {
        if self.idle {
            tokio::select! {
                biased;
                error = self.guest.ended() => return Err(error),
                next = self.engine.coordinator.committed_after(self.read) => next?,
            }
            self.idle = false;
        }
        // In this order: the changes of all epochs up to this one are counted, while the snapshot
        // may have one more.
        let counted = self.engine.coordinator.newest();
        let snapshot = self.engine.snapshot();
        if let Some(error) = self.engine.failure(self.reading.object) {
            return Err(error);
        }
        let there = self.read == self.done && self.guest.backlog() == 0;
        let (reading, done) = (Arc::clone(&self.reading), self.done);
        let (changes, newest) = match (there, &reading.strict) {
            (true, None) => (Vec::new(), counted.max(done)),
            _ => {
                let newest = snapshot.epoch();
                (blocking(move || reading.changes(&snapshot, done)).await?, newest)
            }
        };
        if changes.is_empty() {
            self.done = newest;
            self.read = newest;
            self.tell(newest);
            self.guest.advance(newest)?;
            if self.ready.is_empty() {
                self.idle = true;
                return Ok(Some(Seen::Idle));
            }
            return Ok(None);
        }
        if let Some((last, _)) = changes.last() {
            self.guest.advance(*last)?;
        }
        for (epoch, delta) in changes {
            if !delta.is_empty() {
                self.ready.push_back(Seen::Changes { epoch, delta });
            }
            self.tell(epoch);
        }
        Ok(None)
    }

    fn tell(&mut self, epoch: Epoch) {
        if self.told != Some(epoch) {
            self.told = Some(epoch);
            self.ready.push_back(Seen::Progress(epoch));
        }
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> SqlResult<T> + Send + 'static,
) -> SqlResult<T> {
    task::spawn_blocking(work)
        .await
        .map_err(|panic| SqlError::internal(format!("reading for a watcher panicked: {panic}")))?
}

impl Reading {
    /// The next rows of `epoch`, which `snapshot` has or what has changed since; `None` if they are
    /// the last.
    fn rows(
        &self,
        snapshot: &Snapshot,
        epoch: Epoch,
        mut chunks: Chunks,
    ) -> SqlResult<(Delta, Option<Chunks>)> {
        let from = match &chunks.after {
            None => Bound::Unbounded,
            Some(after) => Bound::Excluded(after.as_slice()),
        };
        if chunks.after.is_none() {
            self.check(snapshot)?;
            if epoch < snapshot.epoch() {
                chunks.undo = Some(self.undo(snapshot, epoch)?);
            }
        }
        let page = snapshot.page(TableId::contents(self.object), from, None, CHUNK_ROWS)?;
        let mut delta = self.shown(&self.layout.decode(page.entries())?)?;
        if let Some(undo) = &mut chunks.undo {
            delta = undo.take_back(&delta, &self.row)?;
        }
        match page.last_key() {
            Some(last) if page.more => {
                let after = Some(last.to_vec());
                Ok((delta, Some(Chunks { after, ..chunks })))
            }
            _ => match chunks.undo {
                None => Ok((delta, None)),
                Some(undo) => {
                    let gone = undo.gone()?;
                    Ok((Delta::concat(&delta.schema(), &[delta, gone])?, None))
                }
            },
        }
    }

    /// The net changes of the epochs after `done`, as many whole ones as are read at a time; none
    /// if there are none.
    fn changes(&self, snapshot: &Snapshot, done: Epoch) -> SqlResult<Vec<(Epoch, Delta)>> {
        self.check(snapshot)?;
        let mut epochs: Vec<(Epoch, Vec<Delta>)> = Vec::new();
        for (epoch, delta) in snapshot.changelog(self.object, done, CHANGES)? {
            let delta = self.shown(&self.layout.fitted(delta)?)?;
            match epochs.last_mut() {
                Some((last, deltas)) if *last == epoch => deltas.push(delta),
                _ => epochs.push((epoch, vec![delta])),
            }
        }
        let net = |(epoch, deltas): (Epoch, Vec<Delta>)| {
            let schema = deltas[0].schema();
            let delta = consolidate(Delta::concat(&schema, &deltas)?, &self.row)?;
            Ok((epoch, delta))
        };
        epochs.into_iter().map(net).collect()
    }

    /// What has changed after `epoch`.
    fn undo(&self, snapshot: &Snapshot, epoch: Epoch) -> SqlResult<Undo> {
        let mut done = epoch;
        let mut deltas: Vec<Delta> = Vec::new();
        let mut bytes = 0;
        loop {
            let changes = self.changes(snapshot, done)?;
            let Some((last, _)) = changes.last() else { break };
            done = *last;
            bytes += changes.iter().map(|(_, delta)| delta.bytes() as u64).sum::<u64>();
            if bytes > self.backlog_max {
                let message = format!("too much has changed since epoch {}", epoch.0);
                return Err(SqlError::new(code::CONFIGURATION_LIMIT_EXCEEDED, message)
                    .detail(format!(
                        "To give the rows of then, more than subscribe_backlog_max, {} kB, of \
                         changes would be held in memory.",
                        self.backlog_max / 1024
                    ))
                    .hint("Take the changes alone, WITH (SNAPSHOT = false), or leave out AS OF."));
            }
            deltas.extend(changes.into_iter().map(|(_, delta)| delta));
        }
        let empty = self.shown(&Delta::empty(Arc::clone(self.layout.schema())))?;
        let net = net(Delta::concat(&empty.schema(), &deltas)?, &self.row)?;
        let by_row = net.rows().map(<[u8]>::to_vec).zip(0..).collect();
        let left = (0..net.delta.rows()).map(|row| net.delta.weight(row)).collect();
        Ok(Undo { changes: net.delta, left, by_row })
    }

    fn shown(&self, delta: &Delta) -> SqlResult<Delta> {
        Ok(delta.with_batch(delta.batch().project(&self.shown)?))
    }

    fn check(&self, snapshot: &Snapshot) -> SqlResult<()> {
        self.strict.as_ref().map_or(Ok(()), |strict| strict.check_at(snapshot))
    }
}

impl Undo {
    /// `rows` without those that have come since.
    fn take_back(&mut self, rows: &Delta, codec: &KeyCodec) -> SqlResult<Delta> {
        let keys = codec.encode(rows.batch())?;
        let mut weights = Vec::with_capacity(rows.rows());
        for (row, key) in keys.iter().enumerate() {
            let mut weight = rows.weight(row);
            if let Some(change) = self.by_row.get(key.data()) {
                let left = &mut self.left[*change];
                let taken = weight.min((*left).max(0));
                (*left, weight) = (*left - taken, weight - taken);
            }
            weights.push(weight);
        }
        let kept: Vec<bool> = weights.iter().map(|weight| *weight != 0).collect();
        let rows = Delta::new(rows.batch().clone(), Some(weights.into()));
        Ok(rows.filter(&kept.into())?)
    }

    /// Rows that have gone since.
    fn gone(self) -> SqlResult<Delta> {
        debug_assert!(self.left.iter().all(|left| *left <= 0), "what came is in the rows");
        let kept: Vec<bool> = self.left.iter().map(|left| *left < 0).collect();
        let weights: Vec<i64> = self.left.iter().map(|left| -left).collect();
        let rows = Delta::new(self.changes.batch().clone(), Some(weights.into()));
        Ok(rows.filter(&kept.into())?)
    }
}
