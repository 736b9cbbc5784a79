//! ALTER TABLE of columns: nothing that reads the table is built again, writers write meanwhile,
//! and a server that dies in the middle leaves the table as it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sqllogictest::harness::Trial;
use tokio_postgres::Client;

use crate::client::{execute, query, value};
use crate::harness::trial;
use crate::server::Server;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("alter/nothing_is_built_again", nothing_is_built_again),
        trial("alter/prepared_statements", prepared_statements),
        trial("alter/a_view_that_catches_up_goes_on", a_view_that_catches_up_goes_on),
        trial("alter/watched", watched),
    ];
    for parallelism in [1, 4] {
        let name = format!("alter/writers_write_meanwhile/{parallelism}");
        trials.push(trial(name, move || writers_write_meanwhile(parallelism)));
    }
    for place in ["alter-reserved", "alter-filled", "alter-columns"] {
        let failpoint: &'static str = match place {
            "alter-reserved" => "alter-reserved=sleep(60000)",
            "alter-filled" => "alter-filled=1*off->sleep(60000)",
            _ => "alter-columns=sleep(60000)",
        };
        trials.push(trial(format!("alter/death_at/{place}"), move || death_at(failpoint)));
    }
    trials
}

const OBJECTS: &str = "
    CREATE TABLE t (id int PRIMARY KEY, a int, b text, c int NOT NULL DEFAULT 0);
    CREATE TABLE h (a int, b text);
    CREATE TABLE target (n bigint, k int);
    CREATE TABLE copies (id int, a int, b text, c int);
    INSERT INTO t SELECT i, i % 10, chr(97 + i % 7), i FROM generate_series(1, 500) AS g (i);
    INSERT INTO h SELECT i % 4, 'h' || i FROM generate_series(1, 50) AS g (i);
    CREATE UNIQUE INDEX by_id ON t (id, a);
    CREATE INDEX by_a ON t (a);
    CREATE INDEX h_a ON h (a);
    CREATE VIEW evens AS SELECT * FROM t WHERE a % 2 = 0;
    CREATE FUNCTION most() RETURNS int LANGUAGE sql RETURN (SELECT max(a) FROM t);
    CREATE MATERIALIZED VIEW sums AS SELECT t.b, sum(a) AS sum, count(*) FROM t GROUP BY t.b;
    CREATE MATERIALIZED VIEW joined AS SELECT t.id, a, h.b FROM t JOIN h USING (a);
    CREATE MATERIALIZED VIEW ranked AS SELECT id, rank() OVER (PARTITION BY b ORDER BY a, id) AS r
        FROM evens;
    CREATE MATERIALIZED VIEW nested AS SELECT x.b FROM t x
        WHERE EXISTS (SELECT FROM h WHERE h.a = x.a AND h.b > 'h2') AND x.a < most();
    CREATE MATERIALIZED VIEW named AS SELECT id, t.a AS x FROM t WHERE c > 5;
    CREATE MATERIALIZED VIEW whole AS SELECT * FROM h;
    CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM h;
    CREATE MATERIALIZED VIEW above AS SELECT max(sum) AS top FROM sums;
    CREATE SINK pour INTO target (n) AS SELECT a + 1::bigint AS n FROM evens;
    CREATE SINK copy INTO copies FROM t;";

/// What changes without anything that reads the tables being changed.
const CHANGES: &[&str] = &[
    "ALTER TABLE t ADD COLUMN d int DEFAULT 4",
    "ALTER TABLE h ADD COLUMN c text DEFAULT 'c' NOT NULL, ADD COLUMN d serial",
    "ALTER TABLE t ALTER COLUMN d SET NOT NULL, ALTER COLUMN a SET NOT NULL",
    "ALTER TABLE t ADD COLUMN e int GENERATED ALWAYS AS (a + 1) STORED",
    "ALTER TABLE t ALTER COLUMN d TYPE text",
    "ALTER TABLE t RENAME COLUMN a TO amount",
    "ALTER TABLE t ADD COLUMN a boolean",
    "ALTER TABLE t DROP COLUMN d",
    "ALTER TABLE h ALTER COLUMN c DROP NOT NULL",
    "ALTER TABLE h DROP COLUMN c",
    "ALTER TABLE target DROP COLUMN k",
    "ALTER TABLE target ADD COLUMN more text DEFAULT 'm'",
];

const VIEWS: [&str; 9] =
    ["evens", "sums", "joined", "ranked", "nested", "named", "whole", "counted", "above"];

/// Writes that touch rows of before and of after.
fn writes(round: usize) -> String {
    let amount = if round >= 5 { "amount" } else { "a" };
    format!(
        "INSERT INTO t (id, {amount}, b) VALUES (1000 + {round}, {round} % 10, 'n');
         UPDATE t SET c = c + 1 WHERE id % 50 = {round};
         DELETE FROM t WHERE id = {round} * 7;
         INSERT INTO h (a, b) VALUES ({round}, 'h{round}'), ({round}, 'h{round}');
         DELETE FROM h WHERE b = 'h' || ({round} * 3)"
    )
}

async fn nothing_is_built_again() -> Result<()> {
    let mut server = Server::start(2).await?;
    let mut client = server.connect().await?;
    execute(&client, OBJECTS).await?;
    for (round, change) in CHANGES.iter().enumerate() {
        execute(&client, change).await.with_context(|| change.to_string())?;
        execute(&client, &writes(round)).await?;
        views_are_what_they_show(&client, &VIEWS, round).await.with_context(|| *change)?;
        if round % 4 == 1 {
            server.kill();
            server.restart().await?;
            client = started(&server).await?;
        }
    }
    server.kill();
    server.restart().await?;
    let client = started(&server).await?;
    execute(&client, &writes(20)).await?;
    views_are_what_they_show(&client, &VIEWS, 99).await?;
    execute(&client, "FLUSH").await?;
    let poured = value(&client, "SELECT count(*) FROM target").await?;
    let even = value(&client, "SELECT count(*) FROM evens").await?;
    ensure!(poured == even, "the sink has {poured} of {even} rows");
    let difference = "SELECT count(*) FROM ((SELECT id, amount, b, c FROM t EXCEPT ALL
        SELECT * FROM copies) UNION ALL (SELECT * FROM copies EXCEPT ALL
        SELECT id, amount, b, c FROM t)) AS d";
    ensure!(value(&client, difference).await? == "0", "the copy is another");
    server.stop().await?;
    server.check_views()?;
    Ok(())
}

/// After a start: nothing was built again.
async fn started(server: &Server) -> Result<Client> {
    for line in ["built again", "cannot be planned"] {
        let logged = server.logged(line);
        ensure!(logged.is_empty(), "{logged:?}");
    }
    server.connect().await.map_err(Into::into)
}

/// Views have what their queries, as they are shown, give today.
async fn views_are_what_they_show(client: &Client, views: &[&str], round: usize) -> Result<()> {
    for view in views {
        let shown = value(client, &format!("SELECT pg_get_viewdef('{view}'::regclass)")).await?;
        let copy = format!("copy_{view}_{round}");
        execute(client, &format!("CREATE VIEW {copy} AS {shown}"))
            .await
            .with_context(|| format!("{view} as it is shown: {shown}"))?;
        let columns = |view: &str| format!("SELECT * FROM {view} LIMIT 0");
        let own = query(client, &columns(view)).await?;
        let copied = query(client, &columns(&copy)).await?;
        ensure!(own.names == copied.names, "{view}: {shown}");
        let differences = value(
            client,
            &format!(
                "WITH one AS (SELECT * FROM {view}), other AS (SELECT * FROM {copy}) \
                 SELECT count(*) FROM ((SELECT * FROM one EXCEPT ALL SELECT * FROM other) UNION ALL \
                 (SELECT * FROM other EXCEPT ALL SELECT * FROM one)) AS d"
            ),
        )
        .await?;
        ensure!(differences == "0", "{view} and what is shown of it: {shown}");
        execute(client, &format!("DROP VIEW {copy}")).await?;
    }
    Ok(())
}

/// Rows that writers write while a column comes and goes.
const ROUNDS: usize = 12;

async fn writers_write_meanwhile(parallelism: usize) -> Result<()> {
    let mut server = Server::start(parallelism).await?;
    let client = server.connect().await?;
    execute(
        &client,
        "CREATE TABLE t (id int PRIMARY KEY, v int);
         CREATE TABLE h (v int);
         CREATE INDEX t_v ON t (v);
         CREATE MATERIALIZED VIEW sums AS SELECT v % 5 AS k, count(*) AS n, sum(id) AS s FROM t
             GROUP BY v % 5;
         CREATE MATERIALIZED VIEW pairs AS SELECT t.id, h.v FROM t JOIN h USING (v);
         CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM h",
    )
    .await?;
    let stop = Arc::new(AtomicBool::new(false));
    let next = Arc::new(AtomicI64::new(1));
    let mut writers = Vec::new();
    for writer in 0..3 {
        let (client, stop, next) = (server.connect().await?, Arc::clone(&stop), Arc::clone(&next));
        writers.push(tokio::spawn(async move {
            let mut written = 0;
            while !stop.load(Ordering::Relaxed) {
                let id = next.fetch_add(1, Ordering::Relaxed);
                let sql = match writer {
                    0 => format!("INSERT INTO t (id, v) VALUES ({id}, {id} % 20)"),
                    1 => format!(
                        "BEGIN; INSERT INTO t (id, v) VALUES ({id}, {id} % 20);
                         INSERT INTO h (v) VALUES ({id} % 20); COMMIT"
                    ),
                    _ => format!(
                        "INSERT INTO t VALUES ({id}, {id} % 20);
                         UPDATE t SET v = v + 1 WHERE id = {id} - 3;
                         DELETE FROM t WHERE id = {id} - 9"
                    ),
                };
                execute(&client, &sql).await?;
                written += 1;
            }
            Ok::<i64, anyhow::Error>(written)
        }));
    }
    for round in 0..ROUNDS {
        let name = format!("c{round}");
        execute(&client, &format!("ALTER TABLE t ADD COLUMN {name} int DEFAULT {round}")).await?;
        execute(
            &client,
            &format!("ALTER TABLE h ADD COLUMN {name} bigint GENERATED ALWAYS AS (v * 2) STORED"),
        )
        .await?;
        let lacking = format!("SELECT count(*) FROM t WHERE {name} IS DISTINCT FROM {round}");
        ensure!(value(&client, &lacking).await? == "0", "rows without {name}");
        let lacking = format!("SELECT count(*) FROM h WHERE {name} IS DISTINCT FROM v * 2");
        ensure!(value(&client, &lacking).await? == "0", "rows of h without {name}");
        let sums = "SELECT count(*) FROM (SELECT v % 5, count(*), sum(id) FROM t GROUP BY v % 5
            EXCEPT SELECT k, n, s FROM sums) AS d";
        ensure!(value(&client, sums).await? == "0", "sums are wrong after {name} came");
        if round % 3 != 2 {
            execute(&client, &format!("ALTER TABLE t DROP COLUMN {name}")).await?;
        }
        execute(&client, &format!("ALTER TABLE h ALTER COLUMN v SET NOT NULL, DROP COLUMN {name}"))
            .await?;
        let pairs = "SELECT count(*) FROM (SELECT t.id, h.v FROM t JOIN h USING (v)
            EXCEPT ALL SELECT * FROM pairs) AS d";
        ensure!(value(&client, pairs).await? == "0", "pairs are wrong after {name} went");
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        let written = writer.await??;
        ensure!(written > 0, "a writer wrote nothing");
    }
    let indexed = "SELECT count(*) FROM t WHERE v = 7";
    let all = "SELECT count(*) FROM t WHERE v + 0 = 7";
    ensure!(value(&client, indexed).await? == value(&client, all).await?, "the index is wrong");
    server.kill();
    server.restart().await?;
    started(&server).await?;
    server.stop().await?;
    server.check_views()?;
    Ok(())
}

/// The process dies in the middle of a change that writes rows: it has not happened.
async fn death_at(failpoint: &'static str) -> Result<()> {
    let mut server = Server::start_failing(2, Some(failpoint)).await?;
    let client = server.connect().await?;
    execute(
        &client,
        "CREATE TABLE t (id int PRIMARY KEY, v int);
         INSERT INTO t SELECT i, i % 7 FROM generate_series(1, 30000) AS g (i);
         CREATE INDEX t_v ON t (v);
         CREATE MATERIALIZED VIEW m AS SELECT v, count(*) AS n FROM t GROUP BY v",
    )
    .await?;
    let change = "ALTER TABLE t ADD COLUMN n bigint GENERATED BY DEFAULT AS IDENTITY,
        ALTER COLUMN v TYPE text USING 'v' || v, ADD COLUMN d int DEFAULT 5";
    let other = "ALTER TABLE t ADD COLUMN n bigint GENERATED BY DEFAULT AS IDENTITY,
        ADD COLUMN d int DEFAULT 5";
    ensure!(client.simple_query(change).await.is_err(), "a view reads v");
    let changing = tokio::spawn({
        let client = server.connect().await?;
        async move { client.simple_query(other).await.is_ok() }
    });
    tokio::time::sleep(Duration::from_secs(2)).await;
    server.kill();
    ensure!(!changing.await?, "the change was made before the server was killed");
    server.restart().await?;
    let client = started(&server).await?;
    let columns = "SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = 't'::regclass AND attnum > 0";
    ensure!(value(&client, columns).await? == "id,v", "something is left");
    let rows = "SELECT count(*) || ' ' || sum(id) || ' ' || sum(v) FROM t";
    let before = value(&client, rows).await?;
    ensure!(before.starts_with("30000 450015000 "), "{before}");
    execute(&client, "UPDATE t SET v = 100 WHERE id = 3; DELETE FROM t WHERE id = 4").await?;
    execute(&client, other).await?;
    let numbers = "SELECT count(DISTINCT n) || ' ' || count(n) || ' ' || sum(d) FROM t";
    let numbered = value(&client, numbers).await?;
    ensure!(numbered == "29999 29999 149995", "{numbered}");
    let sums = "SELECT count(*) FROM (SELECT v, count(*) FROM t GROUP BY v
        EXCEPT SELECT v, n FROM m) AS d";
    ensure!(value(&client, sums).await? == "0", "the view is wrong");
    server.stop().await?;
    server.check_views()?;
    Ok(())
}

/// What is prepared goes on if it gives what it gave.
async fn prepared_statements() -> Result<()> {
    let server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, "CREATE TABLE t (id int PRIMARY KEY, a int); INSERT INTO t VALUES (1, 2)")
        .await?;
    let all = client.prepare("SELECT * FROM t").await?;
    let some = client.prepare("SELECT a FROM t WHERE id = $1").await?;
    let insert = client.prepare("INSERT INTO t (id, a) VALUES ($1, $2)").await?;
    execute(&client, "ALTER TABLE t ADD COLUMN b int DEFAULT 9").await?;
    let error = client.query(&all, &[]).await.err();
    let error = error.as_ref().and_then(|error| error.as_db_error());
    let error = error.map(|error| (error.code().code(), error.message()));
    let expected = Some(("0A000", "cached plan must not change result type"));
    ensure!(error == expected, "{error:?}");
    client.execute(&insert, &[&2i32, &3i32]).await?;
    let rows = client.query(&some, &[&2i32]).await?;
    ensure!(rows.len() == 1 && rows[0].get::<_, i32>(0) == 3, "{rows:?}");
    execute(&client, "ALTER TABLE t DROP COLUMN b").await?;
    let rows = client.query(&all, &[]).await?;
    ensure!(rows.len() == 2, "{rows:?}");
    Ok(())
}

/// A view that reads the table while it changes is right in the end.
async fn a_view_that_catches_up_goes_on() -> Result<()> {
    let mut server = Server::start_failing(2, Some("backfill-chunk=sleep(150)")).await?;
    let client = server.connect().await?;
    execute(
        &client,
        "CREATE TABLE t (id int PRIMARY KEY, v int, w int);
         INSERT INTO t SELECT i, i % 7, i FROM generate_series(1, 100000) AS g (i)",
    )
    .await?;
    let creating = tokio::spawn({
        let client = server.connect().await?;
        let view =
            "CREATE MATERIALIZED VIEW m AS SELECT v, count(*) AS n, sum(id) FROM t GROUP BY v";
        async move { execute(&client, view).await }
    });
    let read = "SELECT coalesce(max(rows_read), 0) FROM weir.jobs WHERE name = 'm'";
    while value(&client, read).await?.parse::<u64>()? == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    execute(&client, "ALTER TABLE t ADD COLUMN x int DEFAULT 3, DROP COLUMN w").await?;
    execute(&client, "UPDATE t SET v = v + 1 WHERE id % 1000 = 0; DELETE FROM t WHERE id < 50")
        .await?;
    execute(&client, "ALTER TABLE t ADD COLUMN y bigint GENERATED ALWAYS AS (id * 2) STORED")
        .await?;
    execute(&client, "INSERT INTO t (id, v) VALUES (200000, 3), (200001, 9)").await?;
    creating.await??;
    let sums = "SELECT count(*) FROM (SELECT v, count(*), sum(id) FROM t GROUP BY v
        EXCEPT SELECT * FROM m) AS d";
    ensure!(value(&client, sums).await? == "0", "the view is wrong");
    server.kill();
    server.restart().await?;
    started(&server).await?;
    server.stop().await?;
    server.check_views()?;
    Ok(())
}

/// A subscription's changes of before and after have the columns that there are when they are
/// read.
async fn watched() -> Result<()> {
    let server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(
        &client,
        "CREATE TABLE t (id int PRIMARY KEY, a int);
         CREATE SUBSCRIPTION s FROM t WITH (retention = '1 hour');
         INSERT INTO t VALUES (1, 10)",
    )
    .await?;
    execute(&client, "ALTER TABLE t ADD COLUMN b int DEFAULT 7").await?;
    execute(&client, "INSERT INTO t VALUES (2, 20, 30)").await?;
    execute(&client, "DECLARE c SUBSCRIPTION CURSOR FOR s SINCE begin()").await?;
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let rows = query(&client, "FETCH 10 FROM c WITH (timeout = '5s')").await?;
        let place = |name: &str| rows.names.iter().position(|own| own == name);
        let (id, b) = (place("id").context("no id")?, place("b").context("no b")?);
        ensure!(!rows.rows.is_empty(), "nothing more than {seen:?}");
        seen.extend(rows.rows.iter().map(|row| (row[id].clone(), row[b].clone())));
    }
    let pair = |id: &str, b: &str| (Some(id.to_owned()), Some(b.to_owned()));
    ensure!(seen == [pair("1", "7"), pair("2", "30")], "{seen:?}");
    let error = client.simple_query("ALTER TABLE t DROP COLUMN b").await.err();
    let code = error.as_ref().and_then(|e| e.as_db_error()).map(|e| e.code().code().to_owned());
    ensure!(code.as_deref() == Some("2BP01"), "{error:?}");
    Ok(())
}
