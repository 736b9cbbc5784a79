//! Known workloads: every query of a benchmark is a view, made before the rows come or when some
//! are there, and after each batch of changes the view equals its SELECT on Weir and the SELECT
//! on PostgreSQL over the same rows.
//!
//! A folder has the tables (`schema.sql`) and the queries (`q01.sql`, ...). What is known to fail
//! is listed with the reason, and a listed query that passes fails the test.

mod nexmark;
mod tpch;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use futures::SinkExt;
use sqllogictest::harness::{Trial, glob};
use tokio_postgres::Client;

use crate::client::{self, execute, query, value};
use crate::compare::{same, types};
use crate::harness;

pub(crate) fn trials() -> Vec<Trial> {
    nexmark::trials().into_iter().chain(tpch::trials()).collect()
}

/// A query of a workload, kept as a view of its name.
struct Query {
    name: String,
    sql: String,
}

/// What docs/sql/tpc.md says of a workload.
struct Known {
    /// Queries that fail, and why.
    failing: &'static [(&'static str, &'static str)],
    /// Queries of which some operator computes groups or partitions anew.
    recomputing: &'static [&'static str],
}

/// A workload while it runs.
struct Workload {
    folder: &'static str,
    queries: Vec<Query>,
    /// What went wrong first with a query.
    failures: BTreeMap<String, String>,
    /// The most rows a query has given.
    rows_max: BTreeMap<String, usize>,
    /// The plans of the views that were made.
    plans: BTreeMap<String, String>,
}

impl Workload {
    /// The queries of `folder`.
    fn read(folder: &'static str) -> Result<Self> {
        let pattern = harness::path(folder).join("q*.sql");
        let mut queries = Vec::new();
        for path in glob(&pattern.to_string_lossy())? {
            let path = path?;
            let name = path.file_stem().context("a file's name")?.to_string_lossy().into_owned();
            queries.push(Query { name, sql: fs::read_to_string(&path)? });
        }
        ensure!(!queries.is_empty(), "no queries in {folder}");
        let (failures, rows_max, plans) = Default::default();
        Ok(Self { folder, queries, failures, rows_max, plans })
    }

    /// The tables of the workload.
    fn schema(&self) -> Result<String> {
        Ok(fs::read_to_string(harness::path(self.folder).join("schema.sql"))?)
    }

    /// Makes the views of the queries whose place is one of `remainder` modulo `parts`.
    async fn create(&mut self, weir: &Client, remainder: usize, parts: usize) -> Result<()> {
        let chosen = self.queries.iter().enumerate().filter(|(at, _)| at % parts == remainder);
        for (_, Query { name, sql }) in chosen {
            let create = format!("CREATE MATERIALIZED VIEW {name} AS {sql}");
            let plan = query(weir, &format!("EXPLAIN {create}")).await;
            let made = match plan {
                Ok(plan) => {
                    self.plans.insert(name.clone(), format!("{:?}", plan.rows));
                    execute(weir, &create).await
                }
                Err(error) => Err(error),
            };
            if let Err(error) = made {
                self.failures.insert(name.clone(), format!("CREATE: {error:#}"));
            }
        }
        // A failure of the statement is a query's; that of the server is the test's.
        execute(weir, "SELECT 1").await
    }

    /// Compares every view that has been made with its query on both sides.
    async fn compare(&mut self, weir: &Client, oracle: &Client, stage: &str) -> Result<()> {
        for Query { name, sql } in &self.queries {
            if self.failures.contains_key(name) || !self.plans.contains_key(name) {
                continue;
            }
            let theirs = query(oracle, sql).await?;
            let types = types(oracle, sql).await?;
            let rows_max = self.rows_max.entry(name.clone()).or_default();
            *rows_max = theirs.rows.len().max(*rows_max);
            let view = format!("SELECT * FROM {name}");
            for (side, ours) in
                [("view", query(weir, &view).await), ("SELECT", query(weir, sql).await)]
            {
                let outcome = ours.and_then(|ours| same(ours, theirs.clone(), &types));
                if let Err(error) = outcome {
                    let failure = format!("{stage}: {side}: {error:#}");
                    self.failures.entry(name.clone()).or_insert(failure);
                }
            }
        }
        execute(weir, "SELECT 1").await
    }

    /// Says how it went, and fails unless it is as `known`.
    fn finish(self, known: &Known) -> Result<()> {
        let mut wrong = Vec::new();
        for Query { name, .. } in &self.queries {
            let mut failing = known.failing.iter();
            let reason = failing.find(|(known, _)| known == name).map(|(_, reason)| *reason);
            let recomputes = self.plans.get(name).map(|plan| plan.contains("Recompute"));
            if recomputes.is_some_and(|is| is != known.recomputing.contains(&name.as_str())) {
                wrong.push(format!("{name}: recomputes: {recomputes:?}, unlike docs/sql/tpc.md"));
            }
            match (self.failures.get(name), reason) {
                (None, None) => {}
                (Some(failure), None) => wrong.push(format!("{name}: {failure}")),
                (None, Some(reason)) => {
                    wrong.push(format!("{name} passes, but is listed as failing: {reason}"));
                }
                (Some(failure), Some(reason)) => {
                    harness::say(format!("{}: {name} fails ({reason}): {failure}", self.folder));
                }
            }
        }
        let empty: Vec<&str> =
            self.rows_max.iter().filter(|(_, rows)| **rows == 0).map(|(name, _)| &**name).collect();
        harness::say(format!(
            "{}: {} queries, {} failed, {empty:?} always empty",
            self.folder,
            self.queries.len(),
            self.failures.len(),
        ));
        ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
        Ok(())
    }
}

/// How much state the views have, in words.
async fn state_of_views(weir: &Client) -> Result<String> {
    let entries = "SELECT sum(s.entries)::bigint || ' entries of state in views, ' || \
         sum(s.bytes)::bigint || ' bytes on disk' FROM weir.state_tables s \
         JOIN weir.jobs j ON j.id = s.object WHERE j.kind = 'materialized view'";
    value(weir, entries).await
}

/// Copies lines of CSV into `table`; the number of rows.
async fn copy_in(client: &Client, table: &str, lines: &[String]) -> Result<u64> {
    let copy = format!("COPY {table} FROM STDIN WITH (FORMAT csv)");
    let sink = client.copy_in(&copy).await.map_err(client::explain)?;
    let mut sink = std::pin::pin!(sink);
    for lines in lines.chunks(1000) {
        let mut piece = lines.join("\n");
        piece.push('\n');
        sink.send(bytes::Bytes::from(piece)).await.map_err(client::explain)?;
    }
    sink.finish().await.map_err(client::explain).context(copy)
}
