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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn delta() -> Delta {
        let schema = Arc::new(Schema::new(vec![Field::new("k", DataType::Int64, true)]));
        let column: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None]));
        let batch = RecordBatch::try_new(schema, vec![column]).expect("columns fit");
        Delta::new(batch, Some(vec![1, -3].into()))
    }

    #[test]
    fn keys_have_the_bytes_of_format_1() {
        let key = key(ObjectId(16400), Epoch(258), 3);
        expect!["00004010000000000000010200000003"].assert_eq(&hex::encode(key));
        assert_eq!(epoch_of(&key).expect("long enough"), Epoch(258));
        assert!(epoch_of(&key[..11]).is_err());
    }

    #[test]
    fn entries_have_the_bytes_of_format_1() {
        let bytes = encode(&delta()).expect("encodes");
        let lines: Vec<_> = bytes.chunks(40).map(hex::encode).collect();
        expect![[r#"
            fffffffff80000001000000000000a000c000a00090004000a000000100000000001040008000800
            00000400080000000400000002000000600000001400000010001400100000000f00040000000800
            1000000010000000180000000000000214000000b8ffffff4000000000000001000000000c000000
            5f776569725f776569676874000000001000140010000e000f000400000008001000000018000000
            20000000000001021c00000008000c0004000b000800000040000000000000010000000001000000
            6b000000000000000000000000000000000000000000000000000000000000000000000000000000
            00000000000000000000000000000000ffffffffb8000000100000000c001a001800170004000800
            0c00000020000000c000000000000000000000000000000304000a0018000c00080004000a000000
            3c000000100000000200000000000000000000000200000002000000000000000100000000000000
            02000000000000000000000000000000000000000400000000000000000000000100000000000000
            40000000000000001000000000000000800000000000000000000000000000008000000000000000
            10000000000000000100000000000000000000000000000000000000000000000000000000000000
            00000000000000000000000000000000000000000000000000000000000000000100000000000000
            00000000000000000000000000000000000000000000000000000000000000000000000000000000
            000000000000000000000000000000000100000000000000fdffffffffffffff0000000000000000
            00000000000000000000000000000000000000000000000000000000000000000000000000000000
            ffffffff00000000"#]]
        .assert_eq(&lines.join("\n"));
        let decoded = decode(&bytes).expect("decodes");
        assert_eq!(decoded.batch(), delta().batch());
        assert_eq!(decoded.weights(), delta().weights());
        assert!(decode(&bytes[..20]).is_err());
    }
}
