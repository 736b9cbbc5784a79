//! DROP COLUMN: what needs the column goes with it, or keeps it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Altering, column_of, no_column, takes};
use crate::catalog::{Object, ObjectKind, quote_identifier};
use crate::engine::ddl::{DdlOutcome, drop};
use crate::error::{SqlError, SqlResult, code};
use crate::planner::Kept;
use crate::planner::statement::ColumnRef;
use crate::types::ObjectId;

impl Altering<'_> {
    pub(super) fn drop(
        &mut self,
        column: &ColumnRef,
        if_exists: bool,
        cascade: bool,
    ) -> SqlResult<()> {
        let table = Arc::clone(self.table()?);
        let Ok(index) = column_of(&table, column) else {
            let error = no_column(&table, &column.name);
            if if_exists {
                self.notice(format!("{}, skipping", error.message));
                return Ok(());
            }
            return Err(error);
        };
        check_not_key(&table, index)?;
        let computed = self.computed_from(&table, index)?;
        let described = |column: usize| {
            let name = quote_identifier(&table.columns[column].name);
            format!("column {name} of {}", self.describe(table.id))
        };
        let what = described(index);
        // From the last on, so that the others keep their places in the list.
        let going: BTreeSet<usize> = computed.iter().copied().chain([index]).collect();
        let path = &self.names.search_path;
        let mut with_readers: Vec<ObjectId> = Vec::new();
        let mut lines: Vec<(String, String)> =
            computed.iter().map(|one| (described(*one), what.clone())).collect();
        for column in std::iter::once(index).chain(computed) {
            for reader in self.readers(&table, column)? {
                if with_readers.contains(&reader) {
                    continue;
                }
                lines.push((self.describe(reader), described(column)));
                let plan = self.edit.catalog.plan_drop_all(vec![reader], path, true)?;
                // Each comes before what it needs.
                for id in plan.objects.iter().rev() {
                    let is_new = !with_readers.contains(id) && !self.gone.contains(id);
                    if is_new && *id != reader {
                        lines.extend(self.dependence(*id, &plan.objects));
                    }
                    if is_new {
                        with_readers.push(*id);
                    }
                }
            }
        }
        if !lines.is_empty() && !cascade {
            let message = format!("cannot drop {what} because other objects depend on it");
            let lines = lines.iter().map(|(one, on)| format!("{one} depends on {on}"));
            return Err(SqlError::new(code::DEPENDENT_OBJECTS_STILL_EXIST, message)
                .detail(lines.collect::<Vec<_>>().join("\n"))
                .hint("Use DROP ... CASCADE to drop the dependent objects too."));
        }
        self.tell_cascades(lines);
        self.take(with_readers);
        let parts: Vec<ObjectId> =
            going.iter().flat_map(|column| self.parts(&table, *column)).collect();
        self.hold_readers()?;
        for column in going.into_iter().rev() {
            let id = table.id;
            self.edit.apply(|catalog| catalog.without_column(id, column))?;
        }
        self.forget_needs()?;
        let path = &self.names.search_path;
        let with_parts = self.edit.catalog.plan_drop_all(parts, path, cascade);
        let with_parts = with_parts.map_err(|error| match error.code {
            code::DEPENDENT_OBJECTS_STILL_EXIST => {
                let message = format!("cannot drop {what} because other objects depend on it");
                SqlError { message, ..error }
            }
            _ => error,
        })?;
        self.take(with_parts.objects.clone());
        self.notices.extend(drop::outcome(with_parts).notices);
        Ok(())
    }

    /// What an object needs of those that go; `None`: it is a part of one, and needs no mention.
    fn dependence(&self, id: ObjectId, going: &[ObjectId]) -> Option<(String, String)> {
        let catalog = &self.edit.catalog;
        let on = catalog.needs(id).iter().find(|on| going.contains(on))?;
        let is_index = catalog.object(id).is_some_and(|object| object.index().is_some());
        (!is_index).then(|| (self.describe(id), self.describe(*on)))
    }

    fn tell_cascades(&mut self, lines: Vec<(String, String)>) {
        let lines: Vec<String> =
            lines.into_iter().map(|(one, _)| format!("drop cascades to {one}")).collect();
        match lines.as_slice() {
            [] => {}
            [one] => self.notice(one.clone()),
            many => {
                let count = format!("drop cascades to {} other objects", many.len());
                let told = DdlOutcome::notice(count).detail(many.join("\n"));
                self.notices.extend(told.notices);
            }
        }
    }

    fn take(&mut self, objects: Vec<ObjectId>) {
        for object in objects {
            if !self.gone.contains(&object) {
                self.gone.push(object);
            }
        }
    }

    fn describe(&self, id: ObjectId) -> String {
        self.edit.catalog.describe(id, &self.names.search_path)
    }

    /// What reads the column, besides the table.
    fn readers(&self, table: &Object, column: usize) -> SqlResult<Vec<ObjectId>> {
        let catalog = &self.edit.catalog;
        let mut readers = Vec::new();
        for object in catalog.objects().filter(|object| object.depends_on.contains(&table.id)) {
            let reads = match &object.kind {
                _ if self.gone.contains(&object.id) => false,
                ObjectKind::Sink(sink)
                    if sink.into == table.id && sink.columns.contains(&column) =>
                {
                    true
                }
                ObjectKind::Sink(sink) if sink.query.is_none() => {
                    sink.from == table.id && takes(object, sink, table.place(column))
                }
                ObjectKind::Subscription(_) => true,
                _ => match Kept::of_object(object)? {
                    Some(kept) => kept.reads(catalog, table, column)?,
                    None => false,
                },
            };
            readers.extend(reads.then_some(object.id));
        }
        let name = &table.columns[column].name;
        for function in catalog.functions().filter(|one| one.depends_on.contains(&table.id)) {
            if Kept::of_function(function)?.mentions(name)? {
                readers.push(function.id);
            }
        }
        Ok(readers)
    }

    /// Columns that are computed from this one.
    fn computed_from(&self, table: &Object, column: usize) -> SqlResult<Vec<usize>> {
        let name = &table.columns[column].name;
        let mut computed = Vec::new();
        for (index, other) in table.columns.iter().enumerate() {
            if let Some(text) = &other.generated
                && crate::planner::expression_names(text)?.contains(name)
            {
                computed.push(index);
            }
        }
        Ok(computed)
    }

    /// What is a part of the column: indexes that have it, sequences that number it.
    fn parts(&self, table: &Object, column: usize) -> Vec<ObjectId> {
        let catalog = &self.edit.catalog;
        let indexes = catalog.indexes(table.id).filter(|object| {
            object.index().is_some_and(|index| {
                let keys = index.keys.iter().map(|key| key.column);
                keys.chain(index.included.iter().copied()).any(|own| own == column)
            })
        });
        let sequences = catalog.owned_sequences(table.id).filter(|object| {
            let owner = object.sequence().and_then(|sequence| sequence.owned_by);
            owner.is_some_and(|owner| owner.column == column)
        });
        indexes.chain(sequences).map(|object| object.id).collect()
    }

    /// The table needs what the columns that are left need.
    fn forget_needs(&mut self) -> SqlResult<()> {
        let table = Arc::clone(self.table()?);
        let mut columns: Vec<_> = table.columns.iter().map(super::declared).collect();
        let depends_on = self.check_expressions(&table, &mut columns)?;
        let changed = Object { depends_on, ..Object::clone(&table) };
        self.edit.apply(|catalog| catalog.with_altered(changed))
    }
}

/// Rows are stored by a key that came with the table.
fn check_not_key(table: &Object, column: usize) -> SqlResult<()> {
    let ObjectKind::Table(kind) = &table.kind else { return Ok(()) };
    if !kind.primary_key.contains(&column) {
        return Ok(());
    }
    Err(SqlError::unsupported("dropping a column of a primary key that came with its table")
        .hint("Its rows are stored by it: make another table, and copy them."))
}
