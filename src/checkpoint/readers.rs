//! Who still reads which changelog, and how far it may be forgotten.
//!
//! A **reader** (a job that catches up, a sink, a subscription) has its place on disk, and a
//! changelog is kept for it however long it takes. A **guest** (a client that watches) is gone with
//! its connection, and sent away when it is too far behind: by so many bytes, or, where it reads
//! what a subscription keeps, further than that one.
//!
//! ```text
//!  changelog of an object:   | forgotten | kept ........................ | now
//!            the least `done` of its readers ^ and of its guests with an allowance of bytes
//! ```
//!
//! What must hold: no change after anyone's `done` is forgotten; what nobody reads is not kept.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::error::{SqlError, SqlResult, code};
use crate::state::Snapshot;
use crate::types::{Epoch, ObjectId};

/// Epochs of a changelog whose sizes are known one by one; beyond that, two by two.
const SIZES_MAX: usize = 8192;

/// For each object with a changelog, who reads it and how far.
#[derive(Clone, Default)]
pub struct Readers {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
struct Inner {
    by_object: HashMap<ObjectId, Kept>,
    /// Objects whose last guest has gone.
    unread: HashSet<ObjectId>,
    /// The first epoch that was committed since the start: sizes before it are not known.
    first: Option<Epoch>,
    guests: u64,
}

/// A changelog that is kept.
#[derive(Default)]
struct Kept {
    readers: HashMap<ObjectId, Epoch>,
    guests: BTreeMap<u64, Visit>,
    sizes: Sizes,
    /// Up to here it was given up for forgetting.
    forgotten: Epoch,
}

/// What is known of a guest.
struct Visit {
    process_id: i32,
    done: Epoch,
    allowance: Allowance,
    /// The rows that it reads before their changes. Kept here, so that it goes with the guest even
    /// if nobody polls it.
    pinned: Option<Arc<Snapshot>>,
    end: watch::Sender<Option<SqlError>>,
}

/// Bytes of a changelog by epoch.
#[derive(Default)]
struct Sizes {
    /// Of the epochs before those listed.
    before: u64,
    /// Of all up to and including an epoch, ascending.
    up_to: VecDeque<(Epoch, u64)>,
}

/// What others see of a guest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestRecord {
    pub object: ObjectId,
    pub process_id: i32,
    pub done: Epoch,
    pub backlog: u64,
    pub allowance: Allowance,
}

/// A guest's own end: dropped, it leaves.
pub struct Guest {
    readers: Readers,
    object: ObjectId,
    number: u64,
    end: watch::Receiver<Option<SqlError>>,
}

/// Who comes as a guest.
#[derive(Debug, Clone, Copy)]
pub struct Coming {
    pub object: ObjectId,
    /// Of its client.
    pub process_id: i32,
    pub allowance: Allowance,
}

/// How far a guest may be behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// By so many bytes of changes, which are kept for it.
    Bytes(u64),
    /// As far as this reader: nothing is kept for the guest itself.
    Reader(ObjectId),
}

impl Readers {
    /// `reader` needs the changes of `object` after `done`; what is before is durable with it.
    /// Guests that rely on it lose what is before.
    pub fn advance(&self, object: ObjectId, reader: ObjectId, done: Epoch) {
        let mut inner = self.inner.lock();
        let first = inner.first;
        let kept = inner.by_object.entry(object).or_default();
        kept.readers.insert(reader, done);
        let known = |epoch: Epoch| first.is_some_and(|first| first.0 <= epoch.0 + 1);
        let lost: Vec<u64> = kept
            .guests
            .iter()
            .filter(|(_, visit)| visit.allowance == Allowance::Reader(reader) && visit.done < done)
            .filter(|(_, visit)| {
                // Where nothing has changed since, nothing is lost.
                !known(visit.done) || kept.sizes.after(visit.done) > kept.sizes.after(done)
            })
            .map(|(number, _)| *number)
            .collect();
        for number in lost {
            if let Some(visit) = kept.guests.remove(&number) {
                visit.end.send_replace(Some(outlasted(done)));
            }
        }
    }

    /// `reader` needs no changelog any more, and guests that rely on it have nothing to read.
    /// Returns the objects whose changelog nobody reads now.
    pub fn remove(&self, reader: ObjectId) -> Vec<ObjectId> {
        let mut unread = Vec::new();
        self.inner.lock().by_object.retain(|object, kept| {
            kept.guests.retain(|_, visit| {
                let relies = visit.allowance == Allowance::Reader(reader);
                if relies {
                    visit.end.send_replace(Some(without_subscription()));
                }
                !relies
            });
            if kept.readers.remove(&reader).is_some() && kept.is_unread() {
                unread.push(*object);
            }
            !kept.is_unread()
        });
        unread
    }

    /// Whether `object` must keep its changes.
    pub fn any(&self, object: ObjectId) -> bool {
        self.inner.lock().by_object.contains_key(&object)
    }

    /// All changes of `object` after this epoch are kept; none while nobody is known to read it.
    pub fn since(&self, object: ObjectId) -> Option<Epoch> {
        self.inner.lock().by_object.get(&object).and_then(Kept::since)
    }

    /// Up to where `reader` has read the changes of `object`.
    pub fn place(&self, object: ObjectId, reader: ObjectId) -> Option<Epoch> {
        self.inner.lock().by_object.get(&object)?.readers.get(&reader).copied()
    }

    /// A guest that needs all changes of `object` from now on.
    pub fn join(&self, coming: Coming) -> Guest {
        self.seat(&mut self.inner.lock(), coming, Epoch(0))
    }

    /// A guest that needs the changes after `done`; `None` if they are not kept.
    pub fn join_at(&self, coming: Coming, done: Epoch) -> Option<Guest> {
        let mut inner = self.inner.lock();
        let kept = inner.by_object.get(&coming.object)?;
        let since = match coming.allowance {
            Allowance::Bytes(_) => kept.since()?,
            Allowance::Reader(reader) => *kept.readers.get(&reader)?,
        };
        (since <= done).then(|| self.seat(&mut inner, coming, done))
    }

    fn seat(&self, inner: &mut Inner, coming: Coming, done: Epoch) -> Guest {
        let Coming { object, process_id, allowance } = coming;
        let (end, told) = watch::channel(None);
        inner.guests += 1;
        let number = inner.guests;
        let visit = Visit { process_id, done, allowance, pinned: None, end };
        inner.by_object.entry(object).or_default().guests.insert(number, visit);
        Guest { readers: self.clone(), object, number, end: told }
    }

    /// An epoch is committed that wrote so many bytes of changelogs: guests that are too far behind
    /// are sent away.
    pub fn committed(&self, epoch: Epoch, bytes: &BTreeMap<ObjectId, u64>) {
        let mut inner = self.inner.lock();
        inner.first.get_or_insert(epoch);
        for (object, bytes) in bytes {
            let Some(kept) = inner.by_object.get_mut(object) else { continue };
            kept.sizes.push(epoch, *bytes);
            let allowed = |(number, visit): (&u64, &Visit)| match visit.allowance {
                Allowance::Bytes(most) if visit.done > Epoch(0) => {
                    (kept.sizes.after(visit.done) > most).then_some((*number, most))
                }
                _ => None,
            };
            let late: Vec<(u64, u64)> = kept.guests.iter().filter_map(allowed).collect();
            for (number, most) in late {
                if let Some(visit) = kept.guests.remove(&number) {
                    visit.end.send_replace(Some(too_far_behind(most)));
                }
            }
            inner.drop_if_unread(*object);
        }
    }

    /// Sends all guests of `object` away.
    pub fn dismiss(&self, object: ObjectId, error: &SqlError) {
        let mut inner = self.inner.lock();
        let Some(kept) = inner.by_object.get_mut(&object) else { return };
        for visit in std::mem::take(&mut kept.guests).into_values() {
            visit.end.send_replace(Some(error.clone()));
        }
        inner.drop_if_unread(object);
    }

    /// Objects whose changelog nobody reads any more since their last guest went; told once.
    pub(super) fn take_unread(&self) -> Vec<ObjectId> {
        let mut inner = self.inner.lock();
        let unread = std::mem::take(&mut inner.unread);
        unread.into_iter().filter(|object| !inner.by_object.contains_key(object)).collect()
    }

    /// Up to which epochs changelogs can be forgotten; told once.
    pub(super) fn take_read(&self) -> Vec<(ObjectId, Epoch)> {
        let mut inner = self.inner.lock();
        let mut read = Vec::new();
        for (object, kept) in &mut inner.by_object {
            let Some(done) = kept.done().filter(|done| *done > kept.forgotten) else { continue };
            kept.forgotten = done;
            kept.sizes.forget(done);
            read.push((*object, done));
        }
        read
    }

    /// All guests.
    pub fn guests(&self) -> Vec<GuestRecord> {
        let inner = self.inner.lock();
        let mut guests: Vec<GuestRecord> = inner
            .by_object
            .iter()
            .flat_map(|(object, kept)| {
                kept.guests.values().map(|visit| GuestRecord {
                    object: *object,
                    process_id: visit.process_id,
                    done: visit.done,
                    backlog: kept.sizes.after(visit.done),
                    allowance: visit.allowance,
                })
            })
            .collect();
        guests.sort_by_key(|guest| (guest.process_id, guest.object));
        guests
    }
}

impl Inner {
    fn drop_if_unread(&mut self, object: ObjectId) {
        if self.by_object.get(&object).is_some_and(Kept::is_unread) {
            self.by_object.remove(&object);
            self.unread.insert(object);
        }
    }
}

impl Kept {
    fn is_unread(&self) -> bool {
        self.readers.is_empty() && self.guests.is_empty()
    }

    fn all_done(&self) -> impl Iterator<Item = Epoch> {
        let guests = self.guests.values();
        let own = |visit: &&Visit| matches!(visit.allowance, Allowance::Bytes(_));
        let guests = guests.filter(own).map(|visit| visit.done);
        self.readers.values().copied().chain(guests)
    }

    /// Up to where all have read.
    fn done(&self) -> Option<Epoch> {
        self.all_done().min()
    }

    /// Those that begin are no witnesses: it is not known yet from where on their changes are kept.
    fn since(&self) -> Option<Epoch> {
        self.all_done().filter(|done| *done > Epoch(0)).min()
    }
}

impl Sizes {
    fn push(&mut self, epoch: Epoch, bytes: u64) {
        let total = self.total() + bytes;
        if self.up_to.len() >= SIZES_MAX {
            let mut keep = false;
            self.up_to.retain(|_| {
                keep = !keep;
                keep
            });
        }
        self.up_to.push_back((epoch, total));
    }

    fn total(&self) -> u64 {
        self.up_to.back().map_or(self.before, |(_, total)| *total)
    }

    /// Bytes of the epochs after `done`.
    fn after(&self, done: Epoch) -> u64 {
        let read = self.up_to.partition_point(|(epoch, _)| *epoch <= done);
        let read = match read.checked_sub(1) {
            Some(last) => self.up_to[last].1,
            None => self.before,
        };
        self.total() - read
    }

    fn forget(&mut self, done: Epoch) {
        while let Some((epoch, total)) = self.up_to.front()
            && *epoch <= done
        {
            self.before = *total;
            self.up_to.pop_front();
        }
    }
}

impl Guest {
    /// It has read up to `done`; an error if it was sent away.
    pub fn advance(&self, done: Epoch) -> SqlResult<()> {
        self.visit(|visit| visit.done = done)
    }

    /// An error if it was sent away.
    pub fn check(&self) -> SqlResult<()> {
        self.visit(|_| ())
    }

    /// Keeps the rows of a moment for it.
    pub fn pin(&self, snapshot: Arc<Snapshot>) -> SqlResult<()> {
        self.visit(|visit| visit.pinned = Some(snapshot))
    }

    /// Lets go of them.
    pub fn unpin(&self) -> SqlResult<()> {
        self.visit(|visit| visit.pinned = None)
    }

    /// The rows that are kept for it.
    pub fn pinned(&self) -> SqlResult<Arc<Snapshot>> {
        let pinned = self.visit(|visit| visit.pinned.clone())?;
        pinned.ok_or_else(|| SqlError::internal("a guest without rows"))
    }

    /// Bytes of changes that it has not read.
    pub fn backlog(&self) -> u64 {
        let inner = self.readers.inner.lock();
        let kept = inner.by_object.get(&self.object);
        kept.and_then(|kept| Some(kept.sizes.after(kept.guests.get(&self.number)?.done)))
            .unwrap_or(0)
    }

    /// Returns once it is sent away, with the reason.
    pub async fn ended(&self) -> SqlError {
        let mut end = self.end.clone();
        match end.wait_for(Option::is_some).await {
            Ok(error) => error.clone().unwrap_or_else(gone),
            Err(_) => gone(),
        }
    }

    fn visit<T>(&self, change: impl FnOnce(&mut Visit) -> T) -> SqlResult<T> {
        let mut inner = self.readers.inner.lock();
        let kept = inner.by_object.get_mut(&self.object);
        match kept.and_then(|kept| kept.guests.get_mut(&self.number)) {
            Some(visit) => Ok(change(visit)),
            None => Err(self.end.borrow().clone().unwrap_or_else(gone)),
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut inner = self.readers.inner.lock();
        if let Some(kept) = inner.by_object.get_mut(&self.object) {
            kept.guests.remove(&self.number);
        }
        inner.drop_if_unread(self.object);
    }
}

fn gone() -> SqlError {
    SqlError::internal("a guest that nobody knows reads a changelog")
}

fn too_far_behind(backlog_max: u64) -> SqlError {
    let message = "the subscriber is too far behind: it does not read as fast as rows change";
    SqlError::new(code::CONFIGURATION_LIMIT_EXCEEDED, message)
        .detail(format!(
            "Changes that it has not read take more than subscribe_backlog_max, {} kB.",
            backlog_max / 1024
        ))
        .hint(
            "Read faster, raise subscribe_backlog_max, or use CREATE SUBSCRIPTION, which keeps \
             changes for a time.",
        )
}

fn without_subscription() -> SqlError {
    SqlError::new(code::UNDEFINED_OBJECT, "the subscription of the cursor was dropped")
}

fn outlasted(done: Epoch) -> SqlError {
    let message = "the cursor is further behind than its subscription keeps changes";
    SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail(format!("Changes up to epoch {} are gone.", done.0))
        .hint("Fetch more often, or make a subscription with a longer retention.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: ObjectId = ObjectId(16400);
    const READER: ObjectId = ObjectId(16401);
    const COMING: Coming =
        Coming { object: OBJECT, process_id: 7, allowance: Allowance::Bytes(100) };

    fn commit(readers: &Readers, epoch: u64, bytes: u64) {
        readers.committed(Epoch(epoch), &BTreeMap::from([(OBJECT, bytes)]));
    }

    #[test]
    fn the_slowest_says_what_is_kept() {
        let readers = Readers::default();
        let guest = readers.join(COMING);
        assert_eq!((readers.since(OBJECT), readers.take_read()), (None, vec![]));
        guest.advance(Epoch(5)).expect("is there");
        readers.advance(OBJECT, READER, Epoch(3));
        assert_eq!(readers.since(OBJECT), Some(Epoch(3)));
        assert!(readers.join_at(COMING, Epoch(2)).is_none());
        let other = readers.join_at(COMING, Epoch(4)).expect("is kept");
        assert_eq!(readers.take_read(), [(OBJECT, Epoch(3))]);
        assert_eq!(readers.take_read(), []);
        assert_eq!(readers.remove(READER), []);
        drop(guest);
        assert_eq!(readers.take_read(), [(OBJECT, Epoch(4))]);
        assert_eq!(readers.take_unread(), []);
        drop(other);
        assert!(!readers.any(OBJECT));
        assert_eq!(readers.take_unread(), [OBJECT]);
        assert_eq!(readers.take_unread(), []);
    }

    #[test]
    fn who_is_too_far_behind_is_sent_away() {
        let readers = Readers::default();
        let (slow, fast) = (readers.join(COMING), readers.join(COMING));
        for guest in [&slow, &fast] {
            guest.advance(Epoch(1)).expect("is there");
        }
        commit(&readers, 2, 60);
        assert_eq!((slow.backlog(), fast.backlog()), (60, 60));
        fast.advance(Epoch(2)).expect("is there");
        commit(&readers, 3, 60);
        assert_eq!(fast.backlog(), 60);
        let error = slow.advance(Epoch(3)).unwrap_err();
        assert_eq!(error.code, code::CONFIGURATION_LIMIT_EXCEEDED);
        assert_eq!(readers.guests().len(), 1);
        assert_eq!(readers.take_read(), [(OBJECT, Epoch(2))]);
        readers.dismiss(OBJECT, &SqlError::internal("gone"));
        assert_eq!(fast.advance(Epoch(3)).unwrap_err().message, "gone");
        assert_eq!(readers.take_unread(), [OBJECT]);
    }

    #[test]
    fn who_relies_on_a_reader_goes_no_further_back() {
        let readers = Readers::default();
        readers.advance(OBJECT, READER, Epoch(3));
        let coming = Coming { allowance: Allowance::Reader(READER), ..COMING };
        let early = readers.join_at(coming, Epoch(3)).expect("is kept");
        commit(&readers, 4, 10);
        commit(&readers, 6, 10);
        let late = readers.join_at(coming, Epoch(4)).expect("is kept");
        readers.advance(OBJECT, READER, Epoch(5));
        assert_eq!(early.advance(Epoch(3)).unwrap_err().code, "55000");
        // Nothing has changed in epoch 5.
        assert_eq!(late.advance(Epoch(4)), Ok(()));
        assert_eq!(readers.take_read(), [(OBJECT, Epoch(5))]);
        readers.advance(OBJECT, READER, Epoch(6));
        assert!(late.advance(Epoch(4)).is_err());
        // What was changed before the start is not known.
        let unknown = Readers::default();
        unknown.advance(OBJECT, READER, Epoch(3));
        let guest = unknown.join_at(coming, Epoch(3)).expect("is kept");
        commit(&unknown, 7, 10);
        unknown.advance(OBJECT, READER, Epoch(4));
        assert!(guest.advance(Epoch(3)).is_err());
    }

    #[test]
    fn sizes_of_many_epochs_are_never_too_small() {
        let mut sizes = Sizes::default();
        let epochs = 5 * SIZES_MAX as u64;
        for epoch in 1..=epochs {
            sizes.push(Epoch(epoch), 1);
        }
        assert!(sizes.up_to.len() <= SIZES_MAX);
        for done in 0..=epochs {
            assert!(sizes.after(Epoch(done)) >= epochs - done);
        }
        assert_eq!((sizes.after(Epoch(0)), sizes.after(Epoch(epochs))), (epochs, 0));
        sizes.forget(Epoch(epochs - 3));
        assert_eq!((sizes.after(Epoch(0)), sizes.after(Epoch(epochs))), (3, 0));
    }
}
