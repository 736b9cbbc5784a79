//! Rows that are the same in every database: types, functions, operators, access methods, casts,
//! what PostgreSQL says of them.
//!
//! They are facts (`scripts/catalog_facts.py` writes them) read from `data/rows.tsv` when first
//! asked for. A relation starts with
//! `# name` and the columns that differ from row to row; the next line, `=`, has the columns that
//! are the same in all of them; then the rows. `\N` is NULL.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

use super::relation::{Relation, Rows, relation};
use super::value::{Row, Value};
use crate::types::SqlType;

const TEXT: &str = include_str!("data/rows.tsv");

/// The rows of a relation, read when they are asked for, and where each OID is among them.
#[derive(Default)]
struct Section {
    text: &'static str,
    rows: OnceLock<(Vec<Row>, HashMap<u32, usize>)>,
    /// Rows by the name in them.
    names: OnceLock<HashMap<Arc<str>, Vec<u32>>>,
}

impl Section {
    fn read(&self) -> &(Vec<Row>, HashMap<u32, usize>) {
        self.rows.get_or_init(|| {
            let Some((name, rows)) = read_section(self.text) else { return Default::default() };
            let key = relation("pg_catalog", name).and_then(|relation| position(relation, "oid"));
            let oids = rows.iter().enumerate();
            let oids = oids.filter_map(|(at, row)| Some((row[key?].as_oid()?, at))).collect();
            (rows, oids)
        })
    }

    /// The OIDs of the rows with this name in `column`, which is always the same of a relation.
    fn named(&self, relation: &Relation, column: &str, name: &str) -> &[u32] {
        let names = self.names.get_or_init(|| {
            let mut names: HashMap<Arc<str>, Vec<u32>> = HashMap::new();
            let places = position(relation, "oid").zip(position(relation, column));
            let Some((key, column)) = places else { return names };
            for row in &self.read().0 {
                if let (Value::Text(name), Some(oid)) = (&row[column], row[key].as_oid()) {
                    names.entry(Arc::clone(name)).or_default().push(oid);
                }
            }
            names
        });
        names.get(name).map_or(&[], Vec::as_slice)
    }
}

static SECTIONS: LazyLock<HashMap<&'static str, Section>> = LazyLock::new(|| {
    let sections = TEXT.split("\n# ").map(|text| text.trim_start_matches("# "));
    let named = sections.filter_map(|text| {
        let (name, _) = text.split_once('\t')?;
        Some((name, Section { text, ..Section::default() }))
    });
    named.collect()
});

/// The fixed rows of a relation of `pg_catalog`.
pub(super) fn fixed_rows(name: &str) -> &'static [Row] {
    SECTIONS.get(name).map_or(&[], |section| &section.read().0)
}

/// The fixed rows of any system relation.
pub(super) fn rows_of(relation: &Relation) -> &'static [Row] {
    match relation.schema {
        "pg_catalog" => fixed_rows(relation.name),
        schema => fixed_rows(&format!("{schema}.{}", relation.name)),
    }
}

/// The one of this OID.
fn fixed_row(name: &str, oid: u32) -> Option<&'static Row> {
    let (rows, oids) = SECTIONS.get(name)?.read();
    rows.get(*oids.get(&oid)?)
}

fn read_section(section: &'static str) -> Option<(&'static str, Vec<Row>)> {
    let mut lines = section.lines();
    let (name, columns) = lines.next()?.split_once('\t')?;
    // A name without a schema is one of `pg_catalog`.
    let (schema, own) = name.split_once('.').unwrap_or(("pg_catalog", name));
    let relation = relation(schema, own)?;
    let columns: Vec<usize> = columns.split(' ').filter_map(|c| position(relation, c)).collect();
    let mut rows = Rows::new(relation);
    let mut same = rows.blank();
    for (column, text) in
        lines.next()?.split('\t').skip(1).filter_map(|constant| constant.split_once('='))
    {
        set(relation, &mut same, position(relation, column)?, text);
    }
    for line in lines.filter(|line| !line.is_empty()) {
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

/// By object: catalogs that have one, and what is said of it there.
type Descriptions = HashMap<u32, Vec<(u32, Arc<str>)>>;

static DESCRIPTIONS: LazyLock<Descriptions> = LazyLock::new(|| {
    let mut descriptions = Descriptions::new();
    for row in fixed_rows("pg_description") {
        // objoid, classoid, objsubid, description
        if let [object, class, _, Value::Text(text)] = &**row
            && let (Some(object), Some(class)) = (object.as_oid(), class.as_oid())
        {
            descriptions.entry(object).or_default().push((class, Arc::clone(text)));
        }
    }
    descriptions
});

/// What PostgreSQL says of an object of a catalog, or of the first catalog that has one.
pub(super) fn fixed_description(object: u32, catalog: Option<u32>) -> Option<&'static str> {
    let all = DESCRIPTIONS.get(&object)?.iter();
    let mut of_catalog = all.filter(|(class, _)| catalog.is_none_or(|catalog| catalog == *class));
    of_catalog.next().map(|(_, text)| &**text)
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
    Some(fixed_row(name, oid)?[position(relation, column)?].clone())
}

/// The OIDs of the fixed rows of `name` in which `column` has this text.
pub(super) fn fixed_oids(name: &str, column: &str, text: &str) -> &'static [u32] {
    match (SECTIONS.get(name), relation("pg_catalog", name)) {
        (Some(section), Some(relation)) => section.named(relation, column, text),
        _ => &[],
    }
}

/// The OID of the first of them.
pub(super) fn fixed_oid(name: &str, column: &str, text: &str) -> Option<u32> {
    fixed_oids(name, column, text).first().copied()
}

/// `pg_opclass.oid` by which a b-tree orders a type.
pub(super) fn default_operator_class(type_oid: u32) -> Option<u32> {
    /// varchar is indexed as text.
    const VARCHAR: u32 = 1043;
    const TEXT_TYPE: u32 = 25;
    const ANY_ARRAY: u32 = 2277;
    /// `pg_am.oid`.
    const BTREE: u32 = 403;
    let type_oid = if type_oid == VARCHAR { TEXT_TYPE } else { type_oid };
    let type_oid = match SqlType::from_oid(type_oid) {
        Some(SqlType::Array(_)) => ANY_ARRAY,
        _ => type_oid,
    };
    let relation = relation("pg_catalog", "pg_opclass")?;
    let [key, method, input, default] =
        ["oid", "opcmethod", "opcintype", "opcdefault"].map(|name| position(relation, name));
    let row = fixed_rows("pg_opclass").iter().find(|row| {
        let is = |at: Option<usize>, oid: u32| at.is_some_and(|at| row[at].as_oid() == Some(oid));
        is(method, BTREE)
            && is(input, type_oid)
            && default.is_some_and(|at| row[at] == Value::Bool(true))
    })?;
    row[key?].as_oid()
}
