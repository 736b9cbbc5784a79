//! Transactions: blocks between BEGIN and COMMIT, and those that statements are by themselves.
//!
//! ```text
//!           BEGIN              error
//!   none ----------> explicit -------> failed
//!    ^ |               |  COMMIT,        | COMMIT (as ROLLBACK),
//!    | | statement     |  ROLLBACK       | ROLLBACK
//!    | v               v                 v
//!   implicit -------> none <-------------+
//!      the string ends, Sync
//! ```
//!
//! DDL takes effect at once, also within a block (drivers that open a block before every first
//! statement would otherwise have no DDL at all), and says so with a warning: ROLLBACK does not
//! take it back. See `docs/decisions/0003-ddl-in-transactions.md`.

use std::sync::Arc;
use std::time::Duration;

use super::channels::Word;
use super::interrupt::Interrupt;
use super::notice::Notice;
use super::outcome::Outcome;
use super::portal::{Lasts, State};
use super::savepoint::Savepoint;
use super::session::Session;
use super::variables::Scope;
use crate::clock::{self, WallTime};
use crate::engine::dml;
use crate::error::{SqlError, SqlResult, SqlState, code};
use crate::planner::statement::{Isolation, SetTransaction, StatementKind, TransactionModes};
use crate::serving::QueryContext;
use crate::types::{Epoch, ObjectId};

/// `warning`.
pub(super) const WARNING: SqlState = "01000";

/// For the locks of which tables a statement waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Waits {
    ForNone,
    For(Vec<ObjectId>),
    /// Of those that go with what it drops, too.
    ForAny,
}

/// What ReadyForQuery says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionState {
    Idle,
    Open,
    Failed,
}

/// The transaction, if there is one.
#[derive(Default)]
pub(super) struct Block {
    kind: Kind,
    pub(super) failed: bool,
    /// What `now()` means in it.
    started: Option<WallTime>,
    /// Its writes, from the first one on.
    pub(super) writes: Option<dml::Transaction>,
    /// What it has said about channels.
    pub(super) word: Word,
    /// What a transaction of a higher isolation level reads: the moment of its first statement.
    pub(super) pinned: Option<QueryContext>,
    /// Those that it can go back to, the oldest first.
    pub(super) savepoints: Vec<Savepoint>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    None,
    /// One that the client did not ask for: several statements in one string, or before one Sync.
    Implicit,
    Explicit,
}

impl Block {
    pub(super) fn is_explicit(&self) -> bool {
        self.kind == Kind::Explicit
    }

    /// Whether statements are being gathered into a transaction, asked for or not.
    pub(super) fn is_open(&self) -> bool {
        self.kind != Kind::None
    }

    pub(super) fn started(&self) -> Option<WallTime> {
        self.started
    }

    /// As `pg_stat_activity` calls it while the client is silent.
    pub(super) fn activity(&self) -> &'static str {
        match (self.kind, self.failed) {
            (Kind::Explicit, false) => "idle in transaction",
            (Kind::Explicit, true) => "idle in transaction (aborted)",
            _ => "idle",
        }
    }
}

impl Session {
    /// Where the client stands, for ReadyForQuery.
    pub fn transaction_state(&self) -> TransactionState {
        match (self.block.kind, self.block.failed) {
            (Kind::Explicit, false) => TransactionState::Open,
            (Kind::Explicit, true) => TransactionState::Failed,
            _ => TransactionState::Idle,
        }
    }

    /// Several statements come that are one transaction unless they say otherwise.
    pub fn begin_implicit(&mut self) {
        if self.block.kind == Kind::None {
            self.open_block(Kind::Implicit);
        }
    }

    /// The string of statements, or the batch of messages, is over: an implicit transaction ends.
    pub async fn finish(&mut self) -> SqlResult<()> {
        if self.block.kind == Kind::Explicit {
            return Ok(());
        }
        self.commit_block().await
    }

    /// A statement has failed: undoes its transaction, or marks it for ROLLBACK.
    pub fn fail(&mut self) {
        if self.block.kind != Kind::Explicit {
            self.roll_back_block();
            return;
        }
        self.block.failed = true;
        if self.block.savepoints.is_empty() {
            // Nothing can bring them back: others need not wait for the locks.
            self.block.writes = None;
            self.locks.end_transaction();
        }
        // Those from before the savepoint live on when it is gone back to.
        let depth = self.block.savepoints.len();
        self.portals.retain(|_, portal| {
            let is_older = portal.depth < depth && !matches!(portal.state, State::Fetched);
            is_older || portal.lasts == Lasts::Session
        });
    }

    /// Refuses everything but the end of a transaction that failed, or of a client whose role is
    /// gone.
    pub(super) fn check_may_run(&self, kind: &StatementKind) -> SqlResult<()> {
        let ends = matches!(
            kind,
            StatementKind::Commit { .. }
                | StatementKind::Rollback { .. }
                | StatementKind::RollbackToSavepoint(_)
        );
        if self.block.failed && !ends {
            return Err(SqlError::new(
                code::IN_FAILED_SQL_TRANSACTION,
                "current transaction is aborted, commands ignored until end of transaction block",
            ));
        }
        if ends { Ok(()) } else { self.check_identity() }
    }

    /// Refuses a write in a read-only transaction.
    pub(super) fn check_writable(&self, command: &str) -> SqlResult<()> {
        if !self.variables.is_on("transaction_read_only") {
            return Ok(());
        }
        let message = format!("cannot execute {command} in a read-only transaction");
        Err(SqlError::new(code::READ_ONLY_SQL_TRANSACTION, message))
    }

    /// Refuses what cannot be part of a transaction.
    pub(super) fn check_outside_block(&self, command: &str) -> SqlResult<()> {
        if self.block.kind != Kind::Explicit {
            return Ok(());
        }
        let message = format!("{command} cannot run inside a transaction block");
        Err(SqlError::new(code::ACTIVE_SQL_TRANSACTION, message))
    }

    /// Before DDL. It takes effect at once: in a block, that is said; else what the string has
    /// written so far takes effect before it.
    pub(super) async fn before_ddl(&mut self, command: &str, waits: &Waits) -> SqlResult<()> {
        self.check_writable(command)?;
        if self.block.kind != Kind::Explicit {
            return self.commit_so_far().await;
        }
        let drops = match waits {
            Waits::ForNone => false,
            Waits::ForAny => true,
            Waits::For(tables) => {
                self.block.writes.as_ref().is_some_and(|writes| writes.locks_any(tables))
            }
        };
        if drops && self.block.writes.as_ref().is_some_and(|writes| !writes.is_empty()) {
            let message = format!("{command} cannot run in a transaction that has written rows");
            return Err(SqlError::new(code::ACTIVE_SQL_TRANSACTION, message)
                .hint("Commit the transaction first."));
        }
        if drops {
            // Locks of statements that found nothing to change would be waited for.
            self.block.writes = None;
        }
        self.notify(
            Notice::warning(WARNING, format!("{command} takes effect at once"))
                .detail("ROLLBACK will not undo it."),
        );
        Ok(())
    }

    /// Commits what an implicit transaction has written, which goes on.
    pub(super) async fn commit_so_far(&mut self) -> SqlResult<()> {
        let word = std::mem::take(&mut self.block.word);
        let writes = self.block.writes.take();
        self.commit_writes(writes, word).await
    }

    pub(super) fn begin(&mut self, modes: TransactionModes) -> SqlResult<Outcome> {
        if self.block.kind == Kind::Explicit {
            self.notify(Notice::warning(
                code::ACTIVE_SQL_TRANSACTION,
                "there is already a transaction in progress",
            ));
        } else {
            if self.block.kind == Kind::None {
                self.open_block(Kind::Explicit);
            }
            // What an implicit transaction has done so far becomes part of this one.
            self.block.kind = Kind::Explicit;
        }
        self.set_modes(modes)?;
        Ok(Outcome::Command("BEGIN".to_owned()))
    }

    pub(super) async fn commit(&mut self, and_chain: bool) -> SqlResult<Outcome> {
        if self.block.kind != Kind::Explicit {
            no_chain_outside(and_chain, "COMMIT")?;
            self.warn_no_transaction();
            self.commit_block().await?;
            return Ok(Outcome::Command("COMMIT".to_owned()));
        }
        if self.block.failed {
            self.roll_back_block();
            self.chain(and_chain);
            return Ok(Outcome::Command("ROLLBACK".to_owned()));
        }
        self.commit_block().await?;
        self.chain(and_chain);
        Ok(Outcome::Command("COMMIT".to_owned()))
    }

    pub(super) fn roll_back(&mut self, and_chain: bool) -> SqlResult<Outcome> {
        if self.block.kind != Kind::Explicit {
            no_chain_outside(and_chain, "ROLLBACK")?;
            self.warn_no_transaction();
        }
        self.roll_back_block();
        self.chain(and_chain);
        Ok(Outcome::Command("ROLLBACK".to_owned()))
    }

    fn warn_no_transaction(&mut self) {
        self.notify(Notice::warning(
            code::NO_ACTIVE_SQL_TRANSACTION,
            "there is no transaction in progress",
        ));
    }

    fn chain(&mut self, and_chain: bool) {
        if and_chain {
            self.open_block(Kind::Explicit);
        }
    }

    fn open_block(&mut self, kind: Kind) {
        self.block = Block { kind, started: Some(clock::wall()), ..Block::default() };
        self.variables.begin();
    }

    async fn commit_block(&mut self) -> SqlResult<()> {
        let Block { writes, word, .. } = std::mem::take(&mut self.block);
        let committed = self.commit_writes(writes, word).await;
        self.locks.end_transaction();
        match committed {
            Ok(()) => self.variables.commit(),
            Err(_) => self.variables.roll_back(),
        }
        self.close_portals_of_transaction(committed.is_ok());
        committed?;
        self.drop_ended_tables().await
    }

    fn roll_back_block(&mut self) {
        self.block = Block::default();
        self.locks.end_transaction();
        self.variables.roll_back();
        self.close_portals_of_transaction(false);
    }

    /// Lets what a transaction has written and said take effect.
    async fn commit_writes(
        &mut self,
        writes: Option<dml::Transaction>,
        word: Word,
    ) -> SqlResult<()> {
        let context = self.dml_context();
        let mut restarts = Vec::new();
        let entered = match writes {
            Some(mut writes) => {
                writes.forget(self.emptied_tables());
                restarts = writes.take_restarts();
                writes.commit(&context).await?
            }
            None => None,
        };
        let waits = self.variables.waits_for_commit();
        // Whether anybody waits or not: what begins anew must be known to stand, or not to.
        let anew = (!restarts.is_empty()).then(|| self.engine.let_restart(restarts, entered));
        match entered {
            // Who is told of rows must be able to see them.
            Some(epoch) if waits || word.has_notes() => self.until_durable(epoch, word).await?,
            _ => self.announce(word),
        }
        match anew {
            Some(anew) if waits => self.interrupts.race(anew).await,
            _ => Ok(()),
        }
    }

    /// Waits until an epoch that rows have entered is committed, and lets others hear `word` then.
    /// The rows cannot be taken back, so a cancel ends the waiting, not the transaction.
    async fn until_durable(&mut self, epoch: Epoch, word: Word) -> SqlResult<()> {
        let engine = Arc::clone(&self.engine);
        let interrupts = Arc::clone(&self.interrupts);
        let interrupt = tokio::select! {
            biased;
            committed = engine.committed(epoch) => {
                if committed.is_ok() {
                    self.announce(word);
                }
                return committed;
            }
            interrupt = interrupts.wait() => interrupt,
        };
        self.announce_later(word, async move { engine.committed(epoch).await });
        if interrupt.is_fatal() {
            return Err(interrupt.error());
        }
        let why = match interrupt {
            Interrupt::Timeout => "statement timeout",
            _ => "user request",
        };
        let message = format!("canceling the wait for durability due to {why}");
        self.notify(Notice::warning(WARNING, message).detail(
            "The transaction has already taken effect; a later commit of the store makes it \
             durable.",
        ));
        Ok(())
    }

    // --- Modes -------------------------------------------------------------------------------

    pub(super) fn set_transaction(&mut self, set: SetTransaction) -> SqlResult<Outcome> {
        if set.session {
            let TransactionModes { isolation, read_only, deferrable } = set.modes;
            let values = [
                ("default_transaction_isolation", isolation.map(isolation_name)),
                ("default_transaction_read_only", read_only.map(on_off)),
                ("default_transaction_deferrable", deferrable.map(on_off)),
            ];
            for (name, value) in values {
                if let Some(value) = value {
                    self.variables.set(name, value, Scope::Session)?;
                }
            }
        } else if self.block.kind == Kind::None {
            self.notify(Notice::warning(
                code::NO_ACTIVE_SQL_TRANSACTION,
                "SET TRANSACTION can only be used in transaction blocks",
            ));
        } else {
            self.set_modes(set.modes)?;
        }
        Ok(Outcome::Command("SET".to_owned()))
    }

    /// The modes of the current transaction, where something is said; the others are the
    /// defaults.
    fn set_modes(&mut self, modes: TransactionModes) -> SqlResult<()> {
        let TransactionModes { isolation, read_only, deferrable } = modes;
        let values = [
            ("transaction_isolation", isolation.map(isolation_name)),
            ("transaction_read_only", read_only.map(on_off)),
            ("transaction_deferrable", deferrable.map(on_off)),
        ];
        for (name, value) in values {
            if let Some(value) = value {
                self.variables.set(name, value, Scope::Local)?;
            }
        }
        Ok(())
    }

    /// Whether all statements of the transaction read one moment.
    pub(super) fn reads_one_moment(&self) -> bool {
        self.block.kind == Kind::Explicit
            && matches!(
                self.variables.get("transaction_isolation"),
                Some("repeatable read" | "serializable")
            )
    }

    pub(super) fn lock_timeout(&self) -> Option<Duration> {
        self.variables.timeout("lock_timeout")
    }

    pub(super) fn check_in_block(&self, command: &str) -> SqlResult<()> {
        if self.block.kind == Kind::Explicit {
            return Ok(());
        }
        let message = format!("{command} can only be used in transaction blocks");
        Err(SqlError::new(code::NO_ACTIVE_SQL_TRANSACTION, message))
    }
}

fn no_chain_outside(and_chain: bool, command: &str) -> SqlResult<()> {
    if !and_chain {
        return Ok(());
    }
    let message = format!("{command} AND CHAIN can only be used in transaction blocks");
    Err(SqlError::new(code::NO_ACTIVE_SQL_TRANSACTION, message))
}

fn isolation_name(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "read uncommitted",
        Isolation::ReadCommitted => "read committed",
        Isolation::RepeatableRead => "repeatable read",
        Isolation::Serializable => "serializable",
    }
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}
