//! GROUP BY, aggregates and `row_number()`.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use crate::catalog::pg::Value;
use crate::error::{SqlError, SqlResult, code};

use super::evaluate::{Frame, Machine, Tuple};
use super::run::{Computed, Key};
use super::tree::{Aggregate, AggregateKind, RowNumber, Select};

impl Machine<'_> {
    pub(super) fn groups(
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

    pub(super) fn number_rows(
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
}
