//! Keys, and what NOT NULL is to the standard: a check.

use super::super::PgContext;
use super::super::class::{Class, classes, namespace_oid};
use super::super::index::indexes;
use super::super::relation::{Rows, system_indexes};
use super::super::value::Value;
use super::{database, yes_or_no};
use crate::catalog::catalog::PG_CATALOG;

/// A primary key or a unique constraint.
struct Key {
    schema: String,
    table: String,
    name: String,
    primary: bool,
    columns: Vec<String>,
}

fn keys(context: &PgContext) -> Vec<Key> {
    let users = indexes(context).filter(|index| index.constraint.is_some()).map(|index| {
        let key = index.key();
        let columns = key.iter().filter_map(|column| index.on.columns.get(*column));
        Key {
            schema: index.on.name.schema.clone(),
            table: index.on.name.name.clone(),
            name: index.name.clone(),
            primary: index.primary,
            columns: columns.map(|column| column.name.clone()).collect(),
        }
    });
    let system = system_indexes().iter().filter(|index| index.constraint != 0);
    let system = system.map(|index| Key {
        schema: PG_CATALOG.to_owned(),
        table: index.on.name.to_owned(),
        name: index.name.to_owned(),
        primary: index.primary,
        columns: index.columns().map(|column| column.name.to_owned()).collect(),
    });
    users.chain(system).collect()
}

/// The checks that NOT NULL is: the table, their names, what they say.
fn not_nulls(context: &PgContext) -> Vec<(Class, Vec<(String, String)>)> {
    let tables = classes(context).into_iter().filter(|class| class.kind == "r");
    let checks = tables.map(|class| {
        let namespace = namespace_oid(context, &class.schema);
        let columns = (1..).zip(&class.columns).filter(|(_, column)| column.not_null);
        let checks = columns.map(|(number, column)| {
            let name = format!("{namespace}_{}_{number}_not_null", class.oid);
            (name, format!("{} IS NOT NULL", column.name))
        });
        let checks = checks.collect();
        (class, checks)
    });
    checks.collect()
}

pub(in super::super) fn table_constraints(context: &PgContext, rows: &mut Rows) {
    for key in keys(context) {
        let kind = if key.primary { "PRIMARY KEY" } else { "UNIQUE" };
        rows.push([
            ("constraint_catalog", database(context)),
            ("constraint_schema", Value::text(&key.schema)),
            ("constraint_name", Value::text(&key.name)),
            ("table_catalog", database(context)),
            ("table_schema", Value::text(&key.schema)),
            ("table_name", Value::text(&key.table)),
            ("constraint_type", Value::text(kind)),
            ("is_deferrable", yes_or_no(false)),
            ("initially_deferred", yes_or_no(false)),
            ("enforced", yes_or_no(true)),
            ("nulls_distinct", if key.primary { Value::Null } else { yes_or_no(true) }),
        ]);
    }
    for (table, checks) in not_nulls(context) {
        for (name, _) in checks {
            rows.push([
                ("constraint_catalog", database(context)),
                ("constraint_schema", Value::text(&table.schema)),
                ("constraint_name", Value::text(name)),
                ("table_catalog", database(context)),
                ("table_schema", Value::text(&table.schema)),
                ("table_name", Value::text(&table.name)),
                ("constraint_type", Value::text("CHECK")),
                ("is_deferrable", yes_or_no(false)),
                ("initially_deferred", yes_or_no(false)),
                ("enforced", yes_or_no(true)),
            ]);
        }
    }
}

pub(in super::super) fn check_constraints(context: &PgContext, rows: &mut Rows) {
    for (table, checks) in not_nulls(context) {
        for (name, clause) in checks {
            rows.push([
                ("constraint_catalog", database(context)),
                ("constraint_schema", Value::text(&table.schema)),
                ("constraint_name", Value::text(name)),
                ("check_clause", Value::text(clause)),
            ]);
        }
    }
}

pub(in super::super) fn key_column_usage(context: &PgContext, rows: &mut Rows) {
    for key in keys(context) {
        for (position, column) in (1..).zip(&key.columns) {
            rows.push([
                ("constraint_catalog", database(context)),
                ("constraint_schema", Value::text(&key.schema)),
                ("constraint_name", Value::text(&key.name)),
                ("table_catalog", database(context)),
                ("table_schema", Value::text(&key.schema)),
                ("table_name", Value::text(&key.table)),
                ("column_name", Value::text(column)),
                ("ordinal_position", Value::Int(position)),
            ]);
        }
    }
}

pub(in super::super) fn constraint_column_usage(context: &PgContext, rows: &mut Rows) {
    for key in keys(context) {
        for column in &key.columns {
            rows.push([
                ("table_catalog", database(context)),
                ("table_schema", Value::text(&key.schema)),
                ("table_name", Value::text(&key.table)),
                ("column_name", Value::text(column)),
                ("constraint_catalog", database(context)),
                ("constraint_schema", Value::text(&key.schema)),
                ("constraint_name", Value::text(&key.name)),
            ]);
        }
    }
}

pub(in super::super) fn constraint_table_usage(context: &PgContext, rows: &mut Rows) {
    for key in keys(context) {
        rows.push([
            ("table_catalog", database(context)),
            ("table_schema", Value::text(&key.schema)),
            ("table_name", Value::text(&key.table)),
            ("constraint_catalog", database(context)),
            ("constraint_schema", Value::text(&key.schema)),
            ("constraint_name", Value::text(&key.name)),
        ]);
    }
}
