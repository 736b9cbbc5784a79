//! Expressions and small plans: what columns they use, and others in their place.

use std::sync::Arc;

use datafusion::common::metadata::FieldMetadata;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, NullEquality, Result, ScalarValue};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{
    BinaryExpr, EmptyRelation, Expr, ExprSchemable, Filter, Join, JoinConstraint, JoinType,
    LogicalPlan, Operator, Projection, SortExpr, Subquery, lit, when,
};
use itertools::Itertools;

/// `expr` with `values[i]` in the place of column `i` of `schema`.
pub(super) fn substitute(expr: Expr, schema: &DFSchema, values: &[Expr]) -> Result<Expr> {
    let replaced = expr.transform_up(|expr| {
        let index = match &expr {
            Expr::Column(column) => schema.maybe_index_of_column(column),
            _ => None,
        };
        Ok(match index {
            Some(index) => Transformed::yes(values[index].clone()),
            None => Transformed::no(expr),
        })
    })?;
    Ok(replaced.data)
}

/// `expr` with what `bound` says in the place of outer columns.
pub(super) fn bind(expr: Expr, bound: &dyn Fn(&Column) -> Option<Expr>) -> Result<Expr> {
    let replaced = expr.transform_up(|expr| {
        let value = match &expr {
            Expr::OuterReferenceColumn(_, column) => bound(column),
            _ => None,
        };
        Ok(match value {
            Some(value) => Transformed::yes(value),
            None => Transformed::no(expr),
        })
    })?;
    Ok(replaced.data)
}

pub(super) fn bind_all(
    exprs: Vec<Expr>,
    bound: &dyn Fn(&Column) -> Option<Expr>,
) -> Result<Vec<Expr>> {
    exprs.into_iter().map(|expr| bind(expr, bound)).collect()
}

pub(super) fn substitute_all(
    exprs: Vec<Expr>,
    schema: &DFSchema,
    values: &[Expr],
) -> Result<Vec<Expr>> {
    exprs.into_iter().map(|expr| substitute(expr, schema, values)).collect()
}

/// Sort expressions, each changed by `change`.
pub(super) fn map_sorts(
    sorts: Vec<SortExpr>,
    mut change: impl FnMut(Expr) -> Result<Expr>,
) -> Result<Vec<SortExpr>> {
    sorts
        .into_iter()
        .map(|SortExpr { expr, asc, nulls_first }| {
            Ok(SortExpr { expr: change(expr)?, asc, nulls_first })
        })
        .collect()
}

/// The subquery that an expression is, if it is one.
pub(super) fn subquery_of(expr: &Expr) -> Option<&Subquery> {
    match expr {
        Expr::ScalarSubquery(subquery) => Some(subquery),
        Expr::Exists(node) => Some(&node.subquery),
        Expr::InSubquery(node) => Some(&node.subquery),
        Expr::SetComparison(node) => Some(&node.subquery),
        _ => None,
    }
}

/// The subquery that an expression is, if it is one, changed.
pub(super) fn in_subquery(
    expr: Expr,
    change: &mut dyn FnMut(LogicalPlan) -> Result<LogicalPlan>,
) -> Result<Transformed<Expr>> {
    let mut expr = expr;
    let subquery = match &mut expr {
        Expr::ScalarSubquery(subquery) => subquery,
        Expr::Exists(node) => &mut node.subquery,
        Expr::InSubquery(node) => &mut node.subquery,
        Expr::SetComparison(node) => &mut node.subquery,
        _ => return Ok(Transformed::no(expr)),
    };
    let plan = change(subquery.subquery.as_ref().clone())?;
    subquery.subquery = Arc::new(plan);
    Ok(Transformed::yes(expr))
}

/// Calls `visit` for each outer column in the subqueries of an expression.
pub(super) fn visit_asked(expr: &Expr, visit: &mut dyn FnMut(&Column)) -> Result<()> {
    expr.apply(|expr| {
        if let Some(subquery) = subquery_of(expr) {
            visit_outer_columns(&subquery.subquery, visit)?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// Calls `visit` for each outer column in a plan.
pub(super) fn visit_outer_columns(
    plan: &LogicalPlan,
    visit: &mut dyn FnMut(&Column),
) -> Result<()> {
    plan.apply(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                if let Expr::OuterReferenceColumn(_, column) = expr {
                    visit(column);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(())
}

/// An expression without the names it was given.
pub(super) fn bare(mut expr: Expr) -> Expr {
    while let Expr::Alias(alias) = expr {
        expr = *alias.expr;
    }
    expr
}

/// The columns of a plan, as expressions.
pub(super) fn columns_of(schema: &DFSchema) -> Vec<Expr> {
    schema.columns().into_iter().map(Expr::Column).collect()
}

/// `expr` under the name of a column of `schema`, with what Weir notes of its type.
pub(super) fn named(expr: Expr, schema: &DFSchema, index: usize) -> Expr {
    let (relation, field) = schema.qualified_field(index);
    if let Expr::Column(column) = &expr
        && column.relation.as_ref() == relation
        && column.name == *field.name()
    {
        return expr;
    }
    let metadata = (!field.metadata().is_empty()).then(|| FieldMetadata::from(field.as_ref()));
    expr.alias_qualified_with_metadata(relation.cloned(), field.name(), metadata)
}

/// `exprs` under the names that the columns of `schema` have.
pub(super) fn project_as(
    plan: LogicalPlan,
    exprs: Vec<Expr>,
    schema: &DFSchema,
) -> Result<LogicalPlan> {
    let exprs = exprs.into_iter().enumerate().map(|(index, expr)| named(expr, schema, index));
    project(plan, exprs.collect())
}

pub(super) fn project(plan: LogicalPlan, exprs: Vec<Expr>) -> Result<LogicalPlan> {
    Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(plan))?))
}

/// The columns of `schema` alone, if `plan` has others too.
pub(super) fn restore(plan: LogicalPlan, schema: &DFSchema) -> Result<LogicalPlan> {
    if plan.schema().columns() == schema.columns() {
        return Ok(plan);
    }
    project(plan, columns_of(schema))
}

pub(super) fn filter(plan: LogicalPlan, predicates: Vec<Expr>) -> Result<LogicalPlan> {
    match conjunction(predicates) {
        Some(predicate) => Ok(LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(plan))?)),
        None => Ok(plan),
    }
}

/// Is this the relation of one row without columns?
pub(in crate::planner) fn is_unit(plan: &LogicalPlan) -> bool {
    matches!(plan, LogicalPlan::EmptyRelation(EmptyRelation { produce_one_row: true, schema })
        if schema.fields().is_empty())
}

/// An equality that a join may have for a key.
struct Key {
    left: Expr,
    right: Expr,
    null_safe: bool,
}

/// `left JOIN right ON conditions`. The sides have no column name in common.
///
/// A join has one kind of keys: with both kinds at hand, the null-safe ones are its filter.
pub(super) fn join(
    left: LogicalPlan,
    right: LogicalPlan,
    conditions: Vec<Expr>,
    join_type: JoinType,
) -> Result<LogicalPlan> {
    let mut keys = Vec::new();
    let mut rest = Vec::new();
    for condition in conditions {
        match key(condition, left.schema(), right.schema()) {
            Ok(key) => keys.push(key),
            Err(condition) => rest.push(condition),
        }
    }
    let null_equality = match keys.iter().all(|key| key.null_safe) && !keys.is_empty() {
        true => NullEquality::NullEqualsNull,
        false => NullEquality::NullEqualsNothing,
    };
    let (on, others): (Vec<_>, Vec<_>) = keys
        .into_iter()
        .partition(|key| key.null_safe == (null_equality == NullEquality::NullEqualsNull));
    rest.extend(others.into_iter().map(|key| not_distinct(key.left, key.right)));
    let existence = matches!(join_type, JoinType::LeftSemi | JoinType::LeftAnti);
    if existence && null_equality == NullEquality::NullEqualsNull && rest.is_empty() {
        // DataFusion's plan of INTERSECT looks like this, but for the filter.
        rest.push(lit(true));
    }
    Ok(LogicalPlan::Join(Join::try_new(
        Arc::new(left),
        Arc::new(right),
        on.into_iter().map(|key| (key.left, key.right)).collect(),
        conjunction(rest),
        join_type,
        JoinConstraint::On,
        null_equality,
        false,
    )?))
}

fn key(condition: Expr, left: &DFSchema, right: &DFSchema) -> std::result::Result<Key, Expr> {
    let (a, b, null_safe) = match condition {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => (left, right, false),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::IsNotDistinctFrom, right }) => {
            (left, right, true)
        }
        other => return Err(other),
    };
    if uses_only(&a, left) && uses_only(&b, right) {
        Ok(Key { left: *a, right: *b, null_safe })
    } else if uses_only(&a, right) && uses_only(&b, left) {
        Ok(Key { left: *b, right: *a, null_safe })
    } else {
        let op = if null_safe { Operator::IsNotDistinctFrom } else { Operator::Eq };
        Err(Expr::BinaryExpr(BinaryExpr { left: a, op, right: b }))
    }
}

/// Does `expr` use columns, and all of them of `schema`?
pub(super) fn uses_only(expr: &Expr, schema: &DFSchema) -> bool {
    let columns = expr.column_refs();
    !columns.is_empty()
        && columns.into_iter().all(|column| schema.maybe_index_of_column(column).is_some())
}

pub(super) fn not_distinct(left: Expr, right: Expr) -> Expr {
    compare(left, Operator::IsNotDistinctFrom, right)
}

pub(super) fn compare(left: Expr, op: Operator, right: Expr) -> Expr {
    Expr::BinaryExpr(BinaryExpr { left: Box::new(left), op, right: Box::new(right) })
}

/// `CASE WHEN condition THEN value ELSE otherwise END`.
pub(super) fn choose(condition: Expr, value: Expr, otherwise: Expr) -> Result<Expr> {
    when(condition, value).otherwise(otherwise)
}

pub(super) fn null() -> Expr {
    lit(ScalarValue::Null)
}

/// May `expr` be NULL? What cannot be said may.
pub(super) fn nullable(expr: &Expr, schema: &DFSchema) -> bool {
    expr.nullable(schema).unwrap_or(true)
}

/// Would a join of relations with these columns have a name twice?
pub(super) fn collide(left: &DFSchema, right: &DFSchema) -> bool {
    let (left, right) = (left.columns(), right.columns());
    left.iter().cartesian_product(&right).any(|(left, right)| {
        left.name == right.name
            && (left.relation.is_none()
                || right.relation.is_none()
                || left.relation == right.relation)
    })
}
