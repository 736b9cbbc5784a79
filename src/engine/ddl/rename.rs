//! `ALTER ... RENAME` and `ALTER ... SET SCHEMA`.
//!
//! Only the catalog changes, in one commit: jobs, rows and state go by ids. Definitions that name
//! what is renamed hold on to it (`catalog::meaning`): before the name changes they are told what
//! their names mean, afterwards how they read. So a job's plan is the same at the next start, and
//! what it keeps is not built again.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::authority::Deed;
use super::role::Edit;
use super::unique_index::guard_of;
use super::{DdlOutcome, Names, check_database};
use crate::catalog::access::Actor;
use crate::catalog::catalog::{PG_CATALOG, PG_TEMP, is_system_schema, is_temporary_schema};
use crate::catalog::object::ROW_ID;
use crate::catalog::privilege::Privileges;
use crate::catalog::rename::{Target, taken};
use crate::catalog::{Catalog, Column, Function, Meaning, Object, ObjectKind, QualifiedName, pg};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::rename::{NewName, Rename};
use crate::planner::statement::DropKind;
use crate::planner::{Kept, Name, call_in_schema, calls_into, computed_by};
use crate::types::ObjectId;

/// Columns that PostgreSQL has in every table.
pub(super) const SYSTEM_COLUMNS: &[&str] =
    &["ctid", "xmin", "cmin", "xmax", "cmax", "tableoid", ROW_ID];

impl Engine {
    /// Calls something otherwise.
    pub async fn rename(&self, statement: &Rename, names: &Names) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::JudgedLater, names).await?;
        let catalog = self.catalog();
        let actor = catalog.actor(&names.user)?;
        let mut edit = Edit::new(&catalog);
        if statement.kind == DropKind::Schema {
            let NewName::Itself(new) = &statement.to else {
                return Err(SqlError::internal("a schema has nothing but a name"));
            };
            rename_schema(&mut edit, &actor, &statement.name.name, new, names)?;
            self.finish_edit(edit).await?;
            return Ok(DdlOutcome::default());
        }
        let name = &statement.name;
        let mut guards = Vec::new();
        let Some(target) = target(&catalog, &actor, statement, names)? else {
            let message = format!("relation \"{}\" does not exist, skipping", name.name);
            return Ok(DdlOutcome::notice(message));
        };
        match target {
            Target::KeyOf(table) => {
                actor.check_owner(&table.owner, "index", &name.name)?;
                check_kind(statement, "index", true)?;
                rename_key_index(&mut edit, &actor, table, statement)?;
            }
            Target::Object(object) => {
                actor.check_owns(object)?;
                check_kind(statement, object.kind_name(), object.is_relation())?;
                rename_object(&mut edit, &actor, object, statement)?;
                guards.push(object.id);
                guards.extend(catalog.indexes(object.id).map(|index| index.id));
            }
        }
        self.finish_edit(edit).await?;
        for index in guards {
            self.rename_guard(index)?;
        }
        Ok(DdlOutcome::default())
    }

    /// A violation of a unique index is said to be of what it is called now.
    fn rename_guard(&self, index: ObjectId) -> SqlResult<()> {
        let catalog = self.catalog();
        let Some(object) = catalog.object(index) else { return Ok(()) };
        let on = object.index().and_then(|index| catalog.object(index.on));
        let Some(on) = on else { return Ok(()) };
        if let (Some(guard), Some(inbox)) = (guard_of(on, object)?, self.inbox(on.id)) {
            inbox.replace_guard(guard);
        }
        Ok(())
    }
}

/// What the statement names; `None`: it may be missing, and is.
fn target<'a>(
    catalog: &'a Catalog,
    actor: &Actor<'_>,
    statement: &Rename,
    names: &Names,
) -> SqlResult<Option<Target<'a>>> {
    let name = &statement.name;
    check_database(name, names)?;
    let schema = name.schema.as_deref();
    let missing = |error: SqlError| match statement.if_exists {
        true => Ok(None),
        false => Err(error),
    };
    if let Some(schema) = schema {
        if schema != PG_TEMP && catalog.schema(schema).is_none() {
            let message = format!("schema \"{schema}\" does not exist");
            return missing(SqlError::new(code::INVALID_SCHEMA_NAME, message));
        }
        actor.check_schema(schema, Privileges::USAGE)?;
    }
    if pg::relation(schema.unwrap_or(PG_CATALOG), &name.name).is_some() {
        let message = format!("permission denied: \"{}\" is a system catalog", name.name);
        return Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message));
    }
    match catalog.target(&names.search_path, schema, &name.name) {
        Some(target) => Ok(Some(target)),
        None => missing(no_relation(name)),
    }
}

fn no_relation(name: &Name) -> SqlError {
    SqlError::new(code::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))
}

/// ALTER TABLE and ALTER INDEX may be said of any relation, and all of any that has columns where
/// one of them is renamed; the others of their kind alone.
fn check_kind(statement: &Rename, actual: &str, is_relation: bool) -> SqlResult<()> {
    let name = &statement.name.name;
    let wanted = match statement.kind {
        _ if is_relation && matches!(statement.to, NewName::Column { .. }) => return Ok(()),
        DropKind::Table | DropKind::Index if is_relation => return Ok(()),
        DropKind::Schema | DropKind::Database => return Ok(()),
        kind => kind.name(),
    };
    if wanted == actual {
        return Ok(());
    }
    let article = if wanted == "index" { "an" } else { "a" };
    let message = format!("\"{name}\" is not {article} {wanted}");
    let hint = format!("Use ALTER {}.", actual.to_uppercase());
    Err(SqlError::new(code::WRONG_OBJECT_TYPE, message).hint(hint))
}

fn rename_key_index(
    edit: &mut Edit,
    actor: &Actor<'_>,
    table: &Object,
    statement: &Rename,
) -> SqlResult<()> {
    let old = &statement.name.name;
    match &statement.to {
        NewName::Itself(new) => {
            actor.check_schema(&table.name.schema, Privileges::CREATE)?;
            rename_key(edit, table, new)
        }
        NewName::Column { .. } => Err(no_column_of_index()),
        NewName::Constraint { constraint, .. } => Err(no_constraint(constraint, old)),
        NewName::Schema(_) => Err(goes_with_table(old)),
    }
}

fn rename_key(edit: &mut Edit, table: &Object, new: &str) -> SqlResult<()> {
    if let ObjectKind::Table(kind) = &table.kind
        && kind.primary_key_name.as_deref() == Some(new)
    {
        return Err(taken(&QualifiedName::new(&table.name.schema, new), false));
    }
    edit.apply(|catalog| catalog.with_key_name(table.id, new))?;
    edit.apply(|catalog| catalog.with_meanings(BTreeMap::new(), &[table.id]))
}

fn no_column_of_index() -> SqlError {
    SqlError::unsupported("renaming a column of an index")
        .hint("Rename the column of its table: the index is of that column.")
}

fn no_constraint(constraint: &str, relation: &str) -> SqlError {
    let message = format!("constraint \"{constraint}\" for table \"{relation}\" does not exist");
    SqlError::new(code::UNDEFINED_OBJECT, message)
}

fn goes_with_table(index: &str) -> SqlError {
    let message = format!("cannot change schema of index \"{index}\"");
    SqlError::new(code::WRONG_OBJECT_TYPE, message).hint("Change the schema of the table instead.")
}

fn rename_object(
    edit: &mut Edit,
    actor: &Actor<'_>,
    object: &Arc<Object>,
    statement: &Rename,
) -> SqlResult<()> {
    let old = &object.name;
    match &statement.to {
        NewName::Itself(new) => {
            actor.check_schema(&old.schema, Privileges::CREATE)?;
            let name = QualifiedName::new(&old.schema, new);
            if name == *old {
                return Err(taken(&name, false));
            }
            move_object(edit, object, name)
        }
        NewName::Schema(new) => {
            let Some(name) = moved(edit, actor, object, new)? else { return Ok(()) };
            if let Some(owner) = owned_by(object) {
                let owner = edit.catalog.object(owner).map(|table| table.name.name.clone());
                return Err(with_its_table(&old.name, &owner.unwrap_or_default()));
            }
            move_object(edit, object, name)?;
            // Its sequences go with it.
            let owned = edit.catalog.objects().filter(|one| owned_by(one) == Some(object.id));
            for sequence in owned.map(Arc::clone).collect::<Vec<_>>() {
                let name = QualifiedName::new(new, &sequence.name.name);
                move_object(edit, &sequence, name)?;
            }
            Ok(())
        }
        NewName::Column { column, name } => rename_column(edit, object, column, name),
        NewName::Constraint { constraint, name } => match &object.kind {
            ObjectKind::Table(table) if table.primary_key_name.as_ref() == Some(constraint) => {
                rename_key(edit, object, name)
            }
            ObjectKind::Table(_) => rename_constraint(edit, object, constraint, name),
            _ => Err(no_constraint(constraint, &old.name)),
        },
    }
}

/// A constraint and the index that enforces it, if one does, have one name.
fn rename_constraint(
    edit: &mut Edit,
    table: &Arc<Object>,
    constraint: &str,
    new: &str,
) -> SqlResult<()> {
    let relation = &table.name;
    if let Some(index) = key_of(&edit.catalog, table, constraint) {
        let name = QualifiedName::new(&relation.schema, new);
        if name == index.name {
            return Err(taken(&name, false));
        }
        move_object(edit, &index, name)?;
        return edit.apply(|catalog| catalog.with_statement(table.id));
    }
    if !table.constraints().is_some_and(|own| own.names().any(|own| own == constraint)) {
        return Err(no_constraint(constraint, &relation.name));
    }
    if edit.catalog.has_constraint(table, new) {
        let relation = &relation.name;
        let message = format!("constraint \"{new}\" for relation \"{relation}\" already exists");
        return Err(SqlError::new(code::DUPLICATE_OBJECT, message));
    }
    edit.apply(|catalog| catalog.with_constraint_name(table.id, constraint, new))?;
    edit.apply(|catalog| catalog.with_statement(table.id))
}

/// The index that enforces the constraint of this name.
fn key_of(catalog: &Catalog, table: &Object, constraint: &str) -> Option<Arc<Object>> {
    let enforces = |index: &&Arc<Object>| {
        index.name.name == constraint && index.index().is_some_and(|one| one.constraint.is_some())
    };
    catalog.indexes(table.id).find(enforces).cloned()
}

/// The table that a sequence belongs to.
fn owned_by(object: &Object) -> Option<ObjectId> {
    match &object.kind {
        ObjectKind::Sequence(sequence) => sequence.owned_by.map(|owner| owner.table),
        _ => None,
    }
}

fn with_its_table(sequence: &str, table: &str) -> SqlError {
    let message = "cannot move an owned sequence into another schema";
    SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
        .detail(format!("Sequence \"{sequence}\" is linked to table \"{table}\"."))
}

/// The name in another schema; `None`: it is there already.
fn moved(
    edit: &Edit,
    actor: &Actor<'_>,
    object: &Object,
    schema: &str,
) -> SqlResult<Option<QualifiedName>> {
    let old = &object.name;
    if object.index().is_some() {
        return Err(goes_with_table(&old.name));
    }
    let temporary = schema == PG_TEMP || is_temporary_schema(schema);
    if !temporary && edit.catalog.schema(schema).is_none() {
        let message = format!("schema \"{schema}\" does not exist");
        return Err(SqlError::new(code::INVALID_SCHEMA_NAME, message));
    }
    actor.check_schema(schema, Privileges::CREATE)?;
    if temporary || is_temporary_schema(&old.schema) {
        let message = "cannot move objects into or out of temporary schemas";
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    let name = QualifiedName::new(schema, &old.name);
    if is_system_schema(schema) {
        let message = format!("permission denied to create \"{schema}.{}\"", old.name);
        return Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message)
            .detail("System catalog modifications are currently disallowed."));
    }
    Ok((name != *old).then_some(name))
}

fn move_object(edit: &mut Edit, object: &Arc<Object>, name: QualifiedName) -> SqlResult<()> {
    let readers = Readers::of(edit, &[object.id]);
    readers.hold(edit, None)?;
    edit.apply(|catalog| catalog.with_name(object.id, name))?;
    // No expression calls the table by its name any more.
    rewrite_generated(edit, object.id, None)?;
    readers.show(edit)
}

fn rename_column(edit: &mut Edit, object: &Arc<Object>, column: &str, name: &str) -> SqlResult<()> {
    let relation = &object.name.name;
    if object.index().is_some() {
        return Err(no_column_of_index());
    }
    if SYSTEM_COLUMNS.contains(&column) {
        let message = format!("cannot rename system column \"{column}\"");
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
    }
    let place = object.columns.iter().position(|found| found.name == column).ok_or_else(|| {
        SqlError::new(code::UNDEFINED_COLUMN, format!("column \"{column}\" does not exist"))
    })?;
    if SYSTEM_COLUMNS.contains(&name) {
        let message = format!("column name \"{name}\" conflicts with a system column name");
        return Err(SqlError::new(code::DUPLICATE_COLUMN, message));
    }
    if object.columns.iter().any(|found| found.name == name) {
        let message = format!("column \"{name}\" of relation \"{relation}\" already exists");
        return Err(SqlError::new(code::DUPLICATE_COLUMN, message));
    }
    let has_connector = match &object.kind {
        ObjectKind::Table(table) => table.connector.is_some(),
        kind => matches!(kind, ObjectKind::Source(_)),
    };
    if has_connector {
        let what = format!("renaming a column of a {} with a connector", object.kind_name());
        return Err(SqlError::unsupported(what)
            .detail("The connector finds the column's values by its name.")
            .hint("A view can call the column otherwise."));
    }
    let mut readers = Readers::of(edit, &[object.id]);
    readers.hold(edit, Some(object))?;
    edit.apply(|catalog| catalog.with_column_name(object.id, place, name))?;
    rewrite_generated(edit, object.id, Some((column, name)))?;
    rewrite_checks(edit, object.id, |text| computed_by(text, Some((column, name))))?;
    if object.written().is_some() {
        readers.objects.push(object.id);
    }
    readers.show(edit)
}

/// Has the expressions of a table's generated columns name its columns as they are called.
fn rewrite_generated(
    edit: &mut Edit,
    table: ObjectId,
    renamed: Option<(&str, &str)>,
) -> SqlResult<()> {
    rewrite_columns(edit, table, |column| {
        let generated = column.generated.as_deref();
        column.generated = generated.map(|text| computed_by(text, renamed)).transpose()?;
        Ok(())
    })
}

fn rewrite_checks(
    edit: &mut Edit,
    table: ObjectId,
    rewrite: impl Fn(&str) -> SqlResult<String>,
) -> SqlResult<()> {
    let Some(old) = edit.catalog.object(table).cloned() else { return Ok(()) };
    let mut object = Object::clone(&old);
    let checks = object.constraints_mut().into_iter().flat_map(|own| &mut own.checks);
    for check in checks {
        check.expression = rewrite(&check.expression)?;
    }
    match object == *old {
        true => Ok(()),
        false => edit.apply(|catalog| catalog.with_changed(object)),
    }
}

fn rewrite_columns(
    edit: &mut Edit,
    object: ObjectId,
    rewrite: impl Fn(&mut Column) -> SqlResult<()>,
) -> SqlResult<()> {
    let Some(old) = edit.catalog.object(object).cloned() else { return Ok(()) };
    let mut object = Object::clone(&old);
    object.columns.iter_mut().try_for_each(rewrite)?;
    match object == *old {
        true => Ok(()),
        false => edit.apply(|catalog| catalog.with_changed(object)),
    }
}

fn rename_schema(
    edit: &mut Edit,
    actor: &Actor<'_>,
    old: &str,
    new: &str,
    names: &Names,
) -> SqlResult<()> {
    let renamed = edit.catalog.with_schema_name(old, new);
    if let Err(error) = &renamed
        && [code::INVALID_SCHEMA_NAME, code::DUPLICATE_SCHEMA].contains(&error.code)
    {
        return Err(error.clone());
    }
    let owner = edit.catalog.schema(old).map_or("", |schema| schema.owner.as_str());
    actor.check_owner(owner, "schema", old)?;
    actor.check_database(&names.database, Privileges::CREATE)?;
    renamed?;
    let inside = edit.catalog.objects().filter(|object| object.name.schema == old);
    let inside: Vec<ObjectId> = inside.map(|object| object.id).collect();
    check_no_calls_into(&edit.catalog, old)?;
    let readers = Readers::of(edit, &inside);
    readers.hold(edit, None)?;
    edit.apply(|catalog| catalog.with_schema_name(old, new))?;
    let call = |text: &Option<String>| -> SqlResult<Option<String>> {
        text.as_deref().map(|text| call_in_schema(text, old, new)).transpose()
    };
    let objects: Vec<ObjectId> = edit.catalog.objects().map(|object| object.id).collect();
    for object in objects {
        rewrite_columns(edit, object, |column| {
            column.default = call(&column.default)?;
            column.generated = call(&column.generated)?;
            Ok(())
        })?;
        rewrite_checks(edit, object, |text| call_in_schema(text, old, new))?;
    }
    let functions: Vec<Arc<Function>> = edit.catalog.functions().cloned().collect();
    for function in functions {
        let mut rewritten = Function::clone(&function);
        for parameter in &mut rewritten.parameters {
            parameter.default = call(&parameter.default)?;
        }
        if rewritten != *function {
            edit.apply(|catalog| catalog.with_function(rewritten))?;
        }
    }
    readers.show(edit)
}

/// Calls are looked for by the names that texts have for them.
fn check_no_calls_into(catalog: &Catalog, schema: &str) -> SqlResult<()> {
    if !catalog.functions().any(|function| function.name.schema == schema) {
        return Ok(());
    }
    let refused = |kind: &str, name: &str| {
        let what = format!("renaming schema \"{schema}\", by which {kind} \"{name}\" calls");
        Err(SqlError::unsupported(what)
            .hint("Make it anew with the schema in its search_path, and without it in the call."))
    };
    for object in catalog.objects() {
        if let Some(kept) = Kept::of_object(object)?
            && calls_into(catalog, schema, &kept)
        {
            return refused(object.kind_name(), &object.name.name);
        }
    }
    for function in catalog.functions() {
        if calls_into(catalog, schema, &Kept::of_function(function)?) {
            return refused("function", &function.name.name);
        }
    }
    Ok(())
}

/// A new object, which holds on to what the names in its query mean. `columns` are the names that
/// its statement lists for its columns.
pub(super) fn with_meaning(
    catalog: &Catalog,
    mut object: Object,
    columns: &[String],
) -> SqlResult<Object> {
    // Its names are looked for where they will be found later, too.
    catalog.check_temporary(&object)?;
    let meaning = match Kept::of_object(&object)? {
        Some(kept) if columns.is_empty() => kept.meaning(catalog)?,
        Some(kept) => Meaning { shown: kept.shown(catalog)?, ..kept.meaning(catalog)? },
        None => return Ok(object),
    };
    if let Some(own) = object.meaning_mut() {
        *own = meaning;
    }
    Ok(object)
}

/// The definitions whose texts name what is renamed, or what is altered.
pub(super) struct Readers {
    renamed: Vec<ObjectId>,
    objects: Vec<ObjectId>,
    functions: Vec<ObjectId>,
}

impl Readers {
    pub(super) fn of(edit: &Edit, renamed: &[ObjectId]) -> Self {
        let catalog = &edit.catalog;
        let reads = |id: &ObjectId| catalog.needs(*id).iter().any(|on| renamed.contains(on));
        Self {
            renamed: renamed.to_vec(),
            objects: catalog.objects().map(|object| object.id).filter(reads).collect(),
            functions: catalog.functions().map(|function| function.id).filter(reads).collect(),
        }
    }

    /// Writes down what their names mean now, and, of what gets other columns, what they call
    /// those.
    pub(super) fn hold(&self, edit: &mut Edit, columns_of: Option<&Object>) -> SqlResult<()> {
        self.hold_to(edit, |meaning| {
            columns_of.into_iter().for_each(|object| meaning.hold_columns(object));
        })
    }

    /// Writes down what their names mean now, and what `hold` adds to that.
    pub(super) fn hold_to(&self, edit: &mut Edit, hold: impl Fn(&mut Meaning)) -> SqlResult<()> {
        let catalog = edit.catalog.clone();
        let mut meanings = BTreeMap::new();
        self.each(&catalog, |id, kept| {
            let mut meaning = kept.meaning(&catalog)?;
            hold(&mut meaning);
            meanings.insert(id, meaning);
            Ok(())
        })?;
        edit.apply(|catalog| catalog.with_meanings(meanings, &[]))
    }

    /// Says how they read by the names that are now.
    pub(super) fn show(&self, edit: &mut Edit) -> SqlResult<()> {
        let catalog = edit.catalog.clone();
        let mut meanings = BTreeMap::new();
        self.each(&catalog, |id, kept| {
            let meaning = kept.meaning(&catalog)?;
            meanings.insert(id, Meaning { shown: kept.shown(&catalog)?, ..meaning });
            Ok(())
        })?;
        edit.apply(|catalog| catalog.with_meanings(meanings, &self.renamed))
    }

    pub(super) fn each(
        &self,
        catalog: &Catalog,
        mut act: impl FnMut(ObjectId, Kept<'_>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        for object in self.objects.iter().filter_map(|id| catalog.object(*id)) {
            if let Some(kept) = Kept::of_object(object)? {
                act(object.id, kept)?;
            }
        }
        for function in self.functions.iter().filter_map(|id| catalog.function(*id)) {
            act(function.id, Kept::of_function(function)?)?;
        }
        Ok(())
    }
}
