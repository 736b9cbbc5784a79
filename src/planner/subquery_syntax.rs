//! Forms of SQL in words that DataFusion's planner knows: what is written of subqueries and of
//! functions in FROM.
//!
//! | written | planned |
//! |---|---|
//! | `ARRAY(query)` | a function of the subquery, [`ARRAY`] |
//! | `(a, b) IN (query)`, `op ANY (query)` | `row(a, b) IN (SELECT row(x, y) FROM (query))` |
//! | `(a, b) = (query)` | `(SELECT a = x AND b = y FROM (query))` |
//! | `(a, b) < (c, d)` | `a < c OR a = c AND b < d` |
//! | `ARRAY[t.a]` | `make_array(t.a)`: a literal does not see outer queries |
//! | any subquery in an expression | with a number, [`SUBQUERY`] |
//! | `GROUP BY ()`, HAVING without GROUP BY | with an aggregate in it: what it groups is all rows |
//! | `FROM unnest(a)`, `LATERAL unnest(a)` | `UNNEST(a)` |
//! | `FROM generate_series(1, n)`, `FROM jsonb_each(j)` | the same, as LATERAL; not if constant |

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, VisitMut, VisitorMut};

use super::decorrelate::{ARRAY, ROW, SUBQUERY};
use super::dml::quote;
use super::function_syntax::call;
use super::parse::{fold_ident, parse_expression, parse_query};
use super::set_functions::{STREAMED_SERIES, is_planned, is_unnest, named, whole_number};
use crate::error::{SqlError, SqlResult, code};

/// Spells a query as it can be planned.
pub(super) fn spell_subqueries(query: &mut ast::Query) -> SqlResult<()> {
    #[derive(Default)]
    struct Speller {
        /// The subqueries so far: the same text has the same number.
        subqueries: Vec<String>,
    }
    impl VisitorMut for Speller {
        type Break = SqlError;

        fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
            carry(number(expr, &mut self.subqueries))
        }

        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
            carry(respell_expression(expr))
        }

        fn pre_visit_select(&mut self, select: &mut ast::Select) -> ControlFlow<SqlError> {
            carry(group_all(select))
        }

        fn pre_visit_table_factor(
            &mut self,
            factor: &mut ast::TableFactor,
        ) -> ControlFlow<SqlError> {
            carry(respell_function(factor))
        }
    }
    match query.visit(&mut Speller::default()) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// HAVING without GROUP BY makes one group of all rows, whether there is an aggregate or not; so
/// does
/// `GROUP BY ()`, which beside other keys adds nothing.
fn group_all(select: &mut ast::Select) -> SqlResult<()> {
    let ast::GroupByExpr::Expressions(keys, modifiers) = &mut select.group_by else {
        return Ok(());
    };
    let written = keys.len();
    keys.retain(|key| !matches!(key, Expr::Tuple(none) if none.is_empty()));
    let ungrouped = keys.is_empty() && modifiers.is_empty();
    if ungrouped && written > 0 && select.having.is_none() {
        select.having = Some((*parse_expression("true")?.tree).clone());
    }
    if ungrouped && let Some(having) = select.having.take() {
        let mut all = (*parse_expression("NULL AND count(*) >= 0")?.tree).clone();
        if let Expr::BinaryOp { left, .. } = &mut all {
            **left = Expr::Nested(Box::new(having));
        }
        select.having = Some(all);
    }
    Ok(())
}

fn carry(result: SqlResult<()>) -> ControlFlow<SqlError> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}

/// Numbers a subquery.
fn number(expr: &mut Expr, subqueries: &mut Vec<String>) -> SqlResult<()> {
    if let Expr::AnyOp { right, .. } | Expr::AllOp { right, .. } = expr
        && let Some(subquery) = numbered(right)
    {
        // The comparison gets the number, not what is compared with.
        **right = subquery.clone();
    }
    let subquery = match expr {
        Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => true,
        Expr::AnyOp { right, .. } | Expr::AllOp { right, .. } => {
            matches!(right.as_ref(), Expr::Subquery(_))
        }
        _ => false,
    };
    if !subquery {
        return Ok(());
    }
    let text = expr.to_string();
    let known = subqueries.iter().position(|subquery| *subquery == text);
    let number = known.unwrap_or_else(|| {
        subqueries.push(text);
        subqueries.len() - 1
    });
    let number = (*parse_expression(&number.to_string())?.tree).clone();
    let subquery = std::mem::replace(expr, Expr::Value(ast::Value::Null.with_empty_span()));
    *expr = call(SUBQUERY, vec![subquery, number])?;
    Ok(())
}

/// The subquery that was numbered, if `expr` is one.
fn numbered(expr: &Expr) -> Option<&Expr> {
    let Expr::Function(function) = expr else { return None };
    let ast::FunctionArguments::List(list) = &function.args else { return None };
    match list.args.first()? {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(inner))
            if is_named(&function.name, SUBQUERY) =>
        {
            Some(inner)
        }
        _ => None,
    }
}

fn respell_expression(expr: &mut Expr) -> SqlResult<()> {
    match expr {
        Expr::Function(function) => {
            if let ast::FunctionArguments::Subquery(query) = &function.args
                && is_named(&function.name, "array")
            {
                *expr = call(ARRAY, vec![Expr::Subquery(query.clone())])?;
            }
        }
        Expr::Array(array) if !array.elem.iter().all(is_constant) => {
            *expr = call("make_array", std::mem::take(&mut array.elem))?;
        }
        Expr::InSubquery { expr: left, subquery, .. } => respell_row(left, subquery)?,
        Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => {
            if let Expr::Subquery(subquery) = right.as_mut() {
                respell_row(left, subquery)?;
            }
        }
        Expr::BinaryOp { left, op, right } => {
            if let (Some(items), Some(others)) = (row_items(left), row_items(right))
                && let Some(compared) = compared(&items, &same_width(&items, others)?, op)
            {
                *expr = compared;
            } else if let (Some(items), Expr::Subquery(subquery)) =
                (row_items(left), right.as_ref())
                && let Some(compared) = compared(&items, &columns(items.len())?, op)
            {
                let mut query = over(subquery, items.len(), "NULL")?;
                if let ast::SetExpr::Select(select) = query.body.as_mut() {
                    select.projection = vec![ast::SelectItem::UnnamedExpr(compared)];
                }
                *expr = Expr::Subquery(Box::new(query));
            }
        }
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => {
            if let (Some(items), Some(others)) = (row_items(left), row_items(right)) {
                let distinct = matches!(expr, Expr::IsDistinctFrom(..));
                let others = same_width(&items, others)?;
                let pairs = items.into_iter().zip(others).map(|(item, other)| {
                    let (item, other) = (Box::new(item), Box::new(other));
                    match distinct {
                        true => Expr::IsDistinctFrom(item, other),
                        false => Expr::IsNotDistinctFrom(item, other),
                    }
                });
                let word =
                    if distinct { ast::BinaryOperator::Or } else { ast::BinaryOperator::And };
                if let Some(all) = pairs.reduce(|one, other| binary(one, word.clone(), other)) {
                    *expr = all;
                }
            }
        }
        Expr::InList { expr: left, list, negated } => {
            let rows: Option<Vec<_>> = list.iter().map(row_items).collect();
            if let (Some(items), Some(rows)) = (row_items(left), rows) {
                let mut all: Option<Expr> = None;
                for row in rows {
                    let same =
                        compared(&items, &same_width(&items, row)?, &ast::BinaryOperator::Eq);
                    all = match (all, same) {
                        (Some(all), Some(same)) => Some(binary(all, ast::BinaryOperator::Or, same)),
                        (all, same) => all.or(same),
                    };
                }
                let negated = *negated;
                if let Some(all) = all {
                    *expr = match negated {
                        true => Expr::UnaryOp {
                            op: ast::UnaryOperator::Not,
                            expr: Box::new(Expr::Nested(Box::new(all))),
                        },
                        false => all,
                    };
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// The parts of a row that is written out.
fn row_items(expr: &Expr) -> Option<Vec<Expr>> {
    match expr {
        Expr::Tuple(items) => Some(items.clone()),
        Expr::Function(function) if is_named(&function.name, "row") => match &function.args {
            ast::FunctionArguments::List(list) => {
                list.args.iter().map(|arg| argument(arg).cloned()).collect()
            }
            _ => None,
        },
        _ => None,
    }
}

fn same_width(items: &[Expr], others: Vec<Expr>) -> SqlResult<Vec<Expr>> {
    if items.len() == others.len() {
        return Ok(others);
    }
    Err(SqlError::new(code::SYNTAX_ERROR, "unequal number of entries in row expressions"))
}

/// The columns of a row that a subquery gives.
fn columns(width: usize) -> SqlResult<Vec<Expr>> {
    let column = |number| Ok((*parse_expression(&column(number))?.tree).clone());
    (1..=width).map(column).collect()
}

/// A row on the left of a quantified comparison, and the rows on its right.
fn respell_row(left: &mut Expr, subquery: &mut ast::Query) -> SqlResult<()> {
    let Some(items) = row_items(left) else { return Ok(()) };
    let columns: Vec<_> = (1..=items.len()).map(column).collect();
    let row = format!("{}({})", quote(ROW), columns.join(", "));
    *subquery = over(subquery, items.len(), &row)?;
    *left = call(ROW, items)?;
    Ok(())
}

/// The name of a column of a row, quoted.
fn column(number: usize) -> String {
    quote(&format!("column {number} of row"))
}

/// Each of the columns of a subquery of one row, as a subquery of its own.
pub(super) fn columns_of_subquery(query: &ast::Query, width: usize) -> SqlResult<Vec<Expr>> {
    if listed_columns(query).is_some_and(|given| given != width) {
        let message = "number of columns does not match number of values";
        return Err(SqlError::new(code::SYNTAX_ERROR, message));
    }
    let one = |number| Ok(Expr::Subquery(Box::new(over(query, width, &column(number))?)));
    (1..=width).map(one).collect()
}

/// `SELECT item FROM (query)`, the query's columns under the names of a row's.
fn over(query: &ast::Query, width: usize, item: &str) -> SqlResult<ast::Query> {
    if let Some(given) = listed_columns(query).filter(|given| *given != width) {
        let amount = if given < width { "few" } else { "many" };
        let message = format!("subquery has too {amount} columns");
        return Err(SqlError::new(code::SYNTAX_ERROR, message));
    }
    let columns: Vec<_> = (1..=width).map(column).collect();
    let relation = quote("rows of subquery");
    let text = format!("SELECT {item} FROM (SELECT NULL) AS {relation} ({})", columns.join(", "));
    let mut outer = (*parse_query(&text)?.tree).clone();
    if let ast::SetExpr::Select(select) = outer.body.as_mut()
        && let [ast::TableWithJoins { relation, .. }] = select.from.as_mut_slice()
        && let ast::TableFactor::Derived { subquery, .. } = relation
    {
        **subquery = query.clone();
    }
    Ok(outer)
}

/// How many columns a query has, if it lists them.
fn listed_columns(query: &ast::Query) -> Option<usize> {
    let mut body = query.body.as_ref();
    loop {
        match body {
            ast::SetExpr::Select(select) => {
                let is_one = |item: &ast::SelectItem| {
                    matches!(
                        item,
                        ast::SelectItem::UnnamedExpr(_) | ast::SelectItem::ExprWithAlias { .. }
                    )
                };
                let items = &select.projection;
                return items.iter().all(is_one).then_some(items.len());
            }
            ast::SetExpr::SetOperation { left, .. } => body = left,
            ast::SetExpr::Values(values) => return values.rows.first().map(|row| row.len()),
            _ => return None,
        }
    }
}

fn binary(left: Expr, op: ast::BinaryOperator, right: Expr) -> Expr {
    let (left, right) = (Box::new(left), Box::new(right));
    Expr::Nested(Box::new(Expr::BinaryOp { left, op, right }))
}

/// `(items) op (others)`, column by column.
fn compared(items: &[Expr], others: &[Expr], op: &ast::BinaryOperator) -> Option<Expr> {
    use ast::BinaryOperator::{And, Eq, Gt, GtEq, Lt, LtEq, NotEq, Or};
    let strict = match op {
        LtEq => Lt,
        GtEq => Gt,
        Eq | NotEq | Lt | Gt => op.clone(),
        _ => return None,
    };
    let mut result: Option<Expr> = None;
    for (item, other) in items.iter().zip(others).rev() {
        let (item, other) = (item.clone(), other.clone());
        result = Some(match result {
            None => binary(item, op.clone(), other),
            Some(rest) if *op == Eq => binary(binary(item, Eq, other), And, rest),
            Some(rest) if *op == NotEq => binary(binary(item, NotEq, other), Or, rest),
            Some(rest) => {
                let before = binary(item.clone(), strict.clone(), other.clone());
                binary(before, Or, binary(binary(item, Eq, other), And, rest))
            }
        });
    }
    result
}

fn is_named(name: &ast::ObjectName, wanted: &str) -> bool {
    matches!(name.0.as_slice(), [part]
        if part.as_ident().is_some_and(|name| fold_ident(name) == wanted))
}

/// A function in FROM may look at the relations before it.
fn respell_function(factor: &mut ast::TableFactor) -> SqlResult<()> {
    match factor {
        ast::TableFactor::Function { name, args, with_ordinality, alias, .. }
            if is_unnest(name) =>
        {
            let array_exprs = args.iter().filter_map(argument).cloned().collect();
            *factor = ast::TableFactor::UNNEST {
                alias: alias.take(),
                array_exprs,
                with_offset: false,
                with_offset_alias: None,
                with_ordinality: *with_ordinality,
            };
        }
        ast::TableFactor::Table { name, alias, args: Some(args), with_ordinality, .. }
            if is_planned(name, &args.args) || (named(name).is_some() && *with_ordinality) =>
        {
            *factor = ast::TableFactor::Function {
                // A right or full join has no rows to its left yet.
                lateral: !is_constant(&args.args),
                name: name.clone(),
                args: std::mem::take(&mut args.args),
                with_ordinality: *with_ordinality,
                alias: alias.take(),
            };
        }
        ast::TableFactor::Table { name, alias, args: Some(args), .. } if named(name).is_some() => {
            // Rows that are not made from an array; they are bigints.
            let mut numbers = args.args.iter().filter_map(whole_number);
            let small = numbers.all(|number| i32::try_from(number).is_ok());
            let kind = if small { "integer" } else { "bigint" };
            let text = format!("SELECT value::{kind} FROM {STREAMED_SERIES}()");
            let mut subquery = (*parse_query(&text)?.tree).clone();
            if let ast::SetExpr::Select(select) = subquery.body.as_mut()
                && let [ast::TableWithJoins { relation, .. }] = select.from.as_mut_slice()
                && let ast::TableFactor::Table { args: Some(inner), .. } = relation
            {
                inner.args = std::mem::take(&mut args.args);
            }
            *factor = ast::TableFactor::Derived {
                lateral: false,
                subquery: Box::new(subquery),
                alias: alias.take(),
                sample: None,
            };
        }
        _ => {}
    }
    Ok(())
}

fn argument(arg: &ast::FunctionArg) -> Option<&Expr> {
    match arg {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => Some(expr),
        _ => None,
    }
}

/// Can an expression be computed while the query is planned?
fn is_constant<T: ast::Visit>(arg: &T) -> bool {
    let found = ast::visit_expressions(arg, |expr| match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Subquery(_) => {
            ControlFlow::Break(())
        }
        Expr::Value(value) if matches!(value.value, ast::Value::Placeholder(_)) => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    found.is_continue()
}
