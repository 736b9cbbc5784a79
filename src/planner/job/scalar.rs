//! Scalar expressions of a job: checked, and made physical over their input's columns.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;

use super::super::sequence_names::is_of_sequences;
use super::tree::{column_expr, nullable};
use crate::error::{SqlError, SqlResult};
pub(super) use crate::expr::functions::without_alias;

/// Refuses functions whose result is decided by the time of the query: a view would change without
/// its inputs changing.
pub(super) fn refuse_stable(plan: &LogicalPlan) -> SqlResult<()> {
    let mut refused = None;
    let mut hint = "The view would change without its inputs changing.";
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                if let Expr::ScalarFunction(call) = expr
                    && call.func.signature().volatility == Volatility::Stable
                {
                    refused = Some(call.func.name().to_owned());
                    return Ok(TreeNodeRecursion::Stop);
                }
                if let Expr::ScalarFunction(call) = expr
                    && is_of_sequences(call.func.name())
                {
                    refused = Some(call.func.name().to_owned());
                    hint = "A view's rows are computed again and again, and a sequence gives each \
                            number once: number the rows of a table.";
                    return Ok(TreeNodeRecursion::Stop);
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    match refused {
        Some(name) => {
            Err(SqlError::unsupported(format!("function {name}() in a materialized view"))
                .hint(hint))
        }
        None => Ok(()),
    }
}

/// An expression over rows with `schema`.
pub(super) fn physical(
    state: &SessionState,
    expr: &Expr,
    schema: &DFSchema,
) -> SqlResult<Arc<dyn PhysicalExpr>> {
    refuse_subqueries(expr)?;
    let mut expr = expr.clone();
    while let Expr::Alias(alias) = expr {
        expr = *alias.expr;
    }
    Ok(state.create_physical_expr(expr, schema)?)
}

fn refuse_subqueries(expr: &Expr) -> SqlResult<()> {
    let mut found = None;
    expr.apply(|expr| {
        found = match expr {
            Expr::ScalarSubquery(_) => Some("a scalar subquery"),
            Expr::InSubquery(_) => Some("IN with a subquery"),
            Expr::Exists(_) => Some("EXISTS"),
            Expr::SetComparison(_) => Some("ANY or ALL with a subquery"),
            Expr::OuterReferenceColumn(..) => Some("a correlated subquery"),
            _ => None,
        };
        let next = match found {
            Some(_) => TreeNodeRecursion::Stop,
            None => TreeNodeRecursion::Continue,
        };
        Ok(next)
    })?;
    match found {
        Some(what) => Err(in_view(what)),
        None => Ok(()),
    }
}

/// What a view cannot have yet.
pub(super) fn in_view(what: &str) -> SqlError {
    SqlError::unsupported(format!("{what} in a materialized view"))
}

/// The rows of a logical node, as they flow.
pub(super) fn flowing_schema(schema: &DFSchema) -> SchemaRef {
    nullable(&Arc::new(schema.as_arrow().clone()))
}

/// `expr` with each column `c` read from column `place(c)` of rows with `schema`.
pub(super) fn moved(
    expr: Arc<dyn PhysicalExpr>,
    schema: &SchemaRef,
    place: impl Fn(usize) -> usize,
) -> Arc<dyn PhysicalExpr> {
    let moved = expr.transform_up(|expr| {
        Ok(match expr.downcast_ref::<Column>() {
            Some(column) => Transformed::yes(column_expr(schema, place(column.index()))),
            None => Transformed::no(expr),
        })
    });
    moved.expect("replacing a column by a column cannot fail").data
}
