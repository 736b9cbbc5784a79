//! `CREATE ROLE`, `ALTER ROLE`, `DROP ROLE`, and who is a member of what.

use std::num::NonZeroU32;
use std::sync::Arc;

use super::authority::Deed;
use super::{DdlOutcome, Names};
use crate::catalog::access::Actor;
use crate::catalog::edit::Edited;
use crate::catalog::role::{Membership, Role, SUPERUSER_OID};
use crate::catalog::{Catalog, Verifier, check_role_name};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult, SqlState, code};
use crate::planner::grant::{
    AlterRole, CreateRole, Direction, DropRole, GrantRole, RoleName, RoleOptions, Secret,
};
use crate::state::MetaEntry;
use crate::types::{InputStyle, ObjectId, instant};

const WARNING: SqlState = "01000";
const RESERVED_NAME: SqlState = "42939";

/// More rounds than this would keep the server busy with one password.
const ITERATIONS_MAX: NonZeroU32 = NonZeroU32::new(10_000_000).expect("not zero");

impl Engine {
    /// Creates a role. `style` is how the statement writes times.
    pub async fn create_role(
        &self,
        statement: &CreateRole,
        names: &Names,
        style: &InputStyle,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::JudgedLater, names).await?;
        let catalog = self.catalog();
        let options = &statement.options;
        let actor = catalog.actor(&names.user)?;
        check_may_create(&actor, options)?;
        check_role_name(&statement.name)?;
        let mut outcome = DdlOutcome::default();
        let mut role = Role::new(catalog.oids().next(), &statement.name);
        apply(&mut role, options, style, &mut outcome)?;
        let id = role.id;
        let mut edit = Edit::of(catalog.with_role(role)?);
        for of in &options.in_roles {
            let of = resolve(&catalog, of, names)?.id;
            edit.member(&actor, id, of, false)?;
        }
        for (members, admin) in [(&options.members, false), (&options.admins, true)] {
            for member in members {
                let member = resolve(&catalog, member, names)?.id;
                edit.member(&actor, member, id, admin)?;
            }
        }
        self.finish_edit(edit).await?;
        Ok(outcome)
    }

    /// Changes what a role is.
    pub async fn alter_role(
        &self,
        statement: &AlterRole,
        names: &Names,
        style: &InputStyle,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::JudgedLater, names).await?;
        let catalog = self.catalog();
        let options = &statement.options;
        let actor = catalog.actor(&names.user)?;
        let mut role = Role::clone(resolve(&catalog, &statement.role, names)?);
        check_not_system(&role)?;
        check_may_alter(&actor, &role, options)?;
        if role.id == SUPERUSER_OID && options.superuser == Some(false) {
            let message = "permission denied to alter role";
            return Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message)
                .detail("The bootstrap user must have the SUPERUSER attribute."));
        }
        let mut outcome = DdlOutcome::default();
        apply(&mut role, options, style, &mut outcome)?;
        let id = role.id;
        let mut edit = Edit::of(catalog.with_changed_role(role)?);
        for member in &options.members {
            let member = resolve(&catalog, member, names)?.id;
            edit.member(&actor, member, id, false)?;
        }
        self.finish_edit(edit).await?;
        Ok(outcome)
    }

    /// Drops roles that own nothing and were granted nothing.
    pub async fn drop_roles(&self, statement: &DropRole, names: &Names) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::JudgedLater, names).await?;
        let catalog = self.catalog();
        let actor = catalog.actor(&names.user)?;
        if !actor.is_superuser() && !actor.role().create_role {
            return Err(forbidden("permission denied to drop role"));
        }
        let mut outcome = DdlOutcome::default();
        let mut gone = Vec::new();
        for name in &statement.roles {
            let RoleName::Named(named) = name else {
                return Err(SqlError::new(
                    code::INVALID_PARAMETER_VALUE,
                    "cannot use special role specifier in DROP ROLE",
                ));
            };
            let Some(role) = catalog.role(named) else {
                if !statement.if_exists {
                    return Err(no_role(named));
                }
                let notice =
                    DdlOutcome::notice(format!("role \"{named}\" does not exist, skipping"));
                outcome.notices.extend(notice.notices);
                continue;
            };
            check_droppable(&catalog, &actor, role, names)?;
            gone.push(role.id);
        }
        self.finish_edit(Edit::of(catalog.without_roles(&gone)?)).await?;
        Ok(outcome)
    }

    /// Makes roles members of roles, or no members any more.
    pub async fn grant_roles(&self, statement: &GrantRole, names: &Names) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::JudgedLater, names).await?;
        let catalog = self.catalog();
        let actor = catalog.actor(&names.user)?;
        let mut outcome = DdlOutcome::default();
        let mut edit = Edit::new(&catalog);
        for of in &statement.roles {
            let of = resolve(&catalog, of, names)?;
            for member in &statement.members {
                let member = resolve(&catalog, member, names)?;
                check_may_admit(&actor, of)?;
                let now = edit.catalog.role_by_id(member.id);
                let is = now.and_then(|now| now.member_of.iter().find(|one| one.role == of.id));
                let (member_name, of_name) = (&member.name, &of.name);
                match (statement.direction, is.map(|is| is.admin)) {
                    (Direction::Grant, Some(admin)) if admin || !statement.admin => {
                        let message = format!(
                            "role \"{member_name}\" is already a member of role \"{of_name}\""
                        );
                        outcome.notices.extend(DdlOutcome::notice(message).notices);
                    }
                    (Direction::Grant, _) => {
                        edit.member(&actor, member.id, of.id, statement.admin)?;
                    }
                    (Direction::Revoke, None) => {
                        let message =
                            format!("role \"{member_name}\" is not a member of role \"{of_name}\"");
                        outcome.notices.extend(DdlOutcome::warning(WARNING, message).notices);
                    }
                    (Direction::Revoke, Some(_)) => {
                        let only_admin = statement.admin;
                        edit.apply(|c| c.without_member(member.id, of.id, only_admin))?;
                    }
                }
            }
        }
        self.finish_edit(edit).await?;
        Ok(outcome)
    }

    /// Gives the superuser a password if it has none; the new one, which is kept nowhere else.
    pub async fn secure_superuser(&self) -> SqlResult<Option<(String, String)>> {
        let _one_at_a_time = self.ddl.lock().await;
        let catalog = self.catalog();
        let Some(role) = catalog.role_by_id(SUPERUSER_OID) else { return Ok(None) };
        if role.password.is_some() {
            return Ok(None);
        }
        let password = format!("{:032x}", crate::clock::random());
        let mut role = Role::clone(role);
        role.password = Some(Verifier::of_password(&password));
        let name = role.name.clone();
        self.finish_edit(Edit::of(catalog.with_changed_role(role)?)).await?;
        Ok(Some((name, password)))
    }

    pub(super) async fn finish_edit(&self, edit: Edit) -> SqlResult<()> {
        if !edit.changes.is_empty() {
            self.commit_meta(edit.changes).await?;
            self.publish(edit.catalog);
        }
        Ok(())
    }
}

/// Edits on the way: the catalog after them, and what of it is new on disk.
pub(super) struct Edit {
    pub(super) catalog: Catalog,
    pub(super) changes: Vec<MetaEntry>,
}

impl Edit {
    pub(super) fn new(catalog: &Catalog) -> Self {
        Self { catalog: catalog.clone(), changes: Vec::new() }
    }

    fn of((catalog, changes): Edited) -> Self {
        Self { catalog, changes }
    }

    pub(super) fn apply(
        &mut self,
        edit: impl FnOnce(&Catalog) -> SqlResult<Edited>,
    ) -> SqlResult<()> {
        let (catalog, changes) = edit(&self.catalog)?;
        self.catalog = catalog;
        self.changes.extend(changes);
        Ok(())
    }

    fn member(
        &mut self,
        actor: &Actor<'_>,
        member: ObjectId,
        role: ObjectId,
        admin: bool,
    ) -> SqlResult<()> {
        let of = self.catalog.role_by_id(role).map(Arc::clone);
        let of = of.ok_or_else(|| SqlError::internal(format!("role {} is gone", role.0)))?;
        check_may_admit(actor, &of)?;
        let membership = Membership { role, admin, grantor: actor.role().id };
        self.apply(|catalog| catalog.with_member(member, membership))
    }
}

/// The role that a statement means; PUBLIC is none.
pub(super) fn resolve<'a>(
    catalog: &'a Catalog,
    role: &RoleName,
    names: &Names,
) -> SqlResult<&'a Arc<Role>> {
    match role {
        RoleName::Named(name) => catalog.existing_role(name),
        RoleName::CurrentUser => catalog.existing_role(&names.user),
        RoleName::SessionUser => catalog.existing_role(&names.session_user),
        RoleName::Public => Err(no_role("public")),
    }
}

fn no_role(name: &str) -> SqlError {
    SqlError::new(code::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist"))
}

pub(super) fn forbidden(message: impl Into<String>) -> SqlError {
    SqlError::new(code::INSUFFICIENT_PRIVILEGE, message)
}

pub(super) fn check_not_system(role: &Role) -> SqlResult<()> {
    if !role.is_system() {
        return Ok(());
    }
    Err(SqlError::new(RESERVED_NAME, format!("role name \"{}\" is reserved", role.name))
        .detail("Cannot alter reserved roles."))
}

fn check_may_create(actor: &Actor<'_>, options: &RoleOptions) -> SqlResult<()> {
    if actor.is_superuser() {
        return Ok(());
    }
    let only_superuser = [
        (options.superuser, "must be superuser to create superusers"),
        (options.replication, "must be superuser to create replication users"),
        (options.bypass_rls, "must be superuser to create bypassrls users"),
    ];
    if let Some((_, message)) = only_superuser.iter().find(|(on, _)| *on == Some(true)) {
        return Err(forbidden(*message));
    }
    match actor.role().create_role {
        true => Ok(()),
        false => Err(forbidden("permission denied to create role")),
    }
}

fn check_may_alter(actor: &Actor<'_>, role: &Role, options: &RoleOptions) -> SqlResult<()> {
    if actor.is_superuser() {
        return Ok(());
    }
    if role.superuser || options.superuser.is_some() {
        return Err(forbidden(
            "must be superuser to alter superuser roles or change superuser attribute",
        ));
    }
    if role.replication || options.replication.is_some() {
        return Err(forbidden(
            "must be superuser to alter replication roles or change replication attribute",
        ));
    }
    if options.bypass_rls.is_some() {
        return Err(forbidden("must be superuser to change bypassrls attribute"));
    }
    // Everybody may change the own password, and nothing else.
    let rest = RoleOptions { password: None, ..options.clone() };
    let own = role.id == actor.role().id && rest == RoleOptions::default();
    match actor.role().create_role || own {
        true => Ok(()),
        false => Err(forbidden("permission denied")),
    }
}

fn check_may_admit(actor: &Actor<'_>, role: &Role) -> SqlResult<()> {
    if actor.is_superuser() {
        return Ok(());
    }
    if role.superuser {
        return Err(forbidden("must be superuser to alter superusers"));
    }
    let admin = actor.role().member_of.iter().any(|of| of.role == role.id && of.admin);
    // A role of the system gives rights that only a superuser has: CREATEROLE is not enough.
    match admin || (actor.role().create_role && !role.is_system()) {
        true => Ok(()),
        false => Err(forbidden(format!("must have admin option on role \"{}\"", role.name))),
    }
}

fn check_droppable(
    catalog: &Catalog,
    actor: &Actor<'_>,
    role: &Role,
    names: &Names,
) -> SqlResult<()> {
    let required = role.is_system() || role.id == SUPERUSER_OID;
    if role.name == names.user {
        return Err(SqlError::new(code::OBJECT_IN_USE, "current user cannot be dropped"));
    }
    if role.name == names.session_user {
        return Err(SqlError::new(code::OBJECT_IN_USE, "session user cannot be dropped"));
    }
    if role.superuser && !actor.is_superuser() {
        return Err(forbidden("must be superuser to drop superusers"));
    }
    if required {
        let message =
            format!("cannot drop role {} because it is required by the database system", role.name);
        return Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message));
    }
    let needs = catalog.what_needs_role(role);
    if needs.is_empty() {
        return Ok(());
    }
    let message =
        format!("role \"{}\" cannot be dropped because some objects depend on it", role.name);
    Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message).detail(needs.join("\n")))
}

/// Puts a statement's options into a role.
fn apply(
    role: &mut Role,
    options: &RoleOptions,
    style: &InputStyle,
    outcome: &mut DdlOutcome,
) -> SqlResult<()> {
    let flags = [
        (options.superuser, &mut role.superuser),
        (options.inherit, &mut role.inherit),
        (options.create_role, &mut role.create_role),
        (options.create_db, &mut role.create_db),
        (options.login, &mut role.login),
        (options.replication, &mut role.replication),
        (options.bypass_rls, &mut role.bypass_rls),
    ];
    for (given, flag) in flags {
        *flag = given.unwrap_or(*flag);
    }
    if let Some(limit) = options.connection_limit {
        role.connection_limit = limit;
    }
    if let Some(password) = &options.password {
        role.password = match password {
            Some(secret) => verifier(secret, outcome)?,
            None => None,
        };
    }
    if let Some(until) = &options.valid_until {
        role.valid_until = match until.trim().to_ascii_lowercase().as_str() {
            "infinity" => None,
            _ => Some(instant(until, style)?),
        };
    }
    Ok(())
}

/// What is kept of a password, which may be given as that already.
fn verifier(secret: &Secret, outcome: &mut DdlOutcome) -> SqlResult<Option<Verifier>> {
    let Secret(given) = secret;
    if let Some(ready) = Verifier::parse(given) {
        if ready.iterations > ITERATIONS_MAX {
            let message = format!("a verifier may have at most {ITERATIONS_MAX} iterations");
            return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
        }
        // An empty password by another name.
        if ready.fits("") {
            return Ok(cleared(outcome));
        }
        return Ok(Some(ready));
    }
    let md5 = given.len() == 35
        && given.starts_with("md5")
        && given[3..].bytes().all(|byte| byte.is_ascii_hexdigit());
    if md5 {
        return Err(SqlError::unsupported("an MD5 password")
            .hint("Give the password itself, or a SCRAM-SHA-256 verifier."));
    }
    if given.is_empty() {
        return Ok(cleared(outcome));
    }
    Ok(Some(Verifier::of_password(given)))
}

/// No password can be empty, as clients do not send such.
fn cleared(outcome: &mut DdlOutcome) -> Option<Verifier> {
    let message = "empty string is not a valid password, clearing password";
    outcome.notices.extend(DdlOutcome::notice(message).notices);
    None
}
