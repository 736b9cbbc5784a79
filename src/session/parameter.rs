//! Parameters: from bytes, or from EXECUTE's expressions, to typed values.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use datafusion::common::ScalarValue;

use super::outcome::Format;
use super::portal::{Binding, spread};
use super::prepared::Prepared;
use super::session::Session;
use crate::error::{SqlError, SqlResult, code};
use crate::planner;
use crate::planner::statement::Execute;
use crate::serving;
use crate::types::{ColumnBuilder, InputStyle, SqlType};

/// The parameters of a statement that runs: `$1` is the first.
#[derive(Debug, Clone, Default)]
pub(super) struct Parameters {
    pub(super) types: Vec<SqlType>,
    pub(super) values: Vec<ScalarValue>,
}

impl Parameters {
    /// The types, as planning takes what a client has declared.
    pub(super) fn declared(&self) -> Vec<Option<SqlType>> {
        self.types.iter().cloned().map(Some).collect()
    }
}

impl Session {
    /// A Bind message's values, each of its parameter's type.
    pub(super) fn decode_parameters(
        &self,
        prepared: &Prepared,
        binding: &Binding,
    ) -> SqlResult<Vec<ScalarValue>> {
        let (given, wanted) = (binding.parameters.len(), prepared.parameters.len());
        let formats = spread(&binding.parameter_formats, given).ok_or_else(|| {
            let formats = binding.parameter_formats.len();
            violation(format!(
                "bind message has {formats} parameter formats but {given} parameters"
            ))
        })?;
        if given != wanted {
            return Err(violation(format!(
                "bind message supplies {given} parameters, but prepared statement \"{}\" \
                 requires {wanted}",
                binding.statement
            )));
        }
        let style = self.input_style();
        let values = binding.parameters.iter().zip(formats).zip(&prepared.parameters);
        values
            .enumerate()
            .map(|(index, ((value, format), sql_type))| {
                decode(value.as_deref(), format, sql_type, &style).map_err(|error| {
                    let parameter = format!("parameter ${}", index + 1);
                    error.context(match binding.portal.as_str() {
                        "" => format!("unnamed portal {parameter}"),
                        name => format!("portal \"{name}\" {parameter}"),
                    })
                })
            })
            .collect()
    }
}

impl Session {
    /// The values of EXECUTE's arguments, each of its parameter's type.
    pub(super) fn evaluate_arguments(
        &mut self,
        prepared: &Prepared,
        execute: &Execute,
    ) -> SqlResult<Vec<ScalarValue>> {
        let (given, wanted) = (execute.arguments.len(), prepared.parameters.len());
        if given != wanted {
            let message =
                format!("wrong number of parameters for prepared statement \"{}\"", execute.name);
            return Err(SqlError::new(code::SYNTAX_ERROR, message)
                .detail(format!("Expected {wanted} parameters but got {given}.")));
        }
        if given == 0 {
            return Ok(Vec::new());
        }
        let context = self.query_context()?;
        let state = serving::session_state(&context)?;
        let arguments: Vec<_> = execute.arguments.iter().collect();
        let none = planner::Parameters { declared: &[], values: Some(&[]) };
        let planned = planner::plan_expressions(&state, &arguments, &[], none)?;
        let options = RecordBatchOptions::new().with_row_count(Some(1));
        let one_row =
            RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options)?;
        let style = self.input_style();
        let values = planned.expressions.iter().zip(&prepared.parameters);
        values
            .map(|(expression, sql_type)| {
                let value = expression.evaluate(&one_row)?.into_array(1)?;
                assign(&ScalarValue::try_from_array(&value, 0)?, sql_type, &style)
            })
            .collect()
    }
}

/// A value as one of another type: text is read, others are cast.
fn assign(value: &ScalarValue, sql_type: &SqlType, style: &InputStyle) -> SqlResult<ScalarValue> {
    match value {
        ScalarValue::Utf8(Some(text)) => {
            decode(Some(text.as_bytes()), Format::Text, sql_type, style)
        }
        other => Ok(other.cast_to(&sql_type.to_arrow())?),
    }
}

/// One value.
fn decode(
    value: Option<&[u8]>,
    format: Format,
    sql_type: &SqlType,
    style: &InputStyle,
) -> SqlResult<ScalarValue> {
    let mut column = ColumnBuilder::new(sql_type, style)?;
    match (value, format) {
        (None, _) => column.append_null(),
        (Some(bytes), Format::Text) => column.append_text_bytes(bytes)?,
        (Some(bytes), Format::Binary) => column.append_binary(bytes)?,
    }
    Ok(ScalarValue::try_from_array(&column.finish(), 0)?)
}

fn violation(message: String) -> SqlError {
    SqlError::new(code::PROTOCOL_VIOLATION, message)
}
