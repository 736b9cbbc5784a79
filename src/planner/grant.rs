//! What statements about roles, ownership and privileges say, as decided facts.

use std::fmt;

use super::statement::DropKind;
use super::syntax::Name;
use crate::catalog::privilege::Privileges;
use crate::types::SqlType;

/// Whom a statement means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleName {
    Named(String),
    /// Everybody.
    Public,
    CurrentUser,
    SessionUser,
}

/// A password as a statement gives it: it is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// The options of CREATE ROLE and ALTER ROLE; `None` where nothing is said.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoleOptions {
    pub superuser: Option<bool>,
    pub inherit: Option<bool>,
    pub create_role: Option<bool>,
    pub create_db: Option<bool>,
    pub login: Option<bool>,
    pub replication: Option<bool>,
    pub bypass_rls: Option<bool>,
    pub connection_limit: Option<i32>,
    /// `Some(None)` is `PASSWORD NULL`.
    pub password: Option<Option<Secret>>,
    /// A time as text.
    pub valid_until: Option<String>,
    /// `IN ROLE`.
    pub in_roles: Vec<RoleName>,
    /// `ROLE`.
    pub members: Vec<RoleName>,
    /// `ADMIN`.
    pub admins: Vec<RoleName>,
}

/// `CREATE ROLE`; `CREATE USER` is the same with LOGIN.
#[derive(Debug, Clone)]
pub struct CreateRole {
    pub name: String,
    pub options: RoleOptions,
}

#[derive(Debug, Clone)]
pub struct AlterRole {
    pub role: RoleName,
    pub options: RoleOptions,
}

/// `ALTER ROLE ... [IN DATABASE ...] SET | RESET`, `ALTER DATABASE ... SET | RESET`: what the
/// variables of sessions begin with.
#[derive(Debug, Clone)]
pub struct AlterSettings {
    /// `None`: any role's sessions.
    pub role: Option<RoleName>,
    /// `None`: in any database.
    pub database: Option<String>,
    pub change: SettingChange,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingChange {
    /// The name in lower case; no values: `DEFAULT`, which is as good as RESET.
    Set {
        name: String,
        values: Option<Vec<String>>,
    },
    /// `SET name FROM CURRENT`.
    FromCurrent(String),
    Reset(String),
    ResetAll,
}

#[derive(Debug, Clone)]
pub struct DropRole {
    pub roles: Vec<RoleName>,
    pub if_exists: bool,
}

/// Whether something is given or taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Grant,
    Revoke,
}

/// `GRANT role TO member` and `REVOKE role FROM member`.
#[derive(Debug, Clone)]
pub struct GrantRole {
    pub direction: Direction,
    pub roles: Vec<RoleName>,
    pub members: Vec<RoleName>,
    /// `WITH ADMIN OPTION`, `ADMIN OPTION FOR`.
    pub admin: bool,
}

/// `GRANT privileges ON objects TO roles` and `REVOKE ... FROM`.
#[derive(Debug, Clone)]
pub struct Grant {
    pub direction: Direction,
    /// `None` is ALL.
    pub privileges: Option<Privileges>,
    pub on: GrantOn,
    pub grantees: Vec<RoleName>,
    /// `WITH GRANT OPTION`, `GRANT OPTION FOR`.
    pub option: bool,
    pub cascade: bool,
}

/// What privileges are about.
#[derive(Debug, Clone)]
pub enum GrantOn {
    /// `None`: a relation of any kind, as `ON name` and `ON TABLE name` mean.
    Relations(Vec<(Option<DropKind>, Name)>),
    Schemas(Vec<Name>),
    Databases(Vec<Name>),
    /// `ALL TABLES IN SCHEMA`; all relations of the schemas, or those of one kind.
    AllIn {
        kind: Option<DropKind>,
        schemas: Vec<Name>,
    },
}

/// `ALTER DEFAULT PRIVILEGES [FOR ROLE ...] [IN SCHEMA ...] GRANT | REVOKE`.
#[derive(Debug, Clone)]
pub struct DefaultPrivileges {
    /// Whose objects-to-be; empty: the current user's.
    pub roles: Vec<RoleName>,
    /// Empty: in all schemas.
    pub schemas: Vec<Name>,
    pub direction: Direction,
    pub privileges: Option<Privileges>,
    pub kind: DefaultKind,
    pub grantees: Vec<RoleName>,
    pub option: bool,
}

/// What default privileges are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultKind {
    /// Relations of any kind but sequences.
    Tables,
    Sequences,
    Schemas,
}

/// `ALTER kind name OWNER TO role`.
#[derive(Debug, Clone)]
pub struct AlterOwner {
    pub what: Owned,
    pub owner: RoleName,
}

/// What has an owner.
#[derive(Debug, Clone)]
pub enum Owned {
    /// For a schema or a database: only `name` is set.
    Object { kind: DropKind, name: Name },
    /// The types of the parameters, where they are given.
    Function { name: Name, parameters: Option<Vec<SqlType>> },
}

/// `REASSIGN OWNED BY roles TO role`.
#[derive(Debug, Clone)]
pub struct ReassignOwned {
    pub from: Vec<RoleName>,
    pub to: RoleName,
}

/// `DROP OWNED BY roles`.
#[derive(Debug, Clone)]
pub struct DropOwned {
    pub roles: Vec<RoleName>,
    pub cascade: bool,
}
