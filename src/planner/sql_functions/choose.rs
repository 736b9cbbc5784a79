//! Which of the functions of one name a call means, by the types of its arguments: PostgreSQL's
//! rules (its manual, 10.3) over the types that are known while planning.

use std::sync::Arc;

use arrow::datatypes::Field;
use datafusion::common::{ExprSchema, Result, ScalarValue};
use datafusion::logical_expr::{Expr, ExprSchemable};

use super::Known;
use crate::catalog::function::{signature, without_modifier};
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::narrow_expression;
use crate::types::SqlType;

/// The type of an argument: `Unknown` for a literal that has none yet, and for a parameter.
pub(super) fn given(field: &Field, literal: Option<&ScalarValue>) -> SqlType {
    match literal {
        // As narrowed later.
        Some(ScalarValue::Int64(Some(number))) if i32::try_from(*number).is_ok() => {
            SqlType::Integer
        }
        Some(ScalarValue::Utf8(_) | ScalarValue::Null) => SqlType::Unknown,
        _ if field.data_type().is_null() => SqlType::Unknown,
        _ => without_modifier(&SqlType::of_field(field)),
    }
}

/// The types of a call's arguments.
pub(super) fn given_types(args: &[Expr], schema: &dyn ExprSchema) -> Result<Vec<SqlType>> {
    let types = args.iter().map(|arg| {
        let arg = &narrow_expression(arg.clone())?;
        let (_, field) = arg.to_field(schema)?;
        let literal = match arg {
            Expr::Literal(value, _) => Some(value),
            _ => None,
        };
        Ok(given(&field, literal))
    });
    types.collect()
}

/// The function that a call of `name` means.
pub(super) fn choose<'a>(
    name: &str,
    candidates: &'a [Arc<Known>],
    given: &[SqlType],
) -> SqlResult<&'a Arc<Known>> {
    let mut viable: Vec<_> = candidates.iter().filter(|known| accepts(known, given)).collect();
    let exact = |known: &Known| count(known, given, |given, wanted| given == wanted);
    if let Some(same) = viable.iter().find(|known| exact(known) == known.types.len()) {
        return Ok(same);
    }
    keep_best(&mut viable, exact);
    keep_best(&mut viable, |known| {
        count(known, given, |given, wanted| given == wanted || is_preferred(wanted))
    });
    if viable.len() > 1 {
        resolve_unknown(&mut viable, given);
    }
    if viable.len() > 1 {
        // All of one type, the untyped ones too?
        let mut typed = given.iter().filter(|given| **given != SqlType::Unknown);
        if let Some(first) = typed.next()
            && typed.all(|other| other == first)
        {
            let same = |known: &&Arc<Known>| known.types.iter().all(|wanted| wanted == first);
            if viable.iter().filter(|known| same(known)).count() == 1 {
                viable.retain(same);
            }
        }
    }
    match viable.as_slice() {
        [one] => Ok(one),
        [] => Err(missing(name, given)),
        _ => Err(SqlError::new(
            code::AMBIGUOUS_FUNCTION,
            format!("function {} is not unique", signature(name, given)),
        )
        .hint(
            "Could not choose a best candidate function. You might need to add explicit type \
             casts.",
        )),
    }
}

pub(super) fn missing(name: &str, given: &[SqlType]) -> SqlError {
    let message = format!("function {} does not exist", signature(name, given));
    SqlError::new(code::UNDEFINED_FUNCTION, message).hint(
        "No function matches the given name and argument types. \
         You might need to add explicit type casts.",
    )
}

fn accepts(known: &Known, given: &[SqlType]) -> bool {
    let required = known.function.parameters.iter().filter(|p| p.default.is_none()).count();
    (required..=known.types.len()).contains(&given.len())
        && given.iter().zip(&known.types).all(|(given, wanted)| converts(given, wanted))
}

fn count(known: &Known, given: &[SqlType], fits: impl Fn(&SqlType, &SqlType) -> bool) -> usize {
    given.iter().zip(&known.types).filter(|(given, wanted)| fits(given, wanted)).count()
}

fn keep_best(viable: &mut Vec<&Arc<Known>>, score: impl Fn(&Known) -> usize) {
    let best = viable.iter().map(|known| score(known)).max();
    viable.retain(|known| Some(score(known)) == best);
}

/// Literals without a type are text if any function wants text there, else what all want.
fn resolve_unknown(viable: &mut Vec<&Arc<Known>>, given: &[SqlType]) {
    for (place, _) in given.iter().enumerate().filter(|(_, given)| **given == SqlType::Unknown) {
        let categories: Vec<_> = viable.iter().map(|known| category(&known.types[place])).collect();
        let wanted = match categories.first() {
            _ if categories.contains(&Category::Text) => Category::Text,
            Some(first) if categories.iter().all(|category| category == first) => *first,
            _ => return,
        };
        viable.retain(|known| category(&known.types[place]) == wanted);
        if viable.iter().any(|known| is_preferred(&known.types[place])) {
            viable.retain(|known| is_preferred(&known.types[place]));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Category {
    Number,
    Text,
    Time,
    Other,
}

fn category(sql_type: &SqlType) -> Category {
    match sql_type {
        number if number.is_number() => Category::Number,
        SqlType::Text | SqlType::Varchar(_) | SqlType::Char(_) | SqlType::Name => Category::Text,
        SqlType::Date | SqlType::Time | SqlType::Timestamp | SqlType::Timestamptz => Category::Time,
        _ => Category::Other,
    }
}

fn is_preferred(sql_type: &SqlType) -> bool {
    matches!(
        sql_type,
        SqlType::Double
            | SqlType::Text
            | SqlType::Timestamptz
            | SqlType::Boolean
            | SqlType::Interval
            | SqlType::Oid
    )
}

/// Whether a value becomes one of another type without being asked to.
pub(super) fn converts(from: &SqlType, to: &SqlType) -> bool {
    let rank = |sql_type: &SqlType| match sql_type {
        SqlType::SmallInt => Some(0),
        SqlType::Integer => Some(1),
        SqlType::BigInt => Some(2),
        SqlType::Numeric(_) => Some(3),
        SqlType::Real => Some(4),
        SqlType::Double => Some(5),
        _ => None,
    };
    let moment = |sql_type: &SqlType| match sql_type {
        SqlType::Date => Some(0),
        SqlType::Timestamp => Some(1),
        SqlType::Timestamptz => Some(2),
        _ => None,
    };
    let later =
        |from: Option<i32>, to: Option<i32>| matches!((from, to), (Some(f), Some(t)) if f <= t);
    match (from, to) {
        _ if from == to => true,
        (SqlType::Unknown, _) => true,
        (SqlType::Time, SqlType::Interval) => true,
        (SqlType::Array(from), SqlType::Array(to)) => {
            category(from) == Category::Text && category(to) == Category::Text
                || **from == SqlType::Unknown
        }
        _ if category(from) == Category::Text && category(to) == Category::Text => true,
        _ => later(rank(from), rank(to)) || later(moment(from), moment(to)),
    }
}
