//! How fast a generator may go: a number of rows by the time that has passed.

use std::time::Duration;

use crate::clock::{self, Moment};

/// The longest that a paced source asks to be left alone: a short wait keeps rows even.
const WAIT_MAX: Duration = Duration::from_millis(50);

/// A pace that was not kept for longer than this is not caught up with: a source that stood still
/// for an hour does not give an hour's rows at once.
const BEHIND_MAX: Duration = Duration::from_secs(1);

/// Rows a second, from the first question on.
#[derive(Debug)]
pub(super) struct Pace {
    /// `None`: as fast as it goes.
    per_second: Option<u64>,
    /// At which moment which row was due.
    start: Option<(Moment, u64)>,
}

impl Pace {
    /// 0 and `None`: as fast as it goes.
    pub(super) fn new(per_second: Option<u64>) -> Self {
        Self { per_second: per_second.filter(|rate| *rate > 0), start: None }
    }

    /// Begins again with the next question: after a seek.
    pub(super) fn restart(&mut self) {
        self.start = None;
    }

    /// The row before which to stop now, when `next` is the next one to give.
    pub(super) fn limit(&mut self, next: u64) -> u64 {
        let Some(rate) = self.per_second else { return u64::MAX };
        let (start, from) = *self.start.get_or_insert_with(|| (clock::moment(), next));
        let due = from.saturating_add(rows_in(rate, start.elapsed()));
        let behind_max = rows_in(rate, BEHIND_MAX).max(1);
        if due.saturating_sub(next) > behind_max {
            let due = next.saturating_add(behind_max);
            self.start = Some((clock::moment(), due));
            return due;
        }
        due
    }

    /// How long until row `next` is due.
    pub(super) fn wait(&self, next: u64) -> Duration {
        let (Some(rate), Some((start, from))) = (self.per_second, self.start) else {
            return Duration::ZERO;
        };
        let due = Duration::from_secs_f64((next.saturating_sub(from) + 1) as f64 / rate as f64);
        due.saturating_sub(start.elapsed()).clamp(Duration::from_millis(1), WAIT_MAX)
    }
}

/// Whole rows of `rate` a second in `time`.
fn rows_in(rate: u64, time: Duration) -> u64 {
    u64::try_from(time.as_micros() * u128::from(rate) / 1_000_000).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_rate_everything_is_due() {
        let mut pace = Pace::new(Some(0));
        assert_eq!(pace.limit(3), u64::MAX);
        assert_eq!(pace.wait(3), Duration::ZERO);
    }

    #[test]
    fn rows_come_due_with_time() {
        let mut pace = Pace::new(Some(1000));
        assert!(pace.limit(500) < 510, "nothing is due at the start");
        std::thread::sleep(Duration::from_millis(50));
        let due = pace.limit(500);
        assert!((550..=1500).contains(&due), "{due}");
        assert!(pace.wait(due + 10) > Duration::ZERO);
        assert!(pace.wait(due + 1_000_000) <= WAIT_MAX);
    }

    #[test]
    fn a_long_pause_is_not_caught_up_with() {
        let mut pace = Pace { per_second: Some(1000), start: Some((clock::moment(), 0)) };
        pace.limit(0);
        pace.start = pace.start.map(|(moment, _)| (moment, 3_600_000));
        assert_eq!(pace.limit(10), 1010, "one second's rows of an hour's");
        assert!(pace.limit(1010) <= 1020, "and then on at the pace");
    }
}
