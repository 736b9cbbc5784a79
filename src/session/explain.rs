//! EXPLAIN: the plan of a query, or of a view's job, a line a row.

use std::sync::Arc;

use datafusion::execution::SessionState;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::TryStreamExt;

use super::outcome::{Description, Outcome};
use super::parameter::Parameters;
use super::plan_text::{self, Form, Writes};
use super::query::physical_plan;
use super::session::Session;
use super::show::{text_outcome, texts};
use crate::catalog::ObjectKind;
use crate::clock;
use crate::engine::dml;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::{Explain, StatementKind};
use crate::planner::{Name, Query};
use crate::types::SqlType;

impl Session {
    pub(super) async fn explain(
        &mut self,
        explain: &Explain,
        parameters: &Parameters,
    ) -> SqlResult<Outcome> {
        let form = check_options(explain)?;
        let text = match &explain.target {
            StatementKind::Query(query) => self.explain_query(explain, query, parameters).await?,
            StatementKind::CreateMaterializedView(_) if form == Form::Json => {
                return Err(SqlError::unsupported("EXPLAIN (FORMAT JSON) of a materialized view"));
            }
            StatementKind::CreateMaterializedView(create) if !explain.analyze => {
                self.engine.explain_view(create, &self.names(), self.parallelism()).await?
            }
            kind @ (StatementKind::Insert(_)
            | StatementKind::Update(_)
            | StatementKind::Delete(_))
                if !explain.analyze =>
            {
                self.explain_write(form, explain.verbose, kind, parameters).await?
            }
            other => {
                let what = if explain.analyze { "EXPLAIN ANALYZE" } else { "EXPLAIN" };
                return Err(SqlError::unsupported(format!("{what} of this statement")).hint(
                    format!(
                        "Queries, writes and CREATE MATERIALIZED VIEW can be explained, not {}.",
                        kind_name(other)
                    ),
                ));
            }
        };
        let rows = match form {
            Form::Text => text.lines().map(|line| vec![Some(line.to_owned())]).collect(),
            Form::Json => vec![vec![Some(text)]],
        };
        text_outcome(explained(explain)?, "EXPLAIN", rows)
    }

    /// The plan that finds the rows of a write.
    async fn explain_write(
        &mut self,
        form: Form,
        verbose: bool,
        kind: &StatementKind,
        parameters: &Parameters,
    ) -> SqlResult<String> {
        let context = self.query_context()?;
        let operation = match kind {
            StatementKind::Insert(_) => "Insert",
            StatementKind::Update(_) => "Update",
            _ => "Delete",
        };
        let interrupts = Arc::clone(&self.interrupts);
        let work = async {
            let found = dml::rows_of(&context, kind)?;
            let writes = Writes { operation, table: found.table };
            let plan = match &found.query {
                Some(query) => Some(physical_plan(&found.context, query, parameters).await?.1),
                None => None,
            };
            plan_text::write(form, verbose, Some(&writes), plan.as_ref(), None)
        };
        interrupts.race(Box::pin(work)).await
    }

    /// EXPLAIN ANALYZE MATERIALIZED VIEW: what runs, and what it does right now.
    pub(super) async fn analyze_view(&self, name: &Name) -> SqlResult<Outcome> {
        let object = self.watched(name)?;
        if !matches!(object.kind, ObjectKind::MaterializedView(_)) {
            let message = format!("\"{}\" is not a materialized view", object.name.name);
            return Err(SqlError::new(code::WRONG_OBJECT_TYPE, message).position(name.position));
        }
        let lines = self.interrupts.race(self.engine.analyze_view(&object)).await?;
        let rows = lines.into_iter().map(|line| vec![Some(line)]).collect();
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
        let form = check_options(explain)?;
        let (analyze, verbose) = (explain.analyze, explain.verbose);
        let work = async {
            let (state, physical) = physical_plan(&context, query, parameters).await?;
            if !analyze {
                return plan_text::write(form, verbose, None, Some(&physical), None);
            }
            let started = clock::moment();
            run(&physical, &state).await?;
            let took = Some(started.elapsed());
            plan_text::write(form, verbose, None, Some(&physical), took)
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

/// What EXPLAIN gives.
pub(super) fn explained(explain: &Explain) -> SqlResult<Description> {
    let sql_type = match check_options(explain)? {
        Form::Text => SqlType::Text,
        Form::Json => SqlType::Json,
    };
    Ok(Description::of(&[("QUERY PLAN", sql_type)]))
}

/// Options that PostgreSQL knows and that say nothing here are accepted; the formats are text and
/// JSON.
fn check_options(explain: &Explain) -> SqlResult<Form> {
    let mut form = Form::Text;
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
            form = match value.to_ascii_lowercase().as_str() {
                "text" => Form::Text,
                "json" => Form::Json,
                "xml" | "yaml" => {
                    let what = format!("EXPLAIN (FORMAT {})", value.to_uppercase());
                    return Err(SqlError::unsupported(what).hint("Use FORMAT JSON or TEXT."));
                }
                _ => {
                    let message =
                        format!("unrecognized value for EXPLAIN option \"format\": \"{value}\"");
                    return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
                }
            };
        } else if !KNOWN.contains(&name.as_str()) {
            let message = format!("unrecognized EXPLAIN option \"{name}\"");
            return Err(SqlError::new(code::SYNTAX_ERROR, message));
        }
    }
    Ok(form)
}

fn kind_name(kind: &StatementKind) -> &'static str {
    match kind {
        StatementKind::Insert(_) | StatementKind::Update(_) | StatementKind::Delete(_) => {
            "running a write (ANALYZE)"
        }
        StatementKind::Execute(_) => "EXECUTE",
        StatementKind::CreateMaterializedView(_) => "running it (ANALYZE)",
        _ => "other statements",
    }
}
