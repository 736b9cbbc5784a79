//! DataFusion's rule that takes filters below aggregations, which does so with a filter that reads
//! no column also where nothing is grouped by.
//!
//! An aggregation without keys gives its one row whatever comes in, so what is false above it may
//! not go below.

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::push_down_filter::PushDownFilter;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Takes filters down, but not below an aggregation without keys.
#[derive(Debug, Default)]
pub(super) struct FilterDown(PushDownFilter);

impl OptimizerRule for FilterDown {
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
            LogicalPlan::Filter(filter) if gives_one_row(&filter.input) => {
                Ok(Transformed::no(plan))
            }
            _ => self.0.rewrite(plan, config),
        }
    }
}

/// Whether `plan` is an aggregation without keys, perhaps filtered.
fn gives_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Filter(filter) => gives_one_row(&filter.input),
        _ => false,
    }
}
