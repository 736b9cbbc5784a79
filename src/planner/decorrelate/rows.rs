//! What SQL writes that DataFusion's planner has no word for: rows on the left of a quantified
//! comparison, and `ARRAY(subquery)`.
//!
//! `(a, b) IN (SELECT x, y ...)` is planned as `row(a, b) IN (SELECT row(x, y) ...)`, with a
//! function that is only a mark: decorrelation takes it apart again, and compares column by column.
//!
//! Subqueries have marks too, with numbers: expressions over different ones have the same name
//! otherwise, and a plan may not have a name twice.

use std::sync::{Arc, LazyLock};

use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    TypeSignature, Volatility,
};

use crate::error::SqlError;

/// The mark of `ARRAY(subquery)`: a name that nobody can write without quotes.
pub(in crate::planner) const ARRAY: &str = "array of subquery";
/// The mark of a subquery, and its number.
pub(in crate::planner) const SUBQUERY: &str = "numbered subquery";
/// The mark of a row.
pub(in crate::planner) use crate::expr::functions::SUBQUERY_ROW as ROW;

/// A function that is gone before anything runs.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Mark {
    name: &'static str,
    signature: Signature,
}

impl Mark {
    fn function(name: &'static str) -> Arc<ScalarUDF> {
        let signature = Signature::new(TypeSignature::VariadicAny, Volatility::Immutable);
        Arc::new(ScalarUDF::from(Self { name, signature }))
    }
}

impl ScalarUDFImpl for Mark {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        if self.name == SUBQUERY {
            return Ok(arguments.first().cloned().unwrap_or(DataType::Null));
        }
        if self.name == ARRAY {
            let element = arguments.first().cloned().unwrap_or(DataType::Null);
            return Ok(DataType::List(Arc::new(Field::new_list_field(element, true))));
        }
        let fields = arguments.iter().enumerate();
        let field = |(index, given): (usize, &DataType)| {
            Field::new(format!("f{}", index + 1), given.clone(), true)
        };
        Ok(DataType::Struct(fields.map(field).collect()))
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        if self.name == SUBQUERY
            && let Some(value) = args.arg_fields.first()
        {
            return Ok(Arc::clone(value));
        }
        let types: Vec<_> = args.arg_fields.iter().map(|f| f.data_type().clone()).collect();
        Ok(Arc::new(Field::new(self.name, self.return_type(&types)?, true)))
    }

    fn invoke_with_args(&self, _args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(SqlError::unsupported("a row or an array of a subquery in this place").into())
    }
}

/// Stands for `ARRAY(subquery)`, with the subquery for its argument.
pub(in crate::planner) fn array_function() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| Mark::function(ARRAY));
    Arc::clone(&FUNCTION)
}

/// Stands for its first argument, a subquery whose number is the second.
pub(in crate::planner) fn subquery_function() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| Mark::function(SUBQUERY));
    Arc::clone(&FUNCTION)
}

/// The subquery that has a number, if `expr` is one.
pub(super) fn numbered(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::ScalarFunction(call) if call.func.name() == SUBQUERY => call.args.first(),
        _ => None,
    }
}

/// Stands for a row of its arguments.
pub(in crate::planner) fn row_function() -> Arc<ScalarUDF> {
    static FUNCTION: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| Mark::function(ROW));
    Arc::clone(&FUNCTION)
}

/// The columns of a row; anything else is a row of itself.
pub(super) fn columns_of_row(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::Alias(alias) => columns_of_row(*alias.expr),
        Expr::ScalarFunction(call) if call.func.name() == ROW => call.args,
        other => vec![other],
    }
}
