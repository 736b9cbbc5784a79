//! Scripts and what becomes of them.

use expect_test::{Expect, expect};

use super::super::statement::StatementKind;
use super::parse;

/// The statements' kinds, or the error.
fn shows(sql: &str, expected: Expect) {
    let shown = match parse(sql) {
        Ok(statements) => {
            statements.iter().map(|statement| format!("{:?}\n", statement.kind)).collect::<String>()
        }
        Err(error) => {
            let position = error.position.map_or("?".to_owned(), |position| position.to_string());
            format!("{} {} @{position}\n", error.code, error.message)
        }
    };
    expected.assert_eq(&shown);
}

/// Each statement's text and offset.
fn pieces(sql: &str) -> Vec<(String, usize)> {
    let statements = parse(sql).expect("it is well formed");
    statements.into_iter().map(|statement| (statement.text, statement.offset)).collect()
}

#[test]
fn scripts_are_cut_where_statements_end() {
    assert_eq!(pieces(""), []);
    assert_eq!(pieces(" ;; -- only a comment\n /* and ; another */ ; "), []);
    let script = "select ';' ; select $x$;$x$\n; /* é; */ copy t from stdin; select \"a;\"";
    let expected = [
        ("select ';'", 0),
        ("select $x$;$x$", 13),
        ("copy t from stdin", 39),
        ("select \"a;\"", 58),
    ];
    assert_eq!(pieces(script), expected.map(|(text, offset)| (text.to_owned(), offset)));
}

#[test]
fn errors_are_worded_and_placed_as_postgres_does() {
    shows(
        "selct 1",
        expect![[r#"
        42601 syntax error at or near "selct" @1
    "#]],
    );
    shows(
        "select 'ü', 1 +; select 2",
        expect![[r#"
        42601 syntax error at or near ";" @16
    "#]],
    );
    shows(
        "select * from",
        expect![[r#"
        42601 syntax error at end of input @14
    "#]],
    );
    shows(
        "select 1\nfrom t where )",
        expect![[r#"
        42601 syntax error at or near ")" @23
    "#]],
    );
    shows(
        "select 'abc",
        expect![[r#"
        42601 unterminated quoted string at or near "'abc" @8
    "#]],
    );
    shows(
        "create table t (a nosuch)",
        expect![[r#"
        42704 type "nosuch" does not exist @19
    "#]],
    );
    shows(
        "create table t (a int) partition by list (a)",
        expect![[r#"
        0A000 CREATE TABLE ... PARTITION is not supported @24
    "#]],
    );
    shows(
        "cluster",
        expect![[r#"
        0A000 CLUSTER is not supported @1
    "#]],
    );
}

#[test]
fn create_table_decides_columns_key_and_connector() {
    shows(
        "CREATE TABLE IF NOT EXISTS s.T (a int, b numeric(10, 2) NOT NULL DEFAULT 0 + 1, \
         \"C\" timestamp with time zone default now(), d text[] null, e double precision, \
         CONSTRAINT k PRIMARY KEY (b, a)) APPEND ONLY",
        expect![[r#"
            CreateTable(CreateTable { name: Name { database: None, schema: Some("s"), name: "t", position: 28 }, if_not_exists: true, columns: [ColumnDef { name: "a", sql_type: Integer, not_null: false, default: None, generated: None, numbering: None }, ColumnDef { name: "b", sql_type: Numeric(Some((10, 2))), not_null: true, default: Some("0 + 1"), generated: None, numbering: None }, ColumnDef { name: "C", sql_type: Timestamptz, not_null: false, default: Some("now()"), generated: None, numbering: None }, ColumnDef { name: "d", sql_type: Array(Text), not_null: false, default: None, generated: None, numbering: None }, ColumnDef { name: "e", sql_type: Double, not_null: false, default: None, generated: None, numbering: None }], primary_key: [1, 0], primary_key_name: Some("k"), append_only: true, connector: None, query: None, query_columns: [], temporary: None, constraints: NewConstraints { unique: [], checks: [], foreign_keys: [] } })
        "#]],
    );
    shows(
        "create source f (a int, b varchar(5)) with (connector = 'file', path='x/*.csv', \
         a.b = 3) format plain encode csv (header = 'true', null = 'NA')",
        expect![[r#"
            CreateSource(CreateSource { name: Name { database: None, schema: None, name: "f", position: 15 }, if_not_exists: false, columns: [ColumnDef { name: "a", sql_type: Integer, not_null: false, default: None, generated: None, numbering: None }, ColumnDef { name: "b", sql_type: Varchar(Some(5)), not_null: false, default: None, generated: None, numbering: None }], connector: Connector { name: "file", options: {"a.b": "3", "path": "x/*.csv"}, format: Some("plain"), encode: Some("csv"), encode_options: {"header": "true", "null": "NA"} } })
        "#]],
    );
    shows(
        "create table t (a int primary key, primary key (a))",
        expect![[r#"
        42P16 multiple primary keys for table "t" are not allowed @36
    "#]],
    );
    shows(
        "create table t (a int, a int)",
        expect![[r#"
        42701 column "a" specified more than once @24
    "#]],
    );
}

#[test]
fn create_views() {
    shows(
        "create or replace view v (x) as table t; \
         create materialized view if not exists m with (parallelism = 4, on_error = 'fail') \
         as select 1 as a union all select 2 with data",
        expect![[r#"
            CreateView(CreateView { name: Name { database: None, schema: None, name: "v", position: 24 }, or_replace: true, columns: ["x"], query: Query("table t") })
            CreateMaterializedView(CreateMaterializedView { name: Name { database: None, schema: None, name: "m", position: 81 }, if_not_exists: true, columns: [], query: Query("select 1 as a union all select 2"), parallelism: Some(4), on_error: Fail })
        "#]],
    );
    shows(
        "create materialized view m with (x = 1) as select 1",
        expect![[r#"
        22023 unrecognized parameter "x" @?
    "#]],
    );
}

#[test]
fn writes() {
    shows(
        "insert into t as x (a, \"B\") values (1, default) on conflict (a) do update \
         set a = excluded.a, b = default where x.a > 1 returning *, a + 1 as n",
        expect![[r#"
            Insert(Insert { with: None, table: Name { database: None, schema: None, name: "t", position: 13 }, alias: Some("x"), columns: [ColumnRef { name: "a", position: 21 }, ColumnRef { name: "B", position: 24 }], overriding: None, source: Some(Query("VALUES (1, default)")), on_conflict: Some(OnConflict { target: Some(Columns([ColumnRef { name: "a", position: 62 }])), action: Update { assignments: [Assignment { column: ColumnRef { name: "a", position: 79 }, value: Some(Expression("excluded.a")) }, Assignment { column: ColumnRef { name: "b", position: 95 }, value: None }], condition: Some(Expression("x.a > 1")) } }), returning: Some(Selection("*, a + 1 AS n")) })
        "#]],
    );
    shows(
        "insert into t default values; with w as (select 1) insert into t select * from w",
        expect![[r#"
            Insert(Insert { with: None, table: Name { database: None, schema: None, name: "t", position: 13 }, alias: None, columns: [], overriding: None, source: None, on_conflict: None, returning: None })
            Insert(Insert { with: Some(With("WITH w AS (SELECT 1)")), table: Name { database: None, schema: None, name: "t", position: 64 }, alias: None, columns: [], overriding: None, source: Some(Query("WITH w AS (SELECT 1) SELECT * FROM w")), on_conflict: None, returning: None })
        "#]],
    );
    shows(
        "update t set (a, b) = (1, default), c = c + 1 from u where t.a = u.a; \
         delete from s.t as x using u where x.a = u.a returning x.a; \
         truncate table t, only u restart identity cascade",
        expect![[r#"
            Update(Update { with: None, table: Name { database: None, schema: None, name: "t", position: 8 }, alias: None, assignments: [Assignment { column: ColumnRef { name: "a", position: 15 }, value: Some(Expression("1")) }, Assignment { column: ColumnRef { name: "b", position: 18 }, value: None }, Assignment { column: ColumnRef { name: "c", position: 37 }, value: Some(Expression("c + 1")) }], from: Some(From("u")), condition: Some(Expression("t.a = u.a")), returning: None })
            Delete(Delete { with: None, table: Name { database: None, schema: Some("s"), name: "t", position: 83 }, alias: Some("x"), using: Some(From("u")), condition: Some(Expression("x.a = u.a")), returning: Some(Selection("x.a")) })
            Truncate(Truncate { tables: [Name { database: None, schema: None, name: "t", position: 146 }, Name { database: None, schema: None, name: "u", position: 154 }], restart_identity: true, cascade: true })
        "#]],
    );
    shows(
        "with d as (delete from t returning *) select * from d",
        expect![[r#"
        0A000 a data-modifying statement in a query is not supported @?
    "#]],
    );
    shows(
        "insert into u select * from t for update",
        expect![[r#"
        0A000 SELECT FOR UPDATE or SHARE inside a statement is not supported @?
    "#]],
    );
}

#[test]
fn copies() {
    shows(
        "copy t (a, b) from stdin with (format csv, header, null 'NA', force_not_null (a, b)); \
         copy (select 1) to stdout csv header null as '' force quote *; copy binary t to stdout",
        expect![[r#"
            Copy(Copy { direction: FromStdin, what: Table { table: Name { database: None, schema: None, name: "t", position: 6 }, columns: [ColumnRef { name: "a", position: 9 }, ColumnRef { name: "b", position: 12 }] }, options: [("format", "csv"), ("header", "true"), ("null", "NA"), ("force_not_null", "a,b")] })
            Copy(Copy { direction: ToStdout, what: Query(Query("select 1")), options: [("format", "csv"), ("header", "true"), ("null", ""), ("force_quote", "*")] })
            Copy(Copy { direction: ToStdout, what: Table { table: Name { database: None, schema: None, name: "t", position: 162 }, columns: [] }, options: [("format", "binary")] })
        "#]],
    );
    shows(
        "copy t from '/etc/passwd'",
        expect![[r#"
        0A000 COPY to or from a file or program of the server is not supported @13
    "#]],
    );
}

#[test]
fn session_statements() {
    shows(
        "set session search_path to \"$user\", public; set local statement_timeout = '5s'; \
         set time zone 'UTC'; set x.y = on; set names 'utf8'; set a to default; reset all; \
         show server_version; show transaction isolation level; show materialized views; \
         show columns from t; show create table s.t; show all",
        expect![[r#"
            Set(Set { name: "search_path", local: false, values: Some(["$user", "public"]) })
            Set(Set { name: "statement_timeout", local: true, values: Some(["5s"]) })
            Set(Set { name: "timezone", local: false, values: Some(["UTC"]) })
            Set(Set { name: "x.y", local: false, values: Some(["on"]) })
            Set(Set { name: "client_encoding", local: false, values: Some(["utf8"]) })
            Set(Set { name: "a", local: false, values: None })
            Reset(None)
            Show(Variable("server_version"))
            Show(Variable("transaction_isolation"))
            Show(Objects { kind: MaterializedViews, schema: None })
            Show(Columns(Name { database: None, schema: None, name: "t", position: 261 }))
            Show(Create { kind: Table, name: Name { database: None, schema: Some("s"), name: "t", position: 282 } })
            Show(All)
        "#]],
    );
    shows(
        "begin; begin isolation level repeatable read, read only; start transaction read write; \
         commit work; end; rollback to savepoint a; abort; release a; \
         set session characteristics as transaction isolation level serializable",
        expect![[r#"
            Begin(TransactionModes { isolation: None, read_only: None, deferrable: None })
            Begin(TransactionModes { isolation: Some(RepeatableRead), read_only: Some(true), deferrable: None })
            Begin(TransactionModes { isolation: None, read_only: Some(false), deferrable: None })
            Commit { and_chain: false }
            Commit { and_chain: false }
            RollbackToSavepoint("a")
            Rollback { and_chain: false }
            ReleaseSavepoint("a")
            SetTransaction(SetTransaction { session: true, modes: TransactionModes { isolation: Some(Serializable), read_only: None, deferrable: None } })
        "#]],
    );
    shows(
        "declare c binary no scroll cursor with hold for select 1; fetch c; fetch 5 from c; \
         fetch backward 2 in c; move all c; close all; deallocate all; deallocate prepare p; \
         discard all; listen a; unlisten *; notify a, 'x'; execute p (1, 'x'); flush; checkpoint",
        expect![[r#"
            Declare(Declare { name: "c", binary: true, scroll: Some(false), hold: true, rows: Query(Query("select 1")) })
            Fetch(Fetch { cursor: "c", direction: Forward(1), timeout: None })
            Fetch(Fetch { cursor: "c", direction: Forward(5), timeout: None })
            Fetch(Fetch { cursor: "c", direction: Forward(-2), timeout: None })
            Move(Fetch { cursor: "c", direction: ForwardAll, timeout: None })
            Close(None)
            Deallocate(None)
            Deallocate(Some("p"))
            Discard(All)
            Listen("a")
            Unlisten(None)
            Notify { channel: "a", payload: Some("x") }
            Execute(Execute { name: "p", arguments: [Expression("1"), Expression("'x'")] })
            Flush
            Checkpoint
        "#]],
    );
}

#[test]
fn explain_and_drop_and_comment() {
    shows(
        "explain (analyze, costs off) select 1; explain (select 1); \
         drop materialized view if exists a, s.b cascade; drop schema s; \
         comment on column s.t.c is 'x'; comment on table t is null; describe t",
        expect![[r#"
            Explain(Explain { analyze: true, verbose: false, options: [("analyze", "true"), ("costs", "off")], target: Query(Query("select 1")) })
            Explain(Explain { analyze: false, verbose: false, options: [], target: Query(Query("(select 1)")) })
            Drop(Drop { kind: MaterializedView, names: [Name { database: None, schema: None, name: "a", position: 93 }, Name { database: None, schema: Some("s"), name: "b", position: 96 }], if_exists: true, cascade: true })
            Drop(Drop { kind: Schema, names: [Name { database: None, schema: None, name: "s", position: 121 }], if_exists: false, cascade: false })
            Comment(Comment { target: Column { relation: Name { database: None, schema: Some("s"), name: "t", position: 142 }, column: "c" }, text: Some("x") })
            Comment(Comment { target: Object { kind: Table, name: Name { database: None, schema: None, name: "t", position: 173 } }, text: None })
            Describe(Name { database: None, schema: None, name: "t", position: 193 })
        "#]],
    );
}

#[test]
fn parameters_are_counted() {
    let statements = parse("prepare p (int) as select $1, '$7', $3").expect("it is well formed");
    let StatementKind::Prepare(prepare) = &statements[0].kind else {
        panic!("not a PREPARE");
    };
    assert_eq!(prepare.statement.parameters, 3);
    assert_eq!(prepare.statement.text, "select $1, '$7', $3");
}
