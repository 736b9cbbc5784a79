//! `pg_class` and its companions: what users made, and what it is made of.

use super::PgContext;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::class::{
    Class, ClassColumn, Origin, classes, namespace_oid, own_classes, postgres_classes,
};
use super::constraints;
use super::data::layout;
use super::index::{indexes, is_indexed};
use super::names::role_oid;
use super::relation::{Rows, relation, system_indexes};
use super::roles::acl_value;
use super::value::{Row, Value};
use crate::catalog::catalog::{INFORMATION_SCHEMA, PG_CATALOG, is_temporary_schema};
use crate::catalog::object::{Identity, Object, ObjectKind, Table};
use crate::catalog::sequence::sequences_in;
use crate::catalog::stored::dropped_name;
use crate::types::{ObjectId, SqlType};

/// OIDs of catalogs that other catalogs refer to (`classoid`).
pub(super) const PG_CLASS: u32 = 1259;
pub(super) const PG_NAMESPACE: u32 = 2615;
pub(super) const PG_DATABASE: u32 = 1262;
const PG_PROC: u32 = 1255;
const PG_REWRITE: u32 = 2618;
const PG_CONSTRAINT: u32 = 2606;
const PG_ATTRDEF: u32 = 2604;

/// `pg_am.oid` of tables and of indexes.
const HEAP: i64 = 2;
pub(super) const BTREE: i64 = 403;

/// `pg_tablespace.oid` of `pg_global`.
const GLOBAL_TABLESPACE: i64 = 1664;

pub(super) fn oid(value: u32) -> Value {
    Value::Int(i64::from(value))
}

pub(super) fn count(length: usize) -> Value {
    Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
}

/// `attnum`s of an object's columns given by index.
pub(super) fn numbers(object: &Object, columns: &[usize]) -> Value {
    Value::list(columns.iter().map(|column| count(object.number(*column))))
}

pub(super) fn pg_class(context: &PgContext, rows: &mut Rows) {
    for class in classes(context) {
        let access_method = match class.kind {
            "r" | "m" => HEAP,
            "i" => BTREE,
            _ => 0,
        };
        let stored = matches!(class.kind, "r" | "m" | "i" | "S");
        let persistence = if is_temporary_schema(&class.schema) { "t" } else { "p" };
        let acl = match &class.origin {
            Origin::Relation(relation) => {
                let acl = relation.acl.and_then(|acl| Value::text(acl).as_list());
                acl.map_or(Value::Null, Value::List)
            }
            Origin::Object(object) => acl_value(context, object.acl.as_ref()),
            Origin::Index(_) | Origin::PrimaryKey(_) | Origin::System => Value::Null,
        };
        let tablespace = if class.is_shared() { GLOBAL_TABLESPACE } else { 0 };
        let identity = match (&class.origin, class.kind) {
            (Origin::Object(_), "r" | "m") => "d",
            (Origin::Relation(relation), "r") if relation.schema == INFORMATION_SCHEMA => "d",
            _ => "n",
        };
        rows.push([
            ("oid", oid(class.oid)),
            ("relname", Value::text(&class.name)),
            ("relnamespace", oid(namespace_oid(context, &class.schema))),
            ("reltype", oid(class.row_type.map_or(0, |(row, _)| row))),
            ("relowner", oid(role_oid(context, &class.owner))),
            ("relam", Value::Int(access_method)),
            ("relfilenode", oid(if stored { class.oid } else { 0 })),
            ("relpages", pages(context, &class)),
            ("reltuples", tuples(&class)),
            ("relhasindex", Value::Bool(is_indexed(context, &class))),
            ("reltablespace", Value::Int(tablespace)),
            ("relisshared", Value::Bool(class.is_shared())),
            ("relpersistence", Value::text(persistence)),
            ("relkind", Value::text(class.kind)),
            ("relnatts", count(class.columns.len() + class.dropped().len())),
            ("relacl", acl),
            ("relhasrules", Value::Bool(matches!(class.kind, "v" | "m"))),
            ("relchecks", constraints::checks(class.object())),
            ("relhastriggers", Value::Bool(constraints::has_triggers(context, class.object()))),
            ("relispopulated", Value::Bool(true)),
            ("relreplident", Value::text(identity)),
        ]);
    }
}

/// A sequence has one row, an index's rows are not known, a table's neither.
fn tuples(class: &Class) -> Value {
    Value::Float(match class.kind {
        "i" => 0.0,
        "S" => 1.0,
        _ => -1.0,
    })
}

/// In how many pages of PostgreSQL's a relation would lie; an index or a sequence has one at the
/// least.
fn pages(context: &PgContext, class: &Class) -> Value {
    const PAGE_BYTES: i64 = 8192;
    let bytes = context.session.relation_bytes.get(&ObjectId(class.oid)).copied().unwrap_or(0);
    let pages = bytes / PAGE_BYTES + i64::from(bytes % PAGE_BYTES != 0);
    Value::Int(pages.max(i64::from(matches!(class.kind, "i" | "S"))))
}

/// The columns that every stored relation has besides its own: name, number, type.
const SYSTEM_COLUMNS: [(&str, i64, SqlType); 6] = [
    ("ctid", -1, SqlType::Tid),
    ("xmin", -2, SqlType::Xid),
    ("cmin", -3, SqlType::Cid),
    ("xmax", -4, SqlType::Xid),
    ("cmax", -5, SqlType::Cid),
    ("tableoid", -6, SqlType::Oid),
];

/// The columns of PostgreSQL's relations: most of the rows, and always the same.
static POSTGRES_ATTRIBUTES: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let Some(relation) = relation(PG_CATALOG, "pg_attribute") else { return Vec::new() };
    let mut rows = Rows::new(relation);
    attributes(postgres_classes(), &mut rows);
    rows.into_rows()
});

pub(super) fn pg_attribute(context: &PgContext, rows: &mut Rows) {
    rows.extend(&POSTGRES_ATTRIBUTES);
    attributes(own_classes(context), rows);
}

fn attributes(classes: impl Iterator<Item = Class>, rows: &mut Rows) {
    for class in classes {
        for (number, column) in class.numbered() {
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
                ("attnum", count(number)),
                ("attndims", Value::Int(column.dimensions)),
                ("attcacheoff", Value::Int(-1)),
                ("atttypmod", Value::Int(i64::from(column.typmod))),
                ("attbyval", of_layout(|layout| &layout.by_value, Value::Bool(false))),
                ("attalign", of_layout(|layout| &layout.align, Value::text("i"))),
                ("attstorage", of_layout(|layout| &layout.storage, Value::text("x"))),
                ("attnotnull", Value::Bool(column.not_null)),
                ("atthasdef", Value::Bool(column.default.is_some() || column.generated.is_some())),
                ("atthasmissing", Value::Bool(is_missing(&class, number))),
                (
                    "attidentity",
                    Value::text(match column.identity {
                        None => "",
                        Some(Identity { always: true, .. }) => "a",
                        Some(_) => "d",
                    }),
                ),
                ("attgenerated", Value::text(if column.generated.is_some() { "s" } else { "" })),
                ("attislocal", Value::Bool(true)),
                (
                    "attcollation",
                    collation(&class, column, of_layout(|one| &one.collation, Value::Int(0))),
                ),
            ]);
        }
        for dropped in class.dropped() {
            let Some(layout) = layout(dropped.sql_type.oid()) else { continue };
            rows.push([
                ("attrelid", oid(class.oid)),
                ("attname", Value::text(dropped_name(dropped.number))),
                ("atttypid", oid(0)),
                ("attlen", layout.length.clone()),
                ("attnum", count(dropped.number)),
                ("attcacheoff", Value::Int(-1)),
                ("atttypmod", Value::Int(i64::from(dropped.sql_type.typmod()))),
                ("attbyval", layout.by_value.clone()),
                ("attalign", layout.align.clone()),
                ("attstorage", layout.storage.clone()),
                ("attisdropped", Value::Bool(true)),
                ("attislocal", Value::Bool(true)),
            ]);
        }
        if !matches!(class.kind, "r" | "m" | "S") {
            continue;
        }
        for (name, number, sql_type) in &SYSTEM_COLUMNS {
            let Some(layout) = layout(sql_type.oid()) else { continue };
            rows.push([
                ("attrelid", oid(class.oid)),
                ("attname", Value::text(name)),
                ("atttypid", oid(sql_type.oid())),
                ("attlen", layout.length.clone()),
                ("attnum", Value::Int(*number)),
                ("attcacheoff", Value::Int(-1)),
                ("atttypmod", Value::Int(-1)),
                ("attbyval", layout.by_value.clone()),
                ("attalign", layout.align.clone()),
                ("attstorage", layout.storage.clone()),
                ("attnotnull", Value::Bool(true)),
                ("attislocal", Value::Bool(true)),
            ]);
        }
    }
}

/// Whether older rows of a table lack a column, and have a value for it all the same.
fn is_missing(class: &Class, number: usize) -> bool {
    let shape = class.object().and_then(|object| object.shape());
    shape.is_some_and(|shape| {
        let own = shape.columns.iter().find(|column| column.number == number);
        own.is_some_and(|own| shape.places[own.place].missing.is_some())
    })
}

/// PostgreSQL's own relations sort texts by their bytes, whatever the database does.
fn collation(class: &Class, column: &ClassColumn, of_type: Value) -> Value {
    const DEFAULT: i64 = 100;
    const C: i64 = 950;
    /// As which names are kept in an index.
    const CSTRING: u32 = 2275;
    match class.origin {
        Origin::Index(_) if column.type_oid == CSTRING => Value::Int(C),
        Origin::Relation(_) if column.by_bytes && of_type == Value::Int(DEFAULT) => Value::Int(C),
        Origin::Index(_) if of_type == Value::Int(DEFAULT) => Value::Int(C),
        _ => of_type,
    }
}

/// A default has no OID of its own in Weir: it gets one by its table and column, which is no other
/// object's while a catalog has fewer than a million OIDs.
fn default_oid(table: u32, number: usize) -> u32 {
    const FIRST: u32 = 0x8000_0000;
    const COLUMNS_MAX: u32 = 1_600;
    let number = u32::try_from(number).unwrap_or(COLUMNS_MAX);
    FIRST.wrapping_add(table.wrapping_mul(COLUMNS_MAX)).wrapping_add(number)
}

/// So does a view's rule.
pub(super) fn rule_oid(view: u32) -> u32 {
    const FIRST: u32 = 0x4000_0000;
    FIRST.wrapping_add(view)
}

pub(super) fn pg_attrdef(context: &PgContext, rows: &mut Rows) {
    let defaults = context.catalog.objects().flat_map(|object| {
        object.columns.iter().enumerate().filter_map(|(position, column)| {
            let column = ClassColumn::of(column);
            let text = column.default.or(column.generated)?;
            Some((object.id.0, object.number(position), text))
        })
    });
    for (table, number, text) in defaults {
        rows.push([
            ("oid", oid(default_oid(table, number))),
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
    let namespace = namespace_oid(context, PG_CATALOG);
    for index in system_indexes().iter().filter(|index| index.constraint != 0) {
        rows.push([
            ("oid", oid(index.constraint)),
            ("conname", Value::text(index.name)),
            ("connamespace", oid(namespace)),
            ("contype", Value::text(if index.primary { "p" } else { "u" })),
            ("convalidated", Value::Bool(true)),
            ("conrelid", oid(index.on.oid)),
            ("conindid", oid(index.oid)),
            ("confupdtype", Value::text(" ")),
            ("confdeltype", Value::text(" ")),
            ("confmatchtype", Value::text(" ")),
            ("conislocal", Value::Bool(true)),
            ("connoinherit", Value::Bool(true)),
            ("conkey", Value::list(index.keys.iter().map(|number| count(*number)))),
        ]);
    }
    for index in indexes(context) {
        let Some(constraint) = index.constraint else { continue };
        rows.push([
            ("oid", oid(constraint)),
            ("conname", Value::text(&index.name)),
            ("connamespace", oid(namespace_oid(context, &index.on.name.schema))),
            ("contype", Value::text(if index.primary { "p" } else { "u" })),
            ("convalidated", Value::Bool(true)),
            ("conrelid", oid(index.on.id.0)),
            ("conindid", oid(index.oid)),
            ("confupdtype", Value::text(" ")),
            ("confdeltype", Value::text(" ")),
            ("confmatchtype", Value::text(" ")),
            ("conislocal", Value::Bool(true)),
            ("connoinherit", Value::Bool(true)),
            ("conkey", numbers(&index.on, &index.key())),
        ]);
    }
    constraints::pg_constraint(context, rows);
}

/// The fixed types, and two for each relation: that of its rows, and that of arrays of them.
pub(super) fn pg_type(context: &PgContext, rows: &mut Rows) {
    for row in super::data::fixed_rows("pg_type") {
        rows.push_row(row.to_vec());
    }
    let classes: Vec<Class> = classes(context);
    let mut taken: BTreeSet<(&str, &str)> =
        classes.iter().map(|class| (class.schema.as_str(), class.name.as_str())).collect();
    let mut arrays = Vec::new();
    for class in &classes {
        // An array's type is called as its element's with a line before it, or more where that is
        // the name of something.
        let lines = (1..).map(|lines| format!("{}{}", "_".repeat(lines), class.name));
        let name = lines.map(|name| first_bytes(&name)).find(|name| {
            class.row_type.is_none() || !taken.contains(&(class.schema.as_str(), name.as_str()))
        });
        arrays.push(name.unwrap_or_default());
    }
    for (class, name) in classes.iter().zip(&arrays) {
        if class.row_type.is_some() {
            taken.insert((class.schema.as_str(), name));
        }
    }
    let function = |name: &str| {
        let found = super::data::fixed_oid("pg_proc", "proname", name).unwrap_or(0);
        Value::Reg(super::value::Reg::Proc, found)
    };
    for (class, array_name) in classes.iter().zip(&arrays) {
        let Some((row, array)) = class.row_type else { continue };
        let mut push =
            |type_oid: u32, name: &str, io: &str, specific: [(&'static str, Value); 6]| {
                let [class_oid, element, array, kind, category, subscript] = specific;
                rows.push([
                    ("oid", oid(type_oid)),
                    ("typname", Value::text(name)),
                    ("typnamespace", oid(namespace_oid(context, &class.schema))),
                    ("typowner", oid(role_oid(context, &class.owner))),
                    ("typlen", Value::Int(-1)),
                    ("typisdefined", Value::Bool(true)),
                    ("typdelim", Value::text(",")),
                    ("typalign", Value::text("d")),
                    ("typstorage", Value::text("x")),
                    ("typtypmod", Value::Int(-1)),
                    ("typinput", function(&format!("{io}_in"))),
                    ("typoutput", function(&format!("{io}_out"))),
                    ("typreceive", function(&format!("{io}_recv"))),
                    ("typsend", function(&format!("{io}_send"))),
                    class_oid,
                    element,
                    array,
                    kind,
                    category,
                    subscript,
                    (
                        "typanalyze",
                        if io == "array" { function("array_typanalyze") } else { function("") },
                    ),
                ]);
            };
        push(
            row,
            &class.name,
            "record",
            [
                ("typrelid", oid(class.oid)),
                ("typelem", Value::Int(0)),
                ("typarray", oid(array)),
                ("typtype", Value::text("c")),
                ("typcategory", Value::text("C")),
                ("typsubscript", function("")),
            ],
        );
        push(
            array,
            array_name,
            "array",
            [
                ("typrelid", Value::Int(0)),
                ("typelem", oid(row)),
                ("typarray", Value::Int(0)),
                ("typtype", Value::text("b")),
                ("typcategory", Value::text("A")),
                ("typsubscript", function("array_subscript_handler")),
            ],
        );
    }
}

/// As much of a name as PostgreSQL keeps.
pub(super) fn first_bytes(name: &str) -> String {
    const NAME_BYTES_MAX: usize = 63;
    let mut end = name.len().min(NAME_BYTES_MAX);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.get(..end).unwrap_or_default().to_owned()
}

pub(super) fn pg_description(context: &PgContext, rows: &mut Rows) {
    for row in super::data::fixed_rows("pg_description") {
        rows.push_row(row.to_vec());
    }
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
            push(PG_CLASS, object.id.0, object.number(position), &column.comment);
        }
    }
}

/// The rule that is a view.
pub(super) fn pg_rewrite(context: &PgContext, rows: &mut Rows) {
    for object in context.catalog.objects() {
        if view_query(object).is_some() {
            rows.push([
                ("oid", oid(rule_oid(object.id.0))),
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
    let mut push_column =
        |class: u32, object: u32, [on_class, on]: [u32; 2], column, kind: &str| {
            rows.push([
                ("classid", oid(class)),
                ("objid", oid(object)),
                ("refclassid", oid(on_class)),
                ("refobjid", oid(on)),
                ("refobjsubid", count(column)),
                ("deptype", Value::text(kind)),
            ]);
        };
    let sequence = |id: &ObjectId| context.catalog.object(*id).is_some_and(|o| o.relkind() == 'S');
    for object in context.catalog.objects() {
        let id = object.id.0;
        if let Some(own) = object.sequence().and_then(|sequence| sequence.owned_by) {
            let kind = if own.identity { "i" } else { "a" };
            let table = context.catalog.object(own.table);
            let number = table.map_or(own.column + 1, |table| table.number(own.column));
            push_column(PG_CLASS, id, [PG_CLASS, own.table.0], number, kind);
        }
        for (index, column) in object.columns.iter().enumerate() {
            let number = object.number(index);
            let Some(text) = column.default.as_deref().filter(|_| object.relkind() == 'r') else {
                continue;
            };
            let default = default_oid(id, number);
            push_column(PG_ATTRDEF, default, [PG_CLASS, id], number, "a");
            for (_, on) in sequences_in(text) {
                push_column(PG_ATTRDEF, default, [PG_CLASS, on.0], 0, "n");
            }
        }
        let mut push = |class, object, on_class, on, kind: &str| {
            push_column(class, object, [on_class, on], 0, kind);
        };
        if let Some(index) = object.index() {
            let Some(constraint) = index.constraint else {
                push(PG_CLASS, id, PG_CLASS, index.on.0, "a");
                continue;
            };
            push(PG_CONSTRAINT, constraint.id.0, PG_CLASS, index.on.0, "a");
            push(PG_CLASS, id, PG_CONSTRAINT, constraint.id.0, "i");
            continue;
        }
        if !object.is_relation() {
            continue;
        }
        push(PG_CLASS, id, PG_NAMESPACE, namespace_oid(context, &object.name.schema), "n");
        if view_query(object).is_some() {
            push(PG_REWRITE, rule_oid(id), PG_CLASS, id, "i");
        }
        let (dependant, own) = match view_query(object) {
            Some(_) => (PG_REWRITE, rule_oid(id)),
            None => (PG_CLASS, id),
        };
        // Those are its defaults', or those of the column that owns it.
        let others = object.depends_on.iter().filter(|on| !sequence(on) && !sequence(&object.id));
        for on in others {
            let function = context.catalog.function(*on).is_some();
            push(dependant, own, if function { PG_PROC } else { PG_CLASS }, on.0, "n");
        }
        if let Some(key) = primary_key(object) {
            push(PG_CONSTRAINT, key.constraint, PG_CLASS, id, "a");
            push(PG_CLASS, key.index, PG_CONSTRAINT, key.constraint, "i");
        }
        for check in object.checks() {
            for column in &check.columns {
                push_column(PG_CONSTRAINT, check.id.0, [PG_CLASS, id], column + 1, "a");
                push_column(PG_CONSTRAINT, check.id.0, [PG_CLASS, id], column + 1, "n");
            }
        }
        for key in object.foreign_keys() {
            for column in &key.columns {
                push_column(PG_CONSTRAINT, key.id.0, [PG_CLASS, id], column + 1, "a");
            }
            for column in &key.referenced {
                push_column(PG_CONSTRAINT, key.id.0, [PG_CLASS, key.references.0], column + 1, "n");
            }
            push_column(PG_CONSTRAINT, key.id.0, [PG_CLASS, key.key.0], 0, "n");
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
        ObjectKind::View(_) | ObjectKind::MaterializedView(_) => object.shown_query(),
        ObjectKind::Table(_)
        | ObjectKind::Source(_)
        | ObjectKind::Index(_)
        | ObjectKind::Sink(_)
        | ObjectKind::Subscription(_)
        | ObjectKind::Sequence(_) => None,
    }
}

/// ` SELECT ...;`, as `pg_get_viewdef` gives it.
pub(super) fn view_text(object: &Object) -> Option<String> {
    let query = view_query(object)?.trim().trim_end_matches(';').trim_end();
    Some(format!(" {query};"))
}
