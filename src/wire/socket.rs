//! The two halves of a client's socket, encrypted or not.

use std::io;

use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest, ReadHalf, WriteHalf};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpStream, UnixStream, unix};
use tokio_rustls::server::TlsStream;

/// What the client sends.
#[derive(Debug)]
pub(super) enum Incoming {
    Plain(OwnedReadHalf),
    Unix(unix::OwnedReadHalf),
    Tls {
        half: ReadHalf<TlsStream<TcpStream>>,
        /// The socket below, which tells that it is closed also when nothing is read.
        below: TcpStream,
    },
}

/// What is sent to the client.
#[derive(Debug)]
pub(super) enum Outgoing {
    Plain(OwnedWriteHalf),
    Unix(unix::OwnedWriteHalf),
    Tls(WriteHalf<TlsStream<TcpStream>>),
}

/// The halves of a socket.
pub(super) fn plain(socket: TcpStream) -> (Incoming, Outgoing) {
    let (read, write) = socket.into_split();
    (Incoming::Plain(read), Outgoing::Plain(write))
}

/// The halves of a socket of this machine.
pub(super) fn local(socket: UnixStream) -> (Incoming, Outgoing) {
    let (read, write) = socket.into_split();
    (Incoming::Unix(read), Outgoing::Unix(write))
}

/// The halves of an encrypted socket; `below` is another handle of the one underneath.
pub(super) fn encrypted(stream: TlsStream<TcpStream>, below: TcpStream) -> (Incoming, Outgoing) {
    let (half, write) = tokio::io::split(stream);
    (Incoming::Tls { half, below }, Outgoing::Tls(write))
}

/// The socket whose halves these are; `None` if they are encrypted, or of
/// this machine.
pub(super) fn reunite(incoming: Incoming, outgoing: Outgoing) -> Option<TcpStream> {
    match (incoming, outgoing) {
        (Incoming::Plain(read), Outgoing::Plain(write)) => read.reunite(write).ok(),
        _ => None,
    }
}

impl Incoming {
    /// Reads what has come to the end of `buffer`; 0 at the end of the stream. Cancel-safe.
    pub(super) async fn read_buf(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        match self {
            Incoming::Plain(half) => half.read_buf(buffer).await,
            Incoming::Unix(half) => half.read_buf(buffer).await,
            Incoming::Tls { half, .. } => half.read_buf(buffer).await,
        }
    }

    /// Waits until there is something to read; whether it is the end.
    pub(super) async fn is_closed(&self) -> io::Result<bool> {
        let ready = match self {
            Incoming::Plain(half) => half.ready(Interest::READABLE).await?,
            Incoming::Unix(half) => half.ready(Interest::READABLE).await?,
            Incoming::Tls { below, .. } => below.ready(Interest::READABLE).await?,
        };
        Ok(ready.is_read_closed())
    }
}

impl Outgoing {
    /// Writes from the front of `buffer`, and takes off what was written. Cancel-safe.
    pub(super) async fn write_buf(&mut self, buffer: &mut BytesMut) -> io::Result<usize> {
        match self {
            Outgoing::Plain(half) => half.write_buf(buffer).await,
            Outgoing::Unix(half) => half.write_buf(buffer).await,
            Outgoing::Tls(half) => half.write_buf(buffer).await,
        }
    }

    /// Sends what encryption holds back. Cancel-safe.
    pub(super) async fn flush(&mut self) -> io::Result<()> {
        match self {
            Outgoing::Plain(half) => half.flush().await,
            Outgoing::Unix(half) => half.flush().await,
            Outgoing::Tls(half) => half.flush().await,
        }
    }

    /// Ends the stream in good order.
    pub(super) async fn shutdown(&mut self) -> io::Result<()> {
        match self {
            Outgoing::Plain(half) => half.shutdown().await,
            Outgoing::Unix(half) => half.shutdown().await,
            Outgoing::Tls(half) => half.shutdown().await,
        }
    }
}
