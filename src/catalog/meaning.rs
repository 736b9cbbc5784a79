//! What a definition's text means: which objects its names are, and what their columns are called.
//!
//! A view, a sink's query, a function in SQL hold on to objects, not to names. The text stays as it
//! was written for ever, and so does its plan, by whose shape a job finds its state on disk; beside
//! it stands what each of its names meant when it was written:
//!
//! ```text
//!  SELECT a FROM t          written
//!  t = object 16384, whose columns are called (id, a)
//!  SELECT a FROM t_old AS t(id, a)      shown, after t became t_old and its a became b
//! ```
//!
//! So renaming changes no plan, and neither does a new relation that the search path would find
//! first; nor do columns that a table gets or loses (`stored`): the text knows those that it had.
//! What is shown means the same, and says it by today's names.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::object::{Object, ObjectKind, is_zero};
use crate::types::ObjectId;

/// What a definition's text means, and how it reads today.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Meaning {
    /// What the text's names of relations mean. Empty: as the search path says, which is how
    /// definitions were stored at first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<Meant>,
    /// What the query's columns were called when it was planned first; empty: as they are called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called: Vec<String>,
    /// The text by today's names, where that is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<String>,
}

/// What one name means.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Meant {
    /// The schema, if the text says one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    pub name: String,
    pub object: ObjectId,
    /// What the text calls the relation's columns; empty: as they are called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// Where a table has those columns; empty: one after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<usize>,
    /// How many places of a table's rows it knows; 0: those that the first rows had.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub width: usize,
    /// Places of columns that may be NULL for it, whatever was said of them later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nullable: Vec<usize>,
}

impl Meaning {
    /// Whether the text means what it says.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Has the text go on to call the columns of `object` as they are called now.
    pub fn hold_columns(&mut self, object: &Object) {
        for meant in self.names.iter_mut().filter(|meant| meant.object == object.id) {
            if meant.columns.is_empty() {
                meant.columns = names_of_columns(object);
                if let Some(shape) = object.shape() {
                    meant.places = object.places();
                    meant.width = shape.places.len();
                }
            }
        }
    }

    /// Has the text go on to take what lies at `place` of `object` for something that may be NULL.
    pub fn hold_nullable(&mut self, object: &Object, place: usize) {
        for meant in self.names.iter_mut().filter(|meant| meant.object == object.id) {
            if !meant.nullable.contains(&place) {
                meant.nullable.push(place);
            }
        }
    }
}

impl Meant {
    /// The object as the text knows it.
    pub fn known(&self, object: &Arc<Object>) -> Arc<Object> {
        if self.columns.is_empty() {
            return match self.nullable.is_empty() {
                true => Arc::clone(object),
                false => Arc::new(self.as_nullable(Object::clone(object))),
            };
        }
        let Some(shape) = object.shape() else {
            return Arc::new(self.as_nullable(under_names(object, &self.columns)));
        };
        let width = if self.width == 0 { shape.base } else { self.width };
        let known = object.known_by(&self.known_places(), width);
        Arc::new(self.as_nullable(under_names(&known, &self.columns)))
    }

    /// Where the columns lie that the text has names for.
    pub fn known_places(&self) -> Vec<usize> {
        match self.places.is_empty() {
            true => (0..self.columns.len()).collect(),
            false => self.places.clone(),
        }
    }

    fn as_nullable(&self, mut object: Object) -> Object {
        for column in 0..object.columns.len() {
            if self.nullable.contains(&object.place(column)) {
                object.columns[column].not_null = false;
            }
        }
        object
    }
}

/// An object whose columns are called otherwise.
pub fn under_names(object: &Object, names: &[String]) -> Object {
    let mut known = object.clone();
    for (column, name) in known.columns.iter_mut().zip(names) {
        column.name.clone_from(name);
    }
    known
}

/// What the columns of an object are called.
pub(super) fn names_of_columns(object: &Object) -> Vec<String> {
    object.columns.iter().map(|column| column.name.clone()).collect()
}

impl Object {
    /// What the text of its query means, if it has one.
    pub fn meaning(&self) -> Option<&Meaning> {
        match &self.kind {
            ObjectKind::View(view) => Some(&view.meaning),
            _ => self.kept_query().map(|query| &query.meaning),
        }
    }

    pub fn meaning_mut(&mut self) -> Option<&mut Meaning> {
        match &mut self.kind {
            ObjectKind::View(view) => Some(&mut view.meaning),
            ObjectKind::MaterializedView(view) => Some(&mut view.meaning),
            ObjectKind::Sink(sink) => sink.query.as_mut().map(|query| &mut query.meaning),
            _ => None,
        }
    }

    /// The text of its query as it was written, and where its names were looked for.
    pub fn written(&self) -> Option<(&str, &[String])> {
        match &self.kind {
            ObjectKind::View(view) => Some((&view.query, &view.search_path)),
            _ => self.kept_query().map(|query| (query.query.as_str(), &query.search_path[..])),
        }
    }

    /// The text of its query by today's names.
    pub fn shown_query(&self) -> Option<&str> {
        let (written, _) = self.written()?;
        Some(self.meaning().and_then(|meaning| meaning.shown.as_deref()).unwrap_or(written))
    }
}

#[cfg(test)]
mod tests {
    use super::super::object::QualifiedName;
    use super::super::testing::catalog_of;
    use super::*;

    #[test]
    fn a_text_goes_on_to_call_columns_as_it_did() {
        let catalog = catalog_of(&[("t", &[])]);
        let table = catalog.object_named(&QualifiedName::new("public", "t")).unwrap();
        let meant = Meant { name: "t".to_owned(), object: table.id, ..Meant::default() };
        let mut meaning = Meaning { names: vec![meant], ..Meaning::default() };
        assert!(Arc::ptr_eq(&meaning.names[0].known(table), table));
        meaning.hold_columns(table);
        let renamed = Arc::new(under_names(table, &["key".to_owned()]));
        meaning.hold_columns(&renamed);
        let known = meaning.names[0].known(&renamed);
        assert_eq!(known.columns, table.columns);
    }

    /// The bytes on disk: a change here is a new format, and needs code that reads the old one.
    #[test]
    fn a_meaning_lies_on_disk_like_this() {
        let meant = Meant {
            schema: Some("s".to_owned()),
            name: "t".to_owned(),
            object: ObjectId(16384),
            columns: vec!["a".to_owned()],
            ..Meant::default()
        };
        let meaning = Meaning {
            names: vec![meant],
            called: vec!["x".to_owned()],
            shown: Some("SELECT 1".to_owned()),
        };
        let json = serde_json::to_string(&meaning).unwrap();
        expect_test::expect![[r#"
            {"names":[{"schema":"s","name":"t","object":16384,"columns":["a"]}],"called":["x"],"shown":"SELECT 1"}
        "#]]
        .assert_eq(&format!("{json}\n"));
        assert_eq!(serde_json::from_str::<Meaning>(&json).unwrap(), meaning);
        assert_eq!(serde_json::to_string(&Meaning::default()).unwrap(), "{}");
    }
}
