//! Operators and type names that mean something else in PostgreSQL, as a query is planned.
//!
//! PostgreSQL chooses an operator by the types of its operands; where DataFusion has no operator
//! for them, or one with another meaning, a function of ours takes its place.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::functions_nested::expr_fn::array_element;
use datafusion::logical_expr::expr::{BinaryExpr, Cast, ScalarFunction};
use datafusion::logical_expr::planner::{
    ExprPlanner, PlannerResult, RawBinaryExpr, RawFieldAccessExpr, TypePlanner,
};
use datafusion::logical_expr::{
    Expr, GetFieldAccess, Operator, ScalarUDF, binary_expr, cast, lit, when,
};
use sqlparser::ast::{self, BinaryOperator};

use super::parse::type_named;
use crate::error::{SqlError, code};
use crate::expr::functions::{
    ARRAY_CONTAINS, FLOAT_DIVIDE, NUMERIC_DIVIDE, NUMERIC_MULTIPLY, function, operand_type,
};
use crate::types::SqlType;

/// Plans what PostgreSQL means by an operator.
#[derive(Debug)]
pub(super) struct Operators {
    /// `make_array` with the types of elements.
    pub(super) array: Arc<ScalarUDF>,
}

impl ExprPlanner for Operators {
    fn plan_array_literal(
        &self,
        elements: Vec<Expr>,
        _schema: &DFSchema,
    ) -> Result<PlannerResult<Vec<Expr>>> {
        let array = ScalarFunction::new_udf(Arc::clone(&self.array), elements);
        Ok(PlannerResult::Planned(Expr::ScalarFunction(array)))
    }

    fn plan_binary_op(
        &self,
        mut expr: RawBinaryExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawBinaryExpr>> {
        type_literal(&mut expr, schema)?;
        unpad(&mut expr, schema);
        read_literal(&mut expr, schema);
        check_operands(&expr, schema)?;
        if let Some(array) = concat_array(&expr, schema)? {
            return Ok(array);
        }
        // A parameter's type may not be known yet.
        let (left, right) = (operand_type(&expr.left, schema), operand_type(&expr.right, schema));
        let planned = match (left, right) {
            (Some(SqlType::Jsonb | SqlType::Json), Some(right)) => jsonb(&expr, schema, &right)?,
            (Some(_), Some(right @ SqlType::Jsonb)) if is_literal(&expr.left) => {
                jsonb(&expr, schema, &right)?
            }
            (Some(SqlType::Array(_) | SqlType::Text), _) if is_overlap(&expr) => None,
            (Some(SqlType::Array(_)), Some(SqlType::Array(_))) => arrays(&expr)?,
            (Some(left), Some(right)) => match times(&expr, &left, &right)? {
                None => other(&expr, &left, &right)?,
                planned => planned,
            },
            _ => None,
        };
        Ok(match planned {
            Some(planned) => PlannerResult::Planned(planned),
            None => PlannerResult::Original(expr),
        })
    }

    fn plan_field_access(
        &self,
        expr: RawFieldAccessExpr,
        schema: &DFSchema,
    ) -> Result<PlannerResult<RawFieldAccessExpr>> {
        let is_json = matches!(operand_type(&expr.expr, schema), Some(SqlType::Jsonb));
        match (&expr.field_access, is_json) {
            (GetFieldAccess::NamedStructField { name: ScalarValue::Utf8(Some(name)) }, true) => {
                let args = vec![expr.expr.clone(), lit(name.as_str())];
                Ok(PlannerResult::Planned(call("jsonb_object_field", args)?))
            }
            (GetFieldAccess::ListIndex { key }, true) => {
                let args = vec![expr.expr.clone(), (**key).clone()];
                let is_text = matches!(operand_type(key, schema), Some(SqlType::Text));
                let name = if is_text { "jsonb_object_field" } else { "jsonb_array_element" };
                Ok(PlannerResult::Planned(call(name, args)?))
            }
            (GetFieldAccess::ListIndex { key }, false) => match operand_type(&expr.expr, schema) {
                Some(SqlType::Array(_)) => {
                    let found = array_element(expr.expr.clone(), place_in_array(key)?);
                    Ok(PlannerResult::Planned(found))
                }
                _ => Ok(PlannerResult::Original(expr)),
            },
            _ => Ok(PlannerResult::Original(expr)),
        }
    }

    fn plan_substring(&self, args: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        Ok(PlannerResult::Planned(call("substring", args)?))
    }

    fn plan_overlay(&self, args: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        Ok(PlannerResult::Planned(call("overlay", args)?))
    }

    fn plan_extract(&self, args: Vec<Expr>) -> Result<PlannerResult<Vec<Expr>>> {
        Ok(PlannerResult::Planned(call("extract", args)?))
    }
}

/// A subscript, NULL where an array has nothing: DataFusion counts negative ones from the end.
fn place_in_array(key: &Expr) -> Result<Expr> {
    match key {
        Expr::Literal(ScalarValue::Int64(Some(1..)), _) => Ok(key.clone()),
        Expr::Literal(ScalarValue::Int64(_), _) => Ok(lit(ScalarValue::Int64(None))),
        key => when(key.clone().gt(lit(0)), key.clone()).end(),
    }
}

fn is_literal(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(ScalarValue::Utf8(Some(_)), None))
}

/// An array and NULL are the array; an array and a literal without a type are two arrays.
fn concat_array(
    expr: &RawBinaryExpr,
    schema: &DFSchema,
) -> Result<Option<PlannerResult<RawBinaryExpr>>> {
    if expr.op != BinaryOperator::StringConcat {
        return Ok(None);
    }
    let is_null = |operand: &Expr| matches!(operand, Expr::Literal(ScalarValue::Null, _));
    let array = |operand: &Expr| match operand_type(operand, schema) {
        Some(array @ SqlType::Array(_)) => Some(array),
        _ => None,
    };
    let read = |literal: &Expr, array: &SqlType| {
        let field = Arc::new(array.field("", true));
        Expr::Cast(Cast { expr: Box::new(literal.clone()), field })
    };
    let RawBinaryExpr { op, left, right } = expr;
    Ok(match (array(left), array(right)) {
        (Some(_), None) if is_null(right) => Some(PlannerResult::Planned(left.clone())),
        (None, Some(_)) if is_null(left) => Some(PlannerResult::Planned(right.clone())),
        (Some(array), None) if is_literal(right) => {
            let right = read(right, &array);
            let arrays = RawBinaryExpr { op: op.clone(), left: left.clone(), right };
            Some(PlannerResult::Original(arrays))
        }
        (None, Some(array)) if is_literal(left) => {
            let left = read(left, &array);
            let arrays = RawBinaryExpr { op: op.clone(), left, right: right.clone() };
            Some(PlannerResult::Original(arrays))
        }
        _ => None,
    })
}

fn is_overlap(expr: &RawBinaryExpr) -> bool {
    expr.op == BinaryOperator::PGOverlap
}

/// In arithmetic, a literal without type takes the other operand's.
fn type_literal(expr: &mut RawBinaryExpr, schema: &DFSchema) -> Result<()> {
    let arithmetic = matches!(
        expr.op,
        BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
    );
    if !arithmetic {
        return Ok(());
    }
    let (left, right) = (operand_type(&expr.left, schema), operand_type(&expr.right, schema));
    let number = |other: &Expr, kind: &SqlType| match other {
        Expr::Literal(ScalarValue::Int64(Some(value)), _) if i32::try_from(*value).is_ok() => {
            DataType::Int32
        }
        _ => kind.to_arrow(),
    };
    match (left, right) {
        (Some(kind), _) if kind.is_number() && is_literal(&expr.right) => {
            let to = number(&expr.left, &kind);
            expr.right = cast(std::mem::take(&mut expr.right), to);
        }
        (_, Some(kind)) if kind.is_number() && is_literal(&expr.left) => {
            let to = number(&expr.right, &kind);
            expr.left = cast(std::mem::take(&mut expr.left), to);
        }
        _ => {}
    }
    Ok(())
}

/// A literal that is compared with a value that lies as text, but in a form of its own, is brought
/// to that form; one beside an interval is an interval, for which there is an operator of ours.
fn read_literal(expr: &mut RawBinaryExpr, schema: &DFSchema) {
    if !compares(&expr.op) {
        return;
    }
    let formed = |operand: &Expr| match operand_type(operand, schema) {
        Some(
            kind @ (SqlType::Jsonb
            | SqlType::Uuid
            | SqlType::Interval
            | SqlType::Boolean
            | SqlType::Bytea
            | SqlType::Array(_)),
        ) => Some(kind),
        _ => None,
    };
    let read = |operand: &mut Expr, kind: &SqlType| {
        let field = Arc::new(kind.field("", true));
        let expr = Box::new(std::mem::take(operand));
        *operand = Expr::Cast(Cast { expr, field });
    };
    if let Some(kind) = formed(&expr.left).filter(|_| is_literal(&expr.right)) {
        read(&mut expr.right, &kind);
    } else if let Some(kind) = formed(&expr.right).filter(|_| is_literal(&expr.left)) {
        read(&mut expr.left, &kind);
    }
}

/// Blanks at the end of a char(n) do not count, and are not kept: nor do those of a literal that
/// one is compared with.
fn unpad(expr: &mut RawBinaryExpr, schema: &DFSchema) {
    if !compares(&expr.op) {
        return;
    }
    let is_char = |operand: &Expr| matches!(operand_type(operand, schema), Some(SqlType::Char(_)));
    let (left, right) = (is_char(&expr.left), is_char(&expr.right));
    for (operand, other) in [(&mut expr.left, right), (&mut expr.right, left)] {
        if let (Expr::Literal(ScalarValue::Utf8(Some(text)), None), true) = (operand, other) {
            text.truncate(text.trim_end_matches(' ').len());
        }
    }
}

fn compares(op: &BinaryOperator) -> bool {
    matches!(
        op,
        BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
            | BinaryOperator::AtArrow
            | BinaryOperator::ArrowAt
    )
}

/// Numbers and texts are not compared with one another.
fn check_operands(expr: &RawBinaryExpr, schema: &DFSchema) -> Result<()> {
    if !compares(&expr.op) {
        return Ok(());
    }
    let (Some(left), Some(right)) =
        (operand_type(&expr.left, schema), operand_type(&expr.right, schema))
    else {
        return Ok(());
    };
    let is_text = |kind: &SqlType, operand: &Expr| {
        matches!(kind, SqlType::Text | SqlType::Varchar(_)) && !is_literal(operand)
    };
    let mixed = left.is_number() && is_text(&right, &expr.right)
        || right.is_number() && is_text(&left, &expr.left);
    if !mixed {
        return Ok(());
    }
    let named = |kind: &SqlType, operand: &Expr| match (kind, operand) {
        (_, Expr::Literal(ScalarValue::Int64(Some(value)), _)) if i32::try_from(*value).is_ok() => {
            "integer".to_owned()
        }
        (SqlType::Numeric(_), _) => "numeric".to_owned(),
        (SqlType::Varchar(_), _) => "character varying".to_owned(),
        (kind, _) => kind.to_string(),
    };
    let message = format!(
        "operator does not exist: {} {} {}",
        named(&left, &expr.left),
        expr.op,
        named(&right, &expr.right)
    );
    Err(SqlError::new(code::UNDEFINED_FUNCTION, message)
        .hint(
            "No operator matches the given name and argument types. \
             You might need to add explicit type casts.",
        )
        .into())
}

/// Operators with a JSON value on the left.
fn jsonb(expr: &RawBinaryExpr, schema: &DFSchema, right: &SqlType) -> Result<Option<Expr>> {
    let is_json = matches!(operand_type(&expr.left, schema), Some(SqlType::Json));
    let index = matches!(right, SqlType::SmallInt | SqlType::Integer | SqlType::BigInt);
    let list = matches!(right, SqlType::Array(_));
    let name = match &expr.op {
        BinaryOperator::Arrow if index => "jsonb_array_element",
        BinaryOperator::Arrow => "jsonb_object_field",
        BinaryOperator::LongArrow if index => "jsonb_array_element_text",
        BinaryOperator::LongArrow => "jsonb_object_field_text",
        BinaryOperator::HashArrow if is_json => return operator(expr, "json_at"),
        BinaryOperator::HashArrow => "jsonb_at",
        BinaryOperator::HashLongArrow => "jsonb_at_text",
        _ if is_json => return Ok(None),
        BinaryOperator::AtArrow => "jsonb_contains",
        BinaryOperator::ArrowAt => "jsonb_contained",
        BinaryOperator::Question => "jsonb_exists",
        BinaryOperator::QuestionPipe => "jsonb_exists_any",
        BinaryOperator::QuestionAnd => "jsonb_exists_all",
        BinaryOperator::AtQuestion => "jsonb_path_exists_opr",
        BinaryOperator::AtAt => "jsonb_path_match_opr",
        BinaryOperator::StringConcat => "jsonb_concat",
        BinaryOperator::Minus if index => "jsonb_delete_index",
        BinaryOperator::Minus if list => "jsonb_delete_keys",
        BinaryOperator::Minus => "jsonb_delete_key",
        BinaryOperator::HashMinus => "jsonb_delete_path",
        _ => return Ok(None),
    };
    match name.strip_prefix("jsonb_") {
        Some(rest) if is_json && !name.starts_with("jsonb_at") => {
            operator(expr, &format!("json_{rest}"))
        }
        _ => operator(expr, name),
    }
}

/// Operators with arrays on both sides.
fn arrays(expr: &RawBinaryExpr) -> Result<Option<Expr>> {
    match &expr.op {
        BinaryOperator::AtArrow => operator(expr, ARRAY_CONTAINS),
        BinaryOperator::ArrowAt => {
            call(ARRAY_CONTAINS, vec![expr.right.clone(), expr.left.clone()]).map(Some)
        }
        _ => Ok(None),
    }
}

/// Operators of dates, times and intervals.
fn times(expr: &RawBinaryExpr, left: &SqlType, right: &SqlType) -> Result<Option<Expr>> {
    use SqlType::{Date, Interval, Timestamp, Timestamptz};
    let swapped = || vec![expr.right.clone(), expr.left.clone()];
    match (&expr.op, left, right) {
        (BinaryOperator::Minus, Timestamptz, Timestamptz | Timestamp | Date)
        | (BinaryOperator::Minus, Timestamp | Date, Timestamptz) => {
            operator(expr, "timestamptz_difference")
        }
        (BinaryOperator::Minus, Timestamp, Timestamp | Date)
        | (BinaryOperator::Minus, Date, Timestamp) => operator(expr, "timestamp_difference"),
        (BinaryOperator::Minus, Timestamptz, SqlType::Text) if is_literal(&expr.right) => {
            operator(expr, "timestamptz_difference")
        }
        (BinaryOperator::Minus, Timestamp, SqlType::Text) if is_literal(&expr.right) => {
            operator(expr, "timestamp_difference")
        }
        (BinaryOperator::Minus, Date, Date) => operator(expr, "date_difference"),
        (BinaryOperator::Minus, Date, SqlType::Text) if is_literal(&expr.right) => {
            operator(expr, "date_difference")
        }
        (BinaryOperator::Plus, Timestamp | Timestamptz | Interval, SqlType::Text)
        | (BinaryOperator::Minus, Interval, SqlType::Text)
            if is_literal(&expr.right) =>
        {
            let interval = cast(expr.right.clone(), Interval.to_arrow());
            add_interval(expr, left, &expr.left, interval)
        }
        (BinaryOperator::Plus, SqlType::Text, Timestamp | Timestamptz | Interval)
            if is_literal(&expr.left) =>
        {
            let interval = cast(expr.left.clone(), Interval.to_arrow());
            add_interval(expr, right, &expr.right, interval)
        }
        (BinaryOperator::Plus | BinaryOperator::Minus, Date, Interval) => {
            let op = match expr.op {
                BinaryOperator::Plus => Operator::Plus,
                _ => Operator::Minus,
            };
            let midnight = cast(expr.left.clone(), Timestamp.to_arrow());
            Ok(Some(binary_expr(midnight, op, expr.right.clone())))
        }
        (BinaryOperator::Plus, Interval, Date) => {
            let midnight = cast(expr.right.clone(), Timestamp.to_arrow());
            Ok(Some(binary_expr(midnight, Operator::Plus, expr.left.clone())))
        }
        (BinaryOperator::Plus, Timestamptz, Interval) => operator(expr, "timestamptz_plus"),
        (BinaryOperator::Plus, Interval, Timestamptz) => {
            call("timestamptz_plus", swapped()).map(Some)
        }
        (BinaryOperator::Minus, Timestamptz, Interval) => operator(expr, "timestamptz_minus"),
        (BinaryOperator::Multiply, Interval, number) if number.is_number() => {
            operator(expr, "interval_times")
        }
        (BinaryOperator::Multiply, number, Interval) if number.is_number() => {
            call("interval_times", swapped()).map(Some)
        }
        (BinaryOperator::Divide, Interval, number) if number.is_number() => {
            operator(expr, "interval_over")
        }
        (op, Interval, Interval) => {
            let op = match op {
                BinaryOperator::Eq => Operator::Eq,
                BinaryOperator::NotEq => Operator::NotEq,
                BinaryOperator::Lt => Operator::Lt,
                BinaryOperator::LtEq => Operator::LtEq,
                BinaryOperator::Gt => Operator::Gt,
                BinaryOperator::GtEq => Operator::GtEq,
                _ => return Ok(None),
            };
            let length = |side: &Expr| call("interval_length", vec![side.clone()]);
            Ok(Some(binary_expr(length(&expr.left)?, op, length(&expr.right)?)))
        }
        _ => Ok(None),
    }
}

/// A sum or a difference of a moment or an interval with an interval that was a literal.
fn add_interval(
    expr: &RawBinaryExpr,
    kind: &SqlType,
    value: &Expr,
    interval: Expr,
) -> Result<Option<Expr>> {
    let typed = RawBinaryExpr { op: expr.op.clone(), left: value.clone(), right: interval };
    let planned = times(&typed, kind, &SqlType::Interval)?;
    let op = match expr.op {
        BinaryOperator::Minus => Operator::Minus,
        _ => Operator::Plus,
    };
    Ok(planned.or_else(|| Some(binary_expr(typed.left, op, typed.right))))
}

fn other(expr: &RawBinaryExpr, left: &SqlType, right: &SqlType) -> Result<Option<Expr>> {
    let negated = |planned: Option<Expr>| planned.map(|planned| Expr::Not(Box::new(planned)));
    match &expr.op {
        BinaryOperator::Divide => divide(expr, left, right),
        BinaryOperator::Multiply => multiply(expr, left, right),
        BinaryOperator::PGExp => operator(expr, "power"),
        BinaryOperator::PGRegexMatch => operator(expr, "regex_matches"),
        BinaryOperator::PGRegexIMatch => operator(expr, "regex_matches_any_case"),
        BinaryOperator::PGRegexNotMatch => operator(expr, "regex_matches").map(negated),
        BinaryOperator::PGRegexNotIMatch => operator(expr, "regex_matches_any_case").map(negated),
        BinaryOperator::PGStartsWith => operator(expr, "starts_with"),
        _ => Ok(None),
    }
}

fn divide(expr: &RawBinaryExpr, left: &SqlType, right: &SqlType) -> Result<Option<Expr>> {
    if !left.is_number() || !right.is_number() {
        return Ok(None);
    }
    let floating = |kind: &SqlType| matches!(kind, SqlType::Real | SqlType::Double);
    let numeric = |kind: &SqlType| matches!(kind, SqlType::Numeric(_));
    if floating(left) || floating(right) {
        operator(expr, FLOAT_DIVIDE)
    } else if numeric(left) || numeric(right) {
        operator(expr, NUMERIC_DIVIDE)
    } else {
        Ok(None)
    }
}

/// The product of a numeric without a modifier has none either, whatever the other's scale.
fn multiply(expr: &RawBinaryExpr, left: &SqlType, right: &SqlType) -> Result<Option<Expr>> {
    let floating = |kind: &SqlType| matches!(kind, SqlType::Real | SqlType::Double);
    let plain = [left, right].contains(&&SqlType::Numeric(None));
    if !plain || ![left, right].into_iter().all(|kind| kind.is_number() && !floating(kind)) {
        return Ok(None);
    }
    operator(expr, NUMERIC_MULTIPLY)
}

/// Products and quotients whose operands were parameters without a type yet.
pub(super) fn with_types(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else {
        return Ok(Transformed::no(expr));
    };
    let raw = |op| RawBinaryExpr { op, left: (*left).clone(), right: (*right).clone() };
    let kinds = operand_type(&left, schema).zip(operand_type(&right, schema));
    let planned = match (op, kinds) {
        (Operator::Multiply, Some((one, other))) => {
            multiply(&raw(BinaryOperator::Multiply), &one, &other)?
        }
        (Operator::Divide, Some((one, other))) => {
            divide(&raw(BinaryOperator::Divide), &one, &other)?
        }
        _ => None,
    };
    Ok(match planned {
        Some(planned) => Transformed::yes(planned),
        None => Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })),
    })
}

/// The function in the operator's place.
fn operator(expr: &RawBinaryExpr, name: &str) -> Result<Option<Expr>> {
    call(name, vec![expr.left.clone(), expr.right.clone()]).map(Some)
}

fn call(name: &str, args: Vec<Expr>) -> Result<Expr> {
    Ok(Expr::ScalarFunction(ScalarFunction::new_udf(function(name)?, args)))
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
