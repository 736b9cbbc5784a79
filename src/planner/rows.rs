//! Expressions over rows that are at hand: RETURNING, ON CONFLICT DO UPDATE, defaults, arguments
//! of EXECUTE. They are evaluated on batches, without a plan to run.

use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::common::{ScalarValue, TableReference};
use datafusion::datasource::empty::EmptyTable;
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{JoinType, LogicalPlan};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::PhysicalExpr;
use sqlparser::ast;

use super::dml::{assigned_values, quote};
use super::labels::shown;
use super::names::Relations;
use super::parse::parse_query;
use super::query::{PlannedQuery, computing_functions, plan_tree};
use super::source::Source;
use super::statement::Assignment;
use super::syntax::{Expression, Selection};
use crate::catalog::Column;
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

/// Rows that expressions may read, under a name.
#[derive(Debug, Clone)]
pub struct RowRelation<'a> {
    pub name: &'a str,
    pub schema: SchemaRef,
}

/// Expressions over the columns of the relations' rows: the first relation's, then the next one's.
#[derive(Debug, Clone)]
pub struct RowExpressions {
    pub expressions: Vec<Arc<dyn PhysicalExpr>>,
    /// What they give.
    pub schema: SchemaRef,
    /// Types of the statement's parameters, as far as these expressions tell.
    pub parameters: Vec<SqlType>,
}

/// Parameters of a statement.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parameters<'a> {
    pub declared: &'a [Option<SqlType>],
    /// `None` while the statement is only described.
    pub values: Option<&'a [ScalarValue]>,
}

/// Plans RETURNING over the written rows.
pub fn plan_returning(
    state: &SessionState,
    returning: &Selection,
    written: RowRelation<'_>,
    parameters: Parameters<'_>,
) -> SqlResult<RowExpressions> {
    let items = returning.tree.to_vec();
    plan_items(state, items, &[written], &returning.source, parameters)
}

/// Plans expressions over rows.
pub fn plan_expressions(
    state: &SessionState,
    expressions: &[&Expression],
    relations: &[RowRelation<'_>],
    parameters: Parameters<'_>,
) -> SqlResult<RowExpressions> {
    let items = expressions
        .iter()
        .map(|expression| ast::SelectItem::UnnamedExpr((*expression.tree).clone()))
        .collect();
    let source = expressions.first().map(|expression| Arc::clone(&expression.source));
    let source = source.unwrap_or_else(|| Arc::new(Source::new("")));
    plan_items(state, items, relations, &source, parameters)
}

/// Plans the values of ON CONFLICT DO UPDATE's assignments, then its condition if it has one.
/// `columns` are the table's.
pub fn plan_conflict(
    state: &SessionState,
    assignments: &[Assignment],
    condition: Option<&Expression>,
    columns: &[Column],
    relations: &[RowRelation<'_>],
    parameters: Parameters<'_>,
) -> SqlResult<RowExpressions> {
    let mut values = assigned_values(assignments, columns)?;
    values.extend(condition.map(|condition| (*condition.tree).clone()));
    let parts = assignments.iter().filter_map(|assignment| assignment.value.as_ref());
    let source = parts.chain(condition).map(|part| Arc::clone(&part.source)).next();
    let source = source.unwrap_or_else(|| Arc::new(Source::new("")));
    let items = values.into_iter().map(ast::SelectItem::UnnamedExpr).collect();
    plan_items(state, items, relations, &source, parameters)
}

/// The plan of one expression over rows, analysed.
pub(super) fn plan_rows(
    state: &SessionState,
    expression: &Expression,
    relation: &RowRelation<'_>,
) -> SqlResult<LogicalPlan> {
    let item = ast::SelectItem::UnnamedExpr((*expression.tree).clone());
    let relations = std::slice::from_ref(relation);
    Ok(plan_over(state, vec![item], relations, &expression.source, &[])?.plan)
}

fn plan_items(
    state: &SessionState,
    items: Vec<ast::SelectItem>,
    relations: &[RowRelation<'_>],
    source: &Source,
    parameters: Parameters<'_>,
) -> SqlResult<RowExpressions> {
    let planned = plan_over(state, items, relations, source, parameters.declared)?;
    let types = planned.parameters;
    let plan = match parameters.values {
        Some(values) if !values.is_empty() => planned.plan.with_param_values(values.to_vec())?,
        _ => planned.plan,
    };
    let bound = parameters.values.is_some() || types.is_empty();
    let fields: Vec<Field> = plan
        .schema()
        .fields()
        .iter()
        .map(|field| field.as_ref().clone().with_name(shown(field.name())))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    // Without values, placeholders cannot be made physical: only the types are wanted.
    let expressions = if bound { physical(state, &plan)? } else { Vec::new() };
    Ok(RowExpressions { expressions, schema, parameters: types })
}

fn plan_over(
    state: &SessionState,
    items: Vec<ast::SelectItem>,
    relations: &[RowRelation<'_>],
    source: &Source,
    declared: &[Option<SqlType>],
) -> SqlResult<PlannedQuery> {
    let names: Vec<_> = relations.iter().map(|relation| quote(relation.name)).collect();
    let text = match names.as_slice() {
        [] => "SELECT 1".to_owned(),
        names => format!("SELECT 1 FROM {}", names.join(" CROSS JOIN ")),
    };
    let mut tree = (*parse_query(&text)?.tree).clone();
    if let ast::SetExpr::Select(select) = tree.body.as_mut() {
        select.projection = items;
    }
    let known: Relations = relations
        .iter()
        .map(|relation| {
            let table = EmptyTable::new(Arc::clone(&relation.schema));
            (TableReference::bare(relation.name), provider_as_source(Arc::new(table)))
        })
        .collect();
    let functions = computing_functions(state, &tree)?;
    plan_tree(state, known, &tree, source, declared, &functions)
}

/// Is a plan nothing but the columns of the relations, side by side? A subquery makes it more.
fn is_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::TableScan(_) | LogicalPlan::EmptyRelation(_) => true,
        LogicalPlan::Join(join) => {
            join.join_type == JoinType::Inner
                && join.on.is_empty()
                && join.filter.is_none()
                && is_row(&join.left)
                && is_row(&join.right)
        }
        _ => false,
    }
}

fn physical(state: &SessionState, plan: &LogicalPlan) -> SqlResult<Vec<Arc<dyn PhysicalExpr>>> {
    let LogicalPlan::Projection(projection) = plan else {
        return Err(SqlError::unsupported("such an expression over a single row"));
    };
    match projection.input.as_ref() {
        rows if is_row(rows) => {}
        LogicalPlan::Aggregate(_) => {
            let message = "aggregate functions are not allowed here";
            return Err(SqlError::new(code::GROUPING_ERROR, message));
        }
        LogicalPlan::Window(_) => {
            let message = "window functions are not allowed here";
            return Err(SqlError::new("42P20", message));
        }
        _ => return Err(SqlError::unsupported("such an expression over a single row")),
    }
    let schema = projection.input.schema();
    let context = SimplifyContext::builder()
        .with_schema(Arc::clone(schema))
        .with_config_options(Arc::clone(state.config_options()))
        .with_query_execution_start_time(state.execution_props().query_execution_start_time)
        .build();
    // `now()` is a constant of the statement, which simplifying puts in its place.
    let simplifier = ExprSimplifier::new(context);
    projection
        .expr
        .iter()
        .map(|expr| {
            let expr = simplifier.simplify(expr.clone())?;
            Ok(state.create_physical_expr(expr, schema)?)
        })
        .collect()
}
