//! Changelogs: the deltas of an object, an entry for each piece of an epoch's change, kept for as
//! long as somebody has to read them.
//!
//! Key: `object u32 | epoch u64 | sequence u32`. Value: an Arrow IPC stream of one batch, whose
//! last column, [`WEIGHT`], has the weights.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;

use super::StateError;
use crate::types::{Delta, Epoch, ObjectId};

const WEIGHT: &str = "_weir_weight";

/// A piece of an object's change in an epoch.
#[derive(Debug, Clone)]
pub struct ChangelogEntry {
    pub object: ObjectId,
    pub epoch: Epoch,
    pub delta: Delta,
}

pub(super) fn key(object: ObjectId, epoch: Epoch, sequence: u32) -> [u8; 16] {
    let mut key = [0; 16];
    key[..4].copy_from_slice(&object.0.to_be_bytes());
    key[4..12].copy_from_slice(&epoch.0.to_be_bytes());
    key[12..].copy_from_slice(&sequence.to_be_bytes());
    key
}

pub(super) fn epoch_of(key: &[u8]) -> Result<Epoch, StateError> {
    match key.get(4..12).and_then(|bytes| <[u8; 8]>::try_from(bytes).ok()) {
        Some(bytes) => Ok(Epoch(u64::from_be_bytes(bytes))),
        None => Err(corrupt("key too short")),
    }
}

pub(super) fn encode(delta: &Delta) -> Result<Vec<u8>, StateError> {
    let weights: Vec<i64> = (0..delta.rows()).map(|row| delta.weight(row)).collect();
    let mut fields: Vec<_> = delta.schema().fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new(WEIGHT, DataType::Int64, false)));
    let mut columns: Vec<ArrayRef> = delta.batch().columns().to_vec();
    columns.push(Arc::new(Int64Array::from(weights)));
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?;
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema())?;
    writer.write(&batch)?;
    Ok(writer.into_inner()?)
}

pub(super) fn decode(bytes: &[u8]) -> Result<Delta, StateError> {
    let mut reader = StreamReader::try_new(bytes, None)?;
    let batch = reader.next().ok_or_else(|| corrupt("no batch"))??;
    let last = batch.num_columns().checked_sub(1).ok_or_else(|| corrupt("no weights"))?;
    let weights = batch
        .column(last)
        .as_primitive_opt::<Int64Type>()
        .ok_or_else(|| corrupt("weights of another type"))?
        .values()
        .clone();
    let columns: Vec<usize> = (0..last).collect();
    Ok(Delta::new(batch.project(&columns)?, Some(weights)))
}

fn corrupt(reason: &str) -> StateError {
    StateError::Corrupt { place: "changelog".into(), reason: reason.into() }
}
