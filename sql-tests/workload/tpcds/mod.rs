//! TPC-DS: its 99 queries as views over its 24 tables. Four of them have two parts, a view each.
//!
//! The rows are ours (`data`), and so are the parameters of the queries: the specification's where
//! the rows have them, others where its would select nothing. What else differs from its text: ties
//! under a LIMIT are broken by more columns in ORDER BY, columns of expressions have names, a zero
//! beside an amount has two decimals (`numerics in one column` in docs/sql/differences.md), q17's
//! quotients by a deviation are float8, as PostgreSQL's zero has 20 decimals there, and q90 divides
//! by NULL where it would divide by zero, as PostgreSQL has no answer then.

mod data;
mod facts;
mod words;

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use sqllogictest::harness::Trial;

use super::{Failing, Workload, load, state_of_views};
use crate::client::execute;
use crate::harness::{self, trial};
use crate::postgres;
use crate::server::Server;

const FAILING: Failing = &[];

/// Tables that come in two parts, the second when all views are there.
const FACTS: usize = 7;

const CHANGES: &[&str] = &[
    "DELETE FROM store_sales WHERE ss_ticket_number % 9 = 0",
    "DELETE FROM store_returns WHERE sr_ticket_number % 9 = 0",
    "UPDATE store_sales SET ss_customer_sk = ss_customer_sk % 120 + 1 WHERE ss_item_sk % 5 = 0",
    "UPDATE catalog_sales SET cs_sold_date_sk = cs_sold_date_sk + 7, cs_quantity = cs_quantity + 3 \
        WHERE cs_order_number % 4 = 1",
    "UPDATE web_sales SET ws_ext_sales_price = ws_ext_sales_price * 2, ws_web_site_sk = NULL \
        WHERE ws_order_number % 6 = 2",
    "DELETE FROM web_returns WHERE wr_item_sk % 4 = 0",
    "UPDATE catalog_returns SET cr_reason_sk = 4, cr_return_amount = cr_return_amount / 2 \
        WHERE cr_order_number % 3 = 0",
    "UPDATE item SET i_category = 'Books', i_class = 'reference', i_manager_id = 1 \
        WHERE i_item_sk % 7 = 0",
    "UPDATE customer SET c_current_addr_sk = c_current_addr_sk % 64 + 1 \
        WHERE c_customer_sk % 4 = 0",
    "UPDATE customer_address SET ca_state = 'GA', ca_county = 'Walker County' \
        WHERE ca_address_sk % 16 = 3",
    "UPDATE store SET s_state = 'GA' WHERE s_store_sk = 2",
    "UPDATE date_dim SET d_day_name = 'Monday', d_dow = 1 WHERE d_date_sk % 50 = 0",
    "DELETE FROM date_dim WHERE d_date_sk % 97 = 5",
    "DELETE FROM promotion WHERE p_promo_sk = 3",
    "DELETE FROM household_demographics WHERE hd_demo_sk % 13 = 0",
    "UPDATE inventory SET inv_quantity_on_hand = inv_quantity_on_hand + 90 \
        WHERE inv_item_sk % 3 = 0",
    "DELETE FROM customer_demographics WHERE cd_demo_sk % 17 = 0",
];

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("workload/tpcds", tpcds)]
}

async fn tpcds() -> Result<()> {
    let mut server = Server::start(2).await?;
    let database = postgres::Database::create().await?;
    let (mut weir, oracle) = (server.connect().await?, database.connect().await?);
    let mut workload = Workload::read("TPC-DS", "tpcds")?;
    for client in [&weir, &oracle] {
        execute(client, &workload.schema()?).await?;
    }
    let tables = data::generate();
    let (dimensions, facts) = tables.split_at(tables.len() - FACTS);
    let timed = Instant::now();
    workload.create(&weir, 0, 2).await?;
    let half_made = timed.elapsed();
    for (table, lines) in dimensions {
        load(&weir, &oracle, table, lines).await?;
    }
    for (table, lines) in facts {
        load(&weir, &oracle, table, &lines[..lines.len() / 2]).await?;
    }
    let loaded = timed.elapsed();
    workload.create(&weir, 1, 2).await?;
    let made = timed.elapsed();
    for (table, lines) in facts {
        load(&weir, &oracle, table, &lines[lines.len() / 2..]).await?;
    }
    let all_loaded = timed.elapsed();
    execute(&oracle, "CREATE INDEX ON catalog_sales (cs_item_sk); ANALYZE").await?;
    workload.compare(&weir, &oracle, "as loaded").await?;
    let compared = timed.elapsed();
    server.kill();
    server.restart().await?;
    weir = server.connect().await?;
    for change in CHANGES {
        let (ours, theirs) = (
            weir.execute(*change, &[]).await.context(*change)?,
            oracle.execute(*change, &[]).await.context(*change)?,
        );
        ensure!(ours == theirs, "{change}: {ours} rows, PostgreSQL {theirs}");
    }
    let changed = timed.elapsed();
    workload.compare(&weir, &oracle, "after the changes").await?;
    harness::say(format!(
        "tpcds: half of the views were made in {half_made:?}, half of the rows loaded after \
         {loaded:?}, all views made after {made:?}, all loaded after {all_loaded:?}, compared after \
         {compared:?}, changed after {changed:?}, compared after {:?}; {}; {} MB of memory at most",
        timed.elapsed(),
        state_of_views(&weir).await?,
        server.memory()?.1 >> 20
    ));
    let tables: Vec<&str> = tables.iter().rev().map(|(table, _)| *table).collect();
    workload.empty(&weir, &oracle, &tables).await?;
    workload.finish(FAILING)
}
