//! A node of the plan becomes an operator.

use arrow::datatypes::SchemaRef;

use super::aggregate::Aggregate;
use super::batch::nullable;
use super::constant::Constant;
use super::expand::Expand;
use super::join::Join;
use super::map::Map;
use super::materialize::Materialize;
use super::recompute::Recompute;
use super::top_n::TopN;
use super::union::Union;
use super::window::Window;
use super::{Operator, OperatorError};
use crate::graph::{Job, Node, NodeKind};
use crate::state::Store;

/// The operator of `node`, whose inputs give rows with `input_schemas`; `None` for an input node,
/// which only passes on what arrives.
pub fn build(
    node: &Node,
    job: &Job,
    input_schemas: &[SchemaRef],
    store: &Store,
) -> Result<Option<Box<dyn Operator>>, OperatorError> {
    let schema = nullable(&node.schema);
    let inputs: Vec<SchemaRef> = input_schemas.iter().map(nullable).collect();
    Ok(Some(match &node.kind {
        NodeKind::Input(_) => return Ok(None),
        NodeKind::Map(map) => Box::new(Map::new(map, schema)),
        NodeKind::Union => Box::new(Union::new(schema)),
        NodeKind::Materialize(materialize) => {
            Box::new(Materialize::new(materialize, job.object, schema, store)?)
        }
        NodeKind::Join(join) => {
            let operator = (job.object, node.id);
            Box::new(Join::new(join, operator, exactly(inputs)?, schema, store)?)
        }
        NodeKind::Expand(plan) => {
            let [input] = exactly(inputs)?;
            Box::new(Expand::new(plan, &input, schema))
        }
        NodeKind::TopN(top) => {
            let operator = (job.object, node.id);
            Box::new(TopN::new(top, operator, schema, store)?)
        }
        NodeKind::Recompute(recompute) => {
            let operator = (job.object, node.id);
            Box::new(Recompute::new(recompute, operator, &inputs, schema, store)?)
        }
        NodeKind::Window(window) => {
            let operator = (job.object, node.id);
            let [input] = exactly(inputs)?;
            Box::new(Window::new(window, operator, &input, schema, store)?)
        }
        NodeKind::Constant(constant) => {
            Box::new(Constant::new(constant, (job.object, node.id), store))
        }
        NodeKind::Aggregate(aggregate) => {
            let operator = (job.object, node.id);
            let [input] = exactly(inputs)?;
            Box::new(Aggregate::new(aggregate, operator, input, schema, store)?)
        }
    }))
}

fn exactly<const N: usize>(inputs: Vec<SchemaRef>) -> Result<[SchemaRef; N], OperatorError> {
    let broken = |inputs: Vec<_>| format!("an operator with {} inputs, not {N}", inputs.len());
    <[SchemaRef; N]>::try_from(inputs).map_err(|inputs| OperatorError::Invariant(broken(inputs)))
}
