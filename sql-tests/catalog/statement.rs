//! The files of statements.
//!
//! A statement is a paragraph: `-- label`, a line `-- $1: text` or `-- $1 TYPE-OID: text` for each
//! parameter (`NULL` is none), and SQL. `@{name}` is the OID of the relation `name`, and
//! `@{name::regtype}` that of a type, a function (`regproc`), a schema (`regnamespace`). The first
//! paragraph says whose statements they are.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::harness;

/// One of them.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    /// File and label.
    pub(super) name: String,
    pub(super) sql: String,
    /// Declared type (0: none) and text of each parameter.
    pub(super) parameters: Vec<(u32, Option<String>)>,
}

/// All of them, file by file.
pub(super) fn statements() -> Result<Vec<Statement>> {
    let mut files: Vec<_> = fs::read_dir(harness::path("catalog"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    files.sort();
    let mut statements = Vec::new();
    for file in files {
        let client = file.file_stem().and_then(|stem| stem.to_str()).context("a file's name")?;
        if file.extension().is_none_or(|ending| ending != "sql") || client == "schema" {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        for paragraph in text.split("\n\n").skip(1) {
            let paragraph = paragraph.trim();
            if !paragraph.is_empty() {
                statements
                    .push(statement(client, paragraph).with_context(|| paragraph.to_owned())?);
            }
        }
    }
    let mut names: Vec<_> = statements.iter().map(|one| &one.name).collect();
    names.sort();
    let double = names.windows(2).find(|pair| pair[0] == pair[1]);
    ensure!(double.is_none(), "two statements are called {double:?}");
    Ok(statements)
}

fn statement(client: &str, paragraph: &str) -> Result<Statement> {
    let mut lines = paragraph.lines().peekable();
    let label = lines.next().and_then(|line| line.strip_prefix("-- ")).context("a label")?;
    let mut parameters = Vec::new();
    while let Some(line) = lines.next_if(|line| line.starts_with("-- $")) {
        let (head, text) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
        let oid = head.split(' ').nth(2).map_or(Ok(0), str::parse)?;
        parameters.push((oid, (text != "NULL").then(|| text.to_owned())));
    }
    let sql = lines.collect::<Vec<_>>().join("\n");
    ensure!(!sql.is_empty(), "no statement");
    Ok(Statement { name: format!("{client}: {label}"), sql, parameters })
}
