//! Edits: each gives the next catalog, and the durable changes that make it.
//!
//! Nothing here writes: the changes go to disk with the epoch in which the statement takes effect,
//! and only then does anybody see the new catalog.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::catalog::{
    Catalog, Database, Named, Schema, is_system_schema, is_temporary_schema, names_of, oids_of,
};
use super::constraint::ForeignKey;
use super::durable::{self, Change};
use super::edit_access::NewKind;
use super::object::{Object, ObjectKind};
use super::role::Role;
use super::sequence;
use crate::error::{SqlError, SqlResult, code};
use crate::types::ObjectId;

/// The next catalog, and what of it is new on disk.
pub type Edited = (Catalog, Vec<Change>);

const RESERVED_NAME: &str = "42939";

/// What `COMMENT ON` speaks of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommentTarget {
    /// A table, source, view or materialized view.
    Relation(ObjectId),
    /// A column, by its index.
    Column(ObjectId, usize),
    Schema(String),
    Database(String),
}

impl Catalog {
    /// With a new relation, whose OIDs come from [`Catalog::oids`].
    pub fn with_object(&self, mut object: Object) -> SqlResult<Edited> {
        let Some(schema) = self.schema(&object.name.schema) else {
            return Err(no_schema(&object.name.schema));
        };
        if object.acl.is_none() && object.index().is_none() {
            let kind = match object.kind {
                ObjectKind::Sequence(_) => NewKind::Sequence,
                _ => NewKind::Relation,
            };
            object.acl = self.acl_of_new(&object.owner, Some(schema), kind);
        }
        if is_system_schema(&object.name.schema) {
            let message = format!(
                "permission denied to create \"{}.{}\"",
                object.name.schema, object.name.name
            );
            return Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message)
                .detail("System catalog modifications are currently disallowed."));
        }
        check_columns(&object)?;
        self.check_temporary(&object)?;
        if let Some(missing) = object.depends_on.iter().find(|id| !self.exists(**id)) {
            return Err(SqlError::internal(format!("depends on {}, which is gone", missing.0)));
        }
        let mut next = self.clone();
        let names = Arc::make_mut(&mut next.names);
        for (name, named) in names_of(&object) {
            if names.insert(name.clone(), named).is_some() {
                let message = format!("relation \"{}\" already exists", name.name);
                return Err(SqlError::new(code::DUPLICATE_TABLE, message));
            }
        }
        let mut changes = vec![durable::put_object(&object)?];
        next.move_past(oids_of(&object).collect(), &mut changes)?;
        Arc::make_mut(&mut next.objects).insert(object.id, Arc::new(object));
        Ok((next, changes))
    }

    /// With an object changed in place (a comment, a default): same id, same names.
    pub fn with_changed(&self, object: Object) -> SqlResult<Edited> {
        let unchanged = self.object(object.id).is_some_and(|old| old.name == object.name);
        if !unchanged {
            return Err(SqlError::internal(format!("no object {} to change", object.id.0)));
        }
        let mut changes = vec![durable::put_object(&object)?];
        let mut next = self.clone();
        // What changes may be that it has something new.
        next.move_past(oids_of(&object).collect(), &mut changes)?;
        Arc::make_mut(&mut next.objects).insert(object.id, Arc::new(object));
        Ok((next, changes))
    }

    /// Without these relations and functions. What needs them must be among them: see
    /// [`Catalog::plan_drop`].
    pub fn without(&self, ids: &[ObjectId]) -> SqlResult<Edited> {
        let gone: BTreeSet<ObjectId> = ids.iter().copied().collect();
        let relations = self.objects().map(|o| (o.id, o.kind_name(), &o.name));
        let functions = self.functions().map(|f| (f.id, "function", &f.name));
        let is_sequence =
            |id: &ObjectId| self.object(*id).is_some_and(|object| object.sequence().is_some());
        let left_over = relations.chain(functions).find(|(id, _, _)| {
            let mut needs = self.needs(*id).iter().filter(|on| gone.contains(on));
            // A default that draws from a sequence goes with that, not its table.
            !gone.contains(id) && needs.any(|on| !(self.is_table(*id) && is_sequence(on)))
        });
        if let Some((_, kind, name)) = left_over {
            return Err(SqlError::new(
                code::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("{kind} \"{}\" still depends on it", name.name),
            ));
        }
        let mut next = self.clone();
        Arc::make_mut(&mut next.objects).retain(|id, _| !gone.contains(id));
        Arc::make_mut(&mut next.names).retain(|_, named| match named {
            Named::Object(id) | Named::PrimaryKeyOf(id) => !gone.contains(id),
        });
        Arc::make_mut(&mut next.functions).retain(|id, _| !gone.contains(id));
        let delete = |id: ObjectId| match self.function(id) {
            Some(_) => durable::delete_function(id),
            None => durable::delete_object(id),
        };
        let mut changes: Vec<Change> = gone.iter().copied().map(delete).collect();
        for object in self.objects().filter(|object| !gone.contains(&object.id)) {
            let refers =
                |key: &ForeignKey| gone.contains(&key.references) || gone.contains(&key.key);
            let keys = object.foreign_keys();
            if object.depends_on.iter().any(|on| gone.contains(on)) || keys.iter().any(refers) {
                let mut left = Object::clone(object);
                left.depends_on.retain(|on| !gone.contains(on));
                if let Some(constraints) = left.constraints_mut() {
                    constraints.foreign_keys.retain(|key| !refers(key));
                }
                for column in &mut left.columns {
                    let drawn = column.default.as_deref().map(sequence::sequences_in);
                    if drawn.into_iter().flatten().any(|(_, drawn)| gone.contains(&drawn)) {
                        column.default = None;
                    }
                }
                changes.push(durable::put_object(&left)?);
                Arc::make_mut(&mut next.objects).insert(left.id, Arc::new(left));
            }
        }
        Ok((next, changes))
    }

    fn is_table(&self, id: ObjectId) -> bool {
        self.object(id).is_some_and(|object| matches!(object.kind, ObjectKind::Table(_)))
    }

    /// What outlives a session cannot need its tables; and only plain tables are temporary.
    pub fn check_temporary(&self, object: &Object) -> SqlResult<()> {
        let is_plain = match &object.kind {
            ObjectKind::Table(table) => table.connector.is_none(),
            ObjectKind::Index(_) | ObjectKind::Sequence(_) => true,
            _ => false,
        };
        if is_temporary_schema(&object.name.schema) {
            return match is_plain {
                true => Ok(()),
                false => Err(SqlError::unsupported("a temporary relation that is no plain table")),
            };
        }
        let needs = object.depends_on.iter().filter_map(|id| self.object(*id));
        let Some(needed) = needs.into_iter().find(|on| is_temporary_schema(&on.name.schema)) else {
            return Ok(());
        };
        if matches!(object.kind, ObjectKind::MaterializedView(_)) {
            let message = "materialized views must not use temporary tables or views";
            return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message));
        }
        let what = format!("a {} over a temporary table", object.kind_name());
        Err(SqlError::unsupported(what)
            .detail(format!("Table \"{}\" ends with its session.", needed.name.name)))
    }

    /// With a schema for temporary tables.
    pub fn with_temporary_schema(&self, name: &str, owner: &str) -> SqlResult<Edited> {
        self.with_new_schema(name, owner)
    }

    /// With a new schema.
    pub fn with_schema(&self, name: &str, owner: &str) -> SqlResult<Edited> {
        if name.starts_with("pg_") {
            return Err(SqlError::new(
                RESERVED_NAME,
                format!("unacceptable schema name \"{name}\""),
            )
            .detail("The prefix \"pg_\" is reserved for system schemas."));
        }
        self.with_new_schema(name, owner)
    }

    fn with_new_schema(&self, name: &str, owner: &str) -> SqlResult<Edited> {
        if self.schema(name).is_some() {
            let message = format!("schema \"{name}\" already exists");
            return Err(SqlError::new(code::DUPLICATE_SCHEMA, message));
        }
        let schema = Schema {
            id: self.oids().next(),
            name: name.to_owned(),
            owner: owner.to_owned(),
            comment: None,
            acl: self.acl_of_new(owner, None, NewKind::Schema),
        };
        let mut next = self.clone();
        let mut changes = vec![durable::put_schema(&schema)?];
        next.move_past(vec![schema.id], &mut changes)?;
        Arc::make_mut(&mut next.schemas).insert(name.to_owned(), Arc::new(schema));
        Ok((next, changes))
    }

    /// Without a schema, which must be empty: drop what is in it first (`plan_drop_schema`).
    pub fn without_schema(&self, name: &str) -> SqlResult<Edited> {
        let schema = self.schema(name).ok_or_else(|| no_schema(name))?;
        if schema.is_system() {
            let message =
                format!("cannot drop schema {name} because it is required by the database system");
            return Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message));
        }
        if let Some(object) = self.objects().find(|object| object.name.schema == name) {
            let message = format!("cannot drop schema {name} because other objects depend on it");
            return Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message).detail(
                format!(
                    "{} {name}.{} depends on schema {name}",
                    object.kind_name(),
                    object.name.name
                ),
            ));
        }
        if let Some(function) = self.functions().find(|function| function.name.schema == name) {
            let message = format!("cannot drop schema {name} because other objects depend on it");
            let detail = format!("function {} depends on schema {name}", function.signature());
            return Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message).detail(detail));
        }
        let mut changes = vec![durable::delete_schema(schema.id)?];
        let mut next = self.clone();
        changes.extend(next.forget_default_acls(schema.id));
        Arc::make_mut(&mut next.schemas).remove(name);
        Ok((next, changes))
    }

    /// With a new database.
    pub fn with_database(&self, name: &str, owner: &str) -> SqlResult<Edited> {
        if self.database(name).is_some() {
            let message = format!("database \"{name}\" already exists");
            return Err(SqlError::new(code::DUPLICATE_DATABASE, message));
        }
        let database = Database {
            id: self.oids().next(),
            name: name.to_owned(),
            owner: owner.to_owned(),
            comment: None,
            acl: None,
            settings: BTreeMap::new(),
        };
        let mut next = self.clone();
        let mut changes = vec![durable::put_database(&database)?];
        next.move_past(vec![database.id], &mut changes)?;
        Arc::make_mut(&mut next.databases).insert(name.to_owned(), Arc::new(database));
        Ok((next, changes))
    }

    /// Without a database. That nobody is connected to it, the session knows.
    pub fn without_database(&self, name: &str) -> SqlResult<Edited> {
        let database = self.database(name).ok_or_else(|| no_database(name))?;
        let mut changes = vec![durable::delete_database(database.id)?];
        let mut next = self.clone();
        Arc::make_mut(&mut next.databases).remove(name);
        for role in self.roles() {
            let mut role = Role::clone(role);
            let before = role.settings.len();
            role.settings.retain(|setting| setting.database != Some(database.id));
            if role.settings.len() != before {
                changes.push(durable::put_role(&role)?);
                next.insert_role(role);
            }
        }
        Ok((next, changes))
    }

    /// With a comment, or without one. An empty comment is none, as in PostgreSQL.
    pub fn with_comment(
        &self,
        target: &CommentTarget,
        comment: Option<String>,
    ) -> SqlResult<Edited> {
        let comment = comment.filter(|text| !text.is_empty());
        match target {
            CommentTarget::Relation(id) => {
                self.with_changed(Object { comment, ..self.existing(*id)?.clone() })
            }
            CommentTarget::Column(id, column) => {
                let mut object = self.existing(*id)?.clone();
                let column = object
                    .columns
                    .get_mut(*column)
                    .ok_or_else(|| SqlError::internal(format!("no column {column}")))?;
                column.comment = comment;
                self.with_changed(object)
            }
            CommentTarget::Schema(name) => {
                let schema = self.schema(name).ok_or_else(|| no_schema(name))?;
                let schema = Schema { comment, ..Schema::clone(schema) };
                let changes = vec![durable::put_schema(&schema)?];
                let mut next = self.clone();
                Arc::make_mut(&mut next.schemas).insert(name.clone(), Arc::new(schema));
                Ok((next, changes))
            }
            CommentTarget::Database(name) => {
                let database = self.database(name).ok_or_else(|| no_database(name))?;
                let database = Database { comment, ..Database::clone(database) };
                let changes = vec![durable::put_database(&database)?];
                let mut next = self.clone();
                Arc::make_mut(&mut next.databases).insert(name.clone(), Arc::new(database));
                Ok((next, changes))
            }
        }
    }

    fn existing(&self, id: ObjectId) -> SqlResult<&Object> {
        self.object(id)
            .map(Arc::as_ref)
            .ok_or_else(|| SqlError::internal(format!("object {} does not exist", id.0)))
    }

    /// OIDs that were given out are never given out again, also after a restart.
    pub(super) fn move_past(
        &mut self,
        given: Vec<ObjectId>,
        changes: &mut Vec<Change>,
    ) -> SqlResult<()> {
        let above = given.into_iter().map(|id| id.0 + 1).max().unwrap_or(0);
        if above > self.next_oid {
            self.next_oid = above;
            changes.push(durable::put_next_oid(above)?);
        }
        Ok(())
    }
}

fn check_columns(object: &Object) -> SqlResult<()> {
    let mut seen = BTreeSet::new();
    match object.columns.iter().find(|column| !seen.insert(column.name.as_str())) {
        None => Ok(()),
        Some(twice) => Err(SqlError::new(
            code::DUPLICATE_COLUMN,
            format!("column \"{}\" specified more than once", twice.name),
        )),
    }
}

/// 3F000.
pub(super) fn no_schema(name: &str) -> SqlError {
    SqlError::new(code::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist"))
}

/// 3D000.
pub(super) fn no_database(name: &str) -> SqlError {
    SqlError::new(code::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist"))
}
