//! What DataFusion alone makes of the same statements, over the same tables and with the same
//! functions: the number that decision 4 rests on. It is counted only where it is asked for.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::Result;

use super::Sides;
use super::answer::{Answer, Asker};
use super::statement::{Statement, statements};
use crate::harness::say;

/// Of the statements of one client.
#[derive(Default)]
struct Count {
    all: usize,
    planned: usize,
    ran: usize,
    equal: usize,
}

/// Counts which statements DataFusion plans, runs, and answers as PostgreSQL does.
pub(super) async fn datafusion_alone() -> Result<()> {
    let mut sides = Sides::new().await?;
    set(&mut sides.weir.asker, "SET catalog_evaluator = off").await?;
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    let mut report = String::new();
    for statement in statements()? {
        let theirs = sides.postgres.answer(&statement).await?;
        let ours = sides.weir.answer(&statement).await?;
        let client = statement.name.split(':').next().unwrap_or_default();
        for name in [client, "all"] {
            let count = counts.entry(name.to_owned()).or_default();
            count.all += 1;
            count.planned += usize::from(!ours.columns.is_empty());
            count.ran += usize::from(ours.error.is_none());
            count.equal += usize::from(theirs.difference(&ours).is_none());
        }
        if let Some(difference) = theirs.difference(&ours) {
            writeln!(report, "{}\n{difference}\n", statement.name)?;
        }
    }
    let mut table = "client\tstatements\tplanned\tran\tequal\n".to_owned();
    for (client, count) in &counts {
        let Count { all, planned, ran, equal } = count;
        writeln!(table, "{client}\t{all}\t{planned}\t{ran}\t{equal}")?;
    }
    say(&table);
    if let Ok(file) = std::env::var("WEIR_CATALOG_DATAFUSION") {
        fs::write(file, table + "\n" + &report)?;
    }
    Ok(())
}

async fn set(asker: &mut Asker, sql: &str) -> Result<Answer> {
    let statement = Statement { name: String::new(), sql: sql.to_owned(), parameters: Vec::new() };
    asker.ask(&statement).await
}
