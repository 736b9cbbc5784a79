//! The walk through the row numbers: one split, whose position is the next row's number.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;

use super::options::DatagenOptions;
use crate::connector::pace::Pace;
use crate::connector::{Polled, Positions, Source, Then};
use crate::error::{SqlError, SqlResult, code};

const SPLIT: &str = "0";

/// An open generator.
pub struct DatagenSource {
    options: DatagenOptions,
    schema: SchemaRef,
    /// The number of the next row.
    next: u64,
    pace: Pace,
}

impl DatagenSource {
    /// At the beginning; `options` were read for this schema.
    pub fn new(options: DatagenOptions, schema: SchemaRef) -> Self {
        let pace = Pace::new(options.rows_per_second);
        Self { options, schema, next: 0, pace }
    }
}

fn parse(positions: &Positions) -> SqlResult<u64> {
    let mut next = 0;
    for (split, position) in &positions.0 {
        next = match position.parse() {
            Ok(position) if split == SPLIT => position,
            _ => {
                let message = format!("a datagen source has no position {split}:{position}");
                return Err(SqlError::new(code::DATA_CORRUPTED, message));
            }
        };
    }
    Ok(next)
}

#[async_trait]
impl Source for DatagenSource {
    async fn poll(&mut self, rows_max: usize, until: Option<&Positions>) -> SqlResult<Polled> {
        let last = self.options.rows.unwrap_or(u64::MAX);
        let (end, due) = match until {
            Some(until) => (parse(until)?.min(last), u64::MAX),
            None => (last, self.pace.limit(self.next)),
        };
        let stop = self.next.saturating_add(rows_max.max(1) as u64).min(end).min(due);
        let stop = stop.max(self.next);
        let columns = self.options.columns.iter();
        let columns: Vec<ArrayRef> =
            columns.map(|column| column.array(self.next..stop)).collect::<SqlResult<_>>()?;
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        self.next = stop;
        let then = if stop >= end {
            Then::End
        } else if stop >= due {
            Then::Wait(self.pace.wait(stop))
        } else {
            Then::More
        };
        Ok(Polled { batch, dead_letters: Vec::new(), then })
    }

    fn positions(&self) -> Positions {
        Positions(BTreeMap::from([(SPLIT.to_owned(), self.next.to_string())]))
    }

    fn seek(&mut self, positions: &Positions) -> SqlResult<()> {
        self.next = parse(positions)?;
        self.pace.restart();
        Ok(())
    }
}
