//! sqlx: queries, types, transactions, streams, COPY, pools, migrations.

use std::env;
use std::fmt::Debug;
use std::path::Path;
use std::time::Duration;

use futures_util::TryStreamExt;
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgPool, PgPoolOptions, PgRow};
use sqlx::types::chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use sqlx::types::{Json, Uuid};
use sqlx::{Column, Connection, Error, Executor, Row, SqlSafeStr, Statement, TypeInfo};

type Said = Result<String, Error>;

/// Prints what a step gives.
fn step(name: &str, said: Said) {
    match said {
        Ok(said) => println!("{name} {said}"),
        Err(error) => println!("{name} FAILED {}", text(&error)),
    }
}

/// An error as a line: its SQLSTATE, message, and the constraint that it is of.
fn text(error: &Error) -> String {
    match error.as_database_error() {
        Some(error) => format!("{:?} {} {:?}", error.code(), error.message(), error.constraint()),
        None => error.to_string(),
    }
}

fn shown<T: Debug>(value: T) -> Said {
    Ok(format!("{value:?}"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let url = env::var("DATABASE_URL").expect("DATABASE_URL says where the server is");
    // docs: connect
    let pool = PgPoolOptions::new().max_connections(3).connect(&url).await?;
    for (id, account, amount) in [(1_i64, "ada", "10.50"), (2, "bob", "3"), (3, "ada", "-0.50")] {
        sqlx::query("INSERT INTO payment VALUES ($1, $2, $3::text::numeric)")
            .bind(id)
            .bind(account)
            .bind(amount)
            .execute(&pool)
            .await?;
    }
    let balances: Vec<(String, i64)> =
        sqlx::query_as("SELECT account, payments FROM balance ORDER BY account")
            .fetch_all(&pool)
            .await?;
    // docs: end
    println!("balances {balances:?}");
    step("types", types(&pool).await);
    step("described", described(&pool).await);
    step("streamed", streamed(&pool).await);
    step("transaction", transaction(&pool).await);
    step("errors", errors(&pool).await);
    step("copies", copies(&pool).await);
    step("several", several(&pool).await);
    step("at_once", at_once(&pool).await);
    step("times_out", times_out(&pool).await);
    step("migrations", migrations(&pool).await);
    pool.close().await;
    Ok(())
}

async fn types(pool: &PgPool) -> Said {
    let row = sqlx::query(
        "SELECT $1 AS b, $2 AS s, $3 AS i, $4 AS l, $5 AS r, $6 AS f, $7 AS t, $8 AS y, $9 AS d,
            $10 AS h, $11 AS ts, $12 AS tz, $13 AS u, $14 AS j, $15 AS a, $16 AS o",
    )
    .bind(true)
    .bind(7_i16)
    .bind(-40_000)
    .bind(5_000_000_000_i64)
    .bind(0.5_f32)
    .bind(1.5)
    .bind("naïve")
    .bind(&b"\x00\xff"[..])
    .bind(NaiveDate::from_ymd_opt(2026, 2, 28))
    .bind(NaiveTime::from_hms_opt(12, 30, 0))
    .bind(NaiveDate::from_ymd_opt(2026, 2, 28).and_then(|day| day.and_hms_opt(12, 30, 0)))
    .bind(DateTime::<Utc>::from_timestamp(1_772_281_800, 0))
    .bind(Uuid::from_u128(0x1234_5678))
    .bind(Json(vec![1, 2]))
    .bind(vec![Some(1), None])
    .bind(None::<String>)
    .fetch_one(pool)
    .await?;
    let names: Vec<_> = row.columns().iter().map(|column| column.type_info().name()).collect();
    let numbers = (
        row.get::<bool, _>(0),
        row.get::<i16, _>(1),
        row.get::<i32, _>(2),
        row.get::<i64, _>(3),
        row.get::<f32, _>(4),
        row.get::<f64, _>(5),
    );
    let others = (
        row.get::<String, _>("t"),
        row.get::<Vec<u8>, _>("y"),
        row.get::<NaiveDate, _>("d"),
        row.get::<NaiveTime, _>("h"),
        row.get::<NaiveDateTime, _>("ts"),
        row.get::<DateTime<Utc>, _>("tz"),
        row.get::<Uuid, _>("u"),
        row.get::<Json<Vec<i32>>, _>("j"),
        row.get::<Vec<Option<i32>>, _>("a"),
        row.get::<Option<String>, _>("o"),
    );
    shown((names, numbers, others))
}

async fn described(pool: &PgPool) -> Said {
    let mut connection = pool.acquire().await?;
    let sql = "SELECT id, account, amount FROM payment WHERE id = $1 AND amount > $2";
    let statement = connection.prepare(sql.into_sql_str()).await?;
    let columns = statement.columns().iter();
    let columns: Vec<_> = columns.map(|c| (c.name(), c.type_info().name())).collect();
    shown((statement.parameters(), columns))
}

async fn streamed(pool: &PgPool) -> Said {
    let mut rows =
        sqlx::query("SELECT n FROM generate_series(1, $1) AS s(n)").bind(1000).fetch(pool);
    let mut sum = 0;
    while let Some(row) = rows.try_next().await? {
        sum += row.get::<i32, _>(0);
    }
    shown(sum)
}

async fn count(pool: &PgPool) -> Result<i64, Error> {
    sqlx::query_scalar("SELECT count(*) FROM payment").fetch_one(pool).await
}

async fn transaction(pool: &PgPool) -> Said {
    let insert = || sqlx::query("INSERT INTO payment VALUES ($1, 'tim', 1)");
    let mut kept = pool.begin().await?;
    insert().bind(10_i64).execute(&mut *kept).await?;
    let inner = kept.begin().await?;
    inner.rollback().await?;
    kept.commit().await?;
    let mut dropped = pool.begin().await?;
    insert().bind(11_i64).execute(&mut *dropped).await?;
    dropped.rollback().await?;
    let mut failing = pool.begin().await?;
    let failed = sqlx::query("SELECT 1 / $1").bind(0).execute(&mut *failing).await.err();
    let stuck = sqlx::query("SELECT 1").execute(&mut *failing).await.err();
    drop(failing);
    shown((count(pool).await?, failed.map(|e| text(&e)), stuck.map(|e| text(&e))))
}

async fn errors(pool: &PgPool) -> Said {
    let mut said = Vec::new();
    for sql in [
        "SELECT * FROM nosuch",
        "SELEC 1",
        "INSERT INTO payment VALUES (1, 'x', 1)",
        "SELECT nosuch FROM payment",
    ] {
        said.push(sqlx::query(sql).execute(pool).await.err().map(|error| text(&error)));
    }
    shown(said)
}

async fn copies(pool: &PgPool) -> Said {
    let mut connection = pool.acquire().await?;
    let mut sink = connection.copy_in_raw("COPY payment FROM STDIN WITH (FORMAT csv)").await?;
    sink.send(&b"20,eve,1\n21,eve,2\n"[..]).await?;
    let copied = sink.finish().await?;
    let sql = "COPY (SELECT * FROM payment WHERE id >= 20 ORDER BY id) TO STDOUT";
    let out: Vec<_> = connection.copy_out_raw(sql).await?.try_collect().await?;
    let out: Vec<String> =
        out.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
    shown((copied, out.concat()))
}

async fn several(pool: &PgPool) -> Said {
    let rows: Vec<PgRow> = sqlx::raw_sql("SELECT 1; SELECT 2").fetch_all(pool).await?;
    shown(rows.iter().map(|row| row.get::<i32, _>(0)).collect::<Vec<_>>())
}

async fn at_once(pool: &PgPool) -> Said {
    let one = |n: i32| sqlx::query_scalar::<_, i32>("SELECT $1 + 1").bind(n).fetch_one(pool);
    let (a, b, c, d) = tokio::try_join!(one(1), one(2), one(3), one(4))?;
    shown((a, b, c, d))
}

async fn times_out(pool: &PgPool) -> Said {
    let mut connection = pool.acquire().await?;
    connection.execute("SET statement_timeout = 100").await?;
    let slept = connection.execute("SELECT pg_sleep(10)").await.err();
    connection.execute("RESET statement_timeout").await?;
    connection.ping().await?;
    // A query that is given up leaves its connection usable.
    let given_up = tokio::time::timeout(
        Duration::from_millis(50),
        sqlx::query("SELECT pg_sleep(0.3)").execute(pool),
    );
    let given_up = given_up.await.is_err();
    shown((slept.map(|error| text(&error)), given_up, count(pool).await?))
}

async fn migrations(pool: &PgPool) -> Said {
    let migrator = Migrator::new(Path::new("migrations")).await?;
    // Those that run at once wait for each other, by an advisory lock.
    let (one, other) = tokio::join!(migrator.run(pool), migrator.run(pool));
    one?;
    other?;
    migrator.run(pool).await?;
    let done: Vec<(i64, String, bool)> =
        sqlx::query_as("SELECT version, description, success FROM _sqlx_migrations ORDER BY 1")
            .fetch_all(pool)
            .await?;
    sqlx::query("INSERT INTO orders VALUES (1, 'nut', 2)").execute(pool).await?;
    let parts: Vec<(String, i64)> = sqlx::query_as("SELECT * FROM parts").fetch_all(pool).await?;
    shown((done, parts))
}
