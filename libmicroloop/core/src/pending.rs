//! Calls that were let through and have not come back yet.

use alloc::{boxed::Box, collections::VecDeque};

use serde::{Deserialize, Serialize};

use crate::{
    bounded,
    call::Identity,
    detect::sameness::Wording,
    policy::Effect,
    verdict::{Action, Reason},
};

/// A host that never reports outcomes must not make the session grow.
const MOST: usize = 1024;

/// A call under way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Pending {
    pub(crate) step: u64,
    pub(crate) tool: u32,
    pub(crate) effect: Option<Effect>,
    /// `None` for a call that only `observe` mode let through.
    /// When it was charged to the budgets, if it was.
    pub(crate) charged_ms: Option<u64>,
    pub(crate) identity: Option<Identity>,
    /// What the loop detectors expect of it, and why
    pub(crate) found: Option<(Action, Reason)>,
    pub(crate) wording: Option<Box<Wording>>,
    /// The row of refusals that it was let through in, and how long that was
    pub(crate) row: (u64, u32),
}

/// The calls under way, oldest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct PendingCalls(#[serde(deserialize_with = "bounded::ring::<_, _, MOST>")] VecDeque<Pending>);

impl PendingCalls {
    /// Adds a call; gives back the oldest where there are too many.
    pub(crate) fn push(&mut self, pending: Pending) -> Option<Pending> {
        self.0.push_back(pending);
        if self.0.len() > MOST { self.0.pop_front() } else { None }
    }

    pub(crate) fn take(&mut self, step: u64) -> Option<Pending> {
        let at = self.0.iter().rposition(|pending| pending.step == step)?;
        self.0.remove(at)
    }

    /// Whether each is a call of one of the first so many tools.
    pub(crate) fn within(&self, tools: usize) -> bool {
        self.0.iter().all(|pending| usize::try_from(pending.tool).is_ok_and(|tool| tool < tools))
    }
}
