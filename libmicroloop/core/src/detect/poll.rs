//! `loop.poll`: declared polls may repeat until their deadline, but no faster than their interval.

use alloc::boxed::Box;

use super::Situation;
use crate::{
    policy::Poll,
    verdict::{Action, Finding, Reason},
};

/// Whether the tool is a poll that still has time; then the other detectors leave it alone.
pub(crate) fn has_time(situation: &Situation<'_>) -> bool {
    situation.tool.poll.as_ref().is_some_and(|poll| before_deadline(poll, situation))
}

fn before_deadline(poll: &Poll, situation: &Situation<'_>) -> bool {
    let waited = situation.now_ms.saturating_sub(situation.memory.since_ms);
    !situation.memory.completed || poll.deadline_ms.is_none_or(|deadline| waited < deadline)
}

/// `limit` and `seen` are milliseconds.
pub(crate) fn judge(situation: &Situation<'_>) -> Option<Box<Finding>> {
    let interval = situation.tool.poll.as_ref()?.interval_ms?;
    let waited = situation.now_ms.saturating_sub(situation.memory.let_through_ms?);
    (waited < interval).then(|| {
        Finding::new(Action::Warn, Reason::Poll, "poll.interval")
            .count(interval, waited)
            .shown_by(situation.memory.evidence)
    })
}
