//! The policy: what a guard enforces, read from one document and checked as a whole before the first call.

mod backoff;
pub(crate) mod document;
mod duration;
mod entry;
mod error;
mod levels;
mod loops;
mod messages;
mod read;
mod schema;
pub(crate) mod strict;
mod tool;

use alloc::{collections::BTreeMap, format, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

pub use backoff::Backoff;
pub(crate) use error::quoted;
pub use error::{PolicyError, PolicyErrorKind};
pub use levels::Levels;
pub use loops::{Loops, Scope};
pub use schema::{ArgumentSchema, SchemaFailure};
pub(crate) use tool::LONGEST_NAME;
pub use tool::{Effect, Limit, Poll, Tool};

use crate::{budget::Budgets, roles::Roles};
use entry::Entry;

/// Whether verdicts are carried out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They are.
    #[default]
    Enforce,
    /// Every call runs; the verdict says what would have happened.
    Observe,
}

/// What a fault in the guard itself does to a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// It is refused.
    #[default]
    Block,
    /// It runs.
    Allow,
}

/// What the monitor does about a run that gets nowhere.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Reaction {
    /// Says so
    #[default]
    Observe = 0,
    /// Asks for another plan
    Replan = 1,
    /// Ends the run
    Stop = 2,
}

/// What the policy says to the monitor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// About a run that stands still
    pub stalled: Option<Reaction>,
    /// About a run that falls back
    pub regressing: Option<Reaction>,
    /// Steps between two reactions
    pub cooldown_steps: Option<u32>,
}

/// A policy, checked and ready to be asked about tools.
#[derive(Debug, Clone)]
pub struct Policy {
    name: String,
    description: String,
    mode: Mode,
    on_error: OnError,
    argument_bytes: usize,
    loops: Loops,
    entries: Vec<Entry>,
    roles: Roles,
    budgets: Budgets,
    progress: Progress,
    messages: BTreeMap<String, String>,
}

impl Policy {
    /// Reads a policy.
    ///
    /// # Errors
    /// [`PolicyError`] says where the document is wrong, what was found there, and what to write instead.
    ///
    /// # Examples
    /// ```
    /// use microloop_core::policy::{Effect, Policy};
    /// let policy = Policy::from_json(br#"{"version": 1, "tools": [{"match": "get_*", "effect": "read"}]}"#)?;
    /// assert_eq!(policy.tool("get_user")?.effect, Some(Effect::Read));
    /// # Ok::<(), microloop_core::policy::PolicyError>(())
    /// ```
    pub fn from_json(bytes: &[u8]) -> Result<Self, PolicyError> {
        read::policy(bytes)
    }

    /// The name, `unnamed` without one.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the policy is for, in its own words; may be empty.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Whether verdicts are carried out.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The limits of the loop detectors for a tool that no entry speaks of.
    #[must_use]
    pub fn loops(&self) -> &Loops {
        &self.loops
    }

    /// Which role may call which tools.
    #[must_use]
    pub fn roles(&self) -> &Roles {
        &self.roles
    }

    /// What a session may spend.
    #[must_use]
    pub fn budgets(&self) -> &Budgets {
        &self.budgets
    }

    /// What is said to the monitor.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// The texts by reason, for a tool that no entry speaks of.
    #[must_use]
    pub fn messages(&self) -> &BTreeMap<String, String> {
        &self.messages
    }

    /// What the policy says about one tool: all entries that match, in order, the later one over the earlier.
    ///
    /// # Errors
    /// The name is empty, or the entries contradict each other (a block level above the halt level of another entry).
    pub fn tool(&self, name: &str) -> Result<Tool, PolicyError> {
        if name.is_empty() {
            return Err(PolicyError::invalid("tool", "the name is empty: give the name that the model calls it by"));
        }
        let mut tool = Tool {
            name: name.into(),
            loops: self.loops.clone(),
            messages: self.messages.clone(),
            argument_bytes: self.argument_bytes,
            on_error: self.on_error,
            ..Tool::default()
        };
        for (at, entry) in self.entries.iter().enumerate().filter(|(_, entry)| entry.is_for(name)) {
            entry.apply(&mut tool).map_err(|error| error.within(format!("tools[{at}]")))?;
        }
        Ok(tool)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn policy(json: &str) -> Policy {
        Policy::from_json(json.as_bytes()).unwrap()
    }

    #[test]
    fn a_tool_that_no_entry_speaks_of_has_what_the_policy_says_for_all() {
        let policy = policy(
            r#"{"version": 1, "on_error": "allow", "limits": {"argument_bytes": 99}, "loops": {"repeat": {"warn": 3}},
                "messages": {"loop.repeat": "m"}, "tools": [{"match": "other", "effect": "read"}]}"#,
        );
        let tool = policy.tool("any").unwrap();
        assert_eq!((tool.name.as_str(), tool.effect, tool.argument_bytes), ("any", None, 99));
        assert_eq!((tool.on_error, &tool.loops, &tool.messages), (OnError::Allow, policy.loops(), policy.messages()));
    }

    #[test]
    fn all_entries_that_match_apply_in_order() {
        let policy = policy(
            r#"{"version": 1, "loops": {"repeat": {"warn": 3, "block": 5}}, "messages": {"loop.repeat": "m"}, "tools": [
                {"match": "*", "effect": "read", "loops": {"repeat": {"halt": 9}}},
                {"match": "SET_*", "effect": "write", "messages": {"loop.repeat": "n"}},
                {"match": "get_*", "effect": "idempotent"}]}"#,
        );
        let tool = policy.tool("set_user").unwrap();
        assert_eq!(tool.effect, Some(Effect::Write));
        assert_eq!(tool.loops.repeat, Levels { warn: Some(3), block: Some(5), halt: Some(9) });
        assert_eq!(tool.messages.get("loop.repeat").map(String::as_str), Some("n"));
    }

    #[test]
    fn entries_that_contradict_each_other_are_an_error_that_names_the_later_one() {
        let policy = policy(
            r#"{"version": 1, "tools": [{"match": "*", "loops": {"near": {"halt": 4}}},
                {"match": "get_*", "loops": {"near": {"warn": 5}}}]}"#,
        );
        assert!(policy.tool("set_user").is_ok());
        let error = policy.tool("get_user").unwrap_err();
        assert!(error.message.starts_with("tools[1].loops.near.warn: 5 is above halt 4"), "{error}");
    }

    #[test]
    fn a_tool_must_have_a_name() {
        assert!(policy(r#"{"version": 1}"#).tool("").unwrap_err().message.starts_with("tool: the name is empty"));
    }
}
