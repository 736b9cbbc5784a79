//! `CREATE INDEX`, `REINDEX`.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::alter_table::with_not_null;
use super::authority::Deed;
use super::job::Beginning;
use super::role::Edit;
use super::unique_index::check_writers;
use super::{DdlOutcome, Names, check_database, exists_already};
use crate::catalog::object::{Index, IndexConstraint, IndexKey};
use crate::catalog::pg::column_names;
use crate::catalog::{Catalog, Column, Object, ObjectKind, QualifiedName};
use crate::engine::{Engine, Owner};
use crate::error::{SqlError, SqlResult, code};
use crate::planner;
use crate::planner::Name;
use crate::planner::statement::{ColumnRef, CreateIndex, DropKind, Reindex};
use crate::types::{ObjectId, SqlType};

/// Columns that an index may have, INCLUDE's counted, as in PostgreSQL.
const COLUMNS_MAX: usize = 32;

impl Engine {
    /// Creates an index, and returns when it has all rows and goes on with everybody's epochs. If
    /// `cancel` comes before, the index goes away.
    pub async fn create_index(
        self: &Arc<Self>,
        statement: &CreateIndex,
        definition: &str,
        names: &Names,
        parallelism: usize,
        cancel: &CancellationToken,
    ) -> SqlResult<DdlOutcome> {
        let beginning = {
            let deed = Deed::Index { on: &statement.table };
            let _one_at_a_time = self.permitted_unless(cancel, deed, names).await?;
            let catalog = self.catalog();
            let on = indexed(&catalog, &statement.table, names)?;
            if let Some(name) = &statement.name {
                let name = QualifiedName::new(&on.name.schema, name);
                if let Some(outcome) = exists_already(&catalog, &name, statement.if_not_exists)? {
                    return Ok(outcome);
                }
            }
            let making = (statement, None);
            self.begin_index(&catalog, on, making, definition, parallelism, names.owner).await?
        };
        self.finish_job(beginning, cancel).await
    }

    /// Begins an index, maybe for a constraint: `Some(true)` for a primary key. It is the caller's
    /// turn.
    pub(super) async fn begin_index(
        self: &Arc<Self>,
        catalog: &Catalog,
        on: &Object,
        (statement, constraint): (&CreateIndex, Option<bool>),
        definition: &str,
        parallelism: usize,
        owner: Owner,
    ) -> SqlResult<Beginning> {
        let object = index_object(catalog, on, (statement, constraint), definition, parallelism)?;
        let mut edit = Edit::new(catalog);
        if constraint == Some(true) {
            let keys = object.index().map_or(&[][..], |index| &index.keys);
            let key: Vec<usize> = keys.iter().map(|key| key.column).collect();
            edit.apply(|catalog| catalog.with_changed(with_not_null(on, &key)))?;
        }
        let job = planner::plan_index(catalog, &object)?;
        let (id, unique) = (object.id, statement.unique);
        if unique {
            check_writers(catalog, on)?;
        }
        let _writers = self.raise_guard(on, &object, owner).await?;
        let begun = self.begin_job_in(edit, object, job).await;
        match &begun {
            Ok(_) if unique => self.guard_stands(id).await?,
            Err(_) if unique => self.lower_guard(on.id, id).await?,
            _ => {}
        }
        begun
    }

    /// There is nothing to do: an index is never other than its table. The names must be right.
    pub fn reindex(&self, statement: &Reindex, names: &Names) -> SqlResult<DdlOutcome> {
        let catalog = self.catalog();
        let name = &statement.name;
        match statement.kind {
            DropKind::Schema if catalog.schema(&name.name).is_none() => {
                let message = format!("schema \"{}\" does not exist", name.name);
                Err(SqlError::new(code::INVALID_SCHEMA_NAME, message).position(name.position))
            }
            DropKind::Database if name.name != names.database => {
                let message = "can only reindex the currently open database";
                Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message))
            }
            DropKind::Schema | DropKind::Database => Ok(DdlOutcome::default()),
            kind => {
                let object = relation(&catalog, name, names)?;
                let wanted = match kind {
                    DropKind::Index => "an index",
                    _ => "a table or materialized view",
                };
                let fits = match kind {
                    DropKind::Index => object.relkind() == 'i',
                    _ => matches!(object.relkind(), 'r' | 'm'),
                };
                if fits {
                    catalog.actor(&names.user)?.check_owns(object)?;
                    return Ok(DdlOutcome::default());
                }
                let message = format!("\"{}\" is not {wanted}", name.name);
                Err(SqlError::new(code::WRONG_OBJECT_TYPE, message))
            }
        }
    }
}

/// The catalog entry of a new index.
pub(super) fn index_object(
    catalog: &Catalog,
    on: &Object,
    (statement, constraint): (&CreateIndex, Option<bool>),
    definition: &str,
    parallelism: usize,
) -> SqlResult<Object> {
    let shape = Shape::of(on, statement)?;
    let name = match &statement.name {
        Some(name) => name.clone(),
        None => catalog.index_name(&on.name, &shape.names(on)),
    };
    let mut oids = catalog.oids();
    let id = oids.next();
    let mut index = shape.index(on, statement.unique, parallelism);
    index.nulls_not_distinct = statement.unique && statement.nulls_not_distinct;
    index.constraint = constraint.map(|primary| IndexConstraint { id: oids.next(), primary });
    let columns = index.order.iter().filter_map(|place| on.columns.get(on.column_at(*place)?));
    let columns =
        columns.map(|column| Column { default: None, comment: None, ..column.clone() }).collect();
    Ok(Object {
        id,
        name: QualifiedName::new(&on.name.schema, name),
        kind: ObjectKind::Index(index),
        columns,
        definition: definition.to_owned(),
        depends_on: vec![on.id],
        comment: None,
        row_type: ObjectId(0),
        row_array_type: ObjectId(0),
        owner: on.owner.clone(),
        acl: None,
    })
}

fn relation<'a>(catalog: &'a Catalog, name: &Name, names: &Names) -> SqlResult<&'a Object> {
    check_database(name, names)?;
    let found = catalog.resolve(&names.search_path, name.schema.as_deref(), &name.name);
    found.map(AsRef::as_ref).ok_or_else(|| {
        let message = format!("relation \"{name}\" does not exist");
        SqlError::new(code::UNDEFINED_TABLE, message)
    })
}

/// What is to be indexed: a table or a materialized view.
fn indexed<'a>(catalog: &'a Catalog, name: &Name, names: &Names) -> SqlResult<&'a Object> {
    let object = relation(catalog, name, names)?;
    let kinds = match &object.kind {
        ObjectKind::Table(_) | ObjectKind::MaterializedView(_) => return Ok(object),
        ObjectKind::View(_) => "views",
        ObjectKind::Source(_) => "sources",
        ObjectKind::Index(_) => "indexes",
        ObjectKind::Sink(_) => "sinks",
        ObjectKind::Subscription(_) => "subscriptions",
        ObjectKind::Sequence(_) => "sequences",
    };
    let message = format!("cannot create index on relation \"{}\"", name.name);
    Err(SqlError::new(code::WRONG_OBJECT_TYPE, message)
        .detail(format!("This operation is not supported for {kinds}.")))
}

/// The columns that a statement names, found.
struct Shape {
    keys: Vec<IndexKey>,
    included: Vec<usize>,
}

impl Shape {
    fn of(on: &Object, statement: &CreateIndex) -> SqlResult<Self> {
        if statement.keys.len() + statement.included.len() > COLUMNS_MAX {
            let message = format!("cannot use more than {COLUMNS_MAX} columns in an index");
            return Err(SqlError::new(code::TOO_MANY_COLUMNS, message));
        }
        let mut keys = Vec::new();
        for key in &statement.keys {
            let column = column(on, &key.column)?;
            let sql_type = &on.columns[column].sql_type;
            if matches!(sql_type, SqlType::Json) {
                let message = format!(
                    "data type {sql_type} has no default operator class for access method \"btree\""
                );
                return Err(SqlError::new(code::UNDEFINED_OBJECT, message).hint(
                    "You must specify an operator class for the index or define a default \
                     operator class for the data type.",
                ));
            }
            let (descending, nulls_first) = (key.descending, key.nulls_first);
            keys.push(IndexKey { column, descending, nulls_first });
        }
        let included =
            statement.included.iter().map(|name| column(on, name)).collect::<SqlResult<_>>()?;
        Ok(Self { keys, included })
    }

    fn columns(&self) -> impl Iterator<Item = usize> {
        self.keys.iter().map(|key| key.column).chain(self.included.iter().copied())
    }

    fn names(&self, on: &Object) -> Vec<String> {
        let names = self.columns().filter_map(|column| on.columns.get(column));
        column_names(names.map(|column| column.name.as_str()))
    }

    /// The index's columns first, each once, then the others; the hidden row id, if there is one,
    /// is the last.
    fn index(self, on: &Object, unique: bool, parallelism: usize) -> Index {
        let mut order: Vec<usize> = Vec::with_capacity(on.columns.len() + 1);
        let own = self.columns().map(|column| on.place(column));
        for place in own.chain(on.places()).chain(on.row_id_place()) {
            if !order.contains(&place) {
                order.push(place);
            }
        }
        let mut key: Vec<usize> = Vec::new();
        let own = on.key();
        if !own.is_empty() {
            for place in self.keys.iter().map(|key| on.place(key.column)).chain(own) {
                let place = order.iter().position(|own| *own == place);
                key.extend(place.filter(|place| !key.contains(place)));
            }
        }
        let append_only = on.append_only();
        Index {
            on: on.id,
            keys: self.keys,
            unique,
            nulls_not_distinct: false,
            constraint: None,
            included: self.included,
            order,
            width: on.shape().map_or(0, |shape| shape.places.len()),
            key,
            append_only,
            parallelism,
        }
    }
}

fn column(on: &Object, name: &ColumnRef) -> SqlResult<usize> {
    on.columns.iter().position(|column| column.name == name.name).ok_or_else(|| {
        let message = format!("column \"{}\" does not exist", name.name);
        SqlError::new(code::UNDEFINED_COLUMN, message)
    })
}
