//! SET NOT NULL and DROP NOT NULL.

use std::sync::Arc;

use super::{Altering, column_of};
use crate::catalog::{Object, ObjectKind};
use crate::engine::ddl::rename::Readers;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::ColumnRef;

impl Altering<'_> {
    pub(super) fn set_not_null(&mut self, column: &ColumnRef, not_null: bool) -> SqlResult<()> {
        let table = Arc::clone(self.table()?);
        let index = column_of(&table, column)?;
        if table.columns[index].not_null == not_null {
            return Ok(());
        }
        let place = table.place(index);
        if not_null {
            self.required.push((place, column.name.clone()));
            // Their plans are of a column that may be NULL, which stays right.
            let readers = Readers::of(&self.edit, &[table.id]);
            readers.hold_to(&mut self.edit, |meaning| meaning.hold_nullable(&table, place))?;
        } else {
            self.check_may_be_null(&table, index)?;
        }
        let mut changed = Object::clone(&table);
        changed.columns[index].not_null = not_null;
        self.edit.apply(|catalog| catalog.with_altered(changed))
    }

    fn check_may_be_null(&self, table: &Object, index: usize) -> SqlResult<()> {
        let column = &table.columns[index];
        let own = match &table.kind {
            ObjectKind::Table(kind) => kind.primary_key.contains(&index),
            _ => false,
        };
        let added = self.edit.catalog.indexes(table.id).any(|object| {
            let index_of_key = object
                .index()
                .filter(|index| index.constraint.is_some_and(|constraint| constraint.primary));
            index_of_key.is_some_and(|one| one.keys.iter().any(|key| key.column == index))
        });
        if own || added {
            let message = format!("column \"{}\" is in a primary key", column.name);
            return Err(SqlError::new(code::INVALID_TABLE_DEFINITION, message));
        }
        if column.identity.is_some() {
            let name = &table.name.name;
            let message =
                format!("column \"{}\" of relation \"{name}\" is an identity column", column.name);
            return Err(SqlError::new(code::SYNTAX_ERROR, message));
        }
        Ok(())
    }
}
