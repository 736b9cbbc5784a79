//! Syntax that PostgreSQL has for functions, and DataFusion reads otherwise or not at all, as calls
//! of those functions: `AT TIME ZONE`, `SIMILAR TO`, `LIKE ... ESCAPE`, `OVERLAPS`,
//! `= ANY (array)`, prefix operators, interval literals, array slices without a bound, named
//! arguments, casts that are written as functions, and rows (`row_syntax`).

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, VisitMut, VisitorMut};

use super::dml::number_text;
use super::hypothetical::counted;
use super::parse::{fold_ident, parse_expression};
use super::regressions;
use super::row_syntax::{flatten_groups, row, spelled_row};
use super::sequence_names::unwrap_regclass;
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::{ANY_EQUAL, ARRAY_OVERLAPS, UNTYPED};
use crate::types::SqlType;

/// Rewrites a query, those of its subqueries too.
pub(super) fn spell_functions(query: &mut ast::Query) -> SqlResult<()> {
    match query.visit(&mut Spelling) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Spelling;

impl VisitorMut for Spelling {
    type Break = SqlError;

    fn pre_visit_select(&mut self, select: &mut ast::Select) -> ControlFlow<SqlError> {
        match flatten_groups(&mut select.group_by) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        let spelled = match spelled_row(expr) {
            Ok(None) => respelled(expr),
            spelled => spelled,
        };
        match spelled {
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(new)) => {
                *expr = new;
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// What an expression is written as otherwise. Its parts have been rewritten already.
fn respelled(expr: &mut Expr) -> SqlResult<Option<Expr>> {
    let take = |expr: &mut Box<Expr>| std::mem::replace(expr.as_mut(), null());
    match expr {
        Expr::AtTimeZone { timestamp, time_zone } => {
            call("timezone", vec![take(time_zone), take(timestamp)]).map(Some)
        }
        Expr::SimilarTo { negated, expr, pattern, escape_char } => {
            let mut args = vec![take(expr), take(pattern)];
            args.extend(escape_char.take().map(Expr::Value));
            negate(call("similar_to", args)?, *negated)
        }
        Expr::Like { negated, any: false, expr, pattern, escape_char: escape @ Some(_) } => {
            let mut args = vec![take(expr), take(pattern)];
            args.extend(escape.take().map(Expr::Value));
            negate(call("like_escaped", args)?, *negated)
        }
        Expr::AnyOp { left, compare_op: ast::BinaryOperator::Eq, right, .. }
            if !matches!(right.as_ref(), Expr::Subquery(_)) =>
        {
            call(ANY_EQUAL, vec![take(left), take(right)]).map(Some)
        }
        Expr::BinaryOp { left, op: ast::BinaryOperator::Overlaps, right } => {
            let (Some(left), Some(right)) = (row(left), row(right)) else { return Ok(None) };
            call("overlaps", left.into_iter().chain(right).collect()).map(Some)
        }
        Expr::BinaryOp { left, op: ast::BinaryOperator::PGOverlap, right } => {
            call(ARRAY_OVERLAPS, vec![take(left), take(right)]).map(Some)
        }
        Expr::Tuple(columns) => call("row", std::mem::take(columns)).map(Some),
        Expr::UnaryOp { op, expr } => {
            let name = match op {
                ast::UnaryOperator::PGSquareRoot => "sqrt",
                ast::UnaryOperator::PGCubeRoot => "cbrt",
                ast::UnaryOperator::PGAbs => "abs",
                ast::UnaryOperator::BitwiseNot => "bit_not",
                _ => return Ok(None),
            };
            let mut argument = take(expr);
            if matches!(name, "sqrt" | "cbrt") {
                argument = cast(argument, &SqlType::Double)?;
            }
            call(name, vec![argument]).map(Some)
        }
        Expr::Interval(interval) if interval.leading_field.is_none() => {
            match is_text(&interval.value) {
                true => cast(take(&mut interval.value), &SqlType::Interval).map(Some),
                false => Ok(None),
            }
        }
        Expr::CompoundFieldAccess { access_chain, .. } => {
            for access in access_chain {
                if let ast::AccessExpr::Subscript(ast::Subscript::Slice {
                    lower_bound,
                    upper_bound,
                    ..
                }) = access
                {
                    lower_bound.get_or_insert_with(|| number("1"));
                    upper_bound.get_or_insert_with(|| number("2147483647"));
                }
            }
            Ok(None)
        }
        Expr::Function(function) => {
            unwrap_regclass(function);
            leave_arguments_untyped(function)?;
            keep_constants(function);
            function_form(function)
        }
        Expr::Case { conditions, else_result, .. } => {
            let results = conditions.iter_mut().map(|when| &mut when.result);
            leave_untyped(results.chain(else_result.as_deref_mut()).collect())?;
            Ok(None)
        }
        Expr::Array(array) => {
            leave_untyped(array.elem.iter_mut().collect())?;
            Ok(None)
        }
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
            leave_untyped(vec![left, right])?;
            Ok(None)
        }
        // A path is a text that is read where it is used.
        Expr::Cast { expr, data_type, .. } if data_type.to_string() == "jsonpath" => {
            Ok(Some(take(expr)))
        }
        Expr::Cast { expr, data_type, .. } => {
            let to = SqlType::parse(&data_type.to_string());
            if matches!(to, Some(SqlType::Double | SqlType::Real))
                && let Some(digits) = number_text(expr)
            {
                // Read as a float, not as a numeric that may not hold it.
                let text = ast::Value::SingleQuotedString(digits);
                **expr = Expr::Value(text.with_empty_span());
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// A number that an aggregate is ordered by is that number, not a column's place.
fn keep_constants(function: &mut ast::Function) {
    let clauses = match &mut function.args {
        ast::FunctionArguments::List(list) => list.clauses.as_mut_slice(),
        _ => &mut [],
    };
    let orders = clauses.iter_mut().filter_map(|clause| match clause {
        ast::FunctionArgumentClause::OrderBy(order) => Some(order),
        _ => None,
    });
    for key in orders.chain([&mut function.within_group]).flatten() {
        if matches!(&key.expr, Expr::Value(value) if matches!(value.value, ast::Value::Number(..)))
        {
            let number = Box::new(std::mem::replace(&mut key.expr, null()));
            key.expr = Expr::Nested(number);
        }
    }
}

fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value)
        if matches!(value.value, ast::Value::SingleQuotedString(_)))
}

/// String literals among values that have one type take the others'.
fn leave_untyped(results: Vec<&mut Expr>) -> SqlResult<()> {
    let is_null =
        |expr: &Expr| matches!(expr, Expr::Value(value) if value.value == ast::Value::Null);
    if results.iter().all(|result| is_text(result) || is_null(result)) {
        return Ok(());
    }
    for result in results {
        if is_text(result) {
            *result = call(UNTYPED, vec![std::mem::replace(result, null())])?;
        }
    }
    Ok(())
}

/// Functions whose arguments have one type.
const OF_ONE_TYPE: &[&str] = &["coalesce", "greatest", "least", "make_array", "nullif", "nvl"];

fn leave_arguments_untyped(function: &mut ast::Function) -> SqlResult<()> {
    let [ast::ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else {
        return Ok(());
    };
    let ast::FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
    if !OF_ONE_TYPE.contains(&fold_ident(name).as_str()) {
        return Ok(());
    }
    let values = list.args.iter_mut().filter_map(|arg| match arg {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(value)) => Some(value),
        _ => None,
    });
    leave_untyped(values.collect())
}

/// Parameters of the functions whose arguments may be named, in order.
const NAMED: &[(&str, &[&str])] =
    &[("make_interval", &["years", "months", "weeks", "days", "hours", "mins", "secs"])];

/// Functions that have another name here.
const RENAMED: &[(&str, &str)] = &[
    ("approx_count_distinct", "approx_distinct"),
    ("every", "bool_and"),
    ("stddev", "stddev_samp"),
    ("variance", "var_samp"),
];

/// Aggregates that make JSON, and what makes it of their arguments.
const TO_JSON: &[(&str, &[&str])] = &[
    ("json_agg", &["to_json"]),
    ("json_object_agg", &["text", "to_json"]),
    ("jsonb_agg", &["to_jsonb"]),
    ("jsonb_object_agg", &["text", "to_jsonb"]),
];

fn function_form(function: &mut ast::Function) -> SqlResult<Option<Expr>> {
    let [ast::ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else {
        return Ok(None);
    };
    let name = fold_ident(name);
    if name == "localtimestamp" {
        return cast(call("now", Vec::new())?, &SqlType::Timestamp).map(Some);
    }
    if let Some((_, ours)) = RENAMED.iter().find(|(theirs, _)| *theirs == name) {
        function.name = ast::ObjectName::from(vec![ast::Ident::with_quote('"', *ours)]);
        return Ok(None);
    }
    if let Some(counts) = counted(&name, function)? {
        return Ok(Some(counts));
    }
    regressions::simplify(&name, function)?;
    let ast::FunctionArguments::List(list) = &mut function.args else { return Ok(None) };
    if let Some((_, conversions)) = TO_JSON.iter().find(|(named, _)| *named == name) {
        convert_arguments(conversions, list)?;
        return Ok(None);
    }
    if let Some((_, parameters)) = NAMED.iter().find(|(named, _)| *named == name) {
        position_arguments(&name, parameters, &mut list.args)?;
        return Ok(None);
    }
    match (name.as_str(), list.args.as_slice()) {
        ("transaction_timestamp" | "statement_timestamp", []) => {
            return call("now", Vec::new()).map(Some);
        }
        ("gen_random_uuid", []) => {
            return cast(call("uuid", Vec::new())?, &SqlType::Uuid).map(Some);
        }
        (
            "pg_typeof",
            [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(Expr::Value(value)))],
        ) if matches!(value.value, ast::Value::SingleQuotedString(_) | ast::Value::Null) => {
            let unknown = ast::Value::SingleQuotedString("unknown".to_owned());
            return Ok(Some(Expr::Value(unknown.with_empty_span())));
        }
        _ => {}
    }
    let target = match name.as_str() {
        "int2" | "int4" | "int8" | "float4" | "float8" | "bool" | "text" | "date" | "jsonb"
        | "timestamptz" | "varchar" => SqlType::parse(&name),
        _ => None,
    };
    match (target, list.args.as_mut_slice()) {
        (Some(target), [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(argument))]) => {
            cast(std::mem::replace(argument, null()), &target).map(Some)
        }
        _ => Ok(None),
    }
}

/// Calls its arguments' conversions. DISTINCT values are in the order of an argument only, which
/// is converted with it.
fn convert_arguments(conversions: &[&str], list: &mut ast::FunctionArgumentList) -> SqlResult<()> {
    let distinct = list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct);
    for (conversion, arg) in std::iter::zip(conversions, &mut list.args) {
        if let ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(value)) = arg {
            let given = std::mem::replace(value, null());
            *value = match *conversion {
                "text" => cast(given.clone(), &SqlType::Text)?,
                function => call(function, vec![given.clone()])?,
            };
            let orders = list.clauses.iter_mut().filter_map(|clause| match clause {
                ast::FunctionArgumentClause::OrderBy(order) if distinct => Some(order),
                _ => None,
            });
            for key in orders.flatten().filter(|key| key.expr == given) {
                key.expr = value.clone();
            }
        }
    }
    Ok(())
}

/// Puts named arguments in their places, zeros between them.
fn position_arguments(
    function: &str,
    parameters: &[&str],
    args: &mut Vec<ast::FunctionArg>,
) -> SqlResult<()> {
    let mut values: Vec<Option<Expr>> = Vec::new();
    for argument in args.drain(..) {
        let (name, value) = match argument {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(value)) => {
                values.push(Some(value));
                continue;
            }
            ast::FunctionArg::Named { name, arg: ast::FunctionArgExpr::Expr(value), .. } => {
                (fold_ident(&name), value)
            }
            ast::FunctionArg::ExprNamed {
                name: Expr::Identifier(name),
                arg: ast::FunctionArgExpr::Expr(value),
                ..
            } => (fold_ident(&name), value),
            _ => return Err(SqlError::unsupported(format!("such an argument of {function}"))),
        };
        let Some(place) = parameters.iter().position(|parameter| *parameter == name) else {
            let message = format!("function {function}({name} => ...) does not exist");
            return Err(SqlError::new(code::UNDEFINED_FUNCTION, message));
        };
        if values.len() <= place {
            values.resize(place + 1, None);
        }
        values[place] = Some(value);
    }
    args.extend(values.into_iter().map(|value| {
        let value = value.unwrap_or_else(|| number("0"));
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(value))
    }));
    Ok(())
}

fn null() -> Expr {
    Expr::Value(ast::Value::Null.with_empty_span())
}

pub(super) fn number(digits: &str) -> Expr {
    Expr::Value(ast::Value::Number(digits.to_owned(), false).with_empty_span())
}

fn negate(expr: Expr, negated: bool) -> SqlResult<Option<Expr>> {
    Ok(Some(match negated {
        true => Expr::UnaryOp { op: ast::UnaryOperator::Not, expr: Box::new(expr) },
        false => expr,
    }))
}

/// A call of a function.
pub(super) fn call(name: &str, args: Vec<Expr>) -> SqlResult<Expr> {
    let mut call = (*parse_expression(&format!("\"{name}\"()"))?.tree).clone();
    if let Expr::Function(function) = &mut call
        && let ast::FunctionArguments::List(list) = &mut function.args
    {
        list.args = args
            .into_iter()
            .map(|arg| ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(arg)))
            .collect();
    }
    Ok(call)
}

pub(super) fn cast(value: Expr, to: &SqlType) -> SqlResult<Expr> {
    let mut cast = (*parse_expression(&format!("NULL::{to}"))?.tree).clone();
    if let Expr::Cast { expr, .. } = &mut cast {
        **expr = value;
    }
    Ok(cast)
}
