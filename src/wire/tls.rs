//! Encryption: certificates from files, read again when the server is told to, and what a
//! handshake told of the client.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use pgwire::api::auth::sasl::scram::ScramServerAuth;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use x509_certificate::X509Certificate;

use super::socket::{self, Incoming, Outgoing};

/// What protocol is spoken in an encrypted stream, as both sides name it while they shake hands.
const PROTOCOL: &[u8] = b"postgresql";

/// Where certificates are.
#[derive(Debug, Clone)]
pub struct TlsFiles {
    /// The server's certificate and those that it is signed by, PEM.
    pub certificate: PathBuf,
    /// Its private key, PEM; nobody else may read the file.
    pub key: PathBuf,
    /// Certificates of those who sign clients' certificates, PEM.
    pub client_authorities: Option<PathBuf>,
}

/// The server's side of encryption.
#[derive(Debug)]
pub struct Tls {
    files: TlsFiles,
    /// Replaced as a whole; a connection keeps what it began with.
    loaded: RwLock<Arc<Loaded>>,
}

/// What was read from the files.
#[derive(Debug)]
struct Loaded {
    config: Arc<ServerConfig>,
    /// SCRAM bound to the certificate, unless its signature's kind has no binding.
    scram: Option<ScramServerAuth>,
}

/// What is known of an encrypted connection.
#[derive(Debug)]
pub(super) struct Encryption {
    loaded: Arc<Loaded>,
    /// Whether the client showed a certificate of a known authority.
    pub(super) certified: bool,
    /// The common name in it.
    pub(super) common_name: Option<String>,
}

impl Encryption {
    /// SCRAM bound to this connection's certificate, if there can be such.
    pub(super) fn bound_scram(&self) -> Option<ScramServerAuth> {
        self.loaded.scram.clone()
    }
}

/// How a client asked for encryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// By a request in the clear.
    Negotiated,
    /// By its first byte: then it must name the protocol.
    Directly,
}

impl Tls {
    /// Reads the files. The error names the file.
    pub fn load(files: TlsFiles) -> Result<Self, String> {
        let loaded = Loaded::read(&files)?;
        Ok(Self { files, loaded: RwLock::new(Arc::new(loaded)) })
    }

    /// Reads the files again, for connections to come. On an error what was read before stays.
    pub fn reload(&self) -> Result<(), String> {
        let loaded = Loaded::read(&self.files)?;
        *self.loaded.write() = Arc::new(loaded);
        Ok(())
    }

    /// Shakes hands.
    pub(super) async fn accept(
        &self,
        socket: TcpStream,
        asked: Asked,
    ) -> io::Result<(Incoming, Outgoing, Encryption)> {
        let loaded = Arc::clone(&self.loaded.read());
        // Two handles of one socket: one below the encryption, one to watch it.
        let socket = socket.into_std()?;
        let below = TcpStream::from_std(socket.try_clone()?)?;
        let socket = TcpStream::from_std(socket)?;
        let stream = TlsAcceptor::from(Arc::clone(&loaded.config)).accept(socket).await?;
        let (_, session) = stream.get_ref();
        if asked == Asked::Directly && session.alpn_protocol() != Some(PROTOCOL) {
            return Err(io::Error::other("direct TLS without the protocol's name"));
        }
        let certificate = session.peer_certificates().and_then(|chain| chain.first());
        let encryption = Encryption {
            certified: certificate.is_some(),
            common_name: certificate.and_then(common_name),
            loaded,
        };
        let (incoming, outgoing) = socket::encrypted(stream, below);
        Ok((incoming, outgoing, encryption))
    }
}

/// Whom a certificate is for.
fn common_name(certificate: &CertificateDer<'_>) -> Option<String> {
    X509Certificate::from_der(certificate).ok()?.subject_common_name()
}

impl Loaded {
    fn read(files: &TlsFiles) -> Result<Self, String> {
        check_private(&files.key)?;
        let pem = fs::read(&files.certificate)
            .map_err(|error| format!("certificate {}: {error}", files.certificate.display()))?;
        let chain = certificates(&files.certificate)?;
        let key = PrivateKeyDer::from_pem_file(&files.key)
            .map_err(|error| format!("private key {}: {error}", files.key.display()))?;
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS: {error}"))?;
        let verifier = match &files.client_authorities {
            None => WebPkiClientVerifier::no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots
                        .add(certificate)
                        .map_err(|error| format!("certificate {}: {error}", path.display()))?;
                }
                // Whether a client needs one, the hba rules say.
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                    .allow_unauthenticated()
                    .build()
                    .map_err(|error| format!("certificate {}: {error}", path.display()))?
            }
        };
        let mut config =
            builder
                .with_client_cert_verifier(verifier)
                .with_single_cert(chain, key)
                .map_err(|error| format!("certificate {}: {error}", files.certificate.display()))?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        let mut scram = ScramServerAuth::new();
        let bound = scram.configure_certificate(&pem);
        if let Err(error) = &bound {
            tracing::info!(%error, "no channel binding with this certificate");
        }
        Ok(Self { config: Arc::new(config), scram: bound.is_ok().then_some(scram) })
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |error: String| format!("certificate {}: {error}", path.display());
    let found: Vec<_> = CertificateDer::pem_file_iter(path)
        .map_err(|error| wrong(error.to_string()))?
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(error.to_string()))?;
    match found.is_empty() {
        true => Err(wrong("there is none in the file".to_owned())),
        false => Ok(found),
    }
}

/// As PostgreSQL, takes no key that others can read.
fn check_private(key: &Path) -> Result<(), String> {
    let wrong = |why: String| format!("private key {}: {why}", key.display());
    let mode = fs::metadata(key).map_err(|error| wrong(error.to_string()))?.permissions().mode();
    match mode & 0o077 {
        0 => Ok(()),
        _ => Err(wrong("others can read it; restrict it with chmod 600".to_owned())),
    }
}
