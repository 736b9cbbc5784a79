//! How an object's rows lie, and what of that is for ever.
//!
//! A row of a table has a place for every column that the table ever had, in the order in which
//! they came. Places are not used again:
//!
//! ```text
//!  CREATE TABLE t (a, b)     a | b | row id
//!  ADD COLUMN c              a | b | row id | c
//!  DROP COLUMN a             - | b | row id | c
//!  ALTER COLUMN b TYPE ...   - | - | row id | c | b
//! ```
//!
//! So whoever knows the first places of a row knows them whatever is changed later: a plan that
//! was made before reads rows that are written after by leaving out what lies behind, and rows
//! that were written before lack places, of which the catalog says what is there
//! (`state::RowLayout::grown`). Nothing that reads a table is built again.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{Schema, SchemaRef};
use serde::{Deserialize, Serialize};

use super::object::{Column, Object, ObjectKind, ROW_ID, Table};
use crate::error::{SqlError, SqlResult, code};
use crate::state::{RowLayout, missing_value};
use crate::types::SqlType;

/// Columns that a table may have had, as in PostgreSQL.
const NUMBERS_MAX: usize = 1600;

/// What a table whose columns came and went has had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// For each column of the table, in their order.
    pub columns: Vec<Attribute>,
    /// What rows have, place by place.
    pub places: Vec<Place>,
    /// How many places the first rows had.
    pub base: usize,
    /// Columns that are gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<Dropped>,
}

/// Which column it is, and where its values lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// `pg_attribute.attnum`, from 1.
    pub number: usize,
    pub place: usize,
}

/// A place in the rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub sql_type: SqlType,
    /// What rows have there that are older than it: the encoded value, in hexadecimal digits; none:
    /// NULL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// A column that is gone, which has its number still.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    pub number: usize,
    pub sql_type: SqlType,
}

/// What messages and catalogs call a column that is gone.
pub fn dropped_name(number: usize) -> String {
    format!("........pg.dropped.{number}........")
}

impl Shape {
    /// As the table has it now.
    pub fn of(table: &Object) -> Self {
        if let Some(shape) = table.shape() {
            return shape.clone();
        }
        let columns =
            (0..table.columns.len()).map(|place| Attribute { number: place + 1, place }).collect();
        let types = table.columns.iter().map(|column| column.sql_type.clone());
        let row_id = table.row_id_place().map(|_| SqlType::BigInt);
        let places: Vec<Place> =
            types.chain(row_id).map(|sql_type| Place { sql_type, missing: None }).collect();
        Self { base: places.len(), columns, places, dropped: Vec::new() }
    }

    /// A new place, behind all others, where older rows have NULL.
    pub fn add_place(&mut self, sql_type: &SqlType) -> SqlResult<usize> {
        self.places.push(Place { sql_type: sql_type.clone(), missing: None });
        if self.places.len() > NUMBERS_MAX * 2 {
            let message = "a table's columns were changed too often";
            return Err(SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, message)
                .detail(format!("Its rows have {} places.", self.places.len() - 1))
                .hint("Make another table, and copy the rows."));
        }
        Ok(self.places.len() - 1)
    }

    /// Rows that are older than `place` have this value there, a row.
    pub fn set_missing(&mut self, place: usize, value: &ArrayRef) -> SqlResult<()> {
        let value = Some(value).filter(|value| value.is_valid(0));
        self.places[place].missing = value.map(missing_value).transpose()?.map(hex::encode);
        Ok(())
    }

    /// A new last column, at `place`.
    pub fn add_column(&mut self, place: usize) -> SqlResult<()> {
        let taken = self.columns.iter().map(|column| column.number);
        let dropped = self.dropped.iter().map(|column| column.number);
        let number = taken.chain(dropped).max().unwrap_or(0) + 1;
        if number > NUMBERS_MAX {
            let message = format!("tables can have at most {NUMBERS_MAX} columns");
            return Err(SqlError::new(code::TOO_MANY_COLUMNS, message));
        }
        self.columns.push(Attribute { number, place });
        Ok(())
    }

    /// The column of this index is gone.
    pub fn drop_column(&mut self, column: usize) {
        let Attribute { number, place } = self.columns.remove(column);
        let sql_type = self.places[place].sql_type.clone();
        self.dropped.push(Dropped { number, sql_type });
    }

    /// What older rows have at each place behind the base.
    fn missing(&self) -> SqlResult<Vec<Option<Vec<u8>>>> {
        let places = self.places.iter().skip(self.base);
        let decoded = places.map(|place| place.missing.as_ref().map(hex::decode).transpose());
        decoded.collect::<Result<_, _>>().map_err(|error| {
            SqlError::new(code::DATA_CORRUPTED, "a missing value in the catalog cannot be read")
                .detail(error.to_string())
        })
    }
}

impl Object {
    /// What its columns were, if it is a table of which some came or went.
    pub fn shape(&self) -> Option<&Shape> {
        match &self.kind {
            ObjectKind::Table(table) => table.shape.as_deref(),
            _ => None,
        }
    }

    /// Where the values of a column lie in a stored row.
    pub fn place(&self, column: usize) -> usize {
        self.shape().map_or(column, |shape| shape.columns[column].place)
    }

    /// The same for each of its columns.
    pub fn places(&self) -> Vec<usize> {
        (0..self.columns.len()).map(|column| self.place(column)).collect()
    }

    /// The column whose values lie at a place; `None`: it is the row id, or nothing any more.
    pub fn column_at(&self, place: usize) -> Option<usize> {
        match self.shape() {
            Some(shape) => shape.columns.iter().position(|column| column.place == place),
            None => (place < self.columns.len()).then_some(place),
        }
    }

    /// `pg_attribute.attnum` of a column.
    pub fn number(&self, column: usize) -> usize {
        let known = self.shape().and_then(|shape| shape.columns.get(column));
        known.map_or(column + 1, |attribute| attribute.number)
    }

    /// Where a table without a primary key has the hidden id of its rows.
    pub fn row_id_place(&self) -> Option<usize> {
        match &self.kind {
            ObjectKind::Table(table) if table.primary_key.is_empty() => {
                Some(table.shape.as_ref().map_or(self.columns.len(), |shape| shape.base - 1))
            }
            _ => None,
        }
    }

    /// The stored columns: the visible ones, and the row id where there is no primary key.
    pub fn stored_schema(&self) -> SchemaRef {
        let row_id = || Arc::new(SqlType::BigInt.field(ROW_ID, false));
        let field =
            |column: &Column| Arc::new(column.sql_type.field(&column.name, !column.not_null));
        if let Some(shape) = self.shape() {
            let fields = shape.places.iter().enumerate().map(|(place, stored)| {
                match self.column_at(place) {
                    Some(column) => field(&self.columns[column]),
                    None if self.row_id_place() == Some(place) => row_id(),
                    None => Arc::new(stored.sql_type.field(dropped_name(place + 1), true)),
                }
            });
            return Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        }
        let mut fields: Vec<_> = self.columns.iter().map(field).collect();
        let has_row_id = match &self.kind {
            ObjectKind::Index(index) => index.order.len() > self.columns.len(),
            _ => self.row_id_place().is_some(),
        };
        fields.extend(has_row_id.then(row_id));
        Arc::new(Schema::new(fields))
    }

    /// How its stored rows lie. Whatever the columns are now, rows may have been written when they
    /// could be NULL.
    pub fn layout(&self) -> SqlResult<RowLayout> {
        let schema = self.stored_schema();
        let nullable =
            schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
        let schema = Arc::new(Schema::new(nullable.collect::<Vec<_>>()));
        let layout = RowLayout::new(schema, &self.key(), &self.distribution())?;
        Ok(match self.shape() {
            Some(shape) => layout.grown(shape.base, &shape.missing()?)?,
            None => layout,
        })
    }

    /// A stored row's columns, as this object's rows are stored, from its visible ones and its id.
    /// Where there is nothing any more, there is NULL.
    pub fn stored_columns(
        &self,
        visible: Vec<ArrayRef>,
        row_ids: Option<ArrayRef>,
        rows: usize,
    ) -> Vec<ArrayRef> {
        let Some(shape) = self.shape() else {
            return visible.into_iter().chain(row_ids).collect();
        };
        let places = shape.places.iter().enumerate();
        let stored = places.map(|(place, stored)| match (self.column_at(place), &row_ids) {
            (Some(column), _) => Arc::clone(&visible[column]),
            (None, Some(ids)) if self.row_id_place() == Some(place) => Arc::clone(ids),
            _ => arrow::array::new_null_array(&stored.sql_type.to_arrow(), rows),
        });
        stored.collect()
    }

    /// The same table as whoever knows it that knows only the first `width` places. What is there
    /// no more is among its columns too.
    pub fn known_up_to(&self, width: usize) -> Self {
        let is_known = |place: &usize| Some(*place) != self.row_id_place();
        match self.shape() {
            Some(_) => self.known_by(&(0..width).filter(is_known).collect::<Vec<_>>(), width),
            None => self.clone(),
        }
    }

    /// The same table as whoever knows it that knows only the first `width` places, and there the
    /// columns at `places`, in this order. What is there no more has no values.
    pub(super) fn known_by(&self, places: &[usize], width: usize) -> Self {
        let ObjectKind::Table(table) = &self.kind else { return self.clone() };
        let shape = Shape::of(self);
        let columns =
            places.iter().enumerate().map(|(index, place)| match self.column_at(*place) {
                Some(column) => self.columns[column].clone(),
                None => gone(index + 1, &shape.places[*place].sql_type),
            });
        let attributes = places.iter().enumerate();
        let attributes =
            attributes.map(|(index, place)| Attribute { number: index + 1, place: *place });
        let in_key = |column: &usize| {
            let place = self.place(*column);
            places.iter().position(|known| *known == place)
        };
        let known = Shape {
            columns: attributes.collect(),
            places: shape.places[..width.min(shape.places.len())].to_vec(),
            base: shape.base,
            dropped: Vec::new(),
        };
        let table = Table {
            primary_key: table.primary_key.iter().filter_map(in_key).collect(),
            shape: Some(Box::new(known)),
            ..table.clone()
        };
        Self { columns: columns.collect(), kind: ObjectKind::Table(table), ..self.clone() }
    }
}

/// A column of which nothing is left.
fn gone(number: usize, sql_type: &SqlType) -> Column {
    Column {
        name: dropped_name(number),
        sql_type: sql_type.clone(),
        not_null: false,
        default: None,
        generated: None,
        identity: None,
        comment: None,
        computed: false,
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Int32Array;

    use super::super::testing::catalog_of;
    use super::*;

    fn altered() -> Object {
        let catalog = catalog_of(&[("t", &[])]);
        let mut table = Object::clone(catalog.objects().next().expect("one"));
        let mut shape = Shape::of(&table);
        let place = shape.add_place(&SqlType::Integer).expect("few");
        let value: ArrayRef = Arc::new(Int32Array::from(vec![7]));
        shape.set_missing(place, &value).expect("encodes");
        shape.add_column(place).expect("few");
        shape.drop_column(1);
        table.columns[1] =
            Column { name: "c".to_owned(), default: None, ..gone(3, &SqlType::Integer) };
        let ObjectKind::Table(kind) = &mut table.kind else { panic!("a table") };
        kind.shape = Some(Box::new(shape));
        table
    }

    /// The bytes on disk: a change here is a new format, and needs code that reads the old one.
    #[test]
    fn a_shape_lies_on_disk_like_this() {
        let json = serde_json::to_string(altered().shape().expect("altered")).expect("plain data");
        expect_test::expect![[r#"
            {"columns":[{"number":1,"place":0},{"number":3,"place":2}],"places":[{"sql_type":"Integer"},{"sql_type":{"Numeric":[10,2]}},{"sql_type":"Integer","missing":"0180000007"}],"base":2,"dropped":[{"number":2,"sql_type":{"Numeric":[10,2]}}]}
        "#]]
        .assert_eq(&format!("{json}\n"));
        let read: Shape = serde_json::from_str(&json).expect("its own");
        assert_eq!(altered().shape(), Some(&read));
    }

    #[test]
    fn who_knew_the_first_places_knows_them_still() {
        let table = altered();
        let known = table.known_by(&[0, 1], 2);
        let names: Vec<&str> = known.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["id", "........pg.dropped.2........"]);
        let types = |object: &Object| {
            let schema = object.stored_schema();
            schema.fields().iter().map(|field| field.data_type().clone()).collect::<Vec<_>>()
        };
        assert_eq!(types(&known), types(&table)[..2]);
        assert_eq!((known.key(), table.key()), (vec![0], vec![0]));
    }
}
