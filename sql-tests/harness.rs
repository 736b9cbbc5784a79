//! What every test gets: a runtime, a time limit, a seed, and its servers' logs when it fails.

use std::cell::RefCell;
use std::collections::HashSet;
use std::env;
use std::future::Future;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{LazyLock, Mutex, OnceLock};
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use rand::SeedableRng;
use rand::rngs::StdRng;
use sqllogictest::harness::{Failed, Trial};

/// A test that hangs has failed.
pub(crate) const TRIAL_MAX: Duration = Duration::from_secs(900);

thread_local! {
    /// What the servers of the test on this thread have left to read.
    static EVIDENCE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A test named `name` that runs `body`.
pub(crate) fn trial<F, Fut>(name: impl Into<String>, body: F) -> Trial
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future<Output = Result<()>>,
{
    trial_within(name, TRIAL_MAX, body)
}

/// A test that may take as long as `limit`.
pub(crate) fn trial_within<F, Fut>(name: impl Into<String>, limit: Duration, body: F) -> Trial
where
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future<Output = Result<()>>,
{
    Trial::test(name, move || {
        EVIDENCE.take();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| Failed::from(error.to_string()))?;
        let limited = async {
            tokio::time::timeout(limit, body())
                .await
                .unwrap_or_else(|_| Err(anyhow!("still running after {limit:?}")))
        };
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| runtime.block_on(limited)))
            .unwrap_or_else(|_| Err(anyhow!("panicked")));
        runtime.shutdown_background();
        outcome.map_err(|error| {
            Failed::from(format!("{error:#}\nseed {}\n{}", seed(), EVIDENCE.take().join("\n")))
        })
    })
}

/// Keeps `text` to be shown if the test on this thread fails.
pub(crate) fn keep_evidence(text: String) {
    EVIDENCE.with_borrow_mut(|evidence| evidence.push(text));
}

/// The seed of this run.
pub(crate) fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| number("WEIR_SEED").unwrap_or_else(rand::random))
}

/// Random choices for the purpose `name`: the same for the same seed, whatever runs beside.
pub(crate) fn random(name: &str) -> StdRng {
    random_of(seed(), name)
}

/// The same, of another seed.
pub(crate) fn random_of(seed: u64, name: &str) -> StdRng {
    let salt = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    StdRng::seed_from_u64(seed ^ salt)
}

/// A number from the environment.
pub(crate) fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}

/// Says something on the way, such as a seed or a figure.
#[allow(clippy::print_stderr)]
pub(crate) fn say(text: impl AsRef<str>) {
    eprintln!("{}", text.as_ref());
}

/// A file or folder of `sql-tests`.
pub(crate) fn path(inside: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sql-tests").join(inside)
}

/// A TCP port of the loopback that nobody listens on. It lies below the range from which the
/// kernel takes ports for outgoing connections, and is given once in a run, so that it is still
/// free after a restart: a server that was killed must not find another test's in its place.
pub(crate) fn free_port() -> Result<u16> {
    static GIVEN: LazyLock<Mutex<HashSet<u16>>> = LazyLock::new(Mutex::default);
    for _ in 0..1000 {
        let port = rand::random_range(15_000..32_000);
        let is_new = GIVEN.lock().map_err(|error| anyhow!("ports: {error}"))?.insert(port);
        if is_new && std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err(anyhow!("no free port"))
}

/// Sends `signal` (`TERM`, `INT`) to a process. By the shell: a crate for it would change the
/// features with which the dependencies of the library are built.
pub(crate) fn send_signal(process: &Child, signal: &str) -> Result<()> {
    let kill = format!("kill -s {signal} {}", process.id());
    let output = Command::new("sh").arg("-c").arg(&kill).output()?;
    ensure!(output.status.success(), "{kill}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
