//! What an event's number decides: its kind, the ids that exist by then, its time.

use std::ops::Range;

/// Events after which the pattern of kinds repeats.
pub(super) const CYCLE: u64 = 50;

/// Auctions in a cycle.
const AUCTIONS: u64 = 3;

/// Ids of people and of auctions begin here.
pub(super) const FIRST_ID: u64 = 1000;

/// Out-of-order groups are shuffled by this prime.
pub(super) const SHUFFLE: u64 = 953;

/// Events are no more than this, so that ids are never negative.
pub(super) const EVENTS_MAX: u64 = i64::MAX as u64 / 4;

/// Event time that passes until about as many auctions have come as are open at a time.
const OPEN_AUCTIONS: u64 = 100;

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Person,
    Auction,
    Bid,
}

impl Kind {
    /// Where in a cycle its events are.
    pub(super) fn places(self) -> Range<u64> {
        match self {
            Kind::Person => 0..1,
            Kind::Auction => 1..1 + AUCTIONS,
            Kind::Bid => 1 + AUCTIONS..CYCLE,
        }
    }

    #[inline]
    pub(super) fn has(self, event: u64) -> bool {
        self.places().contains(&(event % CYCLE))
    }
}

/// The number, from 0, of the last person that has come when `event` comes.
#[inline]
pub(super) fn last_person(event: u64) -> u64 {
    event / CYCLE
}

/// The same of auctions. Not asked of a person's event: the first comes before any auction.
#[inline]
pub(super) fn last_auction(event: u64) -> u64 {
    event / CYCLE * AUCTIONS + (event % CYCLE).clamp(1, AUCTIONS) - 1
}

/// Which event comes when, in event time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeline {
    /// Microseconds since 1970 of event 0.
    pub(super) base_us: i64,
    /// Nanoseconds from one event to the next.
    pub(super) gap_ns: u64,
    /// Events are shuffled in groups of this many; 1: in order.
    pub(super) out_of_order: u64,
    /// There are no more events than this.
    pub(super) events: u64,
}

impl Timeline {
    /// The event that comes as number `k`. Within a group all of its events come, once each; a
    /// group that is cut short by the end is in order, so that none beyond it come.
    #[inline]
    pub(super) fn shuffled(&self, k: u64) -> u64 {
        let group = self.out_of_order;
        if group <= 1 || k >= self.events / group * group {
            return k;
        }
        k / group * group + (k % group) * (SHUFFLE % group) % group
    }

    /// The time of `event` in microseconds since 1970, whole milliseconds after the base.
    #[inline]
    pub(super) fn micros(&self, event: u64) -> i64 {
        let milliseconds = event.saturating_mul(self.gap_ns) / 1_000_000;
        self.base_us.saturating_add(milliseconds as i64 * 1000)
    }

    /// Milliseconds in which an auction ends on average.
    #[inline]
    pub(super) fn horizon_ms(&self) -> u64 {
        (OPEN_AUCTIONS * CYCLE / AUCTIONS).saturating_mul(self.gap_ns) / 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IN_ORDER: Timeline =
        Timeline { base_us: 0, gap_ns: 100_000, out_of_order: 1, events: EVENTS_MAX };

    #[test]
    fn kinds_are_one_three_and_forty_six_of_fifty() {
        let count = |kind: Kind| (0..1_000_000).filter(|event| kind.has(*event)).count();
        assert_eq!(count(Kind::Person), 20_000);
        assert_eq!(count(Kind::Auction), 60_000);
        assert_eq!(count(Kind::Bid), 920_000);
    }

    #[test]
    fn the_last_ids_grow_with_the_events() {
        assert_eq!([0, 49, 50, 101].map(last_person), [0, 0, 1, 2]);
        assert_eq!([1, 2, 3, 4, 49, 51, 53, 99].map(last_auction), [0, 1, 2, 2, 2, 3, 5, 5]);
    }

    #[test]
    fn a_shuffled_group_holds_each_of_its_events_once() {
        for group in [2, 7, 50, 1000] {
            let timeline = Timeline { out_of_order: group, ..IN_ORDER };
            let mut shuffled: Vec<u64> =
                (group * 3..group * 5).map(|k| timeline.shuffled(k)).collect();
            assert!(shuffled[..group as usize].iter().all(|event| *event < group * 4));
            shuffled.sort_unstable();
            assert_eq!(shuffled, (group * 3..group * 5).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_last_group_is_in_order_when_it_is_not_full() {
        let timeline = Timeline { out_of_order: 10, events: 23, ..IN_ORDER };
        let mut shuffled: Vec<u64> = (0..23).map(|k| timeline.shuffled(k)).collect();
        assert_eq!(shuffled[..5], [0, 3, 6, 9, 2]);
        assert_eq!(shuffled[20..], [20, 21, 22]);
        shuffled.sort_unstable();
        assert_eq!(shuffled, (0..23).collect::<Vec<_>>());
    }

    #[test]
    fn time_passes_in_whole_milliseconds() {
        assert_eq!([0, 9, 10, 25].map(|event| IN_ORDER.micros(event)), [0, 0, 1000, 2000]);
        assert_eq!(IN_ORDER.horizon_ms(), 166);
        assert!(IN_ORDER.micros(u64::MAX) > 0, "no overflow");
    }
}
