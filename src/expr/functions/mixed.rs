//! What values of different types are compared as, and chosen among as.
//!
//! - Floats beside numerics are floats. DataFusion takes both for decimals, which have neither NaN
//!   nor infinity, and so fails on them.
//!   In PostgreSQL an operator takes reals for doubles, a choice among several takes numerics for
//!   reals: `r = 0.1` is not `r IN (0.1)`.
//! - A literal without a type has that of the values beside it. DataFusion takes it for text, or
//!   reads it as a timestamp of nanoseconds, which end in 2262.
//! - Intervals are compared by their length, a month being 30 days and a day 24 hours; `jsonb` in
//!   PostgreSQL's order.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::expr::{
    Between, BinaryExpr, Case, InList, InSubquery, ScalarFunction, SetComparison,
};
use datafusion::logical_expr::{
    Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Operator, Projection, Subquery,
    binary_expr, cast,
};

use super::arrays::{ANY_EQUAL, comparing};
use super::install::function;
use super::noted::operand_type;
use super::order;
use super::row_order::{ROW_KEY, ROW_ORDER};
use super::untyped::{common_type, read_literal, stays_text, untyped_literal};
use crate::types::SqlType;

/// Functions that give one of their arguments, or an array of them, and what PostgreSQL's messages
/// call them.
const CHOICES: &[(&str, &str)] = &[
    ("coalesce", "COALESCE"),
    ("greatest", "GREATEST"),
    ("least", "LEAST"),
    ("make_array", "ARRAY"),
    ("nvl", "COALESCE"),
];

/// The mark of a row of columns beside a subquery, or that a subquery gives: the planner takes it
/// apart again.
pub const SUBQUERY_ROW: &str = "row of columns";

/// What several operands stand in.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// An operator between two of them.
    Operator,
    /// Something else that compares them.
    Comparison,
    /// A choice among them, by its name.
    Choice(&'static str),
}

/// An expression whose operands have types of one kind.
pub(super) fn alike(mut expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match &mut expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if op.supports_propagation() => {
            let mut operands = [left.as_mut(), right.as_mut()];
            make_alike(&mut operands, Place::Operator, schema)?;
            by_order(&mut operands, schema)?;
        }
        Expr::Between(Between { expr, low, high, .. }) => {
            let mut operands = [expr.as_mut(), low.as_mut(), high.as_mut()];
            make_alike(&mut operands, Place::Operator, schema)?;
            by_order(&mut operands, schema)?;
        }
        Expr::InList(InList { expr, list, .. }) => {
            let mut operands: Vec<&mut Expr> =
                std::iter::once(expr.as_mut()).chain(list.iter_mut()).collect();
            make_alike(&mut operands, Place::Comparison, schema)?;
            by_order(&mut operands, schema)?;
        }
        Expr::Case(Case { expr, when_then_expr, else_expr }) => {
            if let Some(expr) = expr {
                let mut compared = vec![expr.as_mut()];
                compared.extend(when_then_expr.iter_mut().map(|(when, _)| when.as_mut()));
                make_alike(&mut compared, Place::Operator, schema)?;
                by_order(&mut compared, schema)?;
            }
            let results = when_then_expr.iter_mut().map(|(_, then)| then.as_mut());
            let mut results: Vec<&mut Expr> = results.chain(else_expr.as_deref_mut()).collect();
            make_alike(&mut results, Place::Choice("CASE"), schema)?;
        }
        Expr::ScalarFunction(call) => return alike_arguments(expr_of(call), schema),
        Expr::InSubquery(InSubquery { expr, subquery, .. })
        | Expr::SetComparison(SetComparison { expr, subquery, .. }) => {
            compare_alike(expr, subquery, schema)?;
        }
        _ => {}
    }
    Ok(Transformed::yes(expr))
}

fn expr_of(call: &mut ScalarFunction) -> ScalarFunction {
    ScalarFunction { func: Arc::clone(&call.func), args: std::mem::take(&mut call.args) }
}

/// A call whose arguments have types of one kind, if it is one that needs it.
fn alike_arguments(mut call: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let name = call.func.name().to_owned();
    if let Some((_, construct)) = CHOICES.iter().find(|(choice, _)| *choice == name) {
        let mut operands: Vec<&mut Expr> = call.args.iter_mut().collect();
        make_alike(&mut operands, Place::Choice(construct), schema)?;
    } else if name == "nullif" {
        let mut operands: Vec<&mut Expr> = call.args.iter_mut().collect();
        make_alike(&mut operands, Place::Comparison, schema)?;
        let mut compared = call.args.clone();
        let mut operands: Vec<&mut Expr> = compared.iter_mut().collect();
        if by_order(&mut operands, schema)?
            && let [value, _] = call.args.as_slice()
            && let [left, right] = compared.as_slice()
        {
            let differs = binary_expr(left.clone(), Operator::IsDistinctFrom, right.clone());
            let when = vec![(Box::new(differs), Box::new(value.clone()))];
            return Ok(Transformed::yes(Expr::Case(Case::new(None, when, None))));
        }
    } else if name == ROW_ORDER {
        let columns = call.args.len() / 2;
        let (one, other) = call.args.split_at_mut(columns);
        for (one, other) in std::iter::zip(one, other) {
            let mut pair = [one, other];
            make_alike(&mut pair, Place::Choice("WITHIN GROUP"), schema)?;
            by_order(&mut pair, schema)?;
        }
    } else if name == ROW_KEY {
        for arg in &mut call.args {
            *arg = order_of(std::mem::take(arg), schema)?;
        }
    } else if let Some((_, elements)) = ELEMENTS.iter().find(|(function, _)| *function == name) {
        read_elements(&mut call.args, elements, schema)?;
    }
    let mut types = call.args.iter().filter_map(|arg| operand_type(arg, schema));
    let comparing = types.find_map(|sql_type| match sql_type {
        SqlType::Array(element) => comparing(&name, &element),
        _ => None,
    });
    if let Some(comparing) = comparing {
        call.func = function(&comparing)?;
    }
    Ok(Transformed::yes(Expr::ScalarFunction(call)))
}

/// Functions of an array and of elements: where the array is, and where the elements are.
type Elements = (usize, &'static [usize]);

const ELEMENTS: &[(&str, Elements)] = &[
    (ANY_EQUAL, (1, &[0])),
    ("array_append", (0, &[1])),
    ("array_position", (0, &[1])),
    ("array_positions", (0, &[1])),
    ("array_prepend", (1, &[0])),
    ("array_remove", (0, &[1])),
    ("array_replace", (0, &[1, 2])),
];

/// Literals beside an array are its elements, one beside an element is an array of such.
fn read_elements(args: &mut [Expr], places: &Elements, schema: &DFSchema) -> Result<()> {
    let (array, elements) = places;
    let known = |place: &usize| {
        let arg = args.get(*place).filter(|arg| untyped_literal(arg).is_none())?;
        let (_, field) = arg.to_field(schema).ok()?;
        (!field.data_type().is_null()).then(|| SqlType::of_field(&field))
    };
    let found = match known(array) {
        Some(SqlType::Array(element)) => Some(*element),
        Some(_) => None,
        None => elements.iter().find_map(known),
    };
    let Some(element) = found else { return Ok(()) };
    for place in elements.iter().chain([array]) {
        let Some(arg) = args.get_mut(*place) else { continue };
        let Some(literal) = untyped_literal(arg) else { continue };
        *arg = match place == array {
            true => read_literal(literal, &SqlType::Array(Box::new(element.clone()))),
            false => typed(literal, &element),
        };
    }
    Ok(())
}

/// A value and the rows of a subquery that it is compared with; both may be rows of columns.
fn compare_alike(value: &mut Expr, subquery: &mut Subquery, schema: &DFSchema) -> Result<()> {
    if let LogicalPlan::Projection(Projection { expr, input, .. }) = subquery.subquery.as_ref()
        && let [columns] = expr.as_slice()
        && let Expr::ScalarFunction(call) = columns.clone().unalias()
        && call.func.name() == SUBQUERY_ROW
        && let Expr::ScalarFunction(row) = &mut *value
        && row.func.name() == SUBQUERY_ROW
        && row.args.len() == call.args.len()
    {
        let pairs = std::iter::zip(&mut row.args, call.args);
        let compared =
            pairs.map(|(value, column)| Ok(with_value(value, column, input.schema(), schema)?.0));
        let compared = ScalarFunction::new_udf(call.func, compared.collect::<Result<_>>()?);
        let name = columns.schema_name().to_string();
        let compared = Expr::ScalarFunction(compared).alias(name);
        let plan = Projection::try_new(vec![compared], Arc::clone(input))?;
        subquery.subquery = Arc::new(LogicalPlan::Projection(plan));
        return Ok(());
    }
    let rows = Arc::clone(subquery.subquery.schema());
    if rows.fields().len() != 1 {
        return Ok(());
    }
    let column = Expr::Column(Column::from(rows.qualified_field(0)));
    let (compared, changed) = with_value(value, column, &rows, schema)?;
    if changed {
        let plan = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone());
        let plan = plan.project([compared.alias(rows.field(0).name())])?.build()?;
        subquery.subquery = Arc::new(plan);
    }
    Ok(())
}

/// What a value is compared with, made like it; and whether that is not the column as it was.
fn with_value(
    value: &mut Expr,
    column: Expr,
    rows: &DFSchema,
    schema: &DFSchema,
) -> Result<(Expr, bool)> {
    let (_, row) = column.to_field(rows)?;
    let Ok((_, field)) = value.to_field(schema) else { return Ok((column, false)) };
    if let Some(literal) = untyped_literal(value) {
        *value = typed(literal, &SqlType::of_field(&row));
    }
    let kind = field.data_type();
    if kind.is_decimal() && row.data_type().is_floating() {
        *value = cast(std::mem::take(value), DataType::Float64);
    } else if kind.is_floating() && row.data_type().is_decimal() {
        return Ok((cast(column, DataType::Float64), true));
    } else if let Some(by) = order_function(value, schema)
        && order_function(&column, rows) == Some(by)
    {
        *value = ordered(std::mem::take(value), by)?;
        return Ok((ordered(column, by)?, true));
    }
    Ok((column, false))
}

/// A literal beside values of a type.
fn typed(literal: Expr, beside: &SqlType) -> Expr {
    match beside {
        SqlType::Numeric(_) => read_literal(literal, &SqlType::Numeric(None)),
        other if stays_text(other) => literal,
        other => read_literal(literal, other),
    }
}

fn make_alike(operands: &mut [&mut Expr], place: Place, schema: &DFSchema) -> Result<()> {
    let fields = operands.iter().map(|operand| match untyped_literal(operand) {
        Some(_) => None,
        None => operand.to_field(schema).ok().map(|(_, field)| field),
    });
    let fields: Vec<Option<FieldRef>> = fields.collect();
    let known = || fields.iter().flatten();
    let floats = known().any(|field| field.data_type().is_floating());
    let is_operator = matches!(place, Place::Operator);
    let double = is_operator || known().any(|field| *field.data_type() == DataType::Float64);
    let float = if double { DataType::Float64 } else { DataType::Float32 };
    let mut common = SqlType::Unknown;
    for field in known().filter(|field| !field.data_type().is_null()) {
        let beside = SqlType::of_field(field);
        match (common_type(&common, &beside, construct(place)), place) {
            (Ok(wider), _) => common = wider,
            (Err(error), Place::Choice(_)) => return Err(error.into()),
            // An operator says itself what it is not for.
            (Err(_), _) => break,
        }
    }
    for (operand, field) in operands.iter_mut().zip(&fields) {
        if let Some(literal) = untyped_literal(operand) {
            **operand = typed(literal, &common);
        } else if floats && field.as_ref().is_some_and(|field| field.data_type().is_decimal()) {
            **operand = cast(std::mem::take(*operand), float.clone());
        }
    }
    Ok(())
}

fn construct(place: Place) -> &'static str {
    match place {
        Place::Choice(name) => name,
        Place::Operator | Place::Comparison => "operator",
    }
}

/// What `expr` is ordered by, where that is not its own value.
pub(super) fn order_of(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    match order_function(&expr, schema) {
        Some(function) => ordered(expr, function),
        None => Ok(expr),
    }
}

/// The function whose results are ordered, and equal, as the values are. Arrays whose elements are
/// equal as they are are so too: where their order counts, the planner sees to it
/// (`planner::orders`).
fn order_function(expr: &Expr, schema: &DFSchema) -> Option<&'static str> {
    let (_, field) = expr.to_field(schema).ok()?;
    order::equality_function(&SqlType::of_field(&field))
}

fn ordered(expr: Expr, by: &str) -> Result<Expr> {
    Ok(Expr::ScalarFunction(ScalarFunction::new_udf(function(by)?, vec![expr])))
}

/// Compares by what operands are ordered by, if all of them have the same. Whether that was done.
fn by_order(operands: &mut [&mut Expr], schema: &DFSchema) -> Result<bool> {
    let mut by = None;
    for operand in operands.iter() {
        let is_null = operand.get_type(schema).is_ok_and(|kind| kind.is_null());
        match (order_function(operand, schema), by) {
            (None, _) if is_null => {}
            (None, _) => return Ok(false),
            (Some(function), None) => by = Some(function),
            (Some(function), Some(other)) if function == other => {}
            (Some(_), Some(_)) => return Ok(false),
        }
    }
    let Some(by) = by else { return Ok(false) };
    for operand in operands.iter_mut() {
        if order_function(operand, schema).is_some() {
            **operand = ordered(std::mem::take(*operand), by)?;
        }
    }
    Ok(true)
}
