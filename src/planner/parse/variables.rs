//! SET, RESET, SHOW, and the statements around transactions.

use sqlparser::tokenizer::Token;

use super::super::grant::SettingChange;
use super::super::statement::{
    DropKind, Isolation, Set, SetConstraints, SetTransaction, Show, ShowKind, StatementKind,
    TransactionModes,
};
use super::front::Front;
use super::other;
use crate::error::{SqlError, SqlResult};

// --- Variables ---------------------------------------------------------------------------------

pub(super) fn set(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["set"])?;
    if front.eat(&["session", "characteristics", "as", "transaction"]) {
        let modes = modes(front)?;
        return Ok(StatementKind::SetTransaction(SetTransaction { session: true, modes }));
    }
    if front.eat(&["transaction"]) {
        if front.is(0, "snapshot") {
            return Err(SqlError::unsupported("SET TRANSACTION SNAPSHOT"));
        }
        let modes = modes(front)?;
        return Ok(StatementKind::SetTransaction(SetTransaction { session: false, modes }));
    }
    if front.eat(&["constraints"]) {
        let names = if front.eat(&["all"]) { Vec::new() } else { front.list(Front::name)? };
        let deferred = front.eat(&["deferred"]);
        if !deferred {
            front.expect(&["immediate"])?;
        }
        return Ok(StatementKind::SetConstraints(SetConstraints { names, deferred }));
    }
    let local = front.eat(&["local"]);
    // SESSION may begin SESSION AUTHORIZATION.
    if !local && front.is(0, "session") && !front.is(1, "authorization") {
        front.advance();
    }
    let (name, values) = assignment(front)?;
    Ok(StatementKind::Set(Set { name, local, values }))
}

/// `SET ...` and `RESET ...` of what sessions begin with.
pub(super) fn setting_change(front: &mut Front<'_>) -> SqlResult<SettingChange> {
    if front.is(0, "reset") {
        let StatementKind::Reset(name) = reset(front)? else {
            return Err(SqlError::internal("RESET is something else"));
        };
        return Ok(name.map_or(SettingChange::ResetAll, SettingChange::Reset));
    }
    front.expect(&["set"])?;
    if front.is(1, "from") && front.is(2, "current") {
        let name = variable(front)?;
        front.expect(&["from", "current"])?;
        return Ok(SettingChange::FromCurrent(name));
    }
    let (name, values) = assignment(front)?;
    Ok(SettingChange::Set { name, values })
}

/// A variable's name, in lower case, and its values; `None` is `DEFAULT`.
fn assignment(front: &mut Front<'_>) -> SqlResult<(String, Option<Vec<String>>)> {
    Ok(if front.eat(&["time", "zone"]) {
        ("timezone".to_owned(), time_zone(front)?)
    } else if front.eat(&["session", "authorization"]) {
        ("session_authorization".to_owned(), values(front)?)
    } else if front.eat(&["role"]) {
        front.eat_token(&Token::Eq);
        ("role".to_owned(), values(front)?)
    } else if front.eat(&["names"]) {
        let values = if front.at_end() { None } else { values(front)? };
        ("client_encoding".to_owned(), values)
    } else if front.eat(&["schema"]) {
        ("search_path".to_owned(), values(front)?)
    } else {
        let name = variable(front)?;
        if !front.eat_token(&Token::Eq) {
            front.expect(&["to"])?;
        }
        (name, values(front)?)
    })
}

/// A variable's name, maybe dotted, in lower case.
fn variable(front: &mut Front<'_>) -> SqlResult<String> {
    let mut name = front.identifier()?.name.to_lowercase();
    while front.eat_token(&Token::Period) {
        name.push('.');
        name.push_str(&front.identifier()?.name.to_lowercase());
    }
    Ok(name)
}

fn values(front: &mut Front<'_>) -> SqlResult<Option<Vec<String>>> {
    if front.eat(&["default"]) {
        return Ok(None);
    }
    front.list(value).map(Some)
}

fn value(front: &mut Front<'_>) -> SqlResult<String> {
    match front.peek(0) {
        // `on` and `true` are reserved, and values.
        Token::Word(word) if word.quote_style.is_none() => front.word(),
        Token::Word(_) => Ok(front.identifier()?.name),
        _ if front.is_number() => front.number(),
        _ => front.string(),
    }
}

fn time_zone(front: &mut Front<'_>) -> SqlResult<Option<Vec<String>>> {
    if front.eat(&["local"]) {
        return Ok(None);
    }
    if front.eat(&["interval"]) {
        let offset = front.string()?;
        if front.eat(&["hour"]) {
            front.eat(&["to", "minute"]);
        }
        return Ok(Some(vec![offset]));
    }
    values(front)
}

pub(super) fn reset(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["reset"])?;
    if front.eat(&["all"]) {
        return Ok(StatementKind::Reset(None));
    }
    let name = if front.eat(&["time", "zone"]) {
        "timezone".to_owned()
    } else if front.eat(&["session", "authorization"]) {
        "session_authorization".to_owned()
    } else {
        variable(front)?
    };
    Ok(StatementKind::Reset(Some(name)))
}

pub(super) fn show(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["show"])?;
    if front.eat(&["all"]) {
        return Ok(StatementKind::Show(Show::All));
    }
    if front.eat(&["time", "zone"]) {
        return Ok(StatementKind::Show(Show::Variable("timezone".to_owned())));
    }
    if front.eat(&["session", "authorization"]) {
        return Ok(StatementKind::Show(Show::Variable("session_authorization".to_owned())));
    }
    if front.eat(&["transaction", "isolation", "level"]) {
        return Ok(StatementKind::Show(Show::Variable("transaction_isolation".to_owned())));
    }
    if front.eat(&["create"]) {
        let kind = other::object_kind(front)?;
        if matches!(kind, DropKind::Schema | DropKind::Database) {
            return Err(SqlError::unsupported("SHOW CREATE of a schema or a database"));
        }
        return Ok(StatementKind::Show(Show::Create { kind, name: front.name()? }));
    }
    if front.eat(&["columns"]) {
        if !front.eat(&["from"]) {
            front.expect(&["in"])?;
        }
        return Ok(StatementKind::Show(Show::Columns(front.name()?)));
    }
    let kinds: [(&[&str], ShowKind); 11] = [
        (&["tables"], ShowKind::Tables),
        (&["sources"], ShowKind::Sources),
        (&["materialized", "views"], ShowKind::MaterializedViews),
        (&["materialized", "view"], ShowKind::MaterializedViews),
        (&["views"], ShowKind::Views),
        (&["indexes"], ShowKind::Indexes),
        (&["sinks"], ShowKind::Sinks),
        (&["subscriptions"], ShowKind::Subscriptions),
        (&["schemas"], ShowKind::Schemas),
        (&["databases"], ShowKind::Databases),
        (&["jobs"], ShowKind::Jobs),
    ];
    for (words, kind) in kinds {
        if front.eat(words) {
            let schema = if front.eat(&["from"]) || front.eat(&["in"]) {
                Some(front.identifier()?.name)
            } else {
                None
            };
            return Ok(StatementKind::Show(Show::Objects { kind, schema }));
        }
    }
    Ok(StatementKind::Show(Show::Variable(variable(front)?)))
}

// --- Transactions ------------------------------------------------------------------------------

pub(super) fn transaction(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    match front.word()?.as_str() {
        "begin" => {
            work(front);
            Ok(StatementKind::Begin(modes(front)?))
        }
        "start" => {
            front.expect(&["transaction"])?;
            Ok(StatementKind::Begin(modes(front)?))
        }
        "commit" if front.is(0, "prepared") => Err(SqlError::unsupported("COMMIT PREPARED")),
        "commit" | "end" => {
            work(front);
            Ok(StatementKind::Commit { and_chain: and_chain(front)? })
        }
        "rollback" if front.is(0, "prepared") => Err(SqlError::unsupported("ROLLBACK PREPARED")),
        "rollback" | "abort" => {
            work(front);
            if front.eat(&["to"]) {
                front.eat(&["savepoint"]);
                return Ok(StatementKind::RollbackToSavepoint(front.identifier()?.name));
            }
            Ok(StatementKind::Rollback { and_chain: and_chain(front)? })
        }
        "savepoint" => Ok(StatementKind::Savepoint(front.identifier()?.name)),
        // Only RELEASE is left.
        _ => {
            front.eat(&["savepoint"]);
            Ok(StatementKind::ReleaseSavepoint(front.identifier()?.name))
        }
    }
}

fn work(front: &mut Front<'_>) {
    let _ = front.eat(&["work"]) || front.eat(&["transaction"]);
}

fn and_chain(front: &mut Front<'_>) -> SqlResult<bool> {
    if front.eat(&["and", "no", "chain"]) {
        return Ok(false);
    }
    Ok(front.eat(&["and", "chain"]))
}

fn modes(front: &mut Front<'_>) -> SqlResult<TransactionModes> {
    let mut modes = TransactionModes::default();
    while !front.at_end() {
        if front.eat(&["isolation", "level"]) {
            modes.isolation = Some(isolation(front)?);
        } else if front.eat(&["read", "only"]) {
            modes.read_only = Some(true);
        } else if front.eat(&["read", "write"]) {
            modes.read_only = Some(false);
        } else if front.eat(&["deferrable"]) {
            modes.deferrable = Some(true);
        } else if front.eat(&["not", "deferrable"]) {
            modes.deferrable = Some(false);
        } else {
            return Err(front.syntax_error());
        }
        front.eat_token(&Token::Comma);
    }
    Ok(modes)
}

fn isolation(front: &mut Front<'_>) -> SqlResult<Isolation> {
    let levels: [(&[&str], Isolation); 4] = [
        (&["read", "uncommitted"], Isolation::ReadUncommitted),
        (&["read", "committed"], Isolation::ReadCommitted),
        (&["repeatable", "read"], Isolation::RepeatableRead),
        (&["serializable"], Isolation::Serializable),
    ];
    for (words, level) in levels {
        if front.eat(words) {
            return Ok(level);
        }
    }
    Err(front.syntax_error())
}
