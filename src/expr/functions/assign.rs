//! Assignment as a function: the planner puts it around a value that goes into a column, so that
//! rows of a VALUES list are assigned one by one, and an impossible assignment is found while
//! planning.

use std::sync::Arc;

use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

use super::super::{Assigning, SessionStyle};
use super::library::scalar_of;
use crate::clock::WallTime;
use crate::types::SqlType;

/// Begins and parts the name under which the planner asks for an assignment. No key can type it.
const MARK: char = '\u{1f}';

/// The name of the function that assigns to a column.
pub fn assignment_name(column: &str, to: &SqlType) -> String {
    format!("{MARK}{to}{MARK}{column}")
}

/// The function of this name.
pub fn assignment(name: &str) -> Option<ScalarUDF> {
    let (to, column) = name.strip_prefix(MARK)?.split_once(MARK)?;
    let function = Assign {
        name: name.to_owned(),
        to: SqlType::parse(to)?,
        column: column.to_owned(),
        signature: Signature::any(1, Volatility::Immutable),
    };
    Some(ScalarUDF::from(function))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Assign {
    name: String,
    to: SqlType,
    column: String,
    signature: Signature,
}

impl ScalarUDFImpl for Assign {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(self.to.to_arrow())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let from = match args.scalar_arguments[0] {
            Some(ScalarValue::Utf8(_)) => SqlType::Unknown,
            Some(ScalarValue::Int64(Some(number))) if i32::try_from(*number).is_ok() => {
                SqlType::Integer
            }
            _ => SqlType::of_field(&args.arg_fields[0]),
        };
        let assigning = Assigning { style: SessionStyle::default().text, now: WallTime(0) };
        assigning.check(&args.arg_fields[0], &from, &self.to, &self.column)?;
        Ok(Arc::new(self.to.field(&self.column, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalar = matches!(args.args[0], ColumnarValue::Scalar(_));
        let values = args.args[0].to_array(if scalar { 1 } else { args.number_rows })?;
        let style = SessionStyle::of(&args.config_options);
        let assigning = Assigning { style: style.text, now: WallTime(style.now_micros) };
        // Other text than a literal was refused when the type of this was asked for.
        let from = match SqlType::of_field(&args.arg_fields[0]) {
            SqlType::Text if scalar => SqlType::Unknown,
            other => other,
        };
        let values = assigning.assign(&values, &from, &self.to, &self.column)?;
        // An array's elements have a note of their type, too.
        let values = cast(&values, args.return_field.data_type())?;
        if scalar {
            return Ok(ColumnarValue::Scalar(scalar_of(&values)?));
        }
        Ok(ColumnarValue::Array(values))
    }
}
