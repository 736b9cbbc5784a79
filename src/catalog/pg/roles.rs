//! Roles, who is a member of what, and who was granted what.

use super::PgContext;
use super::class::{Class, Origin, classes};
use super::objects::oid;
use super::relation::Rows;
use super::value::Value;
use crate::catalog::privilege::{Acl, Entry, Privileges};
use crate::catalog::quote_identifier;
use crate::catalog::role::Role;
use crate::types::ObjectId;

/// What is shown in the place of a password.
const HIDDEN: &str = "********";

/// The time until which a password is good.
fn until(role: &Role) -> Value {
    role.valid_until.map_or(Value::Null, Value::Timestamp)
}

fn role_row(role: &Role, password: Value) -> [(&'static str, Value); 12] {
    [
        ("oid", oid(role.id.0)),
        ("rolname", Value::text(&role.name)),
        ("rolsuper", Value::Bool(role.superuser)),
        ("rolinherit", Value::Bool(role.inherit)),
        ("rolcreaterole", Value::Bool(role.create_role)),
        ("rolcreatedb", Value::Bool(role.create_db)),
        ("rolcanlogin", Value::Bool(role.login)),
        ("rolreplication", Value::Bool(role.replication)),
        ("rolbypassrls", Value::Bool(role.bypass_rls)),
        ("rolconnlimit", Value::Int(i64::from(role.connection_limit))),
        ("rolpassword", password),
        ("rolvaliduntil", until(role)),
    ]
}

/// `name=value` of each; NULL if there is none.
fn config<'a>(settings: impl Iterator<Item = (&'a String, &'a String)>) -> Value {
    let mut texts = settings.map(|(name, value)| Value::text(format!("{name}={value}"))).peekable();
    match texts.peek() {
        Some(_) => Value::list(texts),
        None => Value::Null,
    }
}

/// What the role's sessions begin with, in one database or (`None`) in any.
fn role_config(role: &Role, database: Option<ObjectId>) -> Value {
    let here = role.settings.iter().filter(|setting| setting.database == database);
    config(here.map(|setting| (&setting.name, &setting.value)))
}

pub(super) fn pg_roles(context: &PgContext, rows: &mut Rows) {
    for role in context.catalog.roles() {
        let row = role_row(role, Value::text(HIDDEN));
        rows.push([row.as_slice(), &[("rolconfig", role_config(role, None))]].concat());
    }
}

/// What sessions begin with: by database, by role, by both. 0 is any.
pub(super) fn pg_db_role_setting(context: &PgContext, rows: &mut Rows) {
    let mut push = |database: u32, role: u32, config: Value| {
        if config != Value::Null {
            rows.push([
                ("setdatabase", oid(database)),
                ("setrole", oid(role)),
                ("setconfig", config),
            ]);
        }
    };
    for database in context.catalog.databases() {
        push(database.id.0, 0, config(database.settings.iter()));
    }
    for role in context.catalog.roles() {
        push(0, role.id.0, role_config(role, None));
        for database in context.catalog.databases() {
            push(database.id.0, role.id.0, role_config(role, Some(database.id)));
        }
    }
}

/// Only superusers read it.
pub(super) fn pg_authid(context: &PgContext, rows: &mut Rows) {
    for role in context.catalog.roles() {
        let password = role.password.as_ref().map(ToString::to_string);
        rows.push(role_row(role, Value::optional(password)));
    }
}

fn user_row(role: &Role, password: Value) -> [(&'static str, Value); 8] {
    [
        ("usename", Value::text(&role.name)),
        ("usesysid", oid(role.id.0)),
        ("usecreatedb", Value::Bool(role.create_db)),
        ("usesuper", Value::Bool(role.superuser)),
        ("userepl", Value::Bool(role.replication)),
        ("usebypassrls", Value::Bool(role.bypass_rls)),
        ("passwd", password),
        ("valuntil", until(role)),
    ]
}

pub(super) fn pg_user(context: &PgContext, rows: &mut Rows) {
    for role in context.catalog.roles().filter(|role| role.login) {
        let row = user_row(role, Value::text(HIDDEN));
        rows.push([row.as_slice(), &[("useconfig", role_config(role, None))]].concat());
    }
}

/// Only superusers read it.
pub(super) fn pg_shadow(context: &PgContext, rows: &mut Rows) {
    for role in context.catalog.roles().filter(|role| role.login) {
        let password = role.password.as_ref().map(ToString::to_string);
        let row = user_row(role, Value::optional(password));
        rows.push([row.as_slice(), &[("useconfig", role_config(role, None))]].concat());
    }
}

/// Roles that cannot log in, with those who are members of them.
pub(super) fn pg_group(context: &PgContext, rows: &mut Rows) {
    for role in context.catalog.roles().filter(|role| !role.login) {
        let members = context.catalog.memberships().filter(|(_, of)| of.role == role.id);
        rows.push([
            ("groname", Value::text(&role.name)),
            ("grosysid", oid(role.id.0)),
            ("grolist", Value::list(members.map(|(member, _)| oid(member.id.0)))),
        ]);
    }
}

pub(super) fn pg_auth_members(context: &PgContext, rows: &mut Rows) {
    for (member, of) in context.catalog.memberships() {
        rows.push([
            ("roleid", oid(of.role.0)),
            ("member", oid(member.id.0)),
            ("grantor", oid(of.grantor.0)),
            ("admin_option", Value::Bool(of.admin)),
        ]);
    }
}

pub(super) fn pg_default_acl(context: &PgContext, rows: &mut Rows) {
    for default in context.catalog.default_acls() {
        rows.push([
            ("oid", oid(default.id.0)),
            ("defaclrole", oid(default.role.0)),
            ("defaclnamespace", oid(default.schema.map_or(0, |schema| schema.0))),
            ("defaclobjtype", Value::text(default.kind.letter())),
            ("defaclacl", acl_value(context, Some(&default.acl))),
        ]);
    }
}

/// The roles whose rights the current user has.
pub(super) fn enabled_roles(context: &PgContext, rows: &mut Rows) {
    for role in context.catalog.roles().filter(|role| is_enabled(context, role.id)) {
        rows.push([("role_name", Value::text(&role.name))]);
    }
}

pub(super) fn is_enabled(context: &PgContext, role: ObjectId) -> bool {
    let actor = context.catalog.actor(&context.session.user);
    actor.is_ok_and(|actor| actor.has_role(role))
}

pub(super) fn applicable_roles(context: &PgContext, rows: &mut Rows) {
    // Who owns the database is a member of the role for that.
    let database = context.catalog.database(&context.session.database);
    let owner = database.map(|database| context.catalog.owner_id(&database.owner));
    if let Some(owner) = owner.filter(|owner| is_enabled(context, *owner)) {
        rows.push([
            ("grantee", Value::optional(context.catalog.role_by_id(owner).map(|role| &role.name))),
            ("role_name", Value::text("pg_database_owner")),
            ("is_grantable", Value::text("NO")),
        ]);
    }
    for (member, of) in context.catalog.memberships() {
        let Some(role) = context.catalog.role_by_id(of.role) else { continue };
        if is_enabled(context, member.id) {
            rows.push([
                ("grantee", Value::text(&member.name)),
                ("role_name", Value::text(&role.name)),
                ("is_grantable", Value::text(if of.admin { "YES" } else { "NO" })),
            ]);
        }
    }
}

/// What was granted on a relation, to or by roles whose rights the current user has: the entry, the
/// names of who gave and who got it, and whether that is the owner. With `everybody`, also what was
/// granted to PUBLIC.
fn grants_on(
    context: &PgContext,
    class: &Class,
    everybody: bool,
) -> Vec<(Entry, [Option<String>; 2], bool)> {
    let name = |id: ObjectId| context.catalog.role_by_id(id).map(|role| role.name.clone());
    let owner = context.catalog.owner_id(&class.owner);
    let acl = match class.object() {
        Some(object) => context.catalog.acl_of(object),
        None => {
            let readable = !matches!(&class.origin, Origin::System)
                && !super::is_restricted(&class.schema, &class.name);
            let public = if readable { Privileges::SELECT } else { Privileges::NONE };
            Acl::initial(owner, Privileges::OF_RELATION, public)
        }
    };
    let entries = acl.entries().iter().filter_map(|entry| {
        let grantee = match entry.grantee {
            Some(grantee) if shows(context, entry, grantee) => name(grantee),
            None if everybody || is_enabled(context, entry.grantor) => Some("PUBLIC".to_owned()),
            _ => return None,
        };
        Some((entry.clone(), [name(entry.grantor), grantee], entry.grantee == Some(owner)))
    });
    entries.collect()
}

fn shows(context: &PgContext, entry: &Entry, grantee: ObjectId) -> bool {
    is_enabled(context, grantee) || is_enabled(context, entry.grantor)
}

fn granted_on(context: &PgContext) -> impl Iterator<Item = Class> {
    classes(context).into_iter().filter(|class| matches!(class.kind, "r" | "v" | "f"))
}

fn yes_or_no(yes: bool) -> Value {
    Value::text(if yes { "YES" } else { "NO" })
}

fn table_grants(context: &PgContext, rows: &mut Rows, everybody: bool) {
    for class in granted_on(context) {
        for (entry, [grantor, grantee], owns) in grants_on(context, &class, everybody) {
            for (one, name) in entry.privileges.each() {
                rows.push([
                    ("grantor", Value::optional(grantor.as_deref())),
                    ("grantee", Value::optional(grantee.as_deref())),
                    ("table_catalog", Value::text(&context.session.database)),
                    ("table_schema", Value::text(&class.schema)),
                    ("table_name", Value::text(&class.name)),
                    ("privilege_type", Value::text(name)),
                    ("is_grantable", yes_or_no(owns || entry.grantable.contains(one))),
                    ("with_hierarchy", yes_or_no(one == Privileges::SELECT)),
                ]);
            }
        }
    }
}

/// What is granted on a relation is granted on each of its columns.
fn column_grants(context: &PgContext, rows: &mut Rows, everybody: bool) {
    let of_columns =
        Privileges::INSERT | Privileges::SELECT | Privileges::UPDATE | Privileges::REFERENCES;
    for class in granted_on(context) {
        for (entry, [grantor, grantee], owns) in grants_on(context, &class, everybody) {
            let privileges = entry.privileges.each().filter(|(one, _)| of_columns.contains(*one));
            for (one, name) in privileges {
                for column in &class.columns {
                    rows.push([
                        ("grantor", Value::optional(grantor.as_deref())),
                        ("grantee", Value::optional(grantee.as_deref())),
                        ("table_catalog", Value::text(&context.session.database)),
                        ("table_schema", Value::text(&class.schema)),
                        ("table_name", Value::text(&class.name)),
                        ("column_name", Value::text(&column.name)),
                        ("privilege_type", Value::text(name)),
                        ("is_grantable", yes_or_no(owns || entry.grantable.contains(one))),
                    ]);
                }
            }
        }
    }
}

/// USAGE of sequences. As in PostgreSQL, what an owner may without a grant is not listed.
fn usage_grants(context: &PgContext, rows: &mut Rows, everybody: bool) {
    let sequences = classes(context).into_iter().filter(|class| class.kind == "S");
    for class in sequences.filter(|class| class.object().is_some_and(|one| one.acl.is_some())) {
        for (entry, [grantor, grantee], owns) in grants_on(context, &class, everybody) {
            if !entry.privileges.contains(Privileges::USAGE) {
                continue;
            }
            rows.push([
                ("grantor", Value::optional(grantor)),
                ("grantee", Value::optional(grantee)),
                ("object_catalog", Value::text(&context.session.database)),
                ("object_schema", Value::text(&class.schema)),
                ("object_name", Value::text(&class.name)),
                ("object_type", Value::text("SEQUENCE")),
                ("privilege_type", Value::text("USAGE")),
                ("is_grantable", yes_or_no(owns || entry.grantable.contains(Privileges::USAGE))),
            ]);
        }
    }
}

pub(super) fn usage_privileges(context: &PgContext, rows: &mut Rows) {
    usage_grants(context, rows, true);
}

pub(super) fn role_usage_grants(context: &PgContext, rows: &mut Rows) {
    usage_grants(context, rows, false);
}

pub(super) fn table_privileges(context: &PgContext, rows: &mut Rows) {
    table_grants(context, rows, true);
}

pub(super) fn role_table_grants(context: &PgContext, rows: &mut Rows) {
    table_grants(context, rows, false);
}

pub(super) fn column_privileges(context: &PgContext, rows: &mut Rows) {
    column_grants(context, rows, true);
}

pub(super) fn role_column_grants(context: &PgContext, rows: &mut Rows) {
    column_grants(context, rows, false);
}

/// An access control list as the catalogs show it, NULL for one that says nothing yet.
pub(super) fn acl_value(context: &PgContext, acl: Option<&Acl>) -> Value {
    acl.map_or(Value::Null, |acl| Value::list(acl_items(context, acl).map(Value::text)))
}

pub(super) fn acl_items(context: &PgContext, acl: &Acl) -> impl Iterator<Item = String> {
    acl.items(|id| match context.catalog.role_by_id(id) {
        Some(role) => quote_identifier(&role.name),
        None => id.0.to_string(),
    })
}
