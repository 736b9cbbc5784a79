//! Where sequences stand: numbers that are given once, whatever crashes.
//!
//! ```text
//!  memory:   last ──────► given next ... (ahead)
//!  disk:     last ────────────────────────────► reserved: the last that may have been given
//! ```
//!
//! What must hold: a number is given only when the disk says that it may have been. So before
//! numbers run out a range of them is reserved by one small commit of metadata, and a restart goes
//! on behind it: what of it was not given is a gap, as PostgreSQL has them after a crash. A stop
//! writes down where each sequence stands, and leaves none.
//!
//! No number comes back by a ROLLBACK. Only TRUNCATE ... RESTART IDENTITY is undone with its
//! transaction: until that is durable the old place is kept, and the disk still has it.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use parking_lot::Mutex;

use super::Engine;
use crate::catalog::Object;
use crate::catalog::pg::{Numbering, Standing};
use crate::catalog::sequence::{Position, Sequence};
use crate::error::{SqlError, SqlResult};
use crate::state::{Commit, MetaEntry, Store};
use crate::task;
use crate::types::{Epoch, ObjectId};

/// Numbers that are reserved beyond those that are wanted: as many as PostgreSQL logs ahead. One
/// synced commit for 33 rows inserted one by one is lost beside the commit that each of them waits
/// for, and what a crash leaves out stays small.
const AHEAD: u64 = 32;

/// Where a sequence's reserved place is kept.
pub(super) fn sequence_key(sequence: ObjectId) -> Vec<u8> {
    [b"sequence/".as_slice(), &sequence.0.to_be_bytes()].concat()
}

/// A sequence's place on disk.
pub(super) fn written(sequence: ObjectId, position: Position) -> SqlResult<MetaEntry> {
    let value = serde_json::to_vec(&position)
        .map_err(|error| SqlError::internal(format!("a sequence's place: {error}")))?;
    Ok((sequence_key(sequence), Some(value)))
}

/// All sequences that were used since the start.
pub struct Sequences {
    store: Store,
    places: Mutex<HashMap<ObjectId, Arc<Mutex<Place>>>>,
}

/// One sequence.
struct Place {
    position: Position,
    /// How many numbers after `position` are reserved, in steps of `increment`.
    ahead: u64,
    increment: i64,
    /// The last number that may have been given, as the disk has it.
    reserved: Option<i64>,
    /// Where it stood before a RESTART that is not durable yet. The disk keeps that place, or is
    /// ahead of it where more was given since.
    before: Option<(Position, u64)>,
}

impl Place {
    fn at(position: Position, reserved: Option<i64>) -> Self {
        Self { position, ahead: 0, increment: 0, reserved, before: None }
    }

    /// Whether the disk does not know yet that `number` may have been given.
    fn is_past(&self, number: i64, increment: i64) -> bool {
        self.reserved.is_none_or(|reserved| match increment > 0 {
            true => number > reserved,
            false => number < reserved,
        })
    }
}

impl fmt::Debug for Sequences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sequences")
    }
}

impl Sequences {
    pub(super) fn new(store: Store) -> Self {
        Self { store, places: Mutex::default() }
    }

    fn place(&self, object: &Object) -> SqlResult<Arc<Mutex<Place>>> {
        if let Some(known) = self.places.lock().get(&object.id) {
            return Ok(Arc::clone(known));
        }
        let kept = self.store.snapshot().meta(&sequence_key(object.id))?;
        let kept: Option<Position> =
            kept.map(|bytes| serde_json::from_slice(&bytes))
                .transpose()
                .map_err(|error| SqlError::internal(format!("a sequence's place: {error}")))?;
        let position = match kept {
            None => definition(object)?.beginning(),
            Some(kept) => kept,
        };
        let place = Place::at(position, given_up_to(position));
        // Another may have been faster, and its place is what counts.
        let mut places = self.places.lock();
        Ok(Arc::clone(places.entry(object.id).or_insert_with(|| Arc::new(Mutex::new(place)))))
    }

    /// Writes down that numbers up to `position` may have been given.
    fn reserve(&self, sequence: ObjectId, place: &mut Place, position: Position) -> SqlResult<()> {
        let meta = vec![written(sequence, position)?];
        self.store.commit(Commit { meta, ..Commit::default() })?;
        place.reserved = given_up_to(position);
        Ok(())
    }

    /// Lets sequences begin anew, until it is known whether that is so.
    pub(super) fn restart(self: &Arc<Self>, objects: Vec<Arc<Object>>) -> SqlResult<Restart> {
        let mut restart = Restart { sequences: Arc::clone(self), objects: Vec::new() };
        for object in objects {
            let beginning = definition(&object)?.beginning();
            let place = self.place(&object)?;
            let mut place = place.lock();
            let before = (place.position, place.ahead);
            // A second RESTART in a transaction is undone with the first.
            if place.before.is_none() {
                place.before = Some(before);
                restart.objects.push(Arc::clone(&object));
            }
            (place.position, place.ahead) = (beginning, 0);
        }
        Ok(restart)
    }

    /// Lets a sequence go on from elsewhere, or, `None`, from where it is, with nothing reserved:
    /// by other rules than before. May block for the disk.
    pub(super) fn rebase(&self, object: &Object, to: Option<Position>) -> SqlResult<()> {
        let place = self.place(object)?;
        let mut place = place.lock();
        if let Some((_, reserved)) = &mut place.before {
            // A RESTART is under way, and its transaction's end will write.
            *reserved = 0;
            place.position = to.unwrap_or(place.position);
            return Ok(());
        }
        let position = to.unwrap_or(place.position);
        self.reserve(object.id, &mut place, position)?;
        *place = Place::at(position, place.reserved);
        Ok(())
    }

    /// Forgets what is known of a sequence that was dropped.
    pub(super) fn forget(&self, sequence: ObjectId) {
        self.places.lock().remove(&sequence);
    }

    /// Writes down where the sequences stand, so that the next start goes on right there. Nothing
    /// is given after that without being reserved again.
    pub(super) fn settle(&self) -> SqlResult<()> {
        let places: Vec<_> =
            self.places.lock().iter().map(|(id, p)| (*id, Arc::clone(p))).collect();
        let mut meta = Vec::new();
        for (id, place) in places {
            let mut place = place.lock();
            if place.ahead > 0 && place.before.is_none() {
                meta.push(written(id, place.position)?);
                place.ahead = 0;
                place.reserved = given_up_to(place.position);
            }
        }
        if !meta.is_empty() {
            self.store.commit(Commit { meta, ..Commit::default() })?;
        }
        Ok(())
    }
}

/// The last number that was given by one who stands there.
fn given_up_to(position: Position) -> Option<i64> {
    position.called.then_some(position.last)
}

fn definition(object: &Object) -> SqlResult<&Sequence> {
    object
        .sequence()
        .ok_or_else(|| SqlError::internal(format!("{} is no sequence", object.name.name)))
}

impl Numbering for Sequences {
    fn take(&self, object: &Object, count: usize) -> SqlResult<Vec<i64>> {
        let sequence = definition(object)?;
        let place = self.place(object)?;
        let mut numbers = Vec::with_capacity(count);
        let mut place = place.lock();
        if place.increment != sequence.increment {
            // What was reserved by other rules says nothing of these numbers.
            (place.ahead, place.increment) = (0, sequence.increment);
        }
        while numbers.len() < count {
            let wanted = (count - numbers.len()) as u64;
            if place.before.is_some() {
                let (next, given) = sequence.after(place.position, wanted);
                if given == 0 {
                    place.position = around(sequence, object)?;
                    continue;
                }
                if place.is_past(next.last, sequence.increment) {
                    let (reserved, _) = sequence.after(next, AHEAD);
                    self.reserve(object.id, &mut place, reserved)?;
                }
                sequence.push_numbers(place.position, given, &mut numbers);
                place.position = next;
                continue;
            }
            if place.ahead < wanted {
                let cache = u64::try_from(sequence.cache).unwrap_or(1);
                let far = wanted.saturating_add(AHEAD.max(cache));
                let (reserved, there) = sequence.after(place.position, far);
                if there == 0 {
                    place.position = around(sequence, object)?;
                    continue;
                }
                if there > place.ahead {
                    self.reserve(object.id, &mut place, reserved)?;
                    place.ahead = there;
                }
            }
            let (next, given) = sequence.after(place.position, wanted.min(place.ahead));
            sequence.push_numbers(place.position, given, &mut numbers);
            place.position = next;
            // There may be fewer than are reserved: the end was moved.
            place.ahead = if given == 0 { 0 } else { place.ahead - given };
        }
        Ok(numbers)
    }

    fn set(&self, object: &Object, position: Position) -> SqlResult<()> {
        self.rebase(object, Some(position))
    }

    fn standing(&self, object: &Object) -> SqlResult<Standing> {
        let place = self.place(object)?;
        let place = place.lock();
        Ok(Standing { position: place.position, ahead: place.ahead })
    }
}

fn around(sequence: &Sequence, object: &Object) -> SqlResult<Position> {
    sequence.around().ok_or_else(|| sequence.exhausted(&object.name.name))
}

impl Engine {
    /// Lets sequences begin anew when `epoch` is durable, and gives the end of that.
    pub fn let_restart(
        self: &Arc<Self>,
        restarts: Vec<Restart>,
        epoch: Option<Epoch>,
    ) -> impl Future<Output = SqlResult<()>> + use<> {
        let engine = Arc::clone(self);
        let standing = task::spawn("restart of sequences", async move {
            if let Some(epoch) = epoch {
                engine.committed(epoch).await?;
            }
            let stand = move || restarts.into_iter().try_for_each(Restart::stands);
            let stood = task::spawn_blocking(stand).await;
            stood.map_err(|panic| SqlError::internal(format!("sequences: {panic}")))?
        });
        async move {
            let ended = |panic| SqlError::internal(format!("sequences: {panic}"));
            standing.await.map_err(ended)?
        }
    }
}

/// Sequences that begin anew if their transaction comes through, and else go on as before.
pub struct Restart {
    sequences: Arc<Sequences>,
    objects: Vec<Arc<Object>>,
}

impl Restart {
    /// What it belongs to is durable. May block for the disk.
    pub(super) fn stands(mut self) -> SqlResult<()> {
        for object in std::mem::take(&mut self.objects) {
            let place = self.sequences.place(&object)?;
            let mut place = place.lock();
            if place.before.is_some() {
                let (reserved, ahead) = definition(&object)?.after(place.position, AHEAD);
                // Without it the old place counts, from which numbers go on without harm.
                self.sequences.reserve(object.id, &mut place, reserved)?;
                place.ahead = ahead;
                place.before = None;
            }
        }
        Ok(())
    }
}

impl Drop for Restart {
    fn drop(&mut self) {
        let places = self.sequences.places.lock();
        for place in self.objects.iter().filter_map(|object| places.get(&object.id)) {
            let mut place = place.lock();
            if let Some((position, ahead)) = place.before.take() {
                (place.position, place.ahead) = (position, ahead);
            }
        }
    }
}
