//! `loop.text`: assistant turns that are empty or say the same again.

use alloc::{boxed::Box, vec::Vec};

use serde::{Deserialize, Serialize};

use super::reached;
use crate::{
    digest::Digest,
    outcome::Outcome,
    policy::Levels,
    verdict::{Finding, Reason},
};

/// The assistant turns in a row that say nothing new.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Turns {
    last: Option<Digest>,
    count: u32,
}

impl Turns {
    /// Takes the next turn and says what it deserves.
    pub(crate) fn next(&mut self, text: &[u8], levels: &Levels, scratch: &mut Vec<u8>) -> Option<Box<Finding>> {
        let turn = Outcome::Text(text).observe(scratch).outcome;
        self.count = if self.last == Some(turn) { self.count.saturating_add(1) } else { 1 };
        self.last = Some(turn);
        let (action, limit) = reached(levels, self.count)?;
        Some(Finding::new(action, Reason::Text, "loops.text").count(limit, u64::from(self.count)))
    }
}
