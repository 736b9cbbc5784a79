//! Rows are sorted by what they are to be sorted by, not by what a filter says it equals.
//!
//! ```text
//! Filter abs(a) = a      ->      Filter (abs(a) = a) IS NOT DISTINCT FROM true
//! ```
//!
//! DataFusion takes a column and an expression that a filter compares with `=` for one value, and
//! puts one in the place of the other in orders. An expression of that very column it puts into
//! itself: `abs(abs(a))`, of which it knows no order, and the plan is refused. Columns that equal
//! columns or constants stay known to it.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::expressions::{BinaryExpr, Column, Literal, lit};
use datafusion::physical_expr::{PhysicalExpr, conjunction, split_conjunction};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};

/// The rule, which comes before all others.
#[derive(Debug)]
pub(super) struct PlainEqualities;

impl PhysicalOptimizerRule for PlainEqualities {
    fn name(&self) -> &'static str {
        "plain_equalities"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plain = plan.transform_up(|node| {
            let Some(filter) = node.downcast_ref::<FilterExec>() else {
                return Ok(Transformed::no(node));
            };
            let conjuncts = split_conjunction(filter.predicate());
            if !conjuncts.iter().any(|conjunct| is_misleading(conjunct)) {
                return Ok(Transformed::no(node));
            }
            let conjuncts = conjuncts.into_iter().map(|conjunct| match is_misleading(conjunct) {
                true => hidden(conjunct),
                false => Arc::clone(conjunct),
            });
            let filter =
                FilterExecBuilder::from(filter).with_predicate(conjunction(conjuncts)).build()?;
            Ok(Transformed::yes(Arc::new(filter) as _))
        })?;
        Ok(plain.data)
    }
}

/// Does a condition say that a column equals something that is neither a column nor a constant?
fn is_misleading(condition: &Arc<dyn PhysicalExpr>) -> bool {
    let Some(equality) = condition.downcast_ref::<BinaryExpr>() else { return false };
    let is_column = |side: &Arc<dyn PhysicalExpr>| side.is::<Column>();
    let is_plain = |side: &Arc<dyn PhysicalExpr>| side.is::<Column>() || side.is::<Literal>();
    let (left, right) = (equality.left(), equality.right());
    *equality.op() == Operator::Eq
        && (is_column(left) || is_column(right))
        && !(is_plain(left) && is_plain(right))
}

/// The same condition as a filter sees it, and no equality.
fn hidden(condition: &Arc<dyn PhysicalExpr>) -> Arc<dyn PhysicalExpr> {
    Arc::new(BinaryExpr::new(Arc::clone(condition), Operator::IsNotDistinctFrom, lit(true)))
}
