//! SET and RESET.

use super::notice::Notice;
use super::outcome::Outcome;
use super::session::Session;
use super::variables::Scope;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::Set;

impl Session {
    pub(super) fn set(&mut self, set: &Set) -> SqlResult<Outcome> {
        let name = proper_name(&set.name);
        let scope = if set.local { Scope::Local } else { Scope::Session };
        if set.local && !self.block.is_open() {
            self.notify(Notice::warning(
                code::NO_ACTIVE_SQL_TRANSACTION,
                "SET LOCAL can only be used in transaction blocks",
            ));
        }
        match &set.values {
            None => self.reassign(name, scope)?,
            Some(values) => {
                let value = value_of(name, values)?;
                self.assign(name, &value, scope)?;
            }
        }
        Ok(Outcome::Command("SET".to_owned()))
    }

    /// RESET; `None` is ALL.
    pub(super) fn reset(&mut self, name: Option<&str>) -> SqlResult<Outcome> {
        match name {
            Some(name) => self.reassign(proper_name(name), Scope::Session)?,
            None => self.variables.reset_all(),
        }
        Ok(Outcome::Command("RESET".to_owned()))
    }
}

/// Names that the grammar writes otherwise.
pub(super) fn proper_name(name: &str) -> &str {
    match name.to_ascii_lowercase().as_str() {
        "names" => "client_encoding",
        "time zone" | "time_zone" => "timezone",
        "session authorization" => "session_authorization",
        "transaction isolation level" => "transaction_isolation",
        _ => name,
    }
}

/// The list of a SET as one value. A path keeps its elements apart.
pub(super) fn value_of(name: &str, values: &[String]) -> SqlResult<String> {
    if name.eq_ignore_ascii_case("search_path") {
        return Ok(values.iter().map(|value| quoted(value)).collect::<Vec<_>>().join(", "));
    }
    match values {
        [one] => Ok(one.clone()),
        several if name.eq_ignore_ascii_case("datestyle") => Ok(several.join(", ")),
        _ => Err(SqlError::new(
            code::INVALID_PARAMETER_VALUE,
            format!("SET {name} takes only one argument"),
        )),
    }
}

/// An identifier as it must be written.
pub(super) fn quoted(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain && !crate::catalog::pg::is_reserved_word(name) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}
