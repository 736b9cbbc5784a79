//! Alignment: the channels of an actor, read as one stream in which a barrier stands once.
//!
//! ```text
//!  reading ──barrier n──> held ──all held──> reading (of n+1)
//! ```
//!
//! A held channel is not read, so its sender stops when it is full: nothing is hoarded. The first
//! reads of a poll rotate, so that no channel starves.

use std::sync::Arc;
use std::task::{Context, Poll};

use super::barrier::Barrier;
use super::channel::{Closed, Message, Receiver};
use crate::clock::{self, Moment};
use crate::types::Delta;

/// What the actor sees next.
pub enum Event {
    Delta {
        port: usize,
        delta: Delta,
    },
    /// All channels have delivered it. `first` is when the first did.
    Barrier {
        barrier: Arc<Barrier>,
        first: Moment,
    },
}

struct Channel {
    port: usize,
    receiver: Receiver,
    held: bool,
}

/// All input channels of an actor.
pub struct Inputs {
    channels: Vec<Channel>,
    pending: Option<(Arc<Barrier>, Moment)>,
    next: usize,
}

impl Inputs {
    /// `receivers`, each with its port.
    pub fn new(receivers: Vec<(usize, Receiver)>) -> Self {
        let channels = receivers
            .into_iter()
            .map(|(port, receiver)| Channel { port, receiver, held: false })
            .collect();
        Self { channels, pending: None, next: 0 }
    }

    /// The next event; an error when a sender is gone, which means that the graph is torn down.
    /// Cancel-safe.
    pub async fn next(&mut self) -> Result<Event, Closed> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Event, Closed>> {
        let mut visited = 0;
        while visited < self.channels.len() {
            let index = (self.next + visited) % self.channels.len();
            if self.channels[index].held {
                visited += 1;
                continue;
            }
            match self.channels[index].receiver.poll(context) {
                Poll::Pending => visited += 1,
                Poll::Ready(None) => return Poll::Ready(Err(Closed)),
                Poll::Ready(Some(Message::Delta(delta))) => {
                    self.next = (index + 1) % self.channels.len();
                    let port = self.channels[index].port;
                    return Poll::Ready(Ok(Event::Delta { port, delta }));
                }
                Poll::Ready(Some(Message::Barrier(barrier))) => {
                    if let Some(event) = self.hold(index, barrier) {
                        return Poll::Ready(Ok(event));
                    }
                    visited += 1;
                }
                Poll::Ready(Some(Message::Handover(receivers))) => {
                    self.replace(index, receivers);
                    visited = 0;
                }
            }
        }
        Poll::Pending
    }

    fn hold(&mut self, index: usize, barrier: Arc<Barrier>) -> Option<Event> {
        let (pending, first) =
            self.pending.get_or_insert_with(|| (Arc::clone(&barrier), clock::moment()));
        assert_eq!(pending.epoch, barrier.epoch, "channels deliver the same barriers");
        let first = *first;
        self.channels[index].held = true;
        if !self.channels.iter().all(|channel| channel.held) {
            return None;
        }
        self.pending = None;
        for channel in &mut self.channels {
            channel.held = false;
        }
        Some(Event::Barrier { barrier, first })
    }

    /// A handover stands right after a barrier of the channel that all others delivered too, or
    /// before any: so nothing is pending on it.
    fn replace(&mut self, index: usize, receivers: Vec<Receiver>) {
        let port = self.channels.swap_remove(index).port;
        let new = receivers.into_iter().map(|receiver| Channel { port, receiver, held: false });
        self.channels.extend(new);
        self.next = 0;
    }
}
