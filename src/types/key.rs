//! Keys: where a row belongs (its vnode) and how its key lies on disk, in order.
//!
//! Rows are encoded by `arrow-row`: byte order is SQL order (NULLS LAST when ascending), equal
//! bytes are equal values. Values are canonical before they get here (−0, NaN, numeric scale).

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Float32Type, Float64Type, SchemaRef};
use arrow::error::ArrowError;
use arrow::row::{RowConverter, Rows, SortField};
use xxhash_rust::xxh3::xxh3_64;

/// Shares of the key space. A share is a range scan; parallelism moves shares, not rows.
pub const VNODES: usize = 256;

/// The share of the key whose encoded row is `key`. Stable for ever: it is on disk.
pub fn vnode(key: &[u8]) -> u8 {
    vnode_of_hash(hash(key))
}

/// The hash that [`vnode`] is taken from.
pub fn hash(key: &[u8]) -> u64 {
    xxh3_64(key)
}

/// The share of a key whose [`hash`] is known.
pub fn vnode_of_hash(hash: u64) -> u8 {
    (hash >> 56) as u8
}

/// The actor, of `parallelism`, that owns share `vnode`: contiguous ranges of nearly equal size.
pub fn owner(vnode: u8, parallelism: usize) -> usize {
    usize::from(vnode) * parallelism / VNODES
}

/// Encodes chosen columns of batches as ordered keys, and back.
#[derive(Debug)]
pub struct KeyCodec {
    columns: Vec<usize>,
    converter: RowConverter,
}

impl KeyCodec {
    /// For `columns` of rows with `schema`, ascending, NULLS LAST.
    pub fn new(schema: &SchemaRef, columns: &[usize]) -> Result<Self, ArrowError> {
        let fields = columns.iter().map(|&column| schema.field(column).data_type().clone());
        Self::of_types(columns.to_vec(), fields)
    }

    /// For whole rows with `schema`.
    pub fn of_row(schema: &SchemaRef) -> Result<Self, ArrowError> {
        let columns: Vec<usize> = (0..schema.fields().len()).collect();
        Self::new(schema, &columns)
    }

    /// For columns with these types, at indexes `columns`.
    pub fn of_types(
        columns: Vec<usize>,
        types: impl Iterator<Item = DataType>,
    ) -> Result<Self, ArrowError> {
        let options = SortOptions { descending: false, nulls_first: false };
        Self::ordered(columns, types.map(|data_type| (data_type, options)))
    }

    /// For columns with these types at indexes `columns`, each in an order of its own.
    pub fn ordered(
        columns: Vec<usize>,
        types: impl Iterator<Item = (DataType, SortOptions)>,
    ) -> Result<Self, ArrowError> {
        let fields = types.map(|(t, options)| SortField::new_with_options(t, options)).collect();
        Ok(Self { columns, converter: RowConverter::new(fields)? })
    }

    /// The columns of rows that are encoded.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The keys of `batch`, one a row. A codec of no columns gives empty keys.
    pub fn encode(&self, batch: &RecordBatch) -> Result<Rows, ArrowError> {
        let columns: Vec<ArrayRef> =
            self.columns.iter().map(|&column| Arc::clone(batch.column(column))).collect();
        self.encode_columns(&columns, batch.num_rows())
    }

    /// The keys of `columns`, which are the codec's, in its order.
    pub fn encode_columns(&self, columns: &[ArrayRef], rows: usize) -> Result<Rows, ArrowError> {
        if columns.is_empty() {
            let mut empty = self.converter.empty_rows(rows, 0);
            let parser = self.converter.parser();
            for _ in 0..rows {
                empty.push(parser.parse(&[]));
            }
            return Ok(empty);
        }
        self.converter.convert_columns(columns)
    }

    /// Columns again from encoded keys.
    ///
    /// # Panics
    /// May panic if a key was not made by a codec of the same types: callers check fingerprints.
    pub fn decode<'a>(
        &self,
        keys: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<Vec<ArrayRef>, ArrowError> {
        let parser = self.converter.parser();
        self.converter.convert_rows(keys.into_iter().map(|key| parser.parse(key)))
    }
}

/// Many keys in one allocation.
#[derive(Debug, Default, Clone)]
pub struct KeyArena {
    bytes: Vec<u8>,
    /// Where each key ends.
    ends: Vec<usize>,
}

impl KeyArena {
    pub fn with_capacity(keys: usize, bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ends: Vec::with_capacity(keys) }
    }

    /// Adds the key that `parts` make one after the other.
    pub fn push(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        self.ends.push(self.bytes.len());
    }

    pub fn get(&self, index: usize) -> &[u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[index]]
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Bytes of all keys.
    pub fn filled_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

/// `batch` with every float canonical: −0 becomes 0 and every NaN one NaN, so that equal values
/// have equal bytes. Nested values are not looked into.
pub fn canonical(batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
    let floats = |field: &Arc<arrow::datatypes::Field>| {
        matches!(field.data_type(), DataType::Float32 | DataType::Float64)
    };
    let schema = batch.schema();
    if !schema.fields().iter().any(floats) {
        return Ok(batch);
    }
    let columns = batch.columns().iter().map(canonical_column).collect();
    RecordBatch::try_new(schema, columns)
}

/// As [`canonical`], for one value.
pub fn canonical_f64(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value + 0.0 }
}

/// As [`canonical`], for one value.
pub fn canonical_f32(value: f32) -> f32 {
    if value.is_nan() { f32::NAN } else { value + 0.0 }
}

/// As [`canonical`], for one column.
pub fn canonical_column(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => {
            Arc::new(column.as_primitive::<Float32Type>().unary::<_, Float32Type>(canonical_f32))
        }
        DataType::Float64 => {
            Arc::new(column.as_primitive::<Float64Type>().unary::<_, Float64Type>(canonical_f64))
        }
        _ => Arc::clone(column),
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::builder::{ListBuilder, StringBuilder};
    use arrow::array::{BooleanArray, Float64Array, Int64Array, StringArray};
    use arrow::datatypes::Field;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    use super::*;

    type Values = (Option<i64>, Option<String>, Option<f64>, Option<bool>, Option<Vec<String>>);

    fn any_text() -> impl Strategy<Value = String> {
        // Lengths around the blocks of the encoding, bytes around its marks.
        vec(prop_oneof![Just('\0'), Just('\u{1}'), Just('a'), Just('\u{7f}')], 0..70)
            .prop_map(|characters| characters.into_iter().collect())
    }

    fn any_values() -> impl Strategy<Value = Values> {
        let floats = any::<f64>().prop_map(|value| if value.is_nan() { f64::NAN } else { value });
        (
            option::of(-3i64..3),
            option::of(any_text()),
            option::of(floats),
            option::of(any::<bool>()),
            option::of(vec(any_text(), 0..3)),
        )
    }

    fn columns(rows: &[Values]) -> Vec<ArrayRef> {
        let mut lists = ListBuilder::new(StringBuilder::new());
        rows.iter()
            .for_each(|row| lists.append_option(row.4.clone().map(|v| v.into_iter().map(Some))));
        vec![
            Arc::new(Int64Array::from_iter(rows.iter().map(|row| row.0))),
            Arc::new(StringArray::from_iter(rows.iter().map(|row| row.1.as_deref()))),
            Arc::new(Float64Array::from_iter(rows.iter().map(|row| row.2))),
            Arc::new(BooleanArray::from_iter(rows.iter().map(|row| row.3))),
            Arc::new(lists.finish()),
        ]
    }

    fn codec(columns: &[ArrayRef], chosen: &[usize]) -> KeyCodec {
        let types = chosen.iter().map(|&column| columns[column].data_type().clone());
        KeyCodec::of_types(chosen.to_vec(), types).expect("can be encoded")
    }

    proptest! {
        /// What state tables rest on: what starts with an encoded key belongs to that key.
        #[test]
        fn no_key_is_the_beginning_of_another(
            rows in vec(any_values(), 2..8),
            chosen in vec(0usize..5, 1..4),
        ) {
            let columns = columns(&rows);
            let codec = codec(&columns, &chosen);
            let picked: Vec<ArrayRef> =
                chosen.iter().map(|&column| Arc::clone(&columns[column])).collect();
            let keys = codec.encode_columns(&picked, rows.len()).expect("encodes");
            for a in keys.iter() {
                for b in keys.iter() {
                    prop_assert!(a == b || !b.data().starts_with(a.data()));
                }
            }
            let decoded = codec.decode(keys.iter().map(|key| key.data())).expect("decodes");
            prop_assert_eq!(decoded, picked);
        }
    }

    #[test]
    fn bytes_are_in_sql_order() {
        let column: ArrayRef = Arc::new(Float64Array::from(vec![
            Some(-1.5),
            Some(0.0),
            Some(2.0),
            Some(f64::NAN),
            None,
        ]));
        let codec = codec(&[Arc::clone(&column)], &[0]);
        let keys = codec.encode_columns(&[column], 5).expect("encodes");
        assert!(keys.iter().is_sorted_by(|a, b| a.data() < b.data()));
    }

    #[test]
    fn equal_floats_have_equal_bytes_once_they_are_canonical() {
        let field = Field::new("f", DataType::Float64, true);
        let schema = Arc::new(arrow::datatypes::Schema::new(vec![field]));
        let odd = f64::from_bits(f64::NAN.to_bits() | 1 | 1 << 63);
        let values = Float64Array::from(vec![-0.0, 0.0, odd, f64::NAN]);
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(values)]);
        let batch = canonical(batch.expect("one column")).expect("is canonical");
        let keys = KeyCodec::of_row(&schema).expect("encodable").encode(&batch).expect("encodes");
        assert!(keys.row(0) == keys.row(1) && keys.row(2) == keys.row(3));
    }

    #[test]
    fn vnodes_are_spread_evenly_and_never_change() {
        assert_eq!([vnode(b""), vnode(b"a"), vnode(&[0; 9])], [45, 230, 52]);
        assert_eq!((owner(0, 4), owner(63, 4), owner(64, 4), owner(255, 4)), (0, 0, 1, 3));
        assert!((0..=255).all(|vnode| owner(vnode, 1) == 0 && owner(vnode, 3) < 3));
    }
}
