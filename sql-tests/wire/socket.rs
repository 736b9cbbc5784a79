//! A client of our own: sends any message, and shows each one that comes back as a line of text.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use bytes::{Buf, BytesMut};
use pgwire::messages::Message;
use pgwire::messages::startup::Startup;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// How long an answer may take.
const ANSWER_SECONDS_MAX: u64 = 20;

/// A connection.
pub(crate) struct Socket {
    stream: TcpStream,
    unread: BytesMut,
    /// From BackendKeyData: process id and secret.
    pub(crate) key: (i32, Vec<u8>),
}

impl Socket {
    /// A connection that has said nothing yet.
    pub(crate) async fn raw(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        Ok(Self { stream, unread: BytesMut::new(), key: (0, Vec::new()) })
    }

    /// A session, at its first ReadyForQuery.
    pub(crate) async fn open(port: u16, user: &str, database: &str) -> Result<Self> {
        let mut socket = Self::raw(port).await?;
        socket.start(user, database).await?;
        loop {
            let line = socket.receive().await?;
            if line.starts_with("ErrorResponse") {
                bail!("no session: {line}");
            }
            if line == "ReadyForQuery I" {
                return Ok(socket);
            }
        }
    }

    /// Sends the startup packet.
    pub(crate) async fn start(&mut self, user: &str, database: &str) -> Result<()> {
        let mut startup = Startup::new();
        startup.parameters.insert("user".to_owned(), user.to_owned());
        startup.parameters.insert("database".to_owned(), database.to_owned());
        self.send(&startup).await
    }

    /// The first message of a SASL exchange.
    pub(crate) async fn sasl_initial(&mut self, mechanism: &str, data: &[u8]) -> Result<()> {
        let length = u32::try_from(data.len())?;
        let body = [mechanism.as_bytes(), b"\0", &length.to_be_bytes(), data].concat();
        self.password(&body).await
    }

    /// A further message of one.
    pub(crate) async fn password(&mut self, body: &[u8]) -> Result<()> {
        let length = u32::try_from(body.len() + 4)?;
        self.send_bytes(&[b"p".as_slice(), &length.to_be_bytes(), body].concat()).await
    }

    /// Sends one message.
    pub(crate) async fn send(&mut self, message: &impl Message) -> Result<()> {
        let mut bytes = BytesMut::new();
        message.encode(&mut bytes).context("a small message")?;
        self.send_bytes(&bytes).await
    }

    /// Sends bytes, whatever they are.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// The next message as a line; an error if none comes in time, or the connection ends.
    pub(crate) async fn receive(&mut self) -> Result<String> {
        self.receive_within(Duration::from_secs(ANSWER_SECONDS_MAX)).await
    }

    /// As [`Socket::receive`], with a time of one's own.
    pub(crate) async fn receive_within(&mut self, limit: Duration) -> Result<String> {
        tokio::time::timeout(limit, self.next()).await.context("no answer in time")?
    }

    /// Whether the server closes the connection now, saying nothing more.
    pub(crate) async fn is_closed(&mut self) -> bool {
        let limit = Duration::from_secs(ANSWER_SECONDS_MAX);
        let read = self.stream.read_buf(&mut self.unread);
        match tokio::time::timeout(limit, read).await {
            Ok(Ok(bytes)) => bytes == 0 && self.unread.is_empty(),
            // A reset is an end too.
            Ok(Err(_)) => true,
            Err(_) => false,
        }
    }

    /// One byte, as the answer to an encryption request is.
    pub(crate) async fn byte(&mut self) -> Result<u8> {
        while self.unread.is_empty() {
            self.read().await?;
        }
        Ok(self.unread.get_u8())
    }

    async fn next(&mut self) -> Result<String> {
        loop {
            if self.unread.len() >= 5 {
                let length = usize::try_from((&self.unread[1..5]).get_u32())?;
                if self.unread.len() > length {
                    let kind = self.unread[0];
                    let mut frame = self.unread.split_to(length + 1);
                    frame.advance(5);
                    if kind == b'K' {
                        self.key = (frame.get_i32(), frame.to_vec());
                        return Ok("BackendKeyData".to_owned());
                    }
                    return Ok(shown(kind, frame));
                }
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> Result<()> {
        if self.stream.read_buf(&mut self.unread).await? == 0 {
            bail!("the server closed the connection");
        }
        Ok(())
    }
}

/// A message as a line.
fn shown(kind: u8, mut body: BytesMut) -> String {
    match kind {
        b'R' => match body.get_i32() {
            10 => format!("Authentication 10 {}", mechanisms(&mut body)),
            kind @ (11 | 12) => format!("Authentication {kind} {}", string(&mut body)),
            kind => format!("Authentication {kind}"),
        },
        b'S' => format!("ParameterStatus {}={}", string(&mut body), string(&mut body)),
        b'Z' => format!("ReadyForQuery {}", char::from(body.get_u8())),
        b'1' => "ParseComplete".to_owned(),
        b'2' => "BindComplete".to_owned(),
        b'3' => "CloseComplete".to_owned(),
        b'n' => "NoData".to_owned(),
        b's' => "PortalSuspended".to_owned(),
        b'I' => "EmptyQueryResponse".to_owned(),
        b'C' => format!("CommandComplete {}", string(&mut body)),
        b'c' => "CopyDone".to_owned(),
        b'd' => format!("CopyData {}", String::from_utf8_lossy(&body).escape_debug()),
        b'G' => format!("CopyInResponse {} {}", body.get_i8(), body.get_i16()),
        b'H' => format!("CopyOutResponse {} {}", body.get_i8(), body.get_i16()),
        b'v' => format!("NegotiateProtocolVersion {}", body.get_i32() & 0xffff),
        b'E' => format!("ErrorResponse {}", report(&mut body)),
        b'N' => format!("NoticeResponse {}", report(&mut body)),
        b't' => {
            let types: Vec<String> =
                (0..body.get_i16()).map(|_| body.get_u32().to_string()).collect();
            format!("ParameterDescription [{}]", types.join(", "))
        }
        b'T' => {
            let columns: Vec<String> = (0..body.get_i16()).map(|_| column(&mut body)).collect();
            format!("RowDescription [{}]", columns.join(", "))
        }
        b'A' => {
            let sender = body.get_i32();
            format!("NotificationResponse {sender} {} {}", string(&mut body), string(&mut body))
                .trim_end()
                .to_owned()
        }
        b'D' => {
            let values: Vec<String> = (0..body.get_i16()).map(|_| value(&mut body)).collect();
            format!("DataRow {}", values.join(", "))
        }
        other => format!("message {:?}", char::from(other)),
    }
}

fn mechanisms(body: &mut BytesMut) -> String {
    let mut names = Vec::new();
    while body.first().is_some_and(|byte| *byte != 0) {
        names.push(string(body));
    }
    names.join(" ")
}

/// Name, type and size; the modifier and the format where they say something.
fn column(body: &mut BytesMut) -> String {
    let name = string(body);
    body.advance(6);
    let (oid, size, modifier, format) =
        (body.get_u32(), body.get_i16(), body.get_i32(), body.get_i16());
    let mut text = format!("{name}:{oid}/{size}");
    if modifier != -1 {
        text.push_str(&format!("({modifier})"));
    }
    if format == 1 {
        text.push_str(" binary");
    }
    text
}

fn value(body: &mut BytesMut) -> String {
    let Ok(length) = usize::try_from(body.get_i32()) else { return "NULL".to_owned() };
    let bytes = body.split_to(length);
    match std::str::from_utf8(&bytes) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => bytes.iter().fold("\\x".to_owned(), |hex, byte| format!("{hex}{byte:02x}")),
    }
}

/// Severity, code and message, and the position if there is one.
fn report(body: &mut BytesMut) -> String {
    let (mut severity, mut code, mut message, mut position) = Default::default();
    loop {
        let kind = body.get_u8();
        if kind == 0 {
            return format!("{severity} {code} {message}{position}");
        }
        let text = string(body);
        match kind {
            b'V' => severity = text,
            b'C' => code = text,
            b'M' => message = text,
            b'P' => position = format!(" at {text}"),
            _ => {}
        }
    }
}

fn string(body: &mut BytesMut) -> String {
    let end = body.iter().position(|byte| *byte == 0).unwrap_or(body.len());
    let text = String::from_utf8_lossy(&body.split_to(end)).into_owned();
    if body.has_remaining() {
        body.advance(1);
    }
    text
}
