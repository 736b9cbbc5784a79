//! ADD COLUMN.
//!
//! Rows that are there are not touched where all get the same value: the catalog says what is
//! missing in them. A value that is another in each row (`nextval`, a generated column) is written
//! into each.

use std::sync::Arc;

use super::rows::{Fill, Value, default_of};
use super::{Altering, declared};
use crate::catalog::stored::Shape;
use crate::catalog::{Object, ObjectKind};
use crate::engine::ddl::create_table::columns;
use crate::engine::ddl::rename::SYSTEM_COLUMNS;
use crate::engine::ddl::sequence::number_columns;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::ColumnDef;

impl Altering<'_> {
    pub(super) fn add(&mut self, column: &ColumnDef, if_not_exists: bool) -> SqlResult<()> {
        let name = &column.name;
        let relation = self.before.name.name.clone();
        if SYSTEM_COLUMNS.contains(&name.as_str()) {
            let message = format!("column name \"{name}\" conflicts with a system column name");
            return Err(SqlError::new(code::DUPLICATE_COLUMN, message));
        }
        if self.table()?.columns.iter().any(|found| found.name == *name) {
            let message = format!("column \"{name}\" of relation \"{relation}\" already exists");
            if if_not_exists {
                self.notice(format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(code::DUPLICATE_COLUMN, message));
        }
        self.hold_readers()?;
        let table = Arc::clone(self.table()?);
        let mut all: Vec<ColumnDef> = table.columns.iter().map(declared).collect();
        all.push(column.clone());
        let depends_on = self.check_expressions(&table, &mut all)?;
        let last = all.len() - 1;
        let mut shape = Shape::of(&table);
        let place = shape.add_place(&all[last].sql_type)?;
        shape.add_column(place)?;
        let mut changed = Object::clone(&table);
        changed.columns.extend(columns(&all[last..]));
        if let ObjectKind::Table(kind) = &mut changed.kind {
            kind.shape = Some(Box::new(shape));
        }
        let with_column = changed.clone();
        self.edit.apply(|catalog| catalog.with_changed(with_column))?;
        let mut changed = number_columns(&mut self.edit, changed, &all, depends_on)?;
        let new = &changed.columns[last];
        if new.not_null {
            self.required.push((place, name.clone()));
        }
        let value = match &new.generated {
            Some(_) => Some(Value::Generated),
            None => default_of(self.engine, &self.edit.catalog, self.names, new)?,
        };
        match value {
            None => {}
            Some(Value::Same(value)) => {
                if let ObjectKind::Table(kind) = &mut changed.kind
                    && let Some(shape) = &mut kind.shape
                {
                    shape.set_missing(place, &value)?;
                }
            }
            Some(value) => self.fills.push(Fill { place, value }),
        }
        self.edit.apply(|catalog| catalog.with_altered(changed))
    }
}
