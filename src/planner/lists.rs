//! The types of VALUES lists and UNIONs, as PostgreSQL resolves them: a literal without a type
//! takes the type of the others, and types of different kinds cannot be matched.

use std::ops::ControlFlow;

use sqlparser::ast::{self, VisitMut, VisitorMut};

use super::parse::parse_expression;
use crate::error::{SqlError, SqlResult};
use crate::expr::functions::{UNTYPED, common_type, is_noted};
use crate::types::SqlType;

/// Finds the type of an expression that reads no columns; `None`: not known yet.
pub(super) type TypeOf<'a> = &'a dyn Fn(&ast::Expr) -> Option<arrow::datatypes::Field>;

/// Resolves the lists in a query, those of its subqueries too.
pub(super) fn resolve_lists(query: &mut ast::Query, type_of: TypeOf<'_>) -> SqlResult<()> {
    match query.visit(&mut Lists { type_of }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Lists<'a> {
    type_of: TypeOf<'a>,
}

impl VisitorMut for Lists<'_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
        if let Some(with) = query.with.as_mut().filter(|with| with.recursive) {
            with.cte_tables.iter_mut().for_each(|table| type_first_part(&mut table.query));
        }
        match self.resolve(query.body.as_mut()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

impl Lists<'_> {
    fn resolve(&self, body: &mut ast::SetExpr) -> SqlResult<()> {
        match body {
            ast::SetExpr::Values(values) => self.values(values),
            ast::SetExpr::SetOperation { op: ast::SetOperator::Union, .. } => {
                leave_untyped(body);
                self.branches(body)
            }
            ast::SetExpr::SetOperation { .. } => self.branches(body),
            _ => Ok(()),
        }
    }

    fn branches(&self, body: &mut ast::SetExpr) -> SqlResult<()> {
        match body {
            ast::SetExpr::SetOperation { left, right, .. } => {
                self.branches(left)?;
                self.branches(right)
            }
            ast::SetExpr::Values(values) => self.values(values),
            _ => Ok(()),
        }
    }

    fn values(&self, values: &mut ast::Values) -> SqlResult<()> {
        let width = values.rows.first().map_or(0, |row| row.content.len());
        for column in 0..width {
            self.column(values, column)?;
        }
        Ok(())
    }

    /// Casts the cells of a column where planning alone would give them another type.
    fn column(&self, values: &mut ast::Values, column: usize) -> SqlResult<()> {
        let cells = || values.rows.iter().filter_map(|row| row.content.get(column));
        let untyped = cells().any(is_untyped);
        let mut common: Option<SqlType> = None;
        let mut marked = false;
        let mut same = true;
        // DataFusion takes a whole number for a bigint, and something else beside it with it.
        let (mut numbers, mut others) = (false, false);
        for cell in cells() {
            if is_untyped(cell) || is_null(cell) {
                continue;
            }
            let Some(field) = (self.type_of)(cell) else { return Ok(()) };
            let is_number = is_number(cell);
            numbers |= is_number;
            others |= !is_number;
            let found = SqlType::of_field(&field);
            marked |= is_noted(&found);
            common = Some(match common {
                None => found,
                Some(before) => {
                    same &= before == found;
                    common_type(&before, &found, "VALUES")?
                }
            });
        }
        let Some(common) = common else { return Ok(()) };
        let narrowed = numbers && others && matches!(common, SqlType::Integer | SqlType::SmallInt);
        if !untyped && !narrowed && (!marked || same) {
            return Ok(());
        }
        let to = match common {
            SqlType::Numeric(_) => SqlType::Numeric(None),
            SqlType::Varchar(_) | SqlType::Char(_) => SqlType::Text,
            other => other,
        };
        for cell in values.rows.iter_mut().filter_map(|row| row.content.get_mut(column)) {
            if marked || narrowed || is_untyped(cell) || to == SqlType::Numeric(None) {
                cast(cell, &to)?;
            }
        }
        Ok(())
    }
}

/// A recursive query's columns have the types of its first part, where a string literal is a text.
fn type_first_part(query: &mut ast::Query) {
    let ast::SetExpr::SetOperation { left, .. } = query.body.as_mut() else { return };
    let ast::SetExpr::Select(select) = left.as_mut() else { return };
    for expr in select.projection.iter_mut().filter_map(item_expr_mut) {
        if is_untyped(expr)
            && let Ok(cast) = parse_expression(&format!("{expr}::text"))
        {
            *expr = (*cast.tree).clone();
        }
    }
}

/// Marks the string literals in the branches of a UNION that stand beside something with a type.
fn leave_untyped(body: &mut ast::SetExpr) {
    let mut branches = Vec::new();
    collect(body, &mut branches);
    let width = branches.iter().map(|items| items.len()).max().unwrap_or(0);
    for column in 0..width {
        let typed = branches.iter().any(|items| match items.get(column) {
            Some(item) => item_expr(item).is_none_or(|expr| !is_untyped(expr) && !is_null(expr)),
            None => true,
        });
        if !typed {
            continue;
        }
        for items in &mut branches {
            let Some(expr) = items.get_mut(column).and_then(item_expr_mut) else { continue };
            if is_untyped(expr)
                && let Ok(call) = parse_expression(&format!("\"{UNTYPED}\"({expr})"))
            {
                *expr = (*call.tree).clone();
            }
        }
    }
}

/// The select lists of a UNION's branches.
fn collect<'a>(body: &'a mut ast::SetExpr, branches: &mut Vec<&'a mut Vec<ast::SelectItem>>) {
    match body {
        ast::SetExpr::Select(select) => branches.push(&mut select.projection),
        ast::SetExpr::SetOperation { left, right, op: ast::SetOperator::Union, .. } => {
            collect(left, branches);
            collect(right, branches);
        }
        _ => {}
    }
}

fn item_expr(item: &ast::SelectItem) -> Option<&ast::Expr> {
    match item {
        ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. } => {
            Some(expr)
        }
        _ => None,
    }
}

fn item_expr_mut(item: &mut ast::SelectItem) -> Option<&mut ast::Expr> {
    match item {
        ast::SelectItem::UnnamedExpr(expr) | ast::SelectItem::ExprWithAlias { expr, .. } => {
            Some(expr)
        }
        _ => None,
    }
}

fn is_untyped(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Value(value)
        if matches!(value.value, ast::Value::SingleQuotedString(_)))
}

fn is_number(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Value(value) if matches!(value.value, ast::Value::Number(..)))
}

fn is_null(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Value(value) if value.value == ast::Value::Null)
}

fn cast(cell: &mut ast::Expr, to: &SqlType) -> SqlResult<()> {
    let mut cast = (*parse_expression(&format!("NULL::{to}"))?.tree).clone();
    if let ast::Expr::Cast { expr, .. } = &mut cast {
        std::mem::swap(expr.as_mut(), cell);
        *cell = cast;
    }
    Ok(())
}
