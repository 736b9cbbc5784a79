//! What is kept of a password: PostgreSQL's SCRAM-SHA-256 verifier, from which the password cannot
//! be had, and which is of no use to log in with.
//!
//! ```text
//! SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>      salt and keys in base64
//! ```

use std::fmt;
use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};
use serde::{Deserialize, Serialize};

use crate::clock;

/// Rounds of new verifiers, as PostgreSQL's `scram_iterations` has them by default.
pub const ITERATIONS: NonZeroU32 = NonZeroU32::new(4096).expect("not zero");

/// Bytes of a SHA-256, and so of a key.
const KEY_BYTES: usize = 32;

/// Bytes of a salt.
const SALT_BYTES: usize = 16;

const METHOD: &str = "SCRAM-SHA-256";

/// A SCRAM-SHA-256 verifier.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Verifier {
    pub iterations: NonZeroU32,
    pub salt: Vec<u8>,
    /// The hash of the client's key.
    pub stored_key: [u8; KEY_BYTES],
    pub server_key: [u8; KEY_BYTES],
}

impl Verifier {
    /// Of a password, under a salt that no other has.
    pub fn of_password(password: &str) -> Self {
        Self::salted(password, clock::random().to_be_bytes().to_vec(), ITERATIONS)
    }

    fn salted(password: &str, salt: Vec<u8>, iterations: NonZeroU32) -> Self {
        // A password that cannot be normalized is taken as it is, as in PostgreSQL.
        let normalized = stringprep::saslprep(password).unwrap_or(password.into());
        let mut salted = [0; KEY_BYTES];
        let algorithm = pbkdf2::PBKDF2_HMAC_SHA256;
        pbkdf2::derive(algorithm, iterations, &salt, normalized.as_bytes(), &mut salted);
        let stored_key = sha256(&hmac_sha256(&salted, b"Client Key"));
        let server_key = hmac_sha256(&salted, b"Server Key");
        Self { iterations, salt, stored_key, server_key }
    }

    /// One that no password fits, for a role that does not exist or has none: what is sent to its
    /// client looks like another's, and is the same at each try. `secret` is the server's.
    pub fn mock(secret: &[u8], user: &str) -> Self {
        let salt = hmac_sha256(secret, user.as_bytes());
        Self {
            iterations: ITERATIONS,
            salt: salt[..SALT_BYTES].to_vec(),
            stored_key: hmac_sha256(secret, format!("stored key of {user}").as_bytes()),
            server_key: hmac_sha256(secret, format!("server key of {user}").as_bytes()),
        }
    }

    /// Reads one as `Display` writes it; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(METHOD)?.strip_prefix('$')?;
        let (rounds, keys) = rest.split_once('$')?;
        let (iterations, salt) = rounds.split_once(':')?;
        let (stored_key, server_key) = keys.split_once(':')?;
        let key = |text: &str| STANDARD.decode(text).ok()?.try_into().ok();
        Some(Self {
            iterations: iterations.parse().ok()?,
            salt: STANDARD.decode(salt).ok().filter(|salt| !salt.is_empty())?,
            stored_key: key(stored_key)?,
            server_key: key(server_key)?,
        })
    }

    /// Whether this password has this verifier.
    pub fn fits(&self, password: &str) -> bool {
        Self::salted(password, self.salt.clone(), self.iterations).stored_key == self.stored_key
    }
}

fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; KEY_BYTES] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message);
    tag.as_ref().try_into().expect("an HMAC-SHA-256 has 32 bytes")
}

fn sha256(bytes: &[u8]) -> [u8; KEY_BYTES] {
    let hash = digest::digest(&digest::SHA256, bytes);
    hash.as_ref().try_into().expect("a SHA-256 has 32 bytes")
}

impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [salt, stored, server] =
            [&self.salt[..], &self.stored_key, &self.server_key].map(|b| STANDARD.encode(b));
        write!(f, "{METHOD}${}:{salt}${stored}:{server}", self.iterations)
    }
}

/// Keys go into no log.
impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifier")
    }
}

impl From<Verifier> for String {
    fn from(verifier: Verifier) -> Self {
        verifier.to_string()
    }
}

impl TryFrom<String> for Verifier {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("not a SCRAM-SHA-256 verifier")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As PostgreSQL 15 made it of the password `secret`.
    const OF_POSTGRESQL: &str = "SCRAM-SHA-256$4096:LtJ5OaODHIuXpuYa1/OlEA==$\
                                 9Oj4f+CC++1Kra6NSVToYQo/oL/zkr8tx0fYv1U0IBg=:\
                                 IoB47UnnylZKkCuQYhTeYR+D+fCiCqbp1o0uztRuDq0=";

    #[test]
    fn a_verifier_is_read_as_it_is_written() {
        let made = Verifier::of_password("geheim");
        let text = made.to_string();
        assert_eq!(Verifier::parse(&text), Some(made.clone()));
        assert!(made.fits("geheim") && !made.fits("Geheim"));
        assert!(!format!("{made:?}").contains('$'), "keys are not shown");
        assert_ne!(Verifier::of_password("geheim"), made, "the salt is new each time");
        for bad in ["", "geheim", "SCRAM-SHA-256$4096", &text[1..], &text[..text.len() - 5]] {
            assert_eq!(Verifier::parse(bad), None, "{bad}");
        }
        assert_eq!(Verifier::parse(&text.replacen("4096", "0", 1)), None);
    }

    #[test]
    fn a_verifier_is_as_postgresql_makes_it() {
        let theirs = Verifier::parse(OF_POSTGRESQL).expect("well formed");
        assert!(theirs.fits("secret"));
        assert_eq!(theirs.to_string(), OF_POSTGRESQL);
    }

    #[test]
    fn a_mock_is_the_same_at_each_try_and_of_each_user() {
        let mock = Verifier::mock(b"server", "ann");
        assert_eq!(mock, Verifier::mock(b"server", "ann"));
        assert_ne!(mock.salt, Verifier::mock(b"server", "bob").salt);
        assert_ne!(mock.salt, Verifier::mock(b"other server", "ann").salt);
        assert_eq!(mock.salt.len(), Verifier::of_password("x").salt.len());
    }
}
