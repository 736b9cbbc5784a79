//! JOIN ... USING and NATURAL JOIN as PostgreSQL has them: `*` gives each merged column once and
//! first, and its name alone means the merged column.
//!
//! ```text
//! SELECT *, k FROM l FULL JOIN r USING (k)
//! SELECT coalesce(l.k, r.k) AS k, l.a, r.b, coalesce(l.k, r.k) AS k
//!   FROM l FULL JOIN r ON l.k = r.k
//! ```
//!
//! The rewriting is of syntax, before the query is planned; it needs the columns of each relation,
//! which the caller finds out by planning the relation alone. On the same walk lists of columns
//! after an alias become whole, without which a relation cannot be planned: see `alias_lists`.

use std::collections::HashMap;
use std::ops::ControlFlow;

use sqlparser::ast::{self, VisitMut, VisitorMut};

use super::alias_lists;
use super::labels::alone;
use super::parse::{fold_ident, parse_expression};
use crate::error::{SqlError, SqlResult, code};

/// Finds the names of a query's columns.
pub(super) type ColumnsOf<'a> = &'a dyn Fn(ast::Query) -> SqlResult<Vec<String>>;

/// Rewrites the joins with merged columns in a query, those of its subqueries too.
pub(super) fn merge_columns(query: &mut ast::Query, columns_of: ColumnsOf<'_>) -> SqlResult<()> {
    let mut merging = Merging { columns_of, with: Vec::new(), rewritten: Vec::new() };
    match query.visit(&mut merging) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Merging<'a> {
    columns_of: ColumnsOf<'a>,
    /// The WITH of each query around this one.
    with: Vec<Option<ast::With>>,
    /// How many queries of each WITH are rewritten, there too.
    rewritten: Vec<usize>,
}

impl VisitorMut for Merging<'_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
        self.with.push(query.with.clone());
        self.rewritten.push(0);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
        let outcome = self.rewrite(query);
        if let Some(with) = self.with.pop() {
            query.with = with;
        }
        self.rewritten.pop();
        match outcome.and_then(|()| self.keep(query)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// What the relations of a FROM show together.
#[derive(Default)]
struct Shown {
    /// In the order of `*`.
    columns: Vec<(String, ast::Expr)>,
    merged: Vec<String>,
}

impl Shown {
    fn find(&self, name: &str) -> SqlResult<Option<&ast::Expr>> {
        let mut found = self.columns.iter().filter(|(column, _)| column == name);
        let first = found.next();
        if found.next().is_some() {
            let message =
                format!("common column name \"{name}\" appears more than once in left table");
            return Err(SqlError::new(code::AMBIGUOUS_COLUMN, message));
        }
        Ok(first.map(|(_, expr)| expr))
    }
}

impl Merging<'_> {
    /// A query of a WITH is rewritten: those come before all others within their query.
    fn keep(&mut self, query: &ast::Query) -> SqlResult<()> {
        let (Some(Some(with)), Some(&at)) = (self.with.last(), self.rewritten.last()) else {
            return Ok(());
        };
        let Some(table) = with.cte_tables.get(at) else { return Ok(()) };
        let mut alias = table.alias.clone();
        alias_lists::complete_common(&mut alias, query.clone(), &self.finished(), self.columns_of)?;
        if let (Some(Some(with)), Some(rewritten)) =
            (self.with.last_mut(), self.rewritten.last_mut())
        {
            with.cte_tables[at].alias = alias;
            *with.cte_tables[at].query = query.clone();
            *rewritten += 1;
        }
        Ok(())
    }

    /// The WITHs in scope as far as their queries are rewritten.
    fn finished(&self) -> Vec<Option<ast::With>> {
        let withs = self.with.iter().zip(&self.rewritten);
        let cut = withs.map(|(with, rewritten)| {
            let mut with = with.clone()?;
            with.cte_tables.truncate(*rewritten);
            Some(with)
        });
        cut.collect()
    }

    fn rewrite(&self, query: &mut ast::Query) -> SqlResult<()> {
        self.rewrite_body(query.body.as_mut(), &mut query.order_by)
    }

    fn rewrite_body(
        &self,
        body: &mut ast::SetExpr,
        order_by: &mut Option<ast::OrderBy>,
    ) -> SqlResult<()> {
        match body {
            ast::SetExpr::Select(select) => {
                for from in &mut select.from {
                    self.complete(from)?;
                }
                if select.from.iter().any(merges) {
                    self.rewrite_select(select, order_by)?;
                }
                Ok(())
            }
            ast::SetExpr::SetOperation { left, right, .. } => {
                self.rewrite_body(left, &mut None)?;
                self.rewrite_body(right, &mut None)
            }
            _ => Ok(()),
        }
    }

    fn rewrite_select(
        &self,
        select: &mut ast::Select,
        order_by: &mut Option<ast::OrderBy>,
    ) -> SqlResult<()> {
        let mut shown = Shown::default();
        for from in &mut select.from {
            let one = self.joined(from)?;
            shown.columns.extend(one.columns);
            shown.merged.extend(one.merged);
        }
        let meanings: HashMap<String, ast::Expr> = shown
            .merged
            .iter()
            .filter_map(|name| {
                let mut same = shown.columns.iter().filter(|(column, _)| column == name);
                let (_, expr) = same.next()?;
                same.next().is_none().then(|| (name.clone(), expr.clone()))
            })
            .collect();
        expand_wildcards(&mut select.projection, &shown.columns);
        name_merged(&mut select.projection, &meanings);
        let outputs: Vec<String> = select.projection.iter().filter_map(output_name).collect();
        let mut meaning = Meaning { meanings: &meanings, depth: 0 };
        let _ = select.visit(&mut meaning);
        if let Some(ast::OrderBy { kind: ast::OrderByKind::Expressions(keys), .. }) = order_by {
            for key in keys {
                let output = matches!(&key.expr, ast::Expr::Identifier(name)
                    if outputs.contains(&fold_ident(name)));
                if !output {
                    let _ = key.expr.visit(&mut meaning);
                }
            }
        }
        Ok(())
    }

    /// Completes the lists of columns of all relations in a FROM.
    fn complete(&self, from: &mut ast::TableWithJoins) -> SqlResult<()> {
        let joined = from.joins.iter_mut().map(|join| &mut join.relation);
        for factor in std::iter::once(&mut from.relation).chain(joined) {
            if let ast::TableFactor::NestedJoin { table_with_joins, .. } = factor {
                self.complete(table_with_joins)?;
            }
            alias_lists::complete(factor, &self.finished(), self.columns_of)?;
        }
        Ok(())
    }

    /// What a table and those joined to it show; USING and NATURAL become ON.
    fn joined(&self, from: &mut ast::TableWithJoins) -> SqlResult<Shown> {
        let mut shown = self.factor(&mut from.relation)?;
        for join in &mut from.joins {
            let right = self.factor(&mut join.relation)?;
            shown = joined(shown, right, &mut join.join_operator)?;
        }
        Ok(shown)
    }

    fn factor(&self, factor: &mut ast::TableFactor) -> SqlResult<Shown> {
        if let ast::TableFactor::NestedJoin { table_with_joins, alias: None } = factor {
            return self.joined(table_with_joins);
        }
        let qualifier = qualifier(factor)?;
        let names = (self.columns_of)(alone(factor, &self.with)?)?;
        let columns = names.into_iter().map(|name| {
            let column = ast::Ident::with_quote('"', name.clone());
            (name, ast::Expr::CompoundIdentifier(vec![qualifier.clone(), column]))
        });
        Ok(Shown { columns: columns.collect(), merged: Vec::new() })
    }
}

fn merges(from: &ast::TableWithJoins) -> bool {
    let nested = |factor: &ast::TableFactor| {
        matches!(factor, ast::TableFactor::NestedJoin { table_with_joins, alias: None }
            if merges(table_with_joins))
    };
    nested(&from.relation)
        || from.joins.iter().any(|join| {
            let mut operator = join.join_operator.clone();
            let merging = matches!(
                parts(&mut operator),
                Some((_, ast::JoinConstraint::Using(_) | ast::JoinConstraint::Natural))
            );
            merging || nested(&join.relation)
        })
}

/// Which side a merged column comes from.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
    Either,
}

fn parts(operator: &mut ast::JoinOperator) -> Option<(Side, &mut ast::JoinConstraint)> {
    use ast::JoinOperator;
    Some(match operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint) => (Side::Left, constraint),
        JoinOperator::Right(constraint) | JoinOperator::RightOuter(constraint) => {
            (Side::Right, constraint)
        }
        JoinOperator::FullOuter(constraint) => (Side::Either, constraint),
        _ => return None,
    })
}

fn joined(left: Shown, right: Shown, operator: &mut ast::JoinOperator) -> SqlResult<Shown> {
    let mut merged = left.merged.clone();
    merged.extend(right.merged.iter().cloned());
    let names = match parts(operator) {
        Some((_, ast::JoinConstraint::Using(names))) => {
            names.iter().filter_map(|name| name.0.last()?.as_ident()).map(fold_ident).collect()
        }
        Some((_, ast::JoinConstraint::Natural)) => {
            let common = |name: &String| right.columns.iter().any(|(other, _)| other == name);
            left.columns.iter().map(|(name, _)| name.clone()).filter(common).collect()
        }
        _ => {
            let columns = left.columns.into_iter().chain(right.columns).collect();
            return Ok(Shown { columns, merged });
        }
    };
    let names: Vec<String> = names;
    let Some((side, constraint)) = parts(operator) else { return Ok(left) };
    let mut columns = Vec::with_capacity(left.columns.len() + right.columns.len());
    let mut conditions: Option<ast::Expr> = None;
    for name in &names {
        let from_left = left.find(name)?.ok_or_else(|| no_such(name, "left"))?;
        let from_right = right.find(name)?.ok_or_else(|| no_such(name, "right"))?;
        let equal = binary(from_left.clone(), ast::BinaryOperator::Eq, from_right.clone());
        conditions = Some(match conditions.take() {
            Some(before) => binary(before, ast::BinaryOperator::And, equal),
            None => equal,
        });
        let column = match side {
            Side::Left => from_left.clone(),
            Side::Right => from_right.clone(),
            Side::Either => coalesce(from_left, from_right)?,
        };
        columns.push((name.clone(), column));
    }
    *constraint = match conditions {
        Some(conditions) => ast::JoinConstraint::On(conditions),
        // NATURAL without a common column.
        None => {
            ast::JoinConstraint::On(ast::Expr::Value(ast::Value::Boolean(true).with_empty_span()))
        }
    };
    let rest = left.columns.into_iter().chain(right.columns);
    columns.extend(rest.filter(|(name, _)| !names.contains(name)));
    merged.retain(|name| !names.contains(name));
    merged.extend(names);
    Ok(Shown { columns, merged })
}

fn no_such(name: &str, side: &str) -> SqlError {
    let message =
        format!("column \"{name}\" specified in USING clause does not exist in {side} table");
    SqlError::new(code::UNDEFINED_COLUMN, message)
}

fn binary(left: ast::Expr, op: ast::BinaryOperator, right: ast::Expr) -> ast::Expr {
    ast::Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

fn coalesce(left: &ast::Expr, right: &ast::Expr) -> SqlResult<ast::Expr> {
    Ok((*parse_expression(&format!("coalesce({left}, {right})"))?.tree).clone())
}

/// The name that a relation's columns are qualified with; a relation without one gets one.
fn qualifier(factor: &mut ast::TableFactor) -> SqlResult<ast::Ident> {
    let (alias, name) = match factor {
        ast::TableFactor::Table { alias, name, .. } => {
            (alias, name.0.last().and_then(|part| part.as_ident()).cloned())
        }
        ast::TableFactor::Derived { alias, .. }
        | ast::TableFactor::NestedJoin { alias, .. }
        | ast::TableFactor::UNNEST { alias, .. }
        | ast::TableFactor::Function { alias, .. } => (alias, None),
        other => {
            return Err(SqlError::unsupported(format!("a join with merged columns of {other}")));
        }
    };
    if let Some(alias) = alias {
        return Ok(alias.name.clone());
    }
    let name = name.unwrap_or_else(|| ast::Ident::new("unnamed_join_side"));
    *alias =
        Some(ast::TableAlias { explicit: true, name: name.clone(), columns: Vec::new(), at: None });
    Ok(name)
}

fn expand_wildcards(items: &mut Vec<ast::SelectItem>, columns: &[(String, ast::Expr)]) {
    let given = std::mem::take(items);
    for item in given {
        match item {
            ast::SelectItem::Wildcard(options)
                if options.opt_except.is_none() && options.opt_exclude.is_none() =>
            {
                items.extend(columns.iter().map(|(name, expr)| named(name, expr.clone())));
            }
            other => items.push(other),
        }
    }
}

/// `expr` under a name, which a column has by itself.
fn named(name: &str, expr: ast::Expr) -> ast::SelectItem {
    match expr {
        ast::Expr::CompoundIdentifier(_) => ast::SelectItem::UnnamedExpr(expr),
        expr => {
            let alias = ast::Ident::with_quote('"', name);
            ast::SelectItem::ExprWithAlias { expr, alias }
        }
    }
}

/// A merged column that is selected by name keeps its name.
fn name_merged(items: &mut [ast::SelectItem], meanings: &HashMap<String, ast::Expr>) {
    for item in items {
        if let ast::SelectItem::UnnamedExpr(ast::Expr::Identifier(ident)) = item {
            let name = fold_ident(ident);
            if let Some(expr) = meanings.get(&name) {
                *item = named(&name, expr.clone());
            }
        }
    }
}

fn output_name(item: &ast::SelectItem) -> Option<String> {
    match item {
        ast::SelectItem::ExprWithAlias { alias, .. } => Some(fold_ident(alias)),
        ast::SelectItem::UnnamedExpr(ast::Expr::Identifier(ident)) => Some(fold_ident(ident)),
        ast::SelectItem::UnnamedExpr(ast::Expr::CompoundIdentifier(parts)) => {
            parts.last().map(fold_ident)
        }
        _ => None,
    }
}

/// Puts what merged columns are in the place of their names, but not in subqueries, which have
/// names of their own.
struct Meaning<'a> {
    meanings: &'a HashMap<String, ast::Expr>,
    depth: usize,
}

impl VisitorMut for Meaning<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut ast::Expr) -> ControlFlow<()> {
        if self.depth == 0
            && let ast::Expr::Identifier(ident) = expr
            && let Some(meaning) = self.meanings.get(&fold_ident(ident))
        {
            *expr = meaning.clone();
        }
        ControlFlow::Continue(())
    }
}
