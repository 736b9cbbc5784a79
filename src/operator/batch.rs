//! Making batches, and giving them in chunks.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::error::ArrowError;

use super::{OUTPUT_ROWS_MAX, OperatorError, Output};
use crate::types::Delta;

/// `schema` with every column nullable. Between operators any computed value may be NULL, because
/// a row on which an expression fails gives NULL.
pub(super) fn nullable(schema: &SchemaRef) -> SchemaRef {
    let relax = |field: &Arc<Field>| match field.is_nullable() {
        true => Arc::clone(field),
        false => Arc::new(field.as_ref().clone().with_nullable(true)),
    };
    let fields: Vec<_> = schema.fields().iter().map(relax).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// A batch of `rows` rows; there may be no columns. Names inside nested types may differ.
pub(super) fn batch_of(
    schema: &SchemaRef,
    columns: Vec<ArrayRef>,
    rows: usize,
) -> Result<RecordBatch, ArrowError> {
    let options =
        RecordBatchOptions::new().with_row_count(Some(rows)).with_match_field_names(false);
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

/// Gives `delta` in pieces that are not too large.
pub(super) fn emit_chunks(delta: &Delta, output: &mut dyn Output) -> Result<(), OperatorError> {
    for start in (0..delta.rows()).step_by(OUTPUT_ROWS_MAX) {
        output.emit(delta.slice(start, OUTPUT_ROWS_MAX.min(delta.rows() - start)))?;
    }
    Ok(())
}
