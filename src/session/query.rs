//! SELECT and its like: planned, bound to this moment, and given out as a live stream.
//!
//! Queries over nothing but the system catalogs are PostgreSQL's dialect of catalog queries, and
//! have an evaluator of their own; all others are DataFusion's.

use std::sync::Arc;

use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan};
use futures::StreamExt;

use super::outcome::{Description, Rows, Tag};
use super::parameter::Parameters;
use super::session::Session;
use super::show::JOBS_QUERY;
use super::waits::Waits;
use crate::catalog::Catalog;
use crate::error::{SqlError, SqlResult};
use crate::planner::catalog_query::CatalogQuery;
use crate::planner::{self, PlannedQuery, Query, RowLock};
use crate::serving::{self, QueryContext, Relation};
use crate::task;
use crate::types::{ObjectId, SqlType};

/// A query that is ready to run, now or later.
#[derive(Debug, Clone)]
pub(super) enum Planned {
    Catalog(Arc<CatalogQuery>),
    Plan(Arc<PlannedQuery>),
}

impl Planned {
    pub(super) fn parameters(&self) -> &[SqlType] {
        match self {
            Planned::Catalog(query) => query.parameters(),
            Planned::Plan(query) => &query.parameters,
        }
    }

    fn locks(&self) -> &[RowLock] {
        match self {
            Planned::Catalog(_) => &[],
            Planned::Plan(query) => &query.locks,
        }
    }

    /// The columns, with the tables they come from in `catalog`.
    pub(super) fn description(&self, catalog: &Catalog) -> Description {
        match self {
            Planned::Catalog(query) => Description::new(Arc::clone(query.schema())),
            Planned::Plan(query) => description(catalog, &query.plan),
        }
    }
}

impl Session {
    /// A query's rows, started. They are made as they are taken.
    pub(super) async fn select(
        &mut self,
        query: &Query,
        parameters: &Parameters,
    ) -> SqlResult<Rows> {
        let locked = self.lock_rows(query.locks()).await?;
        let mut context = self.query_context()?;
        context.rows.extend(locked);
        let waits = self.waits(Arc::clone(&context.pg.effects));
        let interrupts = Arc::clone(&self.interrupts);
        let style = self.text_style();
        let work = async {
            let (planned, state) = plan(&context, query, &parameters.declared()).await?;
            start(&context, &planned, state, parameters, waits).await
        };
        Ok(interrupts.race(Box::pin(work)).await?.with_style(style))
    }

    /// The same for a query that was planned before.
    pub(super) async fn select_planned(
        &mut self,
        planned: &Planned,
        parameters: &Parameters,
    ) -> SqlResult<Rows> {
        let locked = self.lock_rows(planned.locks()).await?;
        let mut context = self.query_context()?;
        context.rows.extend(locked);
        let waits = self.waits(Arc::clone(&context.pg.effects));
        let interrupts = Arc::clone(&self.interrupts);
        let style = self.text_style();
        let work = async {
            let planned = rebound(&context, planned)?;
            start(&context, &planned, None, parameters, waits).await
        };
        Ok(interrupts.race(Box::pin(work)).await?.with_style(style))
    }

    /// Plans a query for later.
    pub(super) async fn plan(
        &mut self,
        query: &Query,
        declared: &[Option<SqlType>],
    ) -> SqlResult<Planned> {
        let context = self.query_context()?;
        Ok(plan(&context, query, declared).await?.0)
    }

    pub(super) async fn select_jobs(&mut self) -> SqlResult<Rows> {
        let query = planner::parse_query(JOBS_QUERY)?;
        self.select(&query, &Parameters::default()).await
    }

    pub(super) async fn plan_jobs(&mut self) -> SqlResult<Planned> {
        let query = planner::parse_query(JOBS_QUERY)?;
        self.plan(&query, &[]).await
    }
}

/// The plan, and the session it was made in: making one costs more than many a query.
async fn plan(
    context: &QueryContext,
    query: &Query,
    declared: &[Option<SqlType>],
) -> SqlResult<(Planned, Option<SessionState>)> {
    let catalog = context.pg_context();
    if catalog.setting("catalog_evaluator").as_deref() != Some("off")
        && let Some(bound) = CatalogQuery::bind(query, &catalog, declared)?
    {
        return Ok((Planned::Catalog(Arc::new(bound)), None));
    }
    let state = serving::session_state(context)?;
    let planned = planner::plan_query(&state, query, declared).await?;
    Ok((Planned::Plan(Arc::new(planned)), Some(state)))
}

/// A query planned at another moment, as it reads at this one.
fn rebound(context: &QueryContext, planned: &Planned) -> SqlResult<Planned> {
    let Planned::Plan(query) = planned else { return Ok(planned.clone()) };
    let plan = serving::bind(query.plan.clone(), context)?;
    Ok(Planned::Plan(Arc::new(PlannedQuery { plan, ..PlannedQuery::clone(query) })))
}

async fn start(
    context: &QueryContext,
    planned: &Planned,
    state: Option<SessionState>,
    parameters: &Parameters,
    waits: Waits,
) -> SqlResult<Rows> {
    let description = Arc::new(planned.description(&context.catalog));
    let tag = Tag::Counted("SELECT");
    let mut rows = match planned {
        Planned::Catalog(query) => {
            let (query, values) = (Arc::clone(query), parameters.values.clone());
            let catalog = context.pg_context();
            // Row by row: large catalogs take a while.
            let run = task::spawn_blocking(move || query.run(&catalog, &values));
            let batch = run.await.map_err(|panic| {
                SqlError::internal(format!("a catalog query panicked: {panic}"))
            })??;
            Rows::of_batches(description, tag, vec![batch])
        }
        Planned::Plan(query) => {
            let state = match state {
                Some(state) => state,
                None => serving::session_state(context)?,
            };
            let plan = with_values(&query.plan, parameters)?;
            let stream = serving::execute(&state, &plan).await?;
            let batches = stream.map(|batch| batch.map_err(SqlError::from));
            Rows::new(description, tag, batches.boxed())
        }
    };
    rows.effects = Some(Arc::clone(&context.pg.effects));
    Ok(rows.waiting(waits))
}

/// A query's physical plan, for EXPLAIN.
pub(super) async fn physical_plan(
    context: &QueryContext,
    query: &Query,
    parameters: &Parameters,
) -> SqlResult<(SessionState, Arc<dyn datafusion::physical_plan::ExecutionPlan>)> {
    let state = serving::session_state(context)?;
    let planned = planner::plan_query(&state, query, &parameters.declared()).await?;
    let plan = with_values(&planned.plan, parameters)?;
    let physical = serving::physical_plan(&state, &plan).await?;
    Ok((state, physical))
}

/// `plan` with the parameters' values in their places.
fn with_values(plan: &LogicalPlan, parameters: &Parameters) -> SqlResult<LogicalPlan> {
    let plan = plan.clone();
    if parameters.values.is_empty() {
        return Ok(plan);
    }
    Ok(plan.with_param_values(parameters.values.clone())?)
}

/// A plan's columns as clients see them, with the tables they come from.
fn description(catalog: &Catalog, plan: &LogicalPlan) -> Description {
    let description = Description::shown(plan.schema().as_arrow());
    let origins = (0..description.len()).map(|column| origin(catalog, plan, column)).collect();
    description.with_origins(origins)
}

/// The table and the column in it that an output column passes on unchanged.
fn origin(catalog: &Catalog, plan: &LogicalPlan, column: usize) -> Option<(ObjectId, i16)> {
    match plan {
        LogicalPlan::Projection(projection) => {
            let mut expression = projection.expr.get(column)?;
            while let Expr::Alias(alias) = expression {
                expression = &alias.expr;
            }
            let name = expression.try_as_col()?;
            let input = projection.input.schema().maybe_index_of_column(name)?;
            origin(catalog, &projection.input, input)
        }
        LogicalPlan::TableScan(scan) => {
            let object = catalog.object_named(&Relation::read_by(scan)?)?;
            let index = match &scan.projection {
                Some(projection) => *projection.get(column)?,
                None => column,
            };
            Some((object.id, i16::try_from(object.number(index)).ok()?))
        }
        LogicalPlan::Filter(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::SubqueryAlias(_) => {
            let [input] = plan.inputs()[..] else { return None };
            origin(catalog, input, column)
        }
        _ => None,
    }
}
