//! From names to OIDs and back, as the OID alias types (`regclass`, `regtype`, ...) do it.

use super::PgContext;
use super::class::{Class, class, class_named, class_of_row_type, is_visible, visible_schemas};
use super::data::{fixed_oid, fixed_oids, fixed_value};
use super::value::Reg;
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
        return if matches!(kind, Reg::Oper | Reg::Operator) { "0" } else { "-" }.to_owned();
    }
    let fixed = |relation: &str, column: &str| {
        fixed_value(relation, oid, column).map(|name| quote_identifier(&name.to_text(context)))
    };
    let name = match kind {
        Reg::Class => relation_text(context, oid),
        Reg::Type => Some(type_text(context, oid, None)).filter(|name| name != "???"),
        Reg::Proc => super::procs::name_of(context, oid),
        Reg::Procedure => super::procs::signature_of(context, oid),
        Reg::Oper => operator_text(context, oid, false),
        Reg::Operator => operator_text(context, oid, true),
        Reg::Namespace => context
            .catalog
            .schemas()
            .find(|schema| schema.id.0 == oid)
            .map(|schema| quote_identifier(&schema.name)),
        Reg::Role => role_name(context, oid).map(quote_identifier),
        Reg::Collation => fixed("pg_collation", "collname"),
        Reg::Config => fixed("pg_ts_config", "cfgname"),
        Reg::Dictionary => fixed("pg_ts_dict", "dictname"),
    };
    name.unwrap_or_else(|| oid.to_string())
}

/// `=`, with its schema where several are called so; or `=(integer,integer)`.
fn operator_text(context: &PgContext, oid: u32, with_types: bool) -> Option<String> {
    let name = fixed_value("pg_operator", oid, "oprname")?.to_text(context);
    if !with_types {
        let several = fixed_oids("pg_operator", "oprname", &name).len() > 1;
        return Some(if several { format!("{PG_CATALOG}.{name}") } else { name });
    }
    let side = |column: &str| {
        let oid = fixed_value("pg_operator", oid, column).and_then(|value| value.as_oid());
        match oid.unwrap_or(0) {
            0 => "NONE".to_owned(),
            oid => type_text(context, oid, None),
        }
    };
    Some(format!("{name}({},{})", side("oprleft"), side("oprright")))
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
        let suffix = if matches!(known, SqlType::Array(_)) { "[]" } else { "" };
        let is_blank_padded = [SqlType::Char(0).oid(), ARRAY_OF_CHARACTER].contains(&oid);
        return match typmod {
            None if is_blank_padded => format!("character{suffix}"),
            Some(typmod) if is_blank_padded && typmod < 0 => format!("bpchar{suffix}"),
            Some(digits)
                if matches!(known, SqlType::Time | SqlType::Timestamp | SqlType::Timestamptz)
                    && (0..=6).contains(&digits) =>
            {
                with_digits(&known, digits)
            }
            _ => with_modifier(known, typmod).to_string(),
        };
    }
    if let Some(text) = fixed_type_text(context, oid, typmod) {
        return text;
    }
    let of_row = |(class, is_array): (Class, bool)| {
        let name = relation_text(context, class.oid).unwrap_or_default();
        format!("{name}{}", if is_array { "[]" } else { "" })
    };
    class_of_row_type(context, oid).map_or_else(|| "???".to_owned(), of_row)
}

/// `timestamp(3) with time zone`: how many digits a second has.
fn with_digits(sql_type: &SqlType, digits: i32) -> String {
    let name = sql_type.to_string();
    match name.split_once(' ') {
        Some((first, rest)) => format!("{first}({digits}) {rest}"),
        None => name,
    }
}

const ARRAY_OF_CHARACTER: u32 = 1014;

/// A type of which Weir only knows that PostgreSQL has it.
fn fixed_type_text(context: &PgContext, oid: u32, typmod: Option<i32>) -> Option<String> {
    let column = |column: &str| fixed_value("pg_type", oid, column);
    let name = column("typname")?.to_text(context);
    let element = column("typelem")?.as_oid().filter(|element| *element != 0);
    if let Some(element) = element.filter(|_| name.starts_with('_')) {
        return Some(format!("{}[]", type_text(context, element, typmod)));
    }
    Some(match name.as_str() {
        "bit" if typmod.is_none() => name,
        "bit" => "\"bit\"".to_owned(),
        "varbit" => "bit varying".to_owned(),
        "timetz" => "time with time zone".to_owned(),
        _ => {
            let schema = column("typnamespace")?.as_oid();
            let schema = context.catalog.schemas().find(|one| Some(one.id.0) == schema)?;
            let name = quote_identifier(&name);
            match visible_schemas(context).any(|visible| visible == schema.name) {
                true => name,
                false => format!("{}.{name}", quote_identifier(&schema.name)),
            }
        }
    })
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
    let several = kind == Reg::Proc && {
        let bare = identifiers(text).and_then(|parts| parts.last().cloned()).unwrap_or_default();
        fixed_oids("pg_proc", "proname", &bare).len() > 1
    };
    if several {
        let message = format!("more than one function named \"{text}\"");
        return Err(SqlError::new("42725", message));
    }
    find(context, kind, text).ok_or_else(|| {
        let (code, what) = match kind {
            Reg::Class => (code::UNDEFINED_TABLE, "relation"),
            Reg::Type => (code::UNDEFINED_OBJECT, "type"),
            Reg::Proc | Reg::Procedure => (code::UNDEFINED_FUNCTION, "function"),
            Reg::Oper | Reg::Operator => (code::UNDEFINED_FUNCTION, "operator"),
            Reg::Collation => (code::UNDEFINED_OBJECT, "collation"),
            Reg::Config => (code::UNDEFINED_OBJECT, "text search configuration"),
            Reg::Dictionary => (code::UNDEFINED_OBJECT, "text search dictionary"),
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
    // A function or an operator may be written with its parameters.
    let parameters = matches!(kind, Reg::Procedure | Reg::Operator);
    let text = if parameters { text.split('(').next().unwrap_or(text) } else { text };
    if matches!(kind, Reg::Oper | Reg::Operator) {
        return fixed_oid("pg_operator", "oprname", text.trim_start_matches("pg_catalog."));
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
        Reg::Proc | Reg::Procedure => {
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
        Reg::Oper | Reg::Operator => fixed_oid("pg_operator", "oprname", name),
        Reg::Collation => fixed_oid("pg_collation", "collname", name),
        Reg::Config => fixed_oid("pg_ts_config", "cfgname", name),
        Reg::Dictionary => fixed_oid("pg_ts_dict", "dictname", name),
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
        class.row_type.map(|(row, _)| row)
    })
}

/// Whether the type is found without naming its schema.
pub(super) fn type_is_visible(context: &PgContext, oid: u32) -> Option<bool> {
    if let Some(schema) = fixed_value("pg_type", oid, "typnamespace") {
        let mut schemas = context.catalog.schemas();
        let schema = schemas.find(|one| Some(one.id.0) == schema.as_oid())?;
        return Some(visible_schemas(context).any(|visible| visible == schema.name));
    }
    let (class, _) = class_of_row_type(context, oid)?;
    Some(visible_schemas(context).any(|schema| schema == class.schema))
}

/// The parts of `a."B c".d`, folded to lower case where not quoted.
pub fn identifiers(text: &str) -> Option<Vec<String>> {
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
