//! Privileges where a script cannot reach: prepared statements, other sessions, system tables.

use anyhow::{Result, ensure};
use sqllogictest::harness::Trial;
use tokio_postgres::Client;

use crate::client::{self, execute, query, value};
use crate::harness::trial;
use crate::psql::psql;
use crate::server::Server;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("security/a_revoke_reaches_prepared_statements", revoke_reaches_prepared_statements),
        trial("security/others_sessions_are_theirs", others_sessions_are_theirs),
        trial("security/rows_do_not_leak_by_system_tables", rows_do_not_leak_by_system_tables),
        trial("security/what_is_kept_is_asked_about_first", what_is_kept_is_asked_about_first),
        trial(
            "security/a_replaced_function_reads_as_its_caller",
            replaced_function_reads_as_caller,
        ),
        trial("security/grants_outlive_a_crash", grants_outlive_a_crash),
        trial("security/a_database_can_be_closed", a_database_can_be_closed),
    ]
}

async fn as_user(server: &Server, user: &str) -> Result<Client> {
    client::connect(server.port, user, "weir").await.map_err(client::explain)
}

/// The error of a statement that must fail.
async fn refusal(client: &Client, sql: &str) -> Result<String> {
    match client.batch_execute(sql).await {
        Ok(()) => anyhow::bail!("it works: {sql}"),
        Err(error) => Ok(format!("{:#}", client::explain(error))),
    }
}

async fn denied(client: &Client, sql: &str, what: &str) -> Result<()> {
    let error = refusal(client, sql).await?;
    ensure!(error == format!("42501: {what}"), "{sql}: {error}");
    Ok(())
}

async fn revoke_reaches_prepared_statements() -> Result<()> {
    let server = Server::start(1).await?;
    let admin = server.connect().await?;
    let setup =
        "CREATE ROLE ann LOGIN; CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1);
                 GRANT SELECT, INSERT ON t TO ann";
    execute(&admin, setup).await?;
    let ann = as_user(&server, "ann").await?;
    let reading = ann.prepare("SELECT id FROM t WHERE id = $1").await.map_err(client::explain)?;
    let writing = ann.prepare("INSERT INTO t VALUES ($1)").await.map_err(client::explain)?;
    execute(&ann, "PREPARE own AS SELECT count(*) FROM t").await?;
    ensure!(ann.query(&reading, &[&1_i32]).await.map_err(client::explain)?.len() == 1);
    ann.execute(&writing, &[&2_i32]).await.map_err(client::explain)?;
    execute(&admin, "REVOKE ALL ON t FROM ann").await?;
    let expected = "42501: permission denied for table t";
    for failed in [
        ann.query(&reading, &[&1_i32]).await.map(drop),
        ann.execute(&writing, &[&3_i32]).await.map(drop),
        ann.batch_execute("EXECUTE own").await,
    ] {
        let error = failed.err().map(|error| format!("{:#}", client::explain(error)));
        ensure!(error.as_deref() == Some(expected), "{error:?}");
    }
    execute(&admin, "GRANT SELECT ON t TO ann").await?;
    ensure!(ann.query(&reading, &[&2_i32]).await.map_err(client::explain)?.len() == 1);
    // The same statement of the same session as another role.
    execute(&admin, "CREATE ROLE bob; GRANT bob TO ann; SET ROLE bob").await?;
    execute(&ann, "SET ROLE bob").await?;
    let error = ann.query(&reading, &[&2_i32]).await.err().map(client::explain);
    let error = error.map(|error| format!("{error:#}"));
    ensure!(error.as_deref() == Some(expected), "{error:?}");
    Ok(())
}

async fn others_sessions_are_theirs() -> Result<()> {
    let server = Server::start(1).await?;
    let admin = server.connect().await?;
    execute(&admin, "CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE cid LOGIN").await?;
    execute(&admin, "GRANT pg_signal_backend, pg_read_all_stats TO cid").await?;
    let (ann, bob) = (as_user(&server, "ann").await?, as_user(&server, "bob").await?);
    let cid = as_user(&server, "cid").await?;
    let pid = value(&bob, "SELECT pg_backend_pid() AS secret_pid").await?;
    let admin_pid = value(&admin, "SELECT pg_backend_pid()").await?;
    let seen = format!("SELECT query FROM pg_stat_activity WHERE pid = {pid}");
    ensure!(value(&ann, &seen).await? == "<insufficient privilege>");
    ensure!(value(&bob, &seen).await?.contains("pg_stat_activity"));
    ensure!(value(&cid, &seen).await?.contains("pg_stat_activity"));
    let member = "must be a member of the role whose process is being terminated or member of \
                  pg_signal_backend";
    denied(&ann, &format!("SELECT pg_terminate_backend({pid})"), member).await?;
    let superuser = "must be a superuser to cancel superuser query";
    denied(&cid, &format!("SELECT pg_cancel_backend({admin_pid})"), superuser).await?;
    ensure!(value(&cid, &format!("SELECT pg_terminate_backend({pid})")).await? == "t");
    let checkpoint = "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT";
    denied(&ann, "CHECKPOINT", checkpoint).await?;
    // A role is not taken by way of a setting, a function or the connection's options.
    let role = "permission denied to set role \"weir\"";
    denied(&ann, "SET role = 'weir'", role).await?;
    denied(&ann, "SELECT set_config('role', 'weir', false)", role).await?;
    let authorization = "permission denied to set session authorization";
    denied(&ann, "SET SESSION AUTHORIZATION weir", authorization).await?;
    denied(&ann, "SET session_authorization = weir", authorization).await?;
    denied(&ann, "SELECT set_config('session_authorization', 'weir', true)", authorization).await?;
    for options in ["-c role=weir", "-c session_authorization=weir", "-c is_superuser=on"] {
        let mut command = psql(&server, &["SELECT 1"]);
        command.args(["-U", "ann"]).env("PGOPTIONS", options);
        ensure!(!command.output()?.status.success(), "{options}");
    }
    Ok(())
}

async fn rows_do_not_leak_by_system_tables() -> Result<()> {
    let server = Server::start(1).await?;
    let admin = server.connect().await?;
    let setup = "CREATE ROLE ann LOGIN; CREATE TABLE t (id int PRIMARY KEY, v int);
                 CREATE MATERIALIZED VIEW v AS SELECT id, 100 / v AS q FROM t;
                 INSERT INTO t VALUES (4711, 0)";
    execute(&admin, setup).await?;
    let entries = "SELECT count(*) FROM weir.errors";
    ensure!(value(&admin, entries).await? == "1");
    let ann = as_user(&server, "ann").await?;
    ensure!(value(&ann, entries).await? == "0");
    execute(&admin, "GRANT SELECT ON v TO ann").await?;
    ensure!(value(&ann, entries).await? == "1");
    denied(&ann, "SELECT * FROM pg_authid", "permission denied for table pg_authid").await?;
    let view = "permission denied for view pg_shadow";
    denied(&ann, "SELECT s.* FROM pg_catalog.pg_shadow s, v", view).await?;
    // Statements that say more than they read.
    for sql in
        ["EXPLAIN SELECT * FROM t", "SHOW CREATE TABLE t", "DECLARE c CURSOR FOR SELECT 1 FROM t"]
    {
        let sql = format!("BEGIN; {sql}");
        let answer = ann.batch_execute(&sql).await;
        let answer = answer.map_err(|error| format!("{:#}", client::explain(error)));
        // What a table is made of PostgreSQL shows to everybody.
        let expected = match sql.contains("SHOW") {
            true => Ok(()),
            false => Err("42501: permission denied for table t".to_owned()),
        };
        ensure!(answer == expected, "{sql}: {answer:?}");
        execute(&ann, "ROLLBACK").await?;
    }
    Ok(())
}

async fn what_is_kept_is_asked_about_first() -> Result<()> {
    let server = Server::start(1).await?;
    let admin = server.connect().await?;
    let setup = "CREATE ROLE ann LOGIN; GRANT CREATE ON SCHEMA public TO ann;
                 CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY);
                 CREATE VIEW w AS SELECT id FROM t; CREATE SCHEMA closed;
                 CREATE TABLE closed.c (id int); GRANT SELECT ON closed.c TO ann";
    execute(&admin, setup).await?;
    let ann = as_user(&server, "ann").await?;
    let table = "permission denied for table t";
    let mine = "CREATE MATERIALIZED VIEW mine AS SELECT id FROM t";
    denied(&ann, mine, table).await?;
    denied(&ann, &format!("EXPLAIN {mine}"), table).await?;
    denied(
        &ann,
        "CREATE MATERIALIZED VIEW mine AS SELECT id FROM w",
        "permission denied for view w",
    )
    .await?;
    denied(&ann, "CREATE TABLE copied AS SELECT * FROM t", table).await?;
    denied(&ann, "CREATE SINK s INTO u FROM t", table).await?;
    let closed = "CREATE MATERIALIZED VIEW mine AS SELECT id FROM closed.c";
    denied(&ann, closed, "permission denied for schema closed").await?;
    let file = "CREATE SOURCE f (a int) WITH (connector = 'file', path = '/etc/passwd') \
                FORMAT PLAIN ENCODE CSV";
    let files = "must be superuser or have privileges of the pg_read_server_files role to read \
                 from a file";
    denied(&ann, file, files).await?;
    denied(&ann, &file.replace("SOURCE", "TABLE"), files).await?;
    execute(&admin, "GRANT SELECT ON t TO ann").await?;
    denied(&ann, "CREATE SINK s INTO u FROM t", "permission denied for table u").await?;
    execute(&admin, "GRANT INSERT ON u TO ann").await?;
    denied(&ann, "CREATE SINK s INTO u FROM t", "permission denied for table u").await?;
    execute(&admin, "GRANT UPDATE, DELETE ON u TO ann").await?;
    execute(&ann, "CREATE SINK s INTO u FROM t").await?;
    execute(&ann, mine).await?;
    execute(&admin, "REVOKE SELECT ON t FROM ann; INSERT INTO t VALUES (1); FLUSH").await?;
    ensure!(value(&ann, "SELECT count(*) FROM mine").await? == "1", "the view stops");
    ensure!(value(&admin, "SELECT count(*) FROM u").await? == "1", "the sink stops");
    denied(&ann, "SELECT * FROM t", table).await?;
    let owner = "must be owner of table t";
    for sql in ["DROP TABLE t CASCADE", "COMMENT ON COLUMN t.id IS 'x'", "CREATE INDEX ON t (id)"] {
        denied(&ann, sql, owner).await?;
    }
    denied(&ann, "CREATE OR REPLACE VIEW w AS SELECT 1 AS id", "must be owner of view w").await?;
    denied(&ann, "DROP MATERIALIZED VIEW w", "must be owner of view w").await?;
    execute(&ann, "DROP SINK s; DROP MATERIALIZED VIEW mine").await?;
    denied(&ann, "CREATE SCHEMA own", "permission denied for database weir").await?;
    denied(&ann, "DROP DATABASE weir", "must be owner of database weir").await?;
    denied(&ann, "CREATE DATABASE other", "permission denied to create database").await?;
    Ok(())
}

/// A function's owner must not read with the rights of whoever made a view that calls it.
async fn replaced_function_reads_as_caller() -> Result<()> {
    let server = Server::start(1).await?;
    let admin = server.connect().await?;
    let setup = "CREATE ROLE eve LOGIN; GRANT CREATE ON SCHEMA public TO eve;
                 CREATE TABLE secrets (v text); INSERT INTO secrets VALUES ('hidden')";
    execute(&admin, setup).await?;
    let eve = as_user(&server, "eve").await?;
    let harmless =
        "CREATE OR REPLACE FUNCTION f() RETURNS text LANGUAGE SQL STABLE AS $$SELECT 'x'$$";
    execute(&eve, harmless).await?;
    execute(&admin, "CREATE VIEW calls AS SELECT f() AS v; GRANT SELECT ON calls TO eve").await?;
    ensure!(value(&eve, "SELECT v FROM calls").await? == "x");
    let greedy = harmless.replace("SELECT 'x'", "SELECT v FROM secrets");
    execute(&eve, &greedy).await?;
    denied(&eve, "SELECT v FROM calls", "permission denied for table secrets").await?;
    ensure!(value(&admin, "SELECT v FROM calls").await? == "hidden");
    execute(&admin, "CREATE FUNCTION g() RETURNS int LANGUAGE SQL AS 'SELECT 1'").await?;
    denied(&eve, "DROP FUNCTION g()", "must be owner of function g").await?;
    Ok(())
}

async fn grants_outlive_a_crash() -> Result<()> {
    let mut server = Server::start(2).await?;
    let admin = server.connect().await?;
    let setup = "CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN; CREATE SCHEMA s;
                 CREATE TABLE s.t (id int PRIMARY KEY); CREATE VIEW s.v AS SELECT id FROM s.t;
                 CREATE MATERIALIZED VIEW s.m AS SELECT count(*) AS n FROM s.t;
                 GRANT USAGE ON SCHEMA s TO ann; GRANT SELECT ON s.t TO ann WITH GRANT OPTION;
                 GRANT ALL ON s.v TO PUBLIC; ALTER MATERIALIZED VIEW s.m OWNER TO bob;
                 ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT INSERT ON TABLES TO bob;
                 REVOKE CONNECT ON DATABASE weir FROM PUBLIC;
                 GRANT CONNECT ON DATABASE weir TO ann";
    execute(&admin, setup).await?;
    let shown = "SELECT relname, relowner, relacl FROM pg_class WHERE oid > 16384 UNION ALL
                 SELECT nspname, nspowner, nspacl FROM pg_namespace UNION ALL
                 SELECT datname, datdba, datacl FROM pg_database UNION ALL
                 SELECT defaclobjtype::text, defaclrole, defaclacl FROM pg_default_acl ORDER BY 1";
    let before = query(&admin, shown).await?;
    server.kill();
    server.restart().await?;
    let after = query(&server.connect().await?, shown).await?;
    ensure!(before == after, "{before:?}\n{after:?}");
    let ann = as_user(&server, "ann").await?;
    ensure!(value(&ann, "SELECT count(*) FROM s.t").await? == "0");
    denied(&ann, "SELECT * FROM s.m", "permission denied for materialized view m").await?;
    Ok(())
}

async fn a_database_can_be_closed() -> Result<()> {
    let server = Server::start(1).await?;
    let admin = server.connect().await?;
    execute(&admin, "CREATE ROLE ann LOGIN; REVOKE CONNECT ON DATABASE weir FROM PUBLIC").await?;
    let error = as_user(&server, "ann").await.err().map(|error| format!("{error:#}"));
    let expected = "42501: permission denied for database \"weir\" (User does not have CONNECT \
                    privilege.)";
    ensure!(error.as_deref() == Some(expected), "{error:?}");
    execute(&admin, "GRANT CONNECT ON DATABASE weir TO ann").await?;
    as_user(&server, "ann").await?;
    Ok(())
}
