//! The actor of a table: at each barrier, what writers brought into the epoch goes downstream.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::actor::changelog_after;
use super::barrier::Barrier;
use super::dispatch::Dispatcher;
use super::inbox::Inbox;
use super::report::{ActorId, Event, Report, Route};
use crate::clock;
use crate::operator::OperatorError;
use crate::state::ChangelogEntry;

/// Gives a table's rows to the graph.
pub struct TableActor {
    pub id: ActorId,
    pub inbox: Arc<Inbox>,
    pub barriers: mpsc::Receiver<Arc<Barrier>>,
    pub dispatcher: Dispatcher,
    pub route: Route,
    pub changelog: bool,
}

impl TableActor {
    /// Runs until the table is dropped, or the graph is torn down.
    pub async fn run(mut self) -> Result<(), OperatorError> {
        while let Some(barrier) = self.barriers.recv().await {
            let started = clock::moment();
            let mut report = Report::new(self.id, barrier.epoch);
            report.figures.start_delay = started.since(barrier.injected);
            if let Some(sealed) = self.inbox.take_sealed(barrier.epoch) {
                report.changes.extend(sealed.changes);
                report.meta = sealed.meta;
                for delta in sealed.deltas {
                    report.figures.rows_out += delta.rows() as u64;
                    self.dispatcher.send(&delta).await?;
                    if self.changelog {
                        let (object, epoch) = (self.id.object, barrier.epoch);
                        report.changelog.push(ChangelogEntry { object, epoch, delta });
                    }
                }
            }
            self.dispatcher.barrier(&barrier).await?;
            self.dispatcher.mutate(&barrier.mutation, self.id.object, self.id.index);
            self.changelog = changelog_after(self.changelog, &barrier, self.id);
            report.figures.flush = started.elapsed();
            let last = barrier.mutation.dropped.contains(&self.id.object);
            self.route.send(Event::Report(Box::new(report))).await?;
            if last {
                return Ok(());
            }
        }
        Err(OperatorError::Disconnected)
    }
}
