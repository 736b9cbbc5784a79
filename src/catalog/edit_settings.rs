//! What variables of sessions begin with: edits of roles and databases, and what applies to whom.
//!
//! Of two that name the same variable the narrower one counts: that of the role in the database,
//! else the role's, else the database's.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::catalog::{Catalog, Database};
use super::durable;
use super::edit::{Edited, no_database};
use super::role::{Role, RoleSetting};
use crate::error::SqlResult;
use crate::types::ObjectId;

/// A change of what variables begin with. Names are as `pg_settings` writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StartValue {
    Set { name: String, value: String },
    Reset(String),
    ResetAll,
}

impl Catalog {
    /// With what the role's sessions, in `database` or in any, begin with.
    pub fn with_role_setting(
        &self,
        role: &Role,
        database: Option<ObjectId>,
        change: &StartValue,
    ) -> SqlResult<Edited> {
        let mut role = role.clone();
        role.settings
            .retain(|setting| setting.database != database || !change.touches(&setting.name));
        if let StartValue::Set { name, value } = change {
            let (name, value) = (name.clone(), value.clone());
            role.settings.push(RoleSetting { database, name, value });
        }
        self.with_changed_role(role)
    }

    /// With what sessions in the database begin with.
    pub fn with_database_setting(&self, name: &str, change: &StartValue) -> SqlResult<Edited> {
        let old = self.database(name).ok_or_else(|| no_database(name))?;
        let mut database = Database::clone(old);
        database.settings.retain(|setting, _| !change.touches(setting));
        if let StartValue::Set { name, value } = change {
            database.settings.insert(name.clone(), value.clone());
        }
        let changes = vec![durable::put_database(&database)?];
        let mut next = self.clone();
        Arc::make_mut(&mut next.databases).insert(name.to_owned(), Arc::new(database));
        Ok((next, changes))
    }

    /// What variables of a session of `role` in `database` begin with, by name.
    pub fn start_values(&self, role: &Role, database: &str) -> BTreeMap<String, String> {
        let database = self.database(database);
        let mut values = database.map_or(BTreeMap::new(), |found| found.settings.clone());
        for place in [None, database.map(|found| found.id)] {
            let here = role.settings.iter().filter(|setting| setting.database == place);
            values.extend(here.map(|setting| (setting.name.clone(), setting.value.clone())));
        }
        values
    }
}

impl StartValue {
    fn touches(&self, setting: &str) -> bool {
        match self {
            StartValue::Set { name, .. } | StartValue::Reset(name) => name == setting,
            StartValue::ResetAll => true,
        }
    }
}
