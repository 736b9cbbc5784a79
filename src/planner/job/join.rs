//! Inner joins on equal keys.

use std::sync::Arc;

use arrow::datatypes::Schema;
use datafusion::common::NullEquality;
use datafusion::logical_expr::{Expr, Join as LogicalJoin};
use datafusion::physical_expr::PhysicalExpr;

use super::lower::Lowering;
use super::scalar::{in_view, moved, physical};
use super::tree::{Tree, TreeKind, column_expr, column_of, nullable, sorted};
use crate::error::{SqlError, SqlResult};
use crate::graph::Join;

pub(super) fn lower(lowering: &mut Lowering<'_>, plan: &LogicalJoin) -> SqlResult<Tree> {
    if plan.on.is_empty() {
        return Err(in_view("a join without an equality between columns of its sides"));
    }
    let (left_on, right_on): (Vec<_>, Vec<_>) = plan.on.iter().cloned().unzip();
    let left = Side::lower(lowering, &plan.left, &left_on)?;
    let right = Side::lower(lowering, &plan.right, &right_on)?;
    for (&left_key, &right_key) in left.key.iter().zip(&right.key) {
        let left_type = left.tree.schema.field(left_key).data_type();
        let right_type = right.tree.schema.field(right_key).data_type();
        if left_type != right_type {
            let what = format!("a join of {left_type} with {right_type}");
            return Err(SqlError::internal(format!("{what} was not coerced")));
        }
    }
    // In the joined row, the left side's computed keys lie between the two sides' columns.
    let left_width = left.tree.schema.fields().len();
    let place = |column: usize| {
        if column < left.visible { column } else { column - left.visible + left_width }
    };
    let fields = left.tree.schema.fields().iter().chain(right.tree.schema.fields());
    let schema = nullable(&Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>())));
    let filter = match &plan.filter {
        Some(filter) => {
            Some(moved(physical(lowering.state, filter, &plan.schema)?, &schema, place))
        }
        None => None,
    };
    let shown: Vec<usize> = (0..left.visible + right.visible).map(place).collect();
    let joined = Tree {
        schema,
        key: key_of(&left, &right, left_width),
        append_only: left.tree.append_only && right.tree.append_only,
        kind: TreeKind::Join(
            Join {
                left_key: left.key,
                right_key: right.key,
                null_equal: plan.null_equality == NullEquality::NullEqualsNull,
                filter,
            },
            Box::new([left.tree, right.tree]),
        ),
    };
    Ok(joined.select(&shown))
}

/// A side of a join, with its key computed.
struct Side {
    tree: Tree,
    /// Columns of the key.
    key: Vec<usize>,
    /// Columns of the logical side; others come after them.
    visible: usize,
}

impl Side {
    fn lower(
        lowering: &mut Lowering<'_>,
        plan: &datafusion::logical_expr::LogicalPlan,
        on: &[Expr],
    ) -> SqlResult<Self> {
        let tree = lowering.lower(plan)?;
        let visible = plan.schema().fields().len();
        let width = tree.schema.fields().len();
        let keys = on
            .iter()
            .map(|expr| physical(lowering.state, expr, plan.schema()))
            .collect::<SqlResult<Vec<_>>>()?;
        let mut computed: Vec<Arc<dyn PhysicalExpr>> = Vec::new();
        let mut key = Vec::new();
        for expr in keys {
            key.push(column_of(&expr).unwrap_or_else(|| {
                computed.push(expr);
                width + computed.len() - 1
            }));
        }
        Ok(Self { tree: with_computed(tree, computed)?, key, visible })
    }
}

/// `tree` with more columns after its own.
fn with_computed(tree: Tree, computed: Vec<Arc<dyn PhysicalExpr>>) -> SqlResult<Tree> {
    if computed.is_empty() {
        return Ok(tree);
    }
    let mut fields: Vec<_> = nullable(&tree.schema).fields().iter().cloned().collect();
    for (index, expr) in computed.iter().enumerate() {
        let field = expr.return_field(&tree.schema)?;
        let field = field.as_ref().clone().with_name(format!("_key{index}")).with_nullable(true);
        fields.push(Arc::new(field));
    }
    let columns = (0..tree.schema.fields().len()).map(|column| column_expr(&tree.schema, column));
    let expressions = columns.chain(computed).collect();
    Ok(tree.project(expressions, Arc::new(Schema::new(fields))))
}

/// What identifies a joined row: both sides' keys; one side's is enough if the other side has at
/// the most one row for it.
fn key_of(left: &Side, right: &Side, left_width: usize) -> Vec<usize> {
    let one_right = !right.tree.key.is_empty() && is_subset(&right.tree.key, &right.key);
    let one_left = !left.tree.key.is_empty() && is_subset(&left.tree.key, &left.key);
    let of_left = left.tree.key.clone();
    let of_right: Vec<usize> = right.tree.key.iter().map(|column| column + left_width).collect();
    if of_left.is_empty() || of_right.is_empty() {
        return Vec::new();
    }
    if one_right {
        of_left
    } else if one_left {
        of_right
    } else {
        sorted([of_left, of_right].concat())
    }
}

fn is_subset(columns: &[usize], of: &[usize]) -> bool {
    columns.iter().all(|column| of.contains(column))
}
