//! `ALTER ROLE ... SET` and `ALTER DATABASE ... SET`: what variables of sessions begin with.

use super::authority::Deed;
use super::role::{check_not_system, forbidden, resolve};
use super::{DdlOutcome, Names};
use crate::catalog::StartValue;
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::grant::RoleName;

impl Engine {
    /// Changes what sessions of `role`, in `database`, begin with; without a role, those of all
    /// roles.
    pub async fn alter_settings(
        &self,
        role: Option<&RoleName>,
        database: Option<&str>,
        change: &StartValue,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::JudgedLater, names).await?;
        let catalog = self.catalog();
        let actor = catalog.actor(&names.user)?;
        let named = database.map(|name| {
            catalog.database(name).ok_or_else(|| {
                let message = format!("database \"{name}\" does not exist");
                SqlError::new(code::INVALID_CATALOG_NAME, message)
            })
        });
        let named = named.transpose()?;
        let (next, changes) = match (role, named) {
            (Some(role), named) => {
                let role = resolve(&catalog, role, names)?;
                check_not_system(role)?;
                if role.superuser && !actor.is_superuser() {
                    return Err(forbidden("must be superuser to alter superusers"));
                }
                if !actor.is_superuser() && !actor.role().create_role && role.id != actor.role().id
                {
                    return Err(forbidden("permission denied"));
                }
                catalog.with_role_setting(role, named.map(|database| database.id), change)?
            }
            (None, Some(database)) => {
                if !actor.owns(&database.owner) {
                    let message = format!("must be owner of database {}", database.name);
                    return Err(forbidden(message));
                }
                catalog.with_database_setting(&database.name, change)?
            }
            (None, None) => return Err(SqlError::internal("settings of nobody, nowhere")),
        };
        self.commit_meta(changes).await?;
        self.publish(next);
        Ok(DdlOutcome::default())
    }
}
