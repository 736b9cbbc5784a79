//! `array_fill(value, lengths [, bounds])`: an array of one dimension, with the same value
//! everywhere.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, UInt32Array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, FieldRef, Int32Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

use super::library::no_such;
use crate::error::{SqlError, SqlResult, code};

/// Elements of an array at the most.
const ELEMENTS_MAX: u32 = 10_000_000;

#[derive(Debug, PartialEq, Eq, Hash)]
struct ArrayFill {
    signature: Signature,
}

pub(super) fn array_fill() -> ScalarUDF {
    ScalarUDF::from(ArrayFill { signature: Signature::user_defined(Volatility::Immutable) })
}

fn list_of(item: Field) -> DataType {
    DataType::List(Arc::new(item.with_name("item").with_nullable(true)))
}

impl ScalarUDFImpl for ArrayFill {
    fn name(&self) -> &'static str {
        "array_fill"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let lengths = |kind: &DataType| match kind {
            DataType::List(item) => item.data_type().is_integer(),
            kind => kind.is_null(),
        };
        match given {
            [value, rest @ ..]
                if !value.is_list() && matches!(rest.len(), 1 | 2) && rest.iter().all(lengths) =>
            {
                let whole = list_of(Field::new("item", DataType::Int32, true));
                let mut types = vec![value.clone()];
                types.resize(given.len(), whole);
                Ok(types)
            }
            _ => Err(no_such(self.name(), given).into()),
        }
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(list_of(Field::new("item", given[0].clone(), true)))
    }

    /// An array of the value's type, with what Weir notes in metadata.
    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let list = list_of(args.arg_fields[0].as_ref().clone());
        Ok(Arc::new(Field::new(self.name(), list, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if scalar { 1 } else { args.number_rows };
        let columns =
            args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<ArrayRef>>>()?;
        let DataType::List(item) = args.return_type() else {
            return Err(SqlError::internal("an array of no array's type").into());
        };
        let mut indexes = Vec::new();
        let mut lengths = Vec::with_capacity(rows);
        for (row, index) in (0..rows).zip(0_u32..) {
            if let Some(bounds) = columns.get(2)
                && !matches!(only(bounds.as_list(), row)?, None | Some(1))
            {
                return Err(SqlError::unsupported("an array that does not begin at 1").into());
            }
            let length = only(columns[1].as_list(), row)?.unwrap_or(0);
            let length = u32::try_from(length).ok().filter(|length| *length <= ELEMENTS_MAX);
            let length = length.ok_or_else(|| {
                let message = format!("array size exceeds the maximum allowed ({ELEMENTS_MAX})");
                SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message)
            })?;
            indexes.extend(std::iter::repeat_n(index, length as usize));
            lengths.push(length as usize);
        }
        let values = take(&columns[0], &UInt32Array::from(indexes), None)?;
        let offsets = OffsetBuffer::from_lengths(lengths);
        let list = Arc::new(ListArray::try_new(Arc::clone(item), offsets, values, None)?);
        Ok(match scalar {
            true => ColumnarValue::Scalar(ScalarValue::List(list)),
            false => ColumnarValue::Array(list),
        })
    }
}

/// The only number of a row's list; `None` of one without numbers, which is an array's of no
/// dimension.
fn only(lists: &ListArray, row: usize) -> SqlResult<Option<i32>> {
    let null = |what: &str| SqlError::new("22004", format!("{what} cannot be null"));
    if lists.is_null(row) {
        return Err(null("dimension array or low bound array"));
    }
    let numbers = lists.value(row);
    let numbers = numbers.as_primitive::<Int32Type>();
    match numbers.len() {
        0 => Ok(None),
        1 if numbers.is_valid(0) => Ok(Some(numbers.value(0))),
        1 => Err(null("dimension values")),
        _ => Err(SqlError::unsupported("an array of several dimensions made by array_fill()")),
    }
}
