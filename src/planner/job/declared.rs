//! Which columns of a query have the precision and scale that somebody declared: PostgreSQL has a
//! numeric's modifier of a column that is passed on and of a cast, not of what is computed, and of
//! a choice among values if it is that of all of them.

use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::{Aggregate, Distinct, Expr, JoinType, LogicalPlan};

use super::relation::object_of;
use super::scalar::without_alias;
use crate::types::SqlType;

/// Whether column `index` of `plan` is declared as it is, rather than computed.
pub(super) fn is_declared(plan: &LogicalPlan, index: usize) -> bool {
    match plan {
        LogicalPlan::Projection(node) => {
            node.expr.get(index).is_some_and(|expr| of_expression(expr, &node.input))
        }
        LogicalPlan::Aggregate(node) => {
            groups(node).get(index).is_some_and(|group| of_expression(group, &node.input))
        }
        LogicalPlan::Window(node) => {
            index < node.input.schema().fields().len() && is_declared(&node.input, index)
        }
        LogicalPlan::Filter(node) => is_declared(&node.input, index),
        LogicalPlan::Sort(node) => is_declared(&node.input, index),
        LogicalPlan::Limit(node) => is_declared(&node.input, index),
        LogicalPlan::SubqueryAlias(node) => is_declared(&node.input, index),
        LogicalPlan::Distinct(Distinct::All(input)) => is_declared(input, index),
        LogicalPlan::Distinct(Distinct::On(node)) => {
            node.select_expr.get(index).is_some_and(|expr| of_expression(expr, &node.input))
        }
        LogicalPlan::Join(node) => {
            let left = node.left.schema().fields().len();
            match node.join_type {
                JoinType::RightSemi | JoinType::RightAnti => is_declared(&node.right, index),
                _ if index < left => is_declared(&node.left, index),
                _ => is_declared(&node.right, index - left),
            }
        }
        LogicalPlan::Union(node) => node
            .inputs
            .iter()
            .all(|input| !is_made_alike(input, index) && is_declared(input, index)),
        LogicalPlan::TableScan(scan) => {
            let column = scan.projection.as_ref().map_or(Some(&index), |shown| shown.get(index));
            let object = object_of(&scan.source).ok();
            match (column, object) {
                (Some(column), Some(object)) => {
                    object.columns.get(*column).is_some_and(|column| !column.computed)
                }
                _ => false,
            }
        }
        _ => false,
    }
}

fn groups(node: &Aggregate) -> Vec<&Expr> {
    match node.group_expr.as_slice() {
        [Expr::GroupingSet(sets)] => sets.distinct_expr(),
        groups => groups.iter().collect(),
    }
}

fn of_expression(expr: &Expr, input: &LogicalPlan) -> bool {
    // A cast within a choice makes the values alike.
    let one = |expr: &&Expr| {
        is_null(expr) || (!matches!(expr, Expr::Cast(_)) && of_expression(expr, input))
    };
    let all = |exprs: &[&Expr]| exprs.iter().all(one);
    match without_alias(expr) {
        Expr::Column(column) => {
            input.schema().maybe_index_of_column(column).is_some_and(|at| is_declared(input, at))
        }
        Expr::Cast(_) => true,
        Expr::Case(Case { when_then_expr, else_expr, .. }) => {
            let results = when_then_expr.iter().map(|(_, then)| then.as_ref());
            all(&results.chain(else_expr.as_deref()).collect::<Vec<_>>())
        }
        Expr::ScalarFunction(call) => match call.func.name() {
            "coalesce" | "greatest" | "least" => all(&call.args.iter().collect::<Vec<_>>()),
            "nullif" => call.args.first().is_some_and(|value| of_expression(value, input)),
            // A cast: what it is called ends with what it gives.
            name => name
                .rsplit_once("to ")
                .and_then(|(_, to)| SqlType::parse(to))
                .is_some_and(|to| matches!(to, SqlType::Numeric(Some(_)))),
        },
        _ => false,
    }
}

/// Whether a part of a union casts a column to what the union has.
fn is_made_alike(plan: &LogicalPlan, index: usize) -> bool {
    let LogicalPlan::Projection(node) = plan else { return false };
    node.expr.get(index).is_some_and(|expr| matches!(without_alias(expr), Expr::Cast(_)))
}

fn is_null(expr: &Expr) -> bool {
    matches!(without_alias(expr), Expr::Literal(value, _) if value.is_null())
}
