//! The outline of a query: what of it decides how its columns are called.
//!
//! ```text
//! SELECT t.a, x.b + 1, u.* FROM t JOIN u ON t.k = u.k AND u.c > x.c WHERE ...
//! SELECT NULL AS a, NULL AS "?column?", u.* FROM t JOIN u ON true
//! ```
//!
//! It reads nothing of the queries around it, so it can be planned alone.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, VisitMut, VisitorMut};

use super::labels::{label_all, label_function};
use super::parse::parse_query;

/// Leaves of a query what its columns' names come from.
pub(super) fn outline(query: &mut ast::Query) {
    let _ = query.visit(&mut Outline);
}

struct Outline;

impl VisitorMut for Outline {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<()> {
        query.order_by = None;
        query.limit_clause = None;
        query.fetch = None;
        query.locks.clear();
        empty_values(&mut query.body);
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut ast::Select) -> ControlFlow<()> {
        label_all(&mut select.projection);
        for item in &mut select.projection {
            match item {
                ast::SelectItem::ExprWithAlias { expr, .. } => *expr = null(),
                ast::SelectItem::UnnamedExpr(expr) => {
                    let name = match expr {
                        Expr::Identifier(name) => Some(name.clone()),
                        Expr::CompoundIdentifier(parts) => parts.last().cloned(),
                        _ => None,
                    };
                    if let Some(alias) = name {
                        *item = ast::SelectItem::ExprWithAlias { expr: null(), alias };
                    }
                }
                _ => {}
            }
        }
        select.distinct = None;
        select.selection = None;
        select.group_by = ast::GroupByExpr::Expressions(Vec::new(), Vec::new());
        select.having = None;
        select.named_window.clear();
        for from in &mut select.from {
            from.joins.iter_mut().for_each(|join| forget_condition(&mut join.join_operator));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut ast::TableFactor) -> ControlFlow<()> {
        if label_function(factor)
            && let Some(rows) = constant_rows(factor)
        {
            *factor = rows;
        }
        if let ast::TableFactor::NestedJoin { table_with_joins, .. } = factor {
            let joins = table_with_joins.joins.iter_mut();
            joins.for_each(|join| forget_condition(&mut join.join_operator));
        }
        ControlFlow::Continue(())
    }
}

fn null() -> Expr {
    Expr::Value(ast::Value::Null.with_empty_span())
}

fn empty_values(body: &mut ast::SetExpr) {
    match body {
        ast::SetExpr::Values(values) => {
            values.rows.truncate(1);
            values.rows.iter_mut().flat_map(|row| row.iter_mut()).for_each(|expr| *expr = null());
        }
        ast::SetExpr::SetOperation { left, right, .. } => {
            empty_values(left);
            empty_values(right);
        }
        _ => {}
    }
}

fn forget_condition(operator: &mut ast::JoinOperator) {
    use ast::JoinOperator;
    if let JoinOperator::Join(constraint)
    | JoinOperator::Inner(constraint)
    | JoinOperator::Left(constraint)
    | JoinOperator::LeftOuter(constraint)
    | JoinOperator::Right(constraint)
    | JoinOperator::RightOuter(constraint)
    | JoinOperator::FullOuter(constraint) = operator
        && let ast::JoinConstraint::On(condition) = constraint
    {
        *condition = Expr::Value(ast::Value::Boolean(true).with_empty_span());
    }
}

/// In the place of a function whose columns' names are known.
fn constant_rows(factor: &ast::TableFactor) -> Option<ast::TableFactor> {
    let alias = match factor {
        ast::TableFactor::Table { args: Some(_), alias, .. }
        | ast::TableFactor::Function { alias, .. }
        | ast::TableFactor::UNNEST { alias, .. } => alias.as_ref(),
        _ => None,
    }?;
    let mut alias = alias.clone();
    alias.columns.iter_mut().for_each(|column| column.data_type = None);
    let row = vec!["NULL"; alias.columns.len()].join(", ");
    let subquery = Box::new((*parse_query(&format!("VALUES ({row})")).ok()?.tree).clone());
    Some(ast::TableFactor::Derived { lateral: false, subquery, alias: Some(alias), sample: None })
}
