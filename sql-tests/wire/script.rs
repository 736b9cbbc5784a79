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
//! A message to send is its name, then names (`-` is the empty one) and options, then after `|`
//! its text: of Query and Parse the SQL, of Bind the parameters (comma-separated, `NULL`, `\x..`
//! for bytes), of CopyData the data (`\n`, `\t` as in Rust), of CopyFail the reason.

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use pgwire::messages::PgWireFrontendMessage;
use pgwire::messages::copy::{CopyData, CopyDone, CopyFail};
use pgwire::messages::extendedquery::{
    Bind, Close, Describe, Execute, Flush, Parse, Sync, TARGET_TYPE_BYTE_PORTAL,
    TARGET_TYPE_BYTE_STATEMENT,
};
use pgwire::messages::simplequery::Query;
use sqllogictest::harness::Trial;

use super::socket::Socket;
use crate::harness::{path, trial};
use crate::postgres;
use crate::server::Server;

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
            let socket = Socket::open(database.port, "postgres", &database.name).await?;
            run(socket, &for_postgres).await
        }));
        trials.push(trial(format!("wire::{name}::weir"), move || async move {
            let server = Server::start(1).await?;
            run(Socket::open(server.port, "weir", "weir").await?, &text).await
        }));
    }
    trials
}

/// Sends and compares, line by line.
pub(super) async fn run(mut socket: Socket, script: &str) -> Result<()> {
    for (number, line) in script.lines().enumerate() {
        let at = || format!("line {}: {line}", number + 1);
        if let Some(message) = line.strip_prefix("> ") {
            let message = message_of(message).with_context(at)?;
            let mut bytes = bytes::BytesMut::new();
            message.encode(&mut bytes).with_context(at)?;
            socket.send_bytes(&bytes).await.with_context(at)?;
        } else if let Some(expected) = line.strip_prefix("< ") {
            let received = socket.receive().await.with_context(at)?;
            ensure!(received == expected, "{}\nreceived: {received}", at());
        } else {
            ensure!(line.is_empty() || line.starts_with('#'), "{}: neither > nor <", at());
        }
    }
    Ok(())
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
