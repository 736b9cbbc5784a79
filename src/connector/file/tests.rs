//! Files as they come, grow, shrink and are read again.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{Int32Type, Schema, SchemaRef};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::connector::registry::{self, Options};
use crate::connector::{DeadLetter, Positions, Source, Then};
use crate::error::SqlError;
use crate::types::SqlType;

fn schema() -> SchemaRef {
    let text = SqlType::Text.field("b", true);
    Arc::new(Schema::new(vec![SqlType::Integer.field("a", false), text]))
}

fn options(path: &Path, encode: &str, pairs: &[(&str, &str)]) -> Options {
    let mut options: BTreeMap<String, String> =
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    options.insert("path".to_owned(), path.to_str().expect("UTF-8").to_owned());
    let (connector, encode) = ("file".to_owned(), Some(encode.to_owned()));
    Options { connector, options, encode, ..Options::default() }
}

fn open(options: &Options) -> Result<Box<dyn Source>, SqlError> {
    let schema = registry::check(options, Some(&schema()))?;
    registry::open(options, schema)
}

/// All rows and dead letters until there is nothing more for now.
async fn drain(
    source: &mut dyn Source,
    rows_max: usize,
    until: Option<&Positions>,
) -> (RecordBatch, Vec<DeadLetter>, Then) {
    let (mut batches, mut letters) = (Vec::new(), Vec::new());
    loop {
        let polled = source.poll(rows_max, until).await.expect("it reads");
        assert!(polled.batch.num_rows() <= rows_max);
        batches.push(polled.batch);
        letters.extend(polled.dead_letters);
        if polled.then != Then::More {
            let batch = concat_batches(&batches[0].schema(), &batches).expect("one schema");
            return (batch, letters, polled.then);
        }
    }
}

/// The same, after as long as it asked to be left alone.
async fn drain_later(source: &mut dyn Source) -> Vec<i32> {
    tokio::time::sleep(Duration::from_millis(250)).await;
    numbers(&drain(source, 100, None).await.0)
}

fn numbers(batch: &RecordBatch) -> Vec<i32> {
    batch.column(0).as_primitive::<Int32Type>().values().to_vec()
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(path).expect("writable");
    file.write_all(text.as_bytes()).expect("writable");
}

fn gzip(path: &Path, text: &str) {
    let file = fs::File::create(path).expect("writable");
    let mut encoder = GzEncoder::new(file, Compression::fast());
    encoder.write_all(text.as_bytes()).expect("writable");
    encoder.finish().expect("writable");
}

fn lines(range: std::ops::Range<i32>) -> String {
    range.map(|n| format!("{n},line {n}\n")).collect()
}

#[tokio::test]
async fn a_csv_file_is_read_once_and_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    append(&path, "\u{feff}a,b\n1,\"x\ny\"\n2,\n3,\"\"\n\nx,bad\n4,too,many\n5,last");
    let mut options = options(&path, "CSV", &[("follow", "false")]);
    options.encode_options.insert("header".to_owned(), "true".to_owned());
    let mut source = open(&options).expect("valid");
    let (rows, letters, then) = drain(source.as_mut(), 2, None).await;
    assert_eq!(then, Then::End);
    assert_eq!(numbers(&rows), [1, 2, 3, 5]);
    let texts: Vec<_> = rows.column(1).as_string::<i32>().iter().collect();
    assert_eq!(texts, [Some("x\ny"), None, Some(""), Some("last")]);
    let raw: Vec<_> = letters.iter().map(|l| String::from_utf8_lossy(&l.raw)).collect();
    assert_eq!(raw, ["x,bad", "4,too,many"]);
    assert_eq!(letters[0].position, "24:6");
    assert!(letters[0].reason.starts_with("line 7: invalid input syntax"), "{:?}", letters[0]);
    assert!(letters[1].reason.contains("extra data"), "{:?}", letters[1]);
    let position = source.positions().0.into_values().next().expect("one file");
    assert_eq!(position, "47:8:end");
}

#[tokio::test]
async fn a_file_is_followed_as_it_grows_and_others_come() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (folder.path().join("1.csv"), folder.path().join("2.csv"));
    let mut source = open(&options(&folder.path().join("*.csv"), "csv", &[])).expect("valid");
    let (rows, _, then) = drain(source.as_mut(), 100, None).await;
    assert_eq!(rows.num_rows(), 0);
    assert!(matches!(then, Then::Wait(_)), "{then:?}");

    append(&first, "1,a\n2,half");
    assert_eq!(drain_later(source.as_mut()).await, [1]);
    assert_eq!(drain_later(source.as_mut()).await, [0_i32; 0], "half a line is no record");
    append(&first, " a line\n3,c\n");
    append(&second, "4,d\n");
    assert_eq!(drain_later(source.as_mut()).await, [2, 3, 4]);
    let positions = source.positions();
    append(&first, "5,e\n");
    assert_eq!(drain_later(source.as_mut()).await, [5]);

    let mut replay = open(&options(&folder.path().join("*.csv"), "csv", &[])).expect("valid");
    let (rows, _, then) = drain(replay.as_mut(), 100, Some(&positions)).await;
    assert_eq!((numbers(&rows), then), (vec![1, 2, 3, 4], Then::End));
    assert_eq!(replay.positions(), positions);
}

#[tokio::test]
async fn a_seek_goes_on_after_the_last_record() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, range) in [("a.csv", 0..30_000), ("b.csv", 30_000..30_010)] {
        append(&folder.path().join(name), &lines(range));
    }
    gzip(&folder.path().join("c.csv.gz"), &lines(30_010..60_000));
    for follow in ["true", "false"] {
        let options = options(&folder.path().join("*.csv*"), "csv", &[("follow", follow)]);
        let mut whole = open(&options).expect("valid");
        let (rows, _, _) = drain(whole.as_mut(), 8192, None).await;
        assert_eq!(numbers(&rows), (0..60_000).collect::<Vec<_>>());
        let end = whole.positions();

        let mut source = open(&options).expect("valid");
        let mut seen = Vec::new();
        while seen.len() < 45_000 {
            let polled = source.poll(777, None).await.expect("it reads");
            seen.extend(numbers(&polled.batch));
            let positions = source.positions();
            if seen.len() % 5 == 0 {
                source = open(&options).expect("valid");
                source.seek(&positions).expect("positions of the same source");
                assert_eq!(source.positions(), positions);
            }
        }
        let middle = source.positions();
        let (rest, _, _) = drain(source.as_mut(), 8192, None).await;
        seen.extend(numbers(&rest));
        assert_eq!(seen, (0..60_000).collect::<Vec<_>>());
        assert_eq!(source.positions(), end);

        let mut replay = open(&options).expect("valid");
        let (rows, _, then) = drain(replay.as_mut(), 500, Some(&middle)).await;
        let read = seen.len() - rest.num_rows();
        assert_eq!((numbers(&rows), then), (seen[..read].to_vec(), Then::End));
        assert_eq!(replay.positions(), middle);
        let (rows, _, _) = drain(replay.as_mut(), 8192, Some(&end)).await;
        assert_eq!(numbers(&rows), seen[read..]);
        assert_eq!(replay.positions(), end);
    }
}

#[tokio::test]
async fn a_dropped_poll_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv.gz");
    gzip(&path, &lines(0..20_000));
    let mut source = open(&options(&path, "csv", &[])).expect("valid");
    let mut seen = Vec::new();
    while seen.len() < 20_000 {
        let mut poll = source.poll(100, None);
        // Polled once: whatever is not ready is given up.
        let polled = futures::future::poll_immediate(&mut poll).await;
        drop(poll);
        match polled {
            Some(polled) => seen.extend(numbers(&polled.expect("it reads").batch)),
            None => tokio::task::yield_now().await,
        }
    }
    assert_eq!(seen, (0..20_000).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_file_that_shrank_is_an_error_that_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (shrinks, grows) = (folder.path().join("a.csv"), folder.path().join("b.csv"));
    append(&shrinks, &lines(0..10));
    append(&grows, &lines(10..20));
    let mut source = open(&options(&folder.path().join("*.csv"), "csv", &[])).expect("valid");
    assert_eq!(numbers(&drain(source.as_mut(), 100, None).await.0).len(), 20);
    fs::write(&shrinks, "0,line 0\n").expect("writable");
    append(&grows, &lines(20..22));
    tokio::time::sleep(Duration::from_millis(250)).await;
    let polled = source.poll(100, None).await.expect("the other file is read");
    assert_eq!(numbers(&polled.batch), [20, 21]);
    let error = source.poll(100, None).await.expect_err("a.csv is shorter");
    assert_eq!(error.code, "55000");
    assert!(error.message.contains("a.csv\" has 9 bytes, but 90 bytes"), "{error}");
    let again = source.poll(100, None).await.expect_err("it still is");
    assert_eq!(again, error);
}

#[tokio::test]
async fn a_file_that_went_away_is_an_error_unless_it_may_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv");
    for follow in ["true", "false"] {
        append(&path, &lines(0..30_000));
        let options = options(&path, "csv", &[("follow", follow)]);
        let mut first = open(&options).expect("valid");
        assert_eq!(first.poll(10, None).await.expect("it reads").batch.num_rows(), 10);
        let positions = first.positions();
        fs::remove_file(&path).expect("writable");
        let mut source = open(&options);
        if follow == "false" {
            assert_eq!(source.map(|_| ()).expect_err("CREATE looks").code, "58P01");
            source = registry::open(&options, schema());
        }
        let mut source = source.expect("valid");
        source.seek(&positions).expect("positions of the same source");
        let polled = source.poll(10, None).await;
        if follow == "false" {
            assert_eq!(polled.expect_err("it is gone").code, "58P01");
        } else {
            assert!(matches!(polled.expect("it may come back").then, Then::Wait(_)));
            append(&path, &lines(0..12));
            assert_eq!(drain_later(source.as_mut()).await, [10, 11]);
            fs::remove_file(&path).expect("writable");
        }
    }
}

#[tokio::test]
async fn a_broken_gzip_file_is_an_error_after_its_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.csv.gz");
    gzip(&path, &lines(0..100_000));
    let bytes = fs::read(&path).expect("readable");
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("writable");
    let mut source = open(&options(&path, "csv", &[("follow", "false")])).expect("valid");
    let mut rows = 0;
    let error = loop {
        match source.poll(8192, None).await {
            Ok(polled) => {
                rows += polled.batch.num_rows();
                assert_ne!(polled.then, Then::End);
            }
            Err(error) => break error,
        }
    };
    assert!(rows > 10_000, "{rows}");
    assert!(error.message.contains("a.csv.gz"), "{error}");
    source.poll(8192, None).await.expect_err("it is still broken");
}

#[tokio::test]
async fn json_lines_become_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.json");
    append(&path, "{\"b\": {\"x\": [1.50]}, \"a\": 1}\n\n{\"A\": 2}\n{\"a\": null}\n[3]\n{\"a\":4");
    let mut source = open(&options(&path, "json", &[("follow", "off")])).expect("valid");
    let (rows, letters, then) = drain(source.as_mut(), 100, None).await;
    assert_eq!((numbers(&rows), then), (vec![1, 2], Then::End));
    assert_eq!(rows.column(1).as_string::<i32>().value(0), "{\"x\":[1.50]}");
    let reasons: Vec<_> = letters.iter().map(|letter| letter.reason.as_str()).collect();
    assert_eq!(reasons[0], "line 4: null value in column \"a\" violates not-null constraint");
    assert!(reasons[1].starts_with("line 5: invalid input syntax for type json"), "{reasons:?}");
    assert_eq!(letters[2].raw, b"{\"a\":4");
}

#[tokio::test]
async fn a_header_that_does_not_match_stops_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    append(&folder.path().join("1.csv"), "a,c\n1,x\n");
    append(&folder.path().join("2.csv"), "a,b\n2,y\n");
    let path = folder.path().join("*.csv");
    let mut options = options(&path, "csv", &[("follow", "false")]);
    options.encode_options.insert("header".to_owned(), "match".to_owned());
    let mut source = open(&options).expect("valid");
    let mut seen = Vec::new();
    let error = loop {
        match source.poll(100, None).await {
            Ok(polled) => seen.extend(numbers(&polled.batch)),
            Err(error) => break error,
        }
    };
    assert_eq!(seen, [2]);
    assert!(error.context.as_deref().is_some_and(|c| c.contains("1.csv")), "{error:?}");
}

#[test]
fn wrong_options_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("none.csv");
    let refused = |options: Options| {
        open(&options).map(|_| ()).map_err(|error| error.code).expect_err("refused")
    };
    assert_eq!(refused(options(&missing, "csv", &[("follow", "false")])), "58P01");
    assert_eq!(refused(options(folder.path(), "csv", &[])), "42809");
    assert_eq!(refused(options(&missing, "avro", &[])), "0A000");
    assert_eq!(refused(options(&missing, "csv", &[("folow", "false")])), "42704");
    assert_eq!(refused(options(Path::new("/tmp/[a"), "csv", &[])), "22023");
    assert_eq!(refused(options(Path::new(""), "csv", &[])), "22023");
    let base = options(&missing, "csv", &[]);
    open(&base).map(|_| ()).expect("a followed file may come later");
    assert_eq!(refused(Options { encode: None, ..base.clone() }), "22023");
    assert_eq!(refused(Options { format: Some("debezium".to_owned()), ..base.clone() }), "0A000");
    let odd = BTreeMap::from([("delimeter".to_owned(), ";".to_owned())]);
    assert_eq!(refused(Options { encode_options: odd, ..base }), "42704");
}
