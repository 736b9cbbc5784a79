//! First figures, measured against the real server over the wire, printed as a table.
//!
//! `make bench`. What is measured is in `docs/benchmarks.md`. `WEIR_BENCH_SECONDS` (10) is how long
//! each timed part runs; `WEIR_BENCH_STATE_MB` (1024) how much state the restart has to open.

// The doors of the house (clock, task) are for the library; here is the outside.
#![allow(clippy::disallowed_methods, clippy::print_stderr)]

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use futures::SinkExt;
use tokio_postgres::{Client, NoTls};

fn main() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run())
}

async fn run() -> Result<()> {
    let seconds = variable("WEIR_BENCH_SECONDS", 10);
    let state_mb = variable("WEIR_BENCH_STATE_MB", 1024);
    let mut table = Table::default();
    nexmark(&mut table, seconds).await?;
    copy(&mut table).await?;
    inserts(&mut table, 1, seconds).await?;
    inserts(&mut table, 16, seconds).await?;
    point_selects(&mut table, seconds).await?;
    restart(&mut table, state_mb).await?;
    table.print();
    Ok(())
}

fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

/// Figures, in the order in which they were measured.
#[derive(Default)]
struct Table(Vec<(String, String)>);

impl Table {
    fn add(&mut self, what: impl Into<String>, figure: impl Into<String>) {
        let (what, figure) = (what.into(), figure.into());
        eprintln!("{what}: {figure}");
        self.0.push((what, figure));
    }

    #[allow(clippy::print_stdout)]
    fn print(&self) {
        let width = self.0.iter().map(|(what, _)| what.len()).max().unwrap_or(0);
        for (what, figure) in &self.0 {
            println!("| {what:width$} | {figure:>24} |");
        }
    }
}

/// A server on a folder of its own.
struct Server {
    child: Child,
    port: u16,
    http: u16,
    data: PathBuf,
    _folder: tempfile::TempDir,
}

impl Server {
    async fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let data = folder.path().join("data");
        let (port, http) = (free_port()?, free_port()?);
        let child = spawn(&data, port, http)?;
        let server = Self { child, port, http, data, _folder: folder };
        server.connect().await?;
        Ok(server)
    }

    /// Connects, as soon as that is possible.
    async fn connect(&self) -> Result<Client> {
        let config = format!("host=127.0.0.1 port={} user=weir dbname=weir", self.port);
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            match tokio_postgres::connect(&config, NoTls).await {
                Ok((client, connection)) => {
                    tokio::spawn(connection);
                    return Ok(client);
                }
                Err(_) if Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                Err(error) => return Err(error).context("the server cannot be reached"),
            }
        }
    }

    fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    fn start_again(&mut self) -> Result<()> {
        self.child = spawn(&self.data, self.port, self.http)?;
        Ok(())
    }

    /// Megabytes of memory in use.
    fn memory_mb(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kb = line.and_then(|line| line.trim().trim_end_matches(" kB").trim().parse().ok());
        Ok(kb.unwrap_or(0u64) / 1024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn spawn(data: &std::path::Path, port: u16, http: u16) -> Result<Child> {
    Command::new(env!("CARGO_BIN_EXE_weir"))
        .arg("serve")
        .arg("--data")
        .arg(data)
        .args(["--listen", &format!("127.0.0.1:{port}"), "--http", &format!("127.0.0.1:{http}")])
        .env("WEIR_LOG", "warn")
        // The server knows all variables of its prefix but these.
        .env_remove("WEIR_BENCH_SECONDS")
        .env_remove("WEIR_BENCH_STATE_MB")
        .stdout(Stdio::null())
        .spawn()
        .context("the server cannot be started")
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

async fn number(client: &Client, sql: &str) -> Result<f64> {
    for message in client.simple_query(sql).await? {
        if let tokio_postgres::SimpleQueryMessage::Row(row) = message {
            return Ok(row.get(0).unwrap_or("0").parse()?);
        }
    }
    bail!("{sql} gave no row")
}

/// Events per second through the demo's four views, as fast as they go.
async fn nexmark(table: &mut Table, seconds: u64) -> Result<()> {
    let server = Server::start().await?;
    let client = server.connect().await?;
    client
        .batch_execute(
            "CREATE SOURCE bid WITH (connector = 'nexmark', event_type = 'bid');
             CREATE SOURCE auction WITH (connector = 'nexmark', event_type = 'auction');
             CREATE MATERIALIZED VIEW high_bids AS
               SELECT auction, bidder, price FROM bid WHERE price > 10000000;
             CREATE MATERIALIZED VIEW bids_by_channel AS
               SELECT channel, count(*) AS bids, sum(price) AS volume, max(price) AS highest
               FROM bid GROUP BY channel;
             CREATE MATERIALIZED VIEW category_bids AS
               SELECT a.category, b.price FROM bid b JOIN auction a ON a.id = b.auction
               WHERE b.price > 1000000;
             CREATE MATERIALIZED VIEW busy_channels AS
               SELECT channel, bids FROM bids_by_channel WHERE bids > 100",
        )
        .await?;
    let bids = "SELECT sum(bids) FROM bids_by_channel";
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (before, started) = (number(&client, bids).await?, Instant::now());
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let (after, elapsed) = (number(&client, bids).await?, started.elapsed().as_secs_f64());
    // 46 of 50 events are bids.
    let events = (after - before) * 50.0 / 46.0 / elapsed;
    table.add("Nexmark events/s, 4 views", format!("{events:.0}"));
    table.add("  memory then, MB", server.memory_mb()?.to_string());
    Ok(())
}

/// Rows per second of COPY into a table with a key.
async fn copy(table: &mut Table) -> Result<()> {
    const ROWS: usize = 500_000;
    let server = Server::start().await?;
    let client = server.connect().await?;
    client
        .batch_execute("CREATE TABLE t (id bigint PRIMARY KEY, a int, b text, c numeric(12,2))")
        .await?;
    let mut text = String::new();
    for row in 0..ROWS {
        text.push_str(&format!("{row},{},name {},{}.25\n", row % 1000, row % 777, row % 10_000));
    }
    let started = Instant::now();
    let sink = client.copy_in("COPY t FROM STDIN (FORMAT csv)").await?;
    let mut sink = std::pin::pin!(sink);
    for chunk in text.as_bytes().chunks(1 << 16) {
        sink.send(Bytes::copy_from_slice(chunk)).await?;
    }
    let copied = sink.finish().await?;
    let elapsed = started.elapsed().as_secs_f64();
    if copied != ROWS as u64 {
        bail!("{copied} rows copied instead of {ROWS}");
    }
    table.add("COPY rows/s (4 columns, key)", format!("{:.0}", ROWS as f64 / elapsed));
    Ok(())
}

/// Latency of single-row INSERTs, each durable, by `clients` at once.
async fn inserts(table: &mut Table, clients: usize, seconds: u64) -> Result<()> {
    let server = Server::start().await?;
    let setup = server.connect().await?;
    setup.batch_execute("CREATE TABLE t (id bigint PRIMARY KEY, v text)").await?;
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let mut writers = Vec::new();
    for writer in 0..clients {
        let client = server.connect().await?;
        writers.push(tokio::spawn(async move {
            let insert = client.prepare("INSERT INTO t VALUES ($1, 'some text')").await?;
            let mut latencies = Vec::new();
            let mut id = (writer as i64) << 40;
            while Instant::now() < deadline {
                let started = Instant::now();
                client.execute(&insert, &[&id]).await?;
                latencies.push(started.elapsed());
                id += 1;
            }
            Ok::<_, tokio_postgres::Error>(latencies)
        }));
    }
    let mut latencies = Vec::new();
    for writer in writers {
        latencies.extend(writer.await??);
    }
    let rate = latencies.len() as f64 / seconds as f64;
    table.add(format!("INSERT/s, {clients} clients"), format!("{rate:.0}"));
    table.add(format!("INSERT p50/p99 ms, {clients} clients"), percentiles(latencies));
    Ok(())
}

/// Latency of SELECTs by primary key.
async fn point_selects(table: &mut Table, seconds: u64) -> Result<()> {
    const ROWS: i64 = 100_000;
    let server = Server::start().await?;
    let client = server.connect().await?;
    client
        .batch_execute(&format!(
            "CREATE TABLE t (id bigint PRIMARY KEY, v text);
             INSERT INTO t SELECT g, 'some text' FROM generate_series(1, {ROWS}) AS s(g)"
        ))
        .await?;
    let select = client.prepare("SELECT v FROM t WHERE id = $1").await?;
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let mut latencies = Vec::new();
    let mut id: i64 = 1;
    while Instant::now() < deadline {
        let started = Instant::now();
        client.query_one(&select, &[&id]).await?;
        latencies.push(started.elapsed());
        id = id * 7919 % ROWS + 1;
    }
    table.add("point SELECT p50/p99 ms", percentiles(latencies));
    Ok(())
}

/// Seconds from the start of the process to the first answer, with much state.
async fn restart(table: &mut Table, state_mb: u64) -> Result<()> {
    let mut server = Server::start().await?;
    let client = server.connect().await?;
    client
        .batch_execute(
            "CREATE TABLE t (id bigint PRIMARY KEY, pad text);
             CREATE MATERIALIZED VIEW v AS
               SELECT id % 1000 AS g, count(*) AS n FROM t GROUP BY id % 1000",
        )
        .await?;
    // Pads of a kilobyte that do not compress: a megabyte is 1000 rows.
    let hashes: Vec<String> =
        (0..31).map(|salt| format!("md5(CAST(g AS text) || '{salt}')")).collect();
    let pad = hashes.join(" || ");
    for batch in 0..state_mb {
        let (from, to) = (batch * 1000, batch * 1000 + 999);
        let fill =
            format!("INSERT INTO t SELECT g, {pad} FROM generate_series({from}, {to}) AS s(g)");
        client.batch_execute(&fill).await.context("filling the table")?;
    }
    server.kill()?;
    let started = Instant::now();
    server.start_again()?;
    let client = server.connect().await?;
    let rows = number(&client, "SELECT sum(n) FROM v").await?;
    let elapsed = started.elapsed().as_secs_f64();
    if rows != (state_mb * 1000) as f64 {
        bail!("{rows} rows after the restart");
    }
    table.add(format!("kill -9 to first answer, s ({state_mb} MB)"), format!("{elapsed:.2}"));
    Ok(())
}

fn percentiles(mut latencies: Vec<Duration>) -> String {
    latencies.sort_unstable();
    let at = |share: f64| {
        let index = ((latencies.len() as f64 * share) as usize).min(latencies.len() - 1);
        latencies[index].as_secs_f64() * 1e3
    };
    if latencies.is_empty() { "-".to_owned() } else { format!("{:.2} / {:.2}", at(0.5), at(0.99)) }
}
