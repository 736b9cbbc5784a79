//! Functions in FROM whose arguments come from other relations of it: `unnest(t.a)`,
//! `generate_series(1, t.n)`, WITH ORDINALITY.
//!
//! ```text
//! unnest(a) WITH ORDINALITY  =  unnest (project a, generate_series(1, length(a)) (one row))
//! ```
//!
//! What the arguments mean of the row beside is decorrelation's business.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::{Column, DFSchema, NullHandling, Result, UnnestOptions};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{
    PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion::logical_expr::{
    Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, ScalarUDF, cast, lit,
};
use sqlparser::ast;

use super::parse::fold_ident;
use crate::error::{SqlError, code};

/// Plans `unnest` and `generate_series` in FROM, where DataFusion does not.
#[derive(Debug)]
pub(super) struct SetFunctions {
    pub(super) generate_series: Arc<ScalarUDF>,
    pub(super) cardinality: Arc<ScalarUDF>,
}

impl RelationPlanner for SetFunctions {
    fn plan_relation(
        &self,
        relation: ast::TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let none = DFSchema::empty();
        let (elements, ordinality, alias) = match relation {
            ast::TableFactor::UNNEST {
                alias,
                array_exprs,
                with_ordinality: true,
                with_offset: false,
                with_offset_alias: None,
            } => {
                let arrays = array_exprs.into_iter().map(|expr| {
                    let array = context.sql_to_expr(expr, &none)?;
                    match array.get_type(&none)? {
                        DataType::List(_) => Ok(Elements { array, of: None }),
                        other => Err(not_an_array(&other).into()),
                    }
                });
                (arrays.collect::<Result<Vec<_>>>()?, true, alias)
            }
            ast::TableFactor::Function { name, args, with_ordinality, alias, .. }
                if is_series(&name) =>
            {
                let args = args.into_iter().map(|arg| match arg {
                    ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => {
                        context.sql_to_expr(expr, &none)
                    }
                    _ => Err(SqlError::unsupported("a named argument of generate_series").into()),
                });
                let args = args.collect::<Result<_>>()?;
                (vec![self.series(args, &none)?], with_ordinality, alias)
            }
            other => return Ok(RelationPlanning::Original(Box::new(other))),
        };
        let plan = self.spread(elements, ordinality)?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))))
    }
}

/// An array whose elements are rows.
struct Elements {
    array: Expr,
    /// The type of the elements, if it is another than the array's.
    of: Option<DataType>,
}

impl SetFunctions {
    /// A series of integers is of integers, one with a bigint of bigints.
    fn series(&self, args: Vec<Expr>, schema: &DFSchema) -> Result<Elements> {
        let mut integers = true;
        let mut first = None;
        for arg in &args {
            let given = arg.get_type(schema)?;
            let small = match arg {
                // Literals are narrowed later.
                Expr::Literal(datafusion::common::ScalarValue::Int64(Some(number)), _) => {
                    i32::try_from(*number).is_ok()
                }
                _ => matches!(given, DataType::Int32 | DataType::Int16),
            };
            integers &= small;
            first.get_or_insert(given);
        }
        let of = match first {
            _ if integers => Some(DataType::Int32),
            Some(DataType::Timestamp(unit, zone)) => Some(DataType::Timestamp(unit, zone)),
            _ => None,
        };
        let whole = |arg: Expr| {
            let given = arg.get_type(schema)?;
            Ok(if given.is_integer() { cast(arg, DataType::Int64) } else { arg })
        };
        let args = args.into_iter().map(whole).collect::<Result<_>>()?;
        Ok(Elements { array: call(&self.generate_series, args), of })
    }

    fn spread(&self, elements: Vec<Elements>, ordinality: bool) -> Result<LogicalPlan> {
        let name = |index: usize| format!("array {index}");
        let mut arrays = Vec::new();
        let mut outputs = Vec::new();
        let mut numbers = Vec::new();
        for (index, Elements { array, of }) in elements.into_iter().enumerate() {
            let length = call(&self.cardinality, vec![array.clone()]);
            let length = cast(length, DataType::Int64);
            numbers.push(call(&self.generate_series, vec![lit(1_i64), length]));
            arrays.push(array.alias(name(index)));
            let element = Expr::Column(Column::new_unqualified(name(index)));
            outputs.push(match of {
                Some(of) => cast(element, of).alias(format!("element {index}")),
                None => element,
            });
        }
        if ordinality {
            // Of several arrays the longest counts; each brings numbers, and they are the same.
            let count = numbers.len();
            let first = arrays.len();
            for (index, numbers) in numbers.into_iter().enumerate() {
                arrays.push(numbers.alias(name(first + index)));
            }
            let number = |index: usize| Expr::Column(Column::new_unqualified(name(first + index)));
            let mut all = (0..count).map(number);
            let ordinal = match all.next() {
                Some(one) if count == 1 => one,
                Some(one) => {
                    let coalesce = datafusion::functions::core::coalesce();
                    call(&coalesce, std::iter::once(one).chain(all).collect())
                }
                None => return Err(SqlError::internal("unnest of nothing").into()),
            };
            outputs.push(ordinal.alias("ordinality"));
        }
        let columns = (0..arrays.len()).map(|index| Column::new_unqualified(name(index))).collect();
        let options = UnnestOptions::new().with_null_handling(NullHandling::Drop);
        LogicalPlanBuilder::empty(true)
            .project(arrays)?
            .unnest_columns_with_options(columns, options)?
            .project(outputs)?
            .build()
    }
}

fn call(function: &Arc<ScalarUDF>, args: Vec<Expr>) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(function), args))
}

/// Is this the name of `generate_series`?
pub(super) fn is_series(name: &ast::ObjectName) -> bool {
    let last = name.0.last().and_then(|part| part.as_ident());
    last.is_some_and(|name| fold_ident(name) == "generate_series")
}

fn not_an_array(given: &DataType) -> SqlError {
    let given = crate::types::SqlType::of_arrow(given);
    let message = format!("function unnest({given}) does not exist");
    SqlError::new(code::UNDEFINED_FUNCTION, message)
}
