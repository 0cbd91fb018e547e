//! What a session keeps for each tool.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{
    call::KeyClasses,
    detect::{sameness::Sameness, streak::Streak},
};

/// One tool's counters in one session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ToolState {
    /// Found out again by whoever restores the session
    #[serde(skip)]
    pub(crate) keys: KeyClasses,
    pub(crate) errors: Streak,
    pub(crate) invalid: Streak,
    pub(crate) sameness: Sameness,
}

/// The tools' counters by the tools' numbers; the host bounds how many numbers there are.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ToolStates(Vec<ToolState>);

impl ToolStates {
    pub(crate) fn of(&mut self, tool: u32) -> Option<&mut ToolState> {
        let at = usize::try_from(tool).ok()?;
        if at >= self.0.len() {
            self.0.resize_with(at.saturating_add(1), ToolState::default);
        }
        self.0.get_mut(at)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// A new user turn: what the arguments look like stays known, the counters start anew.
    pub(crate) fn restart(&mut self) {
        for state in &mut self.0 {
            let keys = core::mem::take(&mut state.keys);
            *state = ToolState { keys, ..ToolState::default() };
        }
    }
}
