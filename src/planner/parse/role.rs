//! CREATE, ALTER and DROP of roles, and what else names roles.

use sqlparser::tokenizer::Token;

use super::super::grant::{
    AlterRole, AlterSettings, CreateRole, DropRole, RoleName, RoleOptions, Secret,
};
use super::super::statement::StatementKind;
use super::front::Front;
use super::other::plain_name;
use super::variables;
use crate::error::{SqlError, SqlResult, code};

/// A role, or a word that means one.
pub(super) fn role_name(front: &mut Front<'_>) -> SqlResult<RoleName> {
    for (word, means) in [
        ("current_user", RoleName::CurrentUser),
        ("current_role", RoleName::CurrentUser),
        ("session_user", RoleName::SessionUser),
        ("public", RoleName::Public),
    ] {
        if front.eat(&[word]) {
            // The front parser makes a call of it.
            if word == "current_role" {
                front.expect_token(&Token::LParen)?;
                front.expect_token(&Token::RParen)?;
            }
            return Ok(means);
        }
    }
    Ok(RoleName::Named(front.identifier()?.name))
}

/// What follows CREATE ROLE, CREATE USER or CREATE GROUP.
pub(super) fn create(front: &mut Front<'_>, login: bool) -> SqlResult<StatementKind> {
    let position = front.position();
    let RoleName::Named(name) = role_name(front)? else {
        let message = "role names \"public\", \"current_user\" and \"session_user\" are reserved";
        return Err(SqlError::new("42939", message).position(position));
    };
    front.eat(&["with"]);
    let mut options = options(front)?;
    if login {
        options.login = Some(options.login.unwrap_or(true));
    }
    Ok(StatementKind::CreateRole(Box::new(CreateRole { name, options })))
}

/// What follows ALTER ROLE or ALTER USER.
pub(super) fn alter(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    if front.is(0, "all") {
        return Err(SqlError::unsupported("ALTER ROLE ALL").position(front.position()));
    }
    let role = role_name(front)?;
    if front.is(0, "rename") {
        return Err(SqlError::unsupported("ALTER ROLE ... RENAME").position(front.position()));
    }
    let database = match front.eat(&["in", "database"]) {
        true => Some(plain_name(front)?.name),
        false => None,
    };
    if database.is_some() || front.is(0, "set") || front.is(0, "reset") {
        let change = variables::setting_change(front)?;
        let alter = AlterSettings { role: Some(role), database, change };
        return Ok(StatementKind::AlterSettings(Box::new(alter)));
    }
    front.eat(&["with"]);
    let options = options(front)?;
    Ok(StatementKind::AlterRole(Box::new(AlterRole { role, options })))
}

/// What follows DROP ROLE or DROP USER.
pub(super) fn drop(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let if_exists = front.eat(&["if", "exists"]);
    let roles = front.list(role_name)?;
    Ok(StatementKind::DropRole(DropRole { roles, if_exists }))
}

fn options(front: &mut Front<'_>) -> SqlResult<RoleOptions> {
    let mut options = RoleOptions::default();
    while !front.at_end() {
        let position = front.position();
        let redundant = || {
            SqlError::new(code::SYNTAX_ERROR, "conflicting or redundant options").position(position)
        };
        let word = front.word()?;
        if let Some((slot, on)) = flag(&mut options, &word) {
            if slot.replace(on).is_some() {
                return Err(redundant());
            }
            continue;
        }
        match word.as_str() {
            "encrypted" | "password" => {
                if word == "encrypted" {
                    front.expect(&["password"])?;
                }
                if options.password.replace(password(front)?).is_some() {
                    return Err(redundant());
                }
            }
            "unencrypted" => {
                let message = "UNENCRYPTED PASSWORD is no longer supported";
                return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
                    .hint("Remove UNENCRYPTED to store the password in encrypted form instead.")
                    .position(position));
            }
            "connection" => {
                front.expect(&["limit"])?;
                let limit = front.integer()?;
                let limit = i32::try_from(limit).ok().filter(|limit| *limit >= -1);
                let limit = limit.ok_or_else(|| {
                    let message = "invalid connection limit: use -1 for none";
                    SqlError::new(code::INVALID_PARAMETER_VALUE, message).position(position)
                })?;
                if options.connection_limit.replace(limit).is_some() {
                    return Err(redundant());
                }
            }
            "valid" => {
                front.expect(&["until"])?;
                if options.valid_until.replace(front.string()?).is_some() {
                    return Err(redundant());
                }
            }
            "sysid" => {
                // Accepted without effect, as in PostgreSQL.
                front.integer()?;
            }
            "in" => {
                if !front.eat(&["role"]) {
                    front.expect(&["group"])?;
                }
                options.in_roles.extend(front.list(role_name)?);
            }
            "role" | "user" => options.members.extend(front.list(role_name)?),
            "admin" => options.admins.extend(front.list(role_name)?),
            other => {
                let message = format!("unrecognized role option \"{other}\"");
                return Err(SqlError::new(code::SYNTAX_ERROR, message).position(position));
            }
        }
    }
    Ok(options)
}

/// An option that is on, or off with NO before it.
fn flag<'a>(options: &'a mut RoleOptions, word: &str) -> Option<(&'a mut Option<bool>, bool)> {
    Some(match word {
        "superuser" => (&mut options.superuser, true),
        "nosuperuser" => (&mut options.superuser, false),
        "inherit" => (&mut options.inherit, true),
        "noinherit" => (&mut options.inherit, false),
        "createrole" => (&mut options.create_role, true),
        "nocreaterole" => (&mut options.create_role, false),
        "createdb" => (&mut options.create_db, true),
        "nocreatedb" => (&mut options.create_db, false),
        "login" => (&mut options.login, true),
        "nologin" => (&mut options.login, false),
        "replication" => (&mut options.replication, true),
        "noreplication" => (&mut options.replication, false),
        "bypassrls" => (&mut options.bypass_rls, true),
        "nobypassrls" => (&mut options.bypass_rls, false),
        _ => return None,
    })
}

fn password(front: &mut Front<'_>) -> SqlResult<Option<Secret>> {
    if front.eat(&["null"]) { Ok(None) } else { Ok(Some(Secret(front.string()?))) }
}
