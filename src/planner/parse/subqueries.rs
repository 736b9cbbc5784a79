//! Queries in parentheses that stand where an expression may, in the forms that sqlparser reads:
//!
//! ```text
//! (VALUES (1))                     (SELECT * FROM (VALUES (1)))
//! ((SELECT 1) UNION (SELECT 2))    (SELECT * FROM ((SELECT 1) UNION (SELECT 2)))
//! ANY (((SELECT 1)))               ANY (SELECT 1)
//! ```
//!
//! Where a relation or a whole query is expected, it reads them all.

use std::collections::BTreeSet;

use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::front::is_word;

/// Words after which an expression begins.
const BEFORE: &[&str] = &[
    "all",
    "and",
    "any",
    "between",
    "by",
    "case",
    "else",
    "having",
    "limit",
    "not",
    "offset",
    "on",
    "or",
    "returning",
    "select",
    "some",
    "then",
    "when",
    "where",
];

/// What goes on with a query.
const CONTINUING: &[&str] = &["except", "fetch", "intersect", "limit", "offset", "order", "union"];

/// Spells subqueries out. The first and the last token of what is read stay what they are: a text
/// is found by them.
pub(super) fn spell_out_subqueries(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let ends = ends(&tokens);
    let mut spelled: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    // Ends of parentheses that there is one more of; parentheses that there are no more.
    let (mut doubled, mut dropped) = (Vec::new(), BTreeSet::new());
    // Parentheses before which SELECT is missing.
    let mut selected = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        if dropped.contains(&at) {
            continue;
        }
        if doubled.last() == Some(&at) {
            doubled.pop();
            spelled.push(token.clone());
        }
        if selected.contains(&at) {
            select_all(&mut spelled, token);
            spelled.push(token.clone());
            continue;
        }
        let form = |at: usize| ends[at].map(|end| (end, form(&tokens, &ends, at, end)));
        let begins = if may_begin(&spelled) { form(at) } else { None };
        let compares = compares(&spelled);
        spelled.push(token.clone());
        match begins {
            Some((_, Form::Enclosed)) if compares => {
                let mut inner = at + 1;
                while let Some((end, found)) = form(inner) {
                    match found {
                        Form::NotSelect => _ = selected.insert(inner),
                        _ => dropped.extend([inner, end]),
                    }
                    if found != Form::Enclosed {
                        break;
                    }
                    inner += 1;
                }
            }
            Some((end, Form::NotSelect)) => {
                select_all(&mut spelled, token);
                spelled.push(token.clone());
                doubled.push(end);
            }
            _ => {}
        }
    }
    spelled
}

/// Adds `SELECT * FROM`, for the place of `token`.
fn select_all(spelled: &mut Vec<TokenWithSpan>, token: &TokenWithSpan) {
    for word in [Token::make_keyword("SELECT"), Token::Mul, Token::make_keyword("FROM")] {
        spelled.push(TokenWithSpan::new(word, token.span));
    }
}

/// Of each opening parenthesis, where it is closed.
fn ends(tokens: &[TokenWithSpan]) -> Vec<Option<usize>> {
    let mut ends = vec![None; tokens.len()];
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.token {
            Token::LParen => open.push(at),
            Token::RParen => {
                if let Some(start) = open.pop() {
                    ends[start] = Some(at);
                }
            }
            _ => {}
        }
    }
    ends
}

/// Whether an expression may begin after these tokens.
fn may_begin(before: &[TokenWithSpan]) -> bool {
    let [.., last] = before else { return false };
    match &last.token {
        Token::Word(_) if is_word(&last.token, "all") => compares(before),
        Token::Word(_) => BEFORE.iter().any(|word| is_word(&last.token, word)),
        Token::RParen | Token::RBracket | Token::SemiColon | Token::Period => false,
        _ => true,
    }
}

/// Whether these tokens end with ANY, ALL or SOME of a comparison.
fn compares(before: &[TokenWithSpan]) -> bool {
    let [.., operator, last] = before else { return false };
    let quantifier = ["all", "any", "some"].iter().any(|word| is_word(&last.token, word));
    quantifier && !matches!(operator.token, Token::Word(_) | Token::LParen | Token::RParen)
}

/// What is in parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A query that does not begin with SELECT or WITH.
    NotSelect,
    /// A query in parentheses.
    Enclosed,
    Other,
}

fn form(tokens: &[TokenWithSpan], ends: &[Option<usize>], start: usize, end: usize) -> Form {
    let token = |at: usize| tokens.get(at).map(|token| &token.token);
    let is = |at: usize, word: &str| token(at).is_some_and(|token| is_word(token, word));
    let first = (start + 1..).find(|&at| token(at) != Some(&Token::LParen)).unwrap_or(start);
    let values = is(first, "values") && token(first + 1) == Some(&Token::LParen);
    if !(values || is(first, "select") || is(first, "with")) {
        return Form::Other;
    }
    match ends[start + 1] {
        None if values => Form::NotSelect,
        Some(inner) if inner + 1 == end => Form::Enclosed,
        Some(inner) if CONTINUING.iter().any(|word| is(inner + 1, word)) => Form::NotSelect,
        _ => Form::Other,
    }
}
