//! Runs a plan: batches as they come, errors as PostgreSQL words them.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use datafusion::execution::{SendableRecordBatchStream, SessionState};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::{FutureExt, StreamExt};

use crate::error::SqlResult;
use crate::expr::{catch, panicked};

/// Optimises `plan` and starts it. Batches are made as they are asked for; dropping the stream
/// stops the work. What the stream's errors mean is said by [`crate::error::SqlError`]'s
/// conversion from DataFusion's.
pub async fn execute(
    state: &SessionState,
    plan: &LogicalPlan,
) -> SqlResult<SendableRecordBatchStream> {
    let physical = physical_plan(state, plan).await?;
    let inner = catch("the query", || execute_stream(physical, state.task_ctx()))?;
    let schema = inner.schema();
    // A panic ends the stream with an error, not the connection that reads it.
    let guarded = AssertUnwindSafe(inner).catch_unwind().map(|item| match item {
        Ok(item) => item,
        Err(payload) => Err(panicked("the query", payload.as_ref()).into()),
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, guarded)))
}

/// The optimised plan, ready to run or to be shown by EXPLAIN.
pub async fn physical_plan(
    state: &SessionState,
    plan: &LogicalPlan,
) -> SqlResult<Arc<dyn ExecutionPlan>> {
    // Planning polls deep trees of futures: they are kept off this one's stack.
    let planning = AssertUnwindSafe(Box::pin(state.create_physical_plan(plan))).catch_unwind();
    match planning.await {
        Ok(physical) => Ok(physical?),
        Err(payload) => Err(panicked("planning the query", payload.as_ref())),
    }
}
