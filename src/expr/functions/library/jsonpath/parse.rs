//! From a path's text to its steps.
//!
//! ```text
//! path       [strict | lax] expression
//! expression predicate, or arithmetic of: primary accessor ...
//! ```
//!
//! A predicate is an expression of its own where PostgreSQL takes it for one: in parentheses, and
//! as the whole path.

use regex::Regex;

use super::super::pattern;
use super::number::Decimal;
use crate::error::{SqlError, SqlResult, code};

/// A path, parsed.
#[derive(Debug)]
pub(in super::super) struct JsonPath {
    pub(super) strict: bool,
    pub(super) steps: Vec<Step>,
}

/// What gives items, the first from nothing, the others from each item of the one before.
#[derive(Debug)]
pub(super) enum Step {
    Root,
    Current,
    Last,
    Variable(String),
    Value(serde_json::Value),
    Binary(Arithmetic, Vec<Step>, Vec<Step>),
    /// The sign of numbers.
    Sign {
        negative: bool,
        of: Vec<Step>,
    },
    Predicate(Box<Predicate>),
    /// `.key`
    Key(String),
    /// `.*`
    AnyKey,
    /// `[*]`
    AnyItem,
    /// `[1, 2 to last]`
    Items(Vec<(Vec<Step>, Option<Vec<Step>>)>),
    /// `.**{1 to 2}`; `None` is the last level.
    Levels(Option<u32>, Option<u32>),
    Filter(Box<Predicate>),
    Method(Method),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Abs,
    Ceiling,
    Double,
    Floor,
    KeyValue,
    Size,
    Type,
}

/// What is true, false or unknown of an item.
#[derive(Debug)]
pub(super) enum Predicate {
    And(Box<Predicate>, Box<Predicate>),
    Or(Box<Predicate>, Box<Predicate>),
    Not(Box<Predicate>),
    IsUnknown(Box<Predicate>),
    Compare(Comparison, Vec<Step>, Vec<Step>),
    StartsWith(Vec<Step>, Vec<Step>),
    LikeRegex(Vec<Step>, Regex),
    Exists(Vec<Step>),
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// `$name`, or `$` alone.
    Dollar(Option<String>),
    Number(String),
    Text(String),
    /// A key or a keyword.
    Name(String),
    Sign(&'static str),
}

/// Longest first.
const SIGNS: &[&str] = &[
    "**", "==", "!=", "<>", "<=", ">=", "&&", "||", "(", ")", "[", "]", "{", "}", ",", ".", "*",
    "/", "%", "+", "-", "<", ">", "!", "?", "@",
];

/// Parentheses and signs within one another at the most.
const DEPTH_MAX: usize = 256;

impl JsonPath {
    pub(in super::super) fn parse(text: &str) -> SqlResult<Self> {
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens, at: 0, depth: 0, in_filter: 0, in_subscript: 0 };
        let strict = parser.word("strict");
        if !strict {
            parser.word("lax");
        }
        let steps = parser.any(0)?.steps();
        match parser.peek() {
            None => Ok(Self { strict, steps }),
            Some(_) => Err(parser.unexpected()),
        }
    }
}

fn syntax_error(message: impl Into<String>) -> SqlError {
    SqlError::new(code::SYNTAX_ERROR, message)
}

fn tokens(text: &str) -> SqlResult<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment
                .find("*/")
                .ok_or_else(|| syntax_error("unexpected end of comment of jsonpath input"))?;
            rest = &comment[end + 2..];
            continue;
        }
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        if first == '"' {
            let (string, after) = quoted(rest)?;
            tokens.push(Token::Text(string));
            rest = after;
        } else if let Some(after) = rest.strip_prefix('$') {
            let (name, after) = match after.starts_with('"') {
                true => quoted(after).map(|(name, after)| (Some(name), after))?,
                false => {
                    let (name, after) = name(after)?;
                    (Some(name).filter(|name| !name.is_empty()), after)
                }
            };
            tokens.push(Token::Dollar(name));
            rest = after;
        } else if first.is_ascii_digit()
            || first == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit())
        {
            let (number, after) = number(rest)?;
            tokens.push(Token::Number(number));
            rest = after;
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        } else {
            let (name, after) = name(rest)?;
            if name.is_empty() {
                let message = format!("syntax error at or near \"{first}\" of jsonpath input");
                return Err(syntax_error(message));
            }
            tokens.push(Token::Name(name));
            rest = after;
        }
    }
}

/// A number in front; letters right behind it are an error.
fn number(text: &str) -> SqlResult<(String, &str)> {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let mut end = digits(text);
    if text[end..].starts_with('.') && digits(&text[end + 1..]) > 0 || end == 0 {
        end += 1 + digits(&text[end + 1..]);
    } else if text[end..].starts_with('.') && !text[end + 1..].starts_with(['.', '*']) {
        // `1.` is a number where no accessor follows.
        let follows = text[end + 1..].trim_start().chars().next();
        if !follows.is_some_and(|next| next.is_alphabetic() || next == '"' || next == '_') {
            end += 1;
        }
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(&text[end + 1 + sign..]);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    if text[end..].starts_with(|next: char| next.is_alphanumeric() || next == '_') {
        let message = "trailing junk after numeric literal of jsonpath input";
        return Err(syntax_error(message));
    }
    let written = &text[..end];
    let leading_zero = written.len() > 1
        && written.starts_with('0')
        && written[1..].starts_with(|next: char| next.is_ascii_digit());
    if leading_zero {
        let message = "trailing junk after numeric literal of jsonpath input";
        return Err(syntax_error(message));
    }
    Ok((written.to_owned(), &text[end..]))
}

/// A name in front, its escapes read; empty if there is none.
fn name(text: &str) -> SqlResult<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if next == '\\' {
            rest = escape(&rest[1..], &mut name)?;
        } else if next.is_whitespace() || "?%$.[]{}()|&!=<>@#,*:-+/\"'".contains(next) {
            break;
        } else {
            name.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    Ok((name, rest))
}

/// A text in double quotes in front.
fn quoted(text: &str) -> SqlResult<(String, &str)> {
    let mut string = String::new();
    let mut rest = &text[1..];
    while let Some(next) = rest.chars().next() {
        match next {
            '"' => return Ok((string, &rest[1..])),
            '\\' => rest = escape(&rest[1..], &mut string)?,
            next => {
                string.push(next);
                rest = &rest[next.len_utf8()..];
            }
        }
    }
    Err(syntax_error("unterminated quoted string of jsonpath input"))
}

/// What a backslash stands before.
fn escape<'t>(text: &'t str, out: &mut String) -> SqlResult<&'t str> {
    let invalid = || syntax_error("invalid escape sequence of jsonpath input");
    let hex = |text: &str, digits: usize| {
        let code = text.get(..digits).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        code.ok_or_else(invalid)
    };
    let first = text.chars().next().ok_or_else(invalid)?;
    let rest = &text[first.len_utf8()..];
    let (code, rest) = match first {
        'b' => (8, rest),
        'f' => (12, rest),
        'n' => (10, rest),
        'r' => (13, rest),
        't' => (9, rest),
        'v' => (11, rest),
        'x' => (hex(rest, 2)?, &rest[2..]),
        'u' if rest.starts_with('{') => {
            let end = rest.find('}').ok_or_else(invalid)?;
            (hex(&rest[1..], end - 1)?, &rest[end + 1..])
        }
        'u' => match hex(rest, 4)? {
            high @ 0xd800..=0xdbff if rest[4..].starts_with("\\u") => {
                let low = hex(&rest[6..], 4)?;
                if !(0xdc00..=0xdfff).contains(&low) {
                    return Err(invalid());
                }
                (0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), &rest[10..])
            }
            code => (code, &rest[4..]),
        },
        other => (u32::from(other), rest),
    };
    out.push(char::from_u32(code).filter(|code| *code != '\0').ok_or_else(invalid)?);
    Ok(rest)
}

/// What was read: steps, or a predicate that is none yet.
enum Read {
    Steps(Vec<Step>),
    Predicate(Predicate),
}

impl Read {
    fn steps(self) -> Vec<Step> {
        match self {
            Read::Steps(steps) => steps,
            Read::Predicate(predicate) => vec![Step::Predicate(Box::new(predicate))],
        }
    }
}

/// How tightly operators bind.
const OR: u8 = 1;
const AND: u8 = 2;
const COMPARE: u8 = 3;
const ADD: u8 = 4;
const MULTIPLY: u8 = 5;
const SIGN: u8 = 6;

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    /// Filters and subscripts around, where `@` and `last` mean something.
    in_filter: usize,
    in_subscript: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Sign(next)) if *next == sign);
        self.at += usize::from(found);
        found
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Name(next)) if next.eq_ignore_ascii_case(word))
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> SqlResult<()> {
        if self.sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> SqlError {
        let near = match self.peek() {
            None => return syntax_error("syntax error at end of jsonpath input"),
            Some(Token::Dollar(name)) => format!("${}", name.as_deref().unwrap_or_default()),
            Some(Token::Number(text) | Token::Text(text) | Token::Name(text)) => text.clone(),
            Some(Token::Sign(sign)) => (*sign).to_owned(),
        };
        syntax_error(format!("syntax error at or near \"{near}\" of jsonpath input"))
    }

    /// An expression or a predicate whose operators bind tighter than `least`.
    fn any(&mut self, least: u8) -> SqlResult<Read> {
        if self.depth >= DEPTH_MAX {
            return Err(SqlError::new("54001", "stack depth limit exceeded"));
        }
        self.depth += 1;
        let read = self.operators(least);
        self.depth -= 1;
        read
    }

    fn operators(&mut self, least: u8) -> SqlResult<Read> {
        let mut left = self.operand()?;
        loop {
            left = match (left, self.peek()) {
                (Read::Predicate(one), Some(Token::Sign("||"))) if least < OR => {
                    self.at += 1;
                    let other = self.predicate(OR)?;
                    Read::Predicate(Predicate::Or(Box::new(one), Box::new(other)))
                }
                (Read::Predicate(one), Some(Token::Sign("&&"))) if least < AND => {
                    self.at += 1;
                    let other = self.predicate(AND)?;
                    Read::Predicate(Predicate::And(Box::new(one), Box::new(other)))
                }
                (Read::Steps(one), Some(Token::Sign(sign))) => {
                    let sign = *sign;
                    if let (Some(op), true) = (comparison(sign), least < COMPARE) {
                        self.at += 1;
                        let other = self.expression(COMPARE)?;
                        Read::Predicate(Predicate::Compare(op, one, other))
                    } else if let Some((op, binds)) = arithmetic(sign).filter(|(_, b)| least < *b) {
                        self.at += 1;
                        let other = self.expression(binds)?;
                        Read::Steps(vec![Step::Binary(op, one, other)])
                    } else {
                        return Ok(Read::Steps(one));
                    }
                }
                (Read::Steps(one), Some(Token::Name(_)))
                    if least < COMPARE
                        && (self.is_word("starts") || self.is_word("like_regex")) =>
                {
                    Read::Predicate(self.of_text(one)?)
                }
                (read, _) => return Ok(read),
            };
        }
    }

    /// `starts with "a"`, `like_regex "a" flag "i"`
    fn of_text(&mut self, of: Vec<Step>) -> SqlResult<Predicate> {
        if self.word("starts") {
            if !self.word("with") {
                return Err(self.unexpected());
            }
            let initial = match self.peek().cloned() {
                Some(Token::Text(text)) => Step::Value(text.into()),
                Some(Token::Dollar(Some(name))) => Step::Variable(name),
                _ => return Err(self.unexpected()),
            };
            self.at += 1;
            return Ok(Predicate::StartsWith(of, vec![initial]));
        }
        self.word("like_regex");
        let pattern = self.text()?;
        let flags = if self.word("flag") { self.text()? } else { String::new() };
        Ok(Predicate::LikeRegex(of, regex(&pattern, &flags)?))
    }

    fn text(&mut self) -> SqlResult<String> {
        match self.peek().cloned() {
            Some(Token::Text(text)) => {
                self.at += 1;
                Ok(text)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn predicate(&mut self, least: u8) -> SqlResult<Predicate> {
        match self.any(least)? {
            Read::Predicate(predicate) => Ok(predicate),
            Read::Steps(_) => Err(self.unexpected()),
        }
    }

    fn expression(&mut self, least: u8) -> SqlResult<Vec<Step>> {
        match self.any(least)? {
            Read::Steps(steps) => Ok(steps),
            Read::Predicate(_) => Err(self.unexpected()),
        }
    }

    fn operand(&mut self) -> SqlResult<Read> {
        if self.sign("+") || self.sign("-") {
            let negative = self.tokens[self.at - 1] == Token::Sign("-");
            let of = self.expression(SIGN)?;
            return Ok(Read::Steps(vec![Step::Sign { negative, of }]));
        }
        if self.sign("!") {
            let delimited = self.is_word("exists") || self.peek() == Some(&Token::Sign("("));
            if !delimited {
                return Err(self.unexpected());
            }
            return match self.operand()? {
                Read::Predicate(predicate) => {
                    Ok(Read::Predicate(Predicate::Not(Box::new(predicate))))
                }
                Read::Steps(_) => Err(self.unexpected()),
            };
        }
        if self.is_word("exists") && self.tokens.get(self.at + 1) == Some(&Token::Sign("(")) {
            self.at += 2;
            let of = self.expression(0)?;
            self.expect(")")?;
            return Ok(Read::Predicate(Predicate::Exists(of)));
        }
        if self.sign("(") {
            return self.parenthesised();
        }
        let mut steps = vec![self.primary()?];
        self.accessors(&mut steps)?;
        Ok(Read::Steps(steps))
    }

    fn parenthesised(&mut self) -> SqlResult<Read> {
        let inner = self.any(0)?;
        self.expect(")")?;
        if let Read::Predicate(predicate) = inner {
            if self.word("is") {
                if !self.word("unknown") {
                    return Err(self.unexpected());
                }
                return Ok(Read::Predicate(Predicate::IsUnknown(Box::new(predicate))));
            }
            if !matches!(self.peek(), Some(Token::Sign("." | "[" | "?"))) {
                return Ok(Read::Predicate(predicate));
            }
            let mut steps = vec![Step::Predicate(Box::new(predicate))];
            self.accessors(&mut steps)?;
            return Ok(Read::Steps(steps));
        }
        let mut steps = inner.steps();
        self.accessors(&mut steps)?;
        Ok(Read::Steps(steps))
    }

    fn primary(&mut self) -> SqlResult<Step> {
        let step = match self.peek().cloned() {
            Some(Token::Dollar(None)) => Step::Root,
            Some(Token::Dollar(Some(name))) => Step::Variable(name),
            Some(Token::Text(text)) => Step::Value(text.into()),
            Some(Token::Number(text)) => Step::Value(value_of(&text)?),
            Some(Token::Sign("@")) if self.in_filter > 0 => Step::Current,
            Some(Token::Sign("@")) => {
                return Err(syntax_error("@ is not allowed in root expressions"));
            }
            Some(Token::Name(name)) => match name.to_ascii_lowercase().as_str() {
                "last" if self.in_subscript > 0 => Step::Last,
                "last" => {
                    return Err(syntax_error("LAST is allowed only in array subscripts"));
                }
                // These are written in small letters only.
                _ => match name.as_str() {
                    "null" => Step::Value(serde_json::Value::Null),
                    "true" => Step::Value(true.into()),
                    "false" => Step::Value(false.into()),
                    _ => return Err(self.unexpected()),
                },
            },
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(step)
    }

    fn accessors(&mut self, steps: &mut Vec<Step>) -> SqlResult<()> {
        loop {
            if self.sign(".") {
                steps.push(self.member()?);
            } else if self.sign("[") {
                steps.push(self.subscripts()?);
            } else if self.sign("?") {
                self.expect("(")?;
                self.in_filter += 1;
                let predicate = self.predicate(0)?;
                self.in_filter -= 1;
                self.expect(")")?;
                steps.push(Step::Filter(Box::new(predicate)));
            } else {
                return Ok(());
            }
        }
    }

    fn member(&mut self) -> SqlResult<Step> {
        let key = match self.peek().cloned() {
            Some(Token::Sign("*")) => {
                self.at += 1;
                return Ok(Step::AnyKey);
            }
            Some(Token::Sign("**")) => {
                self.at += 1;
                return self.levels();
            }
            Some(Token::Text(key)) => {
                self.at += 1;
                return Ok(Step::Key(key));
            }
            Some(Token::Name(key)) => key,
            _ => return Err(self.unexpected()),
        };
        self.at += 1;
        if !self.sign("(") {
            return Ok(Step::Key(key));
        }
        let method = match key.to_ascii_lowercase().as_str() {
            "abs" => Method::Abs,
            "ceiling" => Method::Ceiling,
            "double" => Method::Double,
            "floor" => Method::Floor,
            "keyvalue" => Method::KeyValue,
            "size" => Method::Size,
            "type" => Method::Type,
            "datetime" => {
                return Err(SqlError::unsupported("the jsonpath item method .datetime()"));
            }
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        };
        self.expect(")")?;
        Ok(Step::Method(method))
    }

    fn levels(&mut self) -> SqlResult<Step> {
        if !self.sign("{") {
            return Ok(Step::Levels(Some(0), None));
        }
        let from = self.level()?;
        let to = if self.word("to") { self.level()? } else { from };
        self.expect("}")?;
        Ok(Step::Levels(from, to))
    }

    fn level(&mut self) -> SqlResult<Option<u32>> {
        if self.word("last") {
            return Ok(None);
        }
        match self.peek() {
            Some(Token::Number(text)) if text.parse::<u32>().is_ok() => {
                let level = text.parse().ok();
                self.at += 1;
                Ok(level)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn subscripts(&mut self) -> SqlResult<Step> {
        if self.sign("*") {
            self.expect("]")?;
            return Ok(Step::AnyItem);
        }
        self.in_subscript += 1;
        let mut items = Vec::new();
        loop {
            let from = self.expression(0)?;
            let to = if self.word("to") { Some(self.expression(0)?) } else { None };
            items.push((from, to));
            if !self.sign(",") {
                break;
            }
        }
        self.in_subscript -= 1;
        self.expect("]")?;
        Ok(Step::Items(items))
    }
}

fn value_of(number: &str) -> SqlResult<serde_json::Value> {
    let decimal = Decimal::read(number).ok_or_else(|| {
        SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
    })?;
    super::evaluate::number_value(&decimal)
}

fn comparison(sign: &str) -> Option<Comparison> {
    Some(match sign {
        "==" => Comparison::Equal,
        "!=" | "<>" => Comparison::NotEqual,
        "<" => Comparison::Less,
        "<=" => Comparison::LessOrEqual,
        ">" => Comparison::Greater,
        ">=" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

fn arithmetic(sign: &str) -> Option<(Arithmetic, u8)> {
    Some(match sign {
        "+" => (Arithmetic::Add, ADD),
        "-" => (Arithmetic::Subtract, ADD),
        "*" => (Arithmetic::Multiply, MULTIPLY),
        "/" => (Arithmetic::Divide, MULTIPLY),
        "%" => (Arithmetic::Modulo, MULTIPLY),
        _ => return None,
    })
}

/// XQuery's flags as PostgreSQL's own.
fn regex(written: &str, flags: &str) -> SqlResult<Regex> {
    let mut own = String::new();
    for flag in flags.chars() {
        match flag {
            'i' | 'q' => own.push(flag),
            's' | 'm' => {}
            'x' => {
                let what = "the XQuery \"x\" flag (expanded regular expressions)";
                return Err(SqlError::unsupported(what));
            }
            other => {
                return Err(syntax_error("invalid input syntax for type jsonpath").detail(
                    format!("Unrecognized flag character \"{other}\" in LIKE_REGEX predicate."),
                ));
            }
        }
    }
    own.push(match (flags.contains('s'), flags.contains('m')) {
        (true, true) => 'w',
        (true, false) => 's',
        (false, true) => 'n',
        (false, false) => 'p',
    });
    pattern::compile(written, &own)
}
