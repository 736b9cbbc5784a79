//! DISCARD, and USE.

use super::outcome::Outcome;
use super::session::Session;
use super::transaction::Waits;
use super::variables::Scope;
use crate::catalog::pg::Given;
use crate::catalog::pg::SessionLocks;
use crate::error::{SqlError, SqlResult};
use crate::planner::statement::Discard;

impl Session {
    pub(super) async fn discard(&mut self, what: Discard) -> SqlResult<Outcome> {
        let tag = match what {
            Discard::All => {
                self.check_outside_block("DISCARD ALL")?;
                self.commit_so_far().await?;
                self.deallocate(None)?;
                self.portals.clear();
                self.unlisten(None);
                self.locks.unlock_all();
                self.reassign("session_authorization", Scope::Session)?;
                self.variables.reset_all();
                self.discard_temporary().await?;
                *self.given.lock() = Given::default();
                "DISCARD ALL"
            }
            // Plans follow the catalog by themselves.
            Discard::Plans => "DISCARD PLANS",
            Discard::Sequences => {
                *self.given.lock() = Given::default();
                "DISCARD SEQUENCES"
            }
            Discard::Temporary => {
                self.before_ddl("DISCARD TEMP", &Waits::ForAny).await?;
                self.discard_temporary().await?;
                "DISCARD TEMP"
            }
        };
        Ok(Outcome::Command(tag.to_owned()))
    }

    /// USE names the database that the client is connected to, or fails.
    pub(super) fn use_database(&self, name: &str) -> SqlResult<Outcome> {
        if name == self.client.database {
            return Ok(Outcome::Command("USE".to_owned()));
        }
        Err(SqlError::unsupported("changing the database of a session")
            .hint(format!("Connect to database \"{name}\" instead.")))
    }
}
