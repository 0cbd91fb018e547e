//! `loop.repeat`: the same call gets the same outcome again.

use alloc::boxed::Box;

use super::{Situation, reached};
use crate::{
    policy::{Effect, Levels},
    verdict::{Action, Finding, Reason, worse},
};

pub(crate) fn judge(situation: &Situation<'_>) -> Option<Box<Finding>> {
    if !situation.known() {
        return None;
    }
    worse(in_a_row(situation), in_all(situation)).map(|finding| finding.shown_by(situation.memory.evidence))
}

/// How often the call has come in a row, this time included.
pub(crate) fn count(situation: &Situation<'_>) -> u32 {
    let memory = situation.memory;
    let before = if situation.undisturbed() { memory.streak.saturating_add(memory.refusals) } else { 0 };
    before.saturating_add(memory.pending).saturating_add(1)
}

fn in_a_row(situation: &Situation<'_>) -> Option<Box<Finding>> {
    let (levels, rule) = levels(situation);
    let n = count(situation);
    let (action, limit) = worst(reached(levels, n), after_return(situation, levels, n))?;
    Some(Finding::new(action, Reason::Repeat, rule).count(limit, u64::from(n)))
}

/// A call that was flagged, left, and taken up again is warned at once and blocked early.
fn after_return(situation: &Situation<'_>, levels: &Levels, n: u32) -> Option<(Action, u64)> {
    let memory = situation.memory;
    let returns = memory.flagged && (memory.returned || !situation.undisturbed());
    let again = levels.warn.filter(|warn| n >= *warn).and(levels.block).map(|_| Action::Block);
    returns.then(|| (again.unwrap_or(Action::Warn), levels.warn.map_or(1, u64::from)))
}

fn worst(a: Option<(Action, u64)>, b: Option<(Action, u64)>) -> Option<(Action, u64)> {
    match (a, b) {
        (Some(first), Some(second)) if second.0 > first.0 => Some(second),
        (first, second) => first.or(second),
    }
}

/// A side effect that is repeated does harm sooner than a read.
fn levels<'s>(situation: &'s Situation<'_>) -> (&'s Levels, &'static str) {
    let loops = &situation.tool.loops;
    if situation.tool.effect == Some(Effect::Write) && !situation.memory.failed {
        (&loops.write, "loops.write")
    } else {
        (&loops.repeat, "loops.repeat")
    }
}

/// However many other calls came in between.
fn in_all(situation: &Situation<'_>) -> Option<Box<Finding>> {
    let n = situation.memory.total.saturating_add(situation.memory.pending).saturating_add(1);
    let limit = situation.tool.loops.recur.warn.filter(|limit| n >= *limit)?;
    Some(Finding::new(Action::Warn, Reason::Repeat, "loops.recur").count(u64::from(limit), u64::from(n)))
}
