//! Catalog objects: plain, durable data (JSON in the store's metadata, one entry an object).

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use serde::{Deserialize, Serialize};

use super::constraint::Constraints;
use super::meaning::Meaning;
use super::privilege::{Acl, Privileges};
use super::sequence::Sequence;
use super::stored::Shape;
use crate::error::{SqlError, SqlResult, code};
use crate::types::text::TextStyle;
use crate::types::{ObjectId, SqlType};

/// `schema.name`, resolved and case-folded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QualifiedName {
    pub schema: String,
    pub name: String,
}

impl QualifiedName {
    pub fn new(schema: impl Into<String>, name: impl Into<String>) -> Self {
        Self { schema: schema.into(), name: name.into() }
    }
}

/// A named thing in a schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// OID: `pg_class.oid`. Never reused.
    pub id: ObjectId,
    pub name: QualifiedName,
    pub kind: ObjectKind,
    /// What the relation shows, in order. A table without a primary key stores its hidden row id
    /// after these.
    pub columns: Vec<Column>,
    /// The statement that made it, as the user wrote it, or as it reads since something was
    /// renamed.
    pub definition: String,
    /// Objects that must exist for this one to.
    pub depends_on: Vec<ObjectId>,
    pub comment: Option<String>,
    /// OIDs of the row type and of its array type (`pg_class.reltype`); 0 where it has none.
    pub row_type: ObjectId,
    pub row_array_type: ObjectId,
    /// Who owns it.
    pub owner: String,
    /// Who may do what with it; `None`: nothing was granted or revoked yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acl: Option<Acl>,
}

/// A column of a relation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    pub sql_type: SqlType,
    pub not_null: bool,
    /// The default's SQL text.
    pub default: Option<String>,
    /// The expression over the row's other columns that it is computed by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<String>,
    /// The sequence that it gets its numbers from, if it is an identity column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    pub comment: Option<String>,
    /// A numeric of a view whose precision and scale nobody declared: catalogs show it without.
    #[serde(default, skip_serializing_if = "is_false")]
    pub computed: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's way")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's way")]
pub(super) fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// What numbers an identity column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// GENERATED ALWAYS: a statement that gives a number must say that it overrides.
    pub always: bool,
    pub sequence: ObjectId,
}

/// What kind of object, and what only that kind has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ObjectKind {
    Table(Table),
    Source(Source),
    View(View),
    MaterializedView(MaterializedView),
    Index(Index),
    Sink(Sink),
    Subscription(Subscription),
    Sequence(Sequence),
}

/// A table: rows that DML or a connector writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Column indexes of the primary key; empty without one.
    pub primary_key: Vec<usize>,
    /// The primary key's constraint and index name and OIDs, if there is a key.
    pub primary_key_name: Option<String>,
    pub primary_key_index: Option<ObjectId>,
    pub primary_key_constraint: Option<ObjectId>,
    pub append_only: bool,
    /// Where its rows come from, besides DML.
    pub connector: Option<Connector>,
    /// What its rows must keep to that no index enforces.
    #[serde(default, skip_serializing_if = "Constraints::is_empty")]
    pub constraints: Constraints,
    /// What its rows have had; none: its columns, and the row id behind them where there is no
    /// primary key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Box<Shape>>,
}

/// A stream that is read, not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub connector: Connector,
}

/// `WITH (...) FORMAT ... ENCODE ... (...)`, names in lower case, values as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connector {
    /// `nexmark`, `datagen`, `file`, ...
    pub name: String,
    /// The other options of WITH.
    pub options: std::collections::BTreeMap<String, String>,
    /// `plain`, `upsert`, `debezium`.
    pub format: Option<String>,
    /// `json`, `csv`, ...
    pub encode: Option<String>,
    pub encode_options: std::collections::BTreeMap<String, String>,
}

/// A view: its query's text, expanded where it is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    pub query: String,
    /// How the query's names are meant: as when the view was made.
    pub search_path: Vec<String>,
    #[serde(default, skip_serializing_if = "Meaning::is_plain")]
    pub meaning: Meaning,
}

/// A view whose rows are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaterializedView {
    pub query: String,
    /// How the query's names are meant: as when the view was made.
    pub search_path: Vec<String>,
    #[serde(default, skip_serializing_if = "Meaning::is_plain")]
    pub meaning: Meaning,
    /// How its values are written and read where they are texts, and the time zone of its dates:
    /// as when the view was made.
    #[serde(default)]
    pub style: TextStyle,
    /// Output columns that identify a row, if the planner knows some; empty: rows are a multiset.
    pub key: Vec<usize>,
    /// Output columns by whose hash its rows are spread over vnodes.
    pub distribution: Vec<usize>,
    pub append_only: bool,
    pub parallelism: usize,
    /// What a failing row does: `null` (default) or `fail`.
    pub on_error: OnError,
}

/// An index: the rows of a table or of a materialized view, kept under another key. It has all of
/// their columns, those that it is ordered by first; `Object::columns` are in that order too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// The table or materialized view.
    pub on: ObjectId,
    /// What it is ordered by.
    pub keys: Vec<IndexKey>,
    /// Whether no two rows of its table may have the same values of the keys, NULLs apart.
    pub unique: bool,
    /// Whether NULLs are like other values: no two rows may have them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub nulls_not_distinct: bool,
    /// The constraint that it enforces, if it was made for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraint: Option<IndexConstraint>,
    /// Columns of INCLUDE, by their index in the indexed object.
    pub included: Vec<usize>,
    /// For each stored column, which of the indexed object's stored columns it is.
    pub order: Vec<usize>,
    /// How many stored columns that object had when the index was made; 0: those in `order`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub width: usize,
    /// Stored columns that identify a row; empty: rows are a multiset.
    pub key: Vec<usize>,
    pub append_only: bool,
    pub parallelism: usize,
}

/// A constraint that an index enforces, and which has its name. A primary key that came with its
/// table is not one: rows are stored by that. One that was added is UNIQUE and NOT NULL by its
/// index and its columns; rows are told apart as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexConstraint {
    /// `pg_constraint.oid`.
    pub id: ObjectId,
    /// PRIMARY KEY, or else UNIQUE.
    pub primary: bool,
}

/// A column that an index is ordered by. The direction is what the statement says: the rows lie in
/// ascending order, NULLs last, whatever it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexKey {
    /// By its index in the indexed object.
    pub column: usize,
    pub descending: bool,
    pub nulls_first: bool,
}

/// A sink into a table: what changes in a table or a materialized view, or in the result of a query
/// of its own, is written into another table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sink {
    /// The query whose rows it takes: it keeps them itself, as a materialized view does.
    pub query: Option<MaterializedView>,
    /// Whose changes it reads: a table, a materialized view, or itself where it has a query.
    pub from: ObjectId,
    /// The table that it writes.
    pub into: ObjectId,
    /// For each of its columns, which of the table's it fills.
    pub columns: Vec<usize>,
    /// For each of its columns, which stored one of what it reads it is; empty: one after the
    /// other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<usize>,
    /// Its name among those who read changelogs: an OID of nothing else.
    pub reader: ObjectId,
    /// Whether the rows that are there when it is made are written too.
    pub snapshot: bool,
    /// Whether it only inserts: rows that go away stay in the table.
    pub append_only: bool,
}

/// A subscription: the changes of a table or a materialized view, kept for a time, so that who was
/// away can read them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// What it keeps the changes of.
    pub from: ObjectId,
    /// For how long: milliseconds.
    pub retention_ms: u64,
}

/// What an expression that fails on a row does to a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnError {
    /// The value is NULL and `weir.errors` has an entry.
    Null,
    /// Reading the view raises the error for as long as the row is there.
    Fail,
}

/// The hidden column that identifies the rows of a table without a primary key.
pub const ROW_ID: &str = "_weir_row_id";

impl Object {
    /// The visible columns as Arrow fields.
    pub fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(
            self.columns
                .iter()
                .map(|column| column.sql_type.field(&column.name, !column.not_null))
                .collect::<Vec<_>>(),
        ))
    }

    /// Stored columns that identify a row; empty where rows are a multiset.
    pub fn key(&self) -> Vec<usize> {
        match &self.kind {
            ObjectKind::Table(table) => match self.row_id_place() {
                Some(place) => vec![place],
                None => table.primary_key.iter().map(|column| self.place(*column)).collect(),
            },
            ObjectKind::MaterializedView(view) => view.key.clone(),
            ObjectKind::Index(index) => index.key.clone(),
            ObjectKind::Sink(sink) => sink.query.as_ref().map_or(Vec::new(), |q| q.key.clone()),
            ObjectKind::Source(_)
            | ObjectKind::View(_)
            | ObjectKind::Subscription(_)
            | ObjectKind::Sequence(_) => Vec::new(),
        }
    }

    /// Stored columns by whose hash the rows are spread over vnodes.
    pub fn distribution(&self) -> Vec<usize> {
        match &self.kind {
            ObjectKind::MaterializedView(view) => view.distribution.clone(),
            // So that a search for one value of the first column looks into one share.
            ObjectKind::Index(_) => vec![0],
            ObjectKind::Sink(sink) => {
                sink.query.as_ref().map_or(Vec::new(), |query| query.distribution.clone())
            }
            _ => self.key(),
        }
    }

    /// Whether rows are never taken away or changed.
    pub fn append_only(&self) -> bool {
        match &self.kind {
            ObjectKind::Table(table) => table.append_only,
            ObjectKind::Source(_) => true,
            ObjectKind::MaterializedView(view) => view.append_only,
            ObjectKind::Index(index) => index.append_only,
            ObjectKind::Sink(sink) => sink.query.as_ref().is_some_and(|query| query.append_only),
            ObjectKind::View(_) | ObjectKind::Subscription(_) | ObjectKind::Sequence(_) => false,
        }
    }

    /// `pg_class.relkind`: `r`, `v`, `m`, `i`, `S`; a source is a foreign table, `f`; a sink and
    /// a subscription are no relations, and not in `pg_class`.
    pub fn relkind(&self) -> char {
        match self.kind {
            ObjectKind::Table(_) => 'r',
            ObjectKind::Source(_) => 'f',
            ObjectKind::View(_) => 'v',
            ObjectKind::MaterializedView(_) => 'm',
            ObjectKind::Index(_) => 'i',
            ObjectKind::Sequence(_) => 'S',
            ObjectKind::Sink(_) | ObjectKind::Subscription(_) => ' ',
        }
    }

    /// What messages call it: `table`, `view`, `materialized view`, `source`, `index`,
    /// `sink`, `subscription`, `sequence`.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            ObjectKind::Table(_) => "table",
            ObjectKind::Source(_) => "source",
            ObjectKind::View(_) => "view",
            ObjectKind::MaterializedView(_) => "materialized view",
            ObjectKind::Index(_) => "index",
            ObjectKind::Sink(_) => "sink",
            ObjectKind::Subscription(_) => "subscription",
            ObjectKind::Sequence(_) => "sequence",
        }
    }

    /// Refuses what has rows, but no relation's.
    pub fn check_readable(&self) -> SqlResult<()> {
        match self.kind {
            ObjectKind::Index(_) | ObjectKind::Sink(_) | ObjectKind::Subscription(_) => {
                let article = if self.index().is_some() { "an" } else { "a" };
                let message = format!("\"{}\" is {article} {}", self.name.name, self.kind_name());
                Err(SqlError::new(code::WRONG_OBJECT_TYPE, message))
            }
            _ => Ok(()),
        }
    }

    /// What it is if it is a sink.
    pub fn sink(&self) -> Option<&Sink> {
        match &self.kind {
            ObjectKind::Sink(sink) => Some(sink),
            _ => None,
        }
    }

    /// What it is if it is a subscription.
    pub fn subscription(&self) -> Option<&Subscription> {
        match &self.kind {
            ObjectKind::Subscription(subscription) => Some(subscription),
            _ => None,
        }
    }

    /// Whether clients know it as a relation: as what `pg_class` has.
    pub fn is_relation(&self) -> bool {
        !matches!(self.kind, ObjectKind::Sink(_) | ObjectKind::Subscription(_))
    }

    /// The query whose rows it keeps, if it keeps some.
    pub fn kept_query(&self) -> Option<&MaterializedView> {
        match &self.kind {
            ObjectKind::MaterializedView(view) => Some(view),
            ObjectKind::Sink(sink) => sink.query.as_ref(),
            _ => None,
        }
    }

    /// What it is if it is a sequence.
    pub fn sequence(&self) -> Option<&Sequence> {
        match &self.kind {
            ObjectKind::Sequence(sequence) => Some(sequence),
            _ => None,
        }
    }

    /// All privileges that there are on it.
    pub fn all_privileges(&self) -> Privileges {
        match self.kind {
            ObjectKind::Sequence(_) => Privileges::OF_SEQUENCE,
            _ => Privileges::OF_RELATION,
        }
    }

    /// What it is if it is an index.
    pub fn index(&self) -> Option<&Index> {
        match &self.kind {
            ObjectKind::Index(index) => Some(index),
            _ => None,
        }
    }
}
