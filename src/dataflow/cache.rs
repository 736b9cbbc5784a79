//! The memory that actors share for clean cached state.
//!
//! However many actors run, what they keep over a barrier stays within one limit, and who uses
//! more has more of it: when all together are over, each gives up down to its part of the limit,
//! which is as large as its part of what is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The limit, and what is kept of it. Clones are the same.
#[derive(Debug, Clone)]
pub struct CacheBudget(Arc<Kept>);

#[derive(Debug)]
struct Kept {
    bytes_max: usize,
    bytes: AtomicUsize,
}

impl CacheBudget {
    /// Lets at most `bytes_max` be kept.
    pub fn new(bytes_max: usize) -> Self {
        Self(Arc::new(Kept { bytes_max, bytes: AtomicUsize::new(0) }))
    }

    /// The part of an actor that keeps nothing yet.
    pub(super) fn share(&self) -> CacheShare {
        CacheShare { kept: Arc::clone(&self.0), bytes: 0 }
    }
}

/// What one actor keeps. It counts until this is dropped.
#[derive(Debug)]
pub struct CacheShare {
    kept: Arc<Kept>,
    bytes: usize,
}

impl CacheShare {
    /// The actor keeps `bytes`. Gives how many it may keep where that is less.
    pub(super) fn keep(&mut self, bytes: usize) -> Option<usize> {
        let before = std::mem::replace(&mut self.bytes, bytes);
        // Sums wrap around on the way, but come out right.
        let change = bytes.wrapping_sub(before);
        let all = self.kept.bytes.fetch_add(change, Ordering::Relaxed).wrapping_add(change);
        let part = || bytes as u128 * self.kept.bytes_max as u128 / all as u128;
        (all > self.kept.bytes_max && bytes > 0)
            .then(|| usize::try_from(part()).unwrap_or(usize::MAX))
    }
}

impl Drop for CacheShare {
    fn drop(&mut self) {
        self.kept.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actors_give_up_by_what_they_keep_and_only_when_all_are_over() {
        let budget = CacheBudget::new(1000);
        let (mut first, mut second) = (budget.share(), budget.share());
        assert_eq!(first.keep(900), None);
        assert_eq!(second.keep(100), None);
        assert_eq!(second.keep(600), Some(400));
        assert_eq!(second.keep(400), Some(307));
        assert_eq!(first.keep(600), None);
        drop(second);
        assert_eq!(first.keep(1000), None);
        assert_eq!(first.keep(2000), Some(1000));
        assert_eq!(first.keep(0), None);
        drop(first);
        assert_eq!(budget.share().keep(1000), None);
    }
}
