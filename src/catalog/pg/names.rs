//! From names to OIDs and back, as the OID alias types (`regclass`, `regtype`, ...) do it.

use super::PgContext;
use super::class::{class, class_named, is_visible, visible_schemas};
use super::data::{fixed_oid, fixed_value};
use super::value::{Reg, Value};
use crate::catalog::catalog::PG_CATALOG;
use crate::catalog::drop::quote_identifier;
use crate::error::{SqlError, SqlResult, code};
use crate::types::{ObjectId, SqlType};

/// The OID of a role that owns something.
pub(super) fn role_oid(context: &PgContext, name: &str) -> u32 {
    context.catalog.owner_id(name).0
}

/// The name of a role.
pub(super) fn role_name(context: &PgContext, oid: u32) -> Option<&str> {
    context.catalog.role_by_id(ObjectId(oid)).map(|role| role.name.as_str())
}

/// What an OID alias type prints: a name, the number if nothing has it, `-` for 0.
pub(super) fn reg_text(context: &PgContext, kind: Reg, oid: u32) -> String {
    if oid == 0 {
        return "-".to_owned();
    }
    let name = match kind {
        Reg::Class => relation_text(context, oid),
        Reg::Type => Some(type_text(context, oid, None)).filter(|name| name != "???"),
        Reg::Proc => match super::procs::function_of(context, oid) {
            Some(function) => Some(quote_identifier(&function.name.name)),
            None => fixed_value("pg_proc", oid, "proname").map(|name| name.to_text(context)),
        },
        Reg::Namespace => context
            .catalog
            .schemas()
            .find(|schema| schema.id.0 == oid)
            .map(|schema| quote_identifier(&schema.name)),
        Reg::Role => role_name(context, oid).map(quote_identifier),
    };
    name.unwrap_or_else(|| oid.to_string())
}

/// A relation's name, with its schema where the search path does not find it.
pub(super) fn relation_text(context: &PgContext, oid: u32) -> Option<String> {
    let class = class(context, oid)?;
    let name = quote_identifier(&class.name);
    Some(if is_visible(context, &class) {
        name
    } else {
        format!("{}.{name}", quote_identifier(&class.schema))
    })
}

/// `format_type(oid, typmod)`; `???` if there is no such type.
pub(super) fn type_text(context: &PgContext, oid: u32, typmod: Option<i32>) -> String {
    if let Some(known) = SqlType::from_oid(oid) {
        return with_modifier(known, typmod).to_string();
    }
    if let Some(Value::Text(name)) = fixed_value("pg_type", oid, "typname") {
        return match name.strip_prefix('_') {
            Some(element) => format!("{element}[]"),
            None => quote_identifier(&name),
        };
    }
    for object in context.catalog.objects() {
        let suffix = if object.row_type.0 == oid {
            ""
        } else if object.row_array_type.0 == oid {
            "[]"
        } else {
            continue;
        };
        let name = relation_text(context, object.id.0).unwrap_or_default();
        return format!("{name}{suffix}");
    }
    "???".to_owned()
}

/// Puts a type modifier into a type, as `pg_attribute.atttypmod` encodes it.
fn with_modifier(sql_type: SqlType, typmod: Option<i32>) -> SqlType {
    let length =
        typmod.filter(|typmod| *typmod >= 4).and_then(|typmod| u32::try_from(typmod - 4).ok());
    match sql_type {
        SqlType::Varchar(_) => SqlType::Varchar(length),
        // Without a modifier the type's name is bpchar, or character with the length of 1.
        SqlType::Char(_) => SqlType::Char(length.unwrap_or(1)),
        SqlType::Numeric(_) => SqlType::Numeric(length.and_then(|packed| {
            Some((u8::try_from(packed >> 16).ok()?, i8::try_from(packed & 0x7ff).ok()?))
        })),
        SqlType::Array(element) => SqlType::Array(Box::new(with_modifier(*element, typmod))),
        other => other,
    }
}

/// Reads a name (or a number) as an OID alias type does; the error is PostgreSQL's.
pub fn reg_from_text(context: &PgContext, kind: Reg, text: &str) -> SqlResult<u32> {
    let text = text.trim();
    if text == "-" {
        return Ok(0);
    }
    if let Ok(oid) = text.parse() {
        return Ok(oid);
    }
    find(context, kind, text).ok_or_else(|| {
        let (code, what) = match kind {
            Reg::Class => (code::UNDEFINED_TABLE, "relation"),
            Reg::Type => (code::UNDEFINED_OBJECT, "type"),
            Reg::Proc => (code::UNDEFINED_FUNCTION, "function"),
            Reg::Namespace => (code::INVALID_SCHEMA_NAME, "schema"),
            Reg::Role => (code::UNDEFINED_OBJECT, "role"),
        };
        SqlError::new(code, format!("{what} \"{text}\" does not exist"))
    })
}

/// The OID of a name, `None` if nothing has it.
pub(super) fn find(context: &PgContext, kind: Reg, text: &str) -> Option<u32> {
    if kind == Reg::Type {
        return find_type(context, text);
    }
    let parts = identifiers(text)?;
    let (schema, name) = match parts.as_slice() {
        [name] => (None, name.as_str()),
        [schema, name] => (Some(schema.as_str()), name.as_str()),
        [_, schema, name] => (Some(schema.as_str()), name.as_str()),
        _ => return None,
    };
    match kind {
        Reg::Class => class_named(context, schema, name).map(|class| class.oid),
        Reg::Proc => {
            let fixed = schema.is_none_or(|schema| schema == PG_CATALOG);
            let fixed = fixed.then(|| fixed_oid("pg_proc", "proname", name)).flatten();
            fixed.or_else(|| {
                let path = &context.session.search_path;
                // Several of one name are told apart by their parameters, which are not given.
                match context.catalog.functions_named(path, schema, name).as_slice() {
                    [one] => Some(one.id.0),
                    _ => None,
                }
            })
        }
        Reg::Namespace => context.catalog.schema(name).map(|schema| schema.id.0),
        Reg::Role => context.catalog.role(name).map(|role| role.id.0),
        Reg::Type => None,
    }
}

fn find_type(context: &PgContext, text: &str) -> Option<u32> {
    let bare = text.strip_prefix("pg_catalog.").unwrap_or(text);
    if let Some(known) = SqlType::parse(bare) {
        return Some(known.oid());
    }
    let parts = identifiers(bare)?;
    let (schema, name) = match parts.as_slice() {
        [name] => (None, name.as_str()),
        [schema, name] => (Some(schema.as_str()), name.as_str()),
        _ => return None,
    };
    let fixed = schema.is_none().then(|| fixed_oid("pg_type", "typname", name)).flatten();
    fixed.or_else(|| {
        let class = class_named(context, schema, name)?;
        class.object().map(|object| object.row_type.0).filter(|oid| *oid != 0)
    })
}

/// Whether the type is found without naming its schema.
pub(super) fn type_is_visible(context: &PgContext, oid: u32) -> Option<bool> {
    if fixed_value("pg_type", oid, "oid").is_some() {
        return Some(true);
    }
    let object = context
        .catalog
        .objects()
        .find(|object| object.row_type.0 == oid || object.row_array_type.0 == oid)?;
    Some(visible_schemas(context).any(|schema| schema == object.name.schema))
}

/// The parts of `a."B c".d`, folded to lower case where not quoted.
pub(super) fn identifiers(text: &str) -> Option<Vec<String>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    loop {
        let (part, after) = if let Some(quoted) = rest.strip_prefix('"') {
            let mut part = String::new();
            let mut characters = quoted.char_indices().peekable();
            let end = loop {
                match characters.next()? {
                    (_, '"') if characters.peek().is_some_and(|next| next.1 == '"') => {
                        characters.next();
                        part.push('"');
                    }
                    (at, '"') => break at + 1,
                    (_, other) => part.push(other),
                }
            };
            (part, quoted.get(end..)?)
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            (rest.get(..end)?.trim().to_lowercase(), rest.get(end..)?)
        };
        if part.is_empty() {
            return None;
        }
        parts.push(part);
        match after.trim_start().strip_prefix('.') {
            Some(next) => rest = next.trim_start(),
            None if after.trim().is_empty() => return Some(parts),
            None => return None,
        }
    }
}
