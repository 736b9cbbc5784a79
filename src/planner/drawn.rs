//! `nextval` and its like where nothing is given: while a view is described, or the default of
//! a column is checked. They have a type there and no value; a materialized view that would need
//! one is refused.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};

use crate::error::SqlError;

/// One of them.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Drawn {
    name: &'static str,
    signature: Signature,
}

/// All of them.
pub(super) fn functions() -> impl Iterator<Item = Arc<ScalarUDF>> {
    ["nextval", "currval", "lastval", "setval"].into_iter().map(|name| {
        let signatures = vec![TypeSignature::Nullary, TypeSignature::VariadicAny];
        let signature = Signature::one_of(signatures, Volatility::Volatile);
        Arc::new(ScalarUDF::new_from_impl(Drawn { name, signature }))
    })
}

impl ScalarUDFImpl for Drawn {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, _arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let error = SqlError::unsupported(format!("function {}() here", self.name));
        Err(DataFusionError::External(Box::new(error)))
    }
}
