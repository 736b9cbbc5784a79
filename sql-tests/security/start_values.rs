//! What sessions begin with, as ALTER ROLE ... SET and ALTER DATABASE ... SET say.

use anyhow::{Result, ensure};
use sqllogictest::harness::Trial;

use crate::client::{self, execute, value};
use crate::harness::trial;
use crate::server::Server;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("security/sessions_begin_as_their_roles_say", sessions_begin)]
}

/// The narrower counts; the client's own word counts more; RESET goes back to it; a crash keeps it.
async fn sessions_begin() -> Result<()> {
    let mut server = Server::start(1).await?;
    let admin = server.connect().await?;
    execute(
        &admin,
        "CREATE ROLE ann LOGIN; CREATE DATABASE other;
         ALTER DATABASE other SET timezone = 'Asia/Tokyo';
         ALTER DATABASE other SET bytea_output = 'escape';
         ALTER ROLE ann SET timezone = 'Europe/Berlin';
         ALTER ROLE ann SET search_path = app, public;
         ALTER ROLE ann SET extra_float_digits = 2;
         ALTER ROLE ann IN DATABASE other SET extra_float_digits = 3",
    )
    .await?;
    ensure!(value(&admin, "SHOW timezone").await? == "UTC", "the session that says it changes");
    server.kill();
    server.restart().await?;
    let show = "SELECT current_setting('timezone') || '|' || current_setting('search_path') || '|'
                || current_setting('extra_float_digits') || '|' || current_setting('bytea_output')";
    for (user, database, expected) in [
        ("ann", "weir", "Europe/Berlin|app, public|2|hex"),
        ("ann", "other", "Europe/Berlin|app, public|3|escape"),
        ("weir", "other", "Asia/Tokyo|\"$user\", public|1|escape"),
        ("weir", "weir", "UTC|\"$user\", public|1|hex"),
    ] {
        let client = client::connect(server.port, user, database).await?;
        let found = value(&client, show).await?;
        ensure!(found == expected, "{user} in {database}: {found}");
    }
    let ann = client::connect(server.port, "ann", "weir").await?;
    execute(&ann, "SET timezone = 'UTC'; RESET timezone").await?;
    ensure!(value(&ann, "SHOW timezone").await? == "Europe/Berlin", "RESET goes elsewhere");
    execute(&ann, "SET timezone = 'UTC'; DISCARD ALL").await?;
    ensure!(value(&ann, "SHOW timezone").await? == "Europe/Berlin", "DISCARD goes elsewhere");
    let config = format!(
        "host=127.0.0.1 port={} user=ann dbname=weir \
         options='-c TimeZone=UTC -c extra_float_digits=0'",
        server.port
    );
    let (client, connection) = tokio_postgres::connect(&config, tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    let found = value(&client, show).await?;
    ensure!(found == "UTC|app, public|0|hex", "{found}");
    Ok(())
}
