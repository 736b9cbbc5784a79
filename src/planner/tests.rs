//! Queries, planned and run: types and values as PostgreSQL gives them.

use std::sync::Arc;

use arrow::array::{Int32Array, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::util::display::array_value_to_string;
use datafusion::common::ScalarValue;
use datafusion::physical_plan::collect;
use expect_test::{Expect, expect};

use super::testing;
use super::testing::session;
use super::{
    Parameters, PlannedQuery, RowRelation, StatementKind, delete_query, insert_query, parse,
    parse_expression, parse_query, plan_expressions, plan_query, plan_returning, update_query,
};
use crate::error::{SqlError, SqlResult};
use crate::types::SqlType;

async fn planned(sql: &str, declared: &[Option<SqlType>]) -> SqlResult<PlannedQuery> {
    plan_query(&session(), &parse_query(sql)?, declared).await
}

/// `name type: value` for each column of a one-row query.
async fn run(sql: &str, values: Vec<ScalarValue>) -> SqlResult<String> {
    let state = session();
    let planned = plan_query(&state, &parse_query(sql)?, &[]).await?;
    let names: Vec<String> = planned.column_names().into_iter().map(str::to_owned).collect();
    let plan = planned.plan.with_param_values(values)?;
    let physical = state.create_physical_plan(&plan).await?;
    let batches = collect(physical, state.task_ctx()).await?;
    let mut shown = String::new();
    for batch in &batches {
        for row in 0..batch.num_rows() {
            for (column, name) in names.iter().enumerate() {
                let sql_type = SqlType::of_field(batch.schema().field(column));
                let value = array_value_to_string(batch.column(column), row)?;
                shown.push_str(&format!("{name} {sql_type}: {value}\n"));
            }
        }
    }
    Ok(shown)
}

fn shows(sql: &str, expected: Expect) {
    let shown = testing::run(run(sql, Vec::new())).unwrap_or_else(|error| describe(&error));
    expected.assert_eq(&shown);
}

fn describe(error: &SqlError) -> String {
    let position = error.position.map(|position| format!(" @{position}")).unwrap_or_default();
    format!("{} {}{position}\n", error.code, error.message)
}

#[test]
fn literals_have_postgres_types_and_columns_its_names() {
    shows(
        "select 1, 3000000000, 1.50, 'x', true, null, 1 + 1, -5 as neg",
        expect![[r#"
        ?column? integer: 1
        ?column? bigint: 3000000000
        ?column? numeric(3,2): 1.50
        ?column? text: x
        bool boolean: true
        ?column? text: 
        ?column? integer: 2
        neg integer: -5
    "#]],
    );
    shows(
        "select 1::bigint, '2'::int, upper('a'), upper('b')::text, coalesce(1, 2)",
        expect![[r#"
        int8 bigint: 1
        int4 integer: 2
        upper text: A
        upper text: B
        coalesce integer: 1
    "#]],
    );
    shows(
        "select count(*), count(*), case when true then 1 else 2 end",
        expect![[r#"
        count bigint: 1
        count bigint: 1
        case integer: 1
    "#]],
    );
    shows(
        "select extract(year from date '2024-02-29'), now() is null as x",
        expect![[r#"
        extract numeric(30,0): 2024
        x boolean: false
    "#]],
    );
    shows(
        "select * from (select 1 as a, 2 as a) t",
        expect![[r#"
        a integer: 1
        a integer: 2
    "#]],
    );
}

#[test]
fn aggregates_have_postgres_types() {
    shows(
        "select sum(i), sum(b), sum(n), sum(r), avg(i), avg(n), avg(d), count(i), sum(distinct i), \
         avg(distinct i) from (values (1, 1::bigint, 1.5, 1.5::real, 0.5::double precision), \
         (2, 2, 2.25, 2, 1), (2, null, null, null, null)) t (i, b, n, r, d)",
        expect![[r#"
            sum bigint: 5
            sum numeric(38,0): 3
            sum numeric(38,2): 3.75
            sum real: 3.5
            avg numeric(38,16): 1.6666666666666667
            avg numeric(38,16): 1.8750000000000000
            avg double precision: 0.75
            count bigint: 3
            sum bigint: 3
            avg numeric(38,16): 1.5000000000000000
        "#]],
    );
    shows(
        "select sum(i), avg(i), count(i) from (select 1 as i where false) t",
        expect![[r#"
        sum bigint: 
        avg numeric(38,16): 
        count bigint: 0
    "#]],
    );
    shows(
        "select g, avg(i), sum(i) from (values (1, 1), (1, 2), (2, 5)) t (g, i) \
         group by g order by g",
        expect![[r#"
            g integer: 1
            avg numeric(38,16): 1.5000000000000000
            sum bigint: 3
            g integer: 2
            avg numeric(38,16): 5.0000000000000000
            sum bigint: 5
        "#]],
    );
    shows(
        "select sum('x')",
        expect![[r#"
        42883 function sum(text) does not exist @8
    "#]],
    );
    shows(
        "select sum(b) from (values (9223372036854775807), (9223372036854775807)) t (b)",
        expect![[r#"
        sum numeric(38,0): 18446744073709551614
    "#]],
    );
}

#[test]
fn arithmetic_is_postgres() {
    shows(
        "select 7 / 2, -7 / 2, 7 % 2, 7 / 2.0, 1.0 / 3, 2 / 3::double precision, 2 ^ 10",
        expect![[r#"
        ?column? integer: 3
        ?column? integer: -3
        ?column? integer: 1
        ?column? numeric(38,16): 3.5000000000000000
        ?column? numeric(38,16): 0.3333333333333333
        ?column? double precision: 0.6666666666666666
        ?column? double precision: 1024.0
    "#]],
    );
    shows(
        "select 1 / 0",
        expect![[r#"
        22012 division by zero
    "#]],
    );
    shows(
        "select 1 / 0.0",
        expect![[r#"
        22012 division by zero
    "#]],
    );
    shows(
        "select 1.0::double precision / 0",
        expect![[r#"
        22012 division by zero
    "#]],
    );
    shows(
        "select 2147483647 + 1",
        expect![[r#"
        22003 integer out of range
    "#]],
    );
    shows(
        "select 9223372036854775807 * 2",
        expect![[r#"
        22003 bigint out of range
    "#]],
    );
    shows(
        "select 'a' || 1 || null, 'a' || 'b'",
        expect![[r#"
        ?column? text: 
        ?column? text: ab
    "#]],
    );
}

#[test]
fn errors_are_postgres() {
    shows(
        "select nosuch(1, 'x')",
        expect![[r#"
        42883 function nosuch(integer, unknown) does not exist @8
    "#]],
    );
    shows(
        "select 1 + a",
        expect![[r#"
        42703 column "a" does not exist @12
    "#]],
    );
    shows(
        "select * from s.nosuch",
        expect![[r#"
        42P01 relation "s.nosuch" does not exist @15
    "#]],
    );
    shows(
        "select 'x'::nosuch",
        expect![[r#"
        42704 type "nosuch" does not exist @13
    "#]],
    );
}

#[test]
fn parameters_get_types_from_their_use_or_else_are_text() {
    let types = |sql: &str, declared: &[Option<SqlType>]| {
        let planned = testing::run(planned(sql, declared)).expect("it can be planned");
        let columns = planned.plan.schema().fields().iter().map(|f| SqlType::of_field(f));
        let columns: Vec<_> = columns.map(|t| t.to_string()).collect();
        let parameters: Vec<_> = planned.parameters.iter().map(ToString::to_string).collect();
        format!("{} -> {}", parameters.join(", "), columns.join(", "))
    };
    assert_eq!(types("select $1", &[]), "text -> text");
    assert_eq!(types("select $1", &[Some(SqlType::BigInt)]), "bigint -> bigint");
    assert_eq!(types("select $1::int + 1", &[]), "integer -> integer");
    assert_eq!(types("select 1 where 2 = $1", &[]), "integer -> integer");
    assert_eq!(types("select 1 where true limit $1", &[]), "bigint -> integer");
    assert_eq!(types("select $2::text", &[]), "text, text -> text");
    assert_eq!(
        types("select * from (values (1, 'a')) t (a, b) where a > $1 and b = $2", &[]),
        "integer, text -> integer, text"
    );
    let bound = testing::run(run("select $1::int + 1", vec![ScalarValue::Int32(Some(41))]));
    assert_eq!(bound.expect("it runs"), "?column? integer: 42\n");
}

#[test]
fn writes_are_queries_over_their_table() {
    let catalog = testing::catalog_of(
        "create table t (id int primary key, v numeric(10,2) default 1.5, note varchar(5))",
    );
    let table = catalog.objects().next().expect("it was made");
    let query = |sql: &str| {
        let statement = parse(sql).expect("it is well formed").remove(0);
        match statement.kind {
            StatementKind::Insert(insert) => insert_query(&insert, &table.columns)
                .expect("it can be planned")
                .map_or("default values".to_owned(), |query| query.tree.to_string()),
            StatementKind::Update(update) => {
                update_query(&update, &["id", "v"], &table.columns, &[])
                    .expect("it can be planned")
                    .tree
                    .to_string()
            }
            StatementKind::Delete(delete) => delete_query(&delete, &["id", "_weir_row_id"], &[])
                .expect("it can be planned")
                .tree
                .to_string(),
            other => panic!("not a write: {other:?}"),
        }
        .replace("\"\u{1f}integer\u{1f}id\"", "as_id")
        .replace("\"\u{1f}numeric(10,2)\u{1f}v\"", "as_v")
        .replace("\"\u{1f}character varying(5)\u{1f}note\"", "as_note")
    };
    let expected = expect![[r#"
        VALUES (as_id(1), as_v('1.5'), $1::TEXT), (as_id($2::INTEGER), as_v(NULL), NULL)
        SELECT $1::INTEGER, 2
        default values
        SELECT "t"."id", "t"."v", as_v('1.5'), as_note($1::TEXT) FROM "t" AS "t" WHERE id = $2
        SELECT "x"."id", "x"."v", as_v(x.v + u.v) FROM "s"."t" AS "x", u WHERE x.id = u.id
        SELECT "t"."id", "t"."_weir_row_id" FROM "t" AS "t", u WHERE t.id = u.id"#]];
    expected.assert_eq(
        &[
            "insert into t values (1, default, $1), ($2, null, default)",
            "insert into t select $1, 2",
            "insert into t default values",
            "update t set v = default, note = $1 where id = $2",
            "update s.t as x set v = x.v + u.v from u where x.id = u.id",
            "delete from t using u where t.id = u.id",
        ]
        .map(query)
        .join("\n"),
    );
}

#[tokio::test]
async fn expressions_over_rows_are_evaluated_on_batches() {
    let schema = Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int32, false),
        Field::new("v", DataType::Int64, true),
    ]));
    let returning = parse("delete from t returning *, id + $1 as n, upper('x')")
        .expect("it is well formed")
        .remove(0);
    let StatementKind::Delete(delete) = returning.kind else { panic!("not a DELETE") };
    let returning = delete.returning.expect("it has one");
    let row = || RowRelation { name: "t", schema: Arc::clone(&schema) };
    let described = plan_returning(&session(), &returning, None, &[row()], Parameters::default())
        .await
        .expect("it can be planned");
    let names: Vec<_> = described.schema.fields().iter().map(|f| f.name().as_str()).collect();
    assert_eq!(names, ["id", "v", "n", "upper"]);
    assert_eq!(described.parameters, [SqlType::Integer]);
    let values = [ScalarValue::Int32(Some(2))];
    let parameters = Parameters { declared: &[], values: Some(&values) };
    let planned = plan_returning(&session(), &returning, None, &[row()], parameters)
        .await
        .expect("it can be planned");
    let batch = RecordBatch::try_new(
        Arc::clone(&schema),
        vec![Arc::new(Int32Array::from(vec![1])), Arc::new(Int64Array::from(vec![None]))],
    )
    .expect("the columns fit the schema");
    let shown = planned.expressions.iter().map(|expression| {
        let values = expression
            .evaluate(&batch)
            .and_then(|values| values.into_array(1))
            .expect("it can be evaluated");
        array_value_to_string(&values, 0).expect("it can be shown")
    });
    assert_eq!(shown.collect::<Vec<_>>(), ["1", "", "3", "X"]);

    let default = parse_expression("1 + 1").expect("it is well formed");
    let planned = plan_expressions(&session(), &[&default], &[], Parameters::default())
        .expect("it can be planned");
    assert_eq!(planned.schema.field(0).data_type(), &DataType::Int32);
}

#[test]
fn casts_read_write_and_round_as_postgres() {
    shows(
        "select timestamp '2024-01-15 10:00' + interval '1 day', '12'::int + 1, 3.5::int, \
         2.5::float8::int, true::text, 1.50::text, 'abc'::varchar(2), '{1,2}'::int[]",
        expect![[r#"
            ?column? timestamp without time zone: 2024-01-16T10:00:00
            ?column? integer: 13
            int4 integer: 4
            int4 integer: 2
            text text: true
            text text: 1.50
            varchar character varying(2): ab
            int4 integer[]: [1, 2]
        "#]],
    );
    shows(
        "select 'x'::int",
        expect![[r#"
        22P02 invalid input syntax for type integer: "x"
    "#]],
    );
    shows(
        "select '{\"b\": 1}'::jsonb ->> 'b', interval '90 min'::text",
        expect![[r#"
        ?column? text: 1
        text text: 01:30:00
    "#]],
    );
    shows(
        "select d = '2024-01-02' as eq from (values (date '2024-01-02')) t (d)",
        expect![[r#"
        eq boolean: true
    "#]],
    );
}

#[test]
fn to_char_takes_postgres_patterns() {
    shows(
        "select to_char(timestamp '2024-02-29 12:34:56', 'YYYY-MM-DD hh24'), \
         to_char(date '2024-02-29', 'FMMonth DD'), to_char(null::date, 'YYYY')",
        expect![[r#"
            to_char text: 2024-02-29 12
            to_char text: February 29
            to_char text: 
        "#]],
    );
    shows(
        "select to_char(1, '999')",
        expect![[r#"
            to_char text:    1
        "#]],
    );
}

#[test]
fn set_operations_windows_and_series_have_postgres_types() {
    shows(
        "select 1 union select 2 order by 1",
        expect![[r#"
        ?column? integer: 1
        ?column? integer: 2
    "#]],
    );
    shows(
        "select row_number() over (order by x) from (values (1), (null)) t (x)",
        expect![[r#"
        row_number bigint: 1
        row_number bigint: 2
    "#]],
    );
    shows(
        "select * from generate_series(1, 2) union all select null order by 1",
        expect![[r#"
        generate_series integer: 1
        generate_series integer: 2
        generate_series integer: 
    "#]],
    );
    shows(
        "with recursive r as (select 1 as n union all select n + 1 from r where n < 3) \
         select sum(n) from r",
        expect![[r#"
            sum bigint: 6
        "#]],
    );
}
