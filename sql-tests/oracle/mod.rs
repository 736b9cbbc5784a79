//! Every query a view: random queries, kept as views over tables whose rows come, change and go,
//! give PostgreSQL's answers.
//!
//! ```text
//! schema: tables, batches --\
//!                            case: on Weir and on PostgreSQL --fails--> shrink --> a small script
//! grammar: queries ---------/
//! ```
//!
//! Dozens of queries are views at once, over the same tables; the servers' parallelism is 1 and
//! 4; now and then the server is killed between batches. A query that PostgreSQL refuses is
//! dropped; one that Weir refuses is a failure like a wrong answer.

mod case;
mod grammar;
mod kind;
mod schema;
mod shrink;
mod tree;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use rand::Rng;
use rand::rngs::StdRng;
use sqllogictest::harness::Trial;

use self::case::{Bench, Case, Counts, Failure, View, Wrong};
use self::grammar::Grammar;
use self::shrink::{Shrunk, script, shrink};
use crate::harness::{self, trial_within};

const QUERIES: u64 = 60;
const VIEWS_AT_ONCE: usize = 20;
const BATCHES: usize = 5;
const SHRINK_SECONDS_MAX: u64 = 90;
/// Each attempt waits for an answer that does not come.
const SHRINK_HANGING_SECONDS_MAX: u64 = 400;
const SECONDS_A_QUERY_MAX: u64 = 10;

pub(crate) fn trials() -> Vec<Trial> {
    [1, 4]
        .into_iter()
        .map(|parallelism| {
            let name = format!("oracle/parallelism_{parallelism}");
            let limit = Duration::from_secs(600 + SECONDS_A_QUERY_MAX * queries());
            trial_within(name.clone(), limit, move || compare(name, parallelism))
        })
        .collect()
}

/// Of the short run: the same cases each time, which pass. New ones are drawn by the runs that
/// name a seed or a number of queries.
const SHORT_SEED: u64 = 5;

fn seed() -> u64 {
    let named =
        ["WEIR_SEED", "WEIR_ORACLE_QUERIES"].iter().any(|name| std::env::var_os(name).is_some());
    if named { harness::seed() } else { SHORT_SEED }
}

/// How many at one parallelism.
fn queries() -> u64 {
    harness::number("WEIR_ORACLE_QUERIES").unwrap_or(QUERIES) / 2
}

/// Runs cases until the queries are enough, and fails with all kinds of failures that came.
async fn compare(name: String, parallelism: usize) -> Result<()> {
    let queries = queries();
    harness::say(format!("{name}: seed {} (WEIR_SEED), {queries} queries", seed()));
    let mut bench = Bench::start(parallelism).await?;
    let mut kinds: BTreeMap<(Wrong, String), (usize, Option<Shrunk>)> = BTreeMap::new();
    let started = Instant::now();
    let mut number = 0;
    while (bench.counts.queries as u64) < queries {
        let case = draw(parallelism, &mut harness::random_of(seed(), &format!("{name}/{number}")));
        number += 1;
        for failure in bench.run(&case).await? {
            let kind = (failure.wrong, failure.kind.clone());
            let seen = kinds.entry(kind).or_default();
            seen.0 += 1;
            // A wrong answer has no words that tell its kind: three of them are worth a look.
            let looks = if failure.kind.is_empty() { 3 } else { 1 };
            if seen.0 <= looks {
                let limit = Duration::from_secs(match failure.wrong {
                    Wrong::Server => SHRINK_HANGING_SECONDS_MAX,
                    _ => SHRINK_SECONDS_MAX,
                });
                let shrunk = shrink(&mut bench, &case, &failure, limit).await?;
                report(&name, &shrunk)?;
                seen.1.get_or_insert(shrunk);
            }
        }
    }
    let Counts { queries, compared, batches, dropped } = bench.counts;
    harness::say(format!(
        "{name}: {queries} queries, {compared} answers compared after {batches} batches, \
         {dropped} queries dropped, in {:?}",
        started.elapsed(),
    ));
    if kinds.is_empty() {
        return Ok(());
    }
    let mut text = String::new();
    for ((wrong, kind), (count, shrunk)) in &kinds {
        writeln!(text, "{count} times {wrong:?} {kind}")?;
        if let Some(shrunk) = shrunk {
            writeln!(text, "{}", shown(shrunk))?;
        }
    }
    bail!("{} kinds of failures\n{text}", kinds.len())
}

/// A case of random tables, batches and views.
fn draw(parallelism: usize, random: &mut StdRng) -> Case {
    let tables = schema::tables(random);
    let batches = schema::batches(&tables, BATCHES, random);
    let late_after = random.random_range(1..BATCHES);
    let mut views: Vec<View> = Vec::new();
    for number in 0..VIEWS_AT_ONCE {
        let mut readable = tables.clone();
        // Now and then a view over a view that was made before.
        if number > 2 && random.random_ratio(1, 4) {
            let view = &views[random.random_range(0..views.len())];
            if view.reads.len() < 2 {
                readable.push(view.table());
                readable.push(view.table());
            }
        }
        let (query, kinds) = Grammar::new(random, readable.clone()).generate();
        let text = query.to_string();
        let mut reads = BTreeSet::new();
        for view in &views {
            if text.contains(&format!(" {} ", view.name)) {
                reads.insert(view.name.clone());
                reads.extend(view.reads.iter().cloned());
            }
        }
        views.push(View { name: format!("v{number}"), query, kinds, reads });
    }
    Case { parallelism, tables, batches, views, late_after }
}

/// Appends a failure to the file that `WEIR_ORACLE_REPORT` names, as soon as it is known.
fn report(name: &str, shrunk: &Shrunk) -> Result<()> {
    use std::io::Write as _;
    if let Some(path) = std::env::var_os("WEIR_ORACLE_REPORT") {
        let mut file = std::fs::File::options().create(true).append(true).open(path)?;
        let Failure { wrong, kind, .. } = &shrunk.failure;
        writeln!(file, "## {wrong:?} {kind}\n\n{name}\n\n```\n{}\n```\n", shown(shrunk))?;
    }
    Ok(())
}

fn shown(shrunk: &Shrunk) -> String {
    let Shrunk { case, failure, again } = shrunk;
    let again = if *again { "" } else { "-- It did not come again when run alone.\n" };
    format!(
        "{again}{}\n-- {:?} at parallelism {}, after batch {}:\n{}",
        script(case),
        failure.wrong,
        case.parallelism,
        failure.batch,
        failure.detail
    )
}
