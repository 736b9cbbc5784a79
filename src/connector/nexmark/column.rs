//! Columns from event numbers: what the three kinds have in common.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringBuilder, TimestampMicrosecondArray};

use super::event::{FIRST_ID, last_person};
use crate::connector::draw::Draw;

/// Of the people so far, this many may act.
const ACTIVE_PEOPLE: u64 = 1000;

/// Ids may be this many ahead of what has come: a bid may overtake its bidder.
pub(super) const LEAD: u64 = 10;

/// Which of the hot ones: the first of each hundred.
pub(super) const HOT: u64 = 100;

/// A whole number an event.
pub(super) fn int64(events: &[u64], value: impl Fn(u64) -> u64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(events.iter().map(|event| value(*event) as i64)))
}

/// A time an event, from microseconds since 1970.
pub(super) fn timestamp(events: &[u64], value: impl Fn(u64) -> i64) -> ArrayRef {
    let values = events.iter().map(|event| value(*event));
    Arc::new(TimestampMicrosecondArray::from_iter_values(values))
}

/// A text an event; `write` adds it to the empty string that it is given.
pub(super) fn text(events: &[u64], write: impl Fn(u64, &mut String)) -> ArrayRef {
    let mut builder = StringBuilder::with_capacity(events.len(), events.len() * 16);
    let mut value = String::new();
    for event in events {
        value.clear();
        write(*event, &mut value);
        builder.append_value(&value);
    }
    Arc::new(builder.finish())
}

/// Anybody who is active when `event` comes, or will be soon.
#[inline]
pub(super) fn any_person(event: u64, draw: &mut Draw) -> u64 {
    let people = last_person(event) + 1;
    let active = people.min(ACTIVE_PEOPLE);
    FIRST_ID + people - active + draw.below(active + LEAD)
}

/// A price, log-uniform from 100 to 100 million.
#[inline]
pub(super) fn price(draw: &mut Draw) -> u64 {
    (10_f64.powf(draw.unit() * 6.0) * 100.0).round() as u64
}

/// Letters that pad an event of `size` bytes to about `size_average`, give or take a fifth.
#[inline]
pub(super) fn padding(size: usize, size_average: usize, draw: &mut Draw, out: &mut String) {
    let missing = size_average.saturating_sub(size);
    let spread = (missing + 2) / 5;
    let length = missing - spread + draw.below(2 * spread as u64) as usize;
    draw.letters(length, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_log_uniform() {
        let mut prices: Vec<u64> = (0..10_001).map(|row| price(&mut Draw::new(row, 0))).collect();
        prices.sort_unstable();
        assert!(prices[0] >= 100 && prices[10_000] <= 100_000_000);
        let median = prices[5_000];
        assert!((80_000..125_000).contains(&median), "{median}");
    }

    #[test]
    fn padding_fills_up_to_the_average() {
        let mut out = String::new();
        for row in 0..10_000 {
            padding(32, 100, &mut Draw::new(row, 0), &mut out);
        }
        let average = out.len() as f64 / 10_000.0;
        assert!((average - 68.0).abs() < 1.0, "{average}");
        out.clear();
        padding(101, 100, &mut Draw::new(0, 0), &mut out);
        assert_eq!(out, "", "it is large enough already");
    }
}
