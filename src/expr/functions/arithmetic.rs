//! `+`, `-`, `*`, `/` and negation of integers that notice when their result is out of range, where
//! DataFusion's wrap around, and `+`, `-`, `*` of floats that notice when it is infinite. An
//! analyzer rule puts them in place once all types are decided, so that queries, bound parameters
//! and views all have them.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::kernels::numeric;
use arrow::datatypes::{DataType, Float32Type, Float64Type};
use arrow::error::ArrowError;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{BinaryExpr, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, LogicalPlan, Operator, ScalarFunctionArgs, ScalarUDF,
    ScalarUDFImpl, Signature, Volatility, lit,
};
use datafusion::optimizer::AnalyzerRule;

use super::divide::on_arrays;
use crate::error::{SqlError, code};
use crate::types::key::canonical_column;

/// One of the four operators.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Checked {
    operator: Operator,
    signature: Signature,
}

impl Checked {
    fn new(operator: Operator) -> Self {
        let types = vec![
            DataType::Int16,
            DataType::Int32,
            DataType::Int64,
            DataType::Float32,
            DataType::Float64,
        ];
        Self { operator, signature: Signature::uniform(2, types, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &'static str {
        match self.operator {
            Operator::Plus => "int_add",
            Operator::Minus => "int_sub",
            Operator::Divide => "int_div",
            _ => "int_mul",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        on_arrays(args, |left, right, _| self.apply(left, right))
    }
}

impl Checked {
    fn apply(&self, left: &ArrayRef, right: &ArrayRef) -> Result<ArrayRef> {
        let result = match self.operator {
            Operator::Plus => numeric::add(left, right),
            Operator::Minus => numeric::sub(left, right),
            Operator::Divide => numeric::div(left, right),
            _ => numeric::mul(left, right),
        };
        if left.data_type().is_floating() {
            let result = result?;
            return match overflows(&result, left, right) {
                true => {
                    let message = "value out of range: overflow";
                    Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message).into())
                }
                false => Ok(canonical_column(&result)),
            };
        }
        result.map_err(|error| match error {
            ArrowError::ArithmeticOverflow(_) => {
                let name = match left.data_type() {
                    DataType::Int16 => "smallint",
                    DataType::Int32 => "integer",
                    _ => "bigint",
                };
                let message = format!("{name} out of range");
                SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message).into()
            }
            other => other.into(),
        })
    }
}

/// Whether floats gave an infinity that neither operand was.
fn overflows(result: &ArrayRef, left: &ArrayRef, right: &ArrayRef) -> bool {
    let infinite = |values: &ArrayRef, row: usize| match values.data_type() {
        DataType::Float32 => values.as_primitive::<Float32Type>().value(row).is_infinite(),
        _ => values.as_primitive::<Float64Type>().value(row).is_infinite(),
    };
    (0..result.len()).any(|row| {
        result.is_valid(row)
            && infinite(result, row)
            && !infinite(left, row)
            && !infinite(right, row)
    })
}

/// Replaces arithmetic of integers and floats by [`Checked`].
#[derive(Debug)]
pub(super) struct CheckArithmetic {
    add: Arc<ScalarUDF>,
    subtract: Arc<ScalarUDF>,
    multiply: Arc<ScalarUDF>,
    divide: Arc<ScalarUDF>,
}

impl CheckArithmetic {
    pub(super) fn new() -> Self {
        let function = |operator| Arc::new(ScalarUDF::from(Checked::new(operator)));
        Self {
            add: function(Operator::Plus),
            subtract: function(Operator::Minus),
            multiply: function(Operator::Multiply),
            divide: function(Operator::Divide),
        }
    }

    pub(super) fn functions(&self) -> [Arc<ScalarUDF>; 4] {
        [&self.add, &self.subtract, &self.multiply, &self.divide].map(Arc::clone)
    }

    fn check(&self, expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
        expr.transform_up(|expr| {
            let expr = match self.negative(expr, schema)? {
                negative if negative.transformed => return Ok(negative),
                other => other.data,
            };
            let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else {
                return Ok(Transformed::no(expr));
            };
            let function = match op {
                Operator::Plus => &self.add,
                Operator::Minus => &self.subtract,
                Operator::Multiply => &self.multiply,
                Operator::Divide => &self.divide,
                _ => return Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right }))),
            };
            let checked = left.get_type(schema).is_ok_and(|left_type| {
                let float = matches!(left_type, DataType::Float32 | DataType::Float64);
                (matches!(left_type, DataType::Int16 | DataType::Int32 | DataType::Int64)
                    || (float && op != Operator::Divide))
                    && right.get_type(schema).is_ok_and(|right_type| right_type == left_type)
            });
            if !checked {
                return Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })));
            }
            let call = ScalarFunction::new_udf(Arc::clone(function), vec![*left, *right]);
            Ok(Transformed::yes(Expr::ScalarFunction(call)))
        })
    }
}

impl CheckArithmetic {
    /// A sign before a number is a subtraction from zero, which gives no −0; integer literals are
    /// not negated here.
    fn negative(&self, expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
        let Expr::Negative(inner) = expr else { return Ok(Transformed::no(expr)) };
        let zero = match inner.get_type(schema) {
            Ok(DataType::Float32) => Some(lit(0_f32)),
            Ok(DataType::Float64) => Some(lit(0_f64)),
            _ if matches!(*inner, Expr::Literal(..)) => None,
            Ok(DataType::Int16) => Some(lit(0_i16)),
            Ok(DataType::Int32) => Some(lit(0_i32)),
            Ok(DataType::Int64) => Some(lit(0_i64)),
            _ => None,
        };
        let Some(zero) = zero else { return Ok(Transformed::no(Expr::Negative(inner))) };
        let call = ScalarFunction::new_udf(Arc::clone(&self.subtract), vec![zero, *inner]);
        Ok(Transformed::yes(Expr::ScalarFunction(call)))
    }
}

impl AnalyzerRule for CheckArithmetic {
    fn name(&self) -> &'static str {
        "check_arithmetic"
    }

    fn analyze(&self, plan: LogicalPlan, _config: &ConfigOptions) -> Result<LogicalPlan> {
        let checked = plan.transform_up_with_subqueries(|plan| {
            let mut schema = merge_schema(&plan.inputs());
            if let LogicalPlan::TableScan(scan) = &plan {
                schema.merge(&DFSchema::try_from_qualified_schema(
                    scan.table_name.clone(),
                    &scan.source.schema(),
                )?);
            }
            let names = NamePreserver::new(&plan);
            plan.map_expressions(|expr| {
                let name = names.save(&expr);
                Ok(self.check(expr, &schema)?.update_data(|expr| name.restore(expr)))
            })
        })?;
        Ok(checked.data)
    }
}
