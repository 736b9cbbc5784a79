//! What keeps a table's rows unique by some columns: beside the rows, the keys that are taken.
//!
//! ```text
//!  vnode | columns  ->  the row's storage key      for each row none of whose columns is NULL,
//!                                                  or for each, with NULLS NOT DISTINCT
//! ```
//!
//! Values that are equal and look different (`1` and `1.0` as jsonb) are one key.
//!
//! The table's writer keeps it, under the same lock and in the same epochs as the rows, so that a
//! decision made from it is as exact as one made from the primary key.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, new_empty_array};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

use crate::error::SqlError;
use crate::expr::functions::{equality_function, equality_keys};
use crate::types::key::{KeyCodec, vnode};
use crate::types::{ObjectId, SqlType, TableId};

/// A unique index, as its table's writer knows it.
#[derive(Debug)]
pub struct Guard {
    /// The index.
    pub index: ObjectId,
    /// What a violation is said to be of.
    pub name: String,
    /// Whether no column may be NULL: it is a primary key.
    pub required: bool,
    /// Whether NULLs are like other values.
    nulls: bool,
    codec: KeyCodec,
    types: Vec<SqlType>,
}

impl Guard {
    /// Over `columns` of rows with `schema`.
    pub fn new(
        index: ObjectId,
        name: String,
        schema: &SchemaRef,
        columns: &[usize],
    ) -> Result<Self, ArrowError> {
        let types = columns.iter().map(|column| SqlType::of_field(schema.field(*column)));
        let types: Vec<SqlType> = types.collect();
        let mut kinds = Vec::new();
        for sql_type in &types {
            let none = equality_keys(&new_empty_array(&sql_type.to_arrow()), sql_type);
            kinds.push(none.map_err(external)?.data_type().clone());
        }
        let codec = KeyCodec::of_types(columns.to_vec(), kinds.into_iter())?;
        Ok(Self { index, name, required: false, nulls: false, codec, types })
    }

    /// The same for a primary key.
    pub fn required(self, required: bool) -> Self {
        Self { required, ..self }
    }

    /// The same with NULLs that are like other values, if they are.
    pub fn nulls_not_distinct(self, nulls: bool) -> Self {
        Self { nulls, ..self }
    }

    /// The columns that tell rows apart.
    pub fn columns(&self) -> &[usize] {
        self.codec.columns()
    }

    /// Whether equal values look alike in all of its columns, so that a row can be found by the
    /// values that a statement writes.
    pub fn finds_rows(&self) -> bool {
        self.types.iter().all(|sql_type| equality_function(sql_type).is_none())
    }

    /// Where the keys are kept.
    pub fn table(&self) -> TableId {
        TableId::guard(self.index)
    }

    /// The key of each of `rows`; none where a column is NULL.
    pub fn keys(&self, rows: &RecordBatch) -> Result<Vec<Option<Vec<u8>>>, ArrowError> {
        let columns = self.columns().iter().map(|column| Arc::clone(rows.column(*column)));
        self.keys_of(&columns.collect::<Vec<_>>(), rows.num_rows(), self.nulls)
    }

    /// The keys of rows whose values in the guard's columns are at hand, in its order; none where
    /// one is NULL, unless `nulls` have keys too.
    pub fn keys_of(
        &self,
        columns: &[ArrayRef],
        rows: usize,
        nulls: bool,
    ) -> Result<Vec<Option<Vec<u8>>>, ArrowError> {
        let encoded = columns.iter().zip(&self.types);
        let encoded = encoded.map(|(column, sql_type)| equality_keys(column, sql_type));
        let encoded = encoded.collect::<Result<Vec<_>, _>>().map_err(external)?;
        let encoded = self.codec.encode_columns(&encoded, rows)?;
        let is_null = |row: usize| !nulls && columns.iter().any(|column| column.is_null(row));
        let keys = encoded.iter().enumerate().map(|(row, key)| {
            let key = key.data();
            (!is_null(row)).then(|| [&[vnode(key)], key].concat())
        });
        Ok(keys.collect())
    }
}

fn external(error: SqlError) -> ArrowError {
    ArrowError::from_external_error(Box::new(error))
}

#[cfg(test)]
mod tests {
    use arrow::array::Int64Array;
    use arrow::datatypes::{DataType, Field, Schema};

    use super::*;

    /// What is on disk must be readable by every later version.
    #[test]
    fn keys_have_the_bytes_of_format_1_and_nulls_have_none() {
        let field = |name| Field::new(name, DataType::Int64, true);
        let schema = Arc::new(Schema::new(vec![field("id"), field("k")]));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(vec![5, 6])),
            Arc::new(Int64Array::from(vec![Some(1), None])),
        ];
        let rows = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
        let guard = Guard::new(ObjectId(16384), "t_k".to_owned(), &schema, &[1]).unwrap();
        let keys = guard.keys(&rows).unwrap();
        assert_eq!(keys[0].as_ref().map(hex::encode).as_deref(), Some("82018000000000000001"));
        assert_eq!(keys[1], None);
        assert_eq!(guard.table().to_bytes(), [0, 0, 0x40, 0, 0, 0, 0, 2]);
    }
}
