//! Types that Weir notes in a field's metadata (`uuid`, `jsonb`, `varchar(5)` are all text to
//! Arrow), kept where DataFusion forgets them: a CASE of uuids is a uuid.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{Case, ScalarFunction};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, ReturnFieldArgs,
    ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Unnest, Volatility,
};

use super::arrays::plain_name;
use super::library::scalar_of;
use crate::types::SqlType;

/// Functions that give one of their arguments' values.
const GIVING_VALUES: &[&str] = &["coalesce", "greatest", "least", "nullif", "nvl"];

/// Functions that give an array of the same elements as an array that they are given.
const GIVING_ARRAYS: &[&str] = &[
    "array_append",
    "array_concat",
    "array_prepend",
    "array_remove",
    "array_replace",
    "array_slice",
    "trim_array",
];

/// A choice among values of one noted type, with the note.
pub(super) fn noted(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    match noted_type(&expr, schema, Literals::AreTexts) {
        Some(sql_type) => Transformed::yes(of_type(sql_type, expr)),
        None => Transformed::no(expr),
    }
}

/// `unnest` with the types of the arrays' elements.
pub(super) fn noted_elements(unnest: Unnest) -> Result<LogicalPlan> {
    let mut types: HashMap<usize, SqlType> = HashMap::new();
    for (index, list) in &unnest.list_type_columns {
        let array = SqlType::of_field(unnest.input.schema().field(*index));
        let element = (0..list.depth).fold(array, |array, _| match array {
            SqlType::Array(element) => *element,
            other => other,
        });
        if is_noted(&element) {
            let column = unnest.schema.index_of_column(&list.output_column)?;
            types.insert(column, element);
        }
    }
    let plan = LogicalPlan::Unnest(unnest);
    if types.is_empty() {
        return Ok(plan);
    }
    let columns = plan.schema().iter().enumerate().map(|(index, (qualifier, field))| {
        let column = Expr::Column(Column::from((qualifier, field)));
        match types.remove(&index) {
            Some(sql_type) => {
                of_type(sql_type, column).alias_qualified(qualifier.cloned(), field.name())
            }
            None => column,
        }
    });
    let columns: Vec<Expr> = columns.collect();
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// Whether Arrow's type does not tell all of a type.
pub fn is_noted(sql_type: &SqlType) -> bool {
    match sql_type {
        SqlType::Array(element) => is_noted(element),
        other => !other.field("", true).metadata().is_empty(),
    }
}

/// A value with the note of its type. It may be NULL as far as a plan knows.
pub fn of_type(sql_type: SqlType, expr: Expr) -> Expr {
    let function = Arc::new(noting(sql_type));
    Expr::ScalarFunction(ScalarFunction::new_udf(function, vec![expr]))
}

fn noting(sql_type: SqlType) -> ScalarUDF {
    let signature = Signature::any(1, Volatility::Immutable);
    ScalarUDF::from(Noted { name: noting_name(&sql_type), sql_type, signature })
}

/// The name of the function that notes a type.
pub fn noting_name(sql_type: &SqlType) -> String {
    format!("of type {sql_type}")
}

/// Those that are called by name.
pub(super) fn all() -> Vec<ScalarUDF> {
    vec![noting(SqlType::Jsonb), noting(SqlType::Json)]
}

/// The type of the elements of the array that a set-returning function is made of, if Arrow's
/// does not tell it.
pub fn noted_element(array: &str) -> Option<SqlType> {
    match array {
        "jsonb_array_elements" | "jsonb_each_values" => Some(SqlType::Jsonb),
        "json_array_elements" | "json_each_values" => Some(SqlType::Json),
        _ => None,
    }
}

/// The type of an operand, with the note that it will have when the query is planned.
pub fn operand_type(expr: &Expr, schema: &DFSchema) -> Option<SqlType> {
    let (_, field) = expr.to_field(schema).ok()?;
    match field.data_type() {
        DataType::Null => None,
        DataType::Utf8 => {
            let noted = noted_type(expr, schema, Literals::AreUntyped);
            Some(noted.unwrap_or_else(|| SqlType::of_field(&field)))
        }
        _ => Some(SqlType::of_field(&field)),
    }
}

/// What string literals are beside values of a noted type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Literals {
    /// Of that type, when they are read.
    AreUntyped,
    /// As they lie in the plan.
    AreTexts,
}

fn noted_type(expr: &Expr, schema: &DFSchema, literals: Literals) -> Option<SqlType> {
    let values: Vec<&Expr> = match expr {
        Expr::Case(Case { when_then_expr, else_expr, .. }) => {
            let results = when_then_expr.iter().map(|(_, then)| then.as_ref());
            results.chain(else_expr.as_deref()).collect()
        }
        Expr::ScalarFunction(call) if GIVING_VALUES.contains(&call.func.name()) => {
            call.args.iter().collect()
        }
        Expr::ScalarFunction(call) if call.func.name() == "make_array" => {
            let element = common_note(call.args.iter(), schema, literals)?;
            return Some(SqlType::Array(Box::new(element)));
        }
        Expr::ScalarFunction(call) if GIVING_ARRAYS.contains(&plain_name(call.func.name())) => {
            let is_array = |arg: &&Expr| arg.get_type(schema).is_ok_and(|kind| kind.is_list());
            let array = common_note(call.args.iter().filter(is_array), schema, literals)?;
            let (_, own) = expr.to_field(schema).ok()?;
            return (SqlType::of_field(&own) != array).then_some(array);
        }
        Expr::ScalarFunction(call) if call.func.name() == "array_element" => {
            return element_type(call.args.first()?, schema);
        }
        _ => return None,
    };
    common_note(values.into_iter(), schema, literals)
}

/// The type that values have in common, if it is noted.
fn common_note<'a>(
    values: impl Iterator<Item = &'a Expr>,
    schema: &DFSchema,
    literals: Literals,
) -> Option<SqlType> {
    let mut common = None;
    for value in values {
        if literals == Literals::AreUntyped
            && matches!(value, Expr::Literal(ScalarValue::Utf8(Some(_)), None))
        {
            continue;
        }
        let Some(sql_type) = operand_type(value, schema) else { continue };
        if *common.get_or_insert_with(|| sql_type.clone()) != sql_type {
            return None;
        }
    }
    common.filter(is_noted)
}

/// The type of an array's elements, where it is noted; one of several dimensions has none.
fn element_type(array: &Expr, schema: &DFSchema) -> Option<SqlType> {
    let (_, field) = array.to_field(schema).ok()?;
    let DataType::List(item) = field.data_type() else { return None };
    match SqlType::of_field(&field) {
        SqlType::Array(element) if !item.data_type().is_nested() => Some(*element).filter(is_noted),
        _ => None,
    }
}

/// `"of type t"(x)`: `x`, which is a `t`.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Noted {
    name: String,
    sql_type: SqlType,
    signature: Signature,
}

impl ScalarUDFImpl for Noted {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(self.sql_type.to_arrow())
    }

    fn return_field_from_args(&self, _args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        Ok(Arc::new(self.sql_type.field("", true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let is_scalar = matches!(args.args[0], ColumnarValue::Scalar(_));
        let values = args.args[0].to_array(if is_scalar { 1 } else { args.number_rows })?;
        // What is noted of elements is part of an array's type.
        let values = cast(&values, args.return_type())?;
        Ok(match is_scalar {
            true => ColumnarValue::Scalar(scalar_of(&values)?),
            false => ColumnarValue::Array(values),
        })
    }
}
