//! Set-returning functions: in FROM, whatever their arguments read of the relations beside them
//! (`unnest(t.a)`, `jsonb_each(t.j)`, WITH ORDINALITY), and in a SELECT list.
//!
//! ```text
//! unnest(a) WITH ORDINALITY  =  unnest (project a, generate_series(1, length(a)) (one row))
//! SELECT generate_series(1, n) FROM t  =  SELECT unnest(array of the series) FROM t
//! SELECT t.b AS a, unnest(t.a) FROM t
//!     =  SELECT x AS a, unnest(y) AS unnest FROM (SELECT t.b AS x, t.a AS y FROM t)
//! ```
//!
//! What the arguments mean of the row beside is decorrelation's business.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
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
use super::parse::{fold_ident, parse_query};
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::{
    SetFunction, function, noted_element, noting_name, of_type, set_function,
};
use crate::types::SqlType;

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
                with_ordinality,
                with_offset: false,
                with_offset_alias: None,
            } => {
                let arrays =
                    array_exprs.iter().map(|expr| context.sql_to_expr(expr.clone(), &none));
                let arrays = arrays.collect::<Result<Vec<_>>>()?;
                let mut noted = false;
                for array in &arrays {
                    let (_, field) = array.to_field(&none)?;
                    noted |= element_note(&field).is_some();
                    if with_ordinality && !matches!(field.data_type(), DataType::List(_)) {
                        return Err(not_an_array(field.data_type()).into());
                    }
                }
                // DataFusion calls the elements by their arrays.
                let repeated = (1..arrays.len()).any(|at| arrays[..at].contains(&arrays[at]));
                if !with_ordinality && !noted && !repeated {
                    let original = ast::TableFactor::UNNEST {
                        alias,
                        array_exprs,
                        with_ordinality,
                        with_offset: false,
                        with_offset_alias: None,
                    };
                    return Ok(RelationPlanning::Original(Box::new(original)));
                }
                (arrays, with_ordinality, alias)
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
            let (_, field) = array.to_field(&DFSchema::empty())?;
            let element = Expr::Column(Column::new_unqualified(name(index)));
            outputs.push(match element_note(&field) {
                Some(sql_type) => of_type(sql_type, element).alias(name(index)),
                None => element,
            });
            arrays.push(array.alias(name(index)));
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

/// The type of an array's elements, if Arrow's does not tell it.
fn element_note(array: &Field) -> Option<SqlType> {
    match SqlType::of_field(array) {
        SqlType::Array(element) if !element.field("", true).metadata().is_empty() => Some(*element),
        _ => None,
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

    fn post_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
        if query.order_by.is_none()
            && let ast::SetExpr::Select(select) = query.body.as_mut()
            && calls_alike(select)
            && let Err(error) = compute_below(select)
        {
            return ControlFlow::Break(error);
        }
        ControlFlow::Continue(())
    }
}

/// Whether a list that spreads arrays calls a column as one of those that it reads is called: they
/// are planned side by side.
fn calls_alike(select: &mut ast::Select) -> bool {
    let mut spreads = 0;
    let mut aliases = Vec::new();
    for item in &mut select.projection {
        let ast::SelectItem::ExprWithAlias { expr, alias } = item else { return false };
        spreads += usize::from(spread_array(expr).is_some());
        aliases.push(fold_ident(alias));
    }
    let whole = !matches!(select.distinct, Some(ast::Distinct::On(_)));
    let alike = ast::visit_expressions(&select.projection, |expr| match expr {
        ast::Expr::CompoundIdentifier(parts)
            if parts.last().is_some_and(|name| aliases.contains(&fold_ident(name))) =>
        {
            ControlFlow::Break(())
        }
        ast::Expr::Identifier(name) if aliases.contains(&fold_ident(name)) => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    let mut calls = 0;
    let _ = ast::visit_expressions(&select.projection, |expr| {
        let is_call = matches!(expr, ast::Expr::Function(function) if is_unnest(&function.name));
        calls += usize::from(is_call);
        ControlFlow::<()>::Continue(())
    });
    // None is within another expression.
    spreads > 0 && calls == spreads && whole && alike.is_break()
}

/// The array whose elements an item gives, in the place where it stands.
fn spread_array(expr: &mut ast::Expr) -> Option<&mut ast::Expr> {
    let ast::Expr::Function(function) = expr else { return None };
    let noting = [SqlType::Jsonb, SqlType::Json].map(|sql_type| noting_name(&sql_type));
    let is_noting = matches!(function.name.0.as_slice(), [part]
        if part.as_ident().is_some_and(|name| noting.contains(&name.value)));
    let ast::FunctionArguments::List(list) = &mut function.args else { return None };
    match list.args.as_mut_slice() {
        [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(argument))] => {
            if is_noting {
                return spread_array(argument);
            }
            is_unnest(&function.name).then_some(argument)
        }
        _ => None,
    }
}

/// Computes what a list gives, and the arrays that it spreads, in a query below.
fn compute_below(select: &mut ast::Select) -> SqlResult<()> {
    let text = "SELECT 1 FROM (SELECT 1) AS \"list below\"";
    let mut outer = (*parse_query(text)?.tree).clone();
    let ast::SetExpr::Select(above) = outer.body.as_mut() else { return Ok(()) };
    above.projection.clear();
    for (number, item) in select.projection.iter_mut().enumerate() {
        let ast::SelectItem::ExprWithAlias { expr, alias } = item else { continue };
        let name = ast::Ident::with_quote('"', format!("list item {number}"));
        let below = ast::Expr::Identifier(name.clone());
        let computed = match spread_array(expr) {
            Some(array) => std::mem::replace(array, below),
            None => std::mem::replace(expr, below),
        };
        let given = std::mem::replace(expr, computed);
        let alias = std::mem::replace(alias, name);
        above.projection.push(ast::SelectItem::ExprWithAlias { expr: given, alias });
    }
    above.distinct = select.distinct.take();
    if let [ast::TableWithJoins { relation: ast::TableFactor::Derived { subquery, .. }, .. }] =
        above.from.as_mut_slice()
    {
        let below = select.clone();
        *subquery.body = ast::SetExpr::Select(Box::new(below));
    }
    *select = above.as_ref().clone();
    Ok(())
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
                Some([(_, array)]) => spread(array, function),
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
                            Some((_, array)) => spread(array, function),
                            None => return ControlFlow::Continue(()),
                        }
                    }
                    _ => return ControlFlow::Continue(()),
                }
            }
            _ => return ControlFlow::Continue(()),
        };
        match array {
            Ok(call) => {
                *expr = call;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// The elements of the array that another function gives.
fn spread(array: &str, call: &ast::Function) -> SqlResult<ast::Expr> {
    let elements = syntax_call("unnest", vec![called(array, call)])?;
    match noted_element(array) {
        Some(sql_type) => syntax_call(&noting_name(&sql_type), vec![elements]),
        None => Ok(elements),
    }
}

/// The same call of another function.
fn called(name: &str, call: &ast::Function) -> ast::Expr {
    let name = ast::ObjectName::from(vec![ast::Ident::with_quote('"', name)]);
    ast::Expr::Function(ast::Function { name, ..call.clone() })
}

fn not_an_array(given: &DataType) -> SqlError {
    let given = SqlType::of_arrow(given);
    let message = format!("function unnest({given}) does not exist");
    SqlError::new(code::UNDEFINED_FUNCTION, message)
}
