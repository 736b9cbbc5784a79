//! Edits of owners and of access control lists; as [`super::edit`], each gives the next catalog
//! and what of it is new on disk.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::catalog::{Catalog, Database, Schema};
use super::durable;
use super::edit::{Edited, no_database, no_schema};
use super::function::Function;
use super::object::Object;
use super::privilege::{Acl, Privileges};
use crate::error::{SqlError, SqlResult};
use crate::types::ObjectId;

/// What can be granted on, or owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Securable {
    Relation(ObjectId),
    Function(ObjectId),
    Schema(String),
    Database(String),
}

/// What the new objects of a role are granted at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultAcl {
    /// `pg_default_acl.oid`.
    pub id: ObjectId,
    /// Whose new objects.
    pub role: ObjectId,
    /// Those in this schema; `None`: all.
    pub schema: Option<ObjectId>,
    pub kind: NewKind,
    /// Without a schema: instead of what is so anyway; in one: added to it.
    pub acl: Acl,
}

/// Which new objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NewKind {
    /// Relations of any kind but sequences.
    Relation,
    Sequence,
    Schema,
}

impl NewKind {
    /// All privileges that there are on them.
    pub fn all(self) -> Privileges {
        match self {
            NewKind::Relation => Privileges::OF_RELATION,
            NewKind::Sequence => Privileges::OF_SEQUENCE,
            NewKind::Schema => Privileges::OF_SCHEMA,
        }
    }

    /// `pg_default_acl.defaclobjtype`.
    pub fn letter(self) -> &'static str {
        match self {
            NewKind::Relation => "r",
            NewKind::Sequence => "S",
            NewKind::Schema => "n",
        }
    }
}

impl Catalog {
    /// Who owns something, and what may be done with it.
    pub fn owner_and_acl(&self, what: &Securable) -> SqlResult<(String, Acl)> {
        Ok(match what {
            Securable::Relation(id) => {
                let object = self.relation(*id)?;
                (object.owner.clone(), self.acl_of(object))
            }
            Securable::Function(id) => (self.function_with(*id)?.owner.clone(), Acl::default()),
            Securable::Schema(name) => {
                let schema = self.schema(name).ok_or_else(|| no_schema(name))?;
                (schema.owner.clone(), self.acl_of_schema(schema))
            }
            Securable::Database(name) => {
                let database = self.database(name).ok_or_else(|| no_database(name))?;
                (database.owner.clone(), self.acl_of_database(database))
            }
        })
    }

    /// With another access control list.
    pub fn with_acl(&self, what: &Securable, acl: Acl) -> SqlResult<Edited> {
        let (owner, _) = self.owner_and_acl(what)?;
        self.with_owner_and_acl(what, owner, Some(acl))
    }

    /// With another owner, who gets what the old one gave and had as such.
    pub fn with_owner(&self, what: &Securable, new: &str) -> SqlResult<Edited> {
        let (old, _) = self.owner_and_acl(what)?;
        let (old_id, new_id) = (self.owner_id(&old), self.owner_id(new));
        let acl = self.stated_acl(what).map(|acl| acl.with_owner(old_id, new_id));
        self.with_owner_and_acl(what, new.to_owned(), acl)
    }

    /// The list if something was granted or revoked.
    fn stated_acl(&self, what: &Securable) -> Option<&Acl> {
        match what {
            Securable::Relation(id) => self.object(*id)?.acl.as_ref(),
            Securable::Function(_) => None,
            Securable::Schema(name) => self.schema(name)?.acl.as_ref(),
            Securable::Database(name) => self.database(name)?.acl.as_ref(),
        }
    }

    fn with_owner_and_acl(
        &self,
        what: &Securable,
        owner: String,
        acl: Option<Acl>,
    ) -> SqlResult<Edited> {
        let mut next = self.clone();
        let change = match what {
            Securable::Relation(id) => {
                let object = Object { owner, acl, ..self.relation(*id)?.clone() };
                return self.with_changed(object);
            }
            Securable::Function(id) => {
                let function = Function { owner, ..self.function_with(*id)?.clone() };
                return self.with_function(function);
            }
            Securable::Schema(name) => {
                let old = self.schema(name).ok_or_else(|| no_schema(name))?;
                let schema = Schema { owner, acl, ..Schema::clone(old) };
                let change = durable::put_schema(&schema)?;
                Arc::make_mut(&mut next.schemas).insert(name.clone(), Arc::new(schema));
                change
            }
            Securable::Database(name) => {
                let old = self.database(name).ok_or_else(|| no_database(name))?;
                let database = Database { owner, acl, ..Database::clone(old) };
                let change = durable::put_database(&database)?;
                Arc::make_mut(&mut next.databases).insert(name.clone(), Arc::new(database));
                change
            }
        };
        Ok((next, vec![change]))
    }

    fn relation(&self, id: ObjectId) -> SqlResult<&Object> {
        let found = self.object(id).map(Arc::as_ref);
        found.ok_or_else(|| SqlError::internal(format!("object {} does not exist", id.0)))
    }

    fn function_with(&self, id: ObjectId) -> SqlResult<&Function> {
        let found = self.function(id).map(Arc::as_ref);
        found.ok_or_else(|| SqlError::internal(format!("function {} does not exist", id.0)))
    }

    /// All default privileges.
    pub fn default_acls(&self) -> impl Iterator<Item = &Arc<DefaultAcl>> {
        self.default_acls.values()
    }

    /// The default privileges of exactly these objects-to-be.
    pub fn default_acl(
        &self,
        role: ObjectId,
        schema: Option<ObjectId>,
        kind: NewKind,
    ) -> Option<&Arc<DefaultAcl>> {
        self.default_acls().find(|one| one.role == role && one.schema == schema && one.kind == kind)
    }

    /// With default privileges; without them if they say nothing but what is so anyway.
    pub fn with_default_acl(
        &self,
        role: ObjectId,
        schema: Option<ObjectId>,
        kind: NewKind,
        acl: Acl,
    ) -> SqlResult<Edited> {
        let usual = match schema {
            Some(_) => Acl::default(),
            None => Acl::initial(role, kind.all(), Privileges::NONE),
        };
        let old = self.default_acl(role, schema, kind).map(|old| old.id);
        let mut next = self.clone();
        let acl = acl.sorted();
        if acl == usual {
            let Some(id) = old else { return Ok((next, Vec::new())) };
            Arc::make_mut(&mut next.default_acls).remove(&id);
            return Ok((next, vec![durable::delete_default_acl(id)]));
        }
        let id = old.unwrap_or_else(|| self.oids().next());
        let default = DefaultAcl { id, role, schema, kind, acl };
        let mut changes = vec![durable::put_default_acl(&default)?];
        next.move_past(vec![id], &mut changes)?;
        Arc::make_mut(&mut next.default_acls).insert(id, Arc::new(default));
        Ok((next, changes))
    }

    /// Without the default privileges of a schema, which goes.
    pub(super) fn forget_default_acls(&mut self, schema: ObjectId) -> Vec<durable::Change> {
        let gone: Vec<ObjectId> = self
            .default_acls()
            .filter(|one| one.schema == Some(schema))
            .map(|one| one.id)
            .collect();
        if !gone.is_empty() {
            Arc::make_mut(&mut self.default_acls).retain(|id, _| !gone.contains(id));
        }
        gone.into_iter().map(durable::delete_default_acl).collect()
    }

    /// What a new object of `owner` is granted at once; `None`: nothing out of the ordinary.
    pub(super) fn acl_of_new(
        &self,
        owner: &str,
        schema: Option<&Schema>,
        kind: NewKind,
    ) -> Option<Acl> {
        let owner = self.owner_id(owner);
        let usual = Acl::initial(owner, kind.all(), Privileges::NONE);
        let mut acl = match self.default_acl(owner, None, kind) {
            Some(default) => default.acl.clone(),
            None => usual.clone(),
        };
        let in_schema = schema.and_then(|schema| self.default_acl(owner, Some(schema.id), kind));
        for entry in in_schema.iter().flat_map(|default| default.acl.entries()) {
            acl.grant(entry.grantee, entry.grantor, entry.privileges, entry.grantable);
        }
        (acl != usual).then_some(acl)
    }
}
