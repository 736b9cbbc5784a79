//! Sessions that wait for each other: the last one to wait fails, and the others go on.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sqllogictest::harness::Trial;
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use crate::client::{execute, value};
use crate::harness::trial;
use crate::server::Server;

/// How long those may take who are in nobody's way.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("wire::a_deadlock_of_tables_and_numbers_is_seen", tables_and_numbers),
        trial("wire::a_deadlock_of_those_who_share_is_seen", sharers),
        trial("wire::who_stops_waiting_is_in_nobodys_way", stops),
    ]
}

/// Runs `sql` beside, and comes back when it waits for a lock.
async fn waits(server: &Server, client: Client, sql: &str) -> Result<JoinHandle<Result<Client>>> {
    let pid = value(&client, "SELECT pg_backend_pid()").await?;
    let sql = sql.to_owned();
    let running = tokio::spawn(async move { execute(&client, &sql).await.map(|()| client) });
    let watcher = server.connect().await?;
    let waiting = format!("SELECT count(*) FROM pg_locks WHERE pid = {pid} AND NOT granted");
    tokio::time::timeout(PATIENCE, async {
        while value(&watcher, &waiting).await? != "1" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        anyhow::Ok(())
    })
    .await
    .context("it does not wait")??;
    Ok(running)
}

async fn goes_on(running: JoinHandle<Result<Client>>) -> Result<Client> {
    tokio::time::timeout(PATIENCE, running).await.context("it still waits")??
}

async fn fails(client: &Client, sql: &str, code: &str) -> Result<()> {
    let failed = tokio::time::timeout(PATIENCE, execute(client, sql)).await;
    let error = failed.context("it waits for ever")?.err().context("it did not fail")?;
    ensure!(format!("{error:#}").contains(code), "{error:#}");
    Ok(())
}

/// Three sessions: a table, a number, another number.
async fn tables_and_numbers() -> Result<()> {
    let server = Server::start(1).await?;
    let (one, two, three) =
        (server.connect().await?, server.connect().await?, server.connect().await?);
    execute(&one, "CREATE TABLE t (id int PRIMARY KEY)").await?;
    execute(&one, "BEGIN; INSERT INTO t VALUES (1)").await?;
    execute(&two, "SELECT pg_advisory_lock(1)").await?;
    execute(&three, "BEGIN; SELECT pg_advisory_xact_lock(2, 2)").await?;
    let one = waits(&server, one, "SELECT pg_advisory_lock(1)").await?;
    let two = waits(&server, two, "SELECT pg_advisory_lock_shared(2, 2)").await?;
    fails(&three, "INSERT INTO t VALUES (3)", "40P01").await?;
    // Its transaction has failed and holds nothing any more.
    let two = goes_on(two).await?;
    execute(&two, "SELECT pg_advisory_unlock(1)").await?;
    let one = goes_on(one).await?;
    execute(&one, "COMMIT").await?;
    execute(&three, "ROLLBACK; INSERT INTO t VALUES (3)").await?;
    let held = value(&one, "SELECT string_agg(mode, ' ' ORDER BY mode) FROM pg_locks").await?;
    ensure!(held == "ExclusiveLock ShareLock", "{held}");
    drop((one, two));
    no_locks(&three).await
}

/// Two that share a number, and both want it alone.
async fn sharers() -> Result<()> {
    let server = Server::start(1).await?;
    let (one, two, late) =
        (server.connect().await?, server.connect().await?, server.connect().await?);
    execute(&one, "SELECT pg_advisory_lock_shared(1)").await?;
    execute(&two, "SELECT pg_advisory_lock_shared(1)").await?;
    let late = waits(&server, late, "SELECT pg_advisory_lock(1)").await?;
    // Who holds it comes before the one who waited first.
    let one = waits(&server, one, "SELECT pg_advisory_lock(1)").await?;
    fails(&two, "SELECT pg_advisory_lock(1)", "40P01").await?;
    execute(&two, "SELECT pg_advisory_unlock_shared(1)").await?;
    let one = goes_on(one).await?;
    execute(&one, "SELECT pg_advisory_unlock_all()").await?;
    drop(goes_on(late).await?);
    no_locks(&two).await
}

/// A cancelled one lets those behind it in, whom only it kept waiting.
async fn stops() -> Result<()> {
    let server = Server::start(1).await?;
    let (one, two, three) =
        (server.connect().await?, server.connect().await?, server.connect().await?);
    execute(&one, "SELECT pg_advisory_lock_shared(1)").await?;
    let pid = value(&two, "SELECT pg_backend_pid()").await?;
    let two = waits(&server, two, "SELECT pg_advisory_lock(1)").await?;
    let three = waits(&server, three, "SELECT pg_advisory_lock_shared(1)").await?;
    execute(&one, &format!("SELECT pg_cancel_backend({pid})")).await?;
    let error = two.await?.err().context("it was not cancelled")?;
    ensure!(format!("{error:#}").contains("57014"), "{error:#}");
    drop(goes_on(three).await?);
    execute(&one, "SELECT pg_advisory_unlock_shared(1)").await?;
    no_locks(&one).await
}

/// Nothing is left of sessions that are gone.
async fn no_locks(client: &Client) -> Result<()> {
    tokio::time::timeout(PATIENCE, async {
        while value(client, "SELECT count(*) FROM pg_locks").await? != "0" {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        anyhow::Ok(())
    })
    .await
    .context("locks are left")?
}
