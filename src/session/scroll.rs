//! Cursors declared with SCROLL: they keep the rows that they have passed, to go back to them.
//!
//! ```text
//!  place   0        1       2       3         4
//!          before   row 1   row 2   row 3     after the last
//! ```
//!
//! A FETCH gives rows between its place and the next, and stays where it ends, as in PostgreSQL.
//! Rows are read from the query as far as a FETCH needs them. What is kept is bounded: a cursor
//! that passes more ends with an error.

use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};

use super::cursor::no_cursor;
use super::outcome::{Outcome, Rows, Tag};
use super::portal::State;
use super::session::Session;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::{Direction, Fetch};
use crate::types::take_rows;

/// What one cursor may keep.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// A query's rows, kept as they come.
#[derive(Debug)]
pub(super) struct Scroll {
    /// Those still to come.
    source: Rows,
    kept: Vec<RecordBatch>,
    /// How many are kept, and what they take.
    rows: u64,
    bytes: usize,
    /// Whether those kept are all.
    complete: bool,
    place: u64,
}

/// Rows from `first` to `last`, which are given in this order or the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    first: u64,
    last: u64,
    backwards: bool,
}

impl Span {
    const NONE: Span = Span { first: 1, last: 0, backwards: false };

    fn rows(self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }
}

impl Scroll {
    pub(super) fn new(source: Rows) -> Self {
        let kept = Vec::new();
        Self { source, kept, rows: 0, bytes: 0, complete: false, place: 0 }
    }

    /// Keeps rows up to number `row`, or all.
    async fn reach(&mut self, row: Option<u64>) -> SqlResult<()> {
        while !self.complete && row.is_none_or(|row| row > self.rows) {
            let Some(batch) = self.source.next(None).await? else {
                self.complete = true;
                return Ok(());
            };
            self.bytes += batch.get_array_memory_size();
            if self.bytes > KEPT_BYTES_MAX {
                return Err(SqlError::new(
                    code::OUT_OF_MEMORY,
                    "cursor has too many rows to scroll",
                )
                .detail(format!(
                    "A cursor with SCROLL keeps the rows that it has passed, up to {} MB.",
                    KEPT_BYTES_MAX >> 20
                ))
                .hint("Declare it with NO SCROLL, or let its query give fewer rows."));
            }
            self.rows += batch.num_rows() as u64;
            self.kept.push(batch);
        }
        Ok(())
    }

    /// Moves, and says which rows were met.
    async fn go(&mut self, direction: Direction) -> SqlResult<Span> {
        let one = |row| Span { first: row, last: row, backwards: false };
        let place = self.place;
        match direction {
            Direction::Forward(0) | Direction::Relative(0) => {
                let is_on_row = (1..=self.rows).contains(&place);
                Ok(if is_on_row { one(place) } else { Span::NONE })
            }
            Direction::Forward(count @ 1..) => {
                let target = place.saturating_add(count.unsigned_abs());
                self.reach(Some(target)).await?;
                self.place = target.min(self.rows + 1);
                let last = target.min(self.rows);
                Ok(Span { first: place + 1, last, backwards: false })
            }
            Direction::ForwardAll => {
                self.reach(None).await?;
                self.place = self.rows + 1;
                Ok(Span { first: place + 1, last: self.rows, backwards: false })
            }
            Direction::Forward(count) => Ok(self.back(count.unsigned_abs())),
            Direction::BackwardAll => Ok(self.back(u64::MAX)),
            Direction::First => self.to(Some(1)).await,
            Direction::Absolute(row @ 0..) => self.to(Some(row.unsigned_abs())).await,
            Direction::Relative(rows @ 1..) => {
                self.to(Some(place.saturating_add(rows.unsigned_abs()))).await
            }
            Direction::Relative(rows) => {
                self.to(Some(place.saturating_sub(rows.unsigned_abs()))).await
            }
            Direction::Last | Direction::Absolute(_) => {
                self.reach(None).await?;
                let from_end = match direction {
                    Direction::Absolute(row) => row.unsigned_abs(),
                    _ => 1,
                };
                self.to((self.rows + 1).checked_sub(from_end)).await
            }
        }
    }

    /// The rows before the place, `count` at most, the nearest first.
    fn back(&mut self, count: u64) -> Span {
        let last = self.place.saturating_sub(1);
        self.place = self.place.saturating_sub(count);
        Span { first: self.place.max(1), last, backwards: true }
    }

    /// The row at `place`, if there is one.
    async fn to(&mut self, place: Option<u64>) -> SqlResult<Span> {
        let place = place.unwrap_or(0);
        self.reach(Some(place)).await?;
        self.place = place.min(self.rows + 1);
        let is_row = (1..=self.rows).contains(&self.place);
        let row = self.place;
        Ok(if is_row { Span { first: row, last: row, backwards: false } } else { Span::NONE })
    }

    /// The rows of a span, in its order.
    fn take(&self, span: Span) -> SqlResult<Vec<RecordBatch>> {
        let mut batches = Vec::new();
        let mut before = 0;
        for batch in &self.kept {
            let rows = batch.num_rows() as u64;
            // As rows are numbered, this batch has those after `before`, `rows` of them.
            let (first, last) = (span.first.max(before + 1), span.last.min(before + rows));
            if first <= last {
                let (from, to) = (row(first - before - 1)?, row(last - before)?);
                batches.push(match span.backwards {
                    false => {
                        let (offset, length) = (from as usize, (to - from) as usize);
                        batch.slice(offset, length)
                    }
                    true => {
                        let indices: UInt32Array = (from..to).rev().collect();
                        take_rows(batch, &indices)?
                    }
                });
            }
            before += rows;
        }
        if span.backwards {
            batches.reverse();
        }
        Ok(batches)
    }
}

fn row(number: u64) -> SqlResult<u32> {
    u32::try_from(number).map_err(|_| SqlError::internal("a batch of more than 2^32 rows"))
}

impl Session {
    /// Whether a cursor keeps its rows.
    pub(super) fn is_scrolling(&self, cursor: &str) -> bool {
        let portal = self.portals.get(cursor);
        portal.is_some_and(|portal| matches!(portal.state, State::Scrolling(_)))
    }

    /// FETCH from a cursor that keeps its rows.
    pub(super) async fn scroll(&mut self, fetch: &Fetch) -> SqlResult<Outcome> {
        let (scroll, span) = self.moved(fetch).await?;
        let batches = scroll.take(span)?;
        let source = &scroll.source;
        let tag = Tag::Counted("FETCH");
        let mut rows = Rows::of_batches(Arc::clone(source.description()), tag, batches)
            .with_style(*source.style())
            .with_formats(source.formats().to_vec());
        rows.effects.clone_from(&source.effects);
        Ok(Outcome::Rows(Box::new(rows)))
    }

    /// MOVE in one.
    pub(super) async fn scroll_past(&mut self, fetch: &Fetch) -> SqlResult<Outcome> {
        let (_, span) = self.moved(fetch).await?;
        Ok(Outcome::Command(format!("MOVE {}", span.rows())))
    }

    async fn moved(&mut self, fetch: &Fetch) -> SqlResult<(&Scroll, Span)> {
        let name = &fetch.cursor;
        let portal = self.portals.get_mut(name).ok_or_else(|| no_cursor(name))?;
        let State::Scrolling(scroll) = &mut portal.state else {
            return Err(SqlError::internal("a cursor that does not scroll was asked to"));
        };
        let span = self.interrupts.race(scroll.go(fetch.direction)).await?;
        Ok((scroll, span))
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::Int64Type;

    use super::super::outcome::Description;
    use super::*;
    use crate::types::SqlType;

    /// Rows 1 to 5, in batches of 2, 2 and 1.
    fn scroll() -> Scroll {
        let description = Arc::new(Description::of(&[("n", SqlType::BigInt)]));
        let batches = [vec![1, 2], vec![3, 4], vec![5]].into_iter().map(|values| {
            let column = Arc::new(Int64Array::from(values));
            RecordBatch::try_new(Arc::clone(description.schema()), vec![column]).expect("fits")
        });
        let batches = batches.collect();
        Scroll::new(Rows::of_batches(description, Tag::Counted("FETCH"), batches))
    }

    async fn fetch(scroll: &mut Scroll, direction: Direction) -> Vec<i64> {
        let span = scroll.go(direction).await.expect("no error");
        let batches = scroll.take(span).expect("no error");
        let rows: Vec<i64> = batches
            .iter()
            .flat_map(|batch| batch.column(0).as_primitive::<Int64Type>().values().to_vec())
            .collect();
        assert_eq!(rows.len() as u64, span.rows());
        rows
    }

    #[tokio::test]
    async fn a_cursor_goes_where_it_is_told() {
        let mut scroll = scroll();
        for (direction, expected) in [
            (Direction::Forward(-1), &[][..]),
            (Direction::Forward(3), &[1, 2, 3]),
            (Direction::Forward(0), &[3]),
            (Direction::Forward(-5), &[2, 1]),
            (Direction::Relative(2), &[2]),
            (Direction::Last, &[5]),
            (Direction::Forward(1), &[]),
            (Direction::Forward(-1), &[5]),
            (Direction::ForwardAll, &[]),
            (Direction::BackwardAll, &[5, 4, 3, 2, 1]),
            (Direction::ForwardAll, &[1, 2, 3, 4, 5]),
            (Direction::Absolute(-2), &[4]),
            (Direction::Relative(-3), &[1]),
            (Direction::Absolute(i64::MIN), &[]),
            (Direction::First, &[1]),
            (Direction::Absolute(i64::MAX), &[]),
            (Direction::Forward(i64::MIN), &[5, 4, 3, 2, 1]),
            (Direction::Absolute(0), &[]),
            (Direction::Forward(i64::MAX), &[1, 2, 3, 4, 5]),
        ] {
            assert_eq!(fetch(&mut scroll, direction).await, expected, "{direction:?}");
        }
    }

    #[tokio::test]
    async fn only_what_is_needed_is_read() {
        let mut scroll = scroll();
        assert_eq!(fetch(&mut scroll, Direction::Forward(1)).await, [1]);
        assert_eq!((scroll.rows, scroll.complete), (2, false));
    }
}
