//! DML over a real store and gate; epochs are sealed and committed by hand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use datafusion::common::ScalarValue;

use super::{
    BoundParameters, Context, CopyIn, DmlResult, Limits, RowIds, Transaction, delete, describe,
    insert, truncate, update,
};
use crate::catalog::{Object, QualifiedName};
use crate::dataflow::inbox::{Gate, Inbox};
use crate::engine::locks::Locks;
use crate::engine::sequences::Sequences;
use crate::error::SqlResult;
use crate::planner::parse;
use crate::planner::statement::{CopyWhat, StatementKind};
use crate::planner::testing::catalog_of;
use crate::serving::QueryContext;
use crate::serving::testing::{Fixture, layout, query, texts};
use crate::state::Commit;
use crate::types::{Epoch, SqlType};

/// Tables, and what enters them.
struct Database {
    fixture: Fixture,
    context: Context,
    inboxes: Vec<Arc<Inbox>>,
    /// Every row that the deltas so far left, by table and text, with its weight.
    views: BTreeMap<(String, String), i64>,
}

impl Database {
    fn new(script: &str) -> Self {
        let mut fixture = Fixture::default();
        fixture.catalog = catalog_of(script);
        let inboxes: Vec<Arc<Inbox>> = fixture
            .catalog
            .objects()
            .map(|object| Arc::new(Inbox::new(&fixture.store, object.id, layout(object))))
            .collect();
        let known = inboxes.clone();
        let catalog = Arc::new(fixture.catalog.clone());
        let context = Context {
            gate: Arc::new(Gate::new(Epoch(1))),
            catalog: Arc::new(move || Arc::clone(&catalog)),
            inbox: Arc::new(move |id| known.iter().find(|inbox| inbox.object() == id).cloned()),
            locks: Arc::new(Locks::default()),
            owner: None,
            row_ids: Arc::new(RowIds::default()),
            sequences: Arc::new(Sequences::new(fixture.store.clone())),
            limits: Limits { transaction_bytes_max: 8 << 20 },
            lock_timeout: None,
        };
        Self { fixture, context, inboxes, views: BTreeMap::new() }
    }

    fn query_context(&self) -> QueryContext {
        self.fixture.context()
    }

    fn object(&self, name: &str) -> Arc<Object> {
        let name = QualifiedName::new("public", name);
        Arc::clone(self.fixture.catalog.object_named(&name).unwrap())
    }

    /// Runs a script as one transaction and ends its epoch.
    async fn execute(&mut self, sql: &str) -> SqlResult<Vec<String>> {
        let mut transaction = Transaction::begin(&self.context);
        let done = self.run(&mut transaction, sql).await?;
        transaction.commit(&self.context).await?;
        self.seal();
        Ok(done)
    }

    /// The message of a statement that must fail: `SQLSTATE message (detail)`.
    async fn fail(&mut self, sql: &str) -> String {
        let error = self.execute(sql).await.expect_err(sql);
        let detail = error.detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
        format!("{} {}{detail}", error.code, error.message)
    }

    /// Runs a script in `transaction`: for each statement its count and what it returned.
    async fn run(&self, transaction: &mut Transaction, sql: &str) -> SqlResult<Vec<String>> {
        run(&self.context, &self.query_context(), transaction, sql, &BoundParameters::default())
            .await
    }

    /// Ends the epoch: commits it, and checks that what went to the views is what the tables hold.
    fn seal(&mut self) {
        let next = Epoch(self.context.gate.open_epoch().0 + 1);
        let epoch = self.context.gate.seal(next, self.inboxes.iter());
        let mut changes = Vec::new();
        for inbox in &self.inboxes {
            let Some(sealed) = inbox.take_sealed(epoch) else { continue };
            changes.extend(sealed.changes);
            let name = self.fixture.catalog.object(inbox.object()).unwrap().name.name.clone();
            for delta in &sealed.deltas {
                for (row, text) in texts(delta.batch()).into_iter().enumerate() {
                    *self.views.entry((name.clone(), text)).or_default() += delta.weight(row);
                }
            }
        }
        self.views.retain(|_, weight| *weight != 0);
        self.fixture
            .store
            .commit(Commit { epoch: Some(epoch), changes, ..Commit::default() })
            .unwrap();
        for inbox in &self.inboxes {
            let object = self.fixture.catalog.object(inbox.object()).unwrap();
            let name = &object.name.name;
            let mut stored = Vec::new();
            inbox
                .reader()
                .scan(&[], None, &mut |key, value| {
                    let rows = inbox.layout().decode(std::iter::once((key, value))).unwrap();
                    stored.extend(texts(rows.batch()));
                    true
                })
                .unwrap();
            stored.sort();
            let mine = self.views.iter().filter(|((table, _), _)| table == name);
            let mut streamed: Vec<String> = mine
                .inspect(|(row, weight)| assert_eq!(**weight, 1, "{row:?}"))
                .map(|((_, text), _)| text.clone())
                .collect();
            streamed.sort();
            assert_eq!(stored, streamed, "table {name} and its deltas");
        }
    }

    /// Committed rows.
    async fn rows(&self, sql: &str) -> Vec<String> {
        query(&self.query_context(), sql).await.unwrap()
    }
}

async fn run(
    context: &Context,
    query: &QueryContext,
    transaction: &mut Transaction,
    sql: &str,
    parameters: &BoundParameters,
) -> SqlResult<Vec<String>> {
    let mut done = Vec::new();
    for statement in parse(sql)? {
        let DmlResult { rows, returning, .. } = match &statement.kind {
            StatementKind::Insert(statement) => {
                insert(context, transaction, query, statement, parameters).await?
            }
            StatementKind::Update(statement) => {
                update(context, transaction, query, statement, parameters).await?
            }
            StatementKind::Delete(statement) => {
                delete(context, transaction, query, statement, parameters).await?
            }
            StatementKind::Truncate(statement) => {
                truncate(context, transaction, query, statement).await?
            }
            other => panic!("not DML: {other:?}"),
        };
        let returned: Vec<String> = returning
            .map(|(_, batches)| batches.iter().flat_map(texts).collect())
            .unwrap_or_default();
        done.push(format!("{rows} {}", returned.join(" ")).trim_end().to_owned());
    }
    Ok(done)
}

#[tokio::test(flavor = "multi_thread")]
async fn insert_completes_casts_and_checks_rows() {
    let mut db = Database::new(
        "CREATE TABLE t (id int PRIMARY KEY, v varchar(5) DEFAULT 'x' || 'y', n numeric(6,2), \
         at timestamptz, small smallint NOT NULL DEFAULT 7)",
    );
    let done = db
        .execute(
            "INSERT INTO t VALUES (1, 'abc', 1.005, '2024-01-02 03:04:05+00', DEFAULT), \
             (2, DEFAULT, 2, NULL, 3) RETURNING id, v, n, small + 1",
        )
        .await
        .unwrap();
    assert_eq!(done, ["2 1|abc|1.01|8 2|xy|2.00|4"]);
    let done = db.execute("INSERT INTO t (n, id) SELECT 2.5 * 2, 10 RETURNING *").await.unwrap();
    assert_eq!(done, ["1 10|xy|5.00||7"]);
    for (sql, failure) in [
        (
            "INSERT INTO t (id) VALUES (1)",
            "23505 duplicate key value violates unique constraint \"t_pkey\" \
          (Key (id)=(1) already exists.)",
        ),
        (
            "INSERT INTO t (id) VALUES (5), (6), (5)",
            "23505 duplicate key value violates unique constraint \"t_pkey\" \
          (Key (id)=(5) already exists.)",
        ),
        (
            "INSERT INTO t (id, small) VALUES (8, NULL)",
            "23502 null value in column \"small\" of relation \"t\" violates not-null constraint \
          (Failing row contains (8, xy, null, null, null).)",
        ),
        (
            "INSERT INTO t (v) VALUES ('a')",
            "23502 null value in column \"id\" of relation \"t\" violates not-null constraint \
          (Failing row contains (null, a, null, null, 7).)",
        ),
        (
            "INSERT INTO t (id, v) VALUES (9, 'abcdef')",
            "22001 value too long for type character varying(5)",
        ),
        ("INSERT INTO t (id, small) VALUES (9, 40000)", "22003 smallint out of range"),
        (
            "INSERT INTO t (id, n) VALUES (9, 99999.999)",
            "22003 numeric field overflow (A field with precision 6, scale 2 must round to an \
          absolute value less than 10^4.)",
        ),
        (
            "INSERT INTO t (id, at) VALUES (9, true)",
            "42804 column \"at\" is of type timestamp with time zone but expression is of type \
          boolean",
        ),
        (
            "INSERT INTO t (id) VALUES ('one')",
            "22P02 invalid input syntax for type integer: \"one\"",
        ),
        (
            "INSERT INTO t (id, nope) VALUES (9, 1)",
            "42703 column \"nope\" of relation \"t\" does not exist",
        ),
        ("INSERT INTO nowhere VALUES (1)", "42P01 relation \"nowhere\" does not exist"),
        (
            "INSERT INTO t (id, v) VALUES (9)",
            "42601 INSERT has more target columns than expressions",
        ),
    ] {
        assert_eq!(db.fail(sql).await, failure, "{sql}");
    }
    assert_eq!(db.rows("SELECT id FROM t").await, ["1", "10", "2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn on_conflict_does_nothing_or_updates_once() {
    let mut db = Database::new("CREATE TABLE t (id int PRIMARY KEY, v int, s text)");
    db.execute("INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b')").await.unwrap();
    let skipped = "INSERT INTO t VALUES (2, 0, 'z'), (3, 30, 'c'), (3, 31, 'd') \
                   ON CONFLICT DO NOTHING RETURNING id, v";
    assert_eq!(db.execute(skipped).await.unwrap(), ["1 3|30"]);
    let upsert = "INSERT INTO t AS old VALUES (4, 1, 'n'), (1, 5, 'p'), (2, 6, 'q'), (5, 1, 'm') \
                  ON CONFLICT (id) DO UPDATE SET v = old.v + excluded.v, s = excluded.s || old.s \
                  WHERE old.v < 20 RETURNING id, v, s";
    assert_eq!(db.execute(upsert).await.unwrap(), ["3 4|1|n 1|15|pa 5|1|m"]);
    let named = "INSERT INTO t VALUES (1, 0, '') ON CONFLICT ON CONSTRAINT t_pkey \
                 DO UPDATE SET id = 100, s = DEFAULT RETURNING *";
    assert_eq!(db.execute(named).await.unwrap(), ["1 100|15|"]);
    for (sql, code) in [
        (
            "INSERT INTO t VALUES (2, 1, ''), (2, 2, '') ON CONFLICT (id) DO UPDATE SET v = 1",
            "21000",
        ),
        (
            "INSERT INTO t VALUES (9, 1, ''), (9, 2, '') ON CONFLICT (id) DO UPDATE SET v = 1",
            "21000",
        ),
        ("INSERT INTO t VALUES (2, 1, '') ON CONFLICT (id) DO UPDATE SET id = 3", "23505"),
        ("INSERT INTO t VALUES (2, 1, '') ON CONFLICT (v) DO NOTHING", "42P10"),
        ("INSERT INTO t VALUES (2, 1, '') ON CONFLICT DO UPDATE SET v = 1", "42601"),
    ] {
        let failure = db.fail(sql).await;
        assert!(failure.starts_with(code), "{sql}: {failure}");
    }
    let rows = db.rows("SELECT * FROM t").await;
    assert_eq!(rows, ["100|15|", "2|20|b", "3|30|c", "4|1|n", "5|1|m"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn update_sees_the_statements_end() {
    let mut db =
        Database::new("CREATE TABLE t (id int PRIMARY KEY, v int); CREATE TABLE u (k int, w int)");
    db.execute("INSERT INTO t SELECT g, g * 10 FROM generate_series(1, 5) AS s(g)").await.unwrap();
    db.execute("INSERT INTO u VALUES (2, 200), (3, 300), (3, 301)").await.unwrap();
    assert_eq!(db.execute("UPDATE t SET id = id + 1").await.unwrap(), ["5"]);
    let rows = db.rows("SELECT * FROM t").await;
    assert_eq!(rows, ["2|10", "3|20", "4|30", "5|40", "6|50"]);
    let failure = db.fail("UPDATE t SET id = 3 WHERE id IN (4, 5)").await;
    assert!(failure.starts_with("23505"), "{failure}");
    assert_eq!(db.execute("UPDATE t SET v = 10 WHERE v = 10 RETURNING id").await.unwrap(), ["1 2"]);
    let subquery = "UPDATE t SET v = (SELECT max(w) FROM u WHERE k = t.id) \
                    WHERE id IN (SELECT k FROM u) RETURNING t.id, v";
    let mut done = db.execute(subquery).await.unwrap();
    done.sort();
    assert!(done == ["2 2|200 3|301"] || done == ["2 3|301 2|200"], "{done:?}");
    let joined = "UPDATE t AS x SET v = u.w FROM u WHERE u.k = x.id";
    assert_eq!(db.execute(joined).await.unwrap(), ["2"]);
    let own =
        "UPDATE t SET v = 0 WHERE v < (SELECT max(v) + 1 FROM t) AND id IN (SELECT id FROM t)";
    assert_eq!(db.execute(own).await.unwrap(), ["5"]);
    assert_eq!(db.rows("SELECT DISTINCT v FROM t").await, ["0"]);
    let failure = db.fail("UPDATE t SET v = 1, v = 2").await;
    assert_eq!(failure, "42601 multiple assignments to same column \"v\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_without_a_key_are_told_apart() {
    let mut db = Database::new("CREATE TABLE t (a int, b text)");
    db.execute("INSERT INTO t VALUES (1, 'x'), (1, 'x'), (2, NULL)").await.unwrap();
    assert_eq!(db.rows("SELECT * FROM t").await, ["1|x", "1|x", "2|"]);
    assert_eq!(db.execute("UPDATE t SET b = 'y' WHERE a = 1").await.unwrap(), ["2"]);
    assert_eq!(db.execute("DELETE FROM t WHERE b IS NULL RETURNING *").await.unwrap(), ["1 2|"]);
    assert_eq!(db.execute("INSERT INTO t SELECT * FROM t").await.unwrap(), ["2"]);
    assert_eq!(db.rows("SELECT * FROM t").await, ["1|y"; 4]);
    assert_eq!(db.execute("TRUNCATE t; INSERT INTO t DEFAULT VALUES").await.unwrap(), ["0", "1"]);
    assert_eq!(db.rows("SELECT * FROM t").await, ["|"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn delete_with_using_and_the_limits_of_append_only() {
    let mut db = Database::new(
        "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (k int); \
         CREATE TABLE log (m text) APPEND ONLY",
    );
    db.execute("INSERT INTO t VALUES (1), (2), (3); INSERT INTO u VALUES (2), (2), (3)")
        .await
        .unwrap();
    assert_eq!(db.execute("DELETE FROM t USING u WHERE u.k = t.id").await.unwrap(), ["2"]);
    assert_eq!(db.rows("SELECT * FROM t").await, ["1"]);
    db.execute("INSERT INTO log VALUES ('a')").await.unwrap();
    for sql in ["DELETE FROM log", "UPDATE log SET m = 'b'", "TRUNCATE log"] {
        let failure = db.fail(sql).await;
        assert_eq!(failure, "55000 cannot change rows of append-only table \"log\"", "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_enters_one_epoch_whole_or_not_at_all() {
    let mut db =
        Database::new("CREATE TABLE t (id int PRIMARY KEY, v int); CREATE TABLE u (k int)");
    let mut transaction = Transaction::begin(&db.context);
    db.run(&mut transaction, "INSERT INTO t VALUES (1, 1)").await.unwrap();
    let failed = db.run(&mut transaction, "INSERT INTO t VALUES (2, 2), (1, 1)").await;
    assert_eq!(failed.unwrap_err().code, "23505");
    let script = "UPDATE t SET v = v + 1 RETURNING *; INSERT INTO u SELECT id FROM t; \
                  DELETE FROM t WHERE id = 1; INSERT INTO t VALUES (1, 9) RETURNING v";
    let done = db.run(&mut transaction, script).await.unwrap();
    assert_eq!(done, ["1 1|2", "1", "1", "1 9"]);
    let mut context = db.query_context();
    context.rows.extend(transaction.overlay_on(|object| context.rows_of(object)));
    assert_eq!(query(&context, "SELECT * FROM t").await.unwrap(), ["1|9"]);
    assert_eq!(db.rows("SELECT * FROM t").await, Vec::<String>::new());
    assert_eq!(transaction.commit(&db.context).await.unwrap(), Some(Epoch(1)));
    db.seal();
    assert_eq!(db.rows("SELECT * FROM t").await, ["1|9"]);
    assert_eq!(db.rows("SELECT * FROM u").await, ["1"]);

    let mut transaction = Transaction::begin(&db.context);
    db.run(&mut transaction, "TRUNCATE t, u, t").await.unwrap();
    transaction.rollback();
    assert_eq!(Transaction::begin(&db.context).commit(&db.context).await.unwrap(), None);
    db.execute("UPDATE t SET v = 10").await.unwrap();
    assert_eq!(db.rows("SELECT * FROM t").await, ["1|10"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_of_the_graph_refuses_what_was_decided_before_it() {
    let mut db = Database::new("CREATE TABLE t (id int PRIMARY KEY)");
    db.execute("INSERT INTO t VALUES (1)").await.unwrap();
    let mut transaction = Transaction::begin(&db.context);
    db.run(&mut transaction, "INSERT INTO t VALUES (2)").await.unwrap();
    db.context.gate.reset(Epoch(10), &db.fixture.store, db.inboxes.iter());
    assert_eq!(transaction.commit(&db.context).await.unwrap_err().code, "40001");
    db.execute("INSERT INTO t VALUES (3)").await.unwrap();
    assert_eq!(db.rows("SELECT * FROM t").await, ["1", "3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_statements_are_one_after_the_other() {
    let mut db = Database::new("CREATE TABLE t (id int PRIMARY KEY, v int)");
    db.execute("INSERT INTO t VALUES (1, 0)").await.unwrap();
    let writers = (0..16).map(|_| {
        let (context, query) = (db.context.clone(), db.query_context());
        crate::task::spawn("writer", async move {
            for _ in 0..5 {
                let mut transaction = Transaction::begin(&context);
                let none = BoundParameters::default();
                let sql = "UPDATE t SET v = v + 1";
                run(&context, &query, &mut transaction, sql, &none).await.unwrap();
                transaction.commit(&context).await.unwrap();
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    for writer in writers {
        writer.await.unwrap();
    }
    db.seal();
    assert_eq!(db.rows("SELECT v FROM t").await, ["80"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn locks_time_out_and_circles_are_broken() {
    let mut db = Database::new("CREATE TABLE a (x int); CREATE TABLE b (x int)");
    db.context.lock_timeout = Some(Duration::from_millis(50));
    let mut first = Transaction::begin(&db.context);
    db.run(&mut first, "INSERT INTO a VALUES (1)").await.unwrap();
    let mut second = Transaction::begin(&db.context);
    let late = db.run(&mut second, "INSERT INTO a VALUES (2)").await.unwrap_err();
    assert_eq!(
        (late.code, late.message.as_str()),
        ("55P03", "canceling statement due to lock timeout")
    );

    db.context.lock_timeout = None;
    db.run(&mut second, "INSERT INTO b VALUES (2)").await.unwrap();
    // Each now wants what the other has: whoever waits last sees the circle and gives way.
    let finish = |mut transaction: Transaction, sql: &'static str| {
        let (context, query) = (db.context.clone(), db.query_context());
        crate::task::spawn("finish", async move {
            let none = BoundParameters::default();
            run(&context, &query, &mut transaction, sql, &none).await?;
            transaction.commit(&context).await
        })
    };
    let first = finish(first, "INSERT INTO b VALUES (1)");
    let second = finish(second, "INSERT INTO a VALUES (2)");
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    let lost = match (first, second) {
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => error,
        both => panic!("one must give way: {both:?}"),
    };
    assert_eq!(lost.code, "40P01");
    db.seal();
    let rows = db.rows("SELECT * FROM a UNION ALL SELECT * FROM b").await;
    assert!(rows == ["1", "1"] || rows == ["2", "2"], "{rows:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_has_a_size() {
    let mut db = Database::new("CREATE TABLE t (id bigint PRIMARY KEY, pad text)");
    let large = "INSERT INTO t SELECT g, repeat('x', 1000) FROM generate_series(1, 20000) AS s(g)";
    let failure = db.fail(large).await;
    assert!(failure.starts_with("53200 transaction is too large"), "{failure}");
    assert_eq!(db.rows("SELECT count(*) FROM t").await, ["0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_have_the_types_of_their_columns() {
    let mut db = Database::new("CREATE TABLE t (id int PRIMARY KEY, v numeric(6,2), s varchar(9))");
    let query = db.query_context();
    let described = |sql: &'static str| {
        let query = query.clone();
        async move {
            let statement = parse(sql).unwrap().remove(0);
            describe(&query, &statement.kind, &[]).await.unwrap().unwrap()
        }
    };
    let insert = "INSERT INTO t VALUES ($1, $2, $3) RETURNING id, s";
    let found = described(insert).await;
    let types = [SqlType::Integer, SqlType::Numeric(Some((6, 2))), SqlType::Text];
    assert_eq!(found.parameters, types);
    assert_eq!(found.returning.unwrap().field(1).name(), "s");
    let found = described("UPDATE t SET s = $1 WHERE id = $2").await;
    assert_eq!(found.parameters, [SqlType::Text, SqlType::Integer]);
    let found = described("DELETE FROM t WHERE id = $1").await;
    assert_eq!(found.parameters, [SqlType::Integer]);

    let parameters = BoundParameters {
        declared: types.into_iter().map(Some).collect(),
        values: vec![
            ScalarValue::Int32(Some(7)),
            ScalarValue::Decimal128(Some(150), 6, 2),
            ScalarValue::Utf8(Some("text".to_owned())),
        ],
    };
    let mut transaction = Transaction::begin(&db.context);
    let done = run(&db.context, &query, &mut transaction, insert, &parameters).await.unwrap();
    assert_eq!(done, ["1 7|text"]);
    transaction.commit(&db.context).await.unwrap();
    db.seal();
    assert_eq!(db.rows("SELECT * FROM t").await, ["7|1.50|text"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_adds_batches_at_once() {
    let mut db = Database::new("CREATE TABLE t (id int PRIMARY KEY, v int DEFAULT 5, s text)");
    let source = Database::new("CREATE TABLE r (s text, id int)");
    let schema = source.object("r").schema();
    let batch = |ids: [i32; 2]| {
        let columns: Vec<arrow::array::ArrayRef> = vec![
            Arc::new(arrow::array::StringArray::from(vec![Some("x"), None])),
            Arc::new(arrow::array::Int32Array::from(ids.to_vec())),
        ];
        arrow::array::RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()
    };
    let statement = parse("COPY t (s, id) FROM STDIN").unwrap().remove(0);
    let StatementKind::Copy(copy) = statement.kind else { panic!("not a COPY") };
    let CopyWhat::Table { table, columns } = &copy.what else { panic!("not of a table") };
    let query = db.query_context();
    let mut transaction = Transaction::begin(&db.context);
    let begin = CopyIn::begin(&db.context, &mut transaction, &query, table, columns);
    let mut copy = begin.await.unwrap();
    assert_eq!(copy.schema().field(0).name(), "s");
    copy.push(&db.context, &transaction, batch([1, 2])).await.unwrap();
    copy.push(&db.context, &transaction, batch([3, 4])).await.unwrap();
    assert_eq!(copy.finish(&db.context, &mut transaction).await.unwrap(), 4);
    let begin = CopyIn::begin(&db.context, &mut transaction, &query, table, columns);
    let mut again = begin.await.unwrap();
    let error = again.push(&db.context, &transaction, batch([9, 4])).await.unwrap_err();
    assert_eq!(error.code, "23505");
    assert!(again.finish(&db.context, &mut transaction).await.is_err());
    transaction.commit(&db.context).await.unwrap();
    db.seal();
    assert_eq!(db.rows("SELECT * FROM t").await, ["1|5|x", "2|5|", "3|5|x", "4|5|"]);
}
