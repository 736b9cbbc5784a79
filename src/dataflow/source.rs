//! The actor of a source: reads while somebody listens, and commits how far with each epoch.
//!
//! A source without readers stands still: its rows would be nobody's. All views over a source
//! share one actor, so at one epoch they have seen the same rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc;

use super::barrier::Barrier;
use super::dispatch::Dispatcher;
use super::report::{ActorId, Event, Report, Route};
use crate::clock::{self, Moment};
use crate::connector::{DeadLetter, Polled, Positions, Source, Then};
use crate::error::SqlError;
use crate::metrics;
use crate::operator::{OperatorError, RowError};
use crate::types::{Delta, ObjectId};

/// Rows of a poll.
const POLL_ROWS: usize = 8192;

/// How long a source that cannot be read is left alone.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Dead letters kept of one epoch; more are only counted.
const DEAD_LETTERS_MAX: usize = 1000;

/// Gives a source's rows to the graph.
pub struct SourceActor {
    pub id: ActorId,
    pub source: Box<dyn Source>,
    pub barriers: mpsc::Receiver<Arc<Barrier>>,
    pub dispatcher: Dispatcher,
    pub route: Route,
    /// Set while it reads: while there may be rows to commit.
    pub active: Arc<AtomicBool>,
}

/// Where positions of a source are kept in the store's metadata.
pub fn positions_key(object: ObjectId) -> Vec<u8> {
    [b"positions/".as_slice(), &object.0.to_be_bytes()].concat()
}

/// Positions from their bytes in the metadata; none were committed yet if there are no bytes.
pub fn positions_of(bytes: Option<&[u8]>) -> Result<Positions, SqlError> {
    match bytes {
        None => Ok(Positions::default()),
        Some(bytes) => serde_json::from_slice(bytes)
            .map_err(|error| SqlError::internal(format!("positions of a source: {error}"))),
    }
}

/// What the source does next, apart from barriers.
enum Next {
    Poll,
    /// Nothing, for so long since then. Barriers that come meanwhile do not prolong it.
    Sleep(Moment, Duration),
    Idle,
}

impl SourceActor {
    /// Runs until the source is dropped, or the graph is torn down.
    pub async fn run(mut self) -> Result<(), OperatorError> {
        let mut epoch = EpochOfSource::default();
        let mut next = Next::Poll;
        loop {
            let reading = !self.dispatcher.is_empty() && !matches!(next, Next::Idle);
            self.active.store(reading || epoch.rows > 0, Ordering::Release);
            let step = async {
                match next {
                    _ if !reading => std::future::pending().await,
                    Next::Sleep(since, duration) => {
                        tokio::time::sleep(duration.saturating_sub(since.elapsed())).await;
                        None
                    }
                    Next::Poll | Next::Idle => Some(self.source.poll(POLL_ROWS, None).await),
                }
            };
            tokio::select! {
                biased;
                barrier = self.barriers.recv() => {
                    let Some(barrier) = barrier else { return Err(OperatorError::Disconnected) };
                    if self.end_epoch(&barrier, std::mem::take(&mut epoch)).await? {
                        return Ok(());
                    }
                }
                polled = step => match polled {
                    None => next = Next::Poll,
                    Some(Ok(polled)) => next = self.pass_on(polled, &mut epoch).await?,
                    Some(Err(error)) => {
                        tracing::warn!(object = self.id.object.0, %error, "source cannot be read");
                        epoch.failure = Some(error);
                        next = Next::Sleep(clock::moment(), RETRY_AFTER);
                    }
                },
            }
        }
    }

    async fn pass_on(
        &mut self,
        polled: Polled,
        epoch: &mut EpochOfSource,
    ) -> Result<Next, OperatorError> {
        let rows = polled.batch.num_rows();
        if rows > 0 {
            epoch.rows += rows as u64;
            self.dispatcher.send(&Delta::inserts(polled.batch)).await?;
        }
        let room = DEAD_LETTERS_MAX.saturating_sub(epoch.dead_letters.len());
        epoch.dead_letters.extend(polled.dead_letters.into_iter().take(room));
        Ok(match polled.then {
            Then::More => Next::Poll,
            Then::Wait(duration) => Next::Sleep(clock::moment(), duration),
            Then::End => Next::Idle,
        })
    }

    async fn end_epoch(
        &mut self,
        barrier: &Arc<Barrier>,
        epoch: EpochOfSource,
    ) -> Result<bool, OperatorError> {
        let started = clock::moment();
        self.dispatcher.barrier(barrier).await?;
        self.dispatcher.mutate(&barrier.mutation, self.id.object, self.id.index);
        let mut report = Report::new(self.id, barrier.epoch);
        if epoch.rows > 0 || !epoch.dead_letters.is_empty() {
            let positions = serde_json::to_vec(&self.source.positions())
                .map_err(|error| OperatorError::Invariant(error.to_string()))?;
            report.meta.push((positions_key(self.id.object), Some(positions)));
            let object = self.id.object.0.to_string();
            metrics::SOURCE_ROWS.with_label_values(&[object.as_str()]).inc_by(epoch.rows);
        }
        report.dead_letters = epoch.dead_letters;
        report.row_errors.extend(epoch.failure.map(|error| RowError {
            expression: "read".to_owned(),
            error,
            row: String::new(),
            more: 0,
            weight: 1,
        }));
        report.figures.start_delay = started.since(barrier.injected);
        report.figures.flush = started.elapsed();
        report.figures.rows_out = epoch.rows;
        self.route.send(Event::Report(Box::new(report))).await?;
        Ok(barrier.mutation.dropped.contains(&self.id.object))
    }
}

/// What an epoch brought.
#[derive(Default)]
struct EpochOfSource {
    rows: u64,
    dead_letters: Vec<DeadLetter>,
    failure: Option<SqlError>,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::connector::registry;
    use crate::dataflow::barrier::Mutation;
    use crate::dataflow::channel::channel;
    use crate::dataflow::dispatch::Output;
    use crate::graph::Exchange;
    use crate::types::{Epoch, SqlType};

    /// Twenty rows a second: one each 50 ms.
    fn slow_source() -> Box<dyn Source> {
        let options = registry::Options {
            connector: "datagen".to_owned(),
            options: BTreeMap::from([("rows_per_second".to_owned(), "20".to_owned())]),
            ..registry::Options::default()
        };
        let declared = arrow::datatypes::Schema::new(vec![SqlType::Integer.field("a", true)]);
        let schema = registry::check(&options, Some(&declared)).expect("valid options");
        registry::open(&options, schema).expect("valid options")
    }

    #[tokio::test]
    async fn a_source_that_waits_is_read_although_barriers_come_more_often() {
        let source = slow_source();
        let id = ActorId { object: ObjectId(1), fragment: 0, index: 0 };
        let schema =
            Arc::new(arrow::datatypes::Schema::new(vec![SqlType::Integer.field("a", true)]));
        let (sender, _receiver) = channel();
        let output = Output::new(ObjectId(2), &Exchange::Single, &schema, vec![sender]);
        let dispatcher = Dispatcher::new(vec![output.expect("no key to encode")]);
        let (events, mut reports) = mpsc::channel(256);
        let (inject, barriers) = mpsc::channel(1);
        let route = Route::new(events);
        let active = Arc::new(AtomicBool::new(true));
        let actor = SourceActor { id, source, barriers, dispatcher, route, active };
        let running = crate::task::spawn("source", actor.run());
        for epoch in 1..=100 {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let barrier = Barrier {
                epoch: Epoch(epoch),
                time: clock::wall(),
                injected: clock::moment(),
                mutation: Mutation::default(),
            };
            assert!(inject.send(Arc::new(barrier)).await.is_ok(), "the actor runs");
        }
        drop(inject);
        running.await.expect("no panic").expect_err("nobody injects any more");
        let mut rows = 0;
        while let Some(event) = reports.recv().await {
            let Event::Report(report) = event else { panic!("{event:?}") };
            rows += report.figures.rows_out;
        }
        assert!(rows >= 5, "{rows} rows in half a second and more");
    }
}
