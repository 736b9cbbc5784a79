//! SELECT over a real store: what is pushed down, and that the answers do not depend on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, StringArray};
use datafusion::execution::SessionStateBuilder;

use super::testing::{Fixture, query, table, view};
use super::{Overlaid, Overlay, connector_options};
use crate::catalog::object::{Connector, Source, View};
use crate::catalog::{Meaning, Object, ObjectKind, pg};
use crate::connector::{Then, registry};
use crate::dataflow::source::positions_key;
use crate::types::Delta;

#[test]
fn no_system_function_hides_one_of_the_library() {
    let fixture = Fixture::default();
    let context = fixture.context();
    let plain = SessionStateBuilder::new().with_default_features().build();
    let is_ours = |name: &str| {
        let known = context.template.scalar_functions().contains_key(name);
        known && !plain.scalar_functions().contains_key(name)
    };
    let system = pg::functions(&Arc::new(context.pg_context()));
    let both: Vec<_> = system.iter().map(|f| f.name()).filter(|name| is_ours(name)).collect();
    assert!(both.is_empty(), "in both: {both:?}");
}

/// `t (a bigint, b bigint, c text, PRIMARY KEY (a, b))` with 2,000 rows: a = n / 20, b = n % 20.
fn filled() -> (Fixture, Arc<Object>) {
    let mut fixture = Fixture::default();
    let columns = [("a", "bigint"), ("b", "bigint"), ("c", "text")];
    let object = fixture.add("t", &columns, table(&[0, 1]));
    let rows = rows(&object, (0..2000).map(|n| (n / 20, n % 20)));
    fixture.commit(&object, &Delta::inserts(rows));
    (fixture, object)
}

fn rows(object: &Object, keys: impl Iterator<Item = (i64, i64)>) -> RecordBatch {
    let (a, b): (Vec<i64>, Vec<i64>) = keys.unzip();
    let c: Vec<String> = a.iter().zip(&b).map(|(a, b)| format!("{a}-{b}")).collect();
    let columns: Vec<arrow::array::ArrayRef> = vec![
        Arc::new(Int64Array::from(a)),
        Arc::new(Int64Array::from(b)),
        Arc::new(StringArray::from(c)),
    ];
    RecordBatch::try_new(object.stored_schema(), columns).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_on_the_key_become_keys_and_ranges() {
    let (fixture, _) = filled();
    for (condition, pushed) in [
        ("a = 3 AND b = 7", "keys=[a = 3, b = 7]"),
        ("7 = b AND a IN (3, 4, 5, 6, 99)", "keys=[a IN (3, 4, 5, 6, 99), b = 7]"),
        ("a = 3 AND b IN (1, 2)", "keys=[a = 3, b IN (1, 2)]"),
        ("a = 3", "ranges=[a = 3] in 256 of 256 shares"),
        ("a = 3 AND b > 17", "ranges=[a = 3, b > 17] in 256 of 256 shares"),
        ("a >= 3 AND a < 5", "ranges=[a >= 3, a < 5] in 256 of 256 shares"),
        ("b = 3", "full"),
        ("a + 0 = 3", "full"),
    ] {
        let scan = fixture.scan_of(&format!("SELECT c FROM t WHERE {condition}")).await;
        assert!(scan.contains(pushed), "{condition}: {scan}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_do_not_depend_on_what_is_pushed_down() {
    let (fixture, _) = filled();
    for condition in [
        "a = 3 AND b = 7",
        "a = 3 AND b = 70",
        "a IN (1, 2, 2, 50) AND b IN (0, 19, 20)",
        "a = 3 AND b > 17",
        "a = 3 AND b >= 17 AND b < 19",
        "a > 97",
        "a BETWEEN 10 AND 11 AND b = 4",
        "a < 2 OR a = 50",
        "a = 3 OR a = 5 OR a = 7",
        "a = NULL",
        "a = 3 AND a = 4",
        "a IN (NULL, 4) AND b = 2",
        "a = 5 AND b IN (1, 2) AND c = '5-1'",
        "a = 99999999999999999999",
        "a = '7' AND b = 1",
    ] {
        let pushed = fixture.query(&format!("SELECT * FROM t WHERE {condition}")).await.unwrap();
        let opaque = condition.replace("a ", "(a + 0) ").replace("b ", "(b + 0) ");
        let scanned = fixture.query(&format!("SELECT * FROM t WHERE {opaque}")).await.unwrap();
        assert!(pushed == scanned, "{condition}: {} and {} rows", pushed.len(), scanned.len());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn projection_limit_and_count_read_what_they_need() {
    let (fixture, _) = filled();
    let scan = fixture.scan_of("SELECT c FROM t LIMIT 3").await;
    assert!(scan.ends_with("projection=[c], limit=3"), "{scan}");
    assert_eq!(fixture.query("SELECT c FROM t LIMIT 3").await.unwrap().len(), 3);
    assert_eq!(fixture.query("SELECT count(*) FROM t").await.unwrap(), ["2000"]);
    let grouped = "SELECT a, count(*), sum(b) FROM t GROUP BY a ORDER BY a LIMIT 2";
    assert_eq!(fixture.query(grouped).await.unwrap(), ["0|20|190", "1|20|190"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_of_a_multiset_come_as_often_as_their_weight() {
    let mut fixture = Fixture::default();
    let columns = [("a", "bigint"), ("b", "bigint"), ("c", "text")];
    let object = fixture.add("v", &columns, view(&[], &[0]));
    let rows = rows(&object, [(1, 1), (2, 2), (3, 3)].into_iter());
    fixture.commit(&object, &Delta::new(rows, Some(vec![1, 20_000, 3].into())));
    assert_eq!(fixture.query("SELECT count(*) FROM v").await.unwrap(), ["20004"]);
    assert_eq!(fixture.query("SELECT count(c), sum(b) FROM v").await.unwrap(), ["20004|40010"]);
    assert_eq!(fixture.query("SELECT c FROM v WHERE a = 3").await.unwrap(), ["3-3"; 3]);
    assert_eq!(fixture.query("SELECT c FROM v WHERE a = 2 LIMIT 5").await.unwrap(), ["2-2"; 5]);
    let scan = fixture.scan_of("SELECT c FROM v WHERE a = 3").await;
    assert!(scan.contains("ranges=[a = 3] in 1 of 256 shares"), "{scan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_reads_one_snapshot_under_the_transactions_own_writes() {
    let (mut fixture, object) = filled();
    let mut context = fixture.context();
    let later = rows(&object, [(1000, 0)].into_iter());
    fixture.commit(&object, &Delta::inserts(later));
    let count = "SELECT count(*) FROM t";
    assert_eq!(query(&context, count).await.unwrap(), ["2000"]);
    assert_eq!(fixture.query(count).await.unwrap(), ["2001"]);

    let layout = super::testing::layout(&object);
    let own = rows(&object, [(3, 7), (5000, 1)].into_iter());
    let keys = layout.keys(&own).unwrap();
    let values = layout.values(&own).unwrap();
    let overlay = Overlay::from([
        (keys[0].as_slice().into(), None),
        (keys[1].as_slice().into(), Some(values.row(1).into())),
    ]);
    let base = context.rows_of(object.id);
    context.rows.insert(object.id, Arc::new(Overlaid::new(base, Arc::new(overlay))));
    let own = "SELECT c FROM t WHERE (a = 3 AND b IN (6, 7)) OR a = 5000";
    assert_eq!(query(&context, own).await.unwrap(), ["3-6", "5000-1"]);
    let found = query(&context, "SELECT c FROM t WHERE a IN (3, 5000) AND b IN (1, 7)").await;
    assert_eq!(found.unwrap(), ["3-1", "5000-1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_shows_what_the_snapshots_epoch_has_read() {
    let mut fixture = Fixture::default();
    let options = [
        ("fields.n.kind", "sequence"),
        ("fields.n.start", "1"),
        ("fields.n.end", "100000"),
        ("rows_per_second", "1000000"),
    ];
    let connector = Connector {
        name: "datagen".to_owned(),
        options: options.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        format: None,
        encode: None,
        encode_options: BTreeMap::new(),
    };
    let kind = ObjectKind::Source(Source { connector: connector.clone() });
    let object = fixture.add("s", &[("n", "bigint")], kind);
    assert_eq!(fixture.query("SELECT count(*) FROM s").await.unwrap(), ["0"]);

    let mut source = registry::open(&connector_options(&connector), object.schema()).unwrap();
    let mut read = 0;
    while read < 10_000 {
        let polled = source.poll(3000, None).await.unwrap();
        read += polled.batch.num_rows();
        if let Then::Wait(time) = polled.then {
            tokio::time::sleep(time).await;
        }
    }
    let positions = serde_json::to_vec(&source.positions()).unwrap();
    fixture.commit_meta(vec![(positions_key(object.id), Some(positions))]);
    let found = fixture.query("SELECT count(*), min(n), max(n) FROM s").await.unwrap();
    assert_eq!(found, [format!("{read}|1|{read}")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn views_are_expanded_and_names_follow_the_search_path() {
    let (mut fixture, _) = filled();
    let sql = "SELECT a, count(*) FROM t GROUP BY a".to_owned();
    let search_path = vec!["public".to_owned()];
    let view = ObjectKind::View(View { query: sql, search_path, meaning: Meaning::default() });
    fixture.add("per_a", &[("a", "bigint"), ("n", "bigint")], view);
    let mut context = fixture.context();
    context.search_path.clear();
    let found = query(&context, "SELECT n FROM public.per_a WHERE a = 4").await.unwrap();
    assert_eq!(found, ["20"]);
    assert_eq!(fixture.query("SELECT count(*) FROM public.t").await.unwrap(), ["2000"]);
    let names = "SELECT relname FROM pg_class WHERE relname IN ('t', 'per_a')";
    assert_eq!(fixture.query(names).await.unwrap(), ["per_a", "t"]);
    let schemas = "SELECT count(*) FROM information_schema.tables WHERE table_name = 't'";
    assert_eq!(fixture.query(schemas).await.unwrap(), ["1"]);
    let missing = fixture.query("SELECT * FROM nowhere").await.unwrap_err();
    assert_eq!(missing.code, "42P01");
}
