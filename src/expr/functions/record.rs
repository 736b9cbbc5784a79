//! Rows as values: `named_row('a', x, 'b', y)` with the names of its columns, `row(x, y)` with
//! PostgreSQL's, which are `f1` and `f2`.

use std::sync::Arc;

use arrow::array::StructArray;
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use crate::error::SqlError;

/// The name under which it is registered.
pub const NAMED_ROW: &str = "named_row";

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct NamedRow {
    signature: Signature,
}

impl NamedRow {
    pub(super) fn new() -> Self {
        Self { signature: Signature::variadic_any(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for NamedRow {
    fn name(&self) -> &'static str {
        NAMED_ROW
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Err(SqlError::internal("a row's columns have names").into())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let names = args.scalar_arguments.iter().step_by(2);
        let values = args.arg_fields.iter().skip(1).step_by(2);
        let fields = std::iter::zip(names, values).map(|(name, value)| match name {
            Some(ScalarValue::Utf8(Some(name))) => {
                Ok(value.as_ref().clone().with_name(name).with_nullable(true))
            }
            _ => Err(SqlError::internal("a row's column without a name")),
        });
        let fields = fields.collect::<std::result::Result<Fields, _>>()?;
        Ok(Arc::new(Field::new(NAMED_ROW, DataType::Struct(fields), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        composed(&args, args.args.iter().skip(1).step_by(2))
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Row {
    signature: Signature,
}

impl Row {
    pub(super) fn new() -> Self {
        Self { signature: Signature::variadic_any(Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Row {
    fn name(&self) -> &'static str {
        "row"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Err(SqlError::internal("a row's columns have notes of their types").into())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let fields = args.arg_fields.iter().enumerate().map(|(index, value)| {
            value.as_ref().clone().with_name(format!("f{}", index + 1)).with_nullable(true)
        });
        Ok(Arc::new(Field::new(self.name(), DataType::Struct(fields.collect()), true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        composed(&args, args.args.iter())
    }
}

/// The struct of these columns that a function is to return.
fn composed<'a>(
    args: &ScalarFunctionArgs,
    columns: impl Iterator<Item = &'a ColumnarValue>,
) -> Result<ColumnarValue> {
    let DataType::Struct(fields) = args.return_type().clone() else {
        return Err(SqlError::internal("a row that is no struct").into());
    };
    let columns = columns.map(|value| value.to_array(args.number_rows));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let row = StructArray::try_new_with_length(fields, columns, None, args.number_rows)?;
    Ok(ColumnarValue::Array(Arc::new(row)))
}
