//! GRANT and REVOKE, ALTER DEFAULT PRIVILEGES, and who owns what.

use sqlparser::tokenizer::Token;

use super::super::grant::{
    AlterOwner, AlterSettings, DefaultKind, DefaultPrivileges, Direction, DropOwned, Grant,
    GrantOn, GrantRole, Owned, ReassignOwned, RoleName,
};
use super::super::statement::{DropKind, StatementKind};
use super::front::Front;
use super::other::{object_kind, plain_name};
use super::role::{self, role_name};
use super::variables;
use crate::catalog::privilege::Privileges;
use crate::error::{SqlError, SqlResult, code};

/// A word in the list after GRANT: a privilege or a role, and where it stands.
type Item = (String, usize);

/// `GRANT ...` and `REVOKE ...`.
pub(super) fn grant(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let direction = direction(front)?;
    let admin = direction == Direction::Revoke && front.eat(&["admin", "option", "for"]);
    let mut option = grant_option_for(front, direction);
    let items = items(front)?;
    if !front.eat(&["on"]) {
        return members(front, direction, items, admin);
    }
    let privileges = privileges(&items)?;
    let on = grant_on(front)?;
    let grantees = grantees(front, direction)?;
    option |= with_option(front, direction)?;
    let cascade = cascade(front);
    Ok(StatementKind::Grant(Box::new(Grant {
        direction,
        privileges,
        on,
        grantees,
        option,
        cascade,
    })))
}

fn direction(front: &mut Front<'_>) -> SqlResult<Direction> {
    if front.eat(&["grant"]) {
        return Ok(Direction::Grant);
    }
    front.expect(&["revoke"])?;
    Ok(Direction::Revoke)
}

fn grant_option_for(front: &mut Front<'_>, direction: Direction) -> bool {
    direction == Direction::Revoke && front.eat(&["grant", "option", "for"])
}

fn with_option(front: &mut Front<'_>, direction: Direction) -> SqlResult<bool> {
    let given = direction == Direction::Grant && front.eat(&["with", "grant", "option"]);
    granted_by(front)?;
    Ok(given)
}

/// `GRANTED BY` says what is so anyway, or is not done.
fn granted_by(front: &mut Front<'_>) -> SqlResult<()> {
    let position = front.position();
    if front.eat(&["granted", "by"]) && role_name(front)? != RoleName::CurrentUser {
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, "grantor must be current user")
            .position(position));
    }
    Ok(())
}

fn cascade(front: &mut Front<'_>) -> bool {
    let cascade = front.eat(&["cascade"]);
    front.eat(&["restrict"]);
    cascade
}

/// Privileges or roles.
fn items(front: &mut Front<'_>) -> SqlResult<Vec<Item>> {
    front.list(|front| {
        let position = front.position();
        // SELECT, CREATE and REFERENCES are reserved words, and privileges.
        let item = match front.peek(0) {
            Token::Word(word) if word.quote_style.is_some() => front.identifier()?.name,
            _ => front.word()?,
        };
        if item == "all" {
            front.eat(&["privileges"]);
        }
        if *front.peek(0) == Token::LParen {
            return Err(SqlError::unsupported("GRANT on columns")
                .hint("Grant on a view that has only these columns.")
                .position(front.position()));
        }
        Ok((item, position))
    })
}

fn privileges(items: &[Item]) -> SqlResult<Option<Privileges>> {
    if let [(all, _)] = items
        && all == "all"
    {
        return Ok(None);
    }
    let mut sum = Privileges::NONE;
    for (item, position) in items {
        let one = Privileges::named(item).ok_or_else(|| {
            let message = format!("unrecognized privilege type \"{item}\"");
            SqlError::new(code::SYNTAX_ERROR, message).position(*position)
        })?;
        sum = sum | one;
    }
    Ok(Some(sum))
}

/// The rest of `GRANT roles TO members` and `REVOKE roles FROM members`.
fn members(
    front: &mut Front<'_>,
    direction: Direction,
    items: Vec<Item>,
    admin: bool,
) -> SqlResult<StatementKind> {
    let members = grantees(front, direction)?;
    let admin = admin || front.eat(&["with", "admin", "option"]);
    granted_by(front)?;
    cascade(front);
    let roles = items.into_iter().map(|(name, _)| RoleName::Named(name)).collect();
    Ok(StatementKind::GrantRole(GrantRole { direction, roles, members, admin }))
}

fn grantees(front: &mut Front<'_>, direction: Direction) -> SqlResult<Vec<RoleName>> {
    front.expect(&[match direction {
        Direction::Grant => "to",
        Direction::Revoke => "from",
    }])?;
    front.list(|front| {
        // An obsolete word before a role.
        front.eat(&["group"]);
        role_name(front)
    })
}

fn grant_on(front: &mut Front<'_>) -> SqlResult<GrantOn> {
    let position = front.position();
    if front.eat(&["all"]) {
        let kinds: [(&[&str], Option<DropKind>); 7] = [
            (&["tables"], None),
            (&["views"], Some(DropKind::View)),
            (&["materialized", "views"], Some(DropKind::MaterializedView)),
            (&["sources"], Some(DropKind::Source)),
            (&["sinks"], Some(DropKind::Sink)),
            (&["subscriptions"], Some(DropKind::Subscription)),
            (&["sequences"], Some(DropKind::Sequence)),
        ];
        for (words, kind) in kinds {
            if front.eat(words) {
                front.expect(&["in", "schema"])?;
                return Ok(GrantOn::AllIn { kind, schemas: front.list(plain_name)? });
            }
        }
        let what = format!("GRANT ON ALL {}", front.word()?.to_uppercase());
        return Err(SqlError::unsupported(what).position(position));
    }
    for what in [
        "function",
        "procedure",
        "routine",
        "type",
        "domain",
        "language",
        "tablespace",
        "parameter",
        "foreign",
        "large",
        "connection",
        "secret",
    ] {
        if front.is(0, what) && !matches!(front.peek(1), Token::Period | Token::Comma) {
            let what = format!("GRANT ON {}", what.to_uppercase());
            return Err(SqlError::unsupported(what).position(position));
        }
    }
    if front.eat(&["schema"]) {
        return Ok(GrantOn::Schemas(front.list(plain_name)?));
    }
    if front.eat(&["database"]) {
        return Ok(GrantOn::Databases(front.list(plain_name)?));
    }
    if front.eat(&["table"]) {
        return Ok(GrantOn::Relations(front.list(|front| Ok((None, front.name()?)))?));
    }
    let kind = match front.peek(1) {
        // A relation that is called as a kind is.
        Token::Period | Token::Comma => None,
        _ => [
            (&["materialized", "view"][..], DropKind::MaterializedView),
            (&["view"], DropKind::View),
            (&["source"], DropKind::Source),
            (&["sink"], DropKind::Sink),
            (&["subscription"], DropKind::Subscription),
            (&["sequence"], DropKind::Sequence),
        ]
        .into_iter()
        .find(|(words, _)| front.eat(words))
        .map(|(_, kind)| kind),
    };
    Ok(GrantOn::Relations(front.list(|front| Ok((kind, front.name()?)))?))
}

/// `ALTER ...`: roles, default privileges, names, owners. Nothing else can be altered yet.
pub(super) fn alter(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let position = front.position();
    front.expect(&["alter"])?;
    if front.eat(&["default", "privileges"]) {
        return default_privileges(front);
    }
    if front.eat(&["role"]) || front.eat(&["user"]) {
        return role::alter(front);
    }
    if let Some(statement) = super::sequence::alter(front)? {
        return Ok(statement);
    }
    if let Some(statement) = super::alter_table::alter(front)? {
        return Ok(statement);
    }
    let unsupported = || SqlError::unsupported("ALTER").position(position);
    let mut if_exists = false;
    let what = if front.eat(&["function"]) {
        let (name, parameters) = super::function::signature(front)?;
        Owned::Function { name, parameters }
    } else {
        let kind = object_kind(front).map_err(|_| unsupported())?;
        let name = match kind {
            DropKind::Schema | DropKind::Database => plain_name(front)?,
            _ => {
                if_exists = front.eat(&["if", "exists"]);
                front.eat(&["only"]);
                front.name()?
            }
        };
        if let Some(rename) = super::rename::rename(front, kind, &name, if_exists)? {
            return Ok(rename);
        }
        Owned::Object { kind, name }
    };
    if let Owned::Object { kind: DropKind::Database, name } = &what
        && (front.is(0, "set") || front.is(0, "reset"))
    {
        let database = Some(name.name.clone());
        let change = variables::setting_change(front)?;
        let alter = AlterSettings { role: None, database, change };
        return Ok(StatementKind::AlterSettings(Box::new(alter)));
    }
    if if_exists || !front.eat(&["owner", "to"]) {
        return Err(unsupported());
    }
    let owner = role_name(front)?;
    Ok(StatementKind::AlterOwner(Box::new(AlterOwner { what, owner })))
}

fn default_privileges(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let mut roles = Vec::new();
    let mut schemas = Vec::new();
    loop {
        if front.eat(&["for", "role"]) || front.eat(&["for", "user"]) {
            roles.extend(front.list(role_name)?);
        } else if front.eat(&["in", "schema"]) {
            schemas.extend(front.list(plain_name)?);
        } else {
            break;
        }
    }
    let direction = direction(front)?;
    let mut option = grant_option_for(front, direction);
    let privileges = privileges(&items(front)?)?;
    front.expect(&["on"])?;
    let position = front.position();
    let kind = match front.word()?.as_str() {
        "tables" => DefaultKind::Tables,
        "sequences" => DefaultKind::Sequences,
        "schemas" => DefaultKind::Schemas,
        other => {
            let what = format!("ALTER DEFAULT PRIVILEGES on {}", other.to_uppercase());
            return Err(SqlError::unsupported(what).position(position));
        }
    };
    let grantees = grantees(front, direction)?;
    option |= with_option(front, direction)?;
    cascade(front);
    Ok(StatementKind::DefaultPrivileges(Box::new(DefaultPrivileges {
        roles,
        schemas,
        direction,
        privileges,
        kind,
        grantees,
        option,
    })))
}

/// `REASSIGN OWNED BY roles TO role`.
pub(super) fn reassign(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["reassign", "owned", "by"])?;
    let from = front.list(role_name)?;
    front.expect(&["to"])?;
    Ok(StatementKind::ReassignOwned(ReassignOwned { from, to: role_name(front)? }))
}

/// What follows `DROP OWNED`.
pub(super) fn drop_owned(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["by"])?;
    let roles = front.list(role_name)?;
    Ok(StatementKind::DropOwned(DropOwned { roles, cascade: cascade(front) }))
}
