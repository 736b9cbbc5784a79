//! Set-returning functions: in FROM, whatever their arguments read of the relations beside them
//! (`unnest(t.a)`, `jsonb_each(t.j)`, WITH ORDINALITY), and in a SELECT list.
//!
//! ```text
//! unnest(a) WITH ORDINALITY  =  unnest (project a, generate_series(1, length(a)) (one row))
//! SELECT generate_series(1, n) FROM t  =  SELECT unnest(array of the series) FROM t
//! ```
//!
//! What the arguments mean of the row beside is decorrelation's business.

use std::ops::ControlFlow;
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
use sqlparser::ast::{self, VisitMut, VisitorMut};

use super::function_syntax::call as syntax_call;
use super::parse::fold_ident;
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::{SetFunction, function, set_function};

/// The name of DataFusion's own `generate_series` in FROM. It is written without quotes.
pub(super) const STREAMED_SERIES: &str = "streamed_series";

/// Plans set-returning functions in FROM, where DataFusion does not.
#[derive(Debug)]
pub(super) struct SetFunctions;

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
                        DataType::List(_) => Ok(array),
                        other => Err(not_an_array(&other).into()),
                    }
                });
                (arrays.collect::<Result<Vec<_>>>()?, true, alias)
            }
            ast::TableFactor::Function { name, args, with_ordinality, alias, lateral } => {
                let Some(found) = named(&name) else {
                    let original =
                        ast::TableFactor::Function { lateral, name, args, with_ordinality, alias };
                    return Ok(RelationPlanning::Original(Box::new(original)));
                };
                let args = args.into_iter().map(|arg| match arg {
                    ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => {
                        context.sql_to_expr(expr, &none)
                    }
                    _ => {
                        let message = format!("a named argument of {}", found.name);
                        Err(SqlError::unsupported(message).into())
                    }
                });
                let args = args.collect::<Result<Vec<_>>>()?;
                let arrays = found
                    .columns
                    .iter()
                    .map(|(_, array)| Ok(call(&function(array)?, args.clone())));
                (arrays.collect::<Result<Vec<_>>>()?, with_ordinality, alias)
            }
            other => return Ok(RelationPlanning::Original(Box::new(other))),
        };
        let plan = Self::spread(elements, ordinality)?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias))))
    }
}

impl SetFunctions {
    /// The elements of arrays as rows, side by side.
    fn spread(elements: Vec<Expr>, ordinality: bool) -> Result<LogicalPlan> {
        let series = function("generate_series")?;
        let array_length = function("array_length")?;
        let name = |index: usize| format!("array {index}");
        let mut arrays = Vec::new();
        let mut outputs = Vec::new();
        let mut numbers = Vec::new();
        for (index, array) in elements.into_iter().enumerate() {
            let length = call(&array_length, vec![array.clone(), lit(1_i64)]);
            let length = cast(length, DataType::Int64);
            numbers.push(call(&series, vec![lit(1_i64), length]));
            arrays.push(array.alias(name(index)));
            outputs.push(Expr::Column(Column::new_unqualified(name(index))));
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

/// The set-returning function of this name.
pub(super) fn named(name: &ast::ObjectName) -> Option<SetFunction> {
    let parts: Vec<String> =
        name.0.iter().map(|part| part.as_ident().map(fold_ident)).collect::<Option<_>>()?;
    match parts.as_slice() {
        [name] => set_function(name),
        [schema, name] if schema == "pg_catalog" => set_function(name),
        _ => None,
    }
}

/// Is this the name of `unnest`?
pub(super) fn is_unnest(name: &ast::ObjectName) -> bool {
    matches!(name.0.as_slice(), [part]
        if part.as_ident().is_some_and(|name| fold_ident(name) == "unnest"))
}

/// Whether a relation is a call that is to be planned here: of every set-returning function but
/// `generate_series` of two whole numbers, whose rows DataFusion makes without an array of them.
pub(super) fn is_planned(name: &ast::ObjectName, args: &[ast::FunctionArg]) -> bool {
    let is_streamed = |function: SetFunction| {
        function.name == "generate_series" && args.iter().all(|arg| whole_number(arg).is_some())
    };
    named(name).is_some_and(|function| !is_streamed(function))
}

/// The number that an argument is written as.
pub(super) fn whole_number(arg: &ast::FunctionArg) -> Option<i64> {
    let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) = arg else { return None };
    let (sign, expr) = match expr {
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => ("-", expr.as_ref()),
        expr => ("", expr),
    };
    match expr {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(digits, _) => format!("{sign}{digits}").parse().ok(),
            _ => None,
        },
        _ => None,
    }
}

/// Makes a call of a set-returning function in a SELECT list `unnest` of the function's array.
pub(super) fn spread_in_lists(query: &mut ast::Query) -> SqlResult<()> {
    match query.visit(&mut Lists) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Lists;

impl VisitorMut for Lists {
    type Break = SqlError;

    fn pre_visit_select(&mut self, select: &mut ast::Select) -> ControlFlow<SqlError> {
        for item in &mut select.projection {
            let (ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. }) =
                item
            else {
                continue;
            };
            expr.visit(&mut Spread { queries: 0 })?;
        }
        ControlFlow::Continue(())
    }
}

/// Wraps the calls in an expression, not those in its subqueries.
struct Spread {
    queries: usize,
}

impl VisitorMut for Spread {
    type Break = SqlError;

    fn pre_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<SqlError> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<SqlError> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<SqlError> {
        if self.queries > 0 {
            return ControlFlow::Continue(());
        }
        let array = match expr {
            ast::Expr::Function(function) => match named(&function.name).map(|f| f.columns) {
                Some([(_, array)]) => called(array, function),
                _ => return ControlFlow::Continue(()),
            },
            // `(jsonb_each(j)).key` is the function that gives the keys.
            ast::Expr::CompoundFieldAccess { root, access_chain } => {
                let ast::Expr::Nested(inner) = root.as_ref() else {
                    return ControlFlow::Continue(());
                };
                match (inner.as_ref(), access_chain.as_slice()) {
                    (
                        ast::Expr::Function(function),
                        [ast::AccessExpr::Dot(ast::Expr::Identifier(field))],
                    ) => {
                        let columns = named(&function.name).map_or(&[][..], |f| f.columns);
                        let field = fold_ident(field);
                        match columns.iter().find(|(name, _)| *name == Some(field.as_str())) {
                            Some((_, array)) => called(array, function),
                            None => return ControlFlow::Continue(()),
                        }
                    }
                    _ => return ControlFlow::Continue(()),
                }
            }
            _ => return ControlFlow::Continue(()),
        };
        match syntax_call("unnest", vec![array]) {
            Ok(call) => {
                *expr = call;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// The same call of another function.
fn called(name: &str, call: &ast::Function) -> ast::Expr {
    let name = ast::ObjectName::from(vec![ast::Ident::with_quote('"', name)]);
    ast::Expr::Function(ast::Function { name, ..call.clone() })
}

fn not_an_array(given: &DataType) -> SqlError {
    let given = crate::types::SqlType::of_arrow(given);
    let message = format!("function unnest({given}) does not exist");
    SqlError::new(code::UNDEFINED_FUNCTION, message)
}
