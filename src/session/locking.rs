//! `SELECT ... FOR UPDATE` and `LOCK TABLE`: the transaction takes the write locks of tables before
//! it reads them.
//!
//! A lock is of a whole table, so what is locked is more than was asked for, and never less. Who
//! has the lock reads the newest rows, also those that are not durable yet: nobody can change them
//! until its transaction ends.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::outcome::Outcome;
use super::session::Session;
use crate::catalog::privilege::Privileges;
use crate::catalog::{Object, ObjectKind};
use crate::engine::dml;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::LockTable;
use crate::planner::{LockWait, RowLock};
use crate::serving::{NoRows, StoredRows};
use crate::types::ObjectId;

/// The rows of locked tables, for the query that has locked them.
pub(super) type LockedRows = Vec<(ObjectId, Arc<dyn StoredRows>)>;

impl Session {
    /// Takes the locks of a query.
    pub(super) async fn lock_rows(&mut self, locks: &[RowLock]) -> SqlResult<LockedRows> {
        if locks.is_empty() {
            return Ok(Vec::new());
        }
        self.check_writable("SELECT FOR UPDATE")?;
        let (mut locked, mut skipped) = (BTreeSet::new(), LockedRows::new());
        for lock in locks {
            let object = self.object(&lock.table)?;
            for table in self.lockable(&object)? {
                if self.take_lock(&table, lock.wait).await? {
                    locked.insert(table.id);
                } else {
                    // All of its rows are somebody else's.
                    skipped.push((table.id, Arc::new(NoRows)));
                }
            }
        }
        let mut rows = match &self.block.writes {
            Some(writes) => writes.rows(),
            None => Vec::new(),
        };
        rows.retain(|(table, _)| locked.contains(table));
        rows.extend(skipped);
        Ok(rows)
    }

    pub(super) async fn lock_tables(&mut self, lock: &LockTable) -> SqlResult<Outcome> {
        self.check_in_block("LOCK TABLE")?;
        for name in &lock.tables {
            // PostgreSQL does not say where in the statement it stands.
            let object = self.object(name).map_err(|error| SqlError { position: None, ..error })?;
            for table in self.lockable(&object)? {
                if lock.excludes_writers {
                    self.take_lock(&table, lock.wait).await?;
                }
            }
        }
        Ok(Outcome::Command("LOCK TABLE".to_owned()))
    }

    /// The tables whose rows `object` shows: itself, or those that a view reads.
    fn lockable(&self, object: &Arc<Object>) -> SqlResult<Vec<Arc<Object>>> {
        let catalog = self.engine.catalog();
        catalog.actor(self.current_user())?.check_relation(object, Privileges::UPDATE)?;
        match &object.kind {
            ObjectKind::Table(_) => Ok(vec![Arc::clone(object)]),
            ObjectKind::View(_) => {
                let (mut tables, mut next) = (Vec::new(), object.depends_on.clone());
                let mut seen = BTreeSet::new();
                while let Some(id) = next.pop() {
                    let Some(found) = catalog.object(id).filter(|_| seen.insert(id)) else {
                        continue;
                    };
                    match &found.kind {
                        ObjectKind::Table(_) => tables.push(Arc::clone(found)),
                        ObjectKind::View(_) => next.extend(&found.depends_on),
                        _ => {}
                    }
                }
                // Always in the same order, lest two sessions wait for each other.
                tables.sort_by_key(|table| table.id);
                Ok(tables)
            }
            _ => {
                let message =
                    format!("cannot lock rows in {} \"{}\"", object.kind_name(), object.name.name);
                Err(SqlError::new(code::WRONG_OBJECT_TYPE, message))
            }
        }
    }

    /// False if somebody else has the lock, and it was to be skipped then.
    async fn take_lock(&mut self, table: &Arc<Object>, wait: LockWait) -> SqlResult<bool> {
        let context = self.dml_context();
        let mut writes =
            self.block.writes.take().unwrap_or_else(|| dml::Transaction::begin(&context));
        let interrupts = Arc::clone(&self.interrupts);
        let taken = interrupts.race(writes.lock_table(&context, table, wait)).await;
        self.block.writes = Some(writes);
        match (taken?, wait) {
            (false, LockWait::Refuse) => {
                let message = format!("could not obtain lock on relation \"{}\"", table.name.name);
                Err(SqlError::new(code::LOCK_NOT_AVAILABLE, message))
            }
            (taken, _) => Ok(taken),
        }
    }
}
