//! A bound on recursion: WITH RECURSIVE that never ends is an error, not a view that never comes.
//!
//! The bound stands above the part of a recursive query that is repeated, as [`Rounds`] in a
//! logical plan and as [`RoundsExec`] in the physical one. DataFusion runs a fresh copy of that
//! part each round; what they share is the run, known by its context.

use std::cmp::Ordering;
use std::fmt;
use std::sync::{Arc, Weak};

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DFSchemaRef, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::ReplaceChildrenOptions;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt;
use parking_lot::Mutex;

use crate::error::{SqlError, code};

/// Rounds of a recursion, at the most.
const ROUNDS_MAX: usize = 100_000;

/// Rows that a recursion makes in all its rounds, at the most.
const ROWS_MAX: usize = 10_000_000;

/// Bounds what is below it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rounds {
    input: LogicalPlan,
}

impl Rounds {
    /// `input`, bounded.
    pub fn plan(input: Arc<LogicalPlan>) -> LogicalPlan {
        let node = Self { input: Arc::unwrap_or_clone(input) };
        LogicalPlan::Extension(Extension { node: Arc::new(node) })
    }
}

impl PartialOrd for Rounds {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.input.partial_cmp(&other.input)
    }
}

impl UserDefinedLogicalNodeCore for Rounds {
    fn name(&self) -> &str {
        "Rounds"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.input.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rounds")
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<Self> {
        let input = inputs.into_iter().next();
        Ok(Self { input: input.unwrap_or_else(|| self.input.clone()) })
    }
}

/// Counts the rounds of one run.
#[derive(Debug)]
pub(super) struct RoundsExec {
    input: Arc<dyn ExecutionPlan>,
    run: Arc<Mutex<Run>>,
}

/// The run that goes on, and what it has done so far.
#[derive(Debug, Default)]
struct Run {
    context: Weak<TaskContext>,
    rounds: usize,
    rows: usize,
}

impl RoundsExec {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>) -> Self {
        Self { input, run: Arc::default() }
    }

    /// The same bound over another input.
    fn over(&self, children: Vec<Arc<dyn ExecutionPlan>>) -> Arc<dyn ExecutionPlan> {
        let input = children.into_iter().next().unwrap_or_else(|| Arc::clone(&self.input));
        Arc::new(Self { input, run: Arc::clone(&self.run) })
    }

    /// Adds to what the run of `context` has done.
    fn count(
        run: &Mutex<Run>,
        context: &Arc<TaskContext>,
        rounds: usize,
        rows: usize,
    ) -> Result<()> {
        let mut run = run.lock();
        let context = Arc::downgrade(context);
        if !Weak::ptr_eq(&run.context, &context) {
            *run = Run { context, rounds: 0, rows: 0 };
        }
        run.rounds += rounds;
        run.rows += rows;
        let Run { rounds, rows, .. } = *run;
        if rounds <= ROUNDS_MAX && rows <= ROWS_MAX {
            return Ok(());
        }
        let message = "a recursive query does not come to an end";
        Err(SqlError::new(code::STATEMENT_TOO_COMPLEX, message)
            .detail(format!("It made {rows} rows in {rounds} rounds."))
            .hint("Use UNION instead of UNION ALL, or bound the depth in its WHERE.")
            .into())
    }
}

impl DisplayAs for RoundsExec {
    fn fmt_as(&self, _format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rounds")
    }
}

impl ExecutionPlan for RoundsExec {
    fn name(&self) -> &'static str {
        "Rounds"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
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
        Ok(self.over(children))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self.over(children))
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        Self::count(&self.run, &context, 1, 0)?;
        let rows = self.input.execute(partition, Arc::clone(&context))?;
        let run = Arc::clone(&self.run);
        let schema = rows.schema();
        let counted = rows.map(move |batch| {
            let batch = batch?;
            Self::count(&run, &context, 0, batch.num_rows())?;
            Ok(batch)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, counted)))
    }
}
