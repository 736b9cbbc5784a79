//! Prepared statements and cursors by SQL, and DISCARD.

use std::time::Duration;

use sqlparser::tokenizer::Token;

use super::super::statement::{
    Declare, DeclaredRows, Direction, Discard, Execute, Fetch, StatementKind,
};
use super::front::Front;
use super::{options, subscribe};
use crate::error::{SqlError, SqlResult, code};
use crate::types::duration;

/// `EXECUTE name [(expression, ...)]`.
pub(super) fn execute(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["execute"])?;
    let name = front.identifier()?.name;
    let mut arguments = Vec::new();
    if front.eat_token(&Token::LParen) {
        arguments = front.list(Front::expression)?;
        front.expect_token(&Token::RParen)?;
    }
    Ok(StatementKind::Execute(Execute { name, arguments }))
}

/// `DEALLOCATE [PREPARE] { name | ALL }`.
pub(super) fn deallocate(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["deallocate"])?;
    if !matches!(front.peek(1), Token::EOF) {
        front.eat(&["prepare"]);
    }
    if front.eat(&["all"]) {
        return Ok(StatementKind::Deallocate(None));
    }
    Ok(StatementKind::Deallocate(Some(front.identifier()?.name)))
}

/// `DECLARE name [BINARY] [ASENSITIVE | INSENSITIVE] [[NO] SCROLL] CURSOR
/// [{WITH | WITHOUT} HOLD] FOR { query | SUBSCRIBE ... }`, or `DECLARE name SUBSCRIPTION CURSOR FOR
/// subscription ...`.
pub(super) fn declare(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["declare"])?;
    let name = front.identifier()?.name;
    let mut binary = false;
    let mut scroll = None;
    if front.eat(&["subscription", "cursor", "for"]) {
        // RisingWave's: lives as long as the session, in a transaction or not.
        let rows = DeclaredRows::Subscription(subscribe::subscription_cursor(front)?);
        let declare = Declare { name, binary, scroll, hold: true, rows };
        return Ok(StatementKind::Declare(Box::new(declare)));
    }
    while !front.eat(&["cursor"]) {
        if front.eat(&["binary"]) {
            binary = true;
        } else if front.eat(&["scroll"]) {
            scroll = Some(true);
        } else if front.eat(&["no", "scroll"]) {
            scroll = Some(false);
        } else if !(front.eat(&["insensitive"]) || front.eat(&["asensitive"])) {
            // A cursor over a snapshot is always insensitive.
            return Err(front.syntax_error());
        }
    }
    let hold = front.eat(&["with", "hold"]);
    front.eat(&["without", "hold"]);
    front.expect(&["for"])?;
    let rows = match front.is(0, "subscribe") {
        true => DeclaredRows::Subscribe(subscribe::subscribe(front)?),
        false => DeclaredRows::Query(front.query()?),
    };
    Ok(StatementKind::Declare(Box::new(Declare { name, binary, scroll, hold, rows })))
}

/// `FETCH [direction] [FROM | IN] cursor [WITH (timeout = ...)]`, and MOVE.
pub(super) fn fetch(front: &mut Front<'_>) -> SqlResult<Fetch> {
    front.advance();
    let direction = direction(front)?;
    let _ = front.eat(&["from"]) || front.eat(&["in"]);
    let cursor = front.identifier()?.name;
    let timeout = if front.eat(&["with"]) { timeout(front)? } else { None };
    Ok(Fetch { cursor, direction, timeout })
}

/// `(timeout = interval)`.
fn timeout(front: &mut Front<'_>) -> SqlResult<Option<Duration>> {
    let mut timeout = None;
    for (option, value) in options::parenthesized(front)? {
        if option != "timeout" {
            return Err(options::unrecognized(&option));
        }
        timeout = duration(&value)?;
        if timeout.is_none() {
            let message = format!("invalid value for parameter \"timeout\": \"{value}\"");
            return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message)
                .hint("It is a length of time, such as '1s' or '500 ms'; '0s' does not wait."));
        }
    }
    Ok(timeout)
}

fn direction(front: &mut Front<'_>) -> SqlResult<Direction> {
    // A cursor may be named like a direction: the last word is always the cursor.
    if *front.peek(1) == Token::EOF || front.is(1, "with") {
        return Ok(Direction::Forward(1));
    }
    if front.eat(&["next"]) {
        return Ok(Direction::Forward(1));
    }
    if front.eat(&["prior"]) {
        return Ok(Direction::Forward(-1));
    }
    if front.eat(&["first"]) {
        return Ok(Direction::First);
    }
    if front.eat(&["last"]) {
        return Ok(Direction::Last);
    }
    if front.eat(&["all"]) {
        return Ok(Direction::ForwardAll);
    }
    if front.eat(&["absolute"]) {
        return Ok(Direction::Absolute(front.integer()?));
    }
    if front.eat(&["relative"]) {
        return Ok(Direction::Relative(front.integer()?));
    }
    if front.eat(&["forward"]) {
        if front.eat(&["all"]) {
            return Ok(Direction::ForwardAll);
        }
        let count = if front.is_number() { front.integer()? } else { 1 };
        return Ok(Direction::Forward(count));
    }
    if front.eat(&["backward"]) {
        if front.eat(&["all"]) {
            return Ok(Direction::BackwardAll);
        }
        let count = if front.is_number() { front.integer()? } else { 1 };
        return Ok(Direction::Forward(count.saturating_neg()));
    }
    if front.is_number() {
        return Ok(Direction::Forward(front.integer()?));
    }
    Ok(Direction::Forward(1))
}

/// `CLOSE { name | ALL }`.
pub(super) fn close(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["close"])?;
    if front.eat(&["all"]) {
        return Ok(StatementKind::Close(None));
    }
    Ok(StatementKind::Close(Some(front.identifier()?.name)))
}

/// `DISCARD { ALL | PLANS | SEQUENCES | TEMP | TEMPORARY }`.
pub(super) fn discard(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["discard"])?;
    let what = if front.eat(&["all"]) {
        Discard::All
    } else if front.eat(&["plans"]) {
        Discard::Plans
    } else if front.eat(&["sequences"]) {
        Discard::Sequences
    } else if front.eat(&["temp"]) || front.eat(&["temporary"]) {
        Discard::Temporary
    } else {
        return Err(front.syntax_error());
    };
    Ok(StatementKind::Discard(what))
}
