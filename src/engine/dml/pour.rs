//! What a sink brings into its table: some epochs' changes of what it reads, as one write.
//!
//! ```text
//!  table with a key      of each epoch, rows that went take the rows of their keys away, then rows
//!                        that came are put in place of what has their keys
//!  table without one     the net change: each row that went takes one equal row away, by the
//!                        columns that the sink fills; each that came is added
//! ```
//!
//! A row that the table refuses (a cast, NOT NULL) is told, and the others go on.

use std::ops::Bound;
use std::sync::Arc;

use arrow::array::{BooleanArray, Int64Array, RecordBatch, UInt32Array};
use hashbrown::HashMap;

use super::changes::Changes;
use super::context::Context;
use super::environment::{Environment, Naming, Writes, blocking};
use super::insert::sources;
use super::inserter::{ValueSource, completed};
use super::parameters::BoundParameters;
use super::target::{Intent, Target};
use super::transaction::Transaction;
use crate::catalog::privilege::Privileges;
use crate::error::{SqlError, SqlResult, code};
use crate::expr::{Assigning, row_text};
use crate::operator::RowError;
use crate::planner::Name;
use crate::serving::QueryContext;
use crate::state::MetaEntry;
use crate::types::key::KeyCodec;
use crate::types::{Delta, Epoch, ObjectId, SqlType, take_rows};

/// Classes of the SQLSTATEs of what is wrong with a row, not with the server.
const ROW_ERRORS: [&str; 2] = ["22", "23"];

/// Stored rows that are looked at together.
const PAGE_ROWS_MAX: usize = 8192;

/// Where a sink pours, and what.
#[derive(Debug, Clone)]
pub struct Pouring {
    pub table: ObjectId,
    /// The table's stored columns that it fills, one for each of the rows' columns.
    pub places: Vec<usize>,
    /// The types of the rows' columns.
    pub types: Vec<SqlType>,
    /// Rows that go away are left where they are.
    pub append_only: bool,
}

/// Brings what `epochs` changed into the table, and with it what `meta` makes of the rows that were
/// refused. Gives the epoch in which both become durable; `None` if `stopped` comes while the table
/// is held by somebody else.
pub async fn pour(
    context: &Context,
    query: &QueryContext,
    pouring: &Pouring,
    epochs: Vec<Vec<Delta>>,
    meta: impl FnOnce(Vec<RowError>) -> SqlResult<Vec<MetaEntry>>,
    stopped: impl Future<Output = ()>,
) -> SqlResult<Option<Epoch>> {
    // It may have been renamed since the last time.
    let table = query.catalog.object(pouring.table).ok_or_else(|| {
        let message = format!("object {} is gone", pouring.table.0);
        SqlError::new(code::UNDEFINED_TABLE, message)
    })?;
    let name = Name {
        database: None,
        schema: Some(table.name.schema.clone()),
        name: table.name.name.clone(),
        position: 0,
    };
    // Whoever made the sink was asked then.
    let wanted = Privileges::NONE;
    let writes = Writes { adds: true, removes: true, assignments: &[] };
    let intent = Intent::Add;
    let naming = Naming { table: &name, alias: None, intent, wanted, with: None, writes };
    let mut transaction = Transaction::begin(context);
    let parameters = BoundParameters::default();
    let environment = tokio::select! {
        biased;
        () = stopped => return Ok(None),
        entered = Environment::enter(context, &mut transaction, query, naming, &parameters) => {
            entered?
        }
    };
    let target = &environment.target.object;
    let columns = pouring.places.iter().map(|place| {
        let gone = || SqlError::internal("a column that a sink fills is gone");
        target.column_at(*place).ok_or_else(gone)
    });
    let columns = columns.collect::<SqlResult<Vec<_>>>()?;
    let pourer = Pourer {
        context: context.clone(),
        sources: sources(&environment, &columns, &pouring.types)?,
        assigning: environment.assigning.clone(),
        target: environment.target.clone(),
        pouring: pouring.clone(),
        changes: Changes::default(),
        refused: Vec::new(),
    };
    let (changes, refused) = blocking(move || pourer.run(&epochs)).await?;
    environment.settle(context, &mut transaction, changes).await?;
    transaction.attach(table.id, meta(refused)?)?;
    transaction.commit(context).await
}

struct Pourer {
    context: Context,
    target: Target,
    assigning: Assigning,
    sources: Vec<ValueSource>,
    pouring: Pouring,
    changes: Changes,
    refused: Vec<RowError>,
}

/// Rows as the table stores them, and where they were among those that came.
struct Accepted {
    offset: usize,
    rows: RecordBatch,
}

/// Where the newest row of a key is.
#[derive(Clone, Copy)]
struct Found {
    batch: usize,
    row: u32,
}

impl Pourer {
    fn run(mut self, epochs: &[Vec<Delta>]) -> SqlResult<(Changes, Vec<RowError>)> {
        if self.target.has_primary_key() {
            self.upsert(epochs)?;
        } else {
            self.add_and_take(epochs)?;
        }
        Ok((self.changes, self.refused))
    }

    fn upsert(&mut self, epochs: &[Vec<Delta>]) -> SqlResult<()> {
        let mut wanted: HashMap<Vec<u8>, Option<Found>> = HashMap::new();
        let mut batches = Vec::new();
        for epoch in epochs {
            for delta in epoch {
                for accepted in self.accept(&part(delta, Sign::Went)?, Sign::Went)? {
                    let keys = self.target.layout.keys(&accepted.rows)?;
                    wanted.extend(keys.into_iter().map(|key| (key, None)));
                }
            }
            for delta in epoch {
                for accepted in self.accept(&part(delta, Sign::Came)?, Sign::Came)? {
                    let keys = self.target.layout.keys(&accepted.rows)?;
                    let batch = batches.len();
                    for (row, key) in (0u32..).zip(keys) {
                        if self.is_fixed() && matches!(wanted.get(&key), Some(Some(_))) {
                            let error = self.target.duplicate(&accepted.rows, row as usize);
                            self.refuse(error, &accepted.rows, row as usize);
                        } else {
                            wanted.insert(key, Some(Found { batch, row }));
                        }
                    }
                    batches.push(accepted.rows);
                }
            }
        }
        self.put(&wanted, &batches)
    }

    /// Whether the table's rows never change.
    fn is_fixed(&self) -> bool {
        self.target.object.append_only()
    }

    /// Gives each key its wanted row, or none.
    fn put(
        &mut self,
        wanted: &HashMap<Vec<u8>, Option<Found>>,
        batches: &[RecordBatch],
    ) -> SqlResult<()> {
        let layout = Arc::clone(&self.target.layout);
        let mut keys: Vec<Vec<u8>> = wanted.keys().cloned().collect();
        keys.sort_unstable();
        let existing = self.target.rows.get_many(&keys)?;
        let values =
            batches.iter().map(|rows| layout.values(rows)).collect::<Result<Vec<_>, _>>()?;
        let mut coming: Vec<Vec<u32>> = vec![Vec::new(); batches.len()];
        let mut going = Vec::new();
        for (key, old) in keys.iter().zip(&existing) {
            let new = wanted.get(key).copied().flatten();
            match (old, new) {
                (None, None) => {}
                (Some(old), None) => {
                    self.changes.delete(key);
                    going.push((key.as_slice(), old.as_slice()));
                }
                (old, Some(Found { batch, row })) => {
                    let value = values[batch].row(row as usize);
                    match old {
                        Some(old) if old.as_slice() == value => continue,
                        Some(_) if self.is_fixed() => {
                            let error = self.target.duplicate(&batches[batch], row as usize);
                            self.refuse(error, &batches[batch], row as usize);
                            continue;
                        }
                        Some(old) => going.push((key.as_slice(), old.as_slice())),
                        None => {}
                    }
                    self.changes.put(key, value);
                    coming[batch].push(row);
                }
            }
        }
        self.changes.went(layout.decode(going.into_iter())?.batch().clone());
        for (rows, mut places) in batches.iter().zip(coming) {
            places.sort_unstable();
            self.changes.came(take_rows(rows, &UInt32Array::from(places))?);
        }
        Ok(())
    }

    fn add_and_take(&mut self, epochs: &[Vec<Delta>]) -> SqlResult<()> {
        let codec = KeyCodec::new(self.target.layout.schema(), &self.pouring.places)?;
        let mut net: HashMap<Box<[u8]>, (i64, Found)> = HashMap::new();
        let mut batches = Vec::new();
        for delta in epochs.iter().flatten() {
            for sign in [Sign::Went, Sign::Came] {
                let part = part(delta, sign)?;
                for Accepted { offset, rows } in self.accept(&part, sign)? {
                    let batch = batches.len();
                    for (row, bytes) in (0u32..).zip(codec.encode(&rows)?.iter()) {
                        let found = Found { batch, row };
                        let entry = net.entry(bytes.as_ref().into()).or_insert((0, found));
                        entry.0 += part.weight(offset + row as usize);
                    }
                    batches.push(rows);
                }
            }
        }
        let going = net.iter().filter(|(_, (count, _))| *count < 0);
        let going = going.map(|(bytes, (count, _))| (bytes.as_ref(), count.unsigned_abs()));
        self.take_equal(&codec, going.collect())?;
        let mut coming: Vec<Vec<u32>> = vec![Vec::new(); batches.len()];
        for (count, Found { batch, row }) in net.into_values() {
            coming[batch].extend((0..count.max(0)).map(|_| row));
        }
        for (rows, mut places) in batches.iter().zip(coming) {
            places.sort_unstable();
            self.add(&take_rows(rows, &UInt32Array::from(places))?)?;
        }
        Ok(())
    }

    /// Adds rows, under ids of their own.
    fn add(&mut self, rows: &RecordBatch) -> SqlResult<()> {
        if rows.num_rows() == 0 {
            return Ok(());
        }
        let gate = &self.context.gate;
        let ids = self.context.row_ids.take(rows.num_rows(), || gate.open_epoch())?;
        let columns = self.target.visible(rows)?.columns().to_vec();
        let rows = self.target.stored_rows(columns, Some(Int64Array::from_iter_values(ids)))?;
        let keys = self.target.layout.keys(&rows)?;
        let values = self.target.layout.values(&rows)?;
        for (row, key) in keys.iter().enumerate() {
            self.changes.put(key, values.row(row));
        }
        self.changes.came(rows);
        Ok(())
    }

    /// Takes rows away that are equal, by the sink's columns, to those wanted: as many of each.
    fn take_equal(&mut self, codec: &KeyCodec, mut wanted: HashMap<&[u8], u64>) -> SqlResult<()> {
        let mut from: Option<Vec<u8>> = None;
        let mut left: u64 = wanted.values().sum();
        while left > 0 {
            let start = from.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let entries = self.target.rows.page(start, None, PAGE_ROWS_MAX)?;
            let rows = self.target.layout.decode(entries.page.entries())?.batch().clone();
            let mut going: Vec<u32> = Vec::new();
            let encoded = codec.encode(&rows)?;
            let stored = entries.page.entries().zip(encoded.iter());
            for (row, ((key, _), bytes)) in (0u32..).zip(stored) {
                if let Some(count) = wanted.get_mut(bytes.as_ref())
                    && *count > 0
                {
                    (*count, left) = (*count - 1, left - 1);
                    self.changes.delete(key);
                    going.push(row);
                }
            }
            self.changes.went(take_rows(&rows, &UInt32Array::from(going))?);
            from = entries.resume;
            if from.is_none() {
                // Somebody else took the others away.
                break;
            }
        }
        Ok(())
    }

    /// The rows of `delta` as the table stores them, but those that it refuses.
    fn accept(&mut self, delta: &Delta, sign: Sign) -> SqlResult<Vec<Accepted>> {
        let mut accepted = Vec::new();
        if delta.is_empty() || (sign == Sign::Went && self.pouring.append_only) {
            return Ok(accepted);
        }
        // Halves of what is refused, down to the rows that are.
        let mut open = vec![(0, delta.rows())];
        while let Some((offset, count)) = open.pop() {
            let given = delta.batch().slice(offset, count);
            match self.stored(&given) {
                Ok(rows) => accepted.push(Accepted { offset, rows }),
                Err(error) if !ROW_ERRORS.iter().any(|class| error.code.starts_with(class)) => {
                    return Err(error);
                }
                Err(_) if count > 1 => {
                    let half = count / 2;
                    open.push((offset + half, count - half));
                    open.push((offset, half));
                }
                // What was refused when it came is not there to go.
                Err(_) if sign == Sign::Went => {}
                Err(error) => {
                    self.refuse(error, &given, 0);
                }
            }
        }
        Ok(accepted)
    }

    /// Complete rows; ids come later, where there is no key.
    fn stored(&self, given: &RecordBatch) -> SqlResult<RecordBatch> {
        let columns = completed(&self.target, &self.assigning, &self.sources, given)?;
        let no_ids = || Int64Array::from_value(0, given.num_rows());
        let ids = (!self.target.has_primary_key()).then(no_ids);
        self.target.stored_rows(columns, ids)
    }

    fn refuse(&mut self, error: SqlError, rows: &RecordBatch, row: usize) {
        self.refused.push(RowError {
            expression: format!("INTO {}", self.target.object.name.name),
            error,
            row: row_text(rows, row),
            more: 0,
            weight: 1,
        });
    }
}

/// Which rows of a delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Came,
    Went,
}

fn part(delta: &Delta, sign: Sign) -> SqlResult<Delta> {
    let Some(weights) = delta.weights() else {
        return Ok(match sign {
            Sign::Came => delta.clone(),
            Sign::Went => Delta::empty(delta.schema()),
        });
    };
    let mask: BooleanArray =
        weights.iter().map(|weight| Some((*weight > 0) == (sign == Sign::Came))).collect();
    Ok(delta.filter(&mask)?)
}
