//! `CREATE SINK ... INTO`.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::authority::Deed;
use super::rename::with_meaning;
use super::{DdlOutcome, Names, check_database, exists_already, new_name};
use crate::catalog::catalog::lasting_path;
use crate::catalog::object::{MaterializedView, OnError, Sink};
use crate::catalog::{Catalog, Column, Meaning, Object, ObjectKind, QualifiedName};
use crate::checkpoint::coordinator::Change;
use crate::clock;
use crate::engine::{Engine, sink};
use crate::error::{SqlError, SqlResult, code};
use crate::expr::Assigning;
use crate::graph;
use crate::planner::statement::{CreateSink, SinkFrom};
use crate::planner::{self, Name};
use crate::types::text::TextStyle;
use crate::types::{Epoch, ObjectId};

impl Engine {
    /// Creates a sink, and returns when the table has what was there to be poured. If
    /// `cancel` comes before, the sink goes away, but not what it has poured.
    pub async fn create_sink(
        self: &Arc<Self>,
        statement: &CreateSink,
        definition: &str,
        names: &Names,
        parallelism: usize,
        cancel: &CancellationToken,
    ) -> SqlResult<DdlOutcome> {
        let (id, beginning) = {
            let deed = Deed::Create { name: &statement.name, connector: None };
            let _one_at_a_time = self.permitted_unless(cancel, deed, names).await?;
            let catalog = self.catalog();
            let name = new_name(&catalog, &statement.name, names)?;
            if let Some(outcome) = exists_already(&catalog, &name, statement.if_not_exists)? {
                return Ok(outcome);
            }
            let planned = plan(&catalog, name, statement, definition, names, parallelism).await?;
            self.check_sink(&catalog, &planned.object, names)?;
            let id = planned.object.id;
            let beginning = match planned.job {
                Some(job) => Some(self.begin_job(&catalog, planned.object, job).await?),
                None => {
                    self.open_sink(&catalog, planned.object).await?;
                    None
                }
            };
            (id, beginning)
        };
        if let Some(beginning) = beginning {
            self.finish_job(beginning, cancel).await?;
        }
        self.or_undo(id, cancel, self.pour_first(id)).await.map(|()| DdlOutcome::default())
    }

    /// Makes a sink durable, and open: from here on changes are kept for it.
    async fn open_sink(&self, catalog: &Catalog, object: Object) -> SqlResult<()> {
        let Some(sink) = object.sink().cloned() else {
            return Err(SqlError::internal("not a sink"));
        };
        if let Some(error) = self.failure(sink.from) {
            return Err(error);
        }
        let id = object.id;
        let (next, mut meta) = catalog.with_object(object)?;
        meta.push(sink::opening(id, &sink));
        self.coordinator.readers().advance(sink.from, sink.reader, Epoch(0));
        let change = Change { changelog_on: [sink.from].into(), meta, ..Change::default() };
        if let Err(error) = self.coordinator.change(change).await {
            self.stop_changelogs(sink.reader).await;
            return Err(error);
        }
        self.publish(next);
        Ok(())
    }

    /// Starts a sink, and waits until it has caught up.
    async fn pour_first(self: &Arc<Self>, id: ObjectId) -> SqlResult<()> {
        let dropped = || SqlError::new(code::UNDEFINED_OBJECT, "the sink was dropped");
        let object = self.catalog().object(id).cloned().ok_or_else(dropped)?;
        self.start_sink(&object)?;
        let told = self.sinks.lock().get(&id).cloned();
        let mut told = told.ok_or_else(dropped)?;
        let caught_up = told.wait_for(|state| state.caught_up || state.error.is_some()).await;
        let error = caught_up.map_err(|_| dropped())?.error.clone();
        error.map_or(Ok(()), Err)
    }
}

struct Planned {
    object: Object,
    /// What keeps the rows of its own query.
    job: Option<graph::Job>,
}

async fn plan(
    catalog: &Catalog,
    name: QualifiedName,
    statement: &CreateSink,
    definition: &str,
    names: &Names,
    parallelism: usize,
) -> SqlResult<Planned> {
    let table = writable(catalog, &statement.table, names)?;
    let unique = |index: &Arc<Object>| index.index().is_some_and(|index| index.unique);
    if catalog.indexes(table.id).any(unique) {
        return Err(SqlError::unsupported("a sink into a table with a unique index")
            .hint("Drop the unique index; the primary key is kept by a sink too."));
    }
    if !table.foreign_keys().is_empty() || catalog.referring(table.id).next().is_some() {
        return Err(SqlError::unsupported("a sink into a table of a foreign key")
            .detail("What is poured is not asked for what refers to what.")
            .hint("Pour into a table without, and copy from there."));
    }
    let mut oids = catalog.oids();
    let id = oids.next();
    let (from, columns, query, mut depends_on, job) = match &statement.from {
        SinkFrom::Relation(from) => {
            let from = readable(catalog, from, names)?;
            (from.id, from.columns.clone(), None, vec![from.id], None)
        }
        SinkFrom::Query(query) => {
            let parallelism = statement.parallelism.unwrap_or(parallelism);
            let settings = names.view_settings();
            let planned = planner::plan_sink(catalog, settings, id, query, parallelism).await?;
            let kept = MaterializedView {
                query: query.text.clone(),
                search_path: lasting_path(&names.search_path),
                meaning: Meaning::default(),
                style: names.style,
                key: planned.key,
                distribution: planned.distribution,
                append_only: planned.append_only,
                parallelism,
                on_error: OnError::Null,
            };
            (id, planned.columns, Some(kept), planned.depends_on, Some(planned.job))
        }
    };
    if depends_on.iter().any(|on| catalog.comes_from(*on, table.id)) {
        return Err(in_a_circle(&name, table));
    }
    let filled = filled(table, statement, &columns)?;
    let inserts = match &query {
        Some(query) => query.append_only,
        None => catalog.object(from).is_some_and(|from| from.append_only()),
    };
    let append_only = only_inserts(table, statement, inserts)?;
    if !depends_on.contains(&table.id) {
        depends_on.push(table.id);
    }
    let altered = catalog.object(from).filter(|from| from.shape().is_some());
    let sink = Sink {
        query,
        from,
        into: table.id,
        columns: filled,
        places: altered.map(|from| from.places()).unwrap_or_default(),
        reader: oids.next(),
        snapshot: statement.snapshot,
        append_only,
    };
    let bare = |column: Column| Column { not_null: false, default: None, comment: None, ..column };
    let object = Object {
        id,
        name,
        kind: ObjectKind::Sink(sink),
        columns: columns.into_iter().map(bare).collect(),
        definition: definition.to_owned(),
        depends_on,
        comment: None,
        row_type: ObjectId(0),
        row_array_type: ObjectId(0),
        owner: names.user.clone(),
        acl: None,
    };
    Ok(Planned { object: with_meaning(catalog, object, &[])?, job })
}

/// The relation that a sink names.
fn relation<'a>(catalog: &'a Catalog, name: &Name, names: &Names) -> SqlResult<&'a Arc<Object>> {
    check_database(name, names)?;
    let found = catalog.resolve(&names.search_path, name.schema.as_deref(), &name.name);
    found.ok_or_else(|| {
        let message = format!("relation \"{name}\" does not exist");
        SqlError::new(code::UNDEFINED_TABLE, message).position(name.position)
    })
}

fn writable<'a>(catalog: &'a Catalog, name: &Name, names: &Names) -> SqlResult<&'a Object> {
    let object = relation(catalog, name, names)?;
    if matches!(object.kind, ObjectKind::Table(_)) {
        return Ok(object);
    }
    let message = format!("\"{}\" is not a table", name.name);
    Err(SqlError::new(code::WRONG_OBJECT_TYPE, message)
        .hint("A sink writes into a table.")
        .position(name.position))
}

fn readable<'a>(catalog: &'a Catalog, name: &Name, names: &Names) -> SqlResult<&'a Object> {
    let object = relation(catalog, name, names)?;
    object.check_readable().map_err(|error| error.position(name.position))?;
    if matches!(object.kind, ObjectKind::Table(_) | ObjectKind::MaterializedView(_)) {
        return Ok(object);
    }
    let message = format!("\"{}\" is not a table or materialized view", name.name);
    Err(SqlError::new(code::WRONG_OBJECT_TYPE, message)
        .hint(format!("CREATE SINK ... AS SELECT * FROM {name} reads it."))
        .position(name.position))
}

fn in_a_circle(name: &QualifiedName, table: &Object) -> SqlError {
    let table = &table.name.name;
    let message = format!("sink \"{}\" would write what it reads", name.name);
    SqlError::new(code::INVALID_OBJECT_DEFINITION, message)
        .detail(format!(
            "Rows of table \"{table}\" come by way of views and sinks into what it reads, and from \
             there into \"{table}\" again, without end."
        ))
        .hint("Write into another table.")
}

/// The table's columns that the sink fills, checked: each of the sink's can be assigned, and what
/// is left out can be.
fn filled(table: &Object, statement: &CreateSink, given: &[Column]) -> SqlResult<Vec<usize>> {
    let mut filled = Vec::new();
    for name in &statement.columns {
        let found = table.columns.iter().position(|column| column.name == name.name);
        let Some(index) = found else {
            let message = format!(
                "column \"{}\" of relation \"{}\" does not exist",
                name.name, table.name.name
            );
            return Err(SqlError::new(code::UNDEFINED_COLUMN, message).position(name.position));
        };
        if filled.contains(&index) {
            let message = format!("column \"{}\" specified more than once", name.name);
            return Err(SqlError::new(code::DUPLICATE_COLUMN, message).position(name.position));
        }
        filled.push(index);
    }
    if statement.columns.is_empty() {
        filled = (0..table.columns.len().min(given.len())).collect();
    }
    if filled.len() != given.len() {
        let more = if given.len() > filled.len() { "more" } else { "fewer" };
        let message = format!("the sink gives {more} columns than it has to fill");
        return Err(SqlError::new(code::SYNTAX_ERROR, message).detail(format!(
            "It gives {}, and fills {} of table \"{}\".",
            given.len(),
            filled.len(),
            table.name.name
        )));
    }
    let assigning = Assigning { style: TextStyle::default(), now: clock::wall() };
    for (from, to) in given.iter().zip(&filled) {
        let column = &table.columns[*to];
        let field = from.sql_type.field(&from.name, true);
        assigning.check(&field, &from.sql_type, &column.sql_type, &column.name)?;
    }
    let key = match &table.kind {
        ObjectKind::Table(kind) => kind.primary_key.as_slice(),
        _ => &[],
    };
    let is_key = |index: &usize| key.contains(index);
    for (index, column) in table.columns.iter().enumerate() {
        if filled.contains(&index) || (!is_key(&index) && !column.not_null) {
            continue;
        }
        if is_key(&index) || column.default.is_none() {
            let what = if is_key(&index) { "is of the primary key" } else { "has no default" };
            let message = format!("the sink must fill column \"{}\", which {what}", column.name);
            return Err(SqlError::new(code::NOT_NULL_VIOLATION, message));
        }
    }
    Ok(filled)
}

/// Whether only inserts are poured; refuses where there would be others.
fn only_inserts(table: &Object, statement: &CreateSink, inserts: bool) -> SqlResult<bool> {
    if statement.force_append_only {
        return Ok(true);
    }
    let wanted = statement.append_only || table.append_only();
    if wanted && !inserts {
        let message = format!(
            "sink \"{}\" cannot be append-only: rows that it reads change or go away",
            statement.name.name
        );
        return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
            .hint("WITH (force_append_only = true) leaves deleted rows in the table."));
    }
    Ok(wanted)
}
