//! Schemas, databases, roles, settings and sessions.

use std::net::IpAddr;

use super::PgContext;
use super::names::role_oid;
use super::objects::{PG_DATABASE, oid};
use super::relation::Rows;
use super::roles::{acl_items, acl_value};
use super::value::{Reg, Value};
use crate::catalog::Schema;
use crate::catalog::catalog::{INFORMATION_SCHEMA, PG_CATALOG, PUBLIC_OID, WEIR};
use crate::catalog::role::READ_ALL_STATS;
use crate::clock::WallTime;
use crate::types::Zone;

/// `pg_encoding_to_char(6)` is `UTF8`.
const UTF8: i64 = 6;
/// `pg_tablespace.oid` of `pg_default`.
const DEFAULT_TABLESPACE: i64 = 1663;

pub(super) fn pg_namespace(context: &PgContext, rows: &mut Rows) {
    for schema in context.catalog.schemas() {
        rows.push([
            ("oid", oid(schema.id.0)),
            ("nspname", Value::text(&schema.name)),
            ("nspowner", oid(role_oid(context, &schema.owner))),
            ("nspacl", schema_acl(context, schema)),
        ]);
    }
}

/// Of the schemas that are everybody's from the start this is shown, as in PostgreSQL.
fn schema_acl(context: &PgContext, schema: &Schema) -> Value {
    let from_the_start = matches!(schema.name.as_str(), PG_CATALOG | INFORMATION_SCHEMA | WEIR);
    if schema.acl.is_none() && (from_the_start || schema.id == PUBLIC_OID) {
        let acl = context.catalog.acl_of_schema(schema);
        let mut items: Vec<String> = acl_items(context, &acl).collect();
        items.sort_by_key(|item| item.starts_with('='));
        return Value::list(items.iter().map(Value::text));
    }
    acl_value(context, schema.acl.as_ref())
}

pub(super) fn pg_database(context: &PgContext, rows: &mut Rows) {
    for database in context.catalog.databases() {
        rows.push([
            ("oid", oid(database.id.0)),
            ("datname", Value::text(&database.name)),
            ("datdba", oid(role_oid(context, &database.owner))),
            ("encoding", Value::Int(UTF8)),
            ("datlocprovider", Value::text("c")),
            ("datallowconn", Value::Bool(true)),
            ("datconnlimit", Value::Int(-1)),
            ("dattablespace", Value::Int(DEFAULT_TABLESPACE)),
            // Texts are ordered by their bytes; letters are those of Unicode.
            ("datcollate", Value::text("C")),
            ("datctype", Value::text("C.UTF-8")),
            ("datacl", acl_value(context, database.acl.as_ref())),
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

pub(super) fn pg_settings(context: &PgContext, rows: &mut Rows) {
    for (name, setting) in context.session.settings.iter() {
        let value = context.setting(name).unwrap_or_default();
        let source = match (setting.fixed, value == setting.default) {
            (true, _) => "override",
            (false, true) => "default",
            (false, false) => "session",
        };
        let changed = value != setting.value;
        rows.push([
            ("name", Value::text(if setting.name.is_empty() { name } else { &setting.name })),
            ("setting", Value::text(if changed { &value } else { &setting.plain })),
            ("unit", Value::optional(setting.unit.as_deref())),
            ("category", Value::text("Client Connection Defaults")),
            ("short_desc", Value::text(&setting.description)),
            ("context", Value::text(if setting.fixed { "internal" } else { "user" })),
            ("vartype", Value::text(&setting.vartype)),
            ("source", Value::text(source)),
            ("boot_val", Value::text(&setting.default)),
            ("reset_val", Value::text(&setting.default)),
            ("pending_restart", Value::Bool(false)),
        ]);
    }
}

pub(super) fn pg_prepared_statements(context: &PgContext, rows: &mut Rows) {
    for one in context.session.prepared.iter() {
        let types = one.parameter_types.iter().map(|oid| Value::Reg(Reg::Type, *oid));
        rows.push([
            ("name", Value::text(&one.name)),
            ("statement", Value::text(&one.statement)),
            ("prepare_time", time(Some(one.prepared))),
            ("parameter_types", Value::list(types)),
            ("from_sql", Value::Bool(one.from_sql)),
        ]);
    }
}

pub(super) fn pg_cursors(context: &PgContext, rows: &mut Rows) {
    for one in &context.session.cursors {
        rows.push([
            ("name", Value::text(&one.name)),
            ("statement", Value::text(&one.statement)),
            ("is_holdable", Value::Bool(one.is_holdable)),
            ("is_binary", Value::Bool(one.is_binary)),
            ("is_scrollable", Value::Bool(one.is_scrollable)),
            ("creation_time", time(Some(one.created))),
        ]);
    }
}

/// What others do is told only to superusers and to those that may read all statistics.
pub(super) fn pg_stat_activity(context: &PgContext, rows: &mut Rows) {
    let actor = context.catalog.actor(&context.session.user).ok();
    for one in context.session.activity.list() {
        let shown = actor
            .as_ref()
            .is_some_and(|actor| actor.has_role(READ_ALL_STATS) || actor.owns(&one.user));
        if !shown {
            rows.push([
                (
                    "datid",
                    context.catalog.database(&one.database).map_or(Value::Null, |d| oid(d.id.0)),
                ),
                ("datname", Value::text(&one.database)),
                ("pid", Value::Int(i64::from(one.pid))),
                ("usesysid", oid(role_oid(context, &one.user))),
                ("usename", Value::text(&one.user)),
                ("application_name", Value::text(&one.application_name)),
                ("query", Value::text("<insufficient privilege>")),
            ]);
            continue;
        }
        let database = context.catalog.database(&one.database);
        let (address, port) = endpoint(one.client);
        rows.push([
            ("datid", database.map_or(Value::Null, |database| oid(database.id.0))),
            ("datname", Value::text(&one.database)),
            ("pid", Value::Int(i64::from(one.pid))),
            ("usesysid", oid(role_oid(context, &one.user))),
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

/// The zones of the IANA database, as they are at this moment.
pub(super) fn pg_timezone_names(context: &PgContext, rows: &mut Rows) {
    for (name, abbreviation, seconds, summer) in Zone::all_at(context.session.now.0) {
        rows.push([
            ("name", Value::text(name)),
            ("abbrev", Value::text(abbreviation)),
            ("utc_offset", Value::text(format!("{seconds} seconds"))),
            ("is_dst", Value::Bool(summer)),
        ]);
    }
}
