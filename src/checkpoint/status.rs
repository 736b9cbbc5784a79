//! What runs, how far, how late: the facts behind `weir.epochs`, `weir.actors` and `weir.jobs`.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::WallTime;
use crate::dataflow::report::{ActorId, Figures, NodeRows, Report};
use crate::error::SqlError;
use crate::types::{Epoch, ObjectId};

/// Epochs that are remembered.
const EPOCHS_MAX: usize = 1000;

/// What an epoch cost.
#[derive(Debug, Clone)]
pub struct EpochRecord {
    pub epoch: Epoch,
    pub injected: WallTime,
    /// From injection until the last actor had reported.
    pub collect: Duration,
    /// The store's write.
    pub commit: Duration,
    /// The longest alignment of an actor, and its longest flush.
    pub align_max: Duration,
    pub flush_max: Duration,
    pub bytes: usize,
    pub rows: u64,
    /// Who reported last.
    pub slowest: Option<ActorId>,
}

/// An actor's figures so far.
#[derive(Debug, Clone, Default)]
pub struct ActorRecord {
    pub epoch: Epoch,
    pub last: Figures,
    pub rows_in: u64,
    pub rows_out: u64,
    /// Of each node of its fragment.
    pub nodes: Vec<NodeRows>,
}

/// How a job is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobState {
    /// Shares the graph's epochs.
    Attached,
    /// Catches up by itself: rows of its inputs read so far, and, in thousandths, about which part
    /// of those that there are.
    Detached { rows: u64, done: Epoch, read: Option<u16> },
    /// Failed too often; says why.
    Suspended { error: SqlError },
}

/// The facts, shared by whoever makes and whoever shows them.
#[derive(Debug, Clone, Default)]
pub struct Status {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    epochs: VecDeque<EpochRecord>,
    actors: HashMap<ActorId, ActorRecord>,
    jobs: BTreeMap<ObjectId, JobState>,
}

impl Status {
    pub fn record_epoch(&self, record: EpochRecord) {
        let mut inner = self.inner.lock();
        if inner.epochs.len() == EPOCHS_MAX {
            inner.epochs.pop_front();
        }
        inner.epochs.push_back(record);
    }

    pub fn record_actor(&self, report: &Report) {
        let mut inner = self.inner.lock();
        let record = inner.actors.entry(report.actor).or_default();
        record.epoch = report.epoch;
        record.last = report.figures;
        record.rows_in += report.figures.rows_in;
        record.rows_out += report.figures.rows_out;
        record.nodes.resize(report.nodes.len(), NodeRows::default());
        for (sum, node) in record.nodes.iter_mut().zip(&report.nodes) {
            sum.rows_in += node.rows_in;
            sum.rows_out += node.rows_out;
        }
    }

    pub fn set_job(&self, object: ObjectId, state: JobState) {
        self.inner.lock().jobs.insert(object, state);
    }

    /// The object is gone.
    pub fn forget(&self, object: ObjectId) {
        let mut inner = self.inner.lock();
        inner.jobs.remove(&object);
        inner.actors.retain(|actor, _| actor.object != object);
    }

    pub fn job(&self, object: ObjectId) -> Option<JobState> {
        self.inner.lock().jobs.get(&object).cloned()
    }

    pub fn jobs(&self) -> Vec<(ObjectId, JobState)> {
        self.inner.lock().jobs.iter().map(|(object, state)| (*object, state.clone())).collect()
    }

    pub fn epochs(&self) -> Vec<EpochRecord> {
        self.inner.lock().epochs.iter().cloned().collect()
    }

    /// Rows that an actor has given so far.
    pub fn rows_out(&self, actor: ActorId) -> u64 {
        self.inner.lock().actors.get(&actor).map_or(0, |record| record.rows_out)
    }

    pub fn actors(&self) -> Vec<(ActorId, ActorRecord)> {
        let mut actors: Vec<_> =
            self.inner.lock().actors.iter().map(|(id, record)| (*id, record.clone())).collect();
        actors.sort_by_key(|(id, _)| *id);
        actors
    }
}
