//! The calls of the last sixty seconds, exactly: one time for each, never more of them than the limit.

use alloc::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{BudgetKind, BudgetRefusal, MAX_PER_MINUTE};
use crate::bounded;

const MINUTE_MS: u64 = 60_000;

/// When the latest calls were, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Minute(
    #[serde(deserialize_with = "bounded::ring::<_, _, { MAX_PER_MINUTE as usize }>")] VecDeque<u64>,
);

impl Minute {
    /// Forgets what is older than a minute, and refuses one call more than `limit`.
    pub(super) fn check(&mut self, kind: BudgetKind, limit: u32, now_ms: u64) -> Result<(), BudgetRefusal> {
        while let Some(oldest) = self.0.front() {
            let age = now_ms.saturating_sub(*oldest);
            if age < MINUTE_MS {
                return self.check_count(kind, limit, MINUTE_MS - age);
            }
            self.0.pop_front();
        }
        Ok(())
    }

    fn check_count(&self, kind: BudgetKind, limit: u32, retry_after_ms: u64) -> Result<(), BudgetRefusal> {
        let (limit, seen) = (u64::from(limit), self.0.len() as u64);
        if seen < limit {
            return Ok(());
        }
        Err(BudgetRefusal { kind, limit, seen, retry_after_ms })
    }

    pub(super) fn push(&mut self, now_ms: u64) {
        self.0.push_back(now_ms);
    }

    /// Takes back the call that was charged at this time, if it is not forgotten yet.
    pub(super) fn remove(&mut self, charged_ms: u64) {
        let newest = self.0.iter().rposition(|time| *time <= charged_ms);
        if let Some(at) = newest {
            self.0.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait_ms(minute: &mut Minute, limit: u32, now_ms: u64) -> Option<u64> {
        minute.check(BudgetKind::Rate, limit, now_ms).err().map(|refusal| refusal.retry_after_ms)
    }

    fn minute(times: &[u64]) -> Minute {
        Minute(times.iter().copied().collect())
    }

    #[test]
    fn a_call_counts_for_exactly_sixty_seconds() {
        assert_eq!(wait_ms(&mut minute(&[1_000]), 1, 1_000), Some(60_000));
        assert_eq!(wait_ms(&mut minute(&[1_000]), 1, 60_999), Some(1));
        assert_eq!(wait_ms(&mut minute(&[1_000]), 1, 61_000), None);
    }

    #[test]
    fn the_minute_slides_call_by_call() {
        let mut calls = minute(&[0, 10_000, 20_000]);
        assert_eq!(wait_ms(&mut calls, 3, 30_000), Some(30_000));
        assert_eq!(wait_ms(&mut calls, 3, 60_000), None);
        calls.push(60_000);
        assert_eq!(wait_ms(&mut calls, 3, 60_000), Some(10_000));
        assert_eq!(calls.0.len(), 3);
    }

    #[test]
    fn a_clock_that_goes_back_forgets_nothing() {
        assert_eq!(wait_ms(&mut minute(&[90_000]), 1, 10), Some(60_000));
    }

    #[test]
    fn taking_back_removes_the_call_of_that_time_and_no_later_one() {
        let mut calls = minute(&[10, 20, 30]);
        calls.remove(20);
        assert_eq!(calls.0, [10, 30]);
        calls.remove(5);
        assert_eq!(calls.0, [10, 30]);
    }
}
