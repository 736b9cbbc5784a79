//! PostgreSQL's types, and how each lies in Arrow.
//!
//! Where an Arrow type stands for one SQL type only, nothing else is kept. Where it stands for
//! several (Utf8 is text, varchar, uuid and jsonb), the field's metadata names the SQL type under
//! [`TYPE_KEY`]; DataFusion carries it through columns and aliases, and an expression's result
//! without it is the plain type. So every relation's [`Schema`](arrow::datatypes::Schema) is also
//! its PostgreSQL description.
//!
//! | SQL | Arrow | canonical form |
//! |---|---|---|
//! | numeric(p,s) | Decimal128(p, s) | |
//! | numeric | Decimal256(76, 38) | printed without trailing zeros |
//! | uuid | Utf8 + `uuid` | lower case with hyphens: sorts as the bytes do |
//! | jsonb | Utf8 + `jsonb` | as PostgreSQL prints it |
//! | timestamptz | Timestamp(µs, UTC) | |
//! | interval | Interval(MonthDayNano) | nanoseconds a multiple of 1000 |

use std::collections::HashMap;
use std::fmt;

use arrow::datatypes::{DataType, Field, IntervalUnit, TimeUnit};
use serde::{Deserialize, Serialize};

/// Field metadata: the SQL type's name with its modifier, as [`SqlType`] prints it.
pub const TYPE_KEY: &str = "weir.type";

/// Precision and scale of `numeric` without a modifier.
pub const NUMERIC: (u8, i8) = (76, 38);

/// A PostgreSQL type with its modifier.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SqlType {
    Boolean,
    SmallInt,
    Integer,
    BigInt,
    Real,
    Double,
    /// Precision and scale; `None` as declared without.
    Numeric(Option<(u8, i8)>),
    Text,
    Varchar(Option<u32>),
    Char(u32),
    Bytea,
    Date,
    Time,
    Timestamp,
    Timestamptz,
    Interval,
    Uuid,
    Json,
    Jsonb,
    Array(Box<SqlType>),
    /// System catalogs only.
    Name,
    Oid,
    InternalChar,
    Regclass,
    Regtype,
    Regproc,
    Regprocedure,
    Regoper,
    Regoperator,
    Regnamespace,
    Regrole,
    Regcollation,
    Regconfig,
    Regdictionary,
    Int2Vector,
    OidVector,
    Xid,
    Xid8,
    Cid,
    Tid,
    PgLsn,
    Inet,
    AclItem,
    PgNodeTree,
    PgNdistinct,
    PgDependencies,
    AnyArray,
    /// Results of functions only.
    Void,
    Record,
    Unknown,
}

/// Between the number and the name of a value of an OID alias type: text is the name, binary the
/// number.
pub const ALIAS_SEPARATOR: char = '\u{1}';

/// `(type, name in pg_type, OID, OID of its array type, typlen)`.
const TABLE: &[(SqlType, &str, u32, u32, i16)] = &[
    (SqlType::Boolean, "bool", 16, 1000, 1),
    (SqlType::Bytea, "bytea", 17, 1001, -1),
    (SqlType::InternalChar, "char", 18, 1002, 1),
    (SqlType::Name, "name", 19, 1003, 64),
    (SqlType::BigInt, "int8", 20, 1016, 8),
    (SqlType::SmallInt, "int2", 21, 1005, 2),
    (SqlType::Int2Vector, "int2vector", 22, 1006, -1),
    (SqlType::Integer, "int4", 23, 1007, 4),
    (SqlType::Regproc, "regproc", 24, 1008, 4),
    (SqlType::Text, "text", 25, 1009, -1),
    (SqlType::Oid, "oid", 26, 1028, 4),
    (SqlType::Tid, "tid", 27, 1010, 6),
    (SqlType::Xid, "xid", 28, 1011, 4),
    (SqlType::Cid, "cid", 29, 1012, 4),
    (SqlType::OidVector, "oidvector", 30, 1013, -1),
    (SqlType::Json, "json", 114, 199, -1),
    (SqlType::PgNodeTree, "pg_node_tree", 194, 0, -1),
    (SqlType::Real, "float4", 700, 1021, 4),
    (SqlType::Double, "float8", 701, 1022, 8),
    (SqlType::Unknown, "unknown", 705, 0, -2),
    (SqlType::Inet, "inet", 869, 1041, -1),
    (SqlType::AclItem, "aclitem", 1033, 1034, 12),
    (SqlType::Char(0), "bpchar", 1042, 1014, -1),
    (SqlType::Varchar(None), "varchar", 1043, 1015, -1),
    (SqlType::Date, "date", 1082, 1182, 4),
    (SqlType::Time, "time", 1083, 1183, 8),
    (SqlType::Timestamp, "timestamp", 1114, 1115, 8),
    (SqlType::Timestamptz, "timestamptz", 1184, 1185, 8),
    (SqlType::Interval, "interval", 1186, 1187, 16),
    (SqlType::Numeric(None), "numeric", 1700, 1231, -1),
    (SqlType::Regprocedure, "regprocedure", 2202, 2207, 4),
    (SqlType::Regoper, "regoper", 2203, 2208, 4),
    (SqlType::Regoperator, "regoperator", 2204, 2209, 4),
    (SqlType::Regclass, "regclass", 2205, 2210, 4),
    (SqlType::Regtype, "regtype", 2206, 2211, 4),
    (SqlType::Record, "record", 2249, 2287, -1),
    (SqlType::AnyArray, "anyarray", 2277, 0, -1),
    (SqlType::Void, "void", 2278, 0, 4),
    (SqlType::Uuid, "uuid", 2950, 2951, 16),
    (SqlType::PgLsn, "pg_lsn", 3220, 3221, 8),
    (SqlType::PgNdistinct, "pg_ndistinct", 3361, 0, -1),
    (SqlType::PgDependencies, "pg_dependencies", 3402, 0, -1),
    (SqlType::Regconfig, "regconfig", 3734, 3735, 4),
    (SqlType::Regdictionary, "regdictionary", 3769, 3770, 4),
    (SqlType::Jsonb, "jsonb", 3802, 3807, -1),
    (SqlType::Regnamespace, "regnamespace", 4089, 4090, 4),
    (SqlType::Regrole, "regrole", 4096, 4097, 4),
    (SqlType::Regcollation, "regcollation", 4191, 4192, 4),
    (SqlType::Xid8, "xid8", 5069, 271, 8),
];

impl SqlType {
    /// Every scalar type with a row of its own in `pg_type`, without modifiers.
    pub fn all() -> impl Iterator<Item = &'static SqlType> {
        TABLE.iter().map(|row| &row.0)
    }

    fn row(&self) -> &'static (SqlType, &'static str, u32, u32, i16) {
        let bare = match self {
            SqlType::Numeric(_) => &SqlType::Numeric(None),
            SqlType::Varchar(_) => &SqlType::Varchar(None),
            SqlType::Char(_) => &SqlType::Char(0),
            other => other,
        };
        TABLE.iter().find(|row| row.0 == *bare).expect("every scalar type has a row")
    }

    /// `pg_type.oid`.
    pub fn oid(&self) -> u32 {
        match self {
            SqlType::Array(element) => element.row().3,
            scalar => scalar.row().2,
        }
    }

    /// The type with this OID, without modifier.
    pub fn from_oid(oid: u32) -> Option<SqlType> {
        TABLE.iter().find_map(|row| {
            if row.2 == oid {
                Some(row.0.clone())
            } else if row.3 == oid && oid != 0 {
                Some(SqlType::Array(Box::new(row.0.clone())))
            } else {
                None
            }
        })
    }

    /// `pg_type.typname`: `int4`, `_int4`.
    pub fn typname(&self) -> String {
        match self {
            SqlType::Array(element) => format!("_{}", element.row().1),
            scalar => scalar.row().1.to_owned(),
        }
    }

    /// `pg_type.typlen`: bytes, or -1 for variable length.
    pub fn typlen(&self) -> i16 {
        match self {
            SqlType::Array(_) => -1,
            scalar => scalar.row().4,
        }
    }

    /// `pg_attribute.atttypmod`, -1 without a modifier.
    pub fn typmod(&self) -> i32 {
        match self {
            SqlType::Numeric(Some((precision, scale))) => {
                ((i32::from(*precision) << 16) | i32::from(*scale)) + 4
            }
            SqlType::Varchar(Some(length)) | SqlType::Char(length) => {
                i32::try_from(*length).map_or(-1, |length| length + 4)
            }
            SqlType::Array(element) => element.typmod(),
            _ => -1,
        }
    }

    /// Whether it is an OID that is written as the name of what has it.
    pub fn is_oid_alias(&self) -> bool {
        matches!(
            self,
            SqlType::Regclass
                | SqlType::Regtype
                | SqlType::Regproc
                | SqlType::Regprocedure
                | SqlType::Regoper
                | SqlType::Regoperator
                | SqlType::Regnamespace
                | SqlType::Regrole
                | SqlType::Regcollation
                | SqlType::Regconfig
                | SqlType::Regdictionary
        )
    }

    /// Whether it is one of the types that are calculated with.
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            SqlType::SmallInt
                | SqlType::Integer
                | SqlType::BigInt
                | SqlType::Real
                | SqlType::Double
                | SqlType::Numeric(_)
        )
    }

    /// How values of this type lie in memory.
    pub fn to_arrow(&self) -> DataType {
        match self {
            SqlType::Boolean => DataType::Boolean,
            SqlType::SmallInt => DataType::Int16,
            SqlType::Integer => DataType::Int32,
            SqlType::BigInt => DataType::Int64,
            SqlType::Real => DataType::Float32,
            SqlType::Double => DataType::Float64,
            SqlType::Numeric(Some((precision, scale))) => DataType::Decimal128(*precision, *scale),
            SqlType::Numeric(None) => DataType::Decimal256(NUMERIC.0, NUMERIC.1),
            SqlType::Bytea => DataType::Binary,
            SqlType::Date => DataType::Date32,
            SqlType::Time => DataType::Time64(TimeUnit::Microsecond),
            SqlType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            SqlType::Timestamptz => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            SqlType::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
            SqlType::Array(element) => {
                DataType::List(std::sync::Arc::new(element.field("item", true)))
            }
            SqlType::Oid => DataType::Int64,
            SqlType::Text
            | SqlType::Varchar(_)
            | SqlType::Char(_)
            | SqlType::Uuid
            | SqlType::Json
            | SqlType::Jsonb
            | SqlType::Name
            | SqlType::InternalChar
            | SqlType::Regclass
            | SqlType::Regtype
            | SqlType::Regproc
            | SqlType::Regprocedure
            | SqlType::Regoper
            | SqlType::Regoperator
            | SqlType::Regnamespace
            | SqlType::Regrole
            | SqlType::Regcollation
            | SqlType::Regconfig
            | SqlType::Regdictionary
            | SqlType::Int2Vector
            | SqlType::OidVector
            | SqlType::Xid
            | SqlType::Xid8
            | SqlType::Cid
            | SqlType::Tid
            | SqlType::PgLsn
            | SqlType::Inet
            | SqlType::AclItem
            | SqlType::PgNodeTree
            | SqlType::PgNdistinct
            | SqlType::PgDependencies
            | SqlType::AnyArray
            | SqlType::Void
            | SqlType::Record
            | SqlType::Unknown => DataType::Utf8,
        }
    }

    /// A column of this type.
    pub fn field(&self, name: impl Into<String>, nullable: bool) -> Field {
        let arrow = self.to_arrow();
        let plain = SqlType::of_arrow(&arrow) == *self;
        let field = Field::new(name, arrow, nullable);
        if plain || matches!(self, SqlType::Array(_)) {
            return field;
        }
        field.with_metadata(HashMap::from([(TYPE_KEY.to_owned(), self.to_string())]))
    }

    /// The SQL type of a column.
    pub fn of_field(field: &Field) -> SqlType {
        if let Some(name) = field.metadata().get(TYPE_KEY)
            && let Some(named) = SqlType::parse_any(name)
            // A cast keeps the metadata of what it casts: believe it only where it fits.
            && named.to_arrow() == *field.data_type()
        {
            return named;
        }
        match field.data_type() {
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                match SqlType::of_field(item) {
                    // PostgreSQL has one array type an element type, whatever the dimensions.
                    nested @ SqlType::Array(_) => nested,
                    element => SqlType::Array(Box::new(element)),
                }
            }
            other => SqlType::of_arrow(other),
        }
    }

    /// The SQL type that an Arrow type stands for when nothing else is said.
    pub fn of_arrow(arrow: &DataType) -> SqlType {
        match arrow {
            DataType::Boolean => SqlType::Boolean,
            DataType::Int8 | DataType::Int16 | DataType::UInt8 => SqlType::SmallInt,
            DataType::Int32 | DataType::UInt16 => SqlType::Integer,
            DataType::Int64 | DataType::UInt32 => SqlType::BigInt,
            DataType::UInt64 => SqlType::Numeric(Some((20, 0))),
            DataType::Float16 | DataType::Float32 => SqlType::Real,
            DataType::Float64 => SqlType::Double,
            DataType::Decimal32(precision, scale)
            | DataType::Decimal64(precision, scale)
            | DataType::Decimal128(precision, scale) => {
                SqlType::Numeric(Some((*precision, *scale)))
            }
            DataType::Decimal256(..) => SqlType::Numeric(None),
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => SqlType::Bytea,
            DataType::Date32 | DataType::Date64 => SqlType::Date,
            DataType::Time32(_) | DataType::Time64(_) => SqlType::Time,
            DataType::Timestamp(_, None) => SqlType::Timestamp,
            DataType::Timestamp(_, Some(_)) => SqlType::Timestamptz,
            DataType::Interval(_) | DataType::Duration(_) => SqlType::Interval,
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
                SqlType::Array(Box::new(SqlType::of_field(item)))
            }
            DataType::Dictionary(_, value) => SqlType::of_arrow(value),
            DataType::Struct(_) => SqlType::Record,
            _ => SqlType::Text,
        }
    }

    /// Reads a type's name as SQL writes it, with modifiers and `[]`; aliases included.
    /// `None` if there is no such type.
    pub fn parse(name: &str) -> Option<SqlType> {
        let name = name.trim();
        if let Some(element) = before_array_suffix(name) {
            let element = SqlType::parse(element)?;
            return Some(match element {
                SqlType::Array(inner) => SqlType::Array(inner),
                scalar => SqlType::Array(Box::new(scalar)),
            });
        }
        let name = ["pg_catalog.", "\"pg_catalog\"."]
            .iter()
            .find_map(|schema| name.strip_prefix(schema))
            .unwrap_or(name);
        if let Some(quoted) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            return SqlType::of_typname(quoted);
        }
        let (base, arguments) = match name.split_once('(') {
            Some((base, rest)) => {
                let (inside, after) = rest.split_once(')')?;
                let arguments: Option<Vec<i64>> =
                    inside.split(',').map(|part| part.trim().parse().ok()).collect();
                (format!("{}{}", base.trim_end(), after), arguments?)
            }
            None => (name.to_owned(), Vec::new()),
        };
        let length = || arguments.first().and_then(|length| u32::try_from(*length).ok());
        Some(match base.to_ascii_lowercase().as_str() {
            "boolean" | "bool" => SqlType::Boolean,
            "smallint" | "int2" => SqlType::SmallInt,
            "integer" | "int" | "int4" => SqlType::Integer,
            "bigint" | "int8" => SqlType::BigInt,
            "real" | "float4" => SqlType::Real,
            "double precision" | "float8" | "float" | "double" => SqlType::Double,
            "numeric" | "decimal" | "dec" => SqlType::Numeric(match arguments.as_slice() {
                [] => None,
                [precision] => Some((u8::try_from(*precision).ok()?, 0)),
                [precision, scale, ..] => {
                    Some((u8::try_from(*precision).ok()?, i8::try_from(*scale).ok()?))
                }
            }),
            "text" | "string" => SqlType::Text,
            "varchar" | "character varying" => SqlType::Varchar(length()),
            "character" | "bpchar" => SqlType::Char(length().unwrap_or(1)),
            "char" => SqlType::Char(length().unwrap_or(1)),
            "bytea" => SqlType::Bytea,
            "date" => SqlType::Date,
            "time" | "time without time zone" => SqlType::Time,
            "timestamp" | "timestamp without time zone" => SqlType::Timestamp,
            "timestamptz" | "timestamp with time zone" => SqlType::Timestamptz,
            "interval" => SqlType::Interval,
            "uuid" => SqlType::Uuid,
            "json" => SqlType::Json,
            "jsonb" => SqlType::Jsonb,
            "name" => SqlType::Name,
            "oid" => SqlType::Oid,
            "regclass" => SqlType::Regclass,
            "regtype" => SqlType::Regtype,
            "regproc" => SqlType::Regproc,
            "int2vector" => SqlType::Int2Vector,
            "oidvector" => SqlType::OidVector,
            "void" => SqlType::Void,
            "record" => SqlType::Record,
            "unknown" => SqlType::Unknown,
            array if array.starts_with('_') => return SqlType::of_typname(array),
            _ => return None,
        })
    }

    /// The same, also of types that only the system catalogs have (`xid`, `aclitem`).
    pub fn parse_any(name: &str) -> Option<SqlType> {
        SqlType::parse(name).or_else(|| {
            let name = name.trim().to_ascii_lowercase();
            let name = name.strip_prefix("pg_catalog.").unwrap_or(&name);
            match name.strip_suffix("[]") {
                Some(element) => SqlType::of_typname(&format!("_{element}")),
                None => SqlType::of_typname(name),
            }
        })
    }

    /// The type that `pg_type` calls so: `int4`, `_int4`. A name in quotes is looked up here, where
    /// the words of SQL for types (`integer`) are not.
    fn of_typname(name: &str) -> Option<SqlType> {
        let of_scalar = |name: &str| TABLE.iter().find(|row| row.1 == name).map(|row| &row.0);
        match name.strip_prefix('_').and_then(of_scalar) {
            Some(element) => Some(SqlType::Array(Box::new(element.clone()))),
            None => of_scalar(name).cloned(),
        }
    }
}

/// What stands before `[]`, `[3]`, `ARRAY` or `ARRAY[3]` at the end of a type's name. PostgreSQL
/// reads the length and forgets it.
fn before_array_suffix(name: &str) -> Option<&str> {
    let before_brackets = name.strip_suffix(']').and_then(|rest| {
        let (before, length) = rest.rsplit_once('[')?;
        length.bytes().all(|byte| byte.is_ascii_digit()).then(|| before.trim_end())
    });
    let rest = before_brackets.unwrap_or(name);
    let before_word = rest.len().checked_sub("array".len()).and_then(|word| {
        let is_word = rest.get(word..)?.eq_ignore_ascii_case("array");
        rest.get(..word).filter(|before| is_word && before.ends_with(char::is_whitespace))
    });
    before_word.or(before_brackets)
}

/// As `format_type(oid, typmod)` writes it: `numeric(10,2)`, `character varying(5)`, `integer[]`.
impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            SqlType::Boolean => "boolean",
            SqlType::SmallInt => "smallint",
            SqlType::Integer => "integer",
            SqlType::BigInt => "bigint",
            SqlType::Real => "real",
            SqlType::Double => "double precision",
            SqlType::Numeric(None) => "numeric",
            SqlType::Numeric(Some((precision, scale))) => {
                return write!(f, "numeric({precision},{scale})");
            }
            SqlType::Varchar(None) => "character varying",
            SqlType::Varchar(Some(length)) => return write!(f, "character varying({length})"),
            SqlType::Char(length) => return write!(f, "character({length})"),
            SqlType::InternalChar => "\"char\"",
            SqlType::Time => "time without time zone",
            SqlType::Timestamp => "timestamp without time zone",
            SqlType::Timestamptz => "timestamp with time zone",
            SqlType::Array(element) => return write!(f, "{element}[]"),
            other => other.row().1,
        };
        f.write_str(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_sql_and_the_catalogs_write_them() {
        let array = SqlType::Array(Box::new(SqlType::Integer));
        for name in [
            "int[]",
            "int[3]",
            "int ARRAY",
            "integer array[4]",
            "_int4",
            "\"_int4\"",
            "\"pg_catalog\".\"int4\"[]",
            "int[][]",
        ] {
            assert_eq!(SqlType::parse(name), Some(array.clone()), "{name}");
        }
        assert_eq!(SqlType::parse("pg_catalog.\"char\""), Some(SqlType::InternalChar));
        assert_eq!(SqlType::parse("\"bool\""), Some(SqlType::Boolean));
        for name in ["\"integer\"", "_integer", "array", " array", "[]", "\"int4", "int[a]"] {
            assert_eq!(SqlType::parse(name), None, "{name}");
        }
    }

    #[test]
    fn every_type_survives_its_field_its_name_and_its_oid() {
        let with_modifiers =
            [SqlType::Numeric(Some((12, 2))), SqlType::Varchar(Some(5)), SqlType::Char(3)];
        for sql_type in SqlType::all().cloned().chain(with_modifiers) {
            if sql_type == SqlType::Char(0) {
                continue;
            }
            assert_eq!(SqlType::of_field(&sql_type.field("c", true)), sql_type);
            assert_eq!(SqlType::parse_any(&sql_type.to_string()), Some(sql_type.clone()));
            let array = SqlType::Array(Box::new(sql_type.clone()));
            assert_eq!(SqlType::of_field(&array.field("c", true)), array);
            assert_eq!(
                SqlType::from_oid(sql_type.oid()).map(|t| t.typname()),
                Some(sql_type.typname())
            );
        }
    }
}
