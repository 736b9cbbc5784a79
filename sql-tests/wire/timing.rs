//! What a script cannot say: when things happen, and what happens to those who break the rules.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use bytes::{BufMut, Bytes, BytesMut};
use pgwire::messages::cancel::CancelRequest;
use pgwire::messages::extendedquery::{Bind, Execute, Parse, Sync};
use pgwire::messages::simplequery::Query;
use pgwire::messages::startup::{SecretKey, SslRequest, Startup};
use sqllogictest::harness::Trial;

use super::script;
use super::socket::Socket;
use crate::client;
use crate::harness::trial;
use crate::server::Server;

/// A query that runs for minutes and gives nothing meanwhile.
const LONG: &str = "SELECT count(*) FROM generate_series(1, 100000000000) AS g(n) WHERE n % 7 = 3";

/// How long a cancelled statement, or a vanished client, may take to be gone.
const SOON: Duration = Duration::from_secs(1);

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("wire::rows_do_not_wait_for_the_next", rows_do_not_wait),
        trial("wire::cancel_ends_a_statement_soon", cancel),
        trial("wire::a_timeout_ends_a_statement", timeout),
        trial("wire::a_vanished_client_is_noticed", vanished_client),
        trial("wire::refusals_before_the_session", refusals),
        trial("wire::no_bytes_end_the_server", garbage),
        trial("wire::protocol_versions", versions),
        trial("wire::shutdown_is_told", shutdown),
        trial("wire::a_client_that_does_not_read_stops_the_rows", backpressure),
    ]
}

async fn session(server: &Server) -> Result<Socket> {
    Socket::open(server.port, "weir", "weir").await
}

/// The first row must come long before the second exists.
async fn rows_do_not_wait() -> Result<()> {
    let server = Server::start(1).await?;
    let mut socket = session(&server).await?;
    socket.send(&Query::new(format!("SELECT 1 AS n UNION ALL {LONG}"))).await?;
    ensure!(socket.receive().await?.starts_with("RowDescription"));
    ensure!(socket.receive().await? == "DataRow 1");
    cancel_request(&server, &socket).await?;
    ensure!(socket.receive().await?.starts_with("ErrorResponse ERROR 57014"));
    ensure!(socket.receive().await? == "ReadyForQuery I");
    Ok(())
}

async fn cancel_request(server: &Server, socket: &Socket) -> Result<()> {
    let (process_id, secret) = socket.key.clone();
    let mut other = Socket::raw(server.port).await?;
    other.send(&CancelRequest::new(process_id, SecretKey::Bytes(Bytes::from(secret)))).await?;
    ensure!(other.is_closed().await, "a cancel request gets no answer");
    Ok(())
}

async fn cancel() -> Result<()> {
    let server = Server::start(1).await?;
    let mut socket = session(&server).await?;
    // A cancel while nothing runs is for nothing that comes later.
    cancel_request(&server, &socket).await?;
    for in_block in [false, true] {
        if in_block {
            socket.send(&Query::new("BEGIN".to_owned())).await?;
            ensure!(socket.receive().await? == "CommandComplete BEGIN");
            ensure!(socket.receive().await? == "ReadyForQuery T");
        }
        socket.send(&Query::new(LONG.to_owned())).await?;
        tokio::time::sleep(Duration::from_millis(300)).await;
        let asked = Instant::now();
        cancel_request(&server, &socket).await?;
        let mut line = socket.receive().await?;
        if line.starts_with("RowDescription") {
            line = socket.receive().await?;
        }
        ensure!(
            line == "ErrorResponse ERROR 57014 canceling statement due to user request",
            "{line}"
        );
        ensure!(asked.elapsed() < SOON, "it took {:?}", asked.elapsed());
        let state = if in_block { "ReadyForQuery E" } else { "ReadyForQuery I" };
        ensure!(socket.receive().await? == state);
    }
    Ok(())
}

async fn timeout() -> Result<()> {
    let server = Server::start(1).await?;
    let client = server.connect().await?;
    client::execute(&client, "SET statement_timeout = '300ms'").await?;
    let started = Instant::now();
    let error = client.batch_execute(LONG).await.err().context("it must not end by itself")?;
    let error = error.as_db_error().context("the server says why")?;
    ensure!(error.code().code() == "57014");
    ensure!(error.message() == "canceling statement due to statement timeout");
    ensure!(started.elapsed() < Duration::from_millis(300) + SOON);
    client::execute(&client, "SELECT 1").await
}

/// A client that goes away mid-query takes its query and its transaction along.
async fn vanished_client() -> Result<()> {
    let server = Server::start(1).await?;
    let client = server.connect().await?;
    client::execute(&client, "CREATE TABLE t (a int PRIMARY KEY)").await?;
    let mut socket = session(&server).await?;
    socket.send(&Query::new(format!("BEGIN; INSERT INTO t VALUES (1); {LONG}"))).await?;
    ensure!(socket.receive().await? == "CommandComplete BEGIN");
    ensure!(socket.receive().await? == "CommandComplete INSERT 0 1");
    tokio::time::sleep(Duration::from_millis(300)).await;
    drop(socket);
    // The row's table is locked by the vanished client until it is noticed.
    let started = Instant::now();
    client::execute(&client, "INSERT INTO t VALUES (1)").await?;
    ensure!(started.elapsed() < SOON, "it took {:?}", started.elapsed());
    Ok(())
}

async fn refusals() -> Result<()> {
    let server = Server::start(1).await?;
    for (user, database, expected) in [
        ("nobody", "weir", "ErrorResponse FATAL 28000 role \"nobody\" does not exist"),
        ("weir", "nowhere", "ErrorResponse FATAL 3D000 database \"nowhere\" does not exist"),
    ] {
        let mut socket = Socket::raw(server.port).await?;
        let mut startup = Startup::new();
        startup.parameters.insert("user".to_owned(), user.to_owned());
        startup.parameters.insert("database".to_owned(), database.to_owned());
        socket.send(&startup).await?;
        let line = socket.receive().await?;
        ensure!(line == expected, "{line}");
        ensure!(socket.is_closed().await, "no ReadyForQuery after a refusal");
    }
    Ok(())
}

/// Frames that lie about what is in them, and what is no frame at all.
async fn garbage() -> Result<()> {
    let server = Server::start(1).await?;
    let mut huge_startup = BytesMut::new();
    huge_startup.put_u32(0x3fff_ffff);
    huge_startup.put_u32(196_608);
    for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 64], &huge_startup] {
        let mut socket = Socket::raw(server.port).await?;
        socket.send_bytes(bytes).await?;
        while socket.receive().await.is_ok() {}
    }
    let short_bind = b"B\x00\x00\x00\x08\x00\x00\xff\xff";
    let empty_describe = b"D\x00\x00\x00\x04";
    for bytes in [&short_bind[..], &empty_describe[..]] {
        let mut socket = session(&server).await?;
        socket.send_bytes(bytes).await?;
        socket.send(&Sync::new()).await?;
        let line = socket.receive().await?;
        ensure!(line.starts_with("ErrorResponse ERROR 08P01"), "{line}");
        ensure!(socket.receive().await? == "ReadyForQuery I");
    }
    for bytes in [&b"!\x00\x00\x00\x04"[..], &b"Q\xff\xff\xff\xff"[..], &b"S\x00\x00\x00\x00"[..]] {
        let mut socket = session(&server).await?;
        socket.send_bytes(bytes).await?;
        let line = socket.receive().await?;
        ensure!(line.starts_with("ErrorResponse FATAL 08P01"), "{line}");
        ensure!(socket.is_closed().await);
    }
    for rows_max in [i32::MAX, -1] {
        let mut socket = session(&server).await?;
        socket.send(&Parse::new(None, "SELECT 1 AS a".to_owned(), vec![])).await?;
        socket.send(&Bind::new(None, None, vec![], vec![], vec![])).await?;
        socket.send(&Execute::new(None, rows_max)).await?;
        socket.send(&Sync::new()).await?;
        let expected = ["ParseComplete", "BindComplete", "DataRow 1", "CommandComplete SELECT 1"];
        for expected in expected {
            ensure!(socket.receive().await? == expected);
        }
    }
    script::run(script::Place::of(&server), "> Query | SELECT 1 AS a\n< RowDescription [a:23/4]")
        .await
}

async fn versions() -> Result<()> {
    let server = Server::start(1).await?;
    for (minor, negotiated, secret_bytes) in [(0, false, 4), (2, false, 32), (9999, true, 32)] {
        let mut socket = Socket::raw(server.port).await?;
        socket.send(&SslRequest::new()).await?;
        ensure!(socket.byte().await? == b'N');
        let mut startup = Startup::new();
        startup.protocol_number_minor = minor;
        startup.parameters.insert("user".to_owned(), "weir".to_owned());
        socket.send(&startup).await?;
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line| line != "ReadyForQuery I") {
            lines.push(socket.receive().await?);
        }
        let has_negotiated = lines.iter().any(|line| line == "NegotiateProtocolVersion 2");
        ensure!(has_negotiated == negotiated, "{lines:?}");
        ensure!(lines.iter().any(|line| line.starts_with("ParameterStatus server_version=15")));
        ensure!(lines.iter().any(|line| line == "ParameterStatus client_encoding=UTF8"));
        ensure!(socket.key.1.len() == secret_bytes, "{:?}", socket.key);
    }
    Ok(())
}

async fn shutdown() -> Result<()> {
    let mut server = Server::start(1).await?;
    let mut idle = session(&server).await?;
    let mut busy = session(&server).await?;
    busy.send(&Query::new(LONG.to_owned())).await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let status = server.stop().await?;
    ensure!(status.success(), "{status}");
    let told = "ErrorResponse FATAL 57P01 terminating connection due to administrator command";
    ensure!(idle.receive().await? == told);
    let mut line = busy.receive().await?;
    if line.starts_with("RowDescription") {
        line = busy.receive().await?;
    }
    ensure!(line == told, "{line}");
    Ok(())
}

/// Rows wait in the server's statement, not in its memory.
async fn backpressure() -> Result<()> {
    let server = Server::start(1).await?;
    let mut socket = session(&server).await?;
    let (before, _) = server.memory()?;
    let many = "SELECT n, repeat('x', 1000) FROM generate_series(1, 3000000) AS g(n)";
    socket.send(&Query::new(many.to_owned())).await?;
    ensure!(socket.receive().await?.starts_with("RowDescription"));
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (now, _) = server.memory()?;
    let grown = now.saturating_sub(before) >> 20;
    ensure!(grown < 300, "{grown} MB more, of 3 GB of rows");
    cancel_request(&server, &socket).await?;
    loop {
        let line = socket.receive().await?;
        if line.starts_with("ErrorResponse ERROR 57014") {
            return Ok(());
        }
        ensure!(line.starts_with("DataRow"), "{line}");
    }
}
