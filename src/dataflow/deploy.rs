//! A job's graph becomes actors joined by channels.
//!
//! Whoever feeds the job (upstream actors, or the driver of a detached job) gets an [`Output`] for
//! each of its ports on an object; the job's own exchanges are joined here.

use std::collections::HashMap;

use tokio::task::JoinHandle;

use super::actor::{self, Actor};
use super::align::Inputs;
use super::cache::CacheBudget;
use super::chain::Chain;
use super::channel::{Receiver, channel};
use super::dispatch::{Dispatcher, Output};
use super::report::{ActorId, Route};
use crate::error::{SqlError, SqlResult};
use crate::graph::{Distribution, Fragment, Job, Upstream};
use crate::state::Store;
use crate::types::ObjectId;

/// How a job is to run.
pub struct Settings<'a> {
    pub store: &'a Store,
    pub route: &'a Route,
    /// Whether the object keeps a changelog from its first epoch on.
    pub changelog: bool,
    /// Whether it begins in epochs of its own.
    pub detached: bool,
    pub cache: &'a CacheBudget,
    /// Who reads the object's rows from its first epoch on: outputs by index of its actors.
    pub outputs: Vec<Vec<Output>>,
}

/// A running job.
pub struct Deployed {
    pub actors: Vec<ActorId>,
    pub tasks: Vec<JoinHandle<()>>,
    /// Its ports on objects.
    pub feeds: Vec<Feed>,
    pub route: Route,
}

/// A port on an object, for whoever feeds it.
pub struct Feed {
    pub upstream: ObjectId,
    /// One for each sender, in order of the senders' index.
    pub outputs: Vec<Output>,
}

/// How many actors run `fragment`.
pub fn actors_of(job: &Job, fragment: &Fragment) -> usize {
    match fragment.distribution {
        Distribution::Single => 1,
        Distribution::Hash => job.parallelism,
    }
}

/// How many actors give the job's rows.
pub fn output_actors(job: &Job) -> usize {
    job.fragments.last().map_or(1, |fragment| actors_of(job, fragment))
}

/// Channels from `senders` senders to each actor of one port of `job`: outputs by sender, and
/// receivers by actor.
pub fn connect(
    job: &Job,
    fragment: &Fragment,
    port: usize,
    senders: usize,
) -> SqlResult<(Vec<Output>, Vec<Vec<Receiver>>)> {
    let actors = actors_of(job, fragment);
    let input = &fragment.inputs[port];
    let mut outputs = Vec::with_capacity(senders);
    let mut receivers: Vec<Vec<Receiver>> = (0..actors).map(|_| Vec::new()).collect();
    for _ in 0..senders {
        let mut ends = Vec::with_capacity(actors);
        for received in &mut receivers {
            let (sender, receiver) = channel();
            ends.push(sender);
            received.push(receiver);
        }
        let output = Output::new(job.object, &input.exchange, &input.schema, ends)?;
        outputs.push(match input.from {
            Upstream::Object(_) => output.on_object(&input.schema),
            Upstream::Fragment(_) => output,
        });
    }
    Ok((outputs, receivers))
}

/// Starts the job's actors. `senders` tells how many feed the ports on an object.
pub fn deploy(
    job: &Job,
    mut settings: Settings<'_>,
    senders: &dyn Fn(ObjectId) -> usize,
) -> SqlResult<Deployed> {
    let mut feeds = Vec::new();
    // Outputs that wait for their sender: by fragment and index of its actor.
    let mut internal: HashMap<(usize, usize), Vec<Output>> = HashMap::new();
    let mut receivers: Vec<Vec<Vec<(usize, Receiver)>>> = Vec::new();
    for fragment in &job.fragments {
        let mut by_actor: Vec<Vec<(usize, Receiver)>> =
            (0..actors_of(job, fragment)).map(|_| Vec::new()).collect();
        for (port, input) in fragment.inputs.iter().enumerate() {
            let count = match input.from {
                Upstream::Object(object) => senders(object),
                Upstream::Fragment(from) => actors_of(job, &job.fragments[from]),
            };
            let (outputs, received) = connect(job, fragment, port, count)?;
            match input.from {
                Upstream::Object(upstream) => feeds.push(Feed { upstream, outputs }),
                Upstream::Fragment(from) => {
                    for (index, output) in outputs.into_iter().enumerate() {
                        internal.entry((from, index)).or_default().push(output);
                    }
                }
            }
            for (actor, received) in by_actor.iter_mut().zip(received) {
                actor.extend(received.into_iter().map(|receiver| (port, receiver)));
            }
        }
        receivers.push(by_actor);
    }
    let last = job.fragments.len().checked_sub(1).ok_or_else(|| {
        SqlError::internal(format!("the plan of object {} is empty", job.object.0))
    })?;
    for (index, outputs) in std::mem::take(&mut settings.outputs).into_iter().enumerate() {
        internal.entry((last, index)).or_default().extend(outputs);
    }
    let mut deployed =
        Deployed { actors: Vec::new(), tasks: Vec::new(), feeds, route: settings.route.clone() };
    for (number, by_actor) in receivers.into_iter().enumerate() {
        for (index, received) in by_actor.into_iter().enumerate() {
            let id = ActorId { object: job.object, fragment: number, index };
            let actor = Actor {
                id,
                inputs: Inputs::new(received),
                chain: Chain::build(job, number, index, settings.store)?,
                dispatcher: Dispatcher::new(internal.remove(&(number, index)).unwrap_or_default()),
                route: settings.route.clone(),
                changelog: settings.changelog && number == last,
                materializes: number == last,
                cache: settings.cache.share(),
                detached: settings.detached,
            };
            deployed.actors.push(id);
            let body = Box::pin(actor.run());
            deployed.tasks.push(actor::spawn(id, settings.route.clone(), body));
        }
    }
    Ok(deployed)
}

/// Ports of `job` on objects, in the order of [`Deployed::feeds`]: fragment and port numbers.
pub fn object_ports(job: &Job) -> Vec<(usize, usize)> {
    job.fragments
        .iter()
        .enumerate()
        .flat_map(|(number, fragment)| {
            fragment
                .inputs
                .iter()
                .enumerate()
                .filter(|(_, input)| matches!(input.from, Upstream::Object(_)))
                .map(move |(port, _)| (number, port))
        })
        .collect()
}
