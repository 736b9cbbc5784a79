//! Encryption, with certificates made for the test: what psql makes of each `sslmode`, client
//! certificates, channel binding, and what must not pass as encrypted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use sqllogictest::harness::Trial;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::client::execute;
use crate::harness::trial;
use crate::psql::psql;
use crate::server::Server;
use crate::wire::socket::Socket;

/// What a client sends to ask for encryption.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("security/psql_encrypts_as_sslmode_says", psql_encrypts_as_sslmode_says),
        trial("security/a_client_certificate_lets_in", a_client_certificate_lets_in),
        trial("security/nothing_is_slipped_in_before_tls", nothing_is_slipped_in_before_tls),
        trial("security/tls_may_begin_directly", tls_may_begin_directly),
        trial("security/scram_is_bound_to_the_certificate", scram_is_bound_to_the_certificate),
        trial("security/certificates_are_read_again", certificates_are_read_again),
        trial("security/bad_certificates_are_refused", bad_certificates_are_refused),
    ]
}

/// An authority, and a folder for what it signs.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    folder: TempDir,
}

impl Authority {
    fn new() -> Result<Self> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let name = format!("test authority {}", rand::random::<u32>());
        params.distinguished_name.push(DnType::CommonName, name);
        let folder = tempfile::Builder::new().prefix("weir-test-tls-").tempdir()?;
        fs::write(folder.path().join("ca.pem"), params.self_signed(&key)?.pem())?;
        Ok(Self { issuer: Issuer::new(params, key), folder })
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn text(&self, file: &str) -> String {
        self.path(file).to_string_lossy().into_owned()
    }

    /// Signs a certificate for a name: `name.pem` and `name.key`.
    fn sign(&self, name: &str) -> Result<()> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(vec![name.to_owned()])?;
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.signed_by(&key, &self.issuer)?;
        fs::write(self.path(&format!("{name}.pem")), certificate.pem())?;
        write_key(&self.path(&format!("{name}.key")), &key.serialize_pem())
    }

    /// The options of a server with its certificate, and these rules.
    async fn serve(&self, rules: &str) -> Result<Server> {
        self.sign("localhost")?;
        let (certificate, key) = (self.text("localhost.pem"), self.text("localhost.key"));
        let authority = self.text("ca.pem");
        Server::start_with(&[
            "--tls-certificate",
            &certificate,
            "--tls-key",
            &key,
            "--tls-client-ca",
            &authority,
            "--hba",
            rules,
        ])
        .await
    }
}

fn write_key(path: &Path, pem: &str) -> Result<()> {
    fs::write(path, pem)?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o600))?)
}

/// Whether psql gets in with these settings, and what it says.
fn said(server: &Server, user: &str, settings: &str) -> Result<(bool, String)> {
    let target = format!("host=localhost hostaddr=127.0.0.1 user={user} dbname=weir {settings}");
    let mut command = psql(server, &[r"\conninfo", "SELECT length(repeat('x', 3000000))"]);
    command.args(["-At", "-w", "-d", &target]).env("PGPASSWORD", "geheim");
    let output = command.output()?;
    let text = [output.stdout, output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
}

async fn psql_encrypts_as_sslmode_says() -> Result<()> {
    let authority = Authority::new()?;
    let other = Authority::new()?;
    let rules = "host all weir 127.0.0.1/32 trust\nhostssl all ann all scram-sha-256";
    let server = authority.serve(rules).await?;
    let roles = "CREATE ROLE ann LOGIN PASSWORD 'geheim'";
    execute(&server.connect().await?, roles).await?;
    let root = format!("sslrootcert={}", authority.text("ca.pem"));
    let wrong = format!("sslrootcert={}", other.text("ca.pem"));
    let encrypted = "SSL connection (protocol: TLSv1.3";
    for (user, settings, ok, expected) in [
        ("weir", "sslmode=disable".to_owned(), true, "3000000"),
        ("weir", "sslmode=prefer".to_owned(), true, encrypted),
        ("weir", format!("sslmode=verify-full {root}"), true, encrypted),
        ("weir", "sslmode=require ssl_max_protocol_version=TLSv1.2".to_owned(), true, "TLSv1.2"),
        ("ann", "sslmode=disable".to_owned(), false, "no pg_hba.conf entry for host"),
        ("ann", "sslmode=disable".to_owned(), false, "no encryption"),
        ("ann", "sslmode=allow".to_owned(), true, encrypted),
        ("ann", "sslmode=require".to_owned(), true, encrypted),
        ("ann", "sslmode=require channel_binding=require".to_owned(), true, encrypted),
        ("ann", "sslmode=require channel_binding=disable".to_owned(), true, encrypted),
        ("ann", format!("sslmode=verify-ca {root}"), true, encrypted),
        ("ann", format!("sslmode=verify-full {root}"), true, encrypted),
        ("ann", format!("sslmode=verify-ca {wrong}"), false, "certificate verify failed"),
        ("ann", format!("sslmode=verify-full {root} host=weir.example"), false, "does not match"),
    ] {
        let (got_in, text) = said(&server, user, &settings)?;
        ensure!(got_in == ok && text.contains(expected), "{user} {settings}: {text}");
    }
    let plain = Server::start(1).await?;
    let (got_in, text) = said(&plain, "weir", "sslmode=require")?;
    ensure!(!got_in && text.contains("server does not support SSL"), "{text}");
    Ok(())
}

async fn a_client_certificate_lets_in() -> Result<()> {
    let authority = Authority::new()?;
    let other = Authority::new()?;
    let rules = "host all weir 127.0.0.1/32 trust
                 hostssl all ann,bob all cert
                 hostssl all cid all scram-sha-256 clientcert=verify-full
                 hostssl all dan all scram-sha-256 clientcert=verify-ca";
    let server = authority.serve(rules).await?;
    let roles = "CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN;
                 CREATE ROLE cid LOGIN PASSWORD 'geheim'; CREATE ROLE dan LOGIN PASSWORD 'geheim'";
    execute(&server.connect().await?, roles).await?;
    for name in ["ann", "cid"] {
        authority.sign(name)?;
        other.sign(name)?;
    }
    let of = |authority: &Authority, name: &str| {
        let (certificate, key) =
            (authority.text(&format!("{name}.pem")), authority.text(&format!("{name}.key")));
        format!("sslmode=require sslcert={certificate} sslkey={key}")
    };
    let none = "sslmode=require sslcert=/nonexistent".to_owned();
    let not_theirs = "certificate authentication failed for user \"bob\"";
    let needed = "connection requires a valid client certificate";
    for (user, settings, ok, expected) in [
        ("ann", of(&authority, "ann"), true, "SSL connection"),
        ("bob", of(&authority, "ann"), false, not_theirs),
        ("ann", none.clone(), false, needed),
        ("ann", of(&other, "ann"), false, "connection to server"),
        ("cid", of(&authority, "cid"), true, "SSL connection"),
        ("cid", of(&authority, "ann"), false, "certificate authentication failed"),
        ("cid", none.clone(), false, needed),
        ("dan", of(&authority, "ann"), true, "SSL connection"),
        ("dan", none, false, needed),
        ("weir", of(&authority, "ann"), true, "SSL connection"),
    ] {
        let (got_in, text) = said(&server, user, &settings)?;
        ensure!(got_in == ok && text.contains(expected), "{user} {settings}: {text}");
    }
    Ok(())
}

/// CVE-2021-23214: what an attacker in the middle sends before the handshake.
async fn nothing_is_slipped_in_before_tls() -> Result<()> {
    let authority = Authority::new()?;
    let server = authority.serve("host all all 127.0.0.1/32 trust").await?;
    for more in [&b"Q\0\0\0\x0dselect 1\0"[..], b"\x16", &SSL_REQUEST] {
        let mut socket = Socket::raw(server.port).await?;
        socket.send_bytes(&[&SSL_REQUEST, more].concat()).await?;
        let answer = socket.receive().await?;
        let expected = "ErrorResponse FATAL 08P01 received unencrypted data after SSL request";
        ensure!(answer == expected, "{answer}");
        ensure!(socket.is_closed().await, "the connection stays open");
    }
    // No second request, and no handshake that never comes, does harm.
    let mut socket = Socket::raw(server.port).await?;
    socket.send_bytes(&SSL_REQUEST).await?;
    ensure!(socket.byte().await? == b'S');
    socket.send_bytes(b"this is no handshake").await?;
    let mut tls = handshake(&server, &authority, &[], Begin::Request).await?;
    tls.write_all(&SSL_REQUEST).await?;
    let text = rest(&mut tls).await?;
    ensure!(text.contains("unsupported frontend protocol 1234.5679"), "{text}");
    Ok(())
}

#[derive(PartialEq)]
enum Begin {
    Request,
    Directly,
}

async fn handshake(
    server: &Server,
    authority: &Authority,
    protocols: &[&str],
    begin: Begin,
) -> Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(authority.path("ca.pem"))? {
        roots.add(certificate?)?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let mut socket = TcpStream::connect(("127.0.0.1", server.port)).await?;
    if begin == Begin::Request {
        socket.write_all(&SSL_REQUEST).await?;
        ensure!(socket.read_u8().await? == b'S', "no encryption");
    }
    let name = ServerName::try_from("localhost")?;
    Ok(TlsConnector::from(Arc::new(config)).connect(name, socket).await?)
}

/// All that still comes, as text.
async fn rest(stream: &mut TlsStream<TcpStream>) -> Result<String> {
    let mut bytes = Vec::new();
    // A client that is cut off has read what it has read.
    let reading = stream.read_to_end(&mut bytes);
    let limit = std::time::Duration::from_secs(20);
    let _ = tokio::time::timeout(limit, reading).await.context("the connection stays open")?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn startup(user: &str) -> Vec<u8> {
    let body = format!("user\0{user}\0database\0weir\0\0");
    let length = u32::try_from(body.len() + 8).expect("a short packet");
    [&length.to_be_bytes()[..], &[0, 3, 0, 0], body.as_bytes()].concat()
}

async fn tls_may_begin_directly() -> Result<()> {
    let authority = Authority::new()?;
    let server = authority.serve("host all all 127.0.0.1/32 trust").await?;
    let mut tls = handshake(&server, &authority, &["postgresql"], Begin::Directly).await?;
    tls.write_all(&startup("weir")).await?;
    tls.write_all(b"Q\0\0\0\x0dselect 1\0X\0\0\0\x04").await?;
    let text = rest(&mut tls).await?;
    ensure!(text.contains("server_version") && text.contains("SELECT 1"), "{text}");
    // Without the protocol's name it may be meant for another server.
    let mut nameless = handshake(&server, &authority, &[], Begin::Directly).await?;
    let _ = nameless.write_all(&startup("weir")).await;
    let text = rest(&mut nameless).await?;
    ensure!(text.is_empty(), "{text}");
    let other = handshake(&server, &authority, &["http/1.1"], Begin::Directly).await;
    ensure!(other.is_err(), "another protocol is spoken");
    Ok(())
}

async fn scram_is_bound_to_the_certificate() -> Result<()> {
    let authority = Authority::new()?;
    let rules = "host all weir 127.0.0.1/32 trust\nhostssl all ann all scram-sha-256";
    let server = authority.serve(rules).await?;
    execute(&server.connect().await?, "CREATE ROLE ann LOGIN PASSWORD 'geheim'").await?;
    let malformed = "malformed SCRAM message";
    for (mechanism, first, expected) in [
        // A client that was told there is no binding, by somebody in between.
        ("SCRAM-SHA-256", "y,,n=,r=abcdefgh", malformed),
        ("SCRAM-SHA-256", "p=tls-server-end-point,,n=,r=abcdefgh", malformed),
        ("SCRAM-SHA-256-PLUS", "n,,n=,r=abcdefgh", malformed),
        ("SCRAM-SHA-256-PLUS", "p=tls-unique,,n=,r=abcdefgh", malformed),
        ("SCRAM-SHA-256", "n,,n=,r=abcdefgh", "i=4096"),
        ("SCRAM-SHA-256-PLUS", "p=tls-server-end-point,,n=,r=abcdefgh", "i=4096"),
    ] {
        let mut tls = handshake(&server, &authority, &[], Begin::Request).await?;
        tls.write_all(&startup("ann")).await?;
        let length = u32::try_from(first.len())?.to_be_bytes();
        let body = [mechanism.as_bytes(), b"\0", &length, first.as_bytes()].concat();
        let length = u32::try_from(body.len() + 4)?.to_be_bytes();
        tls.write_all(&[b"p".as_slice(), &length, &body].concat()).await?;
        tls.write_all(b"X\0\0\0\x04").await?;
        let text = rest(&mut tls).await?;
        ensure!(text.contains("SCRAM-SHA-256-PLUS"), "{text}");
        ensure!(text.contains(expected), "{mechanism} {first}: {text}");
    }
    Ok(())
}

async fn certificates_are_read_again() -> Result<()> {
    let (old, new) = (Authority::new()?, Authority::new()?);
    let server = old.serve("host all all 127.0.0.1/32 trust").await?;
    let trusting = |authority: &Authority| {
        let root = authority.text("ca.pem");
        said(&server, "weir", &format!("sslmode=verify-full sslrootcert={root}"))
    };
    ensure!(trusting(&old)?.0 && !trusting(&new)?.0);
    new.sign("localhost")?;
    let put = |name: &str, text: String| write_key(&old.path(name), &text);
    put("localhost.pem", fs::read_to_string(new.path("localhost.pem"))?)?;
    ensure!(trusting(&old)?.0, "read again without being told");
    // The key is not of this certificate yet: all stays as it was.
    server.signal("HUP")?;
    wait_until(|| !server.logged("the certificates stay as they were").is_empty()).await?;
    ensure!(trusting(&old)?.0, "half of a change is taken");
    put("localhost.key", fs::read_to_string(new.path("localhost.key"))?)?;
    server.signal("HUP")?;
    wait_until(|| !server.logged("certificates were read again").is_empty()).await?;
    ensure!(trusting(&new)?.0 && !trusting(&old)?.0, "the new one is not used");
    Ok(())
}

async fn wait_until(happened: impl Fn() -> bool) -> Result<()> {
    for _ in 0..400 {
        if happened() {
            return Ok(());
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    anyhow::bail!("it does not happen")
}

async fn bad_certificates_are_refused() -> Result<()> {
    let authority = Authority::new()?;
    authority.sign("localhost")?;
    authority.sign("other")?;
    let path = |file: &str| authority.text(file);
    fs::write(authority.path("open.key"), fs::read(authority.path("localhost.key"))?)?;
    fs::set_permissions(authority.path("open.key"), fs::Permissions::from_mode(0o644))?;
    write_key(&authority.path("empty.key"), "")?;
    for (certificate, key, why) in [
        ("localhost.pem", "open.key", "others can read it"),
        ("localhost.pem", "none.key", "none.key"),
        ("localhost.pem", "empty.key", "empty.key"),
        ("localhost.pem", "other.key", "localhost.pem"),
        ("none.pem", "localhost.key", "none.pem"),
        ("empty.key", "localhost.key", "empty.key"),
    ] {
        let (certificate, key) = (path(certificate), path(key));
        let options = ["--tls-certificate", &certificate, "--tls-key", &key];
        let output = Server::run_refused(&options)?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.code() == Some(1), "{options:?}: {} {said}", output.status);
        ensure!(said.contains(why), "{options:?}: {said}");
    }
    let rule = ["--hba", "hostssl all all all cert"];
    let output = Server::run_refused(&rule)?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(!output.status.success() && said.contains("tls_client_ca"), "{said}");
    Ok(())
}
