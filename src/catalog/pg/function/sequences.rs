//! `nextval` and its like.
//!
//! What must hold: a number is given once, whatever becomes of the statement or the transaction;
//! a batch of rows takes its numbers at once.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array};

use super::super::names::reg_from_text;
use super::super::sequences::last_value;
use super::super::session::Numbering;
use super::super::value::Reg;
use super::super::{PgContext, Value};
use super::{Function, Returns, argument, strict, text_argument};
use crate::catalog::Object;
use crate::catalog::access::denied;
use crate::catalog::privilege::Privileges;
use crate::catalog::sequence::Position;
use crate::error::{SqlError, SqlResult, code};
use crate::types::ObjectId;

pub(super) const FUNCTIONS: [Function; 6] = [
    strict("nextval", (1, 1), Returns::BigInt, |context, arguments| {
        let numbers = next(context, argument(arguments, 0), 1)?;
        Ok(numbers.first().map_or(Value::Null, |number| Value::Int(*number)))
    })
    .volatile(Some(next_batch)),
    strict("currval", (1, 1), Returns::BigInt, current).volatile(None),
    strict("lastval", (0, 0), Returns::BigInt, last).volatile(None),
    strict("setval", (2, 3), Returns::BigInt, set).volatile(None),
    strict("pg_sequence_last_value", (1, 1), Returns::BigInt, |context, arguments| {
        Ok(last_value(context, sequence(context, argument(arguments, 0))?))
    })
    .volatile(None),
    strict("pg_get_serial_sequence", (2, 2), Returns::Text, of_column),
];

/// 42809.
pub(super) fn not_a_sequence(name: &str) -> SqlError {
    SqlError::new(code::WRONG_OBJECT_TYPE, format!("\"{name}\" is not a sequence"))
}

/// The sequence that an argument means: an OID, or a name as SQL writes it.
fn sequence<'a>(context: &'a PgContext, argument: &Value) -> SqlResult<&'a Arc<Object>> {
    let oid = match argument {
        Value::Text(name) => reg_from_text(context, Reg::Class, name)?,
        other => other.as_oid().unwrap_or(0),
    };
    let Some(object) = context.catalog.object(ObjectId(oid)) else {
        return Err(match super::super::class::class(context, oid) {
            // The index of a primary key, or the system's.
            Some(class) => not_a_sequence(&class.name),
            None => {
                let message = format!("could not open relation with OID {oid}");
                SqlError::new(code::UNDEFINED_TABLE, message)
            }
        });
    };
    match object.sequence() {
        Some(_) => Ok(object),
        None => Err(not_a_sequence(&object.name.name)),
    }
}

/// 42501 unless the user holds any of these. An identity column is numbered for whoever may write
/// its table.
fn check(context: &PgContext, object: &Object, any: Privileges) -> SqlResult<()> {
    let owned = object.sequence().and_then(|sequence| sequence.owned_by);
    let own = owned.is_some_and(|own| own.identity && context.session.writes == Some(own.table));
    let actor = context.catalog.actor(&context.session.user)?;
    match own || actor.on_relation(object).intersects(any) {
        true => Ok(()),
        false => Err(denied("sequence", &object.name.name)),
    }
}

fn numbering(context: &PgContext) -> SqlResult<&dyn Numbering> {
    let numbering = context.session.numbering.as_deref();
    numbering.ok_or_else(|| SqlError::unsupported("a sequence where no session is"))
}

/// `count` numbers.
fn next(context: &PgContext, of: &Value, count: usize) -> SqlResult<Vec<i64>> {
    let object = sequence(context, of)?;
    check(context, object, Privileges::USAGE | Privileges::UPDATE)?;
    if context.setting("transaction_read_only").as_deref() == Some("on") && !is_temporary(object) {
        return Err(read_only("nextval"));
    }
    let numbers = numbering(context)?.take(object, count)?;
    if let Some(last) = numbers.last() {
        let mut given = context.session.given.lock();
        given.by_sequence.insert(object.id, *last);
        given.last = Some(object.id);
    }
    Ok(numbers)
}

fn is_temporary(object: &Object) -> bool {
    crate::catalog::catalog::is_temporary_schema(&object.name.schema)
}

fn read_only(function: &str) -> SqlError {
    let message = format!("cannot execute {function}() in a read-only transaction");
    SqlError::new(code::READ_ONLY_SQL_TRANSACTION, message)
}

fn next_batch(context: &PgContext, arguments: &[Value], count: usize) -> SqlResult<ArrayRef> {
    let of = argument(arguments, 0);
    if count == 0 || of.is_null() {
        return Ok(Arc::new(Int64Array::new_null(count)));
    }
    Ok(Arc::new(Int64Array::from(next(context, of, count)?)))
}

fn current(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let object = sequence(context, argument(arguments, 0))?;
    check(context, object, Privileges::SELECT | Privileges::USAGE)?;
    let given = context.session.given.lock().by_sequence.get(&object.id).copied();
    let given = given.ok_or_else(|| {
        let message = format!(
            "currval of sequence \"{}\" is not yet defined in this session",
            object.name.name
        );
        SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message)
    })?;
    Ok(Value::Int(given))
}

fn last(context: &PgContext, _: &[Value]) -> SqlResult<Value> {
    let given = context.session.given.lock();
    let last = given.last.and_then(|id| context.catalog.object(id));
    let number = last.and_then(|object| given.by_sequence.get(&object.id).copied());
    let (Some(object), Some(number)) = (last, number) else {
        let message = "lastval is not yet defined in this session";
        return Err(SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
    };
    check(context, object, Privileges::SELECT | Privileges::USAGE)?;
    Ok(Value::Int(number))
}

fn set(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let object = sequence(context, argument(arguments, 0))?;
    check(context, object, Privileges::UPDATE)?;
    if context.setting("transaction_read_only").as_deref() == Some("on") && !is_temporary(object) {
        return Err(read_only("setval"));
    }
    let to = argument(arguments, 1);
    let number = match to {
        Value::Text(text) => text.trim().parse().map_err(|_| {
            let message = format!("invalid input syntax for type bigint: \"{text}\"");
            SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
        })?,
        other => other.as_int().ok_or_else(|| {
            let shown = other.to_text(context);
            SqlError::new(code::UNDEFINED_FUNCTION, format!("setval of {shown}, no whole number"))
        })?,
    };
    let called = arguments.get(2).is_none_or(|called| called.as_bool() != Some(false));
    if let Some(sequence) = object.sequence()
        && !(sequence.min..=sequence.max).contains(&number)
    {
        let message = format!(
            "setval: value {number} is out of bounds for sequence \"{}\" ({}..{})",
            object.name.name, sequence.min, sequence.max
        );
        return Err(SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, message));
    }
    numbering(context)?.set(object, Position { last: number, called })?;
    if called {
        context.session.given.lock().by_sequence.insert(object.id, number);
    }
    Ok(Value::Int(number))
}

/// `pg_get_serial_sequence(table, column)`.
fn of_column(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let table = reg_from_text(context, Reg::Class, &text_argument(context, arguments, 0))?;
    let name = text_argument(context, arguments, 1);
    let Some(object) = context.catalog.object(ObjectId(table)) else { return Ok(Value::Null) };
    let column = object.columns.iter().position(|column| column.name == name).ok_or_else(|| {
        let message =
            format!("column \"{name}\" of relation \"{}\" does not exist", object.name.name);
        SqlError::new(code::UNDEFINED_COLUMN, message)
    })?;
    let owned = context.catalog.owned_sequences(object.id).find(|sequence| {
        sequence.sequence().and_then(|one| one.owned_by).is_some_and(|own| own.column == column)
    });
    let quote = crate::catalog::quote_identifier;
    Ok(Value::optional(owned.map(|sequence| {
        format!("{}.{}", quote(&sequence.name.schema), quote(&sequence.name.name))
    })))
}
