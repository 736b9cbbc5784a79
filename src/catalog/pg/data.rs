//! Rows that are the same in every database: types, their functions, access methods, casts.
//!
//! They are facts read from `data/rows.tsv` when first asked for. A relation starts with
//! `# name` and the columns that differ from row to row; the next line, `=`, has the columns that
//! are the same in all of them; then the rows. `\N` is NULL.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::relation::{Relation, Rows, relation};
use super::value::{Row, Value};

const TEXT: &str = include_str!("data/rows.tsv");

static ROWS: LazyLock<HashMap<&'static str, Vec<Row>>> =
    LazyLock::new(|| TEXT.split("# ").filter_map(|section| read_section(section)).collect());

/// The fixed rows of a relation of `pg_catalog`.
pub(super) fn fixed_rows(name: &str) -> &'static [Row] {
    ROWS.get(name).map_or(&[], Vec::as_slice)
}

fn read_section(section: &'static str) -> Option<(&'static str, Vec<Row>)> {
    let mut lines = section.lines();
    let (name, columns) = lines.next()?.split_once('\t')?;
    let relation = relation("pg_catalog", name)?;
    let columns: Vec<usize> = columns.split(' ').filter_map(|c| position(relation, c)).collect();
    let mut rows = Rows::new(relation);
    let mut same = rows.blank();
    for (column, text) in
        lines.next()?.split('\t').skip(1).filter_map(|constant| constant.split_once('='))
    {
        set(relation, &mut same, position(relation, column)?, text);
    }
    for line in lines {
        let mut row = same.clone();
        for (column, text) in columns.iter().zip(line.split('\t')) {
            set(relation, &mut row, *column, text);
        }
        rows.push_row(row);
    }
    Some((name, rows.into_rows()))
}

fn position(relation: &Relation, column: &str) -> Option<usize> {
    relation.columns.iter().position(|one| one.name == column)
}

fn set(relation: &Relation, row: &mut [Value], column: usize, text: &str) {
    let value = match text {
        "\\N" => Some(Value::Null),
        text => Value::parse(text, &relation.columns[column].sql_type),
    };
    debug_assert!(value.is_some(), "{}: {text}", relation.name);
    if let Some(value) = value {
        row[column] = value;
    }
}

/// What `pg_type` says of a type's layout.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) length: Value,
    pub(super) by_value: Value,
    pub(super) align: Value,
    pub(super) storage: Value,
    pub(super) collation: Value,
}

static LAYOUTS: LazyLock<HashMap<u32, Layout>> = LazyLock::new(|| {
    let Some(relation) = relation("pg_catalog", "pg_type") else { return HashMap::new() };
    let at = |row: &Row, name: &str| {
        position(relation, name).map_or(Value::Null, |column| row[column].clone())
    };
    fixed_rows("pg_type")
        .iter()
        .filter_map(|row| {
            let layout = Layout {
                length: at(row, "typlen"),
                by_value: at(row, "typbyval"),
                align: at(row, "typalign"),
                storage: at(row, "typstorage"),
                collation: at(row, "typcollation"),
            };
            Some((at(row, "oid").as_oid()?, layout))
        })
        .collect()
});

/// The layout of a fixed type.
pub(super) fn layout(type_oid: u32) -> Option<&'static Layout> {
    LAYOUTS.get(&type_oid)
}

/// A column of the fixed row of `name` whose `oid` is this.
pub(super) fn fixed_value(name: &str, oid: u32, column: &str) -> Option<Value> {
    let relation = relation("pg_catalog", name)?;
    let (key, column) = (position(relation, "oid")?, position(relation, column)?);
    let row = fixed_rows(name).iter().find(|row| row[key].as_oid() == Some(oid))?;
    Some(row[column].clone())
}

/// The OID of the first fixed row of `name` in which `column` has this text.
pub(super) fn fixed_oid(name: &str, column: &str, text: &str) -> Option<u32> {
    let relation = relation("pg_catalog", name)?;
    let (key, column) = (position(relation, "oid")?, position(relation, column)?);
    let row = fixed_rows(name)
        .iter()
        .find(|row| matches!(&row[column], Value::Text(found) if &**found == text))?;
    row[key].as_oid()
}

/// `pg_opclass.oid` by which a b-tree orders a type.
pub(super) fn default_operator_class(type_oid: u32) -> Option<u32> {
    /// varchar is indexed as text.
    const VARCHAR: u32 = 1043;
    const TEXT_TYPE: u32 = 25;
    let type_oid = if type_oid == VARCHAR { TEXT_TYPE } else { type_oid };
    let relation = relation("pg_catalog", "pg_opclass")?;
    let (key, input) = (position(relation, "oid")?, position(relation, "opcintype")?);
    let row = fixed_rows("pg_opclass").iter().find(|row| row[input].as_oid() == Some(type_oid))?;
    row[key].as_oid()
}
