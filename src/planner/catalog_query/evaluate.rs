//! Expressions on rows.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use regex::{Regex, RegexBuilder};

use crate::catalog::pg::{self, PgContext, Reg, Row, Value};
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

use super::run::Key;
use super::tree::{Comparison, Node, Operation, Pattern, Query, Target, Typed};

/// A row of a select: one row of each source, `None` where an outer join found none.
pub(super) type Tuple = Vec<Option<Row>>;

/// What an expression sees: the row, what was computed for it, and the rows around.
pub(super) struct Frame<'a> {
    pub(super) tuple: &'a [Option<Row>],
    pub(super) slots: &'a [Value],
    pub(super) outer: Option<&'a Frame<'a>>,
}

/// Expressions and rows that a statement may work through before it is refused: catalogs are
/// small, and a statement over them holds all its rows in memory.
const WORK_MAX: u64 = 50_000_000;

/// Where the rows with each value of a column are.
pub(super) type Places = HashMap<Key, Vec<usize>>;

/// The state of one execution.
pub(super) struct Machine<'a> {
    pub(super) context: &'a PgContext,
    pub(super) parameters: &'a [Value],
    /// The rows of queries of WITH.
    pub(super) ctes: RefCell<HashMap<usize, Rc<Vec<Row>>>>,
    /// The rows of relations that were read.
    pub(super) relations: RefCell<HashMap<u32, Rc<Vec<Row>>>>,
    /// Where each value of a column is among a relation's rows, by relation and column.
    pub(super) indexes: RefCell<HashMap<(u32, usize), Rc<Places>>>,
    regexes: RefCell<HashMap<(String, Pattern), Regex>>,
    work: Cell<u64>,
    pub(super) work_max: u64,
}

impl<'a> Machine<'a> {
    pub(super) fn new(context: &'a PgContext, parameters: &'a [Value]) -> Self {
        Self {
            context,
            parameters,
            ctes: RefCell::default(),
            relations: RefCell::default(),
            indexes: RefCell::default(),
            regexes: RefCell::default(),
            work: Cell::default(),
            work_max: WORK_MAX,
        }
    }

    /// Counts work, so that no statement goes on for ever.
    pub(super) fn charge(&self, work: usize) -> SqlResult<()> {
        let total = self.work.get().saturating_add(u64::try_from(work).unwrap_or(u64::MAX));
        self.work.set(total);
        if total > self.work_max {
            return Err(SqlError::new("54001", "the catalog query is too large")
                .hint("Add conditions that join the catalogs by their OIDs."));
        }
        Ok(())
    }

    /// Whether a condition is true; NULL is not.
    pub(super) fn holds(&self, condition: &Typed, frame: &Frame<'_>) -> SqlResult<bool> {
        Ok(self.evaluate(condition, frame)?.as_bool() == Some(true))
    }

    pub(super) fn evaluate_all(
        &self,
        expressions: &[Typed],
        frame: &Frame<'_>,
    ) -> SqlResult<Vec<Value>> {
        expressions.iter().map(|one| self.evaluate(one, frame)).collect()
    }

    /// An expression's value.
    pub(super) fn evaluate(&self, typed: &Typed, frame: &Frame<'_>) -> SqlResult<Value> {
        self.charge(1)?;
        Ok(match &typed.node {
            Node::Constant(value) => value.clone(),
            Node::Parameter(index) => self.parameters.get(*index).cloned().unwrap_or(Value::Null),
            Node::Column { level, source, column } => {
                let mut at = frame;
                for _ in 0..*level {
                    at = at.outer.ok_or_else(|| SqlError::internal("no outer row"))?;
                }
                let row = at.tuple.get(*source).and_then(Option::as_ref);
                row.and_then(|row| row.get(*column)).cloned().unwrap_or(Value::Null)
            }
            Node::Slot(slot) => frame.slots.get(*slot).cloned().unwrap_or(Value::Null),
            Node::Call { function, arguments } => {
                pg::call(function, self.context, &self.evaluate_all(arguments, frame)?)?
            }
            Node::Cast { to, value } => self.cast(&self.evaluate(value, frame)?, to)?,
            Node::Arithmetic { operation, left, right } => {
                arithmetic(*operation, &self.evaluate(left, frame)?, &self.evaluate(right, frame)?)?
            }
            Node::Concatenate(left, right) => {
                let array = matches!(typed.sql_type, SqlType::Array(_));
                self.concatenate(array, self.evaluate(left, frame)?, self.evaluate(right, frame)?)
            }
            Node::Case { operand, branches, otherwise } => {
                let operand = operand.as_ref().map(|one| self.evaluate(one, frame)).transpose()?;
                for (condition, result) in branches {
                    let met = match &operand {
                        Some(operand) => {
                            let value = self.evaluate(condition, frame)?;
                            self.compare(Comparison::Equal, operand, &value)? == Some(true)
                        }
                        None => self.holds(condition, frame)?,
                    };
                    if met {
                        return self.evaluate(result, frame);
                    }
                }
                match otherwise {
                    Some(otherwise) => self.evaluate(otherwise, frame)?,
                    None => Value::Null,
                }
            }
            Node::Array(elements) => Value::list(self.evaluate_all(elements, frame)?),
            Node::Row(fields) => Value::Record(self.evaluate_all(fields, frame)?.into()),
            Node::Subscript { value, index, first } => {
                let list = self.evaluate(value, frame)?.as_list().unwrap_or_default();
                let index = self.evaluate(index, frame)?.as_int();
                index
                    .and_then(|index| usize::try_from(index - first).ok())
                    .and_then(|index| list.get(index).cloned())
                    .unwrap_or(Value::Null)
            }
            Node::Slice { value, from, to } => {
                let value = self.evaluate(value, frame)?;
                let bound = |bound: &Option<Box<Typed>>, open: i64| match bound {
                    None => Ok::<_, SqlError>(Some(open)),
                    Some(bound) => Ok(self.evaluate(bound, frame)?.as_int()),
                };
                let (from, to) = (bound(from, i64::MIN)?, bound(to, i64::MAX)?);
                let (Some(list), Some(from), Some(to)) = (value.as_list(), from, to) else {
                    return Ok(Value::Null);
                };
                let wanted = (1..).zip(list.iter()).filter(|(at, _)| (from..=to).contains(at));
                Value::list(wanted.map(|(_, element)| element.clone()))
            }
            Node::Field { value, position } => match self.evaluate(value, frame)? {
                Value::Record(fields) => fields.get(*position).cloned().unwrap_or(Value::Null),
                _ => Value::Null,
            },
            Node::Scalar(query) => {
                let rows = self.run(query, Some(frame))?;
                match rows.as_slice() {
                    [] => Value::Null,
                    [row] => row.first().cloned().unwrap_or(Value::Null),
                    _ => {
                        let message =
                            "more than one row returned by a subquery used as an expression";
                        return Err(SqlError::new(code::CARDINALITY_VIOLATION, message));
                    }
                }
            }
            Node::Exists(query) => Value::Bool(!self.run(query, Some(frame))?.is_empty()),
            Node::Rows(query) => self.rows_value(query, frame)?,
            predicate => self.truth(predicate, frame)?.map_or(Value::Null, Value::Bool),
        })
    }

    /// What is true, false or unknown.
    fn truth(&self, predicate: &Node, frame: &Frame<'_>) -> SqlResult<Option<bool>> {
        let value = |typed: &Typed| self.evaluate(typed, frame);
        Ok(match predicate {
            Node::And(left, right) => match value(left)?.as_bool() {
                Some(false) => Some(false),
                left => match value(right)?.as_bool() {
                    Some(false) => Some(false),
                    right => left.zip(right).map(|(left, right)| left && right),
                },
            },
            Node::Or(left, right) => match value(left)?.as_bool() {
                Some(true) => Some(true),
                left => match value(right)?.as_bool() {
                    Some(true) => Some(true),
                    right => left.zip(right).map(|(left, right)| left || right),
                },
            },
            Node::Not(inner) => value(inner)?.as_bool().map(|truth| !truth),
            Node::Compare { comparison, left, right } => {
                self.compare(*comparison, &value(left)?, &value(right)?)?
            }
            Node::IsDistinct { left, right, negated } => {
                let (left, right) = (value(left)?, value(right)?);
                let same = match (left.is_null(), right.is_null()) {
                    (true, true) => true,
                    (false, false) => self.compare(Comparison::Equal, &left, &right)? == Some(true),
                    _ => false,
                };
                Some(same == *negated)
            }
            Node::Match { value: text, pattern, kind, negated } => {
                let found = self.matches(&value(text)?, &value(pattern)?, *kind)?;
                found.map(|found| found != *negated)
            }
            Node::IsNull { value: inner, negated } => Some(value(inner)?.is_null() != *negated),
            Node::IsTruth { value: inner, truth, negated } => {
                Some((value(inner)?.as_bool() == Some(*truth)) != *negated)
            }
            Node::InList { value: inner, list } => {
                let wanted = value(inner)?;
                let mut unknown = wanted.is_null();
                for item in list {
                    match self.compare(Comparison::Equal, &wanted, &value(item)?)? {
                        Some(true) => return Ok(Some(true)),
                        Some(false) => {}
                        None => unknown = true,
                    }
                }
                if unknown { None } else { Some(false) }
            }
            Node::Quantified { comparison, all, value: inner, array } => {
                self.quantified(*comparison, *all, &value(inner)?, &value(array)?)?
            }
            _ => return Err(SqlError::internal("not a predicate")),
        })
    }

    fn rows_value(&self, query: &Query, frame: &Frame<'_>) -> SqlResult<Value> {
        let single = query.columns.len() == 1;
        let rows = self.run(query, Some(frame))?;
        Ok(Value::list(rows.into_iter().map(|row| {
            if single { row.first().cloned().unwrap_or(Value::Null) } else { Value::Record(row) }
        })))
    }

    fn compare(
        &self,
        comparison: Comparison,
        left: &Value,
        right: &Value,
    ) -> SqlResult<Option<bool>> {
        if let Comparison::Matches(kind) = comparison {
            return self.matches(left, right, kind);
        }
        Ok(left.compare(right, self.context)?.map(|order| match comparison {
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
            Comparison::Matches(_) => false,
        }))
    }

    fn quantified(
        &self,
        comparison: Comparison,
        all: bool,
        value: &Value,
        array: &Value,
    ) -> SqlResult<Option<bool>> {
        let Some(list) = array.as_list() else { return Ok(None) };
        let mut unknown = false;
        for element in list.iter() {
            match self.compare(comparison, value, element)? {
                Some(met) if met != all => return Ok(Some(!all)),
                Some(_) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { None } else { Some(all) })
    }

    fn matches(&self, value: &Value, pattern: &Value, kind: Pattern) -> SqlResult<Option<bool>> {
        if value.is_null() || pattern.is_null() {
            return Ok(None);
        }
        let text = value.to_text(self.context);
        let pattern = pattern.to_text(self.context);
        let mut regexes = self.regexes.borrow_mut();
        let key = (pattern, kind);
        if let Some(regex) = regexes.get(&key) {
            return Ok(Some(regex.is_match(&text)));
        }
        let regex = compile(&key.0, kind)?;
        let found = regex.is_match(&text);
        regexes.insert(key, regex);
        Ok(Some(found))
    }

    fn concatenate(&self, array: bool, left: Value, right: Value) -> Value {
        if !array {
            if left.is_null() || right.is_null() {
                return Value::Null;
            }
            return Value::text(left.to_text(self.context) + &right.to_text(self.context));
        }
        // An array with an array, or with an element at either end; NULL is the empty array.
        let elements = |value: &Value| match value {
            Value::Null => Vec::new(),
            Value::List(list) => list.to_vec(),
            other => vec![other.clone()],
        };
        if left.is_null() && right.is_null() {
            return Value::Null;
        }
        Value::list(elements(&left).into_iter().chain(elements(&right)))
    }

    fn cast(&self, value: &Value, to: &Target) -> SqlResult<Value> {
        if value.is_null() {
            return Ok(Value::Null);
        }
        match to {
            Target::Reg(kind) => self.cast_reg(value, *kind),
            Target::RegArray(kind) => {
                let list = value.as_list().unwrap_or_default();
                let cast: SqlResult<Vec<Value>> =
                    list.iter().map(|one| self.cast(one, &Target::Reg(*kind))).collect();
                Ok(Value::list(cast?))
            }
            Target::Type(SqlType::Array(element)) => {
                let Some(list) = value.as_list() else { return Ok(value.clone()) };
                let element = Target::Type(SqlType::clone(element));
                let cast: SqlResult<Vec<Value>> =
                    list.iter().map(|one| self.cast(one, &element)).collect();
                Ok(Value::list(cast?))
            }
            Target::Type(sql_type) => self.cast_scalar(value, sql_type),
        }
    }

    fn cast_reg(&self, value: &Value, kind: Reg) -> SqlResult<Value> {
        let oid = match value {
            Value::Text(name) => pg::reg_from_text(self.context, kind, name)?,
            other => other.as_oid().unwrap_or(0),
        };
        Ok(Value::Reg(kind, oid))
    }

    fn cast_scalar(&self, value: &Value, sql_type: &SqlType) -> SqlResult<Value> {
        let invalid = || {
            let text = value.to_text(self.context);
            let message = format!("invalid input syntax for type {sql_type}: \"{text}\"");
            SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
        };
        Ok(match (sql_type, value) {
            (SqlType::Text | SqlType::Varchar(None) | SqlType::Name, Value::Bool(value)) => {
                Value::text(if *value { "true" } else { "false" })
            }
            (SqlType::Varchar(Some(length)) | SqlType::Char(length), _) => {
                let length = usize::try_from(*length).unwrap_or(usize::MAX);
                let text: String = value.to_text(self.context).chars().take(length).collect();
                Value::text(text)
            }
            (SqlType::InternalChar, _) => {
                let text = value.to_text(self.context);
                Value::text(text.chars().take(1).collect::<String>())
            }
            (SqlType::Text | SqlType::Varchar(None) | SqlType::Name, _) => {
                Value::text(value.to_text(self.context))
            }
            (
                SqlType::SmallInt | SqlType::Integer | SqlType::BigInt | SqlType::Oid,
                Value::Float(float),
            ) => Value::parse(&format!("{:.0}", float.round_ties_even()), sql_type)
                .ok_or_else(invalid)?,
            (SqlType::SmallInt | SqlType::Integer | SqlType::BigInt | SqlType::Oid, _) => {
                Value::Int(value.as_int().ok_or_else(invalid)?)
            }
            (_, Value::Text(text)) => Value::parse(text, sql_type).ok_or_else(invalid)?,
            (SqlType::Real | SqlType::Double | SqlType::Numeric(_), _) => {
                Value::parse(&value.to_text(self.context), sql_type).ok_or_else(invalid)?
            }
            (_, other) => other.clone(),
        })
    }
}

fn arithmetic(operation: Operation, left: &Value, right: &Value) -> SqlResult<Value> {
    if left.is_null() || right.is_null() {
        return Ok(Value::Null);
    }
    if let (Some(left), Some(right)) = (left.as_int(), right.as_int()) {
        let zero = matches!(operation, Operation::Divide | Operation::Modulo) && right == 0;
        if zero {
            return Err(SqlError::new(code::DIVISION_BY_ZERO, "division by zero"));
        }
        let result = match operation {
            Operation::Add => left.checked_add(right),
            Operation::Subtract => left.checked_sub(right),
            Operation::Multiply => left.checked_mul(right),
            Operation::Divide => left.checked_div(right),
            Operation::Modulo => left.checked_rem(right),
            Operation::BitAnd => Some(left & right),
            Operation::BitOr => Some(left | right),
        };
        return result
            .map(Value::Int)
            .ok_or_else(|| SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "bigint out of range"));
    }
    let float = |value: &Value| match value {
        Value::Float(float) => Some(*float),
        other => match Value::parse(&other.as_int()?.to_string(), &SqlType::Double)? {
            Value::Float(float) => Some(float),
            _ => None,
        },
    };
    let (Some(left), Some(right)) = (float(left), float(right)) else {
        return Err(SqlError::unsupported("arithmetic on these types in a catalog query"));
    };
    Ok(Value::Float(match operation {
        Operation::Add => left + right,
        Operation::Subtract => left - right,
        Operation::Multiply => left * right,
        Operation::Divide => left / right,
        Operation::Modulo => left % right,
        Operation::BitAnd | Operation::BitOr => {
            return Err(SqlError::unsupported("bits of a fraction"));
        }
    }))
}

pub(super) fn compile(pattern: &str, kind: Pattern) -> SqlResult<Regex> {
    let (source, ignore_case) = match kind {
        Pattern::Regex { ignore_case } => (pattern.to_owned(), ignore_case),
        Pattern::Like { ignore_case, escape } => (like_to_regex(pattern, escape), ignore_case),
    };
    RegexBuilder::new(&source)
        .case_insensitive(ignore_case)
        .dot_matches_new_line(true)
        .build()
        .map_err(|error| {
            let reason = error.to_string();
            let last = reason.lines().last().unwrap_or_default().to_owned();
            SqlError::new("2201B", format!("invalid regular expression: {last}"))
        })
}

/// `%` and `_` are wild, `escape` makes the next character plain.
fn like_to_regex(pattern: &str, escape: Option<char>) -> String {
    let mut source = String::from("^");
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            _ if Some(character) == escape => {
                let plain = characters.next().unwrap_or(character);
                source.push_str(&regex::escape(&plain.to_string()));
            }
            '%' => source.push_str(".*"),
            '_' => source.push('.'),
            other => source.push_str(&regex::escape(&other.to_string())),
        }
    }
    source.push('$');
    source
}
