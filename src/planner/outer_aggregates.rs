//! Aggregates of an outer query's columns, as DataFusion can plan them: subqueries of their own.
//!
//! ```text
//! (SELECT v FROM b WHERE b.id = max(a.x))     (SELECT v FROM b WHERE b.id = (SELECT max(a.x)))
//! (SELECT b.v + sum(a.x) FROM b)              (SELECT b.v + (SELECT sum(a.x)) FROM b)
//! ```
//!
//! An aggregate that stays where it is written would make its query one that groups, and is none
//! that WHERE may have. Which query computes it is found out by its columns, in the plan
//! (`decorrelate::outer_aggregate`), so a subquery too many changes no answer. In WHERE every
//! aggregate of columns is spelled so; elsewhere those of relations that the query itself has not.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, VisitMut, VisitorMut};

use super::parse::{fold_ident, parse_expression};
use crate::error::{SqlError, SqlResult};

/// Spells them in a query's subqueries. `is_aggregate` says of a function's name whether it is one.
pub(super) fn spell_outer_aggregates(
    query: &mut ast::Query,
    is_aggregate: &dyn Fn(&str) -> bool,
) -> SqlResult<()> {
    match query.visit(&mut Queries { is_aggregate, depth: 0 }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Visits the queries inside a query.
struct Queries<'a> {
    is_aggregate: &'a dyn Fn(&str) -> bool,
    depth: usize,
}

impl VisitorMut for Queries<'_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<SqlError> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<SqlError> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut ast::Select) -> ControlFlow<SqlError> {
        if self.depth < 2 {
            return ControlFlow::Continue(());
        }
        let own = relations(select);
        let is_aggregate = self.is_aggregate;
        if let Some(condition) = &mut select.selection {
            condition.visit(&mut Aggregates { is_aggregate, own: None, queries: 0 })?;
        }
        if own.is_empty() {
            return ControlFlow::Continue(());
        }
        let mut outer = Aggregates { is_aggregate, own: Some(&own), queries: 0 };
        select.projection.visit(&mut outer)?;
        select.having.visit(&mut outer)
    }
}

/// The names that a query has for the relations in its FROM.
fn relations(select: &ast::Select) -> Vec<String> {
    fn collect(join: &ast::TableWithJoins, names: &mut Vec<String>) {
        let others = join.joins.iter().map(|join| &join.relation);
        for factor in std::iter::once(&join.relation).chain(others) {
            let (alias, name) = match factor {
                ast::TableFactor::Table { alias, name, .. }
                | ast::TableFactor::Function { alias, name, .. } => (alias, Some(name)),
                ast::TableFactor::Derived { alias, .. }
                | ast::TableFactor::UNNEST { alias, .. }
                | ast::TableFactor::TableFunction { alias, .. } => (alias, None),
                ast::TableFactor::NestedJoin { table_with_joins, alias } => {
                    collect(table_with_joins, names);
                    (alias, None)
                }
                _ => continue,
            };
            let name = name.and_then(|name| name.0.last()).and_then(|part| part.as_ident());
            names.extend(alias.as_ref().map(|alias| &alias.name).or(name).map(fold_ident));
        }
    }
    let mut names = Vec::new();
    select.from.iter().for_each(|from| collect(from, &mut names));
    names
}

/// Visits the aggregates of one query.
struct Aggregates<'a> {
    is_aggregate: &'a dyn Fn(&str) -> bool,
    /// The relations of the query, where an aggregate of their columns stays.
    own: Option<&'a [String]>,
    /// How many subqueries are around what is visited.
    queries: usize,
}

impl VisitorMut for Aggregates<'_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<SqlError> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<SqlError> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<SqlError> {
        if self.queries == 0 && self.is_to_move(expr) {
            match subquery(expr) {
                Ok(subquery) => *expr = subquery,
                Err(error) => return ControlFlow::Break(error),
            }
        }
        ControlFlow::Continue(())
    }
}

impl Aggregates<'_> {
    fn is_to_move(&self, expr: &Expr) -> bool {
        let Expr::Function(function) = expr else { return false };
        let name = function.name.0.last().and_then(|part| part.as_ident()).map(fold_ident);
        if function.over.is_some() || !name.is_some_and(|name| (self.is_aggregate)(&name)) {
            return false;
        }
        let mut any = false;
        let columns = ast::visit_expressions(function, |expr| {
            let own = match (expr, self.own) {
                (Expr::Identifier(_), own) => own.is_some(),
                (Expr::CompoundIdentifier(_), None) => false,
                (Expr::CompoundIdentifier(parts), Some(own)) => {
                    let relation = parts.iter().rev().nth(1).map(fold_ident);
                    relation.is_none_or(|relation| own.contains(&relation))
                }
                (Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. }, _) => true,
                _ => return ControlFlow::Continue(()),
            };
            any = true;
            if own { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        any && columns.is_continue()
    }
}

/// `(SELECT aggregate)`.
fn subquery(aggregate: &Expr) -> SqlResult<Expr> {
    let mut subquery = (*parse_expression("(SELECT NULL)")?.tree).clone();
    if let Expr::Subquery(query) = &mut subquery
        && let ast::SetExpr::Select(select) = query.body.as_mut()
    {
        select.projection = vec![ast::SelectItem::UnnamedExpr(aggregate.clone())];
    }
    Ok(subquery)
}
