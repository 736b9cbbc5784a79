//! A relation in FROM that unnests has no keys: what its rows are grouped by says nothing of their
//! elements. DataFusion's planner adds what a key decides to GROUP BY.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::common::tree_node::TreeNode;
use datafusion::common::{FunctionalDependencies, Result};
use datafusion::logical_expr::planner::{
    PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion::logical_expr::{LogicalPlan, Projection};
use sqlparser::ast;

/// Plans relations as DataFusion does, and takes the keys away.
#[derive(Debug, Default)]
pub(super) struct UnnestedKeys {
    /// The next relation is one that this has passed on.
    passed_on: AtomicBool,
}

impl RelationPlanner for UnnestedKeys {
    fn plan_relation(
        &self,
        relation: ast::TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let named =
            matches!(relation, ast::TableFactor::Table { .. } | ast::TableFactor::Derived { .. });
        if !named || self.passed_on.swap(false, Ordering::Relaxed) {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        self.passed_on.store(true, Ordering::Relaxed);
        let mut plan = context.plan(relation)?;
        let unnests = plan.exists(|node| Ok(matches!(node, LogicalPlan::Unnest(_))))?;
        if unnests && plan.schema().functional_dependencies().iter().next().is_some() {
            let schema = plan.schema().as_ref().clone();
            let keyless = schema.with_functional_dependencies(FunctionalDependencies::empty())?;
            let keyless = Projection::new_from_schema(Arc::new(plan), Arc::new(keyless));
            plan = LogicalPlan::Projection(keyless);
        }
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, None))))
    }
}
