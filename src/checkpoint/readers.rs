//! Who still reads which changelog, and how far it may be forgotten.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::types::{Epoch, ObjectId};

/// For each object with a changelog, its readers and the epoch up to which each has read.
#[derive(Debug, Clone, Default)]
pub struct Readers {
    by_object: Arc<Mutex<HashMap<ObjectId, HashMap<ObjectId, Epoch>>>>,
}

impl Readers {
    /// `reader` needs the changes of `object` after `done`.
    pub fn advance(&self, object: ObjectId, reader: ObjectId, done: Epoch) {
        self.by_object.lock().entry(object).or_default().insert(reader, done);
    }

    /// `reader` needs no changelog any more. Returns the objects whose changelog nobody reads now.
    pub fn remove(&self, reader: ObjectId) -> Vec<ObjectId> {
        let mut by_object = self.by_object.lock();
        let mut unread = Vec::new();
        by_object.retain(|object, readers| {
            if readers.remove(&reader).is_some() && readers.is_empty() {
                unread.push(*object);
            }
            !readers.is_empty()
        });
        unread
    }

    /// The epoch up to which every reader of `object` has read; none without readers.
    pub fn done(&self, object: ObjectId) -> Option<Epoch> {
        self.by_object.lock().get(&object).and_then(|readers| readers.values().min().copied())
    }

    /// Whether `object` must keep its changes.
    pub fn any(&self, object: ObjectId) -> bool {
        self.by_object.lock().contains_key(&object)
    }
}
