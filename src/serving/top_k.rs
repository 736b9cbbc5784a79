//! The first rows of partitions are taken by the whole order that they are merged in.
//!
//! ```text
//! SortPreservingMerge [a, b] fetch=n            SortPreservingMerge [a, b] fetch=n
//!   Sort TopK(n) [a], each partition      ->      Sort TopK(n) [a, b], each partition
//! ```
//!
//! DataFusion leaves keys out of the partitions' order that are constant in each of them, as those
//! of a UNION ALL of constants. But the partitions' heaps share how far the best rows are: by `a`
//! alone, one partition's row with the same `a` and a smaller `b` would be passed over, if another
//! partition was first.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::{
    ChildrenPropertiesMode, ExecutionPlan, ReplaceChildrenOptions,
};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;

/// The rule.
#[derive(Debug)]
pub(super) struct WholeOrder;

impl PhysicalOptimizerRule for WholeOrder {
    fn name(&self) -> &'static str {
        "whole_order_of_top_k"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let whole = plan.transform_up(|node| {
            let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() else {
                return Ok(Transformed::no(node));
            };
            match sorted_by(merge.input(), merge.expr())? {
                Some(input) => Ok(Transformed::yes(over(node, input)?)),
                None => Ok(Transformed::no(node)),
            }
        })?;
        Ok(whole.data)
    }
}

/// `plan` over another input.
fn over(
    plan: Arc<dyn ExecutionPlan>,
    input: Arc<dyn ExecutionPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    plan.replace_children(vec![input], options)
}

/// `input` with its first rows by `order`; `None`: it has none, or has them so already.
fn sorted_by(
    input: &Arc<dyn ExecutionPlan>,
    order: &LexOrdering,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(projection) = input.downcast_ref::<ProjectionExec>() {
        let below: Option<Vec<PhysicalSortExpr>> =
            order.iter().map(|key| below(projection, key)).collect();
        let Some(order) = below.and_then(LexOrdering::new) else { return Ok(None) };
        return match sorted_by(projection.input(), &order)? {
            Some(sorted) => over(Arc::clone(input), sorted).map(Some),
            None => Ok(None),
        };
    }
    let Some(sort) = input.downcast_ref::<SortExec>() else { return Ok(None) };
    if sort.fetch().is_none() || !sort.preserve_partitioning() || sort.expr() == order {
        return Ok(None);
    }
    let whole = SortExec::new(order.clone(), Arc::clone(sort.input()))
        .with_fetch(sort.fetch())
        .with_preserve_partitioning(true);
    Ok(Some(Arc::new(whole)))
}

/// A key of a projection's rows, as one of its input's.
fn below(projection: &ProjectionExec, key: &PhysicalSortExpr) -> Option<PhysicalSortExpr> {
    let column = key.expr.downcast_ref::<Column>()?;
    let expr: Arc<dyn PhysicalExpr> = Arc::clone(&projection.expr().get(column.index())?.expr);
    Some(PhysicalSortExpr { expr, options: key.options })
}
