//! EXPLAIN: the plan of a query, or of a view's job, a line a row.

use std::sync::Arc;

use datafusion::execution::SessionState;
use datafusion::physical_plan::display::DisplayableExecutionPlan;
use datafusion::physical_plan::{ExecutionPlan, displayable, execute_stream};
use futures::TryStreamExt;

use super::outcome::Outcome;
use super::parameter::Parameters;
use super::query::physical_plan;
use super::session::Session;
use super::show::{text_outcome, texts};
use crate::error::{SqlError, SqlResult, code};
use crate::planner::Query;
use crate::planner::statement::{Explain, StatementKind};

impl Session {
    pub(super) async fn explain(
        &mut self,
        explain: &Explain,
        parameters: &Parameters,
    ) -> SqlResult<Outcome> {
        check_options(explain)?;
        let text = match &explain.target {
            StatementKind::Query(query) => self.explain_query(explain, query, parameters).await?,
            StatementKind::CreateMaterializedView(create) if !explain.analyze => {
                self.engine.explain_view(create, &self.names(), self.parallelism()).await?
            }
            StatementKind::Declare(declare) => {
                self.explain_query(explain, &declare.query, parameters).await?
            }
            other => {
                let what = if explain.analyze { "EXPLAIN ANALYZE" } else { "EXPLAIN" };
                return Err(SqlError::unsupported(format!("{what} of this statement")).hint(
                    format!(
                        "Queries and CREATE MATERIALIZED VIEW can be explained, not {}.",
                        kind_name(other)
                    ),
                ));
            }
        };
        let rows = text.lines().map(|line| vec![Some(line.to_owned())]).collect();
        text_outcome(texts(&["QUERY PLAN"]), "EXPLAIN", rows)
    }

    async fn explain_query(
        &mut self,
        explain: &Explain,
        query: &Query,
        parameters: &Parameters,
    ) -> SqlResult<String> {
        let context = self.query_context()?;
        let interrupts = Arc::clone(&self.interrupts);
        let (analyze, verbose) = (explain.analyze, explain.verbose);
        let work = async {
            let (state, physical) = physical_plan(&context, query, parameters).await?;
            if !analyze {
                return Ok(displayable(physical.as_ref()).indent(verbose).to_string());
            }
            run(&physical, &state).await?;
            Ok(DisplayableExecutionPlan::with_metrics(physical.as_ref())
                .indent(verbose)
                .to_string())
        };
        interrupts.race(Box::pin(work)).await
    }
}

/// Runs a plan for its figures; the rows are dropped as they come.
async fn run(plan: &Arc<dyn ExecutionPlan>, state: &SessionState) -> SqlResult<()> {
    let mut stream = execute_stream(Arc::clone(plan), state.task_ctx())?;
    while stream.try_next().await?.is_some() {}
    Ok(())
}

/// Options that PostgreSQL knows and that say nothing here are accepted; a format is not.
fn check_options(explain: &Explain) -> SqlResult<()> {
    const KNOWN: [&str; 9] = [
        "analyze",
        "verbose",
        "costs",
        "settings",
        "buffers",
        "wal",
        "timing",
        "summary",
        "generic_plan",
    ];
    for (name, value) in &explain.options {
        if name == "format" {
            if !value.eq_ignore_ascii_case("text") {
                return Err(SqlError::unsupported(format!("EXPLAIN (FORMAT {value})")));
            }
        } else if !KNOWN.contains(&name.as_str()) {
            let message = format!("unrecognized EXPLAIN option \"{name}\"");
            return Err(SqlError::new(code::SYNTAX_ERROR, message));
        }
    }
    Ok(())
}

fn kind_name(kind: &StatementKind) -> &'static str {
    match kind {
        StatementKind::Insert(_) => "INSERT",
        StatementKind::Update(_) => "UPDATE",
        StatementKind::Delete(_) => "DELETE",
        StatementKind::Execute(_) => "EXECUTE",
        StatementKind::CreateMaterializedView(_) => "running it (ANALYZE)",
        _ => "other statements",
    }
}
