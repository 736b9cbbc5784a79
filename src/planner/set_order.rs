//! ORDER BY something else than what a SELECT list with set-returning functions gives: DataFusion
//! does not find it behind the rows that were made.
//!
//! ```text
//! SELECT unnest(a) AS x FROM t ORDER BY id
//!   = SELECT x FROM (SELECT unnest(a) AS x, id AS "order 1" FROM t) ORDER BY "order 1"
//! ```

use std::ops::ControlFlow;

use sqlparser::ast::{self, Visit, VisitMut, Visitor, VisitorMut};

use super::dml::quote;
use super::parse::{fold_ident, parse_query};
use super::set_functions::{is_unnest, named};
use crate::error::{SqlError, SqlResult};

/// Respells a query whose output columns have their names, those of its subqueries too.
pub(super) fn order_outside(query: &mut ast::Query) -> SqlResult<()> {
    match query.visit(&mut Orders) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Orders;

impl VisitorMut for Orders {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
        match respell(query) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

fn respell(query: &mut ast::Query) -> SqlResult<()> {
    let Some(ast::OrderBy { kind: ast::OrderByKind::Expressions(orders), .. }) =
        &mut query.order_by
    else {
        return Ok(());
    };
    let ast::SetExpr::Select(select) = query.body.as_mut() else { return Ok(()) };
    if select.distinct.is_some() || !select.projection.iter().any(makes_rows) {
        return Ok(());
    }
    let names: Option<Vec<String>> = select.projection.iter().map(name_of).collect();
    let Some(names) = names else { return Ok(()) };
    let mut hidden = Vec::new();
    for order in orders {
        let is_output = match &order.expr {
            ast::Expr::Value(_) => true,
            ast::Expr::Identifier(name) => names.contains(&fold_ident(name)),
            _ => false,
        };
        if !is_output {
            let alias = ast::Ident::with_quote('"', format!("order {}", hidden.len() + 1));
            let own = ast::Expr::Identifier(alias.clone());
            let expr = std::mem::replace(&mut order.expr, own);
            hidden.push(ast::SelectItem::ExprWithAlias { expr, alias });
        }
    }
    if hidden.is_empty() {
        return Ok(());
    }
    select.projection.extend(hidden);
    let columns: Vec<String> = names.iter().map(|name| quote(name)).collect();
    let relation = quote("rows in order");
    let text = format!("SELECT {} FROM (SELECT NULL) AS {relation}", columns.join(", "));
    let mut outer = (*parse_query(&text)?.tree).clone();
    if let ast::SetExpr::Select(select) = outer.body.as_mut()
        && let [ast::TableWithJoins { relation, .. }] = select.from.as_mut_slice()
        && let ast::TableFactor::Derived { subquery, .. } = relation
    {
        std::mem::swap(&mut query.body, &mut subquery.body);
        query.body = outer.body;
    }
    Ok(())
}

/// The name of an output column; `None`: a wildcard's, whose names are not known here.
fn name_of(item: &ast::SelectItem) -> Option<String> {
    match item {
        ast::SelectItem::ExprWithAlias { alias, .. } => Some(fold_ident(alias)),
        ast::SelectItem::UnnamedExpr(ast::Expr::Identifier(name)) => Some(fold_ident(name)),
        ast::SelectItem::UnnamedExpr(ast::Expr::CompoundIdentifier(parts)) => {
            parts.last().map(fold_ident)
        }
        _ => None,
    }
}

/// Whether a set-returning function is called in an item, outside of its subqueries.
fn makes_rows(item: &ast::SelectItem) -> bool {
    struct Calls {
        queries: usize,
    }
    impl Visitor for Calls {
        type Break = ();

        fn pre_visit_query(&mut self, _query: &ast::Query) -> ControlFlow<()> {
            self.queries += 1;
            ControlFlow::Continue(())
        }

        fn post_visit_query(&mut self, _query: &ast::Query) -> ControlFlow<()> {
            self.queries -= 1;
            ControlFlow::Continue(())
        }

        fn pre_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<()> {
            match expr {
                ast::Expr::Function(call)
                    if self.queries == 0
                        && (is_unnest(&call.name) || named(&call.name).is_some()) =>
                {
                    ControlFlow::Break(())
                }
                _ => ControlFlow::Continue(()),
            }
        }
    }
    item.visit(&mut Calls { queries: 0 }).is_break()
}
