//! Settings: from the command line, else `WEIR_*` variables, else the configuration file, else the
//! defaults. Resolved once here; the parts are given decided values.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand};
use figment::Figment;
use figment::providers::{Env, Format, Serialized, Toml};
use serde::{Deserialize, Deserializer, Serialize};

use crate::wire;

/// A SQL streaming database that speaks PostgreSQL.
#[derive(Debug, Parser)]
#[command(version)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run the server.
    Serve(Box<ServeOptions>),
    /// Recompute every view from its inputs and report differences (exit status 1 if any). The
    /// server must not be running on the folder.
    Check(CheckOptions),
}

/// Options of `weir serve`. Each can be given in the configuration file under its name, and as an
/// environment variable with the prefix `WEIR_` (`--barrier-interval-ms` is
/// `WEIR_BARRIER_INTERVAL_MS`).
#[derive(Debug, Default, Args, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServeOptions {
    /// Configuration file, TOML.
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    config: Option<PathBuf>,

    /// Folder for all data; made if there is none. [default: ./weir-data]
    #[arg(long, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<PathBuf>,

    /// Address for PostgreSQL clients. [default: 127.0.0.1:5454]
    #[arg(long, value_name = "ADDR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    listen: Option<SocketAddr>,

    /// Folder for a Unix socket, on which clients of this machine connect too, as with psql -h
    /// FOLDER. Can be given several times. [default: none]
    #[arg(long = "unix-socket-directory", value_name = "DIR")]
    #[serde(default, deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    unix_socket_directories: Vec<String>,

    /// Address for HTTP: /health and /metrics. [default: 127.0.0.1:5455]
    #[arg(long, value_name = "ADDR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    http: Option<SocketAddr>,

    /// Memory for state, caches and queries: bytes, or with a unit as in 512MB or 4GB.
    /// [default: half of the machine's]
    #[arg(long, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<String>,

    /// Actors of a new view's operators (SET streaming_parallelism changes it for a session).
    /// [default: 2]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    parallelism: Option<usize>,

    /// Milliseconds between barriers when nobody waits for one. [default: 100]
    #[arg(long, value_name = "MS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    barrier_interval_ms: Option<u64>,

    /// Client connections at the most. [default: 100]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    connections_max: Option<usize>,

    /// Who may connect from where, and how they prove who they are: a line of pg_hba.conf, as in
    /// "host all all 10.0.0.0/8 scram-sha-256". Can be given several times; the first that matches
    /// decides. [default: a password, but none is needed on loopback while a role has none]
    #[arg(long, value_name = "RULE")]
    #[serde(default, deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    hba: Vec<String>,

    /// Listen beyond loopback also where rules let anybody in without a proof.
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    allow_unauthenticated: Option<bool>,

    /// The server's certificate, PEM, with those that it is signed by: clients may then encrypt.
    /// Read again at SIGHUP.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_certificate: Option<PathBuf>,

    /// The private key of the certificate, PEM; nobody else may read the file.
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_key: Option<PathBuf>,

    /// Certificates of those who sign clients' certificates, PEM: for the method cert and for
    /// clientcert in hba rules.
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_client_ca: Option<PathBuf>,

    /// Seconds in which a client must have started and proved who it is. [default: 60]
    #[arg(long, value_name = "SECONDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication_timeout: Option<u64>,
}

/// A list, or a text that is its only element.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}

/// Options of `weir check`.
#[derive(Debug, Args)]
pub(super) struct CheckOptions {
    /// The data folder.
    #[arg(long, value_name = "DIR", default_value = "./weir-data", env = "WEIR_DATA")]
    pub(super) data: PathBuf,
}

/// What the server runs with.
#[derive(Debug, Clone)]
pub(super) struct Config {
    pub(super) data: PathBuf,
    pub(super) listen: SocketAddr,
    pub(super) unix_socket_directories: Vec<PathBuf>,
    pub(super) http: SocketAddr,
    pub(super) memory_bytes: usize,
    pub(super) parallelism: usize,
    pub(super) barrier_interval: Duration,
    pub(super) connections_max: usize,
    pub(super) rules: wire::Rules,
    pub(super) tls: Option<wire::TlsFiles>,
    /// Whether clients of other machines must prove who they are; then the superuser needs a
    /// password.
    pub(super) secured: bool,
    pub(super) authentication_timeout: Duration,
}

/// More actors than this on one machine only cost.
const PARALLELISM_MAX: usize = 256;

/// Less memory than this holds no epoch.
const MEMORY_BYTES_MIN: usize = 64 << 20;

/// Resolves `options`.
pub(super) fn load(options: ServeOptions) -> anyhow::Result<Config> {
    let mut sources = Figment::new();
    if let Some(file) = &options.config {
        if !file.is_file() {
            bail!("configuration file {} does not exist", file.display());
        }
        sources = sources.merge(Toml::file_exact(file));
    }
    let variables = Env::prefixed("WEIR_").ignore(&["log", "kills", "seed"]);
    let given: ServeOptions = sources
        .merge(variables)
        .merge(Serialized::defaults(&options))
        .extract()
        .context("bad configuration")?;
    let memory_bytes = match &given.memory {
        Some(size) => parse_size(size)?,
        None => machine_memory() / 2,
    };
    if memory_bytes < MEMORY_BYTES_MIN {
        bail!("memory must be at least {} MB", MEMORY_BYTES_MIN >> 20);
    }
    let parallelism = given.parallelism.unwrap_or(2);
    if !(1..=PARALLELISM_MAX).contains(&parallelism) {
        bail!("parallelism must be from 1 to {PARALLELISM_MAX}");
    }
    let barrier_interval = Duration::from_millis(given.barrier_interval_ms.unwrap_or(100));
    if barrier_interval.is_zero() {
        bail!("barrier_interval_ms must be at least 1");
    }
    let listen = given.listen.unwrap_or_else(|| ([127, 0, 0, 1], 5454).into());
    let rules = match given.hba.as_slice() {
        [] => wire::Rules::default(),
        rules => {
            let rules = rules.iter().map(String::as_str);
            wire::Rules::parse(rules).map_err(anyhow::Error::msg).context("bad configuration")?
        }
    };
    let reachable = !listen.ip().is_loopback();
    if reachable && rules.open_to_others() && given.allow_unauthenticated != Some(true) {
        bail!(
            "cannot listen on {listen}: a rule of the hba setting trusts clients of other machines \
             without a proof; use scram-sha-256, or say --allow-unauthenticated"
        );
    }
    let tls = tls_files(&given)?;
    if rules.ask_for_certificates() && tls.as_ref().is_none_or(|t| t.client_authorities.is_none()) {
        bail!(
            "a rule of the hba setting asks for client certificates: tls_client_ca must say whose"
        );
    }
    let authentication_timeout = given.authentication_timeout.unwrap_or(60);
    if authentication_timeout == 0 {
        bail!("authentication_timeout must be at least 1");
    }
    Ok(Config {
        data: given.data.unwrap_or_else(|| "./weir-data".into()),
        listen,
        unix_socket_directories: given.unix_socket_directories.iter().map(PathBuf::from).collect(),
        http: given.http.unwrap_or_else(|| ([127, 0, 0, 1], 5455).into()),
        memory_bytes,
        parallelism,
        barrier_interval,
        connections_max: given.connections_max.unwrap_or(100),
        secured: reachable && !rules.open_to_others(),
        rules,
        tls,
        authentication_timeout: Duration::from_secs(authentication_timeout),
    })
}

fn tls_files(given: &ServeOptions) -> anyhow::Result<Option<wire::TlsFiles>> {
    let client_authorities = given.tls_client_ca.clone();
    match (given.tls_certificate.clone(), given.tls_key.clone()) {
        (Some(certificate), Some(key)) => {
            Ok(Some(wire::TlsFiles { certificate, key, client_authorities }))
        }
        (None, None) if client_authorities.is_none() => Ok(None),
        (None, None) => bail!("tls_client_ca needs tls_certificate and tls_key"),
        _ => bail!("tls_certificate and tls_key are given together or not at all"),
    }
}

fn parse_size(text: &str) -> anyhow::Result<usize> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor: usize = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1 << 10,
        "mb" => 1 << 20,
        "gb" => 1 << 30,
        unit => bail!("unknown unit {unit:?} in memory size {text:?}: use B, kB, MB or GB"),
    };
    let number: usize =
        digits.trim().parse().with_context(|| format!("bad memory size {text:?}"))?;
    number.checked_mul(factor).with_context(|| format!("memory size {text:?} is too large"))
}

/// Bytes of memory of the machine; 4 GB where it does not say.
fn machine_memory() -> usize {
    let kilobytes = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        text.lines()
            .find_map(|line| line.strip_prefix("MemTotal:"))
            .and_then(|rest| rest.trim().trim_end_matches(" kB").trim().parse::<usize>().ok())
    });
    kilobytes.map_or(4 << 30, |kilobytes| kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("1024").expect("plain"), 1024);
        assert_eq!(parse_size("512MB").expect("unit"), 512 << 20);
        assert_eq!(parse_size(" 4 gb ").expect("spaces"), 4 << 30);
        assert!(parse_size("4 parsecs").is_err());
        assert!(parse_size("").is_err());
    }
}
