//! What of the catalog changes when a table's columns do.
//!
//! Columns are known by their index among the table's, in the table, its indexes, the sequences
//! that belong to its columns, the sinks that fill them and the constraints that are of them: these
//! follow when one goes away.

use std::sync::Arc;

use super::catalog::Catalog;
use super::durable;
use super::edit::Edited;
use super::object::{Object, ObjectKind};
use super::stored::Shape;
use crate::error::{SqlError, SqlResult};
use crate::types::ObjectId;

impl Catalog {
    /// With a table as it is now, and the statement that would make it so.
    pub fn with_altered(&self, mut table: Object) -> SqlResult<Edited> {
        table.definition = self.statement(&table);
        self.with_changed(table)
    }

    /// Without a column of a table. What needs it must have gone before, or go with this.
    pub fn without_column(&self, table: ObjectId, column: usize) -> SqlResult<Edited> {
        let old = self.object(table).filter(|table| column < table.columns.len());
        let old = old.ok_or_else(|| SqlError::internal(format!("no column {column}")))?;
        let mut shape = Shape::of(old);
        shape.drop_column(column);
        let mut altered = Object::clone(old);
        altered.columns.remove(column);
        if let ObjectKind::Table(kind) = &mut altered.kind {
            kind.shape = Some(Box::new(shape));
            kind.primary_key.iter_mut().for_each(|own| follow(own, column));
            kind.constraints.without_column(column);
        }
        let (mut next, mut changes) = self.with_altered(altered)?;
        let objects: Vec<Arc<Object>> = next.objects().map(Arc::clone).collect();
        for old in &objects {
            let mut object = Object::clone(old);
            match &mut object.kind {
                ObjectKind::Table(kind) => kind.constraints.without_referenced(table, column),
                ObjectKind::Index(index) if index.on == table => {
                    index.keys.iter_mut().for_each(|key| follow(&mut key.column, column));
                    index.included.iter_mut().for_each(|own| follow(own, column));
                }
                ObjectKind::Sequence(sequence) => {
                    let owner = sequence.owned_by.as_mut().filter(|owner| owner.table == table);
                    owner.into_iter().for_each(|owner| follow(&mut owner.column, column));
                }
                ObjectKind::Sink(sink) if sink.into == table => {
                    sink.columns.iter_mut().for_each(|own| follow(own, column));
                }
                _ => {}
            }
            if object != **old {
                changes.push(durable::put_object(&object)?);
                Arc::make_mut(&mut next.objects).insert(object.id, Arc::new(object));
            }
        }
        Ok((next, changes))
    }

    /// That gives none of the OIDs that `other` has given, also after a restart.
    pub fn with_oids_of(&self, other: &Catalog) -> SqlResult<Edited> {
        let mut next = self.clone();
        let mut changes = Vec::new();
        let last = other.next_oid.saturating_sub(1);
        next.move_past(vec![ObjectId(last)], &mut changes)?;
        Ok((next, changes))
    }

    /// The same catalog but for an object that is newer than it, whatever that is called.
    pub fn with_newer(&self, object: &Arc<Object>) -> Self {
        let mut next = self.clone();
        Arc::make_mut(&mut next.objects).insert(object.id, Arc::clone(object));
        next
    }
}

/// The index of a column when that of index `gone` is there no more.
pub(super) fn follow(column: &mut usize, gone: usize) {
    if *column > gone {
        *column -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::object::QualifiedName;
    use super::super::testing::catalog_of;
    use super::*;

    #[test]
    fn a_column_that_goes_leaves_its_number_and_its_place() {
        let catalog = catalog_of(&[("t", &[])]);
        let t = catalog.object_named(&QualifiedName::new("public", "t")).expect("made").id;
        let mut table = Object::clone(catalog.object(t).expect("made"));
        let mut shape = Shape::of(&table);
        let place = shape.add_place(&table.columns[1].sql_type).expect("few");
        shape.add_column(place).expect("few");
        table.columns.push(table.columns[1].clone());
        table.columns[2].name = "other".to_owned();
        if let ObjectKind::Table(kind) = &mut table.kind {
            kind.shape = Some(Box::new(shape));
        }
        let (catalog, _) = catalog.with_altered(table).expect("there");
        let (catalog, _) = catalog.without_column(t, 1).expect("there");
        let table = catalog.object(t).expect("there");
        assert_eq!(table.places(), [0, 2]);
        assert_eq!((table.number(0), table.number(1)), (1, 3));
        assert_eq!(table.key(), [0]);
        let stored = table.stored_schema();
        let names: Vec<&str> = stored.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names, ["id", "........pg.dropped.2........", "other"]);
    }
}
