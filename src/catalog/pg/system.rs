//! Schemas, databases, roles, settings and sessions.

use std::net::IpAddr;

use super::PgContext;
use super::names::{ROLES, role_oid};
use super::objects::{PG_DATABASE, oid};
use super::relation::Rows;
use super::value::Value;
use crate::clock::WallTime;

/// `pg_encoding_to_char(6)` is `UTF8`.
const UTF8: i64 = 6;
/// `pg_tablespace.oid` of `pg_default`.
const DEFAULT_TABLESPACE: i64 = 1663;

pub(super) fn pg_namespace(context: &PgContext, rows: &mut Rows) {
    for schema in context.catalog.schemas() {
        rows.push([
            ("oid", oid(schema.id.0)),
            ("nspname", Value::text(&schema.name)),
            ("nspowner", oid(role_oid(&schema.owner))),
        ]);
    }
}

pub(super) fn pg_database(context: &PgContext, rows: &mut Rows) {
    for database in context.catalog.databases() {
        rows.push([
            ("oid", oid(database.id.0)),
            ("datname", Value::text(&database.name)),
            ("datdba", oid(role_oid(&database.owner))),
            ("encoding", Value::Int(UTF8)),
            ("datlocprovider", Value::text("c")),
            ("datallowconn", Value::Bool(true)),
            ("datconnlimit", Value::Int(-1)),
            ("dattablespace", Value::Int(DEFAULT_TABLESPACE)),
            // Texts are ordered by their bytes; letters are those of Unicode.
            ("datcollate", Value::text("C")),
            ("datctype", Value::text("C.UTF-8")),
        ]);
    }
}

pub(super) fn pg_shdescription(context: &PgContext, rows: &mut Rows) {
    for database in context.catalog.databases() {
        if let Some(comment) = &database.comment {
            rows.push([
                ("objoid", oid(database.id.0)),
                ("classoid", oid(PG_DATABASE)),
                ("description", Value::text(comment)),
            ]);
        }
    }
}

/// `pg_roles` and `pg_authid` have these columns in common.
pub(super) fn pg_roles(_context: &PgContext, rows: &mut Rows) {
    for (role, name) in ROLES {
        rows.push([
            ("oid", oid(role)),
            ("rolname", Value::text(name)),
            ("rolsuper", Value::Bool(true)),
            ("rolinherit", Value::Bool(true)),
            ("rolcreaterole", Value::Bool(true)),
            ("rolcreatedb", Value::Bool(true)),
            ("rolcanlogin", Value::Bool(true)),
            ("rolreplication", Value::Bool(true)),
            ("rolbypassrls", Value::Bool(true)),
            ("rolconnlimit", Value::Int(-1)),
        ]);
    }
}

/// `pg_user` and `pg_shadow`.
pub(super) fn pg_user(_context: &PgContext, rows: &mut Rows) {
    for (role, name) in ROLES {
        rows.push([
            ("usename", Value::text(name)),
            ("usesysid", oid(role)),
            ("usecreatedb", Value::Bool(true)),
            ("usesuper", Value::Bool(true)),
            ("userepl", Value::Bool(true)),
            ("usebypassrls", Value::Bool(true)),
        ]);
    }
}

pub(super) fn pg_settings(context: &PgContext, rows: &mut Rows) {
    for (name, setting) in context.session.settings.iter() {
        let value = context.setting(name).unwrap_or_default();
        let source = if value == setting.default { "default" } else { "session" };
        rows.push([
            ("name", Value::text(name)),
            ("setting", Value::text(&value)),
            ("unit", Value::optional(setting.unit.as_deref())),
            ("category", Value::text("Client Connection Defaults")),
            ("short_desc", Value::text(&setting.description)),
            ("context", Value::text("user")),
            ("vartype", Value::text(&setting.vartype)),
            ("source", Value::text(source)),
            ("boot_val", Value::text(&setting.default)),
            ("reset_val", Value::text(&setting.default)),
            ("pending_restart", Value::Bool(false)),
        ]);
    }
}

pub(super) fn pg_stat_activity(context: &PgContext, rows: &mut Rows) {
    for one in context.session.activity.list() {
        let database = context.catalog.database(&one.database);
        let (address, port) = endpoint(one.client);
        rows.push([
            ("datid", database.map_or(Value::Null, |database| oid(database.id.0))),
            ("datname", Value::text(&one.database)),
            ("pid", Value::Int(i64::from(one.pid))),
            ("usesysid", oid(role_oid(&one.user))),
            ("usename", Value::text(&one.user)),
            ("application_name", Value::text(&one.application_name)),
            ("client_addr", address),
            ("client_port", port),
            ("backend_start", time(Some(one.backend_start))),
            ("xact_start", time(one.transaction_start)),
            ("query_start", time(one.query_start)),
            ("state_change", time(one.state_change)),
            ("state", Value::text(one.state)),
            ("query", Value::text(&one.query)),
            ("backend_type", Value::text("client backend")),
        ]);
    }
}

/// NULL for none.
pub(super) fn time(at: Option<WallTime>) -> Value {
    at.map_or(Value::Null, |at| Value::Timestamp(at.0))
}

/// Address and port, NULLs if there are none (a Unix socket).
pub(super) fn endpoint(endpoint: Option<(IpAddr, u16)>) -> (Value, Value) {
    match endpoint {
        Some((address, port)) => (Value::text(address.to_string()), Value::Int(i64::from(port))),
        None => (Value::Null, Value::Null),
    }
}
