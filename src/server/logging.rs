//! Logs go to standard error; `WEIR_LOG` filters them as `tracing`'s filters are written.

use std::io::Write;

use tracing_subscriber::EnvFilter;

/// Starts logging for the process.
pub(super) fn start() {
    let filter = EnvFilter::try_from_env("WEIR_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}

/// Tells why the program ends, with all causes and the remedy.
pub(super) fn fatal(error: &anyhow::Error) {
    let mut text = format!("weir: {error:#}\n");
    if let Some(error) = error.downcast_ref::<crate::error::SqlError>() {
        for part in [&error.detail, &error.hint].into_iter().flatten() {
            text.push_str(part);
            text.push('\n');
        }
    }
    // There is nowhere left to tell it if standard error is gone.
    std::io::stderr().write_all(text.as_bytes()).ok();
}
