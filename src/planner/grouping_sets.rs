//! GROUPING SETS, ROLLUP and CUBE as what they stand for:
//!
//! ```text
//!  γ{s₁, …, sₙ}(R) = γs₁(R) + … + γsₙ(R), columns that a set lacks being NULL
//! ```
//!
//! The empty set gives one row over no rows at all, as PostgreSQL has it and DataFusion's own
//! operator has not. In a plan that runs once only that set is taken out; in a view every one is an
//! aggregation of its own, over one input.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result, ScalarValue};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::{
    Aggregate, Expr, GroupingSet, LogicalPlan, LogicalPlanBuilder, Projection, lit,
};
use datafusion::optimizer::analyzer::AnalyzerRule;
use datafusion::optimizer::analyzer::resolve_grouping_function::ResolveGroupingFunction;

/// Which grouping sets become aggregations of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Split {
    Empty,
    Every,
}

/// Sets that CUBE makes, at the most: of 12 columns, as in PostgreSQL.
const CUBE_COLUMNS_MAX: usize = 12;

/// `grouping(x)` as what it stands for, before subqueries beside it become joins of what is
/// grouped.
pub(super) fn resolve_functions(plan: LogicalPlan, options: &ConfigOptions) -> Result<LogicalPlan> {
    let rule = ResolveGroupingFunction::new();
    let done = plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Aggregate(_) => rule.analyze(node, options).map(Transformed::yes),
        node => Ok(Transformed::no(node)),
    })?;
    Ok(done.data)
}

/// `plan` without those grouping sets, in its subqueries too.
pub(super) fn split(plan: LogicalPlan, split: Split) -> Result<LogicalPlan> {
    let done = plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Aggregate(aggregate) => split_one(aggregate, split),
        node => Ok(Transformed::no(node)),
    })?;
    Ok(done.data)
}

fn split_one(aggregate: Aggregate, split: Split) -> Result<Transformed<LogicalPlan>> {
    let sets = match aggregate.group_expr.as_slice() {
        [Expr::GroupingSet(grouping)] => sets(grouping)?,
        _ => return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate))),
    };
    if split == Split::Empty && !sets.iter().any(Vec::is_empty) {
        return Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)));
    }
    let columns = columns(&aggregate);
    let mut parts = Vec::new();
    let mut together = Vec::new();
    // Sets that are there several times are told apart by a number above the columns' bits.
    let mut times: HashMap<u64, u64> = HashMap::new();
    for set in sets {
        let missing = columns
            .iter()
            .fold(0, |bits: u64, column| bits << 1 | u64::from(!set.contains(column)));
        let nth = times.entry(missing).or_default();
        let id = missing | (*nth << columns.len());
        *nth += 1;
        if split == Split::Every || set.is_empty() {
            parts.push(one_set(&aggregate, &columns, set, id)?);
        } else {
            together.push(set);
        }
    }
    if !together.is_empty() {
        let rest = Aggregate::try_new(
            Arc::clone(&aggregate.input),
            vec![Expr::GroupingSet(GroupingSet::GroupingSets(together))],
            aggregate.aggr_expr.clone(),
        )?;
        let rest = LogicalPlan::Aggregate(rest);
        let columns = rest.schema().columns().into_iter().map(Expr::Column).collect();
        parts.insert(0, numbered(columns, rest)?);
    }
    let union = parts
        .into_iter()
        .map(Ok::<_, DataFusionError>)
        .reduce(|all, part| LogicalPlanBuilder::from(all?).union(part?)?.build())
        .ok_or_else(|| DataFusionError::Internal("no grouping sets".to_owned()))??;
    named_as(union, &aggregate).map(Transformed::yes)
}

/// The columns that are grouped by, in the order in which the aggregation gives them.
fn columns(aggregate: &Aggregate) -> Vec<Expr> {
    match aggregate.group_expr.as_slice() {
        [Expr::GroupingSet(grouping)] => grouping.distinct_expr().into_iter().cloned().collect(),
        _ => Vec::new(),
    }
}

/// The sets of columns.
fn sets(grouping: &GroupingSet) -> Result<Vec<Vec<Expr>>> {
    Ok(match grouping {
        GroupingSet::GroupingSets(sets) => sets.clone(),
        GroupingSet::Rollup(exprs) => {
            (0..=exprs.len()).rev().map(|length| exprs[..length].to_vec()).collect()
        }
        GroupingSet::Cube(exprs) if exprs.len() > CUBE_COLUMNS_MAX => {
            let message = format!("CUBE is limited to {CUBE_COLUMNS_MAX} elements");
            return Err(DataFusionError::Plan(message));
        }
        GroupingSet::Cube(exprs) => (0..1_usize << exprs.len())
            .rev()
            .map(|chosen| {
                let is_chosen = |(bit, _): &(usize, &Expr)| chosen >> bit & 1 == 1;
                exprs.iter().enumerate().filter(is_chosen).map(|(_, expr)| expr.clone()).collect()
            })
            .collect(),
    })
}

/// The aggregation by one set, with all columns of the aggregation by all of them.
fn one_set(
    aggregate: &Aggregate,
    columns: &[Expr],
    set: Vec<Expr>,
    id: u64,
) -> Result<LogicalPlan> {
    let calls = aggregate.aggr_expr.clone();
    let one = if set.is_empty() && calls.is_empty() {
        // One row, whatever rows there are.
        LogicalPlanBuilder::empty(true).build()?
    } else {
        let input = Arc::clone(&aggregate.input);
        LogicalPlan::Aggregate(Aggregate::try_new(input, set.clone(), calls)?)
    };
    let mut distinct: Vec<&Expr> = Vec::new();
    set.iter().for_each(|expr| {
        if !distinct.contains(&expr) {
            distinct.push(expr);
        }
    });
    let given = |index: usize| Expr::Column(Column::from(one.schema().qualified_field(index)));
    let mut exprs = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        let (_, field) = aggregate.schema.qualified_field(index);
        exprs.push(match distinct.iter().position(|expr| *expr == column) {
            Some(place) => given(place),
            None => lit(ScalarValue::try_from(field.data_type())?),
        });
    }
    let (_, id_field) = aggregate.schema.qualified_field(columns.len());
    exprs.push(lit(ScalarValue::UInt64(Some(id)).cast_to(id_field.data_type())?));
    exprs.extend((distinct.len()..one.schema().fields().len()).map(given));
    numbered(exprs, one)
}

/// `exprs` of `plan`, named by their places: a union knows its columns by their names alone, and
/// two that are grouped by may have one name.
fn numbered(exprs: Vec<Expr>, plan: LogicalPlan) -> Result<LogicalPlan> {
    let named = exprs.into_iter().enumerate().map(|(place, expr)| expr.alias(format!("_{place}")));
    Ok(LogicalPlan::Projection(Projection::try_new(named.collect(), Arc::new(plan))?))
}

/// `plan` with the names of the aggregation's columns.
fn named_as(plan: LogicalPlan, aggregate: &Aggregate) -> Result<LogicalPlan> {
    let columns = plan.schema().columns();
    let exprs =
        columns.into_iter().zip(aggregate.schema.iter()).map(|(column, (qualifier, field))| {
            Expr::Column(column).alias_qualified(qualifier.cloned(), field.name())
        });
    let exprs = exprs.collect();
    Ok(LogicalPlan::Projection(Projection::try_new(exprs, Arc::new(plan))?))
}
