//! What subqueries become, for the shapes whose cost matters.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::TableReference;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::empty::EmptyTable;
use datafusion::datasource::provider_as_source;
use datafusion::logical_expr::{Expr, LogicalPlan};
use expect_test::{Expect, expect};

use super::super::names::Relations;
use super::super::parse::parse_query;
use super::super::query::plan_tree;
use super::super::sql_functions::Functions;
use super::super::testing::session;
use super::rewrite::has_subqueries;

fn planned(sql: &str) -> LogicalPlan {
    let table = |columns: [&str; 3], nullable| {
        let fields = columns.map(|column| Field::new(column, DataType::Int32, nullable));
        let schema = Arc::new(Schema::new(fields.to_vec()));
        provider_as_source(Arc::new(EmptyTable::new(schema)))
    };
    let relations = Relations::from([
        (TableReference::bare("t"), table(["id", "k", "v"], true)),
        (TableReference::bare("u"), table(["id", "k", "v"], true)),
        (TableReference::bare("never"), table(["a", "b", "c"], false)),
    ]);
    let query = parse_query(sql).expect("the query is well formed");
    plan_tree(&session(), relations, &query.tree, &query.source, &[], &Functions::none())
        .expect("it can be planned")
        .plan
}

fn shows(sql: &str, expected: Expect) {
    expected.assert_eq(&format!("{}\n", planned(sql).display_indent()));
}

#[test]
fn an_equality_needs_no_outer_rows() {
    shows(
        "SELECT id, (SELECT count(*) FROM u WHERE u.k = t.k) AS n FROM t",
        expect![[r#"
        Projection: t.id, coalesce(aggregate #1, Int64(0)) AS n
          Left Join: t.k = u.k
            TableScan: t
            Aggregate: groupBy=[[u.k]], aggr=[[count(Int32(1)) AS aggregate #1]]
              TableScan: u
    "#]],
    );
    shows(
        "SELECT id, (SELECT v FROM u WHERE u.k = t.k) FROM t",
        expect![[r#"
        Projection: t.id, single_row(aggregate #1, aggregate #2) AS v
          Left Join: t.k = u.k
            TableScan: t
            Aggregate: groupBy=[[u.k]], aggr=[[single_value(u.v) AS aggregate #1, count(Int64(1)) AS aggregate #2]]
              TableScan: u
    "#]],
    );
}

#[test]
fn anything_else_joins_the_distinct_outer_values() {
    shows(
        "SELECT id, (SELECT max(v) FROM u WHERE u.k < t.k) AS m FROM t",
        expect![[r#"
        Projection: t.id, aggregate #2 AS m
          Left Join: t.k = k #1
            TableScan: t
            Aggregate: groupBy=[[k #1]], aggr=[[max(u.v) AS aggregate #2]]
              Inner Join:  Filter: u.k < k #1
                TableScan: u
                Distinct:
                  Projection: t.k AS k #1
                    TableScan: t
    "#]],
    );
}

#[test]
fn conjuncts_choose_rows_by_the_whole_correlation() {
    shows(
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.v > t.v)",
        expect![[r#"
            Projection: t.id
              LeftSemi Join: t.k = u.k Filter: u.v > t.v
                TableScan: t
                TableScan: u
        "#]],
    );
    shows(
        "SELECT id FROM t WHERE v NOT IN (SELECT v FROM u WHERE u.k = t.k)",
        expect![[r#"
        Projection: t.id
          LeftAnti Join: t.k = u.k Filter: t.v IS NULL OR aggregate #2 < aggregate #1
            LeftAnti Join: t.k = u.k, t.v = u.v
              TableScan: t
              TableScan: u
            Aggregate: groupBy=[[u.k]], aggr=[[count(Int64(1)) AS aggregate #1, count(u.v) AS aggregate #2]]
              TableScan: u
    "#]],
    );
    shows(
        "SELECT a FROM never WHERE b NOT IN (SELECT n.c FROM never n)",
        expect![[r#"
        Projection: never.a
          LeftAnti Join: never.b = n.c
            TableScan: never
            Projection: n.c
              SubqueryAlias: n
                TableScan: never
    "#]],
    );
}

#[test]
fn arrays_of_a_row_are_unnested_in_place() {
    shows(
        "SELECT t.id, x FROM t, unnest(ARRAY[t.k, t.v]) AS x",
        expect![[r#"
        Projection: t.id, x.x
          Projection: t.id, t.k, t.v, __unnest_placeholder(make_array(outer_ref(t.k),outer_ref(t.v)),depth=1) AS x
            Unnest: lists[__unnest_placeholder(make_array(outer_ref(t.k),outer_ref(t.v)))|depth=1] structs[]
              Projection: t.id, t.k, t.v, make_array(t.k, t.v) AS __unnest_placeholder(make_array(outer_ref(t.k),outer_ref(t.v)))
                TableScan: t
    "#]],
    );
}

#[test]
fn the_same_row_is_counted_on_both_sides() {
    shows(
        "SELECT k FROM t INTERSECT ALL SELECT v FROM u",
        expect![[r#"
        Projection: k #1 AS k
          Unnest: lists[times #6|depth=1] structs[]
            Projection: k #1, generate_series(Int64(1), CASE WHEN left #4 < right #5 THEN left #4 ELSE right #5 END) AS times #6
              Filter: CASE WHEN left #4 < right #5 THEN left #4 ELSE right #5 END > Int64(0)
                Aggregate: groupBy=[[k #1]], aggr=[[count(left #2) AS left #4, count(right #3) AS right #5]]
                  Union
                    Projection: t.k AS k #1, Int64(1) AS left #2, CAST(NULL AS Int64) AS right #3
                      Projection: t.k
                        TableScan: t
                    Projection: u.v AS k #1, CAST(NULL AS Int64) AS left #2, Int64(1) AS right #3
                      Projection: u.v
                        TableScan: u
    "#]],
    );
}

#[test]
fn nothing_is_left_of_subqueries() {
    for sql in [
        "SELECT (SELECT max(v) FROM u WHERE u.k > t.k AND \
             u.v IN (SELECT k FROM u x WHERE x.v < t.v)) FROM t",
        "SELECT t.id FROM t LEFT JOIN u ON t.k = u.k AND \
             u.v > ANY (SELECT v FROM t y WHERE y.k < t.v)",
        "SELECT * FROM t, LATERAL (SELECT * FROM u WHERE u.v <> t.v ORDER BY u.id LIMIT t.k) q",
        "SELECT ARRAY(SELECT u.v FROM u LEFT JOIN t y ON y.k = t.k ORDER BY u.id) FROM t",
        "SELECT k FROM t GROUP BY k HAVING sum(v) > ALL \
             (SELECT v FROM u WHERE u.k = t.k OR u.k = 1)",
        "SELECT id FROM t WHERE (k, v) NOT IN (SELECT k, v FROM u UNION SELECT t.id, v FROM u)",
    ] {
        let plan = planned(sql);
        plan.apply(|node| {
            assert!(!matches!(node, LogicalPlan::Subquery(_)), "{sql}");
            node.apply_expressions(|expr| {
                let outer = expr.exists(|e| Ok(matches!(e, Expr::OuterReferenceColumn(..))))?;
                assert!(!outer && !has_subqueries(expr), "{sql}: {expr}");
                Ok(TreeNodeRecursion::Continue)
            })
        })
        .expect("a walk does not fail");
    }
}
