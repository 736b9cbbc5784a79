//! What INSERT, UPDATE and DELETE compute, as queries over the target table.
//!
//! The engine runs these queries, casts what they give to the columns' types as PostgreSQL assigns,
//! and writes. A parameter that stands alone where a column's value is wanted has the column's
//! type.

use std::sync::Arc;

use sqlparser::ast;
use sqlparser::tokenizer::Span;

use super::parse::{fold_ident, is_default, parse_expression, parse_query};
use super::sequence_names::default_text;
use super::source::Source;
use super::statement::{Assignment, Delete, Insert, Overriding, Update};
use super::syntax::{Expression, From, Name, Query, With};
use crate::catalog::Column;
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::assignment_name;
use crate::types::SqlType;

/// The rows that INSERT gives, in the order of `targets`: the columns that it lists, or all of the
/// table's. `None` for `DEFAULT VALUES`. The query may give fewer columns if none are listed.
pub fn insert_query(insert: &Insert, targets: &[Column]) -> SqlResult<Option<Query>> {
    let Some(source) = &insert.source else { return Ok(None) };
    let mut tree = (*source.tree).clone();
    match tree.body.as_mut() {
        ast::SetExpr::Values(values) => {
            for row in &mut values.rows {
                fill_row(row, insert, targets)?;
            }
            assign_columns(values, targets)?;
        }
        ast::SetExpr::Select(select) => {
            for (item, target) in select.projection.iter_mut().zip(targets) {
                if let ast::SelectItem::UnnamedExpr(expr) = item {
                    type_parameter(expr, target)?;
                }
            }
        }
        _ => {}
    }
    Ok(Some(Query { tree: Arc::new(tree), ..source.clone() }))
}

impl Insert {
    /// Whether its rows are written out, rather than those of a query.
    pub fn lists_values(&self) -> bool {
        let body = self.source.as_ref().map(|source| source.tree.body.as_ref());
        matches!(body, None | Some(ast::SetExpr::Values(_)))
    }
}

/// 428C9: a value for a column that is computed or numbered.
pub fn not_a_default(column: &Column) -> SqlError {
    let name = &column.name;
    let message = format!("cannot insert a non-DEFAULT value into column \"{name}\"");
    let error = SqlError::new(code::GENERATED_ALWAYS, message);
    match column.generated {
        Some(_) => error.detail(format!("Column \"{name}\" is a generated column.")),
        None => error
            .detail(format!("Column \"{name}\" is an identity column defined as GENERATED ALWAYS."))
            .hint("Use OVERRIDING SYSTEM VALUE to override."),
    }
}

impl Insert {
    /// Whether a value for the column is refused.
    pub fn refuses(&self, column: &Column) -> bool {
        let always = column.identity.is_some_and(|identity| identity.always);
        column.generated.is_some() || (always && self.overriding.is_none())
    }

    /// Whether a value for the column counts for nothing.
    pub fn ignores(&self, column: &Column) -> bool {
        column.identity.is_some() && self.overriding == Some(Overriding::User)
    }
}

/// DEFAULT and parameters in a row of VALUES.
fn fill_row(
    row: &mut ast::Parens<Vec<ast::Expr>>,
    insert: &Insert,
    targets: &[Column],
) -> SqlResult<()> {
    let row = &mut row.content;
    if row.len() > targets.len() {
        let message = "INSERT has more expressions than target columns";
        return Err(SqlError::new(code::SYNTAX_ERROR, message));
    }
    if row.len() < targets.len() && !insert.columns.is_empty() {
        let message = "INSERT has more target columns than expressions";
        return Err(SqlError::new(code::SYNTAX_ERROR, message));
    }
    for (value, target) in row.iter_mut().zip(targets) {
        if is_default(value) || insert.ignores(target) {
            *value = default_of(target)?;
        } else if insert.refuses(target) {
            return Err(not_a_default(target));
        } else {
            type_parameter(value, target)?;
        }
    }
    Ok(())
}

/// Puts assignments around the values of each column whose literals are of several kinds: those
/// of one kind are assigned together.
fn assign_columns(values: &mut ast::Values, targets: &[Column]) -> SqlResult<()> {
    for (index, target) in targets.iter().enumerate() {
        let cells = || values.rows.iter().filter_map(|row| row.content.get(index));
        let texts = cells().all(|cell| is_null(cell) || is_text(cell));
        let whole = cells().all(|cell| is_null(cell) || is_whole_number(cell));
        let parameters = cells().all(|cell| is_null(cell) || is_typed_parameter(cell));
        if texts || whole || parameters {
            continue;
        }
        for cell in values.rows.iter_mut().filter_map(|row| row.content.get_mut(index)) {
            assign(cell, target)?;
        }
    }
    Ok(())
}

/// Puts an assignment to `target` around a value. A number for a column of numbers with fractions
/// is read as the column's type, which may be wider than what the number would be on its own.
pub(super) fn assign(value: &mut ast::Expr, target: &Column) -> SqlResult<()> {
    let fractions =
        matches!(target.sql_type, SqlType::Real | SqlType::Double | SqlType::Numeric(_));
    if fractions && let Some(number) = number_text(value) {
        *value = ast::Expr::Value(ast::Value::SingleQuotedString(number).with_empty_span());
    }
    let name = quote(&assignment_name(&target.name, &target.sql_type));
    let call = Arc::clone(&parse_expression(&format!("{name}(NULL)"))?.tree);
    let mut call = Arc::unwrap_or_clone(call);
    if let ast::Expr::Function(function) = &mut call
        && let ast::FunctionArguments::List(list) = &mut function.args
        && let [ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(argument))] =
            list.args.as_mut_slice()
    {
        std::mem::swap(argument, value);
        *value = call;
    }
    Ok(())
}

fn is_null(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Value(value) if value.value == ast::Value::Null)
}

fn is_text(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Value(value)
        if matches!(value.value, ast::Value::SingleQuotedString(_)))
}

/// A parameter, to which [`type_parameter`] gave its column's type.
fn is_typed_parameter(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Cast { expr, .. } if matches!(expr.as_ref(),
        ast::Expr::Value(value) if matches!(value.value, ast::Value::Placeholder(_))))
}

fn is_whole_number(expr: &ast::Expr) -> bool {
    number_text(expr).is_some_and(|text| text.parse::<i64>().is_ok())
}

/// The text of a number, with its sign.
pub(super) fn number_text(expr: &ast::Expr) -> Option<String> {
    match expr {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::Number(text, _) => Some(text.clone()),
            _ => None,
        },
        ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, expr } => match expr.as_ref() {
            inner @ ast::Expr::Value(_) => number_text(inner).map(|text| format!("-{text}")),
            _ => None,
        },
        ast::Expr::Nested(inner) => number_text(inner),
        _ => None,
    }
}

/// A column's default as an expression.
fn default_of(column: &Column) -> SqlResult<ast::Expr> {
    match default_text(column) {
        Some(text) => Ok((*parse_expression(&text)?.tree).clone()),
        None => Ok(ast::Expr::Value(ast::Value::Null.with_empty_span())),
    }
}

/// A column's default, assigned to it.
pub fn default_expression(column: &Column) -> SqlResult<Option<Expression>> {
    let Some(text) = default_text(column) else { return Ok(None) };
    let mut expression = parse_expression(&text)?;
    assign(Arc::make_mut(&mut expression.tree), column)?;
    Ok(Some(expression))
}

/// Gives a parameter that stands alone the type of the column it is for.
fn type_parameter(value: &mut ast::Expr, target: &Column) -> SqlResult<()> {
    let alone = matches!(value, ast::Expr::Value(value)
        if matches!(value.value, ast::Value::Placeholder(_)));
    if !alone {
        return Ok(());
    }
    let sql_type = match &target.sql_type {
        SqlType::Varchar(_) | SqlType::Char(_) => SqlType::Text,
        other => other.clone(),
    };
    let mut cast = (*parse_expression(&format!("NULL::{sql_type}"))?.tree).clone();
    if let ast::Expr::Cast { expr, .. } = &mut cast {
        std::mem::swap(expr.as_mut(), value);
        *value = cast;
    }
    Ok(())
}

/// An UPDATE's rows: `stored`, the columns of the rows as they are, then the new value of each
/// assignment, in order, then all columns of the relations `beside`. `columns` are the table's.
pub fn update_query(
    update: &Update,
    stored: &[&str],
    columns: &[Column],
    beside: &[String],
) -> SqlResult<Query> {
    let source = assigned_source(&update.assignments, update.condition.as_ref());
    let mut query = target_query(&update.table, update.alias.as_deref(), stored, source)?;
    let select = select_of(&mut query.tree)?;
    for value in assigned_values(&update.assignments, columns)? {
        select.projection.push(ast::SelectItem::UnnamedExpr(value));
    }
    select.projection.extend(beside.iter().map(|relation| all_columns(relation)));
    restrict(select, update.from.as_ref(), update.condition.as_ref());
    precede(&mut query, update.with.as_ref());
    Ok(query)
}

/// A DELETE's rows: `stored`, the columns of the rows to delete, then all columns of the relations
/// `beside`. With USING, a row may be given more than once.
pub fn delete_query(delete: &Delete, stored: &[&str], beside: &[String]) -> SqlResult<Query> {
    let source = assigned_source(&[], delete.condition.as_ref());
    let mut query = target_query(&delete.table, delete.alias.as_deref(), stored, source)?;
    let select = select_of(&mut query.tree)?;
    select.projection.extend(beside.iter().map(|relation| all_columns(relation)));
    restrict(select, delete.using.as_ref(), delete.condition.as_ref());
    precede(&mut query, delete.with.as_ref());
    Ok(query)
}

/// The values of assignments, for the columns they name. DEFAULT is the column's.
pub(super) fn assigned_values(
    assignments: &[Assignment],
    columns: &[Column],
) -> SqlResult<Vec<ast::Expr>> {
    let mut values = Vec::with_capacity(assignments.len());
    for Assignment { column, value } in assignments {
        let Some(target) = columns.iter().find(|target| target.name == column.name) else {
            let message = format!("column \"{}\" does not exist", column.name);
            return Err(SqlError::new(code::UNDEFINED_COLUMN, message).position(column.position));
        };
        let mut value = match value {
            Some(value) => (*value.tree).clone(),
            None => default_of(target)?,
        };
        type_parameter(&mut value, target)?;
        assign(&mut value, target)?;
        values.push(value);
    }
    Ok(values)
}

/// The client's string: every part of a statement has the same.
fn assigned_source(
    assignments: &[Assignment],
    condition: Option<&Expression>,
) -> Option<Arc<Source>> {
    let values = assignments.iter().filter_map(|assignment| assignment.value.as_ref());
    values.chain(condition).map(|expression| Arc::clone(&expression.source)).next()
}

/// `SELECT stored FROM table AS alias`.
fn target_query(
    table: &Name,
    alias: Option<&str>,
    stored: &[&str],
    source: Option<Arc<Source>>,
) -> SqlResult<Query> {
    let relation = alias.unwrap_or(&table.name);
    let columns: Vec<_> =
        stored.iter().map(|column| format!("{}.{}", quote(relation), quote(column))).collect();
    let schema =
        table.schema.as_ref().map(|schema| format!("{}.", quote(schema))).unwrap_or_default();
    let mut query = parse_query(&format!(
        "SELECT {} FROM {schema}{} AS {}",
        columns.join(", "),
        quote(&table.name),
        quote(relation),
    ))?;
    // Places in this text mean nothing to the client: forget them.
    forget_places(&mut query.tree);
    if let Some(source) = source {
        query.source = source;
    }
    Ok(query)
}

pub(super) fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn forget_places(tree: &mut Arc<ast::Query>) {
    let _ = ast::visit_expressions_mut(Arc::make_mut(tree), |expr| {
        match expr {
            ast::Expr::Identifier(ident) => ident.span = Span::empty(),
            ast::Expr::CompoundIdentifier(parts) => {
                parts.iter_mut().for_each(|part| part.span = Span::empty());
            }
            _ => {}
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    let _ = ast::visit_relations_mut(Arc::make_mut(tree), |relation| {
        for part in &mut relation.0 {
            if let ast::ObjectNamePart::Identifier(ident) = part {
                ident.span = Span::empty();
            }
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
}

fn select_of(tree: &mut Arc<ast::Query>) -> SqlResult<&mut ast::Select> {
    match Arc::make_mut(tree).body.as_mut() {
        ast::SetExpr::Select(select) => Ok(select),
        _ => Err(SqlError::internal("a statement's query is not a SELECT")),
    }
}

fn all_columns(relation: &str) -> ast::SelectItem {
    let name = ast::ObjectName::from(vec![ast::Ident::with_quote('"', relation)]);
    let kind = ast::SelectItemQualifiedWildcardKind::ObjectName(name);
    ast::SelectItem::QualifiedWildcard(kind, ast::WildcardAdditionalOptions::default())
}

impl From {
    /// The names of the relations, which RETURNING may name too.
    pub fn relations(&self) -> Vec<String> {
        fn collect(factor: &ast::TableFactor, names: &mut Vec<String>) {
            let name = match factor {
                ast::TableFactor::Table { alias: Some(alias), .. }
                | ast::TableFactor::Derived { alias: Some(alias), .. }
                | ast::TableFactor::Function { alias: Some(alias), .. }
                | ast::TableFactor::UNNEST { alias: Some(alias), .. } => Some(&alias.name),
                ast::TableFactor::Table { name, .. } | ast::TableFactor::Function { name, .. } => {
                    name.0.last().and_then(|part| part.as_ident())
                }
                ast::TableFactor::NestedJoin { table_with_joins: join, .. } => {
                    collect(&join.relation, names);
                    join.joins.iter().for_each(|join| collect(&join.relation, names));
                    None
                }
                _ => None,
            };
            names.extend(name.map(fold_ident));
        }
        let mut names = Vec::new();
        for from in self.tree.iter() {
            collect(&from.relation, &mut names);
            from.joins.iter().for_each(|join| collect(&join.relation, &mut names));
        }
        names
    }
}

fn precede(query: &mut Query, with: Option<&With>) {
    if let Some(with) = with {
        Arc::make_mut(&mut query.tree).with = Some((*with.tree).clone());
    }
}

fn restrict(select: &mut ast::Select, from: Option<&From>, condition: Option<&Expression>) {
    if let Some(from) = from {
        select.from.extend(from.tree.iter().cloned());
    }
    select.selection = condition.map(|condition| (*condition.tree).clone());
}
