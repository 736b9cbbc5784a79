//! Invariant 3, checked: each view's contents against its query, run in batch over the same
//! snapshot.
//!
//! Rows are compared as multisets by a 128-bit hash of their encoding, so that memory is a few
//! words a distinct row that differs, and views larger than memory can be checked row by row in
//! any order. Values are canonical on both sides; sums of floats are exact on both.

use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::execution::{SendableRecordBatchStream, SessionState};
use futures::StreamExt;
use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::boot::load_catalog;
use super::ddl::guard_of;
use super::jobs;
use super::views::Views;
use crate::catalog::object::{Index, MaterializedView, OnError};
use crate::catalog::pg::PgSession;
use crate::catalog::{Catalog, Meant, Object, ObjectKind};
use crate::checkpoint::coordinator::suspended_key;
use crate::checkpoint::detached::progress_key;
use crate::error::{SqlError, SqlResult};
use crate::expr;
use crate::expr::row_text;
use crate::planner;
use crate::serving::{self, QueryContext, Reader, SystemTables};
use crate::state::{Snapshot, Store};
use crate::types::key::{KeyCodec, canonical};
use crate::types::{Delta, Epoch, ObjectId, TableId};

/// Class of the SQLSTATEs of what a row can do wrong.
const DATA_EXCEPTION: &str = "22";

/// Differing rows of a view that are shown.
const EXAMPLES_MAX: usize = 10;

/// Stored rows that are looked at together.
const PAGE_ROWS_MAX: usize = 8192;

/// What was found of one view.
#[derive(Debug)]
pub struct Checked {
    pub name: String,
    pub verdict: Verdict,
}

/// How a view stands to its query.
#[derive(Debug)]
pub enum Verdict {
    /// It has exactly these many rows of its query.
    Equal { rows: u64 },
    /// Rows that the view lacks, and rows that it should not have, with some of each as text.
    Different { lacking: u64, surplus: u64, examples: Vec<String> },
    /// It cannot be compared now: why.
    Unchecked { reason: String },
    /// Reading it raises an error, as its query does: `on_error = 'fail'`, and a row that fails.
    Fails { error: SqlError },
    /// Reading it raises an error, or its query does, and the other does not.
    FailsAlone { view: bool, error: SqlError },
}

/// Checks every materialized view and index in `store`, at its newest commit. Queries spill below
/// `data`.
pub async fn check(
    store: &Store,
    memory_bytes: usize,
    data: &Path,
) -> SqlResult<(Epoch, Vec<Checked>)> {
    let snapshot = store.snapshot();
    let catalog = load_catalog(&snapshot)?;
    let template = expr::functions::install(serving::template(memory_bytes, &data.join("spill"))?)?;
    let checker = Checker {
        template: Arc::new(template),
        catalog: Arc::new(catalog),
        snapshot: Arc::clone(&snapshot),
    };
    let mut checked = Vec::new();
    for object in checker.catalog.objects() {
        if let ObjectKind::MaterializedView(view) = &object.kind {
            let name = format!("{}.{}", object.name.schema, object.name.name);
            let verdict = checker.check(object, view).await?;
            checked.push(Checked { name, verdict });
        } else if let ObjectKind::Index(index) = &object.kind {
            let name = format!("{}.{}", object.name.schema, object.name.name);
            let verdict = checker.check_index(object, index)?;
            checked.push(Checked { name, verdict });
        }
    }
    Ok((snapshot.epoch(), checked))
}

/// A query that is compared.
#[derive(Clone, Copy)]
struct Read<'a> {
    sql: &'a str,
    /// What its names mean, whatever the search path finds.
    names: &'a [Meant],
}

struct Checker {
    template: Arc<SessionState>,
    catalog: Arc<Catalog>,
    snapshot: Arc<Snapshot>,
}

impl Checker {
    /// Why an object cannot be compared.
    fn unchecked(&self, object: &Object) -> SqlResult<Option<Verdict>> {
        let reason = if self.snapshot.meta(&suspended_key(object.id))?.is_some() {
            "suspended"
        } else if self.snapshot.meta(&progress_key(object.id))?.is_some() {
            "catching up"
        } else {
            return Ok(None);
        };
        Ok(Some(Verdict::Unchecked { reason: reason.to_owned() }))
    }

    /// An index has the rows of its object.
    fn check_index(&self, object: &Object, index: &Index) -> SqlResult<Verdict> {
        if let Some(verdict) = self.unchecked(object)? {
            return Ok(verdict);
        }
        let on =
            self.catalog.object(index.on).ok_or_else(|| SqlError::internal("nothing indexed"))?;
        let codec = KeyCodec::of_row(&object.stored_schema())?;
        let mut differences: HashMap<u128, (i64, String)> = HashMap::new();
        let mut rows = 0;
        for (read, columns, sign) in [(on.as_ref(), Some(&index.order), 1), (object, None, -1)] {
            self.stored(read, &mut |delta| {
                let batch = match columns {
                    Some(columns) => delta.batch().project(columns)?,
                    None => delta.batch().clone(),
                };
                for (place, row) in codec.encode(&batch)?.iter().enumerate() {
                    rows += if sign == 1 { delta.weight(place).unsigned_abs() } else { 0 };
                    let difference = differences
                        .entry(xxh3_128(row.as_ref()))
                        .or_insert_with(|| (0, row_text(&batch, place)));
                    difference.0 += sign * delta.weight(place);
                }
                Ok(())
            })?;
            differences.retain(|_, (count, _)| *count != 0);
        }
        if differences.is_empty() {
            return Ok(match self.guard_difference(on, object)? {
                None => Verdict::Equal { rows },
                Some((rows, keys)) => Verdict::Different {
                    lacking: rows.saturating_sub(keys),
                    surplus: keys.saturating_sub(rows),
                    examples: vec![format!("{keys} keys are taken by {rows} rows")],
                },
            });
        }
        let total = |sign: i64| {
            differences.values().map(|(count, _)| (count * sign).max(0).unsigned_abs()).sum()
        };
        let example = |(count, row): &(i64, String)| {
            format!("{} {row}", if *count > 0 { "lacks" } else { "has" })
        };
        let examples = differences.values().take(EXAMPLES_MAX).map(example).collect();
        Ok(Verdict::Different { lacking: total(1), surplus: total(-1), examples })
    }

    /// How many rows have keys that a unique index keeps, and how many keys are taken, if these are
    /// not the same, or not taken by those rows. Compared by the sum of their hashes.
    fn guard_difference(&self, on: &Object, index: &Object) -> SqlResult<Option<(u64, u64)>> {
        let Some(guard) = guard_of(on, index)? else { return Ok(None) };
        let layout = jobs::layout(on)?;
        let (mut rows, mut sum) = (0, 0u128);
        self.stored(on, &mut |delta| {
            let holders = layout.keys(delta.batch())?;
            for (key, holder) in guard.keys(delta.batch())?.into_iter().zip(holders) {
                let Some(key) = key else { continue };
                (rows, sum) = (rows + 1, sum.wrapping_add(xxh3_128(&[key, holder].concat())));
            }
            Ok(())
        })?;
        let mut keys = 0;
        let mut last: Option<Vec<u8>> = None;
        loop {
            let from = last.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let page = self.snapshot.page(guard.table(), from, None, PAGE_ROWS_MAX)?;
            for (key, holder) in page.entries() {
                (keys, sum) = (keys + 1, sum.wrapping_sub(xxh3_128(&[key, holder].concat())));
            }
            if !page.more {
                return Ok((rows != keys || sum != 0).then_some((rows, keys)));
            }
            last = page.last_key().map(<[u8]>::to_vec);
        }
    }

    /// All stored rows of an object, a page at a time.
    fn stored(
        &self,
        object: &Object,
        take: &mut dyn FnMut(Delta) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let layout = jobs::layout(object)?;
        let mut last: Option<Vec<u8>> = None;
        loop {
            let from = last.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let page =
                self.snapshot.page(TableId::contents(object.id), from, None, PAGE_ROWS_MAX)?;
            take(layout.decode(page.entries())?)?;
            if !page.more {
                return Ok(());
            }
            last = page.last_key().map(<[u8]>::to_vec);
        }
    }

    async fn check(&self, object: &Object, view: &MaterializedView) -> SqlResult<Verdict> {
        if let Some(verdict) = self.unchecked(object)? {
            return Ok(verdict);
        }
        let contents = format!(
            "SELECT * FROM \"{}\".\"{}\"",
            object.name.schema.replace('"', "\"\""),
            object.name.name.replace('"', "\"\"")
        );
        let contents = Read { sql: &contents, names: &[] };
        let query = Read { sql: &view.query, names: &view.meaning.names };
        let raised = self.error_of(contents, view).await?;
        match (raised, self.error_of(query, view).await?) {
            (None, None) => {}
            (Some(error), Some(_)) => return Ok(Verdict::Fails { error }),
            (Some(error), None) => return Ok(Verdict::FailsAlone { view: true, error }),
            (None, Some(error)) if view.on_error == OnError::Fail => {
                return Ok(Verdict::FailsAlone { view: false, error });
            }
            (None, Some(error)) => {
                let reason = format!("its query fails on a row that is NULL in the view: {error}");
                return Ok(Verdict::Unchecked { reason });
            }
        }
        let codec = KeyCodec::of_row(&object.schema())?;
        let mut differences: HashMap<u128, i64> = HashMap::new();
        let mut rows = 0;
        for (read, sign) in [(query, 1), (contents, -1)] {
            let mut stream = self.run(read, view).await?;
            while let Some(batch) = stream.next().await {
                let batch = as_view(batch?, object)?;
                rows += if sign == 1 { batch.num_rows() as u64 } else { 0 };
                for row in codec.encode(&batch)?.iter() {
                    let count = differences.entry(xxh3_128(row.as_ref())).or_insert(0);
                    *count += sign;
                }
            }
            differences.retain(|_, count| *count != 0);
        }
        if differences.is_empty() {
            return Ok(Verdict::Equal { rows });
        }
        let total = |sign: i64| {
            differences.values().map(|count| (count * sign).max(0).unsigned_abs()).sum()
        };
        let (lacking, surplus) = (total(1), total(-1));
        let mut examples = Vec::new();
        for (read, mark) in [(query, "lacks"), (contents, "has")] {
            let mut stream = self.run(read, view).await?;
            let end = examples.len() + EXAMPLES_MAX;
            while let Some(batch) = stream.next().await {
                let batch = as_view(batch?, object)?;
                for (index, row) in codec.encode(&batch)?.iter().enumerate() {
                    let count = differences.get(&xxh3_128(row.as_ref())).copied().unwrap_or(0);
                    let shown = if mark == "lacks" { count > 0 } else { count < 0 };
                    if shown && examples.len() < end {
                        examples.push(format!("{mark} {}", row_text(&batch, index)));
                    }
                }
            }
        }
        Ok(Verdict::Different { lacking, surplus, examples })
    }

    /// The error that a row raises, read to the end.
    async fn error_of(
        &self,
        read: Read<'_>,
        view: &MaterializedView,
    ) -> SqlResult<Option<SqlError>> {
        let mut stream = self.run(read, view).await?;
        while let Some(batch) = stream.next().await {
            match batch.map_err(SqlError::from) {
                Ok(_) => {}
                Err(error) if error.code.starts_with(DATA_EXCEPTION) => return Ok(Some(error)),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    async fn run(
        &self,
        read: Read<'_>,
        view: &MaterializedView,
    ) -> SqlResult<SendableRecordBatchStream> {
        let state = serving::session_state(&self.context(view))?;
        let query = planner::parse_query(read.sql)?;
        let planned = planner::plan_kept_query(&state, &query, &[], read.names).await?;
        serving::execute(&state, &planned.plan).await
    }

    /// In which statements mean what they meant when the view was made.
    fn context(&self, view: &MaterializedView) -> QueryContext {
        let session = PgSession::of_server(&view.search_path);
        QueryContext {
            template: Arc::clone(&self.template),
            catalog: Arc::clone(&self.catalog),
            snapshot: Arc::clone(&self.snapshot),
            database: session.database.clone(),
            search_path: session.search_path.clone(),
            reader: Reader::Server,
            style: view.style,
            target: None,
            now: session.now,
            pg: Arc::new(session),
            rows: Default::default(),
            unique: Default::default(),
            system: Arc::new(NothingRuns),
            views: Arc::new(Views),
        }
    }
}

/// Rows of the query as the view has them: the same columns, canonical.
fn as_view(batch: RecordBatch, object: &Object) -> SqlResult<RecordBatch> {
    let schema = object.schema();
    for (found, kept) in batch.schema().fields().iter().zip(schema.fields()) {
        if found.data_type() != kept.data_type() {
            return Err(SqlError::internal(format!(
                "column {} of {} is {} in the view and {} in its query",
                kept.name(),
                object.name.name,
                kept.data_type(),
                found.data_type()
            )));
        }
    }
    Ok(canonical(RecordBatch::try_new(schema, batch.columns().to_vec())?)?)
}

/// The system tables of a store that no server runs on: there are none.
#[derive(Debug)]
struct NothingRuns;

impl SystemTables for NothingRuns {
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    fn schema(&self, _name: &str) -> Option<arrow::datatypes::SchemaRef> {
        None
    }

    fn rows(&self, name: &str) -> SqlResult<RecordBatch> {
        Err(SqlError::internal(format!("no system table {name}")))
    }

    fn check_whole(&self, _object: ObjectId, _snapshot: &Snapshot) -> SqlResult<()> {
        Ok(())
    }

    /// What is checked is read without indexes.
    fn is_whole(&self, _object: ObjectId, _snapshot: &Snapshot) -> SqlResult<bool> {
        Ok(false)
    }
}
