//! A delta: rows with signed weights (a Z-set), the only thing that flows between operators.
//!
//! `+1` inserts a row, `-1` deletes one, an update is a `-1` and a `+1`. Weights add up; order
//! inside an epoch means nothing. No weights at all means that every row is `+1`.

use arrow::array::{Array, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::buffer::ScalarBuffer;
use arrow::compute;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

/// Rows and their weights. A weight is never 0 on an edge between operators.
#[derive(Debug, Clone)]
pub struct Delta {
    batch: RecordBatch,
    weights: Option<ScalarBuffer<i64>>,
}

impl Delta {
    /// Every row once: the append-only fast path.
    pub fn inserts(batch: RecordBatch) -> Self {
        Self { batch, weights: None }
    }

    /// Every row taken away once.
    pub fn deletes(batch: RecordBatch) -> Self {
        let weights = ScalarBuffer::from(vec![-1; batch.num_rows()]);
        Self { batch, weights: Some(weights) }
    }

    /// # Panics
    /// If there is not one weight a row.
    pub fn new(batch: RecordBatch, weights: Option<ScalarBuffer<i64>>) -> Self {
        if let Some(weights) = &weights {
            assert_eq!(weights.len(), batch.num_rows(), "one weight a row");
        }
        Self { batch, weights }
    }

    pub fn empty(schema: SchemaRef) -> Self {
        Self::inserts(RecordBatch::new_empty(schema))
    }

    pub fn batch(&self) -> &RecordBatch {
        &self.batch
    }

    pub fn schema(&self) -> SchemaRef {
        self.batch.schema()
    }

    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    pub fn is_empty(&self) -> bool {
        self.rows() == 0
    }

    /// `None`: all `+1`.
    pub fn weights(&self) -> Option<&ScalarBuffer<i64>> {
        self.weights.as_ref()
    }

    /// The weight of row `row`.
    pub fn weight(&self, row: usize) -> i64 {
        self.weights.as_ref().map_or(1, |weights| weights[row])
    }

    /// Bytes of memory behind the rows, as channels count them.
    pub fn bytes(&self) -> usize {
        self.batch.get_array_memory_size() + self.weights.as_ref().map_or(0, |w| w.len() * 8)
    }

    /// Bytes of the rows alone, where others may share the memory behind them.
    pub fn own_bytes(&self) -> usize {
        let columns = self.batch.columns().iter().map(|column| {
            let data = column.to_data();
            data.get_slice_memory_size().unwrap_or_else(|_| column.get_array_memory_size())
        });
        columns.sum::<usize>() + self.weights.as_ref().map_or(0, |w| w.len() * 8)
    }

    /// The same weights over other columns.
    ///
    /// # Panics
    /// If the number of rows differs.
    pub fn with_batch(&self, batch: RecordBatch) -> Self {
        Self::new(batch, self.weights.clone())
    }

    pub fn slice(&self, offset: usize, length: usize) -> Self {
        Self {
            batch: self.batch.slice(offset, length),
            weights: self.weights.as_ref().map(|weights| weights.slice(offset, length)),
        }
    }

    /// The rows at `indices`, with their weights.
    pub fn take(&self, indices: &UInt32Array) -> Result<Self, ArrowError> {
        let batch = take_rows(&self.batch, indices)?;
        let weights = self.weights.as_ref().map(|weights| {
            indices.values().iter().map(|&row| weights[row as usize]).collect::<Vec<_>>().into()
        });
        Ok(Self { batch, weights })
    }

    /// The rows where `mask` is true; NULL counts as false.
    pub fn filter(&self, mask: &BooleanArray) -> Result<Self, ArrowError> {
        let batch = compute::filter_record_batch(&self.batch, mask)?;
        let weights = match &self.weights {
            None => None,
            Some(weights) => {
                let weights = Int64Array::new(weights.clone(), None);
                let kept = compute::filter(&weights, mask)?;
                Some(
                    arrow::array::AsArray::as_primitive::<arrow::datatypes::Int64Type>(&kept)
                        .values()
                        .clone(),
                )
            }
        };
        Ok(Self { batch, weights })
    }

    /// All rows of `deltas`, one after the other. All must have `schema`.
    pub fn concat(schema: &SchemaRef, deltas: &[Delta]) -> Result<Self, ArrowError> {
        let batch = compute::concat_batches(schema, deltas.iter().map(Delta::batch))?;
        let weights = deltas.iter().any(|delta| delta.weights.is_some()).then(|| {
            deltas
                .iter()
                .flat_map(|delta| (0..delta.rows()).map(|row| delta.weight(row)))
                .collect::<Vec<_>>()
                .into()
        });
        Ok(Self { batch, weights })
    }

    /// Nulls count as values here: whether `column` has a NULL in any row.
    pub fn has_null(&self, column: usize) -> bool {
        self.batch.column(column).null_count() > 0
    }
}

/// The rows of `batch` at `indices`. There may be no columns: rows are counted all the same.
pub fn take_rows(batch: &RecordBatch, indices: &UInt32Array) -> Result<RecordBatch, ArrowError> {
    if batch.num_columns() > 0 {
        return compute::take_record_batch(batch, indices);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(indices.len()));
    RecordBatch::try_new_with_options(batch.schema(), Vec::new(), &options)
}
