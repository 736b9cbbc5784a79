//! Whether two queries are the same work: the same rows of the same objects by the same operators,
//! whatever columns are called on the way.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;

use super::super::syntax::Query;
use super::plan::{ViewSettings, plan_numbered};
use crate::catalog::Catalog;
use crate::error::SqlResult;
use crate::graph::{Fragment, Job, Join, Map, Node, NodeKind};

/// Whether two queries are surely the same work. What a batch plan does is not looked into, so of
/// queries that have one it is not sure.
pub(in crate::planner) fn same_work(
    catalog: &Catalog,
    one: (&Query, ViewSettings<'_>),
    other: (&Query, ViewSettings<'_>),
) -> SqlResult<bool> {
    let one = plan_numbered(catalog, one.1, one.0)?;
    let other = plan_numbered(catalog, other.1, other.0)?;
    Ok(same_job(&one, &other))
}

fn same_job(one: &Job, other: &Job) -> bool {
    one.fragments.len() == other.fragments.len()
        && one.fragments.iter().zip(&other.fragments).all(|(one, other)| same_fragment(one, other))
}

fn same_fragment(one: &Fragment, other: &Fragment) -> bool {
    one.distribution == other.distribution
        && one.inputs.len() == other.inputs.len()
        && one.inputs.iter().zip(&other.inputs).all(|(one, other)| {
            one.from == other.from
                && one.exchange == other.exchange
                && same_types(&one.schema, &other.schema)
        })
        && one.nodes.len() == other.nodes.len()
        && one.nodes.iter().zip(&other.nodes).all(|(one, other)| same_node(one, other))
}

fn same_node(one: &Node, other: &Node) -> bool {
    one.id == other.id
        && one.inputs == other.inputs
        && one.append_only == other.append_only
        && same_types(&one.schema, &other.schema)
        && same_kind(&one.kind, &other.kind)
}

fn same_types(one: &SchemaRef, other: &SchemaRef) -> bool {
    let types = |schema: &SchemaRef| {
        schema.fields().iter().map(|field| field.data_type().clone()).collect::<Vec<_>>()
    };
    types(one) == types(other)
}

fn same_kind(one: &NodeKind, other: &NodeKind) -> bool {
    match (one, other) {
        (NodeKind::Map(one), NodeKind::Map(other)) => same_map(one, other),
        (NodeKind::Join(one), NodeKind::Join(other)) => same_join(one, other),
        (NodeKind::Expand(_) | NodeKind::Window(_) | NodeKind::Recompute(_), _) => false,
        // What is drawn is not told by how it is shown.
        (NodeKind::Constant(constant), _) if constant.drawn => false,
        // The others know columns by their places alone.
        (one, other) => format!("{one:?}") == format!("{other:?}"),
    }
}

fn same_map(one: &Map, other: &Map) -> bool {
    let computed = |map: &Map| map.expressions.as_ref().map(|all| nameless_all(all));
    nameless_all(&one.predicates) == nameless_all(&other.predicates)
        && computed(one) == computed(other)
}

fn same_join(one: &Join, other: &Join) -> bool {
    let keys =
        |join: &Join| (join.kind, join.left_key.clone(), join.right_key.clone(), join.null_equal);
    let filter = |join: &Join| join.filter.as_ref().map(nameless);
    keys(one) == keys(other) && filter(one) == filter(other)
}

fn nameless_all(expressions: &[Arc<dyn PhysicalExpr>]) -> Vec<Option<String>> {
    expressions.iter().map(nameless).collect()
}

/// What an expression does, columns by their places; `None`: it cannot be said.
fn nameless(expression: &Arc<dyn PhysicalExpr>) -> Option<String> {
    let renamed = Arc::clone(expression).transform(|expr| {
        Ok(match expr.downcast_ref::<Column>() {
            Some(column) => Transformed::yes(Arc::new(Column::new("", column.index())) as _),
            None => Transformed::no(expr),
        })
    });
    Some(format!("{:?}", renamed.ok()?.data))
}
