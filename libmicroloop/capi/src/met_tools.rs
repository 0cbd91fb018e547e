//! The tools that a session has met, numbered in the order in which it met them.
//!
//! The core knows tools by these numbers. A saved session takes them along: in the process that restores it, the policy's
//! tools may have been declared in another order.
//!
//! A model can make up names without end. So many that nobody declared have a number each; all further ones share one, and
//! with it what is counted by tool. Their calls are told apart all the same: a call's identity has the tool's name in it.

use alloc::{collections::BTreeMap, format, string::String, sync::Arc, vec::Vec};

use microloop_core::policy::Tool;

use crate::{
    policy::PolicyEntry,
    status::{Fault, MICROLOOP_UNKNOWN_TOOL},
    tool::Tools,
};

/// How many names that nobody declared have a number of their own.
const NAMED: usize = 256;
/// A session is bounded memory: no longer name has a number of its own.
const LONGEST_NAME: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct MetTools {
    /// By their index in the policy. A copy, so that a check takes no lock of the policy.
    known: Vec<Arc<Tool>>,
    /// The numbers of those that were met, by their index in the policy.
    numbers: Vec<Option<u32>>,
    /// The numbers of those that nobody declared, by name.
    named: BTreeMap<String, u32>,
    /// The number that all further ones share
    shared: Option<u32>,
    /// What was met, by its number
    met: Vec<Met>,
}

/// A tool that was met.
#[derive(Debug)]
pub(crate) enum Met {
    /// Declared, with this index in the policy
    Declared(u32),
    /// Known by its name alone
    Named(Arc<Tool>),
    /// One of many with this number, the latest
    Shared(Arc<Tool>),
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

    /// The tool of a name that nobody declared, and its number.
    pub(crate) fn meet_named(&mut self, name: &str, policy: &PolicyEntry) -> Result<(u32, Arc<Tool>), Fault> {
        if let Some(number) = self.named.get(name)
            && let Some(Met::Named(tool)) = self.met.get(*number as usize)
        {
            return Ok((*number, Arc::clone(tool)));
        }
        if self.named.len() >= NAMED || name.len() > LONGEST_NAME {
            return self.meet_shared(name, policy);
        }
        let tool = policy.named(name)?;
        let number = self.push(Met::Named(Arc::clone(&tool)));
        self.named.insert(name.into(), number);
        Ok((number, tool))
    }

    /// `meet_named` for a name that has no number of its own.
    pub(crate) fn meet_shared(&mut self, name: &str, policy: &PolicyEntry) -> Result<(u32, Arc<Tool>), Fault> {
        let latest = self.shared.and_then(|number| self.met.get(number as usize));
        if let (Some(number), Some(Met::Shared(tool))) = (self.shared, latest)
            && tool.name == name
        {
            return Ok((number, Arc::clone(tool)));
        }
        let tool = policy.named(name)?;
        let met = Met::Shared(Arc::clone(&tool));
        let slot = self.shared.and_then(|number| Some((number, self.met.get_mut(number as usize)?)));
        let number = if let Some((number, slot)) = slot {
            *slot = met;
            number
        } else {
            self.push(met)
        };
        self.shared = Some(number);
        Ok((number, tool))
    }

    /// Only for an index that this session meets for the first time.
    #[cold]
    fn number(&mut self, index: u32, declared: &Tools) -> Result<u32, Fault> {
        declared.copy_to(&mut self.known);
        self.numbers.resize(self.known.len(), None);
        if index as usize >= self.numbers.len() {
            return Err(unknown_tool(index, self.known.len()));
        }
        let number = self.push(Met::Declared(index));
        if let Some(slot) = self.numbers.get_mut(index as usize) {
            *slot = Some(number);
        }
        Ok(number)
    }

    fn push(&mut self, met: Met) -> u32 {
        // No more than the policy has tools and `NAMED` and one, and their indices are of this size.
        let number = u32::try_from(self.met.len()).unwrap_or(u32::MAX);
        self.met.push(met);
        number
    }

    /// Whether the tool of an index in the policy was met.
    pub(crate) fn has_met(&self, index: u32) -> bool {
        matches!(self.numbers.get(index as usize), Some(Some(_)))
    }

    /// What was met, by its number.
    pub(crate) fn met(&self) -> &[Met] {
        &self.met
    }

    /// The tools that were met, by their numbers.
    pub(crate) fn in_order(&self) -> Vec<Arc<Tool>> {
        self.met.iter().filter_map(|met| self.tool(met)).collect()
    }

    /// The tool with a number; the latest, if several share it.
    pub(crate) fn of(&self, number: u32) -> Option<Arc<Tool>> {
        self.tool(self.met.get(number as usize)?)
    }

    fn tool(&self, met: &Met) -> Option<Arc<Tool>> {
        match met {
            Met::Declared(index) => self.known.get(*index as usize).cloned(),
            Met::Named(tool) | Met::Shared(tool) => Some(Arc::clone(tool)),
        }
    }
}

#[cold]
fn unknown_tool(index: u32, declared: usize) -> Fault {
    let message = format!(
        "tool {index} was never declared: this policy has {declared} tools, counted from 0; declare it with microloop_policy_tool"
    );
    Fault::new(MICROLOOP_UNKNOWN_TOOL, message)
}
