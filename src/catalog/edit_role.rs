//! Edits of roles; as [`super::edit`], each gives the next catalog and what of it is new on disk.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::catalog::Catalog;
use super::durable;
use super::edit::Edited;
use super::role::{Membership, Role, no_role};
use crate::error::{SqlError, SqlResult, SqlState, code};
use crate::types::ObjectId;

const RESERVED_NAME: SqlState = "42939";
const INVALID_GRANT: SqlState = "0LP01";

impl Catalog {
    /// With a new role, whose OID comes from [`Catalog::oids`].
    pub fn with_role(&self, role: Role) -> SqlResult<Edited> {
        check_role_name(&role.name)?;
        if self.role(&role.name).is_some() {
            let message = format!("role \"{}\" already exists", role.name);
            return Err(SqlError::new(code::DUPLICATE_OBJECT, message));
        }
        let mut next = self.clone();
        let mut changes = vec![durable::put_role(&role)?];
        next.move_past(vec![role.id], &mut changes)?;
        next.insert_role(role);
        Ok((next, changes))
    }

    /// With a role changed in place: same OID, same name.
    pub fn with_changed_role(&self, role: Role) -> SqlResult<Edited> {
        if self.role(&role.name).is_none_or(|old| old.id != role.id) {
            return Err(no_role(&role.name));
        }
        let changes = vec![durable::put_role(&role)?];
        let mut next = self.clone();
        next.insert_role(role);
        Ok((next, changes))
    }

    /// Without roles that own nothing and have no rights, and without the memberships of others
    /// in them.
    pub fn without_roles(&self, ids: &[ObjectId]) -> SqlResult<Edited> {
        let gone: BTreeSet<ObjectId> = ids.iter().copied().collect();
        let mut next = self.clone();
        let mut changes = Vec::new();
        for role in self.roles() {
            if gone.contains(&role.id) {
                changes.push(durable::delete_role(role.id)?);
                Arc::make_mut(&mut next.roles).remove(&role.id);
                Arc::make_mut(&mut next.role_names).remove(&role.name);
            } else if role.member_of.iter().any(|of| gone.contains(&of.role)) {
                let mut role = Role::clone(role);
                role.member_of.retain(|of| !gone.contains(&of.role));
                changes.push(durable::put_role(&role)?);
                next.insert_role(role);
            }
        }
        Ok((next, changes))
    }

    /// With `member` a member of `role`, maybe with the right to make others members.
    pub fn with_member(&self, member: ObjectId, of: Membership) -> SqlResult<Edited> {
        let mut changed = self.role_of(member)?;
        let role = self.role_of(of.role)?;
        if self.member_closure(role.id).contains(&member) {
            let message =
                format!("role \"{}\" is a member of role \"{}\"", role.name, changed.name);
            return Err(SqlError::new(INVALID_GRANT, message));
        }
        match changed.member_of.iter_mut().find(|old| old.role == of.role) {
            Some(old) => old.admin |= of.admin,
            None => changed.member_of.push(of),
        }
        self.with_changed_role(changed)
    }

    /// With `member` no member of `role` any more, or only without the right to make others
    /// members.
    pub fn without_member(
        &self,
        member: ObjectId,
        role: ObjectId,
        only_admin: bool,
    ) -> SqlResult<Edited> {
        let mut changed = self.role_of(member)?;
        if only_admin {
            let of = changed.member_of.iter_mut().filter(|of| of.role == role);
            of.for_each(|of| of.admin = false);
        } else {
            changed.member_of.retain(|of| of.role != role);
        }
        self.with_changed_role(changed)
    }

    /// With the secret that mock verifiers are made from.
    pub fn with_secret(&self, secret: Vec<u8>) -> SqlResult<Edited> {
        let changes = vec![durable::put_secret(&secret)?];
        let mut next = self.clone();
        next.secret = secret.into();
        Ok((next, changes))
    }

    /// What mock verifiers are made from; empty before the first start has made one.
    pub fn secret(&self) -> &[u8] {
        &self.secret
    }

    fn role_of(&self, id: ObjectId) -> SqlResult<Role> {
        let role = self.role_by_id(id).map(|role| Role::clone(role));
        role.ok_or_else(|| SqlError::internal(format!("role {} does not exist", id.0)))
    }

    pub(super) fn insert_role(&mut self, role: Role) {
        Arc::make_mut(&mut self.role_names).insert(role.name.clone(), role.id);
        Arc::make_mut(&mut self.roles).insert(role.id, Arc::new(role));
    }
}

/// Refuses names that mean something else.
pub fn check_role_name(name: &str) -> SqlResult<()> {
    if name.starts_with("pg_") {
        let message = format!("role name \"{name}\" is reserved");
        return Err(SqlError::new(RESERVED_NAME, message)
            .detail("Role names starting with \"pg_\" are reserved."));
    }
    if matches!(name, "public" | "none") {
        return Err(SqlError::new(RESERVED_NAME, format!("role name \"{name}\" is reserved")));
    }
    if name.is_empty() {
        return Err(SqlError::new(code::SYNTAX_ERROR, "zero-length delimited identifier"));
    }
    Ok(())
}
