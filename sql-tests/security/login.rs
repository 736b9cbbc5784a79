//! Passwords: who gets in with them, and what the others learn.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use sqllogictest::harness::Trial;

use crate::client::{self, execute, log_in, value};
use crate::harness::trial;
use crate::postgres::Database;
use crate::psql::psql;
use crate::server::Server;
use crate::wire::socket::Socket;

const PASSWORD: &str = "gEheim ünd lang";

/// Every role needs a password, wherever it comes from.
const STRICT: &[&str] =
    &["--hba", "host all weir all trust", "--hba", "host all all all scram-sha-256"];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("security/a_password_lets_in", a_password_lets_in),
        trial("security/psql_logs_in", psql_logs_in),
        trial("security/a_verifier_of_postgresql_is_taken", a_verifier_of_postgresql_is_taken),
        trial("security/nobody_learns_who_exists", nobody_learns_who_exists),
        trial("security/little_is_read_before_the_login", little_is_read_before_the_login),
        trial("security/silence_ends", silence_ends),
        trial("security/guessing_is_slow", guessing_is_slow),
        trial("security/roles_outlive_a_crash", roles_outlive_a_crash),
        trial("security/who_may_log_in", who_may_log_in),
    ]
}

/// SQLSTATE and message of a login that must fail.
async fn refused(server: &Server, user: &str, password: &str) -> Result<(String, String)> {
    match log_in(server.port, user, password).await {
        Ok(_) => bail!("{user} gets in"),
        Err(error) => {
            let error = error.as_db_error().with_context(|| format!("no answer: {error}"))?;
            Ok((error.code().code().to_owned(), error.message().to_owned()))
        }
    }
}

async fn a_password_lets_in() -> Result<()> {
    let server = Server::start_with(STRICT).await?;
    let admin = server.connect().await?;
    execute(&admin, &format!("CREATE ROLE ann LOGIN PASSWORD '{PASSWORD}'")).await?;
    let ann = log_in(server.port, "ann", PASSWORD).await.map_err(client::explain)?;
    ensure!(value(&ann, "SELECT session_user || ' ' || current_user").await? == "ann ann");
    ensure!(value(&ann, "SHOW is_superuser").await? == "off");
    let wrong = ("28P01".to_owned(), "password authentication failed for user \"ann\"".to_owned());
    ensure!(refused(&server, "ann", "geheim").await? == wrong);
    ensure!(refused(&server, "ann", "").await? == wrong);
    execute(&admin, "ALTER ROLE ann PASSWORD 'other'").await?;
    ensure!(refused(&server, "ann", PASSWORD).await? == wrong);
    log_in(server.port, "ann", "other").await.map_err(client::explain)?;
    execute(&admin, "ALTER ROLE ann VALID UNTIL '2001-01-01'").await?;
    ensure!(refused(&server, "ann", "other").await? == wrong);
    execute(&admin, "ALTER ROLE ann VALID UNTIL 'infinity' PASSWORD NULL").await?;
    ensure!(refused(&server, "ann", "other").await? == wrong);
    // What is kept is no password, and cannot be used as one.
    execute(&admin, "ALTER ROLE ann PASSWORD 'other'").await?;
    let sql = "SELECT rolpassword FROM pg_authid WHERE rolname = 'ann'";
    let kept = value(&admin, sql).await?;
    ensure!(kept.starts_with("SCRAM-SHA-256$4096:") && !kept.contains("other"), "{kept}");
    ensure!(refused(&server, "ann", &kept).await? == wrong);
    let data = server.data();
    drop(server);
    ensure!(!data.exists(), "the folder stays");
    Ok(())
}

async fn psql_logs_in() -> Result<()> {
    let server = Server::start_with(STRICT).await?;
    let admin = server.connect().await?;
    execute(&admin, &format!("CREATE USER ann PASSWORD '{PASSWORD}'")).await?;
    let said = |password: Option<&str>| -> Result<(bool, String)> {
        let mut command = psql(&server, &["SELECT current_user"]);
        command.args(["-U", "ann", "-At", "-w"]);
        if let Some(password) = password {
            command.env("PGPASSWORD", password);
        }
        let output = command.output()?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
    };
    let (ok, text) = said(Some(PASSWORD))?;
    ensure!(ok && text.trim() == "ann", "{text}");
    let (ok, text) = said(Some("geheim"))?;
    let expected = "FATAL:  password authentication failed for user \"ann\"";
    ensure!(!ok && text.contains(expected), "{text}");
    let (ok, text) = said(None)?;
    ensure!(!ok && text.contains("no password supplied"), "{text}");
    Ok(())
}

async fn a_verifier_of_postgresql_is_taken() -> Result<()> {
    let theirs = Database::create().await?.connect().await?;
    execute(&theirs, &format!("CREATE ROLE verifier_test PASSWORD '{PASSWORD}'")).await?;
    let sql = "SELECT rolpassword FROM pg_authid WHERE rolname = 'verifier_test'";
    let verifier = value(&theirs, sql).await?;
    execute(&theirs, "DROP ROLE verifier_test").await?;
    let server = Server::start_with(STRICT).await?;
    let admin = server.connect().await?;
    execute(&admin, &format!("CREATE ROLE ann LOGIN PASSWORD '{verifier}'")).await?;
    let kept = value(&admin, "SELECT passwd FROM pg_shadow WHERE usename = 'ann'").await?;
    ensure!(kept == verifier, "{kept}");
    log_in(server.port, "ann", PASSWORD).await.map_err(client::explain)?;
    Ok(())
}

/// A login by hand up to the server's last word: the challenge without its nonce, and the answer
/// to a proof that does not fit.
async fn probe(server: &Server, user: &str) -> Result<(String, String)> {
    let mut socket = Socket::raw(server.port).await?;
    socket.start(user, "weir").await?;
    let mechanisms = socket.receive().await?;
    ensure!(mechanisms == "Authentication 10 SCRAM-SHA-256", "{mechanisms}");
    socket.sasl_initial("SCRAM-SHA-256", b"n,,n=,r=abcdefghijkl").await?;
    let challenge = socket.receive().await?;
    let (nonce, rest) = challenge
        .strip_prefix("Authentication 11 r=")
        .and_then(|rest| rest.split_once(','))
        .with_context(|| challenge.clone())?;
    ensure!(nonce.starts_with("abcdefghijkl") && nonce.len() > 30, "{nonce}");
    let proof = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    socket.password(format!("c=biws,r={nonce},p={proof}").as_bytes()).await?;
    let answer = socket.receive().await?;
    ensure!(socket.is_closed().await, "the connection stays open");
    Ok((rest.to_owned(), answer))
}

async fn nobody_learns_who_exists() -> Result<()> {
    let mut server = Server::start_with(STRICT).await?;
    let admin = server.connect().await?;
    execute(
        &admin,
        "CREATE ROLE ann LOGIN PASSWORD 'x'; CREATE ROLE bob LOGIN;
         CREATE ROLE cid LOGIN PASSWORD 'x' VALID UNTIL '2001-01-01'; CREATE ROLE dan PASSWORD 'x'",
    )
    .await?;
    let users = ["ann", "bob", "cid", "dan", "nobody", "NOBODY", "weïr"];
    let mut salts = Vec::new();
    for user in users {
        let (challenge, answer) = probe(&server, user).await?;
        let expected =
            format!("ErrorResponse FATAL 28P01 password authentication failed for user \"{user}\"");
        ensure!(answer == expected, "{answer}");
        let (salt, rounds) = challenge.split_once(',').with_context(|| challenge.clone())?;
        // 16 bytes in base64.
        ensure!(salt.starts_with("s=") && salt.len() == 26 && rounds == "i=4096", "{challenge}");
        salts.push(salt.to_owned());
    }
    server.kill();
    server.restart().await?;
    for (user, salt) in users.iter().zip(&salts) {
        let (challenge, _) = probe(&server, user).await?;
        ensure!(challenge.starts_with(&**salt), "{user}: another salt after a restart");
    }
    salts.sort();
    salts.dedup();
    ensure!(salts.len() == users.len(), "two users have one salt");
    Ok(())
}

async fn little_is_read_before_the_login() -> Result<()> {
    let server = Server::start_with(STRICT).await?;
    execute(&server.connect().await?, "CREATE ROLE ann LOGIN PASSWORD 'x'").await?;
    let long = [b"p".as_slice(), &100_000_000_u32.to_be_bytes(), &[b'x'; 2000]].concat();
    let binding = b"p=tls-server-end-point,,n=,r=abcdefghijkl";
    // Instead of the first message of the exchange, and what must come of it.
    let firsts: [(&str, Vec<u8>, &str); 9] = [
        ("a query", b"Q\0\0\0\x0dselect 1\0".to_vec(), "expected SASL response"),
        ("an empty message", b"p\0\0\0\x04".to_vec(), "invalid string"),
        ("an endless message", long, "invalid message length"),
        ("no length", b"p\0\0\0\0".to_vec(), "invalid message length"),
        ("an unknown mechanism", initial("PLAIN", b"n,,n=,r=a"), "invalid SASL authentication"),
        ("binding without TLS", initial("SCRAM-SHA-256", binding), "malformed SCRAM message"),
        ("no SCRAM", initial("SCRAM-SHA-256", b"hello"), "malformed SCRAM message"),
        ("no message", initial("SCRAM-SHA-256", b""), "malformed SCRAM message"),
        ("an identity", initial("SCRAM-SHA-256", b"n,a=weir,n=,r=abc"), "malformed SCRAM message"),
    ];
    for (what, bytes, expected) in firsts {
        let mut socket = Socket::raw(server.port).await?;
        socket.start("ann", "weir").await?;
        socket.receive().await?;
        socket.send_bytes(&bytes).await?;
        let answer = socket.receive().await.context(what)?;
        ensure!(answer.starts_with("ErrorResponse FATAL 08P01"), "{what}: {answer}");
        ensure!(answer.contains(expected), "{what}: {answer}");
        ensure!(socket.is_closed().await, "{what}: the connection stays open");
    }
    // Instead of the second: another's nonce, a proof cut short, a proof with bytes after it.
    for last in ["c=biws,r=other,p=AAAA", "c=biws,r=NONCE,p=AAAA", "c=eSws,r=NONCE,p=AAAA", "x", ""]
    {
        let mut socket = Socket::raw(server.port).await?;
        socket.start("ann", "weir").await?;
        socket.receive().await?;
        socket.sasl_initial("SCRAM-SHA-256", b"n,,n=,r=abcdefghijkl").await?;
        let challenge = socket.receive().await?;
        let nonce = challenge.split("r=").nth(1).and_then(|rest| rest.split(',').next());
        let last = last.replace("NONCE", nonce.unwrap_or_default());
        socket.password(last.as_bytes()).await?;
        let answer = socket.receive().await?;
        ensure!(answer == "ErrorResponse FATAL 08P01 malformed SCRAM message", "{last}: {answer}");
    }
    ensure!(value(&server.connect().await?, "SELECT 1").await? == "1");
    Ok(())
}

fn initial(mechanism: &str, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).expect("a short message");
    let body = [mechanism.as_bytes(), b"\0", &length.to_be_bytes(), data].concat();
    let length = u32::try_from(body.len() + 4).expect("a short message");
    [b"p".as_slice(), &length.to_be_bytes(), &body].concat()
}

async fn silence_ends() -> Result<()> {
    let options = [STRICT, &["--authentication-timeout", "2"]].concat();
    let server = Server::start_with(&options).await?;
    execute(&server.connect().await?, "CREATE ROLE ann LOGIN PASSWORD 'x'").await?;
    let started = Instant::now();
    let mut silent = Socket::raw(server.port).await?;
    let mut half = Socket::raw(server.port).await?;
    half.start("ann", "weir").await?;
    half.receive().await?;
    ensure!(silent.is_closed().await && half.is_closed().await, "a silent client is kept");
    let took = started.elapsed();
    ensure!((1..10).contains(&took.as_secs()), "it took {took:?}");
    Ok(())
}

async fn guessing_is_slow() -> Result<()> {
    let server = Server::start_with(STRICT).await?;
    let admin = server.connect().await?;
    execute(&admin, "CREATE ROLE ann LOGIN PASSWORD 'x'; CREATE ROLE bob LOGIN PASSWORD 'y'")
        .await?;
    let started = Instant::now();
    for guess in 0..5 {
        refused(&server, "ann", &guess.to_string()).await?;
    }
    // 0.1, 0.2, 0.4 and 0.8 seconds.
    let took = started.elapsed();
    ensure!(took > Duration::from_millis(1400), "five guesses took {took:?}");
    let started = Instant::now();
    log_in(server.port, "bob", "y").await.map_err(client::explain)?;
    ensure!(started.elapsed() < Duration::from_secs(1), "others wait too");
    let started = Instant::now();
    log_in(server.port, "ann", "x").await.map_err(client::explain)?;
    ensure!(started.elapsed() > Duration::from_millis(1500), "the right guess is let in at once");
    log_in(server.port, "ann", "x").await.map_err(client::explain)?;
    Ok(())
}

async fn roles_outlive_a_crash() -> Result<()> {
    let mut server = Server::start_with(STRICT).await?;
    let admin = server.connect().await?;
    execute(
        &admin,
        "CREATE ROLE readers; CREATE ROLE ann LOGIN CREATEDB PASSWORD 'x' CONNECTION LIMIT 3
             VALID UNTIL '2100-01-01 00:00+00' IN ROLE readers;
         CREATE ROLE gone LOGIN; DROP ROLE gone;
         GRANT pg_read_all_data TO readers WITH ADMIN OPTION",
    )
    .await?;
    let roles = "SELECT oid, rolname, rolcanlogin, rolcreatedb, rolconnlimit, rolpassword, \
                 rolvaliduntil FROM pg_authid ORDER BY oid";
    let members = "SELECT roleid, member, grantor, admin_option FROM pg_auth_members ORDER BY 1, 2";
    let before = [client::query(&admin, roles).await?, client::query(&admin, members).await?];
    server.kill();
    server.restart().await?;
    let admin = server.connect().await?;
    let after = [client::query(&admin, roles).await?, client::query(&admin, members).await?];
    ensure!(before == after, "{before:?}\n{after:?}");
    log_in(server.port, "ann", "x").await.map_err(client::explain)?;
    execute(&admin, "CREATE ROLE fresh").await?;
    let sql = "SELECT count(*) FROM pg_roles a, pg_roles b WHERE a.oid = b.oid";
    let (all, pairs) =
        (value(&admin, "SELECT count(*) FROM pg_roles").await?, value(&admin, sql).await?);
    ensure!(all == pairs, "an OID is given twice");
    Ok(())
}

async fn who_may_log_in() -> Result<()> {
    let server = Server::start_with(STRICT).await?;
    let admin = server.connect().await?;
    execute(
        &admin,
        "CREATE ROLE group_only PASSWORD 'x'; CREATE ROLE one LOGIN PASSWORD 'x' CONNECTION LIMIT 1;
         CREATE ROLE ann LOGIN PASSWORD 'x'",
    )
    .await?;
    let refusal = refused(&server, "group_only", "x").await?;
    let expected = ("28000".into(), "role \"group_only\" is not permitted to log in".into());
    ensure!(refusal == expected, "{refusal:?}");
    let first = log_in(server.port, "one", "x").await.map_err(client::explain)?;
    let refusal = refused(&server, "one", "x").await?;
    let expected = ("53300".into(), "too many connections for role \"one\"".into());
    ensure!(refusal == expected, "{refusal:?}");
    drop(first);
    // Who is gone from the server's list may try again.
    let started = Instant::now();
    while log_in(server.port, "one", "x").await.is_err() {
        ensure!(started.elapsed() < Duration::from_secs(10), "the place stays taken");
    }
    // A session whose role is dropped can do nothing more.
    let ann = log_in(server.port, "ann", "x").await.map_err(client::explain)?;
    execute(&admin, "DROP ROLE ann; CREATE ROLE ann LOGIN PASSWORD 'y' SUPERUSER").await?;
    let error = execute(&ann, "SELECT 1").await.expect_err("its role is another");
    ensure!(format!("{error:#}").contains("role \"ann\" was dropped"), "{error:#}");
    Ok(())
}
