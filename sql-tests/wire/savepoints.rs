//! Random transactions with savepoints, message by message the same as PostgreSQL's.

use anyhow::{Context, Result, ensure};
use pgwire::messages::copy::{CopyData, CopyDone};
use pgwire::messages::simplequery::Query;
use rand::Rng;
use rand::rngs::StdRng;
use sqllogictest::harness::Trial;

use super::socket::Socket;
use crate::harness::{random, trial};
use crate::postgres;
use crate::server::Server;

const TRANSACTIONS: usize = 40;
const STATEMENTS_MAX: usize = 25;

const TABLES: [&str; 6] = [
    "CREATE TABLE keyed (id int PRIMARY KEY, v int)",
    "CREATE TABLE guarded (id int PRIMARY KEY, u int)",
    "CREATE UNIQUE INDEX guarded_u ON guarded (u)",
    "CREATE TABLE plain (id int, w text)",
    "CREATE MATERIALIZED VIEW sums AS SELECT v, count(*) AS n FROM keyed GROUP BY v",
    "CREATE MATERIALIZED VIEW both AS SELECT g.id, g.u, k.v FROM guarded g JOIN keyed k USING (id)",
];

/// What must be the same after each transaction.
const CONTENTS: [&str; 3] = [
    "SELECT * FROM keyed ORDER BY id",
    "SELECT * FROM guarded ORDER BY id",
    "SELECT * FROM plain ORDER BY id, w",
];

pub(super) fn trials() -> Vec<Trial> {
    vec![trial("wire::random_savepoints_are_as_in_postgres", random_savepoints)]
}

/// A step of a transaction.
#[derive(Debug)]
enum Step {
    Sql(String),
    Copy { sql: String, data: String },
}

async fn random_savepoints() -> Result<()> {
    let database = postgres::Database::create().await?;
    let server = Server::start(2).await?;
    let mut postgres = Socket::open(database.port, "postgres", &database.name).await?;
    let mut weir = Socket::open(server.port, "weir", "weir").await?;
    for table in TABLES {
        ensure!(answer(&mut weir, &Step::Sql(table.to_owned())).await?.len() == 2, "{table}");
        let table = table.replace("MATERIALIZED VIEW", "VIEW");
        answer(&mut postgres, &Step::Sql(table)).await?;
    }
    let mut random = random("savepoints");
    let mut history = Vec::new();
    for _ in 0..TRANSACTIONS {
        history.clear();
        for step in transaction(&mut random) {
            let right = answer(&mut postgres, &step).await?;
            let given = answer(&mut weir, &step).await.with_context(|| format!("{history:#?}"))?;
            history.push(format!("{step:?} -- {}", right.join("; ")));
            ensure!(right == given, "{history:#?}\nWeir says: {given:#?}");
        }
        for view in ["SELECT * FROM sums ORDER BY v", "SELECT * FROM both ORDER BY id"] {
            let step = Step::Sql(view.to_owned());
            let rows = |mut lines: Vec<String>| {
                lines.retain(|line| line.starts_with("DataRow"));
                lines
            };
            let right = rows(answer(&mut postgres, &step).await?);
            let given = rows(answer(&mut weir, &step).await?);
            ensure!(right == given, "{history:#?}\n{view}\n{right:?}\n{given:?}");
        }
    }
    Ok(())
}

/// Everything up to the client's next turn.
async fn answer(socket: &mut Socket, step: &Step) -> Result<Vec<String>> {
    let sql = match step {
        Step::Sql(sql) | Step::Copy { sql, .. } => sql,
    };
    socket.send(&Query::new(sql.clone())).await?;
    let mut lines = Vec::new();
    loop {
        let line = socket.receive().await?;
        let over = line.starts_with("ReadyForQuery");
        if let (Step::Copy { data, .. }, true) = (step, line.starts_with("CopyInResponse")) {
            socket.send(&CopyData::new(data.clone().into_bytes().into())).await?;
            socket.send(&CopyDone::new()).await?;
        }
        // Of several keys that are there twice PostgreSQL names that of the first row.
        let unnamed = line.split_once("violates unique constraint").map(|(start, _)| start);
        lines.push(unnamed.unwrap_or(&line).to_owned());
        if over {
            return Ok(lines);
        }
    }
}

fn transaction(random: &mut StdRng) -> Vec<Step> {
    let mut steps = vec![Step::Sql("BEGIN".to_owned())];
    for _ in 0..random.random_range(1..=STATEMENTS_MAX) {
        steps.push(step(random));
    }
    let end = if random.random_bool(0.8) { "COMMIT" } else { "ROLLBACK" };
    steps.push(Step::Sql(end.to_owned()));
    steps.extend(CONTENTS.map(|sql| Step::Sql(sql.to_owned())));
    steps
}

/// Of few keys and few names, so that much happens to the same ones.
fn step(random: &mut StdRng) -> Step {
    let mut id = || random.random_range(0..12);
    let (a, b, c) = (id(), id(), id());
    let name = ["s", "t", "u"][random.random_range(0..3)];
    let table = ["keyed", "guarded", "plain"][random.random_range(0..3)];
    let column = match table {
        "keyed" => "v",
        "guarded" => "u",
        _ => "w",
    };
    let value = if table == "plain" { format!("'{b}'") } else { b.to_string() };
    Step::Sql(match random.random_range(0..16) {
        0..=2 => format!("SAVEPOINT {name}"),
        3 | 4 => format!("ROLLBACK TO {name}"),
        5 => format!("RELEASE {name}"),
        6 | 7 => format!("INSERT INTO {table} VALUES ({a}, {value})"),
        8 => format!(
            "INSERT INTO keyed VALUES ({a}, {b}), ({b}, {c}) ON CONFLICT (id) DO UPDATE \
             SET v = keyed.v + excluded.v RETURNING *"
        ),
        9 => format!("INSERT INTO guarded VALUES ({a}, {b}) ON CONFLICT (id) DO NOTHING"),
        10 => format!("UPDATE {table} SET {column} = {value} WHERE id = {c}"),
        11 => format!("UPDATE guarded SET u = NULL WHERE id BETWEEN {a} AND {b}"),
        12 => format!("DELETE FROM {table} WHERE id IN ({a}, {b})"),
        13 if a == 0 => format!("TRUNCATE {table}"),
        13 if a == 1 => "SELECT 1/0".to_owned(),
        14 => {
            let data = format!("{a}\t{b}\n{c}\t{a}\n");
            return Step::Copy { sql: format!("COPY {table} FROM STDIN"), data };
        }
        _ => format!("SELECT count(*) AS n, sum(id) AS s FROM {table}"),
    })
}
