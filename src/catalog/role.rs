//! Roles: who there is, what each may do by itself, and whose rights it has through membership.
//!
//! A membership is kept with the member, so that a role is one durable entry. Roles of the system
//! (`pg_...`) are not stored, but others may be their members.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::catalog::{Catalog, DEFAULT_OWNER};
use super::verifier::Verifier;
use crate::clock::WallTime;
use crate::error::{SqlError, SqlResult, code};
use crate::types::ObjectId;

/// The superuser that is there from the start: PostgreSQL's bootstrap role has this OID.
pub const SUPERUSER_OID: ObjectId = ObjectId(10);

/// Roles of the system, by what they are for.
pub const READ_ALL_DATA: ObjectId = ObjectId(6181);
pub const WRITE_ALL_DATA: ObjectId = ObjectId(6182);
pub const MONITOR: ObjectId = ObjectId(3373);
pub const READ_ALL_STATS: ObjectId = ObjectId(3375);
pub const READ_SERVER_FILES: ObjectId = ObjectId(4569);
pub const SIGNAL_BACKEND: ObjectId = ObjectId(4200);
pub const CHECKPOINT: ObjectId = ObjectId(4544);
const READ_ALL_SETTINGS: ObjectId = ObjectId(3374);
const STAT_SCAN_TABLES: ObjectId = ObjectId(3377);

/// Someone who may log in, a group of such, or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    /// `pg_authid.oid`. Never reused.
    pub id: ObjectId,
    pub name: String,
    /// Whether nothing is forbidden to it.
    pub superuser: bool,
    /// Whether it has the rights of the roles that it is a member of without SET ROLE.
    pub inherit: bool,
    pub create_role: bool,
    pub create_db: bool,
    pub login: bool,
    pub replication: bool,
    pub bypass_rls: bool,
    /// Sessions at a time; -1: any number.
    pub connection_limit: i32,
    pub password: Option<Verifier>,
    /// Until when the password is good: microseconds since 1970.
    pub valid_until: Option<i64>,
    pub member_of: Vec<Membership>,
    pub comment: Option<String>,
    /// What its sessions' variables begin with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<RoleSetting>,
}

/// What a variable of a role's sessions begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleSetting {
    /// `None`: in any database.
    pub database: Option<ObjectId>,
    /// In lower case.
    pub name: String,
    pub value: String,
}

/// That a role is a member of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// Of which.
    pub role: ObjectId,
    /// Whether it may make others members.
    pub admin: bool,
    pub grantor: ObjectId,
}

impl Role {
    /// A role as CREATE ROLE without options makes it.
    pub fn new(id: ObjectId, name: &str) -> Self {
        Self {
            id,
            name: name.to_owned(),
            superuser: false,
            inherit: true,
            create_role: false,
            create_db: false,
            login: false,
            replication: false,
            bypass_rls: false,
            connection_limit: -1,
            password: None,
            valid_until: None,
            member_of: Vec::new(),
            comment: None,
            settings: Vec::new(),
        }
    }

    /// Whether it is part of the system: such a role is neither dropped nor changed.
    pub fn is_system(&self) -> bool {
        self.name.starts_with("pg_")
    }

    /// What a password is held against; `None` if there is none that is good now.
    pub fn verifier_at(&self, now: WallTime) -> Option<&Verifier> {
        let good = self.valid_until.is_none_or(|until| now.0 < until);
        self.password.as_ref().filter(|_| good)
    }
}

/// The roles of an empty store.
pub(super) fn built_in_roles() -> impl Iterator<Item = Role> {
    let superuser = Role {
        superuser: true,
        create_role: true,
        create_db: true,
        login: true,
        replication: true,
        bypass_rls: true,
        ..Role::new(SUPERUSER_OID, DEFAULT_OWNER)
    };
    std::iter::once(superuser)
}

/// The roles of the system.
pub(super) fn system_roles() -> impl Iterator<Item = Role> {
    [
        (READ_ALL_DATA, "pg_read_all_data"),
        (WRITE_ALL_DATA, "pg_write_all_data"),
        (MONITOR, "pg_monitor"),
        (READ_ALL_STATS, "pg_read_all_stats"),
        (READ_SERVER_FILES, "pg_read_server_files"),
        (SIGNAL_BACKEND, "pg_signal_backend"),
        (CHECKPOINT, "pg_checkpoint"),
        // What these are for, everybody may do, or nobody can.
        (ObjectId(6171), "pg_database_owner"),
        (READ_ALL_SETTINGS, "pg_read_all_settings"),
        (STAT_SCAN_TABLES, "pg_stat_scan_tables"),
        (ObjectId(4570), "pg_write_server_files"),
        (ObjectId(4571), "pg_execute_server_program"),
    ]
    .into_iter()
    .map(|(id, name)| {
        let mut role = Role::new(id, name);
        if id == MONITOR {
            let grantor = SUPERUSER_OID;
            let of = [READ_ALL_SETTINGS, READ_ALL_STATS, STAT_SCAN_TABLES];
            role.member_of = of.map(|role| Membership { role, admin: false, grantor }).to_vec();
        }
        role
    })
}

impl Catalog {
    /// All roles, by OID.
    pub fn roles(&self) -> impl Iterator<Item = &Arc<Role>> {
        self.roles.values()
    }

    /// The role of this name.
    pub fn role(&self, name: &str) -> Option<&Arc<Role>> {
        self.roles.get(self.role_names.get(name)?)
    }

    /// The role with this OID.
    pub fn role_by_id(&self, id: ObjectId) -> Option<&Arc<Role>> {
        self.roles.get(&id)
    }

    /// The role of this name; 42704 if there is none.
    pub fn existing_role(&self, name: &str) -> SqlResult<&Arc<Role>> {
        self.role(name).ok_or_else(|| no_role(name))
    }

    /// The OID of an owner.
    pub fn owner_id(&self, name: &str) -> ObjectId {
        self.role_names.get(name).copied().unwrap_or(SUPERUSER_OID)
    }

    /// The roles that have members, and who: member and membership.
    pub fn memberships(&self) -> impl Iterator<Item = (&Arc<Role>, &Membership)> {
        self.roles().flat_map(|role| role.member_of.iter().map(move |of| (role, of)))
    }

    /// The role and all that it is a member of, directly or through others.
    pub fn member_closure(&self, role: ObjectId) -> BTreeSet<ObjectId> {
        self.closure(role, |_| true)
    }

    /// The role and all whose rights it has by inheritance.
    pub fn inherited_closure(&self, role: ObjectId) -> BTreeSet<ObjectId> {
        self.closure(role, |role| role.inherit)
    }

    fn closure(&self, role: ObjectId, follows: impl Fn(&Role) -> bool) -> BTreeSet<ObjectId> {
        let mut found = BTreeSet::from([role]);
        let mut open = vec![role];
        while let Some(role) = open.pop().and_then(|id| self.role_by_id(id)) {
            if follows(role) {
                let of = role.member_of.iter().map(|of| of.role);
                open.extend(of.filter(|id| found.insert(*id)));
            }
        }
        found
    }
}

/// 42704.
pub(super) fn no_role(name: &str) -> SqlError {
    SqlError::new(code::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist"))
}
