//! The aggregate calls of a GROUP BY: which rows each sees, and what it keeps besides its
//! accumulator.
//!
//! State tables: role 0 is the groups'; role `1 + i` is the multiset of call `i`, if it has one of
//! its own. DISTINCT calls over the same argument and filter share that of the first of them.

use std::borrow::Cow;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::datatypes::{DataType, SchemaRef};

use super::super::OperatorError;
use super::super::slots::KeySlots;
use super::multiset::{Changes, Multiset};
use crate::error::{SqlError, SqlResult};
use crate::expr::accumulator::{self, Accumulator, End, Extreme, Results, Spread, Sum};
use crate::graph::{self, AggregateCall, AggregateFunction};
use crate::state::Table;
use crate::types::key::KeyCodec;

/// All calls, in order.
pub(super) struct Calls {
    calls: Vec<Call>,
    distinct: Vec<Distinct>,
}

struct Call {
    argument: Option<usize>,
    filter: Option<usize>,
    state: State,
}

enum State {
    /// Sees every row.
    Plain(Box<dyn Accumulator>),
    /// Sees each value of a [`Distinct`] once.
    Distinct(Box<dyn Accumulator>),
    /// Min or max of values that may be taken away.
    Extreme(Box<Retractable>),
}

/// The values of an argument, for the DISTINCT calls over it.
struct Distinct {
    argument: usize,
    filter: Option<usize>,
    codec: KeyCodec,
    values: Multiset,
    /// The calls that count each of its values once.
    calls: Vec<usize>,
}

/// An end of a multiset.
struct Retractable {
    extreme: Extreme,
    values: Multiset,
    /// Groups that lost the value at the end, whose next must be looked for when the epoch ends.
    lost: Vec<u32>,
}

fn spread(function: AggregateFunction) -> Spread {
    Spread {
        is_sample: !matches!(function, AggregateFunction::VarPop | AggregateFunction::StddevPop),
        is_root: matches!(function, AggregateFunction::StddevSamp | AggregateFunction::StddevPop),
    }
}

impl Calls {
    /// For rows with `input` columns, giving results with the types of `results`. `table` makes the
    /// state table of a role.
    pub(super) fn new(
        aggregate: &graph::Aggregate,
        input: &SchemaRef,
        results: &[DataType],
        table: &dyn Fn(u16) -> Table,
    ) -> SqlResult<Self> {
        let mut calls = Self { calls: Vec::new(), distinct: Vec::new() };
        for (index, (call, result)) in aggregate.calls.iter().zip(results).enumerate() {
            let role = u16::try_from(index + 1)
                .map_err(|_| SqlError::unsupported("more than 65534 aggregates in a view"))?;
            let retracts = !aggregate.append_only_input;
            calls.add(call, input, result, retracts, &|| table(role))?;
        }
        Ok(calls)
    }

    fn add(
        &mut self,
        call: &AggregateCall,
        input: &SchemaRef,
        result: &DataType,
        retracts: bool,
        table: &dyn Fn() -> Table,
    ) -> SqlResult<()> {
        let argument = call.argument.map(|column| input.field(column).data_type());
        let needed = || argument.ok_or_else(|| SqlError::internal("an aggregate of nothing"));
        let accumulator: Box<dyn Accumulator> = match call.function {
            AggregateFunction::Count => accumulator::count(),
            AggregateFunction::Sum => accumulator::sum(Sum::Total, needed()?, result)?,
            AggregateFunction::Avg => accumulator::sum(Sum::Mean, needed()?, result)?,
            AggregateFunction::VarSamp
            | AggregateFunction::VarPop
            | AggregateFunction::StddevSamp
            | AggregateFunction::StddevPop => {
                accumulator::variance(spread(call.function), needed()?)?
            }
            // DISTINCT changes nothing here.
            AggregateFunction::Min | AggregateFunction::Max => {
                let least = call.function == AggregateFunction::Min;
                let end = if least { End::Least } else { End::Greatest };
                let extreme = Extreme::new(end, needed()?)?;
                let state = if retracts {
                    let values = Multiset::new(table());
                    State::Extreme(Box::new(Retractable { extreme, values, lost: Vec::new() }))
                } else {
                    State::Plain(Box::new(extreme))
                };
                self.push(call, state);
                return Ok(());
            }
        };
        if call.distinct {
            self.add_distinct(call, needed()?, table)?;
            self.push(call, State::Distinct(accumulator));
        } else {
            self.push(call, State::Plain(accumulator));
        }
        Ok(())
    }

    fn push(&mut self, call: &AggregateCall, state: State) {
        self.calls.push(Call { argument: call.argument, filter: call.filter, state });
    }

    /// The call about to be pushed sees the distinct values of its argument.
    fn add_distinct(
        &mut self,
        call: &AggregateCall,
        value_type: &DataType,
        table: &dyn Fn() -> Table,
    ) -> SqlResult<()> {
        let index = self.calls.len();
        let argument = call.argument.ok_or_else(|| SqlError::internal("DISTINCT of nothing"))?;
        let same = |distinct: &&mut Distinct| {
            distinct.argument == argument && distinct.filter == call.filter
        };
        if let Some(distinct) = self.distinct.iter_mut().find(same) {
            distinct.calls.push(index);
            return Ok(());
        }
        self.distinct.push(Distinct {
            argument,
            filter: call.filter,
            codec: KeyCodec::of_types(vec![0], std::iter::once(value_type.clone()))?,
            values: Multiset::new(table()),
            calls: vec![index],
        });
        Ok(())
    }

    /// Shows the calls a batch with `columns`, row `i` being of group `slots[i]`.
    pub(super) fn update(
        &mut self,
        groups: &KeySlots,
        slots: &[u32],
        columns: &[ArrayRef],
        weights: &[i64],
    ) -> Result<(), OperatorError> {
        for call in &mut self.calls {
            let weights = filtered(call.filter, columns, weights);
            let values = call.argument.map(|column| &columns[column]);
            match (&mut call.state, values) {
                (State::Plain(accumulator), values) => {
                    accumulator.update(slots, values, &weights)?;
                }
                (State::Extreme(retractable), Some(values)) => {
                    let keys = retractable.extreme.keys(values)?;
                    retractable.values.add(slots, values, &keys, &weights);
                    if retractable.values.is_full() {
                        retractable.apply(groups)?;
                    }
                }
                (State::Extreme(_), None) | (State::Distinct(_), _) => {}
            }
        }
        for distinct in &mut self.distinct {
            let weights = filtered(distinct.filter, columns, weights);
            let values = &columns[distinct.argument];
            let keys = distinct.codec.encode_columns(std::slice::from_ref(values), values.len())?;
            distinct.values.add(slots, values, &keys, &weights);
            if distinct.values.is_full() {
                distinct.apply(groups, &mut self.calls)?;
            }
        }
        Ok(())
    }

    /// The epoch ends: whatever waits is in the accumulators and tables after this.
    pub(super) fn settle(&mut self, groups: &KeySlots) -> Result<(), OperatorError> {
        for distinct in &mut self.distinct {
            distinct.apply(groups, &mut self.calls)?;
            distinct.values.check()?;
        }
        for call in &mut self.calls {
            if let State::Extreme(retractable) = &mut call.state {
                retractable.apply(groups)?;
                retractable.values.check()?;
                retractable.find_lost(groups)?;
            }
        }
        Ok(())
    }

    /// The results of each call for `slots`.
    pub(super) fn results(&self, slots: &[u32]) -> SqlResult<Vec<Results>> {
        self.calls.iter().map(|call| call.state.accumulator().results(slots)).collect()
    }

    pub(super) fn resize(&mut self, slots: usize) {
        self.accumulators().for_each(|accumulator| accumulator.resize(slots));
    }

    pub(super) fn retain(&mut self, slots: &[u32]) {
        self.accumulators().for_each(|accumulator| accumulator.retain(slots));
    }

    pub(super) fn write(&self, slot: usize, bytes: &mut Vec<u8>) {
        self.calls.iter().for_each(|call| call.state.accumulator().write(slot, bytes));
    }

    pub(super) fn read(&mut self, slot: usize, bytes: &mut &[u8]) -> Option<()> {
        self.accumulators().try_for_each(|accumulator| accumulator.read(slot, bytes))
    }

    pub(super) fn bytes(&self) -> usize {
        self.calls.iter().map(|call| call.state.accumulator().bytes()).sum()
    }

    pub(super) fn tables(&mut self) -> impl Iterator<Item = &mut Table> {
        let extremes = self.calls.iter_mut().filter_map(|call| match &mut call.state {
            State::Extreme(retractable) => Some(retractable.values.table()),
            State::Plain(_) | State::Distinct(_) => None,
        });
        extremes.chain(self.distinct.iter_mut().map(|distinct| distinct.values.table()))
    }

    fn accumulators(&mut self) -> impl Iterator<Item = &mut dyn Accumulator> {
        self.calls.iter_mut().map(|call| call.state.accumulator_mut())
    }
}

impl State {
    fn accumulator(&self) -> &dyn Accumulator {
        match self {
            State::Plain(accumulator) | State::Distinct(accumulator) => &**accumulator,
            State::Extreme(retractable) => &retractable.extreme,
        }
    }

    fn accumulator_mut(&mut self) -> &mut dyn Accumulator {
        match self {
            State::Plain(accumulator) | State::Distinct(accumulator) => &mut **accumulator,
            State::Extreme(retractable) => &mut retractable.extreme,
        }
    }
}

impl Distinct {
    /// Values that came to be there are shown to the calls with weight 1, those that are no longer
    /// there with −1.
    fn apply(&mut self, groups: &KeySlots, calls: &mut [Call]) -> Result<(), OperatorError> {
        let Changes { changes, values } = self.values.apply(groups)?;
        let crossed = |before: i64, after: i64| i64::from(after > 0) - i64::from(before > 0);
        let crossings: Vec<_> = changes
            .iter()
            .map(|change| (change, crossed(change.before, change.after)))
            .filter(|(_, weight)| *weight != 0)
            .collect();
        if crossings.is_empty() {
            return Ok(());
        }
        let keys = crossings.iter().map(|(change, _)| values.get(change.value));
        let column = self.codec.decode(keys)?.swap_remove(0);
        let slots: Vec<u32> = crossings.iter().map(|(change, _)| change.slot).collect();
        let weights: Vec<i64> = crossings.iter().map(|(_, weight)| *weight).collect();
        for &call in &self.calls {
            calls[call].state.accumulator_mut().update(&slots, Some(&column), &weights)?;
        }
        Ok(())
    }
}

impl Retractable {
    /// What came is offered first, so that an end that moves on needs no search.
    fn apply(&mut self, groups: &KeySlots) -> Result<(), OperatorError> {
        let Changes { changes, values } = self.values.apply(groups)?;
        for change in changes.iter().filter(|change| change.after > 0) {
            self.extreme.offer(change.slot, values.get(change.value));
        }
        for change in changes.iter().filter(|change| change.after <= 0) {
            if self.extreme.get(change.slot) == values.get(change.value) {
                self.extreme.set(change.slot, &[]);
                self.lost.push(change.slot);
            }
        }
        Ok(())
    }

    fn find_lost(&mut self, groups: &KeySlots) -> Result<(), OperatorError> {
        self.lost.sort_unstable();
        self.lost.dedup();
        for slot in std::mem::take(&mut self.lost) {
            let group = groups.key(slot);
            let next = match self.extreme.end() {
                End::Least => self.values.first(group)?,
                End::Greatest => self.values.last(group)?,
            };
            self.extreme.set(slot, next.as_deref().unwrap_or_default());
        }
        Ok(())
    }
}

/// `weights` with 0 for rows where the boolean column `filter` is not true.
fn filtered<'a>(filter: Option<usize>, columns: &[ArrayRef], weights: &'a [i64]) -> Cow<'a, [i64]> {
    let Some(filter) = filter else { return Cow::Borrowed(weights) };
    let filter: &BooleanArray = columns[filter].as_boolean();
    let counts = |row: usize| filter.is_valid(row) && filter.value(row);
    let masked = |(row, &weight)| if counts(row) { weight } else { 0 };
    Cow::Owned(weights.iter().enumerate().map(masked).collect())
}
