//! SUBSCRIBE over the wire: rows that come while the statement runs, their sums against the tables
//! and against SELECT, and how it ends.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::{Stream, StreamExt, pin_mut};
use rand::Rng;
use rand::rngs::StdRng;
use sqllogictest::harness::Trial;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, NoTls, Row, SimpleQueryMessage};
use weir::state::{Store, StoreOptions};
use weir::types::{Epoch, ObjectId};

use crate::client::{self, execute, value};
use crate::harness::{self, trial};
use crate::server::Server;

/// How long something may take that is to happen at once.
const AT_ONCE: Duration = Duration::from_secs(1);

/// How long something may take that has work to do.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("subscribe/sums_equal_the_view_at_every_epoch", sums_equal_the_view),
        trial("subscribe/rows_come_before_the_end", rows_come_before_the_end),
        trial("subscribe/who_goes_is_forgotten", who_goes_is_forgotten),
        trial("subscribe/who_does_not_read_is_sent_away", who_does_not_read_is_sent_away),
        trial("subscribe/cursors_wait_as_long_as_they_are_told", cursors_wait),
        trial("subscribe/as_of_an_epoch", as_of_an_epoch),
        trial("subscribe/a_drop_ends_it", a_drop_ends_it),
        trial("subscribe/subscriptions_outlive_kill_9", subscriptions_outlive_kills),
        trial("subscribe/subscriptions_keep_for_a_time", subscriptions_keep_for_a_time),
    ]
}

/// Rows and how often each is there.
type Sums = BTreeMap<Vec<Option<i64>>, i64>;

/// How long a subscription keeps changes: longer than a test's statements take on a busy machine.
const KEPT: Duration = Duration::from_secs(15);

/// A relation's rows, summed up to an epoch.
#[derive(Default)]
struct Summed {
    sums: Sums,
    /// All up to here is in it.
    epoch: i64,
}

impl Summed {
    /// Takes rows until an epoch is complete; false at the end.
    async fn take<S>(&mut self, rows: &mut S) -> Result<bool>
    where
        S: Stream<Item = Result<Row, tokio_postgres::Error>> + Unpin,
    {
        while let Some(row) = rows.next().await {
            let row = row.map_err(client::explain)?;
            let epoch: i64 = row.get("epoch");
            ensure!(epoch >= self.epoch, "epoch {epoch} after {}", self.epoch);
            if row.get("progressed") {
                self.epoch = epoch;
                return Ok(true);
            }
            let values = (3..row.len()).map(|column| row.get(column)).collect();
            self.add(values, row.get("diff"));
        }
        Ok(false)
    }

    fn add(&mut self, values: Vec<Option<i64>>, diff: i64) {
        let sum = self.sums.entry(values.clone()).or_default();
        *sum += diff;
        if *sum == 0 {
            self.sums.remove(&values);
        }
    }
}

/// What the view has over these rows of its table.
fn grouped(table: &Sums) -> Sums {
    let mut groups: BTreeMap<Option<i64>, (i64, i64)> = BTreeMap::new();
    for (row, count) in table {
        let group = groups.entry(row[1]).or_default();
        group.0 += count;
        group.1 += row[2].unwrap_or(0) * count;
    }
    groups.into_iter().map(|(g, (n, total))| (vec![g, Some(n), Some(total)], 1)).collect()
}

const OBJECTS: &str = "
    CREATE TABLE src (id bigint PRIMARY KEY, g bigint, v bigint);
    INSERT INTO src SELECT i, i % 5, i FROM generate_series(1, 100) AS s (i);
    CREATE MATERIALIZED VIEW per_g AS
        SELECT g, count(*) AS n, sum(v)::bigint AS total FROM src GROUP BY g;";

/// At every epoch the sum of the view's changes is the view's query over the sum of its table's,
/// while rows come, change and go; at the end both are what SELECT says.
async fn sums_equal_the_view() -> Result<()> {
    let server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, OBJECTS).await?;
    let writers: Vec<_> =
        (0..2).map(|number| write(&server, harness::random(&format!("writer {number}")))).collect();
    let (of_table, of_view) = (server.connect().await?, server.connect().await?);
    let table_rows = subscribe(&of_table, "SUBSCRIBE TO src WITH (PROGRESS)").await?;
    let view_rows = subscribe(&of_view, "SUBSCRIBE TO per_g WITH (PROGRESS)").await?;
    pin_mut!(table_rows, view_rows);
    let (mut table, mut view) = (Summed::default(), Summed::default());
    let mut history: BTreeMap<i64, Sums> = BTreeMap::new();
    let until = Instant::now() + Duration::from_secs(8);
    let mut epochs = 0;
    while Instant::now() < until {
        ensure!(view.take(&mut view_rows).await?, "the view's rows ended");
        while table.epoch < view.epoch {
            ensure!(table.take(&mut table_rows).await?, "the table's rows ended");
            history.insert(table.epoch, grouped(&table.sums));
        }
        // An epoch that changes nothing of the table may not be among those told.
        let (at, expected) = history.range(..=view.epoch).next_back().context("no rows before")?;
        ensure!(view.sums == *expected, "{:?} at epoch {}: {expected:?}", view.sums, view.epoch);
        history = history.split_off(&at.clone());
        epochs += 1;
    }
    let mut written = 0;
    for (stop, writer) in writers {
        stop.send(()).ok();
        written += writer.await??;
    }
    let newest: i64 = value(&client, "SELECT max(epoch) FROM weir.epochs").await?.parse()?;
    while view.epoch < newest {
        view.take(&mut view_rows).await?;
    }
    let selected = client.query("SELECT g, n, total FROM per_g", &[]).await?;
    let selected: Sums =
        selected.iter().map(|row| ((0..3).map(|column| row.get(column)).collect(), 1)).collect();
    ensure!(view.sums == selected, "{:?} where SELECT has {selected:?}", view.sums);
    harness::say(format!("subscribe: {epochs} epochs compared, {written} statements written"));
    ensure!(epochs > 20 && written > 20, "{epochs} epochs, {written} statements");
    Ok(())
}

async fn subscribe(
    client: &Client,
    sql: &str,
) -> Result<impl Stream<Item = Result<Row, tokio_postgres::Error>> + use<>> {
    let rows = client.query_raw(sql, std::iter::empty::<&i64>()).await;
    rows.map_err(client::explain).context(sql.to_owned())
}

/// Writes until it is told to stop; how many statements.
fn write(
    server: &Server,
    mut random: StdRng,
) -> (tokio::sync::oneshot::Sender<()>, JoinHandle<Result<u64>>) {
    let (stop, mut stopped) = tokio::sync::oneshot::channel();
    let port = server.port;
    let task = tokio::spawn(async move {
        let client = client::connect(port, "weir", "weir").await?;
        let mut written = 0;
        while stopped.try_recv().is_err() && !client.is_closed() {
            let (id, many) = (random.random_range(0..300), random.random_range(1..40));
            let sql = match random.random_range(0..4) {
                0 | 1 => format!(
                    "INSERT INTO src SELECT {id} + i, ({id} + i) % 5, i FROM \
                     generate_series(1, {many}) AS s (i) \
                     ON CONFLICT (id) DO UPDATE SET v = src.v + 1"
                ),
                2 => format!("UPDATE src SET g = (g + 1) % 5, v = v + {many} WHERE id % 7 = 3"),
                _ => format!("DELETE FROM src WHERE id BETWEEN {id} AND {id} + {many}"),
            };
            // Two writers of the same rows may have to try again.
            if execute(&client, &sql).await.is_ok() {
                written += 1;
            }
        }
        Ok(written)
    });
    (stop, task)
}

/// The next row within a second, as text.
async fn next_line(
    rows: &mut (impl Stream<Item = Result<SimpleQueryMessage, tokio_postgres::Error>> + Unpin),
) -> Result<Vec<Option<String>>> {
    let next = async {
        loop {
            match rows.next().await.context("the rows ended")?.map_err(client::explain)? {
                SimpleQueryMessage::Row(row) => {
                    let values = (1..row.len()).map(|index| row.get(index).map(str::to_owned));
                    return Ok(values.collect());
                }
                SimpleQueryMessage::RowDescription(_) => {}
                other => bail!("{other:?} instead of a row"),
            }
        }
    };
    tokio::time::timeout(AT_ONCE, next).await.context("no row within a second")?
}

fn line(values: &[&str]) -> Vec<Option<String>> {
    values.iter().map(|value| Some((*value).to_owned())).collect()
}

/// Each change is sent as it is committed, by either protocol and by COPY.
async fn rows_come_before_the_end() -> Result<()> {
    let server = Server::start(1).await?;
    let client = server.connect().await?;
    execute(
        &client,
        "CREATE TABLE t (k bigint, s text);
         CREATE MATERIALIZED VIEW v AS SELECT s, count(*) AS n FROM t GROUP BY s",
    )
    .await?;
    // Nothing is there yet: the columns are told all the same.
    let watching = server.connect().await?;
    let simple = watching.simple_query_raw("SUBSCRIBE v").await?;
    pin_mut!(simple);
    let first = tokio::time::timeout(AT_ONCE, simple.next()).await.context("no columns")?;
    match first.context("the rows ended")?? {
        SimpleQueryMessage::RowDescription(columns) => {
            let names: Vec<_> = columns.iter().map(|column| column.name()).collect();
            ensure!(names == ["epoch", "diff", "s", "n"], "{names:?}");
        }
        other => bail!("{other:?} instead of the columns"),
    }
    let (copying, raw) = (server.connect().await?, server.connect().await?);
    let copied = copying.copy_out("COPY (SUBSCRIBE TO v) TO STDOUT").await?;
    let extended = subscribe(&raw, "SUBSCRIBE TO t WITH (SNAPSHOT = false)").await?;
    pin_mut!(copied, extended);
    execute(&client, "INSERT INTO t VALUES (1, 'a'), (2, 'a')").await?;
    ensure!(next_line(&mut simple).await? == line(&["1", "a", "2"]));
    let mut keys = Vec::new();
    for _ in 0..2 {
        let row = tokio::time::timeout(AT_ONCE, extended.next()).await?.context("ended")??;
        ensure!(row.get::<_, i64>("diff") == 1);
        keys.push(row.get::<_, i64>("k"));
    }
    keys.sort_unstable();
    ensure!(keys == [1, 2], "{keys:?}");
    let data = tokio::time::timeout(AT_ONCE, copied.next()).await?.context("ended")??;
    let data = String::from_utf8(data.to_vec())?;
    ensure!(data.ends_with("\t1\ta\t2\n"), "{data:?}");
    // What comes and goes within an epoch is nothing; an update is what went and what came.
    execute(
        &client,
        "BEGIN; INSERT INTO t VALUES (3, 'b'); DELETE FROM t WHERE k IN (1, 3); COMMIT",
    )
    .await?;
    let mut changes = vec![next_line(&mut simple).await?, next_line(&mut simple).await?];
    changes.sort_unstable();
    ensure!(changes == [line(&["-1", "a", "2"]), line(&["1", "a", "1"])], "{changes:?}");
    Ok(())
}

/// Waits until so many watch.
async fn subscribers(client: &Client, count: u32) -> Result<()> {
    let sql = "SELECT count(*) FROM weir.subscribers";
    let there = async {
        while value(client, sql).await? != count.to_string() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(AT_ONCE, there).await.with_context(|| format!("not {count}"))?
}

/// Changelog entries of an object in the folder of the killed server.
fn changes_left(server: &mut Server, object: u32) -> Result<usize> {
    server.kill();
    let store = Store::open(
        &server.data(),
        StoreOptions { cache_bytes: 8 << 20, epoch_bytes_max: usize::MAX },
    )?;
    Ok(store.snapshot().changelog(ObjectId(object), Epoch(0), usize::MAX)?.len())
}

/// A cancel and a hang-up end it within a second, and its changes are no longer kept.
async fn who_goes_is_forgotten() -> Result<()> {
    let mut server = Server::start(1).await?;
    let client = server.connect().await?;
    execute(&client, "CREATE TABLE t (k bigint)").await?;
    let object = value(&client, "SELECT 't'::regclass::oid").await?.parse()?;
    let watching = server.connect().await?;
    let cancel = watching.cancel_token();
    let rows = watching.simple_query_raw("SUBSCRIBE TO t").await?;
    pin_mut!(rows);
    subscribers(&client, 1).await?;
    let pid = value(&client, "SELECT pid FROM weir.subscribers WHERE name = 't'").await?;
    let query = format!("SELECT query FROM pg_stat_activity WHERE pid = {pid}");
    ensure!(value(&client, &query).await? == "SUBSCRIBE TO t");
    execute(&client, "INSERT INTO t VALUES (1)").await?;
    ensure!(next_line(&mut rows).await? == line(&["1", "1"]));
    cancel.cancel_query(NoTls).await?;
    let error = next_line(&mut rows).await.err().context("it goes on")?;
    ensure!(format!("{error:#}").contains("57014"), "{error:#}");
    subscribers(&client, 0).await?;
    // The connection goes on.
    ensure!(value(&watching, "SELECT count(*) FROM t").await? == "1");
    drop(watching);
    let address = format!("host=127.0.0.1 port={} user=weir dbname=weir", server.port);
    let (watching, connection) = tokio_postgres::connect(&address, NoTls).await?;
    let connection = tokio::spawn(connection);
    let _rows = watching.simple_query_raw("SUBSCRIBE TO t").await?;
    subscribers(&client, 1).await?;
    // The socket is closed without a word.
    connection.abort();
    subscribers(&client, 0).await?;
    for k in 2..6 {
        execute(&client, &format!("INSERT INTO t VALUES ({k})")).await?;
    }
    ensure!(changes_left(&mut server, object)? == 0, "changes that nobody reads");
    Ok(())
}

/// Who does not read is ended when what waits is more than allowed, and the changelog is cut.
async fn who_does_not_read_is_sent_away() -> Result<()> {
    let mut server = Server::start(1).await?;
    let client = server.connect().await?;
    execute(&client, "CREATE TABLE t (k bigint, s text)").await?;
    let object = value(&client, "SELECT 't'::regclass::oid").await?.parse()?;
    let watching = server.connect().await?;
    execute(
        &watching,
        "SET subscribe_backlog_max = '256kB'; BEGIN; DECLARE c CURSOR FOR SUBSCRIBE TO t",
    )
    .await?;
    // Beside it one by the simple protocol, whose client reads nothing either.
    let stuck = server.connect().await?;
    execute(&stuck, "SET subscribe_backlog_max = '1MB'").await?;
    let rows = stuck.simple_query_raw("SUBSCRIBE TO t").await?;
    pin_mut!(rows);
    subscribers(&client, 2).await?;
    let insert = "INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, 1000) AS s (i)";
    for _ in 0..10 {
        execute(&client, insert).await?;
    }
    let of_cursor = "SELECT count(*) FROM weir.subscribers WHERE backlog_bytes_max = 262144";
    ensure!(value(&client, of_cursor).await? == "0", "the cursor's is still there");
    let error = execute(&watching, "FETCH 1 c").await.err().context("it goes on")?;
    ensure!(format!("{error:#}").contains("53400"), "{error:#}");
    ensure!(format!("{error:#}").contains("subscribe_backlog_max"), "{error:#}");
    execute(&watching, "ROLLBACK").await?;
    // Until what the sockets hold, and the limit, are full.
    let sent_away = async {
        while value(&client, "SELECT count(*) FROM weir.subscribers").await? != "0" {
            execute(&client, insert).await?;
        }
        anyhow::Ok(())
    };
    tokio::time::timeout(PATIENCE, sent_away)
        .await
        .context("it may hold as much as it likes")??;
    execute(&client, "INSERT INTO t VALUES (0, ''); INSERT INTO t VALUES (0, '')").await?;
    execute(&client, "INSERT INTO t VALUES (0, '')").await?;
    let ended = async {
        loop {
            if let Err(error) = rows.next().await.context("it ended without an error")? {
                return anyhow::Ok(client::explain(error));
            }
        }
    };
    let error = tokio::time::timeout(PATIENCE, ended).await.context("it is not told")??;
    ensure!(format!("{error:#}").contains("53400"), "{error:#}");
    ensure!(changes_left(&mut server, object)? == 0, "changes that nobody reads");
    Ok(())
}

/// FETCH returns when it has what it wants, or when its time is over.
async fn cursors_wait() -> Result<()> {
    let server = Server::start(1).await?;
    let client = server.connect().await?;
    execute(&client, "CREATE TABLE t (k bigint PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)")
        .await?;
    let cursor = server.connect().await?;
    execute(&cursor, "BEGIN; DECLARE c CURSOR FOR SUBSCRIBE TO t").await?;
    let fetch = async |sql: &str| {
        let begun = Instant::now();
        let rows = client::query(&cursor, sql).await?.rows;
        let keys: Vec<String> = rows.iter().filter_map(|row| row[2].clone()).collect();
        anyhow::Ok((keys.join(" "), begun.elapsed()))
    };
    let (keys, took) = fetch("FETCH 2 c WITH (timeout = '30s')").await?;
    ensure!(keys.len() == 3 && took < AT_ONCE, "{keys} after {took:?}");
    let (rest, took) = fetch("FETCH ALL c WITH (timeout = '0s')").await?;
    let mut all: Vec<&str> = keys.split(' ').chain(rest.split(' ')).collect();
    all.sort_unstable();
    ensure!(all == ["1", "2", "3"] && took < AT_ONCE, "{all:?} after {took:?}");
    let (keys, took) = fetch("FETCH 5 FROM c WITH (timeout = '500 ms')").await?;
    ensure!(keys.is_empty() && took >= Duration::from_millis(500), "{keys} after {took:?}");
    ensure!(took < Duration::from_millis(500) + AT_ONCE, "{took:?}");
    // Without a timeout: as soon as there is a row, with what is there.
    let later = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(300)).await;
        execute(&client, "INSERT INTO t VALUES (4), (5)").await?;
        anyhow::Ok(client)
    });
    let (keys, took) = fetch("FETCH ALL c").await?;
    ensure!(keys == "4 5" && took >= Duration::from_millis(250), "{keys} after {took:?}");
    let client = later.await??;
    execute(&client, "INSERT INTO t VALUES (6)").await?;
    ensure!(client::query(&cursor, "MOVE 1 c").await.is_ok());
    // By the extended protocol, its columns described.
    execute(&client, "INSERT INTO t VALUES (7)").await?;
    let rows = cursor.query("FETCH 3 FROM c WITH (timeout = '200ms')", &[]).await?;
    let keys: Vec<i64> = rows.iter().map(|row| row.get("k")).collect();
    ensure!(keys == [7] && rows[0].get::<_, i64>("diff") == 1, "{keys:?}");
    execute(&cursor, "COMMIT").await?;
    subscribers(&client, 0).await
}

/// Who comes back goes on after the epoch that it has, as long as the changes are kept.
async fn as_of_an_epoch() -> Result<()> {
    let server = Server::start(1).await?;
    let client = server.connect().await?;
    execute(
        &client,
        "CREATE TABLE t (k bigint PRIMARY KEY, v bigint); INSERT INTO t VALUES (1, 1)",
    )
    .await?;
    let keeping = server.connect().await?;
    execute(&keeping, "BEGIN; DECLARE c CURSOR FOR SUBSCRIBE TO t").await?;
    let since = value(&client, "SELECT epoch FROM weir.subscribers").await?;
    execute(&client, "INSERT INTO t VALUES (2, 2)").await?;
    execute(&client, "UPDATE t SET v = 3 WHERE k = 1").await?;
    execute(&client, "DELETE FROM t WHERE k = 2").await?;
    let read = async |sql: String| {
        let cursor = server.connect().await?;
        execute(&cursor, &format!("BEGIN; DECLARE c CURSOR FOR {sql}")).await?;
        let rows = client::query(&cursor, "FETCH ALL c WITH (timeout = '0s')").await?.rows;
        let rows: Vec<Vec<String>> = rows
            .into_iter()
            .map(|row| row.into_iter().map(Option::unwrap_or_default).collect())
            .collect();
        anyhow::Ok(rows)
    };
    let rows = read(format!("SUBSCRIBE TO t WITH (SNAPSHOT = false) AS OF {since}")).await?;
    let mut changes: Vec<String> = rows.iter().map(|row| row[1..].join(" ")).collect();
    changes[1..3].sort_unstable();
    ensure!(changes == ["1 2 2", "-1 1 1", "1 1 3", "-1 2 2"], "{changes:?}");
    ensure!(rows.iter().all(|row| row[0] > since), "{rows:?} are not after {since}");
    // The rows of each epoch, though they have changed since.
    for (epoch, expected) in [(&since, "1 1"), (&rows[0][0], "1 1, 2 2"), (&rows[1][0], "1 3, 2 2")]
    {
        let all = read(format!("SUBSCRIBE TO t AS OF {epoch}")).await?;
        let mut first: Vec<String> = all
            .iter()
            .filter(|row| row[0] == *epoch)
            .map(|row| {
                assert_eq!(row[1], "1");
                row[2..].join(" ")
            })
            .collect();
        first.sort_unstable();
        ensure!(first.join(", ") == expected, "{first:?} at epoch {epoch}");
        let changed = rows.iter().filter(|row| row[0] > *epoch).count();
        ensure!(all.len() == first.len() + changed, "{all:?}");
    }
    let before = since.parse::<u64>()? - 1;
    let error = read(format!("SUBSCRIBE TO t AS OF {before}")).await.err().context("is kept")?;
    ensure!(format!("{error:#}").contains("55000"), "{error:#}");
    let error = read("SUBSCRIBE TO t AS OF 100000".to_owned()).await.err().context("is there")?;
    ensure!(format!("{error:#}").contains("22023"), "{error:#}");
    execute(&keeping, "COMMIT").await?;
    let error = read(format!("SUBSCRIBE TO t AS OF {since}")).await.err().context("is kept")?;
    ensure!(format!("{error:#}").contains("55000"), "{error:#}");
    Ok(())
}

/// A DROP ends it with an error that says so.
async fn a_drop_ends_it() -> Result<()> {
    let server = Server::start(1).await?;
    let client = server.connect().await?;
    execute(&client, "CREATE TABLE t (k bigint); CREATE MATERIALIZED VIEW v AS SELECT k FROM t")
        .await?;
    let watching = server.connect().await?;
    let rows = watching.simple_query_raw("SUBSCRIBE TO v").await?;
    pin_mut!(rows);
    subscribers(&client, 1).await?;
    let dropped = execute(&client, "DROP MATERIALIZED VIEW v");
    tokio::time::timeout(PATIENCE, dropped).await.context("DROP waits for it")??;
    let error = next_line(&mut rows).await.err().context("it goes on")?;
    ensure!(format!("{error:#}").contains("42P01"), "{error:#}");
    ensure!(format!("{error:#}").contains("materialized view \"v\" was dropped"), "{error:#}");
    subscribers(&client, 0).await
}

const KILLS: usize = 8;

/// What a client has of a view that it reads by a subscription's cursor.
#[derive(Default)]
struct Kept {
    sums: Sums,
    /// Rows of an epoch of which more may come.
    open: Vec<(Vec<Option<i64>>, i64)>,
    open_epoch: i64,
    /// All up to here is in the sums.
    epoch: Option<i64>,
}

impl Kept {
    fn add(&mut self, row: &[Option<String>]) -> Result<()> {
        let [values @ .., operation, epoch] = row else { bail!("{row:?}") };
        let epoch: i64 = epoch.as_deref().context("no epoch")?.parse()?;
        ensure!(epoch >= self.open_epoch, "epoch {epoch} after {}", self.open_epoch);
        if epoch > self.open_epoch {
            self.close();
            self.open_epoch = epoch;
        }
        let diff = match operation.as_deref() {
            Some("Insert") => 1,
            Some("Delete") => -1,
            other => bail!("{other:?}"),
        };
        ensure!(
            diff > 0 || self.open.iter().all(|(_, diff)| *diff < 0),
            "a Delete after an Insert"
        );
        let values = values.iter().map(|value| value.as_deref().map(str::parse).transpose());
        self.open.push((values.collect::<Result<_, _>>()?, diff));
        Ok(())
    }

    /// No more of the open epoch comes.
    fn close(&mut self) {
        let mut summed = Summed { sums: std::mem::take(&mut self.sums), epoch: 0 };
        for (values, diff) in std::mem::take(&mut self.open) {
            summed.add(values, diff);
        }
        self.sums = summed.sums;
        if self.open_epoch > 0 {
            self.epoch = Some(self.open_epoch);
        }
    }

    /// Reads on, from where it was or from the beginning, until the server is gone, or until
    /// nothing more comes.
    async fn read(&mut self, client: &Client, to_the_end: bool) -> Result<()> {
        self.open.clear();
        self.open_epoch = self.epoch.unwrap_or(0);
        let since = self.epoch.map_or("FULL".to_owned(), |epoch| format!("SINCE {epoch}"));
        execute(client, &format!("DECLARE cur SUBSCRIPTION CURSOR FOR kept {since}")).await?;
        loop {
            let fetch = "FETCH 50 FROM cur WITH (timeout = '300 ms')";
            let Ok(rows) = client::query(client, fetch).await else { break };
            for row in &rows.rows {
                self.add(row)?;
            }
            if rows.rows.is_empty() && to_the_end {
                self.close();
                return Ok(());
            }
        }
        ensure!(!to_the_end, "the server is gone");
        Ok(())
    }
}

/// A client that is killed with the server goes on where it was, and has every change once; so does
/// SUBSCRIBE AS OF an epoch that the subscription keeps.
async fn subscriptions_outlive_kills() -> Result<()> {
    let mut random = harness::random("subscriptions");
    let mut server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, OBJECTS).await?;
    execute(&client, "CREATE SUBSCRIPTION kept FROM per_g WITH (retention = '1h')").await?;
    let first: i64 = value(&client, "SELECT epoch FROM weir.subscriptions").await?.parse()?;
    let base = client.query("SELECT g, n, total FROM per_g", &[]).await?;
    let mut kept = Kept::default();
    for kill in 0..KILLS {
        let (stop, writer) = write(&server, harness::random(&format!("writer {kill}")));
        let reading = server.connect().await?;
        let wait = Duration::from_millis(random.random_range(100..1500));
        let read = tokio::spawn(async move {
            kept.read(&reading, false).await?;
            anyhow::Ok(kept)
        });
        tokio::time::sleep(wait).await;
        server.kill();
        kept = read.await?.with_context(|| format!("kill {kill}"))?;
        stop.send(()).ok();
        writer.await?.ok();
        server.restart().await?;
    }
    let client = server.connect().await?;
    let reading = server.connect().await?;
    kept.read(&reading, true).await?;
    let selected = client.query("SELECT g, n, total FROM per_g", &[]).await?;
    let sums_of = |rows: &[Row]| -> Sums {
        rows.iter().map(|row| ((0..3).map(|column| row.get(column)).collect(), 1)).collect()
    };
    ensure!(kept.sums == sums_of(&selected), "{:?} and {selected:?}", kept.sums);
    // The same from the subscription's first epoch on.
    let mut all = Summed { sums: sums_of(&base), epoch: first };
    let sql = format!("SUBSCRIBE TO per_g WITH (SNAPSHOT = false, PROGRESS) AS OF {first}");
    let rows = subscribe(&reading, &sql).await?;
    pin_mut!(rows);
    execute(&client, "CREATE TABLE beside (k int); INSERT INTO beside VALUES (1)").await?;
    let newest: i64 = value(&client, "SELECT max(epoch) FROM weir.epochs").await?.parse()?;
    while all.epoch < newest {
        ensure!(all.take(&mut rows).await?, "the rows ended");
    }
    ensure!(all.sums == kept.sums, "{:?} and {:?}", all.sums, kept.sums);
    let status = server.stop().await?;
    ensure!(status.success(), "{status}");
    server.check_views()?;
    Ok(())
}

/// Changes go when the retention is over, not before, and cursors that are further behind with
/// them.
async fn subscriptions_keep_for_a_time() -> Result<()> {
    let mut server = Server::start(1).await?;
    let client = server.connect().await?;
    let kept = format!("CREATE SUBSCRIPTION s FROM t WITH (retention = '{}s')", KEPT.as_secs());
    execute(&client, "CREATE TABLE t (k bigint); INSERT INTO t VALUES (0)").await?;
    execute(&client, &kept).await?;
    let object = value(&client, "SELECT 't'::regclass::oid").await?.parse()?;
    let since = value(&client, "SELECT epoch FROM weir.subscriptions").await?;
    let begun = Instant::now();
    execute(&client, "INSERT INTO t VALUES (1), (1)").await?;
    execute(&client, "DELETE FROM t").await?;
    let fetch = async |client: &Client, sql: &str| {
        let rows = client::query(client, sql).await?.rows;
        let rows = rows.iter().map(|row| {
            let texts: Vec<_> = row[..2].iter().map(|text| text.as_deref().unwrap_or("")).collect();
            texts.join(" ")
        });
        anyhow::Ok(rows.collect::<Vec<String>>().join(", "))
    };
    let late = server.connect().await?;
    execute(&late, "DECLARE late SUBSCRIPTION CURSOR FOR s SINCE begin()").await?;
    let cursor = server.connect().await?;
    execute(&cursor, "DECLARE a SUBSCRIPTION CURSOR FOR s SINCE begin()").await?;
    execute(&cursor, "DECLARE b SUBSCRIPTION CURSOR FOR s FULL").await?;
    execute(&cursor, "DECLARE c SUBSCRIPTION CURSOR FOR s").await?;
    let fetched = fetch(&cursor, "FETCH 100 FROM a").await?;
    let mut rows: Vec<&str> = fetched.split(", ").collect();
    // Those of one epoch come in any order.
    rows.sort_by_key(|row| (row.ends_with("Delete"), *row));
    ensure!(rows == ["1 Insert", "1 Insert", "0 Delete", "1 Delete", "1 Delete"], "{fetched}");
    ensure!(fetch(&cursor, "FETCH 100 FROM b").await?.is_empty());
    ensure!(fetch(&cursor, "FETCH NEXT FROM c").await?.is_empty());
    execute(&client, "INSERT INTO t VALUES (2)").await?;
    for name in ["a", "b", "c"] {
        let rows = fetch(&cursor, &format!("FETCH NEXT FROM {name}")).await?;
        ensure!(rows == "2 Insert", "{name}: {rows}");
    }
    let gone = async {
        loop {
            let declare = format!("DECLARE d SUBSCRIPTION CURSOR FOR s SINCE {since}");
            match execute(&cursor, &declare).await {
                Ok(()) => execute(&cursor, "CLOSE d").await?,
                Err(error) => {
                    ensure!(format!("{error:#}").contains("55000"), "{error:#}");
                    let epoch = value(&client, "SELECT epoch FROM weir.subscriptions").await?;
                    ensure!(epoch != since, "gone, though kept since epoch {epoch}");
                    return anyhow::Ok(begun.elapsed());
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let kept = tokio::time::timeout(PATIENCE, gone).await.context("is kept for ever")??;
    ensure!(kept >= KEPT, "gone after {kept:?}");
    tokio::time::sleep(KEPT + Duration::from_secs(1)).await;
    // Who has read all has lost nothing; who had not is told.
    ensure!(fetch(&cursor, "FETCH NEXT FROM a").await?.is_empty());
    let error = fetch(&late, "FETCH 10 FROM late").await.err().context("it has what is gone")?;
    ensure!(format!("{error:#}").contains("55000"), "{error:#}");
    // The next epoch's commit lets go.
    execute(&client, "INSERT INTO t VALUES (3); INSERT INTO t VALUES (4)").await?;
    ensure!(fetch(&cursor, "FETCH 10 FROM a").await? == "3 Insert, 4 Insert");
    let left = changes_left(&mut server, object)?;
    ensure!((1..=2).contains(&left), "{left} changes are kept");
    Ok(())
}
