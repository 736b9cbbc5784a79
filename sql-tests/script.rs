//! The scripts under `slt/`, each run in every way there is, with the same answers.
//!
//! - On PostgreSQL, which proves what the script expects. It has no streaming: a materialized view
//!   is a plain one there, which raises errors when it is read as with `on_error = 'fail'`, and
//!   FLUSH is not said.
//! - On Weir, at parallelism 1 and 4.
//! - On Weir, killed with `kill -9` and restarted between statements, at places that the seed
//!   chooses, but not inside a transaction, which dies with its session in any database; but for
//!   those of `sequences/`, whose numbers have gaps then.
//! - On Weir, every query of `queries/` as a materialized view too, which is made when the query
//!   first comes, kept while the script goes on, and read beside it.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use async_trait::async_trait;
use rand::seq::index;
use regex::Regex;
use sqllogictest::harness::{Trial, glob};
use sqllogictest::{AsyncDB, ColumnType, DBOutput, DefaultColumnType, MakeConnection, Record};
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::client;
use crate::harness::{self, trial};
use crate::postgres;
use crate::server::Server;

const SCRIPT_KILLS_MAX: u64 = 10;

/// A way to run a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Postgres,
    Parallelism(usize),
    Killed,
    AsViews,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres => f.write_str("postgres"),
            Self::Parallelism(number) => write!(f, "parallelism_{number}"),
            Self::Killed => f.write_str("killed"),
            Self::AsViews => f.write_str("as_views"),
        }
    }
}

/// Every script, every way.
pub(crate) fn trials() -> Vec<Trial> {
    let root = harness::path("slt");
    let pattern = root.join("**/*.slt");
    let scripts: Vec<PathBuf> = glob(&pattern.to_string_lossy())
        .expect("the pattern is valid")
        .map(|script| script.expect("scripts are readable"))
        .collect();
    assert!(!scripts.is_empty(), "no scripts in {}", root.display());
    let mut trials = Vec::new();
    for script in scripts {
        let name = script.strip_prefix(&root).expect("below the root").with_extension("");
        let mut ways = vec![Way::Postgres, Way::Parallelism(1), Way::Parallelism(4)];
        // A crash leaves gaps in what sequences give: `crash` has it that nothing is given twice.
        ways.extend((!name.starts_with("sequences")).then_some(Way::Killed));
        ways.extend(name.starts_with("queries").then_some(Way::AsViews));
        for way in ways {
            let script = script.clone();
            let name = format!("slt/{}/{way}", name.display());
            trials.push(trial(name.clone(), move || run(script, way, name)));
        }
    }
    trials
}

async fn run(script: PathBuf, way: Way, name: String) -> Result<()> {
    match way {
        Way::Postgres => run_on_postgres(&script).await,
        Way::Parallelism(parallelism) => {
            let server = Server::start(parallelism).await?;
            run_on_weir(&script, server, Engine::Weir, &BTreeSet::new()).await
        }
        Way::AsViews => {
            let server = Server::start(2).await?;
            run_on_weir(&script, server, Engine::WeirViews, &BTreeSet::new()).await
        }
        Way::Killed => {
            let server = Server::start(2).await?;
            let kills = kill_points(&script, &name)?;
            run_on_weir(&script, server, Engine::Weir, &kills).await
        }
    }
}

async fn run_on_postgres(script: &Path) -> Result<()> {
    let database = postgres::Database::create().await?;
    let door = Door::new(database.port, "postgres", &database.name);
    let mut runner = runner(&door, Engine::Postgres);
    if std::env::var_os("WEIR_UPDATE").is_some() {
        let update = runner.update_test_file(
            script,
            " ",
            sqllogictest::default_validator,
            sqllogictest::default_normalizer,
            same_width,
        );
        return update.await.map_err(|error| anyhow!("{error}"));
    }
    for record in records(script)? {
        run_record(&mut runner, record).await?;
    }
    Ok(())
}

async fn run_on_weir(
    script: &Path,
    mut server: Server,
    engine: Engine,
    kills: &BTreeSet<usize>,
) -> Result<()> {
    let door = Door::new(server.port, "weir", "weir");
    let mut runner = runner(&door, engine);
    for (index, record) in records(script)?.into_iter().enumerate() {
        run_record(&mut runner, record).await?;
        if kills.contains(&index) && door.open_transactions.load(Ordering::SeqCst) == 0 {
            server.kill();
            server.restart().await?;
            door.generation.fetch_add(1, Ordering::SeqCst);
        }
    }
    ensure!(server.is_running(), "the server is gone");
    Ok(())
}

async fn run_record<D, M>(
    runner: &mut sqllogictest::Runner<D, M>,
    record: Record<D::ColumnType>,
) -> Result<()>
where
    D: AsyncDB,
    M: MakeConnection<Conn = D>,
{
    let outcome = runner.run_async(record).await;
    outcome.map(|_| ()).map_err(|error| anyhow!("{}", error.display(false)))
}

fn records(script: &Path) -> Result<Vec<Record<DefaultColumnType>>> {
    sqllogictest::parse_file(script).with_context(|| script.display().to_string())
}

/// After which records the server is killed.
fn kill_points(script: &Path, name: &str) -> Result<BTreeSet<usize>> {
    let places: Vec<usize> = records(script)?
        .iter()
        .enumerate()
        .filter(|(_, record)| matches!(record, Record::Statement { .. } | Record::Query { .. }))
        .map(|(place, _)| place)
        .collect();
    let kills_max = harness::number("WEIR_SCRIPT_KILLS").unwrap_or(SCRIPT_KILLS_MAX);
    let kills = places.len().min(usize::try_from(kills_max)?);
    let chosen = index::sample(&mut harness::random(name), places.len(), kills);
    Ok(chosen.into_iter().map(|chosen| places[chosen]).collect())
}

/// Where a server is spoken to, and what its sessions share.
#[derive(Clone)]
struct Door {
    port: u16,
    user: String,
    database: String,
    /// Counts restarts: a session of an earlier generation is dead.
    generation: Arc<AtomicUsize>,
    open_transactions: Arc<AtomicUsize>,
}

impl Door {
    fn new(port: u16, user: &str, database: &str) -> Self {
        let (user, database) = (user.to_string(), database.to_string());
        let (generation, open_transactions) = Default::default();
        Self { port, user, database, generation, open_transactions }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    Postgres,
    Weir,
    /// Weir, queries being views as well.
    WeirViews,
}

/// A session of a script, opened when it is first needed and again after a restart.
struct Session {
    engine: Engine,
    door: Door,
    client: Option<(usize, Client)>,
    /// `SET` statements, to be said again in a new session.
    settings: Vec<String>,
    in_transaction: bool,
    /// Queries that are views, with their names; those that cannot be have none.
    views: HashMap<String, Option<String>>,
}

/// An error as a script matches it: the server's words, that there is no server, or that a view is
/// not its query.
#[derive(Debug)]
enum ScriptError {
    Server(tokio_postgres::Error),
    View(String),
}

impl From<tokio_postgres::Error> for ScriptError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

impl std::error::Error for ScriptError {}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = match self {
            Self::Server(error) => error,
            Self::View(text) => return f.write_str(text),
        };
        let Some(error) = error.as_db_error() else {
            return write!(f, "(no answer from the server: {error:?})");
        };
        write!(f, "{}: {}", error.code().code(), error.message())?;
        for (name, text) in [("DETAIL", error.detail()), ("HINT", error.hint())] {
            if let Some(text) = text {
                write!(f, "\n{name}:  {text}")?;
            }
        }
        Ok(())
    }
}

type ScriptRunner<M> = sqllogictest::Runner<Session, M>;

fn runner(
    door: &Door,
    engine: Engine,
) -> ScriptRunner<impl MakeConnection<Conn = Session> + use<>> {
    let door = door.clone();
    let mut runner = sqllogictest::Runner::new(move || {
        let (client, settings, in_transaction) = (None, Vec::new(), false);
        let (door, views) = (door.clone(), HashMap::new());
        let session = Session { engine, door, client, settings, in_transaction, views };
        async move { Ok::<_, ScriptError>(session) }
    });
    runner.with_column_validator(same_width);
    runner
}

#[allow(clippy::ptr_arg)]
fn same_width<T: ColumnType>(actual: &Vec<T>, expected: &Vec<T>) -> bool {
    actual.len() == expected.len()
}

impl Session {
    async fn client(&mut self) -> Result<&Client, tokio_postgres::Error> {
        let generation = self.door.generation.load(Ordering::SeqCst);
        let open = match self.client.take() {
            Some((made, client)) if made == generation => client,
            _ => {
                let Door { port, user, database, .. } = &self.door;
                let client = client::connect(*port, user, database).await?;
                for setting in &self.settings {
                    client.simple_query(setting).await?;
                }
                client
            }
        };
        Ok(&self.client.insert((generation, open)).1)
    }

    /// Follows what a statement that went well did to the session.
    fn note(&mut self, sql: &str) {
        let first = sql.split([' ', ';', '\n']).next().unwrap_or_default().to_ascii_uppercase();
        let in_transaction = match first.as_str() {
            "BEGIN" | "START" => true,
            "COMMIT" | "END" | "ROLLBACK" | "ABORT" => {
                // To a savepoint: the transaction goes on.
                sql.to_ascii_uppercase().contains(" TO ") && self.in_transaction
            }
            _ => self.in_transaction,
        };
        match (self.in_transaction, in_transaction) {
            (false, true) => _ = self.door.open_transactions.fetch_add(1, Ordering::SeqCst),
            (true, false) => _ = self.door.open_transactions.fetch_sub(1, Ordering::SeqCst),
            _ => {}
        }
        self.in_transaction = in_transaction;
        // What a string of statements sets it is to set back itself.
        let alone = !sql.trim_end_matches(';').contains(';');
        if first == "SET" && alone && !in_transaction {
            self.settings.push(sql.to_string());
        }
    }
}

impl Session {
    /// Before what they read is dropped, the views go.
    async fn make_way(&mut self, sql: &str) -> Result<(), ScriptError> {
        if sql.trim_start().to_ascii_uppercase().starts_with("DROP") {
            for view in std::mem::take(&mut self.views).into_values().flatten() {
                self.client()
                    .await?
                    .simple_query(&format!("DROP MATERIALIZED VIEW {view}"))
                    .await?;
            }
        }
        Ok(())
    }

    /// The view of a query has `rows`, which the query has just given.
    async fn compare_view(&mut self, sql: &str, rows: &[Vec<String>]) -> Result<(), ScriptError> {
        let first = sql.trim_start().split([' ', '\n', '(']).next().unwrap_or_default();
        let several = sql.trim().trim_end_matches(';').contains(';');
        if several || !["SELECT", "WITH", "VALUES"].contains(&&*first.to_ascii_uppercase()) {
            return Ok(());
        }
        if !self.views.contains_key(sql) {
            let name = format!("as_view_{}", self.views.len());
            let made = format!("CREATE MATERIALIZED VIEW {name} AS {sql}");
            let made = match self.client().await?.simple_query(&made).await {
                Ok(_) => Some(name),
                Err(error) if cannot_be_a_view(&error) => None,
                Err(error) => return Err(error.into()),
            };
            self.views.insert(sql.to_string(), made);
        }
        let Some(Some(name)) = self.views.get(sql).cloned() else { return Ok(()) };
        let messages = self.client().await?.simple_query(&format!("SELECT * FROM {name}")).await?;
        let DBOutput::Rows { rows: mut kept, .. } = output(messages) else { return Ok(()) };
        let mut rows = rows.to_vec();
        rows.sort();
        kept.sort();
        if rows == kept {
            return Ok(());
        }
        Err(ScriptError::View(format!("the query gives {rows:?}, its view has {kept:?}")))
    }
}

/// Whether a query is none that a view can have: columns of one name, rows as columns, system
/// tables, the time.
fn cannot_be_a_view(error: &tokio_postgres::Error) -> bool {
    let Some(error) = error.as_db_error() else { return false };
    let message = error.message();
    match error.code().code() {
        "42701" | "42P16" => true,
        "0A000" => {
            message.contains("a materialized view over schema")
                || message.contains("function now()")
        }
        _ => false,
    }
}

#[async_trait]
impl AsyncDB for Session {
    type Error = ScriptError;
    type ColumnType = DefaultColumnType;

    async fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, ScriptError> {
        let Some(said) = translate(self.engine, sql) else {
            return Ok(DBOutput::StatementComplete(0));
        };
        if self.engine == Engine::WeirViews {
            self.make_way(sql).await?;
        }
        let messages = self.client().await?.simple_query(&said).await?;
        self.note(sql.trim());
        let answer = output(messages);
        if self.engine == Engine::WeirViews
            && !self.in_transaction
            && let DBOutput::Rows { rows, .. } = &answer
        {
            self.compare_view(sql, rows).await?;
        }
        Ok(answer)
    }

    async fn shutdown(&mut self) {
        self.client = None;
    }

    fn engine_name(&self) -> &str {
        match self.engine {
            Engine::Postgres => "postgres",
            Engine::Weir | Engine::WeirViews => "weir",
        }
    }

    async fn sleep(duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    fn error_sql_state(error: &ScriptError) -> Option<String> {
        match error {
            ScriptError::Server(error) => error.code().map(|code| code.code().to_string()),
            ScriptError::View(_) => None,
        }
    }
}

/// What `sql` is in the engine's tongue; `None` if it has no word for it and needs none.
fn translate(engine: Engine, sql: &str) -> Option<String> {
    static MATERIALIZED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)\bMATERIALIZED\s+VIEW\b").expect("valid"));
    static STRICT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\s+WITH\s*\(\s*on_error\s*=\s*'fail'\s*\)").expect("valid")
    });
    if engine != Engine::Postgres {
        return Some(sql.to_string());
    }
    let word = sql.trim().trim_end_matches(';').to_ascii_uppercase();
    if word == "FLUSH" {
        return None;
    }
    let sql = STRICT.replace_all(sql, "");
    Some(MATERIALIZED.replace_all(&sql, "VIEW").into_owned())
}

/// The last result, each value as the server wrote it.
fn output(messages: Vec<SimpleQueryMessage>) -> DBOutput<DefaultColumnType> {
    let (mut types, mut rows, mut count) = (Vec::new(), Vec::new(), 0);
    for message in messages {
        match message {
            SimpleQueryMessage::RowDescription(columns) => {
                types = vec![DefaultColumnType::Any; columns.len()];
                rows.clear();
            }
            SimpleQueryMessage::Row(row) => rows.push(
                (0..row.len())
                    .map(|index| match row.get(index) {
                        None => "NULL".to_string(),
                        Some("") => "(empty)".to_string(),
                        Some(value) => value.to_string(),
                    })
                    .collect(),
            ),
            SimpleQueryMessage::CommandComplete(rows) => count = rows,
            _ => {}
        }
    }
    if types.is_empty() {
        DBOutput::StatementComplete(count)
    } else {
        DBOutput::Rows { types, rows }
    }
}
