//! The session: who, where, its variables, and what it may do to others.

use std::time::Duration;

use super::super::class::visible_schemas;
use super::super::session::Effect;
use super::super::system::{endpoint, time};
use super::super::{PgContext, PgSession, Value};
use super::{Function, Returns, argument, lenient, strict, text_argument};
use crate::catalog::catalog::{PG_CATALOG, is_temporary_schema};
use crate::catalog::role::SIGNAL_BACKEND;
use crate::error::{SqlError, SqlResult, code};

/// The longest name of a channel, and the longest payload, as in PostgreSQL.
const CHANNEL_BYTES_MAX: usize = 63;
const PAYLOAD_BYTES_MAX: usize = 7999;

/// The most notifications of one statement.
const EFFECTS_MAX: usize = 100_000;

pub(super) const FUNCTIONS: [Function; 32] = [
    strict("version", (0, 0), Returns::Text, |_, _| Ok(Value::text(PgSession::version_text()))),
    strict("current_database", (0, 0), Returns::Name, database),
    strict("current_catalog", (0, 0), Returns::Name, database),
    strict("current_schema", (0, 0), Returns::Name, |context, _| {
        let mut schemas = visible_schemas(context)
            .filter(|schema| *schema != PG_CATALOG && !is_temporary_schema(schema));
        Ok(Value::optional(schemas.next()))
    }),
    strict("current_schemas", (1, 1), Returns::NameArray, |context, arguments| {
        let implicit = argument(arguments, 0).as_bool().unwrap_or(false);
        let path = &context.session.search_path;
        let schemas = visible_schemas(context)
            .filter(|schema| implicit || path.iter().any(|named| named == schema))
            .filter(|schema| implicit || !is_temporary_schema(schema));
        Ok(Value::list(schemas.map(Value::text)))
    }),
    strict("current_user", (0, 0), Returns::Name, user),
    strict("session_user", (0, 0), Returns::Name, |context, _| {
        Ok(Value::text(&context.session.session_user))
    }),
    strict("current_role", (0, 0), Returns::Name, user),
    strict("user", (0, 0), Returns::Name, user),
    strict("pg_backend_pid", (0, 0), Returns::Integer, |context, _| {
        Ok(Value::Int(i64::from(context.session.pid)))
    }),
    strict("current_setting", (1, 2), Returns::Text, current_setting),
    lenient("set_config", (3, 3), Returns::Text, set_config),
    strict("pg_is_in_recovery", (0, 0), Returns::Boolean, |_, _| Ok(Value::Bool(false))),
    strict("pg_is_wal_replay_paused", (0, 0), Returns::Boolean, |_, _| {
        Err(SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, "recovery is not in progress")
            .hint("Recovery control functions can only be executed during recovery."))
    }),
    // The log goes to standard error, and the server's files are its own.
    strict("pg_current_logfile", (0, 1), Returns::Text, |_, _| Ok(Value::Null)),
    strict("pg_stat_file", (1, 2), Returns::Record, |_, _| {
        Err(SqlError::unsupported("pg_stat_file"))
    }),
    strict("pg_postmaster_start_time", (0, 0), Returns::Timestamptz, started),
    strict("pg_conf_load_time", (0, 0), Returns::Timestamptz, started),
    strict("inet_client_addr", (0, 0), Returns::Inet, |context, _| {
        Ok(endpoint(context.session.client).0)
    }),
    strict("inet_client_port", (0, 0), Returns::Integer, |context, _| {
        Ok(endpoint(context.session.client).1)
    }),
    strict("inet_server_addr", (0, 0), Returns::Inet, |context, _| {
        Ok(endpoint(context.session.server).0)
    }),
    strict("inet_server_port", (0, 0), Returns::Integer, |context, _| {
        Ok(endpoint(context.session.server).1)
    }),
    strict("pg_cancel_backend", (1, 1), Returns::Boolean, |context, arguments| {
        signal(context, arguments, ["cancel", "query is being canceled"], |pid| Effect::Cancel {
            pid,
        })
    }),
    strict("pg_terminate_backend", (1, 2), Returns::Boolean, |context, arguments| {
        signal(context, arguments, ["terminate", "process is being terminated"], |pid| {
            Effect::Terminate { pid }
        })
    }),
    lenient("pg_notify", (2, 2), Returns::Void, notify),
    strict("pg_sleep", (1, 1), Returns::Void, sleep),
    strict("pg_blocking_pids", (1, 1), Returns::IntegerArray, |context, arguments| {
        let pid = argument(arguments, 0).as_int().and_then(|pid| i32::try_from(pid).ok());
        let blocking = pid.map_or(Vec::new(), |pid| match &context.session.locks {
            Some(locks) => locks.blocking(pid),
            None => Vec::new(),
        });
        Ok(Value::list(blocking.into_iter().map(|pid| Value::Int(i64::from(pid)))))
    }),
    // Transactions have no numbers: one that grows with time tells them apart.
    strict("txid_current", (0, 0), Returns::BigInt, |context, _| {
        Ok(Value::Int(context.session.now.0))
    }),
    strict("pg_current_xact_id", (0, 0), Returns::BigInt, |context, _| {
        Ok(Value::Int(context.session.now.0))
    }),
    strict("pg_stat_clear_snapshot", (0, 0), Returns::Void, |_, _| Ok(Value::text(""))),
    strict("pg_export_snapshot", (0, 0), Returns::Text, |_, _| {
        Err(SqlError::unsupported("pg_export_snapshot"))
    }),
    strict("age", (1, 1), Returns::Integer, |_, _| Ok(Value::Int(0))).catalog_only(),
];

fn database(context: &PgContext, _: &[Value]) -> SqlResult<Value> {
    Ok(Value::text(&context.session.database))
}

fn user(context: &PgContext, _: &[Value]) -> SqlResult<Value> {
    Ok(Value::text(&context.session.user))
}

fn started(context: &PgContext, _: &[Value]) -> SqlResult<Value> {
    Ok(time(Some(context.session.server_started)))
}

fn current_setting(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let name = text_argument(context, arguments, 0);
    if let Some(value) = context.setting(&name) {
        return Ok(Value::text(value));
    }
    if argument(arguments, 1).as_bool() == Some(true) {
        return Ok(Value::Null);
    }
    let message = format!("unrecognized configuration parameter \"{name}\"");
    Err(SqlError::new(code::UNDEFINED_OBJECT, message))
}

fn set_config(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let name = text_argument(context, arguments, 0).to_lowercase();
    // A name in two parts is the user's own.
    if context.setting(&name).is_none() && !name.contains('.') {
        let message = format!("unrecognized configuration parameter \"{name}\"");
        return Err(SqlError::new(code::UNDEFINED_OBJECT, message));
    }
    let value = text_argument(context, arguments, 1);
    let local = argument(arguments, 2).as_bool().unwrap_or(false);
    let effect = Effect::SetConfig { name, value: value.clone(), local };
    context.session.effects.lock().push(effect);
    Ok(Value::text(value))
}

/// The session sleeps, where a cancel finds it, not the thread that evaluates.
fn sleep(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let seconds = match argument(arguments, 0) {
        Value::Text(text) => text.trim().parse().map_err(|_| {
            let message = format!("invalid input syntax for type double precision: \"{text}\"");
            SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
        })?,
        number => number.as_float().unwrap_or(0.0),
    };
    let longest = if seconds > 0.0 { Duration::MAX } else { Duration::ZERO };
    let length = Duration::try_from_secs_f64(seconds).unwrap_or(longest);
    context.session.effects.lock().push(Effect::Sleep(length));
    Ok(Value::text(""))
}

/// Refuses what PostgreSQL refuses.
pub fn check_notification(channel: &str, payload: &str) -> SqlResult<()> {
    let refuse = |message| Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
    if channel.is_empty() {
        return refuse("channel name cannot be empty");
    }
    if channel.len() > CHANNEL_BYTES_MAX {
        return refuse("channel name too long");
    }
    if payload.len() > PAYLOAD_BYTES_MAX {
        return refuse("payload string too long");
    }
    Ok(())
}

/// The session sends it when the statement has run.
fn notify(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    let channel = text_argument(context, arguments, 0);
    let payload = text_argument(context, arguments, 1);
    check_notification(&channel, &payload)?;
    let mut effects = context.session.effects.lock();
    if effects.len() == EFFECTS_MAX {
        let message = "too many notifications in the NOTIFY queue";
        return Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message)
            .detail(format!("A statement may send {EFFECTS_MAX}.")));
    }
    effects.push(Effect::Notify { channel, payload });
    Ok(Value::text(""))
}

/// True if there is such a session. Others' are for those who may, superusers' for superusers.
fn signal(
    context: &PgContext,
    arguments: &[Value],
    [verb, what]: [&str; 2],
    effect: fn(i32) -> Effect,
) -> SqlResult<Value> {
    let pid = argument(arguments, 0).as_int().and_then(|pid| i32::try_from(pid).ok());
    let sessions = context.session.activity.list();
    let known = pid.filter(|pid| sessions.iter().any(|one| one.pid == *pid));
    if let Some(other) = sessions.iter().find(|one| Some(one.pid) == known) {
        let catalog = &context.catalog;
        let actor = catalog.actor(&context.session.user)?;
        let refuse = |message: String| Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message));
        if catalog.role(&other.user).is_some_and(|role| role.superuser) && !actor.is_superuser() {
            let object = if verb == "cancel" { "query" } else { "process" };
            return refuse(format!("must be a superuser to {verb} superuser {object}"));
        }
        if !actor.owns(&other.user) && !actor.has_role(SIGNAL_BACKEND) {
            return refuse(format!(
                "must be a member of the role whose {what} or member of pg_signal_backend"
            ));
        }
    }
    if let Some(pid) = known {
        context.session.effects.lock().push(effect(pid));
    }
    Ok(Value::Bool(known.is_some()))
}
