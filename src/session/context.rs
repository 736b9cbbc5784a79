//! What a statement of this session reads and writes by: names, time, variables, its own writes.

use std::sync::Arc;

use parking_lot::Mutex;

use super::interrupt::Interrupt;
use super::notice::Notice;
use super::prepared::Basis;
use super::session::Session;
use super::sessions::Sessions;
use super::transaction::WARNING;
use super::variables::Scope;
use super::waits::Waits;
use crate::catalog::pg::{Cursor, Effect, PgSession};
use crate::clock::{self, WallTime};
use crate::engine::{SessionAdvisory, dml};
use crate::error::SqlResult;
use crate::serving::QueryContext;
use crate::types::text::{ByteaOutput, IntervalStyle, TextStyle};
use crate::types::{InputStyle, Zone};

impl Session {
    /// The moment that a query reads, under the writes of its transaction.
    pub(super) fn query_context(&mut self) -> SqlResult<QueryContext> {
        let session = self.pg_session();
        let mut context = self.engine.query_context(session, self.text_style());
        if self.reads_one_moment() {
            match &self.block.pinned {
                Some(pinned) => context.snapshot = Arc::clone(&pinned.snapshot),
                None => self.block.pinned = Some(context.clone()),
            }
        }
        if let Some(writes) = &self.block.writes {
            let own = writes.overlay_on(|object| context.rows_of(object));
            context.rows.extend(own);
            context.unique.extend(writes.unique_at(&context.snapshot)?);
        }
        Ok(context)
    }

    pub(super) fn dml_context(&self) -> dml::Context {
        let mut context = self.engine.dml_context();
        context.lock_timeout = self.lock_timeout();
        context.owner = Some(self.locks.owner());
        context
    }

    /// How values are written as text.
    pub(super) fn text_style(&self) -> TextStyle {
        let value = |name| self.variables.get(name).unwrap_or("");
        // Only values that these know can be set.
        TextStyle {
            zone: Zone::parse(value("timezone")).unwrap_or_default(),
            extra_float_digits: value("extra_float_digits").parse().unwrap_or(1),
            interval_style: IntervalStyle::parse(value("intervalstyle")).unwrap_or_default(),
            bytea_output: ByteaOutput::parse(value("bytea_output")).unwrap_or_default(),
        }
    }

    /// How values are read from text.
    pub(super) fn input_style(&self) -> InputStyle {
        InputStyle { zone: self.text_style().zone, now_micros: self.now().0 }
    }

    /// What `now()` means: the start of the transaction.
    fn now(&self) -> WallTime {
        self.block.started().unwrap_or_else(clock::wall)
    }

    /// What prepared statements rest on.
    pub(super) fn basis(&self) -> Basis {
        Basis {
            catalog: self.engine.catalog(),
            search_path: self.search_path(),
            user: self.current_user().to_owned(),
        }
    }

    fn pg_session(&mut self) -> PgSession {
        PgSession {
            user: self.current_user().to_owned(),
            session_user: self.session_user().to_owned(),
            database: self.client.database.clone(),
            pid: self.membership.process_id(),
            now: self.now(),
            server_started: self.membership.sessions().started(),
            search_path: self.search_path(),
            settings: self.variables.settings(),
            activity: Arc::<Sessions>::clone(self.membership.sessions()),
            client: self.membership.client(),
            server: None,
            relation_bytes: Default::default(),
            weir_tables: Arc::clone(&self.weir_tables),
            effects: Arc::default(),
            listening: self.listening.clone(),
            prepared: self.show_prepared(),
            cursors: self.show_cursors(),
            locks: Some(Arc::<SessionAdvisory>::clone(&self.locks)),
            numbering: None,
            given: Arc::clone(&self.given),
            writes: None,
        }
    }

    /// The portals that `pg_cursors` shows: those with a name.
    fn show_cursors(&self) -> Vec<Arc<Cursor>> {
        let named = self.portals.iter().filter(|(name, _)| !name.is_empty());
        named.map(|(_, portal)| Arc::clone(&portal.shown)).collect()
    }

    /// How a query waits whose functions ask for `effects`.
    pub(super) fn waits(&self, effects: Arc<Mutex<Vec<Effect>>>) -> Waits {
        Waits { effects, locks: Arc::clone(&self.locks), lock_timeout: self.lock_timeout() }
    }

    /// Does what functions of a statement asked for.
    pub(super) async fn apply(&mut self, effects: Vec<Effect>) -> SqlResult<()> {
        for effect in effects {
            match effect {
                Effect::SetConfig { name, value, local } => {
                    let scope = if local { Scope::Local } else { Scope::Session };
                    self.assign(&name, &value, scope)?;
                }
                Effect::Cancel { pid } => {
                    self.membership.sessions().raise(pid, Interrupt::Cancel);
                }
                Effect::Terminate { pid } => {
                    self.membership.sessions().raise(pid, Interrupt::Shutdown);
                }
                Effect::Notify { channel, payload } => self.send_word(&channel, &payload)?,
                Effect::Warn(message) => self.notify(Notice::warning(WARNING, message)),
                // By rows that nobody took.
                Effect::Lock(_) | Effect::Sleep(_) => {
                    let waits = self.waits(Arc::new(Mutex::new(vec![effect])));
                    self.interrupts().race(waits.done()).await?;
                }
            }
        }
        Ok(())
    }
}
