//! The accept loop: a task for each connection, limits, and an ordered end.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::cancel::Keys;
use super::connection::Connection;
use super::hba::Rules;
use super::startup::{self, Peer, Socket, Started};
use super::throttle::Throttle;
use super::tls::Tls;
use super::unix::UnixSocket;
use crate::engine::Engine;
use crate::error::{SqlError, code};
use crate::session::Sessions;
use crate::{metrics, task};

/// Sockets that may be open beyond the sessions: those still starting, and cancel requests, which
/// must come through when all sessions are taken.
const SOCKETS_SPARE: usize = 100;

/// How long connections may take to end at a shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to wait after a failed accept: the process may be out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How clients are served.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Sessions at a time; one more is refused with 53300.
    pub connections_max: usize,
    /// Who may get in, and how.
    pub rules: Rules,
    /// Encryption, if there is a certificate.
    pub tls: Option<Arc<Tls>>,
    /// How long a client may take to start and to prove who it is.
    pub authentication_timeout: Duration,
}

/// What all connections have in common.
pub(super) struct Shared {
    pub(super) engine: Arc<Engine>,
    pub(super) sessions: Arc<Sessions>,
    pub(super) keys: Arc<Keys>,
    pub(super) rules: Rules,
    pub(super) throttle: Throttle,
    pub(super) tls: Option<Arc<Tls>>,
    authentication_timeout: Duration,
    room: Semaphore,
}

/// Where clients come in.
#[derive(Debug)]
pub struct Listener(Kind);

#[derive(Debug)]
enum Kind {
    Network(TcpListener),
    Machine(UnixSocket),
}

impl Listener {
    pub async fn network(address: SocketAddr) -> io::Result<Self> {
        Ok(Self(Kind::Network(TcpListener::bind(address).await?)))
    }

    /// A Unix socket in `folder`, where clients look for the server of `port`.
    pub fn machine(folder: &Path, port: u16) -> io::Result<Self> {
        Ok(Self(Kind::Machine(UnixSocket::bind(folder, port)?)))
    }

    /// The address, if it is one of the network.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.0 {
            Kind::Network(listener) => listener.local_addr().ok(),
            Kind::Machine(_) => None,
        }
    }

    async fn accept(&self) -> io::Result<(Socket, Peer)> {
        match &self.0 {
            Kind::Network(listener) => {
                let (socket, peer) = listener.accept().await?;
                socket.set_nodelay(true)?;
                Ok((Socket::Network(socket), Peer::Network(peer)))
            }
            Kind::Machine(listener) => {
                let (socket, user) = listener.accept().await?;
                Ok((Socket::Machine(socket), Peer::Machine(user)))
            }
        }
    }
}

/// Serves clients on `listeners` until `stop`; then tells every client, and returns when all are
/// gone, or when they have had their time.
pub async fn serve(
    listeners: Vec<Listener>,
    engine: Arc<Engine>,
    settings: Settings,
    stop: CancellationToken,
) {
    let shared = Arc::new(Shared {
        engine,
        sessions: Arc::default(),
        keys: Arc::default(),
        rules: settings.rules,
        throttle: Throttle::default(),
        tls: settings.tls,
        authentication_timeout: settings.authentication_timeout,
        room: Semaphore::new(settings.connections_max),
    });
    let sockets_max = settings.connections_max.saturating_add(SOCKETS_SPARE);
    let sockets = Arc::new(Semaphore::new(sockets_max));
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = accept(&listeners, &sockets) => accepted,
        };
        match accepted {
            Ok((socket, peer, permit)) => {
                let (shared, stop) = (Arc::clone(&shared), stop.clone());
                let name = match &peer {
                    Peer::Network(address) => format!("connection from {address}"),
                    Peer::Machine(_) => "connection from this machine".to_owned(),
                };
                task::spawn(name, async move {
                    converse(&shared, socket, peer, stop).await;
                    drop(permit);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listeners);
    let all = u32::try_from(sockets_max).unwrap_or(u32::MAX);
    if tokio::time::timeout(SHUTDOWN_TIMEOUT, sockets.acquire_many(all)).await.is_err() {
        tracing::warn!("some connections did not end in time");
    }
}

/// Waits for room before it accepts: who comes then waits in the kernel's queue.
async fn accept(
    listeners: &[Listener],
    sockets: &Arc<Semaphore>,
) -> io::Result<(Socket, Peer, OwnedSemaphorePermit)> {
    let permit = Arc::clone(sockets).acquire_owned().await.map_err(io::Error::other)?;
    let accepting = listeners.iter().map(|listener| Box::pin(listener.accept()));
    let (accepted, _, _) = futures::future::select_all(accepting).await;
    let (socket, peer) = accepted?;
    Ok((socket, peer, permit))
}

/// A connection from its first byte to its last.
async fn converse(shared: &Arc<Shared>, socket: Socket, peer: Peer, shutdown: CancellationToken) {
    let starting = startup::start(shared, socket, peer);
    let started = tokio::select! {
        biased;
        () = shutdown.cancelled() => return,
        () = tokio::time::sleep(shared.authentication_timeout) => return,
        started = Box::pin(starting) => started,
    };
    let Some(Started { peer, mut reader, mut writer, client }) = started else { return };
    let Ok(_room) = shared.room.try_acquire() else {
        let error = SqlError::new(code::TOO_MANY_CONNECTIONS, "sorry, too many clients already");
        startup::refuse(&mut reader, &mut writer, &error).await;
        return;
    };
    metrics::CONNECTIONS.inc();
    match startup::admit(shared, &peer, &client) {
        Ok(admitted) => {
            Connection::new(reader, writer, admitted, shutdown).run().await;
        }
        Err(error) => startup::refuse(&mut reader, &mut writer, &error).await,
    }
    metrics::CONNECTIONS.dec();
}
