//! Sinks into tables under `kill -9`: each table is what its sink reads, as often as that says,
//! whatever moment the server died at; a sink that was being made is there whole, or not at all.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rand::Rng;
use rand::rngs::StdRng;
use sqllogictest::harness::Trial;
use tokio_postgres::Client;

use crate::client::{execute, value};
use crate::harness::{self, trial};
use crate::server::Server;

const KILLS: u64 = 12;

/// How long a sink may take to catch up after a start.
const PATIENCE: Duration = Duration::from_secs(30);

const OBJECTS: &str = "
    CREATE TABLE src (id bigint PRIMARY KEY, g bigint NOT NULL, v bigint NOT NULL);
    CREATE MATERIALIZED VIEW per_g AS SELECT g, count(*) AS n, sum(v) AS total FROM src GROUP BY g;
    CREATE TABLE kept (g bigint PRIMARY KEY, n bigint, total numeric);
    CREATE SINK to_kept INTO kept FROM per_g;
    CREATE TABLE copies (g bigint, v bigint);
    CREATE SINK to_copies INTO copies AS SELECT g, v % 10 FROM src;
    CREATE MATERIALIZED VIEW over AS SELECT count(*) AS n, sum(total) AS total FROM kept;
    CREATE TABLE last (n bigint, total numeric);
    CREATE SINK to_last INTO last FROM over;
    CREATE TABLE shared (who text, id bigint, v bigint, PRIMARY KEY (who, id));
    CREATE SINK evens INTO shared AS SELECT 'even', id, v FROM src WHERE id % 2 = 0;
    CREATE SINK odds INTO shared AS SELECT 'odd', id, v FROM src WHERE id % 2 = 1;";

/// A table, and the query that it must equal.
const PAIRS: &[(&str, &str)] = &[
    ("SELECT g, n, total FROM kept", "SELECT g, n, total FROM per_g"),
    ("SELECT g, v FROM copies", "SELECT g, v % 10 FROM src"),
    (
        "SELECT n, total FROM last",
        "SELECT count(*), sum(v) FROM (SELECT g, sum(v) AS v FROM src GROUP BY g) AS s",
    ),
    (
        "SELECT who, id, v FROM shared",
        "SELECT CASE id % 2 WHEN 0 THEN 'even' ELSE 'odd' END, id, v FROM src",
    ),
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("sinks/kill_9_at_random_moments", killed_at_random_moments)]
}

async fn killed_at_random_moments() -> Result<()> {
    let kills = harness::number("WEIR_KILLS").map_or(KILLS, |kills| kills.min(200));
    let mut random = harness::random("sinks");
    let mut server = Server::start(2).await?;
    execute(&server.connect().await?, OBJECTS).await?;
    for kill in 0..kills {
        let writing = tokio::spawn(write(server.connect().await?, random.random()));
        let making = server.connect().await?;
        let made = format!("made_{kill}");
        let create = format!(
            "CREATE TABLE {made} (id bigint PRIMARY KEY, v bigint);
             CREATE SINK to_{made} INTO {made} AS SELECT id, v * 2 FROM src WHERE v % 3 = 0"
        );
        let making = tokio::spawn(async move { execute(&making, &create).await });
        tokio::time::sleep(Duration::from_millis(random.random_range(20..600))).await;
        server.kill();
        writing.await?;
        let acknowledged = making.await?.is_ok();
        server.restart().await.with_context(|| format!("after kill {kill}"))?;
        let client = server.connect().await?;
        caught_up(&client).await.with_context(|| format!("after kill {kill}"))?;
        for (table, query) in PAIRS {
            same(&client, table, query).await.with_context(|| format!("after kill {kill}"))?;
        }
        let there = format!("SELECT count(*) FROM weir.jobs WHERE name = 'to_{made}'");
        let there = value(&client, &there).await? == "1";
        ensure!(there || !acknowledged, "a sink that was acknowledged is gone");
        if there {
            let query = "SELECT id, v * 2 FROM src WHERE v % 3 = 0";
            same(&client, &format!("SELECT id, v FROM {made}"), query).await?;
        }
        execute(&client, &format!("DROP TABLE IF EXISTS {made} CASCADE")).await?;
    }
    let client = server.connect().await?;
    let errors = value(&client, "SELECT count(*) FROM weir.errors").await?;
    ensure!(errors == "0", "{errors} rows were refused");
    let status = server.stop().await?;
    ensure!(status.success(), "{status}");
    server.check_views()?;
    Ok(())
}

/// Writes until the server is gone.
async fn write(client: Client, seed: u64) {
    let mut random: StdRng = rand::SeedableRng::seed_from_u64(seed);
    loop {
        let (id, many) = (random.random_range(0..2000), random.random_range(1..200));
        let sql = match random.random_range(0..4) {
            0 | 1 => format!(
                "INSERT INTO src SELECT {id} + i, ({id} + i) % 17, i FROM \
                 generate_series(1, {many}) AS s (i) ON CONFLICT (id) DO UPDATE SET v = src.v + 1"
            ),
            2 => format!(
                "UPDATE src SET g = (g + 1) % 17, v = v + {many} WHERE id % 13 = {}",
                id % 13
            ),
            _ => format!("DELETE FROM src WHERE id BETWEEN {id} AND {id} + {many}"),
        };
        if execute(&client, &sql).await.is_err() {
            return;
        }
    }
}

/// Waits until every job has caught up, and what was written is everywhere.
async fn caught_up(client: &Client) -> Result<()> {
    let waiting = "SELECT count(*) FROM weir.jobs WHERE state <> 'attached'";
    let all = async {
        while value(client, waiting).await? != "0" {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        execute(client, "FLUSH").await
    };
    tokio::time::timeout(PATIENCE, all).await.context("a sink does not catch up")?
}

/// Checks that two queries give the same rows, each as often.
async fn same(client: &Client, table: &str, query: &str) -> Result<()> {
    for (one, other) in [(table, query), (query, table)] {
        let sql = format!("SELECT count(*) FROM (({one}) EXCEPT ALL ({other})) AS difference");
        let rows = value(client, &sql).await?;
        ensure!(rows == "0", "{rows} rows more in {one} than in {other}");
    }
    Ok(())
}
