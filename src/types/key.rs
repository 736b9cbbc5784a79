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
        let fields = types.map(|t| SortField::new_with_options(t, options)).collect();
        Ok(Self { columns, converter: RowConverter::new(fields)? })
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

/// As [`canonical`], for one column.
pub fn canonical_column(column: &ArrayRef) -> ArrayRef {
    match column.data_type() {
        DataType::Float32 => {
            Arc::new(column.as_primitive::<Float32Type>().unary::<_, Float32Type>(|value| {
                if value.is_nan() { f32::NAN } else { value + 0.0 }
            }))
        }
        DataType::Float64 => {
            Arc::new(column.as_primitive::<Float64Type>().unary::<_, Float64Type>(|value| {
                if value.is_nan() { f64::NAN } else { value + 0.0 }
            }))
        }
        _ => Arc::clone(column),
    }
}
