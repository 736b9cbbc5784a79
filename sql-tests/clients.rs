//! Real clients, unmodified, as their users install them, against the real server.
//!
//! Each script of `clients/` prints what it was given. It runs on PostgreSQL and on Weir, over the
//! objects of `clients/schema.sql`, and must print the same. `scripts/clients.sh` installs what the
//! scripts need; the tests of a language whose clients are not installed are not in the list, but
//! with WEIR_CLIENTS_MUST set they are, and fail. The clients that take minutes are tried with
//! WEIR_CLIENTS_HEAVY set: `make test-clients`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::{SinkExt, TryStreamExt};
use sqllogictest::harness::Trial;
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls};

use crate::client::{self, execute};
use crate::harness::{self, trial};
use crate::postgres::Database;
use crate::server::Server;

/// A script that takes longer hangs.
const SCRIPT_SECONDS_MAX: &str = "120";
const HEAVY_SCRIPT_SECONDS_MAX: &str = "900";

/// Test, language, script and its arguments.
const SCRIPTS: &[(&str, Language, &[&str])] = &[
    ("psycopg3", Language::Python, &["with_psycopg3.py"]),
    ("psycopg2", Language::Python, &["with_psycopg2.py"]),
    ("asyncpg", Language::Python, &["with_asyncpg.py"]),
    ("pg8000", Language::Python, &["with_pg8000.py"]),
    ("sqlalchemy", Language::Python, &["with_sqlalchemy.py", "psycopg"]),
    ("node_postgres", Language::Node, &["pg.mjs"]),
    ("postgres_js", Language::Node, &["postgres.mjs"]),
    ("kysely", Language::Node, &["kysely.mjs"]),
    ("drizzle", Language::Node, &["drizzle.mjs"]),
    ("typeorm", Language::Node, &["typeorm.mjs"]),
    ("jdbc_queries", Language::Jdbc, &["Queries.java"]),
    ("jdbc_metadata", Language::Jdbc, &["Metadata.java"]),
    ("pgx", Language::Go, &["pgx"]),
    ("lib_pq", Language::Go, &["pq"]),
    ("sqlx", Language::Rust, &[]),
    ("psql_18", Language::Terminal, &["psql18.py"]),
    ("pgcli", Language::Terminal, &["with_pgcli.py"]),
    ("odbc", Language::Odbc, &["with_pyodbc.py"]),
    ("dbt", Language::Dbt, &["run.py"]),
    ("superset", Language::Browser, &["with_superset.py"]),
    ("pgadmin", Language::Browser, &["with_pgadmin.py"]),
];

/// How its scripts are run. The last four are in Python too, each with packages of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    Node,
    Jdbc,
    Go,
    Rust,
    Terminal,
    Odbc,
    Dbt,
    /// What is seen in a browser.
    Browser,
}

impl Language {
    /// Its folder, here and where its clients are installed.
    fn folder(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::Node => "node",
            Language::Jdbc => "jdbc",
            Language::Go => "go",
            Language::Rust => "rust",
            Language::Terminal => "terminal",
            Language::Odbc => "odbc",
            Language::Dbt => "dbt",
            Language::Browser => "browser",
        }
    }

    /// Whether its scripts take minutes.
    fn is_heavy(self) -> bool {
        matches!(self, Language::Dbt | Language::Browser)
    }

    fn is_installed(self) -> bool {
        installed().is_some_and(|folder| folder.join(format!("{}.mark", self.folder())).exists())
    }

    /// The program that runs a script.
    fn command(self, arguments: &[&str], scripts: &Path) -> Result<Command> {
        let home = installed().context("HOME is not set")?;
        let mut command = Command::new("timeout");
        let seconds_max = match self.is_heavy() {
            true => HEAVY_SCRIPT_SECONDS_MAX,
            false => SCRIPT_SECONDS_MAX,
        };
        command.args(["-k", "5", seconds_max]).current_dir(scripts);
        match self {
            Language::Python
            | Language::Terminal
            | Language::Odbc
            | Language::Dbt
            | Language::Browser => {
                command.arg(home.join(self.folder()).join("bin/python")).arg("-B")
            }
            Language::Node => command.arg("node"),
            Language::Jdbc => command.args(["java", "-cp"]).arg(home.join("jdbc/postgresql.jar")),
            Language::Go => command.args(["go", "run", "."]),
            // From where it lies: a copy would be built anew.
            Language::Rust => command
                .args(["cargo", "run", "--quiet", "--locked", "--offline", "--manifest-path"])
                .arg(harness::path("clients/rust/Cargo.toml"))
                .arg("--target-dir")
                .arg(home.join("rust")),
        };
        command.args(arguments);
        Ok(command)
    }
}

/// Where `scripts/clients.sh` installs.
fn installed() -> Option<PathBuf> {
    let folder = |name| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let cache = || folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    folder("WEIR_CLIENTS").or_else(|| Some(cache()?.join("weir-clients")))
}

pub(crate) fn trials() -> Vec<Trial> {
    let must = env::var_os("WEIR_CLIENTS_MUST").is_some();
    let heavy = env::var_os("WEIR_CLIENTS_HEAVY").is_some();
    let tried =
        |language: Language| (must || language.is_installed()) && (heavy || !language.is_heavy());
    let scripts = SCRIPTS.iter().filter(|(_, language, _)| tried(*language));
    let mut trials: Vec<Trial> = scripts
        .map(|&(name, language, arguments)| {
            trial(format!("clients/{name}"), move || says_the_same(language, arguments))
        })
        .collect();
    if tried(Language::Terminal) {
        trials.push(trial("clients/psql_18_protocol_3_2", psql_18_protocol_3_2));
    }
    if must || Language::Python.is_installed() {
        trials.push(trial("clients/psycopg3_watches", psycopg_watches));
    }
    trials.push(trial("clients/tokio_postgres", tokio_postgres));
    trials.push(trial("clients/pgbench", pgbench));
    trials.push(trial("clients/pages_quote_what_is_tested", pages_quote_what_is_tested));
    trials
}

/// PostgreSQL and Weir, with the objects of `clients/schema.sql`.
async fn both() -> Result<(Database, Client, Server)> {
    let schema = fs::read_to_string(harness::path("clients/schema.sql"))?;
    let database = Database::create().await?;
    let postgres = client::connect(database.port, "postgres", &database.name).await?;
    execute(&postgres, &schema.replace("MATERIALIZED VIEW", "VIEW")).await?;
    let server = Server::start(1).await?;
    execute(&server.connect().await?, &schema).await?;
    Ok((database, postgres, server))
}

async fn says_the_same(language: Language, arguments: &'static [&'static str]) -> Result<()> {
    ensure!(language.is_installed(), "its clients are not installed: run `make clients`");
    let (database, _, server) = both().await?;
    let scripts = scripts(language)?;
    let folder = scripts.path().to_path_buf();
    let on = |port: u16, user: &'static str, name: String| {
        let folder = folder.clone();
        tokio::task::spawn_blocking(move || said(language, arguments, &folder, port, user, &name))
    };
    let (right, ours) = tokio::try_join!(
        on(database.port, "postgres", database.name.clone()),
        on(server.port, "weir", "weir".to_owned()),
    )?;
    let (right, ours) = (right?, ours?);
    let wrong = differences(&right, &ours);
    ensure!(wrong.is_empty(), "(< PostgreSQL, > Weir)\n{wrong}");
    let ended_well = right.ends_with("exit status: 0\n") && !right.contains(" FAILED ");
    ensure!(ended_well, "a step fails on PostgreSQL:\n{right}");
    let errors = server.logged("ERROR");
    ensure!(errors.is_empty(), "the server's log:\n{}", errors.join("\n"));
    Ok(())
}

/// A copy of a language's scripts, with node's modules beside them: node looks for them there.
fn scripts(language: Language) -> Result<TempDir> {
    let copy = tempfile::Builder::new().prefix("weir-clients-").tempdir()?;
    copy_folder(&harness::path("clients").join(language.folder()), copy.path())?;
    if language == Language::Node {
        let modules = installed().context("HOME is not set")?.join("node/node_modules");
        std::os::unix::fs::symlink(modules, copy.path().join("node_modules"))?;
    }
    Ok(copy)
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    for file in fs::read_dir(from)? {
        let file = file?;
        let copy = to.join(file.file_name());
        if file.file_type()?.is_dir() {
            fs::create_dir(&copy)?;
            copy_folder(&file.path(), &copy)?;
        } else {
            fs::copy(file.path(), copy)?;
        }
    }
    Ok(())
}

/// What a script prints about a server.
fn said(
    language: Language,
    arguments: &[&str],
    scripts: &Path,
    port: u16,
    user: &str,
    database: &str,
) -> Result<String> {
    let url = format!("postgres://{user}@127.0.0.1:{port}/{database}");
    let output = language
        .command(arguments, scripts)?
        .env("DATABASE_URL", url)
        .env("TZ", "UTC")
        .stdin(Stdio::null())
        .output()?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text.push_str(&format!("{}\n", output.status));
    Ok(text)
}

/// The lines in which two texts differ.
fn differences(right: &str, ours: &str) -> String {
    let (right, ours): (Vec<&str>, Vec<&str>) = (right.lines().collect(), ours.lines().collect());
    let mut wrong = String::new();
    for line in 0..right.len().max(ours.len()) {
        let (right, ours) = (right.get(line), ours.get(line));
        if right != ours {
            wrong.push_str(&format!(
                "< {}\n> {}\n",
                right.unwrap_or(&"(no line)"),
                ours.unwrap_or(&"(no line)")
            ));
        }
    }
    wrong
}

/// PostgreSQL 15 does not speak this version, so Weir is asked alone.
async fn psql_18_protocol_3_2() -> Result<()> {
    ensure!(Language::Terminal.is_installed(), "psql 18 is not installed: run `make clients`");
    let server = Server::start(1).await?;
    let scripts = scripts(Language::Terminal)?;
    let (folder, port) = (scripts.path().to_path_buf(), server.port);
    let said = tokio::task::spawn_blocking(move || {
        said(Language::Terminal, &["protocol.py"], &folder, port, "weir", "weir")
    });
    let said = said.await??;
    for right in ["Protocol Version|3.2", "canceling statement due to user request"] {
        ensure!(said.contains(right), "not in what it says: {right}\n{said}");
    }
    Ok(())
}

/// Where the Python packages of the terminal's clients are, PostgreSQL 18 among them.
pub(crate) fn python_packages_of_terminal() -> Result<PathBuf> {
    ensure!(Language::Terminal.is_installed(), "psql 18 is not installed: run `make clients`");
    let home = installed().context("HOME is not set")?.join(Language::Terminal.folder());
    let versions = fs::read_dir(home.join("lib"))?.filter_map(|entry| Some(entry.ok()?.path()));
    let mut packages = versions.map(|version| version.join("site-packages"));
    packages.find(|path| path.is_dir()).context("no Python packages")
}

/// What only Weir has.
async fn psycopg_watches() -> Result<()> {
    let language = Language::Python;
    ensure!(language.is_installed(), "its clients are not installed: run `make clients`");
    let server = Server::start(1).await?;
    let scripts = scripts(language)?;
    let (folder, port) = (scripts.path().to_path_buf(), server.port);
    let work = move || said(language, &["watching.py"], &folder, port, "weir", "weir");
    let ours = tokio::task::spawn_blocking(work).await??;
    let right = "stream ([(1, 1, 'one'), (-1, 1, 'one'), (1, 1, 'uno')], '57014')
cursor (1, 2, 'two')
copy ([('1', '1', 'uno'), ('1', '2', 'two')], ('-1', '1', 'uno'))
exit status: 0
";
    let wrong = differences(right, &ours);
    ensure!(wrong.is_empty(), "(< right, > Weir)\n{wrong}");
    Ok(())
}

async fn tokio_postgres() -> Result<()> {
    let (_database, mut postgres, server) = both().await?;
    let right = with_tokio_postgres(&mut postgres).await.context("PostgreSQL")?;
    let ours = with_tokio_postgres(&mut server.connect().await?).await.context("Weir")?;
    let wrong = differences(&right.join("\n"), &ours.join("\n"));
    ensure!(wrong.is_empty(), "(< PostgreSQL, > Weir)\n{wrong}");
    Ok(())
}

/// What a program in Rust does: everything in binary, by the types that the server tells.
async fn with_tokio_postgres(client: &mut Client) -> Result<Vec<String>> {
    let mut said = Vec::new();
    // docs: connect
    let insert = client
        .prepare("INSERT INTO payment VALUES ($1, $2, $3::text::numeric) RETURNING id")
        .await?;
    for (id, account, amount) in [(1_i64, "ada", "10.50"), (2, "bob", "3"), (3, "ada", "-0.50")] {
        client.query_one(&insert, &[&id, &account, &amount]).await?;
    }
    for row in client.query("SELECT account, payments FROM balance ORDER BY 1", &[]).await? {
        let (account, payments): (&str, i64) = (row.get(0), row.get("payments"));
        said.push(format!("{account}: {payments}"));
    }
    // docs: end
    let typed = client.prepare("SELECT id, account, amount FROM payment WHERE id = $1").await?;
    let columns = typed.columns().iter().map(|c| (c.name(), c.type_().name()));
    said.push(format!("{:?} {:?}", typed.params(), columns.collect::<Vec<_>>()));
    let row = client
        .query_one(
            "SELECT $1::bool, $2::smallint, $3::int, $4::bigint, $5::real, $6::float8, $7::text,
                $8::bytea, $9::int[], $10::text[], $11::text",
            &[
                &true,
                &7_i16,
                &-40_000_i32,
                &5_000_000_000_i64,
                &0.5_f32,
                &1.5_f64,
                &"naïve",
                &b"\x00\xff".as_slice(),
                &vec![Some(1), None],
                &vec!["a", "b,c"],
                &None::<String>,
            ],
        )
        .await?;
    said.push(format!(
        "{:?}",
        (
            row.get::<_, bool>(0),
            row.get::<_, i16>(1),
            row.get::<_, i32>(2),
            row.get::<_, i64>(3),
            row.get::<_, f32>(4),
            row.get::<_, f64>(5),
            row.get::<_, String>(6),
            row.get::<_, Vec<u8>>(7),
            row.get::<_, Vec<Option<i32>>>(8),
            row.get::<_, Vec<String>>(9),
            row.get::<_, Option<String>>(10),
        )
    ));
    // Several queries at once on one connection.
    let (one, failed, two) = tokio::join!(
        client.query_one("SELECT $1::int", &[&1]),
        client.query_one("SELECT 1 / $1::int", &[&0]),
        client.query_one("SELECT $1::int", &[&2]),
    );
    let failed = client::explain(failed.err().context("it divides by zero")?);
    said.push(format!("{} {failed} {}", one?.get::<_, i32>(0), two?.get::<_, i32>(0)));

    let transaction = client.transaction().await?;
    let portal = transaction.bind("SELECT generate_series(1, $1::int)", &[&5]).await?;
    for _ in 0..3 {
        let rows = transaction.query_portal(&portal, 2).await?;
        said.push(format!("{:?}", rows.iter().map(|row| row.get(0)).collect::<Vec<i32>>()));
    }
    transaction.execute("DELETE FROM payment", &[]).await?;
    transaction.rollback().await?;

    let sink = client.copy_in("COPY payment FROM STDIN WITH (FORMAT csv)").await?;
    let mut sink = std::pin::pin!(sink);
    sink.send(bytes::Bytes::from_static(b"4,eve,1\n5,eve,2\n")).await?;
    said.push(format!("copied {}", sink.finish().await?));
    let out = client.copy_out("COPY (SELECT * FROM payment ORDER BY id) TO STDOUT").await?;
    let out: Vec<bytes::Bytes> = out.try_collect().await?;
    said.push(String::from_utf8(out.concat())?);

    let cancel = client.cancel_token();
    let (slept, _) = tokio::join!(client.query("SELECT pg_sleep(10)", &[]), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancel.cancel_query(NoTls).await
    });
    said.push(client::explain(slept.err().context("it is cancelled")?).to_string());
    Ok(said)
}

/// pgbench by each of its protocols: whatever it moved is in every table and in the view.
async fn pgbench() -> Result<()> {
    let server = Server::start(2).await?;
    let client = server.connect().await?;
    bench(&server, &["-i", "-q"])?;
    let view = "CREATE MATERIALIZED VIEW moved AS
        SELECT sum(delta) AS total, count(*) AS n FROM pgbench_history";
    execute(&client, view).await?;
    for protocol in ["simple", "extended", "prepared"] {
        bench(&server, &["-n", "-M", protocol, "-c", "4", "-j", "2", "-t", "10"])?;
    }
    let all = |sql: &'static str| client::value(&client, sql);
    let moved = all("SELECT total FROM moved").await?;
    ensure!(all("SELECT n FROM moved").await? == "120", "a transaction is missing");
    for sums in [
        "SELECT sum(abalance) FROM pgbench_accounts",
        "SELECT sum(bbalance) FROM pgbench_branches",
        "SELECT sum(tbalance) FROM pgbench_tellers",
    ] {
        let sum = all(sums).await?;
        ensure!(sum == moved, "{sums}: {sum}, moved {moved}");
    }
    Ok(())
}

fn bench(server: &Server, arguments: &[&str]) -> Result<()> {
    let output = Command::new("pgbench")
        .args(["-h", "127.0.0.1", "-U", "weir", "-p", &server.port.to_string()])
        .args(arguments)
        .arg("weir")
        .output()
        .context("pgbench comes with postgresql-client or postgresql")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "pgbench {arguments:?}: {said}");
    let out = String::from_utf8_lossy(&output.stdout);
    let failed = out.contains("failed transactions: ") && !out.contains("transactions: 0 (");
    ensure!(!failed, "pgbench {arguments:?}:\n{out}");
    Ok(())
}

/// Every piece of code on the pages of `docs/clients` stands in a script that is run, between
/// `docs: NAME` and `docs: end`.
async fn pages_quote_what_is_tested() -> Result<()> {
    let mut tested = String::new();
    let mut folders = vec![harness::path("clients")];
    while let Some(folder) = folders.pop() {
        for file in fs::read_dir(folder)? {
            let path = file?.path();
            match path.is_dir() {
                true => folders.push(path),
                false => tested.push_str(&quotable(&fs::read_to_string(path)?)),
            }
        }
    }
    tested.push_str(&quotable(&fs::read_to_string(harness::path("clients.rs"))?));

    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clients");
    let mut quotes = 0;
    for page in fs::read_dir(pages)? {
        let page = page?.path();
        if page.extension().is_none_or(|ending| ending != "md") {
            continue;
        }
        let text = fs::read_to_string(&page)?;
        for block in text.split("```").skip(1).step_by(2) {
            let (language, code) = block.split_once('\n').context("a fenced block")?;
            if !matches!(language, "python" | "js" | "java" | "go" | "rust" | "yaml" | "jinja") {
                continue;
            }
            quotes += 1;
            let quoted = tested.contains(&trimmed(code));
            ensure!(quoted, "{}: not in a script that is run:\n{code}", page.display());
        }
    }
    ensure!(quotes > 0, "the pages quote nothing");
    Ok(())
}

/// The parts of a script that a page may quote.
fn quotable(script: &str) -> String {
    let mut inside = false;
    let lines = script.lines().filter(|line| {
        let mark = line.trim_start().trim_start_matches(['#', '/', '-', ' ']);
        if mark.starts_with("docs: ") && line.trim_start().starts_with(['#', '/', '-']) {
            inside = !mark.ends_with("end");
            return false;
        }
        inside
    });
    trimmed(&lines.map(|line| format!("{line}\n")).collect::<String>())
}

/// A text without its lines' indentation.
fn trimmed(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim())).collect()
}
