//! `GRANT` and `REVOKE` on what exists and on what will, and who owns what.

use std::sync::Arc;

use super::authority::Deed;
use super::role::{Edit, resolve};
use super::{DdlOutcome, Names, check_database, drop};
use crate::catalog::access::{Actor, denied};
use crate::catalog::privilege::{Acl, Privileges};
use crate::catalog::role::Role;
use crate::catalog::{Catalog, NewKind, Object, ObjectKind, Securable};
use crate::engine::Engine;
use crate::error::{SqlError, SqlResult, SqlState, code};
use crate::planner::Name;
use crate::planner::grant::{
    AlterOwner, DefaultKind, DefaultPrivileges, Direction, DropOwned, Grant, GrantOn, Owned,
    ReassignOwned, RoleName,
};
use crate::planner::statement::DropKind;
use crate::types::ObjectId;

const NOT_GRANTED: SqlState = "01007";
const NOT_REVOKED: SqlState = "01006";
const INVALID_GRANT: SqlState = "0LP01";

/// What a statement does to one access control list.
struct Change<'a> {
    direction: Direction,
    grantees: &'a [Option<ObjectId>],
    option: bool,
    cascade: bool,
}

impl Engine {
    /// Gives or takes privileges.
    pub async fn grant(&self, statement: &Grant, names: &Names) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::JudgedLater, names).await?;
        let catalog = self.catalog();
        let actor = catalog.actor(&names.user)?;
        let grantees = grantees(&catalog, &statement.grantees, names)?;
        let change = Change {
            direction: statement.direction,
            grantees: &grantees,
            option: statement.option,
            cascade: statement.cascade,
        };
        change.check()?;
        let (targets, all, kind) = targets(&catalog, &actor, &statement.on, names)?;
        let privileges = wanted(statement.privileges, all, kind)?;
        let mut outcome = DdlOutcome::default();
        let mut edit = Edit::new(&catalog);
        for target in targets {
            let (owner, acl) = edit.catalog.owner_and_acl(&target)?;
            let shown = Shown::of(&catalog, &target);
            let grantor = grantor(&actor, &owner, &acl, privileges, &shown)?;
            let possible = privileges & grantor.grantable;
            let everything = statement.privileges.is_none();
            if possible.is_empty() || (possible != privileges && !everything) {
                outcome.notices.extend(shown.not_done(change.direction, possible).notices);
            }
            let acl = change.apply(acl, grantor.role, possible, catalog.owner_id(&owner))?;
            edit.apply(|catalog| catalog.with_acl(&target, acl))?;
        }
        self.finish_edit(edit).await?;
        Ok(outcome)
    }

    /// Says what new objects of a role are granted at once.
    pub async fn alter_default_privileges(
        &self,
        statement: &DefaultPrivileges,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::JudgedLater, names).await?;
        let catalog = self.catalog();
        let actor = catalog.actor(&names.user)?;
        let grantees = grantees(&catalog, &statement.grantees, names)?;
        let change = Change {
            direction: statement.direction,
            grantees: &grantees,
            option: statement.option,
            cascade: true,
        };
        change.check()?;
        let (kind, shown) = match statement.kind {
            DefaultKind::Tables => (NewKind::Relation, "table"),
            DefaultKind::Sequences => (NewKind::Sequence, "sequence"),
            DefaultKind::Schemas => (NewKind::Schema, "schema"),
        };
        if kind == NewKind::Schema && !statement.schemas.is_empty() {
            let message = "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS";
            return Err(SqlError::new(INVALID_GRANT, message));
        }
        let privileges = wanted(statement.privileges, kind.all(), shown)?;
        let roles = match statement.roles.as_slice() {
            [] => vec![resolve(&catalog, &RoleName::CurrentUser, names)?.id],
            roles => {
                let each = roles.iter().map(|role| Ok(resolve(&catalog, role, names)?.id));
                each.collect::<SqlResult<Vec<_>>>()?
            }
        };
        let mut schemas = Vec::new();
        for name in &statement.schemas {
            schemas.push(Some(existing_schema(&catalog, &name.name)?));
        }
        if schemas.is_empty() {
            schemas.push(None);
        }
        let mut edit = Edit::new(&catalog);
        for role in roles {
            if !actor.has_role(role) {
                let message = "permission denied to change default privileges";
                return Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message));
            }
            for schema in &schemas {
                let old = edit.catalog.default_acl(role, *schema, kind).map(|old| old.acl.clone());
                let acl = old.unwrap_or_else(|| match schema {
                    Some(_) => Acl::default(),
                    None => Acl::initial(role, kind.all(), Privileges::NONE),
                });
                let acl = change.apply(acl, role, privileges, role)?;
                edit.apply(|catalog| catalog.with_default_acl(role, *schema, kind, acl))?;
            }
        }
        self.finish_edit(edit).await?;
        Ok(DdlOutcome::default())
    }

    /// Gives something another owner.
    pub async fn alter_owner(
        &self,
        statement: &AlterOwner,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::JudgedLater, names).await?;
        let catalog = self.catalog();
        let actor = catalog.actor(&names.user)?;
        let owner = resolve(&catalog, &statement.owner, names)?;
        let target =
            match &statement.what {
                Owned::Function { name, parameters } => Securable::Function(
                    super::function::named(&catalog, name, parameters.as_deref(), names)?,
                ),
                Owned::Object { kind: DropKind::Schema, name } => {
                    existing_schema(&catalog, &name.name)?;
                    Securable::Schema(name.name.clone())
                }
                Owned::Object { kind: DropKind::Database, name } => {
                    Securable::Database(existing_database(&catalog, &name.name)?)
                }
                Owned::Object { kind, name } => {
                    let object = relation(&catalog, name, names)?;
                    super::comment::check_kind(object, *kind, name)?;
                    Securable::Relation(object.id)
                }
            };
        check_gives_away(&catalog, &actor, &target, owner)?;
        let mut edit = Edit::new(&catalog);
        give(&mut edit, &target, &owner.name)?;
        self.finish_edit(edit).await?;
        Ok(DdlOutcome::default())
    }

    /// Gives all that roles own to another.
    pub async fn reassign_owned(
        &self,
        statement: &ReassignOwned,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::JudgedLater, names).await?;
        let catalog = self.catalog();
        let actor = catalog.actor(&names.user)?;
        let to = resolve(&catalog, &statement.to, names)?;
        let mut from = Vec::new();
        for role in &statement.from {
            from.push(resolve(&catalog, role, names)?);
        }
        if from.iter().chain([&to]).any(|role| !actor.has_role(role.id)) {
            let message = "permission denied to reassign objects";
            return Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message));
        }
        let mut edit = Edit::new(&catalog);
        for role in from {
            for target in owned_by(&catalog, role) {
                give(&mut edit, &target, &to.name)?;
            }
        }
        self.finish_edit(edit).await?;
        Ok(DdlOutcome::default())
    }

    /// Drops all that roles own, and takes away all that they were granted.
    pub async fn drop_owned(
        self: &Arc<Self>,
        statement: &DropOwned,
        names: &Names,
    ) -> SqlResult<DdlOutcome> {
        let _one_at_a_time = self.permitted(Deed::JudgedLater, names).await?;
        let catalog = self.catalog();
        let actor = catalog.actor(&names.user)?;
        let mut edit = Edit::new(&catalog);
        let mut gone = Vec::new();
        let mut schemas = Vec::new();
        for role in &statement.roles {
            let role = resolve(&catalog, role, names)?;
            if !actor.has_role(role.id) {
                let message = "permission denied to drop objects";
                return Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message));
            }
            revoke_all(&mut edit, role)?;
            for target in owned_by(&catalog, role) {
                match target {
                    Securable::Relation(id) | Securable::Function(id) => gone.push(id),
                    Securable::Schema(name) => schemas.push(name),
                    // As in PostgreSQL, which keeps databases.
                    Securable::Database(_) => {}
                }
            }
        }
        let path = &names.search_path;
        let mut plan = edit.catalog.plan_drop_all(gone, path, statement.cascade)?;
        edit.apply(|catalog| catalog.without(&plan.objects))?;
        for schema in &schemas {
            let inside = edit.catalog.plan_drop_schema(schema, path, statement.cascade)?;
            edit.apply(|catalog| catalog.without(&inside.objects))?;
            edit.apply(|catalog| catalog.without_schema(schema))?;
            plan.objects.extend(inside.objects);
            plan.notices.extend(inside.notices);
        }
        let Edit { catalog: next, changes } = edit;
        self.take_away(&plan.objects, next, changes).await?;
        Ok(drop::outcome(plan))
    }
}

impl Change<'_> {
    fn check(&self) -> SqlResult<()> {
        let everybody = self.grantees.contains(&None);
        if self.direction == Direction::Grant && self.option && everybody {
            let message = "grant options can only be granted to roles";
            return Err(SqlError::new(INVALID_GRANT, message));
        }
        Ok(())
    }

    fn apply(
        &self,
        mut acl: Acl,
        grantor: ObjectId,
        privileges: Privileges,
        owner: ObjectId,
    ) -> SqlResult<Acl> {
        for grantee in self.grantees {
            match self.direction {
                Direction::Grant => {
                    // The owner may grant anything anyway.
                    let option = self.option && *grantee != Some(owner);
                    let grantable = if option { privileges } else { Privileges::NONE };
                    acl.grant(*grantee, grantor, privileges, grantable);
                }
                Direction::Revoke => {
                    acl.revoke(*grantee, grantor, privileges, self.option, owner, self.cascade)
                        .map_err(|_| {
                            SqlError::new(
                                code::DEPENDENT_OBJECTS_STILL_EXIST,
                                "dependent privileges exist",
                            )
                            .hint("Use CASCADE to revoke them too.")
                        })?;
                }
            }
        }
        Ok(acl)
    }
}

/// Who grants, and what that role may.
struct Grantor {
    role: ObjectId,
    grantable: Privileges,
}

/// An owner grants as such; another as the role, of those that it has, which may grant most.
fn grantor(
    actor: &Actor<'_>,
    owner: &str,
    acl: &Acl,
    privileges: Privileges,
    shown: &Shown,
) -> SqlResult<Grantor> {
    let owner_id = actor.catalog().owner_id(owner);
    if actor.owns(owner) {
        return Ok(Grantor { role: owner_id, grantable: privileges });
    }
    let best = actor
        .roles()
        .iter()
        .map(|role| Grantor { role: *role, grantable: acl.grantable_by(*role) & privileges })
        .max_by_key(|grantor| grantor.grantable.each().count());
    match best {
        Some(best) if !best.grantable.is_empty() => Ok(best),
        // Who holds nothing is refused; who holds something is told.
        Some(best) if !acl.held_by(actor.roles()).is_empty() => Ok(best),
        _ => Err(denied(shown.kind, &shown.name)),
    }
}

/// What messages call a thing.
struct Shown {
    kind: &'static str,
    name: String,
}

impl Shown {
    fn of(catalog: &Catalog, target: &Securable) -> Self {
        match target {
            Securable::Relation(id) => match catalog.object(*id) {
                Some(object) => Self { kind: object.kind_name(), name: object.name.name.clone() },
                None => Self { kind: "object", name: id.0.to_string() },
            },
            Securable::Function(id) => Self { kind: "function", name: id.0.to_string() },
            Securable::Schema(name) => Self { kind: "schema", name: name.clone() },
            Securable::Database(name) => Self { kind: "database", name: name.clone() },
        }
    }

    /// The warning that not all was granted or revoked.
    fn not_done(&self, direction: Direction, possible: Privileges) -> DdlOutcome {
        let (code, done) = match direction {
            Direction::Grant => (NOT_GRANTED, "granted"),
            Direction::Revoke => (NOT_REVOKED, "revoked"),
        };
        let name = &self.name;
        let message = match (possible.is_empty(), done) {
            (true, "granted") => format!("no privileges were granted for \"{name}\""),
            (false, "granted") => format!("not all privileges were granted for \"{name}\""),
            (true, _) => format!("no privileges could be revoked for \"{name}\""),
            (false, _) => format!("not all privileges could be revoked for \"{name}\""),
        };
        DdlOutcome::warning(code, message)
    }
}

/// The privileges that a statement names, or all that there are.
fn wanted(named: Option<Privileges>, all: Privileges, kind: &str) -> SqlResult<Privileges> {
    let Some(named) = named else { return Ok(all) };
    match (named & !all).each().next() {
        None => Ok(named),
        Some((_, other)) => {
            let message = format!("invalid privilege type {other} for {kind}");
            Err(SqlError::new(INVALID_GRANT, message))
        }
    }
}

fn grantees(
    catalog: &Catalog,
    roles: &[RoleName],
    names: &Names,
) -> SqlResult<Vec<Option<ObjectId>>> {
    let each = roles.iter().map(|role| match role {
        RoleName::Public => Ok(None),
        role => Ok(Some(resolve(catalog, role, names)?.id)),
    });
    each.collect()
}

/// What a statement is about, the privileges that there are on it, and what messages call it.
fn targets(
    catalog: &Catalog,
    actor: &Actor<'_>,
    on: &GrantOn,
    names: &Names,
) -> SqlResult<(Vec<Securable>, Privileges, &'static str)> {
    let mut targets = Vec::new();
    match on {
        GrantOn::Relations(relations) => {
            for (kind, name) in relations {
                if let Some(schema) = &name.schema {
                    actor.check_schema(schema, Privileges::USAGE)?;
                }
                let object = relation(catalog, name, names)?;
                if let Some(kind) = kind {
                    super::comment::check_kind(object, *kind, name)?;
                }
                if let ObjectKind::Index(_) = object.kind {
                    let message = format!("\"{}\" is an index", object.name.name);
                    return Err(SqlError::new(code::WRONG_OBJECT_TYPE, message));
                }
                targets.push(Securable::Relation(object.id));
            }
            let sequences = relations.iter().all(|(kind, name)| {
                *kind == Some(DropKind::Sequence)
                    || relation(catalog, name, names).is_ok_and(|one| one.sequence().is_some())
            });
            Ok(match sequences {
                true => (targets, Privileges::OF_SEQUENCE, "sequence"),
                false => (targets, Privileges::OF_RELATION, "table"),
            })
        }
        GrantOn::AllIn { kind, schemas } => {
            for schema in schemas {
                existing_schema(catalog, &schema.name)?;
                actor.check_schema(&schema.name, Privileges::USAGE)?;
                let inside = catalog
                    .objects()
                    .filter(|object| object.name.schema == schema.name && is_of(object, *kind));
                targets.extend(inside.map(|object| Securable::Relation(object.id)));
            }
            Ok(match kind {
                Some(DropKind::Sequence) => (targets, Privileges::OF_SEQUENCE, "sequence"),
                _ => (targets, Privileges::OF_RELATION, "table"),
            })
        }
        GrantOn::Schemas(schemas) => {
            for schema in schemas {
                existing_schema(catalog, &schema.name)?;
                targets.push(Securable::Schema(schema.name.clone()));
            }
            Ok((targets, Privileges::OF_SCHEMA, "schema"))
        }
        GrantOn::Databases(databases) => {
            for database in databases {
                targets.push(Securable::Database(existing_database(catalog, &database.name)?));
            }
            Ok((targets, Privileges::OF_DATABASE, "database"))
        }
    }
}

/// Whether `ALL TABLES` and its like mean the relation.
fn is_of(object: &Object, kind: Option<DropKind>) -> bool {
    match (kind, &object.kind) {
        (_, ObjectKind::Index(_)) => false,
        (None, ObjectKind::Sink(_) | ObjectKind::Subscription(_) | ObjectKind::Sequence(_)) => {
            false
        }
        (None, _)
        | (Some(DropKind::View), ObjectKind::View(_))
        | (Some(DropKind::MaterializedView), ObjectKind::MaterializedView(_))
        | (Some(DropKind::Source), ObjectKind::Source(_))
        | (Some(DropKind::Sink), ObjectKind::Sink(_))
        | (Some(DropKind::Subscription), ObjectKind::Subscription(_))
        | (Some(DropKind::Sequence), ObjectKind::Sequence(_)) => true,
        _ => false,
    }
}

fn relation<'a>(catalog: &'a Catalog, name: &Name, names: &Names) -> SqlResult<&'a Object> {
    check_database(name, names)?;
    let found = catalog.resolve(&names.search_path, name.schema.as_deref(), &name.name);
    found.map(AsRef::as_ref).ok_or_else(|| {
        let message = format!("relation \"{name}\" does not exist");
        SqlError::new(code::UNDEFINED_TABLE, message)
    })
}

fn existing_schema(catalog: &Catalog, name: &str) -> SqlResult<ObjectId> {
    let schema = catalog.schema(name).ok_or_else(|| {
        SqlError::new(code::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist"))
    })?;
    Ok(schema.id)
}

fn existing_database(catalog: &Catalog, name: &str) -> SqlResult<String> {
    let database = catalog.database(name).ok_or_else(|| {
        SqlError::new(code::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist"))
    })?;
    Ok(database.name.clone())
}

/// Refuses to give away what is another's, or to somebody who could not have made it.
fn check_gives_away(
    catalog: &Catalog,
    actor: &Actor<'_>,
    target: &Securable,
    new: &Role,
) -> SqlResult<()> {
    if actor.is_superuser() {
        return Ok(());
    }
    let (owner, _) = catalog.owner_and_acl(target)?;
    let shown = match target {
        Securable::Function(id) => {
            let name = catalog.function(*id).map(|function| function.name.name.clone());
            Shown { kind: "function", name: name.unwrap_or_default() }
        }
        other => Shown::of(catalog, other),
    };
    actor.check_owner(&owner, shown.kind, &shown.name)?;
    if !catalog.member_closure(actor.role().id).contains(&new.id) {
        let message = format!("must be member of role \"{}\"", new.name);
        return Err(SqlError::new(code::INSUFFICIENT_PRIVILEGE, message));
    }
    let schema = match target {
        Securable::Relation(id) => catalog.object(*id).map(|object| &object.name.schema),
        Securable::Function(id) => catalog.function(*id).map(|function| &function.name.schema),
        Securable::Schema(_) | Securable::Database(_) => None,
    };
    match schema {
        Some(schema) => catalog.acting(new).check_schema(schema, Privileges::CREATE),
        None => Ok(()),
    }
}

/// Gives something to another; the indexes and the sequences of a table go with it.
fn give(edit: &mut Edit, target: &Securable, owner: &str) -> SqlResult<()> {
    edit.apply(|catalog| catalog.with_owner(target, owner))?;
    if let Securable::Relation(id) = target {
        let parts = edit.catalog.indexes(*id).chain(edit.catalog.owned_sequences(*id));
        let parts: Vec<_> = parts.map(|part| part.id).collect();
        for part in parts {
            edit.apply(|catalog| catalog.with_owner(&Securable::Relation(part), owner))?;
        }
    }
    Ok(())
}

/// All that a role owns.
fn owned_by(catalog: &Catalog, role: &Role) -> Vec<Securable> {
    let is_own = |owner: &String| *owner == role.name;
    let relations = catalog.objects().filter(|object| is_own(&object.owner));
    let functions = catalog.functions().filter(|function| is_own(&function.owner));
    let schemas = catalog.schemas().filter(|schema| is_own(&schema.owner) && !schema.is_system());
    let databases = catalog.databases().filter(|database| is_own(&database.owner));
    relations
        .map(|object| Securable::Relation(object.id))
        .chain(functions.map(|function| Securable::Function(function.id)))
        .chain(schemas.map(|schema| Securable::Schema(schema.name.clone())))
        .chain(databases.map(|database| Securable::Database(database.name.clone())))
        .collect()
}

/// Takes away all that a role was granted, and its default privileges.
fn revoke_all(edit: &mut Edit, role: &Role) -> SqlResult<()> {
    let catalog = edit.catalog.clone();
    let relations = catalog.objects().map(|one| (Securable::Relation(one.id), &one.acl));
    let schemas = catalog.schemas().map(|one| (Securable::Schema(one.name.clone()), &one.acl));
    let databases =
        catalog.databases().map(|one| (Securable::Database(one.name.clone()), &one.acl));
    for (target, acl) in relations.chain(schemas).chain(databases) {
        let (owner, _) = catalog.owner_and_acl(&target)?;
        if let Some(acl) = acl.as_ref().filter(|acl| owner != role.name && acl.mentions(role.id)) {
            let acl = acl.without(role.id);
            edit.apply(|catalog| catalog.with_acl(&target, acl))?;
        }
    }
    for default in catalog.default_acls() {
        let acl = match default.role == role.id {
            true => match default.schema {
                Some(_) => Acl::default(),
                None => Acl::initial(role.id, default.kind.all(), Privileges::NONE),
            },
            false => default.acl.without(role.id),
        };
        edit.apply(|c| c.with_default_acl(default.role, default.schema, default.kind, acl))?;
    }
    Ok(())
}
