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
    plan_tree(&session(), relations, &query.tree, &query.source, &[])
        .expect("it can be planned")
        .plan
}

fn shows(sql: &str, expected: Expect) {
    expected.assert_eq(&format!("{}\n", planned(sql).display_indent()));
}

#[test]
fn an_equality_needs_no_outer_rows() {
    shows("SELECT id, (SELECT count(*) FROM u WHERE u.k = t.k) AS n FROM t", expect![]);
    shows("SELECT id, (SELECT v FROM u WHERE u.k = t.k) FROM t", expect![]);
}

#[test]
fn anything_else_joins_the_distinct_outer_values() {
    shows("SELECT id, (SELECT max(v) FROM u WHERE u.k < t.k) AS m FROM t", expect![]);
}

#[test]
fn conjuncts_choose_rows_by_the_whole_correlation() {
    shows(
        "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.v > t.v)",
        expect![],
    );
    shows("SELECT id FROM t WHERE v NOT IN (SELECT v FROM u WHERE u.k = t.k)", expect![]);
    shows("SELECT a FROM never WHERE b NOT IN (SELECT n.c FROM never n)", expect![]);
}

#[test]
fn arrays_of_a_row_are_unnested_in_place() {
    shows("SELECT t.id, x FROM t, unnest(ARRAY[t.k, t.v]) AS x", expect![]);
}

#[test]
fn the_same_row_is_counted_on_both_sides() {
    shows("SELECT k FROM t INTERSECT ALL SELECT v FROM u", expect![]);
}

#[test]
fn nothing_is_left_of_subqueries() {
    for sql in [
        "SELECT (SELECT max(v) FROM u WHERE u.k > t.k AND u.v IN (SELECT k FROM u x WHERE x.v < t.v)) FROM t",
        "SELECT t.id FROM t LEFT JOIN u ON t.k = u.k AND u.v > ANY (SELECT v FROM t y WHERE y.k < t.v)",
        "SELECT * FROM t, LATERAL (SELECT * FROM u WHERE u.v <> t.v ORDER BY u.id LIMIT t.k) q",
        "SELECT ARRAY(SELECT u.v FROM u LEFT JOIN t y ON y.k = t.k ORDER BY u.id) FROM t",
        "SELECT k FROM t GROUP BY k HAVING sum(v) > ALL (SELECT v FROM u WHERE u.k = t.k OR u.k = 1)",
        "SELECT id FROM t WHERE (k, v) NOT IN (SELECT k, v FROM u UNION SELECT t.id, u.k FROM u)",
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
