//! `loop.stall` and the reworded half of `loop.near`: one tool, different calls, nothing new learned.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use super::{
    near::{Words, may_refuse},
    reached_if,
};
use crate::{
    digest::Digest,
    json::Json,
    outcome::{Kind, Observed},
    policy::{Effect, Levels, Tool},
    verdict::{Action, Evidence, Finding, Reason},
};

/// The calls of one tool in a row that had one outcome.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Sameness {
    outcome: Option<Digest>,
    last_call: Digest,
    count: u32,
    evidence: Evidence,
    last: Option<Box<Wording>>,
}

/// How a call is worded, and whether it rewords the one before.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Wording {
    words: Words,
    reworded: bool,
}

impl Wording {
    /// Asked anew when the call counts: calls that overlap are not counted in the order in which they were checked.
    fn after(mut self: Box<Self>, last: Option<&Self>) -> Box<Self> {
        self.reworded = last.is_some_and(|last| self.words.reworded(&last.words));
        self
    }
}

impl Sameness {
    /// Takes an outcome, and says whether the tool's call before it had the same.
    pub(crate) fn completed(
        &mut self,
        effect: Option<Effect>,
        call: Digest,
        observed: Observed,
        wording: Option<Box<Wording>>,
        step: u64,
    ) -> bool {
        let Some(outcome) = counted(effect, observed) else { return false };
        let again = self.outcome == Some(outcome);
        if again && self.last_call == call {
            return true;
        }
        if !again {
            self.outcome = Some(outcome);
            self.count = 0;
            self.evidence = Evidence::default();
        }
        self.last_call = call;
        self.last = wording.map(|wording| wording.after(self.last.as_deref()));
        self.count = self.count.saturating_add(1);
        self.evidence.push(step);
        again
    }

    /// The wording of a call, only where a verdict may need it.
    pub(crate) fn read(&self, near: &Levels, arguments: &Json<'_>, canonical: &[u8]) -> Option<Box<Wording>> {
        if !self.needs_words(near) {
            return None;
        }
        let words = Words::of(arguments, canonical);
        let reworded = self.last.as_ref().is_some_and(|last| words.reworded(&last.words));
        Some(Box::new(Wording { words, reworded }))
    }

    /// A verdict needs the words of three calls, the last of which reaches the lowest level.
    pub(crate) fn needs_words(&self, near: &Levels) -> bool {
        let lowest = [near.warn, near.block, near.halt].into_iter().flatten().min();
        lowest.is_some_and(|lowest| self.count.saturating_add(3) >= lowest)
    }

    pub(crate) fn judge(&self, tool: &Tool, call: Digest, wording: Option<&Wording>) -> Option<Box<Finding>> {
        if self.count == 0 || self.last_call == call {
            return None;
        }
        let n = self.count.saturating_add(1);
        let before = self.last.as_ref().is_some_and(|last| last.reworded);
        let twice = before && wording.is_some_and(|wording| wording.reworded);
        let near = if twice { reworded(tool, n) } else { None };
        near.or_else(|| stalled(&tool.loops.stall, n)).map(|finding| finding.shown_by(self.evidence))
    }
}

/// What an outcome counts as here, if it counts.
fn counted(effect: Option<Effect>, observed: Observed) -> Option<Digest> {
    match (observed.kind, effect) {
        (Kind::Failure(_), _) | (_, Some(Effect::Write | Effect::Idempotent)) | (Kind::Acknowledgement, None) => None,
        (Kind::Empty, _) => Some(Digest::default()),
        (Kind::Acknowledgement | Kind::Substance, _) => Some(observed.outcome),
    }
}

fn reworded(tool: &Tool, n: u32) -> Option<Box<Finding>> {
    let (action, limit) = reached_if(may_refuse(tool), &tool.loops.near, n)?;
    Some(Finding::new(action, Reason::Near, "loops.near").count(limit, u64::from(n)))
}

/// Advice each `warn` calls; more often it would only be noise.
fn stalled(levels: &Levels, n: u32) -> Option<Box<Finding>> {
    let every = levels.warn?;
    let due = n.checked_rem(every) == Some(0);
    due.then(|| Finding::new(Action::Warn, Reason::Stall, "loops.stall").count(u64::from(every), u64::from(n)))
}
