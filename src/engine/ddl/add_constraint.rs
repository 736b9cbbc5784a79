//! `ALTER TABLE ... ADD CHECK`, `ADD FOREIGN KEY`, `VALIDATE CONSTRAINT`, and their end:
//! constraints that come to a table with rows, and that no index enforces.
//!
//! What must hold: no statement writes while the rows are looked through, and those that waited see
//! the constraint.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::alter_table::{altered, skipped};
use super::authority::Deed;
use super::constraint::{Place, add_check, add_foreign_key};
use super::role::Edit;
use super::{DdlOutcome, Names};
use crate::catalog::constraint::{Check, ForeignKey};
use crate::catalog::{Catalog, Object};
use crate::clock;
use crate::engine::locks::{Held, Owner};
use crate::engine::{Engine, dml, jobs};
use crate::error::{About, SqlError, SqlResult, code};
use crate::expr::Checks;
use crate::planner;
use crate::planner::statement::{AlterTable, NewCheck, NewForeignKey};
use crate::state::Snapshot;
use crate::task;
use crate::types::{ObjectId, TableId};

/// Stored rows that are looked at together.
const PAGE_ROWS_MAX: usize = 8192;

/// What a table with rows gets.
#[derive(Debug, Clone, Copy)]
pub(super) enum Added<'a> {
    Check(&'a NewCheck),
    ForeignKey(&'a NewForeignKey),
}

/// What rows must be looked through for.
enum Kept {
    Check(Check),
    ForeignKey(ForeignKey),
}

impl Engine {
    /// Adds a constraint to the table of a statement.
    pub(super) async fn add_to_rows(
        self: &Arc<Self>,
        statement: &AlterTable,
        new: Added<'_>,
        names: &Names,
        cancel: &CancellationToken,
    ) -> SqlResult<DdlOutcome> {
        let deed = Deed::OwnColumn(&statement.table);
        let _one_at_a_time = self.permitted_unless(cancel, deed, names).await?;
        let catalog = self.catalog();
        let Some(table) = altered(&catalog, statement, "ADD CONSTRAINT", names)? else {
            return Ok(skipped(statement));
        };
        let mut edit = Edit::new(&catalog);
        let _held = self.add_to_table(&mut edit, table.id, new, names).await?;
        edit.apply(|catalog| catalog.with_statement(table.id))?;
        self.finish_edit(edit).await?;
        Ok(DdlOutcome::default())
    }

    /// Adds a constraint to a table in an edit, if its rows keep to it. Nobody writes them for as
    /// long as the locks are held that it gives: until the edit is finished.
    pub(super) async fn add_to_table(
        self: &Arc<Self>,
        edit: &mut Edit,
        table: ObjectId,
        new: Added<'_>,
        names: &Names,
    ) -> SqlResult<Vec<Held>> {
        let (kept, validated) = match new {
            Added::Check(new) => {
                (Kept::Check(add_check(edit, table, new, names, Place::Existing)?), new.validated)
            }
            Added::ForeignKey(new) => {
                let key = add_foreign_key(edit, table, new, names)?;
                (Kept::ForeignKey(key), new.validated)
            }
        };
        let held = self.keep_out(table, &kept, names.owner).await?;
        if validated {
            self.look_through(&edit.catalog, table, kept).await?;
        }
        Ok(held)
    }

    /// `VALIDATE CONSTRAINT`.
    pub(super) async fn validate_constraint(
        self: &Arc<Self>,
        statement: &AlterTable,
        name: &str,
        names: &Names,
        cancel: &CancellationToken,
    ) -> SqlResult<DdlOutcome> {
        let deed = Deed::OwnColumn(&statement.table);
        let _one_at_a_time = self.permitted_unless(cancel, deed, names).await?;
        let catalog = self.catalog();
        let Some(table) = altered(&catalog, statement, "VALIDATE CONSTRAINT", names)? else {
            return Ok(skipped(statement));
        };
        let mut changed = Object::clone(table);
        let constraints = changed.constraints_mut().into_iter();
        let mut kept = None;
        for constraints in constraints {
            for check in constraints.checks.iter_mut().filter(|check| check.name == name) {
                check.validated = true;
                kept = Some(Kept::Check(check.clone()));
            }
            for key in constraints.foreign_keys.iter_mut().filter(|key| key.name == name) {
                key.validated = true;
                kept = Some(Kept::ForeignKey(key.clone()));
            }
        }
        let Some(kept) = kept else {
            return Err(no_such(&catalog, table, name));
        };
        let _held = self.keep_out(table.id, &kept, names.owner).await?;
        self.look_through(&catalog, table.id, kept).await?;
        let mut edit = Edit::new(&catalog);
        edit.apply(|catalog| catalog.with_changed(changed))?;
        self.finish_edit(edit).await?;
        Ok(DdlOutcome::default())
    }

    /// Takes a constraint away that no index enforces. It is the caller's turn.
    pub(super) async fn drop_from_rows(
        self: &Arc<Self>,
        catalog: &Catalog,
        table: &Object,
        name: &str,
        owner: Owner,
    ) -> SqlResult<DdlOutcome> {
        // What a transaction leaves for its end is asked before.
        let _held = self.locks.seize_for(owner, table.id).await?;
        let mut changed = Object::clone(table);
        if let Some(constraints) = changed.constraints_mut() {
            constraints.remove(name);
        }
        let mut edit = Edit::new(catalog);
        edit.apply(|catalog| catalog.with_changed(changed))?;
        edit.apply(|catalog| catalog.with_statement(table.id))?;
        self.finish_edit(edit).await?;
        Ok(DdlOutcome::default())
    }

    /// Nobody writes the tables of a constraint for as long as the result is held, and all that was
    /// written is committed.
    async fn keep_out(&self, table: ObjectId, kept: &Kept, owner: Owner) -> SqlResult<Vec<Held>> {
        let mut tables = BTreeSet::from([table]);
        if let Kept::ForeignKey(key) = kept {
            tables.insert(key.references);
        }
        let mut held = Vec::with_capacity(tables.len());
        for table in tables {
            held.push(self.locks.seize_for(owner, table).await?);
        }
        self.settled().await?;
        Ok(held)
    }

    /// Fails if a row of the table does not keep to a constraint.
    async fn look_through(
        self: &Arc<Self>,
        catalog: &Catalog,
        table: ObjectId,
        kept: Kept,
    ) -> SqlResult<()> {
        let gone = || SqlError::internal("a table that is gone");
        let table = catalog.object(table).map(Arc::clone).ok_or_else(gone)?;
        let (catalog, snapshot) = (Arc::new(catalog.clone()), self.snapshot());
        let context = self.dml_context();
        let looking = task::spawn_blocking(move || match kept {
            Kept::Check(check) => {
                let (name, columns) = (&table.name.name, &table.columns);
                let checks = std::slice::from_ref(&check);
                let now = clock::wall();
                match planner::plan_checks_at(&catalog, now, name, columns, checks)? {
                    Some(checks) => check_rows(&snapshot, &table, &checks, &check),
                    None => Ok(()),
                }
            }
            Kept::ForeignKey(key) => dml::check_references(&context, &catalog, &table, &key),
        });
        looking.await.map_err(|panic| SqlError::internal(format!("a constraint: {panic}")))?
    }
}

/// 42704.
fn no_such(catalog: &Catalog, table: &Object, name: &str) -> SqlError {
    let relation = &table.name.name;
    if catalog.has_constraint(table, name) {
        let message = format!(
            "constraint \"{name}\" of relation \"{relation}\" is not a foreign key or check \
             constraint"
        );
        return SqlError::new(code::WRONG_OBJECT_TYPE, message);
    }
    let message = format!("constraint \"{name}\" of relation \"{relation}\" does not exist");
    SqlError::new(code::UNDEFINED_OBJECT, message)
}

fn check_rows(
    snapshot: &Snapshot,
    table: &Object,
    checks: &Checks,
    check: &Check,
) -> SqlResult<()> {
    let layout = jobs::layout(table)?;
    let mut last: Option<Vec<u8>> = None;
    loop {
        let from = last.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let page = snapshot.page(TableId::contents(table.id), from, None, PAGE_ROWS_MAX)?;
        let rows = layout.decode(page.entries())?.batch().clone();
        let visible = rows.project(&table.places())?;
        if checks.failing(visible.columns(), rows.num_rows())?.is_some() {
            let (name, relation) = (&check.name, &table.name.name);
            let message = format!(
                "check constraint \"{name}\" of relation \"{relation}\" is violated by some row"
            );
            return Err(SqlError::new(code::CHECK_VIOLATION, message).about(About {
                schema: Some(table.name.schema.clone()),
                table: Some(relation.clone()),
                constraint: Some(name.clone()),
                ..About::default()
            }));
        }
        if !page.more {
            return Ok(());
        }
        last = page.last_key().map(<[u8]>::to_vec);
    }
}
