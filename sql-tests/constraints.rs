//! Constraints where one session cannot show them: several sessions at once, a server that dies.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rand::Rng;
use sqllogictest::harness::Trial;
use tokio_postgres::Client;

use crate::client::{self, execute, value};
use crate::harness::{self, trial};
use crate::server::Server;

/// Keys that sessions fight for.
const KEYS: i32 = 8;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("constraints/parents_go_while_children_come", parents_go_while_children_come),
        trial("constraints/two_transactions_meet", two_transactions_meet),
        trial("constraints/a_parent_waits_for_its_child", a_parent_waits_for_its_child),
        trial("constraints/a_table_comes_whole_or_not", a_table_comes_whole_or_not),
        trial("constraints/children_are_found_by_an_index", children_are_found_by_an_index),
    ]
}

const FAMILIES: &str = "
    CREATE TABLE p (id int PRIMARY KEY, n int DEFAULT 0);
    CREATE TABLE c (id bigserial PRIMARY KEY, p int NOT NULL REFERENCES p);
    CREATE TABLE e (id bigserial PRIMARY KEY,
        p int REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE);
    CREATE INDEX ON e (p);
    CREATE MATERIALIZED VIEW orphans AS
        SELECT c.id FROM c LEFT JOIN p ON p.id = c.p WHERE p.id IS NULL
        UNION ALL SELECT e.id FROM e LEFT JOIN p ON p.id = e.p WHERE p.id IS NULL;
    INSERT INTO p SELECT i FROM generate_series(1, 8) AS s (i);";

/// The SQLSTATE of a statement; empty if it went well.
async fn outcome(client: &Client, sql: &str) -> Result<String> {
    match client.simple_query(sql).await {
        Ok(_) => Ok(String::new()),
        Err(error) => match error.code() {
            Some(code) => Ok(code.code().to_owned()),
            None => Err(error.into()),
        },
    }
}

/// What became of one session's statements.
#[derive(Default)]
struct Counts {
    done: u64,
    refused: u64,
}

async fn fight(port: u16, seed: u64, stop: Arc<AtomicBool>) -> Result<Counts> {
    let client = client::connect(port, "weir", "weir").await?;
    let mut random = harness::random_of(seed, "fight");
    let mut counts = Counts::default();
    while !stop.load(Ordering::Relaxed) {
        let key = random.random_range(1..=KEYS);
        let sql = match random.random_range(0..7) {
            0 => format!("INSERT INTO c (p) VALUES ({key})"),
            1 => format!("INSERT INTO e (p) SELECT {key} FROM generate_series(1, 3)"),
            2 => format!("DELETE FROM p WHERE id = {key}"),
            3 => format!("INSERT INTO p VALUES ({key}) ON CONFLICT DO NOTHING"),
            4 => format!("DELETE FROM c WHERE p = {key}"),
            5 => format!("UPDATE p SET n = n + 1 WHERE id = {key}"),
            _ => format!("UPDATE p SET id = id % 8 + 1 WHERE id = {key}"),
        };
        match outcome(&client, &sql).await?.as_str() {
            "" => counts.done += 1,
            "23503" | "23505" => counts.refused += 1,
            other => anyhow::bail!("{sql}: {other}"),
        }
    }
    Ok(counts)
}

async fn parents_go_while_children_come() -> Result<()> {
    let server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, FAMILIES).await?;
    let stop = Arc::new(AtomicBool::new(false));
    let mut random = harness::random("constraints");
    let sessions: Vec<_> = (0..6)
        .map(|_| tokio::spawn(fight(server.port, random.random(), Arc::clone(&stop))))
        .collect();
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(200)).await;
        ensure!(value(&client, "SELECT count(*) FROM orphans").await? == "0", "an orphan is seen");
    }
    stop.store(true, Ordering::Relaxed);
    let (mut done, mut refused) = (0, 0);
    for session in sessions {
        let counts = session.await??;
        (done, refused) = (done + counts.done, refused + counts.refused);
    }
    ensure!(done > 20 && refused > 5, "{done} statements were done, {refused} refused");
    let orphans = "SELECT (SELECT count(*) FROM c WHERE p NOT IN (SELECT id FROM p))
                        + (SELECT count(*) FROM e WHERE p NOT IN (SELECT id FROM p))";
    ensure!(value(&client, orphans).await? == "0", "an orphan is there");
    Ok(())
}

/// Each adds a row that refers to a parent, then changes the parent: they wait, and go on.
async fn two_transactions_meet() -> Result<()> {
    let server = Server::start(1).await?;
    let (one, other) = (server.connect().await?, server.connect().await?);
    execute(&one, FAMILIES).await?;
    execute(&one, "BEGIN; INSERT INTO c (p) VALUES (1)").await?;
    execute(&other, "BEGIN; INSERT INTO e (p) VALUES (1)").await?;
    execute(&one, "UPDATE p SET n = n + 1 WHERE id = 1").await?;
    let waiting = tokio::spawn(async move {
        execute(&other, "UPDATE p SET n = n + 1 WHERE id = 1; COMMIT").await
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    ensure!(!waiting.is_finished(), "two write one table at a time");
    execute(&one, "COMMIT").await?;
    waiting.await??;
    ensure!(value(&one, "SELECT n FROM p WHERE id = 1").await? == "2", "one was lost");
    Ok(())
}

async fn a_parent_waits_for_its_child() -> Result<()> {
    let server = Server::start(1).await?;
    let (one, other) = (server.connect().await?, server.connect().await?);
    execute(&one, FAMILIES).await?;
    execute(&one, "BEGIN; INSERT INTO c (p) VALUES (1)").await?;
    let deleting = tokio::spawn(async move { outcome(&other, "DELETE FROM p WHERE id = 1").await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    ensure!(!deleting.is_finished(), "it did not wait");
    execute(&one, "COMMIT").await?;
    let code = deleting.await??;
    ensure!(code == "23503", "{code}");
    Ok(())
}

/// A table with one of each constraint.
fn family(number: u32) -> String {
    format!(
        "CREATE TABLE t{number} (id serial PRIMARY KEY, a int UNIQUE, b int CHECK (b > 0),
             p int REFERENCES parent, UNIQUE (a, b))"
    )
}

async fn a_table_comes_whole_or_not() -> Result<()> {
    let mut random = harness::random("whole tables");
    let mut server = Server::start(2).await?;
    execute(&server.connect().await?, "CREATE TABLE parent (id int PRIMARY KEY)").await?;
    let mut next = 0;
    for kill in 0..8 {
        let client = server.connect().await?;
        let first = next;
        let making = tokio::spawn(async move {
            let mut made = first;
            while client.simple_query(&family(made)).await.is_ok() {
                made += 1;
            }
            made
        });
        tokio::time::sleep(Duration::from_millis(random.random_range(20..700))).await;
        server.kill();
        // The last one may be there or not.
        next = making.await? + 1;
        server.restart().await?;
        let client = server.connect().await?;
        for number in first..next {
            check_whole(&client, number, number + 1 == next)
                .await
                .with_context(|| format!("t{number} after kill {kill}"))?;
        }
    }
    ensure!(next > 8, "only {next} tables were begun");
    server.stop().await?;
    server.check_views()?;
    Ok(())
}

async fn check_whole(client: &Client, number: u32, may_be_missing: bool) -> Result<()> {
    let named = format!("SELECT count(*) FROM pg_class WHERE relname ~ '^t{number}(_|$)'");
    let relations = value(client, &named).await?;
    if relations == "0" {
        ensure!(may_be_missing, "it was acknowledged, and is not there");
        return Ok(());
    }
    // The table, its sequence, three indexes.
    ensure!(relations == "5", "{relations} relations");
    let constraints = format!(
        "SELECT string_agg(conname, ' ' ORDER BY conname) FROM pg_constraint
         WHERE conrelid = 't{number}'::regclass AND contype <> 'n'"
    );
    let expected =
        ["a_b_key", "a_key", "b_check", "p_fkey", "pkey"].map(|name| format!("t{number}_{name}"));
    let found = value(client, &constraints).await?;
    ensure!(found == expected.join(" "), "{found}");
    for (row, code) in
        [("1, 1, NULL", ""), ("1, 2, NULL", "23505"), ("2, 0, NULL", "23514"), ("2, 2, 2", "23503")]
    {
        let insert = format!("INSERT INTO t{number} (a, b, p) VALUES ({row})");
        let found = outcome(client, &insert).await?;
        ensure!(found == code, "({row}): {found}");
    }
    Ok(())
}

/// What is pending and what the transaction itself has written is found as well.
async fn children_are_found_by_an_index() -> Result<()> {
    let server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(
        &client,
        "CREATE TABLE p (a int, b text, PRIMARY KEY (a, b));
         CREATE TABLE c (id int PRIMARY KEY, b text, x int, a bigint,
             FOREIGN KEY (a, b) REFERENCES p ON DELETE CASCADE);
         CREATE INDEX ON c (b DESC, a, x);
         INSERT INTO p SELECT i, 'p' || i FROM generate_series(1, 100) AS s (i);
         INSERT INTO c SELECT i, 'p' || i % 100 + 1, i, i % 100 + 1
             FROM generate_series(1, 5000) AS s (i)",
    )
    .await?;
    execute(
        &client,
        "BEGIN;
         INSERT INTO c VALUES (10001, 'p7', 0, 7);
         UPDATE c SET a = 8, b = 'p8' WHERE id = 6;
         DELETE FROM c WHERE id = 106;
         DELETE FROM p WHERE a = 7;
         COMMIT",
    )
    .await?;
    let left = "SELECT count(*) FILTER (WHERE a = 7) || ' ' || count(*) FILTER (WHERE a = 8)
                    || ' ' || count(*) FROM c";
    ensure!(value(&client, left).await? == "0 51 4951", "{}", value(&client, left).await?);
    // In one string: nothing of it is committed when the last is run.
    execute(&client, "INSERT INTO c VALUES (20001, 'p9', 0, 9); DELETE FROM p WHERE a = 9").await?;
    ensure!(value(&client, left).await? == "0 51 4901", "{}", value(&client, left).await?);
    Ok(())
}
