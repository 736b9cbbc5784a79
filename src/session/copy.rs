//! COPY: the session's side of rows that the wire carries in or out.

use std::sync::Arc;

use arrow::array::RecordBatch;
use bytes::Bytes;

use super::outcome::{Outcome, Rows};
use super::parameter::Parameters;
use super::session::Session;
use super::set::quoted;
use crate::catalog::Object;
use crate::engine::dml;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::{ColumnRef, Copy, CopyDirection, CopyWhat};
use crate::planner::{self, Name};
use crate::types::copy::{CopyFormat, CopyOptions, CopyReader, CopyTarget, CopyWriter};

/// Rows of a batch on the way in.
const BATCH_ROWS_MAX: usize = 8192;

/// Rows that a client sends.
pub struct CopyIn {
    reader: CopyReader,
    rows: dml::CopyIn,
    context: dml::Context,
    columns: usize,
    binary: bool,
}

/// Rows for a client to keep.
pub struct CopyOut {
    pub(crate) rows: Rows,
    pub(crate) writer: CopyWriter,
    binary: bool,
}

impl std::fmt::Debug for CopyIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CopyIn").field("reader", &self.reader).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for CopyOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CopyOut").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl CopyIn {
    /// How many columns the data has.
    pub fn columns(&self) -> usize {
        self.columns
    }

    pub fn is_binary(&self) -> bool {
        self.binary
    }
}

impl CopyOut {
    /// How many columns the data has.
    pub fn columns(&self) -> usize {
        self.rows.description().len()
    }

    pub fn is_binary(&self) -> bool {
        self.binary
    }
}

impl Session {
    pub(super) async fn copy(&mut self, copy: &Copy) -> SqlResult<Outcome> {
        let options =
            copy.options.iter().map(|(name, value)| (name.as_str(), Some(value.as_str())));
        let options = CopyOptions::parse(options)?;
        match (copy.direction, &copy.what) {
            (CopyDirection::ToStdout, CopyWhat::Query(query)) => {
                let rows = self.select(query, &Parameters::default()).await?;
                self.copy_rows(rows, &options)
            }
            (CopyDirection::ToStdout, CopyWhat::Subscribe(subscribe)) => {
                let rows = self.subscribe(subscribe).await?;
                self.copy_rows(rows, &options)
            }
            (CopyDirection::ToStdout, CopyWhat::Table { table, columns }) => {
                let object = self.object(table)?;
                let query = planner::parse_query(&query_of(&object, columns)?)?;
                let rows = self.select(&query, &Parameters::default()).await?;
                self.copy_rows(rows, &options)
            }
            (CopyDirection::FromStdin, CopyWhat::Table { table, columns }) => {
                self.check_writable("COPY FROM")?;
                self.start_copy(table, columns, &options).await
            }
            (CopyDirection::FromStdin, CopyWhat::Query(_) | CopyWhat::Subscribe(_)) => {
                Err(SqlError::new(code::SYNTAX_ERROR, "COPY FROM needs a table"))
            }
        }
    }

    fn copy_rows(&self, rows: Rows, options: &CopyOptions) -> SqlResult<Outcome> {
        let schema = Arc::clone(rows.description().schema());
        let writer = CopyWriter::new(schema, options, &self.text_style())?;
        let binary = options.format == CopyFormat::Binary;
        Ok(Outcome::CopyOut(Box::new(CopyOut { rows, writer, binary })))
    }

    async fn start_copy(
        &mut self,
        table: &Name,
        columns: &[ColumnRef],
        options: &CopyOptions,
    ) -> SqlResult<Outcome> {
        let context = self.dml_context();
        let query = self.query_context()?;
        let mut writes =
            self.block.writes.take().unwrap_or_else(|| dml::Transaction::begin(&context));
        let interrupts = Arc::clone(&self.interrupts);
        let starting = dml::CopyIn::begin(&context, &mut writes, &query, table, columns);
        let started = interrupts.race(Box::pin(starting)).await;
        self.block.writes = Some(writes);
        let rows = started?;
        let target = CopyTarget { relation: table.name.clone(), schema: Arc::clone(rows.schema()) };
        let reader = CopyReader::new(&target, options, &self.input_style(), BATCH_ROWS_MAX)?;
        let columns = target.schema.fields().len();
        let binary = options.format == CopyFormat::Binary;
        Ok(Outcome::CopyIn(Box::new(CopyIn { reader, rows, context, columns, binary })))
    }

    /// A piece of the client's data.
    pub async fn copy_data(&mut self, copy: &mut CopyIn, data: Bytes) -> SqlResult<()> {
        let mut chunk = data.as_ref();
        while let Some(batch) = copy.reader.read(&mut chunk)? {
            self.push(copy, batch).await?;
        }
        self.interrupts.check()
    }

    /// The end of the client's data; how many rows there were.
    pub async fn copy_done(&mut self, mut copy: CopyIn) -> SqlResult<u64> {
        while let Some(batch) = copy.reader.finish()? {
            self.push(&mut copy, batch).await?;
        }
        let writes = self.block.writes.as_mut().ok_or_else(transaction_is_over)?;
        let count = Box::pin(copy.rows.finish(&copy.context, writes)).await?;
        Ok(count)
    }

    async fn push(&self, copy: &mut CopyIn, batch: RecordBatch) -> SqlResult<()> {
        let writes = self.block.writes.as_ref().ok_or_else(transaction_is_over)?;
        let pushing = copy.rows.push(&copy.context, writes, batch);
        self.interrupts.race(Box::pin(pushing)).await
    }
}

fn transaction_is_over() -> SqlError {
    SqlError::internal("the transaction of a COPY has ended before it")
}

/// The columns that COPY names: all of them if none.
fn indexes(object: &Object, columns: &[ColumnRef]) -> SqlResult<Vec<usize>> {
    if columns.is_empty() {
        let given = |index: &usize| object.columns[*index].generated.is_none();
        return Ok((0..object.columns.len()).filter(given).collect());
    }
    let mut indexes = Vec::with_capacity(columns.len());
    for column in columns {
        let name = &column.name;
        let found = object.columns.iter().position(|existing| existing.name == *name);
        let index = found.ok_or_else(|| {
            let message =
                format!("column \"{name}\" of relation \"{}\" does not exist", object.name.name);
            SqlError::new(code::UNDEFINED_COLUMN, message).position(column.position)
        })?;
        dml::check_copied(&object.columns[index])?;
        if indexes.contains(&index) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(SqlError::new(code::DUPLICATE_COLUMN, message).position(column.position));
        }
        indexes.push(index);
    }
    Ok(indexes)
}

/// What COPY of a relation reads.
fn query_of(object: &Object, columns: &[ColumnRef]) -> SqlResult<String> {
    let columns: Vec<String> = indexes(object, columns)?
        .into_iter()
        .map(|index| quoted(&object.columns[index].name))
        .collect();
    let name = &object.name;
    Ok(format!(
        "SELECT {} FROM {}.{}",
        columns.join(", "),
        quoted(&name.schema),
        quoted(&name.name)
    ))
}
