//! TRUNCATE: all rows go, page by page.

use std::ops::Bound;
use std::sync::Arc;

use super::DmlResult;
use super::changes::Changes;
use super::context::Context;
use super::environment::{blocking, resolve};
use super::target::{Intent, Target, check_writable};
use super::transaction::Transaction;
use crate::catalog::Object;
use crate::catalog::pg::LockMode;
use crate::catalog::privilege::Privileges;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::Truncate;
use crate::serving::QueryContext;

/// Entries read at a time.
const PAGE_ENTRIES: usize = 8192;

/// Runs a TRUNCATE as a part of `transaction`: of all its tables, or of none.
pub async fn truncate(
    context: &Context,
    transaction: &mut Transaction,
    query: &QueryContext,
    statement: &Truncate,
) -> SqlResult<DmlResult> {
    let (objects, notices) = emptied(context, transaction, query, statement).await?;
    let mut numbered = Vec::new();
    for object in &objects {
        numbered.extend(query.catalog.owned_sequences(object.id).cloned());
    }
    let mut emptied = Vec::with_capacity(objects.len());
    let mut bytes = 0;
    let rows = transaction.passing_rows();
    for object in objects {
        let Some((_, rows)) = rows.iter().find(|(id, _)| *id == object.id) else { continue };
        let target = Target::new(object, Arc::clone(rows))?;
        let mut changes = Changes::default();
        let mut from = None;
        loop {
            let page_target = target.clone();
            (changes, from) = blocking(move || page(&page_target, changes, from)).await?;
            transaction.check_size(bytes + changes.bytes(), &context.limits)?;
            if from.is_none() {
                break;
            }
        }
        bytes += changes.bytes();
        emptied.push((target.object.id, changes));
    }
    for (object, changes) in emptied {
        transaction.apply(object, changes).await?;
    }
    if statement.restart_identity {
        let sequences = Arc::clone(&context.sequences);
        let restart = blocking(move || sequences.restart(numbered)).await?;
        transaction.restart(restart);
    }
    Ok(DmlResult { rows: 0, returning: None, notices })
}

/// The tables that a statement empties, locked, and what is said of those that it does not name.
async fn emptied(
    context: &Context,
    transaction: &mut Transaction,
    query: &QueryContext,
    statement: &Truncate,
) -> SqlResult<(Vec<Arc<Object>>, Vec<String>)> {
    loop {
        let catalog = (context.catalog)();
        let mut objects: Vec<Arc<Object>> = Vec::with_capacity(statement.tables.len());
        for table in &statement.tables {
            let object = resolve(query, table)?;
            if objects.iter().all(|known| known.id != object.id) {
                objects.push(object);
            }
        }
        let mut notices = Vec::new();
        let mut next = 0;
        while let Some(object) = objects.get(next).cloned() {
            next += 1;
            for (child, _) in catalog.referring(object.id) {
                if objects.iter().any(|known| known.id == child.id) {
                    continue;
                }
                if !statement.cascade {
                    return Err(referenced(&object, child));
                }
                notices.push(format!("truncate cascades to table \"{}\"", child.name.name));
                objects.push(Arc::clone(child));
            }
        }
        for object in &objects {
            query.check_writes(object, Privileges::TRUNCATE)?;
            check_writable(object, Intent::Change)?;
        }
        // In the order of their ids, lest two statements wait for each other.
        let mut ordered: Vec<&Arc<Object>> = objects.iter().collect();
        ordered.sort_unstable_by_key(|object| object.id);
        for object in ordered {
            transaction.lock(context, object, LockMode::Exclusive).await?;
        }
        // While it waited, a foreign key may have come.
        if Arc::ptr_eq(&catalog, &(context.catalog)()) {
            return Ok((objects, notices));
        }
    }
}

/// 0A000: rows of a table that is not emptied refer to it.
fn referenced(object: &Object, child: &Object) -> SqlError {
    let (name, child) = (&object.name.name, &child.name.name);
    let message = "cannot truncate a table referenced in a foreign key constraint";
    SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
        .detail(format!("Table \"{child}\" references \"{name}\"."))
        .hint(format!("Truncate table \"{child}\" at the same time, or use TRUNCATE ... CASCADE."))
}

/// Takes away a page of rows, and tells where the next begins.
fn page(
    target: &Target,
    mut changes: Changes,
    from: Option<Vec<u8>>,
) -> SqlResult<(Changes, Option<Vec<u8>>)> {
    let from = from.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let entries = target.rows.page(from, None, PAGE_ENTRIES)?;
    for (key, _) in entries.page.entries() {
        changes.delete(key);
    }
    let rows = target.layout.decode(entries.page.entries())?;
    changes.went(rows.batch().clone());
    Ok((changes, entries.resume))
}
