//! Whether a role may do what a statement asks for.
//!
//! All rights are judged here, in PostgreSQL's words; who asks is where a name becomes an object:
//! the relations that a query reads (`serving::names`), the table that a statement writes
//! (`engine::dml`), and what DDL makes, changes or takes away (`engine::ddl::authority`).

use std::collections::BTreeSet;

use super::catalog::{Catalog, Database, PUBLIC_OID, Schema};
use super::edit_access::NewKind;
use super::function::Function;
use super::object::Object;
use super::privilege::{Acl, Privileges};
use super::role::{self, Role, no_role};
use crate::error::{SqlError, SqlResult, code};
use crate::types::ObjectId;

/// A role with all rights that it has by itself and by inheritance.
#[derive(Debug)]
pub struct Actor<'a> {
    catalog: &'a Catalog,
    role: &'a Role,
    /// Itself and the roles whose rights it has; a superuser's are not gathered.
    roles: BTreeSet<ObjectId>,
}

impl Catalog {
    /// The role of this name as one who acts.
    pub fn actor(&self, name: &str) -> SqlResult<Actor<'_>> {
        let role = self.role(name).ok_or_else(|| no_role(name))?;
        Ok(self.acting(role))
    }

    /// The owner of something as one who acts.
    pub fn owner_actor(&self, owner: &str) -> SqlResult<Actor<'_>> {
        let role = self.role_by_id(self.owner_id(owner)).ok_or_else(|| no_role(owner))?;
        Ok(self.acting(role))
    }

    /// A role as one who acts.
    pub fn acting<'a>(&'a self, role: &'a Role) -> Actor<'a> {
        let roles = match role.superuser {
            true => BTreeSet::from([role.id]),
            false => self.inherited_closure(role.id),
        };
        Actor { catalog: self, role, roles }
    }

    /// Who may do what with a relation.
    pub fn acl_of(&self, object: &Object) -> Acl {
        object.acl.clone().unwrap_or_else(|| {
            let owner = self.owner_id(&object.owner);
            Acl::initial(owner, object.all_privileges(), Privileges::NONE)
        })
    }

    /// Who may do what with a schema. Those that are there from the start are everybody's to use.
    pub fn acl_of_schema(&self, schema: &Schema) -> Acl {
        schema.acl.clone().unwrap_or_else(|| {
            let everybody = match schema.is_system() || schema.id == PUBLIC_OID {
                true => Privileges::USAGE,
                false => Privileges::NONE,
            };
            Acl::initial(self.owner_id(&schema.owner), Privileges::OF_SCHEMA, everybody)
        })
    }

    /// Who may do what with a database. At first everybody may connect.
    pub fn acl_of_database(&self, database: &Database) -> Acl {
        database.acl.clone().unwrap_or_else(|| {
            let everybody = Privileges::CONNECT | Privileges::TEMPORARY;
            Acl::initial(self.owner_id(&database.owner), Privileges::OF_DATABASE, everybody)
        })
    }
}

impl<'a> Actor<'a> {
    pub fn catalog(&self) -> &'a Catalog {
        self.catalog
    }

    pub fn role(&self) -> &'a Role {
        self.role
    }

    pub fn is_superuser(&self) -> bool {
        self.role.superuser
    }

    /// Itself, and the roles whose rights it has.
    pub fn roles(&self) -> &BTreeSet<ObjectId> {
        &self.roles
    }

    /// Whether it has the rights of this role.
    pub fn has_role(&self, role: ObjectId) -> bool {
        self.role.superuser || self.roles.contains(&role)
    }

    /// Whether what this role owns is its own.
    pub fn owns(&self, owner: &str) -> bool {
        self.has_role(self.catalog.owner_id(owner))
    }

    /// What it may do with a relation.
    pub fn on_relation(&self, object: &Object) -> Privileges {
        if self.role.superuser {
            return object.all_privileges();
        }
        let mut held = self.catalog.acl_of(object).held_by(&self.roles);
        if self.roles.contains(&role::READ_ALL_DATA) {
            held = held | Privileges::SELECT;
        }
        if self.roles.contains(&role::WRITE_ALL_DATA) {
            held = held | Privileges::INSERT | Privileges::UPDATE | Privileges::DELETE;
        }
        held
    }

    /// What it may do with a schema.
    pub fn on_schema(&self, schema: &Schema) -> Privileges {
        if self.role.superuser {
            return Privileges::OF_SCHEMA;
        }
        let held = self.catalog.acl_of_schema(schema).held_by(&self.roles);
        let everywhere = [role::READ_ALL_DATA, role::WRITE_ALL_DATA];
        match everywhere.iter().any(|role| self.roles.contains(role)) {
            true => held | Privileges::USAGE,
            false => held,
        }
    }

    /// What it may do with a database.
    pub fn on_database(&self, database: &Database) -> Privileges {
        match self.role.superuser {
            true => Privileges::OF_DATABASE,
            false => self.catalog.acl_of_database(database).held_by(&self.roles),
        }
    }

    /// 42501 unless it may do all of `wanted` with the relation.
    pub fn check_relation(&self, object: &Object, wanted: Privileges) -> SqlResult<()> {
        match self.on_relation(object).contains(wanted) {
            true => Ok(()),
            false => Err(denied(object.kind_name(), &object.name.name)),
        }
    }

    /// 42501 unless it may do all of `wanted` with the schema of this name. One that does not
    /// exist is for others to report.
    pub fn check_schema(&self, name: &str, wanted: Privileges) -> SqlResult<()> {
        match self.catalog.schema(name) {
            Some(schema) if !self.on_schema(schema).contains(wanted) => Err(denied("schema", name)),
            _ => Ok(()),
        }
    }

    /// 42501 unless it may do all of `wanted` with the database of this name, if there is one.
    pub fn check_database(&self, name: &str, wanted: Privileges) -> SqlResult<()> {
        match self.catalog.database(name) {
            Some(database) if !self.on_database(database).contains(wanted) => {
                Err(denied("database", name))
            }
            _ => Ok(()),
        }
    }

    /// 42501 unless the relation is its own.
    pub fn check_owns(&self, object: &Object) -> SqlResult<()> {
        self.check_owner(&object.owner, object.kind_name(), &object.name.name)
    }

    /// The same for a function.
    pub fn check_owns_function(&self, function: &Function) -> SqlResult<()> {
        self.check_owner(&function.owner, "function", &function.name.name)
    }

    /// The same for what messages call `kind`.
    pub fn check_owner(&self, owner: &str, kind: &str, name: &str) -> SqlResult<()> {
        match self.owns(owner) {
            true => Ok(()),
            false => Err(SqlError::new(
                code::INSUFFICIENT_PRIVILEGE,
                format!("must be owner of {kind} {name}"),
            )),
        }
    }

    /// Refuses temporary tables to those who may not have them in this database.
    pub fn check_temporary(&self, database: &str) -> SqlResult<()> {
        let found = self.catalog.database(database);
        if found.is_some_and(|one| self.on_database(one).contains(Privileges::TEMPORARY)) {
            return Ok(());
        }
        let message =
            format!("permission denied to create temporary tables in database \"{database}\"");
        Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message))
    }

    /// The schemas of a search path that it may look into: names are not found in the others.
    pub fn usable_path(&self, search_path: &[String]) -> Vec<String> {
        let usable = |name: &&String| {
            self.catalog
                .schema(name)
                .is_none_or(|schema| self.on_schema(schema).contains(Privileges::USAGE))
        };
        search_path.iter().filter(usable).cloned().collect()
    }
}

/// 42501, as PostgreSQL words it.
pub fn denied(kind: &str, name: &str) -> SqlError {
    let message = format!("permission denied for {kind} {name}");
    SqlError::new(code::INSUFFICIENT_PRIVILEGE, message)
}

impl Catalog {
    /// What keeps a role from being dropped, a line each.
    pub fn what_needs_role(&self, role: &Role) -> Vec<String> {
        let mut lines = Vec::new();
        let mut add = |kind: &str, name: &str, owner: &str, acl: Option<&Acl>| {
            if owner == role.name {
                lines.push(format!("owner of {kind} {name}"));
            } else if acl.is_some_and(|acl| acl.mentions(role.id)) {
                lines.push(format!("privileges for {kind} {name}"));
            }
        };
        for database in self.databases() {
            add("database", &database.name, &database.owner, database.acl.as_ref());
        }
        for schema in self.schemas() {
            add("schema", &schema.name, &schema.owner, schema.acl.as_ref());
        }
        for object in self.objects() {
            add(object.kind_name(), &object.name.name, &object.owner, object.acl.as_ref());
        }
        for function in self.functions() {
            add("function", &function.signature(), &function.owner, None);
        }
        for default in self.default_acls() {
            let of = self.role_by_id(default.role).map_or("", |role| role.name.as_str());
            let kind = match default.kind {
                NewKind::Relation => "relations",
                NewKind::Sequence => "sequences",
                NewKind::Schema => "schemas",
            };
            if default.role == role.id || default.acl.mentions(role.id) {
                lines.push(format!("default privileges on new {kind} belonging to role {of}"));
            }
        }
        lines
    }
}
