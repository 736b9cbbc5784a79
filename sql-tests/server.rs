//! Weir as its users run it: the program, a folder, ports; killed, restarted, stopped.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;
use tokio_postgres::Client;

use crate::client;
use crate::harness::{self, keep_evidence};

const START_SECONDS_MAX: u64 = 30;
const STOP_SECONDS_MAX: u64 = 30;
const LOG_BYTES_SHOWN: usize = 6_000;

/// A running server, or one that was killed and may start again on the same data and ports.
pub(crate) struct Server {
    process: Option<Child>,
    folder: TempDir,
    parallelism: usize,
    /// Where the server is made to fail, as the `FAILPOINTS` variable says it.
    failpoints: Option<&'static str>,
    /// Its memory budget, where that is not the machine's.
    memory: Option<&'static str>,
    /// More of its options; then it is ready when it says so.
    options: Vec<String>,
    /// Where PostgreSQL's protocol is spoken.
    pub(crate) port: u16,
    /// Where HTTP is spoken.
    pub(crate) http_port: u16,
    /// How long the last start took, to the first accepted session.
    pub(crate) start_took: Duration,
    /// Counts the starts, so that a client knows when to connect again.
    pub(crate) generation: usize,
}

impl Server {
    /// A server on an empty folder, ready.
    pub(crate) async fn start(parallelism: usize) -> Result<Self> {
        Self::start_failing(parallelism, None).await
    }

    /// The same, made to fail at `failpoints` until it is started again.
    pub(crate) async fn start_failing(
        parallelism: usize,
        failpoints: Option<&'static str>,
    ) -> Result<Self> {
        Self::start_as(parallelism, failpoints, None).await
    }

    /// A server that is given so much `memory`, at every start.
    pub(crate) async fn start_small(parallelism: usize, memory: &'static str) -> Result<Self> {
        Self::start_as(parallelism, None, Some(memory)).await
    }

    /// A server with more options, of which it may ask for passwords.
    pub(crate) async fn start_with(options: &[&str]) -> Result<Self> {
        let mut server = Self::unstarted(1, None, None)?;
        server.options = options.iter().map(|option| (*option).to_owned()).collect();
        server.restart().await?;
        Ok(server)
    }

    async fn start_as(
        parallelism: usize,
        failpoints: Option<&'static str>,
        memory: Option<&'static str>,
    ) -> Result<Self> {
        let mut server = Self::unstarted(parallelism, failpoints, memory)?;
        server.restart().await?;
        Ok(server)
    }

    fn unstarted(
        parallelism: usize,
        failpoints: Option<&'static str>,
        memory: Option<&'static str>,
    ) -> Result<Self> {
        Ok(Self {
            process: None,
            folder: tempfile::Builder::new().prefix("weir-test-").tempdir()?,
            parallelism,
            failpoints,
            memory,
            options: Vec::new(),
            port: harness::free_port()?,
            http_port: harness::free_port()?,
            start_took: Duration::ZERO,
            generation: 0,
        })
    }

    /// Starts the process again on the same data, and waits until it takes a session.
    pub(crate) async fn restart(&mut self) -> Result<()> {
        self.launch()?;
        self.wait_until_ready().await
    }

    /// Starts the process without waiting for it.
    pub(crate) fn launch(&mut self) -> Result<()> {
        self.kill();
        let log = File::options().create(true).append(true).open(self.log_path())?;
        self.process = Some(
            self.command(&self.data())
                .stdin(Stdio::null())
                .stdout(log.try_clone()?)
                .stderr(log)
                .spawn()
                .context("setpriv (util-linux) starts the server")?,
        );
        self.generation += 1;
        Ok(())
    }

    /// `weir serve` over `data`, on this server's ports. It dies with the thread that runs it.
    fn command(&self, data: &Path) -> Command {
        let mut command = without_settings("setpriv");
        command.args(["--pdeathsig", "KILL"]).arg(binary()).arg("serve");
        command.arg("--data").arg(data);
        command.arg("--http").arg(format!("127.0.0.1:{}", self.http_port));
        command.arg("--parallelism").arg(self.parallelism.to_string());
        if !self.options.iter().any(|option| option == "--listen") {
            command.arg("--listen").arg(format!("127.0.0.1:{}", self.port));
        }
        command
            .args(self.options.iter().map(|option| option.replace("PORT", &self.port.to_string())));
        if let Some(memory) = self.memory {
            command.arg("--memory").arg(memory);
        }
        if let Some(failpoints) = self.failpoints.filter(|_| self.generation == 0) {
            command.env("FAILPOINTS", failpoints);
        }
        command
    }

    /// A second server over the same folder, on other ports: what it said and how it ended.
    pub(crate) fn run_second(&self) -> Result<Output> {
        let mut command = without_settings("timeout");
        command.arg("20").arg(binary()).arg("serve").arg("--data").arg(self.data());
        command.arg("--listen").arg(format!("127.0.0.1:{}", harness::free_port()?));
        command.arg("--http").arg(format!("127.0.0.1:{}", harness::free_port()?));
        Ok(command.stdin(Stdio::null()).output()?)
    }

    /// `weir check` over the folder of a stopped server.
    pub(crate) fn run_check(&self) -> Result<Output> {
        let mut command = without_settings(binary());
        command.arg("check").arg("--data").arg(self.data());
        Ok(command.stdin(Stdio::null()).output()?)
    }

    /// Every view of a stopped server must be what `weir check` computes.
    pub(crate) fn check_views(&self) -> Result<()> {
        let check = self.run_check()?;
        let said = String::from_utf8_lossy(&check.stdout);
        ensure!(check.status.success(), "weir check: {said}");
        Ok(())
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        loop {
            let ready = match self.options.is_empty() {
                true => self.connect().await.is_ok(),
                false => self.logged("weir is ready").len() >= self.generation,
            };
            if ready {
                self.start_took = started.elapsed();
                return Ok(());
            }
            let process = self.process.as_mut().context("the server was not started")?;
            if let Some(status) = process.try_wait()? {
                bail!("the server ended while starting: {status}\n{}", self.log());
            }
            if started.elapsed() > Duration::from_secs(START_SECONDS_MAX) {
                bail!("the server takes no session after {START_SECONDS_MAX} s");
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// A session in the default database.
    pub(crate) async fn connect(&self) -> Result<Client, tokio_postgres::Error> {
        client::connect(self.port, "weir", "weir").await
    }

    /// `kill -9`. Returns when the process is gone.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may have ended by itself; wait reaps it in any case.
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Whether the process runs.
    pub(crate) fn is_running(&mut self) -> bool {
        self.process.as_mut().is_some_and(|process| matches!(process.try_wait(), Ok(None)))
    }

    /// Options for the next start.
    pub(crate) fn set_options(&mut self, options: &[&str]) {
        self.options = options.iter().map(|option| (*option).to_owned()).collect();
    }

    /// Sends a signal to the process.
    pub(crate) fn signal(&self, signal: &str) -> Result<()> {
        harness::send_signal(self.process.as_ref().context("the server is not running")?, signal)
    }

    /// `weir serve` with these options, over a folder of its own: what it said and how it ended.
    pub(crate) fn run_refused(options: &[&str]) -> Result<Output> {
        let folder = tempfile::Builder::new().prefix("weir-test-").tempdir()?;
        let mut command = without_settings("timeout");
        command.arg("20").arg(binary()).arg("serve").arg("--data").arg(folder.path().join("data"));
        command.arg("--http").arg(format!("127.0.0.1:{}", harness::free_port()?)).args(options);
        Ok(command.stdin(Stdio::null()).output()?)
    }

    /// SIGTERM, and the status with which the server ends.
    pub(crate) async fn stop(&mut self) -> Result<ExitStatus> {
        let mut process = self.process.take().context("the server is not running")?;
        harness::send_signal(&process, "TERM")?;
        let asked = Instant::now();
        while asked.elapsed() < Duration::from_secs(STOP_SECONDS_MAX) {
            if let Some(status) = process.try_wait()? {
                return Ok(status);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.process = Some(process);
        bail!("the server still runs {STOP_SECONDS_MAX} s after SIGTERM");
    }

    /// Resident memory of the process, in bytes: now, and at its highest.
    pub(crate) fn memory(&self) -> Result<(u64, u64)> {
        let process = self.process.as_ref().context("the server is not running")?;
        let status = fs::read_to_string(format!("/proc/{}/status", process.id()))?;
        let field = |name: &str| -> Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let text = line.with_context(|| format!("{name} in /proc"))?;
            let number = text.trim().trim_end_matches(" kB").trim();
            Ok(number.parse::<u64>()? * 1024)
        };
        Ok((field("VmRSS:")?, field("VmHWM:")?))
    }

    /// The data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// The lines of the log with `text` in them.
    pub(crate) fn logged(&self, text: &str) -> Vec<String> {
        let log = fs::read(self.log_path()).unwrap_or_default();
        let lines = String::from_utf8_lossy(&log);
        lines.lines().filter(|line| line.contains(text)).map(str::to_string).collect()
    }

    /// The end of what the server has logged.
    pub(crate) fn log(&self) -> String {
        let log = fs::read(self.log_path()).unwrap_or_default();
        let from = log.len().saturating_sub(LOG_BYTES_SHOWN);
        String::from_utf8_lossy(&log[from..]).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        keep_evidence(format!("--- the server's log, its end ---\n{}", self.log()));
    }
}

/// A command that does not see the `WEIR_*` variables, which are for the tests: the server would
/// take them for its settings.
fn without_settings(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("WEIR_") && text != "WEIR_LOG" {
            command.env_remove(&name);
        }
    }
    command
}

/// The program under test. Another checkout that shares the target folder may replace it while
/// we run, so we hold on to the file that is there now.
pub(crate) fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let held = held_binary();
        let _ = fs::remove_file(&held);
        match fs::hard_link(env!("CARGO_BIN_EXE_weir"), &held) {
            Ok(()) => held,
            Err(_) => PathBuf::from(env!("CARGO_BIN_EXE_weir")),
        }
    })
}

fn held_binary() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("weir-{}", std::process::id()))
}

/// Lets go of the program at the end.
pub(crate) fn forget_binary() {
    let _ = fs::remove_file(held_binary());
}
