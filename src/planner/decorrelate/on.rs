//! Joins as they are met: set operations, subqueries in ON, LATERAL.
//!
//! ```text
//! L ⋈(c, subquery) R   =  filter subquery (L ⋈c R)
//! L ⟕(c, f(r, s)) R    =  L ⟕(c, f(r, s)) (R with s)           s depends on R, or on L, alone
//! L ⟕(c, f(l, r)) R    =  L ⟕(c, l = l, f) (R ⋈(r = r) F)      F: f for all l and r that meet
//! L ⟕(c, f) R(l)       =  L ⟕(c) (filter f R(l))                 f's l is an outer row's as R's is
//! L ⟗(c, f(l, r)) R    =  L ⟕(c, f) R  ∪  NULLs, R ▷(c, f) L
//! ```

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, Filter, Join, JoinType, LogicalPlan, LogicalPlanBuilder};
use itertools::Itertools;

use super::expression::{
    columns_of, join as joined, named, not_distinct, project, project_as, restore, visit_asked,
};
use super::join::{conditions, mirrored};
use super::rewrite::{choose, has_subqueries};
use super::tools::Tools;
use super::value::Site;
use super::{lateral, set_operation};
use crate::error::SqlError;

/// A join, its sides rewritten already.
pub(super) fn join(
    node: Join,
    subqueries: bool,
    tools: &Tools<'_>,
) -> Result<Transformed<LogicalPlan>> {
    if let Some(plan) = set_operation::mended(&node, tools)? {
        return Ok(Transformed::yes(plan));
    }
    if subqueries {
        return Ok(Transformed::yes(on_subqueries(node, tools)?));
    }
    match lateral::joined(&node, tools)? {
        Some(plan) => Ok(Transformed::yes(plan)),
        None => Ok(Transformed::no(LogicalPlan::Join(node))),
    }
}

fn on_subqueries(node: Join, tools: &Tools<'_>) -> Result<LogicalPlan> {
    let schema = Arc::clone(&node.schema);
    if node.join_type == JoinType::Right {
        return restore(on_subqueries(mirrored(&node)?, tools)?, &schema);
    }
    let both_sides = node.left.schema().join(node.right.schema())?;
    let (asking, plain): (Vec<_>, Vec<_>) = conditions(&node).into_iter().partition(has_subqueries);
    if node.join_type == JoinType::Inner {
        let left = Arc::unwrap_or_clone(node.left);
        let right = Arc::unwrap_or_clone(node.right);
        let plan = join_or_lateral(joined(left, right, plain, JoinType::Inner)?, tools)?;
        let predicate = conjunction(asking).ok_or_else(|| SqlError::internal("no subquery"))?;
        return choose(Filter::try_new(predicate, Arc::new(plan))?, tools);
    }
    if lateral::depends(&node)? {
        let left = node.left.schema();
        let asking = asking.into_iter().map(|condition| seen_from_right(condition, left));
        let asking = conjunction(asking.collect::<Result<Vec<_>>>()?)
            .ok_or_else(|| SqlError::internal("no subquery"))?;
        let right = choose(Filter::try_new(asking, Arc::clone(&node.right))?, tools)?;
        let left = Arc::unwrap_or_clone(node.left);
        return join_or_lateral(joined(left, right, plain, node.join_type)?, tools);
    }
    let (left, right) = (node.left.as_ref(), node.right.as_ref());
    let mut left_site = Site::new(tools, left, left.clone());
    let mut right_site = Site::new(tools, right, right.clone());
    let mut on = plain.clone();
    let mut both = Vec::new();
    for condition in asking {
        let columns = columns_within(&condition, &both_sides)?;
        let all = |schema: &DFSchema| {
            columns.iter().all(|column| schema.maybe_index_of_column(column).is_some())
        };
        if all(right.schema()) {
            on.push(right_site.replace(condition)?);
        } else if all(left.schema()) {
            on.push(left_site.replace(condition)?);
        } else {
            both.push((condition, columns));
        }
    }
    let mut right_plan = right_site.plan;
    if !both.is_empty() {
        if node.join_type == JoinType::Full {
            return full(&node, tools);
        }
        for (condition, columns) in both {
            let pairs = joined(left.clone(), right.clone(), plain.clone(), JoinType::Inner)?;
            let (plan, own) =
                with_answers(pairs, condition, &columns, right_plan, left.schema(), tools)?;
            right_plan = plan;
            on.extend(own);
        }
    }
    restore(joined(left_site.plan, right_plan, on, node.join_type)?, &schema)
}

/// A full join as a left join, and the right side's rows that have none on the left.
fn full(node: &Join, tools: &Tools<'_>) -> Result<LogicalPlan> {
    let left = Join { join_type: JoinType::Left, ..node.clone() };
    let columns = columns_of(&node.schema);
    let found = project(on_subqueries(left, tools)?, columns.clone())?;
    let right = joined(
        node.right.as_ref().clone(),
        node.left.as_ref().clone(),
        conditions(node),
        JoinType::LeftAnti,
    )?;
    let LogicalPlan::Join(right) = right else {
        return Err(SqlError::internal("a join is not one").into());
    };
    let alone = on_subqueries(right, tools)?;
    let nulls = node.left.schema().fields().iter().enumerate().map(|(index, field)| {
        let null = ScalarValue::try_new_null(field.data_type())?;
        Ok(named(Expr::Literal(null, None), node.left.schema(), index))
    });
    let nulls = nulls.collect::<Result<Vec<_>>>()?;
    let alone = project(alone, nulls.into_iter().chain(columns_of(node.right.schema())).collect())?;
    let union = LogicalPlanBuilder::from(found).union(alone)?.build()?;
    let columns = columns_of(union.schema());
    project_as(union, columns, &node.schema)
}

/// `condition` of a join as the right side's own: columns of the left are an outer row's.
fn seen_from_right(condition: Expr, left: &DFSchema) -> Result<Expr> {
    let outer = condition.transform_up(|expr| {
        let Expr::Column(column) = &expr else { return Ok(Transformed::no(expr)) };
        let Some(index) = left.maybe_index_of_column(column) else {
            return Ok(Transformed::no(expr));
        };
        let (qualifier, field) = left.qualified_field(index);
        let column = Column::from((qualifier, field));
        Ok(Transformed::yes(Expr::OuterReferenceColumn(Arc::clone(field), column)))
    })?;
    Ok(outer.data)
}

fn join_or_lateral(plan: LogicalPlan, tools: &Tools<'_>) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Join(node) => {
            let lateral = lateral::joined(&node, tools)?;
            Ok(lateral.unwrap_or(LogicalPlan::Join(node)))
        }
        other => Ok(other),
    }
}

/// `right` with the answers to `condition` for all values of the left side that it may meet, and
/// the conditions that choose the answer.
fn with_answers(
    pairs: LogicalPlan,
    condition: Expr,
    columns: &[Column],
    right: LogicalPlan,
    left: &DFSchema,
    tools: &Tools<'_>,
) -> Result<(LogicalPlan, Vec<Expr>)> {
    let own = columns.iter().cloned().map(Expr::Column).collect();
    let domain = LogicalPlanBuilder::from(project(pairs, own)?).distinct()?.build()?;
    let mut site = Site::new(tools, &domain, domain.clone());
    let answer = site.replace(condition)?;
    let answer_name = tools.fresh("answer");
    let mut exprs = vec![answer.alias(&answer_name)];
    let (mut to_left, mut to_right) = (Vec::new(), Vec::new());
    for column in columns {
        let name = tools.fresh(&column.name);
        exprs.push(Expr::Column(column.clone()).alias(&name));
        let meets =
            not_distinct(Expr::Column(column.clone()), Expr::Column(Column::new_unqualified(name)));
        match left.maybe_index_of_column(column) {
            Some(_) => to_left.push(meets),
            None => to_right.push(meets),
        }
    }
    let answers = project(site.plan, exprs)?;
    let plan = joined(right, answers, to_right, JoinType::Inner)?;
    to_left.push(Expr::Column(Column::new_unqualified(answer_name)));
    Ok((plan, to_left))
}

/// The columns of a join that a condition looks at, in its subqueries too.
fn columns_within(condition: &Expr, schema: &DFSchema) -> Result<Vec<Column>> {
    let mut columns = Vec::new();
    let mut add = |column: &Column| {
        if let Some(index) = schema.maybe_index_of_column(column) {
            let column = Column::from(schema.qualified_field(index));
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
    };
    condition.column_refs().into_iter().sorted().for_each(&mut add);
    visit_asked(condition, &mut add)?;
    Ok(columns)
}
