//! The barrier: ends an epoch in every channel, and carries the changes to the graph that take
//! effect at it.

use std::collections::HashSet;

use parking_lot::Mutex;

use super::dispatch::Output;
use crate::clock::{Moment, WallTime};
use crate::operator::EpochEnd;
use crate::types::{Epoch, ObjectId};

/// The end of an epoch.
pub struct Barrier {
    pub epoch: Epoch,
    /// When it was injected; what `now()` means in the epoch.
    pub time: WallTime,
    pub injected: Moment,
    /// Whether it ends an epoch of a job that catches up, or one of the graph.
    pub detached: bool,
    pub mutation: Mutation,
}

impl Barrier {
    pub fn end(&self) -> EpochEnd {
        EpochEnd { epoch: self.epoch, time: self.time }
    }
}

/// Changes to the graph that take effect after the barrier.
#[derive(Default)]
pub struct Mutation {
    /// New readers of objects' rows.
    pub attach: Vec<Attachment>,
    /// Objects whose actors end with this epoch.
    pub dropped: HashSet<ObjectId>,
    /// Objects that keep a changelog of the epochs after this one.
    pub changelog_on: HashSet<ObjectId>,
    /// Objects that stop keeping one.
    pub changelog_off: HashSet<ObjectId>,
}

/// A new reader of `upstream`: an output for each of the actors that give its rows.
pub struct Attachment {
    pub upstream: ObjectId,
    /// By index of the upstream actor, which takes its own.
    outputs: Vec<Mutex<Option<Output>>>,
}

impl Attachment {
    pub fn new(upstream: ObjectId, outputs: Vec<Output>) -> Self {
        let outputs = outputs.into_iter().map(|output| Mutex::new(Some(output))).collect();
        Self { upstream, outputs }
    }

    pub(super) fn take(&self, actor: usize) -> Option<Output> {
        self.outputs.get(actor).and_then(|output| output.lock().take())
    }
}
