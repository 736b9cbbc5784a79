//! What actors tell whoever collects their epochs: the coordinator, or a detached job's driver.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use tokio::sync::mpsc;

use crate::connector::DeadLetter;
use crate::error::SqlError;
use crate::operator::{OperatorError, RowError};
use crate::state::{ChangelogEntry, MetaEntry, TableChange};
use crate::types::{Epoch, ObjectId};

/// An actor. Tables and sources have one, `(object, 0, 0)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActorId {
    pub object: ObjectId,
    pub fragment: usize,
    pub index: usize,
}

/// Everything an actor did for an epoch. It holds nothing of that epoch back.
#[derive(Debug)]
pub struct Report {
    pub actor: ActorId,
    pub epoch: Epoch,
    pub changes: Vec<TableChange>,
    pub changelog: Vec<ChangelogEntry>,
    pub meta: Vec<MetaEntry>,
    pub row_errors: Vec<RowError>,
    pub dead_letters: Vec<DeadLetter>,
    pub figures: Figures,
    /// Of a fragment's actor: what each of its nodes has taken and given in the epoch.
    pub nodes: Vec<NodeRows>,
}

impl Report {
    pub fn new(actor: ActorId, epoch: Epoch) -> Self {
        Self {
            actor,
            epoch,
            changes: Vec::new(),
            changelog: Vec::new(),
            meta: Vec::new(),
            row_errors: Vec::new(),
            dead_letters: Vec::new(),
            figures: Figures::default(),
            nodes: Vec::new(),
        }
    }
}

/// What an epoch cost an actor.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// From the barrier's injection until the first channel delivered it.
    pub start_delay: Duration,
    /// From the first channel's barrier until the last one's.
    pub align: Duration,
    /// Flushing operators, sending the rest, freezing state.
    pub flush: Duration,
    pub rows_in: u64,
    pub rows_out: u64,
    pub cached_bytes: usize,
}

/// Rows that a node of a fragment has taken and given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NodeRows {
    pub rows_in: u64,
    pub rows_out: u64,
}

/// What the collector hears.
#[derive(Debug)]
pub enum Event {
    Report(Box<Report>),
    /// The actor ended by an error or a panic; its graph cannot go on.
    Failed {
        actor: ActorId,
        error: SqlError,
    },
}

/// Where an actor's reports go: changed once, when a detached job is attached.
#[derive(Clone)]
pub struct Route {
    to: Arc<RwLock<mpsc::Sender<Event>>>,
}

impl Route {
    pub fn new(to: mpsc::Sender<Event>) -> Self {
        Self { to: Arc::new(RwLock::new(to)) }
    }

    /// Sends all later events to `to`.
    pub fn change(&self, to: mpsc::Sender<Event>) {
        *self.to.write() = to;
    }

    /// Tells the collector; nobody listens any more when the graph is torn down.
    pub async fn send(&self, event: Event) -> Result<(), OperatorError> {
        let to = self.to.read().clone();
        to.send(event).await.map_err(|_| OperatorError::Disconnected)
    }
}
