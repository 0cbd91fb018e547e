//! What a policy says about one tool, all matching entries merged.

use alloc::{boxed::Box, collections::BTreeMap, string::String, vec::Vec};

use serde::{Deserialize, Serialize};

use super::{ArgumentSchema, Loops, OnError};
use crate::{pattern::Names, rules::Rule};

/// A call of a longer name, in bytes, is refused.
pub(crate) const LONGEST_NAME: usize = 4096;

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Nothing
    Read,
    /// It changes it.
    Write,
    /// It changes it, and the same again does no harm.
    Idempotent,
}

/// Declares that a tool is asked again and again until something is ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Poll {
    /// How long the same answer is fine
    pub deadline_ms: Option<u64>,
    /// The shortest time between two polls
    pub interval_ms: Option<u64>,
}

/// How often a tool may be called in one session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limit {
    /// In all
    pub calls: Option<u64>,
    /// In any sixty seconds
    pub per_minute: Option<u32>,
}

/// Everything that a policy says about one tool.
#[derive(Debug, Default)]
pub struct Tool {
    /// The name
    pub name: String,
    /// What it does to the world, if the policy says so
    pub effect: Option<Effect>,
    /// Whether it is polled
    pub poll: Option<Poll>,
    /// Argument names that are no part of a call's identity
    pub volatile: Names,
    /// Argument names that always are
    pub cursor: Names,
    /// If not empty, the only argument names that are
    pub loop_key: Names,
    /// The limits of the loop detectors
    pub loops: Loops,
    /// How often it may be called
    pub limit: Option<Limit>,
    /// The rules on its arguments
    pub rules: Vec<Rule>,
    /// Texts by reason
    pub messages: BTreeMap<String, String>,
    /// The longest arguments
    pub argument_bytes: usize,
    /// What a fault in the guard itself does to a call
    pub on_error: OnError,
    /// The JSON Schemas of all matching entries, as JSON text; a host compiles them to `schema`
    pub argument_schemas: Vec<String>,
    /// The compiled schema, of the policy, of the tool itself, or of both
    pub schema: Option<Box<dyn ArgumentSchema>>,
}

impl Tool {
    /// The same tool with its arguments checked by a schema.
    #[must_use]
    pub fn with_schema(self, schema: Option<Box<dyn ArgumentSchema>>) -> Self {
        Self { schema, ..self }
    }

    /// Whether an argument is never part of a call's identity. A cursor always is.
    #[must_use]
    pub fn is_volatile(&self, key: &str) -> bool {
        self.volatile.matches(key) && !self.cursor.matches(key)
    }

    /// Whether an argument looks volatile. A cursor never does.
    #[must_use]
    pub fn is_learned(&self, key: &str) -> bool {
        self.loops.learned.matches(key) && !self.cursor.matches(key)
    }

    /// Whether `loop_key` lets an argument be part of a call's identity; without one, every argument may.
    #[must_use]
    pub fn in_loop_key(&self, key: &str) -> bool {
        self.loop_key.is_empty() || self.loop_key.matches(key)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may panic")]

    use super::*;

    fn names(json: &str) -> Names {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_cursor_is_never_volatile_and_never_learned() {
        let mut tool = Tool { volatile: names(r#""*""#), cursor: names(r#"["page", "*_offset"]"#), ..Tool::default() };
        tool.loops.learned = names(r#"["*_offset", "ref"]"#);
        assert!(tool.is_volatile("trace") && !tool.is_volatile("PAGE") && !tool.is_volatile("row_offset"));
        assert!(tool.is_learned("ref") && !tool.is_learned("row_offset") && !tool.is_learned("trace"));
    }

    #[test]
    fn an_empty_loop_key_lets_every_argument_count() {
        let tool = Tool::default();
        assert!(tool.in_loop_key("any"));
        let tool = Tool { loop_key: names(r#""id""#), ..tool };
        assert!(tool.in_loop_key("ID") && !tool.in_loop_key("note"));
    }
}
