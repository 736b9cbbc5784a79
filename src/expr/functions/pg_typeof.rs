//! `pg_typeof(any)`: the name of a value's type.

use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

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
        let name = match SqlType::of_field(&args.arg_fields[0]) {
            _ if args.arg_fields[0].data_type().is_null() => "unknown".to_owned(),
            SqlType::Numeric(_) => "numeric".to_owned(),
            SqlType::Varchar(_) => "character varying".to_owned(),
            SqlType::Char(_) => "character".to_owned(),
            SqlType::Array(element) => match *element {
                SqlType::Numeric(_) => "numeric[]".to_owned(),
                other => format!("{other}[]"),
            },
            other => other.to_string(),
        };
        Ok(ColumnarValue::Scalar(ScalarValue::Utf8(Some(name))))
    }
}
