//! The query of a materialized view becomes an incremental graph.
//!
//! ```text
//! query ──plan_query──> logical plan ──optimise──> logical plan ──build──> graph::Job
//! ```
//!
//! `relations` gives the names a meaning without rows, `build` turns each node of the plan into
//! operators, `stream` cuts fragments where rows must be spread anew, `explain` prints the result.
//! What has no incremental rule is refused here, by its name in SQL.

mod build;
mod explain;
mod relations;
mod stream;

use std::sync::Arc;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};
use datafusion::optimizer::Optimizer;
use datafusion::prelude::SessionConfig;

use super::statement::CreateMaterializedView;
use super::{Query, parse_query, plan_query};
use crate::catalog::object::OnError;
use crate::catalog::{Catalog, Column, Object, ObjectKind};
use crate::error::{SqlError, SqlResult, code};
use crate::graph;
use crate::types::{ObjectId, SqlType};

pub use explain::explain;

/// A materialized view, planned.
#[derive(Debug)]
pub struct PlannedView {
    pub job: graph::Job,
    pub columns: Vec<Column>,
    /// Output columns that identify a row; empty: a multiset.
    pub key: Vec<usize>,
    /// Output columns by whose hash its rows are spread.
    pub distribution: Vec<usize>,
    pub append_only: bool,
    /// The relations that its query names, once each.
    pub depends_on: Vec<ObjectId>,
}

/// A view's columns, and what it needs.
#[derive(Debug)]
pub struct DescribedView {
    pub columns: Vec<Column>,
    pub depends_on: Vec<ObjectId>,
}

/// Plans `CREATE MATERIALIZED VIEW` for the object `id`.
pub async fn plan_view(
    catalog: &Catalog,
    search_path: &[String],
    id: ObjectId,
    statement: &CreateMaterializedView,
    parallelism: usize,
) -> SqlResult<PlannedView> {
    let settings = JobSettings { id, parallelism, on_error: statement.on_error };
    plan(catalog, search_path, &statement.query, &statement.columns, settings).await
}

/// Plans a stored materialized view again, as at every start.
pub async fn plan_stored_view(catalog: &Catalog, view: &Object) -> SqlResult<graph::Job> {
    let ObjectKind::MaterializedView(kind) = &view.kind else {
        return Err(SqlError::internal(format!("{} is no materialized view", view.name.name)));
    };
    let query = parse_query(&kind.query)?;
    let settings =
        JobSettings { id: view.id, parallelism: kind.parallelism, on_error: kind.on_error };
    let names: Vec<String> = view.columns.iter().map(|column| column.name.clone()).collect();
    Ok(plan(catalog, &kind.search_path, &query, &names, settings).await?.job)
}

/// The columns of a view over `query`, under other names where `names` has some.
pub async fn describe_view(
    catalog: &Catalog,
    search_path: &[String],
    query: &Query,
    names: &[String],
) -> SqlResult<DescribedView> {
    let (state, named) = job_state(catalog, search_path)?;
    let plan = plan_query(&state, query, &[]).await?.plan;
    Ok(DescribedView { columns: columns(&plan, names)?, depends_on: named.take() })
}

struct JobSettings {
    id: ObjectId,
    parallelism: usize,
    on_error: OnError,
}

async fn plan(
    catalog: &Catalog,
    search_path: &[String],
    query: &Query,
    names: &[String],
    settings: JobSettings,
) -> SqlResult<PlannedView> {
    let (state, named) = job_state(catalog, search_path)?;
    let plan = plan_query(&state, query, &[]).await?.plan;
    refuse_volatile(&plan)?;
    let columns = columns(&plan, names)?;
    let depends_on = named.take();
    let optimized = state.optimize(&plan)?;
    let mut builder = build::Builder::new(&state);
    let stream = builder.build(&optimized)?;
    let built = builder.finish(stream, &columns)?;
    let job = graph::Job {
        object: settings.id,
        fragments: built.fragments,
        parallelism: settings.parallelism,
        fail_on_error: settings.on_error == OnError::Fail,
    };
    Ok(PlannedView {
        job,
        columns,
        key: built.key,
        distribution: built.distribution,
        append_only: built.append_only,
        depends_on,
    })
}

/// A session whose names mean the relations of `catalog`, without their rows.
fn job_state(
    catalog: &Catalog,
    search_path: &[String],
) -> SqlResult<(SessionState, relations::Named)> {
    let mut config = SessionConfig::new()
        .with_create_default_catalog_and_schema(false)
        .with_information_schema(false);
    super::configure(&mut config);
    let options = config.options_mut();
    relations::DATABASE.clone_into(&mut options.catalog.default_catalog);
    relations::SEARCH_PATH.clone_into(&mut options.catalog.default_schema);
    let builder = SessionStateBuilder::new()
        .with_config(config)
        .with_default_features()
        .with_optimizer_rules(rules());
    let mut state = builder.build();
    let (databases, named) = relations::databases(catalog, search_path);
    state.register_catalog_list(Arc::new(databases));
    Ok((state, named))
}

/// DataFusion's rules without those that make sense for a single run only: a distinct aggregate
/// split in two would keep every value twice.
fn rules() -> Vec<Arc<dyn datafusion::optimizer::OptimizerRule + Send + Sync>> {
    const LEFT_OUT: &[&str] = &["single_distinct_aggregation_to_group_by"];
    let rules = Optimizer::new().rules.into_iter();
    rules.filter(|rule| !LEFT_OUT.contains(&rule.name())).collect()
}

/// Functions of time, which DataFusion would replace by the moment of planning.
const TIME: &[&str] =
    &["now", "current_date", "current_time", "current_timestamp", "today", "localtimestamp"];

fn refuse_volatile(plan: &LogicalPlan) -> SqlResult<()> {
    let mut found = None;
    let mut look = |expression: &Expr| {
        if let Expr::ScalarFunction(call) = expression {
            let name = call.func.name();
            let volatile = call.func.signature().volatility == Volatility::Volatile;
            if volatile || TIME.contains(&name) {
                found = Some(name.to_owned());
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    };
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| expression.apply(&mut look))
    })?;
    match found {
        None => Ok(()),
        Some(name) => Err(SqlError::unsupported(format!(
            "the function {name}(), whose value changes by itself, in a materialized view"
        ))
        .hint("Compute it when the view is read, or store its value in a table.")),
    }
}

/// The output columns, under `names` as far as these go.
fn columns(plan: &LogicalPlan, names: &[String]) -> SqlResult<Vec<Column>> {
    let fields = plan.schema().fields();
    if names.len() > fields.len() {
        return Err(SqlError::new(
            code::SYNTAX_ERROR,
            "CREATE VIEW specifies more column names than columns",
        ));
    }
    if fields.is_empty() {
        return Err(SqlError::unsupported("a view without columns"));
    }
    let columns: Vec<Column> = fields
        .iter()
        .enumerate()
        .map(|(index, field)| Column {
            name: names.get(index).unwrap_or_else(|| field.name()).clone(),
            sql_type: match SqlType::of_field(field) {
                SqlType::Unknown => SqlType::Text,
                known => known,
            },
            not_null: false,
            default: None,
            comment: None,
        })
        .collect();
    for (index, column) in columns.iter().enumerate() {
        if columns[..index].iter().any(|earlier| earlier.name == column.name) {
            return Err(SqlError::new(
                code::DUPLICATE_COLUMN,
                format!("column \"{}\" specified more than once", column.name),
            ));
        }
    }
    Ok(columns)
}
