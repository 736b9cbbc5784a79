//! ORDER BY and comparisons of values whose own order is not PostgreSQL's: of their keys instead
//! ([`order_function`]).
//!
//! ```text
//! ORDER BY j   becomes   ORDER BY order_of_jsonb(j)
//! a < b        becomes   order_of_array(a) < order_of_array(b)
//! ```
//!
//! The aggregates that collect rows see to their own ORDER BY.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Between, BinaryExpr, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{generate_sort_key, merge_schema};
use datafusion::logical_expr::{
    Distinct, DistinctOn, Expr, LogicalPlan, Operator, Projection, Sort, SortExpr, Window,
    binary_expr, when,
};

use crate::expr::functions::{
    function, of_type, operand_type, order_function, window_order_function,
};
use crate::types::SqlType;

/// Orders windows by keys, before DataFusion looks whether it has windows over such values.
pub(super) fn order_windows_by_keys(plan: LogicalPlan) -> Result<LogicalPlan> {
    let keyed = in_expressions(plan, in_window, |node, _| Ok(Transformed::no(node)))?;
    Ok(keyed.transform_up_with_subqueries(apart)?.data)
}

/// What the rows of a window are sorted by; of each whether it is one of the partitions.
type SortKey = Vec<(SortExpr, bool)>;

/// Windows that were sorted alike and are not any more, each sort in a node of its own: DataFusion
/// put them into one by the keys that they had.
fn apart(node: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Window(window) = node else { return Ok(Transformed::no(node)) };
    let mut sorts: Vec<(SortKey, Vec<Expr>)> = Vec::new();
    for expr in &window.window_expr {
        let Expr::WindowFunction(function) = expr.clone().unalias() else { continue };
        let params = &function.params;
        let key = generate_sort_key(&params.partition_by, &params.order_by)?;
        match sorts.iter_mut().find(|(known, _)| *known == key) {
            Some((_, exprs)) => exprs.push(expr.clone()),
            None => sorts.push((key, vec![expr.clone()])),
        }
    }
    if sorts.len() < 2 {
        return Ok(Transformed::no(LogicalPlan::Window(window)));
    }
    let columns = window.schema.columns().into_iter().map(Expr::Column).collect();
    let mut plan = window.input;
    for (_, exprs) in sorts {
        plan = Arc::new(LogicalPlan::Window(Window::try_new(exprs, plan)?));
    }
    Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new(columns, plan)?)))
}

/// Orders and compares by keys in a plan whose types are final.
pub(super) fn order_by_keys(plan: LogicalPlan) -> Result<LogicalPlan> {
    in_expressions(plan, in_expression, in_node)
}

fn in_expressions(
    plan: LogicalPlan,
    rewritten: fn(Expr, &DFSchema) -> Result<Transformed<Expr>>,
    above: fn(LogicalPlan, &DFSchema) -> Result<Transformed<LogicalPlan>>,
) -> Result<LogicalPlan> {
    let done = plan.transform_up_with_subqueries(|node| {
        let names = NamePreserver::new(&node);
        let schema = merge_schema(&node.inputs());
        let node = node.map_expressions(|expr| {
            let name = names.save(&expr);
            let keyed = expr.transform_up(|expr| rewritten(expr, &schema))?;
            Ok(keyed.update_data(|expr| name.restore(expr)))
        })?;
        node.transform_data(|node| above(node, &schema))
    })?;
    Ok(done.data)
}

fn in_node(node: LogicalPlan, schema: &DFSchema) -> Result<Transformed<LogicalPlan>> {
    Ok(match node {
        LogicalPlan::Sort(Sort { expr, input, fetch }) => {
            let (expr, changed) = sorts(expr, schema, order_function)?;
            let sort = LogicalPlan::Sort(Sort { expr, input, fetch });
            Transformed::new_transformed(sort, changed)
        }
        LogicalPlan::Distinct(Distinct::On(DistinctOn {
            on_expr,
            select_expr,
            sort_expr: Some(sort_expr),
            input,
            schema: own,
        })) => {
            let (sort_expr, changed) = sorts(sort_expr, schema, order_function)?;
            // The first of the order are these, and stay so.
            let on_expr = on_expr.into_iter().map(|expr| Ok(key(expr, schema, order_function)?.0));
            let on_expr = on_expr.collect::<Result<Vec<_>>>()?;
            let sort_expr = Some(sort_expr);
            let on = DistinctOn { on_expr, select_expr, sort_expr, input, schema: own };
            Transformed::new_transformed(LogicalPlan::Distinct(Distinct::On(on)), changed)
        }
        node => Transformed::no(node),
    })
}

fn in_window(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::WindowFunction(mut window) = expr else { return Ok(Transformed::no(expr)) };
    let order = std::mem::take(&mut window.params.order_by);
    let (order, changed) = sorts(order, schema, window_order_function)?;
    window.params.order_by = order;
    Ok(Transformed::new_transformed(Expr::WindowFunction(window), changed))
}

fn in_expression(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_order(op) => {
            let (left, one) = key(*left, schema, order_function)?;
            let (right, other) = key(*right, schema, order_function)?;
            let (left, right) = (Box::new(left), Box::new(right));
            let compared = Expr::BinaryExpr(BinaryExpr { left, op, right });
            Ok(Transformed::new_transformed(compared, one || other))
        }
        Expr::Between(Between { expr, negated, low, high }) => {
            let (expr, changed) = key(*expr, schema, order_function)?;
            let (low, _) = key(*low, schema, order_function)?;
            let (high, _) = key(*high, schema, order_function)?;
            let (expr, low, high) = (Box::new(expr), Box::new(low), Box::new(high));
            let between = Expr::Between(Between { expr, negated, low, high });
            Ok(Transformed::new_transformed(between, changed))
        }
        Expr::ScalarFunction(call) if matches!(call.func.name(), "greatest" | "least") => {
            let call = match chosen(&call, schema)? {
                Some(chosen) => return Ok(Transformed::yes(chosen)),
                None => call,
            };
            Ok(Transformed::no(Expr::ScalarFunction(call)))
        }
        expr => Ok(Transformed::no(expr)),
    }
}

/// GREATEST and LEAST by keys; `None`: the values are their own.
fn chosen(call: &ScalarFunction, schema: &DFSchema) -> Result<Option<Expr>> {
    let op = if call.func.name() == "greatest" { Operator::GtEq } else { Operator::LtEq };
    let mut args = call.args.iter().cloned();
    let Some(mut best) = args.next() else { return Ok(None) };
    let Some(sql_type) = operand_type(&Expr::ScalarFunction(call.clone()), schema) else {
        return Ok(None);
    };
    if order_function(&sql_type).is_none() {
        return Ok(None);
    }
    for other in args {
        let (one, _) = key(best.clone(), schema, order_function)?;
        let (two, _) = key(other.clone(), schema, order_function)?;
        best = when(best.clone().is_null(), other.clone())
            .when(other.clone().is_null(), best.clone())
            .when(binary_expr(one, op, two), best)
            .otherwise(other)?;
        // A choice among jsonb is jsonb still.
        best = of_type(sql_type.clone(), best);
    }
    Ok(Some(best))
}

fn is_order(op: Operator) -> bool {
    matches!(op, Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq)
}

/// Finds the function that gives the key of a type's values.
type KeyOf = fn(&SqlType) -> Option<&'static str>;

fn sorts(exprs: Vec<SortExpr>, schema: &DFSchema, key_of: KeyOf) -> Result<(Vec<SortExpr>, bool)> {
    let mut any = false;
    let mut keyed = Vec::with_capacity(exprs.len());
    for SortExpr { expr, asc, nulls_first } in exprs {
        let (expr, changed) = key(expr, schema, key_of)?;
        any |= changed;
        keyed.push(SortExpr { expr, asc, nulls_first });
    }
    Ok((keyed, any))
}

/// The key of a value, and whether it is not the value itself.
fn key(expr: Expr, schema: &DFSchema, key_of: KeyOf) -> Result<(Expr, bool)> {
    let found = operand_type(&expr, schema).and_then(|sql_type| key_of(&sql_type));
    Ok(match found {
        Some(name) => {
            let call = ScalarFunction::new_udf(function(name)?, vec![expr]);
            (Expr::ScalarFunction(call), true)
        }
        None => (expr, false),
    })
}
