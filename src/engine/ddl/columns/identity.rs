//! ADD GENERATED ... AS IDENTITY and DROP IDENTITY.

use std::sync::Arc;

use super::{Altering, column_of, declared};
use crate::catalog::Object;
use crate::engine::ddl::sequence::number_columns;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::{ColumnDef, ColumnRef, Numbering};

impl Altering<'_> {
    pub(super) fn add_identity(
        &mut self,
        column: &ColumnRef,
        numbering: &Numbering,
    ) -> SqlResult<()> {
        let table = Arc::clone(self.table()?);
        let index = column_of(&table, column)?;
        let (name, relation) = (&column.name, &table.name.name);
        let found = &table.columns[index];
        let problem = match () {
            () if !found.not_null => "must be declared NOT NULL before identity can be added",
            () if found.identity.is_some() => "is already an identity column",
            () if found.default.is_some() => "already has a default value",
            () => "",
        };
        if !problem.is_empty() {
            let message = format!("column \"{name}\" of relation \"{relation}\" {problem}");
            return Err(SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        }
        let mut columns: Vec<ColumnDef> = table.columns.iter().map(declared).collect();
        columns[index].numbering = Some(numbering.clone());
        let depends_on = table.depends_on.clone();
        let numbered = number_columns(&mut self.edit, Object::clone(&table), &columns, depends_on)?;
        self.edit.apply(|catalog| catalog.with_altered(numbered))
    }

    pub(super) fn drop_identity(&mut self, column: &ColumnRef, if_exists: bool) -> SqlResult<()> {
        let table = Arc::clone(self.table()?);
        let index = column_of(&table, column)?;
        let Some(identity) = table.columns[index].identity else {
            let relation = &table.name.name;
            let message = format!(
                "column \"{}\" of relation \"{relation}\" is not an identity column",
                column.name
            );
            if if_exists {
                self.notice(format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message));
        };
        let mut changed = Object::clone(&table);
        changed.columns[index].identity = None;
        self.gone.push(identity.sequence);
        self.edit.apply(|catalog| catalog.with_altered(changed))
    }
}
