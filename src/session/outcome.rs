//! What a statement gives: a tag, rows, or one side of a COPY.

use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use arrow::datatypes::{Schema, SchemaRef};
use futures::stream::{self, BoxStream, StreamExt};
use parking_lot::Mutex;

use super::copy::{CopyIn, CopyOut};
use super::waits::Waits;
use crate::catalog::pg::Effect;
use crate::clock::{self, Moment};
use crate::error::SqlResult;
use crate::planner;
use crate::types::text::TextStyle;
use crate::types::{ObjectId, SqlType};

/// The result of a statement, before its end is told.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing but the command tag: `CREATE TABLE`.
    Command(String),
    Rows(Box<Rows>),
    CopyIn(Box<CopyIn>),
    CopyOut(Box<CopyOut>),
}

/// The result of executing a portal.
#[derive(Debug)]
pub enum Executed {
    /// The portal's statement is the empty string.
    Empty,
    Outcome(Outcome),
}

/// How values go over the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    #[default]
    Text,
    Binary,
}

impl Format {
    /// The protocol's code.
    pub fn code(self) -> i16 {
        match self {
            Format::Text => 0,
            Format::Binary => 1,
        }
    }
}

/// The columns of a result.
#[derive(Debug, Clone)]
pub struct Description {
    schema: SchemaRef,
    /// Of a column that is a table's: the table and the column's number in it, from 1.
    origins: Vec<Option<(ObjectId, i16)>>,
}

/// A column of a result.
#[derive(Debug)]
pub struct ResultColumn<'a> {
    pub name: &'a str,
    pub sql_type: SqlType,
    pub origin: Option<(ObjectId, i16)>,
}

impl Description {
    pub(super) fn new(schema: SchemaRef) -> Self {
        let origins = vec![None; schema.fields().len()];
        Self { schema, origins }
    }

    /// A plan's columns, under the names that clients see.
    pub(super) fn shown(schema: &Schema) -> Self {
        let fields: Vec<_> = schema
            .fields()
            .iter()
            .map(|field| field.as_ref().clone().with_name(planner::shown(field.name())))
            .collect();
        Self::new(Arc::new(Schema::new(fields)))
    }

    /// With the tables that columns come from; one entry a column.
    pub(super) fn with_origins(mut self, origins: Vec<Option<(ObjectId, i16)>>) -> Self {
        debug_assert_eq!(origins.len(), self.origins.len(), "one origin a column");
        self.origins = origins;
        self
    }

    /// Columns of the given names and types.
    pub(super) fn of(columns: &[(&str, SqlType)]) -> Self {
        let fields: Vec<_> =
            columns.iter().map(|(name, sql_type)| sql_type.field(*name, true)).collect();
        Self::new(Arc::new(Schema::new(fields)))
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub fn columns(&self) -> impl Iterator<Item = ResultColumn<'_>> {
        self.schema.fields().iter().zip(&self.origins).map(|(field, origin)| ResultColumn {
            name: field.name(),
            sql_type: SqlType::of_field(field),
            origin: *origin,
        })
    }

    /// How many columns.
    pub fn len(&self) -> usize {
        self.schema.fields().len()
    }

    pub fn is_empty(&self) -> bool {
        self.schema.fields().is_empty()
    }
}

/// What the tag of a result with rows says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tag {
    /// The word, and the number of rows sent: `SELECT 5`.
    Counted(&'static str),
    /// The same whatever was sent: `SHOW`, `INSERT 0 3`.
    Fixed(String),
}

/// A result with rows, live: they are made as they are taken.
pub struct Rows {
    description: Arc<Description>,
    /// One a column.
    formats: Vec<Format>,
    /// In a mutex that nobody locks, so that a session that holds rows can be shared by reference.
    source: Mutex<BoxStream<'static, SqlResult<RecordBatch>>>,
    /// Of a batch that was taken in part: the rest.
    rest: Option<RecordBatch>,
    tag: Tag,
    /// How values are written as text.
    style: TextStyle,
    /// FETCH: the cursor that the stream goes back to, and how many rows may be taken from it.
    pub(super) cursor: Option<Fetch>,
    /// How long a FETCH waits that does not say it, if they have no end. An empty batch then says
    /// that there is nothing more now.
    endless: Option<Patience>,
    /// What the query's functions ask of the session, once it has run.
    pub(super) effects: Option<Arc<Mutex<Vec<Effect>>>>,
}

/// A FETCH under way.
#[derive(Debug, Clone)]
pub(super) struct Fetch {
    pub(super) cursor: String,
    /// `None`: all.
    pub(super) rows_left: Option<u64>,
    pub(super) patience: Patience,
}

/// How long a FETCH waits for rows that are not there yet, where they have no end.
#[derive(Debug, Clone, Copy)]
pub(super) enum Patience {
    /// Until there is a row.
    Once,
    /// Not at all.
    None,
    /// For so long since its beginning, unless it has all that it wants.
    Until(Moment, Duration),
}

impl std::fmt::Debug for Rows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("tag", &self.tag).finish_non_exhaustive()
    }
}

impl Rows {
    pub(super) fn new(
        description: Arc<Description>,
        tag: Tag,
        source: BoxStream<'static, SqlResult<RecordBatch>>,
    ) -> Self {
        let formats = vec![Format::Text; description.len()];
        let source = Mutex::new(source);
        Self {
            description,
            formats,
            source,
            rest: None,
            tag,
            style: TextStyle::default(),
            cursor: None,
            endless: None,
            effects: None,
        }
    }

    /// Of a stream that has no end.
    pub(super) fn without_end(mut self, patience: Patience) -> Self {
        self.endless = Some(patience);
        self
    }

    /// Whether they have no end: their columns are told before the first row is there.
    pub fn is_endless(&self) -> bool {
        self.endless.is_some()
    }

    /// How long a FETCH of them waits.
    pub(super) fn patience(&self, timeout: Option<Duration>) -> Patience {
        match timeout {
            None => self.endless.unwrap_or(Patience::Once),
            Some(Duration::ZERO) => Patience::None,
            Some(timeout) => Patience::Until(clock::moment(), timeout),
        }
    }

    /// Rows that are there already.
    pub(super) fn of_batches(
        description: Arc<Description>,
        tag: Tag,
        batches: Vec<RecordBatch>,
    ) -> Self {
        Self::new(description, tag, stream::iter(batches.into_iter().map(Ok)).boxed())
    }

    pub(super) fn with_formats(mut self, formats: Vec<Format>) -> Self {
        debug_assert_eq!(formats.len(), self.description.len(), "one format a column");
        self.formats = formats;
        self
    }

    pub(super) fn with_style(mut self, style: TextStyle) -> Self {
        self.style = style;
        self
    }

    /// Where the tag counts rows, under this word: a portal's rows can be executed and fetched.
    pub(super) fn counted_as(mut self, word: &'static str) -> Self {
        if matches!(self.tag, Tag::Counted(_)) {
            self.tag = Tag::Counted(word);
        }
        self
    }

    pub(super) fn with_tag(mut self, tag: Tag) -> Self {
        self.tag = tag;
        self
    }

    pub fn description(&self) -> &Arc<Description> {
        &self.description
    }

    pub fn formats(&self) -> &[Format] {
        &self.formats
    }

    /// How values are written as text.
    pub fn style(&self) -> &TextStyle {
        &self.style
    }

    /// The next rows, `rows_max` at most; `None` at the end. Cancel-safe.
    pub async fn next(&mut self, rows_max: Option<u64>) -> SqlResult<Option<RecordBatch>> {
        let fetch_left = self.cursor.as_ref().and_then(|fetch| fetch.rows_left);
        let rows_max = [rows_max, fetch_left].into_iter().flatten().min();
        if rows_max == Some(0) {
            return Ok(None);
        }
        let mut batch = match self.rest.take() {
            Some(rest) => rest,
            None => match self.take().await? {
                Some(batch) => batch,
                None => return Ok(None),
            },
        };
        let most = rows_max.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        if batch.num_rows() > most {
            self.rest = Some(batch.slice(most, batch.num_rows() - most));
            batch = batch.slice(0, most);
        }
        if let Some(fetch) = &mut self.cursor {
            if let Some(left) = &mut fetch.rows_left {
                *left -= batch.num_rows() as u64;
            }
            if matches!(fetch.patience, Patience::Once) {
                fetch.patience = Patience::None;
            }
        }
        Ok(Some(batch))
    }

    /// The next batch that has rows, as long as there is patience for it.
    async fn take(&mut self) -> SqlResult<Option<RecordBatch>> {
        let patience = match &self.cursor {
            Some(fetch) if self.endless.is_some() => fetch.patience,
            _ => Patience::Once,
        };
        let source = self.source.get_mut();
        loop {
            let batch = match patience {
                Patience::Until(since, timeout) => {
                    let left = timeout.saturating_sub(since.elapsed());
                    match tokio::time::timeout(left, source.next()).await {
                        Ok(batch) => batch,
                        Err(_) => return Ok(None),
                    }
                }
                Patience::Once | Patience::None => source.next().await,
            };
            match batch.transpose()? {
                Some(batch) if batch.num_rows() > 0 => return Ok(Some(batch)),
                Some(_) if matches!(patience, Patience::None) => return Ok(None),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// The same, each batch after what its making asked to wait for.
    pub(super) fn waiting(self, waits: Waits) -> Self {
        let source = self.source.into_inner().then(move |batch| {
            let waits = waits.clone();
            async move { waits.done().await.and(batch) }
        });
        Self { source: Mutex::new(source.boxed()), ..self }
    }

    /// The command tag after so many rows.
    pub fn tag(&self, rows: u64) -> String {
        match &self.tag {
            Tag::Counted(word) => format!("{word} {rows}"),
            Tag::Fixed(tag) => tag.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, Int64Array};
    use arrow::datatypes::Int64Type;

    use super::*;

    fn rows(batches: &[&[i64]]) -> Rows {
        let description = Arc::new(Description::of(&[("n", SqlType::BigInt)]));
        let batches = batches.iter().map(|values| {
            let column = Arc::new(Int64Array::from(values.to_vec()));
            RecordBatch::try_new(Arc::clone(description.schema()), vec![column]).expect("fits")
        });
        let batches = batches.collect();
        Rows::of_batches(description, Tag::Counted("SELECT"), batches)
    }

    async fn take(rows: &mut Rows, rows_max: Option<u64>) -> Option<Vec<i64>> {
        let batch = rows.next(rows_max).await.expect("no error")?;
        Some(batch.column(0).as_primitive::<Int64Type>().values().to_vec())
    }

    #[tokio::test]
    async fn what_is_over_the_limit_is_kept_for_the_next_time() {
        let mut rows = rows(&[&[1, 2, 3], &[], &[4]]);
        assert_eq!(take(&mut rows, Some(2)).await, Some(vec![1, 2]));
        assert_eq!(take(&mut rows, Some(u64::MAX)).await, Some(vec![3]));
        assert_eq!(take(&mut rows, None).await, Some(vec![4]));
        assert_eq!(take(&mut rows, None).await, None);
        assert_eq!(rows.tag(4), "SELECT 4");
    }

    #[tokio::test]
    async fn a_fetch_ends_at_its_count() {
        let mut rows = rows(&[&[1, 2, 3]]);
        rows.cursor =
            Some(Fetch { cursor: "c".to_owned(), rows_left: Some(2), patience: Patience::Once });
        assert_eq!(take(&mut rows, Some(1)).await, Some(vec![1]));
        assert_eq!(take(&mut rows, None).await, Some(vec![2]));
        assert_eq!(take(&mut rows, None).await, None);
        rows.cursor =
            Some(Fetch { cursor: "c".to_owned(), rows_left: None, patience: Patience::Once });
        assert_eq!(take(&mut rows, None).await, Some(vec![3]));
    }
}
