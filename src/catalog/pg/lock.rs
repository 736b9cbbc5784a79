//! Locks as SQL sees them: advisory ones by their functions, all of them in `pg_locks`.

use std::fmt;

use super::objects::oid;
use super::system::time;
use super::{PgContext, Rows, Value};
use crate::clock::WallTime;
use crate::error::{SqlError, SqlResult};
use crate::types::ObjectId;

/// What an advisory lock is on: numbers that mean something to those who use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AdvisoryKey {
    pub database: ObjectId,
    /// The upper and the lower half of one number of 64 bits, or two numbers.
    pub class: u32,
    pub object: u32,
    /// Whether it is two numbers, which are never the same as one.
    pub is_pair: bool,
}

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockMode {
    /// Of a table: its rows may change, but none that others refer to may go.
    KeyShare,
    /// Together with others who share it.
    Shared,
    /// Of a table: by the one that writes it, and takes away no row that others refer to.
    Write,
    /// Alone.
    Exclusive,
}

/// How long a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockScope {
    /// Until it is given back as often as it was taken, or the session ends.
    Session,
    /// Until the transaction ends.
    Transaction,
}

/// A request for an advisory lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockRequest {
    pub key: AdvisoryKey,
    pub mode: LockMode,
    pub scope: LockScope,
}

/// What `pg_locks` shows a lock to be on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Locked {
    /// The rows of a table, by one who writes.
    Table(ObjectId),
    Advisory(AdvisoryKey),
}

/// A lock that is held or waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lock {
    pub on: Locked,
    pub mode: LockMode,
    /// The session; `None`: a task of the server's own.
    pub pid: Option<i32>,
    /// Since when it is waited for; `None`: it is held.
    pub waiting_since: Option<WallTime>,
}

/// A session's advisory locks, and a view of everybody's.
pub trait SessionLocks: fmt::Debug + Send + Sync {
    /// Takes the lock if nobody is in the way; false if somebody is. Too many are 53200.
    fn try_lock(&self, request: LockRequest) -> SqlResult<bool>;

    /// Gives back, once, what was taken for the session; false if it was not.
    fn unlock(&self, key: AdvisoryKey, mode: LockMode) -> bool;

    /// Gives back all that was taken for the session.
    fn unlock_all(&self);

    /// All locks of all sessions.
    fn list(&self) -> Vec<Lock>;

    /// Whom the session `pid` waits for, if it waits.
    fn blocking(&self, pid: i32) -> Vec<i32>;
}

impl AdvisoryKey {
    /// That of one number.
    pub fn single(database: ObjectId, key: i64) -> Self {
        let bits = key.cast_unsigned();
        let (class, object) = ((bits >> 32) as u32, bits as u32);
        Self { database, class, object, is_pair: false }
    }

    /// That of two numbers.
    pub fn pair(database: ObjectId, class: i32, object: i32) -> Self {
        let (class, object) = (class.cast_unsigned(), object.cast_unsigned());
        Self { database, class, object, is_pair: true }
    }
}

impl LockMode {
    pub const ALL: [Self; 4] = [Self::KeyShare, Self::Shared, Self::Write, Self::Exclusive];

    /// Whether two owners cannot have both at a time.
    pub fn conflicts(self, other: Self) -> bool {
        match (self, other) {
            (Self::Exclusive, _) | (_, Self::Exclusive) => true,
            (Self::KeyShare, _) | (_, Self::KeyShare) => false,
            (one, other) => one == Self::Write || other == Self::Write,
        }
    }

    /// Its name in `pg_locks`.
    pub fn name(self) -> &'static str {
        match self {
            LockMode::KeyShare => "RowShareLock",
            LockMode::Shared => "ShareLock",
            LockMode::Write => "ShareRowExclusiveLock",
            LockMode::Exclusive => "ExclusiveLock",
        }
    }
}

impl PgContext {
    /// The locks of the session that asks.
    pub(super) fn locks(&self) -> SqlResult<&dyn SessionLocks> {
        let locks = self.session.locks.as_deref();
        locks.ok_or_else(|| SqlError::unsupported("a lock that no session would hold"))
    }
}

pub(super) fn pg_locks(context: &PgContext, rows: &mut Rows) {
    let Ok(locks) = context.locks() else { return };
    let here = context.catalog.database(&context.session.database).map(|database| database.id);
    for lock in locks.list() {
        let (locktype, database, relation, key, mode) = match lock.on {
            // One writer at a time, beside any number of readers.
            Locked::Table(table) => {
                let mode = match lock.mode {
                    LockMode::Exclusive => LockMode::Write.name(),
                    mode => mode.name(),
                };
                ("relation", here, Some(table), None, mode)
            }
            Locked::Advisory(key) => {
                ("advisory", Some(key.database), None, Some(key), lock.mode.name())
            }
        };
        let id = |id: Option<ObjectId>| id.map_or(Value::Null, |id| oid(id.0));
        let of_key = |part: fn(AdvisoryKey) -> u32| key.map_or(Value::Null, |key| oid(part(key)));
        rows.push([
            ("locktype", Value::text(locktype)),
            ("database", id(database)),
            ("relation", id(relation)),
            ("classid", of_key(|key| key.class)),
            ("objid", of_key(|key| key.object)),
            ("objsubid", of_key(|key| if key.is_pair { 2 } else { 1 })),
            ("pid", lock.pid.map_or(Value::Null, |pid| Value::Int(i64::from(pid)))),
            ("mode", Value::text(mode)),
            ("granted", Value::Bool(lock.waiting_since.is_none())),
            ("fastpath", Value::Bool(false)),
            ("waitstart", time(lock.waiting_since)),
        ]);
    }
}
