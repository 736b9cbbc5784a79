//! Money that is read FOR UPDATE: no change is lost, whoever reads and writes at the same time.

use anyhow::{Context, Result, ensure};
use sqllogictest::harness::Trial;

use crate::client::{execute, value};
use crate::harness::trial;
use crate::server::Server;

const SESSIONS: usize = 4;
const TRANSFERS: usize = 25;

pub(super) fn trials() -> Vec<Trial> {
    vec![trial("wire::what_is_read_for_update_is_not_lost", nothing_is_lost)]
}

/// Each session reads a balance, computes, and writes what it has computed. Also where the rows
/// that others have committed are not durable yet.
async fn nothing_is_lost() -> Result<()> {
    let server = Server::start(2).await?;
    let client = server.connect().await?;
    execute(&client, "CREATE TABLE account (id int PRIMARY KEY, balance bigint)").await?;
    execute(&client, "INSERT INTO account VALUES (1, 0), (2, 1000)").await?;
    execute(&client, "CREATE MATERIALIZED VIEW total AS SELECT sum(balance) AS s FROM account")
        .await?;
    let mut running = Vec::new();
    for session in 0..SESSIONS {
        let client = server.connect().await?;
        running.push(tokio::spawn(async move {
            if session % 2 == 0 {
                execute(&client, "SET synchronous_commit = off").await?;
            }
            for _ in 0..TRANSFERS {
                execute(&client, "BEGIN").await?;
                let read = |id| format!("SELECT balance FROM account WHERE id = {id} FOR UPDATE");
                let one: i64 = value(&client, &read(1)).await?.parse()?;
                let two: i64 = value(&client, &read(2)).await?.parse()?;
                let write = format!(
                    "UPDATE account SET balance = {} WHERE id = 1;
                     UPDATE account SET balance = {} WHERE id = 2",
                    one + 3,
                    two - 3
                );
                execute(&client, &write).await?;
                execute(&client, "COMMIT").await?;
            }
            anyhow::Ok(())
        }));
    }
    for session in running {
        session.await??;
    }
    let moved = i64::try_from(3 * SESSIONS * TRANSFERS).context("a small number")?;
    let read = "SELECT string_agg(balance::text, ' ' ORDER BY id) FROM account";
    execute(&client, "FLUSH").await?;
    let found = value(&client, read).await?;
    ensure!(found == format!("{moved} {}", 1000 - moved), "{found}");
    ensure!(value(&client, "SELECT s FROM total").await? == "1000", "the view is wrong");
    Ok(())
}
