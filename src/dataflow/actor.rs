//! The run loop of a fragment's actor, and the guard around every actor.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt;
use tokio::task::JoinHandle;

use super::align::{self, Inputs};
use super::barrier::Barrier;
use super::cache::CacheShare;
use super::chain::Chain;
use super::dispatch::Dispatcher;
use super::report::{ActorId, Event, Figures, Report, Route};
use crate::clock::{self, Moment};
use crate::error::{SqlError, code};
use crate::failpoint;
use crate::operator::{OperatorError, Output};
use crate::state::ChangelogEntry;
use crate::task;
use crate::types::Delta;

/// A fragment's actor.
pub struct Actor {
    pub id: ActorId,
    pub inputs: Inputs,
    pub chain: Chain,
    pub dispatcher: Dispatcher,
    pub route: Route,
    /// Whether its rows go to the object's changelog; only where the object materializes.
    pub changelog: bool,
    /// Whether this is the fragment whose rows are the object's.
    pub materializes: bool,
    /// Clean cached state that it keeps over a barrier.
    pub cache: CacheShare,
    /// Whether its job catches up; until a barrier of the graph's says otherwise.
    pub detached: bool,
}

impl Actor {
    /// Runs until its job is dropped, or the graph is torn down.
    pub async fn run(mut self) -> Result<(), OperatorError> {
        let mut figures = Figures::default();
        let mut changelog = Vec::new();
        loop {
            match self.inputs.next().await? {
                align::Event::Delta { port, delta } => {
                    failpoint::hit(failpoint::ACTOR_PROCESS);
                    figures.rows_in += delta.rows() as u64;
                    let aside = self.detached;
                    let (chain, mut output) = self.output(&mut figures, &mut changelog);
                    run(aside, || chain.process(port, delta, &mut output))?;
                }
                align::Event::Barrier { barrier, first } => {
                    failpoint::hit(failpoint::ACTOR_BARRIER);
                    let ended = self.end_epoch(&barrier, first, &mut figures, &mut changelog);
                    if ended.await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Flush, forward the barrier, freeze, report. True if that was the job's last epoch.
    async fn end_epoch(
        &mut self,
        barrier: &Arc<Barrier>,
        first: Moment,
        figures: &mut Figures,
        changelog: &mut Vec<Delta>,
    ) -> Result<bool, OperatorError> {
        let aligned = clock::moment();
        figures.start_delay = first.since(barrier.injected);
        figures.align = aligned.since(first);
        let aside = self.detached;
        let (chain, mut output) = self.output(figures, changelog);
        run(aside, || chain.flush(&barrier.end(), &mut output))?;
        self.dispatcher.barrier(barrier).await?;

        let mut report = Report::new(self.id, barrier.epoch);
        (report.changes, report.row_errors) = self.chain.freeze()?;
        let (object, epoch) = (self.id.object, barrier.epoch);
        report.changelog =
            changelog.drain(..).map(|delta| ChangelogEntry { object, epoch, delta }).collect();
        figures.cached_bytes = self.chain.cached_bytes();
        if let Some(bytes_max) = self.cache.keep(figures.cached_bytes) {
            self.chain.evict(bytes_max);
            figures.cached_bytes = self.chain.cached_bytes();
            self.cache.keep(figures.cached_bytes);
        }
        figures.flush = aligned.elapsed();
        report.figures = std::mem::take(figures);
        report.nodes = self.chain.take_rows();

        self.detached = barrier.detached;
        if self.materializes {
            let mutation = &barrier.mutation;
            self.dispatcher.mutate(mutation, object, self.id.index);
            self.changelog = changelog_after(self.changelog, barrier, self.id);
        }
        let last = barrier.mutation.dropped.contains(&object);
        self.route.send(Event::Report(Box::new(report))).await?;
        Ok(last)
    }

    fn output<'a>(
        &'a mut self,
        figures: &'a mut Figures,
        changelog: &'a mut Vec<Delta>,
    ) -> (&'a mut Chain, RootOutput<'a>) {
        let changelog = self.changelog.then_some(changelog);
        (&mut self.chain, RootOutput { dispatcher: &mut self.dispatcher, figures, changelog })
    }
}

/// Runs an actor's work; that of a job which catches up aside, as it must not delay the others.
fn run<T>(aside: bool, work: impl FnOnce() -> T) -> T {
    if aside { task::aside(work) } else { work() }
}

/// Whether the actor's object keeps a changelog after `barrier`.
pub(super) fn changelog_after(before: bool, barrier: &Barrier, actor: ActorId) -> bool {
    let mutation = &barrier.mutation;
    (before || mutation.changelog_on.contains(&actor.object))
        && !mutation.changelog_off.contains(&actor.object)
}

/// The root's rows: to the outputs, and to the changelog while somebody follows it.
struct RootOutput<'a> {
    dispatcher: &'a mut Dispatcher,
    figures: &'a mut Figures,
    changelog: Option<&'a mut Vec<Delta>>,
}

impl Output for RootOutput<'_> {
    fn emit(&mut self, delta: Delta) -> Result<(), OperatorError> {
        if delta.is_empty() {
            return Ok(());
        }
        self.figures.rows_out += delta.rows() as u64;
        self.dispatcher.send_blocking(&delta)?;
        if let Some(changelog) = &mut self.changelog {
            changelog.push(delta);
        }
        Ok(())
    }
}

/// Runs `body` as the task of `actor`: an error or a panic ends the actor and is told, once.
pub fn spawn<F>(actor: ActorId, route: Route, body: F) -> JoinHandle<()>
where
    F: Future<Output = Result<(), OperatorError>> + Send + 'static,
{
    let name = format!("actor {}.{}.{}", actor.object.0, actor.fragment, actor.index);
    task::spawn(name, async move {
        let error = match AssertUnwindSafe(body).catch_unwind().await {
            Ok(Ok(()) | Err(OperatorError::Disconnected)) => return,
            Ok(Err(error)) => error.into_sql(),
            Err(panic) => SqlError::internal(format!("panic: {}", panic_text(&*panic))),
        };
        // If nobody listens the graph is being torn down already.
        route.send(Event::Failed { actor, error }).await.ok();
    })
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "unknown".to_owned())
}

impl OperatorError {
    /// As the user sees it.
    pub fn into_sql(self) -> SqlError {
        match self {
            OperatorError::Sql(error) => error,
            OperatorError::State(error) => error.into(),
            OperatorError::Arrow(error) => error.into(),
            OperatorError::Expression(error) => error.into(),
            OperatorError::Disconnected => {
                SqlError::new(code::CRASH_SHUTDOWN, "the graph was torn down")
            }
            OperatorError::Invariant(text) => {
                SqlError::internal(format!("invariant broken: {text}"))
            }
        }
    }
}
