//! Where an actor's rows go: each output spreads them over the actors of one downstream port.

use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

use super::barrier::{Barrier, Mutation};
use super::channel::{Closed, Message, Sender};
use crate::graph::Exchange;
use crate::operator::{OUTPUT_ROWS_MAX, OperatorError};
use crate::task;
use crate::types::key::{KeyCodec, owner, vnode};
use crate::types::{Delta, ObjectId};

/// One downstream port: a channel to each of its actors.
pub struct Output {
    /// The job that reads.
    reader: ObjectId,
    route: Route,
    senders: Vec<Sender>,
    /// What the port knows of an object's rows, if it is on one: their first columns, for a table's
    /// rows may have got more since.
    known: Option<SchemaRef>,
}

enum Route {
    /// Everything to the one actor.
    Single,
    Hash(KeyCodec),
    /// Each delta to the next actor in turn.
    Spread {
        next: usize,
    },
}

impl Output {
    /// For rows with `schema`, to the port's actors behind `senders`, in order of their index.
    pub fn new(
        reader: ObjectId,
        exchange: &Exchange,
        schema: &SchemaRef,
        senders: Vec<Sender>,
    ) -> Result<Self, ArrowError> {
        let route = match exchange {
            _ if senders.len() == 1 => Route::Single,
            Exchange::Single => Route::Single,
            Exchange::Hash(columns) => Route::Hash(KeyCodec::new(schema, columns)?),
            Exchange::Spread => Route::Spread { next: 0 },
        };
        Ok(Self { reader, route, senders, known: None })
    }

    /// The same for a port on an object, whose rows have `schema`.
    pub fn on_object(self, schema: &SchemaRef) -> Self {
        Self { known: Some(Arc::clone(schema)), ..self }
    }

    /// The rows as the port knows them.
    fn known(&self, delta: &Delta) -> Result<Option<Delta>, ArrowError> {
        let Some(schema) = self.known.as_ref().filter(|known| **known != delta.schema()) else {
            return Ok(None);
        };
        let columns = delta.batch().columns();
        let columns = columns[..schema.fields().len().min(columns.len())].to_vec();
        let batch = RecordBatch::try_new(Arc::clone(schema), columns)?;
        Ok(Some(delta.with_batch(batch)))
    }

    fn split(&mut self, delta: &Delta) -> Result<Vec<(usize, Delta)>, ArrowError> {
        let known = self.known(delta)?;
        let delta = known.as_ref().unwrap_or(delta);
        match &mut self.route {
            Route::Single => Ok(vec![(0, delta.clone())]),
            Route::Spread { next } => {
                *next = (*next + 1) % self.senders.len();
                Ok(vec![(*next, delta.clone())])
            }
            Route::Hash(codec) => {
                let rows = codec.encode(delta.batch())?;
                let mut shares: Vec<Vec<u32>> = vec![Vec::new(); self.senders.len()];
                for (index, row) in (0u32..).zip(rows.iter()) {
                    shares[owner(vnode(row.as_ref()), self.senders.len())].push(index);
                }
                shares
                    .into_iter()
                    .enumerate()
                    .filter(|(_, share)| !share.is_empty())
                    .map(|(actor, share)| Ok((actor, delta.take(&UInt32Array::from(share))?)))
                    .collect()
            }
        }
    }

    async fn send(&mut self, delta: &Delta) -> Result<(), OperatorError> {
        for (actor, share) in self.split(delta)? {
            self.senders[actor].send(Message::Delta(share)).await?;
        }
        Ok(())
    }

    /// As `send`, from synchronous code: gives up its thread only when downstream is full.
    fn send_blocking(&mut self, delta: &Delta) -> Result<(), OperatorError> {
        for (actor, share) in self.split(delta)? {
            let sender = &self.senders[actor];
            if let Some(full) = sender.try_send(Message::Delta(share))? {
                task::wait(sender.send(full))?;
            }
        }
        Ok(())
    }

    /// Tells every actor of the port that its channel goes on as `receivers` say.
    pub async fn hand_over(
        self,
        receivers: Vec<Vec<super::channel::Receiver>>,
    ) -> Result<(), Closed> {
        assert_eq!(self.senders.len(), receivers.len(), "a handover for each actor");
        for (sender, receivers) in self.senders.iter().zip(receivers) {
            sender.send(Message::Handover(receivers)).await?;
        }
        Ok(())
    }
}

impl From<Closed> for OperatorError {
    fn from(_: Closed) -> Self {
        OperatorError::Disconnected
    }
}

/// All outputs of an actor.
#[derive(Default)]
pub struct Dispatcher {
    outputs: Vec<Output>,
}

impl Dispatcher {
    pub fn new(outputs: Vec<Output>) -> Self {
        Self { outputs }
    }

    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    pub fn into_outputs(self) -> Vec<Output> {
        self.outputs
    }

    /// Sends `delta` to every output, in pieces of bounded size.
    pub async fn send(&mut self, delta: &Delta) -> Result<(), OperatorError> {
        for piece in pieces(delta) {
            for output in &mut self.outputs {
                output.send(&piece).await?;
            }
        }
        Ok(())
    }

    /// As [`Dispatcher::send`], from an operator.
    pub fn send_blocking(&mut self, delta: &Delta) -> Result<(), OperatorError> {
        for piece in pieces(delta) {
            for output in &mut self.outputs {
                output.send_blocking(&piece)?;
            }
        }
        Ok(())
    }

    /// Sends the barrier to every channel; no row may follow to any before this returns.
    pub async fn barrier(&mut self, barrier: &Arc<Barrier>) -> Result<(), OperatorError> {
        for output in &self.outputs {
            for sender in &output.senders {
                sender.send(Message::Barrier(Arc::clone(barrier))).await?;
            }
        }
        Ok(())
    }

    /// Applies, after the barrier was sent, what it says of the outputs of actor `actor` of
    /// `object`.
    pub fn mutate(&mut self, mutation: &Mutation, object: ObjectId, actor: usize) {
        self.outputs.retain(|output| !mutation.dropped.contains(&output.reader));
        for attachment in &mutation.attach {
            if attachment.upstream == object
                && let Some(output) = attachment.take(actor)
            {
                self.outputs.push(output);
            }
        }
    }
}

fn pieces(delta: &Delta) -> impl Iterator<Item = Delta> + '_ {
    (0..delta.rows())
        .step_by(OUTPUT_ROWS_MAX)
        .map(|start| delta.slice(start, OUTPUT_ROWS_MAX.min(delta.rows() - start)))
}
