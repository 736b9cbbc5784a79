//! Who may cancel what: the secret keys given out to connections.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use pgwire::messages::startup::SecretKey;

use crate::clock;
use crate::session::{Interrupt, Interrupts, Membership};

/// The open connections by process id.
#[derive(Debug, Default)]
pub(super) struct Keys {
    by_id: Mutex<HashMap<i32, (Bytes, Arc<Interrupts>)>>,
}

/// A connection's entry, for as long as it is open.
#[derive(Debug)]
pub(super) struct Registration {
    keys: Arc<Keys>,
    pub(super) process_id: i32,
    pub(super) secret: SecretKey,
}

/// How long a secret the client's version of the protocol can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretLength {
    /// 3.0: four bytes.
    Four,
    /// 3.2: 32 bytes.
    ThirtyTwo,
}

impl Keys {
    /// Gives out a secret to the session.
    pub(super) fn register(
        self: &Arc<Self>,
        length: SecretLength,
        membership: &Membership,
    ) -> Registration {
        let (process_id, secret) = (membership.process_id(), secret(length));
        let entry = (secret.to_bytes(), Arc::clone(membership.interrupts()));
        self.by_id.lock().insert(process_id, entry);
        Registration { keys: Arc::clone(self), process_id, secret }
    }

    /// Cancels the statement of the connection that has this secret; nothing if none has.
    pub(super) fn cancel(&self, process_id: i32, secret: &SecretKey) {
        if let Some((expected, interrupts)) = self.by_id.lock().get(&process_id)
            && same(expected, &secret.to_bytes())
        {
            interrupts.raise(Interrupt::Cancel);
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.keys.by_id.lock().remove(&self.process_id);
    }
}

fn secret(length: SecretLength) -> SecretKey {
    let low = clock::random().to_be_bytes();
    let high = clock::random().to_be_bytes();
    match length {
        // The first bytes of a version 4 UUID are all random.
        SecretLength::Four => SecretKey::I32(i32::from_be_bytes([low[0], low[1], low[2], low[3]])),
        SecretLength::ThirtyTwo => SecretKey::Bytes(Bytes::from([low, high].concat())),
    }
}

/// Compares without stopping at the first difference, so that time tells nothing.
fn same(expected: &[u8], given: &[u8]) -> bool {
    expected.len() == given.len()
        && expected.iter().zip(given).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Sessions;

    #[test]
    fn only_the_right_secret_cancels() {
        let (keys, sessions) = (Arc::new(Keys::default()), Arc::new(Sessions::default()));
        let membership = sessions.join(None);
        let registration = keys.register(SecretLength::ThirtyTwo, &membership);
        let interrupts = membership.interrupts();
        interrupts.begin(None);
        keys.cancel(registration.process_id, &SecretKey::I32(7));
        keys.cancel(registration.process_id + 1, &registration.secret);
        assert!(interrupts.check().is_ok());
        keys.cancel(registration.process_id, &registration.secret);
        assert!(interrupts.check().is_err());
    }

    #[test]
    fn a_closed_connection_cannot_be_cancelled() {
        let (keys, sessions) = (Arc::new(Keys::default()), Arc::new(Sessions::default()));
        let membership = sessions.join(None);
        let registration = keys.register(SecretLength::Four, &membership);
        drop(registration);
        assert!(keys.by_id.lock().is_empty());
    }
}
