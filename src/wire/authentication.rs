//! A client proves who it is, or does not get in: what the hba rules ask for, before anything else
//! is said to it.
//!
//! ```text
//!             rules say                       client                     proof fits
//!  startup ------------> SASL mechanisms --first--> challenge --final--> welcome
//!     |  trust: welcome                                  |
//!     +-- reject, no rule: refused (28000)               +-- refused (28P01)
//! ```
//!
//! A role that does not exist, has no password, or one that is not good any more is asked like any
//! other, and refused like one that was given the wrong password.

use std::net::IpAddr;

use bytes::Bytes;
use pgwire::api::auth::sasl::scram::ScramSecret;
use pgwire::error::PgWireError;
use pgwire::messages::startup::Authentication;

use super::frontend::{SaslInitial, violation};
use super::hba::{Caller, Certificate, Method, Rule};
use super::listener::Shared;
use super::reader::{ReadError, Reader};
use super::startup::{Introduction, Peer};
use super::tls::Encryption;
use super::writer::Writer;
use crate::catalog::Verifier;
use crate::clock;
use crate::error::{SqlError, SqlResult, code};

const SCRAM: &str = "SCRAM-SHA-256";
/// The same, bound to the server's certificate.
const SCRAM_PLUS: &str = "SCRAM-SHA-256-PLUS";

/// `invalid_password`.
const INVALID_PASSWORD: &str = "28P01";

/// Why a client does not get in.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It went away: nobody is there to be told.
    Gone,
    Because(SqlError),
}

impl From<SqlError> for Refusal {
    fn from(error: SqlError) -> Self {
        Refusal::Because(error)
    }
}

impl From<ReadError> for Refusal {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Gone => Refusal::Gone,
            ReadError::Message { error, .. } | ReadError::Fatal(error) => Refusal::Because(error),
        }
    }
}

impl From<std::io::Error> for Refusal {
    fn from(_: std::io::Error) -> Self {
        Refusal::Gone
    }
}

/// Where the client stands.
#[derive(Clone, Copy)]
pub(super) struct Door<'a> {
    pub(super) shared: &'a Shared,
    pub(super) peer: &'a Peer,
    pub(super) encryption: Option<&'a Encryption>,
}

/// Returns when the client has proved to be who it says.
pub(super) async fn authenticate(
    door: &Door<'_>,
    reader: &mut Reader,
    writer: &mut Writer,
    client: &Introduction,
) -> Result<(), Refusal> {
    let Door { shared, peer, encryption } = *door;
    let (user, database) = (client.user()?, client.database()?);
    let address = peer.address().map(|peer| peer.ip());
    let caller = Caller { address, encrypted: encryption.is_some(), user, database };
    let catalog = shared.engine.catalog();
    let rule = shared.rules.of(caller, &catalog).ok_or_else(|| no_rule(caller))?;
    let role = catalog.role(user);
    check_certificate(rule, encryption, user)?;
    // Where nobody has a password, no name is one's secret: PostgreSQL's word for it then.
    let nobody_has_one = || catalog.roles().all(|role| role.password.is_none());
    let has_none = || role.map_or_else(nobody_has_one, |role| role.password.is_none());
    match rule.method {
        Method::Reject => return Err(rejected(caller).into()),
        Method::Trust | Method::Cert => return Ok(()),
        Method::Peer => return check_peer(peer, user),
        Method::TrustWithoutPassword if has_none() => return Ok(()),
        Method::TrustWithoutPassword | Method::Scram => {}
    }
    tokio::time::sleep(shared.throttle.wait(address, user)).await;
    let verifier = role.and_then(|role| role.verifier_at(clock::wall()));
    let mock = verifier.is_none();
    let verifier = match verifier {
        Some(verifier) => verifier.clone(),
        None => Verifier::mock(catalog.secret(), user),
    };
    match scram(reader, writer, verifier, encryption).await {
        Ok(proof) if !mock => {
            shared.throttle.succeeded(address, user);
            writer.put(&Authentication::SASLFinal(proof));
            Ok(())
        }
        Ok(_) => Err(failed(shared, address, user).into()),
        Err(Failure::WrongPassword) => Err(failed(shared, address, user).into()),
        Err(Failure::Refusal(refusal)) => Err(refusal),
    }
}

/// Why the exchange of SCRAM messages came to nothing.
enum Failure {
    WrongPassword,
    Refusal(Refusal),
}

impl<E: Into<Refusal>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Refusal(error.into())
    }
}

/// The exchange of SCRAM messages; the server's own proof.
async fn scram(
    reader: &mut Reader,
    writer: &mut Writer,
    verifier: Verifier,
    encryption: Option<&Encryption>,
) -> Result<Bytes, Failure> {
    let bound = encryption.and_then(Encryption::bound_scram);
    let plus = bound.is_some().then(|| SCRAM_PLUS.to_owned());
    let mechanisms: Vec<String> = plus.into_iter().chain([SCRAM.to_owned()]).collect();
    writer.put(&Authentication::SASL(mechanisms.clone()));
    writer.flush().await?;
    let SaslInitial { mechanism, data } = SaslInitial::decode(reader.authentication().await?)?;
    if !mechanisms.contains(&mechanism) {
        let message = "client selected an invalid SASL authentication mechanism";
        return Err(violation(message).into());
    }
    check_binding(&mechanism, &data)?;
    let secret = ScramSecret::Verifier {
        salt: verifier.salt,
        iterations: usize::try_from(verifier.iterations.get()).unwrap_or(usize::MAX),
        stored_key: verifier.stored_key.to_vec(),
        server_key: verifier.server_key.to_vec(),
    };
    let server = bound.unwrap_or_default();
    let (challenge, waiting) =
        server.on_client_first_message_with_secret(&data, secret).map_err(malformed)?;
    writer.put(&Authentication::SASLContinue(challenge.into()));
    writer.flush().await?;
    let answer = reader.authentication().await?;
    match waiting.on_client_final_message(&answer) {
        Ok(proof) => Ok(proof.into()),
        Err(PgWireError::InvalidPassword(_)) => Err(Failure::WrongPassword),
        Err(error) => Err(malformed(error).into()),
    }
}

/// A message with channel binding goes with the mechanism that has it, and no other.
fn check_binding(mechanism: &str, client_first: &[u8]) -> SqlResult<()> {
    let detail = match (mechanism == SCRAM_PLUS, client_first.first() == Some(&b'p')) {
        (false, true) => {
            "The client selected SCRAM-SHA-256 without channel binding, but the SCRAM message \
             includes channel binding data."
        }
        (true, false) => {
            "The client selected SCRAM-SHA-256-PLUS, but the SCRAM message does not include \
             channel binding data."
        }
        _ => return Ok(()),
    };
    Err(violation("malformed SCRAM message").detail(detail))
}

/// Refuses a client without the certificate that its rule asks for.
fn check_certificate(
    rule: &Rule,
    encryption: Option<&Encryption>,
    user: &str,
) -> Result<(), Refusal> {
    let wanted = match rule.method {
        Method::Cert => Some(Certificate::OfUser),
        _ => rule.certificate,
    };
    let Some(wanted) = wanted else { return Ok(()) };
    if encryption.is_none_or(|encryption| !encryption.certified) {
        let message = "connection requires a valid client certificate";
        return Err(SqlError::new(code::INVALID_AUTHORIZATION, message).into());
    }
    let name = encryption.and_then(|encryption| encryption.common_name.as_deref());
    if wanted == Certificate::OfUser && name != Some(user) {
        let message = format!("certificate authentication failed for user \"{user}\"");
        return Err(SqlError::new(code::INVALID_AUTHORIZATION, message).into());
    }
    Ok(())
}

/// Refuses a user of this machine under another name than its own.
fn check_peer(peer: &Peer, user: &str) -> Result<(), Refusal> {
    match peer {
        Peer::Machine(Some(name)) if name == user => Ok(()),
        _ => {
            let message = format!("Peer authentication failed for user \"{user}\"");
            Err(SqlError::new(code::INVALID_AUTHORIZATION, message).into())
        }
    }
}

/// What the message was is the client's to know.
fn malformed(error: PgWireError) -> SqlError {
    tracing::debug!(%error, "a SCRAM message is malformed");
    violation("malformed SCRAM message")
}

fn failed(shared: &Shared, address: Option<IpAddr>, user: &str) -> SqlError {
    shared.throttle.failed(address, user);
    let shown = address.map(|address| address.to_string());
    tracing::warn!(user, address = shown, "password authentication failed");
    SqlError::new(INVALID_PASSWORD, format!("password authentication failed for user \"{user}\""))
}

fn no_rule(caller: Caller<'_>) -> SqlError {
    refused("no pg_hba.conf entry for", caller)
}

fn rejected(caller: Caller<'_>) -> SqlError {
    refused("pg_hba.conf rejects connection for", caller)
}

fn refused(why: &str, caller: Caller<'_>) -> SqlError {
    let Caller { address, encrypted, user, database } = caller;
    let encryption = if encrypted { "SSL encryption" } else { "no encryption" };
    let address = address.map_or_else(|| "[local]".to_owned(), |address| address.to_string());
    let message =
        format!("{why} host \"{address}\", user \"{user}\", database \"{database}\", {encryption}");
    SqlError::new(code::INVALID_AUTHORIZATION, message)
}
