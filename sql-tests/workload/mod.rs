//! Known workloads: every query of a benchmark is a view, made before the rows come or when some
//! are there, and after each batch of changes the view equals its SELECT on Weir and the SELECT
//! on PostgreSQL over the same rows.
//!
//! A folder has the tables (`schema.sql`) and the queries (`q01.sql`, ...), each under a line that
//! says what it asks. What is known to fail is listed with the reason, and a listed query that
//! passes fails the test; so is what selects nothing, as that proves nothing. How every query is
//! kept stands in `docs/sql/tpc.md`, whose tables are made from the plans (`WEIR_UPDATE=1`).

mod nexmark;
mod tpcds;
mod tpch;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::sync::Mutex;

use anyhow::{Context, Result, anyhow, bail, ensure};
use futures::SinkExt;
use sqllogictest::harness::{Trial, glob};
use tokio_postgres::Client;

use crate::client::{self, execute, query, value};
use crate::compare::{same, types};
use crate::harness;

pub(crate) fn trials() -> Vec<Trial> {
    [nexmark::trials(), tpcds::trials(), tpch::trials()].into_iter().flatten().collect()
}

/// A query of a workload, kept as a view of its name.
struct Query {
    name: String,
    sql: String,
}

/// Queries that are known to fail, and why.
type Failing = &'static [(&'static str, &'static str)];

/// A workload while it runs.
struct Workload {
    /// Its heading in the page.
    title: &'static str,
    folder: &'static str,
    queries: Vec<Query>,
    /// What went wrong first with a query.
    failures: BTreeMap<String, String>,
    /// Queries that gave a row with more in it than NULL and zero.
    telling: BTreeSet<String>,
    /// The plans of the views that were made.
    plans: BTreeMap<String, String>,
}

impl Workload {
    /// The workload named `title`, from its `folder`.
    fn read(title: &'static str, folder: &'static str) -> Result<Self> {
        let pattern = harness::path(folder).join("q*.sql");
        let mut queries = Vec::new();
        for path in glob(&pattern.to_string_lossy())? {
            let path = path?;
            let name = path.file_stem().context("a file's name")?.to_string_lossy().into_owned();
            queries.push(Query { name, sql: fs::read_to_string(&path)? });
        }
        ensure!(!queries.is_empty(), "no queries in {folder}");
        let (failures, telling, plans) = Default::default();
        Ok(Self { title, folder, queries, failures, telling, plans })
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
                    let lines: Vec<String> = plan.rows.into_iter().flatten().flatten().collect();
                    self.plans.insert(name.clone(), lines.join("\n"));
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
            if theirs.rows.iter().flatten().flatten().any(|value| value.parse() != Ok(0.0)) {
                self.telling.insert(name.clone());
            }
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

    /// Puts `value` in the place of `parameter` in all queries.
    fn set(&mut self, parameter: &str, value: &str) {
        for query in &mut self.queries {
            query.sql = query.sql.replace(parameter, value);
        }
    }

    /// Deletes the rows of `all`: tables, or parts of them with WHERE. The views are what their
    /// queries give over nothing, and keep nothing.
    async fn empty(
        &mut self,
        weir: &Client,
        oracle: &Client,
        all: &[impl AsRef<str>],
    ) -> Result<()> {
        for rows in all.iter().map(AsRef::as_ref) {
            execute(weir, &format!("DELETE FROM {rows}")).await?;
            execute(oracle, &format!("DELETE FROM {rows}")).await?;
        }
        self.compare(weir, oracle, "emptied").await?;
        harness::say(format!("{}: emptied: {}", self.folder, state_of_views(weir).await?));
        // Aggregates without groups have a row over nothing.
        let most = value(weir, MOST_ENTRIES).await?;
        ensure!(
            most == "0" || most == "1",
            "a state table of a view has {most} entries when all is gone"
        );
        Ok(())
    }

    /// Says how it went, and fails unless all but `failing` are right and the page says how they
    /// are kept.
    fn finish(self, failing: Failing) -> Result<()> {
        let mut wrong = Vec::new();
        for Query { name, .. } in &self.queries {
            let reason = failing.iter().find(|(known, _)| known == name).map(|(_, reason)| *reason);
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
            if !self.telling.contains(name) {
                wrong.push(format!("{name} has never selected anything but NULL and zero"));
            }
        }
        let (queries, failed) = (self.queries.len(), self.failures.len());
        harness::say(format!("{}: {queries} queries, {failed} failed", self.folder));
        wrong.extend(self.check_page().err().map(|error| format!("{error:#}")));
        ensure!(wrong.is_empty(), "{}", wrong.join("\n"));
        Ok(())
    }

    /// The table of this workload in `docs/sql/tpc.md`.
    fn table(&self) -> Result<String> {
        let mut table = String::from("| query | asks for | kept |\n|---|---|---|\n");
        for Query { name, sql } in &self.queries {
            let title = sql.lines().next().and_then(|line| line.strip_prefix("-- "));
            let title = title.and_then(|line| line.strip_prefix(&format!("{name}: ")));
            let title = title.with_context(|| format!("{name} has no title"))?;
            let kept = self.plans.get(name).map_or_else(|| "refused".to_owned(), |plan| kept(plan));
            writeln!(table, "| {name} | {title} | {kept} |")?;
        }
        Ok(table)
    }

    /// Compares the table with the page's, or writes it there.
    fn check_page(&self) -> Result<()> {
        // One workload after the other: they share the page.
        static PAGE: Mutex<()> = Mutex::new(());
        let _alone = PAGE.lock().map_err(|error| anyhow!("{error}"))?;
        let path = harness::path("../docs/sql/tpc.md");
        let page = fs::read_to_string(&path)?;
        let heading = format!("\n## {}\n", self.title);
        let section = page.find(&heading).with_context(|| format!("no {heading}"))?;
        let start = section + page[section..].find("\n|").context("no table")? + 1;
        let end = page[start..].find("\n\n").map_or(page.len(), |length| start + length + 1);
        let table = self.table()?;
        if page[start..end] == table {
            return Ok(());
        }
        if std::env::var_os("WEIR_UPDATE").is_some() {
            fs::write(&path, format!("{}{table}{}", &page[..start], &page[end..]))?;
            return Ok(());
        }
        let unlike: Vec<&str> = table.lines().filter(|line| !page.contains(line)).collect();
        bail!("docs/sql/tpc.md says otherwise (WEIR_UPDATE=1 writes it):\n{}", unlike.join("\n"))
    }
}

/// How a view with this plan is kept, in words.
fn kept(plan: &str) -> String {
    let mut recomputed: Vec<String> = Vec::new();
    for line in plan.lines().filter_map(|line| line.split_once("Recompute ")) {
        let what = if line.1.contains(": Window") { "window" } else { "aggregate" };
        let scope = if line.1.starts_with("all rows") { ", all rows" } else { "" };
        let found = format!("{what}{scope}");
        if !recomputed.contains(&found) {
            recomputed.push(found);
        }
    }
    if recomputed.is_empty() {
        return "incremental".to_owned();
    }
    recomputed.sort();
    format!("**recompute**: {}", recomputed.join("; "))
}

/// How many entries the largest state table of a view has.
const MOST_ENTRIES: &str = "SELECT coalesce(max(s.entries), 0) FROM weir.state_tables s \
    JOIN weir.jobs j ON j.id = s.object WHERE j.kind = 'materialized view'";

/// How much state the views have, in words.
async fn state_of_views(weir: &Client) -> Result<String> {
    let entries = "SELECT sum(s.entries)::bigint || ' entries of state in views, ' || \
         sum(s.bytes)::bigint || ' bytes on disk' FROM weir.state_tables s \
         JOIN weir.jobs j ON j.id = s.object WHERE j.kind = 'materialized view'";
    value(weir, entries).await
}

/// Copies lines of CSV into `table` of both.
async fn load(weir: &Client, oracle: &Client, table: &str, lines: &[String]) -> Result<()> {
    let (ours, theirs) = (copy_in(weir, table, lines).await?, copy_in(oracle, table, lines).await?);
    ensure!(ours == theirs, "{table}: {ours} rows, PostgreSQL {theirs}");
    Ok(())
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
