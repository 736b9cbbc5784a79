//! Queries over rows in memory: what has no incremental rule is computed anew by DataFusion, over
//! rows that an operator has at hand.
//!
//! A plan reads them through leaves: [`Given`] in a logical plan, which becomes [`GivenExec`] in
//! the physical one. A leaf knows only its port; the rows come with each run, so one plan serves
//! any number of operators. Plans run in one piece and on the thread that calls.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use arrow::array::RecordBatch;
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchemaRef, Result};
use datafusion::error::DataFusionError;
use datafusion::execution::context::QueryPlanner;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::{SendableRecordBatchStream, SessionState, TaskContext};
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{
    Expr, Extension, LogicalPlan, UserDefinedLogicalNode, UserDefinedLogicalNodeCore,
};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{
    EquivalenceProperties, Partitioning, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions, reset_plan_states,
};
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, collect as collect_plan,
};
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};
use datafusion::prelude::SessionConfig;
use futures::FutureExt;

use super::rounds::{Rounds, RoundsExec};
use super::work_table;
use crate::task;

/// Rows that each run of a plan is given, at `port`, ordered by some of their columns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Given {
    pub port: usize,
    pub schema: DFSchemaRef,
    order: Vec<(usize, SortOptions)>,
}

impl Given {
    /// The leaf as a plan, for rows in any order.
    pub fn plan(port: usize, schema: DFSchemaRef) -> LogicalPlan {
        Self::ordered(port, schema, Vec::new())
    }

    /// The leaf as a plan, for rows that come in an order.
    pub fn ordered(
        port: usize,
        schema: DFSchemaRef,
        order: Vec<(usize, SortOptions)>,
    ) -> LogicalPlan {
        LogicalPlan::Extension(Extension { node: Arc::new(Self { port, schema, order }) })
    }
}

impl PartialOrd for Given {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl UserDefinedLogicalNodeCore for Given {
    fn name(&self) -> &str {
        "Given"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        Vec::new()
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Given: port={}", self.port)
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, _: Vec<LogicalPlan>) -> Result<Self> {
        Ok(self.clone())
    }
}

/// Makes [`GivenExec`] of [`Given`], and what recursions are run by of [`Rounds`] and the nodes of
/// [`work_table`].
#[derive(Debug)]
struct LeafPlanner;

#[async_trait]
impl ExtensionPlanner for LeafPlanner {
    async fn plan_extension(
        &self,
        _planner: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _logical_inputs: &[&LogicalPlan],
        physical_inputs: &[Arc<dyn ExecutionPlan>],
        _state: &dyn Session,
        _context: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if let ([input], true) = (physical_inputs, node.as_any().is::<Rounds>()) {
            return Ok(Some(Arc::new(RoundsExec::new(Arc::clone(input)))));
        }
        if let Some(shared) = node.as_any().downcast_ref::<work_table::Shared>() {
            return shared.exec(physical_inputs).map(Some);
        }
        if let Some(rows) = node.as_any().downcast_ref::<work_table::Rows>() {
            return Ok(Some(rows.exec()));
        }
        let given = node.as_any().downcast_ref::<Given>();
        Ok(given.map(|given| {
            GivenExec::ordered(given.port, Arc::clone(given.schema.inner()), &given.order)
        }))
    }
}

/// Plans statements that may have our own nodes in them.
#[derive(Debug)]
pub struct NodePlanner;

#[async_trait]
impl QueryPlanner for NodePlanner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(LeafPlanner)]);
        planner.create_physical_plan(plan, session).await
    }
}

/// The physical plan of `plan`, whose leaves may be [`Given`]; to be run by [`run`]. Nothing of it
/// is optimised logically: `plan` is as it should be.
pub fn physical_plan(plan: &LogicalPlan, state: &SessionState) -> Result<Arc<dyn ExecutionPlan>> {
    let planner = DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(LeafPlanner)]);
    // Nothing in planning waits for anything: a plan's leaves are in memory.
    futures::executor::block_on(planner.create_physical_plan(plan, state))
}

/// Gives the rows at a port of a run.
#[derive(Debug)]
pub struct GivenExec {
    port: usize,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl GivenExec {
    /// The leaf as a plan, for rows in any order.
    pub fn plan(port: usize, schema: SchemaRef) -> Arc<dyn ExecutionPlan> {
        Self::ordered(port, schema, &[])
    }

    fn ordered(
        port: usize,
        schema: SchemaRef,
        order: &[(usize, SortOptions)],
    ) -> Arc<dyn ExecutionPlan> {
        let sorted = order.iter().map(|&(column, options)| {
            let expr: Arc<dyn PhysicalExpr> =
                Arc::new(Column::new(schema.field(column).name(), column));
            PhysicalSortExpr::new(expr, options)
        });
        let sorted = sorted.collect::<Vec<_>>();
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new_with_orderings(Arc::clone(&schema), [sorted]),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Arc::new(Self { port, schema, properties })
    }
}

impl DisplayAs for GivenExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Given: port={}", self.port)
    }
}

impl ExecutionPlan for GivenExec {
    fn name(&self) -> &'static str {
        "Given"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(
        self: Arc<Self>,
        _children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(
        &self,
        _partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let rows = context.session_config().get_extension::<GivenRows>();
        let batches = rows.as_ref().and_then(|rows| rows.0.get(self.port)).ok_or_else(|| {
            DataFusionError::Internal(format!("no rows were given at port {}", self.port))
        })?;
        // Rows may come with columns that the plan does not know: nobody reads them.
        let known: Vec<usize> = (0..self.schema.fields().len()).collect();
        let batches = batches
            .iter()
            .map(|batch| Ok(batch.project(&known)?.with_schema(Arc::clone(&self.schema))?))
            .collect::<Result<_>>()?;
        Ok(Box::pin(MemoryStream::try_new(batches, Arc::clone(&self.schema), None)?))
    }
}

/// `schema` with a column of weights at its end, for plans that carry each row's weight along.
pub fn weighted(schema: &SchemaRef) -> SchemaRef {
    let weight = Arc::new(Field::new("_weight", DataType::Int64, false));
    Arc::new(Schema::new(schema.fields().iter().cloned().chain([weight]).collect::<Vec<_>>()))
}

/// `schema` with a column at its end that numbers slices of rows, for plans that compute each slice
/// by itself.
pub fn sliced(schema: &SchemaRef) -> SchemaRef {
    let slice = Arc::new(Field::new(SLICE, DataType::UInt32, false));
    Arc::new(Schema::new(schema.fields().iter().cloned().chain([slice]).collect::<Vec<_>>()))
}

/// What the column of [`sliced`] is called.
pub const SLICE: &str = "_slice";

/// Of results with `schema`, which go on from earlier ones: each computed without those, then each
/// of those, then whether there are earlier ones at all.
pub fn going_on(schema: &SchemaRef) -> SchemaRef {
    let named = |name: &'static str| {
        schema.fields().iter().enumerate().map(move |(index, field)| {
            Field::new(format!("{name}{index}"), field.data_type().clone(), true)
        })
    };
    let goes_on = Field::new(GOES_ON, DataType::Boolean, false);
    Arc::new(Schema::new(named(ALONE).chain(named(BEFORE)).chain([goes_on]).collect::<Vec<_>>()))
}

/// What the columns of [`going_on`] are called; the first two with their number.
pub const ALONE: &str = "_alone";
pub const BEFORE: &str = "_before";
pub const GOES_ON: &str = "_goes_on";

/// What a run is given, by port.
struct GivenRows(Vec<Vec<RecordBatch>>);

/// Runs `plan` once over `rows`, by port.
pub fn run(plan: &Arc<dyn ExecutionPlan>, rows: Vec<Vec<RecordBatch>>) -> Result<Vec<RecordBatch>> {
    static RUNTIME: LazyLock<Arc<RuntimeEnv>> = LazyLock::new(Arc::default);
    static CONFIG: LazyLock<SessionConfig> =
        LazyLock::new(|| SessionConfig::new().with_target_partitions(1));
    let config = CONFIG.clone().with_extension(Arc::new(GivenRows(rows)));
    let context = TaskContext::new(
        None,
        String::new(),
        config,
        HashMap::new(),
        HashMap::new(),
        HashMap::new(),
        HashMap::new(),
        Arc::clone(&RUNTIME),
    );
    let mut running =
        Box::pin(collect_plan(reset_plan_states(Arc::clone(plan))?, Arc::new(context)));
    // Nearly every plan gives all it has at once; one with tasks of its own is waited for.
    match running.as_mut().now_or_never() {
        Some(result) => result,
        None => task::wait(running),
    }
}
