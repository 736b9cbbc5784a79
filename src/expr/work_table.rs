//! A recursion whose repeated part reads its work table more than once.
//!
//! ```text
//! recursive(first, step(W, W))  =  recursive(first, Shared(step(w, w), W))
//! ```
//!
//! DataFusion gives the rows of a round to one reader, who takes them away. [`Shared`] is that
//! reader: it keeps the rows for as long as a round goes on, and every [`Rows`] below it reads them
//! there. Whose rows they are is told by the context of a run, so that a plan may run twice at a
//! time.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, Result};
use datafusion::datasource::cte_worktable::CteWorkTable;
use datafusion::datasource::source_as_provider;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{
    Expr, Extension, LogicalPlan, LogicalPlanBuilder, TableScan, UserDefinedLogicalNodeCore,
};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ReplaceChildrenOptions,
};
use datafusion::physical_plan::memory::MemoryStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, Partitioning, PlanProperties,
};
use futures::{StreamExt, TryStreamExt, stream};
use parking_lot::Mutex;

use crate::error::SqlError;

/// `plan`, whose recursions read their work tables once each.
pub fn share_work_tables(plan: LogicalPlan) -> Result<LogicalPlan> {
    let shared = plan.transform_up(|node| match node {
        LogicalPlan::RecursiveQuery(mut query) => {
            let Some(term) = shared(&query.recursive_term, &query.name)? else {
                return Ok(Transformed::no(LogicalPlan::RecursiveQuery(query)));
            };
            query.recursive_term = Arc::new(term);
            Ok(Transformed::yes(LogicalPlan::RecursiveQuery(query)))
        }
        node => Ok(Transformed::no(node)),
    })?;
    Ok(shared.data)
}

/// The repeated part of recursion `name`; `None`: one reader takes the rows away, as they are meant
/// to be.
fn shared(term: &LogicalPlan, name: &str) -> Result<Option<LogicalPlan>> {
    let mut work = None;
    let mut readers = 0;
    term.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && is_work_table(scan, name)
        {
            readers += 1;
            work = Some(scan.clone());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    let Some(work) = work.filter(|_| readers > 1) else { return Ok(None) };
    let held = Arc::new(Held::default());
    let term = term.clone().transform_up(|node| match node {
        LogicalPlan::TableScan(scan) if is_work_table(&scan, name) => {
            let held = Arc::clone(&held);
            let whole =
                LogicalPlanBuilder::scan(scan.table_name.clone(), Arc::clone(&scan.source), None)?;
            let schema = Arc::clone(whole.schema());
            let columns = schema.columns();
            let node = Arc::new(Rows { schema, held });
            let rows = LogicalPlanBuilder::from(LogicalPlan::Extension(Extension { node }));
            let plan = match &scan.projection {
                Some(some) => {
                    rows.project(some.iter().map(|&c| Expr::Column(columns[c].clone())))?
                }
                None => rows,
            };
            plan.build().map(Transformed::yes)
        }
        node => Ok(Transformed::no(node)),
    })?;
    let work = LogicalPlanBuilder::scan(work.table_name, work.source, None)?.build()?;
    let node = Arc::new(Shared { term: term.data, work, held });
    Ok(Some(LogicalPlan::Extension(Extension { node })))
}

fn is_work_table(scan: &TableScan, name: &str) -> bool {
    source_as_provider(&scan.source).is_ok_and(|provider| {
        provider.downcast_ref::<CteWorkTable>().is_some_and(|table| table.name() == name)
    })
}

/// The rows of the rounds that go on.
#[derive(Debug, Default)]
struct Held {
    runs: Mutex<Vec<Round>>,
}

#[derive(Debug)]
struct Round {
    context: Weak<TaskContext>,
    rows: Vec<RecordBatch>,
    /// Keeps them counted.
    _reservation: MemoryReservation,
}

impl Held {
    /// Puts a round's rows in the place of the one before.
    fn put(&self, context: &Arc<TaskContext>, rows: Vec<RecordBatch>) -> Result<()> {
        let reservation = MemoryConsumer::new("WorkTable").register(context.memory_pool());
        reservation.try_grow(rows.iter().map(RecordBatch::get_array_memory_size).sum())?;
        let context = Arc::downgrade(context);
        let mut runs = self.runs.lock();
        runs.retain(|run| run.context.strong_count() > 0 && !run.context.ptr_eq(&context));
        runs.push(Round { context, rows, _reservation: reservation });
        Ok(())
    }

    fn get(&self, context: &Arc<TaskContext>) -> Result<Vec<RecordBatch>> {
        let context = Arc::downgrade(context);
        let runs = self.runs.lock();
        let run = runs.iter().find(|run| run.context.ptr_eq(&context));
        let rows = run.map(|run| run.rows.clone());
        rows.ok_or_else(|| SqlError::internal("a work table is read outside of a round").into())
    }
}

/// Reads the work table once for all readers in `term`.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    term: LogicalPlan,
    work: LogicalPlan,
    held: Arc<Held>,
}

impl Shared {
    /// What runs it. `inputs` are the plans of its two inputs.
    pub(super) fn exec(&self, inputs: &[Arc<dyn ExecutionPlan>]) -> Result<Arc<dyn ExecutionPlan>> {
        SharedExec::plan(inputs.to_vec(), Arc::clone(&self.held))
    }
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        self.term == other.term && self.work == other.work
    }
}

impl Eq for Shared {}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.term.hash(state);
    }
}

impl PartialOrd for Shared {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.term.partial_cmp(&other.term)
    }
}

impl UserDefinedLogicalNodeCore for Shared {
    fn name(&self) -> &str {
        "SharedWorkTable"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.term, &self.work]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.term.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedWorkTable")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        match <[LogicalPlan; 2]>::try_from(inputs) {
            Ok([term, work]) => Ok(Self { term, work, held: Arc::clone(&self.held) }),
            Err(_) => Err(SqlError::internal("a shared work table has two inputs").into()),
        }
    }
}

/// A reader of a shared work table.
#[derive(Debug, Clone)]
pub(super) struct Rows {
    schema: DFSchemaRef,
    held: Arc<Held>,
}

impl Rows {
    pub(super) fn exec(&self) -> Arc<dyn ExecutionPlan> {
        let schema = Arc::clone(self.schema.inner());
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        Arc::new(RowsExec { schema, properties, held: Arc::clone(&self.held) })
    }
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.schema == other.schema && Arc::ptr_eq(&self.held, &other.held)
    }
}

impl Eq for Rows {}

impl Hash for Rows {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.schema.hash(state);
    }
}

impl PartialOrd for Rows {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl UserDefinedLogicalNodeCore for Rows {
    fn name(&self) -> &str {
        "WorkTable"
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
        write!(f, "WorkTable")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, _: Vec<LogicalPlan>) -> Result<Self> {
        Ok(self.clone())
    }
}

/// Runs [`Shared`].
#[derive(Debug)]
struct SharedExec {
    /// The repeated part, and the reader of the work table.
    inputs: [Arc<dyn ExecutionPlan>; 2],
    held: Arc<Held>,
}

impl SharedExec {
    fn plan(
        inputs: Vec<Arc<dyn ExecutionPlan>>,
        held: Arc<Held>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match inputs.try_into() {
            Ok(inputs) => Ok(Arc::new(Self { inputs, held })),
            Err(_) => Err(SqlError::internal("a shared work table has two inputs").into()),
        }
    }
}

impl DisplayAs for SharedExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedWorkTable")
    }
}

impl ExecutionPlan for SharedExec {
    fn name(&self) -> &'static str {
        "SharedWorkTable"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.inputs[0].properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        vec![Distribution::SinglePartition; 2]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; 2]
    }

    fn apply_expressions(
        &self,
        _visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Self::plan(children, Arc::clone(&self.held))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Self::plan(children, Arc::clone(&self.held))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let [term, work] = &self.inputs;
        let work = work.execute(partition, Arc::clone(&context))?;
        let (term, held) = (Arc::clone(term), Arc::clone(&self.held));
        let schema = term.schema();
        let round = async move {
            held.put(&context, work.try_collect().await?)?;
            term.execute(partition, context)
        };
        let rows = stream::once(round).try_flatten().boxed();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

/// Runs [`Rows`].
#[derive(Debug)]
struct RowsExec {
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    held: Arc<Held>,
}

impl DisplayAs for RowsExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkTable")
    }
}

impl ExecutionPlan for RowsExec {
    fn name(&self) -> &'static str {
        "WorkTable"
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
        let rows = self.held.get(&context)?;
        // A column that the first part cannot make NULL may be one that a round could.
        let rows = rows.into_iter().map(|batch| {
            let schema = Arc::clone(&self.schema);
            let count = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            Ok(RecordBatch::try_new_with_options(schema, batch.columns().to_vec(), &count)?)
        });
        let rows = rows.collect::<Result<_>>()?;
        Ok(Box::pin(MemoryStream::try_new(rows, Arc::clone(&self.schema), None)?))
    }
}
