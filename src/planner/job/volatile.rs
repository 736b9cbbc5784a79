//! Calls of volatile functions within aggregations, windows and sorts become
//! columns of a projection below, where they are evaluated once a row, and kept:
//!
//! ```text
//! Aggregate: sum(random())  ->  Projection: sum(v) AS "sum(random())"
//!   input                         Aggregate: sum(v)
//!                                   Projection: input's columns, random() AS v
//!                                     input
//! ```

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, Projection, Volatility};

/// `plan` with its volatile calls below it; `None` if there is no place for them.
pub(super) fn below(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    let (LogicalPlan::Aggregate(_) | LogicalPlan::Window(_) | LogicalPlan::Sort(_)) = plan else {
        return Ok(None);
    };
    let input = plan.inputs()[0];
    let mut calls: Vec<Expr> = Vec::new();
    let expressions: Vec<Expr> = plan
        .expressions()
        .into_iter()
        .map(|expr| taken(expr, &mut calls))
        .collect::<Result<_>>()?;
    if calls.is_empty() {
        return Ok(None);
    }
    let given = input.schema().columns().into_iter().map(Expr::Column);
    let added = calls.into_iter().enumerate().map(|(index, call)| call.alias(name(index)));
    let given_and_added: Vec<Expr> = given.chain(added).collect();
    let (width, wide) = (input.schema().fields().len(), given_and_added.len());
    let input = Projection::try_new(given_and_added, Arc::new(input.clone()))?;
    let node = plan.with_new_exprs(expressions, vec![LogicalPlan::Projection(input)])?;
    // A window and a sort pass their input's columns on, and so those that were added.
    let passes = !matches!(plan, LogicalPlan::Aggregate(_));
    let columns = node.schema().columns().into_iter().enumerate();
    let shown = columns.filter(|(index, _)| !passes || !(width..wide).contains(index));
    let named = shown.zip(plan.schema().iter()).map(|((_, column), (qualifier, field))| {
        Expr::Column(column).alias_qualified(qualifier.cloned(), field.name())
    });
    let shown = Projection::try_new(named.collect(), Arc::new(node))?;
    Ok(Some(LogicalPlan::Projection(shown)))
}

/// `expr` with columns in the places of its volatile calls, which go to `calls`.
fn taken(expr: Expr, calls: &mut Vec<Expr>) -> Result<Expr> {
    let taken = expr.transform_down(|expr| {
        let volatile = matches!(&expr, Expr::ScalarFunction(call)
            if call.func.signature().volatility == Volatility::Volatile);
        if !volatile {
            return Ok(Transformed::no(expr));
        }
        // Each call is one of its own.
        let column = Expr::Column(Column::new_unqualified(name(calls.len())));
        calls.push(expr);
        Ok(Transformed::new(column, true, TreeNodeRecursion::Jump))
    })?;
    Ok(taken.data)
}

fn name(index: usize) -> String {
    format!("_volatile{index}")
}
