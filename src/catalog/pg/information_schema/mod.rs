//! `information_schema`: the standard's view of the same objects.

mod constraints;
mod routines;
mod types;

pub(super) use constraints::*;
pub(super) use routines::*;
pub(super) use types::*;

use super::PgContext;
use super::class::{Class, ClassColumn, class_of_row_type, classes};
use super::data::fixed_value;
use super::names::type_text;
use super::objects::{count, view_text};
use super::relation::Rows;
use super::sequences::{IdentityShape, shown_expression};
use super::value::Value;
use crate::catalog::catalog::INFORMATION_SCHEMA;
use crate::types::SqlType;

fn database(context: &PgContext) -> Value {
    Value::text(&context.session.database)
}

fn yes_or_no(yes: bool) -> Value {
    Value::text(if yes { "YES" } else { "NO" })
}

/// Tables, views and foreign tables: materialized views and indexes are not in the standard.
fn standard(context: &PgContext) -> impl Iterator<Item = Class> {
    classes(context).into_iter().filter(|class| matches!(class.kind, "r" | "v" | "f"))
}

pub(super) fn catalog_name(context: &PgContext, rows: &mut Rows) {
    rows.push([("catalog_name", database(context))]);
}

pub(super) fn schemata(context: &PgContext, rows: &mut Rows) {
    for schema in context.catalog.schemas() {
        rows.push([
            ("catalog_name", database(context)),
            ("schema_name", Value::text(&schema.name)),
            ("schema_owner", Value::text(&schema.owner)),
        ]);
    }
}

pub(super) fn tables(context: &PgContext, rows: &mut Rows) {
    for class in standard(context) {
        let kind = match class.kind {
            "v" => "VIEW",
            "f" => "FOREIGN",
            _ => "BASE TABLE",
        };
        rows.push([
            ("table_catalog", database(context)),
            ("table_schema", Value::text(&class.schema)),
            ("table_name", Value::text(&class.name)),
            ("table_type", Value::text(kind)),
            ("is_insertable_into", yes_or_no(is_writable(&class))),
            ("is_typed", yes_or_no(false)),
        ]);
    }
}

fn is_writable(class: &Class) -> bool {
    class.kind == "r"
}

pub(super) fn views(context: &PgContext, rows: &mut Rows) {
    for class in standard(context).filter(|class| class.kind == "v") {
        rows.push([
            ("table_catalog", database(context)),
            ("table_schema", Value::text(&class.schema)),
            ("table_name", Value::text(&class.name)),
            ("view_definition", Value::optional(class.object().and_then(|o| view_text(o)))),
            ("check_option", Value::text("NONE")),
            ("is_updatable", yes_or_no(false)),
            ("is_insertable_into", yes_or_no(false)),
            ("is_trigger_updatable", yes_or_no(false)),
            ("is_trigger_deletable", yes_or_no(false)),
            ("is_trigger_insertable_into", yes_or_no(false)),
        ]);
    }
}

pub(super) fn columns(context: &PgContext, rows: &mut Rows) {
    for class in standard(context) {
        for (number, column) in class.numbered() {
            let shape = Shape::of(context, column);
            let identity = IdentityShape::of(context, column);
            rows.push([
                ("table_catalog", database(context)),
                ("table_schema", Value::text(&class.schema)),
                ("table_name", Value::text(&class.name)),
                ("column_name", Value::text(&column.name)),
                ("ordinal_position", count(number)),
                (
                    "column_default",
                    Value::optional(
                        column.default.as_deref().map(|t| shown_expression(context, t)),
                    ),
                ),
                ("is_nullable", yes_or_no(!column.not_null)),
                ("data_type", Value::text(shape.data_type)),
                ("character_maximum_length", shape.length),
                ("character_octet_length", shape.octets),
                ("numeric_precision", shape.precision),
                ("numeric_precision_radix", shape.radix),
                ("numeric_scale", shape.scale),
                ("datetime_precision", shape.fraction),
                ("udt_catalog", database(context)),
                ("udt_schema", Value::text("pg_catalog")),
                ("udt_name", Value::text(shape.name)),
                (
                    "domain_catalog",
                    shape.domain.as_ref().map_or(Value::Null, |_| database(context)),
                ),
                (
                    "domain_schema",
                    Value::optional(shape.domain.as_ref().map(|_| INFORMATION_SCHEMA)),
                ),
                ("domain_name", Value::optional(shape.domain)),
                ("dtd_identifier", Value::text(number.to_string())),
                ("is_self_referencing", yes_or_no(false)),
                ("is_identity", yes_or_no(column.identity.is_some())),
                ("identity_generation", identity.generation),
                ("identity_start", identity.start),
                ("identity_increment", identity.increment),
                ("identity_maximum", identity.maximum),
                ("identity_minimum", identity.minimum),
                ("identity_cycle", yes_or_no(identity.cycles)),
                (
                    "is_generated",
                    Value::text(if column.generated.is_some() { "ALWAYS" } else { "NEVER" }),
                ),
                ("generation_expression", Value::optional(column.generated.as_deref())),
                ("is_updatable", yes_or_no(is_writable(&class))),
            ]);
        }
    }
}

/// A column's type as the standard describes it.
struct Shape {
    data_type: String,
    name: String,
    length: Value,
    octets: Value,
    precision: Value,
    radix: Value,
    scale: Value,
    fraction: Value,
    /// Its name, where the type is a domain: the rest is of what that is over.
    domain: Option<String>,
}

impl Shape {
    fn of(context: &PgContext, column: &ClassColumn) -> Shape {
        /// Bytes of a character, at most.
        const UTF8_BYTES: i64 = 4;
        /// `character_octet_length` without a limit.
        const OCTETS_MAX: i64 = 1 << 30;
        let (domain, type_oid) = match fixed_value("pg_type", column.type_oid, "typbasetype") {
            Some(base) if base != Value::Int(0) => {
                let name = fixed_value("pg_type", column.type_oid, "typname");
                (name.map(|name| name.to_text(context)), base.as_oid().unwrap_or(0))
            }
            _ => (None, column.type_oid),
        };
        let known = SqlType::from_oid(type_oid);
        let length = (column.typmod >= 4).then(|| i64::from(column.typmod) - 4);
        let (precision, radix, scale) = match known {
            Some(SqlType::SmallInt) => (Some(16), Some(2), Some(0)),
            Some(SqlType::Integer) => (Some(32), Some(2), Some(0)),
            Some(SqlType::BigInt) => (Some(64), Some(2), Some(0)),
            Some(SqlType::Real) => (Some(24), Some(2), None),
            Some(SqlType::Double) => (Some(53), Some(2), None),
            Some(SqlType::Numeric(_)) => {
                (length.map(|packed| packed >> 16), Some(10), length.map(|packed| packed & 0x7ff))
            }
            _ => (None, None, None),
        };
        let (length, octets) = match known {
            Some(SqlType::Varchar(_) | SqlType::Char(_)) => {
                (length, Some(length.map_or(OCTETS_MAX, |length| length * UTF8_BYTES)))
            }
            Some(SqlType::Text) => (None, Some(OCTETS_MAX)),
            _ => (None, None),
        };
        let fraction = match known {
            Some(SqlType::Date) => Some(0),
            Some(SqlType::Time | SqlType::Timestamp | SqlType::Timestamptz | SqlType::Interval) => {
                Some(6)
            }
            _ => None,
        };
        let number = |value: Option<i64>| value.map_or(Value::Null, Value::Int);
        let of_row = class_of_row_type(context, type_oid);
        let data_type = match known {
            Some(SqlType::Array(_) | SqlType::Int2Vector | SqlType::OidVector) => {
                "ARRAY".to_owned()
            }
            Some(SqlType::Char(_)) => "character".to_owned(),
            None if of_row.as_ref().is_some_and(|(_, is_array)| *is_array) => "ARRAY".to_owned(),
            _ => type_text(context, type_oid, None),
        };
        let name = fixed_value("pg_type", type_oid, "typname");
        Shape {
            data_type,
            name: match (name, of_row) {
                (Some(name), _) => name.to_text(context),
                (None, Some((class, true))) => format!("_{}", class.name),
                (None, Some((class, false))) => class.name,
                (None, None) => String::new(),
            },
            length: number(length),
            octets: number(octets),
            precision: number(precision),
            radix: number(radix),
            scale: number(scale),
            fraction: number(fraction),
            domain,
        }
    }
}
