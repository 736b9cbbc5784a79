//! DataFusion's optimizer rules that mix up joins on `=` with joins on `IS NOT DISTINCT FROM`.
//!
//! A join has one meaning of equality for all of its keys. Two rules add keys to joins without
//! looking which: they may not touch what has null-safe keys.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{NullEquality, Result};
use datafusion::logical_expr::{JoinType, LogicalPlan};
use datafusion::optimizer::eliminate_cross_join::EliminateCrossJoin;
use datafusion::optimizer::extract_equijoin_predicate::ExtractEquijoinPredicate;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Makes `=` in a join's filter a key of it, unless its keys are null-safe.
#[derive(Debug, Default)]
pub(super) struct KeysOfOneKind(ExtractEquijoinPredicate);

impl OptimizerRule for KeysOfOneKind {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        match &plan {
            LogicalPlan::Join(join)
                if join.null_equality == NullEquality::NullEqualsNull && !join.on.is_empty() =>
            {
                Ok(Transformed::no(plan))
            }
            _ => self.0.rewrite(plan, config),
        }
    }
}

/// Orders inner joins so that they have keys, unless one of them is null-safe.
#[derive(Debug, Default)]
pub(super) struct OrderPlainJoins(EliminateCrossJoin);

impl OptimizerRule for OrderPlainJoins {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let null_safe = plan.exists(|node| {
            Ok(matches!(node, LogicalPlan::Join(join)
                if join.join_type == JoinType::Inner
                    && join.null_equality == NullEquality::NullEqualsNull))
        })?;
        if null_safe { Ok(Transformed::no(plan)) } else { self.0.rewrite(plan, config) }
    }
}
