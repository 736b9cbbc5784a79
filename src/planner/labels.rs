//! Names of output columns, as PostgreSQL chooses them: `count`, `upper`, `?column?`.
//!
//! DataFusion wants the columns of a projection to differ in name, PostgreSQL does not: a second
//! column of a name gets a suffix behind [`MARK`], which [`shown`] takes off again.

use std::ops::ControlFlow;

use sqlparser::ast::{self, VisitMut, VisitorMut};

use super::parse::{fold_ident, parse_query, type_named};
use super::set_functions::{is_unnest, named};
use crate::error::SqlResult;

/// Separates a name from what makes it unique. No key can type it.
const MARK: char = '\u{1f}';

/// The name of a planned column, as clients see it.
pub fn shown(name: &str) -> &str {
    name.split_once(MARK).map_or(name, |(shown, _)| shown)
}

/// The name of a planned column that clients see under the name of another one; `suffix` makes it
/// another.
pub(super) fn repeated(name: &str, suffix: usize) -> String {
    format!("{name}{MARK}{suffix}")
}

/// Finds the names of a query's columns, if it can be planned alone.
pub(super) type ColumnsOf<'a> = &'a dyn Fn(ast::Query) -> Option<Vec<String>>;

/// Gives every select item of a query the name that PostgreSQL gives it.
pub(super) fn label(query: &mut ast::Query, columns_of: ColumnsOf<'_>) {
    let _ = query.visit(&mut Labels { columns_of, with: Vec::new() });
}

struct Labels<'a> {
    columns_of: ColumnsOf<'a>,
    /// The WITH of each query around this one.
    with: Vec<Option<ast::With>>,
}

impl VisitorMut for Labels<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut ast::Query) -> ControlFlow<()> {
        self.with.push(query.with.clone());
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut ast::Query) -> ControlFlow<()> {
        self.with.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut ast::TableFactor) -> ControlFlow<()> {
        label_function(factor);
        ControlFlow::Continue(())
    }

    // After those of FROM, whose names a wildcard may bring.
    fn post_visit_select(&mut self, select: &mut ast::Select) -> ControlFlow<()> {
        let brought = self.brought(select);
        let own = self.own_columns(select);
        label_among(&mut select.projection, &brought, &own);
        ControlFlow::Continue(())
    }
}

/// What the wildcards of a list bring.
enum Brought {
    Names(Vec<String>),
    /// Any name may be among them.
    Unknown,
}

impl Brought {
    fn may_have(&self, name: &str) -> bool {
        match self {
            Self::Names(names) => names.iter().any(|brought| brought == name),
            Self::Unknown => true,
        }
    }
}

/// What of a list is of the query's own FROM. Planned, a column of a query around it has a name
/// that no other can be called by.
struct Own {
    relations: Vec<String>,
    columns: Brought,
}

impl Own {
    fn has(&self, expr: &ast::Expr) -> bool {
        match expr {
            ast::Expr::Identifier(name) => self.columns.may_have(&fold_ident(name)),
            ast::Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [.., relation, _] => self.relations.contains(&fold_ident(relation)),
                _ => true,
            },
            _ => false,
        }
    }
}

fn relations_of(from: &ast::TableWithJoins, names: &mut Vec<String>) {
    for factor in std::iter::once(&from.relation).chain(from.joins.iter().map(|j| &j.relation)) {
        let (alias, name) = match factor {
            ast::TableFactor::NestedJoin { table_with_joins, alias: None } => {
                relations_of(table_with_joins, names);
                continue;
            }
            ast::TableFactor::Table { alias, name, .. } => {
                (alias, name.0.last().and_then(|part| part.as_ident()))
            }
            ast::TableFactor::Function { alias, name, .. } => {
                (alias, name.0.last().and_then(|part| part.as_ident()))
            }
            ast::TableFactor::Derived { alias, .. }
            | ast::TableFactor::NestedJoin { alias, .. }
            | ast::TableFactor::UNNEST { alias, .. } => (alias, None),
            _ => continue,
        };
        names.extend(alias.as_ref().map(|alias| &alias.name).or(name).map(fold_ident));
    }
}

impl Labels<'_> {
    fn own_columns(&self, select: &ast::Select) -> Own {
        let mut relations = Vec::new();
        select.from.iter().for_each(|from| relations_of(from, &mut relations));
        let unqualified = |item: &ast::SelectItem| {
            matches!(item, ast::SelectItem::UnnamedExpr(ast::Expr::Identifier(_)))
        };
        let columns = if self.with.len() < 2 || !select.projection.iter().any(unqualified) {
            Brought::Unknown
        } else if select.from.is_empty() {
            Brought::Names(Vec::new())
        } else {
            let all = ast::SelectItem::Wildcard(ast::WildcardAdditionalOptions::default());
            self.names(vec![all], select).map_or(Brought::Unknown, Brought::Names)
        };
        Own { relations, columns }
    }

    fn brought(&self, select: &ast::Select) -> Brought {
        let wildcards = select.projection.iter().filter(|item| is_wildcard(item));
        let wildcards: Vec<ast::SelectItem> = wildcards.cloned().collect();
        let unnamed = |item: &ast::SelectItem| matches!(item, ast::SelectItem::UnnamedExpr(_));
        if wildcards.is_empty() || !select.projection.iter().any(unnamed) {
            return Brought::Names(Vec::new());
        }
        self.names(wildcards, select).map_or(Brought::Unknown, Brought::Names)
    }

    fn names(&self, wildcards: Vec<ast::SelectItem>, select: &ast::Select) -> Option<Vec<String>> {
        let mut alone = (*parse_query("SELECT 1").ok()?.tree).clone();
        let ast::SetExpr::Select(body) = alone.body.as_mut() else { return None };
        body.projection = wildcards;
        body.from.clone_from(&select.from);
        alone.with = surrounding(&self.with);
        (self.columns_of)(alone)
    }
}

/// The query of a relation's rows, which stands below `withs`.
pub(super) fn alone(
    factor: &ast::TableFactor,
    withs: &[Option<ast::With>],
) -> SqlResult<ast::Query> {
    let mut alone = (*parse_query("SELECT * FROM t")?.tree).clone();
    if let ast::SetExpr::Select(select) = alone.body.as_mut() {
        select.from = vec![ast::TableWithJoins { relation: factor.clone(), joins: Vec::new() }];
    }
    alone.with = surrounding(withs);
    Ok(alone)
}

/// All names of the WITHs in scope, as one WITH.
pub(super) fn surrounding(withs: &[Option<ast::With>]) -> Option<ast::With> {
    let mut all = withs.iter().flatten();
    let mut first = all.next()?.clone();
    for with in all {
        first.recursive |= with.recursive;
        first.cte_tables.extend(with.cte_tables.iter().cloned());
    }
    Some(first)
}

fn is_wildcard(item: &ast::SelectItem) -> bool {
    matches!(item, ast::SelectItem::Wildcard(_) | ast::SelectItem::QualifiedWildcard(..))
}

/// Columns of a function in FROM are named as its parameters are, or after the function, or after
/// its alias. Whether it is one whose columns are known.
pub(super) fn label_function(factor: &mut ast::TableFactor) -> bool {
    let (function, columns, alias, ordinality) = match factor {
        ast::TableFactor::Table { name, alias, args: Some(_), with_ordinality, .. }
        | ast::TableFactor::Function { name, alias, with_ordinality, .. }
            if named(name).is_some() =>
        {
            let Some(found) = named(name) else { return false };
            let columns: Vec<_> = found.columns.iter().map(|(column, _)| *column).collect();
            (found.name, columns, alias, *with_ordinality)
        }
        ast::TableFactor::Function { name, args, alias, with_ordinality, .. }
            if is_unnest(name) =>
        {
            ("unnest", vec![None; args.len()], alias, *with_ordinality)
        }
        ast::TableFactor::UNNEST { alias, array_exprs, with_ordinality, .. } => {
            ("unnest", vec![None; array_exprs.len()], alias, *with_ordinality)
        }
        _ => return false,
    };
    let alias = alias.get_or_insert_with(|| ast::TableAlias {
        explicit: false,
        name: ast::Ident::new(function),
        columns: Vec::new(),
        at: None,
    });
    let single = columns.len() == 1;
    for column in columns.iter().skip(alias.columns.len()) {
        let name = match column {
            Some(name) => ast::Ident::with_quote('"', *name),
            None if single => alias.name.clone(),
            None => ast::Ident::new(function),
        };
        let name = unlike(name, &alias.columns);
        alias.columns.push(ast::TableAliasColumnDef { name, data_type: None });
    }
    if ordinality && alias.columns.len() == columns.len() {
        let name = ast::Ident::new("ordinality");
        alias.columns.push(ast::TableAliasColumnDef { name, data_type: None });
    }
    true
}

/// `name` for a column after `columns`; one of these may be called so already.
pub(super) fn unlike(name: ast::Ident, columns: &[ast::TableAliasColumnDef]) -> ast::Ident {
    match columns.iter().any(|column| fold_ident(&column.name) == fold_ident(&name)) {
        true => ast::Ident::with_quote('"', repeated(&fold_ident(&name), columns.len())),
        false => name,
    }
}

/// Labels the items of a list, of which a wildcard may bring any name.
pub(super) fn label_all(items: &mut [ast::SelectItem]) {
    let wildcard = items.iter().any(is_wildcard);
    let brought = if wildcard { Brought::Unknown } else { Brought::Names(Vec::new()) };
    label_among(items, &brought, &Own { relations: Vec::new(), columns: Brought::Unknown });
}

/// Labels the items of a list.
fn label_among(items: &mut [ast::SelectItem], brought: &Brought, own: &Own) {
    let mut taken: Vec<String> = Vec::new();
    for item in items {
        let (name, expr, plain) = match item {
            ast::SelectItem::UnnamedExpr(expr) => {
                let name = column_name(expr).unwrap_or_else(|| "?column?".to_owned());
                (name, expr.clone(), own.has(expr))
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
        let is_repeated = taken.contains(&name) || brought.may_have(&name);
        let suffix = taken.len() + 1;
        taken.push(name.clone());
        if plain && !is_repeated {
            continue;
        }
        let name = if is_repeated { repeated(&name, suffix) } else { name };
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
