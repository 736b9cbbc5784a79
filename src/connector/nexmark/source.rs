//! The walk through the event numbers.
//!
//! Cycles of 50 events belong to the splits in turn, so that every split has all kinds; a split's
//! position is the number of its next event. Of several splits the one that is furthest behind is
//! read next, so that events come in order however many there are.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;

use super::event::{CYCLE, Kind};
use super::options::NexmarkOptions;
use super::{auction, bid, person};
use crate::connector::pace::Pace;
use crate::connector::{Polled, Positions, Source, Then};
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

/// Event numbers that a poll looks at for each row that is asked for, whatever it finds: most
/// events are no persons.
const EVENTS_PER_ROW: u64 = 50;

/// The columns that events of a kind have.
fn columns(kind: Kind) -> &'static [(&'static str, SqlType)] {
    match kind {
        Kind::Person => person::COLUMNS,
        Kind::Auction => auction::COLUMNS,
        Kind::Bid => bid::COLUMNS,
    }
}

/// The source's schema: all columns, or those declared, which must be some of them.
pub fn schema(options: &NexmarkOptions, declared: Option<&Schema>) -> SqlResult<SchemaRef> {
    let columns = columns(options.kind);
    let Some(declared) = declared else {
        let fields: Vec<_> =
            columns.iter().map(|(name, sql_type)| sql_type.field(*name, true)).collect();
        return Ok(Arc::new(Schema::new(fields)));
    };
    for field in declared.fields() {
        let Some((_, sql_type)) = columns.iter().find(|(name, _)| name == field.name()) else {
            let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
            return Err(SqlError::new(
                code::UNDEFINED_COLUMN,
                format!("column \"{}\" does not exist in this Nexmark stream", field.name()),
            )
            .hint(format!("Its columns are: {}.", names.join(", "))));
        };
        let declared = SqlType::of_field(field);
        let is_text =
            |sql_type: &SqlType| matches!(sql_type, SqlType::Text | SqlType::Varchar(None));
        if declared != *sql_type && !(is_text(&declared) && is_text(sql_type)) {
            return Err(SqlError::new(
                code::DATATYPE_MISMATCH,
                format!("column \"{}\" is of type {sql_type}, not {declared}", field.name()),
            ));
        }
    }
    Ok(Arc::new(declared.clone()))
}

/// An open Nexmark stream.
pub struct NexmarkSource {
    options: NexmarkOptions,
    schema: SchemaRef,
    /// The next event of each split.
    next: Vec<u64>,
    pace: Pace,
}

impl NexmarkSource {
    /// At the beginning; `schema` is of [`schema`].
    pub fn new(options: NexmarkOptions, schema: SchemaRef) -> Self {
        let pace = Pace::new(options.rate);
        let next = (0..options.splits).map(|split| split * CYCLE).collect();
        Self { options, schema, next, pace }
    }

    /// Where each split stops: at the last event, or earlier where `until` says.
    fn ends(&self, until: Option<&Positions>) -> SqlResult<Vec<u64>> {
        let last = self.options.timeline.events;
        let Some(until) = until else { return Ok(vec![last; self.next.len()]) };
        let ends = self.parse(until)?;
        Ok(ends.into_iter().map(|end| end.min(last)).collect())
    }

    /// The event number of each split in `positions`.
    fn parse(&self, positions: &Positions) -> SqlResult<Vec<u64>> {
        let splits = self.options.splits;
        let mut next: Vec<u64> = (0..splits).map(|split| split * CYCLE).collect();
        for (split, position) in &positions.0 {
            let entry = split.parse().ok().and_then(|split: usize| next.get_mut(split));
            let (Some(entry), Ok(position)) = (entry, position.parse::<u64>()) else {
                return Err(SqlError::new(
                    code::DATA_CORRUPTED,
                    format!(
                        "a Nexmark source of {splits} splits has no position {split}:{position}"
                    ),
                ));
            };
            *entry = (*entry).max(position);
        }
        Ok(next)
    }

    /// The split to read next: of those before their end the one that is furthest behind.
    fn furthest_behind(&self, ends: &[u64]) -> Option<usize> {
        (0..self.next.len())
            .filter(|split| self.next[*split] < ends[*split])
            .min_by_key(|split| self.next[*split])
    }

    /// Walks on to at most `rows_max` events of the kind, none from `limit` on. Gives the events,
    /// and whether it stopped for the limit.
    fn walk(&mut self, rows_max: usize, ends: &[u64], limit: u64) -> (Vec<u64>, bool) {
        let mut events = Vec::with_capacity(rows_max);
        let mut budget = (rows_max as u64).saturating_mul(EVENTS_PER_ROW);
        while let Some(split) = self.furthest_behind(ends) {
            let from = self.next[split];
            if from >= limit {
                return (events, true);
            }
            if events.len() >= rows_max || budget == 0 {
                break;
            }
            let end_of_cycle = (from / CYCLE + 1) * CYCLE;
            let stop = end_of_cycle.min(ends[split]).min(limit);
            let reached = self.take(from..stop, rows_max, &mut events);
            budget = budget.saturating_sub(reached - from);
            self.next[split] = if reached == end_of_cycle {
                reached + (self.options.splits - 1) * CYCLE
            } else {
                reached
            };
        }
        (events, false)
    }

    /// Takes the events of the kind from `range`, which is in one cycle, until there are
    /// `rows_max`. Gives the number of the first that it did not look at.
    fn take(&self, range: std::ops::Range<u64>, rows_max: usize, events: &mut Vec<u64>) -> u64 {
        let (kind, timeline) = (self.options.kind, &self.options.timeline);
        if timeline.out_of_order > 1 {
            for k in range.clone() {
                if events.len() >= rows_max {
                    return k;
                }
                let event = timeline.shuffled(k);
                if kind.has(event) {
                    events.push(event);
                }
            }
            return range.end;
        }
        // In order, the places of the kind in the cycle are known.
        let cycle = range.start / CYCLE * CYCLE;
        let places = kind.places();
        let from = range.start.max(cycle + places.start);
        let to = range.end.min(cycle + places.end);
        let room = (rows_max - events.len()) as u64;
        if to.saturating_sub(from) > room {
            events.extend(from..from + room);
            return from + room;
        }
        events.extend(from..to);
        range.end
    }

    /// The rows of `events`.
    fn batch(&self, events: &[u64]) -> SqlResult<RecordBatch> {
        let column = |name: &String| -> SqlResult<ArrayRef> {
            let timeline = &self.options.timeline;
            let column = match self.options.kind {
                Kind::Person => person::column(name, events, timeline),
                Kind::Auction => auction::column(name, events, timeline),
                Kind::Bid => bid::column(name, events, timeline, self.options.compat),
            };
            column.ok_or_else(|| SqlError::internal(format!("no Nexmark column \"{name}\"")))
        };
        let columns: Vec<ArrayRef> = self
            .schema
            .fields()
            .iter()
            .map(|field| column(field.name()))
            .collect::<Result<_, _>>()?;
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

#[async_trait]
impl Source for NexmarkSource {
    async fn poll(&mut self, rows_max: usize, until: Option<&Positions>) -> SqlResult<Polled> {
        let ends = self.ends(until)?;
        let frontier = self.next.iter().copied().min().unwrap_or(0);
        let limit = if until.is_some() { u64::MAX } else { self.pace.limit(frontier) };
        let before = self.next.clone();
        let (events, paced) = self.walk(rows_max.max(1), &ends, limit);
        let batch = match self.batch(&events) {
            Ok(batch) => batch,
            Err(error) => {
                self.next = before;
                return Err(error);
            }
        };
        let then = if self.furthest_behind(&ends).is_none() {
            Then::End
        } else if paced {
            let frontier = self.next.iter().copied().min().unwrap_or(0);
            Then::Wait(self.pace.wait(frontier).max(Duration::from_millis(1)))
        } else {
            Then::More
        };
        Ok(Polled { batch, dead_letters: Vec::new(), then })
    }

    fn positions(&self) -> Positions {
        let positions = self.next.iter().enumerate();
        Positions(positions.map(|(split, next)| (split.to_string(), next.to_string())).collect())
    }

    fn seek(&mut self, positions: &Positions) -> SqlResult<()> {
        self.next = self.parse(positions)?;
        self.pace.restart();
        Ok(())
    }
}
