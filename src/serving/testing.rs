//! A store in a folder of its own with a few objects in it, and statements over it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::util::display::array_value_to_string;
use async_trait::async_trait;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use futures::TryStreamExt;

use super::{QueryContext, Reader, SystemTables, ViewPlanner, execute, session_state, template};
use crate::catalog::constraint::Constraints;
use crate::catalog::object::{MaterializedView, OnError, Table};
use crate::catalog::pg::PgSession;
use crate::catalog::{Catalog, Column, Meaning, Object, ObjectKind, QualifiedName};
use crate::clock::WallTime;
use crate::error::{SqlError, SqlResult};
use crate::expr::{Generated, functions};
use crate::state::{Commit, MetaEntry, RowLayout, Snapshot, Store, StoreOptions};
use crate::types::text::TextStyle;
use crate::types::{Delta, Epoch, ObjectId, SqlType, TableId};

/// A store, and the catalog of what is in it.
pub struct Fixture {
    _folder: tempfile::TempDir,
    pub store: Store,
    pub catalog: Catalog,
    template: Arc<SessionState>,
    epoch: u64,
}

/// Nothing runs here.
#[derive(Debug)]
struct NothingRuns;

impl SystemTables for NothingRuns {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn schema(&self, _name: &str) -> Option<SchemaRef> {
        None
    }

    fn rows(&self, name: &str) -> SqlResult<RecordBatch> {
        Err(SqlError::internal(format!("no system table {name}")))
    }

    fn check_whole(&self, _object: ObjectId, _snapshot: &Snapshot) -> SqlResult<()> {
        Ok(())
    }

    fn is_whole(&self, _object: ObjectId, _snapshot: &Snapshot) -> SqlResult<bool> {
        Ok(true)
    }
}

/// Views are planned by DataFusion alone.
#[derive(Debug)]
struct PlainPlanner;

#[async_trait]
impl ViewPlanner for PlainPlanner {
    async fn plan(&self, state: &SessionState, view: &Object) -> SqlResult<LogicalPlan> {
        match &view.kind {
            ObjectKind::View(view) => Ok(state.create_logical_plan(&view.query).await?),
            _ => Err(SqlError::internal("not a view")),
        }
    }

    fn generated(&self, _: &Arc<Catalog>, _: &Object) -> SqlResult<Option<Generated>> {
        Ok(None)
    }
}

impl Default for Fixture {
    fn default() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let options = StoreOptions { cache_bytes: 8 << 20, epoch_bytes_max: usize::MAX };
        let store = Store::open(&folder.path().join("state"), options).expect("an empty store");
        let template = template(64 << 20, folder.path()).and_then(functions::install);
        Self {
            _folder: folder,
            store,
            catalog: Catalog::default(),
            template: Arc::new(template.expect("a template")),
            epoch: 0,
        }
    }
}

impl Fixture {
    /// Adds `public.name`.
    pub fn add(&mut self, name: &str, columns: &[(&str, &str)], kind: ObjectKind) -> Arc<Object> {
        let mut oids = self.catalog.oids();
        let (id, row_type, row_array_type) = (oids.next(), oids.next(), oids.next());
        let not_null =
            |index: usize| matches!(&kind, ObjectKind::Table(t) if t.primary_key.contains(&index));
        let columns = columns
            .iter()
            .enumerate()
            .map(|(index, (name, sql_type))| Column {
                name: (*name).to_owned(),
                sql_type: SqlType::parse(sql_type).expect("a type"),
                not_null: not_null(index),
                default: None,
                generated: None,
                identity: None,
                comment: None,
                computed: false,
            })
            .collect();
        let object = Object {
            id,
            name: QualifiedName::new("public", name),
            kind,
            columns,
            definition: String::new(),
            depends_on: Vec::new(),
            comment: None,
            row_type,
            row_array_type,
            owner: "weir".to_owned(),
            acl: None,
        };
        self.catalog = self.catalog.with_object(object).expect("a new name").0;
        let name = QualifiedName::new("public", name);
        Arc::clone(self.catalog.object_named(&name).expect("just added"))
    }

    /// Commits rows of `object` (stored schema) in an epoch of their own.
    pub fn commit(&mut self, object: &Object, delta: &Delta) {
        let layout = layout(object);
        let mut table = self.store.table(TableId::contents(object.id));
        let keys = layout.keys(delta.batch()).expect("keys");
        let values = layout.values(delta.batch()).expect("values");
        for (row, key) in keys.iter().enumerate() {
            match layout.is_keyed() {
                true => table.put(key, values.row(row).as_ref()),
                false => table.put(key, &RowLayout::weight_bytes(delta.weight(row))),
            }
        }
        self.epoch += 1;
        let commit = Commit {
            epoch: Some(Epoch(self.epoch)),
            changes: table.freeze().into_iter().collect(),
            ..Commit::default()
        };
        self.store.commit(commit).expect("a commit");
    }

    /// Commits metadata in an epoch of its own.
    pub fn commit_meta(&mut self, meta: Vec<MetaEntry>) {
        self.epoch += 1;
        let commit = Commit { epoch: Some(Epoch(self.epoch)), meta, ..Commit::default() };
        self.store.commit(commit).expect("a commit");
    }

    /// What a statement of a new session reads from now.
    pub fn context(&self) -> QueryContext {
        let search_path = vec!["public".to_owned()];
        QueryContext {
            template: Arc::clone(&self.template),
            catalog: Arc::new(self.catalog.clone()),
            snapshot: self.store.snapshot(),
            database: "weir".to_owned(),
            search_path: search_path.clone(),
            reader: Reader::Server,
            pg: Arc::new(PgSession {
                user: "weir".to_owned(),
                session_user: "weir".to_owned(),
                database: "weir".to_owned(),
                pid: 1,
                now: WallTime(0),
                server_started: WallTime(0),
                search_path,
                settings: Arc::default(),
                activity: Arc::new(Vec::new()),
                client: None,
                server: None,
                relation_bytes: BTreeMap::new(),
                weir_tables: Arc::default(),
                effects: Arc::default(),
                listening: Vec::new(),
                prepared: Arc::default(),
                cursors: Vec::new(),
                locks: None,
                numbering: None,
                given: Arc::default(),
                writes: None,
            }),
            style: TextStyle::default(),
            now: WallTime(1_700_000_000_000_000),
            rows: HashMap::new(),
            unique: HashMap::new(),
            target: None,
            system: Arc::new(NothingRuns),
            views: Arc::new(PlainPlanner),
        }
    }

    /// The rows of a query, sorted, values joined by `|`.
    pub async fn query(&self, sql: &str) -> SqlResult<Vec<String>> {
        query(&self.context(), sql).await
    }

    /// The physical plan's leaf that reads an object, as EXPLAIN shows it.
    pub async fn scan_of(&self, sql: &str) -> String {
        let rows = self.query(&format!("EXPLAIN {sql}")).await.expect("a plan");
        let scan = rows
            .iter()
            .flat_map(|row| row.lines())
            .find_map(|line| line.trim().strip_prefix("Scan: ").map(ToOwned::to_owned));
        scan.unwrap_or_else(|| panic!("no scan in {rows:?}"))
    }
}

/// The rows of a query at `context`, sorted.
pub async fn query(context: &QueryContext, sql: &str) -> SqlResult<Vec<String>> {
    let state = session_state(context)?;
    let plan = state.create_logical_plan(sql).await?;
    let batches: Vec<RecordBatch> = execute(&state, &plan).await?.try_collect().await?;
    let mut rows: Vec<String> = batches.iter().flat_map(texts).collect();
    rows.sort();
    Ok(rows)
}

/// Each row's values joined by `|`.
pub fn texts(batch: &RecordBatch) -> Vec<String> {
    (0..batch.num_rows())
        .map(|row| {
            let values = batch.columns().iter().map(|column| match column.data_type() {
                arrow::datatypes::DataType::Utf8 if column.is_valid(row) => {
                    column.as_string::<i32>().value(row).to_owned()
                }
                _ => array_value_to_string(column, row).expect("a value"),
            });
            values.collect::<Vec<_>>().join("|")
        })
        .collect()
}

/// How `object`'s rows lie.
pub fn layout(object: &Object) -> RowLayout {
    object.layout().expect("a layout")
}

/// A table with these key columns.
pub fn table(primary_key: &[usize]) -> ObjectKind {
    ObjectKind::Table(Table {
        primary_key: primary_key.to_vec(),
        primary_key_name: None,
        primary_key_index: None,
        primary_key_constraint: None,
        append_only: false,
        connector: None,
        constraints: Constraints::default(),
        shape: None,
    })
}

/// A materialized view with this key, spread by these columns.
pub fn view(key: &[usize], distribution: &[usize]) -> ObjectKind {
    ObjectKind::MaterializedView(MaterializedView {
        query: String::new(),
        search_path: Vec::new(),
        meaning: Meaning::default(),
        style: TextStyle::default(),
        key: key.to_vec(),
        distribution: distribution.to_vec(),
        append_only: false,
        parallelism: 2,
        on_error: OnError::Null,
    })
}
