//! `pg_typeof(any)`: the name of a value's type.

use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use super::untyped::bare;
use crate::types::SqlType;

/// `pg_typeof`. A literal without a type is the planner's to see.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct PgTypeof {
    signature: Signature,
}

impl PgTypeof {
    pub(super) fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for PgTypeof {
    fn name(&self) -> &'static str {
        "pg_typeof"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let field = &args.arg_fields[0];
        let name = match field.data_type().is_null() {
            true => "unknown".to_owned(),
            false => bare(&SqlType::of_field(field)),
        };
        Ok(ColumnarValue::Scalar(ScalarValue::Utf8(Some(name))))
    }
}
