//! Operators and type names that mean something else in PostgreSQL, as a query is planned.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr, TypePlanner};
use datafusion::logical_expr::{Expr, ExprSchemable, ScalarUDF, cast};
use sqlparser::ast;

use super::parse::type_named;

/// Plans `/` and `^`.
#[derive(Debug)]
pub(super) struct Operators {
    pub(super) numeric_divide: Arc<ScalarUDF>,
    pub(super) float_divide: Arc<ScalarUDF>,
    pub(super) power: Arc<ScalarUDF>,
}

impl ExprPlanner for Operators {
    fn plan_binary_op(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        match expr.op {
            ast::BinaryOperator::Divide => self.divide(expr, schema),
            ast::BinaryOperator::PGExp => {
                let args = [expr.left, expr.right].map(|arg| cast(arg, DataType::Float64));
                Ok(PlannerResult::Planned(call(&self.power, args)))
            }
            _ => Ok(PlannerResult::Original(expr)),
        }
    }
}

impl Operators {
    fn divide(
        &self,
        expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        // A parameter's type may not be known yet.
        let types = [&expr.left, &expr.right].map(|operand| operand.get_type(schema).ok());
        let [Some(left), Some(right)] = types else {
            return Ok(PlannerResult::Original(expr));
        };
        if !left.is_numeric() || !right.is_numeric() {
            return Ok(PlannerResult::Original(expr));
        }
        let function = if left.is_floating() || right.is_floating() {
            &self.float_divide
        } else if left.is_decimal() || right.is_decimal() {
            &self.numeric_divide
        } else {
            return Ok(PlannerResult::Original(expr));
        };
        Ok(PlannerResult::Planned(call(function, [expr.left, expr.right])))
    }
}

fn call(function: &Arc<ScalarUDF>, args: [Expr; 2]) -> Expr {
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::clone(function), args.into()))
}

/// Names of types mean PostgreSQL's types.
#[derive(Debug)]
pub(super) struct Types;

impl TypePlanner for Types {
    fn plan_type_field(&self, sql_type: &ast::DataType) -> Result<Option<FieldRef>> {
        let sql_type = type_named(&sql_type.to_string())?;
        Ok(Some(Arc::new(sql_type.field("", true))))
    }
}
