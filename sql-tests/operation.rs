//! Running the server: who may connect, what is cancelled, how it stops, who may start it twice.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use sqllogictest::harness::Trial;

use crate::client::{self, execute, value};
use crate::harness::{send_signal, trial};
use crate::psql::psql;
use crate::server::Server;

/// Idle memory that the server may take.
const IDLE_BYTES_MAX: u64 = 150 << 20;

/// Long enough for any machine to be in the midst of it when it is cancelled.
const LONG_QUERY: &str =
    "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 1000) b";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("operation/a_second_server_is_refused", a_second_server_is_refused),
        trial("operation/sigterm_stops_in_order", sigterm_stops_in_order),
        trial("operation/health_and_metrics", health_and_metrics),
        trial("operation/who_may_connect", who_may_connect),
        trial("operation/cancel_request_stops_a_query", cancel_request_stops_a_query),
        trial("operation/psql_interrupt_stops_a_query", psql_interrupt_stops_a_query),
        trial("operation/a_vanished_client_is_noticed", a_vanished_client_is_noticed),
        trial("operation/garbage_harms_nobody", garbage_harms_nobody),
        trial("operation/check_finds_nothing", check_finds_nothing),
        trial("operation/idle_memory", idle_memory),
    ]
}

async fn a_second_server_is_refused() -> Result<()> {
    let server = Server::start(1).await?;
    let second = server.run_second()?;
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    ensure!(!second.status.success() && second.status.code() != Some(124), "{}", second.status);
    ensure!(said.contains(&*server.data().to_string_lossy()), "does not name the folder: {said}");
    ensure!(!said.contains("panicked"), "{said}");
    ensure!(value(&server.connect().await?, "SELECT 1").await? == "1", "the first is disturbed");
    Ok(())
}

async fn sigterm_stops_in_order() -> Result<()> {
    let mut server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, "CREATE TABLE t (id int PRIMARY KEY)").await?;
    execute(&client, "CREATE MATERIALIZED VIEW v AS SELECT count(*) AS n FROM t").await?;
    execute(&client, "INSERT INTO t VALUES (1), (2)").await?;
    let status = server.stop().await?;
    ensure!(status.success(), "{status}");
    ensure!(client.simple_query("SELECT 1").await.is_err(), "the session is still answered");
    server.restart().await?;
    ensure!(value(&server.connect().await?, "SELECT n FROM v").await? == "2", "rows are lost");
    Ok(())
}

/// A GET by hand: status and body.
fn get(port: u16, path: &str) -> Result<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let status = answer.split(' ').nth(1).context("no status")?.parse()?;
    let (_, body) = answer.split_once("\r\n\r\n").context("no body")?;
    Ok((status, body.to_string()))
}

async fn health_and_metrics() -> Result<()> {
    let server = Server::start(1).await?;
    let (status, _) = get(server.http_port, "/health")?;
    ensure!(status == 200, "/health: {status}");
    let (status, metrics) = get(server.http_port, "/metrics")?;
    ensure!(status == 200, "/metrics: {status}");
    ensure!(metrics.contains("# TYPE weir_"), "{metrics}");
    for line in metrics.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let number = line.rsplit(' ').next().context("an empty line")?;
        ensure!(number.parse::<f64>().is_ok(), "not a sample: {line}");
    }
    let (status, _) = get(server.http_port, "/nosuch")?;
    ensure!(status == 404, "/nosuch: {status}");
    Ok(())
}

async fn who_may_connect() -> Result<()> {
    let server = Server::start(1).await?;
    for user in ["weir", "postgres"] {
        let client = client::connect(server.port, user, "weir").await.map_err(client::explain)?;
        ensure!(value(&client, "SELECT current_user").await? == user, "{user}");
        ensure!(value(&client, "SELECT current_database()").await? == "weir", "{user}");
        let version = value(&client, "SHOW server_version").await?;
        ensure!(version.starts_with("15."), "server_version {version}");
    }
    match client::connect(server.port, "weir", "nosuch").await {
        Ok(_) => bail!("a database that does not exist takes a session"),
        Err(error) => {
            let error = error.as_db_error().context("no answer")?;
            ensure!(error.code().code() == "3D000", "{error:?}");
            ensure!(error.message() == "database \"nosuch\" does not exist", "{error:?}");
        }
    }
    Ok(())
}

async fn cancel_request_stops_a_query() -> Result<()> {
    let server = Server::start(1).await?;
    let client = server.connect().await?;
    let cancel = client.cancel_token();
    let query = client.simple_query(LONG_QUERY);
    let cancelling = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let asked = Instant::now();
        cancel.cancel_query(tokio_postgres::NoTls).await.map(|()| asked)
    };
    let (answer, asked) = tokio::join!(query, cancelling);
    let took = asked?.elapsed();
    let error = answer.err().context("the query was answered")?;
    let error = error.as_db_error().context("the connection broke")?;
    ensure!(error.code().code() == "57014", "{error:?}");
    ensure!(error.message() == "canceling statement due to user request", "{error:?}");
    ensure!(took < Duration::from_secs(1), "cancelled after {took:?}");
    ensure!(value(&client, "SELECT 1").await? == "1", "the session goes on");
    Ok(())
}

async fn psql_interrupt_stops_a_query() -> Result<()> {
    let server = Server::start(1).await?;
    let mut process = psql(&server, &[LONG_QUERY]).stderr(std::process::Stdio::piped()).spawn()?;
    tokio::time::sleep(Duration::from_millis(700)).await;
    send_signal(&process, "INT")?;
    let asked = Instant::now();
    while process.try_wait()?.is_none() {
        if asked.elapsed() > Duration::from_secs(5) {
            process.kill()?;
            bail!("psql still waits 5 s after Ctrl-C");
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let took = asked.elapsed();
    let said = String::from_utf8_lossy(&process.wait_with_output()?.stderr).into_owned();
    ensure!(said.contains("canceling statement due to user request"), "{said}");
    ensure!(took < Duration::from_secs(1), "cancelled after {took:?}");
    Ok(())
}

/// A client that goes in the middle of a transaction leaves nothing, not even its locks.
async fn a_vanished_client_is_noticed() -> Result<()> {
    let server = Server::start(1).await?;
    let client = server.connect().await?;
    execute(&client, "CREATE TABLE t (id int PRIMARY KEY)").await?;
    {
        let vanishing = server.connect().await?;
        execute(&vanishing, "BEGIN").await?;
        execute(&vanishing, "INSERT INTO t VALUES (1)").await?;
    }
    let insert = execute(&client, "INSERT INTO t VALUES (1), (2)");
    tokio::time::timeout(Duration::from_secs(5), insert).await.context("its locks are held")??;
    ensure!(value(&client, "SELECT count(*) FROM t").await? == "2", "its rows are there");
    Ok(())
}

/// What is no message of the protocol ends that connection and no other.
async fn garbage_harms_nobody() -> Result<()> {
    let mut server = Server::start(1).await?;
    let client = server.connect().await?;
    let startup = [&[0, 0, 0, 8][..], &[4, 210, 22, 47][..]].concat();
    let garbage: &[&[u8]] = &[
        b"GET / HTTP/1.1\r\n\r\n",
        &[0; 64],
        &[0xff; 64],
        &[0, 0, 0, 4],
        &[0, 0, 0, 9, 0, 3, 0, 0, 0],
        &[0x7f, 0xff, 0xff, 0xff, 0, 3, 0, 0],
        &startup,
    ];
    for bytes in garbage {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        // The server may have closed already.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        if let Err(error) = stream.read_to_end(&mut answer) {
            ensure!(
                error.kind() == std::io::ErrorKind::ConnectionReset,
                "{bytes:?} holds the connection open: {error}"
            );
        }
    }
    ensure!(value(&client, "SELECT 1").await? == "1", "another session is disturbed");
    ensure!(server.is_running(), "the server is gone");
    Ok(())
}

async fn check_finds_nothing() -> Result<()> {
    let mut server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, "CREATE TABLE t (id int PRIMARY KEY, g int, v int)").await?;
    execute(&client, "CREATE MATERIALIZED VIEW v AS SELECT g, sum(v) AS s FROM t GROUP BY g")
        .await?;
    execute(&client, "INSERT INTO t SELECT i, i % 7, i FROM generate_series(1, 1000) AS s (i)")
        .await?;
    execute(&client, "DELETE FROM t WHERE id % 3 = 0").await?;
    server.kill();
    let check = server.run_check()?;
    let said = String::from_utf8_lossy(&check.stdout).into_owned();
    ensure!(check.status.success(), "{}: {said}", check.status);
    ensure!(said.contains('v'), "does not name the view: {said}");
    Ok(())
}

async fn idle_memory() -> Result<()> {
    let server = Server::start(2).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (memory, _) = server.memory()?;
    ensure!(memory < IDLE_BYTES_MAX, "idle with {} MB", memory >> 20);
    Ok(())
}
