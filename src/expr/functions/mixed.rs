//! What values of different types are compared as, and chosen among as.
//!
//! - Floats beside numerics are floats. DataFusion takes both for decimals, which have neither NaN
//!   nor infinity, and so fails on them.
//!   In PostgreSQL an operator takes reals for doubles, a choice among several takes numerics for
//!   reals: `r = 0.1` is not `r IN (0.1)`.
//! - A literal without a type beside a date or time is one. DataFusion reads it as a timestamp of
//!   nanoseconds, which end in 2262.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::{
    Between, BinaryExpr, Case, Cast, InList, InSubquery, SetComparison,
};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlanBuilder, Subquery, cast};

use crate::types::SqlType;

/// Functions that compare their arguments, or give one of them.
const ALIKE: &[&str] = &["coalesce", "greatest", "least", "nullif", "nvl"];

/// An expression whose operands have types of one kind.
pub(super) fn alike(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let mut operands: Vec<&mut Expr> = Vec::new();
    let is_operator = matches!(expr, Expr::BinaryExpr(_) | Expr::Between(_));
    match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => {
            operands.extend([left.as_mut(), right.as_mut()]);
        }
        Expr::Between(Between { expr, low, high, .. }) => {
            operands.extend([expr.as_mut(), low.as_mut(), high.as_mut()]);
        }
        Expr::InList(InList { expr, list, .. }) => {
            operands.push(expr.as_mut());
            operands.extend(list);
        }
        Expr::Case(Case { expr, when_then_expr, else_expr }) => {
            if let Some(expr) = expr {
                let mut compared = vec![expr.as_mut()];
                compared.extend(when_then_expr.iter_mut().map(|(when, _)| when.as_mut()));
                make_alike(compared, true, schema)?;
            }
            operands.extend(when_then_expr.iter_mut().map(|(_, then)| then.as_mut()));
            operands.extend(else_expr.as_deref_mut());
        }
        Expr::ScalarFunction(call) if ALIKE.contains(&call.func.name()) => {
            operands.extend(&mut call.args);
        }
        Expr::InSubquery(InSubquery { expr, subquery, .. })
        | Expr::SetComparison(SetComparison { expr, subquery, .. }) => {
            compare_as_floats(expr, subquery, schema)?;
        }
        _ => {}
    }
    make_alike(operands, is_operator, schema)?;
    Ok(Transformed::yes(expr))
}

/// A value and the rows of a subquery that it is compared with.
fn compare_as_floats(value: &mut Expr, subquery: &mut Subquery, schema: &DFSchema) -> Result<()> {
    let Ok(kind) = value.get_type(schema) else { return Ok(()) };
    let rows = subquery.subquery.schema();
    let [row] = rows.fields().iter().as_slice() else { return Ok(()) };
    if kind.is_decimal() && row.data_type().is_floating() {
        *value = cast(std::mem::take(value), DataType::Float64);
    } else if kind.is_floating() && row.data_type().is_decimal() {
        let column = Expr::Column(Column::from(rows.qualified_field(0)));
        let float = cast(column, DataType::Float64).alias(row.name());
        let plan = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone());
        subquery.subquery = Arc::new(plan.project([float])?.build()?);
    }
    Ok(())
}

fn make_alike(operands: Vec<&mut Expr>, is_operator: bool, schema: &DFSchema) -> Result<()> {
    let fields = operands.iter().map(|operand| operand.to_field(schema).ok());
    let fields: Vec<Option<FieldRef>> = fields.map(|field| field.map(|(_, field)| field)).collect();
    let known = || fields.iter().flatten();
    let floats = known().any(|field| field.data_type().is_floating());
    let double = is_operator || known().any(|field| *field.data_type() == DataType::Float64);
    let float = if double { DataType::Float64 } else { DataType::Float32 };
    let time = known().find(|field| field.data_type().is_temporal());
    for (operand, field) in operands.into_iter().zip(&fields) {
        let Some(field) = field else { continue };
        if floats && field.data_type().is_decimal() {
            *operand = cast(std::mem::take(operand), float.clone());
        } else if let Some(time) = time
            && matches!(operand, Expr::Literal(ScalarValue::Utf8(Some(_)), None))
        {
            let to = SqlType::of_field(time).field("", true);
            let literal = Box::new(std::mem::take(operand));
            *operand = Expr::Cast(Cast::new_from_field(literal, Arc::new(to)));
        }
    }
    Ok(())
}
