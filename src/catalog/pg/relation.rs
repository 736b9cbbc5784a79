//! The shapes of the system relations: names, OIDs and columns, as PostgreSQL 15 has them.
//!
//! They are facts read from `data/relations.tsv`, one relation a line:
//! `schema, name, OID, relkind, columns`, a column being `name:type OID`, with `!` if never NULL.

use std::collections::HashMap;
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
    Some(Relation { schema, name, oid, kind, columns, blank })
}

fn read_column(text: &'static str) -> Option<RelationColumn> {
    let (name, rest) = text.split_once(':')?;
    let (oid, not_null) = rest.strip_suffix('!').map_or((rest, false), |oid| (oid, true));
    let type_oid = oid.parse().ok()?;
    Some(RelationColumn { name, type_oid, sql_type: shown_type(type_oid), not_null })
}

/// How Weir sends a type that it may not have.
pub(super) fn shown_type(type_oid: u32) -> SqlType {
    /// xid, cid.
    const COUNTERS: [u32; 2] = [28, 29];
    const ACL_ARRAY: u32 = 1034;
    match type_oid {
        ACL_ARRAY => SqlType::Array(Box::new(SqlType::Text)),
        counter if COUNTERS.contains(&counter) => SqlType::BigInt,
        other => SqlType::from_oid(other).unwrap_or(SqlType::Text),
    }
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
            SqlType::SmallInt | SqlType::Integer | SqlType::BigInt | SqlType::Oid => Value::Int(0),
            _ => Value::text(""),
        }
    }
}

/// The rows of a system relation in the making.
#[derive(Debug)]
pub struct Rows {
    relation: &'static Relation,
    rows: Vec<Row>,
}

impl Rows {
    pub fn new(relation: &'static Relation) -> Self {
        Self { relation, rows: Vec::new() }
    }

    /// Adds a row; columns that are not named keep their blank.
    pub fn push<const N: usize>(&mut self, values: [(&'static str, Value); N]) {
        let mut row = self.relation.blank.clone();
        for (name, value) in values {
            let position = self.relation.columns.iter().position(|column| column.name == name);
            debug_assert!(position.is_some(), "{} has no column {name}", self.relation.name);
            if let Some(slot) = position.and_then(|position| row.get_mut(position)) {
                *slot = value;
            }
        }
        self.rows.push(Arc::from(row));
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
