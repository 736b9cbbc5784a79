//! `unnest`: each row becomes one for each element of its arrays.

use std::sync::Arc;

use datafusion::logical_expr::Unnest;
use datafusion::physical_plan::unnest::{ListUnnest, UnnestExec};

use super::lower::Lowering;
use super::scalar::flowing_schema;
use super::tree::{Tree, TreeKind};
use crate::error::SqlResult;
use crate::expr::relation::{GivenExec, weighted};
use crate::graph::BatchPlan;

pub(super) fn lower(lowering: &mut Lowering<'_>, plan: &Unnest) -> SqlResult<Tree> {
    let input = lowering.lower(&plan.input)?;
    let schema = flowing_schema(&plan.schema);
    let lists = plan.list_type_columns.iter().map(|(index, unnesting)| ListUnnest {
        index_in_input_schema: *index,
        depth: unnesting.depth,
    });
    let unnest = UnnestExec::new(
        GivenExec::plan(0, weighted(&input.schema)),
        lists.collect(),
        plan.struct_type_columns.clone(),
        weighted(&schema),
        plan.options.clone(),
    )?;
    Ok(Tree {
        append_only: input.append_only,
        schema,
        key: Vec::new(),
        kind: TreeKind::Expand(BatchPlan(Arc::new(unnest)), Box::new(input)),
    })
}
