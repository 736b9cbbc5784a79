//! TPC-H: its 22 queries as views over its 8 tables, with the specification's validation
//! parameters. The refresh functions put new orders with their lines in and take old ones out.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use sqllogictest::harness::Trial;
use tokio_postgres::Client;
use tpchgen::csv::{
    CustomerCsv, LineItemCsv, NationCsv, OrderCsv, PartCsv, PartSuppCsv, RegionCsv, SupplierCsv,
};
use tpchgen::distribution::Distributions;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};
use tpchgen::text::TextPool;

use super::{Failing, Workload, load, state_of_views};
use crate::client::execute;
use crate::harness::{self, trial_within};
use crate::postgres;
use crate::server::Server;

/// The smallest at which a part has its four different suppliers.
const SCALE: &str = "0.01";
/// Comments are pieces of this text. The specification's has 300 MB, which takes longer to write
/// than all the rest of the test.
const TEXT_BYTES: i32 = 4 << 20;
/// Orders are dealt into so many parts, of which the last come by refreshing, in as many batches.
const PARTS: usize = 20;
const BATCHES: usize = 3;

/// How long it may take at a scale of one's own.
const SCALED_MAX: Duration = Duration::from_secs(4 * 3600);

const FAILING: Failing = &[];

/// What the specification never does: the tables around the orders change as well.
const CHANGES: &[&str] = &[
    "UPDATE customer SET c_acctbal = -c_acctbal, c_mktsegment = 'BUILDING' WHERE c_custkey % 5 = 0",
    "UPDATE supplier SET s_nationkey = (s_nationkey + 1) % 25 WHERE s_suppkey % 3 = 0",
    "UPDATE part SET p_brand = 'Brand#23', p_container = 'MED BOX' WHERE p_partkey % 9 = 4",
    "UPDATE part SET p_size = 15, p_type = 'PROMO BRASS' WHERE p_partkey % 10 = 0",
    "UPDATE partsupp SET ps_supplycost = ps_supplycost / 2 WHERE ps_partkey % 4 = 1",
    "DELETE FROM customer WHERE c_custkey % 11 = 3",
    "UPDATE nation SET n_name = 'SAUDI ARABIA' WHERE n_name = 'FRANCE'",
];

const TABLES: &[&str] = &["partsupp", "customer", "part", "supplier", "nation", "region"];

/// What Q11 asks for, over the scale factor (2.4.11.3).
const Q11_FRACTION: f64 = 0.0001;

pub(crate) fn trials() -> Vec<Trial> {
    // Who sets the scale knows how long that takes.
    let limit = match std::env::var_os("WEIR_TPCH_SCALE") {
        Some(_) => SCALED_MAX,
        None => harness::TRIAL_MAX,
    };
    vec![trial_within("workload/tpch", limit, tpch)]
}

async fn tpch() -> Result<()> {
    let scale = std::env::var("WEIR_TPCH_SCALE").unwrap_or_else(|_| SCALE.to_string());
    let factor: f64 = scale.parse().context("WEIR_TPCH_SCALE")?;
    let data = Data::generate(factor);
    let mut server = Server::start(2).await?;
    let database = postgres::Database::create().await?;
    let (mut weir, oracle) = (server.connect().await?, database.connect().await?);
    let mut workload = Workload::read("TPC-H", "tpch")?;
    workload.set("FRACTION", &format!("{:.10}", Q11_FRACTION / factor));
    for client in [&weir, &oracle] {
        execute(client, &workload.schema()?).await?;
    }
    let timed = Instant::now();
    workload.create(&weir, 0, 2).await?;
    for (table, lines) in &data.fixed {
        load(&weir, &oracle, table, lines).await?;
    }
    for part in BATCHES..PARTS {
        data.refresh(&weir, &oracle, part..part + 1, 0..0).await.context("the first orders")?;
    }
    let loaded = timed.elapsed();
    workload.create(&weir, 1, 2).await?;
    let made = timed.elapsed();
    execute(&oracle, "CREATE INDEX ON lineitem (l_partkey); ANALYZE").await?;
    workload.compare(&weir, &oracle, "as loaded").await?;
    let timed = Instant::now();
    for batch in 0..BATCHES {
        let old = BATCHES + batch;
        data.refresh(&weir, &oracle, batch..batch + 1, old..old + 1).await?;
        workload.compare(&weir, &oracle, &format!("after refresh {batch}")).await?;
        if batch == 0 {
            server.kill();
            server.restart().await?;
            weir = server.connect().await?;
        }
    }
    for change in CHANGES {
        execute(&weir, change).await?;
        execute(&oracle, change).await?;
    }
    workload.compare(&weir, &oracle, "after the changes").await?;
    harness::say(format!(
        "tpch: scale {scale}; loaded under half of the views in {loaded:?}, all made after \
         {made:?}, refreshed and compared in {:?}; {}; {} MB of memory at most",
        timed.elapsed(),
        state_of_views(&weir).await?,
        server.memory()?.1 >> 20
    ));
    // In parts: a change of six million rows, and what all views make of it, is refused.
    let by_key = ["lineitem WHERE l_orderkey", "orders WHERE o_orderkey"];
    let parts =
        by_key.iter().flat_map(|key| (0..PARTS).map(move |n| format!("{key} % {PARTS} = {n}")));
    let all: Vec<String> = parts.chain(TABLES.iter().map(|table| (*table).to_owned())).collect();
    workload.empty(&weir, &oracle, &all).await?;
    let memory = server.memory()?.1 >> 20;
    harness::say(format!("tpch: {memory} MB of memory at most, when all was deleted"));
    workload.finish(FAILING)
}

/// The rows of all tables, as CSV.
struct Data {
    /// Tables that the refresh functions leave alone.
    fixed: Vec<(&'static str, Vec<String>)>,
    /// Orders and their lines, dealt into parts.
    parts: Vec<Part>,
}

#[derive(Default)]
struct Part {
    keys: BTreeSet<i64>,
    orders: Vec<String>,
    lines: Vec<String>,
}

impl Data {
    fn generate(scale: f64) -> Self {
        let words = Distributions::static_default();
        let text = TextPool::new(TEXT_BYTES, words);
        let (words, text) = (words, &text);
        let regions = RegionGenerator::new_with_distributions_and_text_pool(words, text);
        let nations = NationGenerator::new_with_distributions_and_text_pool(words, text);
        let parts = PartGenerator::new_with_distributions_and_text_pool(scale, 1, 1, words, text);
        let suppliers =
            SupplierGenerator::new_with_distributions_and_text_pool(scale, 1, 1, words, text);
        let supplies = PartSuppGenerator::new_with_text_pool(scale, 1, 1, text);
        let customers =
            CustomerGenerator::new_with_distributions_and_text_pool(scale, 1, 1, words, text);
        let orders = OrderGenerator::new_with_distributions_and_text_pool(scale, 1, 1, words, text);
        let lines =
            LineItemGenerator::new_with_distributions_and_text_pool(scale, 1, 1, words, text);
        let fixed = vec![
            ("region", regions.iter().map(|row| RegionCsv::new(row).to_string()).collect()),
            ("nation", nations.iter().map(|row| NationCsv::new(row).to_string()).collect()),
            ("part", parts.iter().map(|row| PartCsv::new(row).to_string()).collect()),
            ("supplier", suppliers.iter().map(|row| SupplierCsv::new(row).to_string()).collect()),
            ("partsupp", supplies.iter().map(|row| PartSuppCsv::new(row).to_string()).collect()),
            ("customer", customers.iter().map(|row| CustomerCsv::new(row).to_string()).collect()),
        ];
        let mut parts: Vec<Part> = (0..PARTS).map(|_| Part::default()).collect();
        for (index, order) in orders.iter().enumerate() {
            let part = &mut parts[index % PARTS];
            part.keys.insert(order.o_orderkey);
            part.orders.push(OrderCsv::new(order).to_string());
        }
        for line in lines.iter() {
            let part = parts.iter_mut().find(|part| part.keys.contains(&line.l_orderkey));
            part.expect("a line has an order").lines.push(LineItemCsv::new(line).to_string());
        }
        Self { fixed, parts }
    }

    /// Puts in the orders of some parts and takes out those of others, in a transaction, as the
    /// refresh functions RF1 and RF2 do.
    async fn refresh(
        &self,
        weir: &Client,
        oracle: &Client,
        new: std::ops::Range<usize>,
        old: std::ops::Range<usize>,
    ) -> Result<()> {
        for client in [weir, oracle] {
            execute(client, "BEGIN").await?;
        }
        for part in &self.parts[new] {
            load(weir, oracle, "orders", &part.orders).await?;
            load(weir, oracle, "lineitem", &part.lines).await?;
        }
        for part in &self.parts[old] {
            let keys: Vec<String> = part.keys.iter().map(i64::to_string).collect();
            let keys = keys.join(", ");
            for (table, column) in [("lineitem", "l_orderkey"), ("orders", "o_orderkey")] {
                let delete = format!("DELETE FROM {table} WHERE {column} IN ({keys})");
                let (ours, theirs) =
                    (weir.execute(&delete, &[]).await?, oracle.execute(&delete, &[]).await?);
                ensure!(ours == theirs, "{table}: {ours} rows deleted, PostgreSQL {theirs}");
            }
        }
        for client in [weir, oracle] {
            execute(client, "COMMIT").await?;
        }
        Ok(())
    }
}
