//! The way through a partition: from a row that changed on, for as long as results change.

use std::ops::Range;

use datafusion::common::ScalarValue;

use super::super::OperatorError;
use super::super::keyed::packed;
use crate::expr::accumulator::{read_varint, write_varint};
use crate::state::{StateError, Table};
use crate::types::key::{KeyArena, KeyCodec};

/// Rows that get results at a time, about; copies of a row count.
pub(super) const PIECE_ROWS: usize = 8192;

/// Rows after the last change that are looked at first, where results go on from row to row.
const FIRST_ROWS: usize = 32;

/// What results look at.
#[derive(Debug)]
pub(super) struct Reach {
    /// So many rows before a row.
    pub(super) before: usize,
    /// ... and after it.
    pub(super) after: usize,
    /// Rows whose place in the order is so far from a row's.
    pub(super) distances: Option<Distances>,
    /// Results go on from the row before: what is behind a change may all be other.
    pub(super) running: bool,
    /// ... and peers have one result, or go on from the peers before.
    pub(super) peers: bool,
}

/// How far results look, in the values of the one column that orders rows.
#[derive(Debug)]
pub(super) struct Distances {
    /// Nothing: at a row's peers only.
    pub(super) before: Option<ScalarValue>,
    pub(super) after: Option<ScalarValue>,
    pub(super) descending: bool,
    /// Of that column.
    pub(super) codec: KeyCodec,
}

/// Whether rows behind or ahead of one are near it, by their values.
#[derive(Debug)]
enum Edge {
    /// Values do not matter.
    Nowhere,
    /// Up to these values of the order, encoded.
    At(Vec<u8>),
    /// All of them.
    Everywhere,
}

impl Edge {
    /// Whether an entry before the one whose edge it is is near it.
    fn holds_before(&self, entry: &[u8]) -> bool {
        match self {
            Self::Nowhere => false,
            Self::At(order) => entry >= order.as_slice(),
            Self::Everywhere => true,
        }
    }

    /// ... and one after it.
    fn holds_after(&self, entry: &[u8]) -> bool {
        match self {
            Self::Nowhere => false,
            Self::At(order) => entry.starts_with(order) || entry < order.as_slice(),
            Self::Everywhere => true,
        }
    }
}

impl Reach {
    /// The edge that is so far before a row at `order` (encoded), or after it.
    fn edge(
        &self,
        order: &[u8],
        before: bool,
        distance: impl Fn(&Distances) -> &Option<ScalarValue>,
    ) -> Result<Edge, OperatorError> {
        let Some(distances) = &self.distances else { return Ok(Edge::Nowhere) };
        let column = distances.codec.decode([order])?.remove(0);
        let value = ScalarValue::try_from_array(&column, 0)?;
        // Rows without a value are near each other only.
        let Some(distance) = distance(distances).as_ref().filter(|_| !value.is_null()) else {
            return Ok(Edge::At(order.to_vec()));
        };
        let moved = match before == distances.descending {
            true => value.add_checked(distance),
            false => value.sub_checked(distance),
        };
        // What is out of the type's range is farther than all values.
        let Ok(moved) = moved else { return Ok(Edge::Everywhere) };
        let encoded = distances.codec.encode_columns(&[moved.to_array()?], 1)?;
        Ok(Edge::At(encoded.row(0).data().to_vec()))
    }

    /// The edge of what a row at `order` looks back at.
    fn seen_before(&self, order: &[u8]) -> Result<Edge, OperatorError> {
        self.edge(order, true, |distances| &distances.before)
    }

    /// The edge of what a row at `order` looks ahead at.
    fn seen_after(&self, order: &[u8]) -> Result<Edge, OperatorError> {
        self.edge(order, false, |distances| &distances.after)
    }

    /// The edge of the rows before one at `order` that look at it.
    fn seeing_before(&self, order: &[u8]) -> Result<Edge, OperatorError> {
        self.edge(order, true, |distances| &distances.after)
    }

    /// The edge of the rows after one at `order` that look at it.
    fn seeing_after(&self, order: &[u8]) -> Result<Edge, OperatorError> {
        self.edge(order, false, |distances| &distances.before)
    }
}

/// A row's value.
pub(super) struct Stored<'a> {
    /// Bytes of the entry that are the order's.
    pub(super) order: usize,
    pub(super) weight: i64,
    /// Packed.
    pub(super) results: &'a [u8],
}

impl<'a> Stored<'a> {
    pub(super) fn read(mut bytes: &'a [u8]) -> Result<Self, StateError> {
        let mut read = || {
            let order = read_varint(&mut bytes)?;
            let weight = read_varint(&mut bytes)?;
            Some(Self { order, weight, results: bytes })
        };
        read().ok_or_else(|| StateError::Corrupt {
            place: "the rows of a window".into(),
            reason: "not a weight and results".into(),
        })
    }

    /// Sets `bytes` to what [`Stored::read`] reads.
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        write_varint(self.order as i128, bytes);
        write_varint(i128::from(self.weight), bytes);
        bytes.extend_from_slice(self.results);
    }
}

/// The keys of the rows that an epoch changed.
#[derive(Debug, Default)]
pub(super) struct Touched {
    keys: KeyArena,
    /// How many bytes of each are its partition's.
    prefixes: Vec<usize>,
    /// The keys in order, each once.
    sorted: Vec<u32>,
}

impl Touched {
    /// Adds a key, whose first `prefix` bytes are its partition's.
    pub(super) fn push(&mut self, key: &[u8], prefix: usize) {
        self.keys.push(&[key]);
        self.prefixes.push(prefix);
    }

    /// Every partition (`vnode | partition`), and which of the keys in order are its.
    pub(super) fn partitions(&mut self) -> Vec<(Vec<u8>, Range<usize>)> {
        let Self { keys, prefixes, sorted } = self;
        *sorted = (0u32..).take(keys.len()).collect();
        let key = |index: &u32| keys.get(*index as usize);
        sorted.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        sorted.dedup_by(|a, b| key(a) == key(b));
        let prefix = |index: &u32| &key(index)[..prefixes[*index as usize]];
        let mut start = 0;
        let partitions = sorted.chunk_by(|a, b| prefix(a) == prefix(b)).map(|part| {
            let keys = start..start + part.len();
            start = keys.end;
            (prefix(&part[0]).to_vec(), keys)
        });
        partitions.collect()
    }

    /// The key at a place in the order.
    fn key(&self, index: usize) -> &[u8] {
        self.keys.get(self.sorted[index] as usize)
    }
}

/// What all sweeps of an operator share.
pub(super) struct Ground<'a> {
    pub(super) touched: &'a Touched,
    pub(super) reach: &'a Reach,
    pub(super) table: &'a mut Table,
}

/// Rows of a partition, in their order.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) entries: KeyArena,
    /// Bytes of each entry that are the order's.
    pub(super) orders: Vec<usize>,
    /// How often each row is there. Never: it has gone, and its results are still stored.
    pub(super) copies: Vec<usize>,
    /// Results as stored, packed.
    pub(super) old: KeyArena,
    /// The rows whose results the piece tells: it has all that they look at.
    pub(super) body: Range<usize>,
    /// No row behind the body looks at a change that is met in it.
    is_far: bool,
    /// The entry behind the piece, and how many bytes of it are the order's; `None`: the partition
    /// ends with the piece.
    following: Option<(Vec<u8>, usize)>,
}

impl Piece {
    /// Rows, copies counted.
    pub(super) fn rows(&self) -> usize {
        self.copies.iter().sum()
    }

    fn order(&self, row: usize) -> &[u8] {
        &self.entries.get(row)[..self.orders[row]]
    }
}

/// Where a piece begins.
#[derive(Debug, Default)]
struct Start {
    /// The entry of its first row.
    first: Vec<u8>,
    /// ... and of the first that gets results.
    body: Vec<u8>,
    /// The results of the row before `first`, if there is one and results go on from there.
    carry: Option<Vec<u8>>,
}

/// The way through one partition.
pub(super) struct Sweep {
    /// `vnode | partition`
    pub(super) prefix: Vec<u8>,
    /// Which of the touched keys are still ahead.
    changes: Range<usize>,
    /// The partition has failed until now: no results are stored, all rows are taken for changed.
    pub(super) whole: bool,
    start: Start,
    /// Rows since the last change; `None`: none has been met.
    since: Option<usize>,
    /// The order of the last change.
    change: Vec<u8>,
    /// Rows behind a change that are looked at next.
    ahead: usize,
}

impl Sweep {
    /// Through the partition of `prefix`, which has the touched keys `changes`. `whole`: no results
    /// are stored there.
    pub(super) fn new(
        prefix: Vec<u8>,
        changes: Range<usize>,
        whole: bool,
        ground: &mut Ground<'_>,
    ) -> Result<Self, OperatorError> {
        let start = Start::default();
        let (since, change) = (None, Vec::new());
        let mut sweep = Self { prefix, changes, whole, start, since, change, ahead: FIRST_ROWS };
        if !whole {
            sweep.begin(ground)?;
        }
        Ok(sweep)
    }

    /// The results of the row before the next piece, encoded.
    pub(super) fn carry(&self) -> Option<&[u8]> {
        self.start.carry.as_deref()
    }

    /// Goes to the next change: back to the first row whose results it may decide, and from there
    /// to the first row that these look at.
    fn begin(&mut self, ground: &mut Ground<'_>) -> Result<(), OperatorError> {
        let Ground { touched, reach, table } = ground;
        let (prefix, change) = (self.prefix.as_slice(), touched.key(self.changes.start));
        let entry = &change[prefix.len()..];
        let value = table.get_many(&[change])?.pop().flatten().unwrap_or_default();
        let order = entry[..Stored::read(&value)?.order].to_vec();
        let mut going = Going {
            start: Start { first: entry.to_vec(), body: entry.to_vec(), carry: None },
            at: At::Body,
            passed: 0,
            edge: reach.seeing_before(&order)?,
            order,
            reach,
        };
        let mut result = Ok(());
        table.scan_back(prefix, Some(change), &mut |key, value| {
            let visited = Stored::read(value)
                .map_err(OperatorError::from)
                .and_then(|stored| going.visit(&key[prefix.len()..], &stored));
            visited.unwrap_or_else(|error| {
                result = Err(error);
                false
            })
        })?;
        result?;
        (self.start, self.since, self.ahead) = (going.start, None, FIRST_ROWS);
        Ok(())
    }

    /// The next piece.
    pub(super) fn read(&mut self, ground: &mut Ground<'_>) -> Result<Piece, OperatorError> {
        let Ground { touched, reach, table } = ground;
        let mut reading = Reading {
            piece: Piece::default(),
            at: At::Lead,
            is_full: false,
            passed: 0,
            since: self.since,
            seeing: None,
            change: self.change.clone(),
            edge: Edge::Nowhere,
            unchanged: 0,
            ahead: if reach.running { self.ahead } else { 0 },
            reach,
        };
        let Self { prefix, changes, whole, start, .. } = self;
        let from = [prefix.as_slice(), &start.first].concat();
        let mut result = Ok(());
        table.scan_from(prefix, &from, &mut |key, value| {
            let entry = &key[prefix.len()..];
            let known = changes.start < changes.end && touched.key(changes.start) == key;
            let visited = Stored::read(value)
                .map_err(OperatorError::from)
                .and_then(|stored| reading.visit(entry, &stored, *whole || known, &start.body));
            if reading.at == At::Body {
                changes.start += usize::from(known);
            }
            visited.unwrap_or_else(|error| {
                result = Err(error);
                false
            })
        })?;
        result?;
        let Reading { mut piece, at, since, change, .. } = reading;
        let rows = piece.entries.len();
        if at == At::Lead {
            piece.body = rows..rows;
        }
        if piece.following.is_none() {
            piece.body.end = rows;
        }
        (self.since, self.change) = (since, change);
        Ok(piece)
    }

    /// Goes on behind `piece`, the results of whose body are `new`, packed. False: there is nothing
    /// more to do.
    pub(super) fn advance(
        &mut self,
        piece: &Piece,
        new: &KeyArena,
        ground: &mut Ground<'_>,
    ) -> Result<bool, OperatorError> {
        let Some((following, following_order)) = &piece.following else { return Ok(false) };
        let reach = ground.reach;
        let near_are_done = self.since.is_some_and(|since| since >= reach.before);
        let is_done =
            !self.whole && near_are_done && (!reach.running || self.is_stable(piece, new, ground));
        if is_done && self.changes.is_empty() {
            return Ok(false);
        }
        if is_done {
            self.begin(ground)?;
            return Ok(true);
        }
        let rows = piece.entries.len();
        let entry = |row: usize| if row < rows { piece.entries.get(row) } else { following };
        let body = entry(piece.body.end);
        let order = piece.orders.get(piece.body.end).unwrap_or(following_order);
        let edge = reach.seen_before(&body[..*order])?;
        let (mut first, mut passed) = (piece.body.end, 0);
        while let Some(row) = first.checked_sub(1) {
            let is_peer = reach.peers && entry(first).starts_with(piece.order(row));
            let is_seen = passed < reach.before || edge.holds_before(piece.entries.get(row));
            if !is_seen && !is_peer {
                break;
            }
            passed += piece.copies[row];
            first = row;
        }
        // Without rows before it in the piece, it begins where the piece did.
        if let Some(row) = (0..first).rev().find(|&row| piece.copies[row] > 0) {
            let results = match row.checked_sub(piece.body.start) {
                Some(in_body) => new.get(in_body),
                None => piece.old.get(row),
            };
            self.start.carry = reach.running.then(|| last_result(results)).flatten();
        }
        self.start.first = entry(first).to_vec();
        self.start.body = body.to_vec();
        self.ahead = (self.ahead * 8).min(PIECE_ROWS);
        Ok(true)
    }

    /// Whether all results behind `piece` are as stored, up to the next change: its last row is
    /// behind the last change and that one's peers, and has the results that it had.
    fn is_stable(&self, piece: &Piece, new: &KeyArena, ground: &Ground<'_>) -> bool {
        let change = &ground.touched.key(self.changes.start - 1)[self.prefix.len()..];
        let Some(last) = piece.body.clone().next_back() else { return false };
        let is_behind = match ground.reach.peers {
            true => !change.starts_with(piece.order(last)),
            false => change != piece.entries.get(last),
        };
        is_behind
            && piece.copies[last] > 0
            && piece.old.get(last) == new.get(last - piece.body.start)
    }
}

/// Where in a piece a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// Before those that get results.
    Lead,
    Body,
    /// Behind them.
    Tail,
}

/// Where a sweep begins, being looked for: rows are passed backwards.
struct Going<'a> {
    start: Start,
    /// In the body: before the change; or in the lead.
    at: At,
    /// Rows passed there.
    passed: usize,
    /// What is there by its values.
    edge: Edge,
    /// The order of the row that was passed last.
    order: Vec<u8>,
    reach: &'a Reach,
}

impl Going<'_> {
    /// Passes a row; false if the piece begins behind it.
    fn visit(&mut self, entry: &[u8], stored: &Stored<'_>) -> Result<bool, OperatorError> {
        let is_peer = self.reach.peers && entry.starts_with(&self.order);
        if self.at == At::Body
            && self.passed >= self.reach.after
            && !self.edge.holds_before(entry)
            && !is_peer
        {
            (self.at, self.passed) = (At::Lead, 0);
            self.edge = self.reach.seen_before(&self.order)?;
        }
        if self.at == At::Lead
            && self.passed >= self.reach.before
            && !self.edge.holds_before(entry)
            && !is_peer
        {
            let goes_on = self.reach.running;
            self.start.carry = goes_on.then(|| last_result(stored.results)).flatten();
            return Ok(false);
        }
        self.passed += usize::try_from(stored.weight).unwrap_or(0);
        set(&mut self.start.first, entry);
        if self.at == At::Body {
            set(&mut self.start.body, entry);
        }
        set(&mut self.order, &entry[..stored.order]);
        Ok(true)
    }
}

/// A piece being read.
struct Reading<'a> {
    piece: Piece,
    at: At,
    /// The body has as many rows as it may.
    is_full: bool,
    /// Rows passed in the body, or in the tail.
    passed: usize,
    since: Option<usize>,
    /// The order of the last change.
    change: Vec<u8>,
    /// The edge of what looks at the last change, once somebody asked.
    seeing: Option<Edge>,
    /// The edge of what the body's last row looks at.
    edge: Edge,
    /// Rows of the body since the last change in it.
    unchanged: usize,
    /// So many of them belong to the body.
    ahead: usize,
    reach: &'a Reach,
}

impl Reading<'_> {
    /// Adds a row; false if the piece ends before it.
    fn visit(
        &mut self,
        entry: &[u8],
        stored: &Stored<'_>,
        changed: bool,
        body: &[u8],
    ) -> Result<bool, OperatorError> {
        let copies = usize::try_from(stored.weight).map_err(|_| {
            let text = "a row of a window is there a negative number of times";
            OperatorError::Invariant(text.to_owned())
        })?;
        let row = self.piece.entries.len();
        if self.at == At::Lead && entry >= body {
            (self.at, self.piece.body) = (At::Body, row..row);
        }
        if self.at == At::Body && row > self.piece.body.start {
            self.end_body(entry, changed)?;
        }
        if self.at == At::Tail {
            if changed && !self.is_full {
                // What lies between two changes that are near each other belongs to one body.
                self.at = At::Body;
            } else if self.passed >= self.reach.after && !self.edge.holds_after(entry) {
                self.piece.following = Some((entry.to_vec(), stored.order));
                return Ok(false);
            }
        }
        self.passed += copies;
        if self.at == At::Body {
            self.since = if changed { Some(0) } else { self.since.map(|since| since + copies) };
            self.unchanged = if changed { 0 } else { self.unchanged + copies };
            if changed {
                self.seeing = None;
                set(&mut self.change, &entry[..stored.order]);
            }
        }
        self.piece.entries.push(&[entry]);
        self.piece.orders.push(stored.order);
        self.piece.copies.push(copies);
        self.piece.old.push(&[stored.results]);
        Ok(true)
    }

    /// Ends the body before a row, if it may end there.
    fn end_body(&mut self, entry: &[u8], changed: bool) -> Result<(), OperatorError> {
        let row = self.piece.entries.len();
        if self.reach.peers && entry.starts_with(self.piece.order(row - 1)) {
            return Ok(());
        }
        let mut is_far = !changed
            && self.unchanged >= self.ahead
            && self.since.is_some_and(|since| since >= self.reach.before);
        if is_far {
            let seeing = match self.seeing.take() {
                Some(seeing) => seeing,
                None => self.reach.seeing_after(&self.change)?,
            };
            is_far = !seeing.holds_after(entry);
            self.seeing = Some(seeing);
        }
        self.is_full = self.passed >= PIECE_ROWS;
        if self.is_full || is_far {
            self.edge = self.reach.seen_after(self.piece.order(row - 1))?;
            (self.at, self.piece.body.end, self.passed) = (At::Tail, row, 0);
            self.piece.is_far = is_far;
        }
        Ok(())
    }
}

/// Sets `bytes` to `to`, in place.
fn set(bytes: &mut Vec<u8>, to: &[u8]) {
    bytes.clear();
    bytes.extend_from_slice(to);
}

/// The last of packed results.
fn last_result(results: &[u8]) -> Option<Vec<u8>> {
    packed::rows(results).last().map(|(_, result)| result.to_vec())
}
