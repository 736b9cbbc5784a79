//! The locks that a statement needs: of its table, of those that its rows refer to, and of those
//! whose rows follow when its rows go.
//!
//! ```text
//!  writes rows                             Write
//!  may take unique keys away               Exclusive
//!  needs keys to stay that it refers to    KeyShare     beside Write, not beside Exclusive
//! ```
//!
//! What must hold: who adds a row that refers to another holds KeyShare of the other's table from
//! before it looks until it has entered its epoch, and who takes keys away holds Exclusive from
//! before it looks for rows that refer to them. All are taken in the order of the tables' ids, so
//! that two statements do not wait for each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::constraint::Action;
use crate::catalog::pg::LockMode;
use crate::catalog::{Catalog, Object, ObjectKind};
use crate::engine::dml::context::Context;
use crate::engine::dml::transaction::Transaction;
use crate::error::{SqlError, SqlResult, code};
use crate::types::ObjectId;

/// What a statement does to a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::engine::dml) struct Touch {
    pub(in crate::engine::dml) adds: bool,
    pub(in crate::engine::dml) removes: bool,
    /// The columns that it changes.
    pub(in crate::engine::dml) columns: BTreeSet<usize>,
}

impl Touch {
    fn removing() -> Self {
        Self { adds: false, removes: true, columns: BTreeSet::new() }
    }

    fn changing(columns: BTreeSet<usize>) -> Self {
        Self { adds: false, removes: false, columns }
    }

    /// The columns that change, those that are computed from others among them.
    fn changed(&self, table: &Object) -> BTreeSet<usize> {
        let mut changed = self.columns.clone();
        if !changed.is_empty() {
            let computed = table.columns.iter().enumerate();
            changed.extend(computed.filter(|(_, one)| one.generated.is_some()).map(|(at, _)| at));
        }
        changed
    }
}

/// Takes all locks that a statement needs, and gives the catalog of when it has them.
pub(in crate::engine::dml) async fn lock_all(
    context: &Context,
    transaction: &mut Transaction,
    object: &Object,
    touch: &Touch,
) -> SqlResult<Arc<Catalog>> {
    loop {
        let catalog = (context.catalog)();
        for (table, mode) in wanted(&catalog, object.id, touch) {
            let found = catalog.object(table).ok_or_else(|| {
                let message = format!("relation \"{}\" does not exist", object.name.name);
                SqlError::new(code::UNDEFINED_TABLE, message)
            })?;
            transaction.lock(context, found, mode).await?;
        }
        // While it waited, a foreign key may have come.
        if Arc::ptr_eq(&catalog, &(context.catalog)()) {
            return Ok(catalog);
        }
    }
}

fn wanted(catalog: &Catalog, target: ObjectId, touch: &Touch) -> BTreeMap<ObjectId, LockMode> {
    let mut locks = BTreeMap::new();
    let mut lock = |table: ObjectId, mode: LockMode| {
        let held = locks.entry(table).or_insert(mode);
        *held = mode.max(*held);
    };
    lock(target, LockMode::Write);
    let mut seen = BTreeSet::new();
    let mut open = vec![(target, touch.clone())];
    while let Some((id, touch)) = open.pop() {
        let Some(table) = catalog.object(id).filter(|_| seen.insert((id, touch.clone()))) else {
            continue;
        };
        let changed = touch.changed(table);
        let renames = changed.iter().any(|column| is_key(catalog, table, *column));
        let takes_keys = touch.removes || renames;
        lock(id, if takes_keys { LockMode::Exclusive } else { LockMode::Write });
        for key in table.foreign_keys() {
            if touch.adds || key.columns.iter().any(|column| changed.contains(column)) {
                lock(key.references, LockMode::KeyShare);
            }
        }
        for (child, key) in catalog.referring(id) {
            let changes = || Touch::changing(key.columns.iter().copied().collect());
            match key.on_delete {
                Action::Cascade if touch.removes => open.push((child.id, Touch::removing())),
                Action::SetNull | Action::SetDefault if touch.removes => {
                    open.push((child.id, changes()));
                }
                _ => {}
            }
            let renewed = key.referenced.iter().any(|column| changed.contains(column));
            if renewed && key.on_update.follows() {
                open.push((child.id, changes()));
            }
        }
    }
    locks
}

/// Whether a column is one of those that tell rows apart.
fn is_key(catalog: &Catalog, table: &Object, column: usize) -> bool {
    let primary = match &table.kind {
        ObjectKind::Table(kind) => kind.primary_key.contains(&column),
        _ => false,
    };
    let in_index = |index: &Arc<Object>| {
        let unique = index.index().filter(|index| index.unique);
        unique.is_some_and(|index| index.keys.iter().any(|key| key.column == column))
    };
    primary || catalog.indexes(table.id).any(in_index)
}
