//! The shapes of the system relations: names, OIDs and columns, as PostgreSQL 15 has them.
//!
//! They are facts read from `data/relations.tsv`, one relation a line:
//! `schema, name, OID, relkind, columns, OIDs of the types of its rows and of arrays of them, s if
//! all databases share it, who may do what`; a column is `name:type OID`, a domain's with `/` and
//! its base type's, with `!` if never NULL, `~` if its texts are sorted as the database says.

use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, LazyLock};

use super::value::{Reg, Row, Value};
use crate::types::SqlType;

/// A system relation's shape.
#[derive(Debug)]
pub struct Relation {
    pub schema: &'static str,
    pub name: &'static str,
    pub oid: u32,
    /// `r` or `v`.
    pub kind: &'static str,
    pub columns: Vec<RelationColumn>,
    /// OIDs of the type of its rows, and of arrays of them.
    pub row_type: (u32, u32),
    /// Whether all databases share it.
    pub shared: bool,
    /// `pg_class.relacl`.
    pub acl: Option<&'static str>,
    /// A row in which nothing is said: NULLs, and zeros where there can be no NULL.
    blank: Vec<Value>,
}

/// A column of a system relation.
#[derive(Debug)]
pub struct RelationColumn {
    pub name: &'static str,
    pub type_oid: u32,
    /// The type as Weir sends it: one that Weir does not have (`pg_node_tree`) is text.
    pub sql_type: SqlType,
    pub not_null: bool,
    /// Whether its texts are sorted by their bytes, whatever the database does.
    pub by_bytes: bool,
}

static RELATIONS: LazyLock<Vec<Relation>> = LazyLock::new(|| {
    include_str!("data/relations.tsv").lines().filter_map(read_relation).collect()
});

static BY_NAME: LazyLock<HashMap<(&'static str, &'static str), &'static Relation>> =
    LazyLock::new(|| RELATIONS.iter().map(|one| ((one.schema, one.name), one)).collect());

/// All system relations, by schema and name.
pub fn relations() -> &'static [Relation] {
    &RELATIONS
}

/// The system relation of this name.
pub fn relation(schema: &str, name: &str) -> Option<&'static Relation> {
    BY_NAME.get(&(schema, name)).copied()
}

fn read_relation(line: &'static str) -> Option<Relation> {
    let mut fields = line.split('\t');
    let (schema, name) = (fields.next()?, fields.next()?);
    let (oid, kind) = (fields.next()?.parse().ok()?, fields.next()?);
    let columns: Vec<_> = fields.next()?.split(' ').filter_map(read_column).collect();
    let blank = columns.iter().map(RelationColumn::blank).collect();
    let row_type = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let shared = fields.next()? == "s";
    let acl = fields.next().filter(|acl| *acl != "\\N");
    Some(Relation { schema, name, oid, kind, columns, row_type, shared, acl, blank })
}

fn read_column(text: &'static str) -> Option<RelationColumn> {
    let (name, rest) = text.split_once(':')?;
    let (rest, by_bytes) = rest.strip_suffix('~').map_or((rest, true), |rest| (rest, false));
    let (rest, not_null) = rest.strip_suffix('!').map_or((rest, false), |rest| (rest, true));
    let (own, base) = rest.split_once('/').unwrap_or((rest, rest));
    let sql_type = SqlType::from_oid(base.parse().ok()?).unwrap_or(SqlType::Text);
    Some(RelationColumn { name, type_oid: own.parse().ok()?, sql_type, not_null, by_bytes })
}

impl RelationColumn {
    fn blank(&self) -> Value {
        if !self.not_null {
            return Value::Null;
        }
        match &self.sql_type {
            SqlType::Boolean => Value::Bool(false),
            SqlType::Real | SqlType::Double => Value::Float(0.0),
            SqlType::Regproc => Value::Reg(Reg::Proc, 0),
            SqlType::Array(_) | SqlType::Int2Vector | SqlType::OidVector => Value::list([]),
            SqlType::SmallInt
            | SqlType::Integer
            | SqlType::BigInt
            | SqlType::Oid
            | SqlType::Xid
            | SqlType::Cid => Value::Int(0),
            _ => Value::text(""),
        }
    }
}

/// An index of a system relation: facts from `data/indexes.tsv`.
#[derive(Debug)]
pub(super) struct SystemIndex {
    pub(super) name: &'static str,
    pub(super) oid: u32,
    pub(super) on: &'static Relation,
    pub(super) unique: bool,
    pub(super) primary: bool,
    /// `attnum`s.
    pub(super) keys: Vec<usize>,
    pub(super) collations: &'static str,
    pub(super) classes: &'static str,
    pub(super) options: &'static str,
    /// Its constraint's OID, 0 if it has none.
    pub(super) constraint: u32,
}

impl SystemIndex {
    /// The columns that it is ordered by.
    pub(super) fn columns(&self) -> impl Iterator<Item = &'static RelationColumn> {
        let columns = &self.on.columns;
        self.keys.iter().filter_map(|number| columns.get(number.checked_sub(1)?))
    }
}

static INDEXES: LazyLock<Vec<SystemIndex>> =
    LazyLock::new(|| include_str!("data/indexes.tsv").lines().filter_map(read_index).collect());

/// The indexes of all system relations.
pub(super) fn system_indexes() -> &'static [SystemIndex] {
    &INDEXES
}

fn read_index(line: &'static str) -> Option<SystemIndex> {
    let mut fields = line.split('\t');
    Some(SystemIndex {
        name: fields.next()?,
        oid: fields.next()?.parse().ok()?,
        on: relation("pg_catalog", fields.next()?)?,
        unique: fields.next()? == "t",
        primary: fields.next()? == "t",
        keys: fields.next()?.split(' ').filter_map(|number| number.parse().ok()).collect(),
        collations: fields.next()?,
        classes: fields.next()?,
        options: fields.next()?,
        constraint: fields.next()?.parse().ok()?,
    })
}

/// The rows of a system relation in the making.
#[derive(Debug)]
pub struct Rows {
    relation: &'static Relation,
    rows: Vec<Row>,
    /// Where the columns that the last row named are: the next one mostly names the same.
    places: Vec<(&'static str, usize)>,
}

impl Rows {
    pub fn new(relation: &'static Relation) -> Self {
        Self { relation, rows: Vec::new(), places: Vec::new() }
    }

    /// Adds a row; columns that are not named keep their blank.
    pub fn push<V>(&mut self, values: V)
    where
        V: AsRef<[(&'static str, Value)]> + IntoIterator<Item = (&'static str, Value)>,
    {
        let named = values.as_ref();
        let same = self.places.len() == named.len()
            && named.iter().zip(&self.places).all(|((name, _), (known, _))| ptr::eq(*name, *known));
        if !same {
            self.places = named.iter().filter_map(|(name, _)| self.place(name)).collect();
        }
        debug_assert_eq!(self.places.len(), named.len(), "{} lacks a column", self.relation.name);
        let mut row = self.relation.blank.clone();
        for ((_, value), (_, place)) in values.into_iter().zip(&self.places) {
            if let Some(slot) = row.get_mut(*place) {
                *slot = value;
            }
        }
        self.rows.push(Arc::from(row));
    }

    fn place(&self, name: &'static str) -> Option<(&'static str, usize)> {
        let place = self.relation.columns.iter().position(|column| column.name == name);
        debug_assert!(place.is_some(), "{} has no column {name}", self.relation.name);
        Some((name, place?))
    }

    /// Adds rows that are made already.
    pub(super) fn extend(&mut self, rows: &[Row]) {
        self.rows.extend(rows.iter().cloned());
    }

    /// Adds a whole row.
    pub(super) fn push_row(&mut self, row: Vec<Value>) {
        debug_assert_eq!(row.len(), self.relation.columns.len());
        self.rows.push(Arc::from(row));
    }

    pub fn relation(&self) -> &'static Relation {
        self.relation
    }

    pub(super) fn blank(&self) -> Vec<Value> {
        self.relation.blank.clone()
    }

    pub fn into_rows(self) -> Vec<Row> {
        self.rows
    }
}
