//! The job of an index: the rows of its object, columns in another order, kept under another key.

use std::sync::Arc;

use super::place::place_by_hash;
use super::tree::Tree;
use crate::catalog::{Catalog, Object};
use crate::error::{SqlError, SqlResult};
use crate::graph::Job;

/// The graph that fills `index` and keeps it.
pub fn plan_index(catalog: &Catalog, index: &Object) -> SqlResult<Job> {
    let kind = index
        .index()
        .ok_or_else(|| SqlError::internal(format!("{} is no index", index.name.name)))?;
    let on = catalog
        .object(kind.on)
        .ok_or_else(|| SqlError::internal(format!("object {} is gone", kind.on.0)))?;
    // It knows the columns that there were when it was made, and calls them as they were called: so
    // its plan stays what it was.
    let width = if kind.width == 0 { kind.order.len() } else { kind.width };
    let mut known = on.known_up_to(width);
    for (place, column) in kind.order.iter().zip(&index.columns) {
        if let Some(known) = known.column_at(*place).and_then(|one| known.columns.get_mut(one)) {
            known.name.clone_from(&column.name);
        }
    }
    let tree = Tree { key: index.key(), ..Tree::scan(Arc::new(known)).select(&kind.order) };
    let fragments = place_by_hash(tree, index.distribution())?;
    Ok(Job { object: index.id, fragments, parallelism: kind.parallelism, fail_on_error: false })
}
