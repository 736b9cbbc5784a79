//! Scripts of messages.
//!
//! ```text
//! # a comment
//! > Query | SELECT 1 AS a         lines with > are sent, all of a block at once
//! < RowDescription [a:23/4]       lines with < are what comes back, in order
//! < DataRow 1
//! < CommandComplete SELECT 1
//! < ReadyForQuery I
//! ```
//!
//! A script may have more than one session: `b> Query | ...` is sent by session `b`, and `b< ...`
//! comes back to it. A notification says which session it is from: `NotificationResponse a ch x`.
//!
//! A message to send is its name, then names (`-` is the empty one) and options, then after `|`
//! its text: of Query and Parse the SQL, of Bind the parameters (comma-separated, `NULL`, `\x..`
//! for bytes), of CopyData the data (`\n`, `\t` as in Rust), of CopyFail the reason.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use pgwire::messages::PgWireFrontendMessage;
use pgwire::messages::copy::{CopyData, CopyDone, CopyFail};
use pgwire::messages::extendedquery::{
    Bind, Close, Describe, Execute, Flush, Parse, Sync, TARGET_TYPE_BYTE_PORTAL,
    TARGET_TYPE_BYTE_STATEMENT,
};
use pgwire::messages::simplequery::Query;
use pgwire::messages::terminate::Terminate;
use sqllogictest::harness::Trial;

use super::socket::Socket;
use crate::harness::{path, trial};
use crate::postgres;
use crate::server::Server;

/// How long an answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(20);

/// How long PostgreSQL may take to answer, when its answers are written down.
const UPDATE_WAIT: Duration = Duration::from_millis(300);

/// Every script, on PostgreSQL and on Weir.
pub(super) fn trials() -> Vec<Trial> {
    let mut scripts: Vec<_> = fs::read_dir(path("wire"))
        .expect("there is a folder of scripts")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "pt"))
        .collect();
    scripts.sort();
    let mut trials = Vec::new();
    for script in scripts {
        let name = script.file_stem().and_then(|name| name.to_str()).unwrap_or("?").to_owned();
        let text = fs::read_to_string(&script).expect("a script can be read");
        let for_postgres = text.clone();
        trials.push(trial(format!("wire::{name}::postgres"), move || async move {
            let database = postgres::Database::create().await?;
            let place =
                Place { port: database.port, user: "postgres", database: database.name.clone() };
            if std::env::var_os("WEIR_UPDATE").is_some() {
                return update(place, &script).await;
            }
            run(place, &for_postgres).await
        }));
        trials.push(trial(format!("wire::{name}::weir"), move || async move {
            let server = Server::start(1).await?;
            run(Place::of(&server), &text).await
        }));
    }
    trials
}

/// Where sessions are opened.
pub(super) struct Place {
    port: u16,
    user: &'static str,
    database: String,
}

impl Place {
    pub(super) fn of(server: &Server) -> Self {
        Self { port: server.port, user: "weir", database: "weir".to_owned() }
    }
}

/// The sessions of a script by their letters, opened as they are named.
struct Sessions {
    place: Place,
    open: BTreeMap<char, Socket>,
}

impl Sessions {
    async fn get(&mut self, letter: char) -> Result<&mut Socket> {
        let Place { port, user, database } = &self.place;
        Ok(match self.open.entry(letter) {
            Entry::Occupied(socket) => socket.into_mut(),
            Entry::Vacant(place) => place.insert(Socket::open(*port, user, database).await?),
        })
    }

    async fn send(&mut self, letter: char, message: &str) -> Result<()> {
        let mut bytes = bytes::BytesMut::new();
        let message = message_of(message)?;
        message.encode(&mut bytes)?;
        let socket = self.get(letter).await?;
        socket.send_bytes(&bytes).await?;
        if let PgWireFrontendMessage::Terminate(_) = message {
            // When the server has closed the connection, it has forgotten the session.
            while socket.receive_within(ANSWER_MAX).await.is_ok() {}
            self.open.remove(&letter);
        }
        Ok(())
    }

    async fn receive(&mut self, letter: char, limit: Duration) -> Result<String> {
        let line = self.get(letter).await?.receive_within(limit).await?;
        let Some((sender, rest)) =
            line.strip_prefix("NotificationResponse ").and_then(|rest| rest.split_once(' '))
        else {
            return Ok(line);
        };
        let from = self.open.iter().find(|(_, socket)| socket.key.0.to_string() == sender);
        let (letter, _) = from.with_context(|| format!("no session is number {sender}"))?;
        Ok(format!("NotificationResponse {letter} {rest}"))
    }
}

/// What a line does: the session, whether it sends or receives, and the message.
fn line_of(line: &str) -> Option<(char, bool, &str)> {
    let (head, message) = line.split_once(' ')?;
    let sends = head.ends_with('>');
    let letter = head.strip_suffix(['>', '<'])?;
    match letter.chars().collect::<Vec<_>>()[..] {
        [] => Some(('a', sends, message)),
        [letter] => Some((letter, sends, message)),
        _ => None,
    }
}

/// Sends and compares, line by line.
pub(super) async fn run(place: Place, script: &str) -> Result<()> {
    let mut sessions = Sessions { place, open: BTreeMap::new() };
    for (number, line) in script.lines().enumerate() {
        let at = || format!("line {}: {line}", number + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line_of(line).with_context(|| format!("{}: neither > nor <", at()))? {
            (letter, true, message) => sessions.send(letter, message).await.with_context(at)?,
            (letter, false, expected) => {
                let received = sessions.receive(letter, ANSWER_MAX).await.with_context(at)?;
                ensure!(received == expected, "{}\nreceived: {received}", at());
            }
        }
    }
    Ok(())
}

/// Writes into the script what PostgreSQL answers to each block of messages.
async fn update(place: Place, path: &Path) -> Result<()> {
    let script = fs::read_to_string(path)?;
    let mut sessions = Sessions { place, open: BTreeMap::new() };
    let mut updated = String::new();
    let mut lines = script.lines().peekable();
    while let Some(line) = lines.next() {
        match line_of(line) {
            _ if line.is_empty() || line.starts_with('#') => {}
            Some((letter, true, message)) => sessions.send(letter, message).await?,
            _ => continue,
        }
        updated.push_str(&format!("{line}\n"));
        let sends = |line: &&str| matches!(line_of(line), Some((_, true, _)));
        if !sends(&line) || lines.peek().is_some_and(sends) {
            continue;
        }
        let letters: Vec<char> = sessions.open.keys().copied().collect();
        for letter in letters {
            let head = if letter == 'a' { String::new() } else { letter.to_string() };
            while let Ok(answer) = sessions.receive(letter, UPDATE_WAIT).await {
                updated.push_str(&format!("{head}< {answer}\n"));
            }
        }
    }
    Ok(fs::write(path, updated)?)
}

/// The message of a line.
fn message_of(line: &str) -> Result<PgWireFrontendMessage> {
    let (head, text) = match line.split_once(" | ") {
        Some((head, text)) => (head, Some(text)),
        None => (line, None),
    };
    let mut words = head.split_whitespace();
    let name = words.next().context("a message has a name")?;
    let words: Vec<&str> = words.collect();
    let text_or_empty = text.unwrap_or("");
    Ok(match name {
        "Query" => PgWireFrontendMessage::Query(Query::new(text_or_empty.to_owned())),
        "Parse" => {
            let oids = option(&words, "types=").map_or(Ok(Vec::new()), numbers)?;
            PgWireFrontendMessage::Parse(Parse::new(
                named(&words, 0)?,
                text_or_empty.to_owned(),
                oids,
            ))
        }
        "Bind" => {
            let parameters = match text {
                Some(text) => text.split(", ").map(parameter).collect::<Result<_>>()?,
                None => Vec::new(),
            };
            let formats = |name| option(&words, name).map_or(Ok(Vec::new()), numbers);
            PgWireFrontendMessage::Bind(Bind::new(
                named(&words, 0)?,
                named(&words, 1)?,
                formats("in=")?,
                parameters,
                formats("out=")?,
            ))
        }
        "Describe" => {
            let (target, name) = target(&words)?;
            PgWireFrontendMessage::Describe(Describe::new(target, name))
        }
        "Close" => {
            let (target, name) = target(&words)?;
            PgWireFrontendMessage::Close(Close::new(target, name))
        }
        "Execute" => {
            let rows = words.get(1).map_or(Ok(0), |rows| rows.parse())?;
            PgWireFrontendMessage::Execute(Execute::new(named(&words, 0)?, rows))
        }
        "Flush" => PgWireFrontendMessage::Flush(Flush::new()),
        "Sync" => PgWireFrontendMessage::Sync(Sync::new()),
        "Terminate" => PgWireFrontendMessage::Terminate(Terminate::new()),
        "CopyData" => {
            let data = text_or_empty.replace("\\n", "\n").replace("\\t", "\t");
            PgWireFrontendMessage::CopyData(CopyData::new(Bytes::from(data)))
        }
        "CopyDone" => PgWireFrontendMessage::CopyDone(CopyDone::new()),
        "CopyFail" => PgWireFrontendMessage::CopyFail(CopyFail::new(text_or_empty.to_owned())),
        other => bail!("no message is called {other}"),
    })
}

fn named(words: &[&str], index: usize) -> Result<Option<String>> {
    let name = words.get(index).context("a name is missing")?;
    Ok((*name != "-").then(|| (*name).to_owned()))
}

fn target(words: &[&str]) -> Result<(u8, Option<String>)> {
    let kind = match words.first() {
        Some(&"statement") => TARGET_TYPE_BYTE_STATEMENT,
        Some(&"portal") => TARGET_TYPE_BYTE_PORTAL,
        _ => bail!("statement or portal?"),
    };
    Ok((kind, named(words, 1)?))
}

fn option<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    words.iter().find_map(|word| word.strip_prefix(name))
}

fn numbers<T: std::str::FromStr>(list: &str) -> Result<Vec<T>>
where
    T::Err: std::error::Error + Send + std::marker::Sync + 'static,
{
    Ok(list.split(',').map(str::parse).collect::<std::result::Result<_, _>>()?)
}

fn parameter(text: &str) -> Result<Option<Bytes>> {
    if text == "NULL" {
        return Ok(None);
    }
    let Some(hex) = text.strip_prefix("\\x") else {
        return Ok(Some(Bytes::from(text.to_owned())));
    };
    let bytes = (0..hex.len() / 2)
        .map(|index| u8::from_str_radix(&hex[2 * index..2 * index + 2], 16))
        .collect::<std::result::Result<Vec<u8>, _>>()?;
    Ok(Some(Bytes::from(bytes)))
}
