//! `loop.cycle`: a sequence of 2 to 16 calls comes round again with the same outcomes.

use alloc::boxed::Box;

use super::{Situation, reached};
use crate::{
    digest::Digest,
    verdict::{EVIDENCE, Evidence, Finding, Reason},
    window::{Completed, Window},
};

const LONGEST: usize = 16;

pub(crate) fn judge(situation: &Situation<'_>) -> Option<Box<Finding>> {
    if !situation.memory.completed {
        return None;
    }
    let whole = View { window: situation.window, left_out: None };
    let (view, n) = rounds(whole, situation.memory.call).or_else(|| {
        let left_out = situation.window.latest_one_off()?;
        rounds(View { left_out: Some(left_out), ..whole }, situation.memory.call)
    })?;
    let (action, limit) = reached(&situation.tool.loops.cycle, n)?;
    Some(Finding::new(action, Reason::Cycle, "loops.cycle").count(limit, u64::from(n)).shown_by(view.evidence()))
}

/// The window, newest first, without a step that stands in it only once.
#[derive(Clone, Copy)]
struct View<'w> {
    window: &'w Window,
    left_out: Option<usize>,
}

impl View<'_> {
    fn at(&self, back: usize) -> Option<&Completed> {
        let skips = self.left_out.is_some_and(|left_out| back >= left_out);
        self.window.latest(back.saturating_add(usize::from(skips)))
    }

    fn evidence(&self) -> Evidence {
        let mut evidence = Evidence::default();
        (0..EVIDENCE).rev().filter_map(|back| self.at(back)).for_each(|step| evidence.push(step.step));
        evidence
    }

    /// How many of the latest steps equal the one `period` before them.
    fn agreeing(&self, period: usize) -> usize {
        let agrees = |back: usize| match (self.at(back), self.at(back.saturating_add(period))) {
            (Some(late), Some(early)) => late.same(early),
            _ => false,
        };
        (0..self.window.len()).take_while(|back| agrees(*back)).count()
    }

    /// How many of the latest steps are one and the same call; a period must be longer to be a cycle.
    fn monotone(&self) -> usize {
        let latest = self.at(0).map(|step| step.call);
        (0..LONGEST).take_while(|back| self.at(*back).map(|step| step.call) == latest).count()
    }
}

/// The round that `call` opens, 3 or more, over all periods.
fn rounds(view: View<'_>, call: Digest) -> Option<(View<'_>, u32)> {
    let shortest = view.monotone().saturating_add(1).max(2);
    let longest = LONGEST.min(view.window.len() / 2);
    let repeated = (shortest..=longest)
        .filter(|period| view.at(period.saturating_sub(1)).is_some_and(|step| step.call == call))
        .filter_map(|period| view.agreeing(period).checked_div(period))
        .max()
        .filter(|repeated| *repeated >= 1)?;
    Some((view, u32::try_from(repeated.saturating_add(2)).ok()?))
}
