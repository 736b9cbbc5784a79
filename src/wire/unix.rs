//! Unix sockets: `<folder>/.s.PGSQL.<port>`, where clients of PostgreSQL look for one.
//!
//! What must hold: of two servers one has the socket. So a server holds a lock on the file beside
//! it (`....lock`) for as long as it lives; a socket that is found under a free lock was left by
//! one that died, unless somebody answers there who knows nothing of the lock.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

/// Who may connect: everybody, as in PostgreSQL; the hba rules say who gets in.
const PERMISSIONS: u32 = 0o777;

/// A socket that clients can connect to. It goes with this.
#[derive(Debug)]
pub(super) struct UnixSocket {
    listener: UnixListener,
    path: PathBuf,
    /// Locked; the kernel lets go of it with the process, however that ends.
    _lock: File,
}

impl UnixSocket {
    /// Listens in `folder`, under the name that belongs to `port`.
    pub(super) fn bind(folder: &Path, port: u16) -> io::Result<Self> {
        let path = folder.join(format!(".s.PGSQL.{port}"));
        let lock = File::create(folder.join(format!(".s.PGSQL.{port}.lock")))?;
        let in_use = || {
            let message = format!("another server listens on {}", path.display());
            io::Error::new(io::ErrorKind::AddrInUse, message)
        };
        if lock.try_lock().is_err() {
            return Err(in_use());
        }
        match std::os::unix::net::UnixStream::connect(&path) {
            Ok(_) => return Err(in_use()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => fs::remove_file(&path)?,
        }
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, Permissions::from_mode(PERMISSIONS))?;
        Ok(Self { listener, path, _lock: lock })
    }

    /// A client, and the name of its user on this machine.
    pub(super) async fn accept(&self) -> io::Result<(UnixStream, Option<String>)> {
        let (socket, _) = self.listener.accept().await?;
        let user = socket.peer_cred().ok().and_then(|credentials| name_of(credentials.uid()));
        Ok((socket, user))
    }
}

impl Drop for UnixSocket {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(%error, path = %self.path.display(), "a socket could not be removed");
        }
    }
}

/// The name of a user of this machine, as `/etc/passwd` has it.
fn name_of(uid: u32) -> Option<String> {
    name_in(&fs::read_to_string("/etc/passwd").ok()?, uid)
}

fn name_in(passwd: &str, uid: u32) -> Option<String> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, number) = (fields.next()?, fields.next()?, fields.next()?);
        (number.parse() == Ok(uid)).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_number() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\n# odd\nann:x:1000:1000::/home/ann:/bin/sh\n";
        assert_eq!(name_in(passwd, 1000).as_deref(), Some("ann"));
        assert_eq!(name_in(passwd, 0).as_deref(), Some("root"));
        assert_eq!(name_in(passwd, 1), None);
    }

    #[tokio::test]
    async fn one_server_has_a_socket_and_a_stale_one_is_taken_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(".s.PGSQL.5454");
        let first = UnixSocket::bind(folder.path(), 5454).expect("binds");
        let error = UnixSocket::bind(folder.path(), 5454).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        UnixSocket::bind(folder.path(), 5455).expect("another port");
        drop(first);
        assert!(!path.exists(), "it goes with its server");
        // A server that was killed leaves its socket behind.
        drop(std::os::unix::net::UnixListener::bind(&path).expect("binds"));
        assert!(path.exists());
        let second = UnixSocket::bind(folder.path(), 5454).expect("takes it over");
        drop(second);
        // One that knows no lock is left alone.
        let stranger = std::os::unix::net::UnixListener::bind(&path).expect("binds");
        assert!(UnixSocket::bind(folder.path(), 5454).is_err());
        drop(stranger);
    }
}
