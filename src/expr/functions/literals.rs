//! Number literals have PostgreSQL's types: `1` is an integer, `3000000000` a bigint.
//!
//! DataFusion plans every whole number as a bigint. This narrows them in a freshly planned query,
//! before parameters are bound (a bound bigint is a literal too, and stays one). Explicit casts
//! stay where they are.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Union};

use super::untyped::common_type;
use crate::types::SqlType;

/// Scalar functions whose result has their arguments' type. The others say what they take, and
/// their literals are theirs.
const POLYMORPHIC: &[&str] = &[
    "abs",
    "array_append",
    "array_concat",
    "array_position",
    "array_positions",
    "array_prepend",
    "array_remove",
    "array_replace",
    "any_equal",
    "bit_not",
    "coalesce",
    "gcd",
    "greatest",
    "int_div",
    "lcm",
    "least",
    "make_array",
    "mod",
    "nullif",
    "nvl",
    "pg_typeof",
    "to_hex",
];

/// Aggregates whose result's type depends on their argument's.
const AGGREGATES: &[&str] = &["avg", "count", "max", "min", "sum"];

/// Narrows the literals of a query. A recursive one stays as it is: its work table's types are
/// settled already.
pub fn narrow_literals(plan: LogicalPlan) -> Result<LogicalPlan> {
    if plan.exists(|node| Ok(matches!(node, LogicalPlan::RecursiveQuery(_))))? {
        return Ok(plan);
    }
    Ok(plan.transform_up_with_subqueries(narrow_node)?.data)
}

fn narrow_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        // What a limit counts is a bigint in PostgreSQL too.
        LogicalPlan::Limit(_) => Ok(Transformed::no(plan)),
        LogicalPlan::Values(values) => {
            let mut rows = values.values;
            for value in rows.iter_mut().flatten() {
                *value = match std::mem::take(value) {
                    // Planning gave NULL the type of its column.
                    Expr::Literal(ScalarValue::Int64(None), metadata) => {
                        Expr::Literal(ScalarValue::Null, metadata)
                    }
                    other => narrow(other)?.data,
                };
            }
            Ok(Transformed::yes(LogicalPlanBuilder::values(rows)?.build()?))
        }
        LogicalPlan::Union(union) => {
            check_union(&union)?;
            let union = Union::try_new_with_loose_types(union.inputs)?;
            Ok(Transformed::yes(LogicalPlan::Union(union)))
        }
        plan => {
            let names = NamePreserver::new(&plan);
            let changed = plan.map_expressions(|expr| {
                let name = names.save(&expr);
                Ok(narrow(expr)?.update_data(|expr| name.restore(expr)))
            })?;
            // Types may change from below, even where no literal stands.
            let plan = changed.map_data(LogicalPlan::recompute_schema)?;
            Ok(Transformed::yes(plan.data))
        }
    }
}

/// Refuses a union of columns whose types PostgreSQL does not match.
fn check_union(union: &Union) -> Result<()> {
    for column in 0..union.schema.fields().len() {
        let mut common = SqlType::Unknown;
        for input in &union.inputs {
            let Some(field) = input.schema().fields().get(column) else { continue };
            if *field.data_type() != DataType::Null {
                common = common_type(&common, &SqlType::of_field(field), "UNION")?;
            }
        }
    }
    Ok(())
}

/// Narrows the literals of one expression.
pub fn narrow_expression(expr: Expr) -> Result<Expr> {
    Ok(narrow(expr)?.data)
}

fn narrow(expr: Expr) -> Result<Transformed<Expr>> {
    expr.transform_down(|expr| {
        Ok(match expr {
            Expr::Literal(value, metadata) => match narrowed(&value) {
                Some(value) => Transformed::yes(Expr::Literal(value, metadata)),
                None => Transformed::no(Expr::Literal(value, metadata)),
            },
            // What a window function is given is its own.
            Expr::WindowFunction(_) => jump(expr),
            Expr::AggregateFunction(ref call) if !AGGREGATES.contains(&call.func.name()) => {
                jump(expr)
            }
            Expr::ScalarFunction(mut call) if !POLYMORPHIC.contains(&call.func.name()) => {
                for arg in &mut call.args {
                    if !matches!(arg, Expr::Literal(..)) {
                        *arg = narrow(std::mem::take(arg))?.data;
                    }
                }
                jump(Expr::ScalarFunction(call))
            }
            other => Transformed::no(other),
        })
    })
}

fn jump(expr: Expr) -> Transformed<Expr> {
    Transformed::new(expr, true, TreeNodeRecursion::Jump)
}

fn narrowed(value: &ScalarValue) -> Option<ScalarValue> {
    match value {
        ScalarValue::Int64(Some(number)) => {
            i32::try_from(*number).ok().map(|number| ScalarValue::Int32(Some(number)))
        }
        ScalarValue::UInt64(Some(_)) => value.cast_to(&DataType::Decimal128(20, 0)).ok(),
        _ => None,
    }
}
