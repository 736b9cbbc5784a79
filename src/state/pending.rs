//! How much an epoch may change: its changes are in memory until they are committed.
//!
//! Tables count the bytes of their writes here until their epoch ends. Over the limit no more is to
//! be written: the epoch fails, before the machine has no memory left.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::StateError;

/// What an entry takes beside its bytes: two allocations, and its place in a tree's node.
const ENTRY_BYTES: usize = 96;

/// A table counts so many bytes alone before it tells.
const STEP_BYTES: usize = 64 << 10;

/// The limit, and how much all tables together have of it. Clones are the same.
#[derive(Debug, Clone)]
pub struct Pending(Arc<Bytes>);

#[derive(Debug)]
struct Bytes {
    max: usize,
    now: AtomicUsize,
}

impl Pending {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self(Arc::new(Bytes { max: bytes_max, now: AtomicUsize::new(0) }))
    }

    /// Fails if more is written than an epoch may.
    pub fn check(&self) -> Result<(), StateError> {
        match self.0.now.load(Ordering::Relaxed) > self.0.max {
            true => Err(StateError::EpochTooLarge { bytes_max: self.0.max }),
            false => Ok(()),
        }
    }

    /// The part of one that has written nothing yet.
    pub fn share(&self) -> PendingShare {
        PendingShare { pending: self.clone(), bytes: 0, told: 0 }
    }
}

/// What one table has written, or is about to, in this epoch. It counts until this is dropped.
#[derive(Debug)]
pub struct PendingShare {
    pending: Pending,
    bytes: usize,
    told: usize,
}

impl PendingShare {
    pub(super) fn add(&mut self, key: &[u8], value: &[u8]) {
        self.add_bytes(key.len() + value.len() + ENTRY_BYTES);
    }

    pub fn add_bytes(&mut self, bytes: usize) {
        self.bytes += bytes;
        if self.bytes > self.told + STEP_BYTES {
            self.pending.0.now.fetch_add(self.bytes - self.told, Ordering::Relaxed);
            self.told = self.bytes;
        }
    }

    /// Fails if all together are more than an epoch may.
    pub fn check(&self) -> Result<(), StateError> {
        self.pending.check()
    }

    /// An entry was overwritten.
    pub(super) fn take_back(&mut self, key: &[u8], value: &[u8]) {
        self.bytes -= key.len() + value.len() + ENTRY_BYTES;
    }

    /// Nothing of it is left to count.
    pub fn end(&mut self) {
        self.pending.0.now.fetch_sub(self.told, Ordering::Relaxed);
        (self.bytes, self.told) = (0, 0);
    }
}

impl Drop for PendingShare {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_count_together_until_their_epoch_ends() {
        let pending = Pending::new(1 << 20);
        let (mut first, mut second) = (pending.share(), pending.share());
        let value = vec![0; 600 << 10];
        first.add(b"a", &value);
        assert!(pending.check().is_ok());
        first.take_back(b"a", &value);
        first.add(b"a", &value);
        assert!(pending.check().is_ok());
        second.add(b"b", &value);
        let error = crate::error::SqlError::from(pending.check().unwrap_err());
        assert_eq!(error.code, "53200");
        second.end();
        assert!(pending.check().is_ok());
        second.add(b"b", &value);
        drop(first);
        assert!(pending.check().is_ok());
    }
}
