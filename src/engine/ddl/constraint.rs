//! What CREATE TABLE and ALTER TABLE say of constraints, as the catalog has it: names found, types
//! compared, names made up.

use std::sync::Arc;

use super::create_index::index_object;
use super::role::Edit;
use super::unique_index::check_writers;
use super::{Names, alter_table, check_database};
use crate::catalog::catalog::is_temporary_schema;
use crate::catalog::constraint::{Action, Check, ForeignKey};
use crate::catalog::privilege::Privileges;
use crate::catalog::{Catalog, Object, ObjectKind, quote_identifier};
use crate::error::{SqlError, SqlResult, code};
use crate::planner;
use crate::planner::statement::{ColumnRef, CreateTable, NewCheck, NewConstraint, NewForeignKey};
use crate::types::{ObjectId, SqlType};

/// A new table gets the constraints of its statement; it is in the edit already. Gives the indexes
/// that are new with it.
pub(super) fn constrain_new(
    edit: &mut Edit,
    table: ObjectId,
    statement: &CreateTable,
    names: &Names,
    parallelism: usize,
) -> SqlResult<Vec<ObjectId>> {
    let constraints = &statement.constraints;
    for check in &constraints.checks {
        add_check(edit, table, check, names, Place::NewTable)?;
    }
    let mut indexes = Vec::new();
    for unique in merged(&constraints.unique, statement) {
        let own = existing(&edit.catalog, table)?;
        check_writers(&edit.catalog, &own)?;
        let index = alter_table::index_of(&edit.catalog, &own, unique)?;
        let definition = definition_of(&own, unique, index.name.as_deref().unwrap_or_default());
        let kind = Some(unique.primary);
        let index = index_object(&edit.catalog, &own, (&index, kind), &definition, parallelism)?;
        indexes.push(index.id);
        edit.apply(|catalog| catalog.with_object(index))?;
    }
    for key in &constraints.foreign_keys {
        add_foreign_key(edit, table, key, names)?;
    }
    Ok(indexes)
}

/// The statement that would make the index of a unique constraint.
pub(super) fn definition_of(table: &Object, new: &NewConstraint, name: &str) -> String {
    let quoted = |columns: &[ColumnRef]| {
        columns.iter().map(|one| quote_identifier(&one.name)).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!(
        "CREATE UNIQUE INDEX {} ON {}.{} ({})",
        quote_identifier(name),
        quote_identifier(&table.name.schema),
        quote_identifier(&table.name.name),
        quoted(&new.columns)
    );
    if !new.included.is_empty() {
        text.push_str(&format!(" INCLUDE ({})", quoted(&new.included)));
    }
    if new.nulls_not_distinct {
        text.push_str(" NULLS NOT DISTINCT");
    }
    text
}

/// The unique constraints that a statement lists, each once: one that says the same as another, or
/// as the primary key, is the same.
fn merged<'a>(unique: &'a [NewConstraint], statement: &CreateTable) -> Vec<&'a NewConstraint> {
    fn names(columns: &[ColumnRef]) -> Vec<&str> {
        columns.iter().map(|column| column.name.as_str()).collect()
    }
    let key = statement.primary_key.iter().filter_map(|column| statement.columns.get(*column));
    let key: Vec<&str> = key.map(|column| column.name.as_str()).collect();
    let mut kept: Vec<&NewConstraint> = Vec::new();
    for one in unique {
        let is_key = names(&one.columns) == key && one.included.is_empty();
        let is_key = is_key && !one.nulls_not_distinct && one.name.is_none();
        let same = |other: &&NewConstraint| {
            names(&other.columns) == names(&one.columns)
                && names(&other.included) == names(&one.included)
                && other.nulls_not_distinct == one.nulls_not_distinct
                && (one.name.is_none() || one.name == other.name)
        };
        if !is_key && !kept.iter().any(same) {
            kept.push(one);
        }
    }
    kept
}

fn existing(catalog: &Catalog, table: ObjectId) -> SqlResult<Arc<Object>> {
    let found = catalog.object(table).map(Arc::clone);
    found.ok_or_else(|| SqlError::internal(format!("table {} is gone", table.0)))
}

/// Which table gets a constraint, which messages tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    NewTable,
    Existing,
}

/// A table gets a CHECK. Gives it.
pub(super) fn add_check(
    edit: &mut Edit,
    table: ObjectId,
    new: &NewCheck,
    names: &Names,
    place: Place,
) -> SqlResult<Check> {
    let own = existing(&edit.catalog, table)?;
    if has_connector(&own) {
        return Err(SqlError::unsupported("a CHECK constraint on a table with a connector")
            .hint("A materialized view can leave out rows that are not as they should be."));
    }
    let catalog = Arc::new(edit.catalog.clone());
    let (path, name) = (&names.search_path, &own.name.name);
    let described = planner::describe_check(&catalog, path, name, &own.columns, &new.expression)?;
    let column = match described.columns.as_slice() {
        [one] => own.columns.get(*one).map(|column| column.name.as_str()),
        _ => None,
    };
    if let Some(name) = &new.name {
        if place == Place::NewTable && own.checks().iter().any(|check| check.name == *name) {
            let message = format!("check constraint \"{name}\" already exists");
            return Err(SqlError::new(code::DUPLICATE_OBJECT, message));
        }
        check_name_is_free(&catalog, &own, name)?;
    }
    let check = Check {
        id: catalog.oids().next(),
        name: new.name.clone().unwrap_or_else(|| catalog.check_name(&own, column)),
        expression: described.expression,
        columns: described.columns,
        validated: new.validated,
    };
    let mut changed = Object::clone(&own);
    changed.depends_on.extend(described.functions);
    changed.depends_on.sort_unstable();
    changed.depends_on.dedup();
    if let Some(constraints) = changed.constraints_mut() {
        constraints.checks.push(check.clone());
    }
    edit.apply(|catalog| catalog.with_changed(changed))?;
    Ok(check)
}

fn has_connector(table: &Object) -> bool {
    matches!(&table.kind, ObjectKind::Table(kind) if kind.connector.is_some())
}

fn check_name_is_free(catalog: &Catalog, table: &Object, name: &str) -> SqlResult<()> {
    if !catalog.has_constraint(table, name) {
        return Ok(());
    }
    let relation = &table.name.name;
    let message = format!("constraint \"{name}\" for relation \"{relation}\" already exists");
    Err(SqlError::new(code::DUPLICATE_OBJECT, message))
}

/// A table gets a foreign key. Gives it.
pub(super) fn add_foreign_key(
    edit: &mut Edit,
    table: ObjectId,
    new: &NewForeignKey,
    names: &Names,
) -> SqlResult<ForeignKey> {
    let own = existing(&edit.catalog, table)?;
    let key = foreign_key(&edit.catalog, &own, new, names)?;
    let mut changed = Object::clone(&own);
    if let Some(constraints) = changed.constraints_mut() {
        constraints.foreign_keys.push(key.clone());
    }
    edit.apply(|catalog| catalog.with_changed(changed))?;
    Ok(key)
}

fn foreign_key(
    catalog: &Catalog,
    own: &Object,
    new: &NewForeignKey,
    names: &Names,
) -> SqlResult<ForeignKey> {
    let to = referenced(catalog, own, new, names)?;
    let columns = places(own, &new.columns)?;
    let (referenced, key) = match new.referenced.is_empty() {
        true => primary_key(catalog, to)?,
        false => {
            let referenced = places(to, &new.referenced)?;
            let key = unique_by(catalog, to, &referenced)?;
            (referenced, key)
        }
    };
    if columns.len() != referenced.len() {
        let message = "number of referencing and referenced columns for foreign key disagree";
        return Err(SqlError::new(code::INVALID_FOREIGN_KEY, message));
    }
    let listed: Vec<&str> = new.columns.iter().map(|column| column.name.as_str()).collect();
    if let Some(name) = &new.name {
        check_name_is_free(catalog, own, name)?;
    }
    let name = new.name.clone().unwrap_or_else(|| catalog.foreign_key_name(own, &listed));
    for (from, to_column) in columns.iter().zip(&referenced) {
        check_types(&name, (own, *from), (to, *to_column))?;
    }
    check_actions(own, &columns, new)?;
    check_written(catalog, own, to)?;
    Ok(ForeignKey {
        id: catalog.oids().next(),
        name,
        columns,
        references: to.id,
        referenced,
        key,
        on_delete: new.on_delete,
        on_update: new.on_update,
        full: new.full,
        checked: new.checked,
        validated: new.validated,
    })
}

/// The table that a foreign key refers to.
fn referenced<'a>(
    catalog: &'a Catalog,
    own: &Object,
    new: &NewForeignKey,
    names: &Names,
) -> SqlResult<&'a Object> {
    check_database(&new.table, names)?;
    let found = catalog.resolve(&names.search_path, new.table.schema.as_deref(), &new.table.name);
    let Some(to) = found else {
        let message = format!("relation \"{}\" does not exist", new.table);
        return Err(SqlError::new(code::UNDEFINED_TABLE, message));
    };
    if !matches!(to.kind, ObjectKind::Table(_)) {
        let message = format!("referenced relation \"{}\" is not a table", to.name.name);
        return Err(SqlError::new(code::WRONG_OBJECT_TYPE, message));
    }
    if to.id != own.id {
        catalog.actor(&names.user)?.check_relation(to, Privileges::REFERENCES)?;
    }
    let kinds = [&own.name.schema, &to.name.schema].map(|schema| is_temporary_schema(schema));
    let message = match kinds {
        [false, true] => "constraints on permanent tables may reference only permanent tables",
        [true, false] => "constraints on temporary tables may reference only temporary tables",
        _ => return Ok(to),
    };
    Err(SqlError::new(code::INVALID_TABLE_DEFINITION, message))
}

fn places(table: &Object, columns: &[ColumnRef]) -> SqlResult<Vec<usize>> {
    let place = |column: &ColumnRef| {
        let found = table.columns.iter().position(|found| found.name == column.name);
        found.ok_or_else(|| {
            let name = &column.name;
            let message =
                format!("column \"{name}\" referenced in foreign key constraint does not exist");
            SqlError::new(code::UNDEFINED_COLUMN, message)
        })
    };
    columns.iter().map(place).collect()
}

/// The columns of a table's primary key, and its index.
fn primary_key(catalog: &Catalog, table: &Object) -> SqlResult<(Vec<usize>, ObjectId)> {
    if let ObjectKind::Table(kind) = &table.kind
        && let Some(index) = kind.primary_key_index
    {
        return Ok((kind.primary_key.clone(), index));
    }
    let added = catalog.indexes(table.id).find_map(|object| {
        let index = object.index().filter(|index| index.constraint.is_some_and(|c| c.primary))?;
        Some((index.keys.iter().map(|key| key.column).collect(), object.id))
    });
    added.ok_or_else(|| {
        let name = &table.name.name;
        let message = format!("there is no primary key for referenced table \"{name}\"");
        SqlError::new(code::UNDEFINED_OBJECT, message)
    })
}

/// The index that makes these columns of a table unique.
fn unique_by(catalog: &Catalog, table: &Object, columns: &[usize]) -> SqlResult<ObjectId> {
    let mut wanted = columns.to_vec();
    wanted.sort_unstable();
    let before = wanted.len();
    wanted.dedup();
    if wanted.len() != before {
        let message = "foreign key referenced-columns list must not contain duplicates";
        return Err(SqlError::new(code::INVALID_FOREIGN_KEY, message));
    }
    let same = |mut columns: Vec<usize>| {
        columns.sort_unstable();
        columns == wanted
    };
    if let ObjectKind::Table(kind) = &table.kind
        && let Some(index) = kind.primary_key_index
        && same(kind.primary_key.clone())
    {
        return Ok(index);
    }
    let by_index = catalog.indexes(table.id).find(|object| {
        let index = object.index().filter(|index| index.unique);
        index.is_some_and(|index| same(index.keys.iter().map(|key| key.column).collect()))
    });
    by_index.map(|index| index.id).ok_or_else(|| {
        let message = format!(
            "there is no unique constraint matching given keys for referenced table \"{}\"",
            table.name.name
        );
        SqlError::new(code::INVALID_FOREIGN_KEY, message)
    })
}

/// Refuses columns whose values are never equal, or are not compared.
fn check_types(
    name: &str,
    (own, from): (&Object, usize),
    (to, referenced): (&Object, usize),
) -> SqlResult<()> {
    let (from, to) = (&own.columns[from], &to.columns[referenced]);
    if are_comparable(&from.sql_type, &to.sql_type) {
        return Ok(());
    }
    let message = format!("foreign key constraint \"{name}\" cannot be implemented");
    Err(SqlError::new(code::DATATYPE_MISMATCH, message).detail(format!(
        "Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.",
        from.name,
        to.name,
        bare(&from.sql_type),
        bare(&to.sql_type)
    )))
}

/// Whether values of `from` may refer to values of `to`.
fn are_comparable(from: &SqlType, to: &SqlType) -> bool {
    use SqlType::{BigInt, Double, Integer, Numeric, Real, SmallInt, Text, Varchar};
    let is_integer = |one: &SqlType| matches!(one, SmallInt | Integer | BigInt);
    let is_text = |one: &SqlType| matches!(one, Text | Varchar(_));
    bare(from) == bare(to)
        || (is_text(from) && is_text(to))
        || (is_integer(from) && (is_integer(to) || matches!(to, Numeric(_) | Double | Real)))
        || matches!((from, to), (Real, Double) | (Double, Real) | (Numeric(_), Double | Real))
}

/// The type without what its values are limited to.
fn bare(sql_type: &SqlType) -> SqlType {
    match sql_type {
        SqlType::Numeric(_) => SqlType::Numeric(None),
        SqlType::Varchar(_) => SqlType::Varchar(None),
        other => other.clone(),
    }
}

/// A generated column cannot be given a value.
fn check_actions(own: &Object, columns: &[usize], new: &NewForeignKey) -> SqlResult<()> {
    let generated = columns.iter().any(|column| own.columns[*column].generated.is_some());
    let sets = |action: Action| matches!(action, Action::SetNull | Action::SetDefault);
    let event = match generated {
        true if sets(new.on_update) || new.on_update == Action::Cascade => "UPDATE",
        true if sets(new.on_delete) => "DELETE",
        _ => {
            let follows = new.on_delete.follows() || new.on_update.follows();
            if own.append_only() && follows {
                let what = "a foreign key of an append-only table that changes its rows";
                return Err(SqlError::unsupported(what).hint("NO ACTION and RESTRICT do not."));
            }
            return Ok(());
        }
    };
    let message =
        format!("invalid ON {event} action for foreign key constraint containing generated column");
    Err(SqlError::new(code::SYNTAX_ERROR, message))
}

/// Refuses a foreign key where not all writers would keep it.
fn check_written(catalog: &Catalog, own: &Object, to: &Object) -> SqlResult<()> {
    if has_connector(own) {
        return Err(SqlError::unsupported("a foreign key of a table with a connector")
            .hint("What the connector brings is not asked for what it refers to."));
    }
    for table in [own.id, to.id] {
        let into = |object: &&Arc<Object>| object.sink().is_some_and(|sink| sink.into == table);
        if let Some(sink) = catalog.objects().find(into) {
            let table = existing(catalog, table)?;
            return Err(SqlError::unsupported("a foreign key over a table that a sink writes")
                .detail(format!(
                    "Sink \"{}\" writes table \"{}\".",
                    sink.name.name, table.name.name
                )));
        }
    }
    Ok(())
}
