//! Prepared statements and cursors by SQL, and DISCARD.

use sqlparser::tokenizer::Token;

use super::super::statement::{Declare, Direction, Discard, Execute, Fetch, StatementKind};
use super::front::Front;
use crate::error::{SqlError, SqlResult};

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
/// [{WITH | WITHOUT} HOLD] FOR query`.
pub(super) fn declare(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    front.expect(&["declare"])?;
    let name = front.identifier()?.name;
    let mut binary = false;
    let mut scroll = None;
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
    if front.is(0, "subscribe") {
        return Err(SqlError::unsupported("DECLARE ... CURSOR FOR SUBSCRIBE"));
    }
    let query = front.query()?;
    Ok(StatementKind::Declare(Box::new(Declare { name, binary, scroll, hold, query })))
}

/// `FETCH [direction] [FROM | IN] cursor`, and MOVE.
pub(super) fn fetch(front: &mut Front<'_>) -> SqlResult<Fetch> {
    front.advance();
    let direction = direction(front)?;
    let _ = front.eat(&["from"]) || front.eat(&["in"]);
    let cursor = front.identifier()?.name;
    Ok(Fetch { cursor, direction })
}

fn direction(front: &mut Front<'_>) -> SqlResult<Direction> {
    // A cursor may be named like a direction: the last word is always the cursor.
    if *front.peek(1) == Token::EOF {
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
