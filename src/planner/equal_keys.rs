//! GROUP BY, DISTINCT, set operations and partitions of values that may be equal and yet look
//! different (`1` and `1.0` as jsonb, `1 month` and `30 days`): by their keys
//! ([`equality_function`]). What a group shows is the least of its values.
//!
//! ```text
//! γ[j; f](R)           =  project min(j) AS j, f (γ[key(j); f, min(j)](R))
//! DISTINCT R           =  γ[all columns](R)
//! count(DISTINCT j)    =  count(DISTINCT key(j))
//! PARTITION BY j       =  PARTITION BY key(j)
//! R INTERSECT S        =  R ⋉ S on the keys
//! ```
//!
//! It comes before subqueries are unnested: the plan that they leave groups and joins by outer
//! values, of which `1` and `1.0` are two.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{
    Aggregate, Distinct, DistinctOn, Expr, GroupingSet, LogicalPlan, Projection, SortExpr, Window,
    when,
};

use super::decorrelate::{Tools, keyed};
use crate::expr::functions::{equality_function, function, of_type, operand_type};
use crate::types::SqlType;

/// Groups by keys wherever values are told apart, in subqueries too.
pub(super) fn group_by_keys(plan: LogicalPlan, tools: &Tools<'_>) -> Result<LogicalPlan> {
    let done = plan.transform_down_up_with_subqueries(
        |node| match &node {
            LogicalPlan::Join(join) => Ok(match keyed(join, tools, &key)? {
                Some(plan) => Transformed::yes(plan),
                None => Transformed::no(node),
            }),
            _ => Ok(Transformed::no(node)),
        },
        |node| in_node(node, tools),
    )?;
    if !done.transformed {
        return Ok(done.data);
    }
    let typed = done.data.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Values(_) => Ok(Transformed::no(node)),
        node => node.recompute_schema().map(Transformed::yes),
    })?;
    Ok(typed.data)
}

fn in_node(node: LogicalPlan, tools: &Tools<'_>) -> Result<Transformed<LogicalPlan>> {
    match node {
        LogicalPlan::Aggregate(node) => aggregate(node, tools),
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let schema = input.schema();
            let columns = schema.columns().into_iter().map(Expr::Column);
            let columns: Vec<Expr> = columns.collect();
            if !columns.iter().any(|column| has_key(column, schema)) {
                return Ok(Transformed::no(LogicalPlan::Distinct(Distinct::All(input))));
            }
            aggregate(Aggregate::try_new(input, columns, Vec::new())?, tools)
        }
        LogicalPlan::Distinct(Distinct::On(node)) => distinct_on(node),
        LogicalPlan::Window(node) => window(node),
        node => Ok(Transformed::no(node)),
    }
}

/// The type of values that are equal by a key of theirs.
fn keyed_type(expr: &Expr, schema: &DFSchema) -> Option<(SqlType, &'static str)> {
    let sql_type = operand_type(expr, schema)?;
    let function = equality_function(&sql_type)?;
    Some((sql_type, function))
}

fn has_key(expr: &Expr, schema: &DFSchema) -> bool {
    keyed_type(expr, schema).is_some()
}

/// The key of a value, or the value where that is its own.
fn key(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    Ok(match keyed_type(&expr, schema) {
        Some((_, name)) => {
            let call = ScalarFunction::new_udf(function(name)?, vec![expr.unalias()]);
            Transformed::yes(Expr::ScalarFunction(call))
        }
        None => Transformed::no(expr),
    })
}

fn keys(exprs: Vec<Expr>, schema: &DFSchema) -> Result<Vec<Expr>> {
    exprs.into_iter().map(|expr| Ok(key(expr, schema)?.data)).collect()
}

fn aggregate(node: Aggregate, tools: &Tools<'_>) -> Result<Transformed<LogicalPlan>> {
    let schema = Arc::clone(node.input.schema());
    let (groups, in_sets): (Vec<Expr>, bool) = match node.group_expr.as_slice() {
        [Expr::GroupingSet(sets)] => (sets.distinct_expr().into_iter().cloned().collect(), true),
        exprs => (exprs.to_vec(), false),
    };
    let mut changed = groups.iter().any(|group| has_key(group, &schema));
    let mut calls = Vec::new();
    for call in node.aggr_expr.clone() {
        let call = counting(call, &schema)?;
        changed |= call.transformed;
        calls.push(call.data);
    }
    if !changed {
        return Ok(Transformed::no(LogicalPlan::Aggregate(node)));
    }
    // After all that the aggregation gave before, the least value of each group that has a key.
    let first = groups.len() + usize::from(in_sets) + calls.len();
    let mut values = Vec::new();
    let mut places = Vec::new();
    for group in &groups {
        places.push(match keyed_type(group, &schema) {
            Some((sql_type, _)) => {
                let value = tools.aggregate("min", vec![group.clone().unalias()], Vec::new())?;
                values.push(value.alias(tools.fresh("value")));
                Some((first + values.len() - 1, sql_type))
            }
            None => None,
        });
    }
    let group_expr = match node.group_expr.as_slice() {
        [Expr::GroupingSet(sets)] => vec![Expr::GroupingSet(keyed_sets(sets.clone(), &schema)?)],
        exprs => keys(exprs.to_vec(), &schema)?,
    };
    calls.extend(values);
    let grouped = Aggregate::try_new(Arc::clone(&node.input), group_expr, calls)?;
    let column = |index| Expr::Column(Column::from(grouped.schema.qualified_field(index)));
    let mut shown = Vec::new();
    for (index, (qualifier, field)) in node.schema.iter().enumerate() {
        let value = match places.get(index) {
            // A set that lacks the column has NULL for its key.
            Some(Some((place, sql_type))) if in_sets => {
                let value = when(column(index).is_not_null(), column(*place)).end()?;
                of_type(sql_type.clone(), value)
            }
            Some(Some((place, _))) => column(*place),
            _ => column(index),
        };
        shown.push(value.alias_qualified(qualifier.cloned(), field.name()));
    }
    let shown = Projection::try_new(shown, Arc::new(LogicalPlan::Aggregate(grouped)))?;
    Ok(Transformed::yes(LogicalPlan::Projection(shown)))
}

fn keyed_sets(sets: GroupingSet, schema: &DFSchema) -> Result<GroupingSet> {
    Ok(match sets {
        GroupingSet::Rollup(exprs) => GroupingSet::Rollup(keys(exprs, schema)?),
        GroupingSet::Cube(exprs) => GroupingSet::Cube(keys(exprs, schema)?),
        GroupingSet::GroupingSets(sets) => {
            let sets = sets.into_iter().map(|set| keys(set, schema));
            GroupingSet::GroupingSets(sets.collect::<Result<_>>()?)
        }
    })
}

/// A call that counts distinct values, counting their keys.
fn counting(call: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::AggregateFunction(mut counted) = call.clone().unalias() else {
        return Ok(Transformed::no(call));
    };
    if !counted.params.distinct || counted.func.name() != "count" {
        return Ok(Transformed::no(call));
    }
    let args = std::mem::take(&mut counted.params.args);
    if !args.iter().any(|arg| has_key(arg, schema)) {
        return Ok(Transformed::no(call));
    }
    counted.params.args = keys(args, schema)?;
    let name = call.schema_name().to_string();
    Ok(Transformed::yes(Expr::AggregateFunction(counted).alias(name)))
}

fn distinct_on(node: DistinctOn) -> Result<Transformed<LogicalPlan>> {
    let schema = Arc::clone(node.input.schema());
    if !node.on_expr.iter().any(|expr| has_key(expr, &schema)) {
        return Ok(Transformed::no(LogicalPlan::Distinct(Distinct::On(node))));
    }
    let DistinctOn { on_expr, select_expr, sort_expr, input, schema: own } = node;
    let on_expr = keys(on_expr, &schema)?;
    // The first of the order are these, and stay so.
    let sorted = sort_expr.map(|sorts| {
        let sorts = sorts.into_iter().map(|SortExpr { expr, asc, nulls_first }| {
            Ok(SortExpr { expr: key(expr, &schema)?.data, asc, nulls_first })
        });
        sorts.collect::<Result<Vec<_>>>()
    });
    let sort_expr = sorted.transpose()?;
    let node = DistinctOn { on_expr, select_expr, sort_expr, input, schema: own };
    Ok(Transformed::yes(LogicalPlan::Distinct(Distinct::On(node))))
}

fn window(node: Window) -> Result<Transformed<LogicalPlan>> {
    let schema = Arc::clone(node.input.schema());
    let plan = LogicalPlan::Window(node);
    let names = NamePreserver::new(&plan);
    plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let Expr::WindowFunction(mut window) = expr.clone().unalias() else {
            return Ok(Transformed::no(expr));
        };
        let partitions = std::mem::take(&mut window.params.partition_by);
        if !partitions.iter().any(|partition| has_key(partition, &schema)) {
            return Ok(Transformed::no(expr));
        }
        window.params.partition_by = keys(partitions, &schema)?;
        Ok(Transformed::yes(name.restore(Expr::WindowFunction(window))))
    })
}
