//! Indexes: which of them a SELECT reads by, and that a server that dies while one is made leaves
//! nothing of it, or all.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sqllogictest::harness::Trial;
use tokio_postgres::Client;

use crate::client::{execute, query, value};
use crate::harness::{self, trial};
use crate::server::Server;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("indexes/the_one_that_binds_most_is_read", the_one_that_binds_most_is_read),
        trial("indexes/killed_while_one_is_made", killed_while_one_is_made),
        trial("indexes/a_unique_key_is_given_once", a_unique_key_is_given_once),
    ]
}

const OBJECTS: &str = "
    CREATE TABLE t (id int PRIMARY KEY, a int, b text, c bigint);
    INSERT INTO t SELECT i, i % 10, chr(97 + i % 7), i / 4 FROM generate_series(1, 500) AS s (i);
    CREATE INDEX t_a_b ON t (a, b);
    CREATE INDEX t_c ON t (c DESC) INCLUDE (b);
    CREATE MATERIALIZED VIEW m AS SELECT a, b FROM t UNION ALL SELECT a, b FROM t WHERE id < 9;
    CREATE INDEX m_b_a ON m (b, a);
    CREATE TABLE k (x int, y text, z int);
    INSERT INTO k SELECT i, 'y', i FROM generate_series(1, 500) AS s (i);
    ALTER TABLE k ADD PRIMARY KEY (x), ADD UNIQUE (y, z);";

/// A query, and how it reads.
const READS: &[(&str, &str)] = &[
    ("SELECT id FROM t WHERE a = 3", "object=public.t, index=t_a_b, ranges=[a = 3] in 1 of 256"),
    (
        "SELECT id FROM t WHERE a IN (3, 4)",
        "object=public.t, index=t_a_b, ranges=[a IN (3, 4)] in 2 of 256",
    ),
    (
        "SELECT id FROM t WHERE a = 3 AND b >= 'c'",
        "object=public.t, index=t_a_b, ranges=[a = 3, b >= c] in 1 of 256",
    ),
    (
        "SELECT id FROM t WHERE a = 3 AND b = 'c' AND c > 7",
        "object=public.t, index=t_a_b, ranges=[a = 3, b = c] in 1 of 256",
    ),
    (
        "SELECT id FROM t WHERE c > 7 AND c <= 8",
        "object=public.t, index=t_c, ranges=[c > 7, c <= 8] in 256 of 256",
    ),
    ("SELECT id FROM t WHERE id > 7 AND c > 8", "object=public.t, ranges=[id > 7] in 256 of 256"),
    ("SELECT id FROM t WHERE id = 3 AND a = 3 AND b = 'd'", "object=public.t, keys=[id = 3]"),
    ("SELECT id FROM t WHERE b = 'c'", "object=public.t, full"),
    (
        "SELECT a FROM m WHERE b = 'c' AND a < 5",
        "object=public.m, index=m_b_a, ranges=[b = c, a < 5] in 1 of 256",
    ),
    ("SELECT y FROM k WHERE x = 3", "object=public.k, index=k_pkey, ranges=[x = 3] in 1 of 256"),
    ("UPDATE k SET z = z + 1 WHERE x = 3", "object=public.k, unique=k_pkey, keys=[x = 3]"),
    ("DELETE FROM k WHERE x IN (3, 4)", "object=public.k, unique=k_pkey, keys=[x IN (3, 4)]"),
    (
        "DELETE FROM k WHERE z = 3 AND y = 'y'",
        "object=public.k, unique=k_y_z_key, keys=[y = y, z = 3]",
    ),
    ("DELETE FROM k WHERE z = 3", "object=public.k, full"),
];

async fn the_one_that_binds_most_is_read() -> Result<()> {
    let server = Server::start(4).await?;
    let client = server.connect().await?;
    execute(&client, OBJECTS).await?;
    for (sql, expected) in READS {
        let plan = query(&client, &format!("EXPLAIN {sql}")).await?;
        let text: Vec<String> = plan.rows.into_iter().flatten().flatten().collect();
        let text = text.join("\n");
        let scan = text.lines().find(|line| line.contains("Scan:")).context(text.clone())?;
        ensure!(scan.contains(expected), "{sql}\n{scan}\nexpected {expected}");
    }
    execute(&client, "BEGIN; INSERT INTO t VALUES (1000, 3, 'own', 0)").await?;
    let plan = query(&client, "EXPLAIN SELECT id FROM t WHERE a = 3").await?;
    ensure!(!format!("{plan:?}").contains("index="), "an index has no row of the transaction");
    ensure!(value(&client, "SELECT id FROM t WHERE b = 'own' AND a = 3").await? == "1000", "lost");
    Ok(())
}

/// How long an index may take to catch up after a start.
const PATIENCE: Duration = Duration::from_secs(60);

/// Rows that it takes a while to read.
const MANY: &str = "
    CREATE TABLE big (id bigint PRIMARY KEY, g bigint, v bigint);
    INSERT INTO big SELECT i, i % 1000, i * 7 % 5003 FROM generate_series(1, 60000) AS s (i);";

async fn killed_while_one_is_made() -> Result<()> {
    let mut random = harness::random("indexes");
    let mut server = Server::start(2).await?;
    execute(&server.connect().await?, MANY).await?;
    for round in 1..=6 {
        let client = server.connect().await?;
        let create = format!("CREATE INDEX made_{round} ON big (v, g)");
        let creating = tokio::spawn(async move { execute(&client, &create).await });
        let wait = rand::Rng::random_range(&mut random, 0..400);
        tokio::time::sleep(Duration::from_millis(wait)).await;
        server.kill();
        let acknowledged = creating.await?.is_ok();
        server.restart().await?;
        let client = server.connect().await?;
        let made = format!("SELECT count(*) FROM pg_indexes WHERE indexname = 'made_{round}'");
        let made = value(&client, &made).await?;
        ensure!(!acknowledged || made == "1", "an index that was acknowledged is gone");
        // It may be catching up still: the answer is the same.
        let sum = "SELECT count(*) FROM big WHERE v = 42";
        let all = "SELECT count(*) FROM big WHERE v + 0 = 42";
        ensure!(value(&client, sum).await? == value(&client, all).await?, "the index hides rows");
        execute(&client, &format!("UPDATE big SET v = v + 1 WHERE id % 7 = {round}")).await?;
        attached(&client).await?;
        execute(&client, &format!("DROP INDEX IF EXISTS made_{}", round - 1)).await?;
        ensure!(value(&client, sum).await? == value(&client, all).await?, "the index hides rows");
    }
    let client = server.connect().await?;
    attached(&client).await?;
    let status = server.stop().await?;
    ensure!(status.success(), "{status}");
    server.check_views()?;
    Ok(())
}

/// Waits until every index has caught up.
async fn attached(client: &Client) -> Result<()> {
    let catching_up = "SELECT count(*) FROM weir.jobs WHERE state <> 'attached'";
    let all = async {
        while value(client, catching_up).await? != "0" {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    };
    tokio::time::timeout(PATIENCE, all).await.context("an index does not catch up")?
}

/// Keys that several clients want at the same time.
const KEYS: i64 = 150;
const CLIENTS: i64 = 4;

async fn a_unique_key_is_given_once() -> Result<()> {
    let mut server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, "CREATE TABLE t (id bigint PRIMARY KEY, k bigint, who bigint)").await?;
    execute(&client, "INSERT INTO t SELECT -i, -i, 0 FROM generate_series(1, 20000) AS s (i)")
        .await?;
    let making = tokio::spawn(async move {
        execute(&client, "CREATE UNIQUE INDEX t_k ON t (k)").await.map(|()| client)
    });
    let mut clients = Vec::new();
    for who in 0..CLIENTS {
        let client = server.connect().await?;
        clients.push(tokio::spawn(async move {
            let mut given = 0;
            for key in 0..KEYS {
                let id = key * CLIENTS + who;
                let sql = format!("INSERT INTO t VALUES ({id}, {key}, {who})");
                match execute(&client, &sql).await {
                    Ok(()) => given += 1,
                    Err(error) if format!("{error:#}").contains("23505") => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(given)
        }));
    }
    // Rows that came twice before the index was there are why it is not.
    let made = making.await?;
    let mut given = 0;
    for client in clients {
        given += client.await??;
    }
    let client = server.connect().await?;
    if made.is_err() {
        // Of each key one row stays, whoever was given it.
        let others = "EXISTS (SELECT 1 FROM t AS o WHERE o.k = t.k AND o.who < t.who)";
        execute(&client, &format!("DELETE FROM t WHERE {others}")).await?;
        execute(&client, "CREATE UNIQUE INDEX t_k ON t (k)").await?;
    } else {
        let kept = value(&client, "SELECT count(*) FROM t WHERE k >= 0").await?;
        ensure!(kept == given.to_string(), "{given} were told that they are kept, not {kept}");
    }
    server.kill();
    server.restart().await?;
    let client = server.connect().await?;
    for key in [-1, 0, KEYS - 1] {
        let twice = execute(&client, &format!("INSERT INTO t VALUES (1000000, {key}, 9)")).await;
        let told = twice.err().with_context(|| format!("key {key} was given once more"))?;
        ensure!(format!("{told:#}").contains("23505"), "{told:#}");
    }
    let twice = "SELECT count(*) FROM (SELECT k FROM t GROUP BY k HAVING count(*) > 1) AS s";
    ensure!(value(&client, twice).await? == "0", "a key was given twice");
    let status = server.stop().await?;
    ensure!(status.success(), "{status}");
    server.check_views()?;
    Ok(())
}
