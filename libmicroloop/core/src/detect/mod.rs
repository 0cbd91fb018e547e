//! The loop detectors, one a file. `docs/explanation/loop-contract.md` is their specification.

pub(crate) mod cycle;
pub(crate) mod near;
pub(crate) mod poll;
pub(crate) mod repeat;
pub(crate) mod retry;
pub(crate) mod sameness;
pub(crate) mod streak;
pub(crate) mod text;

use crate::{
    memory::Memory,
    policy::{Levels, Tool},
    verdict::Action,
    window::Window,
};

/// What the detectors look at when a call is checked.
pub(crate) struct Situation<'s> {
    pub(crate) tool: &'s Tool,
    pub(crate) memory: &'s Memory,
    pub(crate) window: &'s Window,
    pub(crate) epoch: u32,
    pub(crate) shift: u32,
    pub(crate) now_ms: u64,
}

impl Situation<'_> {
    /// Whether the call completed before in the world as it is.
    pub(crate) fn known(&self) -> bool {
        self.memory.completed && self.memory.epoch == self.epoch
    }

    /// Whether nothing that may have changed the world has come in between.
    pub(crate) fn undisturbed(&self) -> bool {
        self.memory.shift == self.shift
    }
}

/// The most severe level that `n` reaches, and that level's limit.
pub(crate) fn reached(levels: &Levels, n: u32) -> Option<(Action, u64)> {
    [(Action::Halt, levels.halt), (Action::Block, levels.block), (Action::Warn, levels.warn)]
        .into_iter()
        .find_map(|(action, level)| level.filter(|limit| n >= *limit).map(|limit| (action, u64::from(limit))))
}

/// As [`reached`], but at most a warning unless `may_refuse`.
pub(crate) fn reached_if(may_refuse: bool, levels: &Levels, n: u32) -> Option<(Action, u64)> {
    if may_refuse { reached(levels, n) } else { reached_warning(levels, n) }
}

/// As [`reached`], but at most a warning.
pub(crate) fn reached_warning(levels: &Levels, n: u32) -> Option<(Action, u64)> {
    reached(&Levels { warn: levels.warn, ..Levels::default() }, n)
}
