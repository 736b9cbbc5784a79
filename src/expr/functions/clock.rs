//! `clock_timestamp()`: what the clock says now, not when the transaction began.

use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use crate::clock;
use crate::types::SqlType;

/// `clock_timestamp`. Rows of one batch see the same moment.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct ClockTimestamp {
    signature: Signature,
}

impl ClockTimestamp {
    pub(super) fn new() -> Self {
        Self { signature: Signature::nullary(Volatility::Volatile) }
    }
}

impl ScalarUDFImpl for ClockTimestamp {
    fn name(&self) -> &'static str {
        "clock_timestamp"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(SqlType::Timestamptz.to_arrow())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let now = ScalarValue::Int64(Some(clock::wall().0));
        Ok(ColumnarValue::Scalar(now.cast_to(args.return_type())?))
    }
}
