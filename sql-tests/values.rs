//! Values: each literal of `values/literals.txt` is stored by both servers and comes back as
//! the same bytes, in text and in binary, or is refused with the same SQLSTATE.

use std::error::Error;
use std::fs;

use anyhow::{Context, Result, ensure};
use sqllogictest::harness::Trial;
use tokio_postgres::types::{FromSql, Type};
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::harness::{self, trial};
use crate::postgres;
use crate::server::Server;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("values/stored", compare)]
}

/// What a server makes of a literal: SQLSTATE, or the value's bytes in both formats.
#[derive(Debug, PartialEq, Eq)]
enum Made {
    Value { text: Option<String>, binary: Option<Vec<u8>> },
    Refused(String),
}

async fn compare() -> Result<()> {
    let server = Server::start(1).await?;
    let database = postgres::Database::create().await?;
    let (weir, oracle) = (server.connect().await?, database.connect().await?);
    let literals = literals()?;
    let mut unlike = Vec::new();
    for (number, (kind, literal)) in literals.iter().enumerate() {
        let ours = make(&weir, number, kind, literal).await?;
        let theirs = make(&oracle, number, kind, canonical(kind, literal)).await?;
        if ours != theirs {
            unlike.push(format!("{kind} '{literal}': {ours:?}, PostgreSQL {theirs:?}"));
        }
    }
    ensure!(
        unlike.is_empty(),
        "{} of {} literals:\n{}",
        unlike.len(),
        literals.len(),
        unlike.join("\n")
    );
    Ok(())
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
fn literals() -> Result<Vec<(String, String)>> {
    let path = harness::path("values/literals.txt");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let literals: Vec<(String, String)> = lines
        .map(|line| {
            let (kind, literal) = line.split_once('\t').with_context(|| line.to_string())?;
            Ok((kind.to_string(), literal.to_string()))
        })
        .collect::<Result<_>>()?;
    ensure!(literals.len() > 50, "only {} literals", literals.len());
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
