//! Values of the system catalogs: few types, dynamic, compared as PostgreSQL compares them.
//!
//! A literal in quotes has no type until it meets one (`oid = '16385'`, `indkey = '{1,2}'`), so a
//! comparison reads a [`Value::Text`] as the type of its other side. An OID alias type keeps which
//! one it is ([`Reg`]): `::regclass::text` is a name, although `regclass` is a number.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::sync::Arc;

use chrono::{DateTime, NaiveDateTime, Utc};

use super::PgContext;
use super::names;
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Arc<str>),
    /// Microseconds since 1970, UTC.
    Timestamp(i64),
    Reg(Reg, u32),
    /// An array or a vector.
    List(Arc<[Value]>),
    Record(Arc<[Value]>),
}

/// A row of a relation.
pub type Row = Arc<[Value]>;

/// The OID alias types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reg {
    Class,
    Type,
    Proc,
    Procedure,
    Oper,
    Operator,
    Namespace,
    Role,
    Collation,
    Config,
    Dictionary,
}

impl Reg {
    /// The kind of this type name, without its schema.
    pub fn of_name(name: &str) -> Option<Reg> {
        Self::ALL.iter().find(|(_, sql_type)| sql_type.typname() == name).map(|(kind, _)| *kind)
    }

    /// The kind that an OID alias type is.
    pub fn of_type(sql_type: &SqlType) -> Option<Reg> {
        Self::ALL.iter().find(|(_, one)| one == sql_type).map(|(kind, _)| *kind)
    }

    pub fn sql_type(self) -> SqlType {
        let found = Self::ALL.iter().find(|(kind, _)| *kind == self);
        found.map_or(SqlType::Oid, |(_, sql_type)| sql_type.clone())
    }

    const ALL: [(Reg, SqlType); 11] = [
        (Reg::Class, SqlType::Regclass),
        (Reg::Type, SqlType::Regtype),
        (Reg::Proc, SqlType::Regproc),
        (Reg::Procedure, SqlType::Regprocedure),
        (Reg::Oper, SqlType::Regoper),
        (Reg::Operator, SqlType::Regoperator),
        (Reg::Namespace, SqlType::Regnamespace),
        (Reg::Role, SqlType::Regrole),
        (Reg::Collation, SqlType::Regcollation),
        (Reg::Config, SqlType::Regconfig),
        (Reg::Dictionary, SqlType::Regdictionary),
    ];
}

impl Value {
    pub fn text(text: impl AsRef<str>) -> Value {
        Value::Text(Arc::from(text.as_ref()))
    }

    /// NULL for `None`.
    pub fn optional(text: Option<impl AsRef<str>>) -> Value {
        text.map_or(Value::Null, Value::text)
    }

    pub fn list(values: impl IntoIterator<Item = Value>) -> Value {
        Value::List(values.into_iter().collect())
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The number in an integer, an OID or a text that spells one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(value) => Some(*value),
            Value::Reg(_, oid) => Some(i64::from(*oid)),
            Value::Text(text) => text.trim().parse().ok(),
            Value::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// The same as an OID.
    pub fn as_oid(&self) -> Option<u32> {
        self.as_int().and_then(|value| u32::try_from(value).ok())
    }

    pub(super) fn as_float(&self) -> Option<f64> {
        match self {
            Value::Float(value) => Some(*value),
            Value::Int(value) => value.to_string().parse().ok(),
            Value::Text(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    /// What `t`, `yes`, `on`, `1` and their opposites mean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            Value::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
                "t" | "true" | "y" | "yes" | "on" | "1" => Some(true),
                "f" | "false" | "n" | "no" | "off" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }

    /// The elements of an array, or of a text that spells one.
    pub fn as_list(&self) -> Option<Arc<[Value]>> {
        match self {
            Value::List(values) => Some(Arc::clone(values)),
            Value::Text(text) => parse_array(text),
            _ => None,
        }
    }

    /// As PostgreSQL writes the value (`t` for true); the empty text for NULL.
    pub fn to_text(&self, context: &PgContext) -> String {
        match self {
            Value::Null => String::new(),
            Value::Bool(value) => if *value { "t" } else { "f" }.to_owned(),
            Value::Int(value) => value.to_string(),
            Value::Float(value) => value.to_string(),
            Value::Text(text) => text.to_string(),
            Value::Timestamp(micros) => timestamp_text(*micros),
            Value::Reg(kind, oid) => names::reg_text(context, *kind, *oid),
            Value::List(values) => array_text(values, context),
            Value::Record(values) => {
                let parts: Vec<String> =
                    values.iter().map(|value| value.to_text(context)).collect();
                format!("({})", parts.join(","))
            }
        }
    }

    /// Reads what [`rows.tsv`](super::data) and clients write for a type.
    pub fn parse(text: &str, sql_type: &SqlType) -> Option<Value> {
        let whole = Value::text(text);
        Some(match sql_type {
            SqlType::Boolean => Value::Bool(whole.as_bool()?),
            SqlType::SmallInt
            | SqlType::Integer
            | SqlType::BigInt
            | SqlType::Oid
            | SqlType::Xid
            | SqlType::Cid => Value::Int(whole.as_int()?),
            SqlType::Real | SqlType::Double | SqlType::Numeric(_) => {
                Value::Float(whole.as_float()?)
            }
            alias if alias.is_oid_alias() => Value::Reg(Reg::of_type(alias)?, whole.as_oid()?),
            SqlType::Int2Vector | SqlType::OidVector => {
                let numbers: Option<Vec<Value>> =
                    text.split_whitespace().map(|n| n.parse().ok().map(Value::Int)).collect();
                Value::list(numbers?)
            }
            SqlType::Timestamp | SqlType::Timestamptz => Value::Timestamp(parse_timestamp(text)?),
            SqlType::Array(element) => {
                let parsed: Option<Vec<Value>> = parse_array(text)?
                    .iter()
                    .map(|value| match value {
                        Value::Text(text) => Value::parse(text, element),
                        other => Some(other.clone()),
                    })
                    .collect();
                Value::list(parsed?)
            }
            _ => whole,
        })
    }

    /// The order of two values, NULL if either is; a text is read as the other's type.
    pub fn compare(&self, other: &Value, context: &PgContext) -> SqlResult<Option<Ordering>> {
        Ok(match (self, other) {
            (Value::Null, _) | (_, Value::Null) => None,
            (Value::Text(left), Value::Text(right)) => Some(left.as_bytes().cmp(right.as_bytes())),
            (Value::Text(_), _) => other.compare(self, context)?.map(Ordering::reverse),
            (Value::Bool(left), _) => {
                let right = other.as_bool().ok_or_else(|| invalid(other, "boolean", context))?;
                Some(left.cmp(&right))
            }
            (Value::Int(_), Value::Float(_)) | (Value::Float(_), _) => {
                let (left, right) = (self.as_float(), other.as_float());
                let right = right.ok_or_else(|| invalid(other, "double precision", context))?;
                left.and_then(|left| left.partial_cmp(&right))
            }
            (Value::Reg(kind, oid), Value::Text(name)) => {
                let right = names::reg_from_text(context, *kind, name)?;
                Some(oid.cmp(&right))
            }
            (Value::Int(_) | Value::Reg(..), _) => {
                let right = other.as_int().ok_or_else(|| invalid(other, "integer", context))?;
                self.as_int().map(|left| left.cmp(&right))
            }
            (Value::Timestamp(left), _) => {
                let right = match other {
                    Value::Timestamp(right) => Some(*right),
                    Value::Text(text) => parse_timestamp(text),
                    _ => None,
                };
                let right = right.ok_or_else(|| invalid(other, "timestamp", context))?;
                Some(left.cmp(&right))
            }
            (Value::List(left), _) => {
                let right = other.as_list().ok_or_else(|| invalid(other, "array", context))?;
                compare_lists(left, &right, context)?
            }
            (Value::Record(left), Value::Record(right)) => compare_lists(left, right, context)?,
            (Value::Record(_), _) => return Err(invalid(other, "record", context)),
        })
    }
}

fn invalid(value: &Value, wanted: &str, context: &PgContext) -> SqlError {
    let text = value.to_text(context);
    SqlError::new(
        code::INVALID_TEXT_REPRESENTATION,
        format!("invalid input syntax for type {wanted}: \"{text}\""),
    )
}

fn compare_lists(
    left: &[Value],
    right: &[Value],
    context: &PgContext,
) -> SqlResult<Option<Ordering>> {
    for (left, right) in left.iter().zip(right) {
        match left.compare(right, context)? {
            Some(Ordering::Equal) => {}
            // Inside an array NULL equals NULL and is the greatest.
            None => match (left.is_null(), right.is_null()) {
                (true, true) => {}
                (true, false) => return Ok(Some(Ordering::Greater)),
                _ => return Ok(Some(Ordering::Less)),
            },
            unequal => return Ok(unequal),
        }
    }
    Ok(Some(left.len().cmp(&right.len())))
}

fn array_text(values: &[Value], context: &PgContext) -> String {
    let mut text = String::from("{");
    for (position, value) in values.iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        if value.is_null() {
            text.push_str("NULL");
            continue;
        }
        let element = value.to_text(context);
        let special = |c: char| c.is_whitespace() || matches!(c, '{' | '}' | ',' | '"' | '\\');
        if element.is_empty()
            || element.eq_ignore_ascii_case("null")
            || (!matches!(value, Value::List(_)) && element.contains(special))
        {
            let escaped = element.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = write!(text, "\"{escaped}\"");
        } else {
            text.push_str(&element);
        }
    }
    text.push('}');
    text
}

/// `{a,"b c",NULL}`; `None` if it is not of this form. Only one dimension.
fn parse_array(text: &str) -> Option<Arc<[Value]>> {
    let inside = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut values = Vec::new();
    let mut characters = inside.chars().peekable();
    if inside.trim().is_empty() {
        return Some(values.into());
    }
    loop {
        let mut element = String::new();
        let mut quoted = false;
        loop {
            match characters.next() {
                None | Some(',') => break,
                Some('{' | '}') => return None,
                Some('\\') => element.push(characters.next()?),
                Some('"') => {
                    quoted = true;
                    loop {
                        match characters.next()? {
                            '"' => break,
                            '\\' => element.push(characters.next()?),
                            other => element.push(other),
                        }
                    }
                }
                Some(other) => element.push(other),
            }
        }
        let trimmed = if quoted { element.as_str() } else { element.trim() };
        values.push(if !quoted && trimmed.eq_ignore_ascii_case("null") {
            Value::Null
        } else {
            Value::text(trimmed)
        });
        if characters.peek().is_none() {
            return Some(values.into());
        }
    }
}

fn timestamp_text(micros: i64) -> String {
    DateTime::<Utc>::from_timestamp_micros(micros)
        .map(|at| {
            let text = at.format("%Y-%m-%d %H:%M:%S%.6f").to_string();
            let text = text.trim_end_matches('0').trim_end_matches('.').to_owned();
            // Trimming zeros must not eat those of whole seconds.
            if micros.rem_euclid(1_000_000) == 0 {
                at.format("%Y-%m-%d %H:%M:%S+00").to_string()
            } else {
                format!("{text}+00")
            }
        })
        .unwrap_or_default()
}

fn parse_timestamp(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(at) = DateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f%#z") {
        return Some(at.timestamp_micros());
    }
    NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f")
        .ok()
        .map(|at| at.and_utc().timestamp_micros())
}
