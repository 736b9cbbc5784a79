//! What went wrong with single rows, kept where the user can read it: `weir.errors` and
//! `weir.dead_letters`. Entries commit with their epoch; the newest of each object are kept.
//!
//! Metadata keys: `errors/` or `deadletters/`, then `object u32 | epoch u64 | sequence u32`.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::clock::WallTime;
use crate::connector::DeadLetter;
use crate::operator::RowError;
use crate::state::{MetaEntry, Snapshot, StateError};
use crate::types::{Epoch, ObjectId};

/// Entries kept for each object and kind.
const ENTRIES_MAX: usize = 1000;

/// Prefix of the keys of [`ErrorEntry`]s.
pub const ERRORS: &[u8] = b"errors/";
/// Prefix of the keys of [`DeadLetterEntry`]s.
pub const DEAD_LETTERS: &[u8] = b"deadletters/";

/// A row whose expression failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorEntry {
    pub object: ObjectId,
    pub epoch: Epoch,
    /// Microseconds since 1970.
    pub time: i64,
    pub expression: String,
    pub code: String,
    pub message: String,
    pub row: String,
}

/// A record that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetterEntry {
    pub object: ObjectId,
    pub epoch: Epoch,
    /// Microseconds since 1970.
    pub time: i64,
    pub split: String,
    pub position: String,
    pub raw: Vec<u8>,
    pub reason: String,
}

/// Turns what actors reported into metadata, and forgets the oldest. Shared by all who commit.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    kept: HashMap<(&'static [u8], ObjectId), VecDeque<Vec<u8>>>,
    /// Tells apart the entries of several actors in one epoch.
    sequence: u32,
}

impl Journal {
    /// The journal as it was committed.
    pub fn load(snapshot: &Snapshot) -> Result<Self, StateError> {
        let mut inner = Inner::default();
        for prefix in [ERRORS, DEAD_LETTERS] {
            for (key, _) in snapshot.meta_with_prefix(prefix)? {
                if let Some(object) = object_of(prefix, &key) {
                    inner.kept.entry((prefix, object)).or_default().push_back(key);
                }
            }
        }
        Ok(Self { inner: Arc::new(Mutex::new(inner)) })
    }

    /// Entries for what failed in an epoch. Rows that went away bring none.
    pub fn errors(
        &self,
        object: ObjectId,
        epoch: Epoch,
        time: WallTime,
        errors: Vec<RowError>,
    ) -> Vec<MetaEntry> {
        let entries = errors.into_iter().filter(|error| error.weight > 0).map(|error| ErrorEntry {
            object,
            epoch,
            time: time.0,
            expression: error.expression,
            code: error.error.code.to_owned(),
            message: error.error.message,
            row: error.row,
        });
        self.keep(ERRORS, object, epoch, entries)
    }

    /// Entries for the records that could not be read in an epoch.
    pub fn dead_letters(
        &self,
        object: ObjectId,
        epoch: Epoch,
        time: WallTime,
        letters: Vec<DeadLetter>,
    ) -> Vec<MetaEntry> {
        let entries = letters.into_iter().map(|letter| DeadLetterEntry {
            object,
            epoch,
            time: time.0,
            split: letter.split,
            position: letter.position,
            raw: letter.raw,
            reason: letter.reason,
        });
        self.keep(DEAD_LETTERS, object, epoch, entries)
    }

    /// Deletes all entries of `object`, which is dropped.
    pub fn forget(&self, object: ObjectId) -> Vec<MetaEntry> {
        [ERRORS, DEAD_LETTERS]
            .into_iter()
            .filter_map(|prefix| self.inner.lock().kept.remove(&(prefix, object)))
            .flatten()
            .map(|key| (key, None))
            .collect()
    }

    fn keep<E: Serialize>(
        &self,
        prefix: &'static [u8],
        object: ObjectId,
        epoch: Epoch,
        entries: impl Iterator<Item = E>,
    ) -> Vec<MetaEntry> {
        let Inner { kept, sequence } = &mut *self.inner.lock();
        let kept = kept.entry((prefix, object)).or_default();
        let mut written = Vec::new();
        for entry in entries {
            let mut key = [prefix, &object.0.to_be_bytes(), &epoch.0.to_be_bytes()].concat();
            *sequence = sequence.wrapping_add(1);
            key.extend_from_slice(&sequence.to_be_bytes());
            let value = serde_json::to_vec(&entry).expect("plain data has a JSON form");
            kept.push_back(key.clone());
            written.push((key, Some(value)));
            if kept.len() > ENTRIES_MAX
                && let Some(oldest) = kept.pop_front()
            {
                written.push((oldest, None));
            }
        }
        written
    }
}

fn object_of(prefix: &[u8], key: &[u8]) -> Option<ObjectId> {
    let bytes = key.strip_prefix(prefix)?.get(..4)?;
    Some(ObjectId(u32::from_be_bytes(bytes.try_into().ok()?)))
}
