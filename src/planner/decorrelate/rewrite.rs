//! The walk over a plan, from the innermost subquery out.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{
    Distinct, DistinctOn, Expr, Filter, Limit, LogicalPlan, Projection, Sort, SortExpr, lit,
};

use super::expression::{
    bare, columns_of, filter, in_subquery, map_sorts, named, project, project_as, restore,
    subquery_of, visit_asked, visit_outer_columns,
};
use super::limit::{numbered, within};
use super::open::Outer;
use super::predicate::Chooser;
use super::rows::numbered as number_of;
use super::tools::Tools;
use super::value::Site;
use crate::error::{SqlError, code};

/// Plans below one another, at the most: each is a few calls on the stack.
const DEPTH_MAX: usize = 300;

/// `plan`, whose aggregates are [`placed`](super::placed), without subqueries.
pub(in crate::planner) fn decorrelate(plan: LogicalPlan, tools: &Tools<'_>) -> Result<LogicalPlan> {
    let plan = without_subqueries(plan, tools, 0)?;
    let mut stray = None;
    visit_outer_columns(&plan, &mut |column| stray = Some(column.clone()))?;
    match stray {
        None => Ok(plan),
        Some(column) => Err(ungrouped(&column).into()),
    }
}

/// What the planner took for a column of an outer query is none of what that query's rows have.
fn ungrouped(column: &Column) -> SqlError {
    let name = column.flat_name();
    let message = format!("subquery uses ungrouped column \"{name}\" from outer query");
    SqlError::new(code::GROUPING_ERROR, message)
}

/// Rewrites a plan, its inputs and subqueries first. Outer columns of queries further out stay.
fn without_subqueries(plan: LogicalPlan, tools: &Tools<'_>, depth: usize) -> Result<LogicalPlan> {
    if depth > DEPTH_MAX {
        let message = "stack depth limit exceeded";
        return Err(SqlError::new(code::STATEMENT_TOO_COMPLEX, message).into());
    }
    let rewritten = plan.transform_up(|node| {
        refuse_outer_aggregates(&node)?;
        let node = without_numbers(node)?.map_expressions(|expr| {
            if !has_subqueries(&expr) {
                return Ok(Transformed::no(expr));
            }
            expr.transform_up(|expr| {
                in_subquery(expr, &mut |plan| without_subqueries(plan, tools, depth + 1))
            })
        })?;
        node.transform_data(|node| without_own(node, tools))
    })?;
    Ok(rewritten.data)
}

/// A node whose subqueries have no numbers. What they were good for are names: those stay.
fn without_numbers(plan: LogicalPlan) -> Result<LogicalPlan> {
    let unnamed = matches!(
        plan,
        LogicalPlan::Sort(_) | LogicalPlan::Values(_) | LogicalPlan::Distinct(Distinct::On(_))
    );
    let names = NamePreserver::new(&plan);
    let plan = plan.map_expressions(|expr| {
        if !expr.exists(|expr| Ok(number_of(expr).is_some()))? {
            return Ok(Transformed::no(expr));
        }
        let name = names.save(&expr);
        let bare = expr.transform_up(|expr| {
            let subquery = number_of(&expr).cloned();
            Ok(subquery.map_or_else(|| Transformed::no(expr), Transformed::yes))
        })?;
        Ok(bare.update_data(|expr| if unnamed { expr } else { name.restore(expr) }))
    })?;
    Ok(plan.data)
}

/// An aggregate of columns of an outer query alone is one of that query, which cannot have it where
/// the subquery stands.
fn refuse_outer_aggregates(plan: &LogicalPlan) -> Result<()> {
    let LogicalPlan::Aggregate(aggregate) = plan else { return Ok(()) };
    for expr in &aggregate.aggr_expr {
        let Expr::AggregateFunction(call) = bare(expr.clone()) else { continue };
        let args = &call.params.args;
        if args.iter().any(Expr::contains_outer) && !args.iter().any(Expr::any_column_refs) {
            let message =
                "aggregate functions are not allowed in FROM clause of their own query level";
            return Err(SqlError::new(code::GROUPING_ERROR, message).into());
        }
    }
    Ok(())
}

/// Does an expression have a subquery in it?
pub(in crate::planner) fn has_subqueries(expr: &Expr) -> bool {
    expr.exists(|expr| Ok(subquery_of(expr).is_some())).unwrap_or(true)
}

pub(super) fn node_has_subqueries(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_expressions(|expr| {
        found |= has_subqueries(expr);
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// A node without the subqueries in its own expressions.
fn without_own(plan: LogicalPlan, tools: &Tools<'_>) -> Result<Transformed<LogicalPlan>> {
    let subqueries = node_has_subqueries(&plan)?;
    let plan = match plan {
        // Whatever joins it sees by its columns that it depends on the other side.
        LogicalPlan::Subquery(subquery) => Arc::unwrap_or_clone(subquery.subquery),
        LogicalPlan::Join(join) => return super::on::join(join, subqueries, tools),
        LogicalPlan::Distinct(Distinct::On(node)) if subqueries || forgets(&node.schema) => {
            distinct_on(node, tools)?
        }
        other if !subqueries => return Ok(Transformed::no(other)),
        LogicalPlan::Filter(node) => choose(node, tools)?,
        LogicalPlan::Sort(node) => sort(node, tools)?,
        LogicalPlan::Limit(node) => limit(node, tools)?,
        LogicalPlan::Values(values) => {
            let open = Outer::open_values(&values.values)?;
            let plan = project_as(open.plan, open.outputs, &values.schema)?;
            return without_own(plan, tools);
        }
        other => over_site(other, tools)?,
    };
    Ok(Transformed::yes(plan))
}

/// Conjuncts that only choose rows become joins that do, the others get columns to look at.
pub(super) fn choose(node: Filter, tools: &Tools<'_>) -> Result<LogicalPlan> {
    let schema = Arc::clone(node.input.schema());
    let mut plain = Vec::new();
    let mut choosers = Vec::new();
    let mut rest = Vec::new();
    for conjunct in split_conjunction_owned(node.predicate) {
        if !has_subqueries(&conjunct) {
            plain.push(conjunct);
            continue;
        }
        match Chooser::of(conjunct) {
            Ok(chooser) => choosers.push(chooser),
            Err(conjunct) => rest.push(conjunct),
        }
    }
    let base = filter(Arc::unwrap_or_clone(node.input), plain)?;
    let mut plan = base.clone();
    for chooser in choosers {
        plan = chooser.choose(tools, plan, &base)?;
    }
    if rest.is_empty() {
        return Ok(plan);
    }
    let mut site = Site::new(tools, &base, plan);
    let rest = site.replace_all(rest)?;
    restore(filter(site.plan, rest)?, &schema)
}

/// Any node: its subqueries become columns of its input.
fn over_site(plan: LogicalPlan, tools: &Tools<'_>) -> Result<LogicalPlan> {
    let inputs = plan.inputs();
    let [input] = inputs.as_slice() else {
        let message = format!("a subquery in {}", plan.display());
        return Err(SqlError::unsupported(message).into());
    };
    let base = (*input).clone();
    let schema = Arc::clone(plan.schema());
    let names = NamePreserver::new(&plan);
    let mut site = Site::new(tools, &base, base.clone());
    let mut exprs = Vec::new();
    for expr in plan.expressions() {
        let name = names.save(&expr);
        exprs.push(name.restore(site.replace(expr)?));
    }
    restore(plan.with_new_exprs(exprs, vec![site.plan])?, &schema)
}

fn distinct_on(node: DistinctOn, tools: &Tools<'_>) -> Result<LogicalPlan> {
    let schema = Arc::clone(&node.schema);
    let mut site = Site::new(tools, &node.input, node.input.as_ref().clone());
    let on = site.replace_all(node.on_expr)?;
    let mut select = Vec::new();
    for (index, expr) in node.select_expr.into_iter().enumerate() {
        select.push(named(bare(site.replace(expr)?), &schema, index));
    }
    let sorts = map_sorts(node.sort_expr.unwrap_or_default(), |expr| site.replace(expr))?;
    if forgets(&schema) {
        let (plan, number) = numbered(tools, site.plan, on, sorts.clone())?;
        let first = filter(sorted(plan, sorts)?, vec![number.eq(lit(1_i64))])?;
        return project(first, select);
    }
    let sorts = (!sorts.is_empty()).then_some(sorts);
    let distinct = DistinctOn::try_new(on, select, sorts, Arc::new(site.plan))?;
    Ok(LogicalPlan::Distinct(Distinct::On(distinct)))
}

/// Would `first_value`, which DataFusion makes DISTINCT ON of, forget what is noted of the elements
/// of arrays?
fn forgets(schema: &DFSchema) -> bool {
    let noted = |element: &Field| !element.metadata().is_empty();
    schema
        .fields()
        .iter()
        .any(|field| matches!(field.data_type(), DataType::List(element) if noted(element)))
}

/// A subquery in ORDER BY may look at columns that SELECT leaves out.
fn sort(node: Sort, tools: &Tools<'_>) -> Result<LogicalPlan> {
    let schema = Arc::clone(node.input.schema());
    let mut input = node.input.as_ref().clone();
    if let LogicalPlan::Projection(projection) = &input {
        let mut exprs = projection.expr.clone();
        let below = projection.input.schema();
        let mut add = |column: &Column| {
            if schema.maybe_index_of_column(column).is_none()
                && let Some(index) = below.maybe_index_of_column(column)
            {
                let column = Expr::Column(Column::from(below.qualified_field(index)));
                if !exprs.contains(&column) {
                    exprs.push(column);
                }
            }
        };
        for sort in &node.expr {
            visit_asked(&sort.expr, &mut add)?;
        }
        if exprs.len() > projection.expr.len() {
            let below = Arc::clone(&projection.input);
            input = LogicalPlan::Projection(Projection::try_new(exprs, below)?);
        }
    }
    let mut site = Site::new(tools, &input, input.clone());
    let mut sorts = Vec::new();
    for SortExpr { expr, asc, nulls_first } in node.expr {
        sorts.push(SortExpr { expr: site.replace(expr)?, asc, nulls_first });
    }
    let sorted = Sort { expr: sorts, input: Arc::new(site.plan), fetch: node.fetch };
    restore(LogicalPlan::Sort(sorted), &schema)
}

fn sorted(plan: LogicalPlan, expr: Vec<SortExpr>) -> Result<LogicalPlan> {
    Ok(LogicalPlan::Sort(Sort { expr, input: Arc::new(plan), fetch: None }))
}

/// A limit that a subquery counts out: rows get numbers.
fn limit(node: Limit, tools: &Tools<'_>) -> Result<LogicalPlan> {
    let schema = Arc::clone(node.input.schema());
    let order = match node.input.as_ref() {
        LogicalPlan::Sort(sort) => sort.expr.clone(),
        _ => Vec::new(),
    };
    let input = Arc::unwrap_or_clone(node.input);
    let (base, number) = numbered(tools, input, Vec::new(), order)?;
    let mut site = Site::new(tools, &base, base.clone());
    let mut count = |expr: Option<Box<Expr>>| expr.map(|expr| site.replace(*expr)).transpose();
    let (skip, fetch) = (count(node.skip)?, count(node.fetch)?);
    let plan = filter(site.plan, within(&number, skip, fetch)?)?;
    let plan = sorted(plan, vec![number.sort(true, false)])?;
    project(plan, columns_of(&schema))
}
