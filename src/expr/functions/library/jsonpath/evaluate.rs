//! The items that a path finds in a value. The rules are those of PostgreSQL's `jsonpath_exec.c`.
//!
//! In lax mode arrays are unwrapped where an object or a number is asked for, a single value is
//! taken for an array of one, and what is not there gives nothing; in strict mode these are errors.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::number::Decimal;
use super::parse::{Arithmetic, Comparison, JsonPath, Method, Predicate, Step};
use crate::error::{SqlError, SqlResult, code};

/// Why a path fails.
#[derive(Debug)]
pub(super) enum Failure {
    /// The items are not what the path asks for: a silent call says nothing.
    OfItem(SqlError),
    OfCall(SqlError),
}

impl From<Failure> for SqlError {
    fn from(failure: Failure) -> Self {
        let (Failure::OfItem(error) | Failure::OfCall(error)) = failure;
        error
    }
}

type Result<T> = std::result::Result<T, Failure>;

fn of_item(code: crate::error::SqlState, message: impl Into<String>) -> Failure {
    Failure::OfItem(SqlError::new(code, message))
}

/// A number as an item.
pub(super) fn number_value(number: &Decimal) -> SqlResult<Value> {
    let text = number.text();
    let number: Number = text.parse().map_err(|_| SqlError::internal("a number is none"))?;
    Ok(Value::Number(number))
}

fn number(decimal: &Decimal) -> Result<Value> {
    number_value(decimal).map_err(Failure::OfCall)
}

fn decimal(value: &Value) -> Option<Decimal> {
    match value {
        Value::Number(number) => Decimal::read(number.as_str()),
        _ => None,
    }
}

/// The values of an object in the order of `jsonb`: by the length of their keys, then by these.
fn members(object: &serde_json::Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = object.iter().collect();
    members.sort_by_key(|(key, _)| (key.len(), key.as_bytes()));
    members
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(object) => members(object).into_iter().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    }
}

/// What was found so far; or, where only that counts, whether anything was.
enum Found<'f> {
    All(&'f mut Vec<Value>),
    Any(bool),
}

impl Found<'_> {
    /// Whether there is no need to look further.
    fn is_enough(&self) -> bool {
        matches!(self, Found::Any(true))
    }

    fn push(&mut self, value: &Value) {
        match self {
            Found::All(values) => values.push(value.clone()),
            Found::Any(any) => *any = true,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    False,
    True,
    Unknown,
}

impl From<bool> for Truth {
    fn from(truth: bool) -> Self {
        if truth { Truth::True } else { Truth::False }
    }
}

/// One path over one value.
#[derive(Clone, Copy)]
pub(super) struct Evaluation<'v> {
    path: &'v JsonPath,
    root: &'v Value,
    vars: &'v Value,
    /// What `@` is.
    current: &'v Value,
    /// How many items the innermost array has that is subscripted.
    array_size: Option<usize>,
    /// What is not there gives nothing.
    lenient: bool,
}

impl<'v> Evaluation<'v> {
    pub(super) fn new(path: &'v JsonPath, root: &'v Value, vars: &'v Value) -> Self {
        Self { path, root, vars, current: root, array_size: None, lenient: !path.strict }
    }

    /// Appends all items. A failure leaves those that were found before.
    pub(super) fn all(&self, found: &mut Vec<Value>) -> Result<()> {
        self.run(&self.path.steps, self.root, &mut Found::All(found))
    }

    /// Whether there is an item. In strict mode all are looked at, for one may fail.
    pub(super) fn any(&self) -> Result<bool> {
        self.is_any(&self.path.steps, self.root)
    }

    fn is_any(&self, steps: &[Step], value: &Value) -> Result<bool> {
        if self.path.strict {
            let mut found = Vec::new();
            self.run(steps, value, &mut Found::All(&mut found))?;
            return Ok(!found.is_empty());
        }
        let mut found = Found::Any(false);
        self.run(steps, value, &mut found)?;
        Ok(found.is_enough())
    }

    fn lax(&self) -> bool {
        !self.path.strict
    }

    fn run(&self, steps: &[Step], value: &Value, found: &mut Found<'_>) -> Result<()> {
        self.step(steps, value, found, self.lax())
    }

    /// The items of `steps` from `value`; `unwrap`: from its items, if it is an array and the first
    /// step asks for something else.
    fn step(
        &self,
        steps: &[Step],
        value: &Value,
        found: &mut Found<'_>,
        unwrap: bool,
    ) -> Result<()> {
        let Some((step, rest)) = steps.split_first() else {
            found.push(value);
            return Ok(());
        };
        if let (true, Value::Array(items)) = (unwrap && unwraps(step), value) {
            return self.each(items, |item, found| self.step(steps, item, found, false), found);
        }
        match step {
            Step::Root => self.run(rest, self.root, found),
            Step::Current => self.run(rest, self.current, found),
            Step::Value(value) => self.run(rest, value, found),
            Step::Variable(_) if self.vars.is_null() => self.run(rest, self.vars, found),
            Step::Variable(name) => match self.vars.get(name) {
                Some(value) => self.run(rest, value, found),
                None => Err(Failure::OfCall(SqlError::new(
                    code::UNDEFINED_OBJECT,
                    format!("could not find jsonpath variable \"{name}\""),
                ))),
            },
            Step::Last => {
                let last = self.array_size.map_or(-1, |size| i64::try_from(size).unwrap_or(0) - 1);
                self.run(rest, &number(&Decimal::of(last))?, found)
            }
            Step::Binary(op, left, right) => {
                let result = self.binary(*op, left, right, value)?;
                self.run(rest, &result, found)
            }
            Step::Sign { negative, of } => self.signed(*negative, of, rest, value, found),
            Step::Predicate(predicate) => {
                let truth = match self.truth(predicate, value)? {
                    Truth::True => Value::Bool(true),
                    Truth::False => Value::Bool(false),
                    Truth::Unknown => Value::Null,
                };
                self.run(rest, &truth, found)
            }
            Step::Key(key) => self.key(key, rest, value, found),
            Step::AnyKey => match value {
                Value::Object(_) => {
                    self.each(children(value), |member, found| self.run(rest, member, found), found)
                }
                _ => self.absent(
                    "2203C",
                    "jsonpath wildcard member accessor can only be applied to an object",
                ),
            },
            Step::AnyItem => match value {
                Value::Array(items) => {
                    self.each(items, |item, found| self.run(rest, item, found), found)
                }
                _ if self.lax() => self.run(rest, value, found),
                _ => self.absent(
                    "22039",
                    "jsonpath wildcard array accessor can only be applied to an array",
                ),
            },
            Step::Items(subscripts) => self.items(subscripts, rest, value, found),
            Step::Levels(from, to) => {
                let within = Self { lenient: true, ..*self };
                if *from == Some(0) {
                    within.run(rest, value, found)?;
                }
                match found.is_enough() {
                    true => Ok(()),
                    false => within.levels(1, (*from, *to), rest, value, found),
                }
            }
            Step::Filter(predicate) => {
                let Self { path, root, vars, array_size, lenient, .. } = *self;
                let of_item = Evaluation { path, root, vars, current: value, array_size, lenient };
                match of_item.truth(predicate, value)? {
                    Truth::True => self.run(rest, value, found),
                    _ => Ok(()),
                }
            }
            Step::Method(method) => self.method(*method, rest, value, found),
        }
    }

    fn each<'i>(
        &self,
        items: impl IntoIterator<Item = &'i Value>,
        run: impl Fn(&Value, &mut Found<'_>) -> Result<()>,
        found: &mut Found<'_>,
    ) -> Result<()> {
        for item in items {
            run(item, found)?;
            if found.is_enough() {
                break;
            }
        }
        Ok(())
    }

    /// Nothing, or an error where that counts.
    fn absent(&self, code: crate::error::SqlState, message: &str) -> Result<()> {
        if self.lenient { Ok(()) } else { Err(of_item(code, message)) }
    }

    fn key(&self, key: &str, rest: &[Step], value: &Value, found: &mut Found<'_>) -> Result<()> {
        match value {
            Value::Object(object) => match object.get(key) {
                Some(member) => self.run(rest, member, found),
                None => {
                    self.absent("2203A", &format!("JSON object does not contain key \"{key}\""))
                }
            },
            _ => self.absent("2203A", "jsonpath member accessor can only be applied to an object"),
        }
    }

    fn items(
        &self,
        subscripts: &[(Vec<Step>, Option<Vec<Step>>)],
        rest: &[Step],
        value: &Value,
        found: &mut Found<'_>,
    ) -> Result<()> {
        let items = match value {
            Value::Array(items) => items.as_slice(),
            _ if self.lax() => std::slice::from_ref(value),
            _ => {
                return self
                    .absent("22039", "jsonpath array accessor can only be applied to an array");
            }
        };
        let inside = Self { array_size: Some(items.len()), ..*self };
        let size = i64::try_from(items.len()).unwrap_or(i64::MAX);
        for (from, to) in subscripts {
            let from = inside.subscript(from, value)?;
            let to = match to {
                Some(to) => inside.subscript(to, value)?,
                None => from,
            };
            if !self.lenient && (from < 0 || from > to || to >= size) {
                let message = "jsonpath array subscript is out of bounds";
                return Err(of_item("22033", message));
            }
            for index in from.max(0)..=to.min(size - 1) {
                let Some(item) = usize::try_from(index).ok().and_then(|at| items.get(at)) else {
                    continue;
                };
                inside.run(rest, item, found)?;
                if found.is_enough() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn subscript(&self, steps: &[Step], value: &Value) -> Result<i64> {
        let mut found = Vec::new();
        self.run(steps, value, &mut Found::All(&mut found))?;
        let index = match found.as_slice() {
            [only] => decimal(only),
            _ => None,
        };
        let index = index.ok_or_else(|| {
            of_item("22033", "jsonpath array subscript is not a single numeric value")
        })?;
        index
            .int()
            .ok_or_else(|| of_item("22033", "jsonpath array subscript is out of integer range"))
    }

    /// What is `level` levels below and further down, as far as `bounds` say; `None`: leaves.
    fn levels(
        &self,
        level: u32,
        bounds: (Option<u32>, Option<u32>),
        rest: &[Step],
        value: &Value,
        found: &mut Found<'_>,
    ) -> Result<()> {
        for child in children(value) {
            let is_leaf = !child.is_array() && !child.is_object();
            let wanted = match bounds.0 {
                Some(from) => level >= from,
                None => bounds.1.is_none() && is_leaf,
            };
            if wanted {
                self.run(rest, child, found)?;
            }
            if !found.is_enough() && !is_leaf && bounds.1.is_none_or(|to| level < to) {
                self.levels(level + 1, bounds, rest, child, found)?;
            }
            if found.is_enough() {
                break;
            }
        }
        Ok(())
    }

    /// Items, those of arrays among them one by one in lax mode.
    fn unwrapped(&self, steps: &[Step], value: &Value) -> Result<Vec<Value>> {
        let mut found = Vec::new();
        self.run(steps, value, &mut Found::All(&mut found))?;
        if self.path.strict {
            return Ok(found);
        }
        let items = found.into_iter().flat_map(|item| match item {
            Value::Array(items) => items,
            other => vec![other],
        });
        Ok(items.collect())
    }

    fn binary(
        &self,
        op: Arithmetic,
        left: &[Step],
        right: &[Step],
        value: &Value,
    ) -> Result<Value> {
        let sign = match op {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Modulo => "%",
        };
        let left = self.unwrapped(left, value)?;
        let right = self.unwrapped(right, value)?;
        let single = |side: &str, items: &[Value]| {
            let number = match items {
                [only] => decimal(only),
                _ => None,
            };
            let message =
                format!("{side} operand of jsonpath operator {sign} is not a single numeric value");
            number.ok_or_else(|| of_item("22038", message))
        };
        let (left, right) = (single("left", &left)?, single("right", &right)?);
        if matches!(op, Arithmetic::Divide | Arithmetic::Modulo) && right.is_zero() {
            return Err(of_item(code::DIVISION_BY_ZERO, "division by zero"));
        }
        number(&match op {
            Arithmetic::Add => left.plus(&right),
            Arithmetic::Subtract => left.plus(&right.negated()),
            Arithmetic::Multiply => left.times(&right),
            Arithmetic::Divide => left.over(&right),
            Arithmetic::Modulo => left.modulo(&right),
        })
    }

    fn signed(
        &self,
        negative: bool,
        of: &[Step],
        rest: &[Step],
        value: &Value,
        found: &mut Found<'_>,
    ) -> Result<()> {
        for item in self.unwrapped(of, value)? {
            match decimal(&item) {
                Some(own) => {
                    let own = if negative { own.negated() } else { own };
                    self.run(rest, &number(&own)?, found)?;
                }
                None if matches!(found, Found::Any(_)) && rest.is_empty() => continue,
                None => {
                    let sign = if negative { "-" } else { "+" };
                    let message =
                        format!("operand of unary jsonpath operator {sign} is not a numeric value");
                    return Err(of_item("2203B", message));
                }
            }
            if found.is_enough() {
                break;
            }
        }
        Ok(())
    }

    fn method(
        &self,
        method: Method,
        rest: &[Step],
        value: &Value,
        found: &mut Found<'_>,
    ) -> Result<()> {
        let numeric = |name: &str, change: fn(&Decimal) -> Decimal| {
            let message =
                format!("jsonpath item method .{name}() can only be applied to a numeric value");
            let own = decimal(value).ok_or_else(|| of_item("22036", message))?;
            number(&change(&own))
        };
        let result = match method {
            Method::Abs => numeric("abs", Decimal::absolute)?,
            Method::Floor => numeric("floor", Decimal::floor)?,
            Method::Ceiling => numeric("ceiling", Decimal::ceiling)?,
            Method::Double => double(value)?,
            Method::Type => Value::from(match value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(_) => "number",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            }),
            Method::Size => match value {
                Value::Array(items) => Value::from(items.len()),
                _ if self.lax() => Value::from(1),
                _ => {
                    let message = "jsonpath item method .size() can only be applied to an array";
                    return self.absent("22039", message);
                }
            },
            Method::KeyValue => {
                let Value::Object(object) = value else {
                    let message =
                        "jsonpath item method .keyvalue() can only be applied to an object";
                    return Err(of_item("2203C", message));
                };
                let pairs = members(object)
                    .into_iter()
                    .map(|(key, value)| serde_json::json!({ "key": key, "value": value, "id": 0 }));
                let pairs: Vec<Value> = pairs.collect();
                return self.each(&pairs, |pair, found| self.run(rest, pair, found), found);
            }
        };
        self.run(rest, &result, found)
    }

    /// Without errors of items, which are unknown.
    fn quietly<T>(result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Failure::OfItem(_)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    fn truth(&self, predicate: &Predicate, value: &Value) -> Result<Truth> {
        Ok(match predicate {
            Predicate::And(one, other) => match self.truth(one, value)? {
                Truth::False => Truth::False,
                one => match self.truth(other, value)? {
                    Truth::True => one,
                    other => other,
                },
            },
            Predicate::Or(one, other) => match self.truth(one, value)? {
                Truth::True => Truth::True,
                one => match self.truth(other, value)? {
                    Truth::False => one,
                    other => other,
                },
            },
            Predicate::Not(inner) => match self.truth(inner, value)? {
                Truth::True => Truth::False,
                Truth::False => Truth::True,
                Truth::Unknown => Truth::Unknown,
            },
            Predicate::IsUnknown(inner) => (self.truth(inner, value)? == Truth::Unknown).into(),
            Predicate::Exists(steps) => match Self::quietly(self.is_any(steps, value))? {
                Some(any) => any.into(),
                None => Truth::Unknown,
            },
            Predicate::Compare(op, left, right) => {
                let Some(right) = Self::quietly(self.unwrapped(right, value))? else {
                    return Ok(Truth::Unknown);
                };
                let test = |one: &Value, other: &Value| compared(*op, one, other);
                self.pairs(left, &right, value, &test)?
            }
            Predicate::StartsWith(of, initial) => {
                let mut found = Vec::new();
                self.run(initial, value, &mut Found::All(&mut found))?;
                let test = |one: &Value, other: &Value| match (one, other) {
                    (Value::String(one), Value::String(other)) => one.starts_with(other).into(),
                    _ => Truth::Unknown,
                };
                self.pairs(of, &found, value, &test)?
            }
            Predicate::LikeRegex(of, regex) => {
                let test = |one: &Value, _: &Value| match one {
                    Value::String(text) => regex.is_match(text).into(),
                    _ => Truth::Unknown,
                };
                self.pairs(of, &[Value::Null], value, &test)?
            }
        })
    }

    /// Whether a test is true of an item on the left with one on the right.
    fn pairs(
        &self,
        left: &[Step],
        right: &[Value],
        value: &Value,
        test: &dyn Fn(&Value, &Value) -> Truth,
    ) -> Result<Truth> {
        let Some(left) = Self::quietly(self.unwrapped(left, value))? else {
            return Ok(Truth::Unknown);
        };
        let (mut any, mut unknown) = (false, false);
        for one in &left {
            for other in right {
                match test(one, other) {
                    Truth::True if self.lax() => return Ok(Truth::True),
                    Truth::Unknown if self.path.strict => return Ok(Truth::Unknown),
                    Truth::True => any = true,
                    Truth::Unknown => unknown = true,
                    Truth::False => {}
                }
            }
        }
        Ok(match (any, unknown) {
            (true, _) => Truth::True,
            (false, true) => Truth::Unknown,
            (false, false) => Truth::False,
        })
    }
}

/// Steps that look into what an array holds.
fn unwraps(step: &Step) -> bool {
    match step {
        Step::Key(_) | Step::AnyKey | Step::Filter(_) => true,
        Step::Method(method) => !matches!(method, Method::Size | Method::Type),
        _ => false,
    }
}

fn double(value: &Value) -> Result<Value> {
    let invalid = |what: &str| {
        let message = format!(
            "{what} argument of jsonpath item method .double() is not a valid representation of a \
             double precision number"
        );
        of_item("22036", message)
    };
    match value {
        Value::Number(number) => match number.as_str().parse::<f64>() {
            Ok(read) if read.is_finite() => Ok(value.clone()),
            _ => Err(invalid("numeric")),
        },
        Value::String(text) => {
            let read = text.trim().parse::<f64>().ok().filter(|read| read.is_finite());
            let read = read.ok_or_else(|| invalid("string"))?;
            // A numeric of a float has 15 digits that count, and no zeros behind them.
            let text = format!("{read:.14e}");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
            let read = Decimal::read(&format!("{mantissa}e{exponent}"));
            number(&read.ok_or_else(|| invalid("string"))?)
        }
        _ => {
            let message =
                "jsonpath item method .double() can only be applied to a string or numeric value";
            Err(of_item("22036", message))
        }
    }
}

fn compared(op: Comparison, one: &Value, other: &Value) -> Truth {
    let order = match (one, other) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Bool(one), Value::Bool(other)) => one.cmp(other),
        (Value::Number(_), Value::Number(_)) => match (decimal(one), decimal(other)) {
            (Some(one), Some(other)) => one.compare(&other),
            _ => return Truth::Unknown,
        },
        (Value::String(one), Value::String(other)) => one.cmp(other),
        (Value::Null, _) | (_, Value::Null) => return (op == Comparison::NotEqual).into(),
        _ => return Truth::Unknown,
    };
    Truth::from(match op {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    })
}
