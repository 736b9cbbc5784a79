//! Channels between actors: one sender, one receiver, first in first out, bounded in bytes.
//!
//! A full channel stops its sender: that is all the backpressure there is, and why alignment
//! needs no buffer. Barriers take no room, so they are never stuck behind the bound itself.

use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::barrier::Barrier;
use crate::types::Delta;

/// Bytes that a channel holds at the most; a larger delta goes alone.
const CHANNEL_BYTES_MAX: usize = 1 << 20;

/// Messages that a channel holds at the most, so that tiny deltas are bounded as well.
const CHANNEL_MESSAGES_MAX: usize = 256;

/// What flows.
pub enum Message {
    Delta(Delta),
    Barrier(Arc<Barrier>),
    /// From here on read these in this channel's place: who sent is replaced by others.
    Handover(Vec<Receiver>),
}

/// The other side is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

pub struct Sender {
    messages: mpsc::Sender<(Message, Option<OwnedSemaphorePermit>)>,
    room: Arc<Semaphore>,
}

pub struct Receiver {
    messages: mpsc::Receiver<(Message, Option<OwnedSemaphorePermit>)>,
}

/// A new channel.
pub fn channel() -> (Sender, Receiver) {
    let (sender, receiver) = mpsc::channel(CHANNEL_MESSAGES_MAX);
    let room = Arc::new(Semaphore::new(CHANNEL_BYTES_MAX));
    (Sender { messages: sender, room }, Receiver { messages: receiver })
}

impl Sender {
    /// Waits for room, then sends.
    pub async fn send(&self, message: Message) -> Result<(), Closed> {
        let permit = match bytes(&message) {
            0 => None,
            // The semaphore is never closed: a gone receiver shows when sending.
            bytes => Arc::clone(&self.room).acquire_many_owned(bytes).await.ok(),
        };
        self.messages.send((message, permit)).await.map_err(|_| Closed)
    }

    /// Sends if there is room now, else gives the message back.
    pub fn try_send(&self, message: Message) -> Result<Option<Message>, Closed> {
        let permit = match bytes(&message) {
            0 => None,
            bytes => match Arc::clone(&self.room).try_acquire_many_owned(bytes) {
                Ok(permit) => Some(permit),
                Err(_) => return Ok(Some(message)),
            },
        };
        match self.messages.try_send((message, permit)) {
            Ok(()) => Ok(None),
            Err(mpsc::error::TrySendError::Full((message, _))) => Ok(Some(message)),
            Err(mpsc::error::TrySendError::Closed(_)) => Err(Closed),
        }
    }
}

impl Receiver {
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Message>> {
        self.messages.poll_recv(context).map(|received| received.map(|(message, _)| message))
    }
}

/// Room that a message takes.
fn bytes(message: &Message) -> u32 {
    match message {
        Message::Delta(delta) => {
            u32::try_from(delta.bytes().clamp(1, CHANNEL_BYTES_MAX)).unwrap_or(u32::MAX)
        }
        Message::Barrier(_) | Message::Handover(_) => 0,
    }
}
