//! Number literals have PostgreSQL's types: `1` is an integer, `3000000000` a bigint.
//!
//! DataFusion plans every whole number as a bigint. This narrows them in a freshly planned query,
//! before parameters are bound (a bound bigint is a literal too, and stays one). Explicit casts
//! stay where they are.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::WindowFunction;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, Union, WindowFunctionDefinition, cast,
};
use datafusion::optimizer::analyzer::type_coercion::TypeCoercionRewriter;

use super::excluding::first_of_excluding;
use super::mixed::{alike, order_of};
use super::noted::{noted, noted_elements, of_type};
use super::recursive::retyped;
use super::untyped::{common_type, read_literal, stays_text, untyped_literal};
use crate::error::{SqlError, code};
use crate::types::SqlType;

/// Scalar functions whose result has their arguments' type. The others say what they take, and
/// their literals are theirs.
const POLYMORPHIC: &[&str] = &[
    "abs",
    "array_append",
    "array_concat",
    "array_fill",
    "array_position",
    "array_positions",
    "array_prepend",
    "array_remove",
    "array_replace",
    "any_equal",
    "bit_not",
    "coalesce",
    "gcd",
    "generate_series",
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

/// Window functions that give one of their arguments' values, and which arguments these are.
const VALUES_OF_WINDOWS: &[(&str, &[usize])] = &[
    ("first_value", &[0]),
    ("lag", &[0, 2]),
    ("last_value", &[0]),
    ("lead", &[0, 2]),
    ("nth_value", &[0]),
];

/// Narrows the literals of a query.
pub fn narrow_literals(plan: LogicalPlan) -> Result<LogicalPlan> {
    Ok(plan.transform_up_with_subqueries(narrow_node)?.data)
}

pub(super) fn narrow_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
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
                    other => narrow_expression(other)?,
                };
            }
            Ok(Transformed::yes(LogicalPlanBuilder::values(rows)?.build()?))
        }
        LogicalPlan::Union(union) => {
            let types = union_types(&union)?;
            let inputs = union
                .inputs
                .into_iter()
                .map(|input| with_types(read_literals(input, &types)?, &types));
            let union = Union::try_new_with_loose_types(inputs.collect::<Result<_>>()?)?;
            // What is above has to see the types that its columns will have.
            TypeCoercionRewriter::coerce_union(union).map(Transformed::yes)
        }
        LogicalPlan::RecursiveQuery(query) => retyped(query).map(Transformed::yes),
        plan => {
            let names = NamePreserver::new(&plan);
            let schema = merge_schema(&plan.inputs());
            let plan = plan.map_subqueries(|plan| retyped_outside(plan, &schema))?.data;
            let sorts = matches!(plan, LogicalPlan::Sort(_));
            let changed = plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let typed = narrow(expr)?
                    .data
                    .transform_up(|expr| Ok(noted(alike(expr, &schema)?.data, &schema)))?
                    .transform_data(|expr| expr.transform_up(|expr| in_order(expr, &schema)))?;
                let typed = match sorts {
                    true => typed.map_data(|expr| order_of(expr, &schema))?,
                    false => typed,
                };
                Ok(typed.update_data(|expr| name.restore(expr)))
            })?;
            // Types may change from below, even where no literal stands.
            let plan = changed.map_data(LogicalPlan::recompute_schema)?;
            match plan.data {
                LogicalPlan::Unnest(unnest) => noted_elements(unnest).map(Transformed::yes),
                plan => Ok(Transformed::yes(plan)),
            }
        }
    }
}

/// A subquery whose outer columns have the types that they have now in the query around it, where
/// `outer` are the columns.
fn retyped_outside(plan: LogicalPlan, outer: &DFSchema) -> Result<Transformed<LogicalPlan>> {
    let now = |expr: &Expr| match expr {
        Expr::OuterReferenceColumn(field, column) => {
            let now = outer.field(outer.maybe_index_of_column(column)?);
            let now = (now.data_type() != field.data_type()).then(|| Arc::clone(now))?;
            Some(Expr::OuterReferenceColumn(now, column.clone()))
        }
        _ => None,
    };
    let mut any = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            any |= expr.exists(|expr| Ok(now(expr).is_some()))?;
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    if !any {
        return Ok(Transformed::no(plan));
    }
    plan.transform_up_with_subqueries(|node| {
        let names = NamePreserver::new(&node);
        let retyped = node.map_expressions(|expr| {
            let name = names.save(&expr);
            let expr = expr.transform_up(|expr| {
                Ok(now(&expr).map_or_else(|| Transformed::no(expr), Transformed::yes))
            })?;
            Ok(expr.update_data(|expr| name.restore(expr)))
        })?;
        // What is above a node whose type changed changes too.
        retyped.map_data(LogicalPlan::recompute_schema)
    })
}

/// The ORDER BY of a window or of an aggregate by what its values are ordered by.
fn in_order(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let orders = match &mut expr {
        Expr::WindowFunction(window) => &mut window.params.order_by,
        // DISTINCT's ORDER BY is told by its arguments.
        Expr::AggregateFunction(call) if !call.params.distinct => &mut call.params.order_by,
        _ => return Ok(Transformed::no(expr)),
    };
    for sort in orders {
        sort.expr = order_of(std::mem::take(&mut sort.expr), schema)?;
    }
    Ok(Transformed::yes(expr))
}

/// The types of a union's columns. One of columns whose types PostgreSQL does not match is refused.
fn union_types(union: &Union) -> Result<Vec<SqlType>> {
    let mut types = Vec::new();
    for column in 0..union.schema.fields().len() {
        let mut common = SqlType::Unknown;
        for input in &union.inputs {
            let Some(field) = input.schema().fields().get(column) else { continue };
            if *field.data_type() != DataType::Null {
                common = common_type(&common, &SqlType::of_field(field), "UNION")?;
            }
        }
        types.push(common);
    }
    Ok(types)
}

/// A part of a union whose columns that are literals without a type have the others'.
fn read_literals(input: Arc<LogicalPlan>, types: &[SqlType]) -> Result<Arc<LogicalPlan>> {
    let LogicalPlan::Projection(projection) = input.as_ref() else { return Ok(input) };
    let literal = |expr: &Expr, to: &SqlType| {
        let literal = untyped_literal(&expr.clone().unalias());
        literal.filter(|_| !stays_text(to)).map(|literal| read_literal(literal, to))
    };
    let columns = || projection.expr.iter().zip(types);
    if !columns().any(|(expr, to)| literal(expr, to).is_some()) {
        return Ok(input);
    }
    let columns = columns().map(|(expr, to)| match literal(expr, to) {
        Some(literal) => literal.alias(expr.qualified_name().1),
        None => expr.clone(),
    });
    let columns: Vec<Expr> = columns.collect();
    let rows = projection.input.as_ref().clone();
    LogicalPlanBuilder::from(rows).project(columns)?.build().map(Arc::new)
}

/// A part of a union whose columns have the union's types where DataFusion would not see to it:
/// floats where it has numerics (it would make decimals of all), and types that are only noted.
fn with_types(input: Arc<LogicalPlan>, types: &[SqlType]) -> Result<Arc<LogicalPlan>> {
    let typed = |column: Expr, field: &Field, to: &SqlType| {
        let is_float = matches!(to, SqlType::Real | SqlType::Double);
        if field.data_type().is_decimal() && is_float {
            Some(cast(column, to.to_arrow()))
        } else if *field.data_type() == to.to_arrow() && SqlType::of_field(field) != *to {
            Some(of_type(to.clone(), column))
        } else {
            None
        }
    };
    let mut any = false;
    let columns = input.schema().iter().zip(types).map(|((qualifier, field), to)| {
        let column = Expr::Column(Column::from((qualifier, field)));
        match typed(column.clone(), field, to) {
            Some(expr) => {
                any = true;
                expr.alias_qualified(qualifier.cloned(), field.name())
            }
            None => column,
        }
    });
    let columns: Vec<Expr> = columns.collect();
    if !any {
        return Ok(input);
    }
    let input = Arc::unwrap_or_clone(input);
    LogicalPlanBuilder::from(input).project(columns)?.build().map(Arc::new)
}

/// Narrows the literals of one expression, which reads no columns.
pub fn narrow_expression(expr: Expr) -> Result<Expr> {
    let none = DFSchema::empty();
    let typed = |expr| Ok(noted(alike(expr, &none)?.data, &none));
    Ok(narrow(expr)?.data.transform_up(typed)?.data)
}

fn narrow(expr: Expr) -> Result<Transformed<Expr>> {
    expr.transform_down(|expr| {
        Ok(match expr {
            Expr::Literal(value, metadata) => match narrowed(&value) {
                Some(value) => Transformed::yes(Expr::Literal(value, metadata)),
                None => Transformed::no(Expr::Literal(value, metadata)),
            },
            Expr::WindowFunction(mut window) => {
                check_counts(&window)?;
                let name = window.fun.name();
                let values = VALUES_OF_WINDOWS.iter().find(|(known, _)| *known == name);
                let first = match &window.fun {
                    WindowFunctionDefinition::AggregateUDF(_) => Some(0),
                    WindowFunctionDefinition::WindowUDF(_) => first_of_excluding(name),
                };
                for (index, arg) in window.params.args.iter_mut().enumerate() {
                    let is_value = match values {
                        Some((_, values)) => values.contains(&index),
                        None => first == Some(index),
                    };
                    if is_value || !matches!(arg, Expr::Literal(..)) {
                        *arg = narrow(std::mem::take(arg))?.data;
                    }
                }
                jump(Expr::WindowFunction(window))
            }
            // What follows is not aggregated: a fraction, a delimiter.
            Expr::AggregateFunction(mut call) => {
                if let Some(first) = call.params.args.first_mut() {
                    *first = narrow(std::mem::take(first))?.data;
                }
                for sort in &mut call.params.order_by {
                    if !matches!(sort.expr, Expr::Literal(..)) {
                        sort.expr = narrow(std::mem::take(&mut sort.expr))?.data;
                    }
                }
                if let Some(filter) = &mut call.params.filter {
                    **filter = narrow(std::mem::take(filter.as_mut()))?.data;
                }
                jump(Expr::AggregateFunction(call))
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

/// `ntile(0)` and `nth_value(x, 0)` are nothing.
fn check_counts(window: &WindowFunction) -> Result<()> {
    let (place, code) = match window.fun.name() {
        "ntile" => (0, code::INVALID_ARGUMENT_FOR_NTILE),
        "nth_value" => (1, code::INVALID_ARGUMENT_FOR_NTH_VALUE),
        _ => return Ok(()),
    };
    match window.params.args.get(place) {
        Some(Expr::Literal(ScalarValue::Int64(Some(..=0)), _)) => {
            let message = format!("argument of {} must be greater than zero", window.fun.name());
            Err(SqlError::new(code, message).into())
        }
        _ => Ok(()),
    }
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
