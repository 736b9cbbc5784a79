//! Subscriptions: the changes of a table or a materialized view are kept for a time.
//!
//! Nobody knows of an epoch when it was; so each subscription makes marks, a few in the length of
//! its retention, and its changes go with the marks:
//!
//! ```text
//!   marks:   (t1, e1)  (t2, e2)  ...  (tn, en)      all up to ek was committed when it was tk
//!            ^ gone up to here
//! ```
//!
//! What must hold: a change is kept for at least as long as the retention says, over any restart,
//! and not much longer; a mark is durable before what it lets go is forgotten.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Engine, jobs};
use crate::catalog::Object;
use crate::clock::{self, WallTime};
use crate::error::{SqlError, SqlResult};
use crate::state::{MetaEntry, Snapshot};
use crate::task;
use crate::types::{Epoch, ObjectId};

/// Marks in the length of a retention: changes are kept longer by one part of so many.
const MARKS: u32 = 32;

/// The least time between two marks.
const BETWEEN_MIN: Duration = Duration::from_millis(100);

/// When which epochs were committed; the first is what is gone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Marks {
    /// Microseconds since 1970, and the epoch that was the newest then.
    marks: VecDeque<(i64, Epoch)>,
}

impl Marks {
    /// Nothing is kept before `epoch`, the newest.
    pub(super) fn beginning(now: WallTime, epoch: Epoch) -> Self {
        Self { marks: [(now.0, epoch)].into() }
    }

    /// Changes after this epoch are kept.
    fn done(&self) -> Option<Epoch> {
        self.marks.front().map(|(_, epoch)| *epoch)
    }

    /// It is `now`, and `newest` is committed; whether that changed anything.
    fn go_on(&mut self, now: WallTime, newest: Epoch, retention: Duration) -> bool {
        let before = (self.marks.len(), self.done());
        if self.marks.back().is_none_or(|(_, epoch)| *epoch < newest) {
            self.marks.push_back((now.0, newest));
        }
        let retention = i64::try_from(retention.as_micros()).unwrap_or(i64::MAX);
        let until = now.0.saturating_sub(retention);
        while self.marks.get(1).is_some_and(|(time, _)| *time <= until) {
            self.marks.pop_front();
        }
        before != (self.marks.len(), self.done())
    }
}

/// Where a subscription's marks are kept in the store's metadata.
pub(super) fn marks_key(subscription: ObjectId) -> Vec<u8> {
    [b"subscription/".as_slice(), &subscription.0.to_be_bytes()].concat()
}

pub(super) fn marks_entry(subscription: ObjectId, marks: &Marks) -> MetaEntry {
    let json = serde_json::to_vec(marks).expect("plain data has a JSON form");
    (marks_key(subscription), Some(json))
}

fn marks(snapshot: &Snapshot, subscription: ObjectId) -> SqlResult<Marks> {
    let Some(bytes) = snapshot.meta(&marks_key(subscription))? else {
        // The server died before the first mark.
        return Ok(Marks::default());
    };
    serde_json::from_slice(&bytes)
        .map_err(|error| SqlError::internal(format!("a subscription's marks: {error}")))
}

/// The epoch after which a subscription keeps changes.
pub(super) fn done(snapshot: &Snapshot, subscription: ObjectId) -> SqlResult<Epoch> {
    Ok(marks(snapshot, subscription)?.done().unwrap_or(snapshot.epoch()))
}

impl Engine {
    /// Starts to let go of what a subscription has kept long enough.
    pub(super) fn keep_changes(self: &Arc<Self>, object: &Arc<Object>) -> SqlResult<()> {
        let Some(subscription) = object.subscription() else { return Ok(()) };
        let keeper = Keeper {
            engine: Arc::clone(self),
            id: object.id,
            from: subscription.from,
            retention: Duration::from_millis(subscription.retention_ms),
            marks: marks(&self.snapshot(), object.id)?,
        };
        let (background, running) = jobs::background();
        self.background.lock().insert(object.id, background);
        task::spawn_on(&self.stream, format!("subscription {}", object.id.0), async move {
            tokio::select! {
                biased;
                () = running.cancel.cancelled() => {}
                () = keeper.run() => {}
            }
        });
        Ok(())
    }
}

/// What lets go of a subscription's changes.
struct Keeper {
    engine: Arc<Engine>,
    id: ObjectId,
    from: ObjectId,
    retention: Duration,
    marks: Marks,
}

impl Keeper {
    async fn run(mut self) {
        let between = (self.retention / MARKS).max(BETWEEN_MIN);
        loop {
            if let Err(error) = self.mark().await {
                tracing::warn!(subscription = self.id.0, %error, "changes are kept longer");
            }
            tokio::time::sleep(between).await;
        }
    }

    async fn mark(&mut self) -> SqlResult<()> {
        let mut marks = self.marks.clone();
        if !marks.go_on(clock::wall(), self.engine.store().epoch(), self.retention) {
            return Ok(());
        }
        self.engine.commit_meta(vec![marks_entry(self.id, &marks)]).await?;
        self.marks = marks;
        if let Some(done) = self.marks.done() {
            self.engine.coordinator.readers().advance(self.from, self.id, done);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_kept_as_long_as_the_retention() {
        let second = |number: i64| WallTime(number * 1_000_000);
        let retention = Duration::from_secs(10);
        let mut marks = Marks::beginning(second(0), Epoch(5));
        assert!(!marks.go_on(second(9), Epoch(5), retention));
        assert!(marks.go_on(second(10), Epoch(7), retention));
        // An epoch after the fifth may be of the tenth second.
        assert!(!marks.go_on(second(19), Epoch(7), retention));
        assert_eq!(marks.done(), Some(Epoch(5)));
        assert!(marks.go_on(second(20), Epoch(9), retention));
        assert_eq!(marks.done(), Some(Epoch(7)));
    }

    /// What is on disk must be readable by every later version.
    #[test]
    fn marks_lie_on_disk_like_this() {
        let (key, value) = marks_entry(ObjectId(16384), &Marks::beginning(WallTime(8), Epoch(7)));
        assert_eq!(key, b"subscription/\0\0\x40\0");
        let value = String::from_utf8(value.expect("an entry")).expect("text");
        expect_test::expect![[r#"{"marks":[[8,7]]}"#]].assert_eq(&value);
    }
}
