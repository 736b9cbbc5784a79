//! Everything that `pg_class` lists, in one form: users' objects, the indexes of their primary
//! keys, the system relations and Weir's own tables.

use std::sync::Arc;

use super::PgContext;
use super::data::layout;
use super::index;
use super::relation::{Relation, relation, relations};
use crate::catalog::catalog::{INFORMATION_SCHEMA, PG_CATALOG, WEIR, is_system_schema};
use crate::catalog::object::{Column, Object, ObjectKind, Table};
use crate::types::{ObjectId, SqlType};

/// Weir's system tables have OIDs from here on, in the order in which the session gives them.
const FIRST_WEIR_TABLE: u32 = 14_000;

/// A row of `pg_class`.
#[derive(Debug, Clone)]
pub(super) struct Class {
    pub(super) oid: u32,
    pub(super) schema: String,
    pub(super) name: String,
    /// `r`, `v`, `m`, `f`, `i`.
    pub(super) kind: &'static str,
    pub(super) columns: Vec<ClassColumn>,
    pub(super) owner: String,
    pub(super) origin: Origin,
}

/// Where a class comes from.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    Object(Arc<Object>),
    /// The index of this table's primary key.
    PrimaryKey(Arc<Object>),
    System,
}

/// A row of `pg_attribute`.
#[derive(Debug, Clone)]
pub(super) struct ClassColumn {
    pub(super) name: String,
    pub(super) type_oid: u32,
    pub(super) typmod: i32,
    pub(super) dimensions: i64,
    pub(super) not_null: bool,
    pub(super) default: Option<String>,
    pub(super) generated: Option<String>,
    pub(super) comment: Option<String>,
}

impl Class {
    pub(super) fn of_object(object: &Arc<Object>) -> Class {
        let kind = match object.kind {
            ObjectKind::Table(_) => "r",
            ObjectKind::Source(_) => "f",
            ObjectKind::View(_) => "v",
            ObjectKind::MaterializedView(_) => "m",
            ObjectKind::Index(_) => "i",
            ObjectKind::Sink(_) => " ",
        };
        let is_table = matches!(object.kind, ObjectKind::Table(_));
        let columns = object.columns.iter().map(|column| ClassColumn {
            not_null: column.not_null && is_table,
            ..ClassColumn::of(column)
        });
        Class {
            oid: object.id.0,
            schema: object.name.schema.clone(),
            name: object.name.name.clone(),
            kind,
            columns: match object.kind {
                ObjectKind::Index(_) => index::class_columns(object),
                _ => columns.collect(),
            },
            owner: object.owner.clone(),
            origin: Origin::Object(Arc::clone(object)),
        }
    }

    /// The index of the primary key, if the object is a table that has one.
    pub(super) fn of_primary_key(object: &Arc<Object>) -> Option<Class> {
        let ObjectKind::Table(Table { primary_key, primary_key_name, primary_key_index, .. }) =
            &object.kind
        else {
            return None;
        };
        let table = Class::of_object(object);
        let columns = primary_key.iter().filter_map(|column| table.columns.get(*column));
        let columns = columns.map(|column| ClassColumn {
            not_null: false,
            default: None,
            generated: None,
            ..column.clone()
        });
        Some(Class {
            oid: (*primary_key_index)?.0,
            name: primary_key_name.clone()?,
            kind: "i",
            columns: columns.collect(),
            origin: Origin::PrimaryKey(Arc::clone(object)),
            ..table.clone()
        })
    }

    fn of_relation(relation: &Relation) -> Class {
        let columns = relation.columns.iter().map(|column| ClassColumn {
            name: column.name.to_owned(),
            type_oid: column.type_oid,
            typmod: -1,
            dimensions: 0,
            not_null: column.not_null,
            default: None,
            generated: None,
            comment: None,
        });
        Class {
            oid: relation.oid,
            schema: relation.schema.to_owned(),
            name: relation.name.to_owned(),
            kind: relation.kind,
            columns: columns.collect(),
            owner: crate::catalog::catalog::DEFAULT_OWNER.to_owned(),
            origin: Origin::System,
        }
    }

    pub(super) fn object(&self) -> Option<&Arc<Object>> {
        match &self.origin {
            Origin::Object(object) => Some(object),
            Origin::PrimaryKey(_) | Origin::System => None,
        }
    }
}

impl ClassColumn {
    /// As the relation has it.
    pub(super) fn of(column: &Column) -> Self {
        Self {
            name: column.name.clone(),
            type_oid: column.sql_type.oid(),
            typmod: column.sql_type.typmod(),
            dimensions: i64::from(matches!(column.sql_type, SqlType::Array(_))),
            not_null: column.not_null,
            default: column.default.clone(),
            generated: column.generated.clone(),
            comment: column.comment.clone(),
        }
    }

    /// `pg_attribute.attcollation`.
    pub(super) fn layout(&self) -> Option<&'static super::data::Layout> {
        layout(self.type_oid)
    }
}

/// Whether an object is in `pg_class`.
fn is_relation(object: &Object) -> bool {
    object.sink().is_none()
}

/// All of them.
pub(super) fn classes(context: &PgContext) -> Vec<Class> {
    let users = context.catalog.objects().filter(|object| is_relation(object)).flat_map(|object| {
        std::iter::once(Class::of_object(object)).chain(Class::of_primary_key(object))
    });
    let system = relations().iter().map(Class::of_relation);
    users.chain(system).chain(weir_classes(context)).collect()
}

/// The one with this OID.
pub(super) fn class(context: &PgContext, oid: u32) -> Option<Class> {
    if let Some(object) = context.catalog.object(ObjectId(oid))
        && is_relation(object)
    {
        return Some(Class::of_object(object));
    }
    let index = context.catalog.objects().filter_map(Class::of_primary_key);
    let system = relations().iter().filter(|one| one.oid == oid).map(Class::of_relation);
    index.chain(system).chain(weir_classes(context)).find(|class| class.oid == oid)
}

/// The one of this name: in `schema`, or where the search path finds it first.
pub(super) fn class_named(context: &PgContext, schema: Option<&str>, name: &str) -> Option<Class> {
    let in_schema = |schema: &str| match schema {
        PG_CATALOG | INFORMATION_SCHEMA => relation(schema, name).map(Class::of_relation),
        WEIR => weir_classes(context).find(|class| class.name == name),
        other => context
            .catalog
            .objects()
            .filter(|object| object.name.schema == other && is_relation(object))
            .find_map(|object| {
                std::iter::once(Class::of_object(object))
                    .chain(Class::of_primary_key(object))
                    .find(|class| class.name == name)
            }),
    };
    match schema {
        Some(schema) => in_schema(schema),
        None => visible_schemas(context).find_map(in_schema),
    }
}

/// Schemas in which names without one are looked for, `pg_catalog` first.
pub(super) fn visible_schemas(context: &PgContext) -> impl Iterator<Item = &str> {
    let path = context.session.search_path.iter().map(String::as_str);
    let named = context.session.search_path.iter().any(|schema| schema == PG_CATALOG);
    std::iter::once(PG_CATALOG)
        .filter(move |_| !named)
        .chain(path)
        .filter(|schema| context.catalog.schema(schema).is_some())
}

/// Whether a name without a schema finds this class.
pub(super) fn is_visible(context: &PgContext, class: &Class) -> bool {
    let Some(own) = visible_schemas(context).position(|schema| schema == class.schema) else {
        return false;
    };
    // Only where an earlier schema has the same name is it hidden; mostly there is none.
    own == 0 || class_named(context, None, &class.name).is_some_and(|found| found.oid == class.oid)
}

fn weir_classes(context: &PgContext) -> impl Iterator<Item = Class> {
    (FIRST_WEIR_TABLE..).zip(context.session.weir_tables.iter()).map(|(oid, (name, schema))| {
        Class {
            oid,
            schema: WEIR.to_owned(),
            name: name.clone(),
            kind: "v",
            columns: schema
                .fields()
                .iter()
                .map(|field| {
                    let sql_type = SqlType::of_field(field);
                    ClassColumn {
                        name: field.name().clone(),
                        type_oid: sql_type.oid(),
                        typmod: sql_type.typmod(),
                        dimensions: i64::from(matches!(sql_type, SqlType::Array(_))),
                        not_null: false,
                        default: None,
                        generated: None,
                        comment: None,
                    }
                })
                .collect(),
            owner: crate::catalog::catalog::DEFAULT_OWNER.to_owned(),
            origin: Origin::System,
        }
    })
}

/// `pg_namespace.oid` of a schema, 0 if there is none.
pub(super) fn namespace_oid(context: &PgContext, schema: &str) -> u32 {
    context.catalog.schema(schema).map_or(0, |schema| schema.id.0)
}

/// Whether the relation belongs to the system.
pub(super) fn is_system(class: &Class) -> bool {
    is_system_schema(&class.schema)
}
