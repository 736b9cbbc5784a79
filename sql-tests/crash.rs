//! The crash test: what was acknowledged is there once, whatever moment the server died at.
//!
//! Writers send numbered statements to two tables and remember what each has left there once it
//! was acknowledged. Views run over the tables and over a generated stream; a reader checks all
//! the while that they agree. The server is killed with `kill -9` at random moments, sometimes
//! again while it recovers. After each restart:
//!
//! - the rows of every acknowledged statement are there, once, as it left them;
//! - a statement whose acknowledgement did not arrive is wholly there or not at all, over both
//!   tables where it was a transaction, and not at all if its COMMIT was never sent;
//! - each view equals its query, computed by batch in the same epoch;
//! - two views over one table agree.
//!
//! At the end the views also equal what PostgreSQL computes from the same rows, the generated
//! stream equals that of a server that was never killed, and `weir check` finds nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rand::Rng;
use rand::rngs::StdRng;
use sqllogictest::harness::Trial;
use tokio_postgres::Client;

use crate::client::{self, execute, query, value};
use crate::harness::{self, trial};
use crate::postgres;
use crate::server::Server;

const KILLS: u64 = 60;
const WRITERS: i64 = 4;
/// Room for a statement's rows among the keys.
const ROWS_MAX: i64 = 1000;
const STREAM_EVENTS: u64 = 20_000;
const STREAM_SECONDS_MAX: u64 = 120;

const TABLES: &str = "
    CREATE TABLE a (id bigint PRIMARY KEY, stmt bigint NOT NULL, v bigint NOT NULL);
    CREATE TABLE b (stmt bigint NOT NULL, a_id bigint NOT NULL, w bigint NOT NULL);";

/// What the rows of a statement are found by; `weir check` compares them with their tables.
const INDEXES: &str = "
    CREATE INDEX ON a (stmt, v);
    CREATE INDEX ON b (stmt);
    CREATE UNIQUE INDEX ON a (id, stmt);";

/// A view that the test keeps and computes anew.
struct View {
    name: &'static str,
    columns: &'static str,
    query: &'static str,
}

/// The views over the tables. `totals` and `over` come to the same numbers on two ways.
const VIEWS: &[View] = &[
    View {
        name: "totals",
        columns: "n, total",
        query: "SELECT count(*) AS n, sum(v) AS total FROM a",
    },
    View {
        name: "joined",
        columns: "id, a_stmt, b_stmt, vw",
        query: "SELECT a.id, a.stmt AS a_stmt, b.stmt AS b_stmt, a.v + b.w AS vw \
                FROM a JOIN b ON b.a_id = a.id",
    },
    View {
        name: "by_stmt",
        columns: "stmt, n, total, low",
        query: "SELECT stmt, count(*) AS n, sum(v) AS total, min(v) AS low FROM a GROUP BY stmt",
    },
    View {
        name: "over",
        columns: "groups, n, total",
        query: "SELECT count(*) AS groups, sum(n) AS n, sum(total) AS total FROM by_stmt",
    },
];

/// The view over the stream, which a table keeps so that batch can read it too.
const STREAM_VIEW: View = View {
    name: "by_channel",
    columns: "channel, n, total, high, last",
    query: "SELECT channel, count(*) AS n, sum(price) AS total, max(auction) AS high, \
            max(date_time) AS last FROM bid GROUP BY channel",
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("crash/kill_9_at_random_moments", crash)]
}

async fn crash() -> Result<()> {
    let kills = harness::number("WEIR_KILLS").unwrap_or(KILLS);
    harness::say(format!("crash: seed {} (WEIR_SEED), {kills} kills", harness::seed()));
    let mut random = harness::random("crash");
    let mut server = Server::start(2).await?;
    set_up(&server.connect().await?).await?;

    let mut writers: Vec<Writer> = (0..WRITERS).map(Writer::new).collect();
    let mut starts = Vec::new();
    for kill in 0..kills {
        let crashed = run_until_killed(&mut server, &mut writers, &mut random).await;
        crashed.with_context(|| format!("before kill {kill}"))?;
        if random.random_ratio(1, 5) {
            server.launch()?;
            tokio::time::sleep(Duration::from_millis(random.random_range(0..200))).await;
            server.kill();
        }
        server.restart().await.with_context(|| format!("after kill {kill}"))?;
        starts.push(server.start_took);
        let client = server.connect().await?;
        check_tables(&client, &mut writers).await.with_context(|| format!("after kill {kill}"))?;
        check_views(&client).await.with_context(|| format!("after kill {kill}"))?;
    }
    starts.sort();
    let statements: usize = writers.iter().map(|writer| writer.left.len()).sum();
    harness::say(format!(
        "crash: {statements} statements acknowledged; start to session took {:?} (median), {:?} \
         (longest)",
        starts.get(starts.len() / 2).copied().unwrap_or_default(),
        starts.last().copied().unwrap_or_default(),
    ));
    compare_with_postgres(&server.connect().await?).await?;
    compare_streams(&server).await?;
    let status = server.stop().await?;
    ensure!(status.success(), "SIGTERM: {status}");
    server.check_views()?;
    Ok(())
}

async fn set_up(client: &Client) -> Result<()> {
    execute(client, TABLES).await?;
    execute(client, &stream_table(1000)).await?;
    execute(client, INDEXES).await?;
    for view in VIEWS.iter().chain([&STREAM_VIEW]) {
        view.create(client).await?;
    }
    Ok(())
}

/// The events follow from their numbers, the times too, whatever the rate.
fn stream_table(rate: u64) -> String {
    format!(
        "CREATE TABLE bid (auction bigint, price bigint, channel text, date_time timestamp) WITH \
         (connector = 'nexmark', event_type = 'bid', events = {STREAM_EVENTS}, rate = {rate}, \
         gap_ns = 100000)"
    )
}

// --- Writing -----------------------------------------------------------------------------------

/// What a numbered statement has left in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Trace {
    a_rows: i64,
    a_sum: i64,
    b_rows: i64,
    b_sum: i64,
}

/// One writer: what it knows survives the server's crashes.
struct Writer {
    number: i64,
    next: i64,
    /// What each acknowledged statement has left.
    left: BTreeMap<i64, Trace>,
    /// The statement that was sent and not acknowledged, and what it leaves if it took effect.
    unknown: Option<(i64, Trace)>,
}

/// What a writer does to the rows of one statement number.
#[derive(Debug, Clone, Copy)]
enum Step {
    InsertA,
    InsertB,
    InsertBoth,
    /// Adds 1000 to each of a's rows.
    Raise(i64),
    /// Takes the rows out of both tables.
    Erase(i64),
}

/// How a writer's run ended.
enum End {
    /// The connection went: the server died.
    Lost,
    Wrong(anyhow::Error),
}

/// Lets the writers and a reader run until a random moment, and kills the server at it.
async fn run_until_killed(
    server: &mut Server,
    writers: &mut Vec<Writer>,
    random: &mut StdRng,
) -> Result<()> {
    let port = server.port;
    let mut running = Vec::new();
    for mut writer in writers.drain(..) {
        let name = format!("writer {} of start {}", writer.number, server.generation);
        let mut random = harness::random(&name);
        running.push(tokio::spawn(async move {
            let end = writer.run(port, &mut random).await;
            (writer, end)
        }));
    }
    let reader = tokio::spawn(read(port));
    tokio::time::sleep(Duration::from_millis(random.random_range(20..1500))).await;
    server.kill();
    for task in running {
        let (writer, end) = task.await?;
        writers.push(writer);
        if let End::Wrong(error) = end {
            return Err(error);
        }
    }
    match reader.await? {
        End::Lost => Ok(()),
        End::Wrong(error) => Err(error),
    }
}

impl Writer {
    fn new(number: i64) -> Self {
        Self { number, next: 0, left: BTreeMap::new(), unknown: None }
    }

    async fn run(&mut self, port: u16, random: &mut StdRng) -> End {
        let client = match client::connect(port, "weir", "weir").await {
            Ok(client) => client,
            Err(error) => return end_of(error),
        };
        loop {
            let step = self.choose(random);
            if let Err(error) = self.take(&client, step, random).await {
                return end_of(error);
            }
            match self.sees_its_own(&client).await {
                Ok(()) => {}
                Err(Seen::Failed(error)) => return end_of(error),
                Err(Seen::Wrong(error)) => return End::Wrong(error),
            }
        }
    }

    fn choose(&self, random: &mut StdRng) -> Step {
        let mut earlier = || {
            let place = random.random_range(0..self.left.len().max(1));
            self.left.keys().nth(place).copied()
        };
        match (earlier(), random.random_range(0..10)) {
            (Some(stmt), 0 | 1) => Step::Raise(stmt),
            (Some(stmt), 2) => Step::Erase(stmt),
            (_, 3..=5) => Step::InsertBoth,
            (_, 6 | 7) => Step::InsertB,
            _ => Step::InsertA,
        }
    }

    /// Sends the statements of `step`, and remembers what they leave once they are acknowledged.
    async fn take(
        &mut self,
        client: &Client,
        step: Step,
        random: &mut StdRng,
    ) -> Result<(), tokio_postgres::Error> {
        let stmt = match step {
            Step::Raise(stmt) | Step::Erase(stmt) => stmt,
            Step::InsertA | Step::InsertB | Step::InsertBoth => {
                self.next += 1;
                self.number * 1_000_000 + self.next
            }
        };
        let rows = if random.random_ratio(1, 20) { 100 } else { random.random_range(1..6) };
        let before = self.left.get(&stmt).copied().unwrap_or_default();
        let (statements, after) = plan(step, stmt, rows, before);
        if let [alone] = statements.as_slice() {
            self.unknown = Some((stmt, after));
            client.batch_execute(alone).await?;
        } else {
            client.batch_execute("BEGIN").await?;
            for statement in &statements {
                client.batch_execute(statement).await?;
            }
            self.unknown = Some((stmt, after));
            client.batch_execute("COMMIT").await?;
        }
        self.unknown = None;
        self.left.insert(stmt, after);
        Ok(())
    }

    /// What was acknowledged is visible at once, in views too.
    async fn sees_its_own(&self, client: &Client) -> Result<(), Seen> {
        let Some((stmt, trace)) = self.left.iter().next_back() else { return Ok(()) };
        let sql = format!("SELECT n, total FROM by_stmt WHERE stmt = {stmt}");
        let rows = client.simple_query(&sql).await.map_err(Seen::Failed)?;
        let seen = rows.iter().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => {
                Some((row.get(0).map(str::to_string), row.get(1).map(str::to_string)))
            }
            _ => None,
        });
        let expected = (trace.a_rows > 0)
            .then(|| (Some(trace.a_rows.to_string()), Some(trace.a_sum.to_string())));
        if seen == expected {
            return Ok(());
        }
        Err(Seen::Wrong(anyhow::anyhow!(
            "statement {stmt} was acknowledged, and a view shows {seen:?}, not {expected:?}"
        )))
    }
}

enum Seen {
    Failed(tokio_postgres::Error),
    Wrong(anyhow::Error),
}

/// The SQL of a step, and what its statement number has left after it.
fn plan(step: Step, stmt: i64, rows: i64, before: Trace) -> (Vec<String>, Trace) {
    let first = stmt * ROWS_MAX;
    let insert_a = || {
        let values: Vec<String> = (0..rows)
            .map(|row| format!("({}, {stmt}, {})", first + row, stmt % 97 + row))
            .collect();
        format!("INSERT INTO a VALUES {}", values.join(", "))
    };
    let insert_b = || {
        // Half of b's rows meet the rows of the statement before this one.
        let values: Vec<String> = (0..rows)
            .map(|row| format!("({stmt}, {}, {row})", first - ROWS_MAX * (row % 2) + row / 2))
            .collect();
        format!("INSERT INTO b VALUES {}", values.join(", "))
    };
    let ramp = rows * (rows - 1) / 2;
    let (a_rows, a_sum) = (rows, stmt % 97 * rows + ramp);
    let (b_rows, b_sum) = (rows, ramp);
    let nothing = Trace::default();
    match step {
        Step::InsertA => (vec![insert_a()], Trace { a_rows, a_sum, ..nothing }),
        Step::InsertB => (vec![insert_b()], Trace { b_rows, b_sum, ..nothing }),
        Step::InsertBoth => (vec![insert_a(), insert_b()], Trace { a_rows, a_sum, b_rows, b_sum }),
        Step::Raise(_) => {
            let last = first + ROWS_MAX;
            let update = format!("UPDATE a SET v = v + 1000 WHERE id >= {first} AND id < {last}");
            (vec![update], Trace { a_sum: before.a_sum + 1000 * before.a_rows, ..before })
        }
        Step::Erase(_) => {
            let from = |table| format!("DELETE FROM {table} WHERE stmt = {stmt}");
            (vec![from("a"), from("b")], nothing)
        }
    }
}

/// An answer from the server is wrong here; no answer is the crash that we make.
fn end_of(error: tokio_postgres::Error) -> End {
    if error.as_db_error().is_some() {
        End::Wrong(client::explain(error).context("while the server ran"))
    } else {
        End::Lost
    }
}

// --- Checking ----------------------------------------------------------------------------------

/// The tables hold what the writers remember; settles what they do not know.
async fn check_tables(client: &Client, writers: &mut [Writer]) -> Result<()> {
    let mut found: BTreeMap<i64, Trace> = BTreeMap::new();
    let a = "SELECT stmt, count(*), sum(v), count(DISTINCT id) FROM a GROUP BY stmt";
    for [stmt, rows, sum, ids] in numbers(client, a).await? {
        ensure!(rows == ids, "statement {stmt}: {rows} rows in a, {ids} keys");
        let trace = found.entry(stmt).or_default();
        (trace.a_rows, trace.a_sum) = (rows, sum);
    }
    let b = "SELECT stmt, count(*), sum(w) FROM b GROUP BY stmt";
    for [stmt, rows, sum] in numbers(client, b).await? {
        let trace = found.entry(stmt).or_default();
        (trace.b_rows, trace.b_sum) = (rows, sum);
    }
    for writer in writers {
        if let Some((stmt, after)) = writer.unknown.take() {
            let before = writer.left.get(&stmt).copied().unwrap_or_default();
            let now = found.get(&stmt).copied().unwrap_or_default();
            ensure!(
                now == before || now == after,
                "statement {stmt} was not acknowledged and is there in part: {now:?}, not \
                 {before:?} or {after:?}"
            );
            writer.left.insert(stmt, now);
        }
        for (stmt, expected) in &writer.left {
            let now = found.remove(stmt).unwrap_or_default();
            ensure!(now == *expected, "statement {stmt} left {expected:?}, found {now:?}");
        }
    }
    ensure!(found.is_empty(), "rows of statements that were never sent: {found:?}");
    Ok(())
}

/// Rows of `N` integers.
async fn numbers<const N: usize>(client: &Client, sql: &str) -> Result<Vec<[i64; N]>> {
    let rows = query(client, sql).await?.rows.into_iter().map(|row| {
        let row: Vec<i64> = row
            .into_iter()
            .map(|cell| Ok(cell.context("NULL")?.parse()?))
            .collect::<Result<_>>()?;
        row.try_into().map_err(|row| anyhow::anyhow!("{row:?}: expected {N} columns"))
    });
    rows.collect()
}

/// Each view equals its query in the same epoch, and the views agree.
async fn check_views(client: &Client) -> Result<()> {
    for view in VIEWS.iter().chain([&STREAM_VIEW]) {
        let rows = query(client, &view.differences()).await?.rows;
        ensure!(rows.is_empty(), "{} is not its query; rows with weights: {rows:?}", view.name);
    }
    ensure!(value(client, AGREE).await? == "t", "totals and over do not agree");
    Ok(())
}

const AGREE: &str = "SELECT totals.n = coalesce(over.n, 0) \
     AND totals.total IS NOT DISTINCT FROM over.total FROM totals, over";

impl View {
    async fn create(&self, client: &Client) -> Result<()> {
        let Self { name, query, .. } = self;
        execute(client, &format!("CREATE MATERIALIZED VIEW {name} AS {query}")).await
    }

    /// A query for the rows by which the view and its query differ, both read as multisets, in
    /// one statement and so in one epoch.
    fn differences(&self) -> String {
        let Self { name, columns, query } = self;
        format!(
            "SELECT {columns}, sum(weight) AS weight FROM (\
             SELECT {columns}, 1 AS weight FROM {name} \
             UNION ALL SELECT {columns}, -1 AS weight FROM ({query}) AS computed) AS both_sides \
             GROUP BY {columns} HAVING sum(weight) <> 0 LIMIT 10"
        )
    }
}

/// Reads all the while: views over one table never disagree.
async fn read(port: u16) -> End {
    let client = match client::connect(port, "weir", "weir").await {
        Ok(client) => client,
        Err(error) => return end_of(error),
    };
    loop {
        match client.simple_query(AGREE).await {
            Err(error) => return end_of(error),
            Ok(messages) => {
                let agree = messages.iter().any(|message| {
                    matches!(message, tokio_postgres::SimpleQueryMessage::Row(row)
                        if row.get(0) == Some("t"))
                });
                if !agree {
                    return End::Wrong(anyhow::anyhow!("totals and over do not agree"));
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// PostgreSQL computes the views from the same rows.
async fn compare_with_postgres(weir: &Client) -> Result<()> {
    let database = postgres::Database::create().await?;
    let oracle = database.connect().await?;
    execute(&oracle, TABLES).await?;
    for table in ["a", "b"] {
        let rows = query(weir, &format!("SELECT * FROM {table}")).await?.rows;
        for some in rows.chunks(5000) {
            let values: Vec<String> = some
                .iter()
                .map(|row| {
                    let cells: Vec<&str> =
                        row.iter().map(|cell| cell.as_deref().unwrap_or("NULL")).collect();
                    format!("({})", cells.join(", "))
                })
                .collect();
            let insert = format!("INSERT INTO {table} VALUES {}", values.join(", "));
            oracle.batch_execute(&insert).await?;
        }
    }
    for View { name, query: definition, .. } in VIEWS {
        execute(&oracle, &format!("CREATE VIEW {name} AS {definition}")).await?;
        let all = format!("SELECT * FROM {name}");
        let (mut ours, mut theirs) = (query(weir, &all).await?, query(&oracle, &all).await?);
        ours.rows.sort();
        theirs.rows.sort();
        ensure!(ours == theirs, "{name} is not what PostgreSQL computes from the same rows");
    }
    Ok(())
}

/// The stream, read through all the crashes, is the stream of a server that had none.
async fn compare_streams(server: &Server) -> Result<()> {
    let crashed = stream_to_its_end(&server.connect().await?).await?;
    let calm = Server::start(2).await?;
    let client = calm.connect().await?;
    execute(&client, &stream_table(100_000)).await?;
    STREAM_VIEW.create(&client).await?;
    let undisturbed = stream_to_its_end(&client).await?;
    ensure!(crashed == undisturbed, "the stream has lost or repeated events");
    Ok(())
}

async fn stream_to_its_end(client: &Client) -> Result<client::Rows> {
    let bids = (STREAM_EVENTS / 50 * 46).to_string();
    for _ in 0..STREAM_SECONDS_MAX * 5 {
        if value(client, "SELECT count(*) FROM bid").await? == bids {
            return query(client, "SELECT * FROM by_channel ORDER BY channel").await;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    bail!("the stream has not come to its {bids} bids in {STREAM_SECONDS_MAX} s")
}
