//! SET DEFAULT and DROP DEFAULT.

use std::sync::Arc;

use super::{Altering, column_of, declared};
use crate::catalog::Object;
use crate::error::{SqlError, SqlResult, code};
use crate::planner;
use crate::planner::statement::{ColumnDef, ColumnRef};

impl Altering<'_> {
    pub(super) fn set_default(
        &mut self,
        column: &ColumnRef,
        default: Option<String>,
    ) -> SqlResult<()> {
        let table = Arc::clone(self.table()?);
        let index = column_of(&table, column)?;
        check_given(&table, index)?;
        let mut columns: Vec<ColumnDef> = table.columns.iter().map(declared).collect();
        columns[index].default = default;
        let depends_on = self.check_expressions(&table, &mut columns)?;
        let mut changed = Object { depends_on, ..Object::clone(&table) };
        changed.columns[index].default = columns[index].default.clone();
        self.edit.apply(|catalog| catalog.with_altered(changed))
    }

    /// Checks the expressions of a table's columns; gives what they need.
    pub(super) fn check_expressions(
        &self,
        table: &Object,
        columns: &mut [ColumnDef],
    ) -> SqlResult<Vec<crate::types::ObjectId>> {
        let catalog = Arc::new(self.edit.catalog.clone());
        let path = &self.names.search_path;
        let name = &table.name.name;
        let mut needed = planner::check_column_expressions(&catalog, path, name, columns)?;
        for check in table.checks() {
            let text = &check.expression;
            let described = planner::describe_check(&catalog, path, name, &table.columns, text)?;
            needed.extend(described.functions);
        }
        needed.sort_unstable();
        needed.dedup();
        Ok(needed)
    }
}

/// Refuses a default where the values come from elsewhere.
fn check_given(table: &Object, index: usize) -> SqlResult<()> {
    let column = &table.columns[index];
    let what = match (column.identity, &column.generated) {
        (Some(_), _) => "an identity column",
        (_, Some(_)) => "a generated column",
        _ => return Ok(()),
    };
    let message =
        format!("column \"{}\" of relation \"{}\" is {what}", column.name, table.name.name);
    Err(SqlError::new(code::SYNTAX_ERROR, message))
}
