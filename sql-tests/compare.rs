//! When two results are the same.

use anyhow::{Context, Result, ensure};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use crate::client::{Rows, explain};

/// How far two floats may be apart, relative to the larger: sums of floats depend on their order.
const TOLERANCE: f64 = 1e-9;

/// The types of what `sql` gives, as PostgreSQL says.
pub(crate) async fn types(oracle: &Client, sql: &str) -> Result<Vec<Type>> {
    let prepared = oracle.prepare(sql).await.map_err(explain).with_context(|| sql.to_string())?;
    Ok(prepared.columns().iter().map(|column| column.type_().clone()).collect())
}

/// The same rows in any order: floats and quotients nearly, everything else exactly.
pub(crate) fn same(mut ours: Rows, mut theirs: Rows, types: &[Type]) -> Result<()> {
    ensure!(ours.names == theirs.names, "columns {:?}, not {:?}", ours.names, theirs.names);
    ours.rows.sort();
    theirs.rows.sort();
    let difference = ours.rows.iter().zip(&theirs.rows).find(|(our, their)| {
        let mut values = our.iter().zip(their.iter()).zip(types);
        !values.all(|((our, their), kind)| match kind {
            &Type::FLOAT4 | &Type::FLOAT8 => near(our.as_deref(), their.as_deref()),
            &Type::NUMERIC if is_quotient(our.as_deref()) && is_quotient(their.as_deref()) => {
                near(our.as_deref(), their.as_deref())
            }
            _ => our == their,
        })
    });
    let (our_number, their_number) = (ours.rows.len(), theirs.rows.len());
    match difference {
        Some((our, their)) if our_number == their_number => {
            anyhow::bail!("{our:?}, not {their:?}")
        }
        Some((our, their)) => {
            anyhow::bail!("{our_number} rows, not {their_number}: {our:?}, not {their:?}")
        }
        None => ensure!(our_number == their_number, "{our_number} rows, not {their_number}"),
    }
    Ok(())
}

/// Whether a number has the decimals of a division. PostgreSQL chooses 12, 16 or 20 of them by
/// the size of the value, Weir takes 16 (docs/decisions/0002-numeric.md).
fn is_quotient(text: Option<&str>) -> bool {
    text.and_then(|text| text.split_once('.')).is_some_and(|(_, decimals)| decimals.len() >= 12)
}

fn near(our: Option<&str>, their: Option<&str>) -> bool {
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<f64>().ok());
    match (number(our), number(their)) {
        (Some(our), Some(their)) => (our - their).abs() <= TOLERANCE * our.abs().max(their.abs()),
        _ => our == their,
    }
}
