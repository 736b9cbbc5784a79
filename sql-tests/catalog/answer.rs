//! Asking one statement by the extended protocol, everything as text.

use std::fmt;

use anyhow::{Context, Result, bail, ensure};
use bytes::{Buf, Bytes, BytesMut};
use pgwire::messages::Message;
use pgwire::messages::extendedquery::{
    Bind, Describe, Execute, Parse, Sync, TARGET_TYPE_BYTE_STATEMENT,
};
use pgwire::messages::startup::Startup;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::statement::Statement;

/// Rows that a difference shows.
const ROWS_SHOWN: usize = 4;

/// What came back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// SQLSTATE and message, if it failed.
    pub(super) error: Option<(String, String)>,
    /// Names and OIDs of types.
    pub(super) columns: Vec<(String, u32)>,
    pub(super) rows: Vec<Vec<Option<String>>>,
}

impl Answer {
    /// How another answer differs, if it does; rows may come in any order.
    pub(super) fn difference(&self, other: &Answer) -> Option<String> {
        match (&self.error, &other.error) {
            (Some((left, _)), Some((right, _))) if left == right => return None,
            (left, right) if left != right => {
                return Some(format!("failed: {}, not {}", Shown(right), Shown(left)));
            }
            _ => {}
        }
        if self.columns != other.columns {
            return Some(format!("columns {:?}, not {:?}", other.columns, self.columns));
        }
        let (mut theirs, mut ours) = (self.rows.clone(), other.rows.clone());
        theirs.sort();
        ours.sort();
        if theirs == ours {
            return None;
        }
        let missing: Vec<_> = without(&theirs, &ours);
        let more: Vec<_> = without(&ours, &theirs);
        let shown = |rows: &[Vec<Option<String>>]| {
            let shown = rows.iter().take(ROWS_SHOWN).map(|row| format!("    {}", line(row)));
            shown.collect::<Vec<_>>().join("\n")
        };
        let (theirs, ours) = (theirs.len(), ours.len());
        let mut text = format!("{ours} rows, not {theirs}");
        text += &format!("\n  {} are not there:\n{}", missing.len(), shown(&missing));
        text += &format!("\n  {} are there instead:\n{}", more.len(), shown(&more));
        Some(text)
    }
}

/// The rows that are in one sorted list more often than in another.
fn without(
    rows: &[Vec<Option<String>>],
    other: &[Vec<Option<String>>],
) -> Vec<Vec<Option<String>>> {
    let mut left = Vec::new();
    let mut other = other.iter().peekable();
    for row in rows {
        while other.next_if(|next| *next < row).is_some() {}
        if other.next_if(|next| *next == row).is_none() {
            left.push(row.clone());
        }
    }
    left
}

fn line(row: &[Option<String>]) -> String {
    let values = row.iter().map(|value| value.as_deref().unwrap_or("NULL"));
    values.collect::<Vec<_>>().join(" | ")
}

struct Shown<'a>(&'a Option<(String, String)>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((code, message)) => write!(f, "{code} {message}"),
            None => f.write_str("no error"),
        }
    }
}

/// A session.
pub(super) struct Asker {
    stream: TcpStream,
    unread: BytesMut,
}

impl Asker {
    pub(super) async fn open(port: u16, user: &str, database: &str) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let mut asker = Self { stream, unread: BytesMut::new() };
        let mut startup = Startup::new();
        for (name, value) in [("user", user), ("database", database)] {
            startup.parameters.insert(name.to_owned(), value.to_owned());
        }
        let mut bytes = BytesMut::new();
        startup.encode(&mut bytes)?;
        asker.stream.write_all(&bytes).await?;
        let answer = asker.answer().await?;
        ensure!(answer.error.is_none(), "no session: {answer:?}");
        Ok(asker)
    }

    pub(super) async fn ask(&mut self, statement: &Statement) -> Result<Answer> {
        let types = statement.parameters.iter().map(|(oid, _)| *oid).collect();
        let values = statement.parameters.iter();
        let values = values.map(|(_, text)| text.clone().map(Bytes::from)).collect();
        let mut bytes = BytesMut::new();
        Parse::new(None, statement.sql.clone(), types).encode(&mut bytes)?;
        Describe::new(TARGET_TYPE_BYTE_STATEMENT, None).encode(&mut bytes)?;
        Bind::new(None, None, vec![], values, vec![]).encode(&mut bytes)?;
        Execute::new(None, 0).encode(&mut bytes)?;
        Sync::new().encode(&mut bytes)?;
        self.stream.write_all(&bytes).await?;
        self.answer().await.with_context(|| statement.sql.clone())
    }

    /// Everything until the server is ready again.
    async fn answer(&mut self) -> Result<Answer> {
        let mut answer = Answer::default();
        loop {
            let (kind, mut body) = self.message().await?;
            match kind {
                b'Z' => return Ok(answer),
                b'E' => answer.error = Some(error(&mut body)),
                b'T' => answer.columns = (0..body.get_i16()).map(|_| column(&mut body)).collect(),
                b'D' => {
                    answer.rows.push((0..body.get_i16()).map(|_| value(&mut body)).collect());
                }
                _ => {}
            }
        }
    }

    async fn message(&mut self) -> Result<(u8, BytesMut)> {
        loop {
            if self.unread.len() >= 5 {
                let length = usize::try_from((&self.unread[1..5]).get_u32())?;
                if self.unread.len() > length {
                    let mut frame = self.unread.split_to(length + 1);
                    let kind = frame[0];
                    frame.advance(5);
                    return Ok((kind, frame));
                }
            }
            if self.stream.read_buf(&mut self.unread).await? == 0 {
                bail!("the server closed the connection");
            }
        }
    }
}

fn column(body: &mut BytesMut) -> (String, u32) {
    let name = string(body);
    body.advance(6);
    let oid = body.get_u32();
    body.advance(8);
    (name, oid)
}

fn value(body: &mut BytesMut) -> Option<String> {
    let length = usize::try_from(body.get_i32()).ok()?;
    Some(String::from_utf8_lossy(&body.split_to(length)).into_owned())
}

fn error(body: &mut BytesMut) -> (String, String) {
    let (mut code, mut message) = Default::default();
    loop {
        match body.get_u8() {
            0 => return (code, message),
            b'C' => code = string(body),
            b'M' => message = string(body),
            _ => {
                string(body);
            }
        }
    }
}

fn string(body: &mut BytesMut) -> String {
    let end = body.iter().position(|byte| *byte == 0).unwrap_or(body.len());
    let text = String::from_utf8_lossy(&body.split_to(end)).into_owned();
    body.advance(1.min(body.remaining()));
    text
}
