//! Rows in an order: what the hypothetical-set aggregates are made of, which PostgreSQL writes
//! `rank(a, b) WITHIN GROUP (ORDER BY x DESC, y)`. The row `(a, b)` is put among the rows `(x, y)`
//! of the group, and counting says where it is:
//!
//! ```text
//! before       = row_order(x, y, a, b, 'DFAL') < 0
//! rank         = 1 + count(*) FILTER (WHERE before)
//! dense_rank   = 1 + count(DISTINCT row_key(x, y)) FILTER (WHERE before)
//! percent_rank = count(*) FILTER (WHERE before) / count(*)
//! cume_dist    = (1 + count(*) FILTER (WHERE row_order(...) <= 0)) / (1 + count(*))
//! ```

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, Int32Array};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

use super::library::no_such;
use super::untyped::common_type;
use crate::error::SqlError;
use crate::types::SqlType;
use crate::types::key::{KeyCodec, canonical_column};

/// `row_order(x, ..., a, ..., options)`: whether the first row comes before the second (−1),
/// after it (1) or is its peer (0). The options are two letters for each column: `A` ascending or
/// `D` descending, NULLs `F` first or `L` last.
pub const ROW_ORDER: &str = "row_order";

/// `row_key(x, ...)`: bytes that are equal where all columns are.
pub const ROW_KEY: &str = "row_key";

/// Both of them.
pub(super) fn all() -> [ScalarUDF; 2] {
    [Kind::Order, Kind::Key].map(|kind| {
        let signature = Signature::user_defined(Volatility::Immutable);
        ScalarUDF::from(RowFunction { kind, signature })
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Order,
    Key,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RowFunction {
    kind: Kind,
    signature: Signature,
}

impl RowFunction {
    fn result(&self) -> SqlType {
        match self.kind {
            Kind::Order => SqlType::Integer,
            Kind::Key => SqlType::Bytea,
        }
    }
}

impl ScalarUDFImpl for RowFunction {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Order => ROW_ORDER,
            Kind::Key => ROW_KEY,
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        match (self.kind, given) {
            (Kind::Key, given) => Ok(given.to_vec()),
            (Kind::Order, [rows @ .., _]) if rows.len().is_multiple_of(2) => {
                let (one, other) = rows.split_at(rows.len() / 2);
                let common = std::iter::zip(one, other).map(|(one, other)| common(one, other));
                let (one, other): (Vec<_>, Vec<_>) = common.unzip();
                Ok([one.as_slice(), &other, &[DataType::Utf8]].concat())
            }
            _ => Err(no_such(self.name(), given).into()),
        }
    }

    fn return_type(&self, _given: &[DataType]) -> Result<DataType> {
        Ok(self.result().to_arrow())
    }

    fn return_field_from_args(&self, _args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(self.result().field(self.name(), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let columns = args.args.iter().map(|value| match value.to_array(rows) {
            Ok(column) => Ok(canonical_column(&column)),
            error => error,
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let result: ArrayRef = match self.kind {
            Kind::Key => {
                let types = columns.iter().map(|column| column.data_type().clone());
                let keys = KeyCodec::of_types(Vec::new(), types)?.encode_columns(&columns, rows)?;
                Arc::new(BinaryArray::from_iter_values(keys.iter()))
            }
            Kind::Order => {
                let order = match args.args.last() {
                    Some(ColumnarValue::Scalar(ScalarValue::Utf8(Some(order)))) => options(order),
                    _ => return Err(SqlError::internal("an order of rows unknown").into()),
                };
                let (one, other) = columns[..columns.len() - 1].split_at(order.len());
                let types = one.iter().map(|column| column.data_type().clone());
                let types = std::iter::zip(types, order);
                let codec = KeyCodec::ordered(Vec::new(), types)?;
                let (one, other) =
                    (codec.encode_columns(one, rows)?, codec.encode_columns(other, rows)?);
                let orders = (0..rows).map(|row| match one.row(row).cmp(&other.row(row)) {
                    Ordering::Less => -1,
                    Ordering::Equal => 0,
                    Ordering::Greater => 1,
                });
                Arc::new(orders.collect::<Int32Array>())
            }
        };
        Ok(ColumnarValue::Array(result))
    }
}

/// What a column and the value that is put into it are taken as. Types that do not go together are
/// refused where literals get theirs, after this is asked for the first time.
fn common(one: &DataType, other: &DataType) -> (DataType, DataType) {
    let sql_type = |kind: &DataType| match kind {
        DataType::Null => SqlType::Unknown,
        kind => SqlType::of_arrow(kind),
    };
    if one != other
        && let Ok(common) = common_type(&sql_type(one), &sql_type(other), "WITHIN GROUP")
    {
        return (common.to_arrow(), common.to_arrow());
    }
    (one.clone(), other.clone())
}

fn options(letters: &str) -> Vec<SortOptions> {
    let pairs = letters.as_bytes().chunks(2);
    let option =
        |pair: &[u8]| SortOptions { descending: pair[0] == b'D', nulls_first: pair[1] == b'F' };
    pairs.filter(|pair| pair.len() == 2).map(option).collect()
}
