//! How sessions end, and what ends with them; listeners that take nothing; Unix sockets.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use pgwire::messages::simplequery::Query;
use sqllogictest::harness::Trial;
use tempfile::TempDir;

use super::socket::Socket;
use crate::client;
use crate::harness::trial;
use crate::server::Server;

/// How long the end of a session may take to show.
const SOON: Duration = Duration::from_secs(5);

const TEMPORARY: &str = "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'pg_temp%'";

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("wire::temporary_tables_end_with_their_session", temporary_tables),
        trial("wire::an_idle_session_can_be_terminated", terminate),
        trial("wire::a_listener_that_takes_nothing_is_told", overrun),
        trial("wire::clients_connect_by_a_unix_socket", unix_socket),
    ]
}

async fn session(server: &Server) -> Result<Socket> {
    Socket::open(server.port, "weir", "weir").await
}

/// Sends a query and gives back everything up to ReadyForQuery.
async fn ask(socket: &mut Socket, sql: &str) -> Result<Vec<String>> {
    socket.send(&Query::new(sql.to_owned())).await?;
    let mut lines = Vec::new();
    loop {
        let line = socket.receive().await?;
        let over = line.starts_with("ReadyForQuery");
        lines.push(line);
        if over {
            return Ok(lines);
        }
    }
}

/// Whether `sql` gives `value` before long.
async fn becomes(server: &Server, sql: &str, value: &str) -> Result<()> {
    let client = server.connect().await?;
    let deadline = tokio::time::Instant::now() + SOON;
    loop {
        let found = client::value(&client, sql).await?;
        if found == value {
            return Ok(());
        }
        ensure!(tokio::time::Instant::now() < deadline, "{sql}: still {found}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Also where the session ends by a broken connection, and where the server is killed.
async fn temporary_tables() -> Result<()> {
    let mut server = Server::start(2).await?;
    let make = "CREATE TEMP TABLE a (k int PRIMARY KEY, v text); CREATE UNIQUE INDEX ON a (v); \
                INSERT INTO a SELECT n, 'v' || n FROM generate_series(1, 1000) AS g(n)";
    let mut left = session(&server).await?;
    ensure!(ask(&mut left, make).await?.last().is_some_and(|line| line == "ReadyForQuery I"));
    becomes(&server, TEMPORARY, "1").await?;
    drop(left);
    becomes(&server, TEMPORARY, "0").await?;
    // A transaction that holds its lock does not keep it.
    let mut open = session(&server).await?;
    ask(&mut open, make).await?;
    ask(&mut open, "BEGIN; DELETE FROM a").await?;
    drop(open);
    becomes(&server, TEMPORARY, "0").await?;
    let mut killed = session(&server).await?;
    ask(&mut killed, make).await?;
    ask(&mut killed, "CREATE TABLE stays AS SELECT * FROM a").await?;
    server.kill();
    server.restart().await?;
    becomes(&server, TEMPORARY, "0").await?;
    becomes(&server, "SELECT count(*) FROM pg_class WHERE relpersistence = 't'", "0").await?;
    becomes(&server, "SELECT count(*) FROM stays", "1000").await?;
    let mut again = session(&server).await?;
    let answer = ask(&mut again, make).await?;
    ensure!(answer.iter().any(|line| line == "CommandComplete INSERT 0 1000"), "{answer:?}");
    Ok(())
}

async fn terminate() -> Result<()> {
    let server = Server::start(1).await?;
    let mut idle = session(&server).await?;
    let mut other = session(&server).await?;
    let pid = idle.key.0;
    let answer = ask(&mut other, &format!("SELECT pg_terminate_backend({pid})")).await?;
    ensure!(answer.iter().any(|line| line == "DataRow t"), "{answer:?}");
    let line = idle.receive().await?;
    let expected = "ErrorResponse FATAL 57P01 terminating connection due to administrator command";
    ensure!(line == expected, "{line}");
    ensure!(idle.is_closed().await);
    Ok(())
}

/// Who sends is not held up; who does not listen in time is not left in the belief that it has
/// heard all.
async fn overrun() -> Result<()> {
    let server = Server::start(1).await?;
    let mut busy = session(&server).await?;
    let mut quick = session(&server).await?;
    let mut sender = session(&server).await?;
    for listener in [&mut busy, &mut quick] {
        ask(listener, "LISTEN ch").await?;
    }
    ask(&mut busy, "BEGIN").await?;
    let payloads =
        "SELECT pg_notify('ch', n || repeat('x', 7000)) FROM generate_series(1, 700) AS g(n)";
    for round in 0..2 {
        let answer = ask(&mut sender, payloads).await?;
        ensure!(answer.iter().any(|line| line == "CommandComplete SELECT 700"), "{round}");
        for number in 1..=700 {
            let line = quick.receive().await?;
            let start = format!("NotificationResponse {} ch {number}x", sender.key.0);
            ensure!(line.starts_with(&start), "{line}");
        }
    }
    busy.send(&Query::new("COMMIT".to_owned())).await?;
    ensure!(busy.receive().await? == "CommandComplete COMMIT");
    let line = busy.receive().await?;
    let expected = "ErrorResponse FATAL 54000 too many notifications in the NOTIFY queue";
    ensure!(line == expected, "{line}");
    ensure!(busy.is_closed().await);
    Ok(())
}

/// By psql, as the user of the machine, and not as another; a killed server's socket is taken over.
async fn unix_socket() -> Result<()> {
    let folder = TempDir::new()?;
    let path = folder.path().to_str().context("a path that is text")?.to_owned();
    let me = String::from_utf8(Command::new("id").arg("-un").output()?.stdout)?.trim().to_owned();
    let rules = [format!("local all {me} peer"), "local all weir peer".to_owned()];
    let options = [
        "--unix-socket-directory",
        &path,
        "--hba",
        "host all all 127.0.0.1/32 trust",
        "--hba",
        &rules[0],
        "--hba",
        &rules[1],
    ];
    let mut server = Server::start_with(&options).await?;
    let client = server.connect().await?;
    client::execute(&client, &format!("CREATE ROLE \"{me}\" LOGIN")).await?;
    let psql = |port: u16, user: &str| {
        let mut command = Command::new("psql");
        command.args(["-X", "-A", "-t", "-h", &path, "-p", &port.to_string(), "-U", user]);
        command.args(["-d", "weir", "-c", "SELECT current_user, inet_client_addr() IS NULL"]);
        command.output()
    };
    for killed in [false, true] {
        if killed {
            server.kill();
            server.restart().await?;
        }
        let output = psql(server.port, &me)?;
        let text = String::from_utf8_lossy(&output.stdout);
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(text.trim() == format!("{me}|t"), "{text}{error}");
    }
    let output = psql(server.port, "weir")?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(error.contains("FATAL:  Peer authentication failed for user \"weir\""), "{error}");
    let socket = folder.path().join(format!(".s.PGSQL.{}", server.port));
    ensure!(socket.exists());
    server.stop().await?;
    ensure!(!socket.exists(), "the socket goes with its server");
    Ok(())
}
