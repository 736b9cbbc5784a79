//! Queries: WITH, SELECT, set operations, order. All rows are in memory: catalogs are small.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use crate::catalog::pg::{Row, Value};
use crate::error::{SqlError, SqlResult};

use super::evaluate::{Frame, Machine, Tuple};
use super::tree::{
    Body, Condition, CteQuery, Distinct, Order, Query, Recursion, Select, SetOperator, Typed,
};

/// A value by which rows are the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    Null,
    Number(i64),
    Text(Arc<str>),
}

/// A row of a select with what was computed for it.
pub(super) struct Computed {
    pub(super) tuple: Tuple,
    pub(super) slots: Vec<Value>,
}

/// Recursion in WITH ends after so many rounds, whatever it says.
const ROUNDS_MAX: usize = 10_000;

impl Machine<'_> {
    /// The rows of a query; `frame` is the row of the select around it.
    pub(super) fn run(&self, query: &Query, frame: Option<&Frame<'_>>) -> SqlResult<Vec<Row>> {
        for cte in &query.with {
            let rows = match &cte.query {
                CteQuery::Plain(plain) => self.run(plain, frame)?,
                CteQuery::Recursive(recursion) => self.recurse(cte.id, recursion, frame)?,
            };
            self.ctes.borrow_mut().insert(cte.id, Rc::new(rows));
        }
        let mut rows = match &query.body {
            Body::Select(select) => self.select(select, frame)?,
            Body::Nested(inner) => self.run(inner, frame)?,
            Body::Values(values) => {
                let nothing = Frame { tuple: &[], slots: &[], outer: frame };
                let row = |row: &Vec<Typed>| Ok(Row::from(self.evaluate_all(row, &nothing)?));
                values.iter().map(row).collect::<SqlResult<_>>()?
            }
            Body::Set { operator, all, left, right } => {
                let (left, right) = (self.run(left, frame)?, self.run(right, frame)?);
                self.set_operation(*operator, *all, left, right)
            }
        };
        self.sort(&mut rows, &query.order);
        if let Body::Select(select) = &query.body
            && let Distinct::On(on) = &select.distinct
        {
            let mut seen = BTreeSet::new();
            rows.retain(|row| {
                let values = on.iter().filter_map(|output| row.get(*output));
                seen.insert(values.map(|value| self.key(value)).collect::<Vec<_>>())
            });
        }
        let nothing = Frame { tuple: &[], slots: &[], outer: frame };
        let count = |typed: &Option<Typed>| -> SqlResult<Option<usize>> {
            let Some(typed) = typed else { return Ok(None) };
            let value = self.evaluate(typed, &nothing)?;
            Ok(value.as_int().map(|count| usize::try_from(count).unwrap_or(0)))
        };
        let (offset, limit) = (count(&query.offset)?, count(&query.limit)?);
        let visible = query.columns.len();
        Ok(rows
            .into_iter()
            .skip(offset.unwrap_or(0))
            .take(limit.unwrap_or(usize::MAX))
            .map(|row| match row.get(..visible) {
                Some(seen) if seen.len() < row.len() => Row::from(seen),
                _ => row,
            })
            .collect())
    }

    fn recurse(
        &self,
        id: usize,
        recursion: &Recursion,
        frame: Option<&Frame<'_>>,
    ) -> SqlResult<Vec<Row>> {
        let Recursion { start, step, all } = recursion;
        let mut seen = BTreeSet::new();
        let mut fresh = |rows: Vec<Row>| -> Vec<Row> {
            rows.into_iter().filter(|row| *all || seen.insert(self.row_key(row))).collect()
        };
        let mut working = fresh(self.run(start, frame)?);
        let mut result = working.clone();
        for _ in 0..ROUNDS_MAX {
            if working.is_empty() {
                return Ok(result);
            }
            self.charge(working.len())?;
            self.ctes.borrow_mut().insert(id, Rc::new(working));
            working = fresh(self.run(step, frame)?);
            result.extend(working.iter().cloned());
        }
        Err(SqlError::new("54001", "the recursive catalog query does not end"))
    }

    fn set_operation(
        &self,
        operator: SetOperator,
        all: bool,
        left: Vec<Row>,
        right: Vec<Row>,
    ) -> Vec<Row> {
        let mut seen = BTreeSet::new();
        match operator {
            SetOperator::Union => {
                let rows = left.into_iter().chain(right);
                rows.filter(|row| all || seen.insert(self.row_key(row))).collect()
            }
            SetOperator::Except | SetOperator::Intersect => {
                let mut counts: HashMap<Vec<Key>, usize> = HashMap::new();
                for row in &right {
                    *counts.entry(self.row_key(row)).or_default() += 1;
                }
                let wanted = operator == SetOperator::Intersect;
                let keep = |row: &Row| {
                    let key = self.row_key(row);
                    if !all {
                        return counts.contains_key(&key) == wanted && seen.insert(key);
                    }
                    match counts.get_mut(&key).filter(|count| **count > 0) {
                        Some(count) => {
                            *count -= 1;
                            wanted
                        }
                        None => !wanted,
                    }
                };
                left.into_iter().filter(keep).collect()
            }
        }
    }

    fn select(&self, select: &Select, outer: Option<&Frame<'_>>) -> SqlResult<Vec<Row>> {
        let filter: Vec<&Condition> = select.filter.iter().collect();
        let tuples = match &select.from {
            Some(from) => {
                let (here, after): (Vec<_>, Vec<_>) =
                    filter.into_iter().partition(|one| one.sources & !from.sources() == 0);
                let tuples = self.tuples(select, from, &here, None, outer)?;
                self.filter(tuples, &after, outer)?
            }
            None => self.filter(vec![Vec::new()], &filter, outer)?,
        };
        let mut rows = if select.grouped {
            self.groups(select, tuples, outer)?
        } else {
            let empty = || vec![Value::Null; select.steps.slots];
            tuples.into_iter().map(|tuple| Computed { tuple, slots: empty() }).collect()
        };
        for row_number in &select.steps.row_numbers {
            self.number_rows(row_number, &mut rows, outer)?;
        }
        let mut results = Vec::new();
        for row in &mut rows {
            self.project(select, row, outer, &mut results)?;
        }
        if matches!(select.distinct, Distinct::Yes) {
            let mut seen = BTreeSet::new();
            results.retain(|row| seen.insert(self.row_key(row)));
        }
        Ok(results)
    }

    /// One output row; with sets among the outputs, one for each of their elements.
    fn project(
        &self,
        select: &Select,
        row: &mut Computed,
        outer: Option<&Frame<'_>>,
        results: &mut Vec<Row>,
    ) -> SqlResult<()> {
        let mut sets = Vec::new();
        for set in &select.steps.sets {
            let frame = Frame { tuple: &row.tuple, slots: &row.slots, outer };
            let arguments = self.evaluate_all(&set.arguments, &frame)?;
            sets.push((set.slot, set.series.rows(self.context, &arguments)?));
        }
        let count = if select.steps.sets.is_empty() {
            1
        } else {
            sets.iter().map(|(_, rows)| rows.len()).max().unwrap_or(0)
        };
        for position in 0..count {
            for (slot, rows) in &sets {
                row.slots[*slot] = match rows.get(position).map(|row| &**row) {
                    None => Value::Null,
                    Some([single]) => single.clone(),
                    Some(fields) => Value::Record(fields.into()),
                };
            }
            let frame = Frame { tuple: &row.tuple, slots: &row.slots, outer };
            results.push(self.evaluate_all(&select.outputs, &frame)?.into());
        }
        Ok(())
    }

    fn sort(&self, rows: &mut [Row], order: &[Order]) {
        if order.is_empty() {
            return;
        }
        rows.sort_by(|left, right| {
            for key in order {
                let (left, right) = (&left[key.output], &right[key.output]);
                let found = match (left.is_null(), right.is_null()) {
                    (true, true) => Ordering::Equal,
                    (true, false) if key.nulls_first => Ordering::Less,
                    (true, false) => Ordering::Greater,
                    (false, true) if key.nulls_first => Ordering::Greater,
                    (false, true) => Ordering::Less,
                    (false, false) if key.descending => self.order(right, left),
                    (false, false) => self.order(left, right),
                };
                if found != Ordering::Equal {
                    return found;
                }
            }
            Ordering::Equal
        });
    }

    /// NULLs last ascending, first descending.
    pub(super) fn order_keys(
        &self,
        left: &[Value],
        right: &[Value],
        descending: &[bool],
    ) -> Ordering {
        for ((left, right), descending) in left.iter().zip(right).zip(descending) {
            let order = match (left.is_null(), right.is_null()) {
                (true, true) => Ordering::Equal,
                (true, false) => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) => self.order(left, right),
            };
            let order = if *descending { order.reverse() } else { order };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }

    /// Values of one column compare; an OID alias type by its number.
    pub(super) fn order(&self, left: &Value, right: &Value) -> Ordering {
        left.compare(right, self.context).ok().flatten().unwrap_or(Ordering::Equal)
    }

    pub(super) fn key(&self, value: &Value) -> Key {
        match value {
            Value::Null => Key::Null,
            Value::Int(number) | Value::Timestamp(number) => Key::Number(*number),
            Value::Bool(value) => Key::Number(i64::from(*value)),
            Value::Reg(_, oid) => Key::Number(i64::from(*oid)),
            Value::Text(text) => Key::Text(Arc::clone(text)),
            other => Key::Text(other.to_text(self.context).into()),
        }
    }

    pub(super) fn row_key(&self, row: &[Value]) -> Vec<Key> {
        row.iter().map(|value| self.key(value)).collect()
    }
}
