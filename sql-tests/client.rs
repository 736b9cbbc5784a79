//! Speaking to either server as a client does, values as text.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

/// A result: names and rows of text, NULL is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Rows {
    pub(crate) names: Vec<String>,
    pub(crate) rows: Vec<Vec<Option<String>>>,
}

/// A connection to `database` on the loopback. It ends when the client is dropped.
pub(crate) async fn connect(
    port: u16,
    user: &str,
    database: &str,
) -> Result<Client, tokio_postgres::Error> {
    let mut config = Config::new();
    config.host("127.0.0.1").port(port).user(user).dbname(database);
    config.connect_timeout(Duration::from_secs(10)).application_name("weir sql-tests");
    let (client, connection) = config.connect(NoTls).await?;
    // When the connection breaks the client's next call says so.
    tokio::spawn(connection);
    Ok(client)
}

/// The same with a password, whatever comes of it.
pub(crate) async fn log_in(
    port: u16,
    user: &str,
    password: &str,
) -> Result<Client, tokio_postgres::Error> {
    let mut config = Config::new();
    config.host("127.0.0.1").port(port).user(user).password(password).dbname("weir");
    config.connect_timeout(Duration::from_secs(10));
    let (client, connection) = config.connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// The rows of the last result of `sql`, by the simple protocol.
pub(crate) async fn query(client: &Client, sql: &str) -> Result<Rows> {
    let messages =
        client.simple_query(sql).await.map_err(explain).with_context(|| sql.to_string())?;
    let mut result = Rows::default();
    for message in messages {
        match message {
            SimpleQueryMessage::RowDescription(columns) => {
                result = Rows::default();
                result.names = columns.iter().map(|column| column.name().to_string()).collect();
            }
            SimpleQueryMessage::Row(row) => result
                .rows
                .push((0..row.len()).map(|index| row.get(index).map(str::to_string)).collect()),
            _ => {}
        }
    }
    Ok(result)
}

/// The one value of `sql`; NULL is `NULL`.
pub(crate) async fn value(client: &Client, sql: &str) -> Result<String> {
    let result = query(client, sql).await?;
    match result.rows.as_slice() {
        [row] if row.len() == 1 => Ok(row[0].clone().unwrap_or_else(|| "NULL".to_string())),
        rows => bail!("{sql}: expected one value, got {rows:?}"),
    }
}

/// Runs `sql`, whatever it gives.
pub(crate) async fn execute(client: &Client, sql: &str) -> Result<()> {
    client.batch_execute(sql).await.map_err(explain).with_context(|| sql.to_string())
}

/// The server's words instead of the driver's `db error`.
pub(crate) fn explain(error: tokio_postgres::Error) -> anyhow::Error {
    match error.as_db_error() {
        Some(db) => {
            let detail = db.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
            anyhow::anyhow!("{}: {}{detail}", db.code().code(), db.message())
        }
        None => anyhow::anyhow!("connection: {error:?}"),
    }
}
