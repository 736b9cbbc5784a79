//! Tests through the front door: the real program as a process, spoken to as clients speak to it.
//!
//! What is right is what PostgreSQL says, so a real one runs beside. The list of tests is made
//! when the binary starts: every script under `slt/` several ways (`script`), and the tests that
//! a script cannot express. Each test has a server and a database of its own.
//!
//! | variable | default | |
//! |---|---|---|
//! | `WEIR_SEED` | random, printed | of all random choices |
//! | `WEIR_KILLS` | 60 | crashes in the crash test |
//! | `WEIR_ORACLE_QUERIES` | 60 | random queries compared with PostgreSQL as views |
//! | `WEIR_ORACLE_REPORT` | | a file to which each failure is appended when it is shrunk |
//! | `WEIR_SCRIPT_KILLS` | 10 | crashes at most while a script runs |
//! | `WEIR_TPCH_SCALE` | 0.01 | TPC-H's scale factor |
//! | `WEIR_CATALOG_REPORT` | | a file for the catalog statements that differ, and how |
//! | `WEIR_CATALOG_DATAFUSION` | | a file: count what DataFusion alone makes of them |
//! | `WEIR_CLIENTS` | `~/.cache/weir-clients` | where `make clients` installs, for `clients` |
//! | `WEIR_NEXMARK_EVENTS` | 5000 | Nexmark's events |
//! | `WEIR_FLIGHTS_FULL` | | a folder with all of nycflights13: use it and print time and memory |
//! | `WEIR_UPDATE` | | set: write what PostgreSQL answers into the scripts, and pages of docs |
//!
//! The oracle's queries are the same each time if neither a seed nor their number is given.

// The doors of the house (clock, task) are for the library; here is the outside.
#![allow(clippy::disallowed_methods)]

mod alter;
mod catalog;
mod client;
mod clients;
mod compare;
mod constraints;
mod crash;
mod creation;
mod failure;
mod flights;
mod functions;
mod harness;
mod indexes;
mod operation;
mod oracle;
mod postgres;
mod psql;
mod rename;
mod script;
mod security;
mod sequences;
mod server;
mod sinks;
mod subscribe;
mod values;
mod wire;
mod workload;

use std::process::ExitCode;

use sqllogictest::harness::{Arguments, run};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let groups = [
        script::trials,
        operation::trials,
        failure::trials,
        creation::trials,
        indexes::trials,
        constraints::trials,
        rename::trials,
        alter::trials,
        sinks::trials,
        subscribe::trials,
        security::trials,
        sequences::trials,
        psql::trials,
        values::trials,
        flights::trials,
        functions::trials,
        wire::trials,
        clients::trials,
        catalog::trials,
        workload::trials,
    ];
    let mut trials = crash::trials();
    trials.extend(oracle::trials());
    trials.extend(groups.into_iter().flat_map(|group| group()));
    let conclusion = run(&arguments, trials);
    postgres::stop();
    server::forget_binary();
    conclusion.exit_code()
}
