//! The stream as a whole: the shares that the benchmark's queries rest on, and replay.

use std::collections::BTreeMap;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use futures::executor::block_on;

use super::options::NexmarkOptions;
use super::source::{self, NexmarkSource};
use crate::connector::registry::Options;
use crate::connector::{Positions, Source, Then};

fn open(pairs: &[(&str, &str)], columns: &[&str]) -> NexmarkSource {
    let options = parsed(pairs).expect("valid options");
    let all = source::schema(&options, None).expect("no columns are declared");
    let indexes: Vec<usize> =
        columns.iter().map(|name| all.index_of(name).expect("a column")).collect();
    let declared = all.project(&indexes).expect("indexes are valid");
    let schema = source::schema(&options, Some(&declared)).expect("a subset");
    NexmarkSource::new(options, schema)
}

fn parsed(pairs: &[(&str, &str)]) -> Result<NexmarkOptions, crate::error::SqlError> {
    let options: BTreeMap<String, String> =
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    NexmarkOptions::read(&Options { options, ..Options::default() })
}

/// All rows until the end, and the size of the largest batch.
fn rows(source: &mut NexmarkSource, rows_max: usize, until: Option<&Positions>) -> RecordBatch {
    let mut batches = Vec::new();
    loop {
        let polled = block_on(source.poll(rows_max, until)).expect("it generates");
        assert!(polled.batch.num_rows() <= rows_max);
        batches.push(polled.batch);
        match polled.then {
            Then::End => break,
            Then::More => {}
            Then::Wait(_) => panic!("it is not paced"),
        }
    }
    concat_batches(&batches[0].schema(), &batches).expect("one schema")
}

fn int64s(batch: &RecordBatch, column: &str) -> Vec<i64> {
    let column = batch.column_by_name(column).expect("a column").as_primitive::<Int64Type>();
    column.values().to_vec()
}

fn strings(batch: &RecordBatch, column: &str) -> Vec<String> {
    let column = batch.column_by_name(column).expect("a column").as_string::<i32>();
    column.iter().map(|value| value.expect("never NULL").to_owned()).collect()
}

fn share<T>(values: &[T], has: impl Fn(&T) -> bool) -> f64 {
    values.iter().filter(|value| has(value)).count() as f64 / values.len() as f64
}

fn near(share: f64, expected: f64) -> bool {
    (share - expected).abs() < 0.01
}

#[test]
fn a_million_events_are_so_many_of_each_kind() {
    let count = |kind, column| {
        let options = [("event_type", kind), ("events", "1000000")];
        rows(&mut open(&options, &[column]), 8192, None).num_rows()
    };
    assert_eq!(count("bid", "date_time"), 920_000);
    assert_eq!(count("auction", "date_time"), 60_000);
    assert_eq!(count("person", "date_time"), 20_000);
}

#[test]
fn bids_are_hot_as_the_benchmark_says() {
    let columns = ["auction", "bidder", "price", "channel", "url", "extra"];
    let mut source = open(&[("event_type", "bid"), ("events", "200000")], &columns);
    let bids = rows(&mut source, 8192, None);
    // Ids that are hot also come by chance: one of about 110 auctions.
    let auctions = share(&int64s(&bids, "auction"), |auction| auction % 100 == 0);
    assert!((0.50..0.515).contains(&auctions), "{auctions}");
    let bidders = share(&int64s(&bids, "bidder"), |bidder| bidder % 100 == 1);
    assert!((0.745..0.765).contains(&bidders), "{bidders}");
    let channels = strings(&bids, "channel");
    assert!(near(share(&channels, |channel| !channel.starts_with("channel-")), 0.5));
    assert!(near(share(&channels, |channel| channel == "Apple"), 0.125));
    let urls = strings(&bids, "url");
    assert!(near(share(&urls, |url| url.contains("&channel_id=")), 0.45));
    assert!(urls.iter().all(|url| url.split('/').count() == 7), "{}", urls[0]);
    let mut prices = int64s(&bids, "price");
    prices.sort_unstable();
    assert!((90_000..110_000).contains(&prices[prices.len() / 2]));
    let extra: usize = strings(&bids, "extra").iter().map(String::len).sum();
    let average = extra as f64 / bids.num_rows() as f64;
    assert!((average - 68.0).abs() < 1.0, "{average}");
}

#[test]
fn bidders_and_sellers_are_people() {
    let people =
        rows(&mut open(&[("event_type", "person"), ("events", "100000")], &["id"]), 99, None);
    let people = int64s(&people, "id");
    assert_eq!(people, (1000..3000).collect::<Vec<i64>>());
    let options = [("event_type", "bid"), ("events", "100000")];
    let bidders = int64s(&rows(&mut open(&options, &["bidder"]), 8192, None), "bidder");
    assert!(bidders.iter().all(|bidder| (1000..3010).contains(bidder)));
    let flink = [options.as_slice(), &[("compat", "flink")]].concat();
    let doubled = int64s(&rows(&mut open(&flink, &["bidder"]), 8192, None), "bidder");
    assert!(doubled.iter().zip(&bidders).all(|(doubled, bidder)| *doubled == bidder + 1000));
}

#[test]
fn auctions_are_as_the_benchmark_says() {
    let all = [
        "id",
        "item_name",
        "description",
        "initial_bid",
        "reserve",
        "date_time",
        "expires",
        "seller",
        "category",
        "extra",
    ];
    let mut source = open(&[("event_type", "auction"), ("events", "500000")], &all);
    let auctions = rows(&mut source, 8192, None);
    assert_eq!(int64s(&auctions, "id"), (1000..31_000).collect::<Vec<i64>>());
    assert!(near(share(&int64s(&auctions, "seller"), |seller| seller % 100 == 0), 0.75));
    for category in 10..15 {
        let share = share(&int64s(&auctions, "category"), |found| *found == category);
        assert!(near(share, 0.2), "{category}: {share}");
    }
    let initial = int64s(&auctions, "initial_bid");
    let reserve = int64s(&auctions, "reserve");
    assert!(initial.iter().zip(&reserve).all(|(initial, reserve)| initial + 100 <= *reserve));
    let text: usize = ["item_name", "description", "extra"]
        .iter()
        .flat_map(|column| strings(&auctions, column))
        .map(|text| text.len())
        .sum();
    let average = text as f64 / auctions.num_rows() as f64 + 48.0;
    assert!((average - 500.0).abs() < 3.0, "{average}");
    let times = auctions.column_by_name("date_time").expect("a column");
    let times = times.as_primitive::<arrow::datatypes::TimestampMicrosecondType>();
    let expires = auctions.column_by_name("expires").expect("a column");
    let expires = expires.as_primitive::<arrow::datatypes::TimestampMicrosecondType>();
    for row in 0..auctions.num_rows() {
        let open_ms = (expires.value(row) - times.value(row)) / 1000;
        assert!((1..=332).contains(&open_ms), "{open_ms}");
    }
}

#[test]
fn people_live_in_the_states_that_query_3_asks_for() {
    let columns =
        ["id", "name", "email_address", "credit_card", "city", "state", "date_time", "extra"];
    let mut source = open(&[("event_type", "person"), ("events", "1000000")], &columns);
    let people = rows(&mut source, 8192, None);
    let states = strings(&people, "state");
    assert!(near(share(&states, |state| ["OR", "ID", "CA"].contains(&state.as_str())), 0.5));
    let size: usize = ["name", "email_address", "credit_card", "city", "state", "extra"]
        .iter()
        .flat_map(|column| strings(&people, column))
        .map(|text| text.len())
        .sum();
    let average = size as f64 / people.num_rows() as f64 + 8.0;
    assert!((average - 200.0).abs() < 2.0, "{average}");
    assert!(strings(&people, "credit_card").iter().all(|card| card.len() == 19));
}

#[test]
fn a_seek_gives_the_same_rows_again() {
    for extra in [&[][..], &[("splits", "3")], &[("out_of_order", "70"), ("splits", "2")]] {
        let base = [("event_type", "auction"), ("events", "20000")];
        let options = [base.as_slice(), extra].concat();
        let columns = ["id", "seller", "description", "date_time"];
        let whole = rows(&mut open(&options, &columns), 8192, None);
        assert_eq!(whole.num_rows(), 1200);

        let mut first = open(&options, &columns);
        let mut head = Vec::new();
        for rows_max in [1, 100, 7, 256] {
            head.push(block_on(first.poll(rows_max, None)).expect("it generates").batch);
        }
        let head = concat_batches(&whole.schema(), &head).expect("one schema");
        assert_eq!(head, whole.slice(0, head.num_rows()), "{extra:?}");
        let positions = first.positions();

        let mut second = open(&options, &columns);
        second.seek(&positions).expect("positions of the same source");
        assert_eq!(second.positions(), positions);
        let tail = rows(&mut second, 33, None);
        let rest = whole.num_rows() - head.num_rows();
        assert_eq!(tail, whole.slice(head.num_rows(), rest), "{extra:?}");

        let mut again = open(&options, &columns);
        assert_eq!(rows(&mut again, 50, Some(&positions)), head, "{extra:?}");
        assert_eq!(again.positions(), positions, "{extra:?}");
    }
}

#[test]
fn columns_do_not_depend_on_which_are_asked_for() {
    let options = [("event_type", "bid"), ("events", "5000")];
    let all = open(&options, &["url", "price", "auction"]);
    let some = open(&options, &["auction", "url"]);
    let [all, some] = [all, some].map(|mut source| rows(&mut source, 512, None));
    assert_eq!(all.column(0), some.column(1));
    assert_eq!(all.column(2), some.column(0));
}

#[test]
fn a_rate_paces_but_a_replay_does_not_wait() {
    let options = [("event_type", "bid"), ("rate", "100"), ("events", "100000")];
    let mut source = open(&options, &["auction"]);
    let polled = block_on(source.poll(8192, None)).expect("it generates");
    assert!(polled.batch.num_rows() < 10);
    assert!(matches!(polled.then, Then::Wait(_)), "{:?}", polled.then);
    let until = Positions(BTreeMap::from([("0".to_owned(), "5000".to_owned())]));
    let mut replay = open(&options, &["auction"]);
    assert_eq!(rows(&mut replay, 8192, Some(&until)).num_rows(), 4600);
}

#[test]
fn wrong_options_and_columns_are_refused() {
    let refused = |pairs: &[(&str, &str)]| parsed(pairs).expect_err("refused").code;
    assert_eq!(refused(&[]), "0A000");
    assert_eq!(refused(&[("event_type", "bids")]), "22023");
    assert_eq!(refused(&[("event_type", "bid"), ("evnts", "5")]), "42704");
    assert_eq!(refused(&[("event_type", "bid"), ("splits", "0")]), "22023");
    assert_eq!(refused(&[("event_type", "bid"), ("out_of_order", "953")]), "22023");
    assert_eq!(refused(&[("event_type", "bid"), ("base_time", "soon")]), "22023");
    let options = parsed(&[("nexmark.table.type", "Bid")]).expect("as RisingWave says it");
    let column = |name, sql_type: crate::types::SqlType| {
        let declared = arrow::datatypes::Schema::new(vec![sql_type.field(name, true)]);
        source::schema(&options, Some(&declared)).map(|_| ()).map_err(|error| error.code)
    };
    assert_eq!(column("price", crate::types::SqlType::BigInt), Ok(()));
    assert_eq!(column("url", crate::types::SqlType::Text), Ok(()));
    assert_eq!(column("price", crate::types::SqlType::Integer), Err("42804"));
    assert_eq!(column("prize", crate::types::SqlType::BigInt), Err("42703"));
    let mut source = open(&[("event_type", "bid")], &["price"]);
    let unknown = Positions(BTreeMap::from([("1".to_owned(), "0".to_owned())]));
    assert_eq!(source.seek(&unknown).expect_err("one split only").code, "XX001");
}
