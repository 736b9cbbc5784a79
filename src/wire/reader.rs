//! The client's half of the socket: frames, and whether somebody is still there.

use bytes::{Buf, Bytes, BytesMut};
use std::time::Duration;

use super::frontend::{Frontend, is_known, may_be_long, violation};
use super::socket::Incoming;
use crate::error::SqlError;

/// The longest Query, Parse, Bind or CopyData. PostgreSQL allows 1 GiB; a statement or a row of
/// that size would be held several times over, so the limit is lower.
const LONG_FRAME_BYTES_MAX: usize = 256 << 20;

/// The longest of the other messages, as in PostgreSQL.
const SHORT_FRAME_BYTES_MAX: usize = 10_000;

/// The longest packet before the client is known, as in PostgreSQL.
const STARTUP_BYTES_MAX: usize = 10_000;

/// The longest message of a SASL exchange, as in PostgreSQL.
const AUTHENTICATION_BYTES_MAX: usize = 1024;

/// How much is read ahead while a statement runs; beyond it only the socket's state is watched.
const READ_AHEAD_BYTES_MAX: usize = 64 << 10;

/// How often the socket's state is looked at when no more may be read ahead.
const PROBE_INTERVAL: Duration = Duration::from_millis(250);

/// Why there is no next message.
#[derive(Debug)]
pub(super) enum ReadError {
    /// The client closed its side, or the connection broke.
    Gone,
    /// The message was unreadable, but its frame was not: the next can be read. `in_query`: it was
    /// a simple query, which is answered with ReadyForQuery.
    Message { error: SqlError, in_query: bool },
    /// The frames are lost: nothing after this can be trusted.
    Fatal(SqlError),
}

/// Reads frames from the socket.
#[derive(Debug)]
pub(super) struct Reader {
    socket: Incoming,
    buffer: BytesMut,
}

impl Reader {
    pub(super) fn new(socket: Incoming) -> Self {
        Self { socket, buffer: BytesMut::new() }
    }

    /// Whether something was read that nobody has taken yet.
    pub(super) fn has_unread(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// The socket. What nobody has taken is lost.
    pub(super) fn into_socket(self) -> Incoming {
        self.socket
    }

    /// A packet of the startup phase, which has a length but no type: its length included.
    pub(super) async fn startup_packet(&mut self) -> Result<BytesMut, ReadError> {
        self.fill(4).await?;
        let length = self.length(0);
        if !(8..=STARTUP_BYTES_MAX).contains(&length) {
            return Err(ReadError::Fatal(violation("invalid length of startup packet")));
        }
        self.fill(length).await?;
        Ok(self.buffer.split_to(length))
    }

    /// The next message. Cancel-safe: what was read of a frame stays in the buffer.
    pub(super) async fn message(&mut self) -> Result<Frontend, ReadError> {
        let (kind, body) = self.frame().await?;
        Frontend::decode(kind, body)
            .map_err(|error| ReadError::Message { error, in_query: kind == b'Q' })
    }

    /// What the client answers to a request for a proof: nothing else is read before it is in.
    pub(super) async fn authentication(&mut self) -> Result<Bytes, ReadError> {
        self.fill(1).await?;
        match self.buffer[0] {
            b'p' => {}
            b'X' => return Err(ReadError::Gone),
            other => {
                let message = format!("expected SASL response, got message type {other}");
                return Err(ReadError::Fatal(violation(message)));
            }
        }
        self.fill(5).await?;
        let length = self.length(1);
        if !(4..=AUTHENTICATION_BYTES_MAX).contains(&length) {
            return Err(ReadError::Fatal(violation("invalid message length")));
        }
        self.fill(1 + length).await?;
        let mut frame = self.buffer.split_to(1 + length);
        frame.advance(5);
        Ok(frame.freeze())
    }

    async fn frame(&mut self) -> Result<(u8, Bytes), ReadError> {
        self.fill(1).await?;
        let kind = self.buffer[0];
        if !is_known(kind) {
            let message = format!("invalid frontend message type {kind}");
            return Err(ReadError::Fatal(violation(message)));
        }
        self.fill(5).await?;
        let length = self.length(1);
        let longest = if may_be_long(kind) { LONG_FRAME_BYTES_MAX } else { SHORT_FRAME_BYTES_MAX };
        if !(4..=longest).contains(&length) {
            return Err(ReadError::Fatal(violation("invalid message length")));
        }
        self.fill(1 + length).await?;
        let mut frame = self.buffer.split_to(1 + length);
        frame.advance(5);
        Ok((kind, frame.freeze()))
    }

    /// The length that a frame states `at` bytes from its start. Four bytes must be there.
    fn length(&self, at: usize) -> usize {
        usize::try_from((&self.buffer[at..at + 4]).get_u32()).unwrap_or(usize::MAX)
    }

    /// Reads until `bytes` are in the buffer, which grows as they come, not as they are announced.
    async fn fill(&mut self, bytes: usize) -> Result<(), ReadError> {
        while self.buffer.len() < bytes {
            match self.socket.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return Err(ReadError::Gone),
                Ok(_) => {}
            }
        }
        Ok(())
    }

    /// Returns when the client is gone. For while a statement runs: what the client sends
    /// meanwhile is kept for later. Cancel-safe.
    pub(super) async fn gone(&mut self) {
        loop {
            if self.buffer.len() < READ_AHEAD_BYTES_MAX {
                match self.socket.read_buf(&mut self.buffer).await {
                    Ok(0) | Err(_) => return,
                    Ok(_) => continue,
                }
            }
            match self.socket.is_closed().await {
                Ok(false) => tokio::time::sleep(PROBE_INTERVAL).await,
                Ok(true) | Err(_) => return,
            }
        }
    }

    /// Reads and forgets what still comes, until the client closes.
    pub(super) async fn drain(&mut self) {
        self.buffer.clear();
        while matches!(self.socket.read_buf(&mut self.buffer).await, Ok(bytes) if bytes > 0) {
            self.buffer.clear();
        }
    }
}
