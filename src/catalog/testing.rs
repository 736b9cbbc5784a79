//! Small catalogs for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::catalog::Catalog;
use super::constraint::Constraints;
use super::meaning::Meaning;
use super::object::{Column, MaterializedView, Object, ObjectKind, OnError, QualifiedName, Table};
use super::pg::{Activity, PgContext, PgSession, Setting};
use crate::clock::WallTime;
use crate::types::text::TextStyle;
use crate::types::{ObjectId, SqlType};

/// `public.name (id int PRIMARY KEY, amount numeric(10,2) DEFAULT 0)`.
pub fn table(catalog: &Catalog, name: &str) -> Object {
    let mut oids = catalog.oids();
    let id = oids.next();
    let (row_type, row_array_type) = (oids.next(), oids.next());
    let name = QualifiedName::new("public", name);
    Object {
        id,
        kind: ObjectKind::Table(Table {
            primary_key: vec![0],
            primary_key_name: Some(catalog.primary_key_name(&name)),
            primary_key_index: Some(oids.next()),
            primary_key_constraint: Some(oids.next()),
            append_only: false,
            connector: None,
            constraints: Constraints::default(),
            shape: None,
        }),
        columns: vec![
            column("id", SqlType::Integer, true),
            Column {
                default: Some("0".to_owned()),
                ..column("amount", SqlType::Numeric(Some((10, 2))), false)
            },
        ],
        definition: format!(
            "CREATE TABLE {} (id int PRIMARY KEY, amount numeric(10,2) DEFAULT 0)",
            name.name
        ),
        name,
        depends_on: Vec::new(),
        comment: None,
        row_type,
        row_array_type,
        owner: "weir".to_owned(),
        acl: None,
    }
}

/// `public.name`, a materialized view over `depends_on`.
pub fn view(catalog: &Catalog, name: &str, depends_on: Vec<ObjectId>) -> Object {
    let mut oids = catalog.oids();
    let query = "SELECT id FROM t".to_owned();
    Object {
        id: oids.next(),
        name: QualifiedName::new("public", name),
        kind: ObjectKind::MaterializedView(MaterializedView {
            query: query.clone(),
            search_path: vec!["public".to_owned()],
            meaning: Meaning::default(),
            style: TextStyle::default(),
            key: vec![0],
            distribution: vec![0],
            append_only: false,
            parallelism: 2,
            on_error: OnError::Null,
        }),
        columns: vec![column("id", SqlType::Integer, false)],
        definition: format!("CREATE MATERIALIZED VIEW {name} AS {query}"),
        depends_on,
        comment: None,
        row_type: oids.next(),
        row_array_type: oids.next(),
        owner: "weir".to_owned(),
        acl: None,
    }
}

/// Tables (without dependencies) and materialized views, in this order.
pub fn catalog_of(relations: &[(&str, &[&str])]) -> Catalog {
    let mut catalog = Catalog::default();
    for (name, depends_on) in relations {
        let ids: Vec<ObjectId> = depends_on
            .iter()
            .map(|on| {
                let on = QualifiedName::new("public", *on);
                catalog.object_named(&on).expect("made before").id
            })
            .collect();
        let object = if ids.is_empty() { table(&catalog, name) } else { view(&catalog, name, ids) };
        catalog = catalog.with_object(object).expect("a new name").0;
    }
    catalog
}

/// A session of `weir` in the database `weir` over a catalog.
pub fn context_of(catalog: Catalog) -> PgContext {
    let setting = |value: &str| Setting {
        value: value.to_owned(),
        default: value.to_owned(),
        plain: value.to_owned(),
        vartype: "string".to_owned(),
        ..Setting::default()
    };
    let activity = Activity {
        pid: 7,
        user: "weir".to_owned(),
        database: "weir".to_owned(),
        application_name: "test".to_owned(),
        client: None,
        backend_start: WallTime(0),
        transaction_start: None,
        query_start: Some(WallTime(1_000_000)),
        state_change: None,
        state: "active",
        query: "SELECT 1".to_owned(),
    };
    PgContext {
        catalog,
        session: Arc::new(PgSession {
            user: "weir".to_owned(),
            session_user: "weir".to_owned(),
            database: "weir".to_owned(),
            pid: 7,
            now: WallTime(0),
            server_started: WallTime(0),
            search_path: vec!["public".to_owned()],
            settings: Arc::new(BTreeMap::from([
                ("default_table_access_method".to_owned(), setting("heap")),
                ("jit".to_owned(), setting("on")),
                ("server_version_num".to_owned(), setting("150000")),
            ])),
            activity: Arc::new(vec![activity]),
            client: None,
            server: None,
            relation_bytes: BTreeMap::from([(ObjectId(16384), 16384)]),
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
    }
}

fn column(name: &str, sql_type: SqlType, not_null: bool) -> Column {
    Column {
        name: name.to_owned(),
        sql_type,
        not_null,
        default: None,
        generated: None,
        identity: None,
        comment: None,
        computed: false,
    }
}
