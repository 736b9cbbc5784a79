//! Constraints of a table that no index enforces: what each row must say (CHECK), and what rows
//! refer to (FOREIGN KEY).
//!
//! A foreign key holds on to the table and the columns that it refers to, not to their names. It is
//! no reason for its table to go with the other one: DROP ... CASCADE takes the constraint alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::catalog::{Catalog, shortened};
use super::drop::quote_identifier;
use super::edit_columns::follow;
use super::object::{Object, ObjectKind, QualifiedName};
use crate::types::ObjectId;

/// The constraints of a table, by kind, in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Constraints {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKey>,
}

/// `CHECK (expression)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// `pg_constraint.oid`.
    pub id: ObjectId,
    pub name: String,
    /// Its SQL text, by the names that the table's columns have now.
    pub expression: String,
    /// The columns that it reads.
    pub columns: Vec<usize>,
    /// Whether rows that were there before it were looked at.
    pub validated: bool,
}

/// `FOREIGN KEY (columns) REFERENCES table (columns)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// `pg_constraint.oid`.
    pub id: ObjectId,
    pub name: String,
    pub columns: Vec<usize>,
    pub references: ObjectId,
    /// The columns that it refers to, one for each of `columns`.
    pub referenced: Vec<usize>,
    /// The index that makes them unique: the primary key's, or an object.
    pub key: ObjectId,
    pub on_delete: Action,
    pub on_update: Action,
    /// `MATCH FULL`: all of the columns are NULL, or none is.
    pub full: bool,
    pub checked: Checked,
    /// Whether rows that were there before it were looked at.
    pub validated: bool,
}

/// What becomes of rows when the row goes that they refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Action {
    #[default]
    NoAction,
    Restrict,
    Cascade,
    SetNull,
    SetDefault,
}

/// When a constraint is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Checked {
    /// At the end of each statement: NOT DEFERRABLE.
    #[default]
    Always,
    /// The same, unless a transaction says otherwise: DEFERRABLE.
    Immediately,
    /// At COMMIT, unless a transaction says otherwise: DEFERRABLE INITIALLY DEFERRED.
    Late,
}

impl Action {
    /// `pg_constraint.confdeltype`.
    pub fn letter(self) -> &'static str {
        match self {
            Action::NoAction => "a",
            Action::Restrict => "r",
            Action::Cascade => "c",
            Action::SetNull => "n",
            Action::SetDefault => "d",
        }
    }

    /// As SQL writes it.
    pub fn text(self) -> &'static str {
        match self {
            Action::NoAction => "NO ACTION",
            Action::Restrict => "RESTRICT",
            Action::Cascade => "CASCADE",
            Action::SetNull => "SET NULL",
            Action::SetDefault => "SET DEFAULT",
        }
    }

    /// Whether rows that refer to what goes are changed.
    pub fn follows(self) -> bool {
        !matches!(self, Action::NoAction | Action::Restrict)
    }
}

impl Checked {
    pub fn is_deferrable(self) -> bool {
        self != Checked::Always
    }

    /// Whether it is looked at when a transaction commits that says nothing of it.
    pub fn is_late(self) -> bool {
        self == Checked::Late
    }
}

impl Constraints {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Their OIDs.
    pub fn ids(&self) -> impl Iterator<Item = ObjectId> {
        let checks = self.checks.iter().map(|check| check.id);
        checks.chain(self.foreign_keys.iter().map(|key| key.id))
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let checks = self.checks.iter().map(|check| check.name.as_str());
        checks.chain(self.foreign_keys.iter().map(|key| key.name.as_str()))
    }

    /// The name of one of them, to be changed.
    pub fn name_mut(&mut self, name: &str) -> Option<&mut String> {
        let checks = self.checks.iter_mut().map(|check| &mut check.name);
        let mut names = checks.chain(self.foreign_keys.iter_mut().map(|key| &mut key.name));
        names.find(|found| *found == name)
    }

    /// When a column of the table goes: those of it go too, the others follow.
    pub(super) fn without_column(&mut self, column: usize) {
        self.checks.retain(|check| !check.columns.contains(&column));
        self.foreign_keys.retain(|key| !key.columns.contains(&column));
        let checks = self.checks.iter_mut().flat_map(|check| &mut check.columns);
        let keys = self.foreign_keys.iter_mut().flat_map(|key| &mut key.columns);
        checks.chain(keys).for_each(|own| follow(own, column));
    }

    /// The same for a column of `table`, to which some may refer.
    pub(super) fn without_referenced(&mut self, table: ObjectId, column: usize) {
        let keys = self.foreign_keys.iter_mut().filter(|key| key.references == table);
        keys.flat_map(|key| &mut key.referenced).for_each(|own| follow(own, column));
    }

    /// Without that of this name; whether there was one.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.checks.len() + self.foreign_keys.len();
        self.checks.retain(|check| check.name != name);
        self.foreign_keys.retain(|key| key.name != name);
        before != self.checks.len() + self.foreign_keys.len()
    }
}

impl ForeignKey {
    /// `FOREIGN KEY (a) REFERENCES p(id) ON DELETE CASCADE`, as PostgreSQL shows it. `table` is the
    /// name of the table that it refers to, as it is to be shown.
    pub fn text(&self, own: &Object, referenced: &Object, table: &str) -> String {
        let names = |object: &Object, columns: &[usize]| {
            let found = columns.iter().filter_map(|column| object.columns.get(*column));
            found.map(|column| quote_identifier(&column.name)).collect::<Vec<_>>().join(", ")
        };
        let mut text = format!(
            "FOREIGN KEY ({}) REFERENCES {table}({})",
            names(own, &self.columns),
            names(referenced, &self.referenced)
        );
        if self.full {
            text.push_str(" MATCH FULL");
        }
        for (event, action) in [("UPDATE", self.on_update), ("DELETE", self.on_delete)] {
            if action != Action::NoAction {
                text.push_str(&format!(" ON {event} {}", action.text()));
            }
        }
        text.push_str(match self.checked {
            Checked::Always => "",
            Checked::Immediately => " DEFERRABLE",
            Checked::Late => " DEFERRABLE INITIALLY DEFERRED",
        });
        if !self.validated {
            text.push_str(" NOT VALID");
        }
        text
    }
}

impl Check {
    /// `CHECK ((a > 0))`, as PostgreSQL shows it, or `CHECK (a > 0)` if it is to be `pretty`.
    pub fn text(&self, pretty: bool) -> String {
        let valid = if self.validated { "" } else { " NOT VALID" };
        match pretty {
            true => format!("CHECK ({}){valid}", self.expression.trim()),
            false => format!("CHECK ({}){valid}", self.shown()),
        }
    }

    /// The expression, in parentheses unless it is one name or call.
    pub fn shown(&self) -> String {
        let text = self.expression.trim();
        if is_one(text) { text.to_owned() } else { format!("({text})") }
    }
}

/// Whether a text needs no parentheses around it: a name, a call, or in parentheses already.
fn is_one(text: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '"');
    let rest = text.trim_start_matches(word);
    if rest.is_empty() {
        return true;
    }
    if !rest.starts_with('(') || text[..text.len() - rest.len()].eq_ignore_ascii_case("not") {
        return false;
    }
    let (mut depth, mut quoted) = (0, None);
    for (place, c) in rest.char_indices() {
        match (quoted, c) {
            (Some(mark), c) if mark == c => quoted = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quoted = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => {
                depth -= 1;
                if depth == 0 {
                    return place + 1 == rest.len();
                }
            }
            (None, _) => {}
        }
    }
    false
}

impl Object {
    /// Its constraints, if it is a table.
    pub fn constraints(&self) -> Option<&Constraints> {
        match &self.kind {
            ObjectKind::Table(table) => Some(&table.constraints),
            _ => None,
        }
    }

    pub fn constraints_mut(&mut self) -> Option<&mut Constraints> {
        match &mut self.kind {
            ObjectKind::Table(table) => Some(&mut table.constraints),
            _ => None,
        }
    }

    /// What its rows refer to.
    pub fn foreign_keys(&self) -> &[ForeignKey] {
        self.constraints().map_or(&[], |constraints| &constraints.foreign_keys)
    }

    /// What each of its rows must say.
    pub fn checks(&self) -> &[Check] {
        self.constraints().map_or(&[], |constraints| &constraints.checks)
    }
}

impl Catalog {
    /// The foreign keys that refer to a table, each with the table that has it.
    pub fn referring(&self, to: ObjectId) -> impl Iterator<Item = (&Arc<Object>, &ForeignKey)> {
        self.objects().flat_map(move |object| {
            let keys = object.foreign_keys().iter().filter(move |key| key.references == to);
            keys.map(move |key| (object, key))
        })
    }

    /// Whether a table has a constraint of this name, of whatever kind.
    pub fn has_constraint(&self, table: &Object, name: &str) -> bool {
        let own = match &table.kind {
            ObjectKind::Table(kind) => {
                kind.primary_key_name.as_deref() == Some(name)
                    || kind.constraints.names().any(|own| own == name)
            }
            _ => false,
        };
        let is_key = |index: &Arc<Object>| {
            index.name.name == name && index.index().is_some_and(|one| one.constraint.is_some())
        };
        own || self.indexes(table.id).any(is_key)
    }

    /// `t_a_check` for a check of column `a`, `t_check` for one of several, with a number if that
    /// is taken by another constraint of the schema.
    pub fn check_name(&self, table: &Object, column: Option<&str>) -> String {
        self.free_constraint_name(table, column.unwrap_or_default(), "check")
    }

    /// `t_a_b_fkey` for a foreign key of columns `a` and `b`.
    pub fn foreign_key_name(&self, table: &Object, columns: &[&str]) -> String {
        self.free_constraint_name(table, &columns.join("_"), "fkey")
    }

    fn free_constraint_name(&self, table: &Object, middle: &str, label: &str) -> String {
        let schema = &table.name.schema;
        let beside = self.objects().filter(|object| object.name.schema == *schema);
        let names = beside.flat_map(|object| object.constraints());
        let taken: BTreeSet<&str> = names.flat_map(Constraints::names).collect();
        let is_taken = |name: &str| {
            taken.contains(name) || self.has_key_named(&QualifiedName::new(schema, name))
        };
        std::iter::once(label.to_owned())
            .chain((1..).map(|n| format!("{label}{n}")))
            .map(|label| shortened(&table.name.name, middle, &label))
            .find(|name| !is_taken(name))
            .expect("there are more numbers than names")
    }

    /// Whether a name is that of a key's constraint.
    fn has_key_named(&self, name: &QualifiedName) -> bool {
        self.names.get(name).is_some_and(|named| match named {
            super::catalog::Named::PrimaryKeyOf(_) => true,
            super::catalog::Named::Object(id) => {
                let index = self.object(*id).and_then(|object| object.index());
                index.is_some_and(|index| index.constraint.is_some())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_gets_the_parentheses_that_it_lacks() {
        let shown = |text: &str| {
            let (id, columns) = (ObjectId(1), Vec::new());
            let expression = text.to_owned();
            Check { id, name: "c".to_owned(), expression, columns, validated: true }.text(false)
        };
        assert_eq!(shown("a > 0"), "CHECK ((a > 0))");
        assert_eq!(shown("(a > 0)"), "CHECK ((a > 0))");
        assert_eq!(shown("f(a, ')')"), "CHECK (f(a, ')'))");
        assert_eq!(shown("(a) > (b)"), "CHECK (((a) > (b)))");
        assert_eq!(shown("f(a) > g(b)"), "CHECK ((f(a) > g(b)))");
        assert_eq!(shown("not (a)"), "CHECK ((not (a)))");
        assert_eq!(shown("\"A\""), "CHECK (\"A\")");
    }

    /// The bytes on disk: a change here is a new format, and needs code that reads the old one.
    #[test]
    fn constraints_lie_on_disk_like_this() {
        let check = Check {
            id: ObjectId(16390),
            name: "t_a_check".to_owned(),
            expression: "a > 0".to_owned(),
            columns: vec![0],
            validated: true,
        };
        let key = ForeignKey {
            id: ObjectId(16391),
            name: "t_b_fkey".to_owned(),
            columns: vec![1],
            references: ObjectId(16384),
            referenced: vec![0],
            key: ObjectId(16387),
            on_delete: Action::SetNull,
            on_update: Action::NoAction,
            full: false,
            checked: Checked::Late,
            validated: true,
        };
        let constraints = Constraints { checks: vec![check], foreign_keys: vec![key] };
        let json = serde_json::to_string(&constraints).expect("plain data");
        expect_test::expect![[r#"
            {"checks":[{"id":16390,"name":"t_a_check","expression":"a > 0","columns":[0],"validated":true}],"foreign_keys":[{"id":16391,"name":"t_b_fkey","columns":[1],"references":16384,"referenced":[0],"key":16387,"on_delete":"SetNull","on_update":"NoAction","full":false,"checked":"Late","validated":true}]}
        "#]]
        .assert_eq(&format!("{json}\n"));
        assert_eq!(serde_json::from_str::<Constraints>(&json).expect("read again"), constraints);
    }
}
