//! `sum` and `avg` of intervals: months, days and time add up apart, exactly; an average is the sum
//! divided as PostgreSQL divides intervals, what is left over of months going to the days, of days
//! to the time.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, IntervalMonthDayNanoArray};
use arrow::datatypes::{IntervalMonthDayNano, IntervalMonthDayNanoType};

use super::{Accumulator, Results, Sum, read_varint, write_varint};
use crate::error::{SqlError, SqlResult, code};
use crate::expr::functions::interval_over;

/// Some intervals: how many, and the sums of their parts, which do not overflow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spans {
    count: i64,
    months: i128,
    days: i128,
    nanos: i128,
}

impl Spans {
    /// Adds the intervals of a column, each as often as its weight says, to what its slot has.
    pub fn add_column(
        all: &mut [Spans],
        column: &ArrayRef,
        slot: impl Fn(usize) -> usize,
        weight: impl Fn(usize) -> i64,
    ) -> SqlResult<()> {
        let values = column
            .as_primitive_opt::<IntervalMonthDayNanoType>()
            .ok_or_else(|| SqlError::internal("a sum of values that are no intervals"))?;
        for row in (0..values.len()).filter(|row| values.is_valid(*row)) {
            all[slot(row)].add(values.value(row), weight(row));
        }
        Ok(())
    }

    fn add(&mut self, value: IntervalMonthDayNano, weight: i64) {
        self.count += weight;
        self.months += i128::from(value.months) * i128::from(weight);
        self.days += i128::from(value.days) * i128::from(weight);
        self.nanos += i128::from(value.nanoseconds) * i128::from(weight);
    }

    /// Adds what others added.
    pub fn merge(&mut self, other: &Spans) {
        self.count += other.count;
        self.months += other.months;
        self.days += other.days;
        self.nanos += other.nanos;
    }

    /// The sum or the average; `None`: there are no intervals.
    pub fn result(&self, function: Sum) -> SqlResult<Option<IntervalMonthDayNano>> {
        if self.count <= 0 {
            return Ok(None);
        }
        let sum = self
            .total()
            .ok_or_else(|| SqlError::new(code::DATETIME_FIELD_OVERFLOW, "interval out of range"))?;
        match function {
            Sum::Total => Ok(Some(sum)),
            Sum::Mean => interval_over(sum, self.count as f64).map(Some),
        }
    }

    fn total(&self) -> Option<IntervalMonthDayNano> {
        Some(IntervalMonthDayNano::new(
            self.months.try_into().ok()?,
            self.days.try_into().ok()?,
            self.nanos.try_into().ok()?,
        ))
    }

    /// Appends it for [`Spans::read`].
    pub fn write(&self, bytes: &mut Vec<u8>) {
        write_varint(self.count, bytes);
        for part in [self.months, self.days, self.nanos] {
            write_varint(part, bytes);
        }
    }

    /// Reads what is written first in `bytes`, and moves past it; `None`: it is not that.
    pub fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self {
            count: read_varint(bytes)?,
            months: read_varint(bytes)?,
            days: read_varint(bytes)?,
            nanos: read_varint(bytes)?,
        })
    }
}

/// The sums of one column, by slot.
pub(super) struct Intervals {
    function: Sum,
    spans: Vec<Spans>,
}

impl Intervals {
    pub(super) fn new(function: Sum) -> Self {
        Self { function, spans: Vec::new() }
    }
}

impl Accumulator for Intervals {
    fn resize(&mut self, slots: usize) {
        self.spans.resize(slots, Spans::default());
    }

    fn update(
        &mut self,
        slots: &[u32],
        values: Option<&ArrayRef>,
        weights: &[i64],
    ) -> SqlResult<()> {
        let values = values.ok_or_else(|| SqlError::internal("a sum of nothing"))?;
        let slot = |row: usize| slots[row] as usize;
        Spans::add_column(&mut self.spans, values, slot, |row| weights[row])
    }

    fn results(&self, slots: &[u32]) -> SqlResult<Results> {
        let mut errors = Vec::new();
        let values = slots.iter().enumerate().map(|(place, &slot)| {
            self.spans[slot as usize].result(self.function).unwrap_or_else(|error| {
                errors.push((place, error));
                None
            })
        });
        let column: ArrayRef = Arc::new(values.collect::<IntervalMonthDayNanoArray>());
        Ok(Results { column, errors })
    }

    fn write(&self, slot: usize, bytes: &mut Vec<u8>) {
        self.spans[slot].write(bytes);
    }

    fn read(&mut self, slot: usize, bytes: &mut &[u8]) -> Option<()> {
        self.spans[slot] = Spans::read(bytes)?;
        Some(())
    }

    fn retain(&mut self, slots: &[u32]) {
        self.spans = super::gather(&mut self.spans, slots);
    }

    fn bytes(&self) -> usize {
        self.spans.capacity() * size_of::<Spans>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000_000;

    fn span(months: i32, days: i32, nanos: i64) -> IntervalMonthDayNano {
        IntervalMonthDayNano::new(months, days, nanos)
    }

    #[test]
    fn what_leaves_leaves_no_trace() {
        let mut spans = Spans::default();
        spans.add(span(1, 2, 3000), 1);
        let before = spans;
        for value in [span(i32::MAX, i32::MIN, i64::MAX), span(-5, 7, DAY)] {
            spans.add(value, 3);
            assert!(spans.count == 4);
            spans.add(value, -3);
        }
        assert_eq!(spans, before);
        let mut bytes = Vec::new();
        spans.write(&mut bytes);
        assert_eq!(Spans::read(&mut bytes.as_slice()), Some(spans));
        assert_eq!(Spans::read(&mut &bytes[..3]), None);
    }

    #[test]
    fn an_average_leaves_rests_to_the_smaller_parts() {
        let mut spans = Spans::default();
        assert_eq!(spans.result(Sum::Mean).expect("nothing"), None);
        spans.add(span(1, 0, 0), 1);
        spans.add(span(0, 1, 0), 1);
        assert_eq!(spans.result(Sum::Total).expect("a sum"), Some(span(1, 1, 0)));
        assert_eq!(spans.result(Sum::Mean).expect("an average"), Some(span(0, 15, DAY / 2)));
        spans.add(span(i32::MAX, 0, 0), 1);
        let error = spans.result(Sum::Mean).expect_err("too large");
        assert_eq!(error.code, code::DATETIME_FIELD_OVERFLOW);
    }
}
