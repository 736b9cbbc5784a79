//! Random tables, and what happens to their rows: inserts, updates and deletes with NULLs,
//! duplicates, few keys, and the ends of each type. PostgreSQL takes all of it.

use std::fmt::{self, Write};

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

use super::kind::{Kind, STORED};

const ROWS_MAX: usize = 9;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: Kind,
    declared: &'static str,
}

impl Column {
    pub(super) fn new(name: String, kind: Kind) -> Self {
        Self { name, kind, declared: kind.sql() }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    /// Whether the first column is the primary key.
    pub(super) keyed: bool,
}

impl Table {
    pub(super) fn create(&self) -> String {
        let columns: Vec<String> = self
            .columns
            .iter()
            .enumerate()
            .map(|(place, column)| {
                let key = if self.keyed && place == 0 { " PRIMARY KEY" } else { "" };
                format!("{} {}{key}", column.name, column.declared)
            })
            .collect();
        format!("CREATE TABLE {} ({})", self.name, columns.join(", "))
    }
}

/// Tables `t0`, `t1`, ...; each has a column `k` of few values, by which they meet.
pub(super) fn tables(random: &mut StdRng) -> Vec<Table> {
    (0..random.random_range(2..=4))
        .map(|number| {
            let keyed = random.random_bool(0.5);
            let mut columns = Vec::new();
            if keyed {
                columns.push(Column::new("id".to_string(), Kind::Int));
            }
            columns.push(Column::new("k".to_string(), Kind::Int));
            for place in 0..random.random_range(1..=4) {
                let kind = *STORED.choose(random).expect("not empty");
                let declared = kind.declared().choose(random).expect("not empty");
                let name = format!("{}{place}", kind.letter());
                columns.push(Column { declared, ..Column::new(name, kind) });
            }
            Table { name: format!("t{number}"), columns, keyed }
        })
        .collect()
}

/// A change of one table's rows. Rows of an INSERT can be taken out one by one.
#[derive(Debug, Clone)]
pub(super) enum Statement {
    Insert { table: String, rows: Vec<Vec<String>>, conflict: &'static str },
    Other(String),
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Insert { table, rows, conflict } => {
                write!(f, "INSERT INTO {table} VALUES ")?;
                for (place, row) in rows.iter().enumerate() {
                    let comma = if place > 0 { ", " } else { "" };
                    write!(f, "{comma}({})", row.join(", "))?;
                }
                f.write_str(conflict)
            }
            Self::Other(sql) => f.write_str(sql),
        }
    }
}

/// Statements that are sent together, perhaps as one transaction, and what happens after them.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    pub(super) statements: Vec<Statement>,
    pub(super) transaction: bool,
    /// The server is killed and started again after it.
    pub(super) kill: bool,
}

impl Batch {
    /// As SQL; whether it is a transaction is part of it.
    pub(super) fn sql(&self) -> Vec<String> {
        let statements = self.statements.iter().map(Statement::to_string);
        if self.transaction {
            let begin = std::iter::once("BEGIN".to_string());
            begin.chain(statements).chain(["COMMIT".to_string()]).collect()
        } else {
            statements.collect()
        }
    }
}

/// What happens to the rows, from empty tables on.
pub(super) fn batches(tables: &[Table], count: usize, random: &mut StdRng) -> Vec<Batch> {
    let mut keys = 0;
    (0..count)
        .map(|number| {
            let statements = if number == 0 {
                tables.iter().map(|table| insert(table, &mut keys, random)).collect()
            } else {
                (0..random.random_range(1..=4))
                    .map(|_| {
                        let table = tables.choose(random).expect("not empty");
                        statement(table, &mut keys, random)
                    })
                    .collect()
            };
            Batch {
                statements,
                transaction: random.random_ratio(1, 3),
                kill: random.random_ratio(1, 5),
            }
        })
        .collect()
}

fn statement(table: &Table, keys: &mut i64, random: &mut StdRng) -> Statement {
    let data = &table.columns[usize::from(table.keyed)..];
    match random.random_range(0..10) {
        0..4 => insert(table, keys, random),
        4..7 => {
            let column = data.choose(random).expect("every table has k");
            let value = match random.random_range(0..3) {
                0 => {
                    let alike: Vec<&Column> =
                        data.iter().filter(|other| other.kind == column.kind).collect();
                    alike.choose(random).expect("itself").name.clone()
                }
                _ => column.kind.draw(random),
            };
            let wanted = condition(table, random);
            Statement::Other(format!(
                "UPDATE {} SET {} = {value} WHERE {wanted}",
                table.name, column.name
            ))
        }
        _ => Statement::Other(format!(
            "DELETE FROM {} WHERE {}",
            table.name,
            condition(table, random)
        )),
    }
}

fn insert(table: &Table, keys: &mut i64, random: &mut StdRng) -> Statement {
    let conflict = match random.random_range(0..6) {
        0 if table.keyed => " ON CONFLICT DO NOTHING",
        1 if table.keyed => " ON CONFLICT (id) DO UPDATE SET k = EXCLUDED.k",
        _ => "",
    };
    let count = random.random_range(1..=ROWS_MAX);
    // Old keys again, each once in a statement, where a conflict is allowed.
    let mut old = if conflict.is_empty() { 0 } else { (*keys).min(2) };
    let mut rows: Vec<Vec<String>> = (0..count)
        .map(|_| {
            let columns = table.columns.iter().enumerate();
            columns
                .map(|(place, column)| {
                    if table.keyed && place == 0 {
                        if old > 0 {
                            old -= 1;
                            return (*keys - old + 1000).to_string();
                        }
                        *keys += 1;
                        return (*keys + 1000).to_string();
                    }
                    column.kind.draw(random)
                })
                .collect()
        })
        .collect();
    if !table.keyed && random.random_bool(0.5) {
        rows.push(rows[0].clone());
    }
    Statement::Insert { table: table.name.clone(), rows, conflict }
}

fn condition(table: &Table, random: &mut StdRng) -> String {
    let column = table.columns.choose(random).expect("every table has k");
    let name = &column.name;
    if table.keyed && name == "id" {
        let parts = random.random_range(2..5);
        return format!("id % {parts} = {}", random.random_range(0..parts));
    }
    let value = column.kind.draw(random);
    if value == "NULL" {
        return format!("{name} IS NULL");
    }
    let operator = ["=", "=", "=", ">", "<>"].choose(random).expect("not empty");
    let mut text = format!("{name} {operator} {value}");
    if random.random_ratio(1, 4) {
        write!(text, " OR {name} IS NULL").expect("to a string");
    }
    text
}
