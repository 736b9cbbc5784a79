//! The scripts under `slt/`, each run in every way there is, with the same answers.
//!
//! - On PostgreSQL, which proves what the script expects. It has no streaming: a materialized view
//!   is a plain one there, which raises errors when it is read as with `on_error = 'fail'`, and
//!   FLUSH is not said.
//! - On Weir, at parallelism 1 and 4.
//! - On Weir, killed with `kill -9` and restarted between statements, at places that the seed
//!   chooses, but not inside a transaction, which dies with its session in any database.

use std::collections::BTreeSet;
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
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Postgres => f.write_str("postgres"),
            Self::Parallelism(number) => write!(f, "parallelism_{number}"),
            Self::Killed => f.write_str("killed"),
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
        for way in [Way::Postgres, Way::Parallelism(1), Way::Parallelism(4), Way::Killed] {
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
            run_on_weir(&script, server, &BTreeSet::new()).await
        }
        Way::Killed => {
            let server = Server::start(2).await?;
            let kills = kill_points(&script, &name)?;
            run_on_weir(&script, server, &kills).await
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

async fn run_on_weir(script: &Path, mut server: Server, kills: &BTreeSet<usize>) -> Result<()> {
    let door = Door::new(server.port, "weir", "weir");
    let mut runner = runner(&door, Engine::Weir);
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
}

/// A session of a script, opened when it is first needed and again after a restart.
struct Session {
    engine: Engine,
    door: Door,
    client: Option<(usize, Client)>,
    /// `SET` statements, to be said again in a new session.
    settings: Vec<String>,
    in_transaction: bool,
}

/// An error as a script matches it: the server's words, or that there is no server.
#[derive(Debug)]
struct ScriptError(tokio_postgres::Error);

impl std::error::Error for ScriptError {}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(error) = self.0.as_db_error() else {
            return write!(f, "(no answer from the server: {:?})", self.0);
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
        let session = Session { engine, door: door.clone(), client, settings, in_transaction };
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
        if first == "SET" && !in_transaction {
            self.settings.push(sql.to_string());
        }
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
        let client = self.client().await.map_err(ScriptError)?;
        let messages = client.simple_query(&said).await.map_err(ScriptError)?;
        self.note(sql.trim());
        Ok(output(messages))
    }

    async fn shutdown(&mut self) {
        self.client = None;
    }

    fn engine_name(&self) -> &str {
        match self.engine {
            Engine::Postgres => "postgres",
            Engine::Weir => "weir",
        }
    }

    async fn sleep(duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    fn error_sql_state(error: &ScriptError) -> Option<String> {
        error.0.code().map(|code| code.code().to_string())
    }
}

/// What `sql` is in the engine's tongue; `None` if it has no word for it and needs none.
fn translate(engine: Engine, sql: &str) -> Option<String> {
    static MATERIALIZED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)\bMATERIALIZED\s+VIEW\b").expect("valid"));
    static STRICT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\s+WITH\s*\(\s*on_error\s*=\s*'fail'\s*\)").expect("valid")
    });
    if engine == Engine::Weir {
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
