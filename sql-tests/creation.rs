//! The creation of a view: what it says of itself, in the background, cancelled.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::{StreamExt, stream};
use sqllogictest::harness::Trial;
use tokio::sync::mpsc;
use tokio_postgres::{AsyncMessage, Client, NoTls};

use crate::client::{self, execute, value};
use crate::harness::trial;
use crate::operation::{HEAVY, MANY, nothing_left};
use crate::server::Server;

/// How long something may take that has nothing to wait for.
const AT_ONCE: Duration = Duration::from_secs(1);

/// How long the view may take.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("creation/says_how_far_it_is", says_how_far_it_is),
        trial("creation/in_the_background_over_a_kill", in_the_background),
        trial("creation/a_job_is_cancelled", a_job_is_cancelled),
        trial("creation/what_is_going_is_not_taken_for_made", what_is_going_is_not_there),
    ]
}

/// A client whose notices come as they are sent.
async fn hearing(server: &Server) -> Result<(Client, mpsc::UnboundedReceiver<String>)> {
    let address = format!("host=127.0.0.1 port={} user=weir dbname=weir", server.port);
    let (client, mut connection) = tokio_postgres::connect(&address, NoTls).await?;
    let (heard, notices) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
        while let Some(Ok(message)) = messages.next().await {
            if let AsyncMessage::Notice(notice) = message {
                heard.send(notice.message().to_owned()).ok();
            }
        }
    });
    Ok((client, notices))
}

/// The first line comes after about a second, while the statement runs, and others follow.
async fn says_how_far_it_is() -> Result<()> {
    let server = Server::start(1).await?;
    let (client, mut notices) = hearing(&server).await?;
    execute(&client, MANY).await?;
    let begun = Instant::now();
    let sql = format!("CREATE MATERIALIZED VIEW heavy AS {HEAVY}");
    let creating = tokio::spawn(async move { execute(&client, &sql).await.map(|()| client) });
    let first = tokio::time::timeout(PATIENCE, notices.recv()).await?;
    let (first, took) = (first.context("the client is gone")?, begun.elapsed());
    ensure!(!creating.is_finished(), "{first} came with the end, after {took:?}");
    ensure!(took >= AT_ONCE && took < 3 * AT_ONCE, "{first} came after {took:?}");
    ensure!(first.starts_with("backfill of \"heavy\": "), "{first}");
    ensure!(first.contains("% (") && first.contains(" rows/s"), "{first}");
    let client = tokio::time::timeout(PATIENCE, creating).await???;
    ensure!(value(&client, "SELECT count(*) FROM heavy").await? == "600", "groups are missing");
    // Who does not want to hear it does not.
    execute(&client, "DROP MATERIALIZED VIEW heavy; SET client_min_messages = 'warning'").await?;
    while notices.try_recv().is_ok() {}
    execute(&client, &format!("CREATE MATERIALIZED VIEW heavy AS {HEAVY}")).await?;
    ensure!(notices.try_recv().is_err(), "a notice that was not wanted");
    Ok(())
}

/// It returns at once, goes on after a kill, and WAIT waits for it.
async fn in_the_background() -> Result<()> {
    let mut server = Server::start(2).await?;
    let (client, mut notices) = hearing(&server).await?;
    execute(&client, MANY).await?;
    execute(&client, "SET background_ddl = on").await?;
    let create = format!("CREATE MATERIALIZED VIEW heavy AS {HEAVY}");
    let creating = tokio::time::timeout(3 * AT_ONCE, execute(&client, &create));
    creating.await.context("it waits for the view")??;
    let said = tokio::time::timeout(AT_ONCE, notices.recv()).await?.context("gone")?;
    let job = value(&client, "SELECT id FROM weir.jobs WHERE name = 'heavy'").await?;
    ensure!(said.ends_with(&format!("is created in the background, by job {job}")), "{said}");
    let error = value(&client, "SELECT count(*) FROM heavy").await.err().context("is there")?;
    ensure!(format!("{error:#}").contains("55000"), "{error:#}");
    let read = "SELECT count(*) FROM weir.jobs WHERE name = 'heavy' AND progress > 0";
    while value(&client, read).await? == "0" {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server.kill();
    server.restart().await?;
    let client = server.connect().await?;
    let state = "SELECT state FROM weir.jobs WHERE name = 'heavy'";
    ensure!(value(&client, state).await? == "catching up", "it has begun anew, or is there");
    let waiting = execute(&client, "WAIT MATERIALIZED VIEW heavy");
    tokio::time::timeout(PATIENCE, waiting).await.context("WAIT has no end")??;
    ensure!(value(&client, "SELECT count(*) FROM heavy").await? == "600", "groups are missing");
    execute(&client, "WAIT").await?;
    let lines = client::query(&client, "EXPLAIN ANALYZE MATERIALIZED VIEW heavy").await?.rows;
    let lines: Vec<String> = lines.into_iter().flatten().flatten().collect();
    ensure!(lines[0].starts_with("Materialized view heavy: attached, at epoch "), "{lines:#?}");
    let counts = |line: &&String| line.contains("in: ") && line.contains("/s; out: ");
    let nodes = lines.iter().filter(|line| line.contains('#')).count();
    ensure!(nodes > 2 && lines.iter().filter(counts).count() == nodes, "{lines:#?}");
    ensure!(lines.iter().any(|line| line.contains("state: 600 entries")), "{lines:#?}");
    Ok(())
}

/// CANCEL JOB leaves nothing, whether somebody waits for the view or not.
async fn a_job_is_cancelled() -> Result<()> {
    let mut server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, MANY).await?;
    execute(&client, "SET background_ddl = on").await?;
    let create = format!("CREATE MATERIALIZED VIEW heavy AS {HEAVY}");
    execute(&client, &create).await?;
    let jobs = "SELECT id FROM weir.jobs WHERE name = 'heavy'";
    let job = value(&client, jobs).await?;
    let waiting = server.connect().await?;
    let waiting =
        tokio::spawn(async move { execute(&waiting, "WAIT MATERIALIZED VIEW heavy").await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    let cancel = format!("CANCEL JOB {job}");
    let cancelling = execute(&client, &cancel);
    tokio::time::timeout(3 * AT_ONCE, cancelling).await.context("it goes on")??;
    ensure!(waiting.await?.is_err(), "WAIT says that it is there");
    execute(&client, "WAIT; RESET background_ddl").await?;
    // The same for one that somebody waits for.
    let creating = server.connect().await?;
    let creating = tokio::spawn(async move { execute(&creating, &create).await });
    let second = loop {
        ensure!(!creating.is_finished(), "it was too fast");
        match client::query(&client, jobs).await?.rows.first() {
            Some(row) => break row[0].clone().context("no id")?,
            None => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    execute(&client, &format!("CANCEL JOBS {second}")).await?;
    let error = creating.await?.err().context("it was created")?;
    ensure!(format!("{error:#}").contains("57014"), "{error:#}");
    let error = execute(&client, &format!("CANCEL JOB {job}")).await.err().context("twice")?;
    ensure!(format!("{error:#}").contains("42704"), "{error:#}");
    execute(&client, "CREATE MATERIALIZED VIEW heavy AS SELECT count(*) AS n FROM big").await?;
    nothing_left(&mut server, job.parse()?)?;
    nothing_left(&mut server, second.parse()?)
}

/// Between the moment when its rows are gone and the one when its name is, nobody may take a view
/// for one that was made.
async fn what_is_going_is_not_there() -> Result<()> {
    let mut server = Server::start_failing(2, Some("drop-publish=1*sleep(1000)")).await?;
    let client = server.connect().await?;
    execute(&client, MANY).await?;
    execute(&client, "SET background_ddl = on").await?;
    execute(&client, &format!("CREATE MATERIALIZED VIEW heavy AS {HEAVY}")).await?;
    let job = value(&client, "SELECT id FROM weir.jobs WHERE name = 'heavy'").await?;
    let (waiting, reading) = (server.connect().await?, server.connect().await?);
    let waiting =
        tokio::spawn(async move { execute(&waiting, "WAIT MATERIALIZED VIEW heavy").await });
    let cancel = format!("CANCEL JOB {job}");
    let cancelling = tokio::spawn(async move { execute(&client, &cancel).await });
    let mut asked = 0;
    while !cancelling.is_finished() {
        let read = value(&reading, "SELECT count(*) FROM heavy").await;
        let error = match read {
            Ok(rows) => bail!("{rows} rows of half a view were read"),
            Err(error) => format!("{error:#}"),
        };
        ensure!(error.contains("55000") || error.contains("42P01"), "{error}");
        asked += 1;
    }
    cancelling.await??;
    ensure!(asked > 1, "it went at once");
    ensure!(waiting.await?.is_err(), "WAIT says that it is there");
    nothing_left(&mut server, job.parse()?)
}
