//! A node of the plan becomes an operator.

use arrow::datatypes::SchemaRef;

use super::aggregate::Aggregate;
use super::batch::nullable;
use super::map::Map;
use super::materialize::Materialize;
use super::union::Union;
use super::{Operator, OperatorError};
use crate::error::SqlError;
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
        NodeKind::Join(_) => return Err(SqlError::unsupported("JOIN in a view").into()),
        NodeKind::Aggregate(aggregate) => {
            let operator = (job.object, node.id);
            let input = only(inputs)?;
            Box::new(Aggregate::new(aggregate, operator, input, schema, store)?)
        }
    }))
}

fn only(inputs: Vec<SchemaRef>) -> Result<SchemaRef, OperatorError> {
    <[SchemaRef; 1]>::try_from(inputs)
        .map(|[input]| input)
        .map_err(|inputs| OperatorError::Invariant(format!("{} inputs, not one", inputs.len())))
}
