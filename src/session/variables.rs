//! One client's variables: from the default, over what came with the startup packet, over SET,
//! to SET LOCAL.
//!
//! SET inside a transaction is undone with it; SET LOCAL ends with it either way.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::identity::{IS_SUPERUSER, is_identity};
use super::notice::Severity;
use super::setting::{self, Kind, SETTINGS, Setting};
use crate::catalog::catalog::is_system_schema;
use crate::catalog::pg;
use crate::error::SqlResult;

type Values = BTreeMap<String, String>;

/// How long a SET lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Session,
    /// To the end of the transaction.
    Local,
}

/// A session's variables. Names are in any case; two-part names are the client's own.
#[derive(Debug)]
pub struct Variables {
    /// What RESET goes back to, where it differs from the built-in default.
    startup: Values,
    session: Values,
    local: Values,
    /// `session` as it was when the transaction began.
    before: Option<Values>,
    /// Counts changes, so that the wire knows when to look.
    changes: u64,
    /// What [`Variables::settings`] gave last, and `changes` then.
    shown: Option<(u64, Arc<BTreeMap<String, pg::Setting>>)>,
}

/// What SET had done at a savepoint.
#[derive(Debug)]
pub(super) struct Saved {
    session: Values,
    local: Values,
}

impl Variables {
    pub(super) fn new(user: &str, superuser: bool) -> Self {
        let superuser = if superuser { "on" } else { "off" };
        let startup = Values::from([
            ("session_authorization".to_owned(), user.to_owned()),
            (IS_SUPERUSER.to_owned(), superuser.to_owned()),
        ]);
        Self {
            startup,
            session: Values::new(),
            local: Values::new(),
            before: None,
            changes: 0,
            shown: None,
        }
    }

    /// A value from the startup packet: the session's default from now on.
    pub fn start_with(&mut self, name: &str, value: &str) -> SqlResult<()> {
        let (key, value) = accept(name, value)?;
        self.changes += 1;
        self.startup.insert(key, value);
        Ok(())
    }

    pub fn set(&mut self, name: &str, value: &str, scope: Scope) -> SqlResult<()> {
        let (key, value) = accept(name, value)?;
        let scope = if is_of_transaction(&key) { Scope::Local } else { scope };
        self.put(&key, &value, scope);
        Ok(())
    }

    /// Sets a variable to a value that it is known to take.
    pub(super) fn put(&mut self, key: &str, value: &str, scope: Scope) {
        self.changes += 1;
        match scope {
            Scope::Local => {
                self.local.insert(key.to_owned(), value.to_owned());
            }
            Scope::Session => {
                self.local.remove(key);
                self.session.insert(key.to_owned(), value.to_owned());
            }
        }
    }

    /// The value that the session began with, where that is not the default.
    pub(super) fn at_start(&self, key: &str) -> Option<&str> {
        self.startup.get(key).map(String::as_str)
    }

    /// RESET, and SET ... TO DEFAULT.
    pub fn reset(&mut self, name: &str, scope: Scope) -> SqlResult<()> {
        let value = match setting::find(name) {
            // What cannot be changed is at its default.
            Some(setting) if matches!(setting.kind, Kind::Fixed) => return Ok(()),
            Some(setting) if is_of_transaction(setting.name) => {
                self.changes += 1;
                self.local.remove(setting.name);
                return Ok(());
            }
            Some(setting) => self
                .startup
                .get(&setting.name.to_ascii_lowercase())
                .map_or(setting.default, String::as_str)
                .to_owned(),
            None if is_custom(name) => String::new(),
            None => return Err(setting::unrecognized(name)),
        };
        self.set(name, &value, scope)
    }

    /// RESET ALL: everything but who the client is.
    pub fn reset_all(&mut self) {
        self.changes += 1;
        self.session.retain(|key, _| is_identity(key));
        self.local.retain(|key, _| is_identity(key));
    }

    /// A value in its canonical form.
    pub fn get(&self, name: &str) -> Option<&str> {
        let key = name.to_ascii_lowercase();
        let set = self.local.get(&key).or_else(|| self.session.get(&key));
        match set.or_else(|| self.startup.get(&key)) {
            Some(value) => Some(value),
            None if is_of_transaction(&key) => self.get(&format!("default_{key}")),
            None => setting::find(name).map(|setting| setting.default),
        }
    }

    /// The variable's proper name and its value as SHOW writes it.
    pub fn show(&self, name: &str) -> SqlResult<(String, String)> {
        let value = self.get(name).ok_or_else(|| setting::unrecognized(name))?;
        Ok(match setting::find(name) {
            Some(setting) => (setting.name.to_owned(), setting.show(value)),
            None => (name.to_ascii_lowercase(), value.to_owned()),
        })
    }

    /// Name, value and description of every variable, by name.
    pub fn show_all(&self) -> Vec<(&'static str, String, &'static str)> {
        SETTINGS
            .iter()
            .map(|setting| (setting.name, setting.show(self.value(setting)), setting.description))
            .collect()
    }

    /// Every variable by its name in lower case, as `pg_settings` and `current_setting` show them.
    pub(super) fn settings(&mut self) -> Arc<BTreeMap<String, pg::Setting>> {
        match &self.shown {
            Some((changes, shown)) if *changes == self.changes => Arc::clone(shown),
            _ => {
                let shown = Arc::new(self.all_settings());
                self.shown = Some((self.changes, Arc::clone(&shown)));
                shown
            }
        }
    }

    fn all_settings(&self) -> BTreeMap<String, pg::Setting> {
        let custom = [&self.startup, &self.session, &self.local]
            .into_iter()
            .flat_map(|values| values.iter())
            .filter(|(name, _)| is_custom(name))
            .map(|(name, value)| {
                let setting = pg::Setting {
                    value: value.clone(),
                    name: name.clone(),
                    plain: value.clone(),
                    vartype: "string".to_owned(),
                    ..pg::Setting::default()
                };
                (name.clone(), setting)
            });
        let known = SETTINGS.iter().map(|setting| {
            let shown = pg::Setting {
                value: setting.show(self.value(setting)),
                default: setting.show(setting.default),
                description: setting.description.to_owned(),
                vartype: setting.type_name().to_owned(),
                name: setting.name.to_owned(),
                plain: self.value(setting).to_owned(),
                fixed: matches!(setting.kind, Kind::Fixed),
                unit: setting.unit().map(str::to_owned),
            };
            (setting.name.to_ascii_lowercase(), shown)
        });
        known.chain(custom).collect()
    }

    /// The variables whose values clients are told of.
    pub fn reported(&self) -> Vec<(&'static str, String)> {
        SETTINGS
            .iter()
            .filter(|setting| setting.reported)
            .map(|setting| (setting.name, setting.show(self.value(setting))))
            .collect()
    }

    /// Grows with each change.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// A transaction begins.
    pub(super) fn begin(&mut self) {
        self.before = Some(self.session.clone());
    }

    pub(super) fn commit(&mut self) {
        self.before = None;
        self.end_local();
    }

    pub(super) fn roll_back(&mut self) {
        if let Some(before) = self.before.take()
            && before != self.session
        {
            self.session = before;
            self.changes += 1;
        }
        self.end_local();
    }

    /// The values as they are, for a savepoint.
    pub(super) fn save(&self) -> Saved {
        Saved { session: self.session.clone(), local: self.local.clone() }
    }

    /// Goes back to a savepoint.
    pub(super) fn restore(&mut self, saved: &Saved) {
        if self.session != saved.session || self.local != saved.local {
            self.session.clone_from(&saved.session);
            self.local.clone_from(&saved.local);
            self.changes += 1;
        }
    }

    fn end_local(&mut self) {
        if !self.local.is_empty() {
            self.local.clear();
            self.changes += 1;
        }
    }

    fn value(&self, setting: &'static Setting) -> &str {
        self.get(setting.name).unwrap_or(setting.default)
    }

    fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or("")
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        self.text(name) == "on"
    }

    pub(super) fn timeout(&self, name: &str) -> Option<Duration> {
        setting::as_timeout(self.text(name))
    }

    /// The schemas that a name without one is looked up in.
    pub fn search_path(&self, user: &str) -> Vec<String> {
        split_path(self.text("search_path"))
            .into_iter()
            .filter_map(|schema| match schema.as_str() {
                // The system's own schema is called as the default user is, and is not that user's.
                "$user" => (!is_system_schema(user)).then(|| user.to_owned()),
                _ => Some(schema),
            })
            .collect()
    }

    /// Whether a write waits until it is durable.
    pub(super) fn waits_for_commit(&self) -> bool {
        self.text("synchronous_commit") != "off"
    }

    /// Whether a notice of this level is to be sent.
    pub(super) fn wants(&self, severity: Severity) -> bool {
        let least = match self.text("client_min_messages") {
            "log" => Severity::Log,
            "notice" => Severity::Notice,
            "warning" => Severity::Warning,
            "error" => Severity::Info,
            _ => Severity::Debug,
        };
        severity >= least
    }
}

pub(super) fn accept(name: &str, value: &str) -> SqlResult<(String, String)> {
    let key = name.to_ascii_lowercase();
    match setting::find(name) {
        Some(setting) => Ok((key, setting.accept(value)?)),
        None if is_custom(name) => Ok((key, value.to_owned())),
        None => Err(setting::unrecognized(name)),
    }
}

/// The modes of the current transaction: at first they are as their defaults say.
fn is_of_transaction(key: &str) -> bool {
    matches!(key, "transaction_isolation" | "transaction_read_only" | "transaction_deferrable")
}

/// `a.b`: a variable of the client's own.
pub(super) fn is_custom(name: &str) -> bool {
    name.split_once('.').is_some_and(|(class, rest)| !class.is_empty() && !rest.is_empty())
}

/// The elements of a path: identifiers, folded to lower case unless quoted.
fn split_path(path: &str) -> Vec<String> {
    let mut elements = Vec::new();
    let mut element = String::new();
    let mut quoted = false;
    let mut characters = path.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                element.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => elements.push(std::mem::take(&mut element)),
            c if !quoted && c.is_whitespace() => {}
            c if quoted => element.push(c),
            c => element.extend(c.to_lowercase()),
        }
    }
    elements.push(element);
    elements.retain(|element| !element.is_empty());
    elements
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::code;

    #[test]
    fn a_transaction_undoes_its_settings() {
        let mut variables = Variables::new("weir", true);
        variables.set("application_name", "a", Scope::Session).expect("set");
        variables.begin();
        variables.set("application_name", "b", Scope::Session).expect("set");
        variables.set("statement_timeout", "5s", Scope::Local).expect("set");
        assert_eq!(variables.get("application_name"), Some("b"));
        assert_eq!(variables.timeout("statement_timeout"), Some(Duration::from_secs(5)));
        let changes = variables.changes();
        variables.roll_back();
        assert!(variables.changes() > changes);
        assert_eq!(variables.get("application_name"), Some("a"));
        assert_eq!(variables.timeout("statement_timeout"), None);
    }

    #[test]
    fn the_modes_of_a_transaction_start_as_the_defaults_say() {
        let mut variables = Variables::new("weir", true);
        variables.set("default_transaction_read_only", "on", Scope::Session).expect("set");
        variables.begin();
        assert!(variables.is_on("transaction_read_only"));
        variables.set("transaction_read_only", "off", Scope::Session).expect("set");
        assert!(!variables.is_on("transaction_read_only"));
        variables.commit();
        assert!(variables.is_on("transaction_read_only"));
    }

    #[test]
    fn reset_goes_back_to_what_the_client_started_with() {
        let mut variables = Variables::new("weir", true);
        variables.start_with("timezone", "Asia/Tokyo").expect("start");
        variables.set("TimeZone", "Europe/Berlin", Scope::Session).expect("set");
        variables.reset("timezone", Scope::Session).expect("reset");
        assert_eq!(variables.show("timezone"), Ok(("TimeZone".into(), "Asia/Tokyo".into())));
    }

    #[test]
    fn names_have_one_part_that_is_known_or_two_that_are_the_clients() {
        let mut variables = Variables::new("weir", true);
        variables.set("My.Thing", "1", Scope::Session).expect("set");
        assert_eq!(variables.show("my.thing"), Ok(("my.thing".into(), "1".into())));
        let error = variables.set("no_such", "1", Scope::Session).unwrap_err();
        assert_eq!(error.code, code::UNDEFINED_OBJECT);
        assert_eq!(error.message, "unrecognized configuration parameter \"no_such\"");
        assert!(variables.show("no.such").is_err());
    }

    #[test]
    fn the_search_path_is_split_as_identifiers() {
        let mut variables = Variables::new("ann", false);
        assert_eq!(variables.search_path("ann"), ["ann", "public"]);
        variables.set("search_path", "A, \"B,\"\"c\"", Scope::Session).expect("set");
        assert_eq!(variables.search_path("ann"), ["a", "B,\"c"]);
    }
}
