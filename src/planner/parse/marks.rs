//! Syntax that sqlparser does not read, as marks in syntax that it does: what a mark means is found
//! when a query is planned.
//!
//! ```text
//! OVER (w ROWS 2 PRECEDING EXCLUDE TIES)    OVER ("mark of ties, w" ROWS 2 PRECEDING)
//! ROWS FROM (f(a), g(b))                    "rows from"(f(a), g(b))
//! ```

use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

use super::super::rows_from::ROWS_FROM;
use super::super::window_syntax::exclusion_mark;
use super::front::{fold, is_word};

/// Makes EXCLUDE a mark at the beginning of its window.
pub(super) fn mark_exclusions(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut marked: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut skipped = 0;
    for (index, token) in tokens.iter().enumerate() {
        if skipped > 0 {
            skipped -= 1;
            continue;
        }
        let after_bound = marked.last().is_some_and(|before| {
            ["row", "preceding", "following"].iter().any(|word| is_word(&before.token, word))
        });
        if after_bound
            && let Some((exclusion, words)) = exclusion(&tokens[index..])
            && let Some(start) = opening(&marked)
        {
            skipped = words - 1;
            if exclusion != "no others" {
                mark_window(&mut marked, start, exclusion, token.span);
            }
            continue;
        }
        marked.push(token.clone());
    }
    marked
}

/// The exclusion that a window ends with, and of how many words it is.
fn exclusion(tokens: &[TokenWithSpan]) -> Option<(&'static str, usize)> {
    const EXCLUSIONS: [&str; 4] = ["current row", "group", "ties", "no others"];
    if !is_word(&tokens.first()?.token, "exclude") {
        return None;
    }
    EXCLUSIONS.into_iter().find_map(|exclusion| {
        let words: Vec<&str> = exclusion.split(' ').collect();
        let end = words.len() + 1;
        let given = tokens.get(1..end)?.iter().zip(&words);
        let all = given.into_iter().all(|(token, word)| is_word(&token.token, word));
        (all && tokens.get(end)?.token == Token::RParen).then_some((exclusion, end))
    })
}

/// Where the parenthesis is that is open at the end.
fn opening(tokens: &[TokenWithSpan]) -> Option<usize> {
    let mut depth = 0usize;
    tokens.iter().rposition(|token| match token.token {
        Token::RParen => {
            depth += 1;
            false
        }
        Token::LParen if depth == 0 => true,
        Token::LParen => {
            depth -= 1;
            false
        }
        _ => false,
    })
}

/// Puts the mark where a window names the one that it begins with.
fn mark_window(tokens: &mut Vec<TokenWithSpan>, start: usize, exclusion: &str, span: Span) {
    const CLAUSES: [&str; 5] = ["partition", "order", "rows", "range", "groups"];
    let first = tokens.get(start + 1).map(|token| &token.token);
    let base = match first {
        Some(Token::Word(word))
            if !CLAUSES.iter().any(|clause| first.is_some_and(|first| is_word(first, clause))) =>
        {
            Some(fold(word))
        }
        _ => None,
    };
    let mark = TokenWithSpan::new(quoted(&exclusion_mark(exclusion, base.as_deref())), span);
    match base {
        Some(_) => tokens[start + 1] = mark,
        None => tokens.insert(start + 1, mark),
    }
}

fn quoted(name: &str) -> Token {
    Token::make_word(name, Some('"'))
}

/// Makes `ROWS FROM (f(a), g(b))` a call of a function of that name, where a relation is expected:
/// `SELECT rows FROM (SELECT ...)` reads a column.
pub(super) fn mark_rows_from(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    const BEFORE: [&str; 3] = ["from", "join", "lateral"];
    let mut marked: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    let mut skipped = false;
    for (index, token) in tokens.iter().enumerate() {
        if skipped {
            skipped = false;
            continue;
        }
        // `FROM (ROWS FROM (...) JOIN ...)`
        let before = marked.iter().rfind(|before| before.token != Token::LParen);
        let relation = before.is_some_and(|before| {
            before.token == Token::Comma || BEFORE.iter().any(|word| is_word(&before.token, word))
        });
        if relation && is_word(&token.token, "rows") && lists_calls(&tokens[index + 1..]) {
            marked.push(TokenWithSpan::new(quoted(ROWS_FROM), token.span));
            skipped = true;
        } else {
            marked.push(token.clone());
        }
    }
    marked
}

/// Are these `FROM (f(...), g(...))`?
fn lists_calls(tokens: &[TokenWithSpan]) -> bool {
    let token = |index: usize| tokens.get(index).map(|token| &token.token);
    if !token(0).is_some_and(|from| is_word(from, "from")) || token(1) != Some(&Token::LParen) {
        return false;
    }
    let mut next = 2;
    loop {
        while matches!(token(next), Some(Token::Word(_))) && token(next + 1) == Some(&Token::Period)
        {
            next += 2;
        }
        if !matches!(token(next), Some(Token::Word(_))) || token(next + 1) != Some(&Token::LParen) {
            return false;
        }
        let mut depth = 0usize;
        next += 1;
        loop {
            match token(next) {
                Some(Token::LParen) => depth += 1,
                Some(Token::RParen) => depth -= 1,
                None => return false,
                _ => {}
            }
            next += 1;
            if depth == 0 {
                break;
            }
        }
        match token(next) {
            Some(Token::Comma) => next += 1,
            Some(Token::RParen) => return true,
            _ => return false,
        }
    }
}
