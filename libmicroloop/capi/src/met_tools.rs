//! The tools that a session has met, numbered in the order in which it met them.
//!
//! The core knows tools by these numbers. A saved session takes them along: in the process that restores it, the policy's
//! tools may have been declared in another order.

use alloc::{format, sync::Arc, vec::Vec};

use microloop_core::policy::Tool;

use crate::{
    status::{Fault, MICROLOOP_UNKNOWN_TOOL},
    tool::Tools,
};

#[derive(Debug, Default)]
pub(crate) struct MetTools {
    /// By their index in the policy. A copy, so that a check takes no lock of the policy.
    known: Vec<Arc<Tool>>,
    /// The numbers of those that were met, by their index in the policy.
    numbers: Vec<Option<u32>>,
    /// The index in the policy of each that was met, by its number.
    met: Vec<u32>,
}

impl MetTools {
    /// The tool of an index in the policy, and its number.
    pub(crate) fn meet(&mut self, index: u32, declared: &Tools) -> Result<(u32, &Arc<Tool>), Fault> {
        let at = index as usize;
        let number = match self.numbers.get(at) {
            Some(Some(number)) => *number,
            _ => self.number(index, declared)?,
        };
        let tool = self.known.get(at).ok_or_else(|| unknown_tool(index, self.known.len()))?;
        Ok((number, tool))
    }

    /// Only for an index that this session meets for the first time.
    #[cold]
    fn number(&mut self, index: u32, declared: &Tools) -> Result<u32, Fault> {
        declared.copy_to(&mut self.known);
        self.numbers.resize(self.known.len(), None);
        let slot = self.numbers.get_mut(index as usize);
        let slot = slot.ok_or_else(|| unknown_tool(index, self.known.len()))?;
        // No more than the policy has tools, and their indices are of this size.
        let number = u32::try_from(self.met.len()).unwrap_or(u32::MAX);
        *slot = Some(number);
        self.met.push(index);
        Ok(number)
    }

    /// The index in the policy of each that was met, by its number.
    pub(crate) fn met(&self) -> &[u32] {
        &self.met
    }

    /// Those that were met, by their numbers.
    pub(crate) fn in_order(&self) -> Vec<Arc<Tool>> {
        self.met.iter().filter_map(|index| self.known.get(*index as usize).cloned()).collect()
    }
}

#[cold]
fn unknown_tool(index: u32, declared: usize) -> Fault {
    let message = format!(
        "tool {index} was never declared: this policy has {declared} tools, counted from 0; declare it with microloop_policy_tool"
    );
    Fault::new(MICROLOOP_UNKNOWN_TOOL, message)
}
