//! `loop.error`: the same thing goes wrong again and again in one tool, whatever the arguments.

use alloc::boxed::Box;

use serde::{Deserialize, Serialize};

use super::{reached, reached_warning};
use crate::{
    digest::Digest,
    policy::Levels,
    verdict::{Action, Evidence, Finding, Reason},
};

/// The failures of one tool in a row that have one cause.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Streak {
    cause: Digest,
    count: u32,
    since_refusal: u32,
    world: World,
    text: Digest,
    evidence: Evidence,
}

/// The session's counters at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct World {
    pub(crate) epoch: u32,
    pub(crate) shift: u32,
}

impl Streak {
    /// `text` is the whole error: where the world may have moved, other digits in it are progress.
    pub(crate) fn failed(&mut self, cause: Digest, text: Digest, step: u64, world: World) {
        let moved = self.world.shift != world.shift && self.text != text;
        if self.cause != cause || self.world.epoch != world.epoch || moved {
            *self = Self { cause, ..Self::default() };
        }
        self.world = world;
        self.text = text;
        self.count = self.count.saturating_add(1);
        self.since_refusal = self.since_refusal.saturating_add(1);
        self.evidence.push(step);
    }

    pub(crate) fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// After a refusal the tool may be tried again: the next call may be the one that works.
    pub(crate) fn refused(&mut self) {
        self.since_refusal = 0;
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn evidence(&self) -> Evidence {
        self.evidence
    }

    /// What a further call, which may fail in the same way, deserves.
    pub(crate) fn judge(&self, levels: &Levels, world: World) -> Option<Box<Finding>> {
        if self.count == 0 || self.world.epoch != world.epoch {
            return None;
        }
        let next = self.count.saturating_add(1);
        let refusal = if self.world.shift == world.shift { self.refusal(levels, next) } else { None };
        let (action, limit) = refusal.or_else(|| reached_warning(levels, next))?;
        let finding = Finding::new(action, Reason::Error, "loops.error").count(limit, u64::from(next));
        Some(finding.shown_by(self.evidence))
    }

    fn refusal(&self, levels: &Levels, next: u32) -> Option<(Action, u64)> {
        let only = |block, halt| Levels { warn: None, block, halt };
        reached(&only(None, levels.halt), next)
            .or_else(|| reached(&only(levels.block, None), self.since_refusal.saturating_add(1)))
    }
}
