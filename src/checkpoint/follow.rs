//! Following a stored object: its rows first, in chunks, then its changes. Jobs that catch up and
//! sinks read like this.
//!
//! What must hold, wherever a [`Place`] is committed with what was made of it:
//!
//! ```text
//!  seen are exactly the object's rows with key <= position, as of epoch `done`
//!
//!    rows:      [ ...... seen ...... | position | ...... not yet ...... ]
//!    step:       changes of (done, now] with key <= position,
//!                then the next rows after position as of `now`
//! ```
//!
//! So every step may use the newest snapshot, and a restart goes on at the place: no old snapshot
//! is ever needed. The object keeps its changelog since an epoch no later than `done`.

use std::ops::Bound;

use serde::{Deserialize, Serialize};

use crate::error::SqlResult;
use crate::state::{RowLayout, Snapshot};
use crate::types::{Delta, Epoch, ObjectId, TableId};

/// Changelog entries read at a time.
const CHANGES: usize = 64;

/// How far into an object's keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Position {
    Start,
    /// All rows up to and including this key.
    After(Vec<u8>),
    End,
}

/// How far an object was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub position: Position,
    pub done: Epoch,
}

impl Place {
    /// Nothing was read.
    pub const START: Self = Self { position: Position::Start, done: Epoch(0) };
}

/// What comes next of an object.
#[derive(Debug)]
pub struct Step {
    /// What each of some epochs changed, in their order; or a chunk of rows.
    pub epochs: Vec<Vec<Delta>>,
    /// Where it goes on.
    pub place: Place,
    /// Rows that are no changes.
    pub rows: usize,
}

impl Step {
    /// All its deltas, in order.
    pub fn deltas(&self) -> impl Iterator<Item = &Delta> {
        self.epochs.iter().flatten()
    }
}

/// The next of `object`, whose rows lie as `layout` says, after `place`, towards `snapshot`: about
/// `rows_max` rows of changes, or if there are none, up to `rows_max` rows. `None`: it is there,
/// and nothing is left. May block for the disk.
pub fn next(
    snapshot: &Snapshot,
    object: ObjectId,
    layout: &RowLayout,
    place: &Place,
    rows_max: usize,
) -> SqlResult<Option<Step>> {
    if let Some(step) = changes(snapshot, object, layout, place, rows_max)? {
        return Ok(Some(step));
    }
    let from = match &place.position {
        Position::Start => Bound::Unbounded,
        Position::After(key) => Bound::Excluded(key.as_slice()),
        Position::End => return Ok(None),
    };
    let page = snapshot.page(TableId::contents(object), from, None, rows_max)?;
    let position = match page.last_key() {
        Some(last) if page.more => Position::After(last.to_vec()),
        _ => Position::End,
    };
    let rows = page.len();
    let epochs = match rows {
        0 => Vec::new(),
        _ => vec![vec![layout.decode(page.entries())?]],
    };
    let place = Place { position, done: snapshot.epoch() };
    Ok(Some(Step { epochs, place, rows }))
}

/// Changes of the rows that were seen already, in whole epochs.
fn changes(
    snapshot: &Snapshot,
    object: ObjectId,
    layout: &RowLayout,
    place: &Place,
    rows_max: usize,
) -> SqlResult<Option<Step>> {
    if place.position == Position::Start {
        return Ok(None);
    }
    let mut done = place.done;
    let mut rows = 0;
    let mut epochs: Vec<Vec<Delta>> = Vec::new();
    while rows < rows_max {
        let found = snapshot.changelog(object, done, CHANGES)?;
        if found.is_empty() {
            break;
        }
        for (epoch, delta) in found {
            if epoch > done || epochs.is_empty() {
                epochs.push(Vec::new());
                done = epoch;
            }
            let delta = layout.fitted(delta)?;
            rows += delta.rows();
            let seen = match &place.position {
                Position::After(position) => {
                    let keys = layout.keys(delta.batch())?;
                    let seen: Vec<bool> = keys.iter().map(|key| key <= position).collect();
                    delta.filter(&seen.into())?
                }
                _ => delta,
            };
            if let Some(last) = epochs.last_mut() {
                last.push(seen);
            }
        }
    }
    if epochs.is_empty() {
        return Ok(None);
    }
    let place = Place { position: place.position.clone(), done };
    Ok(Some(Step { epochs, place, rows: 0 }))
}
