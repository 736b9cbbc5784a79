//! From the first byte to an admitted client: encryption requests, the protocol's version, cancel
//! requests, and the startup packet's parameters.
//!
//! A client that is refused gets one FATAL error and never a ReadyForQuery.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::{Buf, BytesMut};
use pgwire::messages::cancel::CancelRequest;
use pgwire::messages::response::{GssEncResponse, SslResponse};
use pgwire::messages::startup::{
    Authentication, BackendKeyData, GssEncRequest, NegotiateProtocolVersion, ParameterStatus,
    SslRequest, Startup,
};
use pgwire::messages::{DecodeContext, Message, ProtocolVersion};
use tokio::net::{TcpStream, UnixStream};

use super::authentication::{Door, Refusal, authenticate};
use super::cancel::{Registration, SecretLength};
use super::frontend::{bad_encoding, violation};
use super::listener::Shared;
use super::reader::{ReadError, Reader};
use super::report;
use super::socket::{self, Incoming, Outgoing};
use super::tls::{Asked, Encryption, Tls};
use super::writer::Writer;
use crate::error::{SqlError, SqlResult, code};
use crate::session::{Client, Session};

/// The newest minor version of protocol 3 that is spoken.
const MINOR_MAX: u16 = 2;

/// Encryption requests that are answered before a startup packet must come.
const ENCRYPTION_REQUESTS_MAX: usize = 2;

/// Where a client comes from.
#[derive(Debug, Clone)]
pub(super) enum Peer {
    Network(SocketAddr),
    /// This machine, over a Unix socket: the user there, if it is known.
    Machine(Option<String>),
}

impl Peer {
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Peer::Network(address) => Some(*address),
            Peer::Machine(_) => None,
        }
    }
}

/// The socket of a client.
#[derive(Debug)]
pub(super) enum Socket {
    Network(TcpStream),
    Machine(UnixStream),
}

/// A client that has said and proved who it is.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) peer: Peer,
    pub(super) reader: Reader,
    pub(super) writer: Writer,
    pub(super) client: Introduction,
}

/// What the startup packet says.
#[derive(Debug)]
pub(super) struct Introduction {
    minor: u16,
    parameters: BTreeMap<String, String>,
}

impl Introduction {
    /// Who it says it is.
    pub(super) fn user(&self) -> SqlResult<&str> {
        let user = self.parameters.get("user").filter(|user| !user.is_empty());
        user.map(String::as_str).ok_or_else(|| {
            SqlError::new(
                code::INVALID_AUTHORIZATION,
                "no PostgreSQL user name specified in startup packet",
            )
        })
    }

    /// The database it asks for: the one called as the user, if it names none.
    pub(super) fn database(&self) -> SqlResult<&str> {
        let database = self.parameters.get("database").filter(|name| !name.is_empty());
        database.map_or_else(|| self.user(), |name| Ok(name))
    }
}

/// A client that may go on.
#[derive(Debug)]
pub(super) struct Admitted {
    pub(super) session: Session,
    pub(super) registration: Registration,
    minor: u16,
    unknown_options: Vec<String>,
}

/// Reads the startup packet, and has the client prove what it says in it. `None`: it was a cancel
/// request, or nobody that we can talk to.
pub(super) async fn start(shared: &Shared, socket: Socket, peer: Peer) -> Option<Started> {
    let mut line = match socket {
        Socket::Network(socket) => open(shared, socket).await?,
        Socket::Machine(socket) => Line::new(socket::local(socket), None),
    };
    let tls = shared.tls.as_deref().filter(|_| matches!(peer, Peer::Network(_)));
    for _ in 0..=ENCRYPTION_REQUESTS_MAX {
        let packet = match line.reader.startup_packet().await {
            Ok(packet) => packet,
            Err(ReadError::Gone) => return None,
            Err(ReadError::Message { error, .. } | ReadError::Fatal(error)) => {
                refuse(&mut line.reader, &mut line.writer, &error).await;
                return None;
            }
        };
        // Inside of encryption these are no requests, but unknown versions of the protocol.
        let clear = line.encryption.is_none();
        if clear && SslRequest::is_ssl_request_packet(&packet) {
            line = encrypt(tls, line).await?;
        } else if clear && GssEncRequest::is_gss_enc_request_packet(&packet) {
            line.writer.put(&GssEncResponse::Refuse);
            line.writer.flush().await.ok()?;
        } else if CancelRequest::is_cancel_request_packet(&packet) {
            cancel(shared, packet);
            return None;
        } else {
            return match welcome(shared, &mut line, &peer, packet).await {
                Ok(client) => {
                    let Line { reader, writer, .. } = line;
                    Some(Started { peer, reader, writer, client })
                }
                Err(Refusal::Gone) => None,
                Err(Refusal::Because(error)) => {
                    refuse(&mut line.reader, &mut line.writer, &error).await;
                    None
                }
            };
        }
    }
    None
}

/// A line to a client that has not said who it is.
#[derive(Debug)]
struct Line {
    reader: Reader,
    writer: Writer,
    encryption: Option<Encryption>,
}

impl Line {
    fn new((incoming, outgoing): (Incoming, Outgoing), encryption: Option<Encryption>) -> Self {
        Self { reader: Reader::new(incoming), writer: Writer::new(outgoing), encryption }
    }
}

/// A line in the clear; or encrypted, for a client that starts with that.
async fn open(shared: &Shared, socket: TcpStream) -> Option<Line> {
    /// The first byte of a TLS handshake; of a startup packet it would mean 350 MB.
    const HANDSHAKE: u8 = 0x16;
    if let Some(tls) = &shared.tls {
        let mut first = [0];
        let seen = socket.peek(&mut first).await.ok()?;
        if seen == 1 && first[0] == HANDSHAKE {
            return shake_hands(tls, socket, Asked::Directly).await;
        }
    }
    Some(Line::new(socket::plain(socket), None))
}

/// Answers a request for encryption; the line after it, encrypted if there is a certificate.
async fn encrypt(tls: Option<&Tls>, mut line: Line) -> Option<Line> {
    let Some(tls) = tls else {
        line.writer.put(&SslResponse::Refuse);
        line.writer.flush().await.ok()?;
        return Some(line);
    };
    line.writer.put(&SslResponse::Accept);
    let Line { mut reader, mut writer, .. } = line;
    // What came in the clear behind the request is no part of what comes encrypted, though it
    // may be made to look so.
    if reader.has_unread() {
        let error = violation("received unencrypted data after SSL request").detail(
            "This could be either a client-software bug or evidence of an attempted \
             man-in-the-middle attack.",
        );
        let mut writer = Writer::new(writer.into_socket());
        refuse(&mut reader, &mut writer, &error).await;
        return None;
    }
    writer.flush().await.ok()?;
    let socket = socket::reunite(reader.into_socket(), writer.into_socket())?;
    shake_hands(tls, socket, Asked::Negotiated).await
}

async fn shake_hands(tls: &Tls, socket: TcpStream, asked: Asked) -> Option<Line> {
    match tls.accept(socket, asked).await {
        Ok((incoming, outgoing, encryption)) => {
            Some(Line::new((incoming, outgoing), Some(encryption)))
        }
        Err(error) => {
            tracing::debug!(%error, "a TLS handshake failed");
            None
        }
    }
}

/// What a client says of itself, proved.
async fn welcome(
    shared: &Shared,
    line: &mut Line,
    peer: &Peer,
    packet: BytesMut,
) -> Result<Introduction, Refusal> {
    let client = introduction(packet)?;
    if client.parameters.get("replication").is_some_and(|value| value != "false") {
        return Err(SqlError::unsupported("the replication protocol").into());
    }
    let Line { reader, writer, encryption } = line;
    let door = Door { shared, peer, encryption: encryption.as_ref() };
    authenticate(&door, reader, writer, &client).await?;
    Ok(client)
}

/// A cancel request is never answered, so that it tells nothing about secrets.
fn cancel(shared: &Shared, mut packet: BytesMut) {
    // Read as 3.2 does: a secret of any length.
    let context = DecodeContext::new(ProtocolVersion::PROTOCOL3_2);
    if let Ok(Some(request)) = CancelRequest::decode(&mut packet, &context) {
        shared.keys.cancel(request.pid, &request.secret_key);
    }
}

fn introduction(mut packet: BytesMut) -> SqlResult<Introduction> {
    let version = (&packet[4..8]).get_u32();
    let (major, minor) = (version >> 16, version & 0xffff);
    if major != 3 {
        return Err(SqlError::new(
            code::FEATURE_NOT_SUPPORTED,
            format!(
                "unsupported frontend protocol {major}.{minor}: server supports 3.0 to \
                 3.{MINOR_MAX}"
            ),
        ));
    }
    if let Err(error) = std::str::from_utf8(&packet[8..]) {
        return Err(bad_encoding(&packet[8 + error.valid_up_to()..]));
    }
    let context = DecodeContext::new(ProtocolVersion::PROTOCOL3_2);
    match Startup::decode(&mut packet, &context) {
        Ok(Some(startup)) => Ok(Introduction {
            minor: startup.protocol_number_minor,
            parameters: startup.parameters,
        }),
        _ => Err(violation("invalid startup packet layout")),
    }
}

/// Opens a session for a client that is who it says.
pub(super) fn admit(shared: &Shared, peer: &Peer, client: &Introduction) -> SqlResult<Admitted> {
    let (user, database) = (client.user()?, client.database()?);
    let length = if client.minor >= 2 { SecretLength::ThirtyTwo } else { SecretLength::Four };
    let membership = shared.sessions.join(peer.address());
    let registration = shared.keys.register(length, &membership);
    let mut session = Session::open(
        Arc::clone(&shared.engine),
        membership,
        Client { user: user.to_owned(), database: database.to_owned() },
    )?;
    let mut unknown_options = Vec::new();
    for (name, value) in &client.parameters {
        match name.as_str() {
            "user" | "database" | "replication" => {}
            "options" => {
                for (name, value) in options(value)? {
                    session.start_with(&name, &value)?;
                }
            }
            option if option.starts_with("_pq_.") => unknown_options.push(option.to_owned()),
            variable => session.start_with(variable, value)?,
        }
    }
    Ok(Admitted { session, registration, minor: client.minor, unknown_options })
}

/// What an admitted client hears before its first ReadyForQuery.
pub(super) fn greet(admitted: &Admitted, writer: &mut Writer) {
    if admitted.minor > MINOR_MAX || !admitted.unknown_options.is_empty() {
        let newest = ProtocolVersion::PROTOCOL3_2.into();
        writer.put(&NegotiateProtocolVersion::new(newest, admitted.unknown_options.clone()));
    }
    writer.put(&Authentication::Ok);
    for (name, value) in admitted.session.variables().reported() {
        writer.put(&ParameterStatus::new(name.to_owned(), value));
    }
    let registration = &admitted.registration;
    writer.put(&BackendKeyData::new(registration.process_id, registration.secret.clone()));
}

/// Tells the client why not, and closes.
pub(super) async fn refuse(reader: &mut Reader, writer: &mut Writer, error: &SqlError) {
    tracing::debug!(%error, code = error.code, "connection refused");
    writer.put(&report::fatal(error));
    close(reader, writer).await;
}

/// Closes so that what was written last arrives: a socket closed over unread bytes resets the
/// connection, and may take the farewell with it.
pub(super) async fn close(reader: &mut Reader, writer: &mut Writer) {
    const FAREWELL: std::time::Duration = std::time::Duration::from_millis(500);
    let farewell = async {
        if writer.close().await.is_ok() {
            reader.drain().await;
        }
    };
    if tokio::time::timeout(FAREWELL, farewell).await.is_err() {
        tracing::debug!("the client did not read its farewell");
    }
}

/// `-c name=value` and `--name=value`, as `PGOPTIONS` carries them; a backslash takes the next
/// character literally.
fn options(text: &str) -> SqlResult<Vec<(String, String)>> {
    let mut settings = Vec::new();
    let mut words = words(text).into_iter();
    while let Some(word) = words.next() {
        let setting = if word == "-c" {
            words.next().ok_or_else(|| bad_option(&word))?
        } else if let Some(rest) = word.strip_prefix("--").or_else(|| word.strip_prefix("-c")) {
            rest.to_owned()
        } else {
            return Err(bad_option(&word));
        };
        let (name, value) = setting.split_once('=').ok_or_else(|| bad_option(&setting))?;
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(settings)
}

fn bad_option(option: &str) -> SqlError {
    SqlError::new(
        code::SYNTAX_ERROR,
        format!("invalid command-line argument for server process: {option}"),
    )
}

fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let last = words.last_mut().expect("never empty");
        match character {
            '\\' => last.extend(characters.next()),
            c if c.is_whitespace() => words.push(String::new()),
            c => last.push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(major: u16, minor: u16) -> BytesMut {
        let mut startup = Startup::new();
        startup.protocol_number_major = major;
        startup.protocol_number_minor = minor;
        startup.parameters.insert("user".to_owned(), "weir".to_owned());
        let mut bytes = BytesMut::new();
        startup.encode(&mut bytes).expect("a small packet");
        bytes
    }

    #[test]
    fn any_minor_version_of_protocol_3_is_let_in() {
        for minor in [0, 2, 9999] {
            let read = introduction(packet(3, minor)).expect("accepted");
            assert_eq!((read.minor, read.parameters["user"].as_str()), (minor, "weir"));
        }
        let error = introduction(packet(2, 0)).unwrap_err();
        assert_eq!(error.code, code::FEATURE_NOT_SUPPORTED);
    }

    #[test]
    fn a_short_startup_packet_is_refused() {
        let packet = BytesMut::from(&[0, 0, 0, 8, 0, 3, 0, 0][..]);
        assert_eq!(introduction(packet).unwrap_err().code, code::PROTOCOL_VIOLATION);
    }

    #[test]
    fn options_are_settings() {
        let read = options(r"-c search_path=a,\ b --statement-timeout=5s -cjit=off");
        let expected = [("search_path", "a, b"), ("statement_timeout", "5s"), ("jit", "off")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        assert_eq!(read, Ok(expected));
        assert!(options("-d 5").is_err());
    }
}
