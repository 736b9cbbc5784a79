//! Rows in place of others: the writing half of UPDATE and of ON CONFLICT DO UPDATE.
//!
//! ```text
//!  table' = table − old + new        with every key of table' once
//! ```
//!
//! Uniqueness is asked of the end of the statement, so `SET id = id + 1` works whatever the order.

use arrow::array::{RecordBatch, UInt32Array};

use super::changes::Changes;
use super::target::Target;
use crate::error::SqlResult;

/// Rows before and after, one for one, with the table's stored schema.
#[derive(Debug, Clone)]
pub(super) struct Replacement {
    pub(super) old: RecordBatch,
    pub(super) new: RecordBatch,
}

/// Adds `replacements` to what the statement changes. May block for the disk.
pub(super) fn replace(
    target: &Target,
    changes: &mut Changes,
    replacements: Vec<Replacement>,
) -> SqlResult<()> {
    let mut changed = Vec::with_capacity(replacements.len());
    for replacement in replacements {
        changed.push(without_unchanged(target, replacement)?);
    }
    for Replacement { old, .. } in &changed {
        for key in target.layout.keys(old)? {
            changes.delete(&key);
        }
    }
    for Replacement { old, new } in changed {
        add(target, changes, &new)?;
        changes.replaced(old, new);
    }
    Ok(())
}

/// Puts rows whose keys must be free after all deletions of the statement.
fn add(target: &Target, changes: &mut Changes, new: &RecordBatch) -> SqlResult<()> {
    let keys = target.layout.keys(new)?;
    let moved: Vec<Vec<u8>> =
        keys.iter().filter(|key| changes.get(key).is_none()).cloned().collect();
    let mut found = target.rows.get_many(&moved)?.into_iter();
    let values = target.layout.values(new)?;
    // `found` answers, in order, for the keys that the statement had not touched before this batch.
    let taken: Vec<bool> = keys
        .iter()
        .map(|key| match changes.get(key) {
            None => found.next().flatten().is_some(),
            Some(_) => false,
        })
        .collect();
    for (row, key) in keys.iter().enumerate() {
        if taken[row] || matches!(changes.get(key), Some(Some(_))) {
            return Err(target.duplicate(new, row));
        }
        changes.put(key, values.row(row));
    }
    Ok(())
}

/// A row replaced by its like changes nothing: neither the table nor a view has to hear of it.
fn without_unchanged(target: &Target, replacement: Replacement) -> SqlResult<Replacement> {
    let Replacement { old, new } = &replacement;
    let (before, after) = (target.layout.values(old)?, target.layout.values(new)?);
    let differing: Vec<u32> = (0u32..)
        .zip(before.iter().zip(after.iter()))
        .filter(|(_, (before, after))| before != after)
        .map(|(row, _)| row)
        .collect();
    if differing.len() == old.num_rows() {
        return Ok(replacement);
    }
    let differing = UInt32Array::from(differing);
    Ok(Replacement {
        old: crate::types::take_rows(old, &differing)?,
        new: crate::types::take_rows(new, &differing)?,
    })
}
