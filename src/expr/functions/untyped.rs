//! Literals without a type of their own, and the type that several values have in common.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};

use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

/// The name under which the planner marks a literal that takes the type of others. No key can
/// type it.
pub const UNTYPED: &str = "\u{1f}untyped";

/// A literal that has no type until it is cast: the cast reads its text.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Untyped {
    signature: Signature,
}

impl Untyped {
    pub(super) fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Untyped {
    fn name(&self) -> &'static str {
        UNTYPED
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Null)
    }

    /// The note stays when DataFusion takes the others' Arrow type for this one's.
    fn return_field_from_args(&self, _args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let noted = SqlType::Unknown.field(UNTYPED, true);
        Ok(Arc::new(noted.with_data_type(DataType::Null)))
    }

    fn invoke_with_args(&self, _args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(SqlError::new(code::INDETERMINATE_DATATYPE, "could not determine data type").into())
    }
}

/// Kinds of types that PostgreSQL matches among themselves.
fn category(sql_type: &SqlType) -> u8 {
    match sql_type {
        SqlType::Boolean => b'B',
        SqlType::SmallInt
        | SqlType::Integer
        | SqlType::BigInt
        | SqlType::Real
        | SqlType::Double
        | SqlType::Numeric(_)
        | SqlType::Oid
        | SqlType::Regclass
        | SqlType::Regtype
        | SqlType::Regproc => b'N',
        SqlType::Text | SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Name => b'S',
        SqlType::Date | SqlType::Time | SqlType::Timestamp | SqlType::Timestamptz => b'D',
        SqlType::Interval => b'T',
        SqlType::Array(_) => b'A',
        SqlType::Unknown => b'X',
        _ => b'U',
    }
}

/// Whether a literal beside values of this type stays the text that it is.
pub(super) fn stays_text(sql_type: &SqlType) -> bool {
    matches!(category(sql_type), b'S' | b'X') || *sql_type == SqlType::Record
}

/// A literal that has no type yet.
pub(super) fn untyped_literal(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Literal(ScalarValue::Utf8(Some(_)), None) => Some(expr.clone()),
        Expr::ScalarFunction(call) if call.func.name() == UNTYPED => call.args.first().cloned(),
        _ => None,
    }
}

/// A literal as a value of a type.
pub(super) fn read_literal(literal: Expr, to: &SqlType) -> Expr {
    Expr::Cast(Cast::new_from_field(Box::new(literal), Arc::new(to.field("", true))))
}

/// How far a type is up the ladder of implicit casts.
fn rank(sql_type: &SqlType) -> u8 {
    match sql_type {
        SqlType::SmallInt | SqlType::Date => 1,
        SqlType::Integer | SqlType::Timestamp => 2,
        SqlType::BigInt | SqlType::Timestamptz => 3,
        SqlType::Numeric(_) => 4,
        SqlType::Real => 5,
        SqlType::Double => 6,
        _ => 0,
    }
}

/// The type of two values in one column; an error names the construct that they stand in.
pub fn common_type(left: &SqlType, right: &SqlType, construct: &str) -> SqlResult<SqlType> {
    use SqlType::{Json, Jsonb, Time, Unknown};
    let is_wider = rank(right) > rank(left);
    match (left, right) {
        (Unknown, other) | (other, Unknown) => Ok(other.clone()),
        (SqlType::Numeric(one), SqlType::Numeric(other)) => {
            Ok(SqlType::Numeric(if one == other { *one } else { None }))
        }
        (SqlType::Varchar(one), SqlType::Varchar(other)) => {
            Ok(SqlType::Varchar(if one == other { *one } else { None }))
        }
        (one, other) if category(one) == b'S' && category(other) == b'S' => {
            Ok(if one == other { one.clone() } else { SqlType::Text })
        }
        (one, other) if one == other => Ok(one.clone()),
        (one, other)
            if category(one) == category(other)
                && !matches!(category(one), b'U' | b'A')
                && !matches!((one, other), (Time, _) | (_, Time) | (Json, Jsonb)) =>
        {
            Ok(if is_wider { other.clone() } else { one.clone() })
        }
        (one, other) => {
            let message =
                format!("{construct} types {} and {} cannot be matched", bare(one), bare(other));
            Err(SqlError::new(code::DATATYPE_MISMATCH, message))
        }
    }
}

/// A type as PostgreSQL's messages name it: without its modifier.
pub(super) fn bare(sql_type: &SqlType) -> String {
    match sql_type {
        SqlType::Numeric(_) => "numeric".to_owned(),
        SqlType::Varchar(_) => "character varying".to_owned(),
        SqlType::Char(_) => "character".to_owned(),
        SqlType::Array(element) => format!("{}[]", bare(element)),
        other => other.to_string(),
    }
}
