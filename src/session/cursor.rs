//! SQL's cursors: DECLARE, FETCH, MOVE, CLOSE, over the same portals as the wire's.
//!
//! A cursor's query runs as it is fetched from. One without SCROLL goes forwards only, and keeps
//! nothing; for one with it see `scroll`.

use std::sync::Arc;

use super::outcome::{Fetch as Fetching, Format, Outcome, Rows, Tag};
use super::parameter::Parameters;
use super::portal::{Lasts, Portal, Source, State, no_portal};
use super::scroll::Scroll;
use super::session::Session;
use crate::catalog::pg;
use crate::clock;
use crate::error::{SqlError, SqlResult, code};
use crate::planner::statement::{Declare, DeclaredRows, Direction, Fetch};

/// How far a FETCH or MOVE goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Steps {
    /// Rows to pass over first.
    skip: u64,
    /// Rows to take; `None`: all.
    take: Option<u64>,
}

impl Session {
    pub(super) async fn declare(
        &mut self,
        declare: &Declare,
        text: &str,
        parameters: &Parameters,
    ) -> SqlResult<Outcome> {
        if !declare.hold && !self.block.is_explicit() {
            self.check_in_block("DECLARE CURSOR")?;
        }
        if self.portals.contains_key(&declare.name) {
            let message = format!("cursor \"{}\" already exists", declare.name);
            return Err(SqlError::new(code::DUPLICATE_CURSOR, message));
        }
        let rows = match &declare.rows {
            DeclaredRows::Query(query) => self.select(query, parameters).await?,
            DeclaredRows::Subscribe(subscribe) => self.subscribe(subscribe).await?,
            DeclaredRows::Subscription(cursor) => self.subscription_rows(cursor).await?,
        };
        if rows.is_endless() && declare.scroll == Some(true) {
            return Err(SqlError::unsupported("DECLARE SCROLL CURSOR over rows without an end")
                .hint(
                    "Cursors over SUBSCRIBE and subscriptions go forwards only: leave out SCROLL.",
                ));
        }
        let rows = rows.with_tag(Tag::Counted("FETCH"));
        let shown = pg::Cursor {
            name: declare.name.clone(),
            statement: text.to_owned(),
            is_holdable: declare.hold,
            is_binary: declare.binary,
            is_scrollable: declare.scroll == Some(true),
            created: clock::wall(),
        };
        let format = if declare.binary { Format::Binary } else { Format::Text };
        let formats = vec![format; rows.description().len()];
        let portal = Portal {
            source: Source::Cursor,
            lasts: if declare.hold { Lasts::UntilCommitted } else { Lasts::Transaction },
            depth: self.block.savepoints.len(),
            description: Some(Arc::clone(rows.description())),
            formats: formats.clone(),
            state: match declare.scroll {
                Some(true) => State::Scrolling(Box::new(Scroll::new(rows.with_formats(formats)))),
                _ => State::Suspended(Box::new(rows.with_formats(formats))),
            },
            shown: Arc::new(shown),
        };
        self.portals.insert(declare.name.clone(), portal);
        Ok(Outcome::Command("DECLARE CURSOR".to_owned()))
    }

    pub(super) async fn fetch(&mut self, fetch: &Fetch) -> SqlResult<Outcome> {
        if self.is_scrolling(&fetch.cursor) {
            return self.scroll(fetch).await;
        }
        let steps = steps(fetch.direction)?;
        let mut rows = self.take_cursor(fetch).await?;
        let skipped = self.skip(&mut rows, Some(steps.skip)).await;
        if let Err(error) = skipped {
            self.close_portal(&fetch.cursor);
            return Err(error);
        }
        if let Some(fetching) = &mut rows.cursor {
            fetching.rows_left = steps.take;
        }
        Ok(Outcome::Rows(rows))
    }

    pub(super) async fn move_cursor(&mut self, fetch: &Fetch) -> SqlResult<Outcome> {
        if self.is_scrolling(&fetch.cursor) {
            return self.scroll_past(fetch).await;
        }
        let steps = steps(fetch.direction)?;
        let total = steps.take.and_then(|take| steps.skip.checked_add(take));
        let mut rows = self.take_cursor(fetch).await?;
        let moved = self.skip(&mut rows, total).await;
        rows.cursor = None;
        self.suspend(&fetch.cursor, *rows);
        let moved = moved?;
        // Where a row is aimed at, the tag counts that row only.
        let counted = if steps.take.is_some() { moved.saturating_sub(steps.skip) } else { moved };
        Ok(Outcome::Command(format!("MOVE {counted}")))
    }

    /// CLOSE; `None` is ALL.
    pub(super) fn close_cursor(&mut self, name: Option<&str>) -> SqlResult<Outcome> {
        let Some(name) = name else {
            self.portals.retain(|_, portal| matches!(portal.state, State::Fetched));
            return Ok(Outcome::Command("CLOSE CURSOR ALL".to_owned()));
        };
        self.portals.remove(name).ok_or_else(|| no_cursor(name))?;
        Ok(Outcome::Command("CLOSE CURSOR".to_owned()))
    }

    /// A cursor's live rows, until [`Session::finished`] or [`Session::suspend`] brings them back.
    /// A portal that the wire has bound and not run is started.
    async fn take_cursor(&mut self, fetch: &Fetch) -> SqlResult<Box<Rows>> {
        let name = fetch.cursor.as_str();
        let mut rows = self.take_rows(name).await?;
        if fetch.timeout.is_some() && !rows.is_endless() {
            let message = format!("cursor \"{name}\" does not wait for rows");
            self.suspend(name, *rows);
            return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message).hint(
                "FETCH takes WITH (timeout = ...) where the cursor is over SUBSCRIBE or a \
                     subscription.",
            ));
        }
        let (cursor, patience) = (name.to_owned(), rows.patience(fetch.timeout));
        rows.cursor = Some(Fetching { cursor, rows_left: None, patience });
        Ok(rows)
    }

    async fn take_rows(&mut self, name: &str) -> SqlResult<Box<Rows>> {
        let portal = self.portals.get_mut(name).ok_or_else(|| no_cursor(name))?;
        let formats = portal.formats.clone();
        match (std::mem::replace(&mut portal.state, State::Fetched), &portal.source) {
            (State::Suspended(rows), _) => Ok(Box::new(rows.counted_as("FETCH"))),
            (State::Ready, Source::Bound { prepared, parameters })
                if portal.description.is_some() =>
            {
                let (prepared, parameters) = (Arc::clone(prepared), parameters.clone());
                let rows = Box::pin(self.select_prepared(&prepared, parameters)).await?;
                Ok(Box::new(rows.with_formats(formats).counted_as("FETCH")))
            }
            (other, _) => {
                portal.state = other;
                let message = format!("cursor \"{name}\" cannot be fetched from now");
                Err(SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, message))
            }
        }
    }

    /// Passes over rows; how many there were.
    async fn skip(&self, rows: &mut Rows, rows_max: Option<u64>) -> SqlResult<u64> {
        let mut skipped = 0;
        loop {
            let left = rows_max.map(|rows_max| rows_max - skipped);
            if left == Some(0) {
                return Ok(skipped);
            }
            match self.interrupts.race(rows.next(left)).await? {
                Some(batch) => skipped += batch.num_rows() as u64,
                None => return Ok(skipped),
            }
        }
    }

    /// What a FETCH would give: as its cursor does.
    pub(super) fn describe_fetch(&self, fetch: &Fetch) -> SqlResult<Option<super::Description>> {
        let portal = self.portals.get(&fetch.cursor).ok_or_else(|| no_cursor(&fetch.cursor))?;
        Ok(portal.description.as_deref().cloned())
    }
}

pub(super) fn no_cursor(name: &str) -> SqlError {
    let mut error = no_portal(name);
    error.message = format!("cursor \"{name}\" does not exist");
    error
}

fn steps(direction: Direction) -> SqlResult<Steps> {
    let forward = |rows: i64| u64::try_from(rows).ok();
    match direction {
        Direction::ForwardAll => return Ok(Steps { skip: 0, take: None }),
        Direction::Forward(rows) => {
            if let Some(take) = forward(rows).filter(|rows| *rows > 0) {
                return Ok(Steps { skip: 0, take: Some(take) });
            }
        }
        Direction::Relative(rows) => {
            if let Some(rows) = forward(rows).filter(|rows| *rows > 0) {
                return Ok(Steps { skip: rows - 1, take: Some(1) });
            }
        }
        Direction::BackwardAll | Direction::First | Direction::Last | Direction::Absolute(_) => {}
    }
    Err(SqlError::new(code::OBJECT_NOT_IN_PREREQUISITE_STATE, "cursor can only scan forward")
        .hint("Declare it with SCROLL option to enable backward scan."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_go_forward_only() {
        assert_eq!(steps(Direction::Forward(3)), Ok(Steps { skip: 0, take: Some(3) }));
        assert_eq!(steps(Direction::Relative(3)), Ok(Steps { skip: 2, take: Some(1) }));
        assert_eq!(steps(Direction::ForwardAll), Ok(Steps { skip: 0, take: None }));
        for direction in [Direction::Forward(0), Direction::Forward(-1), Direction::First] {
            let error = steps(direction).unwrap_err();
            assert_eq!(error.code, code::OBJECT_NOT_IN_PREREQUISITE_STATE);
        }
    }
}
