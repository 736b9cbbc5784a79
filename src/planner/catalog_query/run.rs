//! Queries: joins, groups, order, set operations. All rows are in memory: catalogs are small.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use crate::catalog::pg::{self, Row, Value};
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

use super::evaluate::{Frame, Machine, Tuple};
use super::tree::{
    Aggregate, AggregateKind, Body, Comparison, Condition, CteQuery, Distinct, From, JoinKind,
    Node, Order, Query, Recursion, RowNumber, Select, SetOperator, SourceKind, Typed, bit,
};

/// A value by which rows are the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Null,
    Number(i64),
    Text(Arc<str>),
}

/// A row of a select with what was computed for it.
struct Computed {
    tuple: Tuple,
    slots: Vec<Value>,
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

    fn filter(
        &self,
        mut tuples: Vec<Tuple>,
        conditions: &[&Condition],
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Vec<Tuple>> {
        for condition in conditions {
            let mut kept = Vec::with_capacity(tuples.len());
            for tuple in tuples {
                let frame = Frame { tuple: &tuple, slots: &[], outer };
                if self.holds(&condition.expression, &frame)? {
                    kept.push(tuple);
                }
            }
            tuples = kept;
        }
        Ok(tuples)
    }

    /// The joined rows of a tree that meet `conditions`, which read no other sources. `beside` is
    /// the row so far, which lateral sources read.
    fn tuples(
        &self,
        select: &Select,
        from: &From,
        conditions: &[&Condition],
        beside: Option<&[Option<Row>]>,
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Vec<Tuple>> {
        match from {
            From::Source(source) => {
                let rows = self.source_rows(select, *source, beside, outer)?;
                self.charge(rows.len())?;
                let blank: Tuple = match beside {
                    Some(beside) => beside.to_vec(),
                    None => vec![None; select.sources.len()],
                };
                let tuples = rows
                    .iter()
                    .map(|row| {
                        let mut tuple = blank.clone();
                        tuple[*source] = Some(Arc::clone(row));
                        tuple
                    })
                    .collect();
                self.filter(tuples, conditions, outer)
            }
            From::Join { left, right, kind, on } => {
                let join = Join { left, right, kind: *kind, on };
                self.join(select, &join, conditions, beside, outer)
            }
        }
    }

    fn source_rows(
        &self,
        select: &Select,
        source: usize,
        beside: Option<&[Option<Row>]>,
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Rc<Vec<Row>>> {
        let frame = Frame { tuple: beside.unwrap_or(&[]), slots: &[], outer };
        match &select.sources[source].kind {
            SourceKind::Relation(relation) => {
                if let Some(rows) = self.relations.borrow().get(&relation.oid) {
                    return Ok(Rc::clone(rows));
                }
                let rows = Rc::new(pg::rows(relation, self.context));
                self.relations.borrow_mut().insert(relation.oid, Rc::clone(&rows));
                Ok(rows)
            }
            SourceKind::Cte(id) => Ok(self.ctes.borrow().get(id).cloned().unwrap_or_default()),
            SourceKind::Derived(query) => Ok(Rc::new(self.run(query, Some(&frame))?)),
            SourceKind::Series { series, arguments, ordinality } => {
                let arguments = self.evaluate_all(arguments, &frame)?;
                let mut rows = series.rows(self.context, &arguments)?;
                if *ordinality {
                    for (number, row) in (1..).zip(&mut rows) {
                        *row = row.iter().cloned().chain([Value::Int(number)]).collect();
                    }
                }
                Ok(Rc::new(rows))
            }
        }
    }

    fn join(
        &self,
        select: &Select,
        join: &Join<'_>,
        conditions: &[&Condition],
        beside: Option<&[Option<Row>]>,
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Vec<Tuple>> {
        let (left_sources, right_sources) = (join.left.sources(), join.right.sources());
        let of_left = |one: &Condition| one.sources & !left_sources == 0;
        let of_right = |one: &Condition| one.sources & !right_sources == 0;
        let mut left_conditions = Vec::new();
        let mut right_conditions = Vec::new();
        let mut matching = Vec::new();
        let mut after = Vec::new();
        for condition in conditions.iter().copied() {
            // A condition may go below only where no row that it drops could come back as NULLs.
            match join.kind {
                JoinKind::Inner | JoinKind::Left if of_left(condition) => {
                    left_conditions.push(condition);
                }
                JoinKind::Inner | JoinKind::Right if of_right(condition) => {
                    right_conditions.push(condition);
                }
                JoinKind::Inner => matching.push(condition),
                _ => after.push(condition),
            }
        }
        for condition in join.on {
            match join.kind {
                JoinKind::Inner if of_left(condition) => left_conditions.push(condition),
                JoinKind::Inner | JoinKind::Left if of_right(condition) => {
                    right_conditions.push(condition);
                }
                _ => matching.push(condition),
            }
        }
        let left = self.tuples(select, join.left, &left_conditions, beside, outer)?;
        let joined = if is_lateral(select, join.right) {
            let mut joined = Vec::new();
            for tuple in left {
                let right =
                    self.tuples(select, join.right, &right_conditions, Some(&tuple), outer)?;
                let right = self.filter(right, &matching, outer)?;
                if right.is_empty() && join.kind == JoinKind::Left {
                    joined.push(tuple);
                }
                joined.extend(right);
            }
            joined
        } else {
            let right = self.tuples(select, join.right, &right_conditions, beside, outer)?;
            self.match_sides(join, left, right, &matching, outer)?
        };
        self.filter(joined, &after, outer)
    }

    /// Each pair that meets the conditions, and what an outer join keeps without a partner.
    fn match_sides(
        &self,
        join: &Join<'_>,
        left: Vec<Tuple>,
        right: Vec<Tuple>,
        matching: &[&Condition],
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Vec<Tuple>> {
        let right_sources = join.right.sources();
        let hash = HashSide::find(matching, join.left.sources(), right_sources);
        let mut by_key: HashMap<Key, Vec<usize>> = HashMap::new();
        if let Some(hash) = &hash {
            for (position, tuple) in right.iter().enumerate() {
                let frame = Frame { tuple, slots: &[], outer };
                let value = self.evaluate(hash.right, &frame)?;
                if !value.is_null() {
                    by_key.entry(self.key(&value)).or_default().push(position);
                }
            }
        }
        let everything: Vec<usize> =
            if hash.is_none() { (0..right.len()).collect() } else { vec![] };
        let mut partnered = vec![false; right.len()];
        let mut joined = Vec::new();
        for tuple in left {
            let candidates = match &hash {
                None => &everything,
                Some(hash) => {
                    let frame = Frame { tuple: &tuple, slots: &[], outer };
                    let value = self.evaluate(hash.left, &frame)?;
                    match by_key.get(&self.key(&value)).filter(|_| !value.is_null()) {
                        Some(found) => found,
                        None => &Vec::new(),
                    }
                }
            };
            self.charge(candidates.len())?;
            let mut met = false;
            for position in candidates {
                let merged = merge(&tuple, &right[*position], right_sources);
                let frame = Frame { tuple: &merged, slots: &[], outer };
                let mut holds = true;
                for condition in matching {
                    holds = holds && self.holds(&condition.expression, &frame)?;
                }
                if holds {
                    met = true;
                    partnered[*position] = true;
                    joined.push(merged);
                }
            }
            if !met && matches!(join.kind, JoinKind::Left | JoinKind::Full) {
                joined.push(tuple);
            }
        }
        if matches!(join.kind, JoinKind::Right | JoinKind::Full) {
            let alone = right.into_iter().zip(partnered).filter(|(_, partnered)| !partnered);
            joined.extend(alone.map(|(tuple, _)| tuple));
        }
        Ok(joined)
    }

    fn groups(
        &self,
        select: &Select,
        tuples: Vec<Tuple>,
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Vec<Computed>> {
        let mut order = Vec::new();
        let mut groups: HashMap<Vec<Key>, Vec<Tuple>> = HashMap::new();
        for tuple in tuples {
            let frame = Frame { tuple: &tuple, slots: &[], outer };
            let values = self.evaluate_all(&select.group, &frame)?;
            let key: Vec<Key> = values.iter().map(|value| self.key(value)).collect();
            let group = groups.entry(key.clone()).or_default();
            if group.is_empty() {
                order.push(key);
            }
            group.push(tuple);
        }
        if order.is_empty() && select.group.is_empty() {
            // Aggregates without GROUP BY have one group, be it empty.
            order.push(Vec::new());
        }
        let mut rows = Vec::new();
        for key in order {
            let members = groups.remove(&key).unwrap_or_default();
            let mut slots = vec![Value::Null; select.steps.slots];
            for aggregate in &select.steps.aggregates {
                slots[aggregate.slot] = self.aggregate(aggregate, &members, outer)?;
            }
            let blank = || vec![None; select.sources.len()];
            let tuple = members.into_iter().next().unwrap_or_else(blank);
            let frame = Frame { tuple: &tuple, slots: &slots, outer };
            if match &select.having {
                Some(having) => self.holds(having, &frame)?,
                None => true,
            } {
                rows.push(Computed { tuple, slots });
            }
        }
        Ok(rows)
    }

    fn aggregate(
        &self,
        aggregate: &Aggregate,
        members: &[Tuple],
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<Value> {
        let mut inputs: Vec<(Vec<Value>, Vec<Value>)> = Vec::new();
        let mut seen = BTreeSet::new();
        for tuple in members {
            let frame = Frame { tuple, slots: &[], outer };
            if let Some(filter) = &aggregate.filter
                && !self.holds(filter, &frame)?
            {
                continue;
            }
            let values = self.evaluate_all(&aggregate.arguments, &frame)?;
            if aggregate.distinct && !seen.insert(self.row_key(&values)) {
                continue;
            }
            let mut keys = Vec::new();
            for (key, _) in &aggregate.order {
                keys.push(self.evaluate(key, &frame)?);
            }
            inputs.push((values, keys));
        }
        let directions: Vec<bool> = aggregate.order.iter().map(|(_, down)| *down).collect();
        inputs.sort_by(|left, right| self.order_keys(&left.1, &right.1, &directions));
        let inputs: Vec<Vec<Value>> = inputs.into_iter().map(|(values, _)| values).collect();
        self.fold(aggregate.kind, &inputs)
    }

    fn fold(&self, kind: AggregateKind, inputs: &[Vec<Value>]) -> SqlResult<Value> {
        let count = |length: usize| Value::Int(i64::try_from(length).unwrap_or(i64::MAX));
        let firsts = || inputs.iter().filter_map(|values| values.first());
        let present: Vec<&Value> = firsts().filter(|value| !value.is_null()).collect();
        if present.is_empty() {
            return Ok(match kind {
                AggregateKind::CountRows => count(inputs.len()),
                AggregateKind::Count => Value::Int(0),
                AggregateKind::ArrayAgg if !inputs.is_empty() => Value::list(firsts().cloned()),
                _ => Value::Null,
            });
        }
        let extreme = |wanted: Ordering| {
            present.iter().copied().fold(Value::Null, |best, value| {
                let better = best.is_null() || self.order(value, &best) == wanted;
                if better { value.clone() } else { best }
            })
        };
        Ok(match kind {
            AggregateKind::CountRows => count(inputs.len()),
            AggregateKind::Count => count(present.len()),
            AggregateKind::Min => extreme(Ordering::Less),
            AggregateKind::Max => extreme(Ordering::Greater),
            AggregateKind::Sum => {
                let mut sum = 0_i64;
                for value in present {
                    let number = value.as_int().ok_or_else(|| {
                        SqlError::unsupported("the sum of these in a catalog query")
                    })?;
                    sum = sum.checked_add(number).ok_or_else(|| {
                        SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "bigint out of range")
                    })?;
                }
                Value::Int(sum)
            }
            AggregateKind::BoolAnd => {
                Value::Bool(present.iter().all(|value| value.as_bool() == Some(true)))
            }
            AggregateKind::BoolOr => {
                Value::Bool(present.iter().any(|value| value.as_bool() == Some(true)))
            }
            AggregateKind::ArrayAgg => Value::list(firsts().cloned()),
            AggregateKind::StringAgg => {
                let mut text = String::new();
                for (position, values) in
                    inputs.iter().filter(|values| !values[0].is_null()).enumerate()
                {
                    if position > 0 {
                        text.push_str(&values.get(1).unwrap_or(&Value::Null).to_text(self.context));
                    }
                    text.push_str(&values[0].to_text(self.context));
                }
                Value::text(text)
            }
        })
    }

    fn number_rows(
        &self,
        row_number: &RowNumber,
        rows: &mut [Computed],
        outer: Option<&Frame<'_>>,
    ) -> SqlResult<()> {
        let mut places = Vec::new();
        for (position, row) in rows.iter().enumerate() {
            let frame = Frame { tuple: &row.tuple, slots: &row.slots, outer };
            let partition = self.evaluate_all(&row_number.partition, &frame)?;
            let mut keys = Vec::new();
            for (key, _) in &row_number.order {
                keys.push(self.evaluate(key, &frame)?);
            }
            places.push((self.row_key(&partition), keys, position));
        }
        let directions: Vec<bool> = row_number.order.iter().map(|(_, down)| *down).collect();
        places.sort_by(|left, right| {
            left.0.cmp(&right.0).then_with(|| self.order_keys(&left.1, &right.1, &directions))
        });
        let mut number = 0;
        let mut previous = None;
        for (partition, _, position) in &places {
            number = if previous == Some(partition) { number + 1 } else { 1 };
            previous = Some(partition);
            rows[*position].slots[row_number.slot] = Value::Int(number);
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
    fn order_keys(&self, left: &[Value], right: &[Value], descending: &[bool]) -> Ordering {
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
    fn order(&self, left: &Value, right: &Value) -> Ordering {
        left.compare(right, self.context).ok().flatten().unwrap_or(Ordering::Equal)
    }

    fn key(&self, value: &Value) -> Key {
        match value {
            Value::Null => Key::Null,
            Value::Int(number) | Value::Timestamp(number) => Key::Number(*number),
            Value::Bool(value) => Key::Number(i64::from(*value)),
            Value::Reg(_, oid) => Key::Number(i64::from(*oid)),
            Value::Text(text) => Key::Text(Arc::clone(text)),
            other => Key::Text(other.to_text(self.context).into()),
        }
    }

    fn row_key(&self, row: &[Value]) -> Vec<Key> {
        row.iter().map(|value| self.key(value)).collect()
    }
}

/// A join in a FROM.
struct Join<'t> {
    left: &'t From,
    right: &'t From,
    kind: JoinKind,
    on: &'t [Condition],
}

/// An equality by which the right side is looked up.
struct HashSide<'t> {
    left: &'t Typed,
    right: &'t Typed,
}

impl<'t> HashSide<'t> {
    fn find(conditions: &[&'t Condition], left: u64, right: u64) -> Option<Self> {
        conditions.iter().find_map(|condition| {
            let Node::Compare { comparison: Comparison::Equal, left: a, right: b } =
                &condition.expression.node
            else {
                return None;
            };
            if kind_of_key(&a.sql_type)? != kind_of_key(&b.sql_type)? {
                return None;
            }
            let (of_a, of_b) = (a.node.sources(), b.node.sources());
            let only = |sources: u64, side: u64| sources != 0 && sources & !side == 0;
            if only(of_a, left) && only(of_b, right) {
                Some(HashSide { left: a, right: b })
            } else if only(of_b, left) && only(of_a, right) {
                Some(HashSide { left: b, right: a })
            } else {
                None
            }
        })
    }
}

/// Types whose equal values have equal keys.
fn kind_of_key(sql_type: &SqlType) -> Option<u8> {
    Some(match sql_type {
        SqlType::SmallInt
        | SqlType::Integer
        | SqlType::BigInt
        | SqlType::Oid
        | SqlType::Regclass
        | SqlType::Regtype
        | SqlType::Regproc => 1,
        SqlType::Text | SqlType::Name | SqlType::Varchar(_) | SqlType::InternalChar => 2,
        _ => return None,
    })
}

fn merge(left: &[Option<Row>], right: &[Option<Row>], right_sources: u64) -> Tuple {
    left.iter()
        .zip(right)
        .enumerate()
        .map(
            |(source, (left, right))| {
                if right_sources & bit(source) != 0 { right.clone() } else { left.clone() }
            },
        )
        .collect()
}

/// Whether a tree's rows depend on the sources before it.
fn is_lateral(select: &Select, from: &From) -> bool {
    match from {
        From::Join { left, right, .. } => is_lateral(select, left) || is_lateral(select, right),
        From::Source(source) => match &select.sources[*source].kind {
            SourceKind::Series { arguments, .. } => {
                arguments.iter().any(|one| one.node.sources() != 0)
            }
            SourceKind::Derived(query) => query.lateral,
            SourceKind::Relation(_) | SourceKind::Cte(_) => false,
        },
    }
}
