//! What functions of a query wait for, before the rows that called them go out.
//!
//! The thread that evaluates must not wait, so it asks the session to. What takes nothing but time
//! is done here; what changes the session, when the query has run.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::catalog::pg::Effect;
use crate::engine::SessionAdvisory;
use crate::error::SqlResult;

/// Of one query.
#[derive(Debug, Clone)]
pub(super) struct Waits {
    pub(super) effects: Arc<Mutex<Vec<Effect>>>,
    pub(super) locks: Arc<SessionAdvisory>,
    pub(super) lock_timeout: Option<Duration>,
}

impl Waits {
    /// Waits for what was asked for so far, in its order.
    pub(super) async fn done(&self) -> SqlResult<()> {
        let waits = |effect: &mut Effect| matches!(effect, Effect::Lock(_) | Effect::Sleep(_));
        let asked: Vec<Effect> = self.effects.lock().extract_if(.., waits).collect();
        for effect in asked {
            match effect {
                Effect::Lock(request) => self.locks.lock(request, self.lock_timeout).await?,
                Effect::Sleep(length) => tokio::time::sleep(length).await,
                other => self.effects.lock().push(other),
            }
        }
        Ok(())
    }
}
