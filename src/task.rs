//! The only spawner of tasks: every task has a name, and its end is somebody's to see.

use std::future::Future;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::JoinHandle;

/// Runs `future` as a task of the current runtime; `name` appears in the logs if it panics.
#[allow(clippy::disallowed_methods)]
pub fn spawn<F>(name: impl Into<String>, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let name = name.into();
    tokio::spawn(tracing::Instrument::instrument(future, tracing::debug_span!("task", name)))
}

/// Runs `work`, which blocks, on the runtime's pool of blocking threads.
pub fn spawn_blocking<F, T>(work: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    tokio::task::spawn_blocking(work)
}

/// Waits for `future` on a worker thread without starving the runtime's other tasks. Only for
/// synchronous code that must wait for room downstream; the runtime must be multi-threaded.
pub fn wait<F: Future>(future: F) -> F::Output {
    tokio::task::block_in_place(|| Handle::current().block_on(future))
}

/// Runs `work`, which may take long, without keeping the other tasks of this worker thread waiting:
/// they move to another. It costs threads, and the memory that each keeps: not for everyday work.
pub fn aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Runs `future` as a task of the runtime behind `handle`.
pub fn spawn_on<F>(handle: &Handle, name: impl Into<String>, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let _in_runtime = handle.enter();
    spawn(name, future)
}
