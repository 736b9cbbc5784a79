//! CHECK and FOREIGN KEY as PostgreSQL shows them. Keys are with the indexes (`index`).

use std::sync::Arc;

use super::PgContext;
use super::class::namespace_oid;
use super::data::fixed_rows;
use super::names::relation_text;
use super::objects::{count, numbers, oid};
use super::relation::{Rows, relation};
use super::value::Value;
use crate::catalog::Object;
use crate::catalog::catalog::PG_CATALOG;
use crate::catalog::constraint::{Check, ForeignKey};
use crate::types::SqlType;

/// A constraint that no index enforces, with its table.
#[derive(Debug, Clone, Copy)]
pub(super) enum Constraint<'a> {
    Check(&'a Arc<Object>, &'a Check),
    ForeignKey(&'a Arc<Object>, &'a ForeignKey),
}

/// All of them, a table's after the other's.
pub(super) fn constraints(context: &PgContext) -> impl Iterator<Item = Constraint<'_>> {
    context.catalog.objects().flat_map(|table| {
        let checks = table.checks().iter().map(move |check| Constraint::Check(table, check));
        let keys = table.foreign_keys().iter();
        checks.chain(keys.map(move |key| Constraint::ForeignKey(table, key)))
    })
}

impl Constraint<'_> {
    pub(super) fn table(&self) -> &Arc<Object> {
        match self {
            Constraint::Check(table, _) | Constraint::ForeignKey(table, _) => table,
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Constraint::Check(_, check) => &check.name,
            Constraint::ForeignKey(_, key) => &key.name,
        }
    }

    fn oid(&self) -> u32 {
        match self {
            Constraint::Check(_, check) => check.id.0,
            Constraint::ForeignKey(_, key) => key.id.0,
        }
    }

    /// `pg_get_constraintdef`, with as few parentheses as can be if it is to be `pretty`.
    fn text(&self, context: &PgContext, pretty: bool) -> Option<String> {
        match self {
            Constraint::Check(_, check) => Some(check.text(pretty)),
            Constraint::ForeignKey(table, key) => {
                let referenced = context.catalog.object(key.references)?;
                let name = relation_text(context, key.references.0)?;
                Some(key.text(table, referenced, &name))
            }
        }
    }
}

/// `pg_get_constraintdef` of a constraint that no index enforces.
pub(super) fn text_of(context: &PgContext, wanted: u32, pretty: bool) -> Option<String> {
    constraints(context).find(|one| one.oid() == wanted)?.text(context, pretty)
}

pub(super) fn pg_constraint(context: &PgContext, rows: &mut Rows) {
    for constraint in constraints(context) {
        let table = constraint.table();
        let namespace = namespace_oid(context, &table.name.schema);
        match constraint {
            Constraint::Check(_, check) => rows.push([
                ("oid", oid(constraint.oid())),
                ("conname", Value::text(constraint.name())),
                ("connamespace", oid(namespace)),
                ("conrelid", oid(table.id.0)),
                ("conislocal", Value::Bool(true)),
                ("contype", Value::text("c")),
                ("convalidated", Value::Bool(check.validated)),
                ("confupdtype", Value::text(" ")),
                ("confdeltype", Value::text(" ")),
                ("confmatchtype", Value::text(" ")),
                ("conkey", numbers(table, &check.columns)),
                ("conbin", Value::text(check.shown())),
            ]),
            Constraint::ForeignKey(_, key) => {
                let types = |object: &Object, columns: &[usize]| -> Vec<SqlType> {
                    let found = columns.iter().filter_map(|column| object.columns.get(*column));
                    found.map(|column| column.sql_type.clone()).collect()
                };
                let to = context.catalog.object(key.references);
                let to_numbers = to.map_or(Value::Null, |to| numbers(to, &key.referenced));
                let to = to.map_or(Vec::new(), |to| types(to, &key.referenced));
                let from = types(table, &key.columns);
                let operators = |left: &[SqlType], right: &[SqlType]| {
                    Value::list(left.iter().zip(right).map(|(left, right)| equals(left, right)))
                };
                rows.push([
                    ("oid", oid(constraint.oid())),
                    ("conname", Value::text(constraint.name())),
                    ("connamespace", oid(namespace)),
                    ("conrelid", oid(table.id.0)),
                    ("conislocal", Value::Bool(true)),
                    ("contype", Value::text("f")),
                    ("condeferrable", Value::Bool(key.checked.is_deferrable())),
                    ("condeferred", Value::Bool(key.checked.is_late())),
                    ("convalidated", Value::Bool(key.validated)),
                    ("conindid", oid(key.key.0)),
                    ("confrelid", oid(key.references.0)),
                    ("confupdtype", Value::text(key.on_update.letter())),
                    ("confdeltype", Value::text(key.on_delete.letter())),
                    ("confmatchtype", Value::text(if key.full { "f" } else { "s" })),
                    ("connoinherit", Value::Bool(true)),
                    ("conkey", numbers(table, &key.columns)),
                    ("confkey", to_numbers),
                    ("conpfeqop", operators(&to, &from)),
                    ("conppeqop", operators(&to, &to)),
                    ("conffeqop", operators(&from, &from)),
                ]);
            }
        }
    }
}

/// `pg_operator.oid` of the `=` that compares the two; 0 where PostgreSQL would cast first.
fn equals(left: &SqlType, right: &SqlType) -> Value {
    let compared = |one: &SqlType| match one {
        SqlType::Varchar(_) => i64::from(SqlType::Text.oid()),
        other => i64::from(other.oid()),
    };
    let Some(operators) = relation(PG_CATALOG, "pg_operator") else { return Value::Int(0) };
    let place = |name: &str| operators.columns.iter().position(|column| column.name == name);
    let (Some(name), Some(of_left), Some(of_right)) =
        (place("oprname"), place("oprleft"), place("oprright"))
    else {
        return Value::Int(0);
    };
    let found = fixed_rows("pg_operator").iter().find(|row| {
        row[name] == Value::text("=")
            && row[of_left].as_int() == Some(compared(left))
            && row[of_right].as_int() == Some(compared(right))
    });
    found.map_or(Value::Int(0), |row| row[0].clone())
}

/// How many checks a table has, for `pg_class.relchecks`.
pub(super) fn checks(table: Option<&Arc<Object>>) -> Value {
    count(table.map_or(0, |table| table.checks().len()))
}

/// Whether a table has foreign keys, or is referred to: PostgreSQL has triggers for them.
pub(super) fn has_triggers(context: &PgContext, table: Option<&Arc<Object>>) -> bool {
    table.is_some_and(|table| {
        !table.foreign_keys().is_empty() || context.catalog.referring(table.id).next().is_some()
    })
}
