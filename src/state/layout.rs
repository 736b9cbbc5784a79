//! How an object's rows lie in its table, and back to batches.
//!
//! ```text
//! keyed      vnode | key columns   ->  the whole row
//! multiset   vnode | whole row     ->  weight, i64 big-endian, at least 1
//! ```
//!
//! Vnode: of the distribution columns' encoding (`types::key`); none: 0.
//!
//! A keyed layout may have got columns since rows were written by it, always behind those that it
//! had (`catalog::stored`). What it had at first are rows as above; later ones say how many columns
//! they have, and where each of the later ones begins:
//!
//! ```text
//! grown      vnode | key columns   ->  0x80 | columns u16 | begins u32, for each later | the row
//! ```
//!
//! No encoded row begins with that byte. Who knows more columns than a row has finds there what was
//! said to be missing; who knows fewer leaves the others out.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array, new_null_array};
use arrow::compute;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::row::Rows;

use super::StateError;
use crate::types::Delta;
use crate::types::key::{KeyArena, KeyCodec, vnode};

/// What a row begins with that says how many columns it has.
const GROWN: u8 = 0x80;

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
    grown: Option<Grown>,
}

/// What a layout got since the first rows were written by it.
#[derive(Debug)]
struct Grown {
    /// How many columns a row has that does not say.
    base: usize,
    /// The first columns, and each of the others by itself: one after the other they are the row.
    parts: Vec<KeyCodec>,
    /// What a row lacks that has `base`, `base + 1`, ... columns, encoded.
    tails: Vec<Vec<u8>>,
    /// The values of `tails[0]`, a row.
    missing: Vec<ArrayRef>,
}

/// The stored values of some rows.
#[derive(Debug)]
pub enum Values {
    Plain(Rows),
    /// With what comes before them.
    Grown(KeyArena),
}

impl Values {
    pub fn row(&self, index: usize) -> &[u8] {
        match self {
            Self::Plain(rows) => rows.row(index).data(),
            Self::Grown(rows) => rows.get(index),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let rows = match self {
            Self::Plain(rows) => rows.num_rows(),
            Self::Grown(rows) => rows.len(),
        };
        (0..rows).map(|row| self.row(row))
    }
}

impl Grown {
    fn values(&self, batch: &RecordBatch) -> Result<KeyArena, ArrowError> {
        let parts = self.parts.iter().map(|part| part.encode(batch));
        let parts = parts.collect::<Result<Vec<Rows>, _>>()?;
        let columns = u16::try_from(self.base + self.parts.len() - 1).map_err(too_long)?;
        let mut values = KeyArena::with_capacity(batch.num_rows(), batch.num_rows() * 32);
        let mut value = Vec::new();
        for row in 0..batch.num_rows() {
            value.clear();
            value.push(GROWN);
            value.extend_from_slice(&columns.to_be_bytes());
            let mut begin = 0;
            for part in &parts[..parts.len() - 1] {
                begin += part.row(row).data().len();
                value.extend_from_slice(&u32::try_from(begin).map_err(too_long)?.to_be_bytes());
            }
            for part in &parts {
                value.extend_from_slice(part.row(row).data());
            }
            values.push(&[&value]);
        }
        Ok(values)
    }
}

fn too_long<E: std::error::Error>(error: E) -> ArrowError {
    ArrowError::InvalidArgumentError(format!("a row is too long: {error}"))
}

/// The encoded value that rows have which lack a column of `sql_type`: as [`RowLayout::grown`]
/// takes it.
pub fn missing_value(value: &ArrayRef) -> Result<Vec<u8>, ArrowError> {
    let codec = KeyCodec::of_types(vec![0], std::iter::once(value.data_type().clone()))?;
    Ok(codec.encode_columns(std::slice::from_ref(value), 1)?.row(0).data().to_vec())
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
            grown: None,
        })
    }

    /// The same whose rows have at least `base` columns, and of the others, where they lack them,
    /// these encoded values; `None`: NULL.
    pub fn grown(self, base: usize, missing: &[Option<Vec<u8>>]) -> Result<Self, ArrowError> {
        let mut encoded = Vec::with_capacity(missing.len());
        let mut values = Vec::with_capacity(missing.len());
        for (field, missing) in self.schema.fields().iter().skip(base).zip(missing) {
            let null = new_null_array(field.data_type(), 1);
            let bytes = missing.clone().map_or_else(|| missing_value(&null), Ok)?;
            let codec = KeyCodec::of_types(vec![0], std::iter::once(field.data_type().clone()))?;
            values.extend(codec.decode(std::iter::once(bytes.as_slice()))?);
            encoded.push(bytes);
        }
        if encoded.is_empty() {
            return Ok(self);
        }
        let tails = (0..=encoded.len()).map(|from| encoded[from..].concat()).collect();
        let first: Vec<usize> = (0..base).collect();
        let mut parts = vec![KeyCodec::new(&self.schema, &first)?];
        for column in base..base + encoded.len() {
            parts.push(KeyCodec::new(&self.schema, &[column])?);
        }
        Ok(Self { grown: Some(Grown { base, parts, tails, missing: values }), ..self })
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
    pub fn values(&self, batch: &RecordBatch) -> Result<Values, ArrowError> {
        match &self.grown {
            None => Ok(Values::Plain(self.row.encode(batch)?)),
            Some(grown) => grown.values(batch).map(Values::Grown),
        }
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
            let columns = match &self.grown {
                None => {
                    let known = self.schema.fields().len();
                    let rows = entries.map(|(_, value)| row_of(value, known, known).1);
                    self.row.decode(rows)?
                }
                Some(grown) => {
                    let known = self.schema.fields().len();
                    let mut whole = KeyArena::default();
                    for (_, value) in entries {
                        let (columns, row) = row_of(value, grown.base, known);
                        let lacking =
                            columns.map_or(0, |columns| columns.saturating_sub(grown.base));
                        // A row that has more than is known here lacks nothing.
                        let tail = grown.tails.get(lacking).map_or(&[][..], Vec::as_slice);
                        whole.push(&[row, tail]);
                    }
                    self.row.decode(whole.iter())?
                }
            };
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

    /// Rows that may have been written when there were fewer columns, or when there were more, with
    /// those of the layout.
    pub fn fitted(&self, delta: Delta) -> Result<Delta, ArrowError> {
        let (has, wanted) = (delta.batch().num_columns(), self.schema.fields().len());
        if has == wanted {
            return Ok(delta);
        }
        let mut columns = delta.batch().columns()[..has.min(wanted)].to_vec();
        let grown = self
            .grown
            .iter()
            .flat_map(|grown| grown.missing.iter().skip(has.saturating_sub(grown.base)));
        let first = UInt32Array::from_value(0, delta.rows());
        for value in grown.take(wanted.saturating_sub(has)) {
            columns.push(compute::take(value, &first, None)?);
        }
        Ok(delta.with_batch(self.batch(columns)?))
    }

    /// Decoded columns may differ from the schema in field metadata only.
    fn batch(&self, columns: Vec<ArrayRef>) -> Result<RecordBatch, ArrowError> {
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

/// How many columns a stored row says that it has, and of the row the `known` first ones. A row
/// that does not say has `base` columns.
fn row_of(value: &[u8], base: usize, known: usize) -> (Option<usize>, &[u8]) {
    let [GROWN, high, low, rest @ ..] = value else { return (None, value) };
    let columns = usize::from(u16::from_be_bytes([*high, *low]));
    let later = columns.saturating_sub(base);
    let (begins, row) = rest.split_at_checked(later * 4).unwrap_or((&[], rest));
    let cut = known.checked_sub(base).and_then(|place| begins.chunks_exact(4).nth(place));
    let cut = cut.and_then(|begin| <[u8; 4]>::try_from(begin).ok()).map(u32::from_be_bytes);
    let end = cut.map_or(row.len(), |begin| row.len().min(begin as usize));
    (Some(columns), &row[..end])
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
        let values: Vec<Vec<u8>> = values.iter().map(<[u8]>::to_vec).collect();
        expect![[r#"
            01800000000000000102616200000000000002
            017ffffffffffffffeff"#]]
        .assert_eq(&hexed(&values));
        let entries = keys.iter().zip(&values).map(|(key, value)| (&key[..], &value[..]));
        let decoded = layout.decode(entries).expect("decodes");
        assert_eq!(decoded.batch(), &batch());
        assert!(decoded.weights().is_none());
    }

    /// Rows of when there were fewer columns, and of when there are more than somebody knows.
    #[test]
    fn grown_rows_say_how_many_columns_they_have() {
        let more = Arc::new(Schema::new(vec![
            Field::new("k", DataType::Int64, true),
            Field::new("s", DataType::Utf8, true),
            Field::new("n", DataType::Int64, true),
            Field::new("m", DataType::Int64, true),
        ]));
        let seven: ArrayRef = Arc::new(Int64Array::from(vec![7]));
        let missing = [Some(missing_value(&seven).expect("encodes")), None];
        let old = RowLayout::new(schema(), &[0], &[0]).expect("valid");
        let new = RowLayout::new(Arc::clone(&more), &[0], &[0]).expect("valid");
        let new = new.grown(2, &missing).expect("valid");
        let column = |values: Vec<Option<i64>>| -> ArrayRef { Arc::new(Int64Array::from(values)) };
        let mut columns = batch().columns().to_vec();
        columns.extend([column(vec![Some(1), None]), column(vec![Some(2), Some(3)])]);
        let rows = RecordBatch::try_new(Arc::clone(&more), columns).expect("columns fit");
        let values = new.values(&rows).expect("encodes");
        expect![[r#"
            800004000000130000001c01800000000000000102616200000000000002018000000000000001018000000000000002
            8000040000000a00000013017ffffffffffffffeffff0000000000000000018000000000000003"#]]
        .assert_eq(&hexed(&values.iter().map(<[u8]>::to_vec).collect::<Vec<_>>()));
        let before = old.values(&batch()).expect("encodes");
        let keys = new.keys(&rows).expect("encodes");
        let mixed = [before.row(0), values.row(1)];
        let entries = || keys.iter().map(Vec::as_slice).zip(mixed);
        let read = new.decode(entries()).expect("decodes");
        assert_eq!(read.batch().column(2), &column(vec![Some(7), None]));
        assert_eq!(read.batch().column(3), &column(vec![None, Some(3)]));
        let known = old.decode(entries()).expect("decodes");
        assert_eq!(known.batch().columns(), batch().columns());
        let fitted = new.fitted(Delta::inserts(batch())).expect("fits");
        assert_eq!(fitted.batch().column(2), &column(vec![Some(7), Some(7)]));
        let fitted = old.fitted(Delta::inserts(rows)).expect("fits");
        assert_eq!(fitted.batch().columns(), batch().columns());
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
