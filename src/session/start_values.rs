//! `ALTER ROLE ... SET`, `ALTER DATABASE ... SET`, and what a session's variables begin with.

use super::notice::Notice;
use super::session::Session;
use super::set::{proper_name, value_of};
use super::setting;
use super::variables::{accept, is_custom};
use crate::catalog::{Role, StartValue};
use crate::engine::{DdlOutcome, Names};
use crate::error::SqlResult;
use crate::planner::grant::{AlterSettings, SettingChange};

impl Session {
    /// Sees to it that later sessions begin otherwise. This one goes on as it is.
    pub(super) async fn alter_settings(
        &self,
        alter: &AlterSettings,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let set = |name: &str, value: String| {
            let name = known_name(name)?;
            accept(&name, &value)?;
            SqlResult::Ok(StartValue::Set { name, value })
        };
        let change = match &alter.change {
            SettingChange::Set { name, values: Some(values) } => {
                set(name, value_of(name, values)?)?
            }
            SettingChange::FromCurrent(name) => {
                let value = self.variables.get(name).ok_or_else(|| setting::unrecognized(name))?;
                set(name, value.to_owned())?
            }
            SettingChange::Set { name, values: None } | SettingChange::Reset(name) => {
                StartValue::Reset(known_name(name)?)
            }
            SettingChange::ResetAll => StartValue::ResetAll,
        };
        let (role, database) = (alter.role.as_ref(), alter.database.as_deref());
        self.engine.alter_settings(role, database, &change, names).await
    }

    /// Takes over what `role` and the database say. What is not good any more is left out, with a
    /// warning: it must not keep anybody from connecting.
    pub(super) fn take_start_values(&mut self, role: &Role) {
        let values = self.engine.catalog().start_values(role, &self.client.database);
        for (name, value) in values {
            if let Err(error) = self.start_with(&name, &value) {
                self.notify(Notice::warning(error.code, error.message));
            }
        }
    }
}

/// The name as `pg_settings` writes it.
fn known_name(name: &str) -> SqlResult<String> {
    let name = proper_name(name);
    match setting::find(name) {
        Some(setting) => Ok(setting.name.to_owned()),
        None if is_custom(name) => Ok(name.to_ascii_lowercase()),
        None => Err(setting::unrecognized(name)),
    }
}
