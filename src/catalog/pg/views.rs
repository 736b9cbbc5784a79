//! `pg_tables`, `pg_views`, `pg_matviews`, `pg_indexes`: relations with names instead of OIDs.

use super::PgContext;
use super::class::{Class, classes, is_system};
use super::index::{has_index, index_of};
use super::objects::view_text;
use super::relation::Rows;
use super::value::Value;

fn of_kind(context: &PgContext, kinds: &'static [&'static str]) -> impl Iterator<Item = Class> {
    classes(context).into_iter().filter(|class| kinds.contains(&class.kind))
}

pub(super) fn pg_tables(context: &PgContext, rows: &mut Rows) {
    for class in of_kind(context, &["r"]) {
        let indexed = class.object().is_some_and(|object| has_index(context, object));
        rows.push([
            ("schemaname", Value::text(&class.schema)),
            ("tablename", Value::text(&class.name)),
            ("tableowner", Value::text(&class.owner)),
            ("hasindexes", Value::Bool(indexed)),
            ("hasrules", Value::Bool(false)),
            ("hastriggers", Value::Bool(false)),
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
        let Some(index) = index_of(context, &class) else { continue };
        rows.push([
            ("schemaname", Value::text(&class.schema)),
            ("tablename", Value::text(&index.on.name.name)),
            ("indexname", Value::text(&class.name)),
            ("indexdef", Value::optional(index.definition(context, true))),
        ]);
    }
    debug_assert!(!of_kind(context, &["i"]).any(|class| is_system(&class)));
}
