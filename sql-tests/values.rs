//! Values: each literal of `values/literals.txt` is stored by both servers and comes back as
//! the same bytes, in text and in binary, or is refused with the same SQLSTATE; so do parameters
//! in both formats. The other server is PostgreSQL 15, then 18.

use std::collections::HashMap;
use std::error::Error;
use std::fs;

use anyhow::{Context, Result, ensure};
use bytes::BytesMut;
use sqllogictest::harness::Trial;
use tokio_postgres::types::{Format, FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, SimpleQueryMessage, Statement};

use crate::client;
use crate::clients;
use crate::harness::{self, trial};
use crate::postgres;
use crate::server::Server;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("values/as_postgresql_15_has_them", as_in_15),
        trial("values/as_postgresql_18_has_them", as_in_18),
    ]
}

/// What a server makes of a literal: SQLSTATE, or the value's bytes in both formats.
#[derive(Debug, PartialEq, Eq)]
enum Made {
    Value { text: Option<String>, binary: Option<Vec<u8>> },
    Refused(String),
}

async fn as_in_15() -> Result<()> {
    let database = postgres::Database::create().await?;
    check(compare(&database.connect().await?).await?, &["values/differ.txt"])
}

/// PostgreSQL 18 takes some literals that 15 refuses; `values/differ18.txt` has them.
async fn as_in_18() -> Result<()> {
    let packages = clients::python_packages_of_terminal()?;
    let cluster =
        tokio::task::spawn_blocking(|| postgres::Cluster::start_18("postgres", packages)).await??;
    let oracle = client::connect(cluster.port, "postgres", "postgres").await?;
    check(compare(&oracle).await?, &["values/differ.txt", "values/differ18.txt"])
}

/// Those that differ are those that are known to.
fn check(mut unlike: Vec<Unlike>, known: &[&str]) -> Result<()> {
    let mut differ = Vec::new();
    for file in known {
        differ.extend(literals(file)?);
    }
    let missing: Vec<_> = differ
        .iter()
        .filter(|known| !unlike.iter().any(|found| found.literal == **known))
        .collect();
    ensure!(missing.is_empty(), "they do not differ: {missing:?}");
    unlike.retain(|found| !differ.contains(&found.literal));
    ensure!(unlike.is_empty(), "{}", shown(&unlike));
    Ok(())
}

/// A literal of a type, of which the servers make different things.
struct Unlike {
    literal: (String, String),
    how: String,
}

fn shown(unlike: &[Unlike]) -> String {
    let lines = unlike.iter().map(|one| {
        let (kind, literal) = &one.literal;
        format!("{kind}\t{literal}\t{}", one.how)
    });
    format!("{} literals:\n{}", unlike.len(), lines.collect::<Vec<_>>().join("\n"))
}

/// Each literal as it is stored, and as a parameter in both formats.
async fn compare(oracle: &Client) -> Result<Vec<Unlike>> {
    let server = Server::start(1).await?;
    let weir = server.connect().await?;
    let mut unlike = Vec::new();
    let (mut our_casts, mut their_casts) = (Casts::new(&weir), Casts::new(oracle));
    for (number, literal) in literals("values/literals.txt")?.into_iter().enumerate() {
        let (kind, text) = (&literal.0, &literal.1);
        let ours = make(&weir, number, kind, text).await?;
        let theirs = make(oracle, number, kind, canonical(kind, text)).await?;
        if ours != theirs {
            unlike.push(Unlike { literal, how: format!("{ours:?}, PostgreSQL {theirs:?}") });
            continue;
        }
        let given = match &theirs {
            Made::Value { text: Some(text), binary: Some(binary) } => vec![
                Given { format: Format::Text, bytes: text.clone().into_bytes() },
                Given { format: Format::Binary, bytes: binary.clone() },
            ],
            Made::Value { .. } => continue,
            Made::Refused(_) => {
                vec![Given { format: Format::Text, bytes: text.clone().into_bytes() }]
            }
        };
        for given in given {
            let (ours, theirs) =
                (our_casts.make(kind, &given).await?, their_casts.make(kind, &given).await?);
            if ours != theirs {
                let how = format!("as {given:?}: {ours:?}, PostgreSQL {theirs:?}");
                unlike.push(Unlike { literal: literal.clone(), how });
            }
        }
    }
    Ok(unlike)
}

/// `SELECT $1::type` for each type, prepared.
struct Casts<'a> {
    client: &'a Client,
    prepared: HashMap<String, Statement>,
}

impl<'a> Casts<'a> {
    fn new(client: &'a Client) -> Self {
        Self { client, prepared: HashMap::new() }
    }

    /// What comes back of a parameter, in binary.
    async fn make(&mut self, kind: &str, given: &Given) -> Result<Made> {
        if !self.prepared.contains_key(kind) {
            match self.client.prepare(&format!("SELECT $1::{kind}")).await {
                Ok(statement) => self.prepared.insert(kind.to_owned(), statement),
                Err(error) => return refused(error),
            };
        }
        match self.client.query_one(&self.prepared[kind], &[given]).await {
            Ok(row) => {
                let binary = row.get::<_, Option<Bytes>>(0).map(|bytes| bytes.0);
                Ok(Made::Value { text: None, binary })
            }
            Err(error) => refused(error),
        }
    }
}

/// A parameter's bytes as they go over the wire.
#[derive(Debug)]
struct Given {
    format: Format,
    bytes: Vec<u8>,
}

impl ToSql for Given {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&self.bytes);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        self.format
    }

    to_sql_checked!();
}

/// What a stored literal reads as: Weir stores no negative zero, so that equal floats are equal
/// keys.
fn canonical<'a>(kind: &str, literal: &'a str) -> &'a str {
    match (kind, literal) {
        ("real" | "double precision", "-0") => "0",
        _ => literal,
    }
}

/// Lines of `type<TAB>literal`, each as it stands.
fn literals(file: &str) -> Result<Vec<(String, String)>> {
    let path = harness::path(file);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let literals: Vec<(String, String)> = lines
        .map(|line| {
            let (kind, literal) = line.split_once('\t').with_context(|| line.to_string())?;
            Ok((kind.to_string(), literal.to_string()))
        })
        .collect::<Result<_>>()?;
    ensure!(!literals.is_empty(), "{file} is empty");
    Ok(literals)
}

async fn make(client: &Client, number: usize, kind: &str, literal: &str) -> Result<Made> {
    let quoted = format!("'{}'", literal.replace('\'', "''"));
    let create = format!("CREATE TABLE t{number} (v {kind})");
    let insert = format!("INSERT INTO t{number} VALUES ({quoted})");
    for statement in [create, insert] {
        if let Err(error) = client.simple_query(&statement).await {
            return refused(error);
        }
    }
    let sql = format!("SELECT v FROM t{number}");
    let text = match client.simple_query(&sql).await {
        Ok(messages) => messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).map(str::to_string)),
            _ => None,
        }),
        Err(error) => return refused(error),
    };
    let binary = match client.query(&sql, &[]).await {
        Ok(rows) => rows.first().map(|row| row.get::<_, Option<Bytes>>(0).map(|bytes| bytes.0)),
        Err(error) => return refused(error),
    };
    Ok(Made::Value { text: text.context("no row")?, binary: binary.context("no row")? })
}

/// A refusal is an answer to compare; a broken connection is not.
fn refused(error: tokio_postgres::Error) -> Result<Made> {
    match error.code() {
        Some(code) => Ok(Made::Refused(code.code().to_string())),
        None => Err(error.into()),
    }
}

/// A value's bytes as the wire brought them, whatever its type.
struct Bytes(Vec<u8>);

impl<'a> FromSql<'a> for Bytes {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(raw.to_vec()))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
