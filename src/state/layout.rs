//! How an object's rows lie in its table, and back to batches.
//!
//! ```text
//! keyed      vnode | key columns   ->  the whole row
//! multiset   vnode | whole row     ->  weight, i64 big-endian, at least 1
//! ```
//!
//! Vnode: of the distribution columns' encoding (`types::key`); none: 0.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

use super::StateError;
use crate::types::Delta;
use crate::types::key::{KeyArena, KeyCodec, vnode};

/// Encodes and decodes the rows of one object.
#[derive(Debug)]
pub struct RowLayout {
    schema: SchemaRef,
    /// `None`: a multiset.
    key: Option<KeyCodec>,
    row: KeyCodec,
    distribution: Option<KeyCodec>,
    key_columns: Vec<usize>,
    distribution_columns: Vec<usize>,
}

impl RowLayout {
    /// For rows with `schema`, identified by columns `key` (empty: a multiset), spread by columns
    /// `distribution` (empty: all in vnode 0).
    pub fn new(
        schema: SchemaRef,
        key: &[usize],
        distribution: &[usize],
    ) -> Result<Self, ArrowError> {
        let codec = |columns: &[usize]| match columns {
            [] => Ok(None),
            columns => KeyCodec::new(&schema, columns).map(Some),
        };
        Ok(Self {
            key: codec(key)?,
            row: KeyCodec::of_row(&schema)?,
            distribution: codec(distribution)?,
            key_columns: key.to_vec(),
            distribution_columns: distribution.to_vec(),
            schema,
        })
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub fn is_keyed(&self) -> bool {
        self.key.is_some()
    }

    /// Columns that identify a row; empty for a multiset.
    pub fn key_columns(&self) -> &[usize] {
        &self.key_columns
    }

    /// Columns whose hash is the vnode.
    pub fn distribution_columns(&self) -> &[usize] {
        &self.distribution_columns
    }

    /// The storage key (`vnode | key`) of each row of `batch`.
    pub fn keys(&self, batch: &RecordBatch) -> Result<Vec<Vec<u8>>, ArrowError> {
        let values = match &self.key {
            Some(_) => None,
            None => Some(self.row.encode(batch)?),
        };
        let values = values.iter().flat_map(|rows| rows.iter()).map(|row| row.data());
        Ok(self.storage_keys(batch, values)?.iter().map(<[u8]>::to_vec).collect())
    }

    /// As [`RowLayout::keys`], in one allocation, for those who have the rows' encodings already:
    /// `values`, which only a multiset looks at.
    pub fn storage_keys<'a>(
        &self,
        batch: &RecordBatch,
        values: impl Iterator<Item = &'a [u8]>,
    ) -> Result<KeyArena, ArrowError> {
        let rows = batch.num_rows();
        match &self.key {
            None => Ok(arena(&self.vnodes(batch)?, values)),
            Some(key) => {
                let keys = key.encode(batch)?;
                let keys = || keys.iter().map(|key| key.data());
                let vnodes = match self.distribution_columns == self.key_columns {
                    true => keys().map(vnode).collect(),
                    false => self.vnodes(batch)?,
                };
                debug_assert_eq!(vnodes.len(), rows, "a key a row");
                Ok(arena(&vnodes, keys()))
            }
        }
    }

    /// The stored value of each row of `batch`, for a keyed layout.
    pub fn values(&self, batch: &RecordBatch) -> Result<arrow::row::Rows, ArrowError> {
        self.row.encode(batch)
    }

    /// The share of the key space of each row of `batch`.
    pub fn vnodes(&self, batch: &RecordBatch) -> Result<Vec<u8>, ArrowError> {
        match &self.distribution {
            None => Ok(vec![0; batch.num_rows()]),
            Some(codec) => {
                let rows = codec.encode(batch)?;
                Ok(rows.iter().map(|row| vnode(row.as_ref())).collect())
            }
        }
    }

    /// The bytes of a weight, for a multiset.
    pub fn weight_bytes(weight: i64) -> [u8; 8] {
        weight.to_be_bytes()
    }

    /// A weight from its bytes.
    pub fn weight_of(value: &[u8]) -> Result<i64, StateError> {
        let bytes = <[u8; 8]>::try_from(value).map_err(|_| StateError::Corrupt {
            place: "multiset".into(),
            reason: format!("a weight of {} bytes", value.len()),
        })?;
        Ok(i64::from_be_bytes(bytes))
    }

    /// Rows, with their weights, from stored entries (`vnode | key`, value).
    pub fn decode<'a>(
        &self,
        entries: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) -> Result<Delta, StateError> {
        if self.is_keyed() {
            let columns = self.row.decode(entries.map(|(_, value)| value))?;
            return Ok(Delta::inserts(self.batch(columns)?));
        }
        let mut weights = Vec::new();
        let mut rows = Vec::new();
        for (key, value) in entries {
            weights.push(Self::weight_of(value)?);
            rows.push(&key[1..]);
        }
        let columns = self.row.decode(rows)?;
        let all_one = weights.iter().all(|weight| *weight == 1);
        let batch = self.batch(columns)?;
        Ok(Delta::new(batch, (!all_one).then(|| weights.into())))
    }

    /// Decoded columns may differ from the schema in field metadata only.
    fn batch(&self, columns: Vec<arrow::array::ArrayRef>) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

fn arena<'a>(vnodes: &[u8], keys: impl Iterator<Item = &'a [u8]>) -> KeyArena {
    let mut arena = KeyArena::with_capacity(vnodes.len(), vnodes.len() * 16);
    for (vnode, key) in vnodes.iter().zip(keys) {
        arena.push(&[&[*vnode], key]);
    }
    arena
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Int64Array, StringArray};
    use arrow::datatypes::{DataType, Field, Schema};
    use expect_test::expect;

    use super::*;

    fn schema() -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("k", DataType::Int64, false),
            Field::new("s", DataType::Utf8, true),
        ]))
    }

    fn batch() -> RecordBatch {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(vec![1, -2])),
            Arc::new(StringArray::from(vec![Some("ab"), None])),
        ];
        RecordBatch::try_new(schema(), columns).expect("columns fit")
    }

    fn hexed(keys: &[Vec<u8>]) -> String {
        keys.iter().map(hex::encode).collect::<Vec<_>>().join("\n")
    }

    /// What is on disk must be readable by every later version.
    #[test]
    fn keyed_rows_have_the_bytes_of_format_1() {
        let layout = RowLayout::new(schema(), &[0], &[0]).expect("valid");
        let keys = layout.keys(&batch()).expect("encodes");
        expect![[r#"
            82018000000000000001
            ed017ffffffffffffffe"#]]
        .assert_eq(&hexed(&keys));
        let values = layout.values(&batch()).expect("encodes");
        let values: Vec<Vec<u8>> = values.iter().map(|value| value.data().to_vec()).collect();
        expect![[r#"
            01800000000000000102616200000000000002
            017ffffffffffffffeff"#]]
        .assert_eq(&hexed(&values));
        let entries = keys.iter().zip(&values).map(|(key, value)| (&key[..], &value[..]));
        let decoded = layout.decode(entries).expect("decodes");
        assert_eq!(decoded.batch(), &batch());
        assert!(decoded.weights().is_none());
    }

    #[test]
    fn multiset_rows_have_the_bytes_of_format_1() {
        let layout = RowLayout::new(schema(), &[], &[1]).expect("valid");
        let keys = layout.keys(&batch()).expect("encodes");
        expect![[r#"
            7001800000000000000102616200000000000002
            d6017ffffffffffffffeff"#]]
        .assert_eq(&hexed(&keys));
        let weights = [RowLayout::weight_bytes(1), RowLayout::weight_bytes(3)];
        let entries = keys.iter().zip(&weights).map(|(key, value)| (&key[..], &value[..]));
        let decoded = layout.decode(entries).expect("decodes");
        assert_eq!(decoded.batch(), &batch());
        assert_eq!(decoded.weights().map(|weights| weights.to_vec()), Some(vec![1, 3]));
        assert!(RowLayout::weight_of(&[1]).is_err());
    }

    #[test]
    fn the_vnode_is_that_of_the_distribution_or_0() {
        let at = |key: &[usize], distribution: &[usize]| {
            let layout = RowLayout::new(schema(), key, distribution).expect("valid");
            layout.keys(&batch()).expect("encodes").iter().map(|key| key[0]).collect::<Vec<_>>()
        };
        let codec = KeyCodec::new(&schema(), &[1]).expect("valid");
        let by_s = codec.encode(&batch()).expect("encodes");
        let by_s: Vec<u8> = by_s.iter().map(|key| vnode(key.data())).collect();
        assert_eq!(at(&[0], &[]), [0, 0]);
        assert_eq!(at(&[], &[]), [0, 0]);
        assert_eq!(at(&[0], &[1]), by_s);
        assert_eq!(at(&[], &[1]), by_s);
        assert_eq!(at(&[1], &[1]), by_s);
    }
}
