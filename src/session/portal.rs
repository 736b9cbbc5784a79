//! Portals: a statement with its parameters, ready to run, running, or run. SQL's cursors are
//! portals too.

use bytes::Bytes;
use datafusion::common::ScalarValue;
use std::sync::Arc;

use super::outcome::{Description, Executed, Format, Outcome, Rows, Tag};
use super::prepared::Prepared;
use super::scroll::Scroll;
use super::session::Session;
use crate::catalog::pg;
use crate::clock;
use crate::error::{SqlError, SqlResult, SqlState, code};

/// `protocol_violation`'s neighbour for portals that cannot run again.
const NOT_IN_STATE: SqlState = code::OBJECT_NOT_IN_PREREQUISITE_STATE;

/// A Bind message.
#[derive(Debug)]
pub struct Binding {
    /// Empty: the unnamed portal.
    pub portal: String,
    /// Empty: the unnamed statement.
    pub statement: String,
    /// None: all text; one: for all; else one a parameter.
    pub parameter_formats: Vec<Format>,
    pub parameters: Vec<Option<Bytes>>,
    /// As for the parameters.
    pub result_formats: Vec<Format>,
}

/// A bound statement.
#[derive(Debug)]
pub(super) struct Portal {
    pub(super) source: Source,
    pub(super) state: State,
    /// How long it lasts.
    pub(super) lasts: Lasts,
    /// How many savepoints there were before it: it goes with a ROLLBACK to one of those.
    pub(super) depth: usize,
    /// What its rows look like; `None`: it gives none.
    pub(super) description: Option<Arc<Description>>,
    /// One a column.
    pub(super) formats: Vec<Format>,
    /// As `pg_cursors` shows it.
    pub(super) shown: Arc<pg::Cursor>,
}

/// How long a portal lasts, if nobody closes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lasts {
    /// To the end of its transaction.
    Transaction,
    /// WITH HOLD: as long as the session, if its transaction commits.
    UntilCommitted,
    Session,
}

/// Where a portal comes from.
#[derive(Debug)]
pub(super) enum Source {
    Bound {
        prepared: Arc<Prepared>,
        parameters: Vec<ScalarValue>,
    },
    /// DECLARE.
    Cursor,
}

/// How far a portal has come.
#[derive(Debug)]
pub(super) enum State {
    Ready,
    /// Its rows are live, and wait for the next Execute or FETCH.
    Suspended(Box<Rows>),
    /// A cursor that keeps its rows.
    Scrolling(Box<Scroll>),
    /// A cursor whose rows a FETCH has.
    Fetched,
    Done,
}

impl Session {
    /// Binds parameters to a prepared statement.
    pub async fn bind(&mut self, binding: Binding) -> SqlResult<()> {
        let prepared = Arc::clone(self.prepared(&binding.statement)?);
        if let Some(statement) = &prepared.statement {
            self.check_may_run(&statement.kind)?;
        }
        if !binding.portal.is_empty() && self.portals.contains_key(&binding.portal) {
            let message = format!("cursor \"{}\" already exists", binding.portal);
            return Err(SqlError::new(code::DUPLICATE_CURSOR, message));
        }
        let prepared = self.refreshed(prepared).await?;
        let parameters = self.decode_parameters(&prepared, &binding)?;
        let description = prepared.description.clone();
        let columns = description.as_ref().map_or(0, |description| description.len());
        let formats = spread(&binding.result_formats, columns).ok_or_else(|| {
            SqlError::new(
                code::PROTOCOL_VIOLATION,
                format!(
                    "bind message has {} result formats but query has {columns} columns",
                    binding.result_formats.len()
                ),
            )
        })?;
        let shown = pg::Cursor {
            name: binding.portal.clone(),
            statement: prepared.text().to_owned(),
            is_holdable: false,
            is_binary: formats.first() == Some(&Format::Binary),
            is_scrollable: false,
            created: clock::wall(),
        };
        let portal = Portal {
            source: Source::Bound { prepared, parameters },
            state: State::Ready,
            lasts: Lasts::Transaction,
            depth: self.block.savepoints.len(),
            description,
            formats,
            shown: Arc::new(shown),
        };
        self.portals.insert(binding.portal, portal);
        Ok(())
    }

    fn portal(&mut self, name: &str) -> SqlResult<&mut Portal> {
        self.portals.get_mut(name).ok_or_else(|| no_portal(name))
    }

    /// The columns that a portal gives, and how; `None`: it gives no rows.
    pub fn describe_portal(
        &mut self,
        name: &str,
    ) -> SqlResult<Option<(Arc<Description>, Vec<Format>)>> {
        let portal = self.portal(name)?;
        Ok(portal.description.clone().map(|description| (description, portal.formats.clone())))
    }

    /// Starts a portal, or takes up its rows where the last Execute left them.
    pub async fn execute(&mut self, name: &str) -> SqlResult<Executed> {
        let portal = self.portal(name)?;
        let description = portal.description.clone();
        let formats = portal.formats.clone();
        // Rows that are given out are over unless they are brought back.
        match std::mem::replace(&mut portal.state, State::Done) {
            State::Suspended(rows) => {
                // A query's rows may have been fetched from, too.
                let is_query = match &portal.source {
                    Source::Bound { prepared, .. } => prepared.is_query(),
                    Source::Cursor => true,
                };
                let rows = match is_query {
                    true => Box::new(rows.counted_as("SELECT")),
                    false => rows,
                };
                return Ok(Executed::Outcome(Outcome::Rows(rows)));
            }
            State::Ready => {}
            State::Scrolling(scroll) => {
                portal.state = State::Scrolling(scroll);
                return Err(SqlError::unsupported("Execute of a cursor that was declared by SQL")
                    .hint("Use FETCH."));
            }
            State::Done | State::Fetched => return finished(name, description),
        }
        let Source::Bound { prepared, parameters } = &portal.source else {
            return finished(name, description);
        };
        let (prepared, parameters) = (Arc::clone(prepared), parameters.clone());
        let Some(statement) = &prepared.statement else {
            return Ok(Executed::Empty);
        };
        // Several messages before one Sync are one transaction.
        self.begin_implicit();
        let outcome = self.run_prepared(&prepared, statement, parameters).await?;
        Ok(Executed::Outcome(match outcome {
            Outcome::Rows(rows) => Outcome::Rows(Box::new(rows.with_formats(formats))),
            other => other,
        }))
    }

    /// An Execute stopped at its limit: the rest waits for the next.
    pub fn suspend(&mut self, name: &str, rows: Rows) {
        if let Some(portal) = self.portals.get_mut(name) {
            portal.state = State::Suspended(Box::new(rows));
        }
    }

    /// All rows that were asked for are sent. What a FETCH has left goes back to its cursor; what
    /// functions asked of the session is done.
    pub async fn finished(&mut self, mut rows: Rows) -> SqlResult<()> {
        let asked = rows.effects.as_ref().map(|effects| std::mem::take(&mut *effects.lock()));
        if let Some(fetch) = rows.cursor.take() {
            self.suspend(&fetch.cursor, rows);
        }
        self.apply(asked.unwrap_or_default()).await
    }

    /// Closing what is not there is no error, as the protocol says.
    pub fn close_portal(&mut self, name: &str) {
        self.portals.remove(name);
    }

    /// The transaction is over: only cursors WITH HOLD stay, and of those that it declared none if
    /// it failed.
    pub(super) fn close_portals_of_transaction(&mut self, committed: bool) {
        self.portals.retain(|_, portal| match portal.lasts {
            Lasts::Transaction => false,
            Lasts::UntilCommitted => {
                (portal.lasts, portal.depth) = (Lasts::Session, 0);
                committed
            }
            Lasts::Session => true,
        });
    }
}

/// A portal that has given all: a query gives no more rows, anything else cannot run twice.
fn finished(name: &str, description: Option<Arc<Description>>) -> SqlResult<Executed> {
    match description {
        Some(description) => {
            let none = Rows::of_batches(description, Tag::Counted("SELECT"), Vec::new());
            Ok(Executed::Outcome(Outcome::Rows(Box::new(none))))
        }
        None => Err(SqlError::new(NOT_IN_STATE, format!("portal \"{name}\" cannot be run"))),
    }
}

pub(super) fn no_portal(name: &str) -> SqlError {
    let message = match name {
        "" => "unnamed portal does not exist".to_owned(),
        name => format!("portal \"{name}\" does not exist"),
    };
    SqlError::new(code::INVALID_CURSOR_NAME, message)
}

/// One format for each of `count`: none given is text, one is for all.
pub(super) fn spread(formats: &[Format], count: usize) -> Option<Vec<Format>> {
    match formats {
        [] => Some(vec![Format::Text; count]),
        [one] => Some(vec![*one; count]),
        each if each.len() == count => Some(each.to_vec()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_for_all_or_for_each() {
        let (text, binary) = (Format::Text, Format::Binary);
        assert_eq!(spread(&[], 2), Some(vec![text, text]));
        assert_eq!(spread(&[binary], 2), Some(vec![binary, binary]));
        assert_eq!(spread(&[text, binary], 2), Some(vec![text, binary]));
        assert_eq!(spread(&[text, binary], 3), None);
    }
}
