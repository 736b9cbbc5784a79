//! `ALTER TABLE`: constraints that indexes enforce. Columns are `columns`'s.
//!
//! A primary key that is added is a unique index, NOT NULL columns, and the catalog saying so: rows
//! go on being told apart by their hidden id, so that nothing that reads the table is built again.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::add_constraint::Added;
use super::authority::Deed;
use super::constraint::definition_of;
use super::{DdlOutcome, Names, check_database, drop};
use crate::catalog::{Catalog, Object, ObjectKind, QualifiedName};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult, code};
use crate::planner;
use crate::planner::statement::{
    AlterTable, ColumnChange, ColumnRef, CreateIndex, IndexKey, NewConstraint, NewConstraints,
    TableChange,
};

impl Engine {
    /// Changes a table, one change after the other.
    pub async fn alter_table(
        self: &Arc<Self>,
        statement: &AlterTable,
        names: &Names,
        parallelism: usize,
        cancel: &CancellationToken,
    ) -> SqlResult<DdlOutcome> {
        let columns = statement.changes.iter().filter_map(|change| match change {
            TableChange::Column(change) => Some(change.as_ref()),
            _ => None,
        });
        let columns: Vec<&ColumnChange> = columns.collect();
        if columns.is_empty() {
            let all: Vec<&TableChange> = statement.changes.iter().collect();
            return self.alter_constraints(statement, &all, names, parallelism, cancel).await;
        }
        if columns.len() == statement.changes.len() && !columns.iter().any(|one| one.brings()) {
            return self.alter_columns(statement, &columns, names, cancel).await;
        }
        let catalog = self.catalog();
        let Some(before) = altered(&catalog, statement, "ADD COLUMN", names)? else {
            return Ok(skipped(statement));
        };
        let others = statement.changes.iter().filter(|one| !matches!(one, TableChange::Column(_)));
        let brought = columns.iter().flat_map(|change| constraints_of(change, before));
        let brought: Vec<TableChange> = brought.chain(others.cloned()).collect();
        // What was added can be taken away again, and nothing else.
        let undoable = columns.iter().all(|change| matches!(change, ColumnChange::Add { .. }))
            && brought.iter().all(is_addition);
        if !undoable {
            let what = "ALTER TABLE of columns and constraints in one statement";
            return Err(SqlError::unsupported(what).hint("Say them one after the other."));
        }
        let mut outcome = self.alter_columns(statement, &columns, names, cancel).await?;
        let brought: Vec<&TableChange> = brought.iter().collect();
        match self.alter_constraints(statement, &brought, names, parallelism, cancel).await {
            Ok(done) => outcome.notices.extend(done.notices),
            Err(error) => {
                let undo: Vec<ColumnChange> =
                    columns.iter().filter_map(|change| undone(change, before)).collect();
                let undo: Vec<&ColumnChange> = undo.iter().collect();
                let never = CancellationToken::new();
                if let Err(left) = self.alter_columns(statement, &undo, names, &never).await {
                    tracing::error!(table = %statement.table, %left, "columns stay");
                }
                return Err(error);
            }
        }
        Ok(outcome)
    }

    async fn alter_constraints(
        self: &Arc<Self>,
        statement: &AlterTable,
        changes: &[&TableChange],
        names: &Names,
        parallelism: usize,
        cancel: &CancellationToken,
    ) -> SqlResult<DdlOutcome> {
        let mut outcome = DdlOutcome::default();
        for change in changes {
            let done = match change {
                TableChange::AddConstraint(new) => {
                    self.add_constraint(statement, new, names, parallelism, cancel).await?
                }
                TableChange::AddCheck(new) => {
                    self.add_to_rows(statement, Added::Check(new), names, cancel).await?
                }
                TableChange::AddForeignKey(new) => {
                    self.add_to_rows(statement, Added::ForeignKey(new), names, cancel).await?
                }
                TableChange::ValidateConstraint(name) => {
                    self.validate_constraint(statement, name, names, cancel).await?
                }
                TableChange::DropConstraint { name, if_exists, cascade } => {
                    self.drop_constraint(statement, name, (*if_exists, *cascade), names).await?
                }
                TableChange::Column(_) => continue,
            };
            outcome.notices.extend(done.notices);
        }
        Ok(outcome)
    }

    async fn add_constraint(
        self: &Arc<Self>,
        statement: &AlterTable,
        new: &NewConstraint,
        names: &Names,
        parallelism: usize,
        cancel: &CancellationToken,
    ) -> SqlResult<DdlOutcome> {
        let beginning = {
            let deed = Deed::OwnColumn(&statement.table);
            let _one_at_a_time = self.permitted_unless(cancel, deed, names).await?;
            let catalog = self.catalog();
            let Some(table) = altered(&catalog, statement, "ADD CONSTRAINT", names)? else {
                return Ok(skipped(statement));
            };
            let index = index_of(&catalog, table, new)?;
            let name = index.name.as_deref().unwrap_or_default();
            let definition = definition_of(table, new, name);
            let kind = Some(new.primary);
            let making = (&index, kind);
            self.begin_index(&catalog, table, making, &definition, parallelism, names.owner).await?
        };
        let before = statement.table.clone();
        match self.finish_job(beginning, cancel).await {
            Err(error) if new.primary => {
                self.forget_not_null(&before, new, names).await;
                Err(error)
            }
            finished => finished,
        }
    }

    /// A primary key that came to nothing leaves no NOT NULL.
    async fn forget_not_null(&self, table: &planner::Name, new: &NewConstraint, names: &Names) {
        let _one_at_a_time = self.ddl.lock().await;
        let catalog = self.catalog();
        let (schema, name) = (table.schema.as_deref(), &table.name);
        let Some(table) = catalog.resolve(&names.search_path, schema, name) else { return };
        let mut changed = Object::clone(table);
        for column in &mut changed.columns {
            let named = new.columns.iter().any(|one| one.name == column.name);
            column.not_null &= !named;
        }
        let edited = match catalog.with_changed(changed) {
            Ok((next, changes)) => self.commit_meta(changes).await.map(|()| self.publish(next)),
            Err(error) => Err(error),
        };
        if let Err(error) = edited {
            tracing::error!(table = name, %error, "columns stay NOT NULL");
        }
    }

    async fn drop_constraint(
        self: &Arc<Self>,
        statement: &AlterTable,
        name: &str,
        (if_exists, cascade): (bool, bool),
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let deed = Deed::OwnColumn(&statement.table);
        let _one_at_a_time = self.permitted(deed, names).await?;
        let catalog = self.catalog();
        let Some(table) = altered(&catalog, statement, "DROP CONSTRAINT", names)? else {
            return Ok(skipped(statement));
        };
        if let ObjectKind::Table(kind) = &table.kind
            && kind.primary_key_name.as_deref() == Some(name)
        {
            return Err(SqlError::unsupported("dropping a primary key that came with its table")
                .hint("Its rows are stored by it: make another table, and copy them."));
        }
        if table.constraints().is_some_and(|own| own.names().any(|own| own == name)) {
            return self.drop_from_rows(&catalog, table, name, names.owner).await;
        }
        let enforced = |index: &&Arc<Object>| {
            index.name.name == name && index.index().is_some_and(|one| one.constraint.is_some())
        };
        let Some(index) = catalog.indexes(table.id).find(enforced) else {
            let relation = &table.name.name;
            let message =
                format!("constraint \"{name}\" of relation \"{relation}\" does not exist");
            return match if_exists {
                true => Ok(DdlOutcome::notice(format!("{message}, skipping"))),
                false => Err(SqlError::new(code::UNDEFINED_OBJECT, message)),
            };
        };
        let plan = catalog.plan_drop_all(vec![index.id], &names.search_path, cascade)?;
        let (next, changes) = catalog.without(&plan.objects)?;
        self.take_away(&plan.objects, next, changes).await?;
        Ok(drop::outcome(plan))
    }
}

fn is_addition(change: &TableChange) -> bool {
    use TableChange::{AddCheck, AddConstraint, AddForeignKey};
    matches!(change, AddConstraint(_) | AddCheck(_) | AddForeignKey(_))
}

/// Whether a change adds a column that `before` does not have.
fn adds<'a>(change: &'a ColumnChange, before: &Object) -> Option<(&'a str, &'a NewConstraints)> {
    match change {
        ColumnChange::Add { column, constraints, .. } => {
            let is_new = before.columns.iter().all(|known| known.name != column.name);
            is_new.then_some((column.name.as_str(), constraints))
        }
        _ => None,
    }
}

/// The constraints that a new column brings.
fn constraints_of(change: &ColumnChange, before: &Object) -> Vec<TableChange> {
    let Some((_, brought)) = adds(change, before) else { return Vec::new() };
    let unique = brought.unique.iter().cloned().map(TableChange::AddConstraint);
    let checks = brought.checks.iter().cloned().map(TableChange::AddCheck);
    let keys = brought.foreign_keys.iter().cloned().map(TableChange::AddForeignKey);
    unique.chain(checks).chain(keys).collect()
}

/// What takes a column away again that a change has added, unless somebody else reads it already.
fn undone(change: &ColumnChange, before: &Object) -> Option<ColumnChange> {
    let (name, _) = adds(change, before)?;
    let column = ColumnRef { name: name.to_owned(), position: 0 };
    Some(ColumnChange::Drop { column, if_exists: true, cascade: false })
}

/// The table that a statement names; `None`: there is none, and that is well.
pub(super) fn altered<'a>(
    catalog: &'a Catalog,
    statement: &AlterTable,
    action: &str,
    names: &Names,
) -> SqlResult<Option<&'a Object>> {
    let name = &statement.table;
    check_database(name, names)?;
    let found = catalog.resolve(&names.search_path, name.schema.as_deref(), &name.name);
    let Some(object) = found else {
        return match statement.if_exists {
            true => Ok(None),
            false => {
                let message = format!("relation \"{name}\" does not exist");
                Err(SqlError::new(code::UNDEFINED_TABLE, message))
            }
        };
    };
    if matches!(object.kind, ObjectKind::Table(_)) {
        return Ok(Some(object));
    }
    let relation = &object.name.name;
    let message = format!("ALTER action {action} cannot be performed on relation \"{relation}\"");
    Err(SqlError::new(code::WRONG_OBJECT_TYPE, message)
        .detail(format!("This operation is not supported for {}s.", object.kind_name())))
}

pub(super) fn skipped(statement: &AlterTable) -> DdlOutcome {
    DdlOutcome::notice(format!("relation \"{}\" does not exist, skipping", statement.table))
}

/// The index that enforces a new constraint.
pub(super) fn index_of(
    catalog: &Catalog,
    table: &Object,
    new: &NewConstraint,
) -> SqlResult<CreateIndex> {
    let name = &table.name;
    if new.primary && has_primary_key(catalog, table) {
        let message = format!("multiple primary keys for table \"{}\" are not allowed", name.name);
        return Err(SqlError::new(code::INVALID_TABLE_DEFINITION, message));
    }
    let mut seen: Vec<&str> = Vec::new();
    for column in &new.columns {
        let column = column.name.as_str();
        if !table.columns.iter().any(|found| found.name == column) {
            let message = format!("column \"{column}\" named in key does not exist");
            return Err(SqlError::new(code::UNDEFINED_COLUMN, message));
        }
        if seen.contains(&column) {
            let kind = if new.primary { "primary key" } else { "unique" };
            let message = format!("column \"{column}\" appears twice in {kind} constraint");
            return Err(SqlError::new(code::DUPLICATE_COLUMN, message));
        }
        seen.push(column);
    }
    let included = new.included.iter().map(|column| column.name.as_str());
    let columns: Vec<String> = seen.iter().copied().chain(included).map(str::to_owned).collect();
    let made_up = || match new.primary {
        true => catalog.primary_key_name(name),
        false => catalog.unique_name(name, &columns),
    };
    let index = new.name.clone().unwrap_or_else(made_up);
    let taken = QualifiedName::new(&name.schema, &index);
    super::exists_already(catalog, &taken, false)?;
    let ascending = |column: &ColumnRef| IndexKey {
        column: column.clone(),
        descending: false,
        nulls_first: false,
    };
    Ok(CreateIndex {
        unique: true,
        name: Some(index),
        if_not_exists: false,
        table: planner::Name {
            database: None,
            schema: Some(name.schema.clone()),
            name: name.name.clone(),
            position: 1,
        },
        keys: new.columns.iter().map(ascending).collect(),
        included: new.included.clone(),
        nulls_not_distinct: new.nulls_not_distinct,
    })
}

/// Whether a table has a primary key, of whatever make.
fn has_primary_key(catalog: &Catalog, table: &Object) -> bool {
    let own = matches!(&table.kind, ObjectKind::Table(kind) if !kind.primary_key.is_empty());
    let added = |index: &Arc<Object>| {
        let constraint = index.index().and_then(|index| index.constraint);
        constraint.is_some_and(|constraint| constraint.primary)
    };
    own || catalog.indexes(table.id).any(added)
}

/// A table whose columns are NOT NULL as its new primary key has them.
pub(super) fn with_not_null(table: &Object, key: &[usize]) -> Object {
    let mut changed = table.clone();
    for &column in key {
        if let Some(column) = changed.columns.get_mut(column) {
            column.not_null = true;
        }
    }
    changed
}
