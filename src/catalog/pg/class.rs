//! Everything that `pg_class` lists, in one form: users' objects, the indexes of their primary
//! keys, the system relations with their indexes, and Weir's own tables.

use std::sync::Arc;

use super::PgContext;
use super::data::layout;
use super::index;
use super::relation::{Relation, SystemIndex, relation, relations, system_indexes};
use crate::catalog::catalog::{
    DEFAULT_OWNER, INFORMATION_SCHEMA, PG_CATALOG, WEIR, is_system_schema,
};
use crate::catalog::object::{Column, Identity, Object, ObjectKind, Table};
use crate::catalog::stored::Dropped;
use crate::types::{ObjectId, SqlType};

/// Weir's system tables have OIDs from here on, in the order in which the session gives them.
const FIRST_WEIR_TABLE: u32 = 14_000;
/// The types of their rows, and of arrays of them, come so much later.
const WEIR_ROW_TYPES: u32 = 200;
const WEIR_ROW_ARRAYS: u32 = 400;

/// A row of `pg_class`.
#[derive(Debug, Clone)]
pub(super) struct Class {
    pub(super) oid: u32,
    pub(super) schema: String,
    pub(super) name: String,
    /// `r`, `v`, `m`, `f`, `i`, `S`.
    pub(super) kind: &'static str,
    pub(super) columns: Vec<ClassColumn>,
    pub(super) owner: String,
    /// OIDs of the type of its rows, and of arrays of them.
    pub(super) row_type: Option<(u32, u32)>,
    pub(super) origin: Origin,
}

/// Where a class comes from.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    Object(Arc<Object>),
    /// The index of this table's primary key.
    PrimaryKey(Arc<Object>),
    /// Of PostgreSQL.
    Relation(&'static Relation),
    /// On one of those.
    Index(&'static SystemIndex),
    /// Of the schema `weir`.
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
    pub(super) identity: Option<Identity>,
    pub(super) comment: Option<String>,
    /// Whether its texts are sorted by their bytes, whatever the database does.
    pub(super) by_bytes: bool,
}

impl Class {
    pub(super) fn of_object(object: &Arc<Object>) -> Class {
        let kind = match object.kind {
            ObjectKind::Table(_) => "r",
            ObjectKind::Source(_) => "f",
            ObjectKind::View(_) => "v",
            ObjectKind::MaterializedView(_) => "m",
            ObjectKind::Index(_) => "i",
            ObjectKind::Sequence(_) => "S",
            ObjectKind::Sink(_) | ObjectKind::Subscription(_) => " ",
        };
        let is_table = matches!(object.kind, ObjectKind::Table(_) | ObjectKind::Sequence(_));
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
            row_type: (object.row_type.0 != 0)
                .then_some((object.row_type.0, object.row_array_type.0)),
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
            identity: None,
            ..column.clone()
        });
        Some(Class {
            oid: (*primary_key_index)?.0,
            name: primary_key_name.clone()?,
            kind: "i",
            columns: columns.collect(),
            row_type: None,
            origin: Origin::PrimaryKey(Arc::clone(object)),
            ..table.clone()
        })
    }

    fn of_relation(relation: &'static Relation) -> Class {
        let columns = relation.columns.iter().map(|column| ClassColumn {
            not_null: column.not_null,
            by_bytes: column.by_bytes,
            ..ClassColumn::plain(column.name, column.type_oid)
        });
        Class {
            oid: relation.oid,
            schema: relation.schema.to_owned(),
            name: relation.name.to_owned(),
            kind: relation.kind,
            columns: columns.collect(),
            owner: DEFAULT_OWNER.to_owned(),
            row_type: Some(relation.row_type),
            origin: Origin::Relation(relation),
        }
    }

    fn of_system_index(index: &'static SystemIndex) -> Class {
        /// As which names are kept in an index.
        const CSTRING: u32 = 2275;
        let kept = |type_oid: u32| if type_oid == SqlType::Name.oid() { CSTRING } else { type_oid };
        let columns = index.columns().map(|one| ClassColumn::plain(one.name, kept(one.type_oid)));
        Class {
            oid: index.oid,
            schema: PG_CATALOG.to_owned(),
            name: index.name.to_owned(),
            kind: "i",
            columns: columns.collect(),
            owner: DEFAULT_OWNER.to_owned(),
            row_type: None,
            origin: Origin::Index(index),
        }
    }

    /// Whether all databases share it.
    pub(super) fn is_shared(&self) -> bool {
        match &self.origin {
            Origin::Relation(relation) => relation.shared,
            Origin::Index(index) => index.on.shared,
            _ => false,
        }
    }

    /// `pg_attribute.attnum` of its column of this index.
    pub(super) fn number(&self, index: usize) -> usize {
        self.object().map_or(index + 1, |object| object.number(index))
    }

    /// Its columns with their numbers.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &ClassColumn)> {
        let columns = self.columns.iter().enumerate();
        columns.map(|(index, column)| (self.number(index), column))
    }

    /// The column with this number.
    pub(super) fn column(&self, number: i64) -> Option<&ClassColumn> {
        let number = usize::try_from(number).ok()?;
        self.numbered().find(|(own, _)| *own == number).map(|(_, column)| column)
    }

    /// Columns that are gone, by their numbers.
    pub(super) fn dropped(&self) -> &[Dropped] {
        let shape = self.object().and_then(|object| object.shape());
        shape.map_or(&[], |shape| &shape.dropped)
    }

    pub(super) fn object(&self) -> Option<&Arc<Object>> {
        match &self.origin {
            Origin::Object(object) => Some(object),
            _ => None,
        }
    }
}

impl ClassColumn {
    fn plain(name: &str, type_oid: u32) -> Self {
        Self {
            name: name.to_owned(),
            type_oid,
            typmod: -1,
            dimensions: 0,
            not_null: false,
            default: None,
            generated: None,
            identity: None,
            comment: None,
            by_bytes: false,
        }
    }

    /// As the relation has it.
    pub(super) fn of(column: &Column) -> Self {
        Self {
            name: column.name.clone(),
            type_oid: column.sql_type.oid(),
            typmod: if column.computed { -1 } else { column.sql_type.typmod() },
            dimensions: i64::from(matches!(column.sql_type, SqlType::Array(_))),
            not_null: column.not_null,
            default: column.default.as_deref().map(|text| default_text(text, &column.sql_type)),
            generated: column.generated.clone(),
            identity: column.identity,
            comment: column.comment.clone(),
            by_bytes: false,
        }
    }

    /// `pg_attribute.attcollation`.
    pub(super) fn layout(&self) -> Option<&'static super::data::Layout> {
        layout(self.type_oid)
    }
}

/// A default as PostgreSQL writes it back: a text has its column's type, a negative number is one
/// that was cast.
fn default_text(written: &str, sql_type: &SqlType) -> String {
    let text = written.trim();
    let inside = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let is_literal = inside.is_some_and(|inside| !inside.replace("''", "").contains('\''));
    let without_modifier = match sql_type {
        SqlType::Varchar(_) => "character varying".to_owned(),
        SqlType::Char(_) => "bpchar".to_owned(),
        SqlType::Numeric(_) => "numeric".to_owned(),
        other => other.to_string(),
    };
    if is_literal {
        return format!("{text}::{without_modifier}");
    }
    let digits = text.strip_prefix('-').map(str::trim).unwrap_or_default();
    let is_digit = |byte: u8| byte.is_ascii_digit();
    if !digits.is_empty() && digits.bytes().all(is_digit) {
        let whole = if digits.parse::<i32>().is_ok() { "integer" } else { "bigint" };
        return format!("'-{digits}'::{whole}");
    }
    if !digits.is_empty() && digits.bytes().all(|byte| is_digit(byte) || byte == b'.') {
        return format!("'-{digits}'::numeric");
    }
    match text.to_ascii_lowercase().as_str() {
        keyword @ ("true" | "false") => keyword.to_owned(),
        keyword @ ("current_timestamp" | "current_date" | "current_user" | "current_time") => {
            keyword.to_ascii_uppercase()
        }
        _ => text.to_owned(),
    }
}

/// Whether an object is in `pg_class`.
fn is_relation(object: &Object) -> bool {
    object.is_relation()
}

/// All of them.
pub(super) fn classes(context: &PgContext) -> Vec<Class> {
    own_classes(context).chain(postgres_classes()).collect()
}

/// What users made, and Weir's own tables.
pub(super) fn own_classes(context: &PgContext) -> impl Iterator<Item = Class> {
    let users = context.catalog.objects().filter(|object| is_relation(object)).flat_map(|object| {
        std::iter::once(Class::of_object(object)).chain(Class::of_primary_key(object))
    });
    users.chain(weir_classes(context))
}

/// What every PostgreSQL has.
pub(super) fn postgres_classes() -> impl Iterator<Item = Class> {
    let indexes = system_indexes().iter().map(Class::of_system_index);
    relations().iter().map(Class::of_relation).chain(indexes)
}

/// The one with this OID.
pub(super) fn class(context: &PgContext, oid: u32) -> Option<Class> {
    if let Some(object) = context.catalog.object(ObjectId(oid))
        && is_relation(object)
    {
        return Some(Class::of_object(object));
    }
    let is_key = |object: &&Arc<Object>| match &object.kind {
        ObjectKind::Table(table) => table.primary_key_index == Some(ObjectId(oid)),
        _ => false,
    };
    let key = context.catalog.objects().filter(is_key).filter_map(Class::of_primary_key);
    let system = relations().iter().filter(|one| one.oid == oid).map(Class::of_relation);
    let indexes = system_indexes().iter().filter(|one| one.oid == oid);
    let indexes = indexes.map(Class::of_system_index);
    let weirs = weir_classes(context).filter(|class| class.oid == oid);
    key.chain(system).chain(indexes).chain(weirs).next()
}

/// The one whose rows, or arrays of whose rows, are of this type; true for arrays.
pub(super) fn class_of_row_type(context: &PgContext, type_oid: u32) -> Option<(Class, bool)> {
    let is_array = |(row, array): (u32, u32)| match type_oid {
        0 => None,
        oid if oid == row => Some(false),
        oid if oid == array => Some(true),
        _ => None,
    };
    let users = context.catalog.objects().find_map(|object| {
        let array = is_array((object.row_type.0, object.row_array_type.0))?;
        Some((Class::of_object(object), array))
    });
    let system = || {
        relations().iter().find_map(|one| Some((Class::of_relation(one), is_array(one.row_type)?)))
    };
    let weirs =
        || weir_classes(context).find_map(|one| Some((one.clone(), is_array(one.row_type?)?)));
    users.or_else(system).or_else(weirs)
}

/// The one of this name: in `schema`, or where the search path finds it first.
pub(super) fn class_named(context: &PgContext, schema: Option<&str>, name: &str) -> Option<Class> {
    let in_schema = |schema: &str| match schema {
        PG_CATALOG | INFORMATION_SCHEMA => {
            relation(schema, name).map(Class::of_relation).or_else(|| {
                let index = system_indexes().iter().find(|index| index.name == name)?;
                (schema == PG_CATALOG).then(|| Class::of_system_index(index))
            })
        }
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
                        typmod: sql_type.typmod(),
                        dimensions: i64::from(matches!(sql_type, SqlType::Array(_))),
                        ..ClassColumn::plain(field.name(), sql_type.oid())
                    }
                })
                .collect(),
            owner: DEFAULT_OWNER.to_owned(),
            row_type: Some((oid + WEIR_ROW_TYPES, oid + WEIR_ROW_ARRAYS)),
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
