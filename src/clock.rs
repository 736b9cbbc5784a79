//! The only reader of wall-clock and monotonic time, and the only source of randomness.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Microseconds since 1970-01-01 00:00:00 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct WallTime(pub i64);

/// What the clock on the wall says.
#[allow(clippy::disallowed_methods)]
pub fn wall() -> WallTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    WallTime(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// A point of monotonic time, for durations.
#[derive(Debug, Clone, Copy)]
pub struct Moment(Instant);

/// Now, on the monotonic clock.
#[allow(clippy::disallowed_methods)]
pub fn moment() -> Moment {
    Moment(Instant::now())
}

impl Moment {
    pub fn elapsed(self) -> Duration {
        moment().0.saturating_duration_since(self.0)
    }

    pub fn since(self, earlier: Moment) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }
}

/// A random 128-bit number, for secrets and seeds.
pub fn random() -> u128 {
    uuid::Uuid::new_v4().as_u128()
}
