//! The front parser: reads words one by one, and hands queries, expressions and types to sqlparser.
//!
//! All errors leave here in PostgreSQL's words: `syntax error at or near "x"`, with a position.

use std::ops::Range;
use std::sync::Arc;

use sqlparser::ast;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Location, Span, Token, TokenWithSpan, Word};

use super::super::precedence::SYMMETRIC;
use super::super::source::Source;
use super::super::statement::ColumnRef;
use super::super::syntax::{Expression, Name, Query};
use super::marks::{mark_exclusions, mark_rows_from};
use super::script::DIALECT;
use super::subqueries::spell_out_subqueries;
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

/// How deep expressions and subqueries may nest: beyond it the stack would be at risk.
const NESTING_MAX: usize = 200;

/// Binds tighter than everything that cannot stand in a column's DEFAULT without parentheses
/// (NOT NULL would be read as the operator otherwise): sqlparser's precedence of LIKE.
const DEFAULT_PRECEDENCE: u8 = 60;

/// Words that name nothing unless quoted: PostgreSQL 15's reserved key words.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "column",
    "constraint",
    "create",
    "current_catalog",
    "current_date",
    "current_role",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "false",
    "fetch",
    "for",
    "foreign",
    "from",
    "grant",
    "group",
    "having",
    "in",
    "initially",
    "intersect",
    "into",
    "lateral",
    "leading",
    "limit",
    "localtime",
    "localtimestamp",
    "not",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "placing",
    "primary",
    "references",
    "returning",
    "select",
    "session_user",
    "some",
    "symmetric",
    "table",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "when",
    "where",
    "window",
    "with",
];

/// One statement being read.
pub(super) struct Front<'a> {
    parser: Parser<'a>,
    source: Arc<Source>,
    /// The semicolon that ends the statement, if it has one: what an error at its end is near.
    terminator: Option<Span>,
    /// Where the last token ends.
    end: Location,
}

impl<'a> Front<'a> {
    pub(super) fn new(
        tokens: Vec<TokenWithSpan>,
        source: Arc<Source>,
        terminator: Option<Span>,
    ) -> Self {
        let end = tokens.last().map_or_else(Location::empty, |token| token.span.end);
        let spelled =
            spell_out_arrays(spell_out_trim(spell_out_table(quote_qualified_calls(tokens))));
        let spelled = spell_out_subqueries(spelled);
        let marked = mark_symmetric(call_current_role(spelled));
        let marked = strengthen_locks(mark_rows_from(mark_exclusions(marked)));
        Self { end, ..Self::of_spelled(marked, source, terminator) }
    }

    /// The same for tokens of one that was made so.
    fn of_spelled(
        tokens: Vec<TokenWithSpan>,
        source: Arc<Source>,
        terminator: Option<Span>,
    ) -> Self {
        let end = tokens.last().map_or_else(Location::empty, |token| token.span.end);
        let parser = Parser::new(&DIALECT)
            .with_recursion_limit(NESTING_MAX)
            .with_tokens_with_locations(tokens);
        Self { parser, source, terminator, end }
    }

    // --- Looking -------------------------------------------------------------------------------

    /// The token after the next `ahead` ones.
    pub(super) fn peek(&self, ahead: usize) -> &Token {
        &self.peek_with_span(ahead).token
    }

    pub(super) fn peek_with_span(&self, ahead: usize) -> &TokenWithSpan {
        self.parser.peek_nth_token_ref(ahead)
    }

    /// Whether the token `ahead` is this word, unquoted.
    pub(super) fn is(&self, ahead: usize, word: &str) -> bool {
        is_word(self.peek(ahead), word)
    }

    pub(super) fn at_end(&self) -> bool {
        *self.peek(0) == Token::EOF
    }

    /// 1-based character index of the next token.
    pub(super) fn position(&self) -> usize {
        self.place_of(self.peek_with_span(0).span)
    }

    fn place_of(&self, span: Span) -> usize {
        self.source
            .position(span)
            .or_else(|| self.terminator.and_then(|span| self.source.position(span)))
            .unwrap_or_else(|| self.source.end().position())
    }

    /// The highest `$n` from here to the end.
    pub(super) fn parameters(&self) -> usize {
        let mut highest = 0;
        for ahead in 0.. {
            match self.peek(ahead) {
                Token::EOF => break,
                Token::Placeholder(name) => {
                    let number = name.strip_prefix('$').and_then(|number| number.parse().ok());
                    highest = highest.max(number.unwrap_or(0));
                }
                _ => {}
            }
        }
        highest
    }

    // --- Reading words -------------------------------------------------------------------------

    pub(super) fn advance(&mut self) {
        self.parser.advance_token();
    }

    /// Reads the words, all or none.
    pub(super) fn eat(&mut self, words: &[&str]) -> bool {
        let all = words.iter().enumerate().all(|(ahead, word)| self.is(ahead, word));
        if all {
            words.iter().for_each(|_| self.advance());
        }
        all
    }

    pub(super) fn eat_token(&mut self, token: &Token) -> bool {
        self.parser.consume_token(token)
    }

    pub(super) fn expect(&mut self, words: &[&str]) -> SqlResult<()> {
        for word in words {
            if !self.eat(&[word]) {
                return Err(self.syntax_error());
            }
        }
        Ok(())
    }

    pub(super) fn expect_token(&mut self, token: &Token) -> SqlResult<()> {
        if self.eat_token(token) { Ok(()) } else { Err(self.syntax_error()) }
    }

    pub(super) fn finish(&self) -> SqlResult<()> {
        if self.at_end() { Ok(()) } else { Err(self.syntax_error()) }
    }

    /// Any unquoted word, in lower case.
    pub(super) fn word(&mut self) -> SqlResult<String> {
        match self.peek(0) {
            Token::Word(Word { value, quote_style: None, .. }) => {
                let word = value.to_lowercase();
                self.advance();
                Ok(word)
            }
            _ => Err(self.syntax_error()),
        }
    }

    /// A name, folded; key words only in quotes.
    pub(super) fn identifier(&mut self) -> SqlResult<ColumnRef> {
        match self.peek(0) {
            Token::Word(word) => {
                let name = fold(word);
                if word.quote_style.is_none() && RESERVED.contains(&name.as_str()) {
                    return Err(self.syntax_error());
                }
                let position = self.position();
                self.advance();
                Ok(ColumnRef { name, position })
            }
            _ => Err(self.syntax_error()),
        }
    }

    /// A name of any word, also a reserved one: what follows a dot.
    fn label(&mut self) -> SqlResult<String> {
        match self.peek(0) {
            Token::Word(word) => {
                let name = fold(word);
                self.advance();
                Ok(name)
            }
            _ => Err(self.syntax_error()),
        }
    }

    /// `[[database.]schema.]name`.
    pub(super) fn name(&mut self) -> SqlResult<Name> {
        let first = self.identifier()?;
        let mut parts = vec![first.name];
        while self.eat_token(&Token::Period) {
            parts.push(self.label()?);
        }
        self.name_of(parts, first.position)
    }

    pub(super) fn name_of(&self, mut parts: Vec<String>, position: usize) -> SqlResult<Name> {
        if parts.len() > 3 {
            let name = parts.join(".");
            let message = format!("improper qualified name (too many dotted names): {name}");
            return Err(SqlError::new(code::SYNTAX_ERROR, message).position(position));
        }
        let name = parts.pop().unwrap_or_default();
        let schema = parts.pop();
        Ok(Name { database: parts.pop(), schema, name, position })
    }

    pub(super) fn string(&mut self) -> SqlResult<String> {
        match self.peek(0) {
            Token::SingleQuotedString(text)
            | Token::EscapedStringLiteral(text)
            | Token::UnicodeStringLiteral(text) => {
                let text = text.clone();
                self.advance();
                Ok(text)
            }
            Token::DollarQuotedString(text) => {
                let text = text.value.clone();
                self.advance();
                Ok(text)
            }
            _ => Err(self.syntax_error()),
        }
    }

    /// A number's text with its sign.
    pub(super) fn number(&mut self) -> SqlResult<String> {
        let sign = if self.eat_token(&Token::Minus) {
            "-"
        } else {
            self.eat_token(&Token::Plus);
            ""
        };
        match self.peek(0) {
            Token::Number(text, _) => {
                let text = format!("{sign}{text}");
                self.advance();
                Ok(text)
            }
            _ => Err(self.syntax_error()),
        }
    }

    pub(super) fn is_number(&self) -> bool {
        match self.peek(0) {
            Token::Number(..) => true,
            Token::Minus | Token::Plus => matches!(self.peek(1), Token::Number(..)),
            _ => false,
        }
    }

    pub(super) fn integer(&mut self) -> SqlResult<i64> {
        let error = self.syntax_error();
        self.number()?.parse().map_err(|_| error)
    }

    /// Things with commas between.
    pub(super) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.eat_token(&Token::Comma) {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `(a, b)`; empty if there is no parenthesis.
    pub(super) fn optional_columns(&mut self) -> SqlResult<Vec<ColumnRef>> {
        if !self.eat_token(&Token::LParen) {
            return Ok(Vec::new());
        }
        let columns = self.list(Self::identifier)?;
        self.expect_token(&Token::RParen)?;
        Ok(columns)
    }

    // --- Reading with sqlparser ----------------------------------------------------------------

    pub(super) fn sql<T>(
        &mut self,
        read: impl FnOnce(&mut Parser<'a>) -> Result<T, ParserError>,
    ) -> SqlResult<T> {
        read(&mut self.parser).map_err(|error| self.reword(error))
    }

    pub(super) fn query(&mut self) -> SqlResult<Query> {
        let start = self.mark();
        let tree = self.sql(Parser::parse_query)?;
        super::dml::refuse_hidden_writes(&tree)?;
        Ok(Query {
            tree: Arc::new(*tree),
            source: Arc::clone(&self.source),
            text: self.text_since(start),
            locks: Arc::default(),
        })
    }

    /// The query before the options that end the statement: sqlparser would take `WITH (...)` for
    /// hints about the query's last table.
    pub(super) fn query_before_options(&mut self) -> SqlResult<Query> {
        let mut depth = 0usize;
        let mut ahead = 0;
        while *self.peek(ahead) != Token::EOF {
            match self.peek(ahead) {
                Token::LParen => depth += 1,
                Token::RParen => depth = depth.saturating_sub(1),
                _ if depth == 0
                    && self.is(ahead, "with")
                    && *self.peek(ahead + 1) == Token::LParen =>
                {
                    break;
                }
                _ => {}
            }
            ahead += 1;
        }
        let tokens = (0..ahead).map(|ahead| self.peek_with_span(ahead).clone()).collect();
        let end = self.peek_with_span(ahead).span;
        let mut front = Front::of_spelled(tokens, Arc::clone(&self.source), Some(end));
        let query = front.query()?;
        front.finish()?;
        (0..ahead).for_each(|_| self.advance());
        Ok(query)
    }

    /// Reads the rest of the statement as it is without some of its tokens, given by how far ahead
    /// they are.
    pub(super) fn without<T>(
        &mut self,
        left_out: Range<usize>,
        read: impl FnOnce(&mut Front<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let mut tokens = Vec::new();
        for ahead in 0.. {
            let token = self.peek_with_span(ahead);
            if token.token == Token::EOF {
                break;
            }
            if !left_out.contains(&ahead) {
                tokens.push(token.clone());
            }
        }
        let all = tokens.len() + left_out.len();
        let mut front = Front::of_spelled(tokens, Arc::clone(&self.source), self.terminator);
        let read = read(&mut front)?;
        front.finish()?;
        (0..all).for_each(|_| self.advance());
        Ok(read)
    }

    pub(super) fn wrap_query(&self, tree: ast::Query) -> Query {
        let text = tree.to_string();
        let source = Arc::clone(&self.source);
        Query { tree: Arc::new(tree), source, text, locks: Arc::default() }
    }

    pub(super) fn expression(&mut self) -> SqlResult<Expression> {
        let tree = self.sql(Parser::parse_expr)?;
        Ok(self.wrap_expression(tree))
    }

    pub(super) fn wrap_expression(&self, tree: ast::Expr) -> Expression {
        Expression { tree: Arc::new(tree), source: Arc::clone(&self.source) }
    }

    pub(super) fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The text of a DEFAULT.
    pub(super) fn default_text(&mut self) -> SqlResult<String> {
        let start = self.mark();
        self.sql(|parser| parser.parse_subexpr(DEFAULT_PRECEDENCE))?;
        Ok(self.text_since(start))
    }

    pub(super) fn sql_type(&mut self) -> SqlResult<SqlType> {
        let start = self.mark();
        let position = self.position();
        self.sql(Parser::parse_data_type)?;
        let written = self.text_since(start);
        type_named(&written).map_err(|error| error.position(position))
    }

    // --- Source text ---------------------------------------------------------------------------

    /// Where the next token begins.
    pub(super) fn mark(&self) -> Location {
        self.peek_with_span(0).span.start
    }

    /// The source from a mark to the last token read.
    pub(super) fn text_since(&self, start: Location) -> String {
        let last = self.parser.get_current_token().span;
        self.source.slice(Span::new(start, last.end)).to_owned()
    }

    /// The source from a mark to the statement's end, and the characters before it.
    pub(super) fn whole_text(&self, start: Location) -> (String, usize) {
        let text = self.source.slice(Span::new(start, self.end)).to_owned();
        (text, self.source.place(start).character)
    }

    // --- Errors --------------------------------------------------------------------------------

    /// The next token should not be there.
    pub(super) fn syntax_error(&self) -> SqlError {
        self.syntax_error_at(self.peek_with_span(0).span)
    }

    fn syntax_error_at(&self, span: Span) -> SqlError {
        let span = if span == Span::empty() { self.terminator.unwrap_or(span) } else { span };
        let message = match self.source.slice(span) {
            "" => "syntax error at end of input".to_owned(),
            near => format!("syntax error at or near \"{near}\""),
        };
        SqlError::new(code::SYNTAX_ERROR, message).position(self.place_of(span))
    }

    /// sqlparser's error in PostgreSQL's words.
    fn reword(&self, error: ParserError) -> SqlError {
        let message = match error {
            ParserError::ParserError(message) | ParserError::TokenizerError(message) => message,
            ParserError::RecursionLimitExceeded => {
                return SqlError::new(code::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded");
            }
        };
        let found = location_in(&message).and_then(|location| self.token_starting_at(location));
        match found {
            Some(span) => self.syntax_error_at(span),
            None if message.contains("found: EOF") => self.syntax_error_at(Span::empty()),
            None => self.syntax_error(),
        }
    }

    fn token_starting_at(&self, location: Location) -> Option<Span> {
        (0..)
            .map(|index| self.parser.token_at(index))
            .take_while(|token| token.token != Token::EOF)
            .map(|token| token.span)
            .find(|span| span.start == location)
    }
}

/// Functions whose arguments sqlparser reads by a syntax of their own. With a schema before the
/// name they are functions as any.
const WITH_OWN_SYNTAX: &[&str] =
    &["ceil", "extract", "floor", "overlay", "position", "substring", "trim"];

/// `pg_catalog.substring(a, b)` is `pg_catalog."substring"(a, b)`, which sqlparser reads.
fn quote_qualified_calls(mut tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    for at in 1..tokens.len().saturating_sub(1) {
        let [before, name, after] = &mut tokens[at - 1..=at + 1] else { continue };
        if before.token == Token::Period
            && after.token == Token::LParen
            && WITH_OWN_SYNTAX.iter().any(|special| is_word(&name.token, special))
            && let Token::Word(word) = &name.token
        {
            name.token = Token::make_word(&fold(word), Some('"'));
        }
    }
    tokens
}

/// `TABLE t` is `SELECT * FROM t`; DataFusion plans only the latter.
fn spell_out_table(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    const BEFORE: [&str; 6] = ["as", "union", "all", "distinct", "except", "intersect"];
    let mut spelled = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        let query_may_begin = match index.checked_sub(1).map(|before| &tokens[before].token) {
            // `(TABLE t)`, `WITH q AS (...) TABLE q`
            None | Some(Token::LParen | Token::RParen) => true,
            Some(before) => BEFORE.iter().any(|word| is_word(before, word)),
        };
        // `SELECT a AS table FROM b`: there it is a name.
        let names_one = matches!(tokens.get(index + 1).map(|next| &next.token),
            Some(Token::Word(next)) if next.quote_style.is_some()
                || !RESERVED.contains(&fold(next).as_str()));
        if query_may_begin && names_one && is_word(&token.token, "table") {
            for word in [Token::make_keyword("SELECT"), Token::Mul, Token::make_keyword("FROM")] {
                spelled.push(TokenWithSpan::new(word, token.span));
            }
        } else {
            spelled.push(token.clone());
        }
    }
    spelled
}

/// `trim(LEADING FROM x)` trims blanks: `trim(LEADING ' ' FROM x)`, which sqlparser reads.
fn spell_out_trim(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut spelled: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let side =
            |token: &Token| ["leading", "trailing", "both"].iter().any(|side| is_word(token, side));
        if is_word(&token.token, "from")
            && let [.., trim, parenthesis, which] = spelled.as_slice()
            && is_word(&trim.token, "trim")
            && parenthesis.token == Token::LParen
            && side(&which.token)
        {
            let blank = Token::SingleQuotedString(" ".to_owned());
            spelled.push(TokenWithSpan::new(blank, token.span));
        }
        spelled.push(token);
    }
    spelled
}

/// `text ARRAY` and `text ARRAY[3]` are `text[]` and `text[3]`, which sqlparser reads. ARRAY is
/// also how an array is written out (`ARRAY[1, 2]`, `ARRAY(SELECT ...)`), but never after a type's
/// name.
fn spell_out_arrays(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let ends_type = |token: &Token| match token {
        Token::Word(word) => {
            matches!(word.value.to_lowercase().as_str(), "precision" | "varying" | "zone")
                || SqlType::parse(&word.value).is_some()
        }
        _ => false,
    };
    let mut spelled: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        let next = tokens.get(index + 1).map(|next| &next.token);
        let brackets = next == Some(&Token::LBracket);
        let after_type = spelled.last().is_some_and(|before| match &before.token {
            // The end of a modifier, `numeric(8,2) ARRAY`, not of `DISTINCT ON (a) ARRAY[b]`.
            Token::RParen => !brackets && next != Some(&Token::LParen),
            before => ends_type(before),
        });
        if !(after_type && is_word(&token.token, "array")) {
            spelled.push(token.clone());
        } else if !brackets {
            spelled.push(TokenWithSpan::new(Token::LBracket, token.span));
            spelled.push(TokenWithSpan::new(Token::RBracket, token.span));
        }
    }
    spelled
}

/// `BETWEEN SYMMETRIC a AND b` is `BETWEEN NULL <marked> a AND b`, which sqlparser reads. The mark
/// is what stands furthest left in the first bound, whatever follows: see `precedence`.
fn mark_symmetric(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut marked: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let between = marked.last().is_some_and(|before| is_word(&before.token, "between"));
        if between && is_word(&token.token, "symmetric") {
            let mark = Token::CustomBinaryOperator(SYMMETRIC.to_owned());
            marked.push(TokenWithSpan::new(Token::make_keyword("NULL"), token.span));
            marked.push(TokenWithSpan::new(mark, token.span));
        } else if !(between && is_word(&token.token, "asymmetric")) {
            marked.push(token);
        }
    }
    marked
}

/// `FOR NO KEY UPDATE` and `FOR KEY SHARE` lock less than `FOR UPDATE` and `FOR SHARE`, which
/// sqlparser knows; here every lock is of a whole table.
fn strengthen_locks(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let is = |at: usize, word| tokens.get(at).is_some_and(|token| is_word(&token.token, word));
    let weak = |at| {
        let update = is(at, "for") && is(at + 1, "no") && is(at + 2, "key") && is(at + 3, "update");
        let share = is(at, "for") && is(at + 1, "key") && is(at + 2, "share");
        if update { 2 } else { usize::from(share) }
    };
    let (mut strong, mut at) = (Vec::with_capacity(tokens.len()), 0);
    while let Some(token) = tokens.get(at) {
        strong.push(token.clone());
        at += 1 + weak(at);
    }
    strong
}

/// `current_role` is a call without parentheses, which sqlparser does not know.
fn call_current_role(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut spelled = Vec::with_capacity(tokens.len());
    for token in tokens {
        let call = is_word(&token.token, "current_role");
        let span = token.span;
        spelled.push(token);
        if call {
            spelled.extend([Token::LParen, Token::RParen].map(|t| TokenWithSpan::new(t, span)));
        }
    }
    spelled
}

pub(super) fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(found)
        if found.quote_style.is_none() && found.value.eq_ignore_ascii_case(word))
}

/// What a word names: lower case unless quoted.
pub(super) fn fold(word: &Word) -> String {
    match word.quote_style {
        Some(_) => word.value.clone(),
        None => word.value.to_lowercase(),
    }
}

/// What a syntax tree's identifier names.
pub(in crate::planner) fn fold_ident(ident: &ast::Ident) -> String {
    match ident.quote_style {
        Some(_) => ident.value.clone(),
        None => ident.value.to_lowercase(),
    }
}

/// The type that a name means.
pub(in crate::planner) fn type_named(written: &str) -> SqlResult<SqlType> {
    let name = written.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = if name.contains('"') { name } else { name.to_lowercase() };
    let name = name.strip_prefix("pg_catalog.").unwrap_or(&name);
    let Some(sql_type) = SqlType::parse(name) else {
        let message = format!("type \"{}\" does not exist", name.replace('"', ""));
        return Err(SqlError::new(code::UNDEFINED_OBJECT, message));
    };
    check_modifiers(name, &sql_type)?;
    Ok(sql_type)
}

/// Refuses modifiers whose values Weir would not keep to.
fn check_modifiers(name: &str, sql_type: &SqlType) -> SqlResult<()> {
    let invalid = |message: String| Err(SqlError::new(code::INVALID_PARAMETER_VALUE, message));
    match sql_type {
        SqlType::Numeric(Some((precision, scale))) => {
            if !(1..=38).contains(precision) {
                return invalid(format!("NUMERIC precision {precision} must be between 1 and 38"));
            }
            if *scale < 0 || i16::from(*scale) > i16::from(*precision) {
                return invalid(format!("NUMERIC scale {scale} must be between 0 and precision"));
            }
        }
        SqlType::Varchar(Some(0)) | SqlType::Char(0) => {
            return invalid("length for type varchar must be at least 1".to_owned());
        }
        SqlType::Time | SqlType::Timestamp | SqlType::Timestamptz | SqlType::Interval
            if name.contains('(') && !name.contains("(6)") =>
        {
            return Err(SqlError::unsupported(format!("type {name}"))
                .hint("Times have microseconds: leave the precision out."));
        }
        SqlType::Array(element) => check_modifiers(name, element)?,
        _ => {}
    }
    Ok(())
}

/// The `Line: l, Column: c` that an error of sqlparser's ends with.
fn location_in(message: &str) -> Option<Location> {
    let (_, after) = message.rsplit_once("Line: ")?;
    let (line, column) = after.split_once(", Column: ")?;
    let digits = column.find(|c: char| !c.is_ascii_digit()).unwrap_or(column.len());
    Some(Location::new(line.parse().ok()?, column[..digits].parse().ok()?))
}
