//! `weir serve`: builds the parts, starts listeners, stops in order.
//!
//! Streams and clients have runtimes of their own, so that neither starves the other.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::config::Config;
use crate::engine::{self, Engine};
use crate::failpoint;
use crate::state::{Store, StoreOptions};
use crate::task;
use crate::{http, wire};

/// How long a thread may take to come to an end, once nothing is left to be done: what one step of
/// a query takes.
const THREADS_END_WITHIN: Duration = Duration::from_secs(5);

/// Runs the server until it is told to stop.
pub(super) fn run(config: Config) -> anyhow::Result<ExitCode> {
    let _failpoints = failpoint::setup();
    let stream = runtime("weir-stream")?;
    let clients = runtime("weir-client")?;
    let outcome = clients.block_on(serve(config, stream.handle().clone()));
    // The threads end before the process does: its exit takes the locks of RocksDB away, and a
    // thread that still reads would abort instead of leaving.
    clients.shutdown_timeout(THREADS_END_WITHIN);
    stream.shutdown_timeout(THREADS_END_WITHIN);
    outcome
}

fn runtime(name: &str) -> anyhow::Result<Runtime> {
    let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
    Builder::new_multi_thread()
        .worker_threads(threads)
        .thread_name(name)
        .enable_all()
        .build()
        .context("threads could not be started")
}

async fn serve(config: Config, stream: tokio::runtime::Handle) -> anyhow::Result<ExitCode> {
    std::fs::create_dir_all(&config.data)
        .with_context(|| format!("data folder {} could not be made", config.data.display()))?;
    let path = config.data.clone();
    // A quarter of the memory caches the disk; the rest is for operators and queries. What an epoch
    // changes is there twice when it is committed.
    let options = StoreOptions {
        cache_bytes: config.memory_bytes / 4,
        epoch_bytes_max: config.memory_bytes / 3,
    };
    let store = task::spawn_blocking(move || Store::open(&path, options))
        .await?
        .map_err(crate::error::SqlError::from)?;
    let settings = engine::Settings {
        memory_bytes: config.memory_bytes,
        parallelism: config.parallelism,
        barrier_interval: config.barrier_interval,
    };
    let engine = Engine::start(store, settings, stream, &config.data).await?;
    if config.secured
        && let Some((user, password)) = engine.secure_superuser().await?
    {
        // On standard output, not in the log: it is said this once.
        let text = format!(
            "The password of user {user} is {password}\n\
             It is shown only now. Change it with: ALTER ROLE {user} PASSWORD '...';\n"
        );
        std::io::stdout().write_all(text.as_bytes()).context("the password could not be told")?;
    }
    let tls = config.tls.map(wire::Tls::load).transpose().map_err(anyhow::Error::msg)?;
    let tls = tls.map(Arc::new);
    let sql = wire::Listener::network(config.listen)
        .await
        .with_context(|| format!("cannot listen on {}", config.listen))?;
    let address = sql.address().context("a socket without an address")?;
    let mut listeners = vec![sql];
    for folder in &config.unix_socket_directories {
        let listener = wire::Listener::machine(folder, address.port());
        let failed = || format!("cannot listen on a Unix socket in {}", folder.display());
        listeners.push(listener.with_context(failed)?);
    }
    let web = TcpListener::bind(config.http)
        .await
        .with_context(|| format!("cannot listen on {}", config.http))?;
    tracing::info!(sql = %address, http = %web.local_addr()?,
        data = %config.data.display(), "weir is ready");

    let stop = CancellationToken::new();
    let web = task::spawn("http", http::serve(web, stop.clone()));
    if !config.listen.ip().is_loopback() && tls.is_none() {
        tracing::warn!("clients of other machines are not encrypted: there is no tls_certificate");
    }
    let clients = wire::Settings {
        tls: tls.clone(),
        connections_max: config.connections_max,
        rules: config.rules,
        authentication_timeout: config.authentication_timeout,
    };
    let sql =
        task::spawn("wire", wire::serve(listeners, Arc::clone(&engine), clients, stop.clone()));

    task::spawn("reload", reload(tls, signal(SignalKind::hangup())?, stop.clone()));
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => tracing::info!("told to stop"),
        _ = interrupt.recv() => tracing::info!("interrupted"),
    }
    stop.cancel();
    sql.await?;
    web.await?.context("http failed")?;
    engine.stop().await;
    tracing::info!("stopped");
    Ok(ExitCode::SUCCESS)
}

/// Reads certificates again at each SIGHUP, until the server stops.
async fn reload(tls: Option<Arc<wire::Tls>>, mut hangups: Signal, stop: CancellationToken) {
    while stop.run_until_cancelled(hangups.recv()).await.flatten().is_some() {
        match tls.as_ref().map_or(Ok(()), |tls| tls.reload()) {
            Ok(()) => tracing::info!("certificates were read again"),
            Err(error) => tracing::error!(error, "the certificates stay as they were"),
        }
    }
}
