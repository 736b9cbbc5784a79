//! Keys, and what NOT NULL is to the standard: a check.

use std::sync::Arc;

use super::super::PgContext;
use super::super::class::{Class, classes, namespace_oid};
use super::super::constraints::{Constraint, constraints};
use super::super::index::indexes;
use super::super::objects::count;
use super::super::relation::{Rows, system_indexes};
use super::super::value::Value;
use super::{database, yes_or_no};
use crate::catalog::Object;
use crate::catalog::catalog::PG_CATALOG;
use crate::catalog::constraint::{Checked, ForeignKey};

/// A primary key or a unique constraint.
struct Key {
    schema: String,
    table: String,
    name: String,
    primary: bool,
    nulls_not_distinct: bool,
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
            nulls_not_distinct: index.nulls_not_distinct,
            columns: columns.map(|column| column.name.clone()).collect(),
        }
    });
    let system = system_indexes().iter().filter(|index| index.constraint != 0);
    let system = system.map(|index| Key {
        schema: PG_CATALOG.to_owned(),
        table: index.on.name.to_owned(),
        name: index.name.to_owned(),
        primary: index.primary,
        nulls_not_distinct: false,
        columns: index.columns().map(|column| column.name.to_owned()).collect(),
    });
    users.chain(system).collect()
}

/// The checks that NOT NULL is: the table, their names, what they say.
fn not_nulls(context: &PgContext) -> Vec<(Class, Vec<(String, String)>)> {
    let tables = classes(context).into_iter().filter(|class| class.kind == "r");
    let checks = tables.map(|class| {
        let namespace = namespace_oid(context, &class.schema);
        let columns = class.numbered().filter(|(_, column)| column.not_null);
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
            (
                "nulls_distinct",
                if key.primary { Value::Null } else { yes_or_no(!key.nulls_not_distinct) },
            ),
        ]);
    }
    for constraint in constraints(context) {
        let table = &constraint.table().name;
        let (kind, checked) = match constraint {
            Constraint::Check(..) => ("CHECK", Checked::Always),
            Constraint::ForeignKey(_, key) => ("FOREIGN KEY", key.checked),
        };
        rows.push([
            ("constraint_catalog", database(context)),
            ("constraint_schema", Value::text(&table.schema)),
            ("constraint_name", Value::text(constraint.name())),
            ("table_catalog", database(context)),
            ("table_schema", Value::text(&table.schema)),
            ("table_name", Value::text(&table.name)),
            ("constraint_type", Value::text(kind)),
            ("is_deferrable", yes_or_no(checked.is_deferrable())),
            ("initially_deferred", yes_or_no(checked.is_late())),
            ("enforced", yes_or_no(true)),
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
    for constraint in constraints(context) {
        let Constraint::Check(table, check) = constraint else { continue };
        rows.push([
            ("constraint_catalog", database(context)),
            ("constraint_schema", Value::text(&table.name.schema)),
            ("constraint_name", Value::text(&check.name)),
            ("check_clause", Value::text(format!("({})", check.shown()))),
        ]);
    }
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
    for (table, key) in foreign_keys(context) {
        let unique = key_columns(context, key);
        for (position, (column, referenced)) in (1..).zip(key.columns.iter().zip(&key.referenced)) {
            let Some(column) = table.columns.get(*column) else { continue };
            let place = unique.iter().position(|one| one == referenced).map(|place| place + 1);
            rows.push([
                ("constraint_catalog", database(context)),
                ("constraint_schema", Value::text(&table.name.schema)),
                ("constraint_name", Value::text(&key.name)),
                ("table_catalog", database(context)),
                ("table_schema", Value::text(&table.name.schema)),
                ("table_name", Value::text(&table.name.name)),
                ("column_name", Value::text(&column.name)),
                ("ordinal_position", Value::Int(position)),
                ("position_in_unique_constraint", place.map_or(Value::Null, count)),
            ]);
        }
    }
}

fn foreign_keys(context: &PgContext) -> impl Iterator<Item = (&Arc<Object>, &ForeignKey)> {
    constraints(context).filter_map(|constraint| match constraint {
        Constraint::ForeignKey(table, key) => Some((table, key)),
        Constraint::Check(..) => None,
    })
}

/// The columns of the key that a foreign key refers to, in its order.
fn key_columns(context: &PgContext, key: &ForeignKey) -> Vec<usize> {
    match indexes(context).find(|index| index.oid == key.key.0) {
        Some(index) => index.key(),
        None => Vec::new(),
    }
}

pub(in super::super) fn referential_constraints(context: &PgContext, rows: &mut Rows) {
    for (table, key) in foreign_keys(context) {
        let unique = indexes(context).find(|index| index.oid == key.key.0);
        let unique = unique.filter(|index| index.constraint.is_some());
        let of_unique = |value: Value| if unique.is_some() { value } else { Value::Null };
        let schema = unique.as_ref().map_or("", |index| index.on.name.schema.as_str());
        let name = unique.as_ref().map_or("", |index| index.name.as_str());
        rows.push([
            ("constraint_catalog", database(context)),
            ("constraint_schema", Value::text(&table.name.schema)),
            ("constraint_name", Value::text(&key.name)),
            ("unique_constraint_catalog", of_unique(database(context))),
            ("unique_constraint_schema", of_unique(Value::text(schema))),
            ("unique_constraint_name", of_unique(Value::text(name))),
            ("match_option", Value::text(if key.full { "FULL" } else { "NONE" })),
            ("update_rule", Value::text(key.on_update.text())),
            ("delete_rule", Value::text(key.on_delete.text())),
        ]);
    }
}

/// What a constraint is over: the table, and its columns.
fn used<'a>(context: &'a PgContext, one: Constraint<'a>) -> Option<(&'a Object, &'a [usize])> {
    match one {
        Constraint::Check(table, check) => Some((table, &check.columns)),
        Constraint::ForeignKey(_, key) => {
            Some((context.catalog.object(key.references)?, &key.referenced))
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
    for constraint in constraints(context) {
        let Some((table, columns)) = used(context, constraint) else { continue };
        for column in columns.iter().filter_map(|column| table.columns.get(*column)) {
            rows.push([
                ("table_catalog", database(context)),
                ("table_schema", Value::text(&table.name.schema)),
                ("table_name", Value::text(&table.name.name)),
                ("column_name", Value::text(&column.name)),
                ("constraint_catalog", database(context)),
                ("constraint_schema", Value::text(&constraint.table().name.schema)),
                ("constraint_name", Value::text(constraint.name())),
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
    for (table, key) in foreign_keys(context) {
        let Some(referenced) = context.catalog.object(key.references) else { continue };
        rows.push([
            ("table_catalog", database(context)),
            ("table_schema", Value::text(&referenced.name.schema)),
            ("table_name", Value::text(&referenced.name.name)),
            ("constraint_catalog", database(context)),
            ("constraint_schema", Value::text(&table.name.schema)),
            ("constraint_name", Value::text(&key.name)),
        ]);
    }
}
