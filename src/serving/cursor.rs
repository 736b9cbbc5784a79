//! Reads a part of a table, a batch at a time: pages in, decoded rows out.
//!
//! A cursor is moved to a blocking thread for each batch and back (see `scan`), so it holds no
//! thread while nobody asks. What must hold: rows of a multiset come as often as their weight
//! says, but never more than a batch at a time, and nothing is read after the limit is reached.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::datatypes::SchemaRef;

use super::pushdown::KeyRange;
use super::rows::StoredRows;
use super::strict::Strict;
use crate::error::{SqlError, SqlResult, code};
use crate::state::RowLayout;
use crate::types::Delta;

/// What a cursor reads, and how it shows it.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) rows: Arc<dyn StoredRows>,
    pub(super) layout: Arc<RowLayout>,
    /// Stored columns to show, in order.
    pub(super) columns: Vec<usize>,
    /// Where those are if what is read is an index that lacks one of them.
    pub(super) beyond: Option<Beyond>,
    /// Schema of the shown columns.
    pub(super) schema: SchemaRef,
    /// What must not fail for the rows to be given at all.
    pub(super) strict: Option<Arc<Strict>>,
}

/// The rows of an object, to be found by those of an index.
#[derive(Debug)]
pub(super) struct Beyond {
    /// Columns of the index that tell a row.
    pub(super) key: Vec<usize>,
    /// How they make the row's key.
    pub(super) keys: RowLayout,
    pub(super) rows: Arc<dyn StoredRows>,
    pub(super) layout: Arc<RowLayout>,
}

impl Beyond {
    /// The object's rows to which those of the index belong.
    fn look(&self, indexed: &Delta) -> SqlResult<Delta> {
        let keys = self.keys.keys(&indexed.batch().project(&self.key)?)?;
        let values = self.rows.get_many(&keys)?;
        let found = keys.iter().zip(&values);
        let found = found.filter_map(|(key, value)| Some((key.as_slice(), value.as_deref()?)));
        Ok(self.layout.decode(found)?)
    }
}

/// What is left to read.
#[derive(Debug)]
pub(super) enum Work {
    Keys(VecDeque<Vec<u8>>),
    Ranges(VecDeque<KeyRange>),
}

/// A position in a reading.
#[derive(Debug)]
pub(super) struct Cursor {
    reading: Arc<Reading>,
    work: Work,
    /// Where the first range goes on.
    resume: Option<Vec<u8>>,
    /// Decoded rows that are not given yet.
    decoded: Option<Repeated>,
    rows_left: Option<usize>,
    batch_rows: usize,
    /// Looked at before the first row.
    strict: Option<Arc<Strict>>,
}

/// Rows with how often each is still to be given.
#[derive(Debug)]
struct Repeated {
    batch: RecordBatch,
    /// `None`: each once, and none given yet.
    weights: Option<Vec<i64>>,
    row: usize,
}

impl Cursor {
    /// `rows_max`: the limit, if there is one.
    pub(super) fn new(
        reading: Arc<Reading>,
        work: Work,
        rows_max: Option<usize>,
        batch_rows: usize,
    ) -> Self {
        Self {
            strict: reading.strict.clone(),
            reading,
            work,
            resume: None,
            decoded: None,
            rows_left: rows_max,
            batch_rows: batch_rows.max(1),
        }
    }

    /// The next rows; none at the end. Blocks for the disk.
    pub(super) fn next(&mut self) -> SqlResult<Option<RecordBatch>> {
        if let Some(strict) = self.strict.take() {
            strict.check()?;
        }
        loop {
            let wanted = self.rows_left.map_or(self.batch_rows, |left| left.min(self.batch_rows));
            if wanted == 0 {
                return Ok(None);
            }
            if let Some(decoded) = &mut self.decoded {
                match decoded.take(wanted)? {
                    Some(batch) => {
                        if let Some(left) = &mut self.rows_left {
                            *left -= batch.num_rows().min(*left);
                        }
                        return Ok(Some(batch));
                    }
                    None => self.decoded = None,
                }
            }
            if !self.read(wanted)? {
                return Ok(None);
            }
        }
    }

    /// Reads and decodes up to about `wanted` entries; false at the end.
    fn read(&mut self, wanted: usize) -> SqlResult<bool> {
        match &mut self.work {
            Work::Keys(keys) => {
                let count = keys.len().min(wanted);
                if count == 0 {
                    return Ok(false);
                }
                let keys: Vec<Vec<u8>> = keys.drain(..count).collect();
                let values = self.reading.rows.get_many(&keys)?;
                let found = keys
                    .iter()
                    .zip(&values)
                    .filter_map(|(key, value)| Some((key.as_slice(), value.as_deref()?)));
                self.decoded = Some(self.reading.decode(found)?);
                Ok(true)
            }
            Work::Ranges(_) => self.read_ranges(wanted),
        }
    }

    /// Small ranges are read together, for a batch is worth more than its call.
    fn read_ranges(&mut self, wanted: usize) -> SqlResult<bool> {
        let Work::Ranges(ranges) = &mut self.work else { return Ok(false) };
        let mut pages = Vec::new();
        let mut count = 0;
        while count < wanted
            && let Some(range) = ranges.front()
        {
            let from = match &self.resume {
                Some(resume) => Bound::Excluded(resume.as_slice()),
                None => Bound::Included(range.from.as_slice()),
            };
            let entries = self.reading.rows.page(from, range.to.as_deref(), wanted - count)?;
            self.resume = entries.resume;
            if self.resume.is_none() {
                ranges.pop_front();
            }
            if !entries.page.is_empty() {
                count += entries.page.len();
                pages.push(entries.page);
            }
        }
        if count == 0 {
            return Ok(false);
        }
        let entries = pages.iter().flat_map(|page| page.entries());
        self.decoded = Some(self.reading.decode(entries)?);
        Ok(true)
    }
}

impl Reading {
    fn decode<'a>(
        &self,
        entries: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) -> SqlResult<Repeated> {
        let (columns, rows, weights) = if self.columns.is_empty() && self.layout.is_keyed() {
            // Only how many there are.
            (Vec::new(), entries.count(), None)
        } else {
            let mut delta = self.layout.decode(entries)?;
            if let Some(beyond) = &self.beyond {
                delta = beyond.look(&delta)?;
            }
            let columns =
                self.columns.iter().map(|&column| Arc::clone(delta.batch().column(column)));
            (columns.collect(), delta.rows(), weights(&delta)?)
        };
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?;
        Ok(Repeated { batch, weights, row: 0 })
    }
}

fn weights(delta: &Delta) -> SqlResult<Option<Vec<i64>>> {
    let Some(weights) = delta.weights() else { return Ok(None) };
    if weights.iter().any(|weight| *weight < 1) {
        return Err(SqlError::new(code::DATA_CORRUPTED, "a stored row has a weight below 1"));
    }
    Ok(Some(weights.to_vec()))
}

impl Repeated {
    /// Up to `rows_max` rows; none when all were given.
    fn take(&mut self, rows_max: usize) -> SqlResult<Option<RecordBatch>> {
        let total = self.batch.num_rows();
        if self.row >= total {
            return Ok(None);
        }
        let Some(weights) = &mut self.weights else {
            let rows = rows_max.min(total - self.row);
            let batch = self.batch.slice(self.row, rows);
            self.row += rows;
            return Ok(Some(batch));
        };
        let mut indices = Vec::with_capacity(rows_max.min(total - self.row));
        while indices.len() < rows_max && self.row < total {
            let index = u32::try_from(self.row)
                .map_err(|_| SqlError::internal("a page of more than 2^32 rows"))?;
            let room = i64::try_from(rows_max - indices.len()).unwrap_or(i64::MAX);
            let given = weights[self.row].min(room);
            indices.extend((0..given).map(|_| index));
            weights[self.row] -= given;
            if weights[self.row] == 0 {
                self.row += 1;
            }
        }
        let indices = UInt32Array::from(indices);
        if self.batch.num_columns() == 0 {
            let options = RecordBatchOptions::new().with_row_count(Some(indices.len()));
            let schema = self.batch.schema();
            return Ok(Some(RecordBatch::try_new_with_options(schema, Vec::new(), &options)?));
        }
        Ok(Some(crate::types::take_rows(&self.batch, &indices)?))
    }
}
