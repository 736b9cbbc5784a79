//! Runs a plan: batches as they come, errors as PostgreSQL words them.

use std::sync::Arc;

use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};

use crate::error::SqlResult;

/// Optimises `plan` and starts it. Batches are made as they are asked for; dropping the stream
/// stops the work. What the stream's errors mean is said by [`crate::error::SqlError`]'s
/// conversion from DataFusion's.
pub async fn execute(
    state: &SessionState,
    plan: &LogicalPlan,
) -> SqlResult<SendableRecordBatchStream> {
    let physical = physical_plan(state, plan).await?;
    Ok(execute_stream(physical, state.task_ctx())?)
}

/// The optimised plan, ready to run or to be shown by EXPLAIN.
pub async fn physical_plan(
    state: &SessionState,
    plan: &LogicalPlan,
) -> SqlResult<Arc<dyn ExecutionPlan>> {
    // Planning polls deep trees of futures: they are kept off this one's stack.
    Ok(Box::pin(state.create_physical_plan(plan)).await?)
}
