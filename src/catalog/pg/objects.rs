//! `pg_class` and its companions: what users made, and what it is made of.

use super::PgContext;
use super::class::{Origin, classes, namespace_oid};
use super::index::has_index;
use super::names::role_oid;
use super::relation::Rows;
use super::roles::acl_value;
use super::value::Value;
use crate::catalog::catalog::is_temporary_schema;
use crate::catalog::object::{Object, ObjectKind, Table};

/// OIDs of catalogs that other catalogs refer to (`classoid`).
pub(super) const PG_CLASS: u32 = 1259;
pub(super) const PG_NAMESPACE: u32 = 2615;
pub(super) const PG_DATABASE: u32 = 1262;
const PG_PROC: u32 = 1255;
const PG_REWRITE: u32 = 2618;
const PG_CONSTRAINT: u32 = 2606;

/// `pg_am.oid` of tables and of indexes.
const HEAP: i64 = 2;
const BTREE: i64 = 403;

pub(super) fn oid(value: u32) -> Value {
    Value::Int(i64::from(value))
}

pub(super) fn count(length: usize) -> Value {
    Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
}

/// `attnum`s of columns given by index.
pub(super) fn numbers(columns: &[usize]) -> Value {
    Value::list(columns.iter().map(|column| count(column + 1)))
}

pub(super) fn pg_class(context: &PgContext, rows: &mut Rows) {
    for class in classes(context) {
        let (row_type, has_key) = match &class.origin {
            Origin::Object(object) => (object.row_type.0, has_index(context, object)),
            Origin::PrimaryKey(_) | Origin::System => (0, false),
        };
        let access_method = match class.kind {
            "r" | "m" => HEAP,
            "i" => BTREE,
            _ => 0,
        };
        let stored = matches!(class.kind, "r" | "m" | "i");
        let persistence = if is_temporary_schema(&class.schema) { "t" } else { "p" };
        rows.push([
            ("oid", oid(class.oid)),
            ("relname", Value::text(&class.name)),
            ("relnamespace", oid(namespace_oid(context, &class.schema))),
            ("reltype", oid(row_type)),
            ("relowner", oid(role_oid(context, &class.owner))),
            ("relam", Value::Int(access_method)),
            ("relfilenode", oid(if stored { class.oid } else { 0 })),
            ("reltuples", Value::Float(-1.0)),
            ("relhasindex", Value::Bool(has_key)),
            ("relpersistence", Value::text(persistence)),
            ("relkind", Value::text(class.kind)),
            ("relnatts", count(class.columns.len())),
            ("relacl", acl_value(context, class.object().and_then(|object| object.acl.as_ref()))),
            ("relhasrules", Value::Bool(matches!(class.kind, "v" | "m"))),
            ("relispopulated", Value::Bool(true)),
            ("relreplident", Value::text(if stored && class.kind != "i" { "d" } else { "n" })),
        ]);
    }
}

pub(super) fn pg_attribute(context: &PgContext, rows: &mut Rows) {
    for class in classes(context) {
        for (position, column) in class.columns.iter().enumerate() {
            let layout = column.layout();
            let of_layout = |get: fn(&super::data::Layout) -> &Value, otherwise: Value| {
                layout.map_or(otherwise, |layout| get(layout).clone())
            };
            rows.push([
                ("attrelid", oid(class.oid)),
                ("attname", Value::text(&column.name)),
                ("atttypid", oid(column.type_oid)),
                ("attstattarget", Value::Int(-1)),
                ("attlen", of_layout(|layout| &layout.length, Value::Int(-1))),
                ("attnum", count(position + 1)),
                ("attndims", Value::Int(column.dimensions)),
                ("attcacheoff", Value::Int(-1)),
                ("atttypmod", Value::Int(i64::from(column.typmod))),
                ("attbyval", of_layout(|layout| &layout.by_value, Value::Bool(false))),
                ("attalign", of_layout(|layout| &layout.align, Value::text("i"))),
                ("attstorage", of_layout(|layout| &layout.storage, Value::text("x"))),
                ("attnotnull", Value::Bool(column.not_null)),
                ("atthasdef", Value::Bool(column.default.is_some() || column.generated.is_some())),
                ("attgenerated", Value::text(if column.generated.is_some() { "s" } else { "" })),
                ("attislocal", Value::Bool(true)),
                ("attcollation", of_layout(|layout| &layout.collation, Value::Int(0))),
            ]);
        }
    }
}

/// A default has no OID of its own in Weir: it is found by table and column, so it gets one that
/// no other default has.
pub(super) fn pg_attrdef(context: &PgContext, rows: &mut Rows) {
    let defaults = context.catalog.objects().flat_map(|object| {
        object.columns.iter().enumerate().filter_map(|(position, column)| {
            let text = column.default.as_ref().or(column.generated.as_ref())?;
            Some((object.id.0, position + 1, text.clone()))
        })
    });
    for (own_oid, (table, number, text)) in (1..).zip(defaults) {
        rows.push([
            ("oid", oid(own_oid)),
            ("adrelid", oid(table)),
            ("adnum", count(number)),
            ("adbin", Value::text(text)),
        ]);
    }
}

/// A table's primary key: index, constraint, its name and its columns.
pub(super) struct PrimaryKey<'a> {
    pub(super) index: u32,
    pub(super) constraint: u32,
    pub(super) name: &'a str,
    pub(super) columns: &'a [usize],
}

pub(super) fn primary_key(object: &Object) -> Option<PrimaryKey<'_>> {
    match &object.kind {
        ObjectKind::Table(Table {
            primary_key,
            primary_key_name: Some(name),
            primary_key_index: Some(index),
            primary_key_constraint: Some(constraint),
            ..
        }) => Some(PrimaryKey {
            index: index.0,
            constraint: constraint.0,
            name,
            columns: primary_key,
        }),
        _ => None,
    }
}

pub(super) fn pg_constraint(context: &PgContext, rows: &mut Rows) {
    for object in context.catalog.objects() {
        let Some(key) = primary_key(object) else { continue };
        rows.push([
            ("oid", oid(key.constraint)),
            ("conname", Value::text(key.name)),
            ("connamespace", oid(namespace_oid(context, &object.name.schema))),
            ("contype", Value::text("p")),
            ("convalidated", Value::Bool(true)),
            ("conrelid", oid(object.id.0)),
            ("conindid", oid(key.index)),
            ("confupdtype", Value::text(" ")),
            ("confdeltype", Value::text(" ")),
            ("confmatchtype", Value::text(" ")),
            ("conislocal", Value::Bool(true)),
            ("connoinherit", Value::Bool(true)),
            ("conkey", numbers(key.columns)),
        ]);
    }
}

/// The fixed types, and two for each relation: that of its rows, and that of arrays of them.
pub(super) fn pg_type(context: &PgContext, rows: &mut Rows) {
    for row in super::data::fixed_rows("pg_type") {
        rows.push_row(row.to_vec());
    }
    for object in context.catalog.objects().filter(|object| object.row_type.0 != 0) {
        let namespace = oid(namespace_oid(context, &object.name.schema));
        let owner = oid(role_oid(context, &object.owner));
        let function = |name: &str| {
            let found = super::data::fixed_oid("pg_proc", "proname", name).unwrap_or(0);
            Value::Reg(super::value::Reg::Proc, found)
        };
        let mut push = |type_oid: u32, name: String, specific: [(&'static str, Value); 8]| {
            let [class, element, array, kind, category, input, output, receive] = specific;
            rows.push([
                ("oid", oid(type_oid)),
                ("typname", Value::text(name)),
                ("typnamespace", namespace.clone()),
                ("typowner", owner.clone()),
                ("typlen", Value::Int(-1)),
                ("typisdefined", Value::Bool(true)),
                ("typdelim", Value::text(",")),
                ("typalign", Value::text("d")),
                ("typstorage", Value::text("x")),
                ("typtypmod", Value::Int(-1)),
                class,
                element,
                array,
                kind,
                category,
                input,
                output,
                receive,
            ]);
        };
        let name = &object.name.name;
        push(
            object.row_type.0,
            name.clone(),
            [
                ("typrelid", oid(object.id.0)),
                ("typelem", Value::Int(0)),
                ("typarray", oid(object.row_array_type.0)),
                ("typtype", Value::text("c")),
                ("typcategory", Value::text("C")),
                ("typinput", function("record_in")),
                ("typoutput", function("record_out")),
                ("typreceive", function("record_recv")),
            ],
        );
        push(
            object.row_array_type.0,
            format!("_{name}"),
            [
                ("typrelid", Value::Int(0)),
                ("typelem", oid(object.row_type.0)),
                ("typarray", Value::Int(0)),
                ("typtype", Value::text("b")),
                ("typcategory", Value::text("A")),
                ("typinput", function("array_in")),
                ("typoutput", function("array_out")),
                ("typreceive", function("array_recv")),
            ],
        );
    }
}

pub(super) fn pg_description(context: &PgContext, rows: &mut Rows) {
    let mut push = |class: u32, object: u32, sub: usize, comment: &Option<String>| {
        if let Some(comment) = comment {
            rows.push([
                ("objoid", oid(object)),
                ("classoid", oid(class)),
                ("objsubid", count(sub)),
                ("description", Value::text(comment)),
            ]);
        }
    };
    for schema in context.catalog.schemas() {
        push(PG_NAMESPACE, schema.id.0, 0, &schema.comment);
    }
    for object in context.catalog.objects() {
        push(PG_CLASS, object.id.0, 0, &object.comment);
        for (position, column) in object.columns.iter().enumerate() {
            push(PG_CLASS, object.id.0, position + 1, &column.comment);
        }
    }
}

/// A view's rule has the view's OID: OIDs need only differ within a catalog.
pub(super) fn pg_rewrite(context: &PgContext, rows: &mut Rows) {
    for object in context.catalog.objects() {
        if view_query(object).is_some() {
            rows.push([
                ("oid", oid(object.id.0)),
                ("rulename", Value::text("_RETURN")),
                ("ev_class", oid(object.id.0)),
                ("ev_type", Value::text("1")),
                ("ev_enabled", Value::text("O")),
                ("is_instead", Value::Bool(true)),
            ]);
        }
    }
}

/// As PostgreSQL has it: a view's rule depends on what the view reads.
pub(super) fn pg_depend(context: &PgContext, rows: &mut Rows) {
    let mut push = |class: u32, object: u32, on_class: u32, on: u32, kind: &str| {
        rows.push([
            ("classid", oid(class)),
            ("objid", oid(object)),
            ("refclassid", oid(on_class)),
            ("refobjid", oid(on)),
            ("deptype", Value::text(kind)),
        ]);
    };
    for object in context.catalog.objects() {
        let id = object.id.0;
        if let Some(index) = object.index() {
            push(PG_CLASS, id, PG_CLASS, index.on.0, "a");
            continue;
        }
        if object.sink().is_some() {
            continue;
        }
        push(PG_CLASS, id, PG_NAMESPACE, namespace_oid(context, &object.name.schema), "n");
        if view_query(object).is_some() {
            push(PG_REWRITE, id, PG_CLASS, id, "i");
        }
        let dependant = if view_query(object).is_some() { PG_REWRITE } else { PG_CLASS };
        for on in &object.depends_on {
            let function = context.catalog.function(*on).is_some();
            push(dependant, id, if function { PG_PROC } else { PG_CLASS }, on.0, "n");
        }
        if let Some(key) = primary_key(object) {
            push(PG_CONSTRAINT, key.constraint, PG_CLASS, id, "a");
            push(PG_CLASS, key.index, PG_CONSTRAINT, key.constraint, "i");
        }
    }
}

/// Sources are foreign tables, each of a server of its own.
pub(super) fn pg_foreign_table(context: &PgContext, rows: &mut Rows) {
    for (object, connector) in sources(context) {
        let options = connector.options.iter().map(|(name, value)| format!("{name}={value}"));
        rows.push([
            ("ftrelid", oid(object.id.0)),
            ("ftserver", oid(object.id.0)),
            ("ftoptions", Value::list(options.map(Value::text))),
        ]);
    }
}

pub(super) fn pg_foreign_server(context: &PgContext, rows: &mut Rows) {
    for (object, connector) in sources(context) {
        rows.push([
            ("oid", oid(object.id.0)),
            ("srvname", Value::text(&connector.name)),
            ("srvowner", oid(role_oid(context, &object.owner))),
            ("srvfdw", oid(object.id.0)),
        ]);
    }
}

pub(super) fn pg_foreign_data_wrapper(context: &PgContext, rows: &mut Rows) {
    for (object, connector) in sources(context) {
        rows.push([
            ("oid", oid(object.id.0)),
            ("fdwname", Value::text(&connector.name)),
            ("fdwowner", oid(role_oid(context, &object.owner))),
        ]);
    }
}

fn sources(
    context: &PgContext,
) -> impl Iterator<Item = (&Object, &crate::catalog::object::Connector)> {
    context.catalog.objects().filter_map(|object| match &object.kind {
        ObjectKind::Source(source) => Some((&**object, &source.connector)),
        _ => None,
    })
}

/// The query of a view of either kind.
pub(super) fn view_query(object: &Object) -> Option<&str> {
    match &object.kind {
        ObjectKind::View(view) => Some(&view.query),
        ObjectKind::MaterializedView(view) => Some(&view.query),
        ObjectKind::Table(_)
        | ObjectKind::Source(_)
        | ObjectKind::Index(_)
        | ObjectKind::Sink(_) => None,
    }
}

/// ` SELECT ...;`, as `pg_get_viewdef` gives it.
pub(super) fn view_text(object: &Object) -> Option<String> {
    let query = view_query(object)?.trim().trim_end_matches(';').trim_end();
    Some(format!(" {query};"))
}

/// `a, "B"`.
pub(super) fn key_columns(table: &Object) -> String {
    let key = primary_key(table);
    let columns = key.iter().flat_map(|key| key.columns);
    let names: Vec<String> = columns
        .filter_map(|column| table.columns.get(*column))
        .map(|column| crate::catalog::drop::quote_identifier(&column.name))
        .collect();
    names.join(", ")
}
