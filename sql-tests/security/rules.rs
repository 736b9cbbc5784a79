//! The hba rules, and what the server asks of its configuration before it listens.

use anyhow::{Context, Result, bail, ensure};
use sqllogictest::harness::Trial;

use crate::client::{self, execute, log_in, value};
use crate::harness::{self, trial};
use crate::server::Server;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("security/without_rules_loopback_is_trusted", without_rules_loopback_is_trusted),
        trial("security/rules_decide_in_order", rules_decide_in_order),
        trial("security/beyond_loopback_a_password_is_made", beyond_loopback_a_password_is_made),
        trial("security/unsafe_configurations_are_refused", unsafe_configurations_are_refused),
    ]
}

async fn refused(port: u16, user: &str, password: &str) -> Result<String> {
    match log_in(port, user, password).await {
        Ok(_) => bail!("{user} gets in"),
        Err(error) => {
            let error = error.as_db_error().with_context(|| format!("no answer: {error}"))?;
            Ok(format!("{} {}", error.code().code(), error.message()))
        }
    }
}

async fn without_rules_loopback_is_trusted() -> Result<()> {
    let server = Server::start(1).await?;
    let admin = server.connect().await?;
    execute(&admin, "CREATE ROLE ann LOGIN").await?;
    log_in(server.port, "ann", "whatever").await.map_err(client::explain)?;
    let answer = refused(server.port, "nobody", "x").await?;
    ensure!(answer == "28000 role \"nobody\" does not exist", "{answer}");
    // From now on a password is needed, also of whom there is not.
    execute(&admin, "ALTER ROLE ann PASSWORD 'x'; ALTER ROLE weir PASSWORD 'y'").await?;
    for user in ["ann", "weir", "nobody"] {
        let answer = refused(server.port, user, "whatever").await?;
        let expected = format!("28P01 password authentication failed for user \"{user}\"");
        ensure!(answer == expected, "{answer}");
    }
    let weir = log_in(server.port, "weir", "y").await.map_err(client::explain)?;
    ensure!(value(&weir, "SHOW is_superuser").await? == "on");
    Ok(())
}

async fn rules_decide_in_order() -> Result<()> {
    let rules = "host all weir 127.0.0.1/32 trust
                 host all evil all reject
                 host other ann all trust
                 host sameuser bob all trust
                 host all +staff 127.0.0.0/8 trust
                 host all all 10.0.0.0/8 trust";
    let server = Server::start_with(&["--hba", rules]).await?;
    let admin = server.connect().await?;
    let roles = "CREATE ROLE evil LOGIN; CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN;
                 CREATE ROLE staff; CREATE ROLE cid LOGIN IN ROLE staff;
                 CREATE DATABASE other; CREATE DATABASE bob;";
    execute(&admin, roles).await?;
    let in_ = async |user: &str, database: &str| -> Result<String> {
        match client::connect(server.port, user, database).await {
            Ok(client) => value(&client, "SELECT current_database()").await,
            Err(error) => Ok(format!("{:#}", client::explain(error))),
        }
    };
    let what = |user: &str, database: &str| {
        format!("host \"127.0.0.1\", user \"{user}\", database \"{database}\", no encryption")
    };
    let rejected = |user: &str, database: &str| {
        format!("28000: pg_hba.conf rejects connection for {}", what(user, database))
    };
    let unknown = |user: &str, database: &str| {
        format!("28000: no pg_hba.conf entry for {}", what(user, database))
    };
    for (user, database, expected) in [
        ("evil", "weir", rejected("evil", "weir")),
        ("ann", "other", "other".to_owned()),
        ("ann", "weir", unknown("ann", "weir")),
        ("bob", "bob", "bob".to_owned()),
        ("bob", "other", unknown("bob", "other")),
        ("cid", "weir", "weir".to_owned()),
        ("staff", "weir", "28000: role \"staff\" is not permitted to log in".to_owned()),
        ("nobody", "weir", unknown("nobody", "weir")),
    ] {
        let answer = in_(user, database).await?;
        ensure!(answer == expected, "{user} in {database}: {answer}");
    }
    Ok(())
}

async fn beyond_loopback_a_password_is_made() -> Result<()> {
    let mut server = Server::start_with(&["--listen", "0.0.0.0:PORT"]).await?;
    let told = server.logged("The password of user weir is ");
    let [line] = told.as_slice() else { bail!("told {} times", told.len()) };
    let password = line.rsplit(' ').next().context("a word")?.to_owned();
    ensure!(password.len() == 32, "{password}");
    let answer = refused(server.port, "weir", "").await?;
    ensure!(answer.starts_with("28P01"), "{answer}");
    let admin = log_in(server.port, "weir", &password).await.map_err(client::explain)?;
    ensure!(value(&admin, "SHOW is_superuser").await? == "on");
    server.kill();
    server.restart().await?;
    ensure!(server.logged("The password of user weir is ").len() == 1, "it is told again");
    log_in(server.port, "weir", &password).await.map_err(client::explain)?;
    // Back on loopback the password is still asked for.
    server.set_options(&["--authentication-timeout", "60"]);
    server.restart().await?;
    ensure!(refused(server.port, "weir", "x").await?.starts_with("28P01"));
    // A rule for the one who has lost it.
    server.set_options(&["--hba", "host all weir 127.0.0.1/32 trust"]);
    server.restart().await?;
    execute(&server.connect().await?, "ALTER ROLE weir PASSWORD 'new'").await?;
    Ok(())
}

async fn unsafe_configurations_are_refused() -> Result<()> {
    let listen = format!("0.0.0.0:{}", harness::free_port()?);
    for (options, why) in [
        (&["--listen", &listen, "--hba", "host all all all trust"][..], "trusts clients of other"),
        (
            &["--listen", &listen, "--hba", "host all all 0.0.0.0/0 trust"],
            "trusts clients of other",
        ),
        (&["--hba", "host all all all password"], "method \"password\""),
        (&["--hba", "# nothing"], "nobody could connect"),
        (&["--authentication-timeout", "0"], "authentication_timeout"),
    ] {
        let output = Server::run_refused(options)?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.code() == Some(1), "{options:?}: {} {said}", output.status);
        ensure!(said.contains(why), "{options:?}: {said}");
    }
    let open = ["--listen", "0.0.0.0:PORT", "--hba", "host all all all trust"];
    let server = Server::start_with(&[&open[..], &["--allow-unauthenticated"]].concat()).await?;
    ensure!(value(&server.connect().await?, "SELECT 1").await? == "1");
    ensure!(server.logged("The password of").is_empty(), "a password that nobody asks for");
    Ok(())
}
