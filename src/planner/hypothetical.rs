//! `rank`, `dense_rank`, `percent_rank` and `cume_dist` `(a, ...) WITHIN GROUP (ORDER BY x, ...)`,
//! as counts of the rows that come before the hypothetical one (see `expr::functions::ROW_ORDER`):
//! a view keeps them by what changes.

use sqlparser::ast::{self, BinaryOperator, Expr};

use super::function_syntax::{call, cast, number};
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::{ROW_KEY, ROW_ORDER};
use crate::types::SqlType;

const NAMES: [&str; 4] = ["cume_dist", "dense_rank", "percent_rank", "rank"];

/// What a call of the function `name` with WITHIN GROUP is, if it is one of these.
pub(super) fn counted(name: &str, function: &ast::Function) -> SqlResult<Option<Expr>> {
    if function.within_group.is_empty() || !NAMES.contains(&name) {
        return Ok(None);
    }
    let ast::FunctionArguments::List(list) = &function.args else { return Ok(None) };
    if function.over.is_some() {
        let message = format!("OVER is not supported for ordered-set aggregate {name}");
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    if list.duplicate_treatment.is_some() {
        let message = "cannot use DISTINCT with WITHIN GROUP";
        return Err(SqlError::new(code::SYNTAX_ERROR, message));
    }
    let row = row_of(name, &list.args, function.within_group.len())?;
    let columns = || function.within_group.iter().map(|order| order.expr.clone());
    let filter = function.filter.as_deref();

    let order = || {
        let args = columns().chain(row.iter().cloned()).chain([letters(&function.within_group)]);
        call(ROW_ORDER, args.collect())
    };
    let before = || Ok::<_, SqlError>(both(filter, compare(order()?, BinaryOperator::Lt)));
    let all = || count(Vec::new(), filter.cloned());
    Ok(Some(match name {
        "rank" => one_more(count(Vec::new(), Some(before()?))?),
        "dense_rank" => {
            one_more(count(vec![call(ROW_KEY, columns().collect())?], Some(before()?))?)
        }
        "percent_rank" => {
            let share = over(count(Vec::new(), Some(before()?))?, all()?)?;
            // Among no rows it is the first.
            call("coalesce", vec![share, cast(number("0"), &SqlType::Double)?])?
        }
        _ => {
            let upto = both(filter, compare(order()?, BinaryOperator::LtEq));
            over(one_more(count(Vec::new(), Some(upto))?), one_more(all()?))?
        }
    }))
}

/// The hypothetical row: as many values as there are columns to order by.
fn row_of(name: &str, args: &[ast::FunctionArg], columns: usize) -> SqlResult<Vec<Expr>> {
    let row: Option<Vec<Expr>> = args
        .iter()
        .map(|arg| match arg {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(value)) => Some(value.clone()),
            _ => None,
        })
        .collect();
    row.filter(|row| row.len() == columns).ok_or_else(|| {
        let given = args.len();
        let message = format!(
            "function {name} of {given} arguments WITHIN GROUP of {columns} columns does not exist"
        );
        SqlError::new(code::UNDEFINED_FUNCTION, message).hint(format!(
            "To use the hypothetical-set aggregate {name}, the number of hypothetical direct \
             arguments (here {given}) must match the number of ordering columns (here {columns})."
        ))
    })
}

/// How the columns are ordered, in letters.
fn letters(orders: &[ast::OrderByExpr]) -> Expr {
    let mut letters = String::new();
    for order in orders {
        let descending = order.options.asc == Some(false);
        letters.push(if descending { 'D' } else { 'A' });
        letters.push(if order.options.nulls_first.unwrap_or(descending) { 'F' } else { 'L' });
    }
    Expr::Value(ast::Value::SingleQuotedString(letters).with_empty_span())
}

/// `count(*)`, or `count(DISTINCT x)`, of the rows where `filter` holds.
fn count(distinct: Vec<Expr>, filter: Option<Expr>) -> SqlResult<Expr> {
    let is_distinct = !distinct.is_empty();
    let mut count = call("count", distinct)?;
    if let Expr::Function(function) = &mut count {
        function.filter = filter.map(Box::new);
        if let ast::FunctionArguments::List(list) = &mut function.args {
            match is_distinct {
                true => list.duplicate_treatment = Some(ast::DuplicateTreatment::Distinct),
                false => {
                    list.args = vec![ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Wildcard)];
                }
            }
        }
    }
    Ok(count)
}

fn both(filter: Option<&Expr>, condition: Expr) -> Expr {
    match filter {
        None => condition,
        Some(filter) => binary(nested(filter.clone()), BinaryOperator::And, condition),
    }
}

fn compare(order: Expr, op: BinaryOperator) -> Expr {
    binary(order, op, number("0"))
}

fn one_more(count: Expr) -> Expr {
    nested(binary(number("1"), BinaryOperator::Plus, count))
}

/// `one / other`, NULL over nothing.
fn over(one: Expr, other: Expr) -> SqlResult<Expr> {
    let other = call("nullif", vec![other, number("0")])?;
    Ok(nested(binary(cast(one, &SqlType::Double)?, BinaryOperator::Divide, other)))
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

fn nested(expr: Expr) -> Expr {
    Expr::Nested(Box::new(expr))
}
