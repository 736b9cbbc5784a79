//! Aggregates that stand in a subquery and belong to a query around it.
//!
//! ```text
//! SELECT k, (SELECT v FROM b WHERE b.id = max(a.x)) FROM a GROUP BY k
//! ```
//!
//! SQL computes an aggregate in the innermost query that one of its columns is of. DataFusion plans
//! it where it is written, over an outer column. This pass moves it to where it belongs: the query
//! around aggregates, and the subquery reads a column of its groups. A subquery whose aggregates
//! have all moved is none that aggregates.
//!
//! It comes first, from the innermost subquery out, so that an aggregate finds the nearest query
//! whose columns it has.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, LogicalPlan, Sort, SortExpr};

use super::expression::{
    bare, bind, columns_of, in_subquery, map_sorts, project, project_as, subquery_of,
};
use super::rewrite::{has_subqueries, node_has_subqueries};
use super::tools::Tools;
use crate::error::{SqlError, code};

/// `plan`, whose aggregates are all where SQL computes them.
pub(in crate::planner) fn placed(plan: LogicalPlan, tools: &Tools<'_>) -> Result<LogicalPlan> {
    if !has_outer_aggregates(&plan, false)? {
        return Ok(plan);
    }
    Ok(plan.transform_up(|node| place(node, tools))?.data)
}

/// Is there, at any depth, a subquery with an aggregate of outer columns alone?
fn has_outer_aggregates(plan: &LogicalPlan, inside: bool) -> Result<bool> {
    let mut found = false;
    plan.apply(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                found |= inside && is_outer(expr);
                if let Some(subquery) = subquery_of(expr) {
                    found |= has_outer_aggregates(&subquery.subquery, true)?;
                }
                Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
            })
        })
    })?;
    Ok(found)
}

/// Is `expr` an aggregate that has outer columns, and none of the query where it stands?
fn is_outer(expr: &Expr) -> bool {
    matches!(expr, Expr::AggregateFunction(_)) && expr.contains_outer() && !expr.any_column_refs()
}

/// A node whose subqueries leave it what is its own to compute.
fn place(node: LogicalPlan, tools: &Tools<'_>) -> Result<Transformed<LogicalPlan>> {
    if !node_has_subqueries(&node)? {
        return Ok(Transformed::no(node));
    }
    let node = match node {
        LogicalPlan::Sort(sort) if has_outer_aggregates_in(&sort.expr)? => {
            return place_below_sort(sort, tools);
        }
        node => node,
    };
    let rows = match (grouped(&node), node.inputs().as_slice()) {
        (Some(aggregate), _) => Arc::clone(aggregate.input.schema()),
        (None, [input]) => Arc::clone(input.schema()),
        (None, _) => return Ok(Transformed::no(node)),
    };
    let mut lift = Lift { rows, tools, moved: Vec::new() };
    let names = NamePreserver::new(&node);
    let node = node.map_expressions(|expr| {
        if !has_subqueries(&expr) {
            return Ok(Transformed::no(expr));
        }
        let name = names.save(&expr);
        let expr = expr.transform_up(|expr| {
            in_subquery(expr, &mut |plan| lift.out_of(placed(plan, tools)?, false))
        })?;
        Ok(expr.update_data(|expr| name.restore(expr)))
    })?;
    if lift.moved.is_empty() {
        return Ok(node);
    }
    node.transform_data(|node| Ok(Transformed::yes(aggregating(node, lift.moved)?)))
}

/// ORDER BY with subqueries that have aggregates of the query's own: its SELECT computes them, and
/// hides them again.
fn place_below_sort(node: Sort, tools: &Tools<'_>) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Projection(projection) = node.input.as_ref() else {
        let message = "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
        return Err(SqlError::new(code::INVALID_COLUMN_REFERENCE, message).into());
    };
    let rows = match grouped(&node.input) {
        Some(aggregate) => Arc::clone(aggregate.input.schema()),
        None => Arc::clone(projection.input.schema()),
    };
    let shown = columns_of(&projection.schema);
    let mut lift = Lift { rows, tools, moved: Vec::new() };
    let expr = map_sorts(node.expr.clone(), |expr| {
        let expr = expr.transform_up(|expr| {
            in_subquery(expr, &mut |plan| lift.out_of(placed(plan, tools)?, false))
        })?;
        Ok(expr.data)
    })?;
    if lift.moved.is_empty() {
        return Ok(Transformed::yes(LogicalPlan::Sort(Sort { expr, ..node })));
    }
    let hidden: Vec<Expr> =
        lift.moved.iter().map(|(name, _)| Expr::Column(Column::new_unqualified(name))).collect();
    let computing = aggregating(LogicalPlan::Projection(projection.clone()), lift.moved)?;
    let LogicalPlan::Projection(projection) = computing else {
        return Err(SqlError::internal("a SELECT that is no projection").into());
    };
    let exprs = projection.expr.into_iter().chain(hidden).collect();
    let input = Arc::new(project(Arc::unwrap_or_clone(projection.input), exprs)?);
    let sorted = LogicalPlan::Sort(Sort { expr, input, fetch: node.fetch });
    Ok(Transformed::yes(project(sorted, shown)?))
}

fn has_outer_aggregates_in(sorts: &[SortExpr]) -> Result<bool> {
    let mut found = false;
    for sort in sorts {
        sort.expr.apply(|expr| {
            if let Some(subquery) = subquery_of(expr) {
                found |= has_outer_aggregates(&subquery.subquery, true)?;
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    Ok(found)
}

/// The aggregate whose groups a node of the same SELECT reads.
fn grouped(node: &LogicalPlan) -> Option<&Aggregate> {
    let input = match node {
        LogicalPlan::Projection(node) => &node.input,
        LogicalPlan::Filter(node) => &node.input,
        LogicalPlan::Window(node) => &node.input,
        _ => return None,
    };
    match input.as_ref() {
        LogicalPlan::Aggregate(aggregate) => Some(aggregate),
        LogicalPlan::Filter(_) | LogicalPlan::Window(_) => grouped(input),
        _ => None,
    }
}

/// `node` over rows that have what `moved` computes, each under its name.
fn aggregating(node: LogicalPlan, moved: Vec<(String, Expr)>) -> Result<LogicalPlan> {
    let moved = moved.into_iter().map(|(name, expr)| expr.alias(name)).collect();
    if grouped(&node).is_some() {
        return with_aggregates(node, moved);
    }
    let LogicalPlan::Projection(node) = node else {
        let message = "aggregate functions are not allowed in WHERE";
        return Err(SqlError::new(code::GROUPING_ERROR, message).into());
    };
    // The first aggregates of their query: it has one group, and no columns but these.
    for expr in &node.expr {
        if let Some(column) = expr.column_refs().into_iter().next() {
            return Err(ungrouped(column).into());
        }
    }
    let aggregate = Aggregate::try_new(node.input, Vec::new(), moved)?;
    project(LogicalPlan::Aggregate(aggregate), node.expr)
}

/// A node over an aggregate, which computes `moved` too.
fn with_aggregates(node: LogicalPlan, moved: Vec<Expr>) -> Result<LogicalPlan> {
    if let LogicalPlan::Aggregate(aggregate) = node {
        let aggregates = aggregate.aggr_expr.into_iter().chain(moved).collect();
        let aggregate = Aggregate::try_new(aggregate.input, aggregate.group_expr, aggregates)?;
        return Ok(LogicalPlan::Aggregate(aggregate));
    }
    let exprs = node.expressions();
    let inputs = node.inputs().into_iter().cloned();
    let inputs = inputs.map(|input| with_aggregates(input, moved.clone()));
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    node.with_new_exprs(exprs, inputs)
}

fn ungrouped(column: &Column) -> SqlError {
    let message = format!(
        "column \"{}\" must appear in the GROUP BY clause or be used in an aggregate function",
        column.flat_name()
    );
    SqlError::new(code::GROUPING_ERROR, message)
}

/// Takes the aggregates of one query out of its subqueries.
struct Lift<'a> {
    /// What that query aggregates.
    rows: Arc<DFSchema>,
    tools: &'a Tools<'a>,
    /// The aggregates and the names of their columns.
    moved: Vec<(String, Expr)>,
}

impl Lift<'_> {
    /// A subquery's plan, without the aggregates that are not its own. `having` says whether a
    /// condition looks at the groups, which makes it a query that aggregates even without
    /// aggregates.
    fn out_of(&mut self, plan: LogicalPlan, having: bool) -> Result<LogicalPlan> {
        let filter = matches!(plan, LogicalPlan::Filter(_));
        let plan = plan.map_children(|child| Ok(Transformed::yes(self.out_of(child, filter)?)))?;
        let plan = match plan.data {
            LogicalPlan::Aggregate(aggregate) => self.out_of_aggregate(aggregate, having)?,
            other => other,
        };
        let names = NamePreserver::new(&plan);
        let plan = plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let expr = expr.transform_up(|expr| {
                let expr = in_subquery(expr, &mut |plan| self.out_of(plan, false))?;
                expr.transform_data(|expr| self.outer(expr))
            })?;
            Ok(expr.update_data(|expr| name.restore(expr)))
        })?;
        plan.data.recompute_schema()
    }

    /// An aggregate of a subquery: what is computed further out is a column under the name that it
    /// had.
    fn out_of_aggregate(&mut self, node: Aggregate, having: bool) -> Result<LogicalPlan> {
        let groups = node.schema.fields().len() - node.aggr_expr.len();
        let columns = node.schema.columns();
        let mut outputs: Vec<_> = columns[..groups].iter().cloned().map(Expr::Column).collect();
        let mut own = Vec::new();
        for (expr, column) in node.aggr_expr.iter().zip(&columns[groups..]) {
            let moved = self.outer(bare(expr.clone()))?;
            if moved.transformed {
                outputs.push(moved.data);
            } else {
                outputs.push(Expr::Column(column.clone()));
                own.push(expr.clone());
            }
        }
        if own.len() == node.aggr_expr.len() {
            return Ok(LogicalPlan::Aggregate(node));
        }
        let mut plan = Arc::unwrap_or_clone(node.input);
        if own.is_empty() && node.group_expr.is_empty() && having {
            own.push(self.tools.count_rows()?);
        }
        if !own.is_empty() || !node.group_expr.is_empty() {
            let aggregate = Aggregate::try_new(Arc::new(plan), node.group_expr, own)?;
            plan = LogicalPlan::Aggregate(aggregate);
        }
        project_as(plan, outputs, &node.schema)
    }

    /// The outer column that an aggregate becomes if it belongs to the query.
    fn outer(&mut self, expr: Expr) -> Result<Transformed<Expr>> {
        if !is_outer(&expr) {
            return Ok(Transformed::no(expr));
        }
        let rows = Arc::clone(&self.rows);
        let own = |column: &Column| {
            rows.maybe_index_of_column(column).map(|_| Expr::Column(column.clone()))
        };
        let here = bind(expr.clone(), &own)?;
        if here == expr {
            return Ok(Transformed::no(expr));
        }
        let known = self.moved.iter().find(|(_, moved)| *moved == here);
        let name = known.map(|(name, _)| name.clone()).unwrap_or_else(|| {
            let name = self.tools.fresh("aggregate");
            self.moved.push((name.clone(), here.clone()));
            name
        });
        let field = here.to_field(&rows)?.1.as_ref().clone().with_name(&name);
        let column = Column::new_unqualified(name);
        Ok(Transformed::yes(Expr::OuterReferenceColumn(Arc::new(field), column)))
    }
}
