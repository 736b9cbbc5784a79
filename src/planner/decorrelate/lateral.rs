//! LATERAL: a join whose right side depends on rows of the left.
//!
//! ```text
//! L ⋈ R(d)                =  project R's outputs (L ⋈(pending) R's plan)
//! L ⟕ R(d)                =  likewise, by a left join
//! L ⋈ unnest(f(d))        =  unnest f(d) of L itself
//! ```

use std::sync::Arc;

use datafusion::common::{NullHandling, Result};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, Projection, Unnest, lit, when};

use super::expression::{
    bare, columns_of, filter, is_unit, join, named, null, project, substitute_all,
    visit_outer_columns,
};
use super::join::conditions;
use super::open::{Open, Outer};
use super::tools::Tools;
use crate::error::SqlError;

/// Does the right side depend on rows of the left?
pub(super) fn depends(node: &Join) -> Result<bool> {
    let mut found = false;
    visit_outer_columns(&node.right, &mut |column| {
        found |= node.left.schema().maybe_index_of_column(column).is_some();
    })?;
    Ok(found)
}

/// The join without correlation; `None` if it has none.
pub(super) fn joined(node: &Join, tools: &Tools<'_>) -> Result<Option<LogicalPlan>> {
    if !depends(node)? {
        return Ok(None);
    }
    if !matches!(node.join_type, JoinType::Inner | JoinType::Left) {
        let message = format!("LATERAL on the right of a {} join", node.join_type);
        return Err(SqlError::unsupported(message).into());
    }
    let left = node.left.as_ref();
    let outer = Outer::new(tools, left, &node.right)?;
    if let Some(plan) = unnested(&outer, node)? {
        return Ok(Some(plan));
    }
    let open = outer.apart(outer.open(&node.right)?, left.schema())?;
    let right = node.right.schema();
    let (plan, outputs) = if open.absent.is_some() {
        // Each row on the left has exactly one on the right.
        let (plan, outputs) =
            outer.left(left.clone(), open, Vec::new(), &|column| outer.own(column))?;
        let on = substitute_all(conditions(node), right, &outputs)?;
        match (node.join_type, conjunction(on.clone())) {
            (JoinType::Left, Some(on)) => {
                let outputs = outputs.into_iter();
                let kept = outputs.map(|output| when(on.clone(), output).otherwise(null()));
                let kept = kept.collect::<Result<_>>()?;
                (plan, kept)
            }
            _ => (filter(plan, on)?, outputs),
        }
    } else if node.join_type == JoinType::Left {
        let on = substitute_all(conditions(node), right, &open.outputs)?;
        outer.left(left.clone(), open, on, &|column| outer.own(column))?
    } else {
        let mut on = substitute_all(conditions(node), right, &open.outputs)?;
        on.extend(open.pending);
        let on = outer.bound(on)?;
        let plan = match is_unit(&open.plan) {
            true => filter(left.clone(), on)?,
            false => join(left.clone(), open.plan, on, JoinType::Inner)?,
        };
        (plan, outer.bound(open.outputs)?)
    };
    Ok(Some(both(plan, node, outputs)?))
}

/// The left side's columns, and what the right side's are.
fn both(plan: LogicalPlan, node: &Join, outputs: Vec<Expr>) -> Result<LogicalPlan> {
    let outputs = outputs.into_iter().enumerate();
    let right = outputs.map(|(index, expr)| named(expr, node.right.schema(), index));
    project(plan, columns_of(node.left.schema()).into_iter().chain(right).collect())
}

/// What only unnests arrays of the left row can be done to the left side's rows themselves.
fn unnested(outer: &Outer<'_>, node: &Join) -> Result<Option<LogicalPlan>> {
    let Some((open, unnest)) = spread(outer, &node.right, node)? else { return Ok(None) };
    let plain = open.outputs.iter().all(|output| matches!(output, Expr::Column(_)));
    let on = conditions(node);
    let mut unnest = unnest;
    if node.join_type == JoinType::Left {
        let always = on.iter().all(|condition| *condition == lit(true));
        if !always || !plain || !only_lists(&unnest, &open.outputs) {
            return Ok(None);
        }
        // A row whose array is empty stays, with NULL.
        unnest.options.null_handling = NullHandling::PreserveAndExpandEmpty;
    }
    let unnest = Unnest::try_new(unnest.input, unnest.exec_columns, unnest.options)?;
    let plan = LogicalPlan::Unnest(unnest);
    let outputs = outer.bound(open.outputs)?;
    let plan = match node.join_type {
        JoinType::Left => plan,
        _ => filter(plan, substitute_all(on, node.right.schema(), &outputs)?)?,
    };
    Ok(Some(both(plan, node, outputs)?))
}

/// Are all outputs elements of unnested arrays?
fn only_lists(unnest: &Unnest, outputs: &[Expr]) -> bool {
    outputs.iter().all(|output| {
        let Expr::Column(column) = output else { return false };
        let Some(index) = unnest.schema.maybe_index_of_column(column) else { return false };
        let source = unnest.dependency_indices.get(index);
        source.is_some_and(|source| unnest.list_type_columns.iter().any(|(list, _)| list == source))
    })
}

/// `plan` as projections of an unnesting over the left side.
fn spread(outer: &Outer<'_>, plan: &LogicalPlan, node: &Join) -> Result<Option<(Open, Unnest)>> {
    match plan {
        LogicalPlan::SubqueryAlias(alias) => spread(outer, &alias.input, node),
        LogicalPlan::Projection(projection) => {
            let Some((open, unnest)) = spread(outer, &projection.input, node)? else {
                return Ok(None);
            };
            let open = Outer::project(open, &projection.expr, projection.input.schema())?;
            Ok(Some((open, unnest)))
        }
        LogicalPlan::Unnest(unnest) => {
            let LogicalPlan::Projection(arrays) = unnest.input.as_ref() else { return Ok(None) };
            if !is_unit(&arrays.input) {
                return Ok(None);
            }
            let mut exprs = columns_of(node.left.schema());
            for (index, expr) in arrays.expr.iter().enumerate() {
                let expr = outer.bound_one(bare(expr.clone()))?;
                exprs.push(named(expr, unnest.input.schema(), index));
            }
            let Ok(input) = Projection::try_new(exprs, Arc::new(node.left.as_ref().clone())) else {
                // A name of the unnested arrays is one of the left side's.
                return Ok(None);
            };
            let input = Arc::new(LogicalPlan::Projection(input));
            let columns = unnest.exec_columns.clone();
            let over = Unnest::try_new(input, columns, unnest.options.clone())?;
            let outputs = columns_of(&unnest.schema);
            Ok(Some((Open::new(LogicalPlan::default(), Vec::new(), outputs), over)))
        }
        _ => Ok(None),
    }
}
