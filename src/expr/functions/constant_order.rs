//! An optimizer rule: what has one value in all rows does not order them.
//!
//! ```text
//! SELECT a, 1 AS kind ... ORDER BY kind, a      ->      ORDER BY a
//! ```
//!
//! DataFusion's physical planner knows that as well, but loses sight of it above some joins, and
//! refuses its own plan.

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Expr, JoinType, Limit, LogicalPlan, Sort, SortExpr, Window, WindowFrame, WindowFrameBound,
    WindowFrameUnits, lit,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// The rule. It comes last.
#[derive(Debug)]
pub(super) struct ConstantOrder;

impl OptimizerRule for ConstantOrder {
    fn name(&self) -> &'static str {
        "constant_order"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Sort(sort) => Ok(sorted(sort)),
            LogicalPlan::Window(window) => windows(window),
            other => Ok(Transformed::no(other)),
        }
    }
}

fn sorted(mut sort: Sort) -> Transformed<LogicalPlan> {
    let keys = sort.expr.len();
    sort.expr.retain(|key| !is_constant(&key.expr, &sort.input));
    match (sort.expr.len(), sort.fetch) {
        (left, _) if left == keys => Transformed::no(LogicalPlan::Sort(sort)),
        (1.., _) => Transformed::yes(LogicalPlan::Sort(sort)),
        (0, Some(fetch)) => {
            let fetch = Some(Box::new(lit(i64::try_from(fetch).unwrap_or(i64::MAX))));
            Transformed::yes(LogicalPlan::Limit(Limit { skip: None, fetch, input: sort.input }))
        }
        (0, None) => Transformed::yes(LogicalPlan::clone(&sort.input)),
    }
}

/// The same for the keys of windows. Those of a node stay the same.
fn windows(mut window: Window) -> Result<Transformed<LogicalPlan>> {
    let input = &window.input;
    let constant = |key: &SortExpr| is_constant(&key.expr, input);
    let is_ordered_so = |expr: &Expr| match without_alias(expr) {
        Expr::WindowFunction(call) => call.params.order_by.iter().any(constant),
        _ => false,
    };
    if !window.window_expr.iter().any(is_ordered_so) {
        return Ok(Transformed::no(LogicalPlan::Window(window)));
    }
    let frame = |expr: &Expr| match without_alias(expr) {
        Expr::WindowFunction(call) => unordered(&call.params.window_frame),
        _ => None,
    };
    let needs_order = window.window_expr.iter().any(|expr| frame(expr).is_none());
    let preserver = NamePreserver::new_for_projection();
    let exprs = window.window_expr.into_iter().map(|expr| {
        if !is_ordered_so(&expr) {
            return expr;
        }
        let name = preserver.save(&expr);
        let mut expr = without_alias(&expr).clone();
        if let Expr::WindowFunction(call) = &mut expr {
            let params = &mut call.params;
            let first = params.order_by.first().cloned();
            params.order_by.retain(|key| !constant(key));
            if params.order_by.is_empty() {
                match unordered(&params.window_frame) {
                    Some(frame) if !needs_order => params.window_frame = frame,
                    _ => params.order_by.extend(first),
                }
            }
        }
        name.restore(expr)
    });
    window.window_expr = exprs.collect();
    Ok(Transformed::yes(LogicalPlan::Window(window)))
}

/// The frame in which all rows are peers of each other, without an order; `None`: it has none.
fn unordered(frame: &WindowFrame) -> Option<WindowFrame> {
    if frame.units == WindowFrameUnits::Rows {
        return Some(frame.clone());
    }
    let from_peers = match &frame.start_bound {
        WindowFrameBound::Preceding(distance) => distance.is_null(),
        WindowFrameBound::CurrentRow => true,
        WindowFrameBound::Following(_) => false,
    };
    let to_peers = match &frame.end_bound {
        WindowFrameBound::Preceding(_) => false,
        WindowFrameBound::CurrentRow => true,
        WindowFrameBound::Following(distance) => distance.is_null(),
    };
    (from_peers && to_peers).then(|| WindowFrame::new(None))
}

/// What an expression's alias names.
pub fn without_alias(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => without_alias(&alias.expr),
        other => other,
    }
}

/// Whether `expr` has one value in all rows of `input`.
fn is_constant(expr: &Expr, input: &LogicalPlan) -> bool {
    match expr {
        Expr::Literal(..) => true,
        Expr::Alias(alias) => is_constant(&alias.expr, input),
        Expr::Cast(cast) => is_constant(&cast.expr, input),
        Expr::Column(column) => input
            .schema()
            .maybe_index_of_column(column)
            .is_some_and(|column| is_constant_column(column, input)),
        _ => false,
    }
}

fn is_constant_column(column: usize, plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => {
            projection.expr.get(column).is_some_and(|expr| is_constant(expr, &projection.input))
        }
        LogicalPlan::Aggregate(aggregate) => {
            aggregate.group_expr.get(column).is_some_and(|key| is_constant(key, &aggregate.input))
        }
        LogicalPlan::SubqueryAlias(alias) => is_constant_column(column, &alias.input),
        LogicalPlan::Filter(filter) => is_constant_column(column, &filter.input),
        LogicalPlan::Sort(sort) => is_constant_column(column, &sort.input),
        LogicalPlan::Limit(limit) => is_constant_column(column, &limit.input),
        LogicalPlan::Window(window) => {
            column < window.input.schema().fields().len()
                && is_constant_column(column, &window.input)
        }
        LogicalPlan::Join(join) => {
            let left = join.left.schema().fields().len();
            // A side that is padded with NULLs has another value there.
            match join.join_type {
                JoinType::Inner if column >= left => is_constant_column(column - left, &join.right),
                JoinType::Right if column >= left => is_constant_column(column - left, &join.right),
                JoinType::Inner | JoinType::Left if column < left => {
                    is_constant_column(column, &join.left)
                }
                JoinType::LeftSemi | JoinType::LeftAnti => is_constant_column(column, &join.left),
                _ => false,
            }
        }
        _ => false,
    }
}
