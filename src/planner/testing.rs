//! Sessions and catalogs for tests.

use datafusion::execution::SessionState;

use super::statement::{CreateTable, StatementKind};
use super::{ViewSettings, describe_view, parse, plan_view};
use crate::catalog::constraint::Constraints;
use crate::catalog::object::{MaterializedView, OnError, Source, Table, View};
use crate::catalog::{Catalog, Column, Meaning, Object, ObjectKind, QualifiedName};
use crate::error::SqlResult;
use crate::types::ObjectId;
use crate::types::text::TextStyle;

/// A session as the server's, without relations.
pub(crate) fn session() -> SessionState {
    let mut state = super::job::session().expect("the functions have different names");
    state.execution_props_mut().query_execution_start_time =
        chrono::DateTime::from_timestamp_micros(1_700_000_000_000_000);
    state
}

/// Runs a future that waits for nothing.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime without drivers starts")
        .block_on(future)
}

pub(crate) fn search_path() -> Vec<String> {
    vec!["public".to_owned()]
}

/// The catalog after a script of CREATE statements.
pub(crate) fn catalog_of(script: &str) -> Catalog {
    let mut catalog = Catalog::default();
    for statement in parse(script).expect("the script is well formed") {
        let object = object_of(&catalog, statement.kind, &statement.text)
            .expect("the script can be planned");
        catalog = catalog.with_object(object).expect("names differ").0;
    }
    catalog
}

fn object_of(catalog: &Catalog, kind: StatementKind, text: &str) -> SqlResult<Object> {
    let path = search_path();
    let mut oids = catalog.oids();
    let id = oids.next();
    let (name, kind, columns, depends_on) = match kind {
        StatementKind::CreateTable(create) => {
            let name = create.name.name.clone();
            let (kind, columns) = table_of(*create);
            (name, kind, columns, Vec::new())
        }
        StatementKind::CreateSource(create) => {
            let columns = create.columns.iter().map(column_of).collect();
            let kind = ObjectKind::Source(Source { connector: create.connector });
            (create.name.name, kind, columns, Vec::new())
        }
        StatementKind::CreateView(create) => {
            let planned = run(describe_view(catalog, &path, &create.query, &create.columns))?;
            let query = create.query.text.clone();
            let kind =
                ObjectKind::View(View { query, search_path: path, meaning: Meaning::default() });
            (create.name.name, kind, planned.columns, planned.depends_on)
        }
        StatementKind::CreateMaterializedView(create) => {
            let planned = run(plan_view(catalog, ViewSettings::of(&path), id, &create, 2))?;
            let kind = ObjectKind::MaterializedView(MaterializedView {
                query: create.query.text.clone(),
                search_path: path,
                meaning: Meaning::default(),
                style: TextStyle::default(),
                key: planned.key,
                distribution: planned.distribution,
                append_only: planned.append_only,
                parallelism: 2,
                on_error: OnError::Null,
            });
            (create.name.name, kind, planned.columns, planned.depends_on)
        }
        other => panic!("not a relation: {other:?}"),
    };
    Ok(Object {
        id,
        name: QualifiedName::new("public", name),
        kind,
        columns,
        definition: text.to_owned(),
        depends_on,
        comment: None,
        row_type: oids.next(),
        row_array_type: oids.next(),
        owner: "weir".to_owned(),
        acl: None,
    })
}

fn table_of(create: CreateTable) -> (ObjectKind, Vec<Column>) {
    let mut columns: Vec<Column> = create.columns.iter().map(column_of).collect();
    for &column in &create.primary_key {
        columns[column].not_null = true;
    }
    let kind = ObjectKind::Table(Table {
        primary_key: create.primary_key,
        primary_key_name: None,
        primary_key_index: None,
        primary_key_constraint: None,
        append_only: create.append_only,
        connector: None,
        constraints: Constraints::default(),
        shape: None,
    });
    (kind, columns)
}

fn column_of(column: &super::statement::ColumnDef) -> Column {
    Column {
        name: column.name.clone(),
        sql_type: column.sql_type.clone(),
        not_null: column.not_null,
        default: column.default.clone(),
        generated: column.generated.clone(),
        identity: None,
        comment: None,
        computed: false,
    }
}

/// A made-up id for a view that is being planned.
pub(crate) const NEW: ObjectId = ObjectId(99999);
