//! `loop.retry`: a failing call is retried more often, or sooner, than the policy allows.

use alloc::boxed::Box;

use super::{Situation, reached_if};
use crate::verdict::{Action, Finding, Reason, worse};

pub(crate) fn judge(situation: &Situation<'_>) -> Option<Box<Finding>> {
    if !situation.known() || situation.memory.fails == 0 {
        return None;
    }
    let finding = worse(too_soon(situation), too_often(situation))?;
    Some(finding.shown_by(situation.memory.evidence))
}

/// `limit` and `seen` are milliseconds here.
fn too_soon(situation: &Situation<'_>) -> Option<Box<Finding>> {
    let wait = situation.tool.loops.backoff.as_ref()?.wait_ms(situation.memory.fails);
    let waited = situation.now_ms.saturating_sub(situation.memory.failed_ms);
    let finding = || Finding::new(Action::Block, Reason::Retry, "loops.retry.backoff").count(wait, waited);
    (waited < wait).then(finding)
}

fn too_often(situation: &Situation<'_>) -> Option<Box<Finding>> {
    let n = situation.memory.fails.saturating_add(situation.memory.pending).saturating_add(1);
    let levels = &situation.tool.loops.retry;
    let (action, limit) = reached_if(situation.undisturbed(), levels, n)?;
    Some(Finding::new(action, Reason::Retry, "loops.retry").count(limit, u64::from(n)))
}
