//! Made-up rows as a user asks for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::util::pretty::pretty_format_batches;
use expect_test::expect;
use futures::executor::block_on;

use crate::connector::registry::{self, Options};
use crate::connector::{Source, Then};
use crate::error::SqlError;
use crate::types::SqlType;

fn schema(columns: &[(&str, &str)]) -> SchemaRef {
    let field = |(name, sql_type): &(&str, &str)| {
        SqlType::parse(sql_type).expect("a type").field(*name, true)
    };
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

fn options(pairs: &[(&str, &str)]) -> Options {
    let options: BTreeMap<String, String> =
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Options { connector: "datagen".to_owned(), options, ..Options::default() }
}

fn open(columns: &[(&str, &str)], pairs: &[(&str, &str)]) -> Result<Box<dyn Source>, SqlError> {
    let options = options(pairs);
    let schema = registry::check(&options, Some(&schema(columns)))?;
    registry::open(&options, schema)
}

fn rows(source: &mut dyn Source, rows_max: usize) -> RecordBatch {
    let mut batches = Vec::new();
    loop {
        let polled = block_on(source.poll(rows_max, None)).expect("it generates");
        batches.push(polled.batch);
        if polled.then == Then::End {
            return concat_batches(&batches[0].schema(), &batches).expect("one schema");
        }
    }
}

#[test]
fn sequences_count_in_every_type() {
    let columns = [
        ("a", "int"),
        ("b", "numeric(6,2)"),
        ("c", "date"),
        ("d", "timestamptz"),
        ("e", "varchar"),
        ("f", "real"),
    ];
    let mut source = open(
        &columns,
        &[
            ("fields.a.kind", "sequence"),
            ("fields.a.start", "10"),
            ("fields.a.end", "16"),
            ("fields.a.step", "3"),
            ("fields.b.kind", "sequence"),
            ("fields.b.step", "0.25"),
            ("fields.c.kind", "sequence"),
            ("fields.c.start", "2024-02-28"),
            ("fields.d.kind", "sequence"),
            ("fields.d.step", "90 min"),
            ("fields.e.kind", "sequence"),
            ("fields.f.kind", "sequence"),
        ],
    )
    .expect("valid options");
    let batch = rows(source.as_mut(), 2);
    let table = pretty_format_batches(&[batch]).expect("printable").to_string();
    expect![[r#"
        +----+------+------------+----------------------+---+-----+
        | a  | b    | c          | d                    | e | f   |
        +----+------+------------+----------------------+---+-----+
        | 10 | 0.00 | 2024-02-28 | 2015-07-15T00:00:00Z | 0 | 0.0 |
        | 13 | 0.25 | 2024-02-29 | 2015-07-15T01:30:00Z | 1 | 1.0 |
        | 16 | 0.50 | 2024-03-01 | 2015-07-15T03:00:00Z | 2 | 2.0 |
        +----+------+------------+----------------------+---+-----+"#]]
    .assert_eq(&table);
}

#[test]
fn random_values_keep_their_bounds_and_their_share_of_nulls() {
    let columns = [("a", "smallint"), ("b", "double precision"), ("c", "text"), ("d", "boolean")];
    let given = [
        ("rows", "5000"),
        ("fields.a.min", "-3"),
        ("fields.a.max", "3"),
        ("fields.a.null_rate", "0.25"),
        ("fields.b.min", "1.5"),
        ("fields.b.max", "2"),
        ("fields.c.length", "7"),
    ];
    let batch = rows(open(&columns, &given).expect("valid options").as_mut(), 999);
    assert_eq!(batch.num_rows(), 5000);
    let nulls = batch.column(0).null_count();
    assert!((1100..1400).contains(&nulls), "{nulls}");
    let numbers = batch.column(0).as_any().downcast_ref::<arrow::array::Int16Array>();
    let mut seen: Vec<i16> = numbers.expect("smallint").iter().flatten().collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, [-3, -2, -1, 0, 1, 2, 3]);
    let floats = batch.column(1).as_any().downcast_ref::<arrow::array::Float64Array>();
    assert!(floats.expect("double").iter().flatten().all(|value| (1.5..2.0).contains(&value)));
    let texts = batch.column(2).as_any().downcast_ref::<arrow::array::StringArray>();
    assert!(texts.expect("text").iter().flatten().all(|value| value.len() == 7));
    let switches = batch.column(3).as_any().downcast_ref::<arrow::array::BooleanArray>();
    assert!((2300..2700).contains(&switches.expect("boolean").true_count()));
}

#[test]
fn a_seek_gives_the_same_rows_and_a_seed_others() {
    let columns =
        [("a", "bigint"), ("b", "numeric(38,0)"), ("c", "timestamp"), ("d", "varchar(4)")];
    let open = |seed| open(&columns, &[("rows", "500"), ("seed", seed)]).expect("valid options");
    let whole = rows(open("1").as_mut(), 500);
    let mut first = open("1");
    block_on(first.poll(123, None)).expect("it generates");
    let mut second = open("1");
    second.seek(&first.positions()).expect("positions of the same source");
    assert_eq!(rows(second.as_mut(), 100), whole.slice(123, 377));
    let mut again = open("1");
    let until = first.positions();
    let polled = block_on(again.poll(500, Some(&until))).expect("it generates");
    assert_eq!((polled.batch, polled.then), (whole.slice(0, 123), Then::End));
    assert_ne!(rows(open("2").as_mut(), 500), whole);
}

#[test]
fn a_rate_paces() {
    let given = [("rows_per_second", "10"), ("rows", "1000")];
    let mut source = open(&[("a", "int")], &given).expect("valid options");
    let polled = block_on(source.poll(1000, None)).expect("it generates");
    assert!(polled.batch.num_rows() < 5);
    assert!(matches!(polled.then, Then::Wait(_)));
}

#[test]
fn wrong_options_are_refused() {
    let refused = |columns: &[(&str, &str)], pairs: &[(&str, &str)]| {
        open(columns, pairs).map(|_| ()).expect_err("refused")
    };
    let int = [("a", "int")];
    assert_eq!(refused(&int, &[("fields.b.kind", "random")]).code, "42704");
    assert_eq!(refused(&int, &[("fields.a.kind", "odd")]).code, "22023");
    assert_eq!(refused(&int, &[("fields.a.min", "x")]).code, "22023");
    assert_eq!(refused(&int, &[("fields.a.min", "3000000000")]).code, "22023");
    assert_eq!(refused(&int, &[("fields.a.min", "2"), ("fields.a.max", "1")]).code, "22023");
    assert_eq!(refused(&int, &[("fields.a.null_rate", "2")]).code, "22023");
    assert_eq!(refused(&[("a", "jsonb")], &[]).code, "0A000");
    assert_eq!(refused(&[], &[]).code, "42P16");
    let step = [("fields.a.kind", "sequence"), ("fields.a.step", "0")];
    assert_eq!(refused(&int, &step).code, "22023");
    let over = [("fields.a.kind", "sequence"), ("fields.a.start", "32767"), ("rows", "2")];
    let mut source = open(&[("a", "smallint")], &over).expect("valid options");
    let error = block_on(source.poll(10, None)).expect_err("32768 is no smallint");
    assert_eq!(error.code, "22003");
}
