//! A physical plan as EXPLAIN shows it: as text, or as the tree of objects that PostgreSQL's tools
//! read.

use std::sync::Arc;
use std::time::Duration;

use datafusion::physical_plan::display::DisplayableExecutionPlan;
use datafusion::physical_plan::{ExecutionPlan, displayable};
use serde_json::{Map, Value, json};

use crate::error::{SqlError, SqlResult};

/// `FORMAT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Json,
}

/// What writes the rows of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Writes {
    /// `Insert`, `Update`, `Delete`.
    pub(super) operation: &'static str,
    pub(super) table: String,
}

/// How long a plan that was run took.
pub(super) type Took = Option<Duration>;

/// A plan, below what writes its rows; with its figures if it was run.
pub(super) fn write(
    form: Form,
    verbose: bool,
    writes: Option<&Writes>,
    plan: Option<&Arc<dyn ExecutionPlan>>,
    took: Took,
) -> SqlResult<String> {
    match form {
        Form::Text => Ok(text(verbose, writes, plan, took)),
        Form::Json => {
            let plan = plan.map(|plan| object(plan.as_ref(), took.is_some()));
            let plan = match writes {
                None => plan.unwrap_or_default(),
                Some(Writes { operation, table }) => {
                    let mut written = Map::new();
                    written.insert("Node Type".to_owned(), json!("ModifyTable"));
                    written.insert("Operation".to_owned(), json!(operation));
                    written.insert("Relation Name".to_owned(), json!(table));
                    written.insert("Plans".to_owned(), plan.into_iter().collect());
                    Value::Object(written)
                }
            };
            let mut whole = Map::from_iter([("Plan".to_owned(), plan)]);
            if let Some(took) = took {
                whole.insert("Execution Time".to_owned(), json!(took.as_secs_f64() * 1000.0));
            }
            serde_json::to_string_pretty(&json!([whole]))
                .map_err(|error| SqlError::internal(format!("a plan as JSON: {error}")))
        }
    }
}

fn text(
    verbose: bool,
    writes: Option<&Writes>,
    plan: Option<&Arc<dyn ExecutionPlan>>,
    took: Took,
) -> String {
    let plan = plan.map(|plan| match took {
        None => displayable(plan.as_ref()).indent(verbose).to_string(),
        Some(_) => {
            DisplayableExecutionPlan::with_metrics(plan.as_ref()).indent(verbose).to_string()
        }
    });
    let plan = plan.unwrap_or_default();
    let Some(Writes { operation, table }) = writes else { return plan };
    let below = plan.lines().map(|line| format!("\n  {line}"));
    format!("{operation} on {table}{}", below.collect::<String>())
}

/// A node and those below it.
fn object(plan: &dyn ExecutionPlan, ran: bool) -> Value {
    let mut node = Map::new();
    node.insert("Node Type".to_owned(), json!(plan.name()));
    let line = displayable(plan).one_line().to_string();
    let details = line.trim().strip_prefix(plan.name()).unwrap_or(line.trim());
    let details = details.trim_start_matches(':').trim();
    if !details.is_empty() {
        node.insert("Details".to_owned(), json!(details));
    }
    if let Some(metrics) = plan.metrics().filter(|_| ran) {
        if let Some(rows) = metrics.output_rows() {
            node.insert("Actual Rows".to_owned(), json!(rows));
        }
        if let Some(nanos) = metrics.elapsed_compute() {
            let millis = Duration::from_nanos(nanos as u64).as_secs_f64() * 1000.0;
            node.insert("Actual Total Time".to_owned(), json!(millis));
        }
    }
    let below: Vec<Value> =
        plan.children().into_iter().map(|child| object(child.as_ref(), ran)).collect();
    if !below.is_empty() {
        node.insert("Plans".to_owned(), Value::Array(below));
    }
    Value::Object(node)
}
