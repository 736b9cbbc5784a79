//! A foreign key, ready to be followed: which keys rows refer to, whether they are there, and which
//! rows refer to given keys.
//!
//! Keys are compared as the referenced table has them: a referring value is cast to the type of the
//! column that it refers to, and one that has no equal there refers to nothing.

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::kernels::cmp::not_distinct;
use arrow::compute::{self, CastOptions, cast_with_options};
use arrow::datatypes::{DataType, SchemaRef};

use super::PAGE_ROWS_MAX;
use super::by_index::ByIndex;
use crate::catalog::constraint::ForeignKey;
use crate::catalog::{Catalog, Object, ObjectKind};
use crate::dataflow::guard::Guard;
use crate::engine::dml::transaction::Sight;
use crate::engine::jobs;
use crate::error::{About, SqlError, SqlResult, code};
use crate::expr::text_of;
use crate::state::{Page, RowLayout};
use crate::types::key::{KeyCodec, vnode};
use crate::types::text::TextStyle;
use crate::types::{ObjectId, SqlType, take_rows};

/// A foreign key with both of its tables.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) key: ForeignKey,
    /// The table that refers, and the one that it refers to.
    pub(super) child: Arc<Object>,
    pub(super) parent: Arc<Object>,
    /// Where the columns of both lie in their rows, in the order of the parent's key.
    from: Vec<usize>,
    to: Vec<usize>,
    parent_types: Vec<DataType>,
    by: Keys,
    /// How the child's rows can be found but by looking at all.
    paths: Vec<Path>,
    by_index: Option<ByIndex>,
    child_layout: RowLayout,
}

/// How keys of a table lie, and where it says whose they are.
#[derive(Debug)]
enum Keys {
    /// As those of its rows: its primary key.
    Rows(KeyCodec),
    /// As those of a unique index.
    Guard(Guard),
}

/// Unique columns of the child that are those of the foreign key: for each, which of `from`.
#[derive(Debug)]
struct Path {
    order: Vec<usize>,
    types: Vec<DataType>,
    by: Keys,
}

/// What a row refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refers {
    /// A column is NULL.
    Nothing,
    Key(Vec<u8>),
    /// What no row of the parent can have.
    Nowhere,
}

/// Rows of the child, and where they lie.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) keys: Vec<Vec<u8>>,
    pub(super) rows: Vec<RecordBatch>,
}

/// Keys of the parent, and a row of the parent that has, or had, each.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) keys: HashSet<Vec<u8>>,
    /// The parent's columns of the foreign key, in the order of its key, a row for each key.
    pub(super) values: Vec<ArrayRef>,
}

impl Keys {
    /// Of the primary key, or of the unique index, by whose columns the parent is found.
    fn of(schema: &SchemaRef, columns: &[usize], index: Option<ObjectId>) -> SqlResult<Self> {
        Ok(match index {
            None => Keys::Rows(KeyCodec::new(schema, columns)?),
            Some(index) => Keys::Guard(Guard::new(index, String::new(), schema, columns)?),
        })
    }

    /// The keys of rows with these values; none where one is NULL.
    fn encode(&self, columns: &[ArrayRef], rows: usize) -> SqlResult<Vec<Option<Vec<u8>>>> {
        match self {
            Keys::Guard(guard) => Ok(guard.keys_of(columns, rows, false)?),
            Keys::Rows(codec) => {
                let encoded = codec.encode_columns(columns, rows)?;
                let is_null = |row: usize| columns.iter().any(|column| column.is_null(row));
                let keys = encoded.iter().enumerate().map(|(row, key)| {
                    let key = key.data();
                    (!is_null(row)).then(|| [&[vnode(key)], key].concat())
                });
                Ok(keys.collect())
            }
        }
    }

    /// Where the rows lie that have these keys.
    fn places(&self, sight: &Sight, keys: &[Vec<u8>]) -> SqlResult<Vec<Option<Vec<u8>>>> {
        match self {
            Keys::Rows(_) => {
                let found = sight.rows().get_many(keys)?;
                let places = keys.iter().zip(found);
                Ok(places.map(|(key, row)| row.map(|_| key.clone())).collect())
            }
            Keys::Guard(guard) => match sight.holders(guard.index) {
                Some(holders) => Ok(holders.holders(keys)?),
                None => Err(SqlError::internal("a foreign key refers to an index that is gone")),
            },
        }
    }
}

impl Link {
    pub(super) fn new(catalog: &Catalog, child: &Arc<Object>, key: &ForeignKey) -> SqlResult<Self> {
        let gone = || SqlError::internal(format!("object {} is gone", key.references.0));
        let parent = catalog.object(key.references).map(Arc::clone).ok_or_else(gone)?;
        let (to, index) = match catalog.object(key.key).and_then(|object| object.index()) {
            Some(index) => {
                let columns = index.keys.iter().map(|key| parent.place(key.column));
                (columns.collect::<Vec<_>>(), Some(key.key))
            }
            None => (parent.key(), None),
        };
        let pair = |to: &usize| key.referenced.iter().position(|one| parent.place(*one) == *to);
        let pairs: Option<Vec<usize>> = to.iter().map(pair).collect();
        let from = pairs.iter().flatten().filter_map(|pair| key.columns.get(*pair));
        let from: Vec<usize> = from.map(|column| child.place(*column)).collect();
        if from.len() != key.columns.len() {
            return Err(SqlError::internal("a foreign key is not of the columns of its index"));
        }
        let schema = parent.stored_schema();
        let types = to.iter().map(|column| schema.field(*column).data_type().clone());
        Ok(Self {
            parent_types: types.collect(),
            by: Keys::of(&schema, &to, index)?,
            paths: paths(catalog, child, &from)?,
            by_index: ByIndex::of(catalog, child, &from)?,
            child_layout: jobs::layout(child)?,
            key: key.clone(),
            child: Arc::clone(child),
            parent,
            from,
            to,
        })
    }

    /// Stored rows of the child.
    pub(super) fn decode(&self, page: &Page) -> SqlResult<RecordBatch> {
        Ok(self.child_layout.decode(page.entries())?.batch().clone())
    }

    /// The same of entries.
    pub(super) fn decode_all<'a>(
        &self,
        entries: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    ) -> SqlResult<RecordBatch> {
        Ok(self.child_layout.decode(entries)?.batch().clone())
    }

    /// Where rows of the child lie.
    pub(super) fn storage_keys(&self, rows: &RecordBatch) -> SqlResult<Vec<Vec<u8>>> {
        Ok(self.child_layout.keys(rows)?)
    }

    /// What each of the child's `rows` refers to.
    pub(super) fn refers(&self, rows: &RecordBatch) -> SqlResult<Vec<Refers>> {
        let keys = self.by.encode(&self.referred(rows)?, rows.num_rows())?;
        let is_null = |row: usize| self.from.iter().any(|one| rows.column(*one).is_null(row));
        let refers = keys.into_iter().enumerate().map(|(row, key)| match key {
            Some(key) => Refers::Key(key),
            None if is_null(row) => Refers::Nothing,
            None => Refers::Nowhere,
        });
        Ok(refers.collect())
    }

    /// The values that the child's `rows` refer to, as the parent has them, in its key's order.
    pub(super) fn referred(&self, rows: &RecordBatch) -> SqlResult<Vec<ArrayRef>> {
        let own = self.from.iter().zip(&self.parent_types);
        own.map(|(column, to)| as_type(rows.column(*column), to)).collect()
    }

    /// The first of the child's `rows` that has NULL in some of the columns and not in others.
    pub(super) fn half(&self, rows: &RecordBatch) -> Option<usize> {
        let columns = || self.from.iter().map(|column| rows.column(*column));
        let nulls = |row: usize| columns().filter(|values| values.is_null(row)).count();
        (0..rows.num_rows()).find(|row| !matches!(nulls(*row), 0) && nulls(*row) < self.from.len())
    }

    /// The key of each of the parent's `rows`, if it has one.
    pub(super) fn keys_of(&self, rows: &RecordBatch) -> SqlResult<Vec<Option<Vec<u8>>>> {
        self.by.encode(&self.values_of(rows), rows.num_rows())
    }

    /// The columns of the parent's `rows` that are referred to, in the order of its key.
    pub(super) fn values_of(&self, rows: &RecordBatch) -> Vec<ArrayRef> {
        self.to.iter().map(|column| Arc::clone(rows.column(*column))).collect()
    }

    /// The values of the child's columns (by their index) that refer to what has these values,
    /// which are in the order of the parent's key.
    pub(super) fn referring(&self, values: &[ArrayRef]) -> SqlResult<Vec<(usize, ArrayRef)>> {
        let schema = self.child.stored_schema();
        let cast = self.from.iter().zip(values).map(|(place, values)| {
            let to = schema.field(*place).data_type();
            let checked = CastOptions { safe: false, ..CastOptions::default() };
            let column = self.child.column_at(*place);
            let column = column.ok_or_else(|| SqlError::internal("a foreign key of no column"))?;
            Ok((column, cast_with_options(values, to, &checked)?))
        });
        cast.collect()
    }

    /// Which of the parent's keys are there.
    pub(super) fn present(&self, parent: &Sight, keys: &[Vec<u8>]) -> SqlResult<Vec<bool>> {
        Ok(self.by.places(parent, keys)?.iter().map(Option::is_some).collect())
    }

    /// The child's rows that refer to the `wanted` keys; of many only some if `first` is all that
    /// matters. May block for the disk.
    pub(super) fn find(&self, child: &Sight, wanted: &Wanted, first: bool) -> SqlResult<Found> {
        if wanted.keys.is_empty() {
            return Ok(Found::default());
        }
        if let Some(path) = self.paths.first() {
            return self.find_by(path, child, wanted);
        }
        if let Some(index) = &self.by_index
            && let Some(found) = index.find(self, child, wanted)?
        {
            return Ok(found);
        }
        self.find_among_all(child, wanted, first)
    }

    /// Each of the keys is one row's at the most.
    fn find_by(&self, path: &Path, child: &Sight, wanted: &Wanted) -> SqlResult<Found> {
        let values = path.order.iter().zip(&path.types);
        let values: Vec<ArrayRef> = values
            .map(|(place, to)| as_type(&wanted.values[*place], to))
            .collect::<SqlResult<_>>()?;
        let rows = values.first().map_or(0, |values| values.len());
        let keys: Vec<Vec<u8>> = path.by.encode(&values, rows)?.into_iter().flatten().collect();
        let places: Vec<Vec<u8>> = path.by.places(child, &keys)?.into_iter().flatten().collect();
        let stored = child.rows().get_many(&places)?;
        let rows = places.iter().zip(&stored);
        let rows = rows.filter_map(|(key, row)| Some((key.as_slice(), row.as_deref()?)));
        let rows = self.child_layout.decode(rows)?.batch().clone();
        Ok(Found { keys: places, rows: if rows.num_rows() == 0 { vec![] } else { vec![rows] } })
    }

    fn find_among_all(&self, child: &Sight, wanted: &Wanted, first: bool) -> SqlResult<Found> {
        let (rows, mut found) = (child.rows(), Found::default());
        let mut from: Option<Vec<u8>> = None;
        loop {
            let start = from.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let entries = rows.page(start, None, PAGE_ROWS_MAX)?;
            let batch = self.decode(&entries.page)?;
            let refers = self.refers(&batch)?;
            let is_wanted =
                |refers: &Refers| matches!(refers, Refers::Key(key) if wanted.keys.contains(key));
            let mut places: Vec<u32> = Vec::new();
            for ((key, _), (row, refers)) in entries.page.entries().zip((0u32..).zip(&refers)) {
                if is_wanted(refers) {
                    found.keys.push(key.to_vec());
                    places.push(row);
                }
            }
            if !places.is_empty() {
                found.rows.push(take_rows(&batch, &UInt32Array::from(places))?);
            }
            from = entries.resume;
            if from.is_none() || (first && !found.keys.is_empty()) {
                return Ok(found);
            }
        }
    }

    /// 23503: row `row` of the child's `rows` refers to what is not there.
    pub(super) fn not_present(&self, rows: &RecordBatch, row: usize) -> SqlError {
        let message = format!(
            "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
            self.child.name.name, self.key.name
        );
        let error = self.violation(message, &self.child);
        match text(&self.child, &self.key.columns, rows, row) {
            Ok(key) => {
                let parent = &self.parent.name.name;
                error.detail(format!("Key {key} is not present in table \"{parent}\"."))
            }
            Err(_) => error,
        }
    }

    /// 23503: MATCH FULL.
    pub(super) fn mixes_nulls(&self) -> SqlError {
        let message = format!(
            "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
            self.child.name.name, self.key.name
        );
        self.violation(message, &self.child)
            .detail("MATCH FULL does not allow mixing of null and nonnull key values.")
    }

    /// 23503: rows refer to what row `row` of the parent's `rows` has no more.
    pub(super) fn still_referenced(&self, rows: &RecordBatch, row: usize) -> SqlError {
        let (parent, child) = (&self.parent.name.name, &self.child.name.name);
        let message = format!(
            "update or delete on table \"{parent}\" violates foreign key constraint \"{}\" on \
             table \"{child}\"",
            self.key.name
        );
        let error = self.violation(message, &self.child);
        match text(&self.parent, &self.key.referenced, rows, row) {
            Ok(key) => {
                error.detail(format!("Key {key} is still referenced from table \"{child}\"."))
            }
            Err(_) => error,
        }
    }

    fn violation(&self, message: String, table: &Object) -> SqlError {
        SqlError::new(code::FOREIGN_KEY_VIOLATION, message).about(About {
            schema: Some(table.name.schema.clone()),
            table: Some(table.name.name.clone()),
            constraint: Some(self.key.name.clone()),
            ..About::default()
        })
    }
}

/// The ways by which rows of the child are found whose columns at `from` are unique.
fn paths(catalog: &Catalog, child: &Object, from: &[usize]) -> SqlResult<Vec<Path>> {
    let schema = child.stored_schema();
    let path = |columns: &[usize], index: Option<ObjectId>| -> SqlResult<Option<Path>> {
        let place = |column: &usize| from.iter().position(|one| one == column);
        let order: Option<Vec<usize>> = columns.iter().map(place).collect();
        let Some(order) = order.filter(|order| order.len() == from.len()) else { return Ok(None) };
        let types = columns.iter().map(|column| schema.field(*column).data_type().clone());
        Ok(Some(Path { order, types: types.collect(), by: Keys::of(&schema, columns, index)? }))
    };
    let mut found = Vec::new();
    if let ObjectKind::Table(kind) = &child.kind {
        let key: Vec<usize> = kind.primary_key.iter().map(|one| child.place(*one)).collect();
        found.extend(path(&key, None)?);
    }
    for object in catalog.indexes(child.id) {
        let Some(index) = object.index().filter(|index| index.unique) else { continue };
        let columns: Vec<usize> = index.keys.iter().map(|key| child.place(key.column)).collect();
        found.extend(path(&columns, Some(object.id))?);
    }
    Ok(found)
}

/// Values as ones of another type: NULL where none of that is equal.
pub(super) fn as_type(values: &ArrayRef, to: &DataType) -> SqlResult<ArrayRef> {
    if values.data_type() == to {
        return Ok(Arc::clone(values));
    }
    let safe = CastOptions { safe: true, ..CastOptions::default() };
    let cast = cast_with_options(values, to, &safe)?;
    let back = cast_with_options(&cast, values.data_type(), &safe)?;
    let differs = compute::not(&not_distinct(&back, values)?)?;
    Ok(compute::nullif(&cast, &differs)?)
}

/// `(a, b)=(1, x)`.
fn text(table: &Object, columns: &[usize], rows: &RecordBatch, row: usize) -> SqlResult<String> {
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for &column in columns {
        let Some(of) = table.columns.get(column) else { continue };
        names.push(of.name.clone());
        let sql_type: &SqlType = &of.sql_type;
        let text = text_of(sql_type, rows.column(table.place(column)), row, &TextStyle::default())?;
        values.push(text.unwrap_or_else(|| "null".to_owned()));
    }
    Ok(format!("({})=({})", names.join(", "), values.join(", ")))
}
