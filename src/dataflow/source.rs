//! The actor of a source: reads while somebody listens, and commits how far with each epoch.
//!
//! A source without readers stands still: its rows would be nobody's. All views over a source
//! share one actor, so at one epoch they have seen the same rows.
//!
//! What a source has given stands before its barrier in every channel, so a source that is faster
//! than its readers is held to a [`Budget`] of rows an epoch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
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

/// Rows that each source may give in an epoch: what stands between a barrier and its commit.
/// Shared by all sources; who collects their epochs adapts it.
#[derive(Debug, Clone)]
pub struct Budget {
    rows: Arc<AtomicU64>,
    /// How often it is halved for a job that catches up.
    halved: Arc<AtomicU32>,
}

/// A budget is never less: what changes in an epoch is written once, so small epochs cost more for
/// each row. With half of this, four views over Nexmark took twice the processor time for a row.
const BUDGET_ROWS_MIN: u64 = 4 * POLL_ROWS as u64;

/// ... and this, however often it is halved, so that nothing stands still.
const HALVED_ROWS_MIN: u64 = 64;

/// What a graph starts with, not knowing how fast it is: it doubles within a few epochs.
const BUDGET_ROWS_FIRST: u64 = BUDGET_ROWS_MIN;

/// A budget is never more, which no source gives within an epoch.
const BUDGET_ROWS_MAX: u64 = 1 << 32;

impl Default for Budget {
    fn default() -> Self {
        let rows = Arc::new(AtomicU64::new(BUDGET_ROWS_FIRST));
        Self { rows, halved: Arc::default() }
    }
}

impl Budget {
    fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// What a source may give now.
    fn allowed(&self) -> u64 {
        (self.rows() >> self.halved.load(Ordering::Relaxed)).max(HALVED_ROWS_MIN)
    }

    /// Halves what sources may give, until the guard that this returns is dropped: for a job that
    /// replays a source and does not gain on it.
    pub fn halve(&self) -> Halved {
        self.halved.fetch_add(1, Ordering::Relaxed);
        Halved(self.clone())
    }

    /// An epoch of `rows` rows of a source took `took` from its barrier to its commit, and is not
    /// to take much longer than `target`.
    pub fn adapt(&self, rows: u64, took: Duration, target: Duration) {
        let budget = self.rows();
        let next = if took > target {
            // As many as there would have been time for; half at once at the most, for one slow
            // epoch may have other reasons.
            let fitting = rows as f64 * target.as_secs_f64() / took.as_secs_f64();
            budget.min((fitting as u64).max(budget / 2))
        } else if rows >= budget && took < target * 3 / 4 {
            budget + budget / 2
        } else {
            budget
        };
        self.rows.store(next.clamp(BUDGET_ROWS_MIN, BUDGET_ROWS_MAX), Ordering::Relaxed);
    }
}

/// See [`Budget::halve`].
#[derive(Debug)]
pub struct Halved(Budget);

impl Drop for Halved {
    fn drop(&mut self) {
        self.0.halved.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Gives a source's rows to the graph.
pub struct SourceActor {
    pub id: ActorId,
    pub source: Box<dyn Source>,
    pub barriers: mpsc::Receiver<Arc<Barrier>>,
    pub dispatcher: Dispatcher,
    pub route: Route,
    /// Set while it reads: while there may be rows to commit.
    pub active: Arc<AtomicBool>,
    pub budget: Budget,
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
            // With the budget spent it waits for its barrier: what it gave before is in its way.
            let room = self.budget.allowed().saturating_sub(epoch.rows);
            let ready = !self.dispatcher.is_empty() && !matches!(next, Next::Idle);
            self.active.store(ready || epoch.rows > 0, Ordering::Release);
            let reading = ready && room > 0;
            let rows_max = usize::try_from(room).unwrap_or(POLL_ROWS).min(POLL_ROWS);
            let step = async {
                match next {
                    _ if !reading => std::future::pending().await,
                    Next::Sleep(since, duration) => {
                        tokio::time::sleep(duration.saturating_sub(since.elapsed())).await;
                        None
                    }
                    Next::Poll | Next::Idle => Some(self.source.poll(rows_max, None).await),
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

    #[test]
    fn a_budget_follows_what_fits_between_a_barrier_and_its_commit() {
        let (budget, target) = (Budget::default(), Duration::from_millis(200));
        // A graph that takes 1 ms for 400 rows, and 50 ms besides.
        let took = |rows: u64| Duration::from_millis(50 + rows / 400);
        for _ in 0..50 {
            budget.adapt(budget.rows(), took(budget.rows()), target);
        }
        assert!((40_000..=64_000).contains(&budget.rows()), "{}", budget.rows());
        // One that takes nothing: rows are not what an epoch takes time for.
        for _ in 0..200 {
            budget.adapt(budget.rows(), Duration::ZERO, target);
        }
        assert_eq!(budget.rows(), BUDGET_ROWS_MAX);
        // One slow epoch halves it; a source that gave little says nothing of more.
        budget.adapt(1000, Duration::from_secs(60), target);
        assert_eq!(budget.rows(), BUDGET_ROWS_MAX / 2);
        budget.adapt(1000, Duration::ZERO, target);
        assert_eq!(budget.rows(), BUDGET_ROWS_MAX / 2);
        for _ in 0..50 {
            budget.adapt(budget.rows(), Duration::from_secs(60), target);
        }
        assert_eq!(budget.rows(), BUDGET_ROWS_MIN);
        let halved: Vec<Halved> = (0..3).map(|_| budget.halve()).collect();
        assert_eq!(budget.allowed(), BUDGET_ROWS_MIN / 8);
        drop(halved);
        assert_eq!(budget.allowed(), BUDGET_ROWS_MIN);
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
        let budget = Budget::default();
        let actor = SourceActor { id, source, barriers, dispatcher, route, active, budget };
        let running = crate::task::spawn("source", actor.run());
        for epoch in 1..=100 {
            tokio::time::sleep(Duration::from_millis(5)).await;
            let barrier = Barrier {
                epoch: Epoch(epoch),
                time: clock::wall(),
                injected: clock::moment(),
                detached: false,
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
