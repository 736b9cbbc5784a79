//! Sequences over crashes: whatever moment the server dies at, no number is given twice, and no row
//! that was acknowledged is lost. A stop leaves no gap.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rand::Rng;
use sqllogictest::harness::Trial;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::client::{self, execute, value};
use crate::harness::{self, trial};
use crate::psql::psql;
use crate::server::Server;

const KILLS: u64 = 12;
const WRITERS: usize = 2;

const OBJECTS: &str = "
    CREATE TABLE t (id bigserial, alone bigint GENERATED ALWAYS AS IDENTITY, v int);
    CREATE SEQUENCE s MAXVALUE 9000000000 INCREMENT BY 3;
    CREATE MATERIALIZED VIEW n AS SELECT count(*) AS n, count(DISTINCT id) AS ids FROM t;";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("sequences/give_nothing_twice_over_kill_9", nothing_twice),
        trial("sequences/have_no_gap_over_a_stop", no_gap),
        trial("sequences/number_what_is_copied", copied),
    ]
}

/// What one session was told before the server died.
#[derive(Default)]
struct Told {
    /// Of inserted rows, by the default and by the identity column.
    rows: Vec<(i64, i64)>,
    /// By `nextval` alone.
    numbers: Vec<i64>,
}

async fn nothing_twice() -> Result<()> {
    let mut random = harness::random("sequences");
    let mut server = Server::start(2).await?;
    execute(&server.connect().await?, OBJECTS).await?;
    let mut told = Vec::new();
    for kill in 0..KILLS {
        let sessions: Vec<_> = (0..WRITERS).map(|_| tokio::spawn(write(server.port))).collect();
        tokio::time::sleep(Duration::from_millis(random.random_range(50..600))).await;
        server.kill();
        for session in sessions {
            told.push(session.await?.with_context(|| format!("before kill {kill}"))?);
        }
        server.restart().await?;
        let client = server.connect().await?;
        check(&client, &told).await.with_context(|| format!("after kill {kill}"))?;
    }
    ensure!(told.iter().any(|one| one.rows.len() > 40), "nothing was written");
    Ok(())
}

/// Inserts and draws until the server is gone.
async fn write(port: u16) -> Result<Told> {
    let client = client::connect(port, "weir", "weir").await?;
    let mut told = Told::default();
    for turn in 0.. {
        let rows = if turn % 10 == 0 { 50 } else { 1 };
        let insert = format!(
            "INSERT INTO t (v) SELECT i FROM generate_series(1, {rows}) AS g(i) RETURNING id, alone"
        );
        let (inserted, drawn) = match turn % 3 {
            0 => (None, client.simple_query("SELECT nextval('s'), 0").await),
            _ => (Some(()), client.simple_query(&insert).await),
        };
        // What did not arrive was not told, whether it took effect or not.
        let Ok(answer) = drawn else { break };
        for message in answer {
            let SimpleQueryMessage::Row(row) = message else { continue };
            let number = |column| row.get(column).context("a number")?.parse().context("whole");
            match inserted {
                Some(()) => told.rows.push((number(0)?, number(1)?)),
                None => told.numbers.push(number(0)?),
            }
        }
    }
    Ok(told)
}

async fn check(client: &Client, told: &[Told]) -> Result<()> {
    let twice = "SELECT count(*) - count(DISTINCT id) + count(*) - count(DISTINCT alone) FROM t";
    ensure!(value(client, twice).await? == "0", "a number stands twice in the table");
    ensure!(value(client, "SELECT n - ids FROM n").await? == "0", "and in its view");
    let mut seen = HashSet::new();
    let rows = client.simple_query("SELECT id, alone FROM t").await?;
    for row in rows {
        let SimpleQueryMessage::Row(row) = row else { continue };
        let number = |column| row.get(column).context("a number")?.parse::<i64>().context("whole");
        seen.insert((number(0)?, number(1)?));
    }
    for row in told.iter().flat_map(|one| &one.rows) {
        ensure!(seen.contains(row), "row {row:?} was acknowledged, and is gone");
    }
    let mut given = HashSet::new();
    for number in told.iter().flat_map(|one| &one.numbers) {
        ensure!(given.insert(*number), "nextval gave {number} twice");
    }
    let next: i64 = value(client, "SELECT nextval('s')").await?.parse()?;
    ensure!(!given.contains(&next), "nextval gave {next} again");
    Ok(())
}

async fn no_gap() -> Result<()> {
    let mut server = Server::start(1).await?;
    let client = server.connect().await?;
    execute(&client, OBJECTS).await?;
    execute(&client, "INSERT INTO t (v) VALUES (1), (2), (3)").await?;
    ensure!(value(&client, "SELECT nextval('s')").await? == "1", "the first number");
    drop(client);
    let status = server.stop().await?;
    ensure!(status.success(), "SIGTERM: {status}");
    server.restart().await?;
    let client = server.connect().await?;
    ensure!(value(&client, "SELECT nextval('s')").await? == "4", "a gap");
    ensure!(value(&client, "INSERT INTO t (v) VALUES (4) RETURNING id").await? == "4", "a gap");
    Ok(())
}

async fn copied() -> Result<()> {
    let server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, OBJECTS).await?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("rows");
    let rows: Vec<String> = (1..=20_000).map(|row| row.to_string()).collect();
    std::fs::write(&file, rows.join("\n"))?;
    let copy = format!(r"\copy t (v) FROM '{}'", file.display());
    let output = psql(&server, &[&copy]).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let numbered =
        "SELECT count(*) || ' ' || sum(CASE WHEN id = v AND alone = v THEN 1 END) FROM t";
    ensure!(value(&client, numbered).await? == "20000 20000", "rows are numbered as they come");
    // What is reserved beyond a batch is little.
    let next: i64 = value(&client, "INSERT INTO t (v) VALUES (0) RETURNING id").await?.parse()?;
    ensure!(next == 20_001, "{next}");
    Ok(())
}
