//! `weir check`: every view against its query, from the store alone.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};

use super::config::CheckOptions;
use crate::engine::check::{Verdict, check};
use crate::error::SqlError;
use crate::state::{Store, StoreOptions};

/// Memory for the queries of a check, in bytes; they spill what is more.
const MEMORY_BYTES: usize = 1 << 30;

/// Reports each view on standard output; failure if one differs from its query.
pub(super) fn run(options: &CheckOptions) -> anyhow::Result<ExitCode> {
    if !options.data.is_dir() {
        bail!("there is no data folder {}", options.data.display());
    }
    let store_options =
        StoreOptions { cache_bytes: MEMORY_BYTES / 4, epoch_bytes_max: MEMORY_BYTES / 4 };
    let store = Store::open(&options.data, store_options).map_err(SqlError::from)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("threads could not be started")?;
    let (epoch, views) = runtime.block_on(check(&store, MEMORY_BYTES, &options.data))?;
    let mut out = std::io::stdout().lock();
    let mut different = false;
    for view in &views {
        match &view.verdict {
            Verdict::Equal { rows } => writeln!(out, "{}: equal, {rows} rows", view.name)?,
            Verdict::Unchecked { reason } => {
                writeln!(out, "{}: not checked, {reason}", view.name)?;
            }
            Verdict::Fails { error } => {
                writeln!(out, "{}: raises an error, as its query does: {error}", view.name)?;
            }
            Verdict::FailsAlone { view: raises, error } => {
                different = true;
                let (raises, other) =
                    if *raises { ("it", "its query") } else { ("its query", "it") };
                writeln!(
                    out,
                    "{}: {raises} raises an error, {other} does not: {error}",
                    view.name
                )?;
            }
            Verdict::Different { lacking, surplus, examples } => {
                different = true;
                writeln!(out, "{}: lacks {lacking} rows, has {surplus} too many", view.name)?;
                for example in examples {
                    writeln!(out, "  {example}")?;
                }
            }
        }
    }
    writeln!(out, "{} views checked at epoch {}", views.len(), epoch.0)?;
    Ok(if different { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
