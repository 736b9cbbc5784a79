//! ALTER COLUMN ... TYPE: a column becomes another at a new place in the rows.

use std::sync::Arc;

use super::rows::{Fill, converted, default_of};
use super::{Altering, column_of, takes};
use crate::catalog::stored::Shape;
use crate::catalog::{Object, ObjectKind};
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::ColumnRef;
use crate::planner::{Kept, expression_names};
use crate::types::SqlType;

impl Altering<'_> {
    pub(super) fn set_type(
        &mut self,
        column: &ColumnRef,
        sql_type: &SqlType,
        using: Option<&str>,
    ) -> SqlResult<()> {
        let table = Arc::clone(self.table()?);
        let index = column_of(&table, column)?;
        let found = &table.columns[index];
        if found.sql_type == *sql_type && using.is_none() {
            return Ok(());
        }
        let mut changed = Object::clone(&table);
        changed.columns[index].sql_type = sql_type.clone();
        let new = &changed.columns[index];
        // Expressions see the rows as they were before the statement.
        let value = match using.is_none() && holds(sql_type, &found.sql_type) {
            true => None,
            false => Some(converted(self.engine, &self.before, self.names, new, using)?),
        };
        self.check_unread(&table, index)?;
        if value.is_some() {
            self.check_unindexed(&table, index)?;
        }
        default_of(self.engine, &self.edit.catalog, self.names, new).map_err(|error| {
            match error.code == code::DATATYPE_MISMATCH {
                true => {
                    let message = format!(
                        "default for column \"{}\" cannot be cast automatically to type \
                         {sql_type}",
                        found.name
                    );
                    SqlError::new(code::DATATYPE_MISMATCH, message)
                }
                false => error,
            }
        })?;
        self.hold_readers()?;
        let Some(value) = value else {
            return self.edit.apply(|catalog| catalog.with_altered(changed));
        };
        let mut shape = Shape::of(&table);
        let place = shape.add_place(sql_type)?;
        shape.columns[index].place = place;
        if let ObjectKind::Table(kind) = &mut changed.kind {
            kind.shape = Some(Box::new(shape));
        }
        if found.not_null {
            self.required.push((place, found.name.clone()));
        }
        self.fills.push(Fill { place, value });
        self.edit.apply(|catalog| catalog.with_altered(changed))
    }

    fn check_unread(&self, table: &Object, column: usize) -> SqlResult<()> {
        let catalog = &self.edit.catalog;
        let name = &table.columns[column].name;
        let refused = |by: &str, detail: String| {
            let message = format!("cannot alter type of a column used by {by}");
            Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message).detail(detail))
        };
        for object in catalog.objects().filter(|object| object.depends_on.contains(&table.id)) {
            let what = catalog.describe(object.id, &self.names.search_path);
            let reads = match &object.kind {
                ObjectKind::Sink(sink)
                    if sink.into == table.id && sink.columns.contains(&column) =>
                {
                    return refused("a sink", format!("{what} fills column \"{name}\""));
                }
                ObjectKind::Sink(sink)
                    if sink.query.is_none()
                        && sink.from == table.id
                        && takes(object, sink, table.place(column)) =>
                {
                    return refused("a sink", format!("{what} depends on column \"{name}\""));
                }
                ObjectKind::Subscription(_) => {
                    return refused(
                        "a subscription",
                        format!("{what} depends on column \"{name}\""),
                    );
                }
                _ => match Kept::of_object(object)? {
                    Some(kept) => kept.reads(catalog, table, column)?,
                    None => false,
                },
            };
            if reads {
                let detail = match object.sink() {
                    Some(_) => format!("{what} depends on column \"{name}\""),
                    None => format!("rule _RETURN on {what} depends on column \"{name}\""),
                };
                return refused("a view or rule", detail);
            }
        }
        for function in catalog.functions().filter(|one| one.depends_on.contains(&table.id)) {
            if Kept::of_function(function)?.mentions(name)? {
                let what = catalog.describe(function.id, &self.names.search_path);
                let detail = format!("{what} depends on column \"{name}\"");
                return refused("a function or procedure", detail);
            }
        }
        for other in &table.columns {
            if let Some(text) = &other.generated
                && expression_names(text)?.contains(name)
            {
                let detail =
                    format!("Column \"{name}\" is used by generated column \"{}\".", other.name);
                return refused("a generated column", detail);
            }
        }
        if table.columns[column].generated.is_some() {
            return Err(SqlError::unsupported("another type for a generated column")
                .hint("Drop the column, and add it anew."));
        }
        if table.columns[column].identity.is_some() {
            return Err(SqlError::unsupported("another type for an identity column")
                .hint("Drop the identity first, and add it anew."));
        }
        Ok(())
    }

    /// Rows are found by what is stored.
    fn check_unindexed(&self, table: &Object, column: usize) -> SqlResult<()> {
        let name = &table.columns[column].name;
        if let ObjectKind::Table(kind) = &table.kind
            && kind.primary_key.contains(&column)
        {
            let what = format!("another type for column \"{name}\" of the primary key");
            return Err(SqlError::unsupported(what)
                .hint("The rows are stored by it: make another table, and copy them."));
        }
        let check = table.checks().iter().find(|check| check.columns.contains(&column));
        let key = table.foreign_keys().iter().find(|key| key.columns.contains(&column));
        if let Some(constraint) = check.map(|one| &one.name).or(key.map(|one| &one.name)) {
            let what = format!("another type for column \"{name}\", which a constraint is of");
            return Err(SqlError::unsupported(what)
                .hint(format!("Drop constraint \"{constraint}\" first, and add it anew.")));
        }
        let has = |object: &&Arc<Object>| {
            object.index().is_some_and(|index| {
                let keys = index.keys.iter().map(|key| key.column);
                keys.chain(index.included.iter().copied()).any(|own| own == column)
            })
        };
        match self.edit.catalog.indexes(table.id).find(has) {
            None => Ok(()),
            Some(index) => {
                let index = &index.name.name;
                let what = format!("another type for column \"{name}\", which an index has");
                Err(SqlError::unsupported(what)
                    .hint(format!("Drop index \"{index}\" first, and create it anew.")))
            }
        }
    }
}

/// Whether every value of a column of `old` is one of `new` as it lies.
fn holds(new: &SqlType, old: &SqlType) -> bool {
    match (new, old) {
        (SqlType::Text | SqlType::Varchar(None), SqlType::Text | SqlType::Varchar(_)) => true,
        (SqlType::Varchar(Some(new)), SqlType::Varchar(Some(old))) => new >= old,
        _ => new == old,
    }
}
