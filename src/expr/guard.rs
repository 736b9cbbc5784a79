//! A panic inside a library's code becomes an error: of the row, the statement, never of an actor
//! or a connection.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;

use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::sort_properties::{ExprProperties, SortProperties};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ExpressionPlacement, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDF, ScalarUDFImpl, Signature, StructFieldMapping,
};

use super::functions::scalar_of;
use crate::error::{SqlError, code};
use crate::types::SqlType;
use crate::types::key::{canonical_column, canonical_f32, canonical_f64};

/// Runs `work`, which computes `what`.
pub fn catch<T, E: From<SqlError>>(
    what: &str,
    work: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<T, E> {
    // What `work` leaves half done it owns, and is dropped with it.
    panic::catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|payload| Err(panicked(what, payload.as_ref()).into()))
}

/// The error that a caught panic is.
pub fn panicked(what: &str, payload: &(dyn Any + Send)) -> SqlError {
    let said = payload.downcast_ref::<String>().map(String::as_str);
    let said = said.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    if said.contains("overflow") {
        return SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, format!("{what} out of range"))
            .detail(said);
    }
    SqlError::internal(format!("{what} failed")).detail(said)
}

/// Functions that give an array of their arguments' values.
const GIVING_ARRAYS: &[&str] = &["make_array"];

/// Functions that give an array of the elements of their first argument.
const GIVING_ELEMENTS: &[&str] = &[
    "array_append",
    "array_concat",
    "array_distinct",
    "array_remove",
    "array_replace",
    "array_reverse",
    "array_slice",
    "array_sort",
];

/// Lists of type `told`. A scalar is made here: casting one forgets what is noted of elements.
fn told_list(value: ColumnarValue, told: &DataType) -> Result<ColumnarValue> {
    match value {
        ColumnarValue::Array(lists) => Ok(ColumnarValue::Array(cast(&lists, told)?)),
        ColumnarValue::Scalar(list) => {
            Ok(ColumnarValue::Scalar(scalar_of(&cast(&list.to_array()?, told)?)?))
        }
    }
}

/// The result's field where it has a type that its arguments have: a `uuid` is a text to Arrow, and
/// only the field's metadata tells.
fn polymorphic_field(
    name: &str,
    arguments: &[FieldRef],
    literals: &[Option<&ScalarValue>],
    field: &FieldRef,
) -> Option<FieldRef> {
    let sql_type = if GIVING_ARRAYS.contains(&name) {
        // A literal without a type is to have the others'.
        let untyped = |field: &FieldRef, literal: &Option<&ScalarValue>| {
            let sql_type = SqlType::of_field(field);
            field.data_type().is_null()
                || sql_type == SqlType::Unknown
                || literal.is_some_and(ScalarValue::is_null)
                || matches!(literal, Some(ScalarValue::Utf8(_))) && sql_type == SqlType::Text
        };
        let mut given = std::iter::zip(arguments, literals)
            .filter_map(|(field, literal)| (!untyped(field, literal)).then_some(field));
        let common = SqlType::of_field(given.next()?);
        let same = given.all(|field| SqlType::of_field(field) == common);
        SqlType::Array(Box::new(same.then_some(common)?))
    } else if GIVING_ELEMENTS.contains(&name) {
        SqlType::of_field(arguments.first()?)
    } else if name == "array_element" {
        match SqlType::of_field(arguments.first()?) {
            SqlType::Array(element) => *element,
            _ => return None,
        }
    } else {
        return None;
    };
    let typed = sql_type.field(field.name(), field.is_nullable());
    typed.data_type().equals_datatype(field.data_type()).then(|| Arc::new(typed))
}

/// Floats as keys and comparisons need them: one zero, one NaN.
fn canonical_value(value: ColumnarValue) -> ColumnarValue {
    match value {
        ColumnarValue::Array(array) => ColumnarValue::Array(canonical_column(&array)),
        ColumnarValue::Scalar(ScalarValue::Float64(Some(value))) => {
            ColumnarValue::Scalar(ScalarValue::Float64(Some(canonical_f64(value))))
        }
        ColumnarValue::Scalar(ScalarValue::Float32(Some(value))) => {
            ColumnarValue::Scalar(ScalarValue::Float32(Some(canonical_f32(value))))
        }
        scalar => scalar,
    }
}

/// A library's function whose panics are errors, and whose floats are canonical. Everything else is
/// the function's own, but for the types that Weir notes in metadata.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Guarded {
    inner: ScalarUDF,
}

impl Guarded {
    pub(super) fn new(inner: ScalarUDF) -> Self {
        Self { inner }
    }
}

impl ScalarUDFImpl for Guarded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.inner.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.inner().return_type(arguments)
    }

    fn with_updated_config(&self, config: &ConfigOptions) -> Option<ScalarUDF> {
        let updated = self.inner.inner().with_updated_config(config)?;
        Some(ScalarUDF::from(Guarded::new(updated)))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let (arguments, literals) = (args.arg_fields, args.scalar_arguments);
        let field = catch(self.name(), || self.inner.inner().return_field_from_args(args))?;
        Ok(polymorphic_field(self.name(), arguments, literals, &field).unwrap_or(field))
    }

    fn is_strict(&self) -> bool {
        self.inner.inner().is_strict()
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let field = Arc::clone(&args.return_field);
        let name = format!("function {}", self.name());
        let value = catch(&name, || self.inner.inner().invoke_with_args(args))?;
        let value = canonical_value(value);
        let (given, told) = (value.data_type(), field.data_type());
        // The function does not know of what is noted of elements.
        match given.is_list() && given != *told && given.equals_datatype(told) {
            true => told_list(value, told),
            false => Ok(value),
        }
    }

    fn simplify(&self, args: Vec<Expr>, context: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.inner.inner().simplify(args, context)
    }

    fn preimage(
        &self,
        args: &[Expr],
        literal: &Expr,
        context: &SimplifyContext,
    ) -> Result<PreimageResult> {
        self.inner.inner().preimage(args, literal, context)
    }

    fn short_circuits(&self) -> bool {
        self.inner.inner().short_circuits()
    }

    fn conditional_arguments<'a>(
        &self,
        args: &'a [Expr],
    ) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        self.inner.inner().conditional_arguments(args)
    }

    fn evaluate_bounds(&self, input: &[&Interval]) -> Result<Interval> {
        self.inner.inner().evaluate_bounds(input)
    }

    fn propagate_constraints(
        &self,
        interval: &Interval,
        inputs: &[&Interval],
    ) -> Result<Option<Vec<Interval>>> {
        self.inner.inner().propagate_constraints(interval, inputs)
    }

    fn output_ordering(&self, inputs: &[ExprProperties]) -> Result<SortProperties> {
        self.inner.inner().output_ordering(inputs)
    }

    fn preserves_lex_ordering(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.inner().preserves_lex_ordering(inputs)
    }

    fn strictly_order_preserving(&self, inputs: &[ExprProperties]) -> Result<bool> {
        self.inner.inner().strictly_order_preserving(inputs)
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.inner().coerce_types(arguments)
    }

    fn struct_field_mapping(&self, literals: &[Option<ScalarValue>]) -> Option<StructFieldMapping> {
        self.inner.inner().struct_field_mapping(literals)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.inner().documentation()
    }

    fn placement(&self, args: &[ExpressionPlacement]) -> ExpressionPlacement {
        self.inner.inner().placement(args)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::logical_expr::{Volatility, create_udf};

    use super::*;

    fn invoke(function: &ScalarUDF) -> std::result::Result<ColumnarValue, SqlError> {
        let field = Arc::new(arrow::datatypes::Field::new("x", DataType::Int64, true));
        let args = ScalarFunctionArgs {
            args: vec![ColumnarValue::Scalar(ScalarValue::Int64(Some(i64::MIN)))],
            arg_fields: vec![Arc::clone(&field)],
            number_rows: 1,
            return_field: field,
            config_options: Arc::new(ConfigOptions::new()),
        };
        function.invoke_with_args(args).map_err(SqlError::from)
    }

    fn failing(name: &str, message: &'static str) -> ScalarUDF {
        let work = Arc::new(move |_: &[ColumnarValue]| -> Result<ColumnarValue> {
            panic::panic_any(message)
        });
        let types = vec![DataType::Int64];
        let function = create_udf(name, types, DataType::Int64, Volatility::Immutable, work);
        ScalarUDF::from(Guarded::new(function))
    }

    #[test]
    fn a_panic_is_an_error_that_names_the_function() {
        let error = invoke(&failing("f", "index out of bounds")).expect_err("it panics");
        assert_eq!(
            (error.code, error.message.as_str()),
            (code::INTERNAL_ERROR, "function f failed")
        );
        let error = invoke(&failing("g", "attempt to subtract with overflow")).expect_err("too");
        assert_eq!(error.code, code::NUMERIC_VALUE_OUT_OF_RANGE);
        assert_eq!(error.message, "function g out of range");
    }

    #[test]
    fn all_functions_of_a_session_are_guarded() {
        let state = datafusion::execution::SessionStateBuilder::new().with_default_features();
        let state = super::super::functions::install(state.build()).expect("installs");
        let bare: Vec<_> = state
            .scalar_functions()
            .values()
            .filter(|function| !function.inner().is::<Guarded>())
            .map(|function| function.name().to_owned())
            .filter(|name| !name.starts_with("int_") && name != super::super::functions::SINGLE_ROW)
            .collect();
        assert!(bare.is_empty(), "{bare:?}");
    }
}
