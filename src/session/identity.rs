//! Who the client is: who it logged in as, whom SET SESSION AUTHORIZATION made of it, and whose
//! rights SET ROLE chose.
//!
//! All three are variables, so that a transaction undoes them as it does others; but they are set
//! here only, where it is checked that they may be.

use super::session::Session;
use super::variables::Scope;
use crate::catalog::catalog::{PG_TEMP, is_temporary_schema};
use crate::error::{SqlError, SqlResult, code};

const ROLE: &str = "role";
const AUTHORIZATION: &str = "session_authorization";
pub(super) const IS_SUPERUSER: &str = "is_superuser";
/// No role was chosen: the session user's rights count.
const NONE: &str = "none";

impl Session {
    /// Whose rights count.
    pub(super) fn current_user(&self) -> &str {
        match self.variables.get(ROLE) {
            Some(role) if role != NONE => role,
            _ => self.session_user(),
        }
    }

    /// Who logged in, or whom SET SESSION AUTHORIZATION named.
    pub(super) fn session_user(&self) -> &str {
        self.variables.get(AUTHORIZATION).unwrap_or(&self.client.user)
    }

    /// The schemas that a name without one is looked up in: those that may be used.
    pub(super) fn search_path(&self) -> Vec<String> {
        let path = self.variables.search_path(self.current_user());
        let mut path = match self.engine.catalog().actor(self.current_user()) {
            Ok(actor) => actor.usable_path(&path),
            // Whose role is gone cannot do anything.
            Err(_) => path,
        };
        let named = path.iter().position(|schema| schema == PG_TEMP);
        path.retain(|schema| schema != PG_TEMP && !is_temporary_schema(schema));
        if let Some(temporary) = &self.temporary.schema {
            path.insert(named.unwrap_or(0).min(path.len()), temporary.clone());
        }
        path
    }

    /// Sets a variable: every way to do so comes through here.
    pub(super) fn assign(&mut self, name: &str, value: &str, scope: Scope) -> SqlResult<()> {
        match Identity::of(name) {
            None => self.variables.set(name, value, scope),
            Some(Identity::Role) => self.set_role(value, scope),
            Some(Identity::Authorization) => self.set_authorization(value, scope),
        }
    }

    /// Sets a variable to what the session began with.
    pub(super) fn reassign(&mut self, name: &str, scope: Scope) -> SqlResult<()> {
        match Identity::of(name) {
            None => self.variables.reset(name, scope),
            Some(Identity::Role) => {
                let first = self.variables.at_start(ROLE).unwrap_or(NONE).to_owned();
                self.set_role(&first, scope)
            }
            Some(Identity::Authorization) => {
                let login = self.client.user.clone();
                self.set_authorization(&login, scope)
            }
        }
    }

    /// Takes a variable's first value, from the startup packet.
    pub fn start_with(&mut self, name: &str, value: &str) -> SqlResult<()> {
        match Identity::of(name) {
            None => self.variables.start_with(name, value),
            Some(Identity::Role) => {
                self.may_be(value)?;
                self.variables.start_with(ROLE, value)?;
                self.show_superuser(Scope::Session);
                Ok(())
            }
            Some(Identity::Authorization) => Err(SqlError::new(
                code::INSUFFICIENT_PRIVILEGE,
                "parameter \"session_authorization\" cannot be set at the start of a session",
            )),
        }
    }

    fn set_role(&mut self, role: &str, scope: Scope) -> SqlResult<()> {
        let role = if role.eq_ignore_ascii_case(NONE) { NONE } else { role };
        self.may_be(role)?;
        self.variables.put(ROLE, role, scope);
        self.show_superuser(scope);
        Ok(())
    }

    /// Refuses a role that the session user is no member of.
    fn may_be(&self, role: &str) -> SqlResult<()> {
        if role == NONE {
            return Ok(());
        }
        let catalog = self.engine.catalog();
        let target = catalog.role(role).ok_or_else(|| no_such(role))?;
        let own = catalog.existing_role(self.session_user())?;
        match own.superuser || catalog.member_closure(own.id).contains(&target.id) {
            true => Ok(()),
            false => Err(SqlError::new(
                code::INSUFFICIENT_PRIVILEGE,
                format!("permission denied to set role \"{role}\""),
            )),
        }
    }

    fn set_authorization(&mut self, user: &str, scope: Scope) -> SqlResult<()> {
        let user = if user.eq_ignore_ascii_case("default") { &self.client.user } else { user };
        let user = user.to_owned();
        let catalog = self.engine.catalog();
        catalog.role(&user).ok_or_else(|| no_such(&user))?;
        let login = catalog.role_by_id(self.login);
        if user != self.client.user && login.is_none_or(|login| !login.superuser) {
            return Err(SqlError::new(
                code::INSUFFICIENT_PRIVILEGE,
                "permission denied to set session authorization",
            ));
        }
        self.variables.put(AUTHORIZATION, &user, scope);
        self.variables.put(ROLE, NONE, scope);
        self.show_superuser(scope);
        Ok(())
    }

    fn show_superuser(&mut self, scope: Scope) {
        let catalog = self.engine.catalog();
        let on = catalog.role(self.current_user()).is_some_and(|role| role.superuser);
        self.variables.put(IS_SUPERUSER, if on { "on" } else { "off" }, scope);
    }

    /// Refuses to go on as a role that is gone.
    pub(super) fn check_identity(&self) -> SqlResult<()> {
        let catalog = self.engine.catalog();
        let login = catalog.role_by_id(self.login);
        if login.is_none_or(|login| login.name != self.client.user) {
            return Err(dropped(&self.client.user));
        }
        match catalog.role(self.current_user()) {
            Some(_) => Ok(()),
            None => Err(dropped(self.current_user())),
        }
    }
}

/// The variables that say who the client is.
enum Identity {
    Role,
    Authorization,
}

impl Identity {
    fn of(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case(ROLE) {
            Some(Self::Role)
        } else if name.eq_ignore_ascii_case(AUTHORIZATION) {
            Some(Self::Authorization)
        } else {
            None
        }
    }
}

/// Whether RESET ALL leaves the variable alone.
pub(super) fn is_identity(key: &str) -> bool {
    Identity::of(key).is_some() || key == IS_SUPERUSER
}

fn no_such(role: &str) -> SqlError {
    SqlError::new(code::INVALID_PARAMETER_VALUE, format!("role \"{role}\" does not exist"))
}

fn dropped(role: &str) -> SqlError {
    SqlError::new(code::UNDEFINED_OBJECT, format!("role \"{role}\" was dropped"))
        .hint("Connect again as a role that exists.")
}
