//! How serving, which knows no SQL text, has views planned.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;

use crate::catalog::{Catalog, Object, ObjectKind};
use crate::error::{SqlError, SqlResult};
use crate::expr::Generated;
use crate::planner;
use crate::serving::ViewPlanner;

/// The planner, as serving knows it.
#[derive(Debug)]
pub(super) struct Views;

#[async_trait]
impl ViewPlanner for Views {
    async fn plan(&self, state: &SessionState, view: &Object) -> SqlResult<LogicalPlan> {
        let ObjectKind::View(kind) = &view.kind else {
            return Err(SqlError::internal(format!("{} is not a view", view.name.name)));
        };
        let query = planner::parse_query(&kind.query)?;
        Ok(planner::plan_kept_query(state, &query, &[], &kind.meaning.names).await?.plan)
    }

    fn generated(&self, catalog: &Arc<Catalog>, source: &Object) -> SqlResult<Option<Generated>> {
        planner::plan_generated(catalog, &source.name.name, &source.columns)
    }
}
