//! A case: tables, batches, views over them; and what running it on both servers shows.
//!
//! Each view stands twice, created before the first batch and in the middle. After every batch
//! the rows of both, of the same SELECT on Weir, and of the same SELECT on PostgreSQL are one
//! multiset of text. At the end all rows are deleted, and the state of each view is as it was
//! before there were any.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::Duration;

use anyhow::{Result, anyhow};
use tokio_postgres::Client;

use super::kind::Kind;
use super::schema::{Batch, Column, Statement, Table};
use super::tree::Tree;
use crate::client::{self, query};
use crate::harness;
use crate::postgres;
use crate::server::Server;

/// What takes longer hangs.
const ANSWER_SECONDS_MAX: u64 = 120;
/// A query that PostgreSQL takes longer for multiplies too much to be of use.
const POSTGRES_MS_MAX: u64 = 2000;
const POSTGRES_ROWS_MAX: usize = 3000;

/// What the server says when it plans a view otherwise than before.
const REPLANNED: &str = "planned differently now";

#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) name: String,
    pub(super) query: Tree,
    pub(super) kinds: Vec<Kind>,
    /// The views that it reads, and those that they read.
    pub(super) reads: BTreeSet<String>,
}

impl View {
    /// The view as a table that other queries read.
    pub(super) fn table(&self) -> Table {
        // What is rough is for looking at.
        let columns = self.kinds.iter().enumerate().filter(|(_, kind)| **kind != Kind::Rough);
        let columns = columns.map(|(place, kind)| Column::new(format!("c{place}"), *kind));
        Table { name: self.name.clone(), columns: columns.collect(), keyed: false }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) parallelism: usize,
    pub(super) tables: Vec<Table>,
    pub(super) batches: Vec<Batch>,
    pub(super) views: Vec<View>,
    /// After how many batches the second copies of the views are created.
    pub(super) late_after: usize,
}

/// In what way a view is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    /// CREATE MATERIALIZED VIEW is refused.
    ViewRefused,
    /// The query is refused as a SELECT, or reading the view fails.
    SelectRefused,
    /// The types of the columns are not PostgreSQL's.
    Types,
    /// The SELECT gives other rows than PostgreSQL's.
    Select,
    /// The view has other rows than PostgreSQL's SELECT.
    View,
    /// The view that was created late has.
    LateView,
    /// An entry in weir.errors that PostgreSQL has no error for.
    RowError,
    /// The view is planned otherwise after a restart.
    Plan,
    /// Rows in state tables that nothing is left of.
    State,
    /// The server, a job or a write failed, or took too long.
    Server,
}

#[derive(Debug, Clone)]
pub(super) struct Failure {
    /// The view; none when it is not known which one made the server fail.
    pub(super) view: Option<String>,
    pub(super) wrong: Wrong,
    /// In which batch, from 0.
    pub(super) batch: usize,
    /// The error's words, alike for errors of a kind; or nothing.
    pub(super) kind: String,
    /// The answers.
    pub(super) detail: String,
}

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) queries: usize,
    pub(super) compared: usize,
    pub(super) batches: usize,
    /// Queries that PostgreSQL refuses, or fails on.
    pub(super) dropped: usize,
}

/// A Weir and a PostgreSQL, on which cases run one after the other.
pub(super) struct Bench {
    pub(super) server: Server,
    weir: Client,
    oracle: Client,
    /// PostgreSQL again, for queries that may take too long.
    limited: Client,
    parallelism: usize,
    runs: usize,
    pub(super) counts: Counts,
}

impl Bench {
    pub(super) async fn start(parallelism: usize) -> Result<Self> {
        let server = Server::start(parallelism).await?;
        let database = postgres::Database::create().await?;
        let (weir, oracle) = (server.connect().await?, database.connect().await?);
        let limited = database.connect().await?;
        let limit = format!("SET statement_timeout = {POSTGRES_MS_MAX}");
        client::execute(&limited, &limit).await?;
        Ok(Self { server, weir, oracle, limited, parallelism, runs: 0, counts: Counts::default() })
    }

    async fn restart(&mut self, schema: &str) -> Result<()> {
        self.server.kill();
        self.server.restart().await?;
        self.weir = self.server.connect().await?;
        client::execute(&self.weir, &format!("SET search_path = {schema}")).await
    }

    /// Runs the case in a schema of its own.
    pub(super) async fn run(&mut self, case: &Case) -> Result<Vec<Failure>> {
        self.runs += 1;
        let schema = format!("o{}", self.runs);
        self.everywhere(&format!("CREATE SCHEMA {schema}"), "public").await?;
        let path = format!("SET search_path = {schema}");
        client::execute(&self.limited, &path).await?;
        self.everywhere(&path, "public").await?;
        let mut run = Run {
            bench: self,
            case,
            schema: &schema,
            batch: 0,
            late: false,
            dead: BTreeSet::new(),
            empty: BTreeMap::new(),
            failures: Vec::new(),
        };
        run.whole().await?;
        let failures = run.failures;
        self.everywhere(&format!("DROP SCHEMA {schema} CASCADE"), "public").await?;
        Ok(failures)
    }

    /// Whether PostgreSQL takes the views.
    pub(super) async fn accepts(&self, case: &Case) -> Result<bool> {
        let mut all = "BEGIN; CREATE SCHEMA trial; SET LOCAL search_path = trial;".to_string();
        for table in &case.tables {
            let _ = write!(all, "{};", table.create());
        }
        for view in &case.views {
            let _ = write!(all, "CREATE VIEW {} AS {};", view.name, view.query);
        }
        let accepted = self.oracle.batch_execute(&all).await.is_ok();
        client::execute(&self.oracle, "ROLLBACK").await?;
        Ok(accepted)
    }

    /// Says it to both; a server that hangs or is gone is started again first.
    async fn everywhere(&mut self, sql: &str, schema: &str) -> Result<()> {
        client::execute(&self.oracle, sql).await?;
        if self.say(sql).await.is_ok() {
            return Ok(());
        }
        let again = match self.restart(schema).await {
            Ok(()) => self.say(sql).await,
            Err(error) => Err(error),
        };
        if let Err(error) = again {
            // What made it so is a failure of the case; the next ones get a server that works.
            harness::say(format!("{sql}: a new server, since {error:#}"));
            self.server = Server::start(self.parallelism).await?;
            self.weir = self.server.connect().await?;
            if !sql.starts_with("DROP") {
                self.say(sql).await?;
            }
        }
        Ok(())
    }

    async fn say(&self, sql: &str) -> Result<()> {
        within(client::execute(&self.weir, sql)).await
    }
}

/// One run of a case.
struct Run<'a> {
    bench: &'a mut Bench,
    case: &'a Case,
    schema: &'a str,
    batch: usize,
    /// Whether the second copies of the views are there.
    late: bool,
    /// Views that are not looked at any more: refused by PostgreSQL, or failed.
    dead: BTreeSet<String>,
    /// The state of each view before any row.
    empty: BTreeMap<String, BTreeMap<(String, String), u64>>,
    failures: Vec<Failure>,
}

impl Run<'_> {
    async fn whole(&mut self) -> Result<()> {
        for table in &self.case.tables {
            self.bench.everywhere(&table.create(), self.schema).await?;
        }
        let case = self.case;
        for view in &case.views {
            self.create(view).await?;
        }
        self.empty = self.state().await.unwrap_or_default();
        self.compare().await;
        for (number, batch) in case.batches.iter().enumerate() {
            self.batch = number;
            if number == case.late_after {
                self.create_late().await;
            }
            if !self.apply(batch).await? {
                return Ok(());
            }
            self.compare().await;
            self.bench.counts.batches += 1;
            self.look_for_trouble().await;
        }
        self.batch = case.batches.len();
        if !case.batches.is_empty() {
            self.empty_all().await?;
        }
        Ok(())
    }

    fn fail(&mut self, view: Option<&View>, wrong: Wrong, error: &str, detail: String) {
        if let Some(view) = view {
            self.dead.insert(view.name.clone());
        }
        self.failures.push(Failure {
            view: view.map(|view| view.name.clone()),
            wrong,
            batch: self.batch,
            kind: kind_of_error(error),
            detail,
        });
    }

    fn is_dead(&self, view: &View) -> bool {
        self.dead.contains(&view.name) || view.reads.iter().any(|read| self.dead.contains(read))
    }

    async fn create(&mut self, view: &View) -> Result<()> {
        if self.is_dead(view) {
            return Ok(());
        }
        let (name, sql) = (&view.name, view.query.to_string());
        self.bench.counts.queries += 1;
        let plain = format!("CREATE VIEW {name} AS {sql}");
        if client::execute(&self.bench.oracle, &plain).await.is_err() {
            self.bench.counts.dropped += 1;
            self.dead.insert(name.clone());
            return Ok(());
        }
        let create = format!("CREATE MATERIALIZED VIEW {name} AS {sql}");
        if let Err(error) = self.bench.say(&create).await {
            let error = root(&error);
            self.fail(Some(view), Wrong::ViewRefused, &error, error.clone());
            return Ok(());
        }
        let weir = within(types(&self.bench.weir, &format!("SELECT * FROM {name}"))).await;
        let oracle = types(&self.bench.oracle, &format!("SELECT * FROM {name}")).await?;
        match weir {
            Err(error) => {
                let error = root(&error);
                self.fail(Some(view), Wrong::SelectRefused, &error, error.clone());
            }
            Ok(weir) if weir != oracle => {
                let detail = format!("Weir: {weir:?}\nPostgreSQL: {oracle:?}");
                self.fail(Some(view), Wrong::Types, "", detail);
            }
            Ok(_) => {}
        }
        Ok(())
    }

    async fn create_late(&mut self) {
        self.late = true;
        let case = self.case;
        for view in &case.views {
            if self.is_dead(view) {
                continue;
            }
            let (name, sql) = (&view.name, &view.query);
            let create = format!("CREATE MATERIALIZED VIEW {name}_late AS {sql}");
            if let Err(error) = self.bench.say(&create).await {
                let error = root(&error);
                self.fail(Some(view), Wrong::ViewRefused, &error, format!("late: {error}"));
            }
        }
    }

    /// Sends a batch to both. Whether Weir has taken it.
    async fn apply(&mut self, batch: &Batch) -> Result<bool> {
        for sql in batch.sql() {
            if client::execute(&self.bench.oracle, &sql).await.is_err() {
                // A statement of a shrunk case that makes no sense any more.
                client::execute(&self.bench.oracle, "ROLLBACK").await?;
                let _ = self.bench.say("ROLLBACK").await;
                return Ok(true);
            }
            if let Err(error) = self.bench.say(&sql).await {
                let error = root(&error);
                self.fail(None, Wrong::Server, &error, format!("{sql}\n{error}"));
                let _ = client::execute(&self.bench.oracle, "ROLLBACK").await;
                return Ok(false);
            }
        }
        if batch.kill {
            let schema = self.schema;
            let before = self.bench.server.logged(REPLANNED).len();
            if let Err(error) = self.bench.restart(schema).await {
                let error = root(&error);
                self.fail(None, Wrong::Server, &error, format!("restart: {error}"));
                return Ok(false);
            }
            self.look_for_new_plans(before);
        }
        Ok(true)
    }

    /// A view's plan after a restart is the plan before it.
    fn look_for_new_plans(&mut self, before: usize) {
        let lines = self.bench.server.logged(REPLANNED);
        let case = self.case;
        for line in lines.into_iter().skip(before) {
            let about = |view: &&View| {
                line.contains(&format!("\"{}\"", view.name))
                    || line.contains(&format!("\"{}_late\"", view.name))
            };
            let view = case.views.iter().find(about);
            if view.is_none_or(|view| !self.is_dead(view)) {
                self.fail(view, Wrong::Plan, REPLANNED, line);
            }
        }
    }

    async fn compare(&mut self) {
        let case = self.case;
        for view in &case.views {
            if !self.is_dead(view) {
                self.compare_view(view).await;
            }
        }
    }

    async fn compare_view(&mut self, view: &View) {
        let (name, sql) = (&view.name, view.query.to_string());
        let (select, read, late) =
            (sql.clone(), format!("SELECT * FROM {name}"), format!("SELECT * FROM {name}_late"));
        let weir = &self.bench.weir;
        let ours = async {
            let mut answers = vec![
                (Wrong::Select, within(query(weir, &select)).await),
                (Wrong::View, within(query(weir, &read)).await),
            ];
            if self.late {
                answers.push((Wrong::LateView, within(query(weir, &late)).await));
            }
            answers
        };
        let (theirs, ours) = tokio::join!(query(&self.bench.limited, &sql), ours);
        let theirs = match theirs {
            Ok(theirs) if theirs.rows.len() <= POSTGRES_ROWS_MAX => sorted(theirs.rows, view),
            _ => {
                self.bench.counts.dropped += 1;
                self.dead.insert(name.clone());
                return;
            }
        };
        let mut wrong = None;
        let mut detail = format!("PostgreSQL:\n{}", shown(&theirs));
        for (which, answer) in ours {
            self.bench.counts.compared += 1;
            match answer {
                Ok(rows) => {
                    let rows = sorted(rows.rows, view);
                    let differs = rows != theirs;
                    let rows = if differs { shown(&rows) } else { "the same\n".to_string() };
                    let _ = write!(detail, "{}:\n{rows}", label(which));
                    if differs && wrong.is_none() {
                        wrong = Some((which, String::new()));
                    }
                }
                Err(error) => {
                    let error = root(&error);
                    let _ = writeln!(detail, "{}: {error}", label(which));
                    if wrong.is_none() {
                        wrong = Some((Wrong::SelectRefused, error));
                    }
                }
            }
        }
        if let Some((which, error)) = wrong {
            self.fail(Some(view), which, &error, detail);
        }
    }

    /// Errors of rows, jobs that do not run, panics.
    async fn look_for_trouble(&mut self) {
        let case = self.case;
        let errors = "SELECT name, code, message, expression FROM weir.errors";
        match within(query(&self.bench.weir, errors)).await {
            Ok(errors) => {
                for view in &case.views {
                    let late = format!("{}_late", view.name);
                    let of = errors.rows.iter().find(|row| {
                        let name = row[0].as_deref();
                        name == Some(&view.name) || name == Some(&late)
                    });
                    if let (Some(row), false) = (of, self.is_dead(view)) {
                        let text = row.iter().flatten().cloned().collect::<Vec<_>>().join("; ");
                        let message = row[2].clone().unwrap_or_default();
                        self.fail(Some(view), Wrong::RowError, &message, text);
                    }
                }
            }
            Err(error) => {
                let error = root(&error);
                self.fail(None, Wrong::Server, &error, error.clone());
            }
        }
        let jobs = "SELECT name, error FROM weir.jobs WHERE state = 'suspended'";
        if let Ok(jobs) = within(query(&self.bench.weir, jobs)).await {
            for view in &case.views {
                let late = format!("{}_late", view.name);
                let of = jobs.rows.iter().find(|row| {
                    row[0].as_deref() == Some(&view.name) || row[0].as_deref() == Some(&late)
                });
                if let (Some(row), false) = (of, self.is_dead(view)) {
                    let error = row[1].clone().unwrap_or_default();
                    self.fail(Some(view), Wrong::Server, &error, format!("suspended: {error}"));
                }
            }
        }
    }

    /// Deletes everything and looks at what is left.
    async fn empty_all(&mut self) -> Result<()> {
        let delete = |table: &Table| Statement::Other(format!("DELETE FROM {}", table.name));
        let statements = self.case.tables.iter().map(delete).collect();
        let batch = Batch { statements, transaction: false, kill: false };
        if !self.apply(&batch).await? {
            return Ok(());
        }
        self.compare().await;
        let Ok(left) = self.state().await else { return Ok(()) };
        let case = self.case;
        for view in &case.views {
            if self.is_dead(view) {
                continue;
            }
            let none = BTreeMap::new();
            let empty = self.empty.get(&view.name).unwrap_or(&none);
            let mut detail = String::new();
            for name in [view.name.clone(), format!("{}_late", view.name)] {
                for ((operator, role), entries) in left.get(&name).unwrap_or(&none) {
                    let key = (operator.clone(), role.clone());
                    let before = empty.get(&key).copied().unwrap_or(0);
                    if *entries > before {
                        let _ = writeln!(
                            detail,
                            "{name}: operator {operator}, role {role} has {entries} entries, \
                             {before} before there were any rows"
                        );
                    }
                }
            }
            if !detail.is_empty() {
                self.fail(Some(view), Wrong::State, "", detail);
            }
        }
        Ok(())
    }

    /// The entries of each state table of each view.
    async fn state(&self) -> Result<BTreeMap<String, BTreeMap<(String, String), u64>>> {
        // An epoch later, so that what was dropped is gone.
        let sql = "SELECT name, operator, role, entries FROM weir.state_tables";
        let mut found: BTreeMap<String, BTreeMap<_, _>> = BTreeMap::new();
        for row in within(query(&self.bench.weir, sql)).await?.rows {
            let cell = |place: usize| row[place].clone().unwrap_or_default();
            let entries = cell(3).parse().unwrap_or(u64::MAX);
            found.entry(cell(0)).or_default().insert((cell(1), cell(2)), entries);
        }
        Ok(found)
    }
}

fn label(which: Wrong) -> &'static str {
    match which {
        Wrong::Select => "The SELECT on Weir",
        Wrong::View => "The view",
        _ => "The view that was created late",
    }
}

/// The types' names of a query's columns.
async fn types(client: &Client, sql: &str) -> Result<Vec<String>> {
    let statement = client.prepare(sql).await.map_err(client::explain)?;
    Ok(statement.columns().iter().map(|column| column.type_().name().to_string()).collect())
}

async fn within<T>(answer: impl Future<Output = Result<T>>) -> Result<T> {
    let limit = Duration::from_secs(ANSWER_SECONDS_MAX);
    tokio::time::timeout(limit, answer)
        .await
        .unwrap_or_else(|_| Err(anyhow!("no answer in {ANSWER_SECONDS_MAX} s")))
}

/// The server's words, without the statement.
fn root(error: &anyhow::Error) -> String {
    error.root_cause().to_string()
}

/// The words of an error without names and numbers.
fn kind_of_error(error: &str) -> String {
    let names = regex::Regex::new(r#""[^"]*"|'[^']*'"#).expect("valid");
    let numbers = regex::Regex::new(r"\d+").expect("valid");
    let (code, words) = match error.get(..5) {
        Some(code) if code.chars().all(|c| c.is_ascii_alphanumeric()) => error.split_at(5),
        _ => ("", error),
    };
    let words = words.lines().next().unwrap_or_default();
    let words = numbers.replace_all(&names.replace_all(words, "_"), "#").into_owned();
    let words: String = words.chars().take(110).collect();
    format!("{code}{words}")
}

/// As a multiset, with what differs by decision alike: the scale of a numeric, -0; and what
/// PostgreSQL leaves open: a float's last digits.
fn sorted(mut rows: Vec<Vec<Option<String>>>, view: &View) -> Vec<Vec<Option<String>>> {
    for row in &mut rows {
        for (cell, kind) in row.iter_mut().zip(&view.kinds) {
            let Some(text) = cell else { continue };
            match kind {
                Kind::Numeric if text.contains('.') => {
                    let short = text.trim_end_matches('0').trim_end_matches('.');
                    *text = if short == "-0" { "0" } else { short }.to_string();
                }
                Kind::Float | Kind::Ratio if text == "-0" => *text = "0".to_string(),
                Kind::Rough => *text = rough(text),
                _ => {}
            }
        }
    }
    rows.sort();
    rows
}

/// A float with the digits that do not depend on how it was computed.
fn rough(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if value.abs() < 1e-7 => "0".to_string(),
        Ok(value) if value.is_finite() => format!("{value:.8e}"),
        _ => text.to_string(),
    }
}

fn shown(rows: &[Vec<Option<String>>]) -> String {
    const ROWS_SHOWN: usize = 20;
    let mut text = String::new();
    for row in rows.iter().take(ROWS_SHOWN) {
        let cells: Vec<&str> = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL")).collect();
        let _ = writeln!(text, "  {}", cells.join(" | "));
    }
    if rows.len() > ROWS_SHOWN || rows.is_empty() {
        let _ = writeln!(text, "  ({} rows)", rows.len());
    }
    text
}
