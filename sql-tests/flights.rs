//! Real data: New York's flights of 2013, copied in through the wire, under the views that an
//! analyst would want; equal to PostgreSQL's answers on the same files, also after a third of the
//! flights has changed and a tenth is gone.

use std::env;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use flate2::read::MultiGzDecoder;
use futures::SinkExt;
use sqllogictest::harness::Trial;
use tokio_postgres::Client;

use crate::client::{self, execute, query};
use crate::compare::{same, types};
use crate::harness::{self, trial};
use crate::postgres;
use crate::server::Server;

const TABLES: &[&str] = &["airlines", "airports", "planes", "weather", "flights"];

const VIEWS: &[(&str, &str)] = &[
    (
        "delays_by_carrier",
        "SELECT f.carrier, a.name, count(*) AS flights, count(f.dep_delay) AS departed, \
         avg(f.dep_delay) AS dep_delay, avg(f.arr_delay) AS arr_delay, max(f.arr_delay) AS worst, \
         count(*) FILTER (WHERE f.arr_delay > 15) AS late \
         FROM flights f JOIN airlines a ON a.carrier = f.carrier GROUP BY f.carrier, a.name",
    ),
    (
        "delays_by_hour",
        "SELECT origin, hour, count(*) AS flights, sum(dep_delay) AS delay, \
         min(dep_delay) AS least, max(dep_delay) AS most, count(DISTINCT dest) AS destinations \
         FROM flights GROUP BY origin, hour",
    ),
    (
        "delays_by_weather",
        "SELECT f.origin, CASE WHEN w.visib < 2 THEN 'fog' WHEN w.precip > 0 THEN 'rain' \
         WHEN w.wind_speed > 20 THEN 'wind' ELSE 'fair' END AS sky, count(*) AS flights, \
         avg(f.dep_delay) AS dep_delay, avg(w.temp) AS temp, max(w.wind_gust) AS gust \
         FROM flights f JOIN weather w ON w.origin = f.origin AND w.time_hour = f.time_hour \
         GROUP BY 1, 2",
    ),
    (
        "flights_by_plane",
        "SELECT p.manufacturer, p.year, count(*) AS flights, count(DISTINCT f.tailnum) AS planes, \
         sum(f.distance) AS distance, avg(f.air_time) AS air_time, sum(p.seats) AS seats \
         FROM flights f JOIN planes p ON p.tailnum = f.tailnum \
         GROUP BY p.manufacturer, p.year HAVING count(*) > 5",
    ),
    (
        "busiest_routes",
        "SELECT f.origin, f.dest, p.name, count(*) AS flights, min(f.air_time) AS fastest, \
         sum(f.distance) AS distance FROM flights f JOIN airports p ON p.faa = f.dest \
         GROUP BY f.origin, f.dest, p.name HAVING count(*) >= 100",
    ),
    (
        "long_flights",
        "SELECT carrier, flight, origin, dest, time_hour, arr_delay - dep_delay AS made_up \
         FROM flights WHERE distance > 2400 AND air_time IS NOT NULL",
    ),
];

const CHANGES: &[&str] = &[
    "UPDATE flights SET dep_delay = dep_delay + 7, arr_delay = NULL, distance = distance + 1 \
     WHERE flight % 3 = 0",
    "DELETE FROM flights WHERE flight % 10 = 1",
    "UPDATE airlines SET name = name || ' (' || carrier || ')'",
    "UPDATE planes SET seats = NULL WHERE engines > 2",
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("flights/views_equal_postgres", flights)]
}

async fn flights() -> Result<()> {
    let server = Server::start(2).await?;
    let database = postgres::Database::create().await?;
    let (weir, oracle) = (server.connect().await?, database.connect().await?);
    let timed = Instant::now();
    load(&weir).await.context("Weir")?;
    let loaded = timed.elapsed();
    load(&oracle).await.context("PostgreSQL")?;
    for (name, view) in VIEWS {
        execute(&weir, &format!("CREATE MATERIALIZED VIEW {name} AS {view}")).await?;
        execute(&oracle, &format!("CREATE VIEW {name} AS {view}")).await?;
    }
    let made = timed.elapsed();
    compare(&weir, &oracle).await.context("as loaded")?;
    let timed = Instant::now();
    for change in CHANGES {
        let ours = execute_counting(&weir, change).await?;
        let theirs = execute_counting(&oracle, change).await?;
        ensure!(ours == theirs, "{change}: {ours} rows, PostgreSQL {theirs}");
    }
    let changed = timed.elapsed();
    compare(&weir, &oracle).await.context("after the changes")?;

    if env::var_os("WEIR_FLIGHTS_FULL").is_some() {
        let (memory, memory_max) = server.memory()?;
        harness::say(format!(
            "flights: COPY took {loaded:?}, with the views {made:?}, the changes {changed:?}; \
             memory {} MB, at most {} MB",
            memory >> 20,
            memory_max >> 20
        ));
    }
    Ok(())
}

fn data(file: &str) -> PathBuf {
    match env::var_os("WEIR_FLIGHTS_FULL") {
        Some(folder) if file.ends_with(".csv.gz") => PathBuf::from(folder).join(file),
        _ => harness::path("data/nycflights13").join(file),
    }
}

/// Makes the tables and copies the files in.
async fn load(client: &Client) -> Result<()> {
    execute(client, &std::fs::read_to_string(data("schema.sql"))?).await?;
    for table in TABLES {
        let path = data(&format!("{table}.csv.gz"));
        let file = File::open(&path).with_context(|| path.display().to_string())?;
        let mut text = MultiGzDecoder::new(file);
        let copy = format!("COPY {table} FROM STDIN WITH (FORMAT csv, HEADER, NULL 'NA')");
        let sink = client.copy_in(&copy).await.map_err(client::explain)?;
        let mut sink = std::pin::pin!(sink);
        let mut piece = vec![0; 64 * 1024];
        loop {
            let read = text.read(&mut piece)?;
            if read == 0 {
                break;
            }
            let bytes = bytes::Bytes::copy_from_slice(&piece[..read]);
            sink.send(bytes).await.map_err(client::explain)?;
        }
        sink.finish().await.map_err(client::explain).with_context(|| copy.clone())?;
    }
    Ok(())
}

async fn execute_counting(client: &Client, sql: &str) -> Result<u64> {
    client.execute(sql, &[]).await.map_err(client::explain).with_context(|| sql.to_string())
}

async fn compare(weir: &Client, oracle: &Client) -> Result<()> {
    for (name, _) in VIEWS {
        let sql = format!("SELECT * FROM {name}");
        let types = types(oracle, &sql).await?;
        let (ours, theirs) = (query(weir, &sql).await?, query(oracle, &sql).await?);
        ensure!(!theirs.rows.is_empty(), "{name} is empty, which proves nothing");
        same(ours, theirs, &types).with_context(|| (*name).to_string())?;
    }
    Ok(())
}
