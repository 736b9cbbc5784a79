//! Nexmark: its queries as views over the source of that name, which makes a fixed number of
//! events. PostgreSQL gets the rows by COPY from Weir's tables, so that both have the same.
//!
//! Not here, because they need windows in FROM with sessions, or processing time: q11 (sessions)
//! and q12 (a window of processing time). q5, q7 and q8 say their windows in plain SQL, and q13
//! joins its side input as of any time, as it does not change.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use futures::TryStreamExt;
use sqllogictest::harness::Trial;
use tokio_postgres::Client;

use super::{Failing, Workload, state_of_views};
use crate::client::{self, execute, value};
use crate::harness::{self, trial};
use crate::postgres;
use crate::server::Server;

const EVENTS: u64 = 5_000;
/// From one event to the next: longer than a timestamp's last digit, so that no order by time is
/// left open.
const GAP_NS: u64 = 1_000_000;
const SECONDS_MAX: u64 = 600;
/// The tables, and how many of 50 events belong to each.
const TABLES: &[(&str, u64)] = &[("person", 1), ("auction", 3), ("bid", 46)];
const EVENTS_CYCLE: u64 = 50;

const SIDE_INPUT: &str = "CREATE TABLE side_input (key bigint PRIMARY KEY, value text); \
    INSERT INTO side_input SELECT i, i::text FROM generate_series(0, 9999) AS i";

/// The stream only adds; the tables it fills can be changed by hand as well.
const CHANGES: &[&str] = &[
    "DELETE FROM bid WHERE price % 3 = 0",
    "UPDATE auction SET category = 10, seller = seller + 2 WHERE id % 4 = 0",
    "UPDATE person SET state = 'OR', name = upper(name) WHERE id % 3 = 0",
    "UPDATE bid SET price = price + 1, channel = lower(channel) WHERE auction % 5 = 0",
    "DELETE FROM auction WHERE id % 7 = 0",
    "UPDATE side_input SET value = 'x' || value WHERE key % 2 = 0",
];

const FAILING: Failing = &[];

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("workload/nexmark", nexmark)]
}

async fn nexmark() -> Result<()> {
    let events = harness::number("WEIR_NEXMARK_EVENTS").unwrap_or(EVENTS);
    let server = Server::start(2).await?;
    let database = postgres::Database::create().await?;
    let (weir, oracle) = (server.connect().await?, database.connect().await?);
    let mut workload = Workload::read("Nexmark", "nexmark")?;
    execute(&oracle, &workload.schema()?).await?;
    for client in [&weir, &oracle] {
        execute(client, SIDE_INPUT).await?;
    }
    let timed = Instant::now();
    for statement in workload.schema()?.split_inclusive(';').filter(|text| text.contains('(')) {
        execute(&weir, &from_source(statement, events)?).await?;
    }
    workload.create(&weir, 0, 1).await?;
    let made = timed.elapsed();
    wait_for(&weir, events).await?;
    let read = timed.elapsed();
    for (table, _) in TABLES {
        hand_over(&weir, &oracle, table).await?;
    }
    execute(&oracle, "CREATE INDEX ON bid (auction); ANALYZE").await?;
    workload.compare(&weir, &oracle, "as streamed").await?;
    for change in CHANGES {
        let (ours, theirs) =
            (weir.execute(*change, &[]).await?, oracle.execute(*change, &[]).await?);
        ensure!(ours == theirs, "{change}: {ours} rows, PostgreSQL {theirs}");
    }
    workload.compare(&weir, &oracle, "after the changes").await?;
    harness::say(format!(
        "nexmark: {events} events; the views were made in {made:?}, all was read after {read:?}, \
         and compared after {:?}; {}",
        timed.elapsed(),
        state_of_views(&weir).await?
    ));
    workload.finish(FAILING)
}

/// A table of the schema, filled by the source.
fn from_source(statement: &str, events: u64) -> Result<String> {
    let name = TABLES.iter().map(|(name, _)| name);
    let name = name.into_iter().find(|name| statement.contains(&format!("TABLE {name} ")));
    let name = name.with_context(|| statement.to_string())?;
    let statement = statement.trim_end().trim_end_matches(';');
    Ok(format!(
        "{statement} WITH (connector = 'nexmark', event_type = '{name}', events = {events}, \
         gap_ns = {GAP_NS})"
    ))
}

async fn wait_for(weir: &Client, events: u64) -> Result<()> {
    let started = Instant::now();
    for (table, share) in TABLES {
        let rows = (events * share / EVENTS_CYCLE).to_string();
        while value(weir, &format!("SELECT count(*) FROM {table}")).await? != rows {
            let waited = started.elapsed();
            ensure!(waited < Duration::from_secs(SECONDS_MAX), "{table} has not {rows} rows");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    Ok(())
}

/// Copies the rows of `table` from one to the other.
async fn hand_over(weir: &Client, oracle: &Client, table: &str) -> Result<()> {
    let out = weir.copy_out(&format!("COPY {table} TO STDOUT")).await.map_err(client::explain)?;
    let sink =
        oracle.copy_in(&format!("COPY {table} FROM STDIN")).await.map_err(client::explain)?;
    let mut sink = std::pin::pin!(sink);
    let out = out.map_err(client::explain);
    let mut out = std::pin::pin!(out);
    while let Some(piece) = out.try_next().await? {
        futures::SinkExt::send(&mut sink, piece).await.map_err(client::explain)?;
    }
    sink.finish().await.map_err(client::explain)?;
    Ok(())
}
