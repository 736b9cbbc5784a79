//! INTERSECT and EXCEPT, which DataFusion plans as null-safe semi and anti joins.
//!
//! ```text
//! counted(L, R)    =  Γ[row; l = count from L, r = count from R](L ∪ R)
//! INTERSECT ALL    =  each row of counted min(l, r) times
//! EXCEPT ALL       =  each row of counted max(l - r, 0) times
//! ```
//!
//! Without ALL the joins are right, but for the types of the columns: they are those of both sides.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, NullEquality, NullHandling, Result, UnnestOptions};
use datafusion::logical_expr::type_coercion::binary::type_union_coercion;
use datafusion::logical_expr::{
    Aggregate, Distinct, Expr, Join, JoinType, LogicalPlan, Union, Unnest, cast, lit, when,
};

use super::expression::{columns_of, filter, null, project, project_as};
use super::tools::Tools;

/// The right plan of a set operation; `None` for a join that is none, or is right.
pub(super) fn mended(node: &Join, tools: &Tools<'_>) -> Result<Option<LogicalPlan>> {
    if !is_set_operation(node) {
        return Ok(None);
    }
    if matches!(node.left.as_ref(), LogicalPlan::Distinct(Distinct::All(_))) {
        // One row of each value on the left: with ALL the answer is the same.
        return distinct_types(node);
    }
    let counted = counted(node, tools)?;
    let (rows, [left, right]) = counted.columns;
    let times = match node.join_type {
        JoinType::LeftSemi => when(left.clone().lt(right.clone()), left).otherwise(right)?,
        _ => left - right,
    };
    let plan = filter(counted.plan, vec![times.clone().gt(lit(0_i64))])?;
    let name = tools.fresh("times");
    let series = tools.call("generate_series", vec![lit(1_i64), times])?;
    let mut exprs = rows.clone();
    exprs.push(series.alias(&name));
    let options = UnnestOptions::new().with_null_handling(NullHandling::Drop);
    let column = Column::new_unqualified(name);
    let plan = Unnest::try_new(Arc::new(project(plan, exprs)?), vec![column], options)?;
    Ok(Some(project_as(LogicalPlan::Unnest(plan), rows, &node.schema)?))
}

/// A set operation whose rows are told apart by the keys that `key_of` gives for some columns;
/// `None` if the join is none, or no column has a key.
pub(in crate::planner) fn keyed(
    node: &Join,
    tools: &Tools<'_>,
    key_of: &dyn Fn(Expr, &DFSchema) -> Result<Transformed<Expr>>,
) -> Result<Option<LogicalPlan>> {
    if !is_set_operation(node) {
        return Ok(None);
    }
    let mut any = false;
    let mut on = Vec::new();
    for (left, right) in node.on.clone() {
        let left = key_of(left, node.left.schema())?;
        let right = key_of(right, node.right.schema())?;
        any |= left.transformed && right.transformed;
        on.push((left.data, right.data));
    }
    if !any {
        return Ok(None);
    }
    if !matches!(node.left.as_ref(), LogicalPlan::Distinct(Distinct::All(_))) {
        // It groups by the columns, and so by the keys.
        return mended(node, tools);
    }
    let node = Join { on, ..node.clone() };
    Ok(Some(distinct_types(&node)?.unwrap_or(LogicalPlan::Join(node))))
}

/// Keys are all the columns of both sides, in order, and nothing else is asked.
fn is_set_operation(node: &Join) -> bool {
    let column = |expr: &Expr, index: usize, side: &LogicalPlan| {
        matches!(expr, Expr::Column(column)
            if side.schema().maybe_index_of_column(column) == Some(index))
    };
    matches!(node.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && node.null_equality == NullEquality::NullEqualsNull
        && node.filter.is_none()
        && node.on.len() == node.left.schema().fields().len()
        && node.on.len() == node.right.schema().fields().len()
        && node.on.iter().enumerate().all(|(index, (left, right))| {
            column(left, index, &node.left) && column(right, index, &node.right)
        })
}

/// The type that a column of both sides has.
fn common_type(node: &Join, index: usize) -> Option<DataType> {
    let left = node.left.schema().field(index).data_type();
    let right = node.right.schema().field(index).data_type();
    if left == right { None } else { type_union_coercion(left, right) }
}

fn distinct_types(node: &Join) -> Result<Option<LogicalPlan>> {
    let columns = columns_of(&node.schema);
    let types: Vec<_> = (0..columns.len()).map(|index| common_type(node, index)).collect();
    if types.iter().all(Option::is_none) {
        return Ok(None);
    }
    let exprs = columns.into_iter().zip(types).map(|(column, common)| match common {
        Some(common) => cast(column, common),
        None => column,
    });
    let exprs = exprs.collect();
    Ok(Some(project_as(LogicalPlan::Join(node.clone()), exprs, &node.schema)?))
}

/// The rows of both sides, each once, with how often each side has it.
struct Counted {
    plan: LogicalPlan,
    columns: (Vec<Expr>, [Expr; 2]),
}

fn counted(node: &Join, tools: &Tools<'_>) -> Result<Counted> {
    let fields = node.left.schema().fields();
    let names: Vec<_> = fields.iter().map(|field| tools.fresh(field.name())).collect();
    let marks = [tools.fresh("left"), tools.fresh("right")];
    let side = |plan: &LogicalPlan, marked: [Expr; 2]| {
        let values = columns_of(plan.schema()).into_iter().chain(marked);
        let exprs = values.zip(names.iter().chain(&marks)).map(|(expr, name)| expr.alias(name));
        let exprs = exprs.collect();
        Ok::<_, datafusion::error::DataFusionError>(Arc::new(project(plan.clone(), exprs)?))
    };
    let one = || lit(1_i64);
    let none = || cast(null(), DataType::Int64);
    let union = Union::try_new_with_loose_types(vec![
        side(&node.left, [one(), none()])?,
        side(&node.right, [none(), one()])?,
    ])?;
    let column = |name: &String| Expr::Column(Column::new_unqualified(name));
    let rows: Vec<Expr> = names.iter().map(column).collect();
    let counts = marks.each_ref().map(|mark| tools.fresh(mark));
    let aggregates = marks
        .iter()
        .zip(&counts)
        .map(|(mark, count)| {
            Ok(tools.aggregate("count", vec![column(mark)], Vec::new())?.alias(count))
        })
        .collect::<Result<_>>()?;
    let union = Arc::new(LogicalPlan::Union(union));
    let plan = Aggregate::try_new(union, rows.clone(), aggregates)?;
    let columns = (rows, counts.each_ref().map(column));
    Ok(Counted { plan: LogicalPlan::Aggregate(plan), columns })
}
