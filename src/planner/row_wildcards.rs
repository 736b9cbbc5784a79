//! `t.*` among the columns of a row, of which it is as many as the relation has:
//!
//! ```text
//! ROW(t.*, 1)             ROW(t.a, t.b, 1)
//! (t.*, u.*)              (t.a, t.b, u.c)
//! VALUES (t.*), (t.*)     VALUES (t.a, t.b), (t.a, t.b)
//! ```
//!
//! The rewriting is of syntax; the caller finds out which columns a relation has.

use std::ops::ControlFlow;

use sqlparser::ast::{self, Expr, VisitMut, VisitorMut};

use super::labels::{ColumnsOf, alone};
use super::parse::fold_ident;

/// Writes the wildcards of rows out in a query, in its subqueries too.
pub(super) fn expand_rows(query: &mut ast::Query, columns_of: ColumnsOf<'_>) {
    let _ = query.visit(&mut Rows { columns_of, with: Vec::new() });
}

struct Rows<'a> {
    columns_of: ColumnsOf<'a>,
    /// The WITH of each query around this one.
    with: Vec<Option<ast::With>>,
}

impl VisitorMut for Rows<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<()> {
        self.with.push(query.with.clone());
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _query: &mut ast::Query) -> ControlFlow<()> {
        self.with.pop();
        ControlFlow::Continue(())
    }

    // What the queries within name of their own relations was written out before.
    fn post_visit_select(&mut self, select: &mut ast::Select) -> ControlFlow<()> {
        let mut factors = Vec::new();
        for from in &select.from {
            collect(&from.relation, &mut factors);
            from.joins.iter().for_each(|join| collect(&join.relation, &mut factors));
        }
        let mut wanted = Wanted { names: Vec::new() };
        let _ = select.visit(&mut wanted);
        for name in wanted.names {
            let Some((_, factor)) = factors.iter().find(|(known, _)| *known == name) else {
                continue;
            };
            if let Some(columns) = self.columns(factor) {
                let _ = select.visit(&mut Expanding { name: &name, columns: &columns });
            }
        }
        ControlFlow::Continue(())
    }
}

impl Rows<'_> {
    /// The columns of a relation, if it can be planned alone.
    fn columns(&self, factor: &ast::TableFactor) -> Option<Vec<String>> {
        (self.columns_of)(alone(factor, &self.with).ok()?)
    }
}

/// The relations of a FROM by the names that they have there.
fn collect(factor: &ast::TableFactor, found: &mut Vec<(String, ast::TableFactor)>) {
    let name = match factor {
        ast::TableFactor::Table { alias: Some(alias), .. }
        | ast::TableFactor::Derived { alias: Some(alias), .. }
        | ast::TableFactor::Function { alias: Some(alias), .. }
        | ast::TableFactor::UNNEST { alias: Some(alias), .. } => Some(fold_ident(&alias.name)),
        ast::TableFactor::Table { name, .. } => {
            name.0.last().and_then(|part| part.as_ident()).map(fold_ident)
        }
        ast::TableFactor::NestedJoin { table_with_joins, .. } => {
            collect(&table_with_joins.relation, found);
            table_with_joins.joins.iter().for_each(|join| collect(&join.relation, found));
            None
        }
        _ => None,
    };
    found.extend(name.map(|name| (name, factor.clone())));
}

/// The relation all of whose columns are meant.
fn wildcard(name: &ast::ObjectName) -> Option<String> {
    match name.0.as_slice() {
        [part] => part.as_ident().map(fold_ident),
        _ => None,
    }
}

fn wildcard_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::QualifiedWildcard(name, _) => wildcard(name),
        _ => None,
    }
}

fn wildcard_of_argument(arg: &ast::FunctionArg) -> Option<String> {
    match arg {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::QualifiedWildcard(name)) => wildcard(name),
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => wildcard_of(expr),
        _ => None,
    }
}

/// The arguments of a call of `ROW`.
fn row_arguments(expr: &mut Expr) -> Option<&mut Vec<ast::FunctionArg>> {
    let Expr::Function(function) = expr else { return None };
    let [ast::ObjectNamePart::Identifier(name)] = function.name.0.as_slice() else { return None };
    match &mut function.args {
        ast::FunctionArguments::List(list) if fold_ident(name) == "row" => Some(&mut list.args),
        _ => None,
    }
}

/// Which relations stand with all of their columns in rows.
struct Wanted {
    names: Vec<String>,
}

impl VisitorMut for Wanted {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<()> {
        if let ast::SetExpr::Values(values) = query.body.as_mut() {
            let cells = values.rows.iter().flat_map(|row| &row.content);
            self.names.extend(cells.filter_map(wildcard_of));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Tuple(items) = expr {
            self.names.extend(items.iter().filter_map(wildcard_of));
        } else if let Some(args) = row_arguments(expr) {
            self.names.extend(args.iter().filter_map(wildcard_of_argument));
        }
        ControlFlow::Continue(())
    }
}

struct Expanding<'a> {
    name: &'a str,
    columns: &'a [String],
}

impl Expanding<'_> {
    fn columns(&self) -> impl Iterator<Item = Expr> {
        let relation = ast::Ident::with_quote('"', self.name);
        self.columns.iter().map(move |column| {
            let column = ast::Ident::with_quote('"', column);
            Expr::CompoundIdentifier(vec![relation.clone(), column])
        })
    }

    fn expand(&self, items: &mut Vec<Expr>) {
        for item in std::mem::take(items) {
            match wildcard_of(&item) {
                Some(name) if name == self.name => items.extend(self.columns()),
                _ => items.push(item),
            }
        }
    }
}

impl VisitorMut for Expanding<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<()> {
        if let ast::SetExpr::Values(values) = query.body.as_mut() {
            values.rows.iter_mut().for_each(|row| self.expand(&mut row.content));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Tuple(items) = expr {
            self.expand(items);
        } else if let Some(args) = row_arguments(expr) {
            for arg in std::mem::take(args) {
                match wildcard_of_argument(&arg) {
                    Some(name) if name == self.name => args.extend(self.columns().map(|column| {
                        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(column))
                    })),
                    _ => args.push(arg),
                }
            }
        }
        ControlFlow::Continue(())
    }
}
