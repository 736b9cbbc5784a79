//! SUBSCRIBE, and CREATE SUBSCRIPTION with its cursors.

use sqlparser::tokenizer::Token;

use super::super::statement::{
    CreateSubscription, Since, StatementKind, Subscribe, SubscriptionCursor,
};
use super::front::Front;
use super::options;
use crate::error::{SqlError, SqlResult, code};
use crate::types::duration;

/// `SUBSCRIBE [TO] relation [WITH (SNAPSHOT [[=] flag], PROGRESS [[=] flag])] [AS OF epoch]`; the
/// last two in either order.
pub(super) fn subscribe(front: &mut Front<'_>) -> SqlResult<Subscribe> {
    front.expect(&["subscribe"])?;
    front.eat(&["to"]);
    if *front.peek(0) == Token::LParen {
        return Err(SqlError::unsupported("SUBSCRIBE to a query")
            .hint("Make it a materialized view, and subscribe to that.")
            .position(front.position()));
    }
    let mut subscribe =
        Subscribe { relation: front.name()?, snapshot: true, progress: false, as_of: None };
    let (mut with, mut as_of) = (false, false);
    loop {
        if !with && front.eat(&["with"]) {
            with = true;
            front.expect_token(&Token::LParen)?;
            front.list(|front| option(front, &mut subscribe))?;
            front.expect_token(&Token::RParen)?;
        } else if !as_of && front.eat(&["as", "of"]) {
            as_of = true;
            subscribe.as_of = Some(epoch(front)?);
        } else {
            return Ok(subscribe);
        }
    }
}

fn option(front: &mut Front<'_>, subscribe: &mut Subscribe) -> SqlResult<()> {
    let name = front.word()?;
    front.eat_token(&Token::Eq);
    let value = match front.peek(0) {
        Token::Comma | Token::RParen => "true".to_owned(),
        Token::SingleQuotedString(_) => front.string()?,
        Token::Number(..) => front.number()?,
        _ => front.word()?,
    };
    let flag = match name.as_str() {
        "snapshot" => &mut subscribe.snapshot,
        "progress" => &mut subscribe.progress,
        _ => return Err(options::unrecognized(&name)),
    };
    *flag = options::flag(&name, &value)?;
    Ok(())
}

/// `CREATE SUBSCRIPTION [IF NOT EXISTS] name FROM relation WITH (retention = ...)`, after the word
/// SUBSCRIPTION.
pub(super) fn subscription(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let if_not_exists = front.eat(&["if", "not", "exists"]);
    let name = front.name()?;
    if front.is(0, "connection") {
        return Err(SqlError::unsupported("CREATE SUBSCRIPTION to a publication")
            .hint("CREATE SUBSCRIPTION ... FROM keeps the changes of a table or view of Weir.")
            .position(front.position()));
    }
    front.expect(&["from"])?;
    let from = front.name()?;
    let mut retention = None;
    let position = front.position();
    if front.eat(&["with"]) {
        for (option, value) in options::parenthesized(front)? {
            if option != "retention" {
                return Err(options::unrecognized(&option));
            }
            let length = duration(&value)?.filter(|length| !length.is_zero());
            if length.is_none() {
                let message = format!("invalid value for parameter \"retention\": \"{value}\"");
                return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message)
                    .hint("It is a length of time without months, such as '1h' or '7 days'."));
            }
            retention = length;
        }
    }
    let Some(retention) = retention else {
        let message = "a subscription needs a retention";
        return Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message)
            .hint("Say for how long changes are kept: WITH (retention = '1h').")
            .position(position));
    };
    let create = CreateSubscription { name, if_not_exists, from, retention };
    Ok(StatementKind::CreateSubscription(Box::new(create)))
}

/// `subscription [SINCE { now() | begin() | epoch } | FULL]`, after `SUBSCRIPTION CURSOR FOR`.
pub(super) fn subscription_cursor(front: &mut Front<'_>) -> SqlResult<SubscriptionCursor> {
    let subscription = front.name()?;
    let since = if front.eat(&["full"]) {
        Since::Full
    } else if front.eat(&["since"]) {
        let called = match () {
            _ if front.eat(&["now"]) => Some(Since::Now),
            _ if front.eat(&["begin"]) => Some(Since::Begin),
            _ => None,
        };
        match called {
            Some(since) => {
                front.expect_token(&Token::LParen)?;
                front.expect_token(&Token::RParen)?;
                since
            }
            None => Since::Epoch(epoch(front)?),
        }
    } else {
        Since::Now
    };
    Ok(SubscriptionCursor { subscription, since })
}

/// The number of an epoch.
fn epoch(front: &mut Front<'_>) -> SqlResult<u64> {
    let position = front.position();
    let text = if front.is_number() { front.number()? } else { front.string()? };
    text.parse().map_err(|_| {
        SqlError::new(code::INVALID_PARAMETER_VALUE, format!("invalid epoch: \"{text}\""))
            .hint("It is a number, as the column \"epoch\" has it.")
            .position(position)
    })
}
