//! A relation's name as a value: its whole row.
//!
//! ```text
//! SELECT to_jsonb(t) FROM t              to_jsonb(named_row('a', t.a, 'b', t.b))
//! SELECT e FROM jsonb_array_elements(j) e              e.value
//! SELECT (t).a FROM t                                  t.a
//! ```
//!
//! A column of that name goes before. The rewriting is of syntax, before the query is planned; the
//! columns of a relation the caller finds out.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, VisitMut, VisitorMut};

use super::dml::quote;
use super::function_syntax::call;
use super::labels::{ColumnsOf, label_function, surrounding};
use super::parse::{fold_ident, parse_expression, parse_query};
use super::rows::ROW_NUMBER;
use super::set_functions::{is_unnest, named};
use crate::error::{SqlError, SqlResult};
use crate::expr::functions::NAMED_ROW;

/// Writes the columns of whole rows out in a query, in its subqueries too.
pub(super) fn spell_whole_rows(query: &mut ast::Query, columns_of: ColumnsOf<'_>) -> SqlResult<()> {
    let mut rows = WholeRows { columns_of, with: Vec::new() };
    match query.visit(&mut rows) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct WholeRows<'a> {
    columns_of: ColumnsOf<'a>,
    /// The WITH of each query around this one.
    with: Vec<Option<ast::With>>,
}

impl VisitorMut for WholeRows<'_> {
    type Break = SqlError;

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<SqlError> {
        self.with.push(query.with.clone());
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<SqlError> {
        self.with.pop();
        ControlFlow::Continue(())
    }

    // A function's column has to have its name.
    fn pre_visit_table_factor(&mut self, factor: &mut ast::TableFactor) -> ControlFlow<SqlError> {
        label_function(factor);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut ast::Select) -> ControlFlow<SqlError> {
        match self.rewrite(select) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

impl WholeRows<'_> {
    fn rewrite(&self, select: &mut ast::Select) -> SqlResult<()> {
        let mut aliases = Vec::new();
        for from in &select.from {
            collect(&from.relation, &mut aliases);
            from.joins.iter().for_each(|join| collect(&join.relation, &mut aliases));
        }
        let mut found = Found { aliases: &aliases, found: Vec::new(), queries: 0 };
        let _ = select.visit(&mut found);
        let found = found.found;
        for alias in found {
            let Some(row) = self.row(&alias, select)? else { continue };
            name_items(&mut select.projection, &alias);
            let _ = select.visit(&mut Replacing { alias: &alias, row: &row, queries: 0 });
        }
        Ok(())
    }

    /// What a relation's name means; `None`: it is not for us to say.
    fn row(&self, alias: &Alias, select: &ast::Select) -> SqlResult<Option<Expr>> {
        let relation = quote(&alias.name);
        let columns = match self.columns(select, "*") {
            Some(all) if all.contains(&alias.name) => return Ok(None),
            Some(_) => self.columns(select, &format!("{relation}.*")),
            // It reads an outer query, and cannot be planned alone: a function's column is known.
            None => alias.value.clone().map(|value| vec![value]),
        };
        let Some(columns) = columns else { return Ok(None) };
        let column = |name: &String| {
            let text = format!("{relation}.{}", quote(name));
            Ok::<_, SqlError>((*parse_expression(&text)?.tree).clone())
        };
        if alias.value.is_some()
            && let [value, ..] = columns.as_slice()
        {
            return column(value).map(Some);
        }
        let mut args = Vec::new();
        for name in &columns {
            let text = ast::Value::SingleQuotedString(name.clone());
            args.push(Expr::Value(text.with_empty_span()));
            args.push(column(name)?);
        }
        call(NAMED_ROW, args).map(Some)
    }

    /// The names of what `SELECT item` over the same relations gives, if that can be planned.
    fn columns(&self, select: &ast::Select, item: &str) -> Option<Vec<String>> {
        let mut alone = (*parse_query(&format!("SELECT {item}")).ok()?.tree).clone();
        let ast::SetExpr::Select(body) = alone.body.as_mut() else { return None };
        body.from.clone_from(&select.from);
        alone.with = surrounding(&self.with);
        let mut columns = (self.columns_of)(alone)?;
        columns.retain(|column| column != ROW_NUMBER);
        Some(columns)
    }
}

/// A relation's name in its query.
#[derive(Debug, Clone)]
struct Alias {
    name: String,
    /// The column of a function that gives values, not rows of columns.
    value: Option<String>,
}

fn collect(factor: &ast::TableFactor, aliases: &mut Vec<Alias>) {
    let named_as = |alias: &Option<ast::TableAlias>, name: Option<&ast::ObjectName>| {
        let plain = name.and_then(|name| name.0.last()).and_then(|part| part.as_ident());
        alias.as_ref().map(|alias| fold_ident(&alias.name)).or_else(|| plain.map(fold_ident))
    };
    let (name, value) = match factor {
        ast::TableFactor::Table { name, alias, args: None, .. } => {
            (named_as(alias, Some(name)), None)
        }
        ast::TableFactor::Table { name, alias, .. }
        | ast::TableFactor::Function { name, alias, .. } => {
            let columns = named(name).map_or(&[][..], |function| function.columns);
            if is_unnest(name) || matches!(columns, [(None, _)]) {
                // Its column has the relation's name.
                return;
            }
            let column = alias.as_ref().and_then(|alias| alias.columns.first());
            let value =
                column.filter(|_| columns.len() == 1).map(|column| fold_ident(&column.name));
            (named_as(alias, Some(name)), value)
        }
        ast::TableFactor::Derived { alias, .. } => (named_as(alias, None), None),
        ast::TableFactor::NestedJoin { table_with_joins, .. } => {
            collect(&table_with_joins.relation, aliases);
            table_with_joins.joins.iter().for_each(|join| collect(&join.relation, aliases));
            return;
        }
        _ => return,
    };
    aliases.extend(name.map(|name| Alias { name, value }));
}

/// The relation that an expression names alone.
fn named_by(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(name) => Some(fold_ident(name)),
        // `(t.*)`
        Expr::QualifiedWildcard(ast::ObjectName(parts), _) => match parts.as_slice() {
            [name] => name.as_ident().map(fold_ident),
            _ => None,
        },
        _ => None,
    }
}

/// Which relations are named as values in a query, its subqueries aside.
struct Found<'a> {
    aliases: &'a [Alias],
    found: Vec<Alias>,
    queries: usize,
}

impl VisitorMut for Found<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<()> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let alias = named_by(expr).filter(|_| self.queries == 0).and_then(|name| {
            let known = self.found.iter().any(|found| found.name == name);
            self.aliases.iter().find(|alias| !known && alias.name == name)
        });
        self.found.extend(alias.cloned());
        ControlFlow::Continue(())
    }
}

struct Replacing<'a> {
    alias: &'a Alias,
    row: &'a Expr,
    queries: usize,
}

impl Replacing<'_> {
    fn is_row(&self, expr: &Expr) -> bool {
        named_by(expr).is_some_and(|name| name == self.alias.name)
    }
}

impl VisitorMut for Replacing<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<()> {
        self.queries += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<()> {
        self.queries -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.queries > 0 {
            return ControlFlow::Continue(());
        }
        if let Expr::CompoundFieldAccess { root, access_chain } = expr
            && let Expr::Nested(inner) = root.as_ref()
            && self.is_row(inner)
            && let [ast::AccessExpr::Dot(Expr::Identifier(field))] = access_chain.as_slice()
        {
            let relation = ast::Ident::with_quote('"', self.alias.name.clone());
            *expr = Expr::CompoundIdentifier(vec![relation, field.clone()]);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.queries == 0 && self.is_row(expr) {
            *expr = self.row.clone();
        }
        ControlFlow::Continue(())
    }
}

/// A row in a list is called as its relation is.
fn name_items(items: &mut [ast::SelectItem], alias: &Alias) {
    for item in items {
        if let ast::SelectItem::UnnamedExpr(expr) = item
            && named_by(expr).is_some_and(|name| name == alias.name)
        {
            let name = ast::Ident::with_quote('"', alias.name.clone());
            *item = ast::SelectItem::ExprWithAlias { expr: expr.clone(), alias: name };
        }
    }
}
