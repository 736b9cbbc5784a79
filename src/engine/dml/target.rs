//! The table that a statement writes: its rows before the statement, and the rules a row must keep.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int64Array, RecordBatch};
use arrow::datatypes::SchemaRef;

use crate::catalog::{Object, ObjectKind};
use crate::error::{About, SqlError, SqlResult, code};
use crate::expr::{Checks, Generated, text_of};
use crate::serving::StoredRows;
use crate::state::RowLayout;
use crate::types::key::canonical;
use crate::types::text::TextStyle;

/// A table under its write lock.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) object: Arc<Object>,
    pub(super) layout: Arc<RowLayout>,
    /// Committed, pending and the transaction's own rows, before the statement.
    pub(super) rows: Arc<dyn StoredRows>,
    /// Its columns that are computed from the others.
    pub(super) generated: Option<Arc<Generated>>,
    /// What its rows must say.
    pub(super) checks: Option<Arc<Checks>>,
}

/// What a statement means to do to rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    Add,
    /// Change or take away.
    Change,
}

/// Refuses what is not a table, or does not take this.
pub(super) fn check_writable(object: &Object, intent: Intent) -> SqlResult<()> {
    let name = &object.name.name;
    match &object.kind {
        ObjectKind::Table(table) if table.append_only && intent == Intent::Change => {
            Err(SqlError::new(
                code::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("cannot change rows of append-only table \"{name}\""),
            )
            .hint(
                "Rows can only be inserted. Create the table without APPEND ONLY to change them.",
            ))
        }
        ObjectKind::Table(_) => Ok(()),
        ObjectKind::MaterializedView(_) => Err(SqlError::new(
            code::WRONG_OBJECT_TYPE,
            format!("cannot change materialized view \"{name}\""),
        )),
        ObjectKind::View(_) => Err(SqlError::new(
            code::OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("cannot change view \"{name}\""),
        )
        .hint("Change the tables that the view reads.")),
        ObjectKind::Index(_) | ObjectKind::Sink(_) | ObjectKind::Subscription(_) => {
            object.check_readable()
        }
        ObjectKind::Sequence(_) => {
            let message = format!("cannot change sequence \"{name}\"");
            Err(SqlError::new(code::WRONG_OBJECT_TYPE, message))
        }
        ObjectKind::Source(_) => {
            Err(SqlError::new(code::WRONG_OBJECT_TYPE, format!("cannot change source \"{name}\""))
                .hint("A table with the same connector can be read and written."))
        }
    }
}

impl Target {
    pub(super) fn new(object: Arc<Object>, rows: Arc<dyn StoredRows>) -> SqlResult<Self> {
        let layout = Arc::new(object.layout()?);
        Ok(Self { object, layout, rows, generated: None, checks: None })
    }

    pub(super) fn stored_schema(&self) -> &SchemaRef {
        self.layout.schema()
    }

    /// Names of the stored columns.
    pub(super) fn stored_names(&self) -> Vec<&str> {
        self.stored_schema().fields().iter().map(|field| field.name().as_str()).collect()
    }

    /// Whether rows are told apart by columns of the user, rather than by a row id.
    pub(super) fn has_primary_key(&self) -> bool {
        !matches!(&self.object.kind, ObjectKind::Table(table) if table.primary_key.is_empty())
    }

    /// Rows to be stored, from values for all visible columns, each of its column's type (those of
    /// generated columns do not count), and the row ids where there is no primary key.
    pub(super) fn stored_rows(
        &self,
        mut columns: Vec<ArrayRef>,
        row_ids: Option<Int64Array>,
    ) -> SqlResult<RecordBatch> {
        if let Some(generated) = &self.generated {
            let rows = columns.first().map_or(0, |column| column.len());
            generated.fill(&mut columns, rows)?;
        }
        self.check_not_null(&columns)?;
        let rows = columns.first().map(|column| column.len());
        let rows = rows.or_else(|| row_ids.as_ref().map(Array::len)).unwrap_or(0);
        if let Some(checks) = &self.checks
            && let Some((row, name)) = checks.failing(&columns, rows)?
        {
            return Err(self.failing(&columns, row, name)?);
        }
        let row_ids = row_ids.map(|ids| Arc::new(ids) as ArrayRef);
        let columns = self.object.stored_columns(columns, row_ids, rows);
        let batch = RecordBatch::try_new(Arc::clone(self.stored_schema()), columns)?;
        Ok(canonical(batch)?)
    }

    /// Rows as the relation shows them.
    pub(super) fn visible(&self, stored: &RecordBatch) -> SqlResult<RecordBatch> {
        Ok(stored.project(&self.object.places())?)
    }

    /// Batches of rows as the relation shows them.
    pub(super) fn all_visible(&self, stored: &[RecordBatch]) -> SqlResult<Vec<RecordBatch>> {
        stored.iter().map(|rows| self.visible(rows)).collect()
    }

    fn check_not_null(&self, columns: &[ArrayRef]) -> SqlResult<()> {
        let first_null = |array: &ArrayRef| (0..array.len()).find(|row| array.is_null(*row));
        let violation = self
            .object
            .columns
            .iter()
            .zip(columns)
            .filter(|(column, array)| column.not_null && array.null_count() > 0)
            .filter_map(|(column, array)| first_null(array).map(|row| (row, column)))
            .min_by_key(|(row, _)| *row);
        let Some((row, column)) = violation else { return Ok(()) };
        let message = format!(
            "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
            column.name, self.object.name.name
        );
        let about = About { column: Some(column.name.clone()), ..self.about() };
        Err(SqlError::new(code::NOT_NULL_VIOLATION, message)
            .detail(self.row_text(columns, row)?)
            .about(about))
    }

    /// 23514: a row that a CHECK does not let in.
    fn failing(&self, columns: &[ArrayRef], row: usize, check: &str) -> SqlResult<SqlError> {
        let relation = &self.object.name.name;
        let message =
            format!("new row for relation \"{relation}\" violates check constraint \"{check}\"");
        let about = About { constraint: Some(check.to_owned()), ..self.about() };
        let error = SqlError::new(code::CHECK_VIOLATION, message).about(about);
        Ok(error.detail(self.row_text(columns, row)?))
    }

    fn row_text(&self, columns: &[ArrayRef], row: usize) -> SqlResult<String> {
        let values: Vec<String> = (0..columns.len())
            .map(|column| self.text(column, &columns[column], row))
            .collect::<SqlResult<_>>()?;
        Ok(format!("Failing row contains ({}).", values.join(", ")))
    }

    fn about(&self) -> About {
        let name = &self.object.name;
        About {
            schema: Some(name.schema.clone()),
            table: Some(name.name.clone()),
            ..About::default()
        }
    }

    /// The error of row `row` of `rows` (stored), whose key another row has.
    pub(super) fn duplicate(&self, rows: &RecordBatch, row: usize) -> SqlError {
        let constraint = self.constraint_name();
        let error = SqlError::new(
            code::UNIQUE_VIOLATION,
            format!("duplicate key value violates unique constraint \"{constraint}\""),
        )
        .about(About { constraint: Some(constraint), ..self.about() });
        let key = self.layout.key_columns().iter();
        let key: Vec<usize> = key.filter_map(|place| self.object.column_at(*place)).collect();
        let names: Vec<&str> = key.iter().map(|&c| self.object.columns[c].name.as_str()).collect();
        let text = |&column: &usize| self.text(column, rows.column(self.object.place(column)), row);
        let values: SqlResult<Vec<String>> = key.iter().map(text).collect();
        match values {
            Ok(values) => error.detail(format!(
                "Key ({})=({}) already exists.",
                names.join(", "),
                values.join(", ")
            )),
            Err(_) => error,
        }
    }

    /// The primary key's constraint.
    pub(super) fn constraint_name(&self) -> String {
        let named = match &self.object.kind {
            ObjectKind::Table(table) => table.primary_key_name.clone(),
            _ => None,
        };
        named.unwrap_or_else(|| format!("{}_pkey", self.object.name.name))
    }

    fn text(&self, column: usize, array: &ArrayRef, row: usize) -> SqlResult<String> {
        let sql_type = &self.object.columns[column].sql_type;
        let style = TextStyle::default();
        Ok(text_of(sql_type, array, row, &style)?.unwrap_or_else(|| "null".to_owned()))
    }
}
