//! `pg_stat_*` and `pg_statio_*`: what there is to count, for tools that join them to list objects.
//! What is not counted is NULL, never a number that nobody counted; Weir's own figures are those of
//! the schema `weir`.

use super::PgContext;
use super::class::{Class, classes, is_system};
use super::index::index_of;
use super::objects::oid;
use super::relation::Rows;
use super::value::Value;

/// Which schemas' objects.
#[derive(Clone, Copy)]
enum Of {
    All,
    Users,
    System,
}

fn chosen(context: &PgContext, of: Of, kinds: &'static [&'static str]) -> Vec<Class> {
    let wanted = |class: &Class| match of {
        Of::All => true,
        Of::Users => !is_system(class),
        Of::System => is_system(class),
    };
    let all = classes(context).into_iter();
    all.filter(|class| kinds.contains(&class.kind) && wanted(class)).collect()
}

fn tables(context: &PgContext, of: Of, rows: &mut Rows) {
    for class in chosen(context, of, &["r", "m"]) {
        rows.push([
            ("relid", oid(class.oid)),
            ("schemaname", Value::text(&class.schema)),
            ("relname", Value::text(&class.name)),
        ]);
    }
}

pub(super) fn all_tables(context: &PgContext, rows: &mut Rows) {
    tables(context, Of::All, rows);
}

pub(super) fn user_tables(context: &PgContext, rows: &mut Rows) {
    tables(context, Of::Users, rows);
}

pub(super) fn system_tables(context: &PgContext, rows: &mut Rows) {
    tables(context, Of::System, rows);
}

/// Those of users are all that there are.
pub(super) fn sequences(context: &PgContext, rows: &mut Rows) {
    for class in chosen(context, Of::Users, &["S"]) {
        rows.push([
            ("relid", oid(class.oid)),
            ("schemaname", Value::text(&class.schema)),
            ("relname", Value::text(&class.name)),
        ]);
    }
}

fn indexes(context: &PgContext, of: Of, rows: &mut Rows) {
    for class in chosen(context, of, &["i"]) {
        let Some(index) = index_of(context, &class) else { continue };
        rows.push([
            ("relid", oid(index.on.id.0)),
            ("indexrelid", oid(class.oid)),
            ("schemaname", Value::text(&class.schema)),
            ("relname", Value::text(&index.on.name.name)),
            ("indexrelname", Value::text(&class.name)),
        ]);
    }
}

pub(super) fn all_indexes(context: &PgContext, rows: &mut Rows) {
    indexes(context, Of::All, rows);
}

pub(super) fn user_indexes(context: &PgContext, rows: &mut Rows) {
    indexes(context, Of::Users, rows);
}

pub(super) fn system_indexes(context: &PgContext, rows: &mut Rows) {
    indexes(context, Of::System, rows);
}

pub(super) fn pg_stat_database(context: &PgContext, rows: &mut Rows) {
    let sessions = context.session.activity.list();
    for database in context.catalog.databases() {
        let here = sessions.iter().filter(|one| one.database == database.name).count();
        rows.push([
            ("datid", oid(database.id.0)),
            ("datname", Value::text(&database.name)),
            ("numbackends", Value::Int(i64::try_from(here).unwrap_or(i64::MAX))),
        ]);
    }
}

/// Nobody comes by GSSAPI.
pub(super) fn pg_stat_gssapi(context: &PgContext, rows: &mut Rows) {
    for one in context.session.activity.list() {
        rows.push([
            ("pid", Value::Int(i64::from(one.pid))),
            ("gss_authenticated", Value::Bool(false)),
            ("encrypted", Value::Bool(false)),
        ]);
    }
}

/// Whether each session is encrypted is not kept here: what is not known is NULL.
pub(super) fn pg_stat_ssl(context: &PgContext, rows: &mut Rows) {
    for one in context.session.activity.list() {
        rows.push([("pid", Value::Int(i64::from(one.pid)))]);
    }
}
