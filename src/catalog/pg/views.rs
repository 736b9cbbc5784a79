//! `pg_tables`, `pg_views`, `pg_matviews`, `pg_indexes`: relations with names instead of OIDs.

use super::PgContext;
use super::class::{Class, classes};
use super::constraints::has_triggers;
use super::index::{has_index, index_text, indexed_table, is_indexed};
use super::objects::view_text;
use super::relation::Rows;
use super::value::Value;

fn of_kind(context: &PgContext, kinds: &'static [&'static str]) -> impl Iterator<Item = Class> {
    classes(context).into_iter().filter(|class| kinds.contains(&class.kind))
}

/// What all databases share is kept apart.
fn tablespace(class: &Class) -> Value {
    if class.is_shared() { Value::text("pg_global") } else { Value::Null }
}

pub(super) fn pg_tables(context: &PgContext, rows: &mut Rows) {
    for class in of_kind(context, &["r"]) {
        rows.push([
            ("schemaname", Value::text(&class.schema)),
            ("tablespace", tablespace(&class)),
            ("tablename", Value::text(&class.name)),
            ("tableowner", Value::text(&class.owner)),
            ("hasindexes", Value::Bool(is_indexed(context, &class))),
            ("hasrules", Value::Bool(false)),
            ("hastriggers", Value::Bool(has_triggers(context, class.object()))),
            ("rowsecurity", Value::Bool(false)),
        ]);
    }
}

pub(super) fn pg_views(context: &PgContext, rows: &mut Rows) {
    for class in of_kind(context, &["v"]) {
        rows.push([
            ("schemaname", Value::text(&class.schema)),
            ("viewname", Value::text(&class.name)),
            ("viewowner", Value::text(&class.owner)),
            ("definition", Value::optional(class.object().and_then(|object| view_text(object)))),
        ]);
    }
}

pub(super) fn pg_matviews(context: &PgContext, rows: &mut Rows) {
    for class in of_kind(context, &["m"]) {
        let indexed = class.object().is_some_and(|object| has_index(context, object));
        rows.push([
            ("schemaname", Value::text(&class.schema)),
            ("matviewname", Value::text(&class.name)),
            ("matviewowner", Value::text(&class.owner)),
            ("hasindexes", Value::Bool(indexed)),
            ("ispopulated", Value::Bool(true)),
            ("definition", Value::optional(class.object().and_then(|object| view_text(object)))),
        ]);
    }
}

pub(super) fn pg_indexes(context: &PgContext, rows: &mut Rows) {
    for class in of_kind(context, &["i"]) {
        let Some(table) = indexed_table(context, &class) else { continue };
        rows.push([
            ("schemaname", Value::text(&class.schema)),
            ("tablename", Value::text(table)),
            ("indexname", Value::text(&class.name)),
            ("tablespace", tablespace(&class)),
            ("indexdef", Value::optional(index_text(context, &class, true))),
        ]);
    }
}
