//! Advisory locks: locks on numbers, for those who agree on what these mean.
//!
//! A function is called by the thread that evaluates, which must not wait: where others are in the
//! way, it asks the session to wait for them when the statement has run, before its client hears
//! that it has. `pg_try_...` and `pg_advisory_unlock` say at once how it went.

use super::super::lock::{AdvisoryKey, LockMode, LockRequest, LockScope};
use super::super::session::Effect;
use super::super::{PgContext, Value};
use super::{Function, Returns, argument, strict};
use crate::error::{SqlError, SqlResult, code};

/// The most locks that one statement may be made to wait for.
const WAITS_MAX: usize = 10_000;

use LockMode::{Exclusive, Shared};
use LockScope::{Session, Transaction};

pub(super) const FUNCTIONS: [Function; 11] = [
    strict("pg_advisory_lock", (1, 2), Returns::Void, |context, key| {
        lock(context, key, Exclusive, Session)
    }),
    strict("pg_advisory_lock_shared", (1, 2), Returns::Void, |context, key| {
        lock(context, key, Shared, Session)
    }),
    strict("pg_advisory_xact_lock", (1, 2), Returns::Void, |context, key| {
        lock(context, key, Exclusive, Transaction)
    }),
    strict("pg_advisory_xact_lock_shared", (1, 2), Returns::Void, |context, key| {
        lock(context, key, Shared, Transaction)
    }),
    strict("pg_try_advisory_lock", (1, 2), Returns::Boolean, |context, key| {
        try_lock(context, key, Exclusive, Session)
    }),
    strict("pg_try_advisory_lock_shared", (1, 2), Returns::Boolean, |context, key| {
        try_lock(context, key, Shared, Session)
    }),
    strict("pg_try_advisory_xact_lock", (1, 2), Returns::Boolean, |context, key| {
        try_lock(context, key, Exclusive, Transaction)
    }),
    strict("pg_try_advisory_xact_lock_shared", (1, 2), Returns::Boolean, |context, key| {
        try_lock(context, key, Shared, Transaction)
    }),
    strict("pg_advisory_unlock", (1, 2), Returns::Boolean, |context, key| {
        unlock(context, key, Exclusive)
    }),
    strict("pg_advisory_unlock_shared", (1, 2), Returns::Boolean, |context, key| {
        unlock(context, key, Shared)
    }),
    strict("pg_advisory_unlock_all", (0, 0), Returns::Void, |context, _| {
        context.locks()?.unlock_all();
        Ok(Value::text(""))
    }),
];

fn lock(
    context: &PgContext,
    arguments: &[Value],
    mode: LockMode,
    scope: LockScope,
) -> SqlResult<Value> {
    let request = LockRequest { key: key(context, arguments)?, mode, scope };
    if !context.locks()?.try_lock(request)? {
        let mut effects = context.session.effects.lock();
        if effects.len() == WAITS_MAX {
            let message = "too many locks to wait for in one statement";
            return Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message)
                .detail(format!("A statement may wait for {WAITS_MAX}.")));
        }
        effects.push(Effect::Lock(request));
    }
    Ok(Value::text(""))
}

fn try_lock(
    context: &PgContext,
    arguments: &[Value],
    mode: LockMode,
    scope: LockScope,
) -> SqlResult<Value> {
    let request = LockRequest { key: key(context, arguments)?, mode, scope };
    Ok(Value::Bool(context.locks()?.try_lock(request)?))
}

fn unlock(context: &PgContext, arguments: &[Value], mode: LockMode) -> SqlResult<Value> {
    let held = context.locks()?.unlock(key(context, arguments)?, mode);
    if !held {
        let warning = format!("you don't own a lock of type {}", mode.name());
        let mut effects = context.session.effects.lock();
        if effects.len() < WAITS_MAX {
            effects.push(Effect::Warn(warning));
        }
    }
    Ok(Value::Bool(held))
}

fn key(context: &PgContext, arguments: &[Value]) -> SqlResult<AdvisoryKey> {
    let here = &context.session.database;
    let database = context.catalog.database(here).ok_or_else(|| {
        SqlError::new(code::INVALID_CATALOG_NAME, format!("database \"{here}\" does not exist"))
    })?;
    let number = |index| match argument(arguments, index) {
        Value::Text(text) => text.trim().parse().map_err(|_| {
            let message = format!("invalid input syntax for type bigint: \"{text}\"");
            SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
        }),
        number => number.as_int().ok_or_else(|| {
            SqlError::new(code::UNDEFINED_FUNCTION, "an advisory lock is on integers")
                .hint("Cast the arguments to bigint, or both to integer.")
        }),
    };
    if arguments.len() == 1 {
        return Ok(AdvisoryKey::single(database.id, number(0)?));
    }
    let small = |index| {
        i32::try_from(number(index)?)
            .map_err(|_| SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "integer out of range"))
    };
    Ok(AdvisoryKey::pair(database.id, small(0)?, small(1)?))
}
