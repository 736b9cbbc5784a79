//! Running the server: who may connect, what is cancelled, how it stops, who may start it twice.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use sqllogictest::harness::Trial;
use tokio::task::JoinHandle;
use tokio_postgres::CancelToken;
use weir::state::{Store, StoreOptions};
use weir::types::ObjectId;

use crate::client::{self, execute, value};
use crate::harness::{self, send_signal, trial};
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
        trial("operation/state_larger_than_memory", state_larger_than_memory),
        trial("operation/a_row_with_a_million_matches", a_row_with_a_million_matches),
        trial("operation/a_change_that_is_too_large_is_refused", a_change_that_is_too_large),
        trial("operation/a_new_view_delays_nobody", a_new_view_delays_nobody),
        trial("operation/a_view_that_catches_up_is_dropped", a_view_that_catches_up_is_dropped),
        trial("operation/a_view_that_catches_up_is_cancelled", a_view_that_catches_up_is_cancelled),
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
    let client = server.connect().await.map_err(client::explain)?;
    ensure!(value(&client, "SELECT current_user").await? == "weir");
    ensure!(value(&client, "SELECT current_database()").await? == "weir");
    let version = value(&client, "SHOW server_version").await?;
    ensure!(version.starts_with("15."), "server_version {version}");
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

/// Memory that a server with a budget of 64 MB may take at the most: code, caches, and what is on
/// its way.
const SMALL_BYTES_MAX: u64 = 768 << 20;

/// Memory that it may take more for so much more state: what is kept of that lies on the disk.
const SMALL_GROWTH_MAX: u64 = 100 << 20;
const SMALL_STATE_GROWTH_MIN: u64 = 130 << 20;

/// Rows of about a kilobyte that does not compress.
const WIDE_ROWS: usize = 36_000;
const WIDE_BATCH: usize = 1_500;

/// Views whose state does not fit into the memory stay right while rows come, change and go.
async fn state_larger_than_memory() -> Result<()> {
    let mut server = Server::start_small(2, "64MB").await?;
    let client = server.connect().await?;
    execute(
        &client,
        "CREATE TABLE wide (id int PRIMARY KEY, g int, k int, pad text);
         CREATE TABLE names (k int PRIMARY KEY, name text);
         INSERT INTO names SELECT k, 'name ' || k FROM generate_series(0, 4999) AS s(k)",
    )
    .await?;
    let views = [
        "joined AS SELECT w.id, n.name, w.pad FROM wide w JOIN names n ON n.k = w.k",
        "extremes AS SELECT g, min(pad) AS low, max(pad) AS high FROM wide GROUP BY g",
        "distincts AS SELECT k, count(DISTINCT pad) AS n, count(*) AS m FROM wide GROUP BY k",
        "over AS SELECT name, max(pad) AS high FROM joined GROUP BY name",
    ];
    for view in views {
        execute(&client, &format!("CREATE MATERIALIZED VIEW {view}")).await?;
    }
    let hashes: Vec<String> = (0..31).map(|salt| format!("md5(g || ' {salt}')")).collect();
    let pad = hashes.join(" || ");
    let sizes = "SELECT sum(bytes) FROM weir.state_tables";
    let (mut early, mut early_state) = (0, 0);
    for first in (0..WIDE_ROWS).step_by(WIDE_BATCH) {
        let fill = format!(
            "INSERT INTO wide SELECT g, g % 3000, g % 5000, {pad} \
             FROM generate_series({first}, {}) AS s(g)",
            first + WIDE_BATCH - 1
        );
        execute(&client, &fill).await?;
        if first == WIDE_ROWS / 3 {
            early_state = value(&client, sizes).await?.parse()?;
            (_, early) = server.memory()?;
        }
    }
    let state: u64 = value(&client, sizes).await?.parse()?;
    ensure!(
        state > early_state + SMALL_STATE_GROWTH_MIN,
        "state went from {} MB to {} MB only",
        early_state >> 20,
        state >> 20
    );
    let (_, filled) = server.memory()?;
    // Groups and keys from all over: most of them are not in memory.
    for change in [
        "UPDATE wide SET k = (k + 1) % 5000 WHERE id % 17 = 3",
        "UPDATE wide SET pad = md5(pad) || pad WHERE id % 23 = 5",
        "DELETE FROM wide WHERE id % 19 = 7",
        "DELETE FROM names WHERE k % 11 = 4",
    ] {
        execute(&client, change).await?;
    }
    let (_, highest) = server.memory()?;
    harness::say(format!(
        "larger than memory: {} MB resident at the most with {} MB of state, {} with {}, {} after \
         changes all over",
        early >> 20,
        early_state >> 20,
        filled >> 20,
        state >> 20,
        highest >> 20
    ));
    ensure!(highest < SMALL_BYTES_MAX, "{} MB resident at the most", highest >> 20);
    ensure!(filled < early + SMALL_GROWTH_MAX, "memory grows with the state");
    server.kill();
    server.restart().await?;
    let client = server.connect().await?;
    execute(&client, "DELETE FROM wide WHERE id % 29 = 8").await?;
    execute(
        &client,
        "INSERT INTO names SELECT k, 'again' FROM generate_series(4, 4999, 11) AS s(k)",
    )
    .await?;
    let (_, highest) = server.memory()?;
    ensure!(highest < SMALL_BYTES_MAX, "{} MB after the restart", highest >> 20);
    let seen = value(&client, "SELECT sum(m) FROM distincts").await?;
    ensure!(seen == value(&client, "SELECT count(*) FROM wide").await?, "{seen} rows are seen");
    server.kill();
    server.check_views()?;
    Ok(())
}

/// Memory that a server with a budget of 1 GB may take for a row with a million matches.
const MATCHES_BYTES_MAX: u64 = 1 << 30;

/// A row that comes, changes and goes takes a million pairs with it, by key and without one: they
/// are made some at a time.
async fn a_row_with_a_million_matches() -> Result<()> {
    let server = Server::start_small(2, "1GB").await?;
    let client = server.connect().await?;
    execute(
        &client,
        "CREATE TABLE big (id int PRIMARY KEY, k int, v int);
         CREATE TABLE one (k int, n int);
         CREATE MATERIALIZED VIEW pairs AS
             SELECT count(*) AS c, sum(big.v + one.n) AS s FROM one JOIN big ON one.k = big.k;
         CREATE MATERIALIZED VIEW later AS
             SELECT count(*) AS c FROM one JOIN big ON one.n < big.id;
         INSERT INTO big SELECT i, 1, i % 1000 FROM generate_series(1, 500000) AS s(i);
         INSERT INTO big SELECT i, 1, i % 1000 FROM generate_series(500001, 1000000) AS s(i)",
    )
    .await?;
    let seen = "SELECT concat_ws(' ', pairs.c, pairs.s, later.c) FROM pairs, later";
    for (change, expected) in [
        ("INSERT INTO one VALUES (1, 0)", "1000000 499500000 1000000"),
        ("UPDATE one SET n = 5", "1000000 504500000 999995"),
        ("DELETE FROM one", "0 0"),
    ] {
        execute(&client, change).await?;
        let seen = value(&client, seen).await?;
        ensure!(seen == expected, "{change}: {seen}");
    }
    let (_, highest) = server.memory()?;
    harness::say(format!("a million matches: {} MB resident at the most", highest >> 20));
    ensure!(highest < MATCHES_BYTES_MAX, "{} MB resident at the most", highest >> 20);
    Ok(())
}

/// Memory that a server with a budget of 128 MB may take while changes are refused.
const REFUSED_BYTES_MAX: u64 = 512 << 20;

/// Rows whose effect on a view does not fit into the memory are refused, as often as they come;
/// what was there before stays, and what fits goes on.
async fn a_change_that_is_too_large() -> Result<()> {
    let mut server = Server::start_small(2, "128MB").await?;
    let mut client = server.connect().await?;
    execute(
        &client,
        "CREATE TABLE a (id int PRIMARY KEY);
         CREATE TABLE b (id int PRIMARY KEY);
         CREATE MATERIALIZED VIEW pairs AS SELECT a.id AS a, b.id AS b FROM a CROSS JOIN b;
         INSERT INTO a SELECT i FROM generate_series(1, 2000) AS s(i);
         INSERT INTO b SELECT i FROM generate_series(1, 10) AS s(i)",
    )
    .await?;
    for round in 0..2 {
        for _ in 0..4 {
            let outcome = client
                .batch_execute("INSERT INTO b SELECT i FROM generate_series(101, 1100) AS s(i)")
                .await;
            let error = outcome.expect_err("two million pairs fit");
            let error = error.as_db_error().context("an error of the server")?;
            ensure!(error.code().code() == "53200", "{error:?}");
            ensure!(error.hint().is_some_and(|hint| hint.contains("--memory")), "{error:?}");
        }
        let seen = "SELECT concat_ws(' ', count(*), (SELECT count(*) FROM b)) FROM pairs";
        let before = 10 + 10 * round;
        let rows = value(&client, seen).await?;
        ensure!(rows == format!("{} {before}", before * 2000), "{rows}");
        let more = format!("INSERT INTO b SELECT i + {before} FROM generate_series(1, 10) AS s(i)");
        execute(&client, &more).await?;
        let rows = value(&client, seen).await?;
        ensure!(rows == format!("{} {}", (before + 10) * 2000, before + 10), "{rows}");
        let (_, highest) = server.memory()?;
        harness::say(format!("too large a change: {} MB resident at the most", highest >> 20));
        ensure!(highest < REFUSED_BYTES_MAX, "{} MB resident at the most", highest >> 20);
        server.kill();
        server.restart().await?;
        client = server.connect().await?;
    }
    Ok(())
}

/// A table that a view takes long to read: each row meets many others.
pub(crate) const MANY: &str = "
    CREATE TABLE big (id int PRIMARY KEY, g int);
    INSERT INTO big SELECT g, g % 600 FROM generate_series(1, 24000) AS s(g);
    CREATE TABLE small (id int PRIMARY KEY);
    CREATE MATERIALIZED VIEW small_n AS SELECT count(*) AS n FROM small;
    CREATE MATERIALIZED VIEW big_n AS SELECT count(*) AS n, sum(g) AS s FROM big";

/// Too long for whoever waits for a statement that has nothing to wait for.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) const HEAVY: &str = "SELECT a.g, count(*) AS n, max(a.id + b.id) AS high, \
     count(DISTINCT b.id) AS d \
     FROM big a JOIN big b ON a.g = b.g AND a.id % 7 <> b.id % 5 GROUP BY a.g";

/// Starts to create the view `heavy` in a session of its own, and waits until it reads.
async fn create_heavy(server: &Server) -> Result<(JoinHandle<Result<()>>, CancelToken)> {
    let client = server.connect().await?;
    let cancel = client.cancel_token();
    let sql = format!("CREATE MATERIALIZED VIEW heavy AS {HEAVY}");
    let creating = tokio::spawn(async move { execute(&client, &sql).await });
    let client = server.connect().await?;
    while rows_read(&client).await?.is_none_or(|rows| rows == 0) {
        ensure!(!creating.is_finished(), "{:?}", creating.await?);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok((creating, cancel))
}

/// How far `heavy` has read while it catches up.
async fn rows_read(client: &tokio_postgres::Client) -> Result<Option<u64>> {
    let jobs = "SELECT rows_read FROM weir.jobs WHERE name = 'heavy' AND state = 'catching up'";
    let rows = client::query(client, jobs).await?.rows;
    rows.first().and_then(|row| row[0].as_deref()).map(|rows| Ok(rows.parse()?)).transpose()
}

/// While a view reads its inputs, whoever writes to them or elsewhere is acknowledged and seen as
/// if it were not there.
async fn a_new_view_delays_nobody() -> Result<()> {
    let server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, MANY).await?;
    let (creating, _) = create_heavy(&server).await?;
    let (mut acknowledged, mut progress) = (0, 0);
    loop {
        let Some(before) = rows_read(&client).await? else { break };
        ensure!(before >= progress, "progress went from {progress} rows to {before}");
        progress = before;
        let next = acknowledged + 1;
        let insert = format!("INSERT INTO small VALUES ({next})");
        let change = format!("UPDATE big SET g = (g + 1) % 600 WHERE id = {next}");
        for sql in [insert, change] {
            let done = tokio::time::timeout(PATIENCE, execute(&client, &sql));
            done.await.context("a statement waits for the new view")??;
        }
        ensure!(value(&client, "SELECT n FROM small_n").await? == next.to_string(), "not visible");
        let sum = value(&client, "SELECT s FROM big_n").await?;
        ensure!(value(&client, "SELECT sum(g) FROM big").await? == sum, "the views do not agree");
        if rows_read(&client).await?.is_some() {
            acknowledged = next;
        }
    }
    creating.await??;
    harness::say(format!("a new view: {acknowledged} times two writes while it caught up"));
    ensure!(acknowledged >= 10, "{acknowledged} writes were acknowledged while it caught up");
    let differences = format!(
        "SELECT count(*) FROM (SELECT * FROM heavy EXCEPT SELECT * FROM ({HEAVY}) AS q) AS d"
    );
    ensure!(value(&client, &differences).await? == "0", "the new view is not its query");
    ensure!(value(&client, "SELECT count(*) FROM heavy").await? == "600", "groups are missing");
    execute(&client, "UPDATE big SET g = 0 WHERE id % 100 = 0").await?;
    ensure!(value(&client, &differences).await? == "0", "the new view does not follow");
    Ok(())
}

/// Nothing of object `object` is in the folder of the killed server, under whatever name.
pub(crate) fn nothing_left(server: &mut Server, object: u32) -> Result<()> {
    server.kill();
    let store = Store::open(
        &server.data(),
        StoreOptions { cache_bytes: 8 << 20, epoch_bytes_max: usize::MAX },
    )?;
    let snapshot = store.snapshot();
    let tables = snapshot.tables(ObjectId(object))?;
    ensure!(tables.is_empty(), "state of a view that is gone: {tables:?}");
    let progress = weir::checkpoint::detached::progress_key(ObjectId(object));
    ensure!(snapshot.meta(&progress)?.is_none(), "progress of a view that is gone");
    Ok(())
}

async fn a_view_that_catches_up_is_dropped() -> Result<()> {
    let mut server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, MANY).await?;
    let (creating, _) = create_heavy(&server).await?;
    let object: u32 =
        value(&client, "SELECT id FROM weir.jobs WHERE name = 'heavy'").await?.parse()?;
    let dropping = execute(&client, "DROP MATERIALIZED VIEW heavy");
    tokio::time::timeout(PATIENCE, dropping).await.context("DROP waits for the view")??;
    ensure!(creating.await?.is_err(), "a view that was dropped was created");
    execute(&client, "CREATE MATERIALIZED VIEW heavy AS SELECT count(*) AS n FROM big").await?;
    ensure!(value(&client, "SELECT n FROM heavy").await? == "24000", "the new view is wrong");
    nothing_left(&mut server, object)
}

async fn a_view_that_catches_up_is_cancelled() -> Result<()> {
    let mut server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, MANY).await?;
    let (creating, cancel) = create_heavy(&server).await?;
    let object: u32 =
        value(&client, "SELECT id FROM weir.jobs WHERE name = 'heavy'").await?.parse()?;
    cancel.cancel_query(tokio_postgres::NoTls).await?;
    let outcome = tokio::time::timeout(PATIENCE, creating).await.context("it goes on")??;
    let error = outcome.err().context("a view that was cancelled was created")?;
    ensure!(format!("{error:#}").contains("57014"), "{error:#}");
    // At once: whoever is told that the view was not made finds its name free.
    execute(&client, "CREATE MATERIALIZED VIEW heavy AS SELECT count(*) AS n FROM big").await?;
    ensure!(value(&client, "SELECT n FROM heavy").await? == "24000", "the new view is wrong");
    nothing_left(&mut server, object)
}
