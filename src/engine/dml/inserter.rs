//! Adds rows to a table: the writing half of INSERT and COPY.
//!
//! Batches come with a column for each column that the statement lists; the others get their
//! default, evaluated for each row, or NULL. What must hold: a key is given once, counting the rows
//! before the statement and the statement's own.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array, new_null_array,
};
use arrow::datatypes::Schema;
use datafusion::physical_plan::PhysicalExpr;

use super::arbiter::{Arbiters, Holder};
use super::changes::Changes;
use super::context::Context;
use super::target::Target;
use crate::catalog::Column;
use crate::error::{SqlError, SqlResult, code};
use crate::expr::Assigning;
use crate::types::SqlType;

/// Where the values of a column come from.
#[derive(Debug, Clone)]
pub(super) enum ValueSource {
    /// The batch's column of this index.
    Given {
        index: usize,
        sql_type: SqlType,
    },
    Default {
        expression: Arc<dyn PhysicalExpr>,
        sql_type: SqlType,
    },
    Null,
}

/// What is done about a row whose key is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnTaken {
    Fail,
    Skip,
    /// It is kept for ON CONFLICT DO UPDATE.
    Collect,
}

/// Rows on their way into a table.
pub(super) struct Inserter {
    context: Context,
    pub(super) target: Target,
    assigning: Assigning,
    sources: Vec<ValueSource>,
    on_taken: OnTaken,
    arbiters: Arbiters,
    pub(super) changes: Changes,
    /// Rows that came in so far.
    sequence: u64,
    pub(super) added: Vec<Numbered>,
    pub(super) collected: Vec<Collected>,
    pub(super) count: u64,
    keep_added: bool,
}

/// Stored rows with their numbers among all rows that came in.
#[derive(Debug, Clone)]
pub(super) struct Numbered {
    pub(super) rows: RecordBatch,
    pub(super) numbers: Vec<u64>,
}

/// Rows whose keys are taken, one for one with the rows that have them.
#[derive(Debug, Clone)]
pub(super) struct Collected {
    pub(super) existing: RecordBatch,
    pub(super) proposed: Numbered,
}

/// What to insert into, and how.
pub(super) struct Inserting {
    pub(super) target: Target,
    pub(super) assigning: Assigning,
    /// One for each visible column.
    pub(super) sources: Vec<ValueSource>,
    pub(super) on_taken: OnTaken,
    /// Who says that a place is taken.
    pub(super) arbiters: Arbiters,
    /// Whether the added rows are wanted at the end, for RETURNING.
    pub(super) keep_added: bool,
}

impl Inserter {
    pub(super) fn new(context: &Context, inserting: Inserting) -> Self {
        Self {
            context: context.clone(),
            target: inserting.target,
            assigning: inserting.assigning,
            sources: inserting.sources,
            on_taken: inserting.on_taken,
            arbiters: inserting.arbiters,
            changes: Changes::default(),
            sequence: 0,
            added: Vec::new(),
            collected: Vec::new(),
            count: 0,
            keep_added: inserting.keep_added,
        }
    }

    /// Adds the rows of `given`. May block for the disk.
    pub(super) fn push(&mut self, given: &RecordBatch) -> SqlResult<()> {
        let count = given.num_rows();
        if count == 0 {
            return Ok(());
        }
        let columns = completed(&self.target, &self.assigning, &self.sources, given)?;
        let row_ids = match self.target.has_primary_key() {
            true => None,
            false => {
                let gate = &self.context.gate;
                let ids = self.context.row_ids.take(count, || gate.open_epoch())?;
                Some(Int64Array::from_iter_values(ids))
            }
        };
        let rows = self.target.stored_rows(columns, row_ids)?;
        let numbers = (self.sequence..).take(count).collect();
        self.sequence += count as u64;
        self.add(Numbered { rows, numbers })
    }

    fn add(&mut self, Numbered { rows, numbers }: Numbered) -> SqlResult<()> {
        let keys = self.target.layout.keys(&rows)?;
        let values = self.target.layout.values(&rows)?;
        let existing = match self.target.has_primary_key() {
            true => self.target.rows.get_many(&keys)?,
            false => vec![None; keys.len()],
        };
        let mut asked = self.arbiters.ask(&rows)?;
        let mut free: Vec<u32> = Vec::with_capacity(keys.len());
        let mut taken: Vec<u32> = Vec::new();
        let mut holders: Vec<Vec<u8>> = Vec::new();
        for (row, key) in (0u32..).zip(&keys) {
            let index = row as usize;
            let own = self.changes.get(key).is_some();
            let holder = match own || existing[index].is_some() {
                true if !self.arbiters.key => return Err(self.target.duplicate(&rows, index)),
                true if own => Holder::Own,
                true => Holder::Row(key.clone()),
                false => self.arbiters.holder(&asked, index),
            };
            match (holder, self.on_taken) {
                (Holder::None, _) => {
                    self.changes.put(key, values.row(index));
                    self.arbiters.add(&mut asked, index);
                    free.push(row);
                }
                (_, OnTaken::Fail) => return Err(self.target.duplicate(&rows, index)),
                (_, OnTaken::Skip) => {}
                (Holder::Own, OnTaken::Collect) => return Err(updated_twice()),
                (Holder::Row(holder), OnTaken::Collect) => {
                    taken.push(row);
                    holders.push(holder);
                }
            }
        }
        if !taken.is_empty() {
            let stored = self.target.rows.get_many(&holders)?;
            let found = holders.iter().zip(&stored);
            let found = found.filter_map(|(key, row)| Some((key.as_slice(), row.as_deref()?)));
            let existing = self.target.layout.decode(found)?.batch().clone();
            if existing.num_rows() != taken.len() {
                return Err(SqlError::internal("a unique index has the key of no row"));
            }
            self.collected.push(Collected { existing, proposed: take(&rows, &numbers, &taken)? });
        }
        self.count += free.len() as u64;
        let added = match free.len() == keys.len() {
            true => Numbered { rows, numbers },
            false => take(&rows, &numbers, &free)?,
        };
        self.changes.came(added.rows.clone());
        if self.keep_added {
            self.added.push(added);
        }
        Ok(())
    }
}

/// The columns of the table, assigned from those of `given` and from defaults.
pub(super) fn completed(
    target: &Target,
    assigning: &Assigning,
    sources: &[ValueSource],
    given: &RecordBatch,
) -> SqlResult<Vec<ArrayRef>> {
    let count = given.num_rows();
    let columns = target.object.columns.iter().zip(sources);
    let assigned = columns.map(|(column, source)| match source {
        ValueSource::Given { index, sql_type } => {
            assigning.assign(given.column(*index), sql_type, &column.sql_type, &column.name)
        }
        other => default_values(column, other, count, assigning),
    });
    assigned.collect()
}

/// The values of a column that no statement gives.
pub(super) fn default_values(
    column: &Column,
    source: &ValueSource,
    count: usize,
    assigning: &Assigning,
) -> SqlResult<ArrayRef> {
    match source {
        ValueSource::Default { expression, sql_type } => {
            let values = evaluate(expression, count)?;
            assigning.assign(&values, sql_type, &column.sql_type, &column.name)
        }
        ValueSource::Given { .. } | ValueSource::Null => {
            Ok(new_null_array(&column.sql_type.to_arrow(), count))
        }
    }
}

/// ON CONFLICT DO UPDATE meets a row that the same statement wrote.
pub(super) fn updated_twice() -> SqlError {
    SqlError::new(
        code::CARDINALITY_VIOLATION,
        "ON CONFLICT DO UPDATE command cannot affect row a second time",
    )
    .hint(
        "Ensure that no rows proposed for insertion within the same command have duplicate \
         constrained values.",
    )
}

fn take(rows: &RecordBatch, numbers: &[u64], wanted: &[u32]) -> SqlResult<Numbered> {
    let numbers = wanted.iter().map(|row| numbers[*row as usize]).collect();
    let wanted = UInt32Array::from(wanted.to_vec());
    Ok(Numbered { rows: crate::types::take_rows(rows, &wanted)?, numbers })
}

/// The values of an expression that reads no columns, once for each of `count` rows.
fn evaluate(expression: &Arc<dyn PhysicalExpr>, count: usize) -> SqlResult<ArrayRef> {
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    let rows = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options)?;
    Ok(expression.evaluate(&rows)?.into_array(count)?)
}
