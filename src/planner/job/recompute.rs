//! What has no incremental rule of its own: windows, aggregates without one, and everything else
//! that DataFusion can run. A node is computed anew over the rows that changed something:
//!
//! ```text
//!  window     the partitions that its windows have in common
//!  aggregate  the groups
//!  others     all of its rows
//! ```

use std::sync::Arc;

use arrow::array::{RecordBatch, UInt32Array};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DFSchemaRef};
use datafusion::execution::SessionState;
use datafusion::functions_window::expr_fn::first_value;
use datafusion::logical_expr::{
    Aggregate, Expr, ExprFunctionExt, LogicalPlan, LogicalPlanBuilder, Window, WindowFrame,
};

use super::lower::Lowering;
use super::relation::is_object;
use super::scalar::{flowing_schema, without_alias};
use super::tree::{Tree, TreeKind};
use crate::error::{SqlError, SqlResult, code};
use crate::expr::relation::{Given, physical_plan, run};
use crate::expr::rounds::Rounds;
use crate::graph::{BatchPlan, Constant, Recompute};
use crate::types::key::{KeyCodec, canonical};
use crate::types::take_rows;

/// Rows of a part of a query that reads nothing, at the most: they are kept with the plan.
const CONSTANT_ROWS_MAX: usize = 1_000_000;

/// Window functions, by the partitions that all of them look into.
/// Over `input`, which the node's input became.
pub(super) fn window(lowering: &mut Lowering<'_>, plan: &Window, input: Tree) -> SqlResult<Tree> {
    let common = common_partition(&plan.window_expr);
    let (with_common, visible) = with_columns(&plan.input, &common)?;
    let tree = lowered(lowering, &plan.input, &with_common, Some(input))?;
    let input = with_common;
    let partition: Vec<usize> = column_indexes(&common, &input)?;
    let given = given(0, input.schema())?;
    let node = LogicalPlan::Window(Window::try_new(plan.window_expr.clone(), Arc::new(given))?);
    let recompute = Recompute {
        name: "Window".to_owned(),
        partition: vec![partition.clone()],
        output_partition: partition,
        plan: batch_plan(lowering.state, &node)?,
    };
    let key = tree.key.clone();
    let width = input.schema().fields().len();
    let computed = Tree {
        schema: flowing_schema(node.schema()),
        key,
        append_only: false,
        kind: TreeKind::Recompute(recompute, vec![tree]),
    };
    let windows = width..width + plan.window_expr.len();
    let shown: Vec<usize> = (0..visible).chain(windows).collect();
    Ok(computed.select(&shown).conform(&flowing_schema(&plan.schema)))
}

/// The partition expressions that all windows have.
fn common_partition(windows: &[Expr]) -> Vec<Expr> {
    let mut common: Option<Vec<Expr>> = None;
    for window in windows {
        let own = match without_alias(window) {
            Expr::WindowFunction(function) => function.params.partition_by.as_slice(),
            _ => &[],
        };
        common = Some(match common {
            None => own.to_vec(),
            Some(common) => common.into_iter().filter(|expr| own.contains(expr)).collect(),
        });
    }
    let mut common = common.unwrap_or_default();
    common.dedup();
    common
}

/// An aggregation by groups.
pub(super) fn aggregate(lowering: &mut Lowering<'_>, plan: &Aggregate) -> SqlResult<Tree> {
    let (arguments, calls) = computed_arguments(&plan.aggr_expr);
    let (input, _) = with_columns(&plan.input, &arguments)?;
    let (input, _) = with_columns(&input, &plan.group_expr)?;
    let tree = lowering.lower(&input)?;
    let partition = column_indexes(&plan.group_expr, &input)?;
    let given = given(0, input.schema())?;
    let node = Aggregate::try_new(Arc::new(given), plan.group_expr.clone(), calls)?;
    let node = LogicalPlan::Aggregate(node);
    let groups: Vec<usize> = (0..partition.len()).collect();
    let recompute = Recompute {
        name: format!("Aggregate: {}", names_of(&plan.aggr_expr)),
        partition: vec![partition],
        output_partition: groups.clone(),
        plan: batch_plan(lowering.state, &node)?,
    };
    let computed = Tree {
        schema: flowing_schema(node.schema()),
        key: groups,
        append_only: false,
        kind: TreeKind::Recompute(recompute, vec![tree]),
    };
    Ok(computed.conform(&flowing_schema(&plan.schema)))
}

fn names_of(exprs: &[Expr]) -> String {
    exprs.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A node over all of its inputs' rows, or, where it hides relations inside, over all of theirs.
pub(super) fn whole(lowering: &mut Lowering<'_>, plan: &LogicalPlan) -> SqlResult<Tree> {
    let mut inputs = Vec::new();
    let node = match plan {
        LogicalPlan::RecursiveQuery(_) => bounded(over_relations(lowering, plan, &mut inputs)?)?,
        _ => {
            let mut given_inputs = Vec::new();
            for (port, input) in plan.inputs().into_iter().enumerate() {
                inputs.push(lowering.lower(input)?);
                given_inputs.push(given(port, input.schema())?);
            }
            plan.with_new_exprs(plan.expressions(), given_inputs)?
        }
    };
    let recompute = Recompute {
        name: plan.display().to_string(),
        partition: inputs.iter().map(|_| Vec::new()).collect(),
        output_partition: Vec::new(),
        plan: batch_plan(lowering.state, &node)?,
    };
    let computed = Tree {
        schema: flowing_schema(node.schema()),
        key: Vec::new(),
        append_only: false,
        kind: TreeKind::Recompute(recompute, inputs),
    };
    Ok(computed.conform(&flowing_schema(plan.schema())))
}

/// A projection or a filter with functions whose result is not decided by their arguments: they
/// are evaluated when a row comes, and what they gave is kept until it goes.
pub(super) fn kept(lowering: &mut Lowering<'_>, plan: &LogicalPlan) -> SqlResult<Tree> {
    let input = plan.inputs().remove(0);
    let tree = lowering.lower(input)?;
    let width = input.schema().fields().len();
    let rows = given(0, input.schema())?;
    let node = match plan {
        LogicalPlan::Projection(projection) => {
            let columns = input.schema().columns().into_iter().map(Expr::Column);
            let computed =
                projection.expr.iter().enumerate().map(|(index, expr)| {
                    without_alias(expr).clone().alias(format!("_kept{index}"))
                });
            LogicalPlanBuilder::from(rows).project(columns.chain(computed))?.build()?
        }
        other => other.with_new_exprs(other.expressions(), vec![rows])?,
    };
    let recompute = Recompute {
        name: plan.display().to_string(),
        partition: vec![(0..width).collect()],
        output_partition: (0..width).collect(),
        plan: batch_plan(lowering.state, &node)?,
    };
    let computed = Tree {
        schema: flowing_schema(node.schema()),
        key: Vec::new(),
        append_only: false,
        kind: TreeKind::Recompute(recompute, vec![tree]),
    };
    let shown: Vec<usize> = match plan {
        LogicalPlan::Projection(projection) => (width..width + projection.expr.len()).collect(),
        _ => (0..width).collect(),
    };
    Ok(computed.select(&shown).conform(&flowing_schema(plan.schema())))
}

/// The rows with `schema` for which a volatile `condition` was true when it was evaluated. Rows
/// that are the same have one answer.
pub(super) fn once_a_row(
    lowering: &Lowering<'_>,
    schema: &DFSchemaRef,
    condition: Expr,
) -> SqlResult<Recompute> {
    let width = schema.fields().len();
    let columns: Vec<Expr> = schema.columns().into_iter().map(Expr::Column).collect();
    let name = format!("Filter: {condition}");
    let answer = || Expr::Column(Column::new_unqualified("_answer"));
    let first = first_value(answer())
        .partition_by(columns.clone())
        .window_frame(WindowFrame::new(None))
        .build()?;
    let node = LogicalPlanBuilder::from(given(0, schema)?)
        .project(columns.iter().cloned().chain([condition.alias("_answer")]))?
        .window([first.alias("_first")])?
        .filter(Expr::Column(Column::new_unqualified("_first")))?
        .project(columns)?
        .build()?;
    Ok(Recompute {
        name,
        partition: vec![(0..width).collect()],
        output_partition: (0..width).collect(),
        plan: batch_plan(lowering.state, &node)?,
    })
}

/// `plan` with a bound on the rounds of every recursion in it.
fn bounded(plan: LogicalPlan) -> SqlResult<LogicalPlan> {
    let done = plan.transform_up(|node| match node {
        LogicalPlan::RecursiveQuery(mut query) => {
            query.recursive_term = Arc::new(Rounds::plan(query.recursive_term));
            Ok(Transformed::yes(LogicalPlan::RecursiveQuery(query)))
        }
        node => Ok(Transformed::no(node)),
    })?;
    Ok(done.data)
}

/// `plan` with every object that it scans given.
fn over_relations(
    lowering: &mut Lowering<'_>,
    plan: &LogicalPlan,
    inputs: &mut Vec<Tree>,
) -> SqlResult<LogicalPlan> {
    let mut failed = None;
    let replaced = plan.clone().transform_up(|node| {
        let LogicalPlan::TableScan(scan) = &node else {
            return node.recompute_schema().map(Transformed::yes);
        };
        if !is_object(&scan.source) {
            return Ok(Transformed::no(node));
        }
        match lowering.lower(&node) {
            Ok(tree) => {
                inputs.push(tree);
                Ok(Transformed::yes(given(inputs.len() - 1, node.schema())?))
            }
            Err(error) => {
                failed = Some(error);
                Ok(Transformed { data: node, transformed: false, tnr: TreeNodeRecursion::Stop })
            }
        }
    })?;
    failed.map_or(Ok(replaced.data), Err)
}

/// A part of a query that reads no object: its rows, computed now.
pub(super) fn constant(lowering: &Lowering<'_>, plan: &LogicalPlan) -> SqlResult<Tree> {
    let schema = flowing_schema(plan.schema());
    let drawn = plan.exists(|node| Ok(node.expressions().iter().any(Expr::is_volatile)))?;
    let plan = bounded(plan.clone())?;
    let batches = run(&physical_plan(&plan, &constants(lowering.state))?, Vec::new())?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    if rows > CONSTANT_ROWS_MAX {
        let message = format!("a part of the view that reads no table has {rows} rows");
        return Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message)
            .hint(format!("At most {CONSTANT_ROWS_MAX} are kept; put them into a table.")));
    }
    let batches = batches
        .into_iter()
        .map(|batch| batch.with_schema(Arc::clone(&schema)))
        .collect::<Result<Vec<_>, _>>()?;
    let rows = in_order(canonical(arrow::compute::concat_batches(&schema, &batches)?)?)?;
    Ok(Tree {
        schema,
        key: Vec::new(),
        append_only: true,
        kind: TreeKind::Constant(Constant { rows, drawn }),
    })
}

/// The same rows in an order of their own: that in which they were computed may be another next
/// time, and the plan is to be the same.
fn in_order(rows: RecordBatch) -> SqlResult<RecordBatch> {
    let keys = KeyCodec::of_row(&rows.schema())?.encode(&rows)?;
    let mut order: Vec<u32> = (0u32..).take(rows.num_rows()).collect();
    order.sort_by_key(|&row| keys.row(row as usize));
    Ok(take_rows(&rows, &UInt32Array::from(order))?)
}

/// Whether nothing below `plan` reads an object.
pub(super) fn is_constant(plan: &LogicalPlan) -> SqlResult<bool> {
    let mut constant = true;
    plan.apply(|node| {
        constant = match node {
            LogicalPlan::TableScan(scan) => !is_object(&scan.source),
            LogicalPlan::Extension(_) => false,
            _ => true,
        };
        Ok(if constant { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    })?;
    Ok(constant)
}

/// The rows of a node, any of whose columns may be NULL, as a leaf.
fn given(port: usize, schema: &DFSchemaRef) -> SqlResult<LogicalPlan> {
    let fields = schema.iter().map(|(qualifier, field)| {
        (qualifier.cloned(), Arc::new(field.as_ref().clone().with_nullable(true)))
    });
    let schema = DFSchema::new_with_metadata(fields.collect(), schema.metadata().clone())?;
    Ok(Given::plan(port, Arc::new(schema)))
}

/// What arguments of `calls` are computed from columns, and the calls with columns in their place,
/// as [`with_columns`] calls them: a row on which an argument fails has NULL there.
pub(super) fn computed_arguments(calls: &[Expr]) -> (Vec<Expr>, Vec<Expr>) {
    let mut arguments = Vec::new();
    let calls = calls.iter().map(|call| with_computed(call.clone(), &mut arguments)).collect();
    (arguments, calls)
}

fn with_computed(call: Expr, arguments: &mut Vec<Expr>) -> Expr {
    let mut compute = |argument: &mut Expr| {
        let is_computed = !matches!(without_alias(argument), Expr::Column(_) | Expr::Literal(..))
            && argument.any_column_refs();
        if !is_computed {
            return;
        }
        let column = Expr::Column(Column::new_unqualified(hidden_name(argument)));
        arguments.push(std::mem::replace(argument, column));
    };
    match call {
        Expr::Alias(mut alias) => {
            *alias.expr = with_computed(*alias.expr, arguments);
            Expr::Alias(alias)
        }
        Expr::WindowFunction(mut call) => {
            call.params.args.iter_mut().for_each(&mut compute);
            call.params.filter.iter_mut().for_each(|filter| compute(filter));
            Expr::WindowFunction(call)
        }
        Expr::AggregateFunction(mut call) => {
            call.params.args.iter_mut().for_each(&mut compute);
            call.params.filter.iter_mut().for_each(|filter| compute(filter));
            call.params.order_by.iter_mut().for_each(|key| compute(&mut key.expr));
            Expr::AggregateFunction(call)
        }
        other => other,
    }
}

/// The operators of `with`, which [`with_columns`] made of `plan`; those of `plan` may be there
/// already.
pub(super) fn lowered(
    lowering: &mut Lowering<'_>,
    plan: &Arc<LogicalPlan>,
    with: &Arc<LogicalPlan>,
    tree: Option<Tree>,
) -> SqlResult<Tree> {
    match (tree, with.as_ref()) {
        (None, _) => lowering.lower(with),
        (Some(tree), LogicalPlan::Projection(computing)) if !Arc::ptr_eq(plan, with) => {
            lowering.project(computing, tree)
        }
        (Some(tree), _) => Ok(tree),
    }
}

/// `plan` with the values of `exprs` as columns; and how many columns it had.
pub(super) fn with_columns(
    plan: &Arc<LogicalPlan>,
    exprs: &[Expr],
) -> SqlResult<(Arc<LogicalPlan>, usize)> {
    let visible = plan.schema().fields().len();
    let mut computed: Vec<Expr> = Vec::new();
    for expr in exprs.iter().map(without_alias) {
        let name = hidden_name(expr);
        let is_there = plan.schema().index_of_column_by_name(None, &name).is_some();
        let named = expr.clone().alias(name);
        if !matches!(expr, Expr::Column(_)) && !is_there && !computed.contains(&named) {
            computed.push(named);
        }
    }
    if computed.is_empty() {
        return Ok((Arc::clone(plan), visible));
    }
    let columns = plan.schema().columns().into_iter().map(Expr::Column).chain(computed);
    let plan = LogicalPlanBuilder::from(Arc::clone(plan)).project(columns)?.build()?;
    Ok((Arc::new(plan), visible))
}

/// Under which name [`with_columns`] computes an expression.
fn hidden_name(expr: &Expr) -> String {
    format!("_of {}", without_alias(expr))
}

/// Where the values of `exprs` are, [`with_columns`] having computed them.
pub(super) fn column_indexes(exprs: &[Expr], plan: &LogicalPlan) -> SqlResult<Vec<usize>> {
    let mut indexes = Vec::new();
    for expr in exprs {
        let index = match without_alias(expr) {
            Expr::Column(column) => plan.schema().index_of_column(column)?,
            _ => plan
                .schema()
                .index_of_column_by_name(None, &hidden_name(expr))
                .ok_or_else(|| SqlError::internal(format!("{expr} was not computed")))?,
        };
        indexes.push(index);
    }
    Ok(indexes)
}

pub(super) fn batch_plan(state: &SessionState, node: &LogicalPlan) -> SqlResult<BatchPlan> {
    Ok(BatchPlan(physical_plan(node, &constants(state))?))
}

/// The session in which plans over rows in memory are made: in one piece.
fn constants(state: &SessionState) -> SessionState {
    let mut state = state.clone();
    let options = state.config_mut().options_mut();
    options.execution.target_partitions = 1;
    state
}
