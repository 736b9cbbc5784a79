//! `ALTER TABLE` of columns.
//!
//! All changes of one statement are one: first what would be is worked out, then rows are looked at
//! and, where they get values of their own, written, then the catalog says so, in one commit (with
//! CASCADE at a barrier, with what goes). Writers wait meanwhile.
//!
//! ```text
//!  writers wait ──> settled ──> places reserved ──> rows filled ──> ONE commit ──> writers go on
//!                               only if a column has a value of its own in each row
//! ```
//!
//! Nobody who reads the table sees any of it before that commit: what is filled lies behind the
//! places that anybody knows (`catalog::stored`). A server that dies in between leaves places that
//! nothing is at, and that are not used again.

mod add;
mod default;
mod drop;
mod identity;
mod not_null;
mod retype;
mod rows;

use std::sync::Arc;

use tokio::sync::MutexGuard;
use tokio_util::sync::CancellationToken;

use self::rows::Fill;
use super::alter_table::{altered, skipped};
use super::authority::Deed;
use super::rename::Readers;
use super::role::Edit;
use super::{DdlOutcome, Names, Notice};
use crate::catalog::object::Sink;
use crate::catalog::pg::LockMode;
use crate::catalog::stored::Shape;
use crate::catalog::{Column, Object, ObjectKind};
use crate::checkpoint::status::JobState;
use crate::engine::locks::Held;
use crate::engine::{Engine, boot, jobs};
use crate::error::{SqlError, SqlResult, code};
use crate::failpoint;
use crate::planner;
use crate::planner::statement::{AlterTable, ColumnChange, ColumnDef, ColumnRef};
use crate::types::ObjectId;

/// A table that nobody else changes or writes.
struct Stopped<'a> {
    _turn: MutexGuard<'a, ()>,
    /// None where rows do not matter.
    _writers: Option<Held>,
    table: Arc<Object>,
}

/// What a statement comes to.
struct Altering<'a> {
    engine: &'a Arc<Engine>,
    names: &'a Names,
    /// The table as it was.
    before: Arc<Object>,
    edit: Edit,
    /// What goes away.
    gone: Vec<ObjectId>,
    /// What rows get.
    fills: Vec<Fill>,
    /// Places where no row may have NULL, and the columns' names.
    required: Vec<(usize, String)>,
    notices: Vec<Notice>,
}

impl Engine {
    /// Changes columns of a table.
    pub(super) async fn alter_columns(
        self: &Arc<Self>,
        statement: &AlterTable,
        changes: &[&ColumnChange],
        names: &Names,
        cancel: &CancellationToken,
    ) -> SqlResult<DdlOutcome> {
        let stopped = self.stop_writers(statement, changes, names, cancel).await?;
        let Some(stopped) = stopped else { return Ok(skipped(statement)) };
        let mut altering = Altering {
            engine: self,
            names,
            edit: Edit::new(&self.catalog()),
            before: Arc::clone(&stopped.table),
            gone: Vec::new(),
            fills: Vec::new(),
            required: Vec::new(),
            notices: Vec::new(),
        };
        // As in PostgreSQL: what goes makes room for what comes.
        for change in in_order(changes) {
            altering.change(change)?;
        }
        let outcome = altering.finish().await;
        drop(stopped);
        outcome
    }

    /// The turn, and the table with its writers stopped; `None`: there is no such table, and that
    /// is well.
    async fn stop_writers(
        &self,
        statement: &AlterTable,
        changes: &[&ColumnChange],
        names: &Names,
        cancel: &CancellationToken,
    ) -> SqlResult<Option<Stopped<'_>>> {
        let deed = || Deed::OwnColumn(&statement.table);
        let mut waited: Option<(ObjectId, Held)> = None;
        loop {
            // Who waits for writers does not hold up other statements, and they not writers.
            let turn = match &waited {
                None => Some(self.permitted_unless(cancel, deed(), names).await?),
                Some(_) => self.permitted_now(deed(), names)?,
            };
            let Some(turn) = turn else {
                waited = None;
                continue;
            };
            let catalog = self.catalog();
            let Some(table) = altered(&catalog, statement, action(changes), names)? else {
                return Ok(None);
            };
            let table = catalog.object(table.id).map(Arc::clone);
            let table = table.ok_or_else(|| SqlError::internal("a table that is not there"))?;
            check_plain(&table, changes)?;
            if !changes.iter().any(|change| stops_writers(change)) {
                return Ok(Some(Stopped { _turn: turn, _writers: None, table }));
            }
            let writers = match waited.take().filter(|(object, _)| *object == table.id) {
                Some((_, writers)) => Some(writers),
                None => self.locks.try_acquire(names.owner, table.id, LockMode::Exclusive)?,
            };
            if let Some(writers) = writers {
                // So that all rows are in the snapshot.
                self.settled().await?;
                return Ok(Some(Stopped { _turn: turn, _writers: Some(writers), table }));
            }
            drop(turn);
            waited = tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    let message = "canceling statement due to user request";
                    return Err(SqlError::new(code::QUERY_CANCELED, message));
                }
                writers = self.locks.seize_for(names.owner, table.id) => Some((table.id, writers?)),
            };
        }
    }
}

/// Whether rows are looked at or written, or lie otherwise afterwards.
fn stops_writers(change: &ColumnChange) -> bool {
    !matches!(change, ColumnChange::SetDefault { .. } | ColumnChange::Nothing { .. })
}

/// Columns that go, those that become others, those that come, and the rest.
fn in_order<'a>(changes: &[&'a ColumnChange]) -> Vec<&'a ColumnChange> {
    let rank = |change: &&ColumnChange| match change {
        ColumnChange::Drop { .. } => 0,
        ColumnChange::SetType { .. } => 1,
        ColumnChange::Add { .. } => 2,
        _ => 3,
    };
    let mut ordered = changes.to_vec();
    ordered.sort_by_key(rank);
    ordered
}

/// What messages call the first of them.
fn action(changes: &[&ColumnChange]) -> &'static str {
    match changes.first() {
        None | Some(ColumnChange::Add { .. }) => "ADD COLUMN",
        Some(ColumnChange::Drop { .. }) => "DROP COLUMN",
        Some(ColumnChange::SetDefault { .. }) => "ALTER COLUMN ... SET DEFAULT",
        Some(ColumnChange::SetNotNull { not_null: true, .. }) => "ALTER COLUMN ... SET NOT NULL",
        Some(ColumnChange::SetNotNull { .. }) => "ALTER COLUMN ... DROP NOT NULL",
        Some(ColumnChange::SetType { .. }) => "ALTER COLUMN ... SET DATA TYPE",
        Some(ColumnChange::AddIdentity { .. }) => "ALTER COLUMN ... ADD IDENTITY",
        Some(ColumnChange::DropIdentity { .. }) => "ALTER COLUMN ... DROP IDENTITY",
        Some(ColumnChange::Nothing { .. }) => "ALTER COLUMN ... SET",
    }
}

/// Refuses what a connector would not know of.
fn check_plain(table: &Object, changes: &[&ColumnChange]) -> SqlResult<()> {
    let connector = match &table.kind {
        ObjectKind::Table(kind) => kind.connector.as_ref(),
        _ => None,
    };
    match connector {
        Some(_) if changes.iter().any(|change| stops_writers(change)) => {
            let what = format!("{} of a table with a connector", action(changes));
            Err(SqlError::unsupported(what)
                .detail("The connector finds the columns' values by their names.")
                .hint("A view can show other columns."))
        }
        _ => Ok(()),
    }
}

impl Altering<'_> {
    fn change(&mut self, change: &ColumnChange) -> SqlResult<()> {
        match change {
            ColumnChange::Add { column, if_not_exists, .. } => self.add(column, *if_not_exists),
            ColumnChange::Drop { column, if_exists, cascade } => {
                self.drop(column, *if_exists, *cascade)
            }
            ColumnChange::SetDefault { column, default } => {
                self.set_default(column, default.clone())
            }
            ColumnChange::SetNotNull { column, not_null } => self.set_not_null(column, *not_null),
            ColumnChange::SetType { column, sql_type, using } => {
                self.set_type(column, sql_type, using.as_deref())
            }
            ColumnChange::AddIdentity { column, numbering } => self.add_identity(column, numbering),
            ColumnChange::DropIdentity { column, if_exists } => {
                self.drop_identity(column, *if_exists)
            }
            ColumnChange::Nothing { column } => column_of(self.table()?, column).map(|_| ()),
        }
    }

    /// The table as it is so far.
    fn table(&self) -> SqlResult<&Arc<Object>> {
        let table = self.edit.catalog.object(self.before.id);
        table.ok_or_else(|| SqlError::internal("the table is not there any more"))
    }

    fn notice(&mut self, message: String) {
        self.notices.extend(DdlOutcome::notice(message).notices);
    }

    /// Has all that read the table go on to know the columns that they know.
    fn hold_readers(&mut self) -> SqlResult<()> {
        let table = Arc::clone(self.table()?);
        Readers::of(&self.edit, &[table.id]).hold(&mut self.edit, Some(&table))
    }

    /// Makes it so.
    async fn finish(mut self) -> SqlResult<DdlOutcome> {
        let engine = self.engine;
        let id = self.before.id;
        let gone = std::mem::take(&mut self.gone);
        if !gone.is_empty() {
            self.edit.apply(|catalog| catalog.without(&gone))?;
        }
        Readers::of(&self.edit, &[id]).show(&mut self.edit)?;
        self.check_plans().await?;
        let table = Arc::clone(self.table()?);
        if !self.fills.is_empty() {
            self.reserve(&table).await?;
        }
        let fills = std::mem::take(&mut self.fills);
        let required = std::mem::take(&mut self.required);
        if !fills.is_empty() || !required.is_empty() {
            rows::pass(engine, &self.before, &table, fills, required).await?;
        }
        failpoint::hit(failpoint::ALTER_COLUMNS);
        let Edit { catalog, changes } = self.edit;
        engine.take_away_from(Some(id), &gone, catalog, changes).await?;
        if let Some(inbox) = engine.inbox(id) {
            inbox.lie(jobs::layout(&table)?);
        }
        Ok(DdlOutcome { notices: self.notices })
    }

    /// Makes the places durable that rows are about to get values at.
    async fn reserve(&self, table: &Object) -> SqlResult<()> {
        let mut edit = Edit::new(&self.engine.catalog());
        Readers::of(&edit, &[table.id]).hold(&mut edit, Some(&self.before))?;
        let mut reserved = Object::clone(&self.before);
        if let ObjectKind::Table(kind) = &mut reserved.kind {
            let places = Shape::of(table).places;
            kind.shape = Some(Box::new(Shape { places, ..Shape::of(&self.before) }));
        }
        let layout = jobs::layout(&reserved)?;
        edit.apply(|catalog| catalog.with_changed(reserved))?;
        // A sequence of the statement keeps its place under its OID before it is in the catalog.
        edit.apply(|catalog| catalog.with_oids_of(&self.edit.catalog))?;
        self.engine.finish_edit(edit).await?;
        if let Some(inbox) = self.engine.inbox(table.id) {
            inbox.lie(layout);
        }
        failpoint::hit(failpoint::ALTER_RESERVED);
        Ok(())
    }

    /// Refuses what would have a job do other work than the one that its state is of.
    async fn check_plans(&self) -> SqlResult<()> {
        let catalog = Arc::new(self.edit.catalog.clone());
        let snapshot = self.engine.snapshot();
        for object in catalog.dependants(self.before.id) {
            let Some(object) = catalog.object(object) else { continue };
            let status = self.engine.coordinator.status().job(object.id);
            if matches!(status, Some(JobState::Suspended { .. })) {
                // It is dropped, or planned anew at the next start.
                continue;
            }
            let job = match &object.kind {
                ObjectKind::Index(_) => planner::plan_index(&catalog, object)?,
                _ if object.kept_query().is_some() => {
                    planner::plan_stored_view(&catalog, object).await?
                }
                _ => continue,
            };
            if snapshot.meta(&boot::fingerprint_key(object.id))? != Some(boot::fingerprint(&job)) {
                let (kind, name) = (object.kind_name(), &object.name.name);
                let what = format!("this change under {kind} \"{name}\"");
                return Err(SqlError::unsupported(what)
                    .detail("Its rows are computed in a way that rests on what would change.")
                    .hint(format!("Drop {kind} \"{name}\", and create it anew afterwards.")));
            }
        }
        Ok(())
    }
}

fn column_of(table: &Object, column: &ColumnRef) -> SqlResult<usize> {
    let found = table.columns.iter().position(|found| found.name == column.name);
    found.ok_or_else(|| no_column(table, &column.name))
}

fn no_column(table: &Object, column: &str) -> SqlError {
    let message = format!("column \"{column}\" of relation \"{}\" does not exist", table.name.name);
    SqlError::new(code::UNDEFINED_COLUMN, message)
}

/// Whether a sink of a whole table takes what lies at `place`: it goes on with the columns that it
/// found.
fn takes(object: &Object, sink: &Sink, place: usize) -> bool {
    match sink.places.is_empty() {
        true => place < object.columns.len(),
        false => sink.places.contains(&place),
    }
}

/// A column as a statement would declare it.
fn declared(column: &Column) -> ColumnDef {
    ColumnDef {
        name: column.name.clone(),
        sql_type: column.sql_type.clone(),
        not_null: column.not_null,
        default: column.default.clone(),
        generated: column.generated.clone(),
        numbering: None,
    }
}
