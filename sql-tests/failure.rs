//! Failures inside the server: an actor that panics, a job that cannot run, a process that dies at
//! the worst moments of a commit and of a view's catching up. Failpoints make them happen; what
//! must hold after each is the same: what was acknowledged is there once, views equal their query.

use anyhow::{Result, ensure};
use futures::TryStreamExt;
use rand::Rng;
use sqllogictest::harness::Trial;
use tokio_postgres::Client;

use crate::client::{execute, value};
use crate::harness::{self, trial};
use crate::server::Server;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("failure/a_panic_restarts_the_graph", a_panic_restarts_the_graph),
        trial("failure/a_job_that_fails_again_is_suspended", a_job_that_fails_again_is_suspended),
        trial("failure/death_before_a_commit", || death_in_a_commit("commit-before=8*off->panic")),
        trial("failure/death_after_a_commit", || death_in_a_commit("commit-after=8*off->panic")),
        trial("failure/a_view_goes_on_catching_up", a_view_goes_on_catching_up),
        trial("failure/a_standing_error_survives_kills", a_standing_error_survives_kills),
        trial("failure/ddl_outlives_a_restart", ddl_outlives_a_restart),
        trial("failure/a_cancelled_create_leaves_nothing", a_cancelled_create_leaves_nothing),
    ]
}

/// Kills in the test of standing errors.
const ROUNDS: usize = 12;

const TABLE: &str = "CREATE TABLE t (id int PRIMARY KEY, v int)";
const VIEW: &str =
    "CREATE MATERIALIZED VIEW m AS SELECT v, count(*) AS n, sum(id) AS s FROM t GROUP BY v";

/// Inserts rows until `count` are acknowledged, passing over what a restart undoes; their ids.
async fn insert(client: &Client, first: i32, count: usize) -> Result<Vec<i32>> {
    let mut acknowledged = Vec::new();
    for id in first.. {
        match client.simple_query(&format!("INSERT INTO t VALUES ({id}, {})", id % 3)).await {
            Ok(_) => acknowledged.push(id),
            Err(error) if error.as_db_error().is_some_and(|e| e.code().code() == "40001") => {}
            Err(error) => return Err(error.into()),
        }
        if acknowledged.len() == count {
            break;
        }
    }
    Ok(acknowledged)
}

async fn a_panic_restarts_the_graph() -> Result<()> {
    let server = Server::start_failing(2, Some("actor-process=2*off->2*panic->off")).await?;
    let client = server.connect().await?;
    execute(&client, TABLE).await?;
    execute(&client, VIEW).await?;
    let ids = insert(&client, 1, 20).await?;
    ensure!(ids.last() > Some(&20), "nothing failed: {ids:?}");
    let kept =
        value(&client, "SELECT string_agg(CAST(id AS text), ',' ORDER BY id) FROM t").await?;
    let expected: Vec<String> = ids.iter().map(ToString::to_string).collect();
    ensure!(kept == expected.join(","), "{kept} is kept, {expected:?} was acknowledged");
    ensure!(
        value(&client, "SELECT sum(n) FROM m").await? == "20",
        "the view lost or repeated rows"
    );
    let state = value(&client, "SELECT state FROM weir.jobs WHERE name = 'm'").await?;
    ensure!(state == "attached", "{state}");
    Ok(())
}

async fn a_job_that_fails_again_is_suspended() -> Result<()> {
    let server = Server::start_failing(1, Some("actor-process=1*off->3*panic->off")).await?;
    let client = server.connect().await?;
    execute(&client, TABLE).await?;
    execute(&client, VIEW).await?;
    insert(&client, 1, 3).await?;
    let state = value(&client, "SELECT state FROM weir.jobs WHERE name = 'm'").await?;
    ensure!(state == "suspended", "{state}");
    let error = client.simple_query("SELECT * FROM m").await.err();
    let code = error.as_ref().and_then(|e| e.as_db_error()).map(|e| e.code().code().to_owned());
    ensure!(code.as_deref() == Some("55000"), "{error:?}");
    execute(&client, "DROP MATERIALIZED VIEW m").await?;
    execute(&client, VIEW).await?;
    ensure!(value(&client, "SELECT sum(n) FROM m").await? == "3", "the new view is wrong");
    Ok(())
}

/// The process panics in the thread that commits: the epoch is undone or done, never in part.
async fn death_in_a_commit(failpoint: &'static str) -> Result<()> {
    let mut server = Server::start_failing(2, Some(failpoint)).await?;
    let client = server.connect().await?;
    execute(&client, TABLE).await?;
    execute(&client, VIEW).await?;
    let mut acknowledged = 0;
    for id in 1..=10 {
        let insert = format!("INSERT INTO t VALUES ({id}, 1)");
        acknowledged += usize::from(client.simple_query(&insert).await.is_ok());
    }
    server.kill();
    server.check_views()?;
    server.restart().await?;
    let client = server.connect().await?;
    let rows: usize = value(&client, "SELECT count(*) FROM t").await?.parse()?;
    ensure!(rows >= acknowledged, "{rows} of {acknowledged} acknowledged rows are there");
    let seen: usize = value(&client, "SELECT coalesce(sum(n), 0) FROM m").await?.parse()?;
    ensure!(seen == rows, "the view has {seen} of {rows} rows");
    Ok(())
}

/// Killed while it reads its input, a view goes on where it was, and is right in the end.
async fn a_view_goes_on_catching_up() -> Result<()> {
    let mut server = Server::start_failing(2, Some("backfill-chunk=sleep(400)")).await?;
    let client = server.connect().await?;
    execute(&client, TABLE).await?;
    let fill = "INSERT INTO t SELECT g, g % 7 FROM generate_series(1, 200000) AS s(g)";
    execute(&client, fill).await?;
    let creating = tokio::spawn({
        let client = server.connect().await?;
        async move { client.simple_query(VIEW).await.is_ok() }
    });
    let read = "SELECT coalesce(max(rows_read), 0) FROM weir.jobs WHERE name = 'm'";
    while value(&client, read).await?.parse::<u64>()? == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    execute(&client, "UPDATE t SET v = v + 1 WHERE id % 1000 = 0").await?;
    server.kill();
    ensure!(!creating.await?, "the view was ready before the server was killed");
    server.restart().await?;
    let client = server.connect().await?;
    execute(&client, "DELETE FROM t WHERE id % 500 = 1").await?;
    let state = "SELECT state FROM weir.jobs WHERE name = 'm'";
    while value(&client, state).await? != "attached" {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    server.stop().await?;
    server.check_views()?;
    Ok(())
}

/// A view with `on_error = 'fail'`, killed at random moments while rows that fail come and go:
/// after each restart it raises exactly while one is there, `weir check` agrees, and so does a
/// view that is made from it.
async fn a_standing_error_survives_kills() -> Result<()> {
    let mut random = harness::random("standing");
    let mut server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, TABLE).await?;
    let strict =
        "CREATE MATERIALIZED VIEW q WITH (on_error = 'fail') AS SELECT id, 6 / v AS q FROM t";
    execute(&client, strict).await?;
    execute(&client, "CREATE MATERIALIZED VIEW over AS SELECT count(*) AS n FROM q").await?;
    let (mut raised, mut read) = (0, 0);
    for _ in 0..ROUNDS {
        let client = server.connect().await?;
        let writing = tokio::spawn({
            let mut random = harness::random(&format!("standing {}", server.generation));
            async move {
                loop {
                    let (id, some) = (random.random_range(1..8), random.random_range(1..200));
                    // Half of them get a divisor of 0, for one row or for hundreds.
                    let put = format!(
                        "INSERT INTO t SELECT g * 10 + {id}, {} FROM generate_series(1, {some}) \
                         AS s(g) ON CONFLICT (id) DO UPDATE SET v = excluded.v",
                        if random.random_ratio(1, 2) { 0 } else { 3 }
                    );
                    let take = "DELETE FROM t WHERE v = 0";
                    let sql = if random.random_ratio(4, 5) { put.as_str() } else { take };
                    if client.simple_query(sql).await.is_err() {
                        return;
                    }
                }
            }
        });
        let pause = std::time::Duration::from_millis(random.random_range(20..400));
        tokio::time::sleep(pause).await;
        server.kill();
        writing.await?;
        server.check_views()?;
        server.restart().await?;
        let client = server.connect().await?;
        let failing: u64 = value(&client, "SELECT count(*) FROM t WHERE v = 0").await?.parse()?;
        for view in ["q", "over"] {
            let error = client.simple_query(&format!("SELECT * FROM {view}")).await.err();
            let error = error.as_ref().and_then(|error| error.as_db_error());
            match error {
                None => ensure!(failing == 0, "{view} is read with {failing} failing rows"),
                Some(error) => {
                    ensure!(failing > 0, "{view} raises without a failing row: {error}");
                    ensure!(error.code().code() == "22012", "{error:?}");
                    let place = error.where_().unwrap_or_default();
                    ensure!(place.contains("\"public.q\""), "does not name the view: {place}");
                }
            }
        }
        let copied = copy_out(&client, "COPY (SELECT * FROM q) TO STDOUT").await;
        ensure!(copied.is_err() == (failing > 0), "COPY: {copied:?}, {failing} failing rows");
        if failing > 0 {
            raised += 1
        } else {
            read += 1
        }
        if failing > 0 && random.random_ratio(1, 2) {
            execute(&client, "DELETE FROM t WHERE v = 0").await?;
            let rows = value(&client, "SELECT count(*) FROM t").await?;
            ensure!(value(&client, "SELECT n FROM over").await? == rows, "it still fails");
        }
    }
    harness::say(format!("standing: seed {}, {raised} raised, {read} read", harness::seed()));
    ensure!(raised > 0, "no row failed in {ROUNDS} rounds");
    Ok(())
}

/// A view is dropped while it joins the graph, which has to be built again then: neither the DROP
/// nor what others create meanwhile notices.
async fn ddl_outlives_a_restart() -> Result<()> {
    let server = Server::start_failing(2, Some("commit-before=sleep(40)")).await?;
    let client = server.connect().await?;
    execute(&client, TABLE).await?;
    execute(&client, "INSERT INTO t SELECT g, g % 7 FROM generate_series(1, 1000) AS s(g)").await?;
    for round in 0.. {
        if server.logged("graph restarted").len() > 1 {
            break;
        }
        ensure!(round < 40, "no round met a restart");
        let create = |name: &'static str| {
            let client = server.connect();
            async move {
                let sql = format!(
                    "CREATE MATERIALIZED VIEW {name} AS SELECT v, sum(id) FROM t GROUP BY v"
                );
                execute(&client.await?, &sql).await
            }
        };
        let dropping = async {
            let begun = "SELECT count(*) FROM weir.jobs WHERE name = 'goes'";
            while value(&client, begun).await? == "0" {}
            tokio::time::sleep(std::time::Duration::from_millis(20 * (round % 10))).await;
            execute(&client, "DROP MATERIALIZED VIEW IF EXISTS goes").await
        };
        let (gone, stays, dropped) = tokio::join!(create("goes"), create("stays"), dropping);
        dropped?;
        stays?;
        execute(&client, "DROP MATERIALIZED VIEW IF EXISTS goes").await?;
        ensure!(
            value(&client, "SELECT count(*) FROM stays").await? == "7",
            "round {round}: the view is wrong; the other: {gone:?}"
        );
        execute(&client, "DROP MATERIALIZED VIEW stays").await?;
    }
    Ok(())
}

/// What is cancelled while its first barrier commits is gone before its statement fails.
async fn a_cancelled_create_leaves_nothing() -> Result<()> {
    let mut server = Server::start_failing(2, Some("commit-before=sleep(200)")).await?;
    let client = server.connect().await?;
    execute(&client, TABLE).await?;
    execute(&client, "CREATE TABLE into_it (v int, n bigint)").await?;
    let creates = [
        VIEW,
        "CREATE INDEX m ON t (v)",
        "CREATE UNIQUE INDEX m ON t (id, v)",
        "CREATE SINK m INTO into_it AS SELECT v, count(*) FROM t GROUP BY v",
    ];
    for create in creates {
        execute(&client, "SET statement_timeout = 50").await?;
        let error = client.simple_query(create).await.err();
        let code = error.as_ref().and_then(|e| e.as_db_error()).map(|e| e.code().code());
        ensure!(code == Some("57014"), "{create}: {error:?}");
        execute(&client, "RESET statement_timeout").await?;
        let left = "SELECT count(*) FROM pg_class WHERE relname = 'm'";
        ensure!(value(&client, left).await? == "0", "{create} left something");
        execute(&client, create).await?;
        let drop = match create.split_whitespace().find(|word| ["VIEW", "INDEX"].contains(word)) {
            Some("VIEW") => "DROP MATERIALIZED VIEW m",
            Some(_) => "DROP INDEX m",
            None => "DROP SINK m",
        };
        execute(&client, drop).await?;
    }
    server.kill();
    server.check_views()?;
    server.restart().await?;
    let client = server.connect().await?;
    let left = "SELECT string_agg(c.relname, ',' ORDER BY c.relname) FROM pg_class c \
                JOIN pg_namespace n ON n.oid = c.relnamespace \
                WHERE n.nspname = 'public' AND c.relkind <> 'i'";
    let left = value(&client, left).await?;
    ensure!(left == "into_it,t", "{left} is there after the restart");
    Ok(())
}

async fn copy_out(client: &Client, sql: &str) -> Result<usize, tokio_postgres::Error> {
    let parts: Vec<_> = client.copy_out(sql).await?.try_collect().await?;
    Ok(parts.len())
}
