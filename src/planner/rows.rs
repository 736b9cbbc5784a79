//! Expressions over rows that are at hand: RETURNING, ON CONFLICT DO UPDATE, defaults, arguments
//! of EXECUTE. They are evaluated on batches, without a plan to run; those with subqueries are a
//! plan that reads the rows, which have numbers there:
//!
//! ```text
//! RETURNING a, (SELECT ...)   SELECT t.a, (SELECT ...) FROM rows AS t ORDER BY t.number
//! ```

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{ScalarValue, TableReference};
use datafusion::datasource::MemTable;
use datafusion::datasource::empty::EmptyTable;
use datafusion::datasource::provider_as_source;
use datafusion::execution::SessionState;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{JoinType, LogicalPlan};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_expr::PhysicalExpr;
use sqlparser::ast::{self, Visit, Visitor};

use super::dml::{assigned_values, quote};
use super::labels::shown;
use super::names::Relations;
use super::parse::{fold_ident, parse_expression, parse_query};
use super::query::{
    PlannedQuery, Within, computing_functions, plan_tree, session_functions, session_relations,
};
use super::source::Source;
use super::statement::Assignment;
use super::syntax::{Expression, Selection, With};
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
    /// What computes them where there are subqueries among them, which `expressions` has not.
    pub plan: Option<RowPlan>,
    /// What they give.
    pub schema: SchemaRef,
    /// Types of the statement's parameters, as far as these expressions tell.
    pub parameters: Vec<SqlType>,
}

/// A plan that computes expressions over rows that are not in it yet.
#[derive(Debug, Clone)]
pub struct RowPlan {
    plan: LogicalPlan,
    /// How many columns each relation has.
    widths: Vec<usize>,
}

impl RowPlan {
    /// The plan over `rows`, which have the columns of all relations side by side. It gives a row
    /// for each of them, in their order.
    pub fn over(&self, rows: &RecordBatch) -> SqlResult<LogicalPlan> {
        let count = i64::try_from(rows.num_rows()).unwrap_or(i64::MAX);
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..count));
        let mut given = Vec::new();
        let mut first = 0;
        for width in &self.widths {
            let columns = &rows.columns()[first..first + width];
            given.push(columns.iter().cloned().chain([Arc::clone(&numbers)]).collect::<Vec<_>>());
            first += width;
        }
        let plan = self.plan.clone().transform_up(|node| {
            let LogicalPlan::TableScan(mut scan) = node else { return Ok(Transformed::no(node)) };
            let number =
                (0..given.len()).find(|number| scan.table_name.table() == rows_name(*number));
            let Some(columns) = number.map(|number| given[number].clone()) else {
                return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
            };
            let schema = scan.source.schema();
            let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
            let table = MemTable::try_new(schema, vec![vec![batch]])?;
            scan.source = provider_as_source(Arc::new(table));
            Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
        })?;
        Ok(plan.data)
    }
}

/// Under which name a plan reads the rows of a relation.
fn rows_name(relation: usize) -> String {
    format!("\u{1f}rows {relation}")
}

/// The column that numbers rows which a plan reads.
pub(super) const ROW_NUMBER: &str = "\u{1e}number";

/// Parameters of a statement.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parameters<'a> {
    pub declared: &'a [Option<SqlType>],
    /// `None` while the statement is only described.
    pub values: Option<&'a [ScalarValue]>,
}

/// Plans RETURNING over the written rows, and those of other relations beside them.
pub async fn plan_returning(
    state: &SessionState,
    returning: &Selection,
    with: Option<&With>,
    relations: &[RowRelation<'_>],
    parameters: Parameters<'_>,
) -> SqlResult<RowExpressions> {
    let items = returning.tree.to_vec();
    plan_any(state, items, with, relations, &returning.source, parameters).await
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
pub async fn plan_conflict(
    state: &SessionState,
    assignments: &[Assignment],
    condition: Option<&Expression>,
    with: Option<&With>,
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
    plan_any(state, items, with, relations, &source, parameters).await
}

/// Plans items that may have subqueries.
async fn plan_any(
    state: &SessionState,
    items: Vec<ast::SelectItem>,
    with: Option<&With>,
    relations: &[RowRelation<'_>],
    source: &Source,
    parameters: Parameters<'_>,
) -> SqlResult<RowExpressions> {
    if !has_queries(&items) {
        return plan_items(state, items, relations, source, parameters);
    }
    let number =
        |relation: &RowRelation<'_>| format!("{}.{}", quote(relation.name), quote(ROW_NUMBER));
    let Some((first, others)) = relations.split_first() else {
        return Err(SqlError::internal("subqueries over no rows"));
    };
    let mut text = format!("SELECT 1 FROM {} AS {}", quote(&rows_name(0)), quote(first.name));
    for (index, other) in others.iter().enumerate() {
        let (rows, name) = (quote(&rows_name(index + 1)), quote(other.name));
        let same = format!("{} = {}", number(first), number(other));
        text = format!("{text} JOIN {rows} AS {name} ON {same}");
    }
    let mut tree = (*parse_query(&format!("{text} ORDER BY {}", number(first)))?.tree).clone();
    if let ast::SetExpr::Select(select) = tree.body.as_mut() {
        select.projection = spelled_out(items, relations)?;
    }
    tree.with = with.map(|with| (*with.tree).clone());
    let mut known = session_relations(state, &tree, Within::default()).await?;
    for (index, relation) in relations.iter().enumerate() {
        let numbers = Arc::new(Field::new(ROW_NUMBER, DataType::Int64, false));
        let fields = relation.schema.fields().iter().cloned().chain([numbers]);
        let table = EmptyTable::new(Arc::new(Schema::new(fields.collect::<Vec<_>>())));
        let name = TableReference::bare(rows_name(index));
        known.insert(name, provider_as_source(Arc::new(table)));
    }
    let functions = session_functions(state, &tree).await?;
    let planned = plan_tree(state, known, &tree, source, parameters.declared, &functions)?;
    let types = planned.parameters;
    let plan = match parameters.values {
        Some(values) if !values.is_empty() => planned.plan.with_param_values(values.to_vec())?,
        _ => planned.plan,
    };
    let schema = shown_schema(&plan);
    let widths = relations.iter().map(|relation| relation.schema.fields().len()).collect();
    let plan = Some(RowPlan { plan, widths });
    Ok(RowExpressions { expressions: Vec::new(), plan, schema, parameters: types })
}

fn has_queries(items: &[ast::SelectItem]) -> bool {
    struct Queries;
    impl Visitor for Queries {
        type Break = ();

        fn pre_visit_query(&mut self, _query: &ast::Query) -> ControlFlow<()> {
            ControlFlow::Break(())
        }
    }
    items.iter().any(|item| item.visit(&mut Queries).is_break())
}

/// Items without wildcards, which would show the numbers of rows.
fn spelled_out(
    items: Vec<ast::SelectItem>,
    relations: &[RowRelation<'_>],
) -> SqlResult<Vec<ast::SelectItem>> {
    let mut spelled = Vec::new();
    for item in items {
        let wanted = match &item {
            ast::SelectItem::Wildcard(_) => None,
            ast::SelectItem::QualifiedWildcard(
                ast::SelectItemQualifiedWildcardKind::ObjectName(name),
                _,
            ) => name.0.last().and_then(|part| part.as_ident()).map(fold_ident),
            _ => {
                spelled.push(item);
                continue;
            }
        };
        for relation in relations {
            if wanted.as_ref().is_some_and(|wanted| wanted != relation.name) {
                continue;
            }
            for field in relation.schema.fields() {
                let column = format!("{}.{}", quote(relation.name), quote(field.name()));
                let column = (*parse_expression(&column)?.tree).clone();
                spelled.push(ast::SelectItem::UnnamedExpr(column));
            }
        }
    }
    Ok(spelled)
}

/// What a plan gives, its columns named as clients see them.
fn shown_schema(plan: &LogicalPlan) -> SchemaRef {
    let fields = plan.schema().fields().iter();
    let fields: Vec<Field> =
        fields.map(|field| field.as_ref().clone().with_name(shown(field.name()))).collect();
    Arc::new(Schema::new(fields))
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
    let schema = shown_schema(&plan);
    // Without values, placeholders cannot be made physical: only the types are wanted.
    let expressions = if bound { physical(state, &plan)? } else { Vec::new() };
    Ok(RowExpressions { expressions, plan: None, schema, parameters: types })
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
