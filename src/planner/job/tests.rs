//! Jobs as EXPLAIN prints them.

use expect_test::{Expect, expect};

use super::super::statement::StatementKind;
use super::super::testing::{NEW, catalog_of, run, search_path};
use super::super::{PlannedView, ViewSettings, explain, parse, plan_view};
use crate::catalog::Catalog;
use crate::error::SqlResult;

const CATALOG: &str = "
    create table orders (id int primary key, customer int, amount numeric(10,2), note text);
    create table customers (id bigint primary key, name text not null, region int);
    create table log (at timestamp, level text, n int) append only;
    create view big as select id, customer as who, amount from orders where amount > 100;
    create materialized view per_customer as
        select customer, count(*) as n, sum(amount) as total from orders group by customer;
";

fn planned(catalog: &Catalog, query: &str) -> SqlResult<PlannedView> {
    let create = format!("create materialized view v as {query}");
    let statement = parse(&create)?.remove(0);
    let StatementKind::CreateMaterializedView(create) = statement.kind else {
        panic!("not a materialized view");
    };
    run(plan_view(catalog, ViewSettings::of(&search_path()), NEW, &create, 2))
}

/// The columns and the job of a view's query, or the error.
fn shows(query: &str, expected: Expect) {
    let catalog = catalog_of(CATALOG);
    let shown = match planned(&catalog, query) {
        Ok(planned) => {
            let columns: Vec<_> = planned
                .columns
                .iter()
                .map(|column| format!("{} {}", column.name, column.sql_type))
                .collect();
            let lines = explain(&planned.job, &catalog);
            format!("{}\n{}\n", columns.join(", "), lines.join("\n"))
        }
        Err(error) => {
            let position = error.position.map(|position| format!(" @{}", position - 28));
            format!("{} {}{}\n", error.code, error.message, position.unwrap_or_default())
        }
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_filter_is_one_map_and_keeps_the_key() {
    shows(
        "select id, amount * 2 as double, upper(note) from orders where amount > 5",
        expect![[r#"
        id integer, double numeric(21,2), upper text
        Fragment 0: 2 actors
          Materialize, key (id), by hash of (id) #3; state: rows
            Map id, amount@2 * 2 as double, upper(note@3) as upper where amount@2 > 5.00 #2
              Input from table orders, by hash of (id) #1
    "#]],
    );
    shows(
        "select note from orders",
        expect![[r#"
        note text
        Fragment 0: 2 actors
          Materialize, no key, by hash of (note) #3; state: rows
            Map note #2
              Input from table orders, by hash of (note) #1
    "#]],
    );
    shows(
        "select * from log where n > 1",
        expect![[r#"
        at timestamp without time zone, level text, n integer
        Fragment 0: 2 actors
          Materialize, no key, by hash of (at, level, n) #3, append-only; state: rows
            Map at, level, n where n@2 > 1 #2, append-only
              Input from table log, by hash of (at, level, n) #1, append-only
    "#]],
    );
}

#[test]
fn aggregates_are_hashed_by_their_group() {
    shows(
        "select customer, count(*), sum(amount), avg(id), min(note) filter (where id > 3) \
         from orders group by customer having count(*) > 1",
        expect![[r#"
            customer integer, count bigint, sum numeric(38,2), avg numeric(38,16), min text
            Fragment 0: 2 actors
              Materialize, key (customer), by hash of (customer) #5; state: rows
                Map customer, count(Int64(1))@1 as count, sum(orders.amount)@2 as sum, avg(orders.id)@3 as avg, min(orders.note) FILTER (WHERE orders.id > Int64(3))@4 as min where count(Int64(1))@1 > 1 #4
                  Aggregate by (customer): count(*), sum(amount), avg(id), min(note) filter (where _4) #3; state: groups, values
                    Map customer, amount, id, note, id@0 > 3 as _4 #2
                      Input from table orders, by hash of (customer) #1
        "#]],
    );
    shows(
        "select count(distinct customer), max(amount) from orders",
        expect![[r#"
        count bigint, max numeric(10,2)
        Fragment 0: 1 actor
          Materialize, no key, in one place #5; state: rows
            Map count(DISTINCT orders.customer)@0 as count, max(orders.amount)@1 as max #4
              Aggregate: count(distinct customer), max(amount) #3; state: groups, values
                Map customer, amount #2
                  Input from table orders, all to one #1
    "#]],
    );
    shows(
        "select id % 10 as bucket, sum(id + 1) from orders group by id % 10",
        expect![[r#"
        bucket integer, sum bigint
        Fragment 1: 2 actors
          Materialize, key (bucket), by hash of (bucket) #6; state: rows
            Map orders.id % Int64(10)@0 as bucket, sum(orders.id + Int64(1))@1 as sum #5
              Aggregate by (_0): sum(_1) #4; state: groups
                Input from fragment 0, by hash of (_0) #3
        Fragment 0: 2 actors
          Map id@0 % 10 as _0, int_add(id@0, 1) as _1 #2
            Input from table orders, spread #1
    "#]],
    );
    shows(
        "select distinct level from log",
        expect![[r#"
        level text
        Fragment 0: 2 actors
          Materialize, key (level), by hash of (level) #4, append-only; state: rows
            Aggregate by (level) #3, append-only; state: groups
              Map level #2, append-only
                Input from table log, by hash of (level) #1, append-only
    "#]],
    );
}

#[test]
fn joins_are_hashed_by_their_keys() {
    shows(
        "select o.id, c.name from orders o join customers c on o.customer = c.id \
         where c.region > 3",
        expect![[r#"
            id integer, name text
            Fragment 2: 2 actors
              Materialize, key (id), by hash of (id) #9; state: rows
                Map id, name #8
                  Input from fragment 1, by hash of (id) #7
            Fragment 1: 2 actors
              Join on _key0 = id #6; state: left rows, right rows
                Input from fragment 0, by hash of (_key0) #3
                Map id, name where region@2 > 3 #5
                  Input from table customers, by hash of (id) #4
            Fragment 0: 2 actors
              Map id, customer, CAST(customer@1 AS Int64) as _key0 #2
                Input from table orders, spread #1
        "#]],
    );
    shows(
        "select c.name, sum(o.amount) from orders o, customers c, log l \
         where o.customer = c.id and l.n = o.id and l.level < o.note group by c.name",
        expect![[r#"
            name text, sum numeric(38,2)
            Fragment 3: 2 actors
              Materialize, key (name), by hash of (name) #16; state: rows
                Map name, sum(o.amount)@1 as sum #15
                  Aggregate by (name): sum(amount) #14; state: groups
                    Map amount, name #13
                      Input from fragment 2, by hash of (name) #12
            Fragment 2: 2 actors
              Join on id = n, where note@2 > level@4 #11; state: left rows, right rows
                Map id, amount, note, name #8
                  Input from fragment 1, by hash of (id) #7
                Map level, n #10, append-only
                  Input from table log, by hash of (n) #9, append-only
            Fragment 1: 2 actors
              Join on _key0 = id #6; state: left rows, right rows
                Input from fragment 0, by hash of (_key0) #3
                Map id, name #5
                  Input from table customers, by hash of (id) #4
            Fragment 0: 2 actors
              Map id, customer, amount, note, CAST(customer@1 AS Int64) as _key0 #2
                Input from table orders, spread #1
        "#]],
    );
    shows(
        "select a.id, b.id as other from orders a join orders b on a.customer = b.customer",
        expect![[r#"
            id integer, other integer
            Fragment 1: 2 actors
              Materialize, key (id, other), by hash of (id, other) #8; state: rows
                Map id, id@2 as other #7
                  Input from fragment 0, by hash of (id, id) #6
            Fragment 0: 2 actors
              Join on customer = customer #5; state: left rows, right rows
                Map id, customer #2
                  Input from table orders, by hash of (customer) #1
                Map id, customer #4
                  Input from table orders, by hash of (customer) #3
        "#]],
    );
}

#[test]
fn views_are_expanded_and_materialized_ones_read() {
    shows(
        "select who, total from big join per_customer on who = customer",
        expect![[r#"
        who integer, total numeric(38,2)
        Fragment 0: 2 actors
          Materialize, no key, by hash of (who) #7; state: rows
            Map who, total #6
              Join on who = customer #5; state: left rows, right rows
                Map customer@1 as who where amount@2 > 100.00 #2
                  Input from table orders, by hash of (customer) #1
                Map customer, total #4
                  Input from materialized view per_customer, by hash of (customer) #3
    "#]],
    );
    shows(
        "with t as (select * from big) select who, count(*) from t group by who",
        expect![[r#"
        who integer, count bigint
        Fragment 0: 2 actors
          Materialize, key (who), by hash of (who) #5; state: rows
            Map who, count(Int64(1))@1 as count #4
              Aggregate by (who): count(*) #3; state: groups
                Map customer@1 as who where amount@2 > 100.00 #2
                  Input from table orders, by hash of (customer) #1
    "#]],
    );
}

#[test]
fn unions_have_one_shape() {
    shows(
        "select id, amount from orders union all select n, 1 from log union all \
         select customer, total from per_customer",
        expect![[r#"
            id integer, amount numeric(38,2)
            Fragment 2: 2 actors
              Materialize, no key, by hash of (id, amount) #10; state: rows
                Union #9
                  Input from fragment 0, by hash of (id, amount) #5
                  Input from fragment 1, by hash of (id, amount) #6, append-only
                  Map customer@0 as id, total@2 as amount #8
                    Input from materialized view per_customer, by hash of (customer, total) #7
            Fragment 1: 2 actors
              Map n@2 as id, 1.00 as amount #4, append-only
                Input from table log, spread #3, append-only
            Fragment 0: 2 actors
              Map id, CAST(CAST(amount@2 AS Decimal128(12, 2)) AS Decimal128(38, 2)) as amount #2
                Input from table orders, spread #1
        "#]],
    );
    shows(
        "select customer from orders union select region from customers",
        expect![[r#"
        customer integer
        Fragment 0: 2 actors
          Materialize, key (customer), by hash of (customer) #7; state: rows
            Aggregate by (customer) #6; state: groups
              Union #5
                Map customer #2
                  Input from table orders, by hash of (customer) #1
                Map region@2 as customer #4
                  Input from table customers, by hash of (region) #3
    "#]],
    );
    shows(
        "select count(*) from orders union all select id from customers",
        expect![[r#"
        count bigint
        Fragment 1: 2 actors
          Materialize, no key, by hash of (count) #9; state: rows
            Union #8
              Map count(Int64(1))@0 as count #5
                Input from fragment 0, by hash of (count(Int64(1))) #4
              Map id@0 as count #7
                Input from table customers, by hash of (id) #6
        Fragment 0: 1 actor
          Aggregate: count(*) #3; state: groups
            Map id #2
              Input from table orders, all to one #1
    "#]],
    );
}

/// Views are planned again at every start, and their state is found by their plan.
#[test]
fn one_query_has_one_plan() {
    let catalog = catalog_of(CATALOG);
    for query in [
        "select amount * 2 + 1 as a, amount * 2 - 1 as b from orders where amount * 2 > 7",
        "select case when n > 0 then n end from (select id, (select count(*) from customers c \
         where c.region = o.customer) as n from orders o) q",
        "select customer, amount, sum(amount) as s from orders group by cube (customer, amount)",
    ] {
        let plan = || format!("{:?}", planned(&catalog, query).expect(query).job);
        assert_eq!(plan(), plan(), "{query}");
    }
}

#[test]
fn what_is_not_incremental_is_refused_by_name() {
    for query in ["select now(), id from orders", "select relname from pg_catalog.pg_class"] {
        let error = planned(&catalog_of(CATALOG), query).expect_err(query);
        assert_eq!(error.code, "0A000", "{query}: {error}");
        assert!(error.message.contains("a materialized view"), "{query}: {error}");
    }
}

#[test]
fn what_no_column_is_read_of_is_still_counted() {
    shows(
        "select count(*) from orders o, customers c where o.customer = c.region",
        expect![[r#"
            count bigint
            Fragment 1: 1 actor
              Materialize, no key, in one place #9; state: rows
                Map count(Int64(1))@0 as count #8
                  Aggregate: count(*) #7; state: groups
                    Input from fragment 0, all to one #6
            Fragment 0: 2 actors
              Join on customer = region #5; state: left rows, right rows
                Map customer #2
                  Input from table orders, by hash of (customer) #1
                Map region #4
                  Input from table customers, by hash of (region) #3
        "#]],
    );
    shows(
        "select id from orders where false",
        expect![[r#"
        id integer
        Fragment 0: 2 actors
          Materialize, key (id), by hash of (id) #3; state: rows
            Map id where false #2
              Input from table orders, by hash of (id) #1
    "#]],
    );
}

#[test]
fn errors_have_their_place() {
    shows(
        "select nosuch from orders",
        expect![[r#"
        42703 column "nosuch" does not exist @10
    "#]],
    );
    shows(
        "select o.nosuch from orders o",
        expect![[r#"
        42703 column o.nosuch does not exist @10
    "#]],
    );
    shows(
        "select x.id from orders o",
        expect![[r#"
        42P01 missing FROM-clause entry for table "x" @10
    "#]],
    );
    shows(
        "select id\nfrom nosuch",
        expect![[r#"
        42P01 relation "nosuch" does not exist @18
    "#]],
    );
    shows(
        "select nosuch(id) from orders",
        expect![[r#"
        42883 function nosuch(integer) does not exist @10
    "#]],
    );
    shows(
        "select upper(id, note) from orders",
        expect![[r#"
        42883 function upper(integer, text) does not exist @10
    "#]],
    );
    shows(
        "select id, count(*) from orders group by customer",
        expect![[r#"
        42803 column "orders.id" must appear in the GROUP BY clause or be used in an aggregate function @10
    "#]],
    );
    shows(
        "select id from orders o join customers c on o.customer = c.id",
        expect![[r#"
        42702 column reference "id" is ambiguous @10
    "#]],
    );
    shows(
        "select id, id from orders",
        expect![[r#"
        42701 column "id" specified more than once
    "#]],
    );
}

#[test]
fn windows_of_near_rows_look_near_what_changed() {
    shows(
        "select id, lag(amount) over w as before, row_number() over w as n,
            count(*) over (partition by customer order by id rows 2 preceding) as c
         from orders window w as (partition by customer order by id)",
        expect![[r#"
            id integer, before numeric(10,2), n bigint, c bigint
            Fragment 1: 2 actors
              Materialize, key (id), by hash of (id) #6; state: rows
                Map id, _result0@3 as before, _result1@4 as n, _result2@5 as c #5
                  Input from fragment 0, by hash of (id) #4
            Fragment 0: 2 actors
              Window lag, row_number, count of each (customer) by id #3; state: ordered rows with results, failures
                Map id, customer, amount #2
                  Input from table orders, by hash of (customer) #1
        "#]],
    );
    shows(
        "select n, rank() over (order by n desc) as r,
            sum(n) over (order by n desc range between 10 preceding and current row) as s from log",
        expect![[r#"
            n integer, r bigint, s bigint
            Fragment 0: 1 actor
              Materialize, no key, in one place #5; state: rows
                Map n, _result0@1 as r, _result1@2 as s #4
                  Window rank, sum by n desc #3; state: ordered rows with results, failures
                    Map n #2, append-only
                      Input from table log, all to one #1, append-only
        "#]],
    );
}

#[test]
fn windows_of_whole_partitions_are_recomputed() {
    shows(
        "select id, sum(amount) over (partition by customer) as s,
            row_number() over (partition by customer) as n from orders",
        expect![[r#"
            id integer, s numeric(38,2), n bigint
            Fragment 1: 2 actors
              Materialize, key (id), by hash of (id) #6; state: rows
                Map id, sum(orders.amount) PARTITION BY [orders.customer] ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING@3 as s, row_number() PARTITION BY [orders.customer] ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING@4 as n #5
                  Input from fragment 0, by hash of (id) #4
            Fragment 0: 2 actors
              Recompute changed (customer): Window #3; state: rows, result, failures
                Map id, customer, amount #2
                  Input from table orders, by hash of (customer) #1
        "#]],
    );
}

#[test]
fn the_numbers_of_the_first_rows_are_computed_for_those_alone() {
    shows(
        "select * from (select id, customer,
                row_number() over (partition by customer order by amount desc) as n from orders) as x
         where n between 2 and 10",
        expect![[r#"
            id integer, customer integer, n bigint
            Fragment 1: 2 actors
              Materialize, key (id), by hash of (id) #7; state: rows
                Map id, customer, _result0@3 as n where _result0@3 >= 2 #6
                  Input from fragment 0, by hash of (id) #5
            Fragment 0: 2 actors
              Window row_number of each (customer) by amount desc #4; state: ordered rows with results, failures
                Top 10 of each (customer) by amount desc #3; state: ordered rows
                  Map id, customer, amount #2
                    Input from table orders, by hash of (customer) #1
        "#]],
    );
}
