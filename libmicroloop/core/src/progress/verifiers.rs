//! What the run's own checks say: tests that fail, a measure that rises or falls.

use alloc::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{bounded, digest::Digest, verdict::Evidence};

/// Readings in a row without a better one: from here on a warning, and a stall.
const WARNS: u32 = 5;
pub(super) const STALLS: u32 = 10;
/// Worse readings in a row that are a regression; one may be chance.
const WORSE: u32 = 2;
/// A check that was not asked for so many steps says nothing about now.
const FADES: u64 = 50;
/// A run has few checks; of more, the one that was asked longest ago is forgotten.
const MOST: usize = 16;

/// How bad a check says things are: failing tests, or 1 for "no". Less is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reading {
    pub(super) verifier: Digest,
    pub(super) badness: f64,
    pub(super) id: Option<Digest>,
}

/// Readings of one check in a row that say the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// How many
    pub times: u32,
    /// What the latest says
    pub now: f64,
    /// The best that the check had said before
    pub best: f64,
    /// The steps
    pub(crate) steps: Evidence,
}

/// What a reading means beside the earlier ones of the same check, if it means something.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Movement {
    /// Better than ever before
    Better(Readings),
    /// No better than the best, for many readings
    Unmoved(Readings),
    /// Worse than the best
    Worse(Readings),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct History {
    verifier: Digest,
    id: Option<Digest>,
    now: f64,
    best: f64,
    unmoved: u32,
    worse: u32,
    steps: Evidence,
    asked: u64,
}

/// The history of each check.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Verifiers(#[serde(deserialize_with = "bounded::ring::<_, _, MOST>")] VecDeque<History>);

impl Verifiers {
    pub(super) fn read(&mut self, reading: Reading, step: u64) -> Option<Movement> {
        match self.0.iter_mut().find(|history| history.verifier == reading.verifier) {
            Some(history) if history.id.is_some() && history.id == reading.id => None,
            Some(history) => history.next(reading, step),
            None => {
                self.begin(reading, step);
                None
            }
        }
    }

    /// The check that things have got worse by, and still are.
    pub(super) fn lost(&self, step: u64) -> Option<Movement> {
        let lost = |history: &&History| history.worse >= WORSE && step.saturating_sub(history.asked) <= FADES;
        self.0.iter().find(lost).map(|history| Movement::Worse(history.readings(history.worse)))
    }

    /// What was best stays; how long it has been so starts anew.
    pub(super) fn restart(&mut self) {
        self.0.iter_mut().for_each(History::restart);
    }

    fn begin(&mut self, reading: Reading, step: u64) {
        if self.0.len() >= MOST
            && let Some(oldest) = self.0.iter().enumerate().min_by_key(|(_, history)| history.asked).map(|(at, _)| at)
        {
            self.0.remove(oldest);
        }
        let Reading { verifier, badness, id } = reading;
        let steps = Evidence::of(step);
        self.0.push_back(History {
            verifier,
            id,
            now: badness,
            best: badness,
            unmoved: 0,
            worse: 0,
            steps,
            asked: step,
        });
    }
}

impl History {
    fn next(&mut self, reading: Reading, step: u64) -> Option<Movement> {
        self.asked = step;
        self.id = reading.id;
        self.now = reading.badness;
        self.steps.push(step);
        if self.now < self.best {
            let better = self.readings(1);
            self.best = self.now;
            self.restart();
            self.steps = Evidence::of(step);
            return Some(Movement::Better(better));
        }
        self.unmoved = self.unmoved.saturating_add(1);
        self.worse = if self.now > self.best { self.worse.saturating_add(1) } else { 0 };
        match (self.worse, self.unmoved) {
            // A check with nothing left to complain of cannot get better.
            (0, _) if self.best == 0.0 => None,
            (0, WARNS..) => Some(Movement::Unmoved(self.readings(self.unmoved))),
            (0, _) => None,
            (worse, _) => Some(Movement::Worse(self.readings(worse))),
        }
    }

    fn readings(&self, times: u32) -> Readings {
        Readings { times, now: self.now, best: self.best, steps: self.steps }
    }

    fn restart(&mut self) {
        self.unmoved = 0;
        self.worse = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(verifiers: &mut Verifiers, name: &str, badness: f64) -> (char, u32) {
        let reading = Reading { verifier: Digest::of(name.as_bytes()), badness, id: None };
        match verifiers.read(reading, 1) {
            None => ('=', 0),
            Some(Movement::Better(_)) => ('+', 0),
            Some(Movement::Unmoved(readings)) => ('0', readings.times),
            Some(Movement::Worse(readings)) => ('-', readings.times),
        }
    }

    #[test]
    fn only_a_reading_better_than_the_best_ever_is_better() {
        let mut verifiers = Verifiers::default();
        let seen = [5.0, 3.0, 4.0, 3.0, 2.0].map(|badness| read(&mut verifiers, "tests", badness));
        assert_eq!(seen, [('=', 0), ('+', 0), ('-', 1), ('=', 0), ('+', 0)]);
    }

    #[test]
    fn a_check_that_does_not_move_is_told_from_the_fifth_time_on() {
        let mut verifiers = Verifiers::default();
        let seen = [3.0; 7].map(|badness| read(&mut verifiers, "tests", badness));
        assert_eq!(seen[4..], [('=', 0), ('0', 5), ('0', 6)]);
    }

    #[test]
    fn a_check_with_nothing_to_complain_of_may_stay_so() {
        let mut verifiers = Verifiers::default();
        assert!((0..20).all(|_| read(&mut verifiers, "tests", 0.0) == ('=', 0)));
    }

    #[test]
    fn checks_have_separate_histories() {
        let mut verifiers = Verifiers::default();
        let seen = [("unit", 1.0), ("lint", 9.0), ("lint", 8.0), ("unit", 1.0)];
        assert_eq!(
            seen.map(|(name, badness)| read(&mut verifiers, name, badness).0),
            ['=', '=', '+', '='],
            "neither knows of the other"
        );
    }

    #[test]
    fn one_check_that_recovers_does_not_hide_another_that_has_not() {
        let mut verifiers = Verifiers::default();
        for badness in [1.0, 5.0, 5.0] {
            read(&mut verifiers, "unit", badness);
            read(&mut verifiers, "lint", badness);
        }
        read(&mut verifiers, "lint", 1.0);
        assert!(verifiers.lost(1).is_some());
        read(&mut verifiers, "unit", 1.0);
        assert!(verifiers.lost(1).is_none());
    }

    #[test]
    fn a_loss_that_nobody_asks_about_any_more_fades() {
        let mut verifiers = Verifiers::default();
        for badness in [1.0, 5.0, 5.0] {
            read(&mut verifiers, "unit", badness);
        }
        assert!(verifiers.lost(1 + FADES).is_some() && verifiers.lost(2 + FADES).is_none());
    }

    #[test]
    fn a_run_with_many_checks_stays_small() {
        let mut verifiers = Verifiers::default();
        for number in 0..1_000_u32 {
            read(&mut verifiers, &alloc::format!("check {number}"), 1.0);
        }
        assert_eq!(verifiers.0.len(), MOST);
    }
}
