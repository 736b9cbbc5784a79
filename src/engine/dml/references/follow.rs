//! Rows that follow when what they refer to goes or becomes another: CASCADE, SET NULL, SET
//! DEFAULT.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, new_null_array};
use arrow::datatypes::Int64Type;

use super::link::{Found, Link, Refers};
use super::{Event, Gone, Settling, gather};
use crate::catalog::constraint::Action;
use crate::engine::dml::changes::Changes;
use crate::engine::dml::environment::blocking;
use crate::engine::dml::inserter::{ValueSource, default_values};
use crate::engine::dml::replace::{Replacement, replace};
use crate::error::{SqlError, SqlResult};

/// What is to be done to rows that refer to keys.
#[derive(Debug)]
pub(super) struct Follow {
    pub(super) link: Arc<Link>,
    pub(super) action: Action,
    pub(super) event: Event,
    pub(super) gone: Gone,
}

impl Settling<'_> {
    pub(super) async fn follow(&mut self, follow: Follow) -> SqlResult<()> {
        let child = Arc::clone(&follow.link.child);
        let sight = self.transaction.sight(self.context, &child)?;
        let wanted = follow.gone.wanted(&follow.link, |_| true)?;
        let link = Arc::clone(&follow.link);
        let found = blocking(move || link.find(&sight, &wanted, false)).await?;
        if found.keys.is_empty() {
            return Ok(());
        }
        let bytes = found.rows.iter().map(RecordBatch::get_array_memory_size).sum::<usize>();
        self.transaction.check_size(2 * bytes, &self.context.limits)?;
        let changes = match (follow.event, follow.action) {
            (Event::Delete, Action::Cascade) => taken_away(found),
            _ => self.rewritten(&follow, found).await?,
        };
        self.transaction.check_size(changes.bytes(), &self.context.limits)?;
        self.apply(&child, changes).await
    }

    /// Rows with other values in the columns of the foreign key.
    async fn rewritten(&self, follow: &Follow, found: Found) -> SqlResult<Changes> {
        let link = &follow.link;
        let rows = self.transaction.sight(self.context, &link.child)?.rows();
        let target = self.environment.target_of(&link.child, rows)?;
        let values = match follow.action {
            Action::SetDefault => {
                Values::Default(self.environment.defaults_of(&link.child, &link.key.columns)?)
            }
            Action::SetNull => Values::Null,
            _ => Values::Of(Renewed::of(link, &follow.gone)?),
        };
        let mut replacements = Vec::with_capacity(found.rows.len());
        for old in found.rows {
            let mut columns: Vec<ArrayRef> = target.visible(&old)?.columns().to_vec();
            for (column, new) in self.new_values(link, &values, &old)? {
                columns[column] = new;
            }
            let ids = target.object.row_id_place();
            let ids = ids.map(|place| old.column(place).as_primitive::<Int64Type>().clone());
            let new = target.stored_rows(columns, ids)?;
            replacements.push(Replacement { old, new });
        }
        blocking(move || {
            let mut changes = Changes::default();
            replace(&target, &mut changes, replacements)?;
            Ok(changes)
        })
        .await
    }

    fn new_values(
        &self,
        link: &Link,
        values: &Values,
        old: &RecordBatch,
    ) -> SqlResult<Vec<(usize, ArrayRef)>> {
        let rows = old.num_rows();
        match values {
            Values::Null => {
                let nulls = link.key.columns.iter().map(|column| {
                    let place = link.child.place(*column);
                    (*column, new_null_array(old.column(place).data_type(), rows))
                });
                Ok(nulls.collect())
            }
            Values::Default(sources) => {
                let columns = link.key.columns.iter().zip(sources);
                let defaults = columns.map(|(column, source)| {
                    let of = &link.child.columns[*column];
                    let assigning = &self.environment.assigning;
                    Ok((*column, default_values(of, source, rows, assigning)?))
                });
                defaults.collect()
            }
            Values::Of(renewed) => renewed.values(link, old),
        }
    }
}

/// What the columns of a foreign key get.
enum Values {
    Null,
    /// A source for each column.
    Default(Vec<ValueSource>),
    Of(Renewed),
}

/// For keys that became others: the others.
struct Renewed {
    places: HashMap<Vec<u8>, (usize, usize)>,
    /// By the batches of the places: the columns of the key.
    new: Vec<Vec<ArrayRef>>,
}

impl Renewed {
    fn of(link: &Link, gone: &Gone) -> SqlResult<Self> {
        Ok(Self {
            places: gone.places.iter().cloned().collect(),
            new: gone.new.iter().map(|rows| link.values_of(rows)).collect(),
        })
    }

    /// The values of the columns of rows that refer to keys that became others.
    fn values(&self, link: &Link, rows: &RecordBatch) -> SqlResult<Vec<(usize, ArrayRef)>> {
        let place = |refers: Refers| match refers {
            Refers::Key(key) => self.places.get(&key).copied(),
            _ => None,
        };
        let at: Option<Vec<(usize, usize)>> = link.refers(rows)?.into_iter().map(place).collect();
        let at = at.ok_or_else(|| SqlError::internal("a row that refers to something else"))?;
        link.referring(&gather(&self.new, &at)?)
    }
}

fn taken_away(found: Found) -> Changes {
    let mut changes = Changes::default();
    for key in &found.keys {
        changes.delete(key);
    }
    for rows in found.rows {
        changes.went(rows);
    }
    changes
}
