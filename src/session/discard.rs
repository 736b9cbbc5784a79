//! DISCARD, and USE.

use super::outcome::Outcome;
use super::session::Session;
use super::variables::Scope;
use crate::error::{SqlError, SqlResult};
use crate::planner::statement::Discard;

impl Session {
    pub(super) fn discard(&mut self, what: Discard) -> SqlResult<Outcome> {
        let tag = match what {
            Discard::All => {
                self.check_outside_block("DISCARD ALL")?;
                self.prepared.clear();
                self.portals.clear();
                self.unlisten(None);
                self.reassign("session_authorization", Scope::Session)?;
                self.variables.reset_all();
                "DISCARD ALL"
            }
            // Plans follow the catalog by themselves; sequences and temporary tables there are
            // none: all of them are as if just discarded.
            Discard::Plans => "DISCARD PLANS",
            Discard::Sequences => "DISCARD SEQUENCES",
            Discard::Temporary => "DISCARD TEMP",
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
