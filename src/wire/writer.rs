//! The server's half of the socket: messages are put into a buffer, and flushed.

use std::io;

use bytes::{BufMut, BytesMut};
use pgwire::messages::Message;

use super::socket::Outgoing;
use crate::error::{SqlError, SqlResult, code};

/// How full the buffer may be before it must be flushed.
const BUFFER_BYTES: usize = 64 << 10;

/// Above this an emptied buffer gives its memory back.
const BUFFER_BYTES_KEPT: usize = 1 << 20;

/// Messages on their way out.
#[derive(Debug)]
pub(super) struct Writer {
    socket: Outgoing,
    buffer: BytesMut,
    /// Whether the socket may hold back what it was given.
    unsent: bool,
    /// The message that is being written.
    body: Vec<u8>,
    /// A message that could not be written down: the connection cannot go on.
    broken: Option<io::Error>,
}

impl Writer {
    pub(super) fn new(socket: Outgoing) -> Self {
        Self { socket, buffer: BytesMut::new(), unsent: false, body: Vec::new(), broken: None }
    }

    /// The socket. What is in the buffer is lost.
    pub(super) fn into_socket(self) -> Outgoing {
        self.socket
    }

    /// Adds a message. A failure shows at the next flush.
    pub(super) fn put(&mut self, message: &impl Message) {
        let before = self.buffer.len();
        if let Err(error) = message.encode(&mut self.buffer) {
            self.buffer.truncate(before);
            self.broken = Some(io::Error::other(error.to_string()));
        }
    }

    /// Adds a message of type `kind` whose body `fill` writes; nothing if it fails.
    pub(super) fn put_with(
        &mut self,
        kind: u8,
        fill: impl FnOnce(&mut Vec<u8>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        self.body.clear();
        fill(&mut self.body)?;
        self.put_body(kind)
    }

    /// The same, but a message without a body is not sent.
    pub(super) fn put_unless_empty(
        &mut self,
        kind: u8,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> SqlResult<()> {
        self.body.clear();
        fill(&mut self.body);
        if self.body.is_empty() { Ok(()) } else { self.put_body(kind) }
    }

    fn put_body(&mut self, kind: u8) -> SqlResult<()> {
        let length = length(4 + self.body.len())?;
        self.buffer.put_u8(kind);
        self.buffer.put_i32(length);
        self.buffer.put_slice(&self.body);
        Ok(())
    }

    /// Whether there is nothing to flush.
    pub(super) fn is_empty(&self) -> bool {
        self.buffer.is_empty() && !self.unsent
    }

    /// Whether it is time to flush.
    pub(super) fn is_full(&self) -> bool {
        self.buffer.len() >= BUFFER_BYTES
    }

    /// Sends everything. Cancel-safe: what is not yet sent stays in the buffer.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        while !self.buffer.is_empty() {
            self.unsent = true;
            if self.socket.write_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        if self.unsent {
            self.socket.flush().await?;
            self.unsent = false;
        }
        if self.buffer.capacity() > BUFFER_BYTES_KEPT {
            self.buffer = BytesMut::new();
        }
        if self.body.capacity() > BUFFER_BYTES_KEPT {
            self.body = Vec::new();
        }
        match self.broken.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Sends everything and ends the stream in good order.
    pub(super) async fn close(&mut self) -> io::Result<()> {
        self.flush().await?;
        self.socket.shutdown().await
    }
}

/// A length as the protocol writes it; an error for what is too long for it.
pub(super) fn length(bytes: usize) -> SqlResult<i32> {
    i32::try_from(bytes).map_err(|_| {
        SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, "row is too large for the protocol")
            .detail(format!("It has {bytes} bytes."))
    })
}
