//! What takes a transaction back to a savepoint: for each statement since the first savepoint, what
//! its changes replaced.
//!
//! ```text
//!   SAVEPOINT a      INSERT     SAVEPOINT b     UPDATE       ROLLBACK TO a
//!   mark 0      ->   step 0     mark 1     ->   step 1   ->  undoes step 1, then step 0
//! ```
//!
//! It costs what the statements changed, not what the transaction has written before them. Without
//! a savepoint nothing is noted.

use super::unique::Taken;
use crate::serving::Overlay;
use crate::types::ObjectId;

/// Bytes that a replaced entry takes besides its key: its place in the list, two boxes.
const REPLACED_BYTES: usize = 48;

/// A place in the log of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(usize);

/// The steps of a transaction that can be undone, the oldest first.
#[derive(Debug, Default)]
pub(super) struct UndoLog {
    /// Whether there is a savepoint to go back to.
    notes: bool,
    steps: Vec<Step>,
    bytes: usize,
}

/// What one statement did.
#[derive(Debug)]
pub(super) enum Step {
    /// It took the write lock of a table.
    Locked(ObjectId),
    /// It took it in a higher mode than before.
    Raised(ObjectId),
    /// It took the lock of a table whose rows others refer to.
    Kept(ObjectId),
    /// It let sequences begin anew.
    Restarted,
    /// It changed a table.
    Changed {
        object: ObjectId,
        entries: Replaced,
        /// By unique index.
        taken: Vec<(ObjectId, Replaced)>,
        /// How many deltas there were before it.
        deltas: usize,
        /// The size of the transaction before it.
        bytes: usize,
    },
}

/// What an overlay said of some keys.
#[derive(Debug, Default)]
pub(super) struct Replaced(Vec<(Box<[u8]>, Before)>);

/// What it said of one; `None`: nothing.
type Before = Option<Option<Box<[u8]>>>;

impl UndoLog {
    /// The place of a savepoint made now: from here on steps are noted.
    pub(super) fn mark(&mut self) -> Mark {
        self.notes = true;
        Mark(self.steps.len())
    }

    /// There is no savepoint any more.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    pub(super) fn notes(&self) -> bool {
        self.notes
    }

    /// No mark is needed any more that was made since there were none.
    pub(super) fn stop(&mut self, noted_before: bool) {
        if !noted_before {
            self.forget();
        }
    }

    /// The memory that the log takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn note(&mut self, step: Step) {
        if self.notes {
            self.bytes += step.bytes();
            self.steps.push(step);
        }
    }

    /// The newest step after `mark`, to be undone.
    pub(super) fn pop_after(&mut self, mark: Mark) -> Option<Step> {
        if self.steps.len() <= mark.0 {
            return None;
        }
        let step = self.steps.pop()?;
        self.bytes -= step.bytes();
        Some(step)
    }
}

impl Step {
    fn bytes(&self) -> usize {
        let replaced = match self {
            Step::Locked(_) | Step::Raised(_) | Step::Kept(_) | Step::Restarted => 0,
            Step::Changed { entries, taken, .. } => {
                let taken = taken.iter().map(|(_, replaced)| replaced.bytes());
                entries.bytes() + taken.sum::<usize>()
            }
        };
        replaced + size_of::<Self>()
    }
}

impl Replaced {
    /// Brings `entries` into `overlay`, and keeps what they replace if that `notes`.
    pub(super) fn by(overlay: &mut Overlay, entries: Overlay, notes: bool) -> Self {
        if !notes {
            if overlay.is_empty() {
                *overlay = entries;
            } else {
                overlay.extend(entries);
            }
            return Self::default();
        }
        let replaced = entries.into_iter().map(|(key, value)| {
            let before = overlay.insert(key.clone(), value);
            (key, before)
        });
        Self(replaced.collect())
    }

    /// The same for the keys of unique indexes.
    pub(super) fn by_all(taken: &mut Taken, changed: Taken, notes: bool) -> Vec<(ObjectId, Self)> {
        let replaced = changed
            .into_iter()
            .map(|(index, keys)| (index, Self::by(taken.entry(index).or_default(), keys, notes)));
        replaced.collect()
    }

    /// Puts back into `overlay` what was replaced.
    pub(super) fn restore(self, overlay: &mut Overlay) {
        for (key, before) in self.0 {
            match before {
                Some(value) => overlay.insert(key, value),
                None => overlay.remove(&key),
            };
        }
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(|(key, _)| key.len() + REPLACED_BYTES).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlay(entries: &[(&str, Option<&str>)]) -> Overlay {
        let boxed = |text: &str| text.as_bytes().into();
        entries.iter().map(|(key, value)| (boxed(key), value.map(boxed))).collect()
    }

    #[test]
    fn what_was_replaced_comes_back() {
        let before = overlay(&[("a", Some("1")), ("b", None)]);
        let mut now = before.clone();
        let changes = overlay(&[("a", None), ("b", Some("2")), ("c", Some("3"))]);
        let replaced = Replaced::by(&mut now, changes.clone(), true);
        assert_eq!(now, changes);
        replaced.restore(&mut now);
        assert_eq!(now, before);
    }

    #[test]
    fn a_log_gives_back_the_memory_of_what_it_undoes() {
        let mut log = UndoLog::default();
        log.note(Step::Locked(ObjectId(1)));
        assert_eq!(log.bytes(), 0, "without a savepoint nothing is noted");
        let outer = log.mark();
        log.note(Step::Locked(ObjectId(1)));
        let (bytes, inner) = (log.bytes(), log.mark());
        log.note(Step::Locked(ObjectId(2)));
        assert!(matches!(log.pop_after(inner), Some(Step::Locked(ObjectId(2)))));
        assert!(log.pop_after(inner).is_none());
        assert_eq!(log.bytes(), bytes);
        assert!(log.pop_after(outer).is_some());
        assert_eq!((log.bytes(), log.pop_after(outer).is_none()), (0, true));
    }
}
