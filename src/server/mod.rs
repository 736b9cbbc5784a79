//! The composition root: arguments and configuration in, parts built and joined, listeners
//! started, and everything stopped in order.

mod check;
mod config;
mod logging;
mod serve;

use std::process::ExitCode;

use clap::Parser;

use config::{Arguments, Command};

/// Runs the program: 0 when all went well, 1 when it did not, 2 for bad arguments (from `clap`).
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    logging::start();
    let outcome = match arguments.command {
        Command::Serve(options) => config::load(*options).and_then(serve::run),
        Command::Check(options) => check::run(&options),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            logging::fatal(&error);
            ExitCode::FAILURE
        }
    }
}
