//! The latest completed steps, in order.

use alloc::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::{bounded, digest::Digest};

/// Three rounds of the longest period (16), and room for distractors.
const STEPS: usize = 64;

/// A step that completed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Completed {
    pub(crate) step: u64,
    pub(crate) call: Digest,
    pub(crate) outcome: Digest,
}

impl Completed {
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.call == other.call && self.outcome == other.outcome
    }
}

/// A ring of the latest completed steps.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Window(#[serde(deserialize_with = "bounded::ring::<_, _, STEPS>")] VecDeque<Completed>);

impl Window {
    pub(crate) fn push(&mut self, completed: Completed) {
        if self.0.len() >= STEPS {
            self.0.pop_front();
        }
        self.0.push_back(completed);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The `back`-th latest step; 0 is the latest.
    pub(crate) fn latest(&self, back: usize) -> Option<&Completed> {
        self.0.get(self.0.len().checked_sub(back.saturating_add(1))?)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// How far back the latest step is whose call stands only once in the window.
    pub(crate) fn latest_one_off(&self) -> Option<usize> {
        // Looks no further than the second: in a run that repeats itself, that is not far.
        let alone = |wanted: &Completed| self.0.iter().rev().filter(|step| step.call == wanted.call).nth(1).is_none();
        self.0.iter().rev().position(alone)
    }
}
