//! Names of output columns, as PostgreSQL chooses them: `count`, `upper`, `?column?`.
//!
//! DataFusion wants the columns of a projection to differ in name, PostgreSQL does not: a second
//! column of a name gets a suffix behind [`MARK`], which [`shown`] takes off again.

use std::ops::ControlFlow;

use sqlparser::ast::{self, VisitMut, VisitorMut};

use super::parse::{fold_ident, type_named};

/// Separates a name from what makes it unique. No key can type it.
const MARK: char = '\u{1f}';

/// The name of a planned column, as clients see it.
pub fn shown(name: &str) -> &str {
    name.split_once(MARK).map_or(name, |(shown, _)| shown)
}

/// Gives every select item of a query the name that PostgreSQL gives it.
pub(super) fn label(query: &mut ast::Query) {
    struct Labels;
    impl VisitorMut for Labels {
        type Break = ();

        fn pre_visit_select(&mut self, select: &mut ast::Select) -> ControlFlow<()> {
            label_items(&mut select.projection);
            ControlFlow::Continue(())
        }

        fn pre_visit_table_factor(&mut self, factor: &mut ast::TableFactor) -> ControlFlow<()> {
            label_series(factor);
            ControlFlow::Continue(())
        }
    }
    let _ = query.visit(&mut Labels);
}

/// The column of a function in FROM is named after the function, or after its alias.
fn label_series(factor: &mut ast::TableFactor) {
    let (function, alias, ordinality) = match factor {
        ast::TableFactor::Table { name, alias, args: Some(_), with_ordinality, .. }
        | ast::TableFactor::Function { name, alias, with_ordinality, .. } => {
            let name = name.0.last().and_then(|part| part.as_ident()).map(fold_ident);
            (name, alias, *with_ordinality)
        }
        ast::TableFactor::UNNEST { alias, array_exprs, with_ordinality, .. }
            if array_exprs.len() == 1 =>
        {
            (Some("unnest".to_owned()), alias, *with_ordinality)
        }
        _ => return,
    };
    let Some(function @ ("generate_series" | "unnest")) = function.as_deref() else { return };
    let alias = alias.get_or_insert_with(|| ast::TableAlias {
        explicit: false,
        name: ast::Ident::new(function),
        columns: Vec::new(),
        at: None,
    });
    if alias.columns.is_empty() {
        let name = alias.name.clone();
        alias.columns.push(ast::TableAliasColumnDef { name, data_type: None });
    }
    if ordinality && alias.columns.len() == 1 {
        let name = ast::Ident::new("ordinality");
        alias.columns.push(ast::TableAliasColumnDef { name, data_type: None });
    }
}

/// Labels the items of a list.
pub(super) fn label_items(items: &mut [ast::SelectItem]) {
    // What a wildcard brings is not known here.
    let wildcard = items.iter().any(|item| {
        matches!(item, ast::SelectItem::Wildcard(_) | ast::SelectItem::QualifiedWildcard(..))
    });
    let mut taken: Vec<String> = Vec::new();
    for item in items {
        let (name, expr, plain) = match item {
            ast::SelectItem::UnnamedExpr(expr) => {
                let name = column_name(expr).unwrap_or_else(|| "?column?".to_owned());
                let plain =
                    matches!(expr, ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_));
                (name, expr.clone(), plain)
            }
            ast::SelectItem::ExprWithAlias { expr, alias } => {
                let name = fold_ident(alias);
                if !taken.contains(&name) {
                    taken.push(name);
                    continue;
                }
                (name, expr.clone(), false)
            }
            _ => continue,
        };
        let repeated = taken.contains(&name);
        let suffix = taken.len() + 1;
        taken.push(name.clone());
        if plain && !repeated && !wildcard {
            continue;
        }
        let name = if repeated || wildcard { format!("{name}{MARK}{suffix}") } else { name };
        *item = ast::SelectItem::ExprWithAlias { expr, alias: ast::Ident::with_quote('"', name) };
    }
}

/// A name, and whether it is better than a type's name would be.
struct Found {
    name: String,
    strong: bool,
}

fn strong(name: impl Into<String>) -> Option<Found> {
    Some(Found { name: name.into(), strong: true })
}

fn weak(name: impl Into<String>) -> Option<Found> {
    Some(Found { name: name.into(), strong: false })
}

fn column_name(expr: &ast::Expr) -> Option<String> {
    find(expr).map(|found| found.name)
}

fn find(expr: &ast::Expr) -> Option<Found> {
    use ast::Expr;
    match expr {
        Expr::Identifier(ident) => strong(fold_ident(ident)),
        Expr::CompoundIdentifier(parts) => strong(fold_ident(parts.last()?)),
        Expr::CompoundFieldAccess { root, access_chain } => {
            let field = access_chain.iter().rev().find_map(|access| match access {
                ast::AccessExpr::Dot(Expr::Identifier(ident)) => Some(fold_ident(ident)),
                _ => None,
            });
            field.map_or_else(|| find(root), strong)
        }
        Expr::Function(function) => strong(fold_ident(function.name.0.last()?.as_ident()?)),
        Expr::Nested(inner) => find(inner),
        Expr::Collate { expr, .. } => find(expr),
        Expr::Cast { expr, data_type, .. } => match find(expr) {
            Some(found) if found.strong => Some(found),
            _ => weak(type_label(data_type)),
        },
        Expr::TypedString(typed) => weak(type_label(&typed.data_type)),
        Expr::Interval(_) => weak("interval"),
        Expr::Case { else_result, .. } => match else_result.as_ref().and_then(|e| find(e)) {
            Some(found) if found.strong => Some(found),
            _ => weak("case"),
        },
        Expr::Exists { .. } => strong("exists"),
        Expr::Subquery(query) => subquery_name(query),
        Expr::Array(_) => strong("array"),
        Expr::Tuple(_) => strong("row"),
        Expr::Extract { .. } => strong("extract"),
        Expr::Position { .. } => strong("position"),
        Expr::Substring { .. } => strong("substring"),
        Expr::Overlay { .. } => strong("overlay"),
        Expr::Ceil { .. } => strong("ceil"),
        Expr::Floor { .. } => strong("floor"),
        Expr::AtTimeZone { .. } => strong("timezone"),
        Expr::Trim { trim_where, .. } => strong(match trim_where {
            Some(ast::TrimWhereField::Leading) => "ltrim",
            Some(ast::TrimWhereField::Trailing) => "rtrim",
            _ => "btrim",
        }),
        Expr::Value(value) => match value.value {
            ast::Value::Boolean(_) => weak("bool"),
            _ => None,
        },
        _ => None,
    }
}

/// A type's name in `pg_type`, as PostgreSQL labels a cast.
fn type_label(data_type: &ast::DataType) -> String {
    match type_named(&data_type.to_string()) {
        Ok(crate::types::SqlType::Array(element)) => element.typname(),
        Ok(sql_type) => sql_type.typname(),
        Err(_) => "?column?".to_owned(),
    }
}

/// A scalar subquery is named after its column.
fn subquery_name(query: &ast::Query) -> Option<Found> {
    let ast::SetExpr::Select(select) = query.body.as_ref() else { return None };
    match select.projection.first()? {
        ast::SelectItem::UnnamedExpr(expr) => strong(column_name(expr)?),
        ast::SelectItem::ExprWithAlias { alias, .. } => strong(fold_ident(alias)),
        _ => None,
    }
}
