//! Functions and operators: each expression of `functions/functions.txt` gives the same type and
//! text on both servers, or the same error; what differs is what `docs/sql/functions.md` says.
//!
//! The page is made from this comparison (`WEIR_UPDATE=1`), so it cannot say what is not so.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use sqllogictest::harness::Trial;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::harness::{self, trial};
use crate::postgres;
use crate::server::Server;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("functions/compared", compare)]
}

/// Expressions of one function or of a family, under a heading.
struct Function {
    heading: String,
    name: String,
    expressions: Vec<String>,
}

/// What a server makes of an expression.
#[derive(Debug, PartialEq, Eq)]
enum Made {
    Value { sql_type: String, text: String },
    Refused { code: String, message: String },
}

impl Made {
    /// As the page shows it.
    fn shown(&self) -> String {
        match self {
            Made::Value { text, .. } => format!("`{}`", text.replace('\n', "\\n")),
            Made::Refused { code, message } => {
                format!("{code} {}", message.lines().next().unwrap_or_default())
            }
        }
    }
}

async fn compare() -> Result<()> {
    let server = Server::start(1).await?;
    let database = postgres::Database::create().await?;
    let (weir, oracle) = (server.connect().await?, database.connect().await?);
    let mut page = String::from(HEAD);
    let mut heading = String::new();
    for function in functions()? {
        if heading != function.heading {
            heading.clone_from(&function.heading);
            write!(page, "\n## {heading}\n\n| function | state |\n|---|---|\n")?;
        }
        let name = function.name.replace('|', "\\|");
        writeln!(page, "| `{name}` | {} |", state(&weir, &oracle, &function).await?)?;
    }
    let path = page_path();
    let current = fs::read_to_string(&path).unwrap_or_default();
    if std::env::var_os("WEIR_UPDATE").is_some() {
        fs::write(&path, page)?;
        return Ok(());
    }
    let unlike: Vec<&str> = page.lines().filter(|line| !current.contains(line)).collect();
    ensure!(
        unlike.is_empty(),
        "{} says otherwise (WEIR_UPDATE=1 writes it):\n{}",
        path.display(),
        unlike.join("\n")
    );
    Ok(())
}

/// A function's state in words.
async fn state(weir: &Client, oracle: &Client, function: &Function) -> Result<String> {
    let mut differences = Vec::new();
    let mut missing = 0;
    for expression in &function.expressions {
        let sql = format!("SELECT {expression}");
        let (ours, theirs) = (make(weir, &sql).await?, make(oracle, &sql).await?);
        if ours == theirs {
            continue;
        }
        let refused = matches!(&ours, Made::Refused { code, .. } if code == "42883");
        missing +=
            usize::from(refused || matches!(&ours, Made::Refused { code, .. } if code == "0A000"));
        let expression = expression.replace('|', "\\|");
        let types = match (&ours, &theirs) {
            (Made::Value { sql_type: our, text }, Made::Value { sql_type: their, text: same })
                if text == same =>
            {
                format!("`{expression}` is {our}, in PostgreSQL {their}")
            }
            _ => format!(
                "`{expression}` gives {}, in PostgreSQL {}",
                ours.shown().replace('|', "\\|"),
                theirs.shown().replace('|', "\\|")
            ),
        };
        differences.push(types);
    }
    Ok(match differences.len() {
        0 => "same".to_owned(),
        count if count == missing && count == function.expressions.len() => "missing".to_owned(),
        _ => format!("differs: {}", differences.join("; ")),
    })
}

async fn make(client: &Client, sql: &str) -> Result<Made> {
    let prepared = match client.prepare(sql).await {
        Ok(prepared) => prepared,
        Err(error) => return refused(error),
    };
    let sql_type = prepared.columns().first().context("no column")?.type_().name().to_owned();
    match client.simple_query(sql).await {
        Ok(messages) => {
            let text = messages.iter().find_map(|message| match message {
                SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or("NULL").to_owned()),
                _ => None,
            });
            Ok(Made::Value { sql_type, text: text.unwrap_or_else(|| "no row".to_owned()) })
        }
        Err(error) => refused(error),
    }
}

/// A refusal is an answer to compare; a broken connection is not.
fn refused(error: tokio_postgres::Error) -> Result<Made> {
    match error.as_db_error() {
        Some(db) => Ok(Made::Refused {
            code: db.code().code().to_owned(),
            message: db.message().to_owned(),
        }),
        None => Err(error.into()),
    }
}

fn page_path() -> PathBuf {
    harness::path("../docs/sql/functions.md")
}

/// Lines of `name<TAB>expression` under lines of `## heading`.
fn functions() -> Result<Vec<Function>> {
    let path = harness::path("functions/functions.txt");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut functions: Vec<Function> = Vec::new();
    let mut heading = String::new();
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            title.clone_into(&mut heading);
        } else if let Some((name, expression)) = line.split_once('\t') {
            match functions.last_mut() {
                Some(last) if last.name == name && last.heading == heading => {
                    last.expressions.push(expression.to_owned());
                }
                _ => functions.push(Function {
                    heading: heading.clone(),
                    name: name.to_owned(),
                    expressions: vec![expression.to_owned()],
                }),
            }
        }
    }
    ensure!(functions.len() > 50, "only {} functions", functions.len());
    Ok(functions)
}

const HEAD: &str = "# Functions and operators, compared with PostgreSQL

Made by `WEIR_UPDATE=1 cargo test --test sql -- functions` from `sql-tests/functions/functions.txt`,
whose expressions run on both servers; the test fails when this page says otherwise. *same* is the
same type and text, or the same error, for all expressions of the function there.
";
