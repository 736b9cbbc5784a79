//! Indexes as PostgreSQL shows them: users' own, and those of primary keys.

use std::sync::Arc;

use super::PgContext;
use super::class::{Class, ClassColumn, Origin};
use super::objects::{count, numbers, oid, primary_key};
use super::relation::{Rows, system_indexes};
use super::value::Value;
use crate::catalog::drop::quote_identifier;
use crate::catalog::object::{IndexKey, Object};

/// `pg_index.indoption`, by bits.
const DESCENDING: i64 = 1;
const NULLS_FIRST: i64 = 2;

/// An index of either kind.
pub(super) struct PgIndex {
    pub(super) oid: u32,
    pub(super) name: String,
    /// What it indexes.
    pub(super) on: Arc<Object>,
    keys: Vec<IndexKey>,
    included: Vec<usize>,
    unique: bool,
    pub(super) nulls_not_distinct: bool,
    pub(super) primary: bool,
    /// `pg_constraint.oid`, if it enforces one.
    pub(super) constraint: Option<u32>,
}

impl PgIndex {
    fn of_key(table: &Arc<Object>) -> Option<Self> {
        let key = primary_key(table)?;
        let ascending =
            |column: &usize| IndexKey { column: *column, descending: false, nulls_first: false };
        Some(Self {
            oid: key.index,
            name: key.name.to_owned(),
            on: Arc::clone(table),
            keys: key.columns.iter().map(ascending).collect(),
            included: Vec::new(),
            unique: true,
            nulls_not_distinct: false,
            primary: true,
            constraint: Some(key.constraint),
        })
    }

    fn of_object(context: &PgContext, object: &Object) -> Option<Self> {
        let index = object.index()?;
        Some(Self {
            oid: object.id.0,
            name: object.name.name.clone(),
            on: Arc::clone(context.catalog.object(index.on)?),
            keys: index.keys.clone(),
            included: index.included.clone(),
            unique: index.unique,
            nulls_not_distinct: index.nulls_not_distinct,
            primary: index.constraint.is_some_and(|constraint| constraint.primary),
            constraint: index.constraint.map(|constraint| constraint.id.0),
        })
    }

    /// The columns that its constraint is of, as indexes of its table's.
    pub(super) fn key(&self) -> Vec<usize> {
        self.keys.iter().map(|key| key.column).collect()
    }

    /// `PRIMARY KEY (a, b)`, if it enforces a constraint.
    pub(super) fn constraint_text(&self) -> Option<String> {
        self.constraint?;
        let kind = match (self.primary, self.nulls_not_distinct) {
            (true, _) => "PRIMARY KEY",
            (false, true) => "UNIQUE NULLS NOT DISTINCT",
            (false, false) => "UNIQUE",
        };
        let columns = self.keys.iter().filter_map(|key| self.on.columns.get(key.column));
        let columns: Vec<String> = columns.map(|one| quote_identifier(&one.name)).collect();
        let mut text = format!("{kind} ({})", columns.join(", "));
        let included = self.included.iter().filter_map(|column| self.on.columns.get(*column));
        let included: Vec<String> = included.map(|one| quote_identifier(&one.name)).collect();
        if !included.is_empty() {
            text.push_str(&format!(" INCLUDE ({})", included.join(", ")));
        }
        Some(text)
    }

    /// Its columns, as indexes of its table's.
    fn columns(&self) -> Vec<usize> {
        self.keys.iter().map(|key| key.column).chain(self.included.iter().copied()).collect()
    }

    /// `CREATE INDEX t_a_idx ON public.t USING btree (a DESC) INCLUDE (b)`.
    pub(super) fn definition(&self, context: &PgContext, qualified: bool) -> Option<String> {
        let on = &self.on.name;
        let on = match qualified {
            true => format!("{}.{}", quote_identifier(&on.schema), quote_identifier(&on.name)),
            false => super::names::relation_text(context, self.on.id.0)?,
        };
        let name = |column: &usize| {
            self.on.columns.get(*column).map(|column| quote_identifier(&column.name))
        };
        let key = |key: &IndexKey| {
            let direction = match (key.descending, key.nulls_first) {
                (false, false) => "",
                (false, true) => " NULLS FIRST",
                (true, true) => " DESC",
                (true, false) => " DESC NULLS LAST",
            };
            Some(format!("{}{direction}", name(&key.column)?))
        };
        let keys: Vec<String> = self.keys.iter().filter_map(key).collect();
        let included: Vec<String> = self.included.iter().filter_map(name).collect();
        let mut text = format!(
            "CREATE {}INDEX {} ON {on} USING btree ({})",
            if self.unique { "UNIQUE " } else { "" },
            quote_identifier(&self.name),
            keys.join(", ")
        );
        if !included.is_empty() {
            text.push_str(&format!(" INCLUDE ({})", included.join(", ")));
        }
        if self.nulls_not_distinct {
            text.push_str(" NULLS NOT DISTINCT");
        }
        Some(text)
    }
}

/// The names that columns have in an index: those of the table, with a number where one comes
/// again.
pub fn column_names<'a>(columns: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for column in columns {
        let numbered = (1..).map(|n| format!("{column}{n}"));
        let free = std::iter::once(column.to_owned()).chain(numbered).find(|n| !names.contains(n));
        names.extend(free);
    }
    names
}

/// The columns of an index in `pg_attribute`.
pub(super) fn class_columns(object: &Object) -> Vec<ClassColumn> {
    let Some(index) = object.index() else { return Vec::new() };
    // What it is ordered by, and has besides, are the first that it stores, each once.
    let own = || index.keys.iter().map(|key| &key.column).chain(&index.included);
    let mut distinct: Vec<&usize> = Vec::new();
    for column in own() {
        if !distinct.contains(&column) {
            distinct.push(column);
        }
    }
    let places = own().filter_map(|column| distinct.iter().position(|own| *own == column));
    let columns: Vec<_> = places.filter_map(|place| object.columns.get(place)).collect();
    let names = column_names(columns.iter().map(|column| column.name.as_str()));
    let columns = columns.into_iter().zip(names);
    columns
        .map(|(column, name)| ClassColumn { name, not_null: false, ..ClassColumn::of(column) })
        .collect()
}

/// All indexes on what users made.
pub(super) fn indexes(context: &PgContext) -> impl Iterator<Item = PgIndex> {
    context.catalog.objects().filter_map(|object| {
        PgIndex::of_key(object).or_else(|| PgIndex::of_object(context, object))
    })
}

/// The index that a class is, if it is one.
pub(super) fn index_of(context: &PgContext, class: &Class) -> Option<PgIndex> {
    match &class.origin {
        Origin::Object(object) => PgIndex::of_object(context, object),
        Origin::PrimaryKey(table) => PgIndex::of_key(table),
        Origin::Relation(_) | Origin::Index(_) | Origin::System => None,
    }
}

/// The name of what an index is on.
pub(super) fn indexed_table(context: &PgContext, class: &Class) -> Option<String> {
    match &class.origin {
        Origin::Index(index) => Some(index.on.name.to_owned()),
        _ => Some(index_of(context, class)?.on.name.name.clone()),
    }
}

/// Whether a relation has an index.
pub(super) fn is_indexed(context: &PgContext, class: &Class) -> bool {
    match &class.origin {
        Origin::Object(object) => has_index(context, object),
        Origin::Relation(relation) => {
            system_indexes().iter().any(|index| index.on.oid == relation.oid)
        }
        Origin::PrimaryKey(_) | Origin::Index(_) | Origin::System => false,
    }
}

/// Whether an object has an index.
pub(super) fn has_index(context: &PgContext, object: &Object) -> bool {
    primary_key(object).is_some() || context.catalog.indexes(object.id).next().is_some()
}

pub(super) fn pg_index(context: &PgContext, rows: &mut Rows) {
    for index in system_indexes() {
        let vector = |text: &str| {
            Value::list(
                text.split(' ')
                    .map(|one| Value::text(one).as_int())
                    .map(|n| n.map_or(Value::Null, Value::Int)),
            )
        };
        rows.push([
            ("indexrelid", oid(index.oid)),
            ("indrelid", oid(index.on.oid)),
            ("indnatts", count(index.keys.len())),
            ("indnkeyatts", count(index.keys.len())),
            ("indisunique", Value::Bool(index.unique)),
            ("indisprimary", Value::Bool(index.primary)),
            ("indimmediate", Value::Bool(true)),
            ("indisvalid", Value::Bool(true)),
            ("indisready", Value::Bool(true)),
            ("indislive", Value::Bool(true)),
            ("indkey", Value::list(index.keys.iter().map(|number| count(*number)))),
            ("indcollation", vector(index.collations)),
            ("indclass", vector(index.classes)),
            ("indoption", vector(index.options)),
        ]);
    }
    for index in indexes(context) {
        let columns = index.columns();
        let types = index.keys.iter().filter_map(|key| index.on.columns.get(key.column));
        let types: Vec<u32> = types.map(|column| column.sql_type.oid()).collect();
        let collation = |type_oid: &u32| {
            super::data::layout(*type_oid).map_or(Value::Int(0), |layout| layout.collation.clone())
        };
        let class = |type_oid: &u32| {
            super::data::default_operator_class(*type_oid).map_or(Value::Int(0), oid)
        };
        let options = index.keys.iter().map(|key| {
            let descending = if key.descending { DESCENDING } else { 0 };
            Value::Int(descending | if key.nulls_first { NULLS_FIRST } else { 0 })
        });
        rows.push([
            ("indexrelid", oid(index.oid)),
            ("indrelid", oid(index.on.id.0)),
            ("indnatts", count(columns.len())),
            ("indnkeyatts", count(index.keys.len())),
            ("indisunique", Value::Bool(index.unique)),
            ("indnullsnotdistinct", Value::Bool(index.nulls_not_distinct)),
            ("indisprimary", Value::Bool(index.primary)),
            ("indimmediate", Value::Bool(true)),
            ("indisvalid", Value::Bool(true)),
            ("indisready", Value::Bool(true)),
            ("indislive", Value::Bool(true)),
            ("indkey", numbers(&index.on, &columns)),
            ("indcollation", Value::list(types.iter().map(collation))),
            ("indclass", Value::list(types.iter().map(class))),
            ("indoption", Value::list(options)),
        ]);
    }
}

/// The definition of the index that a class is.
pub(super) fn index_text(context: &PgContext, class: &Class, qualified: bool) -> Option<String> {
    let Origin::Index(index) = &class.origin else {
        return index_of(context, class)?.definition(context, qualified);
    };
    let on = match qualified {
        true => format!("{}.{}", index.on.schema, index.on.name),
        false => super::names::relation_text(context, index.on.oid)?,
    };
    let unique = if index.unique { "UNIQUE " } else { "" };
    let keys: Vec<&str> = index.columns().map(|column| column.name).collect();
    let keys = keys.join(", ");
    Some(format!("CREATE {unique}INDEX {} ON {on} USING btree ({keys})", index.name))
}
