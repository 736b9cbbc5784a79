//! What is called otherwise from now on: relations, columns, keys, schemas.
//!
//! Who depends on something renamed holds on to it (`meaning`): the caller says what each
//! definition reads as, which takes a parser.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::catalog::{Catalog, Named, Schema, is_temporary_schema, names_of, schemas_meant};
use super::durable;
use super::edit::{Edited, no_schema};
use super::function::{Function, Returns};
use super::meaning::{Meaning, names_of_columns};
use super::object::{Object, ObjectKind, QualifiedName};
use crate::error::{SqlError, SqlResult, code};
use crate::types::ObjectId;

/// The start of names that are the system's.
const RESERVED_PREFIX: &str = "pg_";

/// 42939: the name is reserved.
const RESERVED_NAME: &str = "42939";

/// What a relation's name stands for.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    Object(&'a Arc<Object>),
    /// The index of this table's primary key.
    KeyOf(&'a Arc<Object>),
}

impl Catalog {
    /// What a name means, of relations and of primary keys' indexes.
    pub fn target(
        &self,
        search_path: &[String],
        schema: Option<&str>,
        name: &str,
    ) -> Option<Target<'_>> {
        let named = schemas_meant(search_path, schema)
            .find_map(|schema| self.names.get(&QualifiedName::new(schema, name)))?;
        match named {
            Named::Object(id) => self.object(*id).map(Target::Object),
            Named::PrimaryKeyOf(id) => self.object(*id).map(Target::KeyOf),
        }
    }

    /// With a relation under another name, which may be in another schema. The indexes of a table
    /// and the name of its key go where it goes.
    pub fn with_name(&self, id: ObjectId, name: QualifiedName) -> SqlResult<Edited> {
        let Some(old) = self.object(id) else { return Err(gone(id)) };
        if self.schema(&name.schema).is_none() {
            return Err(no_schema(&name.schema));
        }
        let moved = old.name.schema != name.schema;
        let mut changed = vec![Object { name: name.clone(), ..Object::clone(old) }];
        if moved {
            changed.extend(self.indexes(id).map(|index| Object {
                name: QualifiedName::new(&name.schema, &index.name.name),
                ..Object::clone(index)
            }));
        }
        let rows_of = |returns: &Returns| match returns {
            Returns::Rows(of, columns) if *of == old.name => {
                Some(Returns::Rows(name.clone(), columns.clone()))
            }
            _ => None,
        };
        let functions: Vec<Function> = self
            .functions()
            .filter_map(|one| Some(Function { returns: rows_of(&one.returns)?, ..(**one).clone() }))
            .collect();
        let (mut next, mut changes) = self.with_renamed(changed, moved)?;
        for function in functions {
            let (with, more) = next.with_function(function)?;
            next = with;
            changes.extend(more);
        }
        Ok((next, changes))
    }

    /// With another name for a relation's column.
    pub fn with_column_name(&self, id: ObjectId, column: usize, name: &str) -> SqlResult<Edited> {
        let Some(old) = self.object(id) else { return Err(gone(id)) };
        let mut object = Object::clone(old);
        if let ObjectKind::MaterializedView(view) = &mut object.kind
            && view.meaning.called.is_empty()
        {
            view.meaning.called = names_of_columns(old);
        }
        if let Some(column) = object.columns.get_mut(column) {
            name.clone_into(&mut column.name);
        }
        self.with_changed(object)
    }

    /// With another name for the primary key of a table.
    pub fn with_key_name(&self, table: ObjectId, name: &str) -> SqlResult<Edited> {
        let Some(old) = self.object(table) else { return Err(gone(table)) };
        let mut object = Object::clone(old);
        if let ObjectKind::Table(kind) = &mut object.kind {
            kind.primary_key_name = Some(name.to_owned());
        }
        self.with_renamed(vec![object], false)
    }

    /// With the statement that would make an object anew as it is.
    pub fn with_statement(&self, id: ObjectId) -> SqlResult<Edited> {
        let Some(object) = self.object(id) else { return Err(gone(id)) };
        let definition = self.statement(object);
        self.with_changed(Object { definition, ..Object::clone(object) })
    }

    /// With another name for a constraint that no index enforces.
    pub fn with_constraint_name(&self, table: ObjectId, old: &str, new: &str) -> SqlResult<Edited> {
        let Some(object) = self.object(table) else { return Err(gone(table)) };
        let mut object = Object::clone(object);
        let name = object.constraints_mut().and_then(|constraints| constraints.name_mut(old));
        if let Some(name) = name {
            new.clone_into(name);
        }
        self.with_changed(object)
    }

    /// With another name for a schema. Search paths that are kept with definitions follow it.
    pub fn with_schema_name(&self, old: &str, new: &str) -> SqlResult<Edited> {
        let schema = self.schema(old).ok_or_else(|| no_schema(old))?;
        if self.schema(new).is_some() {
            let message = format!("schema \"{new}\" already exists");
            return Err(SqlError::new(code::DUPLICATE_SCHEMA, message));
        }
        if schema.is_system() || is_temporary_schema(old) {
            let message = format!("permission denied to rename schema \"{old}\"");
            return Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message)
                .detail("System catalog modifications are currently disallowed."));
        }
        if new.starts_with(RESERVED_PREFIX) {
            let message = format!("unacceptable schema name \"{new}\"");
            return Err(SqlError::new(RESERVED_NAME, message)
                .detail("The prefix \"pg_\" is reserved for system schemas."));
        }
        let schema = Schema { name: new.to_owned(), ..Schema::clone(schema) };
        let mut changes = vec![durable::put_schema(&schema)?];
        let mut next = self.clone();
        let schemas = Arc::make_mut(&mut next.schemas);
        schemas.remove(old);
        schemas.insert(new.to_owned(), Arc::new(schema));
        let moved: Vec<Object> =
            self.objects().filter_map(|one| in_schema(one, old, new)).collect();
        let (mut next, more) = next.with_renamed(moved, false)?;
        changes.extend(more);
        for function in self.functions() {
            if let Some(function) = function_in_schema(function, old, new) {
                let (with, more) = next.with_function(function)?;
                next = with;
                changes.extend(more);
            }
        }
        Ok((next, changes))
    }

    /// With what the texts of definitions mean, and with the statements that would make anew what
    /// is called otherwise, or names what is.
    pub fn with_meanings(
        &self,
        meanings: BTreeMap<ObjectId, Meaning>,
        renamed: &[ObjectId],
    ) -> SqlResult<Edited> {
        let mut next = self.clone();
        let mut changes = Vec::new();
        for function in self.functions() {
            if let Some(meaning) = meanings.get(&function.id) {
                let function = Function { meaning: meaning.clone(), ..(**function).clone() };
                let (with, more) = next.with_function(function)?;
                next = with;
                changes.extend(more);
            }
        }
        for old in self.objects() {
            let mut object = Object::clone(old);
            if let (Some(own), Some(meaning)) = (object.meaning_mut(), meanings.get(&old.id)) {
                *own = meaning.clone();
            }
            let mut refers = old.foreign_keys().iter().map(|key| key.references);
            if renamed.contains(&old.id)
                || old.depends_on.iter().any(|on| renamed.contains(on))
                || refers.any(|to| renamed.contains(&to))
            {
                object.definition = self.statement(&object);
            }
            if object != **old {
                let (with, more) = next.with_changed(object)?;
                next = with;
                changes.extend(more);
            }
        }
        Ok((next, changes))
    }

    /// With these objects in the place of those with their ids, under names that may be others.
    /// `moved`: into a schema, which the message for a name that is taken names.
    fn with_renamed(&self, objects: Vec<Object>, moved: bool) -> SqlResult<Edited> {
        let mut next = self.clone();
        let mut changes = Vec::new();
        let names = Arc::make_mut(&mut next.names);
        for object in &objects {
            let old = self.object(object.id).ok_or_else(|| gone(object.id))?;
            for (name, _) in names_of(old) {
                names.remove(&name);
            }
        }
        for object in &objects {
            for (name, named) in names_of(object) {
                if names.insert(name.clone(), named).is_some() {
                    return Err(taken(&name, moved));
                }
            }
            changes.push(durable::put_object(object)?);
        }
        let all = Arc::make_mut(&mut next.objects);
        all.extend(objects.into_iter().map(|object| (object.id, Arc::new(object))));
        Ok((next, changes))
    }
}

/// 42P07.
pub fn taken(name: &QualifiedName, moved: bool) -> SqlError {
    let place = if moved { format!(" in schema \"{}\"", name.schema) } else { String::new() };
    let message = format!("relation \"{}\" already exists{place}", name.name);
    SqlError::new(code::DUPLICATE_TABLE, message)
}

fn gone(id: ObjectId) -> SqlError {
    SqlError::internal(format!("object {} does not exist", id.0))
}

/// The object as it is when schema `old` is called `new`; `None`: as it was.
fn in_schema(object: &Arc<Object>, old: &str, new: &str) -> Option<Object> {
    let mut renamed = Object::clone(object);
    follow(&mut renamed.name.schema, old, new);
    match &mut renamed.kind {
        ObjectKind::View(view) => follow_path(&mut view.search_path, old, new),
        ObjectKind::MaterializedView(view) => follow_path(&mut view.search_path, old, new),
        ObjectKind::Sink(sink) => {
            let query = sink.query.as_mut();
            query.into_iter().for_each(|query| follow_path(&mut query.search_path, old, new));
        }
        ObjectKind::Table(_)
        | ObjectKind::Source(_)
        | ObjectKind::Index(_)
        | ObjectKind::Sequence(_)
        | ObjectKind::Subscription(_) => {}
    }
    (renamed != **object).then_some(renamed)
}

fn function_in_schema(function: &Arc<Function>, old: &str, new: &str) -> Option<Function> {
    let mut renamed = Function::clone(function);
    follow(&mut renamed.name.schema, old, new);
    follow_path(&mut renamed.search_path, old, new);
    if let Returns::Rows(of, _) = &mut renamed.returns {
        follow(&mut of.schema, old, new);
    }
    (renamed != **function).then_some(renamed)
}

fn follow(schema: &mut String, old: &str, new: &str) {
    if schema == old {
        new.clone_into(schema);
    }
}

fn follow_path(path: &mut [String], old: &str, new: &str) {
    path.iter_mut().for_each(|schema| follow(schema, old, new));
}

#[cfg(test)]
mod tests {
    use super::super::testing::{catalog_of, table};
    use super::*;

    fn id(catalog: &Catalog, name: &str) -> ObjectId {
        catalog.object_named(&QualifiedName::new("public", name)).expect("made before").id
    }

    #[test]
    fn a_name_that_was_given_up_is_free_and_one_that_was_taken_is_not() {
        let catalog = catalog_of(&[("t", &[]), ("u", &[])]);
        let t = id(&catalog, "t");
        for taken in ["u", "u_pkey", "t"] {
            let named = catalog.with_name(t, QualifiedName::new("public", taken));
            let itself = taken == "t";
            assert_eq!(named.is_ok(), itself, "{taken}");
        }
        let (renamed, changes) =
            catalog.with_name(t, QualifiedName::new("public", "old")).expect("free");
        assert_eq!(changes.len(), 1);
        assert_eq!(id(&renamed, "old"), t);
        let mut again = table(&renamed, "t");
        assert_eq!(again.name.name, "t");
        if let ObjectKind::Table(table) = &mut again.kind {
            assert_eq!(table.primary_key_name.as_deref(), Some("t_pkey1"), "the key kept its name");
        }
        assert!(renamed.with_object(again).is_ok());
        let (keyed, _) = renamed.with_key_name(t, "old_pkey").expect("free");
        assert!(keyed.with_key_name(t, "u").is_err());
        assert!(keyed.names.contains_key(&QualifiedName::new("public", "old_pkey")));
        assert!(!keyed.names.contains_key(&QualifiedName::new("public", "t_pkey")));
    }

    #[test]
    fn a_schema_takes_what_is_in_it_along() {
        let catalog = catalog_of(&[("t", &[]), ("v", &["t"])]);
        let (t, v) = (id(&catalog, "t"), id(&catalog, "v"));
        let (renamed, _) = catalog.with_schema_name("public", "p").expect("free");
        assert!(renamed.schema("public").is_none());
        assert_eq!(renamed.object(t).expect("there").name, QualifiedName::new("p", "t"));
        let (_, path) = renamed.object(v).expect("there").written().expect("a query");
        assert_eq!(path, ["p"]);
        assert_eq!(renamed.with_schema_name("p", "weir").unwrap_err().code, "42P06");
        assert_eq!(renamed.with_schema_name("p", "pg_x").unwrap_err().code, RESERVED_NAME);
        assert_eq!(renamed.with_schema_name("weir", "x").unwrap_err().code, "42501");
    }
}
