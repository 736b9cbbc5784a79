//! Generated columns of a source: computed from the columns that its connector gives, batch by
//! batch. A row for which one fails is a dead letter, as a record that cannot be read is.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, new_null_array};
use arrow::compute::concat_batches;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::json::LineDelimitedWriter;
use async_trait::async_trait;

use super::registry::{self, Options};
use super::{DeadLetter, Polled, Positions, Source};
use crate::error::{SqlError, SqlResult};
use crate::expr::Generated;

/// Opens a source at its beginning whose rows have `schema`; `generated` are the columns of it that
/// the connector does not give.
pub fn open(
    options: &Options,
    schema: SchemaRef,
    generated: Option<Arc<Generated>>,
) -> SqlResult<Box<dyn Source>> {
    let Some(generated) = generated else { return registry::open(options, schema) };
    let given: Vec<usize> = (0..schema.fields().len())
        .filter(|index| !generated.columns.iter().any(|(computed, _)| computed == index))
        .collect();
    let fields: Vec<_> = given.iter().map(|index| Arc::clone(&schema.fields()[*index])).collect();
    let inner = registry::open(options, Arc::new(Schema::new(fields)))?;
    Ok(Box::new(Computed { inner, schema, given, generated }))
}

struct Computed {
    inner: Box<dyn Source>,
    schema: SchemaRef,
    /// Where the connector's columns stand among all.
    given: Vec<usize>,
    generated: Arc<Generated>,
}

#[async_trait]
impl Source for Computed {
    async fn poll(
        &mut self,
        rows_max: usize,
        until: Option<&Positions>,
    ) -> Result<Polled, SqlError> {
        let mut polled = self.inner.poll(rows_max, until).await?;
        let mut failed = Vec::new();
        let batches = self.complete(&polled.batch, &mut failed)?;
        let positions = self.inner.positions();
        for (row, reason) in failed {
            polled.dead_letters.push(dead_letter(&positions, &row, &reason)?);
        }
        polled.batch = concat_batches(&self.schema, &batches)?;
        Ok(polled)
    }

    fn positions(&self) -> Positions {
        self.inner.positions()
    }

    fn seek(&mut self, positions: &Positions) -> Result<(), SqlError> {
        self.inner.seek(positions)
    }
}

impl Computed {
    /// The rows with all columns, in order; those that fail are set apart. Where a batch fails, its
    /// halves are tried, so that one row costs a few evaluations and not one a row.
    fn complete(
        &self,
        given: &RecordBatch,
        failed: &mut Vec<(RecordBatch, SqlError)>,
    ) -> SqlResult<Vec<RecordBatch>> {
        let mut done = Vec::new();
        let mut open = vec![given.clone()];
        while let Some(batch) = open.pop() {
            match self.computed(&batch) {
                Ok(batch) => done.push(batch),
                Err(error) if batch.num_rows() <= 1 => failed.push((batch, error)),
                Err(_) => {
                    let half = batch.num_rows() / 2;
                    open.push(batch.slice(half, batch.num_rows() - half));
                    open.push(batch.slice(0, half));
                }
            }
        }
        Ok(done)
    }

    fn computed(&self, given: &RecordBatch) -> SqlResult<RecordBatch> {
        let rows = given.num_rows();
        let fields = self.schema.fields();
        let mut columns: Vec<ArrayRef> =
            fields.iter().map(|field| new_null_array(field.data_type(), rows)).collect();
        for (index, values) in self.given.iter().zip(given.columns()) {
            columns[*index] = Arc::clone(values);
        }
        self.generated.fill(&mut columns, rows)?;
        for (index, _) in &self.generated.columns {
            let field = self.schema.field(*index);
            if !field.is_nullable() && columns[*index].null_count() > 0 {
                return Err(super::format::not_null(field.name()));
            }
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

/// The record as it was read is gone: what is kept is the row that was made of it.
fn dead_letter(
    positions: &Positions,
    row: &RecordBatch,
    reason: &SqlError,
) -> SqlResult<DeadLetter> {
    let mut writer = LineDelimitedWriter::new(Vec::new());
    writer.write(row)?;
    writer.finish()?;
    let raw = writer.into_inner().trim_ascii_end().to_vec();
    // With several splits, the row may be of any.
    let (split, position) = match positions.0.iter().next() {
        Some((split, position)) if positions.0.len() == 1 => (split.clone(), position.clone()),
        _ => (String::new(), String::new()),
    };
    Ok(DeadLetter { split, position, raw, reason: reason.message.clone() })
}
